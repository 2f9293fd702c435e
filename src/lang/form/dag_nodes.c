/* dag_nodes.c: statements that make the nodes of a workflow, and say who waits for whom.
 *
 * A splice is a file whose nodes come in with a prefix: `SPLICE S s.dag` makes A of that file S+A. Where the splice stands for a parent, those of its
 * nodes are meant for which no other of them waits; for a child, those that wait for no other. */
#include "lang/form/dag_parts.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_PAIRS 1000 /* more pairs than that between splices are led through a node that does nothing */

/* --------------------------------------------------------------------------------------------------------------- nodes */

/* Makes a node of the name that follows, as the present file calls it. NULL after an error. */
static struct dag_node *node_make(struct reading *reading)
{
    struct dag_node *node = NULL;
    struct buf whole;
    const char *name;
    size_t len;

    name = dag_word_take(reading, &len);
    if (!name) {
        dag_wants(reading, "the name of a node");
        return NULL;
    }
    buf_init(&whole);
    buf_adds(&whole, reading->prefix);
    buf_add(&whole, name, len);
    if (!dag_name_is_good(whole.text, whole.len) || submit_same(name, len, "ALL_NODES") ||
        submit_same(name, len, "PARENT") || submit_same(name, len, "CHILD"))
        dag_fail(reading, "%s: '%s' is not the name of a node: up to 255 visible characters, no comma, no keyword",
                 name, len);
    else if (textmap_find(&reading->dag->names, whole.text, whole.len) != TEXTMAP_NONE)
        dag_fail(reading, "%s: there is a node '%s' before it", name, len);
    else if (reading->dag->count == DAG_NODES_MAX)
        submit_fail(reading->at, reading->err, "expected at most %d nodes", DAG_NODES_MAX);
    else
        node = dag_add(reading->dag, whole.text, whole.len);
    buf_done(&whole);
    if (!node)
        return NULL;
    node->line = reading->at.line;
    node->source = reading->source;
    return node;
}

/* The folder of a node of a file that lies in a folder of its own. */
static char *folder_in(const struct reading *reading, const char *folder, size_t len)
{
    const char *outer = reading->dag->sources[reading->source].folder;
    struct buf path;
    char *text;

    if (!outer || (len && *folder == '/'))
        return folder ? mem_dup(folder, len) : NULL;
    buf_init(&path);
    buf_adds(&path, outer);
    if (len)
        buf_addc(&path, '/');
    buf_add(&path, folder ? folder : "", len);
    text = mem_dup(path.text, path.len);
    buf_done(&path);
    return text;
}

/* [DIR folder] [NOOP] [DONE] */
static int node_rest(struct reading *reading, struct dag_node *node)
{
    const char *folder = NULL;
    size_t len = 0;

    if (dag_word_follows(reading, "DIR")) {
        folder = dag_word_take(reading, &len);
        if (!folder)
            return dag_wants(reading, "a folder");
    }
    free(node->folder);
    node->folder = folder_in(reading, folder, len);
    for (;;) {
        if (dag_word_follows(reading, "NOOP")) {
            node->noop = true;
            dag_needs_host(reading);
        } else if (dag_word_follows(reading, "DONE")) {
            node->done = true;
        } else {
            return dag_line_ends(reading);
        }
    }
}

/* Takes the lines of a description, up to the one that ends it; what stands behind that is the rest of the statement. */
static int description_take(struct reading *reading, uint32_t *ret)
{
    struct dag *dag = reading->dag;
    const char *line, *mark = reading->text;
    size_t len, mark_len = strcspn(mark, " \t");
    char end[80] = "}";
    struct buf text;
    bool ended = false;

    if (mark_len > reading->len)
        mark_len = reading->len;
    if (*mark == '@' && (mark_len < 3 || mark[1] != '=' || mark_len > 60))
        return dag_wants(reading, "'{', or '@=' and a word");
    if (*mark == '@')
        snprintf(end, sizeof end, "@%.*s", (int)mark_len - 2, mark + 2);
    buf_init(&text);
    while (!ended && dag_line_raw(reading, &line, &len)) {
        const char *start = line;
        size_t left = len;

        submit_trim(&start, &left);
        ended = left >= strlen(end) && !strncmp(start, end, strlen(end)) &&
                (left == strlen(end) || submit_blank(start[strlen(end)]));
        if (ended) {
            buf_reset(reading->out);
            buf_add(reading->out, start + strlen(end), left - strlen(end));
            reading->text = buf_string(reading->out);
            reading->len = reading->out->len;
            submit_trim(&reading->text, &reading->len);
        } else {
            buf_add(&text, line, len);
            buf_addc(&text, '\n');
        }
    }
    if (!ended) {
        buf_done(&text);
        return submit_fail(reading->at, reading->err, "%s: expected a line '%s' that ends the description",
                           reading->keyword, end);
    }
    if (!reading->second) {
        ARRAY_ROOM(dag->descriptions, dag->description_count, dag->description_room, 8);
        dag->descriptions[dag->description_count++] = mem_dup(text.len ? text.text : "", text.len);
        *ret = dag->description_count;
    }
    buf_done(&text);
    return 0;
}

