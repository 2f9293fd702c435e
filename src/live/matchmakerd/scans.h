/* scans.h: work over all ads in slices (sliced_scan.c), and lists of ads that are made for an answer (collection.c). */
#ifndef BERTH_LIVE_MATCHMAKERD_SCANS_H
#define BERTH_LIVE_MATCHMAKERD_SCANS_H

#include "lang/ad/make.h"
#include "live/http/request.h"
#include "match/pair/match.h"
#include "pool/matchmaker/matchmaker.h"

struct matchmakerd;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sliced_scan.c ---- */

/* A request that looks at all items of a kind, in slices, so that others are served in between: at all living ads, by
 * `visit`; or at something else, by `step`, where `from` says how far it is. */
struct scan {
    struct scan *next;
    struct request *request;
    uint32_t from;
    uint64_t steps;                                                                  /* evaluation steps left */
    bool (*visit)(struct scan *scan, uint32_t place, const struct entry_view *view); /* false: enough */
    bool (*step)(struct scan *scan);   /* looks at one more; false: there is none, or enough. NULL: use `visit` */
    void (*finish)(struct scan *scan); /* answers; the scan is freed afterwards */
    bool (*more)(struct scan *scan);   /* does further slices before `finish`; NULL: none. True: go on */
    void (*done)(struct scan *scan);   /* frees what the scan holds; NULL: nothing */
    bool walked;
};

/* Starts a scan, which it takes: the first member of a block from mem_alloc. */
void scan_start(struct scan *scan, struct request *request);

void scans_done(struct matchmakerd *matchmakerd);

/* ---- collection.c ---- */

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 100000
#define LIST_BYTES ((size_t)16 << 20) /* a list that is longer goes on where its link `next` says */

/* The environment of a request's expressions. */
struct env request_env(const struct request *request);
/* A list of ads that are made for an answer, all at once. */
struct roll {
    struct request *request;
    struct listing listing;
    struct buf out;
};
void roll_begin(struct roll *roll, struct request *request);
void roll_add(struct roll *roll, struct maker *maker); /* adds the maker's ad */
void roll_end(struct roll *roll);                      /* answers */

/* A list of ads that are made for an answer: with constraint, select, limit and cursor, as for stored ads. */
struct collection {
    struct scan scan; /* for a list that is made in slices */
    struct request *request;
    int64_t now; /* when the list was asked for */
    struct tree *query;
    const char *select;
    uint64_t limit, cursor, at, steps;
    struct env env;
    struct arena scratch;
    struct listing listing;
    struct buf out;
    bool more, spent;
    void (*free_more)(struct collection *collection); /* NULL: nothing */
};

/* False, after a problem was answered, when a parameter is wrong. */
bool collection_begin(struct collection *collection, struct request *request);
/* Does the next ad lie before the cursor? Then it is passed over, and need not be made. */
bool collection_passes(struct collection *collection);
/* Adds the next ad, which it takes; false when there are enough. */
bool collection_add(struct collection *collection, struct tree *ad);
void collection_end(struct collection *collection);  /* answers, and frees what it holds */
void collection_done(struct collection *collection); /* without an answer */

/* The same in slices: `step` adds what is at scan.from, and advances it; false when there is no more, or enough. */
void collection_tour(struct request *request, bool (*step)(struct scan *scan));
/* The same for one that holds more: it is the first member of a block from mem_alloc, which this takes, and `free_more` frees what it holds. */
void collection_tour_more(struct collection *collection, struct request *request, bool (*step)(struct scan *scan),
                          void (*free_more)(struct collection *collection));

#ifdef __cplusplus
}
#endif
#endif
