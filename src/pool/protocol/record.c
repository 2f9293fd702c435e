/* record.c: records by their lists of fields. */
#include "pool/protocol/record.h"

#define X(id, name) static const struct field name##_fields[] = {id##_RECORD_FIELDS(FIELD_ROW, name)};
RECORDS(X)
#undef X

static const struct layout layouts[] = {[RECORD_NONE] = {"none", NULL, 0, 0},
#define X(id, name) \
    [RECORD_##id] = {#name, name##_fields, sizeof name##_fields / sizeof *name##_fields, sizeof(struct name)},
                                        RECORDS(X)
#undef X
};

const struct layout *record_layout(enum record_kind kind)
{
    return &layouts[(unsigned)kind < RECORD_COUNT ? kind : RECORD_NONE];
}

/* A removed row has only kind and key. */
static const struct layout *record_fields(const struct record *record)
{
    return record_layout(record->removed ? RECORD_NONE : record->kind);
}

void record_copy(struct record *to, const struct record *from)
{
    const struct layout *layout = record_fields(from);

    to->kind = from->kind;
    to->removed = from->removed;
    to->key = from->key;
    if (layout->size)
        fields_copy(layout, &to->u, &from->u);
}

void record_done(struct record *record)
{
    if (!record)
        return;
    fields_done(record_fields(record), &record->u);
    record->kind = RECORD_NONE;
}

bool record_equal(const struct record *a, const struct record *b)
{
    return a->kind == b->kind && a->removed == b->removed && a->key == b->key &&
           fields_equal(record_fields(a), &a->u, &b->u);
}
