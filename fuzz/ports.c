/* ports.c: the ports of any ad are in order or are refused with a reason; lint tells of them in single lines; no name stays held.
 *
 * Bit 0 of byte 0 is the dialect; what follows, up to a line end, is the ad. */
#include "match/gang/ports.h"
#include "fuzz.h"
#include "match/gang/lint_ports.h"

struct tellings {
    unsigned count, refusals;
};

static void check_finding(void *user, const struct lint_finding *finding)
{
    struct tellings *tellings = user;

    if (!*finding->text || strchr(finding->text, '\n'))
        fuzz_broken("a finding is a line");
    if ((unsigned)finding->kind >= LINT_KIND_COUNT || finding->attribute == SYMBOL_NONE)
        fuzz_broken("a finding is of a kind and of an attribute");
    tellings->count++;
    tellings->refusals += finding->kind == LINT_WRONG_PORTS;
}

static void check_port(const struct ports *ports, uint32_t i)
{
    const struct port *port = &ports->items[i];

    if (port->label == SYMBOL_NONE || port->ad->kind != EXPR_AD)
        fuzz_broken("a port has a label and is an ad");
    for (uint32_t n = 0; n < i; n++)
        if (symbol_same(ports->items[n].label, port->label))
            fuzz_broken("no label stands twice");
    if (port->min > port->max || port->max < 1 || port->max > (port->set ? PORTS_SET_MAX : 1))
        fuzz_broken("a port has as many members as it may");
    if (port->group != PORTS_NO_GROUP && (port->group >= ports->group_count || i < ports->groups[port->group].first ||
                                          i >= ports->groups[port->group].end))
        fuzz_broken("a port is among those of its group");
}

static void check_group(const struct ports *ports, uint32_t i)
{
    const struct port_group *group = &ports->groups[i], *outer = &ports->groups[i];
    unsigned depth = 1;

    if (group->ad->kind != EXPR_AD || group->first >= group->end || group->end > ports->count)
        fuzz_broken("a group is an ad with ports");
    if (group->min > group->max || group->max < 1)
        fuzz_broken("a group chooses some of them");
    for (; outer->outer != PORTS_NO_GROUP; depth++) {
        const struct port_group *next = &ports->groups[outer->outer];

        if (next >= outer || next->first > outer->first || next->end < outer->end)
            fuzz_broken("a group lies within the one that it is in, and comes behind it");
        outer = next;
    }
    if (depth > PORTS_GROUP_DEPTH)
        fuzz_broken("groups are not too deep");
}

/* Are the ports in order? */
static bool check_ports(struct fuzz_world *world)
{
    struct err err = {0};
    struct ports ports;

    if (ports_read(&ports, world->my, &err) < 0) {
        if (!*err.text)
            fuzz_broken("what is refused is refused for a reason");
        if (ports_read(&ports, world->my, NULL) == 0)
            fuzz_broken("ports are read alike, whether the reason is asked for or not");
        return false;
    }
    if (ports.count < 1 || ports.count > PORTS_MAX)
        fuzz_broken("an ad has a port, and not too many");
    for (uint32_t i = 0; i < ports.count; i++)
        check_port(&ports, i);
    for (uint32_t i = 0; i < ports.group_count; i++)
        check_group(&ports, i);
    ports_done(&ports);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_world world;
    struct tellings tellings = {0};
    size_t held;
    bool right;

    fuzz_open(&world, data, size);
    if (world.my) {
        held = symbols_count(world.symbols);
        right = check_ports(&world);
        lint_ad(&world.arena, world.my, NULL, check_finding, &tellings);
        lint_ports(world.my, NULL, check_finding, &tellings);
        if (right != (tellings.refusals == 0))
            fuzz_broken("lint tells of ports that are refused, and only of those");
        if (symbols_count(world.symbols) != held)
            fuzz_broken("when the ports are gone no label is held");
    }
    fuzz_close(&world);
    return 0;
}
