/* job_command.c: commands to a job that runs, wherever it is: they wait until its provider has heard them. */
#include "cli/jobs/job_command.h"

#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "sys/encoding.h"
#include "sys/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLLOW_PAUSE 1 /* seconds between two looks */

bool job_command_good(const struct job_command_settings *settings, int word_count, char **words)
{
    bool peek = word_count == 2 && !strcmp(words[0], "peek"), signal = word_count == 2 && !strcmp(words[0], "signal");

    if (!peek && !signal)
        report("expected `peek FILE` or `signal N` after the job's number, got '%.60s'", word_count ? words[0] : "");
    else if (signal && !signal_find(words[1]))
        report("the signal '%.60s' cannot be sent to jobs: expected one of " SIGNAL_WORDS, words[1]);
    else if (signal && (settings->bytes || settings->lines || settings->follow))
        report("--bytes, --lines and --follow are for peek");
    else if (settings->bytes && settings->lines)
        report("--bytes and --lines cannot be used together");
    else if (settings->json && settings->follow)
        report("--json and --follow cannot be used together");
    else
        return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------ giving */

static int command_give(struct connection *customer, const struct job_command_settings *settings, uint64_t job,
                        char **words, int64_t offset, struct tree **ret)
{
    struct tree *body;
    struct maker maker;
    struct buf path;
    int status;

    maker_init(&maker, customer->symbols);
    maker_text(&maker, "Command", words[0]);
    if (!strcmp(words[0], "peek"))
        maker_text(&maker, "File", words[1]);
    else
        maker_integer(&maker, "Signal", signal_find(words[1]));
    if (settings->bytes && offset < 0)
        maker_integer(&maker, "Bytes", (int64_t)settings->bytes);
    if (settings->lines && offset < 0)
        maker_integer(&maker, "Lines", (int64_t)settings->lines);
    if (offset >= 0)
        maker_integer(&maker, "Offset", offset);
    if (settings->life)
        maker_integer(&maker, "Lifetime", settings->life);
    body = maker_seal(&maker);
    buf_init(&path);
    job_path(&path, job, "/commands");
    status = awaited_give(customer, buf_string(&path), body, settings->wait, ret);
    buf_done(&path);
    tree_unref(body);
    return status;
}

static void waits_tell(const struct tree *command, uint64_t job)
{
    const char *name = "its machine";
    char copy[80];
    size_t len;

    if (ad_string(command, "Name", &name, &len) && len) {
        snprintf(copy, sizeof copy, "%.*s", (int)len, name);
        name = copy;
    }
    report("job %" PRIu64 ": %s has not answered: command %" PRIu64
           " %s; `berth commands --jobs` shows what becomes of it",
           job, name, awaited_number(command), awaited_fate(command));
}

/* Reports which files there are. */
static void files_tell(const struct tree *answer)
{
    const struct expr *list = ad_find(answer, "Files");
    struct buf names;

    buf_init(&names);
    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        const struct expr *name = &tree_parts(answer, list)[i];

        if (name->kind != EXPR_STRING)
            continue;
        buf_adds(&names, names.len ? ", " : "");
        buf_add(&names, tree_string(answer, name), name->u.run.count);
    }
    text_tame(&names, 0);
    if (names.len)
        report("there are %s", buf_string(&names));
    buf_done(&names);
}

/* The answer, if it is good, which the caller unrefs; else NULL. `*ret_status` is the status to end with. */
static struct tree *answer_take(const struct job_command_settings *settings, struct tree *command, uint64_t job,
                                int *ret_status)
{
    struct tree *answer = awaited_answer(command);
    char about[40];

    *ret_status = STATUS_NO;
    snprintf(about, sizeof about, "job %" PRIu64, job);
    if (!answer && settings->wait) {
        waits_tell(command, job);
    } else if (!answer) {
        printf("command %" PRIu64 " is given\n", awaited_number(command));
        *ret_status = STATUS_DONE;
    } else if (awaited_is_good(answer, about)) {
        *ret_status = STATUS_DONE;
        return answer;
    } else {
        files_tell(answer);
    }
    tree_unref(answer);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- peeking */

/* Writes the bytes of the answer as they are; `*ret_next` is where the next look goes on. */
static int bytes_write(const struct tree *answer, int64_t *ret_next)
{
    const char *text;
    struct buf bytes;
    int64_t from = 0;
    size_t len;

    buf_init(&bytes);
    if (!ad_string(answer, "Data", &text, &len) || !base64url_read(&bytes, text, len)) {
        report("the answer cannot be read");
        buf_done(&bytes);
        return STATUS_NO;
    }
    ad_integer(answer, "From", &from);
    *ret_next = from + (int64_t)bytes.len;
    output_write(&bytes);
    fflush(stdout);
    buf_done(&bytes);
    return STATUS_DONE;
}

static int peek_once(struct connection *customer, const struct job_command_settings *settings, uint64_t job,
                     char **words, int64_t *offset)
{
    struct tree *command = NULL, *answer;
    int status = command_give(customer, settings, job, words, *offset, &command);

    if (status != STATUS_DONE)
        return status;
    answer = answer_take(settings, command, job, &status);
    if (answer)
        status = bytes_write(answer, offset);
    tree_unref(answer);
    tree_unref(command);
    return status;
}

/* Prints the file as it grows, until the job does not run any more. */
static int peek_follow(struct connection *customer, const struct job_command_settings *settings, uint64_t job,
                       char **words)
{
    int64_t offset = -1;
    int status = peek_once(customer, settings, job, words, &offset);

    while (status == STATUS_DONE) {
        struct tree *ad = NULL;
        bool over;

        sleep(FOLLOW_PAUSE);
        status = job_fetch(customer, job, &ad);
        over = status == STATUS_DONE && !job_text_is(ad, "State", "Running");
        tree_unref(ad);
        if (over)
            break;
        if (status == STATUS_DONE)
            status = peek_once(customer, settings, job, words, &offset);
    }
    return status;
}

static int json_run(struct connection *customer, const struct job_command_settings *settings, uint64_t job,
                    char **words)
{
    struct tree *command = NULL, *answer = NULL;
    struct rows rows;
    int status = command_give(customer, settings, job, words, -1, &command);

    if (status != STATUS_DONE)
        return status;
    rows_init(&rows, ROWS_JSON, NULL, 0);
    rows_add(&rows, command);
    rows_finish(&rows);
    rows_done(&rows);
    answer = awaited_answer(command);
    status = (answer && job_text_is(answer, "Reason", "ok")) || (!answer && !settings->wait) ? STATUS_DONE : STATUS_NO;
    tree_unref(answer);
    tree_unref(command);
    return status;
}

int job_command_run(struct connection *customer, const struct job_command_settings *settings, uint64_t job,
                    int word_count, char **words)
{
    struct tree *command = NULL, *answer;
    int64_t offset = -1;
    int status;

    (void)word_count;
    if (settings->json)
        return json_run(customer, settings, job, words);
    if (!strcmp(words[0], "peek"))
        return settings->follow ? peek_follow(customer, settings, job, words)
                                : peek_once(customer, settings, job, words, &offset);
    status = command_give(customer, settings, job, words, -1, &command);
    if (status != STATUS_DONE)
        return status;
    answer = answer_take(settings, command, job, &status);
    if (answer)
        printf("signal %s was sent to job %" PRIu64 "\n", signal_name(signal_find(words[1])), job);
    tree_unref(answer);
    tree_unref(command);
    return status;
}
