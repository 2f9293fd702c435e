/* refs.c: berth refs: lists what the ads of a file ask of the rest of the world. */
#include "lang/ad/refs.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/table.h"

#include <string.h>

struct refs_settings {
    const struct dialect *dialect;
    bool json, long_form;
};

#define S struct refs_settings
static const struct option refs_options[] = {
    OPTION_DIALECT(S),
    {0, "json", NULL, "JSON lines: an object a reference", option_flag, offsetof(S, json)},
    {0, "long", NULL, "the ads themselves that have such references, in the long form", option_flag,
     offsetof(S, long_form)},
};
#undef S

static const struct refs_settings refs_defaults = {.dialect = &dialect_classic};
static const char *const refs_columns[] = {"name", "scope", "reference"};

struct refs_run {
    const struct refs_settings *settings;
    struct symbols *symbols;
    struct table table;
    struct buf out, name;
};

/* Prints a row for each reference, or the ad. */
static int refs_print(struct refs_run *run, const struct tree *ad, const struct refs *refs, struct err *err)
{
    struct buf *text = &run->out;

    if (run->settings->long_form)
        return refs->count ? form_write_ad(text, FORM_LONG, ad, err) : 0;
    for (uint32_t i = 0; i < refs->count; i++) {
        const struct ref *ref = &refs->items[i];

        table_text(&run->table, run->name.text, run->name.len);
        table_text(&run->table, "other", ref->scope == SYMBOL_NONE ? 0 : 5);
        buf_reset(text);
        ref_print(text, run->symbols, ref);
        table_text(&run->table, text->text, text->len);
    }
    buf_reset(text);
    return 0;
}

static int refs_file(struct refs_run *run, const char *name)
{
    struct input_source source;
    struct tree *ad;
    struct err err;
    int got = -1;

    if (source_open(&source, run->symbols, run->settings->dialect, FORM_UNKNOWN, name) == 0) {
        while ((got = source_next(&source, &ad)) > 0) {
            struct refs refs;

            refs_init(&refs);
            refs_add_ad(&refs, ad);
            refs_sort(&refs, run->symbols);
            buf_reset(&run->name);
            ad_name(&run->name, ad, source.count);
            if (refs_print(run, ad, &refs, &err) < 0) {
                report_error(name, &err, NULL, 0);
                got = -1;
            }
            refs_done(&refs);
            tree_unref(ad);
            if (got < 0 || output_write(&run->out) < 0)
                break;
        }
    }
    source_close(&source);
    return got < 0 ? STATUS_BAD : STATUS_DONE;
}

static int refs_run(const void *given, int word_count, char **words)
{
    const struct refs_settings *settings = given;
    struct refs_run run = {.settings = settings};
    int status = STATUS_DONE;

    if (word_count == 0) {
        report("refs wants a file of ads, or - for standard input");
        return STATUS_BAD;
    }
    if (settings->json && settings->long_form) {
        report("--json and --long cannot be used together");
        return STATUS_BAD;
    }
    run.symbols = names_new(0);
    table_init(&run.table, refs_columns, 3, settings->json);
    buf_init(&run.out);
    buf_init(&run.name);
    for (int i = 0; i < word_count; i++)
        status |= refs_file(&run, words[i]);
    table_finish(&run.table);
    table_done(&run.table);
    buf_done(&run.out);
    buf_done(&run.name);
    symbols_free(run.symbols);
    return status;
}

const struct command command_refs = {
    .name = "refs",
    .summary = "list what ads ask of others: their external references",
    .usage = "[OPTIONS] FILE...",
    .about =
        "Prints a row for each name that an ad reads and does not define. `name` is the ad's Name, or its place in the "
        "file (#1, #2, ...). `scope` is `other` where the opposite ad of a match is asked by `other.` or TARGET., and empty "
        "for a plain name, which the opposite ad or the matchmaker may give.",
    .examples = {{"echo '[ Name = \"j\"; Constraint = other.Memory > 64 && Gpu ]' | berth refs -",
                  "NAME  SCOPE  REFERENCE\nj            Gpu\nj     other  other.Memory"}},
    .options = refs_options,
    .option_count = sizeof refs_options / sizeof *refs_options,
    .settings_size = sizeof(struct refs_settings),
    .defaults = &refs_defaults,
    .run = refs_run,
};
