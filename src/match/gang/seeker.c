/* seeker.c: gangs one at a time, over offers that come, change and go. */
#include "match/gang/seeker.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/gang/kinds.h"
#include "match/gang/take.h"
#include "match/pair/residual.h"

#include <stdlib.h>
#include <string.h>

/* The ports (1 << port) by which a kind has passed the news on, or is about to. */
struct passed {
    uint64_t hearing, ports;
};
struct passing {
    uint32_t kind;
    uint64_t ports;
};

/* A root that waits: its ports as windows while nobody is docked, made when they are asked for. */
struct waiting {
    struct tree *ad;       /* held; NULL: nobody waits */
    struct tree **windows; /* by port; NULL: nobody can dock there */
    uint64_t made;         /* which of them are known */
    uint64_t which;        /* the ports that are in the facade */
    bool there;            /* the root is in the facade */
};

struct seeker {
    struct seeker_pool pool;
    struct env env; /* of the present call: indexes keep its address */
    struct members members;
    struct kinds kinds;
    struct facade roots;     /* that wait */
    struct waiting *waiting; /* by root */
    uint32_t waiting_room;
    struct stock stock; /* `items` by offer */
    struct search search;
    uint32_t item_room;
    struct seeker_member *gang; /* the last one */
    uint32_t gang_count;
    struct passed *passed; /* by kind */
    uint32_t passed_room;
    uint64_t hearing;
    struct passing *passing;
    uint32_t passing_count, passing_room;
};

struct seeker *seeker_new(const struct seeker_pool *pool, const struct policy *policy)
{
    static const struct gang_settings settings = {
        .algorithm = GANG_AUTO, .preferences = true, .nodes = SEEKER_NODES_MAX};
    struct seeker *seeker = mem_alloc(sizeof *seeker);

    memset(seeker, 0, sizeof *seeker);
    seeker->pool = *pool;
    members_init(&seeker->members, &seeker->env, policy, NULL);
    seeker->members.vector_env = pool->vector_env;
    seeker->members.vector_user = pool->user;
    kinds_init(&seeker->kinds, &seeker->pool, &seeker->members);
    facade_init(&seeker->roots);
    seeker->stock = (struct stock){.members = &seeker->members, .kinds = &seeker->kinds, .shared = true};
    search_init(&seeker->search, &settings, &seeker->stock, &seeker->members);
    return seeker;
}

static void gang_clear(struct seeker *seeker)
{
    for (uint32_t i = 0; i < seeker->gang_count; i++) {
        tree_unref(seeker->gang[i].left);
        tree_unref(seeker->gang[i].counterpart);
    }
    free(seeker->gang);
    seeker->gang = NULL;
    seeker->gang_count = 0;
}

static void waiting_clear(struct waiting *waiting)
{
    if (!waiting->ad)
        return;
    for (uint32_t port = 0; port < PORTS_MAX; port++)
        if (waiting->made >> port & 1)
            tree_unref(waiting->windows[port]);
    free(waiting->windows);
    tree_unref(waiting->ad);
    *waiting = (struct waiting){0};
}

void seeker_free(struct seeker *seeker)
{
    if (!seeker)
        return;
    gang_clear(seeker);
    for (uint32_t i = 0; i < seeker->waiting_room; i++)
        waiting_clear(&seeker->waiting[i]);
    free(seeker->waiting);
    search_done(&seeker->search);
    facade_done(&seeker->roots);
    kinds_done(&seeker->kinds);
    members_done(&seeker->members);
    name_set_done(&seeker->stock.asked);
    free(seeker->stock.items);
    free(seeker->passed);
    free(seeker->passing);
    free(seeker);
}

/* Begins a call: all that it does is done in this environment. */
static void seeker_enter(struct seeker *seeker, const struct env *env, struct arena *scratch)
{
    seeker->env = *env;
    seeker->members.scratch = scratch;
}

/* ----------------------------------------------------------------------------------------------------------- what is read */

static bool ad_ranks(const struct tree *ad)
{
    for (uint32_t i = 0; i < ad->cell_count; i++)
        if (ad->cells[i].flags & EXPR_FLAG_NAMED &&
            (symbol_same(ad->cells[i].label, NAME_RANK) || symbol_same(ad->cells[i].label, NAME_PREEMPTS)))
            return true;
    return false;
}

