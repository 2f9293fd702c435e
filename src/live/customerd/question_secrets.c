/* question_secrets.c: the secrets of a job, for the provider that is to begin it.
 *
 *     [ Ask = "secrets"; Key = "..." ]  ->  [ Reason = "ok"; Sealed = "..." ]
 *
 * Whatever way the answer goes, it is sealed to a key that the provider has drawn for this try and keeps in its memory alone: nobody on the way can read
 * it, and nothing that is on a disk ever opens it. */
#include "live/customerd/questions_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/auth/secret_box.h"
#include "live/customerd/job_secrets.h"
#include "live/customerd/secret_sets.h"
#include "sys/encoding.h"
#include "sys/secret_bundle.h"

static struct tree *secrets_answer(const struct asking *asking, const struct buf *box)
{
    struct maker maker;
    struct buf digits;

    buf_init(&digits);
    base64url_print(&digits, box->text, box->len);
    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", "ok");
    maker_bytes(&maker, "Sealed", digits.text, digits.len);
    buf_done(&digits);
    return maker_seal(&maker);
}

/* Seals what the job names to that key. */
static int secrets_seal(const struct asking *asking, const struct box_public *key, struct buf *ret_box, struct err *err)
{
    const struct job_view *view = &asking->view;
    struct secret_place place = {SECRET_SENT, {view->id, asking->one->claim, asking->one->number}};
    struct buf all, chosen;
    int failed;

    buf_init(&all);
    buf_init(&chosen);
    buf_reserve(&chosen, SECRETS_BYTES_MAX);
    failed = secret_sets_open(asking->questions->secrets, job_secrets_id(view->ad), &all, err) < 0 ||
             job_secrets_choose(view->ad, &all, &chosen, err) < 0 ||
             secret_box_seal(ret_box, key, &place, chosen.text, chosen.len, err) < 0;
    secret_wipe(&all);
    secret_wipe(&chosen);
    return failed ? -1 : 0;
}

struct tree *question_secrets(struct asking *asking)
{
    struct tree *answer;
    struct box_public key;
    struct err err = {0};
    const char *digits;
    struct buf box;
    size_t len;

    if (!asking->last || asking->view.state != JOB_RUNNING)
        return question_reason(asking, "stale");
    if (!ad_string(asking->question, "Key", &digits, &len) || len != 2 * (size_t)BOX_KEY_BYTES ||
        !hex_read(digits, len, key.bytes, BOX_KEY_BYTES) || !asking->questions->secrets)
        return NULL;
    buf_init(&box);
    if (secrets_seal(asking, &key, &box, &err) == 0) {
        answer = secrets_answer(asking, &box);
    } else {
        question_tell_files(asking, NEWS_TROUBLE, err.text);
        answer = question_reason(asking, "unknown");
    }
    buf_done(&box);
    return answer;
}
