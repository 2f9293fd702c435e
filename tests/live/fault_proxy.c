/* fault_proxy.c: a TCP proxy for tests, which stands between two parties and does what networks do to them.
 *
 *     fault_proxy LISTEN_PORT HOST:PORT [--seed N] [--delay MS] [--cut P] [--stall P] [--duplicate P] [--hoard P] [--only TEXT]
 *
 * --delay      each piece of bytes waits 0 to MS milliseconds; the order stays
 * --cut        the chance that a KiB, either way, is the connection's last: it is closed at some byte of it
 * --stall      the chance that a KiB is the last that passes, while the connection stays open
 * --duplicate  the chance that an HTTP request is sent a second time, on a connection of its own, later; that answer is thrown away
 * --hoard      the chance that with an HTTP request an earlier one is sent again, of any connection, as somebody would who keeps what passes by
 * --only       what a request begins with that is hoarded: "POST /v1/relay"
 *
 * It listens at 127.0.0.1 (port 0: any) and prints the port. At SIGUSR1 all that was hoarded is sent again, in its order, and `again N` is printed
 * when that is over. SIGTERM or SIGINT ends it, with one line of counts.
 * What happens to a connection depends on the seed, on its number and on the place in its bytes: not on how the bytes come in pieces. */
#include "lang/base/buf.h"
#include "lang/base/rng.h"
#include "live/config/address.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

#define KIB 1024
#define WAITING_MAX (1 << 20)  /* bytes that wait for their time: then no more are read */
#define RECORD_MAX (16 << 20)  /* of a request that may be sent twice */
#define REPLAY_PATIENCE 2000   /* milliseconds that an answer to be thrown away may pause */
#define HOARD 512              /* requests that are kept, to be sent again at any later time */
#define AGAIN_EVERY 4          /* milliseconds */
#define HOARD_BYTES (64 << 10) /* of one of them */
#define PLACE_NONE UINT64_MAX

enum fault { FAULT_CUT, FAULT_STALL, FAULT_DUPLICATE, FAULT_HOARD, FAULT_COUNT };

struct proxy {
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_signal_t term, interrupt, again;
    uint64_t again_count; /* that are sent again in order; 0: none */
    struct sockaddr_storage target;
    struct pair *pairs;
    struct replay *replays;
    uint64_t seed, delay;
    double chance[FAULT_COUNT];
    struct hoarded {
        char *bytes;
        size_t len;
    } hoard[HOARD];
    uint64_t hoarded;
    const char *only; /* or NULL */
    uint64_t connections, unreached, requests, faults[FAULT_COUNT], bytes[2];
};

/* Bytes that wait; an empty piece is the end of what is sent that way, or the cut. */
struct piece {
    struct piece *next;
    uint64_t due;
    bool cut;
    size_t len;
    uv_write_t write;
    struct way *way;
    char bytes[];
};

/* One direction of a connection. */
struct way {
    struct pair *pair;
    uv_stream_t *from, *to;
    unsigned direction; /* 0: to the target */
    uv_timer_t timer;
    struct piece *first, *last;
    size_t waiting;
    uint64_t passed;           /* bytes that were read */
    uint64_t cut_at, stall_at; /* places in them */
    uint64_t block;            /* up to here those places are known */
    bool stopped, ended;
    char room[65536];
};

/* What is seen of the requests that go to the target. */
struct recorder {
    struct buf text;
    uint64_t count;
    bool off; /* it is not HTTP, or too long */
};

struct pair {
    struct proxy *proxy;
    struct pair *before, *next;
    uint64_t number;
    uv_tcp_t client, target;
    uv_connect_t connect;
    struct way ways[2];
    struct recorder recorder;
    unsigned open; /* handles */
    bool closing, stalled;
};

/* A request that is sent again. */
struct replay {
    struct proxy *proxy;
    struct replay *before, *next;
    uv_tcp_t tcp;
    uv_timer_t timer;
    uv_connect_t connect;
    uv_write_t write;
    unsigned open;
    bool closing;
    size_t len;
    char *bytes;
    char room[4096];
};

