/* questions.c: what providers ask about the files of a job, and the answers. */
#include "live/customerd/questions_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/world/runner.h"
#include "pool/claim/duty.h"
#include "pool/protocol/job_processes.h"
#include "pool/protocol/ticket.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <string.h>

struct tree *question_reason(const struct asking *asking, const char *reason)
{
    struct maker maker;

    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", reason);
    return maker_seal(&maker);
}

void question_tell(const struct asking *asking, enum question_news news, const char *words)
{
    asking->questions->news(asking->questions->user, &asking->view, asking->one, news, words);
}

/* Tells of trouble with files, or of refused files, but only so often. */
void question_tell_files(const struct asking *asking, enum question_news news, const char *words)
{
    if (asking->one->told < QUESTION_TOLD)
        question_tell(asking, news, words);
    else if (asking->one->told == QUESTION_TOLD)
        question_tell(asking, NEWS_TROUBLE, "there is more of it, which is not told");
    asking->one->told += asking->one->told <= QUESTION_TOLD;
}

void question_place(const struct asking *asking, struct job_place *ret)
{
    *ret = (struct job_place){.job = asking->view.id,
                              .claim = asking->one->claim,
                              .number = asking->one->number,
                              .iwd = job_iwd(asking->view.ad),
                              .owner = asking->view.owner};
}

struct tree *question_wait(const struct asking *asking)
{
    struct maker maker;

    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", "wait");
    maker_integer(&maker, "Pause", QUESTION_PAUSE);
    return maker_seal(&maker);
}

/* ------------------------------------------------------------------------------------------------------------ permits */

static void question_permits_forget(struct question_permits *kept)
{
    permits_free(kept->permits);
    tree_unref(kept->ad);
    *kept = (struct question_permits){.permits = NULL};
}

void questions_done(struct questions *questions)
{
    for (int i = 0; i < QUESTION_PERMITS; i++)
        question_permits_forget(&questions->permits[i]);
}

/* What the try may leave. The role knows the number of the try that runs now. */
const struct permits *question_permits_of(const struct asking *asking)
{
    const struct job_view *view = &asking->view;
    const struct job_attempt *one = asking->one;
    struct questions *questions = asking->questions;
    struct question_permits *kept = &questions->permits[0];
    bool current = view->claim == one->claim && view->number == one->number;

    for (int i = 0; i < QUESTION_PERMITS; i++) {
        struct question_permits *found = &questions->permits[i];

        if (found->permits && found->job == view->id && found->claim == one->claim && found->number == one->number &&
            found->ad == view->ad) {
            found->used = ++questions->clock;
            return found->permits;
        }
        if (found->used < kept->used)
            kept = found;
    }
    question_permits_forget(kept);
    *kept = (struct question_permits){
        .permits = permits_new(&(struct permits_try){.ad = view->ad,
                                                     .node = view->node,
                                                     .job = view->id,
                                                     .index = view->index,
                                                     .tries = current && view->begun ? view->begun : one->serial,
                                                     .now = asking->now}),
        .ad = tree_ref((struct tree *)(uintptr_t)view->ad),
        .job = view->id,
        .claim = one->claim,
        .number = one->number,
        .used = ++questions->clock};
    return kept->permits;
}

/* ------------------------------------------------------------------------------------------------------------- asking */

/* Only while its try runs, and only of a job that has said so: a machine that has one of its processes can begin commands beside all of them. */
struct tree *question_beside(struct asking *asking)
{
    bool reaches = false;

    if (!asking->last || asking->view.state != JOB_RUNNING || !asking->view.rooted)
        return question_reason(asking, "stale");
    if (!asking->questions->beside || pass_is_none(&asking->one->pass) ||
        !ad_flag(asking->view.ad, JOB_PROCESSES_EXEC, &reaches) || !reaches)
        return question_reason(asking, "refused");
    return asking->questions->beside(asking->questions->user, &asking->view, asking->who, asking->question);
}

static bool ask_is(const char *ask, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(ask, word, len);
}

static const struct {
    const char *ask;
    struct tree *(*answer)(struct asking *asking);
    enum { LEADER, MEMBER, HELPER } least; /* who may ask: helpers; of them those with a number; the leader alone */
} rows[] = {
    {"manifest", question_manifest, HELPER}, {"fetch", question_fetch, HELPER},   {"secrets", question_secrets, HELPER},
    {"store", question_store, MEMBER},       {"report", question_report, LEADER}, {"finish", question_finish, MEMBER},
    {"stored", question_stored, LEADER},     {"beside", question_beside, HELPER}, {"ahead", question_ahead, LEADER},
};

