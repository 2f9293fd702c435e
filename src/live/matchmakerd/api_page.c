/* api_page.c: the page for browsers: files that are built into the program; or, without those, a plain page with links.
 *
 * The files are the same for all and open to all: they ask for what they show by the ordinary routes, with a token. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/page.h"
#include "live/matchmakerd/request_role.h"

#include <stdio.h>
#include <string.h>

/* Nothing is loaded from elsewhere, no script runs but those of the files, and no frame may hold the page. */
#define POLICY                                                                                         \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char plain_page[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Berth</title></head><body>\n"
    "<h1>Berth</h1>\n<p>This is the matchmaker of a pool. %s</p>\n<ul>\n"
    "<li><a href=\"/openapi.json\">/openapi.json</a>: its interface, for programs</li>\n"
    "<li><a href=\"/v1\">/v1</a>: what this pool is</li>\n"
    "<li><a href=\"/v1/status\">/v1/status</a>, <a href=\"/v1/ads\">/v1/ads</a>: with a token</li>\n"
    "<li><code>berth status</code>, <code>berth ads</code>, <code>berth jobs</code>: the same by the command line</li>\n"
    "</ul>\n</body></html>\n";

static const struct page_file *file_find(const char *path)
{
    for (const struct page_file *file = page_files; file->path; file++)
        if (!strcmp(file->path, path))
            return file;
    return NULL;
}

static bool takes_gzip(const struct request *request)
{
    const char *field = exchange_field(request->exchange, "Accept-Encoding");

    return field && strstr(field, "gzip");
}

static void answer_plain(struct request *request, const char *words)
{
    static const struct http_field fields[] = {{"Content-Security-Policy", POLICY},
                                               {"X-Content-Type-Options", "nosniff"}};
    struct buf *out = &request_matchmakerd(request)->out;

    buf_reset(out);
    buf_addf(out, plain_page, words);
    request_answer(request, 200, "text/html; charset=utf-8", out->text, out->len, fields, 2);
}

/* `cache`: how long the file may be kept. */
static void answer_file(struct request *request, const struct page_file *file, const char *cache)
{
    const struct http_field fields[] = {{"Content-Security-Policy", POLICY},
                                        {"X-Content-Type-Options", "nosniff"},
                                        {"Referrer-Policy", "no-referrer"},
                                        {"Content-Encoding", "gzip"},
                                        {"Cache-Control", cache},
                                        {"ETag", file->etag}};

    if (!answered_unchanged(request, file->etag))
        request_answer(request, 200, file->type, (const char *)file->bytes, file->len, fields,
                       sizeof fields / sizeof *fields);
}

void api_page(struct request *request)
{
    const struct page_file *file = file_find("/");

    if (!file)
        answer_plain(request, "It was built without its page.");
    else if (!takes_gzip(request))
        answer_plain(request, "Its page is for browsers.");
    else
        answer_file(request, file, "no-cache");
}

/* Assets may be kept for ever: their names change with their contents. */
void api_page_asset(struct request *request)
{
    char path[ROUTE_VARIABLE_MAX + 16];
    const struct page_file *file;

    snprintf(path, sizeof path, "/assets/%s", request_variable(request, 0));
    file = file_find(path);
    if (!file)
        request_problem(request, 404, "there is no such file");
    else if (!takes_gzip(request))
        request_problem(request, 406, "Accept-Encoding: this is sent only with gzip");
    else
        answer_file(request, file, "public, max-age=31536000, immutable");
}
