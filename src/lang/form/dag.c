/* dag.c: files of workflows, much like those of HTCondor's DAGMan.
 *
 * A file is read twice: for its nodes, then for the statements about them. So a line may name a node that
 * comes later, and ALL_NODES means all of them. A file that is spliced in is read both times at once, when the first pass comes to it. */
#include "lang/form/dag_parts.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct dag_node *dag_add(struct dag *dag, const char *name, size_t len)
{
    struct dag_node *node;

    ARRAY_ROOM(dag->nodes, dag->count, dag->room, 16);
    textmap_add(&dag->names, name, len);
    node = &dag->nodes[dag->count++];
    *node = (struct dag_node){.name = mem_dup(name, len),
                              .retries = -1,
                              .unless = -1,
                              .pre_skip = -1,
                              .abort = DAG_NO_STATUS,
                              .abort_return = -1,
                              .pre_defer = {-1, 0},
                              .post_defer = {-1, 0}};
    return node;
}

void dag_needs_host(struct reading *reading)
{
    if (!reading->dag->runs)
        reading->dag->runs = reading->keyword;
}

/* ----------------------------------------------------------------------------------------------------------- statements */

static int statement_run(struct reading *reading)
{
    const struct dag_statement *statement;
    size_t len = 0;
    const char *word = dag_word_take(reading, &len);

    statement = word ? dag_statement_find(word, len) : NULL;
    reading->keyword = "a line of a workflow";
    if (!statement)
        return dag_fail(reading, "%s begins with JOB, PARENT, RETRY, SCRIPT, VARS, PRIORITY or DONE, not with '%s'",
                        word ? word : "", len);
    reading->keyword = statement->word;
    if (!statement->run)
        return submit_fail(reading->at, reading->err, "%s is not carried over: %s", statement->word,
                           statement->refused);
    if (statement->host)
        dag_needs_host(reading);
    return reading->second || statement->makes ? statement->run(reading) : 0;
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

bool dag_line_raw(struct reading *reading, const char **ret, size_t *ret_len)
{
    const char *start = reading->whole + reading->next,
               *end =
                   reading->next < reading->whole_len ? memchr(start, '\n', reading->whole_len - reading->next) : NULL;

    if (reading->next >= reading->whole_len)
        return false;
    *ret = start;
    *ret_len = end ? (size_t)(end - start) : reading->whole_len - reading->next;
    reading->next += *ret_len + (end != NULL);
    reading->line++;
    return true;
}

static int pass(struct reading *reading, const char *text, size_t len)
{
    struct buf out;
    int result = 0;

    buf_init(&out);
    reading->whole = text;
    reading->whole_len = len;
    reading->next = 0;
    reading->line = 0;
    reading->out = &out;
    while (result == 0 && line_next(text, len, &reading->next, &reading->line, &out, &reading->at)) {
        reading->text = buf_string(&out);
        reading->len = out.len;
        submit_trim(&reading->text, &reading->len);
        result = reading->len ? statement_run(reading) : 0;
    }
    buf_done(&out);
    return result;
}

/* ------------------------------------------------------------------------------------------------- files inside of files */

int dag_file_read(struct reading *reading, const char *path, struct buf *ret)
{
    struct submit_place start = {1, 1};
    struct err why = {0};

    if (reading->depth >= DAG_DEPTH_MAX)
        return submit_fail(reading->at, reading->err, "%s: files are inside one another without end", reading->keyword);
    if (!reading->dag->file)
        return submit_fail(reading->at, reading->err, "%s: no other file can be read here", reading->keyword);
    if (reading->dag->file(reading->dag->file_user, path, ret, &why) < 0)
        return submit_fail(reading->at, reading->err, "%s: %.200s: %s", reading->keyword, path, why.text);
    reading->work += ret->len;
    if (ret->len > DAG_BYTES_MAX || reading->work > SUBMIT_WORK_MAX)
        return submit_fail(reading->at, reading->err, "%s: the files are too large together", reading->keyword);
    if (submit_clean(buf_string(ret), ret->len, start, true, &why) < 0)
        return submit_fail(reading->at, reading->err, "%.200s:%u:%u: %s", path, why.line, why.column, why.text);
    return 0;
}

/* What was wrong in the inner file is told with its place there, at the place of the outer one that names it. */
static int inner_result(const struct reading *outer, const char *path, int result, const struct err *why)
{
    if (result == 0)
        return 0;
    return submit_fail(outer->at, outer->err, "%.200s:%u: %.600s", path, why->line, why->text);
}

int dag_inner_read(struct reading *outer, const char *path, const struct buf *text, const char *prefix,
                   const char *folder, struct dag_splice *splice)
{
    struct dag *dag = outer->dag;
    struct reading inner = *outer;
    struct err why = {0};
    int result;

    if (dag->source_count > DAG_SPLICES_MAX)
        return submit_fail(outer->at, outer->err, "%s: expected at most %d splices", outer->keyword, DAG_SPLICES_MAX);
    ARRAY_ROOM(dag->sources, dag->source_count, dag->source_room, 4);
    dag->sources[dag->source_count++] =
        (struct dag_source){mem_dup(path, strlen(path)), folder ? mem_dup(folder, strlen(folder)) : NULL};
    inner.err = &why;
    inner.prefix = prefix;
    inner.source = dag->source_count - 1;
    inner.depth = outer->depth + 1;
    inner.splice = splice;
    inner.second = false;
    result = pass(&inner, buf_string((struct buf *)(uintptr_t)text), text->len);
    inner.second = true;
    if (result == 0)
        result = pass(&inner, text->text, text->len);
    outer->work = inner.work; /* a file that names others several times costs what they all are */
    return inner_result(outer, path, result, &why);
}

int dag_include(struct reading *reading, const char *path, const struct buf *text)
{
    struct reading inner = *reading;
    struct err why = {0};
    int result;

    inner.err = &why;
    inner.depth = reading->depth + 1;
    result = text->len ? pass(&inner, text->text, text->len) : 0;
    reading->work = inner.work;
    return inner_result(reading, path, result, &why);
}

/* ------------------------------------------------------------------------------------------------------------ the whole */

void dag_init(struct dag *dag)
{
    *dag = (struct dag){0};
    textmap_init(&dag->names, 0);
    textmap_init(&dag->description_names, 0);
    textmap_init(&dag->category_names, 0);
    textmap_init(&dag->splice_names, 0);
    ARRAY_ROOM(dag->sources, dag->source_count, dag->source_room, 4);
    dag->sources[dag->source_count++] = (struct dag_source){mem_dup("", 0), NULL};
}

static void node_done(struct dag_node *node)
{
    while (node->variable_count) {
        free(node->variables[--node->variable_count].name);
        free(node->variables[node->variable_count].value);
    }
    dag_words_free(&node->pre);
    dag_words_free(&node->post);
    free(node->variables);
    free(node->parents);
    free(node->name);
    free(node->file);
    free(node->folder);
}

void dag_done(struct dag *dag)
{
    for (uint32_t i = 0; i < dag->count; i++)
        node_done(&dag->nodes[i]);
    for (uint32_t i = 0; i < dag->description_count; i++)
        free(dag->descriptions[i]);
    for (uint32_t i = 0; i < dag->category_names.places; i++)
        free(dag->categories[i].name);
    for (uint32_t i = 0; i < dag->splice_names.places && i < dag->splice_room; i++) {
        free(dag->splices[i].initial);
        free(dag->splices[i].terminal);
        free(dag->splices[i].pins);
    }
    for (uint32_t i = 0; i < dag->source_count; i++) {
        free(dag->sources[i].file);
        free(dag->sources[i].folder);
    }
    dag_words_free(&dag->attributes);
    dag_words_free(&dag->environment);
    free(dag->nodes);
    free(dag->descriptions);
    free(dag->categories);
    free(dag->splices);
    free(dag->sources);
    free(dag->status_file);
    free(dag->jobstate_log);
    free(dag->dot_file);
    free(dag->config);
    textmap_done(&dag->names);
    textmap_done(&dag->description_names);
    textmap_done(&dag->category_names);
    textmap_done(&dag->splice_names);
}

int dag_read(struct dag *dag, const char *text, size_t len, dag_remark_fn *remark, void *user, struct err *err)
{
    struct reading reading = {.dag = dag, .remark = remark, .user = user, .err = err, .prefix = ""};
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

uint32_t dag_cycle(const struct dag *dag)
{
    uint32_t *blocked = mem_alloc((dag->count + 1) * sizeof *blocked),
             *first = mem_alloc((dag->count + 2) * sizeof *first),
             *children = mem_alloc((dag->edges + 1) * sizeof *children),
             *ready = mem_alloc((dag->count + 1) * sizeof *ready), from = 0, to = 0, found = DAG_NODES_MAX + 1;

    memset(first, 0, (dag->count + 2) * sizeof *first);
    for (uint32_t i = 0; i < dag->count; i++)
        for (uint32_t k = 0; k < dag->nodes[i].parent_count; k++)
            first[dag->nodes[i].parents[k] + 2]++;
    for (uint32_t i = 2; i < dag->count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < dag->count; i++) {
        blocked[i] = dag->nodes[i].parent_count;
        if (!blocked[i])
            ready[to++] = i;
        for (uint32_t k = 0; k < dag->nodes[i].parent_count; k++)
            children[first[dag->nodes[i].parents[k] + 1]++] = i;
    }
    for (; from < to; from++)
        for (uint32_t k = first[ready[from]]; k < first[ready[from] + 1]; k++)
            if (!--blocked[children[k]])
                ready[to++] = children[k];
    for (uint32_t i = 0; to < dag->count && i < dag->count && found > DAG_NODES_MAX; i++)
        if (blocked[i])
            found = i;
    free(blocked);
    free(first);
    free(children);
    free(ready);
    return found;
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
            dag_statement_find(buf_string(&out), strcspn(buf_string(&out), " \t")) != NULL;
    buf_done(&out);
    return found;
}
