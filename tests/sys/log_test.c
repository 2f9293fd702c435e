/* log_test.c: lines of the log: their form, what strangers cannot do to them, and that writing never waits. */
#include "sys/log.h"

#include "common/tap.h"
#include "lang/ad/names.h"
#include "lang/base/rng.h"
#include "lang/form/form.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOON INT64_C(1794736800123456) /* 2026-11-15T10:00:00.123456Z */

static int64_t fixed_clock(void *user)
{
    return *(const int64_t *)user;
}

#define FIELDS(...) \
    (const struct log_field[]){__VA_ARGS__}, sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field)

static const char *line_of(enum log_form form, const struct log_field *fields, size_t count)
{
    static char line[LOG_LINE_MAX + 1];

    line[log_line(line, form, NOON, LEVEL_INFO, "ad.put", fields, count)] = '\0';
    return line;
}

/* ---------------------------------------------------------------------------------------------------------------- forms */

static void test_forms(void)
{
    const struct log_field fields[] = {
        log_text("request", "ab12"), log_text("subject", "alice"), log_text("nobody", NULL), log_number("status", 200),
        log_number("us", -123),      log_word("claim", 0xa1),      log_flag("late", true)};
    const char *line = line_of(LOG_LOGFMT, fields, 7);

    if (!tap_ok(
            !strcmp(
                line,
                "time=2026-11-15T10:00:00.123Z level=info event=ad.put request=ab12 subject=alice status=200 us=-123 "
                "claim=00000000000000a1 late=true\n"),
            "an event is a line of names and values"))
        tap_diag("%s", line);
    line = line_of(LOG_JSON, fields, 7);
    if (!tap_ok(
            !strcmp(
                line,
                "{\"time\":\"2026-11-15T10:00:00.123Z\",\"level\":\"info\",\"event\":\"ad.put\",\"request\":\"ab12\",\"subject\":"
                "\"alice\",\"status\":200,\"us\":-123,\"claim\":\"00000000000000a1\",\"late\":true}\n"),
            "or an object of JSON"))
        tap_diag("%s", line);
}

