/* wire_test.c: messages and records come back from their text as they were; what is none is refused, and the field named. */
#include "common/lang.h"
#include "common/pool.h"
#include "common/tap.h"

#include "lang/form/form.h"
#include "pool/protocol/wire.h"

#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ----------------------------------------------------------------------------------------------- random contents */

struct world {
    struct lang lang;
    struct rng rng;
    struct buf text;
    struct tree *deep[2]; /* as deep as an ad can be, in each dialect */
};

static struct tree *ad_of(struct world *world, const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(&world->lang, dialect, text, &err);

    if (!tree) {
        printf("Bail out! %s: %u:%u: %s\n", text, err.line, err.column, err.text);
        exit(1);
    }
    return tree;
}

static struct tree *deep_ad(struct world *world, const struct dialect *dialect)
{
    buf_reset(&world->text);
    for (int i = 0; i < TREE_DEPTH_MAX; i++)
        buf_adds(&world->text, "[ a = ");
    buf_adds(&world->text, "-1");
    for (int i = 0; i < TREE_DEPTH_MAX; i++)
        buf_adds(&world->text, " ]");
    return ad_of(world, dialect, buf_string(&world->text));
}

static struct tree *random_ad(struct world *world)
{
    const struct dialect *dialect = rng_below(&world->rng, 3) ? &dialect_classic : &dialect_condor;
    struct pool_maker m = {.rng = &world->rng, .out = &world->text, .dialect = dialect};
    struct pool_style style;

    if (rng_below(&world->rng, 50) == 0)
        return tree_ref(world->deep[dialect == &dialect_condor]);
    style = pool_style(&m);
    m.style = &style;
    m.side = (int)rng_below(&world->rng, 2);
    pool_add_ad(&m);
    return ad_of(world, dialect, buf_string(&world->text));
}

static uint64_t random_word(struct rng *rng)
{
    static const uint64_t odd[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, 0xabcdef};

    return rng_below(rng, 4) ? rng_next(rng) : odd[rng_below(rng, COUNT(odd))];
}

static void random_text(struct rng *rng, struct text *text)
{
    char bytes[TEXT_MAX];
    size_t len = rng_below(rng, TEXT_MAX + 1);
    bool odd = rng_below(rng, 2);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(odd ? 1 + rng_below(rng, 255) : 'a' + rng_below(rng, 26));
    text_set(text, bytes, len);
}

static void random_key(struct rng *rng, struct key *key)
{
    for (size_t i = 0; i < KEY_BYTES; i++)
        key->bytes[i] = (unsigned char)rng_next(rng);
}

static struct edges *random_edges(struct world *world)
{
    uint32_t count = rng_below(&world->rng, 20) ? (uint32_t)rng_below(&world->rng, 4) : EDGES_MAX;
    struct edges *edges = edges_new(count);

    for (uint32_t i = 0; i < count; i++) {
        edges->items[i].claim = random_word(&world->rng);
        edges->items[i].agent = random_word(&world->rng);
        edges->items[i].offer = random_word(&world->rng);
        random_key(&world->rng, &edges->items[i].ticket);
        edges->items[i].ad = rng_below(&world->rng, 8) ? random_ad(world) : NULL;
    }
    return edges;
}

/* `whole`: nothing that need not be there is left out. */
static void random_fields(struct world *world, const struct layout *layout, void *structure, bool whole)
{
    struct rng *rng = &world->rng;

    memset(structure, 0, layout->size);
    for (uint32_t i = 0; i < layout->count; i++) {
        void *at = (char *)structure + layout->fields[i].at;

        switch (layout->fields[i].sort) {
        case FIELD_NUMBER:
            *(int64_t *)at = (int64_t)random_word(rng);
            break;
        case FIELD_WORD:
            *(uint64_t *)at = random_word(rng);
            break;
        case FIELD_FLAG:
            *(bool *)at = rng_below(rng, 2);
            break;
        case FIELD_REASON:
            *(enum reason *)at = (enum reason)rng_below(rng, REASON_COUNT);
            break;
        case FIELD_TEXT:
            random_text(rng, at);
            break;
        case FIELD_KEY:
            random_key(rng, at);
            break;
        case FIELD_SEEN:
            *(struct seen *)at = (struct seen){random_word(rng), random_word(rng), random_word(rng)};
            break;
        case FIELD_AD:
            *(struct tree **)at = whole || rng_below(rng, 5) ? random_ad(world) : NULL;
            break;
        case FIELD_EDGES:
            *(struct edges **)at = whole || rng_below(rng, 5) ? random_edges(world) : NULL;
            break;
        }
    }
}

static void random_message(struct world *world, enum message_kind kind, bool whole, struct message *ret)
{
    const struct layout *layout = message_layout(kind);

    memset(ret, 0, sizeof *ret);
    ret->kind = kind;
    random_fields(world, layout, &ret->u, whole);
    if (kind == MESSAGE_CONTROL)
        ret->u.control.verb = rng_below(&world->rng, CONTROL_COUNT);
}

static void random_record(struct world *world, enum record_kind kind, bool removed, bool whole, struct record *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->kind = kind;
    ret->removed = removed;
    ret->key = random_word(&world->rng);
    if (!removed)
        random_fields(world, record_layout(kind), &ret->u, whole);
}

