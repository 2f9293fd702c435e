/* stop_test.c: the matchmaker is stopped and let go on, reloaded, asked to end, and started where it cannot be. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "process.h"

#include "live/http/client.h"

#include <ifaddrs.h>
#include <net/if.h>

#define TOKEN_MAX 1400
#define MANY 200
#define CLIENTS 8
#define LEASES 3000 /* milliseconds: ten leases of 0.3 s */
#define STREAM_FIELDS "Accept: text/event-stream\r\nBerth-Agent: provider\r\n"
#define SCOPES "ad:read ad:write admin config claim match"

/* A process, and one who talks to it. */
struct stage {
    struct live live;
    struct talk talk;
    struct reply reply;
    char token[TOKEN_MAX];
};

static void stage_init(struct stage *stage)
{
    memset(stage, 0, sizeof *stage);
    live_init(&stage->live);
    live_set(&stage->live, "AgentRequestsPerSecond=1000000");
    talk_init(&stage->talk);
    reply_init(&stage->reply);
}

static void stage_short_spans(struct stage *stage)
{
    static const char *const settings[] = {"Lease=0.3",  "Pin=0.2",      "Window=0.2",
                                           "Lifetime=1", "Deadline=0.3", "Retry=0.05"};

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        live_set(&stage->live, settings[i]);
}

static bool stage_start(struct stage *stage)
{
    bool up = live_start(&stage->live) && live_token(&stage->live, "keeper", SCOPES, stage->token, sizeof stage->token);

    if (!up) {
        struct buf log;

        buf_init(&log);
        live_read_file(stage->live.log, &log);
        tap_ok(false, "it starts");
        tap_diag("%s", buf_string(&log));
        buf_done(&log);
    }
    return up;
}

static void stage_done(struct stage *stage)
{
    talk_done(&stage->talk);
    reply_done(&stage->reply);
    live_done(&stage->live);
}

static unsigned stage_ask(struct stage *stage, const char *method, const char *path, const char *fields,
                          const char *body)
{
    return talk_ask(&stage->talk, &stage->live, method, path, stage->token, fields, body, &stage->reply);
}

/* ------------------------------------------------------------------------------------------------------------ stopping */

/* Which side waits when it is stopped, and which comes meanwhile. */
static const struct side {
    const char *agent, *form; /* of one of many, which say how long they live */
    const char *single;       /* that fits all of the other side */
} sides[] = {
    {"Berth-Agent: provider\r\n", "[ Type = \"Machine\"; Memory = %d; Requirements = true; Lifetime = %d.%d ]",
     "[ Type = \"Machine\"; Memory = 1; Requirements = true ]"},
    {"Berth-Agent: customer\r\n", "[ Type = \"Job\"; Size = %d; Requirements = other.Memory >= 1; Lifetime = %d.%d ]",
     "[ Type = \"Job\"; Requirements = other.Memory >= 1 ]"},
};

static void many_put(struct stage *stage, const struct side *side)
{
    for (int i = 0; i < MANY; i++) {
        char path[64], body[128];

        snprintf(path, sizeof path, "/v1/ads/many%d", i);
        snprintf(body, sizeof body, side->form, i + 1, 1 + i % 2, i % 10);
        stage_ask(stage, "PUT", path, side->agent, body);
    }
}

static size_t letters(struct stage *stage, const char *fields)
{
    size_t count = 0;

    stage_ask(stage, "GET", "/v1/events", fields, NULL);
    for (const char *at = buf_string(&stage->reply.body); (at = strstr(at, "Kind=\"match\"")); at++)
        count++;
    return count;
}

/* Stopped until all of one side are past their lifetime; one of the other has come in meanwhile, and may be read before any timer
 * runs. */
