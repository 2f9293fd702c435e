/* cluster_ask.c: a batch system is asked, by the commands of its table, and its answers are read by the table's expressions. */
#include "exec/cluster_parts.h"

#include "lang/ad/eval.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/pair/pair.h"
#include "pool/protocol/writers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Evaluates an expression of the table over a text; the value lives until the arena is rewound. */
static struct value answer_value(struct cluster *cluster, const char *name, const char *text, size_t len)
{
    struct ad_setting setting = {symbols_take(cluster->symbols, "Text", 4), value_string(text, len)};
    struct tree *answer = ad_set(cluster->answer, &setting, 1, NULL);
    struct value value = value_undefined();
    struct env env = {.now = 0};
    struct eval eval;
    struct pair pair;
    symbol label = symbols_find(cluster->symbols, name, strlen(name));

    symbols_drop(cluster->symbols, setting.name);
    eval_init(&eval, &env, &cluster->arena);
    if (answer && label) {
        pair_init(&pair, cluster->table, answer);
        eval_attribute(&eval, &pair.left, label, &value);
    }
    if (value.type == VALUE_STRING) { /* it may lie in the answer, which goes */
        char *copy = arena_alloc(&cluster->arena, value.len + 1);

        memcpy(copy, value.u.string, value.len);
        value.u.string = copy;
    } else if (value.type == VALUE_LIST || value.type == VALUE_AD) {
        value = value_error();
    }
    tree_unref(answer);
    return value;
}

/* Evaluates to a text of visible characters, as ids and names are. False when the value is not one. */
static bool answer_text(struct cluster *cluster, const char *name, const char *text, size_t len,
                        char ret[CLUSTER_ID_MAX + 1])
{
    struct arena_mark mark = arena_mark(&cluster->arena);
    struct value value = answer_value(cluster, name, text, len);
    bool good = false;

    if (value.type == VALUE_INTEGER) {
        snprintf(ret, CLUSTER_ID_MAX + 1, "%lld", (long long)value.u.integer);
        good = true;
    } else if (value.type == VALUE_STRING && value.len && value.len <= CLUSTER_ID_MAX && *value.u.string != '-') {
        memcpy(ret, value.u.string, value.len);
        ret[value.len] = '\0';
        good = true;
        for (uint32_t i = 0; i < value.len; i++)
            good = good && isgraph((unsigned char)ret[i]);
    }
    arena_rewind(&cluster->arena, mark);
    return good;
}

static bool answer_number(struct cluster *cluster, const char *name, const char *text, size_t len, int64_t *ret)
{
    struct arena_mark mark = arena_mark(&cluster->arena);
    struct value value = answer_value(cluster, name, text, len);
    bool good = value.type == VALUE_INTEGER && value.u.integer >= 0;

    if (value.type == VALUE_REAL)
        good = value.u.real >= 0 && real_to_integer(value.u.real, ret);
    else if (good)
        *ret = value.u.integer;
    arena_rewind(&cluster->arena, mark);
    return good;
}

/* Runs a command of the table. */
static int command_run(struct cluster *cluster, const char *command, const struct cluster_order *order, struct buf *out,
                       struct err *err)
{
    char **words = cluster_words(cluster, command, order);
    int result = cluster_run(words, CLUSTER_SPAN, out, err);

    cluster_words_free(words);
    return result;
}

/* Fills `err` with the beginning of what a command printed, which makes no sense; returns -1. */
static int answer_strange(const struct cluster *cluster, const char *command, const char *name, const char *text,
                          size_t len, struct err *err)
{
    int shown = 0;

    while ((size_t)shown < len && shown < 80 && text[shown] >= ' ')
        shown++;
    return err_set(err, "%s: %s makes nothing of what %s printed: \"%.*s\"", cluster->name, name, command, shown, text);
}

int cluster_submit(struct cluster *cluster, const struct cluster_order *order, char ret_id[CLUSTER_ID_MAX + 1],
                   struct err *err)
{
    struct buf out;
    int result;

    buf_init(&out);
    result = command_run(cluster, "Submit", order, &out, err);
    if (result == 0 && !answer_text(cluster, "SubmitId", buf_string(&out), out.len, ret_id))
        result = answer_strange(cluster, "Submit", "SubmitId", buf_string(&out), out.len, err);
    buf_done(&out);
    return result;
}

int cluster_cancel(struct cluster *cluster, const char *id, struct err *err)
{
    struct cluster_order order = {.id = id};
    struct buf out;
    int result;

    buf_init(&out);
    result = command_run(cluster, "Cancel", &order, &out, err);
    buf_done(&out);
    return result;
}

