/* record.h: what the roles make durable: rows that a store keeps by kind and key.
 *
 * A role writes a row whole, or removes it; the store gives back all rows when the role starts. */
#ifndef BERTH_POOL_PROTOCOL_RECORD_H
#define BERTH_POOL_PROTOCOL_RECORD_H

#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every role: how often it has started (the upper half of its ads' versions), and the largest number it has given to a
 * job. The matchmaker: the key of its receipts (receipt.h), drawn once. The row's key is 0. */
#define ROLE_RECORD_FIELDS(F, S) F(S, WORD, starts) F(S, LATER_WORD, last) F(S, QUIET_KEY, receipts)
/* Matchmaker: what a user has used, decayed to the second `stamp`. Key: a hash of the name. */
#define USER_RECORD_FIELDS(F, S) F(S, TEXT, name) F(S, NUMBER, usage) F(S, NUMBER, factor) F(S, NUMBER, stamp)
/* Provider: a unit that is pinned or claimed. `since` and `lease` are times of the clock that does not jump, within `boot`; `started` is
 * a second of the wall clock. Our `link` docks at the superior's `port`. `behind`: the claim that this one follows, while that is there; `fronts`: where it
 * follows several, [ Claims = { ids } ], and `behind` is the first. `pool`: the matchmaker of the pool that the claim was pulled from; 0: it was not
 * pulled.
 * `serves`: the claim is `running`, but nothing was launched for it.
 * `grant`: what the job may use, for an ad with ports; for others that stands in `ad`.
 * `receipt`: the matchmaker's, shown with each report of the claim.
 * `gpus`: [ AssignedGpus = { ids } ], those of the machine that are the claim's; none: it has no such.
 * Below a service: `root_owner` as in VERIFY; and, once a job was started, `task` to `helps` as in START. */
#define TENANT_RECORD_FIELDS(F, S) \
    F(S, WORD, offer)              \
    F(S, WORD, gang)               \
    F(S, WORD, superior)           \
    F(S, WORD, epoch)              \
    F(S, WORD, sequence)           \
    F(S, WORD, boot)               \
    F(S, FLAG, active)             \
    F(S, NUMBER, since)            \
    F(S, NUMBER, lease)            \
    F(S, WORD, number)             \
    F(S, WORD, job)                \
    F(S, FLAG, running)            \
    F(S, LATER_WORD, port)         \
    F(S, LATER_WORD, link)         \
    F(S, LATER_WORD, behind)       \
    F(S, LATER_TIME, started)      \
    F(S, QUIET_WORD, pool)         \
    F(S, TEXT, owner)              \
    F(S, AD, ad)                   \
    F(S, QUIET_TEXT, root_owner)   \
    F(S, AD, task)                 \
    F(S, QUIET_WORD, customer)     \
    F(S, QUIET_WORD, line)         \
    F(S, QUIET_KEY, pass)          \
    F(S, QUIET_FLAG, helps)        \
    F(S, QUIET_FLAG, idle) F(S, AD, grant) F(S, QUIET_FLAG, serves) F(S, AD, receipt) F(S, AD, gpus) F(S, AD, fronts)
/* Provider: a job's end, until the customer has it; `unmade` as in RESULT. Key: claim and number, mixed. */
#define OUTCOME_RECORD_FIELDS(F, S) \
    F(S, WORD, claim)               \
    F(S, WORD, number)              \
    F(S, WORD, job)                 \
    F(S, WORD, superior) F(S, REASON, reason) F(S, NUMBER, status) F(S, NUMBER, used) F(S, QUIET_FLAG, unmade)
/* Customer: jobs that are equal but for their number. */
#define SHAPE_RECORD_FIELDS(F, S) F(S, TEXT, owner) F(S, AD, ad)
/* Customer: a job; `gang` and `number` say where it runs, or ran last. A job to which nothing has happened since it was submitted has no row. `last`, of
 * forgotten jobs: the row stands for all from its own number to that one; 0: for one. */
#define JOB_RECORD_FIELDS(F, S) \
    F(S, WORD, shape)           \
    F(S, WORD, state)           \
    F(S, WORD, gang)            \
    F(S, WORD, claim)           \
    F(S, WORD, member)          \
    F(S, WORD, number)          \
    F(S, WORD, tries)           \
    F(S, REASON, reason) F(S, NUMBER, status) F(S, LATER_NUMBER, changed) F(S, LATER_WORD, begun) F(S, QUIET_WORD, last)
/* Customer: a submission by its key; `flow`, `nodes`, `node`, `batch`, `ads` and `trace` as in SUBMIT. Key: a hash of owner and key. */
#define KEY_RECORD_FIELDS(F, S) \
    F(S, TEXT, owner)           \
    F(S, TEXT, key)             \
    F(S, WORD, shape)           \
    F(S, WORD, first)           \
    F(S, WORD, count)           \
    F(S, LATER_WORD, gone)      \
    F(S, LATER_NUMBER, at)      \
    F(S, QUIET_WORD, flow)      \
    F(S, QUIET_WORD, nodes) F(S, AD, node) F(S, QUIET_WORD, batch) F(S, QUIET_WORD, ads) F(S, QUIET_TEXT, trace)
/* Customer (and whoever has subordinates): a subordinate of a gang that was decided, and its `place` among all. A
 * subordinate that is `dropped` was lost, and the gang goes on without it: its row stays to the gang's end, because the
 * gang is not whole any more. `shape` is the root's, or the claim of the superior that is a member itself. `pass` is
 * the gang's, at the root (duty.h); `below` is as in MATCH; `receipt` is the one that the subordinate was handed. Key:
 * its claim. */
