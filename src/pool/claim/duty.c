/* duty.c: what the members of a gang are to run, and by what right they ask for its files. */
#include "pool/claim/duty.h"

#include "match/gang/runs.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/ticket.h"

#include <string.h>

#define PURPOSE_BYTES 16 /* padded with NULs, as the purposes of tickets are */

void duty_pass_draw(const struct secrets *secrets, struct key *ret)
{
    secrets->draw(secrets->user, ret, sizeof *ret);
}

void duty_pass_for(const struct secrets *secrets, const struct key *key, agent who, bool helps, struct key *ret)
{
    static const char leads[PURPOSE_BYTES] = "berth pass", other[PURPOSE_BYTES] = "berth help";
    char data[PURPOSE_BYTES + 8];

    memcpy(data, helps ? other : leads, PURPOSE_BYTES);
    for (int i = 0; i < 8; i++)
        data[PURPOSE_BYTES + i] = (char)(unsigned char)(who >> (8 * i));
    secrets->seal(secrets->user, key, data, sizeof data, ret);
}

void duty_pass_help(const struct secrets *secrets, const struct key *pass, struct key *ret)
{
    static const char purpose[PURPOSE_BYTES] = "berth helper";

    secrets->seal(secrets->user, pass, purpose, sizeof purpose, ret);
}

bool pass_is_none(const struct key *pass)
{
    static const struct key zero;

    return key_equal(pass, &zero);
}

struct duty duty_hand(const struct secrets *secrets, const struct duty *ours, const struct duty_heir *heir)
{
    struct duty duty = *ours;

    duty.helps = ours->helps || !heir->leads;
    duty.idle = ours->idle || heir->idle;
    duty.pass = (struct key){{0}};
    if (!ours->customer && !pass_is_none(&ours->pass) && (heir->executes || MUTANT(PASS_THROUGH)))
        duty_pass_for(secrets, &ours->pass, heir->who, duty.helps && !MUTANT(PASS_FOR_ALL), &duty.pass);
    if (duty.line == heir->claim)
        duty.line = 0;
    return duty;
}

struct tree *duty_withhold(struct tree *ad, uint64_t port, uint64_t link)
{
    /* attributes that say how the job is run; none by which anybody could decide whether to take part in it */
    static const char *const names[] = {
        "Cmd",        "Args",       "Env",
        "Iwd",        "IwdUser",    "In",
        "Out",        "Err",        "Inputs",
        "Outputs",    "OutputTo",   "UserLog",
        "OutputSE",   "NodeInputs", "OutputElsewhere",
        "Pre",        "Post",       "Checkpoint",
        "WarnSignal", "Dag",        "CheckpointSignal",
        "Node",       "After",      "CheckpointPeriod",
    };

    return MUTANT(AD_WHOLE) ? tree_ref(ad) : port_withholds(ad, port, link, names, sizeof names / sizeof *names);
}
