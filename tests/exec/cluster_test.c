/* cluster_test.c: the table of a batch system: what is refused and where, how commands are filled in, and what answers mean. The batch systems are
 * scripts in a folder of the test's that is first in PATH; Slurm itself is in pilot_slurm_test.sh. */
#include "common/tap.h"

#include "common/folder.h"

#include "exec/cluster.h"

#include <errno.h>
#include <signal.h>

#define LEAST                                                                                                    \
    "Name = \"toy\"; Submit = { \"toy-submit\", \"$SCRIPT\" }; SubmitId = Words[0]; Status = { \"toy-list\" }; " \
    "JobId = Words[0]; JobName = Words[1]; JobState = Words[2]; Cancel = { \"toy-cancel\", \"$ID\" }; "

static struct folder folder;

static void script(const char *name, const char *text)
{
    char whole[4096];

    snprintf(whole, sizeof whole, "#!/bin/sh\n%s\n", text);
    chmod(folder_put(&folder, name, whole), 0700);
}

static struct cluster *table(const char *text, struct err *err)
{
    *err = (struct err){0};
    return cluster_parse("toy.ad", text, strlen(text), err);
}

/* ------------------------------------------------------------------------------------------------------------- refused */

static const struct {
    const char *sentence, *text, *says;
} bad[] = {
    {"a text that is no ad is refused where it ends", "[ Name = ", "toy.ad:1:10: "},
    {"a table without commands is refused by the name of what is missing", "[ Name = \"x\" ]",
     "toy.ad: Submit is missing"},
    {"an attribute that is misspelt is refused in its line, with what was meant",
     "[\n" LEAST "\n  Capcity = { \"x\" } ]", "toy.ad:3:3: Capcity: a table has no such attribute; perhaps Capacity"},
    {"a command that is no list is refused", "[ " LEAST "\nQueue = \"squeue -h\" ]",
     "toy.ad:2:1: Queue: expected a list of 1 to 128 texts"},
    {"so is one with a number in it", "[ " LEAST "Queue = { \"squeue\", 7 } ]", "Queue: expected a list of texts"},
    {"an unknown $NAME is refused, with those that there are", "[ " LEAST "Queue = { \"q\", \"-u$USER\" } ]",
     "\"-u$USER\": there is no $USER; there are NAME SCRIPT"},
    {"a dollar alone is refused", "[ " LEAST "Queue = { \"q\", \"5$\" } ]", "expected a name in capitals behind '$'"},
    {"a command whose own name is to be filled in is refused", "[ " LEAST "Queue = { \"$ID\" } ]",
     "the command itself has no $NAME"},
    {"a command without what reads it is refused", "[ " LEAST "Capacity = { \"x\" }; Cores = 1 ]",
     "FreeCores is missing: it reads what Capacity printed"},
    {"a name that is no text is refused", "[ Name = 7 ]", "Name: expected a text of 1 to 127 bytes"},
};

static void refuses(void)
{
    struct cluster *cluster;
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cluster = table(bad[i].text, &err);
        if (!tap_ok(!cluster && strstr(err.text, bad[i].says), "%s", bad[i].sentence))
            tap_diag("%s", err.text);
        cluster_free(cluster);
    }
    cluster = cluster_read(folder_path(&folder, "nowhere.ad"), &err);
    tap_ok(!cluster && strstr(err.text, "nowhere.ad: No such file"), "a file that is not there is named");
}

/* ----------------------------------------------------------------------------------------------------------- filled in */

static bool words_are(struct cluster *cluster, const char *command, const struct cluster_order *order,
                      const char *wanted)
{
    char **words = cluster_words(cluster, command, order), all[1024] = "";
    bool same;

    for (size_t i = 0; words && words[i]; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "<%s>", words[i]);
    same = !strcmp(all, wanted);
    if (!same)
        tap_diag("%s", all);
    cluster_words_free(words);
    return same;
}

