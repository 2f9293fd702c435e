/* shell.c: a command in the sandbox of a job that runs, as if it ran here.
 *
 *     this process ---- what is typed, the window's size, signals ----> customer ----> provider ----> the command
 *        `---- a child: what it writes <----------------------------------'
 *
 * The child waits for the one, we wait for the other; the child's status is the command's. Escape sequences go to the user's own terminal as the
 * user's own command writes them. */
#include "cli/jobs/shell.h"

#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "sys/encoding.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PIECE 32768
#define PATIENCE 60      /* seconds that a customer may be away */
#define FULL_PAUSE 20000 /* microseconds before what found no room is sent again */
#define ESCAPE '~'       /* at the beginning of a line, with a '.' behind it: leave */
#define LEFT_MINUTES 10

struct session {
    struct connection *customer;
    const struct shell_settings *settings;
    uint64_t job, number;
    int64_t at;         /* bytes that were typed and taken */
    bool line, escaped; /* we are at the beginning of a line; an ESCAPE was typed there */
};

static struct termios terminal_before;
static bool terminal_is_raw;

static void terminal_restore(void)
{
    if (terminal_is_raw)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal_before);
    terminal_is_raw = false;
}

static void terminal_raw(void)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &terminal_before) < 0)
        return;
    raw = terminal_before;
    cfmakeraw(&raw);
    terminal_is_raw = tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0;
}

static void window_add(struct maker *maker)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 && ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0)
        return;
    maker_integer(maker, "Rows", size.ws_row);
    maker_integer(maker, "Columns", size.ws_col);
}

/* ----------------------------------------------------------------------------------------------------------------- begin */

int shell_begin(struct connection *customer, const struct shell_settings *settings, uint64_t job, int word_count,
                char **words, uint64_t *ret)
{
    struct connection_ask ask = {.method = "POST", .may_conflict = true};
    const char *term = getenv("TERM");
    struct tree *body, *answer = NULL;
    struct maker maker;
    struct buf path;
    int64_t number;
    int status;

    maker_init(&maker, customer->symbols);
    maker_texts(&maker, "Arguments", (const char *const *)words, (size_t)word_count);
    if (settings->member)
        maker_integer(&maker, "Member", (int64_t)settings->member);
    if (settings->terminal) {
        maker_text(&maker, "Term", term && *term ? term : "dumb");
        window_add(&maker);
    }
    ask.body = body = maker_seal(&maker);
    buf_init(&path);
    job_path(&path, job, "/shells");
    ask.path = buf_string(&path);
    status = connection_fetch_ad(customer, &ask, &answer);
    if (status == STATUS_DONE && !ad_integer(answer, "Number", &number)) {
        report("the customer answered without the number of the command");
        status = STATUS_UNREACHABLE;
    }
    if (status == STATUS_DONE)
        *ret = (uint64_t)number;
    tree_unref(answer);
    tree_unref(body);
    buf_done(&path);
    return status;
}

struct finding {
    uint64_t job, number;
    bool terminal;
};

static bool shell_look(void *user, struct tree *ad)
{
    struct finding *finding = user;
    int64_t job, number;
    bool told = false;

    ad_flag(ad, "Told", &told);
    if (ad_integer(ad, "Job", &job) && (uint64_t)job == finding->job && ad_integer(ad, "Number", &number) &&
        (uint64_t)number > finding->number && !told) {
        finding->number = (uint64_t)number;
        ad_flag(ad, "Terminal", &finding->terminal);
    }
    return true;
}

int shell_find(struct connection *customer, uint64_t job, uint64_t *ret, bool *ret_terminal)
{
    struct connection_ask ask = {.path = "/v1/shells"};
    struct finding finding = {.job = job};
    int status = connection_fetch_ads(customer, &ask, shell_look, &finding);

    if (status != STATUS_DONE)
        return status;
    if (!finding.number) {
        report("no command runs in the sandbox of job %" PRIu64, job);
        return STATUS_NO;
    }
    *ret = finding.number;
    *ret_terminal = finding.terminal;
    return STATUS_DONE;
}

/* --------------------------------------------------------------------------------------------------------------- reading */

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t put = write(fd, bytes, len);

        if (put < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (put < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        if (put > 0) {
            bytes += put;
            len -= (size_t)put;
        }
    }
    return true;
}

