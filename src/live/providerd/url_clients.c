/* url_clients.c: programs that the owner names for URLs that we have no way to ourselves (settings UrlClients and UrlPutClients).
 *
 *     "osdf = /usr/bin/pelican object get"     -> PROGRAM WORDS... URL FILE, in a sandbox with the network (exec/url_client.h), for an hour at most
 *     "root = /usr/bin/xrdcp -f"               -> PROGRAM WORDS... FILE URL, likewise, with a copy of the file
 *
 * The machine's ad says for which: Fetches = { ..., "osdf" }, Brings = { ..., "root" }. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "live/providerd/providerd_parts.h"

#include "exec/self.h"
#include "exec/url_client.h"
#include "lang/base/mem.h"
#include "pool/protocol/job_urls.h"
#include "sys/trash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLIENT_SECONDS 3600 /* that one file may take */
#define CLIENT_WORDS 32     /* of a program, with its name */
#define CLIENT_LINE 1024    /* bytes of them */
#define SAID_MAX 200        /* of what it says that are told */

/* A program for URLs of one sort. */
struct client_line {
    char text[CLIENT_LINE];
    const char *scheme, *words[CLIENT_WORDS];
    size_t count;
};

struct url_client {
    struct url_client *next;
    struct providerd *providerd;
    url_client_fn *done; /* NULL: nobody waits for it any more */
    void *user;
    char folder[DAEMON_PATH_MAX], part[DAEMON_PATH_MAX];
    enum url_client_way way;
    int64_t bytes;
    uv_process_t process;
    uv_timer_t late;
    int says; /* a file that it writes what is wrong to */
    int closing;
    bool was_late;
};

/* ------------------------------------------------------------------------------------------------------------- the setting */

static bool is_own_scheme(const char *scheme)
{
    return !strcmp(scheme, "file") || !strcmp(scheme, "http") || !strcmp(scheme, "https") || !strcmp(scheme, "put");
}

