/* job_list.c: a list that a request asks for, made in the turns of its account. */
#include "live/customerd/job_list_parts.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/query.h"
#include "live/http/represent.h"

#include <stdlib.h>
#include <string.h>

void list_drop(struct walk *walk)
{
    struct job_list *list = (struct job_list *)walk;

    tree_unref(list->query);
    job_order_free(list->order);
    buf_done(&list->out);
    arena_done(&list->scratch);
    free(list);
}

bool list_begin(struct job_list *list, struct request *request)
{
    const struct config *config = &request_customerd(request)->daemon.config;
    struct err err = {0};

    list->walk.drop = list_drop;
    list->request = request;
    list->steps = config_count(config, CONFIG_QUERY_STEPS);
    list->env = (struct env){.now = runner_wall() / SECOND,
                             .steps = config_count(config, CONFIG_EVALUATION_STEPS),
                             .bytes = config_size(config, CONFIG_EVALUATION_BYTES)};
    arena_init(&list->scratch);
    buf_init(&list->out);
    if (!request_number(request, "limit", 0, CUSTOMERD_LIMIT_MAX, CUSTOMERD_LIMIT_DEFAULT, &list->limit) ||
        !request_number(request, "cursor", 0, INT64_MAX, 0, &list->cursor))
        return false;
    if (query_select(request->exchange, &list->select, &err) < 0 ||
        query_expr(request->exchange, "constraint", request_customerd(request)->daemon.symbols, config, &list->query,
                   &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return false;
    }
    if (!list->limit)
        list->limit = 1;
    listing_begin(&list->listing, &list->out, request->form);
    return true;
}

bool list_wants(struct job_list *list, const struct tree *ad)
{
    uint64_t steps = 1;
    bool wanted = !list->query || match_query_counted(&list->env, &list->scratch, list->query, ad, &steps);

    list->looked++;
    list->steps -= steps < list->steps ? steps : list->steps;
    return wanted;
}

void list_put(struct job_list *list, struct tree *ad)
{
    struct tree *part =
        list->select ? ad_select(request_customerd(list->request)->daemon.symbols, ad, list->select) : NULL;

    listing_add(&list->listing, part ? part : ad);
    tree_unref(part);
    tree_unref(ad);
}

bool list_add(struct job_list *list, struct tree *ad)
{
    if (list_wants(list, ad))
        list_put(list, ad);
    else
        tree_unref(ad);
    return list->listing.count < list->limit && list->looked < CUSTOMERD_LOOK_MAX && list->steps;
}

bool list_pass(struct job_list *list)
{
    return ++list->looked < CUSTOMERD_LOOK_MAX;
}

void list_end(struct job_list *list, bool more, uint64_t cursor)
{
    listing_end(&list->listing);
    request_list(list->request, &list->out, more, cursor);
}

void list_order_end(struct job_list *list, bool more, uint64_t cursor, bool whole)
{
    listing_end(&list->listing);
    request_list_with(list->request, &list->out, more, cursor,
                      &(struct http_field){"Berth-Whole", whole ? "true" : "false"});
}

struct job_list *list_new(void)
{
    struct job_list *list = mem_alloc(sizeof *list);

    memset(list, 0, sizeof *list);
    return list;
}
