/* copies_file.c: one file of which copies are to be kept: its replicas are asked for, and copies are made where there are too few.
 *
 *     the catalogues -> each replica is asked for -> enough: that is all
 *                                                 -> too few: what is at its place in the next store that may have it?
 *                                                    nothing: fetched from one that is there -> is it that file? -> put there -> entered
 *                                                    that file: entered                         another: it stays, and the next store is tried
 *                                                    -> from the beginning, until there are enough
 *
 * What a store does not take is tried in a few others, and in more of them in the next round; what the catalogues do not take is tried in no other
 * store, or all of them would get it.
 *
 * A store that cannot be asked counts as if it had its replica until it is away for TransferPatience: who is restarted has lost nothing. What is not
 * there, or has another size or (where the server tells it) hash, counts no more at once. */
#include "live/customerd/copies_parts.h"

#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void copying_ask(struct copying *copying);
static void copying_judge(struct copying *copying);
static void copying_bring(struct copying *copying);

void copying_path(const struct copies *all, uint32_t slot, struct buf *out)
{
    buf_addf(out, "%s/copies/%u", all->customerd->daemon.folder, slot);
}

/* ------------------------------------------------------------------------------------------------------------------ life */

/* Removes its bytes, and what has come of them. */
static void bytes_drop(const struct copying *copying)
{
    struct buf path;

    buf_init(&path);
    copying_path(copying->all, copying->slot, &path);
    unlink(buf_string(&path));
    buf_adds(&path, ".part");
    unlink(buf_string(&path));
    buf_done(&path);
}

void copying_free(struct copying *copying)
{
    struct copies *all = copying->all;
    struct copying **link = &all->copyings;

    while (*link != copying)
        link = &(*link)->next;
    *link = copying->next;
    all->copying_count--;
    all->slots[copying->slot] = false;
    bytes_drop(copying);
    file_entry_done(&copying->entry);
    buf_done(&copying->url);
    free(copying->name);
    free(copying);
}

static uint32_t count_of(const struct copying *copying, enum copy_state state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < copying->entry.count; i++)
        count += copying->states[i] == state;
    return count;
}

/* It was looked at: notes how it stands, and goes on with others. */
static void copying_end(struct copying *copying)
{
    struct copies *all = copying->all;

    copies_note(all, copying, count_of(copying, COPY_THERE));
    copying_free(copying);
    copies_go_on(all);
}

/* Nobody wants copies of it any more. */
static void copying_drop(struct copying *copying)
{
    struct copies *all = copying->all;

    copying_free(copying);
    copies_go_on(all);
}

static void words_set(struct copying *copying, const char *store, const char *words)
{
    snprintf(copying->words, sizeof copying->words, "%.100s%s%.150s", store, *store ? ": " : "", words);
}

static void transfer_begin(struct copying *copying, struct transfer_order *order, bool bytes, transfer_done_fn *done)
{
    struct copies *all = copying->all;
    struct buf path;

    buf_init(&path);
    if (bytes)
        copying_path(all, copying->slot, &path);
    order->path = buf_string(&path);
    copying->run = transfer_start(&all->customerd->daemon.loop, all->rules, order, done, copying);
    buf_done(&path);
}

/* A thread is done with it. False: nobody wants to know any more. */
static bool is_back(struct copying *copying, const struct transfer_result *result)
{
    copying->run = NULL;
    return !copying->all->closing && result->end != TRANSFER_CANCELLED;
}

/* -------------------------------------------------------------------------------------------------------------- entering */

static void entered(void *user, const struct catalogue_answer *answer)
{
    struct copying *copying = user;
    struct copies *all = copying->all;
    struct customerd *customerd = all->customerd;
    const char *store = copying->tried[copying->tried_count - 1];
    bool good = answer->result == CATALOGUE_TAKEN || answer->result == CATALOGUE_PARTLY;

    copying->asked = 0;
    if (all->closing)
        return;
    metrics_add(customerd->daemon.metrics, METRIC_COPIES, good ? 0 : 1, 0, 1);
    if (good) {
        LOG(&customerd->daemon.log, LEVEL_INFO, "copies.made", log_text("name", copying->name),
            log_text("store", store), log_text("url", buf_string(&copying->url)));
        copying->made++;
        copying->words[0] = '\0';
        copying_ask(copying);
        return;
    }
    words_set(copying, store, *answer->words ? answer->words : "no catalogue answers");
    copying_end(copying);
}

