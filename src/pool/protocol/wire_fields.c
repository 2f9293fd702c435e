/* wire_fields.c: a list of fields as the attributes of an ad. * The table has a row for each sort of field: how it is
 * written, which cells may stand for it, and how it is read. A `seen` and an edge are lists of fields themselves. */
#include "pool/protocol/wire_fields.h"

#include "lang/ad/value.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "pool/protocol/wire.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- names */

static const char *const reason_ids[] = {
#define X(id, words) #id,
    REASONS(X)
#undef X
};

#define SEEN_FIELDS(F, S) F(S, WORD, incarnation) F(S, WORD, last) F(S, WORD, beyond)
#define EDGE_FIELDS(F, S)  \
    F(S, WORD, claim)      \
    F(S, WORD, agent)      \
    F(S, WORD, offer)      \
    F(S, WORD, depth)      \
    F(S, LATER_WORD, port) \
    F(S, LATER_WORD, link) F(S, KEY, ticket) F(S, AD, ad) F(S, QUIET_WORD, under) F(S, AD, receipt)

static const struct field seen_fields[] = {SEEN_FIELDS(FIELD_ROW, seen)};
static const struct field edge_fields[] = {EDGE_FIELDS(FIELD_ROW, edge)};

static const struct layout seen_layout = {"seen", seen_fields, sizeof seen_fields / sizeof *seen_fields,
                                          sizeof(struct seen)};
static const struct layout edge_layout = {"edge", edge_fields, sizeof edge_fields / sizeof *edge_fields,
                                          sizeof(struct edge)};

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static char to_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c & ~0x20) : c;
}

/* superior_ad: SuperiorAd. */
static size_t name_of_field(const char *field, char out[WIRE_NAME_ROOM])
{
    size_t len = 0;

    for (bool first = true; *field && len < WIRE_NAME_ROOM - 1; field++) {
        if (*field != '_')
            out[len++] = first ? to_upper(*field) : *field;
        first = *field == '_';
    }
    out[len] = '\0';
    return len;
}

/* VERIFY: verify. */
size_t wire_name_of_id(const char *id, char out[WIRE_NAME_ROOM])
{
    size_t len = 0;

    for (; len < WIRE_NAME_ROOM - 1 && *id; id++)
        out[len++] = to_lower(*id);
    out[len] = '\0';
    return len;
}

static bool id_is(const char *id, const char *text, size_t len)
{
    char name[WIRE_NAME_ROOM];

    return wire_name_of_id(id, name) == len && memcmp(name, text, len) == 0;
}

/* --------------------------------------------------------------------------------------------------- hexadecimal */

