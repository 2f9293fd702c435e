/* booking.c: reservations, as a pool knows them by its machines, and the commands by which they are made. */
#include "cli/admin/booking.h"

#include "cli/term/command.h"
#include "cli/term/moment.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/natural.h"
#include "lang/base/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RELEASE_WAITS (30 * 86400)       /* seconds, at most: as long as commands may (COMMAND_LIFE_MAX) */
#define MOMENT_MAX INT64_C(253402300800) /* the year 10000 */

/* ------------------------------------------------------------------------------------------------------------- looking */

void machine_name_copy(char ret[MACHINE_NAME_ROOM], const struct tree *machine)
{
    struct buf text;

    buf_init(&text);
    cell_print(&text, machine, "Name", CELL_VALUE, 0);
    text_tame(&text, 0);
    snprintf(ret, MACHINE_NAME_ROOM, "%s", buf_string(&text));
    buf_done(&text);
}

/* Is the same told of it in both? Who ordered it last may differ: one may have had it from a change that was taken back. */
static bool bookings_agree(const struct tree *one, const struct tree *other)
{
    static const char *const names[] = {"Users",    "Count", "Arrive", "Purpose", "Every",
                                        "ZoneRule", "Last",  "From",   "Until"};
    size_t count = sizeof names / sizeof *names;

    if (ad_find(one, "Every")) /* each machine is at one of its times, and one that nobody used has gone on */
        count -= 2;
    for (size_t i = 0; i < count; i++) {
        const struct expr *left = ad_find(one, names[i]), *right = ad_find(other, names[i]);

        if (left && right ? !tree_equal(one, left, other, right) : left != right)
            return false;
    }
    return true;
}

static struct reservation *reservation_of(struct reservations *list, uint64_t id, struct tree *booking)
{
    struct reservation *made;

    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].id == id && bookings_agree(list->items[i].booking, booking))
            return &list->items[i];
    ARRAY_ROOM(list->items, list->count, list->room, 16);
    made = &list->items[list->count++];
    *made = (struct reservation){.id = id, .booking = tree_ref(booking)};
    ad_integer(booking, "From", &made->from);
    ad_integer(booking, "Until", &made->until);
    ad_integer(booking, "Count", &made->wanted);
    return made;
}

static void booking_add(struct reservations *list, const struct tree *machine, struct tree *booking)
{
    struct reservation *reservation;
    struct booked_machine *added;
    int64_t from, until;
    uint64_t id, who;

    if (!ad_word(booking, "Booking", &id) || !ad_word(machine, "Agent", &who) || !ad_integer(booking, "From", &from) ||
        !ad_integer(booking, "Until", &until) || from < 0 || until < from || until > MOMENT_MAX)
        return;
    reservation = reservation_of(list, id, booking);
    reservation->held = reservation->held || ad_find(booking, "Held");
    if (from < reservation->from) { /* of several of its times the first counts */
        reservation->from = from;
        reservation->until = until;
    }
    ARRAY_ROOM(reservation->machines, reservation->count, reservation->room, 4);
    added = &reservation->machines[reservation->count++];
    added->agent = who;
    machine_name_copy(added->name, machine);
}

static bool machine_look(void *user, struct tree *machine)
{
    const struct expr *list = ad_find(machine, "Bookings");

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        const struct expr *part = &tree_parts(machine, list)[i];
        struct tree *booking = part->kind == EXPR_AD ? ad_part(machine, part) : NULL;

        if (booking)
            booking_add(user, machine, booking);
        tree_unref(booking);
    }
    return true;
}

static int begins_before(const void *a, const void *b)
{
    const struct reservation *one = a, *other = b;

    return one->from != other->from ? (one->from > other->from) - (one->from < other->from)
                                    : (one->id > other->id) - (one->id < other->id);
}

static int named_before(const void *a, const void *b)
{
    const struct booked_machine *one = a, *other = b;

    return natural_compare(one->name, strlen(one->name), other->name, strlen(other->name));
}

