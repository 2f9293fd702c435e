/* cores.c: which processors are whose. */
#include "exec/cores.h"

#include "exec/libhwloc.h"
#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPSILON 1e-9 /* of sums of parts */

/* -------------------------------------------------------------------------------------------------------------- the machine */

/* The first of an object's NUMA nodes, as we count them. */
static uint16_t node_of(hwloc_topology_t topology, hwloc_obj_t unit)
{
    int index = libhwloc()->bitmap_first(unit->nodeset);
    unsigned count = libhwloc_count(topology, HWLOC_OBJ_NUMANODE);

    for (unsigned i = 0; index >= 0 && i < count && i < CORES_MAX; i++)
        if (libhwloc_object(topology, HWLOC_OBJ_NUMANODE, i)->os_index == (unsigned)index)
            return (uint16_t)i;
    return 0;
}

static void read_units(struct cores *cores, hwloc_topology_t topology, hwloc_const_bitmap_t allowed)
{
    unsigned count = libhwloc_count(topology, HWLOC_OBJ_PU);

    for (unsigned i = 0; i < count && i < CORES_MAX; i++) {
        hwloc_obj_t unit = libhwloc_object(topology, HWLOC_OBJ_PU, i);
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
        struct cores_place place;

        if (unit->os_index >= CORES_MAX || (core && core->logical_index >= CORES_MAX) ||
            (allowed && !libhwloc()->bitmap_isset(allowed, unit->os_index)))
            continue;
        place = (struct cores_place){(uint16_t)unit->os_index, (uint16_t)(core ? core->logical_index : i),
                                     node_of(topology, unit)};
        if (place.node >= cores->nodes)
            cores->nodes = place.node + 1u;
        cores->place[cores->count++] = place;
    }
}

void cores_read(struct cores *cores, const char *synthetic, const char *allowed)
{
    hwloc_bitmap_t set = libhwloc()->bitmap_alloc();
    hwloc_topology_t topology;

    cores->count = cores->nodes = 0;
    if (!set || libhwloc()->topology_init(&topology) < 0) {
        libhwloc()->bitmap_free(set);
        return;
    }
    if ((!synthetic || libhwloc()->topology_set_synthetic(topology, synthetic) == 0) &&
        libhwloc()->topology_load(topology) == 0) {
        bool limited = allowed ? libhwloc()->bitmap_list_sscanf(set, allowed) == 0
                               : !synthetic && libhwloc()->get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0;

        if (limited || (synthetic && !allowed))
            read_units(cores, topology, limited ? set : NULL);
    }
    libhwloc()->topology_destroy(topology);
    libhwloc()->bitmap_free(set);
}

/* --------------------------------------------------------------------------------------------------------------- choosing */

/* How a machine stands while a share is chosen. */
struct choice {
    const struct cores *cores;
    double *used;      /* of each place: 0 to 1 */
    uint32_t *in_core; /* of each core: its places that are used */
    uint32_t turn;
    struct cores_share *share;
};

static bool has(const uint64_t *mask, uint32_t number)
{
    return mask[number / 64] >> (number % 64) & 1;
}

static uint32_t whole_of(double amount)
{
    return (uint32_t)floor(amount + EPSILON);
}

static double part_of(double amount)
{
    double part = amount - whole_of(amount);

    return part < EPSILON ? 0 : part;
}

static void use(struct choice *choice, uint32_t place, double amount)
{
    if (choice->used[place] <= 0)
        choice->in_core[choice->cores->place[place].core]++;
    choice->used[place] += amount;
}

static void note_given(struct choice *choice, const struct cores_share *share)
{
    for (uint32_t i = 0; share->amount > 0 && i < choice->cores->count; i++) {
        uint32_t number = choice->cores->place[i].number;

        if (has(share->whole, number))
            use(choice, i, 1);
        else if (share->part == (int32_t)number)
            use(choice, i, part_of(share->amount));
    }
}

/* The best processor of a node (-1: of any) that has `amount` left; -1: there is none. A part goes beside other parts, so that whole processors stay
 * whole. */
static int64_t best_place(const struct choice *choice, double amount, int64_t node)
{
    const struct cores *cores = choice->cores;
    int64_t best = -1;

    for (uint32_t n = 0; n < cores->count; n++) {
        uint32_t i = (n + choice->turn) % cores->count;
        const struct cores_place *place = &cores->place[i];

        if ((node >= 0 && place->node != node) || choice->used[i] + amount > 1 + EPSILON)
            continue;
        if (best < 0 || choice->used[i] > choice->used[best] ||
            (choice->used[i] >= choice->used[best] &&
             choice->in_core[place->core] < choice->in_core[cores->place[best].core]))
            best = i;
    }
    return best;
}

