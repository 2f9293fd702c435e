/* lint_test.c: what lint finds in an ad, and that it finds nothing where nothing is wrong.
 *
 * Clauses that exclude each other are held against trial: of every two clauses, lint complains exactly when no value of the
 * attribute makes both true. */
#include "common/lang.h"
#include "common/tap.h"

#include "match/pair/lint.h"
#include "match/pair/match.h"

static const struct finding_case {
    const char *sentence;
    const struct dialect *dialect; /* NULL: classic */
    const char *ad;
    const char *findings; /* a line each: attribute, kind, text */
} cases[] = {
    {"an ad with nothing wrong is left alone", NULL,
     "[ Name = \"a\"; Memory = 64; Constraint = other.Memory >= self.Memory && Arch == \"INTEL\"; Rank = other.Mips ]",
     ""},
    {"an empty ad is left alone", NULL, "[]", ""},
    {"bounds that leave nothing between them contradict each other", NULL,
     "[ Constraint = other.x < 10 && other.y && other.x > 12 ]",
     "Constraint contradiction: 'other.x < 10' and 'other.x > 12' are never both true\n"},
    {"an attribute cannot equal two strings", NULL, "[ Constraint = x == \"a\" && x == \"b\" ]",
     "Constraint contradiction: 'x == \"a\"' and 'x == \"b\"' are never both true\n"},
    {"x, other.x and TARGET.x are the same attribute", NULL, "[ Constraint = x > 5 && other.x < 9 && 3 > TARGET.x ]",
     "Constraint contradiction: 'x > 5' and '3 > TARGET.x' are never both true\n"},
    {"conjunctions in parentheses are one", NULL, "[ Constraint = (x > 5 && y) && (z || w) && (x < 3) ]",
     "Constraint contradiction: 'x > 5' and '(x < 3)' are never both true\n"},
    {"alternatives do not contradict each other", NULL, "[ Constraint = x < 3 || x > 5 || (x > 3 && x < 5) ]", ""},
    {"a bound may be computed, or be an own attribute", NULL,
     "[ m = 9; Constraint = x < 15 * 60 && x > -1 && x < m && x > 9 ]",
     "Constraint contradiction: 'x < m' and 'x > 9' are never both true\n"},
    {"an attribute of another ad is not mistaken for it", NULL,
     "[ Constraint = other.x < 10 && other.a.x > 12 && other.a.x < 15 && self.c.x > 20; c = [ x = random(30) ] ]", ""},
    {"a number and a string are two types", NULL, "[ Constraint = x > 5 && x == \"a\" ]",
     "Constraint two-types: 'x > 5' and 'x == \"a\"' want 'x' to be of two types: integer and string\n"},
    {"a condition is a boolean in classic", NULL, "[ Constraint = x && x > 5 && y && !y ]",
     "Constraint two-types: 'x' and 'x > 5' want 'x' to be of two types: boolean and integer\n"
     "Constraint contradiction: 'y' and '!y' are never both true\n"},
    {"a number is a condition in condor", &dialect_condor, "[ Requirements = x && x > 5 ]", ""},
    {"what is undefined is not compared", NULL, "[ Constraint = x is undefined && x > 5 ]",
     "Constraint contradiction: 'x is undefined' and 'x > 5' are never both true\n"},
    {"a test for undefined before a comparison is fine", NULL, "[ Constraint = x isnt undefined && x > 5 ]", ""},

    {"a misspelt function is unknown", NULL, "[ a = membr(1, { 1 }) ]",
     "a unknown-function: there is no function 'membr'\n"},
    {"too many arguments are told", NULL, "[ a = size(1, 2); b = isString() ]",
     "a argument-count: size(X) takes 1 argument, not 2\n"
     "b argument-count: isString(V) takes 1 argument, not 0\n"},
    {"too few arguments are told", NULL, "[ a = substr(\"abc\"); b = join() ]",
     "a argument-count: substr(S, FROM [, LEN]) takes 2 to 3 arguments, not 1\n"
     "b argument-count: join([SEP,] V, ... or L) takes at least 1 argument, not 0\n"},

    {"attributes that hide other, TARGET and MY are told", NULL, "[ other = 1; a = [ target = 2 ]; My = 3 ]",
     "other shadow: the attribute 'other' hides the counterpart\n"
     "a shadow: the attribute 'target' hides the counterpart\n"
     "My shadow: the attribute 'My' hides the ad itself\n"},
    {"attributes that hide a label are told", NULL,
     "[ cpu = 1; Ports = { [ Label = cpu; Constraint = cpu.x ], [ Label = disk; Disk = 2 ] } ]",
     "cpu shadow: the attribute 'cpu' hides the label of port 1\n"
     "Ports never-true: Constraint of port 1 is always error, so nothing matches\n"
     "Ports shadow: the attribute 'Disk' hides the label of port 2\n"},
    {"a port may read those before it, not those behind it", NULL,
     "[ Ports = { [ Label = a; Constraint = a.x && b.x ], [ Label = b; Constraint = a.x && b.x ] } ]",
     "Ports later-label: port 1 reads 'b', the label of port 2, which is filled later: there it is undefined\n"},
    {"a port's constraint and rank are looked at", NULL,
     "[ Ports = { [ Label = a; Constraint = false ], [ Label = b; Rank = self.x + 1; Constraint = b.x < 1 && b.x > 2 ] } ]",
     "Ports never-true: Constraint of port 1 is always false, so nothing matches\n"
     "Ports no-preference: Rank of port 2 is always undefined, so it prefers nobody\n"
     "Ports no-such-attribute: 'self.x': this ad has no 'x'\n"
     "Ports contradiction: 'b.x < 1' and 'b.x > 2' are never both true\n"},
    {"names that the matchmaker gives are told", NULL, "[ UserPrio = 1; identity = \"me\"; a = [ Usage = 2 ] ]",
     "UserPrio reserved: the matchmaker gives the value of that name; the ad's own hides it\n"
     "identity reserved: the matchmaker gives the value of that name; the ad's own hides it\n"},

    {"of both, Requirements is not read", NULL, "[ Requirements = other.a; Constraint = other.b ]",
     "Requirements two-constraints: is not read, since there is a Constraint as well\n"},
    {"a constraint that is false by the ad's own attributes is told", NULL,
     "[ m = 3; Constraint = m > 5 && other.x > 2 ]",
     "Constraint never-true: is never true, whatever the counterpart\n"},
    {"a constraint that is undefined for want of an own attribute is told", NULL, "[ Requirements = self.m > 5 ]",
     "Requirements never-true: is always undefined, so nothing matches\n"
     "Requirements no-such-attribute: 'self.m': this ad has no 'm'\n"},
    {"a constraint that is no condition is told", NULL, "[ Constraint = 1 ]",
     "Constraint never-true: is always of type integer, which is not a condition, so nothing matches\n"},
    {"a number is one in condor, and zero is false", &dialect_condor, "[ Requirements = 0 ]",
     "Requirements never-true: is always 0, so nothing matches\n"},
    {"a constraint that depends on the time is not", NULL, "[ Constraint = time() > 5 ]", ""},
    {"a rank that is always error, undefined or a list is told", NULL, "[ Rank = self.x; x = {} ]",
     "Rank no-preference: is always of type list, so it prefers nobody\n"},
    {"a rank that is a number is fine", NULL, "[ Rank = 0 ]", ""},

    {"a string is not added to a number", NULL, "[ a = \"a\" + 1; b = x + (\"b\" * 2.0) ]",
     "a never-fits: '\"a\" + 1' is always error: string + integer\n"
     "b never-fits: '(\"b\" * 2.0)' is always error: string * real\n"},
    {"a string is not compared with a number, though it be an own attribute", NULL, "[ a = \"a\"; b = a > 1 ]",
     "b never-fits: 'a > 1' is always error: string > integer\n"},
    {"a boolean does not count in classic", NULL, "[ a = (x > 1) * 10; b = member(x, { 1 }) + 1 ]",
     "a never-fits: '(x > 1) * 10' never has a value: boolean * integer\n"
     "b never-fits: 'member(x, { 1 }) + 1' never has a value: boolean + integer\n"},
    {"it does in condor", &dialect_condor, "[ a = (x > 1) * 10; b = member(x, { 1 }) + 1; c = 5 / (true - (x > 1)) ]",
     ""},
    {"a division by zero is told", NULL, "[ a = x + 1 / 0 ]",
     "a never-fits: '1 / 0' is always error: it divides by zero\n"},
    {"undefined is not compared by ==", NULL, "[ a = x == undefined; b = undefined < y; c = x is undefined ]",
     "a never-fits: 'x == undefined' is always undefined; `is` tells\n"
     "b never-fits: 'undefined < y' is always undefined\n"},
    {"a number is no condition in classic", NULL, "[ a = 5 && x; b = \"x\" ? 1 : 2; c = !3 ]",
     "a never-fits: '5' is not a condition: it is of type integer\n"
     "b never-fits: '\"x\"' is not a condition: it is of type string\n"
     "c never-fits: '3' is not a condition: it is of type integer\n"},
    {"a time is not compared with a text, nor with a number", NULL,
     "[ a = dayTime() < \"7:00\"; b = \"19:00\" <= dayTime(); c = dayTime() < 7; d = currentTime() + 5; e = dayTime() > \"noon\" ]",
     "a never-fits: 'dayTime() < \"7:00\"' is always error: relative time < string; a time is written '7:00'\n"
     "b never-fits: '\"19:00\" <= dayTime()' is always error: string <= relative time; a time is written '19:00'\n"
     "c never-fits: 'dayTime() < 7' is always error: relative time < integer\n"
     "d never-fits: 'currentTime() + 5' is always error: absolute time + integer\n"
     "e never-fits: 'dayTime() > \"noon\"' is always error: relative time > string\n"},
    {"what the clock says is compared with its like", NULL,
     "[ a = dayTime() < '7:00'; b = time() > 5; c = currentTime() > '2000-01-01T00:00:00Z'; d = getDayOfWeek(currentTime()) == 0 ]",
     ""},
    {"times are added to intervals, not to numbers", NULL, "[ a = '2000-01-01T00:00:00Z' + '1d'; b = '1d' + 1 ]",
     "b never-fits: ''1d00:00:00' + 1' is always error: relative time + integer\n"},

    {"self.x wants an own attribute", NULL, "[ Memory = 1; a = self.x + MY.Memory + .y; b = MY.Memroy ]",
     "a no-such-attribute: 'self.x': this ad has no 'x'\n"
     "a no-such-attribute: '.y': this ad has no 'y'\n"
     "b no-such-attribute: 'MY.Memroy': this ad has no 'Memroy'; was 'Memory' meant?\n"},
    {"to ask whether there is one is fine", NULL, "[ a = self.x is undefined; b = isUndefined(MY.y) ]", ""},
    {"who has asked whether there is one may read it", NULL,
     "[ a = self.x is undefined ? 0 : self.x; b = isUndefined(MY.y) || MY.y > 2; c = self.z + self.x; d = undefined isnt .w && .w ]",
     "c no-such-attribute: 'self.z': this ad has no 'z'\n"},
    {"a free name one slip from an own attribute is suspected", NULL,
     "[ Memory = 1; a = Memroy + Memry + Memoryy + Memorx; b = Arch + Mem ]",
     "a misspelt: this ad has no 'Memroy', so it is asked of the counterpart; was 'Memory' meant?\n"
     "a misspelt: this ad has no 'Memry', so it is asked of the counterpart; was 'Memory' meant?\n"
     "a misspelt: this ad has no 'Memoryy', so it is asked of the counterpart; was 'Memory' meant?\n"
     "a misspelt: this ad has no 'Memorx', so it is asked of the counterpart; was 'Memory' meant?\n"},
    {"numbered names are no slips", NULL, "[ Disk1 = 1; a = Disk2 + Disk + Disk10 ]", ""},
    {"the same is told once", NULL, "[ Memory = 1; a = Memroy + Memroy ]",
     "a misspelt: this ad has no 'Memroy', so it is asked of the counterpart; was 'Memory' meant?\n"},

    {"attributes in a circle are told", NULL, "[ a = b + 1; b = self.c; c = x ? .a : 2; d = D ]",
     "a circle: reads itself: a -> b -> c -> a\n"
     "d circle: reads itself: d -> d\n"},
    {"ads and lists that mention each other are no circle", NULL,
     "[ a = [ x = b.y; y = 1 ]; b = [ x = a.y; y = 2 ]; c = { c } ]", ""},
};

