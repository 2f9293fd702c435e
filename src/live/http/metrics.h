/* metrics.h: what the service has done and how it is doing, as numbers for monitoring (OpenMetrics text).
 *
 *     counter    a number for each pair of labels; only grows
 *     gauge      a number for each pair of labels; as it is now
 *     histogram  for each label, how many took up to 16, 32, ... 2^24 microseconds, and the sum of all
 *     waits      the same for what takes long: up to 0.5, 1, 2, ... seconds, and 6 days
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
    X(GUARD, "reason", "")                                     \
    X(COPY, "result", "made failed")                           \
    X(STANDING, "state", "")                                   \
    X(OUTCOME, "outcome", "")                                  \
    X(TASK, "state", "staging running settling held")          \
    X(ENDING, "reason", "")                                    \
    X(WAY, "way", "in out")                                    \
    X(MESSAGE, "result", "sent answered relayed taken refused")

/* X(id, name, type, unit or "", whose it is, first set, second set, help). M is the matchmaker, C a customer, P a provider. Counters are printed with `_total` behind the
 * name; a metric with a unit ends in it. */
#define METRICS(X)                                                                                                     \
    X(CYCLES, "berth_cycles", COUNTER, "", M, NONE, NONE, "Matchmaking cycles.")                                       \
    X(WINDOWS_FELL_BACK, "berth_windows_fell_back", COUNTER, "", M, NONE, NONE,                                        \
      "Windows that Assignment could not settle, and srfm did.")                                                       \
    X(CYCLE_SECONDS, "berth_cycle_seconds", HISTOGRAM, "seconds", M, NONE, NONE, "Time of a matchmaking cycle.")       \
    X(MATCHES, "berth_matches", COUNTER, "", M, NONE, NONE, "Matches made.")                                           \
    X(CONSIDERED, "berth_candidates_considered", COUNTER, "", M, NONE, NONE,                                           \
      "Offers that were evaluated against a request.")                                                                 \
    X(PRUNED, "berth_candidates_pruned", COUNTER, "", M, NONE, NONE, "Offers that the index left out.")                \
    X(ADS, "berth_ads", GAUGE, "", M, KIND, NONE, "Ads that are valid now.")                                           \
    X(WAITING, "berth_requests_waiting", GAUGE, "", M, WAITING, NONE, "Requests that wait, by what for.")              \
    X(WAITING_UNITS, "berth_waiting_units", GAUGE, "", M, REASON, NONE, "Units that wait, by their first reason.")     \
    X(MACHINES, "berth_machines", GAUGE, "", M, STATE, NONE, "Machines that are known, by how they stand.")            \
    X(PROCESSORS, "berth_machine_processors", GAUGE, "", M, USE, NONE, "Processors of machines that are not away.")    \
    X(MEMORY, "berth_machine_memory_bytes", GAUGE, "bytes", M, USE, NONE, "Memory of machines that are not away.")     \
    X(DISK, "berth_machine_disk_bytes", GAUGE, "bytes", M, USE, NONE, "Disk of machines that are not away, for jobs.") \
    X(GPUS, "berth_machine_gpus", GAUGE, "", M, USE, NONE, "GPUs of machines that are not away.")                      \
    X(NOTIFICATIONS, "berth_notifications", COUNTER, "", M, DELIVERY, NONE,                                            \
      "Notifications of matches, by their result.")                                                                    \
    X(HTTP_REQUESTS, "berth_http_requests", COUNTER, "", MCP, ROUTE, STATUS, "HTTP requests answered.")                \
    X(HTTP_SECONDS, "berth_http_request_seconds", HISTOGRAM, "seconds", MCP, ROUTE, NONE,                              \
      "Time from a request's head to its answer.")                                                                     \
    X(COMMITS, "berth_store_commits", COUNTER, "", MCP, NONE, NONE, "Commits of the store.")                           \
    X(COMMIT_SECONDS, "berth_store_commit_seconds", HISTOGRAM, "seconds", MCP, NONE, NONE, "Time of a commit.")        \
    X(COMMIT_FAILURES, "berth_store_failures", COUNTER, "", MCP, NONE, NONE, "Commits that failed.")                   \
    X(STORE_AWAY, "berth_store_away", GAUGE, "", MCP, NONE, NONE, "1: the database of the store does not answer.")     \
    X(LOOP_LAG, "berth_loop_lag_seconds", HISTOGRAM, "seconds", MCP, NONE, NONE, "How late timers are called.")        \
    X(LOOP_TURN, "berth_loop_turn_seconds", HISTOGRAM, "seconds", MC, NONE, NONE,                                      \
      "Processor time of a turn of the loop.")                                                                         \
    X(CONNECTIONS, "berth_connections", GAUGE, "", M, NONE, NONE, "Connections that are open.")                        \
    X(STREAMS, "berth_streams", GAUGE, "", M, NONE, NONE, "Event streams that are open.")                              \
    X(STREAMS_CUT, "berth_streams_cut", COUNTER, "", M, NONE, NONE,                                                    \
      "Event streams ended because their reader was too slow.")                                                        \
    X(TOKENS_REFUSED, "berth_tokens_refused", COUNTER, "", MCP, FAULT, NONE,                                           \
      "Tokens refused, by the check that failed.")                                                                     \
    X(GUARD_REFUSALS, "berth_guard_refusals", COUNTER, "", MCP, GUARD, NONE,                                           \
      "Connections refused before a handler saw them.")                                                                \
    X(RELAYED, "berth_relay_messages", COUNTER, "", M, NONE, NONE,                                                     \
      "Messages carried between agents that cannot call each other.")                                                  \
    X(COMMANDS, "berth_commands", COUNTER, "", M, COMMAND, NONE, "Commands to agents, by what became of them.")        \
    X(COMMANDS_WAITING, "berth_commands_waiting", GAUGE, "", M, NONE, NONE, "Commands that wait for their agents.")    \
    X(FILES, "berth_catalogue_files", GAUGE, "", M, NONE, NONE, "Files in the catalogue.")                             \
    X(REPLICAS, "berth_catalogue_replicas", GAUGE, "", M, NONE, NONE, "Replicas of files in the catalogue.")           \
    X(FILES_ASKED, "berth_catalogue_questions", COUNTER, "", M, QUESTION, NONE,                                        \
      "Questions to the catalogue: for a file that it has, for one that it does not, for a list.")                     \
    X(FILES_CHANGED, "berth_catalogue_changes", COUNTER, "", M, CHANGE, NONE,                                          \
      "Changes of the catalogue, and those that were refused because the file is another's.")                          \
    X(QUEUE_JOBS, "berth_customer_queue_jobs", GAUGE, "", C, STANDING, NONE,                                           \
      "Jobs that are not in the history, by their state.")                                                             \
    X(COPIES, "berth_copies", COUNTER, "", C, COPY, NONE,                                                              \
      "Copies of files of the catalogue that were made, and tries that failed.")                                       \
    X(COPIES_FILES, "berth_copies_files", GAUGE, "", C, NONE, NONE, "Files of which a number of copies is kept.")      \
    X(COPIES_LACKING, "berth_copies_lacking", GAUGE, "", C, NONE, NONE, "Those of them that lack copies.")             \
    X(QUEUE_COUNT, "berth_customer_jobs", GAUGE, "", C, NONE, NONE, "Jobs in the queue.")                              \
    X(SUBMITTED, "berth_jobs_submitted", COUNTER, "", C, NONE, NONE, "Jobs submitted.")                                \
    X(CRONS_RUN, "berth_crons_run", COUNTER, "", C, NONE, NONE, "Times at which jobs that come again were submitted.") \
    X(CRONS_SKIPPED, "berth_crons_skipped", COUNTER, "", C, NONE, NONE,                                                \
      "Times at which jobs that come again were not submitted.")                                                       \
    X(ENDED, "berth_jobs_ended", COUNTER, "", C, OUTCOME, NONE, "Jobs that ended, by their outcome.")                  \
    X(QUEUE_WAIT, "berth_queue_wait_seconds", WAITS, "seconds", C, NONE, NONE,                                         \
      "From a job's submission until a machine first has it, in whole seconds.")                                       \
    X(TRIES, "berth_tries", COUNTER, "", C, NONE, NONE, "Tries: a claim was given a job.")                             \
    X(TRIES_LOST, "berth_tries_lost", COUNTER, "", C, NONE, NONE,                                                      \
      "Tries after which the job waits again, or is tried again.")                                                     \
    X(OUTPUTS_MISSING, "berth_tries_outputs_missing", COUNTER, "", C, NONE, NONE,                                      \
      "Tries of which not all files came.")                                                                            \
    X(CUSTOMER_CONNECTED, "berth_customer_connected", GAUGE, "", C, NONE, NONE, "1: the matchmaker is reached.")       \
    X(CUSTOMER_DISK_FREE, "berth_customer_disk_free_bytes", GAUGE, "bytes", C, NONE, NONE,                             \
      "Bytes that are left on the disk of the state folder.")                                                          \
    X(CUSTOMER_DISK_FULL, "berth_customer_disk_full", GAUGE, "", C, NONE, NONE,                                        \
      "1: no files are taken, for want of room.")                                                                      \
    X(CUSTOMER_SPOOL, "berth_customer_spool_bytes", GAUGE, "bytes", C, NONE, NONE, "Bytes of inputs that are kept.")   \
    X(PROVIDER_CONNECTED, "berth_provider_connected", GAUGE, "", P, NONE, NONE, "1: a matchmaker is reached.")         \
    X(CLAIMS, "berth_provider_claims", GAUGE, "", P, NONE, NONE, "Claims that have something of it.")                  \
    X(TASKS, "berth_provider_jobs", GAUGE, "", P, TASK, NONE, "Jobs that are here, by how far they are.")              \
    X(STARTED, "berth_provider_jobs_started", COUNTER, "", P, NONE, NONE, "Jobs that came here.")                      \
    X(TASKS_ENDED, "berth_provider_jobs_ended", COUNTER, "", P, ENDING, NONE,                                          \
      "Jobs that ended here, by what ended them.")                                                                     \
    X(MEMORY_KILLS, "berth_provider_memory_kills", COUNTER, "", P, NONE, NONE,                                         \
      "Jobs killed at the limit of their memory: by their cgroup, or by who watches them where there is none.")        \
    X(STAGING, "berth_provider_staging_seconds", WAITS, "seconds", P, NONE, NONE,                                      \
      "From a job's coming until its process runs: files, images, secrets.")                                           \
    X(RESULTS, "berth_provider_results_waiting", GAUGE, "", P, NONE, NONE,                                             \
      "Results that are not all with their customers yet.")                                                            \
    X(TRANSFERS, "berth_provider_transfers_waiting", GAUGE, "", P, NONE, NONE,                                         \
      "Files that wait to be brought to stores.")                                                                      \
    X(TRANSFER_ROOM, "berth_provider_transfer_room_bytes", GAUGE, "bytes", P, NONE, NONE,                              \
      "Bytes that are left for files that wait.")                                                                      \
    X(PROVIDER_GPUS, "berth_provider_gpus", GAUGE, "", P, USE, NONE, "GPUs of this machine.")                          \
    X(SICK, "berth_provider_sick", GAUGE, "", P, NONE, NONE, "1: the machine is not fit for jobs, and says so.")       \
    X(DRAINING, "berth_provider_draining", GAUGE, "", P, NONE, NONE, "1: it takes no more work.")                      \
    X(FILE_BYTES, "berth_file_bytes", COUNTER, "bytes", CP, WAY, NONE,                                                 \
      "Bytes of jobs' files that came in and went out; at a provider counted when a try has ended.")                   \
    X(SUPERSEDED, "berth_agent_superseded", GAUGE, "", CP, NONE, NONE,                                                 \
      "1: another with this name began later, from a copy of its state.")                                              \
    X(FAILED_OVER, "berth_agent_failed_over", COUNTER, "", CP, NONE, NONE,                                             \
      "How often another matchmaker was asked, for one did not answer.")                                               \
    X(MESSAGES, "berth_agent_messages", COUNTER, "", CP, MESSAGE, NONE,                                                \
      "Messages between agents and the matchmaker, by what became of them.")                                           \
    X(LOG_DROPPED, "berth_log_lines_dropped", COUNTER, "", MCP, NONE, NONE,                                            \
      "Lines of the log that could not be written.")                                                                   \
    X(START_TIME, "process_start_time_seconds", GAUGE, "seconds", MCP, NONE, NONE,                                     \
      "When the process started, since 1970.")                                                                         \
    X(MEMORY_USED, "berth_memory_bytes", GAUGE, "bytes", MCP, NONE, NONE,                                              \
      "Memory of its own, without pages of files.")                                                                    \
    X(MEMORY_MAX, "berth_memory_max_bytes", GAUGE, "bytes", MCP, NONE, NONE,                                           \
      "Memory with which nothing new is taken.")                                                                       \
    X(MEMORY_FULL, "berth_memory_full", GAUGE, "", MCP, NONE, NONE, "1: nothing new is taken, for want of memory.")    \
    X(MEMORY_REFUSALS, "berth_memory_refusals", COUNTER, "", MCP, NONE, NONE, "What was refused for want of memory.")  \
    X(RESIDENT, "process_resident_memory_bytes", GAUGE, "bytes", MCP, NONE, NONE, "Memory in use.")

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

/* Whose a metric is. */
enum metric_party {
    METRIC_PARTY_M = 1,
    METRIC_PARTY_C = 2,
    METRIC_PARTY_MC = 3,
    METRIC_PARTY_P = 4,
    METRIC_PARTY_CP = 6,
    METRIC_PARTY_MCP = 7
};

#define METRIC_BUCKETS \
    21 /* up to 16 us, 32 us, ... 2^24 us (16.8 s), of waits 2^15 times that; one more for the rest */
#define METRIC_WORDS_MAX 1024 /* of a set */

/* Words of a set, in the order of their places; they outlive the metrics. */
struct metric_words {
    enum metric_set set;
    const char *const *words;
    size_t count;
};

struct metrics;

/* Those of one party. A set that has no words of its own and is given none has only `other`. */
struct metrics *metrics_new(enum metric_party party, const struct metric_words *sets, size_t set_count);
void metrics_free(struct metrics *metrics);

/* Adds n to a counter. Labels of NONE are 0. Here and below: nothing is counted where `metrics` is NULL. */
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

int64_t metrics_resident(void); /* memory of this process in bytes, as the kernel says; 0 when it does not */

#ifdef __cplusplus
}
#endif
#endif
