/* log_writer.h: a process that appends to logs with the rights of one user, and ends: this program again, as `berth user-log UID` or `berth user-log self`.
 *
 *     customer -> writer   its standard input, a file in memory: order, folder, name, owner, text; order, ...
 *     writer -> customer   the same file: each order says what became of it
 *
 * A customer that serves many users never touches their folders itself. A text is whole events, and is appended in one piece or not at all. */
#ifndef BERTH_LIVE_CUSTOMERD_LOG_WRITER_H
#define BERTH_LIVE_CUSTOMERD_LOG_WRITER_H

#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LOG_WRITER_COMMAND "user-log"
#define LOG_WRITER_SELF "self"    /* the customer's own user */
#define LOG_WRITER_MAX (4u << 20) /* bytes of all orders */
#define LOG_WRITER_LOOKS \
    (4u << 20) /* so many bytes at the end of a log are looked through for events that may be there */

enum log_state { LOG_UNANSWERED, LOG_WRITTEN, LOG_FAILED };

struct log_order {
    uint32_t folder_len, name_len, owner_len,
        text_len;   /* of what follows, in this order; a NUL is behind each but the text */
    uint32_t looks; /* an event that is there already is not written again */
    uint32_t state; /* enum log_state */
    int32_t error;  /* an errno, when it has failed */
};

/* Adds an order whose text is empty; and text to the last order, which is at that place. */
size_t log_order_add(struct buf *orders, const char *folder, const char *name, const char *owner, bool looks);
void log_order_text(struct buf *orders, size_t place, const char *text, size_t len);

/* Appends the text to the file of that name, which may be any path; folders beneath the given one are made. With `looks`, without those events that are
 * among the last bytes of the file. -1 and errno: nothing was written. */
int log_append(const char *folder, const char *name, const char *text, size_t len, bool looks);

/* The writer itself. Returns the status to end with. */
int log_writer_main(const char *who);

#ifdef __cplusplus
}
#endif
#endif
