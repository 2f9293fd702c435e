/* local.c: the executor of the machine at hand. */
#define _GNU_SOURCE
#include "exec/local.h"

#include "exec/gpu_give.h"
#include "exec/local_parts.h"
#include "exec/nursery_parts.h"
#include "exec/self.h"
#include "lang/base/rng.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RENEW_ATTEMPTS 2000 /* milliseconds */
#define SEEK_SPAN 10       /* milliseconds between two attempts to find a launcher, or to see the end of what it left */
#define FIND_SPAN 10000000 /* microseconds that `find` waits for one that does not answer */
#define FIND_ANSWER_SPAN 3000 /* milliseconds, for an answer alone */

static struct local *local_of(struct executor *executor)
{
    return (struct local *)(void *)executor; /* the first member */
}

/* --------------------------------------------------------------------------------------------------------------- the timer */

static void timer_due(uv_timer_t *timer)
{
    struct local *local = timer->data;
    struct exec_pending *pending;
    struct claim *claim;
    uint64_t *ids;
    size_t count = 0, seeking = 0;

    while ((pending = local->pending)) {
        struct executor_news news = pending->news;

        local->pending = pending->next;
        if (!local->pending)
            local->pending_last = &local->pending;
        free(pending);
        local->told(local->user, &news);
    }
    for (claim = local->claims; claim; claim = claim->next)
        count += claim->seeking;
    ids = mem_alloc((count + 1) * sizeof *ids);
    count = 0;
    for (claim = local->claims; claim; claim = claim->next)
        if (claim->seeking)
            ids[count++] = claim->id;
    for (size_t i = 0; i < count; i++)
        claim_seek(local, ids[i]);
    free(ids);
    for (claim = local->claims; claim; claim = claim->next)
        seeking += claim->seeking;
    if (!local->freed && seeking)
        uv_timer_start(timer, timer_due, SEEK_SPAN, 0);
}

void claim_seek_soon(struct local *local, struct claim *claim)
{
    claim->seeking = true;
    uv_timer_start(&local->timer, timer_due, 0, 0);
}

