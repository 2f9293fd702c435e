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

/* arguments2 and environment2 are in the new syntax, with or without double quotes around them. */
static bool is_new(const struct submit_macro *macro)
{
    size_t len = strlen(macro->name);

    return len && macro->name[len - 1] == '2';
}

int submit_key_arguments(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct list list = {job, false};
    struct err why = {0};
    int result;

    buf_addf(&job->out, "%s = {", key->attribute);
    result = (is_new(job->macro) ? submit_words_new : submit_arguments)(text, len, argument_add, &list, &why);
    buf_adds(&job->out, " };\n");
    return words_result(job, result, &why);
}

/* The environment while it is gathered: of several values of a name the last one holds. */
struct variables {
    struct submit_job *job;
    struct textmap names; /* in small letters, since attributes do not differ by case: the place is that in `texts` */
    char **texts;         /* NAME = expression */
    uint32_t room;
    const char *names_text; /* of getenv */
    size_t names_len;
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

static int getenv_name(struct variables *variables, const char *name, struct err *err)
{
    const struct submit_world *world = variables->job->reader->world;
    const char *value = world->variable ? world->variable(world->user, name) : NULL;
    struct buf both;
    int result = 0;

    if (value && (result = submit_clean(value, strlen(value), variables->job->macro->at, false, err)) == 0) {
        buf_init(&both);
        buf_addf(&both, "%s=%s", name, value);
        result = variable_add(variables, buf_string(&both), both.len, err);
        buf_done(&both);
    }
    return result;
}

/* Does a name fit a pattern in which a star stands for anything? */
static bool name_fits(const char *name, size_t len, const char *pattern, size_t pattern_len)
{
    size_t at = 0, i = 0, star = SIZE_MAX, back = 0;

    while (at < len) {
        if (i < pattern_len && pattern[i] == '*') {
            star = i++;
            back = at;
        } else if (i < pattern_len && pattern[i] == name[at]) {
            i++;
            at++;
        } else if (star != SIZE_MAX) {
            i = star + 1;
            at = ++back;
        } else {
            return false;
        }
    }
    while (i < pattern_len && pattern[i] == '*')
        i++;
    return i == pattern_len;
}

struct excluded {
    const char *name;
    size_t len;
    bool is;
};

static int exclude_check(void *user, const char *word, size_t len, struct err *err)
{
    struct excluded *excluded = user;

    (void)err;
    if (len && *word == '!')
        excluded->is = excluded->is || name_fits(excluded->name, excluded->len, word + 1, len - 1);
    return 0;
}

/* Takes all variables of the surroundings that fit. One that an ad cannot hold (two names that differ in case only) is left out, and told. */
static void getenv_fitting(struct variables *variables, const char *pattern, size_t len)
{
    const char *const *all = variables->job->reader->world->variables;

    for (; all && *all; all++) {
        size_t name_len = strcspn(*all, "=");
        struct excluded excluded = {*all, name_len, false};
        struct err err = {0};
        char called[256];

        if (!name_len || name_len >= sizeof called || !name_fits(*all, name_len, pattern, len))
            continue;
        submit_names(variables->names_text, variables->names_len, exclude_check, &excluded, &err);
        memcpy(called, *all, name_len);
        called[name_len] = '\0';
        if (!excluded.is && getenv_name(variables, called, &err) < 0)
            submit_job_remark(variables->job, err.text);
    }
}

static int getenv_add(void *user, const char *word, size_t len, struct err *err)
{
    struct variables *variables = user;
    char called[256];

    if (*word == '!')
        return 0;
    if (memchr(word, '*', len)) {
        getenv_fitting(variables, word, len);
        return 0;
    }
    if (len >= sizeof called)
        return err_set(err, "expected names of variables, got '%.60s'", word);
    memcpy(called, word, len);
    called[len] = '\0';
    return getenv_name(variables, called, err);
}

/* The environment comes from two keys: `getenv` and `environment`. */
int submit_environment_print(struct submit_job *job, struct submit_macro *taken, const char *names, size_t names_len,
                             struct submit_macro *given, const char *text, size_t len)
{
    struct variables variables = {.job = job, .names_text = names, .names_len = names_len};
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
        result = words_result(
            job, (is_new(given) ? submit_words_new : submit_environment)(text, len, variable_add, &variables, &why),
            &why);
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

static bool is_url(const char *text, size_t len)
{
    for (size_t i = 0; i + 2 < len; i++)
        if (memcmp(text + i, "://", 3) == 0)
            return true;
    return false;
}

static int input_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;
    struct submit_job *job = list->job;
    const char *name = word;
    size_t name_len = len;
    struct buf from;