static void test_escapes(void)
{
    static const struct {
        const char *what, *text, *logfmt, *json;
    } rows[] = {
        {"plain words need no quotes", "https://mm:7600/v1", "https://mm:7600/v1", "\"https://mm:7600/v1\""},
        {"a blank does", "a b", "\"a b\"", "\"a b\""},
        {"an empty text does", "", "\"\"", "\"\""},
        {"an equals sign does", "a=b", "\"a=b\"", "\"a=b\""},
        {"quotes are escaped", "a\"b", "\"a\\\"b\"", "\"a\\\"b\""},
        {"backslashes are escaped", "a\\", "\"a\\\\\"", "\"a\\\\\""},
        {"a line's end cannot begin another line", "x\nlevel=error", "\"x\\nlevel=error\"", "\"x\\nlevel=error\""},
        {"nor can a carriage return", "x\r\ty", "\"x\\r\\ty\"", "\"x\\r\\ty\""},
        {"control characters do not reach a terminal", "\033[2J\x07\x7f", "\"\\u001b[2J\\u0007\\u007f\"",
         "\"\\u001b[2J\\u0007\\u007f\""},
        {"nor those of eight bits",
         "\xc2\x9b"
         "2J",
         "\"\\u009b2J\"", "\"\\u009b2J\""},
        {"letters of all scripts stay", "caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x9a\xa2",
         "\"caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x9a\xa2\"", "\"caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x9a\xa2\""},
        {"bytes that are not UTF-8 are replaced",
         "a\xff"
         "b\xc3",
         "\"a\\ufffdb\\ufffd\"", "\"a\\ufffdb\\ufffd\""},
        {"overlong forms and surrogates too", "\xc0\xaf\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"",
         "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"the direction of writing cannot be turned",
         "a\xe2\x80\xae"
         "b\xe2\x80\xa8",
         "\"a\\u202eb\\u2028\"", "\"a\\u202eb\\u2028\""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char logfmt[256], json[256];

        snprintf(logfmt, sizeof logfmt, " event=ad.put v=%s\n", rows[i].logfmt);
        snprintf(json, sizeof json, ",\"v\":%s}\n", rows[i].json);
        if (!tap_ok(strstr(line_of(LOG_LOGFMT, FIELDS(log_text("v", rows[i].text))), logfmt) != NULL, "%s",
                    rows[i].what))
            tap_diag("%s", line_of(LOG_LOGFMT, FIELDS(log_text("v", rows[i].text))));
        tap_ok(strstr(line_of(LOG_JSON, FIELDS(log_text("v", rows[i].text))), json) != NULL, "%s, in JSON as well",
               rows[i].what);
    }
    tap_ok(strstr(line_of(LOG_LOGFMT, FIELDS(log_bytes("v", "a\0b", 3))), "v=\"a\\ufffdb\"\n") != NULL,
           "a NUL ends nothing");
}

static void test_cuts(void)
{
    char *text = malloc(100000);
    struct log_field many[300];
    const char *line;
    char dots[64];

    memset(text, 'x', 100000);
    line = line_of(LOG_LOGFMT, FIELDS(log_bytes("a", text, 2000), log_number("b", 7)));
    tap_ok(strlen(line) < 1200 && strstr(line, "xxx... b=7 cut=true\n"),
           "a long value is cut visibly, and others stay");
    line = line_of(LOG_LOGFMT, FIELDS(log_bytes("a", text, LOG_VALUE_MAX)));
    tap_ok(!strstr(line, "cut"), "one that just fits is not");
    for (int i = 0; i < 300; i++)
        many[i] = log_bytes("name", text, 100);
    for (int form = LOG_LOGFMT; form <= LOG_JSON; form++) {
        line = line_of((enum log_form)form, many, 300);
        tap_ok(strlen(line) <= LOG_LINE_MAX && strlen(line) > LOG_LINE_MAX - 100 &&
                   strchr(line, '\n') == line + strlen(line) - 1 &&
                   strstr(line, form == LOG_JSON ? ",\"cut\":true}\n" : " cut=true\n"),
               "a line of too many fields ends with the word that it was cut, form %d", form);
    }
    memset(text, '\001', 100000); /* six bytes each when escaped */
    for (int i = 0; i < 300; i++)
        many[i] = log_bytes("name", text, 1000);
    line = line_of(LOG_JSON, many, 300);
    snprintf(dots, sizeof dots, "...\",\"cut\":true}\n");
    tap_ok(strlen(line) <= LOG_LINE_MAX && strstr(line, dots), "escapes count as what they take");
    for (int i = 0; i < LOG_VALUE_MAX; i += 2)
        memcpy(text + i + 1, "\xc3\xa9", 2); /* the limit falls within a letter */
    text[0] = 'a';
    tap_ok(!strstr(line_of(LOG_LOGFMT, FIELDS(log_bytes("a", text, 2 * LOG_VALUE_MAX))), "fffd"),
           "a letter is not cut in two");
    free(text);
}

/* Fields with random names and bytes; of printable characters alone when `plain`. */
struct sample {
    struct log_field fields[12];
    char names[12][24], bytes[12][600];
    size_t count;
};

static void sample_draw(struct sample *sample, struct rng *rng, bool plain)
{
    sample->count = rng_below(rng, 12);
    for (size_t i = 0; i < sample->count; i++) {
        size_t len = rng_below(rng, plain ? 20 : 600);

        for (size_t j = 0; j < len; j++)
            sample->bytes[i][j] = (char)(plain || rng_below(rng, 3) ? 32 + rng_below(rng, 95) : rng_next(rng));
        snprintf(sample->names[i], sizeof sample->names[i], "f%zu", i);
        sample->fields[i] = log_bytes(sample->names[i], sample->bytes[i], len);
    }
}

/* Is it one object of JSON, by the reader of ads, and does it have just these values? */
static bool is_object(struct symbols *symbols, const char *line, const struct sample *sample, bool plain)
{
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_JSON, NULL, line, strlen(line), NULL);
    bool right = ad && tree_root(ad)->u.run.count >= 3;

    for (size_t i = 0; i < sample->count && right && plain; i++) {
        const struct expr *e = &tree_parts(ad, tree_root(ad))[3 + i];

        right = e->kind == EXPR_STRING && e->u.run.count == sample->fields[i].len &&
                !memcmp(tree_string(ad, e), sample->bytes[i], sample->fields[i].len);
    }
    tree_unref(ad);
    return right;
}