struct notes {
    const struct symbols *symbols;
    struct buf *out;
};

static void note_finding(void *user, const struct lint_finding *finding)
{
    struct notes *notes = user;
    size_t len;

    buf_adds(notes->out, symbols_text(notes->symbols, finding->attribute, &len));
    buf_addf(notes->out, " %s: %s\n", lint_kind_name(finding->kind), finding->text);
}

/* All findings as text, which the caller does not free. */
static const char *findings(struct lang *lang, const struct tree *ad)
{
    struct notes notes = {lang->symbols, lang_scratch()};

    lint_ad(&lang->arena, ad, NULL, note_finding, &notes);
    return buf_string(notes.out);
}

static void check_case(struct lang *lang, const struct finding_case *row)
{
    struct err err = {0};
    struct tree *ad = lang_ad(lang, row->dialect ? row->dialect : &dialect_classic, row->ad, &err);
    const char *got = ad ? findings(lang, ad) : "";

    if (!tap_ok(ad && !strcmp(got, row->findings), "%s", row->sentence))
        tap_diag("%s\n%s\nexpected:\n%sgot:\n%s", row->ad, err.text, row->findings, got);
    tree_unref(ad);
}

static void check_examples(struct lang *lang)
{
    static const struct {
        const char *path;
        const struct dialect *dialect;
    } rows[] = {{"examples/job.ad", &dialect_classic}, {"examples/workstation.ad", &dialect_condor}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len;
        char *text = lang_read(rows[i].path, &len);
        struct tree *ad = lang_ad(lang, rows[i].dialect, text, NULL);

        if (!tap_ok(ad && !*findings(lang, ad), "nothing is wrong with %s", rows[i].path) && ad)
            tap_diag("%s", findings(lang, ad));
        tree_unref(ad);
        free(text);
    }
}

