/* connection_ask.c: a question to the pool and its answer: one ad, a list of ads, or a problem. */
#include "cli/ask/connection.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "live/config/address.h"
#include "live/http/represent.h"
#include "pool/protocol/job_trace.h"
#include "sys/clock.h"
#include "sys/encoding.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 60                   /* seconds */
#define BEARER_LEFT 1200              /* seconds before its end, in which a bearer is made anew */
#define ASK_TIMEOUT INT64_C(60000000) /* microseconds: an explanation over a large pool takes a while */
#define ASK_BODY ((size_t)16 << 20)   /* bytes of what is sent for which it is enough */
#define HASTY_TIMEOUT INT64_C(5000000)
#define TAKEOVER_SPAN INT64_C(8000000) /* microseconds that a pool may be without a matchmaker that leads */
#define TAKEOVER_PAUSE_NS 250000000
#define SILENCE_SPAN \
    INT64_C(2000000) /* microseconds: who does not say within them that it is there is passed over ... */
#define SILENCE_KEPT INT64_C(1000000) /* ... for so long, */
#define HEARD_KEPT INT64_C(5000000)   /* and who has answered is not asked that again before */
#define WAKING_SPAN INT64_C(20000000) /* so long it is waited for, where nobody else answers: it may only be held */
#define TIMER_SLACK INT64_C(100000)   /* a span may seem that much shorter than it was */
#define PIN_PREFIX "sha256//"

/* -------------------------------------------------------------------------------------------------------------- paths */

void path_escape(struct buf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *text; text++) {
        if (strchr(plain, *text))
            buf_addc(out, *text);
        else
            buf_addf(out, "%%%02X", (unsigned char)*text);
    }
}

void path_query(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_addf(out, "%c%s=", strchr(buf_string(out), '?') ? '&' : '?', name);
    path_escape(out, value);
}

/* ------------------------------------------------------------------------------------------------------------- bearer */

bool url_is_private(const char *text)
{
    char address[ADDRESS_HOST_MAX + 16];
    struct url url;

    if (url_read(text, strlen(text), &url, NULL) < 0)
        return false;
    snprintf(address, sizeof address, strchr(url.host, ':') ? "[%s]:%u" : "%s:%u", url.host, url.port);
    return url.secure || config_address_is_local(address);
}

/* May the token go to that address? Not in the clear over a network, unless the token's own file says that the pool is there. */
static bool bearer_may_go(const struct connection *pool, const struct connection_place *place)
{
    return place->socket || url_is_private(place->url) || (pool->token.pool && !strcmp(pool->token.pool, place->url));
}

/* A command may go on for weeks: what it shows lasts an hour, and is made anew in time, from what its file holds by then. */
static void bearer_tend(struct connection *pool)
{
    if (!pool->bearer.len || !pool->bearer_ends || time(NULL) < pool->bearer_ends - BEARER_LEFT)
        return;
    connection_token_again(pool);
}

/* Finds the token to send there: `*ret` is NULL for none. */
static int bearer_for(struct connection *pool, const struct connection_place *place, const char **ret)
{
    struct err err = {0};

    *ret = NULL;
    if (!pool->token_name || (place->socket && (pool->customer || !pool->token_named)))
        return STATUS_DONE;
    if (!bearer_may_go(pool, place)) {
        report("%s: no token is sent there, for the connection is not encrypted", place->url);
        return STATUS_BAD;
    }
    bearer_tend(pool);
    if (pool->token.token && pool->bearer_for != place->audience)
        buf_wipe(&pool->bearer);
    pool->bearer_for = place->audience;
    if (!pool->bearer.len &&
        token_file_bearer(&pool->bearer, &pool->token, place->audience, time(NULL), &pool->bearer_ends, &err) < 0) {
        report("%s: %s", pool->token_name, err.text);
        return STATUS_BAD;
    }
    *ret = buf_string(&pool->bearer);
    return STATUS_DONE;
}

/* What was made for that place is no good for whoever is there next. The token of an institute is for all. */
static void bearer_forget(struct connection *pool, const struct connection_place *place)
{
    if (!place->audience || pool->bearer_for != place->audience)
        return;
    if (pool->token.token)
        buf_wipe(&pool->bearer);
    pool->bearer_for = NULL;
}