/* A word that depends on the seed, the connection and the place alone. */
static uint64_t choice(const struct proxy *proxy, uint64_t connection, uint64_t what, uint64_t place)
{
    return rng_mix(rng_mix(rng_mix(proxy->seed ^ rng_mix(connection)) ^ what) ^ place);
}

static bool happens(const struct proxy *proxy, enum fault fault, uint64_t word)
{
    return rng_unit(rng_mix(word)) < proxy->chance[fault];
}

/* ------------------------------------------------------------------------------------------------------ sent again */

static void on_replay_closed(uv_handle_t *handle)
{
    struct replay *replay = handle->data;

    if (--replay->open)
        return;
    free(replay->bytes);
    free(replay);
}

static void replay_close(struct replay *replay)
{
    if (replay->closing)
        return;
    replay->closing = true;
    *(replay->before ? &replay->before->next : &replay->proxy->replays) = replay->next;
    if (replay->next)
        replay->next->before = replay->before;
    if (!replay->proxy->replays && replay->proxy->again_count) {
        printf("again %llu\n", (unsigned long long)replay->proxy->again_count);
        fflush(stdout);
        replay->proxy->again_count = 0;
    }
    uv_close((uv_handle_t *)&replay->tcp, on_replay_closed);
    uv_close((uv_handle_t *)&replay->timer, on_replay_closed);
}

static void on_replay_patience(uv_timer_t *timer)
{
    replay_close(timer->data);
}

static void on_replay_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
    struct replay *replay = handle->data;

    (void)wanted;
    *ret = uv_buf_init(replay->room, sizeof replay->room);
}

static void on_replay_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct replay *replay = stream->data;

    (void)bytes;
    if (count < 0)
        replay_close(replay);
    else
        uv_timer_start(&replay->timer, on_replay_patience, REPLAY_PATIENCE, 0);
}

static void on_replay_written(uv_write_t *write, int status)
{
    if (status < 0)
        replay_close(write->data);
}

static void on_replay_connected(uv_connect_t *connect, int status)
{
    struct replay *replay = connect->data;
    uv_buf_t bytes = uv_buf_init(replay->bytes, (unsigned)replay->len);

    if (replay->closing)
        return;
    replay->write.data = replay;
    uv_timer_start(&replay->timer, on_replay_patience, REPLAY_PATIENCE, 0);
    if (status < 0 || uv_read_start((uv_stream_t *)&replay->tcp, on_replay_room, on_replay_read) ||
        uv_write(&replay->write, (uv_stream_t *)&replay->tcp, &bytes, 1, on_replay_written))
        replay_close(replay);
}

static void on_replay_due(uv_timer_t *timer)
{
    struct replay *replay = timer->data;

    replay->connect.data = replay;
    if (uv_tcp_connect(&replay->connect, &replay->tcp, (const struct sockaddr *)&replay->proxy->target,
                       on_replay_connected))
        replay_close(replay);
}

static void replay_new(struct proxy *proxy, const char *request, size_t len, uint64_t wait)
{
    struct replay *replay = mem_alloc(sizeof *replay);

    *replay = (struct replay){.proxy = proxy, .next = proxy->replays, .open = 2, .len = len};
    replay->bytes = mem_dup(request, len);
    if (proxy->replays)
        proxy->replays->before = replay;
    proxy->replays = replay;
    uv_tcp_init(&proxy->loop, &replay->tcp);
    uv_timer_init(&proxy->loop, &replay->timer);
    replay->tcp.data = replay->timer.data = replay;
    uv_timer_start(&replay->timer, on_replay_due, wait, 0);
}

/* The bytes of the request at the start of the text; 0: it is not whole; RECORD_MAX + 1: nothing that can be sent again. */
static size_t request_len(const char *text, size_t len)
{
    const char *end = strstr(text, "\r\n\r\n"), *line;
    unsigned long long body = 0;

    if (len && (*text < 'A' || *text > 'Z'))
        return RECORD_MAX + 1;
    if (!end)
        return 0;
    for (line = text; line < end; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line, "\r\ncontent-length:", 17) == 0)
            body = strtoull(line + 17, NULL, 10);
        if (strncasecmp(line, "\r\ntransfer-encoding:", 20) == 0 || body > RECORD_MAX)
            return RECORD_MAX + 1;
    }
    body += (size_t)(end - text) + 4;
    return body <= len ? (size_t)body : 0;
}

