/* drive.c: a matchmaker alone, without a network. */
#include "cli/bench/drive.h"

#include "lang/base/mem.h"
#include "lang/text/parse.h"

#include <stdlib.h>
#include <string.h>

static void draw(void *user, void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)rng_next(user);
}

/* Stands in for the real seal: what it makes does not matter here. */
static void seal(void *user, const struct key *key, const void *data, size_t len, struct key *ret)
{
    (void)user, (void)data, (void)len;
    *ret = *key;
}

static void drive_step(struct drive *drive, const struct event *event);

/* Answers a message of the matchmaker at once, as if its receiver had heard it. */
static void drive_answer(struct drive *drive, uint64_t token, uint32_t tag)
{
    struct message got = {.kind = MESSAGE_GOT};
    struct event event = {.kind = EVENT_ANSWER, .token = token, .tag = tag, .answer = ANSWER_GOT, .message = &got};

    drive_step(drive, &event);
}

struct sent {
    uint64_t token;
    uint32_t tag;
};

static void drive_step(struct drive *drive, const struct event *event)
{
    struct sent *sent = NULL;
    uint32_t count = 0;

    matchmaker_role.step(drive->role, &drive->env, event, &drive->effects);
    arena_reset(&drive->scratch);
    for (uint32_t i = 0; i < drive->effects.count; i++) {
        const struct effect *effect = &drive->effects.items[i];

        if (effect->kind == EFFECT_WAKE)
            drive->wake = effect->at;
        if (effect->kind == EFFECT_REPLY && drive->replied)
            drive->replied(drive->user, &effect->message);
        count += effect->kind == EFFECT_SEND;
    }
    if (count)
        sent = mem_alloc(count * sizeof *sent);
    for (uint32_t i = 0, n = 0; i < drive->effects.count && n < count; i++)
        if (drive->effects.items[i].kind == EFFECT_SEND)
            sent[n++] = (struct sent){drive->effects.items[i].token, drive->effects.items[i].tag};
    effects_reset(&drive->effects);
    for (uint32_t i = 0; i < count; i++)
        drive_answer(drive, sent[i].token, sent[i].tag);
    free(sent);
}

struct tree *drive_ad(struct drive *drive, const char *text)
{
    return parse_ad(&drive->build, NULL, text, strlen(text), NULL);
}

void drive_init(struct drive *drive, uint64_t seed)
{
    *drive = (struct drive){.symbols = names_new(seed), .spans = spans_default};
    build_init(&drive->build, drive->symbols, &dialect_classic);
    arena_init(&drive->scratch);
    rng_init(&drive->chance, seed);
    drive->secrets = (struct secrets){&drive->chance, draw, seal};
    drive->settings = (struct matchmaker_settings){.self = 1, .spans = &drive->spans, .ads_max = 1u << 24};
    drive->env = (struct role_env){.now = SECOND,
                                   .wall = INT64_C(1800000000) * SECOND,
                                   .chance = &drive->chance,
                                   .secrets = &drive->secrets,
                                   .symbols = drive->symbols,
                                   .scratch = &drive->scratch};
    effects_init(&drive->effects);
}

void drive_boot(struct drive *drive)
{
    struct event booted = {.kind = EVENT_BOOTED};

    matchmaker_role.free(drive->role);
    drive->wake = INT64_MAX;
    drive->role = matchmaker_role.make(&drive->settings);
    drive_step(drive, &booted);
}

void drive_done(struct drive *drive)
{
    matchmaker_role.free(drive->role);
    effects_done(&drive->effects);
    arena_done(&drive->scratch);
    build_done(&drive->build);
    symbols_free(drive->symbols);
}

void drive_hear(struct drive *drive, const struct peer *peer, struct message *message)
{
    struct event event = {.kind = EVENT_MESSAGE, .token = ++drive->tokens, .peer = peer, .message = message};

    drive_step(drive, &event);
    message_done(message);
}

static void drive_wake(struct drive *drive)
{
    struct event wake = {.kind = EVENT_WAKE};
    int64_t at = drive->wake > drive->env.now ? drive->wake : drive->env.now;

    drive->env.wall += at - drive->env.now;
    drive->env.now = at;
    drive->wake = INT64_MAX;
    drive_step(drive, &wake);
}

void drive_settle(struct drive *drive, int64_t span)
{
    while (drive->wake <= drive->env.now + span)
        drive_wake(drive);
}

void drive_pass(struct drive *drive, int64_t span)
{
    int64_t end = drive->env.now + span;

    while (drive->wake <= end)
        drive_wake(drive);
    drive->env.wall += end - drive->env.now;
    drive->env.now = end;
}
