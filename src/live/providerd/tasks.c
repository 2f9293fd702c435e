/* tasks.c: jobs under claims, from their files to their end.
 *
 *     EFFECT_JOB -> folder made -> staging (if it has files) -> executor -> EVENT_JOB to the role, and its leavings to results_send.c
 *
 * The role is told of an end at once; what the job made stays in its folder until it has been sent. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "sys/confined_path.h"
#include "sys/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORT_SPAN (10 * SECOND)    /* between two reports of a job that runs */
#define CHECKPOINT_SPAN (2 * SECOND) /* after its signal a job has so long to write its files */
#define MESSAGE_MAX 200              /* bytes of a job's line about itself */

static const char *const log_names[2] = {JOB_STDOUT, JOB_STDERR};

static struct task *task_find(const struct providerd *providerd, uint64_t claim)
{
    struct task *task = providerd->tasks;

    while (task && task->claim != claim)
        task = task->next;
    return task;
}

/* Makes a task. The tenant's own record says whose job it is; NULL: there is none. */
static struct task *task_new(struct providerd *providerd, uint64_t claim, uint64_t number, uint64_t job,
                             const struct tenant_view *tenant, struct tree *ad)
{
    struct task *task = mem_alloc(sizeof *task);
    struct job_trace trace;

    *task = (struct task){.next = providerd->tasks,
                          .providerd = providerd,
                          .claim = claim,
                          .number = number,
                          .job = job,
                          .helps = tenant && tenant->duty.helps,
                          .secrets = -1,
                          .ad = tree_ref(ad),
                          .receipt = tenant && tenant->receipt ? tree_ref(tenant->receipt) : NULL};
    if (tenant) {
        inquiry_of(tenant, &task->inquiry);
        text_set(&task->owner, tenant->owner, strlen(tenant->owner));
    }
    job_trace_of(ad, &trace);
    job_trace_id_write(&trace, task->trace);
    task->inquiry.number = number;
    task->inquiry.job = job;
    providerd->tasks = task;
    return task;
}

static void secrets_close(struct task *task)
{
    if (task->secrets >= 0)
        close(task->secrets);
    task->secrets = -1;
}

static void task_free(struct task *task)
{
    struct task **link = &task->providerd->tasks;

    while (*link != task)
        link = &(*link)->next;
    *link = task->next;
    images_leave(task);
    beside_close(task);
    staging_cancel(task->staging);
    datain_cancel(task->datain);
    urlin_cancel(task->urlin);
    secretin_cancel(task->secretin);
    secrets_close(task);
    file_sync_free(task->file_sync);
    job_order_done(&task->order);
    tree_unref(task->ad);
    tree_unref(task->receipt);
    free(task);
}

/* Tells the role news of a job. What was put on the shelf before goes with the same commit. */
static void role_tell(struct providerd *providerd, const struct executor_news *news, enum job_news kind)
{
    const struct task *task = task_find(providerd, news->claim);

    runner_event(agent_runner(providerd->live),
                 &(struct event){.kind = EVENT_JOB,
                                 .news = kind,
                                 .claim = news->claim,
                                 .number = news->number,
                                 .reason = news->reason,
                                 .status = news->status,
                                 .used = news->usage.cpu,
                                 .memory = news->usage.memory,
                                 .taken = task && task->number == news->number ? task->taken : 0,
                                 .brought = task && task->number == news->number ? task->brought : 0,
                                 .unmade = task && task->number == news->number && task->unmade,
                                 .at = news->deadline});
}

bool claim_is_kept(const struct providerd *providerd, uint64_t claim)
{
    for (uint32_t i = 0; i < providerd->claim_count; i++)
        if (providerd->claims[i] == claim)
            return true;
    return false;
}

/* Keeps what holds a claim's jobs until the claim is over: it may have another job. */
static void claim_keep(struct providerd *providerd, uint64_t claim)
{
    if (claim_is_kept(providerd, claim))
        return;
    ARRAY_ROOM(providerd->claims, providerd->claim_count, providerd->claim_room, 16);
    providerd->claims[providerd->claim_count++] = claim;
}

/* Did the job end so well that what it made may go to stores? */
static bool ends_well(const struct task *task, const struct executor_news *news)
{
    return !task->helps && news->kind == EXECUTOR_ENDED && news->reason == REASON_EXITED && news->status == 0;
}

