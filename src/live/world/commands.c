/* commands.c: commands that wait for an agent, and what was answered. */
#include "live/world/commands.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "pool/protocol/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_DIGITS 16

static const char *const state_words[] = {"waiting", "done", "expired"};

void commands_init(struct commands *commands, struct symbols *symbols, struct shelf *shelf)
{
    *commands = (struct commands){.symbols = symbols, .shelf = shelf};
}

static void command_free(struct agent_command *command)
{
    tree_unref(command->what);
    tree_unref(command->answer);
    free(command);
}

void commands_done(struct commands *commands)
{
    while (commands->first) {
        struct agent_command *next = commands->first->next;

        command_free(commands->first);
        commands->first = next;
    }
}

/* --------------------------------------------------------------------------------------------------------------- rows */

static void row_key(uint64_t number, char ret[KEY_DIGITS + 1])
{
    snprintf(ret, KEY_DIGITS + 1, "%016" PRIx64, number);
}

static int row_put(struct commands *commands, const struct agent_command *command, struct err *err)
{
    struct shelf *shelf = commands->shelf;
    char key[KEY_DIGITS + 1];
    struct maker maker;
    struct tree *row;
    struct buf text;
    int failed;

    maker_init(&maker, commands->symbols);
    maker_word(&maker, "Key", command->key);
    maker_word(&maker, "To", command->to);
    maker_text(&maker, "Name", command->name);
    maker_integer(&maker, "Job", (int64_t)command->job);
    maker_word(&maker, "Claim", command->claim);
    maker_integer(&maker, "Trial", (int64_t)command->trial);
    maker_text(&maker, "By", command->by);
    maker_integer(&maker, "At", command->at);
    maker_integer(&maker, "Ends", command->ends);
    maker_integer(&maker, "Done", command->done);
    maker_text(&maker, "State", state_words[command->state]);
    maker_ad(&maker, "What", command->what);
    maker_ad(&maker, "Answer", command->answer);
    row = maker_seal(&maker);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, row);
    row_key(command->number, key);
    failed = shelf->kind->put(shelf, COMMAND_SPACE, key, KEY_DIGITS, text.text, text.len, err);
    buf_done(&text);
    tree_unref(row);
    return failed;
}

static size_t ad_bytes(const struct tree *ad)
{
    struct buf text;
    size_t len;

    if (!ad)
        return 0;
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, ad);
    len = text.len;
    buf_done(&text);
    return len;
}

/* The ad inside the row; NULL when there is none. The caller unrefs it. */
static struct tree *inner(const struct tree *row, const char *name)
{
    const struct expr *part = ad_find(row, name);

    return part && part->kind == EXPR_AD ? ad_part(row, part) : NULL;
}

/* Reads a row. False when we did not write it: it is passed over. */
static bool row_read(const struct tree *row, struct agent_command *ret)
{
    char state[16] = "";
    int64_t job = 0, trial = 0;

    ret->state = COMMAND_WAITS;
    if (!ad_word(row, "Key", &ret->key) || !ad_word(row, "To", &ret->to) ||
        !ad_text(row, "Name", ret->name, sizeof ret->name) || !ad_text(row, "By", ret->by, sizeof ret->by) ||
        !ad_integer(row, "At", &ret->at) || !ad_integer(row, "Ends", &ret->ends) ||
        !ad_text(row, "State", state, sizeof state))
        return false;
    while (ret->state <= COMMAND_EXPIRED && strcmp(state_words[ret->state], state) != 0)
        ret->state++;
    ad_integer(row, "Job", &job);
    ad_integer(row, "Trial", &trial);
    ad_word(row, "Claim", &ret->claim);
    ad_integer(row, "Done", &ret->done);
    ret->job = (uint64_t)job;
    ret->trial = (uint64_t)trial;
    ret->what = inner(row, "What");
    ret->answer = inner(row, "Answer");
    ret->bytes = ad_bytes(ret->answer);
    return ret->state <= COMMAND_EXPIRED && ret->what;
}

