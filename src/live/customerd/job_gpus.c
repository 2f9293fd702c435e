/* job_gpus.c: what a job wants of each GPU that it is given.
 *
 *     RequestGpus = 2; RequireGpus = Memory >= 40G   ->   Constraint = (...) && other.GpuCount >= RequestGpus
 *                                                         && countMatches(isString(Uuid) && (Memory >= 40G), other.Gpus) >= RequestGpus
 *
 * It is the job that says so: a machine whose own constraint looked at each of its GPUs could not be told from others by an index. The provider
 * chooses by RequireGpus itself. */
#include "live/customerd/job_gpus.h"

#include "lang/ad/get.h"
#include "lang/base/buf.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "pool/protocol/writers.h"

bool job_requires_gpus(const struct tree *ad)
{
    return ad_find(ad, "RequireGpus") && ad_find(ad, "RequestGpus") && !ad_find(ad, "Ports");
}

struct tree *job_gpus_set(const struct tree *ad, struct err *err)
{
    const struct expr *before = ad_find(ad, "Constraint");
    const char *name = before || !ad_find(ad, "Requirements") ? "Constraint" : "Requirements";
    struct tree *layer, *whole = NULL;
    struct buf text;

    before = before ? before : ad_find(ad, "Requirements");
    buf_init(&text);
    buf_addf(&text, "[ %s = ", name);
    if (before) {
        buf_addc(&text, '(');
        print_expr(&text, ad, before, PRINT_PLAIN);
        buf_adds(&text, ") && ");
    }
    buf_adds(&text, "other.GpuCount >= RequestGpus && countMatches(isString(Uuid) && (");
    print_expr(&text, ad, ad_find(ad, "RequireGpus"), PRINT_PLAIN);
    buf_adds(&text, "), other.Gpus) >= RequestGpus ]");
    layer = form_parse(ad->symbols, ad->dialect, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    if (layer)
        whole = ad_over(ad, layer, err);
    tree_unref(layer);
    buf_done(&text);
    return whole;
}
