/* dag_test.c: workflows as files and as ads: what they say, and what is wrong with them. */
#include "lang/form/dag.h"

#include "common/tap.h"
#include "lang/ad/names.h"
#include "lang/base/mem.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------------- files */

static void words_show(struct buf *out, const char *what, const struct dag_words *words)
{
    if (words->count)
        buf_addf(out, " %s", what);
    for (uint32_t i = 0; i < words->count; i++)
        buf_addf(out, "|%s", words->items[i]);
}

/* A line a node. */
static void dag_show(struct buf *out, const struct dag *dag)
{
    for (uint32_t i = 0; i < dag->count; i++) {
        const struct dag_node *node = &dag->nodes[i];

        buf_addf(out, "%s%s=%s", i ? "\n" : "", node->name, node->file);
        if (node->folder)
            buf_addf(out, " in %s", node->folder);
        if (node->done)
            buf_adds(out, " done");
        if (node->retries >= 0)
            buf_addf(out, " retry %d", (int)node->retries);
        if (node->unless >= 0)
            buf_addf(out, " unless %d", (int)node->unless);
        if (node->priority)
            buf_addf(out, " priority %d", (int)node->priority);
        words_show(out, "pre", &node->pre);
        words_show(out, "post", &node->post);
        for (uint32_t k = 0; k < node->variable_count; k++)
            buf_addf(out, " %s:%s", node->variables[k].name, node->variables[k].value);
        for (uint32_t k = 0; k < node->parent_count; k++)
            buf_addf(out, "%s%s", k ? "," : " <", dag->nodes[node->parents[k]].name);
    }
}

static void remark_show(void *user, const struct err *remark)
{
    buf_addf(user, "(%u:%u: %s)\n", remark->line, remark->column, remark->text);
}

/* What a text is read as: remarks, then the nodes, or the error with its place. */
static void text_read(struct buf *out, const char *text, size_t len, const char *more)
{
    struct err err = {0};
    struct dag dag;

    dag_init(&dag);
    if (dag_read(&dag, text, len, remark_show, out, &err) < 0 ||
        (more && dag_read(&dag, more, strlen(more), remark_show, out, &err) < 0))
        buf_addf(out, "%u:%u: %s", err.line, err.column, err.text);
    else
        dag_show(out, &dag);
    dag_done(&dag);
}

