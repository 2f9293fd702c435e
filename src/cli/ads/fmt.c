/* fmt.c: berth fmt: lays out files of ads in the one way there is. */
#include "cli/ads/layout.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/names.h"
#include "lang/text/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fmt_settings {
    const struct dialect *dialect;
    bool write;
};

#define S struct fmt_settings
static const struct option fmt_options[] = {
    {'w', "write", NULL, "rewrite the files instead of printing; those that are laid out already are not touched",
     option_flag, offsetof(S, write)},
    OPTION_DIALECT(S),
};
#undef S

static const struct fmt_settings fmt_defaults = {.dialect = &dialect_classic};

/* Are the tokens correct ads, one behind another? The parser says what is wrong, and where. An ad without an end, as in a text that breaks off, goes
 * to the parser with all the rest. */
static int check_ads(const struct fmt_tokens *tokens, const struct dialect *dialect, size_t len, struct err *err)
{
    struct symbols *symbols = names_new(0);
    struct parse_options options = {.first_line = 1, .first_column = 1};
    size_t placed = 0; /* up to where lines have been counted */
    struct build build;
    int result = 0;

    build_init(&build, symbols, dialect);
    for (uint32_t at = 0; result == 0 && at < tokens->count && tokens->pieces[at].kind != TOKEN_END; at++) {
        const struct fmt_piece *open = &tokens->pieces[at];
        size_t start = (size_t)(open->at - tokens->text), end = len;
        unsigned lines, column;
        struct tree *ad;

        err_place(tokens->text + placed, start - placed, &lines, &column);
        options.first_column = lines > 1 ? column : options.first_column + column - 1;
        options.first_line += lines - 1;
        placed = start;
        if (open->kind != TOKEN_OPEN_SQUARE) {
            result = err_at(err, options.first_line, options.first_column, "expected '[' of an ad%s",
                            at ? ""
                               : ": fmt lays out the classad form only, and `berth convert --to classad` makes it of "
                                 "the others");
            break;
        }
        if (open->partner != TOKENS_NONE) {
            at = open->partner;
            end = (size_t)(tokens->pieces[at].at - tokens->text) + 1;
        } else {
            at = tokens->count - 1;
        }
        ad = parse_ad(&build, &options, open->at, end - start, err);
        result = ad ? 0 : -1;
        tree_unref(ad);
    }
    build_done(&build);
    symbols_free(symbols);
    return result;
}

/* Appends the text laid out; -1 with the reason when it is not in the classad form. */
static int fmt_text(const struct dialect *dialect, struct buf *in, struct buf *out, struct err *err)
{
    struct fmt_tokens tokens, again = {0};
    int result = fmt_tokens_init(&tokens, dialect, buf_string(in), in->len, err);

    if (check_ads(&tokens, dialect, in->len, err) < 0) /* the parser knows better what was expected */
        result = -1;
    if (result == 0) {
        layout_ads(out, &tokens);
        /* a formatter that loses something is worse than none: check what came out */
        if (fmt_tokens_init(&again, dialect, buf_string(out), out->len, err) < 0 || !fmt_tokens_alike(&tokens, &again))
            result = err_set(err, "this text would not come out whole, and is left as it is (a fault in berth fmt)");
        fmt_tokens_done(&again);
    }
    fmt_tokens_done(&tokens);
    return result;
}

static int write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t wrote = write(fd, text, len);

        if (wrote < 0 && errno != EINTR)
            return -1;
        if (wrote > 0) {
            text += wrote;
            len -= (size_t)wrote;
        }
    }
    return 0;
}

/* Puts the text in place of the file at once: whoever reads the file sees the old text or the new one. A link stays a link. */
static int replace_file(const char *name, const struct buf *text, struct err *err)
{
    char *path = realpath(name, NULL);
    struct buf temporary;
    struct stat info;
    int fd = -1, result = -1;

    buf_init(&temporary);
    if (path && stat(path, &info) == 0) {
        buf_addf(&temporary, "%s.XXXXXX", path);
        buf_string(&temporary);
        fd = mkstemp(temporary.text);
    }
    if (fd >= 0) {
        if (fchown(fd, info.st_uid, info.st_gid) < 0)
            errno = 0; /* the file is ours then, as any new file would be */
        result = fchmod(fd, info.st_mode & 07777);
        if (result == 0)
            result = write_all(fd, text->text, text->len);
        if (result == 0)
            result = fsync(fd);
        if (close(fd) < 0)
            result = -1;
        if (result == 0)
            result = rename(temporary.text, path);
        if (result < 0)
            err_set(err, "%s", strerror(errno));
        if (result < 0)
            unlink(temporary.text);
    } else {
        err_set(err, "%s", strerror(errno));
    }
    buf_done(&temporary);
    free(path);
    return result;
}

