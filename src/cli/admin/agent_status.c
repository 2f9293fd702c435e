/* agent_status.c: berth agent NAME status: what an agent runs, whether it takes work, and what waits for it. */
#include "cli/admin/agent.h"
#include "cli/admin/machine_words.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/span.h"

#include <time.h>

#define STATUS_WAIT 10 /* seconds that an agent has to tell how it is */

/* The commands that wait for the agent. */
struct waiting_list {
    struct tree *items[64];
    uint32_t count;
};

static bool waiting_add(void *user, struct tree *ad)
{
    struct waiting_list *list = user;

    if (list->count < sizeof list->items / sizeof *list->items && !agent_text_is(ad, "Command", "status"))
        list->items[list->count++] = tree_ref(ad);
    return true;
}

static int waiting_find(struct connection *pool, const char *handle, struct waiting_list *ret)
{
    struct buf path, query;
    int status;

    buf_init(&path);
    buf_init(&query);
    buf_addf(&query, "State == \"waiting\" && Agent == \"%s\"", handle);
    buf_adds(&path, "/v1/commands");
    path_query(&path, "constraint", buf_string(&query));
    status = connection_list(pool, buf_string(&path), 0, waiting_add, ret);
    buf_done(&path);
    buf_done(&query);
    return status;
}

static void line_add(struct buf *out, const char *word, const struct tree *ad, const char *attribute, enum cell cell,
                     const char *behind)
{
    size_t start = out->len, from;

    buf_addf(out, "  %-12s ", word);
    from = out->len;
    cell_print(out, ad, attribute, cell, time(NULL));
    text_tame(out, from);
    if (out->len == from)
        out->len = start;
    else
        buf_addf(out, "%s\n", behind);
}

/* Prints a load of 1.27392578125 as 1.3. */
static void load_add(struct buf *out, const struct tree *answer)
{
    double load;

    if (ad_number(answer, "Load", &load))
        buf_addf(out, "  %-12s %.1f\n", "load", load);
}

static void jobs_add(struct buf *out, const struct tree *answer)
{
    const struct expr *list = ad_find(answer, "Jobs");

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *job = ad_part(answer, &tree_parts(answer, list)[i]);

        buf_addf(out, "  %-12s ", i ? "" : "jobs");
        cell_print(out, job, "Job", CELL_VALUE, 0);
        buf_addc(out, ' ');
        cell_print(out, job, "State", CELL_VALUE, 0);
        buf_adds(out, " for ");
        cell_print(out, job, "Since", CELL_SPAN_SAID, 0);
        buf_addc(out, '\n');
        tree_unref(job);
    }
}

/* Does the machine take work, as it stands? An older one does not say how. */
static const char *work_word(const struct tree *answer)
{
    enum machine_state state = MACHINE_IDLE;

    if (answer)
        machine_state_of(answer, &state);
    return state == MACHINE_OWNER  ? "its owner lets nobody in now"
           : state == MACHINE_BUSY ? "has no room for more work now"
                                   : "takes work";
}

static void stands_add(struct buf *out, const struct tree *answer)
{
    double since;

    if (!answer || !ad_find(answer, "State"))
        return;
    buf_addf(out, "  %-12s ", "state");
    machine_standing_print(out, answer);
    if (ad_number(answer, "StateSince", &since)) {
        buf_adds(out, ", for ");
        span_say(out, since);
    }
    buf_addc(out, '\n');
}

/* Of an owner who is back at a certain time the state says only that: then this is why. */
static void owner_add(struct buf *out, const struct tree *answer)
{
    enum machine_state state;
    double until;

    if (answer && machine_state_of(answer, &state) && state == MACHINE_OWNER && ad_number(answer, "Until", &until))
        line_add(out, "why", answer, "Words", CELL_VALUE, "");
}

