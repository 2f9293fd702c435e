/* customerd_test.c: the customer as a process, with a real matchmaker: users bring jobs to it over its Unix socket and by TCP; it is killed. */
#define REVOKED_MOST 5000 /* milliseconds until an agent refuses a token that is revoked */
#define _GNU_SOURCE       /* nftw, pipe2 */
#include "common/tap.h"
#include "live_token.h"

#include "live/agent/agent.h"

#include <sodium.h>

#define PATH_ROOM (LIVE_PATH_MAX + 64)
#ifdef TESTS_SANITIZED /* a sanitizer looks at the code, and is slow */
#define MANY 2000
#define CUT 500
#else
#define MANY 10000
#define CUT 2000
#endif
#define CUT_ROUNDS 8
#define COMMIT_ADS 4 /* of one body are durable by one commit, at least: on a busy machine a turn takes in fewer */
#define LEASE_MS (400 * LIVE_SLOWER)

static const struct {
    const char *key;
    double leases;
} spans[] = {{"Lease", 1}, {"Pin", 1}, {"Window", 1}, {"Deadline", 1}, {"Retry", 0.1}, {"Lifetime", 40}};
#define SPANS (sizeof spans / sizeof *spans)

struct shop {
    struct live live;
    char spans[SPANS][32];
    char log[PATH_ROOM], token[PATH_ROOM];
    pid_t pid;
    int out, port;
    const char *fields;       /* of the requests with a token ... */
    const char *local_fields; /* ... and of those without */
    struct talk talk;
    struct reply reply;
};

/* ---------------------------------------------------------------------------------------------------------- processes */

/* True when it listens. */
static bool customer_start(struct shop *shop)
{
    const char *args[2 * SPANS + 16] = {live_program(), "customer", "--state", shop->live.state};
    struct pollfd at;
    struct buf text;
    int count = 4;

    for (size_t i = 0; i < SPANS; i++) {
        args[count++] = "--set";
        args[count++] = shop->spans[i];
    }
    shop->pid = live_spawn(args, shop->log, NULL, &shop->out);
    at = (struct pollfd){.fd = shop->out, .events = POLLIN};
    buf_init(&text);
    shop->port = 0;
    while (!shop->port && poll(&at, 1, LIVE_PATIENCE) > 0) {
        ssize_t got = read(shop->out, buf_reserve(&text, 4096), 4096);
        const char *words;

        if (got <= 0)
            break;
        text.len += (size_t)got;
        words = strstr(buf_string(&text), "127.0.0.1:");
        if (words && strchr(words, '\n'))
            shop->port = atoi(words + 10);
    }
    buf_done(&text);
    return shop->port > 0;
}

/* Its exit status; 1000 and the signal that ended it; -1: it does not end. */
static int customer_end(struct shop *shop, int number)
{
    int status;

    kill(shop->pid, number);
    status = live_wait_pid(shop->pid, LIVE_PATIENCE);
    close(shop->out);
    talk_close(&shop->talk);
    shop->pid = 0;
    return status < 0 ? -1 : WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The status of the answer, which is in shop->reply. Without a token by the Unix socket, else by TCP. */
static unsigned ask_with(struct shop *shop, const char *token, const char *method, const char *path, const char *body)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    shop->reply.status = 0;
    buf_reset(&shop->reply.body);
    snprintf(name.sun_path, sizeof name.sun_path, "%.60s/customer/customer.sock", shop->live.state);
    if (token)
        talk_close(&shop->talk);
    if (shop->talk.fd < 0 && !(token ? talk_open_at(&shop->talk, "127.0.0.1", shop->port)
                                     : talk_connect(&shop->talk, (const struct sockaddr *)&name, sizeof name)))
        return 0;
    if (!talk_send(&shop->talk, method, path, token && *token ? token : NULL, token ? shop->fields : shop->local_fields,
                   body) ||
        talk_wait(&shop->talk, LIVE_PATIENCE, &shop->reply) != TALK_REPLY || shop->reply.closes || token)
        talk_close(&shop->talk);
    return shop->reply.status;
}

static unsigned ask(struct shop *shop, const char *method, const char *path, const char *body)
{
    return ask_with(shop, NULL, method, path, body);
}

static bool says(struct shop *shop, const char *words)
{
    bool found = strstr(buf_string(&shop->reply.body), words);

    if (!found)
        tap_diag("%u %.600s", shop->reply.status, buf_string(&shop->reply.body));
    return found;
}

static int64_t number_of(struct shop *shop, const char *name)
{
    char text[32];

    reply_text(&shop->reply, name, text, sizeof text);
    return *text ? strtoll(text, NULL, 10) : -1;
}

static int64_t summary(struct shop *shop, const char *query, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "/v1/summary%s", query);
    return ask(shop, "GET", path, NULL) == 200 ? number_of(shop, name) : -1;
}

/* Until that many jobs stand so. */
static bool summary_becomes(struct shop *shop, const char *query, const char *name, int64_t wanted)
{
    int64_t ends = live_now() + LIVE_PATIENCE;

    while (live_now() < ends) {
        if (summary(shop, query, name) == wanted)
            return true;
        live_sleep(20);
    }
    tap_diag("%.600s", buf_string(&shop->reply.body));
    return false;
}

static void shop_open(struct shop *shop)
{
    char path[PATH_ROOM];
    const char *args[] = {live_program(), "customer", "--state", shop->live.state, NULL};
    struct buf out;

    memset(shop, 0, sizeof *shop);
    live_init(&shop->live);
    talk_init(&shop->talk);
    reply_init(&shop->reply);
    for (size_t i = 0; i < SPANS; i++) {
        snprintf(shop->spans[i], sizeof *shop->spans, "%s=%.3f", spans[i].key, spans[i].leases * LEASE_MS / 1000.0);
        live_set(&shop->live, shop->spans[i]);
    }
    live_set(&shop->live, "Networks={\"127.0.0.0/8\"}");
    tap_ok(live_start(&shop->live), "the matchmaker is up");
    snprintf(path, sizeof path, "%s/customer", shop->live.state);
    mkdir(path, 0700);
    snprintf(shop->log, sizeof shop->log, "%s/customer.log", shop->live.state);
    snprintf(shop->token, sizeof shop->token, "%.90s/token", path);
    buf_init(&out);
    args[3] = shop->live.state;
    tap_ok(live_run(args, &out) == 2 && strstr(buf_string(&out), "berth token create"),
           "without a token it does not start, and says how one is made");
    buf_done(&out);
    tap_ok(live_token_make(&shop->live, "alice", "ad:read ad:write claim match", shop->token) && customer_start(shop),
           "with one it is up");
}

static void shop_close(struct shop *shop)
{
    if (shop->pid > 0)
        customer_end(shop, SIGKILL);
    live_stop(&shop->live);
    live_done(&shop->live);
    talk_done(&shop->talk);
    reply_done(&shop->reply);
}

/* -------------------------------------------------------------------------------------------------------------- cases */

