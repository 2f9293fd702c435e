/* missing_files.h: what a try was to bring and did not: names and why, the first of them, and how many there are. */
#ifndef BERTH_LIVE_DATA_MISSING_FILES_H
#define BERTH_LIVE_DATA_MISSING_FILES_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MISSING_NAMES 64    /* that are kept */
#define MISSING_WHY_MAX 160 /* bytes of a reason */

struct missing_file {
    char *name, *why; /* owned */
};

struct missing {
    int64_t count;
    struct missing_file *files;
    uint32_t known; /* how many of them by name */
};

void missing_done(struct missing *missing); /* one of zeros is empty */

/* Adds a file; a name that is there already changes nothing. Control characters are not kept. */
void missing_add(struct missing *missing, const char *name, size_t name_len, const char *why, size_t why_len);

/* Appends "2 files are missing: a: WHY; b: WHY"; nothing when none is. */
void missing_words(const struct missing *missing, struct buf *out);

/* The list as an ad, [Count = 2; Files = {[Name = "a"; Why = "..."], ...}], and from one; NULL when nothing is missing. The caller unrefs it. */
struct tree *missing_ad(struct symbols *symbols, const struct missing *missing);
void missing_read(struct missing *missing, const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
