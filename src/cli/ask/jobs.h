/* jobs.h: jobs as the command line names and shows them: their numbers, and the row that each is in a table.
 *
 *     5   5-20   5,7,9-12      in one word or several -> "5,7,9-12", as the customer is asked */
#ifndef BERTH_CLI_ASK_JOBS_H
#define BERTH_CLI_ASK_JOBS_H

#include "cli/ask/connection.h"
#include "cli/term/rows.h"
#include "lang/ad/value.h"
#include "lang/base/arena.h"

#define JOBS_WAIT 20         /* seconds that the customer is asked to wait for news, at most */
#define JOBS_RANGES_MAX 1000 /* numbers and ranges at once */
#define JOBS_QUERY_MAX 1500  /* bytes of their text where they stand in an address */

struct job_range {
    uint64_t first, last;
};

struct job_ids {
    struct job_range *ranges;
    size_t count;
    struct buf text; /* "5,7,9-12" */
};

/* What went wrong has been reported: -1. job_ids_done takes those as well. Without words there are none. */
int job_ids_read(struct job_ids *ids, int word_count, char **words);
void job_ids_done(struct job_ids *ids);
uint64_t job_ids_count(const struct job_ids *ids); /* of jobs */

/* Do they fit into an address? Reported when not: -1. */
int job_ids_fit(const struct job_ids *ids);

/* Those of them that the customer has, in its queue or its history, in the order of their numbers. */
int job_ids_list(struct connection *customer, struct job_ids *ids, const char *select, connection_ad_fn *each,
                 void *user);

/* One number alone; -1, and that has been reported, when it is none. */
int job_id_read(const char *command, int word_count, char **words, uint64_t *ret);

/* Is the word the number of a job? */
bool job_id_is(const char *word);

/* "/v1/jobs/17" and what comes behind. */
void job_path(struct buf *out, uint64_t id, const char *behind);

/* The ad of a job, also of one that is history; the caller unrefs it. */
int job_fetch(struct connection *customer, uint64_t id, struct tree **ret);

/* Is the job over, whatever the outcome? Did it end well? */
bool job_is_over(const struct tree *job);
bool job_is_good(const struct tree *job);
/* "2 files are missing: a: WHY; b: WHY", of one that did not bring all; false: nothing is. */
bool job_misses(const struct tree *job, struct buf *out);

/* What it runs: Cmd and Args in a line. */
void job_command(struct buf *out, const struct tree *job, struct arena *arena);

/* The columns of tables of jobs, and what the customer is asked for. */
extern const struct table_column job_columns[];
size_t job_column_count(enum rows_form form);
#define JOB_SELECT                                                                              \
    "Job,State,Submitted,Started,Ended,Since,WallUsed,Provider,Cmd,Args,Status,Reason,Message," \
    "Workflow,Dag,FilesToStore,FilesStored,FilesNotMade,FilesLost,Stored"

/* The ad of a job as the ad of a row: [ Job; State; Submitted; RunTime; Provider; Command ], and what became of its files. The caller unrefs it. */
struct tree *job_row(const struct tree *job, enum rows_form form, int64_t now);

/* A connection_ad_fn whose user is a struct rows: of job_row where it has columns, of the ad itself where not. */
bool job_rows_add(void *user, struct tree *job);

/* The value of an attribute; it lives in the arena, and as long as the ad. */
struct value job_value(const struct tree *job, const char *name, struct arena *arena);

/* The value of an attribute that is a number, whatever expression it is written as; false when it is none. */
bool job_number(const struct tree *job, const char *name, double *ret);

/* Is the attribute that very text? */
bool job_text_is(const struct tree *job, const char *name, const char *text);

struct jobs_order {
    const char *verb;             /* "hold", "release", "remove", "rescue" */
    const char *ids, *constraint; /* one of them is NULL */
    const char *why;              /* or NULL */
};

struct jobs_changed {
    uint64_t changed, unchanged, missing;
    uint64_t storing; /* of the unchanged: they have ended, and their files go to stores */
};

/* However many they are: the customer is asked again for the rest until there is none. What had changed before something went wrong is reported. */
int jobs_control(struct connection *customer, const struct jobs_order *order, struct jobs_changed *ret);

/* "1 job", "17 jobs". */
void jobs_count_print(struct buf *out, uint64_t count);

#endif
