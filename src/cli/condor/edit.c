/* edit.c: condor_qedit and condor_prio: attributes of jobs, by HTCondor's names and in its units. */
#include "cli/condor/parts.h"
#include "cli/jobs/job_control.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SETTINGS_MAX 64

enum { E_CONSTRAINT, E_FORCE, E_NAME, E_POOL, E_DEBUG, E_HELP };

static const struct condor_option edit_options[] = {
    [E_CONSTRAINT] = {"constraint", 1, true},
    [E_FORCE] = {"forceupdate", 1, false},
    [E_NAME] = {"name", 1, true},
    [E_POOL] = {"pool", 1, true},
    [E_DEBUG] = {"debug", 1, false},
    [E_HELP] = {"help", 1, false},
};

/* HTCondor's names, what they are here, and how many of our units one of theirs is. Names of submit commands are understood, too. */
static const struct {
    const char *theirs, *ours;
    int64_t unit; /* 0: it has none */
} names[] = {
    {"RequestMemory", "RequestMemory", 1 << 20},
    {"request_memory", "RequestMemory", 1 << 20},
    {"RequestDisk", "RequestDisk", 1 << 10},
    {"request_disk", "RequestDisk", 1 << 10},
    {"RequestCpus", "RequestCpus", 0},
    {"request_cpus", "RequestCpus", 0},
    {"RequestGPUs", "RequestGpus", 0},
    {"request_gpus", "RequestGpus", 0},
    {"JobPrio", "Priority", 0},
    {"priority", "Priority", 0},
    {"Requirements", "Constraint", 0},
    {"AcctGroup", "AccountingGroup", 0},
    {"accounting_group", "AccountingGroup", 0},
    {"AllowedExecuteDuration", "TimeLimit", 0},
    {"JobMaxRetries", "MaxRetries", 0},
    {"max_retries", "MaxRetries", 0},
    {"OnExitRemoveCheck", "OnExitRemove", 0},
    {"OnExitHoldCheck", "OnExitHold", 0},
    {"PeriodicHoldCheck", "PeriodicHold", 0},
    {"PeriodicReleaseCheck", "PeriodicRelease", 0},
    {"PeriodicRemoveCheck", "PeriodicRemove", 0},
};

/* Attributes of theirs that nobody but the schedd may write: to set them would change nothing here. */
static const char *const facts[] = {"ClusterId",   "ProcId",     "JobStatus",   "QDate",  "EnteredCurrentStatus",
                                    "JobUniverse", "User",       "GlobalJobId", "MyType", "Args",
                                    "Arguments",   "Environment"};

struct editing {
    struct condor_choice choice;
    struct buf ids;
    uint32_t count;
    char *settings[SETTINGS_MAX]; /* NAME=EXPR */
    char *given[SETTINGS_MAX];    /* the name as it was written */
    int setting_count;
};

static bool job_take(void *user, struct tree *job)
{
    struct editing *editing = user;
    struct tree *ad = condor_job(job);

    if (!job_is_over(job) && choice_has(&editing->choice, ad)) {
        buf_addf(&editing->ids, "%s%" PRId64, editing->ids.len ? "," : "", condor_integer(job, "Job"));
        editing->count++;
    }
    tree_unref(ad);
    return true;
}

/* Adds a setting, in our words; -1: it cannot be, which has been reported. */
static int setting_add(struct editing *editing, const char *name, size_t len, const char *value)
{
    const char *ours = NULL;
    char unit[40] = "";
    struct buf text;

    if (editing->setting_count == SETTINGS_MAX) {
        report("more than %d attributes", SETTINGS_MAX);
        return -1;
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strlen(facts[i]) == len && !strncasecmp(facts[i], name, len)) {
            report("%s cannot be changed here", facts[i]);
            return -1;
        }
    for (size_t i = 0; i < sizeof names / sizeof *names && !ours; i++)
        if (strlen(names[i].theirs) == len && !strncasecmp(names[i].theirs, name, len)) {
            ours = names[i].ours;
            if (names[i].unit)
                snprintf(unit, sizeof unit, " * %" PRId64, names[i].unit);
        }
    buf_init(&text);
    if (ours)
        buf_adds(&text, ours);
    else
        buf_add(&text, name, len);
    buf_addf(&text, *unit ? "=(%s)%s" : "=%s%s", value, unit);
    editing->settings[editing->setting_count] = mem_dup(text.text, text.len);
    editing->given[editing->setting_count++] = mem_dup(name, len);
    buf_done(&text);
    return 0;
}

static bool is_name(const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)word[i]) && word[i] != '_')
            return false;
    return len && !isdigit((unsigned char)*word);
}

/* The words behind the jobs: NAME VALUE NAME VALUE, or NAME=VALUE. */
static int settings_read(struct editing *editing, char **words, int count)
{
    for (int i = 0; i < count; i++) {
        size_t len = strcspn(words[i], "=");

        if (is_name(words[i], len) && words[i][len] == '=') {
            if (setting_add(editing, words[i], len, words[i] + len + 1) < 0)
                return -1;
        } else if (is_name(words[i], strlen(words[i])) && i + 1 < count) {
            if (setting_add(editing, words[i], len, words[i + 1]) < 0)
                return -1;
            i++;
        } else {
            report("condor_qedit: expected NAME VALUE or NAME=VALUE, got '%.60s'", words[i]);
            return -1;
        }
    }
    return 0;
}