static void check_files(void)
{
    static const struct {
        const char *sentence, *text, *more, *read;
    } rows[] = {
        {"a diamond", "JOB A a.sub\nJOB B b.sub\nJOB C c.sub\nJOB D d.sub\nPARENT A CHILD B C\nPARENT B C CHILD D\n",
         NULL, "A=a.sub\nB=b.sub <A\nC=c.sub <A\nD=d.sub <B,C"},
        {"keywords in any case, comments, empty lines, ends of lines as on other systems, lines that go on",
         "# it\r\n\r\n job  A \\\r\n  a.sub\r\nJob B b\nparent A \\\nchild B", NULL, "A=a.sub\nB=b <A"},
        {"a line may speak of a node that comes later", "PARENT A CHILD B\nRETRY B 3\nJOB B b\nJOB A a\n", NULL,
         "B=b retry 3 <A\nA=a"},
        {"folders, what is done, retries, an end that is not retried",
         "JOB A a DIR sub/x\nJOB B b DONE\nDONE A\nRETRY B 2 UNLESS-EXIT 7\nPRIORITY B -5\n", NULL,
         "A=a in sub/x done\nB=b done retry 2 unless 7 priority -5"},
        {"commands, with the node's name", "JOB A a\nSCRIPT PRE A pre.sh $JOB x\nSCRIPT POST A post $RETURN $RETRY\n",
         NULL, "A=a pre|pre.sh|A|x post|post|$RETURN|$RETRY"},
        {"variables, the later one counts", "JOB A a\nVARS A x=\"1\" y = \"a \\\"b\\\" \\\\ c\"\nVARS A X=\"2\"\n",
         NULL, "A=a x:2 y:a \"b\" \\ c"},
        {"of all nodes at once", "JOB A a\nRETRY ALL_NODES 1\nVARS all_nodes k=\"v\"\nJOB B b\n", NULL,
         "A=a retry 1 k:v\nB=b retry 1 k:v"},
        {"a second file speaks of the nodes of the first", "JOB A a\nJOB B b\nPARENT A CHILD B\n", "DONE A\n",
         "A=a done\nB=b <A"},
        {"what is passed over is told", "JOB A a\nCONFIG x\nDOT y\n", NULL,
         "(2:1: CONFIG is passed over: nothing is to be configured)\n(3:1: DOT is passed over: berth dag status shows the "
         "nodes)\nA=a"},

        {"no node at all", "# nothing\n", NULL,
         "1:1: expected a line 'JOB name file': without one there is no workflow"},
        {"another word", "JOB A a\n  JOBS B b\n", NULL,
         "2:3: a line of a workflow begins with JOB, PARENT, RETRY, SCRIPT, VARS, PRIORITY or DONE, not with 'JOBS'"},
        {"a name twice", "JOB A a\nJOB A b\n", NULL, "2:1: JOB: there is a node 'A' before it"},
        {"a name that is none", "JOB A,B a\n", NULL,
         "1:1: JOB: 'A,B' is not the name of a node: up to 255 visible characters, no comma, no keyword"},
        {"a keyword as a name", "JOB child a\n", NULL,
         "1:1: JOB: 'child' is not the name of a node: up to 255 visible characters, no comma, no keyword"},
        {"a node without a file", "JOB A\n", NULL, "1:1: JOB: expected the file of the job, and the line ends"},
        {"words behind it", "JOB A a b c\n", NULL, "1:1: JOB: expected the end of the line, got 'b'"},
        {"a description in place", "JOB A {\n", NULL,
         "1:1: JOB: '{' is not carried over: put the description of the job in a file of its own"},
        {"a parent that there is not", "JOB A a\nPARENT X CHILD A\n", NULL, "2:1: PARENT: there is no node 'X'"},
        {"a parent without a child", "JOB A a\nPARENT A\n", NULL,
         "2:1: PARENT: expected names of nodes, and the line ends"},
        {"a child without a parent", "JOB A a\nPARENT CHILD A\n", NULL,
         "2:1: PARENT: expected names of nodes and CHILD, got 'A'"},
        {"retries that are no number", "JOB A a\nRETRY A many\n", NULL,
         "2:1: RETRY: expected a number of times, got 'many'"},
        {"too many of them", "JOB A a\nRETRY A 99999999\n", NULL,
         "2:1: RETRY: expected a number of times, got '99999999'"},
        {"a status that is none", "JOB A a\nRETRY A 1 UNLESS-EXIT 256\n", NULL,
         "2:1: RETRY: expected a status from 0 to 255, got '256'"},
        {"a command of no kind", "JOB A a\nSCRIPT A x\n", NULL, "2:1: SCRIPT: expected PRE or POST, got 'A'"},
        {"a command without words", "JOB A a\nSCRIPT PRE A\n", NULL,
         "2:1: SCRIPT: expected a command, and the line ends"},
        {"a status before there is one", "JOB A a\nSCRIPT PRE A x $RETURN\n", NULL,
         "2:1: SCRIPT: '$RETURN' is not carried over"},
        {"what only DAGMan knows", "JOB A a\nSCRIPT POST A x $JOBID\n", NULL,
         "2:1: SCRIPT: '$JOBID' is not carried over"},
        {"a variable without quotes", "JOB A a\nVARS A x=1\n", NULL, "2:1: VARS: expected a value in quotes, got '1'"},
        {"one whose quotes do not end", "JOB A a\nVARS A x=\"1\n", NULL,
         "2:1: VARS: expected a '\"' that ends the value"},
        {"one without a name", "JOB A a\nVARS A =\"1\"\n", NULL, "2:1: VARS: expected name=\"value\", got '=\"1\"'"},
        {"a workflow within", "JOB A a\nSUBDAG EXTERNAL B b.dag\n", NULL,
         "2:1: SUBDAG is not carried over: submit that workflow by itself, or put its lines here"},
        {"another file", "SPLICE X x.dag\n", NULL, "1:1: SPLICE is not carried over: put the lines of that file here"},
        {"an end for all", "JOB A a\nABORT-DAG-ON A 3\n", NULL,
         "2:1: ABORT-DAG-ON is not carried over: what does not depend on a node that failed goes on; RETRY has UNLESS-EXIT"},
        {"a node that does nothing", "JOB A a NOOP\n", NULL,
         "1:1: JOB: NOOP is not carried over: every node runs its job"},
        {"bytes that are no text", "JOB A a\x01\n", NULL, "1:8: expected text, got a control character (0x01)"},
    };
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_reset(&out);
        text_read(&out, rows[i].text, strlen(rows[i].text), rows[i].more);
        if (!tap_ok(!strcmp(buf_string(&out), rows[i].read), "%s", rows[i].sentence))
            tap_diag("%s", buf_string(&out));
    }
    buf_done(&out);
}

