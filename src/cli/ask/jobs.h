/* jobs.h: jobs as the command line names and shows them: their numbers, and the row that each is in a table.
 *
 *     5   5-20   5,7,9-12      in one word or several -> "5,7,9-12", as the customer reads it */
#ifndef BERTH_CLI_ASK_JOBS_H
#define BERTH_CLI_ASK_JOBS_H

#include "cli/ask/connection.h"
#include "cli/term/rows.h"
#include "lang/ad/make.h"
#include "lang/ad/value.h"
#include "lang/base/arena.h"

#define JOBS_WAIT 20         /* seconds that the customer is asked to wait for news, at most */
#define JOBS_RANGES_MAX 1000 /* numbers and ranges at once */
#define JOBS_QUERY_MAX 1500  /* bytes of the text of all numbers, in an address */

struct job_range {
    uint64_t first, last;
};

struct job_ids {
    struct job_range *ranges;
    size_t count;
    struct buf text; /* "5,7,9-12" */
};

/* Reads the numbers of jobs; without words there are none. -1 when a word is wrong, which has been reported; job_ids_done is still to be called. */
int job_ids_read(struct job_ids *ids, int word_count, char **words);
void job_ids_done(struct job_ids *ids);
uint64_t job_ids_count(const struct job_ids *ids); /* how many jobs they name */

/* Do the numbers fit into an address? -1 when not, which has been reported. */
int job_ids_fit(const struct job_ids *ids);

/* Gives those of the jobs that the customer has, in its queue or its history, in the order of their numbers. */
int job_ids_list(struct connection *customer, struct job_ids *ids, const char *select, connection_ad_fn *each,
                 void *user);

/* Reads the number of one job; -1 when there is not exactly one, which has been reported. */
int job_id_read(const char *command, int word_count, char **words, uint64_t *ret);

/* Is the word the number of a job? */
bool job_id_is(const char *word);

/* Appends "/v1/jobs/17" and what comes behind. */
void job_path(struct buf *out, uint64_t id, const char *behind);

/* Fetches the ad of a job, also from the history; the caller unrefs it. */
int job_fetch(struct connection *customer, uint64_t id, struct tree **ret);

/* Is the job over, whatever the outcome? Did it end well? */
bool job_is_over(const struct tree *job);
bool job_is_good(const struct tree *job);
/* Appends "2 files are missing: a: WHY; b: WHY" for a job that did not bring all its files; false: none is missing. */
bool job_misses(const struct tree *job, struct buf *out);

/* Appends how the job stands, as people read it: how it ended, "Failed (exit 3)", if it is over, else its state. */
void job_standing_print(struct buf *out, const struct tree *job);
/* Adds that to a row of a table as State, with what became of its files: "Succeeded, 2 of 3 files stored"; and Good, if the end was good or bad. */
void job_standing_add(struct maker *maker, const struct tree *job);

/* Appends what the job runs: Cmd and Args in a line. */
void job_command(struct buf *out, const struct tree *job, struct arena *arena);

/* The columns of tables of jobs, and the attributes that the customer is asked for. */
extern const struct table_column job_columns[];
size_t job_column_count(enum rows_form form);
#define OUTCOME_SELECT \
    "Job,State,Status,Reason,Outcome,MemoryUsed,MemoryGiven,RequestMemory,DiskUsed,DiskGiven,RequestDisk"
#define JOB_SELECT                                                                                           \
    OUTCOME_SELECT ",Submitted,Started,Ended,Since,WallUsed,Provider,Cmd,Args,Message,"                      \
                   "Workflow,Dag,FilesToStore,FilesStored,FilesNotMade,FilesLost,Stored,Suspended,Progress," \
                   "WaitsUntil,PlannedStart,PlannedMachine"

/* Makes the ad of a row from the ad of a job: [ Job; State; Submitted; RunTime; Status; Provider; Command ], and what became of its files. In a table
 * the State is what people read, and Good says whether the end was good or bad; in JSON there is an Outcome. The caller unrefs it. */
struct tree *job_row(const struct tree *job, enum rows_form form, int64_t now);

/* Appends "waits until 20:00" for a job whose NotBefore has not come; false: it waits for none. */
bool job_waits_say(struct buf *out, const struct tree *job, int64_t now);

/* Appends "planned for about 14:20 on heron" for a job that waits for room, and has a planned start; false: it has none. */
bool job_plan_say(struct buf *out, const struct tree *job, int64_t now);

/* Adds a job to a table; a connection_ad_fn whose user is a struct rows. It adds job_row where the rows have columns, and the ad itself where not. */
bool job_rows_add(void *user, struct tree *job);

/* The value of an attribute, which lives in the arena, and only as long as the ad. */
struct value job_value(const struct tree *job, const char *name, struct arena *arena);

/* The value of an attribute that is a number, whatever expression it is written as; false when it is not a number. */
bool job_number(const struct tree *job, const char *name, double *ret);

/* Is the attribute exactly that text? */
bool job_text_is(const struct tree *job, const char *name, const char *text);

/* Appends "1 job", "17 jobs". */
void jobs_count_print(struct buf *out, uint64_t count);

#endif
