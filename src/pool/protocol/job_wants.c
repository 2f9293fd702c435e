/* job_wants.c: what a job's ad says of what must be on its machine. */
#include "pool/protocol/job_wants.h"

#include "lang/ad/get.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "pool/protocol/image_ref.h"
#include "pool/protocol/job_urls.h"
#include "pool/protocol/writers.h"

#include <string.h>

#define NEEDS "Needs"
#define IMAGE "Image"
#define RUN_AS "RunAs"
#define OWNER "owner"
#define FOLDER_MAX 512 /* bytes of a path, as owners may have them */

/* Is it a path from the root, without `.` and `..`? A slash at its end does not matter. */
static bool is_folder(const char *path, size_t len)
{
    size_t part = 0;

    while (len > 1 && path[len - 1] == '/')
        len--;
    if (len < 2 || len > FOLDER_MAX || *path != '/' || memchr(path, '\0', len))
        return false;
    for (size_t i = 1; i <= len; i++) {
        if (i < len && path[i] != '/') {
            part++;
            continue;
        }
        if (!part || (path[i - part] == '.' && (part == 1 || (part == 2 && path[i - 1] == '.'))))
            return false;
        part = 0;
    }
    return true;
}

bool job_needs_are_good(const struct tree *ad, const struct expr *e)
{
    const struct expr *parts = e->kind == EXPR_LIST ? tree_parts(ad, e) : NULL;

    if (!parts || e->u.run.count > NEEDS_MAX)
        return false;
    for (uint32_t i = 0; i < e->u.run.count; i++)
        if (parts[i].kind != EXPR_STRING || !is_folder(tree_string(ad, &parts[i]), parts[i].u.run.count))
            return false;
    return true;
}

bool job_image_is_good(const struct tree *ad, const struct expr *e)
{
    const char *text = e->kind == EXPR_STRING ? tree_string(ad, e) : "";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;
    char rooted[IMAGE_MAX + 2] = "/";
    struct image_ref ref;
    struct err err;

    if (!len || len > IMAGE_MAX)
        return false;
    if (image_ref_is(text, len))
        return image_ref_read(text, len, &ref, &err) == 0;
    memcpy(rooted + 1, text, len);
    return *text == '/' ? is_folder(text, len) : is_folder(rooted, len + 1) && text[len - 1] != '/';
}

const char *job_image_sort(const char *image, size_t len)
{
    static const struct {
        const char *end, *sort;
    } ends[] = {
        {".sif", "sif"}, {".sqsh", "squashfs"}, {".squashfs", "squashfs"}, {".sqfs", "squashfs"}, {".sfs", "squashfs"}};

    if (len && *image == '/')
        return "folder";
    if (image_ref_is(image, len))
        return "docker";
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i].end);

        if (len > end && !memcmp(image + len - end, ends[i].end, end))
            return ends[i].sort;
    }
    return "oci";
}

bool job_run_as_is_good(const struct tree *ad, const struct expr *e)
{
    const char *text = e->kind == EXPR_STRING ? tree_string(ad, e) : "";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;

    return len == strlen(OWNER) && (!memcmp(text, OWNER, len) || !memcmp(text, "claim", len));
}

bool job_umask_is_good(const struct tree *ad, const struct expr *e)
{
    const char *text = e->kind == EXPR_STRING ? tree_string(ad, e) : "";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;

    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '7')
            return false;
    return len && (len <= 3 || (len == 4 && *text == '0'));
}

bool job_shares_files(const struct tree *ad)
{
    bool shares = false;

    return ad_flag(ad, "ShareFiles", &shares) && shares;
}

bool job_runs_as_owner(const struct tree *ad)
{
    const char *as;
    size_t len;

    return job_shares_files(ad) ||
           (ad_string(ad, RUN_AS, &as, &len) && len == strlen(OWNER) && !memcmp(as, OWNER, len));
}

bool job_has_wants(const struct tree *ad)
{
    const struct expr *needs = ad_find(ad, NEEDS);

    return (needs && needs->kind == EXPR_LIST && needs->u.run.count) || ad_find(ad, IMAGE) || job_urls_count(ad) ||
           ad_find(ad, JOB_URLS_OUT) || job_runs_as_owner(ad);
}

