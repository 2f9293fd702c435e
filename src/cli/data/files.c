/* files.c: berth files: the catalogue of files: which files there are, what they are, where their replicas lie. */
#include "cli/data/files.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int option_size(const char *text, void *target, struct err *err)
{
    char *end;

    errno = 0;
    *(uint64_t *)target = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || *(uint64_t *)target > INT64_MAX)
        return err_set(err, "expected a number of bytes, got '%.60s'", text);
    return 0;
}

#define S struct files_settings
static const struct option files_options[] = {
    {0, "prefix", "TEXT", "only files whose names begin so; of dataset: those", option_text, offsetof(S, prefix)},
    {0, "store", "NAME", "of add: the store that the replica is in; of rm: forget the replica there alone", option_text,
     offsetof(S, store)},
    {'o', "output", "FILE", "of get: where the file goes; else the last part of its name", option_file,
     offsetof(S, output)},
    {0, "size", "BYTES", "of add, with a URL: how large the file is", option_size, offsetof(S, size)},
    {0, "hash", "HASH", "of add, with a URL: its hash, \"sha256:\" and 64 digits", option_text, offsetof(S, hash)},
    {0, "owner", "USER", "of add: whose the entry is; else one's own", option_text, offsetof(S, owner)},
    {0, "json", NULL, "JSON lines: an object a row", option_flag, offsetof(S, json)},
    {0, "long", NULL, "the entries themselves, as ads in the long form", option_flag, offsetof(S, long_form)},
    {0, "format", "EXPRS", "of each entry a line: the values of expressions, separated as they are", option_text,
     offsetof(S, format)},
    POOL_OPTION_ROWS(S),
    CUSTOMER_OPTION_ROW(S),
};
#undef S

static const struct files_settings files_defaults = {.size = UINT64_MAX};

static const struct table_column files_columns[] = {
    {"name", "Name", CELL_VALUE},   {"size", "Size", CELL_VALUE}, {"stores", "Stores", CELL_VALUE},
    {"owner", "Owner", CELL_VALUE}, {"hash", "Hash", CELL_VALUE},
};

/* ---------------------------------------------------------------------------------------------------------------- list */

/* Prints the entry, with the names of its stores in one text. */
static void entry_row(struct rows *rows, struct symbols *symbols, const struct file_entry *entry)
{
    struct tree *ad = file_entry_ad(entry, symbols), *row;
    struct maker maker;
    struct buf stores;

    buf_init(&stores);
    if (entry->files)
        buf_addf(&stores, "(%u file%s)", entry->file_count, entry->file_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < entry->count; i++)
        buf_addf(&stores, "%s%s", i ? "," : "", entry->replicas[i].store);
    maker_init(&maker, symbols);
    maker_parts(&maker, ad, NULL);
    maker_text(&maker, "Stores", buf_string(&stores));
    row = maker_seal(&maker);
    (void)rows_add(rows, row);
    tree_unref(row);
    tree_unref(ad);
    buf_done(&stores);
}

/* Prints two books as one: an entry that both have gets the replicas of both. Returns how many files they disagree about. */
static uint32_t books_print(const struct files_sides *sides, const struct file_book books[CATALOGUES_MAX],
                            struct rows *rows)
{
    uint32_t at[CATALOGUES_MAX] = {0}, wrong = 0;
    bool both = sides->count == 2 && sides->items[0].up && sides->items[1].up;

    while (at[0] < books[0].count || at[1] < books[1].count) {
        const struct file_entry *left = at[0] < books[0].count ? books[0].items[at[0]] : NULL;
        const struct file_entry *right = at[1] < books[1].count ? books[1].items[at[1]] : NULL;
        int order = !left ? 1 : !right ? -1 : strcmp(left->name, right->name);
        struct file_entry joined;
        struct buf words;
        bool differ = true;

        left = order <= 0 ? left : NULL;
        right = order >= 0 ? right : NULL;
        buf_init(&words);
        wrong += both && file_entry_compare(left, right, "", "", &words, &differ);
        buf_done(&words);
        file_entry_copy(left ? left : right, &joined);
        if (left && right && !differ)
            file_replicas_join(&joined, right);
        entry_row(rows, sides->items[0].pool.symbols, &joined);
        file_entry_done(&joined);
        at[0] += left != NULL;
        at[1] += right != NULL;
    }
    return wrong;
}

