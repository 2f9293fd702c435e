/* api_spool.c: the spool of inputs: what is there, and pieces of files.
 *
 *     PUT -> checked -> written by a thread, one piece after another -> counted, answered
 *
 * A piece is answered when it is on disk, which takes milliseconds: a file is made, and brought to disk with two folders. Of the pieces that wait, that
 * of the account that has used least is next, and what the thread spends on it counts as its turns do (live/http/queues.h). */
#include "live/customerd/customerd_parts.h"

#include "lang/base/mem.h"
#include "live/http/represent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

struct spooling {
    uv_work_t work;
    struct spooling *next; /* that waits */
    struct customerd *customerd;
    struct request *request; /* NULL: has gone */
    struct buf body;
    struct spool_piece put;
    int64_t cost;
};

/* ------------------------------------------------------------------------------------------------------------- answers */

static void spool_answer(struct request *request, unsigned status, uint64_t have, bool whole)
{
    char digits[24], body[64];
    struct http_field fields[] = {{"Berth-Size", digits}, {"Berth-Whole", whole ? "true" : "false"}};

    snprintf(digits, sizeof digits, "%llu", (unsigned long long)have);
    snprintf(body, sizeof body, request->form == FORM_JSON ? "{\"Have\":%llu}\n" : "[Have=%llu]\n",
             (unsigned long long)have);
    request_answer(request, status, media_type(request->form, &dialect_classic), body, strlen(body), fields, 2);
}

static bool hash_checked(struct request *request)
{
    if (hash_is_good(request_variable(request, 0), strlen(request_variable(request, 0))))
        return true;
    request_problem(request, 400, "a hash is %d hexadecimal digits (BLAKE2b-256)", HASH_DIGITS);
    return false;
}

void api_spool_head(struct request *request)
{
    bool whole;
    uint64_t have;

    if (!hash_checked(request))
        return;
    have =
        spool_have(request_customerd(request)->spool, request_identity(request), request_variable(request, 0), &whole);
    spool_answer(request, whole ? 200 : 404, have, whole);
}

static void piece_answer(struct request *request, const struct spool_piece *put)
{
    switch (put->result) {
    case PIECE_WHOLE:
        spool_answer(request, 201, put->have, true);
        break;
    case PIECE_MORE:
        spool_answer(request, 200, put->have, false);
        break;
    case PIECE_HASH:
        request_problem(request, 422, "the file has another hash: start again at 0");
        break;
    case PIECE_BAD:
        request_problem(request, 400, "this is not a piece of a file of %llu bytes",
                        (unsigned long long)put->piece.size);
        break;
    case PIECE_FULL:
        request_problem(request, 413, "%s", put->err.text);
        break;
    case PIECE_DISK:
        request_problem(request, strncmp(put->err.text, "SpoolMax", 8) ? 503 : 413, "%s", put->err.text);
        break;
    }
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static void spooling_next(struct customerd *customerd);

static void spooling_free(struct spooling *spooling)
{
    if (spooling->request) {
        spooling->request->work = NULL;
        spooling->request->forget = NULL;
    }
    buf_done(&spooling->body);
    free(spooling);
}

static void piece_write(uv_work_t *work)
{
    struct spooling *spooling = work->data;
    struct queues_watch watch;

    queues_watch(&watch);
    spool_write(spooling->customerd->spool, &spooling->put);
    spooling->cost = queues_cost(&watch);
}

static void piece_written(uv_work_t *work, int status)
{
    struct spooling *spooling = work->data;
    struct customerd *customerd = spooling->customerd;

    (void)status; /* it is below 0 only of what was cancelled */
    customerd->spools = false;
    spool_count(customerd->spool, &spooling->put);
    if (spooling->request) {
        request_charge(spooling->request, spooling->cost);
        piece_answer(spooling->request, &spooling->put);
    }
    spooling_free(spooling);
    spooling_next(customerd);
}

/* Its client has gone. What is being written is written, and paid for: nobody saves that by leaving. */
static void spooling_forget(struct request *request)
{
    struct spooling *spooling = request->work, **link = &spooling->customerd->spooling;

    spooling->request = NULL;
    while (*link && *link != spooling)
        link = &(*link)->next;
    if (!*link) {
        request_charge(request, QUEUES_SLICE);
        return;
    }
    *link = spooling->next;
    spooling_free(spooling);
}

/* Takes the next piece from among those that wait; NULL: none does. */
static struct spooling *spooling_take(struct customerd *customerd)
{
    struct spooling **best = &customerd->spooling, *found;

    for (struct spooling **link = best; *link; link = &(*link)->next)
        if (request_used((*link)->request) < request_used((*best)->request))
            best = link;
    found = *best;
    if (found)
        *best = found->next;
    return found;
}

static void spooling_next(struct customerd *customerd)
{
    struct spooling *spooling;

    while (!customerd->spools && (spooling = spooling_take(customerd))) {
        struct request *request = spooling->request;
        struct piece piece = spooling->put.piece;

        if (spool_check(customerd->spool, request_identity(request), request_variable(request, 0), &piece,
                        &spooling->put) != PIECE_MORE) {
            piece_answer(request, &spooling->put);
            spooling_free(spooling);
            continue;
        }
        customerd->spools = true;
        spooling->work.data = spooling;
        if (uv_queue_work(&customerd->daemon.loop, &spooling->work, piece_write, piece_written) < 0)
            abort(); /* only without a work callback */
    }
}

void api_spool_put(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    struct spooling *spooling, **link = &customerd->spooling;
    uint64_t offset, size;

    if (!hash_checked(request) || !request_number(request, "offset", 0, INT64_MAX, 0, &offset) ||
        !request_number(request, "size", 0, INT64_MAX, INT64_MAX, &size))
        return;
    if (!customerd_takes(request)) /* no files are taken for a job that would be refused */
        return;
    if (!request_query(request, "size")) {
        request_problem(request, 400, "size: how large is the whole file?");
        return;
    }
    spooling = mem_alloc(sizeof *spooling);
    *spooling = (struct spooling){.customerd = customerd, .request = request};
    buf_init(&spooling->body);
    exchange_body_take(request->exchange, &spooling->body);
    spooling->put.piece = (struct piece){
        .offset = offset, .size = (int64_t)size, .bytes = spooling->body.text, .len = spooling->body.len};
    request->work = spooling;
    request->forget = spooling_forget;
    while (*link)
        link = &(*link)->next;
    *link = spooling;
    spooling_next(customerd);
}
