/* mutants.h: bugs that can be planted, to see that the tests catch them. In an ordinary build there are none: MUTANT(...) is false, and the
 * compiler leaves nothing of it.
 *
 * A test-only build (-DBERTH_MUTANTS) chooses one at run time by `mutant_now`. Each is a rule of the protocol taken away. */
#ifndef BERTH_POOL_PROTOCOL_MUTANTS_H
#define BERTH_POOL_PROTOCOL_MUTANTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Identifier, and what is wrong. */
#define MUTANTS(X)                                                                               \
    X(EPOCH, "messages of an older epoch are obeyed")                                            \
    X(SEQUENCE, "messages older than the last of the session are obeyed")                        \
    X(ACK_EARLY, "a commit is acknowledged before the pin is durable")                           \
    X(WALL_LEASE, "leases are counted on the wall clock")                                        \
    X(ACTIVATE_EARLY, "the customer activates before its decision is durable")                   \
    X(BEAT_REVIVES, "a heart beat of a claim being released is acknowledged as alive")           \
    X(PIN_FOREVER, "a pin has no lease")                                                         \
    X(OLD_ABORT, "an abort is obeyed after activation")                                          \
    X(NO_WAIT, "a restarted customer does not wait for its claims")                              \
    X(SEEN_IGNORED, "the matchmaker ignores Seen")                                               \
    X(RESULT_TWICE, "a result is taken although the job has one")                                \
    X(RESULT_ANY, "a result is taken whatever its claim and number")                             \
    X(NO_LAUNCHER_DEADLINE, "the launcher does not end the job at the lease's end")              \
    X(FRESH_LEASE, "a restarted provider begins a fresh lease")                                  \
    X(ATTACH_RENEWS, "re-attachment renews the lease")                                           \
    X(ACK_UNATTACHED, "a restarted customer acknowledges heart beats before re-attachment")      \
    X(RELEASED_EARLY, "released is said before the job is gone")                                 \
    X(LEASE_FROM_ACTIVATE, "the first lease is counted from activation")                         \
    X(START_UNRECORDED, "a start is sent before it is durable at the customer")                  \
    X(LAUNCH_UNRECORDED, "a job is launched before that is durable")                             \
    X(NUMBER_IGNORED, "a start is obeyed whatever its number")                                   \
    X(ATTACH_UNRECORDED, "re-attachment names an epoch that is not recorded")                    \
    X(SEEN_GAPS, "Seen names matches as if there were no gaps")                                  \
    X(INCARNATION_IGNORED, "an unknown incarnation is taken for the present one")                \
    X(BARE_MOVED, "an ad is renewed without its text although that moved")                       \
    X(NO_MARGIN, "the customer gives a claim up at the lease's end, without the margin")         \
    X(VERSION_IGNORED, "an older ad replaces a newer one")                                       \
    X(LIFETIME_IGNORED, "an ad past its lifetime is matched")                                    \
    X(CONSTRAINT_UNCHECKED, "a provider does not look at its own constraint when it is claimed") \
    X(RESIDUAL_UNCHECKED, "a provider forgets what it has pinned already")                       \
    X(OBEY_LATE, "activate is obeyed up to the end of the pin")                                  \
    X(DECIDE_LATE, "the customer activates whenever the acknowledgements come")                  \
    X(PARENT_IGNORED, "a job of a workflow runs although one that it waits for has failed")      \
    X(KEY_TWICE, "a submission repeated with its key makes new jobs")                            \
    X(SUBMIT_EARLY, "a submission is acknowledged before it is durable")                         \
    X(TICKET_TWICE, "a ticket is good for a second commit")                                      \
    X(OWNER_UNCHECKED, "the owner written in an ad is believed")                                 \
    X(EVICT_AT_PIN, "a claim is ended when its successor is pinned")                             \
    X(ACTIVATE_OCCUPIED, "activate is acknowledged before the claim in front is gone")           \
    X(TWO_SUCCESSORS, "two are pinned behind one claim")                                         \
    X(SUCCESSOR_UNRESERVED, "what a successor will take is promised to others as well")          \
    X(ALL_GO, "of several claims all have to go, however few make room")                         \
    X(FIRST_GONE, "a successor of several claims has their place when one is gone")              \
    X(PULL_TWICE, "a unit that was pulled is not taken off its request")                         \
    X(STALE_CLAIM, "a customer goes on with a claim whose job another pool has taken")           \
    X(LIMIT_IGNORED, "a match is made although a limit is used up")                              \
    X(QUOTA_IGNORED, "a group takes more than its quota although it may not")                    \
    X(GANG_UNTAKEN, "what a gang takes beside its first member is offered again at once")        \
    X(LIMIT_EARLY, "a gang gives back its limits when the member that holds them is gone")       \
    X(CHARGED_APART, "members of a gang are charged to those whose they are")                    \
    X(QUOTA_ORDER, "groups are served alike, whatever they have of their quotas")                \
    X(RANK_TOLD_LOW, "a provider says that it likes its claim less than it does")                \
    X(RANK_REVERSED, "a provider prefers whom it likes less to its present claim")               \
    X(PRIORITY_IGNORED, "whoever has a machine is taken for a worse user than all others")       \
    X(GO_UNASKED, "a claim has to go although the owner does not allow it")                      \
    X(ABORT_SOME, "of a gang that does not form only the first member hears so")                 \
    X(TASK_DROPPED, "below a service what is run is the service's ad, not the job's")            \
    X(SERVICE_CHARGED, "below a service what is used is charged to the service's owner")         \
    X(PASS_FOR_ALL, "helpers get the leader's pass to the job's files")                          \
    X(DELEGATE_APART, "what was delegated has an account of its own")                            \
    X(LIMITS_CHOSEN, "what a job may use is read from its ad again when it is launched")         \
    X(PASS_THROUGH, "a pass to the job's files goes to a member that runs nothing")              \
    X(AD_WHOLE, "members that run nothing are told what the job runs")                           \
    X(TASK_FROM_ABOVE, "below a service what is run is what the service says")                   \
    X(REPORT_BELIEVED, "a report is believed without its receipt")                               \
    X(FAULT_BLAMED, "a job is held for a fault of the machine that was to run it")

