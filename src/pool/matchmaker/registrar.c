/* registrar.c: which claims there are, how much each user has used, and who is served first. */
#include "pool/matchmaker/registrar.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/ticket.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JUMP_LEAST (10 * SECOND) /* a jump of the wall clock between two steps; less is drift */

void registrar_init(struct registrar *registrar, const struct spans *spans, struct engine *engine,
                    struct accountant *accountant, struct timers *timers, uint32_t timer_claim, uint32_t timer_write,
                    uint32_t timer_book, uint64_t seed)
{
    *registrar = (struct registrar){.spans = spans,
                                    .engine = engine,
                                    .accountant = accountant,
                                    .timers = timers,
                                    .timer_claim = timer_claim,
                                    .timer_write = timer_write,
                                    .timer_book = timer_book,
                                    .free = NOBODY,
                                    .learns_until = INT64_MIN,
                                    .priced = INT64_MIN,
                                    .written = INT64_MIN,
                                    .book_next = INT64_MAX};
    groups_init(&registrar->groups, engine);
    limits_init(&registrar->limits, engine, seed);
    map_init(&registrar->claims, seed);
    map_init(&registrar->gangs, seed);
    map_init(&registrar->past, seed);
    map_init(&registrar->rows, seed);
    map_init(&registrar->tallies, seed);
    usage_book_init(&registrar->book, seed);
}

void registrar_done(struct registrar *registrar)
{
    if (!registrar)
        return;
    map_done(&registrar->claims);
    map_done(&registrar->gangs);
    map_done(&registrar->past);
    map_done(&registrar->rows);
    for (uint32_t i = 0; i < registrar->count; i++) {
        free(registrar->active[i].holdings);
        free(registrar->active[i].asked);
        free(registrar->active[i].tally);
    }
    registrar_book_done(registrar);
    for (uint32_t i = 0; i < registrar->history_count; i++)
        free(registrar->history[i].user);
    groups_done(&registrar->groups);
    limits_done(&registrar->limits);
    free(registrar->active);
    free(registrar->history);
    free(registrar->shares);
}

/* Usage decays with the time that has passed, not with jumps of the wall clock: else a clock that is ahead for a moment
 * would forgive all usage, and leave stamps from which nothing decays until that date has come. */
void registrar_clock(struct registrar *registrar, const struct role_env *env)
{
    int64_t apart = env->wall - env->now, jump = apart - registrar->apart;

    if (registrar->clocked && (jump > JUMP_LEAST || jump < -JUMP_LEAST))
        registrar->jumped += jump / SECOND;
    registrar->clocked = true;
    registrar->apart = apart;
}

/* The present second, as usage counts it. */
static int64_t seconds_of(const struct registrar *registrar, const struct role_env *env)
{
    return registrar_time(registrar, wall_seconds(env->wall));
}

/* ----------------------------------------------------------------------------------------------------------- shares */

static struct share *share_of(struct registrar *registrar, uint32_t user)
{
    if (user >= registrar->share_count) {
        uint32_t count = user + user / 2 + 16;

        registrar->shares = mem_grow(registrar->shares, count * sizeof *registrar->shares);
        memset(registrar->shares + registrar->share_count, 0,
               (count - registrar->share_count) * sizeof *registrar->shares);
        registrar->share_count = count;
    }
    return &registrar->shares[user];
}

double registrar_priority(const struct registrar *registrar, uint32_t user, int64_t seconds)
{
    double usage = fmax(ACCOUNTANT_LEAST, accountant_usage(registrar->accountant, user, seconds));
    double factor = accountant_priority(registrar->accountant, user, seconds) / usage;
    int64_t weight = user < registrar->share_count ? registrar->shares[user].use.weight : 0;

    return factor * (usage + weight_units(weight));
}

/* The share of a user whose group is known. */
static struct share *share_placed(struct registrar *registrar, uint32_t user)
{
    struct share *share = share_of(registrar, user);

