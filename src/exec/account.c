/* account.c: the user of the machine that a job runs as. */
#define _GNU_SOURCE /* setresuid, getgrouplist */
#include "exec/account.h"

#include "exec/folders.h"
#include "exec/record.h"
#include "lang/base/mem.h"
#include "sys/shell_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NAME "account"
#define END_LOOKS 2000              /* milliseconds that a child may take to end */
#define LINKS_MOST 8                /* that lead to a file which is not there yet */
#define RECORD_BYTES_MAX (1u << 20) /* of an account, or a group, as the directory has it */

bool account_name_is_good(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-";
    size_t len = strlen(name);

    return len && len <= ACCOUNT_NAME_MAX && strchr(first, *name) && strspn(name, more) == len;
}

int account_check(const char *name, uint32_t uid, bool in_group, const char *group, struct err *err)
{
    if (uid < ACCOUNT_UID_LEAST || uid == ACCOUNT_NOBODY || uid >= UINT32_MAX - 1)
        return err_set(err, "jobs do not run as '%.32s' here: user %u is the system's own, and no person's", name,
                       (unsigned)uid);
    if (!in_group)
        return err_set(err, "jobs do not run as '%.32s' here: that user is not in the group '%.60s'", name, group);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- the directory */

/* What the child has found out. */
struct answer {
    char why[160]; /* "": it is an account as which a job may run */
    bool silent;   /* the directory could not be asked */
    struct unix_account account;
};

static _Noreturn void answer_give(int fd, const struct answer *answer)
{
    const char *at = (const char *)answer;

    for (size_t left = sizeof *answer; left;) {
        ssize_t wrote = write(fd, at, left);

        if (wrote <= 0)
            _exit(1);
        at += wrote;
        left -= (size_t)wrote;
    }
    _exit(0);
}

/* An errno; 0 and *ret_found NULL: there is no such account. `room` is made. */
static int account_ask(const char *name, struct passwd *row, struct passwd **ret_found, char **room)
{
    int failed = ERANGE;

    for (size_t len = 4096; failed == ERANGE && len <= RECORD_BYTES_MAX; len *= 4) {
        *room = mem_grow(*room, len);
        failed = getpwnam_r(name, row, *room, len, ret_found);
    }
    return failed;
}

static int group_ask(const char *name, bool *ret_exists, gid_t *ret)
{
    struct group row, *found = NULL;
    int failed = ERANGE;
    char *room = NULL;

    for (size_t len = 4096; failed == ERANGE && len <= RECORD_BYTES_MAX; len *= 4) {
        room = mem_grow(room, len);
        failed = getgrnam_r(name, &row, room, len, &found);
    }
    *ret_exists = !failed && found;
    if (*ret_exists)
        *ret = found->gr_gid;
    free(room);
    return failed;
}

/* Some directories say of what they do not have that it was not found, and give that as an error. */
static bool is_silence(int failed)
{
    return failed && failed != ENOENT && failed != ESRCH && failed != EBADF && failed != EPERM;
}

static bool is_member(const struct unix_account *account, gid_t group)
{
    for (uint32_t i = 0; i < account->group_count; i++)
        if (account->groups[i] == group)
            return true;
    return account->gid == group;
}

/* Fills in the account that the directory has given. False: it is in too many groups. */
static bool account_fill(const struct passwd *row, struct unix_account *ret)
{
    gid_t groups[ACCOUNT_GROUPS_MAX];
    int count = ACCOUNT_GROUPS_MAX;

    ret->uid = row->pw_uid;
    ret->gid = row->pw_gid;
    snprintf(ret->name, sizeof ret->name, "%s", row->pw_name);
    if (row->pw_dir && *row->pw_dir == '/' && strlen(row->pw_dir) <= ACCOUNT_HOME_MAX &&
        !row->pw_dir[strcspn(row->pw_dir, ":\n")])
        snprintf(ret->home, sizeof ret->home, "%s", row->pw_dir);
    if (getgrouplist(row->pw_name, row->pw_gid, groups, &count) < 0)
        return false;
    for (int i = 0; i < count; i++)
        ret->groups[i] = groups[i];
    ret->group_count = (uint32_t)count;
    return true;
}

/* In the child: asks the directory. */
static _Noreturn void directory_ask(const struct executor_account *wish, int fd)
{
    struct answer *answer = mem_alloc(sizeof *answer);
    struct passwd row, *found = NULL;
    struct err err = {0};
    bool exists = false;
    char *room = NULL;
    gid_t group = 0;
    int failed;

    memset(answer, 0, sizeof *answer);
    failed = account_ask(wish->name, &row, &found, &room);
    if (is_silence(failed) || (found && is_silence(group_ask(wish->group, &exists, &group)))) {
        answer->silent = true;
    } else if (failed || !found || strcmp(found->pw_name, wish->name) != 0) {
        snprintf(answer->why, sizeof answer->why, "there is no user '%.32s' on this machine", wish->name);
    } else if (!exists) {
        snprintf(answer->why, sizeof answer->why, "there is no group '%.60s' on this machine", wish->group);
    } else if (!account_fill(found, &answer->account)) {
        snprintf(answer->why, sizeof answer->why, "the user '%.32s' is in more than %d groups", wish->name,
                 ACCOUNT_GROUPS_MAX);
    } else if (account_check(wish->name, found->pw_uid, is_member(&answer->account, group), wish->group, &err) < 0) {
        snprintf(answer->why, sizeof answer->why, "%.159s", err.text);
    }
    answer_give(fd, answer);
}

/* ------------------------------------------------------------------------------------------------------------- children */

/* A child of the launcher's own, which it waits for: what hangs in it is killed. -1: none could be made. */
static pid_t child_fork(pid_t *ret_parent)
{
    *ret_parent = getpid();
    return fork();
}

/* In the child: ends with its parent, and has no signals of it. */
static void child_begin(pid_t parent)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* One that a file system holds, which does not answer, is left to whoever reaps the launcher's children. */
static void child_end(pid_t pid)
{
    kill(pid, SIGKILL);
    for (int i = 0; i < END_LOOKS && waitpid(pid, NULL, WNOHANG) == 0; i++)
        poll(NULL, 0, 1);
}

/* Reads that many bytes until a moment; false: they did not come. */
static bool bytes_read(int fd, void *ret, size_t len, int64_t until)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    char *at = ret;

    while (len) {
        int64_t left = (until - record_now()) / 1000;
        ssize_t got;

        if (left <= 0 || poll(&ready, 1, (int)left) != 1)
            return false;
        got = read(fd, at, len);
        if (got <= 0)
            return false;
        at += got;
        len -= (size_t)got;
    }
    return true;
}

