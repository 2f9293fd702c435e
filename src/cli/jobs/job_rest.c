/* job_rest.c: berth suspend and continue: jobs that run stand still on their machines, and go on. */
#include "cli/ask/awaited.h"
#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct rest_settings {
    struct connection_options pool;
    int64_t wait, life;
};

#define S struct rest_settings
static const struct option rest_options[] = {
    AWAITED_OPTION_ROWS(S),
    CUSTOMER_OPTION_ROWS(S),
};
#undef S
static const struct rest_settings rest_defaults = {.wait = AWAITED_WAIT};

/* One job: its machine is told, and has answered. */
static int job_rest(struct connection *customer, const struct rest_settings *settings, const char *word, uint64_t job)
{
    struct tree *command = NULL, *answer, *body;
    struct maker maker;
    struct buf path;
    char about[40];
    int status;

    maker_init(&maker, customer->symbols);
    maker_text(&maker, "Command", word);
    if (settings->life)
        maker_integer(&maker, "Lifetime", settings->life);
    body = maker_seal(&maker);
    buf_init(&path);
    job_path(&path, job, "/commands");
    status = awaited_give(customer, buf_string(&path), body, settings->wait, &command);
    buf_done(&path);
    tree_unref(body);
    if (status != STATUS_DONE)
        return status;
    answer = awaited_answer(command);
    snprintf(about, sizeof about, "job %" PRIu64, job);
    if (!answer && settings->wait) {
        report("%s: its machine has not answered: command %" PRIu64
               " %s; `berth commands --jobs` shows what becomes of it",
               about, awaited_number(command), awaited_fate(command));
        status = STATUS_NO;
    } else if (answer && !awaited_is_good(answer, about)) {
        status = STATUS_NO;
    }
    tree_unref(answer);
    tree_unref(command);
    return status;
}

static int rest_run(const struct rest_settings *settings, const char *word, const char *done, int word_count,
                    char **words)
{
    struct connection customer;
    struct job_ids ids;
    uint64_t changed = 0, job;
    int status = STATUS_BAD, one;
    struct buf out;

    if (!word_count) {
        report("%s wants the numbers of jobs", word);
        return STATUS_BAD;
    }
    if (job_ids_read(&ids, word_count, words) == 0) {
        status = customer_open(&customer, &settings->pool);
        for (size_t i = 0; i < ids.count && status != STATUS_UNREACHABLE; i++)
            for (job = ids.ranges[i].first; job <= ids.ranges[i].last && status != STATUS_UNREACHABLE; job++) {
                one = job_rest(&customer, settings, word, job);
                changed += one == STATUS_DONE;
                status = one == STATUS_DONE ? status : one;
            }
        connection_close(&customer);
    }
    job_ids_done(&ids);
    if (status == STATUS_BAD || status == STATUS_UNREACHABLE)
        return status;
    buf_init(&out);
    jobs_count_print(&out, changed);
    buf_addf(&out, " %s\n", done);
    output_write(&out);
    buf_done(&out);
    return status;
}

static int suspend_run(const void *given, int word_count, char **words)
{
    return rest_run(given, "suspend", "suspended", word_count, words);
}

static int continue_run(const void *given, int word_count, char **words)
{
    return rest_run(given, "continue", "continued", word_count, words);
}

const struct command command_suspend = {
    .name = "suspend",
    .summary = "let running jobs stand still on their machines",
    .usage = "[OPTIONS] ID...",
    .about =
        "All processes of the job stand still, by the kernel's freezer or by SIGSTOP, until `berth continue`. It keeps its machine: the claim goes on and is paid for, and its time limit "
        "runs on. The machine's owner still decides: a job that has to leave leaves, suspended or not, and one that the owner lets stand still goes on when both want it to. `berth jobs` shows it as "
        "Suspended. A job of several machines cannot be suspended.",
    .examples = {{"berth suspend 5", NULL}, {"berth continue 5", NULL}},
    .options = rest_options,
    .option_count = sizeof rest_options / sizeof *rest_options,
    .settings_size = sizeof(struct rest_settings),
    .defaults = &rest_defaults,
    .run = suspend_run,
};

const struct command command_continue = {
    .name = "continue",
    .summary = "let suspended jobs go on",
    .usage = "[OPTIONS] ID...",
    .about = "Jobs that `berth suspend` has let stand still go on where they were.",
    .examples = {{"berth continue 5", NULL}},
    .options = rest_options,
    .option_count = sizeof rest_options / sizeof *rest_options,
    .settings_size = sizeof(struct rest_settings),
    .defaults = &rest_defaults,
    .run = continue_run,
};
