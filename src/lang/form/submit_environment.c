/* submit_environment.c: translates the keys of a job's environment, `getenv` and `environment`. */
#include "lang/form/submit_job.h"

#include "lang/base/array.h"
#include "lang/text/print.h"
#include "lang/text/words.h"

#include <stdlib.h>
#include <string.h>

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

/* Variables that a job has of its own, where it runs. */
static bool is_of_the_place(const char *name, size_t len)
{
    static const char *const names[] = {"HOME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP", "SHLVL", "_"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && !memcmp(names[i], name, len))
            return true;
    return len > 6 && !memcmp(name, "BERTH_", 6);
}

/* getenv = true: takes all variables of the surroundings but those, and those that an ad cannot hold. */
static int getenv_all(struct variables *variables)
{
    const char *const *all = variables->job->reader->world->variables;
    size_t bytes = 0;

    for (; all && *all; all++) {
        size_t name_len = strcspn(*all, "=");
        struct err err = {0};
        char called[256];

        if (!name_len || name_len >= sizeof called || is_of_the_place(*all, name_len) || !word_may_name(*all, name_len))
            continue;
        bytes += strlen(*all) + 1;
        if (bytes > SUBMIT_ENVIRONMENT_MAX)
            return submit_job_fail(
                variables->job,
                "the environment is more than 64 KiB: name the variables that the job needs, as in 'getenv = LANG, OMP_*'");
        memcpy(called, *all, name_len);
        called[name_len] = '\0';
        getenv_name(variables, called, &err); /* HTCondor leaves out what it cannot tell, too */
    }
    return 0;
}

/* Has NAME=VALUE been given by the job itself? */
static bool variable_is_there(const struct variables *variables, const char *text)
{
    size_t len = strcspn(text, "=");

    for (uint32_t i = 0; i < variables->names.places; i++)
        if (variables->texts[i] && strlen(variables->texts[i]) == len && !memcmp(variables->texts[i], text, len))
            return true;
    return false;
}

/* The environment comes from two keys: `getenv` and `environment`; and from credentials. */
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
            result = getenv_all(&variables);
        else if (!submit_is_false(names, names_len))
            result = submit_words_result(job, submit_names(names, names_len, getenv_add, &variables, &why), &why);
        taken->spoken = true;
    }
    if (given && result == 0) {
        job->macro = given;
        result = submit_words_result(
            job,
            (submit_is_new(given) ? submit_words_new : submit_environment)(text, len, variable_add, &variables, &why),
            &why);
    }
    for (size_t at = 0; at < job->variables.len && result == 0; at += strlen(job->variables.text + at) + 1)
        if (!variable_is_there(&variables, job->variables.text + at))
            result = submit_words_result(
                job, variable_add(&variables, job->variables.text + at, strlen(job->variables.text + at), &why), &why);
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
