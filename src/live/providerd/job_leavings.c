/* job_leavings.c: the files that a job leaves, as they are found in its folder. */
#include "live/providerd/job_leavings.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/providerd/file_copy.h"
#include "live/providerd/job_order.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = {"log", "output", "checkpoint"};
enum { LOG_KIND, OUTPUT_KIND, CHECKPOINT_KIND };

struct finding {
    struct job_leavings *leaving;
    const struct tree *row;
    int folder;
    bool failed;
    int error;
};

void leaving_init(struct job_leavings *leaving)
{
    *leaving = (struct job_leavings){.count = 0};
    textmap_init(&leaving->known, 0);
}

void leaving_done(struct job_leavings *leaving)
{
    for (uint32_t i = 0; i < leaving->count; i++)
        free(leaving->files[i].name);
    free(leaving->files);
    textmap_done(&leaving->known);
    missing_done(&leaving->missing);
    missing_done(&leaving->unmade);
}

/* Adds a file, by the name that the customer gets; `from` is its name in the folder; NULL: the same. */
static void file_add(struct job_leavings *leaving, int kind, const char *name, const char *from)
{
    uint32_t before = leaving->known.count;
    char why[64];
    struct buf key;

    buf_init(&key);
    buf_addf(&key, "%d/%s", kind, name);
    textmap_add(&leaving->known, key.text, key.len);
    buf_done(&key);
    if (leaving->known.count == before)
        return;
    if (leaving->kinds[kind] >= JOB_FILES_MAX) {
        snprintf(why, sizeof why, "more than %d files", JOB_FILES_MAX);
        missing_add(&leaving->missing, name, strlen(name), why, strlen(why));
        return;
    }
    leaving->kinds[kind]++;
    ARRAY_ROOM(leaving->files, leaving->count, leaving->room, 4);
    leaving->files[leaving->count++] = (struct leaving_file){mem_dup(name, strlen(name)), kinds[kind], from};
}

/* Adds what the job has written, by that name; of a member with a number (Member), by NAME.NUMBER. */
static void stream_named(struct finding *finding, int kind, const char *name, size_t len, const char *from)
{
    char whole[CONFINED_NAME_MAX + 24], end[24] = "";
    int64_t member;

    if (ad_integer(finding->row, "Member", &member) && member > 0)
        snprintf(end, sizeof end, ".%lld", (long long)member);
    if (!len || len + strlen(end) > CONFINED_NAME_MAX)
        return;
    snprintf(whole, sizeof whole, "%.*s%s", (int)len, name, end);
    file_add(finding->leaving, kind, whole, from);
}

/* Adds a log that is an output as well, by the name that the job gives it. */
static void stream_add(struct finding *finding, const char *attribute, const char *from)
{
    const char *text;
    size_t len;

    if (ad_string(finding->row, attribute, &text, &len))
        stream_named(finding, OUTPUT_KIND, text, len, from);
}

/* Calls `fn` for each text of a list in the row. False: there is no such list. */
static bool row_names(const struct finding *finding, const char *list, void (*fn)(void *user, const char *name),
                      void *user)
{
    const struct expr *names = ad_find(finding->row, list);

    if (!names || names->kind != EXPR_LIST)
        return false;
    for (uint32_t i = 0; i < names->u.run.count; i++) {
        const struct expr *name = &tree_parts(finding->row, names)[i];
        char text[CONFINED_NAME_MAX + 1];

        if (name->kind != EXPR_STRING || name->u.run.count > CONFINED_NAME_MAX)
            continue;
        memcpy(text, tree_string(finding->row, name), name->u.run.count);
        text[name->u.run.count] = '\0';
        fn(user, text);
    }
    return true;
}

static int inside_found(void *user, const char *name)
{
    file_add(user, OUTPUT_KIND, name, NULL);
    return 0;
}

/* Is that what the job calls its standard output or errors? */
static bool is_stream(const struct finding *finding, const char *name)
{
    static const char *const streams[] = {"Out", "Err"};
    const char *text;
    size_t len;

    for (int i = 0; i < 2; i++)
        if (ad_string(finding->row, streams[i], &text, &len) && len == strlen(name) && !memcmp(text, name, len))
            return true;
    return false;
}

