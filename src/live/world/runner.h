/* runner.h: one role, live: real time, real chance, and a shelf for what must be durable.
 *
 *     event -> role_step -> effects -> sends, replies, jobs and notes, by the ports;   rows -> shelf
 *                              `-- what waits for a row is kept until the shelf has it
 *
 * Rows are committed in groups, at the end of each turn of the loop; steps go on while a shelf elsewhere takes its time. When a commit fails
 * the role is stopped for good: no answer that stood behind the row is given, and whoever owns the runner ends, to start anew from what is durable. */
#ifndef BERTH_LIVE_WORLD_RUNNER_H
#define BERTH_LIVE_WORLD_RUNNER_H

#include "pool/protocol/role.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How effects reach the outside. What is handed over is lent for the call. */
struct runner_ports {
    void *user;
    void (*send)(void *user, agent to, const struct message *message, uint64_t token,
                 uint32_t tag); /* -> runner_answer */
    void (*reply)(void *user, uint64_t token, const struct message *message);
    void (*job)(void *user, const struct effect *effect); /* EFFECT_JOB, _DEADLINE, _STOP, _SUSPEND; NULL: none come */
    void (*changed)(void *user, uint64_t job);            /* EFFECT_CHANGED; or NULL */
    void (*note)(void *user, const struct effect *effect);
    bool (*goes_on)(void *user);                 /* are more rows about to come, so that these may wait? Or NULL */
    void (*committed)(void *user, int64_t took); /* rows are durable; or NULL */
    void (*woken)(void *user, int64_t took);     /* after each EVENT_WAKE, which is where cycles are; or NULL */
    void (*away)(void *user, const char *why);   /* a shelf elsewhere does not answer; NULL: it does again. Or NULL */
    void (*broken)(void *user, const char *why); /* once: the shelf has failed, and the role does nothing more */
};

struct runner;
struct uv_loop_s; /* uv_loop_t */

/* Makes a runner and a role, which begins with the rows on the shelf. Where those are of a backup, it has started so often that
 * nothing it says looks older than what was said since the backup. All that is handed over outlives the runner. NULL and `err` when the rows
 * cannot be read. The caller gives EVENT_BOOTED, after its news of jobs. */
struct runner *runner_new(struct uv_loop_s *loop, const struct role_kind *kind, const void *settings,
                          struct shelf *shelf, struct symbols *symbols, const struct secrets *secrets,
                          const struct runner_ports *ports, struct err *err);
void runner_free(struct runner *runner); /* what waits for a row never happens; the shelf stays open */

void *runner_role(const struct runner *runner); /* for questions */

/* Steps the role with one event. Called from within a port, the event is kept until the step at hand is done. */
void runner_event(struct runner *runner, const struct event *event);
void runner_answer(struct runner *runner, uint64_t token, uint32_t tag, const struct peer *peer,
                   const struct message *message);
void runner_no_answer(struct runner *runner, uint64_t token, uint32_t tag);

/* Joins the next commit: others who have rows of their own put them on the shelf and call this. `done` is called once: when the rows are durable
 * and something may leave; or, with false, when the runner goes before that. NULL: nobody wants to know. */
typedef void commit_done_fn(void *user, bool durable);
void runner_commit(struct runner *runner, commit_done_fn *done, void *user);
/* Stops the role, as if the shelf had failed; nobody is told. */
void runner_halt(struct runner *runner);
bool runner_is_broken(const struct runner *runner);
/* Is the shelf elsewhere, and does it not answer? Then what has to be durable takes until it does. */
bool runner_is_away(const struct runner *runner);
/* May anything leave? Not while the shelf is elsewhere and another may have taken its rows: what comes in is carried out then, and its effects wait;
 * EVENT_WAKE waits, too. */
bool runner_may_act(const struct runner *runner);
/* Could a row not be read since this was asked last? (shelf_kind.misread) */
bool runner_misread(struct runner *runner);

/* The rows were those of a backup (restored.h), and what follows from that is done: the next start is an ordinary one. Costs nothing where they
 * were not. */
void runner_is_restored(struct runner *runner);

/* The clocks, as the role sees them, in microseconds. */
int64_t runner_now(void); /* never jumps, and goes on while the machine sleeps */
int64_t runner_wall(void);
/* The wall clock by which things are thrown away: a jump ahead is not believed until it has lasted for a while (steady_clock.h). */
int64_t runner_settled(struct runner *runner);
int64_t runner_seconds(struct runner *runner); /* the same, in whole seconds */

#ifdef __cplusplus
}
#endif
#endif
