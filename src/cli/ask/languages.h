/* languages.h: files of jobs in other languages than ads: HTCondor's submit language and JDL (docs/submit-languages.md).
 *
 * What the languages ask of their surroundings is given here: files, names that match, the environment, what this machine is. */
#ifndef BERTH_CLI_ASK_LANGUAGES_H
#define BERTH_CLI_ASK_LANGUAGES_H

#include "cli/term/options.h"
#include "lang/base/textmap.h"
#include "lang/form/submit.h"

option_read_fn option_language; /* enum submit_language */

/* The ads of a file, one after another, as submit_read has them; names in it are looked up from `folder`. Errors and remarks have been
 * reported, each with its place; -1 after an error, and when `each` gives -1. */
int language_read(struct symbols *symbols, enum submit_language language, const char *file, const struct buf *text,
                  const char *folder, submit_ad_fn *each, void *user);
/* The same for one of many jobs of a workflow: macros that stand before its first line (only HTCondor's language has any), and remarks that
 * have been made of the files so far, so that none is repeated for each job of a file. */
struct language_given {
    const struct submit_given *macros;
    uint32_t count;
    struct textmap *remarked;
};
int language_read_given(struct symbols *symbols, enum submit_language language, const char *file,
                        const struct buf *text, const char *folder, const struct language_given *given,
                        submit_ad_fn *each, void *user);

#endif
