/* config_load.c: settings are gathered from their sources, the later over the earlier, and checked against each other. */
#include "lang/base/array.h"
#include "lang/base/nearest.h"
#include "lang/text/parse.h"
#include "live/config/config_parts.h"
#include "sys/read_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SHOWN 200 /* bytes of a file's name that fit into an error */
#define DOUBTS_MAX 8   /* that are told; whoever has more of them has seen enough */

/* Variables that begin like settings and are none: of commands and tests, and those that a job has (providerd/job_order.c). */
static const char *const other_variables[] = {
    "BERTH_POOL",    "BERTH_CUSTOMER", "BERTH_TOKEN",       "BERTH_CONFIG",          "BERTH_SEED",
    "BERTH_ROUNDS",  "BERTH_SOURCE",   "BERTH_JOB",         "BERTH_INDEX",           "BERTH_TRY",
    "BERTH_NODE",    "BERTH_CPUS",     "BERTH_STATUS",      "BERTH_STEPS",           "BERTH_MEMBER",
    "BERTH_MEMBERS", "BERTH_HOSTS",    "BERTH_GPUS",        "BERTH_SECRETS",         "BERTH_WORDS",
    "BERTH_BESIDE",  "BERTH_LIBRARY",  "BERTH_SLURM_SHARE", "BERTH_SNAKEMAKE_SHARE", "BERTH_SNAKEMAKE_EXTRA",
};

struct loader {
    struct config *config;
    uint32_t doubt_count;
    const struct config_sources *sources;
    struct symbols *symbols;
    struct build build;
    struct env env; /* the time is 0: what is configured does not depend on when it is read */
    struct arena scratch;
};

/* ------------------------------------------------------------------------------------------------------------ values */

static const char *keep(struct config *config, const char *text)
{
    size_t len = strlen(text) + 1;

    return memcpy(arena_alloc(&config->arena, len), text, len);
}

/* Puts a value over the one before. */
static void put(struct config *config, enum config_key key, struct config_value fresh, const char *from)
{
    struct config_value *value = &config->values[key];

    if (value->from) {
        struct config_value *over = arena_alloc(&config->arena, sizeof *over);

        *over = *value;
        fresh.over = over;
    }
    fresh.from = keep(config, from);
    *value = fresh;
}

/* Puts a text: as an expression, if it is one of the right sort, or else as the value itself. */
static int put_text(struct loader *loader, enum config_key key, const char *text, const char *from, struct err *err)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct arena *arena = &loader->config->arena;
    struct config_value fresh = {0};
    size_t len = strlen(text);
    struct tree *tree = len <= CONFIG_FILE_MAX ? parse_expr(&loader->build, &options, text, len, NULL) : NULL;
    struct value value = value_undefined();
    struct eval eval;
    int result;

    eval_init(&eval, &loader->env, &loader->scratch);
    if (tree && config_row(key)->sort != CONFIG_IS_ADS)
        eval_tree(&eval, NULL, tree, &value);
    if (tree && config_row(key)->sort == CONFIG_IS_ADS)
        result = config_read_ads(arena, key, tree, tree_root(tree), &fresh, err);
    else if (tree && config_value_fits(key, &value))
        result = config_read_value(arena, key, &eval, &value, &fresh, err);
    else
        result = config_read_text(arena, key, text, len, &fresh, err);
    tree_unref(tree);
    arena_reset(&loader->scratch);
    if (result == 0)
        put(loader->config, key, fresh, from);
    return result;
}

static int fail_unknown(const char *what, const char *name, size_t len, struct err *err)
{
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        nearest_try(&nearest, config_row((enum config_key)i)->name);
    if (nearest.name)
        return err_set(err, "there is no %s '%.*s'; did you mean '%s'?", what, (int)(len < 60 ? len : 60), name,
                       nearest.name);
    return err_set(err, "there is no %s '%.*s'; `berth config` lists them", what, (int)(len < 60 ? len : 60), name);
}

/* ---------------------------------------------------------------------------------------------------------- defaults */

static const char *variable(const struct config_sources *sources, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *at = sources->variables; at && *at; at++)
        if (!strncmp(*at, name, len) && (*at)[len] == '=')
            return (*at)[len + 1] ? *at + len + 1 : NULL; /* empty is as good as not set */
    return NULL;
}