static void hex_write(const unsigned char *bytes, size_t count, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The digits may be secret: errors do not repeat them. */
static int hex_read(const char *text, size_t len, unsigned char *bytes, size_t count, struct err *err)
{
    if (len != 2 * count)
        return err_set(err, "expected %zu hexadecimal digits, got %zu bytes", 2 * count, len);
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return err_set(err, "expected %zu hexadecimal digits in lower case", 2 * count);
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- writing */

void wire_push_ad(struct build *build, uint32_t count)
{
    uint32_t place;

    build_ad(build, count, &place); /* never fails: no two fields of a list have the same name */
}

void wire_name_top(struct build *build, const char *name, size_t len)
{
    build_attribute(build, symbols_take(build->symbols, name, len));
}

void wire_push_id(struct build *build, const char *id)
{
    char name[WIRE_NAME_ROOM];

    build_string(build, name, wire_name_of_id(id, name));
}

static bool push_number(struct build *build, const void *at)
{
    build_integer(build, *(const int64_t *)at);
    return true;
}

static bool push_word(struct build *build, const void *at)
{
    uint64_t word = *(const uint64_t *)at;
    unsigned char bytes[sizeof word];
    char digits[2 * sizeof word];

    for (size_t i = 0; i < sizeof word; i++)
        bytes[i] = (unsigned char)(word >> (56 - 8 * i));
    hex_write(bytes, sizeof bytes, digits);
    build_string(build, digits, sizeof digits);
    return true;
}

static bool push_flag(struct build *build, const void *at)
{
    build_boolean(build, *(const bool *)at);
    return true;
}

static bool push_reason(struct build *build, const void *at)
{
    enum reason reason = *(const enum reason *)at;

    wire_push_id(build, (unsigned)reason < REASON_COUNT ? reason_ids[reason] : "?");
    return true;
}

static bool push_text(struct build *build, const void *at)
{
    const struct text *text = at;

    build_string(build, text->bytes, strnlen(text->bytes, sizeof text->bytes));
    return true;
}

static bool push_key(struct build *build, const void *at)
{
    const struct key *key = at;
    char digits[2 * KEY_BYTES];

    hex_write(key->bytes, KEY_BYTES, digits);
    build_string(build, digits, sizeof digits);
    return true;
}

static bool push_seen(struct build *build, const void *at)
{
    wire_push_ad(build, wire_push_fields(build, &seen_layout, at));
    return true;
}

/* Is the expression nested no deeper than `levels`? */
static bool is_shallow(const struct tree *tree, const struct expr *e, uint32_t levels)
{
    const struct expr *parts = tree_parts(tree, e);
    uint32_t count = expr_part_count(e);

    if (!levels)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!expr_is_literal(&parts[i]) && !is_shallow(tree, &parts[i], levels - 1))
            return false;
    return true;
}

/* Each level takes up to two of the depth that the parser allows, one of them for parentheses. */
static bool can_nest(const struct build *build, const struct tree *ad)
{
    return ad->dialect == build->dialect &&
           (ad->cell_count <= WIRE_LEVELS_MAX || is_shallow(ad, tree_root(ad), WIRE_LEVELS_MAX));
}

/* The parser does not take an ad in parentheses for an ad. */
static struct expr without_parentheses(const struct expr *e)
{
    struct expr plain = *e;

    plain.flags &= (unsigned char)~EXPR_FLAG_PARENTHESES;
    return plain;
}

static bool push_tree(struct build *build, const void *at)
{
    const struct tree *ad = *(struct tree *const *)at;
    struct expr plain;
    struct buf text;

    if (!ad)
        return false;
    if (can_nest(build, ad)) {
        plain = without_parentheses(tree_root(ad));
        build_copy(build, ad, &plain);
        return true;
    }
    buf_init(&text);
    buf_adds(&text, ad->dialect->name);
    buf_addc(&text, ' ');
    print_tree(&text, ad, PRINT_COMPACT);
    build_string(build, text.text, text.len);
    buf_done(&text);
    return true;
}

static bool push_edges(struct build *build, const void *at)
{
    const struct edges *edges = *(struct edges *const *)at;

    if (!edges)
        return false;
    for (uint32_t i = 0; i < edges->count; i++)
        wire_push_ad(build, wire_push_fields(build, &edge_layout, &edges->items[i]));
    build_bind(build, EXPR_LIST, edges->count);
    return true;
}

/* --------------------------------------------------------------------------------------------------------- reading */

/* A linear search where attributes are few: most messages have few, and are asked for many. */
static const struct expr *source_find(const struct wire_source *source, const char *name, size_t len)
{
    const struct expr *parts = tree_parts(source->tree, source->ad);
    symbol known;

    if (source->ad->u.run.count < TREE_TABLE_FROM) {
        for (uint32_t i = 0; i < source->ad->u.run.count; i++)
            if (symbols_named(source->tree->symbols, parts[i].label, name, len))
                return &parts[i];
        return NULL;
    }
    known = symbols_find(source->tree->symbols, name, len);
    return known == SYMBOL_NONE ? NULL : tree_find(source->tree, source->ad, known);
}

/* The attribute of that name, which counts as taken; or NULL. */
static const struct expr *source_take(struct wire_source *source, const char *name, size_t len)
{
    const struct expr *e = source_find(source, name, len);
    size_t place = e ? (size_t)(e - tree_parts(source->tree, source->ad)) : 0;

    if (e && place < 64)
        source->taken |= (uint64_t)1 << place;
    return e;
}

/* The number of the id that the string names, or -1. Where the list has NONE, no string names it. */
static int read_id(const struct wire_source *source, const struct expr *e, const char *const *ids, unsigned count,
                   unsigned first, const char *what, struct err *err)
{
    const char *text = tree_string(source->tree, e);
    uint32_t len = e->u.run.count;
    struct buf quoted;

    for (unsigned i = first; i < count; i++)
        if (id_is(ids[i], text, len))
            return (int)i;
    buf_init(&quoted);
    print_string(&quoted, text, len < 40 ? len : 40, PRINT_PLAIN);
    err_set(err, "no %s is called %s%s", what, buf_string(&quoted), len > 40 ? "..." : "");
    buf_done(&quoted);
    return -1;
}

static int read_number(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    (void)source;
    (void)err;
    *(int64_t *)at = e->u.integer;
    return 0;
}

static int read_word(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    unsigned char bytes[sizeof(uint64_t)];
    uint64_t word = 0;

    if (hex_read(tree_string(source->tree, e), e->u.run.count, bytes, sizeof bytes, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof bytes; i++)
        word = word << 8 | bytes[i];
    *(uint64_t *)at = word;
    return 0;
}

static int read_flag(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    (void)source;
    (void)err;
    *(bool *)at = e->small != 0;
    return 0;
}

static int read_reason(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    int reason = read_id(source, e, reason_ids, REASON_COUNT, 0, "reason", err);

    if (reason < 0)
        return -1;
    *(enum reason *)at = (enum reason)reason;
    return 0;
}

static int read_text(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    if (text_set(at, tree_string(source->tree, e), e->u.run.count))
        return 0;
    return err_set(err, "expected up to %d bytes, no NUL among them, got %u", TEXT_MAX, e->u.run.count);
}

static int read_key(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    struct key *key = at;

    return hex_read(tree_string(source->tree, e), e->u.run.count, key->bytes, KEY_BYTES, err);
}

static int read_whole(const struct wire_source *around, const struct expr *ad, const struct layout *layout,
                      void *structure, struct err *err)
{
    struct wire_source source = {.tree = around->tree, .ad = ad, .build = around->build};

    return wire_read_fields(&source, layout, structure, err) < 0 ? -1 : wire_read_end(&source, err);
}

static int read_seen(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    return read_whole(source, e, &seen_layout, at, err);
}

/* "condor [a=1]" */
static struct tree *read_tree_text(struct wire_source *source, const char *text, uint32_t len, struct err *err)
{
    static const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    const char *blank = memchr(text, ' ', len < WIRE_NAME_ROOM ? len : WIRE_NAME_ROOM);
    size_t skip = blank ? (size_t)(blank - text) + 1 : 0;
    char name[WIRE_NAME_ROOM] = "";
    const struct dialect *dialect;
    struct err inner = {0};
    struct tree *ad;

    if (blank)
        memcpy(name, text, skip - 1);
    dialect = strlen(name) + 1 == skip ? dialect_find(name) : NULL;
    if (!dialect) {
        err_set(err, "expected the name of a dialect, a blank and an ad's text");
        return NULL;
    }
    source->build->dialect = dialect;
    ad = parse_ad(source->build, &options, text + skip, len - skip, &inner);
    if (!ad)
        err_set(err, "%s at %u:%u of its text", inner.text, inner.line, inner.column);
    return ad;
}

static int read_tree(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    struct tree *ad;

    if (e->kind == EXPR_STRING) {
        ad = read_tree_text(source, tree_string(source->tree, e), e->u.run.count, err);
    } else {
        struct expr plain = without_parentheses(e);

        source->build->dialect = source->tree->dialect;
        ad = build_seal_copy(source->build, source->tree, &plain);
    }
    *(struct tree **)at = ad;
    return ad ? 0 : -1;
}

static int read_edges(struct wire_source *source, const struct expr *e, void *at, struct err *err)
{
    const struct expr *items = tree_parts(source->tree, e);
    uint32_t count = e->u.run.count;
    struct edges *edges;

    if (count > EDGES_MAX)
        return err_set(err, "expected up to %d edges, got %u", EDGES_MAX, count);
    edges = edges_new(count);
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind != EXPR_AD)
            err_set(err, "expected an ad");
        else if (read_whole(source, &items[i], &edge_layout, &edges->items[i], err) == 0)
            continue;
        edges_unref(edges);
        return err_context(err, "edge %u", i + 1);
    }
    *(struct edges **)at = edges;
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- sorts */

#define KIND(kind) (1u << EXPR_##kind)

static const struct sort_row {
    const char *what;
    unsigned kinds;                                    /* bits: the kinds of cells that may stand for it */
    bool optional;                                     /* the field may be missing, and is NULL then */
    bool (*push)(struct build *build, const void *at); /* false: nothing to write */
    int (*read)(struct wire_source *source, const struct expr *e, void *at, struct err *err);
} sorts[] = {
    [FIELD_NUMBER] = {"an integer", KIND(INTEGER), false, push_number, read_number},
    [FIELD_WORD] = {"a string of 16 hexadecimal digits", KIND(STRING), false, push_word, read_word},
    [FIELD_FLAG] = {"true or false", KIND(BOOLEAN), false, push_flag, read_flag},
    [FIELD_REASON] = {"a reason as a string", KIND(STRING), false, push_reason, read_reason},
    [FIELD_TEXT] = {"a string", KIND(STRING), false, push_text, read_text},
    [FIELD_KEY] = {"a string of 64 hexadecimal digits", KIND(STRING), false, push_key, read_key},
    [FIELD_SEEN] = {"an ad", KIND(AD), false, push_seen, read_seen},
    [FIELD_AD] = {"an ad", KIND(AD) | KIND(STRING), true, push_tree, read_tree},
    [FIELD_EDGES] = {"a list of ads", KIND(LIST), true, push_edges, read_edges},
};

/* Pushes the fields as attributes; returns how many are there. */
uint32_t wire_push_fields(struct build *build, const struct layout *layout, const void *structure)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];
        char name[WIRE_NAME_ROOM];

        if (field_is_left_out(field, structure) || !sorts[field->sort].push(build, (const char *)structure + field->at))
            continue;
        wire_name_top(build, name, name_of_field(field->name, name));
        count++;
    }
    return count;
}

