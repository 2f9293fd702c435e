/* sources.c: the order in which sources are asked, what counts as an answer, and what is kept on disk. */
#include "live/config/sources.h"

#include "lang/ad/eval.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "sys/private_file.h"
#include "sys/read_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICK_DEPTH_MAX 16                                /* lists and ads inside one another in an answer */
#define CACHE_FILE_MAX (4u * SOURCES_ANSWER_MAX + 65536) /* an answer in quotes, each byte escaped */

void sources_answer_init(struct sources_answer *answer)
{
    *answer = (struct sources_answer){0};
    buf_init(&answer->text);
    buf_init(&answer->etag);
    buf_init(&answer->source);
}

void sources_answer_done(struct sources_answer *answer)
{
    if (!answer)
        return;
    buf_done(&answer->text);
    buf_done(&answer->etag);
    buf_done(&answer->source);
}

static void answer_reset(struct sources_answer *answer)
{
    buf_reset(&answer->text);
    buf_reset(&answer->etag);
    buf_reset(&answer->source);
    answer->kept = false;
}

static void answer_copy(struct sources_answer *to, const struct sources_answer *from)
{
    answer_reset(to);
    buf_add(&to->text, from->text.text, from->text.len);
    buf_add(&to->etag, from->etag.text, from->etag.len);
    buf_add(&to->source, from->source.text, from->source.len);
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > SOURCES_NAME_MAX || isdigit((unsigned char)*name))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return true;
}

static bool is_url(const char *place)
{
    return strstr(place, "://") != NULL;
}

/* ---------------------------------------------------------------------------------------------------------- picking */

static int print_whole(struct buf *out, struct eval *eval, const struct symbols *symbols, const struct value *value,
                       unsigned depth, struct err *err);

static int print_list(struct buf *out, struct eval *eval, const struct symbols *symbols, const struct value *list,
                      unsigned depth, struct err *err)
{
    buf_adds(out, "{ ");
    for (uint32_t i = 0; i < list->len; i++) {
        struct value element;

        eval_element(eval, list, i, &element);
        buf_adds(out, i ? ", " : "");
        if (print_whole(out, eval, symbols, &element, depth + 1, err) < 0)
            return -1;
    }
    buf_adds(out, " }");
    return 0;
}

static int print_ad(struct buf *out, struct eval *eval, const struct symbols *symbols, const struct value *ad,
                    unsigned depth, struct err *err)
{
    const struct expr *parts = tree_parts(ad->scope->tree, ad->scope->ad);

    buf_adds(out, "[ ");
    for (uint32_t i = 0; i < ad->scope->ad->u.run.count; i++) {
        struct value value;
        size_t len;
        const char *name = symbols_text(symbols, parts[i].label, &len);

        eval_attribute(eval, ad->scope, parts[i].label, &value);
        buf_adds(out, i ? "; " : "");
        print_name(out, &dialect_classic, name, len);
        buf_adds(out, " = ");
        if (print_whole(out, eval, symbols, &value, depth + 1, err) < 0)
            return -1;
    }
    buf_adds(out, " ]");
    return 0;
}

/* Prints a value with all that is in it evaluated: names of the ad around it would mean nothing elsewhere. */
static int print_whole(struct buf *out, struct eval *eval, const struct symbols *symbols, const struct value *value,
                       unsigned depth, struct err *err)
{
    if (depth > PICK_DEPTH_MAX)
        return err_set(err, "lists and ads are more than %d deep", PICK_DEPTH_MAX);
    if (out->len > SOURCES_ANSWER_MAX)
        return err_set(err, "the answer has more than %u bytes", SOURCES_ANSWER_MAX);
    if (eval->exhausted)
        return err_set(err, "evaluating it takes too many steps");
    if (value->type == VALUE_LIST)
        return print_list(out, eval, symbols, value, depth, err);
    if (value->type == VALUE_AD)
        return print_ad(out, eval, symbols, value, depth, err);
    value_print(out, &dialect_classic, value, PRINT_PLAIN);
    return 0;
}

