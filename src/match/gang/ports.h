/* ports.h: the ports of an ad: with whom, and with how many at once, it must meet (section 3.2.2).
 *
 *     [ Ports = { [ Label = cpu;  Constraint = cpu.Memory >= 64 ],
 *                 [ Label = node; Count = { 2, 16 }; Constraint = node.Host == cpu.Host && sum(node.Cpus) >= 32 ],
 *                 [ Choose = 1; Ports = { [ Label = matlab; ... ], [ Label = octave; ... ] } ] } ]
 *
 * A port is an ad in the list Ports. An ad without Ports has one implicit port, which is the ad itself, labelled `other`. A label is in force from
 * its port to the end of the list. A *group* is an entry that has Ports of its own: as many of its entries are filled as Choose says. An ad that says
 * Choose beside its Ports is such a group as a whole. A *set* is a port with a Count: that many distinct members dock there. */
#ifndef BERTH_MATCH_GANG_PORTS_H
#define BERTH_MATCH_GANG_PORTS_H

#include "lang/ad/eval.h"
#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PORTS_MAX 64        /* ports of one ad, those in groups counted */
#define PORTS_GROUP_DEPTH 8 /* groups inside one another */
#define PORTS_SET_MAX 256   /* members of a set */
#define PORTS_LABEL_MAX 128 /* bytes of a label: it is shown wherever its port is */

#define PORTS_NO_GROUP UINT32_MAX

struct port {
    symbol label;          /* of the tree; NAME_OTHER for the implicit port */
    const struct expr *ad; /* the cell of the port's ad; the root of the ad for the implicit one */
    uint32_t group;        /* the innermost group that it is in, or PORTS_NO_GROUP */
    uint32_t min, max;     /* members: 1 and 1 unless it is a set */
    bool set;              /* the port says Count */
    bool optional;         /* the port says Essential = false */
    bool share;            /* the port says Share = true: an ad that is in the gang already may dock here too */
};

struct port_group {
    const struct expr *ad; /* its cell: the ports in it see its attributes; the root of the ad for that of all ports */
    uint32_t outer;        /* the group that it is in, or PORTS_NO_GROUP */
    uint32_t min, max;     /* how many of its entries are filled */
    uint32_t first, end;   /* its ports, those of inner groups counted: from first to below end */
    bool optional;
};

struct ports {
    const struct tree *ad;     /* borrowed */
    struct port *items;        /* from left to right, those of groups in their place */
    struct port_group *groups; /* an outer one before its inner ones */
    uint32_t count, group_count;
    bool implicit;
};

/* Reads the ports of an ad, which is borrowed. -1 and the reason, with the number of the port, when they are not in order: Ports is not a
 * list of ads, a port has no label or that of another (or one that is too long, or cannot be shown), Count or Choose is not what it must be; then
 * there is nothing to free. The labels are held in the ad's table of symbols until ports_done. */
int ports_read(struct ports *ports, const struct tree *ad, struct err *err);
void ports_done(struct ports *ports);

/* The constraint of a port: its Constraint, else its Requirements; NULL for none, which counts as true. */
const struct expr *port_constraint(const struct ports *ports, uint32_t port);

/* Does a port, or a group, have an attribute of that name? Whoever docks there sees it in the place of the ad's own, so one that others vouch for
 * (Owner) is none if a port says it. */
bool ports_say(const struct ports *ports, symbol name);

/* The label as it is written: "cpu"; lives as long as the ad. */
const char *port_label(const struct ports *ports, uint32_t port, size_t *ret_len);

#ifdef __cplusplus
}
#endif
#endif
