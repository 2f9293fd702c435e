/* openapi.c: the routes as OpenAPI 3.1, for programs that read it. Written from the tables alone. */
#include "live/http/route.h"

#include "lang/base/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *status, *description;
    bool problem;
} answer_rows[] = {
    {"200", "Here it is.", false},
    {"201", "It was made.", false},
    {"202", "It was taken, and is being checked.", false},
    {"204", "It was done.", false},
    {"302", "Go on there.", false},
    {"304", "It is what If-None-Match says.", false},
    {"400", "Something in the request is wrong; the detail says what, and where.", true},
    {"401", "A token is needed, or this one is not good.", true},
    {"403", "The token does not reach that far.", true},
    {"404", "There is no such thing.", true},
    {"406", "It cannot be given in that form.", true},
    {"409", "Something newer is known.", true},
    {"412", "It is not what If-Match says, or it has gone; or, with Berth-Introduced, the agent is not known yet.",
     true},
    {"413", "The body is too long.", true},
    {"415", "The body is of a form that is not read here.", true},
    {"422", "The body is not what its name says.", true},
    {"429", "Past a limit, which the detail names.", true},
    {"503", "It cannot be done now.", true},
    {"504", "No answer came in time.", true},
};

/* Skips blanks before the next word of a list; returns the word's length. */
static size_t word_next(const char **words)
{
    *words += strspn(*words, " ");
    return strcspn(*words, " ");
}

static void quoted(struct buf *out, const char *text)
{
    json_quote(out, text, strlen(text));
}

/* ------------------------------------------------------------------------------------------------------------- examples */

