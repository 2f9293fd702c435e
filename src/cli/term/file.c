/* file.c: ads and text from files and standard input; results to standard output. */
#include "cli/term/file.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/eval.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)
#define RECENT_MAX (256u << 10) /* bytes kept for the caret */

static int file_open(const char *name, struct err *err)
{
    int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

    if (fd < 0)
        err_set(err, "%s", strerror(errno));
    return fd;
}

static void file_close(int fd)
{
    if (fd > STDIN_FILENO)
        close(fd);
}

/* Reads once. EINTR is an error: only ctrl-c at the prompt causes it, and with it the user gives up on a file that does not come. */
static ptrdiff_t read_some(int fd, char *out, size_t room, struct err *err)
{
    ssize_t got = read(fd, out, room);

    return got < 0 ? err_set(err, "%s", strerror(errno)) : got;
}

int folder_make(const char *path)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len >= sizeof part) {
        report("%.60s...: the name of the folder is too long", path);
        return -1;
    }
    for (size_t i = 1; i <= len; i++) {
        if (path[i] && path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST) {
            report("%s: the folder cannot be made: %s", part, strerror(errno));
            return -1;
        }
    }
    return 0;
}

int folder_make_own(const char *path)
{
    struct stat about;

    if (folder_make(path) < 0)
        return -1;
    if (stat(path, &about) < 0 || !S_ISDIR(about.st_mode))
        report("%s: this is not a folder", path);
    else if (about.st_uid != geteuid())
        report("%s: the folder belongs to another user: name another by --state, or have it given to this one", path);
    else if (about.st_mode & 077)
        report("%s: others may enter the folder, and with it keys, tokens and a socket are theirs: say chmod 700 %s",
               path, path);
    else
        return 0;
    return -1;
}

bool text_line(const char *text, size_t len, unsigned line, const char **ret_line, size_t *ret_len)
{
    const char *end = text + len, *newline;

    for (; line > 1; line--) {
        newline = len ? memchr(text, '\n', (size_t)(end - text)) : NULL;
        if (!newline)
            return false;
        text = newline + 1;
    }
    newline = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
    *ret_line = text;
    *ret_len = (size_t)((newline ? newline : end) - text);
    return true;
}

