/* lint.c: berth lint: finds what is wrong with the ads of a file, as far as that can be seen without a pool. */
#include "match/pair/lint.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/table.h"
#include "lang/text/print.h"
#include "match/gang/lint_ports.h"

#include <string.h>

struct lint_settings {
    const struct dialect *dialect;
    bool json;
};

#define S struct lint_settings
static const struct option lint_options[] = {
    OPTION_DIALECT(S),
    {0, "json", NULL, "JSON lines: an object a finding", option_flag, offsetof(S, json)},
};
#undef S

static const struct lint_settings lint_defaults = {.dialect = &dialect_classic};
static const char *const lint_columns[] = {"file", "line", "ad", "attribute", "kind", "text"};

struct lint_run {
    const struct lint_settings *settings;
    struct symbols *symbols;
    struct arena arena;
    struct table table;
    struct buf out, name, text;
    const char *file;
    const struct tree *ad;
    unsigned line;
    bool found;
};

static void print_finding(void *user, const struct lint_finding *finding)
{
    struct lint_run *run = user;
    const char *kind = lint_kind_name(finding->kind);
    size_t len;
    const char *attribute = symbols_text(run->symbols, finding->attribute, &len);

    run->found = true;
    buf_reset(&run->text);
    lint_text_print(&run->text, run->ad, finding);
    if (run->settings->json) {
        table_text(&run->table, run->file, strlen(run->file));
        table_number(&run->table, "%u", run->line);
        table_text(&run->table, run->name.text, run->name.len);
        table_text(&run->table, attribute, len);
        table_text(&run->table, kind, strlen(kind));
        table_text(&run->table, run->text.text, run->text.len);
        return;
    }
    buf_addf(&run->out, "%s:%u: ad ", run->file, run->line);
    buf_add(&run->out, run->name.text, run->name.len);
    buf_adds(&run->out, ", attribute ");
    print_name(&run->out, run->settings->dialect, attribute, len);
    buf_adds(&run->out, ": ");
    buf_add(&run->out, run->text.text, run->text.len);
    buf_addc(&run->out, '\n');
}

static int lint_file(struct lint_run *run, const char *name)
{
    struct input_source source;
    struct tree *ad;
    int got = -1;

    run->file = name;
    if (source_open(&source, run->symbols, run->settings->dialect, FORM_UNKNOWN, name) == 0) {
        while ((got = source_next(&source, &ad)) > 0) {
            run->ad = ad;
            run->line = form_reader_line(source.reader);
            buf_reset(&run->name);
            ad_name(&run->name, ad, source.count);
            lint_ad(&run->arena, ad, NULL, print_finding, run);
            lint_ports(ad, NULL, print_finding, run);
            tree_unref(ad);
            if (output_write(&run->out) < 0) {
                got = -1;
                break;
            }
        }
    }
    source_close(&source);
    return got < 0 ? STATUS_BAD : STATUS_DONE;
}

static int lint_run(const void *given, int word_count, char **words)
{
    const struct lint_settings *settings = given;
    struct lint_run run = {.settings = settings};
    int status = STATUS_DONE;

    if (word_count == 0) {
        report("lint wants a file of ads, or - for standard input");
        return STATUS_BAD;
    }
    run.symbols = names_new(0);
    arena_init(&run.arena);
    table_init(&run.table, lint_columns, sizeof lint_columns / sizeof *lint_columns, settings->json);
    buf_init(&run.out);
    buf_init(&run.name);
    buf_init(&run.text);
    for (int i = 0; i < word_count; i++)
        if (lint_file(&run, words[i]) != STATUS_DONE)
            status = STATUS_BAD;
    if (settings->json)
        table_finish(&run.table);
    table_done(&run.table);
    buf_done(&run.out);
    buf_done(&run.name);
    buf_done(&run.text);
    arena_done(&run.arena);
    symbols_free(run.symbols);
    return status == STATUS_DONE && run.found ? STATUS_NO : status;
}

const struct command command_lint = {
    .name = "lint",
    .summary = "tell what is wrong with ads that needs no pool to see",
    .usage = "[OPTIONS] FILE...",
    .about =
        "Prints a line for each finding: the file, the line where the ad begins, the ad's Name or its place in the file "
        "(#1, #2, ...), the attribute, and what is wrong. Found are clauses that exclude each other, an attribute held to "
        "two types, constraints that are never true, ranks without a preference, operators whose operands never fit, "
        "unknown functions, wrong numbers of arguments, self.NAME where there is no such attribute, likely misspellings of "
        "the ad's own attributes, attributes that read themselves, names that hide `other`, TARGET, MY or a label, ports "
        "that read a later one, Ports that are not in order, a Constraint or Rank that stands where it is not read, "
        "Requirements beside Constraint, and names whose value the matchmaker gives.\n"
        "\n"
        "The status is 1 when there is a finding and 2 when a file cannot be read.",
    .examples = {{"echo '[ Constraint = x < 1 && x > 2 ]' | berth lint -",
                  "-:1: ad #1, attribute Constraint: 'x < 1' and 'x > 2' are never both true"}},
    .options = lint_options,
    .option_count = sizeof lint_options / sizeof *lint_options,
    .settings_size = sizeof(struct lint_settings),
    .defaults = &lint_defaults,
    .run = lint_run,
};
