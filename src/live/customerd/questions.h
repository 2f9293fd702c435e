/* questions.h: what providers ask the customer about the files of a job (agent_ask), and the answers.
 *
 *     manifest   which files does this try need?          store    bytes of a file that the try leaves
 *     fetch      bytes of one of those files              report   the job runs; a line of status; its usage
 *     secrets    those of the job, sealed                 finish   all files are sent; Transfers: how many others go to stores
 *                                                         stored   which of those are stored, and where (stored.h)
 *
 *     ahead      which files does the job read that this claim is to have next? Then fetch, with Ahead, is of its inputs
 *     beside     a command beside another process of the job, where its ad lets them do that
 *
 * Each question names job, claim and number: a try. Only the agent that has the job is answered, and in a gang each member that has a pass
 * (duty.h): the leader, wherever in the gang it is, may ask everything; a helper manifest, fetch and secrets: what it needs to begin; and one with a
 * number (attempt_members.h) store and finish, of what it has written. The leader's finish waits for theirs. A question about a try that is no longer the job's last is answered with "stale", except for checkpoints, which the next try waits for.
 *
 * Other answers: a file that does not exist is "unknown"; one that cannot be read or written now (descriptors, disk) is "wait" or "disk",
 * and is asked for again. The job's own ad decides what a try may store, before a byte is taken (output_permits.h); what it may not is
 * "name", with Words. */
#ifndef BERTH_LIVE_CUSTOMERD_QUESTIONS_H
#define BERTH_LIVE_CUSTOMERD_QUESTIONS_H

#include "live/agent/agent.h"
#include "live/customerd/job_ad.h"
#include "live/customerd/jobfiles.h"
#include "live/customerd/output_permits.h"
#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QUESTION_BYTES_MAX (512u << 10) /* of a file in one answer: so that the answer, sealed, fits through a relay */
#define CHECKPOINT_WAIT INT64_C(60)     /* how many seconds a try waits for the checkpoint of the one before */
#define QUESTION_PAUSE 2                /* seconds before the provider asks again */

struct secret_sets;

enum question_news {
    NEWS_STAGING,  /* its files are on their way */
    NEWS_RUNNING,  /* its process runs */
    NEWS_MESSAGE,  /* a line of status, or its usage */
    NEWS_PROGRESS, /* another tenth of it is done, says its line of status */
    NEWS_FILE,     /* a file has grown */
    NEWS_WHOLE,    /* a file is complete: its name */
    NEWS_TROUBLE,  /* trouble with its files: words */
    NEWS_FINISHED, /* all files have come */
    NEWS_STORED,   /* news of a file that goes to a store: words */
    NEWS_REFUSED,  /* the provider sent a file that the job does not leave: words */
};

#define QUESTION_PERMITS 16 /* for so many tries the permits are kept */
#define QUESTION_TOLD 100   /* lines about refused files and trouble of a try: so a provider cannot fill the log */

struct question_permits {
    struct permits *permits; /* NULL: none */
    struct tree *ad;         /* held: the ad that they were made from */
    uint64_t job, claim, number, used;
};

struct questions {
    struct symbols *symbols;
    struct attempts *tries;
    struct jobfiles *files;
    struct spool *spool;
    struct shelf *shelf;
    struct secret_sets *secrets; /* NULL: none are kept */
    /* The state of a job of the role; false: there is none. */
    bool (*job)(void *user, uint64_t id, struct job_view *ret);
    /* The jobs of a node in a job's workflow, as in customer_node. NULL: there are no workflows. */
    bool (*node)(void *user, uint64_t job, const char *name, size_t len, uint64_t *ret_first, uint64_t *ret_count);
    /* The members that run a job, as in customer_members. NULL: one alone does. */
    uint32_t (*members)(void *user, uint64_t job, struct member_view *ret, uint32_t room);
    /* The job that the claim is to have next; `promise`: it is to be promised one, if it is not yet. 0: none. NULL: none is ever. */
    uint64_t (*ahead)(void *user, uint64_t claim, bool promise);
    /* A process of the job begins a command beside another, or goes on with it (shells_beside.c). NULL: none can. */
    struct tree *(*beside)(void *user, const struct job_view *view, agent who, const struct tree *question);
    /* There is news of a try. Rows may have been put on the shelf: commit. */
    void (*news)(void *user, const struct job_view *view, const struct job_attempt *one, enum question_news news,
                 const char *words);
    void *user;
    uint64_t taken, brought;                           /* bytes of files that went to tries, and came from them */
    struct question_permits permits[QUESTION_PERMITS]; /* all zeros at first */
    uint64_t clock;
};

void questions_done(struct questions *questions); /* frees what it has made itself */

/* The answer; the caller unrefs it. NULL: refused, or it `waits`. */
struct tree *question_answer(struct questions *questions, const struct peer *peer, const struct tree *question,
                             struct agent_turn *turn);

#ifdef __cplusplus
}
#endif
#endif
