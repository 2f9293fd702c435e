/* gang_waits.h: why a request with ports waits, port by port: over all machines that are known, as pairs are explained (waits.h); private to the live
 * matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_GANG_WAITS_H
#define BERTH_LIVE_MATCHMAKERD_GANG_WAITS_H

#include "live/matchmakerd/waits.h"
#include "match/gang/port_view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GANG_WAITS_BUSY "waits for free machines: its gang would form if nothing of them were in use"

/* What is said of one port, as if all others were filled by somebody who suits it. */
struct port_said {
    struct tree *window; /* held: the port as a plain request */
    char *label;         /* as people read it; "": the request has no ports, and docks at those of offers */
    bool must;           /* the gang does not form while nobody docks there */
    /* What keeps machines from it, as of a plain request; WAIT_FORMS: that is known only when others are docked; WAIT_REASON_COUNT: it was not looked
     * into. */
    enum wait_reason first;
    uint32_t busy, pulls; /* machines that would be free, were nothing of them in use; that ask by themselves */
    struct buf words;     /* "waits for a free machine: ...", or "1 machine fits and is free (heron)" */
    struct buf reasons;   /* of JSON: the reasons, one after another */
};

enum port_stage { PORT_NEXT, PORT_FACES, PORT_HIDES, PORT_FITS, PORT_WAITS };

struct gang_waits {
    const struct matchmakerd *matchmakerd; /* NULL: nothing is known of when it began */
    const struct pool_machines *machines;  /* lent */
    const struct env *env;                 /* lent, as the scratch arena is */
    struct arena *scratch;
    struct ported ported; /* the request */
    struct port_said *items;
    uint32_t count, at; /* ports; the one that is looked at */
    uint64_t spent;     /* steps, about */
    enum port_stage stage;
    struct port_view view;      /* of the port that is looked at ... */
    struct pool_machines faces; /* ... the machines, as they would dock there ... */
    uint32_t made,
        doubtful; /* ... how many have been made; and left aside: what they show hangs on other ports of theirs */
    struct why why;
    bool has_why;
    struct explaining *run;
    struct waits waits;
};

/* Begins; all machines must be there. -1 and the reason when the request's ports are not in order: then nothing is to be done. */
int gang_waits_begin(struct gang_waits *waits, const struct matchmakerd *matchmakerd, const struct env *env,
                     struct arena *scratch, const struct pool_machines *machines, struct tree *request,
                     struct err *err);
/* Does a little; false when all ports have been looked at. */
bool gang_waits_go_on(struct gang_waits *waits);
void gang_waits_done(struct gang_waits *waits); /* takes what gang_waits_begin refused, and zeros */

/* The first port that must be filled, and that no machine could fill now if nothing were in use, one that waiting does not help before others; NULL:
 * there is none. `ret_first`: the reason why the gang waits then: `port`, or `forms` where waiting does not help. */
const struct port_said *gang_waits_unfilled(const struct gang_waits *waits, enum wait_reason *ret_first);
/* What a gang waits for that would form if nothing were in use. */
enum wait_reason gang_waits_idle(const struct gang_waits *waits);

/* A line for each port, but not for `but`, which has been told of. */
void gang_waits_print(struct buf *out, const struct gang_waits *waits, const struct port_said *but);
/* What is said of one port, without its full stop: "its port disk waits for ...". */
void port_said_print(struct buf *out, const struct port_said *said, const char *lead);
/* As JSON: the reason `port` of each, those that nobody can fill first; with a comma in front of each but the first, unless `more`. */
void gang_waits_print_json(struct buf *out, const struct gang_waits *waits, bool more);

#ifdef __cplusplus
}
#endif
#endif
