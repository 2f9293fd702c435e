/* image_unpack.c: unpacks an image that strangers made, as an unprivileged user in a sandbox. */
#define _GNU_SOURCE
#include "exec/image_unpack.h"

#include "exec/filter.h"
#include "exec/image_fetch.h"
#include "exec/image_oci.h"
#include "exec/image_run.h"
#include "exec/image_squash.h"
#include "exec/sandbox.h"
#include "exec/unpack_user.h"
#include "lang/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/out" /* where the image's folder is inside */

static int fail(const struct err *err)
{
    fprintf(stderr, "%s\n", err->text);
    return 1;
}

static int fail_errno(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return 1;
}

/* ----------------------------------------------------------------------------------------------------------------- inside */

static int says_write(struct buf *says, const struct layer_tree *tree, struct err *err)
{
    int fd = open(IMAGE_SAYS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    char bytes[32];
    bool good;

    snprintf(bytes, sizeof bytes, "%lld", (long long)tree->bytes);
    image_run_say(says, IMAGE_SAYS_BYTES, bytes);
    if (says->len > IMAGE_SAYS_MAX)
        err_set(err, "the image has more than %d bytes of variables and words", IMAGE_SAYS_MAX);
    good = fd >= 0 && says->len <= IMAGE_SAYS_MAX && write(fd, says->text, says->len) == (ssize_t)says->len;
    if (!good && says->len <= IMAGE_SAYS_MAX)
        err_set(err, IMAGE_SAYS ": %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return good ? 0 : -1;
}

/* words: SORT DESCRIPTOR BYTES */
static int inside(char **words)
{
    int fd = atoi(words[1]), root, failed;
    char begin[IMAGE_BEGIN_MAX + 1] = "";
    struct layer_tree tree;
    struct err err = {0};
    struct buf says;

    umask(022);
    if (mkdir(IMAGE_ROOT, 0755) < 0 || (root = open(IMAGE_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return fail_errno("the image's folder");
    buf_init(&says);
    layer_tree_open(&tree, root, atoll(words[2]), IMAGE_FILES_MAX);
    failed = !strcmp(words[0], IMAGE_OCI) || !strcmp(words[0], IMAGE_DOCKER)
                 ? image_oci_unpack(fd, &tree, &says, begin, &err)
                 : image_squash_unpack(fd, &tree, IMAGE_ROOT, &says, &err);
    if (!failed)
        failed = layer_tree_finish(&tree, begin, &err) < 0 || says_write(&says, &tree, &err) < 0;
    layer_tree_done(&tree);
    buf_done(&says);
    close(root);
    return failed ? fail(&err) : 0;
}

/* ---------------------------------------------------------------------------------------------------------------- outside */

static int run_inside(char **words, const char *folder, int program, int image, int filter)
{
    static char *const nothing[] = {NULL};
    char path[32], number[16], filtered[16];
    const char *const argv[] = {"bwrap",
                                "--unshare-all",
                                "--die-with-parent",
                                "--new-session",
                                "--cap-drop",
                                "ALL",
                                "--uid",
                                "1000",
                                "--gid",
                                "1000",
                                "--clearenv",
                                "--setenv",
                                "PATH",
                                "/usr/bin:/bin",
#ifdef __SANITIZE_ADDRESS__
                                "--setenv",
                                "ASAN_OPTIONS",
                                "detect_leaks=0", /* the filter does not let them be looked for */
#endif
                                "--ro-bind",
                                "/usr",
                                "/usr",
                                "--symlink",
                                "usr/bin",
                                "/bin",
                                "--symlink",
                                "usr/lib",
                                "/lib",
                                "--ro-bind-try",
                                "/lib64",
                                "/lib64",
                                "--ro-bind-try",
                                "/etc/ld.so.cache",
                                "/etc/ld.so.cache",
                                "--ro-bind-try",
                                "/etc/alternatives",
                                "/etc/alternatives",
                                "--proc",
                                "/proc",
                                "--dev",
                                "/dev",
                                "--tmpfs",
                                "/tmp",
                                "--bind",
                                folder,
                                FOLDER,
                                "--remount-ro",
                                "/",
                                "--chdir",
                                FOLDER,
                                "--seccomp",
                                filtered,
                                "--",
                                path,
                                "unpack",
                                "--inside",
                                words[0],
                                number,
                                words[3],
                                NULL};

    snprintf(path, sizeof path, "/proc/self/fd/%d", program);
    snprintf(number, sizeof number, "%d", image);
    snprintf(filtered, sizeof filtered, "%d", filter);
    if (fcntl(program, F_SETFD, 0) < 0 || fcntl(image, F_SETFD, 0) < 0 || fcntl(filter, F_SETFD, 0) < 0 ||
        lseek(filter, 0, SEEK_SET) < 0)
        return fail_errno("the unpacker");
    execve(sandbox_program(), (char *const *)(uintptr_t)argv, nothing);
    return fail_errno("bubblewrap");
}

/* Brings the image from the registry, into a folder beside that which it is unpacked in, and opens the layout. -1: what is wrong was said, and
 * `*ret_status` is ours. */
static int fetched_open(char **words, uint32_t uid, int *ret_status)
{
    char folder[PATH_MAX], path[PATH_MAX], why[400];
    struct image_fetch fetch = {.name = words[2], .folder = folder, .uid = uid, .bytes_max = atoll(words[3])};
    enum image_fetched fetched;
    struct stat info;
    int fd;

    fetch.accounts = fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode) ? STDIN_FILENO : -1;
    *ret_status = 1;
    if (snprintf(folder, sizeof folder, "%s" IMAGE_GOT, words[1]) >= (int)sizeof folder || mkdir(folder, 0755) < 0 ||
        (uid && chown(folder, uid, uid) < 0) || (uid && fetch.accounts >= 0 && fchown(fetch.accounts, uid, uid) < 0))
        return fail_errno("a folder for the image"), -1;
    fetched = image_fetch(&fetch, why, sizeof why);
    fd = fetch.accounts < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fetch.accounts >= 0 && (fd < 0 || dup2(fd, fetch.accounts) < 0)) /* nothing that comes now is to have it */
        return fail_errno("/dev/null"), -1;
    if (fd >= 0)
        close(fd);
    if (fetched != IMAGE_FETCHED) {
        fprintf(stderr, "%s\n", why);
        *ret_status = fetched == IMAGE_FETCH_FAILED ? IMAGE_STATUS_UNREACHED : 1;
        return -1;
    }
    snprintf(path, sizeof path, "%.4000s/" IMAGE_LAYOUT, folder);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        fail_errno("the image");
    return fd;
}

/* words: SORT FOLDER FILE BYTES UID */
static int outside(char **words)
{
    int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), filter, image, status = 1;
    uint32_t uid = (uint32_t)strtoul(words[4], NULL, 10);
    const char *folder;
    struct err err = {0};
    struct stat info;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!strcmp(words[0], IMAGE_DOCKER)) {
        image = fetched_open(words, uid, &status);
        if (image < 0)
            return status;
    } else {
        image = open(words[2], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (image < 0 || fstat(image, &info) < 0)
        return fail_errno("the image");
    filter = filter_make(false, &err);
    if (filter < 0)
        return fail(&err);
    if (program < 0 || !sandbox_program())
        return fail_errno("the unpacker");
    if (mkdir(words[1], 0755) < 0)
        return fail_errno("a folder for the image");
    if (S_ISREG(info.st_mode)) /* and not a folder of the machine, which is the owner's */
        fchmod(image,
               0644); /* so that it can be opened again by another user, who comes to it by this descriptor alone */
    if ((uid && chown(words[1], uid, uid) < 0) || !unpack_user_become(words[1], uid, atoll(words[3]), &folder))
        return fail_errno("another user for the unpacker");
    return run_inside(words, folder, program, image, filter);
}

int image_unpack_main(int count, char **words)
{
    if (count == 4 && !strcmp(words[0], "--inside"))
        return inside(words + 1);
    if (count == 5) {
        int status = outside(words);

        fflush(stderr);
        _exit(status); /* nothing of ours is left to be put in order, and jobs wait for this */
    }
    fprintf(stderr, "unpack: agents start this by themselves\n");
    return 2;
}