static int edit_ask(struct connection *customer, struct editing *editing, struct jobs_order *order, const char *command,
                    struct jobs_changed *ret)
{
    int status = connection_list(customer, "/v1/jobs", 0, job_take, editing);

    if (status != STATUS_DONE)
        return status;
    if (!editing->count) {
        report("%s: there is no such job in the queue", command);
        return STATUS_NO;
    }
    order->ids = buf_string(&editing->ids);
    if (editing->setting_count &&
        !(order->set = jobs_settings(customer->symbols, editing->settings, editing->setting_count)))
        return STATUS_NO;
    status = jobs_control(customer, order, ret);
    tree_unref(order->set);
    if (status == STATUS_DONE && ret->refused)
        report("%s", ret->reason);
    return status == STATUS_DONE && !ret->changed ? STATUS_NO : status;
}

static void editing_done(struct editing *editing)
{
    for (int i = 0; i < editing->setting_count; i++) {
        free(editing->settings[i]);
        free(editing->given[i]);
    }
    buf_done(&editing->ids);
    choice_done(&editing->choice);
}

/* Reads what stands before and between: options, and the words that are none. -1: one is wrong, which has been reported. */
static int words_split(struct condor_words *words, struct editing *editing, char **ret_words, int *ret_count)
{
    int option;

    while ((option = words_next(words, edit_options, E_HELP + 1)) != -2) {
        if (option == -3 || (option == E_CONSTRAINT && choice_constrain(&editing->choice, words->value) < 0) ||
            ((option == E_NAME || option == E_POOL) && !condor_is_here(words->command, words->value)))
            return -1;
        if (option == -1)
            ret_words[(*ret_count)++] = (char *)(uintptr_t)words->value;
    }
    return 0;
}

int condor_qedit(struct condor_words *words)
{
    struct connection_options options_none = {0};
    char **rest = mem_alloc(((size_t)words->count + 1) * sizeof *rest);
    struct jobs_order order = {.verb = "edit"};
    struct jobs_changed sums = {0};
    struct editing editing = {0};
    struct connection customer;
    int count = 0, at = 0, status;

    buf_init(&editing.ids);
    status = customer_open(&customer, &options_none);
    choice_init(&editing.choice, customer.symbols);
    if (status == STATUS_DONE && words_split(words, &editing, rest, &count) < 0)
        status = STATUS_NO;
    if (status == STATUS_DONE && !editing.choice.constraint && count)
        choice_add(&editing.choice, rest[at++]);
    while (status == STATUS_DONE && at < count && isdigit((unsigned char)*rest[at]))
        choice_add(&editing.choice, rest[at++]);
    if (status == STATUS_DONE && (choice_is_empty(&editing.choice) || at == count)) {
        report("condor_qedit wants jobs (5, 5.2), a user or -constraint EXPR, and then NAME VALUE");
        status = STATUS_NO;
    }
    if (status == STATUS_DONE && settings_read(&editing, rest + at, count - at) < 0)
        status = STATUS_NO;
    if (status == STATUS_DONE)
        status = edit_ask(&customer, &editing, &order, "condor_qedit", &sums);
    for (int i = 0; status == STATUS_DONE && i < editing.setting_count; i++)
        printf("Set attribute \"%s\" for %" PRIu64 " matching jobs.\n", editing.given[i], sums.changed);
    editing_done(&editing);
    connection_close(&customer);
    free(rest);
    return status;
}

/* -p N sets the priority, +N and -N change it. False: the word is another. */
static bool priority_read(const char *word, bool sets, struct jobs_order *order)
{
    char *end;

    if (!sets && *word != '+' && *word != '-')
        return false;
    order->number = strtoll(word, &end, 10);
    order->number_name = sets ? "Priority" : "Change";
    return isdigit((unsigned char)word[*word == '+' || *word == '-']) && !*end;
}

int condor_prio(struct condor_words *words)
{
    struct connection_options options_none = {0};
    struct jobs_order order = {.verb = "prio"};
    struct jobs_changed sums = {0};
    struct editing editing = {0};
    struct connection customer;
    int status;
    bool good = true, all = false;

    buf_init(&editing.ids);
    status = customer_open(&customer, &options_none);
    choice_init(&editing.choice, customer.symbols);
    for (; good && words->at < words->count; words->at++) {
        const char *word = words->words[words->at],
                   *next = words->at + 1 < words->count ? words->words[words->at + 1] : NULL;

        if (!strcmp(word, "-p") && next) {
            good = priority_read(next, true, &order);
            words->at++;
        } else if (!strcmp(word, "-a") || !strcmp(word, "-all")) {
            all = true;
        } else if ((!strcmp(word, "-n") || !strcmp(word, "-name") || !strcmp(word, "-pool")) && next) {
            good = condor_is_here(words->command, next);
            words->at++;
        } else if (!priority_read(word, false, &order)) {
            good = *word != '-' && *word != '+';
            choice_add(&editing.choice, word);
        }
    }
    if (status == STATUS_DONE && (!good || !order.number_name || (!all && choice_is_empty(&editing.choice)))) {
        report("condor_prio wants -p N, +N or -N, and jobs (5, 5.2), a user or -a");
        status = STATUS_NO;
    }
    if (status == STATUS_DONE)
        status = edit_ask(&customer, &editing, &order, "condor_prio", &sums);
    editing_done(&editing);
    connection_close(&customer);
    return status;
}
