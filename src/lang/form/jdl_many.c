/* jdl_many.c: files in JDL that are several jobs.
 *
 *     Parameters = { "red", "blue" };  Arguments = "-c _PARAM_";         a job for each value: _PARAM_ (gLite), %s and %n (DIRAC)
 *     Parameters = 100; ParameterStart = 0; ParameterStep = 10;
 *
 *     Type = "DAG";  Nodes = [ a = [ Description = [ ... ] ]; b = [ File = "b.jdl" ] ];  Dependencies = { { a, b } };
 *     Type = "Collection";  Nodes = { [ NodeName = "a"; ... ], ... };
 *
 * Each job is written as a text of its own and read as any other (jdl.c). What is said of it has its place in the file: that of the attribute, or of
 * Nodes. Remarks are told of the first job alone. The text that is made for one file, all together, is bounded by SUBMIT_WORK_MAX. */
#include "lang/form/jdl_parts.h"

#include "lang/form/dag.h"
#include "lang/text/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* -------------------------------------------------------------------------------------------------------------- writing */

/* Points at an attribute of the file, for what is said next. */
static void point_at(struct jdl *jdl, const struct expr *e)
{
    jdl->at = (uint32_t)(e - tree_parts(jdl->ad, tree_root(jdl->ad)));
}

static bool is_one_of(const char *name, size_t len, const char *const *names)
{
    for (; *names; names++)
        if (submit_same(name, len, *names))
            return true;
    return false;
}

static void attribute_write(const struct jdl *jdl, const struct expr *e, struct buf *out)
{
    size_t len;
    const char *name = symbols_text(jdl->symbols, e->label, &len);

    print_name(out, &dialect_classic, name, len);
    buf_adds(out, " = ");
    print_expr(out, jdl->ad, e, PRINT_PLAIN);
    buf_adds(out, ";\n");
}

/* Tells once that jobs of the file write the same file. */
static void output_note(struct jdl *whole, const struct jdl *jdl)
{
    const struct expr *out = jdl->ad ? jdl_find(jdl, "StdOutput") : NULL;

    if (!out || !jdl_is_text(jdl, out))
        return;
    if (!whole->output)
        whole->output = mem_dup(tree_string(jdl->ad, out), out->u.run.count);
    else if (!whole->output_told && jdl_text_is(jdl, out, whole->output))
        whole->output_told = true;
    else
        return;
    if (whole->output_told)
        jdl_remark(whole, "several of its jobs have the same StdOutput: 'berth outputs ID' has that of each, the "
                          "folder that of the last");
}

/* Reads one job of the file. */
static int job_give(struct jdl *whole, const char *node, bool quiet, const struct buf *text, const char *extra,
                    submit_ad_fn *each, void *user)
{
    struct jdl jdl = {.world = whole->world,
                      .symbols = whole->symbols,
                      .err = whole->err,
                      .whole = whole,
                      .node = node,
                      .quiet = quiet};
    int result;

    whole->work += text->len + 1;
    if (whole->work > SUBMIT_WORK_MAX)
        return jdl_fail(whole, "expected fewer jobs, or shorter ones");
    buf_init(&jdl.text);
    buf_init(&jdl.sandbox);
    buf_init(&jdl.logical);
    buf_init(&jdl.out);
    buf_add(&jdl.text, text->text, text->len);
    result = jdl_job_read(&jdl, extra, each, user);
    if (result == 0)
        output_note(whole, &jdl);
    jdl_done(&jdl);
    return result;
}

/* ----------------------------------------------------------------------------------------------------------- parameters */

static const char *const parameter_names[] = {"Parameters", "ParameterStart", "ParameterStep", "ParameterFactor", NULL};

/* Numbers that a file gives in place of a list: whole ones stay whole. */
struct sequence {
    bool real;
    double start, step, factor;
};

static int number_read(struct jdl *jdl, const char *name, double instead, bool *ret_real, double *ret)
{
    const struct expr *e = jdl_find(jdl, name);

    *ret = instead;
    if (!e)
        return 0;
    point_at(jdl, e);
    if (e->kind == EXPR_INTEGER) {
        *ret = (double)e->u.integer;
    } else if (e->kind == EXPR_REAL && isfinite(e->u.real)) {
        *ret = e->u.real;
        *ret_real = true;
    } else {
        return jdl_fail(jdl, "expected a number");
    }
    return fabs(*ret) < 1e15 ? 0 : jdl_fail(jdl, "expected a smaller number");
}