static void copying_enter(struct copying *copying)
{
    static const struct catalogue_right right = {.agent = ""};
    const char *store = copying->tried[copying->tried_count - 1];
    struct file_entry addition = {.name = copying->name, .size = copying->entry.size};

    memcpy(addition.hash, copying->entry.hash, sizeof addition.hash);
    (void)file_replica_put(&addition, store, buf_string(&copying->url), NULL);
    copying->asked = catalogues_add(copying->all->customerd->catalogues, &addition, &right, entered, copying);
    addition.name = NULL;
    file_entry_done(&addition);
}

/* --------------------------------------------------------------------------------------------------------------- copying */

/* The store that was chosen does not get it: the next one may. */
static void store_misses(struct copying *copying, enum transfer_end end, const char *words)
{
    struct copies *all = copying->all;
    const char *store = copying->tried[copying->tried_count - 1];

    if (end == TRANSFER_AGAIN)
        (void)copies_store_fails(all, store, buf_string(&copying->url), true, words);
    metrics_add(all->customerd->daemon.metrics, METRIC_COPIES, 1, 0, 1);
    words_set(copying, store, words);
    copying_judge(copying);
}

static void put_done(void *user, const struct transfer_result *result)
{
    struct copying *copying = user;

    if (!is_back(copying, result))
        return;
    if (result->end == TRANSFER_DONE && !strcmp(result->entry, copying->entry.hash))
        copying_enter(copying);
    else
        store_misses(copying, result->end,
                     result->end == TRANSFER_DONE ? "the file has changed on the way" : result->words);
}

static void copying_put(struct copying *copying)
{
    struct transfer_order order = {.way = TRANSFER_PUT, .url = buf_string(&copying->url), .size = copying->entry.size};

    transfer_begin(copying, &order, true, put_done);
}

/* What was fetched is known: is it that file? */
static void looked(void *user, const struct transfer_result *result)
{
    struct copying *copying = user;

    if (!is_back(copying, result))
        return;
    copying->fetched = result->end == TRANSFER_DONE && !strcmp(result->entry, copying->entry.hash);
    if (!copying->fetched) {
        bytes_drop(copying);
        copying->states[copying->at] = COPY_LOST;
        words_set(copying, copying->entry.replicas[copying->at].store,
                  "its contents are not those that the catalogue says");
    }
    copying_bring(copying);
}

static void fetched(void *user, const struct transfer_result *result)
{
    struct copying *copying = user;
    const struct file_replica *replica = &copying->entry.replicas[copying->at];
    struct transfer_order order = {.way = TRANSFER_LOOK, .size = copying->entry.size};

    if (!is_back(copying, result))
        return;
    if (result->end == TRANSFER_DONE) {
        transfer_begin(copying, &order, true, looked);
        return;
    }
    copying->states[copying->at] = result->end == TRANSFER_DAMAGED ? COPY_LOST : COPY_AWAY;
    if (result->end == TRANSFER_AGAIN)
        (void)copies_store_fails(copying->all, replica->store, replica->url, false, result->words);
    words_set(copying, replica->store, result->words);
    copying_bring(copying);
}

/* Is there room for the file on its way? If not, the words say so. */
static bool has_room(struct copying *copying)
{
    struct customerd *customerd = copying->all->customerd;
    const char *full = customerd_disk_words(customerd);

    if (!full && (uint64_t)copying->entry.size <= customerd->disk_free / 2)
        return true;
    words_set(copying, "", full ? full : "the customer's disk has no room for it on its way");
    return false;
}

/* Fetches the file from a replica that is there. False: there is none, or no room for it. */
static bool copying_fetch(struct copying *copying)
{
    struct transfer_order order = {.way = TRANSFER_GET, .size = copying->entry.size};

    if (!has_room(copying))
        return false;
    for (uint32_t i = 0; i < copying->entry.count; i++) {
        if (copying->states[i] != COPY_THERE && copying->states[i] != COPY_BESIDE)
            continue;
        copying->at = i;
        order.url = copying->entry.replicas[i].url;
        transfer_begin(copying, &order, true, fetched);
        return true;
    }
    if (!copying->words[0])
        words_set(copying, "", "no replica can be had");
    return false;
}

/* The file goes to the place that was chosen. */
static void copying_bring(struct copying *copying)
{
    if (copying->fetched)
        copying_put(copying);
    else if (!copying_fetch(copying))
        copying_end(copying);
}

/* -------------------------------------------------------------------------------------------------------- what lies there */

