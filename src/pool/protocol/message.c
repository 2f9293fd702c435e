/* message.c: messages by their lists of fields. */
#include "pool/protocol/message.h"

#include <string.h>

#define X(id, name, answer) static const struct field name##_fields[] = {id##_FIELDS(FIELD_ROW, name)};
MESSAGES(X)
#undef X

static const struct layout layouts[] = {[MESSAGE_NONE] = {"none", NULL, 0, 0},
#define X(id, name, answer) \
    [MESSAGE_##id] = {#name, name##_fields, sizeof name##_fields / sizeof *name##_fields, sizeof(struct name)},
                                        MESSAGES(X)
#undef X
};

static const unsigned char answers[] = {[MESSAGE_NONE] = MESSAGE_NONE,
#define X(id, name, answer) [MESSAGE_##id] = MESSAGE_##answer,
                                        MESSAGES(X)
#undef X
};

const struct layout *message_layout(enum message_kind kind)
{
    return &layouts[(unsigned)kind < MESSAGE_COUNT ? kind : MESSAGE_NONE];
}

enum message_kind message_answer(enum message_kind kind)
{
    return (enum message_kind)answers[(unsigned)kind < MESSAGE_COUNT ? kind : MESSAGE_NONE];
}

bool message_refusal(enum message_kind kind, enum reason reason, struct message *ret)
{
    const struct layout *layout = message_layout(message_answer(kind));

    memset(ret, 0, sizeof *ret);
    ret->kind = message_answer(kind);
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->fields[i].sort == FIELD_REASON)
            *(enum reason *)(void *)((char *)&ret->u + layout->fields[i].at) = reason;
    return ret->kind != MESSAGE_NONE;
}

void message_copy(struct message *to, const struct message *from)
{
    const struct layout *layout = message_layout(from->kind);

    to->kind = from->kind;
    if (layout->size)
        fields_copy(layout, &to->u, &from->u);
}

void message_done(struct message *message)
{
    if (!message)
        return;
    fields_done(message_layout(message->kind), &message->u);
    message->kind = MESSAGE_NONE;
}

bool message_equal(const struct message *a, const struct message *b)
{
    return a->kind == b->kind && fields_equal(message_layout(a->kind), &a->u, &b->u);
}
