/* files_dataset.c: berth files dataset: a name for many files: those that are named, and those whose names begin alike.
 *
 * Each must be in the catalogue: a name that was mistyped is found here, and not by the job that reads the dataset. */
#include "cli/data/files.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Adds a file to the dataset, unless it is in it already. */
static int file_add(struct file_entry *dataset, const char *name)
{
    for (uint32_t i = 0; i < dataset->file_count; i++)
        if (!strcmp(dataset->files[i], name))
            return STATUS_DONE;
    if (dataset->file_count == FILE_DATASET_MAX) {
        report("%s: a dataset has at most %d files", dataset->name, FILE_DATASET_MAX);
        return STATUS_BAD;
    }
    if (!dataset->files)
        dataset->files = mem_alloc(FILE_DATASET_MAX * sizeof *dataset->files);
    dataset->files[dataset->file_count++] = mem_dup(name, strlen(name));
    return STATUS_DONE;
}

static int named_add(struct files_sides *sides, struct file_entry *dataset, const char *name)
{
    struct file_entry found = {0};
    bool differ = false;
    int status = sides_find(sides, name, &found, &differ);

    if (status == STATUS_NO && !differ)
        report("%s: there is no such file in the catalogue", name);
    if (status == STATUS_DONE && found.files) {
        report("%s is a dataset; a dataset has files", name);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        status = file_add(dataset, name);
    file_entry_done(&found);
    return status;
}

/* Adds the files that any of the catalogues has; datasets are left out. */
static int prefix_add(struct files_sides *sides, struct file_entry *dataset, const char *prefix)
{
    int status = STATUS_DONE;
    size_t up = 0;

    for (size_t i = 0; i < sides->count && status != STATUS_BAD; i++) {
        struct file_book book;

        file_book_init(&book, 0);
        status = side_load(&sides->items[i], prefix, &book);
        up += sides->items[i].up;
        for (uint32_t k = 0; status == STATUS_DONE && k < book.count; k++)
            status = book.items[k]->files ? STATUS_DONE : file_add(dataset, book.items[k]->name);
        file_book_done(&book);
    }
    if (status == STATUS_UNREACHABLE && up)
        status = STATUS_DONE;
    return status;
}

/* Is that the name of a file? That would be forgotten. */
static int name_check(struct files_sides *sides, const char *name)
{
    struct file_entry found = {0};
    bool differ = false;
    int status = sides_find(sides, name, &found, &differ);

    if (status == STATUS_DONE && !found.files) {
        report("%s: the catalogue has a file of that name; `berth files rm` forgets it", name);
        status = STATUS_BAD;
    }
    file_entry_done(&found);
    return status == STATUS_NO ? STATUS_DONE : status;
}

/* Puts the dataset into all catalogues. */
static int dataset_put(struct files_sides *sides, const struct file_entry *dataset)
{
    int worst = STATUS_DONE;
    size_t have = 0;

    for (size_t i = 0; i < sides->count; i++) {
        int status = sides->items[i].up ? side_put(&sides->items[i], dataset) : STATUS_UNREACHABLE;

        have += status == STATUS_DONE;
        worst = status > worst ? status : worst;
    }
    for (size_t i = 0; have && have < sides->count && i < sides->count; i++)
        if (!sides->items[i].up)
            report("%s: the catalogue %s lacks it; `berth files repair` brings it over when it is back", dataset->name,
                   side_name(&sides->items[i]));
    return have == sides->count ? STATUS_DONE : have ? STATUS_NO : worst;
}

static int dataset_check(const struct files_settings *settings, int word_count, const char *name)
{
    if (word_count == 1 && !settings->prefix)
        report("files dataset wants the names of files, or --prefix TEXT");
    else if (!file_name_is_good(name, strlen(name)))
        report(
            "%s: the name of a dataset has up to %d bytes: parts with '/' between, none of them empty, \".\" or \"..\"",
            name, FILE_NAME_MAX);
    else
        return STATUS_DONE;
    return STATUS_BAD;
}

int files_dataset(const struct files_settings *settings, int word_count, char **words)
{
    struct file_entry dataset = {.name = mem_dup(words[0], strlen(words[0]))};
    struct files_sides sides = {.count = 0};
    int status = dataset_check(settings, word_count, words[0]);
    struct buf out;

    buf_init(&out);
    if (status == STATUS_DONE)
        status = sides_open(&sides, settings);
    if (status == STATUS_DONE)
        status = name_check(&sides, words[0]);
    for (int i = 1; status == STATUS_DONE && i < word_count; i++)
        status = named_add(&sides, &dataset, words[i]);
    if (status == STATUS_DONE && settings->prefix)
        status = prefix_add(&sides, &dataset, settings->prefix);
    if (status == STATUS_DONE && !dataset.file_count) {
        report("%s: no file in the catalogue has a name that begins with '%s'", words[0], settings->prefix);
        status = STATUS_NO;
    }
    if (status == STATUS_DONE) {
        dataset.owner = settings->owner ? mem_dup(settings->owner, strlen(settings->owner)) : NULL;
        status = dataset_put(&sides, &dataset);
        if (status == STATUS_DONE || status == STATUS_NO)
            buf_addf(&out, "%s: %u file%s\n", dataset.name, dataset.file_count, dataset.file_count == 1 ? "" : "s");
        output_write(&out);
    }
    sides_close(&sides);
    file_entry_done(&dataset);
    buf_done(&out);
    return status;
}
