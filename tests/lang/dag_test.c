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

        buf_addf(out, "%s%s=%s", i ? "\n" : "", node->name, node->file ? node->file : "");
        if (node->description) {
            const char *text = dag->descriptions[node->description - 1];

            buf_addf(out, "{%.*s}", (int)strcspn(text, "\n"), text);
        }
        if (node->folder)
            buf_addf(out, " in %s", node->folder);
        if (node->done)
            buf_adds(out, " done");
        if (node->noop)
            buf_adds(out, " noop");
        if (node->abort != DAG_NO_STATUS)
            buf_addf(out, " abort %d,%d", (int)node->abort, (int)node->abort_return);
        if (node->category)
            buf_addf(out, " %s/%d", dag->categories[node->category - 1].name,
                     (int)dag->categories[node->category - 1].most);
        if (node->pre_skip >= 0)
            buf_addf(out, " skip %d", (int)node->pre_skip);
        if (node->retries >= 0)
            buf_addf(out, " retry %d", (int)node->retries);
        if (node->unless >= 0)
            buf_addf(out, " unless %d", (int)node->unless);
        if (node->priority)
            buf_addf(out, " priority %d", (int)node->priority);
        words_show(out, "pre", &node->pre);
        if (node->pre_defer.status >= 0)
            buf_addf(out, " defer %d,%d", (int)node->pre_defer.status, (int)node->pre_defer.seconds);
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

/* Files that others name. */
static int file_give(void *user, const char *path, struct buf *ret, struct err *err)
{
    static const struct {
        const char *name, *text;
    } files[] = {{"in", "JOB X x\nJOB Y y\nPARENT X CHILD Y\nPIN_IN X 1\nPIN_OUT Y 1\n"},
                 {"sub/in", "JOB X x\nJOB Y y\nPARENT X CHILD Y\n"},
                 {"a1", "JOB A1 a1\n"},
                 {"loop", "SPLICE X loop\n"},
                 {"b1", "SPLICE A b2\nSPLICE B b2\nSPLICE C b2\nSPLICE D b2\nSPLICE E b2\nSPLICE F b2\n"},
                 {"b2", "SPLICE A b3\nSPLICE B b3\nSPLICE C b3\nSPLICE D b3\nSPLICE E b3\nSPLICE F b3\n"},
                 {"b3", "SPLICE A b4\nSPLICE B b4\nSPLICE C b4\nSPLICE D b4\nSPLICE E b4\nSPLICE F b4\n"},
                 {"b4", "SPLICE A b5\nSPLICE B b5\nSPLICE C b5\nSPLICE D b5\nSPLICE E b5\nSPLICE F b5\n"},
                 {"b5", "SPLICE A b6\nSPLICE B b6\nSPLICE C b6\nSPLICE D b6\nSPLICE E b6\nSPLICE F b6\n"},
                 {"b6", "SPLICE A b7\nSPLICE B b7\nSPLICE C b7\nSPLICE D b7\nSPLICE E b7\nSPLICE F b7\n"},
                 {"b7", "# nothing\n"},
                 {"bad", "JOB A a\nRETRY Q 3\n"}};

    (void)user;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcmp(files[i].name, path)) {
            buf_adds(ret, files[i].text);
            return 0;
        }
    return err_set(err, "there is no such file");
}

/* What a text is read as: remarks, then the nodes, or the error with its place. */
static void text_read(struct buf *out, const char *text, size_t len, const char *more)
{
    struct err err = {0};
    struct dag dag;

    dag_init(&dag);
    dag.file = file_give;
    if (dag_read(&dag, text, len, remark_show, out, &err) < 0 ||
        (more && dag_read(&dag, more, strlen(more), remark_show, out, &err) < 0))
        buf_addf(out, "%u:%u: %s", err.line, err.column, err.text);
    else
        dag_show(out, &dag);
    dag_done(&dag);
}

