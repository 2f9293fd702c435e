/* api_files.c: the log of a job, and its files. */
#include "live/customerd/audited.h"
#include "live/customerd/customerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_BYTES "application/octet-stream"

/* A job, found in the role or in the history. */
struct found {
    struct job_place place;
    int64_t submitted, changed;
    bool over; /* nothing more will come */
    char *iwd; /* owned */
    char words[128];
};

static bool found_in_role(const struct request *request, uint64_t id, struct found *ret)
{
    const struct customerd *customerd = request_customerd(request);
    const struct job_attempt *last = attempts_last(customerd->tries, id);
    struct job_view view;

    if (!customer_job(customerd->customer, id, &view) || !caller_sees(request, view.owner, strlen(view.owner)))
        return false;
    ret->submitted = view.submitted;
    ret->changed = view.changed;
    if (last) {
        ret->place.claim = last->claim;
        ret->place.number = last->number;
    }
    ret->iwd = job_iwd(view.ad);
    ret->over = job_standing_is_end(job_standing(&view, last)) && (!last || last->finished);
    if (view.state != JOB_IDLE && view.state != JOB_RUNNING)
        snprintf(ret->words, sizeof ret->words, "%s",
                 view.state == JOB_HELD      ? "held"
                 : view.state == JOB_REMOVED ? "removed"
                 : view.state == JOB_ABORTED ? "given up"
                                             : "ended");
    return true;
}

static bool found_in_history(const struct request *request, uint64_t id, struct found *ret)
{
    struct tree *ad = history_ad(request_customerd(request)->history, id);
    const char *owner, *state;
    size_t len;
    bool good =
        ad && (caller_sees_all(request) || (ad_string(ad, "Owner", &owner, &len) && caller_sees(request, owner, len)));

    if (good) {
        ad_integer(ad, "Submitted", &ret->submitted);
        ad_integer(ad, "Ended", &ret->changed);
        ad_word(ad, "LastClaim", &ret->place.claim);
        ad_word(ad, "LastNumber", &ret->place.number);
        ret->iwd = job_iwd(ad);
        ret->over = true;
        if (ad_string(ad, "State", &state, &len))
            snprintf(ret->words, sizeof ret->words, "%.*s", (int)len, state);
    }
    tree_unref(ad);
    return good;
}

/* The job that the path names; false after a problem was answered. */
static bool found_job(struct request *request, struct found *ret)
{
    uint64_t id = request_job(request);

    *ret = (struct found){.place = {.job = id}};
    if (!found_in_role(request, id, ret) && !found_in_history(request, id, ret)) {
        job_missing(request, id);
        return false;
    }
    ret->place.iwd = ret->iwd;
    return true;
}

static void answer_bytes(struct request *request, const char *type, const struct buf *bytes, uint64_t size, bool whole)
{
    char digits[24];
    struct http_field fields[] = {{"Berth-Size", digits}, {"Berth-Whole", whole ? "true" : "false"}};

    snprintf(digits, sizeof digits, "%llu", (unsigned long long)size);
    request_answer(request, 200, type, bytes->len ? bytes->text : "", bytes->len, fields, 2);
}

void api_job_log(struct request *request)
{
    struct found found;
    uint64_t offset, size;
    struct buf text;

    if (!request_number(request, "offset", 0, INT64_MAX, 0, &offset) || !found_job(request, &found))
        return;
    buf_init(&text);
    size = joblog_read(request_customerd(request)->files, found.place.job, found.submitted, found.changed,
                       *found.words ? found.words : NULL, offset, CUSTOMERD_READ_MAX, &text);
    if (text.len || found.over || !request_watches(request, found.place.job))
        answer_bytes(request, TYPE_TEXT, &text, size, found.over);
    buf_done(&text);
    free(found.iwd);
}

struct file_list {
    struct request *request;
    struct listing listing;
    struct buf out;
};

