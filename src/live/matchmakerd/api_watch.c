/* api_watch.c: streams of events for those who watch the pool change.
 *
 *     event: overview    the answer of /v1/overview, when it has changed, at most once a second
 *     event: match       a row of /v1/matches      to each watcher who may see it, up to ROWS_MAX a second;
 *     event: claim       a row of /v1/claims       `Missed` in the next overview says how many more there were
 *     event: desk        that something has changed at a customer that the watcher names (desk_news.h), once a second at most */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/desk_news.h"
#include "live/matchmakerd/desks.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 20             /* rows a second, to each watcher */
#define QUEUE_MAX (256u << 10)  /* bytes that a watcher may leave unread: beyond that the stream is cut */
#define BEHIND_MAX (128u << 10) /* unread bytes beyond which rows are missed */

struct observer {
    struct observer *next;
    struct request *request;
    int64_t told;  /* when the overview was last told, or found unchanged */
    uint64_t hash; /* of the overview that was told last */
    uint32_t rows; /* rows told since then */
    int64_t missed;
    struct desk_news *desks[DESKS_WATCHED_MAX]; /* customers that it has news of */
    uint32_t desk_count;
};

/* Prints the event into the matchmaker's scratch buffer. */
static struct buf *event_print(const struct observer *observer, const char *event, const struct tree *ad)
{
    struct buf *out = &request_matchmakerd(observer->request)->out;

    buf_reset(out);
    buf_addf(out, "event: %s\ndata: ", event);
    if (observer->request->form == FORM_JSON)
        represent_ad(out, FORM_JSON, ad);
    else
        wire_print(out, ad);
    buf_adds(out, "\n\n");
    return out;
}

static void tell(struct observer *observer, const char *event, const struct tree *ad)
{
    const struct buf *out = event_print(observer, event, ad);

    exchange_stream_write(observer->request->exchange, out->text, out->len);
}

/* Tells watchers of a row, which it takes. `owner` and `provider` may see it, beside administrators; NULL: none. */
static void row_tell(struct matchmakerd *matchmakerd, const char *event, struct tree *row, const char *owner,
                     const char *provider)
{
    struct observer *next;

    for (struct observer *observer = matchmakerd->observers; observer; observer = next) {
        const char *self = request_identity(observer->request);

        next = observer->next;
        if (!request_any(observer->request) && (!owner || strcmp(owner, self) != 0) &&
            (!provider || strcmp(provider, self) != 0))
            continue;
        if (observer->rows >= ROWS_MAX || exchange_stream_waiting(observer->request->exchange) > BEHIND_MAX) {
            observer->missed++;
            continue;
        }
        observer->rows++;
        tell(observer, event, row);
    }
    tree_unref(row);
}

void observers_match(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter)
{
    const struct match_told *told = &letter->match.u.match_told;

    for (uint32_t i = 0; matchmakerd->observers && told->edges && i < told->edges->count; i++) {
        const struct edge *edge = &told->edges->items[i];
        uint32_t place = agents_find(&matchmakerd->agents, edge->agent);
        const char *provider = place == TEXTMAP_NONE
                                   ? NULL
                                   : caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[place].identity);

        row_tell(matchmakerd, "match", match_row(matchmakerd, row, letter, edge, runner_now()),
                 caller_text(&matchmakerd->gate.callers, row->identity), provider);
    }
}

void observers_claim(struct matchmakerd *matchmakerd, const struct report *report, const char *provider)
{
    struct maker maker;

    if (!matchmakerd->observers)
        return;
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Claim");
    maker_word(&maker, "Claim", report->claim);
    maker_word(&maker, "Gang", report->gang);
    maker_text(&maker, "Owner", report->owner.bytes);
    maker_text(&maker, "Provider", provider);
    maker_text(&maker, "State", report->over ? "over" : "active");
    maker_seconds(&maker, "Used", report->used);
    row_tell(matchmakerd, "claim", maker_seal(&maker), report->owner.bytes, provider);
}

/* ----------------------------------------------------------------------------------------------------------- customers */

/* Does it watch that customer, and may be led there? */
static bool observer_watches(const struct observer *observer, const struct desk_news *news)
{
    const struct agents *agents = &request_matchmakerd(observer->request)->agents;
    uint32_t i = 0, place;

    while (i < observer->desk_count && observer->desks[i] != news)
        i++;
    if (i == observer->desk_count)
        return false;
    place = agents_find(agents, news->desk);
    return place != TEXTMAP_NONE && desk_is_for(observer->request, &agents->items[place]);
}

static void desk_tell(struct observer *observer, const struct desk_news *news)
{
    struct maker maker;
    struct tree *ad;

    maker_init(&maker, request_matchmakerd(observer->request)->symbols);
    maker_text(&maker, "Type", "DeskNews");
    maker_word(&maker, "Agent", news->desk);
    maker_integer(&maker, "Changes", news->changes);
    ad = maker_seal(&maker);
    tell(observer, "desk", ad);
    tree_unref(ad);
}

