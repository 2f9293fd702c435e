/* run.c: berth run: runs one command as a job, as if it ran here: what it writes is printed as it comes, and its status is ours.
 *
 *     berth run ---- summary, every second ----> customer
 *        |---- a child copies standard output as it grows
 *        `---- a child copies standard error; of a parallel job there are two for each process
 *
 * The children are processes, so that each can wait for its own stream; Ctrl-C is for the parent alone. */
#define _GNU_SOURCE
#include "cli/ask/summary.h"
#include "cli/jobs/environment.h"
#include "cli/jobs/job_control.h"
#include "cli/jobs/job_files.h"
#include "cli/jobs/program.h"
#include "cli/jobs/run_parts.h"
#include "cli/jobs/secrets.h"
#include "cli/jobs/submission.h"
#include "cli/jobs/submit_check.h"
#include "cli/jobs/submit_check_urls.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/quantity.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "pool/protocol/fields.h"
#include "pool/protocol/job_processes.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_ROUNDS 4 /* of a second at most, in which it is waited for why a job was held */

#define STREAMS 2
#define STREAM_PATIENCE 50    /* tenths of a second that the streams of a job that is over may still take */
#define STATUS_SIGNALLED 128  /* plus the signal's number, as a shell does it */
#define STATUS_UNSTARTED 126  /* the program cannot be started, as a shell has it ... */
#define STATUS_NO_PROGRAM 127 /* ... or is not there */

static int option_variable(const char *text, void *target, struct err *err)
{
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);

    if (!environment_is_name(text, len))
        return err_set(err, "expected NAME=VALUE or NAME, got '%.60s'", text);
    if (!equals && !getenv(text))
        return err_set(err, "the variable %.60s is not set here", text);
    return option_word(text, target, err);
}

static int option_processes(const char *text, void *target, struct err *err)
{
    uint64_t number;

    if (option_number(text, &number, err) < 0)
        return -1;
    if (!number || number > JOB_PROCESSES_MAX)
        return err_set(err, "expected a number from 1 to %d, got '%.60s'", JOB_PROCESSES_MAX, text);
    *(uint64_t *)target = number;
    return 0;
}

