/* customerd.c: the customer as a process: its parts, and how it starts, reloads and ends. */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/shells.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "live/customerd/audited.h"
#include "live/customerd/copies.h"
#include "live/customerd/crons.h"
#include "live/customerd/deliveries.h"
#include "live/customerd/job_policy.h"
#include "live/customerd/local_jobs.h"
#include "live/customerd/recovery.h"
#include "live/customerd/replicas_renew.h"
#include "live/customerd/secret_sets.h"
#include "live/customerd/user_logs.h"
#include "live/data/catalogue.h"
#include "live/http/issuers.h"
#include "pool/protocol/wire.h"
#include "store/store.h"
#include "sys/private_file.h"
#include "sys/unix_users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIDY_SPAN 100 /* milliseconds between two looks at jobs that are over */
#define JOBS_STEP 500 /* jobs of one ad that one step makes: half a millisecond */

static void customerd_end(struct customerd *customerd, int status);

/* -------------------------------------------------------------------------------------------------------------- tasks */

static void tasks_turn(uv_idle_t *idle)
{
    struct customerd *customerd = idle->data;
    struct customerd_task **link = &customerd->tasks, *task;

    customerd->turning = true;
    while ((task = *link)) {
        struct customerd_task *next = task->next;

        if (task->step(task))
            link = &task->next;
        else
            *link = next;
    }
    *link = customerd->tasks_to_come;
    customerd->tasks_to_come = NULL;
    customerd->turning = false;
    if (!customerd->tasks)
        uv_idle_stop(idle);
}

/* Adds the task at the end, so that tasks before it are not kept waiting. */
void customerd_task(struct customerd *customerd, struct customerd_task *task)
{
    struct customerd_task **link = customerd->turning ? &customerd->tasks_to_come : &customerd->tasks;

    while (*link)
        link = &(*link)->next;
    task->next = NULL;
    *link = task;
    uv_idle_start(&customerd->turn, tasks_turn);
}

/* ------------------------------------------------------------------------------------------------------- the beginning */

agent customerd_pool(const struct customerd *customerd)
{
    return customerd->role.pool_count ? customerd->pools[0].matchmaker : agent_matchmaker();
}

/* The role begins: from here on jobs are offered, and run. */
static int role_begin(struct customerd *customerd, struct err *err)
{
    runner_event(customerd->runner, &(struct event){.kind = EVENT_BOOTED});
    runner_is_restored(customerd->runner);
    if (runner_is_broken(customerd->runner))
        return err_set(err, "the store takes no rows");
    if (ends_tell_begin(customerd->ends, err) < 0)
        return -1;
    customerd_boot(customerd);
    return 0;
}

static void recovery_look(struct customerd *customerd)
{
    struct recovery *recovery = customerd->recovery;
    struct err err = {0};

    if (!recovery_tick(recovery))
        return;
    customerd->recovery = NULL;
    if (role_begin(customerd, &err) < 0) {
        LOG(&customerd->daemon.log, LEVEL_ERROR, "store.failed", log_text("why", err.text));
        runner_halt(customerd->runner); /* half begun it is not to go on */
        customerd_end(customerd, 1);
    } else {
        recovery_tell(recovery);
    }
    recovery_free(recovery);
}

static void ends_look(struct customerd *customerd)
{
    unsigned refused = ends_tell_refused(customerd->ends);

    ends_catch_up_tick(&customerd->catch_up);
    if (refused)
        LOG(&customerd->daemon.log, LEVEL_WARNING, "ends", log_number("status", refused),
            log_text(
                "why",
                "the pool does not take which jobs have ended: if this queue is ever restored from a backup, they run again"));
}

/* ------------------------------------------------------------------------------------------------------------- timers */

