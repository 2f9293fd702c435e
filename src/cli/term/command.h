/* command.h: a sub-command as data: how it is called, what it is for, and the function that does it.
 *
 * The rows are read by main.c (to call the command), help.c (berth help) and man.c (the manual pages), so all three agree. */
#ifndef BERTH_CLI_TERM_COMMAND_H
#define BERTH_CLI_TERM_COMMAND_H

#include "cli/term/options.h"

/* The exit status of the program. */
enum status {
    STATUS_DONE = 0,
    STATUS_NO = 1,          /* the answer is no */
    STATUS_BAD = 2,         /* bad usage or bad input */
    STATUS_UNREACHABLE = 3, /* the pool could not be reached */
};

struct example {
    const char *line;   /* as typed, after the prompt */
    const char *output; /* as printed; NULL to show none */
};

#define EXAMPLES_MAX 4

struct command {
    const char *name;
    const char *summary; /* a line, without a full stop */
    const char *usage;   /* what stands behind the name, one line for each way to call it */
    const char *about; /* paragraphs with an empty line between; a line that begins with four blanks is kept as it is */
    struct example examples[EXAMPLES_MAX]; /* up to the first without a line */

    const struct option *options;
    size_t option_count;
    bool leading;         /* they stand before its first word: what follows belongs to another program */
    size_t settings_size; /* of the structure that the options fill ... */
    const void *defaults; /* ... which starts as this */

    /* `settings` is that structure; `words` are the arguments that are not options. Returns an enum status. */
    int (*run)(const void *settings, int word_count, char **words);
};

extern const struct command command_eval;
extern const struct command command_convert;
extern const struct command command_fmt;
extern const struct command command_specialize;
extern const struct command command_lint;
extern const struct command command_refs;
extern const struct command command_query;
extern const struct command command_match;
extern const struct command command_gang;
extern const struct command command_grdl;
extern const struct command command_assign;
extern const struct command command_why;
extern const struct command command_sim;
extern const struct command command_bench;
extern const struct command command_submit;
extern const struct command command_condor;
extern const struct command command_cron;
extern const struct command command_run;
extern const struct command command_jobs;
extern const struct command command_job;
extern const struct command command_exec;
extern const struct command command_progress;
extern const struct command command_wait;
extern const struct command command_rm;
extern const struct command command_hold;
extern const struct command command_release;
extern const struct command command_vacate;
extern const struct command command_suspend;
extern const struct command command_continue;
extern const struct command command_edit;
extern const struct command command_prio;
extern const struct command command_logs;
extern const struct command command_history;
extern const struct command command_outputs;
extern const struct command command_pool;
extern const struct command command_join;
extern const struct command command_login;
extern const struct command command_matchmaker;
extern const struct command command_provider;
extern const struct command command_provide;
extern const struct command command_pilot;
extern const struct command command_customer;
extern const struct command command_status;
extern const struct command command_doctor;
extern const struct command command_page;
extern const struct command command_ads;
extern const struct command command_machines;
extern const struct command command_reserve;
extern const struct command command_reservations;
extern const struct command command_machine;
extern const struct command command_agents;
extern const struct command command_audit;
extern const struct command command_agent;
extern const struct command command_commands;
extern const struct command command_matches;
extern const struct command command_claims;
extern const struct command command_usage;
extern const struct command command_users;
extern const struct command command_dag;
extern const struct command command_files;
extern const struct command command_token;
extern const struct command command_config;
extern const struct command command_served;
extern const struct command command_store;
extern const struct command command_completion;
extern const struct command command_slurm;
extern const struct command command_help;

/* All commands, in the order in which help lists them. */
extern const struct command *const command_table[];
extern const size_t command_count;

const struct command *command_find(const char *name); /* or NULL */
int command_launcher(int word_count, char **words);   /* not in the table: agents start it */
int command_unpack(int word_count, char **words);     /* likewise */
int command_url_client(int word_count, char **words);
int command_user_writer(int word_count, char **words);
int command_user_runner(int word_count, char **words);
int command_user_log(int word_count, char **words);

#define BERTH_IN_A_LINE "Berth runs jobs on the machines you have."

/* Write the help of one command, or a list of commands, the first to know or all; man_* write a page for man(1). */
void help_command(struct buf *out, const struct command *command);
void help_overview(struct buf *out, bool all);
void help_roles(struct buf *out);
/* Appends where all of the words stand in the help, a line each; returns how many lines. */
unsigned help_search(struct buf *out, int word_count, char **words);
void man_command(struct buf *out, const struct command *command);
void man_overview(struct buf *out);

#endif
