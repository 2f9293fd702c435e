/* providerd_booking.c: a live provider is told that its machine is booked for some users, or that this is given back (pool/provider/calendar.h).
 *
 * The row of the booking and the answer become durable together, before the answer leaves. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/world/booking_form.h"
#include "live/world/commands.h"
#include "live/world/ledger.h"

/* Tells the role. Returns why it refuses, or NULL. */
static const char *booking_tell(struct runner *runner, struct event *event, bool books)
{
    struct tree *ad = event->ad;

    event->ad = books ? ad : NULL;
    runner_event(runner, event);
    event->ad = ad;
    return provider_booking_refused(runner_role(runner));
}

struct tree *booking_carry_out(struct providerd *providerd, const struct agent_order *order, bool books)
{
    int64_t life = order->life < LEDGER_LIFE_MAX ? order->life : LEDGER_LIFE_MAX;
    struct symbols *symbols = providerd->daemon.symbols;
    struct runner *runner = agent_runner(providerd->live);
    struct event event = {.kind = EVENT_BOOK, .at = order->told * SECOND};
    const char *refused = NULL;
    struct tree *answer;
    struct maker maker;
    struct err err = {0};

    if (!ad_word(order->what, "Booking", &event.number) || !event.number)
        return command_reason(symbols, "refused", "it does not say which booking it is");
    if (books && providerd->provider.count != 1) /* the order does not say which */
        return command_reason(symbols, "refused", "it offers several things, of which none can be booked");
    if (!providerd->booted)
        return command_reason(symbols, "refused", "it has only just begun: try again");
    maker_init(&maker, symbols);
    if (books)
        refused = booking_form_copy(&maker, order->what);
    maker_text(&maker, "By", order->by);
    event.ad = maker_seal(&maker);
    if (!refused)
        refused = booking_tell(runner, &event, books);
    tree_unref(event.ad);
    answer = command_reason(symbols, refused ? "refused" : "ok", refused);
    if (books)
        LOG_AUDIT(&providerd->daemon.log, "booked", log_text("subject", order->by), log_word("booking", event.number),
                  log_text("refused", refused ? refused : ""));
    else
        LOG_AUDIT(&providerd->daemon.log, "released", log_text("subject", order->by),
                  log_word("booking", event.number));
    if (ledger_write(providerd->daemon.shelf, order->key, answer, runner_seconds(runner) + life + 3600, &err) < 0)
        daemon_broken(&providerd->daemon, err.text);
    return answer;
}