/* Keeps a request; and now and then sends one again that was kept before. */
static void hoard_see(struct proxy *proxy, const char *request, size_t len, uint64_t word)
{
    struct hoarded *place = &proxy->hoard[proxy->hoarded % HOARD];
    uint64_t kept = proxy->hoarded < HOARD ? proxy->hoarded : HOARD;

    if (!proxy->chance[FAULT_HOARD] || (proxy->only && strncmp(request, proxy->only, strlen(proxy->only)) != 0))
        return;
    if (kept && happens(proxy, FAULT_HOARD, word)) {
        const struct hoarded *again = &proxy->hoard[rng_mix(word ^ kept) % kept];

        proxy->faults[FAULT_HOARD]++;
        replay_new(proxy, again->bytes, again->len, word % (4 * proxy->delay + 2));
    }
    if (len > HOARD_BYTES)
        return;
    free(place->bytes);
    *place = (struct hoarded){.bytes = mem_dup(request, len), .len = len};
    proxy->hoarded++;
}

static void on_again(uv_signal_t *signal, int number)
{
    struct proxy *proxy = signal->data;
    uint64_t kept = proxy->hoarded < HOARD ? proxy->hoarded : HOARD;

    (void)number;
    for (uint64_t i = 0; i < kept; i++) {
        const struct hoarded *again = &proxy->hoard[(proxy->hoarded - kept + i) % HOARD];

        replay_new(proxy, again->bytes, again->len, i * AGAIN_EVERY);
    }
    proxy->again_count = kept;
}

static void recorder_see(struct pair *pair, const char *bytes, size_t len)
{
    struct recorder *recorder = &pair->recorder;
    struct proxy *proxy = pair->proxy;
    size_t request;

    if (recorder->off)
        return;
    buf_add(&recorder->text, bytes, len);
    while (recorder->text.len && (request = request_len(buf_string(&recorder->text), recorder->text.len)) > 0) {
        uint64_t word = choice(proxy, pair->number, 4, recorder->count++);

        if (request > RECORD_MAX) {
            recorder->off = true;
            return;
        }
        proxy->requests++;
        if (happens(proxy, FAULT_DUPLICATE, word)) {
            proxy->faults[FAULT_DUPLICATE]++;
            replay_new(proxy, recorder->text.text, request, word % (4 * proxy->delay + 2));
        }
        hoard_see(proxy, recorder->text.text, request, choice(proxy, pair->number, 5, recorder->count));
        memmove(recorder->text.text, recorder->text.text + request, recorder->text.len - request);
        recorder->text.len -= request;
    }
    recorder->off = recorder->text.len > RECORD_MAX;
}

/* ------------------------------------------------------------------------------------------------------ connections */

static void pair_let_go(struct pair *pair)
{
    if (--pair->open)
        return;
    for (unsigned i = 0; i < 2; i++)
        for (struct piece *next, *piece = pair->ways[i].first; piece; piece = next) {
            next = piece->next;
            free(piece);
        }
    buf_done(&pair->recorder.text);
    free(pair);
}

static void on_side_closed(uv_handle_t *handle)
{
    pair_let_go(handle->data);
}

static void on_way_closed(uv_handle_t *handle)
{
    struct way *way = handle->data;

    pair_let_go(way->pair);
}

static void pair_close(struct pair *pair)
{
    if (pair->closing)
        return;
    pair->closing = true;
    *(pair->before ? &pair->before->next : &pair->proxy->pairs) = pair->next;
    if (pair->next)
        pair->next->before = pair->before;
    uv_close((uv_handle_t *)&pair->client, on_side_closed);
    uv_close((uv_handle_t *)&pair->target, on_side_closed);
    uv_close((uv_handle_t *)&pair->ways[0].timer, on_way_closed);
    uv_close((uv_handle_t *)&pair->ways[1].timer, on_way_closed);
}

static void on_piece_due(uv_timer_t *timer);
static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes);
static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret);

