/* jobs_pool.h: for tests of real jobs: a matchmaker, a customer and some providers, each a process that can be killed and started anew.
 *
 *     jobs_init -> jobs_start -> job_submit -> party_kill, party_start ... -> job_text, job_file -> jobs_done
 *
 * The providers are named p0, p1, ... and have states of their own. Everything that a job starts has MARK in its environment, by which
 * its processes are found in /proc: that is how a test sees what really runs, whatever the parties say. Included by the main file of a
 * program, after process.h and tap.h. */
#ifndef BERTH_TESTS_JOBS_POOL_H
#define BERTH_TESTS_JOBS_POOL_H

#include <ctype.h>
#include <dirent.h>

#define JOBS_PROVIDERS_MAX 2
#define JOBS_SETS 16
#define JOBS_ARGS 12
#define JOBS_ALIVE_MAX 256
#define JOBS_PATH (LIVE_PATH_MAX + 64)

struct party {
    const char *role;
    char state[JOBS_PATH], log[JOBS_PATH], name[48], pool[96];
    const char *args[JOBS_ARGS];
    int arg_count;
    pid_t pid;
    int fell; /* times that it ended by itself, or badly */
};

struct jobs {
    struct live live; /* the matchmaker; the customer's state is in its */
    char folder[LIVE_PATH_MAX];
    char sets[JOBS_SETS][40]; /* settings that all of them share */
    int set_count;
    struct party customer, providers[JOBS_PROVIDERS_MAX];
    int provider_count;
    int64_t lease, grace; /* milliseconds */
};

/* A setting that every party gets, in seconds. */
static inline void jobs_span(struct jobs *jobs, const char *key, int64_t milliseconds)
{
    snprintf(jobs->sets[jobs->set_count++], sizeof *jobs->sets, "%s=%.3f", key, (double)milliseconds / 1000);
}

static inline void party_init(struct jobs *jobs, struct party *party, const char *role, const char *name)
{
    party->role = role;
    if (!strcmp(role, "customer"))
        snprintf(party->state, sizeof party->state, "%s", jobs->live.state);
    else
        snprintf(party->state, sizeof party->state, "%s/%s", jobs->folder, name);
    mkdir(party->state, 0700);
    snprintf(party->log, sizeof party->log, "%s/%s.log", jobs->folder, name);
    snprintf(party->name, sizeof party->name, "AgentName=%s", name);
}

static inline void jobs_init(struct jobs *jobs, int providers, int64_t lease, int64_t grace)
{
    memset(jobs, 0, sizeof *jobs);
    live_init(&jobs->live);
    live_folder(jobs->folder);
    jobs->lease = lease;
    jobs->grace = grace;
    jobs->provider_count = providers;
    jobs_span(jobs, "Lease", lease);
    jobs_span(jobs, "Pin", lease / 2);
    jobs_span(jobs, "Window", lease / 2);
    jobs_span(jobs, "Deadline", lease / 2);
    jobs_span(jobs, "Retry", lease / 30);
    jobs_span(jobs, "Lifetime", lease * 4);
    jobs_span(jobs, "Grace", grace);
    party_init(jobs, &jobs->customer, "customer", "c");
    for (int i = 0; i < providers; i++) {
        char name[16];

        snprintf(name, sizeof name, "p%d", i);
        party_init(jobs, &jobs->providers[i], "provider", name);
    }
}

/* Its process, begun; up it is a moment later. */
static inline void party_start(const struct jobs *jobs, struct party *party)
{
    const char *args[3 * JOBS_SETS + JOBS_ARGS + 16] = {live_program(), party->role, "--state", party->state, "-q"};
    int count = 5, out = open("/dev/null", O_WRONLY | O_CLOEXEC);

    snprintf(party->pool, sizeof party->pool, "Matchmakers={\"http://127.0.0.1:%d\"}", jobs->live.port);
    args[count++] = "--set";
    args[count++] = party->pool;
    args[count++] = "--set";
    args[count++] = party->name;
    for (int i = 0; i < jobs->set_count; i++) {
        args[count++] = "--set";
        args[count++] = jobs->sets[i];
    }
    for (int i = 0; i < party->arg_count; i++)
        args[count++] = party->args[i];
    party->pid = fork();
    if (party->pid == 0)
        live_exec(args, out, party->log, NULL);
    close(out);
}