static void stopped_once(struct stage *stage, struct talk *stream, const struct side *waits, const struct side *comes,
                         const char *words)
{
    struct talk talk;
    struct reply reply;
    enum talk_result kept;
    size_t told;

    talk_init(&talk);
    reply_init(&reply);
    many_put(stage, waits);
    talk_open(&talk, &stage->live);
    kill(stage->live.pid, SIGSTOP);
    talk_send(&talk, "PUT", "/v1/ads/comes", stage->token, comes->agent, comes->single);
    live_sleep(LEASES);
    kill(stage->live.pid, SIGCONT);
    kept = talk_wait(&talk, 5000, &reply);
    tap_ok(kept == TALK_REPLY && reply.status / 100 == 2, "%s: an ad that came meanwhile is answered (%u)", words,
           reply.status);
    live_sleep(300);
    told = letters(stage, waits->agent) + letters(stage, comes->agent);
    tap_ok(told == 0, "%s: ads past their lifetime match nobody afterwards (%zu told)", words, told);
    talk_send(&talk, "GET", "/v1/status", stage->token, NULL, NULL);
    kept = talk_wait(&talk, 5000, &reply);
    tap_ok(kept == TALK_CLOSED || reply.status == 200, "%s: a connection goes on, or was closed", words);
    stage_ask(stage, "PUT", "/v1/ads/comes", comes->agent, comes->single);
    stage_ask(stage, "PUT", "/v1/ads/fresh", waits->agent, waits->single);
    if (!talk_hears(stream, "event: match", 3000) && !talk_read(stream)) { /* closed: begun anew */
        talk_open(stream, &stage->live);
        talk_send(stream, "GET", "/v1/events", stage->token, STREAM_FIELDS, NULL);
    }
    tap_ok(talk_hears(stream, "event: match", 3000), "%s: a fresh ad matches, and the stream of events tells of it",
           words);
    talk_done(&talk);
    reply_done(&reply);
}

static void stopped(void)
{
    static const char *const words[] = {"stopped for ten leases while offers wait",
                                        "stopped for ten leases while jobs wait"};

    for (int i = 0; i < 2; i++) {
        struct stage stage;
        struct talk stream;

        stage_init(&stage);
        stage_short_spans(&stage);
        talk_init(&stream);
        if (stage_start(&stage)) {
            talk_open(&stream, &stage.live);
            talk_send(&stream, "GET", "/v1/events", stage.token, STREAM_FIELDS, NULL);
            stopped_once(&stage, &stream, &sides[i], &sides[!i], words[i]);
            tap_ok(stage_ask(&stage, "GET", "/readyz", NULL, NULL) == 200, "%s: it is well", words[i]);
            tap_ok(live_stop(&stage.live) == 0, "%s: it ends well", words[i]);
        }
        talk_done(&stream);
        stage_done(&stage);
    }
}

/* ----------------------------------------------------------------------------------------------------------------- load */

struct load {
    struct stage *stage;
    struct talk talks[CLIENTS];
    bool busy[CLIENTS];
    uint64_t sent, answered, refused, closed;
    unsigned refusal; /* the first that is not 503, or 503 */
};

static void load_send(struct load *load, size_t client)
{
    char path[64], body[64];

    snprintf(path, sizeof path, client % 2 ? "/v1/config/section%zu" : "/v1/ads/load%zu", client);
    snprintf(body, sizeof body, "[ Value = %llu ]", (unsigned long long)load->sent++);
    load->busy[client] = talk_send(&load->talks[client], "PUT", path, load->stage->token, NULL, body);
}

static void load_init(struct load *load, struct stage *stage)
{
    memset(load, 0, sizeof *load);
    load->stage = stage;
    for (size_t i = 0; i < CLIENTS; i++) {
        talk_init(&load->talks[i]);
        talk_open(&load->talks[i], &stage->live);
    }
}

static void load_done(struct load *load)
{
    for (size_t i = 0; i < CLIENTS; i++)
        talk_done(&load->talks[i]);
}

/* Until the time is over; or, when no more is sent, until nobody waits. */
static void load_run(struct load *load, int64_t milliseconds, bool sends)
{
    int64_t ends = live_now() + milliseconds;
    bool waits = true;

    while (waits && live_now() < ends) {
        struct pollfd at[CLIENTS];

        waits = sends;
        for (size_t i = 0; i < CLIENTS; i++) {
            if (sends && !load->busy[i] && load->talks[i].fd >= 0)
                load_send(load, i);
            at[i] = (struct pollfd){.fd = load->busy[i] ? load->talks[i].fd : -1, .events = POLLIN};
        }
        poll(at, CLIENTS, 5);
        for (size_t i = 0; i < CLIENTS; i++) {
            enum talk_result result = load->busy[i] ? talk_take(&load->talks[i], &load->stage->reply) : TALK_WAIT;

            load->busy[i] = load->busy[i] && result == TALK_WAIT;
            load->closed += result == TALK_CLOSED;
            load->answered += result == TALK_REPLY;
            if (result == TALK_REPLY && load->stage->reply.status / 100 != 2) {
                load->refused++;
                if (load->refusal == 0 || load->refusal == 503)
                    load->refusal = load->stage->reply.status;
            }
            waits = waits || load->busy[i];
        }
    }
}

