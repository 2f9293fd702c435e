/* duty.c: what the members of a gang are to run, and by what right they ask for its files. */
#include "pool/duty.h"

#include "pool/plants.h"
#include "pool/ticket.h"

void duty_pass_draw(const struct secrets *secrets, struct key *ret)
{
    secrets->draw(secrets->user, ret, sizeof *ret);
}

void duty_pass_help(const struct secrets *secrets, const struct key *pass, struct key *ret)
{
    static const char purpose[16] = "berth helper"; /* filled with NULs, as those of tickets are */

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
    bool known = !ours->customer && heir->leads && !heir->deep; /* the customer answers it by its claim alone */

    if (!heir->leads && !ours->helps) {
        duty.helps = true;
        if (!pass_is_none(&ours->pass) && !PLANTED(PASS_FOR_ALL))
            duty_pass_help(secrets, &ours->pass, &duty.pass);
    }
    if (known || !heir->executes)
        duty.pass = (struct key){{0}};
    if (duty.line == heir->claim)
        duty.line = 0;
    if (PLANTED(TASK_DROPPED))
        duty.ad = NULL;
    return duty;
}
