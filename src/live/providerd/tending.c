/* tending.c: a live provider that goes by itself: when its time is up, when nobody has work for it, when one job was all that it came for.
 *
 *     stays -> drains: no more claims -> clears: what runs is vetoed, with its time of grace -> leaves: its pool is told why
 *
 * The caller decides, by what it is told of claims and jobs; here is done what follows from that. */
#include "live/providerd/providerd_parts.h"

#include <stdio.h>
#include <string.h>

#define LEAVE_SPAN (5 * SECOND) /* that its last word may take */

static void claim_count(void *user, const struct tenant_view *tenant)
{
    (void)tenant;
    ++*(uint32_t *)user;
}

static void news_read(struct providerd *providerd, struct providerd_news *ret)
{
    const struct provider *role = runner_role(agent_runner(providerd->live));

    *ret = (struct providerd_news){.jobs = tasks_count(providerd),
                                   .started = providerd->started,
                                   .owes = provider_owes(role) || results_count(providerd) || uploads_count(providerd),
                                   .told = providerd->told};
    provider_each(role, claim_count, &ret->claims);
}

static void drain(struct providerd *providerd)
{
    if (providerd->drains)
        return;
    providerd->drains = true;
    runner_event(agent_runner(providerd->live), &(struct event){.kind = EVENT_DRAIN});
}

/* Has its pool heard why it leaves, and that its machine is to be forgotten? */
static bool is_said(const struct providerd *providerd)
{
    return !agent_is_saying(providerd->live) && provider_told_gone(runner_role(agent_runner(providerd->live)));
}

void tending_tick(struct providerd *providerd)
{
    const struct providerd_settings *settings = providerd->settings;
    enum providerd_wish wish = PROVIDERD_LEAVES;
    char note[PROVIDERD_NOTE_MAX + 1];
    struct providerd_news news;

    if (!settings->tend || !providerd->booted)
        return;
    memcpy(note, providerd->note, sizeof note);
    news_read(providerd, &news);
    if (!providerd->leaves)
        wish = settings->tend(settings->user, &news, note);
    if (strcmp(note, providerd->note) != 0) {
        memcpy(providerd->note, note, sizeof note);
        LOG(&providerd->daemon.log, LEVEL_INFO, "note", log_text("note", note));
        agent_say(providerd->live, note);
    }
    if (wish >= PROVIDERD_DRAINS)
        drain(providerd);
    if (wish == PROVIDERD_CLEARS)
        providerd_probe(providerd);
    if (wish == PROVIDERD_LEAVES && !providerd->leaves) {
        providerd->leaves = runner_now();
        runner_event(agent_runner(providerd->live), &(struct event){.kind = EVENT_GONE});
    }
    if (providerd->leaves && (is_said(providerd) || runner_now() >= providerd->leaves + LEAVE_SPAN))
        uv_stop(&providerd->daemon.loop);
}

void tending_told(void *providerd)
{
    ((struct providerd *)providerd)->told = true;
    tending_tick(providerd);
}