/* -------------------------------------------------------------------------------------------------- round trips */

/* Has each ad kept its dialect? What is compared is equal otherwise. */
static bool dialects_same(const struct layout *layout, const void *a, const void *b)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        const void *x = (const char *)a + layout->fields[i].at, *y = (const char *)b + layout->fields[i].at;

        if (layout->fields[i].sort == FIELD_AD) {
            const struct tree *p = *(struct tree *const *)x, *q = *(struct tree *const *)y;

            if (p && p->dialect != q->dialect)
                return false;
        } else if (layout->fields[i].sort == FIELD_EDGES) {
            const struct edges *p = *(struct edges *const *)x, *q = *(struct edges *const *)y;

            for (uint32_t j = 0; p && j < p->count; j++)
                if (p->items[j].ad && p->items[j].ad->dialect != q->items[j].ad->dialect)
                    return false;
        }
    }
    return true;
}

/* The ad as it comes back from its text in that form. */
static struct tree *through(struct world *world, enum form form, const struct tree *ad, struct err *err)
{
    struct tree *back = NULL;

    buf_reset(&world->text);
    if (form_write_ad(&world->text, form, ad, err) == 0)
        back = form_parse(world->lang.symbols, ad->dialect, form, NULL, world->text.text, world->text.len, err);
    return back;
}

static bool message_survives(struct world *world, const struct message *message, enum form form, struct err *err)
{
    struct tree *ad = wire_message(world->lang.symbols, message), *back = through(world, form, ad, err);
    struct message again = {0};
    bool same = back && wire_read_message(back, &again, err) == 0 && message_equal(message, &again) &&
                dialects_same(message_layout(message->kind), &message->u, &again.u);

    message_done(&again);
    tree_unref(ad);
    tree_unref(back);
    return same;
}

static bool record_survives(struct world *world, const struct record *record, enum form form, struct err *err)
{
    struct tree *ad = wire_record(world->lang.symbols, record), *back = through(world, form, ad, err);
    struct record again = {0};
    bool same = back && wire_read_record(back, &again, err) == 0 && record_equal(record, &again) &&
                (record->removed || dialects_same(record_layout(record->kind), &record->u, &again.u));

    record_done(&again);
    tree_unref(ad);
    tree_unref(back);
    return same;
}

static void check_messages(struct world *world, uint64_t seed, uint64_t rounds)
{
    for (int kind = MESSAGE_NONE + 1; kind < MESSAGE_COUNT; kind++) {
        const char *name = message_layout((enum message_kind)kind)->name;
        struct err err = {0};
        bool good = true;

        for (uint64_t i = 0; i < rounds && good; i++) {
            struct message message;

            random_message(world, (enum message_kind)kind, false, &message);
            good = wire_same(world->lang.symbols, &message, &err) &&
                   message_survives(world, &message, FORM_CLASSAD, &err) &&
                   message_survives(world, &message, FORM_JSON, &err);
            message_done(&message);
        }
        if (!tap_ok(good, "a %s comes back as it was, whatever it holds, as text and as JSON", name))
            tap_diag("BERTH_SEED=%llu: %s", (unsigned long long)seed, err.text);
    }
}

static void check_records(struct world *world, uint64_t seed, uint64_t rounds)
{
    for (int kind = RECORD_NONE + 1; kind < RECORD_COUNT; kind++) {
        const char *name = record_layout((enum record_kind)kind)->name;
        struct err err = {0};
        bool good = true;

        for (uint64_t i = 0; i < rounds && good; i++) {
            struct record record;

            random_record(world, (enum record_kind)kind, rng_below(&world->rng, 5) == 0, false, &record);
            good = wire_same_record(world->lang.symbols, &record, &err) &&
                   record_survives(world, &record, FORM_CLASSAD, &err) &&
                   record_survives(world, &record, FORM_JSON, &err);
            record_done(&record);
        }
        if (!tap_ok(good, "a %s comes back as it was, also a removed one", name))
            tap_diag("BERTH_SEED=%llu: %s", (unsigned long long)seed, err.text);
    }
}

/* --------------------------------------------------------------------------------------------------- ads inside */

