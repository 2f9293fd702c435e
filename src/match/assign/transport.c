/* transport.c: carries as much as possible from the left to the right, at the least cost. */
#include "match/assign/transport.h"

#include <string.h>

#define NOWHERE UINT32_MAX
#define FAR INT64_MAX

/* The nodes are those of the left, then those of the right. An arc is always open forwards, and backwards when something flows. */
struct net {
    struct transport *of;
    uint32_t node_count;
    uint32_t *in_first, *in_arcs; /* by right, and one more: the arcs that come there */
    uint32_t *tails;              /* by arc: its left end */
    int64_t *potential, *distance;
    uint32_t *level, *next; /* by node: its level over arcs that cost nothing; the place of its next arc */
    uint32_t *path;         /* arcs */
    uint32_t *queue;        /* nodes; also the heap */
    uint32_t *place;        /* by node: its place in the heap */
    uint32_t heap_count;
    uint64_t arcs; /* that were looked at */
};

static void *net_array(struct arena *scratch, uint32_t count, size_t size)
{
    return arena_alloc(scratch, ((size_t)count + 2) * size);
}

static void net_init(struct net *net, struct arena *scratch, struct transport *of)
{
    *net = (struct net){.of = of, .node_count = of->left_count + of->right_count};
    net->in_first = net_array(scratch, of->right_count, sizeof *net->in_first);
    net->in_arcs = net_array(scratch, of->arc_count, sizeof *net->in_arcs);
    net->tails = net_array(scratch, of->arc_count, sizeof *net->tails);
    net->potential = net_array(scratch, net->node_count, sizeof *net->potential);
    net->distance = net_array(scratch, net->node_count, sizeof *net->distance);
    net->level = net_array(scratch, net->node_count, sizeof *net->level);
    net->next = net_array(scratch, net->node_count, sizeof *net->next);
    net->path = net_array(scratch, net->node_count, sizeof *net->path);
    net->queue = net_array(scratch, net->node_count, sizeof *net->queue);
    net->place = net_array(scratch, net->node_count, sizeof *net->place);
    memset(net->potential, 0, net->node_count * sizeof *net->potential);
    memset(net->in_first, 0, (of->right_count + 2) * sizeof *net->in_first);
    for (uint32_t i = 0; i < of->arc_count; i++)
        net->in_first[of->right[i] + 2]++;
    for (uint32_t i = 2; i <= of->right_count + 1; i++)
        net->in_first[i] += net->in_first[i - 1];
    for (uint32_t left = 0; left < of->left_count; left++)
        for (uint32_t arc = of->first[left]; arc < of->first[left + 1]; arc++) {
            net->tails[arc] = left;
            net->in_arcs[net->in_first[of->right[arc] + 1]++] = arc;
        }
}

/* The arcs of a node are at the places from *ret_first to below *ret_end; each leads to a node, at a cost. */
static void node_arcs(const struct net *net, uint32_t node, uint32_t *ret_first, uint32_t *ret_end)
{
    const struct transport *of = net->of;
    bool left = node < of->left_count;

    *ret_first = left ? of->first[node] : net->in_first[node - of->left_count];
    *ret_end = left ? of->first[node + 1] : net->in_first[node - of->left_count + 1];
}

/* The node that a place of a node leads to; NOWHERE when the arc is shut. */
static uint32_t arc_to(const struct net *net, uint32_t node, uint32_t place, int64_t *ret_cost, uint32_t *ret_arc)
{
    const struct transport *of = net->of;
    bool left = node < of->left_count;
    uint32_t arc = left ? place : net->in_arcs[place];
    uint32_t to = left ? of->left_count + of->right[arc] : net->tails[arc];

    *ret_arc = arc;
    if (!left && of->flow[arc] == 0)
        return NOWHERE;
    *ret_cost = (left ? of->cost[arc] : -of->cost[arc]) + net->potential[node] - net->potential[to];
    return to;
}

static bool node_is_end(const struct net *net, uint32_t node)
{
    return node >= net->of->left_count && net->of->capacity[node - net->of->left_count] > 0;
}

/* ------------------------------------------------------------------------------------------------------------ shortest paths */

static void heap_put(struct net *net, uint32_t at, uint32_t node)
{
    net->queue[at] = node;
    net->place[node] = at;
}

static void heap_rise(struct net *net, uint32_t at)
{
    uint32_t node = net->queue[at];

    for (uint32_t up; at > 0; at = up) {
        up = (at - 1) / 2;
        if (net->distance[net->queue[up]] <= net->distance[node])
            break;
        heap_put(net, at, net->queue[up]);
    }
    heap_put(net, at, node);
}

static uint32_t heap_pop(struct net *net)
{
    uint32_t top = net->queue[0], node = net->queue[--net->heap_count], at = 0;

    for (uint32_t child; (child = 2 * at + 1) < net->heap_count; at = child) {
        if (child + 1 < net->heap_count && net->distance[net->queue[child + 1]] < net->distance[net->queue[child]])
            child++;
        if (net->distance[net->queue[child]] >= net->distance[node])
            break;
        heap_put(net, at, net->queue[child]);
    }
    heap_put(net, at, node);
    net->place[top] = NOWHERE - 1; /* done */
    return top;
}