/* Of jobs 1 to 4 the last runs "b", and is the only one that says how many processors it wants. */
static void check_order(struct shop *shop)
{
    static const struct {
        const char *order, *told;
    } orders[] = {
        {"-Cmd&limit=2", "[ Job = 4 ]\n[ Job = 1 ]\n"},
        {"-Cmd&limit=2&cursor=2", "[ Job = 2 ]\n[ Job = 3 ]\n"},
        {"Cmd", "[ Job = 1 ]\n[ Job = 2 ]\n[ Job = 3 ]\n[ Job = 4 ]\n"},
        {"-Job&limit=3", "[ Job = 4 ]\n[ Job = 3 ]\n[ Job = 2 ]\n"},
        {"RequestCpus&limit=2", "[ Job = 4 ]\n[ Job = 1 ]\n"},
        {"-RequestCpus&limit=2", "[ Job = 4 ]\n[ Job = 1 ]\n"},
        {"-Job&limit=2&constraint=Cmd==%22a%22", "[ Job = 3 ]\n[ Job = 2 ]\n"},
        {"-Job&ids=1-2", "[ Job = 2 ]\n[ Job = 1 ]\n"},
        {"Job&limit=1&cursor=4", ""},
    };
    char path[120];
    bool good = true;

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        snprintf(path, sizeof path, "/v1/jobs?select=Job&order=%s", orders[i].order);
        if (ask(shop, "GET", path, NULL) != 200 || strcmp(buf_string(&shop->reply.body), orders[i].told) != 0) {
            tap_diag("%s: %s", path, buf_string(&shop->reply.body));
            good = false;
        }
    }
    tap_ok(good, "jobs are listed by an attribute, either way, a page at a time, and those without it come last");
    tap_ok(ask(shop, "GET", "/v1/jobs?select=Job&order=-Cmd&limit=2", NULL) == 200 &&
               strstr(shop->reply.link, "cursor=2") && strstr(shop->reply.link, "order=-Cmd") &&
               ask(shop, "GET", "/v1/jobs?select=Job&order=-Cmd&limit=4", NULL) == 200 && !*shop->reply.link,
           "each page says where the next one begins, if there is one");
    tap_ok(ask(shop, "GET", "/v1/jobs?order=a%20b", NULL) == 400 && ask(shop, "GET", "/v1/jobs?order=-", NULL) == 400 &&
               ask(shop, "GET", "/v1/jobs?order=Job&limit=10001", NULL) == 400 &&
               ask(shop, "GET", "/v1/jobs?order=Job&limit=1&cursor=10000", NULL) == 400,
           "an order by what is no name, or beyond its bound, is refused");
}

static void check_submitting(struct shop *shop)
{
    static const struct {
        const char *body, *words;
    } bad[] = {
        {"[Args={\"a\"}]", "ad 1: Cmd"},
        {"[Cmd=\"ok\"]\n[Cmd=3]", "ad 2: Cmd"},
        {"[Cmd=\"x\"; Args={1}]", "Args"},
        {"[Cmd=\"x\"; Env={\"A=1\"}]", "Env"},
        {"[Cmd=\"x\"; Count=0]", "Count"},
        {"[Cmd=\"x\"; Outputs={\"../x\"}]", "Outputs"},
        {"[Cmd=\"x\"; OutputData={\"../x\"}]", "OutputData: ../x is not the name of a file in the job's folder"},
        {"[Cmd=\"x\"; OutputData={\"a\",\"a\"}]", "OutputData: a is there twice"},
        {"[Cmd=\"x\"; OutputData={[File=\"a\"; Nmae=\"b\"]}]", "OutputData: Nmae is unknown"},
        {"[Cmd=\"x\"; Inputs={[Name=\"/etc/passwd\"; Size=1]}]", "Inputs"},
        {"[Cmd=\"x\"; Inputs={[Name=\"a\"; Size=1; "
         "Hash=\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"]}]",
         "not in the spool"},
        {"[Cmd=\"x\"; Iwd=\"here\"]", "Iwd"},
        {"[Cmd=\"x\"; Iwd=\"/nowhere/at/all\"]", "Iwd"},
        {"[Cmd=\"x\"; TimeLimit=\"long\"]", "TimeLimit"},
        {"[Cmd=\"x\"; Network=1]", "Network"},
        {"[Cmd=\"ok\"]\n[Cmd=", "ad 2: line 2"},
        {"", "no job"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(ask(shop, "POST", "/v1/jobs", bad[i].body) == 400 && says(shop, bad[i].words),
               "a submission that cannot be is refused with the place: %s", bad[i].words);
    tap_ok(summary(shop, "", "Total") == 0, "and nothing of one that was refused stays");
    tap_ok(ask(shop, "POST", "/v1/jobs?key=one", "[Cmd=\"a\"; Count=3]\n[Cmd=\"b\"; RequestCpus=64000]") == 201 &&
               says(shop, "[ First = 1; Count = 3 ]\n[ First = 4; Count = 1 ]\n"),
           "ads become jobs, each as many as it says");
    tap_ok(ask(shop, "POST", "/v1/jobs?key=one", "[Cmd=\"a\"; Count=3]\n[Cmd=\"b\"; RequestCpus=64000]") == 200 &&
               says(shop, "[ First = 1; Count = 3 ]\n[ First = 4; Count = 1 ]\n") && summary(shop, "", "Total") == 4,
           "the same under the same key is the same submission");
    tap_ok(ask(shop, "POST", "/v1/jobs?key=one", "[Cmd=\"c\"]") == 409 && summary(shop, "", "Total") == 4,
           "another under the same key is refused");
    tap_ok(ask(shop, "GET", "/v1/submissions", NULL) == 200 &&
               says(shop, "Submission = 1; Last = 4; Jobs = 4; Owner = \"alice\";") && says(shop, "Waiting = 4;") &&
               ask(shop, "GET", "/v1/jobs?alone=true", NULL) == 200 && !shop->reply.body.len,
           "what was submitted together is counted together");
    tap_ok(ask(shop, "GET", "/v1/submissions?constraint=Jobs==4", NULL) == 200 && says(shop, "Submission = 1;") &&
               ask(shop, "GET", "/v1/submissions?constraint=Jobs%3E4", NULL) == 200 && !shop->reply.body.len &&
               ask(shop, "GET", "/v1/submissions?constraint=Jobs==", NULL) == 400,
           "submissions are found by an expression");
    tap_ok(ask(shop, "GET", "/v1/jobs?constraint=Cmd==%22a%22&select=Job,Index,State,Owner&limit=2", NULL) == 200 &&
               says(shop,
                    "[ Owner = \"alice\"; Job = 1; Index = 0; State = \"Waiting\" ]\n[ Owner = \"alice\"; Job = 2; "
                    "Index = 1; State = \"Waiting\" ]\n") &&
               !strstr(buf_string(&shop->reply.body), "Job = 3"),
           "jobs are listed by an expression, in pages");
    check_order(shop);
    tap_ok(ask(shop, "GET", "/v1/jobs?ids=2,4-9&select=Job", NULL) == 200 && says(shop, "[ Job = 2 ]\n[ Job = 4 ]\n") &&
               ask(shop, "GET", "/v1/jobs?ids=x", NULL) == 400,
           "and by their numbers");
    tap_ok(ask(shop, "GET", "/v1/jobs/4", NULL) == 200 && says(shop, "RequestCpus = 64000") &&
               ask(shop, "GET", "/v1/jobs/5", NULL) == 404 && ask(shop, "GET", "/v1/nothing", NULL) == 404 &&
               ask(shop, "DELETE", "/v1/jobs", NULL) == 405,
           "one of them is given, and what is not there is not");
    tap_ok(ask(shop, "GET", "/v1/status", NULL) == 200 && says(shop, "Identity = \"alice\"") && says(shop, "Jobs = 4"),
           "the customer says how it stands");
}

