/* confined_path_test.c: nothing outside a folder that strangers write in is read, written or removed; and all in it goes. */
#include "sys/confined_path.h"
#include "sys/hash.h"

#include "common/folder.h"
#include "common/tap.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define DEEP 3000 /* more folders than a process has descriptors, by far more than a path can name */

static int folder_fd(const struct folder *folder, const char *name)
{
    return open(folder_path(folder, name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool file_is(const char *path, const char *text)
{
    char bytes[64] = "";
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes - 1);

    if (fd >= 0)
        close(fd);
    return got >= 0 && !strcmp(bytes, text);
}

static bool is_read(int folder, const char *name, int64_t *size)
{
    int fd = confined_read(folder, name, size, NULL);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void check_reading(const struct folder *folder, int job)
{
    int64_t size = 0;

    folder_put(folder, "job/plain", "four");
    folder_put(folder, "secret", "not yours");
    folder_make(folder, "job/inner");
    folder_put(folder, "job/inner/file", "x");
    if (symlink("../secret", folder_path(folder, "job/link")) < 0 || symlink("..", folder_path(folder, "job/up")) < 0 ||
        symlink("plain", folder_path(folder, "job/near")) < 0 || mkfifo(folder_path(folder, "job/fifo"), 0600) < 0)
        perror("link");
    tap_ok(is_read(job, "plain", &size) && size == 4, "a regular file is read, and its length told");
    tap_ok(is_read(job, "inner/file", &size) && size == 1, "also in a folder of the folder");
    tap_ok(!is_read(job, "link", &size) && !is_read(job, "up/secret", &size) && !is_read(job, "near", &size),
           "no link is followed, wherever it leads");
    tap_ok(!is_read(job, "../secret", &size) && !is_read(job, folder_path(folder, "secret"), &size),
           "no name leads out");
    tap_ok(!is_read(job, "fifo", &size) && !is_read(job, "inner", &size), "what is no regular file is not opened");
}

static void check_creating(const struct folder *folder, int job)
{
    int fd = confined_create(job, "link", 0644, NULL);

    tap_ok(fd >= 0 && write(fd, "new", 3) == 3 && file_is(folder_path(folder, "secret"), "not yours") &&
               file_is(folder_path(folder, "job/link"), "new"),
           "a file that is made takes the place of a link, and what that named stays");
    if (fd >= 0)
        close(fd);
    fd = confined_create(job, "a/b/c", 0755, NULL);
    tap_ok(fd >= 0 && file_is(folder_path(folder, "job/a/b/c"), ""), "folders on the way are made");
    if (fd >= 0)
        close(fd);
    fd = confined_create(job, "up/made", 0644, NULL);
    tap_ok(fd < 0 && access(folder_path(folder, "made"), F_OK) < 0, "but not through a link");
}

static int name_count(void *user, const char *name)
{
    uint32_t *names = user;

    *names += strcmp(name, "plain") == 0 || strcmp(name, "link") == 0 ? 1 : 100;
    return 0;
}

/* Moves a file from another disk, where there is one: what lies under the names that are used on the way is not written to. */
static void check_moving(const struct folder *folder, int job)
{
    char other[] = "/dev/shm/confined-XXXXXX", name[256];
    struct stat here, there;
    int from = mkdtemp(other) ? open(other, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int fd = from < 0 ? -1 : openat(from, "made", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool apart = fd >= 0 && fstat(fd, &there) == 0 && fstat(job, &here) == 0 && here.st_dev != there.st_dev &&
                 write(fd, "moved", 5) == 5;

    folder_put(folder, "job/precious", "theirs");
    for (int i = 0; apart && i < 2; i++) {
        if (i)
            snprintf(name, sizeof name, ".berth-%llx-%llx-arrived", (unsigned long long)there.st_dev,
                     (unsigned long long)there.st_ino);
        else
            snprintf(name, sizeof name, ".berth-%ld-arrived", (long)getpid());
        if (linkat(job, "precious", job, name, 0) < 0)
            perror("link");
    }
    tap_ok(!apart || (confined_move(from, "made", job, "arrived") == 0 &&
                      file_is(folder_path(folder, "job/arrived"), "moved") &&
                      file_is(folder_path(folder, "job/precious"), "theirs")),
           "a file comes from another disk over nothing that others have put in its way");
    unlinkat(from, "made", 0);
    if (fd >= 0)
        close(fd);
    if (from >= 0)
        close(from);
    rmdir(other);
}

static void check_listing(int job)
{
    uint32_t names = 0;

    tap_ok(confined_each(job, 2, name_count, &names, NULL) == 0 && names == 2, "only regular files are listed");
    tap_ok(confined_each(job, 1, name_count, &names, NULL) < 0, "more files than are wanted are an error");
}

/* Folders in folders, by descriptors: no path is that long. */
static int deep_make(const char *path, int depth)
{
    int at = open(path, O_RDONLY | O_DIRECTORY), next;

    for (int i = 0; at >= 0 && i < depth; i++) {
        next = mkdirat(at, "d", 0700) < 0 ? -1 : openat(at, "d", O_RDONLY | O_DIRECTORY);
        if (i % 100 == 99)
            fchmod(at, 0500);
        close(at);
        at = next;
    }
    if (at >= 0)
        close(at);
    return at < 0 ? -1 : 0;
}

static void check_removing(const struct folder *folder, int top)
{
    bool made = deep_make(folder_path(folder, "job"), DEEP) == 0;

    folder_make(folder, "job/shut");
    folder_put(folder, "job/shut/file", "x");
    chmod(folder_path(folder, "job/shut"), 0);
    folder_make(folder, "kept");
    folder_put(folder, "kept/file", "x");
    if (symlink("../kept", folder_path(folder, "job/to-kept")) < 0)
        perror("link");
    chmod(folder_path(folder, "job"), 0500);
    tap_ok(made && confined_remove(top, "job", NULL) == 0 && access(folder_path(folder, "job"), F_OK) < 0 &&
               file_is(folder_path(folder, "kept/file"), "x"),
           "a folder goes with all in it, however deep and whatever its modes; what its links name stays");
    tap_ok(confined_remove(top, "job", NULL) == 0, "what is not there is gone");
    tap_ok(confined_remove(top, "../nothing", NULL) < 0, "nothing outside is removed");
    folder_make(folder, "other");
    deep_make(folder_path(folder, "other"), DEEP);
    tap_ok(confined_remove(AT_FDCWD, folder_path(folder, "other"), NULL) == 0 &&
               access(folder_path(folder, "other"), F_OK) < 0,
           "a folder is named by a path too");
}

static void check_hash(const struct folder *folder)
{
    char whole[HASH_DIGITS + 1] = "", bytes[HASH_DIGITS + 1] = "";
    int fd = open(folder_put(folder, "abc", "abc"), O_RDONLY);
    uint64_t size = 0;
    char c;

    hash_bytes("abc", 3, bytes);
    tap_ok(read(fd, &c, 1) == 1 && hash_file(fd, whole, &size, NULL) == 0 && size == 3 && !strcmp(whole, bytes) &&
               !strcmp(whole, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
           "the hash of a file is that of all of it, wherever it was read to");
    tap_ok(hash_is_good(whole, HASH_DIGITS) && !hash_is_good(whole, HASH_DIGITS - 1) &&
               !hash_is_good("zzzz813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319", HASH_DIGITS),
           "a hash is known by its digits");
    close(fd);
}

/* As where the kernel, or what stands before it, has no openat2. */
static bool openat2_goes(int error)
{
    struct sock_filter rows[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof rows / sizeof *rows, rows};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void check_missing(void)
{
    static const int errors[] = {ENOSYS, EPERM};
    struct err err = {0};
    int status, right = 0;

    for (size_t i = 0; i < 2; i++) {
        pid_t pid = fork();

        if (pid == 0)
            _exit(openat2_goes(errors[i]) && confined_probe(&err) < 0 && strstr(err.text, "openat2") &&
                          strstr(err.text, "Linux 5.6")
                      ? 0
                      : 1);
        right += waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    tap_ok(right == 2 && confined_probe(&err) == 0, "where openat2 is missing that is said, and what has it");
}

int main(void)
{
    struct folder folder;
    int top, job;

    folder_init(&folder);
    folder_make(&folder, "job");
    top = folder_fd(&folder, ".");
    job = folder_fd(&folder, "job");
    check_reading(&folder, job);
    check_creating(&folder, job);
    check_listing(job);
    check_moving(&folder, job);
    check_removing(&folder, top);
    check_hash(&folder);
    close(job);
    close(top);
    folder_done(&folder);
    check_missing();
    return tap_done();
}
