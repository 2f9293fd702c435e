/* transfer.h: whole files, from and to where URLs say: file://, http(s)://, sftp://. By libcurl, each in a thread beside the loop.
 *
 *     transfer_start -> a thread: copied, summed up, put in its place -> done, in the loop
 *
 * A file is whole under its name or not there: it comes and goes under another name first, where the protocol has names (of HTTP the server
 * sees to that). A get goes on where one before was cut. Size and hash (hash.h) are checked where they are known.
 *
 * URLs come from strangers' ads. So nothing is contacted but public addresses and those of the networks; local paths lie beneath the folders
 * that the settings name; a host's key has to be known for sftp; a token is shown to the host that it is for, and to no other. */
#ifndef BERTH_LIVE_DATA_TRANSFER_H
#define BERTH_LIVE_DATA_TRANSFER_H

#include "lang/base/err.h"
#include "live/config/address.h"
#include "live/config/config.h"
#include "live/data/file_entry.h"
#include "sys/hash.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRANSFER_WORDS_MAX 256

struct uv_loop_s; /* uv_loop_t */

/* ---- who may be contacted, by what right, and how long is waited ---- */

struct transfer_rules;

/* Reads the rules from the settings StoreFolders, TransferKey, TransferKnownHosts, TransferUser, TransferTokens, TransferCa, TransferStall, TransferSpeed,
 * TransferFileMax. The networks (NULL: none but public addresses) are copied. NULL and `err` when a file of theirs cannot be read. */
struct transfer_rules *transfer_rules_new(const struct config *config, const struct networks *networks,
                                          struct err *err);
/* The same for URLs that strangers name: without any right of ours (no token, no key, no folder), of http and https alone, with a few redirects, each to
 * an address that may be contacted, and within an hour. */
struct transfer_rules *transfer_rules_bare(const struct config *config, const struct networks *networks,
                                           struct err *err);
struct transfer_rules *transfer_rules_ref(struct transfer_rules *rules);
void transfer_rules_unref(struct transfer_rules *rules); /* takes NULL */

/* Is a token shown to what listens there? */
bool transfer_shows_token(const struct transfer_rules *rules, const char *host, uint16_t port);

/* ---- one file ---- */

/* LOOK: nothing moves; size and hash of the local file are found out. ASK: nothing moves; is what the URL says there, of that size and, where the
 * other side tells its SHA-256, of that hash? DAMAGED: no, it is another file or none; AGAIN and REFUSED: that cannot be seen now. */
enum transfer_way { TRANSFER_GET, TRANSFER_PUT, TRANSFER_LOOK, TRANSFER_ASK };

/* What is to be moved; all of it is copied. */
struct transfer_order {
    enum transfer_way way;
    const char *url;   /* NULL of a look */
    const char *path;  /* of the local file: to be read, or to be made (as PATH.part first); "" of an ask */
    int64_t size;      /* -1: not known */
    const char *hash;  /* or NULL: not known */
    const char *entry; /* of an ask: the hash as catalogues have it */
    int64_t bytes_max; /* of a get; 0: what the settings allow */
};

enum transfer_end {
    TRANSFER_DONE,
    TRANSFER_AGAIN,     /* it may do later: no connection, cut, too slow, the server is in trouble */
    TRANSFER_REFUSED,   /* it will not do until somebody changes something: no right, no such file, no such host key */
    TRANSFER_DAMAGED,   /* what came, or what is there, is not that file */
    TRANSFER_CANCELLED, /* by transfer_cancel */
};

const char *transfer_end_word(enum transfer_end end); /* "refused" */

struct transfer_result {
    enum transfer_end end;
    int64_t size;                   /* when it is done */
    char hash[HASH_DIGITS + 1];     /* the same */
    char entry[FILE_HASH_LEN + 1];  /* of a put or a look: the hash as catalogues have it;
                                      of an ask: what the server says */
    bool absent;                    /* of an ask that is DAMAGED: there is no such file */
    char words[TRANSFER_WORDS_MAX]; /* for a person; "" when it is done */
};

struct transfer_run;
typedef void transfer_done_fn(void *user, const struct transfer_result *result);

/* Begins a transfer. `done` is called once, in the loop, and never before this returns. */
struct transfer_run *transfer_start(struct uv_loop_s *loop, struct transfer_rules *rules,
                                    const struct transfer_order *order, transfer_done_fn *done, void *user);
/* Cancels a transfer. It ends soon, and `done` is called as ever: the loop has to run until then. */
void transfer_cancel(struct transfer_run *run);
/* Bytes that have gone or come so far. */
int64_t transfer_moved(const struct transfer_run *run);

/* Makes a transfer and waits for its end. */
void transfer_now(struct transfer_rules *rules, const struct transfer_order *order, struct transfer_result *ret);

#ifdef __cplusplus
}
#endif
#endif
