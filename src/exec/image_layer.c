/* image_layer.c: lays the files of an image into a folder, one layer over another. */
#define _GNU_SOURCE
#include "exec/image_layer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WHITEOUT ".wh."
#define OPAQUE ".wh..wh..opq"

int layer_tree_open(struct layer_tree *tree, int root, int64_t bytes_max, int64_t files_max)
{
    *tree = (struct layer_tree){.root = root, .bytes_max = bytes_max, .files_max = files_max, .parent = -1};
    return 0;
}

static void parent_forget(struct layer_tree *tree)
{
    if (tree->parent >= 0)
        close(tree->parent);
    tree->parent = -1;
}

void layer_tree_done(struct layer_tree *tree)
{
    parent_forget(tree);
}

static int count(struct layer_tree *tree, int64_t files, int64_t bytes, struct err *err)
{
    tree->files += files;
    tree->bytes += bytes + files * LAYER_FILE_BYTES;
    if (tree->files > tree->files_max)
        return err_set(err, "the image has more than %lld files", (long long)tree->files_max);
    if (tree->bytes > tree->bytes_max)
        return err_set(err, "the image is larger than %lld MiB", (long long)(tree->bytes_max >> 20));
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------------- names */

/* Cleans a name: no slash at its ends, no empty part and no `.`. -1: it leads out of the image, or is too deep. "" is the root itself. */
static int name_clean(const char *name, char ret[TAR_NAME_MAX + 1], struct err *err)
{
    size_t len = 0;
    int depth = 0;

    for (const char *at = name; *at;) {
        size_t part = strcspn(at, "/");

        if (part == 2 && at[0] == '.' && at[1] == '.')
            return err_set(err, "'%.100s' leads out of the image", name);
        if (part > NAME_MAX || ++depth > LAYER_DEPTH_MAX)
            return err_set(err, "'%.100s' is too long or too deep", name);
        if (part && !(part == 1 && *at == '.')) {
            if (len)
                ret[len++] = '/';
            memcpy(ret + len, at, part);
            len += part;
        }
        at += part + (at[part] == '/');
    }
    ret[len] = '\0';
    return 0;
}

static int open_inside(int root, const char *name, int flags)
{
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int fd;

    do
        fd = (int)syscall(SYS_openat2, root, *name ? name : ".", &how, sizeof how);
    while (fd < 0 && errno == EAGAIN);
    return fd;
}

/* Opens a folder of the image, and makes those that are missing on the way if `make`. -1 and errno. */
static int folder_open(int root, const char *name, bool make)
{
    char part[TAR_NAME_MAX + 1];
    int fd = open_inside(root, name, O_RDONLY | O_DIRECTORY);

    for (size_t at = 0; fd < 0 && errno == ENOENT && make && name[at];) {
        size_t end = at + strcspn(name + at, "/");
        int above;

        snprintf(part, sizeof part, "%.*s", (int)at, name);
        above = open_inside(root, part, O_RDONLY | O_DIRECTORY);
        if (above < 0)
            return -1;
        snprintf(part, sizeof part, "%.*s", (int)(end - at), name + at);
        if (mkdirat(above, part, 0755) < 0 && errno != EEXIST) {
            close(above);
            return -1;
        }
        close(above);
        at = end + (name[end] == '/');
        fd = name[at] ? -1 : open_inside(root, name, O_RDONLY | O_DIRECTORY);
        if (name[at])
            errno = ENOENT;
        else
            break;
    }
    return fd;
}

/* The folder that an entry lies in, lent until the next call, and its last name. -1 and `err`; 1: nothing is there, and it is not to be made. */
static int entry_parent(struct layer_tree *tree, const char *name, bool make, const char **ret_last, struct err *err)
{
    const char *slash = strrchr(name, '/');
    char parent[TAR_NAME_MAX + 1];

    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - name) : 0, name);
    *ret_last = slash ? slash + 1 : name;
    if (tree->parent >= 0 && !strcmp(parent, tree->parent_name))
        return 0;
    parent_forget(tree);
    tree->parent = folder_open(tree->root, parent, make);
    if (tree->parent < 0)
        return !make && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
                   ? 1
                   : err_set(err, "'%.100s': %s", parent, strerror(errno));
    strcpy(tree->parent_name, parent);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- removing */

static int remove_all(int folder, const char *name, int depth);