/* A job as a resource: what it is has a tag, and what can be done next is in its links. */
static void check_one_job(struct shop *shop)
{
    char etag[80], field[160];

    ask(shop, "GET", "/v1/jobs/1", NULL);
    snprintf(etag, sizeof etag, "%s", shop->reply.etag);
    tap_ok(!strncmp(etag, "W/\"", 3) && strstr(shop->reply.modified, " GMT"),
           "a job has an entity tag and a time: %s, %s", etag, shop->reply.modified);
    tap_ok(strstr(shop->reply.link, "</v1/jobs/1/hold>; rel=\"hold\"; method=\"POST\"") &&
               strstr(shop->reply.link, "</v1/jobs/1>; rel=\"edit\"; method=\"PATCH\"") &&
               !strstr(shop->reply.link, "release"),
           "what can be done with it is in its links: %s", shop->reply.link);
    snprintf(field, sizeof field, "If-None-Match: %s\r\n", etag);
    shop->local_fields = field;
    tap_ok(ask(shop, "GET", "/v1/jobs/1", NULL) == 304 && !strcmp(etag, shop->reply.etag),
           "who has it is told that it is unchanged, with the same tag");
    shop->local_fields = NULL;
    tap_ok(ask(shop, "PATCH", "/v1/jobs/1", "[Priority = 7; Colour = \"mauve\"]") == 200 &&
               says(shop, "Priority = 7") && says(shop, "Colour = \"mauve\"") && strcmp(etag, shop->reply.etag) != 0,
           "its attributes are changed in place, and then it has another tag");
    snprintf(field, sizeof field, "If-Match: %s\r\n", etag);
    snprintf(etag, sizeof etag, "%s", shop->reply.etag);
    shop->local_fields = field;
    tap_ok(ask(shop, "PATCH", "/v1/jobs/1", "[Priority = 8]") == 412 && ask(shop, "DELETE", "/v1/jobs/1", NULL) == 412,
           "nothing is changed by who knows an older one");
    snprintf(field, sizeof field, "If-Match: %s\r\n", etag);
    tap_ok(ask(shop, "PATCH", "/v1/jobs/1", "[Colour = undefined]") == 200 &&
               !strstr(buf_string(&shop->reply.body), "mauve"),
           "but by who knows this one; undefined takes an attribute away");
    shop->local_fields = NULL;
    tap_ok(ask(shop, "PATCH", "/v1/jobs/1", "[Owner = \"bob\"]") == 400 &&
               ask(shop, "PATCH", "/v1/jobs/1", "[") == 400 &&
               ask(shop, "PATCH", "/v1/jobs/999", "[Priority = 1]") == 404 &&
               ask(shop, "DELETE", "/v1/jobs/999", NULL) == 404,
           "what is never changed, what is no ad and a job that is not there are refused");
    tap_ok(ask(shop, "POST", "/v1/jobs/1/hold", NULL) == 200 && says(shop, "State = \"Held\"") &&
               strstr(shop->reply.link, "rel=\"release\"") && !strstr(shop->reply.link, "rel=\"hold\"") &&
               ask(shop, "POST", "/v1/jobs/1/hold", NULL) == 409,
           "it is held where the link says, once, and then has a link to be released");
    tap_ok(ask(shop, "POST", "/v1/jobs/1/release", NULL) == 200 && !strstr(buf_string(&shop->reply.body), "Held") &&
               ask(shop, "POST", "/v1/jobs/1/rescue", NULL) == 409 &&
               ask(shop, "POST", "/v1/jobs/1/vacate", NULL) == 409,
           "it is released, and what it does not stand for is refused");
}

/* A submission as a resource: jobs 1 to 4. */
static void check_one_submission(struct shop *shop)
{
    char etag[80], field[160];

    tap_ok(ask(shop, "GET", "/v1/submissions/1", NULL) == 200 && says(shop, "Submission = 1; Last = 4; Jobs = 4;") &&
               !strncmp(shop->reply.etag, "W/\"", 3) && strstr(shop->reply.modified, " GMT"),
           "a submission has an address, a tag and a time");
    snprintf(etag, sizeof etag, "%s", shop->reply.etag);
    tap_ok(strstr(shop->reply.link, "</v1/jobs?ids=1-4>; rel=\"jobs\"") &&
               strstr(shop->reply.link, "</v1/submissions/1/hold>; rel=\"hold\"; method=\"POST\"") &&
               strstr(shop->reply.link, "</v1/submissions/1>; rel=\"remove\"; method=\"DELETE\"") &&
               !strstr(shop->reply.link, "release") && !strstr(shop->reply.link, "vacate"),
           "its links have its jobs, and what can be done with them: %s", shop->reply.link);
    tap_ok(ask(shop, "GET", "/v1/jobs/3", NULL) == 200 &&
               strstr(shop->reply.link, "</v1/submissions/1>; rel=\"submission\""),
           "a job has a link to it");
    snprintf(field, sizeof field, "If-None-Match: %s\r\n", etag);
    shop->local_fields = field;
    tap_ok(ask(shop, "GET", "/v1/submissions/1", NULL) == 304, "who has it is told that it is unchanged");
    shop->local_fields = NULL;
    tap_ok(ask(shop, "PATCH", "/v1/submissions/1", "[Colour = \"teal\"]") == 200 && says(shop, "Changed = 4") &&
               ask(shop, "GET", "/v1/jobs?constraint=Colour==%22teal%22&select=Job", NULL) == 200 &&
               says(shop, "[ Job = 1 ]\n[ Job = 2 ]\n[ Job = 3 ]\n[ Job = 4 ]"),
           "the attributes of all its jobs are changed in place");
    tap_ok(ask(shop, "POST", "/v1/submissions/1/hold?from=3", NULL) == 200 &&
               says(shop, "Changed = 2; Unchanged = 0; Missing = 0") &&
               ask(shop, "GET", "/v1/submissions/1", NULL) == 200 && says(shop, "Held = 2") &&
               strstr(shop->reply.link, "rel=\"release\"") && strstr(shop->reply.link, "rel=\"hold\"") &&
               strcmp(etag, shop->reply.etag) != 0,
           "they are held, from a number on; then it has another tag, and a link to release them");
    snprintf(field, sizeof field, "If-Match: %s\r\n", etag);
    shop->local_fields = field;
    tap_ok(ask(shop, "POST", "/v1/submissions/1/release", NULL) == 412 &&
               ask(shop, "DELETE", "/v1/submissions/1", NULL) == 412,
           "nothing is changed by who knows an older one");
    shop->local_fields = NULL;
    tap_ok(ask(shop, "POST", "/v1/submissions/1/release", NULL) == 200 && says(shop, "Changed = 2; Unchanged = 2") &&
               ask(shop, "POST", "/v1/submissions/1/vacate", NULL) == 200 && says(shop, "Changed = 0; Unchanged = 4"),
           "what does not stand so is left as it is");
    tap_ok(ask(shop, "PATCH", "/v1/submissions/1", "[Colour = undefined]") == 200 &&
               ask(shop, "PATCH", "/v1/submissions/1", "[Owner = \"bob\"]") == 400 &&
               ask(shop, "GET", "/v1/submissions/2", NULL) == 404 &&
               ask(shop, "GET", "/v1/submissions/999", NULL) == 404 &&
               ask(shop, "DELETE", "/v1/submissions/0", NULL) == 404 &&
               ask(shop, "POST", "/v1/submissions/x/hold", NULL) == 404 &&
               ask(shop, "POST", "/v1/submissions/1/hold?from=x", NULL) == 400,
           "what is never changed, and a number that no submission begins with, are refused");
}

