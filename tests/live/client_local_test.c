/* client_local_test.c: what a tool asks by a Unix socket, without a loop and without libcurl: answers of every form, and those that are none. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "lang/base/mem.h"
#include "live/http/client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], place[100];

/* How the server behaves to one caller. */
struct script {
    const char *says; /* NULL: nothing, until the caller goes */
    bool slowly;      /* a byte at a time */
    bool early;       /* before it has read anything */
};

static void script_play(const struct script *script, int fd, FILE *heard)
{
    char text[4096];
    size_t len = script->says ? strlen(script->says) : 0;
    ssize_t got = 0;

    if (!script->early) {
        got = read(fd, text, sizeof text - 1);
        if (got > 0)
            fwrite(text, 1, (size_t)got, heard);
        fflush(heard);
    }
    for (size_t i = 0; i < len; i += script->slowly ? 1 : len)
        if (write(fd, script->says + i, script->slowly ? 1 : len) < 0)
            break;
    if (!script->says)
        while (read(fd, text, sizeof text) > 0)
            ;
    close(fd);
}

/* A server for one caller, at `place`; it writes down what it heard. */
static pid_t serve(const struct script *script)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    char path[160];
    pid_t pid;

    snprintf(name.sun_path, sizeof name.sun_path, "%s", place);
    unlink(place);
    if (bind(listening, (const struct sockaddr *)&name, sizeof name) < 0 || listen(listening, 1) < 0)
        exit(1);
    snprintf(path, sizeof path, "%s/heard", folder);
    pid = fork();
    if (pid == 0) {
        FILE *heard = fopen(path, "w");

        script_play(script, accept(listening, NULL, NULL), heard);
        _exit(0);
    }
    close(listening);
    return pid;
}

static int ask_so(const struct script *script, struct http_call call, struct fetched *ret, struct err *err)
{
    pid_t pid = serve(script);
    int result;

    call.url = call.url ? call.url : "http://localhost/v1/things?a=b%20c";
    call.unix_socket = place;
    *err = (struct err){0};
    *ret = (struct fetched){0};
    result = client_fetch(NULL, &call, ret, err);
    if (result < 0)
        kill(pid, SIGTERM); /* one that was refused never called */
    waitpid(pid, NULL, 0);
    return result;
}

static void answered(const char *says, unsigned status, const char *body, const char *words)
{
    struct fetched fetched;
    struct err err;
    int result = ask_so(&(struct script){.says = says}, (struct http_call){0}, &fetched, &err);

    if (!tap_ok(result == 0 && fetched.result == CALL_ANSWERED && fetched.status == status &&
                    !strcmp(buf_string(&fetched.body), body),
                "%s", words))
        tap_diag("%d, status %u, %s", result, fetched.status, err.text);
    if (result == 0)
        fetched_done(&fetched);
}

static void lost(const struct script *script, struct http_call call, enum call_result wanted, const char *said,
                 const char *words)
{
    struct fetched fetched;
    struct err err;
    int result = ask_so(script, call, &fetched, &err);

    if (!tap_ok(result == -1 && fetched.result == wanted && strstr(err.text, said), "%s", words))
        tap_diag("%d, %s: %s", result, call_result_name(fetched.result), err.text);
    if (result == 0)
        fetched_done(&fetched);
}

static void forms(void)
{
    struct fetched fetched;
    struct err err;
    int result;

    answered("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more", 200, "hello", "a body that is counted");
    answered("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", 200, "hello",
             "one in chunks");
    answered("HTTP/1.0 200 OK\r\n\r\nhello", 200, "hello", "one that ends with the connection");
    answered("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", 404, "no", "an answer whatever its status");
    answered("HTTP/1.1 204 No Content\r\n\r\n", 204, "", "one without a body");
    result = ask_so(
        &(struct script){
            .says = "HTTP/1.1 103 Early\r\nETag: \"1\"\r\n\r\nHTTP/1.1 200 OK\r\nEtag:  \"7\" \r\nBerth-Whole: "
                    "true\r\nBerth-Size: 3\r\nContent-Length: 3\r\n\r\nabc",
            .slowly = true},
        (struct http_call){0}, &fetched, &err);
    tap_ok(result == 0 && fetched.status == 200 && fetched.etag && !strcmp(fetched.etag, "\"7\"") && fetched.whole &&
               !strcmp(fetched.whole, "true") && !strcmp(fetched.size, "3") && !fetched.location &&
               !strcmp(buf_string(&fetched.body), "abc"),
           "fields are read, however slowly they come, and not those of an interim answer");
    if (result == 0)
        fetched_done(&fetched);
}

