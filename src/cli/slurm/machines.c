/* machines.c: sinfo: machines as nodes of one partition. */
#include "cli/slurm/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct info_settings {
    const char *format, *partition, *states, *nodes, *sort;
    bool headless, each, exact, all, whole, summary;
};

#define S struct info_settings
static const struct option options[] = {
    {'o', "format", "FORMAT", "", option_text, offsetof(S, format)},
    {'p', "partition", "NAME", "", option_text, offsetof(S, partition)},
    {'t', "states", "STATES", "", option_text, offsetof(S, states)},
    {'n', "nodes", "NAMES", "", option_text, offsetof(S, nodes)},
    {'S', "sort", "FIELDS", "", option_text, offsetof(S, sort)},
    {'H', "noheader", NULL, "", option_flag, offsetof(S, headless)},
    {'N', "Node", NULL, "", option_flag, offsetof(S, each)},
    {'e', "exact", NULL, "", option_flag, offsetof(S, exact)},
    {'a', "all", NULL, "", option_flag, offsetof(S, all)},
    {'l', "long", NULL, "", option_flag, offsetof(S, whole)},
    {'s', "summarize", NULL, "", option_flag, offsetof(S, summary)},
};
#undef S

#define LETTERS "PRalDtTNncmGCzOpsXYZFAgLI"
#define FORMAT "%9P %.5a %.10l %.6D %.6t %N"
#define FORMAT_EACH "%N %.6D %.9P %.6t"

/* Nodes that are alike in all that the format shows. */
struct group {
    struct buf line, names; /* the line without names and number */
    struct slurm_node node;
    struct tree *ad; /* held */
    uint32_t count;
    int64_t used, cpus, idle;
};

struct info {
    struct info_settings settings;
    const char *format;
    struct group *groups;
    uint32_t count, room;
    struct buf line;
    bool good;
};

void slurm_node_read(struct tree *ad, struct slurm_node *ret)
{
    static const struct {
        const char *state, *word, *words;
    } rows[] = {{"Idle", "idle", "idle"},      {"Part", "mix", "mixed"},        {"Busy", "alloc", "allocated"},
                {"Owner", "resv", "reserved"}, {"Drained", "drain", "drained"}, {"Away", "down*", "down*"}};
    static const char *const amounts[] = {"Cpus", "CpusUsed", "Memory", "MemoryUsed", "GpuCount"};
    int64_t *const to[] = {&ret->cpus, &ret->used, &ret->memory, &ret->memory_used, &ret->gpus};

    *ret = (struct slurm_node){.ad = ad, .state = "down", .state_long = "down"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (job_text_is(ad, "State", rows[i].state)) {
            ret->state = rows[i].word;
            ret->state_long = rows[i].words;
        }
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        double number;

        if (job_number(ad, amounts[i], &number) && number > 0 && number < 9e15)
            *to[i] = (int64_t)number;
    }
}

void slurm_node_name(const struct slurm_node *node, struct buf *out)
{
    const char *text;
    size_t len;

    if (ad_string(node->ad, "Name", &text, &len))
        slurm_text(out, text, len);
}

struct shown {
    const struct slurm_node *node;
    const struct group *group; /* of a whole line; NULL: names and number are left out */
    bool heading;
};

static const char *heading(char letter)
{
    static const char *const words[] = {
        ['P'] = "PARTITION",      ['R'] = "PARTITION",  ['a'] = "AVAIL",    ['l'] = "TIMELIMIT",
        ['D'] = "NODES",          ['t'] = "STATE",      ['T'] = "STATE",    ['N'] = "NODELIST",
        ['n'] = "HOSTNAMES",      ['c'] = "CPUS",       ['m'] = "MEMORY",   ['G'] = "GRES",
        ['C'] = "CPUS(A/I/O/T)",  ['z'] = "S:C:T",      ['O'] = "CPU_LOAD", ['p'] = "PRIO_TIER",
        ['s'] = "JOB_SIZE",       ['X'] = "SOCKETS",    ['Y'] = "CORES",    ['Z'] = "THREADS",
        ['F'] = "NODES(A/I/O/T)", ['A'] = "NODES(A/I)", ['g'] = "GROUPS",   ['L'] = "DEFAULTTIME",
        ['I'] = "PRIO_JOB_FACTOR"};

    return words[(unsigned char)letter];
}

