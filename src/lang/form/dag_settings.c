/* dag_settings.c: statements about the nodes of a workflow, and about the workflow itself. */
#include "lang/form/dag_parts.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* DONE name */
int dag_statement_done(struct reading *reading)
{
    struct dag_nodes nodes;
    struct dag_node *node;

    if (dag_nodes_take(reading, &nodes) < 0)
        return -1;
    while ((node = dag_nodes_next(reading, &nodes)))
        node->done = true;
    return dag_line_ends(reading);
}

/* RETRY name times [UNLESS-EXIT status] */
int dag_statement_retry(struct reading *reading)
{
    int64_t times, unless = -1;
    struct dag_nodes nodes;
    struct dag_node *node;

    if (dag_nodes_take(reading, &nodes) < 0 ||
        dag_number_take(reading, DAG_RETRIES_MAX, "a number of times", &times) < 0)
        return -1;
    if (dag_word_follows(reading, "UNLESS-EXIT") &&
        dag_number_take(reading, 255, "a status from 0 to 255", &unless) < 0)
        return -1;
    while ((node = dag_nodes_next(reading, &nodes))) {
        node->retries = times;
        node->unless = unless;
    }
    return dag_line_ends(reading);
}

/* PRIORITY name number */
int dag_statement_priority(struct reading *reading)
{
    struct dag_nodes nodes;
    struct dag_node *node;
    int64_t value;

    if (dag_nodes_take(reading, &nodes) < 0 || dag_signed_take(reading, "a whole number", &value) < 0)
        return -1;
    while ((node = dag_nodes_next(reading, &nodes)))
        node->priority = value;
    return dag_line_ends(reading);
}

/* ABORT-DAG-ON name status [RETURN status] */
int dag_statement_abort(struct reading *reading)
{
    int64_t status, returned = -1;
    struct dag_nodes nodes;
    struct dag_node *node;

    if (dag_nodes_take(reading, &nodes) < 0 || dag_signed_take(reading, "a status", &status) < 0)
        return -1;
    if (dag_word_follows(reading, "RETURN") && dag_number_take(reading, 255, "a status from 0 to 255", &returned) < 0)
        return -1;
    while ((node = dag_nodes_next(reading, &nodes))) {
        node->abort = status;
        node->abort_return = returned;
    }
    return dag_line_ends(reading);
}

/* PRE_SKIP name status */
int dag_statement_pre_skip(struct reading *reading)
{
    struct dag_nodes nodes;
    struct dag_node *node;
    int64_t status;

    if (dag_nodes_take(reading, &nodes) < 0 || dag_number_take(reading, 255, "a status from 1 to 255", &status) < 0)
        return -1;
    while ((node = dag_nodes_next(reading, &nodes)))
        node->pre_skip = status;
    return dag_line_ends(reading);
}

/* ----------------------------------------------------------------------------------------------------------- categories */

/* The category of that name: in a splice its own, unless the name begins with '+'. */
static uint32_t category_find(struct reading *reading, const char *name, size_t len)
{
    struct dag *dag = reading->dag;
    struct buf whole;
    uint32_t place, known = dag->category_names.places;

    buf_init(&whole);
    buf_adds(&whole, len && *name == '+' ? "" : reading->prefix);
    buf_add(&whole, name, len);
    place = textmap_add(&dag->category_names, whole.text, whole.len);
    if (place == known) {
        uint32_t count = place;

        ARRAY_ROOM(dag->categories, count, dag->category_room, 8);
        dag->categories[place] = (struct dag_category){.name = mem_dup(whole.text, whole.len), .most = -1};
    }
    buf_done(&whole);
    return place;
}

/* CATEGORY name category */
int dag_statement_category(struct reading *reading)
{
    struct dag_nodes nodes;
    struct dag_node *node;
    const char *name;
    size_t len;
    uint32_t place;

    if (dag_nodes_take(reading, &nodes) < 0)
        return -1;
    name = dag_word_take(reading, &len);
    if (!name)
        return dag_wants(reading, "the name of a category");
    place = category_find(reading, name, len);
    while ((node = dag_nodes_next(reading, &nodes)))
        node->category = place + 1;
    return dag_line_ends(reading);
}

