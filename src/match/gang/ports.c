/* ports.c: the ports of an ad. */
#include "match/gang/ports.h"

#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "lang/text/words.h"

#include <stdio.h>
#include <stdlib.h>

/* The ports that are being read. */
struct reading {
    struct ports *ports;
    struct err *err;
};

const char *port_label(const struct ports *ports, uint32_t port, size_t *ret_len)
{
    return symbols_text(ports->ad->symbols, ports->items[port].label, ret_len);
}

const struct expr *port_constraint(const struct ports *ports, uint32_t port)
{
    const struct expr *ad = ports->items[port].ad, *found = tree_find(ports->ad, ad, NAME_CONSTRAINT);

    return found ? found : tree_find(ports->ad, ad, NAME_REQUIREMENTS);
}

bool ports_say(const struct ports *ports, symbol name)
{
    for (uint32_t i = 0; i < ports->count && !ports->implicit; i++)
        if (tree_find(ports->ad, ports->items[i].ad, name))
            return true;
    for (uint32_t i = 0; i < ports->group_count; i++)
        if (tree_find(ports->ad, ports->groups[i].ad, name))
            return true;
    return false;
}

/* The number of the entry, counted from 1 as people do. */
static uint32_t reading_number(const struct reading *reading)
{
    return reading->ports->count + 1;
}

/* Reads a number or { least, most }; -1 when it is neither, or not within 1 (0 for the least of a range) and the limit. */
static int range_read(const struct tree *ad, const struct expr *e, uint32_t limit, uint32_t *ret_min, uint32_t *ret_max)
{
    const struct expr *first = e, *last = e;
    int64_t least, most;

    if (e->kind == EXPR_LIST && e->u.run.count == 2) {
        first = tree_parts(ad, e);
        last = first + 1;
    }
    if (first->kind != EXPR_INTEGER || last->kind != EXPR_INTEGER)
        return -1;
    least = first->u.integer;
    most = last->u.integer;
    if (least < 0 || most < 1 || least > most || most > (int64_t)limit)
        return -1;
    *ret_min = (uint32_t)least;
    *ret_max = (uint32_t)most;
    return 0;
}

static bool says(const struct tree *ad, const struct expr *entry, symbol name, bool value)
{
    const struct expr *found = tree_find(ad, entry, name);

    return found && found->kind == EXPR_BOOLEAN && (found->small != 0) == value;
}

/* Could the string be a name in the ad's dialect? No other string can be referred to. */
static bool could_be_name(const struct tree *ad, const struct expr *string)
{
    return string->u.run.count &&
           (ad->dialect->quoted_names || word_is_plain(tree_string(ad, string), string->u.run.count));
}

/* Can the label be shown to people as it is? A control character would act on their terminals. */
static bool can_be_shown(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;

    for (size_t i = 0; i < len; i++)
        if (at[i] < 0x20 || at[i] == 0x7f || (at[i] == 0xc2 && i + 1 < len && at[i + 1] >= 0x80 && at[i + 1] < 0xa0))
            return false;
    return true;
}

static int label_check(const struct reading *reading, symbol label)
{
    size_t len;
    const char *text = symbols_text(reading->ports->ad->symbols, label, &len);

    if (len > PORTS_LABEL_MAX)
        return err_set(reading->err, "the Label of port %u is longer than %d bytes", reading_number(reading),
                       PORTS_LABEL_MAX);
    if (!can_be_shown(text, len))
        return err_set(reading->err, "the Label of port %u has a control character in it", reading_number(reading));
    return 0;
}

static int refuse_twice(const struct reading *reading, uint32_t first, symbol label)
{
    const struct tree *ad = reading->ports->ad;
    struct buf text;
    size_t len;
    const char *name = symbols_text(ad->symbols, label, &len);

    buf_init(&text);
    print_name(&text, ad->dialect, name, len); /* a quoted name may hold anything */
    err_set(reading->err, "ports %u and %u have the same Label, %s", first + 1, reading_number(reading),
            buf_string(&text));
    buf_done(&text);
    return -1;
}

/* Reads a label, which is a name or a string that could be one. The caller drops it. */
static int label_read(const struct reading *reading, const struct expr *entry, symbol *ret)
{
    const struct ports *ports = reading->ports;
    const struct expr *label = tree_find(ports->ad, entry, NAME_LABEL);

    if (!label)
        return err_set(reading->err, "port %u has no Label", reading_number(reading));
    if (label->kind == EXPR_NAME)
        symbols_hold(ports->ad->symbols, *ret = label->u.name.id);
    else if (label->kind == EXPR_STRING && could_be_name(ports->ad, label))
        *ret = symbols_take(ports->ad->symbols, tree_string(ports->ad, label), label->u.run.count);
    else
        return err_set(reading->err, "the Label of port %u is neither a name nor a string that could be one",
                       reading_number(reading));
    if (label_check(reading, *ret) < 0) {
        symbols_drop(ports->ad->symbols, *ret);
        return -1;
    }
    for (uint32_t i = 0; i < ports->count; i++) {
        if (symbol_same(ports->items[i].label, *ret)) {
            refuse_twice(reading, i, *ret);
            symbols_drop(ports->ad->symbols, *ret);
            return -1;
        }
    }
    return 0;
}

