/* guests.c: the processes that were let into the sandbox of a launcher's job after it had begun. */
#define _GNU_SOURCE
#include "exec/guests.h"

#include "exec/enter.h"
#include "exec/usage.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(SHELLS_MAX <= JOB_GUESTS_MAX, "a job knows all its guests");

void guests_init(struct guests *guests)
{
    for (int i = 0; i < SHELLS_MAX; i++)
        guests->items[i] = (struct guest){.fd = -1};
}

static void guest_gone(struct guest *guest)
{
    close(guest->fd);
    *guest = (struct guest){.fd = -1};
}

static void guest_fails(struct guest *guest, const char *words)
{
    struct shell_head head = {.kind = SHELL_FAILED};

    shell_send(guest->fd, &head, words, strlen(words), NULL, 0);
    guest_gone(guest);
}

/* Reads what the agent has said already: a socket that is closed over it would take with it what we have said. */
static void words_drop(int fd)
{
    char *text = mem_alloc(SHELL_BYTES_MAX);
    int streams[SHELL_STREAMS], count;
    struct shell_head head;
    size_t len;

    while (shell_receive(fd, &head, text, SHELL_BYTES_MAX, &len, streams, &count) > 0)
        while (count)
            close(streams[--count]);
    free(text);
}

void guests_add(struct guests *guests, int fd)
{
    struct guest refused = {.fd = fd};

    for (int i = 0; i < SHELLS_MAX; i++)
        if (guests->items[i].fd < 0) {
            guests->items[i] = (struct guest){.fd = fd};
            return;
        }
    words_drop(fd);
    guest_fails(&refused, "so many commands run in the job's sandbox already");
}

void guests_watch(const struct guests *guests, struct pollfd out[SHELLS_MAX])
{
    for (int i = 0; i < SHELLS_MAX; i++)
        out[i] = (struct pollfd){.fd = guests->items[i].killed ? -1 : guests->items[i].fd, .events = POLLIN};
}

/* Sends a signal to the process and, where nothing of it is to be left, to all that it began. */
static void guest_signal(const struct guest *guest, int number)
{
    struct job_processes processes;

    job_processes_init(&processes);
    processes.root = (int)getpid();
    if (number == SIGKILL)
        job_processes_find_also(&processes, guest->pid, (int)getpid());
    else
        job_processes_just(&processes, guest->pid, (int)getpid());
    job_processes_signal(&processes, number);
    job_processes_done(&processes);
}

/* Reads the words of a command and of the terminal. False: they are none. */
static bool words_read(char *text, size_t len, const struct shell_head *head, const char **words, const char **ret_term)
{
    char *at = text, *end = text + len;
    uint32_t count = 0;

    if (!head->words || head->words > SHELL_WORDS_MAX || !len || text[len - 1])
        return false;
    for (; at < end && count < head->words; at += strlen(at) + 1)
        words[count++] = at;
    words[count] = NULL;
    *ret_term = head->terminal ? at : NULL;
    return count == head->words && *words[0] && (!head->terminal || at < end);
}

static void guest_begin(struct guest *guest, struct exec_job *job, const struct sandbox *sandbox,
                        const struct shell_head *head, char *text, size_t len, const int *streams, int count)
{
    const char **words = mem_alloc((SHELL_WORDS_MAX + 1) * sizeof *words);
    struct enter_order order = {
        .arguments = words, .rows = head->rows, .columns = head->columns, .streams = {-1, -1, -1}, .told = guest->fd};
    struct err err = {0};

    if (count == SHELL_STREAMS)
        memcpy(order.streams, streams, sizeof order.streams);
    if (!words_read(text, len, head, words, &order.term) || (!order.term && count != SHELL_STREAMS))
        guest_fails(guest, "that is no command");
    else if (!job->order || !job->runs || job->killing)
        guest_fails(guest, "the job does not run");
    else if (job->suspended || job->rests)
        guest_fails(guest, "the job is suspended");
    else if ((guest->pid = enter_start(job, sandbox, &order, &err)) > 0)
        job_guest(job, guest->pid);
    else
        guest_fails(guest, err.text);
    free(words);
}

static void guest_obey(struct guest *guest, struct exec_job *job, const struct sandbox *sandbox, char *text)
{
    struct shell_head head;
    int streams[SHELL_STREAMS], count = 0, got;
    size_t len = 0;

    got = shell_receive(guest->fd, &head, text, SHELL_BYTES_MAX, &len, streams, &count);
    if (got > 0 && head.kind == SHELL_BEGIN && !guest->pid)
        guest_begin(guest, job, sandbox, &head, text, len, streams, count);
    else if (got > 0 && head.kind == SHELL_SIGNAL && guest->pid && head.value > 0 && head.value < 64)
        guest_signal(guest, head.value);
    else if (got < 0 && guest->pid) {
        guest->killed = true; /* nobody wants it any more; it stays here until it was reaped */
        guest_signal(guest, SIGKILL);
    } else if (got < 0)
        guest_gone(guest);
    while (count)
        close(streams[--count]);
}

void guests_hear(struct guests *guests, const struct pollfd *fds, struct exec_job *job, const struct sandbox *sandbox)
{
    char *text = NULL;

    for (int i = 0; i < SHELLS_MAX; i++)
        if (fds[i].fd >= 0 && fds[i].revents && guests->items[i].fd == fds[i].fd) {
            text = text ? text : mem_alloc(SHELL_BYTES_MAX);
            guest_obey(&guests->items[i], job, sandbox, text);
        }
    free(text);
}

void guests_reaped(struct guests *guests, pid_t pid, int status)
{
    struct shell_head head = {.kind = SHELL_ENDED,
                              .value = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)};

    for (int i = 0; i < SHELLS_MAX; i++)
        if (guests->items[i].fd >= 0 && guests->items[i].pid == pid) {
            shell_send(guests->items[i].fd, &head, "", 0, NULL, 0);
            guest_gone(&guests->items[i]);
        }
}

void guests_done(struct guests *guests)
{
    for (int i = 0; i < SHELLS_MAX; i++)
        if (guests->items[i].fd >= 0)
            guest_fails(&guests->items[i], "the job is over");
}
