/* answers.c: what expressions over one attribute of the counterpart are, remembered by the attribute's value. */
#include "match/pair/answers.h"

#include "lang/base/mem.h"
#include "match/pair/pair.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 8192 /* of an evaluation whose answer is used for others: what takes longer counts in each pair */
#define BYTES_MAX (16u << 10) /* likewise */

struct answers *answers_new(void)
{
    return mem_alloc_zeros(1, sizeof(struct answers));
}

static void answer_done(struct answers *answers, struct kept_answer *answer)
{
    for (uint32_t i = 0; i < answer->chunk_count; i++) {
        if (!answer->chunks[i])
            continue;
        answers->bytes -= sizeof **answer->chunks + (answer->chunks[i]->bits ? ANSWERS_CHUNK * sizeof(int64_t) : 0);
        free(answer->chunks[i]->bits);
        free(answer->chunks[i]);
    }
    answers->bytes -= answer->chunk_count * sizeof *answer->chunks;
    if (answer->tree)
        answers->bytes -= tree_size(answer->tree);
    free(answer->chunks);
    tree_unref(answer->tree);
    *answer = (struct kept_answer){0};
}

void answers_free(struct answers *answers)
{
    if (!answers)
        return;
    for (uint32_t i = 0; i < ANSWERS_MAX; i++)
        answer_done(answers, &answers->items[i]);
    distinct_done(&answers->distinct);
    free(answers->numbers);
    free(answers);
}

void answers_forget(struct answers *answers, uint32_t id)
{
    if (id < answers->room)
        answers->numbers[id] = ANSWERS_UNREAD;
}

static struct tree *expr_copy(const struct tree *tree, const struct expr *e)
{
    struct build build;
    struct tree *copy;

    build_init(&build, tree->symbols, tree->dialect);
    copy = build_seal_copy(&build, tree, e);
    build_done(&build);
    return copy;
}

uint32_t answers_find(struct answers *answers, const struct tree *tree, const struct expr *e, uint64_t asked,
                      uint64_t serial)
{
    uint64_t hash = tree_hash(tree, e);
    uint32_t oldest = 0;

    for (uint32_t i = 0; i < ANSWERS_MAX; i++) {
        struct kept_answer *answer = &answers->items[i];

        if (answer->tree && answer->hash == hash && answer->tree->dialect == tree->dialect &&
            tree_equal(answer->tree, tree_root(answer->tree), tree, e)) {
            answer->asked = asked;
            return i;
        }
        if (answer->asked < answers->items[oldest].asked)
            oldest = i;
    }
    if (answers->items[oldest].tree && answers->items[oldest].asked >= asked)
        return ANSWERS_NONE;
    answer_done(answers, &answers->items[oldest]);
    answers->items[oldest] =
        (struct kept_answer){.tree = expr_copy(tree, e), .hash = hash, .serial = serial, .asked = asked};
    answers->bytes += tree_size(answers->items[oldest].tree);
    return oldest;
}

void answers_grow(struct answers *answers, uint32_t room)
{
    answers->numbers = mem_grow(answers->numbers, room * sizeof *answers->numbers);
    for (uint32_t i = answers->room; i < room; i++)
        answers->numbers[i] = ANSWERS_UNREAD;
    answers->bytes += (room - answers->room) * sizeof *answers->numbers;
    answers->room = room;
}

uint32_t answers_number(struct answers *answers, uint32_t id, const struct tree *ad, symbol name)
{
    size_t bytes = distinct_bytes(&answers->distinct);

    answers->numbers[id] = distinct_number(&answers->distinct, ad, tree_find(ad, tree_root(ad), name));
    answers->bytes += distinct_bytes(&answers->distinct) - bytes;
    return answers->numbers[id];
}

static struct answer_chunk *chunk_of(struct answers *answers, struct kept_answer *answer, uint32_t number)
{
    uint32_t place = number / ANSWERS_CHUNK;

    if (place >= answer->chunk_count) {
        uint32_t count = place + place / 2 + 1;

        answer->chunks = mem_grow(answer->chunks, count * sizeof *answer->chunks);
        memset(answer->chunks + answer->chunk_count, 0, (count - answer->chunk_count) * sizeof *answer->chunks);
        answers->bytes += (count - answer->chunk_count) * sizeof *answer->chunks;
        answer->chunk_count = count;
    }
    if (!answer->chunks[place]) {
        answer->chunks[place] = mem_alloc_zeros(1, sizeof **answer->chunks);
        answers->bytes += sizeof **answer->chunks;
    }
    return answer->chunks[place];
}

static unsigned char answer_keep(struct answers *answers, struct kept_answer *answer, uint32_t number,
                                 const struct value *v)
{
    struct answer_chunk *chunk = chunk_of(answers, answer, number);
    unsigned code = v->type + 1u;

    if (v->type == VALUE_STRING || v->type >= VALUE_LIST) {
        code = ANSWER_EVALUATE;
    } else if (v->type == VALUE_BOOLEAN) {
        code |= (unsigned)v->boolean << 4;
    } else if (v->type > VALUE_BOOLEAN) {
        if (!chunk->bits) {
            chunk->bits = mem_alloc_zeros(ANSWERS_CHUNK, sizeof *chunk->bits);
            answers->bytes += ANSWERS_CHUNK * sizeof *chunk->bits;
        }
        chunk->bits[number % ANSWERS_CHUNK] = v->u.integer;
    }
    return chunk->codes[number % ANSWERS_CHUNK] = (unsigned char)code;
}

unsigned char answer_ask(struct answers *answers, struct kept_answer *answer, uint32_t number, const struct env *env,
                         struct arena *scratch, const struct tree *ad, const struct tree *counterpart)
{
    static const struct value evaluate = {.type = VALUE_LIST};
    struct arena_mark mark = arena_mark(scratch);
    unsigned char code = ANSWER_EVALUATE;
    uint64_t steps, bytes;
    struct scope inner;
    struct eval eval;
    struct pair pair;
    struct value v;

    pair_init(&pair, ad, counterpart);
    scope_inside(&inner, &pair.left, answer->tree);
    eval_init(&eval, env, scratch);
    steps = eval.steps;
    bytes = eval.bytes;
    eval_expr(&eval, &inner, tree_root(answer->tree), &v);
    steps -= eval.steps;
    bytes -= eval.bytes;
    if (!eval.exhausted) {
        bool dear = steps > STEPS_MAX || bytes > BYTES_MAX;

        code = answer_keep(answers, answer, number, dear ? &evaluate : &v);
        if (!dear && steps > answer->worst)
            answer->worst = (uint32_t)steps;
    } else if (steps >= STEPS_MAX) {
        code = answer_keep(answers, answer, number, &evaluate); /* with a whole budget, too */
    }
    arena_rewind(scratch, mark);
    return code;
}
