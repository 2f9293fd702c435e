/* aggregate.c: several resources merged into one, by rules. */
#include "match/grdl/aggregate.h"

#include "lang/base/buf.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const grdl_merge_words[GRDL_MERGES] = {"unite", "add", "agree", "least", "most", "drop"};

/* A merge under way. */
struct merging {
    struct grdl_consumer *consumer;
    const struct grdl_merge_rule *rules;
    uint32_t rule_count;
    const struct grdl_reading *const *parts;
    uint32_t count;
    struct grdl_resource *whole;
    struct err *err;
};

static const char *part_name(const struct grdl_reading *part)
{
    return part->resource->name ? part->resource->name : part->resource->class_name;
}

static const char *dimension_text(const struct merging *merging, uint32_t dimension)
{
    return grdl_consumer_dimension(merging->consumer, dimension);
}

static int whole_add(struct merging *merging, const struct grdl_point *point)
{
    return grdl_add_char(merging->whole, point->from->dimension, grdl_point_type(point), point->from->text,
                         merging->err);
}

/* Does the part have the value of `point` in that dimension? If `point` is the part's own, only those before it count. */
static bool part_has(const struct grdl_reading *part, uint32_t dimension, const struct grdl_point *point)
{
    struct grdl_points chars = grdl_reading_chars(part, dimension);

    for (uint32_t i = 0; i < chars.count && &chars.items[i] != point; i++)
        if (grdl_same_value(&chars.items[i].value, &point->value))
            return true;
    return false;
}

static int merge_unite(struct merging *merging, uint32_t dimension)
{
    for (uint32_t i = 0; i < merging->count; i++) {
        struct grdl_points chars = grdl_reading_chars(merging->parts[i], dimension);

        for (uint32_t j = 0; j < chars.count; j++) {
            bool there = false;

            for (uint32_t k = 0; k <= i && !there; k++)
                there = part_has(merging->parts[k], dimension, &chars.items[j]);
            if (!there && whole_add(merging, &chars.items[j]))
                return -1;
        }
    }
    return 0;
}

static bool chars_within(struct grdl_points a, struct grdl_points b)
{
    for (uint32_t i = 0; i < a.count; i++) {
        bool found = false;

        for (uint32_t j = 0; j < b.count && !found; j++)
            found = grdl_same_value(&a.items[i].value, &b.items[j].value);
        if (!found)
            return false;
    }
    return true;
}

static bool class_has(const struct merging *merging, const char *class_name, uint32_t dimension)
{
    for (uint32_t i = 0; i < merging->count; i++)
        if (!strcmp(merging->parts[i]->resource->class_name, class_name) &&
            grdl_reading_chars(merging->parts[i], dimension).count)
            return true;
    return false;
}

static int merge_agree(struct merging *merging, uint32_t dimension)
{
    struct grdl_points first = {0};
    const struct grdl_reading *from = NULL;

    for (uint32_t i = 0; i < merging->count && !first.count; i++) {
        from = merging->parts[i];
        first = grdl_reading_chars(from, dimension);
    }
    for (uint32_t i = 0; i < merging->count; i++) {
        const struct grdl_reading *part = merging->parts[i];
        struct grdl_points chars = grdl_reading_chars(part, dimension);

        if (!chars.count && !class_has(merging, part->resource->class_name, dimension))
            continue;
        if (!chars_within(chars, first) || !chars_within(first, chars))
            return err_set(merging->err, "%s: %s and %s do not agree", dimension_text(merging, dimension),
                           part_name(from), part_name(part));
    }
    for (uint32_t i = 0; i < first.count; i++)
        if (!part_has(from, dimension, &first.items[i]) && whole_add(merging, &first.items[i]))
            return -1;
    return 0;
}

/* The one number that every part has, or is said to have. */
struct numbers {
    double sum, least, most;
    const struct grdl_value *like; /* the first that is written */
    const char *name;              /* of the dimension, as it is written there */
};

static int numbers_gather(struct merging *merging, uint32_t dimension, const struct grdl_merge_rule *rule,
                          struct numbers *numbers)
{
    const char *type;