/* Adds what the job names: a file, or a folder with all that lies in it. What is not there was not made, unless it is a stream, which comes anyway. */
static void output_add(void *user, const char *name)
{
    struct finding *finding = user;
    struct job_leavings *leaving = finding->leaving;
    struct err err = {0};

    if (finding->failed)
        return;
    switch (confined_look(finding->folder, name)) {
    case CONFINED_FILE:
        file_add(leaving, OUTPUT_KIND, name, NULL);
        break;
    case CONFINED_FOLDER:
        if (confined_walk(finding->folder, name, LEAVING_LOOKED, inside_found, leaving, &err) < 0)
            missing_add(&leaving->missing, name, strlen(name), err.text, strlen(err.text));
        break;
    case CONFINED_OTHER:
        missing_add(&leaving->missing, name, strlen(name), "it is neither a file nor a folder", 33);
        break;
    case CONFINED_ABSENT:
        if (!is_stream(finding, name))
            missing_add(&leaving->unmade, name, strlen(name), "", 0);
        break;
    case CONFINED_FAILED:
        finding->failed = true;
        finding->error = errno;
        break;
    }
}

static void checkpoint_add(void *user, const char *name)
{
    file_add(((struct finding *)user)->leaving, CHECKPOINT_KIND, name, NULL);
}

static void known_add(void *user, const char *name)
{
    textmap_add(user, name, strlen(name));
}

struct found {
    struct job_leavings *leaving;
    struct textmap inputs, checkpoints;
    int folder;
};

static bool is_named(const struct textmap *names, const char *name)
{
    return textmap_find(names, name, strlen(name)) != TEXTMAP_NONE;
}

static int output_found(void *user, const char *name)
{
    struct found *found = user;

    /* What begins with a dot is a program's own business, unless it is named. */
    if (*name != '.' && strcmp(name, JOB_STDOUT) != 0 && strcmp(name, JOB_STDERR) != 0 &&
        !is_named(&found->checkpoints, name) &&
        !(is_named(&found->inputs, name) && file_copy_is_untouched(found->folder, name)))
        file_add(found->leaving, OUTPUT_KIND, name, NULL);
    return 0;
}

/* Adds every file at the top of the folder that is new: no checkpoint, and no input as it was laid there. */
static int outputs_find(struct finding *finding, struct err *err)
{
    struct found found = {.leaving = finding->leaving, .folder = finding->folder};
    int failed;

    textmap_init(&found.inputs, 0);
    textmap_init(&found.checkpoints, 0);
    row_names(finding, "Inputs", known_add, &found.inputs);
    row_names(finding, "Checkpoint", known_add, &found.checkpoints);
    failed = confined_each(finding->folder, LEAVING_LOOKED, output_found, &found, err);
    textmap_done(&found.inputs);
    textmap_done(&found.checkpoints);
    if (failed && errno == EOVERFLOW) { /* so many that nobody has looked at the others */
        missing_add(&finding->leaving->missing, "(others)", 8, err->text, strlen(err->text));
        failed = 0;
    }
    return failed;
}

static int list_all(struct finding *finding, bool passing, struct err *err)
{
    if (!passing) {
        stream_named(finding, LOG_KIND, JOB_STDOUT, strlen(JOB_STDOUT), JOB_STDOUT);
        stream_named(finding, LOG_KIND, JOB_STDERR, strlen(JOB_STDERR), JOB_STDERR);
        stream_add(finding, "Out", JOB_STDOUT);
        stream_add(finding, "Err", JOB_STDERR);
        if (!row_names(finding, "Outputs", output_add, finding) && outputs_find(finding, err) < 0)
            return -1;
        if (finding->failed)
            return err_set(err, "%s", strerror(finding->error));
    }
    row_names(finding, "Checkpoint", checkpoint_add, finding);
    return 0;
}

int leaving_list(struct job_leavings *leaving, const struct tree *row, int folder, bool passing, struct err *err)
{
    struct finding finding = {.leaving = leaving, .row = row, .folder = folder};

    if (list_all(&finding, passing, err) == 0)
        return 0;
    leaving_done(leaving);
    leaving_init(leaving);
    return -1;
}

int64_t leaving_bytes(const struct job_leavings *leaving, int folder)
{
    int64_t sum = 0, size;
    struct err err;

    for (uint32_t i = 0; i < leaving->count; i++) {
        const struct leaving_file *file = &leaving->files[i];
        int fd = confined_read(folder, file->from ? file->from : file->name, &size, &err);

        if (fd < 0)
            continue;
        close(fd);
        sum = size > INT64_MAX - sum ? INT64_MAX : sum + size;
    }
    return sum;
}
