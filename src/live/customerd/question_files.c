/* question_files.c: the files that a try may read, their bytes, and the bytes that it leaves. */
#include "live/customerd/questions_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/customerd/node_files.h"
#include "sys/confined_path.h"
#include "sys/encoding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------------- manifest */

struct listing_files {
    struct symbols *symbols;
    struct textmap names; /* of checkpoints: they replace inputs */
    struct tree **ads;
    uint32_t count, room;
};

static void manifest_add(struct listing_files *list, const char *name, uint64_t size, const char *hash, unsigned mode,
                         const char *kind)
{
    struct maker maker;

    maker_init(&maker, list->symbols);
    maker_text(&maker, "Name", name);
    maker_integer(&maker, "Size", (int64_t)size);
    maker_text(&maker, "Hash", hash);
    maker_integer(&maker, "Mode", mode);
    maker_text(&maker, "Kind", kind);
    ARRAY_ROOM(list->ads, list->count, list->room, 16);
    list->ads[list->count++] = maker_seal(&maker);
}

static void manifest_checkpoint(void *user, const struct job_file *file)
{
    struct listing_files *list = user;

    if (file->kind != JOB_FILE_CHECKPOINT || !file->whole)
        return;
    textmap_add(&list->names, file->name, strlen(file->name));
    manifest_add(list, file->name, file->size, file->hash, file->mode, "checkpoint");
}

/* Adds a file that another node has made; of several with one name the first. */
static void manifest_node_file(void *user, const struct job_place *place, const struct job_file *file)
{
    struct listing_files *list = user;
    uint32_t known = list->names.places;

    (void)place;
    if (textmap_add(&list->names, file->name, strlen(file->name)) == known)
        manifest_add(list, file->name, file->size, file->hash, file->mode, "input");
}

static void file_ignore(void *user, const struct job_place *place, const struct job_file *file)
{
    (void)user;
    (void)place;
    (void)file;
}

static bool manifest_input(void *user, const struct job_input *input)
{
    struct listing_files *list = user;

    if (textmap_find(&list->names, input->name, strlen(input->name)) == TEXTMAP_NONE)
        manifest_add(list, input->name, input->size, input->hash, input->mode, "input");
    return true;
}

/* Is the try before perhaps still sending the checkpoint that this one begins with? */
static bool checkpoint_is_coming(const struct asking *asking)
{
    const struct job_attempts *job = attempts_of(asking->questions->tries, asking->view.id);
    const struct job_attempt *before = job && job->count > 1 ? &job->tries[job->count - 2] : NULL;
    int64_t since;

    if (!before || before->finished || !before->started || asking->one->read || !ad_find(asking->view.ad, "Checkpoint"))
        return false;
    since = before->heard > asking->one->began ? before->heard : asking->one->began;
    return asking->now < since + CHECKPOINT_WAIT;
}

/* From now on the try's files are fixed: nothing from older tries is taken any more. */
static void try_reads(const struct asking *asking)
{
    struct job_attempts *job = attempts_of(asking->questions->tries, asking->view.id);
    struct err err;

    if (asking->one->read)
        return;
    asking->one->read = true;
    for (uint32_t i = 0; i + 1 < job->count; i++)
        jobfiles_drop(asking->questions->files, asking->view.id, job->tries[i].claim, job->tries[i].number);
    attempts_store(asking->questions->tries, asking->view.id, &err);
    question_tell(asking, NEWS_MESSAGE, NULL);
}

struct tree *question_manifest(struct asking *asking)
{
    struct listing_files list = {.symbols = asking->questions->symbols};
    struct job_place place;
    struct tree *answer;
    struct maker maker;
    bool wait;