static const struct ad_case {
    const char *sentence, *ad;
    bool condor;
} ads[] = {
    {"an ad without attributes comes back", "[]", false},
    {"attributes keep their spelling, also that of the message's own fields",
     "[ mESSAGE = \"verify\"; CLAIM = 1; cLaim2 = claim; aD = [ ad = 2; Ad2 = AD ] ]", false},
    {"parentheses stay where they stood", "[ a = ((1 + 2)) * (3); b = ([ c = (1) ]); d = -(5); e = ({ 1 }) ]", false},
    {"names that reach outwards are left as they are", "[ a = parent.b; b = .c; c = root.d; d = self.e; e = other.f ]",
     false},
    {"numbers keep every bit",
     "[ a = 0.1; b = 5e-324; c = -0.0; d = real(\"NaN\"); e = real(\"-INF\"); f = int(\"-9223372036854775808\") ]",
     false},
    {"times and spans come back", "[ a = '2026-03-01T12:00:00+02:00'; b = '7:30'; c = '12d3:00:01' ]", false},
    {"strings with all kinds of bytes come back", "[ a = \"\\\"\\\\ \\001\\n\\377 \xc3\xa9\"; b = \"\" ]", false},
    {"more attributes than are searched one by one come back",
     "[ a = 1; b = 2; c = 3; d = 4; e = 5; f = 6; g = 7; h = 8; i = 9; j = 10; k = 11; l = 12 ]", false},
    {"every kind of expression comes back",
     "[ a = b ? c : d ? e : f; g = h.i[1].j[\"k\"]; l = !m || -n >= ~o; p = { 1, {}, [ q = 2K ] }; r = s(t, 1) is u ]",
     false},
    {"an ad that is like a message comes back", "[ Message = \"abort\"; Claim = \"0000000000000001\" ]", false},
    {"an ad of HTCondor's dialect stays one", "[ a = b && 1; c = d =?= undefined ]", true},
    {"quoted names come back", "[ 'odd name' = 'other one'.x; 'it\\'s' = 2; 'is' = 3; '\\001' = .'a b' ]", true},
    {"times of HTCondor's dialect come back", "[ a = absTime(\"1960-01-01T00:00:00Z\"); b = relTime(\"00:07\") ]",
     true},
};

/* What an ad is inside a message it is outside. */
static bool ad_survives(struct world *world, struct tree *ad)
{
    struct message message = {.kind = MESSAGE_ACTIVATE, .u.activate = {.claim = 1, .ad = ad}}, back = {0};
    struct tree *wire = wire_message(world->lang.symbols, &message), *read = NULL;
    struct err err = {0};
    bool same;

    buf_reset(&world->text);
    wire_print(&world->text, wire);
    same = wire_parse(world->lang.symbols, world->text.text, world->text.len, &read, &err) == 0 &&
           wire_read_message(read, &back, &err) == 0 && message_equal(&message, &back) &&
           back.u.activate.ad->dialect == ad->dialect && tree_is_ad(back.u.activate.ad) &&
           strcmp(lang_show_tree(ad), lang_show_tree(back.u.activate.ad)) == 0;
    if (!same)
        tap_diag("%.*s\n%s", (int)(world->text.len < 2000 ? world->text.len : 2000), world->text.text, err.text);
    message_done(&back);
    tree_unref(wire);
    tree_unref(read);
    return same;
}

static void check_ads(struct world *world)
{
    for (size_t i = 0; i < COUNT(ads); i++) {
        struct tree *ad = ad_of(world, ads[i].condor ? &dialect_condor : &dialect_classic, ads[i].ad);

        tap_ok(ad_survives(world, ad), "%s", ads[i].sentence);
        tree_unref(ad);
    }
    tap_ok(ad_survives(world, world->deep[0]) && ad_survives(world, world->deep[1]),
           "an ad that is as deep as ads can be comes back");
}

/* An ad so deep, by one means or another; NULL when it is too deep for an ad. */
static struct tree *nested_ad(struct world *world, const char *open, const char *close, int depth)
{
    buf_reset(&world->text);
    buf_adds(&world->text, "[ a = ");
    for (int i = 0; i < depth; i++)
        buf_adds(&world->text, open);
    buf_adds(&world->text, "2");
    for (int i = 0; i < depth; i++)
        buf_adds(&world->text, close);
    buf_adds(&world->text, " ]");
    return lang_ad(&world->lang, &dialect_classic, buf_string(&world->text), NULL);
}

/* Somewhere the one way of writing ends and the other begins. */
static void check_depths(struct world *world)
{
    static const char *const means[][2] = {{"(1 + ", ")"},  {"(-", ")"},      {"(f(", "))"},      {"({ ", " })"},
                                           {"[ b = ", "]"}, {"(1 ? ", ":3)"}, {"(b.c[1][", "])"}, {"(1 + -", ")"}};

    for (size_t i = 0; i < COUNT(means); i++) {
        struct tree *ad;
        int depth = 0;
        bool same = true;

        for (; same && (ad = nested_ad(world, means[i][0], means[i][1], depth)); depth++) {
            same = ad_survives(world, ad);
            tree_unref(ad);
        }
        tap_ok(same && depth >= TREE_DEPTH_MAX / 2 - 1, "an ad of %s comes back whatever its depth, up to %d",
               means[i][0], depth - 1);
    }
}

/* ------------------------------------------------------------------------------------------------------ the text */

#define KEY64 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
#define WORD1 "\"0000000000000001\""
#define EDGE                                                                                                         \
    "[Claim=" WORD1 ";Agent=" WORD1 ";Offer=" WORD1 ";Depth=" WORD1 ";Port=" WORD1 ";Link=" WORD1 ";Ticket=\"" KEY64 \
    "\"]"
#define MATCH(edges)                                                                                     \
    "[Message=\"match\";Id=" WORD1 ";Incarnation=" WORD1 ";Number=" WORD1 ";Age=-1;Window=2;Gang=" WORD1 \
    ";Claim=" WORD1 ";Superior=" WORD1 ";Edges=" edges "]"