/* Reads ` name=value`, in quotes or without; returns where it ends, or NULL when it is not that field. */
static const char *skip_field(const char *at, const struct log_field *field)
{
    bool quoted;

    if (*at++ != ' ' || strncmp(at, field->name, strlen(field->name)) || at[strlen(field->name)] != '=')
        return NULL;
    at += strlen(field->name) + 1;
    quoted = *at == '"';
    at += quoted;
    for (size_t i = 0; i < field->len; i++, at++) {
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"' || *at == '\\' || (!quoted && (*at == ' ' || *at == '=')))
            return NULL;
        if (*at != field->text[i])
            return NULL;
    }
    return !quoted || *at == '"' ? at + quoted : NULL;
}

static bool is_logfmt(const char *line, const struct sample *sample, bool plain)
{
    const char *at = strstr(line, " event=ad.put") + strlen(" event=ad.put");

    for (const char *c = line; c[1]; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return false;
    for (size_t i = 0; i < sample->count && plain && at; i++)
        at = skip_field(at, &sample->fields[i]);
    return !plain || (at && !strcmp(at, "\n"));
}

static void test_random(void)
{
    struct symbols *symbols = names_new(0);
    static struct sample sample;
    struct rng rng;
    int bad = 0;

    rng_init(&rng, 1);
    for (int round = 0; round < 4000 && bad == 0; round++) {
        const char *line;

        sample_draw(&sample, &rng, round % 2);
        line = line_of(LOG_JSON, sample.fields, sample.count);
        bad += strlen(line) > LOG_LINE_MAX || strchr(line, '\n') != line + strlen(line) - 1 ||
               !is_object(symbols, line, &sample, round % 2);
        if (!bad)
            line = line_of(LOG_LOGFMT, sample.fields, sample.count);
        bad += strlen(line) > LOG_LINE_MAX || (!bad && !is_logfmt(line, &sample, round % 2));
        if (bad)
            tap_diag("round %d: %s", round, line);
    }
    tap_ok(bad == 0, "whatever the bytes, an event is one line, and its values are read back");
    symbols_free(symbols);
}

/* -------------------------------------------------------------------------------------------------------------- writing */

static int evaluated;

static const char *costly(void)
{
    evaluated++;
    return "x";
}

static void test_levels(void)
{
    int64_t now = NOON;
    char text[4096];
    struct log log;
    int ends[2];
    ssize_t got;

    if (pipe(ends) != 0)
        exit(2);
    log_init(&log, ends[1], LOG_LOGFMT, LEVEL_INFO, fixed_clock, &now);
    LOG(&log, LEVEL_DEBUG, "debug.thing", log_text("a", costly()));
    tap_ok(evaluated == 0, "what is not wanted costs nothing");
    LOG(&log, LEVEL_WARNING, "warning.thing", log_text("a", costly()));
    log.level = LEVEL_ERROR;
    LOG(&log, LEVEL_INFO, "info.thing", log_number("a", 1));
    log_event(&log, LEVEL_INFO, "info.other", NULL, 0);
    LOG_AUDIT(&log, "claim", log_text("subject", "alice"), log_number("epoch", 3));
    got = read(ends[0], text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    if (!tap_ok(!strcmp(text, "time=2026-11-15T10:00:00.123Z level=warning event=warning.thing a=x\n"
                              "time=2026-11-15T10:00:00.123Z level=info event=audit.claim subject=alice epoch=3\n"),
                "levels below the one that is set are left out, but for the audit"))
        tap_diag("%s", text);
    tap_ok(evaluated == 1 && log.lines == 2 && log.dropped == 0, "each line is counted once");
    log.fd = -1;
    LOG_AUDIT(&log, "claim", log_text("subject", "alice"));
    LOG((struct log *)NULL, LEVEL_ERROR, "x", log_number("a", 1));
    log_flush(NULL);
    tap_ok(log.lines == 2, "without a descriptor, or without a log, nothing happens");
    close(ends[0]);
    close(ends[1]);
}

/* How many lines are there, and are they whole? -1 when one is not. */
static long count_lines(const char *text, size_t len, unsigned long *ret_told)
{
    const char *at = text, *end = text + len;
    long lines = 0;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *told;

        if (!stop || memcmp(at, "time=", 5))
            return -1;
        told = strstr(at, "event=log.dropped lines=");
        if (told && told < stop)
            *ret_told += strtoul(told + 24, NULL, 10);
        else
            lines++;
        at = stop + 1;
    }
    return lines;
}

/* Fills what is behind the descriptor, empties it, and looks whether every line came through or was told. */
static void check_full(const char *name, int reader, int writer)
{
    static char text[1 << 22];
    struct pollfd ready = {.fd = reader, .events = POLLIN};
    char filler[3000];
    unsigned long told = 0;
    uint64_t sent = 0;
    size_t len = 0;
    struct log log;
    ssize_t got;
    long lines;

    memset(filler, 'x', sizeof filler);
    fcntl(reader, F_SETFL, O_NONBLOCK);
    log_init(&log, writer, LOG_LOGFMT, LEVEL_INFO, NULL, NULL);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 400; i++, sent++)
            LOG(&log, LEVEL_INFO, "fill", log_bytes("a", filler, 900), log_bytes("b", filler, (size_t)(i * 7 % 1000)));
        while ((got = read(reader, text + len, sizeof text - 1 - len)) > 0)
            len += (size_t)got;
    }
    tap_ok(log.dropped > 0, "%s: when nobody reads, lines are dropped and writing does not wait", name);
    while (log.rest_len || log.untold || poll(&ready, 1, 50) > 0) {
        log_flush(&log);
        while ((got = read(reader, text + len, sizeof text - 1 - len)) > 0)
            len += (size_t)got;
    }
    text[len] = '\0';
    lines = count_lines(text, len, &told);
    if (!tap_ok(lines > 0 && told == log.dropped && (uint64_t)lines + told == sent,
                "%s: every line came through whole, or is told as dropped", name))
        tap_diag("%ld lines, %lu told, %lu dropped, %lu sent", lines, told, (unsigned long)log.dropped,
                 (unsigned long)sent);
    close(reader);
    for (int i = 0; i < 100 && !log.untold; i++) /* a connection may learn of it by the first */
        LOG(&log, LEVEL_INFO, "late", log_number("a", i));
    tap_ok(log.untold == 1, "%s: when the reader has gone, that is no more than lines dropped", name);
    close(writer);
}