    for (uint32_t i = 0; i < merging->count && !numbers->like; i++) {
        struct grdl_points chars = grdl_reading_chars(merging->parts[i], dimension);

        numbers->like = chars.count ? &chars.items[0].value : NULL;
        numbers->name = chars.count ? chars.items[0].from->dimension : numbers->name;
    }
    type = numbers->like ? numbers->like->type_name : NULL;
    for (uint32_t i = 0; i < merging->count; i++) {
        struct grdl_points chars = grdl_reading_chars(merging->parts[i], dimension);
        double number;

        if (!chars.count && rule->missing) {
            if (!grdl_number_in(merging->consumer, rule->missing, type, &number))
                return err_set(merging->err, "%s: '%s' is not a number", numbers->name, rule->missing);
        } else if (chars.count == 1 && chars.items[0].value.kind == GRDL_NUMBER &&
                   grdl_comparable(&chars.items[0].value, numbers->like)) {
            number = chars.items[0].value.number;
        } else {
            return err_set(merging->err, "%s: %s has not one number that can be merged with the others", numbers->name,
                           part_name(merging->parts[i]));
        }
        numbers->sum += number;
        numbers->least = i && numbers->least < number ? numbers->least : number;
        numbers->most = i && numbers->most > number ? numbers->most : number;
    }
    return 0;
}

static int merge_numbers(struct merging *merging, uint32_t dimension, const struct grdl_merge_rule *rule)
{
    struct numbers numbers = {.name = rule->dimension ? rule->dimension : dimension_text(merging, dimension)};
    const char *type;
    struct buf text;
    int failed;

    if (numbers_gather(merging, dimension, rule, &numbers))
        return -1;
    type = numbers.like ? numbers.like->type_name : NULL;
    buf_init(&text);
    grdl_number_print(merging->consumer,
                      rule->merge == GRDL_MERGE_ADD     ? numbers.sum
                      : rule->merge == GRDL_MERGE_LEAST ? numbers.least
                                                        : numbers.most,
                      type, &text);
    failed = grdl_add_char(merging->whole, numbers.name, type, buf_string(&text), merging->err);
    buf_done(&text);
    return failed;
}

static bool is_anywhere(const struct merging *merging, uint32_t dimension)
{
    for (uint32_t i = 0; i < merging->count; i++)
        if (grdl_reading_chars(merging->parts[i], dimension).count)
            return true;
    return false;
}

static int merge_dimension(struct merging *merging, uint32_t dimension, const struct grdl_merge_rule *rule)
{
    switch (rule->merge) {
    case GRDL_MERGE_UNITE:
        return merge_unite(merging, dimension);
    case GRDL_MERGE_AGREE:
        return merge_agree(merging, dimension);
    case GRDL_MERGE_ADD:
    case GRDL_MERGE_LEAST:
    case GRDL_MERGE_MOST:
        if (!is_anywhere(merging, dimension) && !rule->missing)
            return 0;
        return merge_numbers(merging, dimension, rule);
    case GRDL_MERGE_DROP:
        break;
    }
    return 0;
}

static bool has_rule(const struct merging *merging, uint32_t dimension)
{
    for (uint32_t i = 0; i < merging->rule_count; i++)
        if (merging->rules[i].dimension &&
            grdl_consumer_find(merging->consumer, merging->rules[i].dimension) == dimension)
            return true;
    return false;
}

/* Merges the dimensions that no rule names, each once, where it occurs first. */
static int merge_others(struct merging *merging)
{
    static const struct grdl_merge_rule unite = {.merge = GRDL_MERGE_UNITE};
    const struct grdl_merge_rule *last = merging->rule_count ? &merging->rules[merging->rule_count - 1] : NULL;
    const struct grdl_merge_rule *rule = last && !last->dimension ? last : &unite;

    for (uint32_t i = 0; i < merging->count; i++)
        for (uint32_t j = 0; j < merging->parts[i]->char_count; j++) {
            uint32_t dimension = merging->parts[i]->chars[j].dimension;
            bool seen = (j && merging->parts[i]->chars[j - 1].dimension == dimension) || has_rule(merging, dimension);

            for (uint32_t k = 0; k < i && !seen; k++)
                seen = grdl_reading_chars(merging->parts[k], dimension).count > 0;
            if (!seen && merge_dimension(merging, dimension, rule))
                return -1;
        }
    return 0;
}

/* Is the same requirement in an earlier part, or earlier in this one? */
static bool req_is_there(const struct merging *merging, uint32_t part, uint32_t which)
{
    const struct grdl_point *one = &merging->parts[part]->reqs[which];

    for (uint32_t i = 0; i <= part; i++) {
        const struct grdl_reading *other = merging->parts[i];

        for (uint32_t j = 0; j < (i == part ? which : other->req_count); j++)
            if (other->reqs[j].dimension == one->dimension && other->reqs[j].match == one->match &&
                grdl_same_value(&other->reqs[j].value, &one->value))
                return true;
    }
    return false;
}

