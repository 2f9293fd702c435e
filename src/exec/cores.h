/* cores.h: which processors are whose, where nothing but their choice can hold a job to its share of them.
 *
 *     struct cores         the processors that this process may use, in hwloc's order, each with its core and its NUMA node
 *     struct cores_share   those of one claim: whole ones, and one that it may use a part of
 *
 * Whoever gives them out knows all shares. A whole one is nobody else's; parts of several shares may be of one processor as long as they
 * are no more than all of it. A share that does not fit is not given: then a job may use all of them, which is slow at worst, where a wrong
 * choice would have two jobs wait for one processor while another is idle. */
#ifndef BERTH_EXEC_CORES_H
#define BERTH_EXEC_CORES_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CORES_MAX 4096 /* processors; higher numbers are not used */

struct cores {
    uint32_t count, nodes; /* 0: nothing is known, and nothing is given */
    struct cores_place {
        uint16_t number, core, node; /* number: the system's */
    } place[CORES_MAX];
};

struct cores_share {
    double amount;                  /* that was asked for; 0: nothing was given */
    int32_t part;                   /* the processor that it has only a part of; -1: none */
    uint32_t reserved;              /* 0 */
    uint64_t whole[CORES_MAX / 64]; /* a bit a processor */
};

/* `synthetic`: a made-up machine, in hwloc's words; NULL: this one, and of it what the calling process may use. `allowed`: a list such as
 * 0-3,8 that says so instead; NULL: not said. Where that cannot be found out, nothing is known. */
void cores_read(struct cores *cores, const char *synthetic, const char *allowed);

/* Chooses a share of that many processors beside the shares that are given; amount 0 when it does not fit. It is of one NUMA node where one has
 * room, the fullest that has; cores of which nothing is used come before the threads of others. `turn`: where to begin to look, so that several
 * agents on a machine do not all begin with the first. */
void cores_choose(const struct cores *cores, double amount, const struct cores_share *const *given, uint32_t count,
                  uint32_t turn, struct cores_share *ret);

/* All processors of a share, as sched_setaffinity takes them. */
void cores_mask(const struct cores_share *share, uint64_t ret[CORES_MAX / 64]);
/* Could cores_choose have made that share? What was read from a file may be anything. */
bool cores_share_is_good(const struct cores_share *share);

#ifdef __cplusplus
}
#endif
#endif
