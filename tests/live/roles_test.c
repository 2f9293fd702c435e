/* roles_test.c: which role may call which route of the matchmaker: written here by hand, and not taken from the table. */
#include "live/auth/disabled.h"
#include "live/auth/roles.h"
#include "live/auth/token.h"
#include "live/matchmakerd/routes.h"
#include "pool/protocol/account.h"

#include "common/tap.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* administrator, operator, customer, person, owner, machine, accountant, reader */
static const char *const role_letters[] = {"A administrator", "O operator", "C customer",   "P person",
                                           "W owner",         "M machine",  "T accountant", "R reader"};

#define ALL "AOCPWMTR"
#define AGENTS "AOCPWM" /* who has something of its own in the pool */
#define JOBS "AOCP"

static const struct {
    const char *route, *roles;
} expected[] = {
    /* looking */
    {"ads.get", ALL},
    {"ads.list", ALL},
    {"names", ALL},
    {"ads.matches", ALL},
    {"ads.why", ALL},
    {"machines.list", ALL},
    {"machines.get", ALL},
    {"machines.forget", "AOCPWM"},
    {"reservations.list", ALL},
    {"reservations.get", ALL},
    {"match", ALL},
    {"eval", ALL},
    {"functions", ALL},
    {"lint", ALL},         /* says what is wrong with a text; the pool takes no part */
    {"ends.tell", AGENTS}, /* of one's own queue */
    {"ends.list", AGENTS},
    {"policy.get", ALL},
    {"policy.try", ALL},
    {"matches.list", ALL},
    {"claims.list", ALL},
    {"users.list", ALL},
    {"users.get", ALL},
    {"users.why", ALL},
    {"users.rights", ALL},
    {"shares.get", ALL},
    {"groups.list", ALL},
    {"limits.list", ALL},
    {"agents.list", ALL},
    {"agents.get", ALL},
    {"commands.list", ALL},
    {"commands.get", ALL},
    {"overview", ALL},
    {"reasons", ALL},
    {"series", ALL},
    {"watch", ALL},
    {"status", ALL},
    {"files.list", ALL},
    {"files.get", ALL},
    {"config.get", ALL},
    {"config.list", ALL},
    {"config.past", ALL},
    {"config.revision", ALL},
    {"config.option", ALL},
    {"whoami", ALL},
    {"metrics", ALL},
    {"usage", ALL},
    {"tokens.renew", ALL},    /* one's own */
    {"tokens.exchange", ALL}, /* another issuer's, for one of the pool that is no wider */
    /* what only administrators see */
    {"audit.list", "AOT"},
    {"tokens.list", "AOT"},
    /* things of one's own */
    {"ads.put", AGENTS},
    {"ads.delete", AGENTS},
    {"ads.batch", AGENTS},
    {"pull", AGENTS},
    {"claims.report", AGENTS},
    {"agents.put", AGENTS},
    {"agents.policy", AGENTS},
    {"agents.command", AGENTS},
    {"commands.answer", AGENTS},
    {"events", AGENTS},
    {"relay", AGENTS},
    {"relay.answer", AGENTS},
    {"files.put", AGENTS},
    {"files.keep", AGENTS},
    {"files.delete", AGENTS},
    {"replicas.add", AGENTS},
    {"replicas.delete", AGENTS},
    /* jobs */
    {"desks.list", JOBS},
    {"desk.get", JOBS},
    {"desk.post", JOBS},
    {"desk.put", JOBS},
    /* administration */
    {"policy.put", "AO"},
    {"shares.put", "AO"},
    {"config.put", "AO"},
    {"config.put.option", "AO"},
    {"config.delete", "AO"},
    {"config.back", "AO"},
    {"users.put", "AO"},
    {"users.disable", "AO"},
    {"users.enable", "AO"},
    {"tokens.create", "AO"},
    {"tokens.revoke", "AO"},
    {"links.create", "AO"},
    {"codes.create", "AO"},
    {"tokens.lend", "A"},
    {"keys.rotate", "A"},
    /* open to everybody, with a token or without */
    {"keys", ALL},
    {"join", ALL},
    {"session", ALL},
    {"signin", ALL},
    {"signin.callback", ALL},
    {"root", ALL},
    {"page", ALL},
    {"page.asset", ALL},
    {"openapi", ALL},
    {"healthz", ALL},
    {"readyz", ALL},
};

