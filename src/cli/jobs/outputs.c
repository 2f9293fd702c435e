/* outputs.c: berth outputs: fetches the files that a job has made from the customer into a folder. */
#include "cli/ask/jobs.h"
#include "cli/jobs/job_files.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/customerd/output_permits.h"
#include "sys/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct outputs_settings {
    struct connection_options pool;
    const char *folder;
    bool json, drop;
};

#define S struct outputs_settings
static const struct option outputs_options[] = {
    {'o', "out", "FOLDER", "where they go; the current folder if not given", option_file, offsetof(S, folder)},
    {0, "drop", NULL, "the customer keeps them no longer, once all of them are here: that makes room for others",
     option_flag, offsetof(S, drop)},
    {0, "json", NULL, "JSON lines: an object a file", option_flag, offsetof(S, json)},
    CUSTOMER_OPTION_ROWS(S),
};
#undef S

static const struct outputs_settings outputs_defaults = {0};

struct outputs {
    const struct outputs_settings *settings;
    struct connection *customer;
    uint64_t id;
    struct tree **files; /* the files to fetch */
    size_t file_count, room;
    bool missing; /* some have not come yet */
    bool refused; /* some may not be written here */
    struct permits *permits;
};

/* Does the name stay within the folder? The customer is not trusted in this. */
static bool name_is_good(const char *name, size_t len)
{
    size_t part = 0;

    if (!len || len > 1024 || name[0] == '/' || memchr(name, '\0', len))
        return false;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && name[i] != '/')
            continue;
        if (i == part || (i - part == 1 && name[part] == '.') ||
            (i - part == 2 && name[part] == '.' && name[part + 1] == '.'))
            return false;
        part = i + 1;
    }
    return true;
}

static bool outputs_note(void *user, struct tree *file)
{
    struct outputs *outputs = user;
    bool whole = false;

    if (!job_text_is(file, "Kind", "output"))
        return true;
    ad_flag(file, "Whole", &whole);
    outputs->missing = outputs->missing || !whole;
    if (!whole)
        return true;
    ARRAY_ROOM(outputs->files, outputs->file_count, outputs->room, 16);
    outputs->files[outputs->file_count++] = tree_ref(file);
    return true;
}

/* Makes the folders that lead to a file. */
static int folders_make(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        int made;

        *slash = '\0';
        made = mkdir(path, 0777);
        *slash = '/';
        if (made < 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

/* Is the file that lies there the same as this output? */
static bool file_is_same(const char *path, const struct tree *file)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char digits[HASH_DIGITS + 1];
    struct err err;
    uint64_t size;
    bool same = fd >= 0 && hash_file(fd, digits, &size, &err) == 0 && job_text_is(file, "Hash", digits);

    if (fd >= 0)
        close(fd);
    return same;
}

/* Moves the file that came into its place. A file that the job does not name replaces nothing: it is put beside what is there, as NAME.ID. */
static int file_place(const struct outputs *outputs, const struct tree *file, enum permit permit, const char *beside,
                      const char *path)
{
    char other[PATH_MAX];

    if (permit == PERMIT_REPLACE || file_is_same(path, file))
        return rename(beside, path);
    if (permit == PERMIT_NEW && link(beside, path) == 0)
        return unlink(beside);
    if (permit == PERMIT_NEW && errno != EEXIST)
        return -1;
    snprintf(other, sizeof other, "%.*s.%" PRIu64, PATH_MAX - 24, path, outputs->id);
    if (file_is_same(other, file))
        return rename(beside, other);
    if (link(beside, other) < 0)
        return -1;
    report("%s is there already, and the job does not name it: it came as %s", path, other);
    return unlink(beside);
}

/* Fetches a file under another name beside its place, and moves it there when all of it has come and its hash is right. */
static int file_fetch(struct outputs *outputs, const struct tree *file, const char *name, const char *path,
                      enum permit permit)
{
    struct job_stream copy = {.customer = outputs->customer, .id = outputs->id};
    char beside[PATH_MAX], digits[HASH_DIGITS + 1];
    struct err err = {0};
    struct buf from;
    int64_t mode = 0644;
    uint64_t size;
    int status;

    snprintf(beside, sizeof beside, "%.*s.berth-XXXXXX", PATH_MAX - 16, path);
    copy.fd = mkstemp(beside);
    if (copy.fd < 0) {
        report("%s: %s", path, strerror(errno));
        return STATUS_BAD;
    }
    buf_init(&from);
    buf_adds(&from, "/files/output");
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        char *one = mem_dup(part, strcspn(part, "/"));

        buf_addc(&from, '/');
        path_escape(&from, one);
        free(one);
    }
    copy.path = buf_string(&from);
    status = job_file_copy(&copy, name);
    ad_integer(file, "Mode", &mode);
    if (status == STATUS_DONE && hash_file(copy.fd, digits, &size, &err) == 0 && ad_find(file, "Hash") &&
        !job_text_is(file, "Hash", digits)) {
        report("%s: what came is not what the job has written", name);
        status = STATUS_UNREACHABLE;
    }
    if (status == STATUS_DONE && (fchmod(copy.fd, mode & 0111 && permit == PERMIT_REPLACE ? 0755 : 0644) < 0 ||
                                  file_place(outputs, file, permit, beside, path) < 0)) {
        report("%s: %s", path, strerror(errno));
        status = STATUS_BAD;
    }
    close(copy.fd);
    if (status != STATUS_DONE)
        unlink(beside);
    buf_done(&from);
    return status;
}

