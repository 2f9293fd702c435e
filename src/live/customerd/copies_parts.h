/* copies_parts.h: what the files of kept copies share; private to them.
 *
 *     copies.c         rounds: which files, which stores; how they stand, for whoever asks
 *     copies_file.c    one file: its replicas are asked for, and copies made where there are too few
 *     copies_stores.c  the stores of the pool: which may get a copy, and which are away */
#ifndef BERTH_LIVE_CUSTOMERD_COPIES_PARTS_H
#define BERTH_LIVE_CUSTOMERD_COPIES_PARTS_H

#include "live/customerd/copies.h"
#include "live/customerd/customerd_parts.h"
#include "live/data/catalogue.h"
#include "live/data/storage.h"
#include "live/data/transfer.h"
#include "pool/protocol/account.h"

#define COPIES_FILES_MAX 100000 /* files of which copies are kept by one customer */
#define COPIES_AT_ONCE 2        /* files that are looked at or copied: half of the threads that the loop has */
#define COPIES_STORES_MAX 1000  /* stores of a pool that are known */
#define COPIES_MISSES_MAX 3     /* stores that a file is tried in, and does not get into, until the next round */

/* How a file stands, as it was seen last. */
struct kept_file {
    char *name;
    uint32_t wanted, there;
    int64_t looked;                 /* seconds on the wall clock */
    uint32_t from;                  /* which store is the first to be tried in the next round */
    int64_t unseen;                 /* since when a replica cannot be seen though its store may be there; 0: all can */
    char words[TRANSFER_WORDS_MAX]; /* why it is not as it should be; "": it is */
};

struct kept_files {
    struct kept_file *items;
    uint32_t count, room;
};

/* A place of a store that could not be asked, or not be put to. */
struct store_away {
    char *place;    /* all URLs beneath it begin so */
    bool puts;      /* it took no file; it may be asked */
    int64_t since;  /* the first time that it could not, with none between that it could */
    uint64_t round; /* ... and the last */
    char words[TRANSFER_WORDS_MAX];
};

enum copy_state {
    COPY_UNKNOWN,
    COPY_THERE,
    COPY_BESIDE, /* it is there, and may be fetched, but it is none of the copies: it is in no store that is named, or not where that store keeps files */
    COPY_AWAY,   /* its store cannot be asked, or lets nobody see it, but not for long: it counts for a while */
    COPY_LOST,   /* it is not there, or is another file, or could not be seen for too long */
};

/* A file that is looked at. */
struct copying {
    struct copying *next;
    struct copies *all;
    uint32_t slot; /* of COPIES_AT_ONCE: where its bytes lie */
    char *name;
    struct file_entry entry;
    enum copy_state states[FILE_REPLICAS_MAX]; /* of its replicas */
    uint32_t at;                               /* the replica that is asked for, or fetched */
    bool fetched;                              /* its bytes are here */
    uint32_t made;                             /* copies that were made */
    uint32_t from;                             /* of the stores, the first to be tried */
    int64_t unseen;                            /* as in struct kept_file */
    char tried[FILE_REPLICAS_MAX + COPIES_MISSES_MAX]
              [STORE_NAME_MAX + 1]; /* stores that got it, and those that did not */
    uint32_t tried_count;
    bool again;                     /* the copy goes where one was lost */
    struct buf url;                 /* where the copy goes ... */
    char words[TRANSFER_WORDS_MAX]; /* what went wrong last; "": nothing */
    uint64_t asked;                 /* a question to the catalogues; 0: none */
    struct transfer_run *run;       /* or NULL */
};

struct copies {
    struct customerd *customerd;
    struct transfer_rules *rules; /* NULL: not needed yet */
    int64_t due, pause; /* when the next round begins; after one in which something was missing, how much later */
    uint64_t round;     /* 0: none was begun */
    bool going;         /* a round is under way */
    bool fetching;      /* a list of stores is under way ... */
    size_t owner;       /* ... whose: of StoreOwners; behind them, all others' */
    uint64_t listing;   /* a page of names is; 0: none */
    struct tree **stores;
    uint32_t store_count;
    struct store_away *away;
    uint32_t away_count;
    char **names; /* a page of them ... */
    uint32_t name_count, name_at;
    uint64_t cursor; /* ... and where the next one begins; 0: there is none */
    uint32_t looked; /* files in this round */
    struct copying *copyings;
    uint32_t copying_count;
    bool slots[COPIES_AT_ONCE];
    struct kept_files last, now; /* as the last round saw them, and as this one does so far */
    bool lacks;                  /* in this round something is missing */
    bool closing;
};

/* ---- copies.c ---- */

/* Notes how the file stands, of which so many copies are there. */
void copies_note(struct copies *all, const struct copying *copying, uint32_t there);
/* Which store is the first to be tried for it, after the round before? */
uint32_t copies_from(const struct copies *all, const char *name);
/* Since when is a replica of it unseen that cannot be seen just now? */
int64_t copies_unseen(const struct copies *all, const char *name);
void copies_go_on(struct copies *all); /* the next files, or the end of the round */

/* ---- copies_file.c ---- */

void copying_begin(struct copies *all, const char *name);
void copying_free(struct copying *copying);                                  /* nothing of it is under way */
void copying_path(const struct copies *all, uint32_t slot, struct buf *out); /* of its bytes */

/* ---- copies_stores.c ---- */

/* The path by which the stores of the owner are asked for whose turn it is (`owner`). */
void copies_stores_path(const struct copies *all, struct buf *out);
void copies_stores_read(struct copies *all, const char *body, size_t len);
bool copies_stores_more(struct copies *all); /* the next owner's turn; false: that were all, and they are in order */
void copies_stores_clear(struct copies *all);
/* Something was seen of what the URL names: its store is there. */
void copies_store_serves(struct copies *all, const char *url);
/* The store of that name could not be asked for the URL, or (`puts`) not be put to. False: the URL lies nowhere that a store of that name advertises, so
 * that says nothing of the store. */
bool copies_store_fails(struct copies *all, const char *store, const char *url, bool puts, const char *words);
/* Does a store of that name that may be used keep files where the URL lies? */
bool copies_store_keeps(const struct copies *all, const char *store, const char *url);
/* Why the store of the URL is not asked, or (`puts`) not put to, in this round; NULL: it is. */
const char *copies_store_trouble(const struct copies *all, const char *url, bool puts);
/* Is it away for so long that what it has does not count? */
bool copies_store_is_lost(const struct copies *all, const char *url);
/* Forgets those that no file of the last round had to do with. */
void copies_stores_forget(struct copies *all);
/* When the first of those that are away is that; INT64_MAX: none is away. */
int64_t copies_stores_due(const struct copies *all);
/* The store that is to get a copy: `ret` is filled in. False, and why: there is none, or none that may be used. */
bool copies_store_choose(const struct copying *copying, struct store_place *ret, struct err *err);

#endif
