/* shells.c: commands that the owner of a job has begun in its sandbox while it runs: `berth exec`, on the side of the machine.
 *
 *     customer --- Ask="shell": what is typed ---> input ---> the process, in the job's sandbox (sys/shell_socket.h)
 *     customer <--- Ask="shell": what it says --- two rings <---'
 *
 * Nothing is read from the process that cannot be kept: one whose owner reads slowly waits. While the customer is not reached the oldest bytes give way
 * instead, and the process goes on; after SHELL_AWAY it is hung up. When this agent ends, so do they. */
#define _GNU_SOURCE /* pipe2 */
#include "live/providerd/shells.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/world/commands.h"
#include "live/world/shell_order.h"
#include "sys/byte_ring.h"
#include "sys/shell_socket.h"
#include "sys/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define REACHED_SPAN (5 * SECOND) /* without an answer: then the customer counts as away */
#define BEAT_SPAN (20 * SECOND)   /* between two words to a customer that has nothing to hear */
#define AGAIN_SPAN (SECOND / 5)   /* before something is said again */
#define LINGER_SPAN (2 * SECOND)  /* that streams of a process that has ended may stay open: others may hold them */
#define HANGUP_SPAN (5 * SECOND)  /* between the hangup and the kill */
#define SIGNALS_MOST 10000

enum { INPUT, OUTPUT, ERROR, STREAM_COUNT };

/* A watched descriptor, which outlives its shell until the loop has let go of it. */
struct tap {
    uv_poll_t poll;
    struct shell *shell;
    int fd;
    int events; /* that are watched */
};

struct shell {
    struct shell *next;
    struct providerd *providerd;
    struct inquiry inquiry;
    uint64_t key, claim;
    bool terminal;
    struct tap *control, *streams[STREAM_COUNT]; /* NULL: closed. With a terminal the first two are the same */
    struct byte_ring input, rings[2];            /* output, error */
    bool input_ends, input_closed;               /* nothing follows what is in `input`; and the process was told */
    int64_t signals;                             /* that were sent */
    bool began, ended, gone;                     /* gone: the customer does not want it any more */
    int64_t status;
    char words[SHELL_WORDS_ROOM];
    bool asking, owes; /* a question is on its way; the end has not been told */
    int64_t heard_at, asked_at, ended_at, hung_at;
    int64_t again_at; /* not before; 0: at once */
};

/* ------------------------------------------------------------------------------------------------------------------ taps */

static void tap_closed(uv_handle_t *handle)
{
    struct tap *tap = handle->data;

    close(tap->fd);
    free(tap);
}

static void tap_close(struct tap **place)
{
    struct tap *tap = *place;

    *place = NULL;
    if (!tap)
        return;
    uv_poll_stop(&tap->poll);
    tap->shell = NULL;
    uv_close((uv_handle_t *)&tap->poll, tap_closed);
}

static void stream_close(struct shell *shell, int place)
{
    if (shell->terminal && place != ERROR && shell->streams[INPUT] == shell->streams[OUTPUT])
        shell->streams[place == INPUT ? OUTPUT : INPUT] = NULL;
    tap_close(&shell->streams[place]);
}

/* NULL: it cannot be watched, and was closed. */
static struct tap *tap_new(struct shell *shell, int fd)
{
    struct tap *tap = mem_alloc(sizeof *tap);

    *tap = (struct tap){.shell = shell, .fd = fd};
    tap->poll.data = tap;
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0 ||
        uv_poll_init(&shell->providerd->daemon.loop, &tap->poll, fd) < 0) {
        close(fd);
        free(tap);
        return NULL;
    }
    tap->poll.data = tap;
    return tap;
}

static void shell_ready(uv_poll_t *poll, int status, int events);

static void tap_watch(struct tap *tap, int events)
{
    if (!tap || tap->events == events)
        return;
    tap->events = events;
    if (events)
        uv_poll_start(&tap->poll, events, shell_ready);
    else
        uv_poll_stop(&tap->poll);
}

/* Is the customer away? Then what the process says is kept as long as there is room, and the oldest goes first. */
static bool is_away(const struct shell *shell)
{
    return runner_now() - shell->heard_at > REACHED_SPAN;
}

static int output_wanted(const struct shell *shell, int place)
{
    return byte_ring_room(&shell->rings[place - OUTPUT]) || is_away(shell) || shell->gone ? UV_READABLE : 0;
}

