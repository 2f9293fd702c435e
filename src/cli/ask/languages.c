/* languages.c: files of jobs in other languages than ads. */
#define _GNU_SOURCE /* pipe2, environ */
#include "cli/ask/languages.h"

#include "cli/term/file.h"
#include "cli/term/report.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct surroundings {
    const char *file, *folder;
    const struct buf *text;
    char here[PATH_MAX];
    struct utsname machine;
    submit_ad_fn *each;
    void *user;
    bool stopped;             /* `each` has stopped the reading, and said why */
    struct textmap *remarked; /* or NULL */
};

int option_language(const char *text, void *target, struct err *err)
{
    enum submit_language language = submit_language_find(text);

    if (language == SUBMIT_UNKNOWN)
        return err_set(err, "expected ad, submit or jdl, got '%.60s'", text);
    *(enum submit_language *)target = language;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ what is asked */

static void path_of(const char *folder, const char *name, char ret[PATH_MAX])
{
    if (*name == '/' || !strcmp(folder, "."))
        snprintf(ret, PATH_MAX, "%s", name);
    else
        snprintf(ret, PATH_MAX, "%s/%s", folder, name);
}

static int text_of_file(void *user, const char *name, struct buf *ret, struct err *err)
{
    const struct surroundings *around = user;
    char path[PATH_MAX];
    ssize_t got = 0;
    int fd;

    path_of(around->folder, name, path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, "%s", strerror(errno));
    while (ret->len <= SUBMIT_BYTES_MAX && (got = read(fd, buf_reserve(ret, 65536), 65536)) > 0)
        ret->len += (size_t)got;
    if (got < 0)
        err_set(err, "%s", strerror(errno));
    close(fd);
    return got < 0 ? -1 : 0;
}

int language_match(const char *folder, const char *pattern, enum submit_match what, struct buf *ret, struct err *err)
{
    size_t prefix = *pattern == '/' || !strcmp(folder, ".") ? 0 : strlen(folder) + 1;
    char path[PATH_MAX];
    glob_t found;
    int result;

    path_of(folder, pattern, path);
    result = glob(path, GLOB_MARK, NULL, &found);
    if (result == GLOB_NOMATCH)
        return 0;
    if (result)
        return err_set(err, "%s", result == GLOB_NOSPACE ? "too much memory is needed" : strerror(errno));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = found.gl_pathv[i] + prefix;
        size_t len = strlen(name);
        bool is_folder = len && name[len - 1] == '/';

        if (what != SUBMIT_MATCH_ANY && is_folder != (what == SUBMIT_MATCH_FOLDERS))
            continue;
        if (memchr(name, '\n', len)) {
            result = err_set(err, "the name of a file has a line end in it");
            break;
        }
        buf_add(ret, name, len - is_folder);
        buf_addc(ret, '\n');
    }
    globfree(&found);
    return result;
}

/* Local time is that of this machine. */
static int64_t local_offset(void *user, int64_t moment)
{
    time_t at = (time_t)moment;
    struct tm local;

    (void)user;
    return localtime_r(&at, &local) ? local.tm_gmtoff : 0;
}

static int names_that_match(void *user, const char *pattern, enum submit_match what, struct buf *ret, struct err *err)
{
    return language_match(((const struct surroundings *)user)->folder, pattern, what, ret, err);
}