void seeker_note(struct seeker *seeker, const struct tree *ad)
{
    struct stock *stock = &seeker->stock;

    name_set_read(&stock->asked, ad, tree_root(ad));
    stock->entangled = stock->asked.blind || name_set_has(&stock->asked, NAME_PORTS);
    stock->ranked = stock->ranked || ad_ranks(ad);
}

bool seeker_names(struct tree *ad, seeker_name_fn *tell, void *user)
{
    struct name_set names = {0};
    struct ports ports = {0};
    struct err err;
    bool known;

    name_set_read(&names, ad, tree_root(ad));
    if (ports_read(&ports, ad, &err) < 0)
        ports = (struct ports){0};
    for (uint32_t i = 0; i < names.count; i++) {
        bool label = false;

        for (uint32_t k = 0; k < ports.count && !label; k++)
            label = symbol_same(ports.items[k].label, names.items[i]);
        if (!label)
            tell(user, names.items[i]);
    }
    known = !names.blind;
    ports_done(&ports);
    name_set_done(&names);
    return known;
}

/* ------------------------------------------------------------------------------------------------- who is there, and waits */

void seeker_kind_put(struct seeker *seeker, const struct env *env, struct arena *scratch, uint32_t kind)
{
    const struct ported *ported;

    seeker_enter(seeker, env, scratch);
    seeker_kind_forget(seeker, kind);
    ported = kinds_ported(&seeker->kinds, kind);
    if (ported)
        facade_put(&seeker->kinds.faces, &seeker->members, kind, ported);
}

void seeker_kind_forget(struct seeker *seeker, uint32_t kind)
{
    facade_remove(&seeker->kinds.faces, kind);
    kinds_forget(&seeker->kinds, kind);
}

static bool face_meets(void *user, uint32_t face)
{
    (void)face;
    *(bool *)user = true;
    return false;
}

static struct waiting *waiting_of(struct seeker *seeker, uint32_t root)
{
    uint32_t room = root + root / 2 + 16;

    if (root >= seeker->waiting_room) {
        seeker->waiting = mem_grow(seeker->waiting, room * sizeof *seeker->waiting);
        for (uint32_t i = seeker->waiting_room; i < room; i++)
            seeker->waiting[i] = (struct waiting){0};
        seeker->waiting_room = room;
    }
    return &seeker->waiting[root];
}

/* Makes the windows of those of its ports (1 << port) that are not known yet. */
static void waiting_make(struct seeker *seeker, struct waiting *waiting, const struct ported *ported, uint64_t which)
{
    uint32_t member;

    which &= ~waiting->made;
    if (ported->ports.count < PORTS_MAX)
        which &= ((uint64_t)1 << ported->ports.count) - 1;
    if (!which)
        return;
    member = members_push(&seeker->members, ported, 0);
    for (uint32_t port = 0; port < ported->ports.count; port++)
        if (which >> port & 1)
            waiting->windows[port] =
                window_make(&seeker->members, members_slot(&seeker->members, member, member_slot_of(ported, port)),
                            NULL, NULL, NULL);
    members_pop(&seeker->members);
    waiting->made |= which;
}

/* The ports that a root waits for: the first that must be filled and that nobody fits, else all. */
static uint64_t waiting_awaits(struct seeker *seeker, struct waiting *waiting, const struct ported *root)
{
    for (uint32_t port = 0; port < root->ports.count; port++) {
        const struct port *at = &root->ports.items[port];
        bool meets = false;

        if (at->optional || at->min == 0 || at->group != PORTS_NO_GROUP)
            continue;
        waiting_make(seeker, waiting, root, (uint64_t)1 << port);
        if (waiting->windows[port])
            kinds_seek(&seeker->kinds, waiting->windows[port], face_meets, &meets);
        if (!meets)
            return (uint64_t)1 << port;
    }
    return UINT64_MAX;
}

void seeker_root_put(struct seeker *seeker, const struct env *env, struct arena *scratch, struct index *index,
                     uint32_t root, struct tree *ad, bool steady)
{
    struct waiting *waiting = waiting_of(seeker, root);
    const struct ported *ported = tree_ported(ad);
    uint64_t which;

    seeker_enter(seeker, env, scratch);
    seeker->kinds.index = index;
    if (!ported || ported->slot_count > MEMBER_SLOTS_MAX) {
        seeker_root_remove(seeker, root);
        return;
    }
    if (waiting->ad != ad || !steady) {
        waiting_clear(waiting);
        waiting->ad = tree_ref(ad);
        waiting->windows = mem_alloc(ported->ports.count * sizeof(struct tree *));
    }
    which = waiting_awaits(seeker, waiting, ported);
    if (waiting->there && waiting->which == which)
        return;
    waiting_make(seeker, waiting, ported, which);
    facade_put_windows(&seeker->roots, env, scratch, root, waiting->windows, ported->ports.count, which);
    waiting->which = which;
    waiting->there = true;
}

