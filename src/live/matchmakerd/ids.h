/* ids.h: the ids of ads, and the agents they belong to.
 *
 *     HANDLE:heron -> agent, number of the ad there, identity     an id belongs to its advertiser until nothing of the ad is remembered
 *
 * Agents choose their ids, and may choose the same: each has its own ad under it, so that nobody can occupy the id of another, before that agent
 * comes or after. A caller that asks for an ad by such an id without saying whose may get either; HANDLE:ID, with the sixteen digits of the agent's
 * handle, says whose.
 *
 * People choose words for ids, roles use 64-bit numbers: the number of an id of sixteen hexadecimal digits is their value, that of any
 * other is mixed from its bytes. Ids are found both ways. */
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
    uint32_t account;       /* the place of the account that it counts for (callers.h) */
    uint32_t bytes;         /* bytes that its ad counts for */
    bool live;              /* its ad lives, and counts for the account */
    uint32_t next;          /* the next with the same mixture of agent and id */
    uint32_t alike, unlike; /* the next and the previous with the same hash of the text, of other agents */
};

struct ids {
    struct textmap texts;
    struct map numbers;  /* agent and id, mixed -> the first such place */
    struct map bare;     /* the hash of the text alone -> the first such place */
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

/* All ids of that text, one after another: the first (`before`: TEXTMAP_NONE), then the one behind `before`. For
 * HANDLE:ID only that one, if it is there. */
uint32_t ids_next(const struct ids *ids, const char *text, size_t len, uint32_t before);

const char *ids_text(const struct ids *ids, uint32_t place);   /* as its agent wrote it */
const char *ids_unique(const struct ids *ids, uint32_t place); /* the same, or HANDLE:ID if others have it too */

/* Adds a new id, which must not be there: before all others of that text if `first`, else behind the first of them, so that the ad that was there is
 * found soon however many follow. A pointer to a text holds until the next id is added. */
uint32_t ids_add(struct ids *ids, const char *text, size_t len, uint64_t who, uint32_t account, bool first);
void ids_remove(struct ids *ids, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