/* ------------------------------------------------------------------------------------------- clauses against trial */

static const char *const clause_ops[] = {"==", "!=", "<", "<=", ">", ">=", "is", "isnt"};
static const char *const clause_constants[] = {"1", "2", "1.0", "1.5", "\"a\"", "\"B\"", "true", "false", "undefined"};
static const char *const trial_values[] = {"0",     "1",     "1.0",  "1.25",  "1.5",      "1.75",   "2",
                                           "2.0",   "3",     "\"\"", "\"A\"", "\"a\"",    "\"aa\"", "\"b\"",
                                           "\"B\"", "\"c\"", "true", "false", "undefined"};
#define OPS (sizeof clause_ops / sizeof *clause_ops)
#define CONSTANTS (sizeof clause_constants / sizeof *clause_constants)
#define TRIALS (sizeof trial_values / sizeof *trial_values)

static void count_conflict(void *user, const struct lint_finding *finding)
{
    *(int *)user += finding->kind == LINT_CONTRADICTION || finding->kind == LINT_TWO_TYPES;
}

/* Is it satisfied by some trial value of x? */
static bool satisfiable(struct lang *lang, struct tree *ad, struct tree *const *trials)
{
    static const struct env env = {0};

    for (size_t i = 0; i < TRIALS; i++) {
        struct match match;

        match_ads(&env, &lang->arena, ad, trials[i], &match);
        if (match.matches)
            return true;
    }
    return false;
}