    if (share->placed)
        return share;
    share->placed = true;
    share->leaf = groups_share(&registrar->groups, accountant_name(registrar->accountant, user));
    engine_set_share(registrar->engine, user, share->leaf);
    return share;
}

/* That claim is in use, or (sign -1) is not any more. */
static void share_use(struct registrar *registrar, const struct active_claim *claim, int sign)
{
    struct share *share = share_placed(registrar, claim->user);
    struct group_use use = {.weight = claim->weight};

    for (int i = 0; i < SHARE_KINDS; i++) {
        use.kinds[i] = claim->kinds[i];
        share->use.kinds[i] += sign * use.kinds[i];
    }
    share->use.weight += sign * use.weight;
    share->moved = true;
    registrar->weight += sign * use.weight;
    groups_use(&registrar->groups, share->leaf, &use, sign);
}

uint32_t registrar_closed(const struct registrar *registrar, uint32_t user)
{
    if (engine_is_ordered(registrar->engine)) /* then all users of a class are served as one */
        return ENGINE_OPEN;
    return user < registrar->share_count && registrar->shares[user].placed
               ? groups_closed(&registrar->groups, registrar->shares[user].leaf)
               : ENGINE_OPEN;
}

void registrar_resize(struct registrar *registrar, int64_t weight)
{
    groups_resize(&registrar->groups, registrar->weight + weight);
}

void registrar_set_shares(struct registrar *registrar, struct shares *shares)
{
    struct account account;

    limits_set(&registrar->limits, shares);
    groups_set(&registrar->groups, shares);
    for (uint32_t i = 0; i < registrar->share_count; i++)
        registrar->shares[i].placed = false;
    for (uint32_t i = 0; accountant_next(registrar->accountant, i, &i, &account); i++) {
        const struct share *share = share_placed(registrar, i);

        groups_use(&registrar->groups, share->leaf, &share->use, 1);
    }
}

static void share_price(struct registrar *registrar, uint32_t user, int64_t wall_seconds)
{
    double priority = registrar_priority(registrar, user, wall_seconds);
    struct share *share = share_placed(registrar, user);

    share->moved = false;
    engine_set_usage(registrar->engine, user, accountant_usage(registrar->accountant, user, wall_seconds));
    if (priority == share->told)
        return;
    share->told = priority;
    engine_set_priority(registrar->engine, user, priority);
}

struct pricing {
    struct registrar *registrar;
    int64_t wall_seconds;
    bool all;
};

static void account_price(void *user, uint32_t number, const struct account *account)
{
    struct pricing *pricing = user;
    const struct share *share;

    (void)account;
    share = share_of(pricing->registrar, number);
    if (pricing->all || share->moved || share->told == 0 || !share->placed)
        share_price(pricing->registrar, number, pricing->wall_seconds);
}

/* ---------------------------------------------------------------------------------------------------------- on disk */

static uint64_t row_key(const char *name, size_t len)
{
    uint64_t key = len;

    for (size_t i = 0; i < len; i++)
        key = rng_mix(key ^ (unsigned char)name[i]);
    return key;
}

static int64_t scaled(double value)
{
    return value < 9e12 ? (int64_t)(value * REGISTRAR_SCALE + 0.5) : (int64_t)(9e12 * REGISTRAR_SCALE);
}

static void write_schedule(struct registrar *registrar, int64_t now);

/* Loads a row of an account; a delegate's row, added to it, may have been loaded before. */
static void account_take(struct registrar *registrar, const struct account *account)
{
    uint32_t known =
        registrar->folded ? accountant_find(registrar->accountant, account->name, account->len) : ACCOUNTANT_NOBODY;

    if (known == ACCOUNTANT_NOBODY)
        accountant_load(registrar->accountant, account);
    else
        accountant_set_factor(registrar->accountant, accountant_fold(registrar->accountant, account), account->factor);
}

