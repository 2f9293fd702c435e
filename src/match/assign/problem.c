/* problem.c: puts a problem together, and checks that it is in order. */
#include "match/assign/settle.h"

#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16

void assign_problem_init(struct assign_problem *problem, uint32_t quantity_count)
{
    *problem = (struct assign_problem){
        .quantity_count = quantity_count < ASSIGN_QUANTITIES_MAX ? quantity_count : ASSIGN_QUANTITIES_MAX};
}

void assign_problem_done(struct assign_problem *problem)
{
    if (!problem)
        return;
    free(problem->edges);
    free(problem->rows);
    free(problem->requests);
    free(problem->amounts);
    free(problem->offer_kinds);
    free(problem->free);
    *problem = (struct assign_problem){.quantity_count = problem->quantity_count};
}

void assign_problem_next(struct assign_problem *problem)
{
    problem->request_count = problem->offer_count = 0;
}

void assign_problem_reset(struct assign_problem *problem)
{
    assign_problem_next(problem);
    problem->edge_count = problem->row_count = problem->kind_count = 0;
}

/* The room that is wanted for one more. */
static uint32_t room_for(uint32_t count, uint32_t room)
{
    if (count < room)
        return room;
    return room ? room * 2 : ROOM_FIRST;
}

uint32_t assign_add_row(struct assign_problem *problem)
{
    uint32_t room = room_for(problem->row_count, problem->row_room);

    if (room != problem->row_room) {
        problem->rows = mem_grow(problem->rows, room * sizeof *problem->rows);
        problem->row_room = room;
    }
    problem->rows[problem->row_count] = (struct assign_row){problem->edge_count, 0};
    return problem->row_count++;
}

static void kind_seen(struct assign_problem *problem, uint32_t kind)
{
    if (kind >= problem->kind_count)
        problem->kind_count = kind + 1;
}

void assign_add_edge(struct assign_problem *problem, uint32_t kind, double weight, double back)
{
    uint32_t room = room_for(problem->edge_count, problem->edge_room);

    if (room != problem->edge_room) {
        problem->edges = mem_grow(problem->edges, room * sizeof *problem->edges);
        problem->edge_room = room;
    }
    kind_seen(problem, kind);
    problem->edges[problem->edge_count++] =
        (struct assign_edge){kind, isnan(weight) ? 0 : weight, isnan(back) ? 0 : back};
    problem->rows[problem->row_count - 1].count++;
}

uint32_t assign_add_offer(struct assign_problem *problem, uint32_t kind, const double *free)
{
    uint32_t room = room_for(problem->offer_count, problem->offer_room), count = problem->quantity_count;

    if (room != problem->offer_room) {
        problem->offer_kinds = mem_grow(problem->offer_kinds, room * sizeof *problem->offer_kinds);
        problem->free = mem_grow(problem->free, ((size_t)room * count + 1) * sizeof *problem->free);
        problem->offer_room = room;
    }
    kind_seen(problem, kind);
    problem->offer_kinds[problem->offer_count] = kind;
    if (count)
        memcpy(problem->free + (size_t)problem->offer_count * count, free, count * sizeof *free);
    return problem->offer_count++;
}

uint32_t assign_add_request(struct assign_problem *problem, uint32_t row, const double *amounts, double duration,
                            double priority)
{
    uint32_t room = room_for(problem->request_count, problem->request_room), count = problem->quantity_count;

    if (room != problem->request_room) {
        problem->requests = mem_grow(problem->requests, room * sizeof *problem->requests);
        problem->amounts = mem_grow(problem->amounts, ((size_t)room * count + 1) * sizeof *problem->amounts);
        problem->request_room = room;
    }
    problem->requests[problem->request_count] = (struct assign_request){row, duration, priority};
    if (count)
        memcpy(problem->amounts + (size_t)problem->request_count * count, amounts, count * sizeof *amounts);
    return problem->request_count++;
}

int problem_check(const struct assign_problem *problem, struct err *err)
{
    uint32_t count = problem->quantity_count;

    for (uint32_t i = 0; i < problem->request_count; i++) {
        if (problem->requests[i].row >= problem->row_count)
            return err_set(err, "request %u is of row %u, and there are %u", i + 1, problem->requests[i].row + 1,
                           problem->row_count);
        if (isnan(problem->requests[i].priority))
            return err_set(err, "request %u has a priority that is not a number", i + 1);
        for (uint32_t q = 0; q < count; q++)
            if (!(problem->amounts[(size_t)i * count + q] >= 0) || isinf(problem->amounts[(size_t)i * count + q]))
                return err_set(err, "request %u asks for %g of quantity %u: expected a number from 0 on", i + 1,
                               problem->amounts[(size_t)i * count + q], q + 1);
    }
    for (uint32_t i = 0; i < problem->offer_count; i++)
        for (uint32_t q = 0; q < count; q++)
            if (!(problem->free[(size_t)i * count + q] >= 0))
                return err_set(err, "offer %u has %g of quantity %u: expected a number from 0 on", i + 1,
                               problem->free[(size_t)i * count + q], q + 1);
    return 0;
}
