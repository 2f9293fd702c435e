/* collector_text.c: what an advertised text says of itself, and what the matchmaker writes into it. */
#include "pool/matchmaker/collector_parts.h"

#include "match/gang/ports.h"
#include "match/pair/residual.h"
#include "pool/matchmaker/limits.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"

#include <math.h>
#include <string.h>

static bool read_attribute(const struct role_env *env, const struct tree *ad, symbol name, struct value *ret)
{
    struct env at = eval_env(env);
    struct scope scope;
    struct eval eval;

    if (!tree_find(ad, tree_root(ad), name))
        return false;
    scope_init(&scope, ad, NULL);
    eval_init(&eval, &at, env->scratch);
    return eval_attribute(&eval, &scope, name, ret);
}

static enum reason read_owner(const struct collector *collector, const struct role_env *env, const struct peer *peer,
                              const struct tree *ad, struct text *ret)
{
    const char *identity = peer->identity ? peer->identity : "";
    size_t len = strlen(identity);
    struct value v;

    if (!read_attribute(env, ad, collector->names[COLLECTOR_OWNER], &v))
        return text_set(ret, identity, len) ? REASON_OK : REASON_LIMIT;
    if (v.type != VALUE_STRING)
        return REASON_INVALID;
    if (!peer->any && !MUTANT(OWNER_UNCHECKED) && (v.len != len || (len && memcmp(v.u.string, identity, len) != 0)))
        return REASON_IDENTITY;
    return text_set(ret, v.len ? v.u.string : "", v.len) ? REASON_OK : REASON_LIMIT;
}

/* An offer is one unit, whatever its Count. */
static enum reason read_units(const struct role_env *env, const struct tree *ad, bool request, int64_t *ret)
{
    struct value v;

    *ret = 1;
    if (!read_attribute(env, ad, NAME_COUNT, &v))
        return REASON_OK;
    if (v.type != VALUE_INTEGER || v.u.integer < 0)
        return REASON_INVALID;
    if (v.u.integer > COLLECTOR_COUNT_MAX)
        return REASON_LIMIT;
    *ret = request || v.u.integer == 0 ? v.u.integer : 1;
    return REASON_OK;
}

static enum reason read_lifetime(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                                 int64_t *ret)
{
    double seconds;
    struct value v;

    *ret = collector->spans->lifetime;
    if (!read_attribute(env, ad, collector->names[COLLECTOR_LIFETIME], &v))
        return REASON_OK;
    if (v.type == VALUE_INTEGER || v.type == VALUE_RELTIME)
        seconds = (double)v.u.integer;
    else if (v.type == VALUE_REAL)
        seconds = v.u.real;
    else
        return REASON_INVALID;
    if (!(seconds > 0))
        return REASON_INVALID;
    seconds = fmin(seconds, (double)(COLLECTOR_LIFETIME_MAX / SECOND));
    *ret = (int64_t)(seconds * (double)SECOND);
    if (*ret < COLLECTOR_LIFETIME_MIN)
        *ret = COLLECTOR_LIFETIME_MIN;
    return REASON_OK;
}

/* Names that the matchmaker writes, gives or reckons by, as whoever reads them believes: a port that said one would hide the ad's own from whoever
 * docks there, and a root could go by another's name. */
static bool ports_pretend(const struct collector *collector, const struct ports *ports)
{
    static const enum collector_name names[] = {
        COLLECTOR_OWNER,        COLLECTOR_IDENTITY,    COLLECTOR_RECEIVED,  COLLECTOR_GROUP,
        COLLECTOR_LIMITS,       COLLECTOR_REMOTE_USER, COLLECTOR_USER_PRIO, COLLECTOR_REMOTE_USER_PRIO,
        COLLECTOR_REMOTE_GROUP, COLLECTOR_PLANNED,     COLLECTOR_USAGE};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ports_say(ports, collector->names[names[i]]))
            return true;
    return false;
}

/* Are the ad's ports in order, with no more members than a superior can be told of? */
static enum reason check_ports(const struct collector *collector, const struct tree *ad)
{
    enum reason reason = REASON_OK;
    struct ports ports;
    uint64_t members = 0;

    if (!tree_find(ad, tree_root(ad), NAME_PORTS))
        return REASON_OK;
    if (ports_read(&ports, ad, NULL) < 0)
        return REASON_INVALID;
    for (uint32_t i = 0; i < ports.count; i++)
        members += ports.items[i].max;
    if (ports_pretend(collector, &ports))
        reason = REASON_INVALID;
    else if (members > EDGES_MAX)
        reason = REASON_LIMIT;
    ports_done(&ports);
    return reason;
}

/* A name that is too long for a user counts as none. */
static void read_remote(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                        enum collector_name name, struct text *ret)
{
    struct value v;

    text_set(ret, "", 0);
    if (read_attribute(env, ad, collector->names[name], &v) && v.type == VALUE_STRING && v.len &&
        !text_set(ret, v.u.string, v.len))
        text_set(ret, "", 0);
}

/* A text attribute that the ad may have; false when it is something else. */
static bool read_short(const struct role_env *env, const struct tree *ad, symbol name, struct text *ret)
{
    struct value v;

    if (!read_attribute(env, ad, name, &v))
        return text_set(ret, "", 0);
    return v.type == VALUE_STRING && text_set(ret, v.len ? v.u.string : "", v.len);
}

/* Reads the group that the ad is charged to, and checks its limits. */
static enum reason read_shares(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                               struct text *ret_group)
{
    struct limits_asked asked;
    struct text limits;

