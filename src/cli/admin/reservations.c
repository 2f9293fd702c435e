/* reservations.c: berth reservations: lists what is reserved, shows one of them, changes it, and gives it back. */
#include "cli/admin/booking.h"
#include "cli/admin/zone_name.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/moment.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/base/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define USERS_ROOM 1200

struct reservations_settings {
    struct connection_options pool;
    int64_t from, span, wait;
    const char *users, *told_by, *every, *zone;
    int64_t last;
    bool json;
};

#define S struct reservations_settings
static const struct option reservations_options[] = {
    {0, "from", "MOMENT", "change: when it begins", option_moment, offsetof(S, from)},
    {0, "for", "SPAN", "change: how long it lasts", option_span, offsetof(S, span)},
    {0, "users", "NAMES", "change: for whom, with commas between", option_text, offsetof(S, users)},
    {0, "every", "TIMES", "change: at which times it comes again", option_text, offsetof(S, every)},
    {0, "zone", "ZONE", "of --every: the time zone of these times; that of this machine if not given", option_text,
     offsetof(S, zone)},
    {0, "last", "MOMENT", "change: of one that comes again: it begins no later than that", option_moment,
     offsetof(S, last)},
    {0, "told-by", "MACHINE", "change: only the machines that tell the same of it as this", option_text,
     offsetof(S, told_by)},
    {0, "wait", "SPAN", "wait so long for the answers of machines: 20 s is the default", option_wait,
     offsetof(S, wait)},
    {0, "json", NULL, "JSON lines: an object a row; moments in seconds since 1970", option_flag, offsetof(S, json)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct reservations_settings reservations_defaults = {.wait = AWAITED_WAIT};

static const char *const table_names[] = {"reservation", "state", "machines", "when", "users", "by", "purpose"};
#define TABLE_NAMES (sizeof table_names / sizeof *table_names)

/* ------------------------------------------------------------------------------------------------------------ showing */

static const char *state_of(const struct reservation *reservation)
{
    int64_t now = (int64_t)time(NULL);

    return reservation->held ? "held" : now < reservation->from ? "booked" : now < reservation->until ? "open" : "over";
}

static void users_print(struct buf *out, const struct tree *booking)
{
    const struct expr *users = ad_find(booking, "Users");

    for (uint32_t i = 0; users && users->kind == EXPR_LIST && i < users->u.run.count; i++) {
        const struct expr *user = &tree_parts(booking, users)[i];

        if (user->kind != EXPR_STRING)
            continue;
        buf_adds(out, i ? "," : "");
        buf_add(out, tree_string(booking, user), user->u.run.count);
    }
    text_tame(out, 0);
}

/* Appends " and again at 0 20 * * mon-fri in Europe/Berlin". */
static void every_print(struct buf *out, const struct tree *booking)
{
    size_t from = out->len;

    if (!ad_find(booking, "Every"))
        return;
    buf_adds(out, " and again at ");
    cell_print(out, booking, "Every", CELL_VALUE, 0);
    buf_adds(out, " in ");
    cell_print(out, booking, ad_find(booking, "Zone") ? "Zone" : "ZoneRule", CELL_VALUE, 0);
    text_tame(out, from);
}

static void cell_take(struct table *table, struct buf *text)
{
    table_text(table, text->text ? text->text : "", text->len);
    buf_reset(text);
}

static void row_add(struct table *table, const struct reservation *reservation)
{
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "%016" PRIx64, reservation->id);
    cell_take(table, &text);
    buf_adds(&text, state_of(reservation));
    cell_take(table, &text);
    if (reservation->wanted > reservation->count)
        buf_addf(&text, "%u of %" PRId64, reservation->count, reservation->wanted);
    else
        buf_addf(&text, "%u", reservation->count);
    cell_take(table, &text);
    booking_span_print(&text, reservation->from, reservation->until);
    every_print(&text, reservation->booking);
    cell_take(table, &text);
    users_print(&text, reservation->booking);
    cell_take(table, &text);
    cell_print(&text, reservation->booking, "By", CELL_VALUE, 0);
    cell_take(table, &text);
    cell_print(&text, reservation->booking, "Purpose", CELL_VALUE, 0);
    cell_take(table, &text);
    buf_done(&text);
}

/* The reservation as an ad, for programs. */
static struct tree *reservation_ad(const struct connection *pool, const struct reservation *reservation)
{
    const char **names = mem_alloc((reservation->count + 1) * sizeof *names);
    struct maker maker;

    for (uint32_t i = 0; i < reservation->count; i++)
        names[i] = reservation->machines[i].name;
    maker_init(&maker, pool->symbols);
    maker_parts(&maker, reservation->booking, NULL);
    maker_text(&maker, "State", state_of(reservation));
    maker_texts(&maker, "Machines", names, reservation->count);
    free(names);
    return maker_seal(&maker);
}

static void json_print(const struct connection *pool, const struct reservations *list, const struct reservation *only)
{
    struct rows rows;

    rows_init(&rows, ROWS_JSON, NULL, 0);
    for (uint32_t i = 0; i < list->count; i++) {
        struct tree *ad;

        if (only && only->id != list->items[i].id)
            continue;
        ad = reservation_ad(pool, &list->items[i]);
        rows_add(&rows, ad);
        tree_unref(ad);
    }
    rows_finish(&rows);
    rows_done(&rows);
}

static void list_print(const struct reservations *list)
{
    struct table table;

    table_init(&table, table_names, TABLE_NAMES, false);
    for (uint32_t i = 0; i < list->count; i++)
        row_add(&table, &list->items[i]);
    table_finish(&table);
    table_done(&table);
}

static void one_print(const struct reservation *reservation)
{
    struct buf out;

    buf_init(&out);
    buf_addf(&out, "%016" PRIx64 " is %s, ", reservation->id, state_of(reservation));
    booking_span_print(&out, reservation->from, reservation->until);
    every_print(&out, reservation->booking);
    buf_adds(&out, ", for ");
    users_print(&out, reservation->booking);
    if (reservation->wanted > reservation->count)
        buf_addf(&out, ": %u of %" PRId64 " machines are left", reservation->count, reservation->wanted);
    buf_addc(&out, '\n');
    for (uint32_t i = 0; i < reservation->count; i++)
        buf_addf(&out, "%s\n", reservation->machines[i].name);
    output_write(&out);
    buf_done(&out);
}

static void all_print(const struct reservations *list, uint64_t id)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].id == id)
            one_print(&list->items[i]);
}

