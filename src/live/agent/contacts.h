/* contacts.h: how an agent reaches the others that it has to do with: learnt from matches, and kept on a shelf, since claims outlive it.
 *
 *     handle -> identity, name, address and the key of its certificate, key to seal letters to */
#ifndef BERTH_LIVE_AGENT_CONTACTS_H
#define BERTH_LIVE_AGENT_CONTACTS_H

#include "lang/base/map.h"
#include "lang/text/tree.h"
#include "live/auth/box.h"
#include "pool/protocol/shelf.h"
#include "sys/steady_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONTACT_SPACE "contact"
#define CONTACT_SPACE_MAX SHELF_SPACE_MAX
#define CONTACT_TEXT_MAX 255
#define CONTACTS_MAX 1000000

struct contact {
    uint64_t agent; /* as its pool has it */
    char *identity, *name;
    char *address, *pin; /* NULL: it cannot be called */
    bool has_box;
    struct box_public box;
    char *bearer;                  /* a token of ours for it ... */
    struct token_made bearer_made; /* ... and when that was made */
    int64_t
        relayed_until; /* nobody was at its address: until then it is written to. Microseconds of the clock that never jumps */
    bool binds;        /* it names in its answers by the relay what they answer; as long as we live */
};

struct contacts {
    struct map handles; /* -> place */
    struct contact *items;
    uint32_t count, room;
    struct shelf *shelf;
    char space[CONTACT_SPACE_MAX + 1]; /* of the shelf */
    /* What an agent of the pool is called by the one who looks it up; NULL: the same. */
    uint64_t (*enter)(const void *user, uint64_t agent);
    const void *user;
};

/* The shelf is borrowed. */
void contacts_init(struct contacts *contacts, struct shelf *shelf, uint64_t seed);
void contacts_done(struct contacts *contacts);
/* Makes these the contacts of another pool, before anything is in them: their rows lie apart, and agents are looked up by another handle. */
void contacts_set_space(struct contacts *contacts, const char *space,
                        uint64_t (*enter)(const void *user, uint64_t agent), const void *user);

/* Loads all contacts that were kept. */
int contacts_load(struct contacts *contacts, struct symbols *symbols, struct err *err);

/* Takes what an ad of the list `Contacts` says. True when it is new or has changed, and lies on the shelf: a commit is wanted. */
bool contacts_take(struct contacts *contacts, const struct tree *ad, const struct expr *e);

struct contact *contacts_find(struct contacts *contacts, uint64_t handle); /* NULL when it is not known */

/* A number for the way between two agents, which both know: a proof made for one way does not hold on another. It is made from the key of the
 * certificate, or from the address where there is none; for the relay, from the keys that letters are sealed with. */
uint64_t contact_channel(const char *pin, const char *address);
uint64_t contact_relay_channel(const struct box_public *a, const struct box_public *b);

#ifdef __cplusplus
}
#endif
#endif
