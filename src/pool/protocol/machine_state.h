/* machine_state.h: how a machine stands, in one word: what its provider tells of it, and what everybody reads.
 *
 * A provider says the first of Sick, Drained, Owner, Busy, Part and Idle that holds; only a matchmaker, which has not heard of it for a
 * lifetime, says Away. The same words are in ads, in tables and on the page. */
#ifndef BERTH_POOL_PROTOCOL_MACHINE_STATE_H
#define BERTH_POOL_PROTOCOL_MACHINE_STATE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Identifier, the word, and what it means. */
#define MACHINE_STATES(X)                                                        \
    X(IDLE, "Idle", "nothing of it is in use")                                   \
    X(PART, "Part", "a part of it is in use, and the rest may be had")           \
    X(BUSY, "Busy", "what is left of it accepts nobody")                         \
    X(OWNER, "Owner", "its owner lets nobody in now, whether or not it is idle") \
    X(DRAINED, "Drained", "it was told to take no more")                         \
    X(SICK, "Sick", "it cannot run jobs now")                                    \
    X(AWAY, "Away", "nothing has been heard of it for a lifetime")

enum machine_state {
#define X(id, word, meaning) MACHINE_##id,
    MACHINE_STATES(X)
#undef X
        MACHINE_STATE_COUNT
};

const char *machine_state_word(enum machine_state state);
const char *machine_state_meaning(enum machine_state state);

#ifdef __cplusplus
}
#endif
#endif