/* Evaluates an attribute of an ad by its name; 1 and its value, or 0. */
static int pick_one(struct eval *eval, const struct symbols *symbols, const struct scope *scope, const char *name,
                    struct value *ret)
{
    symbol found = symbols_find(symbols, name, strlen(name));

    return found != SYMBOL_NONE && eval_attribute(eval, scope, found, ret);
}

static int pick(struct buf *out, struct eval *eval, const struct symbols *symbols, const struct tree *ad,
                const char *section, const char *option, struct err *err)
{
    struct value value;
    struct scope scope;

    scope_init(&scope, ad, NULL);
    value = (struct value){.type = VALUE_AD, .scope = &scope};
    value.u.aggregate = tree_root(ad);
    if (section && !pick_one(eval, symbols, &scope, section, &value))
        return 0;
    if (value.type != VALUE_AD)
        return err_set(err, "section %s is not an ad but %s", section, value_type_name((enum value_type)value.type));
    if (section && option && !pick_one(eval, symbols, value.scope, option, &value))
        return 0;
    return print_whole(out, eval, symbols, &value, 0, err) < 0 ? -1 : 1;
}

int sources_pick(struct buf *out, const char *text, size_t len, const char *section, const char *option,
                 struct err *err)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    const struct env env = {0};
    struct symbols *symbols = names_new(0);
    size_t before = out->len;
    struct build build;
    struct arena arena;
    struct eval eval;
    struct tree *ad;
    int result = -1;

    arena_init(&arena);
    build_init(&build, symbols, &dialect_classic);
    eval_init(&eval, &env, &arena);
    ad = len <= SOURCES_ANSWER_MAX ? parse_ad(&build, &options, text, len, err) : NULL;
    if (ad)
        result = pick(out, &eval, symbols, ad, section, option, err);
    else if (len > SOURCES_ANSWER_MAX)
        err_set(err, "it has more than %u bytes", SOURCES_ANSWER_MAX);
    if (result <= 0)
        out->len = before;
    tree_unref(ad);
    build_done(&build);
    arena_done(&arena);
    symbols_free(symbols);
    return result;
}

/* Is the text what was asked for: an ad, or any expression? What a server says is not believed unseen. */
static bool is_answer(const char *text, size_t len, bool ad)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct symbols *symbols;
    struct build build;
    struct tree *tree;

    if (len > SOURCES_ANSWER_MAX)
        return false;
    symbols = names_new(0);
    build_init(&build, symbols, &dialect_classic);
    tree = (ad ? parse_ad : parse_expr)(&build, &options, text, len, NULL);
    tree_unref(tree);
    build_done(&build);
    symbols_free(symbols);
    return tree != NULL;
}

/* ---------------------------------------------------------------------------------------------------------- the disk */

/* Adds the path of a kept answer, in lower case: names of the language do not differ by their case, those of files do. */
static void cache_path(struct buf *out, const char *folder, const char *section, const char *option)
{
    size_t from;

    buf_addf(out, "%s/", folder);
    from = out->len;
    buf_addf(out, "%s%s%s.ad", section, option ? "." : "", option ? option : "");
    for (size_t i = from; i < out->len; i++)
        out->text[i] = (char)tolower((unsigned char)out->text[i]);
    buf_string(out);
}

int sources_cache_write(const char *folder, const char *section, const char *option,
                        const struct sources_answer *answer, struct err *err)
{
    const struct {
        const char *name;
        const struct buf *text;
    } fields[] = {{"Source", &answer->source}, {"Etag", &answer->etag}, {"Text", &answer->text}};
    struct buf path, out;
    int result;

    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return err_set(err, "%.200s: %s", folder, strerror(errno));
    buf_init(&path);
    buf_init(&out);
    cache_path(&path, folder, section, option);
    buf_addc(&out, '[');
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        buf_addf(&out, "%s%s=", i ? ";" : "", fields[i].name);
        print_string(&out, fields[i].text->text, fields[i].text->len, PRINT_COMPACT);
    }
    buf_adds(&out, "]\n");
    result = private_write(AT_FDCWD, buf_string(&path), out.text, out.len, err);
    if (result < 0)
        err_context(err, "%.200s", path.text);
    buf_done(&path);
    buf_done(&out);
    return result;
}

