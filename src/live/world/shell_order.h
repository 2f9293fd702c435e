/* shell_order.h: what customer and provider say to each other about a command in the sandbox of a job (`berth exec`), and its bounds.
 *
 *     customer -> provider   [ Ask="shell"; Job; Key; Open=[ Arguments; Term; Rows; Columns ]; At; Input; Ends; Rows; Columns; Signal; Signals; Close ]
 *                            [ Reason="ok"; Taken ]
 *     provider -> customer   [ Ask="shell"; Claim; Number; Job; Key; OutAt; Out; ErrAt; Err; Ended; Status; Words ]
 *                            [ Reason="ok"; Out; Err ]
 *
 * Bytes are told with their place in the stream, so that everything may be said twice; an answer says up to where they were taken. Nothing is
 * taken for which there is no room: it is said again. */
#ifndef BERTH_LIVE_WORLD_SHELL_ORDER_H
#define BERTH_LIVE_WORLD_SHELL_ORDER_H

#include "lang/ad/make.h"
#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHELL_ORDER_WORDS 500           /* of a command */
#define SHELL_ORDER_BYTES (32u << 10)   /* of all of them, with their NULs */
#define SHELL_TERM_MAX 63               /* bytes of what TERM is */
#define SHELL_WINDOW_MAX 10000          /* rows, and columns */
#define SHELL_ROOM (128u << 10)         /* bytes of a stream that wait on one side */
#define SHELL_PIECE (64u << 10)         /* bytes of a stream in one question */
#define SHELL_PLACE_MAX (INT64_MAX / 2) /* in a stream: a length can be added to it */
#define SHELL_AWAY INT64_C(600)         /* seconds without the other side, then the command is hung up */
#define SHELL_WORDS_ROOM 256            /* of a reason */

struct shell_order {
    struct buf words; /* the arguments, each with its NUL */
    uint32_t count;
    char term[SHELL_TERM_MAX + 1]; /* "": no terminal */
    uint16_t rows, columns;
};

/* Reads an order; -1 and what is wrong, and nothing is to be freed. Arguments: texts without a NUL. */
int shell_order_read(const struct tree *ad, struct shell_order *ret, struct err *err);
void shell_order_done(struct shell_order *order);
struct tree *shell_order_make(struct symbols *symbols, const struct shell_order *order);

/* Reads a window's size, where there is one. False: it is none. */
bool shell_window_read(const struct tree *ad, uint16_t *ret_rows, uint16_t *ret_columns);
/* The bytes under that name, and where they begin; false: there are none, or they are not well formed. */
bool shell_bytes_read(const struct tree *ad, const char *at_name, const char *name, int64_t *ret_at, struct buf *out);
void shell_bytes_write(struct maker *maker, const char *at_name, const char *name, int64_t at, const char *bytes,
                       size_t len);

#ifdef __cplusplus
}
#endif
#endif
