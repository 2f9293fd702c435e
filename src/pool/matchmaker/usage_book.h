/* usage_book.h: what was used, month by month: by account, and by machine.
 *
 *     month 202611, account "physics~alice"  -> amounts        the same use stands in both rows
 *     month 202611, machine "node7"          -> amounts
 *
 * Amounts only grow. A month is that of the wall clock (UTC) when the use was told. The newest USAGE_MACHINE_MONTHS months that have rows say it
 * for each machine, older ones for all machines together; months before the newest USAGE_MONTHS are one, whose number is 0. Months are counted, not dated: a
 * clock that is ahead for a moment makes one month more, and throws nothing away. A month has at most USAGE_NAMES_MAX accounts and as many machines;
 * the others share a row. So the rows are bounded, and what they add up to is always all.
 *
 * Rows that have changed are written by usage_book_write, and folded some at a time. */
#ifndef BERTH_POOL_MATCHMAKER_USAGE_BOOK_H
#define BERTH_POOL_MATCHMAKER_USAGE_BOOK_H

#include "lang/base/textmap.h"
#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define USAGE_NAMES_MAX 20000
#define USAGE_MACHINE_MONTHS 13
#define USAGE_MONTHS 120
#define USAGE_OTHERS "<others>" /* beyond USAGE_NAMES_MAX */
#define USAGE_ALL "<all>"       /* machines of an old month */
#define USAGE_UNKNOWN "<unknown>"
#define USAGE_AMOUNT_MAX (INT64_C(1) << 60)

/* Identifier, and what two of them are together. Times are in milliseconds.
 *     claims, jobs     claims that were active, and jobs that have ended
 *     wall, units      how long claims were active; the same, each times its weight
 *     cpus, gpus       the same, times the processors and GPUs that the claim was given
 *     cpu, normal      processor time of jobs that have ended; the same, times the Benchmark of the machine
 *     memory           bytes: the most that a job had
 *     taken, brought   bytes that went to the machine, and came from it */
#define USAGE_AMOUNTS(X) \
    X(claims, sum)       \
    X(jobs, sum)         \
    X(wall, sum)         \
    X(units, sum)        \
    X(cpus, sum)         \
    X(gpus, sum)         \
    X(cpu, sum)          \
    X(normal, sum)       \
    X(memory, most)      \
    X(taken, sum)        \
    X(brought, sum)

struct usage_amounts {
#define X(name, how) int64_t name;
    USAGE_AMOUNTS(X)
#undef X
};

/* Adds amounts, none of them negative; sums stop at USAGE_AMOUNT_MAX. */
void usage_amounts_add(struct usage_amounts *to, const struct usage_amounts *more);

struct usage_row {
    const char *name; /* NULL: the place is free */
    uint64_t key;     /* of its record */
    int64_t month;    /* year times 100 plus month; 0: older than all others */
    bool of_machine;  /* else of an account */
    bool dirty;
    struct usage_amounts amounts;
};

struct usage_month {
    int64_t month;
    uint32_t names[2]; /* rows of accounts, and of machines */
};

struct usage_book {
    struct textmap names; /* month, kind and name: the row has the same place */
    struct usage_row *rows;
    uint32_t room;
    uint64_t last_key;
    struct usage_month *months; /* that have rows; the oldest first */
    uint32_t month_count, month_room;
    uint64_t *removed; /* keys of rows that were folded, until that is written */
    uint32_t removed_count, removed_room;
    uint32_t fold_at; /* where folding goes on */
    bool folds;       /* some rows may have to be folded */
    bool dirty;
};

void usage_book_init(struct usage_book *book, uint64_t seed);
void usage_book_done(struct usage_book *book);

/* The month of a second of the wall clock. */
int64_t usage_month(int64_t wall_seconds);

/* Adds to the account and to the machine. */
void usage_book_add(struct usage_book *book, int64_t month, const char *account, const char *machine,
                    const struct usage_amounts *amounts);

void usage_book_load(struct usage_book *book, const struct record *record);
bool usage_book_is_dirty(const struct usage_book *book);
void usage_book_write(struct usage_book *book, struct effects *effects);

/* Are its rows counted right? For tests. */
bool usage_book_valid(const struct usage_book *book, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
