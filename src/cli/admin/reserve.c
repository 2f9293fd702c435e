/* reserve.c: berth reserve: books machines for some users, all that are wanted or none.
 *
 *     who fits   ->   each is told to hold itself   ->   enough have   ->   each is told that this is confirmed
 *                          `-- one refuses: the next one that fits is told          `-- one is lost: all are given back
 *
 * What is only held is given back by the machine itself, so a program that is killed in the middle leaves nothing for long. */
#include "cli/admin/booking.h"
#include "cli/admin/zone_name.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/moment.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/protocol/role.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define MACHINES_MAX 4096 /* of one reservation */
#define USERS_ROOM 1200
#define HELD_SPARE 60 /* seconds that machines hold themselves beyond the time in which all should have answered */

struct reserve_settings {
    struct connection_options pool;
    int64_t from, span, arrive, wait;
    const char *constraint, *users, *purpose, *every, *zone;
    int64_t last;
    uint64_t count;
    bool json;
};

static int option_machines(const char *text, void *target, struct err *err)
{
    return option_count_to(text, MACHINES_MAX, target, err);
}

#define S struct reserve_settings
static const struct option reserve_options[] = {
    {0, "from", "MOMENT", "when it begins: 20:00, +2h, 2026-11-20T08:00; now if not given", option_moment,
     offsetof(S, from)},
    {0, "for", "SPAN", "how long it lasts: 2h, 90min", option_span, offsetof(S, span)},
    {0, "every", "TIMES", "it comes again at these times, as in crontab: '0 20 * * mon-fri'", option_text,
     offsetof(S, every)},
    {0, "zone", "ZONE", "of --every: the time zone of these times, as Europe/Berlin; that of this machine if not given",
     option_text, offsetof(S, zone)},
    {0, "last", "MOMENT", "of --every: it begins no later than that", option_moment, offsetof(S, last)},
    {'c', "constraint", "EXPR", "only machines for which it is true, as `berth machines --long` tells of them",
     option_text, offsetof(S, constraint)},
    {0, "count", "N", "so many machines, all or none: 1 if not given", option_machines, offsetof(S, count)},
    {0, "users", "NAMES", "for whom: names of users and groups, with commas between", option_text, offsetof(S, users)},
    {0, "purpose", "TEXT", "what for: others see it", option_text, offsetof(S, purpose)},
    {0, "arrive", "SPAN",
     "a machine on which nobody has begun a job so long after the beginning is given back: 10min if not given",
     option_span, offsetof(S, arrive)},
    {0, "wait", "SPAN", "wait so long for the answers of machines: 20 s is the default", option_wait,
     offsetof(S, wait)},
    {0, "json", NULL, "one JSON object; moments in seconds since 1970", option_flag, offsetof(S, json)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct reserve_settings reserve_defaults = {.arrive = 600, .wait = AWAITED_WAIT, .count = 1};

/* ---------------------------------------------------------------------------------------------------------- who fits */

struct search {
    const struct booking_order *order;
    int word_count;
    char **words; /* names of machines; none: all that fit */
    struct booked_machine *machines;
    uint32_t count, room, booked;
};

static bool text_is(const struct tree *ad, const char *name, const char *word)
{
    const char *text;
    size_t len;

    return ad_string(ad, name, &text, &len) && len == strlen(word) && !strncasecmp(text, word, len);
}

static bool is_booked(const struct tree *machine, const struct booking_order *order)
{
    const struct expr *list = ad_find(machine, "Bookings");
    bool booked = false;

    for (uint32_t i = 0; !booked && list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        const struct expr *part = &tree_parts(machine, list)[i];
        struct tree *booking = part->kind == EXPR_AD ? ad_part(machine, part) : NULL;
        int64_t from, until;

        booked = booking && ad_integer(booking, "From", &from) && ad_integer(booking, "Until", &until) &&
                 from < order->until && order->from < until;
        tree_unref(booking);
    }
    return booked;
}

static bool machine_look(void *user, struct tree *machine)
{
    struct search *search = user;
    struct booked_machine *found;
    bool named = !search->word_count;
    uint64_t who;

    for (int i = 0; i < search->word_count && !named; i++)
        named = text_is(machine, "Name", search->words[i]);
    if (!named || !text_is(machine, "Type", "Machine") || text_is(machine, "State", "Away") ||
        !ad_word(machine, "Agent", &who))
        return true;
    if (is_booked(machine, search->order)) {
        search->booked++;
        return true;
    }
    ARRAY_ROOM(search->machines, search->count, search->room, 16);
    found = &search->machines[search->count++];
    found->agent = who;
    machine_name_copy(found->name, machine);
    return true;
}

static int machines_find(struct connection *pool, const struct reserve_settings *settings, struct search *search)
{
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/machines?order=name");
    path_query(&path, "constraint", settings->constraint);
    status = connection_list(pool, buf_string(&path), 0, machine_look, search);
    buf_done(&path);
    if (status == STATUS_DONE && search->count < settings->count) {
        report("%u of the %" PRIu64 " machines that are wanted are there%s", search->count, settings->count,
               search->booked ? ": others that fit are booked then" : "");
        status = STATUS_NO;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- holding */

/* Lets machines hold themselves until there are enough: these come first then. `*ret_told`: so many have been told something. */
static int machines_hold(struct connection *pool, const struct reserve_settings *settings, struct booking_order *order,
                         struct search *search, uint32_t *ret_told)
{
    uint32_t held = 0, told = 0, wanted = (uint32_t)settings->count;
    char **said = mem_alloc(wanted * sizeof *said);
    int status = STATUS_DONE;

    while (status == STATUS_DONE && held < wanted && search->count - told >= wanted - held) {
        uint32_t first = told, more = wanted - held;
        int64_t ends = (int64_t)time(NULL) + 2 * settings->wait + HELD_SPARE; /* there may be many rounds */

        order->held = ends < order->until ? ends : order->until;
        status = booking_tell(pool, order, search->machines + first, more, settings->wait, said);
        told += more;
        for (uint32_t i = 0; i < more; i++) {
            struct booked_machine machine = search->machines[first + i];

            if (said[i]) {
                report("%s: %s", machine.name, said[i]);
                free(said[i]);
                continue;
            }
            search->machines[first + i] = search->machines[held];
            search->machines[held++] = machine;
        }
    }
    free(said);
    *ret_told = told;
    if (status == STATUS_DONE && held < wanted) {
        report("%u of the %u machines that are wanted can be had: nothing is reserved", held, wanted);
        status = STATUS_NO;
    }
    return status;
}

static int machines_confirm(struct connection *pool, const struct reserve_settings *settings,
                            const struct booking_order *order, const struct search *search)
{
    uint32_t wanted = (uint32_t)settings->count, missing = 0;
    char **said = mem_alloc(wanted * sizeof *said);
    int status = booking_tell(pool, order, search->machines, wanted, settings->wait, said);

    for (uint32_t i = 0; i < wanted; i++) {
        if (said[i])
            report("%s: %s", search->machines[i].name, said[i]);
        missing += said[i] != NULL;
        free(said[i]);
    }
    free(said);
    if (status == STATUS_DONE && missing) {
        report("not all machines have confirmed it: nothing is reserved");
        status = STATUS_NO;
    }
    return status;
}

static int machines_book(struct connection *pool, const struct reserve_settings *settings, struct booking_order *order,
                         struct search *search)
{
    uint32_t told = 0;
    int status;

    order->life = settings->wait + 1;
    status = machines_hold(pool, settings, order, search, &told);
    if (status == STATUS_DONE) {
        order->held = 0;
        status = machines_confirm(pool, settings, order, search);
        if (status == STATUS_DONE)
            return STATUS_DONE;
    }
    booking_give_back(pool, order->id, order->until, search->machines, told);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- run */

static void reserved_print_json(const struct connection *pool, const struct booking_order *order,
                                const struct search *search)
{
    const char **names = mem_alloc((size_t)order->count * sizeof *names);
    struct maker maker;
    struct tree *ad;
    struct rows rows;

    for (int64_t i = 0; i < order->count; i++)
        names[i] = search->machines[i].name;
    maker_init(&maker, pool->symbols);
    maker_word(&maker, "Booking", order->id);
    maker_integer(&maker, "From", order->from);
    maker_integer(&maker, "Until", order->until);
    maker_text(&maker, "Every", order->every);
    if (order->every)
        maker_text(&maker, "Zone", order->zone);
    maker_texts(&maker, "Users", order->users, order->user_count);
    maker_texts(&maker, "Machines", names, (size_t)order->count);
    ad = maker_seal(&maker);
    rows_init(&rows, ROWS_JSON, NULL, 0);
    rows_add(&rows, ad);
    rows_finish(&rows);
    rows_done(&rows);
    tree_unref(ad);
    free(names);
}

static void reserved_print(const struct booking_order *order, const struct search *search)
{
    struct buf out;

    buf_init(&out);
    buf_addf(&out, "reservation %016" PRIx64 ": ", order->id);
    for (int64_t i = 0; i < order->count; i++)
        buf_addf(&out, "%s%s", i ? ", " : "", search->machines[i].name);
    buf_adds(&out, ", ");
    booking_terms_print(&out, order);
    text_tame(&out, 0);
    buf_addc(&out, '\n');
    output_write(&out);
    buf_done(&out);
}

static bool settings_good(const struct reserve_settings *settings)
{
    if (!settings->span || !settings->users) {
        report("reserve wants --for and --users: how long, and for whom");
        return false;
    }
    if (settings->every ? settings->from != 0 : settings->zone || settings->last) {
        report(settings->every ? "--every says when it begins: --from does not go with it"
                               : "--zone and --last go with --every");
        return false;
    }
    if (settings->from && settings->from + settings->span <= (int64_t)time(NULL)) {
        report("--from: that reservation would be over");
        return false;
    }
    return true;
}

/* Sets when it begins, and where it comes again the first time; false after a report. */
static bool order_begins(const struct reserve_settings *settings, struct zone_named *zone, struct booking_order *order)
{
    order->from = settings->from ? settings->from : (int64_t)time(NULL);
    if (settings->every) {
        if (!zone_named(settings->zone, zone))
            return false;
        order->every = settings->every;
        order->zone = zone->name;
        order->zone_rule = zone->rule;
        order->last = settings->last;
        if (!booking_first(order, &zone->zone, &order->from))
            return false;
    }
    order->until = order->from + settings->span;
    return true;
}

static int reserve_run(const void *given, int word_count, char **words)
{
    const struct reserve_settings *settings = given;
    struct booking_order order = {.id = secrets_word(&secrets_live), .purpose = settings->purpose};
    struct search search = {.order = &order, .word_count = word_count, .words = words};
    struct zone_named zone;
    char users[USERS_ROOM];
    struct connection pool;
    int status;

    if (!settings_good(settings) || !booking_users(&order, settings->users, users, sizeof users) ||
        !order_begins(settings, &zone, &order))
        return STATUS_BAD;
    order.arrive = settings->arrive;
    order.count = (int64_t)settings->count;
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = machines_find(&pool, settings, &search);
    if (status == STATUS_DONE)
        status = machines_book(&pool, settings, &order, &search);
    if (status == STATUS_DONE && settings->json)
        reserved_print_json(&pool, &order, &search);
    else if (status == STATUS_DONE)
        reserved_print(&order, &search);
    free(search.machines);
    connection_close(&pool);
    return status;
}

const struct command command_reserve = {
    .name = "reserve",
    .summary = "keep machines for some users, from a moment on",
    .usage = "[OPTIONS] --for SPAN --users NAMES [MACHINE...]",
    .about =
        "Reserves whole machines: those that are named, or as many as --count says of those for which --constraint is true. All of them are "
        "reserved, or none. From --from on, for as long as --for says, only jobs of these users begin there, or jobs that name one of these groups as "
        "their AccountingGroup. Before that a job of others begins there only if it ends in time by its TimeLimit; or if it yields: a job with Yields = "
        "true, or without a TimeLimit unless it says Yields = false, begins until an hour before, and is warned and ended in time, to begin again elsewhere. "
        "A machine on which a job runs that may not have ended by then refuses, and so does one that is booked already: another that fits is asked.\n\n"
        "With --every it comes again, at times as in crontab in a time zone that is named; each time is as long as --for says. No other reservation can be made for any of these times. At "
        "times when nobody comes within --arrive the machine is given back until the next one; after three such times in a row the rule is over. What summer time does is as in `berth cron`.\n\n"
        "Each machine writes its booking down and keeps it by itself, with or without the matchmaker. A machine on which nobody has begun a job in the time of "
        "--arrive is given back. The constraint of its owner holds all the while; an owner who does not want bookings, or only some, says so by Reservable in the "
        "machine's ad: Reservable = other.Until - other.From <= 4 * 3600 && other.By == \"ada\".\n\n"
        "Administrators may reserve any machine, and owners their own. `berth reservations` lists them and gives them back. The status is 1 when not enough "
        "machines can be had.",
    .examples = {{"berth reserve --every '0 20 * * mon-fri' --for 2h --users lab heron", NULL},
                 {"berth reserve --from 20:00 --for 2h -c 'Memory >= 64G' --count 4 --users lab", NULL},
                 {"berth reserve --from +1d --for 4h --users ada,grace --purpose exam heron", NULL}},
    .options = reserve_options,
    .option_count = sizeof reserve_options / sizeof *reserve_options,
    .settings_size = sizeof(struct reserve_settings),
    .defaults = &reserve_defaults,
    .run = reserve_run,
};