void observers_desk(struct matchmakerd *matchmakerd, const struct desk_news *news)
{
    struct observer *next;

    for (struct observer *observer = matchmakerd->observers; observer; observer = next) {
        next = observer->next;
        if (observer_watches(observer, news))
            desk_tell(observer, news);
    }
}

const struct request *observer_of_desk(const struct matchmakerd *matchmakerd, const struct desk_news *news,
                                       uint32_t turn)
{
    uint32_t count = 0;

    for (const struct observer *observer = matchmakerd->observers; observer; observer = observer->next)
        count += observer_watches(observer, news);
    if (!count)
        return NULL;
    turn %= count;
    for (const struct observer *observer = matchmakerd->observers; observer; observer = observer->next)
        if (observer_watches(observer, news) && !turn--)
            return observer->request;
    return NULL;
}

/* Reads the customers that are to be watched: handles, with commas between. */
static bool desks_read(struct request *request, uint64_t ret[DESKS_WATCHED_MAX], uint32_t *ret_count)
{
    const char *text = request_query(request, "desk");
    uint32_t count = 0;

    while (text && *text && count < DESKS_WATCHED_MAX) {
        size_t len = strcspn(text, ",");
        unsigned char bytes[8];

        if (!hex_read(text, len, bytes, sizeof bytes))
            break;
        ret[count++] = id_number(text, 16);
        text += len + (text[len] == ',');
    }
    *ret_count = count;
    if (!text || !*text)
        return true;
    request_problem(request, 400, "desk: expected handles of customers, %d at most, with commas between",
                    DESKS_WATCHED_MAX);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ overview */

static void overview_tell(struct observer *observer, int64_t now)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(observer->request);
    struct tree *ad = overview_ad(matchmakerd, observer->missed);
    const struct buf *out = event_print(observer, "overview", ad);
    uint64_t hash = text_hash(0, out->text, out->len);

    tree_unref(ad);
    observer->told = now;
    observer->rows = 0;
    observer->missed = 0;
    if (hash == observer->hash)
        return;
    observer->hash = hash;
    exchange_stream_write(observer->request->exchange, out->text, out->len);
}

void observers_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds)
{
    struct observer *next;

    for (struct observer *observer = matchmakerd->observers; observer; observer = next) {
        const struct caller *caller = &observer->request->caller;
        const char *why;

        next = observer->next;
        if ((caller->expires && caller->expires <= wall_seconds) || gate_shuts_out(&matchmakerd->gate, caller, &why))
            exchange_stream_end(observer->request->exchange);
        else if (now - observer->told >= SECOND)
            overview_tell(observer, now);
    }
}

static void observer_free(struct request *request)
{
    struct observer *observer = request->work, **link = &request_matchmakerd(request)->observers;

    while (*link != observer)
        link = &(*link)->next;
    *link = observer->next;
    for (uint32_t i = 0; i < observer->desk_count; i++)
        desk_news_leave(observer->desks[i]);
    request_matchmakerd(request)->streams--;
    request_matchmakerd(request)->gate.callers.items[request->caller.account].streams--;
    request->work = NULL;
    request->forget = NULL;
    free(observer);
}

void api_watch(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct identity *account = &matchmakerd->gate.callers.items[request->caller.account];
    const char *accept = exchange_field(request->exchange, "Accept");
    struct http_field fields[CACHE_FIELDS];
    uint64_t desks[DESKS_WATCHED_MAX];
    struct observer *observer;
    uint32_t desk_count;

    if (!desks_read(request, desks, &desk_count))
        return;
    if (!accept || !media_wants(accept, TYPE_EVENTS)) { /* a caller that does not ask for a stream is told once */
        api_overview(request);
        return;
    }
    if (account->streams >= config_count(&matchmakerd->config, CONFIG_STREAMS_PER_IDENTITY)) {
        request_problem(request, 429, "StreamsPerIdentity: too many streams are open");
        return;
    }
    observer = mem_alloc(sizeof *observer);
    *observer = (struct observer){.next = matchmakerd->observers, .request = request};
    matchmakerd->observers = observer;
    matchmakerd->streams++;
    account->streams++;
    request->work = observer;
    request->forget = observer_free;
    request->status = 200;
    request->form = accept && media_wants(accept, TYPE_CLASSAD) ? FORM_CLASSAD : FORM_JSON; /* most are browsers */
    exchange_stream(request->exchange, TYPE_EVENTS, fields, request_cache_fields(request, false, fields), QUEUE_MAX);
    while (observer->desk_count < desk_count) {
        observer->desks[observer->desk_count] = desk_news_join(matchmakerd, desks[observer->desk_count]);
        observer->desk_count++;
    }
    overview_tell(observer, runner_now());
    for (uint32_t i = 0; i < desk_count; i++) /* what others have waited for already is told at once */
        if (observer->desks[i]->changes >= 0 && observer_watches(observer, observer->desks[i]))
            desk_tell(observer, observer->desks[i]);
}