/* ------------------------------------------------------------------------------------------------------ changing, ending */

/* Reports what machines have said, and frees it. Returns how many have refused. */
static uint32_t said_report(const struct reservation *reservation, char **said)
{
    uint32_t refused = 0;

    for (uint32_t i = 0; i < reservation->count; i++) {
        if (said[i])
            report("%s: %s", reservation->machines[i].name, said[i]);
        refused += said[i] != NULL;
    }
    return refused;
}

/* Says what has become of it. */
static void done_print(const struct reservation *reservation, const struct booking_order *order)
{
    struct buf out;

    buf_init(&out);
    buf_addf(&out, "%016" PRIx64 " is ", reservation->id);
    if (order->release)
        buf_adds(&out, "given back");
    else
        booking_terms_print(&out, order);
    text_tame(&out, 0);
    buf_addc(&out, '\n');
    output_write(&out);
    buf_done(&out);
}

static int tell_all(struct connection *pool, const struct booking_order *order, const struct reservation *reservation,
                    int64_t wait, char ***ret_said)
{
    *ret_said = mem_alloc((reservation->count + 1) * sizeof **ret_said);
    return booking_tell(pool, order, reservation->machines, reservation->count, wait, *ret_said);
}

static void said_free(const struct reservation *reservation, char **said)
{
    for (uint32_t i = 0; i < reservation->count; i++)
        free(said[i]);
    free(said);
}

static int reservation_release(struct connection *pool, const struct reservations_settings *settings,
                               const struct reservations *list, uint64_t id)
{
    struct booking_order order;
    struct reservation whole;
    char **said;
    int status;

    reservation_whole(list, id, &whole);
    order = booking_release(id, whole.until);
    status = tell_all(pool, &order, &whole, settings->wait, &said);
    if (status == STATUS_DONE && said_report(&whole, said)) {
        report("the others have given it back; the command waits for these");
        status = STATUS_NO;
    } else if (status == STATUS_DONE) {
        done_print(&whole, &order);
    } else {
        report("some of its machines may not have been told: give it back again");
    }
    said_free(&whole, said);
    free(whole.machines);
    return status;
}

/* What is told of one that comes again; each is empty where it is not said. */
struct rule_words {
    char every[SCHEDULE_TEXT_MAX + 1], zone[ZONE_TEXT_MAX + 1], zone_rule[ZONE_TEXT_MAX + 1];
};

