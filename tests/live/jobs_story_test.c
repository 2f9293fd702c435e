/* jobs_story_test.c: real jobs, one trouble at a time: a provider that stands still, restarts while a job runs, a job that is removed, a
 * customer that is not there when it ends, and an owner who comes back.
 *
 * With a word (away, owner) only these stories. JOBS_TELL=1 prints what the parties logged when something went wrong. */
#define _GNU_SOURCE /* nftw, pipe2 */
#include "common/tap.h"
#include "process.h"

#include "jobs_pool.h"

#define LEASE (1500 * LIVE_SLOWER)
#define GRACE (500 * LIVE_SLOWER)
#define SLACK (2500 * LIVE_SLOWER) /* that anything may take on a busy machine */

/* ---------------------------------------------------------------------------------------------------- one at a time */

/* The provider that has the job. */
static struct party *provider_of(struct jobs *jobs, int64_t id)
{
    char name[32];

    job_text(jobs, id, "Provider", name, sizeof name);
    return &jobs->providers[*name ? atoi(name + 1) % JOBS_PROVIDERS_MAX : 0];
}

static unsigned long space_of(const struct jobs *jobs, int64_t id)
{
    static struct alive list[JOBS_ALIVE_MAX];

    return alive_list(jobs, id, list) ? list[0].space : 0;
}

static bool ends_once(const struct jobs *jobs, int64_t id)
{
    struct buf text;
    bool once;

    buf_init(&text);
    once = words_count(job_events(jobs, id, &text), " ended with status 0") == 1 && job_is(jobs, id, "Status", "0");
    if (!once)
        tap_diag("%s", buf_string(&text));
    buf_done(&text);
    return once;
}

static bool job_finishes(const struct jobs *jobs, int64_t id, int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds;

    for (;;) {
        char due[16];

        if (job_is(jobs, id, "State", "Cleared"))
            return true;
        if (job_is(jobs, id, "State", "Done") && strcmp(job_text(jobs, id, "OutputsDue", due, sizeof due), "true") != 0)
            return true;
        if (live_now() >= ends)
            return false;
        live_sleep(20);
    }
}

static void cut_off_story(struct jobs *jobs)
{
    /* longer than a lease, so that a try whose provider stands still is ended before it is through */
    int64_t length = LEASE * 5 / 2, began;
    char script[128], tries[16];
    struct party *away;
    struct buf text;
    bool gone, again;
    int64_t id;

    buf_init(&text);
    snprintf(script, sizeof script, "echo start >> out; sleep %.2f; echo end >> out", (double)length / 1000);
    id = job_submit(jobs, "cut-off", script, NULL);
    tap_ok(id && job_alive(jobs, id, 1, SLACK), "a job runs");
    job_becomes(jobs, id, "State", "Running", SLACK);
    away = provider_of(jobs, id);
    kill(away->pid, SIGSTOP);
    began = live_now();
    gone = job_alive(jobs, id, 0, LEASE + 400 * LIVE_SLOWER);
    tap_ok(gone, "its provider stands still: at the end of the lease nothing of it is left (%lld ms)",
           (long long)(live_now() - began));
    again = job_alive(jobs, id, 1, 4 * LEASE + SLACK);
    tap_ok(again && provider_of(jobs, id) != away, "it runs again elsewhere (%lld ms)",
           (long long)(live_now() - began));
    live_sleep(LEASE / 2);
    kill(away->pid, SIGCONT);
    tap_ok(job_finishes(jobs, id, length + 2 * SLACK), "and is done");
    live_sleep(LEASE); /* what the first provider has to say was said */
    tap_ok(ends_once(jobs, id), "its result was taken once");
    tap_ok(!strcmp(job_file(jobs, id, "output/out", &text), "start\nend\n"), "its output is that of one try");
    tap_ok(!strcmp(job_text(jobs, id, "Tries", tries, sizeof tries), "2"), "it took two tries (%s)", tries);
    tap_ok(job_alive(jobs, id, 0, 0), "nothing of it is left");
    buf_done(&text);
}

