/* remote.c: a shelf in a PostgreSQL database: rows go in and out, and wait here until they are durable.
 *
 *     put, remove -> open -- commit_start --> under way (a thread makes them durable) --> the table
 *     each, get   <- the table, by a connection of its own, with what is under way and what is open laid over it
 *
 * So neither a commit that takes long nor one that is repeated changes what is read here. */
#include "store/remote_parts.h"

#include "pool/protocol/role.h"
#include "sys/clock.h"
#include "sys/steps.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define READ_PATIENCE (2 * SECOND)   /* that a database may be away while its rows are wanted */
#define PART_FIRST 64                /* rows that are asked for at once, at first ... */
#define PART_LAST 2048               /* ... and at most, ... */
#define PART_BYTES ((size_t)4 << 20) /* ... so that they are about so much */
#define RETRY_SPAN_NS 100000000

struct remote {
    struct shelf shelf;
    struct place place;
    bool strict;
    int news;
    struct link reading;
    struct seat *seat;
    struct writer *writer;
    struct row_changes open, under_way;
    bool busy; /* those are under way */
    unsigned reads;
    int64_t unread; /* when (clock_now) the database was away when it was last asked for a row; 0: it was not */
    bool misread;   /* a row that was wanted could not be read: what is put because of that must not become durable */
    bool broken;
    struct err why;
};

static struct remote *remote_of(const struct shelf *shelf)
{
    return (struct remote *)shelf; /* its first member */
}

/* ------------------------------------------------------------------------------------------------------------- changes */

static int remote_break(struct remote *remote, const struct err *why, struct err *err)
{
    struct err reason = *why;

    if (!remote->broken)
        remote->why = reason;
    remote->broken = true;
    return err_set(err, "%s", remote->why.text);
}

/* Can anything be done with it? -1 when it is broken, or another has its seat. */
static int remote_ready(struct remote *remote, struct err *err)
{
    struct err why;

    if (!remote->broken && seat_lost(remote->seat, &why))
        return remote_break(remote, &why, err);
    if (!remote->broken)
        return 0;
    err_set(err, "%s", remote->why.text);
    return err_context(err, "broken before");
}

static int change_ready(struct remote *remote, struct err *err)
{
    if (remote_ready(remote, err) < 0)
        return -1;
    return remote->reads ? err_set(err, "%s: cannot be changed while its rows are being read", remote->place.label) : 0;
}

static int row_ready(const struct remote *remote, const char *space, size_t key_len, size_t len, struct err *err)
{
    const char *wrong = row_wrong(space, key_len, len);

    return wrong ? err_set(err, "%s: %s", remote->place.label, wrong) : 0;
}

static int remote_change(struct remote *remote, const char *space, const void *key, size_t key_len, const void *value,
                         size_t len, struct err *err)
{
    struct err why;

    if (change_ready(remote, err) < 0 || row_ready(remote, space, key_len, len, err) < 0)
        return -1;
    if (remote->misread) {
        err_set(&why, "%s: does not answer, and what is put now may follow from what could not be read",
                remote->place.label);
        return remote_break(remote, &why, err);
    }
    step_counts(COUNTED_ROW);
    changes_add(&remote->open, space, key, key_len, value, len);
    if (remote->open.bytes <= REMOTE_ROWS_BYTES)
        return 0;
    err_set(&why, "%s: %zu MiB of rows wait until it answers: that is too many", remote->place.label,
            REMOTE_ROWS_BYTES >> 20);
    return remote_break(remote, &why, err);
}

static int remote_put(struct shelf *shelf, const char *space, const void *key, size_t key_len, const void *value,
                      size_t len, struct err *err)
{
    return remote_change(remote_of(shelf), space, key, key_len, len ? value : "", len, err);
}

static int remote_remove(struct shelf *shelf, const char *space, const void *key, size_t key_len, struct err *err)
{
    return remote_change(remote_of(shelf), space, key, key_len, NULL, 0, err);
}

/* ------------------------------------------------------------------------------------------------------------- commits */