/* What lies at the place is another file, of which the words may say more. It stays. */
static void place_is_taken(struct copying *copying, const char *words)
{
    char why[TRANSFER_WORDS_MAX];

    snprintf(why, sizeof why, "another file lies there%s%.120s", *words ? ": " : "", words);
    store_misses(copying, TRANSFER_DAMAGED, why);
}

static void place_looked(void *user, const struct transfer_result *result)
{
    struct copying *copying = user;

    if (!is_back(copying, result))
        return;
    copying->fetched = result->end == TRANSFER_DONE && !strcmp(result->entry, copying->entry.hash);
    if (copying->fetched) {
        copying_enter(copying);
        return;
    }
    bytes_drop(copying);
    place_is_taken(copying, "");
}

static void place_fetched(void *user, const struct transfer_result *result)
{
    struct copying *copying = user;
    struct transfer_order order = {.way = TRANSFER_LOOK, .size = copying->entry.size};

    if (!is_back(copying, result))
        return;
    if (result->end == TRANSFER_DONE)
        transfer_begin(copying, &order, true, place_looked);
    else if (result->end == TRANSFER_DAMAGED)
        place_is_taken(copying, result->words);
    else
        store_misses(copying, result->end, result->words);
}

/* A file of that length lies there, and the store does not say what its hash is. */
static void place_fetch(struct copying *copying)
{
    struct transfer_order order = {.way = TRANSFER_GET, .url = buf_string(&copying->url), .size = copying->entry.size};

    if (!has_room(copying)) {
        copying_end(copying);
        return;
    }
    copying->fetched = false;
    transfer_begin(copying, &order, true, place_fetched);
}

static void place_asked(void *user, const struct transfer_result *result)
{
    struct copying *copying = user;

    if (!is_back(copying, result))
        return;
    if (result->absent)
        copying_bring(copying);
    else if (result->end == TRANSFER_DONE && !strcmp(result->entry, copying->entry.hash))
        copying_enter(copying);
    else if (result->end == TRANSFER_DONE)
        place_fetch(copying);
    else if (result->end == TRANSFER_DAMAGED)
        place_is_taken(copying, result->words);
    else
        store_misses(copying, result->end, result->words);
}

static void place_ask(struct copying *copying)
{
    struct transfer_order order = {.way = TRANSFER_ASK,
                                   .url = buf_string(&copying->url),
                                   .size = copying->entry.size,
                                   .entry = copying->entry.hash};

    transfer_begin(copying, &order, false, place_asked);
}

/* --------------------------------------------------------------------------------------------------------------- judging */

/* Chooses the store that is tried next. False, and words: there is none. */
static bool copying_choose(struct copying *copying)
{
    struct store_place place;
    struct err err = {0};

    if (copying->tried_count - copying->made == COPIES_MISSES_MAX)
        return false; /* the words say how the last one fared */
    if (!copies_store_choose(copying, &place, &err)) {
        if (!copying->words[0] || !copying->tried_count)
            words_set(copying, "", err.text);
        return false;
    }
    snprintf(copying->tried[copying->tried_count++], STORE_NAME_MAX + 1, "%s", place.name);
    copying->again = file_replica_find(&copying->entry, place.name) >= 0;
    buf_reset(&copying->url);
    store_url(&place, copying->entry.name, &copying->url);
    return true;
}

/* All replicas were asked for: are there enough? */
static void copying_judge(struct copying *copying)
{
    const struct file_entry *entry = &copying->entry;
    uint32_t there = count_of(copying, COPY_THERE), counted = there + count_of(copying, COPY_AWAY);
    bool enough = counted >= entry->copies || copying->made >= entry->copies;
    bool source = there || copying->fetched || count_of(copying, COPY_BESIDE);

    if (there >= entry->copies)
        copying->words[0] = '\0';
    if (!enough && !source && !copying->words[0])
        words_set(copying, "", "no replica can be had");
    if (enough || !source || !copying_choose(copying))
        copying_end(copying);
    else if (copying->again)
        copying_bring(copying);
    else
        place_ask(copying);
}

static void replica_ask(struct copying *copying);

/* How the replica stands whose turn it is. */
static void replica_is(struct copying *copying, enum copy_state state, const char *words)
{
    const char *store = copying->entry.replicas[copying->at].store;

    copying->states[copying->at++] = state;
    if (state != COPY_THERE && state != COPY_BESIDE)
        words_set(copying, store, words);
    replica_ask(copying);
}