static void receipts_load(struct registrar *registrar, const struct key *key)
{
    static const struct key none;

    registrar->receipts = *key;
    registrar->has_receipts = !key_equal(key, &none);
}

void registrar_loaded(struct registrar *registrar, const struct role_env *env, struct effects *effects)
{
    struct record record = {.kind = RECORD_ROLE};

    if (registrar->has_receipts)
        return;
    env->secrets->draw(env->secrets->user, &registrar->receipts, sizeof registrar->receipts);
    registrar->has_receipts = true;
    record.u.role_record.receipts = registrar->receipts;
    effects_persist(effects, &record);
}

void registrar_load(struct registrar *registrar, const struct role_env *env, const struct record *record)
{
    const struct user_record *row = &record->u.user_record;
    struct account account = {row->name.bytes, strnlen(row->name.bytes, TEXT_MAX), (double)row->usage / REGISTRAR_SCALE,
                              (double)row->factor / REGISTRAR_SCALE, row->stamp};

    if (record->kind == RECORD_ROLE && !record->removed)
        receipts_load(registrar, &record->u.role_record.receipts);
    if (record->kind == RECORD_USAGE || record->kind == RECORD_TALLY)
        registrar_book_load(registrar, env, record);
    if (record->kind != RECORD_USER || record->removed)
        return;
    map_set(&registrar->rows, record->key, 0);
    if (account_len(account.name, account.len) < account.len) {
        share_of(registrar, accountant_fold(registrar->accountant, &account))->dirty = true;
        registrar->folded = true;
        write_schedule(registrar, 0); /* at once: the sum, and the removal of this row, become durable together */
        return;
    }
    account_take(registrar, &account);
}

static void write_schedule(struct registrar *registrar, int64_t now)
{
    int64_t at = registrar->written == INT64_MIN ? now : registrar->written + REGISTRAR_WRITE_SPAN;

    if (registrar->write_waits)
        return;
    registrar->write_waits = true;
    timers_set(registrar->timers, at > now ? at : now, registrar->timer_write, 0);
}

struct writing {
    struct registrar *registrar;
    struct effects *effects;
};

static void account_write(void *user, uint32_t number, const struct account *account)
{
    struct writing *writing = user;
    struct share *share = share_of(writing->registrar, number);
    struct record record = {.kind = RECORD_USER, .key = row_key(account->name, account->len)};
    struct user_record *row = &record.u.user_record;

    if (!share->dirty)
        return;
    share->dirty = false;
    text_set(&row->name, account->name, account->len);
    row->usage = scaled(account->usage);
    row->factor = scaled(account->factor);
    row->stamp = account->stamp;
    effects_persist(writing->effects, &record);
    map_set(&writing->registrar->rows, record.key, 0);
}

static void account_mark(void *user, uint32_t number, const struct account *account)
{
    uint64_t key = row_key(account->name, account->len);

    (void)number;
    if (map_find(user, key) != MAP_NONE)
        map_set(user, key, 1);
}

/* Removes the rows of users that were forgotten. */
static void rows_sweep(struct registrar *registrar, struct effects *effects)
{
    struct map kept;
    uint64_t key, there;

    accountant_each(registrar->accountant, account_mark, &registrar->rows);
    map_init(&kept, registrar->rows.seed);
    for (uint32_t at = 0; map_next(&registrar->rows, &at, &key, &there);) {
        if (there)
            map_set(&kept, key, 0);
        else
            effects_remove(effects, RECORD_USER, key);
    }
    map_done(&registrar->rows);
    registrar->rows = kept;
}

void registrar_write_due(struct registrar *registrar, const struct role_env *env, struct effects *effects)
{
    struct writing writing = {registrar, effects};

    registrar->write_waits = false;
    registrar->written = env->now;
    accountant_each(registrar->accountant, account_write, &writing);
    if (accountant_trim(registrar->accountant, REGISTRAR_LEAST, seconds_of(registrar, env)) || registrar->folded) {
        registrar->folded = false;
        rows_sweep(registrar, effects);
        for (uint32_t i = 0; i < registrar->share_count; i++) /* a number may belong to another user from now on */
            registrar->shares[i].placed = registrar->shares[i].placed && registrar->shares[i].claims;
    }
    registrar->users_tidied = accountant_count(registrar->accountant);
}

