/* more.c: condor_tail, condor_ssh_to_job, condor_drain, condor_suspend and condor_continue: this program, started once more by another command. */
#include "cli/condor/parts.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_WORDS 256

struct line {
    const char *words[LINE_MAX_WORDS + 1];
    int count;
};

static void line_add(struct line *line, const char *word)
{
    if (line->count < LINE_MAX_WORDS)
        line->words[line->count++] = word;
}

/* Becomes this program with those words; comes back only when that fails. */
static int line_become(struct line *line)
{
    line->words[line->count] = NULL;
    fflush(stdout);
    execv("/proc/self/exe", (char *const *)(uintptr_t)line->words);
    report("this program cannot be started: %s", strerror(errno));
    return STATUS_NO;
}

/* ------------------------------------------------------------------------------------------------------------ one's job */

struct finding {
    struct condor_choice choice;
    int64_t job;
    uint32_t count;
};

static bool job_take(void *user, struct tree *job)
{
    struct finding *finding = user;
    struct tree *ad = condor_job(job);

    if (choice_has(&finding->choice, ad) && !finding->count++)
        finding->job = condor_integer(job, "Job");
    tree_unref(ad);
    return true;
}

/* Finds our number of the job 5.2; 5 is 5.0. -1: there is none, which has been reported. */
static int job_find(const char *command, const char *word, char ret[24])
{
    struct connection_options options_none = {0};
    struct finding finding = {.job = 0};
    struct connection customer;
    char whole[64];
    int status;

    snprintf(whole, sizeof whole, strchr(word, '.') ? "%.40s" : "%.40s.0", word);
    status = *word >= '0' && *word <= '9' ? customer_open(&customer, &options_none) : STATUS_BAD;
    if (status == STATUS_BAD) {
        report("%s wants one job: 5 or 5.2", command);
        return STATUS_NO;
    }
    if (status == STATUS_DONE) {
        choice_init(&finding.choice, customer.symbols);
        choice_add(&finding.choice, whole);
        status = connection_list(&customer, "/v1/jobs", 0, job_take, &finding);
        choice_done(&finding.choice);
    }
    connection_close(&customer);
    if (status == STATUS_DONE && !finding.count) {
        report("%s: there is no job %s in the queue", command, whole);
        return STATUS_NO;
    }
    snprintf(ret, 24, "%" PRId64, finding.job);
    return status;
}

int job_explain(const char *command, const struct condor_choice *choice)
{
    struct line line = {.count = 0};
    char word[64] = "", number[24];
    int status;

    if (choice->id_count == 1 && choice->ids[0].proc < 0)
        snprintf(word, sizeof word, "%" PRId64, choice->ids[0].cluster);
    else if (choice->id_count == 1)
        snprintf(word, sizeof word, "%" PRId64 ".%" PRId64, choice->ids[0].cluster, choice->ids[0].proc);
    status = job_find(command, word, number);
    if (status != STATUS_DONE)
        return status;
    line_add(&line, "berth");
    line_add(&line, "why");
    line_add(&line, number);
    return line_become(&line);
}

enum { T_FOLLOW, T_MAXBYTES, T_NOSTDOUT, T_STDERR, T_STREAM, T_NAME, T_POOL, T_RETRY, T_DEBUG, T_HELP };

static const struct condor_option tail_options[] = {
    [T_FOLLOW] = {"follow", 1, false},
    [T_MAXBYTES] = {"maxbytes", 1, true},
    [T_NOSTDOUT] = {"no-stdout", 4, false},
    [T_STDERR] = {"stderr", 3, false},
    [T_STREAM] = {"stream-results", 3, false},
    [T_NAME] = {"name", 2, true},
    [T_POOL] = {"pool", 1, true},
    [T_RETRY] = {"auto-retry", 1, false},
    [T_DEBUG] = {"debug", 1, false},
    [T_HELP] = {"help", 1, false},
};

