/* submit_macros.c: expands everything that begins with a dollar in a submit file: $(name), $(name:else), $ENV(name), $Fnx(name), $INT(name,%03d), ...
 *
 * Expansion counts its work, so that macros that double one another end in an error before memory runs out. */
#include "lang/form/submit_expansion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int expand(struct expansion *expansion, const char *text, size_t len);

/* Expands into another buffer. */
int submit_expand_apart(const struct expansion *expansion, const char *text, size_t len, struct buf *out)
{
    struct expansion apart = *expansion;

    apart.out = out;
    return expand(&apart, text, len);
}

/* ------------------------------------------------------------------------------------------------------- what is known */

enum builtin { BUILTIN_PROCESS, BUILTIN_CLUSTER, BUILTIN_STEP, BUILTIN_ROW, BUILTIN_RETRY, BUILTIN_NODE };

static const struct {
    const char *name;
    enum builtin what;
} builtins[] = {
    {"Process", BUILTIN_PROCESS},   {"ProcId", BUILTIN_PROCESS}, {"Cluster", BUILTIN_CLUSTER},
    {"ClusterId", BUILTIN_CLUSTER}, {"Step", BUILTIN_STEP},      {"Row", BUILTIN_ROW},
    {"ItemIndex", BUILTIN_ROW},     {"Retry", BUILTIN_RETRY},    {"Node", BUILTIN_NODE},
};

static int builtin_add(const struct expansion *expansion, size_t n)
{
    const struct submit_reader *reader = expansion->reader;
    struct buf *out = expansion->out;

    if (!reader->in_item)
        return submit_fail(expansion->at, expansion->err, "$(%s) is known only behind 'queue'", builtins[n].name);
    switch (builtins[n].what) {
    case BUILTIN_PROCESS:
        if (reader->literal)
            buf_addf(out, "%" PRIu64, reader->base + reader->step);
        else
            buf_addc(out, MARK_PROCESS);
        break;
    case BUILTIN_STEP:
        if (reader->literal || (reader->fold.items && reader->count == 1))
            buf_addf(out, "%" PRIu64, reader->step);
        else
            buf_addc(out, MARK_STEP);
        break;
    case BUILTIN_ROW:
        if (reader->fold.items)
            buf_addc(out, MARK_ROW);
        else
            buf_addf(out, "%" PRIu64, reader->item);
        break;
    case BUILTIN_CLUSTER:
        buf_addc(out, MARK_CLUSTER);
        break;
    case BUILTIN_RETRY:
        buf_addc(out, MARK_RETRY);
        break;
    case BUILTIN_NODE:
        if (!submit_is_parallel(reader))
            return submit_fail(expansion->at, expansion->err, "$(Node) is known only with universe parallel");
        buf_addc(out, MARK_NODE);
        break;
    }
    return 0;
}

/* What is known of the moment of submission. False: the name is none of these, or that is not known. */
static bool moment_add(const struct submit_world *world, const char *name, size_t len, struct buf *out)
{
    if (submit_same(name, len, "SUBMIT_FILE") && world->file_name)
        buf_adds(out, world->file_name);
    else if (submit_same(name, len, "SUBMIT_TIME") && world->now)
        buf_addf(out, "%" PRId64, world->now);
    else if (submit_same(name, len, "YEAR") && world->date.year)
        buf_addf(out, "%04d", world->date.year);
    else if (submit_same(name, len, "MONTH") && world->date.year)
        buf_addf(out, "%02d", world->date.month);
    else if (submit_same(name, len, "DAY") && world->date.year)
        buf_addf(out, "%02d", world->date.day);
    else
        return false;
    return true;
}

int submit_name_add(const struct expansion *expansion, const char *name, size_t len)
{
    struct submit_reader *reader = expansion->reader;
    const struct submit_world *world = reader->world;
    struct expansion below = *expansion;
    struct submit_macro *macro;

    for (uint32_t i = 0; reader->in_item && i < reader->variable_count; i++)
        if (submit_same(name, len, reader->variables[i].name)) {
            if (reader->fold.items) {
                buf_addc(expansion->out, (char)(MARK_VARIABLE + (int)i));
                return 1;
            }
            below.depth++;
            return expand(&below, reader->variables[i].value, reader->variables[i].len) < 0 ? -1 : 1;
        }
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (submit_same(name, len, builtins[i].name) &&
            ((builtins[i].what != BUILTIN_RETRY && builtins[i].what != BUILTIN_NODE) ||
             !submit_macro(reader, name, len))) /* many have a macro of that name */
            return builtin_add(expansion, i) < 0 ? -1 : 1;
    macro = submit_macro(reader, name, len);
    if (macro) {
        macro->used = true;
        below.depth++;
        return expand(&below, macro->value, macro->len) < 0 ? -1 : 1;
    }
    if (submit_same(name, len, "dollar")) {
        buf_addc(expansion->out, '$');
        return 1;
    }
    if ((submit_same(name, len, "arch") && world->arch) || (submit_same(name, len, "opsys") && world->system)) {
        buf_adds(expansion->out, submit_same(name, len, "arch") ? world->arch : world->system);
        return 1;
    }
    if (moment_add(world, name, len, expansion->out))
        return 1;
    return 0;
}

