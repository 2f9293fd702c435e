/* job_wants.c: what a job's ad says of what must be on its machine. */
#include "pool/protocol/job_wants.h"

#include "lang/ad/get.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "pool/protocol/writers.h"

#include <string.h>

#define NEEDS "Needs"
#define IMAGE "Image"
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

    if (!len || len > IMAGE_MAX)
        return false;
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
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i].end);

        if (len > end && !memcmp(image + len - end, ends[i].end, end))
            return ends[i].sort;
    }
    return "oci";
}

bool job_has_wants(const struct tree *ad)
{
    const struct expr *needs = ad_find(ad, NEEDS);

    return (needs && needs->kind == EXPR_LIST && needs->u.run.count) || ad_find(ad, IMAGE);
}

/* Appends a clause: the machine's list has the folder, or one that it lies in. */
static void folder_clause(struct buf *out, const char *list, const char *path, size_t len)
{
    const char *before = "(";

    while (len > 1 && path[len - 1] == '/')
        len--;
    for (size_t end = 1; end <= len; end++) {
        if (end < len && path[end] != '/')
            continue;
        buf_addf(out, "%sisMember(", before);
        print_string(out, path, end, PRINT_PLAIN);
        buf_addf(out, ", other.%s)", list);
        before = " || ";
    }
    buf_addc(out, ')');
}

static void image_clause(struct buf *out, const char *image, size_t len)
{
    const char *sort = job_image_sort(image, len);

    if (*image == '/')
        folder_clause(out, "ImageFolders", image, len);
    else
        buf_addf(out, "isMember(\"%s\", other.Images)", sort);
}

static void clauses_print(struct buf *out, const struct tree *ad)
{
    const struct expr *needs = ad_find(ad, NEEDS), *parts = needs ? tree_parts(ad, needs) : NULL;
    uint32_t count = needs ? needs->u.run.count : 0;
    const char *image;
    size_t len;

    for (uint32_t i = 0; i < count; i++) {
        buf_adds(out, i ? " && " : "");
        folder_clause(out, "Visible", tree_string(ad, &parts[i]), parts[i].u.run.count);
    }
    if (ad_string(ad, IMAGE, &image, &len)) {
        buf_adds(out, count ? " && " : "");
        image_clause(out, image, len);
    }
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
