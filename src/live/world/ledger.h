/* ledger.h: commands that an agent has carried out, or has begun to, with its answers: so that none is carried out twice, also when the
 * agent is killed between doing and saying so.
 *
 *     key -> [ Ends; Answer = [ Reason; ... ] ]       rows on the shelf; looked up there, so it costs no memory
 *
 * What can be repeated without harm needs no row. */
#ifndef BERTH_LIVE_WORLD_LEDGER_H
#define BERTH_LIVE_WORLD_LEDGER_H

#include "lang/text/tree.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEDGER_SPACE "ledger"
#define LEDGER_LIFE_MAX (INT64_C(31) * 86400) /* seconds that a row is kept at most */

/* The answer to the command of that key; the caller unrefs it. NULL: the command is new. */
struct tree *ledger_find(struct shelf *shelf, struct symbols *symbols, uint64_t key);
/* Writes the answer, in the place of what was written before; the commit is the caller's. `ends`: nobody asks again after that, in seconds on the
 * wall clock. */
int ledger_write(struct shelf *shelf, uint64_t key, const struct tree *answer, int64_t ends, struct err *err);
/* Removes some of the rows that nobody asks for any more. True: rows have changed. */
bool ledger_sweep(struct shelf *shelf, struct symbols *symbols, int64_t wall);

#ifdef __cplusplus
}
#endif
#endif
