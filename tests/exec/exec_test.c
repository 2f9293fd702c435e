/* How jobs live and die: launching, stopping, suspending, and what becomes of them when the agent or a launcher dies. Real processes. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "exec_world.h"

#include "exec/sandbox.h"

#include <sched.h>
#include <sys/file.h>
#include <sys/resource.h>

static struct world world;
static const char *who;

static bool ended_with(const struct executor_news *news, int64_t status)
{
    return news && news->kind == EXECUTOR_ENDED && news->reason == REASON_EXITED && news->status == status;
}

static bool ended_for(const struct executor_news *news, enum reason reason)
{
    return news && news->kind == EXECUTOR_ENDED && news->reason == reason;
}

static void say_end(const struct executor_news *news)
{
    if (news)
        tap_diag("kind %d, reason %s, status %lld, '%s'", (int)news->kind, reason_words(news->reason),
                 (long long)news->status, news->words);
    else
        tap_diag("nothing was told");
}

static void ends_with(bool right, const struct executor_news *news, const char *sentence)
{
    if (!tap_ok(right, "%s: %s", who, sentence))
        say_end(news);
}

static bool no_process_has(const char *mark)
{
    for (int i = 0; i < 200; i++) {
        if (!marked_processes(mark))
            return true;
        world_run(&world, 10);
    }
    return false;
}

/* Waits until a file of a job's folder is there. */
static bool file_comes(uint64_t claim, const char *name)
{
    char folder[200], path[300];

    snprintf(path, sizeof path, "%s/%s", job_folder(&world, claim, folder), name);
    for (int i = 0; i < 1000; i++) {
        if (access(path, F_OK) == 0)
            return true;
        world_run(&world, 10);
    }
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- plain jobs */

static void plain_jobs(void)
{
    const struct executor_news *news, *runs;
    struct job_order order;
    int launcher;

    news = job_run(&world, 1, 1, "exit 0");
    ends_with(ended_with(news, 0), news, "a job that does nothing ends with status 0");
    runs = world_find(&world, 1, 1, EXECUTOR_RUNS);
    tap_ok(runs && runs < news && runs->deadline > record_now(), "%s: that it runs is told before its end", who);
    launcher = launcher_of(&world, 1);
    news = job_run(&world, 1, 2, "exit 7");
    ends_with(ended_with(news, 7), news, "its status is told");
    news = job_run(&world, 1, 3, "kill -TERM $$");
    ends_with(ended_with(news, -SIGTERM), news, "a signal that ended it is told as its number below zero");
    tap_ok(launcher > 0 && launcher_of(&world, 1) == launcher, "%s: the jobs of a claim have the same launcher", who);

    job_order(&world, 1, 4, "", &order);
    order.arguments[0] = "no-such-program";
    job_launch(&world, &order);
    news = world_wait_end(&world, 1, 4);
    ends_with(ended_for(news, REASON_SETUP) && strstr(news->words, "no-such-program"), news,
              "a program that is not there is a failed setup, and named");
    job_order(&world, 1, 5, "", &order);
    order.is.folder = "/nowhere/at/all";
    job_launch(&world, &order);
    news = world_wait_end(&world, 1, 5);
    ends_with(ended_for(news, REASON_SETUP) && strstr(news->words, "/nowhere"), news,
              "a folder that is not there is a failed setup");
}

static void what_jobs_get(void)
{
    const struct executor_news *news;
    struct job_order order;
    char folder[200], path[300];
    FILE *file;

    job_order(&world, 1, 10, "", &order);
    memcpy(order.arguments, ((const char *[]){"printf", "%s|", "a b", "$(id)", "*", ";ls\n", "", NULL}),
           sizeof order.arguments);
    job_launch(&world, &order);
    news = world_wait_end(&world, 1, 10);
    ends_with(ended_with(news, 0) && !strcmp(job_text(&world, 1, "out"), "a b|$(id)|*|;ls\n||"), news,
              "arguments reach the program as they are: no shell reads them");

    setenv("BERTH_TEST_SECRET", "hidden", 1);
    job_order(&world, 1, 11, "env | sort; pwd; ulimit -c; ulimit -n", &order);
    order.environment[0] = "GIVEN=a b=c";
    job_launch(&world, &order);
    world_wait_end(&world, 1, 11);
    tap_ok(!strcmp(job_text(&world, 1, "out"),
                   "GIVEN=a b=c\nHOME=/job\nPATH=/usr/local/bin:/usr/bin:/bin\nPWD=/job\n/job\n0\n4096\n"),
           "%s: its environment is what the order says, HOME and PATH; it begins in /job, without core files", who) ||
        (tap_diag("%s", job_text(&world, 1, "out")), true);
    unsetenv("BERTH_TEST_SECRET");

    snprintf(path, sizeof path, "%s/in", job_folder(&world, 1, folder));
    file = fopen(path, "w");
    fputs("what goes in", file);
    fclose(file);
    job_order(&world, 1, 12, "cat; echo to the error >&2", &order);
    order.is.input = "in";
    order.is.error = "err";
    job_launch(&world, &order);
    news = world_wait_end(&world, 1, 12);
    ends_with(ended_with(news, 0) && !strcmp(job_text(&world, 1, "out"), "what goes in") &&
                  !strcmp(job_text(&world, 1, "err"), "to the error\n"),
              news, "its input, output and error are files of its folder");
    order.arguments[2] = "cat";
    order.is.number = 13;
    order.is.input = "../state";
    job_launch(&world, &order);
    news = world_wait_end(&world, 1, 13);
    ends_with(ended_for(news, REASON_SETUP), news, "an input outside of its folder is refused");
}

static void commands(void)
{
    struct executor *executor = world.executor;
    const struct executor_news *news;
    struct job_order order;
    struct err err = {0};
    int64_t began;
    size_t before;

    job_order(
        &world, 2, 1,
        "trap 'echo warned >told; exit 3' TERM; trap 'echo usr1 >got' USR1; touch up; while :; do sleep 0.02; done",
        &order);
    job_launch(&world, &order);
    file_comes(2, "up");
    tap_ok(executor->kind->launch(executor, &order.is, &err) < 0, "%s: a claim has one job at a time", who);
    executor->kind->signal(executor, 2, SIGUSR1);
    tap_ok(file_comes(2, "got"), "%s: a signal reaches the job's first process", who);
    executor->kind->suspend(executor, 2, true);
    world_run(&world, 100);
    executor->kind->stop(executor, 2, 5 * SECOND_US);
    news = world_wait(&world, 2, 1, EXECUTOR_GONE);
    ends_with(news && !strcmp(job_text(&world, 2, "told"), "warned\n"), news,
              "a job that is stopped is warned, suspended or not, and is told as gone");
    executor->kind->stop(executor, 2, 0);
    before = world.count;
    news = NULL;
    for (int i = 0; i < 500 && world.count == before; i++)
        world_run(&world, 10);
    tap_ok(world.count == before + 1 && world.news[before].kind == EXECUTOR_GONE && world.news[before].number == 1,
           "%s: stopping what has ended is answered all the same", who);
    executor->kind->stop(executor, 99, 0);
    news = world_wait(&world, 99, 0, EXECUTOR_GONE);
    ends_with(news != NULL, news, "stopping what never was is answered with nothing being gone");

    job_order(&world, 2, 2, "trap '' TERM; : mark-stubborn; touch up2; while :; do sleep 0.1; done", &order);
    job_launch(&world, &order);
    file_comes(2, "up2");
    began = record_now();
    executor->kind->stop(executor, 2, SECOND_US / 5);
    news = world_wait(&world, 2, 2, EXECUTOR_GONE);
    ends_with(news && record_now() - began >= SECOND_US / 5 && no_process_has("mark-stubborn"), news,
              "a job that ignores its warning is killed after the grace, with all its processes");
}

static int64_t count_size(void)
{
    char folder[200], path[300];
    struct stat st;

    snprintf(path, sizeof path, "%s/count", job_folder(&world, 3, folder));
    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

static void suspending(void)
{
    struct executor *executor = world.executor;
    struct executor_usage usage = {0};
    struct job_order order;
    int64_t first, second;

    job_order(&world, 3, 1, "(while :; do echo x >>count; sleep 0.02; done) & wait", &order);
    job_launch(&world, &order);
    file_comes(3, "count");
    executor->kind->suspend(executor, 3, true);
    world_run(&world, 200);
    first = count_size();
    world_run(&world, 400);
    second = count_size();
    tap_ok(first > 0 && first == second, "%s: a suspended job does nothing, nor do its children", who);
    executor->kind->suspend(executor, 3, false);
    for (int i = 0; i < 300 && count_size() == second; i++)
        world_run(&world, 10);
    tap_ok(count_size() > second, "%s: a resumed job goes on", who);
    world_run(&world, 1100);
    tap_ok(executor->kind->usage(executor, 3, &usage) && usage.wall > 0 && usage.memory > 0 && usage.disk > 0,
           "%s: what a running job uses can be asked for", who);
    executor->kind->suspend(executor, 3, true);
    world_run(&world, 100);
    kill(launcher_of(&world, 3), SIGKILL);
    tap_ok(world_wait(&world, 3, 1, EXECUTOR_GONE) && no_process_has("echo x >>count"),
           "%s: a launcher that is killed takes a suspended job with it", who);
    tap_ok(!executor->kind->usage(executor, 3, &usage), "%s: what has ended uses nothing", who);
    executor->kind->clear(executor, 3);
}

/* Until a launcher has closed all that it had open. */
static void wait_for_lock(uint64_t claim)
{
    char path[300];
    int fd;

    snprintf(path, sizeof path, "%s/%016llx/lock", world.state, (unsigned long long)claim);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        tap_diag("no lock: %s", strerror(errno));
    close(fd);
}

/* All that it had open is closed: it is gone, or only waits to be reaped. */
static void wait_for_end(int pid)
{
    char path[64], line[512], state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    for (int i = 0; i < 2000; i++) {
        state = 'Z';
        file = fopen(path, "re");
        if (file && fgets(line, sizeof line, file) && strrchr(line, ')'))
            state = strrchr(line, ')')[2];
        if (file)
            fclose(file);
        if (state == 'Z' || state == 'X')
            return;
        usleep(1000);
    }
}

static void deaths_of_launchers(void)
{
    const struct executor_news *news;
    struct job_order order;
    int launcher;

    job_order(&world, 4, 1, "setsid sh -c ': mark-orphan; touch up; while :; do sleep 0.1; done' & sleep 100", &order);
    job_launch(&world, &order);
    file_comes(4, "up");
    launcher = launcher_of(&world, 4);
    tap_ok(launcher > 0 && getpgid(launcher) != getpgid(0) && getsid(launcher) != getsid(0),
           "%s: a launcher is in no group and no session of ours", who);
    kill(launcher, SIGKILL);
    news = world_wait(&world, 4, 1, EXECUTOR_GONE);
    ends_with(news && !marked_processes("mark-orphan"), news,
              "when a launcher is killed its job is gone, and nothing is left when that is told");
    news = job_run(&world, 4, 2, "exit 5");
    ends_with(ended_with(news, 5), news, "the claim's next job gets a new launcher");
    launcher = launcher_of(&world, 4);
    kill(launcher, SIGKILL);
    world_run(&world, 100);
    news = job_run(&world, 4, 3, "exit 6");
    ends_with(ended_with(news, 6), news, "so it does when the launcher died while it had nothing to do");
    launcher = launcher_of(&world, 4);
    kill(launcher, SIGKILL);
    wait_for_lock(4);
    wait_for_end(launcher);
    news = job_run(&world, 4, 4, "exit 8");
    ends_with(ended_with(news, 8), news, "also before its death has been noticed");
}

static int parent_of(int pid)
{
    char path[64], line[512] = "";
    FILE *file;
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) && strrchr(line, ')'))
        sscanf(strrchr(line, ')') + 1, " %*c %d", &parent);
    if (file)
        fclose(file);
    return parent;
}

