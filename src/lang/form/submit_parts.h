/* submit_parts.h: shared by the parts of the reader of submit files. For submit*.c only.
 *
 *     submit.c         lines, assignments, other files; queue statements in order (submit_conditions.c: if, else)
 *     submit_macros.c  $(name) and everything else that begins with a dollar (submit_functions.c: $INT() and its likes)
 *     submit_queue.c   the items of a queue statement
 *     submit_words.c   arguments and environments, old and new
 *     submit_keys.c    the ad that the keys make (submit_job.h)
 *     submit_expr.c    translates expressions of HTCondor
 *
 * In an expanded value a few control characters, which no file may hold, stand for values that differ from job to job: its process, its step, its
 * cluster; and where there are many items, its item, which it finds in a list. Where the ad may have expressions, the marks become expressions over
 * JobIndex and JobId, so that 100,000 jobs stay one ad; elsewhere the processes are expanded one after another. */
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
#define MARK_RETRY '\x04'
#define MARK_FOUND '\x05'    /* $$(...), of the machine that is found; the next byte says which of the reader's */
#define MARK_NODE '\x06'     /* the process of a parallel job */
#define MARK_VARIABLE '\x0e' /* the first variable of the queue statement; the marks of the others follow */
#define MARK_ROW '\x16'
#define MARKS "\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11\x12\x13\x14\x15\x16"
#define SUBMIT_FOLD_VARIABLES 8
#define SUBMIT_FOUND_MAX 26    /* different $$(...) of one file */
#define SUBMIT_FOLD_BYTES 8192 /* of the items of one ad: every job carries all of them */

struct submit_place {
    unsigned line, column;
};

struct submit_macro {
    char *name, *value; /* the name as it was first written */
    size_t len;
    struct submit_place at; /* of the value */
    bool plain;             /* the value stands in one piece: an offset in it is an offset in its line */
    bool used;              /* another value, or a queue statement, uses it */
    bool spoken;            /* remarks about it have been made already */
};

/* A variable of a queue statement, with its value for the current item. */
struct submit_variable {
    char *name;
    const char *value;
    size_t len;
    bool is_key;               /* it is also a key: the key has the item's value for now ... */
    struct submit_macro *kept; /* ... and this one afterwards; NULL: none */
};

#define SUBMIT_VARIABLES_MAX 64
#define SUBMIT_KEYS_MAX 256
#define SUBMIT_INCLUDE_MAX 8

struct submit_reader {
    const struct submit_world *world;
    struct symbols *symbols;
    submit_ad_fn *each;
    void *user;
    struct textmap names; /* of macros, in small letters; a name's place is its place in `macros` */
    struct submit_macro *macros;
    uint32_t macro_room;
    struct textmap missing; /* names of macros that are used but not defined */
    struct textmap found;   /* what stands in $$(...); the byte behind its mark is 'A' and its place */
    uint64_t work;

    /* the current queue statement */
    struct submit_place queue;
    struct submit_variable variables[SUBMIT_VARIABLES_MAX];
    uint32_t variable_count;
    bool in_item;
    uint64_t item, step, count; /* `count`: jobs of each item */
    uint64_t base;              /* the process of the item's first job */
    bool literal;               /* process and step are numbers for now */
    bool wants_literal;         /* some value needs them as numbers */
    uint64_t processes, ads;    /* made so far */
    bool stopped;               /* `each` has ended the reading */
    uint32_t key_places
        [SUBMIT_KEYS_MAX]; /* of each row of submit_rows.c, the place of the macro that gives it its value; or TEXTMAP_NONE */
    unsigned included; /* files within one another */
    struct {
        char **items;   /* NULL: an ad holds one item */
        uint64_t count; /* so many items, from `item` on, are in one ad */
    } fold;
};

static inline uint32_t submit_cells_max(const struct submit_world *world)
{
    return world->cells_max ? world->cells_max : SUBMIT_CELLS_MAX;
}

static inline uint64_t submit_work_max(const struct submit_reader *reader)
{
    return reader->world->work_max ? reader->world->work_max : SUBMIT_WORK_MAX;
}

/* ---- submit.c */

/* Makes a remark with a place. */
void submit_remark(const struct submit_reader *reader, struct submit_place at, const char *format, ...)
    ERR_FORMAT(3, 4);
int submit_fail(struct submit_place at, struct err *err, const char *format, ...) ERR_FORMAT(3, 4);
/* Adds a macro without a value; NULL when there are too many, or the name is too long. */
struct submit_macro *submit_macro_add(struct submit_reader *reader, const char *name, size_t len);
void submit_macro_remove(struct submit_reader *reader, const char *name, size_t len);
struct submit_macro *submit_macro(const struct submit_reader *reader, const char *name, size_t len); /* or NULL */
bool submit_same(const char *text, size_t len, const char *word); /* whatever the case */
bool submit_blank(char c);
/* Takes off the blanks around a text. */
void submit_trim(const char **text, size_t *len);
/* Refuses control characters other than white space. */
int submit_clean(const char *text, size_t len, struct submit_place at, bool places, struct err *err);

