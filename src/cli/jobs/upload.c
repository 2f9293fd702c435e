/* upload.c: takes the files of a submission to the customer's spool, those that it does not have. */
#include "cli/jobs/submission.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_MAX (4u << 20) /* bytes that go up in one request */

/* Sends a piece that begins at `offset`; the customer says how much it has then. */
static int piece_send(struct connection *customer, const struct input_upload *upload, uint64_t offset,
                      const struct buf *piece, uint64_t *ret_have)
{
    struct connection_ask ask = {
        .method = "PUT", .type = "application/octet-stream", .bytes = piece, .patient = true, .about = upload->path};
    struct tree *answer = NULL;
    struct buf path;
    int64_t have;
    int status;

    buf_init(&path);
    buf_addf(&path, "/v1/spool/%s?offset=%" PRIu64 "&size=%" PRIu64, upload->hash, offset, upload->size);
    ask.path = buf_string(&path);
    status = connection_fetch_ad(customer, &ask, &answer);
    if (status == STATUS_DONE && ad_integer(answer, "Have", &have) && have >= 0)
        *ret_have = (uint64_t)have;
    else if (status == STATUS_DONE)
        *ret_have = offset + piece->len;
    tree_unref(answer);
    buf_done(&path);
    return status;
}

static int upload_pieces(struct connection *customer, const struct input_upload *upload, int fd, uint64_t offset,
                         struct buf *piece)
{
    int stuck = 0;

    do {
        size_t want = upload->size - offset < PIECE_MAX ? (size_t)(upload->size - offset) : PIECE_MAX;
        uint64_t have = 0;
        ssize_t got;
        int status;

        buf_reset(piece);
        buf_reserve(piece, want + 1);
        got = pread(fd, piece->text, want, (off_t)offset);
        if (got < 0 || (size_t)got != want) {
            report("%s: %s", upload->path, got < 0 ? strerror(errno) : "it has changed while it was read");
            return STATUS_BAD;
        }
        piece->len = want;
        status = piece_send(customer, upload, offset, piece, &have);
        if (status != STATUS_DONE)
            return status;
        stuck = have > offset ? 0 : stuck + 1;
        if (have > upload->size || (stuck > 3 && upload->size)) {
            report("%s: the customer does not take it", upload->path);
            return STATUS_UNREACHABLE;
        }
        offset = have;
    } while (offset < upload->size);
    return STATUS_DONE;
}

static int upload_one(struct connection *customer, const struct input_upload *upload, struct buf *piece)
{
    struct connection_ask ask = {.method = "HEAD", .may_miss = true, .patient = true, .hush = true};
    struct fetched fetched;
    uint64_t offset = 0;
    struct buf path;
    int fd, status;

    buf_init(&path);
    buf_addf(&path, "/v1/spool/%s", upload->hash);
    ask.path = buf_string(&path);
    status = connection_fetch(customer, &ask, &fetched);
    if (status == STATUS_DONE) {
        if (fetched.whole && strcmp(fetched.whole, "true") != 0) { /* the upload was broken off: go on from there */
            offset = fetched.size ? strtoull(fetched.size, NULL, 10) : 0;
            status = STATUS_NO;
        }
        fetched_done(&fetched);
    }
    buf_done(&path);
    if (status != STATUS_NO)
        return status;
    offset = offset < upload->size ? offset : 0;
    fd = open(upload->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        report("%s: %s", upload->path, strerror(errno));
        return STATUS_BAD;
    }
    status = upload_pieces(customer, upload, fd, offset, piece);
    close(fd);
    return status;
}

int submission_upload(struct job_submission *submission)
{
    int status = STATUS_DONE;
    struct buf piece;

    buf_init(&piece);
    for (size_t i = 0; i < submission->upload_count && status == STATUS_DONE; i++)
        status = upload_one(submission->customer, &submission->uploads[i], &piece);
    buf_done(&piece);
    return status;
}