/* The replica cannot be seen though its store may well be there: it is refused, or lies elsewhere than the store says. That says nothing of others. */
static enum copy_state unseen_state(struct copying *copying)
{
    if (!copying->unseen)
        copying->unseen = copies_unseen(copying->all, copying->name);
    return runner_now() - copying->unseen <
                   config_span(&copying->all->customerd->daemon.config, CONFIG_TRANSFER_PATIENCE)
               ? COPY_AWAY
               : COPY_LOST;
}

static bool is_named(const struct file_entry *entry, const char *store)
{
    for (uint32_t i = 0; i < entry->at_count; i++)
        if (!strcmp(entry->at[i], store))
            return true;
    return false;
}

/* Whoever answers there says that it has the file. Where stores are named, that is one of the copies only if it lies in one of them, and where that one
 * keeps files: machines that have run a job of the owner's may enter replicas as well, anywhere and under the name of any store. */
static enum copy_state there_state(const struct copying *copying, const struct file_replica *replica)
{
    bool counts = !copying->entry.at || (is_named(&copying->entry, replica->store) &&
                                         copies_store_keeps(copying->all, replica->store, replica->url));

    return counts ? COPY_THERE : COPY_BESIDE;
}

static void asked(void *user, const struct transfer_result *result)
{
    struct copying *copying = user;
    struct copies *all = copying->all;
    const struct file_replica *replica = &copying->entry.replicas[copying->at];
    bool seen = result->end == TRANSFER_DONE || result->end == TRANSFER_DAMAGED;
    enum copy_state state = COPY_LOST;

    if (!is_back(copying, result))
        return;
    if (result->end == TRANSFER_DONE)
        state = there_state(copying, replica);
    if (seen)
        copies_store_serves(all, replica->url);
    else if (result->end == TRANSFER_AGAIN &&
             copies_store_fails(all, replica->store, replica->url, false, result->words))
        state = copies_store_is_lost(all, replica->url) ? COPY_LOST : COPY_AWAY;
    else
        state = unseen_state(copying);
    replica_is(copying, state, result->words);
}

static void replica_ask(struct copying *copying)
{
    const struct file_entry *entry = &copying->entry;
    struct transfer_order order = {.way = TRANSFER_ASK, .size = entry->size, .entry = entry->hash};
    const char *trouble;

    if (copying->at == entry->count) {
        copying_judge(copying);
        return;
    }
    order.url = entry->replicas[copying->at].url;
    trouble = copies_store_trouble(copying->all, order.url, false);
    if (trouble) {
        replica_is(copying, copies_store_is_lost(copying->all, order.url) ? COPY_LOST : COPY_AWAY, trouble);
        return;
    }
    transfer_begin(copying, &order, false, asked);
}

static void found(void *user, const struct catalogue_answer *answer)
{
    struct copying *copying = user;
    const char *identity = copying->all->customerd->daemon.identity;
    size_t own = account_len(identity, strlen(identity));
    const struct file_entry *entry = answer->entry;

    copying->asked = 0;
    if (copying->all->closing)
        return;
    file_entry_done(&copying->entry);
    if (answer->result == CATALOGUE_FOUND)
        file_entry_copy(entry, &copying->entry);
    else if (answer->result != CATALOGUE_NONE)
        words_set(copying, "", *answer->words ? answer->words : "no catalogue answers");
    entry = &copying->entry;
    if (answer->result == CATALOGUE_DIFFER || answer->result == CATALOGUE_SILENT) {
        copying_end(copying);
        return;
    }
    if (!entry->copies || !entry->owner || account_len(entry->owner, strlen(entry->owner)) != own ||
        memcmp(entry->owner, identity, own) != 0) {
        copying_drop(copying);
        return;
    }
    memset(copying->states, 0, sizeof copying->states);
    copying->at = 0;
    replica_ask(copying);
}

static void copying_ask(struct copying *copying)
{
    copying->asked = catalogues_find(copying->all->customerd->catalogues, copying->name, found, copying);
}

void copying_begin(struct copies *all, const char *name)
{
    struct copying *copying = mem_alloc(sizeof *copying);

    memset(copying, 0, sizeof *copying);
    copying->next = all->copyings;
    copying->all = all;
    while (all->slots[copying->slot])
        copying->slot++;
    all->slots[copying->slot] = true;
    copying->name = mem_dup(name, strlen(name));
    copying->from = copies_from(all, name);
    buf_init(&copying->url);
    all->copyings = copying;
    all->copying_count++;
    copying_ask(copying);
}
