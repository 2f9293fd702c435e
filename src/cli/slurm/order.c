/* order.c: what a job is to be, as sbatch and srun are told it: options, amounts, times, arrays. */
#include "cli/slurm/parts.h"
#include "cli/term/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MEMORY_MOST 0x1p53 /* bytes */

#define S struct slurm_order
#define TEXT(letter, name, field)                                  \
    {                                                              \
        letter, name, "VALUE", "", option_text, offsetof(S, field) \
    }
#define FLAG(letter, name, field)                               \
    {                                                           \
        letter, name, NULL, "", option_flag, offsetof(S, field) \
    }
const struct option slurm_order_options[] = {
    TEXT('J', "job-name", name),
    TEXT('o', "output", out),
    TEXT('e', "error", err),
    TEXT('i', "input", in),
    TEXT(0, "export", export),
    TEXT(0, "mem", mem),
    TEXT(0, "mem-per-cpu", mem_per_cpu),
    TEXT('t', "time", time),
    TEXT('D', "chdir", folder),
    TEXT('a', "array", array),
    TEXT('c', "cpus-per-task", cpus),
    TEXT('n', "ntasks", tasks),
    TEXT('N', "nodes", nodes),
    TEXT(0, "gres", gres),
    TEXT('G', "gpus", gpus),
    TEXT(0, "tmp", disk),
    TEXT(0, "wrap", wrap),
    TEXT('A', "account", account),
    TEXT('q', "qos", qos),
    TEXT('p', "partition", partition),
    TEXT(0, "mail-type", mail),
    TEXT(0, "mail-user", mail_user),
    TEXT(0, "comment", comment),
    TEXT(0, "nice", nice),
    TEXT(0, "open-mode", open_mode),
    TEXT(0, "signal", signal),
    TEXT(0, "get-user-env", environment),
    TEXT(0, "reservation", reservation),
    TEXT('C', "constraint", constraint),
    TEXT('d', "dependency", dependency),
    TEXT('b', "begin", begin),
    TEXT('L', "licenses", licenses),
    TEXT('w', "nodelist", nodelist),
    TEXT('x', "exclude", exclude),
    FLAG(0, "parsable", parsable),
    FLAG('Q', "quiet", quiet),
    FLAG(0, "test-only", test),
    FLAG('H', "hold", hold),
    FLAG('W', "wait", wait),
    FLAG(0, "requeue", requeue),
    FLAG(0, "no-requeue", no_requeue),
    FLAG(0, "exclusive", exclusive),
};
const size_t slurm_order_option_count = sizeof slurm_order_options / sizeof *slurm_order_options;
#undef TEXT
#undef FLAG
#undef S

static int bad(const char *command, const char *option, const char *expected, const char *text)
{
    report("%s: --%s: expected %s, got '%.60s'", command, option, expected, text);
    return -1;
}

/* 500, 2G: of mebibytes, or with a unit. -1: it is none. */
static int64_t memory_read(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : units + 1;

    if (end == text || !unit || (*end && end[1]) || !isfinite(number) || number < 0)
        return -1;
    number = ldexp(number, 10 * (int)(unit - units + 1));
    return number <= MEMORY_MOST ? (int64_t)number : -1;
}

