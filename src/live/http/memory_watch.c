/* memory_watch.c: whether the daemon has as much in memory as it may. */
#include "live/http/memory_watch.h"

#include "live/http/metrics.h"
#include "sys/own_memory.h"

#define GIVE_BACK_PAUSE (5 * SECOND) /* giving back takes long where much was freed */
#define DEFAULT_PART 2               /* of what the machine has, where the setting does not say */

void memory_watch_init(struct memory_watch *watch, const struct config *config, struct log *log)
{
    *watch = (struct memory_watch){.config = config, .log = log};
}

static int64_t memory_most(const struct memory_watch *watch)
{
    uint64_t set = config_size(watch->config, CONFIG_MEMORY_MAX);

    return set ? (int64_t)set : own_memory_most() / DEFAULT_PART;
}

/* While the daemon is full, it has to be under a part of the bound, so that it does not change with each ad. */
static bool is_over(const struct memory_watch *watch)
{
    return watch->used > (watch->full ? watch->most - watch->most / 16 : watch->most);
}

bool memory_is_full(struct memory_watch *watch, int64_t now)
{
    bool full;

    if (watch->looked && now < watch->looked + MEMORY_LOOK)
        return watch->full;
    watch->looked = now;
    watch->most = memory_most(watch);
    watch->used = own_memory_used();
    if (is_over(watch) && (!watch->gave_back || now >= watch->gave_back + GIVE_BACK_PAUSE)) {
        watch->gave_back = now;
        own_memory_give_back();
        watch->used = own_memory_used();
    }
    full = is_over(watch);
    if (full && !watch->full)
        LOG(watch->log, LEVEL_WARNING, "memory.full", log_number("used", watch->used), log_number("most", watch->most),
            log_text("what", "nothing new is taken until there is less"));
    else if (!full && watch->full)
        LOG(watch->log, LEVEL_INFO, "memory.room", log_number("used", watch->used), log_number("most", watch->most));
    return watch->full = full;
}

bool memory_refuses(struct memory_watch *watch, int64_t now)
{
    bool full = memory_is_full(watch, now);

    watch->refused += full;
    return full;
}

void memory_measure(struct memory_watch *watch, int64_t now, struct metrics *metrics)
{
    bool full = memory_is_full(watch, now);

    metrics_set(metrics, METRIC_MEMORY_USED, 0, 0, watch->used);
    metrics_set(metrics, METRIC_MEMORY_MAX, 0, 0, watch->most);
    metrics_set(metrics, METRIC_MEMORY_FULL, 0, 0, full);
    metrics_set(metrics, METRIC_MEMORY_REFUSALS, 0, 0, (int64_t)watch->refused);
}