    if (!asking->last || asking->view.state != JOB_RUNNING)
        return question_reason(asking, "stale");
    if ((!asking->helps && checkpoint_is_coming(asking)) ||
        node_files_each(asking->questions, &asking->view, asking->now, file_ignore, NULL))
        return question_wait(asking);
    textmap_init(&list.names, 0);
    question_place(asking, &place);
    wait = !asking->helps && jobfiles_each(asking->questions->files, &place, manifest_checkpoint, &list) < 0;
    wait = node_files_each(asking->questions, &asking->view, asking->now, manifest_node_file, &list) || wait;
    job_inputs(asking->view.ad, manifest_input, &list);
    if (wait) { /* an incomplete list would be taken for complete */
        answer = question_wait(asking);
    } else {
        if (!asking->helps)
            try_reads(asking);
        maker_init(&maker, asking->questions->symbols);
        maker_text(&maker, "Reason", "ok");
        maker_list(&maker, "Files", list.ads, list.count);
        answer = maker_seal(&maker);
    }
    for (uint32_t i = 0; i < list.count; i++)
        tree_unref(list.ads[i]);
    free(list.ads);
    textmap_done(&list.names);
    free((char *)(uintptr_t)place.iwd);
    return answer;
}

/* -------------------------------------------------------------------------------------------------------------- fetch */

struct wanted {
    const char *hash;
    bool input;
    char *checkpoint; /* its name */
    struct asking *asking;
    int fd; /* of another node's file; or -1 */
    int error;
};

static void wanted_node_file(void *user, const struct job_place *place, const struct job_file *file)
{
    struct wanted *wanted = user;
    uint64_t size;
    bool whole;

    if (wanted->fd < 0 && !strcmp(file->hash, wanted->hash))
        wanted->fd = jobfiles_open(wanted->asking->questions->files, place, JOB_FILE_OUTPUT, file->name, &size, &whole);
    if (wanted->fd < 0 && !strcmp(file->hash, wanted->hash) && errno != ENOENT)
        wanted->error = errno;
}

static bool wanted_input(void *user, const struct job_input *input)
{
    struct wanted *wanted = user;

    wanted->input = !strcmp(input->hash, wanted->hash);
    return !wanted->input;
}

static void wanted_checkpoint(void *user, const struct job_file *file)
{
    struct wanted *wanted = user;

    if (file->kind == JOB_FILE_CHECKPOINT && file->whole && !wanted->checkpoint && !strcmp(file->hash, wanted->hash))
        wanted->checkpoint = mem_dup(file->name, strlen(file->name));
}

/* Opens a file of the job's manifest; -1 and errno: ENOENT when none has that hash, else it cannot be opened now. */
static int fetch_open(struct asking *asking, const char *hash)
{
    struct wanted wanted = {.hash = hash, .asking = asking, .fd = -1};
    struct job_place place;
    uint64_t size;
    bool whole;
    int fd = -1;

    job_inputs(asking->view.ad, wanted_input, &wanted);
    if (wanted.input)
        return spool_open(asking->questions->spool, hash);
    if (node_files_each(asking->questions, &asking->view, asking->now, wanted_node_file, &wanted))
        wanted.error = EAGAIN;
    if (wanted.fd >= 0 || asking->helps || wanted.error) {
        errno = wanted.error ? wanted.error : ENOENT;
        return wanted.fd;
    }
    question_place(asking, &place);
    if (jobfiles_each(asking->questions->files, &place, wanted_checkpoint, &wanted) < 0)
        wanted.error = errno;
    errno = wanted.error ? wanted.error : ENOENT;
    if (wanted.checkpoint)
        fd = jobfiles_open(asking->questions->files, &place, JOB_FILE_CHECKPOINT, wanted.checkpoint, &size, &whole);
    wanted.error = errno;
    free(wanted.checkpoint);
    free((char *)(uintptr_t)place.iwd);
    errno = wanted.error;
    return fd;
}

struct tree *question_fetch(struct asking *asking)
{
    char hash[HASH_DIGITS + 1] = "", *bytes;
    const char *text;
    int64_t offset = 0, length = QUESTION_BYTES_MAX;
    struct maker maker;
    bool ahead = false;
    struct buf coded;
    ssize_t got;
    size_t len;
    off_t size;
    int fd;

