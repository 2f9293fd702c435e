/* twin_read.c: random ads are read and copied to the same trees, whichever way.
 *
 *   stream      ads that are parsed where they stand in the window against ads whose end is searched for first, since they come byte
 *               by byte; some texts are spoilt, and both must say the same of them
 *   copy        a part that is copied as it lies against one that is copied cell by cell
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. Each difference is printed with its seed; after five of them the rest is silent. */
#include "common/grow.h"
#include "common/rounds.h"
#include "common/tap.h"
#include "lang/form/form.h"
#include "lang/text/print.h"

#include <stdlib.h>

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "A", NULL};
static const struct dialect *const dialects[] = {&dialect_classic, &dialect_condor};

enum { SAID_MAX = 5 };

struct twin {
    struct symbols *symbols;
    struct build build;
    struct grow grow;
    uint64_t seed, rounds, round, wrong, spoilt;
};

static void twin_begin(struct twin *twin, uint64_t round)
{
    twin->round = round;
    twin->build.dialect = dialects[round % 2];
    twin->grow = (struct grow){.build = &twin->build, .names = names, .odd = true};
    rng_init(&twin->grow.rng, twin->seed + round);
}

static struct tree *any_ad(struct twin *twin)
{
    grow_ad(&twin->grow, 4, grow_below(&twin->grow, 3) ? 4 : 20);
    return build_seal(&twin->build);
}

static void differ(struct twin *twin, const char *what, const char *one, const char *other)
{
    if (twin->wrong++ < SAID_MAX)
        tap_diag("seed %llu: %s\n  %s\n  %s", (unsigned long long)(twin->seed + twin->round), what, one, other);
}

/* ---------------------------------------------------------------------------------------------------------- streams */

struct stream {
    const char *text;
    size_t len, at, chunk;
};

static ptrdiff_t stream_read(void *user, char *out, size_t room, struct err *err)
{
    struct stream *stream = user;
    size_t left = stream->len - stream->at, count = stream->chunk < room ? stream->chunk : room;

    (void)err;
    count = count < left ? count : left;
    memcpy(out, stream->text + stream->at, count);
    stream->at += count;
    return (ptrdiff_t)count;
}

/* Each ad with the place where it begins, then the error if there is one. */
static void stream_print(const struct twin *twin, const struct form_limits *limits, const struct buf *text,
                         size_t chunk, struct buf *out)
{
    struct stream stream = {text->text, text->len, 0, chunk};
    struct form_reader *reader =
        form_reader_new(twin->symbols, twin->build.dialect, FORM_CLASSAD, limits, stream_read, &stream);
    struct err err = {0};
    struct tree *ad;
    int got;

    buf_reset(out);
    while ((got = form_reader_next(reader, &ad, &err)) == 1) {
        buf_addf(out, "%u:%u: ", form_reader_line(reader), form_reader_column(reader));
        print_tree(out, ad, PRINT_PLAIN);
        buf_addc(out, '\n');
        tree_unref(ad);
    }
    if (got < 0)
        buf_addf(out, "%u:%u: %s\n", err.line, err.column, err.text);
    form_reader_free(reader);
}

/* One byte becomes another that means something, comes twice, or is the last. With a limit only that: else there may come to be a
 * comment between two ads that is longer than an ad may be, and how much of that is seen at once makes a difference. */
static void spoil(struct grow *g, bool limited, struct buf *text)
{
    static const char bytes[] = "[]{}()\"'\\/*;=,. \n0aZ_\001\300";
    size_t at = grow_below(g, text->len);

    switch (limited ? 2 : grow_below(g, 3)) {
    case 0:
        text->text[at] = bytes[grow_below(g, sizeof bytes)]; /* the NUL is one of them */
        break;
    case 1:
        buf_addc(text, ' ');
        memmove(text->text + at + 1, text->text + at, text->len - 1 - at);
        break;
    default:
        text->len = at;
    }
}