/* Has it ended though nobody wanted that? */
static inline bool process_fell(pid_t pid)
{
    siginfo_t info = {0};

    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

static inline void party_kill(struct party *party)
{
    if (party->pid <= 0)
        return;
    party->fell += process_fell(party->pid);
    kill(party->pid, SIGKILL);
    waitpid(party->pid, NULL, 0);
    party->pid = 0;
}

/* Told to end: it does, and well. Sanitizers have their say then. */
static inline void party_end(struct party *party)
{
    int status;

    if (party->pid <= 0)
        return;
    party->fell += process_fell(party->pid);
    kill(party->pid, SIGTERM);
    status = live_wait_pid(party->pid, LIVE_PATIENCE);
    party->fell += status != 0;
    if (status < 0) {
        kill(party->pid, SIGKILL);
        waitpid(party->pid, NULL, 0);
    }
    party->pid = 0;
}

static inline bool party_token(const struct jobs *jobs, const struct party *party, const char *subject,
                               const char *scope)
{
    char path[JOBS_PATH + 32];
    const char *const args[] = {live_program(), "token", "create",  "--state", jobs->live.state,
                                "--subject",    subject, "--scope", scope,     "--lifetime",
                                "1d",           "-o",    path,      NULL};
    struct buf said;
    int status;

    buf_init(&said);
    snprintf(path, sizeof path, "%s/%s", party->state, party->role);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/token", party->state, party->role);
    status = live_run(args, &said);
    if (status)
        tap_diag("%s", buf_string(&said));
    buf_done(&said);
    return status == 0;
}

/* ------------------------------------------------------------------------------------------------------ the customer */

static inline bool customerd_open(const struct jobs *jobs, struct talk *talk)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    snprintf(name.sun_path, sizeof name.sun_path, "%.60s/customer/customer.sock", jobs->live.state);
    return talk_connect(talk, (const struct sockaddr *)&name, sizeof name);
}

/* One question on a connection of its own. The status; 0 when no answer came. */
static inline unsigned customerd_ask(const struct jobs *jobs, const char *method, const char *path, const char *body,
                                     struct reply *ret)
{
    struct talk talk;

    talk_init(&talk);
    ret->status = 0;
    buf_reset(&ret->body);
    if (customerd_open(jobs, &talk) && talk_send(&talk, method, path, NULL, NULL, body))
        talk_wait(&talk, 5000, ret);
    talk_done(&talk);
    return ret->status;
}

static inline bool customerd_is_up(const struct jobs *jobs, int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds;
    struct reply reply;
    bool up = false;

    reply_init(&reply);
    while (!(up = customerd_ask(jobs, "GET", "/v1/status", NULL, &reply) == 200) && live_now() < ends)
        live_sleep(10);
    reply_done(&reply);
    return up;
}

/* All up, and the providers' ads with the matchmaker. */
static inline bool jobs_start(struct jobs *jobs)
{
    int64_t ends = live_now() + LIVE_PATIENCE;
    struct reply reply;
    struct talk talk;
    bool good;

    for (int i = 0; i < jobs->set_count; i++)
        live_set(&jobs->live, jobs->sets[i]);
    if (!live_start(&jobs->live))
        return false;
    jobs->live.port_wanted = jobs->live.port;
    good = party_token(jobs, &jobs->customer, "alice", "ad:read ad:write claim job:submit job:own job:any");
    for (int i = 0; good && i < jobs->provider_count; i++) {
        good = party_token(jobs, &jobs->providers[i], "bob", "ad:read ad:write claim");
        party_start(jobs, &jobs->providers[i]);
    }
    party_start(jobs, &jobs->customer);
    good = good && customerd_is_up(jobs, LIVE_PATIENCE);
    talk_init(&talk);
    reply_init(&reply);
    for (int seen = 0; good && seen < jobs->provider_count && (good = live_now() < ends); live_sleep(20)) {
        seen = 0;
        if (talk_ask(&talk, &jobs->live, "GET", "/v1/ads", NULL, NULL, NULL, &reply) == 200)
            for (const char *at = reply.body.text; (at = strstr(at, "AdId = ")); at++)
                seen++;
    }
    talk_done(&talk);
    reply_done(&reply);
    return good;
}

/* An ad of a job that runs that script. `more`: further attributes, each with a semicolon behind it. */
static inline void job_ad_make(const struct jobs *jobs, const char *script, const char *more, struct buf *out)
{
    buf_reset(out);
    buf_addf(out,
             "[ Type = \"Job\"; Cmd = \"/bin/sh\"; Args = { \"-c\", \"%s\" }; Env = [ MARK = \"%s\" ]; "
             "Constraint = other.Type == \"Machine\"; RequestMemory = 64M; RequestDisk = 16M; %s ]",
             script, jobs->folder, more ? more : "");
}

