/* members.h: a gang as it grows: its members, and who is docked to whom (figure 32); not installed.
 *
 *     member 0 = the root      slots   [ cpu ]     [ node 1 ] [ node 2 ] [ node, the whole set ]
 *                                        |
 *     member 1 = a machine     slots   [ job ]
 *
 * Every member has a slot for each port, for each position of a port that is a set, and one more for such a set as a whole. The
 * expressions of a port are evaluated in its slot, where the labels in force are the slots docked there. What is not decided
 * yet is *open*: an expression that reads it has no value yet.
 *
 * Members come and go like a stack. */
#ifndef BERTH_MATCH_GANG_MEMBERS_H
#define BERTH_MATCH_GANG_MEMBERS_H

#include "lang/base/array.h"
#include "match/gang/gang.h"
#include "match/gang/ported.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MEMBER_SLOTS_MAX 1024 /* slots of one ad; an ad with more is in no gang */

enum slot_state { SLOT_OPEN, SLOT_FILLED, SLOT_EMPTY };

struct slot {
    struct scope ad, port; /* evaluate in `port` */
    struct surroundings around;
    struct label *labels;    /* by port; those after its own port are not in force */
    uint32_t member, number; /* whose slot it is, and its number there */
    uint32_t port_number;
    uint32_t position; /* in a set */
    bool whole;        /* the set as a whole: nobody docks here */
    enum slot_state state;
    uint32_t docked; /* the member that is docked here; NOBODY */
    uint32_t docked_slot;
    struct value set; /* of a whole: its list */
};

struct member {
    const struct ported *of;
    size_t place;                 /* of its ad among all */
    uint32_t parent, parent_slot; /* NOBODY: the root */
    uint32_t link;                /* its own slot that docks there */
    uint32_t depth;
    struct slot *slots;
    struct arena_mark mark; /* of the arena, before the member came */
};

/* Gives the environment of a policy's vector for the candidate of that place (SIZE_MAX: for a set). It lives until the next call. */
typedef struct env members_env_fn(const void *user, const struct env *env, size_t place);

struct members {
    const struct env *env;
    const struct policy *policy;
    members_env_fn *vector_env; /* NULL: the vector uses `env` too */
    const void *vector_user;
    struct arena arena;    /* of slots */
    struct arena *scratch; /* of evaluations */
    struct member items[GANG_MEMBERS_MAX + 1];
    uint32_t count;
    uint64_t evaluations;
    uint64_t steps; /* of all evaluations */
    bool veiled;    /* a window was made that does not say all that its slot says */
};

void members_init(struct members *members, const struct env *env, const struct policy *policy, struct arena *scratch);
void members_done(struct members *members);

/* Adds a member, docked to nobody, and returns its number; takes off the last one. */
uint32_t members_push(struct members *members, const struct ported *of, size_t place);
void members_pop(struct members *members);

static inline struct slot *members_slot(const struct members *members, uint32_t member, uint32_t slot)
{
    return &members->items[member].slots[slot];
}

/* The slot of a port (of a set, its first position). */
uint32_t member_slot_of(const struct ported *of, uint32_t port);

/* Docks the child's slot at the parent's; takes it off again. */
void members_dock(struct members *members, uint32_t parent, uint32_t slot, uint32_t child, uint32_t link);
void members_undock(struct members *members, uint32_t child);

/* Decides that nobody docks there; makes the slot open again. */
void members_leave(struct members *members, uint32_t member, uint32_t slot);
void members_reopen(struct members *members, uint32_t member, uint32_t slot);

/* Is the constraint of a slot's port true? For a position of a set, without the clauses about the whole; for a whole, only those. */
enum truth { TRUTH_NO, TRUTH_YES, TRUTH_OPEN };
enum truth members_truth(struct members *members, const struct slot *slot);

/* Is one clause of it true? */
enum truth members_clause(struct members *members, const struct slot *slot, const struct expr *e);

/* Calls `each` for every clause of the slot's constraint that counts there, until it returns false; then returns false. */
typedef bool clause_fn(void *user, const struct slot *slot, const struct expr *e);
bool slot_clauses(const struct members *members, const struct slot *slot, clause_fn *each, void *user);

/* Evaluates an expression in a slot; false when it is open. The value lives in the scratch arena. */
bool members_evaluate(struct members *members, const struct scope *scope, const struct expr *e, struct value *ret);

/* Makes the docking vector of a slot that is filled, or of a whole, in the arena. Returns its size; 0 when it is discarded. */
uint32_t members_vector(struct members *members, const struct slot *slot, struct arena *arena, struct value **ret,
                        bool *ret_open);

#ifdef __cplusplus
}
#endif
#endif
