/* inputs.c: the files that a job takes along. */
#include "cli/jobs/inputs.h"

#include "cli/jobs/image_digest.h"
#include "cli/jobs/layout.h"
#include "cli/jobs/program.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/image_account.h"
#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "live/customerd/job_ad.h"
#include "pool/protocol/image_ref.h"
#include "pool/protocol/job_urls.h"
#include "pool/protocol/job_wants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_DEPTH_MAX 32
#define MODES_TOLD \
    100 /* of so many files the mode is told even where it is the usual one; the list of all must fit into an ad */

struct inputs {
    struct job_submission *submission;
    const char *folder; /* relative names start there */
    const char *about;  /* what errors are about */
    struct buf *out;
    char **names; /* the files already added, by their names for the job */
    size_t count, room;
    bool listed;     /* the attribute has been begun */
    struct buf urls; /* the elements of InputUrls */
    bool network;    /* one of these needs the network */
    char *program;   /* the file of this name may be executed, whatever its mode is here; NULL: none */
};

/* -------------------------------------------------------------------------------------------------------------- names */

/* Cleans a name: without "." and empty parts, if it stays within the folder; else only its last part. */
static char *name_inside(const char *name)
{
    const char *last = strrchr(name, '/');
    struct buf clean;
    char *text;

    buf_init(&clean);
    for (const char *at = name; *at;) {
        size_t len = strcspn(at, "/");

        if (len == 2 && at[0] == '.' && at[1] == '.') {
            buf_done(&clean);
            return mem_dup(last + 1, strlen(last + 1));
        }
        if (len && !(len == 1 && *at == '.')) {
            buf_adds(&clean, clean.len ? "/" : "");
            buf_add(&clean, at, len);
        }
        at += len + (at[len] == '/');
    }
    if (*name == '/') {
        buf_reset(&clean);
        buf_adds(&clean, last + 1);
    }
    text = mem_dup(clean.text ? clean.text : "", clean.len);
    buf_done(&clean);
    return text;
}

static bool name_is_there(const struct inputs *inputs, const char *name)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (!strcmp(inputs->names[i], name))
            return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- adding */

/* The upload of that content, which may be that of another file. */
static uint32_t upload_note(struct job_submission *submission, const char *path, const char *hash, uint64_t size)
{
    uint32_t place = textmap_add(&submission->hashes, hash, strlen(hash));

    if (place < submission->upload_count)
        return place;
    ARRAY_ROOM(submission->uploads, submission->upload_count, submission->upload_room, 16);
    submission->uploads[submission->upload_count] =
        (struct input_upload){.path = mem_dup(path, strlen(path)), .size = size};
    memcpy(submission->uploads[submission->upload_count++].hash, hash, HASH_DIGITS + 1);
    return place;
}

/* Hashes a file, unless another job of the submission reads it as well. NULL: it could not be read. */
static const struct input_upload *upload_of(struct job_submission *submission, int fd, const char *path,
                                            struct err *err)
{
    uint32_t known = textmap_find(&submission->paths, path, strlen(path)), place;
    char hash[HASH_DIGITS + 1];
    uint64_t size;

    if (known == TEXTMAP_NONE) {
        if (hash_file(fd, hash, &size, err) < 0)
            return NULL;
        place = upload_note(submission, path, hash, size);
        known = textmap_add(&submission->paths, path, strlen(path));
        ARRAY_ROOM(submission->path_uploads, known, submission->path_room, 16);
        submission->path_uploads[known] = place;
    }
    return &submission->uploads[submission->path_uploads[known]];
}

static int complain(const struct inputs *inputs, const char *path, const char *words)
{
    report("%s: %s: %s", inputs->about, path, words);
    return -1;
}

/* Appends what stands before the next element of the list. */
static void list_go_on(struct inputs *inputs)
{
    buf_adds(inputs->out, inputs->listed ? ",\n  " : "Inputs = {\n  ");
    inputs->listed = true;
}