#define S struct run_settings
static const struct option run_options[] = {
    {'c', "cpus", "N", "processors, or a part of one: 0.5; 1 if not given", option_cpus, offsetof(S, cpus)},
    {'m', "memory", "AMOUNT", "memory: 2GiB; 512MiB if not given", option_bytes, offsetof(S, memory)},
    {0, "disk", "AMOUNT", "disk; 1GiB if not given", option_bytes, offsetof(S, disk)},
    {0, "gpus", "N", "GPUs: it sees these and no others", option_number, offsetof(S, gpus)},
    {0, "require-gpus", "EXPR", "what each of them must be: 'Memory >= 40G && Capability >= 8.0'", option_text,
     offsetof(S, require_gpus)},
    {0, "processes", "N",
     "a parallel job: the command runs as N processes at once, which know each other by BERTH_MEMBER, BERTH_MEMBERS and BERTH_HOSTS",
     option_processes, offsetof(S, processes)},
    {0, "processes-on", "WHERE",
     "where they run: any (the default), spread (each on another machine), one (all on one)", option_text,
     offsetof(S, processes_on)},
    {0, "processes-exec", NULL, "they may begin commands beside one another with berth exec, as mpirun wants it",
     option_flag, offsetof(S, processes_exec)},
    {'t', "time", "SPAN", "it is ended when it has run so long: 90s, 30min, 2h", option_span, offsetof(S, time)},
    {'i', "input", "FILE", "a file or folder that it reads; may be repeated", option_word, offsetof(S, inputs)},
    {'o', "output", "FILE", "a file or folder that comes back; may be repeated. Else all that are new", option_word,
     offsetof(S, outputs)},
    {'e', "env", "NAME[=VALUE]",
     "a variable of its environment, with the value that it has here if none is given; may be repeated",
     option_variable, offsetof(S, variables)},
    {0, "env-all", NULL, "all variables of here, but those that name places of this machine (HOME, PATH, ...)",
     option_flag, offsetof(S, all_variables)},
    {0, "secret", "NAME=FILE", SECRET_OPTION_HELP, option_secret, offsetof(S, secrets)},
    {0, "image", "IMAGE",
     "an image that it runs in: a tar file of OCI or Docker, an OCI layout, a .sif or squashfs file, docker://NAME in a "
     "registry, or a folder of the machine",
     option_text, offsetof(S, image)},
    {0, "image-secret", "NAME", "which of its secrets has the account, USER:PASSWORD, for the image's registry",
     option_text, offsetof(S, image_secret)},
    {0, "needs", "FOLDER", "a folder that its machine must show to jobs: /cvmfs; may be repeated", option_word,
     offsetof(S, needs)},
    {0, "stdin", NULL, "read standard input from a terminal, too", option_flag, offsetof(S, input)},
    {0, "tty", NULL, "it gets a terminal, and what is typed here goes to it", option_flag, offsetof(S, terminal)},
    {0, "network", NULL, "it may use the network", option_flag, offsetof(S, network)},
    {0, "name", "TEXT", "what the job is called", option_text, offsetof(S, name)},
    {0, "retries", "N", "how often it is begun anew when a machine fails", option_number, offsetof(S, retries)},
    {'f', "force", NULL, "also if it matches no machine of the pool", option_flag, offsetof(S, force)},
    {'q', "quiet", NULL, "do not tell what it waits for", option_flag, offsetof(S, quiet)},
    {'v', "verbose", NULL, "tell what is sent along", option_flag, offsetof(S, verbose)},
    CUSTOMER_OPTION_ROW(S),
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct run_settings run_defaults = {.retries = UINT64_MAX};

static bool note_first(void *user, struct tree *answer)
{
    int64_t first;

    if (ad_integer(answer, "First", &first) && first > 0)
        *(uint64_t *)user = (uint64_t)first;
    return true;
}

static int run_submit(struct job_submission *submission, const struct run_settings *settings,
                      const struct run_along *along, int word_count, char **words, uint64_t *ret_id)
{
    struct err err = {0};
    char *const *run = settings->terminal ? run_tty_words(&word_count) : words;
    struct tree *ad = run_ad(submission->customer->symbols, settings, along, word_count, (char **)(uintptr_t)run, &err);
    int status = STATUS_BAD;

    submission->quiet = settings->quiet;
    submission->commands = settings->terminal;
    if (ad)
        status = submission_add(submission, ad, ".", "run");
    else
        report("%s", err.text);
    if (status == STATUS_DONE)
        status = connection_knock(submission->customer); /* before the matchmaker is asked about the job */
    if (status == STATUS_DONE)
        status = submit_check_urls(&settings->pool, submission);
    if (status == STATUS_DONE && !settings->force)
        status = submit_check_jobs(&settings->pool, submission);
    if (status == STATUS_DONE)
        status = submission_upload(submission);
    if (status == STATUS_DONE)
        status = submission_send(submission, NULL, settings->force, note_first, ret_id);
    if (status == STATUS_DONE && !*ret_id) {
        report("the customer answered without the number of the job");
        status = STATUS_UNREACHABLE;
    }
    tree_unref(ad);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- signals */

static volatile sig_atomic_t interrupts;

/* Notes an interrupt. The second one leaves at once, whatever is under way. */
static void on_interrupt(int number)
{
    if (interrupts++)
        _exit(STATUS_SIGNALLED + number);
}

bool run_is_interrupted(void)
{
    return interrupts > 0;
}

static void interrupts_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

/* -------------------------------------------------------------------------------------------------------------- streams */

struct streams {
    pid_t pids[STREAMS * JOB_PROCESSES_MAX];
    int count;
    int end; /* of a pipe that each stream holds open: it ends with the last of them */
};

static void streams_start(struct streams *streams, struct connection *customer, uint64_t id, uint64_t processes)
{
    static const char *const paths[STREAMS] = {"/files/log/stdout", "/files/log/stderr"};
    int ends[2];

    output_flush();
    if (pipe2(ends, O_CLOEXEC) < 0)
        ends[0] = ends[1] = -1;
    streams->end = ends[0];
    streams->count = STREAMS * (int)(processes ? processes : 1);
    for (int i = 0; i < streams->count; i++) {
        char path[64];
        struct job_stream file = {.customer = customer,
                                  .id = id,
                                  .path = path,
                                  .follow = true,
                                  .fd = i % STREAMS ? STDERR_FILENO : STDOUT_FILENO};

        if (i < STREAMS)
            snprintf(path, sizeof path, "%s", paths[i]);
        else
            snprintf(path, sizeof path, "%s.%d", paths[i % STREAMS], i / STREAMS);
        streams->pids[i] = fork();
        if (streams->pids[i] == 0) {
            signal(SIGINT, SIG_IGN); /* the interrupt is for the parent, which ends us */
            signal(SIGTERM, SIG_DFL);
            signal(SIGHUP, SIG_DFL);
            _exit(job_file_copy(&file, NULL));
        }
        if (streams->pids[i] < 0)
            report("what the job writes cannot be shown (`berth logs` does): %s", strerror(errno));
    }
    if (ends[1] >= 0)
        close(ends[1]);
}

/* Waits until the last stream has ended, for so many tenths of a second at most; false: it has not. */
static bool streams_await(const struct streams *streams, int patience)
{
    int64_t until = clock_now() + (int64_t)patience * 100000, left;
    struct pollfd look = {.fd = streams->end, .events = POLLIN};

    while (!interrupts && (left = until - clock_now()) > 0)
        if (poll(&look, 1, (int)(left / 1000) + 1) > 0)
            return true;
    return false;
}

/* Waits for the streams, which end by themselves when all has come. Those that do not are ended after so many tenths of a second. False: not all that
 * the job has written was shown. */
static bool streams_end(struct streams *streams, int patience)
{
    bool over = streams_await(streams, patience), whole = true;

    for (int i = 0; i < streams->count; i++) {
        int ended = 0;

        if (streams->pids[i] > 0 && waitpid(streams->pids[i], &ended, over ? 0 : WNOHANG) == 0) {
            kill(streams->pids[i], SIGTERM);
            waitpid(streams->pids[i], &ended, 0);
        }
        /* STATUS_NO: the job has written nothing there */
        whole = whole && streams->pids[i] > 0 && WIFEXITED(ended) &&
                (WEXITSTATUS(ended) == STATUS_DONE || WEXITSTATUS(ended) == STATUS_NO);
        streams->pids[i] = 0;
    }
    if (streams->end >= 0)
        close(streams->end);
    streams->end = -1;
    return whole;
}

/* -------------------------------------------------------------------------------------------------------------- waiting */

void run_state_tell(const struct run_settings *settings, uint64_t id, const struct tree *job, struct buf *last)
{
    struct buf words;

    buf_init(&words);
    cell_print(&words, job, "State", CELL_VALUE, 0);
    if (ad_find(job, "Provider")) {
        buf_adds(&words, " on ");
        cell_print(&words, job, "Provider", CELL_VALUE, 0);
    }
    if (strcmp(buf_string(&words), buf_string(last)) != 0 && !settings->quiet && isatty(STDERR_FILENO))
        report("job %" PRIu64 ": %s", id, words.text);
    buf_reset(last);
    buf_add(last, words.text, words.len);
    buf_done(&words);
}

/* Reports what keeps the customer from going on, as a full disk does, once. */
static void warning_tell(const struct run_settings *settings, const struct tree *summary, bool *told)
{
    const char *warning;
    size_t len;

    if (*told || settings->quiet || !ad_string(summary, "Warning", &warning, &len))
        return;
    report("%.*s", (int)len, warning);
    *told = true;
}

bool run_job_remove(struct connection *customer, uint64_t id, const char *why)
{
    struct jobs_order order = {.verb = "remove", .why = why};
    struct jobs_changed sums;
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, id);
    order.ids = number;
    return jobs_control(customer, &order, &sums) == STATUS_DONE;
}

/* Is it held, and what its machine has to say of that not here yet? That comes behind the end. */
static bool is_held_without_words(const struct tree *job)
{
    return job_text_is(job, "State", "Held") && job_text_is(job, "Reason", reason_words(REASON_SETUP));
}

int run_wait(struct connection *customer, const struct run_settings *settings, uint64_t id, struct tree **ret)
{
    int status = STATUS_DONE, without_words = 0;
    bool warned = false;
    struct buf last;
    double after = 0;
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, id);
    buf_init(&last);
    for (bool first = true; !interrupts && status == STATUS_DONE; first = false) {
        struct tree *summary = NULL, *job = NULL;
        bool due = false;

        status = summary_fetch(customer, number, after, first ? 0 : 1, &summary);
        if (status == STATUS_DONE) {
            warning_tell(settings, summary, &warned);
            after = summary_number(summary, "Changes");
            status = job_fetch(customer, id, &job);
        }
        tree_unref(summary);
        if (status != STATUS_DONE)
            break;
        run_state_tell(settings, id, job, &last);
        ad_flag(job, "OutputsDue", &due);
        if ((job_is_over(job) || job_text_is(job, "State", "Held")) && !due &&
            !(is_held_without_words(job) && without_words++ < WORDS_ROUNDS)) {
            *ret = job;
            break;
        }
        tree_unref(job);
    }
    buf_done(&last);
    return interrupts && status == STATUS_DONE && !*ret ? STATUS_NO : status;
}

