/* doctor_pool.c: the pool as it answers from here: clocks, versions, what one's token allows, agents, machines, the customer. */
#include "cli/admin/doctor.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/span.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMED_MAX 20           /* agents or machines that are told one by one */
#define CLOCK_NOTE 5           /* seconds that clocks may differ before it is told */
#define SILENT_NOTE 300        /* seconds without a word from an agent */
#define CLOCK_UNLIKE 315360000 /* seconds that no clock is behind or ahead by */

static bool pool_fetch(struct connection *pool, const char *path, struct tree **ret)
{
    struct buf kept;
    int status;

    buf_init(&kept);
    report_keep(&kept);
    status = connection_fetch_ad(pool, &(struct connection_ask){.path = path, .mute = true, .quiet = true}, ret);
    doctor_reported(&kept);
    buf_done(&kept);
    return status == STATUS_DONE;
}

/* Tells how this machine's clock stands against the pool's, which said `theirs` between two looks at ours. */
static void clock_tell(struct doctor *doctor, int64_t theirs, int64_t before, int64_t after)
{
    int64_t ahead = theirs < before ? before - theirs : theirs > after ? after - theirs : 0;
    int64_t apart = ahead < 0 ? -ahead : ahead;
    struct buf span;

    buf_init(&span);
    span_say(&span, apart < CLOCK_UNLIKE ? (double)apart : CLOCK_UNLIKE);
    if (apart <= CLOCK_NOTE) {
        doctor_say(doctor, DOCTOR_GOOD, "clocks", "this machine's and the pool's agree");
    } else {
        doctor_say(doctor, apart >= TOKEN_SKEW ? DOCTOR_PROBLEM : DOCTOR_NOTE, "clocks",
                   "this machine's is %s %s the pool's", buf_string(&span), ahead > 0 ? "ahead of" : "behind");
        doctor_advise(
            doctor,
            "set whichever is wrong, and have something keep it right (chrony): from a minute on, tokens are refused");
    }
    buf_done(&span);
}

static void whoami_look(struct doctor *doctor, struct connection *pool)
{
    char subject[160] = "", scope[600] = "";
    struct tree *ad = NULL;

    if (pool_fetch(pool, "/v1/whoami", &ad) && ad_text(ad, "Subject", subject, sizeof subject) &&
        ad_text(ad, "Scope", scope, sizeof scope))
        doctor_say(doctor, DOCTOR_GOOD, "who you are", "%s, who may: %s", subject, scope);
    tree_unref(ad);
}

/* -------------------------------------------------------------------------------------------- agents and machines */

/* A list that is gone through: how many, and the first few that are not well. */
struct survey {
    struct doctor *doctor;
    char version[64]; /* of the matchmaker */
    uint64_t agents, machines, others;
    struct buf versions; /* agents of another one */
    unsigned told;
};

static bool survey_may_tell(struct survey *survey)
{
    return survey->told++ < NAMED_MAX;
}

static bool agent_look(void *user, struct tree *ad)
{
    struct survey *survey = user;
    char name[80] = "?", host[80] = "", contact[16], words[400], version[64];
    double silent;

    survey->agents++;
    ad_text(ad, "Name", name, sizeof name);
    ad_text(ad, "Host", host, sizeof host);
    if (ad_text(ad, "ContactState", contact, sizeof contact) && !strcmp(contact, "bad") && survey_may_tell(survey)) {
        doctor_say(survey->doctor, DOCTOR_NOTE, "addresses",
                   "the matchmaker cannot call %s at %s: what is said to it goes by the relay", name,
                   ad_text(ad, "Contact", words, sizeof words) ? words : "its address");
        doctor_advise(
            survey->doctor,
            "open that port to the matchmaker and the other machines, or name the network in Networks; if it is meant "
            "so, set CustomerListen or ProviderListen to \"\" there. docs/operations.md, \"Who calls whom\"");
    }
    if (ad_text(ad, "Note", words, sizeof words) && *words && survey_may_tell(survey)) {
        doctor_say(survey->doctor, DOCTOR_PROBLEM, "agents", "%s%s%s: %s", name, *host ? " on " : "", host, words);
        doctor_advise(survey->doctor, "see to that machine: `berth doctor setup` there says more");
    }
    if (ad_text(ad, "Refused", words, sizeof words) && *words && survey_may_tell(survey)) {
        doctor_say(survey->doctor, DOCTOR_PROBLEM, "agents", "%s%s%s was refused: %s", name, *host ? " on " : "", host,
                   words);
        doctor_advise(survey->doctor, "see to its ad or its token: the log of the matchmaker and its own say more");
    }
    if (ad_number(ad, "LastWord", &silent) && silent > SILENT_NOTE && survey_may_tell(survey)) {
        struct buf span;

        buf_init(&span);
        span_say(&span, silent);
        doctor_say(survey->doctor, DOCTOR_NOTE, "agents", "nothing was heard of %s%s%s for %s", name,
                   *host ? " on " : "", host, buf_string(&span));
        doctor_advise(survey->doctor,
                      "is that machine up, and does it reach the matchmaker? `berth doctor` there says");
        buf_done(&span);
    }
    if (ad_text(ad, "Version", version, sizeof version) && *version && strcmp(version, survey->version) != 0 &&
        survey->others++ < NAMED_MAX)
        buf_addf(&survey->versions, "%s%s (%s)", survey->versions.len ? ", " : "", name, version);
    return true;
}

