/* dag_run_script.c: scripts of nodes: processes beside the workflow's file, with what DAGMan's words stand for, limits on their time and on what is
 * kept of their output. */
#define _GNU_SOURCE /* pipe2 */
#include "cli/jobs/dag_run.h"

#include "lang/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLLED 200    /* pipes that are looked at in one turn */
#define SAID_READS 16 /* of one script in a turn: one that says more than can be read must not hold up the others */

int run_dag_status(const struct run *run)
{
    return run->runner->stopping ? 4 : run->aborted ? 3 : run->failed ? 2 : 0;
}

/* Nodes that can never run, since one before them has failed. */
static uint32_t futile_count(const struct run *run)
{
    uint32_t count = 0;

    for (uint32_t i = 0; run->finishing && i < run->dag.count; i++)
        count += run->nodes[i].state == NODE_WAITS && !run->dag.nodes[i].final;
    return count;
}

/* What a word of a script stands for; false: for itself. */
static bool word_value(const struct run *run, uint32_t place, bool post, const char *word, char ret[64])
{
    const struct run_node *node = &run->nodes[place];
    const struct dag_node *said = &run->dag.nodes[place];
    int64_t value;

    if (!strcasecmp(word, "$RETRY"))
        value = node->tries;
    else if (!strcasecmp(word, "$MAX_RETRIES"))
        value = said->retries < 0 ? 0 : said->retries;
    else if (!strcasecmp(word, "$RETURN") && post)
        value = node->status;
    else if (!strcasecmp(word, "$PRE_SCRIPT_RETURN") && post)
        value = said->pre.count ? node->pre_status : -1;
    else if (!strcasecmp(word, "$DAG_STATUS"))
        value = run_dag_status(run);
    else if (!strcasecmp(word, "$FAILED_COUNT"))
        value = run->failed;
    else if (!strcasecmp(word, "$FUTILE_COUNT"))
        value = futile_count(run);
    else if (!strcasecmp(word, "$DONE_COUNT"))
        value = run->done;
    else if (!strcasecmp(word, "$NODE_COUNT"))
        value = run->dag.count;
    else if (!strcasecmp(word, "$QUEUED_COUNT"))
        value = (int64_t)run->runner->queued;
    else if (!strcasecmp(word, "$JOB_COUNT"))
        value = (int64_t)node->count;
    else if (!strcasecmp(word, "$DAGID"))
        value = (int64_t)run->runner->job;
    else if (!strcasecmp(word, "$CLUSTERID") && post)
        value = (int64_t)node->first;
    else if (!strcasecmp(word, "$JOBID") && post) {
        snprintf(ret, 64, "%" PRIu64 ".0", node->first);
        return true;
    } else if (!strcasecmp(word, "$SUCCESS") && post) {
        snprintf(ret, 64, "%s", node->status == 0 ? "True" : "False");
        return true;
    } else
        return false;
    snprintf(ret, 64, "%" PRId64, value);
    return true;
}

