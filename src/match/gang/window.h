/* window.h: a slot of a gang as a plain ad, with which the index is probed, or which is put into it (section 5.4.2); not installed.
 *
 *     slot    in [ Memory = 64; Ports = { [ Label = job; Constraint = job.Size < Memory ] } ]
 *     window  [ Memory = 64; Constraint = other.Size < 64 ]
 *
 * The window says what is known of the slot now: known attributes as literals, open ones as something that the index must leave in doubt; of the
 * constraint, the clauses that ask only about whoever docks there. Those who are docked elsewhere and depend on this slot add their clauses
 * (shunt.h). Whatever fits into the slot fits the window; the reverse is for evaluation to tell. */
#ifndef BERTH_MATCH_GANG_WINDOW_H
#define BERTH_MATCH_GANG_WINDOW_H

#include "lang/text/build.h"
#include "match/gang/members.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names, by their number; the symbols are borrowed. */
struct name_set {
    uint64_t *words;
    uint32_t room; /* words */
    symbol *items; /* each once */
    uint32_t count, item_room;
    uint64_t hash; /* of all of them, whatever their order */
    bool blind; /* something reads names that are not written there: it evaluates text, or looks at an ad as a whole */
};

void name_set_done(struct name_set *set);
void name_set_add(struct name_set *set, symbol name);

static inline bool name_set_has(const struct name_set *set, symbol name)
{
    uint32_t number = symbol_name(name);

    return number / 64 < set->room && set->words[number / 64] >> (number & 63) & 1;
}

/* Adds all names that are read anywhere in the expression. */
void name_set_read(struct name_set *set, const struct tree *tree, const struct expr *e);

/* Do windows show that attribute? Not one with a meaning of its own, such as Constraint. */
bool window_shows(symbol name);

/* Pushes other.name. */
void window_push_asked(struct build *build, symbol name);

/* Appends clauses to the builder; returns how many. */
typedef uint32_t window_more_fn(void *user, struct build *build);

/* What became of a clause of the slot's constraint, for explaining a window. */
struct window_origin {
    const struct expr *e; /* as it is written */
    bool asked;           /* the clause is the next one of the window; else it is tested only when somebody docks */
    bool timed;           /* the clause is false because of the time */
};

struct window_trace {
    struct window_origin *items; /* in the order of the clauses; those that are true whoever docks are left out */
    uint32_t count, room;
};

/* Makes the window of a slot; NULL when nobody can dock there. `asked`: the attributes that the window shows; NULL for all. `more` adds clauses; it
 * may be NULL. The caller unrefs the window. */
struct tree *window_make(struct members *members, const struct slot *slot, const struct name_set *asked,
                         window_more_fn *more, void *user);

/* Makes a window with those further clauses; it is the window itself when there are none. The caller unrefs it. */
struct tree *window_extend(struct tree *window, window_more_fn *more, void *user);

/* The same as window_make with all attributes, and never NULL: a clause that is never true is a clause of the window as well. `trace` is empty
 * before; the caller frees its items. */
struct tree *window_traced(struct members *members, const struct slot *slot, struct window_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
