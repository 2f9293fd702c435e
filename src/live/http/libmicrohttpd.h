/* libmicrohttpd.h: libmicrohttpd, loaded when the first server begins: with the libraries for TLS behind it it takes longer to load than most commands
 * run, and they serve nobody. */
#ifndef BERTH_LIVE_HTTP_LIBMICROHTTPD_H
#define BERTH_LIVE_HTTP_LIBMICROHTTPD_H

#include "lang/base/err.h"

#include <microhttpd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that are called, without the MHD_ in front. */
#define LIBMICROHTTPD_FUNCTIONS(X)   \
    X(add_response_header)           \
    X(create_response_from_buffer)   \
    X(create_response_from_callback) \
    X(destroy_response)              \
    X(get_connection_info)           \
    X(get_connection_values_n)       \
    X(get_daemon_info)               \
    X(get_reason_phrase_for)         \
    X(get_timeout)                   \
    X(lookup_connection_value)       \
    X(queue_response)                \
    X(quiesce_daemon)                \
    X(resume_connection)             \
    X(run)                           \
    X(start_daemon)                  \
    X(stop_daemon)                   \
    X(suspend_connection)

struct libmicrohttpd {
#define X(name) __typeof__(MHD_##name) *name;
    LIBMICROHTTPD_FUNCTIONS(X)
#undef X
};

const struct libmicrohttpd *libmicrohttpd(void);

#ifdef __cplusplus
}
#endif
#endif
