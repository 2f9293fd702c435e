/* resource_tag.h: the entity tag of what changes by the clock as well, and times as HTTP has them; private to the live customer. */
#ifndef BERTH_LIVE_CUSTOMERD_RESOURCE_TAG_H
#define BERTH_LIVE_CUSTOMERD_RESOURCE_TAG_H

#include "live/http/request.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RESOURCE_TAG_MAX (KEPT_ETAG_MAX + 2)
#define RESOURCE_DATE_MAX 40

/* The tag of an ad, without those attributes (names, then NULL): what the clock alone changes. */
void resource_tag(const struct tree *ad, const char *const *by_clock, char out[RESOURCE_TAG_MAX]);

void resource_date(int64_t seconds, char out[RESOURCE_DATE_MAX]);

#ifdef __cplusplus
}
#endif
#endif
