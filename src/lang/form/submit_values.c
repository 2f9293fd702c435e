/* submit_values.c: translates the values of keys: texts, flags, amounts; and refuses keys, or passes over them. */
#include "lang/form/submit_job.h"

#include "lang/base/number.h"
#include "lang/text/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int submit_job_fail(const struct submit_job *job, const char *words)
{
    const char *name = job->macro->name;

    return submit_fail(job->macro->at, job->err, "%.60s: %s", name, words);
}

void submit_job_remark(const struct submit_job *job, const char *words)
{
    if (!job->macro->spoken)
        submit_remark(job->reader, job->macro->at, "%.60s: %s", job->macro->name, words);
}
/* --------------------------------------------------------------------------------------------------------------- texts */

/* The place of a job's item among those of its ad. */
static void place_print(const struct submit_reader *reader, struct buf *out)
{
    buf_adds(out, "JobIndex");
    if (reader->count > 1)
        buf_addf(out, " / %" PRIu64, reader->count);
}

static void mark_print(const struct submit_job *job, char mark, struct buf *out)
{
    const struct submit_reader *reader = job->reader;
    uint64_t process = reader->base + (reader->literal ? reader->step : 0);

    if (mark >= MARK_VARIABLE && mark < MARK_ROW) {
        buf_adds(out, "QueueItems[");
        place_print(reader, out);
        buf_addc(out, ']');
        if (reader->variable_count > 1)
            buf_addf(out, "[%d]", mark - MARK_VARIABLE);
    } else if (mark == MARK_ROW) {
        place_print(reader, out);
        if (reader->item)
            buf_addf(out, " + %" PRIu64, reader->item);
    } else if (mark == MARK_RETRY) {
        buf_adds(out, "JobTry - 1");
    } else if (mark == MARK_NODE) {
        buf_adds(out, "isUndefined(Member) ? 0 : Member");
    } else if (mark == MARK_CLUSTER) {
        buf_adds(out, "JobId - JobIndex");
        if (process)
            buf_addf(out, " - %" PRIu64, process);
    } else {
        buf_adds(out, "JobIndex");
        if (mark == MARK_STEP && reader->fold.items)
            buf_addf(out, " %% %" PRIu64, reader->count);
        else if (mark == MARK_PROCESS && process)
            buf_addf(out, " + %" PRIu64, process);
    }
}

/* $$(Name), $$(Name:otherwise), $$([expression]): of the machine that is found, which computes it when the job starts. */
static void found_print(const struct submit_job *job, char which, struct buf *out)
{
    struct submit_job *writing = (struct submit_job *)(uintptr_t)job;
    const char *body = textmap_text(&job->reader->found, (uint32_t)(which - 'A')), *colon;
    size_t len = body ? strlen(body) : 0;
    struct buf name, expr;

    buf_init(&name);
    buf_init(&expr);
    if (len > 2 && *body == '[' && body[len - 1] == ']') {
        colon = NULL;
        buf_add(&name, body + 1, len - 2);
    } else {
        colon = body ? strchr(body, ':') : NULL;
        buf_addf(&name, "TARGET.%.*s", colon ? (int)(colon - body) : (int)len, body ? body : "");
    }
    if (submit_expr_print(writing, SUBMIT_SIDE_MACHINE, buf_string(&name), name.len, &expr) < 0)
        writing->broken = true;
    buf_addf(out, colon ? "((%s) =?= undefined ? " : "(%s)", expr.len ? buf_string(&expr) : "undefined");
    if (colon) {
        print_string(out, colon + 1, strlen(colon + 1), PRINT_PLAIN);
        buf_addf(out, " : (%s))", expr.len ? buf_string(&expr) : "undefined");
    }
    buf_done(&name);
    buf_done(&expr);
}