static int list_print(struct files_sides *sides, const struct files_settings *settings, struct rows *rows)
{
    struct file_book books[CATALOGUES_MAX];
    int status = STATUS_DONE;
    uint32_t wrong;
    size_t up = 0;

    for (size_t i = 0; i < CATALOGUES_MAX; i++)
        file_book_init(&books[i], 0);
    for (size_t i = 0; i < sides->count && status != STATUS_BAD; i++) {
        status = side_load(&sides->items[i], settings->prefix, &books[i]);
        up += sides->items[i].up;
    }
    if (status != STATUS_BAD)
        status = up ? STATUS_DONE : STATUS_UNREACHABLE;
    if (status == STATUS_DONE && up < sides->count)
        report("only the catalogue %s was asked", side_name(&sides->items[sides->items[0].up ? 0 : 1]));
    if (status == STATUS_DONE) {
        wrong = books_print(sides, books, rows);
        rows_finish(rows);
        if (wrong)
            report("the catalogues disagree about %u of the files; `berth files check` tells in what", wrong);
    }
    for (size_t i = 0; i < CATALOGUES_MAX; i++)
        file_book_done(&books[i]);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- show */

static int show_text(const struct file_entry *entry)
{
    struct buf out;

    buf_init(&out);
    buf_addf(&out, "%s\n", entry->name);
    if (!entry->files)
        buf_addf(&out, "  size   %lld\n  hash   %s\n", (long long)entry->size, entry->hash);
    buf_addf(&out, "  owner  %s\n", entry->owner ? entry->owner : "");
    if (entry->by)
        buf_addf(&out, "  by     %s\n", entry->by);
    if (entry->copies)
        buf_addf(&out, "  copies %u", entry->copies);
    for (uint32_t i = 0; i < entry->at_count; i++)
        buf_addf(&out, "%s%s", i ? ", " : " at ", entry->at[i]);
    buf_adds(&out, entry->copies ? "\n" : "");
    for (uint32_t i = 0; i < entry->count; i++)
        buf_addf(&out, "  in     %s  %s\n", entry->replicas[i].store, entry->replicas[i].url);
    for (uint32_t i = 0; i < entry->file_count; i++)
        buf_addf(&out, "  file   %s\n", entry->files[i]);
    output_write(&out);
    buf_done(&out);
    return STATUS_DONE;
}

static int show_print(struct files_sides *sides, const char *name, enum rows_form form, struct rows *rows)
{
    struct file_entry entry = {0};
    bool differ;
    int status = sides_find(sides, name, &entry, &differ);

    if (status == STATUS_NO && !differ)
        report("%s: there is no such file in the catalogue", name);
    if (status == STATUS_DONE && form == ROWS_TABLE)
        status = show_text(&entry);
    else if (status == STATUS_DONE)
        entry_row(rows, sides->items[0].pool.symbols, &entry);
    rows_finish(rows);
    file_entry_done(&entry);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- the verbs */

static int rows_run(const struct files_settings *settings, const char *name)
{
    struct files_sides sides;
    enum rows_form form;
    struct rows rows;
    bool whole;
    int status;

    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    whole = name && form == ROWS_JSON;
    rows_init(&rows, form, whole ? NULL : files_columns, whole ? 0 : sizeof files_columns / sizeof *files_columns);
    status = sides_open(&sides, settings);
    if (status == STATUS_DONE && rows_set_format(&rows, sides.items[0].pool.symbols, settings->format) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE)
        status = name ? show_print(&sides, name, form, &rows) : list_print(&sides, settings, &rows);
    rows_done(&rows);
    sides_close(&sides);
    return status;
}

static int files_list(const struct files_settings *settings, int word_count, char **words)
{
    (void)word_count;
    (void)words;
    return rows_run(settings, NULL);
}

static int files_show(const struct files_settings *settings, int word_count, char **words)
{
    (void)word_count;
    return rows_run(settings, words[0]);
}

static const struct verb {
    const char *name;
    int words; /* -1: one or more */
    const char *wants;
    int (*run)(const struct files_settings *settings, int word_count, char **words);
} verbs[] = {
    {"list", 0, "options alone", files_list},
    {"show", 1, "the name of a file", files_show},
    {"add", 2, "a name, and a file or URL", files_add},
    {"get", 1, "the name of a file", files_get},
    {"rm", 1, "the name of a file", files_rm},
    {"dataset", -1, "a name, and files or --prefix", files_dataset},
    {"keep", -1, "a name, a number, and perhaps stores", files_keep},
    {"copies", 0, "options alone", files_copies},
    {"check", 0, "options alone", files_check},
    {"repair", 0, "options alone", files_repair},
};

static int files_run(const void *given, int word_count, char **words)
{
    const struct files_settings *settings = given;

    if (!word_count)
        return files_list(settings, 0, words);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, words[0]) != 0)
            continue;
        if (word_count - 1 == verbs[i].words || (verbs[i].words < 0 && word_count > 1))
            return verbs[i].run(settings, word_count - 1, words + 1);
        report("files %s wants %s", verbs[i].name, verbs[i].wants);
        return STATUS_BAD;
    }
    report("files: there is no command '%s'; the commands are list, show, add, get, rm, dataset, keep, "
           "copies, check and "
           "repair",
           words[0]);
    return STATUS_BAD;
}

