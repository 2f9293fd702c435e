/* uploads_parts.h: what the files of transfer requests share; not installed.
 *
 *     uploads.c         life: what a job leaves for stores becomes a request; room; who is to be tried next
 *     uploads_move.c    the files, out of the job's folder
 *     uploads_rows.c    requests on the shelf
 *     uploads_stores.c  the stores of the pool, and which of them a file goes to
 *     uploads_send.c    a file's way: sent, registered, told to the customer
 *
 *     STATE/provider/transfers/CLAIM.NUMBER/0 1 ...    the files, by their place in OutputData */
#ifndef BERTH_LIVE_PROVIDERD_UPLOADS_PARTS_H
#define BERTH_LIVE_PROVIDERD_UPLOADS_PARTS_H

#include "live/data/job_uploads.h"
#include "live/data/storage.h"
#include "live/data/transfer.h"
#include "live/providerd/providerd_parts.h"

#define SHIPMENT_SPACE "shipment" /* on the shelf */
#define SHIPMENTS_AT_ONCE 2 /* files on their way: half of the threads that the loop has, the others bring inputs */
#define SHIPMENT_PAUSE_MIN SECOND
#define SHIPMENT_PAUSE_MAX (60 * SECOND)
#define STORES_SPAN (10 * SECOND) /* that the list of the pool's stores is good for */

/* The words are those of State, in rows and to the customer. All but the first are for good. */
#define PARCEL_STATES(X) X(WAITS, "waits") X(STORED, "stored") X(NONE, "not made") X(LOST, "lost")

enum parcel_state {
#define X(id, word) PARCEL_##id,
    PARCEL_STATES(X)
#undef X
        PARCEL_STATE_COUNT
};

/* A file. */
struct parcel {
    char *file, *name;
    char *wanted; /* the store that the job names for it; or NULL */
    enum parcel_state state;
    bool registered; /* the catalogues have it */
    bool told;       /* the customer knows what became of it */
    bool changed;    /* something is to be told that is not for good */
    int64_t size;
    char hash[FILE_HASH_LEN + 1]; /* as catalogues have it; "" until it was looked at */
    bool free;                    /* no other file has its name in the catalogues */
    char *store, *url;            /* where it is, or is tried; or NULL */
    int64_t since;                /* seconds on the wall clock: since when that store fails; 0: it does not */
    int64_t due, pause;           /* until when it waits, and how long next time */
    char words[TRANSFER_WORDS_MAX];
    struct transfer_run *run;  /* or NULL */
    struct shipment *shipment; /* of which it is */
    uint64_t registering;      /* a question to the catalogues; 0: none */
    uint32_t asked;            /* how often they were */
};

/* What one try of a job leaves for stores: a transfer request. */
struct shipment {
    struct shipment *next;
    struct workshop *workshop;
    uint64_t claim, number; /* where its files are */
    struct inquiry inquiry;
    struct tree *job;     /* held */
    struct tree *receipt; /* held: by it the catalogue knows that it was the owner's job; or NULL */
    char **stores;        /* OutputSE */
    size_t store_count;
    bool elsewhere;
    struct parcel *parcels;
    uint32_t count;
    int64_t began; /* seconds on the wall clock */
    bool
        accepted; /* the customer has taken this try: another one may have run meanwhile, and its files have the same names */
    bool asking, gone;
    int64_t tell_due, tell_pause;
};

/* The stores of a pool. */
struct store_list {
    struct store_list *next;
    struct workshop *workshop;
    char *pool; /* its name; "" of the only one */
    struct tree **ads;
    uint32_t count;
    int64_t got; /* when they were told; 0: never */
    int64_t asked;
    bool asking;
};

/* A store that failed: until then nobody tries it, or files for others would wait behind it. */
struct store_trouble {
    struct store_trouble *next;
    char *store;
    int64_t until, pause;
    char words[TRANSFER_WORDS_MAX];
};

struct shipments {
    struct shipment *first;
    struct store_trouble *troubles;
    struct store_list *lists;
    struct transfer_rules *rules;
    uint64_t used;  /* bytes in the folder */
    uint32_t going; /* files on their way */
    bool closing;
};

const char *parcel_state_word(enum parcel_state state);

/* ---- uploads.c ---- */

void shipment_folder(const struct workshop *workshop, uint64_t claim, uint64_t number, char *ret, size_t size);
void shipment_path(const struct shipment *shipment, uint32_t place, char *ret, size_t size); /* of a file */
void shipment_drop(
    struct shipment *shipment); /* row and files go; it is freed as soon as nothing of it is on its way */
void parcel_text(char **text, const char *value);
void parcel_end(struct shipment *shipment, struct parcel *parcel, enum parcel_state state, const char *words);
/* All of it was told: its file goes. */
void parcel_close(struct shipment *shipment, struct parcel *parcel);

/* ---- uploads_move.c ---- */

/* Those in the job's folder. */
struct settling *parcels_settle(const struct task *task, const struct job_parcels *parcels, settling_done_fn *done,
                                void *user);
void parcels_move(struct shipment *shipment, const struct task *task); /* what is not there is said so */

/* ---- uploads_rows.c ---- */

int64_t shipment_now(const struct shipment *shipment); /* seconds on the wall clock, as files are thrown away by */
void shipment_store(struct shipment *shipment);        /* puts its row on the shelf, and a commit follows */
void shipment_forget(const struct shipment *shipment);
/* As a row says; NULL: it says nothing good. */
struct shipment *shipment_load(struct workshop *workshop, uint64_t claim, uint64_t number, const struct tree *row);
/* What became of a file, for the row and for the customer. */
struct tree *parcel_ad(const struct shipment *shipment, const struct parcel *parcel);
void shipment_key(unsigned char ret[16], uint64_t claim, uint64_t number);

/* ---- uploads_stores.c ---- */

/* Is it known which stores the pool has? Asks when that is too long ago. */
bool stores_known(const struct shipment *shipment);
/* Where the file goes now; false, and why: no such store is advertised, or it takes no file of that job. */
bool store_choose(const struct shipment *shipment, struct parcel *parcel, struct store_place *ret, struct err *err);
/* The next of those that may have it is tried from now on. True when it is another. */
bool store_next(const struct shipment *shipment, struct parcel *parcel);
/* Why that store is not tried now; NULL: it is. And: how it has fared with it. */
const char *store_trouble(const struct shipments *shipments, const char *store);
void store_fared(struct shipments *shipments, const char *store, const char *words); /* NULL: well */
void stores_done(struct shipments *shipments);

/* ---- uploads_send.c ---- */

void parcel_look(struct shipment *shipment, struct parcel *parcel);  /* what is it? */
void parcel_check(struct shipment *shipment, struct parcel *parcel); /* is its name free? */
void parcel_dispatch(struct shipment *shipment, struct parcel *parcel);
void parcel_register(struct shipment *shipment, struct parcel *parcel);
void shipment_tell(struct shipment *shipment);
bool shipment_has_news(const struct shipment *shipment);

#endif