/* Is a description given in place? */
static bool description_follows(const struct reading *reading)
{
    return reading->len &&
           (*reading->text == '{' || (*reading->text == '@' && reading->len > 1 && reading->text[1] == '='));
}

/* The second pass goes over the lines of a description, and finds the one of that name. */
static int node_again(struct reading *reading)
{
    struct dag_node *node;
    uint32_t place, ignored;
    const char *name;
    size_t len;

    name = dag_word_take(reading, &len);
    if (description_follows(reading))
        return description_take(reading, &ignored);
    place = name ? dag_name_find(reading, name, len, &reading->dag->names) : TEXTMAP_NONE;
    node = place == TEXTMAP_NONE ? NULL : &reading->dag->nodes[place];
    if (!node || !node->file)
        return 0;
    place = dag_name_find(reading, node->file, strlen(node->file), &reading->dag->description_names);
    if (place == TEXTMAP_NONE || node->subdag)
        return 0;
    node->description = place + 1;
    free(node->file);
    node->file = NULL;
    return 0;
}

/* What a node runs: a file, or a description in place. */
static int node_file(struct reading *reading, struct dag_node *node, const char *what)
{
    if (description_follows(reading) && !node->subdag) {
        uint32_t place = 0;

        dag_needs_host(reading);
        if (description_take(reading, &place) < 0)
            return -1;
        node->description = place;
        return node_rest(reading, node);
    }
    node->file = dag_word_dup(reading);
    if (!node->file)
        return dag_wants(reading, what);
    return node_rest(reading, node);
}

/* JOB name file [DIR folder] [NOOP] [DONE] */
int dag_statement_job(struct reading *reading)
{
    struct dag_node *node;

    if (reading->second)
        return node_again(reading);
    node = node_make(reading);
    return node ? node_file(reading, node, "the file of the job") : -1;
}

/* SUBDAG EXTERNAL name file [DIR folder] [NOOP] [DONE] */
int dag_statement_subdag(struct reading *reading)
{
    struct dag_node *node;

    if (reading->second)
        return 0;
    if (!dag_word_follows(reading, "EXTERNAL"))
        return dag_wants(reading, "EXTERNAL");
    node = node_make(reading);
    if (!node)
        return -1;
    node->subdag = true;
    return node_file(reading, node, "the file of the workflow");
}

/* FINAL name file [DIR folder] [NOOP] */
int dag_statement_final(struct reading *reading)
{
    struct dag_node *node;

    if (reading->second)
        return node_again(reading);
    if (reading->depth)
        return submit_fail(reading->at, reading->err, "FINAL: only the first file of a workflow has one");
    if (reading->dag->final)
        return submit_fail(reading->at, reading->err, "FINAL: a workflow has one at most");
    node = node_make(reading);
    if (!node)
        return -1;
    node->final = true;
    reading->dag->final = reading->dag->count;
    return node_file(reading, node, "the file of the job");
}

/* SUBMIT-DESCRIPTION name { */
int dag_statement_description(struct reading *reading)
{
    struct dag *dag = reading->dag;
    struct buf whole;
    const char *name;
    uint32_t place = 0, known = dag->description_names.places;
    size_t len;
    int result;

    name = dag_word_take(reading, &len);
    if (!name || !description_follows(reading))
        return dag_wants(reading, "a name and '{'");
    buf_init(&whole);
    buf_adds(&whole, reading->prefix);
    buf_add(&whole, name, len);
    result = description_take(reading, &place);
    if (result == 0 && !reading->second) {
        /* descriptions in place have names that no file can say, so that a name's place is that of its text */
        for (; known < dag->description_count - 1; known++) {
            char taken[24];

            snprintf(taken, sizeof taken, " %u", (unsigned)known);
            textmap_add(&dag->description_names, taken, strlen(taken));
        }
        if (textmap_add(&dag->description_names, whole.text, whole.len) != known)
            result = submit_fail(reading->at, reading->err, "SUBMIT-DESCRIPTION: there is one of that name before it");
    }
    buf_done(&whole);
    return result;
}

/* ------------------------------------------------------------------------------------------------------ files within it */

