/* claim.c: a claim as the agent sees it: its folder, and the launcher that carries out its jobs, which may be gone. */
#define _GNU_SOURCE
#include "exec/local_parts.h"
#include "exec/nursery_parts.h"
#include "exec/pin.h"
#include "lang/base/rng.h"
#include "sys/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCK_ATTEMPTS 100 /* milliseconds */

static const char *const files[] = {"order",   "cores", "gpus", "view",   "account", "status",
                                    "samples", "init",  "lock", "socket", "log"};

struct claim *claim_get(const struct local *local, uint64_t id)
{
    struct claim *claim = local->claims;

    while (claim && claim->id != id)
        claim = claim->next;
    return claim;
}

static void claim_name(uint64_t id, char name[CLAIM_NAME_MAX])
{
    snprintf(name, CLAIM_NAME_MAX, "%016llx", (unsigned long long)id);
}

/* Chooses a user number for a claim, where it can have one: one that no other claim has. */
static uint32_t choose_uid(const struct local *local, uint64_t id)
{
    uint32_t uid = (uint32_t)(rng_mix(id ^ ((uint64_t)local->tag << 32)) % (SUPPORT_UID_COUNT - 1));
    bool taken = true;

    if (!local->support.users)
        return 0;
    while (taken) {
        taken = false;
        for (struct claim *claim = local->claims; claim && !taken; claim = claim->next)
            taken = claim->how.uid == SUPPORT_UID_FIRST + uid;
        if (taken)
            uid = (uid + 1) % (SUPPORT_UID_COUNT - 1);
    }
    return SUPPORT_UID_FIRST + uid;
}

struct claim *claim_open(struct local *local, uint64_t id, struct err *err)
{
    struct claim *claim = mem_alloc(sizeof *claim);
    char name[CLAIM_NAME_MAX];

