/* base_test.c: symbols, maps, arenas, numbers, dates, errors and buffers keep their promises. */
#include "common/rounds.h"
#include "common/tap.h"
#include "lang/base/arena.h"
#include "lang/base/array.h"
#include "lang/base/buf.h"
#include "lang/base/calendar.h"
#include "lang/base/cut.h"
#include "lang/base/err.h"
#include "lang/base/library.h"
#include "lang/base/map.h"
#include "lang/base/natural.h"
#include "lang/base/number.h"
#include "lang/base/rng.h"
#include "lang/base/symbols.h"
#include "lang/base/xml.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------------- symbols */

static symbol take(struct symbols *symbols, const char *name)
{
    return symbols_take(symbols, name, strlen(name));
}

static bool spelt(const struct symbols *symbols, symbol s, const char *name)
{
    size_t len;
    const char *text = symbols_text(symbols, s, &len);
    return len == strlen(name) && strcmp(text, name) == 0;
}

static void symbols_are_names(void)
{
    static const char *const known[] = {"self", "Parent"};
    struct symbols *symbols = symbols_new(known, 2, 7);
    symbol memory = take(symbols, "Memory"), shout = take(symbols, "MEMORY"), disk = take(symbols, "Disk");

    tap_ok(symbol_same(memory, shout) && memory != shout, "two spellings are the same name and two symbols");
    tap_ok(spelt(symbols, memory, "Memory") && spelt(symbols, shout, "MEMORY"), "each symbol prints as it was spelt");
    tap_ok(!symbol_same(memory, disk), "different names are different");
    tap_ok(take(symbols, "Memory") == memory, "the same spelling is the same symbol");
    tap_ok(take(symbols, "self") == SYMBOL_KNOWN(1) && take(symbols, "Parent") == SYMBOL_KNOWN(2),
           "known names are numbered in their order");
    tap_ok(symbol_same(take(symbols, "PARENT"), SYMBOL_KNOWN(2)), "a known name is known in any case");
    tap_ok(symbol_same(symbols_find(symbols, "mEmOrY", 6), memory), "a name is found by a spelling nobody has used");
    tap_ok(symbols_find(symbols, "nobody", 6) == SYMBOL_NONE, "a name that nobody holds is not found");
    symbol empty = take(symbols, "");
    tap_ok(empty != SYMBOL_NONE && symbols_find(symbols, "", 0) == empty, "the empty name is a name");
    symbol odd = symbols_take(symbols, "a\xc3\xa9 b", 5), odd_upper = symbols_take(symbols, "A\xc3\xa9 B", 5);
    tap_ok(symbol_same(odd, odd_upper), "only ASCII letters fold in a name of any bytes");
    tap_ok(!symbol_same(take(symbols, "x@"), take(symbols, "x`")) &&
               !symbol_same(take(symbols, "["), take(symbols, "{")),
           "bytes that are no letters do not fold");
    symbols_free(symbols);
}

static void symbols_are_counted(void)
{
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    symbol a = take(symbols, "alpha"), b = take(symbols, "ALPHA");

    tap_ok(symbols_count(symbols) == 1, "two spellings count as one name");
    symbols_hold(symbols, a);
    symbols_drop(symbols, a);
    tap_ok(spelt(symbols, a, "alpha"), "a spelling that is still held stays");
    symbols_drop(symbols, a);
    tap_ok(symbols_count(symbols) == 1 && symbol_same(symbols_find(symbols, "alpha", 5), b),
           "a name stays while another spelling of it is held");
    symbols_drop(symbols, b);
    tap_ok(symbols_count(symbols) == 0 && symbols_find(symbols, "alpha", 5) == SYMBOL_NONE,
           "a name that nobody holds is forgotten");
    symbol c = take(symbols, "beta");
    tap_ok(symbol_name(c) == symbol_name(a), "the number of a forgotten name is used anew");
    symbols_drop(symbols, c);
    symbols_drop(symbols, SYMBOL_NONE);

    /* strangers come and go: numbers must not run away */
    uint32_t highest = 0;
    for (int i = 0; i < 100000; i++) {
        char name[20];
        snprintf(name, sizeof name, "stranger%d", i);
        symbol s = take(symbols, name);
        if (symbol_name(s) > highest)
            highest = symbol_name(s);
        symbols_drop(symbols, s);
    }
    tap_ok(highest <= 2, "a hundred thousand names that come and go use one number");
    symbols_free(symbols);
}

/* The spelling of "abcdefghij" in which bit k of `n` makes letter k a capital. */
static void spelling(unsigned n, char out[11])
{
    for (int k = 0; k < 10; k++)
        out[k] = (char)((n >> k & 1 ? 'A' : 'a') + k);
    out[10] = '\0';
}

