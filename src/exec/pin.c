/* pin.c: a signal for the process that is meant. */
#define _GNU_SOURCE
#include "exec/pin.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int pin_open(int pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

void pin_send(int pin, int number)
{
    syscall(SYS_pidfd_send_signal, pin, number, NULL, 0);
}

void pin_signal(int pid, int number, bool (*is_meant)(int pid, const void *user), const void *user)
{
    int pin = pin_open(pid);

    if (pin < 0 && errno == ESRCH)
        return;
    if (is_meant(pid, user)) {
        if (pin >= 0)
            pin_send(pin, number);
        else
            kill(pid, number); /* too many descriptors, or a kernel that has no such thing */
    }
    if (pin >= 0)
        close(pin);
}