static size_t load_waiting(const struct load *load)
{
    size_t count = 0;

    for (size_t i = 0; i < CLIENTS; i++)
        count += load->busy[i];
    return count;
}

/* ------------------------------------------------------------------------------------------------------------ reloading */

static unsigned long_ad(struct stage *stage, int len)
{
    char body[8192];

    snprintf(body, sizeof body, "[ Long = \"%0*d\" ]", len, 0);
    return stage_ask(stage, "PUT", "/v1/ads/long", NULL, body);
}

/* Reads its settings anew, under load, and says the words. */
static bool reload(struct load *load, const char *file, const char *text, const char *words)
{
    int64_t ends = live_now() + LIVE_PATIENCE;
    uint64_t least = load->answered + 30; /* answered meanwhile: on a slow machine that takes longer than the settings */
    bool said = false;

    live_write_file(file, text);
    truncate(load->stage->live.log, 0);
    kill(load->stage->live.pid, SIGHUP);
    while ((!said || load->answered < least) && live_now() < ends) {
        load_run(load, 50, true);
        said = live_file_says(load->stage->live.log, words);
    }
    load_run(load, 3000, false);
    return said;
}

static void reloaded(void)
{
    char file[LIVE_PATH_MAX + 16];
    struct stage stage;
    struct load load;

    stage_init(&stage);
    snprintf(file, sizeof file, "%s.berth.ad", stage.live.state);
    live_write_file(file, "[ BodyMax = \"4 KiB\" ]");
    stage.live.args[stage.live.arg_count++] = "--config";
    stage.live.args[stage.live.arg_count++] = file;
    if (stage_start(&stage)) {
        load_init(&load, &stage);
        tap_ok(long_ad(&stage, 6000) == 413 && long_ad(&stage, 3000) / 100 == 2, "settings of a file hold");
        tap_ok(reload(&load, file, "[ BodyMax = \"16 KiB\" ]", "event=reloaded") && long_ad(&stage, 6000) / 100 == 2,
               "SIGHUP under load: a good configuration is taken on");
        tap_ok(reload(&load, file, "[ BodyMax = \"2 KiB\"; LogLevel = \"loud\" ]", "event=reload.refused") &&
                   long_ad(&stage, 6000) / 100 == 2,
               "SIGHUP under load: a wrong value is refused, said in the log, and nothing is changed");
        tap_ok(reload(&load, file, "[ BodyMax = \"2 KiB\"; ", "event=reload.refused") &&
                   long_ad(&stage, 6000) / 100 == 2,
               "SIGHUP under load: a file that cannot be parsed is refused, and nothing is changed");
        tap_ok(reload(&load, file, "[ BodyMax = \"2 KiB\" ]", "event=reloaded") && long_ad(&stage, 3000) == 413,
               "SIGHUP under load: after refusals a good configuration is taken on");
        tap_ok(load.answered > 100 && !load.refused && !load.closed,
               "SIGHUP under load: all %llu requests were answered (%llu refused, %llu connections lost)",
               (unsigned long long)load.answered, (unsigned long long)load.refused, (unsigned long long)load.closed);
        load_done(&load);
        tap_ok(live_stop(&stage.live) == 0, "SIGHUP under load: it ends well");
    }
    unlink(file);
    stage_done(&stage);
}

/* --------------------------------------------------------------------------------------------------------------- ending */

/* Those who wait for long when it is told to end. */
static const struct waiter {
    const char *words, *method, *path, *fields, *body;
} waiters[] = {
    {"one who waits for letters", "GET", "/v1/events?wait=20", NULL, NULL},
    {"one who reads a stream", "GET", "/v1/events", "Accept: text/event-stream\r\n", NULL},
    {"one who has sent half a body", "PUT", "/v1/ads/half", "Content-Length: 100\r\nX-Half: 1\r\n", NULL},
};
#define WAITERS (sizeof waiters / sizeof *waiters)

