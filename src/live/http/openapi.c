/* openapi.c: the routes as OpenAPI 3.1, for programs that read it. Written from the tables alone. */
#include "live/http/route.h"

#include "lang/base/json.h"

#include <ctype.h>
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

/* Prints the types of an answer: JSON as an object, all others as text. */
static void types_print(struct buf *out, const char *types)
{
    const char *between = ",\"content\":{";
    size_t len;

    if (!*types)
        return;
    for (; (len = word_next(&types)); types += len) {
        bool json = len == 16 && !memcmp(types, "application/json", 16);

        buf_addf(out, "%s\"%.*s\":{\"schema\":%s}", between, (int)len, types,
                 json ? "{\"type\":[\"object\",\"array\"]}" : "{\"type\":\"string\"}");
        between = ",";
    }
    buf_addc(out, '}');
}

static void answer_print(struct buf *out, const char *status, size_t len, const char *types, const char **between)
{
    for (size_t i = 0; i < sizeof answer_rows / sizeof *answer_rows; i++) {
        if (strlen(answer_rows[i].status) != len || memcmp(answer_rows[i].status, status, len) != 0)
            continue;
        buf_addf(out, "%s\"%s\":{\"description\":", *between, answer_rows[i].status);
        quoted(out, answer_rows[i].description);
        if (answer_rows[i].problem)
            buf_adds(out, ",\"content\":{\"application/problem+json\":{\"schema\":{\"$ref\":"
                          "\"#/components/schemas/Problem\"}}}");
        else if (*status == '2' && memcmp(status, "204", 3) != 0)
            types_print(out, types);
        buf_addc(out, '}');
        *between = ",";
    }
}

static void answers_print(struct buf *out, const struct route *route)
{
    const char *between = "", *words = route->answers;
    size_t len;

    buf_adds(out, "\"responses\":{");
    for (; (len = word_next(&words)); words += len)
        answer_print(out, words, len, route->types, &between);
    if (route->scope != SCOPE_NONE) {
        static const char *const known[] = {"401", "403", "406", "429"};

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (!strstr(route->answers, known[i]))
                answer_print(out, known[i], 3, "", &between);
    }
    if (!strstr(route->answers, "400"))
        answer_print(out, "400", 3, "", &between);
    if (!strstr(route->answers, "503"))
        answer_print(out, "503", 3, "", &between);
    buf_addc(out, '}');
}

static void variables_print(struct buf *out, const char *path, const char **between)
{
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{')) {
        buf_addf(out, "%s{\"name\":\"%.*s\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}",
                 *between, (int)strcspn(at + 1, "}"), at + 1);
        *between = ",";
    }
}

static void parameters_print(struct buf *out, const struct route_table *table, const struct route *route)
{
    const struct parameter *parameters = table->parameters;
    const char *between = "", *words = route->parameters;
    size_t len;

    buf_adds(out, "\"parameters\":[");
    variables_print(out, route->path, &between);
    for (; (len = word_next(&words)); words += len) {
        for (size_t i = 0; i < table->parameter_count; i++) {
            if (strlen(parameters[i].name) != len || memcmp(parameters[i].name, words, len) != 0)
                continue;
            buf_addf(out, "%s{\"name\":\"%s\",\"in\":\"query\",\"schema\":{\"type\":\"%s\"},\"description\":", between,
                     parameters[i].name, parameters[i].type);
            quoted(out, parameters[i].help);
            buf_addc(out, '}');
            between = ",";
        }
    }
    buf_addc(out, ']');
}

static void body_print(struct buf *out, const struct route *route)
{
    static const char *const content[] = {
        [BODY_AD] = "{\"application/classad\":{\"schema\":{\"type\":\"string\"}},"
                    "\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Ad\"}}}",
        [BODY_RESOURCE] = "{\"application/classad\":{\"schema\":{\"type\":\"string\"}},"
                          "\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Ad\"}},"
                          "\"application/grdl+xml\":{\"schema\":{\"type\":\"string\"}},"
                          "\"application/grdl+json\":{\"schema\":{\"type\":\"object\"}}}",
        [BODY_ADS] = "{\"application/classad\":{\"schema\":{\"type\":\"string\"}},"
                     "\"application/json\":{\"schema\":{\"type\":\"array\",\"items\":{\"$ref\":"
                     "\"#/components/schemas/Ad\"}}}}",
        [BODY_BYTES] = "{\"application/octet-stream\":{\"schema\":{\"type\":\"string\"}}}",
    };

    if (route->body != BODY_NONE)
        buf_addf(out, ",\"requestBody\":{\"content\":%s}", content[route->body]);
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
    buf_addc(out, '"');
    for (const char *at = method_name(route->method); *at; at++)
        buf_addc(out, (char)tolower((unsigned char)*at));
    buf_adds(out, "\":{\"operationId\":");
    quoted(out, route->id);
    buf_adds(out, ",\"summary\":");
    quoted(out, route->summary);
    buf_addc(out, ',');
    parameters_print(out, table, route);
    body_print(out, route);
    buf_addc(out, ',');
    answers_print(out, route);
    security_print(out, route->scope);
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
