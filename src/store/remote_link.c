/* remote_link.c: a connection to the database, and questions that are answered by a certain time or not at all.
 *
 * The connection never waits by itself: what is sent and what comes is waited for here, with poll, for a while at most. Who waits in a thread can be
 * told to stop. After a failure the connection is closed: what it had under way is not known. */
#include "store/remote_parts.h"

#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define SLICE_MS 100 /* between two looks at whether to stop */
#define SERVER_MIN 120000

static const char settle[] =
    "SELECT pg_backend_pid()::bigint,"
    " set_config('idle_in_transaction_session_timeout', '2000', false)," /* below the lease: who was stopped in between keeps nobody waiting */
    " set_config('lock_timeout', '2000', false),"
    " set_config('statement_timeout', '0', false),"
    /* every row is found by its key: what the database knows of how many there are is old, and its guesses of what is quicker wrong */
    " set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),"
    " set_config('enable_mergejoin', 'off', false), set_config('jit', 'off', false),"
    " set_config('default_transaction_isolation', 'read committed', false)";

static void be_quiet(void *user, const char *message)
{
    (void)user, (void)message;
}

uint64_t answer_number(const PGresult *result, int row, int column)
{
    const unsigned char *bytes = (const unsigned char *)libpq()->getvalue(result, row, column);
    uint64_t number = 0;

    for (int i = 0; i < libpq()->getlength(result, row, column); i++)
        number = number << 8 | bytes[i];
    return number;
}

const char *answer_text(const PGresult *result, int row, int column)
{
    return libpq()->getvalue(result, row, column);
}

/* ------------------------------------------------------------------------------------------------------------ failures */

/* Can what failed so go well later? Not what is wrong with the question, the rights or the tables. */
static bool is_away(const char *state)
{
    static const char *const never[] = {"22", "23", "28", "3D", "3F", "42", "0A"};

    for (size_t i = 0; state && i < sizeof never / sizeof *never; i++)
        if (!strncmp(state, never[i], 2))
            return false;
    return true;
}

int link_fail(struct link *link, const char *what, const PGresult *result, struct err *err)
{
    const char *said = result ? libpq()->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *state = result ? libpq()->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    link->away = is_away(state);
    link->fenced = state && !strcmp(state, "22012"); /* division_by_zero: the seat was counted, and is not ours */
    if (!said && link->conn)
        said = libpq()->errorMessage(link->conn);
    if (!said || !*said)
        said = "there was no answer";
    err_set(err, "%s: %s: %.*s", link->place->label, what, (int)strcspn(said, "\n"), said);
    link_close(link);
    return -1;
}

