/* figures_test.c: the ads that the documents print, and what the language makes of them: tests/match/figures/cases.txt.
 *
 *     # the case's sentence                 a paragraph a case; a line is a key, blanks, and the rest as it stands
 *     left     thesis-04.ad                 an ad: a file of tests/match/figures/, or its text
 *     right    [ Owner = "raman" ]          the one it meets; without it, the left ad only has to read back
 *     dialect  condor                       of both; else classic
 *     now, zone                             the environment; else 2026-03-02T12:00:00Z, +00:00
 *     set-left, set-right  Memory = 1G      an attribute put in the place of the ad's own, or added; may stand several times
 *
 *     match    yes                          or no
 *     day      03:00 yes  12:00 no          the same at these times of 2026-03-02, in the case's zone
 *     left-constraint, right-constraint     their values, written as expressions that are evaluated alone
 *     left-rank, right-rank
 *
 * Whatever a case asks, these laws are checked as well: an ad reads back from its own text as itself; the ads made ready, and
 * the two with their sides changed, match when match_ads says so. Every file of tests/match/figures/ stands in some case. */
#include "common/lang.h"
#include "common/tap.h"
#include "match/pair/match.h"

#include <glob.h>

#define FIGURES "tests/match/figures/"

enum key {
    KEY_LEFT,
    KEY_RIGHT,
    KEY_DIALECT,
    KEY_NOW,
    KEY_ZONE,
    KEY_MATCH,
    KEY_DAY,
    KEY_LEFT_CONSTRAINT,
    KEY_RIGHT_CONSTRAINT,
    KEY_LEFT_RANK,
    KEY_RIGHT_RANK,
    KEY_SET_LEFT, /* these two may be there several times */
    KEY_SET_RIGHT,
    KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
    "left",      "right",      "dialect",  "now",      "zone", "match", "day", "left-constraint", "right-constraint",
    "left-rank", "right-rank", "set-left", "set-right"};

#define SETTINGS_MAX 8

struct setting {
    enum key key;
    const char *text;
};

struct test {
    const char *name; /* the comment in front, or NULL */
    int line;
    const char *keys[KEY_COUNT]; /* NULL when it is not given */
    struct setting settings[SETTINGS_MAX];
    int setting_count;
    bool bad;
};

/* The parts of a case, parsed; `why` collects what is wrong. */
struct run {
    struct lang *lang;
    const struct test *test;
    const struct dialect *dialect;
    struct env env;
    struct tree *left, *right;
    struct buf why;
};

/* --------------------------------------------------------------------------------------------------------- ads */

static void wrong(struct run *run, const char *what, const char *got, const char *want)
{
    buf_addf(&run->why, "%s\n  got:      %s\n  expected: %s\n", what, got, want);
}

static void wrong_text(struct run *run, const char *what, const struct err *err)
{
    buf_addf(&run->why, "%s: %u:%u: %s\n", what, err->line, err->column, err->text);
}

/* The ad with `NAME = EXPRESSION` in the place of what it had under that name; NULL when that does not parse. */
static struct tree *ad_with(struct run *run, const struct tree *ad, const char *setting)
{
    struct build *build = lang_build(run->lang, run->dialect);
    const struct expr *root = tree_root(ad);
    struct err err = {0};
    uint32_t count = 1, place;

    if (parse_push_attribute(build, NULL, setting, strlen(setting), &err) != 0) {
        wrong_text(run, setting, &err);
        build_reset(build);
        return NULL;
    }
    symbol name = build_top(build)->label;
    for (uint32_t i = 0; i < expr_part_count(root); i++) {
        const struct expr *part = &tree_parts(ad, root)[i];
        if (symbol_same(part->label, name))
            continue;
        build_copy(build, ad, part);
        symbols_hold(run->lang->symbols, part->label);
        build_attribute(build, part->label);
        count++;
    }
    build_ad(build, count, &place); /* no name is there twice */
    return build_seal(build);
}

/* One side of the case, with what is set there; NULL when some of it does not parse. */
static struct tree *run_ad(struct run *run, enum key side, enum key set)
{
    const char *source = run->test->keys[side];
    struct err err = {0};
    char path[256], *file = NULL;
    size_t len;