static void way_wait(struct way *way)
{
    uint64_t now = uv_now(&way->pair->proxy->loop);

    if (way->first)
        uv_timer_start(&way->timer, on_piece_due, way->first->due > now ? way->first->due - now : 0, 0);
}

static void on_written(uv_write_t *write, int status)
{
    struct piece *piece = write->data;
    struct way *way = piece->way;
    struct pair *pair = way->pair;

    way->waiting -= piece->len;
    free(piece);
    if (status < 0)
        pair_close(pair);
    else if (way->stopped && !way->ended && !pair->closing && way->waiting < WAITING_MAX) {
        way->stopped = false;
        uv_read_start(way->from, on_room, on_read);
    }
}

static void on_shut(uv_shutdown_t *shutdown, int status)
{
    (void)status;
    free(shutdown);
}

/* The first piece's time has come. */
static void piece_pass(struct way *way, struct piece *piece)
{
    uv_buf_t bytes = uv_buf_init(piece->bytes, (unsigned)piece->len);

    if (piece->cut) {
        way->pair->proxy->faults[FAULT_CUT]++;
        free(piece);
        pair_close(way->pair);
    } else if (piece->len == 0) {
        uv_shutdown_t *shutdown = mem_alloc(sizeof *shutdown);

        free(piece);
        if (uv_shutdown(shutdown, way->to, on_shut))
            free(shutdown);
        if (way->pair->ways[!way->direction].ended && !way->pair->ways[!way->direction].first)
            pair_close(way->pair);
    } else {
        piece->write.data = piece;
        if (uv_write(&piece->write, way->to, &bytes, 1, on_written)) {
            free(piece);
            pair_close(way->pair);
        }
    }
}

static void on_piece_due(uv_timer_t *timer)
{
    struct way *way = timer->data;

    while (way->first && way->first->due <= uv_now(timer->loop) && !way->pair->closing) {
        struct piece *piece = way->first;

        way->first = piece->next;
        if (!way->first)
            way->last = NULL;
        piece_pass(way, piece);
    }
    if (!way->pair->closing)
        way_wait(way);
}

static void piece_add(struct way *way, const char *bytes, size_t len, bool cut)
{
    struct proxy *proxy = way->pair->proxy;
    struct piece *piece = mem_alloc(sizeof *piece + len);
    uint64_t word = choice(proxy, way->pair->number, 2 + way->direction, way->passed);

    *piece = (struct piece){.way = way, .len = len, .cut = cut};
    memcpy(piece->bytes, bytes, len);
    piece->due = uv_now(&proxy->loop) + (proxy->delay ? word % (proxy->delay + 1) : 0);
    if (way->last && way->last->due > piece->due)
        piece->due = way->last->due;
    *(way->last ? &way->last->next : &way->first) = piece;
    way->last = piece;
    way->waiting += len;
    if (way->first == piece)
        way_wait(way);
}

/* The next places where something happens, looked for up to a byte. */
static void way_plan(struct way *way, uint64_t end)
{
    const struct proxy *proxy = way->pair->proxy;

    for (; way->block * KIB < end; way->block++) {
        uint64_t cut = choice(proxy, way->pair->number, 10 + way->direction, way->block);
        uint64_t stall = choice(proxy, way->pair->number, 20 + way->direction, way->block);

        if (way->cut_at == PLACE_NONE && happens(proxy, FAULT_CUT, cut))
            way->cut_at = way->block * KIB + cut % KIB;
        if (way->stall_at == PLACE_NONE && happens(proxy, FAULT_STALL, stall))
            way->stall_at = way->block * KIB + stall % KIB;
    }
}