static int expect_kind(const struct expr *e, unsigned kinds, const char *what, struct err *err)
{
    if (kinds >> e->kind & 1)
        return 0;
    return err_set(err, "expected %s, got %s", what,
                   e->kind <= EXPR_AD ? value_type_name((enum value_type)e->kind) : "an expression");
}

int wire_read_fields(struct wire_source *source, const struct layout *layout, void *structure, struct err *err)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];
        const struct sort_row *sort = &sorts[field->sort];
        char name[WIRE_NAME_ROOM];
        const struct expr *e;

        if (source->brief && source->ad->u.run.count < 64 &&
            source->taken + 1 == UINT64_C(1) << source->ad->u.run.count)
            break; /* all attributes of the ad have been read */
        e = source_take(source, name, name_of_field(field->name, name));

        if (!e && field->missing)
            *(int64_t *)(void *)((char *)structure + field->at) = field->missing;
        if (!e && (sort->optional || field->later || source->brief))
            continue;
        if (!e)
            return err_set(err, "%s: missing", name);
        if (source->skip && !strcmp(field->name, source->skip))
            continue;
        if (expect_kind(e, sort->kinds, sort->what, err) < 0 ||
            sort->read(source, e, (char *)structure + field->at, err) < 0)
            return err_context(err, "%s", name);
    }
    return 0;
}