static void symbols_have_many_spellings(void)
{
    struct symbols *symbols = symbols_new(NULL, 0, 3);
    symbol taken[300];
    char text[11];
    bool same = true, right = true;

    for (unsigned n = 0; n < 300; n++) {
        spelling(n, text);
        taken[n] = take(symbols, text);
        same = same && symbol_same(taken[n], taken[0]);
        if (n < 256)
            right = right && spelt(symbols, taken[n], text);
    }
    spelling(0, text);
    tap_ok(same, "three hundred spellings are one name");
    tap_ok(right, "the first 256 spellings print as they were spelt");
    tap_ok(spelt(symbols, taken[256], text) && spelt(symbols, taken[299], text),
           "the 257th spelling and those after it print as the first");
    for (unsigned n = 0; n < 300; n++)
        symbols_drop(symbols, taken[n]);
    tap_ok(symbols_count(symbols) == 0, "all of them given back leave nothing");

    /* with the first spelling gone, further ones still find a name to be printed as */
    for (unsigned n = 0; n < 257; n++) {
        spelling(n, text);
        taken[n] = take(symbols, text);
    }
    symbols_drop(symbols, taken[0]);
    spelling(299, text);
    symbol late = take(symbols, text);
    tap_ok(symbol_same(late, taken[1]), "a spelling taken late is the same name still");
    symbols_drop(symbols, late);
    for (unsigned n = 1; n < 257; n++)
        symbols_drop(symbols, taken[n]);
    tap_ok(symbols_count(symbols) == 0, "past the limit the count is right as well");
    symbols_free(symbols);
}

/* Names of every length, of any bytes: two are one exactly when they are alike once A to Z are a to z, byte by byte. */
static void symbols_fold_letters_alone(void)
{
    static const char bytes[] = "@AZ[`az{^!_09\xc1\xe1\x80\xff";
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    bool right = true, counted = true;
    struct rng rng;

    rng_init(&rng, lang_setting("BERTH_SEED", 1));
    for (int round = 0; round < 20000; round++) {
        size_t len = 1 + rng_below(&rng, 40), other = rng_below(&rng, len);
        char a[41], b[41];
        bool same = true;
        symbol held;

        for (size_t i = 0; i < len; i++)
            a[i] = bytes[rng_below(&rng, sizeof bytes - 1)];
        memcpy(b, a, len);
        b[other] = round & 1 ? (char)(a[other] ^ 0x20) : bytes[rng_below(&rng, sizeof bytes - 1)];
        for (size_t i = 0; i < len; i++) {
            int x = (unsigned char)a[i], y = (unsigned char)b[i];

            x += x >= 'A' && x <= 'Z' ? 32 : 0;
            y += y >= 'A' && y <= 'Z' ? 32 : 0;
            same = same && x == y;
        }
        held = symbols_take(symbols, a, len);
        right = right && (symbols_find(symbols, b, len) != SYMBOL_NONE) == same;
        right = right && symbols_named(symbols, held, b, len) == same;
        symbols_drop(symbols, held);
        counted = counted && symbols_count(symbols) == 0;
    }
    tap_ok(right, "only the letters A to Z have two cases, whatever stands beside them");
    tap_ok(counted, "a name of any length is forgotten when nobody holds it");
    symbols_free(symbols);
}

struct spare {
    struct symbols_spare head;
    int *freed;
};

static void spare_free(struct symbols_spare *head)
{
    struct spare *spare = (struct spare *)(void *)head;

    ++*spare->freed;
}

static void symbols_keep_spare_memory(void)
{
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    struct spare spares[SYMBOLS_SPARES + 1];
    int freed = 0;

    tap_ok(!symbols_spare_take(symbols), "a table has no spare memory at first");
    for (int i = 0; i <= SYMBOLS_SPARES; i++) {
        spares[i] = (struct spare){{NULL, spare_free}, &freed};
        symbols_spare_give(symbols, &spares[i].head);
    }
    tap_ok(freed == 1, "what is too much is given back at once");
    tap_ok(symbols_spare_take(symbols) == &spares[SYMBOLS_SPARES - 1].head,
           "what was put aside last is handed out first");
    symbols_free(symbols);
    tap_ok(freed == SYMBOLS_SPARES, "the rest is given back with the table");
}

