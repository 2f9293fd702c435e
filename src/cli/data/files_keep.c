/* files_keep.c: berth files keep and copies: how many stores are to have a file, and how that stands.
 *
 * The wish goes into the catalogues; the customer of the file's owner looks after it, and says how it stands. */
#include "cli/data/files.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/make.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------------- keep */

/* Tells all catalogues. STATUS_DONE when all have taken it, STATUS_NO when one does not answer, else the gravest of the statuses. */
static int file_keep(struct files_sides *sides, const char *name, uint64_t copies, char **stores, size_t store_count)
{
    size_t have = 0;
    int worst = STATUS_DONE;

    for (size_t i = 0; i < sides->count; i++) {
        int status =
            sides->items[i].up ? side_keep(&sides->items[i], name, copies, stores, store_count) : STATUS_UNREACHABLE;

        have += status == STATUS_DONE;
        worst = status > worst ? status : worst;
        if (status == STATUS_UNREACHABLE && sides->count > 1)
            report("%s: the catalogue %s was not told; tell it again when it is back", name,
                   side_name(&sides->items[i]));
    }
    return have == sides->count ? STATUS_DONE : have ? STATUS_NO : worst;
}

/* The same for a file, or for each file of a dataset. */
static int all_keep(struct files_sides *sides, const char *name, uint64_t copies, char **stores, size_t store_count)
{
    struct file_entry entry = {0};
    bool differ = false;
    int status = sides_find(sides, name, &entry, &differ), worst = STATUS_DONE;
    uint32_t count = entry.files ? entry.file_count : 1, kept = 0;
    struct buf out;

    if (status == STATUS_NO && !differ)
        report("%s: there is no such file in the catalogue", name);
    buf_init(&out);
    for (uint32_t i = 0; status == STATUS_DONE && i < count; i++) {
        const char *one = entry.files ? entry.files[i] : name;
        int told = file_keep(sides, one, copies, stores, store_count);

        kept += told == STATUS_DONE;
        worst = told > worst ? told : worst;
        if (told == STATUS_UNREACHABLE)
            break;
    }
    if (entry.files && kept)
        buf_addf(&out, "%s: %u file%s, ", name, kept, kept == 1 ? "" : "s");
    else
        buf_addf(&out, "%s: ", name);
    if (copies)
        buf_addf(&out, "%llu %s kept\n", (unsigned long long)copies, copies == 1 ? "copy is" : "copies are");
    else
        buf_adds(&out, "no number of copies is kept any more\n");
    if (status == STATUS_DONE && kept)
        output_write(&out);
    buf_done(&out);
    file_entry_done(&entry);
    return status == STATUS_DONE ? worst : status;
}

int files_keep(const struct files_settings *settings, int word_count, char **words)
{
    struct files_sides sides = {.count = 0};
    char *end = NULL;
    unsigned long copies = word_count > 1 ? strtoul(words[1], &end, 10) : 0;
    int status;

    if (word_count < 2 || *words[1] < '0' || *words[1] > '9' || *end || copies > FILE_REPLICAS_MAX) {
        report("files keep wants the name of a file, and how many copies of it: 0 to %d", FILE_REPLICAS_MAX);
        return STATUS_BAD;
    }
    if (word_count - 2 > FILE_REPLICAS_MAX) {
        report("files keep takes up to %d stores", FILE_REPLICAS_MAX);
        return STATUS_BAD;
    }
    status = sides_open(&sides, settings);
    if (status == STATUS_DONE)
        status = all_keep(&sides, words[0], copies, words + 2, (size_t)(word_count - 2));
    sides_close(&sides);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- copies */

static const struct table_column copies_columns[] = {
    {"name", "Name", CELL_VALUE},
    {"copies", "Copies", CELL_VALUE},
    {"there", "There", CELL_VALUE},
    {"why", "Why", CELL_VALUE},
};

static bool copies_row(void *user, struct tree *ad)
{
    (void)rows_add(user, ad);
    return true;
}

int files_copies(const struct files_settings *settings, int word_count, char **words)
{
    struct connection customer;
    enum rows_form form;
    struct rows rows;
    int status;

    (void)word_count;
    (void)words;
    if (rows_form_of(settings->json, settings->long_form, settings->format, &form) < 0)
        return STATUS_BAD;
    rows_init(&rows, form, copies_columns, sizeof copies_columns / sizeof *copies_columns);
    status = customer_open(&customer, &settings->pool);
    if (status == STATUS_DONE && rows_set_format(&rows, customer.symbols, settings->format) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE)
        status = connection_fetch_ads(&customer, &(struct connection_ask){.path = "/v1/copies"}, copies_row, &rows);
    if (status == STATUS_DONE)
        rows_finish(&rows);
    rows_done(&rows);
    connection_close(&customer);
    return status;
}