    if (is_url(word, len))
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

/* container_image: a file, or a folder of the machine. */
int submit_key_image(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    struct buf path;

    submit_quotes_strip(&text, &len);
    if (!len)
        return 0;
    if (is_url(text, len))
        return submit_job_fail(job,
                               "what lies in a registry is not fetched: 'skopeo copy docker://NAME oci-archive:FILE' "
                               "makes a file of it");
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

/* Adds to OutputTo where a file goes that the job calls by that name. */
static void destination_add(struct submit_job *job, const char *name, size_t name_len, const char *to, size_t to_len)
{
    struct buf one;

    buf_init(&one);
    buf_adds(&one, "[ Name = ");
    submit_text_print(job, name, name_len, &one);
    buf_adds(&one, "; To = ");
    submit_text_print(job, to, to_len, &one);
    buf_adds(&one, " ]");
    if (!job->to.len || !strstr(buf_string(&job->to), buf_string(&one))) {
        buf_adds(&job->to, job->to.len ? ", " : " ");
        buf_add(&job->to, one.text, one.len);
    }
    buf_done(&one);
}

/* The next `NAME = DESTINATION` of transfer_output_remaps; false at the end. */
static bool remap_next(const char **text, size_t *len, const char **ret_name, size_t *ret_name_len, const char **ret_to,
                       size_t *ret_to_len)
{
    while (*len) {
        const char *end = memchr(*text, ';', *len), *one = *text, *equals;
        size_t one_len = end ? (size_t)(end - *text) : *len;

        *text += one_len + (end != NULL);
        *len -= one_len + (end != NULL);
        equals = memchr(one, '=', one_len);
        submit_trim(&one, &one_len);
        if (!one_len)
            continue;
        *ret_name = one;
        *ret_name_len = equals && equals > one ? (size_t)(equals - one) : 0;
        *ret_to = equals ? equals + 1 : "";
        *ret_to_len = equals ? one_len - (size_t)(equals + 1 - one) : 0;
        submit_trim(ret_name, ret_name_len);
        submit_trim(ret_to, ret_to_len);
        return true;
    }
    return false;
}

static size_t base_of(const char *name, size_t len)
{
    size_t base = 0;

    for (size_t i = 0; i + 1 < len; i++)
        base = name[i] == '/' ? i + 1 : base;
    return base;
}

/* Where an output goes that the remaps name by its whole name or by its last part; false: they do not. */
static bool remap_find(const struct submit_job *job, const char *name, size_t len, const char **ret, size_t *ret_len)
{
    const char *text = job->remaps.text, *one, *to;
    size_t left = job->remaps.len, one_len, to_len, base = base_of(name, len);

    while (remap_next(&text, &left, &one, &one_len, &to, &to_len))
        if ((one_len == len && !memcmp(one, name, len)) ||
            (one_len == len - base && !memcmp(one, name + base, one_len))) {
            *ret = to;
            *ret_len = to_len;
            return true;
        }
    return false;
}

/* transfer_output_files = a/b puts b into the initial folder; `folder/` what is in it. */
static int output_add(void *user, const char *word, size_t len, struct err *err)
{
    struct list *list = user;
    struct submit_job *job = list->job;
    bool inside = len > 1 && word[len - 1] == '/';
    const char *to;
    size_t to_len, base;

    name_shorten(&word, &len);
    while (len > 1 && word[len - 1] == '/')
        len--;
    if (name_leads_out(word, len))
        return err_set(err, "expected names of files beneath the job's folder, got '%.*s'", len > 60 ? 60 : (int)len,
                       word);
    list_go_on(list);
    submit_text_print(job, word, len, &job->out);
    base = base_of(word, len);
    if (remap_find(job, word, len, &to, &to_len))
        destination_add(job, word, len, to, to_len);
    else if (inside)
        destination_add(job, word, len, ".", 1);
    else if (base && !job->keeps_paths)
        destination_add(job, word, len, word + base, len - base);
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

/* Outputs that transfer_output_files does not name may be sent elsewhere as well. */
int submit_key_remaps(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    const char *name, *to, *rest = job->remaps.text;
    size_t left = job->remaps.len, name_len, to_len, base;

    (void)key, (void)text, (void)len;
    while (remap_next(&rest, &left, &name, &name_len, &to, &to_len)) {
        if (!name_len || !to_len)
            return submit_job_fail(job, "expected \"NAME = DESTINATION; ...\"");
        if (is_url(to, to_len))
            return submit_job_fail(job, "what is brought to a URL is not carried over");
        if (name_leads_out(name, name_len) || name[name_len - 1] == '/')
            return submit_job_fail(job, "expected names of files beneath the job's folder");
        base = base_of(name, name_len);
        if (to[to_len - 1] == '/') { /* into that folder */
            struct buf whole;

            buf_init(&whole);
            buf_add(&whole, to, to_len);
            buf_add(&whole, name + base, name_len - base);
            destination_add(job, name, name_len, buf_string(&whole), whole.len);
            buf_done(&whole);
        } else {
            destination_add(job, name, name_len, to, to_len);
        }
    }
    return 0;
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

/* The name beneath the job's folder of a file that goes elsewhere: its path, with `_` for each folder upwards. */
static void name_inside(const char *text, size_t len, struct buf *out)
{
    for (size_t start = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == '/') {
            size_t part = i - start;
            bool up = part == 2 && text[start] == '.' && text[start + 1] == '.';

            if (part && !(part == 1 && text[start] == '.')) {
                buf_adds(out, out->len ? "/" : "");
                buf_add(out, up ? "_" : text + start, up ? 1 : part);
            }
            start = i + 1;
        }
}

/* Standard output and error. */
int submit_key_stream(struct submit_job *job, const struct submit_key *key, const char *text, size_t len)
{
    const char *folder = job->reader->world->folder;
    struct buf inside;

    submit_quotes_strip(&text, &len);
    if (!len || is_nowhere(text, len))
        return 0;
    if (is_url(text, len))
        return submit_job_fail(job, "what is brought to a URL is not carried over");
    if (text[len - 1] == '/')
        return submit_job_fail(job, "expected the name of a file");
    if (*text == '/' && !(job->iwd.len && prefix_strip(&text, &len, job->iwd.text, job->iwd.len)) && !job->iwd.len &&
        folder)
        prefix_strip(&text, &len, folder, strlen(folder));
    name_shorten(&text, &len);
    if (!name_leads_out(text, len)) {
        submit_attribute_print(job, key->attribute, text, len);
        return 0;
    }
    buf_init(&inside);
    name_inside(text, len, &inside);
    submit_attribute_print(job, key->attribute, buf_string(&inside), inside.len);
    destination_add(job, buf_string(&inside), inside.len, text, len);
    buf_done(&inside);
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
