/* sources_test.c: what a pool has configured: which source is believed, and what is left when none answers. */
#include "live/config/sources.h"

#include "common/folder.h"
#include "common/tap.h"

/* Two servers, each as a test wants it. */
struct server {
    unsigned status; /* 0: it does not answer */
    const char *body, *etag;
    int asked;
    char url[256], got_etag[64];
};

struct servers {
    struct server one, two;
};

static unsigned fetch(void *user, const char *url, const char *etag, struct buf *body, struct buf *ret_etag)
{
    struct servers *servers = user;
    struct server *server = strstr(url, "//one") ? &servers->one : &servers->two;

    server->asked++;
    snprintf(server->url, sizeof server->url, "%s", url);
    snprintf(server->got_etag, sizeof server->got_etag, "%s", etag ? etag : "-");
    if (server->status == 200 && etag && server->etag && !strcmp(etag, server->etag))
        return 304;
    if (server->status == 200) {
        buf_adds(body, server->body);
        buf_adds(ret_etag, server->etag ? server->etag : "");
    }
    return server->status;
}

static bool is_text(const struct buf *buf, const char *want)
{
    bool same = buf->len == strlen(want) && !memcmp(buf->text, want, buf->len);

    if (!same)
        tap_diag("got: %.*s", (int)buf->len, buf->text);
    return same;
}

/* ---------------------------------------------------------------------------------------------------------------- files */

static void test_pick(void)
{
    static const char text[] =
        "[ Base = 10; Agent = [ Modules = { \"job\", Base + 1 }; Deep = [ x = Base ]; None = undefined ]; Odd = 3 ]";
    static const struct {
        const char *section, *option;
        int result;
        const char *want;
    } rows[] = {
        {"Agent", "Modules", 1, "{ \"job\", 11 }"},
        {"agent", "MODULES", 1, "{ \"job\", 11 }"},
        {"Agent", "Deep", 1, "[ x = 10 ]"},
        {"Agent", "None", 1, "undefined"},
        {"Agent", NULL, 1, "[ Modules = { \"job\", 11 }; Deep = [ x = 10 ]; None = undefined ]"},
        {"Agent", "Base", 0, ""},
        {"Nobody", NULL, 0, ""},
        {"Nobody", "x", 0, ""},
        {"Odd", NULL, -1, ""},
        {"Odd", "x", -1, ""},
    };
    static const char bomb[] =
        "[ S = [ a = { b, b, b, b }; b = { c, c, c, c }; c = { d, d, d, d }; d = { e, e, e, e }; e = { f, f, f, f }; f = { g, g, g, g }; g = { h, h, h, h }; h = { i, i, i, i }; i = { j, j, j, j }; j = { k, k, k, k }; k = \"kkkkkkkkkkkk\" ] ]";
    struct err err;
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_reset(&out);
        tap_ok(sources_pick(&out, text, strlen(text), rows[i].section, rows[i].option, &err) == rows[i].result &&
                   is_text(&out, rows[i].want),
               "%s/%s is %s", rows[i].section, rows[i].option ? rows[i].option : "",
               rows[i].result > 0 ? rows[i].want
               : rows[i].result   ? "refused"
                                  : "not there");
    }
    tap_ok(sources_pick(&out, "[ a = ", 6, "a", NULL, &err) < 0 && err.column == 7,
           "a text that is no ad is refused with the place");
    buf_reset(&out);
    tap_ok(sources_pick(&out, bomb, strlen(bomb), "S", NULL, &err) < 0 && out.len == 0,
           "an answer that grows without end is refused");
    buf_done(&out);
}

/* ---------------------------------------------------------------------------------------------------------------- order */