/* Is it a regular file? Only those can be replaced: a pipe or a device would become a regular file. This is asked before the file is opened, since a
 * pipe would wait for its other end, and lose what it holds. For a folder, or a file that is not there, reading reports the error. */
static int check_regular(const char *name, struct err *err)
{
    struct stat info;

    if (stat(name, &info) < 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return 0;
    return err_set(err, "this is not a regular file, and fmt -w rewrites only those");
}

/* Reads a whole file, without a byte order mark. */
static int read_unmarked(const char *name, struct buf *in, bool *ret_marked)
{
    size_t mark;

    if (file_read(name, in) < 0)
        return -1;
    mark = text_mark(in->text, in->len);
    in->len -= mark;
    if (mark)
        memmove(in->text, in->text + mark, in->len);
    *ret_marked = mark > 0;
    return 0;
}

static int fmt_file(const struct fmt_settings *settings, const char *name)
{
    int status = STATUS_BAD;
    struct buf in, out;
    struct err err;
    bool marked;

    buf_init(&in);
    buf_init(&out);
    if (settings->write && check_regular(name, &err) < 0) {
        report_error(name, &err, NULL, 0);
        goto done;
    }
    if (read_unmarked(name, &in, &marked) < 0)
        goto done;
    if (fmt_text(settings->dialect, &in, &out, &err) < 0) {
        const char *line = NULL;
        size_t len = 0;

        if (err.line && !text_line(in.text, in.len, err.line, &line, &len))
            line = NULL;
        report_error(name, &err, line, len);
        goto done;
    }
    status = STATUS_DONE;
    if (!settings->write) {
        output_write(&out);
    } else if (marked || in.len != out.len || (in.len && memcmp(in.text, out.text, in.len))) {
        if (replace_file(name, &out, &err) < 0) {
            report_error(name, &err, NULL, 0);
            status = STATUS_BAD;
        }
    }
done:
    buf_done(&in);
    buf_done(&out);
    return status;
}

static int fmt_run(const void *given, int word_count, char **words)
{
    const struct fmt_settings *settings = given;
    int status = STATUS_DONE;

    if (settings->write && word_count == 0) {
        report("fmt -w wants the files to rewrite");
        return STATUS_BAD;
    }
    if (word_count == 0)
        return fmt_file(settings, "-");
    for (int i = 0; i < word_count; i++) {
        if (settings->write && !strcmp(words[i], "-")) {
            report("fmt -w cannot rewrite standard input");
            status = STATUS_BAD;
        } else {
            status |= fmt_file(settings, words[i]);
        }
    }
    return status;
}

const struct command command_fmt = {
    .name = "fmt",
    .summary = "lay out files of ads in the usual way",
    .usage = "[OPTIONS] [FILE...]",
    .about =
        "Prints the ads of each FILE (`-`, or none, is standard input) laid out in the one usual way: an attribute a line, "
        "four blanks in front, and what is longer than a line broken before its operators. Comments are kept. Names, "
        "numbers, strings and times are left as they are written, so nothing changes its meaning; laying out twice changes "
        "nothing more.\n"
        "\n"
        "FILE must be in the classad form; `berth convert --to classad` makes it of the others. A byte order mark "
        "is left out.\n"
        "\n"
        "-w puts a new file in the old one's place, so whoever reads it meanwhile sees the old text or the new one. A "
        "symbolic link stays, and the file it leads to is rewritten; other hard links to the file keep the old text. "
        "Anything but a regular file is refused.",
    .examples = {{"echo '[a=1;b=other.x>2 /* why */]' | berth fmt",
                  "[\n    a = 1;\n    b = other.x > 2;  /* why */\n]"},
                 {"berth fmt -w pool.ads", NULL}},
    .options = fmt_options,
    .option_count = sizeof fmt_options / sizeof *fmt_options,
    .settings_size = sizeof(struct fmt_settings),
    .defaults = &fmt_defaults,
    .run = fmt_run,
};