static void check_recognised(void)
{
    static const char dag[] = "\n# a workflow\n job A a.sub\n", ads[] = "[ Node = \"A\"; Cmd = \"x\" ]\n",
                      rescue[] = "DONE A\n";

    tap_ok(dag_recognise("x.txt", dag, strlen(dag)) && dag_recognise(NULL, rescue, strlen(rescue)) &&
               dag_recognise("x.dag", "", 0) && !dag_recognise("x", ads, strlen(ads)),
           "a file of a workflow is known by its name or its first word, and is no ads");
}

/* Limits are errors, soon. */
static void check_limits(void)
{
    struct buf text, out;

    buf_init(&text);
    buf_init(&out);
    for (int i = 0; i < 3000; i++)
        buf_addf(&text, "JOB n%d x\n", i);
    buf_adds(&text, "PARENT");
    for (int i = 0; i < 1500; i++)
        buf_addf(&text, " n%d", i);
    buf_adds(&text, " CHILD");
    for (int i = 1500; i < 3000; i++)
        buf_addf(&text, " n%d", i);
    text_read(&out, text.text, text.len, NULL);
    if (!tap_ok(strstr(buf_string(&out), "3001:1: expected at most 2000000 pairs of parent and child") ==
                    buf_string(&out),
                "more pairs than there may be are refused, at their line"))
        tap_diag("%.200s", buf_string(&out));
    buf_reset(&text);
    buf_reset(&out);
    buf_adds(&text, "JOB A a\nVARS A");
    for (int i = 0; i < 1001; i++)
        buf_addf(&text, " v%d=\"\"", i);
    text_read(&out, text.text, text.len, NULL);
    tap_ok(!strcmp(buf_string(&out), "2:1: VARS: expected at most 1000 variables of a node"),
           "so are too many variables");
    buf_done(&text);
    buf_done(&out);
}

/* ------------------------------------------------------------------------------------------------------------------ ads */

static void check_ads(void)
{
    static const struct {
        const char *sentence, *ads[5];
        int result;
        uint32_t place;
        const char *error;
    } rows[] = {
        {"jobs that name nobody are no workflow", {"[ Cmd = \"a\" ]", "[ Cmd = \"b\" ]"}, 0, 0, NULL},
        {"a diamond, in any order",
         {"[ Node = \"D\"; After = { \"B\", \"C\" } ]", "[ Node = \"A\" ]", "[ Node = \"B\"; After = { \"A\" } ]",
          "[ Node = \"C\"; After = { \"A\", \"A\" } ]"},
         1,
         0,
         NULL},
        {"one that has no name",
         {"[ Node = \"A\" ]", "[ Cmd = \"b\" ]"},
         -1,
         1,
         "Node: every job of a workflow needs a name of its own"},
        {"one that waits and has no name",
         {"[ After = { \"A\" } ]"},
         -1,
         0,
         "Node: every job of a workflow needs a name of its own"},
        {"a name that is no text",
         {"[ Node = 3 ]"},
         -1,
         0,
         "Node: expected a name of up to 255 visible characters, without a comma"},
        {"a name with a blank",
         {"[ Node = \"a b\" ]"},
         -1,
         0,
         "Node: expected a name of up to 255 visible characters, without a comma"},
        {"After that is no list",
         {"[ Node = \"A\"; After = \"B\" ]"},
         -1,
         0,
         "After: expected a list of names of nodes"},
        {"After with what is no name",
         {"[ Node = \"A\"; After = { 1 } ]"},
         -1,
         0,
         "After: expected a list of names of nodes"},
        {"a name twice",
         {"[ Node = \"A\" ]", "[ Node = \"A\" ]"},
         -1,
         1,
         "Node: 'A' is the name of a node before it as well"},
        {"a name of nobody",
         {"[ Node = \"A\" ]", "[ Node = \"B\"; After = { \"A\", \"X\" } ]"},
         -1,
         1,
         "After: there is no node 'X'"},
        {"a file of a node that it waits for",
         {"[ Node = \"A\" ]", "[ Node = \"B\"; After = { \"A\" }; NodeInputs = { \"A:x\" } ]"},
         1,
         0,
         NULL},
        {"a file of one that it does not wait for",
         {"[ Node = \"A\" ]", "[ Node = \"B\"; NodeInputs = { \"A:x\" } ]"},
         -1,
         1,
         "NodeInputs: 'A' is not among those in After"},
        {"a file of nobody",
         {"[ Node = \"A\"; NodeInputs = { \"x\" } ]"},
         -1,
         0,
         "NodeInputs: expected a list of NODE:FILE"},
        {"a file of one that another waits for",
         {"[ Node = \"A\" ]", "[ Node = \"B\"; After = { \"A\" } ]",
          "[ Node = \"C\"; After = { \"B\" }; NodeInputs = { \"A:x\" } ]"},
         -1,
         2,
         "NodeInputs: 'A' is not among those in After"},
        {"one that waits for itself", {"[ Node = \"A\"; After = { \"A\" } ]"}, -1, 0, "After: a cycle: A waits for A"},
        {"a cycle is named, beside what is none",
         {"[ Node = \"A\" ]", "[ Node = \"B\"; After = { \"A\", \"D\" } ]", "[ Node = \"C\"; After = { \"B\" } ]",
          "[ Node = \"D\"; After = { \"C\" } ]", "[ Node = \"E\"; After = { \"D\" } ]"},
         -1,
         2,
         "After: a cycle: C waits for B, which waits for D, which waits for C"},
    };
    struct symbols *symbols = names_new(0);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *ads[5];
        struct err err = {0};
        uint32_t count = 0, place = 0;
        int result;

        for (; count < 5 && rows[i].ads[count]; count++)
            ads[count] = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, rows[i].ads[count],
                                    strlen(rows[i].ads[count]), &err);
        result = dag_check(ads, count, 0, &place, &err);
        if (!tap_ok(result == rows[i].result &&
                        (result >= 0 || (place == rows[i].place && !strcmp(err.text, rows[i].error))),
                    "%s", rows[i].sentence))
            tap_diag("%d, %u: %s", result, place, err.text);
        while (count)
            tree_unref(ads[--count]);
    }
    symbols_free(symbols);
}