/* Prints a text as an expression: a literal, or one that each job computes. */
void submit_text_print(const struct submit_job *job, const char *text, size_t len, struct buf *out)
{
    bool begun = false;
    size_t i = 0;

    if (submit_is_fixed(text, len)) {
        print_string(out, text, len, PRINT_PLAIN);
        return;
    }
    buf_adds(out, "strcat(");
    while (i < len) {
        size_t piece = strcspn(text + i, MARKS);

        if (piece > len - i)
            piece = len - i;
        buf_adds(out, begun ? ", " : "");
        begun = true;
        if (piece) {
            print_string(out, text + i, piece, PRINT_PLAIN);
            i += piece;
        } else if (text[i] == MARK_FOUND) {
            found_print(job, i + 1 < len ? text[i + 1] : 'A', out);
            i += 2;
        } else {
            mark_print(job, text[i++], out);
        }
    }
    buf_addc(out, ')');
}

void submit_attribute_print(struct submit_job *job, const char *name, const char *text, size_t len)
{
    buf_addf(&job->out, "%s = ", name);
    submit_text_print(job, text, len, &job->out);
    buf_adds(&job->out, ";\n");
}

void submit_quotes_strip(const char **text, size_t *len)
{
    if (*len >= 2 && **text == '"' && (*text)[*len - 1] == '"') {
        ++*text;
        *len -= 2;
    }
}

int submit_key_text(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    submit_quotes_strip(&text, &len);
    if (len)
        submit_attribute_print(job, key->attribute, text, len);
    return 0;
}

bool submit_is_true(const char *text, size_t len)
{
    return submit_same(text, len, "true") || submit_same(text, len, "yes") || submit_same(text, len, "t") ||
           submit_same(text, len, "1");
}

bool submit_is_false(const char *text, size_t len)
{
    return submit_same(text, len, "false") || submit_same(text, len, "no") || submit_same(text, len, "f") ||
           submit_same(text, len, "0");
}

/* ---------------------------------------------------------------------------------------------- refused or passed over */

int submit_key_refused(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    return submit_is_false(text, len) ? 0 : submit_job_fail(job, key->words);
}

int submit_key_passed(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    if (!submit_is_false(text, len))
        submit_job_remark(job, key->words);
    return 0;
}

int submit_key_quiet(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    (void)job;
    (void)key;
    (void)text;
    (void)len;
    return 0;
}

int submit_key_notification(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    if (!submit_same(text, len, "never") && !submit_is_false(text, len))
        submit_job_remark(job, key->words);
    return 0;
}

