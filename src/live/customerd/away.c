/* away.c: a job's output on its way into the folder that the job was submitted from. */
#include "live/customerd/away.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int away_place(const char *iwd, const char *name, const char *to, char ret_folder[AWAY_FOLDER_MAX],
               char ret_name[CONFINED_NAME_MAX + 1])
{
    const char *slash = to ? strrchr(to, '/') : NULL, *last = slash ? slash + 1 : to;
    int len;

    errno = ENAMETOOLONG;
    if (!to || confined_name_is_good(to, strlen(to))) {
        len = snprintf(ret_folder, AWAY_FOLDER_MAX, "%s", iwd);
        last = to ? to : name;
    } else if (*to == '/') {
        len = snprintf(ret_folder, AWAY_FOLDER_MAX, "%.*s", slash == to ? 1 : (int)(slash - to), to);
    } else {
        len = snprintf(ret_folder, AWAY_FOLDER_MAX, "%s/%.*s", iwd, slash ? (int)(slash - to) : 0, to);
    }
    if (len >= AWAY_FOLDER_MAX || !confined_name_is_good(last, strlen(last)))
        return -1;
    snprintf(ret_name, CONFINED_NAME_MAX + 1, "%s", last);
    return 0;
}

bool away_name(uint64_t job, const char *name, bool beside, char ret[AWAY_NAME_MAX])
{
    if (beside)
        snprintf(ret, AWAY_NAME_MAX, "%s.%llu", name, (unsigned long long)job);
    else
        snprintf(ret, AWAY_NAME_MAX, "%s", name);
    return confined_name_is_good(ret, strlen(ret));
}

/* Does the file there have these bytes already? Then it was put there before a crash, or is as good. */
static bool is_same(int iwd, const char *name, const struct away *away)
{
    int fd = confined_file(iwd, name, O_RDONLY, 0);
    char digits[HASH_DIGITS + 1];
    struct err err;
    struct stat stat;
    uint64_t size;
    bool same = fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size == away->size &&
                hash_file(fd, digits, &size, &err) == 0 && !memcmp(digits, away->hash, HASH_DIGITS);

    if (fd >= 0)
        close(fd);
    return same;
}

/* Moves the file to that name: over what is there if `over`, else only where nothing is. -1 and errno. */
static int put_as(int folder, const char *part, int iwd, const char *name, bool over, const struct away *away)
{
    int moved = over ? confined_move(folder, part, iwd, name) : confined_move_new(folder, part, iwd, name);

    if (moved < 0 && !over && errno == EEXIST) {
        if (is_same(iwd, name, away))
            return confined_move(folder, part, iwd, name);
        errno = EEXIST;
    }
    return moved;
}

int away_put(int folder, const char *part, int iwd, const struct away *away, bool *ret_beside)
{
    bool beside =
        (away->permit == PERMIT_BESIDE || (away->before && away->before_beside)) && away->permit != PERMIT_REPLACE;
    char name[AWAY_NAME_MAX];
    int moved = -1;

    for (;; beside = true) {
        bool brought = away->before && away->before_beside == beside;

        errno = ENAMETOOLONG;
        if (away_name(away->job, away->name, beside, name))
            moved = put_as(folder, part, iwd, name, brought || away->permit == PERMIT_REPLACE, away);
        if (moved == 0 || errno != EEXIST || beside)
            break;
    }
    *ret_beside = moved == 0 && beside;
    return moved;
}
