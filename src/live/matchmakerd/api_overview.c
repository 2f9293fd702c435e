/* api_overview.c: the pool at a glance, and over time, from counts that are kept; and the names of attributes that ads
 * have. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"
#include "store/store.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAMES_MAX 20000 /* names that are counted */

/* ------------------------------------------------------------------------------------------------------------ overview */

const char *const outcome_words[CENSUS_OUTCOMES] = {"none", "waiting", "matched", "nobody", "gave-up", "held"};

int outcome_find(const char *word)
{
    for (int i = 1; i < CENSUS_OUTCOMES; i++)
        if (!strcmp(outcome_words[i], word))
            return i;
    return 0;
}

static uint32_t kinds_make(struct matchmakerd *matchmakerd, struct tree *ads[CENSUS_KINDS])
{
    const struct census_counts *counts = &matchmakerd->census.last;

    for (uint32_t i = 0; i < counts->kind_count; i++) {
        struct maker maker;

        maker_init(&maker, matchmakerd->symbols);
        maker_text(&maker, "Kind", counts->kinds[i].name);
        maker_integer(&maker, "Offers", (int64_t)counts->kinds[i].offers);
        maker_integer(&maker, "Parted", (int64_t)counts->kinds[i].parted);
        maker_integer(&maker, "Taken", (int64_t)counts->kinds[i].taken);
        ads[i] = maker_seal(&maker);
    }
    return counts->kind_count;
}

static uint32_t outcomes_make(struct matchmakerd *matchmakerd, struct tree *ads[CENSUS_OUTCOMES])
{
    const struct census_counts *counts = &matchmakerd->census.last;
    uint32_t count = 0;

    for (int i = 1; i < CENSUS_OUTCOMES; i++) {
        struct maker maker;

        if (!counts->outcomes[i])
            continue;
        maker_init(&maker, matchmakerd->symbols);
        maker_text(&maker, "Outcome", outcome_words[i]);
        maker_integer(&maker, "Requests", (int64_t)counts->outcomes[i]);
        maker_integer(&maker, "Units", (int64_t)counts->outcome_units[i]);
        ads[count++] = maker_seal(&maker);
    }
    return count;
}

/* The machines by state, and what they have and what of it is in use. */
static struct tree *machines_make(struct matchmakerd *matchmakerd)
{
    const struct census_machines *machines = &matchmakerd->census.machines;
    uint64_t known = 0;
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    for (int i = 0; i < MACHINE_STATE_COUNT; i++)
        known += machines->states[i];
    maker_integer(&maker, "Known", (int64_t)known);
    for (int i = 0; i < MACHINE_STATE_COUNT; i++)
        maker_integer(&maker, machine_state_word(i), (int64_t)machines->states[i]);
    for (int i = 0; i < AMOUNTS; i++) {
        machine_amount_add(&maker, machine_amounts[i], machines->amounts[i].all);
        machine_amount_add(&maker, machine_amounts_used[i], machines->amounts[i].used);
    }
    return maker_seal(&maker);
}

/* Where the pool has its matchmakers, if they are several: who watches asks for more when that changes. */
static void matchmakers_add(struct maker *maker, struct matchmakerd *matchmakerd)
{
    struct store_replica replicas[STORE_REPLICAS_MAX];
    const char *urls[STORE_REPLICAS_MAX];
    uint32_t count = matchmakerd_replicas(matchmakerd, replicas);

    for (uint32_t i = 0; i < count; i++)
        urls[i] = replicas[i].url;
    if (count)
        maker_texts(maker, "Matchmakers", urls, count);
}

struct tree *overview_ad(struct matchmakerd *matchmakerd, int64_t missed)
{
    const struct census_counts *counts = &matchmakerd->census.last;
    struct matchmaker_counts work = matchmaker_counts(matchmakerd->matchmaker);
    struct tree *kinds[CENSUS_KINDS], *outcomes[CENSUS_OUTCOMES];
    uint32_t kind_count = kinds_make(matchmakerd, kinds), outcome_count = outcomes_make(matchmakerd, outcomes);
    struct tree *machines = machines_make(matchmakerd);
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Overview");
    maker_integer(&maker, "Offers", (int64_t)counts->offers);
    maker_integer(&maker, "Requests", (int64_t)counts->requests);
    maker_integer(&maker, "Waiting", (int64_t)counts->units);
    maker_integer(&maker, "Claims", (int64_t)work.claims);
    maker_integer(&maker, "Matches", (int64_t)work.matches);
    maker_integer(&maker, "Cycles", (int64_t)work.cycles);
    maker_integer(&maker, "Agents", matchmakerd->agents.texts.count);
    matchmakers_add(&maker, matchmakerd);
    if (missed)
        maker_integer(&maker, "Missed", missed);
    maker_ad(&maker, "Machines", machines);
    tree_unref(machines);
    maker_list(&maker, "Kinds", kinds, kind_count);
    maker_list(&maker, "Outcomes", outcomes, outcome_count);
    for (uint32_t i = 0; i < kind_count; i++)
        tree_unref(kinds[i]);
    for (uint32_t i = 0; i < outcome_count; i++)
        tree_unref(outcomes[i]);
    return maker_seal(&maker);
}

