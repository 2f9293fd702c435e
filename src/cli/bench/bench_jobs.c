/* bench_jobs.c: berth bench jobs: where the time of a job goes, in a pool of its own on this machine.
 *
 *     jobs        many jobs of /bin/true, with so many at a time: jobs a second, the processor time of each daemon a job, and what is counted a job
 *     jobs-step   the way of a job, step by step: the time from the step before, at the median and for 99 of 100
 *     jobs-run    `berth run -- true`, one after another, from the command to its end
 *
 * The pool is started here, in a folder that is removed at the end, and used by the same commands that people use. */
#define _GNU_SOURCE
#include "cli/bench/bench.h"
#include "cli/bench/job_steps.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "exec/self.h"
#include "lang/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_COUNT 1000
#define SLOTS_MOST 16   /* values of --slots */
#define RUNS 10         /* of `berth run` */
#define START_SPAN 30.0 /* seconds that a pool may take to start */
#define JOB_MEMORY "16M"

static const char *const daemon_names[] = {"matchmaker", "customer", "provider"};
#define DAEMONS (sizeof daemon_names / sizeof *daemon_names)

struct bench_pool {
    char state[64], steps[80];
    pid_t pid, daemons[DAEMONS];
    off_t read; /* so much of the notes */
};

/* How busy the machine has been: seconds of all processors, and processes made. */
struct machine_use {
    double busy, idle;
    uint64_t forks;
    double daemons[DAEMONS];
};

/* -------------------------------------------------------------------------------------------------------------- commands */

static pid_t program_start(const char *const *words, int output, bool quiet)
{
    char self[SELF_MAX];
    pid_t pid = fork();
    int null;

    if (pid != 0)
        return pid;
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (dup2(null, 0) < 0 || dup2(output, 1) < 0 || (quiet && dup2(null, 2) < 0))
        _exit(126);
    execv(self_program(self), (char *const *)(uintptr_t)words);
    _exit(127);
}

/* Runs a command of this program; appends what it prints. Its exit status. */
static int program_run(const char *const *words, struct buf *out)
{
    char text[512];
    int ends[2], status = -1;
    ssize_t got;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = program_start(words, ends[1], false);
    close(ends[1]);
    while (pid > 0 && (got = read(ends[0], text, sizeof text)) > 0)
        buf_add(out, text, (size_t)got);
    close(ends[0]);
    if (pid > 0)
        waitpid(pid, &status, 0);
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ------------------------------------------------------------------------------------------------------------------ a pool */

static int remove_one(const char *path, const struct stat *status, int sort, struct FTW *place)
{
    (void)status;
    (void)sort;
    (void)place;
    return remove(path);
}

static void pool_end(struct bench_pool *pool)
{
    if (pool->pid > 0) {
        kill(pool->pid, SIGTERM);
        waitpid(pool->pid, NULL, 0);
    }
    if (pool->state[0])
        nftw(pool->state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The numbers of the daemons' processes, from what the pool says when it is up. */
static bool pool_reads(struct bench_pool *pool, const char *said)
{
    for (size_t i = 0; i < DAEMONS; i++) {
        const char *at = strstr(said, daemon_names[i]), *number = at ? strstr(at, "process ") : NULL;

        pool->daemons[i] = number ? (pid_t)strtol(number + strlen("process "), NULL, 10) : 0;
        if (pool->daemons[i] <= 0)
            return false;
    }
    return strstr(said, "To end it") != NULL;
}

static int pool_start(struct bench_pool *pool, struct err *err)
{
    static const char *const words[] = {"berth", "pool", "--listen", "127.0.0.1:0", NULL};
    const char *machines[] = {"berth", "ads", "--json", NULL};
    double until = bench_clock() + START_SPAN;
    struct buf said;
    bool up = false;
    int ends[2];
    char text[512];
    ssize_t got;

    snprintf(pool->state, sizeof pool->state, "%s", "/tmp/berth-bench-XXXXXX");
    if (!mkdtemp(pool->state) || pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, "%s", strerror(errno));
    snprintf(pool->steps, sizeof pool->steps, "%s/steps", pool->state);
    if (setenv("BERTH_STATE", pool->state, 1) < 0 || setenv(STEPS_VARIABLE, pool->steps, 1) < 0 ||
        unsetenv("BERTH_POOL") < 0 || unsetenv("BERTH_CUSTOMER") < 0 || unsetenv("BERTH_TOKEN") < 0)
        return err_set(err, "%s", strerror(errno));
    buf_init(&said);
    pool->pid = program_start(words, ends[1], true);
    close(ends[1]);
    while (!up && (got = read(ends[0], text, sizeof text)) > 0) {
        buf_add(&said, text, (size_t)got);
        up = pool_reads(pool, buf_string(&said));
    }
    close(ends[0]);
    buf_reset(&said);
    while (up && !said.len && bench_clock() < until) { /* until the machine offers itself */
        program_run(machines, &said);
        usleep(said.len ? 0 : 50000);
    }
    up = up && said.len;
    buf_done(&said);
    return up ? 0 : err_set(err, "the pool did not start");
}

/* -------------------------------------------------------------------------------------------------------------- measuring */

static double process_seconds(pid_t pid)
{
    unsigned long user = 0, kernel = 0;
    char path[64], text[1024] = "", *at;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file) && (at = strrchr(text, ')')))
        sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel);
    if (file)
        fclose(file);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static struct machine_use machine_look(const struct bench_pool *pool)
{
    struct machine_use use = {0};
    unsigned long long user = 0, nice = 0, kernel = 0, idle = 0, waits = 0, hard = 0, soft = 0, forks = 0;
    double ticks = (double)sysconf(_SC_CLK_TCK);
    FILE *file = fopen("/proc/stat", "r");
    char line[512];

    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &kernel, &idle, &waits, &hard, &soft);
        if (sscanf(line, "processes %llu", &forks) == 1)
            use.forks = forks;
    }
    if (file)
        fclose(file);
    use.busy = (double)(user + nice + kernel + hard + soft) / ticks;
    use.idle = (double)(idle + waits) / ticks;
    for (size_t i = 0; i < DAEMONS; i++)
        use.daemons[i] = process_seconds(pool->daemons[i]);
    return use;
}