static void way_pass(struct way *way, const char *bytes, size_t len)
{
    struct proxy *proxy = way->pair->proxy;
    uint64_t end = way->passed + len, last;

    way_plan(way, end);
    last = way->cut_at < way->stall_at ? way->cut_at : way->stall_at;
    if (last < end)
        len = (size_t)(last - way->passed);
    if (way->direction == 0)
        recorder_see(way->pair, bytes, len);
    if (len)
        piece_add(way, bytes, len, false);
    way->passed += len;
    proxy->bytes[way->direction] += len;
    if (last >= end)
        return;
    if (last == way->stall_at) {
        proxy->faults[FAULT_STALL]++;
        way->pair->stalled = true; /* what comes is read and forgotten, so that we see when a side gives up */
        return;
    }
    uv_read_stop(way->from);
    way->stopped = way->ended = true;
    piece_add(way, "", 0, true);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
    struct pair *pair = handle->data;
    struct way *way = &pair->ways[handle == (uv_handle_t *)&pair->target];

    (void)wanted;
    *ret = uv_buf_init(way->room, sizeof way->room);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct pair *pair = stream->data;
    struct way *way = &pair->ways[stream == (uv_stream_t *)&pair->target];

    if (count < 0 && (count != UV_EOF || pair->stalled)) {
        pair_close(pair);
    } else if (count < 0) {
        uv_read_stop(stream);
        way->stopped = way->ended = true;
        piece_add(way, "", 0, false);
    } else if (count > 0 && !pair->stalled) {
        way_pass(way, bytes->base, (size_t)count);
        if (!way->stopped && way->waiting >= WAITING_MAX) {
            uv_read_stop(stream);
            way->stopped = true;
        }
    }
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct pair *pair = connect->data;

    if (pair->closing)
        return;
    if (status < 0 || uv_read_start((uv_stream_t *)&pair->client, on_room, on_read) ||
        uv_read_start((uv_stream_t *)&pair->target, on_room, on_read)) {
        pair->proxy->unreached++;
        pair_close(pair);
    }
}

static void way_init(struct way *way, struct pair *pair, unsigned direction, uv_tcp_t *from, uv_tcp_t *to)
{
    way->pair = pair;
    way->direction = direction;
    way->from = (uv_stream_t *)from;
    way->to = (uv_stream_t *)to;
    way->cut_at = way->stall_at = PLACE_NONE;
    uv_timer_init(&pair->proxy->loop, &way->timer);
    way->timer.data = way;
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct proxy *proxy = listener->data;
    struct pair *pair;

    if (status < 0)
        return;
    pair = mem_alloc(sizeof *pair);
    memset(pair, 0, sizeof *pair);
    pair->proxy = proxy;
    pair->number = proxy->connections++;
    pair->open = 4;
    pair->next = proxy->pairs;
    if (proxy->pairs)
        proxy->pairs->before = pair;
    proxy->pairs = pair;
    uv_tcp_init(&proxy->loop, &pair->client);
    uv_tcp_init(&proxy->loop, &pair->target);
    pair->client.data = pair->target.data = pair->connect.data = pair;
    way_init(&pair->ways[0], pair, 0, &pair->client, &pair->target);
    way_init(&pair->ways[1], pair, 1, &pair->target, &pair->client);
    if (uv_accept(listener, (uv_stream_t *)&pair->client) ||
        uv_tcp_connect(&pair->connect, &pair->target, (const struct sockaddr *)&proxy->target, on_connected)) {
        pair_close(pair);
        return;
    }
    uv_tcp_nodelay(&pair->client, 1);
    uv_tcp_nodelay(&pair->target, 1);
}

/* ----------------------------------------------------------------------------------------------------- the program */

static void on_signal(uv_signal_t *signal, int number)
{
    struct proxy *proxy = signal->data;

    (void)number;
    while (proxy->pairs)
        pair_close(proxy->pairs);
    while (proxy->replays)
        replay_close(proxy->replays);
    uv_close((uv_handle_t *)&proxy->listener, NULL);
    uv_close((uv_handle_t *)&proxy->term, NULL);
    uv_close((uv_handle_t *)&proxy->interrupt, NULL);
    uv_close((uv_handle_t *)&proxy->again, NULL);
}

static int usage(const char *why)
{
    fprintf(stderr,
            "fault_proxy: %s\n"
            "usage: fault_proxy LISTEN_PORT HOST:PORT [--seed N] [--delay MS] [--cut P] [--stall P] [--duplicate P]\n"
            "       [--hoard P] [--only TEXT]\n",
            why);
    return 2;
}

