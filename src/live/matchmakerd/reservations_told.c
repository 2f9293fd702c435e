/* reservations_told.c: what is reserved, as the machines of the pool tell it. */
#include "live/matchmakerd/reservations_told.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/natural.h"
#include "live/auth/token.h"
#include "live/http/represent.h"
#include "live/world/booking_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree *booking_told(const struct machine_view *view, struct symbols *symbols, uint32_t *at)
{
    const struct expr *list = view->told ? ad_find(view->told, "Bookings") : NULL;
    struct tree *row = NULL;

    while (!row && list && list->kind == EXPR_LIST && *at < list->u.run.count && *at < BOOKINGS_SHOWN) {
        const struct expr *part = &tree_parts(view->told, list)[(*at)++];
        struct tree *told = part->kind == EXPR_AD ? ad_part(view->told, part) : NULL;
        char by[TOKEN_NAME_MAX + 1];
        uint64_t booking;
        struct maker maker;

        if (told && ad_word(told, "Booking", &booking)) {
            maker_init(&maker, symbols);
            maker_word(&maker, "Booking", booking);
            maker_text(&maker, "By", ad_text(told, "By", by, sizeof by) ? by : NULL);
            if (booking_form_copy(&maker, told))
                tree_unref(maker_seal(&maker));
            else
                row = maker_seal(&maker);
        }
        tree_unref(told);
    }
    return row;
}

/* ---------------------------------------------------------------------------------------------------------------- life */

void reservations_told_init(struct reservations_told *list, uint64_t seed)
{
    *list = (struct reservations_told){.count = 0};
    textmap_init(&list->said, seed);
}

void reservations_told_done(struct reservations_told *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct reservation_told *one = &list->items[i];

        for (uint32_t k = 0; k < one->count; k++)
            free(one->machines[k].name);
        free(one->machines);
        tree_unref(one->booking);
    }
    free(list->items);
    textmap_done(&list->said);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

/* The reservation of which just that is told. Who ordered it last may differ: one machine may have had it from a change that was taken back. */
static struct reservation_told *reservation_of(struct reservations_told *list, uint64_t id, struct tree *booking)
{
    static const char *const of_each[] = {"By", "Held", "From", "Until"};
    bool again =
        ad_find(booking, "Every"); /* then each machine is at one of its times, and one that nobody used has gone on */
    struct tree *same = ad_without_all(booking, of_each, again ? 4 : 2);
    struct reservation_told *made;
    struct buf text;
    uint32_t place;

    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, same);
    place = textmap_add(&list->said, text.text, text.len);
    buf_done(&text);
    tree_unref(same);
    if (place < list->count)
        return &list->items[place];
    ARRAY_ROOM(list->items, list->count, list->room, 16);
    made = &list->items[list->count++];
    *made = (struct reservation_told){.id = id, .booking = tree_ref(booking)};
    ad_integer(booking, "From", &made->from);
    ad_integer(booking, "Until", &made->until);
    return made;
}

/* Of machines that are at several of its times the first counts. */
static void reservation_begins(struct reservation_told *one, struct tree *booking)
{
    int64_t from;

    if (!ad_integer(booking, "From", &from) || from >= one->from)
        return;
    tree_unref(one->booking);
    one->booking = tree_ref(booking);
    one->from = from;
    ad_integer(booking, "Until", &one->until);
}

uint32_t reservations_told_add(struct reservations_told *list, const struct machine_view *view, struct symbols *symbols,
                               uint64_t only)
{
    uint32_t at = 0, count = 0;
    struct tree *booking;

    for (; (booking = booking_told(view, symbols, &at)); count++) {
        struct reservation_told *one;
        const char *name;
        uint64_t id;
        size_t len;

        if (ad_word(booking, "Booking", &id) && (!only || id == only)) {
            one = reservation_of(list, id, booking);
            one->held = one->held || ad_find(booking, "Held");
            one->said = view->said > one->said ? view->said : one->said;
            reservation_begins(one, booking);
            if (one->count && one->machines[one->count - 1].agent == view->agent && /* it tells it twice */
                one->machines[one->count - 1].id == view->id) {
                tree_unref(booking);
                continue;
            }
            ARRAY_ROOM(one->machines, one->count, one->room, 4);
            one->machines[one->count++] = (struct reserved_machine){
                .name = ad_string(view->whole, "Name", &name, &len) ? mem_dup(name, len) : NULL,
                .agent = view->agent,
                .id = view->id};
        }
        tree_unref(booking);
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------------------- showing */

static int begins_before(const void *a, const void *b)
{
    const struct reservation_told *one = a, *other = b;

    return one->from != other->from ? (one->from > other->from) - (one->from < other->from)
                                    : (one->id > other->id) - (one->id < other->id);
}

static int named_before(const void *a, const void *b)
{
    const struct reserved_machine *one = a, *other = b;
    const char *left = one->name ? one->name : "", *right = other->name ? other->name : "";
    int order = natural_compare(left, strlen(left), right, strlen(right));

    return order ? order : (one->agent > other->agent) - (one->agent < other->agent);
}

void reservations_told_sort(struct reservations_told *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        qsort(list->items[i].machines, list->items[i].count, sizeof *list->items[i].machines, named_before);
    if (list->count && list->count <= RESERVATIONS_SORTED)
        qsort(list->items, list->count, sizeof *list->items, begins_before);
}

static const char *state_of(const struct reservation_told *one, int64_t now)
{
    return one->held ? "held" : now < one->from ? "booked" : now < one->until ? "open" : "over";
}

struct tree *reservation_told_ad(const struct reservation_told *one, struct symbols *symbols, int64_t now)
{
    static const char *const other[] = {"Booking", "Held"};
    struct tree *booking = ad_without_all(one->booking, other, sizeof other / sizeof *other);
    const char **names = mem_alloc((one->count + 1) * sizeof *names);
    char(*agents)[17] = mem_alloc((one->count + 1) * sizeof *agents);
    struct maker maker;

    maker_init(&maker, symbols);
    maker_word(&maker, "Reservation", one->id);
    maker_text(&maker, "State", state_of(one, now));
    maker_parts(&maker, booking, NULL);
    for (uint32_t i = 0; i < one->count; i++)
        names[i] = one->machines[i].name ? one->machines[i].name : "";
    maker_texts(&maker, "Machines", names, one->count);
    for (uint32_t i = 0; i < one->count; i++) {
        snprintf(agents[i], sizeof agents[i], "%016" PRIx64, one->machines[i].agent);
        names[i] = agents[i];
    }
    maker_texts(&maker, "Agents", names, one->count);
    tree_unref(booking);
    free(agents);
    free(names);
    return maker_seal(&maker);
}
