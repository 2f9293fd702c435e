/* gossip.h: what passes by in a simulated world is kept (words by the names of their fields, numbers, ads, keys, whole messages), and messages
 * of every kind are made of that and of extremes: for tests in which somebody lies. */
#ifndef BERTH_TESTS_GOSSIP_H
#define BERTH_TESTS_GOSSIP_H

#include "sim/world.h"

#define HEARD 512 /* messages that are kept */
#define FIELD_NAMES 64
#define FIELD_WORDS 32
#define NUMBERS 64
#define ADS_HEARD 32
#define GOSSIP_HOSTILE 40 /* ads that nobody honest would write; some are NULL */

struct heard {
    struct message message;
    uint32_t from, to;
    uint64_t channel;
};

struct words {
    const char *name;
    uint64_t items[FIELD_WORDS];
    uint32_t count;
};

enum ring { RING_HEARD, RING_NUMBER, RING_AD, RING_KEY, RING_POSTED, RING_PAST };

struct gossip {
    struct world *world;
    struct rng rng;
    bool unmatched; /* whose match numbers are counted by what he has seen, and who has seen none */
    struct tree *hostile[GOSSIP_HOSTILE];
    struct heard heard[HEARD];
    struct words words[FIELD_NAMES];
    uint32_t name_count;
    int64_t numbers[NUMBERS];
    struct tree *ads[ADS_HEARD];
    struct key keys[NUMBERS];
    uint64_t counts[8]; /* of what came into the rings */
};

void gossip_init(struct gossip *gossip, struct world *world, uint64_t seed);
void gossip_done(struct gossip *gossip);

uint64_t gossip_below(struct gossip *gossip, uint64_t bound);
bool gossip_one_in(struct gossip *gossip, uint64_t n);
uint32_t gossip_place(struct gossip *gossip, enum ring ring, uint32_t room); /* the next in a ring */

void gossip_hear(struct gossip *gossip, const struct host *to, const struct event *event); /* a message has come */
void gossip_fields(struct gossip *gossip, const struct layout *layout, const void *from);
void gossip_ids(struct gossip *gossip, const struct layout *layout, const void *from); /* its words alone: no secret */
void gossip_word(struct gossip *gossip, const char *name, uint64_t word);

uint64_t gossip_make_word(struct gossip *gossip, const char *name);
int64_t gossip_make_number(struct gossip *gossip);
struct tree *gossip_make_ad(struct gossip *gossip); /* borrowed, or NULL */
struct seen gossip_make_seen(struct gossip *gossip);
void gossip_make_field(struct gossip *gossip, const struct field *field, void *at); /* it held nothing */
void gossip_clear_field(const struct field *field, void *at);
void gossip_make(struct gossip *gossip, enum message_kind kind, struct message *ret);
void gossip_bend(struct gossip *gossip, struct message *message); /* a few fields are others */

uint64_t *message_word(struct message *message, const char *name); /* the word of that name, or NULL */
void message_aim(struct message *message, const char *name, uint64_t word);

/* At once; nobody waits for the answer. The message is handed over. */
void gossip_say(struct gossip *gossip, uint32_t from, struct host *to, uint64_t channel, struct message *message);

#endif