/* Launchers are made by a process that was loaded before; without it the program is started, and another such process for the next. */
static void deaths_of_the_nursery(void)
{
    const struct executor_news *news = job_run(&world, 3, 90, "exit 4");
    int nursery = launcher_named(&world, "----------------"), other;

    tap_ok(ended_with(news, 4) && nursery > 0 && parent_of(launcher_of(&world, 3)) == nursery,
           "%s: a launcher is not started, but made by one that waits", who);
    kill(nursery, SIGKILL);
    wait_for_end(nursery);
    news = job_run(&world, 3, 91, "exit 5");
    ends_with(ended_with(news, 5), news, "launchers go on when that dies");
    world.executor->kind->clear(world.executor, 2);
    news = job_run(&world, 2, 92, "exit 6");
    ends_with(ended_with(news, 6), news, "and others are made without it");
    for (int i = 0; i < 2000 && !(other = launcher_named(&world, "----------------")); i++)
        usleep(1000);
    world.executor->kind->clear(world.executor, 1);
    news = job_run(&world, 1, 93, "exit 7");
    tap_ok(other > 0 && other != nursery && ended_with(news, 7) && parent_of(launcher_of(&world, 1)) == other,
           "%s: or by the next", who);
}

/* ----------------------------------------------------------------------------------------------------- deaths of the agent */