static void number_print(const struct sequence *sequence, double value, struct buf *out)
{
    if (sequence->real)
        print_real(out, value);
    else
        buf_addf(out, "%.0f", value);
}

/* Replaces a mark by a text, which is made fit for a string. False: it is too long then. */
static bool mark_replace(struct buf *text, const char *mark, const char *value, size_t len)
{
    struct buf quoted, out;
    size_t mark_len = strlen(mark);
    const char *at = buf_string(text), *found;

    buf_init(&quoted);
    buf_init(&out);
    print_string(&quoted, value, len, PRINT_PLAIN);
    while (out.len <= SUBMIT_BYTES_MAX && (found = strstr(at, mark))) {
        buf_add(&out, at, (size_t)(found - at));
        buf_add(&out, quoted.text + 1, quoted.len - 2);
        at = found + mark_len;
    }
    buf_adds(&out, at);
    buf_done(&quoted);
    buf_done(text);
    *text = out;
    return out.len <= SUBMIT_BYTES_MAX;
}

/* The value of the job at that place: an element of the list, or the next number. */
static int value_print(struct jdl *jdl, const struct expr *list, const struct sequence *sequence, uint32_t place,
                       double number, struct buf *out)
{
    const struct expr *e = list->kind == EXPR_LIST ? &tree_parts(jdl->ad, list)[place] : NULL;

    if (!e) {
        number_print(sequence, number, out);
        return 0;
    }
    if (e->kind == EXPR_STRING)
        buf_add(out, tree_string(jdl->ad, e), e->u.run.count);
    else if (e->kind == EXPR_INTEGER || e->kind == EXPR_REAL)
        print_expr(out, jdl->ad, e, PRINT_PLAIN);
    else if (e->kind == EXPR_NAME) /* gLite writes values without quotes as well: { one, two } */
        print_expr(out, jdl->ad, e, PRINT_PLAIN);
    else
        return jdl_fail(jdl, "expected a list of texts or numbers");
    return 0;
}

static int parameters_read(struct jdl *jdl, const struct expr *list, submit_ad_fn *each, void *user)
{
    const struct expr *root = tree_root(jdl->ad);
    bool glite = strstr(buf_string(&jdl->text), "_PARAM_") != NULL;
    struct sequence sequence = {.real = false};
    struct buf base;
    double count, number;
    int result = 0;

    /* In DIRAC the number is how many jobs there are; in gLite it is the end that values do not reach. */
    if (number_read(jdl, "ParameterStart", glite ? 0 : 1, &sequence.real, &sequence.start) < 0 ||
        number_read(jdl, "ParameterStep", glite ? 1 : 0, &sequence.real, &sequence.step) < 0 ||
        number_read(jdl, "ParameterFactor", 1, &sequence.real, &sequence.factor) < 0)
        return -1;
    point_at(jdl, list);
    if (list->kind == EXPR_LIST)
        count = list->u.run.count;
    else if (list->kind != EXPR_INTEGER)
        return jdl_fail(jdl, "expected a number, or a list of texts or numbers");
    else if (!glite)
        count = (double)list->u.integer;
    else if (sequence.step <= 0)
        return jdl_fail(jdl, "expected a ParameterStep above 0");
    else
        count = ceil(((double)list->u.integer - sequence.start) / sequence.step);
    if (!(count >= 1))
        return jdl_fail(jdl, "expected at least one value: there would be no job");
    if (count > SUBMIT_ADS_MAX)
        return jdl_fail(jdl, "expected at most 100000 values");

    buf_init(&base);
    buf_adds(&base, "[\n");
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct expr *e = &tree_parts(jdl->ad, root)[i];
        size_t len;
        const char *name = symbols_text(jdl->symbols, e->label, &len);

        if (!is_one_of(name, len, parameter_names) &&
            !(submit_same(name, len, "JobType") && jdl_text_is(jdl, e, "Parametric")))
            attribute_write(jdl, e, &base);
    }
    buf_adds(&base, "]");
    number = sequence.start;
    for (uint32_t i = 0; i < (uint32_t)count && result == 0; i++) {
        struct buf text, value;
        char place[16], last[16];
        int digits = snprintf(last, sizeof last, "%u", (unsigned)(count - 1));

        buf_init(&text);
        buf_init(&value);
        buf_add(&text, base.text, base.len);
        result = value_print(jdl, list, &sequence, i, number, &value);
        snprintf(place, sizeof place, "%0*u", digits, i);
        if (result == 0 && !(glite ? mark_replace(&text, "_PARAM_", buf_string(&value), value.len)
                                   : mark_replace(&text, "%n", place, strlen(place)) &&
                                         mark_replace(&text, "%s", buf_string(&value), value.len)))
            result = jdl_fail(jdl, "expected shorter values");
        if (result == 0)
            result = job_give(jdl, NULL, i > 0, &text, "", each, user);
        number = number * sequence.factor + sequence.step;
        if (!(fabs(number) < 1e15))
            number = 0; /* never used: count is bounded, and a list needs none */
        buf_done(&value);
        buf_done(&text);
    }
    buf_done(&base);
    return result;
}