/* Usage decays by the second: within one second only the priorities of users move that were charged, or that have more
 * or fewer claims. */
void registrar_price(struct registrar *registrar, const struct role_env *env)
{
    struct pricing pricing = {registrar, seconds_of(registrar, env), seconds_of(registrar, env) != registrar->priced};

    accountant_each(registrar->accountant, account_price, &pricing);
    registrar->priced = pricing.wall_seconds;
    if (accountant_count(registrar->accountant) > registrar->users_tidied + REGISTRAR_USERS_TIDY)
        write_schedule(registrar, env->now);
}

/* ----------------------------------------------------------------------------------------------------------- claims */

/* When a match that nobody claims is given up: its window is over, and so is the time that a message about it may
 * take. */
static int64_t claim_lapses(const struct registrar *registrar, const struct active_claim *claim)
{
    return claim->since + registrar->spans->window + registrar->spans->deadline;
}

static void claim_schedule(struct registrar *registrar, uint32_t place)
{
    struct active_claim *claim = &registrar->active[place];

    claim->timer = claim->ends;
    if (!claim->reported && !claim->lapsed && claim_lapses(registrar, claim) < claim->timer)
        claim->timer = claim_lapses(registrar, claim);
    timers_set(registrar->timers, claim->timer, registrar->timer_claim, place);
}

/* A gang holds the limits of its job once: one of its claims holds them for all. */
static void gang_join(struct registrar *registrar, uint32_t place, const struct limits_asked *asked)
{
    struct active_claim *claim = &registrar->active[place], *holder;
    uint64_t found = claim->gang ? map_find(&registrar->gangs, claim->gang) : MAP_NONE;

    holder = found == MAP_NONE ? NULL : &registrar->active[found];
    claim->mate = place;
    if (holder && holder->user == claim->user) {
        claim->mate = holder->mate;
        holder->mate = place;
        return;
    }
    claim->holdings = asked ? limits_take(&registrar->limits, asked) : NULL;
    if (claim->holdings && claim->gang && !holder)
        map_set(&registrar->gangs, claim->gang, place);
}

/* Another claim of the gang goes on holding the limits; the last one gives them back. */
static void gang_leave(struct registrar *registrar, uint32_t place)
{
    struct active_claim *claim = &registrar->active[place], *before = claim;
    bool holds = map_find(&registrar->gangs, claim->gang) == place;

    if (claim->mate == place) {
        if (holds)
            map_remove(&registrar->gangs, claim->gang);
        limits_give(&registrar->limits, claim->holdings);
        return;
    }
    while (before->mate != place)
        before = &registrar->active[before->mate];
    before->mate = claim->mate;
    if (!holds)
        return;
    if (MUTANT(LIMIT_EARLY)) {
        map_remove(&registrar->gangs, claim->gang);
        limits_give(&registrar->limits, claim->holdings);
        return;
    }
    registrar->active[claim->mate].holdings = claim->holdings;
    map_set(&registrar->gangs, claim->gang, claim->mate);
}

/* claim_hold: the claim counts, and holds the limits it asks for. claim_lapse: it does so no longer. */
static void claim_hold(struct registrar *registrar, uint32_t place, const struct limits_asked *asked)
{
    struct active_claim *claim = &registrar->active[place];

    claim->lapsed = false;
    gang_join(registrar, place, asked);
    share_use(registrar, claim, 1);
}

static void claim_lapse(struct registrar *registrar, uint32_t place)
{
    struct active_claim *claim = &registrar->active[place];

    gang_leave(registrar, place);
    share_use(registrar, claim, -1);
    claim->lapsed = true;
    claim->holdings = NULL;
    claim->mate = place;
}