/* Writes what came of a stream behind `*at`, which is moved on. False: nobody reads it here. */
static bool stream_write(const struct tree *answer, const char *at_name, const char *name, int fd, int64_t *at)
{
    const char *text;
    int64_t from;
    struct buf bytes;
    bool good = true;
    size_t len;

    buf_init(&bytes);
    if (ad_integer(answer, at_name, &from) && ad_string(answer, name, &text, &len) &&
        base64url_read(&bytes, text, len) && from + (int64_t)bytes.len > *at) {
        size_t skip = from < *at ? (size_t)(*at - from) : 0;

        if (*at && from > *at)
            report("%" PRId64 " bytes that it has written are lost: they were not read in time", from - *at);
        good = write_all(fd, bytes.text + skip, bytes.len - skip);
        *at = from + (int64_t)bytes.len;
    }
    buf_done(&bytes);
    return good;
}

/* Asks again and again; a customer that is away is waited for. */
static int patiently_fetch(struct connection *customer, struct connection_ask *ask, struct tree **ret)
{
    time_t until = time(NULL) + PATIENCE;
    int status;

    for (;;) {
        ask->quiet = time(NULL) < until;
        status = connection_fetch_ad(customer, ask, ret);
        if (status != STATUS_UNREACHABLE || !ask->quiet)
            return status;
        sleep(1);
    }
}

static int over_status(const struct tree *answer)
{
    const char *words;
    int64_t status = 0;
    size_t len;

    ad_integer(answer, "Status", &status);
    if (ad_string(answer, "Words", &words, &len) && len)
        report("%.*s", (int)len, words);
    return status < 0 ? SHELL_STATUS_SIGNALLED + (int)-status : (int)(status & 255);
}

/* What the child does: writes what the command writes, until it is over. */
static int session_read(const struct session *session)
{
    int64_t out = 0, error = 0;
    struct buf path;
    int status;

    buf_init(&path);
    for (;;) {
        struct connection_ask ask = {.may_miss = true, .patient = true};
        struct tree *answer = NULL;
        bool over, written;

        buf_reset(&path);
        buf_addf(&path, "/v1/shells/%" PRIu64 "?out=%" PRId64 "&err=%" PRId64 "&wait=20", session->number, out, error);
        ask.path = buf_string(&path);
        status = patiently_fetch(session->customer, &ask, &answer);
        if (status != STATUS_DONE)
            break;
        written = stream_write(answer, "OutAt", "Out", STDOUT_FILENO, &out) &&
                  stream_write(answer, "ErrAt", "Err", STDERR_FILENO, &error);
        over = job_text_is(answer, "State", "over");
        if (over)
            status = over_status(answer);
        tree_unref(answer);
        if (over || !written) {
            status = over ? status : SHELL_STATUS_SIGNALLED + SIGPIPE;
            break;
        }
    }
    buf_done(&path);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- typing */

/* Sends what the maker has; `*taken` is how far what was typed has come. */
static int session_put(const struct session *session, struct maker *maker, int64_t *taken)
{
    struct connection_ask ask = {.method = "PUT", .may_miss = true, .hush = true, .patient = true};
    struct tree *answer = NULL, *body = maker_seal(maker);
    char path[48];
    int status;

    snprintf(path, sizeof path, "/v1/shells/%" PRIu64, session->number);
    ask.path = path;
    ask.body = body;
    status = patiently_fetch(session->customer, &ask, &answer);
    if (status == STATUS_DONE && job_text_is(answer, "State", "over"))
        status = STATUS_NO; /* the child says how it ended */
    if (status == STATUS_DONE && taken)
        ad_integer(answer, "Taken", taken);
    tree_unref(answer);
    tree_unref(body);
    return status;
}

/* Sends bytes that were typed; `ends`: nothing follows them. */
static int session_type(struct session *session, const char *bytes, size_t len, bool ends)
{
    int status;

    do {
        struct maker maker;
        struct buf data;
        int64_t taken = session->at;

        buf_init(&data);
        base64url_print(&data, bytes, len);
        maker_init(&maker, session->customer->symbols);
        maker_integer(&maker, "At", session->at);
        maker_bytes(&maker, "Input", data.text ? data.text : "", data.len);
        if (ends)
            maker_flag(&maker, "Ends", true);
        buf_done(&data);
        status = session_put(session, &maker, &taken);
        if (status != STATUS_DONE || taken < session->at || taken > session->at + (int64_t)len)
            return status;
        if (taken == session->at && len)
            usleep(FULL_PAUSE);
        bytes += taken - session->at;
        len -= (size_t)(taken - session->at);
        session->at = taken;
    } while (len);
    return status;
}

static int session_say(const struct session *session, const char *name, int64_t value)
{
    struct maker maker;

    maker_init(&maker, session->customer->symbols);
    if (name)
        maker_integer(&maker, name, value);
    else
        window_add(&maker);
    return session_put(session, &maker, NULL);
}

/* Takes what leads away out of what was typed. True: it was typed, and we leave. */
static bool escapes(struct session *session, char *bytes, size_t *len)
{
    size_t kept = 0;
    char copy[2 * PIECE];

    for (size_t i = 0; i < *len; i++) {
        char c = bytes[i];

        if (session->escaped && c == '.')
            return true;
        if (session->escaped && c != ESCAPE)
            copy[kept++] = ESCAPE; /* typed twice it is one */
        if (!session->escaped && session->line && c == ESCAPE) {
            session->escaped = true;
            continue;
        }
        session->escaped = false;
        session->line = c == '\r' || c == '\n';
        copy[kept++] = c;
    }
    memcpy(bytes, copy, kept);
    *len = kept;
    return false;
}

/* A signal came to us. True: we leave. */
static bool signal_heard(const struct session *session, int fd)
{
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int number = (int)info.ssi_signo;

        if (number == SIGWINCH) {
            if (session->settings->terminal)
                session_say(session, NULL, 0);
        } else if (number == SIGHUP || session->settings->terminal) {
            return true; /* our terminal is gone, or somebody wants us to go: the command goes on for a while */
        } else {
            session_say(session, "Signal", number);
        }
    }
    return false;
}