static void check_control(struct shop *shop)
{
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"hold\"; Ids=\"1-2,99\"; Why=\"lunch\"]") == 200 &&
               says(shop, "Changed = 2; Unchanged = 0; Missing = 1") && ask(shop, "GET", "/v1/jobs/1", NULL) == 200 &&
               says(shop, "State = \"Held\"") && says(shop, "Reason = \"lunch\""),
           "jobs are held, with the words of their user");
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"release\"; Ids=\"1-3\"]") == 200 &&
               says(shop, "Changed = 2; Unchanged = 1; Missing = 0"),
           "and released; what is not held stays as it is");
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"Job == 2 || Job == 3\"]") == 200 &&
               says(shop, "Changed = 2") && summary_becomes(shop, "", "Total", 2) &&
               summary(shop, "?ids=1-4", "Cancelled") == 2,
           "those for which an expression is true are removed");
    tap_ok(ask(shop, "GET", "/v1/history?select=Job,State", NULL) == 200 &&
               says(shop, "[ Job = 3; State = \"Cancelled\" ]\n[ Job = 2; State = \"Cancelled\" ]") &&
               ask(shop, "GET", "/v1/jobs/2", NULL) == 200 && says(shop, "Cancelled"),
           "what is over is in the history, the newest first, and still found by its number");
    tap_ok(ask(shop, "GET", "/v1/history?ids=1-2,3,90-99&select=Job", NULL) == 200 &&
               says(shop, "[ Job = 2 ]\n[ Job = 3 ]") && ask(shop, "GET", "/v1/history?ids=2-3&limit=1", NULL) == 200 &&
               says(shop, "Job = 2") && !says(shop, "Job = 3") &&
               ask(shop, "GET", "/v1/history?ids=1-3&cursor=2&select=Job", NULL) == 200 && says(shop, "[ Job = 3 ]") &&
               ask(shop, "GET", "/v1/history?ids=1", NULL) == 200 && shop->reply.body.len == 0 &&
               ask(shop, "GET", "/v1/history?ids=x", NULL) == 400,
           "those of some numbers are asked for in the order of these, and a job that is not over is not among them");
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"eat\"; Ids=\"1\"]") == 400 &&
               ask(shop, "POST", "/v1/control", "[Verb=\"hold\"]") == 400,
           "a verb that does not exist, or none of the jobs, is refused");
    tap_ok(ask(shop, "GET", "/v1/jobs/1/log", NULL) == 200 && says(shop, "Z submitted\n") &&
               ask(shop, "GET", "/v1/jobs/1/files", NULL) == 200 && shop->reply.body.len == 0 &&
               ask(shop, "GET", "/v1/jobs/1/files/log/stdout", NULL) == 404,
           "a job that has not run has a log and no files");
}

static void check_waiting(struct shop *shop)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct talk waits;
    struct reply reply;
    char path[96];
    int64_t began, changes = summary(shop, "", "Changes");

    talk_init(&waits);
    reply_init(&reply);
    snprintf(name.sun_path, sizeof name.sun_path, "%.60s/customer/customer.sock", shop->live.state);
    snprintf(path, sizeof path, "/v1/summary?after=%lld&wait=20", (long long)changes);
    tap_ok(talk_connect(&waits, (const struct sockaddr *)&name, sizeof name) &&
               talk_send(&waits, "GET", path, NULL, NULL, NULL) && talk_wait(&waits, 300, &reply) == TALK_WAIT,
           "who asks for what comes next waits while nothing happens");
    ask(shop, "POST", "/v1/control", "[Verb=\"hold\"; Ids=\"1\"]");
    tap_ok(talk_wait(&waits, 5000 * LIVE_SLOWER, &reply) == TALK_REPLY && reply.status == 200 &&
               strstr(buf_string(&reply.body), "Held = 1"),
           "and is told when it does");
    began = live_now();
    snprintf(path, sizeof path, "/v1/summary?after=%lld&wait=1", (long long)summary(shop, "", "Changes"));
    tap_ok(ask(shop, "GET", path, NULL) == 200 && live_now() - began >= 900, "or when the time is up");
    ask(shop, "POST", "/v1/control", "[Verb=\"release\"; Ids=\"1\"]");
    talk_done(&waits);
    reply_done(&reply);
}

static void check_spool(struct shop *shop)
{
    unsigned char hash[32];
    char digits[65], path[160], body[512];

    crypto_generichash(hash, sizeof hash, (const unsigned char *)"hello, world", 12, NULL, 0);
    hex_print(hash, sizeof hash, digits);
    snprintf(path, sizeof path, "/v1/spool/%s?offset=0&size=12", digits);
    tap_ok(ask(shop, "PUT", path, "hello") == 200 && says(shop, "[Have=5]"), "an input comes in pieces");
    snprintf(path, sizeof path, "/v1/spool/%s", digits);
    tap_ok(ask(shop, "GET", path, NULL) == 404 && says(shop, "[Have=5]"), "how much of it is there is told");
    snprintf(path, sizeof path, "/v1/spool/%s?offset=5&size=12", digits);
    tap_ok(ask(shop, "PUT", path, ", world") == 201 && says(shop, "[Have=12]"), "and when it is whole");
    snprintf(path, sizeof path, "/v1/spool/%s?offset=0&size=3",
             "00000000000000000000000000000000"
             "00000000000000000000000000000000");
    tap_ok(ask(shop, "PUT", path, "bad") == 422, "one with another hash is refused");
    snprintf(path, sizeof path, "/v1/spool/%s?offset=0&size=99999999999999", digits + 1);
    tap_ok(ask(shop, "PUT", path, "bad") == 400, "a hash that is none is refused");
    digits[0] = digits[0] == '0' ? '1' : '0';
    snprintf(path, sizeof path, "/v1/spool/%s?offset=0&size=99999999999999", digits);
    tap_ok(ask(shop, "PUT", path, "bad") == 413 && says(shop, "SpoolMax"),
           "more than the spool holds is refused with the limit's name");
    hex_print(hash, sizeof hash, digits);
    snprintf(body, sizeof body, "[Cmd=\"x\"; RequestCpus=64000; Inputs={[Name=\"a\"; Hash=\"%s\"; Size=12]}]", digits);
    tap_ok(ask(shop, "POST", "/v1/jobs", body) == 201, "a job may read what is in the spool");
    ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"Cmd == \\\"x\\\"\"]");
}

/* A token of that user, for this agent alone. */
static bool bearer_make(struct shop *shop, const char *subject, const char *scope, struct buf *out)
{
    char path[PATH_ROOM], name[64], audience[TOKEN_NAME_MAX + 1];
    struct token_file file;
    struct grant grant;
    struct err err = {0};
    int64_t ends;
    bool good;

    ask(shop, "GET", "/v1/status", NULL);
    reply_text(&shop->reply, "Name", name, sizeof name);
    snprintf(path, sizeof path, "%s/%s.token", shop->live.state, subject);
    good = live_token_make(&shop->live, subject, scope, path) && token_file_read(path, &file, &err) == 0;
    if (!good)
        return false;
    good = token_read(file.token, strlen(file.token), &grant) == TOKEN_OK;
    token_agent_audience(grant.issuer, agent_self("alice", name), audience);
    good = good && token_file_bearer(out, &file, audience, time(NULL), &ends, &err) == 0;
    if (!good)
        tap_diag("%s", err.text);
    token_file_done(&file);
    return good;
}

/* The customer begins anew, with a token of these scopes. */
static bool customer_becomes(struct shop *shop, const char *scope)
{
    customer_end(shop, SIGTERM);
    unlink(shop->token);
    return live_token_make(&shop->live, "alice", scope, shop->token) && customer_start(shop);
}

static bool dora_is_told(struct shop *shop, const char *dora, const char *words)
{
    int64_t ends = live_now() + LIVE_PATIENCE;

    while (live_now() < ends) {
        if (ask_with(shop, dora, "GET", "/v1/jobs?select=State,Reason", NULL) == 200 &&
            strstr(buf_string(&shop->reply.body), words))
            return true;
        live_sleep(20);
    }
    return says(shop, words);
}