/* ---------------------------------------------------------------------------------------------------------------- nodes */

/* What is said of all nodes together, and not of each. */
static const char *const flow_names[] = {"Type",
                                         "Nodes",
                                         "Dependencies",
                                         "max_nodes_running",
                                         "DefaultNodeRetryCount",
                                         "DefaultNodeShallowRetryCount",
                                         "NodesCollocation",
                                         NULL};
/* What stands beside the description of a node. */
static const char *const node_names[] = {"NodeName",  "File", "Description", "node_retry_count",
                                         "node_type", "Type", NULL};

struct flow {
    struct jdl *jdl;
    const struct expr *nodes; /* an ad, or a list of ads that say NodeName */
    bool waits;               /* a workflow, not a collection */
    struct buf *after;        /* of each node: names, with commas between */
    uint32_t edges;
};

static const struct expr *node_at(const struct flow *flow, uint32_t i)
{
    return &tree_parts(flow->jdl->ad, flow->nodes)[i];
}

static const struct expr *part_of(const struct flow *flow, const struct expr *ad, const char *name)
{
    symbol called = symbols_find(flow->jdl->symbols, name, strlen(name));

    return called ? tree_find(flow->jdl->ad, ad, called) : NULL;
}

/* The dependencies may stand among the nodes. */
static bool is_node(const struct flow *flow, uint32_t i)
{
    size_t len;
    const char *name;

    if (flow->nodes->kind == EXPR_LIST)
        return true;
    name = symbols_text(flow->jdl->symbols, node_at(flow, i)->label, &len);
    return !submit_same(name, len, "Dependencies");
}

static const char *node_name(const struct flow *flow, uint32_t i, size_t *ret_len)
{
    const struct expr *said;

    if (flow->nodes->kind == EXPR_AD)
        return symbols_text(flow->jdl->symbols, node_at(flow, i)->label, ret_len);
    said = node_at(flow, i)->kind == EXPR_AD ? part_of(flow, node_at(flow, i), "NodeName") : NULL;
    if (!said || !jdl_is_text(flow->jdl, said))
        return NULL;
    *ret_len = said->u.run.count;
    return tree_string(flow->jdl->ad, said);
}

#define NO_NODE UINT32_MAX

static uint32_t node_find(const struct flow *flow, const struct expr *e)
{
    const char *name = NULL;
    size_t len = 0, other_len;

    if (e->kind == EXPR_NAME)
        name = symbols_text(flow->jdl->symbols, e->u.name.id, &len);
    else if (e->kind == EXPR_STRING)
        name = tree_string(flow->jdl->ad, e), len = e->u.run.count;
    for (uint32_t i = 0; name && i < flow->nodes->u.run.count; i++) {
        const char *other = is_node(flow, i) ? node_name(flow, i, &other_len) : NULL;

        if (other && other_len == len && strncasecmp(other, name, len) == 0)
            return i;
    }
    return NO_NODE;
}

static int edge_add(struct flow *flow, const struct expr *parent, const struct expr *child)
{
    uint32_t from = node_find(flow, parent), to = node_find(flow, child);
    const char *name;
    size_t len;

    if (from == NO_NODE || to == NO_NODE)
        return jdl_fail(flow->jdl, "expected names of nodes");
    flow->jdl->work += 2 * flow->nodes->u.run.count; /* that both were looked for */
    if (++flow->edges > SUBMIT_ADS_MAX || flow->jdl->work > SUBMIT_WORK_MAX)
        return jdl_fail(flow->jdl, "expected fewer of them");
    name = node_name(flow, from, &len);
    buf_adds(&flow->after[to], flow->after[to].len ? ", " : "");
    buf_add(&flow->after[to], name, len);
    return 0;
}