#define ADVERTISE(seen)                                                                                               \
    "[Message=\"advertise\";Id=" WORD1 ";Version=" WORD1 ";Request=true;Bare=true;Seen=" seen ";Heard=0;Key=\"" KEY64 \
    "\"]"

static const struct text_case {
    const char *sentence, *text, *fail; /* NULL: it is accepted, and printed as it stands */
} texts[] = {
    {"an abort is its claim", "[Message=\"abort\";Claim=\"00000000000000a1\"]", NULL},
    {"a word may be as large as words are", "[Message=\"abort\";Claim=\"ffffffffffffffff\"]", NULL},
    {"a match may have no ad above and no edges", MATCH("{}"), NULL},
    {"edges are a list of ads", MATCH("{" EDGE "," EDGE "}"), NULL},
    {"what was seen is an ad",
     ADVERTISE("[Incarnation=\"0000000000000007\";Last=" WORD1 ";Beyond=\"8000000000000000\"]"), NULL},
    {"a reason is a word", "[Message=\"got\";Reason=\"conflict\"]", NULL},
    {"an ad of another dialect is a string",
     "[Message=\"submit\";Key=\"k\";Owner=\"alice\";Count=" WORD1 ";Ad=\"condor ['a b'=1]\"]", NULL},

    {"a number is no message", "1", "1:1: expected '[' of an ad, got '1'"},
    {"half a message is none", "[Message=\"abort\"", "1:17: expected ']' to close '[' at 1:1"},
    {"a field may not be there twice", "[Message=\"abort\";Claim=" WORD1 ";CLAIM=" WORD1 "]",
     "1:43: the attribute 'CLAIM' is defined twice in this ad"},
    {"an ad that is no message is refused", "[Memory=64]", "Message: missing"},
    {"a kind is a string", "[Message=1]", "Message: expected a string, got integer"},
    {"a kind that is not known is refused", "[Message=\"obey\"]", "Message: no message is called \"obey\""},
    {"what is said of a kind is short and without control characters",
     "[Message=\"\\n123456789012345678901234567890123456789012345678901234567890\"]",
     "Message: no message is called \"\\n123456789012345678901234567890123456789\"..."},
    {"none is no kind", "[Message=\"none\"]", "Message: no message is called \"none\""},
    {"kinds are in lower case", "[Message=\"Abort\"]", "Message: no message is called \"Abort\""},
    {"a record is no message", "[Record=\"role\";Row=" WORD1 ";Removed=false;Starts=" WORD1 "]", "Message: missing"},
    {"a field that is missing is named", "[Message=\"abort\"]", "abort: Claim: missing"},
    {"a field that is not known is named", "[Message=\"abort\";Claim=" WORD1 ";Epoch=" WORD1 "]",
     "abort: Epoch: no such field"},
    {"a word is no integer", "[Message=\"abort\";Claim=1]",
     "abort: Claim: expected a string of 16 hexadecimal digits, got integer"},
    {"a word is not shorter", "[Message=\"abort\";Claim=\"1\"]",
     "abort: Claim: expected 16 hexadecimal digits, got 1 bytes"},
    {"a word is not longer", "[Message=\"abort\";Claim=\"00000000000000001\"]",
     "abort: Claim: expected 16 hexadecimal digits, got 17 bytes"},
    {"a word has one spelling", "[Message=\"abort\";Claim=\"00000000000000A1\"]",
     "abort: Claim: expected 16 hexadecimal digits in lower case"},
    {"what must be evaluated is no value", "[Message=\"abort\";Claim=\"00000000\"+\"00000001\"]",
     "abort: Claim: expected a string of 16 hexadecimal digits, got an expression"},
    {"a reason outside the list is refused", "[Message=\"got\";Reason=\"because\"]",
     "got: Reason: no reason is called \"because\""},
    {"a reason is no number", "[Message=\"got\";Reason=0]", "got: Reason: expected a reason as a string, got integer"},
    {"a verb outside the list is refused", "[Message=\"control\";Job=" WORD1 ";Verb=\"0000000000000006\"]",
     "control: Verb: expected a number below 6"},
    {"a span is no real", "[Message=\"commit\";Claim=" WORD1 ";Epoch=" WORD1 ";Sequence=" WORD1 ";Collect=1.0]",
     "commit: Collect: expected an integer, got real"},
    {"a name is not too long",
     "[Message=\"submit\";Key=\"0123456789012345678901234567890123456789012345678901234567890123\";Owner=\"\";Count=" WORD1
     "]",
     "submit: Key: expected up to 63 bytes, no NUL among them, got 64"},
    {"an ad is no list", "[Message=\"activate\";Claim=" WORD1 ";Epoch=" WORD1 ";Sequence=" WORD1 ";Ad={}]",
     "activate: Ad: expected an ad, got list"},
    {"an ad in a string names its dialect",
     "[Message=\"activate\";Claim=" WORD1 ";Epoch=" WORD1 ";Sequence=" WORD1 ";Ad=\"[]\"]",
     "activate: Ad: expected the name of a dialect, a blank and an ad's text"},
    {"a dialect that is not known is refused",
     "[Message=\"activate\";Claim=" WORD1 ";Epoch=" WORD1 ";Sequence=" WORD1 ";Ad=\"latin []\"]",
     "activate: Ad: expected the name of a dialect, a blank and an ad's text"},
    {"an ad in a string is an ad",
     "[Message=\"activate\";Claim=" WORD1 ";Epoch=" WORD1 ";Sequence=" WORD1 ";Ad=\"condor [a=]\"]",
     "activate: Ad: expected an expression, got ']' at 1:4 of its text"},
    {"a key is 32 bytes, and the error does not repeat it",
     "[Message=\"verify\";Gang=" WORD1 ";Claim=" WORD1 ";Offer=" WORD1 ";Port=" WORD1 ";Link=" WORD1
     ";Leads=false;Proves=true;Nonce=\"" KEY64 "\";Proof=\"5ec7e7\"]",
     "verify: Proof: expected 64 hexadecimal digits, got 6 bytes"},
    {"what is missing in what was seen is named", ADVERTISE("[Incarnation=" WORD1 ";Last=" WORD1 "]"),
     "advertise: Seen: Beyond: missing"},
    {"what is too much in what was seen is named",
     ADVERTISE("[Incarnation=" WORD1 ";Last=" WORD1 ";Beyond=" WORD1 ";First=" WORD1 "]"),
     "advertise: Seen: First: no such field"},
    {"an edge is an ad", MATCH("{" EDGE ",1}"), "match: Edges: edge 2: expected an ad"},
    {"what is wrong in an edge is named",
     MATCH("{" EDGE ",[Claim=" WORD1 ";Agent=7;Offer=" WORD1 ";Ticket=\"" KEY64 "\"]}"),
     "match: Edges: edge 2: Agent: expected a string of 16 hexadecimal digits, got integer"},
};

