/* quantity.h: options that are quantities: spans of time, amounts of memory, and words that may be given again and again. */
#ifndef BERTH_CLI_TERM_QUANTITY_H
#define BERTH_CLI_TERM_QUANTITY_H

#include "cli/term/options.h"

option_read_fn option_span; /* int64_t, seconds: 90, "90 s", 30min, 1.5h, 7d */
option_read_fn
    option_bytes; /* int64_t: 512MiB, 2G, 0.5GiB, 1000; K, M, G and T are powers of 1024, kB, MB, GB and TB of 1000 */
option_read_fn option_cpus; /* double: 4, 0.5 */

#define OPTION_WORDS_MAX 256

struct option_words {
    size_t count;
    const char *items[OPTION_WORDS_MAX]; /* lent by the command line */
};

option_read_fn option_word; /* struct option_words: adds one word */

#endif
