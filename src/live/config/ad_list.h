/* ad_list.h: reads a setting that is a list of ads of one kind: every field is known and of its sort.
 *
 *     Pools = { [ Name = "world"; Token = "world.token" ] }      Issuers = { [ Issuer = "https://idp.example.org" ] } */
#ifndef BERTH_LIVE_CONFIG_AD_LIST_H
#define BERTH_LIVE_CONFIG_AD_LIST_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AD_LIST_PATH_MAX 4096 /* bytes of a file's name */

/* A field where it stands. */
struct ad_place {
    const struct tree *tree;
    const struct expr *value;
};

struct ad_field {
    const char *name, *expected;                      /* what it is called; what is said to be expected */
    bool (*read)(struct ad_place place, void *entry); /* false: it is something else */
};

struct ad_list_kind {
    const char *what, *example; /* what an ad of the list is, in a word; and one */
    uint32_t max;               /* ads of a list */
    const struct ad_field *fields;
    size_t field_count;
    void *(*add)(void *list);                  /* an empty entry more */
    int (*check)(void *list, struct err *err); /* is the last one whole, and unlike those before it? */
    const char *(*name)(const void *entry);    /* NULL: it has none */
    void (*done)(void *list);
};

/* Copies a text of one line; false when the expression is not one. */
bool ad_place_text(struct ad_place place, size_t max, char **ret);
bool ad_place_flag(struct ad_place place, bool *ret);

/* `list` is the caller's, and empty. When it fails nothing is left there. */
int ad_list_read(const struct ad_list_kind *kind, void *list, const struct tree *tree, const struct expr *e,
                 struct err *err);
int ad_list_parse(const struct ad_list_kind *kind, void *list, struct symbols *symbols, const char *text,
                  struct err *err);

#ifdef __cplusplus
}
#endif
#endif
