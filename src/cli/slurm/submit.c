/* submit.c: sbatch: a script, or a command in --wrap, becomes an ad, which `berth submit` takes.
 *
 * The script is an argument of the shell that starts the job: so it need not be a file at the machine, and may be changed here while the job waits, as with
 * Slurm. What is known only there, the job's number above all, that shell puts into SLURM_JOB_ID and the like. */
#include "cli/jobs/environment.h"
#include "cli/slurm/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/self.h"
#include "lang/base/arena.h"
#include "lang/text/print.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRIPT_MAX (120u << 10) /* bytes: an argument of a program has not more */
#define WORDS_MAX 256
#define EXPORTS_MAX 256

struct batch_job {
    struct slurm_order order;
    struct slurm_amounts amounts;
    struct slurm_array array;
    struct arena arena;
    struct buf script;
    const char *name; /* of the script; NULL: none */
    char folder[PATH_MAX];
    bool share;
};

/* ----------------------------------------------------------------------------------------------------------- the script */

/* Takes a line of #SBATCH apart: words, and 'words with blanks'. */
static int line_words(struct batch_job *submit, const char *line, size_t len, char **ret)
{
    int count = 0;

    for (size_t i = 0; i < len && count < WORDS_MAX;) {
        char *word = arena_alloc(&submit->arena, len + 1);
        size_t at = 0;
        char quote = 0;

        while (i < len && (line[i] == ' ' || line[i] == '\t'))
            i++;
        if (i == len || line[i] == '#')
            break;
        for (; i < len && (quote || (line[i] != ' ' && line[i] != '\t')); i++) {
            if (quote ? line[i] == quote : line[i] == '"' || line[i] == '\'')
                quote = quote ? 0 : line[i];
            else
                word[at++] = line[i];
        }
        word[at] = '\0';
        ret[count++] = word;
    }
    return count;
}

/* Reads the #SBATCH lines, up to the first command. */
static int script_options(struct batch_job *submit)
{
    const char *at = buf_string(&submit->script);
    char *words[WORDS_MAX];

    while (*at) {
        size_t len = strcspn(at, "\n");

        if (!strncmp(at, "#SBATCH", 7) && (at[7] == ' ' || at[7] == '\t')) {
            int count = line_words(submit, at + 7, len - 7, words);

            if (slurm_read("sbatch", slurm_order_options, slurm_order_option_count, NULL, false, &submit->order, &count,
                           words) != STATUS_DONE)
                return -1;
        } else if (len && *at != '#' && strspn(at, " \t\r") < len) {
            break;
        }
        at += len + (at[len] != '\0');
    }
    return 0;
}

static int script_read(struct batch_job *submit, int word_count, char **words, const struct slurm_order *typed)
{
    if (typed->wrap && word_count) {
        report("sbatch: --wrap and a script: expected one of them");
        return -1;
    }
    if (typed->wrap) {
        buf_addf(&submit->script, "#!/bin/sh\n%s\n", typed->wrap);
        return 0;
    }
    submit->name = word_count ? words[0] : NULL;
    if (file_read(word_count ? words[0] : "-", &submit->script) < 0)
        return -1;
    if (submit->script.len < 2 || memcmp(submit->script.text, "#!", 2) != 0) {
        report("sbatch: %.200s: a script begins with #!, the program that reads it", word_count ? words[0] : "-");
        return -1;
    }
    return script_options(submit);
}

/* ---------------------------------------------------------------------------------------------------------------- the ad */

static void add_text(struct buf *out, const char *name, const char *text, size_t len)
{
    buf_addf(out, "%s = ", name);
    print_string(out, text, len, PRINT_PLAIN);
    buf_adds(out, ";\n");
}

static const char *job_name(const struct batch_job *submit)
{
    const char *slash = submit->name ? strrchr(submit->name, '/') : NULL;

    if (submit->order.name)
        return submit->order.name;
    return slash ? slash + 1 : submit->name ? submit->name : submit->order.wrap ? "wrap" : "sbatch";
}

