/* copies.c: the rounds in which files are looked at of which a number of copies is to be kept, and how these files stand.
 *
 *     due -> the stores of the pool -> a page of names -> COPIES_AT_ONCE files at a time (copies_file.c) -> the next page ... -> rest
 *
 * After a round in which something was missing the next one comes sooner: in ten seconds, then twenty, up to CopiesPeriod. Nothing is kept on disk:
 * the wish is in the catalogue, and how a file stands is seen again. */
#include "live/customerd/copies_parts.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/protocol/account.h"
#include "sys/private_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_MIN (10 * SECOND)

/* --------------------------------------------------------------------------------------------------------- how they stand */

static void kept_files_done(struct kept_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        free(files->items[i].name);
    free(files->items);
    *files = (struct kept_files){0};
}

static int file_order(const void *a, const void *b)
{
    return strcmp(((const struct kept_file *)a)->name, ((const struct kept_file *)b)->name);
}

/* How the file stood in the round before; NULL: it was not there. */
static const struct kept_file *file_before(const struct copies *all, const char *name)
{
    struct kept_file key = {.name = (char *)(uintptr_t)name};

    return all->last.count ? bsearch(&key, all->last.items, all->last.count, sizeof key, file_order) : NULL;
}

uint32_t copies_from(const struct copies *all, const char *name)
{
    const struct kept_file *before = file_before(all, name);

    return before ? before->from : 0;
}

int64_t copies_unseen(const struct copies *all, const char *name)
{
    const struct kept_file *before = file_before(all, name);

    return before && before->unseen ? before->unseen : runner_now();
}

void copies_note(struct copies *all, const struct copying *copying, uint32_t there)
{
    const char *name = copying->name, *words = copying->words;
    const struct kept_file *before = file_before(all, name);
    uint32_t wanted = copying->entry.copies, misses = copying->tried_count - copying->made;
    struct kept_file *file;

    ARRAY_ROOM(all->now.items, all->now.count, all->now.room, 16);
    file = &all->now.items[all->now.count++];
    *file = (struct kept_file){.name = mem_dup(name, strlen(name)),
                               .wanted = wanted,
                               .there = there,
                               .looked = wall_seconds(runner_wall()),
                               .from = misses < COPIES_MISSES_MAX ? 0 : copying->from + misses,
                               .unseen = copying->unseen};
    snprintf(file->words, sizeof file->words, "%s", words);
    all->lacks = all->lacks || *words;
    if (*words && (!before || strcmp(before->words, words) != 0))
        LOG(&all->customerd->daemon.log, LEVEL_WARNING, "copies.lacking", log_text("name", name),
            log_number("wanted", wanted), log_number("there", there), log_text("why", words));
    else if (!*words && before && *before->words)
        LOG(&all->customerd->daemon.log, LEVEL_INFO, "copies.whole", log_text("name", name),
            log_number("wanted", wanted), log_number("there", there));
}

static struct tree *file_ad(const struct copies *all, const struct kept_file *file)
{
    struct maker maker;

    maker_init(&maker, all->customerd->daemon.symbols);
    maker_text(&maker, "Name", file->name);
    maker_integer(&maker, "Copies", file->wanted);
    maker_integer(&maker, "There", file->there);
    maker_integer(&maker, "Looked", file->looked);
    if (*file->words)
        maker_text(&maker, "Why", file->words);
    return maker_seal(&maker);
}

void api_copies(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    const struct copies *all = customerd->copies;
    const char *identity = customerd->daemon.identity;
    bool seen = caller_sees(request, identity, account_len(identity, strlen(identity)));
    struct listing listing;

    buf_reset(&customerd->out);
    listing_begin(&listing, &customerd->out, request->form);
    for (uint32_t i = 0; seen && i < all->last.count; i++) {
        struct tree *ad = file_ad(all, &all->last.items[i]);

        listing_add(&listing, ad);
        tree_unref(ad);
    }
    listing_end(&listing);
    request_answer(request, 200, media_type(request->form, &dialect_classic),
                   customerd->out.len ? customerd->out.text : "", customerd->out.len, NULL, 0);
}

/* ------------------------------------------------------------------------------------------------------------------ rounds */

static void names_clear(struct copies *all)
{
    for (uint32_t i = 0; i < all->name_count; i++)
        free(all->names[i]);
    free(all->names);
    all->names = NULL;
    all->name_count = all->name_at = 0;
}

static void round_end(struct copies *all, bool whole)
{
    int64_t span = config_span(&all->customerd->daemon.config, CONFIG_COPIES_PERIOD), now = runner_now(), away;
    uint32_t lacking = 0;

    if (whole) {
        if (all->now.count)
            qsort(all->now.items, all->now.count, sizeof *all->now.items, file_order);
        kept_files_done(&all->last);
        all->last = all->now;
        all->now = (struct kept_files){0};
        copies_stores_forget(all);
    }
    kept_files_done(&all->now);
    for (uint32_t i = 0; i < all->last.count; i++)
        lacking += *all->last.items[i].words != '\0';
    metrics_set(all->customerd->daemon.metrics, METRIC_COPIES_FILES, 0, 0, all->last.count);
    metrics_set(all->customerd->daemon.metrics, METRIC_COPIES_LACKING, 0, 0, lacking);
    all->pause = !all->lacks ? 0 : all->pause ? 2 * all->pause : PAUSE_MIN;
    all->pause = all->pause > span ? span : all->pause;
    all->due = now + (all->pause ? all->pause : span);
    away = all->last.count ? copies_stores_due(all) : INT64_MAX;
    all->due = away < all->due ? away : all->due;
    all->going = false;
    names_clear(all);
    copies_stores_clear(all);
}

