/* submit_job.h: the ad of a job that a submit file makes, key by key. For submit*.c only.
 *
 *     submit_rows.c    the keys, a row each
 *     submit_values.c  translates texts, flags and amounts; refuses keys, or passes over them
 *     submit_credentials.c  translates proxies and tokens
 *     submit_cron.c    translates times of a crontab
 *     submit_environment.c  translates environments
 *     submit_files.c   translates programs, arguments and files
 *     submit_keys.c    puts the ad together */
#ifndef BERTH_LANG_FORM_SUBMIT_JOB_H
#define BERTH_LANG_FORM_SUBMIT_JOB_H

#include "lang/form/submit_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SUBMIT_CRON_FIELDS 5

/* The ad that is being made. */
struct submit_job {
    struct submit_reader *reader;
    struct submit_macro *macro; /* of the current key */
    struct buf out;             /* its attributes */
    struct buf iwd;             /* the job's folder as the file gives it; empty: the folder of submission */
    struct buf when;            /* when_to_transfer_output */
    struct buf remaps;          /* transfer_output_remaps, expanded, without its quotes */
    struct buf to;              /* the elements of OutputTo: where outputs go that do not go by their own names */
    struct buf credentials;     /* the elements of SecretsFrom */
    struct buf variables;       /* NAME=VALUE for these, each with a NUL behind it */
    struct buf urls;            /* the elements of OutputUrls */
    struct buf destination;     /* output_destination */
    struct buf gpus;            /* what each GPU must be: clauses of RequireGpus */
    struct buf extra;           /* clauses of the constraint for resources with names of their own */
    bool whole_executable, keeps_paths;
    bool needs_put_client;           /* for a URL among them: that has been remarked on */
    bool parallel;                   /* of that universe: it may have several machines */
    struct submit_mentions mentions; /* attributes that its requirements mention */
    bool in_requirements;
    bool broken;                         /* what stands in a $$([...]) cannot be read: the error says why */
    bool at_end;                         /* the expression is evaluated when a try has ended */
    bool later;                          /* or by the customer, now and then */
    struct buf cron[SUBMIT_CRON_FIELDS]; /* minute, hour, day, month, day of the week of a crontab; empty: any */
    struct submit_macro *cron_macro;     /* that gave one of them; NULL: none was given */
    bool repeats;                        /* it comes each time */
    struct err *err;
};

struct submit_key;
typedef int key_fn(struct submit_job *job, const struct submit_key *key, const char *text, size_t len);

enum submit_when { FIXED, COMPUTED }; /* may the value differ from job to job within an ad? */

struct submit_key {
    const char *name, *also; /* other names of the same key, with blanks between; or NULL */
    const char *attribute;   /* its attribute here, or NULL */
    const char *words;       /* what becomes of it: of a remark, of a refusal, or for the page alone */
    key_fn *write;
    enum submit_when when;
    int64_t unit;
};

/* ---- submit_values.c */

/* An error, and a remark, that name the current key. */
int submit_job_fail(const struct submit_job *job, const char *words);
void submit_job_remark(const struct submit_job *job, const char *words);
/* Does the job stay with its files, as `should_transfer_files = NO` says? */
bool submit_job_shares(const struct submit_job *job);

/* Print a text as an expression: a literal, or one that each job computes; the second prints it as the value of an attribute. */
void submit_text_print(const struct submit_job *job, const char *text, size_t len, struct buf *out);
void submit_attribute_print(struct submit_job *job, const char *name, const char *text, size_t len);
void submit_quotes_strip(const char **text, size_t *len);
bool submit_is_true(const char *text, size_t len);
bool submit_is_false(const char *text, size_t len);

/* Prints an expression of the current key, translated into ours. */
int submit_expr_print(struct submit_job *job, enum submit_side side, const char *text, size_t len, struct buf *out);

/* ---- submit_files.c */

/* Gives an error of a reader of words the key and its place. */
int submit_words_result(struct submit_job *job, int result, const struct err *why);
/* Is the key called arguments2 or environment2: in the new syntax, with or without double quotes around it? */
bool submit_is_new(const struct submit_macro *macro);

/* ---- submit_environment.c */

/* The environment comes from two keys, `getenv` and `environment`; either may be NULL. */
int submit_environment_print(struct submit_job *job, struct submit_macro *taken, const char *names, size_t names_len,
                             struct submit_macro *given, const char *text, size_t len);

/* ---- submit_cron.c */

int submit_cron_write(struct submit_job *job);

/* ---- submit_rows.c */

extern const struct submit_key submit_keys[];
extern const size_t submit_key_count;

/* The key of that name, one of several perhaps; or NULL. */
const struct submit_key *submit_key_find(const char *name, size_t len);
/* The macro that gives a key its value, by any of its names; or NULL. */
struct submit_macro *submit_key_macro(const struct submit_reader *reader, const struct submit_key *key);
bool submit_key_is_known(const char *name);
/* Does a key make an attribute of that name? With `+` the attribute would be there twice, or in another unit. */
bool submit_is_made(const char *name, size_t len);

/* The functions that rows use for the value of a key. */
key_fn submit_key_refused, submit_key_passed, submit_key_quiet, submit_key_notification, submit_key_universe,
    submit_key_machines, submit_key_transfer, submit_key_when, submit_key_text, submit_key_executable, submit_key_image,
    submit_key_docker, submit_key_arguments, submit_key_inputs, submit_key_input, submit_key_outputs, submit_key_stream,
    submit_key_iwd, submit_key_size, submit_key_expr, submit_key_gpu, submit_key_rank, submit_key_whole,
    submit_key_signal, submit_key_flag, submit_key_policy, submit_key_remaps, submit_key_until, submit_key_log,
    submit_key_later, submit_key_owner, submit_key_window, submit_key_cron, submit_key_cron_window, submit_key_leaves,
    submit_key_checkpoint, submit_key_proxy, submit_key_scitoken, submit_key_oauth;

#ifdef __cplusplus
}
#endif
#endif
