/* missing_files.c: what a try was to bring and did not. */
#include "live/data/missing_files.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "sys/confined_path.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_NAMES 10 /* in a line of the log */

void missing_done(struct missing *missing)
{
    for (uint32_t i = 0; i < missing->known; i++) {
        free(missing->files[i].name);
        free(missing->files[i].why);
    }
    free(missing->files);
    *missing = (struct missing){.count = 0};
}

/* Copies a text so that it can be shown. */
static char *text_keep(const char *text, size_t len, size_t max)
{
    char *copy;

    while (len > max || (len && len == max && ((unsigned char)text[len - 1] & 0xc0) == 0x80))
        len--;
    copy = mem_dup(text, len);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
            copy[i] = '?';
    return copy;
}

void missing_add(struct missing *missing, const char *name, size_t name_len, const char *why, size_t why_len)
{
    char *kept = text_keep(name, name_len, CONFINED_NAME_MAX);

    for (uint32_t i = 0; i < missing->known; i++)
        if (!strcmp(missing->files[i].name, kept)) {
            free(kept);
            return;
        }
    missing->count += missing->count < INT64_MAX;
    if (missing->known == MISSING_NAMES) {
        free(kept);
        return;
    }
    if (!missing->files)
        missing->files = mem_alloc(MISSING_NAMES * sizeof *missing->files);
    missing->files[missing->known++] = (struct missing_file){kept, text_keep(why, why_len, MISSING_WHY_MAX)};
}

void missing_words(const struct missing *missing, struct buf *out)
{
    uint32_t shown = missing->known < WORDS_NAMES ? missing->known : WORDS_NAMES;

    if (!missing->count)
        return;
    buf_addf(out, "%lld %s missing", (long long)missing->count, missing->count == 1 ? "file is" : "files are");
    for (uint32_t i = 0; i < shown; i++)
        buf_addf(out, "%s%s%s%s", i ? "; " : ": ", missing->files[i].name, *missing->files[i].why ? ": " : "",
                 missing->files[i].why);
    if (missing->count > shown)
        buf_addf(out, "; and %lld more", (long long)missing->count - shown);
}

struct tree *missing_ad(struct symbols *symbols, const struct missing *missing)
{
    struct tree *files[MISSING_NAMES];
    struct maker maker;

    if (!missing->count)
        return NULL;
    for (uint32_t i = 0; i < missing->known; i++) {
        maker_init(&maker, symbols);
        maker_text(&maker, "Name", missing->files[i].name);
        maker_text(&maker, "Why", missing->files[i].why);
        files[i] = maker_seal(&maker);
    }
    maker_init(&maker, symbols);
    maker_integer(&maker, "Count", missing->count);
    maker_list(&maker, "Files", files, missing->known);
    for (uint32_t i = 0; i < missing->known; i++)
        tree_unref(files[i]);
    return maker_seal(&maker);
}

void missing_read(struct missing *missing, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Files");
    int64_t count;

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count && i < MISSING_NAMES; i++) {
        struct tree *one = ad_part(ad, &tree_parts(ad, list)[i]);
        const char *name, *why = "";
        size_t name_len, why_len = 0;

        if (tree_is_ad(one) && ad_string(one, "Name", &name, &name_len)) {
            ad_string(one, "Why", &why, &why_len);
            missing_add(missing, name, name_len, why, why_len);
        }
        tree_unref(one);
    }
    if (ad_integer(ad, "Count", &count) && count > missing->count)
        missing->count = count;
}
