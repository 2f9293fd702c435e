/* transfer_parts.h: what the files of transfers share; not installed.
 *
 *     transfer.c        threads, and the steps of one file
 *     transfer_rules.c  the settings
 *     transfer_local.c  file://
 *     transfer_curl.c   http://, https://, sftp:// */
#ifndef BERTH_LIVE_DATA_TRANSFER_PARTS_H
#define BERTH_LIVE_DATA_TRANSFER_PARTS_H

#include "live/data/transfer.h"
#include "sys/hash_parts.h"

#include <stdatomic.h>
#include <sys/types.h>

#define TRANSFER_PATH_MAX 4096
#define TRANSFER_TEMPORARY ".berth-" /* begins the name of a file that is not whole yet */

struct transfer_token {
    char *host; /* HOST, or HOST:PORT */
    char *text;
};

struct transfer_rules {
    uint32_t refs;
    struct networks networks;
    char **folders; /* of stores on this machine */
    size_t folder_count;
    char *key, *known_hosts, *user, *ca; /* or NULL */
    struct transfer_token *tokens;
    size_t token_count;
    int64_t stall; /* seconds of silence */
    int64_t speed; /* bytes a second; 0: any */
    int64_t bytes_max;
    long redirects;  /* that are followed; 0: none */
    long span;       /* seconds in all; 0: as long as it moves */
    bool reads_back; /* what was put by HTTP, where the server does not say what it has */
};

/* One file on its way: what a thread works on. Only `cancelled` and `moved` are looked at by others meanwhile. */
struct carriage {
    const struct transfer_rules *rules;
    enum transfer_way way;
    char *url, *path;
    int64_t size, bytes_max;
    char expected[HASH_DIGITS + 1]; /* "": not known */
    atomic_bool cancelled;
    _Atomic int64_t moved;
    struct transfer_result result;
    struct hashing hash;            /* of what goes */
    int fd;                         /* of the local file; -1 */
    char wanted[FILE_HASH_LEN + 1]; /* of an ask: the hash as catalogues have it */
    char said[FILE_HASH_LEN +
              1]; /* of a put or an ask: what the server says that it has, as catalogues have it; "": nothing */
};

/* Notes what became of the transfer; returns false, for use in `return`. */
bool carriage_ends(struct carriage *carriage, enum transfer_end end, const char *format, ...) ERR_FORMAT(3, 4);

/* The token for a host; NULL: there is none. */
const char *transfer_token_for(const struct transfer_rules *rules, const char *host, uint16_t port);
/* Is there no token for that port, but one for the host's own ports? Somebody may have meant that one. */
bool transfer_token_lacks_port(const struct transfer_rules *rules, const char *host, uint16_t port);

/* Makes the name of a file that is not whole yet, for that URL. */
void transfer_temporary(const char *url, char *ret, size_t size);

/* Move the bytes themselves; false, and the result tells why. A put reads `fd`, a get writes it, from `from` on. */
bool local_put(struct carriage *carriage);
bool local_get(struct carriage *carriage);
bool curl_put(struct carriage *carriage);
/* `*ret_anew`: the transfer cannot go on where it was, and everything is to come again. */
bool curl_get(struct carriage *carriage, int64_t from, bool *ret_anew);
/* Is the file there that is asked for? */
bool local_ask(struct carriage *carriage);
bool curl_ask(struct carriage *carriage);
/* Ends an ask by that nothing is there; returns false. */
bool ask_absent(struct carriage *carriage, const char *who);
/* Ends an ask by the size that was found (-1: it is not told) and what the other side says of its hash. */
bool ask_check(struct carriage *carriage, int64_t size);
/* Has the server the bytes that were put there by HTTP, whose hash is in the result? By what it says, or else by reading them back. */
bool curl_put_verify(struct carriage *carriage);

#endif