/* "LINE:COLUMN: text" where there is a place. */
static const char *err_show(const struct err *err)
{
    struct buf *buf = lang_scratch();

    if (err->line)
        buf_addf(buf, "%u:%u: ", err->line, err->column);
    buf_adds(buf, err->text);
    return buf_string(buf);
}

static bool text_reads(struct world *world, const char *text, size_t len, struct message *ret, struct err *err)
{
    struct tree *ad = NULL;
    bool good = wire_parse(world->lang.symbols, text, len, &ad, err) == 0 && wire_read_message(ad, ret, err) == 0;

    tree_unref(ad);
    return good;
}

static void check_texts(struct world *world)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct err err = {0};
        struct message message = {.kind = MESSAGE_NONE};
        bool reads = text_reads(world, texts[i].text, strlen(texts[i].text), &message, &err), good;

        buf_reset(&world->text);
        if (reads) {
            struct tree *ad = wire_message(world->lang.symbols, &message);

            wire_print(&world->text, ad);
            tree_unref(ad);
        } else {
            buf_adds(&world->text, err_show(&err));
        }
        good = reads == !texts[i].fail &&
               strcmp(buf_string(&world->text), texts[i].fail ? texts[i].fail : texts[i].text) == 0 &&
               (reads || message.kind == MESSAGE_NONE);
        if (!tap_ok(good, "%s", texts[i].sentence))
            tap_diag("%s\n%s", texts[i].text, buf_string(&world->text));
        message_done(&message);
    }
}

static const struct text_case rows[] = {
    {"a record is its kind, its row and its fields",
     "[Record=\"role\";Row=\"000000000000002a\";Removed=false;Starts=" WORD1 ";Last=" WORD1 "]", NULL},
    {"a submission's key is not the row's",
     "[Record=\"key\";Row=" WORD1 ";Removed=false;Owner=\"a\";Key=\"b\";Shape=" WORD1 ";First=" WORD1 ";Count=" WORD1
     ";Gone=" WORD1 ";At=5]",
     NULL},
    {"of a removed row nothing else is left", "[Record=\"job\";Row=" WORD1 ";Removed=true]", NULL},
    {"one that is not removed has them", "[Record=\"role\";Row=" WORD1 ";Removed=false]", "role: Starts: missing"},
    {"a record without a row is none", "[Record=\"role\";Removed=true]", "role: Row: missing"},
    {"a message is no record", "[Message=\"abort\";Claim=" WORD1 "]", "Record: missing"},
    {"a kind of record that is not known is refused", "[Record=\"user_record\"]",
     "Record: no record is called \"user_record\""},
};

static void check_rows(struct world *world)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        struct record record = {.kind = RECORD_NONE};
        struct tree *ad = NULL, *again;
        bool reads = wire_parse(world->lang.symbols, rows[i].text, strlen(rows[i].text), &ad, &err) == 0 &&
                     wire_read_record(ad, &record, &err) == 0,
             good;

        buf_reset(&world->text);
        if (reads) {
            wire_print(&world->text, again = wire_record(world->lang.symbols, &record));
            tree_unref(again);
        } else {
            buf_adds(&world->text, err_show(&err));
        }
        good = reads == !rows[i].fail &&
               strcmp(buf_string(&world->text), rows[i].fail ? rows[i].fail : rows[i].text) == 0 &&
               (reads || record.kind == RECORD_NONE);
        if (!tap_ok(good, "%s", rows[i].sentence))
            tap_diag("%s\n%s", rows[i].text, buf_string(&world->text));
        record_done(&record);
        tree_unref(ad);
    }
}

