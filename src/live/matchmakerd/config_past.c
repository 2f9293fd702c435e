/* config_past.c: revisions of the pool's configuration, as rows on the shelf. */
#include "live/matchmakerd/config_past.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/form/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The keys of a section's revisions lie behind one another. */
static size_t revision_key(const char *section, uint64_t number, char out[SHELF_KEY_MAX + 1])
{
    int len = snprintf(out, SHELF_KEY_MAX + 1, "%s/%016" PRIx64, section, number);

    return len > SHELF_KEY_MAX ? SHELF_KEY_MAX : (size_t)len;
}

struct revisions {
    const char *section;
    struct symbols *symbols;
    config_past_fn *each;
    void *user;
};

static bool revision_row(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    const struct revisions *revisions = user;
    size_t section = strlen(revisions->section);
    struct tree *ad;
    struct err err;

    if (key_len != section + 17 || memcmp(key, revisions->section, section) != 0 || ((const char *)key)[section] != '/')
        return false;
    ad = form_parse(revisions->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);
    if (ad)
        revisions->each(revisions->user, ad);
    tree_unref(ad);
    return true;
}

int config_past_each(struct shelf *shelf, const char *section, struct symbols *symbols, config_past_fn *each,
                     void *user, struct err *err)
{
    struct revisions revisions = {section, symbols, each, user};
    char key[SHELF_KEY_MAX + 1];
    size_t len = revision_key(section, 0, key);

    return shelf->kind->each_after(shelf, CONFIG_PAST_SPACE, key, len, revision_row, &revisions, err);
}

/* ------------------------------------------------------------------------------------------------------------- finding */

struct finding {
    uint64_t number; /* 0: the last */
    struct tree *found;
};

static void revision_take(void *user, const struct tree *revision)
{
    struct finding *finding = user;
    int64_t number;

    if (!ad_integer(revision, "Number", &number) || (finding->number && (uint64_t)number != finding->number))
        return;
    tree_unref(finding->found);
    finding->found = tree_ref((struct tree *)(uintptr_t)revision);
}

int config_past_find(struct shelf *shelf, const char *section, uint64_t number, struct symbols *symbols,
                     struct tree **ret, struct err *err)
{
    struct finding finding = {number, NULL};

    if (config_past_each(shelf, section, symbols, revision_take, &finding, err) < 0) {
        tree_unref(finding.found);
        return -1;
    }
    *ret = finding.found;
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- adding */

struct ends {
    int64_t first, last;
    uint32_t count;
};

static void ends_note(void *user, const struct tree *revision)
{
    struct ends *ends = user;
    int64_t number;

    if (!ad_integer(revision, "Number", &number))
        return;
    ends->first = ends->count++ ? ends->first : number;
    ends->last = number;
}

static int revision_put(struct shelf *shelf, const char *section, int64_t number, const struct tree *ad,
                        struct symbols *symbols, const char *by, int64_t time, struct err *err)
{
    char key[SHELF_KEY_MAX + 1];
    struct tree *revision;
    struct maker maker;
    struct buf text;
    int failed;

    maker_init(&maker, symbols);
    maker_integer(&maker, "Number", number);
    if (by) {
        maker_integer(&maker, "Time", time);
        maker_text(&maker, "By", by);
    }
    maker_ad(&maker, "Section", ad);
    revision = maker_seal(&maker);
    buf_init(&text);
    failed = form_write_ad(&text, FORM_CLASSAD, revision, err);
    tree_unref(revision);
    if (!failed)
        failed = shelf->kind->put(shelf, CONFIG_PAST_SPACE, key, revision_key(section, (uint64_t)number, key),
                                  text.text, text.len, err);
    buf_done(&text);
    return failed;
}

int config_past_add(struct shelf *shelf, const char *section, const struct tree *before, const struct tree *ad,
                    struct symbols *symbols, const char *by, int64_t time, struct err *err)
{
    char key[SHELF_KEY_MAX + 1];
    struct ends ends = {0};

    if (config_past_each(shelf, section, symbols, ends_note, &ends, err) < 0)
        return -1;
    if (!ends.count && before) {
        ends.first = ends.last = ends.count = 1;
        if (revision_put(shelf, section, 1, before, symbols, NULL, 0, err) < 0)
            return -1;
    }
    if (revision_put(shelf, section, ends.last + 1, ad, symbols, by, time, err) < 0)
        return -1;
    return ends.count < CONFIG_PAST_MAX ? 0
                                        : shelf->kind->remove(shelf, CONFIG_PAST_SPACE, key,
                                                              revision_key(section, (uint64_t)ends.first, key), err);
}