/* Submits so many jobs, of which so many fit on the machine at a time, and waits for them. */
static int jobs_run(const struct bench_pool *pool, uint64_t count, uint64_t slots, struct err *err)
{
    double processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    const char *submit[] = {"berth", "submit", "--force", NULL, NULL}, *wait[] = {"berth", "wait", "-q", NULL, NULL};
    char path[96];
    const char *ids;
    struct buf out;
    FILE *file;
    int failed = -1;

    snprintf(path, sizeof path, "%s/jobs.ad", pool->state);
    file = fopen(path, "w");
    if (!file)
        return err_set(err, "'%s': %s", path, strerror(errno));
    fprintf(file,
            "[ Cmd = \"/bin/true\"; Outputs = {}; Count = %llu; RequestCpus = %.6f; RequestMemory = " JOB_MEMORY
            "; RequestDisk = 1M ]\n",
            (unsigned long long)count, processors / (double)slots);
    fclose(file);
    submit[3] = path;
    buf_init(&out);
    if (program_run(submit, &out) == 0 && (ids = strrchr(buf_string(&out), ' '))) {
        char *given = mem_dup(ids + 1, strcspn(ids + 1, "\n"));

        wait[3] = given;
        failed = program_run(wait, &out) == 0 ? 0 : -1;
        free(given);
    }
    buf_done(&out);
    return failed ? err_set(err, "the jobs did not end well") : 0;
}

static void steps_print(const struct job_steps *steps, uint64_t slots)
{
    static const char *const names[] = {
#define X(id, name, ...) name,
        STEPS(X)
#undef X
    };
    struct buf row;

    buf_init(&row);
    for (int step = 0; step < STEP_COUNT; step++) {
        double median, p99;
        size_t count = job_steps_spans(steps, (enum job_step)step, &median, &p99);

        bench_row_begin(&row, "jobs-step");
        bench_row_integer(&row, "slots", slots);
        bench_row_text(&row, "step", names[step]);
        bench_row_integer(&row, "operations", count);
        bench_row_real(&row, "median_us", median);
        bench_row_real(&row, "p99_us", p99);
        bench_row_finish(&row);
    }
    buf_done(&row);
}

static void counts_print(struct buf *row, const struct bench_pool *pool, const struct job_steps *steps, uint64_t count)
{
    static const char *const names[] = {
#define X(id, name, ...) name,
        STEPS_COUNTED(X)
#undef X
    };
    char field[64];

    for (size_t i = 0; i < DAEMONS; i++)
        for (int counted = 0; counted < COUNTED_COUNT; counted++) {
            snprintf(field, sizeof field, "%s_%s", daemon_names[i], names[counted]);
            bench_row_real(row, field,
                           (double)job_steps_counted(steps, pool->daemons[i], (enum counted)counted) / (double)count);
        }
}

