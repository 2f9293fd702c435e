/* client_parts.h: one request on its way, between client.c (the loop) and client_transfer.c (what is sent and what comes back). Private. */
#ifndef BERTH_LIVE_HTTP_CLIENT_PARTS_H
#define BERTH_LIVE_HTTP_CLIENT_PARTS_H

#include "live/http/client.h"

#include <curl/curl.h>

/* The answer's fields that are kept: a member of struct http_outcome and the field's name. */
#define ANSWER_FIELDS(X)          \
    X(type, "content-type")       \
    X(etag, "etag")               \
    X(location, "location")       \
    X(retry_after, "retry-after") \
    X(cursor, "berth-cursor")     \
    X(size, "berth-size")         \
    X(whole, "berth-whole")

struct answer_fields {
#define X(member, name) char *member;
    ANSWER_FIELDS(X)
#undef X
};

/* Used again and again: the easy handle and the memory stay. */
struct transfer {
    struct transfer *before, *next; /* in one of the client's lists */
    struct client *client;
    uint64_t id;
    CURL *easy;
    bool added; /* to the multi handle */
    bool gone;  /* cancelled from inside libcurl: to be taken out when it has returned */

    /* what is asked */
    struct curl_slist *head;
    struct buf request;
    bool at_socket;  /* of a path: no address to be asked about */
    bool by_name;    /* the certificate is trusted for the host that it names, not by a pin */
    bool may_repeat; /* HTTP lets that method be sent twice */
    int64_t timeout; /* milliseconds */
    size_t bytes_max;
    call_address_fn *may_connect;
    void *may_user;
    call_bytes_fn *bytes;
    void *bytes_user;
    call_done_fn *done;
    void *user;

    /* what came */
    bool opened;    /* a connection of its own, rather than one that was kept */
    bool refused;   /* by our rules; nothing was sent then, unless `sent` says */
    bool too_long;  /* the answer */
    bool sent;      /* something of the request may have left */
    bool head_over; /* the answer's head is whole */
    unsigned status;
    size_t head_bytes, body_bytes;
    uint64_t heard; /* milliseconds of the loop: when bytes came last */
    struct answer_fields fields;
    struct buf answer;
    char why[ERR_TEXT_MAX];
    char curl_words[CURL_ERROR_SIZE];
};

struct transfer *transfer_new(struct client *client);
void transfer_free(struct transfer *transfer);
void transfer_reset(struct transfer *transfer); /* ready for the next call */

/* Takes the call over. -1: it is malformed; then `why` says what, and it is refused. */
int transfer_prepare(struct transfer *transfer, const struct http_call *call, const char *ca_file);

/* Tells the caller. `curl` is what libcurl said; cancelled: by client_free. */
void transfer_report(struct transfer *transfer, CURLcode curl, bool cancelled);

static inline bool transfer_is_stream(const struct transfer *transfer)
{
    return transfer->bytes != NULL;
}

/* Of the loop, in milliseconds. */
uint64_t client_now(const struct client *client);

#endif