/* Reports how a job ended, unless it ended by itself: a job that was ended at a limit cannot say so. */
static void tell_limit(uint64_t id, const struct tree *job)
{
    struct buf words;

    buf_init(&words);
    job_standing_print(&words, job);
    if (!job_text_is(job, "Reason", "the job ended"))
        report("job %" PRIu64 ": %s", id, buf_string(&words));
    buf_done(&words);
}

/* Is the job held because its program could not be started? Then `words` are why. Nobody wants to look at such a job of `berth run`, or to release
 * it: to type the command anew is all there is to do. */
static bool is_unstarted(const struct tree *job, struct buf *words)
{
    const char *setup = reason_words(REASON_SETUP);
    struct buf reason;
    bool is;

    buf_init(&reason);
    cell_print(&reason, job, "Reason", CELL_VALUE, 0);
    is = job_text_is(job, "State", "Held") && !strncmp(buf_string(&reason), setup, strlen(setup)) &&
         strstr(buf_string(&reason), "could not be started");
    if (is && !strncmp(buf_string(&reason) + strlen(setup), ": ", 2))
        buf_adds(words, buf_string(&reason) + strlen(setup) + 2);
    buf_done(&reason);
    return is;
}

/* Removes the job whose program could not be started, and reports why it could not. */
static int run_unstarted(struct connection *customer, uint64_t id, const char *program, const char *words)
{
    bool missing = strstr(words, strerror(ENOENT)) != NULL, is_path = strchr(program, '/') != NULL;

    if (!missing || strchr(words, '(')) /* the machine has found out why */
        report("%.200s: %s", program, words);
    else if (is_path)
        report("%.200s: the machine does not have this program, or what it needs to start, such as an interpreter",
               program);
    else
        report("%.200s: the machine does not have this program", program);
    if (missing && !is_path && access(program, X_OK) == 0)
        report("there is a file %.200s here: ./%.200s sends it along", program, program);
    if (!run_job_remove(customer, id, "its program could not be started"))
        report("job %" PRIu64 " is held: `berth rm %" PRIu64 "` removes it", id, id);
    return missing ? STATUS_NO_PROGRAM : STATUS_UNSTARTED;
}

