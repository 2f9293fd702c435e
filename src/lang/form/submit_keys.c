/* submit_keys.c: puts the ad of a job together from the keys of a submit file.
 *
 * Where each job may compute an attribute, a value that differs between the jobs of an item becomes an expression over JobIndex and JobId; otherwise
 * each job of the item gets an ad of its own. */
#include "lang/form/submit_job.h"

#include "lang/text/print.h"
#include "lang/text/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- values */

#define FOUND_ELSEWHERE \
    "%.60s: $$(...) is known only when a machine is found: it may stand in arguments and environment, not here"

#define NODE_ELSEWHERE "%.60s: $(Node) may stand in arguments, environment, output and error, not here"

/* 0 and the value of a macro, without blanks around it. A value that must be fixed and is not sets
 * wants_literal: the caller tries again, job by job. */
static int value_expand(struct submit_job *job, struct submit_macro *macro, enum submit_when when, struct buf *out,
                        const char **ret, size_t *ret_len)
{
    struct submit_reader *reader = job->reader;

    if (submit_expand(reader, macro->value, macro->len, macro->at, out, job->err) < 0)
        return err_context(job->err, "%.60s", macro->name);
    *ret = buf_string(out);
    *ret_len = out->len;
    submit_trim(ret, ret_len);
    if (when == COMPUTED || submit_is_fixed(*ret, *ret_len))
        return 0;
    if (memchr(*ret, MARK_FOUND, *ret_len))
        return submit_fail(macro->at, job->err, FOUND_ELSEWHERE, macro->name);
    if (memchr(*ret, MARK_NODE, *ret_len))
        return submit_fail(macro->at, job->err, NODE_ELSEWHERE, macro->name);
    if (reader->literal || memchr(*ret, MARK_CLUSTER, *ret_len))
        return submit_fail(macro->at, job->err,
                           "%.60s: $(Cluster) is known only when it is submitted: it cannot stand here", macro->name);
    reader->wants_literal = true;
    return 0;
}

static bool is_found(const char *text, size_t len)
{
    return memchr(text, MARK_FOUND, len) != NULL;
}

static int key_write(struct submit_job *job, const struct submit_key *key, struct submit_macro *macro)
{
    const char *text;
    size_t len;
    struct buf out;
    int result;

    buf_init(&out);
    job->macro = macro;
    result = value_expand(job, macro, key->when, &out, &text, &len);
    if (result == 0 && is_found(text, len) && key->write != submit_key_arguments)
        result = submit_fail(macro->at, job->err, FOUND_ELSEWHERE, macro->name);
    if (result == 0 && memchr(text, MARK_NODE, len) && key->write != submit_key_arguments &&
        key->write != submit_key_stream)
        result = submit_fail(macro->at, job->err, NODE_ELSEWHERE, macro->name);
    if (result == 0 && !job->reader->wants_literal && (len || key->write == submit_key_arguments))
        result = key->write(job, key, text, len);
    result = job->broken ? -1 : result;
    macro->spoken = macro->spoken || !job->reader->wants_literal;
    buf_done(&out);
    return result;
}

static int flag_read(struct submit_job *job, const char *name, bool *ret)
{
    struct submit_macro *macro = submit_key_macro(job->reader, submit_key_find(name, strlen(name)));
    const char *text;
    size_t len;
    struct buf out;
    int result = 0;

    if (!macro)
        return 0;
    buf_init(&out);
    job->macro = macro;
    result = value_expand(job, macro, FIXED, &out, &text, &len);
    if (result == 0 && len && !submit_is_true(text, len) && !submit_is_false(text, len))
        result = submit_job_fail(job, "expected true or false");
    if (result == 0 && len)
        *ret = submit_is_true(text, len);
    buf_done(&out);
    return result;
}

/* Reads a key that others depend on, without its quotes. */
static int text_read(struct submit_job *job, const char *name, enum submit_when when, struct buf *ret)
{
    struct submit_macro *macro = submit_key_macro(job->reader, submit_key_find(name, strlen(name)));
    const char *text;
    size_t len;
    struct buf out;
    int result = 0;

    if (!macro)
        return 0;
    buf_init(&out);
    result = value_expand(job, macro, when, &out, &text, &len);
    if (result == 0) {
        submit_quotes_strip(&text, &len);
        buf_add(ret, text, len);
        buf_string(ret); /* others look for its end */
    }
    buf_done(&out);
    return result;
}