/* A clause that nothing satisfies alone is not lint's to find here: nothing is below false, or compares with undefined. */
static bool is_plain(const char *op, const char *constant)
{
    bool strict = strcmp(op, "is") && strcmp(op, "isnt");

    return strcmp(constant, "undefined") ? strcmp(constant, "true") && strcmp(constant, "false") : !strict;
}

/* Nor does lint know that only 1.5 itself == 1.5. */
static bool is_subtle(const char *op1, const char *op2)
{
    return (!strcmp(op1, "isnt") && !strcmp(op2, "==")) || (!strcmp(op1, "==") && !strcmp(op2, "isnt"));
}

static void check_clauses(struct lang *lang, const struct dialect *dialect)
{
    struct tree *trials[TRIALS];
    int unsound = 0, missed = 0, total = 0;
    char text[256];

    for (size_t i = 0; i < TRIALS; i++) {
        snprintf(text, sizeof text, "[ x = %s ]", trial_values[i]);
        trials[i] = lang_ad(lang, dialect, text, NULL);
    }
    for (size_t n = 0; n < OPS * CONSTANTS * OPS * CONSTANTS; n++) {
        const char *op1 = clause_ops[n % OPS], *c1 = clause_constants[n / OPS % CONSTANTS];
        const char *op2 = clause_ops[n / OPS / CONSTANTS % OPS], *c2 = clause_constants[n / OPS / CONSTANTS / OPS];
        struct tree *ad;
        int conflicts = 0;
        bool can;

        snprintf(text, sizeof text, "[ Constraint = other.x %s %s && x %s %s ]", op1, c1, op2, c2);
        ad = lang_ad(lang, dialect, text, NULL);
        lint_ad(&lang->arena, ad, NULL, count_conflict, &conflicts);
        can = satisfiable(lang, ad, trials);
        if (can && conflicts && unsound++ < 5)
            tap_diag("complains of what can be true: %s", text);
        if (!can && !conflicts && is_plain(op1, c1) && is_plain(op2, c2) && !is_subtle(op1, op2) && missed++ < 5)
            tap_diag("says nothing of what cannot be true: %s", text);
        total++;
        tree_unref(ad);
        arena_reset(&lang->arena);
    }
    for (size_t i = 0; i < TRIALS; i++)
        tree_unref(trials[i]);
    tap_ok(unsound == 0, "%s: lint never complains of two clauses that can both be true (%d pairs)", dialect->name,
           total);
    tap_ok(missed == 0, "%s: lint complains of those that cannot", dialect->name);
}

