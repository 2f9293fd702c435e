/* ends_heard.h: what a customer hears from its pool about its jobs, page by page (GET /v1/ends), put together. Whoever says it may be lying: there are so many
 * pages at most, and bytes; numbers grow from page to page. */
#ifndef BERTH_LIVE_CUSTOMERD_ENDS_HEARD_H
#define BERTH_LIVE_CUSTOMERD_ENDS_HEARD_H

#include "lang/text/tree.h"
#include "live/world/ends.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENDS_PAGES_MAX 4096               /* a pool keeps what 64 of them have */
#define ENDS_HEARD_MAX ((size_t)64 << 20) /* bytes */

struct ends_heard {
    struct buf text; /* runs */
    uint64_t cursor; /* of the next page */
    uint64_t last;   /* the largest number of a job; 0: not known */
    uint64_t told;   /* the largest number in the text */
    uint32_t pages;
};

void ends_heard_init(struct ends_heard *heard);
void ends_heard_done(struct ends_heard *heard);
void ends_heard_reset(struct ends_heard *heard); /* nothing was heard; memory is given back */

enum ends_page { ENDS_PAGE_LAST, ENDS_PAGE_MORE, ENDS_PAGE_BAD };

/* Takes a page; NULL: it could not even be read. After a bad one nothing that was heard can be used. */
enum ends_page ends_heard_page(struct ends_heard *heard, const struct tree *page);

#ifdef __cplusplus
}
#endif
#endif