/* Is what was under way durable? 1, 0, -1 as writer_look says. */
static int remote_settle(struct remote *remote, struct err *err)
{
    struct err why;
    int result = writer_look(remote->writer, &why);

    if (!result)
        return 0;
    remote->busy = false;
    changes_done(&remote->under_way);
    changes_init(&remote->under_way);
    if (result < 0)
        return remote_break(remote, &why, err);
    step_counts(COUNTED_COMMIT);
    return 1;
}

static int remote_commit_look(struct shelf *shelf, struct err *err)
{
    struct remote *remote = remote_of(shelf);

    if (remote_ready(remote, err) < 0)
        return -1;
    return remote->busy ? remote_settle(remote, err) : 1;
}

static int remote_commit_start(struct shelf *shelf, struct err *err)
{
    struct remote *remote = remote_of(shelf);

    if (change_ready(remote, err) < 0)
        return -1;
    if (remote->busy)
        return err_set(err, "%s: a commit is under way", remote->place.label);
    if (!remote->open.count)
        return 1;
    changes_done(&remote->under_way);
    remote->under_way = remote->open;
    changes_init(&remote->open);
    remote->busy = true;
    writer_begin(remote->writer, &remote->under_way);
    return 0;
}

static int remote_commit(struct shelf *shelf, struct err *err)
{
    struct remote *remote = remote_of(shelf);
    int result;

    if (change_ready(remote, err) < 0)
        return -1;
    if (remote->busy) {
        writer_wait(remote->writer);
        if (remote_settle(remote, err) < 0)
            return -1;
    }
    result = remote_commit_start(shelf, err);
    if (result)
        return result < 0 ? -1 : 0;
    writer_wait(remote->writer);
    return remote_settle(remote, err) < 0 ? -1 : 0;
}

static int remote_news(const struct shelf *shelf)
{
    return remote_of(shelf)->news;
}

static bool remote_may_act(const struct shelf *shelf)
{
    return seat_holds(remote_of(shelf)->seat);
}

static int64_t remote_away(const struct shelf *shelf, char *ret_why, size_t room)
{
    struct remote *remote = remote_of(shelf);
    int64_t since = seat_away(remote->seat, ret_why, room);

    return since ? since : writer_away(remote->writer, ret_why, room);
}

static bool remote_misread(struct shelf *shelf)
{
    bool misread = remote_of(shelf)->misread;

    remote_of(shelf)->misread = false;
    return misread;
}

