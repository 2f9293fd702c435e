/* customerd_commands.c: commands to running jobs: taken from their owners, kept, and sent to the provider until it has answered.
 *
 *     the owner  POST /v1/jobs/ID/commands  ->  a row  ->  Ask="command" to the provider, by call or by the relay, again and again
 *                GET /v1/commands/NUMBER?wait=20  <-  its answer
 *
 * The provider knows a command by its key, and carries it out once. When the try that a command was meant for is over, so is the command. */
#include "live/customerd/audited.h"
#include "live/customerd/customerd_parts.h"
#include "live/customerd/user_logs.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/query.h"
#include "live/http/represent.h"
#include "live/world/peek_order.h"
#include "match/pair/match.h"
#include "sys/secrets.h"
#include "sys/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_SPAN (2 * SECOND) /* pause before a provider that was not reached is asked again */
#define EARLY_SPAN (SECOND / 2) /* pause before a provider is asked again where the job is about to begin */
#define SWEEP_TICKS 20          /* ticks between two looks for commands that were kept long enough, while none waits */

static const char *state_word(const struct customerd *customerd, const struct job_view *view)
{
    return job_standing_word(job_standing(view, attempts_last(customerd->tries, view->id)));
}

/* ------------------------------------------------------------------------------------------------------------- telling */

struct telling {
    struct customerd *customerd;
    uint64_t number;
};

static void command_settle(struct customerd *customerd, struct agent_command *command, struct tree *answer)
{
    const char *reason = "";
    struct err err = {0};
    size_t len = 0;

    ad_string(answer, "Reason", &reason, &len);
    LOG_AUDIT(&customerd->daemon.log, "commanded", log_text("subject", command->by),
              log_number("number", (int64_t)command->number), log_number("job", (int64_t)command->job),
              log_bytes("reason", reason, len));
    command_answer(&customerd->commands, command, answer, runner_seconds(customerd->runner), &err);
    customerd_commit(customerd);
    customerd_changed(customerd);
}

static bool word_is(const struct agent_command *command, const char *word)
{
    size_t len;
    const char *text = command_word(command, &len);

    return len == strlen(word) && !memcmp(text, word, len);
}

/* The machine has let the job stand still, or go on. */
static void rest_note(struct customerd *customerd, const struct agent_command *command)
{
    bool rests = word_is(command, "suspend");
    struct job_attempt *one = attempts_find(customerd->tries, command->job, command->claim, command->trial);
    struct job_view view;
    struct err err;

    if ((!rests && !word_is(command, "continue")) || !one || rests == (one->suspended != 0))
        return;
    one->suspended = rests ? wall_seconds(runner_wall()) : 0;
    attempts_store(customerd->tries, command->job, &err);
    if (!customer_job(customerd->customer, command->job, &view))
        return;
    joblog_add(customerd->files, view.id, view.submitted, wall_seconds(runner_wall()), "%s by %s",
               rests ? "suspended" : "goes on", command->by);
    user_logs_note(customerd->logs, &view);
}

static bool reason_is(const struct tree *answer, const char *word)
{
    const char *reason;
    size_t len;

    return ad_string(answer, "Reason", &reason, &len) && len == strlen(word) && !memcmp(reason, word, len);
}

static void provider_answered(void *user, const struct tree *answer)
{
    struct telling *telling = user;
    struct customerd *customerd = telling->customerd;
    struct agent_command *command = command_numbered(&customerd->commands, telling->number);
    struct tree *copy;

    free(telling);
    if (!command)
        return;
    command->flying = false;
    command->due = runner_now() + AGAIN_SPAN;
    if (!answer || customerd->stopping || !command_wants_answer(command))
        return;
    if (reason_is(answer, "gone") || reason_is(answer, "early")) { /* if the try is over, we shall hear of that too */
        command->due = runner_now() + EARLY_SPAN;
        return;
    }
    copy = ad_without(answer, "Key");
    if (reason_is(answer, "ok"))
        rest_note(customerd, command);
    command_settle(customerd, command, copy);
    tree_unref(copy);
}

static struct tree *question_make(struct customerd *customerd, const struct agent_command *command)
{
    struct maker maker;

