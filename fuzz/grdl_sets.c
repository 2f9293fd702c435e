/* grdl_sets.c (fuzzer): GRDL resources of any values against each other.
 *
 *     byte 0       the class of comparator
 *     then         lines, each a property: its resource (0 to 2), its role and operator, its dimension, a type and a blank, the value
 *
 * Laws: values of one dimension that can be compared are in a total order, and equal ones are at distance 0. What is in a range is in every range
 * around it. The theorems 6.3.1, 6.3.2 and 8.2.1 hold. Profiles are made of what matches, or of what does not. */
#include "fuzz.h"
#include "match/grdl/consume.h"
#include "match/grdl/profile.h"
#include "match/grdl/template.h"

#define RESOURCES 3

struct readings {
    struct grdl_reading *items[RESOURCES];
};

static void property_add(struct grdl_resource *resource, const char *line, size_t len)
{
    static const char *const dimensions[] = {"x", "mhz", "ghz", "y"};
    const char *dimension = dimensions[line[2] & 3];
    enum grdl_operator match = (enum grdl_operator)((unsigned char)line[1] % GRDL_OPERATORS);
    char text[300], *value;

    len = len - 3 < sizeof text - 1 ? len - 3 : sizeof text - 1;
    memcpy(text, line + 3, len);
    text[len] = '\0';
    value = strchr(text, ' ');
    if (value)
        *value++ = '\0';
    switch ((unsigned char)line[1] >> 5 & 3) {
    case 0:
        grdl_add_default(resource, *text ? dimension : NULL, value ? value : "MB", NULL);
        break;
    case 1:
        grdl_add_char(resource, dimension, text, value, NULL);
        break;
    case 2:
        grdl_add_req(resource, dimension, match, text, value, NULL);
        break;
    default:
        grdl_add_pref(resource, dimension, match, text, value, (double)(line[2] >> 2), NULL);
    }
}

static void values_check(const struct grdl_value *a, const struct grdl_value *b, const struct grdl_value *c)
{
    struct grdl_distance distance;

    if (grdl_value_holds(a, GRDL_EQ, b) != grdl_value_holds(b, GRDL_EQ, a))
        fuzz_broken("equality is symmetric");
    if (!grdl_comparable(a, b))
        return;
    if (grdl_value_holds(a, GRDL_LT, b) != grdl_value_holds(b, GRDL_GT, a) ||
        grdl_value_holds(a, GRDL_LE, b) == grdl_value_holds(a, GRDL_GT, b))
        fuzz_broken("an order is one way or the other");
    distance = grdl_value_distance(a, b);
    if (grdl_value_holds(a, GRDL_EQ, b) && distance.size != 0)
        fuzz_broken("what is equal is near");
    if (grdl_comparable(b, c) && grdl_value_holds(a, GRDL_LE, b) && grdl_value_holds(b, GRDL_LE, c) &&
        !grdl_value_holds(a, GRDL_LE, c))
        fuzz_broken("an order is transitive");
    if (grdl_comparable(b, c) && grdl_value_holds(a, GRDL_ORDERED, b) && grdl_value_holds(b, GRDL_ORDERED, c) &&
        !grdl_value_holds(a, GRDL_ORDERED, c))
        fuzz_broken("without case as well");
}

static void ranges_check(const struct grdl_reading *a, const struct grdl_reading *b, const struct grdl_reading *c)
{
    for (uint32_t i = 0; i < a->req_count; i++)
        for (uint32_t j = 0; j < b->req_count; j++) {
            const struct grdl_point *inner = &a->reqs[i], *outer = &b->reqs[j];

            if (inner->dimension == outer->dimension && grdl_req_in_req(inner, outer) &&
                grdl_req_met_by(inner, c, NULL) && !grdl_req_met_by(outer, c, NULL))
                fuzz_broken("what is in a range is in those around it");
        }
}

static void theorems_check(const struct grdl_reading *a, const struct grdl_reading *b, const struct grdl_reading *x)
{
    if (grdl_chars_within(a, b) && grdl_matches(a, x, NULL) && !x->set_wise && !grdl_matches(b, x, NULL))
        fuzz_broken("theorem 6.3.1");
    if (grdl_matches(x, a, NULL) && grdl_space_within(a, b) && !grdl_matches(x, b, NULL))
        fuzz_broken("theorem 6.3.2");
    if (grdl_is_template(a, b) && grdl_pair(GRDL_PEER, a, x, NULL) && !x->set_wise && !grdl_pair(GRDL_PEER, b, x, NULL))
        fuzz_broken("theorem 8.2.1");
}

static void profile_check(const struct grdl_reading *a, const struct grdl_reading *b)
{
    const struct grdl_reading *const pair[] = {a, b};
    bool composed = grdl_pair(GRDL_PEER, a, b, NULL);

    for (int kind = GRDL_PROFILE_MINIMAL; kind <= GRDL_PROFILE_FAILURE; kind++) {
        struct grdl_profile profile;
        int failed = grdl_profile_make((enum grdl_profile_kind)kind, GRDL_PEER, pair, 2, &profile, NULL);

        if (!failed != (composed == (kind != GRDL_PROFILE_FAILURE)))
            fuzz_broken("a profile is of a match, or of none");
        if (!failed)
            grdl_profile_done(&profile);
    }
}

static void all_check(const struct grdl_reading *const *readings)
{
    struct grdl_ranked ranked[RESOURCES];

    for (int i = 0; i < RESOURCES; i++) {
        const struct grdl_reading *a = readings[i], *b = readings[(i + 1) % RESOURCES],
                                  *c = readings[(i + 2) % RESOURCES];

        for (uint32_t k = 0; a->char_count && b->char_count && c->char_count && k < a->char_count; k++)
            values_check(&a->chars[k].value, &b->chars[k % b->char_count].value, &c->chars[k % c->char_count].value);
        ranges_check(a, b, c);
        theorems_check(a, b, c);
        theorems_check(a, a, c);
        profile_check(a, b);
        if (grdl_rank(a, readings, RESOURCES, 0, ranked) != RESOURCES)
            fuzz_broken("all are ranked");
        if (grdl_space_empty(a, NULL, NULL) && (grdl_matches(b, a, NULL) || grdl_matches(c, a, NULL)))
            fuzz_broken("nothing is in an empty space");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data + 1, *end = (const char *)data + size;
    struct grdl_resource *resources[RESOURCES];
    struct readings readings;
    static struct grdl_units *units; /* the same for all */
    struct grdl_consumer *consumer;

    if (!size)
        return 0;
    if (!units)
        units = grdl_units_new();
    consumer = grdl_consumer_new(units, (enum grdl_comparator)(data[0] % 3));
    for (int i = 0; i < RESOURCES; i++)
        resources[i] = grdl_resource_new("r", NULL);
    for (int lines = 0; at < end && lines < 30; lines++) {
        size_t len;
        const char *line = fuzz_part(&at, end, &len);

        if (len > 3)
            property_add(resources[(unsigned char)line[0] % RESOURCES], line, len);
    }
    for (int i = 0; i < RESOURCES; i++)
        readings.items[i] = grdl_read(consumer, resources[i]);
    all_check((const struct grdl_reading *const *)readings.items);
    for (int i = 0; i < RESOURCES; i++) {
        grdl_reading_free(readings.items[i]);
        grdl_resource_free(resources[i]);
    }
    grdl_consumer_free(consumer);
    return 0;
}