/* Removes what is in a folder, which is closed. */
static int empty_take(int fd, int depth)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *row;
    int failed = 0;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while (!failed && (row = readdir(dir)))
        if (strcmp(row->d_name, ".") != 0 && strcmp(row->d_name, "..") != 0)
            failed = remove_all(dirfd(dir), row->d_name, depth + 1);
    closedir(dir);
    return failed;
}

/* Removes a file, or a folder with all that is in it; no link is followed. What is not there is gone already. */
static int remove_all(int folder, const char *name, int depth)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return 0;
    if ((errno != EISDIR && errno != EPERM) || depth > 2 * LAYER_DEPTH_MAX)
        return -1;
    if (empty_take(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth) < 0)
        return -1;
    return unlinkat(folder, name, AT_REMOVEDIR);
}

int layer_whiteouts(struct layer_tree *tree, struct tar *tar, struct err *err)
{
    char name[TAR_NAME_MAX + 1];
    struct tar_entry entry;
    const char *last;
    int got, there;

    while ((got = tar_next(tar, &entry, err)) > 0) {
        if (name_clean(entry.name, name, err) < 0)
            return -1;
        last = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
        if (strncmp(last, WHITEOUT, strlen(WHITEOUT)) != 0)
            continue;
        there = entry_parent(tree, name, false, &last, err);
        if (there < 0)
            return -1;
        if (there > 0)
            continue;
        if (!strcmp(last, OPAQUE)) {
            if (empty_take(openat(tree->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0) < 0)
                return err_set(err, "'%.100s': %s", name, strerror(errno));
        } else if (strncmp(last, OPAQUE, 8) != 0) { /* .wh..wh.: names that other programs keep for themselves */
            const char *gone = last + strlen(WHITEOUT);

            if (!*gone || !strcmp(gone, ".") || !strcmp(gone, ".."))
                return err_set(err, "'%.100s' leads out of the image", name);
            if (remove_all(tree->parent, gone, 0) < 0)
                return err_set(err, "'%.100s': %s", name, strerror(errno));
        }
        parent_forget(tree); /* it may be gone itself */
    }
    return got;
}

/* ---------------------------------------------------------------------------------------------------------------- laying */

static int file_lay(struct layer_tree *tree, struct tar *tar, const struct tar_entry *entry, const char *last,
                    struct err *err)
{
    mode_t mode = entry->mode & 0111 ? 0755 : 0644;
    int fd = openat(tree->parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    char bytes[65536];
    ssize_t got = 0;

    if (fd < 0)
        return err_set(err, "'%.100s': %s", entry->name, strerror(errno));
    if (count(tree, 0, entry->size, err) < 0)
        got = -1;
    while (got >= 0 && (got = tar_contents(tar, bytes, sizeof bytes, err)) > 0)
        if (write(fd, bytes, (size_t)got) != got)
            got = err_set(err, "'%.100s': %s", entry->name, strerror(errno));
    if (got == 0 && fchmod(fd, mode) < 0)
        got = err_set(err, "'%.100s': %s", entry->name, strerror(errno));
    close(fd);
    return got < 0 ? -1 : 0;
}

/* Gives a file of the image another name. */
static int name_lay(struct layer_tree *tree, const struct tar_entry *entry, const char *last, struct err *err)
{
    char target[TAR_NAME_MAX + 1], parent[TAR_NAME_MAX + 1];
    const char *slash;
    int from, failed;

    if (name_clean(entry->link, target, err) < 0)
        return -1;
    slash = strrchr(target, '/');
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - target) : 0, target);
    from = folder_open(tree->root, parent, false);
    failed = from < 0 || linkat(from, slash ? slash + 1 : target, tree->parent, last, 0) < 0;
    if (failed)
        err_set(err, "'%.100s': another name of '%.100s': %s", entry->name, target, strerror(errno));
    if (from >= 0)
        close(from);
    return failed ? -1 : 0;
}

static int folder_lay(struct layer_tree *tree, const struct tar_entry *entry, const char *last, struct err *err)
{
    struct stat info;

    if (fstatat(tree->parent, last, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(info.st_mode))
            return 0;
        if (unlinkat(tree->parent, last, 0) < 0)
            return err_set(err, "'%.100s': %s", entry->name, strerror(errno));
    }
    return mkdirat(tree->parent, last, 0755) == 0 ? 0 : err_set(err, "'%.100s': %s", entry->name, strerror(errno));
}