static void waiter_send(struct talk *talk, const struct stage *stage, const struct waiter *waiter)
{
    talk_open(talk, &stage->live);
    if (waiter->fields && strstr(waiter->fields, "X-Half")) {
        struct buf out;

        buf_init(&out);
        buf_addf(&out,
                 "PUT %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n[ A = ",
                 waiter->path, stage->token);
        talk_write(talk, out.text, out.len);
        buf_done(&out);
    } else {
        talk_send(talk, waiter->method, waiter->path, stage->token, waiter->fields, waiter->body);
    }
}

static void ended(int number, const char *name)
{
    struct talk talks[WAITERS];
    struct stage stage;
    struct load load;
    int64_t began;
    int status;

    stage_init(&stage);
    if (!stage_start(&stage)) {
        stage_done(&stage);
        return;
    }
    load_init(&load, &stage);
    for (size_t i = 0; i < WAITERS; i++) {
        talk_init(&talks[i]);
        waiter_send(&talks[i], &stage, &waiters[i]);
    }
    load_run(&load, 300, true);
    began = live_now();
    kill(stage.live.pid, number);
    load_run(&load, 50, true);
    status = live_wait(&stage.live, 5000);
    load_run(&load, 2000, false);
    tap_ok(status == 0 && live_now() - began < 2000 * LIVE_SLOWER,
           "%s under load: it ends with status 0 in time (%d, %lld ms)", name, status, (long long)(live_now() - began));
    tap_ok(load_waiting(&load) == 0 && load.answered > 20,
           "%s under load: nobody is left without an answer or a closed connection (%llu answered)", name,
           (unsigned long long)load.answered);
    tap_ok(load.refused == 0 || load.refusal == 503, "%s under load: whoever is refused is told 503 (%llu are; %u)",
           name, (unsigned long long)load.refused, load.refusal);
    for (size_t i = 0; i < WAITERS; i++) {
        int64_t ends = live_now() + 1000;
        bool open = true;

        while (open && live_now() < ends) {
            open = talk_read(&talks[i]);
            live_sleep(5);
        }
        tap_ok(!open, "%s under load: the connection of %s is closed", name, waiters[i].words);
        talk_done(&talks[i]);
    }
    load_done(&load);
    stage_done(&stage);
}

/* Many operators give users the factor that everybody has: each is answered as for any other. */
static void plain_factors(void)
{
    struct talk talks[CLIENTS];
    struct stage stage;
    unsigned wrong = 0;

    stage_init(&stage);
    for (size_t i = 0; i < CLIENTS; i++)
        talk_init(&talks[i]);
    for (int round = 0; round < 50 && (round || stage_start(&stage)); round++) {
        for (size_t i = 0; i < CLIENTS; i++) {
            char path[64];

            snprintf(path, sizeof path, "/v1/users/user%d.%zu", round, i);
            if (talks[i].fd < 0)
                talk_open(&talks[i], &stage.live);
            talk_send(&talks[i], "PUT", path, stage.token, NULL, "[ Factor = 1.0 ]");
        }
        for (size_t i = 0; i < CLIENTS; i++)
            wrong += talk_wait(&talks[i], 5000, &stage.reply) != TALK_REPLY || stage.reply.status != 200;
    }
    tap_ok(!wrong, "users are given the factor that everybody has: that is answered as any other (%u are not)", wrong);
    for (size_t i = 0; i < CLIENTS; i++)
        talk_done(&talks[i]);
    stage_done(&stage);
}

/* What was acknowledged before it was told to end is there when it starts again. */
static void ended_durably(void)
{
    struct stage stage;
    struct buf said;
    bool sound;

    stage_init(&stage);
    if (stage_start(&stage)) {
        stage_ask(&stage, "PUT", "/v1/config/kept", NULL, "[ Value = 1 ]");
        kill(stage.live.pid, SIGTERM);
        tap_ok(live_wait(&stage.live, 5000) == 0, "SIGTERM: it ends with status 0");
        buf_init(&said);
        sound = live_store_is_sound(&stage.live, &said);
        tap_ok(sound, "SIGTERM: the store is sound");
        buf_done(&said);
        talk_close(&stage.talk);
        tap_ok(live_start(&stage.live) && stage_ask(&stage, "GET", "/v1/config/kept", NULL, NULL) == 200,
               "SIGTERM: what was acknowledged is there after the next start");
    }
    stage_done(&stage);
}

