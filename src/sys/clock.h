/* clock.h: what the machine's clocks show, in microseconds. */
#ifndef BERTH_SYS_CLOCK_H
#define BERTH_SYS_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int64_t clock_now(void);   /* since the machine was started, sleep included: never jumps */
int64_t clock_spent(void); /* processor time of this thread */
int64_t clock_waits(void); /* not a time: how often this thread has waited for something, as for a disk */
int64_t clock_wall(void);  /* since 1970: may be set by people */

#ifdef __cplusplus
}
#endif
#endif
