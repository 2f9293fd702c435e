/* gossip.c: what passes by is kept, and messages are made of that and of extremes. */
#include "gossip.h"

#include "lang/ad/names.h"
#include "lang/text/parse.h"
#include "tap.h"

/* What hostile ads look like. The first ones are good, if bold. */
static const char *const ad_texts[] = {
    "[ Type = \"Machine\"; Owner = \"stranger\"; Memory = 1000000; Cpus = 64; Constraint = true ]",
    "[ Type = \"Job\"; Owner = \"stranger\"; RequestCpus = 1; RequestMemory = 1; Constraint = true; Rank = 1 ]",
    "[ Owner = \"stranger\"; RequestCpus = 1; RequestMemory = 1; Memory = 4096; Count = 3; Lifetime = 1 ]",
    "[ Type = \"Job\"; RequestCpus = 2; RequestMemory = 256; TimeLimit = 2; Constraint = other.Memory >= 256 ]",
    "[ Memory = 2048; Cpus = 4; Constraint = other.RequestCpus <= Cpus; Residual = [ Cpus = Cpus - other.RequestCpus "
    "] ]",
    "[ Owner = \"u1\"; RequestCpus = 1; RequestMemory = 1 ]",
    "[]",
    "[ Constraint = false ]",
    "[ Constraint = Constraint; Rank = Rank ]",
    "[ Constraint = other.Constraint; Rank = other.Rank; RequestCpus = 1; RequestMemory = other.Memory ]",
    "[ Constraint = 1 / 0; Rank = 1.0e308 * 10.0; RequestCpus = 0; RequestMemory = 0 ]",
    "[ Owner = 3 ]",
    "[ Owner = Owner ]",
    "[ Owner = strcat(\"u\", \"1\"); RequestCpus = 1; RequestMemory = 1 ]",
    "[ Lifetime = -1 ]",
    "[ Lifetime = \"long\" ]",
    "[ Count = -1 ]",
    "[ Count = 9223372036854775807 ]",
    "[ Residual = 3 ]",
    "[ RequestCpus = 9223372036854775807; RequestMemory = 9223372036854775807 ]",
    "[ RequestCpus = \"many\"; RequestMemory = { 1 } ]",
    "[ RequestCpus = 1.0 / 0.0; RequestMemory = 0.0 ]",
    "[ RequestCpus = 1; RequestMemory = 1; TimeLimit = 9223372036854775807; MaxRetries = 9223372036854775807 ]",
    "[ RequestCpus = 1; RequestMemory = 1; TimeLimit = -9223372036854775807; MaxRetries = -1 ]",
    "[ RequestCpus = 1; RequestMemory = 1; TimeLimit = 1.0e300; Rank = other.Rank + 1 ]",
    "[ Ports = { [ Label = \"a\" ], [ Label = \"a\" ], 3 } ]",
    "[ a = { b, b, b, b }; b = { c, c, c, c }; c = { d, d, d, d }; d = { a }; Constraint = a == b; RequestCpus = 1 ]",
    "[ Constraint = regexp(\"(a+)+$\", \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"); RequestCpus = 1; RequestMemory = 1 ]",
    "[ UserPrio = 1 ]",
    "[ Used = [ Cpus = 1.0e308; Memory = -9223372036854775807 ]; Claims = { [ Claim = 3; Ends = -1 ], 7, [ ] }; Words = 3; "
    "More = 9223372036854775807; Elsewhere = -1 ]",
    "[ Used = 3; Claims = [ Claims = { } ]; Words = { \"a\" } ]",
    "[ Claims = { [ Claim = \"ffffffffffffffff\"; Job = 9223372036854775807; Ends = 9223372036854775807 ] }; Words = \"\" ]",
};
/* And these are none at all. */
static const char *const expression_texts[] = {"{ 1, 2, 3 }", "3", "\"text\"", "undefined",
                                               "{ [ Constraint = true ] }"};
#define AD_TEXTS (sizeof ad_texts / sizeof *ad_texts)
#define EXPRESSION_TEXTS (sizeof expression_texts / sizeof *expression_texts)
#define HOSTILE (AD_TEXTS + EXPRESSION_TEXTS + 1)
_Static_assert(HOSTILE <= GOSSIP_HOSTILE, "there is a place for each");

uint64_t gossip_below(struct gossip *gossip, uint64_t bound)
{
    return rng_below(&gossip->rng, bound);
}

bool gossip_one_in(struct gossip *gossip, uint64_t n)
{
    return gossip_below(gossip, n) == 0;
}

