/* summary.c: how many jobs are in which state. */
#include "cli/ask/summary.h"

#include "cli/ask/jobs.h"
#include "cli/term/file.h"
#include "lang/ad/get.h"

#include <stdio.h>

static const struct {
    const char *attribute, *words;
} summary_words[] = {
    {"Waiting", "waiting"},   {"Ready", "being claimed"}, {"Scheduled", "starting"}, {"Running", "running"},
    {"Held", "held"},         {"Done", "succeeded"},      {"Failed", "failed"},      {"Aborted", "expired"},
    {"Cancelled", "removed"}, {"Blocked", "blocked"},
};

double summary_number(const struct tree *summary, const char *name)
{
    double number;

    return job_number(summary, name, &number) && number > 0 ? number : 0;
}

/* Prints a line such as "20 jobs: 12 waiting, 8 running". */
void summary_print(const struct tree *summary)
{
    const char *before = ": ", *warning;
    struct buf out;
    size_t len;

    buf_init(&out);
    jobs_count_print(&out, (uint64_t)summary_number(summary, "Total"));
    for (size_t i = 0; i < sizeof summary_words / sizeof *summary_words; i++) {
        double number = summary_number(summary, summary_words[i].attribute);

        if (number > 0) {
            buf_addf(&out, "%s%.0f %s", before, number, summary_words[i].words);
            before = ", ";
        }
    }
    buf_addc(&out, '\n');
    if (ad_string(summary, "Warning", &warning, &len))
        buf_addf(&out, "Warning: %.*s\n", (int)len, warning);
    output_write(&out);
    buf_done(&out);
}

bool summary_is_over(const struct tree *summary)
{
    for (size_t i = 0; i < 4; i++) /* jobs in the states before Held still move */
        if (summary_number(summary, summary_words[i].attribute) > 0)
            return false;
    return summary_number(summary, "Blocked") <= summary_number(summary, "Stuck");
}

int summary_fetch(struct connection *customer, const char *ids, double after, int wait, struct tree **ret)
{
    char number[32];
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/summary");
    path_query(&path, "ids", ids);
    if (wait) {
        snprintf(number, sizeof number, "%.0f", after);
        path_query(&path, "after", number);
        snprintf(number, sizeof number, "%d", wait);
        path_query(&path, "wait", number);
    }
    status = connection_fetch_ad(customer, &(struct connection_ask){.path = buf_string(&path)}, ret);
    buf_done(&path);
    return status;
}