void connection_show(struct connection *pool, const char *bearer)
{
    static const char name[] = "the token of the institute";

    token_file_done(&pool->token);
    token_file_init(&pool->token);
    free(pool->token_name);
    pool->token_name = mem_dup(name, sizeof name - 1);
    pool->token_named = true;
    buf_reset(&pool->bearer);
    buf_adds(&pool->bearer, bearer);
    pool->bearer_ends = 0;
}

/* ----------------------------------------------------------------------------------------------------------- problems */

static void report_about(const char *about, const char *detail)
{
    if (about)
        report("%s: %s", about, detail);
    else
        report("%s", detail);
}

/* Reports what the pool says is wrong, in its words if it has any. */
static void problem_report(struct connection *pool, const struct connection_ask *ask, const struct fetched *fetched)
{
    struct buf words;
    struct tree *problem = NULL;
    const char *text;
    size_t len;

    buf_init(&words);
    if (fetched->type && !strncasecmp(fetched->type, TYPE_PROBLEM, strlen(TYPE_PROBLEM)))
        problem =
            form_parse(pool->symbols, &dialect_classic, FORM_JSON, NULL, fetched->body.text, fetched->body.len, NULL);
    if (problem && ad_string(problem, "detail", &text, &len))
        buf_add(&words, text, len);
    else
        buf_addf(&words, "%s answered with status %u", pool->places[pool->at].url, fetched->status);
    if (fetched->status == 401 && !pool->bearer.len)
        buf_adds(&words, "; --token FILE or $BERTH_TOKEN names one");
    report_about(ask->about, buf_string(&words));
    tree_unref(problem);
    buf_done(&words);
}

static int problem_status(const struct connection_ask *ask, unsigned status)
{
    if ((status == 404 && ask->may_miss) || ((status == 404 || status == 409) && ask->may_conflict))
        return STATUS_NO;
    return status >= 400 && status < 500 ? STATUS_BAD : STATUS_UNREACHABLE;
}

/* Reports that nobody answered there. When a socket could not be connected to, the client's error names a host that stands in for the socket: we
 * leave it out. */
static void unreached_report(const struct connection *pool, size_t at, enum call_result result, const struct err *err)
{
    const struct connection_place *place = &pool->places[at];
    bool absent = place->socket && result == CALL_UNREACHED && !place->silent;
    const char *name = place->socket ? place->socket : place->url;

    if (absent && access(name, F_OK) < 0 && errno == EACCES)
        report("%s: access denied: the state folder belongs to another user", name);
    else if (absent && pool->customer)
        report("no customer runs %s (%s): is a customer running? `berth pool` starts one",
               pool->named ? "there" : "here", name);
    else if (absent && pool->named)
        report("no matchmaker runs there: %s", name);
    else if (absent)
        report("no matchmaker runs here (%s); --pool URL, $BERTH_POOL or the setting Matchmakers name another", name);
    else
        report("%s: %s", name, err->text);
}

/* ------------------------------------------------------------------------------------------------------------- asking */

struct reading {
    call_bytes_fn *bytes; /* takes the body of a good answer; NULL: the body is kept whole */
    void *user;
};

/* Asks, and asks again after a second as long as the answer is only that there were too many requests. */
static int fetch_patiently(const struct client_settings *settings, const struct http_call *call, unsigned tries,
                           struct fetched *ret, struct err *err)
{
    int result = client_fetch(settings, call, ret, err);

    for (; result == 0 && ret->status == 429 && tries; tries--) {
        fetched_done(ret);
        sleep(1);
        result = client_fetch(settings, call, ret, err);
    }
    return result;
}

static void word_set(char **text, const char *from, size_t len)
{
    free(*text);
    *text = len ? mem_dup(from, len) : NULL;
}

/* Is that the socket of somebody who may have our token: of this machine's administrator, or our own? */
static bool socket_is_trusted(const char *path)
{
    struct stat link, file;

    return lstat(path, &link) == 0 && stat(path, &file) == 0 && (!link.st_uid || link.st_uid == geteuid()) &&
           (!file.st_uid || file.st_uid == geteuid());
}