/* A table of a few hundred names, kept beside the real one. */
static void symbols_agree_with_a_list(void)
{
    enum { NAMES = 400 };
    struct symbols *symbols = symbols_new(NULL, 0, lang_setting("BERTH_SEED", 1));
    struct rng rng;
    symbol held[NAMES] = {0};
    int count[NAMES] = {0}, distinct = 0;
    bool right = true;

    rng_init(&rng, lang_setting("BERTH_SEED", 1));
    for (int round = 0; round < 200000 && right; round++) {
        unsigned n = (unsigned)rng_below(&rng, NAMES);
        char name[24];
        snprintf(name, sizeof name, "name_of_some_length%u", n);
        if (rng_below(&rng, 2) && count[n] < 5) {
            symbol s = take(symbols, name);
            right = (!count[n] || s == held[n]) && spelt(symbols, s, name);
            held[n] = s;
            distinct += count[n]++ == 0;
        } else if (count[n]) {
            symbols_drop(symbols, held[n]);
            distinct -= --count[n] == 0;
        }
        right = right && (symbols_find(symbols, name, strlen(name)) != SYMBOL_NONE) == (count[n] > 0);
    }
    tap_ok(right && symbols_count(symbols) == (size_t)distinct,
           "after 200,000 takes and drops the table holds what a list would");
    symbols_free(symbols);
}

/* ------------------------------------------------------------------------------------------------------------- maps */

static void maps_find_what_was_put(void)
{
    struct map map;

    map_init(&map, 5);
    tap_ok(map_find(&map, 1) == MAP_NONE && !map_remove(&map, 1), "nothing is found in an empty map");
    map_set(&map, 0, 7);
    map_set(&map, UINT64_MAX, 0);
    tap_ok(map_find(&map, 0) == 7 && map_find(&map, UINT64_MAX) == 0 && map_count(&map) == 2,
           "every word is a key, and nearly every word a value");
    map_set(&map, 0, 8);
    tap_ok(map_find(&map, 0) == 8 && map_count(&map) == 2, "a key has one value, the last");
    tap_ok(map_remove(&map, 0) && map_find(&map, 0) == MAP_NONE && map_count(&map) == 1, "what is taken out is gone");
    map_reset(&map);
    tap_ok(map_count(&map) == 0 && map_find(&map, UINT64_MAX) == MAP_NONE, "a map can be emptied");
    map_done(&map);
}

#define MAP_KEYS 30000

/* The map and a list, into which each key has its own place. `sum` is of all pairs. */
struct map_twin {
    struct map map;
    uint64_t list[MAP_KEYS], sum;
    uint32_t count;
};

static void twin_change(struct map_twin *twin, uint64_t key, uint64_t value)
{
    if (twin->list[key] != MAP_NONE) {
        twin->sum -= rng_mix(key ^ twin->list[key]);
        twin->count--;
    }
    if (value != MAP_NONE) {
        twin->sum += rng_mix(key ^ value);
        twin->count++;
    }
    twin->list[key] = value;
}

static bool twin_is_same(const struct map_twin *twin, uint64_t keys)
{
    uint64_t told = 0, key, value;
    uint32_t seen = 0;

    for (key = 0; key < keys; key++)
        if (map_find(&twin->map, key) != twin->list[key])
            return false;
    for (uint32_t at = 0; map_next(&twin->map, &at, &key, &value); seen++)
        told += rng_mix(key ^ value);
    return seen == twin->count && told == twin->sum;
}

/* Returns how often all was looked at while pairs were on their way from one table to the next. */
static uint32_t twin_run(struct map_twin *twin, uint64_t seed, bool runs, uint64_t keys, int changes, bool *ret_same)
{
    bool same = true, whole = true;
    uint32_t moving = 0;
    struct rng rng;

    twin->sum = twin->count = 0;
    for (uint64_t i = 0; i < keys; i++)
        twin->list[i] = MAP_NONE;
    rng_init(&rng, seed);
    (runs ? map_init_runs : map_init)(&twin->map, seed);
    for (int i = 0; i < changes && same && whole; i++) {
        uint64_t key = rng_below(&rng, keys), value = rng_next(&rng) >> 1;

        if (rng_below(&rng, 5) < 3) {
            map_set(&twin->map, key, value);
            twin_change(twin, key, value);
        } else {
            same = map_remove(&twin->map, key) == (twin->list[key] != MAP_NONE);
            twin_change(twin, key, MAP_NONE);
        }
        key = rng_below(&rng, keys);
        same = same && map_find(&twin->map, key) == twin->list[key] && map_count(&twin->map) == twin->count;
        if (!twin->map.old || i % 32)
            continue;
        whole = twin_is_same(twin, keys);
        moving++;
    }
    *ret_same = same && whole && twin_is_same(twin, keys);
    map_done(&twin->map);
    return moving;
}

/* Few keys in a small map, where those behind a hole must move; and many, which go from table to table while others come and go. */
static void maps_agree_with_a_list(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1);
    static struct map_twin twin;
    uint32_t moving = 0;
    bool same, all = true;

    for (int runs = 0; runs < 2; runs++) {
        twin_run(&twin, seed, runs, 200, 100000, &same);
        tap_ok(same, "a map%s finds what a list finds, and tells all of it, each once (seed %llu)",
               runs ? " of keys side by side" : "", (unsigned long long)seed);
    }
    for (uint64_t i = 0; i < 6; i++) {
        moving += twin_run(&twin, seed + i, i % 2, MAP_KEYS, 50000, &same);
        all = all && same;
    }
    tap_ok(all && moving > 50, "so does a large one while it grows, %u times (seed %llu)", moving,
           (unsigned long long)seed);
}

