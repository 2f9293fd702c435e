/* samples_ad.h: what a job used over its life, as an ad:
 *
 *     [ Span = 10; Memory = { 1048576, ... }; CpuPercent = { 98, ... }; GpuPercent = { 40, ... }; GpuMemory = { ... } ]
 *
 * The lists are of the same length; the last two are there only if graphics processors were looked at. Whoever sends one may lie. */
#ifndef BERTH_LIVE_DATA_SAMPLES_AD_H
#define BERTH_LIVE_DATA_SAMPLES_AD_H

#include "lang/text/tree.h"
#include "pool/protocol/samples.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL: there are no points. The caller unrefs it. */
struct tree *samples_ad(struct symbols *symbols, const struct samples *samples);
/* Reads such an ad; false, and `ret` is not whole: it makes no sense. */
bool samples_read(const struct tree *ad, struct samples *ret);
/* The attribute `name` of an ad as one of ours, with nothing in it but what we know; NULL: it has none, or it makes no sense. The caller unrefs it. */
struct tree *samples_part(const struct tree *ad, const char *name);

#ifdef __cplusplus
}
#endif
#endif
