/* software_test.c: programs that print an ad for the machine: good ones, and those that hang, print rubbish or too much, or fail. */
#define _GNU_SOURCE
#include "common/tap.h"

#include "common/folder.h"
#include "common/lang.h"
#include "probed.h"

#include "exec/probe.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define SPAN 20000000 /* microseconds: enough on a busy machine */

static struct lang lang;

static int64_t now_ms(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static struct folder folder;

static const char *script(const char *name, const char *text)
{
    struct buf whole;
    const char *path;

    buf_init(&whole);
    buf_addf(&whole, "#!/bin/sh\ncd '%s' || exit 9\n%s\n", folder.path, text);
    path = folder_put(&folder, name, buf_string(&whole));
    chmod(path, 0700);
    buf_done(&whole);
    return path;
}

/* Milliseconds until all have ended. */
static int64_t run(struct prober *prober)
{
    int64_t began = now_ms();
    struct timespec moment = {0, 1000000};

    prober_start(prober);
    while (prober_poll(prober))
        nanosleep(&moment, NULL);
    return now_ms() - began;
}

static struct prober *prober_of(const char *const *programs, int64_t span)
{
    struct probe_settings settings = {.root = "/nowhere", .disk = 7, .programs = programs, .program_span = span};

    return prober_new(lang.symbols, &settings, NULL);
}

static void check_programs(void)
{
    const char *programs[] = {
        script("ad", "cat; echo \"[ Licence = 3; Secret = \\\"${BERTH_SECRET-none}\\\"; Path = \\\"$PATH\\\" ]\""),
        script("json", "echo '{\"Java\": \"17\", \"Disk\": 99}'"), NULL};
    struct prober *prober = prober_of(programs, SPAN);
    struct tree *ad = prober_probe(prober, 0);

    check(ad, "Licence", "-", "programs that were not started say nothing");
    tree_unref(ad);
    setenv("BERTH_SECRET", "hunter2", 1);
    run(prober);
    ad = prober_probe(prober, 0);
    check(ad, "Licence", "3", "what a program prints is part of the machine");
    check(ad, "Java", "\"17\"", "in whatever form");
    check(ad, "Disk", "99", "and lies over what was probed");
    check(ad, "Secret", "\"none\"", "a program does not get our environment");
    tap_ok(strstr(said(ad, "Path"), "/usr/bin") != NULL, "but for a path");
    tap_ok(!*prober_complaint(prober), "nobody complains");
    tree_unref(ad);
    prober_free(prober);
}

static const struct failing {
    const char *sentence, *text, *complaint;
} failing_rows[] = {
    {"a program that prints rubbish", "echo ']]] rubbish'", "printed no ad"},
    {"a program that prints nothing", "", "printed no ad"},
    {"a program that prints two ads", "echo '[ Good = 2 ] [ Good = 3 ]'", "printed no ad"},
    {"a program that prints half an ad", "printf '[ Good = 2; '", "printed no ad"},
    {"a program that prints too much", "yes '[ Good = 2 ]'", "printed more than 65536 bytes"},
    {"a program that prints a little too much", "echo '[ Good = 2 ]'; head -c 65600 /dev/zero | tr '\\0' ' '",
     "printed more than 65536 bytes"},
    {"a program that prints brackets", "head -c 60000 /dev/zero | tr '\\0' '['", "printed no ad"},
    {"a program that prints bytes", "head -c 60000 /dev/urandom", "printed no ad"},
    {"a program that prints too many attributes",
     "echo '['; i=0; while [ $i -lt 600 ]; do echo \"a$i = 1;\"; i=$((i + 1)); done; echo ']'", "printed no ad"},
    {"a program that fails", "echo '[ Good = 2 ]'; exit 3", "ended with status 3"},
    {"a program that a signal ends", "echo '[ Good = 2 ]'; kill -TERM $$", "was ended by signal 15"},
};

/* A program is good at first and then fails: what it said stays. */
static void check_failing(void)
{
    for (size_t i = 0; i < sizeof failing_rows / sizeof *failing_rows; i++) {
        const struct failing *row = &failing_rows[i];
        char text[1000];
        const char *programs[2] = {NULL, NULL};
        struct prober *prober;
        struct tree *ad;

        snprintf(text, sizeof text, "[ -e bad ] || { echo '[ Good = 1 ]'; exit 0; }\n%s", row->text);
        programs[0] = script("failing", text);
        prober = prober_of(programs, SPAN);
        run(prober);
        folder_put(&folder, "bad", "");
        run(prober);
        ad = prober_probe(prober, 0);
        check(ad, "Good", "1", row->sentence);
        if (!tap_ok(strstr(prober_complaint(prober), row->complaint) && !strchr(prober_complaint(prober), '\n'),
                    "%s: the reason is told", row->sentence))
            tap_diag("%s", prober_complaint(prober));
        unlink(folder_path(&folder, "bad"));
        run(prober);
        tap_ok(!*prober_complaint(prober), "%s: when it is good again nobody complains", row->sentence);
        tree_unref(ad);
        prober_free(prober);
    }
}

/* The process whose number a script left in a file has gone: it became our child when its parent went. */
static bool is_gone(const char *name)
{
    struct timespec moment = {0, 10000000};
    FILE *file = fopen(folder_path(&folder, name), "r");
    int pid = 0;
    bool gone = false;

    if (!file || fscanf(file, "%d", &pid) != 1)
        tap_diag("%s: no number", name);
    if (file)
        fclose(file);
    for (int i = 0; pid > 0 && i < 500 && !gone; i++) {
        gone = waitpid(pid, NULL, WNOHANG) == pid || (kill(pid, 0) < 0 && errno == ESRCH);
        if (!gone)
            nanosleep(&moment, NULL);
    }
    return gone;
}

static void check_hanging(void)
{
    const char *programs[] = {script("hang", "trap '' TERM INT; sleep 1000 & echo $! >sleeper; wait"),
                              script("mute", "exec >&-; echo $$ >mute-pid; while :; do sleep 1; done"),
                              script("left", "sleep 1000 & echo $! >left-pid; echo '[ Left = 1 ]'"),
                              "/nowhere/at-all",
                              folder.path,
                              NULL};
    struct prober *prober = prober_of(programs, 4000000);
    int64_t took, began;
    struct stat st;
    struct tree *ad;

    took = run(prober);
    ad = prober_probe(prober, 0);
    tap_ok(took >= 3900 && took < 40000, "programs that hang are killed when their time is up");
    tap_ok(strstr(prober_complaint(prober), "hang: took more than 4 s") &&
               strstr(prober_complaint(prober), "mute: took more than 4 s"),
           "and it is told which");
    tap_ok(is_gone("sleeper"), "with all that they started");
    check(ad, "Left", "1", "a program that has ended has said all, whoever still holds its output");
    tap_ok(!strstr(prober_complaint(prober), "left:") && is_gone("left-pid"), "and what it left behind is ended");
    tap_ok(strstr(prober_complaint(prober), "/nowhere/at-all: cannot be started: No such file") != NULL,
           "a program that is not there is named");
    tree_unref(ad);
    prober_free(prober);

    unlink(folder_path(&folder, "sleeper"));
    prober = prober_of(programs, INT64_C(3600) * 1000000);
    prober_start(prober);
    for (int i = 0; i < 2000 && (stat(folder_path(&folder, "sleeper"), &st) < 0 || !st.st_size); i++)
        usleep(10000);
    began = now_ms();
    prober_start(prober);
    tap_ok(strstr(prober_complaint(prober), "hang: still runs") != NULL, "a program that runs is not started twice");
    prober_free(prober);
    tap_ok(now_ms() - began < 5000 && is_gone("sleeper"), "programs end with the prober");
}

int main(void)
{
    alarm(110); /* whatever waits must not wait for ever */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    lang_init(&lang);
    folder_init(&folder);
    check_programs();
    check_failing();
    check_hanging();
    folder_done(&folder);
    lang_done(&lang);
    return tap_done();
}
