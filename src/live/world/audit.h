/* audit.h: who has changed what, from where and when: rows that outlive the process, bounded in number and in age.
 *
 *     changes    what administrators have done, one row each                              up to `most` rows, then the oldest goes
 *                where it is `fair`: what everybody has done with things of its own       up to `most` rows, then some of the oldest go
 *                                                                                         of whoever has the most
 *     attempts   what others have done or were refused; what repeats within an hour       up to most / 4 rows of their own; an account
 *                is one row, with a count                                                 makes up to AUDIT_SHARE of them an hour
 *
 * So no number of attempts pushes out a change, and one account does not push out the attempts of others: what it does beyond its share is
 * counted in one row without words. Rows are numbered in the order in which they came, over both. There is never a secret in a row. The commit is the caller's: a row
 * of a change goes with the change. */
#ifndef BERTH_LIVE_WORLD_AUDIT_H
#define BERTH_LIVE_WORLD_AUDIT_H

#include "lang/base/textmap.h"
#include "lang/text/tree.h"
#include "live/config/config.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AUDIT_SPACE "audit"      /* rows: the number, 16 digits -> an ad */
#define AUDIT_TEXT_MAX 255       /* bytes of each text of a row; longer ones are cut */
#define AUDIT_SPAN INT64_C(3600) /* seconds within which an attempt that repeats is counted in the row of the first */
#define AUDIT_SHARE 32           /* rows of attempts that an account makes within that span */

/* What happened. Texts are lent, and may be NULL: they are left out. */
struct audit_event {
    const char *by;      /* whose word it was; NULL or "": nobody's who was proved */
    const char *account; /* what `by` counts for, or the address of who was not proved: whose share it takes */
    const char *what;    /* "token.create" */
    const char *about;   /* what was changed: a name, an id */
    const char *from;    /* the address, without a port; "unix" by a Unix socket */
    const char *via;     /* by which `by` was proved: "token ID", "uid 1000" */
    const char *result;  /* "done", or "refused 403" */
    const char *detail;
    bool attempt; /* of one who is no administrator, or refused */
};

struct audit_row {
    uint64_t number;
    int64_t at, last; /* seconds since 1970; when it was last repeated */
    uint32_t count;
    bool attempt, dirty; /* dirty: it was counted since its row was written */
    char *by, *account, *what, *about, *from, *via, *result, *detail; /* "" where there is none */
};

/* Whose row it is stands beside it, so that a look at all of them reads no row. */
struct audit_item {
    struct audit_row *row;
    uint32_t account; /* a place in `accounts`; of changes only */
};

/* Rows in the order of their numbers. */
struct audit_list {
    struct audit_item *items;
    uint32_t first, count, room; /* a ring */
};

struct audit {
    struct symbols *symbols;
    struct shelf *shelf;
    struct audit_list changes, attempts;
    struct textmap accounts; /* that have changed something ... */
    uint32_t *counts;        /* ... by place: in how many rows */
    uint32_t counts_room;
    struct audit_list leaving; /* they have to go, and are still on the shelf: a few go with each that comes */
    uint64_t numbered;
    uint32_t most;
    uint64_t dropped; /* rows that had to go, in this life */
    bool dirty;
    bool fair; /* set after audit_init */
};

void audit_init(struct audit *audit, struct symbols *symbols, struct shelf *shelf, uint32_t most);
void audit_done(struct audit *audit);
int audit_load(struct audit *audit, struct err *err);

/* Takes an event, and puts its row on the shelf; what is only counted is put there by audit_flush. -1: the row could not be written. */
int audit_add(struct audit *audit, const struct audit_event *event, int64_t wall, struct err *err);
/* The settings were read again, as somebody who may send the process a signal has asked for: which are others now? False: none is. */
bool audit_reload(struct audit *audit, const char *by, const struct config *config, const struct config_change *change,
                  int64_t wall);
/* Puts the rows on the shelf that were counted since. True: there were some. */
bool audit_flush(struct audit *audit, struct err *err);
/* More is known of the row with that number: texts that are not NULL take the place of its own. A row that has gone is passed over. */
int audit_amend(struct audit *audit, uint64_t number, const struct audit_event *event, struct err *err);
/* So many rows may stay from now on. */
int audit_bound(struct audit *audit, uint32_t most, struct err *err);
/* Rows of which nothing was heard since then go. */
int audit_expire(struct audit *audit, int64_t before, struct err *err);

/* The first row with a number of at least that; NULL: there is none. */
const struct audit_row *audit_next(const struct audit *audit, uint64_t number);
/* As people are told of it: [ Type; Number; Time; By; What; About; From; Via; Result; Detail; Count; Last ]. The caller unrefs it. */
struct tree *audit_ad(const struct audit *audit, const struct audit_row *row);

#ifdef __cplusplus
}
#endif
#endif