static int file_add(struct inputs *inputs, int fd, const char *path, const char *name, mode_t mode)
{
    const struct input_upload *upload;
    struct err err = {0};
    bool executed;

    if (name_is_there(inputs, name))
        return 0;
    if (inputs->count == JOB_INPUTS_MAX) {
        err_set(&err, "a job reads at most %d files; put them into an archive", JOB_INPUTS_MAX);
        return complain(inputs, path, err.text);
    }
    upload = upload_of(inputs->submission, fd, path, &err);
    if (!upload)
        return complain(inputs, path, err.text);
    ARRAY_ROOM(inputs->names, inputs->count, inputs->room, 16);
    inputs->names[inputs->count++] = mem_dup(name, strlen(name));
    list_go_on(inputs);
    buf_adds(inputs->out, "[ Name = ");
    print_string(inputs->out, name, strlen(name), PRINT_PLAIN);
    buf_addf(inputs->out, "; Hash = \"%s\"; Size = %" PRIu64, upload->hash, upload->size);
    executed = mode & 0111 || (inputs->program && !strcmp(name, inputs->program));
    if (executed || inputs->count <= MODES_TOLD)
        buf_addf(inputs->out, "; Mode = %d", executed ? 0755 : 0644);
    buf_adds(inputs->out, " ]");
    return 0;
}

static int path_add(struct inputs *inputs, const char *path, const char *name, unsigned depth);

