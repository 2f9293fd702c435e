/* beside.c: commands that processes of a parallel job begin beside one another, on the side of the machine of the process that begins one.
 *
 *     process --- packets on a socket in its own folder (sys/beside_socket.h) ---> session --- Ask="beside" ---> customer
 *
 * The socket lies in the job's folder, so that processes of that job, and nobody else, can open it. Whose sandbox the command is begun in is for the customer to decide, who
 * knows the gang: this agent shows the pass that it has for the job's files. A session asks again and again, at once while there is something to say or to hear. */
#define _GNU_SOURCE /* accept4 */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/world/shell_order.h"
#include "sys/beside_socket.h"
#include "sys/byte_ring.h"
#include "sys/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SESSIONS_MAX 64                 /* of a job */
#define UNHEARD_SPAN (10 * 60 * SECOND) /* without an answer: then it is over */

/* A watched descriptor, which outlives its owner until the loop has let go of it. */
struct watch {
    uv_poll_t poll;
    void *owner; /* NULL: gone */
    int fd;
};

struct beside {
    struct beside *next;
    struct providerd *providerd;
    struct task *task; /* NULL: it is over */
    struct inquiry inquiry;
    struct watch *watch; /* NULL: the process has gone, or has heard the end */
    uint64_t key;
    int64_t to;
    struct tree *order;     /* held; NULL: not told yet */
    struct byte_ring input; /* that the customer has not taken */
    bool ends, opened, over;
    int signal;
    int64_t at[2];      /* what the process has got of output and error */
    bool asking, again; /* again: there was something, and there may be more */
    int64_t heard_at;
};

/* ------------------------------------------------------------------------------------------------------------------ watches */

static void watch_closed(uv_handle_t *handle)
{
    struct watch *watch = handle->data;

    close(watch->fd);
    free(watch);
}

static void watch_close(struct watch **place)
{
    struct watch *watch = *place;

    *place = NULL;
    if (!watch)
        return;
    watch->owner = NULL;
    uv_poll_stop(&watch->poll);
    uv_close((uv_handle_t *)&watch->poll, watch_closed);
}

/* Takes the descriptor; NULL: it cannot be watched. */
static struct watch *watch_new(struct providerd *providerd, int fd, void *owner, uv_poll_cb ready)
{
    struct watch *watch = mem_alloc(sizeof *watch);

    *watch = (struct watch){.owner = owner, .fd = fd};
    if (uv_poll_init(&providerd->daemon.loop, &watch->poll, fd) < 0) {
        close(fd);
        free(watch);
        return NULL;
    }
    watch->poll.data = watch;
    uv_poll_start(&watch->poll, UV_READABLE, ready);
    return watch;
}

/* ----------------------------------------------------------------------------------------------------------------- sessions */

static void session_ask(struct beside *session);

static void session_free(struct beside *session)
{
    struct beside **link = &session->providerd->beside;

    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    watch_close(&session->watch);
    tree_unref(session->order);
    byte_ring_done(&session->input);
    free(session);
}

/* The process is told how it ended, and then the session is over. */
static void session_over(struct beside *session, int64_t status, const char *words, size_t len)
{
    char packet[5 + SHELL_WORDS_ROOM] = {BESIDE_OVER};

    session->over = true;
    len = len < SHELL_WORDS_ROOM ? len : SHELL_WORDS_ROOM;
    for (int i = 0; i < 4; i++)
        packet[1 + i] = (char)(unsigned char)((uint32_t)(int32_t)status >> 8 * i);
    memcpy(packet + 5, words, len);
    if (session->watch)
        send(session->watch->fd, packet, 5 + len, MSG_DONTWAIT | MSG_NOSIGNAL);
    watch_close(&session->watch);
}