/* A place for one that is told: a free one, else that of one that was told before and did not answer. */
static struct connection_place *told_place(struct connection *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        struct connection_place *place = &pool->places[i];

        if (place->audience && place->failed && !place->asked) {
            bearer_forget(pool, place);
            connection_place_done(place);
            return place;
        }
    }
    return pool->count < POOL_PLACES_MAX ? &pool->places[pool->count++] : NULL;
}

/* Notes where the one is that has the queue, as one of our own that stands by says it: URL#AUDIENCE#PIN, the pin only where there is one. We believe it
 * by its socket alone, which nobody else has: for our token will be sent there. */
static void leader_add(struct connection *pool, const char *text)
{
    size_t url_len = text ? strcspn(text, "#") : 0, audience_len, pin_len;
    struct connection_place *place = NULL;
    const char *audience, *pin;
    struct url url;

    if (!text || !text[url_len] || !pool->customer || !pool->places[pool->at].socket ||
        !socket_is_trusted(pool->places[pool->at].socket) || url_read(text, url_len, &url, NULL) < 0 ||
        memchr(url.path, '?', url.path_len))
        return;
    audience = text + url_len + 1;
    audience_len = strcspn(audience, "#");
    pin = audience + audience_len + (audience[audience_len] == '#');
    pin_len = strlen(pin);
    if (audience_len > TOKEN_NAME_MAX || (pin_len && strncmp(pin, PIN_PREFIX, strlen(PIN_PREFIX)) != 0))
        return;
    for (size_t i = 0; i < pool->count && !place; i++)
        if (strlen(pool->places[i].url) == url_len && !memcmp(pool->places[i].url, text, url_len) &&
            !pool->places[i].socket)
            place = &pool->places[i];
    if (!place && (place = told_place(pool)))
        *place = (struct connection_place){.url = mem_dup(text, url_len)};
    if (!place || (place->audience && strlen(place->audience) == audience_len &&
                   !memcmp(place->audience, audience, audience_len) && !strcmp(place->pin ? place->pin : "", pin)))
        return;
    bearer_forget(pool, place);
    word_set(&place->audience, audience, audience_len);
    word_set(&place->pin, pin, pin_len);
}

/* Where there are several, does this one answer at all? One whose process is stopped, or whose host is cut off, would keep us waiting for as long as an
 * answer may take; and what was sent there once cannot be sent to another. */
static bool place_is_silent(const struct connection *pool, struct connection_place *place)
{
    struct client_settings settings = {.ca_file = *pool->ca_file ? pool->ca_file : NULL};
    struct http_call call = {.unix_socket = place->socket, .pin = place->pin, .timeout = SILENCE_SPAN};
    int64_t now = clock_now();
    struct fetched fetched;
    struct err err;
    struct buf url;
    int failed;

    if (pool->count < 2 || (place->heard && now < place->heard + HEARD_KEPT))
        return false;
    if (place->silent && now < place->silent + SILENCE_KEPT)
        return true;
    buf_init(&url);
    buf_addf(&url, "%s/healthz", place->url);
    call.url = buf_string(&url);
    failed = client_fetch(&settings, &call, &fetched, &err);
    buf_done(&url);
    if (failed < 0) {
        /* A connection that is not made in time is one to a host that is lost; one that is refused says at once that nobody is there. */
        place->silent =
            fetched.result == CALL_UNKNOWN || clock_now() - now >= SILENCE_SPAN - TIMER_SLACK ? clock_now() : 0;
        return place->silent;
    }
    fetched_done(&fetched);
    place->heard = clock_now();
    place->silent = 0;
    return false;
}

/* The trace that whoever calls us is in, as tools hand it on to programs that they begin: the pool goes on with it. NULL: none. */
static const char *trace_given(void)
{
    const char *text = getenv("TRACEPARENT");
    struct job_trace trace;

    return text && job_trace_read(text, strlen(text), &trace) ? text : NULL;
}

/* A body of very many ads takes longer to read, and to become durable. */
static int64_t ask_span(size_t len)
{
    return ASK_TIMEOUT * (int64_t)(1 + len / ASK_BODY);
}