static void maps_grow_a_little_at_a_time(bool runs)
{
    enum { PAIRS = 1000000, MOST = 1024 }; /* a run of pairs moves as a whole, and may have a hundred or two */
    uint32_t most = 0, tables = 0, moved = 0, found = 0;
    struct map map;

    (runs ? map_init_runs : map_init)(&map, 1);
    for (uint64_t i = 0; i < PAIRS; i++) {
        uint32_t room = map.room, now;

        map_set(&map, i, i);
        if (map.room <= 8192) /* smaller ones are copied at once */
            continue;
        moved = map.room > room ? 0 : moved;
        tables += map.room > room;
        now = map.old ? map.moved : map.room / 2;
        most = now - moved > most ? now - moved : most;
        moved = now;
    }
    for (uint64_t i = 0; i < PAIRS; i++)
        found += map_find(&map, i) == i;
    map_done(&map);
    tap_ok(found == PAIRS && tables == 8 && most <= MOST,
           "no change of a large map%s moves many pairs: %u slots at most, %u tables",
           runs ? " of keys side by side" : "", most, tables);
}

/* ---------------------------------------------------------------------------------------------------------- arenas */

static void arenas_begin_with_lent_memory(void)
{
    static struct {
        _Alignas(16) struct arena_chunk chunk;
        char bytes[256];
    } lent;
    struct arena arena;
    char *first, *within, *beyond;

    arena_init_lent(&arena, &lent.chunk, sizeof lent.bytes);
    first = arena_alloc(&arena, 100);
    within = arena_alloc(&arena, 100);
    beyond = arena_alloc(&arena, 100);
    memset(first, 'x', 100);
    memset(within, 'y', 100);
    memset(beyond, 'z', 100);
    tap_ok(first == lent.bytes && within == lent.bytes + 112, "memory that is lent is used first");
    tap_ok(beyond < lent.bytes || beyond >= lent.bytes + sizeof lent.bytes, "what it does not hold lies elsewhere");
    arena_reset(&arena);
    tap_ok(arena_alloc(&arena, 100) == first, "and again after a reset");
    arena_done(&arena);
}

static void arenas_give_back_all_at_once(void)
{
    struct arena arena;
    struct rng rng;
    bool aligned = true, whole = true;
    unsigned char *pieces[500];
    size_t sizes[500];

    arena_init(&arena);
    rng_init(&rng, 1);
    for (int i = 0; i < 500; i++) {
        sizes[i] = rng_below(&rng, i % 50 == 0 ? 300000 : 400);
        pieces[i] = arena_alloc(&arena, sizes[i]);
        aligned = aligned && (uintptr_t)pieces[i] % 16 == 0;
        memset(pieces[i], i & 255, sizes[i]);
    }
    for (int i = 0; i < 500; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            whole = whole && pieces[i][k] == (i & 255);
    tap_ok(aligned, "every piece is aligned to 16 bytes");
    tap_ok(whole, "pieces do not overlap");

    char *kept = arena_text(&arena, "kept", 4);
    struct arena_mark mark = arena_mark(&arena);
    for (int i = 0; i < 1000; i++)
        memset(arena_alloc(&arena, 5000), 'x', 5000);
    arena_rewind(&arena, mark);
    memset(arena_alloc(&arena, 5000), 'y', 5000);
    tap_ok(memcmp(kept, "kept", 4) == 0, "what stood before a mark survives rewinding to it");

    arena_reset(&arena);
    void *first = arena_alloc(&arena, 10);
    arena_reset(&arena);
    tap_ok(arena_alloc(&arena, 10) == first, "after a reset the same memory is given again");
    arena_done(&arena);

    struct arena empty;
    arena_init(&empty);
    mark = arena_mark(&empty);
    arena_alloc(&empty, 100);
    arena_rewind(&empty, mark);
    tap_ok(arena_alloc(&empty, 1) != NULL, "a mark of an empty arena can be rewound to");
    arena_done(&empty);
}

/* --------------------------------------------------------------------------------------------------------- numbers */

static double random_double(struct rng *rng)
{
    double value;
    uint64_t word = rng_next(rng);

    switch (rng_below(rng, 6)) {
    case 0: /* as ads have them */
        return (double)rng_below(rng, 1000000) / 1000;
    case 1:
        return (double)(word >> (rng_next(rng) & 63));
    case 2: /* close to a power of ten */
        return nextafter(pow(10, (double)(int)rng_below(rng, 600) - 300), rng_below(rng, 2) ? 0 : INFINITY);
    case 3: /* subnormal */
        word &= 0x000fffffffffffffu;
        memcpy(&value, &word, 8);
        return value;
    case 4:
        return rng_unit(word);
    default:
        memcpy(&value, &word, 8);
        return isfinite(value) ? value : 0;
    }
}

/* The fewest significant digits with which printf and strtod give the value back. */
static int digits_needed(double value)
{
    char text[64];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value)
            return digits;
    }
    return 17;
}

