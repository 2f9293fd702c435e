/* grdl_inclusion.c: berth grdl inclusion: whose characteristics, requirements and requirement space lie within another's (5.13, 6.6, 6.8). */
#include "cli/ads/grdl.h"

#include "match/grdl/sets.h"

static const char *const inclusion_columns[] = {"resource", "within", "chars", "reqs", "space", "why"};

/* The first requirement of one resource that lies in none of the other's; or, with `around`, in which none of the other's lies. NULL: there is none. */
static const struct grdl_point *requirement_alone(const struct grdl_reading *one, const struct grdl_reading *other,
                                                  bool around)
{
    for (uint32_t i = 0; i < one->req_count; i++) {
        const struct grdl_point *of = &one->reqs[i];
        bool found = false;

        for (uint32_t k = 0; k < other->req_count && !found; k++) {
            const struct grdl_point *with = &other->reqs[k];

            found = of->dimension == with->dimension && grdl_req_in_req(around ? with : of, around ? of : with);
        }
        if (!found)
            return of;
    }
    return NULL;
}

/* Says why a resource does not lie within the other: by its requirements, by the space that they leave. */
static void why_print(struct buf *out, const struct grdl_reading *a, const struct grdl_reading *b)
{
    const struct grdl_point *outside = requirement_alone(a, b, false), *open = requirement_alone(b, a, true);

    if (outside) {
        grdl_property_print(out, outside->from, &outside->match);
        buf_adds(out, " lies in no requirement there");
    }
    buf_adds(out, outside && open ? "; " : "");
    if (open) {
        grdl_property_print(out, open->from, &open->match);
        buf_adds(out, " there is implied by none here");
    }
}

static void yes_cell(struct grdl_run *run, bool holds)
{
    grdl_text_cell(run, holds ? "yes" : "no");
}

int grdl_inclusion(struct grdl_run *run)
{
    bool explain = run->settings->explain, found = false;

    table_init(&run->table, inclusion_columns, explain ? 6 : 5, run->settings->json);
    for (uint32_t i = 0; i < run->left_count; i++)
        for (uint32_t j = 0; j < run->resources.count; j++) {
            const struct grdl_reading *a = run->readings[i], *b = run->readings[j];

            if (!grdl_may_pair(run, i, j))
                continue;
            found = found || grdl_reqs_within(a, b);
            grdl_name_cell(run, i);
            grdl_name_cell(run, j);
            yes_cell(run, grdl_chars_within(a, b));
            yes_cell(run, grdl_reqs_within(a, b));
            yes_cell(run, grdl_space_within(a, b));
            if (!explain)
                continue;
            buf_reset(&run->text);
            why_print(&run->text, a, b);
            table_text(&run->table, run->text.text, run->text.len);
        }
    table_finish(&run->table);
    table_done(&run->table);
    return found ? STATUS_DONE : STATUS_NO;
}