/* MAXJOBS category number */
int dag_statement_maxjobs(struct reading *reading)
{
    const char *name;
    size_t len;
    int64_t most;

    name = dag_word_take(reading, &len);
    if (!name)
        return dag_wants(reading, "the name of a category");
    if (dag_number_take(reading, 1000000000, "a number of jobs", &most) < 0)
        return -1;
    reading->dag->categories[category_find(reading, name, len)].most = most;
    return dag_line_ends(reading);
}

/* -------------------------------------------------------------------------------------------------------------- scripts */

static int words_set(struct reading *reading, struct dag_words *words, const char *node, bool post)
{
    struct reading line = *reading;
    const char *word;
    size_t len;

    dag_words_free(words);
    while ((word = dag_word_take(&line, &len))) {
        if (!post && (submit_same(word, len, "$RETURN") || submit_same(word, len, "$JOBID") ||
                      submit_same(word, len, "$CLUSTERID") || submit_same(word, len, "$PRE_SCRIPT_RETURN")))
            return dag_fail(reading, "%s: '%s' is not known before the job has run", word, len);
        if (submit_same(word, len, "$JOB"))
            dag_words_add(words, node, strlen(node));
        else
            dag_words_add(words, word, len);
    }
    return words->count ? 0 : dag_wants(&line, "a command");
}

