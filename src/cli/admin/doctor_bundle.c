/* doctor_bundle.c: what the doctor has seen, in a file for whoever is to help: a text, from which all that may be a secret is taken out.
 *
 * Nothing is read that is a secret as a whole: no token, no key, no store. What is left to take out is what got into settings, logs and addresses. */
#include "cli/admin/doctor.h"

#include "cli/term/report.h"
#include "sys/encoding.h"
#include "sys/read_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define LOG_TAIL (128 << 10) /* bytes of the end of each log */
#define LOGS_MAX 16
#define FILES_MAX 400 /* of the state folder that are listed */
#define WORD_LONG 32  /* characters from which on a word of letters and digits may be a key */
#define CODE_LEAST 6  /* characters of a value behind "code=" that are taken out: of exit_code=137 it stays */
#define ADDRESS_LOOKED 4096
#define BASE64_LOOKED 256 /* characters that tell whether chance has made a word */
#define SYSTEM_MAX (64 << 10)

static const char removed[] = "[removed]";

/* ------------------------------------------------------------------------------------------------- taking out secrets */

/* Letters of base64url, as tokens, keys and codes have them. */
static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Is that a word which nobody has made up, but chance? */
static bool looks_drawn(const char *text, size_t len)
{
    bool digit = false, lower = false, upper = false;

    for (size_t i = 0; i < len; i++) {
        digit |= isdigit((unsigned char)text[i]) != 0;
        lower |= islower((unsigned char)text[i]) != 0;
        upper |= isupper((unsigned char)text[i]) != 0;
    }
    return len >= WORD_LONG && (lower || upper) && (digit || (lower && upper));
}

/* What stands at a place of base64 that is no letter of base64url, or is written as addresses have it; 0: something else does. */
static size_t joint_length(const char *text)
{
    if (*text != '%')
        return *text == '+' || *text == '/';
    return !strncasecmp(text, "%2B", 3) || !strncasecmp(text, "%2F", 3) || !strncasecmp(text, "%3D", 3) ? 3 : 0;
}

/* How long a word of base64 with + and / is that begins here and that chance has made; 0: none does. Paths have slashes as well: but from one character to
 * the next small letters, capitals and digits take turns in two of three places where chance has made them, and seldom in names. */
static size_t drawn_base64(const char *text)
{
    unsigned pairs = 0, turns = 0, kinds = 0, kind = 0;
    size_t len = 0, step;

    for (; len < BASE64_LOOKED; len += step) {
        unsigned before = kind;

        step = is_word(text[len]) ? 1 : joint_length(text + len);
        if (!step)
            break;
        kind = step > 1                            ? 0
               : isdigit((unsigned char)text[len]) ? 1
               : islower((unsigned char)text[len]) ? 2
               : isupper((unsigned char)text[len]) ? 4
                                                   : 0;
        kinds |= kind;
        pairs += before && kind;
        turns += before && kind && kind != before;
    }
    if (len < WORD_LONG || kinds != 7 || 3 * turns < pairs)
        return 0;
    while ((step = is_word(text[len]) ? 1 : joint_length(text + len)))
        len += step;
    return len;
}

enum naming { NAMES_NONE, NAMES_SECRET, NAMES_CODE, NAMES_HEADER };

/* What the value behind that word is. */
static enum naming word_names(const char *word, size_t len)
{
    static const struct {
        const char *name;
        enum naming naming;
    } names[] = {{"password", NAMES_SECRET}, {"passwd", NAMES_SECRET}, {"secret", NAMES_SECRET},
                 {"token", NAMES_SECRET},    {"bearer", NAMES_SECRET}, {"authorization", NAMES_HEADER},
                 {"code", NAMES_CODE}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t name = strlen(names[i].name);

        if (len >= name && !strncasecmp(word + len - name, names[i].name, name))
            return names[i].naming;
    }
    return len == 1 && *word == 'k' ? NAMES_SECRET : NAMES_NONE; /* of a link to the page */
}

