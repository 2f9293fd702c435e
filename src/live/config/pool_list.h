/* pool_list.h: the setting Pools: the pools that an agent belongs to, in the order in which they are asked.
 *
 *     Pools = { [ Name = "group"; Access = other.Group == "physics" ],
 *               [ Name = "world"; Token = "/etc/berth/world.token"; Matchmaker = "https://pool.example.org:7600"; Share = 0.1 ] }
 *
 * Name        by which jobs and people call it: letters, digits, . _ -
 * Token       the file of the token for that pool; without it the pool is the agent's own, and the next two are not said either
 * Matchmaker  a URL or a list of such; without it: what the token's file says
 * CA          the file of the pool's certificate; without it: what the token's file says
 * Share       from 0 to 1: of the last claims of a provider that the pool is promised
 * Access      what a request must satisfy that a provider takes from there; `other` is the request */
#ifndef BERTH_LIVE_CONFIG_POOL_LIST_H
#define BERTH_LIVE_CONFIG_POOL_LIST_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POOL_LIST_MAX 16
#define POOL_URLS_MAX 8 /* of one pool */

struct pool_entry {
    char *name, *token, *ca; /* token: NULL for the agent's own pool; ca: or NULL */
    char *matchmakers[POOL_URLS_MAX];
    size_t matchmaker_count;
    double share;
    struct tree *access; /* an ad with the Constraint; or NULL */
};

struct pool_list {
    struct pool_entry items[POOL_LIST_MAX];
    uint32_t count;
};

/* Reads the list from an expression ("" and {}: no pools). The error names pool and field: "world.Share: ...". pool_list_done frees the list, and
 * takes a zeroed one as well. */
int pool_list_read(struct pool_list *ret, const struct tree *tree, const struct expr *list, struct err *err);
int pool_list_parse(struct pool_list *ret, struct symbols *symbols, const char *text, struct err *err);
void pool_list_done(struct pool_list *list);

/* The place of the pool of that name, or -1. */
int pool_list_find(const struct pool_list *list, const char *name, size_t len);

#ifdef __cplusplus
}
#endif
#endif