/* SCRIPT [DEFER status seconds] [DEBUG file STDOUT|STDERR|ALL] PRE|POST name command words... */
int dag_statement_script(struct reading *reading)
{
    struct dag_defer defer = {-1, 0};
    struct dag_nodes nodes;
    struct dag_node *node;
    bool post;
    size_t len;

    if (dag_word_follows(reading, "DEFER") &&
        (dag_number_take(reading, 255, "a status from 0 to 255", &defer.status) < 0 ||
         dag_number_take(reading, 31536000, "a number of seconds", &defer.seconds) < 0))
        return -1;
    if (dag_word_follows(reading, "DEBUG") &&
        (!dag_word_take(reading, &len) || !dag_word_take(reading, &len))) /* its output is in the workflow's log */
        return dag_wants(reading, "a file, and STDOUT, STDERR or ALL");
    if (dag_word_follows(reading, "HOLD"))
        return submit_fail(reading->at, reading->err,
                           "SCRIPT: HOLD is not carried over; a job that is held is shown by 'berth jobs'");
    post = dag_word_follows(reading, "POST");
    if (!post && !dag_word_follows(reading, "PRE"))
        return dag_wants(reading, "PRE or POST");
    if (dag_nodes_take(reading, &nodes) < 0)
        return -1;
    while ((node = dag_nodes_next(reading, &nodes))) {
        *(post ? &node->post_defer : &node->pre_defer) = defer;
        if (words_set(reading, post ? &node->post : &node->pre, node->name, post) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ variables */

static int variable_set(struct reading *reading, struct dag_node *node, const char *name, size_t len,
                        const struct buf *value, bool append)
{
    struct dag_variable *variable = NULL;

    for (uint32_t i = 0; i < node->variable_count && !variable; i++)
        if (submit_same(name, len, node->variables[i].name))
            variable = &node->variables[i];
    if (!variable && node->variable_count == DAG_VARIABLES_MAX)
        return submit_fail(reading->at, reading->err, "VARS: expected at most %d variables of a node",
                           DAG_VARIABLES_MAX);
    if (!variable) {
        node->variables = mem_grow(node->variables, (node->variable_count + 1) * sizeof *node->variables);
        variable = &node->variables[node->variable_count++];
        *variable = (struct dag_variable){.name = mem_dup(name, len)};
    }
    free(variable->value);
    variable->value = mem_dup(value->len ? value->text : "", value->len);
    variable->append = append;
    return 0;
}

/* name="value": \" stands for a double quote and \\ for a backslash. */
static int variable_take(struct reading *reading, const char **ret_name, size_t *ret_len, struct buf *value)
{
    static const char shape[] = "name=\"value\"";
    size_t len = 0;

    *ret_name = reading->text;
    while (len < reading->len && (strchr("_.+", reading->text[len]) || (reading->text[len] | 32) - 'a' + 0u < 26u ||
                                  (reading->text[len] >= '0' && reading->text[len] <= '9')))
        len++;
    *ret_len = len;
    if (!len || len > 200)
        return dag_wants(reading, shape);
    dag_skip(reading, len);
    if (!reading->len || *reading->text != '=')
        return dag_wants(reading, "'=' and a value");
    dag_skip(reading, 1);
    buf_reset(value);
    if (reading->len && *reading->text != '"') { /* without quotes it is a word */
        for (len = 0; len < reading->len && !submit_blank(reading->text[len]); len++)
            buf_addc(value, reading->text[len]);
        dag_skip(reading, len);
        return 0;
    }
    if (!reading->len)
        return dag_wants(reading, "a value");
    for (len = 1; len < reading->len && reading->text[len] != '"'; len++) {
        if (reading->text[len] == '\\' && len + 1 < reading->len && strchr("\"\\", reading->text[len + 1]))
            len++;
        buf_addc(value, reading->text[len]);
    }
    if (len >= reading->len)
        return submit_fail(reading->at, reading->err, "VARS: expected a '\"' that ends the value");
    dag_skip(reading, len + 1);
    return 0;
}

/* VARS name [PREPEND|APPEND] a="1" b="2" */
int dag_statement_vars(struct reading *reading)
{
    struct dag_nodes nodes, each;
    struct dag_node *node;
    struct buf value;
    bool append;
    int result = dag_nodes_take(reading, &nodes);

    if (result < 0)
        return -1;
    append = dag_word_follows(reading, "APPEND");
    if (append)
        dag_needs_host(reading);
    else
        dag_word_follows(reading, "PREPEND");
    buf_init(&value);
    if (!reading->len)
        result = dag_wants(reading, "name=\"value\"");
    while (result == 0 && reading->len) {
        const char *name;
        size_t len;

        result = variable_take(reading, &name, &len, &value);
        each = nodes;
        while (result == 0 && (node = dag_nodes_next(reading, &each)))
            result = variable_set(reading, node, name, len, &value, append);
        if (reading->len && *reading->text == ',')
            dag_skip(reading, 1);
    }
    buf_done(&value);
    return result;
}

/* --------------------------------------------------------------------------------------------------------- the workflow */

/* Takes a file's name as a setting of the workflow; those of files inside of it do not count. */
static int name_set(struct reading *reading, char **ret)
{
    char *name = dag_word_dup(reading);

    if (!name)
        return dag_wants(reading, "the name of a file");
    if (reading->depth) {
        free(name);
        return 0;
    }
    free(*ret);
    *ret = name;
    return 0;
}

/* NODE_STATUS_FILE file [seconds] [ALWAYS-UPDATE] */
int dag_statement_status_file(struct reading *reading)
{
    int64_t span = 60;

    if (name_set(reading, &reading->dag->status_file) < 0)
        return -1;
    if (reading->len && *reading->text >= '0' && *reading->text <= '9' &&
        dag_number_take(reading, 1000000000, "a number of seconds", &span) < 0)
        return -1;
    if (!reading->depth)
        reading->dag->status_span = span;
    dag_word_follows(reading, "ALWAYS-UPDATE");
    return dag_line_ends(reading);
}

/* JOBSTATE_LOG file */
int dag_statement_jobstate(struct reading *reading)
{
    return name_set(reading, &reading->dag->jobstate_log) < 0 ? -1 : dag_line_ends(reading);
}

/* DOT file [UPDATE|DONT-UPDATE] [OVERWRITE|DONT-OVERWRITE] [INCLUDE file] */
int dag_statement_dot(struct reading *reading)
{
    return name_set(reading, &reading->dag->dot_file);
}

/* CONFIG file */
int dag_statement_config(struct reading *reading)
{
    return name_set(reading, &reading->dag->config) < 0 ? -1 : dag_line_ends(reading);
}

/* ENV GET name name..., or ENV SET name=value;name=value */
int dag_statement_env(struct reading *reading)
{
    bool get = dag_word_follows(reading, "GET");

    if (!get && !dag_word_follows(reading, "SET"))
        return dag_wants(reading, "GET or SET");
    while (reading->len) {
        size_t len = 0;

        while (len < reading->len && !strchr(get ? " \t,;" : ";", reading->text[len]))
            len++;
        if (len && (get || memchr(reading->text, '=', len)))
            dag_words_add(&reading->dag->environment, reading->text, len);
        dag_skip(reading, len);
        while (reading->len && strchr(",;", *reading->text))
            dag_skip(reading, 1);
    }
    return 0;
}

/* SET_JOB_ATTR name = value */
int dag_statement_attribute(struct reading *reading)
{
    if (!memchr(reading->text, '=', reading->len))
        return dag_wants(reading, "name = value");
    if (!reading->depth)
        dag_words_add(&reading->dag->attributes, reading->text, reading->len);
    return 0;
}