/* Appends that the machine's list has the folder, or one that it lies in. `begin`: what is before its first part. */
static void folder_print(struct buf *out, const char *list, size_t begin, const char *path, size_t len)
{
    const char *before = "";

    while (len > 1 && path[len - 1] == '/')
        len--;
    for (size_t end = begin; end <= len; end++) {
        if (end < len && path[end] != '/')
            continue;
        buf_addf(out, "%sisMember(", before);
        print_string(out, path, end, PRINT_PLAIN);
        buf_addf(out, ", other.%s)", list);
        before = " || ";
    }
}

/* Appends the same as a clause. `also`: a second list that may have it; or NULL. */
static void folder_clause(struct buf *out, const char *list, const char *also, size_t begin, const char *path,
                          size_t len)
{
    buf_addc(out, '(');
    folder_print(out, list, begin, path, len);
    buf_adds(out, also ? " || " : "");
    if (also)
        folder_print(out, also, begin, path, len);
    buf_addc(out, ')');
}

static void image_clause(struct buf *out, const char *image, size_t len)
{
    const char *sort = job_image_sort(image, len);
    struct image_ref ref;
    struct err err;

    if (image_ref_is(image, len) && image_ref_read(image, len, &ref, &err) == 0)
        folder_clause(out, "ImageSources", NULL, strlen(IMAGE_REF_BEGIN), ref.place, strlen(ref.place));
    else if (*image == '/')
        folder_clause(out, "ImageFolders", NULL, 1, image, len);
    else
        buf_addf(out, "isMember(\"%s\", other.Images)", sort);
}

/* Appends the clauses of a job that runs as the user who sent it, and begins where it was sent from if it shares its files. */
static void owner_clauses(struct buf *out, const struct tree *ad)
{
    const char *iwd;
    size_t len;

    buf_adds(out, out->len ? " && " : "");
    buf_adds(out, "other." RUN_AS " == \"" OWNER "\"");
    if (!job_shares_files(ad) || !ad_string(ad, "Iwd", &iwd, &len))
        return;
    buf_adds(out, " && ");
    folder_clause(out, "Writable", NULL, 1, iwd, len);
}

typedef bool url_get_fn(const struct tree *ad, uint32_t place, struct job_url *ret);

/* Was there a URL with that scheme before that place? */
static bool scheme_is_said(const struct tree *ad, url_get_fn *get, uint32_t place, const struct job_url *one)
{
    struct job_url before;

    for (uint32_t i = 0; i < place; i++)
        if (get(ad, i, &before) && before.scheme == one->scheme && !memcmp(before.url, one->url, one->scheme))
            return true;
    return false;
}

static void member_clause(struct buf *out, const char *scheme, size_t len, const char *list)
{
    buf_adds(out, out->len ? " && " : "");
    buf_addf(out, "isMember(\"%.*s\", other.%s)", (int)len, scheme, list);
}

/* Appends that the machine brings outputs to what their URLs are. */
static void urls_out_clauses(struct buf *out, const struct tree *ad)
{
    struct job_url one;
    bool put = false;

    if (ad_find(ad, JOB_URLS_OUT) && !job_urls_out_count(ad))
        member_clause(out, "put", 3, JOB_URLS_MACHINE); /* they differ between the jobs of the ad */
    for (uint32_t i = 0, count = job_urls_out_count(ad); i < count; i++) {
        if (!job_urls_out_get(ad, i, &one))
            continue;
        if (!job_url_is_web(&one) && !scheme_is_said(ad, job_urls_out_get, i, &one))
            member_clause(out, one.url, one.scheme, JOB_URLS_OUT_MACHINE);
        if (job_url_is_web(&one) && !put)
            member_clause(out, "put", 3, JOB_URLS_MACHINE);
        put = put || job_url_is_web(&one);
    }
}

