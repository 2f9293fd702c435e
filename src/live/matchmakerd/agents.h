/* agents.h: the agents that a matchmaker has heard of, how each is reached, and the letters that wait for it.
 *
 *     identity, name -> handle      the same everywhere in a pool: 8 bytes of a hash of both
 *     agent -> letter -> letter     the last few, by rising number; an agent that cannot be called reads them, others get them by a call
 *
 * A letter is a match, a message of another agent that the matchmaker relays, or a command. It is kept until its time is over, whether or not it
 * was read: an agent that comes back asks again from where it was.
 *
 * Messages of others share the room that there is. Agents that were matched with the reader come first: strangers have a part of the room
 * only, and give way. Within each kind, a message that does not fit replaces the newest message of the account that has the most, if that is more
 * than its own account would have. So no sender can shut out another that has less there, however much it sends. */
#ifndef BERTH_LIVE_MATCHMAKERD_AGENTS_H
#define BERTH_LIVE_MATCHMAKERD_AGENTS_H

#include "lang/base/map.h"
#include "lang/base/textmap.h"
#include "live/auth/box.h"
#include "live/auth/token.h"
#include "live/http/callers.h"
#include "pool/protocol/message.h"
#include "sys/names.h"
#include "sys/steady_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AGENT_LETTERS_MAX 4096            /* then the oldest match is dropped */
#define AGENT_LETTER_BYTES_MAX (4u << 20) /* for messages of others to one agent ... */
#define AGENT_STRANGER_BYTES (3u << 19)   /* ... and of that, for agents that were not matched with it */
#define AGENT_LETTER_LEAST 4096           /* bytes that a message counts for at least */
#define AGENT_PARTNERS_MAX 4096           /* partners that are remembered; then the list begins anew */
#define AGENT_IDLE INT64_C(3600000000)    /* microseconds after which an agent that has nothing here is forgotten */
#define AGENT_TEXT_MAX 255                /* bytes of a text that an agent says of itself */

struct letter {
    struct letter *next;
    uint64_t number;
    int64_t at, ends;
    struct message match; /* its kind is NONE for a text */
    uint64_t relay;       /* a text: the number under which it is answered ... */
    uint64_t from;        /* ... the agent that sent it ... */
    uint32_t account;     /* ... its account (callers.h) ... */
    bool known;           /* ... and whether the sender was matched with the reader */
    size_t counts;        /* bytes of the room that it takes */
    bool command;         /* the letter is a command: `relay` is its key, and the text is empty */
    char *text;
    size_t len;
};

enum contact_state {
    CONTACT_NONE,     /* the agent cannot be called */
    CONTACT_CHECKING, /* the address has been asked to prove itself */
    CONTACT_GOOD,
    CONTACT_BAD,
};

struct agent_row {
    uint64_t handle;            /* 0: the place is free */
    uint32_t identity, account; /* the agent's identity, and the account that it counts for */
    char name[AGENT_NAME_MAX + 1];
    int64_t since, heard;
    uint64_t incarnation, life; /* the highest incarnation under this name, and its process; 0: none was given */
    uint32_t ads;
    /* what the agent said of itself */
    char *contact, *pin, *host, *process, *version, *role, *note;
    char *refused;   /* which of its ads was refused last, and why; or NULL */
    bool introduced; /* it has introduced itself (PUT /v1/agents) */
    uint32_t links;  /* links of the token that it showed last, and their ids: if one is revoked, so is what it said */
    char ids[TOKEN_LINKS_MAX][TOKEN_ID_DIGITS + 1];
    bool serves;          /* its token lets it serve others than its own user */
    bool receipts;        /* it knows what a receipt is (pool/protocol/receipt.h) */
    bool plans;           /* it can read when and where its requests are planned (ADVERTISED) */
    bool draining;        /* it takes no more work */
    struct key challenge; /* the key that its contact address must know */
    bool has_box;
    struct box_public box;
    enum contact_state contact_state;
    bool contact_seen;    /* the address is the one that the agent itself calls from, so that it may be private */
    uint32_t contact_try; /* the number of the check under way */
    char *bearer;         /* a token of ours for it ... */
    struct token_made bearer_made; /* ... and when that was made */
    /* letters */
    struct letter *first, *last;
    uint32_t letter_count, text_count;
    size_t letter_bytes, stranger_bytes; /* bytes that messages count for: all, and those of strangers */
    struct map partners;                 /* handles of the agents that were matched with it */
    bool has_partners;                   /* the map has been made */
    int64_t earliest;                    /* no letter ends before this; 0 while there is none */
    uint64_t numbered;
    uint64_t told_id, told_number; /* of the last match that was written: only that one may be repeated */
    struct watcher *watchers;      /* streams and others that wait for letters */
};

/* A request that waits for letters of an agent. `wake` is called when there are more. */
struct watcher {
    struct watcher *next;
    uint32_t agent;
    void (*wake)(struct watcher *watcher);
    void *user;
};

struct agents {
    struct textmap texts; /* identity NEWLINE name */
    struct map handles;
    struct agent_row *items; /* by the texts' places */
    uint32_t room;
    struct callers *callers;
    /* A message had to give way to another one: its sender is told, by its number. The message is gone already. */
    void (*displaced)(void *user, uint64_t relay);
    void *user;
};

void agents_init(struct agents *agents, struct callers *callers, uint64_t seed);
void agents_done(struct agents *agents);

/* The agent's place; it is added if new, and was heard of now. */
uint32_t agents_add(struct agents *agents, uint32_t identity, uint32_t account, const char *name, int64_t now);
uint32_t agents_find(const struct agents *agents, uint64_t handle); /* TEXTMAP_NONE when it is not known */

/* Replaces a text that an agent says of itself; NULL removes it. */
void agent_set_text(char **text, const char *value);

/* Adds a letter behind the others; the oldest match is dropped when there are too many. Wakes watchers. */
struct letter *agents_write_match(struct agents *agents, uint32_t place, const struct message *match, int64_t now,
                                  int64_t ends);
/* The same for a message of another agent. NULL when the sender's account has its share there already. */
struct letter *agents_write_text(struct agents *agents, uint32_t place, uint64_t relay, uint32_t from, const char *text,
                                 size_t len, int64_t now, int64_t ends);
/* The two agents were matched: messages of the other come before those of strangers. */
void agents_acquaint(struct agents *agents, uint32_t place, uint64_t other);
/* A command waits for the agent: its letter stays until it is dropped by `key`, or until `ends`. Does nothing when there is one already. */
void agents_write_command(struct agents *agents, uint32_t place, uint64_t key, int64_t now, int64_t ends);
/* Drops a text that was answered, or that nobody waits for any more. */
void agents_drop_text(struct agents *agents, uint32_t place, uint64_t relay);
/* The first letter after that number, or NULL. Letters past their time are dropped first. */
const struct letter *agents_letter_after(struct agents *agents, uint32_t place, uint64_t number, int64_t now);

void agents_watch(struct agents *agents, struct watcher *watcher);
void agents_unwatch(struct agents *agents, struct watcher *watcher);

/* Forgets letters past their time, and agents that have nothing here. */
void agents_sweep(struct agents *agents, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
