/* api_commands.c: commands to agents, which only make outgoing calls: taken, kept, told by the stream of events, and answered.
 *
 *     a person  POST /v1/agents/AGENT/commands  ->  a row, a letter (Kind="command")  ->  the agent  POST /v1/commands/NUMBER
 *               GET /v1/commands/NUMBER?wait=20  <----------------------------------------------------'
 *
 * An agent that is away finds the letter when it comes back, even after a restart of either side. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_events.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/world/booking_form.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_WAIT_MAX 25 /* how many seconds a request may wait for an answer */
#define COMMAND_REMIND 2    /* seconds after which a waiting command is looked at again: by then it is durable */

enum { COUNT_TAKEN, COUNT_ANSWERED, COUNT_EXPIRED, COUNT_REFUSED }; /* places in the metric's set */

enum agent_word { WORD_DRAIN, WORD_RESUME, WORD_STATUS, WORD_BOOK, WORD_REPEAT, WORD_RELEASE, WORDS };
static const char *const agent_words[WORDS] = {"drain", "resume", "status", "book", "repeat", "release"};

/* ------------------------------------------------------------------------------------------------------------- letters */

void commands_tell(struct matchmakerd *matchmakerd, uint32_t who)
{
    int64_t now = runner_now(), wall = runner_seconds(matchmakerd->runner);
    const struct agent_command *command = NULL;

    while ((command = command_waiting(&matchmakerd->commands, command, matchmakerd->agents.items[who].handle)))
        if (command->ends > wall)
            agents_write_command(&matchmakerd->agents, who, command->key, now, now + (command->ends - wall) * SECOND);
}

void command_letter(struct matchmakerd *matchmakerd, uint64_t key, struct maker *maker)
{
    const struct agent_command *command = command_keyed(&matchmakerd->commands, key);

    if (!command)
        return; /* its letter is about to be dropped */
    maker_integer(maker, "Number", (int64_t)command->number);
    maker_word(maker, "Key", command->key);
    maker_integer(maker, "Left", command->ends - runner_seconds(matchmakerd->runner));
    maker_integer(maker, "Ends",
                  command->ends); /* the letter may lie long in the stream of an agent that does not read */
    maker_text(maker, "By", command->by);
    maker_ad(maker, "What", command->what);
}

static void letter_drop(struct matchmakerd *matchmakerd, const struct agent_command *command)
{
    uint32_t place = agents_find(&matchmakerd->agents, command->to);

    if (place != TEXTMAP_NONE)
        agents_drop_text(&matchmakerd->agents, place, command->key);
}

/* -------------------------------------------------------------------------------------------------------------- taking */

/* The agent that is meant, and what is known of it. */
struct addressee {
    uint64_t handle;
    char identity[TOKEN_NAME_MAX + 1], name[AGENT_NAME_MAX + 1];
};

/* Finds the agent. One that we have not heard of since we started is given by its identity and name, which make its
 * handle. False after a problem was answered. */
static bool addressee_find(struct request *request, const struct tree *ad, struct addressee *ret)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *text = request_variable(request, 0);
    const struct agent_row *row;
    unsigned char bytes[8];
    uint32_t place = TEXTMAP_NONE;

    if (hex_read(text, strlen(text), bytes, sizeof bytes))
        place = agents_find(&matchmakerd->agents, ret->handle = id_number(text, 16));
    else if (agent_name_is_good(text, strlen(text)))
        place = agents_find(&matchmakerd->agents, ret->handle = agent_handle(request_identity(request), text));
    if (!body_text(request, ad, "Identity", "", ret->identity, sizeof ret->identity) ||
        !body_text(request, ad, "Name", "", ret->name, sizeof ret->name))
        return false;
    if (place == TEXTMAP_NONE) {
        if (ret->handle && *ret->identity && agent_handle(ret->identity, ret->name) == ret->handle)
            return true;
        request_problem(request, 404, "no such agent is known: name one of `berth agents`, or say whose it is");
        return false;
    }
    row = &matchmakerd->agents.items[place];
    snprintf(ret->identity, sizeof ret->identity, "%s", caller_text(&matchmakerd->gate.callers, row->identity));
    snprintf(ret->name, sizeof ret->name, "%s", row->name);
    if (row->role && !strcmp(row->role, "provider"))
        return true;
    request_problem(request, 409, "that agent is not a provider: it takes no commands");
    return false;
}