/* Passes over the notes of what is not to be counted. */
static int notes_pass(struct bench_pool *pool, struct err *err)
{
    struct job_steps steps;
    int failed = job_steps_read(&steps, pool->steps, &pool->read, err);

    job_steps_done(&steps);
    return failed;
}

static int slots_measure(struct bench_pool *pool, uint64_t slots, uint64_t count, struct err *err)
{
    struct machine_use before = machine_look(pool), after;
    double began = bench_clock(), seconds;
    struct job_steps steps;
    char field[64];
    struct buf row;

    if (jobs_run(pool, count, slots, err) < 0)
        return -1;
    seconds = bench_clock() - began;
    after = machine_look(pool);
    if (job_steps_read(&steps, pool->steps, &pool->read, err) < 0)
        return -1;
    buf_init(&row);
    bench_row_begin(&row, "jobs");
    bench_row_integer(&row, "slots", slots);
    bench_row_real(&row, "seconds", seconds);
    bench_row_integer(&row, "operations", count);
    bench_row_real(&row, "per_second", (double)count / seconds);
    for (size_t i = 0; i < DAEMONS; i++) {
        snprintf(field, sizeof field, "%s_cpu_us", daemon_names[i]);
        bench_row_real(&row, field, (after.daemons[i] - before.daemons[i]) * 1e6 / (double)count);
    }
    bench_row_real(&row, "machine_cpu_us", (after.busy - before.busy) * 1e6 / (double)count);
    bench_row_real(&row, "machine_idle",
                   (after.idle - before.idle) / (after.idle - before.idle + after.busy - before.busy));
    bench_row_real(&row, "machine_forks", (double)(after.forks - before.forks) / (double)count);
    counts_print(&row, pool, &steps, count);
    bench_row_finish(&row);
    buf_done(&row);
    steps_print(&steps, slots);
    job_steps_done(&steps);
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int runs_measure(struct err *err)
{
    static const char *const words[] = {"berth", "run", "--", "true", NULL};
    double spans[RUNS], first = 0;
    struct buf out, row;
    bool failed = false;

    buf_init(&out);
    for (int i = 0; i < RUNS && !failed; i++) {
        double began = bench_clock();

        failed = program_run(words, &out) != 0;
        spans[i] = (bench_clock() - began) * 1e3;
        first = i ? first : spans[i];
    }
    buf_done(&out);
    if (failed)
        return err_set(err, "'berth run -- true' failed");
    qsort(spans, RUNS, sizeof *spans, compare);
    buf_init(&row);
    bench_row_begin(&row, "jobs-run");
    bench_row_integer(&row, "operations", RUNS);
    bench_row_real(&row, "first_ms", first);
    bench_row_real(&row, "median_ms", spans[RUNS / 2]);
    bench_row_real(&row, "least_ms", spans[0]);
    bench_row_finish(&row);
    buf_done(&row);
    return 0;
}

/* The values of --slots; 0: that is no list of them. */
static size_t slots_read(const char *text, uint64_t ret[SLOTS_MOST])
{
    size_t count = 0;

    while (count < SLOTS_MOST) {
        char *end;

        ret[count] = strtoull(text, &end, 10);
        if (end == text || !ret[count] || ret[count] > 1024 || (*end && *end != ','))
            return 0;
        count++;
        if (!*end)
            return count;
        text = end + 1;
    }
    return 0;
}

int bench_jobs(const struct bench_settings *settings)
{
    uint64_t slots[SLOTS_MOST] = {(uint64_t)sysconf(_SC_NPROCESSORS_ONLN)};
    size_t count = settings->slots ? slots_read(settings->slots, slots) : 1;
    struct bench_pool pool = {.pid = 0};
    struct err err = {0};
    int failed;

    if (!count) {
        report("--slots wants numbers from 1 to 1024, such as 1,2,4: '%.60s'", settings->slots);
        return STATUS_BAD;
    }
    failed = pool_start(&pool, &err) < 0 || runs_measure(&err) < 0 || notes_pass(&pool, &err) < 0;
    for (size_t i = 0; i < count && !failed; i++)
        failed = slots_measure(&pool, slots[i], settings->count ? settings->count : JOBS_COUNT, &err) < 0;
    if (failed)
        report("%s", err.text);
    pool_end(&pool);
    return failed ? STATUS_NO : STATUS_DONE;
}