/* Reads a line as a job; false when JobId makes nothing of it, as of a heading. `*ret_bad`: its state makes no sense. */
static bool line_read(struct cluster *cluster, const char *line, size_t len, struct cluster_job *ret, bool *ret_bad)
{
    char state[CLUSTER_ID_MAX + 1];
    static const char *const states[] = {"pending", "running", "gone"};

    if (!answer_text(cluster, "JobId", line, len, ret->id))
        return false;
    if (!answer_text(cluster, "JobName", line, len, ret->name))
        ret->name[0] = '\0';
    *ret_bad = !answer_text(cluster, "JobState", line, len, state);
    for (int i = 0; i < 3 && !*ret_bad; i++)
        if (!strcmp(state, states[i])) {
            ret->state = (enum cluster_state)i;
            return true;
        }
    *ret_bad = true;
    return false;
}

int cluster_jobs_of(struct cluster *cluster, const char *command, const char *text, size_t len,
                    struct cluster_jobs *ret, struct err *err)
{
    struct cluster_jobs jobs = {NULL, 0};
    size_t room = 0;

    for (size_t from = 0, end; from < len; from = end + 1) {
        const char *line = text + from, *stop = memchr(line, '\n', len - from);
        bool bad = false;

        end = stop ? (size_t)(stop - text) : len;
        ARRAY_ROOM(jobs.items, jobs.count, room, 64);
        if (line_read(cluster, line, end - from, &jobs.items[jobs.count], &bad))
            jobs.count++;
        if (!bad && jobs.count <= CLUSTER_JOBS_MAX)
            continue;
        free(jobs.items);
        return bad ? answer_strange(cluster, command, "JobState", line, end - from, err)
                   : err_set(err, "%s: more than %d jobs are listed", cluster->name, CLUSTER_JOBS_MAX);
    }
    *ret = jobs;
    return 0;
}

static int jobs_read(struct cluster *cluster, const char *command, struct cluster_jobs *ret, struct err *err)
{
    struct buf out;
    int result;

    buf_init(&out);
    result = command_run(cluster, command, &(struct cluster_order){.id = NULL}, &out, err);
    if (result == 0)
        result = cluster_jobs_of(cluster, command, buf_string(&out), out.len, ret, err);
    buf_done(&out);
    return result;
}

int cluster_list(struct cluster *cluster, struct cluster_jobs *ret, struct err *err)
{
    return jobs_read(cluster, "Status", ret, err);
}

int cluster_load(struct cluster *cluster, struct cluster_load *ret, struct err *err)
{
    struct cluster_load load = {-1, -1, -1, -1};
    struct cluster_jobs jobs;
    struct buf out;
    int result = 0;

    if (table_part(cluster->table, "Queue")) {
        if (jobs_read(cluster, "Queue", &jobs, err) < 0)
            return -1;
        load.pending = load.running = 0;
        for (size_t i = 0; i < jobs.count; i++) {
            load.pending += jobs.items[i].state == CLUSTER_PENDING;
            load.running += jobs.items[i].state == CLUSTER_RUNNING;
        }
        free(jobs.items);
    }
    buf_init(&out);
    if (table_part(cluster->table, "Capacity")) {
        result = command_run(cluster, "Capacity", &(struct cluster_order){.id = NULL}, &out, err);
        if (result == 0 && (!answer_number(cluster, "Cores", buf_string(&out), out.len, &load.cores) ||
                            !answer_number(cluster, "FreeCores", buf_string(&out), out.len, &load.free)))
            result = answer_strange(cluster, "Capacity", "Cores or FreeCores", buf_string(&out), out.len, err);
    }
    buf_done(&out);
    if (result == 0)
        *ret = load;
    return result;
}

/* The variable that the table names by that attribute; NULL: none, or it is empty. */
static const char *variable(const struct cluster *cluster, const char *name)
{
    const struct expr *e = table_part(cluster->table, name);
    const char *value;
    char *text;

    if (!e)
        return NULL;
    text = mem_dup(tree_string(cluster->table, e), e->u.run.count);
    value = getenv(text);
    free(text);
    return value && *value ? value : NULL;
}

bool cluster_here(const struct cluster *cluster, char ret_id[CLUSTER_ID_MAX + 1])
{
    const char *id = variable(cluster, "IdVariable");

    if (!id || strlen(id) > CLUSTER_ID_MAX || *id == '-')
        return false;
    snprintf(ret_id, CLUSTER_ID_MAX + 1, "%s", id);
    return true;
}

int64_t cluster_left(struct cluster *cluster, const char *id, int64_t now, struct err *err)
{
    const char *end = variable(cluster, "EndVariable");
    struct cluster_order order = {.id = id};
    int64_t left = -1;
    struct buf out;

    if (end && strtoll(end, NULL, 10) > 0)
        return strtoll(end, NULL, 10) > now ? strtoll(end, NULL, 10) - now : 0;
    if (!table_part(cluster->table, "TimeLeft") || !id)
        return -1;
    buf_init(&out);
    if (command_run(cluster, "TimeLeft", &order, &out, err) == 0 &&
        !answer_number(cluster, "SecondsLeft", buf_string(&out), out.len, &left))
        left = -1;
    buf_done(&out);
    return left;
}
