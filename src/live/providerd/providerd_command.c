/* providerd_command.c: what a live provider is commanded: by its own pool, to take no more work, or to take it again; and by a customer,
 * about a job of its own that runs here.
 *
 *     book, repeat, release   of a machine, for a while, or again and again (providerd_booking.c): durable with the answer, too
 *     drain, resume   durable with the answer: it holds over restarts, and a letter that comes again changes nothing
 *     signal          written down first, then sent: never twice. Who is killed in between says that it is not sure
 *     status, peek    only looked at
 *
 * What was told too late is not done: it may have lain in the stream of one that stood still. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/http/represent.h"
#include "live/providerd/peek.h"
#include "live/providerd/shells.h"
#include "live/world/commands.h"
#include "live/world/ledger.h"
#include "sys/signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAIN_SPACE "workshop"
#define DRAIN_KEY "drain"
#define SIGNALS_MAX 1000 /* that the owner of a job may send it */

static struct tree *say(struct providerd *providerd, const char *reason, const char *words)
{
    return command_reason(providerd->daemon.symbols, reason, words);
}

static struct tree *say_expired(struct providerd *providerd)
{
    return say(providerd, "expired", "its time was over by the clock of this machine: it was not carried out");
}

/* --------------------------------------------------------------------------------------------------------------- drain */

static bool drain_read(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct providerd *providerd = user;
    struct err err;
    struct tree *row = form_parse(providerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    const char *by;

    (void)key;
    (void)key_len;
    if (row) {
        providerd->drain = (struct drain){.is = true};
        ad_integer(row, "Since", &providerd->drain.since);
        ad_flag(row, "Now", &providerd->drain.now);
        if (ad_string(row, "By", &by, &len) && len <= TOKEN_NAME_MAX)
            memcpy(providerd->drain.by, by, len);
    }
    tree_unref(row);
    return false;
}

int drain_load(struct providerd *providerd, struct err *err)
{
    struct shelf *shelf = providerd->daemon.shelf;

    return shelf->kind->get(shelf, DRAIN_SPACE, DRAIN_KEY, strlen(DRAIN_KEY), drain_read, providerd, err);
}

static int drain_store(struct providerd *providerd, struct err *err)
{
    struct shelf *shelf = providerd->daemon.shelf;
    struct maker maker;
    struct tree *row;
    struct buf text;
    int failed;

    if (!providerd->drain.is)
        return shelf->kind->remove(shelf, DRAIN_SPACE, DRAIN_KEY, strlen(DRAIN_KEY), err);
    maker_init(&maker, providerd->daemon.symbols);
    maker_integer(&maker, "Since", providerd->drain.since);
    maker_flag(&maker, "Now", providerd->drain.now);
    maker_text(&maker, "By", providerd->drain.by);
    row = maker_seal(&maker);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, row);
    failed = shelf->kind->put(shelf, DRAIN_SPACE, DRAIN_KEY, strlen(DRAIN_KEY), text.text, text.len, err);
    buf_done(&text);
    tree_unref(row);
    return failed;
}

void drain_tell(struct providerd *providerd)
{
    agent_set_draining(providerd->live, providerd->drain.is);
    if (providerd->drain.is)
        runner_event(agent_runner(providerd->live),
                     &(struct event){.kind = EVENT_DRAIN, .status = providerd->drain.now});
}

static struct tree *drain_answer(struct providerd *providerd, bool changed)
{
    struct tree *status = status_ad(providerd), *answer;
    struct maker maker;

    maker_init(&maker, providerd->daemon.symbols);
    maker_text(&maker, "Reason", "ok");
    maker_text(&maker, "Words", changed ? NULL : providerd->drain.is ? "it was drained already" : "it was not drained");
    maker_parts(&maker, status, "Sandbox");
    answer = maker_seal(&maker);
    tree_unref(status);
    return answer;
}

/* What the log says of a drain, once that is durable: whoever reads it there finds it so after a crash too. */
struct drain_line {
    struct providerd *providerd;
    uint64_t number;
    char by[TOKEN_NAME_MAX + 1];
    bool is, now, changed;
};

