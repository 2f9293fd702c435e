/* dag_run_files.c: what a run writes beside the workflow's file: journal, log, rescue file, status file, jobstate log, graph.
 *
 *     FILE.nodes.log     the journal: LETTER A B NODE, a line each; the first line names the run
 *     FILE.dagman.out    what happened, for people, and what the scripts said
 *     FILE.rescue001     DONE NODE, a line each: written when the workflow ends and is not done
 *     FILE.lock          held while it runs */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "cli/jobs/dag_run.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RESCUES_MOST 999
#define LOCK_TRIES 100 /* tenths of a second that the run before may take to go */

static void beside(const struct run *run, const char *suffix, char ret[4200])
{
    snprintf(ret, 4200, "%s%s", run->file, suffix);
}

/* ------------------------------------------------------------------------------------------------------------------ logs */

void run_log(struct run *run, const char *format, ...)
{
    time_t now = time(NULL);
    struct tm local;
    char stamp[32];
    va_list list;

    if (!run->log)
        return;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%m/%d/%y %H:%M:%S", &local);
    fprintf(run->log, "%s ", stamp);
    va_start(list, format);
    vfprintf(run->log, format, list);
    va_end(list);
    fputc('\n', run->log);
    fflush(run->log);
}

void run_state_log(struct run *run, const char *node, const char *event, const char *rest)
{
    if (!run->jobstate)
        return;
    if (!strcmp(node, "INTERNAL"))
        fprintf(run->jobstate, "%lld INTERNAL *** %s %s ***\n", (long long)time(NULL), event, rest);
    else
        fprintf(run->jobstate, "%lld %s %s %s - - %" PRIu64 "\n", (long long)time(NULL), node, event, rest,
                ++run->sequence);
    fflush(run->jobstate);
}

/* --------------------------------------------------------------------------------------------------------------- journal */

void dag_journal_add(struct run *run, char what, uint32_t place, int64_t a, int64_t b, bool durable)
{
    char line[DAG_NAME_MAX + 80];
    int len = snprintf(line, sizeof line, "%c %" PRId64 " %" PRId64 " %s\n", what, a, b, run->dag.nodes[place].name);

    ssize_t wrote;

    if (run->journal < 0)
        return;
    wrote = write(run->journal, line, (size_t)len);
    if (wrote != (ssize_t)len) {
        report("%s.nodes.log: %s", run->file, wrote < 0 ? strerror(errno) : strerror(ENOSPC));
        if (wrote > 0 && ftruncate(run->journal, lseek(run->journal, 0, SEEK_END) - wrote) < 0)
            report("%s.nodes.log: a part of a line stays in it: %s", run->file, strerror(errno));
    } else if (durable && fdatasync(run->journal) < 0) {
        report("%s.nodes.log: %s", run->file, strerror(errno));
    }
}

/* A node that was on its way when the run ended stands where the journal says. */
static void journal_apply(struct run *run, char what, int64_t a, int64_t b, uint32_t place)
{
    struct run_node *node = &run->nodes[place];

    switch (what) {
    case 'P':
        node->pre_done = true;
        node->pre_status = a;
        if (a)
            node->status = a;
        break;
    case 'J':
        node->first = (uint64_t)a;
        node->count = (uint64_t)b;
        node->state = NODE_JOB;
        break;
    case 'E':
        node->status = a;
        node->state = NODE_POST;
        break;
    case 'O':
        node->status = a;
        node->due = -1; /* its end follows */
        break;
    case 'T':
        node->tries = (uint32_t)a;
        node->pre_done = false;
        node->first = node->count = 0;
        node->due = 0;
        node->state = NODE_WAITS;
        break;
    case 'D':
    case 'F':
        node->status = a;
        node->state = what == 'D' ? NODE_DONE : NODE_FAILED;
        break;
    default:
        break;
    }
}

/* Applies a line, which ends with a NUL. */
static bool journal_line(struct run *run, const char *line)
{
    int64_t a, b;
    int at = 0;
    uint32_t place;

    if (!*line || sscanf(line + 1, " %" SCNd64 " %" SCNd64 " %n", &a, &b, &at) < 2 || !at)
        return false;
    place = textmap_find(&run->dag.names, line + 1 + at, strlen(line + 1 + at));
    if (place == TEXTMAP_NONE)
        return false;
    journal_apply(run, *line, a, b, place);
    return true;
}

/* Applies what a run of the same name has written. Returns how many bytes of the journal are whole lines: the last may have been cut off, by a kill or a
 * full disk. 0: it is of another run, or says nothing. */
