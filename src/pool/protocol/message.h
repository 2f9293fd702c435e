/* message.h: all messages that parties send to each other. * Every message has one answer (the reply named beside it),
 * or none comes and it is *unknown* whether it arrived: so every message may be repeated, and repeating one changes
 * nothing. Who sent it is proved by the world and stands in the event (role.h), not here. * Advertising and pulling: an
 * agent tells the matchmaker.   Notification: the matchmaker tells agents.   Claiming: a superior in the gang tells its
 * subordinate (VERIFY to ATTACH), a subordinate its superior (BEAT to LEFT), a member far below the root its customer
 * (TASK).   Users tell a customer (SUBMIT, CONTROL). */
#ifndef BERTH_POOL_PROTOCOL_MESSAGE_H
#define BERTH_POOL_PROTOCOL_MESSAGE_H

#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts in or replaces an ad; `bare` only renews it: its text and `seen` are those of that version. `heard` is the
 * matchmaker's clock as it last told us, in the incarnation that `seen` names: so the matchmaker knows that a text
 * which was long on its way is old. `key` makes the tickets of an offer. */
#define ADVERTISE_FIELDS(F, S) \
    F(S, WORD, id)             \
    F(S, WORD, version)        \
    F(S, FLAG, request) F(S, FLAG, bare) F(S, SEEN, seen) F(S, NUMBER, heard) F(S, KEY, key) F(S, AD, ad)
/* `settled`: matches up to that number no longer count. `span`: with CONSUMED, a text sent after that time may have units again. `planned`: of a request
 * that waits for room: it is planned to begin in so long, at least 1; 0: it is not planned. `planned_on`: on the machine of that name; empty: it is not known. Only
 * customers that say so can read these two (live/agent). */
#define ADVERTISED_FIELDS(F, S) \
    F(S, WORD, id)              \
    F(S, WORD, version)         \
    F(S, REASON, reason)        \
    F(S, WORD, incarnation)     \
    F(S, WORD, settled)         \
    F(S, NUMBER, span) F(S, NUMBER, clock) F(S, QUIET_NUMBER, planned) F(S, QUIET_TEXT, planned_on)
#define WITHDRAW_FIELDS(F, S) F(S, WORD, id) F(S, WORD, version)
/* How what the offer `id` speaks of stands (machine_state.h), whether or not anything of it is offered now. Nothing is ever matched because of it.
 * `version` rises. `ad` is the offer with nothing given away; none: it is as it was told in version `base`, or (0, of an idle machine) as the offer is. `since` and `until` are spans, so
 * that clocks need not agree: how long the state has held, and how long it will (-1: not known). `told` has what is in use, and words.
 * `gone`: there is no such machine any more. */
#define STANDS_FIELDS(F, S) \
    F(S, WORD, id)          \
    F(S, WORD, version)     \
    F(S, WORD, base)        \
    F(S, WORD, state)       \
    F(S, NUMBER, since)     \
    F(S, NUMBER, until) F(S, FLAG, sure) F(S, FLAG, pulls) F(S, FLAG, gone) F(S, AD, told) F(S, AD, ad)

/* One unit of the offer `id` asks for a request; the ad is not kept. `key` makes the ticket. `number` rises from pull
 * to pull of an offer: a repeated number is the same pull, and within the window the matchmaker tells the match that it
 * got again; a smaller number is stale. 0: the next pull. */
#define PULL_FIELDS(F, S) F(S, WORD, id) F(S, WORD, number) F(S, KEY, key) F(S, AD, ad)
/* OK: the unit was matched `age` ago; the rest is as MATCH tells a member. WAIT: nobody fits, ask again after
 * `span`. */
#define PULLED_FIELDS(F, S) \
    F(S, WORD, id)          \
    F(S, WORD, number)      \
    F(S, REASON, reason)    \
    F(S, WORD, incarnation) \
    F(S, NUMBER, span)      \
    F(S, NUMBER, age)       \
    F(S, NUMBER, window) F(S, WORD, gang) F(S, WORD, claim) F(S, WORD, superior) F(S, AD, superior_ad) F(S, AD, receipt)

