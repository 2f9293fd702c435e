/* classes.h: ads that are the same to the other side share their rows (section 5.8); not installed.
 *
 * What an ad is to the other side is what that reads of it: the names that were given, the constraint, and what these mention in
 * turn. Two ads in which all of that is written alike are of one class. An ad that reads the time, depends on chance, or finds names
 * by their text is a class of its own.
 *
 *     class -> head id -> next id -> ... tail id        in the order of their numbers; the head stands for all */
#ifndef BERTH_MATCH_INDEX_CLASSES_H
#define BERTH_MATCH_INDEX_CLASSES_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NO_CLASS UINT32_MAX
#define CLASS_NAMES_MAX 256 /* that an ad's meaning may hang on; with more it is alone */

struct class_set {
    bool on;
    symbol *names; /* that the other side reads; held */
    uint32_t name_count;
    struct ad_class *items;
    uint32_t count, room, free;
    uint32_t *buckets; /* a power of two; the first class, or NO_CLASS */
    uint32_t bucket_count;
};

struct ad_class {
    uint64_t hash;
    const struct tree *ad; /* the head's */
    uint32_t head, tail;   /* numbers of ads */
    uint32_t after;        /* in the bucket, or among the free ones */
};

/* From now on ads are put into classes; `names` are copied and held. */
void classes_start(struct class_set *classes, struct symbols *symbols, const symbol *names, uint32_t count);
void classes_done(struct class_set *classes, struct symbols *symbols);

/* One more name is read. An ad of a class that has it must have been taken out before. */
void classes_add_name(struct class_set *classes, struct symbols *symbols, symbol name);

/* The hash of what the ad is to the other side; false when it is alone. */
bool classes_hash(const struct class_set *classes, const struct tree *ad, uint64_t *ret_hash);

/* The class of ads like this, or NO_CLASS. */
uint32_t classes_find(const struct class_set *classes, const struct tree *ad, uint64_t hash);

/* Is the ad like those of that class? As classes_hash and classes_find tell, but without a hash. */
bool classes_has(const struct class_set *classes, uint32_t place, const struct tree *ad);

/* A new class with that ad as its only member; a class that has no member any more. */
uint32_t classes_add(struct class_set *classes, const struct tree *ad, uint32_t id, uint64_t hash);
void classes_remove(struct class_set *classes, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
