/* image_sources.c: which registries images of jobs are fetched from: those that the owner lists, but for one that could not be reached a while ago.
 *
 * A machine that cannot reach a registry would take, and give back, one job after another that wants an image from there. So it does not say for a
 * while that it fetches from it; each time for longer, until that works. */
#include "live/providerd/providerd_parts.h"

#include "exec/image_fetch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAUSE_LEAST (5 * SECOND)
#define PAUSE_MOST (10 * MINUTE)

/* The host of a place. */
static void host_of(const char *place, char ret[IMAGE_REF_HOST_MAX + 1])
{
    const char *host = place + strlen(IMAGE_REF_BEGIN);

    snprintf(ret, IMAGE_REF_HOST_MAX + 1, "%.*s", (int)strcspn(host, "/"), host);
}

static struct source_pause *pause_find(const struct providerd *providerd, const char *host)
{
    for (size_t i = 0; i < SOURCE_PAUSES_MAX; i++)
        if (!strcmp(providerd->pauses[i].host, host))
            return (struct source_pause *)(uintptr_t)&providerd->pauses[i];
    return NULL;
}

static bool is_paused(const struct providerd *providerd, const char *place)
{
    char host[IMAGE_REF_HOST_MAX + 1];
    const struct source_pause *pause;

    host_of(place, host);
    pause = pause_find(providerd, host);
    return pause && runner_now() < pause->until;
}

static const char *const *owners(const struct providerd *providerd, size_t *ret_count)
{
    const struct providerd_settings *settings = providerd->settings;

    *ret_count = 0;
    return settings->registries ? settings->registries(settings->user, ret_count) : NULL;
}

size_t sources_now(const struct providerd *providerd, const char *ret[SOURCES_MAX])
{
    const struct executor *executor = providerd->executor;
    const char *const *all;
    size_t count, kept = 0;
    uint32_t uid;

    if (!executor || !executor->kind->takes_images || !executor->kind->takes_images(executor, &uid) ||
        access(SKOPEO, X_OK) != 0)
        return 0;
    all = owners(providerd, &count);
    for (size_t i = 0; i < count && kept < SOURCES_MAX; i++)
        if (!is_paused(providerd, all[i]))
            ret[kept++] = all[i];
    return kept;
}

int source_check(const struct providerd *providerd, const struct image_ref *ref, struct err *err)
{
    size_t count;
    const char *const *all = owners(providerd, &count);

    for (size_t i = 0; i < count; i++)
        if (image_source_holds(all[i], ref))
            return 0;
    return err_set(err, "%.200s is nowhere that the owner of this machine lets images come from", ref->place);
}

void source_fails(struct providerd *providerd, const char *place)
{
    char host[IMAGE_REF_HOST_MAX + 1];
    struct source_pause *pause;

    host_of(place, host);
    pause = pause_find(providerd, host);
    if (!pause)
        pause = pause_find(providerd, "");
    if (!pause) { /* the one whose pause is over first, which may be long ago */
        pause = providerd->pauses;
        for (size_t i = 1; i < SOURCE_PAUSES_MAX; i++)
            pause = providerd->pauses[i].until < pause->until ? &providerd->pauses[i] : pause;
        pause->host[0] = '\0';
    }
    if (!*pause->host)
        *pause = (struct source_pause){.span = 0};
    snprintf(pause->host, sizeof pause->host, "%s", host);
    pause->span = !pause->span ? PAUSE_LEAST : pause->span * 2 < PAUSE_MOST ? pause->span * 2 : PAUSE_MOST;
    pause->until = runner_now() + pause->span;
    LOG(&providerd->daemon.log, LEVEL_WARNING, "image.registry", log_text("host", host),
        log_number("seconds", pause->span / SECOND),
        log_text("what", "it could not be reached: nothing is fetched from it for so long"));
    providerd_probe(providerd);
}

void source_works(struct providerd *providerd, const char *place)
{
    char host[IMAGE_REF_HOST_MAX + 1];
    struct source_pause *pause;

    host_of(place, host);
    pause = pause_find(providerd, host);
    if (pause)
        pause->host[0] = '\0';
}
