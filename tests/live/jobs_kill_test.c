/* jobs_kill_test.c: real jobs, while the matchmaker, the customer and the providers are killed at any moment: what was acknowledged is done,
 * once, and never twice at the same time.
 *
 * What runs is seen in /proc, what was decided in the parties' own logs. BERTH_ROUNDS: how often somebody is killed; BERTH_SEED: when.
 * JOBS_TELL=1 prints what the parties logged when something went wrong. */
#define _GNU_SOURCE /* nftw, pipe2, timegm */
#include "common/tap.h"
#include "process.h"

#include "jobs_pool.h"

#include "sys/encoding.h"

#include <sodium.h>

#define ROUNDS 30
#define LEASE (1500 * LIVE_SLOWER)
#define GRACE (500 * LIVE_SLOWER)
#define LOGGED_MAX 65536
#define INPUT_BYTES 500000 /* several pieces, each way */

/* ------------------------------------------------------------------------------------------- many kills, at any moment */

/* A submission. Every other one has a file, which its job reads and gives back. */
struct kept {
    char key[24], hash[65];
    bool has_input, done;
    uint64_t seed; /* of the file */
    int64_t id;
};

struct killing {
    struct jobs jobs;
    struct rng rng;
    int rounds, kills, repeated;
    struct kept *kept;
    int overlaps; /* times that two tries of a job were alive */
    int seen;     /* looks at which anything was */
};

/* Looks at what runs until then. */
static void watch(struct killing *test, int64_t until)
{
    static struct alive list[JOBS_ALIVE_MAX];

    do {
        int count = alive_list(&test->jobs, 0, list);

        test->seen += count > 0;
        for (int i = 0; i < count; i++)
            if (alive_tries(list, count, list[i].job) > 1) {
                if (!test->overlaps++)
                    tap_diag("job %lld is alive twice", (long long)list[i].job);
                break;
            }
        if (live_now() < until)
            live_sleep(3);
    } while (live_now() < until);
}

static void input_make(const struct kept *kept, struct buf *out)
{
    struct rng rng;

    rng_init(&rng, kept->seed);
    buf_reset(out);
    while (out->len < INPUT_BYTES)
        buf_addf(out, "%016llx\n", (unsigned long long)rng_next(&rng));
}

/* The file goes to the customer first, as often as it takes. */
static bool input_bring(const struct killing *test, struct kept *kept)
{
    int64_t ends = live_now() + LIVE_PATIENCE;
    unsigned char sum[32];
    struct reply reply;
    struct buf text;
    char path[160];

    buf_init(&text);
    reply_init(&reply);
    input_make(kept, &text);
    crypto_generichash(sum, sizeof sum, (const unsigned char *)text.text, text.len, NULL, 0);
    hex_print(sum, sizeof sum, kept->hash);
    snprintf(path, sizeof path, "/v1/spool/%s?offset=0&size=%zu", kept->hash, text.len);
    while (customerd_ask(&test->jobs, "PUT", path, buf_string(&text), &reply) / 100 != 2 && live_now() < ends)
        live_sleep(20);
    if (reply.status / 100 != 2)
        tap_diag("spool: %u %s", reply.status, buf_string(&reply.body));
    reply_done(&reply);
    buf_done(&text);
    return live_now() < ends;
}

static void round_ad(struct killing *test, const struct kept *kept, struct buf *out)
{
    char script[256], inputs[192] = "";

    snprintf(script, sizeof script,
             "echo job=$BERTH_JOB try=$BERTH_TRY start >> out; sleep 0.%02u; %s"
             "echo job=$BERTH_JOB try=$BERTH_TRY end >> out; echo said",
             (unsigned)(5 + rng_below(&test->rng, 25)), kept->has_input ? "cat in > copy; " : "");
    if (kept->has_input)
        snprintf(inputs, sizeof inputs, "Inputs = { [ Name = \"in\"; Hash = \"%s\"; Size = %d; Mode = 420 ] };",
                 kept->hash, (INPUT_BYTES + 16) / 17 * 17);
    job_ad_make(&test->jobs, script, inputs, out);
}