/* Asks the current place. When nobody answered there, ret->result and `err` say so, and nothing has been reported. */
static int place_fetch(struct connection *pool, const struct connection_ask *ask, const struct buf *body,
                       const struct reading *reading, bool *ret_stands_by, struct fetched *ret, struct err *err)
{
    struct connection_place *place = &pool->places[pool->at];
    struct client_settings settings = {.ca_file = *pool->ca_file ? pool->ca_file : NULL};
    struct http_call call = {.method = ask->method,
                             .unix_socket = place->socket,
                             .pin = place->pin,
                             .plain_token = true, /* bearer_for has checked where the token goes */
                             .accept = ask->accept ? ask->accept : TYPE_CLASSAD,
                             .type = ask->body ? TYPE_CLASSAD : ask->type,
                             .body = body->len ? body->text : NULL,
                             .len = body->len,
                             .timeout = ask->hasty ? HASTY_TIMEOUT : ask_span(body->len),
                             .bytes = reading ? reading->bytes : NULL,
                             .bytes_user = reading ? reading->user : NULL};
    struct http_field fields[2];
    const char *trace = trace_given();
    struct buf url;
    int status;

    if (place_is_silent(pool, place)) {
        ret->result = CALL_UNREACHED;
        err_set(err, "it does not answer within %d s", (int)(SILENCE_SPAN / 1000000));
        return STATUS_UNREACHABLE;
    }
    ret->result = CALL_ANSWERED;
    status = bearer_for(pool, place, &call.token);
    if (status != STATUS_DONE)
        return status;
    buf_init(&url);
    buf_addf(&url, "%s%s", place->url, ask->path);
    call.url = buf_string(&url);
    call.fields = fields;
    if (ask->unless)
        fields[call.field_count++] = (struct http_field){"If-None-Match", ask->unless};
    if (trace)
        fields[call.field_count++] = (struct http_field){"traceparent", trace};
    if (fetch_patiently(&settings, &call, ask->patient ? PATIENCE : 0, ret, err) < 0) {
        status = ret->result == CALL_REFUSED ? STATUS_BAD : STATUS_UNREACHABLE;
    } else if (ret->standby && ret->status == 503 && (pool->count > 1 || pool->customer)) {
        leader_add(pool, ret->leader);
        fetched_done(ret);
        *ret = (struct fetched){.result = CALL_UNREACHED}; /* another one leads, or will */
        *ret_stands_by = true;
        err_set(err, "it stands by");
        status = STATUS_UNREACHABLE;
    } else if (ret->status / 100 != 2 && !(ret->status == 304 && ask->unless)) {
        if (!ask->mute && (!ask->hush || ret->status != 404))
            problem_report(pool, ask, ret);
        status = problem_status(ask, ret->status);
        fetched_done(ret);
    }
    buf_done(&url);
    return status;
}

/* What came of it at each place, in the order in which they were asked. */
struct round {
    size_t count, at[POOL_PLACES_MAX];
    struct err errs[POOL_PLACES_MAX];
    bool stands_by[POOL_PLACES_MAX], any_stands_by, any_silent;
};

/* The next one that was not asked yet, of which there may be more by now; false: there is none. */
static bool place_next(struct connection *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        size_t at = (pool->at + i) % pool->count;

        if (!pool->places[at].asked) {
            pool->at = at;
            return true;
        }
    }
    return false;
}

/* Asks the places in turn, from the present one on, as long as nothing was sent. */
static int round_ask(struct connection *pool, const struct connection_ask *ask, const struct buf *body,
                     const struct reading *reading, struct round *round, struct fetched *ret)
{
    int status = STATUS_UNREACHABLE;

    *round = (struct round){0};
    for (size_t i = 0; i < pool->count; i++)
        pool->places[i].asked = false;
    do {
        struct connection_place *place = &pool->places[pool->at];
        bool *stands_by = &round->stands_by[round->count];

        place->asked = true;
        round->at[round->count] = pool->at;
        status = place_fetch(pool, ask, body, reading, stands_by, ret, &round->errs[round->count]);
        place->failed = ret->result != CALL_ANSWERED;
        place->heard = place->failed && !*stands_by ? 0 : place->heard;
        round->any_stands_by = round->any_stands_by || *stands_by;
        round->any_silent = round->any_silent || place->silent;
        round->count++;
    } while (ret->result == CALL_UNREACHED && place_next(pool));
    return status;
}