/* Appends that the machine fetches what the job's URLs are, and shows it the folders of those that are its own. */
static void urls_clauses(struct buf *out, const struct tree *ad)
{
    static const char local[] = "file:///";
    struct job_url one;

    urls_out_clauses(out, ad);
    for (uint32_t i = 0, count = job_urls_count(ad); i < count; i++) {
        if (!job_urls_get(ad, i, &one))
            continue;
        if (!scheme_is_said(ad, job_urls_get, i, &one))
            member_clause(out, one.url, one.scheme, JOB_URLS_MACHINE);
        if (one.url_len > strlen(local) && !memcmp(one.url, local, strlen(local))) {
            buf_adds(out, out->len ? " && " : "");
            folder_clause(out, "Visible", NULL, 1, one.url + strlen(local) - 1, one.url_len - strlen(local) + 1);
        }
    }
}

static void clauses_print(struct buf *out, const struct tree *ad)
{
    const struct expr *needs = ad_find(ad, NEEDS), *parts = needs ? tree_parts(ad, needs) : NULL;
    uint32_t count = needs ? needs->u.run.count : 0;
    const char *image;
    size_t len;

    for (uint32_t i = 0; i < count; i++) {
        buf_adds(out, i ? " && " : "");
        folder_clause(out, "Visible", job_runs_as_owner(ad) ? "Writable" : NULL, 1, tree_string(ad, &parts[i]),
                      parts[i].u.run.count);
    }
    if (ad_string(ad, IMAGE, &image, &len)) {
        buf_adds(out, count ? " && " : "");
        image_clause(out, image, len);
    }
    urls_clauses(out, ad);
    if (job_runs_as_owner(ad))
        owner_clauses(out, ad);
}

/* Makes an ad with one attribute, whose expression is `text`. */
static struct tree *layer_make(const struct tree *ad, const char *name, const char *text, struct err *err)
{
    struct tree *layer;
    struct buf whole;

    buf_init(&whole);
    buf_addf(&whole, "[ %s = ", name);
    buf_adds(&whole, text);
    buf_adds(&whole, " ]");
    layer = form_parse(ad->symbols, ad->dialect, FORM_CLASSAD, NULL, buf_string(&whole), whole.len, err);
    buf_done(&whole);
    return layer;
}

/* Does the text end with the clauses, as an ad that was given its clauses before is printed? */
static bool ends_with(const struct buf *text, const struct buf *clauses)
{
    static const char and[] = " && ";
    size_t len = clauses->len + strlen(and);

    return text->len == clauses->len ? !memcmp(text->text, clauses->text, text->len)
                                     : text->len > len && !memcmp(text->text + text->len - len, and, strlen(and)) &&
                                           !memcmp(text->text + text->len - clauses->len, clauses->text, clauses->len);
}

struct tree *job_wants_set(const struct tree *ad, struct err *err)
{
    const struct expr *before = ad_find(ad, "Constraint");
    const char *name = before || !ad_find(ad, "Requirements") ? "Constraint" : "Requirements";
    struct tree *layer, *whole = NULL;
    struct buf clauses, text;

    before = before ? before : ad_find(ad, "Requirements");
    buf_init(&clauses);
    buf_init(&text);
    clauses_print(&clauses, ad);
    layer = layer_make(ad, name, buf_string(&clauses), err);
    if (layer && before) {
        buf_reset(&clauses);
        print_expr(&clauses, layer, ad_find(layer, name), PRINT_PLAIN);
        print_expr(&text, ad, before, PRINT_PLAIN);
        if (ends_with(&text, &clauses)) {
            whole = tree_ref((struct tree *)(uintptr_t)ad);
        } else {
            tree_unref(layer);
            buf_reset(&text);
            buf_addc(&text, '(');
            print_expr(&text, ad, before, PRINT_PLAIN);
            buf_adds(&text, ") && ");
            buf_add(&text, clauses.text, clauses.len);
            layer = layer_make(ad, name, buf_string(&text), err);
        }
    }
    if (layer && !whole)
        whole = ad_over(ad, layer, err);
    tree_unref(layer);
    buf_done(&clauses);
    buf_done(&text);
    return whole;
}
