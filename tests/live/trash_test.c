/* Folders that jobs leave: they leave their place at once and are removed by a thread, whatever is in them. */
#define _GNU_SOURCE
#include "common/tap.h"

#include "lang/ad/names.h"
#include "live/customerd/jobfiles.h"
#include "sys/trash.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 3000
#define PATIENCE 6000 /* times 10 milliseconds */

static char top[64], trash[128];

static void named(char ret[PATH_MAX], const char *name)
{
    snprintf(ret, PATH_MAX, "%s/%s", top, name);
}

/* A folder of many files, with one below it that is shut; it is shut itself, as a job may leave it. */
static void folder_make(const char *name)
{
    char path[PATH_MAX], other[32];
    int fd;

    named(path, name);
    mkdir(path, 0700);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(openat(fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    for (int i = 0; i < FILES; i++) {
        snprintf(other, sizeof other, "f%d", i);
        if (linkat(fd, "f", fd, other, 0) < 0)
            tap_diag("a link could not be made");
    }
    mkdirat(fd, "shut", 0700);
    mkdirat(fd, "shut/within", 0700);
    fchmodat(fd, "shut", 0, 0);
    fchmod(fd, 0);
    close(fd);
}

static int entries(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return dir ? count - 2 : -1;
}

static bool trash_empties(void)
{
    for (int i = 0; i < PATIENCE && entries(trash) != 0; i++)
        poll(NULL, 0, 10);
    return entries(trash) == 0;
}

static bool is_there(const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    named(path, name);
    return lstat(path, &st) == 0;
}

static int take(struct trash *rubbish, const char *name)
{
    char path[PATH_MAX];
    struct err err = {0};
    int failed;

    named(path, name);
    failed = trash_take(rubbish, path, &err);
    if (failed)
        tap_diag("%s", err.text);
    return failed;
}

static void cases(void)
{
    struct err err = {0};
    struct trash *rubbish = trash_new(trash, &err);
    bool at_once = false, left = false;

    tap_ok(rubbish && take(rubbish, "never-was") == 0, "a folder that is not there is gone already");
    for (int i = 0; i < 5 && !at_once; i++) { /* the thread may be quicker, but hardly five times */
        folder_make("many");
        at_once = take(rubbish, "many") == 0 && !is_there("many") && entries(trash) > 0;
    }
    tap_ok(at_once, "a folder with many files leaves its place before they are removed");
    tap_ok(trash_empties(), "they are removed, and what is shut as well");
    folder_make("same");
    take(rubbish, "same");
    folder_make("same");
    tap_ok(take(rubbish, "same") == 0 && !is_there("same") && trash_empties(), "two of the same name do not meet");
    for (int i = 0; i < 5 && !left; i++) {
        folder_make("half");
        take(rubbish, "half");
        trash_free(rubbish);
        left = entries(trash) > 0;
        rubbish = left ? NULL : trash_new(trash, &err);
    }
    tap_ok(left, "whoever ends does not wait until all is removed");
    rubbish = trash_new(trash, &err);
    tap_ok(rubbish && trash_empties(), "what is left then goes after the next start");
    trash_free(rubbish);
    trash_free(NULL);
    rubbish = trash_new("/nowhere/at/all", &err);
    tap_ok(!rubbish && strstr(err.text, "/nowhere"), "where its folder cannot be made that is said");
}

/* What a job has left at its customer. */
static void files_of_jobs(void)
{
    struct symbols *symbols = names_new(1);
    struct err err = {0};
    struct jobfiles *files = jobfiles_new(top, symbols, &err);
    bool at_once = false, part = false;
    char path[PATH_MAX];

    snprintf(trash, sizeof trash, "%s/.trash", top);
    for (int i = 0; i < 5 && files && !at_once; i++) {
        folder_make("7");
        jobfiles_remove(files, 7);
        at_once = !is_there("7") && entries(trash) > 0;
    }
    tap_ok(at_once && trash_empties(), "the files of a job that is forgotten go in the same way");
    named(path, "8");
    mkdir(path, 0700);
    named(path, "8/part");
    mkdir(path, 0700);
    for (int i = 0; i < 5 && files && !part; i++) {
        folder_make("8/part/0000000000000001-0000000000000002");
        jobfiles_drop(files, 8, 1, 2);
        part = entries(path) == 0 && entries(trash) > 0;
    }
    tap_ok(part && trash_empties(), "and what had come of a try that is over");
    jobfiles_remove(files, 8);
    tap_ok(trash_empties() && !is_there("8"), "and the rest of it");
    jobfiles_free(files);
    symbols_free(symbols);
    rmdir(trash);
}

int main(void)
{
    snprintf(top, sizeof top, "/tmp/berth-rubbish-XXXXXX");
    if (!mkdtemp(top))
        return 1;
    snprintf(trash, sizeof trash, "%s/trash", top);
    cases();
    rmdir(trash);
    files_of_jobs();
    if (rmdir(top) < 0)
        tap_diag("%s is left", top);
    return tap_done();
}
