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

#define UPLOAD_SPACE "shipment" /* on the shelf */
#define UPLOADS_AT_ONCE 2       /* files on their way: half of the threads that the loop has, the others bring inputs */
#define UPLOAD_PAUSE_MIN SECOND
#define UPLOAD_PAUSE_MAX (60 * SECOND)
#define STORES_SPAN (10 * SECOND) /* that the list of the pool's stores is good for */

/* The words are those of State, in rows and to the customer. All but the first are for good. */
#define UPLOAD_FILE_STATES(X) X(WAITS, "waits") X(STORED, "stored") X(NONE, "not made") X(LOST, "lost")

enum upload_file_state {
#define X(id, word) UPLOAD_FILE_##id,
    UPLOAD_FILE_STATES(X)
#undef X
        UPLOAD_FILE_STATE_COUNT
};

/* A file. */
struct upload_file {
    char *file, *name;
    char *wanted; /* the store that the job names for it; or NULL */
    enum upload_file_state state;
    bool registered; /* the catalogues have it */
    bool told;       /* the customer knows what became of it */
    bool changed;    /* something is to be told that is not for good */
    int64_t size;
    char hash[FILE_HASH_LEN + 1]; /* as catalogues have it; "" until it was looked at */
    bool free;                    /* no other file has its name in the catalogues */
    char *store, *url;            /* where it is, or is tried; or NULL */
    struct file_replica *kept;    /* stores that have it already, of several that are to ... */
    uint32_t kept_count;          /* ... how many; fewer than JOB_COPIES_MAX ... */
    uint32_t entered;   /* ... and how many of its replicas the catalogues have been told since it was stored */
    int64_t since;      /* seconds on the wall clock: since when that store fails; 0: it does not */
    int64_t due, pause; /* until when it waits, and how long next time */
    char words[TRANSFER_WORDS_MAX];
    struct transfer_run *run; /* or NULL */
    struct upload *upload;    /* of which it is */
    uint64_t registering;     /* a question to the catalogues; 0: none */
    uint32_t asked;           /* how often they were */
};

/* What one try of a job leaves for stores: a transfer request. */
struct upload {
    struct upload *next;
    struct providerd *providerd;
    uint64_t claim, number; /* where its files are */
    struct inquiry inquiry;
    struct tree *job;     /* held */
    struct tree *receipt; /* held: by it the catalogue knows that it was the owner's job; or NULL */
    char **stores;        /* OutputSE */
    size_t store_count;
    bool elsewhere;
    uint32_t copies; /* how many stores are to have each file */
    struct upload_file *upload_files;
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
    struct providerd *providerd;
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

struct uploads {
    struct upload *first;
    struct store_trouble *troubles;
    struct store_list *lists;
    struct transfer_rules *rules;
    uint64_t used;  /* bytes in the folder */
    uint32_t going; /* files on their way */
    bool closing;
};

const char *upload_file_state_word(enum upload_file_state state);

/* ---- uploads.c ---- */

void upload_folder(const struct providerd *providerd, uint64_t claim, uint64_t number, char *ret, size_t size);
void upload_path(const struct upload *upload, uint32_t place, char *ret, size_t size); /* of a file */
void upload_drop(struct upload *upload); /* row and files go; it is freed as soon as nothing of it is on its way */
void upload_file_text(char **text, const char *value);
void upload_file_end(struct upload *upload, struct upload_file *upload_file, enum upload_file_state state,
                     const char *words);
/* The file goes to no more stores: it is stored in those that have it, or lost. */
void upload_file_give_up(struct upload *upload, struct upload_file *upload_file, const char *words);
/* The store that it was sent to has it. */
void upload_file_keep(struct upload_file *upload_file, const char *store, const char *url);
/* Closes a file of which everything was told: the file is removed. */
void upload_file_close(struct upload *upload, struct upload_file *upload_file);

/* ---- uploads_move.c ---- */

/* Brings the files in the job's folder to disk. */
struct file_sync *upload_files_settle(const struct task *task, const struct job_uploads *upload_files,
                                      file_sync_done_fn *done, void *user);
void upload_files_move(struct upload *upload, const struct task *task); /* what is not there is said so */

/* ---- uploads_rows.c ---- */

int64_t upload_now(const struct upload *upload); /* seconds on the wall clock, as files are thrown away by */
void upload_store(struct upload *upload);        /* puts its row on the shelf, and a commit follows */
void upload_forget(const struct upload *upload);
/* Makes a request from a row; NULL: the row is malformed. */
struct upload *upload_load(struct providerd *providerd, uint64_t claim, uint64_t number, const struct tree *row);
/* An ad of what became of a file, for the row and for the customer. */
struct tree *upload_file_ad(const struct upload *upload, const struct upload_file *upload_file);
void upload_key(unsigned char ret[16], uint64_t claim, uint64_t number);

/* ---- uploads_stores.c ---- */

/* Is it known which stores the pool has? Asks when that is too long ago. */
bool stores_known(const struct upload *upload);
/* Chooses the store that the file goes to now; false, and why: no such store is advertised, or it takes no file of that job. */
bool store_choose(const struct upload *upload, struct upload_file *upload_file, struct store_place *ret,
                  struct err *err);
/* Goes on to the next store that may have the file. True when it is another one. */
bool store_next(const struct upload *upload, struct upload_file *upload_file);
/* Why that store is not tried now; NULL: it is. And notes how a transfer to it has gone. */
const char *store_trouble(const struct uploads *uploads, const char *store);
void store_fared(struct uploads *uploads, const char *store, const char *words); /* NULL: well */
void stores_done(struct uploads *uploads);

/* ---- uploads_send.c ---- */

void upload_file_look(struct upload *upload, struct upload_file *upload_file);  /* what is it? */
void upload_file_check(struct upload *upload, struct upload_file *upload_file); /* is its name free? */
void upload_file_dispatch(struct upload *upload, struct upload_file *upload_file);
void upload_file_register(struct upload *upload, struct upload_file *upload_file);
void upload_tell(struct upload *upload);
bool upload_has_news(const struct upload *upload);

#endif