void api_overview(struct request *request)
{
    request_ad_take(request, 200, overview_ad(request_matchmakerd(request), 0));
}

/* -------------------------------------------------------------------------------------------------------------- series */

static const struct {
    const char *name;
    size_t at; /* the offset of a uint64_t or int64_t in a sample */
} columns[] = {
    {"At", offsetof(struct census_sample, at)},           {"Offers", offsetof(struct census_sample, offers)},
    {"Claims", offsetof(struct census_sample, claims)},   {"Waiting", offsetof(struct census_sample, waiting)},
    {"Matches", offsetof(struct census_sample, matches)},
};

/* Users over time: those who had most in all that while. */
struct series_user {
    symbol name; /* lent by the samples */
    uint64_t sum;
};

static int series_order(const void *a, const void *b)
{
    const struct series_user *left = a, *right = b;

    return left->sum != right->sum ? (left->sum < right->sum) - (left->sum > right->sum)
                                   : (left->name > right->name) - (left->name < right->name);
}

/* All users of the samples, those with most first. */
static struct series_user *series_users(const struct census *census, enum census_span span, uint32_t *ret_count)
{
    uint32_t count = census_samples(census, span), room = 0, used = 0;
    struct series_user *users = NULL;
    struct map places;

    map_init(&places, 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct census_sample *sample = census_sample(census, span, i);

        for (uint32_t k = 0; k < sample->user_count; k++) {
            uint64_t place = map_find(&places, sample->users[k].name);

            if (place == MAP_NONE) {
                ARRAY_ROOM(users, used, room, 16);
                map_set(&places, sample->users[k].name, place = used);
                users[used++] = (struct series_user){.name = sample->users[k].name};
            }
            users[place].sum += sample->users[k].running + sample->users[k].waiting;
        }
    }
    map_done(&places);
    if (used)
        qsort(users, used, sizeof *users, series_order);
    *ret_count = used;
    return users;
}

/* What one user had running and waiting, in each sample. `numbers` has room for both. */
static struct tree *series_user_ad(struct matchmakerd *matchmakerd, enum census_span span, symbol name,
                                   int64_t *numbers)
{
    uint32_t count = census_samples(&matchmakerd->census, span);
    struct maker maker;
    size_t len;

    for (uint32_t i = 0; i < count; i++) {
        const struct census_sample *sample = census_sample(&matchmakerd->census, span, i);

        numbers[i] = numbers[count + i] = 0;
        for (uint32_t k = 0; k < sample->user_count; k++)
            if (sample->users[k].name == name) {
                numbers[i] = (int64_t)sample->users[k].running;
                numbers[count + i] = (int64_t)sample->users[k].waiting;
            }
    }
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Name", symbols_text(matchmakerd->symbols, name, &len));
    maker_integers(&maker, "Running", numbers, count);
    maker_integers(&maker, "Waiting", numbers + count, count);
    return maker_seal(&maker);
}

static void series_users_add(struct matchmakerd *matchmakerd, enum census_span span, struct maker *maker)
{
    uint32_t count, told = 0;
    struct series_user *users = series_users(&matchmakerd->census, span, &count);
    int64_t *numbers = mem_alloc((2 * (size_t)census_samples(&matchmakerd->census, span) + 1) * sizeof *numbers);
    struct tree *ads[CENSUS_USERS];

    for (; told < count && told < CENSUS_USERS; told++)
        ads[told] = series_user_ad(matchmakerd, span, users[told].name, numbers);
    maker_list(maker, "Users", ads, told);
    while (told)
        tree_unref(ads[--told]);
    free(numbers);
    free(users);
}