/* Files that name others several times, and those others: what they all are together has an end. */
static void check_many(void)
{
    struct buf out;

    buf_init(&out);
    text_read(&out, "SPLICE S b1\n", 12, NULL);
    if (!tap_ok(strstr(buf_string(&out), "expected at most 20000 splices") != NULL,
                "splices in splices that would be very many are refused"))
        tap_diag("%.300s", buf_string(&out));
    buf_done(&out);
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
        {"a description in place that does not end", "JOB A {\n", NULL,
         "1:1: JOB: expected a line '}' that ends the description"},
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
         "2:1: SCRIPT: '$RETURN' is not known before the job has run"},
        {"a job's number before there is one", "JOB A a\nSCRIPT PRE A x $JOBID\n", NULL,
         "2:1: SCRIPT: '$JOBID' is not known before the job has run"},
        {"a variable without quotes", "NODE A a\nVARS A x=1 y = b\n", NULL, "A=a x:1 y:b"},
        {"one without a value", "JOB A a\nVARS A x=\n", NULL, "2:1: VARS: expected a value, and the line ends"},
        {"one whose quotes do not end", "JOB A a\nVARS A x=\"1\n", NULL,
         "2:1: VARS: expected a '\"' that ends the value"},
        {"one without a name", "JOB A a\nVARS A =\"1\"\n", NULL, "2:1: VARS: expected name=\"value\", got '=\"1\"'"},
        {"a workflow within, in place of a job", "SUBDAG B b.dag\n", NULL, "1:1: SUBDAG: expected EXTERNAL, got 'B'"},
        {"a splice whose file there is not", "SPLICE X x.dag\n", NULL, "1:1: SPLICE: x.dag: there is no such file"},
        {"one within itself", "SPLICE X loop\n", NULL, NULL},
        {"a splice that is named as a node", "SPLICE S in\nRETRY S 3\n", NULL,
         "2:1: RETRY: 'S' is a splice: name its nodes"},
        {"an error in a file that is spliced in", "SPLICE S bad\n", NULL, "1:1: bad:2: RETRY: there is no node 'Q'"},
        {"two last nodes", "JOB A a\nFINAL F f\nFINAL G g\n", NULL, "3:1: FINAL: a workflow has one at most"},
        {"a last node that waits for one", "JOB A a\nFINAL F f\nPARENT A CHILD F\n", NULL,
         "3:1: PARENT: the node FINAL waits for all, and none waits for it"},
        {"pins that do not meet", "SPLICE S in\nSPLICE T a1\nCONNECT S T\n", NULL,
         "3:1: CONNECT: no pin out of the first has the number of a pin in of the second"},
        {"what is refused by name", "JOB A a\nSERVICE S s\n", NULL,
         "2:1: SERVICE is not carried over: every node is a part of the work"},
        {"a node that does nothing, and one that ends the workflow",
         "JOB A a NOOP DONE\nJOB B b\nABORT-DAG-ON B 3 RETURN 1\n", NULL, "A=a done noop\nB=b abort 3,1"},
        {"splices, by their first and last nodes",
         "SPLICE S in\nJOB A a\nJOB B b\nPARENT A CHILD S\nPARENT S CHILD B\n", NULL,
         "S+X=x <A\nS+Y=y <S+X\nA=a\nB=b <S+Y"},
        {"a splice in a folder of its own", "SPLICE S in DIR sub\n", NULL, "S+X=x in sub\nS+Y=y in sub <S+X"},
        {"splices that are connected by pins", "SPLICE S in\nSPLICE T in\nCONNECT S T\n", NULL,
         "S+X=x\nS+Y=y <S+X\nT+X=x <S+Y\nT+Y=y <T+X"},
        {"what is said of all nodes is said of those of the file", "SPLICE S in\nJOB A a\nRETRY ALL_NODES 2\n", NULL,
         "S+X=x\nS+Y=y <S+X\nA=a retry 2"},
        {"an included file", "INCLUDE a1\nJOB B b\nPARENT A1 CHILD B\n", NULL, "A1=a1\nB=b <A1"},
        {"descriptions in place, and by name",
         "JOB A {\n x = 1\n} DIR d\nSUBMIT-DESCRIPTION q @=end\n y\n@end\nJOB B q\n", NULL, "A={ x = 1} in d\nB={ y}"},
        {"categories", "JOB A a\nCATEGORY A few\nMAXJOBS few 2\nPRE_SKIP A 4\nSCRIPT DEFER 3 60 PRE A p\n", NULL,
         "A=a few/2 skip 4 pre|p defer 3,60"},
        {"bytes that are no text", "JOB A a\x01\n", NULL, "1:8: expected text, got a control character (0x01)"},
    };
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_reset(&out);
        text_read(&out, rows[i].text, strlen(rows[i].text), rows[i].more);
        if (!tap_ok(rows[i].read ? !strcmp(buf_string(&out), rows[i].read)
                                 : strstr(buf_string(&out), "files are inside one another without end") != NULL,
                    "%s", rows[i].sentence))
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
    check_many();
    check_recognised();
    check_limits();
    check_ads();
    check_long();
    check_wide();
    return tap_done();
}
