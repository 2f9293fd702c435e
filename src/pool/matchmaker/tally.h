/* tally.h: what a claim has used so far, and how much of that stands in the book (usage_book.h): so that each second counts once.
 *
 *     report, all together so far --> counted --+--> what is more than `booked` goes into the book,
 *                                               `--> and in the same commit the claim's row says that it does
 *
 * Reports tell totals, which count from 0 in each life of the provider: one that is lost is made good by the next, and one that comes twice, late or out of
 * order adds nothing. After a restart of the matchmaker the claim's row says what stands in the book already; a claim without a row begins with what its
 * first report says, for that may stand there. So nothing counts twice, whoever begins anew. A power cut takes the last TALLY_SPAN of claims that have ended, and of those that go on only what was used
 * before they were first written.
 *
 * Nobody is believed beyond reason: a claim was active no longer than it has been known (and a lease), its jobs used no more than all processors of the machine
 * for that long, and moved no more than TALLY_RATE. */
#ifndef BERTH_POOL_MATCHMAKER_TALLY_H
#define BERTH_POOL_MATCHMAKER_TALLY_H

#include "pool/matchmaker/usage_book.h"
#include "pool/protocol/time_limit.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TALLY_SPAN (2 * SECOND)              /* the least time between two writings */
#define TALLY_FIRST (10 * SECOND)            /* a claim is written that long after its first report ... */
#define TALLY_AGAIN MINUTE                   /* ... and then that often, while it goes on */
#define TALLY_ROWS 1000                      /* claims that go on and are written at a time, at most */
#define TALLY_LOOKS 20000                    /* claims that are looked at for that */
#define TALLY_CORES_MAX 4096                 /* of a machine, as far as it is believed */
#define TALLY_RATE 100000                    /* bytes in a microsecond */
#define TALLY_ROOM (1 << 30)                 /* bytes that may be moved at once */
#define TALLY_JOB_SPAN 1000                  /* microseconds that a job takes at the least */
#define TALLY_REFERENCE TIME_LIMIT_REFERENCE /* the Benchmark of the machine that others are compared with */
#define TALLY_SPEED_MAX 1000
#define TALLY_KEEP (24 * 60 * MINUTE) /* how long a restarted matchmaker waits for news of claims in its rows */

/* What a claim is on, as its match says. */
struct tally_unit {
    struct text machine;
    int64_t cpus, gpus; /* that the claim was given, in thousandths */
    int64_t licenses;   /* likewise: 1000 for a licence, 0 for all else */
    int64_t speed;      /* the machine's Benchmark, in millionths; 0: it says none */
    int64_t cores;      /* processors of the machine: its jobs cannot use more */
};

/* As reports tell it: microseconds, bytes, jobs. */
struct tally_counts {
    int64_t wall, cpu, jobs, taken, brought;
};

struct tally {
    struct text account;
    struct tally_unit unit;
    uint64_t life;                       /* of the provider; 0: none has been told */
    struct tally_counts counted, booked; /* within that life */
    struct tally_counts all;             /* counted in all lives */
    int64_t memory;                      /* that is not in the book yet */
    int64_t weight;
    int64_t month;  /* of what is counted and not booked */
    int64_t before; /* all.wall when it became known, and what may have come to it while nobody listened */
    int64_t due;    /* when it is to be booked next */
    bool begun;     /* it is in the book as a claim */
    bool row;       /* it has a row on disk */
    bool unsure;    /* it was learnt without a row: its first report only says where it begins */
    bool waits;     /* there is something to book */
    bool ahead;     /* it was booked out of turn: its row is to be written with the book */
};

/* Takes a report: `charged` is what the report's `used` was taken for, for providers that do not tell totals. The claim is known since
 * `known`. INVALID: no totals are like that. */
enum reason tally_take(struct tally *tally, const struct report *report, int64_t charged, int64_t known,
                       const struct spans *spans, const struct role_env *env, struct usage_book *book);

/* Its claim has never been active, as far as is known. */
bool tally_is_unused(const struct tally *tally);

/* Puts into the book what is not in it yet. */
void tally_book(struct tally *tally, struct usage_book *book);

void tally_load(struct tally *tally, const struct tally_record *row, const struct role_env *env);
void tally_write(struct tally *tally, uint64_t claim, const struct role_env *env, struct effects *effects);

#ifdef __cplusplus
}
#endif
#endif
