/* grdl_template.c: berth grdl template: who is a template of whom, and queues headed by one (8.2). */
#include "cli/ads/grdl.h"

#include "cli/term/report.h"
#include "match/grdl/matcher.h"
#include "match/grdl/template.h"

#include <string.h>

static const char *const template_columns[] = {"template", "resource", "template_of", "peer"};
static const char *const queue_columns[] = {"candidate", "taken", "member"};

static int template_bad(struct grdl_run *run, uint32_t resource, struct err *err)
{
    const struct grdl_resource *item = run->resources.items[resource];

    err->line = item->line;
    err->column = item->column;
    report_error(run->file_names[run->files[resource]], err, NULL, 0);
    return STATUS_BAD;
}

static int whose(const struct grdl_run *run, enum grdl_template_prefs *ret)
{
    const char *text = run->settings->preferences;

    *ret = GRDL_PREFS_OF_MEMBERS;
    for (int i = 0; text && i < 3; i++)
        if (strcmp(text, grdl_template_prefs_words[i]) == 0) {
            *ret = (enum grdl_template_prefs)i;
            return 0;
        }
    if (text)
        report("grdl template: --preferences: expected members, template or equivalent, got '%.60s'", text);
    return text ? -1 : 0;
}

/* Prints a row for each pair for which one of the two relations holds. */
static int relations_print(struct grdl_run *run, enum grdl_template_prefs prefs)
{
    struct err err = {0};
    bool found = false;

    for (uint32_t i = 0; i < run->left_count && grdl_two_sides(run); i++)
        if (grdl_template_check(run->readings[i], &err) < 0)
            return template_bad(run, i, &err);
    table_init(&run->table, template_columns, 4, run->settings->json);
    for (uint32_t i = 0; i < run->left_count; i++)
        for (uint32_t j = 0; j < run->resources.count; j++) {
            bool of, peer;

            if (!grdl_may_pair(run, i, j) || grdl_template_check(run->readings[i], &err) < 0)
                continue;
            of = run->settings->preferences ? grdl_is_template_with(run->readings[i], run->readings[j], prefs)
                                            : grdl_is_template(run->readings[i], run->readings[j]);
            peer = grdl_pair(GRDL_PEER, run->readings[i], run->readings[j], NULL);
            if (!of && !peer)
                continue;
            found = found || of;
            grdl_name_cell(run, i);
            grdl_name_cell(run, j);
            grdl_text_cell(run, of ? "yes" : "no");
            grdl_text_cell(run, peer ? "yes" : "no");
        }
    table_finish(&run->table);
    table_done(&run->table);
    return found ? STATUS_DONE : STATUS_NO;
}

/* Prints what a queue takes. The first resource of the first file heads the queue, the second file has its members, the others candidates. */
static int queue_print(struct grdl_run *run, enum grdl_queue_kind kind, enum grdl_template_prefs prefs)
{
    struct grdl_queue queue;
    struct err err = {0};
    int status = STATUS_NO;

    if (!run->left_count || run->file_count < 3) {
        report("grdl template --queue wants three files: a template, members, and candidates");
        return STATUS_BAD;
    }
    if (grdl_queue_init(&queue, kind, prefs, run->settings->partial, run->readings[0], &err) < 0)
        return template_bad(run, 0, &err);
    for (uint32_t i = run->left_count; i < run->resources.count; i++)
        if (run->files[i] == 1 && grdl_queue_add(&queue, run->readings[i], &err) < 0) {
            grdl_queue_done(&queue);
            return template_bad(run, i, &err);
        }
    table_init(&run->table, queue_columns, 3, run->settings->json);
    for (uint32_t i = run->left_count; i < run->resources.count; i++) {
        uint32_t member;

        if (run->files[i] < 2)
            continue;
        member = grdl_queue_offer(&queue, run->readings[i], NULL, NULL, NULL);
        grdl_name_cell(run, i);
        grdl_text_cell(run, grdl_queue_takes(&queue, run->readings[i], NULL) ? "yes" : "no");
        if (member == UINT32_MAX)
            grdl_text_cell(run, "");
        else
            grdl_text_cell(run, queue.members[member]->resource->name ? queue.members[member]->resource->name
                                                                      : queue.members[member]->resource->class_name);
        status = member == UINT32_MAX ? status : STATUS_DONE;
    }
    table_finish(&run->table);
    table_done(&run->table);
    grdl_queue_done(&queue);
    return status;
}

int grdl_templates(struct grdl_run *run)
{
    enum grdl_template_prefs prefs;

    if (whose(run, &prefs) < 0)
        return STATUS_BAD;
    if (!run->settings->queue)
        return relations_print(run, prefs);
    for (int i = 0; i < 2; i++)
        if (strcmp(run->settings->queue, grdl_queue_words[i]) == 0)
            return queue_print(run, (enum grdl_queue_kind)i, prefs);
    report("grdl template: --queue: expected match-equivalent or shared-composition, got '%.60s'",
           run->settings->queue);
    return STATUS_BAD;
}
