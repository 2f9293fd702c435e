/* weak_tag.h: the entity tag of what changes by the clock as well, and times as HTTP has them. */
#ifndef BERTH_LIVE_HTTP_WEAK_TAG_H
#define BERTH_LIVE_HTTP_WEAK_TAG_H

#include "live/http/request.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEAK_TAG_MAX (KEPT_ETAG_MAX + 2)
#define HTTP_DATE_MAX 40

/* The tag of an ad, without those attributes (names, then NULL): what the clock alone changes. */
void weak_tag(const struct tree *ad, const char *const *by_clock, char out[WEAK_TAG_MAX]);

void http_date(int64_t seconds, char out[HTTP_DATE_MAX]);

#ifdef __cplusplus
}
#endif
#endif
