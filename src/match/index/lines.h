/* lines.h: sets of rows, 512 at a time.
 *
 * A line is 512 bits: one cache line, one bit per row. A block holds all lines of the same 512 rows side by side, so that a row is changed in one
 * place of memory, and a probe leaves a block as soon as nothing is left in it. */
#ifndef BERTH_MATCH_INDEX_LINES_H
#define BERTH_MATCH_INDEX_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LINE_ROWS 512
#define LINE_WORDS 8

typedef uint64_t line_word;

struct line {
    line_word words[LINE_WORDS];
};

static inline bool line_empty(const struct line *a)
{
    line_word any = 0;

    for (int i = 0; i < LINE_WORDS; i++)
        any |= a->words[i];
    return !any;
}

static inline void line_set(struct line *a, uint32_t bit, bool on)
{
    line_word mask = (line_word)1 << (bit & 63);

    a->words[bit >> 6] = (a->words[bit >> 6] & ~mask) | (on ? mask : 0);
}

static inline bool line_has(const struct line *a, uint32_t bit)
{
    return a->words[bit >> 6] >> (bit & 63) & 1;
}

/* Takes out the rows below that one, which may lie past the end of the line. */
static inline void line_clear_below(struct line *a, uint32_t bit)
{
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        if (bit >= (i + 1) * 64)
            a->words[i] = 0;
        else if (bit > i * 64)
            a->words[i] &= ~(line_word)0 << (bit & 63);
    }
}

/* Takes out that row and all behind it. */
static inline void line_clear_from(struct line *a, uint32_t bit)
{
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        if (bit <= i * 64)
            a->words[i] = 0;
        else if (bit < (i + 1) * 64)
            a->words[i] &= ((line_word)1 << (bit & 63)) - 1;
    }
}

static inline unsigned line_count(const struct line *a)
{
    unsigned count = 0;

    for (int i = 0; i < LINE_WORDS; i++)
        count += (unsigned)__builtin_popcountll(a->words[i]);
    return count;
}

#ifdef __cplusplus
}
#endif
#endif
