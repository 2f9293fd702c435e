/* gang_waits.c: why a request with ports waits, port by port.
 *
 *     next     the port as a plain request; one that is as an earlier one is told the same of
 *     faces    each machine as one who docks there: whole, and what is left of it       (port_view.h)
 *     hides    what decides whom they take, where that is not for the caller
 *     fits     would each take it, and it each, with nothing in use?                    (why.h)
 *     waits    what keeps it from those that would                                      (waits.h)
 *
 * All ports together take no longer than one plain explanation may: what is not looked into by then is said to be so. Only what is told of a port is
 * kept, so that memory is that of one. */
#include "live/matchmakerd/gang_waits.h"

#include "live/matchmakerd/matchmakerd_state.h"

#include "lang/base/array.h"
#include "lang/base/json.h"
#include "lang/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAIN_STEPS 20000 /* steps of evaluation in a slice */
#define FACES_AT_ONCE 512   /* machines, in a slice ... */
#define FACE_COST 4         /* ... each of which costs so many steps beside what is evaluated */
#define LABEL_SHOWN 60      /* bytes of a label */

static const struct policy any = {0};

/* ------------------------------------------------------------------------------------------------------------------- begin */

static char *label_shown(const struct ports *ports, uint32_t port)
{
    size_t len;
    const char *text = port_label(ports, port, &len);
    char *label;

    if (ports->implicit)
        len = 0;
    if (len > LABEL_SHOWN)
        for (len = LABEL_SHOWN; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--;
    label = mem_dup(text, len);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)label[i] < ' ' || label[i] == 127)
            label[i] = '?';
    return label;
}

