/* unstarted.h: why a program could not be started, where "No such file or directory" and "Permission denied" do not tell: the file is there. */
#ifndef BERTH_EXEC_UNSTARTED_H
#define BERTH_EXEC_UNSTARTED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Appends, in parentheses, what is wrong with the program, a file in the job's folder: it has lines as on Windows, its interpreter is not there, it is
 * not executable, or nothing in that folder is. `words` say which error it was; nothing is added where that cannot be told. */
void unstarted_add(int folder, const char *program, char *words, size_t size);

#ifdef __cplusplus
}
#endif
#endif