/* Puts a command at the end of the list, since numbers rise. */
static void command_put_in(struct commands *commands, struct agent_command *command)
{
    *(commands->last ? &commands->last->next : &commands->first) = command;
    commands->last = command;
    commands->waiting += command->state == COMMAND_WAITS;
    commands->kept += command->state != COMMAND_WAITS;
    commands->bytes += command->bytes;
}

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct commands *commands = user;
    struct agent_command *command;
    char digits[KEY_DIGITS + 1] = "";
    struct tree *row;
    struct err err;

    if (key_len != KEY_DIGITS)
        return true;
    memcpy(digits, key, KEY_DIGITS);
    row = form_parse(commands->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    command = mem_alloc(sizeof *command);
    *command = (struct agent_command){.number = strtoull(digits, NULL, 16)};
    commands->numbered = command->number > commands->numbered ? command->number : commands->numbered;
    if (row && row_read(row, command))
        command_put_in(commands, command);
    else
        command_free(command);
    tree_unref(row);
    return true;
}

/* Reads the last number that was given. It outlives its command, so that no number is given twice. */
static bool last_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct commands *commands = user;
    char digits[24] = "";

    (void)key;
    (void)key_len;
    memcpy(digits, value, len < sizeof digits - 1 ? len : sizeof digits - 1);
    commands->numbered = strtoull(digits, NULL, 10);
    return false;
}

int commands_load(struct commands *commands, struct err *err)
{
    struct shelf *shelf = commands->shelf;

    if (shelf->kind->get(shelf, COMMAND_SPACE, "last", 4, last_load, commands, err) < 0)
        return -1;
    return shelf->kind->each(shelf, COMMAND_SPACE, row_load, commands, err);
}

/* ------------------------------------------------------------------------------------------------------------- looking */

struct agent_command *command_numbered(const struct commands *commands, uint64_t number)
{
    struct agent_command *command = commands->first;

    while (command && command->number != number)
        command = command->next;
    return command;
}

struct agent_command *command_keyed(const struct commands *commands, uint64_t key)
{
    struct agent_command *command = commands->first;

    while (command && command->key != key)
        command = command->next;
    return command;
}

struct agent_command *command_waiting(const struct commands *commands, const struct agent_command *after, uint64_t to)
{
    struct agent_command *command = commands->waiting ? (after ? after->next : commands->first) : NULL;

    while (command && (command->state != COMMAND_WAITS || command->to != to))
        command = command->next;
    return command;
}

uint32_t commands_waiting_for(const struct commands *commands, uint64_t to)
{
    uint32_t count = 0;

    for (const struct agent_command *at = NULL; (at = command_waiting(commands, at, to));)
        count++;
    return count;
}

const char *command_word(const struct agent_command *command, size_t *ret_len)
{
    const char *text;

    if (ad_string(command->what, "Command", &text, ret_len))
        return text;
    *ret_len = 0;
    return "";
}

/* ------------------------------------------------------------------------------------------------------------- changes */

const char *command_refusal(const struct commands *commands, uint64_t to, const char *by)
{
    uint32_t mine = 0;

    for (const struct agent_command *at = commands->first; at; at = at->next)
        mine += at->state == COMMAND_WAITS && account_same(at->by, by);
    return commands_waiting_for(commands, to) >= COMMANDS_PER_AGENT ? "so many commands wait for that agent already"
           : mine >= COMMANDS_PER_USER                              ? "so many commands of yours wait already"
           : commands->waiting >= COMMANDS_WAITING                  ? "so many commands wait already"
                                                                    : NULL;
}

struct agent_command *command_add(struct commands *commands, const struct command_order *order, uint64_t key,
                                  int64_t wall, struct err *err)
{
    struct agent_command *command = mem_alloc(sizeof *command);
    char last[24];

    *command = (struct agent_command){.number = commands->numbered + 1,
                                      .key = key,
                                      .to = order->to,
                                      .job = order->job,
                                      .claim = order->claim,
                                      .trial = order->trial,
                                      .at = wall,
                                      .ends = wall + order->life,
                                      .what = tree_ref(order->what)};
    snprintf(command->name, sizeof command->name, "%s", order->name);
    snprintf(command->by, sizeof command->by, "%s", order->by);
    snprintf(last, sizeof last, "%" PRIu64, command->number);
    if (row_put(commands, command, err) < 0 ||
        commands->shelf->kind->put(commands->shelf, COMMAND_SPACE, "last", 4, last, strlen(last), err) < 0) {
        command_free(command);
        return NULL;
    }
    commands->numbered++;
    command_put_in(commands, command);
    return command;
}

