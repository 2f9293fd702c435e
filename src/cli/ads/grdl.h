/* grdl.h: what the operations of berth grdl share: the settings, the resources that were read, and their two sides. */
#ifndef BERTH_CLI_ADS_GRDL_H
#define BERTH_CLI_ADS_GRDL_H

#include "cli/term/command.h"
#include "cli/term/table.h"
#include "match/grdl/aggregate.h"
#include "match/grdl/document.h"
#include "match/grdl/kit.h"

#define GRDL_RULES_MAX 64

enum grdl_engine { GRDL_ENGINE_SETS, GRDL_ENGINE_INDEX, GRDL_ENGINE_TEMPLATES };

struct grdl_settings {
    const char *units, *kind, *to, *contract, *queue, *preferences, *policy;
    enum grdl_comparator comparator;
    enum grdl_engine engine;
    uint64_t top, size;
    bool strict, explain, json, long_form, multi, stats, partial;
    struct grdl_merge_rules {
        struct grdl_merge_rule rules[GRDL_RULES_MAX];
        uint32_t count;
    } merge;
};

/* All resources of all files, and how they are understood. Those of the first file are the left side, all others the right side; with one file alone,
 * each resource is on both sides. */
struct grdl_run {
    const struct grdl_settings *settings;
    struct grdl_kit *kit;
    struct grdl_resources resources;
    struct grdl_reading **readings;
    uint32_t *files; /* for each resource the number of its file */
    char **file_names;
    uint32_t file_count;
    uint32_t left_count; /* resources of the first file */
    bool validates;      /* the operation is validate, which reports more */
    bool told;           /* something is an error: with --strict any complaint, in validate a wrong value */
    struct table table;
    struct buf text;
};

/* Reads the file; -1 when it is wrong, which has been reported. */
int grdl_load(struct grdl_run *run, char *file);

bool grdl_two_sides(const struct grdl_run *run);
/* May the two be a pair, with the first from the left side and the other from the right? */
bool grdl_may_pair(const struct grdl_run *run, uint32_t left, uint32_t right);

/* The name of a resource, or its class when it has no name. */
const char *grdl_name(const struct grdl_run *run, uint32_t resource);
void grdl_name_cell(struct grdl_run *run, uint32_t resource);
void grdl_text_cell(struct grdl_run *run, const char *text);
/* Adds the names as one cell: "a b c". */
void grdl_names_cell(struct grdl_run *run, const uint32_t *resources, uint32_t count);

/* Appends "mhz >= 2500 MHz"; `match` NULL: it is a characteristic, without an operator. */
void grdl_property_print(struct buf *out, const struct grdl_char *at, const enum grdl_operator *match);
/* Appends in words why the other resource meets the requirement, or does not. */
void grdl_reason_print(struct buf *out, const struct grdl_point *requirement, const struct grdl_reading *by);

/* Prints resources as a document, to standard output. */
int grdl_print(struct grdl_run *run, const struct grdl_resource *const *resources, uint32_t count, enum grdl_form form);

/* The operations; each returns an enum status. */
int grdl_validate(struct grdl_run *run);
int grdl_match(struct grdl_run *run);
int grdl_ranking(struct grdl_run *run);
int grdl_profiling(struct grdl_run *run);
int grdl_templates(struct grdl_run *run);
int grdl_inclusion(struct grdl_run *run);
int grdl_convert(struct grdl_run *run);

#endif