static void tell_later(struct local *local, const struct executor_news *news)
{
    struct exec_pending *pending = mem_alloc(sizeof *pending);

    *pending = (struct exec_pending){NULL, *news};
    *local->pending_last = pending;
    local->pending_last = &pending->next;
    uv_timer_start(&local->timer, timer_due, 0, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- finding */

/* Finds out about one claim: waits until its launcher has said what it does, or what the launcher left is over. */
static void find_one(struct local *local, uint64_t id)
{
    int64_t until = record_now() + FIND_SPAN;
    struct claim *claim = claim_get(local, id);
    struct executor_news silent;

    claim->seeking = true;
    while ((claim = claim_get(local, id)) && claim->runs && !claim->told_runs && record_now() < until) {
        if (claim->wire) {
            struct pollfd fd = {.fd = claim->wire->fd, .events = POLLIN};

            if (poll(&fd, 1, FIND_ANSWER_SPAN) == 0)
                break;
            claim_hear(local, id);
        } else {
            claim_seek(local, id);
            if ((claim = claim_get(local, id)) && claim->seeking)
                poll(NULL, 0, SEEK_SPAN);
        }
    }
    if (!claim || !claim->runs || claim->told_runs)
        return;
    /* It is stopped, or does not die: it may still run. */
    silent = (struct executor_news){
        .kind = EXECUTOR_RUNS, .claim = id, .number = claim->number, .deadline = claim->deadline};
    claim->told_runs = true;
    if (!claim->wire)
        claim_seek_soon(local, claim);
    local->told(local->user, &silent);
}

static void find_claim(struct local *local, uint64_t id)
{
    struct claim *claim = claim_open(local, id, NULL);
    struct order *order;

    if (!claim)
        return;
    order = order_read(claim->folder, NULL);
    if (!order) { /* nothing was begun */
        claim_close(local, claim, true);
        return;
    }
    claim->number = order->is.number;
    claim->how = order->how;
    claim->cores = order->cores;
    claim->deadline = order->is.deadline;
    claim->runs = claim->heard = true;
    order_free(order);
    find_one(local, id);
}

static int local_find(struct executor *executor, struct err *err)
{
    struct local *local = local_of(executor);
    int fd = openat(local->state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!dir)
        return err_set(err, "'%s' cannot be read: %s", local->state_path, strerror(errno));
    while ((entry = readdir(dir))) {
        char *end;
        uint64_t id = strtoull(entry->d_name, &end, 16);

        if (strlen(entry->d_name) == CLAIM_NAME_MAX - 1 && !*end && !claim_get(local, id))
            find_claim(local, id);
    }
    closedir(dir);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- commanding */

/* A launcher that another process has begun may be of an older program, which takes no secrets or views and would run the job without them: it makes
 * room for another. It has nothing to do, so that takes no time. */
static void launcher_renew(struct claim *claim, int64_t wanted)
{
    if (!claim->wire || (claim->takes & wanted) == wanted)
        return;
    claim_send(claim, PARCEL_LEAVE, 0);
    claim_detach(claim);
    for (int i = 0; i < RENEW_ATTEMPTS && flock(claim->lock, LOCK_EX | LOCK_NB) < 0; i++)
        poll(NULL, 0, 1);
    flock(claim->lock, LOCK_UN);
}

/* What a job has that may use the network; with `together`, a process of a parallel job, which others of it are to call. */
static const char *network_of(const struct local *local, bool together)
{
    if (local->network == LOCAL_NETWORK_MACHINE || (local->network == LOCAL_NETWORK_AUTO && !local->support.jobnet))
        return "machine";
    return local->support.jobnet && !together ? "own" : "none"; /* nobody could call it there */
}

/* `secrets`: a descriptor; -1: the job has none. */
static int launch(struct executor *executor, const struct executor_order *is, int secrets, struct err *err)
{
    struct local *local = local_of(executor);
    struct claim *claim = claim_get(local, is->claim);
    const char *network = network_of(local, is->together == 1);
    struct executor_order with = *is;
    struct order *order;
    bool failed, sent = false;

    if (claim && claim->runs)
        return err_set(err, "the claim has a job already");
    if (claim && claim->seeking && !claim->stopping)
        claim_seek(local, is->claim); /* its last launcher has just gone: nothing is left to tell */
    if (claim && claim->seeking)
        return err_set(err, "what carried out the claim's last job is not gone yet");
    if (!is->folder || *is->folder != '/')
        return err_set(err, "the job's folder has to be an absolute path");
    if (is->view && is->view->root && !local->support.sandbox)
        return err_set(err, "jobs run without a sandbox here, and so none can have an image");
    if (is->account && *local->support.no_accounts)
        return err_set(err, "jobs do not run here as the users who sent them: %s", local->support.no_accounts);
    if (is->network && !strcmp(network, "none"))
        return err_set(
            err, "the network is not given to such jobs here: %s",
            is->together
                ? "jobs have networks of their own here, where the processes of a parallel job could not call each other"
                : local->support.no_jobnet);
    if (!claim)
        claim = claim_open(local, is->claim, err);
    if (!claim)
        return -1;
    with.netted = is->network && !strcmp(network, "own");
    launcher_renew(claim, (secrets >= 0 ? PARCEL_TAKES_SECRETS : 0) | (is->view ? PARCEL_TAKES_VIEWS : 0) |
                              (is->account ? PARCEL_TAKES_ACCOUNTS : 0) | (with.netted ? PARCEL_TAKES_NETS : 0));
    claim_choose_cores(local, claim, is->limits.cores);
    order = order_copy(&with, &claim->how, err);
    failed = !order || order_write(claim->folder, order, err) < 0;
    order_free(order);
    if (!failed && claim->wire && !(sent = claim_send_launch(claim, secrets)))
        claim_detach(claim); /* it died, and we have not heard of it yet */
    if (!failed && !sent)
        failed = claim_start_launcher(local, claim, err) < 0 || !claim_send_launch(claim, secrets);
    if (failed) {
        unlinkat(claim->folder, "order", 0); /* so that nobody looks for what was never begun */
        return -1;
    }
    claim->number = is->number;
    claim->deadline = is->deadline;
    claim->runs = true;
    claim->told_runs = claim->stopping = claim->deadline_owed = false;
    claim->usage = (struct executor_usage){0};
    return 0;
}

static int local_launch(struct executor *executor, const struct executor_order *is, struct err *err)
{
    return launch(executor, is, -1, err);
}

static bool local_takes_secrets(const struct executor *executor)
{
    return local_of((struct executor *)(uintptr_t)executor)->support.sandbox;
}

static bool local_takes_images(const struct executor *executor, uint32_t *ret_uid)
{
    const struct local *local = local_of((struct executor *)(uintptr_t)executor);

    *ret_uid = local->support.users ? SUPPORT_UID_UNPACKS : 0;
    return local->support.sandbox;
}

static bool local_takes_accounts(const struct executor *executor, const char **ret_why)
{
    const struct local *local = local_of((struct executor *)(uintptr_t)executor);

    if (ret_why)
        *ret_why = local->support.no_accounts;
    return !*local->support.no_accounts;
}

static int local_launch_secret(struct executor *executor, const struct executor_order *is, int secrets, struct err *err)
{
    struct executor_order with = *is;

    if (!local_takes_secrets(executor))
        return err_set(err, "jobs run without a sandbox here, and so nobody's secrets could be kept from others");
    with.secrets = 1;
    return launch(executor, &with, secrets, err);
}

static int local_give(struct executor *executor, uint64_t id, const char *const *gpus, size_t count, struct err *err)
{
    struct local *local = local_of(executor);
    struct claim *claim = claim_get(local, id);
    struct buf words;
    int failed;

    if (!count)
        return 0; /* the order says so, and the words are not read */
    if (!local->support.sandbox)
        return err_set(err, "jobs run without a sandbox here, and so no GPU could be kept from others");
    if (!claim)
        claim = claim_open(local, id, err);
    if (!claim)
        return -1;
    buf_init(&words);
    failed = gpus_share(local->gpus, gpus, count, &words, err);
    if (!failed)
        failed = gpus_record(claim->folder, &words, err);
    buf_done(&words);
    return failed;
}

static void local_deadline(struct executor *executor, uint64_t id, int64_t at)
{
    struct claim *claim = claim_get(local_of(executor), id);

    if (!claim)
        return;
    claim->deadline = at;
    claim->deadline_owed = !claim_send(claim, PARCEL_DEADLINE, at);
}

static void local_stop(struct executor *executor, uint64_t id, int64_t grace)
{
    struct local *local = local_of(executor);
    struct claim *claim = claim_get(local, id);
    struct executor_news gone = {.kind = EXECUTOR_GONE, .claim = id};

    if (claim && (claim->wire || claim->seeking)) {
        claim->stopping = true;
        claim_send(claim, PARCEL_STOP, grace); /* should it be lost, its launcher is, and that is told */
        return;
    }
    if (claim) {
        gone.number = claim->number;
        gone.usage = claim->usage;
    }
    tell_later(local, &gone);
}

static void local_suspend(struct executor *executor, uint64_t id, bool suspended)
{
    struct claim *claim = claim_get(local_of(executor), id);

    if (claim)
        claim_send(claim, PARCEL_SUSPEND, suspended);
}

static bool local_rest(struct executor *executor, uint64_t id, bool rests)
{
    struct claim *claim = claim_get(local_of(executor), id);

    if (!claim || !claim->wire || !(claim->takes & PARCEL_TAKES_RESTS))
        return false;
    claim_send(claim, PARCEL_REST, rests);
    return true;
}

static void local_signal(struct executor *executor, uint64_t id, int number)
{
    struct claim *claim = claim_get(local_of(executor), id);

    if (claim)
        claim_send(claim, PARCEL_SIGNAL, number);
}

static int local_shell(struct executor *executor, uint64_t id, int fd, struct err *err)
{
    struct claim *claim = claim_get(local_of(executor), id);
    struct parcel parcel = {.kind = PARCEL_SHELL};
    bool sent = claim && claim->wire && claim->told_runs && parcel_send_with(claim->wire->fd, &parcel, fd);

    close(fd);
    return sent ? 0 : err_set(err, "the job does not run yet, or not any more");
}

static bool local_usage(struct executor *executor, uint64_t id, struct executor_usage *ret)
{
    struct claim *claim = claim_get(local_of(executor), id);

    if (!claim || !claim->runs || !claim->told_runs)
        return false;
    *ret = claim->usage;
    return true;
}

static bool local_samples(struct executor *executor, uint64_t id, uint64_t number, struct samples *ret,
                          int64_t *ret_read, int64_t *ret_written)
{
    struct claim *claim = claim_get(local_of(executor), id);
    struct job_samples *kept;
    bool found;

    if (!claim)
        return false;
    kept = mem_alloc(sizeof *kept);
    found = job_samples_read(claim->folder, number, kept);
    if (found) {
        *ret = kept->samples;
        *ret_read = kept->read;
        *ret_written = kept->written;
    }
    free(kept);
    return found;
}

static void local_clear(struct executor *executor, uint64_t id)
{
    struct local *local = local_of(executor);
    struct claim *claim = claim_get(local, id);

    if (!claim)
        return;
    claim_send(claim, PARCEL_LEAVE, 0);
    claim_close(local, claim, true);
}

static const char *local_describe(const struct executor *executor)
{
    return buf_string(&local_of((struct executor *)(uintptr_t)executor)->description);
}

/* ----------------------------------------------------------------------------------------------------------- life cycle */

void local_handle_closed(struct local *local)
{
    struct exec_pending *pending;

    local->handles--;
    if (!local->freed || local->handles)
        return;
    while ((pending = local->pending)) {
        local->pending = pending->next;
        free(pending);
    }
    if (local->state >= 0)
        close(local->state);
    buf_done(&local->description);
    free(local->state_path);
    free(local->program);
    free(local);
}

static void timer_closed(uv_handle_t *handle)
{
    local_handle_closed(handle->data);
}

static void local_free(struct executor *executor)
{
    struct local *local = local_of(executor);

    if (!executor || local->freed)
        return;
    local->freed = true;
    while (local->claims)
        claim_close(local, local->claims, false);
    nursery_close(local);
    uv_timer_stop(&local->timer);
    uv_close((uv_handle_t *)&local->timer, timer_closed);
}

static const struct executor_kind local_kind = {
    .name = "local",
    .find = local_find,
    .launch = local_launch,
    .launch_secret = local_launch_secret,
    .takes_secrets = local_takes_secrets,
    .takes_images = local_takes_images,
    .takes_accounts = local_takes_accounts,
    .give = local_give,
    .deadline = local_deadline,
    .stop = local_stop,
    .suspend = local_suspend,
    .rest = local_rest,
    .signal = local_signal,
    .shell = local_shell,
    .usage = local_usage,
    .samples = local_samples,
    .clear = local_clear,
    .describe = local_describe,
    .free = local_free,
};

static uint32_t path_tag(const char *path)
{
    uint64_t hash = 0;

    for (; *path; path++)
        hash = rng_mix(hash ^ (unsigned char)*path);
    return (uint32_t)hash;
}

struct executor *local_new(struct uv_loop_s *loop, const struct local_settings *settings, struct err *err)
{
    char self[SELF_MAX];
    const char *program = settings->program ? settings->program : self_program(self);
    struct support support;
    struct local *local;
    int state;

    if (mkdir(settings->state, 0700) < 0 && errno != EEXIST) {
        err_set(err, "'%s' cannot be made: %s", settings->state, strerror(errno));
        return NULL;
    }
    state = open(settings->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (state < 0) {
        err_set(err, "'%s' cannot be opened: %s", settings->state, strerror(errno));
        return NULL;
    }
    support_probe(path_tag(settings->state), &support);
    if (!support.sandbox && !settings->unprotected) {
        support_refuse(&support, err);
        close(state);
        return NULL;
    }
    local = mem_alloc(sizeof *local);
    memset(local, 0, sizeof *local);
    local->executor.kind = &local_kind;
    local->loop = loop;
    local->state_path = mem_dup(settings->state, strlen(settings->state));
    local->program = mem_dup(program, strlen(program));
    local->state = state;
    local->tag = support.cgroups.tag;
    local->told = settings->told;
    local->user = settings->user;
    local->support = support;
    local->network = settings->network;
    local->gpus = settings->gpus;
    if (!*support.cgroups.base[CGROUP_CPU])
        cores_read(&local->cores, NULL, NULL);
    local->pending_last = &local->pending;
    buf_init(&local->description);
    support_describe(&support, !strcmp(network_of(local, false), "own"), &local->description);
    uv_timer_init(loop, &local->timer);
    local->timer.data = local;
    local->handles = 1;
    nursery_open(local);
    return &local->executor;
}

bool local_is_sandboxed(const struct executor *executor)
{
    return executor->kind == &local_kind && local_takes_secrets(executor);
}

void local_set_gpus(struct executor *executor, const struct gpus *gpus)
{
    struct local *local = local_of(executor);
    uint32_t count = gpus_free(gpus);

    if (executor->kind != &local_kind)
        return;
    local->gpus = gpus;
    if (count)
        buf_addf(&local->description, ", %u GPU%s", count, count == 1 ? "" : "s");
    if (*gpus->why)
        buf_addf(&local->description, "%s (%s)", count ? "" : ", no GPU", gpus->why);
}

void local_networks(struct executor *executor, const char **ret_job, const char **ret_process)
{
    struct local *local = local_of(executor);

    *ret_job = network_of(local, false);
    *ret_process = network_of(local, true);
    if (strcmp(*ret_job, "own") != 0 && local->network != LOCAL_NETWORK_MACHINE)
        buf_addf(&local->description, "; jobs with the network %s (%s)",
                 strcmp(*ret_job, "none") != 0 ? "are in the machine's own" : "are not taken",
                 local->support.no_jobnet);
}

void local_describe_also(struct executor *executor, const char *words)
{
    if (executor->kind == &local_kind)
        buf_addf(&local_of(executor)->description, "; %s", words);
}
