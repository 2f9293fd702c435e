/* page.h: the files of the page, as the build has put them into the program. */
#ifndef BERTH_LIVE_MATCHMAKERD_PAGE_H
#define BERTH_LIVE_MATCHMAKERD_PAGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct page_file {
    const char *path, *type, *etag; /* path NULL: the end of the list */
    const unsigned char *bytes;     /* compressed by gzip */
    size_t len;
};

extern const struct page_file page_files[]; /* empty if the page was not built */

#ifdef __cplusplus
}
#endif
#endif