/* Told again and again to end, at every moment of its end, it ends as if told once. */
static void ended_insistently(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    int status = 0, rounds = 0;

    for (; rounds < 8 && status == 0; rounds++) {
        int64_t ends = live_now() + 5000 * LIVE_SLOWER;
        struct stage stage;
        pid_t got = 0;

        stage_init(&stage);
        if (!stage_start(&stage)) {
            stage_done(&stage);
            return;
        }
        stage_ask(&stage, "PUT", "/v1/config/kept", NULL, "[ Value = 1 ]");
        kill(stage.live.pid, SIGTERM);
        for (int i = 0; !got && live_now() < ends; i++) {
            kill(stage.live.pid, numbers[i % 3]);
            usleep((useconds_t)(200 + 100 * rounds));
            got = waitpid(stage.live.pid, &status, WNOHANG);
        }
        if (!got)
            status = -1;
        else
            stage.live.pid = 0;
        stage_done(&stage);
    }
    tap_ok(status == 0, "told to end many times over, it ends with status 0 (%s %d, round %d)",
           status > 0 && WIFSIGNALED(status) ? "signal" : "status",
           status > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : status, rounds);
}

/* ------------------------------------------------------------------------------------------------ where it cannot start */

/* It ends with status 2, and says the words. */
static void start_refused(struct live *live, const char *words, const char *sentence)
{
    bool up = live_start(live);
    int status = up ? 0 : live_wait(live, LIVE_PATIENCE);
    struct buf log;

    buf_init(&log);
    live_read_file(live->log, &log);
    if (!tap_ok(!up && status == 2 && strstr(buf_string(&log), words), "%s (%d)", sentence, status))
        tap_diag("it said:\n%s", buf_string(&log));
    buf_done(&log);
    live_kill(live);
}

static void refused_port(void)
{
    struct live first, second;

    live_init(&first);
    live_init(&second);
    if (live_start(&first)) {
        second.port_wanted = first.port;
        start_refused(&second, "in use", "a port that is taken: it says so and ends with status 2");
        tap_ok(live_wait(&first, 50) == -1, "a port that is taken: who has it goes on");
    }
    live_done(&first);
    live_done(&second);
}

static void refused_state(void)
{
    char folder[LIVE_PATH_MAX], path[LIVE_PATH_MAX + 16];
    struct live first, second;

    live_init(&first);
    live_init(&second);
    strcpy(folder, second.state);
    if (live_start(&first)) {
        strcpy(second.state, first.state);
        start_refused(&second, "in use", "a state that another matchmaker has: it says so and ends with status 2");
        tap_ok(live_wait(&first, 50) == -1, "a state that another matchmaker has: that one goes on");
    }
    live_kill(&first);
    snprintf(second.state, sizeof second.state, "/proc/berth");
    start_refused(&second, "/proc/berth", "a state where nothing can be written: it says where and ends with status 2");
    snprintf(path, sizeof path, "%s/file", folder);
    live_write_file(path, "not a folder");
    snprintf(second.state, sizeof second.state, "%.60s/file", folder);
    start_refused(&second, "file", "a state that is a file: it says where and ends with status 2");
    snprintf(path, sizeof path, "%s/berth.db", folder);
    live_write_file(
        path,
        "this is no store, and it is longer than a header of SQLite is: a hundred bytes and some more than that.");
    strcpy(second.state, folder);
    start_refused(&second, "berth.db", "a store that is none: it says which file and ends with status 2");
    tap_ok(live_file_says(path, "this is no store"), "a store that is none: it is left as it was");
    live_done(&first);
    live_done(&second);
}

static void refused_keys(void)
{
    char path[LIVE_PATH_MAX + 16];
    struct live live;

    live_init(&live);
    live_start(&live);
    live_stop(&live);
    snprintf(path, sizeof path, "%s/keys/keys", live.state);
    truncate(path, 100);
    start_refused(&live, "keys", "keys that were cut short: it says which file and ends with status 2");
    live_done(&live);
}

static void refused_plain(void)
{
    struct live live;

    live_init(&live);
    live.host = "0.0.0.0";
    live_set(&live, "Tls=off");
    start_refused(&live, "AllowPlain",
                  "plain HTTP for the whole network: it refuses, says what to do, and ends with status 2");
    live_done(&live);
}

/* ------------------------------------------------------------------------------------------------------------ encrypted */