/* Dead for that long: for most a moment, for some longer than their leases. */
static void victim_kill(struct killing *test, int victim, int64_t dead)
{
    struct jobs *jobs = &test->jobs;
    struct party *party = victim == 0 ? NULL : victim == 1 ? &jobs->customer : &jobs->providers[victim - 2];

    test->kills++;
    if (party)
        party_kill(party);
    else
        live_kill(&jobs->live);
    if (dead)
        watch(test, live_now() + dead);
    if (party)
        party_start(jobs, party);
    else if (!live_start(&jobs->live))
        tap_diag("the matchmaker did not start again");
}

/* Most of claiming happens in the first hundredths of a second, and a submission in the first thousandth. */
static void moment_wait(struct killing *test)
{
    static const unsigned long spans[] = {2000, 60000, 450000};
    unsigned long span = rng_below(&test->rng, spans[rng_below(&test->rng, 3)]);

    if (span < spans[0])
        nanosleep(&(struct timespec){0, (long)span * 1000}, NULL);
    else
        watch(test, live_now() + (int64_t)span / 1000);
}

/* Sent, and somebody is killed before the answer is read. */
static void round_run(struct killing *test, struct kept *kept)
{
    int parties = 2 + test->jobs.provider_count, victim = (int)rng_below(&test->rng, (uint64_t)parties);
    bool two = rng_below(&test->rng, 4) == 0;
    int64_t dead = (kept - test->kept) % 8 == 7 ? LEASE * 3 / 2 : 0;
    struct reply reply;
    struct talk talk;
    struct buf ad;
    char path[64];

    talk_init(&talk);
    reply_init(&reply);
    buf_init(&ad);
    if (kept->has_input)
        input_bring(test, kept);
    round_ad(test, kept, &ad);
    snprintf(path, sizeof path, "/v1/jobs?key=%s", kept->key);
    customerd_is_up(&test->jobs, LIVE_PATIENCE);
    if (customerd_open(&test->jobs, &talk))
        talk_send(&talk, "POST", path, NULL, NULL, buf_string(&ad));
    moment_wait(test);
    victim_kill(test, victim, dead);
    if (two)
        victim_kill(test, (victim + 1) % parties, 0);
    if (talk_wait(&talk, 20, &reply) == TALK_REPLY)
        kept->id = submit_first(&reply);
    if (!kept->id) { /* whether it was taken is not known: the same once more */
        test->repeated++;
        customerd_is_up(&test->jobs, LIVE_PATIENCE);
        kept->id = ad_submit(&test->jobs, kept->key, buf_string(&ad));
    } else if (rng_below(&test->rng, 3) == 0 && customerd_is_up(&test->jobs, LIVE_PATIENCE)) {
        int64_t again = ad_submit(&test->jobs, kept->key, buf_string(&ad));

        if (again != kept->id)
            tap_ok(false, "a submission that is repeated is the same job (%lld, then %lld)", (long long)kept->id,
                   (long long)again);
    }
    watch(test, live_now() + (int64_t)rng_below(&test->rng, 100));
    talk_done(&talk);
    reply_done(&reply);
    buf_done(&ad);
}

/* How many jobs are done, with all their files. */
static int done_count(struct killing *test)
{
    int done = 0;

    for (int i = 0; i < test->rounds; i++) {
        struct kept *kept = &test->kept[i];
        char state[32], due[16];

        if (!kept->done) {
            job_text(&test->jobs, kept->id, "State", state, sizeof state);
            job_text(&test->jobs, kept->id, "OutputsDue", due, sizeof due);
            kept->done = !strcmp(state, "Cleared") || (!strcmp(state, "Done") && strcmp(due, "true") != 0);
        }
        done += kept->done;
    }
    return done;
}

/* The output as one try must have left it. */
static bool output_is_whole(const struct killing *test, int64_t id, struct buf *text)
{
    long long jobs[2] = {0};
    int tries[2] = {0}, used = 0;

    return sscanf(job_file(&test->jobs, id, "output/out", text), "job=%lld try=%d start job=%lld try=%d end%n",
                  &jobs[0], &tries[0], &jobs[1], &tries[1], &used) == 4 &&
           (size_t)used + 1 == text->len && jobs[0] == id && jobs[1] == id && tries[0] == tries[1] &&
           !strcmp(job_file(&test->jobs, id, "log/stdout", text), "said\n");
}

