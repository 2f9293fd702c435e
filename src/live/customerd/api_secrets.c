/* api_secrets.c: takes the secrets of jobs that are to be submitted, and removes them when those jobs are over.
 *
 *     POST /v1/secrets  [ Secrets = { [ Name = "token"; Bytes = "base64url" ] } ]  ->  [ Id = "..." ], for POST /v1/jobs?secrets=ID
 *
 * They are never given back to anybody but the providers that run those jobs. */
#include "live/customerd/customerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/customerd/job_secrets.h"
#include "live/customerd/secret_sets.h"
#include "sys/encoding.h"
#include "sys/secret_bundle.h"

#include <stdlib.h>

#define MARK_JOBS 16 /* jobs that are gone through between two looks at the time */

/* ---------------------------------------------------------------------------------------------------------------- taking */

/* Adds one [ Name; Bytes ] to the bundle. */
static int secret_read(const struct tree *ad, const struct expr *part, struct buf *bundle, struct err *err)
{
    struct tree *one = part->kind == EXPR_AD ? ad_part(ad, part) : NULL;
    const char *name, *text;
    size_t name_len, len;
    struct buf bytes;
    int failed;

    buf_init(&bytes);
    buf_reserve(&bytes, SECRETS_BYTES_MAX);
    if (!one || !ad_string(one, "Name", &name, &name_len) || !ad_string(one, "Bytes", &text, &len) ||
        len > SECRETS_BYTES_MAX * 2 || !base64url_read(&bytes, text, len))
        failed = err_set(err, "expected [ Name = \"token\"; Bytes = \"base64url\" ]");
    else
        failed = secret_bundle_add(bundle, name, name_len, bytes.text, bytes.len, err);
    secret_wipe(&bytes);
    tree_unref(one);
    return failed;
}

static int secrets_read(const struct tree *ad, struct buf *bundle, struct err *err)
{
    const struct expr *list = ad_find(ad, "Secrets");
    int failed = 0;

    if (!list || list->kind != EXPR_LIST || !list->u.run.count)
        return err_set(err, "expected a list of [ Name = \"token\"; Bytes = \"base64url\" ]");
    for (uint32_t i = 0; i < list->u.run.count && !failed; i++)
        failed = secret_read(ad, &tree_parts(ad, list)[i], bundle, err);
    return failed;
}

/* A set that is becoming durable: then its number is told. */
struct keeping {
    struct customerd *customerd;
    struct request *request; /* NULL: the request has gone */
    uint64_t id;
};

static void keeping_forget(struct request *request)
{
    ((struct keeping *)request->work)->request = NULL;
}

static void set_kept(void *user, bool durable)
{
    struct keeping *keeping = user;
    struct request *request = keeping->request;
    struct maker maker;

    if (request) {
        request->work = NULL;
        request->forget = NULL;
    }
    if (request && durable) {
        maker_init(&maker, keeping->customerd->daemon.symbols);
        maker_word(&maker, "Id", keeping->id);
        request_ad_take(request, 201, maker_seal(&maker));
    }
    free(keeping);
}

static void set_keep(struct request *request, const struct buf *bundle)
{
    struct customerd *customerd = request_customerd(request);
    struct keeping *keeping;
    struct err err = {0};
    uint64_t id;
    int failed = secret_sets_add(customerd->secrets, request_identity(request), bundle->text, bundle->len,
                                 runner_settled(customerd->runner) / SECOND, &id, &err);

    if (failed) {
        request_problem(request, failed > 0 ? 429 : 503, "Secrets: %s", err.text);
        return;
    }
    keeping = mem_alloc(sizeof *keeping);
    *keeping = (struct keeping){customerd, request, id};
    request->work = keeping;
    request->forget = keeping_forget;
    runner_commit(customerd->runner, set_kept, keeping);
}

void api_secrets(struct request *request)
{
    struct tree *ad;
    struct err err = {0};
    struct buf bundle;

    if (!customerd_takes(request) || !(ad = request_body_of(request, "Secrets")))
        return;
    buf_init(&bundle);
    buf_reserve(&bundle, SECRETS_BYTES_MAX);
    if (secrets_read(ad, &bundle, &err) < 0)
        request_problem(request, 400, "Secrets: %s", err.text);
    else
        set_keep(request, &bundle);
    secret_wipe(&bundle);
    tree_unref(ad);
}

/* -------------------------------------------------------------------------------------------------------------- removing */

bool secrets_tidy(struct customerd *customerd, int64_t ends)
{
    int64_t now = runner_settled(customerd->runner) / SECOND;
    struct job_view view;
    uint64_t id;

    if (!customerd->marking) {
        if (!secret_sets_are_due(customerd->secrets, now))
            return false;
        secret_sets_mark_begin(customerd->secrets);
        customerd->marking = true;
        customerd->marked = 0;
    }
    for (uint32_t i = 1; i % MARK_JOBS || runner_now() < ends; i++) {
        if (!customer_next(customerd->customer, customerd->marked, &view)) {
            customerd->marking = false;
            if (secret_sets_mark_end(customerd->secrets, now))
                customerd_commit(customerd);
            return false;
        }
        customerd->marked = view.id;
        id = job_secrets_id(view.ad);
        if (id) /* a node of a workflow may be run again as long as that is kept */
            secret_sets_mark(customerd->secrets, id, view_ended(&view) && !view.kept);
    }
    return true;
}
