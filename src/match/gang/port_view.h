/* port_view.h: one port of a request alone, as a plain request, and offers as those who might dock there; what hangs on other ports is believed.
 *
 *     port     [ Label = cpu; Image = 64M; Constraint = cpu.Memory > Image && cpu.Site == disk.Site ]
 *     window   [ Image = 64M; Constraint = other.Memory > 64M ]
 *
 * An attribute that is open in a window or a face is a reference back to whoever asks (window.h). Nobody may be blamed for that: a clause of an offer
 * that reads something open of the request is left out, and an offer of which the port reads something open is in doubt. */
#ifndef BERTH_MATCH_GANG_PORT_VIEW_H
#define BERTH_MATCH_GANG_PORT_VIEW_H

#include "match/gang/window.h"

#ifdef __cplusplus
extern "C" {
#endif

struct port_view {
    struct tree *window;         /* held */
    struct name_set open, reads; /* of it: what is open, and what its constraint reads */
};

void port_view_take(struct port_view *view, struct tree *window); /* takes the window */
void port_view_done(struct port_view *view);

/* The window of that port, with nobody docked. The caller unrefs it. */
struct tree *port_view_window(const struct env *env, struct arena *scratch, const struct policy *policy,
                              const struct ported *request, uint32_t port);

/* Does the face leave anything open that the port reads? */
bool port_view_doubts(const struct port_view *view, const struct tree *face);
/* Does the clause of a face read something of the window that is open? */
bool port_view_hangs(const struct port_view *view, const struct tree *face, const struct expr *e);
/* The face without the clauses that depend on something open. The caller unrefs it. */
struct tree *port_view_judge(const struct port_view *view, struct tree *face);

/* An offer as one who docks there, as a plain ad: of one with ports, that of them which fits best. NULL: it docks by none of them, or (`ret_doubtful`)
 * what they show is known only when others of its own are filled. Adds the steps of evaluation to `steps`. The caller unrefs it. */
struct tree *port_view_face(const struct port_view *view, const struct env *env, struct arena *scratch,
                            const struct policy *policy, struct tree *offer, bool *ret_doubtful, uint64_t *steps);

#ifdef __cplusplus
}
#endif
#endif