/* Makes the status of the job ours. */
static int run_outcome(uint64_t id, const struct tree *job)
{
    double ended;
    struct buf words;

    if (!job_text_is(job, "State", "Held") && job_number(job, "Status", &ended) &&
        !job_text_is(job, "State", "Cancelled") && !job_text_is(job, "State", "Aborted")) {
        tell_limit(id, job);
        return ended >= 0 ? (int)ended : STATUS_SIGNALLED + (int)-ended;
    }
    buf_init(&words);
    cell_print(&words, job, "Reason", CELL_VALUE, 0);
    if (job_text_is(job, "State", "Held"))
        report("job %" PRIu64 " is held: %s; `berth release %" PRIu64 "` lets it run, `berth rm %" PRIu64
               "` removes it",
               id, words.len ? buf_string(&words) : "it does not say why", id, id);
    else
        report("job %" PRIu64 " %s: %s", id,
               job_text_is(job, "State", "Done") || job_text_is(job, "State", "Cleared") ? "did not end well"
                                                                                         : "was not run",
               words.len ? buf_string(&words) : "it does not say why");
    buf_done(&words);
    return STATUS_NO;
}

/* Reports files of the job that are missing; false: some are. */
static bool missing_tell(uint64_t id, const struct tree *job)
{
    struct buf words;
    bool missing;

    buf_init(&words);
    missing = job_misses(job, &words);
    if (missing)
        report("job %" PRIu64 ": %s", id, buf_string(&words));
    buf_done(&words);
    return !missing;
}