/* Your ad `id` was matched, as its match `number`, `age` ago. The claim towards `superior` is `claim` (both 0 at the
 * root); its `port` is docked by your `link`. `customer` is the agent at the root, 0 when that is the superior. `below`
 * are the members that run the job further below than the edges, in the order of ports: of those only claim, agent and
 * `under` are filled in. The agent keeps `receipt` with the claim, and shows it with each report of it (receipt.h). It
 * hands the receipts in the edges to the subordinates by VERIFY. */
#define MATCH_FIELDS(F, S)  \
    F(S, WORD, id)          \
    F(S, WORD, incarnation) \
    F(S, WORD, number)      \
    F(S, NUMBER, age)       \
    F(S, NUMBER, window)    \
    F(S, WORD, gang)        \
    F(S, WORD, claim)       \
    F(S, WORD, superior)    \
    F(S, AD, superior_ad)   \
    F(S, EDGES, edges)      \
    F(S, QUIET_WORD, port) F(S, QUIET_WORD, link) F(S, QUIET_WORD, customer) F(S, EDGES, below) F(S, AD, receipt)

/* The subordinate's `link` is to dock at the superior's `port`. Without a proof the message asks for a challenge.
 * `leads`: the subordinate must know of subordinates of its own. `offer` is the ad's id at the subordinate, `ad`
 * the superior's ad. `root_owner` is the owner of the job at the root, who is charged; empty where that is the
 * ad's owner. */
#define VERIFY_FIELDS(F, S) \
    F(S, WORD, gang)        \
    F(S, WORD, claim)       \
    F(S, WORD, offer)       \
    F(S, LATER_WORD, port)  \
    F(S, LATER_WORD, link)  \
    F(S, FLAG, leads)       \
    F(S, FLAG, proves) F(S, KEY, nonce) F(S, KEY, proof) F(S, AD, ad) F(S, QUIET_TEXT, root_owner) F(S, AD, receipt)
#define VERIFIED_FIELDS(F, S) \
    F(S, WORD, claim) F(S, REASON, reason) F(S, NUMBER, span) F(S, KEY, nonce) F(S, KEY, proof) F(S, AD, ad)
#define COMMIT_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch) F(S, WORD, sequence) F(S, NUMBER, collect)
/* `ad` is the unit's, when the claim is used again; else there is none. */
#define ACTIVATE_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch) F(S, WORD, sequence) F(S, AD, ad)
/* `ad` is the superior's, as ever. `task` is the ad of the job at the root as all members below a service may know it;
 * none: `ad` is the job's. The customer itself tells members below a service what they run (TASK). `customer`,
 * `line`, `pass`, `helps` and `idle` are as duty.h has them. */
#define START_FIELDS(F, S)     \
    F(S, WORD, claim)          \
    F(S, WORD, epoch)          \
    F(S, WORD, sequence)       \
    F(S, WORD, job)            \
    F(S, WORD, number)         \
    F(S, AD, ad)               \
    F(S, AD, task)             \
    F(S, QUIET_WORD, customer) \
    F(S, QUIET_WORD, line) F(S, QUIET_KEY, pass) F(S, QUIET_FLAG, helps) F(S, QUIET_FLAG, idle)
/* A member below a service asks the customer at the root of its gang what it is to run. */
#define TASK_FIELDS(F, S) F(S, WORD, gang) F(S, WORD, claim) F(S, WORD, number) F(S, WORD, job)
/* OK: `ad` is the job's; `line`, `pass` and `helps` as in START. WAIT: ask again. */
#define TASKED_FIELDS(F, S) \
    F(S, WORD, claim)       \
    F(S, REASON, reason) F(S, AD, ad) F(S, QUIET_WORD, line) F(S, QUIET_KEY, pass) F(S, QUIET_FLAG, helps)
