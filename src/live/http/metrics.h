/* metrics.h: what the service has done and how it is doing, as numbers for monitoring (OpenMetrics text).
 *
 *     counter    a number for each pair of labels; only grows
 *     gauge      a number for each pair of labels; as it is now
 *     histogram  for each label, how many took up to 16, 32, ... 2^24 microseconds, and the sum of all
 *
 * The metrics are the rows of METRICS below; labels are places in sets of words, which are bounded and known at the start. A place
 * behind the end of its set counts as `other`. A metric is found by its number, at the cost of an array access. */
#ifndef BERTH_LIVE_HTTP_METRICS_H
#define BERTH_LIVE_HTTP_METRICS_H

#include "lang/base/buf.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The sets of words: the label's name, and the words if they are always the same; others are given to metrics_new. */
#define METRIC_SETS(X)                                         \
    X(NONE, "", "")                                            \
    X(KIND, "kind", "offer request")                           \
    X(WAITING, "reason", "")                                   \
    X(STATE, "state", "")                                      \
    X(REASON, "reason", "")                                    \
    X(USE, "kind", "all used")                                 \
    X(DELIVERY, "result", "delivered refused unknown dropped") \
    X(COMMAND, "result", "taken answered expired refused")     \
    X(QUESTION, "result", "found missing listed")              \
    X(CHANGE, "result", "taken refused")                       \
    X(ROUTE, "route", "")                                      \
    X(STATUS, "status", "1xx 2xx 3xx 4xx 5xx")                 \
    X(FAULT, "fault", "")                                      \
    X(GUARD, "reason", "")

/* X(id, name, type, unit or "", first set, second set, help). Counters are printed with `_total` behind the name; a metric with a unit ends in it. */
#define METRICS(X)                                                                                                     \
    X(CYCLES, "berth_cycles", COUNTER, "", NONE, NONE, "Matchmaking cycles.")                                          \
    X(WINDOWS_FELL_BACK, "berth_windows_fell_back", COUNTER, "", NONE, NONE,                                           \
      "Windows that Assignment could not settle, and srfm did.")                                                       \
    X(CYCLE_SECONDS, "berth_cycle_seconds", HISTOGRAM, "seconds", NONE, NONE, "Time of a matchmaking cycle.")          \
    X(MATCHES, "berth_matches", COUNTER, "", NONE, NONE, "Matches made.")                                              \
    X(CONSIDERED, "berth_candidates_considered", COUNTER, "", NONE, NONE,                                              \
      "Offers that were evaluated against a request.")                                                                 \
    X(PRUNED, "berth_candidates_pruned", COUNTER, "", NONE, NONE, "Offers that the index left out.")                   \
    X(ADS, "berth_ads", GAUGE, "", KIND, NONE, "Ads that are valid now.")                                              \
    X(WAITING, "berth_requests_waiting", GAUGE, "", WAITING, NONE, "Requests that wait, by what for.")                 \
    X(WAITING_UNITS, "berth_waiting_units", GAUGE, "", REASON, NONE, "Units that wait, by their first reason.")        \
    X(MACHINES, "berth_machines", GAUGE, "", STATE, NONE, "Machines that are known, by how they stand.")               \
    X(PROCESSORS, "berth_machine_processors", GAUGE, "", USE, NONE, "Processors of machines that are not away.")       \
    X(MEMORY, "berth_machine_memory_bytes", GAUGE, "bytes", USE, NONE, "Memory of machines that are not away.")        \
    X(DISK, "berth_machine_disk_bytes", GAUGE, "bytes", USE, NONE, "Disk of machines that are not away, for jobs.")    \
    X(GPUS, "berth_machine_gpus", GAUGE, "", USE, NONE, "GPUs of machines that are not away.")                         \
    X(NOTIFICATIONS, "berth_notifications", COUNTER, "", DELIVERY, NONE, "Notifications of matches, by their result.") \
    X(HTTP_REQUESTS, "berth_http_requests", COUNTER, "", ROUTE, STATUS, "HTTP requests answered.")                     \
    X(HTTP_SECONDS, "berth_http_request_seconds", HISTOGRAM, "seconds", ROUTE, NONE,                                   \
      "Time from a request's head to its answer.")                                                                     \
    X(COMMITS, "berth_store_commits", COUNTER, "", NONE, NONE, "Commits of the store.")                                \
    X(COMMIT_SECONDS, "berth_store_commit_seconds", HISTOGRAM, "seconds", NONE, NONE, "Time of a commit.")             \
    X(COMMIT_FAILURES, "berth_store_failures", COUNTER, "", NONE, NONE, "Commits that failed.")                        \
    X(LOOP_LAG, "berth_loop_lag_seconds", HISTOGRAM, "seconds", NONE, NONE, "How late timers are called.")             \
    X(LOOP_TURN, "berth_loop_turn_seconds", HISTOGRAM, "seconds", NONE, NONE, "Processor time of a turn of the loop.") \
    X(CONNECTIONS, "berth_connections", GAUGE, "", NONE, NONE, "Connections that are open.")                           \
    X(STREAMS, "berth_streams", GAUGE, "", NONE, NONE, "Event streams that are open.")                                 \
    X(STREAMS_CUT, "berth_streams_cut", COUNTER, "", NONE, NONE,                                                       \
      "Event streams ended because their reader was too slow.")                                                        \
    X(TOKENS_REFUSED, "berth_tokens_refused", COUNTER, "", FAULT, NONE, "Tokens refused, by the check that failed.")   \
    X(GUARD_REFUSALS, "berth_guard_refusals", COUNTER, "", GUARD, NONE,                                                \
      "Connections refused before a handler saw them.")                                                                \
    X(RELAYED, "berth_relay_messages", COUNTER, "", NONE, NONE,                                                        \
      "Messages carried between agents that cannot call each other.")                                                  \
    X(COMMANDS, "berth_commands", COUNTER, "", COMMAND, NONE, "Commands to agents, by what became of them.")           \
    X(COMMANDS_WAITING, "berth_commands_waiting", GAUGE, "", NONE, NONE, "Commands that wait for their agents.")       \
    X(FILES, "berth_catalogue_files", GAUGE, "", NONE, NONE, "Files in the catalogue.")                                \
    X(REPLICAS, "berth_catalogue_replicas", GAUGE, "", NONE, NONE, "Replicas of files in the catalogue.")              \
    X(FILES_ASKED, "berth_catalogue_questions", COUNTER, "", QUESTION, NONE,                                           \
      "Questions to the catalogue: for a file that it has, for one that it does not, for a list.")                     \
    X(FILES_CHANGED, "berth_catalogue_changes", COUNTER, "", CHANGE, NONE,                                             \
      "Changes of the catalogue, and those that were refused because the file is another's.")                          \
    X(LOG_DROPPED, "berth_log_lines_dropped", COUNTER, "", NONE, NONE, "Lines of the log that could not be written.")  \
    X(START_TIME, "process_start_time_seconds", GAUGE, "seconds", NONE, NONE, "When the process started, since 1970.") \
    X(RESIDENT, "process_resident_memory_bytes", GAUGE, "bytes", NONE, NONE, "Memory in use.")