static int run_follow(struct connection *customer, const struct run_settings *settings, const char *program,
                      uint64_t id)
{
    struct tree *job = NULL;
    struct streams streams;
    struct buf words;
    bool shown, came;
    int status;

    interrupts_catch();
    streams_start(&streams, customer, id, settings->processes);
    status = run_wait(customer, settings, id, &job);
    if (interrupts) {
        if (run_job_remove(customer, id, "interrupted"))
            report("job %" PRIu64 " removed", id);
        status = STATUS_SIGNALLED + SIGINT;
    }
    buf_init(&words);
    if (status == STATUS_DONE && job && is_unstarted(job, &words)) {
        streams_end(&streams, 0);
        status = run_unstarted(customer, id, program, buf_string(&words));
        buf_done(&words);
        tree_unref(job);
        return status;
    }
    buf_done(&words);
    shown = streams_end(&streams, status == STATUS_DONE ? STREAM_PATIENCE : 0);
    if (status == STATUS_DONE && job) {
        status = run_outcome(id, job);
        came = missing_tell(id, job);
        shown = shown || job_text_is(job, "State", "Held"); /* more may come when the job is released */
        if (!shown)
            report("job %" PRIu64 ": not all that it has written is here: `berth logs %" PRIu64 "` shows it", id, id);
        status = status == STATUS_DONE && (!shown || !came) ? STATUS_NO : status;
    } else if (status == STATUS_UNREACHABLE)
        report("job %" PRIu64 " goes on without us: `berth wait %" PRIu64 "` and `berth logs %" PRIu64 "`", id, id, id);
    tree_unref(job);
    return status;
}

/* The same for a command with a terminal, which has no streams but that. */
static int run_follow_tty(struct connection *customer, const struct run_settings *settings, uint64_t id, int word_count,
                          char **words)
{
    struct tree *job = NULL;
    bool left = false;
    int status;

    interrupts_catch();
    status = run_tty_follow(customer, settings, id, word_count, words, &left);
    if (!left && run_wait(customer, settings, id, &job) == STATUS_DONE && job && !missing_tell(id, job) &&
        status == STATUS_DONE)
        status = STATUS_NO;
    tree_unref(job);
    return interrupts ? STATUS_SIGNALLED + SIGINT : status;
}

/* Can the program be sent and executed, as far as that can be seen here? If not, the status is the one that a shell has for it. */
static int run_look(const char *program)
{
    bool missing = false;
    const char *flaw = program_is_sent(program) ? program_flaw(program, &missing) : NULL;

    if (!flaw)
        return STATUS_DONE;
    report("%.200s: %s", program, flaw);
    return missing ? STATUS_NO_PROGRAM : STATUS_UNSTARTED;
}

/* Finds the files that go along. With a terminal the command is an argument as well, of what runs it. */
static void run_along_words(struct run_along *along, const struct run_settings *settings, int word_count, char **words)
{
    char **all;

    if (!settings->terminal) {
        run_along_files(along, settings, word_count, words);
        return;
    }
    all = mem_alloc(((size_t)word_count + 1) * sizeof *all);
    all[0] = (char *)(uintptr_t) "sh";
    memcpy(all + 1, words, (size_t)word_count * sizeof *all);
    run_along_files(along, settings, word_count + 1, all);
    free(all);
}