static bool option_read(struct proxy *proxy, const char *name, const char *value)
{
    const struct {
        const char *name;
        uint64_t *number;
        double *chance;
    } options[] = {
        {"--seed", &proxy->seed, NULL},
        {"--delay", &proxy->delay, NULL},
        {"--cut", NULL, &proxy->chance[FAULT_CUT]},
        {"--stall", NULL, &proxy->chance[FAULT_STALL]},
        {"--duplicate", NULL, &proxy->chance[FAULT_DUPLICATE]},
        {"--hoard", NULL, &proxy->chance[FAULT_HOARD]},
    };
    char *end = NULL;

    if (!strcmp(name, "--only")) {
        proxy->only = value;
        return true;
    }
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(options[i].name, name) != 0)
            continue;
        if (options[i].number)
            *options[i].number = strtoull(value, &end, 10);
        else
            *options[i].chance = strtod(value, &end);
        return *value && !*end && (options[i].number || (*options[i].chance >= 0 && *options[i].chance <= 1));
    }
    return false;
}

static bool target_read(struct proxy *proxy, const char *text)
{
    struct address address;
    socklen_t len;
    uv_getaddrinfo_t request;
    char port[8];
    bool found;

    if (address_read(text, &address, NULL) || address.is_unix)
        return false;
    if (address_socket(&address, &proxy->target, &len))
        return true;
    snprintf(port, sizeof port, "%u", address.port);
    found = uv_getaddrinfo(&proxy->loop, &request, NULL, address.host, port, NULL) == 0;
    if (found)
        memcpy(&proxy->target, request.addrinfo->ai_addr, request.addrinfo->ai_addrlen);
    if (found)
        uv_freeaddrinfo(request.addrinfo);
    return found;
}

static int proxy_listen(struct proxy *proxy, const char *port)
{
    struct sockaddr_in at;
    int len = sizeof at;

    uv_ip4_addr("127.0.0.1", atoi(port), &at);
    uv_tcp_init(&proxy->loop, &proxy->listener);
    uv_signal_init(&proxy->loop, &proxy->term);
    uv_signal_init(&proxy->loop, &proxy->interrupt);
    uv_signal_init(&proxy->loop, &proxy->again);
    proxy->listener.data = proxy->term.data = proxy->interrupt.data = proxy->again.data = proxy;
    uv_signal_start(&proxy->again, on_again, SIGUSR1);
    uv_signal_start(&proxy->term, on_signal, SIGTERM);
    uv_signal_start(&proxy->interrupt, on_signal, SIGINT);
    if (uv_tcp_bind(&proxy->listener, (const struct sockaddr *)&at, 0) ||
        uv_listen((uv_stream_t *)&proxy->listener, 1024, on_connection) ||
        uv_tcp_getsockname(&proxy->listener, (struct sockaddr *)&at, &len))
        return -1;
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    static struct proxy proxy;

    if (argc < 3)
        return usage("a port and an address are wanted");
    for (int i = 3; i < argc; i += 2)
        if (i + 1 == argc || !option_read(&proxy, argv[i], argv[i + 1]))
            return usage(argv[i]);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&proxy.loop);
    if (!target_read(&proxy, argv[2]))
        return usage("no such address");
    if (proxy_listen(&proxy, argv[1])) {
        fprintf(stderr, "fault_proxy: cannot listen at port %s\n", argv[1]);
        return 1;
    }
    uv_run(&proxy.loop, UV_RUN_DEFAULT);
    uv_loop_close(&proxy.loop);
    for (size_t i = 0; i < HOARD; i++)
        free(proxy.hoard[i].bytes);
    printf(
        "connections=%llu unreached=%llu requests=%llu cut=%llu stalled=%llu duplicated=%llu hoarded=%llu bytes_out=%llu bytes_in=%llu\n",
        (unsigned long long)proxy.connections, (unsigned long long)proxy.unreached, (unsigned long long)proxy.requests,
        (unsigned long long)proxy.faults[FAULT_CUT], (unsigned long long)proxy.faults[FAULT_STALL],
        (unsigned long long)proxy.faults[FAULT_DUPLICATE], (unsigned long long)proxy.faults[FAULT_HOARD],
        (unsigned long long)proxy.bytes[0], (unsigned long long)proxy.bytes[1]);
    return 0;
}