static void shell_watch(struct shell *shell)
{
    int written = shell->input.len ? UV_WRITABLE : 0;

    if (shell->terminal) {
        tap_watch(shell->streams[OUTPUT], output_wanted(shell, OUTPUT) | written);
        return;
    }
    if (shell->input_ends && !shell->input.len)
        stream_close(shell, INPUT);
    tap_watch(shell->streams[INPUT], written);
    tap_watch(shell->streams[OUTPUT], output_wanted(shell, OUTPUT));
    tap_watch(shell->streams[ERROR], output_wanted(shell, ERROR));
}

/* ------------------------------------------------------------------------------------------------------------------- end */

static void shell_free(struct shell *shell)
{
    struct shell **link = &shell->providerd->shells;

    while (*link != shell)
        link = &(*link)->next;
    *link = shell->next;
    tap_close(&shell->control);
    for (int i = 0; i < STREAM_COUNT; i++)
        stream_close(shell, i);
    byte_ring_done(&shell->input);
    byte_ring_done(&shell->rings[0]);
    byte_ring_done(&shell->rings[1]);
    free(shell);
}

static void shell_ended(struct shell *shell, int64_t status, const char *words)
{
    if (shell->ended)
        return;
    shell->ended = shell->owes = true;
    shell->status = status;
    shell->ended_at = runner_now();
    snprintf(shell->words, sizeof shell->words, "%s", words);
    tap_close(&shell->control);
    stream_close(shell, shell->terminal ? ERROR : INPUT);
    LOG_AUDIT(&shell->providerd->daemon.log, "exec.ended", log_number("job", (int64_t)shell->inquiry.job),
              log_word("claim", shell->claim), log_number("status", status), log_text("words", words));
}

/* Tells the process that nobody is there any more; one that does not go is killed. */
static void shell_hang_up(struct shell *shell)
{
    struct shell_head head = {.kind = SHELL_SIGNAL, .value = SIGHUP};

    if (shell->hung_at || shell->ended)
        return;
    shell->hung_at = runner_now();
    if (shell->control)
        shell_send(shell->control->fd, &head, "", 0, NULL, 0);
    stream_close(shell, INPUT);
}

/* Has all been read of the process that will be? */
static bool is_drained(const struct shell *shell)
{
    return (!shell->streams[OUTPUT] && !shell->streams[ERROR]) || runner_now() - shell->ended_at > LINGER_SPAN;
}

/* ------------------------------------------------------------------------------------------------------- to the customer */

static void shell_say(struct shell *shell);

/* A question that outlives its shell. */
struct saying {
    struct providerd *providerd;
    uint64_t key;
    bool last;
};

static struct shell *shell_find(const struct providerd *providerd, uint64_t key)
{
    struct shell *shell = providerd->shells;

    while (shell && shell->key != key)
        shell = shell->next;
    return shell;
}

static void shell_answered(void *user, const struct tree *answer)
{
    struct saying saying = *(struct saying *)user;
    struct shell *shell = shell_find(saying.providerd, saying.key);
    int64_t out = 0, error = 0;
    size_t before;

    free(user);
    if (!shell)
        return;
    shell->asking = false;
    if (!answer) {
        shell->again_at = runner_now() + SECOND;
        return;
    }
    shell->heard_at = runner_now();
    if (!answer_is(answer, "ok")) { /* it has forgotten it, or never knew it */
        shell->gone = true;
        shell_hang_up(shell);
        if (shell->ended)
            shell_free(shell);
        return;
    }
    if (saying.last) {
        shell_free(shell);
        return;
    }
    before = shell->rings[0].len + shell->rings[1].len;
    if (ad_integer(answer, "Out", &out))
        byte_ring_drop(&shell->rings[0], out);
    if (ad_integer(answer, "Err", &error))
        byte_ring_drop(&shell->rings[1], error);
    shell->again_at = before && shell->rings[0].len + shell->rings[1].len == before ? runner_now() + AGAIN_SPAN : 0;
    shell_watch(shell);
    shell_say(shell);
}

static void ring_write(struct maker *maker, const struct byte_ring *ring, const char *at_name, const char *name)
{
    int64_t at = ring->from;
    const char *bytes;
    size_t len;

    bytes = byte_ring_look(ring, &at, &len);
    shell_bytes_write(maker, at_name, name, at, bytes, len < SHELL_PIECE ? len : SHELL_PIECE);
}

