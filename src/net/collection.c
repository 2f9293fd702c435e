/* collection.c: lists of ads that are made for the answer, asked for as ads are. */
#include "net/service_parts.h"

#include "text/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct env request_env(const struct request *request)
{
    const struct config *config = &request->service->config;
    struct env env = {.now = runner_wall() / SECOND,
                      .seed = request->number,
                      .steps = config_count(config, CONFIG_EVALUATION_STEPS),
                      .bytes = config_size(config, CONFIG_EVALUATION_BYTES)};

    return env;
}

bool request_expr(struct request *request, const char *name, struct tree **ret)
{
    const char *text = request_query(request, name);
    struct parse_options options = {.cells_max = (uint32_t)config_count(&request->service->config, CONFIG_AD_NODES)};
    struct build build;
    struct err err = {0};

    *ret = NULL;
    if (!text)
        return true;
    if (utf8_check(text, strlen(text), &err) < 0) {
        request_problem(request, 400, "%s: %u:%u: %s", name, err.line, err.column, err.text);
        return false;
    }
    build_init(&build, request->service->symbols, &dialect_classic);
    *ret = parse_expr(&build, &options, text, strlen(text), &err);
    build_done(&build);
    if (!*ret)
        request_problem(request, 400, "%s: %u:%u: %s", name, err.line, err.column, err.text);
    return *ret;
}

/* A text as it stands in a URL. */
static void url_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("-._~,", c))
            buf_addc(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

/* The same question, further on. */
static void link_next(struct buf *out, const struct request *request, uint64_t cursor)
{
    char name[32];
    size_t len;

    buf_addf(out, "<%s?cursor=%" PRIu64, request->route->path, cursor);
    for (const char *words = request->route->parameters; *words; words += len + (words[len] == ' ')) {
        const char *value;

        len = strcspn(words, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, words);
        value = strcmp(name, "cursor") != 0 ? request_query(request, name) : NULL;
        if (value) {
            buf_addf(out, "&%s=", name);
            url_text(out, value);
        }
    }
    buf_adds(out, ">; rel=\"next\"");
}

void request_list(struct request *request, const struct buf *out, bool more, uint64_t cursor)
{
    char digits[24];
    struct http_field fields[2] = {{"Berth-Cursor", digits}, {"Link", NULL}};
    struct buf link;

    buf_init(&link);
    snprintf(digits, sizeof digits, "%" PRIu64, cursor);
    if (more)
        link_next(&link, request, cursor);
    fields[1].value = buf_string(&link);
    request_answer(request, 200, media_type(request->form, &dialect_classic), out->text, out->len, fields,
                   more ? 2 : 0);
    buf_done(&link);
}

bool collection_begin(struct collection *collection, struct request *request)
{
    *collection = (struct collection){.request = request,
                                      .select = request_query(request, "select"),
                                      .steps = config_count(&request->service->config, CONFIG_QUERY_STEPS),
                                      .env = request_env(request)};
    if (!request_number(request, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT, &collection->limit) ||
        !request_number(request, "cursor", 0, UINT32_MAX, 0, &collection->cursor) || !select_checked(request) ||
        !request_expr(request, "constraint", &collection->query))
        return false;
    arena_init(&collection->scratch);
    buf_init(&collection->out);
    listing_begin(&collection->listing, &collection->out, request->form);
    return true;
}

static bool collection_wants(struct collection *collection, const struct tree *ad)
{
    uint64_t steps = 1;
    bool wanted = !collection->query ||
                  match_query_counted(&collection->env, &collection->scratch, collection->query, ad, &steps);

    collection->spent = collection->spent || steps >= collection->steps;
    collection->steps -= collection->spent ? collection->steps : steps;
    return wanted && !collection->spent;
}

bool collection_add(struct collection *collection, struct tree *ad)
{
    struct tree *part;
    bool enough = collection->more || collection->spent;

    if (enough || collection->at++ < collection->cursor || !collection_wants(collection, ad)) {
        tree_unref(ad);
        return !enough && !collection->spent;
    }
    if (collection->listing.count == collection->limit) {
        collection->more = true;
        collection->at--;
        tree_unref(ad);
        return false;
    }
    if (collection->select && (part = ad_select(collection->request->service->symbols, ad, collection->select))) {
        tree_unref(ad);
        ad = part;
    }
    listing_add(&collection->listing, ad);
    tree_unref(ad);
    return true;
}

void collection_end(struct collection *collection)
{
    struct request *request = collection->request;

    listing_end(&collection->listing);
    if (collection->spent)
        request_problem(request, 429, "QuerySteps: the query takes too long; ask for less, or more simply");
    else
        request_list(request, &collection->out, collection->more, collection->at);
    tree_unref(collection->query);
    buf_done(&collection->out);
    arena_done(&collection->scratch);
}