/* Reports what happened at each place, when none has answered. */
static void round_report(const struct connection *pool, const struct round *round, enum call_result last)
{
    for (size_t i = 0; i < round->count; i++) {
        size_t at = round->at[i];

        if (round->stands_by[i])
            report("%s: %s", pool->places[at].url, round->errs[i].text);
        else
            unreached_report(pool, at, i + 1 < round->count ? CALL_UNREACHED : last, &round->errs[i]);
    }
}

/* Asks until one of the places answers. Where some stand by and none leads, one of them is about to: that takes no longer than its lease, and is waited
 * for. So it is where a customer has several places, for one that stands by answers at its sockets alone. One that was only silent is waited for, too. */
static int pool_send(struct connection *pool, const struct connection_ask *ask, const struct reading *reading,
                     struct fetched *ret)
{
    int64_t began = clock_now();
    bool waits = pool->customer && pool->count > 1;
    struct round round;
    struct buf body;
    int status;

    buf_init(&body);
    if (ask->body)
        represent_ad(&body, FORM_CLASSAD, ask->body);
    for (;;) {
        status = round_ask(pool, ask, ask->bytes ? ask->bytes : &body, reading, &round, ret);
        waits = waits || round.any_stands_by || round.any_silent;
        if (ret->result != CALL_UNREACHED || !waits || ask->hasty ||
            clock_now() >= began + (round.any_silent ? WAKING_SPAN : TAKEOVER_SPAN))
            break;
        nanosleep(&(struct timespec){0, TAKEOVER_PAUSE_NS}, NULL);
        pool->at = 0;
    }
    if (ret->result != CALL_ANSWERED && !ask->quiet)
        round_report(pool, &round, ret->result);
    buf_done(&body);
    return status;
}

int connection_fetch(struct connection *pool, const struct connection_ask *ask, struct fetched *ret)
{
    return pool_send(pool, ask, NULL, ret);
}

bool customer_is_near(struct connection *customer)
{
    struct connection_ask ask = {
        .path = "/v1/jobs?limit=1&select=Job", .mute = true, .quiet = true, .hasty = true}; /* which costs little */
    size_t before = customer->at;
    struct fetched fetched;

    if (!customer->places[before].socket)
        return false;
    if (connection_fetch(customer, &ask, &fetched) == STATUS_DONE)
        fetched_done(&fetched);
    else
        customer->at = before;
    return customer->places[customer->at].socket;
}

int connection_knock(struct connection *pool)
{
    struct fetched fetched;
    int status = connection_fetch(pool, &(struct connection_ask){.path = "/v1/status"}, &fetched);

    if (status == STATUS_DONE)
        fetched_done(&fetched);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------ answers */

static int answer_bad(const struct connection *pool, const struct err *err)
{
    report("%s answered with something that is not an ad: %s", pool->places[pool->at].url, err->text);
    return STATUS_UNREACHABLE;
}

int connection_fetch_ad(struct connection *pool, const struct connection_ask *ask, struct tree **ret)
{
    struct fetched fetched;
    struct err err = {0};
    struct media media;
    struct tree *ad = NULL;
    int status = connection_fetch(pool, ask, &fetched);

    if (status != STATUS_DONE)
        return status;
    if (media_read(fetched.type, &media))
        ad = represent_read(pool->symbols, &media, NULL, fetched.body.text, fetched.body.len, &err);
    else
        err_set(&err, "it is of type %.60s", fetched.type);
    if (ad)
        *ret = ad;
    else
        status = answer_bad(pool, &err);
    fetched_done(&fetched);
    return status;
}

/* A list comes as lines, one ad on each; they are read as they come, and none is kept. */
struct list {
    struct connection *pool;
    connection_ad_fn *each;
    void *user;
    struct buf line;
    uint64_t count;
    bool enough;
    bool may_miss;  /* the service may not have such a list */
    struct err err; /* about the first line that is not an ad; nothing is read behind it */
};

/* Reads a line as an ad. A list does not say which dialects its ads are in: a line that is not an ad in the classic one may be one in the other. */
static struct tree *line_read(struct list *list)
{
    const char *text = buf_string(&list->line);
    struct symbols *symbols = list->pool->symbols;
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, list->line.len, &list->err);

    if (!ad) {
        ad = form_parse(symbols, &dialect_condor, FORM_CLASSAD, NULL, text, list->line.len, NULL);
        list->err.text[0] = ad ? '\0' : list->err.text[0];
    }
    return ad;
}