/* Only who may advertise for others takes their jobs; and one whose request is refused does not wait in silence. */
static void check_in_vain(struct shop *shop)
{
    const char *args[] = {live_program(), "jobs", "--state", shop->live.state, NULL};
    struct buf dora, out;

    buf_init(&dora);
    buf_init(&out);
    tap_ok(bearer_make(shop, "dora", "job:submit job:own", &dora), "a user has a token for the customer of another");
    tap_ok(ask_with(shop, buf_string(&dora), "POST", "/v1/jobs", "[Cmd=\"dora\"]") == 403 &&
               says(shop,
                    "ad 1: this customer is alice's, and may ask for machines only for alice: a job of dora's would "
                    "wait for ever"),
           "where the customer may not advertise for others, a job of theirs is refused, with the reason");
    tap_ok(ask_with(shop, buf_string(&dora), "PUT",
                    "/v1/spool/0000000000000000000000000000000000000000000000000000000000000000?offset=0&size=3",
                    "abc") == 403 &&
               says(shop, "would wait for"),
           "nor are bytes taken for such a job");
    tap_ok(ask(shop, "POST", "/v1/jobs", "[Cmd=\"x\"; Owner=\"dora\"]") == 403, "also when it is submitted for them");
    tap_ok(customer_becomes(shop, "ad:read ad:write claim match admin") &&
               ask_with(shop, buf_string(&dora), "POST", "/v1/jobs", "[Cmd=\"dora\"; RequestCpus=64000]") == 201 &&
               dora_is_told(shop, buf_string(&dora), "[ State = \"Waiting\" ]"),
           "where it may, the job waits for its turn");
    tap_ok(customer_becomes(shop, "ad:read ad:write claim match") &&
               dora_is_told(shop, buf_string(&dora),
                            "Reason = \"the matchmaker refuses its request: that is somebody else's\""),
           "when that right is lost, the job says that its request is refused");
    tap_ok(live_run(args, &out) == 0 && strstr(buf_string(&out), "1 of them cannot be matched: job ") &&
               strstr(buf_string(&out), ": the matchmaker refuses its request: that is somebody else's\n"),
           "and so does the list of jobs");
    tap_ok(customer_becomes(shop, "ad:read ad:write claim match admin"), "it may again");
    tap_ok(dora_is_told(shop, buf_string(&dora), "[ State = \"Waiting\" ]"), "and the reason is gone");
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"Owner == \\\"dora\\\"\"]") == 200 &&
               says(shop, "Changed = 1"),
           "that job is removed");
    buf_done(&dora);
    buf_done(&out);
}

static void check_others(struct shop *shop)
{
    struct buf bob, carol;
    long long first;
    char body[PATH_ROOM + 64], digits[65], path[160];
    unsigned char hash[32];

    buf_init(&bob);
    buf_init(&carol);
    tap_ok(ask_with(shop, "", "GET", "/v1/jobs", NULL) == 401 &&
               ask_with(shop, "v4.public.nonsense", "GET", "/v1/jobs", NULL) == 401,
           "by TCP nobody is served without a token");
    tap_ok(bearer_make(shop, "bob", "job:submit job:own", &bob) && bearer_make(shop, "carol", "job:own", &carol),
           "users have tokens for this customer");
    tap_ok(ask_with(shop, buf_string(&bob), "GET", "/v1/jobs", NULL) == 200 && shop->reply.body.len == 0,
           "who has a token does not see the jobs of others");
    tap_ok(ask_with(shop, buf_string(&bob), "POST", "/v1/jobs", "[Cmd=\"bob\"; RequestCpus=64000]") == 201 &&
               ask_with(shop, buf_string(&bob), "GET", "/v1/jobs?select=Owner", NULL) == 200 &&
               says(shop, "[ Owner = \"bob\" ]\n") && !strstr(buf_string(&shop->reply.body), "alice"),
           "and submits their own");
    tap_ok(ask_with(shop, buf_string(&carol), "POST", "/v1/jobs", "[Cmd=\"c\"]") == 403,
           "without the scope nothing is submitted");
    tap_ok(ask_with(shop, buf_string(&bob), "POST", "/v1/jobs", "[Cmd=\"x\"; Owner=\"alice\"]") == 400 &&
               says(shop, "Owner"),
           "nor for somebody else");
    crypto_generichash(hash, sizeof hash, (const unsigned char *)"hello, world", 12, NULL, 0);
    hex_print(hash, sizeof hash, digits);
    snprintf(path, sizeof path, "/v1/spool/%s", digits);
    snprintf(body, sizeof body, "[Cmd=\"x\"; Inputs={[Name=\"a\"; Hash=\"%s\"; Size=12]}]", digits);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && ask_with(shop, buf_string(&bob), "GET", path, NULL) == 404 &&
               says(shop, "[Have=0]") && ask_with(shop, buf_string(&bob), "POST", "/v1/jobs", body) == 400 &&
               says(shop, "not in the spool"),
           "what another has sent to the spool they neither learn of nor read, though they know its hash");
    snprintf(body, sizeof body, "[Cmd=\"x\"; Iwd=\"%s\"]", shop->live.state);
    tap_ok(ask_with(shop, buf_string(&bob), "POST", "/v1/jobs", body) == 400 && says(shop, "Iwd"),
           "nor may others say where outputs go on this machine");
    tap_ok(ask_with(shop, buf_string(&bob), "POST", "/v1/control", "[Verb=\"remove\"; Ids=\"1\"]") == 200 &&
               says(shop, "Changed = 0; Unchanged = 0; Missing = 1") &&
               ask_with(shop, buf_string(&bob), "GET", "/v1/jobs/1", NULL) == 404 &&
               ask_with(shop, buf_string(&bob), "GET", "/v1/jobs/1/log", NULL) == 404,
           "the jobs of others are not there for them");
    ask(shop, "POST", "/v1/jobs", "[Cmd=\"sweep\"; Count=30000; RequestCpus=64000]"); /* more than a request looks at */
    first = number_of(shop, "First");
    tap_ok(ask_with(shop, buf_string(&bob), "POST", "/v1/jobs", "[Cmd=\"bob2\"; RequestCpus=64000]") == 201 &&
               ask_with(shop, buf_string(&bob), "GET", "/v1/jobs?select=Cmd&limit=3", NULL) == 200 &&
               says(shop, "[ Cmd = \"bob\" ]\n[ Cmd = \"bob2\" ]\n") && !strstr(shop->reply.link, "next"),
           "behind thousands of another's jobs they find their own with one question, and that these are all");
    tap_ok(ask_with(shop, buf_string(&bob), "GET", "/v1/summary", NULL) == 200 && says(shop, "Waiting = 2;") &&
               ask_with(shop, buf_string(&bob), "GET", "/v1/submissions", NULL) == 200 && says(shop, "bob2") &&
               ask(shop, "GET", "/v1/status", NULL) == 200 && says(shop, "Jobs = 30"),
           "theirs are counted, and whoever runs the customer is told of all");
    tap_ok(ask_with(shop, buf_string(&bob), "POST", "/v1/control",
                    "[Verb=\"remove\"; Constraint=\"Cmd == \\\"bob2\\\"\"]") == 200 &&
               says(shop, "Changed = 1; ") && !strstr(buf_string(&shop->reply.body), "Next"),
           "and with one request they remove one of theirs by what it runs");
    snprintf(body, sizeof body, "[Verb=\"remove\"; Ids=\"%lld-%lld\"]", first, first + 19999);
    ask(shop, "POST", "/v1/control", body);
    snprintf(body, sizeof body, "[Verb=\"remove\"; Ids=\"%lld-%lld\"]", first + 20000, first + 29999);
    ask(shop, "POST", "/v1/control", body);
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"Owner == \\\"bob\\\"\"]") == 200 &&
               says(shop, "Changed = 1"),
           "who runs the customer may remove any job");
    buf_done(&bob);
    buf_done(&carol);
}