/* ------------------------------------------------------------------------------------------------------ versions */

/* Rows and messages as an older version wrote them, with the fields that it had, or a newer one, with more; and how they are written now. */
#define NO_WORD "\"0000000000000000\""
#define TENANT_OLD                                                                                                  \
    "[Record=\"tenant\";Row=" WORD1 ";Removed=false;Offer=" WORD1 ";Gang=" WORD1 ";Superior=" WORD1 ";Epoch=" WORD1 \
    ";Sequence=" WORD1 ";Boot=" WORD1 ";Active=true;Since=5;Lease=6;Number=" WORD1 ";Job=" WORD1 ";Running=true"
#define JOB_OLD                                                                                               \
    "[Record=\"job\";Row=" WORD1 ";Removed=false;Shape=" WORD1 ";State=" WORD1 ";Gang=" WORD1 ";Claim=" WORD1 \
    ";Member=" WORD1 ";Number=" WORD1 ";Tries=" WORD1 ";Reason=\"exited\";Status=7"
#define KEY_OLD \
    "[Record=\"key\";Row=" WORD1 ";Removed=false;Owner=\"alice\";Key=\"k\";Shape=" WORD1 ";First=" WORD1 ";Count=" WORD1
#define CLAIM_MEMBER_OLD                                                                                         \
    "[Record=\"branch\";Row=" WORD1 ";Removed=false;Gang=" WORD1 ";Shape=" WORD1 ";Agent=" WORD1 ";Offer=" WORD1 \
    ";Depth=" WORD1
#define VERIFY_OLD "[Message=\"verify\";Gang=" WORD1 ";Claim=" WORD1 ";Offer=" WORD1
#define VERIFY_REST ";Leads=false;Proves=false;Nonce=\"" KEY64 "\";Proof=\"" KEY64 "\"]"
#define REPORT_OLD "[Message=\"report\";Claim=" WORD1 ";Gang=" WORD1 ";Owner=\"alice\";Used=5;Over=false"

static const struct version_case {
    const char *sentence, *text, *now;
} versions[] = {
    {"the row of a role of the first version is read", "[Record=\"role\";Row=" WORD1 ";Removed=false;Starts=" WORD1 "]",
     "[Record=\"role\";Row=" WORD1 ";Removed=false;Starts=" WORD1 ";Last=" NO_WORD "]"},
    {"a claim of before there were ports and successors is read: when its job began is not known",
     TENANT_OLD ";Owner=\"alice\";Ad=[a=1]]",
     TENANT_OLD ";Port=" NO_WORD ";Link=" NO_WORD ";Behind=" NO_WORD ";Started=-1;Owner=\"alice\";Ad=[a=1]]"},
    {"so is one of before there were successors", TENANT_OLD ";Port=" WORD1 ";Link=" WORD1 ";Owner=\"alice\"]",
     TENANT_OLD ";Port=" WORD1 ";Link=" WORD1 ";Behind=" NO_WORD ";Started=-1;Owner=\"alice\"]"},
    {"a job of the first version is read", JOB_OLD "]", JOB_OLD ";Changed=0;Begun=" NO_WORD "]"},
    {"a submission of the first version is read", KEY_OLD "]", KEY_OLD ";Gone=" NO_WORD ";At=0]"},
    {"a member of before gangs went on without members is read", CLAIM_MEMBER_OLD ";Epoch=" WORD1 ";Ad=[a=1]]",
     CLAIM_MEMBER_OLD ";Port=" NO_WORD ";Link=" NO_WORD ";Epoch=" WORD1 ";Place=" NO_WORD ";Dropped=false;Ad=[a=1]]"},
    {"what a row of a newer version has beside is passed over",
     "[Record=\"shape\";Row=" WORD1 ";Removed=false;Colour=[b={1}];Owner=\"alice\";Ad=[a=1]]",
     "[Record=\"shape\";Row=" WORD1 ";Removed=false;Owner=\"alice\";Ad=[a=1]]"},
    {"so is what a removed row has", "[Record=\"role\";Row=" WORD1 ";Removed=true;Starts=" WORD1 "]",
     "[Record=\"role\";Row=" WORD1 ";Removed=true]"},
    {"a report of before there were groups is read", REPORT_OLD "]", REPORT_OLD ";Group=\"\";Limits=\"\";Weight=0]"},
    {"a verify of before there were ports is read", VERIFY_OLD VERIFY_REST,
     VERIFY_OLD ";Port=" NO_WORD ";Link=" NO_WORD VERIFY_REST},
};

/* As it is written again, or what is wrong with it. */
static void version_show(struct world *world, const struct tree *ad, struct err *err)
{
    struct message message = {.kind = MESSAGE_NONE};
    struct record record = {.kind = RECORD_NONE};
    struct tree *again = NULL;

    if (wire_read_record(ad, &record, err) == 0)
        again = wire_record(world->lang.symbols, &record);
    else if (wire_read_message(ad, &message, err) == 0)
        again = wire_message(world->lang.symbols, &message);
    if (again)
        wire_print(&world->text, again);
    else
        buf_adds(&world->text, err_show(err));
    record_done(&record);
    message_done(&message);
    tree_unref(again);
}