int condor_tail(struct condor_words *words)
{
    struct line line = {.count = 0};
    const char *job = NULL, *file = NULL, *bytes = NULL;
    bool follow = false, error = false;
    char number[24];
    int option, status;

    while ((option = words_next(words, tail_options, T_HELP + 1)) != -2) {
        if (option == -3 || ((option == T_NAME || option == T_POOL) && !condor_is_here(words->command, words->value)))
            return STATUS_NO;
        follow = follow || option == T_FOLLOW;
        error = error || option == T_STDERR;
        bytes = option == T_MAXBYTES ? words->value : bytes;
        if (option == -1 && job)
            file = words->value;
        else if (option == -1)
            job = words->value;
    }
    status = job_find(words->command, job ? job : "", number);
    if (status != STATUS_DONE)
        return status;
    line_add(&line, "berth");
    if (file) {
        line_add(&line, "job");
        line_add(&line, number);
        line_add(&line, "peek");
        line_add(&line, file);
        line_add(&line, "--bytes");
        line_add(&line, bytes ? bytes : "1024");
    } else {
        line_add(&line, "logs");
        if (error)
            line_add(&line, "--err");
        line_add(&line, number);
    }
    if (follow)
        line_add(&line, "--follow");
    return line_become(&line);
}

int condor_ssh_to_job(struct condor_words *words)
{
    static const struct condor_option options[] = {
        {"ssh", 1, true},         {"keygen-options", 1, true}, {"shells", 1, true},
        {"auto-retry", 1, false}, {"debug", 1, false},         {"name", 1, true},
        {"pool", 1, true},        {"help", 1, false},          {"remove-on-interrupt", 1, false},
        {"X", 1, false},          {"no-agent", 3, false}};
    struct line line = {.count = 0};
    const char *job = NULL;
    struct buf command;
    char number[24];
    int option = 0, status;

    while (!job && (option = words_next(words, options, (int)(sizeof options / sizeof *options))) != -2) {
        if (option == -3 || ((option == 5 || option == 6) && !condor_is_here(words->command, words->value)))
            return STATUS_NO;
        if (option == 0) {
            report("condor_ssh_to_job: -ssh is not understood here: files are copied by `berth exec ID -- cat FILE`");
            return STATUS_NO;
        }
        if (option == -1)
            job = words->value;
    }
    status = job_find(words->command, job ? job : "", number);
    if (status != STATUS_DONE)
        return status;
    line_add(&line, "berth");
    line_add(&line, "exec");
    if (words->at == words->count && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        line_add(&line, "--tty");
    line_add(&line, number);
    line_add(&line, "--");
    line_add(&line, "/bin/sh");
    buf_init(&command);
    for (; words->at < words->count; words->at++)
        buf_addf(&command, "%s%s", command.len ? " " : "", words->words[words->at]);
    if (command.len) { /* as ssh does: the words are one line for a shell there */
        line_add(&line, "-c");
        line_add(&line, buf_string(&command));
    }
    status = line_become(&line);
    buf_done(&command);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- machines */

int condor_drain(struct condor_words *words)
{
    enum { D_GRACEFUL, D_QUICK, D_FAST, D_CANCEL, D_REASON, D_RESUME, D_POOL, D_START, D_DEBUG, D_HELP, D_COUNT };
    static const struct condor_option options[] = {
        [D_GRACEFUL] = {"graceful", 1, false}, [D_QUICK] = {"quick", 1, false},
        [D_FAST] = {"fast", 1, false},         [D_CANCEL] = {"cancel", 1, false},
        [D_REASON] = {"reason", 3, true},      [D_RESUME] = {"resume-on-completion", 3, false},
        [D_POOL] = {"pool", 1, true},          [D_START] = {"start", 1, true},
        [D_DEBUG] = {"debug", 1, false},       [D_HELP] = {"help", 1, false}};
    const char *machine = NULL, *at;
    struct line line = {.count = 0};
    bool now = false, cancel = false;
    int option;

    while ((option = words_next(words, options, D_COUNT)) != -2) {
        if (option == -3)
            return STATUS_NO;
        if (option == D_RESUME || option == D_START) {
            report("condor_drain: -%s is not understood here", options[option].name);
            return STATUS_NO;
        }
        now = now || option == D_QUICK || option == D_FAST;
        cancel = cancel || option == D_CANCEL;
        machine = option == -1 ? words->value : machine;
    }
    if (!machine) {
        report("condor_drain wants a machine");
        return STATUS_NO;
    }
    at = strchr(machine, '@'); /* slot1@heron is heron */
    line_add(&line, "berth");
    line_add(&line, "agent");
    line_add(&line, at ? at + 1 : machine);
    line_add(&line, cancel ? "resume" : "drain");
    if (now && !cancel)
        line_add(&line, "--now");
    return line_become(&line);
}