static int digits_of(const char *text)
{
    int digits = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && digits == 0))
            continue;
        if (*text == '0')
            zeros++;
        else {
            digits += zeros + 1;
            zeros = 0;
        }
    }
    return digits;
}

static void reals_print_and_read_back(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(20000) * 5;
    bool exact = true, shortest = true, as_strtod = true;
    struct rng rng;

    rng_init(&rng, seed);
    for (uint64_t i = 0; i < rounds; i++) {
        double value = random_double(&rng), back = -1;
        char text[NUMBER_TEXT_MAX + 1];
        size_t len = number_print_real(value, text);
        text[len] = '\0';
        bool minus = *text == '-';
        bool took = number_parse_real(text + minus, len - minus, &back) == len - minus;
        back = minus ? -back : back;
        if (exact && !(took && memcmp(&back, &value, 8) == 0)) {
            exact = false;
            tap_diag("seed %llu: %a prints %s, which reads as %a", (unsigned long long)seed, value, text, back);
        }
        if (as_strtod && strtod(text, NULL) != back) {
            as_strtod = false;
            tap_diag("seed %llu: strtod reads %s as %a", (unsigned long long)seed, text, strtod(text, NULL));
        }
        if (shortest && value != 0 && digits_of(text) > digits_needed(value)) {
            shortest = false;
            tap_diag("seed %llu: %a prints %s, but %d digits do", (unsigned long long)seed, value, text,
                     digits_needed(value));
        }
    }
    tap_ok(exact, "a real that is printed reads back with every bit");
    tap_ok(as_strtod, "what is printed reads the same with the C library");
    tap_ok(shortest, "no shorter text reads back as the same real");
}

static void reals_read_as_strtod(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(20000);
    bool same = true;
    struct rng rng;

    rng_init(&rng, seed);
    for (uint64_t i = 0; i < rounds && same; i++) {
        char text[1200];
        size_t len = 0, whole = 1 + rng_below(&rng, rng_below(&rng, 20) ? 25 : 400);
        for (size_t k = 0; k < whole; k++)
            text[len++] = (char)('0' + rng_below(&rng, 10));
        if (rng_below(&rng, 3)) {
            size_t part = 1 + rng_below(&rng, rng_below(&rng, 20) ? 25 : 400);
            text[len++] = '.';
            for (size_t k = 0; k < part; k++)
                text[len++] = (char)('0' + rng_below(&rng, 10));
        }
        if (rng_below(&rng, 2))
            len += (size_t)snprintf(text + len, 20, "e%s%d",
                                    rng_below(&rng, 2)   ? "-"
                                    : rng_below(&rng, 2) ? "+"
                                                         : "",
                                    (int)rng_below(&rng, rng_below(&rng, 4) ? 40 : 400));
        text[len] = '\0';
        double got = -1, want = strtod(text, NULL);
        same = number_parse_real(text, len, &got) == len && memcmp(&got, &want, 8) == 0;
        if (!same)
            tap_diag("seed %llu: %s reads as %a, not %a", (unsigned long long)seed, text, got, want);
    }
    tap_ok(same, "any decimal text reads as the nearest real, as the C library has it");
}

struct real_row {
    const char *text, *prints; /* NULL: not printed */
    size_t takes;
};

