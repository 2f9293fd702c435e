/* submit_files.c: translates the keys that are about the program, its arguments and environment, and files. */
#include "lang/form/submit_job.h"

#include "lang/base/array.h"
#include "lang/text/print.h"
#include "lang/text/words.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- program */

int submit_key_executable(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf path;

    submit_quotes_strip(&text, &len);
    buf_init(&path);
    if (job->whole_executable && !memchr(text, '/', len))
        buf_adds(&path, "./");
    buf_add(&path, text, len);
    submit_attribute_print(job, key->attribute, buf_string(&path), path.len);
    if (!job->whole_executable)
        buf_adds(&job->out, "TransferExecutable = false;\n");
    buf_done(&path);
    return 0;
}

struct list {
    struct submit_job *job;
    bool begun;
};

static void list_go_on(struct list *list)
{
    buf_adds(&list->job->out, list->begun ? ", " : " ");
    list->begun = true;
}

static int argument_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;

    (void)err;
    list_go_on(list);
    submit_text_print(list->job, word, len, &list->job->out);
    return 0;
}

/* Gives an error of a reader of words the key and its place. */
static int words_result(struct submit_job *job, int result, const struct err *why)
{
    return result < 0 ? submit_job_fail(job, why->text) : 0;
}

int submit_key_arguments(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = submit_arguments(text, len, argument_add, &list, &why);
    buf_adds(&job->out, " };\n");
    return words_result(job, result, &why);
}

/* The environment while it is gathered: of several values of a name the last one holds. */
struct variables {
    struct submit_job *job;
    struct textmap names; /* in small letters, since attributes do not differ by case: the place is that in `texts` */
    char **texts;         /* NAME = expression */
    uint32_t room;
};

static void variables_done(struct variables *variables)
{
    for (uint32_t i = 0; i < variables->names.places; i++)
        free(variables->texts[i]);
    free(variables->texts);
    textmap_done(&variables->names);
}

/* The place of a name. Two names that differ only in case cannot both stand in an ad. */
static int variable_place(struct variables *variables, const char *name, size_t len, uint32_t *ret, struct err *err)
{
    char *small = mem_dup(name, len);
    uint32_t place, before = variables->names.places;

    for (size_t i = 0; i < len; i++)
        small[i] = small[i] >= 'A' && small[i] <= 'Z' ? (char)(small[i] | 0x20) : small[i];
    place = textmap_add(&variables->names, small, len);
    free(small);
    ARRAY_ROOM(variables->texts, place, variables->room, 16);
    if (place >= before)
        variables->texts[place] = NULL;
    else if (memcmp(variables->texts[place], name, len) != 0)
        return err_set(err, "expected names that differ in more than their case: '%.*s'", len > 60 ? 60 : (int)len,
                       name);
    *ret = place;
    return 0;
}

static int variable_add(void *user, const char *word, size_t len, struct err *err)
{
    struct variables *variables = user;
    const char *equals = memchr(word, '=', len);
    size_t name = equals ? (size_t)(equals - word) : 0;
    uint32_t place = 0;
    struct buf text;

    if (name && !submit_is_fixed(word, name) && !variables->job->reader->literal) {
        variables->job->reader->wants_literal = true;
        return 0;
    }
    if (!name || !submit_is_fixed(word, name))
        return err_set(err, "expected NAME=VALUE, got '%.*s'", len > 60 ? 60 : (int)len, word);
    if (!word_may_name(word, name))
        return err_set(err, "a variable cannot be called '%.*s' here", (int)name, word);
    if (variable_place(variables, word, name, &place, err) < 0)
        return -1;
    buf_init(&text);
    buf_add(&text, word, name); /* as it is, for comparing; then as an ad writes it */
    buf_addc(&text, '\0');
    print_name(&text, &dialect_classic, word, name);
    buf_adds(&text, " = ");
    submit_text_print(variables->job, equals + 1, len - name - 1, &text);
    free(variables->texts[place]);
    variables->texts[place] = mem_dup(text.text, text.len);
    buf_done(&text);
    return 0;
}

static int getenv_add(void *user, const char *word, size_t len, struct err *err)
{
    struct variables *variables = user;
    const struct submit_world *world = variables->job->reader->world;
    char called[256];
    const char *value;
    struct buf both;
    int result = 0;

    if (len >= sizeof called || memchr(word, '*', len) || memchr(word, '!', len) || memchr(word, '?', len))
        return err_set(err, "expected names of variables, got '%.*s'", len > 60 ? 60 : (int)len, word);
    memcpy(called, word, len);
    called[len] = '\0';
    value = world->variable ? world->variable(world->user, called) : NULL;
    if (value && (result = submit_clean(value, strlen(value), variables->job->macro->at, false, err)) == 0) {
        buf_init(&both);
        buf_addf(&both, "%s=%s", called, value);
        result = variable_add(variables, buf_string(&both), both.len, err);
        buf_done(&both);
    }
    return result;
}

/* The environment comes from two keys: `getenv` and `environment`. */
int submit_environment_print(struct submit_job *job, struct submit_macro *taken, const char *names, size_t names_len,
                             struct submit_macro *given, const char *text, size_t len)
{
    struct variables variables = {.job = job};
    struct err why = {0};
    int result = 0;