static void tidy_due(uv_timer_t *timer)
{
    struct customerd *customerd = timer->data;

    daemon_metrics_tick(&customerd->daemon, TIDY_SPAN * MILLISECOND);
    front_wake(agent_front(customerd->live), false);
    if (runner_is_broken(customerd->runner) || runner_is_away(customerd->runner) || !runner_may_act(customerd->runner))
        return; /* the files, too, may be another's by now */
    if (customerd->recovery) {
        recovery_look(customerd);
        return;
    }
    ends_look(customerd);
    ends_tell_tick(customerd->ends, customerd->live, customerd_pool(customerd), customer_last(customerd->customer));
    customerd_tidy(customerd);
    commands_tick(customerd);
    customer_shells_tick(customerd);
    runner_misread(customerd->runner); /* what tidying could not read is looked at again the next time */
}

static void end_now(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Ends the process a moment later, so that answers under way can be sent. */
static void customerd_end(struct customerd *customerd, int status)
{
    if (customerd->stopping)
        return;
    customerd->stopping = true;
    customerd->daemon.status = status;
    if (customerd->server)
        server_stop_accepting(customerd->server);
    if (customerd->submit)
        server_stop_accepting(customerd->submit);
    front_wait_end(agent_front(customerd->live), CUSTOMERD_DOWN);
    uv_timer_stop(&customerd->tidy);
    uv_timer_start(&customerd->tidy, end_now, status ? 20 : 100, 0);
}

/* The agent has logged why. Where the database has lost jobs, nothing there tells which numbers were given: the log of the last one does, so that whoever
 * goes on gives none of them again (numbers_look). */
static void customerd_broken(void *user, const char *why)
{
    struct customerd *customerd = user;
    uint64_t last = customerd->customer && strstr(why, STORE_LOST_WORDS) ? customer_last(customerd->customer) : 0;
    int64_t now = runner_wall() / SECOND;

    if (last)
        joblog_add(customerd->files, last, now, now, "%s: it may be among what is lost", STORE_LOST_WORDS);
    customerd_end(customerd, 1);
}

static void customerd_told(void *user)
{
    customerd_end(user, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

/* If the customer can be called only from this machine, the agents it calls are on it, too. */
static void networks_near(struct customerd *customerd)
{
    if (customerd->daemon.agent.listen && config_address_is_local(customerd->daemon.agent.listen)) {
        networks_add(&customerd->daemon.networks, "127.0.0.0/8", NULL);
        networks_add(&customerd->daemon.networks, "::1/128", NULL);
    }
}

/* Takes on the setting Issuers; those that were there stay when it cannot be used. */
static int issuers_load(struct customerd *customerd, struct err *err)
{
    struct daemon *daemon = &customerd->daemon;
    struct issuer_list list;
    int failed;

    if (issuer_list_parse(&list, daemon->symbols, config_ads(&daemon->config, CONFIG_ISSUERS), err) < 0)
        return -1;
    failed = issuers_set(&customerd->issuers, &daemon->loop, &list, &daemon->log, &daemon->networks, err);
    issuer_list_done(&list);
    customerd->gate.settings.issuers = customerd->issuers;
    return failed;
}

static void customerd_reload(void *user, const struct config_change *change)
{
    struct customerd *customerd = user;
    struct err err = {0};

    networks_near(customerd);
    if (change->taken[CONFIG_ISSUERS] && issuers_load(customerd, &err) < 0)
        LOG(&customerd->daemon.log, LEVEL_ERROR, "issuers.refused", log_text("why", err.text));
    spool_set_room(customerd->spool, config_size(&customerd->daemon.config, CONFIG_SPOOL_MAX));
    output_shares_set_most(customerd->shares, config_size(&customerd->daemon.config, CONFIG_OUTPUTS_PER_USER));
    history_set_most(customerd->history, config_size(&customerd->daemon.config, CONFIG_HISTORY_MAX));
    customerd->role.jobs_max = config_count(&customerd->daemon.config, CONFIG_JOBS_PER_IDENTITY);
    customerd->role.jobs_all = config_count(&customerd->daemon.config, CONFIG_JOBS_MAX);
    if (audit_reload(&customerd->audit, customerd->daemon.identity, &customerd->daemon.config, change,
                     runner_wall() / SECOND))
        customerd_commit(customerd);
}

static void handles_start(struct customerd *customerd)
{
    uv_idle_init(&customerd->daemon.loop, &customerd->turn);
    uv_timer_init(&customerd->daemon.loop, &customerd->wake);
    uv_timer_init(&customerd->daemon.loop, &customerd->watched);
    uv_timer_init(&customerd->daemon.loop, &customerd->tidy);
    uv_timer_init(&customerd->daemon.loop, &customerd->more);
    customerd->turn.data = customerd->wake.data = customerd->watched.data = customerd->tidy.data =
        customerd->more.data = customerd;
}

static int parts_start(struct customerd *customerd, struct err *err)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/spool", customerd->folder);
    customerd->spool = spool_new(path, config_size(&customerd->daemon.config, CONFIG_SPOOL_MAX), err);
    if (customerd->spool)
        spool_set_own(customerd->spool, customerd->daemon.identity);
    snprintf(path, sizeof path, "%s/jobs", customerd->folder);
    customerd->files = customerd->spool ? jobfiles_new(path, customerd->daemon.symbols, err) : NULL;
    customerd->shares = customerd->files ? output_shares_new(customerd->daemon.shelf, customerd->daemon.symbols,
                                                             customerd->daemon.identity, err)
                                         : NULL;
    if (customerd->shares) {
        output_shares_set_most(customerd->shares, config_size(&customerd->daemon.config, CONFIG_OUTPUTS_PER_USER));
        jobfiles_set_shares(customerd->files, customerd->shares);
    }
    customerd->tries = customerd->shares ? attempts_new(customerd->daemon.symbols, customerd->daemon.shelf, err) : NULL;
    customerd->history = customerd->tries ? history_new(customerd->daemon.symbols, customerd->daemon.shelf, err) : NULL;
    if (customerd->history)
        history_set_most(customerd->history, config_size(&customerd->daemon.config, CONFIG_HISTORY_MAX));
    customerd->secrets = customerd->history ? secret_sets_new(customerd->daemon.shelf, customerd->folder, err) : NULL;
    customerd->questions = (struct questions){.symbols = customerd->daemon.symbols,
                                              .tries = customerd->tries,
                                              .files = customerd->files,
                                              .spool = customerd->spool,
                                              .shelf = customerd->daemon.shelf,
                                              .secrets = customerd->secrets,
                                              .job = customerd_job,
                                              .node = customerd_node,
                                              .members = customerd_members,
                                              .ahead = customerd_ahead,
                                              .beside = customer_shells_beside,
                                              .news = customerd_news,
                                              .user = customerd};
    customerd->ends =
        customerd->secrets ? ends_tell_new(customerd->daemon.symbols, customerd->daemon.shelf, err) : NULL;
    commands_init(&customerd->commands, customerd->daemon.symbols, customerd->daemon.shelf);
    audit_init(&customerd->audit, customerd->daemon.symbols, customerd->daemon.shelf,
               (uint32_t)config_count(&customerd->daemon.config, CONFIG_AUDIT_ROWS));
    customerd->audit.fair = true;
    customerd_deliveries(customerd);
    customerd_local(customerd);
    customerd->policies = job_policies_new(customerd);
    customerd->renewal = renewal_new(customerd);
    customerd->copies = copies_new(customerd);
    customerd->logs = user_logs_new(customerd, err);
    customerd->crons = crons_new(customerd, err);
    return customerd->logs && customerd->crons && customerd->ends && commands_load(&customerd->commands, err) == 0 &&
                   audit_load(&customerd->audit, err) == 0
               ? 0
               : -1;
}

/* Logs of jobs outlive a store that is removed or restored from a backup: their numbers are not given again, so that no
 * log belongs to two jobs. */
static void numbers_look(struct customerd *customerd)
{
    uint64_t known = customer_last(customerd->customer);

    if (customerd->role.used > known)
        LOG(&customerd->daemon.log, LEVEL_WARNING, "numbers", log_number("store", (int64_t)known),
            log_number("logs", (int64_t)customerd->role.used),
            log_text("why", "there are logs of jobs that the store does not know: numbers go on behind theirs"));
}

static int agent_begin(struct customerd *customerd, struct err *err)
{
    struct agent_settings *ours = &customerd->daemon.agent;
    const struct pool_list *list = &customerd->daemon.list;

    customerd->role =
        (struct customer_settings){.self = agent_self(customerd->daemon.identity, customerd->daemon.name),
                                   .matchmaker = agent_matchmaker(),
                                   .spans = &customerd->daemon.spans,
                                   .jobs_max = config_count(&customerd->daemon.config, CONFIG_JOBS_PER_IDENTITY),
                                   .jobs_step = JOBS_STEP,
                                   .jobs_all = config_count(&customerd->daemon.config, CONFIG_JOBS_MAX),
                                   .used = jobfiles_last(customerd->files),
                                   .pools = customerd->pools,
                                   .pool_count = list->count};
    for (uint32_t i = 0; i < list->count; i++)
        customerd->pools[i] = (struct customer_pool){agent_pool_matchmaker(list->items[i].name), list->items[i].name};
    loop_watch_start(&customerd->turns, &customerd->daemon.loop, customerd->daemon.metrics);
    if (issuers_load(customerd, err) < 0)
        return -1;
    ours->role = &customer_role;
    ours->role_settings = &customerd->role;
    ours->changed = customerd_job_changed;
    ours->asked = customerd_asked;
    ours->other = &customerd->part;
    ours->broken = customerd_broken;
    ours->user = customerd;
    customerd->live = agent_new(&customerd->daemon.loop, &customerd->daemon.agent, err);
    if (!customerd->live)
        return -1;
    customerd->gate.called = agent_contact(customerd->live);
    customerd->runner = agent_runner(customerd->live);
    customerd->customer = runner_role(customerd->runner);
    if (recovery_new(customerd, &customerd->recovery, err) < 0)
        return -1;
    if (customerd->recovery)
        return 0;
    numbers_look(customerd);
    return role_begin(customerd, err);
}

/* Where its files are, which others may have as well: then they have to be those of its rows. */
static int files_find(struct customerd *customerd, struct err *err)
{
    const char *shared = config_text(&customerd->daemon.config, CONFIG_CUSTOMER_FILES);

    snprintf(customerd->folder, sizeof customerd->folder, "%s", *shared ? shared : customerd->daemon.folder);
    return *shared ? files_mark_check(customerd->daemon.shelf, shared, customerd->settings->fresh, err) : 0;
}

/* 1: it was told to end before it had its store. */
static int customerd_start(struct customerd *customerd, struct err *err)
{
    int folder = private_dir_open(customerd->daemon.folder, err), waited = 0;

    if (folder < 0)
        return -1;
    close(folder);
    if (strlen(customerd->daemon.identity) > TEXT_MAX)
        return err_set(err, "the subject of the token is longer than %d bytes", TEXT_MAX);
    networks_near(customerd);
    handles_start(customerd);
    customerd_front(customerd, &customerd->part);
    customer_metrics_begin(customerd);
    if (!customerd->daemon.shelf && (waited = customerd_stand_by(customerd, err)) != 0)
        return waited;
    if (files_find(customerd, err) < 0)
        return -1;
    customerd->catalogues = daemon_catalogues(&customerd->daemon, err);
    if (!customerd->catalogues || parts_start(customerd, err) < 0 || agent_begin(customerd, err) < 0 ||
        (!customerd->waiting && customerd_listen(customerd, agent_front(customerd->live), err) < 0))
        return -1;
    if (customerd->waiting)
        customerd_serve_by(customerd, agent_front(customerd->live));
    customerd_tell_reached(customerd);
    uv_timer_start(&customerd->tidy, tidy_due, TIDY_SPAN, TIDY_SPAN);
    customerd->daemon.reload = customerd_reload;
    customerd->daemon.ending = customerd_told;
    customerd->daemon.user = customerd;
    if (customerd->settings->up) {
        const char *addresses[4] = {server_address(customerd->server)};
        size_t count = 1;

        if (customerd->submit)
            addresses[count++] = server_address(customerd->submit);
        if (*agent_address(customerd->live))
            addresses[count++] = agent_address(customerd->live);
        customerd->settings->up(customerd->settings->user, addresses,
                                daemon_pools_words(&customerd->daemon, customerd->live, &customerd->out));
    }
    return 0;
}

static void customerd_done(struct customerd *customerd)
{
    struct customerd_task *task;

    customerd->stopping = true;
    while ((task = customerd->tasks)) {
        customerd->tasks = task->next;
        task->drop(task);
    }
    copies_stop(customerd->copies);
    server_free(customerd->server);
    server_free(customerd->submit);
    customerd_stands_no_more(customerd);
    agent_free(customerd->live);
    issuers_free(customerd->issuers);
    deliveries_free(customerd->deliveries);
    local_jobs_free(customerd->local);
    crons_free(customerd->crons);
    user_logs_free(customerd->logs);
    job_policies_free(customerd->policies);
    gate_done(&customerd->gate);
    unix_users_free(customerd->users);
    lent_tokens_done(customerd);
    catalogues_free(customerd->catalogues);
    renewal_free(customerd->renewal);
    copies_free(customerd->copies);
    daemon_close(&customerd->daemon);
    audit_done(&customerd->audit);
    customer_shells_done(customerd);
    commands_done(&customerd->commands);
    recovery_free(customerd->recovery);
    ends_tell_free(customerd->ends);
    history_free(customerd->history);
    questions_done(&customerd->questions);
    secret_sets_free(customerd->secrets);
    attempts_free(customerd->tries);
    jobfiles_free(customerd->files);
    output_shares_free(customerd->shares);
    spool_tidy_done(customerd);
    spool_free(customerd->spool);
    free(customerd->serves_by);
    endings_done(&customerd->endings);
    newcomers_done(&customerd->newcomers);
    buf_done(&customerd->out);
    daemon_done(&customerd->daemon);
}

int customerd_run(const struct customerd_settings *settings, struct config *config, struct err *err)
{
    struct customerd *customerd = mem_alloc(sizeof *customerd);
    struct shelf *opened;
    const char *name = config_text(config, CONFIG_AGENT_NAME);
    struct daemon_settings ours = {.role = CUSTOMERD_FOLDER,
                                   .name = *name ? name : NULL,
                                   .listen = config_text(config, CONFIG_CUSTOMER_LISTEN),
                                   .token = settings->token,
                                   .near = true,
                                   .pools = true,
                                   .version = settings->version,
                                   .sources = settings->sources,
                                   .shelf = settings->shelf,
                                   .log_fd = settings->log_fd};
    int status = -1, started = -1;

    memset(customerd, 0, sizeof *customerd);
    customerd->settings = settings;
    customerd->started = runner_wall();
    customerd->changes = (uint64_t)customerd->started; /* so that it grows across restarts */
    endings_init(&customerd->endings);
    buf_init(&customerd->out);
    if (daemon_init(&customerd->daemon, &ours, config, err) == 0)
        started = customerd_start(customerd, err);
    if (started >= 0)
        status = started ? 0 : daemon_run(&customerd->daemon, customerd->live);
    opened = settings->shelf ? NULL : customerd->daemon.shelf;
    customerd_done(customerd);
    if (opened)
        opened->kind->close(opened);
    free(customerd);
    return status;
}
