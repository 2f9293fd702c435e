/* dag_check.c: checks whether ads are a workflow: every name in After is known, and no node waits for itself, not even through others. */
#include "lang/form/dag.h"

#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "lang/form/spell.h"

#include <stdlib.h>
#include <string.h>

struct checking {
    struct tree *const *ads;
    uint32_t count;
    struct textmap names;
    uint32_t *blocked; /* by place: parents that have not been ordered yet */
    uint32_t *waited;  /* by place: 1 + the last node read that waits for it; in cycle_tell: 1 + a parent on it */
    uint32_t *first;   /* by place: where its children begin in `children`; one more entry: where the last ones end */
    uint32_t *children;
};

static const struct expr *part(const struct tree *ad, const char *attribute)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));

    return name ? tree_find(ad, tree_root(ad), name) : NULL;
}

bool dag_name_is_good(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f || name[i] == ',')
            return false;
    return len > 0 && len <= DAG_NAME_MAX;
}

void dag_after_begin(struct dag_after *after, const struct tree *ad)
{
    const struct expr *list = tree_is_ad(ad) ? part(ad, "After") : NULL;

    *after = (struct dag_after){.ad = ad};
    if (!list || list->kind != EXPR_LIST)
        return;
    after->parts = tree_parts(ad, list);
    after->count = list->u.run.count;
}

bool dag_after_next(struct dag_after *after, const char **ret_name, size_t *ret_len)
{
    size_t len = 0;

    for (;;) {
        while (after->len && (*after->text == ' ' || *after->text == ',')) {
            after->text++;
            after->len--;
        }
        if (after->len)
            break;
        if (after->at == after->count)
            return false;
        if (after->parts[after->at].kind == EXPR_STRING) {
            after->text = tree_string(after->ad, &after->parts[after->at]);
            after->len = after->parts[after->at].u.run.count;
        }
        after->at++;
    }
    while (len < after->len && after->text[len] != ',')
        len++;
    *ret_name = after->text;
    *ret_len = len;
    after->text += len;
    after->len -= len;
    while (*ret_len && (*ret_name)[*ret_len - 1] == ' ')
        --*ret_len;
    return true;
}

static bool is_name(const struct tree *ad, const struct expr *e)
{
    return e->kind == EXPR_STRING && dag_name_is_good(tree_string(ad, e), e->u.run.count);
}

static int name_check(struct checking *checking, uint32_t place, struct err *err)
{
    const struct tree *ad = checking->ads[place];
    const struct expr *node = part(ad, "Node"), *after = part(ad, "After");
    char shown[SPELL_SHOWN_MAX];
    struct dag_after names;
    const char *name;
    size_t len;

    if (!node)
        return err_set(err, "Node: every job of a workflow needs a name of its own");
    if (!is_name(ad, node))
        return err_set(err, "Node: expected a name of up to %d visible characters, without a comma", DAG_NAME_MAX);
    if (after && after->kind != EXPR_LIST)
        return err_set(err, "After: expected a list of names of nodes");
    for (uint32_t i = 0; after && i < after->u.run.count; i++)
        if (tree_parts(ad, after)[i].kind != EXPR_STRING || !tree_parts(ad, after)[i].u.run.count)
            return err_set(err, "After: expected a list of names of nodes");
    dag_after_begin(&names, ad);
    while (dag_after_next(&names, &name, &len))
        if (!dag_name_is_good(name, len))
            return err_set(err, "After: expected a list of names of nodes");
    if (textmap_add(&checking->names, tree_string(ad, node), node->u.run.count) != place)
        return err_set(err, "Node: '%s' is the name of a node before it as well",
                       spell_show(tree_string(ad, node), node->u.run.count, shown));
    return 0;
}

/* Counts the parents in a node's After, or fills in the edges; -1: a name is not a node's. */
static int parents_count(struct checking *checking, uint32_t place, bool fill, struct err *err)
{
    char shown[SPELL_SHOWN_MAX];
    struct dag_after after;
    const char *name;
    size_t len;

    dag_after_begin(&after, checking->ads[place]);
    while (dag_after_next(&after, &name, &len)) {
        uint32_t parent = textmap_find(&checking->names, name, len);

        if (parent == TEXTMAP_NONE)
            return err_set(err, "After: there is no node '%s'", spell_show(name, len, shown));
        if (fill) {
            checking->children[checking->first[parent]++] = place;
            continue;
        }
        checking->waited[parent] = place + 1;
        checking->first[parent + 1]++;
        checking->blocked[place]++;
    }
    return 0;
}

/* Does the node wait for that one? Its After must have been read just before. */
static bool waits_for(const struct checking *checking, uint32_t place, const char *node, size_t len)
{
    uint32_t parent = textmap_find(&checking->names, node, len);

    return parent != TEXTMAP_NONE && checking->waited[parent] == place + 1;
}

/* A node may take files only from nodes that it waits for. */
static int files_check(const struct checking *checking, uint32_t place, struct err *err)
{
    const struct tree *ad = checking->ads[place];
    const struct expr *list = part(ad, "NodeInputs"), *files = list ? tree_parts(ad, list) : NULL;
    char shown[SPELL_SHOWN_MAX];

    if (list && list->kind != EXPR_LIST)
        return err_set(err, "NodeInputs: expected a list of NODE:FILE");
    for (uint32_t i = 0; list && i < list->u.run.count; i++) {
        const char *text = files[i].kind == EXPR_STRING ? tree_string(ad, &files[i]) : NULL;
        const char *colon = text ? memchr(text, ':', files[i].u.run.count) : NULL;

        if (!colon)
            return err_set(err, "NodeInputs: expected a list of NODE:FILE");
        if (!waits_for(checking, place, text, (size_t)(colon - text)))
            return err_set(err, "NodeInputs: '%s' is not among those in After",
                           spell_show(text, (size_t)(colon - text), shown));
    }
    return 0;
}

