/* names.h: what agents and ads are called, and the numbers that roles know them by.
 *
 *     identity, name -> handle      the same everywhere in a pool: 8 bytes of a hash of both
 *     "heron"        -> number      an id of sixteen hexadecimal digits is the number that they say, any other is mixed from its bytes */
#ifndef BERTH_SYS_NAMES_H
#define BERTH_SYS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AGENT_NAME_MAX 63

/* The handle of the agent of that name; "" is the identity's agent without a name. */
uint64_t agent_handle(const char *identity, const char *name);

bool agent_name_is_good(const char *name, size_t len); /* letters, digits, . _ - */

/* The number of an id. */
uint64_t id_number(const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