    if (*source != '[') {
        snprintf(path, sizeof path, FIGURES "%s", source);
        file = lang_read(path, &len);
    }
    struct tree *ad = lang_ad(run->lang, run->dialect, file ? file : source, &err);
    free(file);
    if (!ad)
        wrong_text(run, source, &err);
    for (int i = 0; ad && i < run->test->setting_count; i++)
        if (run->test->settings[i].key == set) {
            struct tree *changed = ad_with(run, ad, run->test->settings[i].text);
            tree_unref(ad);
            ad = changed;
        }
    return ad;
}

static void law_reads_back(struct run *run, const struct tree *ad)
{
    for (int style = PRINT_PLAIN; style <= PRINT_COMPACT; style++)
        if (!lang_reads_back(run->lang, ad, style))
            buf_addf(&run->why, "it does not read back: %s\n", lang_show_tree(ad));
}

/* ------------------------------------------------------------------------------------------------- what a case asks */

static void check_value(struct run *run, enum key key, const struct value *got)
{
    const char *text = run->test->keys[key];
    struct err err = {0};
    struct value want;
    struct eval eval;

    if (!text)
        return;
    struct tree *tree = lang_expr(run->lang, run->dialect, text, strlen(text), &err);
    if (!tree) {
        wrong_text(run, key_names[key], &err);
        return;
    }
    eval_init(&eval, &run->env, &run->lang->arena);
    eval_tree(&eval, NULL, tree, &want);
    if (!lang_same(&run->lang->arena, &run->env, got, &want, 1e-12))
        wrong(run, key_names[key], lang_show(run->dialect, got), text);
    tree_unref(tree);
}

/* The match at run->env.now, which must be `want` ("yes", "no", or NULL for either), by every way to ask. */
static void check_match(struct run *run, const char *at, const char *want, struct match *ret_match)
{
    struct arena *arena = &run->lang->arena;
    struct party left, right;
    struct match swapped;

    match_ads(&run->env, arena, run->left, run->right, ret_match);
    match_ads(&run->env, arena, run->right, run->left, &swapped);
    party_init(&left, &run->env, arena, run->left);
    party_init(&right, &run->env, arena, run->right);
    const char *got = ret_match->matches ? "yes" : "no";
    if (want && strcmp(got, want) != 0)
        wrong(run, at, got, want);
    if (swapped.matches != ret_match->matches)
        wrong(run, "with their sides changed", swapped.matches ? "yes" : "no", got);
    if (party_matches(&run->env, arena, &left, &right) != ret_match->matches ||
        party_matches(&run->env, arena, &right, &left) != ret_match->matches)
        wrong(run, "made ready", "the opposite", got);
    party_done(&left);
    party_done(&right);
}

static void check_day(struct run *run)
{
    const char *rest = run->test->keys[KEY_DAY];
    char hour[16], want[4], now[64];
    struct match match;
    int taken;

    while (sscanf(rest, "%15s %3s%n", hour, want, &taken) == 2) {
        int zone;
        snprintf(now, sizeof now, "2026-03-02T%s%s", hour, strlen(hour) == 5 ? ":00" : "");
        if (!time_parse_absolute(&dialect_classic, now, strlen(now), run->env.zone, &run->env.now, &zone))
            buf_addf(&run->why, "day: not a time: %s\n", hour);
        check_match(run, hour, want, &match);
        rest += taken;
    }
    if (rest[strspn(rest, " \t")])
        buf_addf(&run->why, "day: not a time and yes or no: %s\n", rest);
}

static bool run_prepare(struct run *run)
{
    const char *const *keys = run->test->keys;

    run->dialect = keys[KEY_DIALECT] ? dialect_find(keys[KEY_DIALECT]) : &dialect_classic;
    if (!run->dialect) {
        buf_adds(&run->why, "no such dialect\n");
        return false;
    }
    lang_set_now(&run->env, keys[KEY_NOW] ? keys[KEY_NOW] : "2026-03-02T12:00:00Z");
    lang_set_zone(&run->env, keys[KEY_ZONE] ? keys[KEY_ZONE] : "+00:00");
    run->left = run_ad(run, KEY_LEFT, KEY_SET_LEFT);
    if (keys[KEY_RIGHT])
        run->right = run_ad(run, KEY_RIGHT, KEY_SET_RIGHT);
    return run->left && (run->right || !keys[KEY_RIGHT]);
}