int reservations_fetch(struct connection *pool, struct reservations *ret)
{
    int status;

    *ret = (struct reservations){0};
    status = connection_list(pool, "/v1/machines", 0, machine_look, ret);
    if (ret->count)
        qsort(ret->items, ret->count, sizeof *ret->items, begins_before);
    for (uint32_t i = 0; i < ret->count; i++)
        qsort(ret->items[i].machines, ret->items[i].count, sizeof *ret->items[i].machines, named_before);
    return status;
}

void reservations_done(struct reservations *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        tree_unref(list->items[i].booking);
        free(list->items[i].machines);
    }
    free(list->items);
}

static const struct reservation *first_of(const struct reservations *list, uint64_t id)
{
    uint32_t i = 0;

    while (list->items[i].id != id)
        i++;
    return &list->items[i];
}

const struct reservation *reservation_named(const struct reservations *list, const char *text)
{
    const struct reservation *found = NULL;
    uint32_t count = 0;
    char number[17];

    for (uint32_t i = 0; i < list->count; i++) {
        snprintf(number, sizeof number, "%016" PRIx64, list->items[i].id);
        if (strncmp(number, text, strlen(text)) != 0 || first_of(list, list->items[i].id) != &list->items[i])
            continue;
        found = &list->items[i];
        count++;
    }
    if (count == 1)
        return found;
    if (count)
        report("%u reservations have numbers that begin with %.16s", count, text);
    else
        report("there is no reservation %.40s; `berth reservations` lists them", text);
    return NULL;
}

const struct reservation *reservation_other(const struct reservations *list, const struct reservation *reservation)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].id == reservation->id && &list->items[i] != reservation)
            return &list->items[i];
    return NULL;
}

void reservation_whole(const struct reservations *list, uint64_t id, struct reservation *ret)
{
    *ret = (struct reservation){.id = id};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct reservation *part = &list->items[i];

        if (part->id != id)
            continue;
        ret->until = part->until > ret->until ? part->until : ret->until;
        for (uint32_t at = 0; at < part->count; at++) {
            ARRAY_ROOM(ret->machines, ret->count, ret->room, 4);
            ret->machines[ret->count++] = part->machines[at];
        }
    }
}

void booking_span_print(struct buf *out, int64_t from, int64_t until)
{
    int64_t now = (int64_t)time(NULL);

    moment_say(out, from, now);
    buf_adds(out, " to ");
    moment_say(out, until, now);
}

void booking_terms_print(struct buf *out, const struct booking_order *order)
{
    booking_span_print(out, order->from, order->until);
    if (order->every)
        buf_addf(out, " and again at %s in %s", order->every, order->zone);
    buf_adds(out, ", for ");
    for (size_t i = 0; i < order->user_count; i++)
        buf_addf(out, "%s%s", i ? ", " : "", order->users[i]);
}

/* ------------------------------------------------------------------------------------------------------------- telling */

bool booking_users(struct booking_order *order, const char *text, char *room, size_t size)
{
    char *at = room, *comma;

    order->user_count = 0;
    if (strlen(text) >= size) {
        report("--users: these are too many names");
        return false;
    }
    memcpy(room, text, strlen(text) + 1);
    for (; at; at = comma ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        if (!*at || order->user_count == BOOKING_NAMES_MAX) {
            report("--users: expected 1 to %d names of users or groups, with commas between", BOOKING_NAMES_MAX);
            return false;
        }
        order->users[order->user_count++] = at;
    }
    return true;
}

bool booking_first(const struct booking_order *order, const struct zone *zone, int64_t *ret)
{
    struct zone local = *zone;
    struct schedule schedule;
    struct err err = {0};

    if (schedule_read(order->every, strlen(order->every), &schedule, &err) < 0 || schedule.every) {
        report("--every: %s", *err.text ? err.text : "expected times as in crontab: '0 20 * * mon-fri'");
        return false;
    }
    *ret = schedule_next(&schedule, (int64_t)time(NULL) - 1, 0, zone_offset, &local);
    if (*ret != SCHEDULE_NEVER && (!order->last || *ret <= order->last))
        return true;
    report("--every: no such time comes%s", order->last ? " before --last" : "");
    return false;
}