/* Hands on what came of a stream, as much as the process takes now. True: there was something. */
static bool stream_hand(struct beside *session, const struct tree *answer, int which)
{
    char packet[1 + BESIDE_PIECE] = {which ? BESIDE_ERROR : BESIDE_OUTPUT};
    bool some = false;
    struct buf bytes;
    int64_t from = 0;

    buf_init(&bytes);
    if (session->watch && shell_bytes_read(answer, which ? "ErrAt" : "OutAt", which ? "Err" : "Out", &from, &bytes) &&
        from + (int64_t)bytes.len > session->at[which]) {
        size_t skip = from < session->at[which] ? (size_t)(session->at[which] - from) : 0;

        session->at[which] = from + (int64_t)skip;
        while (skip < bytes.len) {
            size_t len = bytes.len - skip < BESIDE_PIECE ? bytes.len - skip : BESIDE_PIECE;

            memcpy(packet + 1, bytes.text + skip, len);
            if (send(session->watch->fd, packet, 1 + len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
                break; /* the rest is asked for again */
            skip += len;
            session->at[which] += (int64_t)len;
            some = true;
        }
    }
    buf_done(&bytes);
    return some;
}

/* Has the process got all that the answer has? */
static bool is_handed(const struct beside *session, const struct tree *answer, int which)
{
    struct buf bytes;
    int64_t from = 0;
    bool all;

    buf_init(&bytes);
    all = !shell_bytes_read(answer, which ? "ErrAt" : "OutAt", which ? "Err" : "Out", &from, &bytes) ||
          session->at[which] >= from + (int64_t)bytes.len;
    buf_done(&bytes);
    return all;
}

static void session_hear(struct beside *session, const struct tree *answer)
{
    const char *words = "";
    int64_t taken, status = 0;
    bool over = false, moved;
    size_t len = 0;

    session->opened = true;
    if (ad_integer(answer, "Taken", &taken) && taken <= byte_ring_end(&session->input))
        byte_ring_drop(&session->input, taken);
    moved = stream_hand(session, answer, 0);
    moved = stream_hand(session, answer, 1) || moved;
    ad_flag(answer, "Over", &over);
    if (over && (!session->watch || (is_handed(session, answer, 0) && is_handed(session, answer, 1)))) {
        ad_integer(answer, "Status", &status);
        ad_string(answer, "Words", &words, &len);
        session_over(session, status, words, len);
    }
    session->again = moved;
}

static void beside_answered(void *user, const struct tree *answer)
{
    struct beside *session = user;
    const char *words = "it was refused: perhaps the customer is of a version that cannot do this";
    size_t len = strlen(words);

    session->asking = session->again = false;
    if (answer)
        session->heard_at = runner_now();
    if (answer && answer_is(answer, "ok")) {
        session_hear(session, answer);
    } else if (answer) {
        if (answer_is(answer, "stale")) {
            words = "the job is over, or begins anew";
            len = strlen(words);
        }
        ad_string(answer, "Words", &words, &len);
        session_over(session, 126, words, len);
    }
    if (session->over)
        session_free(session);
    else if (session->again)
        session_ask(session); /* which may be answered at once, and then it is gone */
}

static void session_ask(struct beside *session)
{
    int64_t at = session->input.from;
    struct tree *question;
    struct maker maker;
    const char *bytes;
    size_t len;

    if (session->asking || session->over || !session->order)
        return;
    question_begin(&maker, session->providerd, "beside", &session->inquiry);
    maker_word(&maker, "Key", session->key);
    if (!session->opened) {
        maker_integer(&maker, "To", session->to);
        maker_ad(&maker, "Open", session->order);
    }
    bytes = byte_ring_look(&session->input, &at, &len);
    if (len <= SHELL_PIECE && session->ends) {
        maker_flag(&maker, "Ends", true);
        if (!len) {
            maker_integer(&maker, "At", at);
            maker_text(&maker, "Input", "");
        }
    }
    shell_bytes_write(&maker, "At", "Input", at, bytes, len < SHELL_PIECE ? len : SHELL_PIECE);
    maker_integer(&maker, "OutAt", session->at[0]);
    maker_integer(&maker, "ErrAt", session->at[1]);
    if (session->signal)
        maker_integer(&maker, "Signal", session->signal);
    session->signal = 0;
    if (!session->watch || !session->task)
        maker_flag(&maker, "Close", true);
    question = maker_seal(&maker);
    session->asking = true; /* before: the answer may come from within the call */
    if (!agent_ask(session->providerd->live, session->inquiry.customer, question, beside_answered, session))
        session->asking = false;
    tree_unref(question);
}

/* ---------------------------------------------------------------------------------------------------- from the process */

/* Reads who is meant and the words of the command. False: it is none. */
static bool order_read(struct beside *session, const char *packet, size_t len)
{
    const char *words[SHELL_ORDER_WORDS], *at = packet + 5, *end = packet + len;
    size_t count = 0;
    struct maker maker;

    if (session->order || len < 7 || packet[len - 1])
        return false;
    for (int i = 0; i < 4; i++)
        session->to |= (int64_t)(unsigned char)packet[1 + i] << 8 * i;
    for (; at < end && count < SHELL_ORDER_WORDS; at += strlen(at) + 1)
        words[count++] = at;
    if (at < end)
        return false;
    maker_init(&maker, session->providerd->daemon.symbols);
    maker_texts(&maker, "Arguments", words, count);
    session->order = maker_seal(&maker);
    return true;
}

/* Takes a packet. False: the process breaks the rules. */
static bool packet_take(struct beside *session, const char *packet, size_t len)
{
    switch (packet[0]) {
    case BESIDE_OPEN:
        return order_read(session, packet, len);
    case BESIDE_INPUT:
        return !session->ends && byte_ring_add(&session->input, packet + 1, len - 1) == len - 1;
    case BESIDE_ENDS:
        session->ends = true;
        return true;
    case BESIDE_SIGNAL:
        if (len == 2)
            session->signal = (unsigned char)packet[1];
        return len == 2;
    default:
        return false;
    }
}

static void session_ready(uv_poll_t *poll, int status, int events)
{
    static char packet[BESIDE_PACKET_MAX];
    struct watch *watch = poll->data;
    struct beside *session = watch->owner;
    ssize_t got = 0;

    (void)events;
    while (session && session->watch && byte_ring_room(&session->input) >= BESIDE_PIECE &&
           (got = status < 0 ? 0 : recv(watch->fd, packet, sizeof packet, MSG_DONTWAIT)) > 0)
        if (!packet_take(session, packet, (size_t)got)) {
            got = 0;
            break;
        }
    if (!session || !session->watch)
        return;
    if (got == 0 && byte_ring_room(&session->input) >= BESIDE_PIECE)
        watch_close(&session->watch); /* it has gone */
    else if (byte_ring_room(&session->input) < BESIDE_PIECE)
        uv_poll_stop(&watch->poll); /* until the customer has taken some: see beside_tick */
    if (!session->order && !session->watch)
        session_free(session);
    else
        session_ask(session);
}

static void door_ready(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    struct task *task = watch->owner;
    struct beside *session;
    uint32_t count = 0;
    int fd = task && status >= 0 ? accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;

    (void)events;
    if (fd < 0)
        return;
    for (const struct beside *other = task->providerd->beside; other; other = other->next)
        count += other->task == task;
    if (count >= SESSIONS_MAX) {
        close(fd);
        return;
    }
    session = mem_alloc(sizeof *session);
    *session = (struct beside){.next = task->providerd->beside,
                               .providerd = task->providerd,
                               .task = task,
                               .inquiry = task->inquiry,
                               .key = secrets_word(&secrets_live),
                               .heard_at = runner_now()};
    byte_ring_init(&session->input, SHELL_ROOM);
    task->providerd->beside = session;
    session->watch = watch_new(task->providerd, fd, session, session_ready);
    if (!session->watch)
        session_free(session);
}

/* -------------------------------------------------------------------------------------------------------------------- doors */

/* Gives it to the owner of the folder. The job may run already, and put a link in its place: none is followed. */
static bool socket_give(int dir)
{
    struct stat folder;

    return fstat(dir, &folder) == 0 &&
           fchownat(dir, BESIDE_NAME, folder.st_uid, folder.st_gid, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Makes the socket: by way of the folder's descriptor, for its path may be too long. -1: it could not be made. */
static int socket_make(const struct task *task)
{
    char folder[DAEMON_PATH_MAX];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int dir, fd;

    providerd_folder(task->providerd, folder, sizeof folder, task->claim, task->number);
    dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    fd = dir >= 0 ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (fd >= 0) {
        snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" BESIDE_NAME, dir);
        unlinkat(dir, BESIDE_NAME, 0); /* an agent before us has made one */
        if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || !socket_give(dir) || listen(fd, SESSIONS_MAX) < 0) {
            close(fd);
            fd = -1;
        }
    }
    if (dir >= 0)
        close(dir);
    return fd;
}

void beside_open(struct task *task)
{
    int fd;

    if (!task->order.reaches || task->order.members < 2 || task->door)
        return;
    fd = socket_make(task);
    if (fd < 0) {
        LOG(&task->providerd->daemon.log, LEVEL_WARNING, "beside", log_word("claim", task->claim), task_trace(task),
            log_text("why", strerror(errno)));
        return;
    }
    task->door = watch_new(task->providerd, fd, task, door_ready);
}

void beside_close(struct task *task)
{
    struct beside *next;

    watch_close(&task->door);
    for (struct beside *session = task->providerd->beside; session; session = next) {
        static const char words[] = "the job is over";

        next = session->next;
        if (session->task != task)
            continue;
        session->task = NULL;
        session_over(session, 126, words, sizeof words - 1);
        if (!session->asking)
            session_free(session);
    }
}

void beside_tick(struct providerd *providerd)
{
    struct beside *next;

    for (struct beside *session = providerd->beside; session; session = next) {
        next = session->next;
        if (session->asking)
            continue;
        if (session->over || (!session->watch && !session->opened) || runner_now() - session->heard_at > UNHEARD_SPAN) {
            session_free(session);
            continue;
        }
        if (session->watch && byte_ring_room(&session->input) >= BESIDE_PIECE)
            uv_poll_start(&session->watch->poll, UV_READABLE, session_ready);
        session_ask(session);
    }
}

void beside_done(struct providerd *providerd)
{
    while (providerd->beside)
        session_free(providerd->beside);
}