static void reals_look_like_this(void)
{
    static const struct real_row rows[] = {
        {"0.3", "0.3", 3},         {"1000", "1000.0", 4},
        {"0", "0.0", 1},           {"1e20", "1.0e+20", 4},
        {"1.5E+20", "1.5e+20", 7}, {"123456789.125", "123456789.125", 13},
        {"5e-324", "5.0e-324", 6}, {"1.7976931348623157e308", "1.7976931348623157e+308", 22},
        {"1.", NULL, 1},           {"1.x", NULL, 1},
        {"1e", NULL, 1},           {"1e+", NULL, 1},
        {"2.5e+x", NULL, 3},       {"", NULL, 0},
        {".5", NULL, 0},           {"-1", NULL, 0},
        {" 1", NULL, 0},           {"8798280.630719399", "8798280.6307194", 17},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = 0;
        char text[NUMBER_TEXT_MAX + 1] = "";
        size_t took = number_parse_real(rows[i].text, strlen(rows[i].text), &value);
        if (rows[i].prints)
            text[number_print_real(value, text)] = '\0';
        if (!tap_ok(took == rows[i].takes && (!rows[i].prints || strcmp(text, rows[i].prints) == 0),
                    "'%s' is read for %zu bytes%s%s", rows[i].text, rows[i].takes,
                    rows[i].prints ? " and prints as " : "", rows[i].prints ? rows[i].prints : ""))
            tap_diag("took %zu, printed %s", took, text);
    }
    double value = 0;
    tap_ok(number_parse_real("1e400", 5, &value) == 5 && isinf(value), "1e400 reads as infinity");
    tap_ok(number_parse_real("1e99999999999999999999", 22, &value) == 22 && isinf(value),
           "an exponent of twenty digits reads as infinity");
    tap_ok(number_parse_real("1e-99999999999999999999", 23, &value) == 23 && value == 0, "its negative reads as zero");
    tap_ok(number_parse_real("0e99999999999999999999", 22, &value) == 22 && value == 0,
           "zero with any exponent is zero");

    char text[NUMBER_TEXT_MAX];
    size_t len = number_print_integer(INT64_MIN, text);
    tap_ok(len == 20 && memcmp(text, "-9223372036854775808", 20) == 0, "the smallest integer prints whole");
    len = number_print_e15(2.5, text);
    tap_ok(len == 21 && memcmp(text, "2.500000000000000E+00", 21) == 0, "the long form of a real is that of printf");
    len = number_print_real(-DBL_MAX, text);
    tap_ok(len <= NUMBER_TEXT_MAX, "no real takes more room than is promised");
}

static void long_digits_are_quick(void)
{
    size_t len = 1000000;
    char *text = malloc(len);
    double value = 0;
    memset(text, '9', len);
    clock_t start = clock();
    size_t took = number_parse_real(text, len, &value);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    tap_ok(took == len && isinf(value) && seconds < 1, "a million digits are read within a second");
    free(text);
}

/* ----------------------------------------------------------------------------------------------------------- dates */

static void dates_agree_with_the_c_library(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(20000) * 5;
    bool splits = true, joins = true;
    struct rng rng;

    rng_init(&rng, seed);
    for (uint64_t i = 0; i < rounds && splits && joins; i++) {
        /* -9999-01-01 to 9999-12-31 */
        time_t seconds = (time_t)(-377705116800 + (int64_t)rng_below(&rng, 631107417600));
        struct date date = {0};
        struct tm tm;
        int64_t back = 0;
        gmtime_r(&seconds, &tm);
        splits = calendar_split(seconds, &date) && date.year == tm.tm_year + 1900 && date.month == tm.tm_mon + 1 &&
                 date.day == tm.tm_mday && date.hour == tm.tm_hour && date.minute == tm.tm_min &&
                 date.second == tm.tm_sec && date.weekday == tm.tm_wday && date.yearday == tm.tm_yday;
        date.weekday = date.yearday = -1;
        joins = calendar_join(&date, &back) && back == (int64_t)timegm(&tm) && back == seconds;
        if (!splits || !joins)
            tap_diag("seed %llu: %lld, %d-%02d-%02d", (unsigned long long)seed, (long long)seconds, date.year,
                     date.month, date.day);
    }
    tap_ok(splits, "seconds become the dates that the C library gives, over twenty thousand years");
    tap_ok(joins, "dates become the seconds they came from");
}

static bool date_exists(int year, int month, int day, int hour, int minute, int second)
{
    struct date date = {.year = year, .month = month, .day = day, .hour = hour, .minute = minute, .second = second};
    int64_t seconds;
    return calendar_join(&date, &seconds);
}

static void dates_have_limits(void)
{
    struct date date;

    tap_ok(date_exists(2000, 2, 29, 0, 0, 0) && !date_exists(1900, 2, 29, 0, 0, 0) &&
               date_exists(2024, 2, 29, 0, 0, 0) && !date_exists(2023, 2, 29, 0, 0, 0),
           "leap years are those of the Gregorian calendar");
    tap_ok(!date_exists(2000, 0, 1, 0, 0, 0) && !date_exists(2000, 13, 1, 0, 0, 0) &&
               !date_exists(2000, 1, 0, 0, 0, 0) && !date_exists(2000, 4, 31, 0, 0, 0) &&
               !date_exists(2000, 1, 32, 0, 0, 0),
           "a day that does not exist is refused");
    tap_ok(!date_exists(2000, 1, 1, 24, 0, 0) && !date_exists(2000, 1, 1, 0, 60, 0) &&
               !date_exists(2000, 1, 1, 0, 0, 60) && !date_exists(2000, 1, 1, -1, 0, 0) &&
               date_exists(2000, 1, 1, 23, 59, 59),
           "a time of day that does not exist is refused");
    tap_ok(!date_exists(10000, 1, 1, 0, 0, 0) && !date_exists(-10000, 1, 1, 0, 0, 0), "years have a range");
    tap_ok(!calendar_split(INT64_MAX, &date) && !calendar_split(INT64_MIN, &date), "so have seconds");
    tap_ok(calendar_month("August", 6) == 8 && calendar_month("aug", 3) == 8 && calendar_month("AUGUR", 5) == 8 &&
               calendar_month("au", 2) == 0 && calendar_month("xyz", 3) == 0,
           "a month is known by its first three letters, in any case");
    tap_ok(calendar_weekday("sun", 3) == 0 && calendar_weekday("SATURDAY", 8) == 6 && calendar_weekday("day", 3) == -1,
           "a weekday likewise");
}