/* A folder named by the environment counts only when it is absolute, says the XDG specification. */
static const char *folder_variable(const struct config_sources *sources, const char *name)
{
    const char *value = variable(sources, name);

    return value && *value == '/' ? value : NULL;
}

/* The path $XDG/berth or $HOME/REST/berth, with `end` behind it; NULL when the environment has neither. */
static const char *home_path(struct loader *loader, const char *xdg, const char *rest, const char *end)
{
    const char *given = folder_variable(loader->sources, xdg), *home = folder_variable(loader->sources, "HOME");
    const char *path = NULL;
    struct buf out;

    buf_init(&out);
    if (given)
        buf_addf(&out, "%s/berth%s", given, end);
    else if (home)
        buf_addf(&out, "%s/%s/berth%s", home, rest, end);
    if (out.len)
        path = keep(loader->config, buf_string(&out));
    buf_done(&out);
    return path;
}

static void load_defaults(struct loader *loader)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_row *row = config_row((enum config_key)i);
        struct config_value fresh = {.text = ""};

        if (row->has_span)
            memcpy(&fresh.number, (const char *)&spans_default + row->span, sizeof fresh.number);
        else if (i == CONFIG_STATE)
            fresh.text = loader->sources->root && !folder_variable(loader->sources, "XDG_STATE_HOME")
                             ? "/var/lib/berth"
                             : home_path(loader, "XDG_STATE_HOME", ".local/state", "");
        else if (put_text(loader, (enum config_key)i, row->fallback, "default", NULL) == 0)
            continue;
        else
            abort(); /* the table contradicts itself */
        if (!fresh.text)
            fresh.text = ""; /* no home: complained about if nobody sets it */
        put(loader->config, (enum config_key)i, fresh, "default");
    }
}

/* ------------------------------------------------------------------------------------------------------------- files */

/* Where the attributes of the ad begin in the text. */
struct places {
    size_t *starts;
    uint32_t count, room;
};

static void note_attribute(void *user, size_t start, size_t end)
{
    struct places *places = user;

    (void)end;
    ARRAY_ROOM(places->starts, places->count, places->room, 64);
    places->starts[places->count++] = start;
}

static void note_comment(void *user, size_t offset, size_t len)
{
    (void)user, (void)offset, (void)len;
}

static int put_attribute(struct loader *loader, const struct scope *scope, const struct expr *attribute,
                         const char *from, struct err *err)
{
    struct config_value fresh = {0};
    struct value value;
    struct eval eval;
    size_t len;
    const char *name = symbols_text(loader->symbols, attribute->label, &len);
    int key = config_find(name, len), result;

    if (key < 0)
        return fail_unknown("setting", name, len, err);
    eval_init(&eval, &loader->env, &loader->scratch);
    if (config_row((enum config_key)key)->sort == CONFIG_IS_ADS) {
        result = config_read_ads(&loader->config->arena, (enum config_key)key, scope->tree, attribute, &fresh, err);
    } else {
        eval_attribute(&eval, scope, attribute->label, &value);
        result = config_read_value(&loader->config->arena, (enum config_key)key, &eval, &value, &fresh, err);
    }
    arena_reset(&loader->scratch);
    if (result < 0)
        return err_context(err, "%s", config_row((enum config_key)key)->name);
    put(loader->config, (enum config_key)key, fresh, from);
    return 0;
}

static int put_ad(struct loader *loader, const char *path, const struct tree *ad, const char *text,
                  const struct places *places, struct err *err)
{
    const struct expr *parts = tree_parts(ad, tree_root(ad));
    int result = 0;
    struct scope scope;
    struct buf from;

    buf_init(&from);
    scope_init(&scope, ad, NULL);
    for (uint32_t i = 0; i < tree_root(ad)->u.run.count && result == 0; i++) {
        unsigned line = 0, column = 0;

        if (i < places->count)
            err_place(text, places->starts[i], &line, &column);
        buf_reset(&from);
        buf_addf(&from, "%s:%u", path, line);
        result = put_attribute(loader, &scope, &parts[i], buf_string(&from), err);
        if (result < 0)
            err_context(err, "%.*s:%u:%u", PATH_SHOWN, path, line, column);
    }
    buf_done(&from);
    return result;
}

