/* log_writer_test.c: events are appended to a log whole or not at all, and those that are there already not again. */
#include "live/customerd/log_writer.h"

#include "common/folder.h"
#include "common/tap.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#define FIRST "000 (001.000.000) 2026-11-18 14:33:10 Job submitted from host: <a:0?alias=a>\n...\n"
#define SECOND "001 (001.000.000) 2026-11-18 14:33:11 Job executing on host: <b:0?alias=b>\n\tSlotName: slot1@b\n...\n"
#define THIRD "009 (001.000.000) 2026-11-18 14:33:12 Job was aborted.\n\tno more\n...\n"

static bool append(const struct folder *folder, const char *name, const char *text, bool looks)
{
    return log_append(folder->path, name, text, strlen(text), looks) == 0;
}

static bool is(const struct folder *folder, const char *name, const char *want)
{
    char have[4096] = "";
    FILE *file = fopen(folder_path(folder, name), "r");
    size_t len = file ? fread(have, 1, sizeof have - 1, file) : 0;

    if (file)
        fclose(file);
    have[len] = '\0';
    if (strcmp(have, want) != 0)
        tap_diag("%s", have);
    return file && !strcmp(have, want);
}

/* Files may not grow beyond so many bytes while the text is appended. */
static bool append_within(const struct folder *folder, const char *name, const char *text, rlim_t bytes)
{
    struct rlimit before, less;
    bool done;

    getrlimit(RLIMIT_FSIZE, &before);
    less = before;
    less.rlim_cur = bytes;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &less);
    done = append(folder, name, text, false);
    setrlimit(RLIMIT_FSIZE, &before);
    return done;
}

int main(void)
{
    struct folder folder;
    char whole[FOLDER_PATH_MAX];

    folder_init(&folder);
    tap_ok(append(&folder, "logs/a/one.log", FIRST, false) && is(&folder, "logs/a/one.log", FIRST),
           "a log is made, and the folders on the way to it");
    tap_ok(append(&folder, "logs/a/one.log", SECOND, false) && is(&folder, "logs/a/one.log", FIRST SECOND),
           "what follows stands behind it");
    tap_ok(append(&folder, "logs/a/one.log", FIRST SECOND THIRD, true) &&
               is(&folder, "logs/a/one.log", FIRST SECOND THIRD),
           "of events that may be there, those are written that are not");
    tap_ok(append(&folder, "logs/a/one.log", SECOND THIRD, true) && is(&folder, "logs/a/one.log", FIRST SECOND THIRD),
           "and none if all are there");
    tap_ok(append(&folder, "logs/../two.log", FIRST, false) && is(&folder, "two.log", FIRST),
           "a path may lead upwards");
    snprintf(whole, sizeof whole, "%s/three.log", folder.path);
    tap_ok(log_append("/nowhere", whole, FIRST, strlen(FIRST), false) == 0 && is(&folder, "three.log", FIRST),
           "or begin at the root");
    tap_ok(!append_within(&folder, "two.log", SECOND, strlen(FIRST) + 20) && is(&folder, "two.log", FIRST),
           "when the disk is full in the middle of an event, nothing of it stays");
    tap_ok(append(&folder, "two.log", SECOND, false) && is(&folder, "two.log", FIRST SECOND), "later it is written");
    tap_ok(log_append("/nowhere", "a/b.log", FIRST, strlen(FIRST), false) < 0 && errno == ENOENT,
           "the folder of submission is not made when it has gone");
    mkfifo(folder_path(&folder, "pipe"), 0600);
    tap_ok(!append(&folder, "pipe", FIRST, false), "a pipe is no log, and keeps nobody waiting");
    folder_done(&folder);
    return tap_done();
}