static int environment_write(struct submit_job *job)
{
    struct submit_macro *given = submit_key_macro(job->reader, submit_key_find("environment", strlen("environment"))),
                        *taken = submit_key_macro(job->reader, submit_key_find("getenv", strlen("getenv")));
    const char *text = "", *names = "";
    size_t len = 0, names_len = 0;
    struct buf out, names_out;
    int result = 0;

    buf_init(&out);
    buf_init(&names_out);
    if (given)
        result = value_expand(job, given, COMPUTED, &out, &text, &len);
    if (taken && result == 0)
        result = value_expand(job, taken, FIXED, &names_out, &names, &names_len);
    if (result == 0 && !job->reader->wants_literal && (len || names_len || job->variables.len))
        result =
            submit_environment_print(job, names_len ? taken : NULL, names, names_len, len ? given : NULL, text, len);
    result = job->broken ? -1 : result;
    buf_done(&out);
    buf_done(&names_out);
    return result;
}

/* ---------------------------------------------------------------------------------------------------------- constraint */

#define OWN_REQUIREMENTS "MY.Requirements" /* +Requirements: the attribute that the key makes in HTCondor */

/* Writes the constraint that the file gives. For attributes that it does not mention, it adds that the machine is like this
 * one and has as much as the job asks for. */
static int constraint_write(struct submit_job *job)
{
    const struct submit_world *world = job->reader->world;
    struct submit_macro *macro = submit_macro(job->reader, "requirements", strlen("requirements"));
    struct submit_macro *own = submit_macro(job->reader, OWN_REQUIREMENTS, strlen(OWN_REQUIREMENTS));
    const char *text = "";
    size_t len = 0;
    struct buf out, expr;
    int result = 0;

    if (own && macro) {
        job->macro = own;
        return submit_job_fail(job, "expected it once: its key says it already");
    }
    macro = own ? own : macro;
    buf_init(&out);
    buf_init(&expr);
    if (macro) {
        job->macro = macro;
        result = value_expand(job, macro, FIXED, &out, &text, &len);
    }
    job->in_requirements = true;
    if (result == 0 && len && !job->reader->wants_literal)
        result = submit_expr_print(job, SUBMIT_SIDE_MACHINE, text, len, &expr);
    job->in_requirements = false;
    if (macro)
        macro->spoken = macro->spoken || !job->reader->wants_literal;
    if (job->gpus.len)
        buf_addf(&job->out, "RequireGpus = %s;\n", buf_string(&job->gpus));
    buf_adds(&job->out, "Constraint = ");
    submit_constraint_print(
        world, &job->mentions, &expr,
        submit_key_macro(job->reader, submit_key_find("request_gpus", strlen("request_gpus"))) != NULL, &job->out);
    buf_add(&job->out, job->extra.text, job->extra.len);
    buf_adds(&job->out, ";\n");
    buf_done(&out);
    buf_done(&expr);
    return result;
}

/* ---------------------------------------------------------------------------------------------------- names of their own */

static bool starts(const char *name, const char *word)
{
    size_t len = strlen(word);

    return strlen(name) > len && submit_same(name, len, word);
}

/* request_licenses = 2: writes an attribute, and a clause that asks for machines with so many. */
static int resource_write(struct submit_job *job, struct submit_macro *macro)
{
    const char *name = macro->name + strlen("request_");
    char attribute[128] = "Request";
    struct submit_key key = {macro->name, NULL, attribute, NULL, submit_key_expr, FIXED, 0};
    size_t len = strlen(name);

    job->macro = macro;
    if (len > 100 || !word_is_plain(name, len))
        return submit_job_fail(job, "expected the name of a resource");
    memcpy(attribute + strlen("Request"), name, len + 1);
    if (name[0] >= 'a' && name[0] <= 'z')
        attribute[strlen("Request")] = (char)(name[0] & ~0x20);
    submit_job_remark(job, "machines are asked for as much, but do not count what is in use");
    buf_addf(&job->extra, " && other.%s >= %s", attribute + strlen("Request"), attribute);
    return key_write(job, &key, macro);
}

