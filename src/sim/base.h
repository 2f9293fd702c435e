/* base.h: shared by the files of seats: the database, and what runs between it and the processes. */
#ifndef BERTH_SIM_BASE_H
#define BERTH_SIM_BASE_H

#include "sim/seats.h"

#ifdef __cplusplus
extern "C" {
#endif

enum errand_kind {
    ERRAND_LOOK,   /* how is the seat's row? */
    ERRAND_TAKE,   /* the row becomes this process's, if it is still as it was seen */
    ERRAND_RENEW,  /* its lease, if the seat is still this holder's */
    ERRAND_COMMIT, /* rows, if the seat is still this holder's */
};

struct errand {
    uint32_t link; /* in the list of free entries */
    enum errand_kind kind;
    bool returns;                /* on its way back */
    bool checked;                /* a bug: a commit whose holder was checked before */
    uint32_t candidate, life;    /* of that process */
    uint64_t serial, connection; /* the database closes connections when it fails over */
    int64_t sent;                /* on its clock */
    enum tenure_answer answer;
    uint64_t epoch, renewals; /* of the row: as the process has them; on the way back, as the database has them */
    uint64_t holder, history, commits; /* the same */
    struct record *rows;               /* of a commit */
    uint32_t count;
};

/* A row or a seat as it was before, for a fail-over that loses the newest commits. */
struct before {
    int64_t at;
    uint32_t seat;
    bool is_seat;
    struct seat was;
    struct record record; /* `removed` when there was none */
};

struct seats {
    struct world *world;
    int64_t span;
    bool synchronous, quiet;
    uint32_t count;
    struct seat seats[SEATS_MAX];
    struct candidate candidates[2 * SEATS_MAX];
    struct slab errands;
    uint64_t serials, connection;
    uint64_t history; /* how often commits may have been lost */
    int64_t back;     /* the database does nothing before that time */
    struct before *before;
    uint32_t before_first, before_count, before_room;
};

void errand_travels(struct seats *seats, uint32_t index); /* to the database, or back */
void base_serves(struct seats *seats, uint32_t index);    /* an errand has come */
void base_stalls(struct seats *seats, int64_t span);
void base_fails_over(struct seats *seats);
void base_free(struct seats *seats);

#ifdef __cplusplus
}
#endif
#endif
