/* agent.c: berth agent: gives commands to an agent, wherever it is: they wait until it has heard them. */
#include "cli/admin/agent.h"
#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/base/span.h"
#include "live/matchmakerd/agents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define S struct agent_command_settings
static const struct option agent_options[] = {
    {0, "now", NULL, "drain: jobs that run are warned, and ended after the grace of the agent", option_flag,
     offsetof(S, now)},
    {0, "identity", "NAME", "whose agent it is: for one that the pool has not heard of since it started", option_text,
     offsetof(S, identity)},
    AWAITED_OPTION_ROWS(S),
    {0, "json", NULL, "one JSON object; spans in seconds", option_flag, offsetof(S, json)},
    {0, "long", NULL, "all that is known, as an ad in the long form", option_flag, offsetof(S, long_form)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct agent_command_settings agent_defaults = {.wait = AWAITED_WAIT};

/* ------------------------------------------------------------------------------------------------------------ which agent */

struct search {
    const char *name;
    struct tree *found; /* a reference of our own */
    uint32_t count;
    struct nearest nearest;
    struct buf which; /* the agents of that name, for the report when there are several */
};

bool agent_text_is(const struct tree *ad, const char *attribute, const char *text)
{
    const char *value;
    size_t len;

    return ad_string(ad, attribute, &value, &len) && len == strlen(text) && !memcmp(value, text, len);
}

static bool agent_look(void *user, struct tree *ad)
{
    struct search *search = user;
    const char *name, *before = search->nearest.name;
    char *copy;
    size_t len;

    if (!agent_text_is(ad, "Role", "provider"))
        return true;
    if (agent_text_is(ad, "Name", search->name) || agent_text_is(ad, "Agent", search->name)) {
        if (!search->found)
            search->found = tree_ref(ad);
        buf_adds(&search->which, search->count++ ? ", " : "");
        cell_print(&search->which, ad, "Agent", CELL_VALUE, 0);
        buf_adds(&search->which, " (");
        cell_print(&search->which, ad, "Identity", CELL_VALUE, 0);
        buf_adds(&search->which, ")");
        return true;
    }
    if (ad_string(ad, "Name", &name, &len)) {
        copy = mem_dup(name, len);
        nearest_try(&search->nearest, copy);
        if (search->nearest.name == copy)
            free((char *)(uintptr_t)before);
        else
            free(copy);
    }
    return true;
}

/* Finds the agent of that name, which the caller unrefs. STATUS_NO when there is not exactly one, which has been reported. */
static int agent_find(struct connection *pool, const char *name, struct tree **ret)
{
    struct search search = {.name = name};
    int status;

    nearest_init(&search.nearest, name, strlen(name));
    buf_init(&search.which);
    status = connection_list(pool, "/v1/agents", 0, agent_look, &search);
    if (status == STATUS_DONE && search.count == 1) {
        *ret = tree_ref(search.found);
    } else if (status == STATUS_DONE) {
        status = STATUS_NO;
        text_tame(&search.which, 0);
        if (search.count > 1)
            report("%u agents are called %s: give the handle of one: %s", search.count, name,
                   buf_string(&search.which));
        else if (search.nearest.name)
            report("the pool knows no agent '%.60s' that takes commands; did you mean '%s'?", name,
                   search.nearest.name);
        else
            report(
                "the pool knows no agent '%.60s' that takes commands; `berth agents` lists them, and one that has been away "
                "since the pool started is named with --identity",
                name);
    }
    tree_unref(search.found);
    free((char *)(uintptr_t)search.nearest.name);
    buf_done(&search.which);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ drain and resume */

static uint64_t count_of(const struct tree *ad, const char *name)
{
    int64_t count;

    return ad_integer(ad, name, &count) && count > 0 ? (uint64_t)count : 0;
}

static struct tree *body_make(struct connection *pool, const struct agent_command_settings *settings, const char *word,
                              const char *name, int64_t life)
{
    struct maker maker;

    maker_init(&maker, pool->symbols);
    maker_text(&maker, "Command", word);
    if (settings->now)
        maker_flag(&maker, "Now", true);
    if (life)
        maker_integer(&maker, "Lifetime", life);
    if (settings->identity) {
        maker_text(&maker, "Identity", settings->identity);
        maker_text(&maker, "Name", name);
    }
    return maker_seal(&maker);
}

static void waits_tell(const struct agent_command_settings *settings, const struct tree *command, const char *name,
                       const struct tree *machine)
{
    struct buf words;
    double heard;

    buf_init(&words);
    if (machine && job_number(machine, "LastWord", &heard)) {
        buf_adds(&words, " (last heard of ");
        span_say(&words, heard + (double)settings->wait);
        buf_adds(&words, " ago)");
    }
    if (settings->wait)
        report("%s%s has not answered: command %" PRIu64 " %s; `berth commands` shows what becomes of it", name,
               buf_string(&words), awaited_number(command), awaited_fate(command));
    buf_done(&words);
}

static void done_tell(const struct agent_command_settings *settings, bool drain, const struct tree *answer,
                      const char *name, struct buf *out)
{
    uint64_t jobs = count_of(answer, "Running") + count_of(answer, "Staging") + count_of(answer, "Held");
    const char *words;
    size_t len;

    buf_adds(out, name);
    if (!drain) {
        buf_adds(out, " takes work again");
    } else {
        buf_adds(out, " takes no more work: ");
        if (jobs) {
            jobs_count_print(out, jobs);
            buf_adds(out,
                     settings->now ? (jobs == 1 ? " has to go" : " have to go") : (jobs == 1 ? " runs on" : " run on"));
        } else {
            buf_adds(out, "nothing runs");
        }
    }
    if (ad_string(answer, "Words", &words, &len)) {
        buf_adds(out, " (");
        buf_add(out, words, len);
        buf_addc(out, ')');
    }
    text_tame(out, 0);
    buf_addc(out, '\n');
}

void agent_form_print(const struct agent_command_settings *settings, struct tree *ad)
{
    enum rows_form form = settings->json ? ROWS_JSON : ROWS_LONG;
    struct rows rows;

    rows_init(&rows, form, NULL, 0);
    rows_add(&rows, ad);
    rows_finish(&rows);
    rows_done(&rows);
}

static int command_end(const struct agent_command_settings *settings, const char *word, struct tree *command,
                       const char *name, const struct tree *machine)
{
    struct tree *answer = awaited_answer(command);
    int status = STATUS_NO;
    struct buf out;

    buf_init(&out);
    if (settings->json || settings->long_form)
        agent_form_print(settings, command);
    if (answer && awaited_is_good(answer, name)) {
        status = STATUS_DONE;
        done_tell(settings, !strcmp(word, "drain"), answer, name, &out);
    } else if (!answer && !settings->wait) {
        status = STATUS_DONE;
        buf_addf(&out, "command %" PRIu64 " is given\n", awaited_number(command));
    } else if (!answer) {
        waits_tell(settings, command, name, machine);
    }
    if (!settings->json && !settings->long_form)
        output_write(&out);
    tree_unref(answer);
    buf_done(&out);
    return status;
}

int agent_command_give(struct connection *pool, const struct agent_command_settings *settings, const char *word,
                       const char *handle, const char *name, int64_t wait, int64_t life, struct tree **ret)
{
    struct tree *body = body_make(pool, settings, word, name, life);
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/agents/");
    path_escape(&path, handle);
    buf_adds(&path, "/commands");
    status = awaited_give(pool, buf_string(&path), body, wait, ret);
    buf_done(&path);
    tree_unref(body);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------- run */

static bool words_good(const struct agent_command_settings *settings, int word_count, char **words)
{
    if (word_count != 2 ||
        (strcmp(words[1], "drain") != 0 && strcmp(words[1], "resume") != 0 && strcmp(words[1], "status") != 0)) {
        report("agent wants the name of an agent, and drain, resume or status");
        return false;
    }
    if (settings->now && strcmp(words[1], "drain") != 0) {
        report("--now is for drain");
        return false;
    }
    if (settings->json && settings->long_form) {
        report("--json and --long cannot be used together");
        return false;
    }
    if (settings->identity && !strcmp(words[1], "status")) {
        report("--identity is for drain and resume: the pool has no status of an agent that it does not know");
        return false;
    }
    return true;
}

/* Makes the handle of an agent that the pool need not know, from its names. */
static void handle_make(const char *identity, const char *name, char ret[20])
{
    snprintf(ret, 20, "%016" PRIx64, agent_handle(identity, name));
}

static int agent_run(const void *given, int word_count, char **words)
{
    const struct agent_command_settings *settings = given;
    struct tree *machine = NULL, *command = NULL;
    char handle[20] = "";
    struct connection pool;
    uint64_t number;
    int status;

    if (!words_good(settings, word_count, words))
        return STATUS_BAD;
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE && settings->identity)
        handle_make(settings->identity, words[0], handle);
    else if (status == STATUS_DONE && (status = agent_find(&pool, words[0], &machine)) == STATUS_DONE &&
             ad_word(machine, "Agent", &number))
        snprintf(handle, sizeof handle, "%016" PRIx64, number);
    if (status == STATUS_DONE && !strcmp(words[1], "status")) {
        status = agent_status(&pool, settings, handle, words[0], machine);
    } else if (status == STATUS_DONE) {
        status =
            agent_command_give(&pool, settings, words[1], handle, words[0], settings->wait, settings->life, &command);
        if (status == STATUS_DONE)
            status = command_end(settings, words[1], command, words[0], machine);
    }
    tree_unref(command);
    tree_unref(machine);
    connection_close(&pool);
    return status;
}

const struct command command_agent = {
    .name = "agent",
    .summary = "drain an agent, let it work again, or ask how it is",
    .usage = "[OPTIONS] NAME drain [--now]\n[OPTIONS] NAME resume\n[OPTIONS] NAME status",
    .about =
        "Commands the agent of that name, or handle, as `berth agents` shows it. Agents only ever call out: the command goes by the "
        "stream of events that the agent keeps open, so it reaches machines behind firewalls, and those that pull. While the agent "
        "is away the command waits; it is carried out once, when the agent is back.\n\n"
        "drain: the agent takes no more work. What runs ends as it would; with --now it is warned, and ended after the grace of the agent, "
        "and goes on elsewhere. That holds over restarts of the agent, until resume. status: what it runs, since when, whether it is drained, "
        "its load, its version, its last word, and commands that wait.\n\n"
        "The owner of an agent and administrators may. The status is 1 when the agent has not answered in the time of --wait, or has "
        "refused.",
    .examples = {{"berth agent heron drain --wait 5min", NULL},
                 {"berth agent heron drain --now", NULL},
                 {"berth agent heron resume", NULL},
                 {"berth agent heron status --json", NULL}},
    .options = agent_options,
    .option_count = sizeof agent_options / sizeof *agent_options,
    .settings_size = sizeof(struct agent_command_settings),
    .defaults = &agent_defaults,
    .run = agent_run,
};
