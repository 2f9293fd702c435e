/* gang_why.c: is there a gang for a request, and which of its ports cannot be filled together? */
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/gang/gang_why_parts.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ what is kept */

struct tree *gang_why_hold(struct gang_why *why, struct tree *taken)
{
    ARRAY_ROOM(why->held, why->held_count, why->held_room, 32);
    return why->held[why->held_count++] = taken;
}

const char *gang_why_text(struct gang_why *why, struct buf *text)
{
    const char *string = buf_string(text);

    return arena_text(&why->arena, string, text->len + 1);
}

const char *gang_why_label(struct gang_why *why, const struct ports *ports, uint32_t port)
{
    const char *result, *label;
    struct buf text;
    size_t len;

    buf_init(&text);
    label = port_label(ports, port, &len);
    buf_add(&text, label, len);
    result = gang_why_text(why, &text);
    buf_done(&text);
    return result;
}

bool gang_why_hides(const struct gang_asking *asking, size_t offer)
{
    return asking->terms->hidden && offer != SEAT_NOBODY && asking->terms->hidden[offer];
}

const struct tree *gang_why_veil(struct gang_asking *asking, const struct tree *ad)
{
    if (!asking->veil)
        asking->veil = gang_why_hold(asking->why, asking->terms->mask(ad, false));
    return asking->veil;
}

bool gang_why_ported(const struct tree *ad)
{
    return tree_find(ad, tree_root(ad), NAME_PORTS) != NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ a gang */

static void keep_gang(struct gang_asking *asking)
{
    const struct search *search = &asking->search;
    struct gang_why *why = asking->why;

    why->gang = arena_alloc(&why->arena, (search->best_count + 1) * sizeof *why->gang);
    why->gang_count = 0;
    for (uint32_t i = 1; i < search->best_count; i++) {
        const struct gang_member *member = &search->best[i];
        const struct ports *ports = &why->ports;

        if (member->parent)
            ports = &asking->offers.items[search->best[member->parent].place - 1].ported.ports;
        why->gang[why->gang_count++] =
            (struct gang_why_seat){i, member->parent, gang_why_label(why, ports, member->port),
                                   ports->items[member->port].set, member->place - 1};
    }
}

/* Looks for any gang, which shows that there is one; then for the best, which is the one that the request gets. */
static void find_gang(struct gang_asking *asking)
{
    struct search *search = &asking->search;

    asking->why->outcome = search_root(search, &asking->root, 0);
    if (asking->why->outcome != GANG_FORMED)
        return;
    keep_gang(asking);
    search->preferences = true;
    if (search_root(search, &asking->root, 0) == GANG_FORMED)
        keep_gang(asking);
    search->preferences = false;
}

/* ------------------------------------------------------------------------------------- ports that cannot be filled together */

/* The sets of ports that are tried: of *units*, which are ports, and groups as a whole. */
struct trying {
    struct gang_asking *asking;
    uint64_t units[PORTS_MAX]; /* the ports of each */
    uint32_t count, searches;
    uint64_t nodes; /* budget that is left for all searches */
    bool certain;   /* so far every search came to an end */
};

bool gang_why_spent(const struct gang_asking *asking)
{
    return asking->search.meter_most && asking->meter >= asking->search.meter_most;
}

static void find_units(struct trying *trying, const struct ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        uint32_t group = ports->items[i].group, last = i;

        while (group != PORTS_NO_GROUP && ports->groups[group].outer != PORTS_NO_GROUP)
            group = ports->groups[group].outer;
        if (group != PORTS_NO_GROUP)
            last = ports->groups[group].end - 1;
        for (trying->units[trying->count] = 0; i < last; i++)
            trying->units[trying->count] |= (uint64_t)1 << i;
        trying->units[trying->count++] |= (uint64_t)1 << last;
    }
}

static bool trying_may(const struct trying *trying)
{
    return trying->searches < GANG_WHY_SEARCHES_MAX && trying->nodes > 0 && !gang_why_spent(trying->asking);
}

