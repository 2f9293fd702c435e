/* remote_schema.c: the tables of stores in a database, and how older ones become those of today.
 *
 * The steps are taken one a transaction, by one process at a time. What comes later adds to them, as in a file (schema.c). */
#include "store/remote_parts.h"

#include <inttypes.h>

/* One statement each. */
static const struct step {
    int version;
    const char *sql;
} steps[] = {
    {1,
     "CREATE TABLE berth_holders (namespace text COLLATE \"C\" PRIMARY KEY, epoch bigint NOT NULL, renewals bigint NOT "
     "NULL, holder text NOT NULL, who text NOT NULL, until timestamptz NOT NULL, UNIQUE (namespace, epoch))"},
    {1,
     "CREATE TABLE berth_rows (namespace text COLLATE \"C\" NOT NULL, space text COLLATE \"C\" NOT NULL, key bytea NOT "
     "NULL, value bytea NOT NULL, sum bigint NOT NULL, PRIMARY KEY (namespace, space, key))"},
    {1,
     "ALTER TABLE berth_rows ALTER COLUMN value SET STORAGE EXTERNAL"}, /* to compress it would cost more than it saves */
    {2, "CREATE TABLE berth_commits (namespace text COLLATE \"C\" PRIMARY KEY, commits bigint NOT NULL)"},
    {3,
     "CREATE TABLE berth_replicas (namespace text COLLATE \"C\" NOT NULL, holder text NOT NULL, who text NOT NULL, url "
     "text NOT NULL, leads bigint NOT NULL, since bigint NOT NULL, seen timestamptz NOT NULL, PRIMARY KEY (namespace, "
     "holder))"},
};
#define STEPS (sizeof steps / sizeof *steps)
static const int version_now = 3;

/* -1 and `err`, or the version: 0 where there are no tables. */
static int version_read(struct link *link, int *ret_version, struct err *err)
{
    PGresult *result =
        link_ask(link, "SELECT (to_regclass('berth_schema') IS NOT NULL)::int::bigint", NULL, 0, REMOTE_PATIENCE, err);
    bool there = result && answer_number(result, 0, 0);
    int failed = result ? 0 : -1;

    libpq()->clear(result);
    *ret_version = 0;
    if (failed || !there)
        return failed;
    result =
        link_ask(link, "SELECT coalesce(max(version), 0)::bigint FROM berth_schema", NULL, 0, REMOTE_PATIENCE, err);
    if (!result)
        return -1;
    *ret_version = (int)answer_number(result, 0, 0);
    libpq()->clear(result);
    if (*ret_version <= version_now)
        return 0;
    link->away = false;
    return err_set(err, "%s: was made by a newer berth: its schema is of version %d, this berth knows up to %d",
                   link->place->label, *ret_version, version_now);
}

int remote_look(struct link *link, struct err *err)
{
    int version;

    if (version_read(link, &version, err) < 0)
        return -1;
    return version ? 0 : err_set(err, "%s: holds no store yet", link->place->label);
}

static int steps_take(struct link *link, int version, struct err *err)
{
    char sql[120];

    if (!version && link_run(link, "CREATE TABLE IF NOT EXISTS berth_schema (version bigint NOT NULL)", err) < 0)
        return -1;
    for (size_t i = 0; i < STEPS; i++)
        if (steps[i].version > version && link_run(link, steps[i].sql, err) < 0)
            return err_context(err, "to version %d", steps[i].version);
    snprintf(sql, sizeof sql, "INSERT INTO berth_schema VALUES (%d)", version_now);
    return link_run(link, sql, err);
}

int remote_migrate(struct link *link, struct err *err)
{
    int version;

    if (version_read(link, &version, err) < 0)
        return -1;
    if (version == version_now)
        return 0;
    if (link_run(link, "BEGIN", err) < 0 || link_run(link, "SELECT pg_advisory_xact_lock(4787290921)", err) < 0 ||
        version_read(link, &version, err) < 0)
        return -1;
    if (version < version_now && steps_take(link, version, err) < 0)
        return -1;
    return link_run(link, "COMMIT", err);
}