static void run_checks(struct run *run)
{
    struct match match;

    law_reads_back(run, run->left);
    if (!run->right)
        return;
    law_reads_back(run, run->right);
    check_match(run, "match", run->test->keys[KEY_MATCH], &match);
    check_value(run, KEY_LEFT_CONSTRAINT, &match.left_constraint);
    check_value(run, KEY_RIGHT_CONSTRAINT, &match.right_constraint);
    check_value(run, KEY_LEFT_RANK, &match.left_rank);
    check_value(run, KEY_RIGHT_RANK, &match.right_rank);
    if (run->test->keys[KEY_DAY])
        check_day(run);
}

/* ---------------------------------------------------------------------------------------------------------- cases */

/* A pair is asked something, a single ad nothing. */
static bool test_sound(const struct test *test)
{
    bool asks = false;

    for (int key = KEY_MATCH; key <= KEY_RIGHT_RANK; key++)
        asks |= test->keys[key] != NULL;
    return !test->bad && test->name && test->keys[KEY_LEFT] && asks == (test->keys[KEY_RIGHT] != NULL);
}

static void test_run(struct lang *lang, const struct test *test)
{
    struct run run = {.lang = lang, .test = test};

    buf_init(&run.why);
    if (!test_sound(test))
        buf_adds(&run.why, "a key that is not known or there twice, or no sentence, or the case asks nothing\n");
    else if (run_prepare(&run))
        run_checks(&run);
    if (!tap_ok(run.why.len == 0, "cases.txt:%d: %s", test->line, test->name ? test->name : "?"))
        tap_diag("%s", buf_string(&run.why));
    tree_unref(run.left);
    tree_unref(run.right);
    buf_done(&run.why);
    arena_reset(&lang->arena);
}

static void test_read_line(struct test *test, char *line)
{
    size_t len = strcspn(line, " \t");
    char *rest = line + len + strspn(line + len, " \t");

    for (int key = 0; key < KEY_COUNT; key++)
        if (strlen(key_names[key]) == len && memcmp(key_names[key], line, len) == 0) {
            if (key < KEY_SET_LEFT) {
                test->bad |= test->keys[key] != NULL;
                test->keys[key] = rest;
            } else if (test->setting_count < SETTINGS_MAX) {
                test->settings[test->setting_count++] = (struct setting){(enum key)key, rest};
            } else {
                test->bad = true;
            }
            return;
        }
    test->bad = true;
}

static void run_cases(struct lang *lang, char *text)
{
    const char *comment = NULL;
    struct test test = {0};
    bool open = false;

    for (int number = 1;; number++) {
        char *line = lang_line(&text);
        if (!line || !*line) {
            if (open)
                test_run(lang, &test);
            open = false;
            comment = NULL;
            if (!line)
                break;
        } else if (*line == '#') {
            comment = line + 1 + strspn(line + 1, " ");
        } else {
            if (!open)
                test = (struct test){.name = comment, .line = number};
            open = true;
            test_read_line(&test, line);
        }
    }
}

/* No figure is forgotten. */
static void check_files(const char *cases)
{
    glob_t files;

    if (!tap_ok(glob(lang_path(FIGURES "*.ad"), 0, NULL, &files) == 0, "there are figures"))
        return;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = strrchr(files.gl_pathv[i], '/') + 1;
        char word[256];
        snprintf(word, sizeof word, " %s\n", name);
        tap_ok(strstr(cases, word) != NULL, "%s stands in a case", name);
    }
    globfree(&files);
}

int main(void)
{
    struct lang lang;
    size_t len;
    char *cases = lang_read(FIGURES "cases.txt", &len);

    lang_init(&lang);
    check_files(cases);
    run_cases(&lang, cases);
    free(cases);
    lang_done(&lang);
    return tap_done();
}