/* MIN, MIN:SEC, H:MIN:SEC, D-H, D-H:MIN, D-H:MIN:SEC in seconds; 0: without a limit; -1: it is none. */
static int64_t time_read(const char *text)
{
    int64_t parts[3] = {0}, days = 0;
    const char *at = text, *dash = strchr(text, '-');
    int count = 0;
    char *end;

    if (!strcasecmp(text, "UNLIMITED") || !strcasecmp(text, "INFINITE"))
        return 0;
    for (const char *c = text; *c; c++)
        if (!strchr("0123456789:-", *c))
            return -1;
    if (dash) {
        days = strtoll(text, &end, 10);
        if (end != dash || days < 0)
            return -1;
        at = dash + 1;
    }
    for (; count < 3; at = end + 1) {
        parts[count++] = strtoll(at, &end, 10);
        if (end == at || parts[count - 1] < 0 || parts[count - 1] > 100000000)
            return -1;
        if (*end != ':')
            break;
    }
    if (*end || days > 100000)
        return -1;
    if (dash)
        return ((days * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2];
    return count == 3 ? (parts[0] * 60 + parts[1]) * 60 + parts[2] : parts[0] * 60 + parts[1];
}

/* gpu:2, gpu:a100:2, 2, a100:2: how many; -1: it is none. */
static int64_t gpus_read(const char *text, bool gres)
{
    const char *last = strrchr(text, ':');
    char *end;
    int64_t count;

    if (gres && strncmp(text, "gpu", 3) != 0)
        return -1;
    if (gres && !text[3])
        return 1;
    last = last ? last + 1 : text;
    count = strtoll(last, &end, 10);
    return end == last || *end || count < 0 || count > 1000 ? -1 : count;
}

/* A whole number from 1; the other end of 1-1 is looked at, too. */
static int64_t count_read(const char *text)
{
    char *end;
    int64_t count = strtoll(text, &end, 10);

    if (end != text && *end == '-' && strtoll(end + 1, &end, 10) != count)
        return -1;
    return end == text || *end || count < 1 || count > 1000000 ? -1 : count;
}

static int refused(const char *command, const struct slurm_order *order)
{
    const struct {
        const char *option;
        bool given;
    } rows[] = {{"constraint", order->constraint},
                {"dependency", order->dependency},
                {"begin", order->begin},
                {"licenses", order->licenses},
                {"nodelist", order->nodelist},
                {"exclude", order->exclude},
                {"hold", order->hold},
                {"wait", order->wait}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given) {
            report("%s: --%s cannot be done here%s", command, rows[i].option,
                   !strcmp(rows[i].option, "dependency")   ? ": `berth dag submit` has jobs that wait for others"
                   : !strcmp(rows[i].option, "constraint") ? ": `berth submit` takes a Constraint"
                                                           : "");
            return -1;
        }
    return 0;
}

int slurm_order_amounts(const char *command, const struct slurm_order *order, struct slurm_amounts *ret)
{
    struct slurm_amounts all = {.cpus = 1, .memory = -1, .disk = -1, .time = -1, .gpus = -1, .tasks = 1};
    int64_t cpus = 1;

    if (refused(command, order) < 0)
        return -1;
    if (order->cpus && (cpus = count_read(order->cpus)) < 0)
        return bad(command, "cpus-per-task", "a number", order->cpus);
    if (order->tasks && (all.tasks = count_read(order->tasks)) < 0)
        return bad(command, "ntasks", "a number", order->tasks);
    if (order->nodes && count_read(order->nodes) != 1)
        return bad(command, "nodes", "1: a job with several machines is for `berth submit` (Processes)", order->nodes);
    all.cpus = (double)cpus;
    if (order->mem && (all.memory = memory_read(order->mem)) < 0)
        return bad(command, "mem", "mebibytes, or 2G", order->mem);
    if (order->mem_per_cpu && (all.memory = memory_read(order->mem_per_cpu)) < 0)
        return bad(command, "mem-per-cpu", "mebibytes, or 2G", order->mem_per_cpu);
    if (order->mem_per_cpu && all.memory > (int64_t)MEMORY_MOST / cpus)
        return bad(command, "mem-per-cpu", "less, with so many processors", order->mem_per_cpu);
    if (order->mem_per_cpu)
        all.memory *= cpus;
    if (order->disk && (all.disk = memory_read(order->disk)) < 0)
        return bad(command, "tmp", "mebibytes, or 2G", order->disk);
    if (order->time && (all.time = time_read(order->time)) < 0)
        return bad(command, "time", "minutes, or D-HH:MM:SS", order->time);
    if (order->gres && (all.gpus = gpus_read(order->gres, true)) < 0)
        return bad(command, "gres", "gpu:N", order->gres);
    if (order->gpus && (all.gpus = gpus_read(order->gpus, false)) < 0)
        return bad(command, "gpus", "a number", order->gpus);
    *ret = all;
    return 0;
}

void slurm_order_remark(const char *command, const struct slurm_order *order)
{
    const struct {
        const char *option;
        bool given;
    } rows[] = {{"--account", order->account},
                {"--qos", order->qos},
                {"--partition", order->partition && strcmp(order->partition, SLURM_PARTITION) != 0},
                {"--mail-type", order->mail && strcasecmp(order->mail, "NONE") != 0},
                {"--nice", order->nice},
                {"--signal", order->signal},
                {"--reservation", order->reservation},
                {"--exclusive", order->exclusive}};
    struct buf words;

    buf_init(&words);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given)
            buf_addf(&words, "%s%s", words.len ? ", " : "", rows[i].option);
    if (words.len)
        report("%s: %s: nothing like it here", command, buf_string(&words));
    buf_done(&words);
}

/* Adds the numbers from first to last in those steps. */
static bool range_add(struct slurm_array *array, int64_t first, int64_t last, int64_t step)
{
    if (step == 1) {
        if (array->count == SLURM_RANGES_MAX)
            return false;
        array->ranges[array->count].first = first;
        array->ranges[array->count++].last = last;
        array->tasks += last - first + 1;
        return true;
    }
    for (int64_t i = first; i <= last; i += step)
        if (!range_add(array, i, i, 1))
            return false;
    return true;
}

int slurm_array_read(const char *text, struct slurm_array *ret)
{
    const char *at = text;
    char *end;

    *ret = (struct slurm_array){.count = 0};
    for (;;) {
        int64_t first = strtoll(at, &end, 10), last = first, step = 1;

        if (end == at)
            break;
        if (*end == '-') {
            at = end + 1;
            last = strtoll(at, &end, 10);
            if (end == at)
                break;
        }
        if (*end == ':') {
            at = end + 1;
            step = strtoll(at, &end, 10);
        }
        if (first < 0 || last < first || last > 99999 || step < 1 || step > 99999 || !range_add(ret, first, last, step))
            break;
        if (*end == '%') {
            strtoll(end + 1, &end, 10);
            report("sbatch: --array: how many of them run at once is not bounded here");
        }
        if (!*end)
            return 0;
        if (*end != ',')
            break;
        at = end + 1;
    }
    return bad("sbatch", "array", "numbers up to 99999, as in 0-9 or 1,3,7-9:2, and not more than a thousand pieces",
               text);
}
