/* grdl_profile.c: berth grdl profile: what a composition rests on, why there is none, and whether a contract still holds (8.1). */
#include "cli/ads/grdl.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "match/grdl/profile.h"

#include <stdlib.h>
#include <string.h>

static const char *const breach_columns[] = {"part", "breach", "of", "what"};

static const struct grdl_reading *const *readings_of(const struct grdl_run *run)
{
    return (const struct grdl_reading *const *)run->readings;
}

static int kind_read(const struct grdl_run *run, enum grdl_profile_kind otherwise, enum grdl_profile_kind *ret)
{
    *ret = otherwise;
    if (!run->settings->kind)
        return 0;
    for (int i = 0; i < 3; i++)
        if (strcmp(run->settings->kind, grdl_profile_words[i]) == 0) {
            *ret = (enum grdl_profile_kind)i;
            return 0;
        }
    report("grdl profile: --kind: expected minimal, full or failure, got '%.60s'", run->settings->kind);
    return -1;
}

static int profile_print(struct grdl_run *run)
{
    bool peers = grdl_peers(readings_of(run), run->resources.count, NULL);
    struct grdl_profile profile = {0};
    enum grdl_profile_kind kind;
    struct err err = {0};
    bool json = run->settings->json || (run->settings->to && strcmp(run->settings->to, "json") == 0);
    int status;

    if (kind_read(run, peers ? GRDL_PROFILE_MINIMAL : GRDL_PROFILE_FAILURE, &kind) < 0)
        return STATUS_BAD;
    if (grdl_profile_make(kind, GRDL_PEER, readings_of(run), run->resources.count, &profile, &err) < 0) {
        report("%s", err.text);
        return STATUS_NO;
    }
    status = grdl_print(run, (const struct grdl_resource *const *)profile.parts.items, profile.parts.count,
                        json ? GRDL_FORM_JSON : GRDL_FORM_XML);
    grdl_profile_done(&profile);
    return status == STATUS_DONE && kind == GRDL_PROFILE_FAILURE ? STATUS_NO : status;
}

/* ------------------------------------------------------------------------------------------------------------ contracts */

static int contract_load(struct grdl_run *run, struct grdl_profile *ret)
{
    struct err err = {0};
    struct buf text;
    int got;

    buf_init(&text);
    grdl_resources_init(&ret->parts);
    got = file_read(run->settings->contract, &text);
    if (got == 0) {
        got = grdl_document_read(&ret->parts, GRDL_FORM_UNKNOWN, text.text, text.len, &err);
        if (got < 0)
            report_error(run->settings->contract, &err, NULL, 0);
    }
    buf_done(&text);
    ret->kind = GRDL_PROFILE_MINIMAL; /* a minimal profile has no requirements */
    for (uint32_t i = 0; i < ret->parts.count; i++)
        if (ret->parts.items[i]->req_count)
            ret->kind = GRDL_PROFILE_FULL;
    return got < 0 ? -1 : kind_read(run, ret->kind, &ret->kind);
}

static const char *part_name(const struct grdl_resource *part)
{
    return part->name ? part->name : part->class_name;
}

static void breaches_print(struct grdl_run *run, const struct grdl_profile *contract,
                           const struct grdl_breaches *breaches)
{
    table_init(&run->table, breach_columns, 4, run->settings->json);
    for (uint32_t i = 0; i < breaches->count; i++) {
        const struct grdl_breach *breach = &breaches->items[i];

        grdl_text_cell(run, part_name(contract->parts.items[breach->by]));
        grdl_text_cell(run, breach->kind == GRDL_BREACH_MISSING ? "missing" : "unmet");
        grdl_text_cell(run, part_name(contract->parts.items[breach->of]));
        buf_reset(&run->text);
        grdl_property_print(&run->text, breach->what, NULL);
        table_text(&run->table, run->text.text, run->text.len);
    }
    table_finish(&run->table);
    table_done(&run->table);
}

/* Checks the contract: each of its parts is compared with the resource of that name as it is now. */
static int contract_check(struct grdl_run *run)
{
    struct grdl_profile contract = {0};
    struct grdl_breaches breaches = {0};
    const struct grdl_resource **now;
    int status = STATUS_BAD;

    if (contract_load(run, &contract) == 0 && contract.kind == GRDL_PROFILE_FAILURE) {
        report("grdl profile: a failure profile is not a contract");
    } else if (contract.parts.count) {
        now = mem_alloc(contract.parts.count * sizeof *now);
        for (uint32_t i = 0; i < contract.parts.count; i++)
            now[i] = contract.parts.items[i]->name
                         ? grdl_resources_named(&run->resources, contract.parts.items[i]->name)
                         : NULL;
        status =
            grdl_contract_holds(run->kit->consumer, &contract, GRDL_PEER, now, &breaches) ? STATUS_DONE : STATUS_NO;
        breaches_print(run, &contract, &breaches);
        grdl_breaches_done(&breaches);
        free(now);
    }
    grdl_resources_done(&contract.parts);
    return status;
}

int grdl_profiling(struct grdl_run *run)
{
    if (run->settings->contract)
        return contract_check(run);
    if (run->resources.count < 2) {
        report("grdl profile wants two resources at least");
        return STATUS_BAD;
    }
    return profile_print(run);
}
