/* submit_parts.h: what the parts of the reader of submit files share. For submit*.c only.
 *
 *     submit.c         lines, conditions, assignments; queue statements in order
 *     submit_macros.c  $(name) and what else begins with a dollar
 *     submit_queue.c   the items of a queue statement
 *     submit_words.c   arguments and environments, old and new
 *     submit_keys.c    the keys, and the ad that they make
 *     submit_expr.c    expressions of HTCondor as ours
 *
 * A value is expanded to bytes in which a few control characters, which no file may hold, stand for what each job knows for itself:
 * its process, its step, its cluster; and where there are many items, its item, which it finds in a list. They become expressions over JobIndex and JobId where the ad may have such, so that 100,000 jobs
 * stay one ad; where it may not, the processes are expanded one after another. */
#ifndef BERTH_LANG_FORM_SUBMIT_PARTS_H
#define BERTH_LANG_FORM_SUBMIT_PARTS_H

#include "lang/base/textmap.h"
#include "lang/form/submit.h"
#include "lang/text/build.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MARK_PROCESS '\x01'
#define MARK_STEP '\x02'
#define MARK_CLUSTER '\x03'
#define MARK_VARIABLE '\x0e' /* the first variable of the queue statement; those behind it follow */
#define MARK_ROW '\x16'
#define MARKS "\x01\x02\x03\x0e\x0f\x10\x11\x12\x13\x14\x15\x16"
#define SUBMIT_FOLD_VARIABLES 8
#define SUBMIT_FOLD_BYTES 8192 /* of the items of one ad: every job carries them along */

struct submit_place {
    unsigned line, column;
};

struct submit_macro {
    char *name, *value; /* the name as it was first written */
    size_t len;
    struct submit_place at; /* of the value */
    bool plain;             /* it stands in one piece: an offset in it is an offset in its line */
    bool used;              /* another value, or a queue statement, has asked for it */
    bool spoken;            /* told that it means nothing */
};

/* A variable of a queue statement, with its value for the item at hand. */
struct submit_variable {
    char *name;
    const char *value;
    size_t len;
    bool is_key;               /* it is a key as well, which has its value meanwhile ... */
    struct submit_macro *kept; /* ... and this one otherwise; NULL: none */
};

#define SUBMIT_VARIABLES_MAX 64

struct submit_reader {
    const struct submit_world *world;
    struct symbols *symbols;
    submit_ad_fn *each;
    void *user;
    struct textmap names; /* of macros, in small letters: the place is that in `macros` */
    struct submit_macro *macros;
    uint32_t macro_room;
    struct textmap missing; /* names of macros that were asked for and are not there */
    uint64_t work;

    /* the queue statement at hand */
    struct submit_place queue;
    struct submit_variable variables[SUBMIT_VARIABLES_MAX];
    uint32_t variable_count;
    bool in_item;
    uint64_t item, step, count; /* `count`: jobs of each item */
    uint64_t base;              /* the process of the item's first job */
    bool literal;               /* process and step are numbers now */
    bool wants_literal;         /* something needs them as numbers */
    uint64_t processes, ads;    /* so far */
    bool stopped;               /* by `each` */
    struct {
        char **items;   /* NULL: an ad is of one item */
        uint64_t count; /* so many from `item` on are in one ad */
    } fold;
};

/* ---- submit.c */

/* A remark with a place. */
void submit_remark(const struct submit_reader *reader, struct submit_place at, const char *format, ...)
    ERR_FORMAT(3, 4);
int submit_fail(struct submit_place at, struct err *err, const char *format, ...) ERR_FORMAT(3, 4);
/* A new one without a value; NULL when there are too many, or the name is too long. */
struct submit_macro *submit_macro_add(struct submit_reader *reader, const char *name, size_t len);
void submit_macro_remove(struct submit_reader *reader, const char *name, size_t len);
struct submit_macro *submit_macro(const struct submit_reader *reader, const char *name, size_t len); /* or NULL */
bool submit_same(const char *text, size_t len, const char *word); /* whatever the case */
bool submit_blank(char c);
/* Without blanks around. */
void submit_trim(const char **text, size_t *len);
/* Control characters are refused everywhere but tabs and line ends. */
int submit_clean(const char *text, size_t len, struct submit_place at, bool places, struct err *err);

/* ---- submit_macros.c */

/* Appends the text with its macros expanded. */
int submit_expand(struct submit_reader *reader, const char *text, size_t len, struct submit_place at, struct buf *out,
                  struct err *err);
/* Is it known beforehand? */
static inline bool submit_is_fixed(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] && strchr(MARKS, text[i]))
            return false;
    return true;
}

/* ---- submit_queue.c */

/* Runs a queue statement, `rest` behind the word; `more` and `more_len` are the lines that follow, of which it takes `*ret_taken` bytes
 * when its items stand there. */
int submit_queue(struct submit_reader *reader, const char *rest, size_t len, struct submit_place at, const char *more,
                 size_t more_len, size_t *ret_taken, unsigned *ret_lines, struct err *err);

/* The values of an item, for its names. */
void submit_item_set(struct submit_reader *reader, const char *item);

/* ---- submit_words.c */

typedef int submit_word_fn(void *user, const char *word, size_t len, struct err *err);

/* The arguments of a value, old or new; NULs stand nowhere. */
int submit_arguments(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err);
/* The same for NAME=VALUE of an environment. */
int submit_environment(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err);
/* The elements of a list with commas between. */
int submit_names(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err);

/* ---- submit_expr.c */

enum submit_side {
    SUBMIT_SIDE_MACHINE, /* requirements, rank: a name that the job does not have is the machine's */
    SUBMIT_SIDE_JOB,     /* what the job says of itself */
};

/* Does the job have an attribute of that name, by itself or by `+name`? */
typedef bool submit_has_fn(void *user, const char *name, size_t len);

struct submit_expr {
    struct symbols *symbols;
    const struct dialect *dialect; /* in which it is written */
    bool is_glue;                  /* machines are described by the GLUE schema, not as HTCondor does */
    enum submit_side side;
    submit_has_fn *has;
    void *user;
    void (*unknown)(void *user, const char *name, const char *words); /* something that machines here do not say */
    void (*mentions)(void *user, const char *name); /* an attribute of the machine, as HTCondor calls it */
};

/* Appends an expression in the classic dialect that means what the text means there. */
int submit_expr(const struct submit_expr *how, const char *text, size_t len, struct submit_place at, bool plain,
                struct buf *out, struct err *err);

/* What a constraint says of a machine itself, so that it is not added. */
struct submit_mentions {
    bool arch, system, cpus, memory, disk, gpus;
};
void submit_mention(struct submit_mentions *mentions, const char *name);

/* Appends the constraint of a job: what its file says (or nothing), and of what that does not mention, that the machine is like this one and
 * has as much as is asked for. */
void submit_constraint_print(const struct submit_world *world, const struct submit_mentions *mentions,
                             const struct buf *expr, bool with_gpus, struct buf *out);

/* ---- submit_keys.c */

/* The ads of the item at hand. */
int submit_item(struct submit_reader *reader, struct err *err);
/* One ad for the items of reader->fold. 1: that cannot be, or not as they are. */
int submit_fold(struct submit_reader *reader);
/* What the file says and nobody has asked for. */
void submit_unused(struct submit_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
