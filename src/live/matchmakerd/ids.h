/* ids.h: the ids by which ads are called, and whose they are.
 *
 *     HANDLE:heron -> agent, number of the ad there, identity     an id is its advertiser's own, until nothing of the ad is remembered
 *
 * Agents choose their ids, and may choose the same: each has its own ad under it, so that nobody can sit on the id of another, before that one
 * has come or after. Who asks for an ad by such an id without saying whose may get either; HANDLE:ID, with the sixteen digits of the agent's
 * handle, says whose.
 *
 * People choose words for ids, roles count in 64 bits: the number of an id of sixteen hexadecimal digits is what they say, that of any
 * other is mixed from its bytes. Found both ways. */
#ifndef BERTH_LIVE_MATCHMAKERD_IDS_H
#define BERTH_LIVE_MATCHMAKERD_IDS_H

#include "lang/base/textmap.h"
#include "sys/names.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ID_LEN_MAX 200                  /* bytes of an id */
#define ID_UNIQUE_MAX (ID_LEN_MAX + 17) /* with the handle of its agent, and a colon */

struct ad_id {
    uint64_t agent, id;
    uint32_t account;       /* the place of what it counts for (callers.h) */
    uint32_t bytes;         /* that its ad counts for */
    bool live;              /* its ad counts for the identity */
    uint32_t next;          /* of the same mixture of agent and id */
    uint32_t alike, unlike; /* the next of the same hash of the text, of another agent, and the one before */
};

struct ids {
    struct textmap texts;
    struct map numbers;  /* agent and id, mixed -> the first place of those */
    struct map bare;     /* the hash of the text alone -> the first place of those */
    struct ad_id *items; /* by the texts' places */
    uint32_t room;
};

void ids_init(struct ids *ids, uint64_t seed);
void ids_done(struct ids *ids);

/* May that be an id? Printable, no blank, none of / \ " < >, not "." alone, not too long. */
bool id_is_good(const char *text, size_t len);

/* Places, or TEXTMAP_NONE. */
uint32_t ids_find(const struct ids *ids, uint64_t who, const char *text, size_t len);
uint32_t ids_find_number(const struct ids *ids, uint64_t who, uint64_t id);

/* All of that text, one after another: the first (before: TEXTMAP_NONE), and the one behind another. Of HANDLE:ID only
 * that, if it is there. */
uint32_t ids_next(const struct ids *ids, const char *text, size_t len, uint32_t before);

const char *ids_text(const struct ids *ids, uint32_t place);   /* as its agent calls it */
const char *ids_unique(const struct ids *ids, uint32_t place); /* the same, or HANDLE:ID where others have it too */

/* A new one, which must not be there; before all others of that text when it is `first`, else behind the first of them, so that who was there is
 * found soon however many follow. The pointer to a name holds until the next is added. */
uint32_t ids_add(struct ids *ids, const char *text, size_t len, uint64_t who, uint32_t account, bool first);
void ids_remove(struct ids *ids, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