struct unix_account *account_find(const struct executor_account *wish, struct err *err)
{
    struct answer *answer = mem_alloc(sizeof *answer);
    struct unix_account *account = NULL;
    int ends[2] = {-1, -1};
    bool heard = false;
    pid_t pid = -1, parent;

    if (!account_name_is_good(wish->name)) {
        err_set(err, "'%.60s' is not the name of a user of this machine", wish->name);
        free(answer);
        return NULL;
    }
    memset(answer, 0, sizeof *answer);
    if (pipe2(ends, O_CLOEXEC) == 0 && (pid = child_fork(&parent)) == 0) {
        child_begin(parent);
        directory_ask(wish, ends[1]);
    }
    if (ends[1] >= 0)
        close(ends[1]);
    if (pid > 0) {
        heard = bytes_read(ends[0], answer, sizeof *answer, record_now() + ACCOUNT_SPAN * INT64_C(1000));
        child_end(pid);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    answer->why[sizeof answer->why - 1] = '\0';
    if (!heard || answer->silent) {
        err_set(err, "the machine's list of users does not tell who '%s' is: %s", wish->name, strerror(EIO));
    } else if (*answer->why) {
        err_set(err, "%s", answer->why);
    } else {
        account = mem_alloc(sizeof *account);
        *account = answer->account;
        account->umask = wish->umask & 0777;
    }
    free(answer);
    return account;
}

/* ------------------------------------------------------------------------------------------------------------- becoming */

bool account_become(const struct unix_account *account, const uint32_t *besides, size_t count)
{
    gid_t groups[2 * ACCOUNT_GROUPS_MAX];
    size_t n = 0;

    for (uint32_t i = 0; i < account->group_count && i < ACCOUNT_GROUPS_MAX; i++)
        groups[n++] = account->groups[i];
    for (size_t i = 0; i < count && i < ACCOUNT_GROUPS_MAX; i++)
        groups[n++] = besides[i];
    umask(account->umask & 0777);
    return account->uid >= ACCOUNT_UID_LEAST && setgroups(n, groups) == 0 &&
           setresgid(account->gid, account->gid, account->gid) == 0 &&
           setresuid(account->uid, account->uid, account->uid) == 0 && setuid(0) < 0 && geteuid() == account->uid;
}

/* -------------------------------------------------------------------------------------------------------------- streams */

/* Does what is open lie in a folder that the job's sandbox shows, or, to be written, in one that it may write in? The kernel has followed links on the way
 * outside of the sandbox, where there is more than the machine's owner shows to jobs. */
static bool is_shown(int fd, bool writes, const struct executor_view *view)
{
    char link[40], path[PATH_MAX];
    ssize_t len;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    len = readlink(link, path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    for (uint32_t i = 0; i < view->folder_count; i++)
        if ((view->folders[i].writable || !writes) && folder_holds(view->folders[i].real, path))
            return true;
    errno = EXDEV;
    return false;
}

/* Opens what is there of that name, without opening it for use: that could hold us up, or be a device. -1 and errno. */
static int place_open(int folder, const char *name, int more, bool writes, const struct executor_view *view)
{
    int fd = openat(folder, name, O_PATH | O_CLOEXEC | more);

    if (fd >= 0 && !is_shown(fd, writes, view)) {
        close(fd);
        errno = EXDEV;
        return -1;
    }
    return fd;
}

/* Makes a file that is not there; where a link has that name, the file that the link is to, as the kernel would. */
static int stream_make(int folder, const char *name, const struct executor_view *view, int links)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    char parent[PATH_MAX], to[PATH_MAX];
    int at, fd, error;
    ssize_t len;

    if (snprintf(parent, sizeof parent, "%.*s", slash > name ? (int)(slash - name) : 1, slash ? name : ".") >=
        (int)sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    at = place_open(folder, parent, O_DIRECTORY, false, view);
    if (at < 0)
        return -1;
    len = links < LINKS_MOST ? readlinkat(at, last, to, sizeof to - 1) : -1;
    if (len > 0) {
        to[len] = '\0';
        fd = stream_make(at, to, view, links + 1);
    } else if (is_shown(at, true, view)) {
        fd = openat(at, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0666);
    } else {
        fd = -1;
    }
    error = errno;
    close(at);
    errno = error;
    return fd;
}

/* Opens one file as the user whom we are. What is no plain file is not opened. */
static int stream_open(int folder, const char *name, bool input, const struct executor_view *view)
{
    int place = place_open(folder, name, 0, !input, view), fd;
    struct stat info = {0};
    char link[40];

    if (place < 0)
        return errno == ENOENT && !input ? stream_make(folder, name, view, 0) : -1;
    if (fstat(place, &info) < 0 || !S_ISREG(info.st_mode)) {
        errno = S_ISREG(info.st_mode) ? errno : EINVAL;
        close(place);
        return -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", place);
    fd = open(link, (input ? O_RDONLY : O_WRONLY | O_TRUNC) | O_NOCTTY | O_CLOEXEC);
    close(place);
    return fd;
}

/* In the child: says that they are open, and hands them over; or what failed, and at which of them (3: the folder). */
static _Noreturn void streams_open(const struct unix_account *account, const struct executor_view *view,
                                   const char *const names[3], int socket)
{
    struct shell_head said = {.kind = SHELL_BEGAN};
    int fds[3] = {-1, -1, -1}, none = open("/dev/null", O_RDWR | O_CLOEXEC), folder = -1;

    if (none < 0 || !account_become(account, NULL, 0) ||
        (folder = place_open(AT_FDCWD, view->begin, O_DIRECTORY, false, view)) < 0)
        said = (struct shell_head){.kind = SHELL_FAILED, .value = errno, .words = 3};
    for (uint32_t i = 0; i < 3 && said.kind == SHELL_BEGAN; i++) {
        bool same = i == 2 && names[1] && names[2] && !strcmp(names[1], names[2]);

        fds[i] = !names[i] ? none : same ? fds[1] : stream_open(folder, names[i], i == 0, view);
        if (fds[i] < 0)
            said = (struct shell_head){.kind = SHELL_FAILED, .value = errno, .words = i};
    }
    _exit(!shell_send(socket, &said, "", 0, fds, said.kind == SHELL_BEGAN ? 3 : 0));
}

int account_streams(const struct unix_account *account, const struct executor_view *view, const char *const names[3],
                    int ret[3], struct err *err)
{
    static const char *const whats[] = {"its input", "its output", "its errors", "its folder"};
    struct shell_head said = {.kind = SHELL_FAILED, .words = 3};
    int ends[2] = {-1, -1}, fds[SHELL_STREAMS], count = 0, heard = 0;
    struct pollfd ready;
    pid_t pid = -1, parent;
    char text[8];
    size_t len;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 && (pid = child_fork(&parent)) == 0) {
        child_begin(parent);
        streams_open(account, view, names, ends[1]);
    }
    if (ends[1] >= 0)
        close(ends[1]);
    if (pid > 0) {
        ready = (struct pollfd){.fd = ends[0], .events = POLLIN};
        if (poll(&ready, 1, ACCOUNT_SPAN) == 1)
            heard = shell_receive(ends[0], &said, text, sizeof text, &len, fds, &count);
        child_end(pid);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    if (heard == 1 && said.kind == SHELL_BEGAN && count == 3) {
        memcpy(ret, fds, sizeof fds);
        return 0;
    }
    while (count > 0)
        close(fds[--count]);
    said.words = heard == 1 && said.words < 3 ? said.words : 3;
    /* in brackets: a quota, or a folder that is away, is no shortage of this machine */
    return err_set(err, "%s '%.180s' could not be opened as '%s' (%s)", whats[said.words],
                   said.words < 3 ? names[said.words] : view->begin, account->name,
                   heard != 1             ? "no answer"
                   : said.value == EINVAL ? "not a plain file"
                   : said.value == EXDEV  ? "it lies outside of the folders that jobs are shown here"
                                          : strerror(said.value));
}

/* ------------------------------------------------------------------------------------------------------------- the wish */

/* The file: this, then the texts one after another, each with its NUL: the name, the group, and the streams. */
struct wish_head {
    uint64_t number;
    uint32_t umask;
    uint32_t streams; /* a bit for each that is there */
};

#define WISH_TEXTS 5

struct executor_account *account_wish_dup(const struct executor_account *wish)
{
    const char *texts[WISH_TEXTS] = {wish->name, wish->group, wish->streams[0], wish->streams[1], wish->streams[2]};
    struct executor_account *copy;
    size_t size = sizeof *copy;
    char *at;

    for (int i = 0; i < WISH_TEXTS; i++)
        size += texts[i] ? strlen(texts[i]) + 1 : 0;
    copy = mem_alloc(size);
    at = (char *)(copy + 1);
    for (int i = 0; i < WISH_TEXTS; i++)
        if (texts[i]) {
            size_t len = strlen(texts[i]) + 1;

            memcpy(at, texts[i], len);
            texts[i] = at;
            at += len;
        }
    *copy = (struct executor_account){texts[0], texts[1], wish->umask, {texts[2], texts[3], texts[4]}};
    return copy;
}

int account_wish_write(int folder, const struct executor_account *wish, uint64_t number, struct err *err)
{
    struct wish_head head = {.number = number, .umask = wish->umask};
    struct buf out;
    int failed;

    for (uint32_t i = 0; i < 3; i++)
        head.streams |= (wish->streams[i] != NULL) << i;
    buf_init(&out);
    buf_add(&out, (const char *)&head, sizeof head);
    buf_add(&out, wish->name, strlen(wish->name) + 1);
    buf_add(&out, wish->group, strlen(wish->group) + 1);
    for (uint32_t i = 0; i < 3; i++)
        buf_add(&out, wish->streams[i] ? wish->streams[i] : "", wish->streams[i] ? strlen(wish->streams[i]) + 1 : 1);
    failed = record_write(folder, FILE_NAME, out.text, out.len, false, err);
    buf_done(&out);
    return failed;
}

struct executor_account *account_wish_read(int folder, uint64_t number)
{
    struct executor_account *copy = NULL;
    const char *texts[WISH_TEXTS];
    struct wish_head head;
    size_t len = 0, count = 0;
    char *block = record_read(folder, FILE_NAME, &len);

    if (!block || len <= sizeof head) {
        free(block);
        return NULL;
    }
    memcpy(&head, block, sizeof head);
    for (size_t i = sizeof head; i < len; i += strlen(block + i) + 1) { /* what is read ends with a NUL */
        if (count < WISH_TEXTS)
            texts[count] = block + i;
        count++;
    }
    if (head.number == number && count == WISH_TEXTS && !block[len - 1]) {
        struct executor_account wish = {.name = texts[0], .group = texts[1], .umask = head.umask};

        for (uint32_t i = 0; i < 3; i++)
            wish.streams[i] = head.streams >> i & 1 ? texts[2 + i] : NULL;
        copy = account_wish_dup(&wish);
    }
    free(block);
    return copy;
}
