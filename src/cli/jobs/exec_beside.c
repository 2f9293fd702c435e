/* exec_beside.c: berth exec within a parallel job: a command beside another process of the same job, by the socket that the machine's agent has put into the
 * job's folder (sys/beside_socket.h). */
#include "cli/jobs/exec_beside.h"

#include "cli/jobs/shell.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/base/buf.h"
#include "sys/beside_socket.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STATUS_UNBEGUN 126

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

static int door_open(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path));
    return fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0 ? fd : -1;
}

static bool order_send(int fd, uint64_t member, int word_count, char **words)
{
    struct buf packet;
    bool sent;

    buf_init(&packet);
    buf_addc(&packet, BESIDE_OPEN);
    for (int i = 0; i < 4; i++)
        buf_addc(&packet, (char)(unsigned char)(member >> 8 * i));
    for (int i = 0; i < word_count; i++)
        buf_add(&packet, words[i], strlen(words[i]) + 1);
    sent = packet.len <= BESIDE_PACKET_MAX && send(fd, packet.text, packet.len, MSG_NOSIGNAL) == (ssize_t)packet.len;
    buf_done(&packet);
    return sent;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t put = write(fd, bytes, len);

        if (put < 0 && errno != EINTR)
            return false;
        bytes += put > 0 ? put : 0;
        len -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Takes a packet. True: it was the last, and `*ret_status` is how to end. */
static bool packet_take(const char *packet, size_t len, int *ret_status)
{
    int32_t status = 0;

    if (packet[0] == BESIDE_OUTPUT || packet[0] == BESIDE_ERROR) {
        *ret_status = SHELL_STATUS_SIGNALLED + SIGPIPE;
        return !write_all(packet[0] == BESIDE_OUTPUT ? STDOUT_FILENO : STDERR_FILENO, packet + 1, len - 1);
    }
    if (packet[0] != BESIDE_OVER || len < 5)
        return false;
    for (int i = 0; i < 4; i++)
        status |= (int32_t)((uint32_t)(unsigned char)packet[1 + i] << 8 * i);
    if (len > 5)
        report("%.*s", (int)(len - 5), packet + 5);
    *ret_status = status < 0 ? SHELL_STATUS_SIGNALLED - status : status & 255;
    return true;
}

/* What was read here and has not left yet: the agent takes it when there is room, and what comes from it is read meanwhile. */
struct typed {
    char packet[1 + BESIDE_PIECE];
    size_t len;
    bool ends; /* there is no more */
};

static void input_read(struct typed *typed)
{
    ssize_t got = read(STDIN_FILENO, typed->packet + 1, BESIDE_PIECE);

    if (got < 0 && errno == EINTR)
        return;
    typed->packet[0] = got > 0 ? BESIDE_INPUT : BESIDE_ENDS;
    typed->len = got > 0 ? 1 + (size_t)got : 1;
    typed->ends = got <= 0;
}

static void input_send(int fd, struct typed *typed)
{
    if (typed->len && send(fd, typed->packet, typed->len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
        typed->len = 0;
}

static int follow(int fd, bool input)
{
    static char packet[BESIDE_PACKET_MAX];
    static struct typed typed;
    int status = STATUS_UNBEGUN;

    if (!input) {
        typed = (struct typed){.len = 1, .ends = true};
        typed.packet[0] = BESIDE_ENDS;
    }
    for (;;) {
        struct pollfd ready[2] = {{.fd = fd, .events = (short)(POLLIN | (typed.len ? POLLOUT : 0))},
                                  {.fd = typed.len || typed.ends ? -1 : STDIN_FILENO, .events = POLLIN}};
        int events = poll(ready, 2, -1);
        ssize_t got;

        if (caught) {
            send(fd, (char[]){BESIDE_SIGNAL, (char)caught}, 2, MSG_NOSIGNAL | MSG_DONTWAIT);
            caught = 0;
        }
        if (events <= 0)
            continue;
        if (ready[1].revents)
            input_read(&typed);
        input_send(fd, &typed);
        if (!(ready[0].revents & ~POLLOUT))
            continue;
        got = recv(fd, packet, sizeof packet, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            report("the agent of the machine has let go of the command");
            return STATUS_UNBEGUN;
        }
        if (got > 0 && packet_take(packet, (size_t)got, &status))
            return status;
    }
}

int exec_beside(const char *door, uint64_t member, bool input, int word_count, char **words)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT};
    struct sigaction action = {.sa_handler = on_signal};
    int fd = door_open(door), status;

    if (fd < 0 || !order_send(fd, member, word_count, words)) {
        report("%s: %s", door, strerror(errno));
        if (fd >= 0)
            close(fd);
        return STATUS_UNBEGUN;
    }
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    status = follow(fd, input);
    close(fd);
    return status;
}
