/* machine_state.c: the words for how a machine stands. */
#include "pool/protocol/machine_state.h"

static const struct {
    const char *word, *meaning;
} states[] = {
#define X(id, word, meaning) [MACHINE_##id] = {word, meaning},
    MACHINE_STATES(X)
#undef X
};

const char *machine_state_word(enum machine_state state)
{
    return states[state < MACHINE_STATE_COUNT ? state : MACHINE_AWAY].word;
}

const char *machine_state_meaning(enum machine_state state)
{
    return states[state < MACHINE_STATE_COUNT ? state : MACHINE_AWAY].meaning;
}