/* INCLUDE file */
int dag_statement_include(struct reading *reading)
{
    char *path = dag_word_dup(reading);
    struct buf text;
    int result;

    if (!path)
        return dag_wants(reading, "the name of a file");
    buf_init(&text);
    result = dag_file_read(reading, path, &text);
    if (result == 0)
        result = dag_include(reading, path, &text);
    buf_done(&text);
    free(path);
    return result;
}

/* Which of its nodes wait for no other of them, and for which no other waits? */
static void splice_ends(const struct dag *dag, struct dag_splice *splice)
{
    uint32_t count = splice->to - splice->from;
    bool *waited = mem_alloc(count + 1);

    memset(waited, 0, count + 1);
    splice->initial = mem_alloc((count + 1) * sizeof *splice->initial);
    splice->terminal = mem_alloc((count + 1) * sizeof *splice->terminal);
    for (uint32_t i = splice->from; i < splice->to; i++) {
        const struct dag_node *node = &dag->nodes[i];

        if (!node->parent_count)
            splice->initial[splice->initial_count++] = i;
        for (uint32_t k = 0; k < node->parent_count; k++)
            if (node->parents[k] >= splice->from)
                waited[node->parents[k] - splice->from] = true;
    }
    for (uint32_t i = splice->from; i < splice->to; i++)
        if (!waited[i - splice->from])
            splice->terminal[splice->terminal_count++] = i;
    free(waited);
}

/* SPLICE name file [DIR folder] */
int dag_statement_splice(struct reading *reading)
{
    struct dag *dag = reading->dag;
    struct dag_splice splice = {.from = dag->count};
    char *path = NULL, *folder = NULL, *inner = NULL;
    struct buf prefix, text;
    uint32_t place, count, known;
    const char *name;
    size_t len;
    int result = -1;

    if (reading->second)
        return 0;
    name = dag_word_take(reading, &len);
    if (!name)
        return dag_wants(reading, "the name of the splice");
    if (memchr(name, '+', len) || len > 100)
        return dag_fail(reading, "%s: '%s' is not the name of a splice", name, len);
    path = dag_word_dup(reading);
    if (!path)
        return dag_wants(reading, "the file of the splice");
    buf_init(&prefix);
    buf_init(&text);
    buf_adds(&prefix, reading->prefix);
    buf_add(&prefix, name, len);
    known = dag->splice_names.places;
    place = textmap_add(&dag->splice_names, prefix.text, prefix.len);
    if (place == known) {
        count = place;
        ARRAY_ROOM(dag->splices, count, dag->splice_room, 8);
        dag->splices[place] = splice;
    }
    buf_addc(&prefix, '+');
    if (dag_word_follows(reading, "DIR") && !(folder = dag_word_dup(reading)))
        dag_wants(reading, "a folder");
    else if (place < known)
        submit_fail(reading->at, reading->err, "SPLICE: there is one of that name before it");
    else
        result = dag_line_ends(reading);
    inner = folder ? folder_in(reading, folder, strlen(folder)) : folder_in(reading, NULL, 0);
    if (result == 0) {
        struct buf whole;

        buf_init(&whole);
        if (inner && *path != '/')
            buf_addf(&whole, "%s/", inner);
        buf_adds(&whole, path);
        result = dag_file_read(reading, buf_string(&whole), &text);
        if (result == 0)
            result = dag_inner_read(reading, path, &text, buf_string(&prefix), inner, &splice);
        splice.to = dag->count;
        if (result == 0)
            splice_ends(dag, &splice);
        dag->splices[place] = splice;
        buf_done(&whole);
    }
    free(path);
    free(folder);
    free(inner);
    buf_done(&prefix);
    buf_done(&text);
    return result;
}

/* PIN_IN node number, in the file of a splice */
static int pin_take(struct reading *reading, bool out)
{
    struct dag_nodes nodes;
    int64_t number;

    if (dag_nodes_take(reading, &nodes) < 0 || dag_number_take(reading, 1000000, "the number of a pin", &number) < 0)
        return -1;
    if (!reading->splice || nodes.all)
        return dag_line_ends(reading);
    ARRAY_ROOM(reading->splice->pins, reading->splice->pin_count, reading->splice->pin_room, 8);
    reading->splice->pins[reading->splice->pin_count++] =
        (struct dag_pin){.node = nodes.at, .number = number, .out = out};
    return dag_line_ends(reading);
}

int dag_statement_pin_in(struct reading *reading)
{
    return pin_take(reading, false);
}

int dag_statement_pin_out(struct reading *reading)
{
    return pin_take(reading, true);
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
    if (node->final || reading->dag->nodes[parent].final)
        return submit_fail(reading->at, reading->err, "%s: the node FINAL waits for all, and none waits for it",
                           reading->keyword);
    ARRAY_ROOM(node->parents, node->parent_count, node->parent_room, 4);
    node->parents[node->parent_count++] = parent;
    return 0;
}