static bool remote_broken(const struct shelf *shelf)
{
    return remote_of(shelf)->broken || seat_lost(remote_of(shelf)->seat, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

/* Is it known to be away, so that it need not be asked? Whoever reads many rows waits for it once, not for each. */
static bool is_known_away(const struct remote *remote)
{
    int64_t renewed = seat_renewed(remote->seat);
    char why[1];

    if (!remote->reading.conn && seat_away(remote->seat, why, sizeof why))
        return true;
    return remote->unread && remote->unread >= renewed && clock_now() < remote->unread + SECOND;
}

/* Asks, and once more by a new connection, for a while. A database that is away is no reason to end: but nothing is put that may follow from a row that
 * is only missing here. */
static PGresult *remote_ask(struct remote *remote, const char *sql, const struct given *given, int count,
                            struct err *err)
{
    int64_t until = clock_now() + (remote->unread ? 0 : READ_PATIENCE);
    struct link *link = &remote->reading;
    PGresult *result = NULL;
    struct err why;

    if (is_known_away(remote)) {
        remote->misread = true;
        err_set(err, "%s: does not answer", remote->place.label);
        return NULL;
    }
    for (;;) {
        if (link->conn || link_open(link, &remote->place, &why) == 0)
            result = link_ask(link, sql, given, count, REMOTE_PATIENCE, &why);
        if (result || !link->away || clock_now() >= until)
            break;
        nanosleep(&(struct timespec){0, RETRY_SPAN_NS}, NULL);
    }
    remote->unread = !result && link->away ? clock_now() : 0;
    remote->misread = remote->misread || remote->unread;
    if (!result && link->away)
        err_set(err, "%s", why.text);
    else if (!result)
        remote_break(remote, &why, err);
    return result;
}

static int row_damaged(struct remote *remote, const char *space, const void *key, size_t key_len, struct err *err)
{
    struct buf name;

    buf_init(&name);
    row_print(&name, key, key_len);
    err_set(err, "%s: a row of %s is damaged: %s", remote->place.label, space, buf_string(&name));
    buf_done(&name);
    return remote->strict ? remote_break(remote, err, err) : -1;
}

/* Hands over a row of an answer, whose columns are key, value and sum. */
static int row_give(struct remote *remote, const PGresult *result, int row, const char *space, shelf_row_fn *fn,
                    void *user, bool *ret_more, struct err *err)
{
    const char *key = libpq()->getvalue(result, row, 0), *value = libpq()->getvalue(result, row, 1);
    size_t key_len = (size_t)libpq()->getlength(result, row, 0), len = (size_t)libpq()->getlength(result, row, 1);

    if (answer_number(result, row, 2) != row_sum(space, strlen(space), key, key_len, value, len))
        return row_damaged(remote, space, key, key_len, err);
    *ret_more = fn(user, key, key_len, value, len);
    return 0;
}

static bool change_give(const struct row_change *change, shelf_row_fn *fn, void *user)
{
    return change->removed || fn(user, change_key(change), change->key_len, change->value, change->len);
}

/* Where a tour through the rows of a space is. */
struct tour {
    struct remote *remote;
    const char *space;
    shelf_row_fn *fn;
    void *user;
    struct row_view view; /* changes that are not in the table yet */
    uint32_t at;          /* ... and which of them is next */
    bool more;
};

/* Hands over the changes in front of that key; is the row of that key one of them? */
static bool tour_changes(struct tour *tour, const void *key, size_t key_len)
{
    while (tour->more && tour->at < tour->view.count) {
        const struct row_change *change = tour->view.items[tour->at];
        int order = key ? key_compare(change_key(change), change->key_len, key, key_len) : -1;

        if (order > 0)
            return false;
        tour->more = change_give(change, tour->fn, tour->user);
        tour->at++;
        if (order == 0)
            return true;
    }
    return false;
}

static int tour_part(struct tour *tour, const PGresult *result, int count, size_t *ret_bytes, struct err *err)
{
    for (int i = 0; i < count && tour->more; i++) {
        const char *key = libpq()->getvalue(result, i, 0);
        size_t key_len = (size_t)libpq()->getlength(result, i, 0);
        bool changed = tour_changes(tour, key, key_len);

        *ret_bytes += key_len + (size_t)libpq()->getlength(result, i, 1);
        if (tour->more && !changed &&
            row_give(tour->remote, result, i, tour->space, tour->fn, tour->user, &tour->more, err) < 0)
            return -1;
    }
    return 0;
}

/* The rows come in parts, so that neither memory nor a function that reads on meanwhile is in the way. */
static int tour_run(struct tour *tour, const void *after, size_t after_len, struct err *err)
{
    struct buf last;
    uint64_t part = PART_FIRST;
    int failed = 0, count = 0;
    bool whole = false;

    buf_init(&last);
    buf_add(&last, after, after_len);
    while (!failed && !whole && tour->more) {
        struct given given[] = {given_text(tour->remote->place.name), given_text(tour->space),
                                given_bytes(last.text, last.len), given_number(part)};
        PGresult *result = remote_ask(tour->remote, REMOTE_EACH, given, 4, err);
        size_t bytes = 1;

        failed = result ? 0 : -1;
        count = result ? libpq()->ntuples(result) : 0;
        whole = (uint64_t)count < part;
        if (result)
            failed = tour_part(tour, result, count, &bytes, err);
        buf_reset(&last);
        if (count)
            buf_add(&last, libpq()->getvalue(result, count - 1, 0), (size_t)libpq()->getlength(result, count - 1, 0));
        libpq()->clear(result);
        part = PART_BYTES / (bytes / (count ? (size_t)count : 1) + 1);
        part = part < 1 ? 1 : part > PART_LAST ? PART_LAST : part;
    }
    buf_done(&last);
    if (!failed)
        tour_changes(tour, NULL, 0);
    return failed;
}

static int rows_read(struct remote *remote, const char *space, const void *after, size_t after_len, shelf_row_fn *fn,
                     void *user, struct err *err)
{
    struct tour tour = {.remote = remote, .space = space, .fn = fn, .user = user, .more = true};
    int failed;

    remote->reads++;
    view_make(&tour.view, &remote->under_way, &remote->open, space, after, after_len);
    failed = tour_run(&tour, after, after_len, err);
    view_done(&tour.view);
    remote->reads--;
    return failed;
}

static int remote_each(struct shelf *shelf, const char *space, shelf_row_fn *fn, void *user, struct err *err)
{
    struct remote *remote = remote_of(shelf);

    if (remote_ready(remote, err) < 0 || row_ready(remote, space, 1, 0, err) < 0)
        return -1;
    return rows_read(remote, space, "", 0, fn, user, err);
}

static int remote_each_after(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                             void *user, struct err *err)
{
    struct remote *remote = remote_of(shelf);

    if (remote_ready(remote, err) < 0 || row_ready(remote, space, key_len, 0, err) < 0)
        return -1;
    return rows_read(remote, space, key, key_len, fn, user, err);
}

static int remote_get(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                      void *user, struct err *err)
{
    static const char get[] =
        "SELECT key, value, sum FROM berth_rows WHERE namespace = $1::text AND space = $2::text AND "
        "key = $3::bytea";
    struct remote *remote = remote_of(shelf);
    const struct row_change *change;
    PGresult *result;
    int failed = 0;
    bool more;

    if (remote_ready(remote, err) < 0 || row_ready(remote, space, key_len, 0, err) < 0)
        return -1;
    change = changes_find(&remote->open, space, key, key_len);
    if (!change)
        change = changes_find(&remote->under_way, space, key, key_len);
    remote->reads++;
    if (change) {
        change_give(change, fn, user);
    } else {
        struct given given[] = {given_text(remote->place.name), given_text(space), given_bytes(key, key_len)};

        result = remote_ask(remote, get, given, 3, err);
        failed = !result                         ? -1
                 : libpq()->ntuples(result) == 1 ? row_give(remote, result, 0, space, fn, user, &more, err)
                                                 : 0;
        libpq()->clear(result);
    }
    remote->reads--;
    return failed;
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static void remote_close(struct shelf *shelf)
{
    struct remote *remote = remote_of(shelf);

    if (!remote)
        return;
    writer_free(remote->writer);
    link_close(&remote->reading);
    seat_free(remote->seat);
    changes_done(&remote->open);
    changes_done(&remote->under_way);
    if (remote->news >= 0)
        close(remote->news);
    place_done(&remote->place);
    free(remote);
}

static const struct shelf_kind remote_kind;

void store_reached(struct shelf *shelf, const char *url)
{
    if (shelf && shelf->kind == &remote_kind)
        seat_reached(remote_of(shelf)->seat, url);
}

uint32_t store_replicas(struct shelf *shelf, struct store_replica ret[STORE_REPLICAS_MAX])
{
    return shelf && shelf->kind == &remote_kind ? seat_replicas(remote_of(shelf)->seat, ret) : 0;
}

static const struct shelf_kind remote_kind = {
    .name = "postgresql",
    .put = remote_put,
    .remove = remote_remove,
    .commit = remote_commit,
    .each = remote_each,
    .get = remote_get,
    .broken = remote_broken,
    .close = remote_close,
    .each_after = remote_each_after,
    .commit_start = remote_commit_start,
    .commit_look = remote_commit_look,
    .news = remote_news,
    .may_act = remote_may_act,
    .away = remote_away,
    .misread = remote_misread,
};

/* What the database does not promise is told once, at the start. */
static int doubts_tell(struct remote *remote, const struct store_terms *terms, struct err *err)
{
    PGresult *result =
        remote_ask(remote,
                   "SELECT (current_setting('synchronous_commit') = 'off')::int::bigint,"
                   " (current_setting('fsync') = 'off' OR current_setting('full_page_writes') = 'off')::int::bigint,"
                   " (current_setting('synchronous_commit') IN ('local', 'off') AND"
                   " current_setting('synchronous_standby_names') <> '')::int::bigint",
                   NULL, 0, err);
    static const char *const doubts[] = {
        "synchronous_commit is off there: what was acknowledged within the last second may be lost when the database "
        "crashes",
        "fsync or full_page_writes is off there: a power cut may destroy all of it",
        "its synchronous standbys are not waited for (synchronous_commit): what was acknowledged may be lost when one of "
        "them takes over",
    };
    char line[600];

    for (int i = 0; result && terms && terms->tell && i < 3; i++) {
        if (!answer_number(result, 0, i))
            continue;
        snprintf(line, sizeof line, "%s: %s", remote->place.label, doubts[i]);
        terms->tell(terms->user, line);
    }
    libpq()->clear(result);
    return result ? 0 : -1;
}

/* A namespace without rows, beside a file with some, is a setting that came before the rows; beside what a daemon has left it is one whose rows are
 * gone, or another than before. */
static int empty_check(struct remote *remote, const struct store_terms *terms, struct err *err)
{
    struct given name = given_text(remote->place.name);
    PGresult *result;
    bool empty;

    if (!terms)
        return 0;
    result = remote_ask(remote, "SELECT 1 FROM berth_rows WHERE namespace = $1::text LIMIT 1", &name, 1, err);
    if (!result)
        return -1;
    empty = !libpq()->ntuples(result);
    libpq()->clear(result);
    if (!empty && terms->fresh)
        return err_set(err, "%s: has rows: nothing is begun anew", remote->place.label);
    if (empty && !terms->fresh && terms->file && access(terms->file, F_OK) == 0)
        return err_set(
            err,
            "%s: is empty, but %s is a store: `berth store move %s URI#%s` brings that one there; or start once "
            "with --new, which begins with an empty one",
            remote->place.label, terms->file, terms->file, remote->place.name);
    if (empty && !terms->fresh && terms->file && fence_folder_has(terms->file, terms->traces))
        return err_set(err,
                       "%s: is empty, but there was a store here, as the folder %s shows: set the address and the name "
                       "of before, or " STORE_WHAT_TO_DO,
                       remote->place.label, terms->traces);
    return 0;
}

static int remote_begin(struct remote *remote, const struct store_terms *terms, struct err *err)
{
    if (!*remote->place.name)
        return err_set(err, "%s: lacks a namespace: write it behind a #, as in ...#customer/alice",
                       remote->place.label);
    remote->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (remote->news < 0)
        return err_set(err, "%s: there are no descriptors left", remote->place.label);
    remote->seat = seat_take(&remote->place, terms != NULL, terms, err);
    if (!remote->seat || seat_begin(remote->seat, remote->news, err) < 0)
        return -1;
    remote->reading.known = true;
    if (doubts_tell(remote, terms, err) < 0 || empty_check(remote, terms, err) < 0)
        return -1;
    remote->writer = writer_new(&remote->place, remote->seat, remote->news, err);
    return remote->writer ? 0 : -1;
}

struct shelf *remote_open(const char *uri, const struct store_terms *terms, struct err *err)
{
    struct remote *remote = mem_alloc(sizeof *remote);

    *remote = (struct remote){.shelf = {&remote_kind}, .strict = terms != NULL, .news = -1};
    remote->reading.place = &remote->place;
    changes_init(&remote->open);
    changes_init(&remote->under_way);
    if (place_init(&remote->place, uri, err) == 0 && remote_begin(remote, terms, err) == 0)
        return &remote->shelf;
    remote_close(&remote->shelf);
    return NULL;
}