/* How long what stands between a name and its value is, " = \"" for instance; 0: no value follows. */
static size_t between_length(const char *behind)
{
    size_t at = strspn(behind, "\\\"' \t");

    if (behind[at] != '=' && behind[at] != ':')
        return 0;
    return at + strspn(behind + at, "=:>\\\"' \t");
}

/* How long a value is. `quote`: the one that stands before it; 0: none does. `escaped`: that quote has a \ before it. */
static size_t value_length(const char *value, enum naming naming, char quote, bool escaped)
{
    size_t len = 0;

    if (quote) {
        while (value[len] && value[len] != '\n' && value[len] != quote)
            len += value[len] == '\\' && !escaped && value[len + 1] && value[len + 1] != '\n' ? 2 : 1;
        return len;
    }
    return strcspn(value, naming == NAMES_HEADER ? "\r\n\"'"
                          : naming == NAMES_CODE ? " \t\r\n\"'&;,)]}"
                                                 : " \t\r\n\"'&");
}

/* How long "alice:secret" of an address is, behind "://"; 0: it has no such part. Whatever a password has in it, the last @ ends it. Where what stands before
 * the path has neither @ nor :, an @ behind that is of the path. */
static size_t user_of_address(const char *text)
{
    size_t len = 0;

    if (strcspn(text, "@:") > strcspn(text, "/?#"))
        return 0;
    for (size_t at = 0; at < ADDRESS_LOOKED && text[at] && !strchr(" \t\r\n\"'", text[at]); at++)
        if (text[at] == '@')
            len = at;
    return len;
}

/* How long a block of PEM is that begins here; 0: none does. */
static size_t pem_length(const char *text)
{
    const char *end;

    if (strncmp(text, "-----BEGIN ", 11) != 0)
        return 0;
    end = strstr(text, "-----END ");
    return end ? (size_t)(end - text) + 9 + strcspn(end + 9, "\n\\") : strlen(text);
}

/* Takes a word over, or what stands in its place, and the value behind its name if that is a secret; returns how much of the text that was. */
static size_t word_strike(struct buf *out, const char *at)
{
    size_t len = drawn_base64(at), value;
    enum naming naming;
    char quote;

    if (len) {
        buf_adds(out, removed);
        return len;
    }
    while (is_word(at[len]) && strncmp(at + len, "-----", 5) != 0)
        len++;
    if (looks_drawn(at, len)) {
        buf_adds(out, removed);
        return len;
    }
    naming = word_names(at, len);
    value = naming ? between_length(at + len) : 0;
    buf_add(out, at, len + value);
    if (!value)
        return len;
    len += value;
    quote = at[len - 1] == '"' || at[len - 1] == '\'' ? at[len - 1] : '\0';
    value = value_length(at + len, naming, quote, quote && at[len - 2] == '\\');
    if (naming != NAMES_CODE ? value > 0 : value >= CODE_LEAST)
        buf_adds(out, removed);
    else
        buf_add(out, at + len, value);
    return len + value;
}

void doctor_strike(struct buf *text)
{
    const char *at = buf_string(text);
    struct buf out;

    buf_init(&out);
    while (*at) {
        size_t pem = pem_length(at), user;

        if (pem) {
            buf_adds(&out, removed);
            at += pem;
        } else if (!strncmp(at, "://", 3)) {
            user = user_of_address(at + 3);
            buf_addf(&out, "://%s", user ? removed : "");
            at += 3 + user;
        } else if (isalnum((unsigned char)*at) || *at == '_') {
            at += word_strike(&out, at);
        } else {
            buf_addc(&out, *at++);
        }
    }
    buf_wipe(text);
    *text = out;
}

/* ------------------------------------------------------------------------------------------------------------ sections */

static void section(struct buf *out, const char *title)
{
    buf_addf(out, "\n== %s ==\n", title);
}

static void file_add(struct buf *out, const char *path)
{
    struct buf text;

    buf_init(&text);
    if (read_file(path, SYSTEM_MAX, false, &text, NULL) == 1)
        buf_add(out, text.text, strlen(buf_string(&text)));
    buf_done(&text);
}