void seeker_root_remove(struct seeker *seeker, uint32_t root)
{
    if (root < seeker->waiting_room)
        waiting_clear(&seeker->waiting[root]);
    facade_remove(&seeker->roots, root);
}

uint32_t seeker_ports(const struct seeker *seeker)
{
    return seeker->kinds.faces.used;
}

bool seeker_meets(struct seeker *seeker, const struct env *env, struct arena *scratch, const struct tree *root)
{
    bool meets = false;

    seeker_enter(seeker, env, scratch);
    seeker->kinds.index = NULL;
    kinds_seek(&seeker->kinds, root, face_meets, &meets);
    return meets;
}

/* ---------------------------------------------------------------------------------------------------------- who hears of it */

struct hearing {
    struct seeker *seeker;
    const struct seeker_heard *heard;
};

static void root_hears(void *user, uint32_t row, unsigned doubts)
{
    const struct hearing *hearing = user;

    (void)doubts;
    hearing->heard->ported(hearing->heard->user, hearing->seeker->roots.rows[row].owner);
}

static void alone_hears(void *user, uint32_t root, unsigned doubts)
{
    const struct hearing *hearing = user;

    (void)doubts;
    hearing->heard->alone(hearing->heard->user, root);
}

/* Lets a kind pass the news on by those of its ports, by each once. */
static void kind_pass(struct seeker *seeker, uint32_t kind, uint64_t ports)
{
    uint32_t room = kind + kind / 2 + 64;
    struct passed *passed;

    if (kind >= seeker->passed_room) {
        seeker->passed = mem_grow(seeker->passed, room * sizeof *seeker->passed);
        for (uint32_t i = seeker->passed_room; i < room; i++)
            seeker->passed[i] = (struct passed){0};
        seeker->passed_room = room;
    }
    passed = &seeker->passed[kind];
    if (passed->hearing != seeker->hearing)
        *passed = (struct passed){.hearing = seeker->hearing};
    ports &= ~passed->ports;
    passed->ports |= ports;
    if (!ports)
        return;
    ARRAY_ROOM(seeker->passing, seeker->passing_count, seeker->passing_room, 16);
    seeker->passing[seeker->passing_count++] = (struct passing){kind, ports};
}

/* Hears of a kind at one of whose ports somebody could dock, and so be below it: by another port the kind could be in a gang. */
static void kind_hears(void *user, uint32_t number, unsigned doubts)
{
    const struct hearing *hearing = user;
    const struct facade_row *row = &hearing->seeker->kinds.faces.rows[number];

    (void)doubts;
    if (hearing->seeker->kinds.ported[row->owner]->ports.count > 1)
        kind_pass(hearing->seeker, row->owner, ~((uint64_t)1 << row->port));
}

static void window_tell(const struct hearing *hearing, const struct tree *window, bool alone)
{
    struct seeker *seeker = hearing->seeker;
    const struct env *env = &seeker->env;
    struct arena *scratch = seeker->members.scratch;

    if (seeker->roots.used)
        index_sift(seeker->roots.index, env, scratch, window, root_hears, (void *)(uintptr_t)hearing);
    if (alone && hearing->heard->plain)
        index_sift(hearing->heard->plain, env, scratch, window, alone_hears, (void *)(uintptr_t)hearing);
    if (seeker->kinds.faces.used)
        index_sift(seeker->kinds.faces.index, env, scratch, window, kind_hears, (void *)(uintptr_t)hearing);
}

