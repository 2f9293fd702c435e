/* audit.c: who has changed what, from where and when. */
#include "live/world/audit.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/cut.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_DIGITS 16
#define LEAVE_SOME 4  /* rows that have to go, with each that comes ... */
#define LEAVE_IDLE 64 /* ... and with each look at their age */
#define MOST_LEAST 16 /* rows that may always stay */

void audit_init(struct audit *audit, struct symbols *symbols, struct shelf *shelf, uint32_t most)
{
    *audit = (struct audit){.symbols = symbols, .shelf = shelf, .most = most < MOST_LEAST ? MOST_LEAST : most};
    textmap_init(&audit->accounts, secrets_word(&secrets_live));
}

static void row_free(struct audit_row *row)
{
    if (!row)
        return;
    free(row->by);
    free(row->account);
    free(row->what);
    free(row->about);
    free(row->from);
    free(row->via);
    free(row->result);
    free(row->detail);
    free(row);
}

static struct audit_row *list_at(const struct audit_list *list, uint32_t place)
{
    return list->items[(list->first + place) % list->room].row;
}

static void list_done(struct audit_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        row_free(list_at(list, i));
    free(list->items);
}

void audit_done(struct audit *audit)
{
    list_done(&audit->changes);
    list_done(&audit->attempts);
    list_done(&audit->leaving);
    textmap_done(&audit->accounts);
    free(audit->counts);
    *audit = (struct audit){.numbered = 0};
}

static void list_push(struct audit_list *list, struct audit_item item)
{
    if (list->count == list->room) {
        uint32_t room = list->room ? 2 * list->room : 64;
        struct audit_item *items = mem_alloc(room * sizeof *items);

        for (uint32_t i = 0; i < list->count; i++)
            items[i] = list->items[(list->first + i) % list->room];
        free(list->items);
        list->items = items;
        list->first = 0;
        list->room = room;
    }
    list->items[(list->first + list->count++) % list->room] = item;
}

static struct audit_item list_shift(struct audit_list *list)
{
    struct audit_item item = list->items[list->first];

    list->first = (list->first + 1) % list->room;
    list->count--;
    return item;
}

/* A row of that account is there; returns the account's place. */
static uint32_t account_add(struct audit *audit, const char *account)
{
    uint32_t place = textmap_add(&audit->accounts, account, strlen(account));

    if (place >= audit->counts_room) {
        uint32_t room = place < 32 ? 64 : 2 * place;

        audit->counts = mem_grow(audit->counts, room * sizeof *audit->counts);
        memset(audit->counts + audit->counts_room, 0, (room - audit->counts_room) * sizeof *audit->counts);
        audit->counts_room = room;
    }
    audit->counts[place]++;
    return place;
}

static void account_drop(struct audit *audit, uint32_t place)
{
    if (--audit->counts[place] == 0)
        textmap_remove(&audit->accounts, place);
}

static struct audit_list *row_list(struct audit *audit, const struct audit_row *row)
{
    return row->attempt ? &audit->attempts : &audit->changes;
}

static void row_join(struct audit *audit, struct audit_row *row)
{
    uint32_t account = row->attempt ? TEXTMAP_NONE : account_add(audit, row->account);

    list_push(row_list(audit, row), (struct audit_item){row, account});
}

/* Takes the first row of the list out of it. */
static struct audit_row *row_leave(struct audit *audit, struct audit_list *list)
{
    struct audit_item item = list_shift(list);

    if (item.account != TEXTMAP_NONE)
        account_drop(audit, item.account);
    return item.row;
}

/* --------------------------------------------------------------------------------------------------------------- rows */

static void row_key(uint64_t number, char ret[KEY_DIGITS + 1])
{
    snprintf(ret, KEY_DIGITS + 1, "%016" PRIx64, number);
}

static void text_add(struct maker *maker, const char *name, const char *text)
{
    if (*text)
        maker_text(maker, name, text);
}

struct tree *audit_ad(const struct audit *audit, const struct audit_row *row)
{
    struct maker maker;