struct places {
    uint32_t *items, count, room;
    bool splice; /* one of the names was that of a splice */
};

static void place_add(struct places *places, uint32_t place)
{
    ARRAY_ROOM(places->items, places->count, places->room, 16);
    places->items[places->count++] = place;
}

/* Takes a name: a node, or a splice. */
static int place_take(struct reading *reading, bool parents, struct places *ret)
{
    const struct dag_splice *splice;
    struct reading before = *reading;
    struct dag_nodes nodes;
    const char *name;
    uint32_t place;
    size_t len;

    name = dag_word_take(reading, &len);
    place = dag_name_find(reading, name, len, &reading->dag->splice_names);
    if (place == TEXTMAP_NONE || dag_name_find(reading, name, len, &reading->dag->names) != TEXTMAP_NONE) {
        reading->text = before.text;
        reading->len = before.len;
        if (dag_nodes_take(reading, &nodes) < 0)
            return -1;
        if (nodes.all)
            return submit_fail(reading->at, reading->err, "PARENT: ALL_NODES cannot stand here");
        place_add(ret, nodes.at);
        return 0;
    }
    splice = &reading->dag->splices[place];
    ret->splice = true;
    for (uint32_t i = 0; i < (parents ? splice->terminal_count : splice->initial_count); i++)
        place_add(ret, (parents ? splice->terminal : splice->initial)[i]);
    return 0;
}

/* Reads names up to the word CHILD, or to the end. */
static int places_take(struct reading *reading, bool parents, struct places *ret)
{
    bool any = false;

    for (; reading->len && !(parents && dag_word_follows(reading, "CHILD")); any = true)
        if (place_take(reading, parents, ret) < 0)
            return -1;
    return any ? 0 : dag_wants(reading, parents ? "names of nodes and CHILD" : "names of nodes");
}

/* All of the one list wait for all of the other. */
static int places_tie(struct reading *reading, const struct places *parents, const struct places *children)
{
    int result = 0;

    if ((parents->splice || children->splice) && parents->count > 1 && children->count > 1 &&
        (uint64_t)parents->count * children->count > JOIN_PAIRS && reading->dag->count < DAG_NODES_MAX) {
        char name[40];
        uint32_t join = reading->dag->count;
        struct dag_node *node;

        snprintf(name, sizeof name, "_join+%u", (unsigned)join);
        node = dag_add(reading->dag, name, strlen(name));
        node->noop = true;
        node->line = reading->at.line;
        node->source = reading->source;
        for (uint32_t i = 0; result == 0 && i < parents->count; i++)
            result = edge_add(reading, parents->items[i], join);
        for (uint32_t i = 0; result == 0 && i < children->count; i++)
            result = edge_add(reading, join, children->items[i]);
        return result;
    }
    for (uint32_t i = 0; result == 0 && i < children->count; i++)
        for (uint32_t k = 0; result == 0 && k < parents->count; k++)
            result = edge_add(reading, parents->items[k], children->items[i]);
    return result;
}

/* PARENT a b CHILD c d */
int dag_statement_parent(struct reading *reading)
{
    struct places parents = {0}, children = {0};
    int result = places_take(reading, true, &parents);

    if (result == 0)
        result = places_take(reading, false, &children);
    if (result == 0)
        result = places_tie(reading, &parents, &children);
    free(parents.items);
    free(children.items);
    return result;
}

/* CONNECT splice splice: what has a pin out of the one comes before what has the same pin in of the other. */
int dag_statement_connect(struct reading *reading)
{
    const struct dag_splice *splices[2];
    uint32_t tied = 0;

    for (int i = 0; i < 2; i++) {
        size_t len;
        const char *name = dag_word_take(reading, &len);
        uint32_t place;

        if (!name)
            return dag_wants(reading, "the names of two splices");
        place = dag_name_find(reading, name, len, &reading->dag->splice_names);
        if (place == TEXTMAP_NONE)
            return dag_fail(reading, "%s: there is no splice '%s'", name, len);
        splices[i] = &reading->dag->splices[place];
    }
    for (uint32_t i = 0; i < splices[0]->pin_count; i++)
        for (uint32_t k = 0; splices[0]->pins[i].out && k < splices[1]->pin_count; k++) {
            const struct dag_pin *in = &splices[1]->pins[k];

            if (in->out || in->number != splices[0]->pins[i].number)
                continue;
            tied++;
            if (edge_add(reading, splices[0]->pins[i].node, in->node) < 0)
                return -1;
        }
    if (!tied)
        return submit_fail(reading->at, reading->err,
                           "CONNECT: no pin out of the first has the number of a pin in of "
                           "the second");
    return dag_line_ends(reading);
}