static int name_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the files of a folder in the order of their names, so that the same folder makes the same ad. */
static int folder_add(struct inputs *inputs, const char *path, const char *name, unsigned depth)
{
    char **entries = NULL;
    size_t count = 0, room = 0;
    struct dirent *entry;
    DIR *dir = depth < FOLDER_DEPTH_MAX ? opendir(path) : NULL;
    int result = 0;

    if (!dir)
        return complain(inputs, path, depth < FOLDER_DEPTH_MAX ? strerror(errno) : "folders too deep in each other");
    while ((entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        ARRAY_ROOM(entries, count, room, 16);
        entries[count++] = mem_dup(entry->d_name, strlen(entry->d_name));
    }
    closedir(dir);
    if (count)
        qsort(entries, count, sizeof *entries, name_compare);
    for (size_t i = 0; i < count; i++) {
        char *below = file_in(path, entries[i]), *called = *name ? file_in(name, entries[i]) : file_in(".", entries[i]);

        if (result == 0)
            result = path_add(inputs, below, called, depth + 1);
        free(below);
        free(called);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static int path_add(struct inputs *inputs, const char *path, const char *name, unsigned depth)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result;
    struct stat stat;

    if (fd < 0 || fstat(fd, &stat) < 0)
        result = complain(inputs, path, strerror(errno));
    else if (S_ISDIR(stat.st_mode))
        result = folder_add(inputs, path, name, depth);
    else if (!S_ISREG(stat.st_mode))
        result = complain(inputs, path, "neither a file nor a folder");
    else
        result = file_add(inputs, fd, path, name, stat.st_mode);
    if (fd >= 0)
        close(fd);
    return result;
}

/* Adds a URL, which the machine fetches. `called`: its name for the job; NULL: the last part of its path. */
static int url_add(struct inputs *inputs, const char *url, size_t len, const char *called, size_t called_len)
{
    size_t scheme = url_scheme_len(url, len);
    char *name;

    if (!called)
        called_len = url_last_part(url, len, &called);
    name = mem_dup(called_len ? called : "", called_len);
    if (!*name || strchr(name, '/') || name_is_there(inputs, name)) {
        int result = *name && !strchr(name, '/') ? 0 : complain(inputs, "Inputs", "a URL needs the name of a file");

        free(name);
        return result;
    }
    ARRAY_ROOM(inputs->names, inputs->count, inputs->room, 16);
    inputs->names[inputs->count++] = name;
    buf_adds(&inputs->urls, inputs->urls.len ? ",\n  [ Name = " : "[ Name = ");
    print_string(&inputs->urls, name, strlen(name), PRINT_PLAIN);
    buf_adds(&inputs->urls, "; Url = ");
    print_string(&inputs->urls, url, len, PRINT_PLAIN);
    buf_adds(&inputs->urls, " ]");
    inputs->network = inputs->network || scheme != 4 || memcmp(url, "file", 4) != 0;
    return 0;
}

/* Adds a file or folder by its name in an ad. `*ret_called` is its name for the job, which the caller frees. */
static int name_add(struct inputs *inputs, const char *text, size_t len, char **ret_called)
{
    char *name = mem_dup(text, len), *path, *called;
    int result;

    if (!len || strlen(name) != len) {
        free(name);
        return complain(inputs, "Inputs", "expected the name of a file");
    }
    path = file_in(inputs->folder, name);
    called = name_inside(name);
    result = path_add(inputs, path, called, 0);
    if (result == 0 && ret_called)
        *ret_called = called;
    else
        free(called);
    free(path);
    free(name);
    return result;
}

/* ------------------------------------------------------------------------------------------------------- the attributes */

/* Adds [ Name; From ]: a file that does not lie where the job finds it. 1 when the ad is something else. */
static int renamed_add(struct inputs *inputs, struct eval *eval, const struct value *ad)
{
    struct symbols *symbols = inputs->submission->customer->symbols;
    symbol from = symbols_find(symbols, "From", 4), hash = symbols_find(symbols, "Hash", 4);
    struct value name, path;
    char *text, *whole, *called;
    int result;

    if (!from || !eval_attribute(eval, ad->scope, from, &path) ||
        (hash && eval_attribute(eval, ad->scope, hash, &name)))
        return 1;
    if (path.type != VALUE_STRING || !path.len || !eval_attribute(eval, ad->scope, NAME_NAME, &name) ||
        name.type != VALUE_STRING || !name.len)
        return complain(inputs, "Inputs", "expected [ Name = \"...\"; From = \"...\" ]");
    if (url_scheme_len(path.u.string, path.len))
        return url_add(inputs, path.u.string, path.len, name.u.string, name.len);
    text = mem_dup(name.u.string, name.len);
    called = name_inside(text);
    free(text);
    text = mem_dup(path.u.string, path.len);
    whole = file_in(inputs->folder, text);
    result = path_add(inputs, whole, called, 0);
    free(called);
    free(whole);
    free(text);
    return result;
}

static int list_add(struct inputs *inputs, const struct value *list)
{
    static const struct env env = {0};
    struct arena arena;
    struct eval eval;
    int result = 0;

    arena_init(&arena);
    eval_init(&eval, &env, &arena);
    for (uint32_t i = 0; i < list->len && result == 0; i++) {
        struct value part;

        eval_element(&eval, list, i, &part);
        if (part.type == VALUE_STRING && url_scheme_len(part.u.string, part.len)) {
            result = url_add(inputs, part.u.string, part.len, NULL, 0);
        } else if (part.type == VALUE_STRING) {
            result = name_add(inputs, part.u.string, part.len, NULL);
        } else if (part.type == VALUE_AD) {
            result = renamed_add(inputs, &eval, &part);
            if (result > 0) { /* the file was uploaded before */
                list_go_on(inputs);
                value_print(inputs->out, &dialect_classic, &part, PRINT_PLAIN);
                result = 0;
            }
        } else {
            result = complain(inputs, "Inputs", "expected names of files");
        }
    }
    arena_done(&arena);
    return result;
}

/* The size of a program that is called by its name alone; -1 when this machine does not have it. */
static int64_t image_find(const char *name)
{
    const char *at = getenv("PATH");
    struct stat stat_;
    char path[PATH_MAX];

    while (at && *at) {
        size_t len = strcspn(at, ":");

        snprintf(path, sizeof path, "%.*s/%s", (int)len, at, name);
        if (access(path, X_OK) == 0 && stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode))
            return stat_.st_size;
        at += len + (at[len] == ':');
    }
    return -1;
}

/* The same, looked for once for jobs in a row that call the same. */
static int64_t image_size(struct job_submission *submission, const char *name)
{
    if (submission->program && !strcmp(submission->program, name))
        return submission->program_size;
    free(submission->program);
    submission->program = mem_dup(name, strlen(name));
    return submission->program_size = image_find(name);
}

static void attribute_print(struct buf *out, const char *attribute, const char *before, const char *name)
{
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "%s%s", before, name);
    buf_addf(out, "%s = ", attribute);
    print_string(out, text.text, text.len, PRINT_PLAIN);
    buf_adds(out, ";\n");
    buf_done(&text);
}