static bool is_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Becomes the script. */
static void script_exec(const struct run *run, uint32_t place, bool post, int out)
{
    const struct dag_node *said = &run->dag.nodes[place];
    const struct dag_words *words = post ? &said->post : &said->pre;
    char **argv = mem_alloc((words->count + 1) * sizeof *argv), value[64], *program;
    int none;

    for (uint32_t i = 0; i < words->count; i++)
        argv[i] =
            word_value(run, place, post, words->items[i], value) ? mem_dup(value, strlen(value)) : words->items[i];
    argv[words->count] = NULL;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    none = open("/dev/null", O_RDONLY);
    if (none >= 0)
        dup2(none, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (chdir(run->folder) < 0 || (said->folder && chdir(said->folder) < 0)) {
        dprintf(STDERR_FILENO, "%s: %s\n", said->folder ? said->folder : run->folder, strerror(errno));
        _exit(126);
    }
    program = argv[0];
    if (!strchr(program, '/') && is_file(program)) {
        size_t len = strlen(program);

        program = mem_alloc(len + 3);
        snprintf(program, len + 3, "./%s", argv[0]);
    }
    execvp(program, argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

int script_start(struct run *run, uint32_t place, bool post)
{
    struct run_script *script;
    int pair[2] = {-1, -1};

    if (post && run->runner->most_post && run->runner->post_count >= run->runner->most_post) {
        run->nodes[place].due = run_now() + 1; /* it has to wait for one that runs */
        run->resting++;
        return 0;
    }
    script = mem_alloc(sizeof *script);
    *script =
        (struct run_script){.run = run, .node = place, .post = post, .ends = run_now() / 1000 + RUN_SCRIPT_SECONDS};
    if (pipe2(pair, O_CLOEXEC) == 0)
        script->pid = fork();
    if (pair[0] < 0 || script->pid < 0) {
        run_log(run, "a script of node %s cannot be started: %s", run->dag.nodes[place].name, strerror(errno));
        free(script);
        if (pair[0] >= 0) {
            close(pair[0]);
            close(pair[1]);
        }
        return -1;
    }
    if (script->pid == 0)
        script_exec(run, place, post, pair[1]);
    close(pair[1]);
    setpgid(script->pid, script->pid); /* here as well: it may be told to end before it has come to that */
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    script->out = pair[0];
    script->next = run->runner->scripts;
    run->runner->scripts = script;
    *(post ? &run->runner->post_count : &run->runner->pre_count) += 1;
    run_log(run, "the %s script of node %s begins", post ? "POST" : "PRE", run->dag.nodes[place].name);
    run_state_log(run, run->dag.nodes[place].name, post ? "POST_SCRIPT_STARTED" : "PRE_SCRIPT_STARTED", "-");
    return 0;
}

/* Takes what the script has said. */
static void said_take(struct run_script *script)
{
    char room[8192];
    ssize_t got;

    for (int i = 0; i < SAID_READS && script->out >= 0 && (got = read(script->out, room, sizeof room)) >= 0; i++) {
        size_t keep = script->said + (size_t)got <= RUN_SCRIPT_BYTES ? (size_t)got : RUN_SCRIPT_BYTES - script->said;

        if (script->run->log)
            fwrite(room, 1, keep, script->run->log);
        script->said += (uint32_t)keep;
        if (!got) { /* it says no more, and may still run */
            close(script->out);
            script->out = -1;
        }
    }
}

static void script_over(struct runner *runner, struct run_script *script, int status)
{
    struct run_script **link = &runner->scripts;
    struct run *run = script->run;
    uint32_t place = script->node;
    bool post = script->post;

    said_take(script);
    if (script->out >= 0)
        close(script->out);
    while (*link != script)
        link = &(*link)->next;
    *link = script->next;
    free(script);
    *(post ? &runner->post_count : &runner->pre_count) -= 1;
    run->dirty = true;
    if (!run->over && (run->nodes[place].state == NODE_PRE || run->nodes[place].state == NODE_POST))
        node_script_ended(run, place, post, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
}

void scripts_wait(struct runner *runner, int milliseconds)
{
    struct pollfd on[POLLED];
    nfds_t count = 0;
    int64_t now = run_now() / 1000;
    int status;
    pid_t pid;

    for (struct run_script *script = runner->scripts; script && count < POLLED; script = script->next)
        on[count++] = (struct pollfd){.fd = script->out, .events = POLLIN};
    poll(on, count, milliseconds);
    for (struct run_script *script = runner->scripts; script; script = script->next) {
        said_take(script);
        if (now > script->ends)
            kill(-script->pid, SIGKILL);
    }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (struct run_script *script = runner->scripts; script; script = script->next)
            if (script->pid == pid) {
                script_over(runner, script, status);
                break;
            }
}

void scripts_end(struct runner *runner, const struct run *run)
{
    struct run_script *next;

    for (struct run_script *script = runner->scripts; script; script = next) {
        next = script->next;
        if (run && script->run != run)
            continue;
        kill(-script->pid, SIGKILL);
        waitpid(script->pid, NULL, 0);
        script->run->nodes[script->node].state = NODE_WAITS;
        script_over(runner, script, 0);
    }
}