/* Does the text have nothing but blanks and comments? Then all is as it would be without the file: /dev/null, or examples that are commented out. */
static bool is_blank(struct buf *text)
{
    struct lexer lexer;

    lex_init(&lexer, &dialect_classic, buf_string(text), text->len, NULL);
    lex_next(&lexer);
    return lexer.token.kind == TOKEN_END;
}

/* Loads a file. 1: loaded; 0: there is no such file; -1: it cannot be read, or something in it is wrong. */
static int load_file(struct loader *loader, const char *path, bool plain, struct err *err)
{
    struct places places = {0};
    struct parse_watch watch = {note_comment, note_attribute, &places};
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX, .watch = &watch};
    struct err fault = {0};
    struct tree *ad;
    struct buf text;
    int result;

    buf_init(&text);
    result = read_file(path, CONFIG_FILE_MAX, plain, &text, &fault);
    if (result < 0)
        err_set(err, "%.*s: %s", PATH_SHOWN, path, fault.text);
    if (result > 0 && !is_blank(&text)) {
        ad = parse_ad(&loader->build, &options, text.text, text.len, &fault);
        if (!ad)
            result = err_set(err, "%.*s:%u:%u: %s", PATH_SHOWN, path, fault.line, fault.column, fault.text);
        else if (put_ad(loader, path, ad, text.text, &places, err) < 0)
            result = -1;
        tree_unref(ad);
    }
    free(places.starts);
    buf_done(&text);
    return result;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the names in the folder that count, sorted, in memory of their own; 0 or -1. */
static int list_folder(const char *folder, char **names, size_t *ret_count, struct err *err)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int result = 0;

    *ret_count = 0;
    if (!dir)
        return errno == ENOENT || errno == ENOTDIR ? 0 : err_set(err, "%.*s: %s", PATH_SHOWN, folder, strerror(errno));
    while ((entry = readdir(dir)) && result == 0) {
        size_t len = strlen(entry->d_name);

        if (len <= 3 || entry->d_name[0] == '.' || strcmp(entry->d_name + len - 3, ".ad"))
            continue;
        if (*ret_count == CONFIG_FILES_MAX)
            result = err_set(err, "%.*s: it has more than %d files", PATH_SHOWN, folder, CONFIG_FILES_MAX);
        else
            names[(*ret_count)++] = mem_dup(entry->d_name, len);
    }
    closedir(dir);
    if (*ret_count)
        qsort(names, *ret_count, sizeof *names, compare_names);
    return result;
}

static int load_folder(struct loader *loader, const char *file, struct err *err)
{
    char **names = mem_alloc(CONFIG_FILES_MAX * sizeof *names);
    struct buf path;
    size_t count;
    int result;

    buf_init(&path);
    buf_addf(&path, "%s.d", file);
    result = list_folder(buf_string(&path), names, &count, err);
    for (size_t i = 0; i < count; i++) {
        buf_reset(&path);
        buf_addf(&path, "%s.d/%s", file, names[i]);
        if (result == 0 && load_file(loader, buf_string(&path), true, err) < 0)
            result = -1;
        free(names[i]);
    }
    free(names);
    buf_done(&path);
    return result;
}

/* Is there such a file, or its folder? */
static bool is_there(const char *file)
{
    struct stat status;
    struct buf folder;
    bool there;

    if (!file)
        return false;
    buf_init(&folder);
    buf_addf(&folder, "%s.d", file);
    there = stat(file, &status) == 0 || stat(buf_string(&folder), &status) == 0;
    buf_done(&folder);
    return there;
}

static int load_files(struct loader *loader, struct err *err)
{
    const struct config_sources *sources = loader->sources;
    const char *named = sources->file ? sources->file : variable(sources, "BERTH_CONFIG");
    const char *file = named, *etc = sources->etc ? sources->etc : "/etc/berth";
    int got;

    if (!file) {
        file = home_path(loader, "XDG_CONFIG_HOME", ".config", "/berth.ad");
        if (!is_there(file)) {
            char *path = arena_alloc(&loader->config->arena, strlen(etc) + sizeof "/berth.ad");

            strcpy(path, etc);
            strcat(path, "/berth.ad");
            file = is_there(path) ? path : NULL;
        }
    }
    if (!file)
        return 0;
    loader->config->file = keep(loader->config, file);
    got = load_file(loader, file, false, err);
    if (got == 0 && named)
        return err_set(err, "%.*s: there is no such file", PATH_SHOWN, file);
    return got < 0 ? -1 : load_folder(loader, file, err);
}

