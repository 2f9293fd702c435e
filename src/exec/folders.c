/* folders.c: folders of the machine that its owner lets jobs look into. */
#include "exec/folders.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Folders that cannot be shown, with all that is in them. */
static const struct {
    const char *path, *why;
} kept[] = {
    {"/proc", "jobs have their own"},
    {"/sys", "it is about the machine, and not about jobs"},
    {"/dev", "jobs have their own"},
    {"/run", "services of the machine are reached by it"},
    {"/var/run", "services of the machine are reached by it"},
    {"/tmp", "jobs have their own"},
    {"/job", "jobs have their own"},
    {"/etc", "what programs need of it jobs see already; the rest is nobody else's business"},
    {"/root", "it is somebody's home"},
    {"/boot", "it is about the machine, and not about jobs"},
    {"/usr", "jobs see it already"},
    {"/bin", "jobs see it already"},
    {"/sbin", "jobs see it already"},
    {"/lib", "jobs see it already"},
    {"/lib32", "jobs see it already"},
    {"/lib64", "jobs see it already"},
    {"/libx32", "jobs see it already"},
};

bool folder_holds(const char *folder, const char *path)
{
    size_t len = strlen(folder);

    return !strncmp(folder, path, len) && (!path[len] || path[len] == '/');
}

/* Is it /home, or the whole of somebody's home in it? */
static bool is_home(const char *path)
{
    return folder_holds("/home", path) && (!path[5] || !strchr(path + 6, '/'));
}

int folder_path_check(const char *path, struct err *err)
{
    size_t len = strlen(path);

    if (*path != '/' || len > FOLDER_PATH_MAX || (len > 1 && !confined_name_is_good(path + 1, len - 1)))
        return err_set(err, "'%.100s': expected a folder, as a path from the root without '.' and '..'", path);
    return 0;
}

int folder_check(const char *path, bool homes, struct err *err)
{
    if (folder_path_check(path, err) < 0)
        return -1;
    if (!path[1])
        return err_set(err, "'/' is the whole machine");
    if (strstr(path, "/."))
        return err_set(err, "'%.100s' is hidden: such folders hold keys more often than programs", path);
    if (!homes && is_home(path))
        return err_set(err, "'%.100s': homes have people's keys and letters in them; name a folder in one", path);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (folder_holds(kept[i].path, path))
            return err_set(err, "'%.100s' cannot be shown to jobs: %s", path, kept[i].why);
    return 0;
}

static int list_take(const struct tree *policy, const struct expr *list, bool homes, struct folders *ret,
                     struct err *err)
{
    const struct expr *parts = tree_parts(policy, list);

    ret->paths = mem_alloc((list->u.run.count + 1) * sizeof *ret->paths);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        size_t len = parts[i].kind == EXPR_STRING ? parts[i].u.run.count : 0;
        char *path;

        if (!len)
            return err_set(err, "expected a list of folders");
        path = mem_dup(tree_string(policy, &parts[i]), len);
        ret->paths[ret->count++] = path;
        if (strlen(path) != len)
            return err_set(err, "a folder's name has a NUL in it");
        while (len > 1 && path[len - 1] == '/')
            path[--len] = '\0';
        if (folder_check(path, homes, err) < 0)
            return -1;
        for (size_t k = 0; k + 1 < ret->count; k++)
            if (folder_holds(ret->paths[k], path) || folder_holds(path, ret->paths[k]))
                return err_set(err, "'%.100s' and '%.100s': one is the other, or lies in it", ret->paths[k], path);
    }
    return 0;
}

int folders_read(const struct tree *policy, const char *attribute, bool homes, struct folders *ret, struct err *err)
{
    const struct expr *list = ad_find(policy, attribute);
    struct err why = {0};

    *ret = (struct folders){0};
    if (!list)
        return 0;
    if (list->kind != EXPR_LIST)
        return err_set(err, "%s: expected a list of folders, { \"/opt\", ... }", attribute);
    if (list->u.run.count > FOLDERS_MAX)
        return err_set(err, "%s: more than %d folders", attribute, FOLDERS_MAX);
    if (list_take(policy, list, homes, ret, &why) == 0)
        return 0;
    folders_done(ret);
    return err_set(err, "%s: %s", attribute, why.text);
}

void folders_done(struct folders *folders)
{
    while (folders->count)
        free(folders->paths[--folders->count]);
    free(folders->paths);
    folders->paths = NULL;
}

/* Is it ours, or is ours in it? */
static bool meets(const char *path, const char *ours)
{
    char real[PATH_MAX];

    return ours && realpath(ours, real) && strcmp(real, "/") != 0 &&
           (folder_holds(path, real) || folder_holds(real, path));
}

int folder_find(const char *path, bool homes, const char *own, char ret[], size_t size, struct err *err)
{
    const char *home = getenv("HOME");
    char real[PATH_MAX], home_real[PATH_MAX];
    struct stat info;

    if (!realpath(path, real) || stat(real, &info) < 0)
        return err_set(err, "'%.100s' is not there: %s", path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return err_set(err, "'%.100s' is not a folder", path);
    if (strcmp(real, path) != 0 && folder_check(real, homes, err) < 0)
        return -1;
    if (meets(real, own))
        return err_set(err, "'%.100s' cannot be shown to jobs: the provider's own files lie there", path);
    if (!homes && home && *home && realpath(home, home_real) && strcmp(home_real, "/") != 0 &&
        folder_holds(real, home_real))
        return err_set(err, "'%.100s' cannot be shown to jobs: the provider's home lies in it", path);
    snprintf(ret, size, "%s", real);
    return 0;
}