/* Goes on in a file's name with %j and the like: true, and the letter behind the next % that means something (a width before it is passed over), or 0 and
 * a character that stands for itself. False at its end. */
static bool pattern_next(const char **at, char *ret_letter, char *ret_plain)
{
    const char *letter = *at + 1 + (**at == '%' ? strspn(*at + 1, "0123456789") : 0);

    if (!**at)
        return false;
    *ret_letter = **at == '%' && *letter && strchr("jJAaxutsnN%", *letter) ? *letter : 0;
    *ret_plain = **at;
    *at = *ret_letter ? letter + 1 : *at + 1;
    return true;
}

/* What a letter stands for where that is known before the job has a number. */
static const char *pattern_word(const struct batch_job *submit, char letter)
{
    const struct passwd *user = letter == 'u' ? getpwuid(geteuid()) : NULL;

    return letter == 'x'   ? job_name(submit)
           : letter == 'u' ? (user ? user->pw_name : "user")
           : letter == '%' ? "%"
           : letter == 'N' ? "node"
                           : "0";
}

/* The name becomes strcat("slurm-", JobId, ".out"). `place`: of the array's task, less its number. */
static void add_pattern(struct buf *out, const struct batch_job *submit, const char *pattern, int64_t place)
{
    struct buf plain;
    char letter, c;

    buf_init(&plain);
    buf_adds(out, "strcat(\"\"");
    while (pattern_next(&pattern, &letter, &c)) {
        if (letter && strchr("jJAa", letter) && plain.len) {
            buf_adds(out, ", ");
            print_string(out, plain.text, plain.len, PRINT_PLAIN);
            buf_reset(&plain);
        }
        if (!letter)
            buf_addc(&plain, c);
        else if (letter == 'j' || letter == 'J')
            buf_adds(out, ", JobId");
        else if (letter == 'A')
            buf_addf(out, ", JobId - Index - (%" PRId64 ")", place);
        else if (letter == 'a')
            buf_adds(out, ", Index");
        else
            buf_adds(&plain, pattern_word(submit, letter));
    }
    if (plain.len) {
        buf_adds(out, ", ");
        print_string(out, plain.text, plain.len, PRINT_PLAIN);
    }
    buf_addc(out, ')');
    buf_done(&plain);
}

/* The stream's file: beneath the job's folder under its own name, elsewhere by OutputTo. */
static void add_stream(struct buf *out, struct buf *to, const struct batch_job *submit, const char *attribute,
                       const char *pattern, int64_t place)
{
    size_t len = strlen(submit->folder);

    if (!strncmp(pattern, submit->folder, len) && pattern[len] == '/')
        pattern += len + 1;
    if (!strncmp(pattern, "./", 2))
        pattern += 2;
    if (!strcmp(pattern, "/dev/null"))
        return;
    buf_addf(out, "%s = ", attribute);
    if (*pattern == '/') {
        char name[32];

        snprintf(name, sizeof name, "slurm.%s", attribute);
        print_string(out, name, strlen(name), PRINT_PLAIN);
        buf_addf(to, "%s[ Name = \"%s\"; To = ", to->len ? ", " : "", name);
        add_pattern(to, submit, pattern, place);
        buf_adds(to, " ]");
    } else {
        add_pattern(out, submit, pattern, place);
    }
    buf_adds(out, ";\n");
}

/* What means nothing to a shell stays as it is: people see it in lists of jobs. */
static void shell_char(struct buf *out, char c)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/%+:@,";

    if (c && strchr(plain, c))
        buf_addc(out, c);
    else if (c == '\'')
        buf_adds(out, "\"'\"");
    else
        buf_addf(out, "'%c'", c);
}

/* The shell's words for a pattern, where the job writes the file itself. */
static void shell_pattern(struct buf *out, const struct batch_job *submit, const char *pattern)
{
    char letter, c;

    while (pattern_next(&pattern, &letter, &c)) {
        if (!letter)
            shell_char(out, c);
        else if (letter == 'j' || letter == 'J')
            buf_adds(out, "\"$SLURM_JOB_ID\"");
        else if (letter == 'A')
            buf_adds(out, "\"${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}\"");
        else if (letter == 'a')
            buf_adds(out, "\"${SLURM_ARRAY_TASK_ID:-0}\"");
        else
            for (const char *word = pattern_word(submit, letter); *word; word++)
                shell_char(out, *word);
    }
}

