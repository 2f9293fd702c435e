/* dag.c: files of workflows, much like those of HTCondor's DAGMan.
 *
 * A file is read twice: for its nodes, then for the statements about them. So a line may name a node that
 * comes later, and ALL_NODES means all of them. */
#include "lang/form/dag.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/form/spell.h"
#include "lang/form/submit_parts.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct dag *dag;
    dag_remark_fn *remark;
    void *user;
    bool second;            /* this is the second reading: the nodes are known */
    struct submit_place at; /* where the statement of the line begins */
    const char *text;       /* the rest of the statement */
    size_t len;
    const char *keyword;
    uint64_t work; /* bytes of statements about ALL_NODES, times the number of nodes */
    struct err *err;
};

/* --------------------------------------------------------------------------------------------------------------- words */

static int fail(const struct reading *reading, const char *format, const char *word, size_t len)
{
    char shown[SPELL_SHOWN_MAX];

    return submit_fail(reading->at, reading->err, format, reading->keyword, spell_show(word, len, shown));
}

static int wants(const struct reading *reading, const char *what)
{
    char shown[SPELL_SHOWN_MAX];

    if (!reading->len)
        return submit_fail(reading->at, reading->err, "%s: expected %s, and the line ends", reading->keyword, what);
    return submit_fail(reading->at, reading->err, "%s: expected %s, got '%s'", reading->keyword, what,
                       spell_show(reading->text, strcspn(reading->text, " \t"), shown));
}

static void skip(struct reading *reading, size_t count)
{
    reading->text += count;
    reading->len -= count;
    while (reading->len && submit_blank(*reading->text)) {
        reading->text++;
        reading->len--;
    }
}

/* The next word; NULL at the end of the line. */
static const char *word_take(struct reading *reading, size_t *ret_len)
{
    const char *word = reading->text;
    size_t len = 0;

    while (len < reading->len && !submit_blank(word[len]))
        len++;
    if (!len)
        return NULL;
    *ret_len = len;
    skip(reading, len);
    return word;
}

static bool word_follows(struct reading *reading, const char *word)
{
    size_t len = strlen(word);

    if (reading->len < len || !submit_same(reading->text, len, word) ||
        (reading->len > len && !submit_blank(reading->text[len])))
        return false;
    skip(reading, len);
    return true;
}

static int line_ends(struct reading *reading)
{
    return reading->len ? wants(reading, "the end of the line") : 0;
}

static int number_take(struct reading *reading, int64_t most, const char *what, int64_t *ret)
{
    size_t digits = 0;
    int64_t number = 0;

    while (digits < reading->len && reading->text[digits] >= '0' && reading->text[digits] <= '9' && digits < 12)
        number = number * 10 + (reading->text[digits++] - '0');
    if (!digits || number > most || (digits < reading->len && !submit_blank(reading->text[digits])))
        return wants(reading, what);
    skip(reading, digits);
    *ret = number;
    return 0;
}

/* The nodes that a word names: one, or all for ALL_NODES; [*ret_from, *ret_to). */
static int nodes_take(struct reading *reading, uint32_t *ret_from, uint32_t *ret_to)
{
    const struct dag *dag = reading->dag;
    const char *name;
    size_t len;

    if (word_follows(reading, "ALL_NODES")) {
        reading->work += (reading->len + 1) * dag->count;
        if (reading->work > SUBMIT_WORK_MAX)
            return submit_fail(reading->at, reading->err, "%s: too much is said of ALL_NODES", reading->keyword);
        *ret_from = 0;
        *ret_to = dag->count;
        return 0;
    }
    name = word_take(reading, &len);
    if (!name)
        return wants(reading, "the name of a node");
    *ret_from = textmap_find(&dag->names, name, len);
    *ret_to = *ret_from + 1;
    return *ret_from == TEXTMAP_NONE ? fail(reading, "%s: there is no node '%s'", name, len) : 0;
}

/* --------------------------------------------------------------------------------------------------------------- nodes */

struct dag_node *dag_add(struct dag *dag, const char *name, size_t len)
{
    struct dag_node *node;