/* The first address of this machine that is not loopback; empty when there is none. */
static void outer_address(char out[INET_ADDRSTRLEN])
{
    struct ifaddrs *all = NULL;

    *out = '\0';
    getifaddrs(&all);
    for (struct ifaddrs *at = all; at && !*out; at = at->ifa_next)
        if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET && !(at->ifa_flags & IFF_LOOPBACK) &&
            (at->ifa_flags & IFF_UP))
            inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr, out,
                      INET_ADDRSTRLEN);
    freeifaddrs(all);
}

/* The CA's certificate, as GET /v1/keys tells it, in a file. */
static bool ca_write(struct stage *stage, const char *file)
{
    const char *at, *end;
    struct buf text;
    bool written;

    talk_close(&stage->talk);
    if (talk_ask(&stage->talk, &stage->live, "GET", "/v1/keys", NULL, NULL, NULL, &stage->reply) != 200 ||
        !(at = strstr(stage->reply.body.text, " Ca = \"")))
        return false;
    buf_init(&text);
    end = strchr(at + 7, '"');
    for (at += 7; at < end; at++)
        if (*at == '\\' && at[1] == 'n')
            buf_addc(&text, (++at, '\n'));
        else
            buf_addc(&text, *at);
    written = live_write_file(file, buf_string(&text));
    buf_done(&text);
    talk_close(&stage->talk);
    return written;
}

/* The status of an encrypted GET /v1/status; 0 when there was no answer. */
static unsigned fetch(const struct stage *stage, const char *host, const char *scheme, const char *ca)
{
    struct client_settings settings = {.ca_file = ca};
    char url[128];
    struct http_call call = {.url = url, .token = stage->token};
    struct fetched fetched = {0};
    struct err err;
    unsigned status = 0;

    snprintf(url, sizeof url, "%s://%s:%d/v1/status", scheme, host, stage->live.port);
    if (client_fetch(&settings, &call, &fetched, &err) == 0) {
        status = fetched.status;
        fetched_done(&fetched);
    }
    return status;
}

static void encrypted_at(const char *host, const char *setting)
{
    char file[LIVE_PATH_MAX + 16], other[LIVE_PATH_MAX + 16];
    struct stage stage, stranger;
    unsigned plain;

    stage_init(&stage);
    stage_init(&stranger);
    snprintf(file, sizeof file, "%s.ca", stage.live.state);
    snprintf(other, sizeof other, "%s.ca", stranger.live.state);
    stage.live.host = host;
    if (setting)
        live_set(&stage.live, setting);
    if (stage_start(&stage) && stage_start(&stranger) && ca_write(&stage, file) && ca_write(&stranger, other)) {
        tap_ok(fetch(&stage, host, "https", file) == 200,
               "encrypted at %s: served with the certificate of the pool's CA",
               setting ? "loopback" : "an outer address");
        tap_ok(fetch(&stage, host, "https", other) == 0, "encrypted at %s: the CA of another pool is not enough",
               setting ? "loopback" : "an outer address");
        plain = fetch(&stage, host, "http", file);
        tap_ok(plain == 0 || plain == 400, "encrypted at %s: plain HTTP is refused (%u)",
               setting ? "loopback" : "an outer address", plain);
        tap_ok(fetch(&stage, host, "https", file) == 200, "encrypted at %s: and it goes on serving",
               setting ? "loopback" : "an outer address");
    } else {
        tap_ok(false, "encrypted at %s: it starts, and tells its CA", host);
    }
    tap_ok(live_stop(&stage.live) == 0, "encrypted at %s: it ends well", setting ? "loopback" : "an outer address");
    unlink(file);
    unlink(other);
    stage_done(&stage);
    stage_done(&stranger);
}

int main(void)
{
    char outer[INET_ADDRSTRLEN];

    outer_address(outer);
    stopped();
    reloaded();
    ended(SIGTERM, "SIGTERM");
    ended(SIGINT, "SIGINT");
    ended_durably();
    ended_insistently();
    plain_factors();
    refused_port();
    refused_state();
    refused_keys();
    refused_plain();
    encrypted_at("127.0.0.1", "Tls=on");
    if (*outer)
        encrypted_at(outer, NULL);
    else
        tap_ok(true,
               "encrypted at an outer address: served with the pool's CA # SKIP this machine has no such address");
    return tap_done();
}
