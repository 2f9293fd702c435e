/* files_check.c: berth files check and repair: find what two catalogues disagree about, and carry over what one of them lacks.
 *
 * Both are read whole, one after the other, while others may write: a file that seems to differ is asked for once more by its name. */
#include "cli/data/files.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "cli/term/table.h"

#include <string.h>

struct check {
    struct files_sides sides;
    struct table table;
    bool repairs;
    uint32_t wrong, repaired; /* files */
    int status;               /* of the first question that failed */
};

/* -------------------------------------------------------------------------------------------------------------- repair */

/* Carries over the replicas that one catalogue has and the other lacks; false when one could not be brought. */
static bool side_fill(struct files_side *to, const struct file_entry *has, const struct file_entry *lacks)
{
    bool good = true;

    if (!lacks->hash[0])
        return side_put(to, has) == STATUS_DONE;
    for (uint32_t i = 0; i < has->count; i++)
        if (file_replica_find(lacks, has->replicas[i].store) < 0 && side_add(to, has, i) != STATUS_DONE)
            good = false;
    return good;
}

static bool entry_repair(struct check *check, const struct file_entry found[CATALOGUES_MAX])
{
    bool good = !found[0].hash[0] || side_fill(&check->sides.items[1], &found[0], &found[1]);

    return (!found[1].hash[0] || side_fill(&check->sides.items[0], &found[1], &found[0])) && good;
}

/* --------------------------------------------------------------------------------------------------------------- check */

/* Asks both catalogues once more for a file that seemed to differ a moment ago. */
static bool entry_ask(struct check *check, const char *name, struct file_entry found[CATALOGUES_MAX])
{
    for (size_t i = 0; i < CATALOGUES_MAX; i++) {
        int status = side_find(&check->sides.items[i], name, &found[i]);

        if (status != STATUS_DONE && status != STATUS_NO) {
            check->status = status;
            return false;
        }
    }
    return true;
}

static bool entries_compare(const struct check *check, const struct file_entry found[CATALOGUES_MAX], struct buf *words,
                            bool *ret_differ)
{
    return file_entry_compare(found[0].hash[0] ? &found[0] : NULL, found[1].hash[0] ? &found[1] : NULL,
                              side_name(&check->sides.items[0]), side_name(&check->sides.items[1]), words, ret_differ);
}

static void row_add(struct check *check, const char *name, const struct buf *words, const char *repaired)
{
    table_text(&check->table, name, strlen(name));
    table_text(&check->table, words->text, words->len);
    if (check->repairs)
        table_text(&check->table, repaired, strlen(repaired));
}

static void entry_check(struct check *check, const char *name)
{
    struct file_entry found[CATALOGUES_MAX] = {{0}}, after[CATALOGUES_MAX] = {{0}};
    struct buf words, left;
    bool differ, repaired = false;

    buf_init(&words);
    buf_init(&left);
    if (entry_ask(check, name, found) && entries_compare(check, found, &words, &differ)) {
        check->wrong++;
        if (check->repairs && !differ && entry_repair(check, found))
            repaired = entry_ask(check, name, after) && !entries_compare(check, after, &left, &differ);
        check->repaired += repaired;
        row_add(check, name, &words, repaired ? "yes" : "no");
    }
    buf_done(&words);
    buf_done(&left);
    for (size_t i = 0; i < CATALOGUES_MAX; i++) {
        file_entry_done(&found[i]);
        file_entry_done(&after[i]);
    }
}

static void books_check(struct check *check, const struct file_book books[CATALOGUES_MAX])
{
    uint32_t at[CATALOGUES_MAX] = {0};

    while (check->status == STATUS_DONE && (at[0] < books[0].count || at[1] < books[1].count)) {
        const struct file_entry *left = at[0] < books[0].count ? books[0].items[at[0]] : NULL;
        const struct file_entry *right = at[1] < books[1].count ? books[1].items[at[1]] : NULL;
        int order = !left ? 1 : !right ? -1 : strcmp(left->name, right->name);
        struct buf words;
        bool differ;

        left = order <= 0 ? left : NULL;
        right = order >= 0 ? right : NULL;
        buf_init(&words);
        if (file_entry_compare(left, right, "", "", &words, &differ))
            entry_check(check, left ? left->name : right->name);
        buf_done(&words);
        at[0] += left != NULL;
        at[1] += right != NULL;
    }
}

static void both_check(struct check *check, const char *prefix)
{
    struct file_book books[CATALOGUES_MAX];

    for (size_t i = 0; i < CATALOGUES_MAX; i++)
        file_book_init(&books[i], 0);
    for (size_t i = 0; i < CATALOGUES_MAX && check->status == STATUS_DONE; i++)
        check->status = side_load(&check->sides.items[i], prefix, &books[i]);
    if (check->status == STATUS_DONE)
        books_check(check, books);
    for (size_t i = 0; i < CATALOGUES_MAX; i++)
        file_book_done(&books[i]);
}

static int check_run(const struct files_settings *settings, bool repairs)
{
    static const char *const columns[] = {"name", "disagreement", "repaired"};
    struct check check = {.repairs = repairs};

    table_init(&check.table, columns, repairs ? 3 : 2, settings->json);
    check.status = sides_open(&check.sides, settings);
    if (check.status == STATUS_DONE && check.sides.count < 2) {
        report("there is one catalogue alone, and nothing to compare it with; the setting Catalogues names two");
        check.status = STATUS_BAD;
    }
    if (check.status == STATUS_DONE)
        both_check(&check, settings->prefix);
    table_finish(&check.table);
    table_done(&check.table);
    sides_close(&check.sides);
    if (check.status != STATUS_DONE)
        return check.status;
    return check.wrong > check.repaired ? STATUS_NO : STATUS_DONE;
}

int files_check(const struct files_settings *settings, int word_count, char **words)
{
    (void)word_count;
    (void)words;
    return check_run(settings, false);
}

int files_repair(const struct files_settings *settings, int word_count, char **words)
{
    (void)word_count;
    (void)words;
    return check_run(settings, true);
}
