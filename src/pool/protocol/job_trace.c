/* job_trace.c: the text of a trace, read strictly and written. */
#include "pool/protocol/job_trace.h"

#include "lang/base/rng.h"

#include <string.h>

_Static_assert(JOB_TRACE_LEN <= TEXT_MAX, "a trace is a text of a message");

#define FLAGS_KNOWN 3 /* sampled, and that the id is random; others are not handed on */
#define SAMPLED 1     /* of those that are made here: what a job's own tools record is not ours to switch off */

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_take(const char *text, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static void hex_put(const unsigned char *bytes, size_t count, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    while (count && !bytes[count - 1])
        count--;
    return !count;
}

bool job_trace_read(const char *text, size_t len, struct job_trace *ret)
{
    struct job_trace read;

    memset(ret, 0, sizeof *ret);
    if (len != JOB_TRACE_LEN || memcmp(text, "00-", 3) != 0 || text[35] != '-' || text[52] != '-' ||
        !hex_take(text + 3, read.id, sizeof read.id) || !hex_take(text + 36, read.span, sizeof read.span) ||
        !hex_take(text + 53, &read.flags, 1) || is_zero(read.id, sizeof read.id) ||
        is_zero(read.span, sizeof read.span))
        return false;
    read.flags &= FLAGS_KNOWN;
    *ret = read;
    return true;
}

bool job_trace_of(const struct tree *ad, struct job_trace *ret)
{
    symbol name = ad && tree_is_ad(ad) ? symbols_find(ad->symbols, AD_JOB_TRACE, strlen(AD_JOB_TRACE)) : SYMBOL_NONE;
    const struct expr *part = name == SYMBOL_NONE ? NULL : tree_find(ad, tree_root(ad), name);

    memset(ret, 0, sizeof *ret);
    return part && part->kind == EXPR_STRING && job_trace_read(tree_string(ad, part), part->u.run.count, ret);
}

static void word_put(unsigned char *bytes, uint64_t word)
{
    for (size_t i = 0; i < sizeof word; i++)
        bytes[i] = (unsigned char)(word >> (56 - 8 * i));
}

static uint64_t word_take(const unsigned char *bytes)
{
    uint64_t word = 0;

    for (size_t i = 0; i < sizeof word; i++)
        word = word << 8 | bytes[i];
    return word;
}

void job_trace_make(const uint64_t words[3], struct job_trace *ret)
{
    memset(ret, 0, sizeof *ret);
    word_put(ret->id, words[0]);
    word_put(ret->id + 8, words[1] ? words[1] : 1);
    word_put(ret->span, words[2] ? words[2] : 1);
    ret->flags = SAMPLED;
}

struct job_trace job_trace_child(const struct job_trace *trace, uint64_t job, uint64_t tried)
{
    struct job_trace child = *trace;
    uint64_t span;

    if (job_trace_is_none(trace))
        return child;
    span = rng_mix(rng_mix(rng_mix(word_take(trace->id + 8) ^ word_take(trace->span)) + job) + tried);
    word_put(child.span, span ? span : 1);
    return child;
}

void job_trace_id_write(const struct job_trace *trace, char ret[JOB_TRACE_ID_LEN + 1])
{
    memset(ret, 0, JOB_TRACE_ID_LEN + 1);
    if (!job_trace_is_none(trace))
        hex_put(trace->id, sizeof trace->id, ret);
}

void job_trace_write(const struct job_trace *trace, struct text *ret)
{
    memset(ret, 0, sizeof *ret);
    if (job_trace_is_none(trace))
        return;
    memcpy(ret->bytes, "00-", 3);
    hex_put(trace->id, sizeof trace->id, ret->bytes + 3);
    ret->bytes[35] = '-';
    hex_put(trace->span, sizeof trace->span, ret->bytes + 36);
    ret->bytes[52] = '-';
    hex_put(&trace->flags, 1, ret->bytes + 53);
}