static off_t journal_read(struct run *run, const char *path, const char *head)
{
    size_t len = strlen(head);
    bool applied = false;
    struct buf text;
    char *line, *end;
    off_t whole = 0;

    buf_init(&text);
    if (access(path, R_OK) == 0 && file_read(path, &text) == 0 && text.len > len &&
        !memcmp(buf_string(&text), head, len) && text.text[len] == '\n')
        for (line = text.text + len + 1; (end = memchr(line, '\n', (size_t)(text.text + text.len - line)));
             line = end + 1) {
            *end = '\0';
            applied = journal_line(run, line) || applied;
            whole = end + 1 - text.text;
        }
    buf_done(&text);
    return applied ? whole : 0;
}

int dag_journal_load(struct run *run)
{
    char path[4200], head[128];
    off_t whole;

    beside(run, ".nodes.log", path);
    snprintf(head, sizeof head, "R %s", run->name);
    whole = journal_read(run, path, head);
    run->loaded = whole > 0;
    run->journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (run->journal < 0 || ftruncate(run->journal, whole) < 0) {
        report("%s: %s", path, strerror(errno));
        return -1;
    }
    if (!run->loaded)
        dprintf(run->journal, "%s\n", head);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- rescue */

static int rescue_last(const struct run *run)
{
    char path[4300], name[4200];
    int last = 0;

    beside(run, ".rescue", name);
    for (int i = 1; i <= RESCUES_MOST; i++) {
        snprintf(path, sizeof path, "%s%03d", name, i);
        if (access(path, F_OK) == 0)
            last = i;
        else if (i > last + 20)
            break;
    }
    return last;
}

/* A rescue file says of nodes that they are done, or how often they are tried again. It lies in a folder where others may write, under a name that they know:
 * whoever puts one there beforehand must not be able to have commands run. */
static bool rescue_is_good(const char *path, const char *text)
{
    unsigned line = 1;

    for (; *text; line++) {
        size_t word;

        text += strspn(text, " \t\r");
        word = strcspn(text, " \t\r\n");
        if (word && *text != '#' && !(word == 4 && !strncasecmp(text, "DONE", 4)) &&
            !(word == 5 && !strncasecmp(text, "RETRY", 5))) {
            report("%s:%u: a rescue file says DONE and RETRY, and nothing else; not '%.*s'", path, line,
                   (int)(word < 40 ? word : 40), text);
            return false;
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return true;
}

int dag_rescue_load(struct run *run)
{
    int last = rescue_last(run);
    char name[4200], path[4300], old[4310];
    struct err err = {0};
    struct buf text;
    int result = 0;

    beside(run, ".rescue", name);
    if (run->runner->anew && !run->outer && !run->loaded) {
        for (int i = 1; i <= last; i++) {
            snprintf(path, sizeof path, "%s%03d", name, i);
            snprintf(old, sizeof old, "%s.old", path);
            if (rename(path, old) < 0 && errno != ENOENT)
                report("%s: %s", path, strerror(errno));
        }
        return 0;
    }
    if (!last || run->runner->rescue_from == 0)
        return 0;
    if (run->runner->rescue_from > 0 && !run->outer)
        last = (int)run->runner->rescue_from;
    snprintf(path, sizeof path, "%s%03d", name, last);
    buf_init(&text);
    if (file_read(path, &text) < 0 || !rescue_is_good(path, buf_string(&text))) {
        result = -1;
    } else if (dag_read(&run->dag, buf_string(&text), text.len, NULL, NULL, &err) < 0) {
        report("%s:%u: %s", path, err.line, err.text);
        result = -1;
    } else {
        run_log(run, "what is done is taken from %s", path);
    }
    buf_done(&text);
    return result;
}

void dag_rescue_write(struct run *run)
{
    char name[4200], path[4300];
    FILE *out;

    beside(run, ".rescue", name);
    snprintf(path, sizeof path, "%s%03d", name, rescue_last(run) < RESCUES_MOST ? rescue_last(run) + 1 : RESCUES_MOST);
    out = fopen(path, "we");
    if (!out) {
        report("%s: %s", path, strerror(errno));
        return;
    }
    fprintf(out,
            "# Rescue DAG file, created after running\n#   the %s DAG file\n# Rescue DAG version: 2.0.1 (partial)\n#\n"
            "# Total number of Nodes: %u\n# Nodes premarked DONE: %u\n# Nodes that failed: %u\n#   ",
            run->file, (unsigned)run->dag.count, (unsigned)run->done, (unsigned)run->failed);
    for (uint32_t i = 0; i < run->dag.count; i++)
        if (run->nodes[i].state == NODE_FAILED)
            fprintf(out, "%s,", run->dag.nodes[i].name);
    fprintf(out, "<ENDLIST>\n\n");
    for (uint32_t i = 0; i < run->dag.count; i++)
        if (run->nodes[i].state == NODE_DONE && !run->dag.nodes[i].final)
            fprintf(out, "DONE %s\n", run->dag.nodes[i].name);
    if (fclose(out) != 0)
        report("%s: %s", path, strerror(errno));
    run_log(run, "what is done is in %s", path);
}

/* ----------------------------------------------------------------------------------------------------------- for readers */

static const struct {
    int number;
    const char *word;
} shown[] = {
    [NODE_WAITS] = {0, "STATUS_NOT_READY"}, [NODE_READY] = {1, "STATUS_READY"},  [NODE_PRE] = {2, "STATUS_PRERUN"},
    [NODE_JOB] = {3, "STATUS_SUBMITTED"},   [NODE_POST] = {4, "STATUS_POSTRUN"}, [NODE_DONE] = {5, "STATUS_DONE"},
    [NODE_FAILED] = {6, "STATUS_ERROR"}};

/* A name in quotes, as ads and graphs have it: a node's may have any visible character in it. */
static const char *quoted(struct buf *room, const char *text)
{
    buf_reset(room);
    print_string(room, text, strlen(text), PRINT_PLAIN);
    return buf_string(room);
}

void dag_status_write(struct run *run, bool now)
{
    uint32_t counts[NODE_FAILED + 1] = {0};
    char path[4200], part[4210];
    int64_t at = (int64_t)time(NULL);
    struct buf name;
    int state;
    FILE *out;

    if (!run->dag.status_file || (!now && run_now() < run->status_due))
        return;
    run->status_due = run_now() + run->dag.status_span * 1000;
    snprintf(path, sizeof path, "%s%s%s", *run->dag.status_file == '/' ? "" : run->folder,
             *run->dag.status_file == '/' ? "" : "/", run->dag.status_file);
    snprintf(part, sizeof part, "%s.tmp", path);
    out = fopen(part, "we");
    if (!out)
        return;
    buf_init(&name);
    for (uint32_t i = 0; i < run->dag.count; i++)
        counts[run->nodes[i].state]++;
    state = !run->over ? NODE_JOB : run->status ? NODE_FAILED : NODE_DONE;
    fprintf(
        out,
        "[\n  Type = \"DagStatus\";\n  DagFiles = {\n    %s\n  };\n  Timestamp = %" PRId64
        ";\n  DagStatus = %d; /* \"%s\" */\n  NodesTotal = %u;\n  NodesDone = %u;\n  NodesPre = %u;\n  NodesQueued = %u;\n"
        "  NodesPost = %u;\n  NodesReady = %u;\n  NodesUnready = %u;\n  NodesFailed = %u;\n  JobProcsHeld = 0;\n"
        "  JobProcsIdle = %" PRIu64 ";\n]\n",
        quoted(&name, run->file), at, shown[state].number, shown[state].word, (unsigned)run->dag.count,
        counts[NODE_DONE], counts[NODE_PRE], counts[NODE_JOB], counts[NODE_POST], counts[NODE_READY],
        counts[NODE_WAITS], counts[NODE_FAILED], run->runner->idle);
    for (uint32_t i = 0; i < run->dag.count; i++)
        fprintf(out,
                "[\n  Type = \"NodeStatus\";\n  Node = %s;\n  NodeStatus = %d; /* \"%s\" */\n  StatusDetails = \"\";\n"
                "  RetryCount = %u;\n  JobProcsQueued = %" PRIu64 ";\n  JobProcsHeld = 0;\n]\n",
                quoted(&name, run->dag.nodes[i].name), shown[run->nodes[i].state].number,
                shown[run->nodes[i].state].word, (unsigned)run->nodes[i].tries,
                run->nodes[i].state == NODE_JOB ? run->nodes[i].count : 0);
    fprintf(out, "[\n  Type = \"StatusEnd\";\n  EndTime = %" PRId64 ";\n  NextUpdate = %" PRId64 ";\n]\n", at,
            run->over ? 0 : at + run->dag.status_span);
    buf_done(&name);
    if (fclose(out) != 0 || rename(part, path) < 0)
        report("%s: %s", path, strerror(errno));
}

void dag_dot_write(struct run *run)
{
    struct buf name, parent;
    char path[4200];
    FILE *out;

    if (!run->dag.dot_file)
        return;
    snprintf(path, sizeof path, "%s%s%s", *run->dag.dot_file == '/' ? "" : run->folder,
             *run->dag.dot_file == '/' ? "" : "/", run->dag.dot_file);
    out = fopen(path, "we");
    if (!out) {
        report("%s: %s", path, strerror(errno));
        return;
    }
    fprintf(out, "digraph DAG {\n");
    buf_init(&name);
    buf_init(&parent);
    for (uint32_t i = 0; i < run->dag.count; i++) {
        quoted(&name, run->dag.nodes[i].name);
        fprintf(out, "  %s [shape=ellipse label=%s];\n", name.text, name.text);
    }
    for (uint32_t i = 0; i < run->dag.count; i++)
        for (uint32_t k = 0; k < run->dag.nodes[i].parent_count; k++)
            fprintf(out, "  %s -> %s;\n", quoted(&parent, run->dag.nodes[run->dag.nodes[i].parents[k]].name),
                    quoted(&name, run->dag.nodes[i].name));
    fprintf(out, "}\n");
    buf_done(&name);
    buf_done(&parent);
    if (fclose(out) != 0)
        report("%s: %s", path, strerror(errno));
}

/* ---------------------------------------------------------------------------------------------------------------- config */

/* NAME = VALUE lines: of those that DAGMan knows, the ones that have a meaning here. */
int dag_config_load(struct run *run)
{
    struct runner *runner = run->runner;
    struct {
        const char *name;
        uint64_t *value;
    } rows[] = {{"DAGMAN_MAX_JOBS_SUBMITTED", &runner->most_jobs},
                {"DAGMAN_MAX_JOBS_IDLE", &runner->most_idle},
                {"DAGMAN_MAX_PRE_SCRIPTS", &runner->most_pre},
                {"DAGMAN_MAX_POST_SCRIPTS", &runner->most_post}};
    char path[4200], *line, *rest = NULL;
    struct buf text;
    int result;

    if (!run->dag.config)
        return 0;
    snprintf(path, sizeof path, "%s%s%s", *run->dag.config == '/' ? "" : run->folder,
             *run->dag.config == '/' ? "" : "/", run->dag.config);
    buf_init(&text);
    result = file_read(path, &text);
    buf_string(&text);
    for (line = result == 0 ? strtok_r(text.text, "\r\n", &rest) : NULL; line; line = strtok_r(NULL, "\r\n", &rest)) {
        size_t len;
        char *value;
        bool known = false;

        line += strspn(line, " \t");
        len = strcspn(line, " \t=");
        value = strchr(line, '=');
        if (*line == '#' || !value)
            continue;
        value += 1 + strspn(value + 1, " \t");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strlen(rows[i].name) == len && !strncasecmp(rows[i].name, line, len)) {
                *rows[i].value = strtoull(value, NULL, 10);
                known = true;
            }
        if (len == strlen("DAGMAN_ALWAYS_RUN_POST") && !strncasecmp(line, "DAGMAN_ALWAYS_RUN_POST", len)) {
            runner->always_post = !strncasecmp(value, "true", 4) || *value == '1';
            known = true;
        }
        if (!known)
            report("%s: warning: %.*s is passed over", path, (int)(len < 100 ? len : 100), line);
    }
    buf_done(&text);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------- all */

/* Is the file that we have locked still the one of that name? A run that ends removes it, while others may have it open. */
static bool lock_holds(int fd, const char *path)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

static int lock_take(struct run *run)
{
    char path[4200];

    beside(run, ".lock", path);
    for (int i = 0; i <= LOCK_TRIES; i++) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

        if (fd < 0) {
            report("%s: %s", path, strerror(errno));
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && lock_holds(fd, path)) {
            run->lock = fd;
            return 0;
        }
        close(fd);
        poll(NULL, 0, 100);
    }
    report("%s: another run of this workflow is under way", run->file);
    return -1;
}

int run_files_open(struct run *run)
{
    char path[4200];

    if (lock_take(run) < 0)
        return -1;
    beside(run, ".dagman.out", path);
    run->log = fopen(path, "ae");
    if (run->dag.jobstate_log) {
        snprintf(path, sizeof path, "%s%s%s", *run->dag.jobstate_log == '/' ? "" : run->folder,
                 *run->dag.jobstate_log == '/' ? "" : "/", run->dag.jobstate_log);
        run->jobstate = fopen(path, "ae");
    }
    return 0;
}

void run_files_close(struct run *run)
{
    char path[4200];

    if (run->log)
        fclose(run->log);
    if (run->jobstate)
        fclose(run->jobstate);
    if (run->journal >= 0)
        close(run->journal);
    if (run->lock >= 0) {
        beside(run, ".lock", path);
        unlink(path);
        close(run->lock);
    }
    run->log = run->jobstate = NULL;
    run->journal = run->lock = -1;
}
