/* config.h: the settings of the daemons, and where each came from.
 *
 *     defaults < FILE < FILE.d/NAME.ad in the order of names < BERTH_KEY in the environment < flags          the later wins
 *
 * FILE is an ad of the classic dialect, `[ Listen = "0.0.0.0:7600"; Pin = 30; Lease = 2 * Pin ]`; its expressions are evaluated, at the
 * time 0, and may read each other. In the environment and in flags a value is an expression as well; where it is none, or one of
 * another sort, it is taken as the text it is: BERTH_NAME=harbour, BERTH_LISTEN=127.0.0.1:7600,unix:/run/berth, BERTH_BODY_MAX=2MiB.
 * A span may be a number of seconds, a relative time, or a text such as "200 ms" or "2 h"; a size a number of bytes or a text such as
 * "64 MiB". A list of one may be written as that one.
 *
 * The keys are the rows of config_keys.h: CONFIG_LISTEN, CONFIG_STATE, ... A key that does not exist is refused, and so is a value of
 * another sort or out of bounds, or one that does not go with another; the error says where, and what was expected. Loading reads files and nothing else. */
#ifndef BERTH_LIVE_CONFIG_CONFIG_H
#define BERTH_LIVE_CONFIG_CONFIG_H

#include "lang/base/arena.h"
#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "live/config/config_keys.h"
#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONFIG_FILE_MAX (1u << 20) /* bytes of a file */
#define CONFIG_FILES_MAX 1000      /* in FILE.d */

enum config_key {
#define X(id, ...) CONFIG_##id,
    CONFIG_KEYS(X, X)
#undef X
        CONFIG_KEY_COUNT
};

enum config_sort {
    CONFIG_IS_TEXT,
    CONFIG_IS_LIST,
    CONFIG_IS_SPAN,
    CONFIG_IS_SIZE,
    CONFIG_IS_COUNT,
    CONFIG_IS_FLAG,
    CONFIG_IS_ADS
};

/* A row of the table. */
struct config_row {
    const char *name; /* CycleInterval */
    enum config_sort sort;
    const char *form, *fallback, *help; /* fallback: the default, as in a file; NULL: see `span` */
    int64_t low, high;
    bool restart;  /* it cannot change while running */
    bool has_span; /* its default, and where it goes, is the field of struct spans ... */
    size_t span;   /* ... at this offset */
};

const struct config_row *config_row(enum config_key key);

/* The key of that name, whatever its case; else -1. */
int config_find(const char *name, size_t len);

/* Appends the key's name as a variable, BERTH_CYCLE_INTERVAL, and as a flag, --cycle-interval. */
void config_variable_name(struct buf *out, enum config_key key);

/* A value, with those it overrode behind it. */
struct config_value {
    int64_t number;           /* SPAN: microseconds; SIZE, COUNT; FLAG: 0 or 1 */
    const char *text;         /* TEXT: never NULL, no NUL inside; "" when not set. ADS: the expression, in one line */
    const char *const *items; /* LIST */
    size_t count;             /* LIST */
    const char *from;         /* "default", "FILE:LINE", "BERTH_LISTEN", "--listen" */
    const struct config_value *over;
};

struct config {
    struct config_value values[CONFIG_KEY_COUNT];
    const char *file; /* that was read, or would have been; NULL: none was found */
    /* What is odd and stopped nothing, for a person to read: a line each, the last without its end; "": nothing is. */
    const char *doubts;
    struct arena arena; /* in which the values lie */
};

/* What was given on the command line: --listen X is {"--listen", "Listen", X}; --set Pin=3 is {"--set Pin", "Pin", "3"}. */
struct config_given {
    const char *flag; /* as a person would know it again */
    const char *key;
    const char *value;
};

struct config_sources {
    const char *file;                 /* of --config, which must be there; NULL: $BERTH_CONFIG, else the usual places */
    const char *const *variables;     /* the environment: "NAME=VALUE", ends with NULL; NULL: empty */
    const struct config_given *given; /* a later one wins */
    size_t given_count;
    bool root;       /* the superuser: its state is in /var/lib/berth */
    const char *etc; /* the folder of the last of the usual places; NULL: /etc/berth */
};

/* Loads the settings. An error's text begins with the place ("FILE:3:5: ", "BERTH_PIN: "). A variable BERTH_X that is not a setting is only a doubt.
 * config_done frees what a load made; it takes a zeroed configuration as well. */
int config_load(struct config *ret, const struct config_sources *sources, struct err *err);
void config_done(struct config *config);

/* The value of a key, which must be of that sort, or the program aborts. Texts and lists are lent. */
const char *config_text(const struct config *config, enum config_key key);
const char *const *config_list(const struct config *config, enum config_key key, size_t *ret_count);
int64_t config_span(const struct config *config, enum config_key key); /* microseconds */
uint64_t config_size(const struct config *config, enum config_key key);
uint64_t config_count(const struct config *config, enum config_key key);
bool config_flag(const struct config *config, enum config_key key);
const char *config_ads(const struct config *config, enum config_key key); /* the text of the list */
int config_word(const struct config *config, enum config_key key); /* which of the words in its form: 0, 1, ... */

struct spans config_spans(const struct config *config);

/* Does the address ("127.0.0.1:7600", "[::1]:0", "unix:/path", "localhost:80") lie on this machine alone? */
bool config_address_is_local(const char *address);

bool config_differs(const struct config *a, const struct config *b, enum config_key key);

struct config_change {
    bool taken[CONFIG_KEY_COUNT]; /* changed now */
    bool waits[CONFIG_KEY_COUNT]; /* changed, but only a restart takes it on: the running value stays */
};

/* Loads anew into a running configuration; what getters lent before goes with the old values. -1 and the reason when that cannot be:
 * nothing has changed then. */
int config_reload(struct config *config, const struct config_sources *sources, struct config_change *ret,
                  struct err *err);

/* Appends a value as it would be written in a file, or as JSON, with spans in seconds. */
void config_print(struct buf *out, enum config_key key, const struct config_value *value);
void config_print_json(struct buf *out, enum config_key key, const struct config_value *value);

/* Appends a line for each key: name, value, where it came from, and what it overrode:
 *
 *     Lease = 60 (/etc/berth/berth.ad:3; over 30, default) */
void config_trace(struct buf *out, const struct config *config);

#ifdef __cplusplus
}
#endif
#endif