/* May the caller command that agent? False after a problem was answered; an audit line says which check failed. */
static bool commander_may(struct request *request, const struct addressee *to)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *why = NULL;
    unsigned status = 403;

    if (!request_administers(request) && !identity_owns(request_identity(request), to->identity)) {
        why = "the agent is another's: its owner and administrators command it";
    } else {
        why = command_refusal(&matchmakerd->commands, to->handle, request_identity(request));
        status = 429;
    }
    if (!why)
        return true;
    metrics_add(matchmakerd->metrics, METRIC_COMMANDS, COUNT_REFUSED, 0, 1);
    LOG_AUDIT(&matchmakerd->log, "refused", log_word("request", request->number), log_text("route", request->route->id),
              log_number("status", status), log_text("subject", request_identity(request)),
              log_word("agent", to->handle), log_text("why", why));
    request_problem(request, status, "%s", why);
    return false;
}

/* What is booked, as far as its form goes: the machine decides about the rest. False after a problem was answered. */
static bool booking_read(struct request *request, const struct tree *ad, enum agent_word word, struct maker *maker)
{
    const char *wrong = NULL;
    uint64_t booking;

    if (!ad_word(ad, "Booking", &booking) || !booking)
        wrong = "Booking: expected 16 hexadecimal digits";
    else
        maker_word(maker, "Booking", booking);
    if (!wrong && word != WORD_RELEASE && (word == WORD_REPEAT) != (ad_find(ad, "Every") != NULL))
        wrong = "Every: it goes with \"repeat\", and that wants it"; /* machines of before would book it once */
    if (!wrong && word != WORD_RELEASE)
        wrong = booking_form_copy(maker, ad);
    if (wrong)
        request_problem(request, 400, "%s", wrong);
    return !wrong;
}

/* Reads the command, and how long it holds; NULL after a problem was answered. The caller unrefs it. */
static struct tree *order_read(struct request *request, const struct tree *ad, int64_t *ret_life)
{
    char word[16];
    bool now = false, good = true;
    double life = (double)COMMAND_LIFE;
    struct maker maker;
    struct tree *what;
    size_t i = 0;

    if (!body_text(request, ad, "Command", "", word, sizeof word))
        return NULL;
    while (i < sizeof agent_words / sizeof *agent_words && strcmp(agent_words[i], word) != 0)
        i++;
    if (i == sizeof agent_words / sizeof *agent_words) {
        request_problem(request, 400,
                        "Command: expected \"drain\", \"resume\", \"status\", \"book\", \"repeat\" or \"release\"");
        return NULL;
    }
    if (ad_find(ad, "Now") && (!ad_flag(ad, "Now", &now) || (now && i != WORD_DRAIN))) {
        request_problem(request, 400, "Now: expected true or false, and true only with \"drain\"");
        return NULL;
    }
    if (ad_find(ad, "Lifetime") &&
        (!ad_number(ad, "Lifetime", &life) || !(life >= 1) || life > (double)COMMAND_LIFE_MAX)) {
        request_problem(request, 400, "Lifetime: expected 1 second to 30 days");
        return NULL;
    }
    *ret_life = (int64_t)life;
    maker_init(&maker, request_matchmakerd(request)->symbols);
    maker_text(&maker, "Command", word);
    if (now)
        maker_flag(&maker, "Now", true);
    if (i == WORD_BOOK || i == WORD_REPEAT || i == WORD_RELEASE)
        good = booking_read(request, ad, (enum agent_word)i, &maker);
    what = maker_seal(&maker);
    if (good)
        return what;
    tree_unref(what);
    return NULL;
}

/* The command is durable: tells the agent, if it is there. */
static void command_taken(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct tree *ad = request->answer;
    uint64_t handle;
    uint32_t place;

    request->answer = NULL;
    if (ad_word(ad, "Agent", &handle) && (place = agents_find(&matchmakerd->agents, handle)) != TEXTMAP_NONE)
        commands_tell(matchmakerd, place);
    request_ad_take(request, 201, ad);
}

/* The row for a command: of which agent, and what. False after a problem was answered. */
static bool command_audit(struct request *request, const struct addressee *to, const char *word, size_t len)
{
    char about[AUDIT_TEXT_MAX + 1], detail[32];

    snprintf(about, sizeof about, "%.127s/%.63s", to->identity, to->name);
    snprintf(detail, sizeof detail, "%.*s", (int)len, word);
    return request_audit(request, "agents.command", about, detail);
}