static void rule_of(const struct reservation *reservation, struct rule_words *words, struct booking_order *ret)
{
    *words = (struct rule_words){{0}, {0}, {0}};
    if (!ad_text(reservation->booking, "Every", words->every, sizeof words->every) ||
        !ad_text(reservation->booking, "ZoneRule", words->zone_rule, sizeof words->zone_rule))
        return;
    if (!ad_text(reservation->booking, "Zone", words->zone, sizeof words->zone))
        memcpy(words->zone, words->zone_rule, sizeof words->zone);
    ret->every = words->every;
    ret->zone = words->zone;
    ret->zone_rule = words->zone_rule;
    ad_integer(reservation->booking, "Last", &ret->last);
}

/* The order by which the reservation is as it is. */
static bool order_of(const struct reservation *reservation, struct booking_order *ret, char *room, size_t size)
{
    struct buf users;
    bool good;

    *ret = (struct booking_order){.id = reservation->id, .from = reservation->from, .until = reservation->until};
    ad_integer(reservation->booking, "Arrive", &ret->arrive);
    ret->count = reservation->wanted;
    buf_init(&users);
    users_print(&users, reservation->booking);
    good = booking_users(ret, buf_string(&users), room, size);
    buf_done(&users);
    return good;
}

static int changed_partly(int status)
{
    report("it may be changed on some of its machines, and not on others: `berth reservations` shows both");
    return status;
}

/* Not all machines could: those that have are told the old one again. */
static int change_undo(struct connection *pool, const struct booking_order *old, const struct reservation *reservation,
                       int64_t wait)
{
    uint32_t refused = 0;
    char **said;
    int status = tell_all(pool, old, reservation, wait, &said);

    if (status == STATUS_DONE)
        refused = said_report(reservation, said);
    said_free(reservation, said);
    if (status != STATUS_DONE || refused)
        return changed_partly(STATUS_NO);
    report("not all machines can: it stays as it was");
    return STATUS_NO;
}

static bool is_called(const struct booked_machine *machine, const char *name)
{
    char number[17];

    snprintf(number, sizeof number, "%016" PRIx64, machine->agent);
    return !strcasecmp(machine->name, name) || !strcasecmp(number, name);
}

/* The one of that number that is to be changed; NULL after a report: its machines do not agree, and nobody says which of them is right. */
static const struct reservation *told_by(const struct reservations *list, const struct reservation *reservation,
                                         const char *machine)
{
    const struct reservation *other = reservation_other(list, reservation), *found = NULL;

    if (!machine && !other)
        return reservation;
    if (!machine) {
        report("%s and %s do not tell the same of it: say whose word holds, --told-by %s, or give it back",
               reservation->machines[0].name, other->machines[0].name, reservation->machines[0].name);
        return NULL;
    }
    for (uint32_t i = 0; i < list->count; i++)
        for (uint32_t at = 0; list->items[i].id == reservation->id && at < list->items[i].count; at++) {
            if (!is_called(&list->items[i].machines[at], machine))
                continue;
            if (found && found != &list->items[i]) {
                report("--told-by: several of its machines call themselves %.60s: name one by its agent", machine);
                return NULL;
            }
            found = &list->items[i];
        }
    if (!found)
        report("--told-by: no machine of the reservation is called %.60s", machine);
    return found;
}

/* May what is to be changed be changed of that one? */
static bool change_fits(const struct reservations_settings *settings, const struct booking_order *old)
{
    if (old->every ? settings->from != 0 : settings->every || settings->last) {
        report(old->every ? "it comes again: --every says when it begins, not --from"
                          : "it comes once: --every and --last are for one that comes again");
        return false;
    }
    if (settings->zone && !settings->every) {
        report("--zone goes with --every");
        return false;
    }
    return true;
}

/* Each machine books the new interval in the place of the old one, or stays as it is. What is not changed is taken from what its machines tell: so they must
 * agree, or one that lies would change what the others have. */
