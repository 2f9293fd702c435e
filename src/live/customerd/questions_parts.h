/* questions_parts.h: what the files of questions.h share; not installed.
 *
 *     questions.c       who asks, about which try, and what: handed to the part that it is for; what a try may leave
 *     question_files.c  what there is to read, the bytes of it, and bytes that come
 *     question_ends.c   what a try says of itself, and that it is over */
#ifndef BERTH_LIVE_CUSTOMERD_QUESTIONS_PARTS_H
#define BERTH_LIVE_CUSTOMERD_QUESTIONS_PARTS_H

#include "live/customerd/questions.h"

/* One question at hand. */
struct asking {
    struct questions *questions;
    const struct tree *question;
    struct job_view view;
    struct job_attempt *one;
    bool last;  /* it is the job's last try */
    bool helps; /* a member of the gang asks that is not its leader: it may read inputs, and nothing else */
    int64_t now;
};

/* ---- questions.c ---- */

struct tree *question_reason(const struct asking *asking, const char *reason); /* [ Reason ] */
struct tree *question_wait(const struct asking *asking);                       /* it is to ask again */
void question_tell(const struct asking *asking, enum question_news news, const char *words);
/* Trouble with files, or files that are refused: not without end. */
void question_tell_files(const struct asking *asking, enum question_news news, const char *words);
void question_place(const struct asking *asking, struct job_place *ret);
/* What the try may leave; NULL: that cannot be told now. */
const struct permits *question_permits_of(const struct asking *asking);

/* ---- question_files.c ---- */

struct tree *question_manifest(struct asking *asking);
struct tree *question_fetch(struct asking *asking);
struct tree *question_store(struct asking *asking);

/* ---- question_ends.c ---- */

struct tree *question_report(struct asking *asking);
struct tree *question_finish(struct asking *asking);
struct tree *question_stored(struct asking *asking);

#endif
