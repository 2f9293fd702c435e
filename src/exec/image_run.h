/* image_run.h: how an image wants to be run: its variables, its command, where it begins. The unpacker writes it beside the image's root, in a file of
 * texts, KEY and VALUE in turns; who starts a job reads it. */
#ifndef BERTH_EXEC_IMAGE_RUN_H
#define BERTH_EXEC_IMAGE_RUN_H

#include "lang/base/arena.h"
#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMAGE_SAYS_MAX (1 << 20) /* bytes of the file */
#define IMAGE_ROOT "root"        /* the image's root ... */
#define IMAGE_SAYS "says"        /* ... and this file, in its folder */

#define IMAGE_SAYS_ENV "env"         /* NAME=VALUE; may be repeated, as the next two */
#define IMAGE_SAYS_ENTRY "entry"     /* a word in front of every command */
#define IMAGE_SAYS_COMMAND "command" /* a word of the command, if the job has none of its own */
#define IMAGE_SAYS_BEGIN "begin"     /* the folder in which its own command begins */
#define IMAGE_SAYS_BYTES "bytes"     /* how much it takes; last, so that a file without it was cut short */

void image_run_say(struct buf *says, const char *key, const char *value);

struct image_run {
    const char *const *variables, *const *entry, *const *command; /* each ends with NULL */
    const char *begin;                                            /* or NULL */
    int64_t bytes;
};

/* Reads the file, given as its bytes; what it says lies in the arena. -1: it is not whole. */
int image_run_read(const char *bytes, size_t len, struct arena *into, struct image_run *ret);

/* The whole command of a job in the image: `own` is the job's, NULL in front where it has none and only says arguments. NULL: there is none. */
const char *const *image_run_command(const struct image_run *run, const char *const *own, struct arena *into);

#ifdef __cplusplus
}
#endif
#endif
