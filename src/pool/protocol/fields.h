/* fields.h: the lists of what messages and records have, as data.
 *
 * A structure is given by a list of fields, each with a sort. From the list come the C structure, its copy, its comparison and its
 * form as an ad (wire.h), so that a new field is one word in one place:
 *
 *     #define VERIFY_FIELDS(F, S) F(S, WORD, claim) F(S, AD, ad)   ->      struct verify { uint64_t claim; struct tree *ad; };
 *
 *     NUMBER   int64_t: a span in microseconds, a status
 *     WORD     uint64_t: an id, an epoch, a count
 *     FLAG     bool
 *     REASON   enum reason
 *     TEXT     struct text: a short name
 *     KEY      struct key: 32 secret bytes
 *     SEEN     struct seen
 *     AD       struct tree *, held; or NULL
 *     EDGES    struct edges *, held; or NULL
 *
 * A field that came after a version was in use is LATER_NUMBER, LATER_WORD, LATER_FLAG or LATER_TEXT: where it is missing, in a
 * row or a message of that version, it reads as 0, false or empty. LATER_TIME is a NUMBER that then reads as -1: not known. A field that is
 * QUIET_WORD and so on may be missing too, and is not written while it has that value (a reason: OK), so that a reader that does not know
 * the field can read the rest. All other fields must be there. */
#ifndef BERTH_POOL_PROTOCOL_FIELDS_H
#define BERTH_POOL_PROTOCOL_FIELDS_H

#include "lang/text/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t agent; /* a party that messages go to; the world knows where it lives. 0: nobody */

#define TEXT_MAX 63

struct text {
    char bytes[TEXT_MAX + 1]; /* up to the NUL, NULs behind it */
};

#define KEY_BYTES 32

struct key {
    unsigned char bytes[KEY_BYTES];
};

/* Which matches of an ad its sender has taken into account: all up to `last` and, bit i of `beyond`, last + 2 + i; numbers hold
 * within an incarnation of the matchmaker. */
struct seen {
    uint64_t incarnation, last, beyond;
};

/* Why, or why not. OK comes first. */
#define REASONS(X)                                  \
    X(OK, "ok")                                     \
    X(CHALLENGE, "prove the ticket")                \
    X(BUSY, "busy with another")                    \
    X(WAIT, "not decided yet")                      \
    X(ACTIVATE, "activated")                        \
    X(ABORT, "aborted")                             \
    X(STALE, "something newer is known")            \
    X(UNKNOWN, "nothing of that name")              \
    X(BODY, "the whole ad is needed")               \
    X(CONSUMED, "nothing is left of it")            \
    X(CONSTRAINT, "refused by the constraint")      \
    X(TICKET, "the ticket is not good")             \
    X(IDENTITY, "that is somebody else's")          \
    X(INVALID, "breaks the protocol")               \
    X(LIMIT, "past a limit")                        \
    X(CONFLICT, "the same key with another body")   \
    X(DRAINING, "takes no more")                    \
    X(WINDOW, "the window is over")                 \
    X(PIN, "the pin lease is over")                 \
    X(LEASE, "the lease is over")                   \
    X(LIFE, "the claim has lived long enough")      \
    X(LOST, "lost in a restart")                    \
    X(RELEASED, "released")                         \
    X(VETOED, "the owner would have it back")       \
    X(PREEMPTED, "another is preferred")            \
    X(EXITED, "the job ended")                      \
    X(TIME, "the job's time was up")                \
    X(MEMORY, "the job took too much memory")       \
    X(DISK, "the job took too much disk")           \
    X(SETUP, "the job could not be set up")         \
    X(QUEUE, "it waited longer than it may")        \
    X(FAULT, "the machine could not run it")        \
    X(UNMADE, "an output that it names is missing") \
    X(FINISH, "its FinishBy came before it ran")

enum reason {
#define X(id, words) REASON_##id,
    REASONS(X)
#undef X
        REASON_COUNT
};

const char *reason_words(enum reason reason);

/* A subordinate in a gang, as its superior is told of it. */
struct edge {
    uint64_t claim; /* the name of the claim between the two */
    uint64_t agent;
    uint64_t offer; /* the ad's id at that agent */
    uint64_t depth; /* how many levels are below it: the subordinate must have heard of those before it is verified */
    uint64_t port;  /* the superior's port that it docks at, ... */
    uint64_t link;  /* ... and its own that it docks by: their places among the ports; 0 for an ad without ports */
    struct key ticket;
    struct tree *ad;      /* held */
    uint64_t under;       /* of an edge further below: the claim of the subordinate that it is beneath; else 0 */
    struct tree *receipt; /* held: the superior hands it to the subordinate; or NULL (receipt.h) */
};

