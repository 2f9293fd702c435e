/* run_tty.c: berth run --tty: the job holds its place on the machine, and the command runs in its sandbox with a terminal (shell.h).
 *
 *     the job        sh: waits for the command's status in a FIFO of its folder, and ends with that
 *     the command    sh: runs what was asked for, and writes its status there; when it is hung up, too
 *
 * Should nobody come, the job ends after HOLDER_SPAN. */
#include "cli/ask/summary.h"
#include "cli/jobs/run_parts.h"
#include "cli/jobs/shell.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOLDER_SPAN "900" /* seconds */
#define END_SPAN 10       /* seconds that a job may take to end after its command */
#define HOLDER                                                              \
    "mkfifo .berth-tty && { (sleep " HOLDER_SPAN                            \
    "; [ -e .berth-tty-on ] || echo 1 >.berth-tty) >/dev/null 2>&1 & } && " \
    "read status <.berth-tty; rm -f .berth-tty .berth-tty-on; exit \"${status:-1}\""
#define INNER                                                                                                        \
    ": >.berth-tty-on; trap : INT QUIT; trap 'echo 129 >.berth-tty; exit 129' HUP; \"$@\"; status=$?; echo $status " \
    ">.berth-tty; exit $status"

static char *const holder[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)HOLDER, NULL};

char *const *run_tty_words(int *ret_count)
{
    *ret_count = (int)(sizeof holder / sizeof *holder) - 1;
    return holder;
}

/* Waits until the job runs. STATUS_NO: it is over, or held, or we were interrupted. */
static int run_tty_wait(struct connection *customer, const struct run_settings *settings, uint64_t id)
{
    struct buf last;
    double after = 0;
    char number[24];
    int status = STATUS_DONE;
    bool runs = false;

    snprintf(number, sizeof number, "%" PRIu64, id);
    buf_init(&last);
    for (bool first = true; !runs && status == STATUS_DONE; first = false) {
        struct tree *summary = NULL, *job = NULL;

        status = summary_fetch(customer, number, after, first ? 0 : 1, &summary);
        if (status == STATUS_DONE) {
            after = summary_number(summary, "Changes");
            status = job_fetch(customer, id, &job);
        }
        tree_unref(summary);
        if (status != STATUS_DONE)
            break;
        run_state_tell(settings, id, job, &last);
        runs = job_text_is(job, "State", "Running");
        if (run_is_interrupted() || job_is_over(job) || job_text_is(job, "State", "Held"))
            status = STATUS_NO;
        tree_unref(job);
    }
    buf_done(&last);
    return status;
}

/* Is the job over within that time? */
static bool job_ends(struct connection *customer, uint64_t id)
{
    for (int i = 0; i < END_SPAN * 5; i++) {
        struct tree *job = NULL;
        bool over = job_fetch(customer, id, &job) != STATUS_DONE || job_is_over(job);

        tree_unref(job);
        if (over)
            return true;
        usleep(200000);
    }
    return false;
}

int run_tty_follow(struct connection *customer, const struct run_settings *settings, uint64_t id, int word_count,
                   char **words, bool *ret_left)
{
    struct shell_settings shell = {.terminal = true};
    char **inner = mem_alloc(((size_t)word_count + 4) * sizeof *inner);
    uint64_t number = 0;
    int status = run_tty_wait(customer, settings, id);

    inner[0] = inner[3] = (char *)(uintptr_t) "sh";
    inner[1] = (char *)(uintptr_t) "-c";
    inner[2] = (char *)(uintptr_t)INNER;
    memcpy(inner + 4, words, (size_t)word_count * sizeof *inner);
    if (status == STATUS_DONE)
        status = shell_begin(customer, &shell, id, word_count + 4, inner, &number);
    free(inner);
    if (status != STATUS_DONE) {
        run_job_remove(customer, id, "its command was not begun");
        return status;
    }
    status = shell_follow(customer, &shell, id, number);
    *ret_left = status == SHELL_STATUS_LEFT;
    if (!*ret_left && !job_ends(customer, id))
        run_job_remove(customer, id, "its command has ended");
    return status;
}
