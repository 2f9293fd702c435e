/* audited.c: the matchmaker's audit log: rows of what requests have changed, and of those that were refused; and its list. */
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "live/config/address.h"

#include <stdio.h>
#include <string.h>

static int event_add(struct request *request, struct audit_event *event, struct err *err)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char from[ADDRESS_TEXT_MAX], via[REQUEST_VIA_MAX];

    event->from = request_from(request, from);
    event->via = request_via(request, via);
    if (request->caller.identity != CALLERS_NONE)
        event->account = caller_text(&matchmakerd->gate.callers, request->caller.account);
    return audit_add(&matchmakerd->audit, event, runner_wall() / SECOND, err);
}

bool request_audit_as(struct request *request, const char *by, const char *what, const char *about, const char *detail)
{
    struct audit_event event = {.by = by, .what = what, .about = about, .result = "done", .detail = detail};
    struct err err = {0};

    /* what somebody does with things of its own is not an administrator's: it must not push out what is */
    event.attempt = request->caller.identity != CALLERS_NONE &&
                    !(request->caller.scope & (SCOPE_ADMIN | SCOPE_OPERATE | SCOPE_CONFIG));
    if (event_add(request, &event, &err) == 0)
        return true;
    request_store_failed(request, err.text);
    return false;
}

bool request_audit(struct request *request, const char *what, const char *about, const char *detail)
{
    return request_audit_as(request, request_identity(request), what, about, detail);
}

/* What the request is about: the first thing that its path names; "" if it names none. */
static const char *request_about(const struct request *request)
{
    return strchr(request->route->path, '{') ? request_variable(request, 0) : "";
}

void request_audit_refusal(struct request *request, unsigned status, const char *why)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    char result[16];
    struct audit_event event = {.by = request_identity(request),
                                .what = request->route->id,
                                .about = request_about(request),
                                .result = result,
                                .detail = why,
                                .attempt = true};
    uint64_t before = matchmakerd->audit.numbered;
    struct err err;

    snprintf(result, sizeof result, "refused %u", status);
    event_add(request, &event, &err); /* a store that has failed shows at the commit */
    if (matchmakerd->runner && matchmakerd->audit.numbered != before)
        runner_commit(matchmakerd->runner, NULL, NULL);
}

void audit_sweep(struct matchmakerd *matchmakerd)
{
    uint32_t most = (uint32_t)config_count(&matchmakerd->config, CONFIG_AUDIT_ROWS);
    struct audit *audit = &matchmakerd->audit;
    struct err err = {0};

    if (audit->most != most) { /* the setting was changed */
        audit_bound(audit, most, &err);
        runner_commit(matchmakerd->runner, NULL, NULL);
    }
    audit_expire(audit,
                 (runner_settled(matchmakerd->runner) - config_span(&matchmakerd->config, CONFIG_AUDIT_AGE)) / SECOND,
                 &err);
    if (audit_flush(audit, &err) || audit->dropped != matchmakerd->audit_told)
        runner_commit(matchmakerd->runner, NULL, NULL);
    if (audit->dropped == matchmakerd->audit_told)
        return;
    LOG(&matchmakerd->log, LEVEL_INFO, "audit.dropped", log_number("rows", (int64_t)audit->dropped),
        log_number("kept", (int64_t)audit->most));
    matchmakerd->audit_told = audit->dropped;
}

/* ---------------------------------------------------------------------------------------------------------------- list */

/* Adds the next row. The cursor of a page is the number of its first row: rows that go meanwhile do not move the others. */
static bool audit_step(struct scan *scan)
{
    struct collection *collection = (struct collection *)scan;
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    const struct audit_row *row;

    if (collection->at < collection->cursor)
        collection->at = collection->cursor;
    row = audit_next(&matchmakerd->audit, collection->at);
    if (!row)
        return false;
    collection->at = row->number;
    return collection_add(collection, audit_ad(&matchmakerd->audit, row));
}

void api_audit_list(struct request *request)
{
    collection_tour(request, audit_step);
}