/* Reads what is typed and sends it. -1: the command is over; 1: we leave; 0: go on. */
static int input_heard(struct session *session, bool *reads)
{
    char bytes[2 * PIECE];
    ssize_t got = read(STDIN_FILENO, bytes, PIECE);
    size_t len = got > 0 ? (size_t)got : 0;

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (got > 0 && session->settings->terminal && escapes(session, bytes, &len))
        return 1;
    if (got > 0 && !len)
        return 0;
    *reads = got > 0;
    return session_type(session, bytes, len, got <= 0) == STATUS_DONE ? 0 : -1;
}

/* Types and signals until the child has ended. True: we leave before. */
static bool session_write(struct session *session, int child, int signals)
{
    bool reads = !session->settings->no_input, leaves = false;
    int heard = 0;

    if (!reads && session_type(session, "", 0, true) != STATUS_DONE)
        heard = -1;
    while (!leaves) {
        struct pollfd fds[] = {{.fd = child, .events = POLLIN},
                               {.fd = signals, .events = POLLIN},
                               {.fd = reads && heard == 0 ? STDIN_FILENO : -1, .events = POLLIN}};

        if (poll(fds, 3, -1) < 0 && errno != EINTR)
            break;
        if (fds[0].revents)
            break;
        if (fds[1].revents)
            leaves = signal_heard(session, signals);
        if (!leaves && fds[2].revents)
            leaves = (heard = input_heard(session, &reads)) > 0;
    }
    return leaves;
}

static int signals_open(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int shell_follow(struct connection *customer, const struct shell_settings *settings, uint64_t job, uint64_t number)
{
    struct session session = {.customer = customer, .settings = settings, .job = job, .number = number, .line = true};
    int ends[2], signals, status = STATUS_NO, ended = 0;
    struct maker maker;
    bool leaves;
    pid_t child;

    output_flush();
    signals = signals_open(); /* the child must not be ended by what is for the command */
    if (signals < 0 || pipe(ends) < 0)
        return STATUS_NO;
    child = fork();
    if (child == 0) {
        close(ends[0]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(session_read(&session));
    }
    close(ends[1]);
    if (settings->terminal)
        terminal_raw();
    maker_init(&maker, customer->symbols);
    if (settings->terminal)
        window_add(&maker);
    session_put(&session, &maker, &session.at); /* what others have typed before us is there already */
    leaves = child > 0 && session_write(&session, ends[0], signals);
    terminal_restore();
    if (leaves)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFEXITED(ended))
        status = WEXITSTATUS(ended);
    if (leaves) {
        report("left: the command goes on for %d minutes; `berth exec %" PRIu64 " --attach` comes back to it",
               LEFT_MINUTES, job);
        status = SHELL_STATUS_LEFT;
    }
    close(ends[0]);
    close(signals);
    return status;
}