static void shown_print(const void *what, char letter, struct buf *out)
{
    const struct shown *cell = what;
    const struct slurm_node *node = cell->node;
    const struct group *group = cell->group;
    long long idle = group ? (long long)group->idle : 0;

    if (cell->heading) {
        buf_adds(out, heading(letter));
        return;
    }
    switch (letter) {
    case 'P':
        buf_adds(out, SLURM_PARTITION "*");
        break;
    case 'R':
        buf_adds(out, SLURM_PARTITION);
        break;
    case 'a':
        buf_adds(out, "up");
        break;
    case 'l':
    case 'L':
        buf_adds(out, letter == 'l' ? "infinite" : "n/a");
        break;
    case 'D':
        buf_addf(out, "%u", group ? group->count : 0);
        break;
    case 't':
        buf_adds(out, node->state);
        break;
    case 'T':
        buf_adds(out, node->state_long);
        break;
    case 'N':
    case 'n':
        if (group)
            buf_add(out, group->names.text, group->names.len);
        break;
    case 'c':
        buf_addf(out, "%" PRId64, node->cpus);
        break;
    case 'm':
        buf_addf(out, "%" PRId64, node->memory >> 20);
        break;
    case 'G':
        if (node->gpus)
            buf_addf(out, "gpu:%" PRId64, node->gpus);
        else
            buf_adds(out, "(null)");
        break;
    case 'C':
        if (group)
            buf_addf(out, "%" PRId64 "/%" PRId64 "/%" PRId64 "/%" PRId64, group->used, group->cpus - group->used,
                     (int64_t)0, group->cpus);
        break;
    case 'z':
        buf_addf(out, "1:%" PRId64 ":1", node->cpus);
        break;
    case 'F':
    case 'A':
        if (group)
            buf_addf(out, letter == 'A' ? "%lld/%lld" : "%lld/%lld/0/%lld", (long long)group->count - idle, idle,
                     (long long)group->count);
        break;
    case 'p':
    case 'I':
    case 'X':
    case 'Z':
        buf_adds(out, "1");
        break;
    case 'Y':
        buf_addf(out, "%" PRId64, node->cpus);
        break;
    case 's':
        buf_adds(out, "1-infinite");
        break;
    case 'g':
        buf_adds(out, "all");
        break;
    default:
        buf_adds(out, "N/A");
    }
}

static void group_add(struct info *info, struct tree *ad, const struct slurm_node *node)
{
    struct group *group = NULL;

    for (uint32_t i = 0; i < info->count && !info->settings.each && !group; i++)
        if (info->groups[i].line.len == info->line.len &&
            !memcmp(info->groups[i].line.text, info->line.text, info->line.len))
            group = &info->groups[i];
    if (!group) {
        ARRAY_ROOM(info->groups, info->count, info->room, 16);
        group = &info->groups[info->count++];
        *group = (struct group){.node = *node, .ad = tree_ref(ad)};
        buf_init(&group->line);
        buf_init(&group->names);
        buf_add(&group->line, info->line.text, info->line.len);
    }
    group->count++;
    group->cpus += node->cpus;
    group->used += node->used;
    group->idle += !strcmp(node->state, "idle");
    if (group->names.len)
        buf_addc(&group->names, ',');
    slurm_node_name(node, &group->names);
}

static bool machine_take(void *user, struct tree *ad)
{
    struct info *info = user;
    struct slurm_node node;
    struct shown cell = {.node = &node};
    struct buf name;
    bool wanted;

    slurm_node_read(ad, &node);
    buf_init(&name);
    slurm_node_name(&node, &name);
    wanted = (!info->settings.nodes || slurm_word_among(info->settings.nodes, buf_string(&name))) &&
             (!info->settings.states || slurm_word_among(info->settings.states, node.state) ||
              slurm_word_among(info->settings.states, node.state_long));
    buf_done(&name);
    if (!wanted)
        return true;
    buf_reset(&info->line);
    info->good = slurm_line("sinfo", info->format, LETTERS, shown_print, &cell, &info->line);
    if (info->good)
        group_add(info, ad, &node);
    return info->good;
}

/* A partition without a node that is shown is there all the same. */
static void nothing_print(struct info *info, struct buf *out)
{
    const struct slurm_node none = {.state = "n/a", .state_long = "n/a"};
    struct group group = {.count = 0};
    struct shown cell = {.node = &none, .group = &group};

    buf_init(&group.names);
    slurm_line("sinfo", info->format, LETTERS, shown_print, &cell, out);
    buf_done(&group.names);
}

static int info_ask(struct info *info, struct buf *out)
{
    struct connection_options none = {0};
    struct connection pool;
    int status = connection_open(&pool, &none);

    if (status == STATUS_DONE)
        status = connection_list(&pool, "/v1/machines?whole=true", 0, machine_take, info);
    if (status == STATUS_DONE && info->good && !info->count)
        nothing_print(info, out);
    for (uint32_t i = 0; i < info->count; i++) {
        struct group *group = &info->groups[i];
        struct shown cell = {.node = &group->node, .group = group};

        slurm_line("sinfo", info->format, LETTERS, shown_print, &cell, out);
        tree_unref(group->ad);
        buf_done(&group->line);
        buf_done(&group->names);
    }
    free(info->groups);
    connection_close(&pool);
    return status;
}

int slurm_sinfo(int word_count, char **words)
{
    struct info info = {.good = true};
    const struct shown headings = {.heading = true};
    struct buf out;
    int status = slurm_read("sinfo", options, sizeof options / sizeof *options, "hNeals", false, &info.settings,
                            &word_count, words);

    if (status == STATUS_DONE && word_count) {
        report("sinfo: '%.60s' is not understood", words[0]);
        status = STATUS_BAD;
    }
    if (status != STATUS_DONE)
        return status;
    buf_init(&out);
    buf_init(&info.line);
    info.format = info.settings.format ? info.settings.format : info.settings.each ? FORMAT_EACH : FORMAT;
    if (!info.settings.headless)
        info.good = slurm_line("sinfo", info.format, LETTERS, shown_print, &headings, &out);
    if (info.good && (!info.settings.partition || slurm_word_among(info.settings.partition, SLURM_PARTITION)))
        status = info_ask(&info, &out);
    if (status == STATUS_DONE && info.good)
        output_write(&out);
    buf_done(&info.line);
    buf_done(&out);
    return info.good ? status : STATUS_BAD;
}