/* { a, b }: b waits for a; each may be a list. */
static int edges_add(struct flow *flow, const struct expr *pair)
{
    const struct tree *ad = flow->jdl->ad;
    const struct expr *sides[2];
    uint32_t counts[2];

    if (pair->kind != EXPR_LIST || pair->u.run.count != 2)
        return jdl_fail(flow->jdl, "expected pairs: { { a, b }, { { a, b }, c } }");
    for (int i = 0; i < 2; i++) {
        sides[i] = &tree_parts(ad, pair)[i];
        counts[i] = 1;
        if (sides[i]->kind == EXPR_LIST) {
            counts[i] = sides[i]->u.run.count;
            sides[i] = tree_parts(ad, sides[i]);
        }
    }
    for (uint32_t i = 0; i < counts[0]; i++)
        for (uint32_t k = 0; k < counts[1]; k++)
            if (edge_add(flow, &sides[0][i], &sides[1][k]) < 0)
                return -1;
    return 0;
}

static int dependencies_read(struct flow *flow)
{
    const struct expr *pairs = jdl_find(flow->jdl, "Dependencies");

    if (pairs)
        point_at(flow->jdl, pairs);
    else if (flow->nodes->kind == EXPR_AD)
        pairs = part_of(flow, flow->nodes, "Dependencies");
    if (!pairs)
        return 0;
    if (pairs->kind != EXPR_LIST)
        return jdl_fail(flow->jdl, "expected pairs: { { a, b }, { { a, b }, c } }");
    /* one pair alone may stand without the brackets around it */
    if (pairs->u.run.count == 2 && (tree_parts(flow->jdl->ad, pairs)[0].kind == EXPR_NAME ||
                                    tree_parts(flow->jdl->ad, pairs)[1].kind == EXPR_NAME))
        return edges_add(flow, pairs);
    for (uint32_t i = 0; i < pairs->u.run.count; i++)
        if (edges_add(flow, &tree_parts(flow->jdl->ad, pairs)[i]) < 0)
            return -1;
    return 0;
}

/* Writes what the file says of all nodes, and then what the node says of itself. */
static void description_write(const struct flow *flow, const struct expr *node, const struct expr *description,
                              struct buf *out)
{
    const struct jdl *jdl = flow->jdl;
    const struct expr *root = tree_root(jdl->ad), *tries = part_of(flow, node, "node_retry_count");
    size_t len;

    if (!tries)
        tries = jdl_find(jdl, "DefaultNodeRetryCount");
    buf_adds(out, "[\n");
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct expr *e = &tree_parts(jdl->ad, root)[i];
        const char *name = symbols_text(jdl->symbols, e->label, &len);

        if (!is_one_of(name, len, flow_names) && !tree_find(jdl->ad, description, e->label))
            attribute_write(jdl, e, out);
    }
    if (tries && !part_of(flow, description, "RetryCount") && !jdl_find(jdl, "RetryCount")) {
        buf_adds(out, "RetryCount = ");
        print_expr(out, jdl->ad, tries, PRINT_PLAIN);
        buf_adds(out, ";\n");
    }
    for (uint32_t i = 0; i < description->u.run.count; i++) {
        const struct expr *e = &tree_parts(jdl->ad, description)[i];
        const char *name = symbols_text(jdl->symbols, e->label, &len);

        if (!is_one_of(name, len, node_names) || (submit_same(name, len, "Type") && !jdl_text_is(jdl, e, "Job")))
            attribute_write(jdl, e, out);
    }
    buf_addc(out, ']');
}

