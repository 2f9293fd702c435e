/* cgroup_parts.h: what the files about control groups share; not installed.
 *
 *     cgroup.c         one group: limits, counts, freezing, killing
 *     cgroup_place.c   where groups can be made on this machine, and why not
 *     cgroup_files.c   the small files by which the kernel is asked and told */
#ifndef BERTH_EXEC_CGROUP_PARTS_H
#define BERTH_EXEC_CGROUP_PARTS_H

#include "exec/cgroup.h"

#define CGROUP_TEXT_MAX 4096 /* bytes of such a file that are looked at */

/* Writes a text in one piece; false, with errno: the kernel does not take it. */
bool group_write(const char *folder, const char *name, const char *text);
bool group_write_number(const char *folder, const char *name, int64_t number);
/* Reads up to `size` - 1 bytes of a file, with a NUL behind them; "" when it cannot be read. */
bool group_read(const char *folder, const char *name, char *text, size_t size);
/* Reads the number behind a word at the start of a line of a file; "" as word: the first number. 0: there is none. */
int64_t group_number(const char *folder, const char *name, const char *word);
/* Is the word one of those? */
bool words_have(const char *words, const char *word, const char *separators);

/* Finds the folder of the group that we are in ourselves, of a controller or with "" of version 2, and the top of what can be seen of its hierarchy. */
bool group_own(const char *root, const char *controller, char ret_folder[CGROUP_PATH_MAX],
               char ret_top[CGROUP_PATH_MAX]);

#endif