static void status_tell(struct buf *out, const char *name, const struct tree *machine, const struct tree *answer,
                        const struct waiting_list *waiting)
{
    bool draining = false;

    ad_flag(answer ? answer : machine, "Draining", &draining);
    buf_addf(out, "%s: %s%s\n", name, answer ? "" : "away, ",
             draining                              ? "takes no more work"
             : answer && ad_find(answer, "Unwell") ? "is unwell, and takes no more work for now"
                                                   : work_word(answer));
    stands_add(out, answer);
    owner_add(out, answer);
    line_add(out, "identity", machine, "Identity", CELL_VALUE, "");
    line_add(out, "host", machine, "Host", CELL_VALUE, "");
    line_add(out, "version", machine, "Version", CELL_VALUE, "");
    line_add(out, "known for", machine, "Since", CELL_SPAN, "");
    line_add(out, "last word", machine, "LastWord", CELL_SPAN_SAID, " ago");
    if (answer) {
        line_add(out, "unwell", answer, "Unwell", CELL_VALUE, "");
        line_add(out, "drained", answer, "DrainedSince", CELL_SINCE_SAID, " ago");
        line_add(out, "drained by", answer, "DrainedBy", CELL_VALUE, "");
        load_add(out, answer);
        line_add(out, "running", answer, "Running", CELL_VALUE, "");
        line_add(out, "to send", answer, "Outgoing", CELL_VALUE, "");
        line_add(out, "to store", answer, "Transfers", CELL_VALUE, "");
        jobs_add(out, answer);
    }
    for (uint32_t i = 0; i < waiting->count; i++) {
        buf_addf(out, "  %-12s ", i ? "" : "commands");
        cell_print(out, waiting->items[i], "Number", CELL_VALUE, 0);
        buf_addc(out, ' ');
        cell_print(out, waiting->items[i], "Command", CELL_VALUE, 0);
        buf_adds(out, " by ");
        cell_print(out, waiting->items[i], "By", CELL_VALUE, 0);
        buf_adds(out, " waits for ");
        cell_print(out, waiting->items[i], "Age", CELL_SPAN_SAID, 0);
        buf_addc(out, '\n');
    }
}

static void status_form(struct connection *pool, const struct agent_command_settings *settings,
                        const struct tree *machine, const struct tree *answer, const struct waiting_list *waiting)
{
    struct maker maker;
    struct tree *ad;

    maker_init(&maker, pool->symbols);
    maker_parts(&maker, machine, NULL);
    maker_ad(&maker, "Status", answer);
    maker_list(&maker, "Commands", waiting->items, waiting->count);
    ad = maker_seal(&maker);
    agent_form_print(settings, ad);
    tree_unref(ad);
}

int agent_status(struct connection *pool, const struct agent_command_settings *settings, const char *handle,
                 const char *name, const struct tree *machine)
{
    struct waiting_list waiting = {.count = 0};
    struct tree *command = NULL, *answer = NULL;
    int64_t wait = settings->wait < STATUS_WAIT ? settings->wait : STATUS_WAIT;
    bool connected = false;
    struct buf out;
    int status = waiting_find(pool, handle, &waiting);

    buf_init(&out);
    ad_flag(machine, "Connected", &connected);
    if (status == STATUS_DONE && connected)
        status = agent_command_give(pool, settings, "status", handle, name, wait, wait + 1, &command);
    if (command)
        answer = awaited_answer(command);
    if (status == STATUS_DONE && (settings->json || settings->long_form)) {
        status_form(pool, settings, machine, answer, &waiting);
    } else if (status == STATUS_DONE) {
        status_tell(&out, name, machine, answer, &waiting);
        output_write(&out);
    }
    if (status == STATUS_DONE && !answer) {
        report("%s does not answer: this is what the pool knows of it", name);
        status = STATUS_NO;
    }
    while (waiting.count)
        tree_unref(waiting.items[--waiting.count]);
    tree_unref(answer);
    tree_unref(command);
    buf_done(&out);
    return status;
}
