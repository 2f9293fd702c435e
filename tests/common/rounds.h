/* rounds.h: how many rounds a test on random input takes, and from which seed. */
#ifndef BERTH_TESTS_ROUNDS_H
#define BERTH_TESTS_ROUNDS_H

#include <stdint.h>
#include <stdlib.h>

/* BERTH_SEED and BERTH_ROUNDS, for tests on random input. */
static inline uint64_t lang_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* How many rounds, where nobody has said so. A sanitizer looks at the code more than at what comes out, and is slow: a third is enough for it. */
static inline uint64_t lang_rounds(uint64_t otherwise)
{
#if defined(TESTS_SANITIZED)
    otherwise = otherwise / 3 + 1;
#endif
    return lang_setting("BERTH_ROUNDS", otherwise);
}

#endif