/* Planted bugs in what is known of machines (tests/sim/standing_test.c): they change no match. */
#define MACHINE_MUTANTS(X)                                                          \
    X(BUSY_IS_OWNER, "a machine without room is said to be its owner's")            \
    X(GONE_KEPT, "a machine that is gone is remembered")                            \
    X(GONE_REVIVED, "a machine that is gone comes back by an older word")           \
    X(WORD_OUTLIVES, "the word of a machine outlives the program that told it")     \
    X(END_GROWS, "the time by which a claim must end is counted anew at each word") \
    X(STANDS_OLD, "an older word of a machine replaces a newer one")                \
    X(AWAY_FITS, "a machine that is away is told as it last stood")

/* Planted bugs that show only in gangs, for tests that make gangs (tests/sim/tree_test.c). */
#define GANG_MUTANTS(X)                                                                          \
    X(ESSENTIAL_IGNORED, "the loss of an essential member is taken for harmless")                \
    X(PORT_UNCHECKED, "a superior does not look at its own ports when its gang is verified")     \
    X(REUSE_REDUCED, "a gang that has lost a member is used for the next job")                   \
    X(NON_LEADER_RESULT, "the result of a member that is not the leader is taken for the job's") \
    X(LEADER_DROPPED, "a gang goes on without its leader")                                       \
    X(UNESSENTIAL_ENDS, "a gang ends whoever is lost")                                           \
    X(UNWHOLE, "a gang begins although a member was lost before")                                \
    X(EXECUTES_IGNORED, "a member that says Executes = false launches the job")                  \
    X(FAILURE_IGNORED, "that a member fails which is not the leader is not taken for a loss")    \
    X(PORT_RUNS_ALL, "whoever says that it executes runs the job, whatever its port says")       \
    X(RUNS_ON, "a member goes on with the last job while its gang begins the next")              \
    X(PROCESS_UNCOUNTED, "the failure of a process of a parallel job is not the job's")

/* Planted bugs in what is counted as used (tests/sim/charge_test.c): they change no match. */
#define USAGE_MUTANTS(X)                                                                        \
    X(TALLY_ADDS, "what a report says was used is added, whether or not it was counted before") \
    X(TALLY_ANEW, "a claim that is learnt again is counted from its beginning")                 \
    X(PARTING_ONCE, "the last report of a claim is sent once")                                  \
    X(PARTING_UNWRITTEN, "the last report of a claim is answered before it is counted on disk")