/* Adds the executable, when its name has a slash: it is carried along, and called by where it lies for the job. */
static int command_add(struct inputs *inputs, const struct tree *ad, struct arena *arena, struct buf *renamed,
                       int64_t *ret_image)
{
    struct value cmd = job_value(ad, "Cmd", arena);
    char *text, *path, *called = NULL;
    bool carried = true, missing;
    const char *flaw;
    struct stat stat_;
    int result = 0;

    if (cmd.type == VALUE_UNDEFINED && !ad_find(ad, "Cmd") && ad_find(ad, "Image"))
        return 0; /* the image says what is run */
    if (cmd.type != VALUE_STRING || !cmd.len)
        return complain(inputs, "Cmd", "expected the name of a program");
    text = mem_dup(cmd.u.string, cmd.len);
    if (!program_is_sent(text) || (ad_find(ad, "Image") && *text == '/') ||
        (ad_flag(ad, "TransferExecutable", &carried) && !carried)) {
        *ret_image = image_size(inputs->submission, text);
        if (ad_find(ad, "Cmd")->kind != EXPR_STRING) /* it was computed, and the customer wants a text */
            attribute_print(renamed, "Cmd", "", text);
        free(text);
        return 0;
    }
    path = file_in(inputs->folder, text);
    if (inputs->submission->sets_modes)
        flaw = stat(path, &stat_) == 0 && S_ISDIR(stat_.st_mode) ? "it is a folder, and no program" : NULL;
    else
        flaw = program_flaw(path, &missing);
    if (flaw)
        result = complain(inputs, path, flaw);
    if (result == 0)
        result = name_add(inputs, text, strlen(text), &called);
    if (result == 0) {
        *ret_image = stat(path, &stat_) == 0 ? stat_.st_size : -1;
        attribute_print(renamed, "Cmd", "./", called);
    }
    free(called);
    free(path);
    free(text);
    return result;
}

/* Has a file of that name for the job been added? It may lie elsewhere here: [ Name; From ]. */
static bool input_is_listed(const struct inputs *inputs, const char *text, size_t len)
{
    char *name = mem_dup(text, len);
    bool listed = name_is_there(inputs, name);

    free(name);
    return listed;
}

/* Adds an OCI layout, a folder, as the one file that the image comes in. */
static int layout_add(struct inputs *inputs, const char *path, const char *text, char **ret_called)
{
    struct job_submission *submission = inputs->submission;
    bool known = textmap_find(&submission->paths, path, strlen(path)) != TEXTMAP_NONE;
    struct err err = {0};
    int fd = known ? open(path, O_RDONLY | O_CLOEXEC) : layout_pack(path, &err), result;
    char *called, within[32];

    if (fd < 0)
        return complain(inputs, text, known ? strerror(errno) : err.text);
    called = name_inside(text);
    result = file_add(inputs, fd, path, called, 0644);
    if (known || result < 0) {
        close(fd);
    } else { /* it stays open: the file has no name, and is read again when it goes up */
        struct input_upload *upload =
            &submission->uploads[submission->path_uploads[textmap_find(&submission->paths, path, strlen(path))]];

        snprintf(within, sizeof within, "/proc/self/fd/%d", fd);
        free(upload->path);
        upload->path = mem_dup(within, strlen(within));
    }
    *ret_called = called;
    return result;
}