    textmap_init(&variables.names, 0);
    if (taken) {
        job->macro = taken;
        if (submit_is_true(names, names_len))
            submit_job_remark(
                job, "the environment as a whole is not carried over; name the variables: getenv = HOME, LANG");
        else if (!submit_is_false(names, names_len))
            result = words_result(job, submit_names(names, names_len, getenv_add, &variables, &why), &why);
        taken->spoken = true;
    }
    if (given && result == 0) {
        job->macro = given;
        result = words_result(job, submit_environment(text, len, variable_add, &variables, &why), &why);
    }
    buf_adds(&job->out, "Env = [");
    for (uint32_t i = 0; i < variables.names.places; i++) {
        buf_adds(&job->out, i ? "; " : " ");
        if (variables.texts[i])
            buf_adds(&job->out, variables.texts[i] + strlen(variables.texts[i]) + 1);
    }
    buf_adds(&job->out, " ];\n");
    variables_done(&variables);
    return result;
}

/* --------------------------------------------------------------------------------------------------------------- files */

static bool is_nowhere(const char *text, size_t len)
{
    return len == strlen("/dev/null") && memcmp(text, "/dev/null", len) == 0;
}

/* Appends a name as a path from the job's folder. */
static void path_add(const struct submit_job *job, const char *text, size_t len, struct buf *out)
{
    if (*text != '/' && job->iwd.len) {
        buf_add(out, job->iwd.text, job->iwd.len);
        buf_adds(out, job->iwd.text[job->iwd.len - 1] == '/' ? "" : "/");
    }
    buf_add(out, text, len);
}

static int input_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;
    struct submit_job *job = list->job;
    const char *name = word;
    size_t name_len = len;
    struct buf from;

    for (size_t i = 0; i + 2 < len; i++)
        if (memcmp(word + i, "://", 3) == 0)
            return err_set(err, "expected names of files, got '%.*s': what is fetched by a URL is not carried over",
                           len > 60 ? 60 : (int)len, word);
    if (!job->keeps_paths || *word == '/')
        for (size_t i = 0; i < len; i++)
            if (word[i] == '/') {
                name = word + i + 1;
                name_len = len - i - 1;
            }
    list_go_on(list);
    buf_init(&from);
    path_add(job, word, len, &from);
    if (name_len == from.len) {
        submit_text_print(job, word, len, &job->out);
    } else {
        buf_adds(&job->out, "[ Name = ");
        submit_text_print(job, name_len ? name : ".", name_len ? name_len : 1, &job->out);
        buf_adds(&job->out, "; From = ");
        submit_text_print(job, buf_string(&from), from.len, &job->out);
        buf_adds(&job->out, " ]");
    }
    buf_done(&from);
    return 0;
}

int submit_key_inputs(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = submit_names(text, len, input_add, &list, &why);
    buf_adds(&job->out, " };\n");
    return words_result(job, result, &why);
}

int submit_key_input(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf path;

    submit_quotes_strip(&text, &len);
    if (is_nowhere(text, len))
        return 0;
    buf_init(&path);
    path_add(job, text, len, &path);
    submit_attribute_print(job, key->attribute, buf_string(&path), path.len);
    buf_done(&path);
    return 0;
}

/* Does the path lead out of the folder where outputs go? */
static bool name_leads_out(const char *text, size_t len)
{
    for (size_t start = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == '/') {
            if ((i - start == 2 && text[start] == '.' && text[start + 1] == '.') || (i == start && !i))
                return true;
            start = i + 1;
        }
    return false;
}

static void name_shorten(const char **text, size_t *len)
{
    while (*len > 2 && (*text)[0] == '.' && (*text)[1] == '/') {
        *text += 2;
        *len -= 2;
    }
}

static int output_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;

    name_shorten(&word, &len);
    if (name_leads_out(word, len) || word[len - 1] == '/')
        return err_set(err, "expected names of files beneath the job's folder, got '%.*s'", len > 60 ? 60 : (int)len,
                       word);
    list_go_on(list);
    submit_text_print(list->job, word, len, &list->job->out);
    return 0;
}

int submit_key_outputs(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = submit_names(text, len, output_add, &list, &why);
    buf_adds(&job->out, " };\n");
    return words_result(job, result, &why);
}

/* Takes a folder off the front of a path, if the path begins with it. */
static bool prefix_strip(const char **text, size_t *len, const char *folder, size_t folder_len)
{
    while (folder_len && folder[folder_len - 1] == '/')
        folder_len--;
    if (!folder_len || *len <= folder_len + 1 || memcmp(*text, folder, folder_len) != 0 || (*text)[folder_len] != '/')
        return false;
    *text += folder_len + 1;
    *len -= folder_len + 1;
    return true;
}

/* Standard output and error. */
int submit_key_stream(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    const char *folder = job->reader->world->folder;

    submit_quotes_strip(&text, &len);
    if (!len || is_nowhere(text, len))
        return 0;
    if (*text == '/' && !(job->iwd.len ? prefix_strip(&text, &len, job->iwd.text, job->iwd.len)
                                       : folder && prefix_strip(&text, &len, folder, strlen(folder))))
        return submit_job_fail(job, "expected a file beneath the folder where outputs go: initialdir says which");
    name_shorten(&text, &len);
    if (name_leads_out(text, len) || text[len - 1] == '/')
        return submit_job_fail(job, "expected the name of a file beneath the folder where outputs go");
    submit_attribute_print(job, key->attribute, text, len);
    return 0;
}

int submit_key_iwd(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    const char *folder = job->reader->world->folder;
    struct buf path;

    (void)text;
    (void)len;
    if (!job->iwd.len)
        return 0;
    buf_init(&path);
    if (*job->iwd.text != '/' && folder)
        buf_addf(&path, "%s/", folder);
    buf_add(&path, job->iwd.text, job->iwd.len);
    submit_attribute_print(job, key->attribute, buf_string(&path), path.len);
    buf_done(&path);
    return 0;
}