/* Says what is new, if something is. */
static void shell_say(struct shell *shell)
{
    bool more = shell->rings[0].len || shell->rings[1].len, last = shell->owes && !more && is_drained(shell);
    int64_t now = runner_now();
    struct saying *saying;
    struct tree *question;
    struct maker maker;

    if (shell->asking || shell->gone || now < shell->again_at || (!more && !last && now - shell->asked_at < BEAT_SPAN))
        return;
    question_begin(&maker, shell->providerd, "shell", &shell->inquiry);
    maker_word(&maker, "Key", shell->key);
    ring_write(&maker, &shell->rings[0], "OutAt", "Out");
    ring_write(&maker, &shell->rings[1], "ErrAt", "Err");
    if (last) {
        maker_flag(&maker, "Ended", true);
        maker_integer(&maker, "Status", shell->status);
        maker_text(&maker, "Words", *shell->words ? shell->words : NULL);
    }
    question = maker_seal(&maker);
    saying = mem_alloc(sizeof *saying);
    *saying = (struct saying){shell->providerd, shell->key, last};
    shell->asked_at = now;
    shell->asking = true; /* before: the answer may come from within the call */
    if (!agent_ask(shell->providerd->live, shell->inquiry.customer, question, shell_answered, saying)) {
        shell->asking = false;
        shell->again_at = now + SECOND;
        free(saying);
    }
    tree_unref(question);
}

/* ------------------------------------------------------------------------------------------------------ with the process */

static void output_read(struct shell *shell, int place)
{
    struct byte_ring *ring = &shell->rings[place - OUTPUT];
    char bytes[16384];
    ssize_t got;

    while (shell->streams[place] && output_wanted(shell, place)) {
        size_t room = is_away(shell) || shell->gone ? sizeof bytes : byte_ring_room(ring);

        got = read(shell->streams[place]->fd, bytes, room < sizeof bytes ? room : sizeof bytes);
        if (got > 0 && !shell->gone)
            byte_ring_force(ring, bytes, (size_t)got);
        else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            stream_close(shell, place); /* a terminal says EIO when nobody holds its other side any more */
        if (got < (ssize_t)sizeof bytes)
            return;
    }
}

static void input_write(struct shell *shell)
{
    ssize_t put;

    if (!shell->streams[INPUT] || !shell->input.len)
        return;
    put = write(shell->streams[INPUT]->fd, shell->input.bytes, shell->input.len);
    if (put > 0) {
        byte_ring_drop(&shell->input, shell->input.from + put);
    } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
        byte_ring_drop(&shell->input, byte_ring_end(&shell->input)); /* nobody reads it any more */
        if (!shell->terminal)
            stream_close(shell, INPUT);
    }
}

static void control_hear(struct shell *shell)
{
    int beside[SHELL_STREAMS], count = 0, got;
    char text[SHELL_WORDS_ROOM];
    struct shell_head head;
    size_t len;

    while (shell->control &&
           (got = shell_receive(shell->control->fd, &head, text, sizeof text, &len, beside, &count)) != 0) {
        if (got > 0 && head.kind == SHELL_BEGAN) {
            shell->began = true;
            if (count == 1 && shell->terminal && !shell->streams[OUTPUT]) {
                shell->streams[INPUT] = shell->streams[OUTPUT] = tap_new(shell, beside[0]);
                count = 0;
            }
        } else if (got > 0 && head.kind == SHELL_FAILED) {
            shell_ended(shell, head.value == ENOENT ? 127 : 126, text);
        } else if (got > 0 && head.kind == SHELL_ENDED) {
            shell_ended(shell, head.value, "");
        } else if (got < 0) {
            shell_ended(shell, shell->began ? -SIGKILL : 126,
                        shell->began ? "" : "it was not begun: what carries the job out is older than this");
        }
        while (count)
            close(beside[--count]);
    }
}

static void shell_ready(uv_poll_t *poll, int status, int events)
{
    struct tap *tap = poll->data;
    struct shell *shell = tap->shell;

    (void)status;
    if (!shell)
        return;
    if (tap == shell->control) {
        control_hear(shell);
    } else {
        if (events & UV_WRITABLE)
            input_write(shell);
        if (status < 0 || events & UV_READABLE)
            output_read(shell, tap == shell->streams[ERROR] ? ERROR : OUTPUT);
    }
    shell_watch(shell);
    shell_say(shell);
}

/* ---------------------------------------------------------------------------------------------------------------- begin */