/* +Name = "text with $(Cluster)" */
static bool is_plain_string(const char *text, size_t len)
{
    return len >= 2 && *text == '"' && text[len - 1] == '"' && !memchr(text + 1, '"', len - 2) &&
           !memchr(text, '\\', len);
}

/* Does the value differ between the jobs? The cluster is the same for all. */
static bool differs(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != MARK_CLUSTER && text[i] != MARK_FOUND && !submit_is_fixed(text + i, 1))
            return true;
    return false;
}

/* +PeriodicRelease is periodic_release: the attribute that a key makes in HTCondor. NULL: it is an attribute of the user's own, or one that
 * has another form here. */
static const struct submit_key *key_of_own(const char *name, size_t len)
{
    static key_fn *const same[] = {submit_key_refused,  submit_key_passed, submit_key_universe,     submit_key_image,
                                   submit_key_docker,   submit_key_text,   submit_key_size,         submit_key_expr,
                                   submit_key_whole,    submit_key_signal, submit_key_machines,     submit_key_flag,
                                   submit_key_leaves,   submit_key_cron,   submit_key_policy,       submit_key_until,
                                   submit_key_transfer, submit_key_when,   submit_key_notification, submit_key_gpu,
                                   submit_key_later,    submit_key_owner};
    const struct submit_key *key = submit_key_find(name, len);

    for (size_t i = 0; key && !submit_same(name, len, key->name) && i < sizeof same / sizeof *same; i++)
        if (key->write == same[i])
            return key;
    return NULL;
}

static int own_write(struct submit_job *job, struct submit_macro *macro)
{
    const char *name = macro->name + strlen("MY."), *text;
    size_t name_len = strlen(name), len;
    const struct submit_key *key = key_of_own(name, name_len);
    struct buf out;
    int result;

    job->macro = macro;
    if (submit_same(macro->name, strlen(macro->name), OWN_REQUIREMENTS))
        return 0; /* by constraint_write */
    if (key)
        return submit_key_macro(job->reader, key) ? submit_job_fail(job, "expected it once: its key says it already")
                                                  : key_write(job, key, macro);
    if (submit_is_made(name, name_len))
        return submit_job_fail(job, "expected it to be said by its key: the attribute has a meaning of its own here");
    for (size_t i = 0; i < submit_key_count; i++)
        if (submit_keys[i].attribute && submit_same(name, name_len, submit_keys[i].attribute) &&
            submit_key_macro(job->reader, &submit_keys[i]))
            return submit_job_fail(job, "expected it once: its key says it already");
    if (!word_may_name(name, name_len))
        return submit_job_fail(job, "expected another name for an attribute");
    buf_init(&out);
    result = value_expand(job, macro, COMPUTED, &out, &text, &len);
    if (result == 0 && is_found(text, len))
        result = submit_fail(macro->at, job->err, FOUND_ELSEWHERE, name);
    if (result == 0 && !job->reader->literal && differs(text, len))
        job->reader->wants_literal = true;
    if (result == 0 && !job->reader->wants_literal) {
        print_name(&job->out, &dialect_classic, name, name_len);
        buf_adds(&job->out, " = ");
        if (is_plain_string(text, len))
            submit_text_print(job, text + 1, len - 2, &job->out);
        else if (!submit_is_fixed(text, len))
            result = submit_job_fail(job, "$(Cluster) is known only when it is submitted: it cannot stand here");
        else
            result = submit_expr_print(job, SUBMIT_SIDE_JOB, len ? text : "undefined", len ? len : strlen("undefined"),
                                       &job->out);
        buf_adds(&job->out, ";\n");
    }
    macro->spoken = macro->spoken || !job->reader->wants_literal;
    buf_done(&out);
    return result;
}