/* Takes the whole share from a node (-1: from any); false, and nothing is changed, when the node does not have that much. */
static bool take(struct choice *choice, double amount, int64_t node)
{
    uint32_t whole = whole_of(amount), taken = 0;
    uint32_t *places = mem_alloc((whole + 1) * sizeof *places);
    double part = part_of(amount);
    int64_t place = 0;

    while (taken < whole && (place = best_place(choice, 1, node)) >= 0) {
        use(choice, (uint32_t)place, 1);
        places[taken++] = (uint32_t)place;
    }
    if (place >= 0 && part > 0) {
        place = best_place(choice, part, node);
        if (place >= 0)
            choice->share->part = choice->cores->place[place].number;
    }
    for (uint32_t i = 0; i < taken; i++) {
        uint32_t number = choice->cores->place[places[i]].number;

        if (place >= 0) {
            choice->share->whole[number / 64] |= UINT64_C(1) << (number % 64);
        } else { /* it is put back */
            choice->used[places[i]] = 0;
            choice->in_core[choice->cores->place[places[i]].core]--;
        }
    }
    free(places);
    return place >= 0;
}

/* How many processors of a node nobody uses. */
static uint32_t node_room(const struct choice *choice, uint32_t node)
{
    uint32_t room = 0;

    for (uint32_t i = 0; i < choice->cores->count; i++)
        room += choice->cores->place[i].node == node && choice->used[i] <= 0;
    return room;
}

/* Takes the share from one node. Nodes with the least room are tried first, so that large shares find one that is whole. */
static bool take_from_a_node(struct choice *choice, double amount)
{
    uint32_t nodes = choice->cores->nodes;
    bool *tried = mem_alloc((nodes + 1) * sizeof *tried), taken = false;

    memset(tried, 0, (nodes + 1) * sizeof *tried);
    for (uint32_t round = 0; round < nodes && !taken; round++) {
        uint32_t best = nodes, least = UINT32_MAX;

        for (uint32_t node = 0; node < nodes; node++) {
            uint32_t room = tried[node] ? UINT32_MAX : node_room(choice, node);

            if (room < least) {
                least = room;
                best = node;
            }
        }
        if (best == nodes)
            break;
        tried[best] = true;
        taken = take(choice, amount, best);
    }
    free(tried);
    return taken;
}

void cores_choose(const struct cores *cores, double amount, const struct cores_share *const *given, uint32_t count,
                  uint32_t turn, struct cores_share *ret)
{
    struct choice choice = {.cores = cores, .share = ret, .turn = cores->count ? turn % cores->count : 0};

    memset(ret, 0, sizeof *ret);
    ret->part = -1;
    if (!(amount > EPSILON) || amount > cores->count)
        return;
    choice.used = mem_alloc(cores->count * sizeof *choice.used);
    choice.in_core = mem_alloc(CORES_MAX * sizeof *choice.in_core);
    memset(choice.used, 0, cores->count * sizeof *choice.used);
    memset(choice.in_core, 0, CORES_MAX * sizeof *choice.in_core);
    for (uint32_t i = 0; i < count; i++)
        note_given(&choice, given[i]);
    if (take_from_a_node(&choice, amount) || take(&choice, amount, -1))
        ret->amount = amount;
    free(choice.in_core);
    free(choice.used);
}

/* ------------------------------------------------------------------------------------------------------------------ shares */

void cores_mask(const struct cores_share *share, uint64_t ret[CORES_MAX / 64])
{
    memcpy(ret, share->whole, sizeof share->whole);
    if (share->part >= 0)
        ret[share->part / 64] |= UINT64_C(1) << (share->part % 64);
}

bool cores_share_is_good(const struct cores_share *share)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < CORES_MAX; i++)
        bits += has(share->whole, i);
    if (!(share->amount > 0) || share->amount > CORES_MAX || share->part >= CORES_MAX || share->part < -1 ||
        bits != whole_of(share->amount) || (share->part >= 0) != (part_of(share->amount) > 0))
        return false;
    return share->part < 0 || !has(share->whole, (uint32_t)share->part);
}