/* ------------------------------------------------------------------------------------------------------- large ads */

static void count_finding(void *user, const struct lint_finding *finding)
{
    (void)finding;
    ++*(int *)user;
}

static void check_large(struct lang *lang)
{
    struct buf text;
    struct tree *ad;
    int count = 0;

    buf_init(&text);
    buf_adds(&text, "[ Constraint = true");
    for (int i = 0; i < 20000; i++)
        buf_addf(&text, " && x > %d && x < %d", i, i);
    for (int i = 0; i < 10000; i++)
        buf_addf(&text, "; a%d = a%d", i, (i + 1) % 10000);
    buf_adds(&text, " ]");
    ad = lang_ad(lang, &dialect_classic, buf_string(&text), NULL);
    tap_ok(ad != NULL, "an ad with a conjunction of 40000 clauses and a circle of 10000 attributes is read");
    lint_ad(&lang->arena, ad, NULL, count_finding, &count);
    tap_ok(count == LINT_FINDINGS_MAX + 1, "%d findings of one attribute are told, and the circle", LINT_FINDINGS_MAX);
    tree_unref(ad);
    buf_done(&text);
}

struct worst {
    int count;
    bool unfinished;
};

static void note_worst(void *user, const struct lint_finding *finding)
{
    struct worst *worst = user;

    worst->count++;
    worst->unfinished = worst->unfinished || finding->kind == LINT_UNFINISHED;
}

/* The text many times, between a beginning and an end; a %d in it is its number. */
static void repeat(struct buf *out, const char *first, const char *text, int count, const char *last)
{
    buf_reset(out);
    buf_adds(out, first);
    for (int i = 0; i < count; i++) {
        for (const char *c = text; *c; c++) {
            if (*c == '@')
                buf_addf(out, "%d", i);
            else
                buf_addc(out, *c);
        }
    }
    buf_adds(out, last);
}

#define LONG 100000 /* bytes of a text */