void seeker_hear(struct seeker *seeker, const struct env *env, struct arena *scratch, uint32_t kind,
                 const struct seeker_heard *heard)
{
    const struct hearing hearing = {seeker, heard};
    const struct facade *faces = &seeker->kinds.faces;

    seeker_enter(seeker, env, scratch);
    seeker->hearing++;
    seeker->passing_count = 0;
    if (facade_first(faces, kind) != NOBODY)
        kind_pass(seeker, kind, UINT64_MAX);
    else
        window_tell(&hearing, seeker->pool.ad_of_kind(seeker->pool.user, kind), false);
    while (seeker->passing_count) {
        struct passing next = seeker->passing[--seeker->passing_count];

        for (uint32_t row = facade_first(faces, next.kind); row != NOBODY; row = faces->rows[row].next)
            if (next.ports >> faces->rows[row].port & 1)
                window_tell(&hearing, faces->rows[row].window, true);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ gangs */

static void items_grow(struct seeker *seeker, uint32_t offers)
{
    if (offers <= seeker->item_room)
        return;
    offers += offers / 2;
    seeker->stock.items = mem_grow(seeker->stock.items, offers * sizeof *seeker->stock.items);
    for (uint32_t i = seeker->item_room; i < offers; i++)
        seeker->stock.items[i] = (struct stocked_offer){.place = i};
    seeker->item_room = offers;
}

/* Writes down the gang as it is told, with what is left of each member. */
static void gang_write(struct seeker *seeker, const struct ported *root)
{
    const struct search *search = &seeker->search;
    uint32_t count = search->best_count;
    struct ported *again = mem_alloc(count * sizeof *again);
    const struct ported **of = mem_alloc(count * sizeof(const struct ported *));

    of[0] = root;
    for (uint32_t i = 0; i < count; i++)
        again[i] = (struct ported){0};
    for (uint32_t i = 1; i < count; i++) { /* a kind's ad may differ from an offer's own in what nobody reads */
        uint32_t offer = (uint32_t)search->best[i].place;
        const struct ported *own = tree_ported(seeker->pool.ad_of_offer(seeker->pool.user, offer));

        of[i] = own ? own : stock_ported(&seeker->stock, offer);
    }
    taken_dock(search, of, again);
    seeker->gang = mem_alloc(count * sizeof *seeker->gang);
    seeker->gang_count = count - 1;
    for (uint32_t i = 1; i < count; i++) {
        const struct gang_member *at = &search->best[i];
        bool residual = residual_of(seeker->members.items[i].of->ad);

        seeker->gang[i - 1] =
            (struct seeker_member){.offer = (uint32_t)at->place,
                                   .parent = at->parent ? at->parent - 1 : SEEKER_NONE,
                                   .port = at->port,
                                   .link = at->link,
                                   .left = residual ? taken_left(&seeker->members, i) : NULL,
                                   .counterpart = residual ? taken_counterpart(&seeker->members, i) : NULL};
    }
    while (seeker->members.count)
        members_pop(&seeker->members);
    for (uint32_t i = 0; i < count; i++)
        ported_done(&again[i]);
    free(of);
    free(again);
}

enum gang_outcome seeker_find(struct seeker *seeker, const struct env *env, struct arena *scratch, struct index *index,
                              uint32_t offers, uint32_t kinds, struct tree *root, bool steady, struct seeker_gang *ret)
{
    struct search *search = &seeker->search;
    enum gang_outcome outcome = GANG_NONE;
    const struct ported *ported = tree_ported(root);
    uint64_t before;

    seeker_enter(seeker, env, scratch);
    gang_clear(seeker);
    *ret = (struct seeker_gang){0};
    if (!ported)
        return GANG_NONE;
    items_grow(seeker, offers);
    seeker->kinds.index = index;
    search->steady = steady;
    search->work = SEEKER_WORK_MAX + (uint64_t)kinds * SEEKER_WORK_KIND;
    search->steps = SEEKER_STEPS_MAX + (uint64_t)kinds * SEEKER_STEPS_KIND;
    before = search->probes + seeker->members.evaluations + search->ranked;
    outcome = search_root(search, ported, SIZE_MAX);
    ret->work = search->nodes + search->probes + seeker->members.evaluations + search->ranked - before;
    if (outcome == GANG_FORMED && search->best_count > 1) {
        gang_write(seeker, ported);
        ret->members = seeker->gang;
        ret->count = seeker->gang_count;
    } else if (outcome == GANG_FORMED) {
        outcome = GANG_NONE;
    }
    return outcome;
}

bool seeker_valid(const struct seeker *seeker, const char **ret_why)
{
    return facade_valid(&seeker->roots, ret_why) && facade_valid(&seeker->kinds.faces, ret_why);
}
