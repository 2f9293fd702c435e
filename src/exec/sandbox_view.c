/* sandbox_view.c: bubblewrap's words for an image's root, and for folders of the machine. */
#define _GNU_SOURCE
#include "exec/sandbox_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the first level of an image: jobs have their own of these, or none. */
static const char *const own_entries[] = {"proc", "sys", "dev", "tmp", "job", "run"};

/* Files of the machine that take the place of the image's, where the job may use the network. */
enum { RESOLV_CONF, HOSTS };
static const char *const name_files[] = {[RESOLV_CONF] = "etc/resolv.conf", [HOSTS] = "etc/hosts"};

static void add(struct buf *out, const char *word)
{
    buf_add(out, word, strlen(word) + 1);
}

static void add_three(struct buf *out, const char *option, const char *from, const char *to)
{
    add(out, option);
    add(out, from);
    add(out, to);
}

/* What is there beneath a folder, without a link on the way? 0: nothing. */
static mode_t mode_beneath(int folder, const char *name)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
    struct stat info;
    bool found = fd >= 0 && fstat(fd, &info) == 0;

    if (fd >= 0)
        close(fd);
    return found ? info.st_mode : 0;
}

static bool folder_is_empty(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *row;
    bool empty = true;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (empty && (row = readdir(dir)))
        empty = !strcmp(row->d_name, ".") || !strcmp(row->d_name, "..");
    closedir(dir);
    return empty;
}

static bool entry_is_own(const char *name)
{
    for (size_t i = 0; i < sizeof own_entries / sizeof *own_entries; i++)
        if (!strcmp(name, own_entries[i]))
            return true;
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Appends the words for one entry of the first level. False: it is nothing that a job could see. */
static bool add_entry(struct buf *out, int folder, const char *place, const char *name)
{
    char from[PATH_MAX], to[300];
    struct stat info;
    ssize_t len;

    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    snprintf(from, sizeof from, "%.3800s/%.255s", place, name);
    snprintf(to, sizeof to, "/%.255s", name);
    if (S_ISLNK(info.st_mode)) {
        len = readlinkat(folder, name, from, sizeof from - 1);
        if (len <= 0)
            return false;
        from[len] = '\0';
        add_three(out, "--symlink", from, to);
    } else if (S_ISDIR(info.st_mode) && folder_is_empty(folder, name)) {
        add(out, "--dir");
        add(out, to);
    } else if (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)) {
        add_three(out, "--ro-bind", from, to);
    } else {
        return false;
    }
    return true;
}

/* Puts a file of ours, a list of users, over the image's. Where its /etc has no such file there is no place for ours. */
static void add_list(struct buf *out, int folder, const char *name, int fd)
{
    bool bound = S_ISREG(mode_beneath(folder, name + 1));
    char number[16];

    if (!bound && mode_beneath(folder, "etc"))
        return;
    snprintf(number, sizeof number, "%d", fd);
    if (!bound) {
        add(out, "--perms");
        add(out, "0444");
    }
    add_three(out, bound ? "--ro-bind-data" : "--file", number, name);
}

void view_words_root(struct buf *out, const char *root, const char *place, int users, int groups, bool network,
                     int names)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), again = fd < 0 ? -1 : dup(fd);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    const struct dirent *row;
    uint32_t count = 0;

    while (dir && count < VIEW_ENTRIES_MAX && (row = readdir(dir)))
        if (!entry_is_own(row->d_name) && add_entry(out, fd, place, row->d_name))
            count++;
    if (fd >= 0) {
        add_list(out, fd, "/etc/passwd", users);
        add_list(out, fd, "/etc/group", groups);
    }
    for (size_t i = 0; fd >= 0 && network && i < sizeof name_files / sizeof *name_files; i++) {
        char path[64];

        snprintf(path, sizeof path, "/%s", name_files[i]);
        if (i == RESOLV_CONF && names >= 0)
            add_list(out, fd, path, names);
        else if (S_ISREG(mode_beneath(fd, name_files[i])) && access(path, F_OK) == 0)
            add_three(out, "--ro-bind-try", path, path);
    }
    add(out, "--dir");
    add(out, "/run");
    if (dir)
        closedir(dir);
    else if (again >= 0)
        close(again);
    if (fd >= 0)
        close(fd);
}

/* In the sandbox's own root a folder can be made; in what is bound from the image it must be there already. */
bool view_has_place(const char *root, const char *path)
{
    int fd = root ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    char first[NAME_MAX + 1];
    struct stat info;
    bool has;

    if (!root)
        return true;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(path + 1, "/"), path + 1);
    has = fd >= 0 && !entry_is_own(first) &&
          (fstatat(fd, first, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
           (S_ISDIR(info.st_mode) && (folder_is_empty(fd, first) || S_ISDIR(mode_beneath(fd, path + 1)))));
    if (fd >= 0)
        close(fd);
    return has;
}

void view_words_folders(struct buf *out, const struct executor_view *view)
{
    for (uint32_t i = 0; i < view->folder_count; i++)
        if (view_has_place(view->root, view->folders[i].path))
            add_three(out, view->folders[i].writable ? "--bind" : "--ro-bind", view->folders[i].real,
                      view->folders[i].path);
}

bool view_paths_meet(const char *a, const char *b)
{
    size_t len = strlen(a), other = strlen(b), less = len < other ? len : other;
    const char *longer = len < other ? b : a;

    return !strncmp(a, b, less) && (!longer[less] || longer[less] == '/' || less == 1);
}