/* `who` is killed while the job runs, and starts again at once. */
static void restart_story(struct jobs *jobs, bool customer)
{
    const char *who = customer ? "customer" : "provider";
    unsigned long space;
    struct party *party;
    struct buf text;
    char script[128], tries[16];
    int64_t id;

    buf_init(&text);
    snprintf(script, sizeof script, "echo start >> out; sleep %.2f; echo end >> out", (double)LEASE * 2 / 1000);
    id = job_submit(jobs, who, script, NULL);
    tap_ok(id && job_alive(jobs, id, 1, SLACK) && job_becomes(jobs, id, "State", "Running", SLACK), "a job runs");
    space = space_of(jobs, id);
    party = customer ? &jobs->customer : provider_of(jobs, id);
    party_kill(party);
    live_sleep(LEASE / 5);
    tap_ok(space_of(jobs, id) == space, "it goes on while its %s is dead", who);
    party_start(jobs, party);
    live_sleep(LEASE);
    tap_ok(space_of(jobs, id) == space, "it is found again by its %s", who);
    tap_ok(customerd_is_up(jobs, SLACK) && job_finishes(jobs, id, LEASE + 2 * SLACK),
           "it is done after the %s's restart", who);
    tap_ok(!strcmp(job_file(jobs, id, "output/out", &text), "start\nend\n"), "its output came");
    tap_ok(!strcmp(job_text(jobs, id, "Tries", tries, sizeof tries), "1") && ends_once(jobs, id),
           "it took one try (%s), and its result was taken once", tries);
    buf_done(&text);
}

static void remove_story(struct jobs *jobs)
{
    struct reply reply;
    struct buf text;
    char body[64], state[32];
    int64_t id, began, ends;
    bool gone;

    buf_init(&text);
    reply_init(&reply);
    id = job_submit(jobs, "remove", "trap : TERM; echo part >> out; echo said; while :; do sleep 0.05; done", NULL);
    tap_ok(id && job_alive(jobs, id, 1, SLACK) && job_becomes(jobs, id, "State", "Running", SLACK), "a job runs");
    snprintf(body, sizeof body, "[ Verb = \"remove\"; Ids = \"%lld\" ]", (long long)id);
    began = live_now();
    tap_ok(customerd_ask(jobs, "POST", "/v1/control", body, &reply) == 200, "it is removed");
    gone = job_alive(jobs, id, 0, GRACE + 1000 * LIVE_SLOWER);
    tap_ok(gone, "though it does not heed the warning, nothing of it is left after the grace (%lld ms)",
           (long long)(live_now() - began));
    ends = live_now() + SLACK;
    while (strcmp(job_file(jobs, id, "output/out", &text), "part\n") != 0 && live_now() < ends)
        live_sleep(20);
    tap_ok(!strcmp(buf_string(&text), "part\n"), "its output so far comes back (%s)", buf_string(&text));
    tap_ok(!strcmp(job_file(jobs, id, "log/stdout", &text), "said\n"), "and what it said (%s)", buf_string(&text));
    job_text(jobs, id, "State", state, sizeof state);
    tap_ok(!strcmp(state, "Cancelled") || !strcmp(state, "Cleared"), "it is cancelled (%s)", state);
    reply_done(&reply);
    buf_done(&text);
}

/* The customer is dead when the job ends, and for longer than the lease. */
static void late_story(struct jobs *jobs)
{
    struct buf text;
    char script[128], tries[16];
    int64_t id;

    buf_init(&text);
    snprintf(script, sizeof script, "echo start >> out; sleep %.2f; echo end >> out", (double)LEASE / 2000);
    id = job_submit(jobs, "late", script, NULL);
    tap_ok(id && job_alive(jobs, id, 1, SLACK), "a job runs");
    party_kill(&jobs->customer);
    tap_ok(job_alive(jobs, id, 0, SLACK), "it ends while its customer is dead");
    live_sleep(2 * LEASE);
    party_start(jobs, &jobs->customer);
    tap_ok(customerd_is_up(jobs, LIVE_PATIENCE) && job_finishes(jobs, id, 3 * LEASE + 2 * SLACK),
           "it is done after the customer's restart, two leases later");
    tap_ok(!strcmp(job_file(jobs, id, "output/out", &text), "start\nend\n"), "its output arrives");
    tap_ok(!strcmp(job_text(jobs, id, "Tries", tries, sizeof tries), "1") && ends_once(jobs, id),
           "its result was kept for the customer, and taken once (tries: %s)", tries);
    buf_done(&text);
}

static void stories_run(void)
{
    int before = tap_failures;
    struct jobs jobs;

    jobs_init(&jobs, 2, LEASE, GRACE);
    if (tap_ok(jobs_start(&jobs), "a pool with two providers is up")) {
        cut_off_story(&jobs);
        restart_story(&jobs, false);
        restart_story(&jobs, true);
        remove_story(&jobs);
        late_story(&jobs);
    }
    jobs_done(&jobs, before);
}

