/* agents.h: the agents that a matchmaker has heard of, how each is reached, and the letters that wait for it.
 *
 *     identity, name -> handle      the same everywhere in a pool: 8 bytes of a hash of both
 *     agent -> letter -> letter     the last few, by rising number; an agent that cannot be called reads them, others are sent them
 *
 * A letter is a match, a message of another agent that the matchmaker carries, or a command. It is kept until its time is over, whether or not it
 * was read: who comes back asks again from where it was.
 *
 * What others send has to share the room that there is. Those who were matched with the agent come first: strangers have a part of the room
 * only, and give way. Among either, a message that does not fit takes the place of the newest of the account that has the most, if that is more
 * than its own account would have. So nobody can shut out another who has less there, however much he sends. */
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

#define AGENT_LETTERS_MAX 4096            /* then the oldest match goes */
#define AGENT_LETTER_BYTES_MAX (4u << 20) /* of what others sent it ... */
#define AGENT_STRANGER_BYTES (3u << 19)   /* ... and of that, of those who were not matched with it */
#define AGENT_LETTER_LEAST 4096           /* bytes that a message counts for at least */
#define AGENT_PARTNERS_MAX 4096           /* that are remembered; then anew */
#define AGENT_IDLE INT64_C(3600000000)    /* microseconds after which one of whom nothing is there is forgotten */
#define AGENT_TEXT_MAX 255                /* bytes of what it says of itself */

struct letter {
    struct letter *next;
    uint64_t number;
    int64_t at, ends;
    struct message match; /* of kind NONE when it is a text */
    uint64_t relay;       /* a text: the number by which it is answered ... */
    uint64_t from;        /* ... and who sent it ... */
    uint32_t account;     /* ... for which account (callers.h) ... */
    bool known;           /* ... which was matched with the reader */
    size_t counts;        /* bytes of the room that it takes */
    bool command;         /* it tells of a command: `relay` is its key, and the text is empty */
    char *text;
    size_t len;
};

enum contact_state {
    CONTACT_NONE,     /* it cannot be called */
    CONTACT_CHECKING, /* it has been asked to prove itself */
    CONTACT_GOOD,
    CONTACT_BAD,
};

struct agent_row {
    uint64_t handle;            /* 0: the place is free */
    uint32_t identity, account; /* whose it is, and what it counts for */
    char name[AGENT_NAME_MAX + 1];
    int64_t since, heard;
    uint64_t incarnation, life; /* the highest that has come by this name, and whose that is; 0: none has said */
    uint32_t ads;
    /* what it said of itself */
    char *contact, *pin, *host, *process, *version, *role, *note;
    char *refused;   /* what of its ads was not taken last, and why; or NULL */
    bool introduced; /* it has said something of itself */
    uint32_t links;  /* of the token that it showed last, and the id of each: when one is revoked, so is what it said */
    char ids[TOKEN_LINKS_MAX][TOKEN_ID_DIGITS + 1];
    bool serves;          /* its token lets it serve others than its own user */
    bool receipts;        /* it knows what a receipt is (pool/protocol/receipt.h) */
    bool draining;        /* it takes no more work */
    struct key challenge; /* that its contact address must know */
    bool has_box;
    struct box_public box;
    enum contact_state contact_state;
    uint32_t contact_try;          /* the number of the check under way */
    char *bearer;                  /* a token of ours for it ... */
    struct token_made bearer_made; /* ... and when that was made */
    /* letters */
    struct letter *first, *last;
    uint32_t letter_count, text_count;
    size_t letter_bytes, stranger_bytes; /* that messages count for: all, and those of strangers */
    struct map partners;                 /* handles of those who were matched with it */
    bool has_partners;                   /* it has been made */
    int64_t earliest;                    /* no letter ends before; 0 while there is none */
    uint64_t numbered;
    uint64_t told_id, told_number; /* of the last match that was written: only that one may come again */
    struct watcher *watchers;      /* streams and others that wait for letters */
};

/* Somebody who waits for letters of an agent. `wake` is called when there are more. */
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
    /* A message had to give way to that of another: whoever sent it is told, by its number. It is gone already. */
    void (*displaced)(void *user, uint64_t relay);
    void *user;
};

void agents_init(struct agents *agents, struct callers *callers, uint64_t seed);
void agents_done(struct agents *agents);

/* The place, new perhaps; it was heard of now. */
uint32_t agents_add(struct agents *agents, uint32_t identity, uint32_t account, const char *name, int64_t now);
uint32_t agents_find(const struct agents *agents, uint64_t handle); /* TEXTMAP_NONE when it is not known */

/* What it says of itself, replaced; a text that is NULL is forgotten. */
void agent_set_text(char **text, const char *value);

/* A letter behind the others; the oldest goes when there are too many. Returns NULL when it cannot be kept. Watchers are woken. */
struct letter *agents_write_match(struct agents *agents, uint32_t place, const struct message *match, int64_t now,
                                  int64_t ends);
/* NULL when the account that sends it has its share there already. */
struct letter *agents_write_text(struct agents *agents, uint32_t place, uint64_t relay, uint32_t from, const char *text,
                                 size_t len, int64_t now, int64_t ends);
/* The two were matched: what the other sends comes before what strangers do. */
void agents_acquaint(struct agents *agents, uint32_t place, uint64_t other);
/* A command waits for it: the letter lies there until it is dropped, as that of `key`, or until then. Nothing when there is one already. */
void agents_write_command(struct agents *agents, uint32_t place, uint64_t key, int64_t now, int64_t ends);
/* One that was answered, or that nobody waits for any more. */
void agents_drop_text(struct agents *agents, uint32_t place, uint64_t relay);
/* The first that comes after that number, or NULL. Those past their time are dropped first. */
const struct letter *agents_letter_after(struct agents *agents, uint32_t place, uint64_t number, int64_t now);

void agents_watch(struct agents *agents, struct watcher *watcher);
void agents_unwatch(struct agents *agents, struct watcher *watcher);

/* Forgets letters past their time, and agents of which nothing is there. */
void agents_sweep(struct agents *agents, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