static void check_versions(struct world *world)
{
    for (size_t i = 0; i < COUNT(versions); i++) {
        struct tree *ad = NULL;
        struct err err = {0};

        buf_reset(&world->text);
        if (wire_parse(world->lang.symbols, versions[i].text, strlen(versions[i].text), &ad, &err) == 0)
            version_show(world, ad, &err);
        if (!tap_ok(!strcmp(buf_string(&world->text), versions[i].now), "%s", versions[i].sentence))
            tap_diag("%s\n%s", versions[i].text, buf_string(&world->text));
        tree_unref(ad);
    }
}

/* ------------------------------------------------------------------------------------------------------- defects */

/* The ad with its attribute at `place` gone, or another in its stead; past the last, one more. */
static struct tree *ad_spoilt(struct world *world, const struct tree *ad, uint32_t place, bool remove)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    struct build *build = lang_build(&world->lang, ad->dialect);
    uint32_t count = 0, unused;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (i == place && remove)
            continue;
        if (i == place)
            build_real(build, 1.5);
        else
            build_copy(build, ad, &parts[i]);
        symbols_hold(build->symbols, parts[i].label);
        build_attribute(build, parts[i].label);
        count++;
    }
    if (place == root->u.run.count) {
        build_integer(build, 1);
        build_attribute(build, symbols_take(build->symbols, "Surplus", 7));
        count++;
    }
    build_ad(build, count, &unused);
    return build_seal(build);
}

typedef bool reads_fn(const struct tree *ad, struct err *err);

static bool reads_message(const struct tree *ad, struct err *err)
{
    struct message message = {0};
    bool reads = wire_read_message(ad, &message, err) == 0;

    message_done(&message);
    return reads;
}

static bool reads_record(const struct tree *ad, struct err *err)
{
    struct record record = {0};
    bool reads = wire_read_record(ad, &record, err) == 0;

    record_done(&record);
    return reads;
}

/* May the field of that name (RootOwner: root_owner) be missing? */
static bool is_later(const struct layout *layout, const char *name)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        const char *a = layout->fields[i].name, *b = name;

        for (; *a && *b; a++) {
            if (*a == '_')
                continue;
            if ((*a | 0x20) != (*b++ | 0x20))
                break;
        }
        if (!*a && !*b)
            return layout->fields[i].later;
    }
    return false;
}

/* Each attribute missing, each of a wrong type, one too many; the error names it. A row may have one too many. */
static bool spoilt_is_refused(struct world *world, const struct tree *ad, const struct layout *layout, reads_fn *reads)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    uint32_t count = root->u.run.count;

    for (uint32_t i = 0; i <= 2 * count; i++) {
        uint32_t place = i <= count ? i : i - count - 1;
        bool remove = i > count;
        struct tree *spoilt = ad_spoilt(world, ad, place, remove);
        struct err err = {0};
        char wanted[64];
        size_t len = 7;
        const char *name = place < count ? symbols_text(ad->symbols, parts[place].label, &len) : "Surplus";
        bool optional = place < count &&
                        (parts[place].kind == EXPR_LIST || strcmp(name, "Ad") == 0 || strcmp(name, "SuperiorAd") == 0 ||
                         strcmp(name, "Task") == 0 || strcmp(name, "Told") == 0 || strcmp(name, "Node") == 0 ||
                         strcmp(name, "Grant") == 0 || strcmp(name, "Receipt") == 0 || strcmp(name, "Fronts") == 0 ||
                         (strcmp(name, "Gpus") == 0 && parts[place].kind != EXPR_INTEGER) || is_later(layout, name));
        bool read = reads(spoilt, &err), good;

        snprintf(wanted, sizeof wanted, "%s: ", name);
        good = (remove && optional) || (place == count && reads == reads_record) ? read
                                                                                 : !read && strstr(err.text, wanted);
        tree_unref(spoilt);
        if (!good) {
            tap_diag("%s %s: %s", name, remove ? "missing" : "spoilt", err.text);
            return false;
        }
    }
    return true;
}

/* Messages of those who know nothing of what came later. */
static void check_older(struct world *world)
{
    static const char match[] = "[Message=\"match\";Id=" WORD1 ";Incarnation=" WORD1 ";Number=" WORD1
                                ";Age=0;Window=5;Gang=" WORD1 ";Claim=" WORD1 ";Superior=" WORD1 "]";
    static const char start[] =
        "[Message=\"start\";Claim=" WORD1 ";Epoch=" WORD1 ";Sequence=" WORD1 ";Job=" WORD1 ";Number=" WORD1 "]";
    struct message message = {0};
    struct tree *tree = NULL, *again;
    struct err err = {0};
    struct buf text;

    buf_init(&text);
    tap_ok(wire_parse(world->lang.symbols, match, strlen(match), &tree, &err) == 0 &&
               wire_read_message(tree, &message, &err) == 0 && message.u.match_told.port == 0 &&
               message.u.match_told.link == 0 && message.u.match_told.customer == 0,
           "a match that names no ports docks at the first, and its superior is the root");
    again = wire_message(world->lang.symbols, &message);
    wire_print(&text, again);
    tap_ok(!strcmp(buf_string(&text), match), "nor are they named where they are the first: older agents read it");
    message_done(&message);
    tree_unref(tree);
    tree_unref(again);
    tap_ok(wire_parse(world->lang.symbols, start, strlen(start), &tree, &err) == 0 &&
               wire_read_message(tree, &message, &err) == 0 && !message.u.start.task && !message.u.start.helps,
           "a start that says nothing of a task is that of a pair");
    message_done(&message);
    tree_unref(tree);
    buf_done(&text);
}