/* --------------------------------------------------------------------------------------------------------- the owner */

#define PROBE_SPAN (12000 * LIVE_SLOWER) /* programs are begun every five seconds, and read at the next time */

struct owned {
    struct jobs jobs;
    char facts[JOBS_PATH], program[JOBS_PATH], policy[JOBS_PATH], probes[JOBS_PATH + 32];
};

/* What the probe program says from now on. */
static void owner_says(const struct owned *owned, bool free)
{
    char path[JOBS_PATH + 8];

    snprintf(path, sizeof path, "%s.new", owned->facts);
    live_write_file(path, free ? "[ Free = true ]\n" : "[ Free = false ]\n");
    rename(path, owned->facts);
}

/* One provider, whose owner sends jobs away while the machine is not free, but for those that may stay: these stand still. */
static bool owned_start(struct owned *owned)
{
    struct party *party = &owned->jobs.providers[0];
    char text[JOBS_PATH + 64];

    jobs_init(&owned->jobs, 1, LEASE, 2 * GRACE);
    snprintf(owned->facts, sizeof owned->facts, "%s/facts", owned->jobs.folder);
    snprintf(owned->program, sizeof owned->program, "%s/probe", owned->jobs.folder);
    snprintf(owned->policy, sizeof owned->policy, "%s/policy.ad", owned->jobs.folder);
    snprintf(owned->probes, sizeof owned->probes, "Probes={\"%s\"}", owned->program);
    owner_says(owned, true);
    snprintf(text, sizeof text, "#!/bin/sh\nexec cat %s\n", owned->facts);
    live_write_file(owned->program, text);
    chmod(owned->program, 0755);
    live_write_file(owned->policy,
                    "[ Cpus = 2; /* for two jobs, whatever the machine has */\n"
                    "  Constraint = other.Type == \"Job\" && Fits && (self.Free isnt false || other.Stays is true);\n"
                    "  Suspend = self.Free is false && other.Stays is true ]\n");
    party->args[party->arg_count++] = "--set";
    party->args[party->arg_count++] = owned->probes;
    party->args[party->arg_count++] = "--policy";
    party->args[party->arg_count++] = owned->policy;
    return jobs_start(&owned->jobs);
}

/* The last number of a text of lines with one each; -1 when they do not go on by one from the first. */
static long last_of(const char *text, long *ret_first)
{
    long last = -1;

    while (*text) {
        char *end;
        long n = strtol(text, &end, 10);

        if (end == text || *end != '\n' || (last >= 0 && n != last + 1))
            return -1;
        if (last < 0)
            *ret_first = n;
        last = n;
        text = end + 1;
    }
    return last;
}

/* Bytes that the job has written so far, at the provider. */
static int64_t job_written(const struct jobs *jobs, int64_t id)
{
    static struct alive list[JOBS_ALIVE_MAX];
    struct stat at;
    char path[64];

    if (!alive_list(jobs, id, list))
        return -1;
    snprintf(path, sizeof path, "/proc/%d/cwd/out", list[0].pid);
    return stat(path, &at) == 0 ? at.st_size : -1;
}

/* A job that is said to run may not have written anything yet, and one of its processes may be gone before it is looked at: only
 * two sizes tell. */
static bool job_grows(const struct jobs *jobs, int64_t id, int64_t milliseconds)
{
    int64_t before = job_written(jobs, id), ends = live_now() + milliseconds, now = before;

    while ((before < 0 || now <= before) && live_now() < ends) {
        live_sleep(20);
        now = job_written(jobs, id);
        if (before < 0)
            before = now;
    }
    return before >= 0 && now > before;
}

/* Is the process in a frozen group of cgroup v2? There it is shown as one that sleeps. */
static bool is_frozen(int pid)
{
    char path[512] = "", line[256];
    bool frozen = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    file = fopen(path, "r");
    path[0] = '\0';
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "0::", 3))
            snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/cgroup.events", (int)strcspn(line + 3, "\n"), line + 3);
    if (file)
        fclose(file);
    file = path[0] ? fopen(path, "r") : NULL;
    while (file && fgets(line, sizeof line, file))
        frozen = frozen || !strcmp(line, "frozen 1\n");
    if (file)
        fclose(file);
    return frozen;
}

/* Does it write nothing, and do all its processes stand still? */
static bool job_stands(const struct jobs *jobs, int64_t id)
{
    static struct alive list[JOBS_ALIVE_MAX];
    int count, still = 0;

    if (job_grows(jobs, id, 300 * LIVE_SLOWER))
        return false;
    count = alive_list(jobs, id, list);
    for (int i = 0; i < count; i++)
        still += list[i].state == 'T' || list[i].state == 'D' ||
                 is_frozen(list[i].pid); /* those of the older freezer are D */
    return count > 0 && still == count;
}