void api_series(struct request *request)
{
    const char *by = request_query(request, "by");
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *word = request_query(request, "span");
    enum census_span span = CENSUS_HOUR;
    struct maker maker;
    int64_t *numbers;
    uint32_t count;

    while (word && span < CENSUS_SPANS && strcmp(word, census_span_words[span]) != 0)
        span++;
    if (span == CENSUS_SPANS) {
        request_problem(request, 400, "span: expected hour, day or month");
        return;
    }
    if (by && strcmp(by, "user") != 0) {
        request_problem(request, 400, "by: expected user, or nothing");
        return;
    }
    count = census_samples(&matchmakerd->census, span);
    numbers = mem_alloc((count + 1) * sizeof *numbers);
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Span", census_span_words[span]);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (uint32_t i = 0; i < count; i++)
            memcpy(&numbers[i], (const char *)census_sample(&matchmakerd->census, span, i) + columns[c].at,
                   sizeof *numbers);
        maker_integers(&maker, columns[c].name, numbers, count);
    }
    free(numbers);
    if (by)
        series_users_add(matchmakerd, span, &maker);
    request_ad_take(request, 200, maker_seal(&maker));
}

/* --------------------------------------------------------------------------------------------------------------- names */

struct names {
    struct scan scan;
    struct map counts; /* symbol -> how many ads have it; each symbol is held */
    uint64_t limit;
    const char *prefix;
    int kind; /* 0: all, 1: offers, 2: requests */
};

static void name_count(struct names *names, struct symbols *symbols, symbol name)
{
    uint64_t count = map_find(&names->counts, name);

    if (count == MAP_NONE) {
        size_t len;
        const char *text = symbols_text(symbols, name, &len);

        if (map_count(&names->counts) == NAMES_MAX ||
            (names->prefix && strncasecmp(text, names->prefix, strlen(names->prefix)) != 0))
            return;
        symbols_hold(symbols, name);
        count = 0;
    }
    map_set(&names->counts, name, count + 1);
}

static bool names_visit(struct scan *scan, uint32_t place, const struct entry_view *view)
{
    struct names *names = (struct names *)scan;
    const struct expr *parts = tree_parts(view->ad, tree_root(view->ad));
    uint32_t count = tree_root(view->ad)->u.run.count;

    (void)place;
    if ((names->kind && view->request != (names->kind == 2)) || !request_sees(scan->request, view))
        return true;
    for (uint32_t i = 0; i < count; i++)
        name_count(names, view->ad->symbols, parts[i].label);
    scan->steps -= scan->steps < count ? scan->steps : count;
    return scan->steps > 0;
}

struct name_row {
    const char *text;
    uint64_t count;
};

/* The commonest first; equal ones in alphabetical order. */
static int name_compare(const void *a, const void *b)
{
    const struct name_row *left = a, *right = b;

    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return strcasecmp(left->text, right->text);
}

static void names_finish(struct scan *scan)
{
    struct names *names = (struct names *)scan;
    struct request *request = scan->request;
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t count = map_count(&names->counts), at = 0, used = 0;
    struct name_row *rows = mem_alloc((count + 1) * sizeof *rows);
    struct roll roll;
    uint64_t key, value;

    while (map_next(&names->counts, &at, &key, &value)) {
        size_t len;

        rows[used++] = (struct name_row){symbols_text(matchmakerd->symbols, (symbol)key, &len), value};
    }
    if (used)
        qsort(rows, used, sizeof *rows, name_compare);
    roll_begin(&roll, request);
    for (uint32_t i = 0; i < used && i < names->limit; i++) {
        struct maker maker;

        maker_init(&maker, matchmakerd->symbols);
        maker_text(&maker, "Name", rows[i].text);
        maker_integer(&maker, "Ads", (int64_t)rows[i].count);
        roll_add(&roll, &maker);
    }
    roll_end(&roll);
    free(rows);
}

static void names_done(struct scan *scan)
{
    struct names *names = (struct names *)scan;
    uint64_t key, value;
    uint32_t at = 0;

    while (map_next(&names->counts, &at, &key, &value))
        symbols_drop(request_matchmakerd(scan->request)->symbols, (symbol)key);
    map_done(&names->counts);
}

void api_names(struct request *request)
{
    const char *kind = request_query(request, "kind");
    struct names *names;
    uint64_t limit;

    if (!request_number(request, "limit", 1, NAMES_MAX, LIMIT_DEFAULT, &limit))
        return;
    if (kind && strcmp(kind, "offers") != 0 && strcmp(kind, "requests") != 0) {
        request_problem(request, 400, "kind: expected offers or requests");
        return;
    }
    names = mem_alloc(sizeof *names);
    *names = (struct names){.scan = {.visit = names_visit, .finish = names_finish, .done = names_done},
                            .limit = limit,
                            .prefix = request_query(request, "prefix"),
                            .kind = !kind          ? 0
                                    : *kind == 'o' ? 1
                                                   : 2};
    map_init(&names->counts, request_matchmakerd(request)->incarnation);
    scan_start(&names->scan, request);
}