/* ------------------------------------------------------------------------------------------- what passes by is kept */

uint32_t gossip_place(struct gossip *gossip, enum ring ring, uint32_t room)
{
    return (uint32_t)(gossip->counts[ring]++ % room);
}

static struct words *words_of(struct gossip *gossip, const char *name)
{
    for (uint32_t i = 0; i < gossip->name_count; i++)
        if (gossip->words[i].name == name || !strcmp(gossip->words[i].name, name))
            return &gossip->words[i];
    if (gossip->name_count == FIELD_NAMES)
        return &gossip->words[0];
    gossip->words[gossip->name_count] = (struct words){.name = name};
    return &gossip->words[gossip->name_count++];
}

void gossip_word(struct gossip *gossip, const char *name, uint64_t word)
{
    struct words *words = words_of(gossip, name);

    words->items[words->count++ % FIELD_WORDS] = word;
}

static void ad_hear(struct gossip *gossip, struct tree *ad)
{
    struct tree **place = &gossip->ads[gossip_place(gossip, RING_AD, ADS_HEARD)];

    tree_unref(*place);
    *place = tree_ref(ad);
}

void gossip_fields(struct gossip *gossip, const struct layout *layout, const void *from)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct field *field = &layout->fields[i];
        const void *at = (const char *)from + field->at;

        if (field->sort == FIELD_WORD)
            gossip_word(gossip, field->name, *(const uint64_t *)at);
        else if (field->sort == FIELD_NUMBER)
            gossip->numbers[gossip_place(gossip, RING_NUMBER, NUMBERS)] = *(const int64_t *)at;
        else if (field->sort == FIELD_KEY)
            gossip->keys[gossip_place(gossip, RING_KEY, NUMBERS)] = *(const struct key *)at;
        else if (field->sort == FIELD_SEEN)
            gossip_word(gossip, "incarnation", ((const struct seen *)at)->incarnation);
        else if (field->sort == FIELD_AD && *(struct tree *const *)at)
            ad_hear(gossip, *(struct tree *const *)at);
        else if (field->sort == FIELD_EDGES && *(struct edges *const *)at) {
            const struct edges *edges = *(struct edges *const *)at;

            for (uint32_t k = 0; k < edges->count; k++) {
                gossip_word(gossip, "claim", edges->items[k].claim);
                gossip->keys[gossip_place(gossip, RING_KEY, NUMBERS)] = edges->items[k].ticket;
            }
        }
    }
}

void gossip_ids(struct gossip *gossip, const struct layout *layout, const void *from)
{
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->fields[i].sort == FIELD_WORD)
            gossip_word(gossip, layout->fields[i].name,
                        *(const uint64_t *)(const void *)((const char *)from + layout->fields[i].at));
}

void gossip_hear(struct gossip *gossip, const struct host *to, const struct event *event)
{
    struct heard *heard;

    if (gossip_one_in(gossip, 2)) {
        heard = &gossip->heard[gossip_place(gossip, RING_HEARD, HEARD)];
        message_done(&heard->message);
        message_copy(&heard->message, event->message);
        heard->from = (uint32_t)event->peer->agent - 1;
        heard->to = to->place;
        heard->channel = event->peer->channel;
    }
    if (gossip_one_in(gossip, 4))
        gossip_fields(gossip, message_layout(event->message->kind), &event->message->u);
}

/* ------------------------------------------------------------------------------------------- what is made of it */

uint64_t gossip_make_word(struct gossip *gossip, const char *name)
{
    static const uint64_t extremes[] = {0,       0, 1, 1, 2, UINT64_MAX, UINT64_MAX - 1, INT64_MAX, UINT64_C(1) << 63,
                                        1u << 31};
    uint64_t what = gossip_below(gossip, 16);
    struct words *words = what < 10 || !gossip->name_count ? words_of(gossip, name)
                                                           : &gossip->words[gossip_below(gossip, gossip->name_count)];

    if (what < 12 && words->count) {
        uint64_t word = words->items[gossip_below(gossip, words->count < FIELD_WORDS ? words->count : FIELD_WORDS)];

        return gossip_one_in(gossip, 8) ? word + 1 - 2 * gossip_below(gossip, 2) : word;
    }
    return gossip_one_in(gossip, 8) ? rng_next(&gossip->rng)
                                    : extremes[gossip_below(gossip, sizeof extremes / sizeof *extremes)];
}

