/* pin.h: a signal for the process that is meant. Numbers of processes are used again, quickly where many are begun: whoever holds one by now may be
 * anybody. So the process is pinned by a descriptor first, then asked whether it is the one, and the signal goes to the descriptor. */
#ifndef BERTH_EXEC_PIN_H
#define BERTH_EXEC_PIN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A descriptor of the process, or -1. */
int pin_open(int pid);
void pin_send(int pin, int number);
/* Sends a signal to that process, if `is_meant` says so once it is pinned. */
void pin_signal(int pid, int number, bool (*is_meant)(int pid, const void *user), const void *user);

#ifdef __cplusplus
}
#endif
#endif
