/* twin_submit.c: random submit files mean the same, whichever way their jobs become ads.
 *
 *   sweep       jobs that share an ad and compute what differs, against an ad for each job, made by a file with a statement `queue` a job
 *   items       items that share ads with a list of them, against an ad for each item
 *
 * What counts is what every job, told its number and place, finds in Args, Env, Out, Err and Outputs. BERTH_SEED and BERTH_ROUNDS choose the
 * input. Each difference is printed with its seed; after five of them the rest is silent. */
#include "common/rounds.h"
#include "common/tap.h"
#include "lang/ad/eval.h"
#include "lang/base/rng.h"
#include "lang/form/submit.h"
#include "lang/text/parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SAID_MAX = 5, FIRST = 1000 };

struct side {
    struct symbols *symbols;
    struct buf said; /* a line a job */
    uint64_t process, ads;
};

/* -------------------------------------------------------------------------------------------------- what jobs find */

static void job_say(struct side *side, const struct tree *ad, uint64_t index)
{
    static const char *const names[] = {"Args", "Env", "Out", "Err", "Outputs", "In", "JobBatchName"};
    const struct env env = {0};
    struct build build;
    struct arena arena;
    struct scope scope;
    struct eval eval;
    struct tree *whole;
    struct buf text;

    /* the ad with its job's numbers, as it has when it starts */
    build_init(&build, side->symbols, &dialect_classic);
    build_copy_parts(&build, ad, tree_root(ad));
    build_integer(&build, (int64_t)index);
    build_attribute(&build, symbols_take(side->symbols, "JobIndex", 8));
    build_integer(&build, (int64_t)(FIRST + side->process));
    build_attribute(&build, symbols_take(side->symbols, "JobId", 5));
    build_ad(&build, tree_root(ad)->u.run.count + 2, NULL);
    whole = build_seal(&build);
    build_done(&build);
    arena_init(&arena);
    buf_init(&text);
    eval_init(&eval, &env, &arena);
    scope_init(&scope, whole, NULL);
    buf_addf(&side->said, "%" PRIu64 ":", side->process++);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        symbol name = symbols_find(side->symbols, names[i], strlen(names[i]));
        struct value value;

        if (!name || !eval_attribute(&eval, &scope, name, &value))
            continue;
        buf_addf(&side->said, " %s=", names[i]);
        for (uint32_t k = 0; value.type == VALUE_LIST && k < value.len; k++) {
            struct value part;

            eval_element(&eval, &value, k, &part);
            value_to_text(&side->said, &dialect_classic, &part);
            buf_addc(&side->said, '|');
        }
        for (uint32_t k = 0; value.type == VALUE_AD && k < value.u.aggregate->u.run.count; k++) {
            const struct expr *variable = &tree_parts(value.scope->tree, value.u.aggregate)[k];
            struct value part;

            eval_expr(&eval, value.scope, variable, &part);
            buf_addf(&side->said, "%s=", symbols_text(side->symbols, variable->label, &(size_t){0}));
            value_to_text(&side->said, &dialect_classic, &part);
            buf_addc(&side->said, '|');
        }
        if (value.type != VALUE_LIST && value.type != VALUE_AD)
            value_to_text(&side->said, &dialect_classic, &value);
    }
    buf_addc(&side->said, '\n');
    buf_done(&text);
    tree_unref(whole);
    arena_done(&arena);
}

static int ad_say(void *user, struct tree *ad, unsigned line)
{
    struct side *side = user;
    symbol name = symbols_find(side->symbols, "Count", 5);
    const struct expr *count = name ? tree_find(ad, tree_root(ad), name) : NULL;

    (void)line;
    side->ads++;
    for (int64_t i = 0; i < (count ? count->u.integer : 1); i++)
        job_say(side, ad, (uint64_t)i);
    return 0;
}

static void side_run(struct side *side, const char *text, size_t len, uint32_t fold_from)
{
    struct submit_world world = {.folder = "/f", .fold_from = fold_from};
    struct err err = {0};

    side->symbols = names_new(0);
    if (submit_read(side->symbols, &world, text, len, ad_say, side, &err) < 0) {
        buf_reset(&side->said); /* the place may be another: what was read before it is not compared */
        buf_addf(&side->said, "%s\n", err.text);
    }
    buf_string(&side->said);
}

/* --------------------------------------------------------------------------------------------------------- files */

static const char *pick(struct rng *rng, const char *const *from, size_t count)
{
    return from[rng_below(rng, count)];
}
#define PICK(rng, list) pick(rng, list, sizeof(list) / sizeof *(list))

static void value_grow(struct rng *rng, struct buf *out, const char *separator)
{
    static const char *const pieces[] = {"$(x)",   "$(y)", "$(Process)", "$(Step)", "$(Cluster)",
                                         "$(Row)", "a",    "b-",         "."};
    static const char *const rare[] = {"$Fn(x)", "$INT(Process,%03d)", "$(x:no)", "$(z)"};
    uint64_t words = 1 + rng_below(rng, 3);

    for (uint64_t i = 0; i < words; i++) {
        uint64_t count = 1 + rng_below(rng, 3);

        buf_adds(out, i ? separator : "");
        for (uint64_t k = 0; k < count; k++)
            buf_adds(out, rng_below(rng, 12) ? PICK(rng, pieces) : PICK(rng, rare));
    }
}