static inline int64_t submit_first(const struct reply *reply)
{
    char text[32];

    if (reply->status != 201 && reply->status != 200)
        return 0;
    reply_text(reply, "First", text, sizeof text);
    return strtoll(text, NULL, 10);
}

/* The number of the job; 0 when it was refused, or nobody answers. */
static inline int64_t ad_submit(const struct jobs *jobs, const char *key, const char *ad)
{
    struct reply reply;
    char path[128];
    int64_t id;

    reply_init(&reply);
    snprintf(path, sizeof path, "/v1/jobs?key=%s", key);
    customerd_ask(jobs, "POST", path, ad, &reply);
    id = submit_first(&reply);
    if (!id)
        tap_diag("submission: %u %s", reply.status, buf_string(&reply.body));
    reply_done(&reply);
    return id;
}

static inline int64_t job_submit(const struct jobs *jobs, const char *key, const char *script, const char *more)
{
    struct buf ad;
    int64_t id;

    buf_init(&ad);
    job_ad_make(jobs, script, more, &ad);
    id = ad_submit(jobs, key, buf_string(&ad));
    buf_done(&ad);
    return id;
}

/* An attribute of a job; "" when nothing is known. */
static inline const char *job_text(const struct jobs *jobs, int64_t id, const char *name, char *out, size_t room)
{
    struct reply reply;
    char path[64];

    reply_init(&reply);
    *out = '\0';
    snprintf(path, sizeof path, "/v1/jobs/%lld", (long long)id);
    if (customerd_ask(jobs, "GET", path, NULL, &reply) == 200)
        reply_text(&reply, name, out, room);
    reply_done(&reply);
    return out;
}

static inline bool job_is(const struct jobs *jobs, int64_t id, const char *name, const char *value)
{
    char text[64];

    return !strcmp(job_text(jobs, id, name, text, sizeof text), value);
}

/* Waits until the attribute is that. */
static inline bool job_becomes(const struct jobs *jobs, int64_t id, const char *name, const char *value,
                               int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds;

    while (!job_is(jobs, id, name, value)) {
        if (live_now() >= ends)
            return false;
        live_sleep(10);
    }
    return true;
}

/* What is there of a file: `what` is "output/NAME", "checkpoint/NAME" or "log/stdout". */
static inline const char *job_file(const struct jobs *jobs, int64_t id, const char *what, struct buf *out)
{
    struct reply reply;
    char path[128];

    reply_init(&reply);
    buf_reset(out);
    snprintf(path, sizeof path, "/v1/jobs/%lld/files/%s", (long long)id, what);
    if (customerd_ask(jobs, "GET", path, NULL, &reply) == 200)
        buf_add(out, buf_string(&reply.body), reply.body.len);
    reply_done(&reply);
    return buf_string(out);
}

/* Its event log. */
static inline const char *job_events(const struct jobs *jobs, int64_t id, struct buf *out)
{
    struct reply reply;
    char path[64];

    reply_init(&reply);
    buf_reset(out);
    snprintf(path, sizeof path, "/v1/jobs/%lld/log", (long long)id);
    if (customerd_ask(jobs, "GET", path, NULL, &reply) == 200)
        buf_add(out, buf_string(&reply.body), reply.body.len);
    reply_done(&reply);
    return buf_string(out);
}

static inline int words_count(const char *text, const char *words)
{
    int count = 0;

    for (; (text = strstr(text, words)); text += strlen(words))
        count++;
    return count;
}

/* --------------------------------------------------------------------------------------------- what really runs */

/* A process of a job. Those of one try share a PID namespace. */
struct alive {
    int64_t job;
    unsigned long space;
    pid_t pid;
    char state; /* as in /proc/PID/stat */
};

static inline const char *environ_find(const struct buf *text, const char *name)
{
    size_t len = strlen(name);

    for (size_t at = 0; at < text->len; at += strlen(text->text + at) + 1)
        if (!strncmp(text->text + at, name, len))
            return text->text + at + len;
    return NULL;
}