#define RELEASE_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch) F(S, WORD, sequence)
#define ABORT_FIELDS(F, S) F(S, WORD, claim)
#define ATTACH_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch)
/* The answer to COMMIT, ACTIVATE, START, RELEASE and ABORT; `epoch` is the epoch that holds. */
#define CLAIMED_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch) F(S, REASON, reason)
/* How the claim stands: activated or still pinned; the last job's number, and whether that job still runs. */
#define ATTACHED_FIELDS(F, S) \
    F(S, WORD, claim)         \
    F(S, WORD, epoch) F(S, REASON, reason) F(S, FLAG, active) F(S, WORD, number) F(S, WORD, job) F(S, FLAG, running)

/* `sent` comes back in the answer: the subordinate counts its lease from it. `heard` is the `clock` of the last answer:
 * so the superior knows when the beat was sent at the earliest, by its own clock, however long it was on its way. */
#define BEAT_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch) F(S, NUMBER, sent) F(S, NUMBER, heard)
#define BEATEN_FIELDS(F, S) F(S, WORD, claim) F(S, REASON, reason) F(S, NUMBER, sent) F(S, NUMBER, clock)
/* A pinned subordinate without news: what was decided? */
#define ASK_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch)
/* `unmade`: the job has not made all the outputs that it names. */
#define RESULT_FIELDS(F, S) \
    F(S, WORD, claim)       \
    F(S, WORD, number)      \
    F(S, WORD, job) F(S, REASON, reason) F(S, NUMBER, status) F(S, NUMBER, used) F(S, QUIET_FLAG, unmade)
/* The claim is over on the subordinate's side, and nothing of the job is left. */
#define LEFT_FIELDS(F, S) F(S, WORD, claim) F(S, WORD, epoch) F(S, REASON, reason)
/* Each member reports to the registrar. `used` counts since the last report; the first report is sent when the claim is
 * pinned. `group` and `limits` are what the root's ad says, `weight` the unit's in thousandths (0: one unit). `reason`:
 * why the claim is over; OK: it was released, or is not over. A matchmaker that has begun anew learns of the claim by
 * the `receipt`, and believes what that says.
 * What was used so far, all together, so that a report that is lost or comes twice changes nothing: `wall` is how long the claim has been active; `cpu`
 * (microseconds), `memory` (the most), `taken` and `brought` (bytes) are of its `jobs`, those that have ended. They count from 0 in each `life`, the
 * number of the provider's start. Matchmakers before that know none of these seven, and are not told (live/agent).
 * `trace`: of the claim's last job (job_trace.h), for logs; likewise for those that know it. */
#define REPORT_FIELDS(F, S)    \
    F(S, WORD, claim)          \
    F(S, WORD, gang)           \
    F(S, TEXT, owner)          \
    F(S, NUMBER, used)         \
    F(S, FLAG, over)           \
    F(S, LATER_TEXT, group)    \
    F(S, LATER_TEXT, limits)   \
    F(S, LATER_NUMBER, weight) \
    F(S, QUIET_REASON, reason) \
    F(S, AD, receipt)          \
    F(S, QUIET_WORD, life)     \
    F(S, QUIET_NUMBER, wall)   \
    F(S, QUIET_NUMBER, cpu)    \
    F(S, QUIET_NUMBER, memory) \
    F(S, QUIET_NUMBER, taken) F(S, QUIET_NUMBER, brought) F(S, QUIET_NUMBER, jobs) F(S, QUIET_TEXT, trace)

/* A node of a workflow says which workflow that is (`flow`, a word that all its nodes share; 0: none), how many `nodes` it has, and in `node` its own
 * name and which nodes it waits for: [ Node = "D"; After = { "B", "C" } ]. Submissions that are one for their user share a word, `batch`, and say how
 * many they are, `ads`, and how many jobs that makes, `jobs`: their numbers follow one another, and no job begins before all are there. `trace`: by which
 * the jobs are followed through logs (job_trace.h); empty: by none. */