/* Is it the machine's fault: could it not run the job now? */
static bool is_fault(const struct executor_news *news)
{
    return news->kind == EXECUTOR_ENDED && news->reason == REASON_FAULT;
}

/* Queues what the job made for the customer; of a helper what it has written, if it has a number. */
static void task_leaves(struct task *task, const struct executor_news *news)
{
    static const char *const nothing[] = {NULL};
    struct providerd *providerd = task->providerd;
    struct err err = {0};

    if (task->state == TASK_HELD || results_has(providerd, task->claim, task->number))
        return;
    if (is_fault(news)) { /* what lies there is no output of it: it runs elsewhere */
        task->order.outputs = task->order.checkpoint = nothing;
        task->order.out = task->order.err = NULL;
    }
    if (ends_well(task, news))
        task->transfers = uploads_add(providerd, task, &task->brought);
    if (task->inquiry.member) { /* what a helper has made beside that is its own */
        task->order.outputs = task->order.checkpoint = nothing;
    }
    if (!task->helps || task->inquiry.member)
        task->brought += results_add(providerd, task, news);
    else if (workfolder_leave(providerd, task->claim, task->number, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_WARNING, "folder", log_text("why", err.text));
}

/* The end is on disk, and its result has left: now what the job made follows. The customer's next start waits for the result alone. */
static void end_is_durable(void *user, bool durable)
{
    if (!durable)
        return; /* the provider goes */
    results_tick(user);
    uploads_tick(user);
}

/* Ends a task whose job is over, one way or the other. A job that was ended at a limit was killed. */
static void task_end(struct task *task, const struct executor_news *given)
{
    struct providerd *providerd = task->providerd;
    struct executor_news told = *given, *news = &told;
    bool gone = news->kind == EXECUTOR_GONE;

    step_note(STEP_HEARD, task->claim, task->number);
    if (news->reason == REASON_TIME || news->reason == REASON_MEMORY || news->reason == REASON_DISK)
        news->status = news->status ? news->status : -SIGKILL;
    LOG(&providerd->daemon.log, LEVEL_INFO, "job.ended", log_word("claim", task->claim), task_trace(task),
        log_number("job", (int64_t)task->job), log_text("how", gone ? "stopped" : reason_words(news->reason)),
        log_number("status", news->status), log_text("words", news->words));
    if (is_fault(news) && !task->unreached)
        health_fault(providerd, news->words);
    else if (!gone)
        health_good(providerd);
    task_leaves(task, news);
    provider_metrics_ended(task, news);
    claim_keep(providerd, task->claim);
    role_tell(providerd, news, gone ? JOB_GONE : JOB_EXITED);
    if (is_fault(news))
        providerd_probe(providerd); /* those who look at its ad see why */
    runner_commit(agent_runner(providerd->live), end_is_durable, providerd);
    task_free(task);
}

/* Ends a task whose job cannot even begin. */
static void task_fail_for(struct task *task, const char *why, enum reason reason)
{
    struct executor_news news = {
        .kind = EXECUTOR_ENDED, .claim = task->claim, .number = task->number, .reason = reason};

    snprintf(news.words, sizeof news.words, "%.250s", why);
    task_end(task, &news);
}

static void task_fail(struct task *task, const char *why)
{
    task_fail_for(task, why, err_is_shortage(why) ? REASON_FAULT : REASON_SETUP);
}

static void task_gone(struct task *task)
{
    struct executor_news news = {
        .kind = EXECUTOR_GONE, .claim = task->claim, .number = task->number, .reason = REASON_RELEASED};

    task_end(task, &news);
}

/* ------------------------------------------------------------------------------------------------------------- begin */

struct tenant_search {
    uint64_t claim;
    struct tenant_view view;
    bool found;
};

static void tenant_look(void *user, const struct tenant_view *tenant)
{
    struct tenant_search *search = user;

    if (tenant->claim != search->claim)
        return;
    search->view = *tenant;
    search->found = true;
}

static struct tenant_search tenant_of(const struct providerd *providerd, uint64_t claim)
{
    struct tenant_search search = {.claim = claim};

    provider_each(runner_role(agent_runner(providerd->live)), tenant_look, &search);
    return search;
}

/* The ad of the machine by that offer; NULL: there is none. */
static const struct tree *machine_of(const struct providerd *providerd, uint64_t offer)
{
    const struct provider *provider = runner_role(agent_runner(providerd->live));

    for (uint32_t i = 0; i < providerd->settings->offers; i++)
        if (providerd->ids[i] == offer)
            return provider_offer(provider, i);
    return NULL;
}

/* Reads how the job is run. A helper with a number sends what it writes under that. */
static int task_read(struct task *task, const struct tree *machine, struct err *err)
{
    if (job_order_read(task->ad, machine, runner_wall() / SECOND, task->job, &task->order, err) < 0)
        return -1;
    if (task->helps)
        task->inquiry.member = task->order.member;
    return 0;
}

/* Gives the claim the GPUs that the role has chosen for it. A job that lacks one of those that it asked for is not begun. */
static int task_give(struct task *task, struct err *err)
{
    struct executor *executor = task->providerd->executor;
    uint32_t count = 0;

    if (!executor->kind->give)
        return 0;
    while (task->order.gpus && task->order.gpus[count])
        count++;
    if (count != task->order.gpus_asked)
        return err_set(err, "%u GPUs were given to a job that asks for %u", count, task->order.gpus_asked);
    return executor->kind->give(executor, task->claim, task->order.gpus, count, err);
}

static void task_execute(struct task *task)
{
    struct executor *executor = task->providerd->executor;
    struct executor_order *order = &task->order.order;
    char folder[DAEMON_PATH_MAX];
    struct err err = {0};
    int failed;

    providerd_folder(task->providerd, folder, sizeof folder, task->claim, task->number);
    task->state = TASK_RUNS;
    step_note(STEP_STAGED, task->claim, task->number);
    order->claim = task->claim;
    order->number = task->number;
    order->folder = folder;
    order->deadline = task->deadline;
    order->span = task->span;
    if (task_give(task, &err) < 0) {
        secrets_close(task);
        task_fail_for(task, err.text, REASON_FAULT);
        return;
    }
    if (task_view(task, &err) < 0) { /* what the ad asks is a stranger's, and no fault of the machine */
        secrets_close(task);
        task_fail(task, err.text);
        return;
    }
    beside_open(task);
    failed = task->secrets >= 0 ? executor->kind->launch_secret(executor, order, task->secrets, &err)
                                : executor->kind->launch(executor, order, &err);
    secrets_close(task);
    if (failed)
        task_fail(task, err.text);
}

void task_secrets_came(struct task *task, const char *why)
{
    if (why)
        task_fail(task, why);
    else if (task->order.image_secret) /* its image waits for them */
        images_begin(task);
    else
        task_execute(task);
}

void task_image_came(struct task *task, const char *why, bool fault)
{
    task->unreached = fault;
    if (why && fault)
        task_fail_for(task, why, REASON_FAULT);
    else if (why)
        task_fail(task, why);
    else if (task->order.has_secrets &&
             task->secrets < 0) /* last, so that they are here for as short a time as can be */
        secretin_begin(task);
    else
        task_execute(task);
}

void task_data_staged(struct task *task, const char *why)
{
    if (task->ahead)
        ahead_data_staged(task, why);
    else if (why) /* words that may be a stranger's: it is looked here whether they can be true */
        task_fail_for(task, why, health_lacks(task->providerd) ? REASON_FAULT : REASON_SETUP);
    else if (task->order.image && task->order.image_secret && task->order.has_secrets)
        secretin_begin(task); /* one of them opens the registry */
    else if (task->order.image)
        images_begin(task);
    else
        task_image_came(task, NULL, false);
}

void task_staged(struct task *task, const char *why)
{
    if (task->ahead)
        ahead_staged(task, why);
    else if (why)
        task_fail(task, why);
    else if (urlin_is_needed(task))
        urlin_begin(task);
    else
        task_urls_came(task, NULL);
}

void task_urls_came(struct task *task, const char *why)
{
    if (why) /* whoever was asked may have said anything */
        task_fail_for(task, why, health_lacks(task->providerd) ? REASON_FAULT : REASON_SETUP);
    else if (datain_is_needed(task))
        datain_begin(task);
    else
        task_data_staged(task, NULL);
}

void task_launch(struct providerd *providerd, const struct effect *effect)
{
    struct tenant_search tenant = tenant_of(providerd, effect->claim);
    struct task *task;
    char folder[DAEMON_PATH_MAX];
    struct err err = {0};

    task = task_find(providerd, effect->claim);
    if (task) /* it cannot be: the role has one job a claim */
        task_free(task);
    task =
        task_new(providerd, effect->claim, effect->number, effect->job, tenant.found ? &tenant.view : NULL, effect->ad);
    task->deadline = effect->at;
    task->span = effect->span;
    task->began = task->came = runner_now();
    ahead_meets(task);
    providerd->started++;
    health_job(providerd);
    step_note(STEP_TAKEN, task->claim, task->number);
    LOG(&providerd->daemon.log, LEVEL_INFO, "job.start", log_word("claim", task->claim), task_trace(task),
        log_number("job", (int64_t)task->job),
        log_text("pool", agent_pool_of(providerd->live, task->inquiry.customer)));
    if (!providerd->executor) {
        task->state = TASK_HELD;
        return;
    }
    providerd_folder(providerd, folder, sizeof folder, task->claim, task->number);
    if (workfolder_make(providerd, task->claim, task->number, &err) < 0) {
        task_fail(task, err.text);
    } else if (task_read(task, machine_of(providerd, tenant.found ? tenant.view.offer : 0), &err) < 0 ||
               uploads_check(task, &err) < 0) {
        task_fail(task, err.text);
    } else if (task->order.has_inputs) {
        staging_begin(task, folder);
    } else {
        task_staged(task, NULL);
    }
}

void task_deadline(struct providerd *providerd, uint64_t claim, int64_t at)
{
    struct task *task = task_find(providerd, claim);

    if (task)
        task->deadline = at;
    if (task && task->state == TASK_RUNS)
        providerd->executor->kind->deadline(providerd->executor, claim, at);
}

void task_stop(struct providerd *providerd, uint64_t claim, int64_t grace)
{
    struct task *task = task_find(providerd, claim);
    struct executor_news news = {.kind = EXECUTOR_GONE, .claim = claim, .reason = REASON_RELEASED};

    if (task && task->state == TASK_RUNS)
        providerd->executor->kind->stop(providerd->executor, claim, grace);
    else if (task && task->state != TASK_SETTLES) /* its end is told in any case */
        task_gone(task);
    else if (!task)
        role_tell(providerd, &news, JOB_GONE); /* nothing of it is here */
}

void task_suspend(struct providerd *providerd, uint64_t claim, bool suspended)
{
    struct task *task = task_find(providerd, claim);

    if (!task || task->state != TASK_RUNS)
        return;
    LOG(&providerd->daemon.log, LEVEL_INFO, suspended ? "job.suspended" : "job.resumed", log_word("claim", claim),
        task_trace(task));
    providerd->executor->kind->suspend(providerd->executor, claim, suspended);
}

/* ------------------------------------------------------------------------------------------------------ the executor */

/* Tells the role, before it has begun, of a job that is there; whose job it was is seen afterwards. */
static void found_told(struct providerd *providerd, const struct executor_news *news)
{
    role_tell(providerd, news,
              news->kind == EXECUTOR_RUNS    ? JOB_FOUND
              : news->kind == EXECUTOR_ENDED ? JOB_EXITED
                                             : JOB_GONE);
}

static void task_settled(void *user)
{
    struct task *task = user;

    task_end(task, &task->ending);
}

/* Brings what goes to stores to disk before the end is told; false when there is nothing. */
static bool task_settle(struct task *task, const struct executor_news *news)
{
    if (task->state != TASK_RUNS || !ends_well(task, news))
        return false;
    task->file_sync = uploads_settle(task, task_settled, task);
    if (!task->file_sync)
        return false;
    task->state = TASK_SETTLES;
    task->ending = *news;
    return true;
}

void task_told(void *user, const struct executor_news *news)
{
    struct providerd *providerd = user;
    struct task *task = task_find(providerd, news->claim);

    if (!task || (news->number && news->number != task->number)) {
        struct executor_news gone = *news;

        gone.number = 0;
        if (news->kind == EXECUTOR_GONE)
            role_tell(providerd, &gone, JOB_GONE);
        return;
    }
    if (news->kind == EXECUTOR_RUNS) {
        task->began = runner_now() - news->usage.wall;
        task->runs = true;
        provider_metrics_runs(task);
        ahead_begin(task);
    } else if (task->state != TASK_SETTLES && !task_settle(task, news)) {
        task_end(task, news);
    }
}

/* Takes what the executor tells when it is asked what there is. The tenant's own record says whose job it is. */
void task_found(void *user, const struct executor_news *news)
{
    struct providerd *providerd = user;
    struct tenant_search tenant = tenant_of(providerd, news->claim);
    struct err err = {0};
    struct task *task;

    claim_keep(providerd, news->claim);
    if (!tenant.found || tenant.view.number != news->number || !tenant.view.running) {
        if (news->kind == EXECUTOR_RUNS)
            providerd->executor->kind->stop(providerd->executor, news->claim, 0);
        return;
    }
    task = task_new(providerd, news->claim, news->number, tenant.view.job, &tenant.view, tenant.view.duty.ad);
    task->state = TASK_RUNS;
    task->deadline = news->deadline;
    task->began = runner_now() - news->usage.wall;
    task->runs = news->kind == EXECUTOR_RUNS;
    if (task_read(task, NULL, &err) < 0)
        task->order = (struct job_order){0};
    images_found(task);
    if (news->kind == EXECUTOR_RUNS) {
        beside_open(task);
        found_told(providerd, news);
        return;
    }
    task_leaves(task, news);
    found_told(providerd, news);
    task_free(task);
}

/* -------------------------------------------------------------------------------------------------- while they run */

struct log_errand {
    struct providerd *providerd;
    uint64_t claim, number;
    int which; /* 0, 1: a log; -1: a report; -2: a checkpoint file */
};

static void errand_answered(void *user, const struct tree *answer)
{
    struct log_errand *errand = user;
    struct task *task = task_find(errand->providerd, errand->claim);
    int64_t have;

    if (task && task->number == errand->number) {
        task->asking = false;
        if (errand->which >= 0 && answer && answer_is(answer, "ok") && ad_integer(answer, "Have", &have))
            task->log_sent[errand->which] = have;
        else if (errand->which == -1 && answer && answer_is(answer, "ok"))
            task->reported = true;
    }
    free(errand);
}

static struct log_errand *errand_new(const struct task *task, int which)
{
    struct log_errand *errand = mem_alloc(sizeof *errand);

    *errand = (struct log_errand){task->providerd, task->claim, task->number, which};
    return errand;
}

/* Reads the line that a job has written about itself; "" when there is none. */
static void message_read(const struct task *task, char ret[MESSAGE_MAX + 1])
{
    char folder[DAEMON_PATH_MAX];
    struct err err = {0};
    int64_t size;
    ssize_t n = 0;
    int fd, at;

    providerd_folder(task->providerd, folder, sizeof folder, task->claim, task->number);
    at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at >= 0) {
        fd = confined_read(at, JOB_STATUS, &size, &err);
        close(at);
        if (fd >= 0) {
            n = pread(fd, ret, MESSAGE_MAX, 0);
            close(fd);
        }
    }
    ret[n > 0 ? n : 0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    for (char *c = ret; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    if (utf8_check(ret, strlen(ret), &err) < 0)
        ret[0] = '\0';
}

static void report_ask(struct task *task, int64_t now)
{
    struct providerd *providerd = task->providerd;
    struct log_errand *errand = errand_new(task, -1);
    struct executor_usage usage = {0};
    char message[MESSAGE_MAX + 1];
    struct maker maker;
    struct tree *question;

    providerd->executor->kind->usage(providerd->executor, task->claim, &usage);
    message_read(task, message);
    question_begin(&maker, providerd, "report", &task->inquiry);
    maker_text(&maker, "State", "running");
    maker_seconds(&maker, "Wall", now - task->began);
    maker_seconds(&maker, "Cpu", usage.cpu);
    maker_integer(&maker, "Memory", usage.memory);
    maker_integer(&maker, "Disk", usage.disk);
    if (providerd->benchmark > 0)
        maker_real(&maker, "Benchmark", providerd->benchmark);
    maker_real(&maker, "MayCpus", task->order.order.limits.cores);
    maker_integer(&maker, "MayMemory", task->order.order.limits.memory);
    maker_integer(&maker, "MayDisk", task->order.order.limits.disk);
    maker_text(&maker, "Message", *message ? message : NULL);
    samples_put(&maker, task, false);
    question = maker_seal(&maker);
    task->reported_at = now;
    task->asking = agent_ask(providerd->live, task->inquiry.customer, question, errand_answered, errand);
    if (!task->asking)
        free(errand);
    tree_unref(question);
}

/* Takes a checkpoint when one is due: first the signal, then the files, when the job has had time to write them. */
static void checkpoint_tick(struct task *task, int64_t now)
{
    struct providerd *providerd = task->providerd;

    if (!task->order.checkpoint_period || !task->order.checkpoint || !task->order.checkpoint[0])
        return;
    if (!task->checkpoint_at)
        task->checkpoint_at = now + task->order.checkpoint_period;
    if (now < task->checkpoint_at)
        return;
    if (!task->checkpoint_due) {
        if (task->order.checkpoint_signal)
            providerd->executor->kind->signal(providerd->executor, task->claim, task->order.checkpoint_signal);
        task->checkpoint_due = true;
        task->checkpoint_at = now + CHECKPOINT_SPAN;
        return;
    }
    task->checkpoint_due = false;
    task->checkpoint_at = now + task->order.checkpoint_period;
    results_checkpoint(providerd, task);
}

static void task_tick(struct task *task, int64_t now)
{
    if (task->state == TASK_SETTLES)
        return;
    if (task->deadline <= now && task->state != TASK_RUNS) {
        task_gone(task);
        return;
    }
    if (task->state != TASK_RUNS || (task->helps && !task->inquiry.member) || task->asking ||
        now - task->began < TICK_MS / 2 * MILLISECOND)
        return;
    if (!task->helps)
        checkpoint_tick(task, now);
    ahead_begin(task);
    for (int i = 0; i < 2; i++) {
        struct log_errand *errand = errand_new(task, i);

        task->asking =
            results_piece(task->providerd, task, "log", log_names[i], task->log_sent[i], errand_answered, errand);
        if (task->asking)
            return;
        free(errand);
    }
    if (task->helps)
        return;
    if (!task->reported || now - task->reported_at >= REPORT_SPAN)
        report_ask(task, now);
}

/* Lets the launchers go of claims that are over. */
static void claims_clear(struct providerd *providerd)
{
    for (uint32_t i = providerd->claim_count; i-- > 0;) {
        uint64_t claim = providerd->claims[i];

        if (tenant_of(providerd, claim).found || task_find(providerd, claim))
            continue;
        if (providerd->executor)
            providerd->executor->kind->clear(providerd->executor, claim);
        workfolder_forget(providerd, claim);
        providerd->claims[i] = providerd->claims[--providerd->claim_count];
    }
}

void tasks_tick(struct providerd *providerd)
{
    int64_t now = runner_now();
    struct task *next;

    claims_clear(providerd);
    aheads_tick(providerd);
    for (struct task *task = providerd->tasks; task; task = next) {
        next = task->next;
        task_tick(task, now);
    }
}

void tasks_done(struct providerd *providerd)
{
    aheads_done(providerd);
    while (providerd->tasks)
        task_free(providerd->tasks);
    free(providerd->claims);
}

double tasks_load(const struct providerd *providerd)
{
    double load = 0;

    for (const struct task *task = providerd->tasks; task; task = task->next)
        load += task->state == TASK_RUNS ? task->order.order.limits.cores : 0;
    return load;
}

uint32_t tasks_count(const struct providerd *providerd)
{
    uint32_t count = 0;

    for (const struct task *task = providerd->tasks; task; task = task->next)
        count++;
    return count;
}

void task_brought(struct providerd *providerd, uint64_t claim, uint64_t number, int64_t bytes)
{
    struct task *task = task_find(providerd, claim);

    if (task && task->number == number)
        task->brought += bytes;
}

bool task_is_here(const struct providerd *providerd, uint64_t claim, uint64_t number)
{
    const struct task *task = task_find(providerd, claim);

    return task && task->number == number;
}
