/* cluster.c: the table of a batch system: its rows, and reading one. */
#include "exec/cluster_parts.h"

#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/text/parse.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cluster_slurm[] =
    "[\n"
    "    Name = \"slurm\";\n"
    "    Submit = { \"sbatch\", \"--parsable\", \"--no-requeue\", \"--job-name=$NAME\", \"--output=$OUTPUT\",\n"
    "               \"--time=$CLOCK\", \"--cpus-per-task=$CPUS\", \"--mem=${MEMORY}M\", \"$OPTIONS\", \"$SCRIPT\" };\n"
    "    SubmitId = split(Text, \"; \\n\")[0];\n"
    "    Status = { \"squeue\", \"--noheader\", \"--me\", \"--format=%i %T %j\" };\n"
    "    JobId = Words[0];\n"
    "    JobName = Words[2];\n"
    "    JobState = member(Words[1], waiting) ? \"pending\" : member(Words[1], over) ? \"gone\" : \"running\";\n"
    "    waiting = { \"PENDING\", \"REQUEUED\", \"REQUEUE_HOLD\", \"REQUEUE_FED\", \"RESV_DEL_HOLD\", \"SPECIAL_EXIT\" };\n"
    "    over = { \"BOOT_FAIL\", \"CANCELLED\", \"COMPLETED\", \"DEADLINE\", \"FAILED\", \"NODE_FAIL\", \"OUT_OF_MEMORY\",\n"
    "             \"PREEMPTED\", \"REVOKED\", \"TIMEOUT\" };\n"
    "    Cancel = { \"scancel\", \"$ID\" };\n"
    "    Queue = { \"squeue\", \"--noheader\", \"--format=%i %T %j\" };\n"
    "    Capacity = { \"sinfo\", \"--noheader\", \"--format=%C\" };\n"
    "    Cores = int(split(Text, \"/ \\n\")[3]);\n"
    "    FreeCores = int(split(Text, \"/ \\n\")[1]);\n"
    "    IdVariable = \"SLURM_JOB_ID\";\n"
    "    EndVariable = \"SLURM_JOB_END_TIME\";\n"
    "    TimeLeft = { \"squeue\", \"--noheader\", \"--jobs=$ID\", \"--format=%L\" };\n"
    "    SecondsLeft = size(left) == 4 ? ((int(left[0]) * 24 + int(left[1])) * 60 + int(left[2])) * 60 + int(left[3])\n"
    "                : size(left) == 3 ? (int(left[0]) * 60 + int(left[1])) * 60 + int(left[2])\n"
    "                : size(left) == 2 ? int(left[0]) * 60 + int(left[1]) : undefined;\n"
    "    left = split(Words[0], \"-:\");\n"
    "]\n";

/* ------------------------------------------------------------------------------------------------------------ the rows */

enum row_kind { ROW_COMMAND, ROW_TEXT, ROW_READS };

/* A table has these. `reads`: the command whose answer the expression reads; it must be there when that is. */
static const struct row {
    const char *name;
    enum row_kind kind;
    bool required;
    const char *reads;
} rows[] = {
    {"Name", ROW_TEXT, true, NULL},          {"Submit", ROW_COMMAND, true, NULL},
    {"SubmitId", ROW_READS, true, "Submit"}, {"Status", ROW_COMMAND, true, NULL},
    {"JobId", ROW_READS, true, "Status"},    {"JobName", ROW_READS, true, "Status"},
    {"JobState", ROW_READS, true, "Status"}, {"Cancel", ROW_COMMAND, true, NULL},
    {"Queue", ROW_COMMAND, false, NULL},     {"Capacity", ROW_COMMAND, false, NULL},
    {"Cores", ROW_READS, false, "Capacity"}, {"FreeCores", ROW_READS, false, "Capacity"},
    {"IdVariable", ROW_TEXT, false, NULL},   {"EndVariable", ROW_TEXT, false, NULL},
    {"TimeLeft", ROW_COMMAND, false, NULL},  {"SecondsLeft", ROW_READS, false, "TimeLeft"},
};

static const struct row *row_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == len && !strncasecmp(rows[i].name, name, len))
            return &rows[i];
    return NULL;
}

const struct expr *table_part(const struct tree *table, const char *name)
{
    symbol label = symbols_find(table->symbols, name, strlen(name));

    return label ? tree_find(table, tree_root(table), label) : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- reading */

#define ATTRIBUTES_MAX 200

/* Where the attributes stand in the text, for complaints. */
struct places {
    size_t at[ATTRIBUTES_MAX];
    uint32_t count;
};

static void place_note(void *user, size_t start, size_t end)
{
    struct places *places = user;

    (void)end;
    if (places->count < ATTRIBUTES_MAX)
        places->at[places->count++] = start;
}

static int command_check(const struct tree *table, const struct expr *e, struct err *err)
{
    if (e->kind != EXPR_LIST || !e->u.run.count || e->u.run.count > CLUSTER_WORDS_MAX)
        return err_set(err, "expected a list of 1 to %d texts: the command and its arguments", CLUSTER_WORDS_MAX);
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        const struct expr *part = &tree_parts(table, e)[i];
        char *word;
        int failed;

        if (part->kind != EXPR_STRING || !part->u.run.count ||
            memchr(tree_string(table, part), '\0', part->u.run.count))
            return err_set(err, "expected a list of texts, none of them empty");
        word = table_word(table, e, i);
        failed = i == 0 && strchr(word, '$') ? err_set(err, "the command itself has no $NAME")
                                             : command_word_check(word, err);
        free(word);
        if (failed)
            return -1;
    }
    return 0;
}