static void command_take(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct addressee to = {.handle = 0};
    struct command_order order = {.by = request_identity(request)};
    struct agent_command *command;
    struct err err = {0};

    order.what = order_read(request, ad, &order.life);
    if (!order.what)
        return;
    if (addressee_find(request, ad, &to) && commander_may(request, &to)) {
        order.to = to.handle;
        order.name = to.name;
        command = command_add(&matchmakerd->commands, &order, secrets_word(&secrets_live),
                              runner_seconds(matchmakerd->runner), &err);
        if (!command) {
            request_store_failed(request, err.text);
        } else {
            size_t len;
            const char *word = command_word(command, &len);

            metrics_add(matchmakerd->metrics, METRIC_COMMANDS, COUNT_TAKEN, 0, 1);
            LOG_AUDIT(&matchmakerd->log, "command", log_text("subject", order.by),
                      log_number("number", (int64_t)command->number), log_bytes("command", word, len),
                      log_word("agent", to.handle), log_text("name", to.name), log_text("identity", to.identity));
            if (command_audit(request, &to, word, len)) {
                request->answer = command_ad(&matchmakerd->commands, command, runner_seconds(matchmakerd->runner));
                request_commit(request, command_taken);
            }
        }
    }
    tree_unref(order.what);
}

void api_agent_command(struct request *request)
{
    struct tree *ad = request_body_of(
        request,
        "Command Now Lifetime Identity Name Booking From Until Held Arrive Count Users Purpose Every Zone ZoneRule Last");

    if (ad)
        command_take(request, ad);
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------- looking */

/* A command is seen by whoever gave it, by the agent's owner, and by administrators. */
static bool command_is_seen(const struct request *request, const struct agent_command *command)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t place = agents_find(&matchmakerd->agents, command->to);

    return request_any(request) || !strcmp(command->by, request_identity(request)) ||
           (place != TEXTMAP_NONE &&
            identity_owns(request_identity(request),
                          caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[place].identity)));
}

void api_commands_list(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct collection collection;
    bool more = true;

    if (!collection_begin(&collection, request))
        return;
    for (const struct agent_command *at = matchmakerd->commands.first; at && more; at = at->next)
        if (command_is_seen(request, at))
            more = collection_add(&collection,
                                  command_ad(&matchmakerd->commands, at, runner_seconds(matchmakerd->runner)));
    collection_end(&collection);
}

/* A request that waits for a command's answer. */
struct command_wait {
    struct command_wait *next;
    struct request *request;
    uint64_t number;
    int64_t ends;
};

static void wait_forget(struct request *request)
{
    struct command_wait **link = &request_matchmakerd(request)->command_waits, *wait = request->work;

    while (*link != wait)
        link = &(*link)->next;
    *link = wait->next;
    request->work = NULL;
    request->forget = NULL;
    free(wait);
}

static void command_tell(struct request *request, uint64_t number)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct agent_command *command = command_numbered(&matchmakerd->commands, number);

    if (command && command_is_seen(request, command))
        request_ad_take(request, 200, command_ad(&matchmakerd->commands, command, runner_seconds(matchmakerd->runner)));
    else
        request_problem(request, 404, "there is no such command, or it was answered long ago");
}

static bool has_expired(const struct matchmakerd *matchmakerd, uint64_t number)
{
    const struct agent_command *command = command_numbered(&matchmakerd->commands, number);

    return command && command->state == COMMAND_EXPIRED;
}

/* Answers requests that wait for that command, or for one that has expired, or whose time is over. */
static void waits_answer(struct matchmakerd *matchmakerd, uint64_t number, int64_t now, bool all)
{
    struct command_wait *next;

    for (struct command_wait *wait = matchmakerd->command_waits; wait; wait = next) {
        struct request *request = wait->request;
        uint64_t its = wait->number;

        next = wait->next;
        if (!all && its != number && wait->ends > now && !has_expired(matchmakerd, its))
            continue;
        wait_forget(request);
        command_tell(request, its);
    }
}

void command_waits_sweep(struct matchmakerd *matchmakerd, int64_t now, bool all)
{
    waits_answer(matchmakerd, 0, now, all);
}

static uint64_t number_read(const struct request *request)
{
    const char *text = request_variable(request, 0);

    return strlen(text) < 16 && strspn(text, "0123456789") == strlen(text) ? strtoull(text, NULL, 10) : 0;
}

void api_command_get(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct agent_command *command = command_numbered(&matchmakerd->commands, number_read(request));
    struct command_wait *wait;
    uint64_t seconds;

    if (!request_number(request, "wait", 0, COMMAND_WAIT_MAX, 0, &seconds))
        return;
    if (!command || command->state != COMMAND_WAITS || !seconds || !command_is_seen(request, command)) {
        command_tell(request, number_read(request));
        return;
    }
    wait = mem_alloc(sizeof *wait);
    *wait = (struct command_wait){.next = matchmakerd->command_waits,
                                  .request = request,
                                  .number = command->number,
                                  .ends = runner_now() + (int64_t)seconds * SECOND};
    matchmakerd->command_waits = wait;
    request->work = wait;
    request->forget = wait_forget;
}