static void fills(void)
{
    const char *options[] = {"--partition=long", "a b; rm -rf $HOME"};
    struct cluster_order order = {.name = "berth-pilot-1",
                                  .script = "/s",
                                  .output = "/o",
                                  .seconds = 5400,
                                  .cpus = 2,
                                  .memory = (1500ll << 20) + 1,
                                  .options = options,
                                  .option_count = 2};
    struct cluster *slurm;
    struct err err = {0};

    slurm = cluster_read(NULL, &err);
    tap_ok(slurm && !strcmp(cluster_name(slurm), "slurm"), "the table of Slurm is built in");
    tap_ok(words_are(slurm, "Submit", &order,
                     "<sbatch><--parsable><--no-requeue><--job-name=berth-pilot-1><--output=/o><--time=1:30:00>"
                     "<--cpus-per-task=2><--mem=1501M><--partition=long><a b; rm -rf $HOME></s>"),
           "a command is filled in, and what the user adds stands in it word by word");
    order = (struct cluster_order){.name = "n", .script = "/s", .output = "/o"};
    tap_ok(words_are(slurm, "Submit", &order, "<sbatch><--parsable><--no-requeue><--job-name=n><--output=/o></s>"),
           "what nothing is said of is left out");
    order = (struct cluster_order){.id = "17"};
    tap_ok(words_are(slurm, "Cancel", &order, "<scancel><17>"), "a job is cancelled by its id");
    cluster_free(slurm);
    slurm = table("[ " LEAST "Queue = { \"q\", \"$$5\", \"${MINUTES}m\", \"$SECONDS\" } ]", &err);
    order = (struct cluster_order){.seconds = 61};
    tap_ok(words_are(slurm, "Queue", &order, "<q><$5><2m><61>"), "two dollars are one; minutes are rounded up");
    cluster_free(slurm);
}

/* -------------------------------------------------------------------------------------------------------------- answers */

static void lists(void)
{
    struct cluster_jobs jobs = {NULL, 0};
    struct cluster *toy;
    char id[CLUSTER_ID_MAX + 1];
    struct err err;

    toy = table("[ " LEAST " ]", &err);
    script("toy-submit", "echo \"job-$(basename \"$1\") was taken\"");
    tap_ok(cluster_submit(toy, &(struct cluster_order){.script = "/x/y;z"}, id, &err) == 0 && !strcmp(id, "job-y;z"),
           "the id is read from what the command printed, and no shell has seen the name of the script");
    script("toy-submit", "echo 'no account given' >&2; echo more >&2; exit 3");
    tap_ok(cluster_submit(toy, &(struct cluster_order){.script = "/s"}, id, &err) < 0 &&
               strstr(err.text, "toy-submit ended with status 3: no account given"),
           "a command that fails is told with its first complaint");
    script("toy-submit", "echo");
    tap_ok(cluster_submit(toy, &(struct cluster_order){.script = "/s"}, id, &err) < 0 &&
               strstr(err.text, "toy: SubmitId makes nothing of what Submit printed"),
           "an answer without an id is an error");
    script("toy-list", "printf 'a one pending\\nb two running\\n\\nc three gone\\n'");
    tap_ok(cluster_list(toy, &jobs, &err) == 0 && jobs.count == 3 && !strcmp(jobs.items[1].id, "b") &&
               !strcmp(jobs.items[1].name, "two") && jobs.items[0].state == CLUSTER_PENDING &&
               jobs.items[1].state == CLUSTER_RUNNING && jobs.items[2].state == CLUSTER_GONE,
           "a line a job is read, and lines that are none are passed over");
    free(jobs.items);
    script("toy-list", "echo 'a one asleep'");
    tap_ok(cluster_list(toy, &jobs, &err) < 0 &&
               strstr(err.text, "JobState makes nothing of what Status printed: \"a one asleep\""),
           "a state that is none of the three is an error, not a guess");
    script("toy-list", "head -c 20000000 /dev/zero");
    tap_ok(cluster_list(toy, &jobs, &err) < 0 && strstr(err.text, "printed more than"),
           "an answer without end is cut off");
    script("toy-cancel", "kill -9 $$");
    tap_ok(cluster_cancel(toy, "17", &err) < 0 && strstr(err.text, "ended by signal 9"),
           "so is it told when a command is killed");
    cluster_free(toy);
    toy = table(
        "[ Name = \"t\"; Submit = { \"no-such-program\" }; SubmitId = 1; Status = { \"x\" }; JobId = 1; JobName = 1; JobState = 1; Cancel = { \"x\" } ]",
        &err);
    tap_ok(toy && cluster_submit(toy, &(struct cluster_order){.script = "/s"}, id, &err) < 0 &&
               strstr(err.text, "no-such-program: No such file or directory"),
           "a command that is not there is named");
    cluster_free(toy);
}