/* Another process is the agent: it orders jobs, and then only waits. */
static pid_t agent_start(void (*orders)(void))
{
    int ends[2];
    char done = 0;
    pid_t pid;

    if (pipe(ends) < 0)
        return -1;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct err err = {0};

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        snprintf(world.state, sizeof world.state, "%s/state2", world.path);
        if (!world_open(&world, &err))
            _exit(1);
        orders();
        if (write(ends[1], "", 1) != 1)
            _exit(1);
        for (;;)
            world_run(&world, 1000);
    }
    close(ends[1]);
    if (read(ends[0], &done, 1) != 1)
        printf("# the agent did not begin\n");
    close(ends[0]);
    return pid;
}

static void orders_to_be_found(void)
{
    struct job_order order;

    job_order(&world, 20, 1, ": mark-found; sleep 100", &order);
    job_launch(&world, &order);
    job_order(&world, 21, 1, "while [ ! -e go ]; do sleep 0.01; done; exit 3", &order);
    job_launch(&world, &order);
    job_order(&world, 22, 1, ": mark-victim; sleep 100", &order);
    job_launch(&world, &order);
    job_order(&world, 23, 1, "exit 4", &order);
    job_launch(&world, &order);
    for (uint64_t claim = 20; claim < 23; claim++)
        world_wait(&world, claim, 1, EXECUTOR_RUNS);
    world_wait(&world, 23, 1, EXECUTOR_ENDED);
    world.executor->kind->deadline(world.executor, 20, record_now() + 1000 * SECOND_US);
    world_run(&world, 50);
}

