/* self.h: this program once more. */
#ifndef BERTH_EXEC_SELF_H
#define BERTH_EXEC_SELF_H

#ifdef __cplusplus
extern "C" {
#endif

#define SELF_MAX 4096

/* The path to start it by: /proc/self/exe, which is the same program also after another was installed in its place; but where that is
 * another's, as under valgrind, the path that it was started from. */
const char *self_program(char ret[SELF_MAX]);

#ifdef __cplusplus
}
#endif
#endif
