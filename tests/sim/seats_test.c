/* Two processes for each matchmaker and customer, with their rows in a database that both reach: invariant 12, one process at a time is the party, and
 * all the others, in worlds without and with a planted bug. */
#include "common/rounds.h"
#include "common/tap.h"
#include "pool/protocol/mutants.h"
#include "sim/run.h"

#include <inttypes.h>

#define SEED 70000
#define WORLDS_CLEAN 12
#define WORLDS_MAX 300 /* in which a planted bug shows */

static struct sim_settings worlds_of(enum sim_seats seats, uint64_t worlds)
{
    return (struct sim_settings){.seed = lang_setting("BERTH_SEED", SEED),
                                 .worlds = worlds,
                                 .claims = UINT64_MAX,
                                 .faults = true,
                                 .seats = seats};
}

#ifdef BERTH_MUTANTS
enum mutant mutant_now;

static void plants_are_found(void)
{
    static const struct {
        enum mutant mutant;
        enum sim_seats seats;
        int number; /* of the promise that it breaks; 0: any */
        const char *words;
    } plants[] = {
        {MUTANT_LEASE_FROM_ANSWER, SEATS_KEPT, 12, "a lease is counted from the answer to its renewal"},
        {MUTANT_LAPSE_IGNORED, SEATS_KEPT, 12, "a holder past its lease goes on until it is told"},
        {MUTANT_SEAT_EARLY, SEATS_KEPT, 12, "a seat is taken before its lease is over"},
        {MUTANT_TAKEN_BLINDLY, SEATS_KEPT, 12, "a seat is taken although its row has changed since it was seen"},
        {MUTANT_EPOCH_UNCHECKED, SEATS_KEPT, 12, "a transaction does not check whose the seat is"},
        {MUTANT_FENCE_BEFORE, SEATS_KEPT, 12,
         "a transaction checks whose the seat is, and commits some time after that"},
        {MUTANT_COMMIT_LOCAL, SEATS_KEPT, 0, "a commit is acknowledged before the database's standby has it"},
        {MUTANT_UNKNOWN_IS_DONE, SEATS_KEPT, 0,
         "a transaction of which nobody knows what became of it is taken for done"},
        {MUTANT_CLAIMS_LEFT, SEATS_KEPT, 0, "who takes a seat does not take the claims"},
        {MUTANT_HISTORY_IGNORED, SEATS_LOSSY, 12, "a holder goes on although the database has lost commits"},
    };

    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct sim_settings settings = worlds_of(plants[i].seats, WORLDS_MAX);
        struct sim_report report;
        int broken;

        mutant_now = plants[i].mutant;
        broken = sim_run(&settings, &report);
        mutant_now = MUTANT_NONE;
        tap_ok(broken && (!plants[i].number || report.violation.number == plants[i].number),
               "planted: %s: found in world %" PRIu64 ": %d, %s", plants[i].words, report.worlds,
               report.violation.number, report.violation.words);
    }
}
#endif

static void worlds_are_clean(enum sim_seats seats, const char *words)
{
    struct sim_settings settings = worlds_of(seats, lang_rounds(WORLDS_CLEAN));
    struct sim_report report;
    int broken = sim_run(&settings, &report);

    if (!tap_ok(!broken && report.claims > 0,
                "%s: nothing that must not happen happens in %" PRIu64 " worlds with %" PRIu64 " claims", words,
                report.worlds, report.claims))
        tap_diag("seed %" PRIu64 ": invariant %d is broken by %s: %s", report.failed, report.violation.number,
                 report.violation.party, report.violation.words);
    for (int i = FAULT_SEATS; i < FAULT_COUNT; i++)
        tap_ok(broken || report.by_fault[i] > 0, "there are %s: %" PRIu64, fault_words[i], report.by_fault[i]);
}

int main(void)
{
#ifdef BERTH_MUTANTS
    plants_are_found();
#endif
    worlds_are_clean(SEATS_KEPT, "the database keeps what it has acknowledged");
    worlds_are_clean(SEATS_LOSSY, "the database loses its newest commits, and one process at a time is the party");
    return tap_done();
}