static uint32_t claim_add(struct registrar *registrar, const struct active_claim *claim,
                          const struct limits_asked *asked)
{
    uint32_t place = registrar->free;

    if (place != NOBODY) {
        registrar->free = registrar->active[place].user;
    } else {
        ARRAY_ROOM(registrar->active, registrar->count, registrar->room, 64);
        place = registrar->count++;
    }
    registrar->active[place] = *claim;
    registrar->active[place].kinds[SHARE_CPUS] = claim->tally->unit.cpus;
    registrar->active[place].kinds[SHARE_GPUS] = claim->tally->unit.gpus;
    registrar->active[place].kinds[SHARE_LICENSES] = claim->tally->unit.licenses;
    map_set(&registrar->claims, claim->claim, place);
    claim_hold(registrar, place, asked);
    accountant_hold(registrar->accountant, claim->user);
    share_of(registrar, claim->user)->claims++;
    claim_schedule(registrar, place);
    return place;
}

static void past_forget(struct registrar *registrar, struct past_claim *past)
{
    registrar_book_end(registrar, past->claim, past->tally);
    past->tally = NULL;
}

/* A place for that claim: the one that it had, if it had been over before; else the oldest is forgotten. */
static struct past_claim *history_room(struct registrar *registrar, uint64_t claim)
{
    uint64_t found = map_find(&registrar->past, claim);
    struct past_claim *past;

    if (!registrar->history)
        registrar->history = mem_alloc(REGISTRAR_HISTORY_MAX * sizeof *registrar->history);
    if (found != MAP_NONE)
        return &registrar->history[found];
    past = &registrar->history[registrar->history_next];
    if (registrar->history_count == REGISTRAR_HISTORY_MAX) {
        map_remove(&registrar->past, past->claim);
        if (past->tally)
            past_forget(registrar, past);
        free(past->user);
    } else {
        registrar->history_count++;
    }
    past->user = NULL;
    map_set(&registrar->past, claim, registrar->history_next);
    registrar->history_next = (registrar->history_next + 1) % REGISTRAR_HISTORY_MAX;
    return past;
}

/* The last claims are remembered, so that late reports of them change nothing but what was used. */
static void history_add(struct registrar *registrar, struct active_claim *claim, int64_t now, enum reason reason)
{
    struct past_claim *past = history_room(registrar, claim->claim);
    const char *user = accountant_name(registrar->accountant, claim->user);

    free(past->user);
    *past = (struct past_claim){.claim = claim->claim,
                                .gang = claim->gang,
                                .agent = claim->agent,
                                .user = mem_dup(user, strlen(user)),
                                .since = claim->since,
                                .ended = now,
                                .used = claim->used,
                                .reason = reason,
                                .writing = registrar->writings};
    /* its provider may only have been out of reach; or its customer has let it go before it began, and may take it again */
    if (reason == REASON_LEASE || tally_is_unused(claim->tally)) {
        past->tally = claim->tally;
        claim->tally = NULL;
        if (reason == REASON_LEASE || past->tally->row)
            registrar_book_settle(registrar, past->claim, past->tally);
    }
}

static void claim_end(struct registrar *registrar, uint32_t place, int64_t now, enum reason reason)
{
    struct active_claim *claim = &registrar->active[place];

    if (claim->reported) {
        history_add(registrar, claim, now, reason);
        registrar->reported--;
    }
    registrar_book_end(registrar, claim->claim, claim->tally);
    map_remove(&registrar->claims, claim->claim);
    share_of(registrar, claim->user)->claims--;
    if (!claim->lapsed)
        claim_lapse(registrar, place);
    accountant_drop(registrar->accountant, claim->user);
    free(claim->asked);
    *claim = (struct active_claim){.user = registrar->free};
    registrar->free = place;
}