/* The file that it was given came back as it was. */
static bool copy_is_whole(const struct killing *test, const struct kept *kept, struct buf *text)
{
    struct buf input;
    bool same;

    if (!kept->has_input)
        return true;
    buf_init(&input);
    input_make(kept, &input);
    job_file(&test->jobs, kept->id, "output/copy", text);
    same = text->len == input.len && !memcmp(text->text, input.text, input.len);
    if (!same)
        tap_diag("job %lld: %zu bytes of %zu came back", (long long)kept->id, text->len, input.len);
    buf_done(&input);
    return same;
}

static void results_check(struct killing *test)
{
    int whole = 0, well = 0, twice = 0, taken_twice = 0;
    struct buf text;

    buf_init(&text);
    for (int i = 0; i < test->rounds; i++) {
        int64_t id = test->kept[i].id;
        int ends = words_count(job_events(&test->jobs, id, &text), " ended with status ");
        bool good = output_is_whole(test, id, &text) && copy_is_whole(test, &test->kept[i], &text),
             ended_well = job_is(&test->jobs, id, "Status", "0");

        whole += good;
        well += ended_well;
        taken_twice += ends > 1;
        if (!good || !ended_well || ends > 1) {
            tap_diag("job %lld:\n%s", (long long)id, job_file(&test->jobs, id, "output/out", &text));
            tap_diag("%s", job_events(&test->jobs, id, &text));
        }
        for (int j = 0; j < i; j++)
            twice += test->kept[j].id == id;
    }
    buf_done(&text);
    tap_ok(well == test->rounds, "each of them ended well (%d of %d)", well, test->rounds);
    tap_ok(whole == test->rounds, "the output of each is whole, and of one try (%d of %d)", whole, test->rounds);
    tap_ok(!taken_twice, "no result was taken twice (%d)", taken_twice);
    tap_ok(!twice, "no two submissions are the same job (%d)", twice);
}

/* All that the customer knows of: in the queue, and in history. */
static int known_count(const struct killing *test)
{
    struct reply reply;
    char jobs[32] = "", history[32] = "";

    reply_init(&reply);
    if (customerd_ask(&test->jobs, "GET", "/v1/status", NULL, &reply) == 200) {
        reply_text(&reply, "Jobs", jobs, sizeof jobs);
        reply_text(&reply, "History", history, sizeof history);
    }
    reply_done(&reply);
    return atoi(jobs) + atoi(history);
}

/* ---------------------------------------------------------------------------------------------- what providers logged */

enum logged_kind { LOGGED_STARTED, LOGGED_JOB_START, LOGGED_JOB_ENDED };

struct logged {
    enum logged_kind kind;
    int provider;
    int64_t at; /* milliseconds */
    unsigned long long claim;
    long long job;
};

static bool logged_read(const char *line, struct logged *ret)
{
    static const char *const words[] = {" event=started ", " event=job.start ", " event=job.ended "};
    struct tm day = {0};
    const char *claim = strstr(line, " claim="), *job = strstr(line, " job=");
    int thousandths, kind = 0;

    while (kind < 3 && !strstr(line, words[kind]))
        kind++;
    if (kind == 3 || sscanf(line, "time=%d-%d-%dT%d:%d:%d.%dZ", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour,
                            &day.tm_min, &day.tm_sec, &thousandths) != 7)
        return false;
    day.tm_year -= 1900;
    day.tm_mon--;
    ret->kind = (enum logged_kind)kind;
    ret->at = (int64_t)timegm(&day) * 1000 + thousandths;
    ret->claim = claim ? strtoull(claim + 7, NULL, 16) : 0;
    ret->job = job ? strtoll(job + 5, NULL, 10) : 0;
    return true;
}

static int logged_load(const struct jobs *jobs, struct logged *ret)
{
    struct buf text;
    int count = 0;

    buf_init(&text);
    for (int i = 0; i < jobs->provider_count; i++) {
        buf_reset(&text);
        live_read_file(jobs->providers[i].log, &text);
        (void)buf_string(&text);
        for (char *line = strtok(text.text, "\n"); line && count < LOGGED_MAX; line = strtok(NULL, "\n")) {
            if (!logged_read(line, &ret[count]))
                continue;
            ret[count++].provider = i;
        }
    }
    buf_done(&text);
    return count;
}

/* Was the try that began there surely over when the other began? It was told, its provider was killed and looked after it at its next
 * start, or its lease ran out. */
