/* complete.h: what can stand where the user has pressed TAB, from the tables that make the help, and from the pool. */
#ifndef BERTH_CLI_COMPLETE_H
#define BERTH_CLI_COMPLETE_H

#include "lang/base/buf.h"

/* Appends a line for each word that can stand in the place of the last of `words`, which are those behind `berth` on the command line up to the
 * cursor; the last may be empty. A line is the word, a tab and what it is. One that begins with a colon tells the shell to look itself:
 *
 *     :files     :folders     :programs
 */
void complete_words(struct buf *out, int word_count, char **words);

#endif