static struct tree *expected_receipt(const struct registrar *registrar, const struct role_env *env,
                                     const struct expected *expected)
{
    const char *account = accountant_name(registrar->accountant, expected->user);
    struct receipt receipt = {.claim = expected->claim,
                              .gang = expected->gang,
                              .agent = expected->from,
                              .offer = expected->offer,
                              .weight = expected->weight};

    if (!registrar->has_receipts || !text_set(&receipt.account, account, strlen(account)))
        return NULL;
    if (expected->asked)
        limits_print(expected->asked, &receipt.limits);
    return receipt_make(env, &registrar->receipts, &receipt);
}

struct tree *registrar_expect(struct registrar *registrar, const struct role_env *env, const struct expected *expected)
{
    const char *account = accountant_name(registrar->accountant, expected->user);
    struct active_claim claim = {.claim = expected->claim,
                                 .gang = expected->gang,
                                 .agent = expected->from,
                                 .offer = expected->offer,
                                 .user = expected->user,
                                 .weight = expected->weight,
                                 .since = env->now,
                                 .ends = env->now + registrar->spans->window + registrar->spans->lease};

    if (map_count(&registrar->claims) >= REGISTRAR_CLAIMS_MAX ||
        map_find(&registrar->claims, expected->claim) != MAP_NONE)
        return NULL;
    if (expected->asked && expected->asked->count) {
        claim.asked = mem_alloc(sizeof *claim.asked);
        *claim.asked = *expected->asked;
    }
    claim.tally = mem_alloc(sizeof *claim.tally);
    *claim.tally = (struct tally){.weight = expected->weight};
    text_set(&claim.tally->account, account, strlen(account));
    if (expected->unit)
        claim.tally->unit = *expected->unit;
    claim_add(registrar, &claim, expected->asked);
    share_price(registrar, expected->user, seconds_of(registrar, env));
    return expected_receipt(registrar, env, expected);
}

/* For a planted bug (REPORT_BELIEVED): the report is taken at its word. */
static bool report_believed(const struct registrar *registrar, const struct peer *peer, const struct report *report,
                            struct receipt *ret)
{
    *ret = (struct receipt){.claim = report->claim,
                            .gang = report->gang,
                            .agent = peer->agent,
                            .weight = report->weight > 0 ? report->weight : WEIGHT_ONE,
                            .limits = report->limits};
    groups_account(&registrar->groups, report->owner.bytes, report->group.bytes, &ret->account);
    return true;
}

/* Learns of a claim that does not go on here, as its receipt says. With `past` it was over before it began, and begins again; else another incarnation
 * matched it. */
static enum reason claim_learn(struct registrar *registrar, const struct role_env *env, const struct peer *peer,
                               const struct report *report, struct past_claim *past, uint32_t *ret)
{
    struct active_claim claim = {.claim = report->claim,
                                 .agent = peer->agent,
                                 .since = past ? past->since : env->now,
                                 .ends = env->now + registrar->spans->lease + spans_margin(registrar->spans)};
    struct limits_asked asked;
    struct receipt receipt;

    if ((!past && env->now > registrar->learns_until && !registrar_book_has(registrar, report->claim)) ||
        !registrar->has_receipts)
        return REASON_UNKNOWN;
    if (!(MUTANT(REPORT_BELIEVED) ? report_believed(registrar, peer, report, &receipt)
                                  : receipt_read(env, &registrar->receipts, report->receipt, &receipt)) ||
        receipt.claim != report->claim)
        return REASON_UNKNOWN;
    if (receipt.agent != peer->agent)
        return REASON_IDENTITY;
    if (limits_read(receipt.limits.bytes, strlen(receipt.limits.bytes), &asked, NULL) < 0 || !receipt.account.bytes[0])
        return REASON_INVALID;
    if ((!past && registrar->learnt == REGISTRAR_LEARNT_MAX) || map_count(&registrar->claims) >= REGISTRAR_CLAIMS_MAX)
        return REASON_LIMIT;
    claim.gang = receipt.gang;
    claim.offer = receipt.offer;
    claim.user = accountant_user(registrar->accountant, receipt.account.bytes, strlen(receipt.account.bytes));
    claim.weight = receipt.weight < WEIGHT_MAX ? receipt.weight : WEIGHT_MAX;
    claim.tally = past ? past->tally : registrar_book_learn(registrar, &receipt, claim.weight);
    if (past)
        past->tally = NULL;
    else
        registrar->learnt++;
    *ret = claim_add(registrar, &claim, &asked);
    return REASON_OK;
}