static void slurm_answers(void)
{
    struct cluster_jobs jobs = {NULL, 0};
    struct cluster_load load;
    struct err err = {0};
    struct cluster *slurm;
    char id[CLUSTER_ID_MAX + 1];

    slurm = cluster_read(NULL, &err);
    script("sbatch", "echo '4711;west'");
    tap_ok(cluster_submit(slurm, &(struct cluster_order){.script = "/s"}, id, &err) == 0 && !strcmp(id, "4711"),
           "of Slurm's id and cluster the id is taken");
    script("squeue", "printf '1 PENDING a\\n2 RUNNING b\\n3 COMPLETING c\\n4 NODE_FAIL d\\n5 CONFIGURING e\\n'");
    script("sinfo", "echo 3/5/0/8");
    tap_ok(cluster_load(slurm, &load, &err) == 0 && load.pending == 1 && load.running == 3 && load.cores == 8 &&
               load.free == 5,
           "its queue and its processors are counted");
    script("sinfo", "echo nothing");
    tap_ok(cluster_load(slurm, &load, &err) < 0 && strstr(err.text, "Cores or FreeCores makes nothing"),
           "what is no number is an error");
    script("squeue", "echo 1-02:03:04");
    unsetenv("SLURM_JOB_END_TIME");
    tap_ok(cluster_left(slurm, "7", 0, &err) == 93784, "the time that is left may have days");
    script("squeue", "echo 4:59");
    tap_ok(cluster_left(slurm, "7", 0, &err) == 299, "or minutes and seconds only");
    script("squeue", "echo UNLIMITED");
    tap_ok(cluster_left(slurm, "7", 0, &err) == -1, "or there is no limit");
    setenv("SLURM_JOB_END_TIME", "1000", 1);
    tap_ok(cluster_left(slurm, "7", 940, &err) == 60 && cluster_left(slurm, "7", 2000, &err) == 0,
           "a batch system that says when the job ends is believed first");
    setenv("SLURM_JOB_ID", "42", 1);
    tap_ok(cluster_here(slurm, id) && !strcmp(id, "42"), "a job knows its id by a variable");
    unsetenv("SLURM_JOB_ID");
    tap_ok(!cluster_here(slurm, id), "and outside of one there is none");
    free(jobs.items);
    cluster_free(slurm);
}

/* ------------------------------------------------------------------------------------------------------------- examples */

static struct cluster *example(const char *name)
{
    struct err err = {0};
    struct cluster *cluster;
    char path[4096];

    snprintf(path, sizeof path, "%s/examples/batch/%s", getenv("BERTH_SOURCE"), name);
    cluster = cluster_read(path, &err);
    if (!cluster)
        tap_diag("%s", err.text);
    return cluster;
}