static const char *expected_roles(const char *route)
{
    for (size_t i = 0; i < COUNT(expected); i++)
        if (!strcmp(expected[i].route, route))
            return expected[i].roles;
    return NULL;
}

static void check_routes(void)
{
    for (size_t i = 0; i < matchmakerd_routes.count; i++) {
        const struct route *route = &matchmakerd_routes.routes[i];
        const char *may = expected_roles(route->id);
        char got[16] = "";

        for (size_t r = 0; r < COUNT(role_letters); r++) {
            const struct role_row *role = role_named(role_letters[r] + 2, strlen(role_letters[r] + 2));

            if (role && (route->scope == SCOPE_NONE || role->scope & route->scope))
                got[strlen(got)] = role_letters[r][0];
        }
        if (!tap_ok(may && !strcmp(may, got), "%s is for those roles alone that it is meant for", route->id))
            tap_diag("expected %s, got %s", may ? may : "(the test does not know this route)", got);
    }
}

static void check_names(void)
{
    size_t count = 0;

    for (const struct role_row *role = roles; role->name; role++, count++)
        tap_ok(*role->who && *role->may && role_of(role->scope, NULL), "%s is described", role->name);
    tap_ok(count == COUNT(role_letters), "there are as many roles as this test knows");
    tap_ok(!role_named("Reader", 6) && !role_named("read", 4) && !role_named("", 0), "a role is named exactly");
    tap_ok(!strcmp(role_of(ROLE_MACHINE, "machine/heron")->name, "machine") &&
               !strcmp(role_of(ROLE_MACHINE, "bob")->name, "owner") &&
               !strcmp(role_of(ROLE_MACHINE, "machines")->name, "owner"),
           "a machine and its owner have the same scopes, and are told apart by their names");
    tap_ok(!role_of(SCOPE_AD_READ, "bob"), "scopes that are no role's have no name");
    tap_ok(!(ROLE_OPERATOR & (SCOPE_ADMIN | SCOPE_SERVE)), "an operator is no administrator, and serves nobody");
    for (int i = 0; i < SCOPE_COUNT; i++)
        tap_ok(scope_means((enum scope_number)i) != NULL, "scope %d is described", i);
}

/* Whom a name in the book of disabled users shuts out, by both ways to ask. */
static void check_disabled(void)
{
    static const struct {
        const char *name, *identity;
        bool covered;
    } rows[] = {
        {"alice", "alice", true},
        {"alice", "alice/laptop", true},
        {"alice", "alice2", false},
        {"alice", "Alice", false},
        {"alice", "al", false},
        {"alice", "bob/alice", false},
        {"idp:alice", "idp:alice", true},
        {"idp:alice", "idp:alice/laptop", true},
        {"idp:alice", "physics/idp:alice", true},
        {"idp:alice", "physics/idp:alice/laptop", true},
        {"idp:alice", "physics/idp:alice2", false},
        {"idp:alice", "physics/xidp:alice", false},
        {"idp:alice", "idp:bob", false},
        {"idp:alice", "alice", false},
        {"physics", "physics/idp:alice", true},
        {"machine/heron", "machine/heron", true},
        {"machine/heron", "machine/heron2", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct disabled_entry entry = {.at = 0};
        size_t len = strlen(rows[i].identity);
        struct disabled book;

        disabled_init(&book, 1);
        disabled_set(&book, rows[i].name, strlen(rows[i].name), &entry);
        tap_ok((disabled_find(&book, rows[i].identity, len) != NULL) == rows[i].covered &&
                   identity_is_of(rows[i].identity, len, rows[i].name) == rows[i].covered,
               "%s %s %s", rows[i].name, rows[i].covered ? "is also" : "is not", rows[i].identity);
        disabled_done(&book);
    }
}

/* What an account of a machine may be called in the pool: nothing that somebody else is. */
static void check_accounts(void)
{
    static const char *const good[] = {"alice", "alice@lab", "a.b-c_d", "uid", "uid.x", "uid.", "machines", "Alice"};
    static const char *const bad[] = {"",         "machine", "matchmaker", "machine/heron", "alice/x", "idp:alice",
                                      "uid.1001", "al ice",  "..",         "al\nice",       "al\\ice"};

    for (size_t i = 0; i < COUNT(good); i++)
        tap_ok(unix_account_valid(good[i]), "a user may be called %s", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        tap_ok(!unix_account_valid(bad[i]), "name %zu is nobody's account", i);
}

int main(void)
{
    check_accounts();
    check_disabled();
    check_routes();
    check_names();
    return tap_done();
}
