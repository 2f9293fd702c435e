/* commands.h: commands that wait for an agent: what is asked, by whom, until when, and what was answered.
 *
 *     taken -> durable -> told to the agent, as often as needed -> answered, by the agent's own call
 *                 `-- its time is over -> expired -> answered late: what really happened counts
 *
 * A command has a number, by which people call it, and a key, by which the agent knows it again: it is carried out once, however often it
 * is told. Commands for one agent are told in the order of their numbers. What was answered is kept for a while, for those who ask later.
 * Every change is a row on the shelf; the commit is the caller's. */
#ifndef BERTH_LIVE_WORLD_COMMANDS_H
#define BERTH_LIVE_WORLD_COMMANDS_H

#include "lang/text/tree.h"
#include "live/auth/token.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COMMAND_SPACE "command"         /* rows: the number, 16 digits -> an ad */
#define COMMAND_NAME_MAX 63             /* bytes of the agent's name */
#define COMMANDS_PER_AGENT 32           /* that wait */
#define COMMANDS_PER_USER 256           /* that wait */
#define COMMANDS_WAITING 10000          /* of all */
#define COMMANDS_KEPT 1000              /* that were answered or have expired */
#define COMMANDS_BYTES (8u << 20)       /* of their answers */
#define COMMAND_ANSWER_MAX (256u << 10) /* bytes of one, as text */
#define COMMAND_LIFE INT64_C(86400)     /* seconds that one waits, unless it says otherwise; and those at most: */
#define COMMAND_LIFE_MAX (INT64_C(30) * 86400)
#define COMMAND_ALLOWANCE 2              /* seconds by which clocks may differ: then one is carried out no more */
#define COMMAND_DONE_LIFE INT64_C(86400) /* seconds that an answer is kept */

enum command_state { COMMAND_WAITS, COMMAND_DONE, COMMAND_EXPIRED };

struct agent_command {
    struct agent_command *next; /* by rising numbers */
    uint64_t number, key;
    uint64_t to;                     /* the agent's handle */
    char name[COMMAND_NAME_MAX + 1]; /* what it is called */
    uint64_t job, claim,
        trial; /* of a job: which, and the claim and the number in it that it runs under; 0: for the agent itself */
    char by[TOKEN_NAME_MAX + 1];
    int64_t at, ends, done; /* seconds, on the wall clock */
    enum command_state state;
    struct tree *what;   /* held: an ad with a text `Command` */
    struct tree *answer; /* held: an ad with a text `Reason`; NULL: there is none */
    size_t bytes;        /* of the answer's text */
    /* of this life alone */
    bool flying; /* it is being told */
    int64_t due; /* not to be told before */
};

struct commands {
    struct symbols *symbols;
    struct shelf *shelf;
    struct agent_command *first, *last;
    uint64_t numbered;
    uint32_t waiting, kept;
    size_t bytes;
};

/* What is asked of whom; all is lent. */
struct command_order {
    uint64_t to;
    const char *name;
    uint64_t job, claim, trial;
    const char *by;
    int64_t life; /* seconds */
    struct tree *what;
};

void commands_init(struct commands *commands, struct symbols *symbols, struct shelf *shelf);
int commands_load(struct commands *commands, struct err *err);
void commands_done(struct commands *commands);

/* May that user have another command wait for that agent? NULL, or the words that say why not. */
const char *command_refusal(const struct commands *commands, uint64_t to, const char *by);
/* Adds a command and puts its row on the shelf; NULL when that failed. Nothing is checked. */
struct agent_command *command_add(struct commands *commands, const struct command_order *order, uint64_t key,
                                  int64_t wall, struct err *err);
struct agent_command *command_numbered(const struct commands *commands, uint64_t number); /* NULL: there is none */
struct agent_command *command_keyed(const struct commands *commands, uint64_t key);
/* The next command behind `after` (NULL: the first) that waits for that agent; NULL: there is none. */
struct agent_command *command_waiting(const struct commands *commands, const struct agent_command *after, uint64_t to);
uint32_t commands_waiting_for(const struct commands *commands, uint64_t to);

/* Takes the answer to a command, also to one that has expired; a second answer changes nothing. A command whose answer gives the reason "expired"
 * was not carried out, and has expired. An answer that is too long is not kept: one that says so stands in its place. -1: the row could not be
 * written. */
int command_answer(struct commands *commands, struct agent_command *command, struct tree *answer, int64_t wall,
                   struct err *err);
/* Does the command still want an answer? It waits, or has expired without a word of its agent. */
bool command_wants_answer(const struct agent_command *command);
/* Lets commands expire whose time is over, and drops answered ones that were kept long enough or are too many. True: rows have changed. */
bool commands_sweep(struct commands *commands, int64_t wall, struct err *err);

/* The command as people are told of it: [ Type; Number; Command; Agent; Name; Job; By; Age; Left; State; Reason; What; Answer ]. The caller unrefs it. */
struct tree *command_ad(const struct commands *commands, const struct agent_command *command, int64_t wall);
/* The word of a command, such as "drain", lent by `what`; "" when it has none. */
const char *command_word(const struct agent_command *command, size_t *ret_len);
/* Is the time over that a told command gives as `Ends`? One from an older matchmaker does not say. */
bool command_is_late(const struct tree *told, int64_t wall);
/* An answer of a reason and words alone; the caller unrefs it. */
struct tree *command_reason(struct symbols *symbols, const char *reason, const char *words);

#ifdef __cplusplus
}
#endif
#endif