    ARRAY_ROOM(dag->nodes, dag->count, dag->room, 16);
    textmap_add(&dag->names, name, len);
    node = &dag->nodes[dag->count++];
    *node = (struct dag_node){.name = mem_dup(name, len), .retries = -1, .unless = -1};
    return node;
}

/* JOB name file [DIR folder] [NOOP] [DONE] */
static int statement_job(struct reading *reading)
{
    struct dag_node *node;
    const char *name, *file, *folder;
    size_t len;

    if (reading->second)
        return 0;
    name = word_take(reading, &len);
    if (!name)
        return wants(reading, "the name of a node");
    if (!dag_name_is_good(name, len) || submit_same(name, len, "ALL_NODES") || submit_same(name, len, "PARENT") ||
        submit_same(name, len, "CHILD"))
        return fail(reading, "%s: '%s' is not the name of a node: up to 255 visible characters, no comma, no keyword",
                    name, len);
    if (textmap_find(&reading->dag->names, name, len) != TEXTMAP_NONE)
        return fail(reading, "%s: there is a node '%s' before it", name, len);
    if (reading->dag->count == DAG_NODES_MAX)
        return submit_fail(reading->at, reading->err, "expected at most %d nodes", DAG_NODES_MAX);
    node = dag_add(reading->dag, name, len);
    node->line = reading->at.line;
    file = word_take(reading, &len);
    if (!file)
        return wants(reading, "the file of the job");
    if (*file == '{' || *file == '@')
        return fail(reading, "%s: '%s' is not carried over: put the description of the job in a file of its own", file,
                    len);
    node->file = mem_dup(file, len);
    if (word_follows(reading, "DIR")) {
        folder = word_take(reading, &len);
        if (!folder)
            return wants(reading, "a folder");
        node->folder = mem_dup(folder, len);
    }
    if (word_follows(reading, "NOOP"))
        return submit_fail(reading->at, reading->err, "JOB: NOOP is not carried over: every node runs its job");
    node->done = word_follows(reading, "DONE");
    return line_ends(reading);
}

/* DONE name */
static int statement_done(struct reading *reading)
{
    uint32_t from, to;

    if (nodes_take(reading, &from, &to) < 0)
        return -1;
    while (from < to)
        reading->dag->nodes[from++].done = true;
    return line_ends(reading);
}

/* RETRY name times [UNLESS-EXIT status] */
static int statement_retry(struct reading *reading)
{
    int64_t times, unless = -1;
    uint32_t from, to;

    if (nodes_take(reading, &from, &to) < 0 || number_take(reading, DAG_RETRIES_MAX, "a number of times", &times) < 0)
        return -1;
    if (word_follows(reading, "UNLESS-EXIT") && number_take(reading, 255, "a status from 0 to 255", &unless) < 0)
        return -1;
    for (; from < to; from++) {
        reading->dag->nodes[from].retries = times;
        reading->dag->nodes[from].unless = unless;
    }
    return line_ends(reading);
}

static int statement_priority(struct reading *reading)
{
    bool less = reading->len && *reading->text == '-';
    uint32_t from, to;
    int64_t value;

    if (nodes_take(reading, &from, &to) < 0)
        return -1;
    less = reading->len && *reading->text == '-';
    if (less)
        skip(reading, 1);
    if (number_take(reading, 1000000000, "a whole number", &value) < 0)
        return -1;
    for (; from < to; from++)
        reading->dag->nodes[from].priority = less ? -value : value;
    return line_ends(reading);
}

/* --------------------------------------------------------------------------------------------------------------- edges */

static int edge_add(struct reading *reading, uint32_t parent, uint32_t child)
{
    struct dag_node *node = &reading->dag->nodes[child];

    if (++reading->dag->edges > DAG_EDGES_MAX)
        return submit_fail(reading->at, reading->err,
                           "expected at most %d pairs of parent and child; a node between many parents and many "
                           "children saves most of them",
                           DAG_EDGES_MAX);
    ARRAY_ROOM(node->parents, node->parent_count, node->parent_room, 4);
    node->parents[node->parent_count++] = parent;
    return 0;
}