static void examples(void)
{
    struct cluster *pbs = example("pbs.ad"), *condor = example("htcondor.ad");
    struct cluster_order order = {.name = "n", .script = "/s", .output = "/o", .seconds = 60, .cpus = 1};
    struct cluster_jobs jobs = {NULL, 0};
    struct cluster_load load;
    char id[CLUSTER_ID_MAX + 1];
    struct err err = {0};

    script("qsub", "echo 12.server");
    script(
        "qstat",
        "printf 'Job id Name User Time S Queue\\n----- ---- ---- ---- - -----\\n12.server berth-pilot-1 ada 0 Q work\\n13.server x ada 0 R work\\n'");
    script("pbsnodes",
           "printf '            mem ncpus\\nvnode state njobs run susp f/t f/t f/t f/t jobs\\n----- ----- -----\\n"
           "n1 free 0 0 0 4gb/4gb 2/2 0/0 0/0 --\\nn2 job-busy 1 1 0 1gb/64gb 0/16 0/0 0/0 12\\n'");
    tap_ok(pbs && cluster_submit(pbs, &order, id, &err) == 0 && !strcmp(id, "12.server"), "the example of PBS submits");
    tap_ok(pbs && cluster_list(pbs, &jobs, &err) == 0 && jobs.count == 2 &&
               !strcmp(jobs.items[0].name, "berth-pilot-1") && jobs.items[0].state == CLUSTER_PENDING &&
               jobs.items[1].state == CLUSTER_RUNNING,
           "lists jobs below a heading");
    free(jobs.items);
    if (!tap_ok(pbs && cluster_load(pbs, &load, &err) == 0 && load.cores == 18 && load.free == 2,
                "and counts processors"))
        tap_diag("%s", err.text);
    script("condor_submit", "echo 6.0 - 6.0");
    script("condor_q", "printf '6.0 1 berth-pilot-1\\n7.0 2 y\\n8.0 4 z\\n'");
    script("condor_status", "printf '8 Unclaimed\\n4 Claimed\\n2 Unclaimed\\n1 Owner\\n'");
    tap_ok(condor && cluster_submit(condor, &order, id, &err) == 0 && !strcmp(id, "6.0"),
           "the example of HTCondor submits");
    tap_ok(condor && cluster_list(condor, &jobs, &err) == 0 && jobs.count == 3 &&
               jobs.items[0].state == CLUSTER_PENDING && jobs.items[1].state == CLUSTER_RUNNING &&
               jobs.items[2].state == CLUSTER_GONE,
           "lists jobs");
    free(jobs.items);
    if (!tap_ok(condor && cluster_load(condor, &load, &err) == 0 && load.cores == 15 && load.free == 10 &&
                    load.pending == 1,
                "and counts processors and jobs"))
        tap_diag("%s", err.text);
    cluster_free(pbs);
    cluster_free(condor);
}

/* ------------------------------------------------------------------------------------------------------------- bounds */

static int run(const char *name, int64_t span, struct buf *out, struct err *err)
{
    char *words[] = {(char *)(uintptr_t)name, NULL};

    *err = (struct err){0};
    buf_reset(out);
    return cluster_run(words, span, out, err);
}

/* The number that a script has left; 0: none. */
static int number_in(const char *name)
{
    FILE *file = fopen(folder_path(&folder, name), "r");
    int number = 0;

    if (file && fscanf(file, "%d", &number) != 1)
        number = 0;
    if (file)
        fclose(file);
    return number;
}

static void bounds(void)
{
    char text[2 * FOLDER_PATH_MAX];
    struct buf out;
    struct err err;

    buf_init(&out);
    snprintf(text, sizeof text, "echo $$ >%s/pid; echo 7; exec >&- 2>&-; sleep 600", folder.path);
    script("toy-submit", text);
    if (!tap_ok(run("toy-submit", 2, &out, &err) < 0 && !strcmp(err.text, "toy-submit: it took longer than 2 s"),
                "a command that closes what it prints to, and goes on, is ended when its time is over"))
        tap_diag("%s", err.text);
    tap_ok(number_in("pid") > 0 && kill(number_in("pid"), 0) < 0 && errno == ESRCH, "and nothing is left of it");
    script("toy-submit", "echo 7; exec >&- 2>&-; sleep 0.2; exit 0");
    tap_ok(run("toy-submit", 60, &out, &err) == 0 && !strcmp(buf_string(&out), "7\n"),
           "one that ends well after that has printed what it has");
    script("toy-submit", "exec >&- 2>&-; sleep 0.2; exit 3");
    tap_ok(run("toy-submit", 60, &out, &err) < 0 &&
               !strcmp(err.text, "toy-submit ended with status 3: it did not say why"),
           "and of one that does not its status is told");
    script("toy-submit", "sleep 600");
    tap_ok(run("toy-submit", 2, &out, &err) < 0 && !strcmp(err.text, "toy-submit: it took longer than 2 s"),
           "one that says nothing is ended as well");
    script("toy-submit", "while :; do echo 0123456789012345678901234567890123456789; done");
    tap_ok(run("toy-submit", 600, &out, &err) < 0 &&
               !strcmp(err.text, "toy-submit: it printed more than 16777216 bytes"),
           "and one that says too much");
    buf_done(&out);
}

int main(void)
{
    char path[8192];

    folder_init(&folder);
    snprintf(path, sizeof path, "%s:%s", folder.path, getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    setenv("PATH", path, 1);
    refuses();
    fills();
    lists();
    slurm_answers();
    examples();
    bounds();
    folder_done(&folder);
    return tap_done();
}