static void ends(void)
{
    static const struct script silent = {0}, cut = {.says = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhel"},
                               headless = {.says = "HTTP/1.1 200 OK\r\nContent-Le"},
                               strange = {.says = "220 mail.example ESMTP\r\n\r\n"},
                               bad = {.says = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhel"},
                               longer = {.says = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"};
    static const struct http_field field = {"X-Two", "a\r\nX-Three: b"};
    struct fetched fetched;
    struct err err = {0};

    lost(&cut, (struct http_call){0}, CALL_UNKNOWN, "closed", "an answer that is cut is none");
    lost(&headless, (struct http_call){0}, CALL_UNKNOWN, "closed", "nor is one without the end of its head");
    lost(&strange, (struct http_call){0}, CALL_UNKNOWN, "HTTP", "nor words of another protocol");
    lost(&bad, (struct http_call){0}, CALL_UNKNOWN, "malformed", "nor chunks that are not counted");
    lost(&silent, (struct http_call){.timeout = 50000}, CALL_UNKNOWN, "in time", "nobody is waited for for ever");
    lost(&longer, (struct http_call){.bytes_max = 4}, CALL_REFUSED, "more than 4", "more than is wanted is not taken");
    lost(&longer, (struct http_call){.fields = &field, .field_count = 1}, CALL_REFUSED, "character",
         "no field can smuggle in another");
    lost(&longer, (struct http_call){.url = "http://localhost/a b"}, CALL_REFUSED, "", "nor an address a line");
    tap_ok(client_fetch(NULL,
                        &(struct http_call){.url = "http://localhost/", .unix_socket = "/tmp/berth-nobody-is-here"},
                        &fetched, &err) == -1 &&
               fetched.result == CALL_UNREACHED,
           "where nobody listens, surely nothing was sent");
}

static void count_bytes(void *user, const char *bytes, size_t len)
{
    (void)bytes;
    *(size_t *)user += len;
}

static void bodies(void)
{
    size_t size = 900 << 10, count = 0;
    char *much = mem_alloc(size), path[160], text[4096] = "";
    struct fetched fetched;
    struct err err;
    FILE *file;
    int result;

    memset(much, 'x', size);
    result = ask_so(&(struct script){.says = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!", .early = true},
                    (struct http_call){.method = "POST", .body = much, .len = size}, &fetched, &err);
    if (!tap_ok(result == 0 && fetched.status == 413, "a server that refuses what it has not read is heard"))
        tap_diag("%s", err.text);
    if (result == 0)
        fetched_done(&fetched);
    result = ask_so(&(struct script){.says = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
                    (struct http_call){.method = "POST", .type = "text/plain", .token = "v4.x", .body = "ad", .len = 2},
                    &fetched, &err);
    snprintf(path, sizeof path, "%s/heard", folder);
    file = fopen(path, "r");
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    tap_ok(result == 0 && !strncmp(text, "POST /v1/things?a=b%20c HTTP/1.1\r\nHost: localhost\r\n", 50) &&
               strstr(text, "\r\nContent-Type: text/plain\r\n") && strstr(text, "\r\nAuthorization: Bearer v4.x\r\n") &&
               strstr(text, "\r\nContent-Length: 2\r\n") && strstr(text, "\r\n\r\nad"),
           "the request is as another client would send it");
    if (file)
        fclose(file);
    if (result == 0)
        fetched_done(&fetched);
    result = ask_so(
        &(struct script){.says =
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"},
        (struct http_call){.bytes = count_bytes, .bytes_user = &count}, &fetched, &err);
    tap_ok(result == 0 && count == 5 && !fetched.body.len, "bytes are handed on as they come");
    if (result == 0)
        fetched_done(&fetched);
    free(much);
}

static void loads_little(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, "libcurl");
    if (maps)
        fclose(maps);
    tap_ok(maps && !found, "for all that libcurl was not loaded");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    snprintf(folder, sizeof folder, "%s", "/tmp/berth-local-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(place, sizeof place, "%s/socket", folder);
    forms();
    ends();
    bodies();
    loads_little();
    unlink(place);
    snprintf(place, sizeof place, "%s/heard", folder);
    unlink(place);
    rmdir(folder);
    return tap_done();
}