static inline bool alive_read(const struct jobs *jobs, const char *pid, struct buf *text, struct alive *ret)
{
    char path[300], space[64] = "";
    const char *mark, *job, *state;

    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    buf_reset(text);
    live_read_file(path, text);
    (void)buf_string(text);
    mark = environ_find(text, "MARK=");
    job = environ_find(text, "BERTH_JOB=");
    if (!mark || strcmp(mark, jobs->folder) != 0 || !job)
        return false;
    ret->job = strtoll(job, NULL, 10);
    ret->pid = atoi(pid);
    snprintf(path, sizeof path, "/proc/%s/ns/pid", pid);
    if (readlink(path, space, sizeof space - 1) < 0 || sscanf(space, "pid:[%lu]", &ret->space) != 1)
        return false;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    buf_reset(text);
    live_read_file(path, text);
    state = strrchr(buf_string(text), ')');
    ret->state = state ? state[2] : 'X';
    return ret->state != 'Z' && ret->state != 'X';
}

/* The processes of a job; 0: of all jobs of this pool. */
static inline int alive_list(const struct jobs *jobs, int64_t job, struct alive ret[JOBS_ALIVE_MAX])
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;
    struct buf text;
    int count = 0;

    buf_init(&text);
    while (dir && (entry = readdir(dir)) && count < JOBS_ALIVE_MAX)
        if (isdigit((unsigned char)*entry->d_name) && alive_read(jobs, entry->d_name, &text, &ret[count]) &&
            (!job || ret[count].job == job))
            count++;
    buf_done(&text);
    if (dir)
        closedir(dir);
    return count;
}

/* For a diagnosis. */
static inline void alive_tell(const struct jobs *jobs, int64_t job)
{
    static struct alive list[JOBS_ALIVE_MAX];
    int count = alive_list(jobs, job, list);

    for (int i = 0; i < count; i++) {
        char path[64];
        struct buf name;

        buf_init(&name);
        snprintf(path, sizeof path, "/proc/%d/comm", list[i].pid);
        live_read_file(path, &name);
        tap_diag("job %lld: process %d, %c, space %lu, %s", (long long)list[i].job, list[i].pid, list[i].state,
                 list[i].space, buf_string(&name));
        buf_done(&name);
    }
}

/* In how many tries a job is alive. */
static inline int alive_tries(const struct alive *list, int count, int64_t job)
{
    unsigned long spaces[JOBS_ALIVE_MAX];
    int tries = 0;

    for (int i = 0; i < count; i++) {
        bool known = false;

        for (int j = 0; j < tries; j++)
            known = known || spaces[j] == list[i].space;
        if (list[i].job == job && !known)
            spaces[tries++] = list[i].space;
    }
    return tries;
}

/* Waits until so many tries of it are alive. */
static inline bool job_alive(const struct jobs *jobs, int64_t job, int tries, int64_t milliseconds)
{
    static struct alive list[JOBS_ALIVE_MAX];
    int64_t ends = live_now() + milliseconds;

    for (;;) {
        int count = alive_list(jobs, job, list);

        if (alive_tries(list, count, job) == tries)
            return true;
        if (live_now() >= ends)
            return false;
        live_sleep(5);
    }
}

/* ----------------------------------------------------------------------------------------------------------- the end */

/* What the parties logged, after something went wrong. */
static inline void jobs_tell(const struct jobs *jobs)
{
    const char *logs[2 + JOBS_PROVIDERS_MAX] = {jobs->live.log, jobs->customer.log};
    struct buf text;

    for (int i = 0; i < jobs->provider_count; i++)
        logs[2 + i] = jobs->providers[i].log;
    buf_init(&text);
    for (int i = 0; i < 2 + jobs->provider_count; i++) {
        buf_reset(&text);
        live_read_file(logs[i], &text);
        (void)buf_string(&text);
        printf("# ---- %s\n", logs[i]);
        for (char *line = strtok(text.text, "\n"); line; line = strtok(NULL, "\n"))
            printf("# %.300s\n", line);
    }
    buf_done(&text);
}

/* The last case: `before` is how many had failed when the pool was made. */
static inline void jobs_done(struct jobs *jobs, int before)
{
    static struct alive list[JOBS_ALIVE_MAX];
    int64_t ends = live_now() + 3 * jobs->lease + 2000;
    int fell = 0;

    party_end(&jobs->customer);
    for (int i = 0; i < jobs->provider_count; i++) {
        party_end(&jobs->providers[i]);
        fell += jobs->providers[i].fell;
    }
    fell += jobs->customer.fell + (live_stop(&jobs->live) != 0);
    tap_ok(!fell, "no party ended by itself, and all end well when they are told to (%d)", fell);
    if (tap_failures != before && getenv("JOBS_TELL"))
        jobs_tell(jobs);
    while (alive_list(jobs, 0, list) && live_now() < ends) /* launchers end their jobs by themselves */
        live_sleep(20);
    live_remove(jobs->folder);
    live_done(&jobs->live);
}

#endif