/* --------------------------------------------------------------------------------------------------- errors, buffers */

static void errors_gather_context(void)
{
    struct err err;
    unsigned line, column;

    tap_ok(err_at(&err, 3, 7, "no %s", "bread") == -1 && err.line == 3 && err.column == 7 &&
               strcmp(err.text, "no bread") == 0,
           "an error has a place and a text");
    tap_ok(err_context(&err, "shop %d", 2) == -1 && strcmp(err.text, "shop 2: no bread") == 0 && err.line == 3,
           "context goes in front and the place stays");
    tap_ok(err_set(&err, "lost") == -1 && err.line == 0 && err.column == 0, "an error may have no place");
    tap_ok(err_set(NULL, "x") == -1 && err_at(NULL, 1, 1, "x") == -1 && err_context(NULL, "x") == -1,
           "nobody need listen");

    char big[ERR_TEXT_MAX * 2];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    err_set(&err, "%s", big);
    err_context(&err, "%s", big);
    err_context(&err, "front");
    tap_ok(strlen(err.text) < ERR_TEXT_MAX && strncmp(err.text, "front: xxx", 10) == 0,
           "long texts are cut, and the front stays");

    err_place("ab\ncd\n\ne", 0, &line, &column);
    bool start = line == 1 && column == 1;
    err_place("ab\ncd\n\ne", 4, &line, &column);
    bool second = line == 2 && column == 2;
    err_place("ab\ncd\n\ne", 7, &line, &column);
    tap_ok(start && second && line == 4 && column == 1, "lines and columns count from one");
}

static void buffers_grow(void)
{
    struct buf buf;
    bool whole = true;

    buf_init(&buf);
    tap_ok(strcmp(buf_string(&buf), "") == 0, "an empty buffer is an empty string");
    for (int i = 0; i < 20000; i++)
        buf_addf(&buf, "%d,", i);
    const char *at = buf_string(&buf);
    for (int i = 0; i < 20000 && whole; i++) {
        char *end;
        whole = strtol(at, &end, 10) == i && *end == ',';
        at = end + 1;
    }
    tap_ok(whole && !*at, "what is added piece by piece is there in order");
    buf_reset(&buf);
    buf_addc(&buf, 'a');
    buf_add(&buf, "b\0c", 3);
    buf_add(&buf, NULL, 0);
    buf_adds(&buf, "d");
    tap_ok(buf.len == 5 && memcmp(buf_string(&buf), "ab\0cd", 6) == 0, "a buffer holds any bytes");
    char *long_text = malloc(100001);
    memset(long_text, 'z', 100000);
    long_text[100000] = '\0';
    buf_reset(&buf);
    buf_addf(&buf, "<%s>", long_text);
    tap_ok(buf.len == 100002 && buf_string(&buf)[100001] == '>', "formatted text may be of any length");
    free(long_text);
    buf_done(&buf);
}

static void arrays_grow(void)
{
    struct {
        unsigned *items;
        uint32_t count, room;
    } list = {.items = NULL};
    bool whole = true, twice = true;

    for (unsigned i = 0; i < 1000; i++) {
        uint32_t before = list.room;

        ARRAY_ROOM(list.items, list.count, list.room, 3);
        twice = twice && (list.room == before || list.room == (before ? 2 * before : 3)) && list.count < list.room;
        list.items[list.count++] = i;
    }
    for (unsigned i = 0; i < 1000; i++)
        whole = whole && list.items[i] == i;
    tap_ok(whole && twice, "an array begins with the room that is asked for, doubles it and keeps what is in it");
    tap_ok(array_more(UINT32_C(1) << 30, 3, 4) == UINT32_C(1) << 31, "its room is what its number can hold");
    free(list.items);
}