int gang_waits_begin(struct gang_waits *waits, const struct matchmakerd *matchmakerd, const struct env *env,
                     struct arena *scratch, const struct pool_machines *machines, struct tree *request, struct err *err)
{
    *waits = (struct gang_waits){.matchmakerd = matchmakerd, .machines = machines, .env = env, .scratch = scratch};
    if (ported_init(&waits->ported, request, err) < 0)
        return -1;
    waits->count = waits->ported.ports.count;
    waits->items = mem_alloc((waits->count + 1) * sizeof *waits->items);
    for (uint32_t i = 0; i < waits->count; i++) {
        const struct port *port = &waits->ported.ports.items[i];

        waits->items[i] = (struct port_said){.label = label_shown(&waits->ported.ports, i),
                                             .must = !port->optional && port->min > 0 && port->group == PORTS_NO_GROUP,
                                             .first = WAIT_REASON_COUNT};
        buf_init(&waits->items[i].words);
        buf_init(&waits->items[i].reasons);
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------------------- one port */

static void port_end(struct gang_waits *waits)
{
    why_end(waits->run);
    waits->run = NULL;
    if (waits->has_why)
        why_done(&waits->why);
    waits->has_why = false;
    pool_machines_done(&waits->faces);
    waits->faces = (struct pool_machines){0};
    port_view_done(&waits->view);
    waits->stage = PORT_NEXT;
}

/* How many machines the port must have. An ad that is in the gang already may dock at one that shares. */
static uint32_t port_wants(const struct port *port)
{
    return port->share || port->min < 1 ? 1 : port->min;
}

/* The earlier port that asks for the same. */
static const struct port_said *port_alike(const struct gang_waits *waits, const struct tree *window)
{
    for (uint32_t i = 0; i < waits->at; i++) {
        const struct port_said *said = &waits->items[i];

        if (said->window &&
            port_wants(&waits->ported.ports.items[i]) == port_wants(&waits->ported.ports.items[waits->at]) &&
            tree_equal(said->window, tree_root(said->window), window, tree_root(window)))
            return said;
    }
    return NULL;
}

static void port_begin(struct gang_waits *waits)
{
    struct port_said *said = &waits->items[waits->at];
    struct tree *window = port_view_window(waits->env, waits->scratch, &any, &waits->ported, waits->at);
    const struct port_said *alike = port_alike(waits, window);

    said->window = window;
    if (alike) {
        said->first = alike->first;
        said->busy = alike->busy;
        said->pulls = alike->pulls;
        buf_add(&said->words, alike->words.text, alike->words.len);
        buf_add(&said->reasons, alike->reasons.text, alike->reasons.len);
        waits->at++;
        return;
    }
    port_view_take(&waits->view, tree_ref(window));
    waits->made = waits->doubtful = 0;
    waits->stage = PORT_FACES;
}

/* Adds a machine as one who docks there; one that does not is not among them. */
static void face_add(struct gang_waits *waits, const struct pool_machine *machine, uint64_t *steps)
{
    struct pool_machines *faces = &waits->faces;
    bool doubtful, left_doubtful;
    struct tree *whole =
        port_view_face(&waits->view, waits->env, waits->scratch, &any, machine->whole, &doubtful, steps);

    waits->doubtful += doubtful;
    if (!whole)
        return;
    ARRAY_ROOM(faces->items, faces->count, faces->room, 256);
    faces->items[faces->count] = *machine;
    faces->items[faces->count].whole = whole;
    faces->items[faces->count].left = machine->left ? port_view_face(&waits->view, waits->env, waits->scratch, &any,
                                                                     machine->left, &left_doubtful, steps)
                                                    : NULL;
    faces->items[faces->count].masked = faces->items[faces->count].masked_left = NULL;
    faces->items[faces->count].id = mem_dup(machine->id, strlen(machine->id));
    faces->items[faces->count].words = machine->words ? mem_dup(machine->words, strlen(machine->words)) : NULL;
    faces->count++;
}

static void faces_make(struct gang_waits *waits)
{
    uint32_t all = waits->machines->total > waits->machines->count ? waits->machines->total : waits->machines->count;
    uint64_t steps = 0;

    for (uint32_t i = 0; i < FACES_AT_ONCE && waits->made < all && steps < EXPLAIN_STEPS; i++) {
        face_add(waits, &waits->machines->items[waits->made++], &steps);
        steps += FACE_COST;
    }
    waits->spent += steps;
    if (waits->made < all)
        return;
    pool_machines_end(&waits->faces);
    waits->stage = PORT_HIDES;
}

static void waits_start(struct gang_waits *waits)
{
    struct tree *window = waits->view.window;

    why_end(waits->run);
    waits->run = NULL;
    waits_begin(&waits->waits, waits->env, waits->scratch, &waits->faces, window);
    if (waits->matchmakerd)
        waits_place(&waits->waits, waits->matchmakerd, 0, 0);
    waits->waits.window = 0; /* of the gang, not of a port */
    waits->waits.wanted = port_wants(&waits->ported.ports.items[waits->at]);
    waits->stage = PORT_WAITS;
}

/* All machines have been looked at: what is told of the port is made. */
static void port_say(struct gang_waits *waits)
{
    struct port_said *said = &waits->items[waits->at];

    said->first = waits->waits.first;
    said->busy = waits->waits.counts[WAIT_BUSY];
    said->pulls = waits->waits.counts[WAIT_PULL];
    if (waits->doubtful && (said->first == WAIT_NOFIT || said->first == WAIT_REFUSES || said->first == WAIT_LEARNS)) {
        said->first = WAIT_FORMS;
        buf_add_count(&said->words, waits->doubtful);
        buf_addf(&said->words, " machine%s may fit: that is known only when other ports of %s are filled",
                 waits->doubtful == 1 ? "" : "s", waits->doubtful == 1 ? "its own" : "theirs");
    } else {
        if (waits->waits.wanted > 1)
            buf_addf(&said->words, "wants %u machines, and ", waits->waits.wanted);
        waits_print_reason(&said->words, &waits->waits, said->first);
        waits_print_json_reasons(&said->reasons, &waits->waits);
    }
    waits->at++;
}

bool gang_waits_go_on(struct gang_waits *waits)
{
    uint64_t steps = 0;

    if (waits->at == waits->count)
        return false;
    if (waits->spent > WHY_STEPS_MAX) {
        port_end(waits);
        waits->at = waits->count;
        return false;
    }
    switch (waits->stage) {
    case PORT_NEXT:
        port_begin(waits);
        break;
    case PORT_FACES:
        faces_make(waits);
        break;
    case PORT_HIDES:
        waits->spent += EXPLAIN_STEPS / 8;
        if (pool_machines_mask(&waits->faces, waits->env, waits->scratch, waits->view.window))
            break;
        waits->run = why_begin(&waits->why, waits->env, waits->scratch, &any, waits->view.window, waits->faces.wholes,
                               waits->faces.present);
        waits->has_why = true;
        waits->stage = PORT_FITS;
        break;
    case PORT_FITS:
        waits->spent += EXPLAIN_STEPS;
        if (!why_go_on(waits->run, EXPLAIN_STEPS))
            waits_start(waits);
        break;
    case PORT_WAITS:
        if (!waits_go_on(&waits->waits, waits->env, waits->scratch, &waits->why, &steps)) {
            port_say(waits);
            port_end(waits);
        }
        waits->spent += steps;
        break;
    }
    return waits->at < waits->count;
}

void gang_waits_done(struct gang_waits *waits)
{
    if (!waits->items)
        return;
    port_end(waits);
    for (uint32_t i = 0; i < waits->count; i++) {
        tree_unref(waits->items[i].window);
        free(waits->items[i].label);
        buf_done(&waits->items[i].words);
        buf_done(&waits->items[i].reasons);
    }
    free(waits->items);
    ported_done(&waits->ported);
    *waits = (struct gang_waits){0};
}

/* ------------------------------------------------------------------------------------------------------------ what is said */

/* Nobody can fill it, and waiting does not help. */
static bool port_is_hopeless(const struct port_said *said)
{
    return said->must && (said->first == WAIT_NOFIT || said->first == WAIT_REFUSES || said->first == WAIT_LEARNS);
}

static bool port_is_unfilled(const struct port_said *said)
{
    return port_is_hopeless(said) || (said->must && (said->first == WAIT_AWAY || said->first == WAIT_SICK ||
                                                     said->first == WAIT_DRAINED || said->first == WAIT_OWNER));
}

const struct port_said *gang_waits_unfilled(const struct gang_waits *waits, enum wait_reason *ret_first)
{
    const struct port_said *found = NULL;

    for (uint32_t i = 0; i < waits->count && !(found && port_is_hopeless(found)); i++)
        if (port_is_hopeless(&waits->items[i]) || (!found && port_is_unfilled(&waits->items[i])))
            found = &waits->items[i];
    *ret_first = found && !port_is_hopeless(found) ? WAIT_PORT : WAIT_FORMS;
    return found;
}

enum wait_reason gang_waits_idle(const struct gang_waits *waits)
{
    bool busy = false, pulls = false;

    for (uint32_t i = 0; i < waits->count; i++) {
        busy = busy || waits->items[i].busy;
        pulls = pulls || waits->items[i].pulls;
    }
    return pulls && !busy ? WAIT_PULL : WAIT_BUSY;
}

void port_said_print(struct buf *out, const struct port_said *said, const char *lead)
{
    bool verb =
        said->words.len > 6 && (!memcmp(said->words.text, "waits ", 6) || !memcmp(said->words.text, "wants ", 6));

    if (*said->label)
        buf_addf(out, "%s %s%s", lead, said->label, verb ? " " : ": ");
    else
        buf_adds(out, verb ? "it " : "it: ");
    if (said->first == WAIT_REASON_COUNT)
        buf_adds(out, "it was not looked into, for that would have taken too long");
    buf_add(out, said->words.text, said->words.len);
}

void gang_waits_print(struct buf *out, const struct gang_waits *waits, const struct port_said *but)
{
    for (uint32_t i = 0; i < waits->count; i++) {
        if (&waits->items[i] == but)
            continue;
        port_said_print(out, &waits->items[i], "Port");
        buf_adds(out, ".\n");
    }
}

static void port_said_json(struct buf *out, const struct port_said *said)
{
    struct buf text;

    buf_init(&text);
    port_said_print(&text, said, "its port");
    buf_addf(out, "{\"code\": \"%s\", \"text\": ", wait_word(WAIT_PORT));
    json_quote(out, text.text, text.len);
    buf_adds(out, ", \"machines\": 0, \"data\": {\"label\": ");
    json_quote(out, said->label, strlen(said->label));
    buf_addf(out, ", \"reason\": \"%s\", \"reasons\": [",
             said->first < WAIT_REASON_COUNT ? wait_word(said->first) : "");
    buf_add(out, said->reasons.text, said->reasons.len);
    buf_adds(out, "]}, \"do\": ");
    json_quote(out, wait_can(WAIT_PORT), strlen(wait_can(WAIT_PORT)));
    buf_addc(out, '}');
    buf_done(&text);
}

void gang_waits_print_json(struct buf *out, const struct gang_waits *waits, bool more)
{
    for (int unfilled = 1; unfilled >= 0; unfilled--)
        for (uint32_t i = 0; i < waits->count; i++) {
            if (port_is_unfilled(&waits->items[i]) != unfilled)
                continue;
            buf_adds(out, more ? ", " : "");
            port_said_json(out, &waits->items[i]);
            more = true;
        }
}
