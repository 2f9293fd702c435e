/* tenure.c: two processes, one seat: may the one that holds it act now, and may the other take it? */
#include "pool/protocol/tenure.h"

#include "pool/protocol/mutants.h"

#define RENEWALS 6 /* a lease, so that some may be lost */
#define PATIENCE 3 /* a part of the lease, after which an answer is waited for no longer */

/* ---------------------------------------------------------------------------------------------------------- the holder */

static int64_t tenure_bit(int64_t span)
{
    return MUTANT(NO_BIT) ? 0 : span / TENURE_PARTS;
}

static int64_t tenure_end(int64_t asked, int64_t span)
{
    return asked + span - tenure_bit(span);
}

void tenure_take(struct tenure *tenure, int64_t asked, int64_t span)
{
    *tenure = (struct tenure){.span = span, .asked = asked, .until = tenure_end(asked, span)};
}

void tenure_asked(struct tenure *tenure, int64_t now)
{
    tenure->asked = now;
    tenure->waits = true;
}

enum tenure_state tenure_state(const struct tenure *tenure, int64_t now)
{
    if (tenure->lost)
        return TENURE_LOST;
    return now < tenure->until ? TENURE_HOLDS : TENURE_LAPSED;
}

enum tenure_state tenure_answered(struct tenure *tenure, enum tenure_answer answer, int64_t now)
{
    if (tenure->waits && answer == TENURE_REFUSED)
        tenure->lost = true;
    else if (tenure->waits && answer == TENURE_GRANTED)
        tenure->until = tenure_end(MUTANT(LEASE_FROM_ANSWER) ? now : tenure->asked, tenure->span);
    tenure->waits = false;
    return tenure_state(tenure, now);
}

/* When something is to be done: the next renewal, or no longer waiting for the answer to the last. */
static int64_t tenure_turn(const struct tenure *tenure)
{
    return tenure->asked + tenure->span / (tenure->waits ? PATIENCE : RENEWALS);
}

enum tenure_due tenure_due(const struct tenure *tenure, int64_t now)
{
    if (tenure->lost || now < tenure_turn(tenure))
        return TENURE_REST;
    return tenure->waits ? TENURE_GIVE_UP : TENURE_ASK;
}

int64_t tenure_next(const struct tenure *tenure, int64_t now)
{
    int64_t turn = tenure_turn(tenure);

    if (tenure->lost)
        return INT64_MAX;
    if (now < tenure->until && tenure->until < turn)
        return tenure->until;
    return turn > now ? turn : now;
}

/* --------------------------------------------------------------------------------------------------------- the standby */

void vigil_sees(struct vigil *vigil, uint64_t epoch, uint64_t renewals, int64_t now)
{
    if (vigil->seen && vigil->epoch == epoch && (vigil->renewals == renewals || MUTANT(RENEWAL_UNSEEN)))
        return;
    *vigil = (struct vigil){.epoch = epoch, .renewals = renewals, .since = now, .seen = true};
}

bool vigil_may_take(const struct vigil *vigil, int64_t now, int64_t span)
{
    return vigil->seen && now >= vigil->since + (MUTANT(SEAT_EARLY) ? span / 2 : span + tenure_bit(span));
}
