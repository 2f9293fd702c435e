/* frozen.h: a table of symbols while several threads read it.
 *
 * Such a table is frozen: no symbol is taken, held or dropped in it. Nearly all that evaluates only looks names up; what needs new ones (the function eval
 * reads a text) must ask first, and gives up when the table is frozen. That somebody has asked is kept: whoever gave up begins again when it has the table
 * alone. The lock that keeps the others out meanwhile belongs to those who share the table. */
#ifndef BERTH_LANG_BASE_FROZEN_H
#define BERTH_LANG_BASE_FROZEN_H

#include "lang/base/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Freezes the table, or thaws it and forgets that somebody asked. Only for a thread that has the table alone. */
void symbols_freeze(struct symbols *symbols, bool frozen);

/* May names be taken? If not, that this was asked is kept. */
bool symbols_ask(struct symbols *symbols);

/* Has anybody asked in vain since the table was frozen? */
bool symbols_were_asked(const struct symbols *symbols);

#ifdef __cplusplus
}
#endif
#endif
