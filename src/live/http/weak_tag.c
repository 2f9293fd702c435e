/* weak_tag.c: entity tags of ads in which the clock changes something, and times as HTTP has them. */
#include "live/http/weak_tag.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <stdio.h>
#include <time.h>

void weak_tag(const struct tree *ad, const char *const *by_clock, char out[WEAK_TAG_MAX])
{
    struct tree *rest = tree_ref((struct tree *)(uintptr_t)ad), *less;
    char kept[KEPT_ETAG_MAX];

    for (; *by_clock; by_clock++) {
        if (!ad_find(rest, *by_clock))
            continue;
        less = ad_without(rest, *by_clock);
        tree_unref(rest);
        rest = less;
    }
    kept_etag(rest, kept);
    snprintf(out, WEAK_TAG_MAX, "W/%s", kept);
    tree_unref(rest);
}

void http_date(int64_t seconds, char out[HTTP_DATE_MAX])
{
    time_t when = (time_t)(seconds > 0 ? seconds : 0);
    struct tm parts;

    if (!gmtime_r(&when, &parts) || !strftime(out, HTTP_DATE_MAX, "%a, %d %b %Y %H:%M:%S GMT", &parts))
        *out = '\0';
}
