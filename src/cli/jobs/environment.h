/* environment.h: the variables of here that a job takes along, as the ad's Env. */
#ifndef BERTH_CLI_JOBS_ENVIRONMENT_H
#define BERTH_CLI_JOBS_ENVIRONMENT_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends Env = [ ... ];: the words NAME=VALUE, or NAME with the value of here, the last of each; and with `all` those of here that do not say where things
 * are on this machine or who is at it. Nothing when there are none. */
void environment_print(struct buf *out, const char *const *given, size_t given_count, bool all);
bool environment_is_name(const char *text, size_t len);

#endif