    if (!asking->last || asking->view.state != JOB_RUNNING)
        return question_reason(asking, "stale");
    if (!ad_string(asking->question, "Hash", &text, &len) || !hash_is_good(text, len) ||
        !ad_integer(asking->question, "Offset", &offset) || offset < 0 ||
        !ad_integer(asking->question, "Length", &length) || length < 0)
        return question_reason(asking, "invalid");
    memcpy(hash, text, HASH_DIGITS);
    fd = ad_flag(asking->question, "Ahead", &ahead) && ahead ? ahead_open(asking, hash) : fetch_open(asking, hash);
    if (fd < 0)
        return errno == ENOENT ? question_reason(asking, "unknown") : question_wait(asking);
    if (length > QUESTION_BYTES_MAX)
        length = QUESTION_BYTES_MAX;
    bytes = mem_alloc((size_t)length + 1);
    got = pread(fd, bytes, (size_t)length, offset);
    size = lseek(fd, 0, SEEK_END);
    close(fd);
    if (got < 0 || size < 0) {
        free(bytes);
        return question_wait(asking);
    }
    asking->one->taken += got;
    asking->questions->taken += (uint64_t)got;
    buf_init(&coded);
    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", "ok");
    maker_integer(&maker, "Size", size);
    base64url_print(&coded, bytes, (size_t)got);
    maker_bytes(&maker, "Bytes", coded.len ? coded.text : "", coded.len);
    buf_done(&coded);
    free(bytes);
    return maker_seal(&maker);
}

/* -------------------------------------------------------------------------------------------------------------- store */

/* "name": that file cannot be taken, and the provider goes on to the next. */
static const char *const result_words[] = {[PIECE_MORE] = "ok",  [PIECE_WHOLE] = "ok",  [PIECE_HASH] = "hash",
                                           [PIECE_BAD] = "name", [PIECE_DISK] = "disk", [PIECE_FULL] = "name"};

/* Reads the piece in a question; false when it is malformed. The bytes go to `bytes`. */
static bool piece_read(const struct tree *question, struct buf *bytes, char hash[HASH_DIGITS + 1], struct piece *ret)
{
    const char *text;
    int64_t offset;
    size_t len;

    *ret = (struct piece){.size = -1};
    if (!ad_integer(question, "Offset", &offset) || offset < 0 || !ad_integer(question, "Size", &ret->size) ||
        ret->size < -1 || !ad_string(question, "Bytes", &text, &len) || !base64url_read(bytes, text, len))
        return false;
    ret->offset = (uint64_t)offset;
    ret->bytes = bytes->text;
    ret->len = bytes->len;
    if (ad_string(question, "Hash", &text, &len) && len) {
        if (!hash_is_good(text, len))
            return false;
        memcpy(hash, text, HASH_DIGITS);
        ret->hash = hash;
    }
    return ret->hash || ret->size < 0 || ret->offset + ret->len < (uint64_t)ret->size;
}

/* What a member beside the leader leaves: what it has written, NAME.NUMBER. Its permit is that of NAME. */
static enum permit member_permit(const struct asking *asking, enum job_file_kind kind, const char *name,
                                 const char **ret_why)
{
    char end[16], stream[CONFINED_NAME_MAX + 1];
    size_t len = strlen(name), tail = (size_t)snprintf(end, sizeof end, ".%u", (unsigned)asking->number);

    *ret_why = "a member of a gang leaves what it has written, and nothing else";
    if (len <= tail || strcmp(name + len - tail, end) != 0)
        return PERMIT_NO;
    snprintf(stream, sizeof stream, "%.*s", (int)(len - tail), name);
    if (kind != JOB_FILE_LOG && !(kind == JOB_FILE_OUTPUT && permits_streams(question_permits_of(asking), stream)))
        return PERMIT_NO;
    return permits_look(question_permits_of(asking), kind, stream, ret_why);
}

/* The last try may store any kind; an earlier one only checkpoints that the last one waits for. */
static bool may_store(const struct asking *asking, int kind)
{
    const struct job_attempt *last = attempts_last(asking->questions->tries, asking->view.id);

    if (asking->member)
        return asking->last && !asking->one->finished && !asking->member->finished;
    return asking->last ? !asking->one->finished : kind == JOB_FILE_CHECKPOINT && !last->read;
}

static struct tree *store_answer(const struct asking *asking, enum piece_result result, uint64_t have,
                                 const char *words)
{
    struct maker maker;

    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", result_words[result]);
    maker_integer(&maker, "Have", (int64_t)have);
    maker_text(&maker, "Words", words);
    return maker_seal(&maker);
}

