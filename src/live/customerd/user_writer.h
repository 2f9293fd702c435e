/* user_writer.h: a process that writes files with the rights of one user: this program again, as `berth user-writer UID`.
 *
 *     customer (root) -> writer   an order: folder, name, what may be replaced; and the file itself, as a descriptor
 *     writer -> customer          busy, now and then while it copies; done; or failed, with an errno
 *
 * A customer that serves many users never touches their folders itself: a path of a user's means what that user may reach. One datagram an
 * order or an answer, on a socket that is the writer's standard input. The user can do with its writer as it likes: answers are claims. */
#ifndef BERTH_LIVE_CUSTOMERD_USER_WRITER_H
#define BERTH_LIVE_CUSTOMERD_USER_WRITER_H

#include "live/customerd/jobfiles.h"
#include "pool/protocol/fields.h"
#include "sys/confined_path.h"

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

#define USER_WRITER_COMMAND "user-writer"
#define USER_FOLDER_MAX 4096
#define USER_WRITER_BUSY_S 5 /* seconds between two words while it copies, at most; unless the disk does not answer */

#define USER_WRITER_ANOTHER EOWNERDEAD /* the error when the id is another account's now than the job's owner */

struct write_order {
    uint64_t customer, job; /* the customer as a number: jobs of another may have the same number and folder */
    int64_t size;
    uint32_t mode, permit;
    uint8_t before, before_beside;
    char hash[HASH_DIGITS + 1];
    char name[CONFINED_NAME_MAX + 1];
    char owner[TEXT_MAX + 1]; /* the job's: the name of the user's account, perhaps with a domain behind an @ */
    char folder[USER_FOLDER_MAX];
};

enum write_state { WRITE_BUSY, WRITE_DONE, WRITE_FAILED };

struct write_answer {
    uint32_t state; /* enum write_state */
    int32_t error;  /* an errno, when it has failed */
    uint8_t beside; /* the file was put there as NAME.JOB */
};

/* Gives the order to the writer at that socket, with the file; -1 and errno. */
int write_order_send(int socket, const struct write_order *order, int file);

/* The writer itself: takes on the rights of that user, for good, and carries out orders from standard input until that is closed. Returns the
 * status to end with. */
int user_writer_main(uint32_t uid);

#ifdef __cplusplus
}
#endif
#endif