static bool machine_look(void *user, struct tree *ad)
{
    struct survey *survey = user;
    char name[160] = "?", words[400];

    survey->machines++;
    ad_text(ad, "Name", name, sizeof name);
    if (ad_text(ad, "Unwell", words, sizeof words) && survey_may_tell(survey)) {
        doctor_say(survey->doctor, DOCTOR_PROBLEM, "machines", "%s takes no jobs: %s", name, words);
        doctor_advise(
            survey->doctor,
            "mend that there: it tries itself again and comes back alone. docs/trouble.md, \"A machine that is unwell\"");
    }
    return true;
}

/* Goes through a list; false after a problem, which has been told. */
static bool list_look(struct doctor *doctor, struct connection *pool, const char *path, connection_ad_fn *each,
                      struct survey *survey)
{
    struct buf kept;
    int status;

    survey->told = 0;
    buf_init(&kept);
    report_keep(&kept);
    status = connection_list(pool, path, 0, each, survey);
    doctor_reported(&kept);
    if (status != STATUS_DONE)
        doctor_say(doctor, DOCTOR_NOTE, "pool", "%s: %s", path, kept.len ? buf_string(&kept) : "no list came");
    buf_done(&kept);
    return status == STATUS_DONE;
}

static void survey_look(struct doctor *doctor, struct connection *pool, const char *version)
{
    struct survey survey = {.doctor = doctor};

    snprintf(survey.version, sizeof survey.version, "%s", version);
    buf_init(&survey.versions);
    if (list_look(doctor, pool, "/v1/agents", agent_look, &survey)) {
        if (survey.told > NAMED_MAX)
            doctor_say(doctor, DOCTOR_NOTE, "agents", "%u more findings are not told", survey.told - NAMED_MAX);
        if (survey.others) {
            doctor_say(doctor, DOCTOR_NOTE, "versions",
                       "%" PRIu64 " of %" PRIu64 " agents run another version than the matchmaker: %s%s", survey.others,
                       survey.agents, buf_string(&survey.versions), survey.others > NAMED_MAX ? ", ..." : "");
            doctor_advise(doctor,
                          "they work together; restart them with the new one when it suits: jobs that run go on");
        }
    }
    if (list_look(doctor, pool, "/v1/ads?kind=offers&select=Name,Unwell", machine_look, &survey)) {
        if (survey.told > NAMED_MAX)
            doctor_say(doctor, DOCTOR_PROBLEM, "machines", "%u more take no jobs: `berth machines` lists them",
                       survey.told - NAMED_MAX);
        if (survey.machines) {
            doctor_say(doctor, DOCTOR_GOOD, "machines", "%" PRIu64 " offers of machines, %" PRIu64 " agents",
                       survey.machines, survey.agents);
        } else {
            doctor_say(doctor, DOCTOR_NOTE, "machines", "no machine offers itself: nothing can run");
            doctor_advise(
                doctor,
                "`berth token code`, and with that code `berth join CODE` on a machine that shall run jobs. Machines that pull "
                "are not seen here");
        }
    }
    buf_done(&survey.versions);
}

/* ------------------------------------------------------------------------------------------------------------ the pool */