static bool try_was_over(const struct logged *all, int count, const struct logged *first, const struct logged *second)
{
    if (second->at - first->at >= LEASE)
        return true;
    for (int i = 0; i < count; i++) {
        if (all[i].at < first->at || all[i].at > second->at || all[i].provider != first->provider)
            continue;
        if (all[i].kind == LOGGED_STARTED || (all[i].kind == LOGGED_JOB_ENDED && all[i].claim == first->claim))
            return true;
    }
    return false;
}

static void logs_check(struct killing *test)
{
    struct logged *all = calloc(LOGGED_MAX, sizeof *all);
    int count = logged_load(&test->jobs, all), wrong = 0, starts = 0;

    for (int i = 0; i < count; i++) {
        starts += all[i].kind == LOGGED_JOB_START;
        for (int j = 0; j < count; j++) {
            const struct logged *first = &all[i], *second = &all[j];

            if (i == j || first->kind != LOGGED_JOB_START || second->kind != LOGGED_JOB_START ||
                first->job != second->job || second->at < first->at || (second->at == first->at && j < i) ||
                try_was_over(all, count, first, second))
                continue;
            wrong++;
            tap_diag("job %lld: claim %016llx began, and %lld ms later claim %016llx", first->job, first->claim,
                     (long long)(second->at - first->at), second->claim);
        }
    }
    tap_ok(starts >= test->rounds && !wrong,
           "the logs show no try that began before the one before it was over (%d of %d)", wrong, starts);
    free(all);
}

/* Folders of jobs, and of those who carried them out. */
static int folders_count(const struct jobs *jobs)
{
    static const char *const names[] = {"work", "claims"};
    int count = 0;

    for (int i = 0; i < 2 * jobs->provider_count; i++) {
        char path[JOBS_PATH + 32];
        struct dirent *entry;
        DIR *dir;

        snprintf(path, sizeof path, "%s/provider/%s", jobs->providers[i / 2].state, names[i % 2]);
        dir = opendir(path);
        while (dir && (entry = readdir(dir)))
            count += strlen(entry->d_name) >= 16; /* CLAIM, and CLAIM.NUMBER */
        if (dir)
            closedir(dir);
    }
    return count;
}

static void leftovers_check(const struct killing *test)
{
    int64_t ends = live_now() + 15000 * LIVE_SLOWER;
    int count;

    while ((count = folders_count(&test->jobs)) && live_now() < ends)
        live_sleep(50);
    tap_ok(!count, "the providers keep nothing of what is with the customer (%d folders)", count);
}

static bool kills_run(void)
{
    struct killing *test = calloc(1, sizeof *test);
    int before = tap_failures, done = 0, known;
    int64_t ends;

    test->rounds = (int)live_setting("BERTH_ROUNDS", ROUNDS);
    test->kept = calloc((size_t)test->rounds, sizeof *test->kept);
    rng_init(&test->rng, live_setting("BERTH_SEED", 1));
    jobs_init(&test->jobs, 2, LEASE, GRACE);
    tap_ok(jobs_start(&test->jobs), "a matchmaker, a customer and two providers are up");
    for (int i = 0; i < test->rounds && tap_failures == before; i++) {
        snprintf(test->kept[i].key, sizeof test->kept[i].key, "round-%d", i);
        test->kept[i].has_input = i % 2;
        test->kept[i].seed = rng_next(&test->rng);
        round_run(test, &test->kept[i]);
        if (!test->kept[i].id)
            tap_ok(false, "round %d: the submission is acknowledged in the end", i);
    }
    ends = live_now() + 20000 * LIVE_SLOWER;
    while (tap_failures == before && (done = done_count(test)) < test->rounds && live_now() < ends)
        watch(test, live_now() + 200);
    tap_ok(done == test->rounds,
           "after %d kills all jobs that were acknowledged are done (%d of %d; %d answers were lost)", test->kills,
           done, test->rounds, test->repeated);
    known = known_count(test);
    tap_ok(known == test->rounds, "there are as many jobs as submissions (%d of %d)", known, test->rounds);
    results_check(test);
    tap_ok(test->seen > 0 && !test->overlaps, "no job was ever alive twice (%d of %d looks)", test->overlaps,
           test->seen);
    logs_check(test);
    leftovers_check(test);
    jobs_done(&test->jobs, before);
    free(test->kept);
    free(test);
    return tap_failures == before;
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    kills_run();
    return tap_done();
}
