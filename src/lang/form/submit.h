/* submit.h: files in HTCondor's submit language become ads of jobs, as docs/submit-languages.md says.
 *
 *     executable = fit                      ->   [ Cmd = "./fit"; Args = { strcat("in.", JobIndex) };
 *     arguments  = in.$(Process)                   RequestMemory = 2147483648; Constraint = ...; Count = 20 ]
 *     request_memory = 2G
 *     queue 20
 *
 * No input or output here: what the file needs from its surroundings (the lines of another file, names that match a pattern, a variable of the
 * environment) comes from the caller. A statement that cannot be carried over is reported by name and place: as a remark where the job works without
 * it, as an error where the job would be a different one. Time and memory are bounded by the limits below. */
#ifndef BERTH_LANG_FORM_SUBMIT_H
#define BERTH_LANG_FORM_SUBMIT_H

#include "lang/form/form.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SUBMIT_BYTES_MAX (16u << 20) /* of a file, and of a file that it names */
#define SUBMIT_VALUE_MAX (1u << 20)  /* of a value, macros expanded */
#define SUBMIT_DEPTH_MAX 32          /* macros within macros */
#define SUBMIT_MACROS_MAX 10000
#define SUBMIT_ITEMS_MAX 100000
#define SUBMIT_ADS_MAX 100000
#define SUBMIT_CELLS_MAX (1u << 20) /* of an ad */
#define SUBMIT_FOLD_FROM 64 /* from so many items on, items share ads where they can, each ad with a list of them */
#define SUBMIT_WORK_MAX (256u << 20) /* bytes and macros expanded for one file, all together */

enum submit_match { SUBMIT_MATCH_ANY, SUBMIT_MATCH_FILES, SUBMIT_MATCH_FOLDERS };

/* The surroundings in which a file is read. Each function may be NULL: then a file that needs it is an error. */
struct submit_world {
    void *user;
    /* Appends the text of a file; -1 with the reason. */
    int (*file)(void *user, const char *name, struct buf *ret, struct err *err);
    /* Appends the names that match, a line each, in order. */
    int (*match)(void *user, const char *pattern, enum submit_match what, struct buf *ret, struct err *err);
    const char *(*variable)(void *user, const char *name); /* or NULL */
    const char *const *variables;                          /* all of them, NAME=VALUE, to a NULL; or NULL */
    /* Runs a command of the user's and appends what it prints; -1 with the reason. NULL: a file that wants that is refused, since nothing may be run
     * where a file is only looked at. */
    int (*command)(void *user, const char *command, struct buf *ret, struct err *err);
    uint64_t (*random)(void *user);
    const char *file_name; /* of the submit file */
    struct submit_date {
        int year, month, day; /* of submission, as its people count; 0: not known */
    } date;
    void (*remark)(void *user, const struct err *remark); /* called when something is not carried over */
    const char *folder;                                   /* the folder of submission: a path from the root */
    const char *arch, *system;                            /* what machines must be, unless the file says otherwise */
    int64_t now;                                          /* seconds since 1970; 0: not known */
    int64_t (*offset)(void *user, int64_t moment); /* so many seconds local time is ahead of UTC then; NULL: none */
    uint32_t fold_from;                            /* so many items share ads; 0: SUBMIT_FOLD_FROM */
    uint32_t ads_max;                              /* 0: SUBMIT_ADS_MAX */
    uint64_t work_max;                             /* 0: SUBMIT_WORK_MAX */
    uint32_t cells_max;                            /* of an ad; 0: SUBMIT_CELLS_MAX */
    /* Macros that are set before the first line, as for a node of a workflow. */
    const struct submit_given {
        const char *name, *value;
    } * given;
    uint32_t given_count;
    /* Macros that are set before each queue statement, whatever the file has set. */
    const struct submit_given *appended;
    uint32_t appended_count;
};

/* Gets an ad (lent) that the queue statement at that line makes; -1 ends the reading without a message. */
typedef int submit_ad_fn(void *user, struct tree *ad, unsigned line);

/* `symbols` come from names_new. Ads come in the order of processes, in the classic dialect. -1 with the error and its
 * place, even when ads have been given before. */
int submit_read(struct symbols *symbols, const struct submit_world *world, const char *text, size_t len,
                submit_ad_fn *each, void *user, struct err *err);

/* The same for a file in JDL, the language of the European grids: jdl.c. */
int jdl_read(struct symbols *symbols, const struct submit_world *world, const char *text, size_t len,
             submit_ad_fn *each, void *user, struct err *err);

/* Appends the table of the submit commands with what becomes of each, as docs/from-htcondor.md has it. */
void submit_commands_print(struct buf *out);

enum submit_language { SUBMIT_UNKNOWN, SUBMIT_AD, SUBMIT_SUBMIT, SUBMIT_JDL };

enum submit_language submit_language_find(const char *name); /* "ad", "submit", "jdl" */

/* Recognises the language of a file by the ending of its name (or NULL), otherwise by its lines. SUBMIT_AD where it could be anything. */
enum submit_language submit_recognise(const char *name, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
