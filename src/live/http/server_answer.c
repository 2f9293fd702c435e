/* server_answer.c: answers as libmicrohttpd wants them. */
#include "live/http/server_parts.h"

#include "lang/base/json.h"

void exchange_respond(struct exchange *exchange, unsigned status, struct MHD_Response *response, const char *type,
                      const struct http_field *fields, size_t field_count)
{
    if (type)
        libmicrohttpd()->add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < field_count; i++)
        libmicrohttpd()->add_response_header(response, fields[i].name, fields[i].value);
    exchange->response = response;
    exchange->status = status;
    if (!exchange->is_calling) {
        conn_enter(exchange->conn, exchange->stream.is_on ? PHASE_STREAM : PHASE_REPLY);
        conn_wake(exchange->conn);
    }
}

void exchange_answer(struct exchange *exchange, const struct http_answer *answer)
{
    struct MHD_Response *response;

    if (exchange->response || exchange->state == EXCHANGE_QUEUED)
        return;
    response = libmicrohttpd()->create_response_from_buffer(
        answer->len, (void *)(uintptr_t)(answer->len ? answer->body : ""), MHD_RESPMEM_MUST_COPY);
    if (answer->close)
        libmicrohttpd()->add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    exchange_respond(exchange, answer->status, response, answer->type, answer->fields, answer->field_count);
}

void problem_print(struct buf *out, unsigned status, const char *detail)
{
    const char *title = libmicrohttpd()->get_reason_phrase_for(status);

    buf_adds(out, "{\"type\":\"about:blank\",\"title\":");
    json_quote(out, title, strlen(title));
    buf_addf(out, ",\"status\":%u,\"detail\":", status);
    json_quote(out, detail, strlen(detail));
    buf_addc(out, '}');
}

void exchange_problem(struct exchange *exchange, unsigned status, const char *detail)
{
    struct buf body;

    buf_init(&body);
    problem_print(&body, status, detail);
    exchange_answer(exchange,
                    &(struct http_answer){
                        .status = status, .type = "application/problem+json", .body = body.text, .len = body.len});
    buf_done(&body);
}
