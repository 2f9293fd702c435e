/* classes.h: ads that are the same to the other side share their rows (section 5.8); not installed.
 *
 * To the other side an ad is what that side reads of it: the names that were given, the constraint, and what these mention in turn. Two ads in
 * which all of that is written alike are of one class. An ad that reads the time, depends on chance, or finds names by their text is a class of its
 * own.
 *
 *     class -> head id -> next id -> ... tail id        in the order of their numbers; the head stands for all */
#ifndef BERTH_MATCH_INDEX_CLASSES_H
#define BERTH_MATCH_INDEX_CLASSES_H

#include "match/index/moulds.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NO_CLASS UINT32_MAX
#define CLASS_SLOTS 512     /* a power of two */
#define CLASS_NAMES_MAX 256 /* names that an ad's meaning may depend on; an ad with more is a class of its own */

struct class_plan;

struct class_set {
    bool on;
    struct class_plan **plans; /* by place of mould; NULL until the first is made */
    symbol *names;             /* names that the other side reads; held */
    uint32_t name_count;
    struct ad_class *items;
    uint32_t count, room, free;
    uint32_t *buckets; /* a power of two of them: the first class of each, or NO_CLASS */
    uint32_t bucket_count;
};

struct ad_class {
    uint64_t hash;
    const struct tree *ad; /* the head's */
    uint32_t head, tail;   /* numbers of ads */
    uint32_t mould;        /* of `ad` */
    uint32_t after;        /* the next class in the bucket, or among the free ones */
};

/* What an ad is to the other side: the names that its meaning depends on, and what it has by them. Good as long as the ad, and the names of the set. */
struct class_key {
    uint64_t hash;
    symbol names[CLASS_NAMES_MAX];
    const struct expr *found[CLASS_NAMES_MAX]; /* NULL: it has nothing by that name */
    uint32_t count;
    uint32_t mould; /* of the ad, or MOULD_NONE */
    bool alone;     /* it is a class of its own */
    uint16_t slots
        [CLASS_SLOTS]; /* a hash table of the names: their places plus one, or 0; only where the key was made from the ad alone */
};

/* Begins to put ads into classes; `names` are copied and held. */
void classes_start(struct class_set *classes, struct symbols *symbols, const symbol *names, uint32_t count);
void classes_done(struct class_set *classes, struct symbols *symbols);

/* Adds a name that the other side reads. Ads that have it must have been taken out of their classes before. */
void classes_add_name(struct class_set *classes, struct symbols *symbols, symbol name);

/* What the ad is to the other side; false when the ad is a class of its own. */
bool classes_key(const struct class_set *classes, const struct tree *ad, struct class_key *ret_key);

/* The same for an ad from that mould: which names matter is then found out once. */
bool classes_key_moulded(struct class_set *classes, struct tree *ad, uint32_t mould, struct class_key *ret_key);

/* Finds the class of ads like this one, which has that key; NO_CLASS when there is none. */
uint32_t classes_find(const struct class_set *classes, const struct tree *ad, const struct class_key *key);

/* Is the ad like those of that class? The answer is that of classes_key and classes_find, but without a hash. */
bool classes_has(const struct class_set *classes, uint32_t place, const struct tree *ad);

/* Adds a class with that ad as its only member; removes a class that has no member any more. */
uint32_t classes_add(struct class_set *classes, const struct tree *ad, uint32_t id, const struct class_key *key);
void classes_remove(struct class_set *classes, uint32_t place);

/* Another ad, which is like the one before and from that mould, stands for the class. */
void classes_stand(struct class_set *classes, uint32_t place, const struct tree *ad, uint32_t mould);

#ifdef __cplusplus
}
#endif
#endif
