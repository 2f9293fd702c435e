/* languages.h: files of jobs in other languages than ads: HTCondor's submit language and JDL (docs/submit-languages.md).
 *
 * This file gives the languages what they ask of their surroundings: files, names that match, the environment, what this machine is. */
#ifndef BERTH_CLI_ASK_LANGUAGES_H
#define BERTH_CLI_ASK_LANGUAGES_H

#include "cli/term/options.h"
#include "lang/base/textmap.h"
#include "lang/form/submit.h"

option_read_fn option_language; /* enum submit_language */

/* Gives the ads of a file, one after another, as submit_read does; file names in it are relative to `folder`. Errors and remarks have been reported,
 * each with its place; -1 after an error, and when `each` gives -1. */
int language_read(struct symbols *symbols, enum submit_language language, const char *file, const struct buf *text,
                  const char *folder, submit_ad_fn *each, void *user);
/* The same with macros that stand before its first line (only HTCondor's language has any); and, for one of many jobs of a workflow, with the remarks
 * that have been made about the files so far, so that none is repeated for each job of a file. */
struct language_given {
    const struct submit_given *macros;
    uint32_t count;
    const struct submit_given *appended; /* what is set before each queue statement */
    uint32_t appended_count;
    bool is_node;
    bool
        runs; /* commands that the file names are run, as the user who typed the command: the file is submitted, not only looked at */
    struct textmap *remarked;
};
int language_read_given(struct symbols *symbols, enum submit_language language, const char *file,
                        const struct buf *text, const char *folder, const struct language_given *given,
                        submit_ad_fn *each, void *user);

/* Appends the names in a folder that match a pattern, a line each, in order; -1 with the reason. */
int language_match(const char *folder, const char *pattern, enum submit_match what, struct buf *ret, struct err *err);

#endif
