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

static void news_read(struct workshop *workshop, struct workshop_news *ret)
{
    const struct provider *role = runner_role(agent_runner(workshop->live));

    *ret = (struct workshop_news){.jobs = tasks_count(workshop),
                                  .started = workshop->started,
                                  .owes = provider_owes(role) || outgoing_count(workshop) || shipments_count(workshop),
                                  .told = workshop->told};
    provider_each(role, claim_count, &ret->claims);
}

static void drain(struct workshop *workshop)
{
    if (workshop->drains)
        return;
    workshop->drains = true;
    runner_event(agent_runner(workshop->live), &(struct event){.kind = EVENT_DRAIN});
}

void tending_tick(struct workshop *workshop)
{
    const struct workshop_settings *settings = workshop->settings;
    enum workshop_wish wish = WORKSHOP_LEAVES;
    char note[WORKSHOP_NOTE_MAX + 1];
    struct workshop_news news;

    if (!settings->tend || !workshop->booted)
        return;
    memcpy(note, workshop->note, sizeof note);
    news_read(workshop, &news);
    if (!workshop->leaves)
        wish = settings->tend(settings->user, &news, note);
    if (strcmp(note, workshop->note) != 0) {
        memcpy(workshop->note, note, sizeof note);
        LOG(&workshop->daemon.log, LEVEL_INFO, "note", log_text("note", note));
        agent_say(workshop->live, note);
    }
    if (wish >= WORKSHOP_DRAINS)
        drain(workshop);
    if (wish == WORKSHOP_CLEARS)
        workshop_probe(workshop);
    if (wish == WORKSHOP_LEAVES && !workshop->leaves)
        workshop->leaves = runner_now();
    if (workshop->leaves && (!agent_is_saying(workshop->live) || runner_now() >= workshop->leaves + LEAVE_SPAN))
        uv_stop(&workshop->daemon.loop);
}

void tending_told(void *workshop)
{
    ((struct workshop *)workshop)->told = true;
    tending_tick(workshop);
}