    claim_name(id, name);
    memset(claim, 0, sizeof *claim);
    claim->id = id;
    claim->how = (struct holding){choose_uid(local, id), !local->support.sandbox, local->support.cgroups};
    claim->lock = -1;
    if (mkdirat(local->state, name, 0700) < 0 && errno != EEXIST) {
        err_set(err, "a folder for the claim: %s", strerror(errno));
        free(claim);
        return NULL;
    }
    claim->folder = openat(local->state, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (claim->folder >= 0)
        claim->lock = openat(claim->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (claim->lock < 0) {
        err_set(err, "the claim's folder: %s", strerror(errno));
        if (claim->folder >= 0)
            close(claim->folder);
        free(claim);
        return NULL;
    }
    claim->next = local->claims;
    local->claims = claim;
    return claim;
}

void claim_close(struct local *local, struct claim *claim, bool remove)
{
    struct claim **at = &local->claims;
    char name[CLAIM_NAME_MAX];

    while (*at != claim)
        at = &(*at)->next;
    *at = claim->next;
    claim_detach(claim);
    if (remove) {
        claim_name(claim->id, name);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            unlinkat(claim->folder, files[i], 0);
        unlinkat(local->state, name, AT_REMOVEDIR);
    }
    close(claim->folder);
    close(claim->lock);
    free(claim);
}

void claim_choose_cores(struct local *local, struct claim *claim, double amount)
{
    const struct cores_share **given;
    uint32_t count = 0;
    struct claim *at;

    if (amount <= claim->cores.amount && amount >= claim->cores.amount)
        return; /* a claim whose jobs are alike keeps what it has */
    for (at = local->claims; at; at = at->next)
        count++;
    given = mem_alloc((count + 1) * sizeof(const struct cores_share *));
    count = 0;
    for (at = local->claims; at; at = at->next)
        if (at != claim && at->cores.amount > 0)
            given[count++] = &at->cores;
    cores_choose(&local->cores, amount, given, count, local->tag, &claim->cores);
    free(given);
    if (!share_write(claim->folder, &claim->cores))
        claim->cores.amount = 0;
}

/* --------------------------------------------------------------------------------------------------- a launcher's start */

/* Takes the lock of a claim, with some patience: a launcher that dies lets go of its socket a moment before its lock. */
static bool lock_take(int lock)
{
    for (int i = 0; i < LOCK_ATTEMPTS; i++) {
        if (flock(lock, LOCK_EX | LOCK_NB) == 0)
            return true;
        poll(NULL, 0, 1);
    }
    return false;
}

int claim_start_launcher(struct local *local, struct claim *claim, struct err *err)
{
    /* A description of its own, so that it is the launcher who holds the lock, and not we. */
    int lock = openat(claim->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int log = openat(claim->folder, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    int ends[2] = {-1, -1}, failed = -1;

    if (lock < 0 || log < 0 || !lock_take(lock))
        err_set(err, "the claim's folder is in use: %s", strerror(errno));
    else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        err_set(err, "a socket: %s", strerror(errno));
    else if (!launcher_spawn(local, claim->id, ends[1], lock, log))
        err_set(err, "a process could not be made: %s", strerror(errno));
    else
        failed = 0;
    if (lock >= 0)
        close(lock);
    if (log >= 0)
        close(log);
    if (ends[1] >= 0)
        close(ends[1]);
    if (!failed) {
        claim->heard = false;
        claim->takes = PARCEL_TAKES_SECRETS | PARCEL_TAKES_VIEWS | PARCEL_TAKES_RESTS | PARCEL_TAKES_NETS;
        claim_attach(local, claim, ends[0]);
    } else if (ends[0] >= 0) {
        close(ends[0]);
    }
    return failed;
}

/* ------------------------------------------------------------------------------------------------------------- its socket */

static void wire_closed(uv_handle_t *handle)
{
    struct wire *wire = handle->data;
    struct local *local = wire->local;

    close(wire->fd);
    free(wire);
    local_handle_closed(local);
}

static void wire_ready(uv_poll_t *poll, int status, int events)
{
    struct wire *wire = poll->data;

    (void)status;
    (void)events;
    claim_hear(wire->local, wire->claim);
}

void claim_attach(struct local *local, struct claim *claim, int fd)
{
    struct wire *wire = mem_alloc(sizeof *wire);

    memset(wire, 0, sizeof *wire);
    wire->local = local;
    wire->claim = claim->id;
    wire->fd = fd;
    claim->wire = wire;
    uv_poll_init(local->loop, &wire->poll, fd);
    wire->poll.data = wire;
    local->handles++;
    uv_poll_start(&wire->poll, UV_READABLE | UV_DISCONNECT, wire_ready);
}

void claim_detach(struct claim *claim)
{
    if (!claim->wire)
        return;
    uv_poll_stop(&claim->wire->poll);
    uv_close((uv_handle_t *)&claim->wire->poll, wire_closed);
    claim->wire = NULL;
}

bool claim_send_launch(struct claim *claim, int secrets)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof parcel);
    parcel.kind = PARCEL_LAUNCH;
    return claim->wire && parcel_send_with(claim->wire->fd, &parcel, secrets);
}

bool claim_send(struct claim *claim, enum parcel_kind kind, int64_t value)
{
    struct parcel parcel;

    memset(&parcel, 0, sizeof parcel);
    parcel.kind = kind;
    parcel.value = value;
    return claim->wire && parcel_send(claim->wire->fd, &parcel);
}

/* --------------------------------------------------------------------------------------------------------------- telling */

static void tell(struct local *local, struct claim *claim, const struct executor_news *news)
{
    struct executor_news copy = *news;

    copy.claim = claim->id;
    claim->usage = news->usage;
    if (news->kind == EXECUTOR_RUNS) {
        claim->told_runs = true;
        claim->deadline = news->deadline;
    } else {
        claim->runs = false;
        if (news->kind == EXECUTOR_GONE)
            claim->stopping = false;
    }
    local->told(local->user, &copy);
}

/* Tells how the last job ended: the launcher carries none now, or is not there any more. */
static void tell_end(struct local *local, struct claim *claim, bool launcher_lives)
{
    struct executor_news news;
    bool was_stopping = claim->stopping;
    uint64_t id = claim->id, number = claim->number;

    if (claim->runs) {
        if (!status_read(claim->folder, &news) || news.number != number) {
            news = (struct executor_news){.kind = EXECUTOR_GONE, .number = number, .usage = claim->usage};
            snprintf(news.words, sizeof news.words, "what carried it out has died");
            if (!claim->heard && !claim->told_runs && !launcher_lives) {
                news.kind = EXECUTOR_ENDED;
                news.reason = REASON_FAULT;
                snprintf(news.words, sizeof news.words, "its launcher could not be started");
            }
        }
        tell(local, claim, &news);
        if (news.kind == EXECUTOR_GONE)
            return;
        claim = claim_get(local, id);
    }
    if (claim && was_stopping && claim->stopping && !launcher_lives) {
        news = (struct executor_news){.kind = EXECUTOR_GONE, .number = number, .usage = claim->usage};
        tell(local, claim, &news);
    }
}

static void hear_one(struct local *local, struct claim *claim, const struct parcel *parcel)
{
    claim->heard = true;
    if (parcel->kind == PARCEL_IDLE) {
        tell_end(local, claim, true);
        return;
    }
    if (parcel->kind != PARCEL_NEWS && parcel->kind != PARCEL_USAGE)
        return;
    claim->usage = parcel->news.usage;
    if (parcel->kind == PARCEL_USAGE)
        return;
    if (parcel->news.kind == EXECUTOR_RUNS && claim->told_runs)
        return; /* it was found again */
    if (parcel->news.kind == EXECUTOR_ENDED && !claim->runs)
        return;
    if (parcel->news.kind == EXECUTOR_GONE && !claim->runs && !claim->stopping)
        return;
    tell(local, claim, &parcel->news);
}

void claim_hear(struct local *local, uint64_t id)
{
    struct claim *claim;
    struct parcel parcel;

    while ((claim = claim_get(local, id)) && claim->wire) {
        int got = parcel_receive(claim->wire->fd, &parcel);

        if (got == 0)
            return;
        if (got < 0) {
            claim_detach(claim);
            claim_seek_soon(local, claim);
            return;
        }
        claim->takes = parcel.value;
        hear_one(local, claim, &parcel);
    }
}

/* ----------------------------------------------------------------------------------------------------------- seeking */

static bool is_first(int pid, const void *folder)
{
    return init_read(*(const int *)folder) == pid;
}

/* Is nothing left of what a dead launcher carried? The lock is free, so the launcher is dead. */
static bool is_clean(struct claim *claim)
{
    int init = init_read(claim->folder);
    struct cgroup cgroup;

    if (init > 0)
        pin_signal(init, SIGKILL, is_first, &claim->folder); /* the kernel does that too; but not to what is frozen */
    cgroup_init(&cgroup, &claim->how.cgroups, claim->id);
    if (!cgroup_kill(&cgroup) || init > 0)
        return false;
    cgroup_remove(&cgroup);
    return true;
}

void claim_seek(struct local *local, uint64_t id)
{
    struct claim *claim = claim_get(local, id);
    int fd;

    if (!claim || !claim->seeking)
        return;
    if (flock(claim->lock, LOCK_EX | LOCK_NB) < 0) { /* it lives */
        fd = record_connect(claim->folder);
        if (fd < 0)
            return; /* it is about to listen, or about to die */
        claim->seeking = false;
        claim_attach(local, claim, fd);
        if (!claim_send(claim, PARCEL_HELLO, 0)) {
            claim_detach(claim);
            claim->seeking = true;
            return;
        }
        if (claim->deadline_owed)
            claim_send(claim, PARCEL_DEADLINE, claim->deadline);
        if (claim->stopping)
            claim_send(claim, PARCEL_STOP, 0);
        claim->deadline_owed = false;
        return;
    }
    if (is_clean(claim)) {
        flock(claim->lock, LOCK_UN);
        claim->seeking = false;
        tell_end(local, claim, false);
    } else {
        flock(claim->lock, LOCK_UN);
    }
}