/* Reads names up to the word CHILD, or to the end. */
static int names_take(struct reading *reading, bool parents, uint32_t *ret, uint32_t *ret_count)
{
    uint32_t to;

    for (*ret_count = 0; reading->len && !(parents && word_follows(reading, "CHILD")); ++*ret_count) {
        if (nodes_take(reading, &ret[*ret_count], &to) < 0)
            return -1;
        if (to != ret[*ret_count] + 1)
            return submit_fail(reading->at, reading->err, "PARENT: ALL_NODES cannot stand here");
    }
    return *ret_count ? 0 : wants(reading, parents ? "names of nodes and CHILD" : "names of nodes");
}

/* PARENT a b CHILD c d */
static int statement_parent(struct reading *reading)
{
    size_t room = reading->len / 2 + 2;
    uint32_t *parents = mem_alloc(room * sizeof *parents), *children = mem_alloc(room * sizeof *children);
    uint32_t parent_count, child_count;
    int result = names_take(reading, true, parents, &parent_count);

    if (result == 0)
        result = names_take(reading, false, children, &child_count);
    for (uint32_t i = 0; result == 0 && i < child_count; i++)
        for (uint32_t k = 0; result == 0 && k < parent_count; k++)
            result = edge_add(reading, parents[k], children[i]);
    free(parents);
    free(children);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------- commands */

static void words_free(struct dag_words *words)
{
    while (words->count)
        free(words->items[--words->count]);
    free(words->items);
    words->items = NULL;
}

/* Words for which DAGMan puts in a value that we do not have. */
static bool word_is_foreign(const char *word, size_t len)
{
    static const char *const foreign[] = {"$JOBID",        "$CLUSTERID",       "$DAG_STATUS",        "$FAILED_COUNT",
                                          "$FUTILE_COUNT", "$DONE_COUNT",      "$QUEUED_COUNT",      "$NODE_COUNT",
                                          "$DAGID",        "$JOB_COUNT",       "$PRE_SCRIPT_RETURN", "$SUCCESS",
                                          "$EXIT_CODES",   "$EXIT_CODE_COUNTS"};

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (submit_same(word, len, foreign[i]))
            return true;
    return false;
}

static int words_set(struct reading *reading, struct dag_words *words, const char *node, bool post)
{
    struct reading line = *reading;
    const char *word;
    size_t len;

    words_free(words);
    while ((word = word_take(&line, &len))) {
        if (word_is_foreign(word, len) || (!post && submit_same(word, len, "$RETURN")))
            return fail(reading, "%s: '%s' is not carried over", word, len);
        if (submit_same(word, len, "$JOB")) {
            word = node;
            len = strlen(node);
        }
        words->items = mem_grow(words->items, (words->count + 1) * sizeof *words->items);
        words->items[words->count++] = mem_dup(word, len);
    }
    return words->count ? 0 : wants(&line, "a command");
}

/* SCRIPT PRE|POST name command words... */
static int statement_script(struct reading *reading)
{
    uint32_t from, to;
    bool post;

    if (word_follows(reading, "DEFER") || word_follows(reading, "DEBUG"))
        return submit_fail(reading->at, reading->err, "SCRIPT: DEFER and DEBUG are not carried over");
    if (word_follows(reading, "HOLD"))
        return submit_fail(reading->at, reading->err,
                           "SCRIPT: HOLD is not carried over; a job that is held is shown by 'berth jobs'");
    post = word_follows(reading, "POST");
    if (!post && !word_follows(reading, "PRE"))
        return wants(reading, "PRE or POST");
    if (nodes_take(reading, &from, &to) < 0)
        return -1;
    for (; from < to; from++) {
        struct dag_node *node = &reading->dag->nodes[from];

        if (words_set(reading, post ? &node->post : &node->pre, node->name, post) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ variables */

static int variable_set(struct reading *reading, struct dag_node *node, const char *name, size_t len,
                        const struct buf *value)
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
        return wants(reading, shape);
    skip(reading, len);
    if (!reading->len || *reading->text != '=')
        return wants(reading, "'=' and a value in quotes");
    skip(reading, 1);
    if (!reading->len || *reading->text != '"')
        return wants(reading, "a value in quotes");
    buf_reset(value);
    for (len = 1; len < reading->len && reading->text[len] != '"'; len++) {
        if (reading->text[len] == '\\' && len + 1 < reading->len && strchr("\"\\", reading->text[len + 1]))
            len++;
        buf_addc(value, reading->text[len]);
    }
    if (len >= reading->len)
        return submit_fail(reading->at, reading->err, "VARS: expected a '\"' that ends the value");
    skip(reading, len + 1);
    return 0;
}

/* VARS name a="1" b="2" */
static int statement_vars(struct reading *reading)
{
    uint32_t from, to;
    struct buf value;
    int result = nodes_take(reading, &from, &to);

    if (result < 0)
        return -1;
    if (word_follows(reading, "APPEND"))
        return submit_fail(reading->at, reading->err,
                           "VARS: APPEND is not carried over: what the job's own file says comes last");
    word_follows(reading, "PREPEND");
    buf_init(&value);
    if (!reading->len)
        result = wants(reading, "name=\"value\"");
    while (result == 0 && reading->len) {
        const char *name;
        size_t len;

        result = variable_take(reading, &name, &len, &value);
        for (uint32_t i = from; result == 0 && i < to; i++)
            result = variable_set(reading, &reading->dag->nodes[i], name, len, &value);
    }
    buf_done(&value);
    return result;
}

/* ----------------------------------------------------------------------------------------------------------- statements */

typedef int statement_fn(struct reading *reading);

static const struct statement {
    const char *word;
    statement_fn *run;   /* NULL: see the next two */
    const char *refused; /* why the statement cannot be carried over, and what to do; or NULL: ... */
    const char *passed;  /* ... why it is passed over */
} statements[] = {
    {"JOB", statement_job, NULL, NULL},
    {"PARENT", statement_parent, NULL, NULL},
    {"RETRY", statement_retry, NULL, NULL},
    {"SCRIPT", statement_script, NULL, NULL},
    {"VARS", statement_vars, NULL, NULL},
    {"DONE", statement_done, NULL, NULL},
    {"PRIORITY", statement_priority, NULL, NULL},
    {"SUBDAG", NULL, "submit that workflow by itself, or put its lines here", NULL},
    {"SPLICE", NULL, "put the lines of that file here", NULL},
    {"INCLUDE", NULL, "put the lines of that file here, or give both files to berth dag submit", NULL},
    {"CONNECT", NULL, "say PARENT and CHILD", NULL},
    {"PIN_IN", NULL, "say PARENT and CHILD", NULL},
    {"PIN_OUT", NULL, "say PARENT and CHILD", NULL},
    {"FINAL", NULL, "every node waits for others to end well", NULL},
    {"PROVISIONER", NULL, "machines come from the pool", NULL},
    {"SERVICE", NULL, "every node is a part of the work", NULL},
    {"ABORT-DAG-ON", NULL, "what does not depend on a node that failed goes on; RETRY has UNLESS-EXIT", NULL},
    {"PRE_SKIP", NULL, "a PRE command that fails is a node that failed", NULL},
    {"REJECT", NULL, "the file says that it is not to be submitted", NULL},
    {"SUBMIT-DESCRIPTION", NULL, "put the description of the job in a file of its own", NULL},
    {"CATEGORY", NULL, NULL, "ConcurrencyLimits of the jobs say how many run at once"},
    {"MAXJOBS", NULL, NULL, "ConcurrencyLimits of the jobs say how many run at once"},
    {"CONFIG", NULL, NULL, "nothing is to be configured"},
    {"ENV", NULL, NULL, "jobs say their own environment"},
    {"SET_JOB_ATTR", NULL, NULL, "no job carries the workflow out"},
    {"DOT", NULL, NULL, "berth dag status shows the nodes"},
    {"JOBSTATE_LOG", NULL, NULL, "berth dag status shows the nodes"},
    {"NODE_STATUS_FILE", NULL, NULL, "berth dag status shows the nodes"},
    {"SAVE_POINT_FILE", NULL, NULL, "berth dag rescue needs none"},
};

static const struct statement *statement_find(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (submit_same(word, len, statements[i].word))
            return &statements[i];
    return NULL;
}

static int statement_run(struct reading *reading)
{
    const struct statement *statement;
    size_t len = 0;
    const char *word = word_take(reading, &len);

    statement = word ? statement_find(word, len) : NULL;
    reading->keyword = "a line of a workflow";
    if (!statement)
        return fail(reading, "%s begins with JOB, PARENT, RETRY, SCRIPT, VARS, PRIORITY or DONE, not with '%s'",
                    word ? word : "", len);
    reading->keyword = statement->word;
    if (statement->run)
        return reading->second || statement->run == statement_job ? statement->run(reading) : 0;
    if (statement->refused)
        return submit_fail(reading->at, reading->err, "%s is not carried over: %s", statement->word,
                           statement->refused);
    if (!reading->second && reading->remark) {
        struct err remark = {0};

        err_at(&remark, reading->at.line, reading->at.column, "%s is passed over: %s", statement->word,
               statement->passed);
        reading->remark(reading->user, &remark);
    }
    return 0;
}

/* Reads a statement with its continuations in one piece; false at the end. */
static bool line_next(const char *text, size_t len, size_t *at, unsigned *line, struct buf *out,
                      struct submit_place *ret)
{
    bool more = true;

    buf_reset(out);
    while (more && *at < len) {
        const char *start = text + *at, *end = memchr(start, '\n', len - *at);
        size_t size = end ? (size_t)(end - start) : len - *at, blanks = 0;

        *at += size + (end != NULL);
        ++*line;
        while (size && (submit_blank(start[size - 1]) || start[size - 1] == '\r'))
            size--;
        while (blanks < size && submit_blank(start[blanks]))
            blanks++;
        if (!out->len && (blanks == size || start[blanks] == '#'))
            continue;
        if (!out->len)
            *ret = (struct submit_place){*line, (unsigned)blanks + 1};
        more = size && start[size - 1] == '\\';
        buf_add(out, start + blanks, size - blanks - more);
        if (more)
            buf_addc(out, ' ');
    }
    return out->len > 0;
}

static int pass(struct reading *reading, const char *text, size_t len)
{
    unsigned line = 0;
    struct buf out;
    size_t at = 0;
    int result = 0;

    buf_init(&out);
    while (result == 0 && line_next(text, len, &at, &line, &out, &reading->at)) {
        reading->text = buf_string(&out);
        reading->len = out.len;
        submit_trim(&reading->text, &reading->len);
        result = reading->len ? statement_run(reading) : 0;
    }
    buf_done(&out);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------ the whole */

void dag_init(struct dag *dag)
{
    *dag = (struct dag){0};
    textmap_init(&dag->names, 0);
}

void dag_done(struct dag *dag)
{
    for (uint32_t i = 0; i < dag->count; i++) {
        struct dag_node *node = &dag->nodes[i];

        while (node->variable_count) {
            free(node->variables[--node->variable_count].name);
            free(node->variables[node->variable_count].value);
        }
        words_free(&node->pre);
        words_free(&node->post);
        free(node->variables);
        free(node->parents);
        free(node->name);
        free(node->file);
        free(node->folder);
    }
    free(dag->nodes);
    textmap_done(&dag->names);
}

int dag_read(struct dag *dag, const char *text, size_t len, dag_remark_fn *remark, void *user, struct err *err)
{
    struct reading reading = {.dag = dag, .remark = remark, .user = user, .err = err};
    struct submit_place start = {1, 1};

    if (len > DAG_BYTES_MAX)
        return submit_fail(start, err, "expected a file of at most %u bytes", DAG_BYTES_MAX);
    if (submit_clean(text, len, start, true, err) < 0 || pass(&reading, text, len) < 0)
        return -1;
    if (!dag->count)
        return submit_fail(start, err, "expected a line 'JOB name file': without one there is no workflow");
    reading.second = true;
    return pass(&reading, text, len);
}

bool dag_recognise(const char *name, const char *text, size_t len)
{
    size_t end = name ? strlen(name) : 0, at = 0;
    struct submit_place place;
    unsigned line = 0;
    struct buf out;
    bool found;

    if (end > 4 && !strcmp(name + end - 4, ".dag"))
        return true;
    buf_init(&out);
    found = line_next(text, len, &at, &line, &out, &place) &&
            statement_find(buf_string(&out), strcspn(buf_string(&out), " \t")) != NULL;
    buf_done(&out);
    return found;
}
