/* self.h: this program, started once more, for commands that are other commands told in other words. */
#ifndef BERTH_CLI_TERM_SELF_H
#define BERTH_CLI_TERM_SELF_H

#include "lang/base/buf.h"

/* Runs it with those words, the first of which is its name; NULL ends them. `given` is what it reads as standard input, at most SELF_GIVEN_MAX bytes;
 * NULL: what we read. What it writes is appended to `said`; NULL: it goes where ours goes. Returns its status. */
#define SELF_GIVEN_MAX (16u << 20)
int self_run(const char *const *words, const struct buf *given, struct buf *said);

#endif