/* By its socket and by TCP: what it has is listed, with that of every agent; and what it does not have is refused as a matchmaker does. */
static void check_front(struct shop *shop)
{
    struct buf fern;

    buf_init(&fern);
    tap_ok(ask(shop, "GET", "/openapi.json", NULL) == 200 && says(shop, "\"title\":\"Berth customer\"") &&
               says(shop, "\"operationId\":\"jobs.submit\"") && says(shop, "\"operationId\":\"messages\"") &&
               ask_with(shop, "", "GET", "/openapi.json", NULL) == 200 &&
               ask_with(shop, "", "GET", "/healthz", NULL) == 200,
           "the customer describes its interface to whoever asks");
    tap_ok(ask(shop, "GET", "/v1/nothing", NULL) == 404 && says(shop, "\"request\":\"") &&
               ask(shop, "DELETE", "/v1/jobs", NULL) == 405 && says(shop, "\"request\":\""),
           "what is not there, and what cannot be done with it, is told with the number of the request");
    tap_ok(bearer_make(shop, "fern", "job:own", &fern), "a user has a token");
    shop->fields = "Origin: https://elsewhere.example\r\n";
    tap_ok(ask_with(shop, buf_string(&fern), "GET", "/v1/jobs", NULL) == 403 && says(shop, "Origin"),
           "a page of another site is not served, though it has a token");
    shop->fields = NULL;
    tap_ok(ask_with(shop, buf_string(&fern), "POST", "/v1/messages", "[]") == 403,
           "who may only look at jobs cannot speak as an agent");
    buf_done(&fern);
}

/* The customer is told by its stream: it does not wait until it asks the next time, a minute later. */
static void check_revoked(struct shop *shop)
{
    const char *args[] = {live_program(), "token", "revoke", "--state", shop->live.state, NULL, NULL};
    int64_t began, took = 0;
    struct grant grant;
    struct buf fern, out;

    buf_init(&fern);
    buf_init(&out);
    tap_ok(bearer_make(shop, "fern", "job:own", &fern) &&
               ask_with(shop, buf_string(&fern), "GET", "/v1/jobs", NULL) == 200,
           "a token opens the customer's interface");
    args[5] = token_read(fern.text, fern.len, &grant) == TOKEN_OK ? grant.ids[0] : "";
    began = live_now();
    tap_ok(live_run(args, &out) == 0, "it is revoked");
    while (ask_with(shop, buf_string(&fern), "GET", "/v1/jobs", NULL) == 200 && took < REVOKED_MOST + 1000) {
        live_sleep(20);
        took = live_now() - began;
    }
    if (!tap_ok(shop->reply.status == 401 && took <= REVOKED_MOST,
                "within five seconds it opens the interface no more, nor does what was delegated from it"))
        tap_diag("status %u after %lld ms", shop->reply.status, (long long)took);
    buf_done(&fern);
    buf_done(&out);
}

/* How many commits the customer's store has made; -1: it does not say. */
static int64_t commits(struct shop *shop)
{
    static const char name[] = "\nberth_store_commits_total ";
    const char *row = ask(shop, "GET", "/metrics", NULL) == 200 ? strstr(buf_string(&shop->reply.body), name) : NULL;

    return row ? strtoll(row + strlen(name), NULL, 10) : -1;
}

/* Many ads in one body are durable together; a kill loses nothing that was answered. */
static void check_many(struct shop *shop)
{
    int64_t before, made, total = 2;
    struct buf body, first;
    char changed[32];

    snprintf(changed, sizeof changed, "Changed = %d", MANY);
    tap_ok(summary_becomes(shop, "", "Total", total), "jobs that are over are not among the others");
    buf_init(&body);
    buf_init(&first);
    for (int i = 0; i < MANY; i++)
        buf_addf(&body, "[Cmd=\"many\"; Args={\"%d\"}; RequestCpus=%d]\n", i % 100, 100000 + i % 100);
    buf_string(&body);
    before = commits(shop);
    tap_ok(ask(shop, "POST", "/v1/jobs?key=many", buf_string(&body)) == 201, "%d ads in one body are taken", MANY);
    buf_add(&first, shop->reply.body.text, shop->reply.body.len);
    made = commits(shop) - before;
    if (!tap_ok(before >= 0 && made > 0 && made <= MANY / COMMIT_ADS, "they are durable together, in a few commits"))
        tap_diag("%lld commits", (long long)made);
    customer_end(shop, SIGKILL);
    tap_ok(customer_start(shop) && summary(shop, "", "Total") == total + MANY, "killed at once, all of them are there");
    tap_ok(ask(shop, "POST", "/v1/jobs?key=many", buf_string(&body)) == 200 && shop->reply.body.len == first.len &&
               !memcmp(shop->reply.body.text, first.text, first.len),
           "the same key and body get the same answer afterwards");
    tap_ok(ask(shop, "POST", "/v1/jobs?key=many", "[Cmd=\"x\"]") == 409, "and another body does not");
    tap_ok(ask(shop, "GET", "/v1/history?select=Job,State&limit=1", NULL) == 200 &&
               says(shop, "State = \"Cancelled\"") && ask(shop, "GET", "/v1/jobs/2", NULL) == 200 &&
               says(shop, "Cancelled"),
           "the history is there as well");
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"Cmd == \\\"many\\\"\"]") == 200 &&
               says(shop, changed) && summary_becomes(shop, "", "Total", total),
           "all of them are removed by one request, and written down");
    buf_done(&body);
    buf_done(&first);
}

/* Those that wait. A large submission begins in parts: until then what is left of it is Blocked. */
static int64_t jobs_waiting(struct shop *shop)
{
    return summary_becomes(shop, "", "Blocked", 0) ? summary(shop, "", "Waiting") : -1;
}

/* Killed at any moment of a submission, all of it is there or nothing is; and it can be repeated. */
static void check_cut(struct shop *shop)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    bool whole = true, again = true;
    struct talk talk;
    struct buf body;

    snprintf(name.sun_path, sizeof name.sun_path, "%.60s/customer/customer.sock", shop->live.state);
    buf_init(&body);
    for (int i = 0; i < CUT; i++)
        buf_addf(&body, "[Cmd=\"cut\"; Args={\"%d\"}; RequestCpus=64000]\n", i % 50);
    for (int round = 0; round < CUT_ROUNDS; round++) {
        char path[64];
        int64_t have;

        snprintf(path, sizeof path, "/v1/jobs?key=cut-%d", round);
        talk_init(&talk);
        talk_connect(&talk, (const struct sockaddr *)&name, sizeof name);
        talk_send(&talk, "POST", path, NULL, NULL, buf_string(&body));
        live_sleep(5 * round + 1);
        customer_end(shop, SIGKILL);
        talk_done(&talk);
        if (!customer_start(shop))
            break;
        have = jobs_waiting(shop) - 2;
        whole = whole && (have == (int64_t)round * CUT || have == (int64_t)(round + 1) * CUT);
        again = again && (ask(shop, "POST", path, buf_string(&body)) == (have == (int64_t)round * CUT ? 201 : 200)) &&
                jobs_waiting(shop) - 2 == (int64_t)(round + 1) * CUT;
        if (!whole || !again)
            tap_diag("round %d: %lld", round, (long long)have);
    }
    tap_ok(whole, "killed at any moment of a submission, all of it is there, or nothing is");
    tap_ok(again, "repeated under its key, it is made once");
    ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"Cmd == \\\"cut\\\"\"]");
    tap_ok(summary_becomes(shop, "", "Total", 2), "and all of it can be removed");
    buf_done(&body);
}

