/* audit_test.c: the audit log: what is kept of it over restarts, what goes when there is too much, and what a flood of attempts does. */
#include "live/world/audit.h"

#include "common/store.h"
#include "lang/ad/get.h"
#include "lang/ad/names.h"

#include <stdio.h>
#include <string.h>

#define NOW INT64_C(1800000000)

struct book {
    struct bench bench;
    struct shelf *shelf;
    struct symbols *symbols;
    struct audit audit;
};

static void book_open(struct book *book, uint32_t most)
{
    struct err err = {0};

    book->shelf = open_shelf(&book->bench);
    book->symbols = names_new(0);
    audit_init(&book->audit, book->symbols, book->shelf, most);
    tap_ok(audit_load(&book->audit, &err) == 0, "the log is read: %s", err.text);
}

static void book_close(struct book *book)
{
    struct err err = {0};

    audit_flush(&book->audit, &err);
    book->shelf->kind->commit(book->shelf, &err);
    audit_done(&book->audit);
    symbols_free(book->symbols);
    book->shelf->kind->close(book->shelf);
}

static void add(struct book *book, bool attempt, const char *by, const char *what, const char *about, int64_t now)
{
    struct audit_event event = {.by = by,
                                .account = by,
                                .what = what,
                                .about = about,
                                .from = "192.0.2.7",
                                .result = attempt ? "refused 403" : "done",
                                .attempt = attempt};
    struct err err = {0};

    if (audit_add(&book->audit, &event, now, &err) < 0)
        tap_ok(false, "a row is written: %s", err.text);
}

/* How many rows there are of that user, and how often they happened; NULL: of all. */
static uint32_t rows(const struct book *book, const char *by, uint32_t *ret_count)
{
    uint32_t found = 0;
    uint64_t before = 0;
    bool ordered = true;

    *ret_count = 0;
    for (const struct audit_row *row = audit_next(&book->audit, 0); row;
         row = audit_next(&book->audit, row->number + 1)) {
        ordered = ordered && row->number > before;
        before = row->number;
        if (by && strcmp(row->by, by) != 0)
            continue;
        found++;
        *ret_count += row->count;
    }
    if (!ordered)
        tap_ok(false, "rows come in the order of their numbers");
    return found;
}

/* Where everybody's changes are kept: who has the most rows loses some, and what is old goes. */
static void test_fair(struct book *book)
{
    struct audit_event more = {.about = "7-9", .result = "refused 429"};
    const struct audit_row *row;
    struct err err = {0};
    uint32_t count;
    uint64_t most = 0;
    char by[32];

    book_open(book, 100);
    book->audit.fair = true;
    audit_expire(&book->audit, NOW + 2000, &err);
    tap_ok(!rows(book, NULL, &count), "what is older than may be goes, attempts as well");
    add(book, false, "alice", "jobs.submit", "1", NOW + 2000);
    add(book, false, "bob", "jobs.submit", "2", NOW + 2001);
    for (int i = 0; i < 1000; i++) {
        uint64_t before = book->audit.dropped;

        add(book, false, "mallory", "jobs.submit", "3", NOW + 2002 + i);
        most = book->audit.dropped - before > most ? book->audit.dropped - before : most;
    }
    tap_ok(most > 0 && most < 8, "rows go by and by, so that nobody waits for many of them");
    tap_ok(rows(book, NULL, &count) <= 100 && rows(book, "alice", &count) == 1 && rows(book, "bob", &count) == 1 &&
               rows(book, "mallory", &count) >= 80,
           "who has changed much pushes out rows of its own alone");
    row = audit_next(&book->audit, 0);
    tap_ok(audit_amend(&book->audit, row->number, &more, &err) == 0 &&
               audit_amend(&book->audit, 1000000, &more, &err) == 0,
           "a row is amended, and one that is not there is passed over");
    book_close(book);
    book_open(book, 100);
    row = audit_next(&book->audit, 0);
    tap_ok(!strcmp(row->about, "7-9") && !strcmp(row->result, "refused 429") && !strcmp(row->by, "alice"),
           "and so it is after a restart");
    book->audit.fair = true;
    for (int i = 0; i < 1000; i++) {
        snprintf(by, sizeof by, "user%d", i);
        add(book, false, by, "jobs.submit", "4", NOW + 4000 + i);
    }
    tap_ok(rows(book, NULL, &count) <= 100 && rows(book, "user999", &count) == 1 && rows(book, "user0", &count) == 0,
           "of more users than rows the oldest go");
    book_close(book);
}

int main(void)
{
    struct book book;
    uint32_t count;
    char about[32];
    struct tree *ad;
    const char *text;
    size_t len;

    bench_init(&book.bench);
    book_open(&book, 100);
    add(&book, false, "root", "users.disable", "alice", NOW);
    add(&book, false, "root", "users.enable", "alice", NOW + 1);
    add(&book, true, "mallory", "users.disable", "root", NOW + 2);
    add(&book, true, "mallory", "users.disable", "root", NOW + 3);
    tap_ok(rows(&book, NULL, &count) == 3 && count == 4,
           "a change has a row of its own; what is refused again is counted");
    book_close(&book);
    book_open(&book, 100);
    tap_ok(rows(&book, NULL, &count) == 3 && count == 4, "all of it is there after a restart");
    ad = audit_ad(&book.audit, audit_next(&book.audit, 3));
    tap_ok(ad_string(ad, "By", &text, &len) && len == 7 && !memcmp(text, "mallory", 7) &&
               ad_string(ad, "From", &text, &len) && len == 9 && ad_find(ad, "Last") && !ad_find(ad, "Detail"),
           "a row says who, from where, and when last");
    tree_unref(ad);
    add(&book, false, "root", "policy.put", "policy", NOW + 4);
    tap_ok(book.audit.numbered == 4, "numbers go on");

    for (int i = 0; i < 100000; i++) {
        snprintf(about, sizeof about, "user%d", i);
        add(&book, true, "mallory", "users.disable", about, NOW + 5);
    }
    tap_ok(rows(&book, "root", &count) == 3, "a flood of attempts pushes out no change");
    tap_ok(rows(&book, "mallory", &count) <= AUDIT_SHARE + 1 && count >= 100000 - AUDIT_SHARE,
           "and is counted in a few rows");
    add(&book, true, "bob", "tokens.create", "", NOW + 6);
    for (int i = 0; i < 1000; i++)
        add(&book, true, "mallory", "tokens.create", "", NOW + 7);
    tap_ok(rows(&book, "bob", &count) == 1, "nor does it push out the attempts of others");

    for (int i = 0; i < 500; i++)
        add(&book, false, "root", "users.put", "alice", NOW + 8 + i);
    tap_ok(rows(&book, "root", &count) == 100 && book.audit.dropped >= 400 &&
               !strcmp(book.audit.changes.items[book.audit.changes.first].row->what, "users.put"),
           "of changes the oldest go when there are too many");
    tap_ok(rows(&book, "bob", &count) == 1, "and attempts stay");
    book_close(&book);
    book_open(&book, 20);
    tap_ok(rows(&book, "root", &count) == 20, "a smaller bound holds from the next start");
    add(&book, false, NULL, NULL, NULL, NOW + 1000);
    tap_ok(book.audit.changes.count == 20, "an event that says nothing harms nothing");
    book_close(&book);
    test_fair(&book);
    bench_done(&book.bench);
    return tap_done();
}