static void text_becomes_xml(void)
{
    static const char text[] = "a<b> & \"c\"\r\n\x01";
    struct buf buf;

    buf_init(&buf);
    xml_quote(&buf, XML_ELEMENT, text, sizeof text - 1);
    tap_ok(!strcmp(buf_string(&buf), "a&lt;b&gt; &amp; \"c\"&#13;\n"),
           "text of an element loses nothing but what XML cannot carry");
    buf_reset(&buf);
    xml_quote(&buf, XML_ATTRIBUTE, text, sizeof text - 1);
    tap_ok(!strcmp(buf_string(&buf), "a&lt;b> &amp; &quot;c&quot;&#13;&#10;"),
           "an attribute keeps its quotes and line ends");
    buf_done(&buf);
}

static void texts_are_cut_at_characters(void)
{
    static const struct {
        const char *text, *cut;
        size_t most;
    } rows[] = {
        {"abc", "abc", 3},          {"abc", "ab...", 2}, {"a\xc3\xa9z", "a...", 2}, {"a\xc3\xa9z", "a\xc3\xa9...", 3},
        {"\xe2\x82\xac", "...", 2}, {"", "", 0},         {"x", "...", 0},           {"\x80\x80\x80", "...", 2}};
    bool good = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf text;

        buf_init(&text);
        buf_adds(&text, "\xa9:");
        buf_adds(&text, rows[i].text);
        buf_cut(&text, 2, rows[i].most);
        good = good && strcmp(buf_string(&text) + 2, rows[i].cut) == 0;
        buf_done(&text);
    }
    tap_ok(good, "text is cut at the end of a character");
}

static void names_have_an_order(void)
{
    static const char *const names[] = {"",
                                        "1",
                                        "2",
                                        "10",
                                        "Heron",
                                        "heron",
                                        "heron0",
                                        "heron02",
                                        "heron2",
                                        "heron9",
                                        "heron10",
                                        "heron10a",
                                        "heron10b2",
                                        "heron10b11",
                                        "node",
                                        "node-2",
                                        "node-2.lab",
                                        "node-18446744073709551617",
                                        "node-18446744073709551618",
                                        "z\xc3\xa9"};
    size_t count = sizeof names / sizeof *names;
    bool ordered = true;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            int order = natural_compare(names[i], strlen(names[i]), names[k], strlen(names[k]));

            if (i == k ? order != 0 : (order < 0) != (i < k)) {
                ordered = false;
                printf("# '%s' and '%s': %d\n", names[i], names[k], order);
            }
        }
    tap_ok(ordered, "names are in the order in which people look for them, numbers by value");
}

static struct {
    double (*square_root)(double number);
} library_functions;

/* Does the process end, as if the loader had not found the library? What it says goes to /dev/null. */
static bool ends_without(struct library *library)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        library_need(library);
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 127;
}

static void libraries_are_loaded_when_needed(void)
{
    static const char *const good[] = {"sqrt"}, *const bad[] = {"nosuch_function"};
    struct library there = LIBRARY("libm.so.6", "roots are drawn by libm", good, library_functions);
    struct library missing = LIBRARY("libnosuch.so.1", "doors are opened by libnosuch", good, library_functions);
    struct library lacking = LIBRARY("libm.so.6", "doors are opened by libm", bad, library_functions);
    struct err err = {0};

    tap_ok(library_load(&missing, &err) < 0 &&
               strstr(err.text, "doors are opened by libnosuch, which cannot be loaded: libnosuch.so.1"),
           "a library that is not installed is told, with what it is for");
    tap_ok(library_load(&lacking, &err) < 0 &&
               !strcmp(err.text, "doors are opened by libm, and libm.so.6 lacks nosuch_function"),
           "so is a function that it lacks");
    tap_ok(ends_without(&missing), "where there is no way without it the process ends");
    tap_ok(library_load(&there, &err) == 0 && library_need(&there) == &library_functions &&
               library_functions.square_root(16) > 3.9 && library_functions.square_root(16) < 4.1,
           "the functions of one that is there can be called");
}

int main(void)
{
    libraries_are_loaded_when_needed();
    texts_are_cut_at_characters();
    names_have_an_order();
    symbols_are_names();
    symbols_are_counted();
    symbols_have_many_spellings();
    symbols_fold_letters_alone();
    symbols_keep_spare_memory();
    symbols_agree_with_a_list();
    maps_find_what_was_put();
    maps_agree_with_a_list();
    maps_grow_a_little_at_a_time(false);
    maps_grow_a_little_at_a_time(true);
    arenas_give_back_all_at_once();
    arenas_begin_with_lent_memory();
    reals_print_and_read_back();
    reals_read_as_strtod();
    reals_look_like_this();
    long_digits_are_quick();
    dates_agree_with_the_c_library();
    dates_have_limits();
    errors_gather_context();
    buffers_grow();
    arrays_grow();
    text_becomes_xml();
    return tap_done();
}