    maker_init(&maker, audit->symbols);
    maker_text(&maker, "Type", "Audit");
    maker_integer(&maker, "Number", (int64_t)row->number);
    maker_integer(&maker, "Time", row->at);
    maker_text(&maker, "By", row->by);
    maker_text(&maker, "What", row->what);
    maker_text(&maker, "About", row->about);
    text_add(&maker, "From", row->from);
    text_add(&maker, "Via", row->via);
    maker_text(&maker, "Result", row->result);
    text_add(&maker, "Detail", row->detail);
    maker_integer(&maker, "Count", row->count);
    if (row->count > 1)
        maker_integer(&maker, "Last", row->last);
    return maker_seal(&maker);
}

static int row_put(struct audit *audit, struct audit_row *row, struct err *err)
{
    struct shelf *shelf = audit->shelf;
    struct tree *ad = audit_ad(audit, row), *kept;
    char key[KEY_DIGITS + 1];
    struct maker maker;
    struct buf text;
    int failed;

    maker_init(&maker, audit->symbols);
    maker_parts(&maker, ad, NULL);
    maker_text(&maker, "Account", row->account);
    maker_flag(&maker, "Attempt", row->attempt);
    kept = maker_seal(&maker);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, kept);
    row_key(row->number, key);
    failed = shelf->kind->put(shelf, AUDIT_SPACE, key, KEY_DIGITS, text.text, text.len, err);
    row->dirty = false;
    buf_done(&text);
    tree_unref(kept);
    tree_unref(ad);
    return failed;
}