/* The route's example; NULL: it has none. */
static const struct route_example *example_of(const struct route_table *table, const struct route *route)
{
    for (const struct route_example *example = table->examples; example && example->id; example++)
        if (!strcmp(example->id, route->id))
            return example;
    return NULL;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* Prints a part of an example's path, without its escapes. */
static void value_print(struct buf *out, const char *text, size_t len)
{
    struct buf plain;

    buf_init(&plain);
    for (size_t i = 0; i < len; i++) {
        bool escaped = text[i] == '%' && i + 2 < len;

        buf_addc(&plain, escaped ? (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i]);
        i += escaped ? 2 : 0;
    }
    buf_adds(out, ",\"example\":");
    json_quote(out, buf_string(&plain), plain.len);
    buf_done(&plain);
}

/* Prints the value that a variable has in the example's path. */
static void variable_example(struct buf *out, const char *path, const char *variable,
                             const struct route_example *example)
{
    const char *at = example ? example->path : NULL;
    size_t len = strcspn(variable, "}");
    bool rest = len > 3 && !memcmp(variable + len - 3, "...", 3);

    for (; at && path < variable - 1; path++) { /* both go on side by side, part by part */
        if (*path != *at)
            return;
        at++;
        if (path[1] != '{' || path + 2 == variable)
            continue;
        path += strcspn(path, "}");
        at += strcspn(at, "/?");
    }
    if (at)
        value_print(out, at, strcspn(at, rest ? "?" : "/?"));
}

/* Prints the value that a parameter has in the example's query. */
static void parameter_example(struct buf *out, const char *name, const struct route_example *example)
{
    const char *at = example && example->path ? strchr(example->path, '?') : NULL;
    size_t len = strlen(name);

    for (; at; at = strchr(at + 1, '&')) {
        size_t value;

        if (strncmp(at + 1, name, len) != 0)
            continue;
        value = strcspn(at + 1 + len, "&");
        if (at[1 + len] == '=')
            value_print(out, at + 2 + len, value - 1);
        else if (!value)
            value_print(out, "true", 4);
    }
}

static bool is_json(const char *type, size_t len)
{
    return len == 16 && !memcmp(type, "application/json", 16);
}

static bool types_have_json(const char *types)
{
    const char *at = strstr(types, "application/json");

    return at && is_json(at, strcspn(at, " "));
}

/* Is it of that type that the example's answer is? JSON where there is JSON, else the first. */
static bool is_example_type(const struct route_example *example, const char *types, const char *type, size_t len,
                            bool first)
{
    return example->answer && (types_have_json(types) ? is_json(type, len) : first);
}

static void example_print(struct buf *out, const char *answer, bool json)
{
    buf_adds(out, ",\"example\":");
    if (json)
        buf_adds(out, answer);
    else
        quoted(out, answer);
}

/* Prints what is not in OpenAPI: which status the example is answered with, and which ones come before it. */
static void example_terms(struct buf *out, const struct route_example *example)
{
    const char *words = example->after, *between = "";
    size_t len;

    buf_addf(out, ",\"x-example\":{\"status\":%u,\"more\":%s,\"after\":[", example->status,
             example->flags & EXAMPLE_MORE ? "true" : "false");
    for (; (len = word_next(&words)); words += len) {
        buf_addf(out, "%s\"%.*s\"", between, (int)len, words);
        between = ",";
    }
    buf_adds(out, "]}");
}

/* --------------------------------------------------------------------------------------------------------------- parts */

/* Prints the types of an answer: JSON as an object, all others as text; with the example, where that is the one of this answer (else NULL). */
static void types_print(struct buf *out, const char *types, const struct route_example *example)
{
    const char *between = ",\"content\":{", *all = types;
    bool first = true;
    size_t len;

    if (!*types)
        return;
    for (; (len = word_next(&types)); types += len) {
        bool json = is_json(types, len);

        buf_addf(out, "%s\"%.*s\":{\"schema\":%s", between, (int)len, types,
                 json ? "{\"type\":[\"object\",\"array\"]}" : "{\"type\":\"string\"}");
        if (example && is_example_type(example, all, types, len, first))
            example_print(out, example->answer, json);
        buf_addc(out, '}');
        between = ",";
        first = false;
    }
    buf_addc(out, '}');
}

static void answer_print(struct buf *out, const char *status, size_t len, const char *types,
                         const struct route_example *example, const char **between)
{
    for (size_t i = 0; i < sizeof answer_rows / sizeof *answer_rows; i++) {
        if (strlen(answer_rows[i].status) != len || memcmp(answer_rows[i].status, status, len) != 0)
            continue;
        buf_addf(out, "%s\"%s\":{\"description\":", *between, answer_rows[i].status);
        quoted(out, answer_rows[i].description);
        if (example && example->status != strtoul(answer_rows[i].status, NULL, 10))
            example = NULL;
        if (answer_rows[i].problem) {
            buf_adds(out, ",\"content\":{\"application/problem+json\":{\"schema\":{\"$ref\":"
                          "\"#/components/schemas/Problem\"}");
            if (example && example->answer)
                example_print(out, example->answer, true);
            buf_adds(out, "}}");
        } else if (*status == '2' && memcmp(status, "204", 3) != 0) {
            types_print(out, types, example);
        }
        buf_addc(out, '}');
        *between = ",";
    }
}

static void answers_print(struct buf *out, const struct route *route, const struct route_example *example)
{
    const char *between = "", *words = route->answers;
    size_t len;

    buf_adds(out, "\"responses\":{");
    for (; (len = word_next(&words)); words += len)
        answer_print(out, words, len, route->types, example, &between);
    if (route->scope != SCOPE_NONE) {
        static const char *const known[] = {"401", "403", "406", "429"};

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (!strstr(route->answers, known[i]))
                answer_print(out, known[i], 3, "", example, &between);
    }
    if (!strstr(route->answers, "400"))
        answer_print(out, "400", 3, "", example, &between);
    if (!strstr(route->answers, "503"))
        answer_print(out, "503", 3, "", example, &between);
    buf_addc(out, '}');
}

static void variables_print(struct buf *out, const char *path, const struct route_example *example,
                            const char **between)
{
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{')) {
        buf_addf(out, "%s{\"name\":\"%.*s\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}",
                 *between, (int)strcspn(at + 1, "}"), at + 1);
        variable_example(out, path, at + 1, example);
        buf_addc(out, '}');
        *between = ",";
    }
}

static void parameters_print(struct buf *out, const struct route_table *table, const struct route *route,
                             const struct route_example *example)
{
    const struct parameter *parameters = table->parameters;
    const char *between = "", *words = route->parameters;
    size_t len;

    buf_adds(out, "\"parameters\":[");
    variables_print(out, route->path, example, &between);
    for (; (len = word_next(&words)); words += len) {
        for (size_t i = 0; i < table->parameter_count; i++) {
            if (strlen(parameters[i].name) != len || memcmp(parameters[i].name, words, len) != 0)
                continue;
            buf_addf(out, "%s{\"name\":\"%s\",\"in\":\"query\",\"schema\":{\"type\":\"%s\"},\"description\":", between,
                     parameters[i].name, parameters[i].type);
            quoted(out, parameters[i].help);
            parameter_example(out, parameters[i].name, example);
            buf_addc(out, '}');
            between = ",";
        }
    }
    buf_addc(out, ']');
}

/* A body is given as the first of its types, a text. */
static void body_print(struct buf *out, const struct route *route, const struct route_example *example)
{
    static const char *const first[] = {
        [BODY_AD] = "application/classad",
        [BODY_RESOURCE] = "application/classad",
        [BODY_ADS] = "application/classad",
        [BODY_BYTES] = "application/octet-stream",
    };
    static const char *const others[] = {
        [BODY_AD] = ",\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Ad\"}}}",
        [BODY_RESOURCE] = ",\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Ad\"}},"
                          "\"application/grdl+xml\":{\"schema\":{\"type\":\"string\"}},"
                          "\"application/grdl+json\":{\"schema\":{\"type\":\"object\"}}}",
        [BODY_ADS] = ",\"application/json\":{\"schema\":{\"type\":\"array\",\"items\":{\"$ref\":"
                     "\"#/components/schemas/Ad\"}}}}",
        [BODY_BYTES] = "}",
    };
    bool as_ad;

    if (route->body == BODY_NONE)
        return;
    as_ad = route->body == BODY_BYTES && example && (example->flags & EXAMPLE_AD);
    buf_addf(out, ",\"requestBody\":{\"content\":{\"%s\":{\"schema\":{\"type\":\"string\"}", first[route->body]);
    if (as_ad)
        buf_adds(out, "},\"application/classad\":{\"schema\":{\"type\":\"string\"}");
    if (example && example->body)
        example_print(out, example->body, false);
    buf_addf(out, "}%s}", others[route->body]);
}

/* Any of the scopes is enough. */
static void security_print(struct buf *out, scopes scope)
{
    const char *between = "";

    buf_adds(out, ",\"security\":[");
    for (int i = 0; i < SCOPE_COUNT; i++) {
        if (!(scope & 1u << i))
            continue;
        buf_addf(out, "%s{\"token\":[\"", between);
        scopes_print(out, 1u << i);
        buf_adds(out, "\"]}");
        between = ",";
    }
    buf_addc(out, ']');
}

static void route_print(struct buf *out, const struct route_table *table, const struct route *route)
{
    const struct route_example *example = example_of(table, route);

    buf_addc(out, '"');
    for (const char *at = method_name(route->method); *at; at++)
        buf_addc(out, (char)tolower((unsigned char)*at));
    buf_adds(out, "\":{\"operationId\":");
    quoted(out, route->id);
    buf_adds(out, ",\"summary\":");
    quoted(out, route->summary);
    buf_addc(out, ',');
    parameters_print(out, table, route, example);
    body_print(out, route, example);
    buf_addc(out, ',');
    answers_print(out, route, example);
    security_print(out, route->scope);
    if (example)
        example_terms(out, example);
    buf_addc(out, '}');
}

/* All methods of a path stand together: each path is printed where it first appears in its table. */
static bool is_first_of_path(const struct route_table *table, size_t place)
{
    for (size_t i = 0; i < place; i++)
        if (!strcmp(table->routes[i].path, table->routes[place].path))
            return false;
    return true;
}

static void table_print(struct buf *out, const struct route_table *table, const char **between)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *comma = "";

        if (!is_first_of_path(table, i))
            continue;
        buf_adds(out, *between);
        quoted(out, table->routes[i].path);
        buf_adds(out, ":{");
        for (size_t n = i; n < table->count; n++) {
            if (strcmp(table->routes[n].path, table->routes[i].path) != 0)
                continue;
            buf_adds(out, comma);
            route_print(out, table, &table->routes[n]);
            comma = ",";
        }
        buf_addc(out, '}');
        *between = ",\n";
    }
}

void openapi_print(struct buf *out, const struct route_table *const *tables, size_t table_count, const char *version)
{
    const char *between = "";

    buf_adds(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":");
    quoted(out, tables[0]->title);
    buf_adds(out, ",\"summary\":");
    quoted(out, tables[0]->summary);
    buf_adds(out, ",\"version\":");
    quoted(out, version);
    buf_adds(out, ",\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},\"paths\":{");
    for (size_t i = 0; i < table_count; i++)
        table_print(out, tables[i], &between);
    buf_adds(out,
             "},\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\","
             "\"bearerFormat\":\"PASETO v4.public\"}},\"schemas\":{"
             "\"Ad\":{\"type\":\"object\",\"additionalProperties\":true},"
             "\"Problem\":{\"type\":\"object\",\"required\":[\"type\",\"title\",\"status\",\"detail\"],\"properties\":{"
             "\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"status\":{\"type\":\"integer\"},"
             "\"detail\":{\"type\":\"string\"},\"request\":{\"type\":\"string\"}}}}}}\n");
}