static int port_read(struct reading *reading, const struct expr *entry, uint32_t group)
{
    struct ports *ports = reading->ports;
    const struct expr *count = tree_find(ports->ad, entry, NAME_COUNT);
    struct port port = {.ad = entry, .group = group, .min = 1, .max = 1};

    if (ports->count == PORTS_MAX)
        return err_set(reading->err, "an ad has at most %d ports", PORTS_MAX);
    if (count && range_read(ports->ad, count, PORTS_SET_MAX, &port.min, &port.max) < 0)
        return err_set(reading->err, "the Count of port %u is neither a number from 1 to %d nor { least, most }",
                       reading_number(reading), PORTS_SET_MAX);
    if (label_read(reading, entry, &port.label) < 0)
        return -1;
    port.set = count != NULL;
    port.optional = says(ports->ad, entry, NAME_ESSENTIAL, false);
    port.share = says(ports->ad, entry, NAME_SHARE, true);
    ports->items = mem_grow(ports->items, (ports->count + 1) * sizeof *ports->items);
    ports->items[ports->count++] = port;
    return 0;
}

static int list_read(struct reading *reading, const struct expr *list, uint32_t group, unsigned depth);

/* Reads how many of the entries of a list are filled. `what` names the group in words. */
static int choose_read(struct reading *reading, const struct expr *choose, const struct expr *list, const char *what,
                       struct port_group *group)
{
    if (range_read(reading->ports->ad, choose, list->u.run.count, &group->min, &group->max) < 0)
        return err_set(reading->err,
                       "the Choose of %s is neither a number from 1 to %u, its entries, nor { least, most }", what,
                       list->u.run.count);
    return 0;
}

static uint32_t group_add(struct ports *ports, const struct port_group *group)
{
    ports->groups = mem_grow(ports->groups, (ports->group_count + 1) * sizeof *ports->groups);
    ports->groups[ports->group_count] = *group;
    return ports->group_count++;
}

static int group_read(struct reading *reading, const struct expr *entry, const struct expr *list, uint32_t outer,
                      unsigned depth)
{
    struct ports *ports = reading->ports;
    const struct expr *choose = tree_find(ports->ad, entry, NAME_CHOOSE);
    struct port_group group = {.ad = entry, .outer = outer, .first = ports->count};
    char what[48];
    uint32_t place;

    if (depth == PORTS_GROUP_DEPTH)
        return err_set(reading->err, "groups of ports are more than %d deep", PORTS_GROUP_DEPTH);
    if (list->kind != EXPR_LIST || list->u.run.count == 0)
        return err_set(reading->err, "the Ports of the group at port %u are not a list of ads",
                       reading_number(reading));
    if (!choose)
        return err_set(reading->err, "the group at port %u has no Choose", reading_number(reading));
    snprintf(what, sizeof what, "the group at port %u", reading_number(reading));
    if (choose_read(reading, choose, list, what, &group) < 0)
        return -1;
    group.optional = says(ports->ad, entry, NAME_ESSENTIAL, false);
    place = group_add(ports, &group);
    if (list_read(reading, list, place, depth + 1) < 0)
        return -1;
    ports->groups[place].end = ports->count;
    return 0;
}

static int list_read(struct reading *reading, const struct expr *list, uint32_t group, unsigned depth)
{
    const struct tree *ad = reading->ports->ad;
    const struct expr *entries = tree_parts(ad, list);

    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *inner;

        if (entries[i].kind != EXPR_AD)
            return err_set(reading->err, "port %u is not an ad", reading_number(reading));
        inner = tree_find(ad, &entries[i], NAME_PORTS);
        if ((inner ? group_read(reading, &entries[i], inner, group, depth) : port_read(reading, &entries[i], group)) <
            0)
            return -1;
    }
    return 0;
}

/* Reads all ports of the ad. If it says Choose itself, they are a group too. */
static int root_read(struct reading *reading, const struct expr *root, const struct expr *list)
{
    const struct expr *choose = tree_find(reading->ports->ad, root, NAME_CHOOSE);
    struct port_group group = {.ad = root, .outer = PORTS_NO_GROUP};

    if (!choose)
        return list_read(reading, list, PORTS_NO_GROUP, 0);
    if (choose_read(reading, choose, list, "the ad", &group) < 0)
        return -1;
    group_add(reading->ports, &group);
    if (list_read(reading, list, 0, 1) < 0)
        return -1;
    reading->ports->groups[0].end = reading->ports->count;
    return 0;
}

int ports_read(struct ports *ports, const struct tree *ad, struct err *err)
{
    const struct expr *root = tree_root(ad), *list = tree_find(ad, root, NAME_PORTS);
    struct reading reading = {.err = err};

    *ports = (struct ports){.ad = ad, .implicit = !list};
    reading.ports = ports;
    if (!list) {
        symbols_hold(ad->symbols, NAME_OTHER); /* ports_done drops every label */
        ports->items = mem_alloc(sizeof *ports->items);
        ports->items[ports->count++] =
            (struct port){.label = NAME_OTHER, .ad = root, .group = PORTS_NO_GROUP, .min = 1, .max = 1};
        return 0;
    }
    if (list->kind != EXPR_LIST || list->u.run.count == 0) {
        err_set(err, "Ports is not a list of ads");
        return -1;
    }
    if (root_read(&reading, root, list) < 0) {
        ports_done(ports);
        return -1;
    }
    return 0;
}

void ports_done(struct ports *ports)
{
    if (!ports)
        return;
    for (uint32_t i = 0; i < ports->count; i++)
        symbols_drop(ports->ad->symbols, ports->items[i].label);
    free(ports->items);
    free(ports->groups);
    *ports = (struct ports){0};
}
