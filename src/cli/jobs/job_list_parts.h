/* job_list_parts.h: what the files of berth jobs share.
 *
 *     job_list.c         the commands, and lists of single jobs
 *     job_submissions.c  the list with a row a submission
 *     job_watch.c        --watch: the list again and again */
#ifndef BERTH_CLI_JOBS_JOB_LIST_PARTS_H
#define BERTH_CLI_JOBS_JOB_LIST_PARTS_H

#include "cli/ask/jobs.h"

struct jobs_settings {
    struct connection_options pool;
    const char *constraint, *state, *format;
    uint64_t limit;
    bool json, long_form, watch, all, submissions, word;
    bool swf; /* history */
};

/* The lines that a list may take, when it is to fit a terminal. */
struct list_room {
    bool limited;
    size_t lines; /* that are left */
};

/* Jobs whose requests no matchmaker takes. */
struct refusals {
    uint64_t count;
    struct buf first; /* the number of the first of them, and the reason */
};

/* ---- job_list.c */

/* Takes lines of the room, of which `kept` are left for others, for a table of `count` rows and its heading: how many rows are to be shown; 0: all. */
unsigned room_take(struct list_room *room, uint64_t count, size_t kept);
/* Says how many rows of a table are not shown, where some are not. */
void room_tell(const struct rows *rows, const char *what);

/* Prints jobs of a list, `from` (with its query) that the settings select; or those with these numbers, if there are any. */
int list_print(struct connection *customer, const struct jobs_settings *settings, const char *from, struct job_ids *ids,
               enum rows_form form, struct list_room *room, struct refusals *refusals, unsigned *ret_count);

/* Prints the jobs once, and a line that counts them all. */
int jobs_print(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids,
               enum rows_form form, struct list_room *room, struct tree *summary);

/* ---- job_submissions.c */

/* Prints all submissions, and nothing else. */
int submissions_list(struct connection *customer, const struct jobs_settings *settings, enum rows_form form);

/* Prints a row a submission, and of those with one job the row of that job; then how far workflows are. STATUS_NO: the customer is of a version that
 * does not know submissions, and nothing was printed. */
int submissions_print(struct connection *customer, const struct jobs_settings *settings, struct list_room *room,
                      struct refusals *refusals);

/* ---- job_watch.c */

int jobs_watch(struct connection *customer, const struct jobs_settings *settings, struct job_ids *ids);

#endif
