/* cluster_parts.h: what the files of a batch system's table share; not installed.
 *
 *     cluster.c        the table: its rows, and reading one
 *     cluster_words.c  its commands, filled in
 *     cluster_ask.c    running them, and what their answers mean
 *     cluster_run.c    a process, and what it printed */
#ifndef BERTH_EXEC_CLUSTER_PARTS_H
#define BERTH_EXEC_CLUSTER_PARTS_H

#include "exec/cluster.h"
#include "lang/base/arena.h"
#include "lang/text/tree.h"

struct cluster {
    struct symbols *symbols;
    struct tree *table;
    struct tree *answer; /* what an answer is laid into: Words and Lines of its Text */
    char *text, *name;
    size_t len;
    struct arena arena;
};

/* An attribute of the table; NULL: it has none of that name. */
const struct expr *table_part(const struct tree *table, const char *name);

/* The n-th text of a command in the table; the caller frees it. */
char *table_word(const struct tree *table, const struct expr *list, uint32_t n);
/* Is every $NAME in the word one that there is? */
int command_word_check(const char *word, struct err *err);

#endif