/* Appends the string attribute of that name. */
static int cache_field(const struct tree *ad, const char *name, struct buf *ret, struct err *err)
{
    symbol found = symbols_find(ad->symbols, name, strlen(name));
    const struct expr *e = found == SYMBOL_NONE ? NULL : tree_find(ad, tree_root(ad), found);

    if (!e || e->kind != EXPR_STRING)
        return err_set(err, "it has no text %s", name);
    buf_add(ret, tree_string(ad, e), e->u.run.count);
    return 0;
}

static int cache_parse(const struct buf *text, struct sources_answer *ret, struct err *err)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct symbols *symbols = names_new(0);
    struct build build;
    struct tree *ad;
    int result = -1;

    build_init(&build, symbols, &dialect_classic);
    ad = parse_ad(&build, &options, text->text, text->len, err);
    answer_reset(ret);
    if (ad && cache_field(ad, "Source", &ret->source, err) == 0 && cache_field(ad, "Etag", &ret->etag, err) == 0 &&
        cache_field(ad, "Text", &ret->text, err) == 0)
        result = 1;
    tree_unref(ad);
    build_done(&build);
    symbols_free(symbols);
    return result;
}

int sources_cache_read(const char *folder, const char *section, const char *option, struct sources_answer *ret,
                       struct err *err)
{
    struct buf path, text;
    int result;

    buf_init(&path);
    buf_init(&text);
    cache_path(&path, folder, section, option);
    result = read_file(path.text, CACHE_FILE_MAX, true, &text, err);
    if (result > 0)
        result = cache_parse(&text, ret, err);
    if (result > 0 && !is_answer(ret->text.text, ret->text.len, !option))
        result = err_set(err, "what is kept there is no answer");
    if (result < 0)
        err_context(err, "%.200s", path.text);
    buf_done(&path);
    buf_done(&text);
    return result;
}

/* Removes what was kept: all who had it have taken it away. */
static void cache_forget(const struct sources_ask *ask)
{
    struct buf path;

    if (!ask->folder || !ask->has_kept)
        return;
    buf_init(&path);
    cache_path(&path, ask->folder, ask->section, ask->option);
    unlink(path.text);
    buf_done(&path);
}

/* ----------------------------------------------------------------------------------------------------------- asking */

int sources_ask_init(struct sources_ask *ask, const char *const *places, size_t count, const char *section,
                     const char *option, const char *folder, struct err *err)
{
    *ask =
        (struct sources_ask){.places = places, .count = count, .section = section, .option = option, .folder = folder};
    sources_answer_init(&ask->kept);
    buf_init(&ask->url);
    if (!is_name(section))
        return err_set(err, "'%.60s' is not the name of a section", section);
    if (option && !is_name(option))
        return err_set(err, "'%.60s' is not the name of an option", option);
    /* what cannot be read is as good as nothing: it will be written anew */
    ask->has_kept = folder && sources_cache_read(folder, section, option, &ask->kept, NULL) > 0;
    return 0;
}

void sources_ask_done(struct sources_ask *ask)
{
    if (!ask)
        return;
    sources_answer_done(&ask->kept);
    buf_done(&ask->url);
}

/* Asks a file. 1 and the answer; 0 when the file has no such thing; -1 when it could not be asked. */
static int ask_file(const struct sources_ask *ask, const char *path, struct sources_answer *ret)
{
    struct buf text;
    int result;

    buf_init(&text);
    result = read_file(path, SOURCES_ANSWER_MAX, false, &text, NULL) > 0 ? 1 : -1;
    if (result > 0) {
        answer_reset(ret);
        result = sources_pick(&ret->text, text.text, text.len, ask->section, ask->option, NULL);
    }
    if (result > 0)
        buf_adds(&ret->source, path);
    buf_done(&text);
    return result;
}

static bool is_kept_of(const struct sources_ask *ask, const char *place)
{
    return ask->has_kept && ask->kept.etag.len && ask->kept.source.len == strlen(place) &&
           !memcmp(ask->kept.source.text, place, ask->kept.source.len);
}

