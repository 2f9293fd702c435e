/* fields.c: copying, giving back and comparing what a list of fields describes. */
#include "pool/protocol/fields.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *reason_words(enum reason reason)
{
    static const char *const words[] = {
#define X(id, text) text,
        REASONS(X)
#undef X
    };

    return (unsigned)reason < REASON_COUNT ? words[reason] : "no known reason";
}

struct edges *edges_new(uint32_t count)
{
    struct edges *edges = mem_alloc(sizeof *edges + count * sizeof *edges->items);

    edges->refs = 1;
    edges->count = count;
    edges->items = (struct edge *)(void *)(edges + 1);
    memset(edges->items, 0, count * sizeof *edges->items);
    return edges;
}

struct edges *edges_ref(struct edges *edges)
{
    if (edges)
        edges->refs++;
    return edges;
}

void edges_unref(struct edges *edges)
{
    if (!edges || --edges->refs)
        return;
    for (uint32_t i = 0; i < edges->count; i++) {
        tree_unref(edges->items[i].ad);
        tree_unref(edges->items[i].receipt);
    }
    free(edges);
}

bool text_set(struct text *text, const char *bytes, size_t len)
{
    bool whole = len <= TEXT_MAX && !memchr(bytes, '\0', len);

    memset(text, 0, sizeof *text);
    memcpy(text->bytes, bytes, whole ? len : strnlen(bytes, len < TEXT_MAX ? len : TEXT_MAX));
    return whole;
}

static struct tree **field_ad(const struct field *field, void *structure)
{
    return (struct tree **)(void *)((char *)structure + field->at);
}

static struct edges **field_edges(const struct field *field, void *structure)
{
    return (struct edges **)(void *)((char *)structure + field->at);
}

void fields_copy(const struct layout *layout, void *to, const void *from)
{
    memcpy(to, from, layout->size);
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];

        if (field->sort == FIELD_AD && *field_ad(field, to))
            tree_ref(*field_ad(field, to));
        else if (field->sort == FIELD_EDGES)
            edges_ref(*field_edges(field, to));
    }
}

void fields_done(const struct layout *layout, void *structure)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];

        if (field->sort == FIELD_AD)
            tree_unref(*field_ad(field, structure));
        else if (field->sort == FIELD_EDGES)
            edges_unref(*field_edges(field, structure));
    }
}

static bool ads_equal(const struct tree *a, const struct tree *b)
{
    return a == b || (a && b && a->dialect == b->dialect && tree_equal(a, tree_root(a), b, tree_root(b)));
}

static bool edges_equal(const struct edges *a, const struct edges *b)
{
    if (!a || !b || a->count != b->count)
        return a == b;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct edge *x = &a->items[i], *y = &b->items[i];

        if (x->claim != y->claim || x->agent != y->agent || x->offer != y->offer || x->depth != y->depth ||
            x->port != y->port || x->link != y->link || x->under != y->under ||
            memcmp(&x->ticket, &y->ticket, sizeof x->ticket) != 0 || !ads_equal(x->ad, y->ad) ||
            !ads_equal(x->receipt, y->receipt))
            return false;
    }
    return true;
}

static const size_t sizes[] = {
    [FIELD_NUMBER] = sizeof(int64_t),   [FIELD_WORD] = sizeof(uint64_t),    [FIELD_FLAG] = sizeof(bool),
    [FIELD_REASON] = sizeof(int),       [FIELD_TEXT] = sizeof(struct text), [FIELD_KEY] = sizeof(struct key),
    [FIELD_SEEN] = sizeof(struct seen),
};

bool field_is_left_out(const struct field *field, const void *structure)
{
    static const struct key zero; /* no quiet sort but a text is larger */
    const char *at = (const char *)structure + field->at;

    if (!field->quiet)
        return false;
    if (field->sort == FIELD_TEXT)
        return !*at;
    return memcmp(at, &zero, sizes[field->sort]) == 0;
}

static bool field_equal(const struct field *field, const void *a, const void *b)
{
    switch (field->sort) {
    case FIELD_AD:
        return ads_equal(*(struct tree *const *)a, *(struct tree *const *)b);
    case FIELD_EDGES:
        return edges_equal(*(struct edges *const *)a, *(struct edges *const *)b);
    default:
        return memcmp(a, b, sizes[field->sort]) == 0;
    }
}

bool fields_equal(const struct layout *layout, const void *a, const void *b)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (!field_equal(&layout->fields[i], (const char *)a + layout->fields[i].at,
                         (const char *)b + layout->fields[i].at))
            return false;
    return true;
}