/* Reads who waits for whom into one array. Filling it moves each beginning to its end, so the beginnings are moved back afterwards. */
static int edges_read(struct checking *checking, uint32_t *ret_place, struct err *err)
{
    for (uint32_t i = 0; i < checking->count; i++)
        if (parents_count(checking, i, false, err) < 0 || files_check(checking, i, err) < 0) {
            *ret_place = i;
            return -1;
        }
    for (uint32_t i = 0; i < checking->count; i++)
        checking->first[i + 1] += checking->first[i];
    checking->children = mem_alloc((checking->first[checking->count] + 1) * sizeof *checking->children);
    for (uint32_t i = 0; i < checking->count; i++)
        parents_count(checking, i, true, NULL);
    for (uint32_t i = checking->count; i > 0; i--)
        checking->first[i] = checking->first[i - 1];
    checking->first[0] = 0;
    return 0;
}

/* A parent of the node that has not been ordered. The answer is kept: the search for a cycle may pass a long list often. */
static uint32_t parent_left(struct checking *checking, uint32_t place)
{
    struct dag_after after;
    const char *name;
    size_t len;

    if (checking->waited[place])
        return checking->waited[place] - 1;
    dag_after_begin(&after, checking->ads[place]);
    while (dag_after_next(&after, &name, &len)) {
        uint32_t parent = textmap_find(&checking->names, name, len);

        if (checking->blocked[parent]) {
            checking->waited[place] = parent + 1;
            return parent;
        }
    }
    return place; /* never reached */
}

/* Reports a cycle. From any node that is left, parents lead into a cycle: after as many steps as there are nodes, the node is on it. */
static int cycle_tell(struct checking *checking, uint32_t place, uint32_t *ret_place, struct err *err)
{
    char name[SPELL_SHOWN_MAX];
    uint32_t at, shown = 0;
    struct buf text;

    memset(checking->waited, 0, checking->count * sizeof *checking->waited);
    for (uint32_t i = 0; i < checking->count; i++)
        place = parent_left(checking, place);
    buf_init(&text);
    at = place;
    do {
        const char *bytes = textmap_text(&checking->names, at = parent_left(checking, at));

        if (++shown < DAG_CYCLE_SHOWN || at == place)
            buf_addf(&text, "%s waits for %s", shown > 1 ? ", which" : "", spell_show(bytes, strlen(bytes), name));
        else if (shown == DAG_CYCLE_SHOWN)
            buf_adds(&text, ", which waits for some more");
    } while (at != place);
    *ret_place = place;
    err_set(err, "After: a cycle: %s%s",
            spell_show(textmap_text(&checking->names, at), strlen(textmap_text(&checking->names, at)), name),
            buf_string(&text));
    buf_done(&text);
    return -1;
}

static int order_check(struct checking *checking, uint32_t *ret_place, struct err *err)
{
    uint32_t *ready = mem_alloc((checking->count + 1) * sizeof *ready), from = 0, to = 0, left = 0;
    int result = 1;

    for (uint32_t i = 0; i < checking->count; i++)
        if (!checking->blocked[i])
            ready[to++] = i;
    for (; from < to; from++)
        for (uint32_t k = checking->first[ready[from]]; k < checking->first[ready[from] + 1]; k++)
            if (!--checking->blocked[checking->children[k]])
                ready[to++] = checking->children[k];
    while (left < checking->count && !checking->blocked[left])
        left++;
    if (left < checking->count)
        result = cycle_tell(checking, left, ret_place, err);
    free(ready);
    return result;
}

static bool is_workflow(struct tree *const *ads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (part(ads[i], "Node") || part(ads[i], "After") || part(ads[i], "NodeInputs"))
            return true;
    return false;
}

int dag_check(struct tree *const *ads, uint32_t count, uint64_t seed, uint32_t *ret_place, struct err *err)
{
    struct checking checking = {.ads = ads, .count = count};
    int result = 0;

    if (!is_workflow(ads, count))
        return 0;
    textmap_init(&checking.names, seed);
    checking.blocked = mem_alloc((count + 1) * sizeof *checking.blocked);
    checking.first = mem_alloc((count + 1) * sizeof *checking.first);
    checking.waited = mem_alloc((count + 1) * sizeof *checking.waited);
    memset(checking.blocked, 0, (count + 1) * sizeof *checking.blocked);
    memset(checking.first, 0, (count + 1) * sizeof *checking.first);
    memset(checking.waited, 0, (count + 1) * sizeof *checking.waited);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        *ret_place = i;
        result = name_check(&checking, i, err);
    }
    if (result == 0)
        result = edges_read(&checking, ret_place, err);
    if (result == 0)
        result = order_check(&checking, ret_place, err);
    free(checking.blocked);
    free(checking.first);
    free(checking.waited);
    free(checking.children);
    textmap_done(&checking.names);
    return result;
}