#define BRANCH_RECORD_FIELDS(F, S) \
    F(S, WORD, gang)               \
    F(S, WORD, shape)              \
    F(S, WORD, agent)              \
    F(S, WORD, offer)              \
    F(S, WORD, depth)              \
    F(S, LATER_WORD, port)         \
    F(S, LATER_WORD, link)         \
    F(S, WORD, epoch)              \
    F(S, LATER_WORD, place)        \
    F(S, LATER_FLAG, dropped) F(S, AD, ad) F(S, QUIET_KEY, pass) F(S, EDGES, below) F(S, AD, receipt)

/* Matchmaker: what an account has used in a month, or what was used of a machine (usage_book.h): `whose` it is, and amounts. */
#define USAGE_RECORD_FIELDS(F, S) \
    F(S, NUMBER, month)           \
    F(S, FLAG, of_machine)        \
    F(S, TEXT, whose)             \
    F(S, NUMBER, claims)          \
    F(S, NUMBER, jobs)            \
    F(S, NUMBER, wall)            \
    F(S, NUMBER, units)           \
    F(S, NUMBER, cpus)            \
    F(S, NUMBER, gpus)            \
    F(S, NUMBER, cpu)             \
    F(S, NUMBER, normal) F(S, NUMBER, memory) F(S, NUMBER, taken) F(S, NUMBER, brought)
/* Matchmaker: how much of a claim's use stands in those rows, at the second `stamp`; while the claim lasts. The amounts of `life`, as its reports tell
 * them, and of all lives; and what they are multiplied by: `cpus` and `gpus` in thousandths, `speed` in millionths (tally.h); `licenses` counts in quotas. Key: the claim. */
#define TALLY_RECORD_FIELDS(F, S) \
    F(S, TEXT, machine)           \
    F(S, NUMBER, cpus)            \
    F(S, NUMBER, gpus)            \
    F(S, NUMBER, speed)           \
    F(S, NUMBER, cores)           \
    F(S, NUMBER, stamp)           \
    F(S, FLAG, begun)             \
    F(S, WORD, life)              \
    F(S, NUMBER, wall)            \
    F(S, NUMBER, cpu)             \
    F(S, NUMBER, jobs)            \
    F(S, NUMBER, taken)           \
    F(S, NUMBER, brought)         \
    F(S, NUMBER, all_wall)        \
    F(S, NUMBER, all_cpu)         \
    F(S, NUMBER, all_jobs) F(S, NUMBER, all_taken) F(S, NUMBER, all_brought) F(S, QUIET_NUMBER, licenses)

/* Provider: the last report of a claim that is over, until the matchmaker `registrar` has it on disk; the rest as in REPORT. Key: the claim. */
#define PARTING_RECORD_FIELDS(F, S) \
    F(S, WORD, registrar)           \
    F(S, WORD, gang)                \
    F(S, TEXT, owner)               \
    F(S, NUMBER, used)              \
    F(S, TEXT, group)               \
    F(S, TEXT, limits)              \
    F(S, NUMBER, weight)            \
    F(S, REASON, reason)            \
    F(S, AD, receipt)               \
    F(S, WORD, life)                \
    F(S, NUMBER, wall)              \
    F(S, NUMBER, cpu)               \
    F(S, NUMBER, memory) F(S, NUMBER, taken) F(S, NUMBER, brought) F(S, NUMBER, jobs) F(S, QUIET_TEXT, trace)

/* Provider: a booking: the offer `offer` is kept for the users that `ad` names, `from` one second to another (UTC). `held`: it is given back then unless it
 * is confirmed before; 0: it was. `arrive`: it is given back when nobody has `come` so many seconds after it began; 0: never. `ahead`: the calendar's
 * time less the clock that does not jump, within `boot`; `stamp`: the calendar's time when the row was written, in seconds. Of one that comes again (its ad has Every) these
 * are the times at which it is now, each is so many seconds long as `span` says, and at `missed` of them in a row nobody came. Key: the booking's. */
#define BOOKING_RECORD_FIELDS(F, S) \
    F(S, WORD, offer)               \
    F(S, NUMBER, from)              \
    F(S, NUMBER, until)             \
    F(S, NUMBER, held)              \
    F(S, NUMBER, arrive)            \
    F(S, FLAG, came)                \
    F(S, WORD, boot)                \
    F(S, NUMBER, ahead) F(S, NUMBER, stamp) F(S, AD, ad) F(S, QUIET_NUMBER, span) F(S, QUIET_WORD, missed)

#define RECORDS(X)             \
    X(ROLE, role_record)       \
    X(USER, user_record)       \
    X(TENANT, tenant_record)   \
    X(OUTCOME, outcome_record) \
    X(SHAPE, shape_record)     \
    X(JOB, job_record)         \
    X(KEY, key_record)         \
    X(BRANCH, branch_record)   \
    X(USAGE, usage_record)     \
    X(TALLY, tally_record)     \
    X(PARTING, parting_record) \
    X(BOOKING, booking_record)

enum record_kind {
    RECORD_NONE,
#define X(id, name) RECORD_##id,
    RECORDS(X)
#undef X
        RECORD_COUNT
};

#define X(id, name)                            \
    struct name {                              \
        id##_RECORD_FIELDS(FIELD_MEMBER, name) \
    };
RECORDS(X)
#undef X

struct record {
    enum record_kind kind;
    bool removed;
    uint64_t key;
    union {
#define X(id, name) struct name name;
        RECORDS(X)
#undef X
    } u;
};

const struct layout *record_layout(enum record_kind kind);

void record_copy(struct record *to, const struct record *from);
void record_done(struct record *record);
bool record_equal(const struct record *a, const struct record *b);

#ifdef __cplusplus
}
#endif
#endif