static int node_read(struct flow *flow, uint32_t i, const char *name, submit_ad_fn *each, void *user)
{
    struct jdl *jdl = flow->jdl;
    const struct expr *node = node_at(flow, i), *file, *description;
    struct buf text, extra, raw;
    struct err why = {0};
    int result = 0;

    if (node->kind != EXPR_AD)
        return jdl_fail(jdl, "expected an ad for each node");
    file = part_of(flow, node, "File");
    description = part_of(flow, node, "Description");
    if (!description)
        description = node;
    buf_init(&text);
    buf_init(&extra);
    buf_init(&raw);
    if (flow->waits) {
        buf_adds(&extra, "Node = ");
        print_string(&extra, name, strlen(name), PRINT_PLAIN);
        buf_adds(&extra, ";\n");
        if (flow->after[i].len) {
            buf_adds(&extra, "After = { ");
            print_string(&extra, flow->after[i].text, flow->after[i].len, PRINT_PLAIN);
            buf_adds(&extra, " };\n");
        }
    }
    if (file && !jdl_is_text(jdl, file)) {
        result = jdl_fail(jdl, "expected File to be a text");
    } else if (file) {
        char *path = mem_dup(tree_string(jdl->ad, file), file->u.run.count);

        if (!jdl->world->file || jdl->world->file(jdl->world->user, path, &raw, &why) < 0)
            result = submit_fail(jdl_place(jdl), jdl->err, "node %.60s: %.200s: %.200s", name, path,
                                 jdl->world->file ? why.text : "files cannot be read here");
        else if (submit_clean(buf_string(&raw), raw.len, jdl_place(jdl), true, jdl->err) < 0)
            result = -1;
        else
            jdl_text_copy(&text, raw.len ? raw.text : "", raw.len);
        free(path);
    } else if (description->kind != EXPR_AD) {
        result = jdl_fail(jdl, "expected a Description or a File for each node");
    } else {
        description_write(flow, node, description, &text);
    }
    if (result == 0)
        result = job_give(jdl, name, i > 0, &text, buf_string(&extra), each, user);
    buf_done(&raw);
    buf_done(&extra);
    buf_done(&text);
    return result;
}

static int nodes_read(struct jdl *jdl, const struct expr *nodes, submit_ad_fn *each, void *user)
{
    const struct expr *type = jdl_find(jdl, "Type"), *most = jdl_find(jdl, "max_nodes_running"),
                      *together = jdl_find(jdl, "NodesCollocation");
    struct flow flow = {.jdl = jdl, .nodes = nodes, .waits = !type || !jdl_text_is(jdl, type, "Collection")};
    int result = 0;

    if (most) {
        point_at(jdl, most);
        jdl_remark(jdl, "not carried over: nodes run when they can");
    }
    if (together && (together->kind != EXPR_BOOLEAN || together->small)) {
        point_at(jdl, together);
        return jdl_fail(jdl, "not carried over: say in Requirements which machine");
    }
    point_at(jdl, nodes);
    if ((nodes->kind != EXPR_AD && nodes->kind != EXPR_LIST) || !nodes->u.run.count)
        return jdl_fail(jdl, "expected an ad of nodes, or a list of ads");
    if (nodes->u.run.count > JDL_NODES_MAX)
        return jdl_fail(jdl, "expected at most 10000 nodes");
    flow.after = mem_alloc(nodes->u.run.count * sizeof *flow.after);
    for (uint32_t i = 0; i < nodes->u.run.count; i++)
        buf_init(&flow.after[i]);
    if (flow.waits)
        result = dependencies_read(&flow);
    point_at(jdl, nodes);
    for (uint32_t i = 0; i < nodes->u.run.count && result == 0; i++) {
        char called[DAG_NAME_MAX + 1];
        const char *name;
        size_t len = 0;

        if (!is_node(&flow, i))
            continue;
        name = node_name(&flow, i, &len);
        if (!name)
            len = (size_t)snprintf(called, sizeof called, "Node_%u_jobs", i);
        else if (dag_name_is_good(name, len))
            memcpy(called, name, len);
        else
            result = jdl_fail(jdl, "expected names of up to 255 visible characters, without a comma");
        called[result == 0 ? len : 0] = '\0';
        if (result == 0)
            result = node_read(&flow, i, called, each, user);
    }
    for (uint32_t i = 0; i < nodes->u.run.count; i++)
        buf_done(&flow.after[i]);
    free(flow.after);
    return result;
}

bool jdl_is_many(const struct jdl *jdl)
{
    return jdl_find(jdl, "Nodes") || jdl_find(jdl, "Parameters");
}

int jdl_many_read(struct jdl *jdl, submit_ad_fn *each, void *user)
{
    const struct expr *nodes = jdl_find(jdl, "Nodes"), *type = jdl_find(jdl, "Type");

    if (!nodes)
        return parameters_read(jdl, jdl_find(jdl, "Parameters"), each, user);
    if (type && !jdl_text_is(jdl, type, "DAG") && !jdl_text_is(jdl, type, "Collection")) {
        point_at(jdl, type);
        return jdl_fail(jdl, "expected \"DAG\" or \"Collection\" with Nodes");
    }
    return nodes_read(jdl, nodes, each, user);
}