static bool streams_make(struct shell *shell, int inner[SHELL_STREAMS])
{
    int pipes[2];

    for (int i = 0; i < SHELL_STREAMS && !shell->terminal; i++) {
        if (pipe2(pipes, O_CLOEXEC) < 0)
            return false;
        inner[i] = pipes[i ? 1 : 0];
        shell->streams[i] = tap_new(shell, pipes[i ? 0 : 1]);
        if (!shell->streams[i])
            return false;
    }
    return true;
}

/* Hands the order to the launcher of the job. */
static int shell_begin(struct shell *shell, const struct shell_order *order, struct err *err)
{
    struct executor *executor = shell->providerd->executor;
    struct shell_head head = {.kind = SHELL_BEGIN,
                              .words = order->count,
                              .terminal = shell->terminal,
                              .rows = order->rows,
                              .columns = order->columns};
    int ends[2] = {-1, -1}, inner[SHELL_STREAMS] = {-1, -1, -1}, failed = -1;
    struct buf text;

    buf_init(&text);
    buf_add(&text, order->words.text, order->words.len);
    if (shell->terminal)
        buf_add(&text, order->term, strlen(order->term) + 1);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 || !streams_make(shell, inner) ||
        !(shell->control = tap_new(shell, ends[0])) ||
        !shell_send(ends[0], &head, text.text, text.len, inner, shell->terminal ? 0 : SHELL_STREAMS))
        err_set(err, "it cannot be begun: %s", strerror(errno));
    else
        failed = 0;
    for (int i = 0; i < SHELL_STREAMS; i++)
        if (inner[i] >= 0)
            close(inner[i]);
    if (!failed)
        failed = executor->kind->shell(executor, shell->claim, ends[1], err);
    else if (ends[1] >= 0)
        close(ends[1]);
    if (failed && ends[0] >= 0 && !shell->control)
        close(ends[0]);
    buf_done(&text);
    return failed;
}

static const char *shell_refusal(const struct task *task)
{
    const struct providerd *providerd = task->providerd;
    uint32_t count = 0;

    for (const struct shell *shell = providerd->shells; shell; shell = shell->next)
        count += shell->claim == task->claim;
    return !config_flag(&providerd->daemon.config, CONFIG_EXEC)
               ? "the owner of the machine does not let commands be run in jobs there (Exec = false)"
           : !providerd->executor || !providerd->executor->kind->shell ? "no commands can be run in jobs there"
           : count >= SHELLS_MAX ? "so many commands run in the job's sandbox already"
                                 : NULL;
}

/* Begins it. Returns the refusal, or NULL. */
static struct tree *shell_open(struct task *task, const struct peer *peer, uint64_t key, const struct tree *open)
{
    struct providerd *providerd = task->providerd;
    struct symbols *symbols = providerd->daemon.symbols;
    const char *why = shell_refusal(task);
    struct shell_order order;
    struct shell *shell;
    struct err err = {0};