static bool launcher_goes(uint64_t claim)
{
    for (int i = 0; i < 1000 && launcher_of(&world, claim); i++)
        poll(NULL, 0, 10);
    return !launcher_of(&world, claim);
}

static void finding_again(void)
{
    struct world here = world;
    const struct executor_news *news;
    struct err err = {0};
    char folder[200], path[300];
    pid_t other = agent_start(orders_to_be_found);
    FILE *file;

    snprintf(world.state, sizeof world.state, "%s/state2", world.path);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    kill(launcher_of(&world, 22), SIGKILL);
    snprintf(path, sizeof path, "%s/go", job_folder(&world, 21, folder));
    file = fopen(path, "w");
    fclose(file);
    tap_ok(launcher_goes(21) && marked_processes("mark-found"),
           "%s: jobs go on when the agent is killed, and launchers leave when theirs has ended", who);
    if (!world_open(&world, &err))
        tap_diag("%s", err.text);
    tap_ok(world.executor->kind->find(world.executor, &err) == 0 && world.count == 4,
           "%s: after a restart all that was begun is told at once", who);
    news = world_find(&world, 20, 1, EXECUTOR_RUNS);
    ends_with(news && news->deadline > record_now() + 900 * SECOND_US, news,
              "what still runs is found, with its deadline");
    news = world_find(&world, 21, 1, EXECUTOR_ENDED);
    ends_with(ended_with(news, 3), news, "what ended meanwhile has ended, with its status");
    news = world_find(&world, 22, 1, EXECUTOR_GONE);
    ends_with(news && !marked_processes("mark-victim"), news, "what died meanwhile is gone");
    news = world_find(&world, 23, 1, EXECUTOR_ENDED);
    ends_with(ended_with(news, 4), news, "what ended before, and was not cleared, is told again");
    world.executor->kind->stop(world.executor, 20, 0);
    news = world_wait(&world, 20, 1, EXECUTOR_GONE);
    ends_with(news && no_process_has("mark-found"), news, "what was found can be stopped");
    for (uint64_t claim = 20; claim < 24; claim++)
        world.executor->kind->clear(world.executor, claim);
    tap_ok(launcher_goes(20) && rmdir(world.state) == 0,
           "%s: when a claim is cleared its launcher leaves, and nothing is kept", who);
    world_close(&world);
    world = here;
}