static void list_line(struct list *list)
{
    struct tree *ad = line_read(list);

    if (ad) {
        list->count++;
        list->enough = !list->each(list->user, ad);
    } else {
        list->enough = true;
    }
    tree_unref(ad);
    buf_reset(&list->line);
}

static void list_bytes(void *user, const char *bytes, size_t len)
{
    struct list *list = user;

    while (len && !list->enough) {
        const char *newline = memchr(bytes, '\n', len);
        size_t part = newline ? (size_t)(newline - bytes) : len;

        if (list->line.len + part > FORM_AD_BYTES_MAX) {
            err_set(&list->err, "a line is longer than %u bytes", FORM_AD_BYTES_MAX);
            list->enough = true;
            return;
        }
        buf_add(&list->line, bytes, part);
        if (newline && list->line.len)
            list_line(list);
        bytes += part + (newline != NULL);
        len -= part + (newline != NULL);
    }
}

int connection_fetch_ads(struct connection *pool, const struct connection_ask *ask, connection_ad_fn *each, void *user)
{
    struct list list = {.pool = pool, .each = each, .user = user};
    struct fetched fetched;
    int status = connection_fetch(pool, ask, &fetched);

    if (status != STATUS_DONE)
        return status;
    buf_init(&list.line);
    list_bytes(&list, fetched.body.text, fetched.body.len);
    if (list.line.len && !list.enough)
        list_line(&list);
    if (*list.err.text)
        status = answer_bad(pool, &list.err);
    buf_done(&list.line);
    fetched_done(&fetched);
    return status;
}

/* Asks for one page, from the cursor (NULL: from the beginning) on. `*ret_cursor`: where to go on, which the caller frees; NULL: that was all. */
static int list_page(struct list *list, const char *path, uint64_t limit, const char *cursor, char **ret_cursor)
{
    struct reading reading = {list_bytes, list};
    struct connection_ask ask = {.may_miss = list->may_miss, .hush = list->may_miss};
    struct fetched fetched;
    struct buf whole;
    char number[24];
    int status;

    *ret_cursor = NULL;
    buf_init(&whole);
    buf_adds(&whole, path);
    snprintf(number, sizeof number, "%" PRIu64, limit);
    path_query(&whole, "limit", number);
    path_query(&whole, "cursor", cursor);
    ask.path = buf_string(&whole);
    status = pool_send(list->pool, &ask, &reading, &fetched);
    if (status == STATUS_DONE) {
        if (list->line.len && !list->enough)
            list_line(list);
        if (*list->err.text) {
            status = answer_bad(list->pool, &list->err);
        } else if (fetched.cursor && !list->enough) {
            *ret_cursor = fetched.cursor;
            fetched.cursor = NULL;
        }
        fetched_done(&fetched);
    }
    buf_done(&whole);
    return status;
}

static int list_ask(struct connection *pool, const char *path, uint64_t limit, bool may_miss, connection_ad_fn *each,
                    void *user)
{
    struct list list = {.pool = pool, .each = each, .user = user, .may_miss = may_miss};
    char *cursor = NULL, *next;
    int status;

    buf_init(&list.line);
    do {
        uint64_t left = limit ? limit - list.count : POOL_PAGE, before = list.count;
        bool stuck;

        status = list_page(&list, path, left < POOL_PAGE ? left : POOL_PAGE, cursor, &next);
        stuck = list.count == before && next && (!pool->customer || (cursor && !strcmp(cursor, next)));
        free(cursor);
        cursor = next;
        if (stuck) { /* the service says that there is more, and gives none; but a customer may have looked at many jobs that do not count */
            report("%s says that the list goes on, and it does not", pool->places[pool->at].url);
            status = STATUS_UNREACHABLE;
        }
    } while (status == STATUS_DONE && cursor && (!limit || list.count < limit));
    free(cursor);
    buf_done(&list.line);
    return status;
}

int connection_list(struct connection *pool, const char *path, uint64_t limit, connection_ad_fn *each, void *user)
{
    return list_ask(pool, path, limit, false, each, user);
}

int connection_list_if(struct connection *pool, const char *path, connection_ad_fn *each, void *user)
{
    return list_ask(pool, path, 0, true, each, user);
}