void link_close(struct link *link)
{
    if (link->conn)
        libpq()->finish(link->conn);
    link->conn = NULL;
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

static bool link_stops(const struct link *link)
{
    return (link->stop && atomic_load(link->stop)) ||
           (link->wait && link->wait->stops && link->wait->stops(link->wait->user));
}

/* Waits until the connection can be read (or written, if something is left to send). */
static bool link_poll(const struct link *link, bool sends, int64_t until)
{
    struct pollfd one = {.fd = libpq()->socket(link->conn), .events = (short)(POLLIN | (sends ? POLLOUT : 0))};
    int64_t now;

    while (one.fd >= 0 && (now = clock_now()) < until && !link_stops(link)) {
        int64_t left = (until - now) / MILLISECOND + 1;
        int ready = poll(&one, 1, left < SLICE_MS ? (int)left : SLICE_MS);

        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0;
    }
    return false;
}

bool link_flush(struct link *link, int64_t until)
{
    int left;

    while ((left = libpq()->flush(link->conn)) > 0)
        if (!link_poll(link, true, until) || !libpq()->consumeInput(link->conn))
            return false;
    return left == 0;
}

bool link_wait(struct link *link, int64_t until)
{
    while (libpq()->isBusy(link->conn)) {
        int left = libpq()->flush(link->conn);

        if (left < 0 || !link_poll(link, left > 0, until) || !libpq()->consumeInput(link->conn))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- asking */

/* What is given, as libpq takes it. */
struct listed {
    const char *values[GIVEN_MAX];
    int lengths[GIVEN_MAX], formats[GIVEN_MAX];
    unsigned char numbers[GIVEN_MAX][8];
};

static void list_given(struct listed *listed, const struct given *given, int count)
{
    for (int i = 0; i < count; i++) {
        listed->formats[i] = 1;
        listed->values[i] = given[i].bytes;
        listed->lengths[i] = (int)given[i].len;
        if (given[i].bytes)
            continue;
        for (int j = 0; j < 8; j++)
            listed->numbers[i][j] = (unsigned char)(given[i].number >> (56 - 8 * j));
        listed->values[i] = (const char *)listed->numbers[i];
        listed->lengths[i] = 8;
    }
}

bool link_prepare(struct link *link, const char *name, const char *sql)
{
    return libpq()->sendPrepare(link->conn, name, sql, 0, NULL) == 1;
}

bool link_send(struct link *link, const char *name, const struct given *given, int count)
{
    struct listed listed;

    list_given(&listed, given, count);
    return libpq()->sendQueryPrepared(link->conn, name, count, listed.values, listed.lengths, listed.formats, 1) == 1;
}

PGresult *link_ask(struct link *link, const char *sql, const struct given *given, int count, int64_t patience,
                   struct err *err)
{
    int64_t until = clock_now() + patience;
    PGresult *result = NULL, *more;
    struct listed listed;
    ExecStatusType status;

    list_given(&listed, given, count);
    if (!link->conn ||
        libpq()->sendQueryParams(link->conn, sql, count, NULL, listed.values, listed.lengths, listed.formats, 1) != 1 ||
        !link_flush(link, until) || !link_wait(link, until) || !(result = libpq()->getResult(link->conn))) {
        link_fail(link, "asking", NULL, err);
        return NULL;
    }
    status = libpq()->resultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        link_fail(link, "asking", result, err);
        libpq()->clear(result);
        return NULL;
    }
    while (link_wait(link, until) && (more = libpq()->getResult(link->conn)))
        libpq()->clear(more);
    return result;
}

int link_run(struct link *link, const char *sql, struct err *err)
{
    PGresult *result = link_ask(link, sql, NULL, 0, REMOTE_PATIENCE, err);

    if (result)
        libpq()->clear(result);
    return result ? 0 : -1;
}

/* ---------------------------------------------------------------------------------------------------------- connecting */

/* By what the others see of us in pg_stat_activity: whoever takes the seat ends what the holder before has under way. */
static void name_print(const struct place *place, char *ret, size_t room)
{
    snprintf(ret, room, "berth %.36s %016llx", place->name,
             (unsigned long long)row_sum("", 0, place->name, strlen(place->name), "", 0));
}

static int link_settle(struct link *link, struct err *err)
{
    PGresult *result;
    bool direct;

    if (libpq()->serverVersion(link->conn) < SERVER_MIN) {
        link_close(link);
        link->away = false;
        return err_set(err, "%s: PostgreSQL 12 or later is needed", link->place->label);
    }
    result = link_ask(link, settle, NULL, 0, REMOTE_PATIENCE, err);
    if (!result)
        return -1;
    direct = answer_number(result, 0, 0) == (uint64_t)libpq()->backendPID(link->conn);
    libpq()->clear(result);
    if (direct)
        return 0;
    link_close(link);
    link->away = false;
    return err_set(err,
                   "%s: is reached through a pooler, as PgBouncer: a store needs sessions of its own: give the "
                   "address of the database itself",
                   link->place->label);
}

int link_open(struct link *link, const struct place *place, struct err *err)
{
    char name[64];
    /* of two values of a parameter the later counts: those before dbname may be others in the address, those behind it may not */
    const char *const keywords[] = {
        "connect_timeout",      "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
        "target_session_attrs", "dbname",          "client_encoding",     "application_name", NULL};
    const char *const values[] = {"2", "5", "2", "3", "5000", "read-write", place->uri, "UTF8", name, NULL};

    link_close(link);
    link->place = place;
    link->fenced = false;
    name_print(place, name, sizeof name);
    link->conn = libpq()->connectdbParams(keywords, values, 1);
    if (!link->conn || libpq()->status(link->conn) != CONNECTION_OK) {
        link_fail(link, "cannot be reached", NULL, err);
        link->away = link->known || libpq()->pingParams(keywords, values, 1) != PQPING_OK;
        return -1;
    }
    libpq()->setNoticeProcessor(link->conn, be_quiet, NULL);
    if (libpq()->setnonblocking(link->conn, 1) < 0)
        return link_fail(link, "cannot be reached", NULL, err);
    if (link_settle(link, err) < 0)
        return -1;
    link->known = true;
    return 0;
}
