/* run_along.c: what a command of `berth run` takes along without being told: files that its arguments name, and standard input. */
#include "cli/jobs/run_parts.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/array.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_PIECE (64 * 1024)
#define INPUT_PATIENCE \
    2000 /* milliseconds without a byte of standard input, after which a person is told what is waited for */

void run_along_init(struct run_along *along)
{
    *along = (struct run_along){.input = -1};
    buf_init(&along->hints);
}

void run_along_done(struct run_along *along)
{
    if (along->input >= 0)
        close(along->input);
    free(along->names);
    buf_done(&along->hints);
}

/* --------------------------------------------------------------------------------------------------------------- files */

/* Does a relative name stay beneath the current folder, as it is written? */
static bool name_is_beneath(const char *name)
{
    if (*name == '/')
        return false;
    for (const char *at = name; *at;) {
        size_t len = strcspn(at, "/");

        if (len == 2 && !strncmp(at, "..", 2))
            return false;
        at += len + (at[len] == '/');
    }
    return true;
}

/* Is it sent along by -i, itself or in a folder? */
static bool is_given(const struct run_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->inputs.count; i++) {
        size_t len = strlen(settings->inputs.items[i]);

        while (len && settings->inputs.items[i][len - 1] == '/')
            len--;
        if (!strncmp(settings->inputs.items[i], name, len) && (!name[len] || name[len] == '/'))
            return true;
    }
    return false;
}

/* Places that a job has as well, of its own machine. */
static bool place_is_common(const char *name)
{
    static const char *const places[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/tmp"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t len = strlen(places[i]);

        if (!strncmp(name, places[i], len) && (!name[len] || (name[len] == '/' && strcmp(places[i], "/tmp") != 0)))
            return true;
    }
    return !name[strspn(name, "./")]; /* ".", "..", "/" */
}

static void hint_add(struct run_along *along, const char *name, mode_t mode)
{
    const char *last = strrchr(name, '/');

    if (place_is_common(name) || !(S_ISREG(mode) || S_ISDIR(mode)))
        return;
    buf_addf(&along->hints, "'%.200s' is a %s here, which the job does not get: -i %.200s sends it along", name,
             S_ISDIR(mode) ? "folder" : "file", name);
    if (!name_is_beneath(name) && last[1])
        buf_addf(&along->hints, ", as %.200s", last + 1);
    buf_addc(&along->hints, '\n');
}

static void file_add(struct run_along *along, const struct run_settings *settings, const char *name, int64_t size)
{
    ARRAY_ROOM(along->names, along->count, along->room, 16);
    along->names[along->count++] = name;
    along->bytes += size;
    if (settings->verbose)
        report("%s is sent along, %" PRId64 " bytes", name, size);
}

void run_along_files(struct run_along *along, const struct run_settings *settings, int word_count, char **words)
{
    for (int i = 1; i < word_count; i++) {
        struct stat st;

        if (!*words[i] || *words[i] == '-' || is_given(settings, words[i]) || stat(words[i], &st) < 0)
            continue;
        if (S_ISREG(st.st_mode) && name_is_beneath(words[i]) && st.st_size <= RUN_ALONG_MAX - along->bytes &&
            access(words[i], R_OK) == 0)
            file_add(along, settings, words[i], st.st_size);
        else
            hint_add(along, words[i], st.st_mode);
    }
    if (settings->verbose)
        run_along_hint(along, settings);
}

void run_along_hint(struct run_along *along, const struct run_settings *settings)
{
    const char *at = buf_string(&along->hints);

    for (size_t len; *at && !settings->quiet; at += len + 1) {
        len = strcspn(at, "\n");
        report("%.*s", (int)len, at);
    }
}

/* ------------------------------------------------------------------------------------------------------ standard input */

/* Makes a file without a name. */
static int file_make(void)
{
    const char *folder = getenv("TMPDIR");
    struct buf path;
    int fd;

    buf_init(&path);
    buf_addf(&path, "%s/berth-XXXXXX", folder && *folder ? folder : "/tmp");
    (void)buf_string(&path);
    fd = mkstemp(path.text);
    if (fd >= 0)
        unlink(path.text);
    buf_done(&path);
    return fd;
}

static int input_fail(const char *what)
{
    report("standard input: %s", what);
    return STATUS_BAD;
}

/* Copies what is left of standard input. Of a file it is read without moving on in it: a shell may read its own next line there. `*ret_size` is
 * how much there was; up to one byte more than the limit. */
static int input_copy(int to, bool is_file, int64_t *ret_size)
{
    off_t at = is_file ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    char piece[INPUT_PIECE];
    ssize_t got;

    *ret_size = 0;
    while (*ret_size <= RUN_ALONG_MAX) {
        got = is_file ? pread(STDIN_FILENO, piece, sizeof piece, at + *ret_size)
                      : read(STDIN_FILENO, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : 0;
        for (ssize_t done = 0, put; done < got; done += put) {
            put = write(to, piece + done, (size_t)(got - done));
            if (put <= 0)
                return -1;
        }
        *ret_size += got;
    }
    return 0;
}

/* Says what is waited for when nothing comes: somebody may not know that standard input is read. */
static void patience_tell(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

    if (poll(&fd, 1, INPUT_PATIENCE) == 0)
        report("standard input is read to its end first, and nothing comes; < /dev/null gives the command none");
}

int run_along_input(struct run_along *along, const struct run_settings *settings)
{
    bool terminal = isatty(STDIN_FILENO), is_file;
    struct stat st;
    int64_t size;
    int failed;

    if (terminal && !settings->input)
        return STATUS_DONE;
    if (fstat(STDIN_FILENO, &st) < 0 || S_ISDIR(st.st_mode))
        return settings->input ? input_fail("it cannot be read") : STATUS_DONE;
    is_file = S_ISREG(st.st_mode);
    if (!terminal && !is_file && !settings->quiet)
        patience_tell();
    along->input = file_make();
    if (along->input < 0)
        return input_fail(strerror(errno));
    failed = input_copy(along->input, is_file, &size);
    if (failed && (size || settings->input || errno != EBADF)) /* EBADF: it is closed, and that is as good as empty */
        return input_fail(strerror(errno));
    if (size > RUN_ALONG_MAX)
        return input_fail("it is more than 256 MiB; send it as a file, with -i, or nothing, with < /dev/null");
    if (settings->verbose && size)
        report("standard input is sent along, %" PRId64 " bytes", size);
    if (!size) {
        close(along->input);
        along->input = -1;
    }
    return STATUS_DONE;
}