int wire_read_end(const struct wire_source *source, struct err *err)
{
    const struct expr *parts = tree_parts(source->tree, source->ad);
    struct buf name;

    for (uint32_t i = 0; i < source->ad->u.run.count; i++) {
        size_t len;
        const char *text;

        if (i < 64 && source->taken >> i & 1)
            continue;
        buf_init(&name);
        text = symbols_text(source->tree->symbols, parts[i].label, &len);
        print_name(&name, &dialect_condor, text, len < 80 ? len : 80);
        err_set(err, "%s: no such field", buf_string(&name));
        buf_done(&name);
        return -1;
    }
    return 0;
}

/* The number of the kind; -1 when it is none of them. */
int wire_read_kind(struct wire_source *source, const char *name, const char *const *ids, unsigned count,
                   const char *what, struct err *err)
{
    const struct expr *e;
    int kind;

    if (source->ad->kind != EXPR_AD)
        return err_set(err, "a %s is an ad", what);
    e = source_take(source, name, strlen(name));
    if (!e)
        return err_set(err, "%s: missing", name);
    if (expect_kind(e, KIND(STRING), "a string", err) < 0)
        return err_context(err, "%s", name);
    kind = read_id(source, e, ids, count, 1, what, err);
    return kind < 0 ? err_context(err, "%s", name) : kind;
}
