/* questions.h: what providers ask the customer about the files of a job (agent_ask), and the answers.
 *
 *     manifest   which files does this try need?          store    bytes of a file that it leaves
 *     fetch      bytes of one of them                     report   it runs; a line of status; what it uses
 *                                                         finish   all is here; Transfers: so many files go to stores besides
 *                                                         stored   which of those are stored, and where (stored.h)
 *
 * Each names job, claim and number: a try. Only the agent to which the job was given is answered, and in a gang whoever has a pass (duty.h): the
 * leader, wherever in the gang it is, all; a helper manifest and fetch, for inputs alone. What is asked of a try that is no longer
 * the job's last is answered with "stale", but for checkpoints, which the next try waits for.
 *
 * Three outcomes: what there is not is "unknown"; what cannot be read or written now (descriptors, disk) is "wait" or "disk", and is asked
 * again. What a try may store is decided from the job's own ad, before a byte is taken (output_permits.h); else it is "name", with Words. */
#ifndef BERTH_LIVE_CUSTOMERD_QUESTIONS_H
#define BERTH_LIVE_CUSTOMERD_QUESTIONS_H

#include "live/customerd/job_ad.h"
#include "live/customerd/jobfiles.h"
#include "live/customerd/output_permits.h"
#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QUESTION_BYTES_MAX (512u << 10) /* of a file in one answer: so that it goes through a relay, sealed */
#define CHECKPOINT_WAIT INT64_C(60)     /* seconds that a try waits for the checkpoint of the one before */
#define QUESTION_PAUSE 2                /* seconds before it asks again */

enum question_news {
    NEWS_STAGING,  /* its files are on their way */
    NEWS_RUNNING,  /* its process runs */
    NEWS_MESSAGE,  /* a line of status, or what it uses */
    NEWS_FILE,     /* a file has grown */
    NEWS_WHOLE,    /* a file is whole: its name */
    NEWS_TROUBLE,  /* something could not be done with its files: words */
    NEWS_FINISHED, /* all is here */
    NEWS_STORED,   /* something of a file that goes to a store: words */
    NEWS_REFUSED,  /* it sent a file that the job does not leave: words */
};

#define QUESTION_PERMITS 16 /* tries whose permits are kept */
#define QUESTION_TOLD 100   /* lines about the files of a try, refused or in trouble: a provider cannot fill the log */

struct question_permits {
    struct permits *permits; /* NULL: none */
    struct tree *ad;         /* held: of that very ad */
    uint64_t job, claim, number, used;
};

struct questions {
    struct symbols *symbols;
    struct attempts *tries;
    struct jobfiles *files;
    struct spool *spool;
    struct shelf *shelf;
    /* How a job of the role stands; false: there is none. */
    bool (*job)(void *user, uint64_t id, struct job_view *ret);
    /* The jobs of a node in a job's workflow, as customer_node has it. NULL: there are no workflows. */
    bool (*node)(void *user, uint64_t job, const char *name, size_t len, uint64_t *ret_first, uint64_t *ret_count);
    /* Something was told of a try. Rows may be on the shelf: commit. */
    void (*news)(void *user, const struct job_view *view, const struct job_attempt *one, enum question_news news,
                 const char *words);
    void *user;
    struct question_permits permits[QUESTION_PERMITS]; /* of zeros at first */
    uint64_t clock;
};

void questions_done(struct questions *questions); /* what it has made itself */

/* The answer; the caller unrefs it. NULL: refused. */
struct tree *question_answer(struct questions *questions, const struct peer *peer, const struct tree *question);

#ifdef __cplusplus
}
#endif
#endif
