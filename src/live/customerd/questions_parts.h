/* questions_parts.h: what the files of questions.h share; private to them.
 *
 *     questions.c       who asks, about which try: passes the question to its part; what a try may leave
 *     question_files.c  the files that a try reads, their bytes, and incoming bytes
 *     question_ahead.c  the files that the claim's next job reads
 *     question_secrets.c  its secrets
 *     question_ends.c   what a try reports, and its end */
#ifndef BERTH_LIVE_CUSTOMERD_QUESTIONS_PARTS_H
#define BERTH_LIVE_CUSTOMERD_QUESTIONS_PARTS_H

#include "live/customerd/questions.h"

/* The question that is being answered. */
struct asking {
    struct questions *questions;
    const struct tree *question;
    struct agent_turn *turn;
    struct job_view view;
    struct job_attempt *one;
    bool last;  /* `one` is the job's last try */
    bool helps; /* the asker is a helper, not the gang's leader: it may read inputs, and nothing else ... */
    struct attempt_member *member; /* ... but what it has written, if it has a number; else NULL ... */
    uint32_t number;               /* ... that number */
    agent who;                     /* that asks */
    int64_t now;
};

/* ---- questions.c ---- */

struct tree *question_reason(const struct asking *asking, const char *reason); /* [ Reason ] */
struct tree *question_wait(const struct asking *asking);                       /* the provider is to ask again */
void question_tell(const struct asking *asking, enum question_news news, const char *words);
/* Tells of trouble with files, or of refused files, but only so often. */
void question_tell_files(const struct asking *asking, enum question_news news, const char *words);
void question_place(const struct asking *asking, struct job_place *ret);
/* What the try may leave. Lent; never NULL. */
const struct permits *question_permits_of(const struct asking *asking);

struct tree *question_beside(struct asking *asking);

/* ---- question_files.c ---- */

struct tree *question_manifest(struct asking *asking);
struct tree *question_fetch(struct asking *asking);
struct tree *question_store(struct asking *asking);

/* ---- question_ahead.c ---- */

struct tree *question_ahead(struct asking *asking);
/* Opens an input of the job that the asking claim is to have next; -1 and errno. */
int ahead_open(const struct asking *asking, const char *hash);

/* ---- question_secrets.c ---- */

struct tree *question_secrets(struct asking *asking);

/* ---- question_ends.c ---- */

struct tree *question_report(struct asking *asking);
struct tree *question_finish(struct asking *asking);
struct tree *question_stored(struct asking *asking);

#endif
