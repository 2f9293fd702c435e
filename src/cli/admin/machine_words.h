/* machine_words.h: how a machine stands, in words for people: what berth machines, berth machine and berth agent say of it. */
#ifndef BERTH_CLI_ADMIN_MACHINE_WORDS_H
#define BERTH_CLI_ADMIN_MACHINE_WORDS_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"
#include "pool/protocol/machine_state.h"

/* The state that a row of /v1/machines names; false when it is none that is known here. */
bool machine_state_of(const struct tree *machine, enum machine_state *ret);

/* Appends "20:00", "Thu 20:00" or "2026-11-19 20:00": the time of day in so many seconds, here. */
void moment_print(struct buf *out, double seconds);

/* Appends how much is in use of how much: "6 of 8", and of bytes "6 of 8 GiB". Nothing when it is not known how much there is. */
void used_print(struct buf *out, const struct tree *machine, const char *all, const char *used, bool bytes);
void amount_print(struct buf *out, double used, double all, bool bytes);

/* Appends the state, and what is known of its end: "Owner: back at 20:00", "Sick: the disk is full". */
void machine_standing_print(struct buf *out, const struct tree *machine);

/* Appends what a row has to add to the state in a few words: "until 20:00", "first ends in 12m30s". */
void machine_note_print(struct buf *out, const struct tree *machine);

#endif