static void system_add(struct buf *out)
{
    static const char *const files[] = {"/etc/os-release", "/proc/loadavg", "/proc/self/cgroup", "/proc/self/limits"};
    struct utsname name;

    section(out, "system");
    uname(&name);
    buf_addf(out, "berth " BERTH_VERSION "\n%s %s %s %s, user %u, %ld processors\n", name.sysname, name.release,
             name.version, name.machine, (unsigned)geteuid(), sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        buf_addf(out, "%s:\n", files[i]);
        file_add(out, files[i]);
    }
}

/* Lists a folder, and the folders in it down to that depth: sizes, modes and times, and nothing of what is in the files. */
static void folder_list(struct buf *out, const char *path, int depth, unsigned *left)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;

    while (dir && *left && (entry = readdir(dir))) {
        char inner[PATH_MAX], when[32];
        struct stat st;
        struct tm tm;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if ((size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= sizeof inner ||
            lstat(inner, &st) < 0)
            continue;
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&st.st_mtime, &tm));
        buf_addf(out, "%06o %6u %12" PRIi64 " %s %s\n", (unsigned)st.st_mode, (unsigned)st.st_uid, (int64_t)st.st_size,
                 when, inner);
        --*left;
        if (S_ISDIR(st.st_mode) && depth)
            folder_list(out, inner, depth - 1, left);
    }
    if (dir)
        closedir(dir);
}

/* Adds the end of a file, from the beginning of a line. */
static void tail_add(struct buf *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *text = mem_alloc(LOG_TAIL + 1);
    const char *from = text;
    struct stat st;
    ssize_t got = -1;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        got = pread(fd, text, LOG_TAIL, st.st_size > LOG_TAIL ? st.st_size - LOG_TAIL : 0);
    text[got > 0 ? got : 0] = '\0';
    if (got == LOG_TAIL && strchr(text, '\n'))
        from = strchr(text, '\n') + 1; /* half a line could be half a secret */
    buf_adds(out, from);
    if (fd >= 0)
        close(fd);
    free(text);
}

static void logs_add(const struct doctor *doctor, struct buf *out)
{
    char folder[PATH_MAX], path[PATH_MAX + 300];
    const struct dirent *entry;
    unsigned count = 0;
    DIR *dir;

    snprintf(folder, sizeof folder, "%.3000s/log", doctor->state);
    dir = opendir(folder);
    if (!dir) {
        section(out, "logs");
        buf_addf(out, "%s: %s. Of services: journalctl -u 'berth-*' --since -1h\n", folder, strerror(errno));
        return;
    }
    while (count < LOGS_MAX && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);

        if (len < 5 || strcmp(entry->d_name + len - 4, ".log") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
        section(out, path);
        tail_add(out, path);
        count++;
    }
    closedir(dir);
}

static void bundle_fill(const struct doctor *doctor, struct buf *out)
{
    unsigned left = FILES_MAX;
    time_t now = time(NULL);
    char when[32];
    struct tm tm;

    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    buf_addf(
        out,
        "berth doctor --bundle, %s\nTokens, keys, codes and passwords in addresses were taken out of this file. Names of users, machines and files "
        "are in it: read it before you give it away.\n",
        when);
    section(out, "findings");
    doctor_print(doctor, true, out);
    system_add(out);
    section(out, "settings");
    config_trace(out, &doctor->config);
    section(out, "state folder");
    folder_list(out, doctor->state, 2, &left);
    if (!left)
        buf_adds(out, "...\n");
    logs_add(doctor, out);
}

int doctor_bundle(const struct doctor *doctor, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t done = 0;
    ssize_t wrote = 0;
    struct buf out;

    if (fd < 0) {
        report("%s: %s", path, strerror(errno));
        return -1;
    }
    buf_init(&out);
    bundle_fill(doctor, &out);
    doctor_strike(&out);
    while (done < out.len && (wrote = write(fd, out.text + done, out.len - done)) > 0)
        done += (size_t)wrote;
    if (done < out.len)
        report("%s: %s", path, strerror(errno));
    close(fd);
    if (done < out.len)
        unlink(path);
    buf_done(&out);
    return done == out.len ? 0 : -1;
}
