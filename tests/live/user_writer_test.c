/* user_writer_test.c: the process that writes with one user's rights: what a killed one has left is replaced, what others have put in its way is not
 * touched, and a user id that has passed to another account gives nothing. As root, who alone can be several users. */
#define _GNU_SOURCE
#include "live/customerd/user_writer.h"

#include "common/folder.h"
#include "common/tap.h"

#include <dirent.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PATIENCE 60000 /* milliseconds */

/* A writer under way. */
struct writer {
    pid_t pid;
    int socket;
};

static struct writer writer_start(uint32_t uid)
{
    struct writer writer;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        perror("socketpair");
    writer.socket = pair[0];
    writer.pid = fork();
    if (writer.pid == 0) {
        dup2(pair[1], STDIN_FILENO);
        _exit(user_writer_main(uid));
    }
    close(pair[1]);
    return writer;
}

static void writer_end(struct writer *writer, int number)
{
    if (number)
        kill(writer->pid, number);
    close(writer->socket);
    waitpid(writer->pid, NULL, 0);
}

/* Waits for the answer to an order; -1: none comes. */
static int writer_answer(const struct writer *writer, struct write_answer *ret)
{
    do {
        struct pollfd at = {.fd = writer->socket, .events = POLLIN};

        if (poll(&at, 1, PATIENCE) != 1 || recv(writer->socket, ret, sizeof *ret, 0) != sizeof *ret)
            return -1;
    } while (ret->state == WRITE_BUSY);
    return 0;
}

static void order_make(struct write_order *ret, const struct passwd *user, const char *folder, const char *bytes)
{
    *ret = (struct write_order){
        .customer = 1, .job = 7, .size = (int64_t)strlen(bytes), .mode = 0644, .permit = PERMIT_REPLACE};
    hash_bytes(bytes, strlen(bytes), ret->hash);
    snprintf(ret->name, sizeof ret->name, "result");
    snprintf(ret->owner, sizeof ret->owner, "%s", user->pw_name);
    snprintf(ret->folder, sizeof ret->folder, "%s", folder);
}

/* Gives the order with these bytes to a writer of its own; how it ended is in `ret`. */
static int order_run(const struct write_order *order, uint32_t uid, const char *bytes, struct write_answer *ret)
{
    struct writer writer = writer_start(uid);
    int pair[2], failed;

    if (pipe2(pair, O_CLOEXEC) < 0 || write(pair[1], bytes, strlen(bytes)) < 0)
        perror("pipe");
    close(pair[1]);
    failed = write_order_send(writer.socket, order, pair[0]) < 0 || writer_answer(&writer, ret) < 0 ? -1 : 0;
    close(pair[0]);
    writer_end(&writer, 0);
    return failed;
}

/* How many names the folder has; the last that was read is in `ret`. */
static int names(const char *path, char ret[256])
{
    DIR *dir = opendir(path);
    struct dirent *row;
    int count = 0;

    while (dir && (row = readdir(dir)))
        if (strcmp(row->d_name, ".") != 0 && strcmp(row->d_name, "..") != 0) {
            count++;
            snprintf(ret, 256, "%s", row->d_name);
        }
    if (dir)
        closedir(dir);
    return count;
}

static bool file_is(const char *path, const char *text, uint32_t uid)
{
    char bytes[64] = "";
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat stat = {0};
    bool good = fd >= 0 && fstat(fd, &stat) == 0 && read(fd, bytes, sizeof bytes - 1) >= 0 && !strcmp(bytes, text);

    if (fd >= 0)
        close(fd);
    return good && stat.st_uid == uid;
}

/* A writer is killed in the middle of a copy: its source is a pipe that says no more. The name of what it has left is in `ret`. */
static bool killed(const struct write_order *order, uint32_t uid, const char *folder, char ret[256])
{
    struct writer writer = writer_start(uid);
    int pair[2], count = 0;

    if (pipe2(pair, O_CLOEXEC) < 0 || write(pair[1], "half", 4) < 0)
        perror("pipe");
    if (write_order_send(writer.socket, order, pair[0]) < 0)
        perror("order");
    for (int i = 0; i < PATIENCE / 10 && count == 0; i++) {
        poll(NULL, 0, 10);
        count = names(folder, ret);
    }
    writer_end(&writer, SIGKILL);
    close(pair[0]);
    close(pair[1]);
    return count == 1;
}

