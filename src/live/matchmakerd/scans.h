/* scans.h: work over all ads in slices (sliced_scan.c), and lists of ads that are made for the answer (collection.c). */
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

/* One who looks at all there is of something, in slices, so that others are served in between: at all ads that live, by `visit`; or, by
 * `step`, at something else, of which `from` says how far it is. */
struct scan {
    struct scan *next;
    struct request *request;
    uint32_t from;
    uint64_t steps;                                                                  /* of evaluation that are left */
    bool (*visit)(struct scan *scan, uint32_t place, const struct entry_view *view); /* false: enough */
    bool (*step)(struct scan *scan);   /* one more; false: there is none, or enough. NULL: `visit` is asked */
    void (*finish)(struct scan *scan); /* answers; the scan is freed behind it */
    bool (*more)(struct scan *scan);   /* further slices before the finish; NULL: none. True: go on */
    void (*done)(struct scan *scan);   /* gives back what it holds; NULL: nothing */
    bool walked;
};

/* Takes the scan, which is the first member of a block from mem_alloc. It begins at once. */
void scan_start(struct scan *scan, struct request *request);

void scans_done(struct matchmakerd *matchmakerd);

/* ---- collection.c ---- */

#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 100000

/* The environment of a request's expressions. */
struct env request_env(const struct request *request);
/* A list of ads that are made for the answer, all at once. */
struct roll {
    struct request *request;
    struct listing listing;
    struct buf out;
};
void roll_begin(struct roll *roll, struct request *request);
void roll_add(struct roll *roll, struct maker *maker); /* the ad that it has made */
void roll_end(struct roll *roll);                      /* answers */

/* A list of ads that are made for the answer: asked for by constraint, select, limit and cursor as ads are. */
struct collection {
    struct scan scan; /* of one that is made in slices */
    struct request *request;
    int64_t now; /* when it was asked for */
    struct tree *query;
    const char *select;
    uint64_t limit, cursor, at, steps;
    struct env env;
    struct arena scratch;
    struct listing listing;
    struct buf out;
    bool more, spent;
};

/* False when a parameter is wrong, and that was answered. */
bool collection_begin(struct collection *collection, struct request *request);
/* The next ad, which it takes; false when there are enough. */
bool collection_add(struct collection *collection, struct tree *ad);
void collection_end(struct collection *collection); /* answers */

/* The same in slices: `step` adds what is found at scan.from, and moves that on; false when there is no more, or enough. */
void collection_tour(struct request *request, bool (*step)(struct scan *scan));

#ifdef __cplusplus
}
#endif
#endif