    maker_init(&maker, customerd->daemon.symbols);
    maker_text(&maker, "Ask", "command");
    maker_word(&maker, "Key", command->key);
    maker_integer(&maker, "Job", (int64_t)command->job);
    maker_integer(&maker, "Life", command->ends - runner_seconds(customerd->runner));
    maker_integer(&maker, "Ends", command->ends);
    maker_ad(&maker, "What", command->what);
    return maker_seal(&maker);
}

/* The try that the command was meant for is over: so is the command. */
static void command_end(struct customerd *customerd, struct agent_command *command, const char *state)
{
    struct tree *answer;
    char words[160];

    snprintf(words, sizeof words, "job %" PRIu64 " %s before this reached it", command->job, state);
    answer = command_reason(customerd->daemon.symbols, "over", words);
    command_settle(customerd, command, answer);
    tree_unref(answer);
}

static void command_ask(struct customerd *customerd, struct agent_command *command)
{
    struct telling *telling;
    struct tree *question;
    struct job_view view;

    if (!customer_job(customerd->customer, command->job, &view) || view.state != JOB_RUNNING) {
        command_end(customerd, command, "was over");
        return;
    }
    if (view.claim != command->claim || view.number != command->trial) {
        command_end(customerd, command, "began anew");
        return;
    }
    telling = mem_alloc(sizeof *telling);
    *telling = (struct telling){customerd, command->number};
    question = question_make(customerd, command);
    command->flying = true;
    if (!agent_ask(customerd->live, view.member, question, provider_answered, telling)) {
        command->flying = false;
        command->due = runner_now() + AGAIN_SPAN;
        free(telling);
    }
    tree_unref(question);
}

/* Is an earlier command for the same job still waiting? Commands go in their order. */
static bool is_behind(const struct customerd *customerd, const struct agent_command *command)
{
    for (const struct agent_command *at = customerd->commands.first; at != command; at = at->next)
        if (at->state == COMMAND_WAITS && at->job == command->job)
            return true;
    return false;
}

void commands_tick(struct customerd *customerd)
{
    int64_t now = runner_now();
    struct agent_command *next;
    struct err err;

    customerd->commands_ticks++;
    if ((customerd->commands.waiting || customerd->commands_ticks % SWEEP_TICKS == 0) &&
        commands_sweep(&customerd->commands, runner_seconds(customerd->runner), &err)) {
        customerd_commit(customerd);
        customerd_changed(customerd);
    }
    for (struct agent_command *at = customerd->commands.waiting ? customerd->commands.first : NULL; at; at = next) {
        next = at->next;
        if (at->state == COMMAND_WAITS && !at->flying && at->due <= now && !is_behind(customerd, at))
            command_ask(customerd, at);
    }
}

/* -------------------------------------------------------------------------------------------------------------- taking */

/* A command that is becoming durable: then its caller is told its number, and the provider is told of it. */
struct taking {
    struct customerd *customerd;
    struct request *request; /* NULL: the request has gone */
    uint64_t number;
};

static void taking_forget(struct request *request)
{
    ((struct taking *)request->work)->request = NULL;
}

static void command_taken(void *user, bool durable)
{
    struct taking *taking = user;
    struct customerd *customerd = taking->customerd;
    struct agent_command *command = durable ? command_numbered(&customerd->commands, taking->number) : NULL;

    if (taking->request) {
        taking->request->work = NULL;
        taking->request->forget = NULL;
    }
    if (command && taking->request)
        request_ad_take(taking->request, 201,
                        command_ad(&customerd->commands, command, runner_seconds(customerd->runner)));
    if (command && !customerd->stopping)
        command->due = 0;
    free(taking);
    if (durable && !customerd->stopping)
        commands_tick(customerd);
}

/* [ Command = "peek"; File; Bytes; Lines; Offset ], [ Command = "signal"; Signal ]: returns the command for the provider; or NULL and the error. */
static struct tree *order_read(const struct tree *ad, struct err *err)
{
    char name[PEEK_NAME_ROOM];
    struct peek_order peek;
    const char *word = "";
    struct maker maker;
    int64_t number;
    size_t len = 0;