/* An image in a registry is no file: it is named by what its name means now. */
static int registry_add(struct inputs *inputs, const struct tree *ad, const char *text, struct buf *renamed)
{
    struct job_submission *submission = inputs->submission;
    uint32_t known = textmap_find(&submission->images, text, strlen(text));
    const char *name;
    struct err err = {0};
    struct secret account;
    size_t len;

    if (known == TEXTMAP_NONE) {
        bool has = ad_string(ad, IMAGE_ACCOUNT_ATTRIBUTE, &name, &len) &&
                   secret_bundle_find(submission->secrets.text, submission->secrets.len, name, len, &account);
        char *found = image_digest_find(text, has ? &account : NULL, &err);

        if (!found)
            return complain(inputs, text, err.text);
        known = textmap_add(&submission->images, text, strlen(text));
        ARRAY_ROOM(submission->digests, known, submission->digest_room, 4);
        submission->digests[known] = found;
    }
    attribute_print(renamed, "Image", "", submission->digests[known]);
    return 0;
}

/* One in a file that the machine fetches, as it does other inputs. */
static int image_url_add(struct inputs *inputs, const char *text, char **ret_called)
{
    const char *name;
    size_t len = url_last_part(text, strlen(text), &name);

    if (url_add(inputs, text, strlen(text), NULL, 0) < 0)
        return -1;
    *ret_called = mem_dup(name, len);
    return 0;
}

/* Adds the file that the job's image comes in. A path from the root that is no file here is a folder of the machine. */
static int image_add(struct inputs *inputs, const struct tree *ad, struct arena *arena, struct buf *renamed)
{
    struct value image = job_value(ad, "Image", arena);
    char *text, *path, *called = NULL;
    struct stat stat_;
    int result = 0;

    if (image.type != VALUE_STRING || !image.len || input_is_listed(inputs, image.u.string, image.len))
        return 0;
    text = mem_dup(image.u.string, image.len);
    path = file_in(inputs->folder, text);
    if (stat(path, &stat_) < 0)
        stat_.st_mode = 0;
    if (image_ref_is(text, strlen(text)))
        result = registry_add(inputs, ad, text, renamed);
    else if (url_scheme_len(text, strlen(text)) && strncmp(text, "file:", 5) != 0)
        result = image_url_add(inputs, text, &called);
    else if (strstr(text, "://"))
        result = complain(inputs, text,
                          "it is nowhere that images are fetched from: those of registries are docker://HOST/PATH");
    else if (*text != '/' && S_ISDIR(stat_.st_mode))
        result = layout_is(path) ? layout_add(inputs, path, text, &called)
                                 : complain(inputs, text,
                                            "it is a folder, but no OCI layout (`skopeo copy ... oci:FOLDER` makes "
                                            "one); a folder of the machine is named from the root");
    else if (*text != '/' || S_ISREG(stat_.st_mode))
        result = name_add(inputs, text, strlen(text), &called);
    if (called)
        attribute_print(renamed, "Image", "", called);
    free(called);
    free(path);
    free(text);
    return result;
}

/* Adds the file for standard input. */
static int stdin_add(struct inputs *inputs, const struct tree *ad, struct arena *arena, struct buf *renamed)
{
    struct value in = job_value(ad, "In", arena);
    char *called = NULL;
    int result;

    if (in.type != VALUE_STRING || input_is_listed(inputs, in.u.string, in.len))
        return 0;
    result = name_add(inputs, in.u.string, in.len, &called);
    if (result == 0)
        attribute_print(renamed, "In", "", called);
    free(called);
    return result;
}

/* Appends a further command (Pre, Post), whose program has another name for the job. */
static void extra_print(const struct tree *ad, const struct expr *list, const char *attribute, const char *called,
                        struct buf *renamed)
{
    const struct expr *parts = tree_parts(ad, list);
    struct buf word;

    buf_init(&word);
    buf_addf(&word, "./%s", called);
    buf_addf(renamed, "%s = { ", attribute);
    print_string(renamed, word.text, word.len, PRINT_PLAIN);
    for (uint32_t i = 1; i < list->u.run.count; i++) {
        buf_adds(renamed, ", ");
        print_expr(renamed, ad, &parts[i], PRINT_PLAIN);
    }
    buf_adds(renamed, " };\n");
    buf_done(&word);
}