/* So does a change of many jobs; the command goes on by itself. */
static void check_much(struct shop *shop, int64_t first)
{
    const char *args[] = {live_program(), "hold", "--state", shop->live.state, "--constraint", "Cmd == \"much\"", NULL};
    int64_t changed, next;
    struct buf out;
    char body[96];
    int status;

    buf_init(&out);
    status = live_run(args, &out);
    tap_ok(status == 0 && !strcmp(buf_string(&out), "25000 jobs held\n"), "25000 jobs are held by one command (%d, %s)",
           status, buf_string(&out));
    ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"Cmd == \\\"much\\\"\"]");
    changed = number_of(shop, "Changed");
    next = number_of(shop, "Next");
    tap_ok(changed > 0 && changed < 25000 && next == first + changed,
           "one request changes a number of them, and says where to go on (%lld, %lld)", (long long)changed,
           (long long)next);
    snprintf(body, sizeof body, "[Verb=\"remove\"; Constraint=\"Cmd == \\\"much\\\"\"; From=%lld]", (long long)next);
    ask(shop, "POST", "/v1/control", body);
    tap_ok(number_of(shop, "Changed") == 25000 - changed && number_of(shop, "Next") == -1,
           "from there the rest is removed");
    tap_ok(ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"true\"; From=0]") == 400 &&
               says(shop, "From: "),
           "where to go on is the number of a job");
    buf_done(&out);
}

/* A list looks at a number of jobs, then says where to go on, though it has found nothing yet. */
static void check_cursor(struct shop *shop)
{
    static const char words[] = "Berth-Cursor: ";
    char path[128];
    const char *at = NULL;
    int64_t first;

    ask(shop, "POST", "/v1/jobs", "[Cmd=\"much\"; RequestCpus=64000; Count=25000]");
    first = number_of(shop, "First");
    snprintf(path, sizeof path, "/v1/jobs?select=Job&constraint=Job%%3D%%3D%lld", (long long)first + 24999);
    tap_ok(talk_send(&shop->talk, "GET", path, NULL, NULL, NULL) &&
               talk_hears(&shop->talk, "\r\n\r\n", LIVE_PATIENCE) &&
               strstr(buf_string(&shop->talk.in), "Content-Length: 0") &&
               strstr(buf_string(&shop->talk.in), "rel=\"next\"") && (at = strstr(buf_string(&shop->talk.in), words)),
           "a list that looks at too many jobs stops, and says where to go on");
    snprintf(path + strlen(path), sizeof path - strlen(path), "&cursor=%lld",
             at ? strtoll(at + sizeof words - 1, NULL, 10) : 0);
    talk_close(&shop->talk);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && number_of(shop, "Job") == first + 24999, "from there it goes on");
    check_much(shop, first);
}

/* The first workflow as a resource: of its four jobs one is held. */
static void check_one_workflow(struct shop *shop, int64_t first)
{
    char path[64], words[128], etag[96];
    struct buf bob;

    buf_init(&bob);
    snprintf(path, sizeof path, "/v1/workflows/%lld", (long long)first);
    snprintf(words, sizeof words, "</v1/jobs?constraint=Workflow%%3D%%3D%lld>; rel=\"jobs\"", (long long)first);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && number_of(shop, "Workflow") == first && says(shop, "Held = 1;") &&
               strstr(shop->reply.link, words) && strstr(shop->reply.link, "rel=\"release\"") &&
               strstr(shop->reply.link, "rel=\"hold\"") && strstr(shop->reply.modified, " GMT"),
           "a workflow has an address, and links to what can be done: %s", shop->reply.link);
    snprintf(etag, sizeof etag, "%s", shop->reply.etag);
    snprintf(path, sizeof path, "/v1/workflows/%lld/hold", (long long)first);
    tap_ok(ask(shop, "POST", path, NULL) == 200 && says(shop, "Changed = 3; Unchanged = 1"),
           "all of its jobs are held, and none of another");
    snprintf(path, sizeof path, "/v1/workflows/%lld", (long long)first);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && says(shop, "Held = 4;") && strcmp(etag, shop->reply.etag) != 0 &&
               !strstr(shop->reply.link, "rel=\"hold\""),
           "then its tag and its links are others");
    tap_ok(ask(shop, "PATCH", path, "[Priority = 4]") == 200 && says(shop, "Changed = 4"), "all are changed in place");
    snprintf(words, sizeof words, "/v1/jobs/%lld", (long long)first + 1);
    snprintf(etag, sizeof etag, "<%s>; rel=\"workflow\"", path);
    tap_ok(ask(shop, "GET", words, NULL) == 200 && says(shop, "Priority = 4") && strstr(shop->reply.link, etag),
           "and a job has a link to it");
    tap_ok(bearer_make(shop, "bob", "job:own", &bob) && ask_with(shop, buf_string(&bob), "GET", path, NULL) == 404 &&
               ask_with(shop, buf_string(&bob), "DELETE", path, NULL) == 404 &&
               ask(shop, "GET", "/v1/workflows/0", NULL) == 404 && ask(shop, "DELETE", "/v1/workflows/0", NULL) == 404,
           "that of another is not there");
    buf_done(&bob);
    snprintf(path, sizeof path, "/v1/workflows/%lld/release", (long long)first);
    tap_ok(ask(shop, "POST", path, NULL) == 200 && says(shop, "Changed = 4"), "they are released together");
}

/* Workflows are counted where they are kept: a row for each that is under way, of one's own. */
static void check_workflows(struct shop *shop)
{
    static const char one[] = "[Cmd=\"flow\"; Node=\"A\"; Dag=\"one.dag\"; RequestCpus=64000; Count=3]\n"
                              "[Cmd=\"flow\"; Node=\"B\"; After={\"A\"}; Dag=\"one.dag\"; RequestCpus=64000]\n";
    static const char two[] = "[Cmd=\"flow\"; Node=\"A\"; RequestCpus=64000]\n";
    int64_t first, second;
    char path[64], words[128];
    struct buf bob;

    buf_init(&bob);
    tap_ok(ask(shop, "GET", "/v1/workflows", NULL) == 200 && shop->reply.body.len == 0,
           "at first there is no workflow");
    ask(shop, "POST", "/v1/jobs", one);
    first = number_of(shop, "First");
    ask(shop, "POST", "/v1/jobs", two);
    second = number_of(shop, "First");
    tap_ok(ask(shop, "GET", "/v1/workflows", NULL) == 200 && says(shop, "Dag = \"one.dag\"; Owner = ") &&
               says(shop, "Jobs = 4; Done = 0; Running = 0; Waiting = 3; Blocked = 1; Stuck = 0; Failed = 0; Held = 0; "
                          "Removed = 0 ]\n") &&
               says(shop, "Jobs = 1; Done = 0; Running = 0; Waiting = 1;"),
           "each is a row with its jobs by how they stand");
    snprintf(words, sizeof words, "[ Workflow = %lld;", (long long)second);
    tap_ok(ask(shop, "GET", "/v1/workflows?limit=1", NULL) == 200 && number_of(shop, "Workflow") == first &&
               !strstr(buf_string(&shop->reply.body), words),
           "as many as are wanted, the oldest first");
    snprintf(path, sizeof path, "/v1/workflows?limit=1&cursor=%lld", (long long)first);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && number_of(shop, "Workflow") == second, "and those behind it");
    snprintf(path, sizeof path, "[Verb=\"hold\"; Ids=\"%lld\"]", (long long)first);
    ask(shop, "POST", "/v1/control", path);
    tap_ok(ask(shop, "GET", "/v1/workflows", NULL) == 200 && says(shop, "Waiting = 2; Blocked = 1;") &&
               says(shop, "Held = 1;"),
           "the counts follow what is done to jobs");
    check_one_workflow(shop, first);
    tap_ok(bearer_make(shop, "bob", "job:own", &bob) &&
               ask_with(shop, buf_string(&bob), "GET", "/v1/workflows", NULL) == 200 && shop->reply.body.len == 0,
           "the workflows of others are not there");
    snprintf(words, sizeof words, "[Verb=\"remove\"; Constraint=\"Cmd == \\\"flow\\\"\"; From=%lld]", (long long)first);
    tap_ok(ask(shop, "POST", "/v1/control", words) == 200 && /* thousands may stand in front of them */
               says(shop, "Changed = 5") && ask(shop, "GET", "/v1/workflows", NULL) == 200 && shop->reply.body.len == 0,
           "nor those that are over");
    buf_done(&bob);
}