/* The machine need not have an srun: in a job it runs what follows its options. */
static const char step_shell[] =
    "b=\"${TMPDIR:-/tmp}/slurm_bin.$BERTH_JOB\"; mkdir -p \"$b\" && cat >\"$b/srun\" <<'END' && chmod 755 \"$b/srun\" && PATH=\"$b:$PATH\"\n"
    "#!/bin/sh\n"
    "while :; do\n"
    "  case ${1-} in\n"
    "  --) shift; break ;;\n"
    "  -[nNcJtpAoeiDwxqGC] | --ntasks | --nodes | --cpus-per-task | --job-name | --time | --mem | --mem-per-cpu | --jobid | --export | --mpi | --gpus | --gres | --chdir | --output | --error | --input | --cpu-bind | --partition | --account | --qos | --tmp | --comment | --constraint | --nodelist | --exclude) shift 2 ;;\n"
    "  -*) shift ;;\n"
    "  *) break ;;\n"
    "  esac\n"
    "done\n"
    "exec \"$@\"\n"
    "END\n";

static void add_starter(struct buf *out, const struct batch_job *submit, int64_t place)
{
    const char *path = buf_string((struct buf *)(uintptr_t)&submit->script) + 2, *err = submit->order.err;
    size_t len = strcspn(path, "\r\n");
    const char *pattern = submit->order.out     ? submit->order.out
                          : submit->order.array ? "slurm-%A_%a.out"
                                                : "slurm-%j.out";
    struct buf shell;

    buf_init(&shell);
    buf_adds(&shell,
             "export SLURM_JOB_ID=\"$BERTH_JOB\" SLURM_JOBID=\"$BERTH_JOB\" SLURM_JOB_NODELIST=\"$(uname -n)\"; ");
    if (submit->order.array)
        buf_addf(&shell,
                 "export SLURM_ARRAY_TASK_ID=\"$BERTH_INDEX\" SLURM_ARRAY_JOB_ID=$((BERTH_JOB - BERTH_INDEX - (%" PRId64
                 "))); ",
                 place);
    if (submit->share) {
        buf_adds(&shell, "exec >");
        shell_pattern(&shell, submit, pattern);
        buf_adds(&shell, "; ");
    }
    if (submit->share && err) {
        buf_adds(&shell, "exec 2>");
        shell_pattern(&shell, submit, err);
        buf_adds(&shell, "; ");
    } else if (!err) {
        buf_adds(&shell, "exec 2>&1; ");
    }
    buf_adds(&shell, step_shell);
    buf_adds(
        &shell,
        "f=\"${TMPDIR:-/tmp}/slurm_script.$BERTH_JOB\"; printf %s \"$1\" >\"$f\" && chmod 700 \"$f\" || exit; shift; exec ");
    buf_add(&shell, path, len);
    buf_adds(&shell, " \"$f\" \"$@\"");
    print_string(out, shell.text, shell.len, PRINT_PLAIN);
    buf_done(&shell);
}

static const char *word_keep(struct batch_job *submit, const char *text, size_t len)
{
    char *word = arena_alloc(&submit->arena, len + 1);

    memcpy(word, text, len);
    word[len] = '\0';
    return word;
}