static void check_left(const struct folder *folder, const struct passwd *user)
{
    const char *path = folder_path(folder, "own");
    char left[256] = "", planted[512];
    struct write_answer answer;
    struct write_order order;

    order_make(&order, user, path, "whole");
    tap_ok(killed(&order, user->pw_uid, path, left) && strstr(left, ".part"), "a writer that is killed leaves a part");
    tap_ok(order_run(&order, user->pw_uid, "whole", &answer) == 0 && answer.state == WRITE_DONE &&
               names(path, left) == 1 && !strcmp(left, "result"),
           "the next one brings the file, and nothing of the first is left");
    tap_ok(file_is(folder_path(folder, "own/result"), "whole", user->pw_uid), "it is whole, and the user's");

    unlink(folder_path(folder, "own/result"));
    order.job = 8;
    tap_ok(killed(&order, user->pw_uid, path, left), "the part of another job");
    order.customer = 2;
    tap_ok(order_run(&order, user->pw_uid, "whole", &answer) == 0 && answer.state == WRITE_DONE &&
               names(path, planted) == 2 && access(folder_path(folder, "own/result"), F_OK) == 0,
           "is not touched by a customer that has a job of the same number");
}

/* In a folder where everybody writes, somebody has taken the name that a part would have. */
static void check_taken(const struct folder *folder, const struct passwd *user)
{
    char *path = strdup(folder_path(folder, "all")), left[256] = "", planted[512];
    struct write_answer answer;
    struct write_order order;
    int fd;

    order_make(&order, user, path, "whole");
    if (!killed(&order, user->pw_uid, path, left))
        tap_diag("no part was left");
    snprintf(planted, sizeof planted, "%s/%s", path, left);
    unlink(planted);
    fd = open(planted, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); /* root's */
    if (fd < 0 || write(fd, "theirs", 6) != 6)
        perror("planted");
    fchmod(fd, 0666);
    close(fd);
    tap_ok(order_run(&order, user->pw_uid, "whole", &answer) == 0 && answer.state == WRITE_DONE &&
               file_is(folder_path(folder, "all/result"), "whole", user->pw_uid),
           "a name that somebody else has taken keeps no file away");
    tap_ok(file_is(planted, "theirs", 0), "and what is there is not written to");
    free(path);
}

static void check_another(const struct folder *folder, const struct passwd *user)
{
    struct write_answer answer;
    struct write_order order;

    order_make(&order, user, folder_path(folder, "new"), "whole");
    snprintf(order.owner, sizeof order.owner, "%s2", user->pw_name);
    tap_ok(order_run(&order, user->pw_uid, "whole", &answer) == 0 && answer.state == WRITE_FAILED &&
               answer.error == USER_WRITER_ANOTHER && access(folder_path(folder, "new/result"), F_OK) < 0,
           "a job of an account that had this user id before writes nothing");
    snprintf(order.owner, sizeof order.owner, "%s@lab", user->pw_name);
    tap_ok(order_run(&order, user->pw_uid, "whole", &answer) == 0 && answer.state == WRITE_DONE,
           "a name with the domain of the host behind it is the same account");
}

int main(void)
{
    const struct passwd *found = getpwnam("nobody");
    struct passwd user;
    struct folder folder;

    if (geteuid() != 0 || !found || !found->pw_uid || setgroups(0, NULL) < 0) {
        printf("1..0 # SKIP only root can be several users\n");
        return 0;
    }
    user = *found;
    signal(SIGPIPE, SIG_IGN);
    folder_init(&folder);
    if (chmod(folder_path(&folder, "."), 0755) < 0)
        perror("chmod");
    for (size_t i = 0; i < 3; i++) {
        static const char *const made[] = {"own", "all", "new"};

        folder_make(&folder, made[i]);
        if (chown(folder_path(&folder, made[i]), i == 1 ? 0 : user.pw_uid, i == 1 ? 0 : user.pw_gid) < 0 ||
            chmod(folder_path(&folder, made[i]), i == 1 ? 01777 : 0700) < 0)
            perror(made[i]);
    }
    check_left(&folder, &user);
    check_taken(&folder, &user);
    check_another(&folder, &user);
    folder_done(&folder);
    return tap_done();
}