static void check_defects(struct world *world)
{
    for (int kind = MESSAGE_NONE + 1; kind < MESSAGE_COUNT; kind++) {
        struct message message;
        struct tree *ad;

        random_message(world, (enum message_kind)kind, true, &message);
        ad = wire_message(world->lang.symbols, &message);
        tap_ok(spoilt_is_refused(world, ad, message_layout((enum message_kind)kind), reads_message),
               "a %s with a field too few, too many or of another type is refused, and the field named",
               message_layout((enum message_kind)kind)->name);
        message_done(&message);
        tree_unref(ad);
    }
    for (int kind = RECORD_NONE + 1; kind < RECORD_COUNT; kind++) {
        struct record record;
        struct tree *ad;

        random_record(world, (enum record_kind)kind, false, true, &record);
        ad = wire_record(world->lang.symbols, &record);
        tap_ok(spoilt_is_refused(world, ad, record_layout((enum record_kind)kind), reads_record),
               "a %s with a field too few or of another type is refused, and the field named",
               record_layout((enum record_kind)kind)->name);
        record_done(&record);
        tree_unref(ad);
    }
}

static void check_limits(struct world *world)
{
    struct message message = {0};
    struct err err = {0};
    struct tree *expr;
    bool good = true;
    char *large;

    message.kind = MESSAGE_MATCH;
    for (uint32_t count = EDGES_MAX; count <= EDGES_MAX + 1; count++) {
        message.u.match_told.edges = edges_new(count);
        good = good && wire_same(world->lang.symbols, &message, &err) == (count <= EDGES_MAX);
        edges_unref(message.u.match_told.edges);
    }
    tap_ok(good && strstr(err.text, "Edges: expected up to 64 edges, got 65"), "more edges than the limit are refused");

    message = (struct message){.kind = MESSAGE_GOT, .u.got.reason = (enum reason)REASON_COUNT};
    tap_ok(!wire_same(world->lang.symbols, &message, &err) && strstr(err.text, "got: Reason: "),
           "a reason that there is not does not come back");
    message = (struct message){.kind = MESSAGE_NONE};
    tap_ok(!wire_same(world->lang.symbols, &message, &err) && strstr(err.text, "Message: "),
           "a message of no kind does not come back");

    expr = lang_expr(&world->lang, &dialect_classic, "1 + 1", 5, NULL);
    tap_ok(wire_read_message(expr, &message, &err) < 0 && strcmp(err.text, "a message is an ad") == 0,
           "an expression is no message");
    tree_unref(expr);

    large = calloc(1, WIRE_BYTES_MAX + 1);
    for (size_t i = 0; i + 4 <= WIRE_BYTES_MAX; i += 4)
        memcpy(large + i, "[ a=", 4);
    tap_ok(wire_parse(world->lang.symbols, large, WIRE_BYTES_MAX + 1, &expr, &err) < 0 && strstr(err.text, "too long"),
           "a text past the limit is not read");
    tap_ok(wire_parse(world->lang.symbols, large, WIRE_BYTES_MAX, &expr, &err) < 0 && strstr(err.text, "depth limit"),
           "a text of nothing but brackets is refused at its depth");
    for (size_t i = 0; i < WIRE_BYTES_MAX; i += 2)
        memcpy(large + i, i ? "1," : "{ ", 2);
    memcpy(large, "[a={", 4);
    tap_ok(wire_parse(world->lang.symbols, large, WIRE_BYTES_MAX, &expr, &err) < 0 && strstr(err.text, "too large"),
           "a text of very many parts is refused");
    free(large);
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(30);
    struct world world;
    size_t names;

    lang_init(&world.lang);
    rng_init(&world.rng, seed);
    buf_init(&world.text);
    names = symbols_count(world.lang.symbols);
    world.deep[0] = deep_ad(&world, &dialect_classic);
    world.deep[1] = deep_ad(&world, &dialect_condor);

    check_texts(&world);
    check_rows(&world);
    check_versions(&world);
    check_ads(&world);
    check_depths(&world);
    check_limits(&world);
    check_messages(&world, seed, rounds);
    check_records(&world, seed, rounds);
    check_older(&world);
    check_defects(&world);

    tree_unref(world.deep[0]);
    tree_unref(world.deep[1]);
    tap_ok(symbols_count(world.lang.symbols) == names, "when all is given back no name is held");
    buf_done(&world.text);
    lang_done(&world.lang);
    return tap_done();
}
