/* parts.h: what the files of the room share. Private. */
#ifndef BERTH_CLI_CONDOR_PARTS_H
#define BERTH_CLI_CONDOR_PARTS_H

#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "lang/ad/make.h"

/* ---- words.c: options as HTCondor writes them: -long, -l, --long; a unique beginning is enough ---- */
struct condor_option {
    const char *name;
    unsigned least; /* letters that are enough */
    bool takes;     /* a word follows */
};

struct condor_words {
    const char *command; /* "condor_q" */
    int count, at;
    char **words;
    const char *behind; /* of -af:jh the "jh"; else NULL */
    const char *value;  /* of an option that takes one */
};

/* The next word: the number of the option, or -1: `value` is a word that is none; -2: there is no more; -3: it is wrong, which has been reported. */
int words_next(struct condor_words *words, const struct condor_option *options, int option_count);

/* ---- job_ad.c ---- */
/* The job's ad as HTCondor would have it, in its dialect: ClusterId, ProcId, JobStatus, ... The caller unrefs it. */
struct tree *condor_job(struct tree *job);
enum { JOB_IDLE = 1, JOB_RUNNING, JOB_REMOVED, JOB_COMPLETED, JOB_HELD, JOB_TRANSFERS, JOB_SUSPENDED };
int condor_job_status(const struct tree *job);                   /* of a job as we have it */
int64_t condor_integer(const struct tree *ad, const char *name); /* 0: it is not there */

/* ---- slot_ad.c ---- */
/* The ad of a machine as HTCondor would have it: one slot, partitionable, with what is free of it. The caller unrefs it. */
struct tree *slot_ad(const struct tree *machine, const char *state, bool busy);
/* Adds the name of that machine's slot: slot1@heron. */
void slot_name_add(struct maker *maker, const char *attribute, const char *machine, size_t len);

/* ---- choice.c: which jobs are meant: 5, 5.2, USER, -constraint EXPR ---- */
struct condor_choice {
    struct condor_id {
        int64_t cluster, proc; /* proc -1: all of the cluster */
    } * ids;
    const char **owners; /* lent */
    uint32_t id_count, id_room, owner_count, owner_room;
    struct tree *constraint; /* or NULL */
    struct symbols *symbols;
};

void choice_init(struct condor_choice *choice, struct symbols *symbols);
void choice_done(struct condor_choice *choice);
/* Adds a word, 5 or 5.2 or a user. */
void choice_add(struct condor_choice *choice, const char *word); /* which is lent */
/* Sets the constraint; -1: it does not parse, or there is one, which has been reported. */
int choice_constrain(struct condor_choice *choice, const char *text);
bool choice_is_empty(const struct condor_choice *choice);
bool choice_has(struct condor_choice *choice, const struct tree *ad); /* an ad of condor_job, or of a machine */

/* ---- print.c ---- */
enum condor_form { PRINT_TABLE, PRINT_LONG, PRINT_JSON, PRINT_XML, PRINT_FIELDS, PRINT_FORMATS };

struct condor_print {
    enum condor_form form;
    struct symbols *symbols;
    const char *fields[64];  /* expressions of -af and -format */
    const char *formats[64]; /* of -format: "%d\n" */
    struct buf only;         /* the names of -attributes, with commas between */
    struct tree *trees[64];
    size_t field_count;
    bool with_id, labels, headings, quoted, raw, blank_line;
    char between, behind;
    uint64_t count;
    struct buf out;
};

void print_init(struct condor_print *print, struct symbols *symbols);
void print_done(struct condor_print *print);
/* Takes an option that says how ads are printed: -long, -json, -xml, -autoformat. 1: it was one; 0: it is another; -1: something is wrong with it, which
 * has been reported. */
int print_option(struct condor_print *print, struct condor_words *words, const char *name);
void print_ad_of(struct condor_print *print, struct tree *ad);
void print_end(struct condor_print *print); /* what stands behind the last ad */

/* ---- more.c ---- */
/* Says why the one job that is meant does not run: becomes `berth why`. */
int job_explain(const char *command, const struct condor_choice *choice);

/* ---- config.c ---- */
#define CONDOR_NUMBER "23.0.0"
/* Does -name or -pool mean this host? If not, that has been reported. */
bool condor_is_here(const char *command, const char *name);

/* ---- each a command ---- */
int condor_queue(struct condor_words *words);   /* condor_q */
int condor_history(struct condor_words *words); /* condor_history */
int condor_status(struct condor_words *words);
int condor_change(struct condor_words *words); /* condor_rm, condor_hold, condor_release */
int condor_submit(struct condor_words *words);
int condor_submit_dag(struct condor_words *words);
int condor_wait(struct condor_words *words);
int condor_qedit(struct condor_words *words);
int condor_prio(struct condor_words *words);
int condor_tail(struct condor_words *words);
int condor_ssh_to_job(struct condor_words *words);
int condor_drain(struct condor_words *words);
int condor_userprio(struct condor_words *words);
int condor_config_val(struct condor_words *words);

#endif
