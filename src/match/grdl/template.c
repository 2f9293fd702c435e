/* template.c: the template relation, and queues that a template heads. */
#include "match/grdl/template.h"

#include "match/grdl/matcher.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>

const char *const grdl_template_prefs_words[3] = {"members", "template", "equivalent"};
const char *const grdl_queue_words[2] = {"match-equivalent", "shared-composition"};

int grdl_template_check(const struct grdl_reading *reading, struct err *err)
{
    for (uint32_t i = 0; i < reading->req_count; i++) {
        const struct grdl_point *requirement = &reading->reqs[i];

        if (!grdl_point_set_wise(requirement))
            continue;
        return err_at(err, requirement->from->line, requirement->from->column,
                      "%s: '%s'%s looks at all characteristics of a dimension, and has no place in a template: what is "
                      "true of a resource is not true of one with more characteristics (6.4, 6.5)",
                      requirement->from->dimension, grdl_operators[requirement->match].sign,
                      requirement->from->text ? "" : " without a value");
    }
    return 0;
}

bool grdl_is_template(const struct grdl_reading *a, const struct grdl_reading *b)
{
    return !grdl_template_check(a, NULL) && grdl_chars_within(a, b) && grdl_space_within(a, b);
}

bool grdl_is_template_with(const struct grdl_reading *a, const struct grdl_reading *b, enum grdl_template_prefs prefs)
{
    return grdl_is_template(a, b) && (prefs != GRDL_PREFS_EQUIVALENT || grdl_prefs_consistent(b, a));
}

static bool requires_in(const struct grdl_reading *reading, uint32_t dimension)
{
    for (uint32_t i = 0; i < reading->req_count; i++)
        if (reading->reqs[i].dimension == dimension)
            return true;
    return false;
}

/* Is A a template of B, over the dimensions that both speak of? */
static bool is_template_shared(const struct grdl_reading *a, const struct grdl_reading *b,
                               enum grdl_template_prefs prefs)
{
    if (!grdl_chars_within_shared(a, b))
        return false;
    for (uint32_t j = 0; j < b->req_count; j++) {
        bool implied = !requires_in(a, b->reqs[j].dimension);

        for (uint32_t i = 0; i < a->req_count && !implied; i++)
            implied = a->reqs[i].dimension == b->reqs[j].dimension && grdl_req_in_req(&a->reqs[i], &b->reqs[j]);
        if (!implied)
            return false;
    }
    return prefs != GRDL_PREFS_EQUIVALENT || grdl_prefs_consistent(b, a);
}

int grdl_queue_init(struct grdl_queue *queue, enum grdl_queue_kind kind, enum grdl_template_prefs prefs, bool partial,
                    const struct grdl_reading *head, struct err *err)
{
    if (grdl_template_check(head, err))
        return -1;
    if (prefs == GRDL_PREFS_OF_MEMBERS && head->pref_count)
        return err_set(err, "the template has preferences, and they are to be those of the members");
    *queue = (struct grdl_queue){.kind = kind, .prefs = prefs, .partial = partial, .head = head};
    return 0;
}

void grdl_queue_done(struct grdl_queue *queue)
{
    if (!queue)
        return;
    free(queue->members);
    *queue = (struct grdl_queue){0};
}

/* Does the template say of the other what a shared-composition template says of its members? */
static bool stands_for(const struct grdl_queue *queue, const struct grdl_reading *other)
{
    return queue->partial ? is_template_shared(queue->head, other, queue->prefs)
                          : grdl_is_template_with(queue->head, other, queue->prefs);
}

static bool is_peer_of_head(const struct grdl_queue *queue, const struct grdl_reading *other,
                            struct grdl_counts *counts)
{
    return grdl_pair(queue->partial ? GRDL_PARTIAL_PEER : GRDL_PEER, queue->head, other, counts);
}

int grdl_queue_add(struct grdl_queue *queue, const struct grdl_reading *member, struct err *err)
{
    const char *name = member->resource->name ? member->resource->name : member->resource->class_name;

    if (queue->prefs == GRDL_PREFS_OF_TEMPLATE && member->pref_count)
        return err_set(err, "%s has preferences, and they are to be those of the template", name);
    if (queue->kind == GRDL_SHARED_COMPOSITION && !stands_for(queue, member))
        return err_set(err, "the template is not a template of %s", name);
    if (queue->kind == GRDL_MATCH_EQUIVALENT && !is_peer_of_head(queue, member, NULL))
        return err_set(err, "the template and %s do not match", name);
    ARRAY_ROOM(queue->members, queue->count, queue->room, 16);
    queue->members[queue->count++] = member;
    queue->set_wise |= member->set_wise;
    return 0;
}

bool grdl_queue_takes(const struct grdl_queue *queue, const struct grdl_reading *candidate, struct grdl_counts *counts)
{
    if (queue->kind == GRDL_SHARED_COMPOSITION)
        return is_peer_of_head(queue, candidate, counts);
    if (counts)
        counts->pairs++;
    return stands_for(queue, candidate);
}

/* The members in the order in which the candidate wants them; NULL: as they stand. */
static struct grdl_ranked *members_ranked(const struct grdl_queue *queue, const struct grdl_reading *candidate)
{
    struct grdl_ranked *ranked;

    if (!candidate->pref_count || queue->count < 2)
        return NULL;
    ranked = mem_alloc(queue->count * sizeof *ranked);
    grdl_rank(candidate, queue->members, queue->count, 0, ranked);
    return ranked;
}

uint32_t grdl_queue_offer(const struct grdl_queue *queue, const struct grdl_reading *candidate,
                          grdl_current_fn *current, void *user, struct grdl_counts *counts)
{
    bool sure = !current && !queue->partial && !queue->set_wise && !candidate->set_wise;
    struct grdl_ranked *ranked;
    uint32_t found = UINT32_MAX;

    if (!queue->count || !grdl_queue_takes(queue, candidate, counts))
        return UINT32_MAX;
    ranked = members_ranked(queue, candidate);
    for (uint32_t i = 0; i < queue->count && found == UINT32_MAX; i++) {
        uint32_t member = ranked ? ranked[i].candidate : i;
        const struct grdl_reading *now = current ? current(user, queue->members[member]) : queue->members[member];

        if (now && (sure || grdl_pair(GRDL_PEER, candidate, now, counts)))
            found = member;
    }
    free(ranked);
    return found;
}