int64_t gossip_make_number(struct gossip *gossip)
{
    static const int64_t extremes[] = {
        0, 0, 1, -1, INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 24 * 60 * MINUTE, SECOND};

    if (gossip_one_in(gossip, 2) && gossip->counts[RING_NUMBER] >= NUMBERS)
        return gossip->numbers[gossip_below(gossip, NUMBERS)];
    return gossip_one_in(gossip, 4) ? gossip->world->time + gossip_make_number(gossip) % SECOND
                                    : extremes[gossip_below(gossip, sizeof extremes / sizeof *extremes)];
}

static struct key make_key(struct gossip *gossip)
{
    struct key key = {{0}};

    if (gossip->counts[RING_KEY] >= NUMBERS && !gossip_one_in(gossip, 4))
        return gossip->keys[gossip_below(gossip, NUMBERS)];
    if (gossip_one_in(gossip, 2))
        for (size_t i = 0; i < sizeof key; i++)
            key.bytes[i] = (unsigned char)rng_next(&gossip->rng);
    return key;
}

/* A borrowed ad, or NULL. */
struct tree *gossip_make_ad(struct gossip *gossip)
{
    uint64_t what = gossip_below(gossip, 16);

    if (what == 0)
        return NULL;
    if (what < 8 && gossip->counts[RING_AD] >= ADS_HEARD)
        return gossip->ads[gossip_below(gossip, ADS_HEARD)];
    return gossip->hostile[gossip_below(gossip, what < 12 ? 6 : HOSTILE)];
}

static struct text make_text(struct gossip *gossip)
{
    static const char *const texts[] = {"stranger", "stranger",
                                        "u1",       "u2",
                                        "mallory",  "owner",
                                        "",         "k0",
                                        "k1000",    "a",
                                        "b",        "c",
                                        "d",        "a name as long as names may be, which is sixty-three bytes long"};
    const char *chosen = texts[gossip_below(gossip, sizeof texts / sizeof *texts)];
    struct text text;

    text_set(&text, chosen, strlen(chosen));
    return text;
}

static struct edges *make_edges(struct gossip *gossip)
{
    static const uint32_t counts[] = {0, 1, 1, 1, 2, 3, EDGES_MAX};
    struct edges *edges;

    if (gossip_one_in(gossip, 6))
        return NULL;
    edges = edges_new(counts[gossip_below(gossip, sizeof counts / sizeof *counts)]);
    for (uint32_t i = 0; i < edges->count; i++) {
        struct tree *ad = gossip_make_ad(gossip);

        edges->items[i] = (struct edge){.claim = gossip_make_word(gossip, "claim"),
                                        .agent = 1 + gossip_below(gossip, gossip->world->host_count + 2),
                                        .offer = gossip_make_word(gossip, "offer"),
                                        .depth = gossip_one_in(gossip, 4) ? gossip_make_word(gossip, "depth") : 0,
                                        .ticket = make_key(gossip),
                                        .ad = ad ? tree_ref(ad) : NULL};
    }
    return edges;
}

/* Whose match numbers are counted by what he has seen: under his own name he has seen none, and else so many that the
 * judge can count them. */
struct seen gossip_make_seen(struct gossip *gossip)
{
    struct seen seen = {.incarnation = gossip_make_word(gossip, "incarnation")};

    if (gossip->unmatched)
        return seen;
    seen.last = gossip_one_in(gossip, 8) ? UINT64_MAX - gossip_below(gossip, 3) : gossip_below(gossip, 40);
    seen.beyond = gossip_one_in(gossip, 2) ? 0 : rng_next(&gossip->rng);
    return seen;
}

/* The field held nothing. */
void gossip_make_field(struct gossip *gossip, const struct field *field, void *at)
{
    struct tree *ad;

    switch (field->sort) {
    case FIELD_NUMBER:
        *(int64_t *)at = gossip_make_number(gossip);
        break;
    case FIELD_WORD:
        *(uint64_t *)at = gossip_make_word(gossip, field->name);
        break;
    case FIELD_FLAG:
        *(bool *)at = gossip_one_in(gossip, 2);
        break;
    case FIELD_REASON:
        *(enum reason *)at = gossip_one_in(gossip, 2) ? REASON_OK : (enum reason)gossip_below(gossip, REASON_COUNT);
        break;
    case FIELD_TEXT:
        *(struct text *)at = make_text(gossip);
        break;
    case FIELD_KEY:
        *(struct key *)at = make_key(gossip);
        break;
    case FIELD_SEEN:
        *(struct seen *)at = gossip_make_seen(gossip);
        break;
    case FIELD_AD:
        ad = gossip_make_ad(gossip);
        *(struct tree **)at = ad ? tree_ref(ad) : NULL;
        break;
    case FIELD_EDGES:
        *(struct edges **)at = make_edges(gossip);
        break;
    }
}

