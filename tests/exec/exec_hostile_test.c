/* What hostile jobs try, and what becomes of them: limits, the sandbox, and a neighbour who must not notice. Real processes.
 *
 * As `exec_hostile_test calls` the program is itself such a job: it makes system calls that no job may make. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "exec/jobfolder.h"
#include "exec_world.h"
#include "sys/confined_path.h"

#include <arpa/inet.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static struct world world;
static const char *who;
static int self; /* this program: an ordinary user cannot open what root has started */

static void told(bool right, uint64_t claim, const char *sentence)
{
    const struct executor_news *news = world_end(&world, claim, 1);

    if (tap_ok(right, "%s: %s", who, sentence))
        return;
    if (news)
        tap_diag("kind %d, reason %s, status %lld, '%s'", (int)news->kind, reason_words(news->reason),
                 (long long)news->status, news->words);
    tap_diag("%s", job_text(&world, claim, "out"));
}

/* ------------------------------------------------------------------------------------------------------- system calls */

#define HIGH (1ul << 32)

/* Each line of the output: NAME ERRNO. */
static void try_one(const char *name, long result)
{
    printf("%s %d\n", name, result < 0 ? errno : 0);
}

static int try_calls(void)
{
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    int own = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    struct timespec at = {0, 0};
    char c = 'x';

    try_one("unshare", unshare(CLONE_NEWUSER));
    try_one("setns", setns(own, 0));
    try_one("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
    try_one("clone3", syscall(SYS_clone3, &args, sizeof args));
    try_one("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
    try_one("umount", umount2("/usr", MNT_DETACH));
    try_one("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
    try_one("pivot_root", syscall(SYS_pivot_root, "/", "/"));
    try_one("ptrace", ptrace(PTRACE_ATTACH, 1, NULL, NULL));
    try_one("kexec", syscall(SYS_kexec_load, 0, 0, NULL, 0));
    try_one("module", syscall(SYS_init_module, NULL, 0, ""));
    try_one("bpf", syscall(SYS_bpf, 0, NULL, 0));
    try_one("perf", syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
    try_one("userfaultfd", syscall(SYS_userfaultfd, 0));
    try_one("keyctl", syscall(SYS_keyctl, 0, -3, 1));
    try_one("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
    try_one("by_handle", syscall(SYS_open_by_handle_at, 0, NULL, 0));
    try_one("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
    try_one("swapon", syscall(SYS_swapon, "/job/out", 0));
    try_one("settime", clock_settime(CLOCK_REALTIME, &at));
    try_one("tiocsti", ioctl(0, TIOCSTI, &c));
    try_one("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
    /* The kernel takes 32 bits of these: what stands above them must not hide them from the filter. */
    try_one("vsock_long", syscall(SYS_socket, HIGH | AF_VSOCK, SOCK_STREAM, 0));
    try_one("tiocsti_long", syscall(SYS_ioctl, 0, HIGH | TIOCSTI, &c));
    try_one("clone_long", syscall(SYS_clone, HIGH | CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
    fflush(stdout);
    _exit(0);
}

static void forbidden_calls(void)
{
    static const struct {
        const char *name;
        int error;
    } rows[] = {{"unshare", EPERM},   {"setns", EPERM},       {"clone", EPERM},      {"clone3", ENOSYS},
                {"mount", EPERM},     {"umount", EPERM},      {"fsopen", EPERM},     {"pivot_root", EPERM},
                {"ptrace", EPERM},    {"kexec", EPERM},       {"module", EPERM},     {"bpf", EPERM},
                {"perf", EPERM},      {"userfaultfd", EPERM}, {"keyctl", EPERM},     {"add_key", EPERM},
                {"by_handle", EPERM}, {"reboot", EPERM},      {"swapon", EPERM},     {"settime", EPERM},
                {"tiocsti", EPERM},   {"vsock", EPERM},       {"vsock_long", EPERM}, {"tiocsti_long", EPERM},
                {"clone_long", EPERM}};
    struct job_order order;
    char path[300], folder[200], bytes[65536];
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "%s/calls", job_folder(&world, 1, folder));
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    lseek(self, 0, SEEK_SET);
    while ((got = read(self, bytes, sizeof bytes)) > 0)
        if (write(fd, bytes, (size_t)got) != got)
            tap_diag("the program could not be copied");
    close(fd);
    job_order(&world, 1, 1, "", &order);
    order.arguments[0] = "./calls";
    order.arguments[1] = "calls";
    order.arguments[2] = NULL;
    order.is.limits.memory = 0; /* sanitizers want much of it */
    job_launch(&world, &order);
    world_wait_end(&world, 1, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[64], sentence[120];

        snprintf(line, sizeof line, "%s %d\n", rows[i].name, rows[i].error);
        snprintf(sentence, sizeof sentence, "a job is refused the system call of '%s'", rows[i].name);
        told(job_says(&world, 1, line), 1, sentence);
    }
}

/* -------------------------------------------------------------------------------------------------------- what it sees */

static int listen_here(int *ret_port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (struct sockaddr *)&name, len) < 0 || listen(fd, 8) < 0 ||
        getsockname(fd, (struct sockaddr *)&name, &len) < 0)
        *ret_port = 0;
    *ret_port = ntohs(name.sin_port);
    return fd;
}

static const char connect_script[] =
    "perl -MSocket -e 'socket(S,PF_INET,SOCK_STREAM,0); print connect(S,sockaddr_in(%d,inet_aton(\"127.0.0.1\"))) ? "
    "\"reached\\n\" : \"not reached: $!\\n\"'";

static void walls(void)
{
    char script[3000], folder[200], secret[300], connect[400];
    int port, fd = listen_here(&port);
    struct job_order order;
    FILE *file;

    snprintf(secret, sizeof secret, "%s/secret", job_folder(&world, 3, folder)); /* another claim's */
    file = fopen(secret, "w");
    fputs("the neighbour's secret\n", file);
    fclose(file);
    snprintf(connect, sizeof connect, connect_script, port);
    snprintf(
        script, sizeof script,
        "for f in /usr/x /x /etc/x /dev/x /lib/x; do touch $f 2>/dev/null && echo wrote $f; done; touch /job/x /tmp/x && "
        "echo wrote its own; cat %s && echo read secret; ls %s && echo saw state; cat /etc/shadow && echo read shadow; "
        "ls /home /root /var /run /sys && echo saw more; echo number $(id -u); cp /usr/bin/id i; chmod 4755 i; ./i -u; "
        "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status | tr '\\t' ' '; echo processes $(ls -d /proc/[0-9]* | wc "
        "-l); ls -l /proc/self/fd | grep -c 'socket\\|pipe' ; %s; exit 0",
        secret, world.state, connect);
    job_order(&world, 2, 1, script, &order);
    job_launch(&world, &order);
    world_wait_end(&world, 2, 1);
    told(!job_says(&world, 2, "wrote /") && job_says(&world, 2, "wrote its own"), 2,
         "a job can write to its folder and its /tmp, and nowhere else");
    told(!job_says(&world, 2, "read secret") && !job_says(&world, 2, "the neighbour's"), 2,
         "it cannot read another job's folder");
    told(!job_says(&world, 2, "saw state"), 2, "it cannot reach the agent's state, nor the sockets in it");
    told(!job_says(&world, 2, "read shadow") && !job_says(&world, 2, "saw more"), 2,
         "it sees nothing of /home, /root, /var, /run, /sys and the passwords");
    told(job_says(&world, 2, "number 1000\n1000\n"), 2,
         "it is nobody in particular, and a setuid program changes nothing");
    told(job_says(&world, 2, "CapBnd: 0000000000000000") && job_says(&world, 2, "CapEff: 0000000000000000") &&
             job_says(&world, 2, "NoNewPrivs: 1") && job_says(&world, 2, "Seccomp: 2"),
         2, "it has no capabilities, can gain none, and is under a filter");
    told(job_says(&world, 2, "processes 5\n") || job_says(&world, 2, "processes 4\n") ||
             job_says(&world, 2, "processes 6\n"),
         2, "it sees only its own processes");
    told(job_says(&world, 2, "not reached"), 2,
         "without leave it cannot use the machine's network, not even its loopback");
    job_order(&world, 4, 1, connect, &order);
    order.is.network = true;
    job_launch(&world, &order);
    world_wait_end(&world, 4, 1);
    told(job_says(&world, 4, "reached\n") && !job_says(&world, 4, "not reached"), 4,
         "with leave it can, where jobs are in that");
    close(fd);
}

/* A socket that has a name and no file: of the network, not of the file system. */
static void named_sockets(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct job_order order;
    char script[400];

    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "berth-exec-test-%d", (int)getpid());
    if (bind(fd, (struct sockaddr *)&name, sizeof name) < 0 || listen(fd, 4) < 0)
        tap_diag("no socket: %s", strerror(errno));
    snprintf(
        script, sizeof script,
        "perl -MSocket -e 'socket(S,PF_UNIX,SOCK_STREAM,0); print connect(S,pack(\"S a108\",AF_UNIX,\"\\0%s\")) ? \"reached\\n\" : "
        "\"not reached: $!\\n\"'",
        name.sun_path + 1);
    for (uint64_t claim = 7; claim < 9; claim++) {
        job_order(&world, claim, 1, script, &order);
        order.is.network = claim == 8;
        job_launch(&world, &order);
        world_wait_end(&world, claim, 1);
    }
    told(job_says(&world, 7, "not reached: Connection refused"), 7,
         "it cannot reach sockets of the machine that have no file");
    if (strstr(world.executor->kind->describe(world.executor), "landlock"))
        told(job_says(&world, 8, "not reached: Operation not permitted"), 8,
             "nor with the network, where there is Landlock");
    close(fd);
}

static void owners(void)
{
    char script[800], folder[200], path[300];
    struct stat st;

    snprintf(path, sizeof path, "%s/given", job_folder(&world, 5, folder));
    snprintf(script, sizeof script, "cp /usr/bin/id %s && chmod 4755 %s", path, path);
    if (geteuid() != 0 || system(script) != 0)
        return;
    job_run(&world, 5, 1, "./given -u; ./given -ru; touch mine");
    told(job_says(&world, 5, "1000\n1000\n"), 5, "a setuid program that lay in its folder does not make it root");
    snprintf(path, sizeof path, "%s/mine", folder);
    told(stat(path, &st) == 0 && st.st_uid >= 1879048192u, 5, "what it writes belongs to a user of its claim alone");
}

/* ---------------------------------------------------------------------------------------------------------------- links */

static void links(void)
{
    char script[1000], victim[300], folder[200], path[300];
    struct job_order order;
    struct stat st;
    FILE *file;

    snprintf(victim, sizeof victim, "%s/victim", world.path);
    file = fopen(victim, "w");
    fputs("untouched", file);
    fclose(file);
    chmod(victim, 0666);
    snprintf(script, sizeof script, "ln -s %s link; mkfifo fifo; ln -s /tmp elsewhere; ln -s %s in; mkdir dir", victim,
             victim);
    job_run(&world, 6, 1, script);
    job_order(&world, 6, 2, "echo overwritten", &order);
    order.is.output = "link";
    order.is.error = "fifo";
    job_launch(&world, &order);
    world_wait_end(&world, 6, 2);
    snprintf(path, sizeof path, "%s/link", job_folder(&world, 6, folder));
    told(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && !strcmp(job_text(&world, 6, "link"), "overwritten\n") &&
             stat(victim, &st) == 0 && st.st_size == 9,
         6, "a link that an earlier job left in place of its output is not followed, nor waits a FIFO for a reader");
    order.is.number = 3;
    order.is.output = "elsewhere/x";
    job_launch(&world, &order);
    world_wait_end(&world, 6, 3);
    told(world_end(&world, 6, 3)->reason == REASON_SETUP, 6, "nor a link on the way to it");
    order.is.number = 4;
    order.is.output = "out";
    order.is.input = "in";
    job_launch(&world, &order);
    world_wait_end(&world, 6, 4);
    told(world_end(&world, 6, 4)->reason == REASON_SETUP, 6, "nor a link in place of its input");
    order.is.number = 5;
    order.is.input = "fifo";
    order.is.error = NULL;
    job_launch(&world, &order);
    world_wait_end(&world, 6, 5);
    job_run(&world, 6, 6, ":>kept; chmod 600 kept; ln kept linked");
    job_order(&world, 6, 7, "echo words", &order);
    order.is.output = "linked";
    job_launch(&world, &order);
    world_wait_end(&world, 6, 7);
    told(!strcmp(job_text(&world, 6, "linked"), "words\n") && !*job_text(&world, 6, "kept"), 6,
         "an output that has another name as well is made anew");
}

/* --------------------------------------------------------------------------------------------------------------- limits */

struct hostile {
    uint64_t claim;
    const char *script;
    int64_t span, deadline;
    struct executor_limits limits;
    enum executor_news_kind kind;
    enum reason reason;
    const char *sentence;
};

#define MIB (1ll << 20)
#define NEIGHBOUR 50

static const struct hostile hostiles[] = {
    {30,
     ": mark-hostile; perl -e 'while (1) { fork; }'",
     1500000,
     0,
     {1, 256 * MIB, 64 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_TIME,
     "a fork bomb goes off in its own sandbox until its time is up"},
    {42,
     ": mark-hostile; perl -e 'while (defined($p = fork)) { if (!$p) { sleep 60 } $n++ } print $n > 30 && $n < 40 ? \"few\" : \"$n\"'",
     0,
     0,
     {1, 256 * MIB, 64 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_EXITED,
     "a job that forks too often is refused more processes"},
    {31,
     ": mark-hostile; perl -e '$x .= \"x\" x 1000000 while 1'",
     0,
     0,
     {1, 48 * MIB, 64 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_MEMORY,
     "a job that takes too much memory is ended for that"},
    {32,
     ": mark-hostile; for i in 1 2 3 4 5 6; do perl -e '$x = \"x\" x 12000000; sleep 60' & done; wait",
     0,
     0,
     {1, 48 * MIB, 64 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_MEMORY,
     "so it is when many processes share the blame"},
    {33,
     ": mark-hostile; while :; do dd if=/dev/zero of=f$((i=i+1)) bs=1M count=1 2>/dev/null; sleep 0.02; done",
     0,
     0,
     {1, 256 * MIB, 16 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_DISK,
     "a job that fills its disk is ended for that"},
    {34,
     ": mark-hostile; exec dd if=/dev/zero of=f bs=1M",
     0,
     0,
     {1, 256 * MIB, 8 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_DISK,
     "no file of it grows past its disk"},
    {35,
     ": mark-hostile; mkdir -p e/f/g; touch e/f/x; chmod 500 e/f/g; chmod 500 e/f; chmod 0 e; mkdir d; chmod 300 d; perl -e 'open F, \">d/\".$i++ while 1'",
     0,
     0,
     {1, 256 * MIB, 4 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_DISK,
     "very many empty files count, in a folder that is shut as well"},
    {36,
     ": mark-hostile; perl -e 'while (mkdir \"d\") { chdir \"d\" }'; sleep 60",
     0,
     0,
     {1, 256 * MIB, 0, 40},
     EXECUTOR_ENDED,
     REASON_DISK,
     "folders within folders without end end the job"},
    {45,
     "perl -e 'for (1..150) { mkdir \"d\"; chdir \"d\" }'",
     0,
     0,
     {1, 256 * MIB, 0, 40},
     EXECUTOR_ENDED,
     REASON_DISK,
     "also of one that was over before they could be counted"},
    {43,
     ": mark-hostile; perl -e 'for (1..8) { open $f[$_], \">f\"; unlink \"f\"; syswrite $f[$_], \"x\" x 4000000 } sleep 60'",
     0,
     0,
     {1, 256 * MIB, 16 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_DISK,
     "files that it deletes and keeps open count as well"},
    {44,
     ": mark-hostile; dd if=/dev/zero of=/tmp/f bs=1M count=200; echo wrote it; sleep 60",
     0,
     0,
     {1, 48 * MIB, 256 * MIB, 40},
     EXECUTOR_ENDED,
     REASON_MEMORY,
     "what it writes to /tmp counts as memory"},
    {37,
     ": mark-hostile; sleep 60",
     700000,
     0,
     {0, 0, 0, 0},
     EXECUTOR_ENDED,
     REASON_TIME,
     "a job whose time is up is ended"},
    {38,
     ": mark-hostile; trap '' TERM INT HUP; while :; do sleep 0.1; done",
     0,
     700000,
     {0, 0, 0, 0},
     EXECUTOR_GONE,
     REASON_TIME,
     "a job is gone at its deadline, whatever it ignores"},
    {39,
     "(setsid sh -c ': mark-hostile; trap \"\" TERM HUP; sleep 60' &) ; exit 0",
     0,
     0,
     {0, 0, 0, 0},
     EXECUTOR_ENDED,
     REASON_EXITED,
     "what a job left in the background ends with it"},
};

/* When are files counted again? */
static void counting(void)
{
    struct jobfolder_walk walk = {.entries = 100000};
    int64_t now = 10 * SECOND_US;

    told(jobfolder_next(&walk, now, now, 500000, 100000, 0) == now + 500000, 1,
         "files are counted twice a second where that is quick");
    told(jobfolder_next(&walk, now - SECOND_US, now, 500000, 100000, 0) == now + 5 * SECOND_US, 1,
         "and less often where it takes long");
    walk.entries = 500000; /* 400,000 in two seconds: the rest comes in two and a half */
    told(jobfolder_next(&walk, now - SECOND_US, now, 500000, 100000, now - 2 * SECOND_US) == now + 1250000, 1,
         "but in time where there would be too many before");
    walk.entries = FOLDER_ENTRIES_MAX - 1;
    told(jobfolder_next(&walk, now - 5 * SECOND_US, now, 500000, 0, now - SECOND_US) == now + 500000, 1,
         "and never without a pause");
}

static void limits(void)
{
    size_t count = sizeof hostiles / sizeof *hostiles;
    struct job_order order;
    char folder[200];
    const struct executor_news *news;

    job_order(&world, NEIGHBOUR, 1, "touch up; while [ ! -e go ]; do sleep 0.05; done; echo unharmed", &order);
    job_launch(&world, &order);
    world_wait(&world, NEIGHBOUR, 1, EXECUTOR_RUNS);
    for (size_t i = 0; i < count; i++) {
        const struct hostile *hostile = &hostiles[i];

        job_order(&world, hostile->claim, 1, hostile->script, &order);
        order.is.limits = hostile->limits;
        if (hostile->span)
            order.is.span = hostile->span;
        if (hostile->deadline)
            order.is.deadline = record_now() + hostile->deadline;
        job_launch(&world, &order);
        if (i % 3 == 2 || i + 1 == count) /* a few at a time, so that they share the machine fairly */
            for (size_t j = i - i % 3; j <= i; j++)
                world_wait_end(&world, hostiles[j].claim, 1);
    }
    for (size_t i = 0; i < count; i++) {
        news = world_end(&world, hostiles[i].claim, 1);
        told(news && news->kind == hostiles[i].kind && news->reason == hostiles[i].reason, hostiles[i].claim,
             hostiles[i].sentence);
    }
    told(job_says(&world, 42, "few"), 42, "it has as many processes as it may have, and no more");
    told(confined_remove(AT_FDCWD, job_folder(&world, 36, folder), NULL) == 0 && access(folder, F_OK) < 0 &&
             confined_remove(AT_FDCWD, job_folder(&world, 35, folder), NULL) == 0 && access(folder, F_OK) < 0,
         36, "what they left in their folders can be taken away");
    told(!marked_processes("mark-hostile"), 39, "no process of any of them is left");
    told(!world_end(&world, NEIGHBOUR, 1), NEIGHBOUR, "their neighbour runs on");
}

static void neighbour_ends(void)
{
    char folder[200], path[300];
    const struct executor_news *news;
    FILE *file;

    snprintf(path, sizeof path, "%s/go", job_folder(&world, NEIGHBOUR, folder));
    file = fopen(path, "w");
    fclose(file);
    news = world_wait_end(&world, NEIGHBOUR, 1);
    told(news && news->kind == EXECUTOR_ENDED && news->status == 0 && job_says(&world, NEIGHBOUR, "unharmed"),
         NEIGHBOUR, "and ends well");
}

static void usage(void)
{
    const struct executor_news *news;
    struct job_order order;

    job_order(
        &world, 40, 1,
        "perl -e '$x = \"x\" x 30000000; $t = time; 1 while (times)[0] < 0.6 && time < $t + 15'; dd if=/dev/zero of=f bs=1M count=3 "
        "2>/dev/null; dd if=/dev/zero of=/tmp/f bs=1M count=5 2>/dev/null; sleep 0.3",
        &order);
    job_launch(&world, &order);
    news = world_wait_end(&world, 40, 1);
    told(news && news->usage.cpu > 500000 && news->usage.cpu < 3000000 && news->usage.wall >= 900000, 40,
         "the processor time and the time of a job are what they were");
    told(news && news->usage.memory > 30000000 && news->usage.memory < 200000000, 40, "so is its memory at the most");
    told(news && news->usage.disk >= 3 * MIB && news->usage.disk < 4 * MIB, 40, "so is its disk");
    for (uint64_t claim = 1; claim <= 40; claim++) /* theirs are processors that nobody else gets */
        world.executor->kind->clear(world.executor, claim);
    job_order(&world, 41, 1, "perl -e 'fork; 1 while 1'", &order);
    order.is.limits.cores = 0.5;
    order.is.span = 2 * SECOND_US;
    job_launch(&world, &order);
    news = world_wait_end(&world, 41, 1);
    told(news && news->usage.cpu > 100000 &&
             (double)news->usage.cpu < (geteuid() ? 1.2 : 0.75) * (double)news->usage.wall,
         41,
         geteuid() ? "without cgroups a job has no more than whole processors"
                   : "a job has no more than its part of a processor");
}

static void cases(void)
{
    who = geteuid() == 0 ? "root" : "user";
    world_init(&world);
    tap_diag("%s: %s", who, world.executor->kind->describe(world.executor));
    forbidden_calls();
    walls();
    named_sockets();
    owners();
    links();
    counting();
    limits();
    neighbour_ends();
    usage();
    for (uint64_t claim = 1; claim <= NEIGHBOUR; claim++)
        world.executor->kind->clear(world.executor, claim);
    world_done(&world);
}

/* The walls stand around a claim's later jobs too, which have a copy of one furnished sandbox. That takes root. */
static void cases_staged(void)
{
    if (geteuid() != 0)
        return;
    who = "on a stage";
    world_staged = true;
    world_init(&world);
    forbidden_calls();
    walls();
    named_sockets();
    owners();
    links();
    job_run(&world, NEIGHBOUR - 1, 1, "tr '\\0' ' ' </proc/1/cmdline");
    told(job_says(&world, NEIGHBOUR - 1, "berth launcher") && !job_says(&world, NEIGHBOUR - 1, world.state),
         NEIGHBOUR - 1,
         "a claim's second job needs no bubblewrap of its own, and does not see where the agent's state is");
    for (uint64_t claim = 1; claim <= NEIGHBOUR; claim++)
        world.executor->kind->clear(world.executor, claim);
    world_done(&world);
    world_staged = false;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "calls"))
        return try_calls();
    world_network =
        LOCAL_NETWORK_MACHINE; /* which network others have, and what that keeps from them: tests/live/network_live_test.sh */
    self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    cases_staged();
    world_each_user(cases, &tap_count, &tap_failures);
    return tap_done();
}