static void any_text(struct twin *twin, bool limited, struct buf *text)
{
    static const char *const between[] = {"", "\n", " ", "// ] [\n", "/* ] */", "\n\n\t"};
    struct grow *g = &twin->grow;
    uint64_t count = 1 + grow_below(g, 4);

    buf_reset(text);
    for (uint64_t i = 0; i < count; i++) {
        struct tree *ad = any_ad(twin);

        print_tree(text, ad, grow_below(g, 2) ? PRINT_PLAIN : PRINT_COMPACT);
        buf_adds(text, between[grow_below(g, sizeof between / sizeof *between)]);
        tree_unref(ad);
    }
    if (grow_below(g, 2)) {
        spoil(g, limited, text);
        twin->spoilt++;
    }
}

static void streams_compare(struct twin *twin)
{
    struct buf text, whole, bytes;

    buf_init(&text);
    buf_init(&whole);
    buf_init(&bytes);
    for (uint64_t i = 0; i < twin->rounds; i++) {
        struct form_limits limits = {0};

        twin_begin(twin, i);
        if (grow_below(&twin->grow, 4) == 0)
            limits.bytes = 20 + grow_below(&twin->grow, 200); /* more than stands between two ads */
        any_text(twin, limits.bytes > 0, &text);
        if (grow_below(&twin->grow, 4) == 0)
            limits.cells = 1 + (uint32_t)grow_below(&twin->grow, 60);
        if (grow_below(&twin->grow, 4) == 0)
            limits.attributes = 1 + (uint32_t)grow_below(&twin->grow, 8);
        stream_print(twin, &limits, &text, SIZE_MAX, &whole);
        stream_print(twin, &limits, &text, 1, &bytes);
        if (whole.len != bytes.len || memcmp(whole.text, bytes.text, whole.len) != 0)
            differ(twin, buf_string(&text), buf_string(&whole), buf_string(&bytes));
    }
    tap_ok(twin->wrong == 0, "a stream is read alike whether its ads come whole or byte by byte");
    tap_ok(twin->spoilt * 4 > twin->rounds, "many of the streams are spoilt");
    buf_done(&text);
    buf_done(&whole);
    buf_done(&bytes);
}

/* ----------------------------------------------------------------------------------------------------------- copies */

/* Pushes a copy, made of nothing but what the builder offers for new expressions. */
static void slow_copy(struct build *build, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    uint32_t count = expr_part_count(e), place;

    if (e->kind == EXPR_STRING) {
        build_string(build, tree_string(tree, e), e->u.run.count);
    } else if (expr_is_literal(e)) {
        build_push(build, *e);
    } else if (e->kind == EXPR_NAME || e->kind == EXPR_ROOT_NAME || e->kind == EXPR_DOT) {
        symbols_hold(build->symbols, e->u.name.id);
        if (e->kind == EXPR_DOT)
            symbols_hold(build->symbols, EXPR_DOT_BASE(e));
        build_push(build, *e);
    }
    for (uint32_t i = 0; i < count; i++) {
        slow_copy(build, tree, &parts[i]);
        build_top(build)->label = parts[i].label;
        if (e->kind == EXPR_AD) {
            symbols_hold(build->symbols, parts[i].label);
            build_attribute(build, parts[i].label);
        }
    }
    if (e->kind == EXPR_AD) {
        build_ad(build, count, &place);
    } else if (e->kind == EXPR_PREFIX) {
        build_prefix(build, (enum op)e->small);
    } else if (e->kind == EXPR_CALL) {
        symbols_hold(build->symbols, e->u.name.id);
        build_call(build, e->u.name.id, count);
    } else if (e->kind >= EXPR_LIST && e->kind != EXPR_NAME && e->kind != EXPR_ROOT_NAME && e->kind != EXPR_DOT) {
        build_bind(build, (enum expr_kind)e->kind, count);
    }
    build_top(build)->flags = e->flags & EXPR_FLAG_PARENTHESES;
    build_top(build)->label = 0;
}

/* Are all attributes, at every depth, found by their names? */
static bool all_found(const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);

    for (uint32_t i = 0; i < expr_part_count(e); i++)
        if ((e->kind == EXPR_AD && tree_find(tree, e, parts[i].label) != &parts[i]) || !all_found(tree, &parts[i]))
            return false;
    return true;
}

