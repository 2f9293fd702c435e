/* answers.h: what expressions over one attribute of the counterpart are, remembered by the attribute's value.
 *
 *     regexp("^linux", other.Os) || other.Os == "BSD"     "linux-6": true     "BSD": true     "plan9": false     "VMS": not asked yet
 *
 * An ad's value has a number (distinct.h), which is read when it is first asked for; an expression is evaluated once for each number. Whatever was put into
 * memory is dropped as a whole when it has become much for so many ads. */
#ifndef BERTH_MATCH_PAIR_ANSWERS_H
#define BERTH_MATCH_PAIR_ANSWERS_H

#include "lang/ad/eval.h"
#include "match/pair/distinct.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ANSWERS_MAX 64 /* expressions over one attribute that are remembered */
#define ANSWERS_NONE UINT32_MAX
#define ANSWERS_CHUNK 1024

/* An answer as a byte: its type plus one, and in the upper half a truth value. */
#define ANSWER_UNKNOWN 0
#define ANSWER_EVALUATE 15 /* in each pair: it is a string, a list or an ad, or it took long */
#define ANSWER_TYPE(code) (((code)&15) - 1)
#define ANSWER_TRUTH(code) ((code) >> 4)

struct answer_chunk {
    unsigned char codes[ANSWERS_CHUNK];
    int64_t *bits; /* of numbers and times; NULL while there is none */
};

/* An expression, and its values so far. */
struct kept_answer {
    struct tree *tree; /* held; NULL: the place is free */
    uint64_t hash;
    uint64_t serial; /* no two have the same */
    uint64_t asked;
    uint32_t worst; /* steps that an evaluation took at most */
    uint32_t chunk_count;
    struct answer_chunk **chunks; /* by the number of the value; NULL: nothing is known */
};

/* Those of one attribute. */
struct answers {
    uint32_t *numbers; /* by ad: of its value, or ... */
    uint32_t room;
    struct distinct distinct;
    struct kept_answer items[ANSWERS_MAX];
    size_t bytes;
};
#define ANSWERS_UNREAD (UINT32_MAX - 1) /* ... this, or DISTINCT_NONE */

struct answers *answers_new(void);
void answers_free(struct answers *answers);

/* Another ad has that number now. */
void answers_forget(struct answers *answers, uint32_t id);

/* The place of an expression, which is made when there is none; ANSWERS_NONE when all places were asked for by this call of columns_ask, whose number `asked`
 * is. `serial` is that of a new one. */
uint32_t answers_find(struct answers *answers, const struct tree *tree, const struct expr *e, uint64_t asked,
                      uint64_t serial);

/* There are numbers for ads below `room`. */
void answers_grow(struct answers *answers, uint32_t room);

/* Reads the number of an ad's value. */
uint32_t answers_number(struct answers *answers, uint32_t id, const struct tree *ad, symbol name);

/* The answer for the value of that number, which a pair of ads has: the one whose expression it is, and the counterpart. It is remembered unless the budget
 * was spent. */
unsigned char answer_ask(struct answers *answers, struct kept_answer *answer, uint32_t number, const struct env *env,
                         struct arena *scratch, const struct tree *ad, const struct tree *counterpart);

static inline unsigned char answer_code(const struct kept_answer *answer, uint32_t number)
{
    uint32_t chunk = number / ANSWERS_CHUNK;

    return chunk < answer->chunk_count && answer->chunks[chunk] ? answer->chunks[chunk]->codes[number % ANSWERS_CHUNK]
                                                                : ANSWER_UNKNOWN;
}

/* The bits of a number or a time. */
static inline int64_t answer_bits(const struct kept_answer *answer, uint32_t number)
{
    return answer->chunks[number / ANSWERS_CHUNK]->bits[number % ANSWERS_CHUNK];
}

#ifdef __cplusplus
}
#endif
#endif