/* The job does not leave such a file: that is told, but only so often. */
static struct tree *store_refuse(struct asking *asking, const char *name, const char *why)
{
    char words[CONFINED_NAME_MAX + 128];

    snprintf(words, sizeof words, "%s: %s", name, why);
    question_tell_files(asking, NEWS_REFUSED, words);
    return store_answer(asking, PIECE_BAD, 0, why);
}

/* A file that can never be taken is noted as missing; one that cannot be taken now comes again. */
static void store_tell(struct asking *asking, const struct job_leaving *leaving, enum piece_result result,
                       const struct err *err)
{
    const char *why = err->text[0] ? err->text : "it cannot be a file here";
    struct err ignored;

    asking->one->heard = asking->now;
    if (result == PIECE_DISK || (result == PIECE_WHOLE && err->text[0]))
        question_tell_files(asking, NEWS_TROUBLE, err->text);
    if (result == PIECE_FULL || result == PIECE_BAD) {
        missing_add(&asking->one->missing, leaving->name, strlen(leaving->name), why, strlen(why));
        attempts_store(asking->questions->tries, asking->view.id, &ignored);
        question_tell(asking, NEWS_MESSAGE, NULL);
    }
    if (result == PIECE_WHOLE || result == PIECE_MORE)
        question_tell(asking, result == PIECE_WHOLE ? NEWS_WHOLE : NEWS_FILE, leaving->name);
}

static struct tree *store_piece(struct asking *asking, enum job_file_kind kind, const char *name,
                                const struct piece *piece)
{
    const struct permits *permits = question_permits_of(asking);
    struct job_leaving leaving = {.kind = kind, .name = name, .bytes = permits_bytes(permits)};
    struct job_place place;
    enum piece_result result;
    int64_t mode = 0644;
    struct err err = {0};
    const char *why;
    uint64_t have;
    struct buf to;

    leaving.permit = asking->member ? member_permit(asking, kind, name, &why) : permits_look(permits, kind, name, &why);
    if (asking->one->members.count)
        leaving.bytes = leaving.bytes < UINT64_MAX / ATTEMPT_MEMBERS_MAX ? leaving.bytes * asking->one->members.count
                                                                         : leaving.bytes;
    if (leaving.permit == PERMIT_NO)
        return store_refuse(asking, name, why);
    ad_integer(asking->question, "Mode", &mode);
    leaving.mode = (unsigned)mode;
    buf_init(&to);
    if (kind == JOB_FILE_OUTPUT && permits_to(permits, name, &to))
        leaving.to = buf_string(&to);
    question_place(asking, &place);
    result = jobfiles_store(asking->questions->files, &place, &leaving, piece, &have, &err);
    leaving.to = NULL;
    buf_done(&to);
    free((char *)(uintptr_t)place.iwd);
    if (result == PIECE_WHOLE || result == PIECE_MORE) {
        asking->one->brought += (int64_t)piece->len;
        asking->questions->brought += piece->len;
    }
    store_tell(asking, &leaving, result, &err);
    return store_answer(asking, result, have, err.text[0] ? err.text : NULL);
}

struct tree *question_store(struct asking *asking)
{
    char hash[HASH_DIGITS + 1] = "", name[CONFINED_NAME_MAX + 1] = "";
    struct tree *answer;
    struct piece piece;
    const char *text;
    struct buf bytes;
    size_t len;
    int kind;

    kind = ad_string(asking->question, "Kind", &text, &len) ? job_file_kind(text, len) : -1;
    if (kind < 0)
        return question_reason(asking, "invalid");
    if (!ad_string(asking->question, "Name", &text, &len) || !confined_name_is_good(text, len))
        return question_reason(asking, "name");
    memcpy(name, text, len);
    if (!may_store(asking, kind))
        return question_reason(asking, "stale");
    buf_init(&bytes);
    answer = piece_read(asking->question, &bytes, hash, &piece)
                 ? store_piece(asking, (enum job_file_kind)kind, name, &piece)
                 : question_reason(asking, "invalid");
    buf_done(&bytes);
    return answer;
}