static void drain_log(void *user, bool durable)
{
    struct drain_line *line = user;
    struct log *log = &line->providerd->daemon.log;

    if (durable && line->is)
        LOG_AUDIT(log, "drained", log_text("subject", line->by), log_number("number", (int64_t)line->number),
                  log_flag("now", line->now), log_flag("changed", line->changed));
    else if (durable)
        LOG_AUDIT(log, "resumed", log_text("subject", line->by), log_number("number", (int64_t)line->number),
                  log_flag("changed", line->changed));
    free(line);
}

static void drain_log_later(struct providerd *providerd, const struct agent_order *order, bool changed)
{
    struct drain_line *line = mem_alloc(sizeof *line);

    *line = (struct drain_line){.providerd = providerd,
                                .number = order->number,
                                .is = providerd->drain.is,
                                .now = providerd->drain.now,
                                .changed = changed};
    snprintf(line->by, sizeof line->by, "%s", order->by);
    runner_commit(agent_runner(providerd->live), drain_log, line);
}

/* Sets the drain. Its row, the answer and what was said before become durable together. */
static struct tree *drain_set(struct providerd *providerd, const struct agent_order *order, const struct drain *drain)
{
    bool changed = providerd->drain.is != drain->is || providerd->drain.now != drain->now;
    int64_t life = order->life < LEDGER_LIFE_MAX ? order->life : LEDGER_LIFE_MAX;
    struct err err = {0};
    struct tree *answer;

    if (changed)
        providerd->drain = *drain;
    answer = drain_answer(providerd, changed);
    if ((changed && drain_store(providerd, &err) < 0) ||
        ledger_write(providerd->daemon.shelf, order->key, answer,
                     runner_seconds(agent_runner(providerd->live)) + life + 3600, &err) < 0) {
        daemon_broken(&providerd->daemon, err.text);
        return answer; /* which is never sent: the shelf is broken */
    }
    drain_log_later(providerd, order, changed);
    if (!drain->is && changed) {
        agent_set_draining(providerd->live, false);
        runner_event(agent_runner(providerd->live), &(struct event){.kind = EVENT_RESUME});
    }
    drain_tell(providerd);
    return answer;
}

static bool text_is(const struct tree *ad, const char *name, const char *word)
{
    const char *text;
    size_t len;

    return ad_string(ad, name, &text, &len) && len == strlen(word) && !memcmp(text, word, len);
}

static bool word_is(const struct tree *what, const char *word)
{
    return text_is(what, "Command", word);
}

static struct tree *status_answer(struct providerd *providerd)
{
    struct tree *status = status_ad(providerd), *answer;
    struct maker maker;

    maker_init(&maker, providerd->daemon.symbols);
    maker_text(&maker, "Reason", "ok");
    maker_parts(&maker, status, NULL);
    answer = maker_seal(&maker);
    tree_unref(status);
    return answer;
}

struct tree *providerd_commanded(void *user, const struct agent_order *order)
{
    struct providerd *providerd = user;
    struct tree *known = ledger_find(providerd->daemon.shelf, providerd->daemon.symbols, order->key);
    struct drain drain = {.since = runner_seconds(agent_runner(providerd->live))};

    if (known)
        return known;
    if (word_is(order->what, "status"))
        return status_answer(providerd);
    if (order->late)
        return say_expired(providerd);
    if (word_is(order->what, "book") || word_is(order->what, "repeat") || word_is(order->what, "release"))
        return booking_carry_out(providerd, order, !word_is(order->what, "release"));
    drain.is = word_is(order->what, "drain");
    if (!drain.is && !word_is(order->what, "resume"))
        return say(providerd, "refused", "it does not know that command: it is older than who gave it");
    if (!drain.is && providerd->drains)
        return say(providerd, "refused", "it is about to leave, and takes no more work");
    if (drain.is) {
        if (providerd->drain.is)
            drain = providerd->drain; /* since then, and by whom; and what has to go has to go */
        else
            snprintf(drain.by, sizeof drain.by, "%s", order->by);
        if (!drain.now)
            ad_flag(order->what, "Now", &drain.now);
    }
    return drain_set(providerd, order, &drain);
}

