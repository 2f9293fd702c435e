/* shape_request.c: what a pool is told of a job: its ad without what is for its start alone. Jobs that differ in nothing else share a request.
 *
 * Arguments, variables, and names of files and folders are the job's own affair: no pool reads them, and machines get them with the job. An attribute
 * stays if anything else in the ad speaks of it, or may. */
#include "lang/ad/functions.h"
#include "lang/ad/make.h"
#include "lang/ad/names.h"
#include "pool/customer/customer_parts.h"

#include <string.h>

static const char *const own_names[] = {"Args",
                                        "Env",
                                        "In",
                                        "Out",
                                        "Err",
                                        "Inputs",
                                        "InputUrls",
                                        "InputData",
                                        "Outputs",
                                        "OutputTo",
                                        "OutputUrls",
                                        "OutputsNeeded",
                                        "Iwd",
                                        "IwdUser",
                                        "Index",
                                        "SecretsId",
                                        "UserLog",
                                        "PeriodicHold",
                                        "PeriodicHoldReason",
                                        "PeriodicHoldSubCode",
                                        "PeriodicRelease",
                                        "PeriodicRemove",
                                        "PeriodicVacate",
                                        "DAGNodeName",
                                        "DAGManJobId",
                                        "DAGNodeRetry"};

/* May the ad read any of its attributes, by a name that it computes? */
static bool ad_computes_names(const struct tree *ad)
{
    for (uint32_t i = 0; i < ad->cell_count; i++) {
        const struct expr *e = &ad->cells[i];
        const struct function *function = e->kind == EXPR_CALL ? function_find(ad->dialect, e->u.name.id) : NULL;

        if ((function && function->traits & FUNCTION_SCOPE) ||
            (e->kind == EXPR_PATH && ad->dialect->ads_take_subscripts))
            return true;
    }
    return false;
}

static bool ad_mentions(const struct tree *ad, symbol name)
{
    for (uint32_t i = 0; i < ad->cell_count; i++) {
        const struct expr *e = &ad->cells[i];

        if ((expr_has_symbol(e) && symbol_same(e->u.name.id, name)) ||
            (e->kind == EXPR_DOT && symbol_same(EXPR_DOT_BASE(e), name)))
            return true;
    }
    return false;
}

struct tree *shape_request(struct tree *ad)
{
    const char *names[sizeof own_names / sizeof *own_names];
    size_t count = 0;

    if (tree_find(ad, tree_root(ad), NAME_PORTS) || ad_computes_names(ad)) /* members of a gang see all of it */
        return tree_ref(ad);
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++) {
        symbol name = symbols_find(ad->symbols, own_names[i], strlen(own_names[i]));

        if (name && tree_find(ad, tree_root(ad), name) && !ad_mentions(ad, name))
            names[count++] = own_names[i];
    }
    return count ? ad_without_all(ad, names, count) : tree_ref(ad);
}