static char *text_read(const struct tree *ad, const char *name)
{
    const char *text = "";
    size_t len = 0;

    ad_string(ad, name, &text, &len);
    return mem_dup(text, len);
}

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct audit *audit = user;
    struct err err;
    struct tree *ad = form_parse(audit->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    struct audit_row *row;
    int64_t number, count = 1;

    (void)key;

    if (!ad || key_len != KEY_DIGITS || !ad_integer(ad, "Number", &number) || number <= 0) {
        tree_unref(ad);
        return true; /* not a row of ours: it is passed over */
    }
    row = mem_alloc(sizeof *row);
    *row = (struct audit_row){.number = (uint64_t)number,
                              .by = text_read(ad, "By"),
                              .account = text_read(ad, "Account"),
                              .what = text_read(ad, "What"),
                              .about = text_read(ad, "About"),
                              .from = text_read(ad, "From"),
                              .via = text_read(ad, "Via"),
                              .result = text_read(ad, "Result"),
                              .detail = text_read(ad, "Detail")};
    ad_integer(ad, "Time", &row->at);
    row->last = row->at;
    ad_integer(ad, "Last", &row->last);
    ad_integer(ad, "Count", &count);
    row->count = count > 0 && count < UINT32_MAX ? (uint32_t)count : 1;
    ad_flag(ad, "Attempt", &row->attempt);
    if (row->number > audit->numbered)
        audit->numbered = row->number;
    row_join(audit, row);
    tree_unref(ad);
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- forgetting */

/* Takes the row, which is in no list any more. */
static int row_drop(struct audit *audit, struct audit_row *row, struct err *err)
{
    struct shelf *shelf = audit->shelf;
    char key[KEY_DIGITS + 1];
    int failed;

    row_key(row->number, key);
    failed = shelf->kind->remove(shelf, AUDIT_SPACE, key, KEY_DIGITS, err);
    audit->dropped++;
    row_free(row);
    return failed;
}

static int number_order(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The most rows that each account may keep, so that all keep no more than `most` together; sorts the counts. */
static uint32_t share_find(uint32_t *counts, uint32_t accounts, uint32_t most)
{
    uint32_t left = most;

    qsort(counts, accounts, sizeof *counts, number_order);
    for (uint32_t i = 0; i < accounts; i++) {
        uint32_t share = left / (accounts - i); /* for each of those that are left */

        if (counts[i] > share)
            return share ? share : 1; /* where there are more accounts than rows, the caller trims */
        left -= counts[i];
    }
    return UINT32_MAX;
}

/* Takes some of those that have to go from the shelf: an eighth of all at once would hold up the loop for 14 ms. */
static int rows_leave(struct audit *audit, uint32_t most, struct err *err)
{
    int failed = 0;

    for (; most && audit->leaving.count && !failed; most--)
        failed = row_drop(audit, list_shift(&audit->leaving).row, err);
    return failed;
}

/* One row of the changes has to go: it leaves the shelf later. */
static void row_goes(struct audit *audit, struct audit_item item)
{
    account_drop(audit, item.account);
    list_push(&audit->leaving, (struct audit_item){item.row, TEXTMAP_NONE});
}

/* Some rows of the changes have to go, so that this is done seldom: of each account that has more than its share, the oldest. */
static void changes_thin(struct audit *audit, uint32_t most)
{
    struct audit_list *list = &audit->changes;
    uint32_t *counts = mem_alloc((audit->accounts.places + 1) * sizeof *counts), share, kept = 0, count = list->count;

    memcpy(counts, audit->counts, audit->accounts.places * sizeof *counts);
    share = share_find(counts, audit->accounts.places, most);
    for (uint32_t i = 0; i < count; i++) {
        struct audit_item item = list->items[(list->first + i) % list->room];

        if (audit->counts[item.account] > share)
            row_goes(audit, item);
        else
            list->items[(list->first + kept++) % list->room] = item;
    }
    list->count = kept;
    while (list->count > most)
        row_goes(audit, list_shift(list));
    free(counts);
}

/* The oldest rows of a list go until there are no more than may stay. */
static int list_trim(struct audit *audit, struct audit_list *list, uint32_t most, struct err *err)
{
    int failed = 0;

    if (audit->fair && list == &audit->changes && list->count > most)
        changes_thin(audit, most - most / 8);
    while (list->count > most && !failed)
        failed = row_drop(audit, row_leave(audit, list), err);
    return failed;
}

int audit_bound(struct audit *audit, uint32_t most, struct err *err)
{
    audit->most = most < MOST_LEAST ? MOST_LEAST : most;
    return list_trim(audit, &audit->changes, audit->most, err) < 0 ||
                   list_trim(audit, &audit->attempts, audit->most / 4, err) < 0 ||
                   rows_leave(audit, UINT32_MAX, err) < 0
               ? -1
               : 0;
}

static int list_expire(struct audit *audit, struct audit_list *list, int64_t before, struct err *err)
{
    int failed = 0;

    while (list->count && list_at(list, 0)->last < before && !failed)
        failed = row_drop(audit, row_leave(audit, list), err);
    return failed;
}

int audit_expire(struct audit *audit, int64_t before, struct err *err)
{
    return list_expire(audit, &audit->changes, before, err) < 0 ||
                   list_expire(audit, &audit->attempts, before, err) < 0 || rows_leave(audit, LEAVE_IDLE, err) < 0
               ? -1
               : 0;
}

int audit_load(struct audit *audit, struct err *err)
{
    if (audit->shelf->kind->each(audit->shelf, AUDIT_SPACE, row_load, audit, err) < 0)
        return -1;
    return audit_bound(audit, audit->most, err);
}

/* ------------------------------------------------------------------------------------------------------------- looking */

/* The place of the first row of the list with a number of at least that. */
static uint32_t list_find(const struct audit_list *list, uint64_t number)
{
    uint32_t low = 0, high = list->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list_at(list, middle)->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct audit_row *row_from(const struct audit *audit, uint64_t number)
{
    uint32_t change = list_find(&audit->changes, number), attempt = list_find(&audit->attempts, number);
    struct audit_row *one = change < audit->changes.count ? list_at(&audit->changes, change) : NULL;
    struct audit_row *other = attempt < audit->attempts.count ? list_at(&audit->attempts, attempt) : NULL;

    return !one || (other && other->number < one->number) ? other : one;
}

static struct audit_row *row_find(const struct audit *audit, uint64_t number)
{
    struct audit_row *row = row_from(audit, number);

    return row && row->number == number ? row : NULL;
}

const struct audit_row *audit_next(const struct audit *audit, uint64_t number)
{
    return row_from(audit, number);
}

/* -------------------------------------------------------------------------------------------------------------- adding */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static char *text_keep(const char *text)
{
    size_t len = text ? strlen(text) : 0;

    return mem_dup(or_empty(text), len > AUDIT_TEXT_MAX ? cut_len(text, len, AUDIT_TEXT_MAX) : len);
}

static bool text_same(const char *kept, const char *text)
{
    return !strncmp(kept, or_empty(text), AUDIT_TEXT_MAX - 4); /* a longer one was cut */
}

static bool row_repeats(const struct audit_row *row, const struct audit_event *event)
{
    return text_same(row->by, event->by) && text_same(row->what, event->what) && text_same(row->about, event->about) &&
           text_same(row->result, event->result) && text_same(row->from, event->from) &&
           (strcmp(or_empty(event->result), "done") != 0 ||
            text_same(row->detail, event->detail)); /* what was done is told */
}

/* The row that the attempt is counted in; NULL: it has one of its own. `*ret_full`: the account has had its share of rows. */
static struct audit_row *attempt_find(const struct audit *audit, const struct audit_event *event, int64_t wall,
                                      bool *ret_full)
{
    const char *account = or_empty(event->account);
    struct audit_row *rest = NULL;
    uint32_t rows = 0;

    for (uint32_t i = audit->attempts.count; i-- > 0;) {
        struct audit_row *row = list_at(&audit->attempts, i);

        if (row->at + AUDIT_SPAN <= wall)
            break; /* all before it are older; a clock that was set back finds more of them */
        if (!text_same(row->account, account))
            continue;
        if (!*row->what)
            rest = row;
        else if (row_repeats(row, event))
            return row;
        else
            rows++;
    }
    *ret_full = rows >= AUDIT_SHARE ||
                rows >= audit->most / 16; /* where few rows are kept, no account has more than a quarter of them */
    return *ret_full ? rest : NULL;
}

int audit_add(struct audit *audit, const struct audit_event *event, int64_t wall, struct err *err)
{
    static const struct audit_event rest = {.result = "more of it"};
    struct audit_row *row;
    bool full = false;

    row = event->attempt ? attempt_find(audit, event, wall, &full) : NULL;
    if (row) {
        row->count += row->count < UINT32_MAX;
        row->last = wall;
        row->dirty = audit->dirty = true;
        return 0;
    }
    row = mem_alloc(sizeof *row);
    *row = (struct audit_row){.number = ++audit->numbered,
                              .at = wall,
                              .last = wall,
                              .count = 1,
                              .attempt = event->attempt,
                              .by = text_keep(event->by),
                              .account = text_keep(event->account),
                              .what = text_keep(full ? rest.what : event->what),
                              .about = text_keep(full ? rest.about : event->about),
                              .from = text_keep(event->from),
                              .via = text_keep(event->via),
                              .result = text_keep(full ? rest.result : event->result),
                              .detail = text_keep(full ? rest.detail : event->detail)};
    row_join(audit, row);
    if (row_put(audit, row, err) < 0 || rows_leave(audit, LEAVE_SOME, err) < 0)
        return -1;
    return list_trim(audit, row_list(audit, row), event->attempt ? audit->most / 4 : audit->most, err);
}

static void text_replace(char **kept, const char *text)
{
    if (!text)
        return;
    free(*kept);
    *kept = text_keep(text);
}

int audit_amend(struct audit *audit, uint64_t number, const struct audit_event *event, struct err *err)
{
    struct audit_row *row = row_find(audit, number);

    if (!row)
        return 0;
    text_replace(&row->about, event->about);
    text_replace(&row->result, event->result);
    text_replace(&row->detail, event->detail);
    return row_put(audit, row, err);
}

bool audit_reload(struct audit *audit, const char *by, const struct config *config, const struct config_change *change,
                  int64_t wall)
{
    struct audit_event event = {.by = by, .account = by, .what = "config.reload", .via = "signal", .result = "done"};
    struct buf names;
    struct err err;
    bool any;

    buf_init(&names);
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        if (change->taken[i])
            buf_addf(&names, "%s%s", names.len ? " " : "", config_row((enum config_key)i)->name);
    any = names.len > 0;
    event.about = config->file;
    event.detail = buf_string(&names);
    if (any)
        audit_add(audit, &event, wall, &err); /* a store that has failed shows at the commit */
    buf_done(&names);
    return any;
}

bool audit_flush(struct audit *audit, struct err *err)
{
    if (!audit->dirty)
        return false;
    audit->dirty = false;
    for (uint32_t i = 0; i < audit->attempts.count; i++)
        if (list_at(&audit->attempts, i)->dirty && row_put(audit, list_at(&audit->attempts, i), err) < 0)
            break; /* the shelf is broken, which its owner sees at the next commit */
    return true;
}
