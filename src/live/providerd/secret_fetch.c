/* secret_fetch.c: brings a job its secrets, just before it begins.
 *
 *     a key is drawn for this try -> asked of the customer (Ask = "secrets") -> opened -> a bundle in a memory file -> with the order to the launcher
 *
 * Key and secrets are in memory alone: nothing of them is in a row, in a folder or in a log, and after a restart the customer is asked again. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/auth/secret_box.h"
#include "sys/encoding.h"
#include "sys/secret_bundle.h"

#include <stdlib.h>

#define SECRETIN_PAUSE 500 /* milliseconds before the question is repeated; it doubles ... */
#define SECRETIN_PAUSE_MAX 8000
#define SECRETIN_REFUSALS \
    20 /* in turn: then it is not just ending, but of an earlier version, which knows no such question */

struct secretin {
    struct task *task; /* NULL: nobody waits for it any more */
    struct box_keys keys;
    uv_timer_t again;
    uint64_t pause;
    int refusals; /* in turn */
    bool asking, closed;
};

static void secrets_ask(struct secretin *secretin);

/* Frees it, once nobody waits for it and nothing comes back to it any more. */
static void secretin_drop(struct secretin *secretin)
{
    if (!secretin->task && !secretin->asking && secretin->closed)
        free(secretin);
}

static void again_closed(uv_handle_t *handle)
{
    struct secretin *secretin = handle->data;

    secretin->closed = true;
    secretin_drop(secretin);
}

void secretin_cancel(struct secretin *secretin)
{
    if (!secretin)
        return;
    secretin->task->secretin = NULL;
    secretin->task = NULL;
    box_keys_done(&secretin->keys);
    uv_close((uv_handle_t *)&secretin->again, again_closed);
}

static void secretin_end(struct secretin *secretin, const char *why)
{
    struct task *task = secretin->task;

    secretin_cancel(secretin);
    task_secrets_came(task, why);
}

static void again_due(uv_timer_t *timer)
{
    secrets_ask(timer->data);
}

static void secretin_wait(struct secretin *secretin)
{
    uv_timer_start(&secretin->again, again_due, secretin->pause, 0);
    secretin->pause = secretin->pause * 2 < SECRETIN_PAUSE_MAX ? secretin->pause * 2 : SECRETIN_PAUSE_MAX;
}

/* Opens what came, and puts it into memory for the launcher. */
static int secrets_take(struct secretin *secretin, const struct tree *answer, struct err *err)
{
    struct task *task = secretin->task;
    const struct inquiry *inquiry = &task->inquiry;
    struct secret_place place = {SECRET_SENT, {inquiry->job, inquiry->claim, inquiry->number}};
    struct buf box, bundle;
    const char *text;
    size_t len;
    int failed;

    buf_init(&box);
    buf_init(&bundle);
    if (!ad_string(answer, "Sealed", &text, &len) || !base64url_read(&box, text, len))
        failed = err_set(err, "the customer has sent no secrets");
    else
        failed = secret_box_open(&bundle, &secretin->keys, &place, box.text, box.len, err);
    if (!failed)
        failed = (task->secrets = secret_memory_file(bundle.text, bundle.len, err)) < 0;
    secret_wipe(&bundle);
    buf_done(&box);
    return failed ? -1 : 0;
}

static void secrets_answered(void *user, const struct tree *answer)
{
    struct secretin *secretin = user;
    struct err err = {0};

    secretin->asking = false;
    secretin->refusals = answer && answer_is(answer, "refused") ? secretin->refusals + 1 : 0;
    if (!secretin->task)
        secretin_drop(secretin);
    else if (secretin->refusals >= SECRETIN_REFUSALS)
        secretin_end(secretin, "the customer does not say what its secrets are");
    else if (!answer || answer_is(answer, "wait") || answer_is(answer, "refused")) /* or it is just ending */
        secretin_wait(secretin);
    else if (!answer_is(answer, "ok"))
        secretin_end(secretin, "the customer does not have its secrets any more");
    else
        secretin_end(secretin, secrets_take(secretin, answer, &err) < 0 ? err.text : NULL);
}

static void secrets_ask(struct secretin *secretin)
{
    struct task *task = secretin->task;
    char digits[2 * BOX_KEY_BYTES + 1];
    struct tree *question;
    struct maker maker;

    hex_print(secretin->keys.open.bytes, BOX_KEY_BYTES, digits);
    question_begin(&maker, task->providerd, "secrets", &task->inquiry);
    maker_text(&maker, "Key", digits);
    question = maker_seal(&maker);
    secretin->asking = true;
    if (!agent_ask(task->providerd->live, task->inquiry.customer, question, secrets_answered, secretin)) {
        secretin->asking = false;
        secretin_wait(secretin);
    }
    tree_unref(question);
}

void secretin_begin(struct task *task)
{
    const struct executor *executor = task->providerd->executor;
    struct secretin *secretin;

    if (!executor->kind->takes_secrets || !executor->kind->takes_secrets(executor)) {
        task_secrets_came(task, "this machine has no sandbox for jobs, and so it keeps no secrets for them");
        return;
    }
    secretin = mem_alloc(sizeof *secretin);
    *secretin = (struct secretin){.task = task, .pause = SECRETIN_PAUSE};
    box_keys_draw(&secretin->keys);
    uv_timer_init(&task->providerd->daemon.loop, &secretin->again);
    secretin->again.data = secretin;
    task->secretin = secretin;
    secrets_ask(secretin);
}