static int merge_reqs(struct merging *merging)
{
    for (uint32_t i = 0; i < merging->count; i++)
        for (uint32_t j = 0; j < merging->parts[i]->req_count; j++) {
            const struct grdl_point *req = &merging->parts[i]->reqs[j];

            if (!req_is_there(merging, i, j) && grdl_add_req(merging->whole, req->from->dimension, req->match,
                                                             grdl_point_type(req), req->from->text, merging->err))
                return -1;
        }
    return 0;
}

static int merge_all(struct merging *merging)
{
    for (uint32_t i = 0; i < merging->rule_count; i++) {
        const struct grdl_merge_rule *rule = &merging->rules[i];

        if (rule->dimension && merge_dimension(merging, grdl_consumer_find(merging->consumer, rule->dimension), rule))
            return -1;
    }
    return merge_others(merging) || merge_reqs(merging) ? -1 : 0;
}

struct grdl_resource *grdl_aggregate(struct grdl_consumer *consumer, const struct grdl_merge_rule *rules,
                                     uint32_t rule_count, const struct grdl_reading *const *parts, uint32_t count,
                                     const char *class_name, const char *name, struct err *err)
{
    struct merging merging = {consumer, rules, rule_count, parts, count, grdl_resource_new(class_name, name), err};

    if (merge_all(&merging)) {
        grdl_resource_free(merging.whole);
        return NULL;
    }
    return merging.whole;
}

/* ---- looking for parts ---- */

struct aggregate_search {
    struct merging merging;
    const struct grdl_reading *task;
    const uint32_t *usable; /* numbers of candidates */
    uint32_t usable_count;
    const struct grdl_reading *const *candidates;
    const struct grdl_reading **parts;
    uint32_t *chosen;
    uint32_t size;
    uint64_t work;
};

static bool whole_matches(struct aggregate_search *search)
{
    struct merging *merging = &search->merging;
    struct grdl_resource *whole;
    struct grdl_reading *reading;
    bool matches;

    for (uint32_t i = 0; i < search->size; i++)
        search->parts[i] = search->candidates[search->chosen[i]];
    whole = grdl_aggregate(merging->consumer, merging->rules, merging->rule_count, search->parts, search->size,
                           "aggregate", NULL, NULL);
    if (!whole)
        return false;
    reading = grdl_read(merging->consumer, whole);
    matches = grdl_pair(GRDL_PEER, reading, search->task, NULL);
    grdl_reading_free(reading);
    grdl_resource_free(whole);
    return matches;
}

static bool parts_grow(struct aggregate_search *search, uint32_t in, uint32_t from)
{
    if (in == search->size) {
        if (!search->work)
            return false;
        search->work--;
        return whole_matches(search);
    }
    for (uint32_t i = from; i < search->usable_count && search->work; i++) {
        search->chosen[in] = search->usable[i];
        if (parts_grow(search, in + 1, i + 1))
            return true;
    }
    return false;
}

uint32_t grdl_aggregate_find(struct grdl_consumer *consumer, const struct grdl_merge_rule *rules, uint32_t rule_count,
                             const struct grdl_reading *task, const struct grdl_reading *const *candidates,
                             uint32_t count, uint32_t parts_max, uint64_t work, uint32_t *ret_parts)
{
    uint32_t *usable = mem_alloc(((size_t)count + 1) * sizeof *usable), usable_count = 0, found = 0;
    const struct grdl_reading **parts = mem_alloc(((size_t)parts_max + 1) * sizeof *parts);
    struct aggregate_search search = {
        .merging = {.consumer = consumer, .rules = rules, .rule_count = rule_count},
        .task = task,
        .usable = usable,
        .candidates = candidates,
        .parts = parts,
        .chosen = ret_parts,
        .work = work,
    };

    for (uint32_t i = 0; i < count; i++)
        if (grdl_matches(task, candidates[i], NULL))
            usable[usable_count++] = i;
    search.usable_count = usable_count;
    for (uint32_t size = 1; size <= parts_max && size <= usable_count && !found; size++) {
        search.size = size;
        if (parts_grow(&search, 0, 0))
            found = size;
    }
    free(usable);
    free(parts);
    return found;
}