static void orders_with_deadline(void)
{
    struct job_order order;

    job_order(&world, 25, 1, ": mark-deadline; sleep 100", &order);
    order.is.deadline = record_now() + SECOND_US;
    job_launch(&world, &order);
    world_wait(&world, 25, 1, EXECUTOR_RUNS);
}

static void agent_that_is_stopped(void)
{
    struct world here = world;
    struct err err = {0};
    pid_t other = agent_start(orders_with_deadline);
    bool ran = marked_processes("mark-deadline") > 0, over = false;

    kill(other, SIGSTOP);
    for (int i = 0; i < 500 && !over; i++, poll(NULL, 0, 10))
        over = !marked_processes("mark-deadline");
    tap_ok(ran && over, "%s: a deadline holds while the agent is stopped", who);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    snprintf(world.state, sizeof world.state, "%s/state2", world.path);
    world_open(&world, &err);
    world.executor->kind->find(world.executor, &err);
    tap_ok(world_find(&world, 25, 1, EXECUTOR_GONE) != NULL, "%s: and the job is told as gone", who);
    world.executor->kind->clear(world.executor, 25);
    world_close(&world);
    world = here;
}

/* ------------------------------------------------------------------------------------------------------------- processors */

/* The processors that a running job may use, as it says itself; false: it has not said. */
static bool cores_of(uint64_t claim, cpu_set_t *ret)
{
    const char *at;

    if (!file_comes(claim, "up"))
        return false;
    CPU_ZERO(ret);
    for (at = job_text(&world, claim, "up"); *at >= '0' && *at <= '9'; at += *at == ',') {
        char *end;
        long from = strtol(at, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;

        for (; from <= to && from < CPU_SETSIZE; from++)
            CPU_SET((size_t)from, ret);
        at = end;
    }
    return CPU_COUNT(ret) > 0;
}

static void order_core(uint64_t claim, uint64_t number, double cores)
{
    struct job_order order;

    job_order(&world, claim, number,
              "rm -f up; sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status >.up; mv .up up; sleep 100",
              &order);
    order.is.limits.cores = cores;
    job_launch(&world, &order);
    world_wait(&world, claim, number, EXECUTOR_RUNS);
}

/* A claim for each processor, and one more. */
static void orders_of_cores(void)
{
    cpu_set_t may, mine;
    int count;

    if (sched_getaffinity(0, sizeof may, &may) < 0)
        return;
    count = CPU_COUNT(&may) < 16 ? CPU_COUNT(&may) : 16;
    for (int i = 0; i < count; i++)
        order_core(40 + (uint64_t)i, 1, 1);
    order_core(60, 1, CPU_COUNT(&may));
    for (int i = 0; i < count; i++)
        cores_of(40 + (uint64_t)i, &mine);
    cores_of(60, &mine);
}

/* Several claims at once have processors of their own, also those that come after a restart of the agent. */
static void processors(void)
{
    struct world here = world;
    struct err err = {0};
    cpu_set_t may, mine, all, before;
    pid_t other = agent_start(orders_of_cores);
    bool apart = true, floats, held;
    int count;

    CPU_ZERO(&all);
    CPU_ZERO(&before);
    if (sched_getaffinity(0, sizeof may, &may) < 0)
        tap_diag("no affinity: %s", strerror(errno));
    count = CPU_COUNT(&may) < 16 ? CPU_COUNT(&may) : 16;
    for (int i = 0; i < count; i++) {
        apart &= cores_of(40 + (uint64_t)i, &mine) && CPU_COUNT(&mine) == 1;
        CPU_OR(&all, &all, &mine);
        if (i == 0)
            before = mine;
    }
    floats = cores_of(60, &mine) && CPU_EQUAL(&mine, &may);
    held = strstr(here.executor->kind->describe(here.executor), "(cpu") != NULL;
    if (held) {
        tap_ok(true, "%s: each of several claims has a processor that no other has # SKIP the kernel holds them", who);
    } else {
        if (!tap_ok(apart && CPU_COUNT(&all) == count && floats,
                    "%s: each of several claims has a processor that no other has, and one that comes too late has all",
                    who))
            tap_diag("%d processors for %d claims", CPU_COUNT(&all), count);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    snprintf(world.state, sizeof world.state, "%s/state2", world.path);
    if (!world_open(&world, &err) || world.executor->kind->find(world.executor, &err) < 0)
        tap_diag("%s", err.text);
    world.executor->kind->stop(world.executor, 40, 0);
    world_wait(&world, 40, 1, EXECUTOR_GONE);
    world.executor->kind->clear(world.executor, 40);
    order_core(61, 1, 1);
    if (held)
        tap_ok(true, "%s: after a restart of the agent too # SKIP the kernel holds them", who);
    else
        tap_ok(cores_of(61, &mine) && CPU_EQUAL(&mine, &before),
               "%s: after a restart of the agent a new claim gets the one that is free, and no other", who);
    for (uint64_t claim = 41; claim < 62; claim++) {
        world.executor->kind->stop(world.executor, claim, 0);
        world_run(&world, 1);
    }
    for (uint64_t claim = 41; claim < 62; claim++)
        if (claim < 40 + (uint64_t)count || claim >= 60) {
            world_wait(&world, claim, 1, EXECUTOR_GONE);
            world.executor->kind->clear(world.executor, claim);
        }
    world_close(&world);
    world = here;
}

/* Is the status that is in the folder read as the one that was written? */
static bool status_is_read(int folder, uint64_t number)
{
    struct executor_news news;

    return status_read(folder, &news) && news.number == number && !strcmp(news.words, "as it was");
}

static void records(void)
{
    struct executor_news news = {.kind = EXECUTOR_ENDED, .number = 7, .words = "as it was"};
    char path[300], bytes[4096];
    bool whole, cut = false, changed = false;
    int folder, fd;
    ssize_t len;

    snprintf(path, sizeof path, "%s/record", world.path);
    mkdir(path, 0700);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    whole = status_write(folder, &news, NULL) == 0 && status_is_read(folder, 7);
    news.number = 8;
    whole = whole && status_write(folder, &news, NULL) == 0 && status_is_read(folder, 8);
    fd = openat(folder, "status", O_RDWR | O_CLOEXEC);
    len = read(fd, bytes, sizeof bytes);
    for (ssize_t i = 0; i < len; i++) {
        char other = (char)~bytes[i];

        if (pwrite(fd, &other, 1, i) == 1)
            changed |= status_is_read(folder, 8);
        if (pwrite(fd, bytes + i, 1, i) != 1)
            changed = true;
    }
    whole = whole && status_is_read(folder, 8);
    for (ssize_t i = len; i-- > 0;)
        cut |= ftruncate(fd, i) < 0 || status_is_read(folder, 8);
    close(fd);
    tap_ok(whole && status_write(folder, &news, NULL) == 0 && status_is_read(folder, 8),
           "%s: the end of a job that is written over another's is read", who);
    tap_ok(len > 0 && !cut && !changed, "%s: one that was cut short, or has a byte changed, is none", who);
    init_write(folder, (int)getpid());
    whole = init_read(folder) == (int)getpid();
    init_write(folder, 0);
    tap_ok(whole && !init_read(folder), "%s: the first process of a sandbox is known until it has ended", who);
    unlinkat(folder, "status", 0);
    unlinkat(folder, "init", 0);
    close(folder);
    rmdir(path);
}

/* A number that was found may be somebody else's when the signal goes out. */
static void signals_for_kin(void)
{
    pid_t other = fork();
    struct job_processes processes;
    bool spared;

    if (other == 0) {
        for (;;)
            pause();
    }
    job_processes_init(&processes);
    job_processes_find(&processes, (int)getpid(), false);
    for (size_t i = 0; i < processes.count; i++)
        processes.parents[i] = processes.root = 1; /* as if it had been found below another */
    job_processes_signal(&processes, SIGKILL);
    spared = processes.count > 0 && waitpid(other, NULL, WNOHANG) == 0;
    job_processes_find(&processes, (int)getpid(), false);
    job_processes_signal(&processes, SIGKILL);
    tap_ok(spared && waitpid(other, NULL, 0) == other, "%s: a signal spares whoever is not who was found", who);
    job_processes_done(&processes);
}

/* --------------------------------------------------------------------------------------------------------- descriptors */

/* What a process that was begun says: its output is `out`. */
static bool sandbox_ends_well(const struct sandboxed *process)
{
    char text[512];
    int status = -1;

    if (write(process->go, "", 1) != 1)
        return false;
    while (read(process->told, text, sizeof text) > 0)
        ;
    return waitpid(process->pid, &status, 0) == process->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A job is begun with so many descriptors that can still be had, in a new sandbox or one that is there. True: it was begun, and ended
 * well. */
static bool begin_with(struct sandbox *sandbox, bool fresh, const struct order *order, int folder, const int streams[3],
                       const struct cgroup *none, int room, struct err *err)
{
    struct rlimit before, few;
    struct sandboxed process;
    int lowest = dup(0), failed;

    close(lowest);
    getrlimit(RLIMIT_NOFILE, &before);
    few = (struct rlimit){(rlim_t)(lowest + room), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    if (fresh)
        sandbox_init(sandbox);
    failed = sandbox_start(sandbox, order, folder, streams, none, 0, &process, err);
    setrlimit(RLIMIT_NOFILE, &before);
    if (failed)
        return false;
    failed = !sandbox_ends_well(&process);
    close(process.told);
    close(process.go);
    if (failed)
        err_set(err, "it was begun, and did not run");
    return !failed;
}

/* Whatever is missing, a job is either begun whole or not at all. */
static void few_descriptors(void)
{
    struct holding how = {0};
    struct cgroup none = {0};
    struct sandbox sandbox;
    struct job_order wanted;
    struct order *order;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), folder, begun = 0, refused = 0, half = 0;
    const int streams[3] = {null, null, null};

    job_order(&world, 70, 1, "[ -s /etc/passwd ] && [ -s /etc/group ]", &wanted);
    order = order_copy(&wanted.is, &how, NULL);
    folder = open(wanted.is.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int room = 0; room < 24; room++) {
        struct err err = {0};

        if (begin_with(&sandbox, true, order, folder, streams, &none, room, &err))
            begun++;
        else if (strstr(err.text, "did not run"))
            half++;
        else
            refused += *err.text != '\0';
        /* what failed for once is made when it can be */
        if (!begin_with(&sandbox, false, order, folder, streams, &none, 64, &err))
            half++;
        sandbox_done(&sandbox);
    }
    if (!tap_ok(begun > 0 && refused > 0 && !half && begun + refused == 24,
                "%s: with too few descriptors a job is not begun, and that is said; never half of it", who))
        tap_diag("%d begun, %d refused, %d neither", begun, refused, half);
    order_free(order);
    close(folder);
    close(null);
}

/* ---------------------------------------------------------------------------------------------------------------- secrets */

static void memory_of_launchers(void)
{
    struct job_order order;
    char path[64], text[4096];
    struct stat st;
    ssize_t got;
    bool guarded, first;
    int fd;

    job_order(&world, 71, 1, "cat /proc/self/oom_score_adj >.up; mv .up up; sleep 100", &order);
    job_launch(&world, &order);
    first = file_comes(71, "up") && !strcmp(job_text(&world, 71, "up"), "500\n");
    snprintf(path, sizeof path, "/proc/%d/limits", launcher_of(&world, 71));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    close(fd);
    snprintf(path, sizeof path, "/proc/%d/environ", launcher_of(&world, 71));
    guarded =
        strstr(text, "Max core file size        0                    0 ") && stat(path, &st) == 0 && st.st_uid == 0;
    tap_ok(guarded, "%s: nobody looks into the memory of a launcher, and it leaves no core file", who);
    tap_ok(first, "%s: a job is ended before others when the machine runs out of memory", who);
    world.executor->kind->stop(world.executor, 71, 0);
    world_wait(&world, 71, 1, EXECUTOR_GONE);
    world.executor->kind->clear(world.executor, 71);
}

/* ----------------------------------------------------------------------------------------------------- memory of the machine */

static bool number_to(const char *folder, const char *name, long long number)
{
    char path[600];
    FILE *file;
    bool good;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "we");
    good = file && fprintf(file, "%lld", number) > 0;
    return (!file || fclose(file) == 0) && good;
}

/* The group for memory that we are in, version 1 or 2; false: there is none that a limit can be set in. */
static bool own_group(char ret[400])
{
    char line[300], folder[500];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file)) {
        const char *path = strchr(line, '/');
        bool first = strstr(line, ":memory:") != NULL;

        if (!path || (!first && strncmp(line, "0::", 3) != 0))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(ret, 400, "/sys/fs/cgroup%s%s", first ? "/memory" : "", strcmp(path, "/") ? path : "");
        snprintf(folder, sizeof folder, "%s/berth-short-%d", ret, (int)getpid());
        found = mkdir(folder, 0755) == 0 || errno == EEXIST;
        snprintf(line, sizeof line, "%.270s/%s", folder, first ? "memory.limit_in_bytes" : "memory.max");
        if (found && access(line, W_OK) < 0) {
            rmdir(folder);
            found = false;
        }
    }
    if (file)
        fclose(file);
    return found;
}

