/* roles.c: the table of roles, and what scopes are for. */
#include "live/auth/roles.h"

#include <string.h>

const struct role_row roles[] = {
    {"administrator", SCOPE_ALL, "who answers for the pool",
     "Everything: makes tokens of any scope for anybody, rotates the pool's keys, and all that an operator may. The user who runs the "
     "matchmaker, and root, have it by its Unix socket, without a token."},
    {"operator", ROLE_OPERATOR, "who runs the pool from day to day",
     "Disables and enables users, makes and revokes tokens and codes, sets factors, shares, policy and configuration, commands every agent, "
     "takes away others' ads, sees everything, and reads the audit log. It cannot rotate keys, nor make a token with a scope that its own "
     "token does not have: so it makes no administrators, and none who serve others."},
    {"customer", ROLE_CUSTOMER, "the customer of a user, which has the queue",
     "What a person may, and at that customer all jobs of its queue. A machine that joins with `berth token code --customer NAME` has it."},
    {"person", ROLE_PERSON, "who has jobs to run",
     "Sees the pool, submits jobs, sees and changes its own jobs, and lends machines of its own. A user of the matchmaker's machine has it "
     "by the Unix socket, without a token."},
    {"owner", ROLE_MACHINE, "who owns machines",
     "Sees the pool, and has machines of its own in it, under names behind its own (OWNER/NAME): offers them, drains and resumes them. It "
     "submits no jobs."},
    {"machine", ROLE_MACHINE, "a machine that has joined",
     "Offers itself and runs claims. It asks for no other machines: a request of machine/NAME is refused without the scope job:submit."},
    {"accountant", ROLE_READER | SCOPE_AUDIT, "who reckons or looks into what happened",
     "Sees everything: all claims and matches, what every user has used and may do, tokens (never the secret), and the audit log. It changes "
     "nothing."},
    {"reader", ROLE_READER, "who looks",
     "Sees the pool as everybody may: machines, offers, usage, why a job waits. It changes nothing."},
    {NULL, SCOPE_NONE, NULL, NULL},
};

static const char *const scope_meanings[SCOPE_COUNT] = {
    [SCOPE_NUMBER_AD_READ] = "look at the pool: ads, machines, agents, users, shares",
    [SCOPE_NUMBER_AD_WRITE] = "have ads and agents of one's own in it, and command those agents",
    [SCOPE_NUMBER_JOB_SUBMIT] = "submit jobs to a customer",
    [SCOPE_NUMBER_JOB_OWN] = "see and change one's own jobs there",
    [SCOPE_NUMBER_JOB_ANY] = "see and change all jobs there, and submit for others",
    [SCOPE_NUMBER_CLAIM] = "claim machines, and be claimed",
    [SCOPE_NUMBER_MATCH] = "ask what would match, and why something does not",
    [SCOPE_NUMBER_CONFIG] = "change policy, shares and the pool's configuration",
    [SCOPE_NUMBER_SERVE] = "ask for machines in the name of any user, as a submit host does",
    [SCOPE_NUMBER_OPERATE] = "administer users, tokens, codes and agents, within one's own scopes",
    [SCOPE_NUMBER_AUDIT] = "see what only administrators see, and read the audit log; change nothing",
    [SCOPE_NUMBER_ADMIN] = "everything",
    [SCOPE_NUMBER_JOB_READ] = "see one's own jobs; it is in job:own, as the two that follow",
    [SCOPE_NUMBER_JOB_MODIFY] = "hold, release and rescue one's own jobs, and give them commands",
    [SCOPE_NUMBER_JOB_CANCEL] = "remove one's own jobs",
};

const struct role_row *role_named(const char *name, size_t len)
{
    for (const struct role_row *role = roles; role->name; role++)
        if (strlen(role->name) == len && !memcmp(role->name, name, len))
            return role;
    return NULL;
}

const struct role_row *role_of(scopes scope, const char *subject)
{
    bool machine = subject && !strncmp(subject, "machine/", 8);

    for (const struct role_row *role = roles; role->name; role++)
        if (role->scope == scope && (scope != ROLE_MACHINE || machine == !strcmp(role->name, "machine")))
            return role;
    return NULL;
}

const char *scope_means(enum scope_number scope)
{
    return scope_meanings[scope];
}