static int reference(const struct expansion *expansion, const char *body, size_t len)
{
    const char *colon = memchr(body, ':', len), *name = body;
    size_t name_len = colon ? (size_t)(colon - body) : len;
    int found;

    submit_trim(&name, &name_len);
    if (!name_len)
        return submit_fail(expansion->at, expansion->err, "expected a name in '$()'");
    found = submit_name_add(expansion, name, name_len);
    if (found)
        return found < 0 ? -1 : 0;
    if (colon) {
        struct expansion below = *expansion;

        below.depth++;
        return expand(&below, colon + 1, len - (size_t)(colon - body) - 1);
    }
    if (textmap_find(&expansion->reader->missing, name, name_len) == TEXTMAP_NONE &&
        expansion->reader->missing.count < SUBMIT_MACROS_MAX) {
        textmap_add(&expansion->reader->missing, name, name_len);
        submit_remark(expansion->reader, expansion->at, "$(%.*s) is not defined: nothing stands in its place",
                      name_len > 60 ? 60 : (int)name_len, name);
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- a value */

/* The place of the bracket that closes the one in front of `start`; `len` when there is none. */
static size_t closing(const char *text, size_t len, size_t start)
{
    unsigned depth = 1;

    for (size_t i = start; i < len; i++) {
        if (text[i] == '(')
            depth++;
        else if (text[i] == ')' && --depth == 0)
            return i;
    }
    return len;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Expands the text behind a dollar: 1 and how many bytes that was; 0 when it is only a dollar; -1. */
static int dollar(const struct expansion *expansion, const char *text, size_t len, size_t *ret_taken)
{
    size_t word = 0, end;
    int result;

    while (word < len && is_letter(text[word]))
        word++;
    if (word >= len || text[word] != '(')
        return 0;
    end = closing(text, len, word + 1);
    if (end == len)
        return submit_fail(expansion->at, expansion->err, "expected ')' to close '$%.*s('", word > 30 ? 30 : (int)word,
                           text);
    *ret_taken = end + 1;
    if (!word)
        return reference(expansion, text + 1, end - 1) < 0 ? -1 : 1;
    result = submit_function(expansion, text, word, text + word + 1, end - word - 1);
    return result < 0 ? -1 : 1;
}

/* Notes what stands in $$(...), which the machine that is found fills in, and leaves a mark for it. `text` begins at the second dollar. 1, or -1. */
static int found_add(const struct expansion *expansion, const char *text, size_t len, size_t *ret_taken)
{
    struct textmap *known = &expansion->reader->found;
    struct expansion below = *expansion;
    size_t end = closing(text, len, 2);
    uint32_t place = TEXTMAP_NONE;
    struct buf body;

    if (end == len)
        return submit_fail(expansion->at, expansion->err, "expected ')' to close '$$('");
    buf_init(&body);
    below.depth++;
    if (submit_expand_apart(&below, text + 2, end - 2, &body) < 0) {
        buf_done(&body);
        return -1;
    }
    if (body.len && submit_is_fixed(body.text, body.len) &&
        (known->places < SUBMIT_FOUND_MAX || textmap_find(known, body.text, body.len) != TEXTMAP_NONE))
        place = textmap_add(known, body.text, body.len);
    buf_done(&body);
    if (place == TEXTMAP_NONE)
        return submit_fail(expansion->at, expansion->err,
                           "expected the name of an attribute in '$$()', the same for all jobs, and at most %d of them",
                           SUBMIT_FOUND_MAX);
    buf_addc(expansion->out, MARK_FOUND);
    buf_addc(expansion->out, (char)('A' + (int)place));
    *ret_taken = end + 1;
    return 1;
}

static int spend(const struct expansion *expansion, size_t amount)
{
    struct submit_reader *reader = expansion->reader;

    reader->work += amount;
    if (reader->work > submit_work_max(reader))
        return submit_fail(expansion->at, expansion->err, "expected less: the macros of this file expand to too much");
    if (expansion->out->len > SUBMIT_VALUE_MAX)
        return submit_fail(expansion->at, expansion->err, "expected a value of at most %u bytes, macros expanded",
                           SUBMIT_VALUE_MAX);
    return 0;
}

static int expand(struct expansion *expansion, const char *text, size_t len)
{
    size_t start = 0, taken = 0;

    if (expansion->depth > SUBMIT_DEPTH_MAX)
        return submit_fail(expansion->at, expansion->err, "expected macros at most %d deep: does one mean itself?",
                           SUBMIT_DEPTH_MAX);
    for (size_t i = 0; i < len; i++) {
        int found;

        if (text[i] != '$')
            continue;
        buf_add(expansion->out, text + start, i - start);
        if (spend(expansion, i - start + 16) < 0)
            return -1;
        start = i;
        if (i + 2 < len && text[i + 1] == '$' && text[i + 2] == '(')
            found = found_add(expansion, text + i + 1, len - i - 1, &taken);
        else
            found = dollar(expansion, text + i + 1, len - i - 1, &taken);
        if (found < 0)
            return -1;
        if (found) {
            i += taken;
            start = i + 1;
        }
    }
    buf_add(expansion->out, text + start, len - start);
    return spend(expansion, len - start + 16);
}

int submit_expand(struct submit_reader *reader, const char *text, size_t len, struct submit_place at, struct buf *out,
                  struct err *err)
{
    struct expansion expansion = {reader, at, out, err, 0};

    buf_reserve(out, 1);
    return expand(&expansion, text, len);
}
