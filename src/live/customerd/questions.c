/* questions.c: what providers ask about the files of a job, and the answers. */
#include "live/customerd/questions.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/customerd/node_files.h"
#include "live/data/stored.h"
#include "live/world/runner.h"
#include "pool/claim/duty.h"
#include "pool/protocol/ticket.h"
#include "sys/confined_path.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNMADE_TOLD 10 /* names */

/* One question at hand. */
struct asking {
    struct questions *questions;
    const struct tree *question;
    struct job_view view;
    struct job_attempt *one;
    bool last;  /* it is the job's last try */
    bool helps; /* a member of the gang asks that is not its leader: it may read inputs, and nothing else */
    int64_t now;
};

static struct tree *answer_reason(const struct asking *asking, const char *reason)
{
    struct maker maker;

    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", reason);
    return maker_seal(&maker);
}

static void tell(const struct asking *asking, enum question_news news, const char *words)
{
    asking->questions->news(asking->questions->user, &asking->view, asking->one, news, words);
}

/* Trouble with files, or files that are refused: not without end. */
static void tell_files(const struct asking *asking, enum question_news news, const char *words)
{
    if (asking->one->told < QUESTION_TOLD)
        tell(asking, news, words);
    else if (asking->one->told == QUESTION_TOLD)
        tell(asking, NEWS_TROUBLE, "there is more of it, which is not told");
    asking->one->told += asking->one->told <= QUESTION_TOLD;
}

static void place_of(const struct asking *asking, struct job_place *ret)
{
    *ret = (struct job_place){.job = asking->view.id,
                              .claim = asking->one->claim,
                              .number = asking->one->number,
                              .iwd = job_iwd(asking->view.ad)};
}

static struct tree *answer_wait(const struct asking *asking)
{
    struct maker maker;

    maker_init(&maker, asking->questions->symbols);
    maker_text(&maker, "Reason", "wait");
    maker_integer(&maker, "Pause", QUESTION_PAUSE);
    return maker_seal(&maker);
}

/* ------------------------------------------------------------------------------------------------------------ permits */

static void permits_forget(struct question_permits *kept)
{
    permits_free(kept->permits);
    tree_unref(kept->ad);
    *kept = (struct question_permits){.permits = NULL};
}

void questions_done(struct questions *questions)
{
    for (int i = 0; i < QUESTION_PERMITS; i++)
        permits_forget(&questions->permits[i]);
}

/* What the try may leave. The one that runs now is the one that the role counts. */
static const struct permits *permits_of(const struct asking *asking)
{
    const struct job_view *view = &asking->view;
    const struct job_attempt *one = asking->one;
    struct questions *questions = asking->questions;
    struct question_permits *kept = &questions->permits[0];
    bool current = view->claim == one->claim && view->number == one->number;

    for (int i = 0; i < QUESTION_PERMITS; i++) {
        struct question_permits *found = &questions->permits[i];

        if (found->permits && found->job == view->id && found->claim == one->claim && found->number == one->number &&
            found->ad == view->ad) {
            found->used = ++questions->clock;
            return found->permits;
        }
        if (found->used < kept->used)
            kept = found;
    }
    permits_forget(kept);
    *kept = (struct question_permits){
        .permits = permits_new(&(struct permits_try){.ad = view->ad,
                                                     .node = view->node,
                                                     .job = view->id,
                                                     .index = view->index,
                                                     .tries = current && view->begun ? view->begun : one->serial,
                                                     .now = asking->now}),
        .ad = tree_ref((struct tree *)(uintptr_t)view->ad),
        .job = view->id,
        .claim = one->claim,
        .number = one->number,
        .used = ++questions->clock};
    return kept->permits;
}

/* ----------------------------------------------------------------------------------------------------------- manifest */

struct listing_files {
    struct symbols *symbols;
    struct textmap names; /* of checkpoints: they come in the place of inputs */
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

/* What another node has made; of several the first of a name. */
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

/* The try before may still be sending what this one begins with. */
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

/* From now on its files are what they are: nothing of older tries is taken any more. */
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
    tell(asking, NEWS_MESSAGE, NULL);
}