/* Planted bugs in calendars, which show only in worlds in which machines are booked (tests/sim/booking_worlds_test.c). */
#define BOOKING_MUTANTS(X)                                                          \
    X(BOOKING_EARLY, "a booking is acknowledged before it is written")              \
    X(BOOKING_TWICE, "a machine is booked for others at a time for which it is")    \
    X(BOOKING_SWAPPED, "when a booking is changed, the old one goes first")         \
    X(BOOKING_WALL, "bookings begin and end by the wall clock")                     \
    X(BOOKING_UNASKED, "a claim that is used again is not held against bookings")   \
    X(BOOKING_REACHED, "a machine is booked although a job there reaches into it")  \
    X(BOOKING_FORGOTTEN, "a booking does not outlive a restart of the provider")    \
    X(BOOKING_UNCONFIRMED, "a booking is kept although nobody confirms it in time") \
    X(BOOKING_KEPT, "a booking is kept for those who do not come")                  \
    X(BOOKING_TAKEN, "others may book a later time of a rule")                      \
    X(BOOKING_STOPS, "a rule is over when nobody came once")

/* Planted bugs that show only in worlds in which large jobs are planned (tests/sim/plan_worlds_test.c). */
#define PLAN_MUTANTS(X)                                                                       \
    X(PLAN_PASSED, "whoever fits beside a planned job may begin there, however long it runs") \
    X(PLAN_UNBOUND, "others are kept from as many machines as there are plans")               \
    X(PLAN_FOREVER, "a plan whose time is over stays")

/* A planted bug that shows only in worlds with GPUs (tests/sim/gpu_worlds_test.c). */
#define GPU_MUTANTS(X) X(GPU_TWICE, "a GPU is given although another claim has it")

/* Planted bugs that only a lying provider can use (tests/sim/liar_test.c). */
#define LIAR_MUTANTS(X) X(IDLE_RESULT, "the failure of a member that was given nothing to run counts as a try")

/* Planted bugs in how two processes share a seat (tests/pool/tenure_test.c, tests/sim/seats_test.c). */
#define SEAT_MUTANTS(X)                                                                           \
    X(LEASE_FROM_ANSWER, "a lease is counted from the answer to its renewal")                     \
    X(NO_BIT, "nothing of a lease is left for clocks that run apart")                             \
    X(SEAT_EARLY, "a seat is taken before its lease is over")                                     \
    X(RENEWAL_UNSEEN, "a standby does not look whether the lease was renewed")                    \
    X(TAKEN_BLINDLY, "a seat is taken although its row has changed since it was seen")            \
    X(LAPSE_IGNORED, "a holder past its lease goes on until it is told")                          \
    X(EPOCH_UNCHECKED, "a transaction does not check whose the seat is")                          \
    X(FENCE_BEFORE, "a transaction checks whose the seat is, and commits some time after that")   \
    X(COMMIT_LOCAL, "a commit is acknowledged before the database's standby has it")              \
    X(UNKNOWN_IS_DONE, "a transaction of which nobody knows what became of it is taken for done") \
    X(CLAIMS_LEFT, "who takes a seat does not take the claims")                                   \
    X(HISTORY_IGNORED, "a holder goes on although the database has lost commits")

enum mutant {
    MUTANT_NONE,
#define X(id, words) MUTANT_##id,
    MUTANTS(X)
#undef X
        MUTANT_COUNT,
#define X(id, words) MUTANT_##id,
    GANG_MUTANTS(X) LIAR_MUTANTS(X) MACHINE_MUTANTS(X) USAGE_MUTANTS(X) GPU_MUTANTS(X) SEAT_MUTANTS(X)
        BOOKING_MUTANTS(X) PLAN_MUTANTS(X)
#undef X
};

#ifdef BERTH_MUTANTS
extern enum mutant mutant_now;
#define MUTANT(id) (mutant_now == MUTANT_##id)
#else
#define MUTANT(id) false
#endif

#ifdef __cplusplus
}
#endif
#endif