size_t text_mark(const char *text, size_t len)
{
    return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* Keeps what was read; when that is too much, the older half goes, up to the end of a line. */
static void source_keep(struct input_source *source, const char *text, size_t len)
{
    struct buf *recent = &source->recent;

    buf_add(recent, text, len);
    if (recent->len > RECENT_MAX && !source->keeps_all) {
        const char *end = recent->text + recent->len, *cut = end - RECENT_MAX / 2;
        const char *newline = memchr(cut, '\n', (size_t)(end - cut));

        cut = newline ? newline + 1 : end;
        for (const char *at = recent->text; at < cut; at++)
            source->recent_line += *at == '\n';
        memmove(recent->text, cut, (size_t)(end - cut));
        recent->len = (size_t)(end - cut);
        source->keeps = newline != NULL; /* a line longer than the whole buffer is not shown */
    }
}

static ptrdiff_t source_read(void *user, char *out, size_t room, struct err *err)
{
    struct input_source *source = user;
    ptrdiff_t got;

    if (source->given) {
        size_t left = source->given->len - source->given_at;

        got = (ptrdiff_t)(left < room ? left : room);
        if (got)
            memcpy(out, source->given->text + source->given_at, (size_t)got);
        source->given_at += (size_t)got;
    } else {
        got = read_some(source->fd, out, room, err);
    }
    if (source->keeps && got > 0)
        source_keep(source, out, (size_t)got);
    return got;
}

static void source_begin(struct input_source *source, struct symbols *symbols, const struct dialect *dialect,
                         enum form form)
{
    static const struct form_limits limits = {.cells = PARSE_CELLS_MAX};

    source->keeps = report_wants_line();
    source->reader = form_reader_new(symbols, dialect, form, &limits, source_read, source);
}

void source_open_text(struct input_source *source, struct symbols *symbols, const struct dialect *dialect,
                      enum form form, const char *name, const struct buf *text)
{
    *source = (struct input_source){.name = name, .fd = -1, .given = text, .recent_line = 1};
    buf_init(&source->recent);
    source_begin(source, symbols, dialect, form);
}

int source_open(struct input_source *source, struct symbols *symbols, const struct dialect *dialect, enum form form,
                const char *name)
{
    struct err err;

    *source = (struct input_source){.name = name, .fd = file_open(name, &err), .recent_line = 1};
    buf_init(&source->recent);
    if (source->fd < 0) {
        report_error(name, &err, NULL, 0);
        return -1;
    }
    source_begin(source, symbols, dialect, form);
    return 0;
}

void source_keep_all(struct input_source *source)
{
    source->keeps = source->keeps_all = true;
}

int source_next(struct input_source *source, struct tree **ret_ad)
{
    const char *line = NULL;
    size_t len = 0;
    struct err err;
    int got = form_reader_next(source->reader, ret_ad, &err);

    if (got > 0)
        source->count++;
    if (got >= 0)
        return got;
    if (!source->keeps || err.line < source->recent_line ||
        !text_line(source->recent.text, source->recent.len, err.line - source->recent_line + 1, &line, &len))
        line = NULL;
    if (line && err.line == 1) { /* columns count from behind the byte order mark */
        size_t mark = text_mark(line, len);

        line += mark;
        len -= mark;
    }
    report_error(source->name, &err, line, len);
    return -1;
}

void source_close(struct input_source *source)
{
    form_reader_free(source->reader);
    buf_done(&source->recent);
    file_close(source->fd);
    source->fd = -1;
    source->reader = NULL;
}

struct tree *file_first_ad(struct symbols *symbols, const struct dialect *dialect, const char *name)
{
    struct tree *ad = NULL;
    struct input_source source;

    if (source_open(&source, symbols, dialect, FORM_UNKNOWN, name) == 0 && source_next(&source, &ad) == 0)
        report("%s: there is no ad in this file", name);
    source_close(&source);
    return ad;
}

int file_read(const char *name, struct buf *ret_text)
{
    struct err err;
    ptrdiff_t got;
    int fd = file_open(name, &err);

    if (fd < 0)
        goto fail;
    do {
        got = read_some(fd, buf_reserve(ret_text, READ_SIZE), READ_SIZE, &err);
        if (got > 0)
            ret_text->len += (size_t)got;
    } while (got > 0);
    file_close(fd);
    if (got == 0)
        return 0;
fail:
    report_error(name, &err, NULL, 0);
    return -1;
}

/* Appends the name of a job of HTCondor's queue, which is made of its numbers: 101.0. False when the ad does not have them. */
static bool name_of_numbers(struct buf *out, struct eval *eval, const struct scope *scope)
{
    static const char *const names[] = {"ClusterId", "ProcId"};
    struct value value[2];

    for (int i = 0; i < 2; i++) {
        symbol name = symbols_find(scope->tree->symbols, names[i], strlen(names[i]));

        if (!name || !eval_attribute(eval, scope, name, &value[i]) || value[i].type != VALUE_INTEGER)
            return false;
    }
    buf_addf(out, "%" PRId64 ".%" PRId64, value[0].u.integer, value[1].u.integer);
    return true;
}

void ad_name(struct buf *out, const struct tree *ad, unsigned place)
{
    const struct env env = {0};
    struct value value;
    struct arena arena;
    struct scope scope;
    struct eval eval;

    arena_init(&arena);
    eval_init(&eval, &env, &arena);
    scope_init(&scope, ad, NULL);
    eval_attribute(&eval, &scope, NAME_NAME, &value);
    if (value.type == VALUE_STRING)
        buf_add(out, value.u.string, value.len);
    else if (!name_of_numbers(out, &eval, &scope))
        buf_addf(out, "#%u", place);
    arena_done(&arena);
}

int output_write(struct buf *out)
{
    if (out->len)
        fwrite(out->text, 1, out->len, stdout);
    buf_reset(out);
    return ferror(stdout) ? -1 : 0;
}

int output_flush(void)
{
    return fflush(stdout) != 0 || ferror(stdout) ? -1 : 0;
}

int output_finish(int status)
{
    int failed = ferror(stdout), reason = errno;

    errno = 0;
    if (fflush(stdout) != 0 || failed) {
        if (errno == 0)
            errno = reason;
        if (errno != EPIPE) /* a reader that has seen enough is not an error */
            report("standard output: %s", strerror(errno));
        return STATUS_BAD;
    }
    return status;
}

char *file_in(const char *folder, const char *name)
{
    struct buf path;
    char *text;

    buf_init(&path);
    if (*name != '/' && strcmp(folder, ".") != 0)
        buf_addf(&path, "%s/", folder);
    buf_adds(&path, name);
    text = mem_dup(path.text, path.len);
    buf_done(&path);
    return text;
}