/* Work is counted, not time: what strangers may send is bounded by these steps, and most that is large needs far fewer. */
static void check_work(struct lang *lang)
{
    static const struct {
        const char *sentence, *first, *text, *last;
        int count;
        bool is_long; /* the first is followed by a long text in quotes */
        uint64_t steps;
    } rows[] = {
        {"a long chain is quoted by its beginning", "[ a = x", " == undefined", " ]", 4000, false, 300000},
        {"so is a long list of arguments", "[ a = f(x", ", 1 + \"a\"", ") + 1 + \"a\" ]", 4000, false, 300000},
        {"names that are missing are looked for once", "[ ", "a@ = self.b@; ", "]", 4000, false,
         LINT_STEPS_MAX + 10000},
        {"those of which it is asked somewhere, too", "[ ", "a@ = self.b@ + (self.b@ is undefined ? 1 : 0); ", "]",
         2000, false, 400000},
        {"each clause is held against so many", "[ Constraint = true", " && other.x@ < 1", " ]", 4000, false, 700000},
        {"also in very many conjunctions", "[ ", "a@ = (x > 1 && x < 0 || y) && (z > 1 && z < 0 || y); ", "]", 3000,
         false, 900000},
        {"and clauses about long texts", "[ A = ", " && x != A", " ]", 2000, true, LINT_STEPS_MAX + 10000},
        {"a long text is compared with a bound", "[ A = ", " && A == A", " ]", 2000, true, LINT_STEPS_MAX + 10000},
        {"constraints that grow when they are folded in",
         "[ a0 = other.x + 1; a1 = a0 + a0; a2 = a1 * a1; a3 = a2 + a2; a4 = a3 * a3; a5 = a4 + a4; a6 = a5 * a5; a7 = a6 + a6; Ports = { ",
         "[ Label = l@; Constraint = a7 + a7 > a6; Rank = a7 * a6 ], ", "[ Label = l ] } ]", 60, false,
         LINT_STEPS_MAX + 200000},
        {"many circles", "[ a = 1; b = ", "self.b + ", "1 ]", 8000, false, 700000},
    };
    struct buf text;

    buf_init(&text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct worst worst = {0};
        struct buf first;
        struct tree *ad;
        uint64_t meter = 0;

        buf_init(&first);
        buf_adds(&first, rows[i].first);
        if (rows[i].is_long)
            buf_addf(&first, "\"%0*d\"; Constraint = true", LONG, 0);
        repeat(&text, buf_string(&first), rows[i].text, rows[i].count, rows[i].last);
        ad = lang_ad(lang, &dialect_classic, buf_string(&text), NULL);
        if (ad)
            lint_ad(&lang->arena, ad, &meter, note_worst, &worst);
        if (!tap_ok(ad && meter <= rows[i].steps && worst.unfinished == (meter > LINT_STEPS_MAX), "%s",
                    rows[i].sentence))
            tap_diag("%llu steps, %d findings%s", (unsigned long long)meter, worst.count,
                     worst.unfinished ? ", unfinished" : "");
        tree_unref(ad);
        buf_done(&first);
        arena_reset(&lang->arena);
    }
    buf_done(&text);
}

/* Ads that share a meter: when it is at its end, the next is not looked at, and that is told. */
static void check_shared(struct lang *lang)
{
    uint64_t meter = LINT_STEPS_MAX;
    struct tree *ad = lang_ad(lang, &dialect_classic, "[ a = self.b; c = self.d ]", NULL);
    struct worst worst = {0};

    lint_ad(&lang->arena, ad, &meter, note_worst, &worst);
    tap_ok(worst.unfinished && worst.count <= 2 && meter > LINT_STEPS_MAX, "steps that others have used are used");
    tree_unref(ad);
}

int main(void)
{
    struct lang lang;

    lang_init(&lang);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&lang, &cases[i]);
    check_examples(&lang);
    check_clauses(&lang, &dialect_classic);
    check_clauses(&lang, &dialect_condor);
    check_large(&lang);
    check_work(&lang);
    check_shared(&lang);
    lang_done(&lang);
    return tap_done();
}
