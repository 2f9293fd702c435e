/* rejections.c: claims that came to nothing before a job was given to them, counted for each request: whoever asks why its jobs wait is told.
 *
 *     a machine refuses, leaves, or does not answer in time -> one more, with its name and why
 *     a claim of the request is decided                     -> none
 *
 * Nothing here is durable, and nothing is decided by it. */
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

void rejection_add(struct shape *shape, const struct claim_member *by, enum reason reason)
{
    const char *name = "";
    size_t len = 0;

    if (!shape->rejection) {
        shape->rejection = mem_alloc(sizeof *shape->rejection);
        *shape->rejection = (struct rejection){0};
    }
    shape->rejection->count += shape->rejection->count < UINT32_MAX;
    shape->rejection->reason =
        reason == REASON_OK ? REASON_CONSTRAINT : reason; /* it accepts us, and our port not it */
    if (by && by->ad)
        ad_string(by->ad, "Name", &name, &len);
    len = len < sizeof shape->rejection->by ? len : sizeof shape->rejection->by - 1;
    memcpy(shape->rejection->by, name, len);
    shape->rejection->by[len] = '\0';
}

/* Whoever is waited for: the first that has not done what all are to do. */
void rejection_late(struct root *root)
{
    const struct claim_member *late = NULL;

    for (uint32_t i = 0; i < root->crew.count && !late; i++)
        if (claim_member_speaks(&root->crew.members[i]))
            late = &root->crew.members[i];
    rejection_add(root->shape, late, REASON_WINDOW);
}

void rejection_heard(struct root *root, const struct claim_member *member, const struct event *event)
{
    const struct message *message = event->message;

    rejection_add(root->shape, member,
                  !message                            ? REASON_LOST
                  : message->kind == MESSAGE_VERIFIED ? message->u.verified.reason
                  : message->kind == MESSAGE_CLAIMED  ? message->u.claimed.reason
                  : message->kind == MESSAGE_LEFT     ? message->u.left.reason
                                                      : REASON_LOST);
}

void rejection_forget(struct shape *shape)
{
    free(shape->rejection);
    shape->rejection = NULL;
}