static void test_order(const struct folder *folder)
{
    char site[300], missing[300], cache[300];
    const char *places[] = {missing, site, "https://one/v1/config", "https://two/v1/config/"};
    struct servers servers = {{.status = 200, .body = "{ \"one\" }", .etag = "\"1\""},
                              {.status = 200, .body = "{ \"two\" }", .etag = "\"2\""}};
    struct sources_answer answer;
    struct err err = {0};

    snprintf(missing, sizeof missing, "%s", folder_path(folder, "missing.ad"));
    snprintf(site, sizeof site, "%s",
             folder_put(folder, "site.ad", "[ Local = [ Disk = 7 ]; Agent = [ Name = \"site\" ] ]"));
    snprintf(cache, sizeof cache, "%s", folder_path(folder, "kept"));
    sources_answer_init(&answer);

#define ASK(section, option) sources_get(places, 4, section, option, cache, fetch, &servers, &answer, &err)
    tap_ok(ASK("Local", "Disk") == SOURCES_FOUND && is_text(&answer.text, "7") && is_text(&answer.source, site) &&
               servers.one.asked == 0,
           "the first source that has it wins, and no other is asked");
    tap_ok(ASK("Agent", "Modules") == SOURCES_FOUND && is_text(&answer.text, "{ \"one\" }") && servers.two.asked == 0 &&
               !strcmp(servers.one.url, "https://one/v1/config/Agent/Modules") && !strcmp(servers.one.got_etag, "-"),
           "a source that does not have it is passed over");
    tap_ok(ASK("Agent", "Modules") == SOURCES_FOUND && is_text(&answer.text, "{ \"one\" }") && !answer.kept &&
               !strcmp(servers.one.got_etag, "\"1\""),
           "what has not changed is not sent again");
    servers.one.status = 0;
    tap_ok(ASK("Agent", "Modules") == SOURCES_FOUND && is_text(&answer.text, "{ \"two\" }") &&
               !strcmp(servers.two.url, "https://two/v1/config/Agent/Modules") && !strcmp(servers.two.got_etag, "-"),
           "one that does not answer too, and an ETag is told only to whom it came from");
    servers.two.status = 503;
    tap_ok(ASK("Agent", "Modules") == SOURCES_FOUND && is_text(&answer.text, "{ \"two\" }") && answer.kept &&
               is_text(&answer.source, "https://two/v1/config/"),
           "when no source answers, what was kept is used, and says so");
    tap_ok(ASK("Agent", "Other") == SOURCES_LOST && strstr(err.text, "no source answers for Agent/Other"),
           "what was never known is lost then");
    servers.one = (struct server){.status = 200, .body = "{ \"one\""};
    tap_ok(ASK("Agent", "Modules") == SOURCES_FOUND && answer.kept, "an answer that is no expression is none");
    servers.one = (struct server){.status = 200, .body = "3"};
    tap_ok(ASK("Pool", NULL) == SOURCES_LOST, "nor is a section that is no ad");
    servers.one = (struct server){.status = 200, .body = "[ a = 1 ]", .etag = "bad\r\nX: y"};
    tap_ok(ASK("Pool", NULL) == SOURCES_FOUND && answer.etag.len == 0,
           "an ETag that could not be a header is not kept");
    servers.one = servers.two = (struct server){.status = 404};
    places[0] = site;
    tap_ok(ASK("Agent", "Modules") == SOURCES_NONE,
           "when all say that there is no such thing, what was kept is not used");
    servers.one.status = servers.two.status = 0;
    tap_ok(ASK("Agent", "Modules") == SOURCES_LOST, "and it is kept no longer");
    tap_ok(ASK("../Agent", NULL) == SOURCES_LOST && strstr(err.text, "not the name of a section") &&
               ASK("Agent", "a/b") == SOURCES_LOST && ASK("", NULL) == SOURCES_LOST,
           "names that are paths are refused");
#undef ASK
    sources_answer_done(&answer);
}

/* -------------------------------------------------------------------------------------------------------------- the disk */

static void test_cache(const struct folder *folder)
{
    struct sources_answer answer, again;
    char path[400], cache[300];
    struct stat status;
    struct err err;

    snprintf(cache, sizeof cache, "%s", folder_path(folder, "disk"));
    sources_answer_init(&answer);
    sources_answer_init(&again);
    buf_adds(&answer.text, "[ a = \"caf\xc3\xa9 \\\" \\\\ \\n\" ]");
    buf_adds(&answer.etag, "W/\"x\"");
    buf_adds(&answer.source, "https://mm/v1/config");
    tap_ok(sources_cache_read(cache, "Agent", NULL, &again, &err) == 0, "nothing is kept at first");
    tap_ok(sources_cache_write(cache, "Agent", NULL, &answer, &err) == 0 &&
               sources_cache_read(cache, "agent", NULL, &again, &err) == 1 && again.text.len == answer.text.len &&
               !memcmp(again.text.text, answer.text.text, again.text.len) && is_text(&again.etag, "W/\"x\"") &&
               is_text(&again.source, "https://mm/v1/config"),
           "what is written is read again, byte by byte");
    snprintf(path, sizeof path, "%s/agent.ad", cache);
    tap_ok(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600 && stat(cache, &status) == 0 &&
               (status.st_mode & 0777) == 0700,
           "what is kept is for the owner alone");
    tap_ok(sources_cache_read(cache, "Agent", "x", &again, &err) == 0, "a section is not its option");
    folder_put(folder, "disk/agent.ad", "[Source=\"x\";Etag=\"\";Text=");
    tap_ok(sources_cache_read(cache, "Agent", NULL, &again, &err) < 0 && strstr(err.text, "agent.ad: "),
           "a torn file is refused");
    folder_put(folder, "disk/agent.ad", "[Source=\"x\";Etag=\"\";Text=\"((\"]");
    tap_ok(sources_cache_read(cache, "Agent", NULL, &again, &err) < 0, "and one in which there is no answer");
    folder_put(folder, "blocked", "x");
    tap_ok(sources_cache_write(folder_path(folder, "blocked/kept"), "Agent", NULL, &answer, &err) < 0,
           "a folder that cannot be made is told");
    sources_answer_done(&answer);
    sources_answer_done(&again);
}

int main(void)
{
    struct folder folder;

    folder_init(&folder);
    test_pick();
    test_order(&folder);
    test_cache(&folder);
    folder_done(&folder);
    return tap_done();
}