static struct tree *ad_read(struct symbols *symbols, const char *text)
{
    struct err err;

    return form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);
}

/* Long lists are gone over once, however often they are needed: else each of these takes hours. */
static void check_wide(void)
{
    enum { NAMES = 1000000, FILES = 2000, NODES = 20000 };
    struct tree **ads = mem_alloc((NODES + 2) * sizeof *ads);
    struct symbols *symbols = names_new(0);
    struct err err = {0};
    uint32_t place, count = 2;
    struct buf text;
    char node[40];

    buf_init(&text);
    buf_adds(&text, "[ Node = \"B\"; After = { \"A");
    for (int i = 0; i < NAMES; i++)
        buf_adds(&text, ",A");
    buf_adds(&text, ",C\" }; NodeInputs = { \"C:0\"");
    for (int i = 1; i < FILES; i++)
        buf_addf(&text, ", \"C:%d\"", i);
    buf_adds(&text, " } ]");
    ads[0] = ad_read(symbols, buf_string(&text));
    ads[1] = ad_read(symbols, "[ Node = \"C\"; After = { \"B\" } ]");
    ads[2] = ad_read(symbols, "[ Node = \"A\" ]");
    for (count = 3; count < NODES; count++) {
        snprintf(node, sizeof node, "[ Node = \"n%u\" ]", count);
        ads[count] = ad_read(symbols, node);
    }
    tap_ok(dag_check(ads, count, 0, &place, &err) < 0 &&
               !strcmp(err.text, "After: a cycle: B waits for C, which waits for B"),
           "a cycle is found among %d names, by one who takes %d files", NAMES, FILES);
    while (count)
        tree_unref(ads[--count]);
    free(ads);
    buf_done(&text);
    symbols_free(symbols);
}

/* A chain of many, and the same closed to a circle. */
static void check_long(void)
{
    enum { MANY = 50000 };
    struct tree **ads = mem_alloc(MANY * sizeof *ads);
    struct symbols *symbols = names_new(0);
    struct err err = {0};
    uint32_t place;
    char text[100];

    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "[ Node = \"n%d\"; After = { \"n%d\" } ]", i, i + 1);
        if (i == MANY - 1)
            snprintf(text, sizeof text, "[ Node = \"n%d\" ]", i);
        ads[i] = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);
    }
    tap_ok(dag_check(ads, MANY, 0, &place, &err) == 1, "%d nodes one after another are a workflow", MANY);
    tree_unref(ads[MANY - 1]);
    snprintf(text, sizeof text, "[ Node = \"n%d\"; After = { \"n0\" } ]", MANY - 1);
    ads[MANY - 1] = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);
    tap_ok(dag_check(ads, MANY, 0, &place, &err) < 0 && strstr(err.text, "which waits for some more") != NULL &&
               strlen(err.text) < 300,
           "closed to a circle they are not, and its beginning and end are named");
    for (int i = 0; i < MANY; i++)
        tree_unref(ads[i]);
    free(ads);
    symbols_free(symbols);
}

int main(void)
{
    check_files();
    check_recognised();
    check_limits();
    check_ads();
    check_long();
    check_wide();
    return tap_done();
}