static void file_add(void *user, const struct job_file *file)
{
    struct file_list *list = user;
    struct maker maker;
    struct tree *ad;

    maker_init(&maker, request_customerd(list->request)->daemon.symbols);
    maker_text(&maker, "Name", file->name);
    maker_integer(&maker, "Size", (int64_t)file->size);
    maker_text(&maker, "Hash", *file->hash ? file->hash : NULL);
    maker_integer(&maker, "Mode", file->mode);
    maker_text(&maker, "Kind", job_file_word(file->kind));
    maker_flag(&maker, "Whole", file->whole);
    ad = maker_seal(&maker);
    listing_add(&list->listing, ad);
    tree_unref(ad);
}

void api_job_files(struct request *request)
{
    struct file_list list = {.request = request};
    struct found found;
    int failed;

    if (!found_job(request, &found))
        return;
    buf_init(&list.out);
    listing_begin(&list.listing, &list.out, request->form);
    failed = jobfiles_each(request_customerd(request)->files, &found.place, file_add, &list);
    listing_end(&list.listing);
    if (failed)
        request_problem(request, 503, "the files cannot be looked at: %s", strerror(errno));
    else
        request_answer(request, 200, media_type(request->form, &dialect_classic), list.out.len ? list.out.text : "",
                       list.out.len, NULL, 0);
    buf_done(&list.out);
    free(found.iwd);
}

/* Before its time, so that others find room. What is still on its way, or read by others of its workflow, stays. */
void api_job_files_drop(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    struct history_row row;
    struct audit_who who;
    struct found found;
    char digits[24];

    if (!found_job(request, &found))
        return;
    free(found.iwd);
    if (!history_find(customerd->history, found.place.job, &row)) {
        request_problem(
            request, 409,
            "the job is not in the history yet: it is not over, its files are still on their way, or others of its workflow read them");
        return;
    }
    jobfiles_clear(customerd->files, found.place.job);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)found.place.job);
    audit_who(request, &who);
    customer_audit(customerd, &who, "jobs.files.drop", digits, NULL);
    customerd_commit(customerd);
    request_answer(request, 204, NULL, NULL, 0, NULL, 0);
}

/* Answers with bytes of the file; a file that does not exist yet may come while the job goes on. What a job that is over never wrote is whole for a reader
 * who follows it: there is no more to come, and nothing to ask again for. */
static void file_answer(struct request *request, const struct found *found, enum job_file_kind kind, uint64_t offset)
{
    uint64_t size = 0;
    bool whole = false;
    struct buf bytes;
    ssize_t got = 0;
    int fd = jobfiles_open(request_customerd(request)->files, &found->place, kind, request_variable(request, 2), &size,
                           &whole);

    if (fd < 0 && errno != ENOENT) {
        request_problem(request, 503, "the file cannot be opened: %s", strerror(errno));
        return;
    }
    if (fd < 0 && (!request_query(request, "wait") || (found->over && kind != JOB_FILE_LOG))) {
        request_problem(request, 404, "there is no such file");
        return;
    }
    whole = whole || found->over;
    buf_init(&bytes);
    if (fd >= 0) {
        if (offset < size)
            got = pread(fd, buf_reserve(&bytes, CUSTOMERD_READ_MAX), CUSTOMERD_READ_MAX, (off_t)offset);
        close(fd);
    }
    if (got > 0)
        bytes.len = (size_t)got;
    if (got < 0)
        request_problem(request, 503, "the file cannot be read");
    else if (bytes.len || whole || !request_watches(request, found->place.job))
        answer_bytes(request, TYPE_BYTES, &bytes, size, whole);
    buf_done(&bytes);
}

void api_job_file(struct request *request)
{
    int kind = job_file_kind(request_variable(request, 1), strlen(request_variable(request, 1)));
    struct found found;
    uint64_t offset;

    if (!request_number(request, "offset", 0, INT64_MAX, 0, &offset) || !found_job(request, &found))
        return;
    if (kind < 0 || !confined_name_is_good(request_variable(request, 2), strlen(request_variable(request, 2))))
        request_problem(request, 404, "there is no such file");
    else
        file_answer(request, &found, (enum job_file_kind)kind, offset);
    free(found.iwd);
}