void providerd_sweep(struct providerd *providerd)
{
    struct runner *runner = agent_runner(providerd->live);

    if (runner_is_away(runner))
        return;
    if (ledger_sweep(providerd->daemon.shelf, providerd->daemon.symbols, runner_seconds(runner)))
        runner_commit(runner, NULL, NULL);
    else
        runner_misread(runner); /* nothing follows from what could not be read */
}

/* ---------------------------------------------------------------------------------------------------- about one's job */

/* The job of that customer, if it runs here; else NULL. A job of another customer counts as not there. */
static struct task *task_of(const struct providerd *providerd, agent customer, uint64_t job)
{
    struct task *task = providerd->tasks;

    while (task && (task->job != job || task->inquiry.customer != customer || task->helps))
        task = task->next;
    return task;
}

/* The same for a command in the job's sandbox, which may be meant for another member of its gang than the leader: by our claim. */
static struct task *shell_task(const struct providerd *providerd, agent customer, uint64_t job,
                               const struct tree *question)
{
    struct task *task = providerd->tasks;
    uint64_t claim;

    if (!ad_word(question, "Claim", &claim))
        return task_of(providerd, customer, job);
    while (task && (task->claim != claim || task->job != job || task->inquiry.customer != customer))
        task = task->next;
    return task;
}

/* What the question says of the order. */
struct signal_order {
    uint64_t key;
    int64_t life;
    bool late;
};

/* What became of a signal that was written down: whoever asks again is told the same. */
static struct tree *signal_became(struct providerd *providerd, uint64_t key, int64_t ends, struct tree *answer)
{
    struct err err = {0};

    if (ledger_write(providerd->daemon.shelf, key, answer, ends, &err) == 0)
        runner_commit(agent_runner(providerd->live), NULL, NULL);
    return answer;
}

/* The job ended while the row of its signal was on the way to the disk. */
static struct tree *signal_missed(struct providerd *providerd, uint64_t key, int64_t ends)
{
    return signal_became(providerd, key, ends, say(providerd, "over", "the job was over before the signal was sent"));
}

/* Sends a signal to a job. */
static struct tree *signal_send(struct task *task, uint64_t key, int64_t number, int64_t ends)
{
    struct providerd *providerd = task->providerd;

    providerd->executor->kind->signal(providerd->executor, task->claim, (int)number);
    LOG_AUDIT(&providerd->daemon.log, "signal", log_number("job", (int64_t)task->job), log_word("claim", task->claim),
              task_trace(task), log_number("signal", number));
    return signal_became(providerd, key, ends, say(providerd, "ok", NULL));
}

/* It is written down before it is sent: a provider that is killed in between does not send it again, and says so. */
static struct tree *signal_begin(struct task *task, uint64_t key, int64_t ends, struct agent_turn *turn)
{
    struct providerd *providerd = task->providerd;
    struct tree *unsure = say(providerd, "unsure", "the agent restarted in the middle of it: perhaps it was sent");
    struct err err = {0};

    if (ledger_write(providerd->daemon.shelf, key, unsure, ends, &err) < 0) {
        daemon_broken(&providerd->daemon, err.text);
        return unsure;
    }
    tree_unref(unsure);
    task->signals++; /* also of those that are yet to be sent */
    turn->waits = turn->mark = true;
    return NULL;
}

static struct tree *signal_answer(struct task *task, const struct tree *what, const struct signal_order *order,
                                  struct agent_turn *turn)
{
    struct providerd *providerd = task->providerd;
    struct tree *known = ledger_find(providerd->daemon.shelf, providerd->daemon.symbols, order->key);
    int64_t ends = runner_seconds(agent_runner(providerd->live)) + order->life + 3600, number = 0;

