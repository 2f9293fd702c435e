/* job_watch.c: berth jobs --watch: the list again and again, as much of it as the terminal has room for, until all jobs are over. */
#include "cli/ask/summary.h"
#include "cli/jobs/job_list_parts.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/terminal.h"
#include "lang/ad/get.h"

#include <inttypes.h>
#include <unistd.h>

#define LINES_BELOW 3 /* the line that counts the jobs, one for a warning, and that of the cursor */

/* Prints the list once. */
static int picture_print(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids,
                         struct tree *summary, bool first)
{
    size_t columns, lines;
    bool clears = terminal_size(STDOUT_FILENO, &columns, &lines);
    struct list_room room = {.limited = clears && lines > LINES_BELOW + 3, .lines = lines - LINES_BELOW};
    struct buf out;

    buf_init(&out);
    buf_adds(&out, clears ? "\033[H\033[2J" : first ? "" : "\n");
    output_write(&out);
    buf_done(&out);
    return jobs_print(customer, settings, ids, ROWS_TABLE, &room, summary);
}

/* Adds the numbers of the jobs of a submission; a connection_ad_fn whose user is a buffer. */
static bool numbers_add(void *user, struct tree *ad)
{
    struct buf *numbers = user;
    int64_t first, last;

    if (ad_integer(ad, "Submission", &first) && ad_integer(ad, "Last", &last))
        buf_addf(numbers, "%s%" PRId64 "-%" PRId64, numbers->len ? "," : "", first, last);
    return numbers->len <= JOBS_QUERY_MAX;
}

/* Counts all jobs that were there when the watching began: those that are over have left the queue, and nobody would be told how they ended. */
static void last_summary(struct connection *customer, struct buf *numbers, struct tree **summary)
{
    struct tree *all = NULL;

    if (!numbers->len || numbers->len > JOBS_QUERY_MAX ||
        summary_fetch(customer, buf_string(numbers), 0, 0, &all) != STATUS_DONE)
        return;
    tree_unref(*summary);
    *summary = all;
}

static int pictures_print(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids,
                          struct buf *there)
{
    const char *numbers = ids ? buf_string(&ids->text) : NULL;
    int status = STATUS_DONE;
    bool over = false;
    double after = 0;

    for (bool first = true; status == STATUS_DONE && !over; first = false) {
        struct tree *summary = NULL;
        double before = after;

        status = summary_fetch(customer, numbers, after, first ? 0 : JOBS_WAIT, &summary);
        if (status == STATUS_DONE) {
            after = summary_number(summary, "Changes");
            over = summary_is_over(summary);
        }
        if (status == STATUS_DONE && over)
            last_summary(customer, there, &summary);
        if (status == STATUS_DONE && (first || after != before)) {
            status = picture_print(customer, settings, ids, summary, first);
            if (output_flush() < 0)
                over = true;
        }
        tree_unref(summary);
        if (status == STATUS_DONE && !over)
            usleep(200000); /* when much changes, not all of it is shown */
    }
    return status;
}

int jobs_watch(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids)
{
    struct buf there;
    int status = STATUS_DONE;

    buf_init(&there);
    if (!ids)
        status = connection_list_if(customer, "/v1/submissions", numbers_add, &there);
    if (status == STATUS_DONE || status == STATUS_NO)
        status = pictures_print(customer, settings, ids, &there);
    buf_done(&there);
    return status;
}