void gossip_clear_field(const struct field *field, void *at)
{
    const struct field alone = {.name = field->name, .sort = field->sort};

    fields_done(&(struct layout){.name = "", .fields = &alone, .count = 1}, at);
}

void gossip_make(struct gossip *gossip, enum message_kind kind, struct message *ret)
{
    const struct layout *layout = message_layout(kind);

    memset(ret, 0, sizeof *ret);
    ret->kind = kind;
    for (uint32_t i = 0; i < layout->count; i++)
        gossip_make_field(gossip, &layout->fields[i], (char *)&ret->u + layout->fields[i].at);
}

/* A few fields are others. */
void gossip_bend(struct gossip *gossip, struct message *message)
{
    const struct layout *layout = message_layout(message->kind);

    for (uint64_t n = 1 + gossip_below(gossip, 2); n && layout->count; n--) {
        const struct field *field = &layout->fields[gossip_below(gossip, layout->count)];

        gossip_clear_field(field, (char *)&message->u + field->at);
        gossip_make_field(gossip, field, (char *)&message->u + field->at);
    }
}

/* The word of that name, or NULL. */
uint64_t *message_word(struct message *message, const char *name)
{
    const struct layout *layout = message_layout(message->kind);

    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->fields[i].sort == FIELD_WORD && !strcmp(layout->fields[i].name, name))
            return (uint64_t *)(void *)((char *)&message->u + layout->fields[i].at);
    return NULL;
}

void message_aim(struct message *message, const char *name, uint64_t word)
{
    uint64_t *at = message_word(message, name);

    if (at)
        *at = word;
}

static void hostile_make(struct gossip *gossip, struct symbols *symbols)
{
    struct build build;
    struct err err = {0};
    uint32_t count = 0;

    build_init(&build, symbols, &dialect_classic);
    for (uint32_t i = 0; i < AD_TEXTS; i++)
        gossip->hostile[count++] = parse_ad(&build, NULL, ad_texts[i], strlen(ad_texts[i]), &err);
    for (uint32_t i = 0; i < EXPRESSION_TEXTS; i++)
        gossip->hostile[count++] = parse_expr(&build, NULL, expression_texts[i], strlen(expression_texts[i]), &err);
    build_done(&build);
    build_init(&build, symbols, &dialect_condor); /* of the other dialect */
    gossip->hostile[count++] = parse_ad(&build, NULL, ad_texts[1], strlen(ad_texts[1]), &err);
    build_done(&build);
    for (uint32_t i = 0; i < count; i++)
        if (!gossip->hostile[i])
            tap_diag("a text of this test is none: %s", err.text);
}

/* ------------------------------------------------------------------------------------------------------- its life */

void gossip_init(struct gossip *gossip, struct world *world, uint64_t seed)
{
    *gossip = (struct gossip){.world = world};
    rng_init(&gossip->rng, seed);
    hostile_make(gossip, world->symbols);
}

void gossip_done(struct gossip *gossip)
{
    for (uint32_t i = 0; i < HEARD; i++)
        message_done(&gossip->heard[i].message);
    for (uint32_t i = 0; i < ADS_HEARD; i++)
        tree_unref(gossip->ads[i]);
    for (uint32_t i = 0; i < GOSSIP_HOSTILE; i++)
        tree_unref(gossip->hostile[i]);
    memset(gossip->heard, 0, sizeof gossip->heard);
    memset(gossip->ads, 0, sizeof gossip->ads);
}

void gossip_say(struct gossip *gossip, uint32_t from, struct host *to, uint64_t channel, struct message *message)
{
    struct world *world = gossip->world;
    uint32_t index = slab_take(&world->letters), send = slab_take(&world->sends);
    struct sim_letter *letter = slab_at(&world->letters, index);

    *(struct send *)slab_at(&world->sends, send) =
        (struct send){.stamp = ++world->stamps, .open = 1, .host = from, .life = world->hosts[from].life - 1};
    ((struct send *)slab_at(&world->sends, send))->order =
        world_push(world, world->time + 2 * world->spans->deadline, ITEM_TIMEOUT, send);
    *letter = (struct sim_letter){
        .send = send, .stamp = world->stamps, .from = from, .to = to->place, .channel = channel, .message = *message};
    message->kind = MESSAGE_NONE;
    net_letter(world, index);
}