/* ------------------------------------------------------------------------------------------- the environment and flags */

/* Notes a variable that is not a setting. It may be another program's: that is no reason to stop. */
static void note_unknown_variable(struct loader *loader, const char *name, size_t len)
{
    struct config *config = loader->config;
    int shown = (int)(len < 60 ? len : 60);
    struct nearest nearest;
    struct buf variables; /* all right ones, one behind another */
    struct buf words;

    buf_init(&variables);
    buf_init(&words);
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        config_variable_name(&variables, (enum config_key)i);
        buf_addc(&variables, '\0');
    }
    nearest_init(&nearest, name, len);
    for (const char *at = variables.text; at < variables.text + variables.len; at += strlen(at) + 1)
        nearest_try(&nearest, at);
    if (*config->doubts)
        buf_addf(&words, "%s\n", config->doubts);
    buf_addf(&words, "%.*s is passed over: there is no such setting; ", shown, name);
    if (nearest.name)
        buf_addf(&words, "did you mean %s?", nearest.name);
    else
        buf_adds(&words, "`berth config` lists them");
    config->doubts = keep(config, buf_string(&words));
    buf_done(&words);
    buf_done(&variables);
}

static int find_variable(const char *name, size_t len)
{
    int found = -1;
    struct buf right;

    buf_init(&right);
    for (int i = 0; i < CONFIG_KEY_COUNT && found < 0; i++) {
        buf_reset(&right);
        config_variable_name(&right, (enum config_key)i);
        if (right.len == len && !memcmp(right.text, name, len))
            found = i;
    }
    buf_done(&right);
    return found;
}

static bool is_other_variable(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof other_variables / sizeof *other_variables; i++)
        if (strlen(other_variables[i]) == len && !memcmp(other_variables[i], name, len))
            return true;
    return false;
}

static int put_variable(struct loader *loader, enum config_key key, const char *value, struct err *err)
{
    struct buf name;
    int result;

    buf_init(&name);
    config_variable_name(&name, key);
    result = put_text(loader, key, value, buf_string(&name), err);
    if (result < 0)
        err_context(err, "%s", buf_string(&name));
    buf_done(&name);
    return result;
}

static int load_variables(struct loader *loader, struct err *err)
{
    for (const char *const *at = loader->sources->variables; at && *at; at++) {
        const char *equals = strchr(*at, '=');
        size_t len = equals ? (size_t)(equals - *at) : 0;
        int key;

        if (strncmp(*at, "BERTH_", 6) || !equals || is_other_variable(*at, len))
            continue;
        key = find_variable(*at, len);
        if (key < 0 && loader->doubt_count++ < DOUBTS_MAX)
            note_unknown_variable(loader, *at, len);
        else if (key >= 0 && put_variable(loader, (enum config_key)key, equals + 1, err) < 0)
            return -1;
    }
    return 0;
}