    ad_string(ad, "Command", &word, &len);
    maker_init(&maker, ad->symbols);
    maker_bytes(&maker, "Command", word, len);
    if (len == 4 && !memcmp(word, "peek", 4)) {
        if (peek_order_read(ad, name, &peek, err) == 0) {
            maker_text(&maker, "File", name);
            if (peek.bytes >= 0)
                maker_integer(&maker, "Bytes", peek.bytes);
            if (peek.lines >= 0)
                maker_integer(&maker, "Lines", peek.lines);
            if (peek.offset >= 0)
                maker_integer(&maker, "Offset", peek.offset);
            return maker_seal(&maker);
        }
    } else if (len == 6 && !memcmp(word, "signal", 6)) {
        if (ad_integer(ad, "Signal", &number) && number > 0 && number < 64 && signal_is_allowed((int)number)) {
            maker_integer(&maker, "Signal", number);
            return maker_seal(&maker);
        }
        err_set(err, "Signal: expected the number of one of " SIGNAL_WORDS);
    } else if ((len == 7 && !memcmp(word, "suspend", 7)) || (len == 8 && !memcmp(word, "continue", 8))) {
        return maker_seal(&maker);
    } else {
        err_set(err, "Command: expected \"peek\", \"signal\", \"suspend\" or \"continue\"");
    }
    tree_unref(maker_seal(&maker));
    return NULL;
}

bool request_job_runs(struct request *request, struct job_view *ret)
{
    struct customerd *customerd = request_customerd(request);
    uint64_t id = request_job(request);
    struct history_row row;
    const char *why;

    if (!id || !customer_job(customerd->customer, id, ret) || !caller_sees(request, ret->owner, strlen(ret->owner))) {
        if (id && customer_job(customerd->customer, id, ret))
            LOG_AUDIT(&customerd->daemon.log, "refused", log_text("route", request->route->id),
                      log_number("status", 404), log_text("subject", request_identity(request)),
                      log_number("job", (int64_t)id), log_text("why", "the job is another's"));
        if (caller_sees_all(request) && id && history_find(customerd->history, id, &row))
            request_problem(request, 409, "job %" PRIu64 " is over: it does not run", id);
        else
            request_problem(request, 404, "there is no such job");
        return false;
    }
    if (ret->state != JOB_RUNNING) {
        request_problem(request, 409, "job %" PRIu64 " does not run: it is %s", id, state_word(customerd, ret));
        return false;
    }
    if (ret->local) {
        request_problem(request, 409, "job %" PRIu64 " runs on the customer's own host, not on a machine of the pool",
                        id);
        return false;
    }
    why = command_refusal(&customerd->commands, ret->member, request_identity(request));
    if (!why)
        return true;
    LOG_AUDIT(&customerd->daemon.log, "refused", log_text("route", request->route->id), log_number("status", 429),
              log_text("subject", request_identity(request)), log_number("job", (int64_t)id), log_text("why", why));
    request_problem(request, 429, "%s", why);
    return false;
}

/* To look at a job's files changes nothing; the others do. */
static void command_audit(struct request *request, uint64_t job, const struct agent_command *command)
{
    char about[24], what[32], detail[32] = "";
    struct audit_who who;
    int64_t number;
    size_t len;
    const char *word = command_word(command, &len);

    if (len == 4 && !memcmp(word, "peek", 4))
        return;
    snprintf(about, sizeof about, "%" PRIu64, job);
    snprintf(what, sizeof what, "jobs.%.*s", (int)(len < 20 ? len : 20), word);
    if (ad_integer(command->what, "Signal", &number))
        snprintf(detail, sizeof detail, "signal %" PRId64, number);
    audit_who(request, &who);
    customer_audit(request_customerd(request), &who, what, about, detail);
}

static void command_keep(struct request *request, const struct job_view *view, struct tree *what, int64_t life)
{
    struct customerd *customerd = request_customerd(request);
    const char *identity, *name, *word;
    struct command_order order = {.to = view->member,
                                  .name = "",
                                  .job = view->id,
                                  .claim = view->claim,
                                  .trial = view->number,
                                  .by = request_identity(request),
                                  .life = life,
                                  .what = what};
    struct agent_command *command;
    struct taking *taking;
    struct err err = {0};
    size_t len;

    if (agent_known(customerd->live, view->member, &identity, &name))
        order.name = name;
    command =
        command_add(&customerd->commands, &order, secrets_word(&secrets_live), runner_seconds(customerd->runner), &err);
    if (!command) {
        request_problem(request, 503, "%s", err.text);
        return;
    }
    word = command_word(command, &len);
    LOG_AUDIT(&customerd->daemon.log, "command", log_text("subject", request_identity(request)),
              log_number("number", (int64_t)command->number), log_bytes("command", word, len),
              log_number("job", (int64_t)view->id), log_text("name", command->name));
    command_audit(request, view->id, command);
    command->due = INT64_MAX; /* not to be sent until it is durable */
    taking = mem_alloc(sizeof *taking);
    *taking = (struct taking){customerd, request, command->number};
    request->work = taking;
    request->forget = taking_forget;
    runner_commit(customerd->runner, command_taken, taking);
}