static int entry_lay(struct layer_tree *tree, struct tar *tar, const struct tar_entry *entry, struct err *err)
{
    char name[TAR_NAME_MAX + 1];
    const char *last;

    if (name_clean(entry->name, name, err) < 0 || count(tree, 1, 0, err) < 0)
        return -1;
    last = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    if (!*name || !strncmp(last, WHITEOUT, strlen(WHITEOUT)) || !memchr("0125", entry->type, 4))
        return 0;
    if (entry_parent(tree, name, true, &last, err) < 0)
        return -1;
    if (entry->type == '5')
        return folder_lay(tree, entry, last, err);
    if (remove_all(tree->parent, last, 0) < 0)
        return err_set(err, "'%.100s': %s", name, strerror(errno));
    if (entry->type == '0')
        return file_lay(tree, tar, entry, last, err);
    if (entry->type == '1')
        return name_lay(tree, entry, last, err);
    return symlinkat(entry->link, tree->parent, last) == 0 ? 0 : err_set(err, "'%.100s': %s", name, strerror(errno));
}

int layer_apply(struct layer_tree *tree, struct tar *tar, struct err *err)
{
    struct tar_entry entry;
    int got;

    parent_forget(tree);
    while ((got = tar_next(tar, &entry, err)) > 0) {
        if (entry_lay(tree, tar, &entry, err) < 0)
            return -1;
        if (entry.type != '0') /* a link may stand in the way to the last entry's folder now */
            parent_forget(tree);
    }
    parent_forget(tree);
    return got;
}

/* ------------------------------------------------------------------------------------------------------------ afterwards */

static int tidy_folder_take(struct layer_tree *tree, int fd, int depth, struct err *err);

static int tidy_entry(struct layer_tree *tree, int folder, const char *name, int depth, struct err *err)
{
    struct stat info;

    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return err_set(err, "'%.100s': %s", name, strerror(errno));
    if (count(tree, 1, S_ISREG(info.st_mode) && info.st_nlink == 1 ? info.st_size : 0, err) < 0)
        return -1;
    if (S_ISLNK(info.st_mode))
        return 0;
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return unlinkat(folder, name, 0) == 0 ? 0 : err_set(err, "'%.100s': %s", name, strerror(errno));
    if (fchmodat(folder, name, S_ISDIR(info.st_mode) || info.st_mode & 0111 ? 0755 : 0644, 0) < 0)
        return err_set(err, "'%.100s': %s", name, strerror(errno));
    if (S_ISREG(info.st_mode))
        return 0;
    if (depth > LAYER_DEPTH_MAX)
        return err_set(err, "'%.100s' is too deep", name);
    return tidy_folder_take(tree, openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth, err);
}

static int tidy_folder_take(struct layer_tree *tree, int fd, int depth, struct err *err)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *row;
    int failed = 0;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return err_set(err, "a folder of the image: %s", strerror(errno));
    }
    while (!failed && (row = readdir(dir)))
        if (strcmp(row->d_name, ".") != 0 && strcmp(row->d_name, "..") != 0)
            failed = tidy_entry(tree, dirfd(dir), row->d_name, depth + 1, err);
    closedir(dir);
    return failed;
}

int layer_tree_tidy(struct layer_tree *tree, struct err *err)
{
    return tidy_folder_take(tree, openat(tree->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, err);
}

int layer_tree_finish(struct layer_tree *tree, const char *begin, struct err *err)
{
    static const char *const files[] = {"passwd", "group", "hosts", "resolv.conf"};
    char name[TAR_NAME_MAX + 1];
    struct stat info;
    int etc, fd;

    if (mkdirat(tree->root, "etc", 0755) < 0 && errno != EEXIST)
        return err_set(err, "'etc': %s", strerror(errno));
    etc = openat(tree->root, "etc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (size_t i = 0; etc >= 0 && i < sizeof files / sizeof *files; i++) {
        if (fstatat(etc, files[i], &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
            continue;
        unlinkat(etc, files[i], 0);
        fd = openat(etc, files[i], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd >= 0)
            close(fd);
    }
    if (etc >= 0)
        close(etc);
    if (*begin && name_clean(begin, name, err) == 0) {
        fd = folder_open(tree->root, name, true);
        if (fd >= 0)
            close(fd);
    }
    return 0;
}