static void head_grow(struct rng *rng, struct buf *out)
{
    buf_adds(out, "executable = a\nz = zz.$(x)\n");
    buf_adds(out, rng_below(rng, 2) ? "arguments = " : "arguments = \"'q $(x) ''$(y)''' ");
    value_grow(rng, out, " ");
    buf_adds(out, memchr(out->text, '"', out->len) ? "\"\n" : "\n");
    if (rng_below(rng, 2)) {
        buf_adds(out, "environment = A=");
        value_grow(rng, out, ";B=");
        buf_adds(out, "\n");
    }
    if (rng_below(rng, 2)) {
        buf_adds(out, "output = o.");
        value_grow(rng, out, "");
        buf_adds(out, "\nerror = e/$(x).$(Process)\n");
    }
    if (rng_below(rng, 3) == 0)
        buf_adds(out, "transfer_output_files = r.$(x), s.$(Process)\n");
    if (rng_below(rng, 6) == 0)
        buf_adds(out, "input = in.$(x)\n");
    if (rng_below(rng, 3) == 0)
        buf_adds(out, "job_batch_name = n $(x) $(Cluster)\n");
}

static void items_grow(struct rng *rng, struct buf *out)
{
    static const char *const words[] = {"p", "q7", "r_s", "t.u", "v/w", "x-y", "10", "a:b"};
    static const char *const odd[] = {"/abs", "u..v", "it's", "a;b", "$(Process)", "k=v", "two words", "\\\"q\\\""};
    uint64_t count = 1 + rng_below(rng, 12);

    buf_addf(out, "queue %s%s from (\n", rng_below(rng, 2) ? "2 " : "", rng_below(rng, 4) ? "x, y" : "x");
    for (uint64_t i = 0; i < count; i++)
        buf_addf(out, "%s, %s\n", PICK(rng, words), rng_below(rng, 15) ? PICK(rng, words) : PICK(rng, odd));
    buf_adds(out, ")\n");
}

/* -------------------------------------------------------------------------------------------------------------- twins */

struct fn_tally {
    uint64_t seed, wrong, shared, jobs;
};

static void compare(struct fn_tally *tally, const char *what, const struct buf *file, struct side *fast,
                    struct side *slow)
{
    tally->shared += fast->ads < slow->ads;
    tally->jobs += slow->process;
    if (strcmp(fast->said.text, slow->said.text) != 0 && tally->wrong++ < SAID_MAX) {
        tap_diag("%s: BERTH_SEED=%" PRIu64, what, tally->seed);
        tap_diag("%.*s\n-- shared:\n%.2000s\n-- alone:\n%.2000s", (int)file->len, file->text, fast->said.text,
                 slow->said.text);
    }
    symbols_free(fast->symbols);
    symbols_free(slow->symbols);
    buf_done(&fast->said);
    buf_done(&slow->said);
}

static void twin_items(struct fn_tally *tally)
{
    struct side fast = {.process = 0}, slow = {.process = 0};
    struct buf file;
    struct rng rng;

    rng_init(&rng, tally->seed);
    buf_init(&file);
    head_grow(&rng, &file);
    items_grow(&rng, &file);
    side_run(&fast, buf_string(&file), file.len, 1);
    side_run(&slow, file.text, file.len, UINT32_MAX);
    compare(tally, "items", &file, &fast, &slow);
    buf_done(&file);
}

static void twin_sweep(struct fn_tally *tally)
{
    struct side fast = {.process = 0}, slow = {.process = 0};
    uint64_t count;
    struct buf file, other;
    struct rng rng;

    rng_init(&rng, ~tally->seed);
    buf_init(&file);
    buf_init(&other);
    count = 2 + rng_below(&rng, 5);
    buf_adds(&file, "x = 1\ny = two\n");
    head_grow(&rng, &file);
    for (size_t i = 0; i + 7 <= file.len; i++) /* a step and a row are those of their statement */
        if (memcmp(file.text + i, "$(Step)", 7) == 0 || memcmp(file.text + i, "$(Row)", 6) == 0)
            file.text[i + 2] = '_';
    buf_add(&other, file.text, file.len);
    buf_addf(&file, "queue %" PRIu64 "\n", count);
    for (uint64_t i = 0; i < count; i++)
        buf_adds(&other, "queue\n");
    side_run(&fast, buf_string(&file), file.len, 0);
    side_run(&slow, buf_string(&other), other.len, 0);
    compare(tally, "sweep", &file, &fast, &slow);
    buf_done(&file);
    buf_done(&other);
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(2000);
    struct fn_tally items = {.seed = 0}, sweeps = {.seed = 0};

    for (uint64_t i = 0; i < rounds; i++) {
        items.seed = sweeps.seed = seed + i;
        twin_items(&items);
        twin_sweep(&sweeps);
    }
    tap_ok(!items.wrong,
           "jobs whose items share ads find the same as jobs with an ad an item (%" PRIu64 " files differ)",
           items.wrong);
    tap_ok(rounds < 100 || (items.shared > rounds / 10 && items.jobs > rounds),
           "many of them did share ads (%" PRIu64 " files)", items.shared);
    tap_ok(!sweeps.wrong, "jobs of one ad find the same as jobs with an ad each (%" PRIu64 " files differ)",
           sweeps.wrong);
    tap_ok(rounds < 100 || sweeps.shared > rounds / 10, "many of them did share an ad (%" PRIu64 " files)",
           sweeps.shared);
    return tap_done();
}
