/* image_squash.c: an image that is a squashfs, or a .sif file with one in it. */
#define _GNU_SOURCE
#include "exec/image_squash.h"

#include "exec/image_run.h"
#include "exec/image_sif.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What Apptainer does before a command: the image's scripts set its variables. */
static const char entry_script[] = "for s in /.singularity.d/env/*.sh; do [ -f \"$s\" ] && . \"$s\"; done; exec \"$@\"";

static size_t file_read(void *user, int64_t at, void *bytes, size_t len)
{
    size_t have = 0;

    while (have < len) {
        ssize_t got = pread(*(const int *)user, (char *)bytes + have, len - have, at + (int64_t)have);

        if (got <= 0)
            break;
        have += (size_t)got;
    }
    return have;
}

static pid_t start(const char *const *words, int out)
{
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (dup2(null, 0) < 0 || dup2(out >= 0 ? out : null, 1) < 0 || dup2(null, 2) < 0)
            _exit(126);
        execv(UNSQUASHFS, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    return pid;
}

static int finish(pid_t pid, struct err *err)
{
    int status = -1;

    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && status == 0)
        return 0;
    return err_set(err, WIFEXITED(status) && WEXITSTATUS(status) == 127 ? UNSQUASHFS " is not installed here"
                                                                        : "unsquashfs cannot read the image");
}

/* Counts one line of the list: "-rwxr-xr-x 0/0   1234 2026-01-01 00:00 NAME". A name may have a line in it; that only adds. */
static void line_count(struct layer_tree *tree, const char *line)
{
    long long size = 0;

    tree->files++;
    tree->bytes += LAYER_FILE_BYTES;
    if (*line == '-' && sscanf(line, "%*s %*s %lld", &size) == 1 && size > 0)
        tree->bytes += size;
}

/* How much would it be? The list has the same sizes that unpacking goes by. */
static int list_count(const char *const *words, const struct layer_tree *tree, struct err *err)
{
    struct layer_tree sum = *tree;
    int ends[2], failed = -1;
    size_t room = 0;
    char *line = NULL;
    FILE *list;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(err, "a pipe: %s", strerror(errno));
    pid = start(words, ends[1]);
    close(ends[1]);
    list = fdopen(ends[0], "r");
    while (list && sum.bytes >= 0 && sum.bytes <= sum.bytes_max && sum.files <= sum.files_max &&
           getdelim(&line, &room, '\n', list) > 0)
        line_count(&sum, line);
    if (sum.files > sum.files_max)
        err_set(err, "the image has more than %lld files", (long long)sum.files_max);
    else if (sum.bytes > sum.bytes_max || sum.bytes < 0)
        err_set(err, "the image is larger than %lld MiB", (long long)(sum.bytes_max >> 20));
    else
        failed = 0;
    if (failed && pid > 0)
        kill(pid, SIGKILL);
    if (list)
        fclose(list);
    free(line);
    return finish(pid, failed ? NULL : err) < 0 ? -1 : failed;
}

static bool has_file(int root, const char *name)
{
    struct stat info;

    return fstatat(root, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static void says_write(int root, struct buf *says)
{
    if (has_file(root, ".singularity.d/env")) {
        image_run_say(says, IMAGE_SAYS_ENTRY, "/bin/sh");
        image_run_say(says, IMAGE_SAYS_ENTRY, "-c");
        image_run_say(says, IMAGE_SAYS_ENTRY, entry_script);
        image_run_say(says, IMAGE_SAYS_ENTRY, "sh");
    }
    if (has_file(root, ".singularity.d/runscript"))
        image_run_say(says, IMAGE_SAYS_COMMAND, "/.singularity.d/runscript");
}

int image_squash_unpack(int fd, struct layer_tree *tree, const char *root, struct buf *says, struct err *err)
{
    char path[32], offset[32];
    const char *const list[] = {"unsquashfs", "-lln", "-o", offset, path, NULL};
    const char *const unpack[] = {
        "unsquashfs",  "-no-progress", "-quiet",      "-no-xattrs", "-no-exit-code", "-processors", "1",
        "-data-queue", "16",           "-frag-queue", "16",         "-force",        "-dest",       root,
        "-o",          offset,         path,          NULL};
    int64_t at, len;
    struct stat info;

    if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
        return err_set(err, "the image is no file");
    if (sif_find(file_read, &fd, info.st_size, &at, &len, err) < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(offset, sizeof offset, "%lld", (long long)at);
    if (list_count(list, tree, err) < 0 || finish(start(unpack, -1), err) < 0 || layer_tree_tidy(tree, err) < 0)
        return -1;
    says_write(tree->root, says);
    return 0;
}
