/* queue.c: one request after the other takes what it likes most: fcfs, sjf, ljf. */
#include "match/assign/settle.h"

#include <math.h>
#include <stdlib.h>

static void serve(struct settling *settling, uint32_t request)
{
    uint32_t offer = group_best(settling, &settling->groups[settling->group_of[request]]);

    if (offer != ASSIGN_NONE)
        settling_place(settling, request, offer);
}

void settling_fill(struct settling *settling)
{
    for (uint32_t i = 0; i < settling->problem->request_count; i++)
        if (settling->placed[i] == ASSIGN_NONE)
            serve(settling, i);
}

int policy_fcfs(struct settling *settling, struct err *err)
{
    (void)err;
    settling_fill(settling);
    return 0;
}

/* A request's turn: the smaller comes sooner; equal ones stay in their order. */
struct turn {
    double duration, processors;
    uint32_t request;
};

static int number_compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int turn_compare(const void *a, const void *b)
{
    const struct turn *left = a, *right = b;
    int order = number_compare(left->duration, right->duration);

    if (!order)
        order = number_compare(left->processors, right->processors);
    return order ? order : (left->request > right->request) - (left->request < right->request);
}

/* Serves requests by duration. `sign`: 1 the shortest first, -1 the longest. Requests that do not say how long come last either way. */
static void serve_by_duration(struct settling *settling, double sign)
{
    const struct assign_problem *problem = settling->problem;
    struct turn *turns = SCRATCH(settling, struct turn, problem->request_count);
    bool counted = problem->processors < problem->quantity_count;

    for (uint32_t i = 0; i < problem->request_count; i++) {
        double duration = problem->requests[i].duration;
        double processors = counted ? request_amounts(settling, i)[problem->processors] : 0;

        turns[i] = (struct turn){isnan(duration) ? INFINITY : sign * duration, sign * processors, i};
    }
    qsort(turns, problem->request_count, sizeof *turns, turn_compare);
    for (uint32_t i = 0; i < problem->request_count; i++)
        serve(settling, turns[i].request);
}

int policy_sjf(struct settling *settling, struct err *err)
{
    (void)err;
    serve_by_duration(settling, 1);
    return 0;
}

int policy_ljf(struct settling *settling, struct err *err)
{
    (void)err;
    serve_by_duration(settling, -1);
    return 0;
}