/* A disk that is full takes a part of a line, and the rest when there is room again. */
static void test_full_disk(void)
{
    int64_t now = NOON;
    struct rlimit limit, narrow;
    char text[1024];
    FILE *file = tmpfile();
    struct log log;
    ssize_t got;

    if (!file || getrlimit(RLIMIT_FSIZE, &limit) != 0)
        exit(2);
    narrow = limit;
    narrow.rlim_cur = 40;
    log_init(&log, fileno(file), LOG_LOGFMT, LEVEL_INFO, fixed_clock, &now);
    setrlimit(RLIMIT_FSIZE, &narrow);
    LOG(&log, LEVEL_INFO, "first", log_number("a", 1));
    LOG(&log, LEVEL_INFO, "second", log_number("a", 2));
    setrlimit(RLIMIT_FSIZE, &limit);
    LOG(&log, LEVEL_INFO, "third", log_number("a", 3));
    got = pread(fileno(file), text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    if (!tap_ok(!strcmp(text, "time=2026-11-15T10:00:00.123Z level=info event=first a=1\n"
                              "time=2026-11-15T10:00:00.123Z level=warning event=log.dropped lines=1\n"
                              "time=2026-11-15T10:00:00.123Z level=info event=third a=3\n"),
                "a line of which a part was written is ended before another begins"))
        tap_diag("%s", text);
    fclose(file);
}

int main(void)
{
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    alarm(30); /* whatever waits is ended */
    test_forms();
    test_escapes();
    test_cuts();
    test_random();
    test_levels();
    if (pipe(ends) != 0)
        return 2;
    check_full("a pipe", ends[0], ends[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 2;
    check_full("a socket", ends[0], ends[1]);
    test_full_disk();
    return tap_done();
}