static const char *variable(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

/* What a command prints, run by the shell in the folder from which names are looked up. */
static int text_of_command(void *user, const char *command, struct buf *ret, struct err *err)
{
    const struct surroundings *around = user;
    int pair[2], status = 0;
    ssize_t got = 0;
    pid_t child;

    if (pipe2(pair, O_CLOEXEC) < 0)
        return err_set(err, "%s", strerror(errno));
    child = fork();
    if (child == 0) {
        if (chdir(around->folder) == 0 && dup2(pair[1], STDOUT_FILENO) >= 0)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    while (child > 0 && ret->len <= SUBMIT_BYTES_MAX &&
           ((got = read(pair[0], buf_reserve(ret, 65536), 65536)) > 0 || (got < 0 && errno == EINTR)))
        ret->len += got > 0 ? (size_t)got : 0;
    close(pair[0]); /* one that prints without end is ended by this */
    if (child < 0 || got < 0 || waitpid(child, &status, 0) < 0)
        return err_set(err, "%s", strerror(errno));
    if (ret->len > SUBMIT_BYTES_MAX)
        return err_set(err, "it prints more than %u bytes", SUBMIT_BYTES_MAX);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(err, WIFEXITED(status) ? "it ended with status %d" : "it was ended by signal %d",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}

static uint64_t any_number(void *user)
{
    uint64_t number = 0;

    (void)user;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint64_t)time(NULL);
    return number;
}

/* ----------------------------------------------------------------------------------------------------------------- reading */

static void place_report(const struct surroundings *around, const struct err *err)
{
    const char *line = NULL;
    size_t len = 0;

    if (!err->line || !text_line(around->text->text, around->text->len, err->line, &line, &len))
        line = NULL;
    report_error(around->file, err, line, len);
}

/* Was the same remark made about the same place before? If not, it is noted now. */
static bool is_repeated(const struct surroundings *around, const struct err *remark)
{
    struct buf said;
    uint32_t before;

    if (!around->remarked)
        return false;
    before = around->remarked->count;
    buf_init(&said);
    buf_addf(&said, "%s:%u:%u: %s", around->file, remark->line, remark->column, remark->text);
    textmap_add(around->remarked, said.text, said.len);
    buf_done(&said);
    return around->remarked->count == before;
}

static void remark_report(void *user, const struct err *remark)
{
    struct err warning = *remark;

    if (is_repeated(user, remark))
        return;
    err_context(&warning, "warning");
    place_report(user, &warning);
}

static int ad_pass(void *user, struct tree *ad, unsigned line)
{
    struct surroundings *around = user;
    int result = around->each(around->user, ad, line);

    around->stopped = result < 0;
    return result;
}

static void upper(char *text)
{
    for (; *text; text++)
        *text = (char)toupper((unsigned char)*text);
}

int language_read(struct symbols *symbols, enum submit_language language, const char *file, const struct buf *text,
                  const char *folder, submit_ad_fn *each, void *user)
{
    return language_read_given(symbols, language, file, text, folder, NULL, each, user);
}

int language_read_given(struct symbols *symbols, enum submit_language language, const char *file,
                        const struct buf *text, const char *folder, const struct language_given *given,
                        submit_ad_fn *each, void *user)
{
    struct surroundings around = {.file = file,
                                  .folder = folder,
                                  .text = text,
                                  .each = each,
                                  .user = user,
                                  .remarked = given ? given->remarked : NULL};
    struct submit_world world = {.user = &around,
                                 .file = text_of_file,
                                 .match = names_that_match,
                                 .variable = variable,
                                 .variables = (const char *const *)environ,
                                 .random = any_number,
                                 .offset = local_offset,
                                 .file_name = file,
                                 .remark = remark_report,
                                 .given = given ? given->macros : NULL,
                                 .given_count = given ? given->count : 0,
                                 .appended = given ? given->appended : NULL,
                                 .appended_count = given ? given->appended_count : 0,
                                 .fold_from = given && given->is_node ? 1 : 0}; /* a node is one ad */
    size_t mark = text_mark(text->text, text->len);
    struct err err = {0};
    struct tm local;
    time_t now;
    int result;

    world.now = time(NULL);
    now = (time_t)world.now;
    if (localtime_r(&now, &local))
        world.date = (struct submit_date){local.tm_year + 1900, local.tm_mon + 1, local.tm_mday};
    if (given && given->runs)
        world.command = text_of_command;
    if (realpath(folder, around.here))
        world.folder = around.here;
    if (uname(&around.machine) == 0) {
        upper(around.machine.machine);
        upper(around.machine.sysname);
        world.arch = around.machine.machine;
        world.system = around.machine.sysname;
    }
    result = (language == SUBMIT_JDL ? jdl_read : submit_read)(symbols, &world, text->len ? text->text + mark : "",
                                                               text->len - mark, ad_pass, &around, &err);
    if (result < 0 && !around.stopped)
        place_report(&around, &err);
    return result;
}
