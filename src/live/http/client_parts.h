/* client_parts.h: one request on its way, between client.c (the loop) and client_transfer.c (what is sent and what comes back). Private. */
#ifndef BERTH_LIVE_HTTP_CLIENT_PARTS_H
#define BERTH_LIVE_HTTP_CLIENT_PARTS_H

#include "live/http/client.h"
#include "live/http/libcurl.h"
#include "sys/socket_path.h"

/* The answer's fields that are kept: a member of struct http_outcome and the field's name. */
#define ANSWER_FIELDS(X)          \
    X(type, "content-type")       \
    X(etag, "etag")               \
    X(location, "location")       \
    X(retry_after, "retry-after") \
    X(cursor, "berth-cursor")     \
    X(size, "berth-size")         \
    X(whole, "berth-whole")       \
    X(standby, "berth-standby")   \
    X(leader, "berth-leader")

struct answer_fields {
#define X(member, name) char *member;
    ANSWER_FIELDS(X)
#undef X
};

void answer_fields_forget(struct answer_fields *fields);

/* Keeps the value when the line is that field; of several fields the first. */
void answer_field_take(char **value, const char *name, const char *line, size_t len);

/* Is the call well-formed, and within our rules? */
int call_check(const struct http_call *call, const char *method, struct err *err);

/* For tools: a call by a Unix socket that needs nothing of libcurl, and how it is sent; as client_fetch (client_local.c). */
bool client_local_can(const struct http_call *call);
int client_local_fetch(const struct http_call *call, struct fetched *ret, struct err *err);

/* Transfers are used again: the easy handle and the memory stay. */
struct transfer {
    struct transfer *before, *next; /* in one of the client's lists */
    struct client *client;
    uint64_t id;
    CURL *easy;
    bool added; /* it is in the multi handle */
    bool gone;  /* cancelled while libcurl runs: taken out when libcurl has returned */

    /* the request */
    struct curl_slist *head;
    struct buf request;
    bool at_socket;             /* a Unix socket: there is no address to check */
    bool is_long;               /* its path is longer than libcurl takes, which gets the address when it connects */
    struct socket_path through; /* that address */
    bool by_name;               /* the server is trusted by the host name in its certificate, not by a pin */
    bool may_repeat;            /* HTTP allows sending this method twice */
    int64_t timeout;            /* milliseconds */
    size_t bytes_max;
    call_address_fn *may_connect;
    void *may_user;
    call_bytes_fn *bytes;
    void *bytes_user;
    call_done_fn *done;
    void *user;

    /* the answer */
    bool opened;    /* a new connection was opened, rather than a kept one used */
    bool refused;   /* our rules refused it; nothing was sent then, unless `sent` is true */
    bool too_long;  /* the answer is */
    bool sent;      /* a part of the request may have been sent */
    bool head_over; /* the head of the answer is complete */
    unsigned status;
    size_t head_bytes, body_bytes;
    uint64_t heard; /* when bytes came last: milliseconds of the loop */
    struct answer_fields fields;
    struct buf answer;
    char why[ERR_TEXT_MAX];
    char curl_words[CURL_ERROR_SIZE];
};

struct transfer *transfer_new(struct client *client);
void transfer_free(struct transfer *transfer);
void transfer_reset(struct transfer *transfer); /* ready for the next call */

/* Sets the transfer up for the call. Returns -1 when the call is malformed; then `why` says how, and it is refused. */
int transfer_prepare(struct transfer *transfer, const struct http_call *call, const char *ca_file);

/* Tells the caller. `curl` is libcurl's result; `cancelled`: by client_free. */
void transfer_report(struct transfer *transfer, CURLcode curl, bool cancelled);

static inline bool transfer_is_stream(const struct transfer *transfer)
{
    return transfer->bytes != NULL;
}

/* The loop's time, in milliseconds. */
uint64_t client_now(const struct client *client);

#endif
