/* audited.c: the customer's audit log: a row of each submission and of each change to jobs, of settings, and of what was refused; and its list.
 *
 * A row is written with the change, in the same commit: it costs a submission one more row, however many jobs that has. */
#include "live/customerd/audited.h"
#include "live/customerd/job_list_parts.h"

#include "live/customerd/customerd_parts.h"

#include <stdio.h>
#include <string.h>

void audit_who(const struct request *request, struct audit_who *ret)
{
    const struct customerd *customerd = request_customerd(request);

    snprintf(ret->by, sizeof ret->by, "%s", request_identity(request));
    request_from(request, ret->from);
    request_via(request, ret->via);
    snprintf(ret->account, sizeof ret->account, "%s",
             request->caller.identity == CALLERS_NONE ? ret->from
                                                      : caller_text(&customerd->gate.callers, request->caller.account));
}

/* A store that has failed shows at the commit, and ends the customer. */
static uint64_t event_add(struct customerd *customerd, const struct audit_who *who, struct audit_event *event)
{
    struct err err;

    event->by = who->by;
    event->account = who->account;
    event->from = who->from;
    event->via = who->via;
    audit_add(&customerd->audit, event, runner_wall() / SECOND, &err);
    return customerd->audit.numbered;
}

uint64_t customer_audit(struct customerd *customerd, const struct audit_who *who, const char *what, const char *about,
                        const char *detail)
{
    struct audit_event event = {.what = what, .about = about, .result = "done", .detail = detail};

    return event_add(customerd, who, &event);
}

void customer_audit_amend(struct customerd *customerd, uint64_t number, const char *about, const char *result,
                          const char *detail)
{
    struct audit_event event = {.about = about, .result = result, .detail = detail};
    struct err err;

    audit_amend(&customerd->audit, number, &event, &err);
    customerd_commit(customerd);
}

void customer_audit_refusal(struct request *request, unsigned status, const char *why)
{
    struct customerd *customerd = request_customerd(request);
    uint64_t before = customerd->audit.numbered;
    char result[16];
    struct audit_event event = {.what = request->route->id,
                                .about = strchr(request->route->path, '{') ? request_variable(request, 0) : "",
                                .result = result,
                                .detail = why,
                                .attempt = true};
    struct audit_who who;

    if (customerd->stopping || !customerd->runner)
        return;
    snprintf(result, sizeof result, "refused %u", status);
    audit_who(request, &who);
    if (event_add(customerd, &who, &event) != before)
        customerd_commit(customerd);
}

void customer_audit_sweep(struct customerd *customerd)
{
    const struct config *config = &customerd->daemon.config;
    uint32_t most = (uint32_t)config_count(config, CONFIG_AUDIT_ROWS);
    int64_t age = config_span(config, CONFIG_AUDIT_AGE), now = runner_settled(customerd->runner);
    uint64_t dropped = customerd->audit.dropped;
    struct err err = {0};
    bool counted;

    if (customerd->audit.most != most) /* the setting was changed */
        audit_bound(&customerd->audit, most, &err);
    audit_expire(&customerd->audit, (now - age) / SECOND, &err);
    counted = audit_flush(&customerd->audit, &err);
    if (counted || dropped != customerd->audit.dropped)
        customerd_commit(customerd);
}

/* ---------------------------------------------------------------------------------------------------------------- list */

/* The cursor is the number of the last row that was looked at. */
static bool list_row(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;
    struct customerd *customerd = request_customerd(request);
    const struct audit_row *row = audit_next(&customerd->audit, list->cursor + 1);
    bool goes_on;

    if (!row)
        return false;
    list->cursor = row->number;
    goes_on = caller_sees(request, row->by, strlen(row->by)) ? list_add(list, audit_ad(&customerd->audit, row))
                                                             : list_pass(list);
    list->more = !goes_on;
    return goes_on;
}

static void list_rows_told(struct walk *walk, struct request *request)
{
    struct job_list *list = (struct job_list *)walk;

    list_end(list, list->more && audit_next(&request_customerd(request)->audit, list->cursor + 1), list->cursor);
}

void api_customer_audit(struct request *request)
{
    struct job_list *list = list_new();

    if (!list_begin(list, request)) {
        list_drop(&list->walk);
        return;
    }
    list->walk.one = list_row;
    list->walk.end = list_rows_told;
    walk_begin(request, &list->walk);
}