static bool same_tree(const struct tree *a, const struct tree *b)
{
    struct buf text_a, text_b;
    bool same;

    buf_init(&text_a);
    buf_init(&text_b);
    print_tree(&text_a, a, PRINT_PLAIN); /* with the parentheses */
    print_tree(&text_b, b, PRINT_PLAIN);
    same = text_a.len == text_b.len && memcmp(text_a.text, text_b.text, text_a.len) == 0;
    buf_done(&text_a);
    buf_done(&text_b);
    return same && tree_size(a) == tree_size(b) && tree_equal(a, tree_root(a), b, tree_root(b)) &&
           all_found(a, tree_root(a));
}

static void copy_compare(struct twin *twin, const struct tree *tree, const struct expr *e, const char *what)
{
    struct build *build = &twin->build;
    struct tree *slow, *copy;
    uint32_t place;
    struct buf text;

    slow_copy(build, tree, e);
    slow = build_seal(build);
    for (int way = 0; way < 3; way++) {
        if (way == 1) {
            copy = build_seal_copy(build, tree, e);
        } else if (way == 2 && e->kind == EXPR_AD) {
            build_copy_parts(build, tree, e);
            build_ad(build, e->u.run.count, &place);
            build_top(build)->flags = e->flags & EXPR_FLAG_PARENTHESES;
            copy = build_seal(build);
        } else { /* not the first in its block */
            build_integer(build, 1);
            build_string(build, "xyz", 3);
            build_bind(build, EXPR_LIST, 2);
            build_copy(build, tree, e);
            build_bind(build, EXPR_LIST, 2);
            copy = build_seal(build);
            if (!tree_equal(copy, &tree_parts(copy, tree_root(copy))[1], slow, tree_root(slow)))
                differ(twin, what, "behind another part", "");
            tree_unref(copy);
            build_copy(build, tree, e);
            copy = build_seal(build);
        }
        if (!same_tree(copy, slow)) {
            buf_init(&text);
            print_tree(&text, slow, PRINT_PLAIN);
            differ(twin, what, buf_string(&text), way == 0 ? "build_copy" : way == 1 ? "build_seal_copy" : "its parts");
            buf_done(&text);
        }
        tree_unref(copy);
    }
    tree_unref(slow);
}

/* All parts of a tree, as it was put together and as it is read. */
static void copies_compare(struct twin *twin)
{
    size_t before = symbols_count(twin->symbols);

    twin->wrong = 0;
    for (uint64_t i = 0; i < twin->rounds / 10; i++) {
        struct tree *ad, *read;
        struct buf text;

        twin_begin(twin, i);
        ad = any_ad(twin);
        buf_init(&text);
        print_tree(&text, ad, PRINT_COMPACT);
        read = parse_ad(&twin->build, NULL, text.text, text.len, NULL);
        for (uint32_t k = 0; k < ad->cell_count; k++)
            if (ad->cells[k].kind < EXPR_TABLE && (ad->cells[k].kind != EXPR_UNDEFINED || k % 8 == 0))
                copy_compare(twin, ad, &ad->cells[k], "as it was put together");
        for (uint32_t k = 0; read && k < read->cell_count; k++)
            if (read->cells[k].kind < EXPR_TABLE)
                copy_compare(twin, read, &read->cells[k], "as it is read");
        if (!read)
            differ(twin, "it is not read", buf_string(&text), "");
        buf_done(&text);
        tree_unref(read);
        tree_unref(ad);
    }
    tap_ok(twin->wrong == 0, "a part is copied alike as it lies and cell by cell");
    tap_ok(symbols_count(twin->symbols) == before, "every copy gives back the names that it holds");
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(20000)};

    twin.symbols = symbols_new(NULL, 0, 1);
    build_init(&twin.build, twin.symbols, &dialect_classic);
    streams_compare(&twin);
    copies_compare(&twin);
    build_done(&twin.build);
    symbols_free(twin.symbols);
    return tap_done();
}