static bool submit_universe_is_local(const char *text, size_t len)
{
    static const char *const words[] = {"local", "12", "scheduler", "7"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (submit_same(text, len, words[i]))
            return true;
    return false;
}

/* Does the job run on the submit host, where its files are? */
static bool job_is_local(const struct submit_job *job)
{
    const struct submit_macro *universe =
        submit_key_macro(job->reader, submit_key_find("universe", strlen("universe")));

    return universe && submit_universe_is_local(universe->value, universe->len);
}

bool submit_job_shares(const struct submit_job *job)
{
    static const char name[] = "should_transfer_files";
    const struct submit_macro *said = submit_key_macro(job->reader, submit_key_find(name, strlen(name)));

    return said && submit_same(said->value, said->len, "no") && !job_is_local(job);
}

static const struct submit_macro *reader_key(const struct submit_reader *reader, const char *name)
{
    return submit_key_macro(reader, submit_key_find(name, strlen(name)));
}

bool submit_is_parallel(const struct submit_reader *reader)
{
    const struct submit_macro *universe = reader_key(reader, "universe");

    return universe && (submit_same(universe->value, universe->len, "parallel") ||
                        submit_same(universe->value, universe->len, "11"));
}

uint32_t submit_nodes(const struct submit_reader *reader)
{
    const struct submit_macro *count = reader_key(reader, "machine_count");
    unsigned long nodes = count ? strtoul(count->value, NULL, 10) : 1;

    return nodes < 1 ? 1 : nodes > SUBMIT_NODES_MAX ? SUBMIT_NODES_MAX : (uint32_t)nodes;
}

/* What its writer can say in its place. */
static const char *universe_hint(const char *text, size_t len)
{
    static const struct {
        const char *name, *number, *words;
    } hints[] = {
        {"grid", "9", ": jobs run on machines of this pool, and go to no other"},
        {"java", "10",
         ": say executable = /usr/bin/java, transfer_executable = false, and -cp and the class in arguments"},
        {"vm", "13", ": container_image brings a system along"},
        {"standard", "1", ": checkpoint_exit_code lets a program go on where it was"},
    };

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (submit_same(text, len, hints[i].name) || submit_same(text, len, hints[i].number))
            return hints[i].words;
    return "";
}

int submit_key_universe(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    (void)key;
    if (submit_same(text, len, "vanilla") || submit_same(text, len, "5"))
        return 0;
    if (submit_universe_is_local(text, len)) {
        buf_adds(&job->out, "Universe = \"local\";\n");
        return 0;
    }
    if (submit_same(text, len, "parallel") || submit_same(text, len, "11")) {
        job->parallel = true;
        return 0;
    }
    if (submit_same(text, len, "container")) { /* which takes either, as HTCondor's does */
        if (submit_key_macro(job->reader, submit_key_find("container_image", strlen("container_image"))) ||
            submit_key_macro(job->reader, submit_key_find("docker_image", strlen("docker_image"))))
            return 0;
        return submit_job_fail(job, "expected 'container_image = FILE' with universe container");
    }
    if (submit_same(text, len, "docker")) {
        if (submit_key_macro(job->reader, submit_key_find("docker_image", strlen("docker_image"))))
            return 0;
        return submit_job_fail(job, "expected 'docker_image = NAME' with universe docker");
    }
    return submit_fail(job->macro->at, job->err,
                       "universe: expected vanilla, got '%.*s': a job of that universe is not carried over%s",
                       len > 40 ? 40 : (int)len, text, universe_hint(text, len));
}

int submit_key_transfer(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    (void)key;
    if (submit_same(text, len, "no") && !job_is_local(job))
        buf_adds(&job->out, "ShareFiles = true;\n");
    return 0;
}

/* run_as_owner: as the user who submits, where a machine allows that. */
int submit_key_owner(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    if (!submit_is_true(text, len) && !submit_is_false(text, len))
        return submit_job_fail(job, "expected true or false");
    if (submit_is_true(text, len))
        buf_addf(&job->out, "%s = \"owner\";\n", key->attribute);
    return 0;
}

int submit_key_when(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    (void)key;
    if (submit_same(text, len, "on_exit_or_evict"))
        submit_job_remark(
            job, "what a job leaves when it has to go comes back only if '+Checkpoint = { \"name\" }' names it");
    else if (!submit_same(text, len, "on_exit") && !submit_same(text, len, "on_success"))
        submit_job_remark(job, "outputs come back whenever a job has ended");
    return 0;
}

int submit_key_machines(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    if (submit_same(text, len, "1"))
        return 0;
    return job->parallel ? submit_key_whole(job, key, text, len) : submit_job_fail(job, key->words);
}

int submit_key_flag(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    if (!submit_is_true(text, len) && !submit_is_false(text, len))
        return submit_job_fail(job, "expected true or false");
    buf_addf(&job->out, "%s = %s;\n", key->attribute, submit_is_true(text, len) ? "true" : "false");
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- amounts */

static bool job_has(void *user, const char *name, size_t len)
{
    const struct submit_job *job = user;
    char called[256] = "MY.";

    if (len >= sizeof called - 3)
        return false;
    memcpy(called + 3, name, len);
    return submit_macro(job->reader, called, len + 3) != NULL;
}

static void unknown_note(void *user, const char *name, const char *words)
{
    const struct submit_job *job = user;

    if (!job->macro->spoken)
        submit_remark(job->reader, job->macro->at, "%.60s: '%s' is always undefined: %s", job->macro->name, name,
                      words);
}

static void mention_note(void *user, const char *name)
{
    struct submit_job *job = user;

    submit_mention(&job->mentions, name);
}

static bool has_image(struct submit_job *job)
{
    static const char *const keys[] = {"container_image", "docker_image"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (submit_key_macro(job->reader, submit_key_find(keys[i], strlen(keys[i]))))
            return true;
    return job_has(job, "SingularityImage", strlen("SingularityImage")) ||
           job_has(job, "ContainerImage", strlen("ContainerImage")) ||
           job_has(job, "DockerImage", strlen("DockerImage"));
}

int submit_expr_print(struct submit_job *job, enum submit_side side, const char *text, size_t len, struct buf *out)
{
    struct submit_expr how = {.symbols = job->reader->symbols,
                              .dialect = &dialect_condor,
                              .side = side,
                              .has = job_has,
                              .user = job,
                              .unknown = unknown_note,
                              .at_end = job->at_end,
                              .later = job->later,
                              .has_image = job->in_requirements && has_image(job),
                              .mentions = job->in_requirements ? mention_note : NULL};
    struct submit_macro *macro = job->macro;
    bool plain = macro->plain && len == macro->len && memcmp(text, macro->value, len) == 0;

    if (submit_expr(&how, text, len, macro->at, plain, out, job->err) == 0)
        return 0;
    return err_context(job->err, "%.60s", macro->name);
}

/* 512, 1.5G, 200 MB; false for anything else. */
static bool size_read(const char *text, size_t len, int64_t unit, double *ret)
{
    static const char letters[] = "bkmgtp";
    size_t taken = number_parse_real(text, len, ret);

    if (!taken)
        return false;
    text += taken;
    len -= taken;
    submit_trim(&text, &len);
    if (!len) {
        *ret = ceil(*ret * (double)unit);
        return true;
    }
    for (size_t i = 0; letters[i]; i++)
        if ((*text | 0x20) == letters[i]) {
            *ret = ceil(*ret * pow(1024, (double)i));
            return len == 1 || (i && (submit_same(text + 1, len - 1, "b") || submit_same(text + 1, len - 1, "ib")));
        }
    return false;
}

int submit_key_size(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    double size = 0;
    int result = 0;

    if (submit_same(text, len, "undefined"))
        return 0;
    buf_addf(&job->out, "%s = ", key->attribute);
    if (size_read(text, len, key->unit, &size)) {
        if (size > 1e18)
            return submit_job_fail(job, "expected less");
        buf_addf(&job->out, "%" PRId64, (int64_t)size);
    } else {
        buf_addc(&job->out, '(');
        result = submit_expr_print(job, SUBMIT_SIDE_JOB, text, len, &job->out);
        buf_addf(&job->out, ") * %" PRId64, key->unit);
    }
    buf_adds(&job->out, ";\n");
    return result;
}

/* What each GPU must be: one of several clauses. */
int submit_key_gpu(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    bool memory = submit_same("gpus_minimum_memory", strlen("gpus_minimum_memory"), key->name);
    bool most = submit_same("gpus_maximum_capability", strlen("gpus_maximum_capability"), key->name);
    double size;
    int result = 0;

    if (submit_same(text, len, "undefined"))
        return 0;
    buf_adds(&job->gpus, job->gpus.len ? " && " : "");
    if (submit_same("require_gpus", strlen("require_gpus"), key->name)) {
        buf_addc(&job->gpus, '(');
        result = submit_expr_print(job, SUBMIT_SIDE_GPU, text, len, &job->gpus);
        buf_addc(&job->gpus, ')');
    } else if (memory && size_read(text, len, key->unit, &size)) {
        if (size > 1e18)
            return submit_job_fail(job, "expected less");
        buf_addf(&job->gpus, "Memory >= %" PRId64, (int64_t)size);
    } else {
        buf_addf(&job->gpus, "%s %s (", memory ? "Memory" : "Capability", most ? "<=" : ">=");
        result = submit_expr_print(job, SUBMIT_SIDE_JOB, text, len, &job->gpus);
        buf_addc(&job->gpus, ')');
        if (memory)
            buf_addf(&job->gpus, " * %" PRId64, key->unit);
    }
    return result;
}

int submit_key_expr(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    int result;

    if (submit_same(text, len, "undefined"))
        return 0;
    buf_addf(&job->out, "%s = ", key->attribute);
    result = submit_expr_print(job, SUBMIT_SIDE_JOB, text, len, &job->out);
    buf_adds(&job->out, ";\n");
    return result;
}

/* deferral_window: seconds behind deferral_time. */
int submit_key_window(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    int result;

    if (!submit_key_macro(job->reader, submit_key_find("deferral_time", strlen("deferral_time"))) ||
        submit_same(text, len, "0") || submit_same(text, len, "undefined"))
        return 0;
    buf_addf(&job->out, "%s = NotBefore + (", key->attribute);
    result = submit_expr_print(job, SUBMIT_SIDE_JOB, text, len, &job->out);
    buf_adds(&job->out, ");\n");
    return result;
}

int submit_key_rank(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    int result;

    buf_addf(&job->out, "%s = ", key->attribute);
    result = submit_expr_print(job, SUBMIT_SIDE_MACHINE, text, len, &job->out);
    buf_adds(&job->out, ";\n");
    return result;
}

int submit_key_whole(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    size_t digits = 0;

    while (digits < len && digits < 10 && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (!digits || digits < len)
        return submit_job_fail(job, "expected a whole number");
    buf_addf(&job->out, "%s = %.*s;\n", key->attribute, (int)len, text);
    return 0;
}

/* Signals by their numbers on Linux, from 1 on. */
static const char *const signals[] = {"HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",  "FPE",
                                      "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM", "STKFLT",
                                      "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",  "XCPU",
                                      "XFSZ", "VTALRM", "PROF", "WINCH", "IO",   "PWR",  "SYS"};

int submit_key_signal(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    size_t number = 0, digits = 0;
    char name[16];

    while (digits < len && digits < 3 && text[digits] >= '0' && text[digits] <= '9')
        number = number * 10 + (size_t)(text[digits++] - '0');
    if (!digits)
        return submit_key_text(job, key, text, len);
    if (digits < len || !number || number > sizeof signals / sizeof *signals)
        return submit_job_fail(job, "expected the name of a signal, such as SIGUSR1, or its number, from 1 to 31");
    snprintf(name, sizeof name, "SIG%s", signals[number - 1]);
    submit_attribute_print(job, key->attribute, name, strlen(name));
    return 0;
}

/* An expression that is evaluated when a try of the job has ended. */
int submit_key_policy(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    int result;

    if (submit_same(text, len, "undefined"))
        return 0;
    buf_addf(&job->out, "%s = ", key->attribute);
    job->at_end = true;
    result = submit_expr_print(job, SUBMIT_SIDE_JOB, text, len, &job->out);
    job->at_end = false;
    buf_adds(&job->out, ";\n");
    return result;
}

/* An expression that the customer evaluates now and then. One that is never true need not be there. */
int submit_key_later(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    int result;

    if (submit_same(text, len, "undefined") || submit_is_false(text, len))
        return 0;
    buf_addf(&job->out, "%s = ", key->attribute);
    job->later = true;
    result = submit_expr_print(job, SUBMIT_SIDE_JOB, text, len, &job->out);
    job->later = false;
    buf_adds(&job->out, ";\n");
    return result;
}

/* retry_until: a status, or an expression. */
int submit_key_until(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct submit_key computed = *key;
    size_t digits = 0;

    while (digits < len && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (digits == len)
        return submit_key_whole(job, key, text, len);
    computed.attribute = "RetryUntil";
    return submit_key_policy(job, &computed, text, len);
}