static int outputs_fetch(struct outputs *outputs, const struct tree *file)
{
    const char *folder = outputs->settings->folder ? outputs->settings->folder : ".", *name;
    enum permit permit;
    struct buf path;
    const char *why;
    char *name_text;
    size_t len;
    int status = STATUS_BAD;

    if (!ad_string(file, "Name", &name, &len) || !name_is_good(name, len)) {
        report("the customer names a file that cannot be made here");
        return STATUS_UNREACHABLE;
    }
    name_text = mem_dup(name, len);
    permit = permits_look(outputs->permits, JOB_FILE_OUTPUT, name_text, &why);
    if (permit == PERMIT_NO) {
        report("%s: it is not fetched: %s", name_text, why);
        free(name_text);
        return STATUS_NO;
    }
    buf_init(&path);
    buf_addf(&path, "%s/%s", folder, name_text);
    buf_string(&path);
    if (folders_make(path.text, strlen(folder) + 1) < 0)
        report("%s: its folder cannot be made: %s", path.text, strerror(errno));
    else
        status = file_fetch(outputs, file, name_text, path.text, permit);
    buf_done(&path);
    free(name_text);
    return status;
}

static int outputs_fetch_all(struct outputs *outputs)
{
    static const struct table_column columns[] = {{"name", "Name", CELL_VALUE}, {"size", "Size", CELL_VALUE}};
    const char *folder = outputs->settings->folder;
    struct rows rows;
    struct buf path;
    int status;

    if (folder && mkdir(folder, 0777) < 0 && errno != EEXIST) {
        report("%s: the folder cannot be made: %s", folder, strerror(errno));
        return STATUS_BAD;
    }
    buf_init(&path);
    job_path(&path, outputs->id, "/files");
    status = connection_list(outputs->customer, buf_string(&path), 0, outputs_note, outputs);
    rows_init(&rows, outputs->settings->json ? ROWS_JSON : ROWS_TABLE, columns, 2);
    for (size_t i = 0; i < outputs->file_count && status == STATUS_DONE; i++) {
        status = outputs_fetch(outputs, outputs->files[i]);
        if (status == STATUS_DONE)
            rows_add(&rows, outputs->files[i]);
        outputs->refused = outputs->refused || status == STATUS_NO;
        status = status == STATUS_NO ? STATUS_DONE : status;
    }
    status = status == STATUS_DONE && outputs->refused ? STATUS_NO : status;
    if (rows.count || outputs->settings->json)
        rows_finish(&rows);
    rows_done(&rows);
    buf_done(&path);
    return status;
}

/* Finds what may be written here. The job's ad decides it, as it does where the job was submitted. */
static void outputs_permit(struct outputs *outputs, const struct tree *job)
{
    struct permits_try one = {.ad = job, .job = outputs->id};
    int64_t n;

    if (ad_integer(job, "Index", &n) && n >= 0)
        one.index = (uint64_t)n;
    if (ad_integer(job, "Tries", &n) && n >= 0)
        one.tries = (uint64_t)n;
    outputs->permits = permits_new(&one);
}

/* All of it is here. Of a job that is not in the history yet the customer says why it stays. */
static int outputs_drop(const struct outputs *outputs)
{
    struct fetched fetched;
    struct buf path;
    int status;

    buf_init(&path);
    job_path(&path, outputs->id, "/files");
    status = connection_fetch(outputs->customer,
                              &(struct connection_ask){.method = "DELETE", .path = buf_string(&path)}, &fetched);
    if (status == STATUS_DONE)
        fetched_done(&fetched);
    buf_done(&path);
    return status;
}

static int outputs_run(const void *given, int word_count, char **words)
{
    struct outputs outputs = {.settings = given};
    struct tree *job = NULL;
    struct connection customer;
    int status;

    if (job_id_read("outputs", word_count, words, &outputs.id) < 0)
        return STATUS_BAD;
    status = customer_open(&customer, &outputs.settings->pool);
    outputs.customer = &customer;
    if (status == STATUS_DONE)
        status = job_fetch(&customer, outputs.id, &job);
    if (status == STATUS_DONE) {
        outputs_permit(&outputs, job);
        status = outputs_fetch_all(&outputs);
    }
    if (status == STATUS_DONE && outputs.missing) {
        report("job %" PRIu64 ": some outputs are still on their way", outputs.id);
        status = STATUS_NO;
    } else if (status == STATUS_DONE && !outputs.file_count && !outputs.settings->drop) {
        report("job %" PRIu64 ": there are no outputs%s", outputs.id,
               job_is_over(job) ? "; perhaps they went to its folder (Iwd)" : " yet");
        status = STATUS_NO;
    }
    if (status == STATUS_DONE && outputs.settings->drop)
        status = outputs_drop(&outputs);
    while (outputs.file_count)
        tree_unref(outputs.files[--outputs.file_count]);
    free(outputs.files);
    permits_free(outputs.permits);
    tree_unref(job);
    connection_close(&customer);
    return status;
}

const struct command command_outputs = {
    .name = "outputs",
    .summary = "fetch the files that a job has made",
    .usage = "[-o FOLDER] [--drop] ID",
    .about =
        "Fetches a job's outputs from the customer into a folder, and prints a row a file. Most jobs need no such thing: "
        "their outputs come to where they were submitted. It is for jobs that were submitted to a customer on another "
        "machine. The status is 1 when there are none, or some have not come yet.",
    .examples = {{"berth outputs 5 -o results", NULL}},
    .options = outputs_options,
    .option_count = sizeof outputs_options / sizeof *outputs_options,
    .settings_size = sizeof(struct outputs_settings),
    .defaults = &outputs_defaults,
    .run = outputs_run,
};