/* Can the program be carried along and executed? If not, the error says whose program it is, which, and why. */
static int extra_check(struct inputs *inputs, const char *attribute, const char *path)
{
    bool missing;
    const char *why = program_flaw(path, &missing);
    struct buf what;

    if (!why)
        return 0;
    buf_init(&what);
    buf_addf(&what, "%s: %s", attribute, path);
    complain(inputs, buf_string(&what), why);
    buf_done(&what);
    return -1;
}

/* Adds the program of a further command; it is carried along as that of the job is. */
static int extra_add(struct inputs *inputs, const struct tree *ad, const char *attribute, struct buf *renamed)
{
    const struct expr *list = ad_find(ad, attribute), *first;
    char *text, *path, *called = NULL;
    int result = 0;

    if (!list || list->kind != EXPR_LIST || !list->u.run.count)
        return 0;
    first = tree_parts(ad, list);
    if (first->kind != EXPR_STRING)
        return complain(inputs, attribute, "expected the name of a program");
    text = mem_dup(tree_string(ad, first), first->u.run.count);
    path = file_in(inputs->folder, text);
    if (program_is_sent(text)) {
        result = extra_check(inputs, attribute, path);
        if (result == 0)
            result = name_add(inputs, text, strlen(text), &called);
    }
    if (called)
        extra_print(ad, list, attribute, called, renamed);
    free(called);
    free(path);
    free(text);
    return result;
}

int inputs_add(struct job_submission *submission, const struct tree *ad, const char *folder, const char *name,
               struct buf *out, int64_t *ret_image)
{
    struct inputs inputs = {.submission = submission, .folder = folder, .about = name, .out = out};
    struct arena arena;
    struct value list, cmd;
    struct buf renamed;
    int result = 0;

    if (job_text_is(ad, "Universe", "local"))
        return inputs_local(ad, folder, name, out);
    if (job_shares_files(ad))
        return 0; /* they stay where they are */
    arena_init(&arena);
    buf_init(&renamed);
    list = job_value(ad, "Inputs", &arena);
    cmd = job_value(ad, "Cmd", &arena);
    if (submission->sets_modes && cmd.type == VALUE_STRING) {
        char *text = mem_dup(cmd.u.string, cmd.len);

        inputs.program = strchr(text, '/') ? name_inside(text) : NULL;
        free(text);
    }
    buf_init(&inputs.urls);
    if (list.type == VALUE_LIST)
        result = list_add(&inputs, &list);
    else if (list.type == VALUE_STRING && url_scheme_len(list.u.string, list.len))
        result = url_add(&inputs, list.u.string, list.len, NULL, 0);
    else if (list.type == VALUE_STRING)
        result = name_add(&inputs, list.u.string, list.len, NULL);
    else if (list.type != VALUE_UNDEFINED)
        result = complain(&inputs, "Inputs", "expected a list of names of files");
    if (result == 0)
        result = command_add(&inputs, ad, &arena, &renamed, ret_image);
    if (result == 0)
        result = stdin_add(&inputs, ad, &arena, &renamed);
    if (result == 0)
        result = image_add(&inputs, ad, &arena, &renamed);
    if (result == 0)
        result = extra_add(&inputs, ad, "Pre", &renamed);
    if (result == 0)
        result = extra_add(&inputs, ad, "Post", &renamed);
    if (inputs.listed)
        buf_adds(out, "\n};\n");
    else if (inputs.urls.len) /* the customer knows files alone */
        buf_adds(out, "Inputs = {};\n");
    if (inputs.urls.len)
        buf_addf(out, JOB_URLS " = {\n  %s\n};\n", buf_string(&inputs.urls));
    if ((inputs.network || ad_find(ad, JOB_URLS_OUT)) && !ad_find(ad, "Network"))
        buf_adds(out, "Network = true;\n");
    buf_done(&inputs.urls);
    buf_add(out, renamed.text, renamed.len);
    while (inputs.count)
        free(inputs.names[--inputs.count]);
    free(inputs.names);
    free(inputs.program);
    buf_done(&renamed);
    arena_done(&arena);
    return result;
}