/* What could not be asked is asked again soon. */
static void round_break(struct copies *all)
{
    all->lacks = true;
    round_end(all, false);
}

static void page_came(void *user, char *const *names, uint32_t count, uint64_t cursor)
{
    struct copies *all = user;

    all->listing = 0;
    if (all->closing)
        return;
    if (!names) {
        round_break(all);
        return;
    }
    names_clear(all);
    all->names = mem_alloc((count + 1) * sizeof *all->names);
    for (; all->name_count < count; all->name_count++)
        all->names[all->name_count] = mem_dup(names[all->name_count], strlen(names[all->name_count]));
    all->cursor = cursor;
    copies_go_on(all);
}

static void page_ask(struct copies *all)
{
    const char *identity = all->customerd->daemon.identity;
    char account[TEXT_MAX + 1];

    snprintf(account, sizeof account, "%.*s", (int)account_len(identity, strlen(identity)), identity);
    all->listing = catalogues_kept(all->customerd->catalogues, account, all->cursor, page_came, all);
}

/* Makes what is needed for transfers, when the first file is looked at: a customer without such files needs none of it. */
static bool transfers_ready(struct copies *all)
{
    struct customerd *customerd = all->customerd;
    struct err err = {0};
    struct buf path;
    int fd;

    if (all->rules)
        return true;
    buf_init(&path);
    buf_addf(&path, "%s/copies", customerd->daemon.folder);
    fd = private_dir_open(buf_string(&path), &err);
    buf_done(&path);
    if (fd >= 0) {
        close(fd);
        all->rules = transfer_rules_new(&customerd->daemon.config, &customerd->daemon.networks, &err);
    }
    if (!all->rules)
        LOG(&customerd->daemon.log, LEVEL_ERROR, "copies", log_text("why", err.text));
    return all->rules != NULL;
}

void copies_go_on(struct copies *all)
{
    while (all->name_at < all->name_count && all->copying_count < COPIES_AT_ONCE && all->looked < COPIES_FILES_MAX) {
        if (!transfers_ready(all)) {
            round_break(all);
            return;
        }
        all->looked++;
        copying_begin(all, all->names[all->name_at++]);
    }
    if (all->copying_count)
        return;
    if (all->cursor && all->looked < COPIES_FILES_MAX) {
        page_ask(all);
        return;
    }
    if (all->looked == COPIES_FILES_MAX)
        LOG(&all->customerd->daemon.log, LEVEL_WARNING, "copies",
            log_text("why", "there are more files to keep copies of than one customer looks at"));
    round_end(all, true);
}

static void stores_came(void *user, unsigned status, const char *body, size_t len);

static void stores_ask(struct copies *all)
{
    struct buf path;

    buf_init(&path);
    copies_stores_path(all, &path);
    all->fetching =
        agent_fetch(all->customerd->live, customerd_pool(all->customerd), buf_string(&path), stores_came, all);
    buf_done(&path);
    if (!all->fetching)
        round_break(all);
}

static void stores_came(void *user, unsigned status, const char *body, size_t len)
{
    struct copies *all = user;

    (void)status;
    all->fetching = false;
    if (all->closing)
        return;
    if (!body) {
        round_break(all);
        return;
    }
    copies_stores_read(all, body, len);
    if (copies_stores_more(all)) {
        stores_ask(all);
        return;
    }
    all->cursor = 0;
    page_ask(all);
}

void copies_tick(struct copies *all)
{
    struct customerd *customerd = all->customerd;
    int64_t span = config_span(&customerd->daemon.config, CONFIG_COPIES_PERIOD);

    if (!span || all->going || all->closing || runner_now() < all->due)
        return;
    all->going = true;
    all->lacks = false;
    all->looked = 0;
    all->round++;
    stores_ask(all);
}

/* -------------------------------------------------------------------------------------------------------------------- life */

struct copies *copies_new(struct customerd *customerd)
{
    struct copies *all = mem_alloc(sizeof *all);
    int64_t span = config_span(&customerd->daemon.config, CONFIG_COPIES_PERIOD);

    *all = (struct copies){.customerd = customerd, .due = runner_now() + (span < PAUSE_MIN ? span : PAUSE_MIN)};
    return all;
}

void copies_stop(struct copies *all)
{
    bool runs = true;

    if (!all)
        return;
    all->closing = true;
    if (all->listing)
        catalogues_cancel(all->customerd->catalogues, all->listing);
    for (struct copying *copying = all->copyings; copying; copying = copying->next) {
        if (copying->run)
            transfer_cancel(copying->run);
        if (copying->asked)
            catalogues_cancel(all->customerd->catalogues, copying->asked);
    }
    while (runs) {
        runs = false;
        for (struct copying *copying = all->copyings; copying; copying = copying->next)
            runs = runs || copying->run;
        if (runs)
            uv_run(&all->customerd->daemon.loop, UV_RUN_ONCE);
    }
}

void copies_free(struct copies *all)
{
    if (!all)
        return;
    while (all->copyings)
        copying_free(all->copyings);
    transfer_rules_unref(all->rules);
    kept_files_done(&all->last);
    kept_files_done(&all->now);
    names_clear(all);
    copies_stores_clear(all);
    all->round++;
    copies_stores_forget(all);
    free(all->away);
    free(all);
}