#define SUBMIT_FIELDS(F, S) \
    F(S, TEXT, key)         \
    F(S, TEXT, owner)       \
    F(S, WORD, count)       \
    F(S, AD, ad)            \
    F(S, QUIET_WORD, flow)  \
    F(S, QUIET_WORD, nodes) \
    F(S, AD, node) F(S, QUIET_WORD, batch) F(S, QUIET_WORD, ads) F(S, QUIET_WORD, jobs) F(S, QUIET_TEXT, trace)
#define SUBMITTED_FIELDS(F, S) F(S, REASON, reason) F(S, WORD, first) F(S, WORD, count)
#define CONTROL_FIELDS(F, S) F(S, WORD, job) F(S, WORD, verb) F(S, AD, ad) /* enum control_verb; EDIT: the whole ad */
#define GOT_FIELDS(F, S) F(S, REASON, reason)                              /* the plain answer */

/* Identifier, structure, and the identifier of its answer (NONE for an answer). */
#define MESSAGES(X)                     \
    X(ADVERTISE, advertise, ADVERTISED) \
    X(ADVERTISED, advertised, NONE)     \
    X(WITHDRAW, withdraw, GOT)          \
    X(STANDS, stands, GOT)              \
    X(PULL, pull, PULLED)               \
    X(PULLED, pulled, NONE)             \
    X(MATCH, match_told, GOT)           \
    X(VERIFY, verify, VERIFIED)         \
    X(VERIFIED, verified, NONE)         \
    X(COMMIT, commit, CLAIMED)          \
    X(ACTIVATE, activate, CLAIMED)      \
    X(START, start, CLAIMED)            \
    X(TASK, task_asked, TASKED)         \
    X(TASKED, task_told, NONE)          \
    X(RELEASE, release, CLAIMED)        \
    X(ABORT, abort, CLAIMED)            \
    X(CLAIMED, claimed, NONE)           \
    X(ATTACH, attach, ATTACHED)         \
    X(ATTACHED, attached, NONE)         \
    X(BEAT, beat, BEATEN)               \
    X(BEATEN, beaten, NONE)             \
    X(ASK, ask, CLAIMED)                \
    X(RESULT, result, CLAIMED)          \
    X(LEFT, left, CLAIMED)              \
    X(REPORT, report, GOT)              \
    X(SUBMIT, submit, SUBMITTED)        \
    X(SUBMITTED, submitted, NONE)       \
    X(CONTROL, control, GOT)            \
    X(GOT, got, NONE)

enum message_kind {
    MESSAGE_NONE,
#define X(id, name, answer) MESSAGE_##id,
    MESSAGES(X)
#undef X
        MESSAGE_COUNT
};

/* RESCUE: a job of a workflow that ended badly waits again, with all its tries. */
enum control_verb {
    CONTROL_HOLD,
    CONTROL_RELEASE,
    CONTROL_REMOVE,
    CONTROL_RESCUE,
    CONTROL_VACATE, /* a job that runs leaves its machine, and waits again */
    CONTROL_EDIT,   /* from its next start on the job is as `ad` has it */
    CONTROL_COUNT
};

#define X(id, name, answer)             \
    struct name {                       \
        id##_FIELDS(FIELD_MEMBER, name) \
    };
MESSAGES(X)
#undef X

struct message {
    enum message_kind kind;
    union {
#define X(id, name, answer) struct name name;
        MESSAGES(X)
#undef X
    } u;
};

const struct layout *message_layout(enum message_kind kind);
enum message_kind message_answer(enum message_kind kind); /* MESSAGE_NONE if this kind is an answer itself */

/* The answer that refuses a message of that kind; false when such a message has no answer. */
bool message_refusal(enum message_kind kind, enum reason reason, struct message *ret);

void message_copy(struct message *to, const struct message *from);
void message_done(struct message *message); /* gives back what it holds; its kind is NONE then */
bool message_equal(const struct message *a, const struct message *b);

#ifdef __cplusplus
}
#endif
#endif
