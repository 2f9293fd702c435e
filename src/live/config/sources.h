/* sources.h: what a pool has configured for its agents, asked of an ordered list of files and URLs.
 *
 *     ask Agent/Modules   ->  /etc/berth/site.ad   has no such thing
 *                         ->  https://mm1/v1/config/Agent/Modules   does not answer
 *                         ->  https://mm2/v1/config/Agent/Modules   200: that is the answer; it is kept on disk with its ETag
 *     nobody answers      ->  what was kept
 *
 * What is configured is an ad of sections, each an ad of options: [ Agent = [ Modules = { "job", "file" } ] ]. Answers are text in the
 * classic dialect: of an option its value, of a section an ad. A file is read here; a URL is fetched by the caller, now or later,
 * between sources_next and sources_reply. A source that says it has no such thing is passed over as one that says nothing, but when all
 * that could be asked have said so, what was kept is not used: it has been taken away. Answers of files are not kept: they are on disk already. */
#ifndef BERTH_LIVE_CONFIG_SOURCES_H
#define BERTH_LIVE_CONFIG_SOURCES_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOURCES_NAME_MAX 64           /* bytes of a section's or option's name: letters, digits, `_`; no digit first */
#define SOURCES_ANSWER_MAX (1u << 20) /* bytes of an answer */
#define SOURCES_ETAG_MAX 256

/* An answer, in memory of its own; the caller initialises it. */
struct sources_answer {
    struct buf text;
    struct buf etag;   /* empty: none */
    struct buf source; /* the file or URL it came from */
    bool kept;         /* no source answered: it is what was kept */
};

void sources_answer_init(struct sources_answer *answer);
void sources_answer_done(struct sources_answer *answer);

/* A question on its way. */
struct sources_ask {
    const char *const *places; /* lent, with all other texts, until the end */
    size_t count, next;
    const char *section, *option; /* option may be NULL */
    const char *folder;           /* where answers are kept; NULL: nowhere */
    struct sources_answer kept;   /* what was */
    bool has_kept, silent;        /* silent: some source could not be asked */
    struct buf url;
};

/* Begins a question; -1 when section or option is not a name. */
int sources_ask_init(struct sources_ask *ask, const char *const *places, size_t count, const char *section,
                     const char *option, const char *folder, struct err *err);
void sources_ask_done(struct sources_ask *ask);

enum sources_step {
    SOURCES_FETCH, /* GET *ret_url, If-None-Match: *ret_etag unless NULL; then sources_reply */
    SOURCES_FOUND, /* *ret_answer is filled */
    SOURCES_NONE,  /* there is no such section or option */
    SOURCES_LOST,  /* no source answered and nothing was kept */
};

/* Goes on to the next source. FETCH lends the texts until sources_reply; all others are the end. */
enum sources_step sources_next(struct sources_ask *ask, const char **ret_url, const char **ret_etag,
                               struct sources_answer *ret_answer);

/* Takes what the URL answered; status 0: it did not. 200 and 304 are answers: SOURCES_FOUND and *ret_answer, which is written to the folder too
 * (*ret_unkept says if that failed; may be NULL). Otherwise it goes on as sources_next does. */
enum sources_step sources_reply(struct sources_ask *ask, unsigned status, const char *body, size_t len,
                                const char *etag, const char **ret_url, const char **ret_etag,
                                struct sources_answer *ret_answer, struct err *ret_unkept);

/* Asks all sources at once, where waiting does no harm. `fetch` returns the status, 0 for no answer, and fills body and etag. */
typedef unsigned sources_fetch_fn(void *user, const char *url, const char *etag, struct buf *body,
                                  struct buf *ret_etag);
enum sources_step sources_get(const char *const *places, size_t count, const char *section, const char *option,
                              const char *folder, sources_fetch_fn *fetch, void *user,
                              struct sources_answer *ret_answer, struct err *err);

/* Appends the section, or the value of its option, from a text that is an ad; with both NULL, the whole ad. 1: appended; 0: there is no such thing;
 * -1: the text is not such an ad. For files, and for those who serve. */
int sources_pick(struct buf *out, const char *text, size_t len, const char *section, const char *option,
                 struct err *err);

/* Writes and reads an answer on disk: FOLDER/SECTION.ad or FOLDER/SECTION.OPTION.ad, written whole or not at all. Reading gives 1, 0 when there is
 * none, -1. */
int sources_cache_write(const char *folder, const char *section, const char *option,
                        const struct sources_answer *answer, struct err *err);
int sources_cache_read(const char *folder, const char *section, const char *option, struct sources_answer *ret,
                       struct err *err);

#ifdef __cplusplus
}
#endif
#endif
