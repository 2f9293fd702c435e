/* folder.h: a folder for a test's files, which is taken away at the end with all that is in it. */
#ifndef BERTH_TESTS_FOLDER_H
#define BERTH_TESTS_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_PATH_MAX 4096

struct folder {
    char path[256];
};

static inline void folder_init(struct folder *folder)
{
    const char *where = getenv("TMPDIR");

    snprintf(folder->path, sizeof folder->path, "%s/berth-test-XXXXXX", where && *where ? where : "/tmp");
    if (!mkdtemp(folder->path)) {
        perror(folder->path);
        exit(2);
    }
}

/* The path of a name in it, in one of a few places that are used again in turn. */
static inline const char *folder_path(const struct folder *folder, const char *name)
{
    static char paths[8][FOLDER_PATH_MAX];
    static int next;
    char *path = paths[next++ % 8];

    snprintf(path, FOLDER_PATH_MAX, "%s/%s", folder->path, name);
    return path;
}

static inline const char *folder_write(const struct folder *folder, const char *name, const char *text, size_t len)
{
    const char *path = folder_path(folder, name);
    FILE *file = fopen(path, "w");

    if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
    return path;
}

static inline const char *folder_put(const struct folder *folder, const char *name, const char *text)
{
    return folder_write(folder, name, text, strlen(text));
}

static inline const char *folder_make(const struct folder *folder, const char *name)
{
    const char *path = folder_path(folder, name);

    if (mkdir(path, 0700) != 0) {
        perror(path);
        exit(2);
    }
    return path;
}

/* Removes what a folder has in it, up to a few folders deep. */
static inline void folder_empty(const char *path, int depth)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        char inner[FOLDER_PATH_MAX];

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if ((size_t)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= sizeof inner)
            continue;
        if (unlink(inner) != 0 && depth > 0) {
            folder_empty(inner, depth - 1);
            rmdir(inner);
        }
    }
    if (dir)
        closedir(dir);
}

static inline void folder_done(struct folder *folder)
{
    folder_empty(folder->path, 8);
    rmdir(folder->path);
}

#endif