    if (known && !turn->mark) {
        turn->waits = true; /* the same may be on its way to be durable, and is sent before this is answered */
        return known;
    }
    tree_unref(known);
    if (order->late && !turn->mark)
        return say_expired(providerd);
    if (!ad_integer(what, "Signal", &number) || !signal_is_allowed((int)(number < 64 ? number : 0)))
        return say(providerd, "refused", "that signal is not sent to jobs");
    if (turn->mark)
        return task->state == TASK_RUNS ? signal_send(task, order->key, number, ends)
                                        : signal_missed(providerd, order->key, ends);
    if (task->state != TASK_RUNS)
        return say(providerd, "early", "its files are still on their way: nothing runs yet");
    if (task->signals >= SIGNALS_MAX)
        return say(providerd, "refused", "so many signals were sent to it already");
    return signal_begin(task, order->key, ends, turn);
}

/* Lets a job stand still for its user, or go on. To do it twice does no harm, so it needs no ledger. */
static struct tree *rest_answer(struct task *task, bool rests, const struct signal_order *order)
{
    struct providerd *providerd = task->providerd;
    struct executor *executor = providerd->executor;

    if (order->late)
        return say_expired(providerd);
    if (task->state != TASK_RUNS)
        return say(providerd, "early", "its files are still on their way: nothing runs yet");
    if (!executor->kind->rest)
        return say(providerd, "refused", "jobs cannot be suspended where it runs");
    if (!executor->kind->rest(executor, task->claim, rests))
        return say(providerd, "refused", "it was begun by an older version, which cannot do that");
    LOG_AUDIT(&providerd->daemon.log, "rest", log_number("job", (int64_t)task->job), log_word("claim", task->claim),
              task_trace(task), log_text("what", rests ? "suspend" : "continue"));
    return say(providerd, "ok", NULL);
}

static struct tree *peek_tell(const struct task *task, const struct tree *what)
{
    struct providerd *providerd = task->providerd;
    char name[PEEK_NAME_ROOM], folder[DAEMON_PATH_MAX];
    struct peek_order order;
    struct err err = {0};

    if (peek_order_read(what, name, &order, &err) < 0)
        return say(providerd, "refused", err.text);
    providerd_folder(providerd, folder, sizeof folder, task->claim, task->number);
    return peek_answer(providerd->daemon.symbols, folder, &order);
}

struct tree *providerd_asked(void *user, const struct peer *peer, const struct tree *question, struct agent_turn *turn)
{
    struct providerd *providerd = user;
    const struct expr *part = ad_find(question, "What");
    struct signal_order order = {.late = command_is_late(question, runner_seconds(agent_runner(providerd->live)))};
    int64_t job = 0;
    struct tree *what, *answer;
    struct task *task;

    if (text_is(question, "Ask", "shell"))
        return ad_integer(question, "Job", &job)
                   ? provider_shells_asked(providerd, shell_task(providerd, peer->agent, (uint64_t)job, question), peer,
                                           question)
                   : NULL;
    if (!text_is(question, "Ask", "command") || !part || part->kind != EXPR_AD || !ad_integer(question, "Job", &job) ||
        !ad_integer(question, "Life", &order.life) || order.life < 0 || order.life > LEDGER_LIFE_MAX ||
        !ad_word(question, "Key", &order.key))
        return NULL;
    task = task_of(providerd, peer->agent, (uint64_t)job);
    if (!task && turn->mark)
        return signal_missed(providerd, order.key, runner_seconds(agent_runner(providerd->live)) + order.life + 3600);
    if (!task)
        return say(providerd, "gone", "that job does not run here");
    if (!providerd->executor)
        return say(providerd, "refused", "nothing is run here: it is only held");
    what = ad_part(question, part);
    answer = word_is(what, "signal") ? signal_answer(task, what, &order, turn)
             : word_is(what, "peek") ? peek_tell(task, what)
             : word_is(what, "suspend") || word_is(what, "continue")
                 ? rest_answer(task, word_is(what, "suspend"), &order)
                 : say(providerd, "refused", "it does not know that command: it is older than who gave it");
    tree_unref(what);
    return answer;
}