/* Is it certain that those ports cannot be filled together, whatever becomes of the others? */
static bool cannot_fill(struct trying *trying, uint64_t ports)
{
    struct search *search = &trying->asking->search;
    uint64_t budget = search->budget;
    enum gang_outcome outcome;

    if (!trying_may(trying)) {
        trying->certain = false;
        return false;
    }
    search->only = ports;
    search->budget = trying->nodes < budget ? trying->nodes : budget;
    outcome = search_root(search, &trying->asking->root, 0);
    search->only = UINT64_MAX;
    search->budget = budget;
    trying->searches++;
    trying->nodes -= search->nodes < trying->nodes ? search->nodes : trying->nodes;
    if (outcome == GANG_GAVE_UP)
        trying->certain = false;
    return outcome == GANG_NONE;
}

/* Tries all sets of so many units, from unit `from` on, added to `ports`: the first that cannot be filled, or 0. */
static uint64_t try_sets(struct trying *trying, uint32_t size, uint32_t from, uint64_t ports)
{
    uint64_t found = 0;

    if (size == 0)
        return cannot_fill(trying, ports) ? ports : 0;
    for (uint32_t i = from; i + size <= trying->count && !found && trying_may(trying); i++)
        found = try_sets(trying, size - 1, i + 1, ports | trying->units[i]);
    return found;
}

/* Takes out of all units those without which the rest cannot be filled either. */
static uint64_t delete_units(struct trying *trying, uint32_t *ret_count)
{
    uint64_t ports = 0;

    for (uint32_t i = 0; i < trying->count; i++)
        ports |= trying->units[i];
    *ret_count = trying->count;
    for (uint32_t i = trying->count; i-- > 0 && *ret_count > 1;) {
        if (cannot_fill(trying, ports & ~trying->units[i])) {
            ports &= ~trying->units[i];
            --*ret_count;
        }
    }
    return ports;
}

/* Finds the ports that cannot be filled together. Tries sets of growing size as long as that is little work; then takes units away from all of
 * them. */
static void find_together(struct gang_asking *asking)
{
    struct trying trying = {.asking = asking, .nodes = asking->search.budget, .certain = true};
    struct gang_why *why = asking->why;
    uint32_t tried = 0, count; /* all sets of `tried` units and fewer can be filled */
    double sets = 1, all = 0;

    find_units(&trying, &why->ports);
    for (uint32_t size = 1; size <= trying.count && !why->together; size++) {
        sets = sets * (trying.count - size + 1) / size;
        all += sets;
        if (all > GANG_WHY_SEARCHES_MAX || !trying_may(&trying))
            break;
        why->together = try_sets(&trying, size, 0, 0);
        why->smallest = why->minimal = trying.certain && trying_may(&trying);
        if (why->smallest && !why->together)
            tried = size;
    }
    if (why->together || why->outcome != GANG_NONE)
        return;
    trying.searches = 0;
    trying.certain = true;
    trying.nodes = asking->search.budget;
    why->together = delete_units(&trying, &count);
    why->minimal = trying.certain;
    why->smallest = why->minimal && (count <= tried + 1 || count == trying.count);
}

/* ----------------------------------------------------------------------------------------------------------------- asking */

/* Collects the names that somebody reads of another: offers that agree in these are equal. */
static void asking_read(struct gang_asking *asking, const struct policy *policy, size_t count)
{
    for (size_t i = 0; i <= count; i++)
        name_set_read(&asking->read, asking->ads[i], tree_root(asking->ads[i]));
    if (policy->ad)
        name_set_read(&asking->read, policy->ad, tree_root(policy->ad));
    name_set_add(&asking->read, NAME_RANK);
    name_set_add(&asking->read, NAME_PREEMPTS); /* as the default vector does */
    name_set_add(&asking->read, NAME_CURRENTRANK);
}

