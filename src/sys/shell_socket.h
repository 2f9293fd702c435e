/* shell_socket.h: what an agent and the launcher of a claim say to each other about one further process in the sandbox of a job: `berth exec`.
 *
 *     agent                                        launcher
 *       | SHELL_BEGIN, with the streams, into a socket, and
 *       | PARCEL_SHELL, with the other end of it --->|          from here on by that socket, a datagram a word:
 *       |<-- SHELL_BEGAN, with the terminal ---------|          or SHELL_FAILED
 *       | SHELL_SIGNAL ----------------------------->|
 *       |<-- SHELL_ENDED, with the status -----------|
 *
 * Without a terminal the agent hands over three streams; with one, it is made inside, and the agent gets its other side. Who closes the socket ends
 * the process. */
#ifndef BERTH_SYS_SHELL_SOCKET_H
#define BERTH_SYS_SHELL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHELLS_MAX 8                /* of a job, at a time */
#define SHELL_WORDS_MAX 1000        /* of a command */
#define SHELL_BYTES_MAX (64u << 10) /* of all of them, with their NULs */
#define SHELL_STREAMS 3
#define SHELL_TEXT_MAX 200

enum shell_kind { SHELL_BEGIN = 1, SHELL_SIGNAL, SHELL_BEGAN, SHELL_FAILED, SHELL_ENDED };

/* What a word begins with; SHELL_BEGIN: the words of the command follow, each with its NUL, and then what TERM is, if there is a terminal;
 * SHELL_FAILED: what is wrong. */
struct shell_head {
    uint32_t kind;
    int32_t value;     /* a signal; the status, or minus the signal that ended it; of a failure the error, or 0 */
    uint32_t words;    /* of the command */
    uint32_t terminal; /* 1: it has one */
    uint16_t rows, columns;
};

/* Sends a word, with up to SHELL_STREAMS descriptors beside it. False: not sent. */
bool shell_send(int fd, const struct shell_head *head, const char *text, size_t len, const int *beside, int count);
/* Receives a word: its text, with a NUL behind it, into `room` bytes. 1: got; 0: nothing is there now; -1: the other side is gone, or it is no
 * word. Descriptors that came are the caller's; `*ret_count` of them. */
int shell_receive(int fd, struct shell_head *ret, char *text, size_t room, size_t *ret_len,
                  int ret_beside[SHELL_STREAMS], int *ret_count);

#ifdef __cplusplus
}
#endif
#endif
