/* http.h: what both sides of HTTP have in common. */
#ifndef BERTH_LIVE_HTTP_HTTP_H
#define BERTH_LIVE_HTTP_HTTP_H

#ifdef __cplusplus
extern "C" {
#endif

/* A header field. */
struct http_field {
    const char *name, *value;
};

#ifdef __cplusplus
}
#endif
#endif