/* May this peer ask? In a pair, the agent that has the claim; in a gang, the leader or a helper, by its own pass. A member that runs nothing, though
 * it has the claim, or one that shows another's pass, is told nothing. False: a stranger. */
static bool asking_admits(struct asking *asking, const struct peer *peer)
{
    const struct job_attempt *one = asking->one;
    struct key shown, lead = one->pass, help;
    const char *text;
    size_t len;

    if (!ad_string(asking->question, "Pass", &text, &len))
        return (pass_is_none(&one->pass) || one->unbound) && one->member == peer->agent;
    if (len != 2 * (size_t)KEY_BYTES || !hex_read(text, len, shown.bytes, KEY_BYTES) || pass_is_none(&one->pass))
        return false;
    if (one->unbound) {
        duty_pass_help(&secrets_live, &one->pass, &help);
    } else {
        duty_pass_for(&secrets_live, &one->pass, peer->agent, false, &lead);
        duty_pass_for(&secrets_live, &one->pass, peer->agent, true, &help);
    }
    asking->helps = key_equal(&shown, &help);
    if (!asking->helps && !key_equal(&shown, &lead))
        return false;
    if (!asking->helps && ad_string(asking->question, "Provider", &text, &len) && len)
        attempts_text(&asking->one->provider, text, len); /* the job runs there, whichever agent was claimed */
    return true;
}

/* Which member of its gang asks? It must be at the agent that the role has recorded for that number. */
static void asking_member(struct asking *asking, const struct peer *peer)
{
    const struct job_view *view = &asking->view;
    struct member_view members[ATTEMPT_MEMBERS_MAX];
    struct job_attempt *one = asking->one;
    int64_t number;

    if (!asking->helps || !ad_integer(asking->question, "Member", &number))
        return;
    if (!one->members.count && asking->questions->members && view->claim == one->claim && view->number == one->number)
        attempt_members_fill(
            &one->members, members,
            asking->questions->members(asking->questions->user, view->id, members, ATTEMPT_MEMBERS_MAX));
    asking->member = attempt_members_find(&one->members, number, peer->agent);
    asking->number = asking->member ? (uint32_t)number : 0;
}

/* The try that is meant: a known one, or one that the role has and has not told of yet. NULL: none. */
static struct job_attempt *try_of(const struct asking *asking, uint64_t claim, uint64_t number)
{
    const struct job_view *view = &asking->view;
    struct job_attempt *one = attempts_find(asking->questions->tries, view->id, claim, number);
    bool made;

    if (!one && view->claim == claim && view->number == number && view->state == JOB_RUNNING)
        one = attempts_begin(asking->questions->tries, view->id, claim, number, view->member, asking->now, &made);
    if (one && pass_is_none(&one->pass) && view->claim == claim && view->number == number)
        one->pass = view->pass;
    return one;
}

struct tree *question_answer(struct questions *questions, const struct peer *peer, const struct tree *question,
                             struct agent_turn *turn)
{
    struct asking asking = {.questions = questions, .question = question, .turn = turn, .now = runner_wall() / SECOND};
    struct tree *answer = NULL;
    uint64_t claim, number;
    const char *ask;
    int64_t job;
    size_t len;

    if (!ad_string(question, "Ask", &ask, &len) || !ad_word(question, "Claim", &claim) ||
        !ad_word(question, "Number", &number) || !ad_integer(question, "Job", &job))
        return NULL;
    /* A job that is over and in the history is answered as finished: the provider has nothing more to do. */
    if (job <= 0 || !questions->job(questions->user, (uint64_t)job, &asking.view))
        return question_reason(&asking, ask_is(ask, len, "finish") || ask_is(ask, len, "stored") ? "ok" : "stale");
    asking.one = try_of(&asking, claim, number);
    if (!asking.one)
        return question_reason(&asking, "stale");
    if (!asking_admits(&asking, peer))
        return NULL;
    asking.who = peer->agent;
    asking_member(&asking, peer);
    asking.last = asking.one == attempts_last(questions->tries, asking.view.id);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !answer; i++)
        if (ask_is(ask, len, rows[i].ask) &&
            (!asking.helps || rows[i].least == HELPER || (asking.member && rows[i].least == MEMBER)))
            answer = rows[i].answer(&asking);
    return answer;
}