static void orders_of_memory(void)
{
    struct job_order order;

    job_order(&world, 80, 1, "touch up; while [ ! -e go ]; do sleep 0.01; done; exec perl -e '$x = \"x\" x 200000000'",
              &order);
    job_launch(&world, &order);
    file_comes(80, "up");
}

/* All that we run in is short of memory: a job that keeps to its own limit is killed by the kernel, and is not to blame. */
static void short_memory(void)
{
    struct world here = world;
    const struct executor_news *news;
    char group[400], folder[500], path[300], job[200];
    struct err err = {0};
    pid_t other;
    bool set;

    if (geteuid() != 0 || !own_group(group)) {
        tap_ok(true,
               "%s: a job that is killed because others' memory ran out is lost, and has not failed # SKIP no group "
               "for memory can be made",
               who);
        return;
    }
    snprintf(folder, sizeof folder, "%s/berth-short-%d", group, (int)getpid());
    set = number_to(folder, access("/sys/fs/cgroup/memory", F_OK) == 0 ? "memory.limit_in_bytes" : "memory.max",
                    100 << 20);
    set = set && number_to(folder, "cgroup.procs", getpid());
    other = agent_start(orders_of_memory);
    number_to(group, "cgroup.procs", getpid());
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    snprintf(world.state, sizeof world.state, "%s/state2", world.path);
    if (!world_open(&world, &err) || world.executor->kind->find(world.executor, &err) < 0)
        tap_diag("%s", err.text);
    snprintf(path, sizeof path, "%s/go", job_folder(&world, 80, job));
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    news = world_wait_end(&world, 80, 1);
    ends_with(set && news && news->kind == EXECUTOR_GONE && strstr(news->words, "out of memory"), news,
              "a job that is killed because others' memory ran out is lost, and has not failed");
    world.executor->kind->clear(world.executor, 80);
    launcher_goes(80);
    for (int i = 0; i < 500 && rmdir(folder) < 0; i++)
        poll(NULL, 0, 10);
    world_close(&world);
    world = here;
}