static struct tree *ask_manifest(struct asking *asking)
{
    struct listing_files list = {.symbols = asking->questions->symbols};
    struct job_place place;
    struct tree *answer;
    struct maker maker;
    bool wait;

    if (!asking->last || asking->view.state != JOB_RUNNING)
        return answer_reason(asking, "stale");
    if ((!asking->helps && checkpoint_is_coming(asking)) ||
        node_files_each(asking->questions, &asking->view, asking->now, file_ignore, NULL))
        return answer_wait(asking);
    textmap_init(&list.names, 0);
    place_of(asking, &place);
    wait = !asking->helps && jobfiles_each(asking->questions->files, &place, manifest_checkpoint, &list) < 0;
    wait = node_files_each(asking->questions, &asking->view, asking->now, manifest_node_file, &list) || wait;
    job_inputs(asking->view.ad, manifest_input, &list);
    if (wait) { /* a list without what cannot be looked at now would be taken for all there is */
        answer = answer_wait(asking);
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
    int fd; /* of a file of another node; -1 */
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

/* A file that the job's manifest names; -1 and errno: ENOENT when that hash is none of them, else it cannot be opened now. */
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
    place_of(asking, &place);
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

static struct tree *ask_fetch(struct asking *asking)
{
    char hash[HASH_DIGITS + 1] = "", *bytes;
    const char *text;
    int64_t offset = 0, length = QUESTION_BYTES_MAX;
    struct maker maker;
    struct buf coded;
    ssize_t got;
    size_t len;
    off_t size;
    int fd;

    if (!asking->last || asking->view.state != JOB_RUNNING)
        return answer_reason(asking, "stale");
    if (!ad_string(asking->question, "Hash", &text, &len) || !hash_is_good(text, len) ||
        !ad_integer(asking->question, "Offset", &offset) || offset < 0 ||
        !ad_integer(asking->question, "Length", &length) || length < 0)
        return answer_reason(asking, "invalid");
    memcpy(hash, text, HASH_DIGITS);
    fd = fetch_open(asking, hash);
    if (fd < 0)
        return errno == ENOENT ? answer_reason(asking, "unknown") : answer_wait(asking);
    if (length > QUESTION_BYTES_MAX)
        length = QUESTION_BYTES_MAX;
    bytes = mem_alloc((size_t)length + 1);
    got = pread(fd, bytes, (size_t)length, offset);
    size = lseek(fd, 0, SEEK_END);
    close(fd);
    if (got < 0 || size < 0) {
        free(bytes);
        return answer_wait(asking);
    }
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

/* "name": of that file nothing can come, and the provider goes on to the next. */
static const char *const result_words[] = {[PIECE_MORE] = "ok",  [PIECE_WHOLE] = "ok",  [PIECE_HASH] = "hash",
                                           [PIECE_BAD] = "name", [PIECE_DISK] = "disk", [PIECE_FULL] = "name"};

/* What a question says of a piece; false when it says nothing good. The bytes go to `bytes`. */
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

/* The last try stores what it likes; one before it only what the last one waits for. */
static bool may_store(const struct asking *asking, int kind)
{
    const struct job_attempt *last = attempts_last(asking->questions->tries, asking->view.id);

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

/* It is not one that the job leaves: that is told, but not without end. */
static struct tree *store_refuse(struct asking *asking, const char *name, const char *why)
{
    char words[CONFINED_NAME_MAX + 128];

    snprintf(words, sizeof words, "%s: %s", name, why);
    tell_files(asking, NEWS_REFUSED, words);
    return store_answer(asking, PIECE_BAD, 0, why);
}

/* What could not be taken for good is missing; what could not be taken now comes again. */
static void store_tell(struct asking *asking, const struct job_leaving *leaving, enum piece_result result,
                       const struct err *err)
{
    const char *why = err->text[0] ? err->text : "it cannot be a file here";
    struct err ignored;

    asking->one->heard = asking->now;
    if (result == PIECE_DISK || (result == PIECE_WHOLE && err->text[0]))
        tell_files(asking, NEWS_TROUBLE, err->text);
    if (result == PIECE_FULL || result == PIECE_BAD) {
        missing_add(&asking->one->missing, leaving->name, strlen(leaving->name), why, strlen(why));
        attempts_store(asking->questions->tries, asking->view.id, &ignored);
        tell(asking, NEWS_MESSAGE, NULL);
    }
    if (result == PIECE_WHOLE || result == PIECE_MORE)
        tell(asking, result == PIECE_WHOLE ? NEWS_WHOLE : NEWS_FILE, leaving->name);
}

static struct tree *store_piece(struct asking *asking, enum job_file_kind kind, const char *name,
                                const struct piece *piece)
{
    const struct permits *permits = permits_of(asking);
    struct job_leaving leaving = {.kind = kind, .name = name, .bytes = permits_bytes(permits)};
    struct job_place place;
    enum piece_result result;
    int64_t mode = 0644;
    struct err err = {0};
    const char *why;
    uint64_t have;

    leaving.permit = permits_look(permits, kind, name, &why);
    if (leaving.permit == PERMIT_NO)
        return store_refuse(asking, name, why);
    ad_integer(asking->question, "Mode", &mode);
    leaving.mode = (unsigned)mode;
    place_of(asking, &place);
    result = jobfiles_store(asking->questions->files, &place, &leaving, piece, &have, &err);
    free((char *)(uintptr_t)place.iwd);
    store_tell(asking, &leaving, result, &err);
    return store_answer(asking, result, have, err.text[0] ? err.text : NULL);
}

static struct tree *ask_store(struct asking *asking)
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
        return answer_reason(asking, "invalid");
    if (!ad_string(asking->question, "Name", &text, &len) || !confined_name_is_good(text, len))
        return answer_reason(asking, "name");
    memcpy(name, text, len);
    if (!may_store(asking, kind))
        return answer_reason(asking, "stale");
    buf_init(&bytes);
    answer = piece_read(asking->question, &bytes, hash, &piece)
                 ? store_piece(asking, (enum job_file_kind)kind, name, &piece)
                 : answer_reason(asking, "invalid");
    buf_done(&bytes);
    return answer;
}

/* ------------------------------------------------------------------------------------------------- report and finish */

static void usage_read(const struct asking *asking)
{
    struct job_attempt *one = asking->one;
    double cpu = one->cpu, wall = one->wall, cpus;
    int64_t memory = one->memory, disk = one->disk;

    ad_number(asking->question, "Cpu", &cpu);
    ad_number(asking->question, "Wall", &wall);
    ad_integer(asking->question, "Memory", &memory);
    ad_integer(asking->question, "Disk", &disk);
    one->cpu = cpu >= 0 && cpu < 1e15 ? cpu : one->cpu;
    one->wall = wall >= 0 && wall < 1e15 ? wall : one->wall;
    one->memory = memory > one->memory ? memory : one->memory;
    one->disk = disk > one->disk ? disk : one->disk;
    if (ad_number(asking->question, "MayCpus", &cpus) && cpus > 0 && cpus < 1e9 &&
        ad_integer(asking->question, "MayMemory", &memory) && memory >= 0 &&
        ad_integer(asking->question, "MayDisk", &disk) && disk >= 0) {
        one->may_cpus = cpus;
        one->may_memory = memory;
        one->may_disk = disk;
    }
    one->heard = asking->now;
}

static struct tree *ask_report(struct asking *asking)
{
    struct job_attempt *one = asking->one;
    enum question_news news = NEWS_MESSAGE;
    const char *text;
    struct err err;
    size_t len;

    if (!asking->last)
        return answer_reason(asking, "stale");
    usage_read(asking);
    if (ad_string(asking->question, "Message", &text, &len))
        attempts_text(&one->message, text, len);
    if (ad_string(asking->question, "State", &text, &len)) {
        if (len == 7 && !memcmp(text, "running", 7) && !one->started) {
            one->started = asking->now;
            news = NEWS_RUNNING;
        } else if (len == 7 && !memcmp(text, "staging", 7) && !one->staging) {
            one->staging = true;
            news = NEWS_STAGING;
        }
    }
    if (attempts_store(asking->questions->tries, asking->view.id, &err) < 0)
        return NULL;
    tell(asking, news, one->message);
    if (ad_string(asking->question, "Trouble", &text, &len) && len <= TRY_MESSAGE_MAX) {
        char words[TRY_MESSAGE_MAX + 1];

        snprintf(words, sizeof words, "%.*s", (int)len, text);
        tell_files(asking, NEWS_TROUBLE, words);
    }
    return answer_reason(asking, "ok");
}

/* What the provider itself could not send. */
static void missing_told(const struct asking *asking)
{
    const struct expr *told = ad_find(asking->question, "Missing");
    struct tree *missing = told && told->kind == EXPR_AD ? ad_part(asking->question, told) : NULL;

    if (missing)
        missing_read(&asking->one->missing, missing);
    tree_unref(missing);
}

/* What the job names and has not made is no failure, but told. */
static void unmade_told(const struct asking *asking)
{
    const struct expr *told = ad_find(asking->question, "NotMade");
    struct tree *ad = told && told->kind == EXPR_AD ? ad_part(asking->question, told) : NULL;
    struct missing unmade = {.count = 0};
    struct buf words;

    if (!ad)
        return;
    missing_read(&unmade, ad);
    buf_init(&words);
    for (uint32_t i = 0; i < unmade.known && i < UNMADE_TOLD; i++)
        buf_addf(&words, "%s%s", i ? ", " : "the job has not made ", unmade.files[i].name);
    if (unmade.count > UNMADE_TOLD)
        buf_addf(&words, " and %lld more", (long long)unmade.count - UNMADE_TOLD);
    if (words.len)
        tell_files(asking, NEWS_TROUBLE, buf_string(&words));
    buf_done(&words);
    missing_done(&unmade);
    tree_unref(ad);
}

/* The provider forgets the try when it is told so: it has to be on disk first. */
static struct tree *ask_finish(struct asking *asking)
{
    struct shelf *shelf = asking->questions->shelf;
    bool again = asking->one->finished;
    int64_t transfers;
    const char *text;
    struct err err;
    size_t len;

    if (again)
        return answer_reason(asking, "ok");
    usage_read(asking);
    if (ad_integer(asking->question, "Transfers", &transfers) && transfers > 0) {
        int64_t most = (int64_t)permits_stored(permits_of(asking));

        asking->one->transfers = transfers < most ? transfers : most;
    }
    missing_told(asking);
    if (ad_string(asking->question, "Words", &text, &len))
        attempts_text(&asking->one->words, text, len);
    asking->one->finished = asking->now;
    if (attempts_store(asking->questions->tries, asking->view.id, &err) < 0 || shelf->kind->commit(shelf, &err) < 0)
        return NULL;
    unmade_told(asking);
    tell(asking, NEWS_FINISHED, asking->one->words);
    return answer_reason(asking, "ok");
}

static void stored_news(void *user, const char *words)
{
    tell(user, NEWS_STORED, words);
}

/* Only files that the job leaves for stores are told of. */
static bool stored_are_ours(const struct asking *asking)
{
    const struct expr *list = ad_find(asking->question, "Files");
    const struct permits *permits = permits_of(asking);
    int64_t total = 0;
    bool good = !ad_integer(asking->question, "Total", &total) || total <= (int64_t)permits_stored(permits);

    for (uint32_t i = 0; good && list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        struct tree *one = ad_part(asking->question, &tree_parts(asking->question, list)[i]);
        const char *name;
        size_t len;

        good = tree_is_ad(one) && ad_string(one, "Name", &name, &len) && permits_stores(permits, name, len);
        tree_unref(one);
    }
    return good;
}

/* The provider deletes what it is told "ok" for: it has to be on disk first. A job that waits again may yet take this try's result. */
static struct tree *ask_stored(struct asking *asking)
{
    struct shelf *shelf = asking->questions->shelf;
    struct tree *stored;
    struct err err;

    if (!asking->last)
        return answer_reason(asking, "stale");
    if (asking->view.state == JOB_IDLE)
        return answer_reason(asking, "wait");
    if (!stored_are_ours(asking))
        return answer_reason(asking, "invalid");
    stored = stored_merge(asking->questions->symbols, asking->one->stored, asking->question, stored_news, asking);
    if (!stored)
        return answer_reason(asking, "invalid");
    tree_unref(asking->one->stored);
    asking->one->stored = stored;
    asking->one->transfers = stored_count(stored).total;
    if (attempts_store(asking->questions->tries, asking->view.id, &err) < 0 || shelf->kind->commit(shelf, &err) < 0)
        return NULL;
    tell(asking, NEWS_MESSAGE, NULL);
    return answer_reason(asking, "ok");
}

/* ------------------------------------------------------------------------------------------------------------- asking */

static bool ask_is(const char *ask, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(ask, word, len);
}

static const struct {
    const char *ask;
    struct tree *(*answer)(struct asking *asking);
    bool reads; /* helpers may ask it too */
} rows[] = {
    {"manifest", ask_manifest, true}, {"fetch", ask_fetch, true},    {"store", ask_store, false},
    {"report", ask_report, false},    {"finish", ask_finish, false}, {"stored", ask_stored, false},
};

/* Who asks? Of a pair the agent that has the claim; of a gang the leader or a helper, by a pass that is its own: to whoever runs nothing, though
 * it has the claim, and to one who shows what is another's, nothing is told. False: a stranger. */
static bool asking_admits(struct asking *asking, const struct peer *peer)
{
    const struct job_attempt *one = asking->one;
    struct key shown, lead = one->pass, help;
    const char *text;
    size_t len;

    if (!ad_string(asking->question, "Pass", &text, &len))
        return (pass_is_none(&one->pass) || one->unbound) && one->member == peer->agent;
    if (len != 2 * (size_t)KEY_BYTES || !hex_read(text, len, shown.bytes, KEY_BYTES) || pass_is_none(&one->pass))
        return false;
    if (one->unbound) {
        duty_pass_help(&secrets_live, &one->pass, &help);
    } else {
        duty_pass_for(&secrets_live, &one->pass, peer->agent, false, &lead);
        duty_pass_for(&secrets_live, &one->pass, peer->agent, true, &help);
    }
    asking->helps = key_equal(&shown, &help);
    if (!asking->helps && !key_equal(&shown, &lead))
        return false;
    if (!asking->helps && ad_string(asking->question, "Provider", &text, &len) && len)
        attempts_text(&asking->one->provider, text, len); /* it runs there, whoever was claimed */
    return true;
}

/* The try that is meant: one that is known, or that the role knows and has not told of yet. NULL: none. */
static struct job_attempt *try_of(const struct asking *asking, uint64_t claim, uint64_t number)
{
    const struct job_view *view = &asking->view;
    struct job_attempt *one = attempts_find(asking->questions->tries, view->id, claim, number);
    bool made;

    if (!one && view->claim == claim && view->number == number && view->state == JOB_RUNNING)
        one = attempts_begin(asking->questions->tries, view->id, claim, number, view->member, asking->now, &made);
    if (one && pass_is_none(&one->pass) && view->claim == claim && view->number == number)
        one->pass = view->pass;
    return one;
}

struct tree *question_answer(struct questions *questions, const struct peer *peer, const struct tree *question)
{
    struct asking asking = {.questions = questions, .question = question, .now = runner_wall() / SECOND};
    struct tree *answer = NULL;
    uint64_t claim, number;
    const char *ask;
    int64_t job;
    size_t len;

    if (!ad_string(question, "Ask", &ask, &len) || !ad_word(question, "Claim", &claim) ||
        !ad_word(question, "Number", &number) || !ad_integer(question, "Job", &job))
        return NULL;
    /* What is over and written down is answered as finished: the provider has nothing more to do about it. */
    if (job <= 0 || !questions->job(questions->user, (uint64_t)job, &asking.view))
        return answer_reason(&asking, ask_is(ask, len, "finish") || ask_is(ask, len, "stored") ? "ok" : "stale");
    asking.one = try_of(&asking, claim, number);
    if (!asking.one)
        return answer_reason(&asking, "stale");
    if (!asking_admits(&asking, peer))
        return NULL;
    asking.last = asking.one == attempts_last(questions->tries, asking.view.id);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !answer; i++)
        if (ask_is(ask, len, rows[i].ask) && (rows[i].reads || !asking.helps))
            answer = rows[i].answer(&asking);
    return answer;
}