static struct tree *order_make(struct connection *pool, const struct booking_order *order)
{
    struct maker maker;

    maker_init(&maker, pool->symbols);
    maker_text(&maker, "Command", order->release ? "release" : order->every ? "repeat" : "book");
    maker_word(&maker, "Booking", order->id);
    maker_integer(&maker, "Lifetime", order->life);
    if (order->release)
        return maker_seal(&maker);
    maker_integer(&maker, "From", order->from);
    maker_integer(&maker, "Until", order->until);
    if (order->held)
        maker_integer(&maker, "Held", order->held);
    if (order->arrive)
        maker_integer(&maker, "Arrive", order->arrive);
    if (order->count)
        maker_integer(&maker, "Count", order->count);
    maker_texts(&maker, "Users", order->users, order->user_count);
    maker_text(&maker, "Purpose", order->purpose);
    maker_text(&maker, "Every", order->every);
    if (order->every) {
        maker_text(&maker, "Zone", order->zone);
        maker_text(&maker, "ZoneRule", order->zone_rule);
    }
    if (order->last)
        maker_integer(&maker, "Last", order->last);
    return maker_seal(&maker);
}

static int machine_tell(struct connection *pool, const struct tree *body, const struct booked_machine *machine,
                        struct tree **ret)
{
    char path[64];

    snprintf(path, sizeof path, "/v1/agents/%016" PRIx64 "/commands", machine->agent);
    return awaited_give(pool, path, body, 0, ret);
}

/* Why the machine has not done it; NULL: it has. The caller frees it. */
static char *machine_said(const struct tree *command)
{
    struct tree *answer = command ? awaited_answer(command) : NULL;
    const char *text = "it has not answered";
    size_t len = strlen(text);
    char *said = NULL;
    struct buf words;

    if (!answer || !ad_string(answer, "Reason", &text, &len) || len != 2 || memcmp(text, "ok", 2) != 0) {
        if (answer)
            ad_string(answer, "Words", &text, &len);
        buf_init(&words);
        buf_add(&words, text, len);
        text_tame(&words, 0);
        said = mem_dup(buf_string(&words), words.len);
        buf_done(&words);
    }
    tree_unref(answer);
    return said;
}

int booking_tell(struct connection *pool, const struct booking_order *order, const struct booked_machine *machines,
                 uint32_t count, int64_t wait, char **ret)
{
    struct tree *body = order_make(pool, order), **commands = mem_alloc((count + 1) * sizeof(struct tree *));
    int64_t end = (int64_t)time(NULL) + wait, left;
    int status = STATUS_DONE;

    memset(commands, 0, (count + 1) * sizeof *commands);
    for (uint32_t i = 0; i < count && status != STATUS_UNREACHABLE; i++)
        status = machine_tell(pool, body, &machines[i], &commands[i]);
    for (uint32_t i = 0; i < count; i++) {
        left = end - (int64_t)time(NULL);
        if (commands[i] && status != STATUS_UNREACHABLE)
            status = awaited_follow(pool, left > 0 ? left : 0, &commands[i]);
        ret[i] = machine_said(commands[i]);
        tree_unref(commands[i]);
    }
    tree_unref(body);
    free(commands);
    return status == STATUS_UNREACHABLE ? status : STATUS_DONE;
}

struct booking_order booking_release(uint64_t id, int64_t until)
{
    int64_t left = until - (int64_t)time(NULL);

    left = left < 60 ? 60 : left;
    return (struct booking_order){.id = id, .release = true, .life = left < RELEASE_WAITS ? left : RELEASE_WAITS};
}

void booking_give_back(struct connection *pool, uint64_t id, int64_t until, const struct booked_machine *machines,
                       uint32_t count)
{
    struct booking_order order = booking_release(id, until);
    struct tree *body = order_make(pool, &order), *command;

    for (uint32_t i = 0; i < count; i++) {
        command = NULL;
        if (machine_tell(pool, body, &machines[i], &command) == STATUS_DONE)
            tree_unref(command);
    }
    tree_unref(body);
}