/* Usage cannot be more than the time since the claim is known, plus a lease, which a first report may cover. */
static int64_t claim_charge(struct registrar *registrar, const struct role_env *env, struct active_claim *claim,
                            int64_t used)
{
    int64_t most = env->now - claim->since + registrar->spans->lease - claim->used;

    if (used > most)
        used = most;
    if (used <= 0)
        return 0;
    claim->used += used;
    accountant_charge(registrar->accountant, claim->user, (double)used / (double)SECOND * weight_units(claim->weight),
                      seconds_of(registrar, env));
    share_of(registrar, claim->user)->dirty = share_of(registrar, claim->user)->moved = true;
    write_schedule(registrar, env->now);
    return used;
}

/* Agents that go on have reported their claims by then: they renew within the lifetime of an ad. */
void registrar_begin(struct registrar *registrar, int64_t now)
{
    registrar->began = now;
    registrar->learns_until = now + registrar->spans->lifetime + registrar->spans->lease + registrar->spans->deadline;
}

int64_t registrar_knows(const struct registrar *registrar, int64_t began)
{
    const struct spans *spans = registrar->spans;

    return began + spans->window + spans->pin + spans->lease + spans_margin(spans) + spans->deadline;
}

/* What a last report is answered that was counted: it is kept there until that is on disk here. Agents that tell no totals keep nothing. */
static enum reason parting_answer(const struct registrar *registrar, const struct past_claim *past,
                                  const struct report *report, uint64_t *ret_after)
{
    if (!report->over || !report->life || MUTANT(PARTING_UNWRITTEN))
        return REASON_OK;
    if (past->writing >= registrar->writings)
        return REASON_WAIT;
    *ret_after = registrar->written_by;
    return REASON_OK;
}

/* A claim that is over: if it only fell silent, what its provider tells later still counts in the book. */
static enum reason past_report(struct registrar *registrar, const struct role_env *env, const struct peer *peer,
                               struct past_claim *past, const struct report *report, uint64_t *ret_after)
{
    enum reason reason;

    if (past->agent != peer->agent)
        return REASON_OK;
    if (!past->tally)
        return parting_answer(registrar, past, report, ret_after);
    reason = registrar_book_take(registrar, env, past->tally, report, 0, past->since);
    if (!tally_is_unused(past->tally)) {
        registrar_book_settle(registrar, past->claim, past->tally);
        past->writing = registrar->writings;
        if (report->over)
            past_forget(registrar, past);
    }
    return reason == REASON_OK ? parting_answer(registrar, past, report, ret_after) : reason;
}

/* Its customer had let it go before it was active, and has taken it again by the same match. */
static bool begins_again(const struct past_claim *past, const struct report *report)
{
    return !report->over && past->reason != REASON_LEASE && past->tally && tally_is_unused(past->tally);
}