static int load_given(struct loader *loader, struct err *err)
{
    for (size_t i = 0; i < loader->sources->given_count; i++) {
        const struct config_given *given = &loader->sources->given[i];
        int key = config_find(given->key, strlen(given->key));

        if (key < 0) {
            fail_unknown("setting", given->key, strlen(given->key), err);
            return err_context(err, "%.60s", given->flag);
        }
        if (put_text(loader, (enum config_key)key, given->value, given->flag, err) < 0)
            return err_context(err, "%.60s", given->flag);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------- checks across keys */

/* What must not be less than what. */
static const struct {
    enum config_key key, least;
    const char *words;
} order_checks[] = {
    {CONFIG_LEASE, CONFIG_PIN, "is shorter than"},
    {CONFIG_DEADLINE, CONFIG_RETRY, "is shorter than"},
    {CONFIG_SUBMISSION_MAX, CONFIG_BODY_MAX, "is less than"},
    {CONFIG_QUERY_STEPS, CONFIG_EVALUATION_STEPS, "is less than"},
};

static void describe(struct buf *out, const struct config *config, enum config_key key)
{
    buf_addf(out, "%s (", config_row(key)->name);
    config_print(out, key, &config->values[key]);
    buf_addf(out, ", %.100s)", config->values[key].from);
}

static int check_order(const struct config *config, struct err *err)
{
    for (size_t i = 0; i < sizeof order_checks / sizeof *order_checks; i++) {
        enum config_key key = order_checks[i].key, least = order_checks[i].least;
        struct buf text;

        if (config->values[key].number >= config->values[least].number)
            continue;
        buf_init(&text);
        describe(&text, config, key);
        buf_addf(&text, " %s ", order_checks[i].words);
        describe(&text, config, least);
        err_set(err, "%s", buf_string(&text));
        buf_done(&text);
        return -1;
    }
    return 0;
}

/* Refuses to serve other machines in the clear, unless AllowPlain says so in so many words. */
static int check_plain(const struct config *config, struct err *err)
{
    size_t count;
    const char *const *listen = config_list(config, CONFIG_LISTEN, &count);

    if (strcmp(config_text(config, CONFIG_TLS), "off") || config_flag(config, CONFIG_ALLOW_PLAIN))
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!config_address_is_local(listen[i]))
            return err_set(err,
                           "Listen (%.100s, %.100s) would be served without encryption: leave Tls at auto, listen at "
                           "127.0.0.1, or set AllowPlain to true",
                           listen[i], config->values[CONFIG_LISTEN].from);
    return 0;
}

static int check_all(const struct config *config, struct err *err)
{
    if (!*config_text(config, CONFIG_STATE))
        return err_set(err, "State is not set, and there is no HOME to keep it in");
    return check_order(config, err) < 0 || check_plain(config, err) < 0 ? -1 : 0;
}

/* ----------------------------------------------------------------------------------------------------------- loading */

int config_load(struct config *ret, const struct config_sources *sources, struct err *err)
{
    struct config config = {.doubts = ""};
    struct loader loader = {.config = &config, .sources = sources};
    int result = -1;

    arena_init(&config.arena);
    arena_init(&loader.scratch);
    loader.symbols = names_new(0);
    build_init(&loader.build, loader.symbols, &dialect_classic);
    load_defaults(&loader);
    if (load_files(&loader, err) == 0 && load_variables(&loader, err) == 0 && load_given(&loader, err) == 0)
        result = check_all(&config, err);
    build_done(&loader.build);
    symbols_free(loader.symbols);
    arena_done(&loader.scratch);
    if (err && result < 0)
        err->line = err->column = 0; /* the place is in the text: there are several files */
    if (result == 0)
        *ret = config;
    else
        config_done(&config);
    return result;
}

/* Puts a copy of the running value in the place of the fresh one. */
static void keep_running(struct config *fresh, const struct config *running, enum config_key key)
{
    struct config_value value = running->values[key];

    value.from = keep(fresh, value.from);
    value.over = NULL;
    if (value.text)
        value.text = keep(fresh, value.text);
    if (value.items) {
        const char **items = arena_alloc(&fresh->arena, (value.count + 1) * sizeof *items);

        for (size_t i = 0; i < value.count; i++)
            items[i] = keep(fresh, value.items[i]);
        items[value.count] = NULL;
        value.items = items;
    }
    fresh->values[key] = value;
}

int config_reload(struct config *config, const struct config_sources *sources, struct config_change *ret,
                  struct err *err)
{
    struct config_change change = {0};
    struct config fresh;

    if (config_load(&fresh, sources, err) < 0)
        return -1;
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (!config_differs(config, &fresh, (enum config_key)i))
            continue;
        if (config_row((enum config_key)i)->restart) {
            keep_running(&fresh, config, (enum config_key)i);
            change.waits[i] = true;
        } else {
            change.taken[i] = true;
        }
    }
    if (check_all(&fresh, err) < 0) { /* what is new beside what stays */
        config_done(&fresh);
        return -1;
    }
    config_done(config);
    *config = fresh;
    *ret = change;
    return 0;
}
