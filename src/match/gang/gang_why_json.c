/* gang_why_json.c: an explanation of a gang as one JSON object, in the form that docs/why.md describes. */
#include "lang/base/json.h"
#include "lang/text/print.h"
#include "match/gang/gang_why_parts.h"

#include <string.h>

#define FORM_VERSION 1

static void add_string(struct buf *out, const char *text)
{
    if (text)
        json_quote(out, text, strlen(text));
    else
        buf_adds(out, "null");
}

static void add_expr(struct buf *out, const struct tree *tree, const struct expr *e)
{
    struct buf text;

    if (!e) {
        buf_adds(out, "null");
        return;
    }
    buf_init(&text);
    print_expr(&text, tree, e, PRINT_PLAIN);
    json_quote(out, text.text, text.len);
    buf_done(&text);
}

static void add_offer(struct buf *out, const struct why_names *names, size_t offer)
{
    struct buf text;

    if (offer == SEAT_NOBODY) {
        buf_adds(out, "null");
        return;
    }
    buf_init(&text);
    names->offer(names->user, offer, &text);
    json_quote(out, text.text, text.len);
    buf_done(&text);
}

static void add_path(struct buf *out, const struct gang_why_seat *seats, uint32_t count, uint32_t parent,
                     const char *label)
{
    struct buf text;

    buf_init(&text);
    gang_why_seat_path(&text, seats, count, parent, label);
    json_quote(out, text.text, text.len);
    buf_done(&text);
}

static void add_seats(struct buf *out, const struct gang_why_seat *seats, uint32_t count, const struct why_names *names)
{
    const char *comma = "";

    buf_addc(out, '{');
    for (uint32_t i = 0; i < count; i++) {
        const char *between = "";

        if (gang_why_seat_again(seats, i))
            continue;
        buf_adds(out, comma);
        add_path(out, seats, count, seats[i].parent, seats[i].label);
        buf_adds(out, seats[i].set ? ": [" : ": ");
        for (uint32_t k = i; k < count; k++) {
            if (k > i && (seats[k].parent != seats[i].parent || strcmp(seats[k].label, seats[i].label) != 0))
                continue;
            buf_adds(out, between);
            add_offer(out, names, seats[k].offer);
            between = ", ";
        }
        buf_adds(out, seats[i].set ? "]" : "");
        comma = ", ";
    }
    buf_addc(out, '}');
}

static void add_label(struct buf *out, const struct ports *ports, uint32_t port)
{
    size_t len;
    const char *label = port_label(ports, port, &len);

    json_quote(out, label, len);
}

static void add_port(struct buf *out, const struct gang_why *gang, const struct gang_why_port *item,
                     const struct why_names *names)
{
    static const char *const verdicts[] = {"matches", "not-now", "never"};
    struct why_names plain = {.request = names->request, .offer = names->offer, .user = names->user};
    const struct port *port = &gang->ports.items[item->port];
    const struct why *why = &item->why;

    buf_adds(out, "{\"port\": ");
    add_label(out, &gang->ports, item->port);
    buf_addf(out, ", \"least\": %u, \"most\": %u", port->optional ? 0 : port->min, port->max);
    buf_addf(out, ", \"verdict\": \"%s\", \"unseen\": %zu, \"doubtful\": %zu", verdicts[why->verdict], why->unseen,
             item->doubtful);
    buf_addf(out, ", \"offers\": %zu, \"fitting\": %zu, \"accepting\": %zu, \"matching\": %zu", why->offers,
             why->fitting, why->accepting, why->matching);
    why_print_json_reasons(out, why, gang->ports.ad, &plain);
    buf_adds(out, ", \"later\": [");
    for (uint32_t i = 0; i < item->later_count; i++) {
        buf_adds(out, i ? ", " : "");
        add_expr(out, gang->ports.ad, item->later[i]);
    }
    buf_adds(out, "]}");
}

