/* catalogue.h: the catalogues of files, asked and told from within a loop: one or two, of which one may be down, or say something else.
 *
 *     catalogues_find -> all are asked -> they agree: the entry, with the replicas of both
 *                                         one has it, the other does not, or does not answer: the entry, and words that say so
 *                                         other sizes or hashes: DIFFER, for nobody can say which is right
 *     catalogues_add  -> all are told  -> TAKEN; PARTLY: words say which one lacks it; REFUSED: one says that it is another file
 *
 *     catalogues_kept  -> all are asked, by pages -> names of files, of which a number of copies is to be kept
 *
 * Nothing here is tried again: a file that one catalogue lacks is found by `berth files check`, and brought over by `berth files repair`. */
#ifndef BERTH_LIVE_DATA_CATALOGUE_H
#define BERTH_LIVE_DATA_CATALOGUE_H

#include "live/data/file_entry.h"
#include "live/http/client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CATALOGUES_MAX 2

struct token_file;
struct catalogues;

/* Where a catalogue is, and by what right it is asked. */
struct catalogue_place {
    const char *url;                /* http://, https:// or unix:PATH; copied */
    const struct token_file *token; /* lent, it may be renewed; NULL: none */
    bool token_owned;               /* the catalogues free it (mem_alloc) */
    const char *ca_file;            /* NULL: the system's; copied */
};

/* `symbols` are those of the ads that go to and fro. Tokens that are owned are taken, whatever this returns. */
struct catalogues *catalogues_new(uv_loop_t *loop, struct symbols *symbols, const struct catalogue_place *places,
                                  size_t count, struct err *err);
/* Ends what is under way, with SILENT; nothing may be begun from there. The loop has to run once more. */
void catalogues_free(struct catalogues *catalogues);

enum catalogue_result {
    CATALOGUE_FOUND,
    CATALOGUE_NONE,    /* those that answer do not have it */
    CATALOGUE_DIFFER,  /* they call different files so */
    CATALOGUE_TAKEN,   /* all of them have it now */
    CATALOGUE_PARTLY,  /* some have it now */
    CATALOGUE_REFUSED, /* none has taken it, and one says why */
    CATALOGUE_SILENT,  /* none answers */
};

struct catalogue_answer {
    enum catalogue_result result;
    const struct file_entry *entry; /* of FOUND; lent */
    const char *words;              /* for a person: what is wrong; "" when nothing is */
};

/* Called once, and never before the call that it answers returns. */
typedef void catalogue_done_fn(void *user, const struct catalogue_answer *answer);

/* Asks for a file. Like catalogues_add, it returns an id for catalogues_cancel. */
uint64_t catalogues_find(struct catalogues *catalogues, const char *name, catalogue_done_fn *done, void *user);
/* By what right a machine enters a name that is kept for a user (file_entry.h): as which agent, and that the user's job was matched with it. */
struct catalogue_right {
    const char *agent;          /* its name */
    const struct tree *receipt; /* of the claim (pool/protocol/receipt.h); NULL: none */
};

#define CATALOGUE_RECEIPT "Berth-Receipt" /* the field of it: base64url of its text */

/* Tells the catalogues of a file. The addition has a name, a size, a hash, one replica and, if it is to be another's than the token's, an owner. */
uint64_t catalogues_add(struct catalogues *catalogues, const struct file_entry *addition,
                        const struct catalogue_right *right, catalogue_done_fn *done, void *user);
/* Asks which files of that account copies are to be kept of (Copies): those from the cursor on. `done` is called once, and never before this
 * returns: the names are lent, each once, in no order; and where to go on, 0: that were all. With NULL none answers. */
typedef void catalogue_kept_fn(void *user, char *const *names, uint32_t count, uint64_t cursor);
uint64_t catalogues_kept(struct catalogues *catalogues, const char *account, uint64_t cursor, catalogue_kept_fn *done,
                         void *user);
void catalogues_cancel(struct catalogues *catalogues,
                       uint64_t id); /* `done` is not called; one that is over is nothing */

/* Appends a text as one part of a path, or one value of a query. */
void url_value_add(struct buf *out, const char *text);
/* Appends the path of an entry: /v1/files/run7%2Fa.dat */
void catalogue_path(struct buf *out, const char *name);
/* The body that tells of one replica of an entry; `place` says which. The caller unrefs it. */
struct tree *catalogue_addition(struct symbols *symbols, const struct file_entry *entry, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