/* Several members cannot be suspended at one moment, and one alone would keep the others waiting. */
static bool is_spread(struct request *request, const struct job_view *view, const struct tree *what)
{
    struct member_view members[2];
    const char *word = "";
    size_t len = 0;

    ad_string(what, "Command", &word, &len);
    if (len != 7 || memcmp(word, "suspend", 7) != 0 ||
        customer_members(request_customerd(request)->customer, view->id, members, 2) < 2)
        return false;
    request_problem(request, 409, "job %" PRIu64 " runs on several machines, and cannot be suspended", view->id);
    return true;
}

void api_job_command(struct request *request)
{
    double life = (double)COMMAND_LIFE;
    struct tree *what = NULL, *ad = request_body_ad(request);
    struct job_view view;
    struct err err = {0};

    if (!ad)
        return;
    if (ad_find(ad, "Lifetime") &&
        (!ad_number(ad, "Lifetime", &life) || !(life >= 1) || life > (double)COMMAND_LIFE_MAX))
        request_problem(request, 400, "Lifetime: expected 1 second to 30 days");
    else if (!(what = order_read(ad, &err)))
        request_problem(request, 400, "%s", err.text);
    else if (request_job_runs(request, &view) && !is_spread(request, &view, what))
        command_keep(request, &view, what, (int64_t)life);
    tree_unref(what);
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------- looking */

/* A command is seen by whoever gave it, by the job's owner, and by those who may see all. */
static bool command_is_seen(const struct request *request, const struct agent_command *command)
{
    struct job_view view;

    return caller_sees(request, command->by, strlen(command->by)) ||
           (customer_job(request_customerd(request)->customer, command->job, &view) &&
            caller_sees(request, view.owner, strlen(view.owner)));
}

void api_job_commands(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    const struct config *config = &customerd->daemon.config;
    struct env env = {.now = runner_seconds(customerd->runner),
                      .steps = config_count(config, CONFIG_EVALUATION_STEPS),
                      .bytes = config_size(config, CONFIG_EVALUATION_BYTES)};
    struct tree *query = NULL;
    struct listing listing;
    struct arena scratch;
    struct err err = {0};
    uint64_t limit;

    if (!request_number(request, "limit", 0, CUSTOMERD_LIMIT_MAX, CUSTOMERD_LIMIT_DEFAULT, &limit))
        return;
    if (query_expr(request->exchange, "constraint", customerd->daemon.symbols, config, &query, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        return;
    }
    arena_init(&scratch);
    buf_reset(&customerd->out);
    listing_begin(&listing, &customerd->out, request->form);
    for (const struct agent_command *at = customerd->commands.first; at && listing.count < limit; at = at->next) {
        struct tree *ad = command_is_seen(request, at)
                              ? command_ad(&customerd->commands, at, runner_seconds(customerd->runner))
                              : NULL;

        if (ad && (!query || match_query(&env, &scratch, query, ad)))
            listing_add(&listing, ad);
        tree_unref(ad);
    }
    listing_end(&listing);
    request_answer(request, 200, media_type(request->form, &dialect_classic),
                   customerd->out.len ? customerd->out.text : "", customerd->out.len, NULL, 0);
    arena_done(&scratch);
    tree_unref(query);
}

void api_job_command_get(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    const struct agent_command *command = command_numbered(&customerd->commands, request_job(request));

    if (!command || !command_is_seen(request, command)) {
        request_problem(request, 404, "there is no such command, or it was answered long ago");
        return;
    }
    if (command->state == COMMAND_WAITS && request_waits(request))
        return;
    request_ad_take(request, 200, command_ad(&customerd->commands, command, runner_seconds(customerd->runner)));
}
