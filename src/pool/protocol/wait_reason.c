/* wait_reason.c: the words for why a job waits. */
#include "pool/protocol/wait_reason.h"

static const struct {
    const char *word, *says, *can;
} reasons[] = {
#define X(id, word, says, can) [WAIT_##id] = {word, says, can},
    WAIT_REASONS(X)
#undef X
};

const char *wait_word(enum wait_reason reason)
{
    return reason < WAIT_REASON_COUNT ? reasons[reason].word : "";
}

const char *wait_says(enum wait_reason reason)
{
    return reason < WAIT_REASON_COUNT ? reasons[reason].says : "";
}

const char *wait_can(enum wait_reason reason)
{
    return reason < WAIT_REASON_COUNT ? reasons[reason].can : "";
}