static int run_run(const void *given, int word_count, char **words)
{
    const struct run_settings *settings = given;
    struct job_submission submission;
    struct connection customer;
    struct run_along along;
    uint64_t id = 0;
    int status;

    if (word_count ? !*words[0] : !settings->image || settings->terminal) {
        report("run wants a COMMAND, behind its own options");
        return STATUS_BAD;
    }
    if (settings->terminal && settings->processes > 1) {
        report("--tty and --processes cannot be used together");
        return STATUS_BAD;
    }
    if (settings->terminal && !isatty(STDIN_FILENO)) {
        report("--tty wants a terminal here, too");
        return STATUS_BAD;
    }
    run_along_init(&along);
    status = customer_open(&customer, &settings->pool);
    submission_init(&submission, &customer);
    if (status == STATUS_DONE && word_count && !(settings->image && *words[0] == '/')) /* that is one of the image */
        status = run_look(words[0]);
    if (status == STATUS_DONE) /* one of them may be standard input, of which the job gets the rest: nothing */
        status = submission_secrets(&submission, &settings->secrets);
    run_along_words(&along, settings, word_count, words);
    if (status == STATUS_DONE && !settings->terminal)
        status = run_along_input(&along, settings);
    if (status == STATUS_DONE)
        status = run_submit(&submission, settings, &along, word_count, words, &id);
    submission_done(&submission);
    if (status == STATUS_DONE)
        status = settings->terminal
                     ? run_follow_tty(&customer, settings, id, word_count, words)
                     : run_follow(&customer, settings, word_count ? words[0] : "its image's command", id);
    if (id && status != STATUS_DONE && !interrupts && !settings->verbose) /* then they have been told */
        run_along_hint(&along, settings);
    run_along_done(&along);
    connection_close(&customer);
    return status;
}

const struct command command_run = {
    .name = "run",
    .summary = "run one command in the pool, as if it ran here",
    .usage = "[OPTIONS] [--] COMMAND [ARGUMENT...]",
    .about =
        "Submits a job that runs the command, waits until it is over, and prints what it writes as it comes. The files that it "
        "makes come to the current folder. A COMMAND with a slash in it is a file of this machine, and is carried along; else it "
        "is looked for on the machine where the job runs. Options stand before the COMMAND: what follows it is for the "
        "COMMAND.\n"
        "\n"
        "ARGUMENTs that are names of files beneath the current folder are sent along, up to 256 MiB together; others, and "
        "folders, want -i. Standard input is sent along, too, unless it is a terminal: up to its end, and at most 256 MiB; < /dev/null gives "
        "the command none.\n"
        "\n"
        "The status is that of the command: 128 and the signal's number when a signal ended it, 127 when there is no such "
        "program, here or on the machine, or no interpreter for it, 126 when the program is there and cannot be started, 1 with the reason when the job could not be run, or when not all that it has "
        "written, or not all its files, came here. Ctrl-C removes the job; a second one leaves at once.\n"
        "\n"
        "With --processes the command is run so many times at once, on machines that are all claimed before one begins. What they write is printed as it comes; "
        "the job is over when the first of them ends or another one fails, and the others are stopped.\n"
        "\n"
        "With --tty the command has a terminal, as with `berth exec`: `berth run --tty -- bash` is a shell on some machine of the pool. What is typed goes to it, Ctrl-C too; "
        "~. at the beginning of a line leaves it, and `berth exec ID --attach` comes back within 10 minutes.",
    .examples = {{"berth run -- hostname", NULL},
                 {"berth run -c 4 -m 2GiB -- ./fit --input data.csv", NULL},
                 {"zcat runs.gz | berth run -t 10min -o plot.png -e SEED=7 python3 plot.py", NULL},
                 {"berth run --tty -m 4GiB -- bash", NULL}},
    .options = run_options,
    .option_count = sizeof run_options / sizeof *run_options,
    .leading = true,
    .settings_size = sizeof(struct run_settings),
    .defaults = &run_defaults,
    .run = run_run,
};