/* A provider over HTTP, whose jobs only sleep. */
static pid_t provider_start(struct shop *shop, const char *token)
{
    static char state[PATH_ROOM], program[512], url[64], log[PATH_ROOM], lease[16];
    const char *args[] = {program, "provider", "p", "dora", state, token, "127.0.0.1:0", "300", url, NULL};
    int out;

    snprintf(program, sizeof program, "%s", live_program());
    snprintf(strrchr(program, '/'), 32, "/tests/live/live_agent");
    snprintf(state, sizeof state, "%s/provider", shop->live.state);
    snprintf(log, sizeof log, "%s/provider.log", shop->live.state);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", shop->live.port);
    snprintf(lease, sizeof lease, "%d", LEASE_MS);
    setenv("LEASE_MS", lease, 1);
    return live_spawn(args, log, NULL, &out);
}

/* What the provider says of the job's files, by HTTP, with its own token. */
static unsigned tell(struct shop *shop, const char *token, const char *claim, const char *id, const char *words)
{
    char body[1024];
    unsigned status;

    snprintf(body, sizeof body, "[Claim=\"%s\"; Number=\"0000000000000001\"; Job=%s; %s]", claim, id, words);
    shop->fields = "Berth-Agent: p\r\n";
    status = ask_with(shop, token, "POST", "/v1/messages", body);
    shop->fields = NULL;
    return status;
}

/* The outputs come when the job is done, and the customer was killed meanwhile; then it goes into the history, and they can be read. */
static void check_outputs(struct shop *shop, const char *id)
{
    char claim[17] = "", path[128], words[256], digits[65];
    unsigned char hash[32];
    struct buf dora, eve;
    const char *at;

    buf_init(&dora);
    buf_init(&eve);
    snprintf(path, sizeof path, "/v1/jobs/%s/log", id);
    ask(shop, "GET", path, NULL);
    at = strstr(buf_string(&shop->reply.body), "(claim ");
    if (at)
        memcpy(claim, at + 7, 16);
    tap_ok(bearer_make(shop, "dora", "claim", &dora) && bearer_make(shop, "eve", "claim", &eve),
           "a provider and a stranger have tokens for this customer");
    crypto_generichash(hash, sizeof hash, (const unsigned char *)"42\n", 3, NULL, 0);
    hex_print(hash, sizeof hash, digits);
    snprintf(words, sizeof words,
             "Ask=\"store\"; Kind=\"output\"; Name=\"a/b\"; Offset=0; Size=3; Mode=420; Hash=\"%s\"; Bytes=\"NDIK\"",
             digits);
    tap_ok(tell(shop, buf_string(&eve), claim, id, words) == 200 && says(shop, "refused"),
           "nobody but the provider that had the job may send its files");
    tap_ok(tell(shop, buf_string(&dora), claim, id, words) == 200 && says(shop, "Have=3") && says(shop, "\"ok\""),
           "the provider may");
    snprintf(path, sizeof path, "/v1/jobs/%s/files", id);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && says(shop, "Name = \"a/b\"; Size = 3;") && says(shop, "Whole = true"),
           "the file is listed");
    tap_ok(tell(shop, buf_string(&dora), claim, id, "Ask=\"finish\"; Cpu=2.5") == 200 && says(shop, "\"ok\""),
           "the provider says that this was all");
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    for (int64_t ends = live_now() + LIVE_PATIENCE; live_now() < ends; live_sleep(20))
        if (ask(shop, "GET", path, NULL) == 200 && strstr(buf_string(&shop->reply.body), "\"Cleared\""))
            break;
    tap_ok(says(shop, "State = \"Cleared\"") && says(shop, "CpuUsed = 2.5") && says(shop, "Status = 0"),
           "then the job is in the history, with what it used");
    tap_ok(says(shop, "Outcome = \"Succeeded\"") && says(shop, "ExitCode = 0"), "and with how it ended");
    snprintf(path, sizeof path, "/v1/jobs/%s/files/output/a/b", id);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && says(shop, "42\n"), "and its outputs can be read from there");
    tap_ok(tell(shop, buf_string(&dora), claim, id, "Ask=\"finish\"") == 200 && says(shop, "\"ok\"") &&
               tell(shop, buf_string(&dora), claim, id, words) == 200 && says(shop, "stale"),
           "what is said of it later changes nothing");
    buf_done(&dora);
    buf_done(&eve);
}

static void check_running(struct shop *shop)
{
    char path[PATH_ROOM], query[64], id[24];
    pid_t provider;

    snprintf(path, sizeof path, "%s/dora.token", shop->live.state);
    tap_ok(live_token_make(&shop->live, "dora", "ad:read ad:write claim match", path), "a provider has a token");
    ask(shop, "POST", "/v1/control", "[Verb=\"remove\"; Constraint=\"true\"]");
    ask(shop, "POST", "/v1/jobs", "[Cmd=\"sleep\"; Constraint = other.Type == \"Machine\"]");
    snprintf(id, sizeof id, "%lld", (long long)number_of(shop, "First"));
    snprintf(query, sizeof query, "?ids=%s", id);
    provider = provider_start(shop, path);
    tap_ok(summary_becomes(shop, query, "Done", 1), "a job runs on a machine of the pool, and is done");
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && says(shop, "State = \"Done\"") && says(shop, "Status = 0") &&
               says(shop, "Tries = 1") && says(shop, "Provider = \"p\"") && says(shop, "OutputsDue = true"),
           "it says where it ran and how it ended; its outputs are still to come");
    snprintf(path, sizeof path, "/v1/jobs/%s/log", id);
    tap_ok(ask(shop, "GET", path, NULL) == 200 && says(shop, " submitted\n") &&
               says(shop, " claimed p of dora (claim ") && says(shop, " ended with status 0\n"),
           "its log tells the story");
    customer_end(shop, SIGKILL);
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    tap_ok(customer_start(shop) && ask(shop, "GET", path, NULL) == 200 && says(shop, "State = \"Done\"") &&
               says(shop, "Tries = 1") && says(shop, "Provider = \"p\""),
           "a kill loses nothing of that");
    check_outputs(shop, id);
    kill(provider, SIGKILL);
    waitpid(provider, NULL, 0);
}

int main(void)
{
    const char *args[] = {live_program(), "store", "check", "--state", NULL, NULL};
    struct shop shop;
    char path[PATH_ROOM];
    struct buf out;

    if (sodium_init() < 0)
        return 1;
    shop_open(&shop);
    check_submitting(&shop);
    check_one_submission(&shop);
    check_one_job(&shop);
    check_control(&shop);
    check_waiting(&shop);
    check_spool(&shop);
    check_in_vain(&shop);
    check_others(&shop);
    check_front(&shop);
    check_revoked(&shop);
    check_many(&shop);
    check_cut(&shop);
    check_cursor(&shop);
    check_workflows(&shop);
    check_running(&shop);
    tap_ok(customer_end(&shop, SIGTERM) == 0, "told to end, it ends well");
    snprintf(path, sizeof path, "%s/customer", shop.live.state);
    args[4] = path;
    buf_init(&out);
    tap_ok(live_run(args, &out) == 0, "and its store is sound");
    if (tap_failures) {
        buf_reset(&out);
        live_read_file(shop.log, &out);
        tap_diag("%s", buf_string(&out) + (out.len > 6000 ? out.len - 6000 : 0));
    }
    buf_done(&out);
    shop_close(&shop);
    return tap_done();
}