/* The owner is back: one job is sent away half way, the other stands still. */
static void closed_check(struct owned *owned, int64_t away, int64_t stays, long *ret_at)
{
    struct jobs *jobs = &owned->jobs;
    int64_t ends = live_now() + PROBE_SPAN;
    struct buf text;
    const char *said;
    bool stands;

    buf_init(&text);
    while (!(stands = job_stands(jobs, stays)) && live_now() < ends)
        live_sleep(20);
    if (!tap_ok(stands, "the owner is back: a job that may stay is made to stand still"))
        alive_tell(jobs, stays);
    if (!tap_ok(job_alive(jobs, away, 0, LEASE + 2 * GRACE + SLACK), "and one that may not is sent away"))
        alive_tell(jobs, away);
    tap_ok(job_becomes(jobs, away, "State", "Waiting", SLACK), "which waits then for its next try");
    ends = live_now() + SLACK;
    while (!strstr(job_file(jobs, away, "log/stdout", &text), "warned at ") && live_now() < ends)
        live_sleep(20);
    said = strstr(buf_string(&text), "warned at ");
    *ret_at = said ? strtol(said + 10, NULL, 10) : -1;
    tap_ok(said && !strncmp(text.text, "from 0\n", 7), "it was warned, and what it said came back (%s)", text.text);
    job_file(jobs, away, "checkpoint/state", &text);
    tap_ok(*ret_at > 0 && strtol(buf_string(&text), NULL, 10) == *ret_at, "its checkpoint came back (%ld)", *ret_at);
    tap_ok(!job_grows(jobs, stays, LEASE * 3 / 2) && job_stands(jobs, stays),
           "the other stands still for longer than a lease, and is not lost");
    buf_done(&text);
}

static void owner_story(struct owned *owned)
{
    struct jobs *jobs = &owned->jobs;
    int64_t away, stays;
    long at = -1, first = -1, last;
    struct buf text;
    char tries[16];

    buf_init(&text);
    away = job_submit(jobs, "away",
                      "n=0; test -f state && n=$(cat state); from=$n; echo from $from; "
                      "trap 'echo $n > state; echo warned at $n; exit 7' TERM; "
                      "while test $from = 0 || test $n -lt $((from + 20)); "
                      "do n=$((n + 1)); echo $n >> out; sleep 0.02; done; echo end at $n",
                      "Checkpoint = { \"state\" }; WarnSignal = \"TERM\";");
    stays =
        job_submit(jobs, "stays", "n=0; while :; do n=$((n + 1)); echo $n >> out; sleep 0.02; done", "Stays = true;");
    tap_ok(away && stays && job_becomes(jobs, away, "State", "Running", SLACK) &&
               job_becomes(jobs, stays, "State", "Running", SLACK) && job_grows(jobs, stays, SLACK),
           "two jobs run");
    owner_says(owned, false);
    closed_check(owned, away, stays, &at);
    owner_says(owned, true);
    tap_ok(job_finishes(jobs, away, PROBE_SPAN + SLACK), "others are let in again: the job is done");
    last = last_of(job_file(jobs, away, "output/out", &text), &first);
    tap_ok(first == at + 1 && last == at + 20, "it went on where it had been: at %ld, then from %ld to %ld", at, first,
           last);
    tap_ok(!strncmp(job_file(jobs, away, "log/stdout", &text), "from ", 5) && strtol(text.text + 5, NULL, 10) == at,
           "it began from its checkpoint (%s)", buf_string(&text));
    tap_ok(!strcmp(job_text(jobs, away, "Tries", tries, sizeof tries), "2") && ends_once(jobs, away),
           "in its second try (%s), whose result was taken once", tries);
    tap_ok(job_grows(jobs, stays, SLACK) && job_is(jobs, stays, "Tries", "1"),
           "the job that stood still goes on, in its first try");
    buf_done(&text);
}

static void owner_run(void)
{
    int before = tap_failures;
    struct owned owned;

    if (tap_ok(owned_start(&owned), "a pool with a provider that has an owner is up"))
        owner_story(&owned);
    jobs_done(&owned.jobs, before);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";

    if (!*only || !strcmp(only, "away"))
        stories_run();
    if (!*only || !strcmp(only, "owner"))
        owner_run();
    return tap_done();
}