const struct command command_files = {
    .name = "files",
    .summary = "the catalogue of files: sizes, hashes, and where replicas lie",
    .usage =
        "[list] [--prefix TEXT]\nshow NAME\nadd NAME FILE|URL --store STORE\nget NAME [-o FILE]\n"
        "rm NAME [--store STORE]\ndataset NAME [FILE...] [--prefix TEXT]\nkeep NAME COUNT [STORE...]\ncopies\ncheck [--prefix TEXT]\nrepair [--prefix TEXT]",
    .about =
        "A file has a logical name, run7/a.dat, a size, a hash, and replicas in stores. A store is an ad in the pool: "
        "[Type = \"Storage\"; Name = \"se1\"; Protocol = \"file\"; Path = \"/data\"]. Jobs name files in InputData, and get them from "
        "the nearest replica (docs/data.md).\n"
        "\n"
        "`add` with a file of this machine puts it into the store and enters it; with a URL it enters a replica that is there. `get` "
        "fetches a file from the first replica that has it whole and right. `rm` forgets a file, or one replica; what lies in the "
        "stores stays there.\n"
        "\n"
        "`dataset` makes a name for many files (1000 at most), which jobs may have in InputData in their place: those that are named, and those "
        "whose names begin with --prefix now. A dataset of that name gets these files instead; jobs that were submitted keep theirs.\n"
        "\n"
        "`keep` asks for COUNT copies of a file (or of each file that a dataset has now), in the stores that are named, or in any: the "
        "customer of the file's owner looks from time to time which of them are there, and copies the file where there are too few. Those "
        "that are too many stay. With 0 that is over. `copies` tells how the files stand of which the customer keeps copies.\n"
        "\n"
        "With two URLs in the setting Catalogues all is entered in both, and both are asked. `check` lists in what they disagree; "
        "`repair` brings over what one has and the other lacks, and leaves alone what only a person can decide: other sizes, hashes "
        "or URLs. A file that was removed while one catalogue was down comes back by a repair: remove it again instead.\n"
        "\n"
        "The status is 1 when there is no such file, when catalogues disagree, and when one of them lacks what was entered; 3 when "
        "none answers.",
    .examples = {{"berth files add run7/a.dat a.dat --store se1", "run7/a.dat: 4096 bytes in se1"},
                 {"berth files --prefix run7/ --format \"Name Size\"", "run7/a.dat 4096"},
                 {"berth files dataset run7 --prefix run7/", "run7: 12 files"},
                 {"berth files keep run7/a.dat 2 se1 se2 se3", "run7/a.dat: 2 copies are kept"}},
    .options = files_options,
    .option_count = sizeof files_options / sizeof *files_options,
    .settings_size = sizeof(struct files_settings),
    .defaults = &files_defaults,
    .run = files_run,
};
