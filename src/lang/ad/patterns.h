/* patterns.h: regular expressions that have been compiled, so that a clause that is asked of many ads compiles its pattern once.
 *
 * An environment may have some (struct env, in eval.h). They change no value and no count of work. Not for two threads at once. PCRE2 keeps with a
 * pattern the memory of its largest match, 1 MiB at most (REGEX_HEAP_MAX in fn_regex.c): all that are kept take 17 MiB at most. */
#ifndef BERTH_LANG_AD_PATTERNS_H
#define BERTH_LANG_AD_PATTERNS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATTERNS_KEPT 16              /* that are kept; another takes the place of one with the same hash */
#define PATTERNS_BYTES_MAX (64 << 10) /* of one, compiled; a larger one is not kept */

struct patterns;

struct patterns *patterns_new(void);
void patterns_free(struct patterns *patterns);

/* How many have been compiled. For tests. */
uint64_t patterns_compiled(const struct patterns *patterns);

#ifdef __cplusplus
}
#endif
#endif