static void asking_open(struct gang_asking *asking, struct arena *scratch, const struct policy *policy, size_t count,
                        const struct gang_settings *settings)
{
    size_t *places = mem_alloc((count + 1) * sizeof *places);

    for (size_t i = 0; i < count; i++)
        places[i] = i + 1;
    asking_read(asking, policy, count);
    members_init(&asking->members, &asking->env, policy, scratch);
    stock_init(&asking->offers, &asking->members, asking->ads, places, (uint32_t)count, strategies[GANG_AUTO].way,
               &asking->read);
    search_init(&asking->search, settings, &asking->offers, &asking->members);
    asking->why->nodes = asking->search.budget;
    for (uint32_t i = 0; i < count; i++)
        asking->why->broken += asking->offers.items[i].gone;
    free(places);
}

static void asking_close(struct gang_asking *asking)
{
    for (uint32_t i = 0; asking->faces && i < asking->offers.face_count; i++)
        tree_unref(asking->faces[i]);
    free(asking->faces);
    search_done(&asking->search);
    stock_done(&asking->offers);
    members_done(&asking->members);
    name_set_done(&asking->read);
}

/* Makes a face as a plain ad, also for a port that refuses everybody; NULL where nobody docks by it. */
static struct tree *asking_face(struct gang_asking *asking, const struct face *face)
{
    const struct stocked_offer *offer = &asking->offers.items[face->offer];
    const struct ported *of = &offer->ported;
    struct window_trace trace = {0};
    struct tree *window;
    uint32_t member;

    if (offer->gone || of->ports.items[face->port].set)
        return NULL;
    if (of->ports.implicit)
        return tree_ref(of->ad);
    member = members_push(&asking->members, of, offer->place);
    window =
        window_traced(&asking->members, members_slot(&asking->members, member, member_slot_of(of, face->port)), &trace);
    members_pop(&asking->members);
    free(trace.items);
    return window;
}

static void asking_faces(struct gang_asking *asking)
{
    uint32_t count = asking->offers.face_count;

    asking->faces = mem_alloc((count + 1) * sizeof *asking->faces);
    for (uint32_t i = 0; i < count; i++) {
        asking->faces[i] = asking_face(asking, &asking->offers.faces[i]);
        asking->why->faces += asking->faces[i] != NULL;
    }
}

int gang_why_explain(struct gang_why *why, const struct env *env, struct arena *scratch, const struct policy *policy,
                     struct tree *request, struct tree *const *offers, size_t count, const struct gang_why_terms *terms,
                     struct err *err)
{
    struct gang_asking *asking = mem_alloc(sizeof *asking);
    struct arena_mark mark = arena_mark(scratch);

    *why = (struct gang_why){.offers = count};
    memset(asking, 0, sizeof *asking);
    asking->why = why;
    asking->terms = terms;
    if (ported_init(&asking->root, request, err) < 0) {
        free(asking);
        return -1;
    }
    arena_init(&why->arena);
    ports_read(&why->ports, request, err); /* the ports were in order just now */
    asking->ads = mem_alloc((count + 1) * sizeof *asking->ads);
    asking->ads[0] = request;
    for (size_t i = 0; i < count; i++)
        asking->ads[i + 1] = offers[i];
    asking->env = *env;
    asking->env.meter = &asking->meter;
    asking_open(asking, scratch, policy, count,
                &(struct gang_settings){GANG_AUTO, .nodes = terms->nodes, .steps = terms->steps});
    find_gang(asking);
    if (why->outcome != GANG_FORMED && !terms->brief) {
        asking_faces(asking);
        gang_why_ports(asking);
        find_together(asking);
        if (why->together)
            why->outcome = GANG_NONE; /* that is proved for some of the ports */
        gang_why_find_died(asking);
    }
    asking_close(asking);
    if (env->meter)
        *env->meter += asking->meter;
    ported_done(&asking->root);
    free(asking->ads);
    free(asking);
    arena_rewind(scratch, mark);
    return 0;
}

void gang_why_done(struct gang_why *why)
{
    if (!why)
        return;
    for (uint32_t i = 0; why->items && i < why->ports.count; i++) {
        why_done(&why->items[i].why);
        tree_unref(why->items[i].window);
    }
    while (why->held_count)
        tree_unref(why->held[--why->held_count]);
    free(why->held);
    ports_done(&why->ports);
    arena_done(&why->arena);
    *why = (struct gang_why){0};
}