static void node_reach(struct net *net, uint32_t node, int64_t distance)
{
    if (distance >= net->distance[node])
        return;
    net->distance[node] = distance;
    if (net->place[node] == NOWHERE)
        heap_put(net, net->heap_count++, node);
    heap_rise(net, net->place[node]);
}

/* Finds the length of the shortest way from a node with supply to one with capacity, and moves the potentials. FAR: there is no way. */
static int64_t paths_find(struct net *net)
{
    int64_t end = FAR, cost;

    net->heap_count = 0;
    for (uint32_t i = 0; i < net->node_count; i++) {
        net->distance[i] = FAR;
        net->place[i] = NOWHERE;
    }
    for (uint32_t i = 0; i < net->of->left_count; i++)
        if (net->of->supply[i])
            node_reach(net, i, 0);
    while (net->heap_count && end == FAR) {
        uint32_t node = heap_pop(net), place, last, arc;

        if (node_is_end(net, node))
            end = net->distance[node];
        node_arcs(net, node, &place, &last);
        net->arcs += last - place;
        for (; place < last; place++) {
            uint32_t to = arc_to(net, node, place, &cost, &arc);

            if (to != NOWHERE && net->place[to] != NOWHERE - 1)
                node_reach(net, to, net->distance[node] + cost);
        }
    }
    for (uint32_t i = 0; i < net->node_count && end != FAR; i++)
        net->potential[i] += net->distance[i] < end ? net->distance[i] : end;
    return end;
}

/* ------------------------------------------------------------------------------------- all that flows where it costs no more */

/* Finds how many arcs each node is from a source, over arcs that cost nothing. False: no end can be reached. */
static bool levels_find(struct net *net)
{
    uint32_t head = 0, tail = 0, arc;
    bool found = false;
    int64_t cost;

    memset(net->level, 0xff, net->node_count * sizeof *net->level);
    for (uint32_t i = 0; i < net->of->left_count; i++)
        if (net->of->supply[i]) {
            net->level[i] = 0;
            net->queue[tail++] = i;
        }
    while (head < tail) {
        uint32_t node = net->queue[head++], place, last;

        found = found || node_is_end(net, node);
        node_arcs(net, node, &place, &last);
        net->next[node] = place;
        net->arcs += last - place;
        for (; place < last; place++) {
            uint32_t to = arc_to(net, node, place, &cost, &arc);

            if (to != NOWHERE && cost == 0 && net->level[to] == NOWHERE) {
                net->level[to] = net->level[node] + 1;
                net->queue[tail++] = to;
            }
        }
    }
    return found;
}

/* Sends what can go along the path that was found. */
static void path_push(struct net *net, uint32_t source, uint32_t end, uint32_t length)
{
    struct transport *of = net->of;
    uint32_t amount = of->supply[source];

    if (of->capacity[end - of->left_count] < amount)
        amount = of->capacity[end - of->left_count];
    for (uint32_t i = 1; i < length; i += 2) /* every other arc goes back */
        if (of->flow[net->path[i]] < amount)
            amount = of->flow[net->path[i]];
    for (uint32_t i = 0; i < length; i++) {
        if (i % 2)
            of->flow[net->path[i]] -= amount;
        else
            of->flow[net->path[i]] += amount;
    }
    of->supply[source] -= amount;
    of->capacity[end - of->left_count] -= amount;
}

/* Finds one path from the source; false when there is none left. Nodes from which nothing goes on are not entered again. */
static bool path_find(struct net *net, uint32_t source)
{
    uint32_t node = source, length = 0, arc;
    int64_t cost;

    for (;;) {
        uint32_t first, last, to = NOWHERE;

        if (node_is_end(net, node)) {
            path_push(net, source, node, length);
            return true;
        }
        node_arcs(net, node, &first, &last);
        for (; net->next[node] < last; net->next[node]++) {
            net->arcs++;
            to = arc_to(net, node, net->next[node], &cost, &arc);
            if (to != NOWHERE && cost == 0 && net->level[to] == net->level[node] + 1)
                break;
            to = NOWHERE;
        }
        if (to != NOWHERE) {
            net->path[length++] = arc;
            node = to;
        } else if (length == 0) {
            return false;
        } else {
            net->level[node] = NOWHERE;
            arc = net->path[--length];
            node = length % 2 ? net->of->left_count + net->of->right[arc] : net->tails[arc];
        }
    }
}

static void flow_push(struct net *net)
{
    while (levels_find(net))
        for (uint32_t i = 0; i < net->of->left_count; i++)
            while (net->of->supply[i] && path_find(net, i))
                ;
}

bool transport_solve(struct arena *scratch, struct transport *transport, uint64_t *work, bool (*stop)(void *user),
                     void *user)
{
    struct arena_mark mark = arena_mark(scratch);
    struct net net;
    bool whole = true;

    net_init(&net, scratch, transport);
    while (whole && paths_find(&net) != FAR) {
        flow_push(&net);
        whole = !stop || !stop(user);
    }
    *work += net.arcs / 1000;
    arena_rewind(scratch, mark);
    return whole;
}