#define EDGES_MAX 64

struct edges {
    uint32_t refs, count;
    struct edge *items; /* in the same block, behind this structure */
};

struct edges *edges_new(uint32_t count); /* cleared */
struct edges *edges_ref(struct edges *edges);
void edges_unref(struct edges *edges);

enum field_sort {
    FIELD_NUMBER,
    FIELD_WORD,
    FIELD_FLAG,
    FIELD_REASON,
    FIELD_TEXT,
    FIELD_KEY,
    FIELD_SEEN,
    FIELD_AD,
    FIELD_EDGES,
};

#define FIELD_TYPE_NUMBER int64_t
#define FIELD_TYPE_WORD uint64_t
#define FIELD_TYPE_FLAG bool
#define FIELD_TYPE_REASON enum reason
#define FIELD_TYPE_TEXT struct text
#define FIELD_TYPE_KEY struct key
#define FIELD_TYPE_SEEN struct seen
#define FIELD_TYPE_AD struct tree *
#define FIELD_TYPE_EDGES struct edges *

#define FIELD_TYPE_LATER_NUMBER FIELD_TYPE_NUMBER
#define FIELD_TYPE_LATER_TIME FIELD_TYPE_NUMBER
#define FIELD_TYPE_LATER_WORD FIELD_TYPE_WORD
#define FIELD_TYPE_LATER_FLAG FIELD_TYPE_FLAG
#define FIELD_TYPE_LATER_TEXT FIELD_TYPE_TEXT
#define FIELD_TYPE_QUIET_NUMBER FIELD_TYPE_NUMBER
#define FIELD_TYPE_QUIET_WORD FIELD_TYPE_WORD
#define FIELD_TYPE_QUIET_FLAG FIELD_TYPE_FLAG
#define FIELD_TYPE_QUIET_REASON FIELD_TYPE_REASON
#define FIELD_TYPE_QUIET_TEXT FIELD_TYPE_TEXT
#define FIELD_TYPE_QUIET_KEY FIELD_TYPE_KEY

#define FIELD_LATER_NUMBER FIELD_NUMBER, .later = true
#define FIELD_LATER_TIME FIELD_NUMBER, .later = true, .missing = -1
#define FIELD_LATER_WORD FIELD_WORD, .later = true
#define FIELD_LATER_FLAG FIELD_FLAG, .later = true
#define FIELD_LATER_TEXT FIELD_TEXT, .later = true
#define FIELD_QUIET_NUMBER FIELD_NUMBER, .later = true, .quiet = true
#define FIELD_QUIET_WORD FIELD_WORD, .later = true, .quiet = true
#define FIELD_QUIET_FLAG FIELD_FLAG, .later = true, .quiet = true
#define FIELD_QUIET_REASON FIELD_REASON, .later = true, .quiet = true
#define FIELD_QUIET_TEXT FIELD_TEXT, .later = true, .quiet = true
#define FIELD_QUIET_KEY FIELD_KEY, .later = true, .quiet = true

/* For use as the F of a list; S is the structure's name. */
#define FIELD_MEMBER(structure, sort, name) FIELD_TYPE_##sort name;
#define FIELD_ROW(structure, word, member) \
    {.name = #member, .at = offsetof(struct structure, member), .sort = FIELD_##word},

struct field {
    const char *name;
    size_t at; /* the offset in the structure */
    enum field_sort sort;
    bool later;      /* the field may be missing; it then reads as ... */
    int64_t missing; /* ... this, if it is a NUMBER; other sorts as 0 */
    bool quiet;      /* it is not written while it is 0 */
};

/* What a list describes. */
struct layout {
    const char *name;
    const struct field *fields;
    uint32_t count;
    size_t size;
};

/* fields_copy makes a copy that holds its own references; fields_done gives references back; fields_equal compares, ads
 * by what they say. */
void fields_copy(const struct layout *layout, void *to, const void *from);
void fields_done(const struct layout *layout, void *structure);
bool fields_equal(const struct layout *layout, const void *a, const void *b);

/* Is this a quiet field that is zero, so that it is not written? False for all other fields. */
bool field_is_left_out(const struct field *field, const void *structure);

/* Takes up to TEXT_MAX bytes. Returns false, and cuts the text, when it is longer or has a NUL. */
bool text_set(struct text *text, const char *bytes, size_t len);

#ifdef __cplusplus
}
#endif
#endif