/* Reads "osdf = /usr/bin/pelican object get". False: it is none. */
static bool line_read(const char *text, struct client_line *line)
{
    char *equals, *rest, *word;

    line->count = 0;
    if (snprintf(line->text, sizeof line->text, "%s", text) >= (int)sizeof line->text)
        return false;
    equals = strchr(line->text, '=');
    if (!equals)
        return false;
    *equals = '\0';
    line->scheme = strtok_r(line->text, " \t", &rest);
    if (!line->scheme || strtok_r(NULL, " \t", &rest) || is_own_scheme(line->scheme))
        return false;
    for (word = strtok_r(equals + 1, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (line->count == CLIENT_WORDS)
            return false;
        line->words[line->count++] = word;
    }
    return line->count && *line->words[0] == '/';
}

static const char *const *lines_of(const struct providerd *providerd, enum url_client_way way, size_t *ret_count)
{
    return config_list(&providerd->daemon.config, way == URL_CLIENT_PUT ? CONFIG_URL_PUT_CLIENTS : CONFIG_URL_CLIENTS,
                       ret_count);
}

static int lines_check(const struct providerd *providerd, enum url_client_way way, struct err *err)
{
    const char *name = way == URL_CLIENT_PUT ? "UrlPutClients" : "UrlClients";
    struct client_line line;
    size_t count;
    const char *const *list = lines_of(providerd, way, &count);

    for (size_t i = 0; i < count; i++) {
        char url[64];

        if (!line_read(list[i], &line))
            return err_set(err, "%s: expected \"SCHEME = /PROGRAM WORDS\", got \"%.80s\"", name, list[i]);
        snprintf(url, sizeof url, "%.40s://x/", line.scheme);
        if (url_scheme_len(url, strlen(url)) != strlen(line.scheme))
            return err_set(err, "%s: '%.40s' is not the beginning of a URL", name, line.scheme);
        if (access(line.words[0], X_OK) != 0)
            return err_set(err, "%s: %.200s: %s", name, line.words[0], strerror(errno));
    }
    return 0;
}

int url_clients_check(const struct providerd *providerd, struct err *err)
{
    return lines_check(providerd, URL_CLIENT_GET, err) < 0 ? -1 : lines_check(providerd, URL_CLIENT_PUT, err);
}

/* The user as whom it runs; false: there is no sandbox here. */
static bool client_user(const struct providerd *providerd, uint32_t *ret)
{
    const struct executor *executor = providerd->executor;

    return executor && executor->kind->takes_images && executor->kind->takes_images(executor, ret);
}

/* The line for a URL; false: there is none. */
static bool line_find(const struct providerd *providerd, enum url_client_way way, const char *url,
                      struct client_line *line)
{
    size_t count, len = url_scheme_len(url, strlen(url));
    const char *const *list = lines_of(providerd, way, &count);

    for (size_t i = 0; i < count; i++)
        if (line_read(list[i], line) && strlen(line->scheme) == len && !memcmp(line->scheme, url, len))
            return true;
    return false;
}

size_t url_clients_schemes(const struct providerd *providerd, enum url_client_way way,
                           char ret[URL_CLIENTS_MAX][URL_SCHEME_ROOM])
{
    struct client_line line;
    size_t count, known = 0;
    const char *const *list = lines_of(providerd, way, &count);
    uint32_t uid;

    if (!client_user(providerd, &uid))
        return 0;
    for (size_t i = 0; i < count && known < URL_CLIENTS_MAX; i++)
        if (line_read(list[i], &line))
            snprintf(ret[known++], URL_SCHEME_ROOM, "%.*s", URL_SCHEME_ROOM - 1, line.scheme);
    return known;
}

/* ------------------------------------------------------------------------------------------------------------ one of them */

static void handle_closed(uv_handle_t *handle)
{
    struct url_client *client = handle->data;

    if (--client->closing)
        return;
    if (client->says >= 0)
        close(client->says);
    free(client);
}

static void client_close(struct url_client *client, bool spawned)
{
    struct url_client **link = &client->providerd->url_clients;

    while (*link && *link != client)
        link = &(*link)->next;
    if (*link)
        *link = client->next;
    client->closing = spawned ? 2 : 1;
    if (spawned)
        uv_close((uv_handle_t *)&client->process, handle_closed);
    uv_close((uv_handle_t *)&client->late, handle_closed);
}

/* The last line that it has said. */
static void said_read(const struct url_client *client, char ret[SAID_MAX + 1])
{
    char text[4096 + 1], *line;
    struct stat info;
    off_t from = fstat(client->says, &info) == 0 && info.st_size > 4096 ? info.st_size - 4096 : 0;
    ssize_t len = pread(client->says, text, 4096, from);

    text[len > 0 ? len : 0] = '\0';
    for (size_t end = strlen(text); end && (unsigned char)text[end - 1] <= ' '; end--)
        text[end - 1] = '\0';
    line = strrchr(text, '\n');
    snprintf(ret, SAID_MAX + 1, "%.*s", SAID_MAX, line ? line + 1 : text);
    for (char *c = ret; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
}

/* Takes what it has brought to its place. -1 and `err`. */
static int file_take(const struct url_client *client, int64_t *ret_size, struct err *err)
{
    char path[DAEMON_PATH_MAX + 16];
    struct stat info;

    snprintf(path, sizeof path, "%s/" URL_CLIENT_FILE, client->folder);
    if (lstat(path, &info) < 0 || !S_ISREG(info.st_mode))
        return err_set(err, "the client that the owner names has brought no file");
    if (info.st_size > client->bytes)
        return err_set(err, "it is larger than RequestDisk");
    if (rename(path, client->part) < 0)
        return err_set(err, "%s", strerror(errno));
    *ret_size = info.st_size;
    return 0;
}

static void client_ended(uv_process_t *process, int64_t status, int signal)
{
    struct url_client *client = process->data;
    char said[SAID_MAX + 1], why[ERR_TEXT_MAX + 64] = "";
    struct err err = {0};
    int64_t size = 0;

    said_read(client, said);
    if (client->was_late)
        snprintf(why, sizeof why, "it took longer than an hour");
    else if (client->way == URL_CLIENT_GET && (signal == SIGXFSZ || strstr(said, "File too large")))
        snprintf(why, sizeof why, "it is larger than RequestDisk");
    else if (status || signal)
        snprintf(why, sizeof why, "the client that the owner names says: %s", *said ? said : "nothing");
    else if (client->way == URL_CLIENT_GET && client->done && file_take(client, &size, &err) < 0)
        snprintf(why, sizeof why, "%s", err.text);
    if (client->providerd->trash && trash_take(client->providerd->trash, client->folder, &err) < 0)
        LOG(&client->providerd->daemon.log, LEVEL_WARNING, "url.client", log_text("why", err.text));
    if (client->done)
        client->done(client->user, *why ? why : NULL, size);
    client_close(client, true);
}

static void client_late(uv_timer_t *timer)
{
    struct url_client *client = timer->data;

    client->was_late = true;
    uv_process_kill(&client->process, SIGKILL);
}

struct url_client *url_client_start(struct providerd *providerd, const struct url_client_order *order,
                                    url_client_fn *done, void *user, struct err *err)
{
    bool put = order->way == URL_CLIENT_PUT;
    struct url_client *client;
    struct client_line line;
    char self[SELF_MAX], bytes[32], id[16];
    const char *words[CLIENT_WORDS + 9];
    uv_stdio_container_t streams[3] = {{.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD}};
    uv_process_options_t options = {
        .exit_cb = client_ended, .args = (char **)(uintptr_t)words, .stdio_count = 3, .stdio = streams};
    size_t count = 0;
    uint32_t uid;
    int failed;

    if (!line_find(providerd, order->way, order->url, &line) || !client_user(providerd, &uid)) {
        err_set(err, put ? "this machine brings nothing to such URLs" : "this machine fetches no such URLs");
        return NULL;
    }
    client = mem_alloc(sizeof *client);
    memset(client, 0, sizeof *client);
    client->providerd = providerd;
    client->done = done;
    client->user = user;
    client->way = order->way;
    client->bytes = order->bytes;
    snprintf(client->part, sizeof client->part, "%s", order->part);
    snprintf(client->folder, sizeof client->folder, "%.4000s.client", order->part);
    trash_take(providerd->trash, client->folder, err);
    client->says = open(providerd->daemon.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    snprintf(bytes, sizeof bytes, "%lld", (long long)order->bytes);
    snprintf(id, sizeof id, "%u", uid);
    words[count++] = "berth";
    words[count++] = "url-client";
    words[count++] = put ? "put" : "get";
    words[count++] = client->folder;
    words[count++] = bytes;
    words[count++] = id;
    words[count++] = order->url;
    for (size_t i = 0; i < line.count; i++)
        words[count++] = line.words[i];
    words[count] = NULL;
    options.file = self_program(self);
    if (put)
        streams[0] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = order->from};
    streams[2].data.fd = client->says;
    client->process.data = client;
    client->late.data = client;
    uv_timer_init(&providerd->daemon.loop, &client->late);
    failed = client->says < 0 ? UV_EIO : uv_spawn(&providerd->daemon.loop, &client->process, &options);
    if (failed) {
        err_set(err, "the client that the owner names: %s", uv_strerror(failed));
        client_close(client, client->says >= 0);
        return NULL;
    }
    client->next = providerd->url_clients;
    providerd->url_clients = client;
    uv_timer_start(&client->late, client_late, UINT64_C(1000) * CLIENT_SECONDS, 0);
    return client;
}

void url_client_cancel(struct url_client *client)
{
    if (!client)
        return;
    client->done = NULL;
    uv_process_kill(&client->process, SIGKILL);
}

void url_clients_done(struct providerd *providerd)
{
    while (providerd->url_clients) {
        uv_process_kill(&providerd->url_clients->process, SIGKILL);
        client_close(providerd->url_clients, true);
    }
}
