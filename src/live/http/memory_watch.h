/* memory_watch.h: the bound on a daemon's memory, MemoryMax: is it reached, so that nothing is taken that would stay in memory?
 *
 *     used ----- MemoryMax reached ------> full: what is new is refused (503), what is there goes on
 *       ^------- under 15/16 of it ------'
 *
 * What is freed is given back to the kernel before a daemon is called full, and now and then while it is. A look costs some ten microseconds; one that is
 * not older than MEMORY_LOOK is good enough. */
#ifndef BERTH_LIVE_HTTP_MEMORY_WATCH_H
#define BERTH_LIVE_HTTP_MEMORY_WATCH_H

#include "live/config/config.h"
#include "sys/log.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MEMORY_LOOK (10 * MILLISECOND)
#define MEMORY_AGAIN "5" /* seconds until what was refused may be tried again */
#define MEMORY_WORDS                                                                                    \
    "MemoryMax: this service has as much in memory as it may, and takes nothing new; try again later, " \
    "or let an administrator allow more"

struct metrics; /* live/http/metrics.h */

struct memory_watch {
    const struct config *config;
    struct log *log;
    int64_t looked, gave_back; /* when, by clock_now(); 0: never */
    int64_t used, most;        /* as of the last look */
    bool full;
    uint64_t refused; /* how often something was refused for it */
};

/* Both are lent. */
void memory_watch_init(struct memory_watch *watch, const struct config *config, struct log *log);

/* Is the bound reached? `now` is clock_now(). */
bool memory_is_full(struct memory_watch *watch, int64_t now);

/* The same before something new is taken: counts that it is refused. */
bool memory_refuses(struct memory_watch *watch, int64_t now);

/* Sets the gauges. */
void memory_measure(struct memory_watch *watch, int64_t now, struct metrics *metrics);

#ifdef __cplusplus
}
#endif
#endif