static int attribute_check(const struct tree *table, const struct expr *e, struct err *err)
{
    struct nearest nearest;
    size_t len;
    const char *name = symbols_text(table->symbols, e->label, &len);
    const struct row *row = row_find(name, len);

    if (!row && len && islower((unsigned char)*name))
        return 0;
    if (!row) {
        nearest_init(&nearest, name, len);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            nearest_try(&nearest, rows[i].name);
        return err_set(err, "%.60s: a table has no such attribute%s%s; one of your own begins with a small letter",
                       name, nearest.name ? "; perhaps " : "", nearest.name ? nearest.name : "");
    }
    if (row->kind == ROW_TEXT && (e->kind != EXPR_STRING || !e->u.run.count || e->u.run.count > CLUSTER_ID_MAX ||
                                  memchr(tree_string(table, e), '\0', e->u.run.count)))
        return err_set(err, "%s: expected a text of 1 to %d bytes", row->name, CLUSTER_ID_MAX);
    if (row->kind == ROW_COMMAND && command_check(table, e, err) < 0)
        return err_context(err, "%s", row->name);
    return 0;
}

/* Checks the whole table; the error has a place where there is one. */
static int table_check(const struct tree *table, const char *text, const struct places *places, struct err *err)
{
    const struct expr *root = tree_root(table);

    if (root->u.run.count > ATTRIBUTES_MAX)
        return err_set(err, "more than %d attributes", ATTRIBUTES_MAX);
    for (uint32_t i = 0; i < root->u.run.count; i++)
        if (attribute_check(table, &tree_parts(table, root)[i], err) < 0) {
            if (i < places->count)
                err_place(text, places->at[i], &err->line, &err->column);
            return -1;
        }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool has = table_part(table, rows[i].name), wanted = rows[i].required;

        wanted = wanted || (rows[i].kind == ROW_READS && table_part(table, rows[i].reads));
        if (!has && wanted && rows[i].reads)
            return err_set(err, "%s is missing: it reads what %s printed", rows[i].name, rows[i].reads);
        if (!has && wanted)
            return err_set(err, "%s is missing", rows[i].name);
    }
    return 0;
}

static struct tree *parse(struct symbols *symbols, const char *text, size_t len, struct places *places, struct err *err)
{
    struct parse_watch watch = {.attribute = place_note, .user = places};
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX, .watch = places ? &watch : NULL};
    struct build build;
    struct tree *ad;

    build_init(&build, symbols, &dialect_classic);
    ad = parse_ad(&build, &options, text, len, err);
    build_done(&build);
    return ad;
}

struct cluster *cluster_parse(const char *name, const char *text, size_t len, struct err *err)
{
    static const char answer[] = "[ Words = split(Text, \" \\t\\r\\n\"); Lines = split(Text, \"\\r\\n\") ]";
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct places places = {.count = 0};
    struct err why = {0};

    *cluster = (struct cluster){.symbols = names_new(1)};
    arena_init(&cluster->arena);
    cluster->answer = parse(cluster->symbols, answer, sizeof answer - 1, NULL, NULL);
    cluster->table = parse(cluster->symbols, text, len, &places, &why);
    if (cluster->table && table_check(cluster->table, text, &places, &why) == 0) {
        const struct expr *e = table_part(cluster->table, "Name");

        cluster->text = mem_dup(text, len);
        cluster->len = len;
        cluster->name = mem_dup(tree_string(cluster->table, e), e->u.run.count);
        return cluster;
    }
    if (why.line)
        err_set(err, "%s:%u:%u: %s", name, why.line, why.column, why.text);
    else
        err_set(err, "%s: %s", name, why.text);
    cluster_free(cluster);
    return NULL;
}

struct cluster *cluster_read(const char *file, struct err *err)
{
    struct cluster *cluster = NULL;
    struct buf text;
    ssize_t count = 0;
    int fd;

    if (!file)
        return cluster_parse("slurm", cluster_slurm, strlen(cluster_slurm), err);
    buf_init(&text);
    fd = open(file, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && text.len <= CLUSTER_BYTES_MAX) {
        count = read(fd, buf_reserve(&text, 16384), 16384);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        text.len += (size_t)count;
    }
    if (fd < 0 || count < 0)
        err_set(err, "%s: %s", file, strerror(errno));
    else if (text.len > CLUSTER_BYTES_MAX)
        err_set(err, "%s: a table has at most %u bytes", file, CLUSTER_BYTES_MAX);
    else
        cluster = cluster_parse(file, buf_string(&text), text.len, err);
    if (fd >= 0)
        close(fd);
    buf_done(&text);
    return cluster;
}

void cluster_free(struct cluster *cluster)
{
    if (!cluster)
        return;
    tree_unref(cluster->table);
    tree_unref(cluster->answer);
    arena_done(&cluster->arena);
    symbols_free(cluster->symbols);
    free(cluster->text);
    free(cluster->name);
    free(cluster);
}

const char *cluster_name(const struct cluster *cluster)
{
    return cluster->name;
}

const char *cluster_text(const struct cluster *cluster, size_t *ret_len)
{
    *ret_len = cluster->len;
    return cluster->text;
}