static enum sources_step ask_url(struct sources_ask *ask, const char *place, const char **ret_url,
                                 const char **ret_etag)
{
    size_t len = strlen(place);

    while (len && place[len - 1] == '/')
        len--;
    buf_reset(&ask->url);
    buf_add(&ask->url, place, len);
    buf_addf(&ask->url, "/%s%s%s", ask->section, ask->option ? "/" : "", ask->option ? ask->option : "");
    *ret_url = buf_string(&ask->url);
    *ret_etag = is_kept_of(ask, place) ? buf_string(&ask->kept.etag) : NULL;
    return SOURCES_FETCH;
}

enum sources_step sources_next(struct sources_ask *ask, const char **ret_url, const char **ret_etag,
                               struct sources_answer *ret_answer)
{
    while (ask->next < ask->count) {
        const char *place = ask->places[ask->next++];
        int got;

        if (is_url(place))
            return ask_url(ask, place, ret_url, ret_etag);
        got = ask_file(ask, place, ret_answer);
        if (got > 0)
            return SOURCES_FOUND;
        ask->silent |= got < 0;
    }
    if (!ask->silent) {
        cache_forget(ask);
        return SOURCES_NONE;
    }
    if (!ask->has_kept)
        return SOURCES_LOST;
    answer_copy(ret_answer, &ask->kept);
    ret_answer->kept = true;
    return SOURCES_FOUND;
}

/* Is that an ETag? One that could not be sent back as a header is not kept. */
static bool is_etag(const char *etag)
{
    if (!etag || strlen(etag) > SOURCES_ETAG_MAX)
        return false;
    for (; *etag; etag++)
        if (!isgraph((unsigned char)*etag) && *etag != ' ')
            return false;
    return true;
}

enum sources_step sources_reply(struct sources_ask *ask, unsigned status, const char *body, size_t len,
                                const char *etag, const char **ret_url, const char **ret_etag,
                                struct sources_answer *ret_answer, struct err *ret_unkept)
{
    const char *place = ask->places[ask->next - 1];

    if (ret_unkept)
        *ret_unkept = (struct err){0};
    if (status == 304 && is_kept_of(ask, place)) {
        answer_copy(ret_answer, &ask->kept);
        return SOURCES_FOUND;
    }
    if (status == 200 && is_answer(body, len, !ask->option)) {
        answer_reset(ret_answer);
        buf_add(&ret_answer->text, body, len);
        buf_adds(&ret_answer->source, place);
        buf_adds(&ret_answer->etag, is_etag(etag) ? etag : "");
        if (ask->folder)
            sources_cache_write(ask->folder, ask->section, ask->option, ret_answer, ret_unkept);
        return SOURCES_FOUND;
    }
    ask->silent |= status != 404 && status != 410;
    return sources_next(ask, ret_url, ret_etag, ret_answer);
}

enum sources_step sources_get(const char *const *places, size_t count, const char *section, const char *option,
                              const char *folder, sources_fetch_fn *fetch, void *user,
                              struct sources_answer *ret_answer, struct err *err)
{
    enum sources_step step = SOURCES_LOST;
    const char *url, *etag;
    struct sources_ask ask;
    struct buf body, tag;

    buf_init(&body);
    buf_init(&tag);
    if (sources_ask_init(&ask, places, count, section, option, folder, err) == 0) {
        step = sources_next(&ask, &url, &etag, ret_answer);
        while (step == SOURCES_FETCH) {
            unsigned status;

            buf_reset(&body);
            buf_reset(&tag);
            status = fetch(user, url, etag, &body, &tag);
            step = sources_reply(&ask, status, body.text, body.len, buf_string(&tag), &url, &etag, ret_answer, NULL);
        }
        if (step == SOURCES_LOST)
            err_set(err, "no source answers for %s%s%s, and nothing was kept", section, option ? "/" : "",
                    option ? option : "");
    }
    sources_ask_done(&ask);
    buf_done(&body);
    buf_done(&tag);
    return step;
}