    if (why || shell_order_read(open, &order, &err) < 0)
        return command_reason(symbols, "refused", why ? why : err.text);
    if (task->state != TASK_RUNS || !task->runs) {
        shell_order_done(&order);
        return command_reason(symbols, "early", "nothing runs yet: its files are on their way, or it is being begun");
    }
    shell = mem_alloc(sizeof *shell);
    *shell = (struct shell){.next = providerd->shells,
                            .providerd = providerd,
                            .inquiry = task->inquiry,
                            .key = key,
                            .claim = task->claim,
                            .terminal = *order.term != '\0',
                            .heard_at = runner_now(),
                            .asked_at = runner_now()};
    providerd->shells = shell;
    byte_ring_init(&shell->input, SHELL_ROOM);
    byte_ring_init(&shell->rings[0], SHELL_ROOM);
    byte_ring_init(&shell->rings[1], SHELL_ROOM);
    LOG_AUDIT(&providerd->daemon.log, "exec", log_text("subject", peer->identity),
              log_number("job", (int64_t)task->job), log_word("claim", task->claim), task_trace(task),
              log_text("program", order.words.text), log_flag("terminal", shell->terminal));
    if (shell_begin(shell, &order, &err) < 0) {
        shell_free(shell);
        shell_order_done(&order);
        return command_reason(symbols, "refused", err.text);
    }
    shell_order_done(&order);
    tap_watch(shell->control, UV_READABLE);
    shell_watch(shell);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- from the customer */

static void input_take(struct shell *shell, const struct tree *question)
{
    struct buf bytes;
    int64_t at = 0, end = byte_ring_end(&shell->input);
    bool ends = false;

    buf_init(&bytes);
    if (shell_bytes_read(question, "At", "Input", &at, &bytes) && at <= end && at + (int64_t)bytes.len > end) {
        if (shell->streams[INPUT] || !shell->ended)
            byte_ring_add(&shell->input, bytes.text + (end - at), bytes.len - (size_t)(end - at));
    }
    if (ad_flag(question, "Ends", &ends) && ends && at + (int64_t)bytes.len == byte_ring_end(&shell->input) &&
        !shell->input_ends) {
        shell->input_ends = true;
        if (shell->terminal) /* as if somebody had typed that at the beginning of a line */
            byte_ring_add(&shell->input, "\004", 1);
    }
    buf_done(&bytes);
    if (!shell->terminal && !shell->streams[INPUT])
        byte_ring_drop(&shell->input, byte_ring_end(&shell->input)); /* nobody reads it any more */
    input_write(shell);
}

static void window_set(const struct shell *shell, const struct tree *question)
{
    struct winsize size = {0};

    if (shell->terminal && shell->streams[OUTPUT] && shell_window_read(question, &size.ws_row, &size.ws_col))
        ioctl(shell->streams[OUTPUT]->fd, TIOCSWINSZ, &size); /* the kernel tells the processes there */
}

static void signal_take(struct shell *shell, const struct tree *question)
{
    struct shell_head head = {.kind = SHELL_SIGNAL};
    int64_t number, serial;

    if (!ad_integer(question, "Signal", &number) || !ad_integer(question, "Signals", &serial) ||
        serial <= shell->signals || serial > SIGNALS_MOST || number < 1 || number > 63 ||
        !signal_is_allowed((int)number) || !shell->control)
        return;
    shell->signals = serial;
    head.value = (int32_t)number;
    shell_send(shell->control->fd, &head, "", 0, NULL, 0);
}

static struct tree *shell_told(struct shell *shell, const struct tree *question)
{
    struct maker maker;
    bool close = false;

    shell->heard_at = runner_now();
    shell->again_at = 0;
    input_take(shell, question);
    window_set(shell, question);
    signal_take(shell, question);
    if (ad_flag(question, "Close", &close) && close)
        shell_hang_up(shell);
    maker_init(&maker, shell->providerd->daemon.symbols);
    maker_text(&maker, "Reason", "ok");
    maker_integer(&maker, "Taken", byte_ring_end(&shell->input));
    maker_integer(&maker, "Signals", shell->signals);
    shell_watch(shell);
    shell_say(shell);
    return maker_seal(&maker);
}

struct tree *provider_shells_asked(struct providerd *providerd, struct task *task, const struct peer *peer,
                                   const struct tree *question)
{
    const struct expr *open = ad_find(question, "Open");
    struct tree *part, *refusal = NULL;
    struct shell *shell;
    uint64_t key;

    if (!ad_word(question, "Key", &key))
        return NULL;
    shell = shell_find(providerd, key);
    if (shell && shell->inquiry.customer != peer->agent)
        return NULL; /* another's: it is not even there */
    if (!shell && !task)
        return command_reason(providerd->daemon.symbols, "gone", "that job does not run here");
    if (!shell && (!open || open->kind != EXPR_AD))
        return command_reason(providerd->daemon.symbols, "gone", "that command does not run here");
    if (!shell) {
        part = ad_part(question, open);
        refusal = shell_open(task, peer, key, part);
        tree_unref(part);
        shell = shell_find(providerd, key);
    }
    return refusal ? refusal : shell_told(shell, question);
}

void provider_shells_tick(struct providerd *providerd)
{
    int64_t now = runner_now();
    struct shell *next;

    for (struct shell *shell = providerd->shells; shell; shell = next) {
        next = shell->next;
        if (now - shell->heard_at > SHELL_AWAY * SECOND &&
            (shell->ended || (shell->hung_at && now - shell->hung_at > HANGUP_SPAN))) {
            shell_free(shell); /* nobody will ask */
            continue;
        }
        if (now - shell->heard_at > SHELL_AWAY * SECOND)
            shell_hang_up(shell);
        if (shell->hung_at && now - shell->hung_at > HANGUP_SPAN && shell->control)
            shell_ended(shell, -SIGKILL, "it was hung up"); /* which lets go of its socket, and that kills it */
        if (shell->ended && shell->gone) {
            shell_free(shell);
            continue;
        }
        shell_watch(shell);
        shell_say(shell);
    }
}

void provider_shells_done(struct providerd *providerd)
{
    while (providerd->shells)
        shell_free(providerd->shells);
}
