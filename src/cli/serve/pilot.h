/* pilot.h: what the files of `berth pilot` share.
 *
 *     pilot.c        the command: options, and which of the rest is meant
 *     pilot_order.c  a pilot's folder: made by whoever submits it, read by the pilot
 *     pilot_fleet.c  finds pilots by their folders, the batch system and the pool; submits and cancels them
 *     pilot_keep.c   --when: keeps as many pilots as are wanted, for as long as they are
 *     pilot_run.c    --run: the pilot itself, inside of a batch job
 *     pilot_look.c   what a pilot looks at first
 *
 *     STATE/pilots/pilot-5f0c...    a folder that only we may enter, on a disk that the batch system's machines see too
 *         order.ad   what the pilot is to do       batch.ad   the table of the batch system
 *         token      the pilot's own               script     what the batch system runs
 *         id         from the batch system         log        what the pilot printed      left       why it left
 *     STATE/pilots/looked           with --when: what the last look found */
#ifndef BERTH_CLI_SERVE_PILOT_H
#define BERTH_CLI_SERVE_PILOT_H

#include "cli/ask/connection.h"
#include "cli/term/quantity.h"
#include "exec/cluster.h"
#include "exec/pilot.h"

#include <limits.h>

#define PILOT_COUNT_MAX 10000
#define PILOT_NAME_MAX 31
#define PILOT_PREFIX "pilot-"
#define PILOT_JOB_PREFIX "berth-" /* stands before the pilot's name in the name of the batch job */
#define PILOT_WHY_MAX 180
#define PILOT_WAIT (24 * 60 * 60) /* seconds that a token allows for waiting in the batch system's queue */

struct pilot_options {
    struct connection_options pool;
    const char *batch, *when, *folder, *scratch, *program, *run, *like;
    bool slurm, once, json, long_form;
    uint64_t count, cpus;
    int64_t time, idle, every, life; /* seconds */
    int64_t memory;                  /* bytes */
    struct pilot_facts least;
    struct option_words options, settings;
};

/* What a pilot is to do, as its folder says. All texts are its own. */
struct pilot_order {
    char *pilot, *pool, *scratch; /* scratch: "" for where the batch system says */
    bool once;
    int64_t time, idle, cpus, memory;
    struct pilot_facts least;
    char **settings; /* KEY=VALUE */
    uint32_t setting_count;
};

void pilot_order_done(struct pilot_order *order);

/* ---- pilot_order.c: errors have been reported when the status is not STATUS_DONE ---- */

/* Finds the folder of all pilots, and makes it. */
int pilots_folder(const struct pilot_options *options, struct connection *pool, char ret[PATH_MAX]);

/* Makes the folder of a new pilot of that name, with everything that it needs; `parent`: the token that its own is made from. */
int pilot_folder_make(const struct pilot_options *options, const struct cluster *batch, const struct token_file *parent,
                      const char *pools, const char *name, const char *folder);
int pilot_order_read(const char *folder, struct pilot_order *ret);

int64_t pilot_token_life(const struct pilot_options *options); /* seconds that a pilot's token is good for */
bool pilot_token_is_old(const char *folder); /* the pilot's token there: is it in the second half of its life? */
/* Then makes it anew from the parent: the pilot finds it in its folder. False: it was not done. */
bool pilot_token_renew(const struct pilot_options *options, const struct token_file *parent, const char *name,
                       const char *folder);

/* pilot_note writes a line into a file of the folder, in place of what was there; pilot_noted reads the first line of one, "" when there is none. */
int pilot_note(const char *folder, const char *name, const char *line);
void pilot_noted(const char *folder, const char *name, char *ret, size_t size);

/* ---- pilot_fleet.c ---- */

struct pilot_member {
    char name[PILOT_NAME_MAX + 1], id[CLUSTER_ID_MAX + 1], folder[PATH_MAX];
    enum cluster_state state;
    bool connected;            /* the pool hears the pilot */
    char note[256], left[256]; /* what it told the pool; and why it left, by its folder */
    int64_t changed;           /* when its folder changed, in seconds since 1970 */
};

struct fleet {
    const struct pilot_options *options;
    struct connection pool;
    struct cluster *batch;
    struct token_file parent;
    char folder[PATH_MAX], subject[TOKEN_NAME_MAX + 1];
    int lock;
    struct pilot_member *members;
    size_t count, room;
};

int fleet_open(struct fleet *fleet, const struct pilot_options *options);
void fleet_close(struct fleet *fleet);

/* Makes us the master of the fleet. There is one at a time: only the master submits pilots. */
int fleet_lead(struct fleet *fleet);
/* Finds a token from which those of pilots are made: our own, or one that the pool gives. */
int fleet_token(struct fleet *fleet);

/* Finds which pilots there are, by their folders and the batch system. */
int fleet_look(struct fleet *fleet, struct err *err);
/* Asks the pool about the pilots. */
int fleet_ask_pool(struct fleet *fleet);
int fleet_submit(struct fleet *fleet, char ret_id[CLUSTER_ID_MAX + 1], struct err *err);
int fleet_cancel(struct fleet *fleet, struct pilot_member *member, struct err *err);
/* Makes anew the tokens of pilots that are there, where it is time; returns how many. */
int64_t fleet_renew(struct fleet *fleet);
/* Removes the tokens of pilots that have gone, and after a day their folders. */
void fleet_tidy(struct fleet *fleet);

/* ---- pilot_look.c ---- */

/* What a pilot has found where it is. */
struct pilot_found {
    struct pilot_facts facts;
    int64_t cpus, memory;        /* of the machine */
    int64_t seconds;             /* how long it may stay: by the batch system and its order, and by its token */
    char id[CLUSTER_ID_MAX + 1]; /* of its batch job; "": it is not in one */
};

/* Finds for how many seconds the token in that file is good. */
int pilot_token_look(const char *path, int64_t now, int64_t *ret);
/* Looks at what there is. STATUS_NO when there is too little of something: `why` says of what. */
int pilot_look(const char *folder, const char *state, const struct pilot_order *order, struct cluster *batch,
               struct pilot_found *ret, struct buf *why);

/* ---- pilot_keep.c, pilot_run.c ---- */

extern const char pilot_when[]; /* the expression of --when default */
int pilot_keep(struct fleet *fleet);
int pilot_run(const char *folder);

#endif
