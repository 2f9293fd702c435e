/* secret_box.h: the secrets of a job (secret_bundle.h), sealed.
 *
 *     what it is for (16 bytes) | three numbers | the bundle          in a box without a name (box.h)
 *
 * The numbers say of which set, or of which try of which job they are: a box that was made for one is not taken for another. */
#ifndef BERTH_LIVE_AUTH_SECRET_BOX_H
#define BERTH_LIVE_AUTH_SECRET_BOX_H

#include "live/auth/box.h"

#ifdef __cplusplus
extern "C" {
#endif

enum secret_use {
    SECRET_KEPT, /* by a customer, on its disk: the set */
    SECRET_SENT, /* to a provider, for a try: job, claim, number */
};

struct secret_place {
    enum secret_use use;
    uint64_t numbers[3]; /* those that are not used are 0 */
};

/* Appends the box. */
int secret_box_seal(struct buf *out, const struct box_public *reader, const struct secret_place *place,
                    const void *bundle, size_t len, struct err *err);

/* Appends the bundle that is in the box, which is a good one; the caller wipes it. -1, and nothing appended, when this is not such a box. */
int secret_box_open(struct buf *out, const struct box_keys *mine, const struct secret_place *place, const void *box,
                    size_t len, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