/* ------------------------------------------------------------------------------------------------------------- answers */

static void answer_kept(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint64_t number = number_read(request);

    request_done(request);
    waits_answer(matchmakerd, number, 0, false);
}

/* The command that the caller answers; NULL after a problem was answered. */
static struct agent_command *command_told(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct agent_command *command = command_numbered(&matchmakerd->commands, number_read(request));
    uint64_t key = 0;
    const char *text;
    size_t len;

    ad_word(ad, "Key", &key);
    if (!command || command->to != request_handle(request) || command->key != key) {
        request_problem(request, 404, "no such command waits for that agent");
        return NULL;
    }
    exchange_body(request->exchange, &len);
    if (len > COMMAND_ANSWER_MAX) {
        request_problem(request, 413, "an answer of up to %u bytes is kept", COMMAND_ANSWER_MAX);
        return NULL;
    }
    if (!ad_string(ad, "Reason", &text, &len)) {
        request_problem(request, 400, "Reason: expected a text");
        return NULL;
    }
    return command;
}

static void answer_take(struct request *request, const struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct agent_command *command = command_told(request, ad);
    const char *reason = "";
    struct tree *answer;
    struct err err = {0};
    size_t len = 0;
    bool waited;

    if (!command)
        return;
    letter_drop(matchmakerd, command);
    if (!command_wants_answer(command)) {
        request_done(request); /* the agent repeats itself, because our answer was lost */
        return;
    }
    waited = command->state == COMMAND_WAITS; /* otherwise it has expired, and this tells what really became of it */
    answer = ad_without(ad, "Key");
    if (command_answer(&matchmakerd->commands, command, answer, runner_seconds(matchmakerd->runner), &err) < 0) {
        request_store_failed(request, err.text);
    } else {
        ad_string(answer, "Reason", &reason, &len);
        if (waited || command->state == COMMAND_DONE)
            metrics_add(matchmakerd->metrics, METRIC_COMMANDS,
                        command->state == COMMAND_DONE ? COUNT_ANSWERED : COUNT_EXPIRED, 0, 1);
        LOG_AUDIT(&matchmakerd->log, "commanded", log_text("subject", command->by),
                  log_number("number", (int64_t)command->number), log_word("agent", command->to),
                  log_bytes("reason", reason, len));
        request_commit(request, answer_kept);
    }
    tree_unref(answer);
}

void api_command_answer(struct request *request)
{
    struct tree *ad = request_body_ad(request);

    if (ad)
        answer_take(request, ad);
    tree_unref(ad);
}

/* Tells an agent that listens of a waiting command. Its giver may have left before the command was durable, or there
 * was no room among the letters. */
static void command_remind(struct matchmakerd *matchmakerd, const struct agent_command *command, int64_t wall)
{
    uint32_t place = agents_find(&matchmakerd->agents, command->to);
    int64_t now = runner_now();

    if (place != TEXTMAP_NONE && matchmakerd->agents.items[place].watchers)
        agents_write_command(&matchmakerd->agents, place, command->key, now, now + (command->ends - wall) * SECOND);
}

static void command_expire(struct matchmakerd *matchmakerd, const struct agent_command *command)
{
    letter_drop(matchmakerd, command);
    metrics_add(matchmakerd->metrics, METRIC_COMMANDS, COUNT_EXPIRED, 0, 1);
    LOG_AUDIT(&matchmakerd->log, "command.expired", log_text("subject", command->by),
              log_number("number", (int64_t)command->number), log_word("agent", command->to));
}

void commands_expire(struct matchmakerd *matchmakerd)
{
    int64_t wall = runner_seconds(matchmakerd->runner);
    struct err err;

    for (const struct agent_command *at = matchmakerd->commands.waiting ? matchmakerd->commands.first : NULL; at;
         at = at->next) {
        if (at->state == COMMAND_WAITS && at->ends <= wall)
            command_expire(matchmakerd, at);
        else if (at->state == COMMAND_WAITS && at->at + COMMAND_REMIND <= wall)
            command_remind(matchmakerd, at, wall);
    }
    if (commands_sweep(&matchmakerd->commands, wall, &err))
        runner_commit(matchmakerd->runner, NULL, NULL);
}