static void add_refusals(struct buf *out, const struct gang_why_died *died, const struct why_names *names)
{
    buf_adds(out, ", \"refusals\": [");
    for (uint32_t i = 0; i < died->refusal_count; i++) {
        const struct why_refusal *refusal = &died->refusals[i].of;

        buf_addf(out, "%s{\"offers\": %zu, \"clause\": ", i ? ", " : "", refusal->count);
        add_expr(out, refusal->offer, refusal->e);
        buf_adds(out, ", \"first\": ");
        add_offer(out, names, refusal->first);
        buf_adds(out, ", \"reads\": [");
        for (uint32_t k = 0; k < refusal->read_count; k++) {
            size_t len;
            const char *name = symbols_text(refusal->offer->symbols, refusal->reads[k].name, &len);

            buf_adds(out, k ? ", {\"name\": " : "{\"name\": ");
            json_quote(out, name, len);
            buf_adds(out, ", \"value\": ");
            add_string(out, refusal->reads[k].value);
            buf_addc(out, '}');
        }
        buf_adds(out, "]}");
    }
    buf_addc(out, ']');
}

static void add_denial(struct buf *out, const char *field, const struct gang_why_denial *denial,
                       const struct why_names *names)
{
    buf_addf(out, ", \"%s\": ", field);
    if (!denial->count) {
        buf_adds(out, "null");
        return;
    }
    buf_addf(out, "{\"offers\": %zu, \"clause\": ", denial->count);
    add_expr(out, denial->ad, denial->e);
    buf_adds(out, ", \"of\": ");
    add_offer(out, names, denial->offer);
    buf_addc(out, '}');
}

static void add_died(struct buf *out, const struct gang_why_died *died, const struct why_names *names)
{
    buf_adds(out, ", \"died\": ");
    if (!died->known) {
        buf_adds(out, "null");
        return;
    }
    buf_adds(out, "{\"port\": ");
    add_path(out, died->seats, died->seat_count, died->member, died->label);
    buf_adds(out, ", \"docked\": ");
    add_seats(out, died->seats, died->seat_count, names);
    buf_addf(out, ", \"fitting\": %zu, \"taken\": %zu, \"clause\": ", died->free, died->taken);
    add_expr(out, died->ad, died->clause);
    buf_adds(out, ", \"means\": ");
    add_string(out, died->means);
    buf_addf(out, ", \"refusing\": %zu", died->refusing);
    add_refusals(out, died, names);
    add_denial(out, "denied", &died->denied, names);
    add_denial(out, "empty", &died->empty, names);
    buf_addc(out, '}');
}

void gang_why_print_json(struct buf *out, const struct gang_why *why, const struct why_names *names)
{
    const char *verdict = why->outcome == GANG_FORMED    ? "matches"
                          : why->outcome == GANG_GAVE_UP ? "gave-up"
                          : why->never                   ? "never"
                                                         : "not-now";
    const char *comma = "";

    buf_addf(out, "{\"version\": %d, \"request\": ", FORM_VERSION);
    add_string(out, names->request);
    buf_addf(out, ", \"verdict\": \"%s\", \"offers\": %zu, \"broken\": %zu, \"gang\": ", verdict, why->offers,
             why->broken);
    if (why->outcome == GANG_FORMED)
        add_seats(out, why->gang, why->gang_count, names);
    else
        buf_adds(out, "null");
    buf_adds(out, ", \"ports\": [");
    for (uint32_t i = 0; why->items && i < why->ports.count; i++) {
        buf_adds(out, i ? ", " : "");
        add_port(out, why, &why->items[i], names);
    }
    buf_adds(out, "], \"together\": [");
    for (uint32_t i = 0; i < why->ports.count; i++) {
        if (!(why->together >> i & 1))
            continue;
        buf_adds(out, comma);
        add_label(out, &why->ports, i);
        comma = ", ";
    }
    buf_addf(out, "], \"smallest\": %s, \"minimal\": %s", why->smallest ? "true" : "false",
             why->minimal ? "true" : "false");
    add_died(out, &why->died, names);
    buf_adds(out, "}\n");
}