static int others_write(struct submit_job *job)
{
    const struct submit_reader *reader = job->reader;

    for (uint32_t i = 0; i < reader->names.places; i++) {
        struct submit_macro *macro = &reader->macros[i];

        if (!macro->name)
            continue;
        if (starts(macro->name, "MY.") ? own_write(job, macro) < 0
                                       : starts(macro->name, "request_") && !submit_key_is_known(macro->name) &&
                                             resource_write(job, macro) < 0)
            return -1;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- an ad */

/* Writes the items that share this ad. */
static void items_write(struct submit_job *job)
{
    struct submit_reader *reader = job->reader;
    bool several = reader->variable_count > 1;

    buf_adds(&job->out, "QueueItems = {");
    for (uint64_t i = 0; i < reader->fold.count; i++) {
        submit_item_set(reader, reader->fold.items[i]);
        buf_adds(&job->out, i ? ", " : " ");
        for (uint32_t k = 0; k < reader->variable_count; k++) {
            buf_adds(&job->out, k ? ", " : several ? "{ " : "");
            print_string(&job->out, reader->variables[k].value, reader->variables[k].len, PRINT_PLAIN);
        }
        buf_adds(&job->out, several ? " }" : "");
    }
    buf_adds(&job->out, " };\n");
}

/* A job that is begun again with its files, and does not say which: HTCondor keeps its outputs. */
static int checkpoint_write(struct submit_job *job)
{
    const struct submit_key *files = submit_key_find("transfer_checkpoint_files", strlen("transfer_checkpoint_files")),
                            *outputs = submit_key_find("transfer_output_files", strlen("transfer_output_files"));
    struct submit_macro *code =
        submit_key_macro(job->reader, submit_key_find("checkpoint_exit_code", strlen("checkpoint_exit_code")));

    if (!code || submit_key_macro(job->reader, files))
        return 0;
    if (submit_key_macro(job->reader, outputs))
        return key_write(job, files, submit_key_macro(job->reader, outputs));
    job->macro = code;
    return submit_job_fail(job, "expected 'transfer_checkpoint_files = NAMES' as well: files that are kept are named");
}

static int job_write(struct submit_job *job)
{
    const struct submit_reader *reader = job->reader;

    if (flag_read(job, "transfer_executable", &job->whole_executable) < 0 ||
        flag_read(job, "preserve_relative_paths", &job->keeps_paths) < 0 ||
        text_read(job, "initialdir", FIXED, &job->iwd) < 0 ||
        text_read(job, "output_destination", FIXED, &job->destination) < 0 ||
        text_read(job, "when_to_transfer_output", FIXED, &job->when) < 0 ||
        text_read(job, "transfer_output_remaps", COMPUTED, &job->remaps) < 0)
        return -1;
    for (size_t i = 0; i < submit_key_count; i++) {
        uint32_t place = reader->key_places[i];

        if (place != TEXTMAP_NONE && submit_keys[i].write != submit_key_quiet &&
            key_write(job, &submit_keys[i], &reader->macros[place]) < 0)
            return -1;
    }
    if (checkpoint_write(job) < 0)
        return -1;
    if (job->credentials.len)
        buf_addf(&job->out, "SecretsFrom = { %s };\n", buf_string(&job->credentials));
    if (job->destination.len && !job->urls.len && !reader->wants_literal)
        return submit_fail(
            job->reader->queue, job->err,
            "output_destination: expected 'transfer_output_files = NAMES' as well: files that go there are named");
    if (job->urls.len)
        buf_addf(&job->out, "OutputUrls = {%s };\n", buf_string(&job->urls));
    if (job->to.len)
        buf_addf(&job->out, "OutputTo = {%s };\n", buf_string(&job->to));
    if (environment_write(job) < 0 || others_write(job) < 0 || submit_cron_write(job) < 0 || constraint_write(job) < 0)
        return -1;
    if (reader->fold.items)
        items_write(job);
    if (!reader->literal)
        buf_addf(&job->out, "Count = %" PRIu64 ";\n", reader->count * (reader->fold.items ? reader->fold.count : 1));
    return 0;
}

static int ad_give(struct submit_reader *reader, struct buf *text, struct err *err)
{
    const struct form_limits limits = {.cells = submit_cells_max(reader->world)};
    uint64_t most = reader->world->ads_max ? reader->world->ads_max : SUBMIT_ADS_MAX;
    struct err why = {0};
    struct tree *ad;
    int result;

    if (++reader->ads > most)
        return submit_fail(reader->queue, err, "expected at most %" PRIu64 " ads of jobs", most);
    reader->work += text->len;
    if (reader->work > submit_work_max(reader))
        return submit_fail(reader->queue, err, "expected less: the ads of this file are too much");
    ad = form_parse(reader->symbols, &dialect_classic, FORM_CLASSAD, &limits, buf_string(text), text->len, &why);
    if (!ad)
        return submit_fail(reader->queue, err, "the ad of this job cannot be made: %.300s", why.text);
    result = reader->each(reader->user, ad, reader->queue.line);
    reader->stopped = result < 0;
    tree_unref(ad);
    return result;
}

void submit_keys_look(struct submit_reader *reader)
{
    for (size_t i = 0; i < submit_key_count && i < SUBMIT_KEYS_MAX; i++) {
        const struct submit_macro *macro = submit_key_macro(reader, &submit_keys[i]);

        reader->key_places[i] = macro ? (uint32_t)(macro - reader->macros) : TEXTMAP_NONE;
    }
}

static bool has_key(struct submit_reader *reader, const char *name)
{
    return submit_key_macro(reader, submit_key_find(name, strlen(name))) != NULL;
}

static int ad_make(struct submit_reader *reader, struct err *err)
{
    struct submit_job job = {.reader = reader, .whole_executable = true, .err = err};
    int result;

    if (!has_key(reader, "executable") && !has_key(reader, "container_image") && !has_key(reader, "docker_image"))
        return submit_fail(
            reader->queue, err,
            "expected 'executable = FILE' before 'queue'; a shell on some machine is 'berth run --tty -- bash'");
    buf_init(&job.out);
    buf_init(&job.iwd);
    buf_init(&job.gpus);
    buf_init(&job.extra);
    buf_init(&job.when);
    buf_init(&job.credentials);
    buf_init(&job.variables);
    buf_init(&job.urls);
    buf_init(&job.destination);
    buf_init(&job.remaps);
    buf_init(&job.to);
    for (int i = 0; i < SUBMIT_CRON_FIELDS; i++)
        buf_init(&job.cron[i]);
    buf_adds(&job.out, "[\n");
    result = job_write(&job);
    buf_adds(&job.out, "]");
    if (result == 0 && !reader->wants_literal)
        result = ad_give(reader, &job.out, err);
    buf_done(&job.out);
    buf_done(&job.iwd);
    buf_done(&job.gpus);
    buf_done(&job.extra);
    buf_done(&job.when);
    buf_done(&job.credentials);
    buf_done(&job.variables);
    buf_done(&job.urls);
    buf_done(&job.destination);
    buf_done(&job.remaps);
    buf_done(&job.to);
    for (int i = 0; i < SUBMIT_CRON_FIELDS; i++)
        buf_done(&job.cron[i]);
    return result;
}

int submit_item(struct submit_reader *reader, struct err *err)
{
    int result;

    reader->literal = reader->count == 1;
    reader->wants_literal = false;
    reader->step = 0;
    result = ad_make(reader, err);
    if (result < 0 || !reader->wants_literal)
        return result;
    reader->literal = true;
    for (; reader->step < reader->count && result == 0; reader->step++) {
        reader->wants_literal = false;
        result = ad_make(reader, err);
    }
    return result;
}

int submit_fold(struct submit_reader *reader)
{
    int result;

    reader->literal = reader->wants_literal = false;
    reader->step = 0;
    result = ad_make(reader, NULL);
    return reader->stopped ? -1 : result < 0 || reader->wants_literal;
}

void submit_unused(struct submit_reader *reader)
{
    for (uint32_t i = 0; i < reader->names.places; i++) {
        const struct submit_macro *macro = &reader->macros[i];

        if (macro->name && !macro->used && !starts(macro->name, "MY.") && !starts(macro->name, "request_") &&
            !submit_key_is_known(macro->name))
            submit_remark(reader, macro->at, "%.60s: no such key is known, and no value uses it: is it misspelt?",
                          macro->name);
    }
}