enum reason registrar_report(struct registrar *registrar, const struct role_env *env, const struct peer *peer,
                             const struct report *report, uint64_t *ret_offer, uint64_t *ret_after)
{
    uint64_t found = map_find(&registrar->claims, report->claim), over = map_find(&registrar->past, report->claim);
    struct past_claim *past = over == MAP_NONE ? NULL : &registrar->history[over];
    struct active_claim *claim;
    enum reason reason;
    uint32_t place;

    if (!report->claim || report->used < 0)
        return REASON_INVALID;
    place = (uint32_t)found;
    if (found == MAP_NONE) {
        if (past && !begins_again(past, report))
            return past_report(registrar, env, peer, past, report, ret_after);
        reason = claim_learn(registrar, env, peer, report, past, &place);
        if (reason != REASON_OK)
            return reason;
    }
    claim = &registrar->active[place];
    if (claim->agent != peer->agent)
        return REASON_IDENTITY;
    if (claim->lapsed)
        claim_hold(registrar, place, claim->asked);
    *ret_offer = claim->offer;
    free(claim->asked); /* the claim lapses no more */
    claim->asked = NULL;
    registrar->reported += !claim->reported;
    claim->reported = true;
    reason = registrar_book_take(registrar, env, claim->tally, report,
                                 claim_charge(registrar, env, claim, report->used), claim->since);
    claim->ends = env->now + registrar->spans->lease + spans_margin(registrar->spans);
    if (report->over)
        claim_end(registrar, place, env->now, report->reason == REASON_OK ? REASON_RELEASED : report->reason);
    found = report->over && reason == REASON_OK ? map_find(&registrar->past, report->claim) : MAP_NONE;
    return found == MAP_NONE ? reason : parting_answer(registrar, &registrar->history[found], report, ret_after);
}

void registrar_set_factor(struct registrar *registrar, const struct role_env *env, const char *name, double factor,
                          struct effects *effects)
{
    struct writing writing = {registrar, effects};
    size_t len = name ? strnlen(name, TEXT_MAX + 1) : 0;
    uint32_t user;

    if (!len || len > TEXT_MAX || !(factor > 0) || !isfinite(factor))
        return;
    user = accountant_user(registrar->accountant, name, account_len(name, len));
    accountant_set_factor(registrar->accountant, user, factor);
    share_of(registrar, user)->dirty = share_of(registrar, user)->moved = true;
    accountant_each(registrar->accountant, account_write, &writing);
    registrar->written = env->now;
}

/* Places are used again: a timer may belong to a claim that has ended. */
void registrar_claim_due(struct registrar *registrar, const struct role_env *env, uint32_t place, int64_t at)
{
    struct active_claim *claim = &registrar->active[place];

    if (!claim->claim || claim->timer != at)
        return;
    if (claim->ends <= env->now) {
        claim_end(registrar, place, env->now, REASON_LEASE);
        return;
    }
    if (!claim->reported && !claim->lapsed && claim_lapses(registrar, claim) <= env->now)
        claim_lapse(registrar, place);
    claim_schedule(registrar, place);
}

bool registrar_valid(const struct registrar *registrar, const char **ret_why)
{
    uint64_t claims = 0, counted = 0, reported = 0;
    int64_t weight = 0;
    const char *why = NULL;

    for (uint32_t i = 0; i < registrar->count; i++) {
        const struct active_claim *claim = &registrar->active[i];

        if (!claim->claim)
            continue;
        claims++;
        reported += claim->reported;
        if (map_find(&registrar->claims, claim->claim) != i)
            why = "a claim is not found";
        if (claim->lapsed && (claim->reported || claim->holdings))
            why = "a claim that has lapsed holds something";
        if (registrar->active[claim->mate].gang != claim->gang)
            why = "claims that hold limits together are of two gangs";
    }
    for (uint32_t i = 0; i < registrar->share_count; i++)
        counted += registrar->shares[i].claims, weight += registrar->shares[i].use.weight;
    if (weight != registrar->weight)
        why = "the weight of the claims does not add up";
    if (claims != counted || claims != map_count(&registrar->claims) || reported != registrar->reported)
        why = "the claims are not counted right";
    if (map_count(&registrar->past) != registrar->history_count)
        why = "the history is not counted right";
    if (why)
        *ret_why = why;
    return !why && groups_valid(&registrar->groups, ret_why) && usage_book_valid(&registrar->book, ret_why);
}
