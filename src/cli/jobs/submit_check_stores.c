/* submit_check_stores.c: are the stores that jobs name for their files in the pool? */
#include "cli/jobs/submit_check_stores.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/textmap.h"

#include <string.h>

struct stores {
    struct connection *pool;
    struct textmap names; /* of the stores in the pool, and of those that were warned about */
    bool asked;
    int status;
};

static bool store_add(void *user, struct tree *ad)
{
    struct stores *stores = user;
    const char *name;
    size_t len;

    if (ad_string(ad, "Name", &name, &len))
        textmap_add(&stores->names, name, len);
    return true;
}

static int stores_ask(struct stores *stores)
{
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/ads?kind=offers&select=Name");
    path_query(&path, "constraint", "Type == \"Storage\"");
    status = connection_list(stores->pool, buf_string(&path), 0, store_add, stores);
    buf_done(&path);
    return status;
}

/* Warns of a store that is not in the pool. Only a name written as a text is checked: a computed one is known where the job runs. */
static void name_vet(struct stores *stores, const struct tree *ad, const struct expr *e)
{
    bool elsewhere = true;
    size_t len = e && e->kind == EXPR_STRING ? e->u.run.count : 0;

    if (!len || stores->status != STATUS_DONE)
        return;
    if (!stores->asked)
        stores->status = stores_ask(stores);
    stores->asked = true;
    if (stores->status != STATUS_DONE || textmap_find(&stores->names, tree_string(ad, e), len) != TEXTMAP_NONE)
        return;
    ad_flag(ad, "OutputElsewhere", &elsewhere);
    report(elsewhere ? "no store '%s' is in the pool now: unless it comes, its files go to others, or wait for it"
                     : "no store '%s' is in the pool now: its files will wait for one of that name",
           textmap_text(&stores->names, textmap_add(&stores->names, tree_string(ad, e), len)));
}

static void ad_vet(struct stores *stores, const struct tree *ad)
{
    const struct expr *data = ad_find(ad, "OutputData"), *se = ad_find(ad, "OutputSE");
    symbol store = symbols_find(ad->symbols, "Store", strlen("Store"));

    if (!data)
        return;
    for (uint32_t i = 0; data->kind == EXPR_LIST && store != SYMBOL_NONE && i < expr_part_count(data); i++)
        if (tree_parts(ad, data)[i].kind == EXPR_AD)
            name_vet(stores, ad, tree_find(ad, &tree_parts(ad, data)[i], store));
    for (uint32_t i = 0; se && se->kind == EXPR_LIST && i < expr_part_count(se); i++)
        name_vet(stores, ad, &tree_parts(ad, se)[i]);
    name_vet(stores, ad, se);
}

int submit_check_stores(struct connection *pool, const struct job_submission *submission)
{
    struct stores stores = {.pool = pool, .status = STATUS_DONE};

    textmap_init(&stores.names, 0);
    for (size_t i = 0; i < submission->count; i++)
        ad_vet(&stores, submission->ads[i]);
    textmap_done(&stores.names);
    return stores.status;
}
