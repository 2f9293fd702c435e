/* secret_box.c: the secrets of a job, sealed. */
#include "live/auth/secret_box.h"

#include "sys/secret_bundle.h"

#define USE_BYTES 16
#define HEAD_BYTES (USE_BYTES + 3 * 8)

static const char uses[][USE_BYTES] = {[SECRET_KEPT] = "berth kept", [SECRET_SENT] = "berth sent"};

static void head_put(char out[HEAD_BYTES], const struct secret_place *place)
{
    memcpy(out, uses[place->use], USE_BYTES);
    for (int i = 0; i < 3 * 8; i++)
        out[USE_BYTES + i] = (char)(place->numbers[i / 8] >> (8 * (i % 8)));
}

int secret_box_seal(struct buf *out, const struct box_public *reader, const struct secret_place *place,
                    const void *bundle, size_t len, struct err *err)
{
    char head[HEAD_BYTES];
    struct buf inside;
    int failed;

    head_put(head, place);
    buf_init(&inside);
    buf_reserve(&inside, sizeof head + len);
    buf_add(&inside, head, sizeof head);
    buf_add(&inside, bundle, len);
    failed = box_seal_unnamed(out, reader, inside.text, inside.len, err);
    secret_wipe(&inside);
    return failed;
}

int secret_box_open(struct buf *out, const struct box_keys *mine, const struct secret_place *place, const void *box,
                    size_t len, struct err *err)
{
    char head[HEAD_BYTES];
    struct buf inside;
    int failed = -1;

    if (len > HEAD_BYTES + BOX_SEAL_EXTRA_BYTES + SECRETS_BYTES_MAX)
        return err_set(err, "the box of the secrets is too large");
    head_put(head, place);
    buf_init(&inside);
    buf_reserve(&inside, len + 1);
    if (box_open_unnamed(&inside, mine, box, len, err) == 0) {
        if (inside.len < HEAD_BYTES || memcmp(inside.text, head, HEAD_BYTES) != 0 ||
            !secret_bundle_is_good(inside.text + HEAD_BYTES, inside.len - HEAD_BYTES)) {
            err_set(err, "what is in the box are not the secrets that were asked for");
        } else {
            buf_reserve(out, inside.len - HEAD_BYTES + 1);
            buf_add(out, inside.text + HEAD_BYTES, inside.len - HEAD_BYTES);
            failed = 0;
        }
    }
    secret_wipe(&inside);
    return failed;
}
