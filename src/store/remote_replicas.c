/* remote_replicas.c: the processes that hold the seat of a namespace or wait for it: each tells of itself, and sees the others.
 *
 * It is for people, and for those who look for the holder; who holds the seat is decided by its row alone (remote_seat.c). A row that was not told
 * again for a while is of a process that is gone. */
#include "store/remote_parts.h"

#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <stdio.h>

#define TELL_SPAN SECOND
#define TELL_PAUSE (10 * SECOND) /* after it could not be told: neither a lease nor a wait for one is to suffer */
#define TELL_PATIENCE (500 * MILLISECOND) /* a holder renews its lease by the same connection */

static const char tell[] =
    "WITH gone AS (DELETE FROM berth_replicas WHERE namespace = $1::text AND holder <> $2::text AND abs(extract(epoch FROM "
    "clock_timestamp() - seen)) > 10)"
    " INSERT INTO berth_replicas VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint,"
    " extract(epoch FROM clock_timestamp())::bigint, clock_timestamp())"
    " ON CONFLICT (namespace, holder) DO UPDATE SET seen = excluded.seen, url = excluded.url, leads = excluded.leads,"
    " since = CASE WHEN berth_replicas.leads = excluded.leads THEN berth_replicas.since ELSE excluded.since END";
static const char see[] =
    "SELECT r.who, r.url, (r.holder = h.holder)::int::bigint, r.since FROM berth_replicas r JOIN berth_holders h USING "
    "(namespace)"
    " WHERE namespace = $1::text AND (r.holder = h.holder OR (r.leads = 0 AND abs(extract(epoch FROM clock_timestamp() - r.seen)) <= 10))"
    " ORDER BY (r.holder = h.holder) DESC, r.since, r.holder LIMIT $2::bigint";
static const char leave[] = "DELETE FROM berth_replicas WHERE namespace = $1::text AND holder = $2::text";

static void replicas_take(struct replicas *replicas, const PGresult *result)
{
    replicas->count = 0;
    for (int i = 0; i < libpq()->ntuples(result) && replicas->count < STORE_REPLICAS_MAX; i++) {
        struct store_replica *item = &replicas->items[replicas->count++];

        snprintf(item->who, sizeof item->who, "%s", answer_text(result, i, 0));
        snprintf(item->url, sizeof item->url, "%s", answer_text(result, i, 1));
        item->leads = answer_number(result, i, 2);
        item->since = (int64_t)answer_number(result, i, 3);
    }
}

int replicas_meet(struct replicas *replicas, struct link *link, const char *holder, const char *who, bool leads,
                  struct err *err)
{
    struct given given[] = {given_text(link->place->name), given_text(holder), given_text(who),
                            given_text(replicas->url ? replicas->url : ""), given_number(leads)};
    int64_t now = clock_now();
    PGresult *result;

    if (!replicas->url || (replicas->told && now < replicas->told + TELL_SPAN))
        return 0;
    replicas->told = now + TELL_PAUSE;
    result = link_ask(link, tell, given, 5, TELL_PATIENCE, err);
    if (!result)
        return -1;
    libpq()->clear(result);
    given[1] = given_number(STORE_REPLICAS_MAX);
    result = link_ask(link, see, given, 2, TELL_PATIENCE, err);
    if (!result)
        return -1;
    replicas->told = now;
    replicas_take(replicas, result);
    libpq()->clear(result);
    return 0;
}

void replicas_leave(struct replicas *replicas, struct link *link, const char *holder)
{
    struct given given[] = {given_text(link->place->name), given_text(holder)};
    struct err ignored;

    if (replicas->url && replicas->told && link->conn)
        libpq()->clear(link_ask(link, leave, given, 2, TELL_PATIENCE, &ignored));
}