static int command_over(struct commands *commands, struct agent_command *command, enum command_state state,
                        int64_t wall, struct err *err)
{
    if (command->state == COMMAND_WAITS) {
        commands->waiting--;
        commands->kept++;
    }
    command->state = state;
    command->done = wall;
    commands->bytes += command->bytes;
    return row_put(commands, command, err);
}

bool command_wants_answer(const struct agent_command *command)
{
    return command->state == COMMAND_WAITS || (command->state == COMMAND_EXPIRED && !command->answer);
}

static bool reason_is_expired(const struct tree *answer)
{
    const char *reason;
    size_t len;

    return ad_string(answer, "Reason", &reason, &len) && len == 7 && !memcmp(reason, "expired", 7);
}

int command_answer(struct commands *commands, struct agent_command *command, struct tree *answer, int64_t wall,
                   struct err *err)
{
    if (!command_wants_answer(command))
        return 0;
    command->bytes = ad_bytes(answer);
    command->answer = command->bytes <= COMMAND_ANSWER_MAX
                          ? tree_ref(answer)
                          : command_reason(commands->symbols, "long", "what it answered is too long to be kept");
    if (command->bytes > COMMAND_ANSWER_MAX)
        command->bytes = ad_bytes(command->answer);
    return command_over(commands, command, reason_is_expired(answer) ? COMMAND_EXPIRED : COMMAND_DONE, wall, err);
}

static void command_forget(struct commands *commands, struct agent_command **link, struct agent_command *before,
                           struct err *err)
{
    struct agent_command *command = *link;
    char key[KEY_DIGITS + 1];

    row_key(command->number, key);
    commands->shelf->kind->remove(commands->shelf, COMMAND_SPACE, key, KEY_DIGITS, err);
    *link = command->next;
    if (commands->last == command)
        commands->last = before;
    commands->kept--;
    commands->bytes -= command->bytes;
    command_free(command);
}

bool commands_sweep(struct commands *commands, int64_t wall, struct err *err)
{
    struct agent_command **link = &commands->first, *before = NULL;
    bool changed = false;

    while (*link) {
        struct agent_command *command = *link;

        if (command->state == COMMAND_WAITS && command->ends <= wall && !command->flying) {
            command_over(commands, command, COMMAND_EXPIRED, wall, err);
            changed = true;
        }
        if (command->state != COMMAND_WAITS && (command->done + COMMAND_DONE_LIFE <= wall ||
                                                commands->kept > COMMANDS_KEPT || commands->bytes > COMMANDS_BYTES)) {
            command_forget(commands, link, before, err);
            changed = true;
            continue;
        }
        before = command;
        link = &command->next;
    }
    return changed;
}

/* --------------------------------------------------------------------------------------------------------------- told */

struct tree *command_ad(const struct commands *commands, const struct agent_command *command, int64_t wall)
{
    const char *word, *reason;
    struct maker maker;
    size_t len;

    maker_init(&maker, commands->symbols);
    maker_text(&maker, "Type", "Command");
    maker_integer(&maker, "Number", (int64_t)command->number);
    word = command_word(command, &len);
    maker_bytes(&maker, "Command", word, len);
    maker_word(&maker, "Agent", command->to);
    maker_text(&maker, "Name", command->name);
    if (command->job)
        maker_integer(&maker, "Job", (int64_t)command->job);
    maker_text(&maker, "By", command->by);
    maker_integer(&maker, "Age", wall - command->at);
    if (command->state == COMMAND_WAITS)
        maker_integer(&maker, "Left", command->ends - wall);
    maker_text(&maker, "State", state_words[command->state]);
    if (command->answer && ad_string(command->answer, "Reason", &reason, &len))
        maker_bytes(&maker, "Reason", reason, len);
    maker_ad(&maker, "What", command->what);
    maker_ad(&maker, "Answer", command->answer);
    return maker_seal(&maker);
}

bool command_is_late(const struct tree *told, int64_t wall)
{
    int64_t ends;

    return ad_integer(told, "Ends", &ends) && wall - COMMAND_ALLOWANCE >= ends;
}

struct tree *command_reason(struct symbols *symbols, const char *reason, const char *words)
{
    struct maker maker;

    maker_init(&maker, symbols);
    maker_text(&maker, "Reason", reason);
    maker_text(&maker, "Words", words);
    return maker_seal(&maker);
}