bool submit_is_name(char c); /* may it be in a name? */

/* ---- submit_conditions.c */

#define SUBMIT_CONDITIONS_MAX 64

struct submit_conditions {
    struct {
        bool now;  /* the lines of this branch count */
        bool been; /* one of the branches so far has counted */
        bool last; /* there was an `else` */
        struct submit_place at;
    } open[SUBMIT_CONDITIONS_MAX];
    unsigned count;
};

/* Do the lines count for now? */
bool submit_conditions_hold(const struct submit_conditions *conditions);
/* 1 when the line was if, elif, else or endif; -1 and the error. */
int submit_condition_line(struct submit_reader *reader, struct submit_conditions *conditions, const char *text,
                          size_t len, struct submit_place at, struct err *err);

/* ---- submit_macros.c */

/* Appends the text with its macros expanded. */
int submit_expand(struct submit_reader *reader, const char *text, size_t len, struct submit_place at, struct buf *out,
                  struct err *err);
/* Is the text known before submission? Then it has no marks. */
static inline bool submit_is_fixed(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] && strchr(MARKS, text[i]))
            return false;
    return true;
}

/* ---- submit_queue.c */

/* Runs a queue statement; `rest` is the text behind the word. `more` and `more_len` are the lines that follow: it takes `*ret_taken`
 * bytes of them when its items stand there. */
int submit_queue(struct submit_reader *reader, const char *rest, size_t len, struct submit_place at, const char *more,
                 size_t more_len, size_t *ret_taken, unsigned *ret_lines, struct err *err);

/* Gives the variables the values of an item. */
void submit_item_set(struct submit_reader *reader, const char *item);

/* ---- submit_words.c */

typedef int submit_word_fn(void *user, const char *word, size_t len, struct err *err);

/* Calls `each` for the arguments in a value, in the old or the new syntax. There are no NULs. */
int submit_arguments(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err);
/* The same in the new syntax alone. */
int submit_words_new(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err);
#define SUBMIT_ENVIRONMENT_MAX (64 * 1024) /* bytes of an environment that is carried over as a whole */

/* The same for NAME=VALUE of an environment. */
int submit_environment(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err);
/* Calls `each` for the elements of a list with commas between. */
int submit_names(const char *text, size_t len, submit_word_fn *each, void *user, struct err *err);

/* ---- submit_expr.c */

enum submit_side {
    SUBMIT_SIDE_MACHINE, /* requirements, rank: a name that the job does not have is the machine's */
    SUBMIT_SIDE_JOB,     /* a value of the job itself */
    SUBMIT_SIDE_GPU,     /* require_gpus: a name that the job does not have is the GPU's */
};

/* Does the job have an attribute of that name, by itself or by `+name`? */
typedef bool submit_has_fn(void *user, const char *name, size_t len);

struct submit_expr {
    struct symbols *symbols;
    const struct dialect *dialect; /* in which the expression is written */
    bool is_glue;                  /* machines are described by the GLUE schema, not as HTCondor does */
    enum submit_side side;
    bool at_end;    /* what is known of a try that has ended is known: ExitCode, NumJobStarts ... */
    bool has_image; /* the job brings an image, or names one */
    bool later;     /* what a customer knows of the job while it lives is known: JobStatus, EnteredCurrentStatus ... */
    submit_has_fn *has;
    void *user;
    void (*unknown)(void *user, const char *name, const char *words); /* called for a name that no machine here has */
    void (*mentions)(void *user, const char *name); /* called for an attribute of the machine, by HTCondor's name */
};

/* Appends an expression in the classic dialect that means the same as the text. */
int submit_expr(const struct submit_expr *how, const char *text, size_t len, struct submit_place at, bool plain,
                struct buf *out, struct err *err);

/* Attributes of machines that a constraint mentions itself, so that no clause is added for them. */
struct submit_mentions {
    bool arch, system, cpus, memory, disk, gpus;
};
void submit_mention(struct submit_mentions *mentions, const char *name);

/* Appends the constraint of a job: the expression of its file (or nothing). For attributes that this does not mention, it adds that the machine is
 * like this one and has as much as the job asks for. */
void submit_constraint_print(const struct submit_world *world, const struct submit_mentions *mentions,
                             const struct buf *expr, bool with_gpus, struct buf *out);

/* ---- submit_keys.c */

/* Finds the macros that give the keys their values; they hold for the items that follow. */
void submit_keys_look(struct submit_reader *reader);
/* Makes the ads of the current item. */
int submit_item(struct submit_reader *reader, struct err *err);
/* Makes one ad for the items of reader->fold. 1: that is not possible, or not with these items. */
int submit_fold(struct submit_reader *reader);
/* Remarks on the names that the file sets and nothing uses. */
void submit_unused(struct submit_reader *reader);

/* ---- submit_values.c ---- */
#define SUBMIT_NODES_MAX 64                                  /* processes of a parallel job */
bool submit_is_parallel(const struct submit_reader *reader); /* by its universe */
uint32_t submit_nodes(const struct submit_reader *reader);   /* how many processes it asks for */

#ifdef __cplusplus
}
#endif
#endif
