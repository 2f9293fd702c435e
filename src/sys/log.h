/* log.h: what happens, a line an event, to a file descriptor.
 *
 *     time=2026-11-15T10:00:00.123Z level=info event=ad.put request=ab12 subject=alice status=200 us=123
 *     {"time":"2026-11-15T10:00:00.123Z","level":"info","event":"ad.put","request":"ab12","subject":"alice","status":200,"us":123}
 *
 *     LOG(log, LEVEL_INFO, "ad.put", log_text("subject", who), log_number("status", 200));
 *
 * Whatever a stranger puts into a value stays inside it: quotes, backslashes, control characters and those that change the direction
 * of writing are escaped, and NULs and bytes that are not UTF-8 become U+FFFD. A line has at most LOG_LINE_MAX bytes: a text that is longer than
 * LOG_VALUE_MAX, or than what is left, ends in `...`, fields that find no room are left out, and `cut=true` says so.
 *
 * Writing never waits, and what cannot be written is dropped and counted; when writing works again a line `event=log.dropped lines=N`
 * comes first. SIGPIPE is to be ignored by the program. Nothing is allocated.
 *
 * Lines for the audit are events whose names begin with `audit.`; they are written at any level. Callers pass names, never secrets. */
#ifndef BERTH_SYS_LOG_H
#define BERTH_SYS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LOG_LINE_MAX 4096  /* with its newline */
#define LOG_VALUE_MAX 1024 /* bytes of a text, before escaping */

/* Levels and forms stand in the order of the words of the settings LogLevel and Log. */
enum level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_INFO, LEVEL_DEBUG, LEVEL_COUNT };
enum log_form { LOG_LOGFMT, LOG_JSON };

typedef int64_t log_clock_fn(void *user); /* microseconds since 1970 */

struct log {
    int fd; /* not owned; -1: nothing is written */
    bool is_socket;
    enum log_form form;
    enum level level; /* this and the graver ones; may be changed at any time, and so may the form */
    log_clock_fn *clock;
    void *clock_user;
    uint64_t lines;   /* written */
    uint64_t dropped; /* in all; for metrics */
    uint64_t untold;  /* dropped, and not yet said */
    size_t rest_len;  /* of a line of which a part was written: */
    char rest[LOG_LINE_MAX];
};

/* `clock` may be NULL: then the log uses the machine's clock. */
void log_init(struct log *log, int fd, enum log_form form, enum level level, log_clock_fn *clock, void *clock_user);

enum log_sort { LOG_IS_TEXT, LOG_IS_NUMBER, LOG_IS_WORD, LOG_IS_FLAG };

struct log_field {
    const char *name; /* a literal: letters, digits, `_` and `.` */
    enum log_sort sort;
    const char *text;
    size_t len;
    int64_t number;
};

/* A field whose text is NULL is left out, name and all. */
static inline struct log_field log_bytes(const char *name, const char *text, size_t len)
{
    struct log_field field = {name, LOG_IS_TEXT, text, len, 0};
    return field;
}

static inline struct log_field log_text(const char *name, const char *text)
{
    return log_bytes(name, text, text ? strlen(text) : 0);
}

static inline struct log_field log_number(const char *name, int64_t number)
{
    struct log_field field = {name, LOG_IS_NUMBER, NULL, 0, number};
    return field;
}

/* A field of 16 hexadecimal digits, for claims, agents and epochs. */
static inline struct log_field log_word(const char *name, uint64_t word)
{
    struct log_field field = {name, LOG_IS_WORD, NULL, 0, (int64_t)word};
    return field;
}

static inline struct log_field log_flag(const char *name, bool flag)
{
    struct log_field field = {name, LOG_IS_FLAG, NULL, 0, flag};
    return field;
}

/* Would a line of that level be written? */
static inline bool log_wants(const struct log *log, enum level level)
{
    return log && log->fd >= 0 && level <= log->level;
}

/* Writes a line. `event` is a literal: ad.put, claim.lost, audit.token. A NULL log writes nothing. */
void log_event(struct log *log, enum level level, const char *event, const struct log_field *fields, size_t count);

/* LOG takes at least one field; fields are not evaluated when the line is not wanted. For audit lines call LOG_AUDIT. */
#define LOG(log, level, event, ...)                                                                \
    do {                                                                                           \
        if (log_wants(log, level))                                                                 \
            log_event(log, level, event, (const struct log_field[]){__VA_ARGS__},                  \
                      sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field)); \
    } while (0)

/* LOG_AUDIT(log, "claim", ...) writes event=audit.claim. */
#define LOG_AUDIT(log, event, ...)                                                      \
    log_event(log, LEVEL_INFO, "audit." event, (const struct log_field[]){__VA_ARGS__}, \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

/* Tries again to write what waits. Call this behind a line that a reader must see soon. */
void log_flush(struct log *log);

/* The line itself, with its newline, into `out`; returns its length. For tests, and for those who print lines elsewhere. */
size_t log_line(char out[LOG_LINE_MAX], enum log_form form, int64_t time, enum level level, const char *event,
                const struct log_field *fields, size_t count);

#ifdef __cplusplus
}
#endif
#endif