static int reservation_change(struct connection *pool, const struct reservations_settings *settings,
                              const struct reservation *reservation)
{
    char room[USERS_ROOM], new_room[USERS_ROOM], purpose[64] = "", **said;
    struct booking_order old, order;
    struct rule_words rule;
    struct zone_named zone;
    int status;

    if (!order_of(reservation, &old, room, sizeof room))
        return STATUS_NO;
    rule_of(reservation, &rule, &old);
    if (!change_fits(settings, &old) || (settings->every && !zone_named(settings->zone, &zone)))
        return STATUS_BAD;
    if (ad_text(reservation->booking, "Purpose", purpose, sizeof purpose))
        old.purpose = purpose;
    old.life = settings->wait + 1;
    order = old;
    if (settings->users && !booking_users(&order, settings->users, new_room, sizeof new_room))
        return STATUS_BAD;
    if (settings->every) {
        order.every = settings->every;
        order.zone = zone.name;
        order.zone_rule = zone.rule;
    }
    order.last = settings->last ? settings->last : old.last;
    order.from = settings->from ? settings->from : old.from;
    if (settings->every && !booking_first(&order, &zone.zone, &order.from))
        return STATUS_BAD;
    order.until = order.from + (settings->span ? settings->span : old.until - old.from);
    status = tell_all(pool, &order, reservation, settings->wait, &said);
    if (status == STATUS_DONE && said_report(reservation, said)) {
        status = change_undo(pool, &old, reservation, settings->wait);
    } else if (status == STATUS_DONE) {
        done_print(reservation, &order);
    } else {
        status = changed_partly(status);
    }
    said_free(reservation, said);
    return status;
}

/* --------------------------------------------------------------------------------------------------------------- run */

static bool words_good(const struct reservations_settings *settings, int word_count, char **words)
{
    const char *what = word_count > 1 ? words[1] : "";
    bool changes = settings->from || settings->span || settings->users || settings->every || settings->last;

    if (word_count > 2 || (word_count == 2 && strcmp(what, "change") != 0 && strcmp(what, "release") != 0)) {
        report("reservations wants nothing, or a number, and perhaps change or release");
        return false;
    }
    if (changes != !strcmp(what, "change") || (settings->told_by && !changes)) {
        report(strcmp(what, "change") != 0 ? "--from, --for, --every, --last, --users and --told-by are for change"
                                           : "change wants --from, --for, --every, --last or --users");
        return false;
    }
    return true;
}

static int reservations_run(const void *given, int word_count, char **words)
{
    const struct reservations_settings *settings = given;
    const struct reservation *one = NULL;
    struct reservations list = {0};
    struct connection pool;
    int status;

    if (!words_good(settings, word_count, words))
        return STATUS_BAD;
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = reservations_fetch(&pool, &list);
    if (status == STATUS_DONE && word_count && !(one = reservation_named(&list, words[0])))
        status = STATUS_NO;
    if (one && word_count == 2 && !strcmp(words[1], "change") && !(one = told_by(&list, one, settings->told_by)))
        status = STATUS_NO;
    if (status == STATUS_DONE && word_count == 2)
        status = !strcmp(words[1], "release") ? reservation_release(&pool, settings, &list, one->id)
                                              : reservation_change(&pool, settings, one);
    else if (status == STATUS_DONE && settings->json)
        json_print(&pool, &list, one);
    else if (status == STATUS_DONE && one)
        all_print(&list, one->id);
    else if (status == STATUS_DONE)
        list_print(&list);
    reservations_done(&list);
    connection_close(&pool);
    return status;
}

const struct command command_reservations = {
    .name = "reservations",
    .summary = "list reservations, change them, or give them back",
    .usage = "[OPTIONS]\n[OPTIONS] NUMBER\n[OPTIONS] NUMBER change\n[OPTIONS] NUMBER release",
    .about =
        "Prints a row for each reservation of `berth reserve`: its number, of which the beginning will do where it is the only one; whether it is held (being "
        "made), booked or open; how many machines it has, and of how many; when, for whom, by whom and what for. With a number, its machines. Machines that do not "
        "tell the same of one have rows of their own: it can be given back, or changed with --told-by, which names a machine of the row that is true; the machines of the other rows stay as they are.\n\n"
        "change: each machine takes the times and users of --from, --for and --users in the place of the old ones, if it can; if one cannot, the others are told the old ones again. Where the pool is lost in the middle, or a machine, it may be "
        "changed on some of them only, which is said. release: its "
        "machines are given back. Who may reserve a machine may do both.\n\n"
        "The machines themselves have told the pool of these bookings: those of one that the pool has not heard of for long are not listed.",
    .examples = {{"berth reservations", NULL},
                 {"berth reservations 5f0c change --for 3h", NULL},
                 {"berth reservations 5f0c change --for 3h --told-by heron",
                  "some of its machines tell something else of it"},
                 {"berth reservations 5f0c release", NULL}},
    .options = reservations_options,
    .option_count = sizeof reservations_options / sizeof *reservations_options,
    .settings_size = sizeof(struct reservations_settings),
    .defaults = &reservations_defaults,
    .run = reservations_run,
};
