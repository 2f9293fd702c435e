/* shells_parts.h: what the files of the customer's shells share; private to them.
 *
 *     shells.c      each of them, and what is said to its provider
 *     api_shells.c  what its user says and hears
 *     shells_beside.c  what another process of the same job says and hears */
#ifndef BERTH_LIVE_CUSTOMERD_SHELLS_PARTS_H
#define BERTH_LIVE_CUSTOMERD_SHELLS_PARTS_H

#include "live/customerd/shells.h"
#include "live/world/shell_order.h"
#include "sys/byte_ring.h"

#define SHELL_SIGNALS_MAX 16 /* that wait */

enum shell_state {
    SHELL_OPENING, /* its provider has not answered yet */
    SHELL_RUNS,
    SHELL_OVER,
};

struct shell {
    struct shell *next;
    struct customerd *customerd;
    uint64_t number, key;
    uint64_t job, claim, trial;
    agent member;
    agent asker; /* the agent of a process of the same job that has begun it; 0: a user has */
    uint64_t asker_key;
    uint64_t at; /* the claim of the member of a gang that it is in; 0: the job has one alone */
    char owner[TOKEN_NAME_MAX + 1], by[TOKEN_NAME_MAX + 1];
    char program[64];
    struct tree *order; /* as the provider gets it */
    bool terminal;
    enum shell_state state;
    struct byte_ring rings[2]; /* output and error, to the user */
    struct byte_ring input;
    bool input_ends, ends_told;
    uint16_t rows, columns;
    bool window_due, nudge_due, close_due, closed;
    int signals[SHELL_SIGNALS_MAX]; /* that wait; the first has the number signal_serial + 1 */
    uint32_t signal_count;
    int64_t signal_serial;
    bool flying, told;                            /* told: somebody has heard how it ended */
    int64_t due;                                  /* not before; 0: at once */
    int64_t began_at, read_at, heard_at, over_at; /* on the clock that does not jump */
    struct request *reader;                       /* waits for news; NULL: none does */
    int64_t reader_at[2], reader_until;           /* what it has read; and until when it waits */
    int64_t status;
    char words[SHELL_WORDS_ROOM];
};

struct shell *shell_numbered(const struct customerd *customerd, uint64_t number);
/* Makes one; the order is held. `in`: the member of the job's gang that it is in; NULL: the job has one alone. */
struct shell *shell_add(struct customerd *customerd, const struct job_view *view, const struct member_view *in,
                        const struct shell_order *order, const char *by);
/* Tells its provider what is due, if nothing is on its way to it. */
void shell_tell(struct shell *shell);
/* Answers the reader that waits, if there is news or its time is up; or anyway (api_shells.c). */
void shell_wake(struct shell *shell, bool anyway);
bool shell_is_attached(const struct shell *shell); /* does somebody read it? */

/* ---- api_shells.c ---- */

/* Why none more can be begun there; NULL: one can. */
const char *shell_refusal(const struct customerd *customerd, uint64_t job, const struct member_view *in,
                          const char *by);
void shell_input_take(struct shell *shell, const struct tree *ad);  /* what is typed, as much as there is room for */
bool shell_signal_take(struct shell *shell, const struct tree *ad); /* false: it is none that may be sent */

#endif
