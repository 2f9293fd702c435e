/* libcurl.h: libcurl, loaded when the first request is made: commands on files, and the launchers of jobs, make none, and with the thirty libraries
 * behind it it takes longer to load than most of them run. */
#ifndef BERTH_LIVE_HTTP_LIBCURL_H
#define BERTH_LIVE_HTTP_LIBCURL_H

#include "lang/base/err.h"

#define CURL_DISABLE_TYPECHECK /* it looks at calls by name, which there are none of, and is half of the header */
#include <curl/curl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that are called, without the curl_ in front. */
#define LIBCURL_FUNCTIONS(X) \
    X(easy_cleanup)          \
    X(easy_getinfo)          \
    X(easy_init)             \
    X(easy_perform)          \
    X(easy_reset)            \
    X(easy_setopt)           \
    X(easy_strerror)         \
    X(free)                  \
    X(global_cleanup)        \
    X(global_init)           \
    X(multi_add_handle)      \
    X(multi_assign)          \
    X(multi_cleanup)         \
    X(multi_info_read)       \
    X(multi_init)            \
    X(multi_remove_handle)   \
    X(multi_setopt)          \
    X(multi_socket_action)   \
    X(slist_append)          \
    X(slist_free_all)        \
    X(url)                   \
    X(url_cleanup)           \
    X(url_get)               \
    X(url_set)

struct libcurl {
#define X(name) __typeof__(curl_##name) *name;
    LIBCURL_FUNCTIONS(X)
#undef X
};

/* Loads libcurl, unless it was loaded before, and makes it ready; -1 when it is not installed, or cannot be used. Not by two threads at once. Each
 * libcurl_take has its libcurl_give. */
int libcurl_take(struct err *err);
void libcurl_give(void);

/* The functions, between the two. */
const struct libcurl *libcurl(void);

#ifdef __cplusplus
}
#endif
#endif