    if (!read_short(env, ad, collector->names[COLLECTOR_GROUP], ret_group) ||
        !read_short(env, ad, collector->names[COLLECTOR_LIMITS], &limits) ||
        limits_read(limits.bytes, strlen(limits.bytes), &asked, NULL) < 0)
        return REASON_INVALID;
    return REASON_OK;
}

/* A number of the ad's own; 0 where it has none. */
static double read_number(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                          enum collector_name name)
{
    struct value v;

    if (!read_attribute(env, ad, collector->names[name], &v))
        return 0;
    return v.type == VALUE_INTEGER ? (double)v.u.integer : v.type == VALUE_REAL && isfinite(v.u.real) ? v.u.real : 0;
}

/* Reads the request's place among those of its user. Nobody else's waits for it, so the ad may say what it likes. */
static void read_turn(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                      struct engine_turn *ret)
{
    static const enum collector_name names[] = {COLLECTOR_SUBMITTED, COLLECTOR_FIRST_JOB};
    int64_t *const numbers[] = {&ret->submitted, &ret->number};
    struct value v;

    ret->priority = read_number(collector, env, ad, COLLECTOR_PRIORITY);
    if (ret->priority == 0)
        ret->priority = read_number(collector, env, ad, COLLECTOR_JOB_PRIO);
    for (int i = 0; i < 2; i++)
        if (read_attribute(env, ad, collector->names[names[i]], &v) && v.type == VALUE_INTEGER)
            *numbers[i] = v.u.integer;
}

/* May this ad be advertised at all? */
static enum reason check_form(const struct collector *collector, const struct tree *ad)
{
    if (!ad || !ad->cell_count || ad->symbols != collector->symbols || !tree_is_ad(ad))
        return REASON_INVALID;
    if (ad->cell_count > COLLECTOR_CELLS_MAX)
        return REASON_LIMIT;
    for (int i = COLLECTOR_USER_PRIO; i <= COLLECTOR_USAGE; i++)
        if (tree_find(ad, tree_root(ad), collector->names[i]))
            return REASON_INVALID;
    return residual_check(ad, NULL) == 0 ? check_ports(collector, ad) : REASON_INVALID;
}

enum reason text_check(const struct collector *collector, const struct role_env *env, const struct peer *peer,
                       const struct advertise *advertise, struct text_terms *ret)
{
    struct arena_mark mark = arena_mark(env->scratch);
    enum reason reason = check_form(collector, advertise->ad);

    if (reason == REASON_OK && advertise->seen.incarnation == collector->incarnation &&
        advertise->seen.last > COLLECTOR_NUMBER_MAX)
        reason = REASON_INVALID;
    if (reason == REASON_OK)
        reason = read_owner(collector, env, peer, advertise->ad, &ret->owner);
    if (reason == REASON_OK)
        reason = read_units(env, advertise->ad, advertise->request, &ret->units);
    if (reason == REASON_OK)
        reason = read_lifetime(collector, env, advertise->ad, &ret->lifetime);
    if (reason == REASON_OK)
        reason = read_shares(collector, env, advertise->ad, &ret->group);
    if (reason == REASON_OK) {
        read_remote(collector, env, advertise->ad, COLLECTOR_REMOTE_USER, &ret->remote);
        read_remote(collector, env, advertise->ad, COLLECTOR_REMOTE_GROUP, &ret->remote_group);
        if (advertise->request)
            read_turn(collector, env, advertise->ad, &ret->turn);
    }
    arena_rewind(env->scratch, mark);
    return reason;
}

static bool is_written_by_us(const struct collector *collector, symbol name)
{
    return symbol_same(name, collector->names[COLLECTOR_OWNER]) ||
           symbol_same(name, collector->names[COLLECTOR_IDENTITY]) ||
           symbol_same(name, collector->names[COLLECTOR_RECEIVED]);
}

static bool string_is(const struct tree *ad, symbol name, const char *text)
{
    const struct expr *e = tree_find(ad, tree_root(ad), name);

    return e && e->kind == EXPR_STRING && e->u.run.count == strlen(text) &&
           memcmp(tree_string(ad, e), text, e->u.run.count) == 0;
}

/* Does the text say the same as the one before? Then that one stays, which costs the engine nothing. */
bool text_is_same(const struct collector *collector, const struct tree *before, const struct tree *ad,
                  const char *identity, const struct text_terms *terms)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root), *old = tree_root(before), *found;
    uint32_t count = 0;

    if (before->dialect != ad->dialect)
        return false;
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (is_written_by_us(collector, parts[i].label))
            continue;
        found = tree_find(before, old, parts[i].label);
        if (!found || !tree_equal(before, found, ad, &parts[i]))
            return false;
        count++;
    }
    return old->u.run.count == count + 3 && string_is(before, collector->names[COLLECTOR_OWNER], terms->owner.bytes) &&
           string_is(before, collector->names[COLLECTOR_IDENTITY], identity);
}

/* The ad with the attributes that the matchmaker adds: literals, so that they mean the same to everybody. */
struct tree *text_write(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                        const char *identity, const struct text_terms *terms)
{
    struct ad_setting settings[] = {
        {collector->names[COLLECTOR_OWNER], value_string(terms->owner.bytes, strlen(terms->owner.bytes))},
        {collector->names[COLLECTOR_IDENTITY], value_string(identity, strlen(identity))},
        {collector->names[COLLECTOR_RECEIVED], value_integer(wall_seconds(env->wall))},
    };

    return ad_set(ad, settings, sizeof settings / sizeof *settings, NULL);
}