/* --export=ALL,K=V,NAME: -1: it is wrong. */
static int add_environment(struct buf *out, struct batch_job *submit)
{
    const char *words[EXPORTS_MAX], *text = submit->order.export ? submit->order.export : "ALL";
    size_t count = 0;
    bool all = false;
    struct buf own;

    buf_init(&own);
    buf_addf(&own, "SLURM_JOB_NAME=%s", job_name(submit));
    words[count++] = word_keep(submit, buf_string(&own), own.len);
    buf_reset(&own);
    buf_addf(&own, "SLURM_CPUS_PER_TASK=%.0f", submit->amounts.cpus);
    words[count++] = word_keep(submit, buf_string(&own), own.len);
    buf_reset(&own);
    buf_addf(&own, "SLURM_SUBMIT_DIR=%s", submit->folder);
    words[count++] = word_keep(submit, buf_string(&own), own.len);
    buf_reset(&own);
    buf_addf(&own, "SLURM_NTASKS=%" PRId64, submit->amounts.tasks);
    words[count++] = word_keep(submit, buf_string(&own), own.len);
    buf_done(&own);
    words[count++] = "SLURM_JOB_PARTITION=" SLURM_PARTITION;
    while (*text) {
        size_t len = strcspn(text, ",");

        if (len == 3 && !memcmp(text, "ALL", 3)) {
            all = true;
        } else if (len && !(len == 4 && !memcmp(text, "NONE", 4)) && !(len == 3 && !memcmp(text, "NIL", 3))) {
            if (count == EXPORTS_MAX || !environment_is_name(text, strcspn(text, "=,"))) {
                report("sbatch: --export: expected ALL, NONE, NAME or NAME=VALUE, got '%.*s'",
                       (int)(len < 60 ? len : 60), text);
                return -1;
            }
            words[count++] = word_keep(submit, text, len);
        }
        text += len + (text[len] == ',');
    }
    environment_print(out, words, count, all);
    return 0;
}