enum metric_set {
#define X(id, ...) METRIC_SET_##id,
    METRIC_SETS(X)
#undef X
        METRIC_SET_COUNT
};

enum metric {
#define X(id, ...) METRIC_##id,
    METRICS(X)
#undef X
        METRIC_COUNT
};

#define METRIC_BUCKETS 21     /* up to 16 us, 32 us, ... 2^24 us (16.8 s); one more for the rest */
#define METRIC_WORDS_MAX 1024 /* of a set */

/* Words of a set, in the order of their places; they outlive the metrics. */
struct metric_words {
    enum metric_set set;
    const char *const *words;
    size_t count;
};

struct metrics;

/* A set that has no words of its own and is given none has only `other`. */
struct metrics *metrics_new(const struct metric_words *sets, size_t set_count);
void metrics_free(struct metrics *metrics);

/* Adds n to a counter. Labels of NONE are 0. */
void metrics_add(struct metrics *metrics, enum metric metric, size_t first, size_t second, uint64_t n);

static inline void metrics_count(struct metrics *metrics, enum metric metric)
{
    metrics_add(metrics, metric, 0, 0, 1);
}

/* Sets a gauge, or a counter that is counted elsewhere, to its present value. START_TIME is in microseconds, as all times are. */
void metrics_set(struct metrics *metrics, enum metric metric, size_t first, size_t second, int64_t value);

/* Adds one observation, of that many microseconds, to a histogram. */
void metrics_observe(struct metrics *metrics, enum metric metric, size_t first, int64_t microseconds);

/* The value of a counter or a gauge; of a histogram, how many were observed. */
int64_t metrics_value(const struct metrics *metrics, enum metric metric, size_t first, size_t second);

/* Appends all metrics as OpenMetrics text, with `# EOF`. Of metrics with two labels, and of histograms with one, only
 * series that are not zero are printed. */
void metrics_print(struct buf *out, const struct metrics *metrics);

/* Appends one of them, without `# EOF`, for a daemon that tells only a few. */
void metrics_print_one(struct buf *out, const struct metrics *metrics, enum metric metric);

int64_t metrics_resident(void); /* memory of this process in bytes, as the kernel says; 0 when it does not */

#ifdef __cplusplus
}
#endif
#endif