/* Another job runs into its limit, and the kernel ends it. One that ends itself by the same signal meanwhile has nothing to do with that. */
static void memory_of_another(void)
{
    const struct executor_news *news;
    struct job_order order;
    char path[300], job[200];

    job_order(&world, 81, 1, "touch up; while [ ! -e go ]; do sleep 0.01; done; kill -9 $$", &order);
    order.is.limits = (struct executor_limits){.memory = 64 << 20};
    job_launch(&world, &order);
    file_comes(81, "up");
    job_order(&world, 82, 1, "exec perl -e '$x .= \"x\" x 1000000 while 1'", &order);
    order.is.limits = (struct executor_limits){.memory = 48 << 20};
    job_launch(&world, &order);
    news = world_wait_end(&world, 82, 1);
    ends_with(news && news->kind == EXECUTOR_ENDED && news->reason == REASON_MEMORY, news,
              "a job that takes too much memory ends for that");
    snprintf(path, sizeof path, "%s/go", job_folder(&world, 81, job));
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    news = world_wait_end(&world, 81, 1);
    ends_with(news && news->kind == EXECUTOR_ENDED && news->reason == REASON_EXITED && news->status == -SIGKILL, news,
              "one that ended itself meanwhile is not taken for a victim of that");
    world.executor->kind->clear(world.executor, 81);
    world.executor->kind->clear(world.executor, 82);
}

static void cases(void)
{
    who = geteuid() == 0 ? "root" : "user";
    world_init(&world);
    tap_diag("%s: %s", who, world.executor->kind->describe(world.executor));
    records();
    signals_for_kin();
    plain_jobs();
    what_jobs_get();
    commands();
    suspending();
    deaths_of_launchers();
    deaths_of_the_nursery();
    for (uint64_t claim = 1; claim < 5; claim++)
        world.executor->kind->clear(world.executor, claim);
    finding_again();
    agent_that_is_stopped();
    processors();
    few_descriptors();
    memory_of_launchers();
    short_memory();
    memory_of_another();
    world_done(&world);
}

int main(void)
{
    world_each_user(cases, &tap_count, &tap_failures);
    return tap_done();
}