/* The ad of the tasks from first to last. */
static int add_ad(struct buf *out, struct batch_job *submit, int word_count, char **words, int64_t first, int64_t last,
                  int64_t before)
{
    const struct slurm_order *order = &submit->order;
    const struct slurm_amounts *amounts = &submit->amounts;
    int64_t place = before - first;
    struct buf to;

    buf_init(&to);
    buf_adds(out, "[ Cmd = \"/bin/sh\";\nArgs = { \"-c\", ");
    add_starter(out, submit, place);
    buf_adds(out, ", \"sbatch\", ");
    print_string(out, submit->script.text, submit->script.len, PRINT_PLAIN);
    for (int i = 1; i < word_count; i++) {
        buf_adds(out, ", ");
        print_string(out, words[i], strlen(words[i]), PRINT_PLAIN);
    }
    buf_adds(out, " };\n");
    add_text(out, "SlurmName", job_name(submit), strlen(job_name(submit)));
    add_text(out, "Iwd", submit->folder, strlen(submit->folder));
    buf_addf(out, "RequestCpus = %.0f;\n", amounts->cpus * (double)amounts->tasks);
    if (amounts->memory > 0)
        buf_addf(out, "RequestMemory = %" PRId64 ";\n", amounts->memory);
    if (amounts->disk > 0)
        buf_addf(out, "RequestDisk = %" PRId64 ";\n", amounts->disk);
    if (amounts->time > 0)
        buf_addf(out, "TimeLimit = %" PRId64 ";\n", amounts->time);
    if (amounts->gpus > 0)
        buf_addf(out, "RequestGpus = %" PRId64 ";\n", amounts->gpus);
    if (order->in)
        add_text(out, "In", order->in, strlen(order->in));
    if (order->comment)
        add_text(out, "SlurmComment", order->comment, strlen(order->comment));
    if (order->array)
        buf_addf(out,
                 "Index = %" PRId64 ";\nCount = %" PRId64 ";\nSlurmPlace = %" PRId64 ";\nSlurmTasks = %" PRId64 ";\n",
                 first, last - first + 1, place, submit->array.tasks);
    if (submit->share) {
        buf_adds(out, "ShareFiles = true;\n");
    } else {
        add_stream(out, &to, submit, "Out",
                   order->out     ? order->out
                   : order->array ? "slurm-%A_%a.out"
                                  : "slurm-%j.out",
                   place);
        if (order->err)
            add_stream(out, &to, submit, "Err", order->err, place);
        if (to.len)
            buf_addf(out, "OutputTo = { %s };\n", buf_string(&to));
    }
    buf_done(&to);
    if (add_environment(out, submit) < 0)
        return -1;
    buf_adds(out, "]\n");
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- submit */

/* Prints "Submitted batch job 7" of "7.0 - 7.4". */
static int submitted_tell(const struct batch_job *submit, const struct buf *said)
{
    unsigned long long first;
    struct buf out;

    if (!said->len || sscanf(said->text, "%llu.", &first) != 1) {
        report("sbatch: the number of the job was not told");
        return STATUS_NO;
    }
    buf_init(&out);
    buf_addf(&out, submit->order.parsable ? "%llu\n" : "Submitted batch job %llu\n", first);
    output_write(&out);
    buf_done(&out);
    return STATUS_DONE;
}

static int ads_submit(struct batch_job *submit, const struct buf *ads)
{
    const char *words[] = {"berth", "submit", "--from", "ad", submit->order.test ? "--dry-run" : "--terse", "-", NULL};
    struct buf said;
    int status;

    buf_init(&said);
    status = self_run(words, ads, submit->order.test ? NULL : &said);
    buf_string(&said);
    if (status == STATUS_DONE && !submit->order.test)
        status = submitted_tell(submit, &said);
    buf_done(&said);
    return status;
}

static int folder_find(struct batch_job *submit)
{
    const char *folder = submit->order.folder ? submit->order.folder : ".";

    if (realpath(folder, submit->folder))
        return 0;
    report("sbatch: --chdir: %.200s: %s", folder, strerror(errno));
    return -1;
}

static int order_settle(struct batch_job *submit)
{
    if (submit->script.len > SCRIPT_MAX || memchr(submit->script.text, '\0', submit->script.len)) {
        report("sbatch: a script has at most %u bytes, and no NUL", SCRIPT_MAX);
        return -1;
    }
    if (folder_find(submit) < 0 || slurm_order_amounts("sbatch", &submit->order, &submit->amounts) < 0)
        return -1;
    if (submit->order.array)
        return slurm_array_read(submit->order.array, &submit->array);
    submit->array = (struct slurm_array){.ranges = {{0, 0}}, .count = 1, .tasks = 1};
    return 0;
}

int slurm_sbatch(int word_count, char **words)
{
    const char *share = getenv("BERTH_SLURM_SHARE");
    struct slurm_order typed = {0};
    struct batch_job submit = {.share = share && *share && strcmp(share, "0") != 0};
    int64_t before = 0;
    char **copy = mem_alloc((size_t)(word_count + 1) * sizeof *copy);
    int copied = word_count, status;
    struct buf ads;

    memcpy(copy, words, (size_t)word_count * sizeof *copy);
    arena_init(&submit.arena);
    buf_init(&submit.script);
    buf_init(&ads);
    status = slurm_read("sbatch", slurm_order_options, slurm_order_option_count, NULL, true, &typed, &copied, copy);
    if (status == STATUS_DONE && script_read(&submit, copied, copy, &typed) < 0)
        status = STATUS_BAD;
    if (status == STATUS_DONE) /* what is typed goes before what the script says */
        status = slurm_read("sbatch", slurm_order_options, slurm_order_option_count, NULL, true, &submit.order,
                            &word_count, words);
    if (status == STATUS_DONE && order_settle(&submit) < 0)
        status = STATUS_BAD;
    for (uint32_t i = 0; status == STATUS_DONE && i < submit.array.count; i++) {
        if (add_ad(&ads, &submit, word_count, words, submit.array.ranges[i].first, submit.array.ranges[i].last,
                   before) < 0)
            status = STATUS_BAD;
        before += submit.array.ranges[i].last - submit.array.ranges[i].first + 1;
    }
    if (status == STATUS_DONE && !submit.order.quiet)
        slurm_order_remark("sbatch", &submit.order);
    if (status == STATUS_DONE)
        status = ads_submit(&submit, &ads);
    buf_done(&ads);
    buf_done(&submit.script);
    arena_done(&submit.arena);
    free(copy);
    return status;
}