static void matchmaker_tell(struct doctor *doctor, struct connection *pool, const struct tree *ad, int64_t before,
                            int64_t after)
{
    char name[160] = "pool", version[64] = "";
    const struct connection_place *place = &pool->places[pool->at];
    int64_t clock;

    ad_text(ad, "Name", name, sizeof name);
    ad_text(ad, "Version", version, sizeof version);
    doctor_say(doctor, DOCTOR_GOOD, "matchmaker", "%s, version %s, answers at %s", name, version,
               place->socket ? place->socket : place->url);
    if (*version && strcmp(version, BERTH_VERSION) != 0) {
        doctor_say(doctor, DOCTOR_NOTE, "versions", "the matchmaker is of version %s, this program is " BERTH_VERSION,
                   version);
        doctor_advise(doctor,
                      "they work together; what the older of the two does not know is refused with a word about it");
    }
    if (ad_integer(ad, "Clock", &clock)) /* earlier versions do not say */
        clock_tell(doctor, clock, before, after);
    whoami_look(doctor, pool);
    survey_look(doctor, pool, version);
}

static void pool_look(struct doctor *doctor)
{
    struct connection pool;
    struct tree *ad = NULL;
    int64_t before, after;
    bool known;
    struct buf kept;
    int status;

    buf_init(&kept);
    report_keep(&kept);
    status = connection_open(&pool, doctor->options);
    known = pool.named || pool.token_name;
    before = time(NULL);
    if (status == STATUS_DONE)
        status = connection_fetch_ad(&pool, &(struct connection_ask){.path = "/v1/status"}, &ad);
    after = time(NULL);
    doctor_reported(&kept);
    if (status == STATUS_DONE) {
        matchmaker_tell(doctor, &pool, ad, before, after);
    } else if (!known && status == STATUS_UNREACHABLE) {
        doctor_say(doctor, DOCTOR_NOTE, "matchmaker", "no pool is known here");
        doctor_advise(
            doctor,
            "`berth pool` starts one on this machine; `berth join CODE` joins one, with a code of its `berth token code`; --pool "
            "URL, $BERTH_POOL or the setting Matchmakers name one");
    } else {
        doctor->unreached = status == STATUS_UNREACHABLE;
        doctor_say(doctor, DOCTOR_PROBLEM, "matchmaker", "%s",
                   kept.len ? buf_string(&kept) : "it does not answer as it should");
        doctor_advise(
            doctor,
            doctor->unreached
                ? "is it up (`berth pool`, systemctl status berth-matchmaker), is the address right, and do firewalls "
                  "let this machine through to it?"
                : "`berth doctor setup` looks at the token and the settings");
    }
    tree_unref(ad);
    connection_close(&pool);
    buf_done(&kept);
}

/* The customer that takes this user's jobs. */
static void customer_look(struct doctor *doctor)
{
    struct connection customer;
    struct tree *ad = NULL;
    char words[600];
    struct buf kept;
    int64_t jobs = 0;
    int status;

    buf_init(&kept);
    report_keep(&kept);
    status = customer_open(&customer, doctor->options);
    if (status == STATUS_DONE)
        status = connection_fetch_ad(&customer, &(struct connection_ask){.path = "/v1/summary"}, &ad);
    doctor_reported(&kept);
    if (status != STATUS_DONE) {
        doctor_say(doctor, customer.named ? DOCTOR_PROBLEM : DOCTOR_NOTE, "customer", "%s",
                   kept.len ? buf_string(&kept) : "it does not answer as it should");
        doctor_advise(
            doctor,
            "jobs are submitted to a customer: one comes with `berth pool`, or `berth customer` once this user has joined; "
            "a machine that only runs jobs needs none");
    } else if (ad_text(ad, "Warning", words, sizeof words) && *words) {
        doctor_say(doctor, DOCTOR_PROBLEM, "customer", "%s", words);
        doctor_advise(doctor, "docs/state.md, \"Disks\"");
    } else {
        ad_integer(ad, "Total", &jobs);
        doctor_say(doctor, DOCTOR_GOOD, "customer", "it takes your jobs; it has %" PRIi64, jobs);
    }
    tree_unref(ad);
    connection_close(&customer);
    buf_done(&kept);
}

void doctor_pool(struct doctor *doctor)
{
    pool_look(doctor);
    customer_look(doctor);
}
