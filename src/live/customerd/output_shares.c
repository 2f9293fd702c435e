/* output_shares.c: how much the jobs of each account have left at the customer.
 *
 * A row is written when a file is whole or has gone, and else for every ROW_BYTES: what grows is counted in memory. After a crash some bytes of files that
 * are still coming may be missing in the sum. */
#include "live/customerd/output_shares.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "lang/form/form.h"
#include "live/http/represent.h"
#include "pool/protocol/account.h"
#include "sys/secrets.h"

#include <stdlib.h>
#include <string.h>

#define ROW_BYTES (INT64_C(16) << 20)

struct share {
    uint64_t bytes, files;
};

struct leaver {
    uint32_t account; /* a place in `accounts` */
    uint64_t bytes, files;
    uint64_t written; /* bytes, as the row has them */
};

struct output_shares {
    struct shelf *shelf;
    struct symbols *symbols;
    struct textmap accounts;
    struct share *shares; /* by place */
    uint32_t room;
    struct map jobs; /* job -> struct leaver */
    uint32_t own;    /* a place */
    uint64_t most;
};

static uint32_t account_add(struct output_shares *shares, const char *name, size_t len)
{
    uint32_t known = shares->accounts.places, place = textmap_add(&shares->accounts, name, len);

    ARRAY_ROOM(shares->shares, place, shares->room, 16);
    if (place >= known)
        shares->shares[place] = (struct share){0, 0};
    return place;
}

static const struct share *share_of(const struct output_shares *shares, const char *owner)
{
    static const struct share none = {0, 0};
    uint32_t place = textmap_find(&shares->accounts, owner, account_len(owner, strlen(owner)));

    return place == TEXTMAP_NONE ? &none : &shares->shares[place];
}

static struct leaver *leaver_of(const struct output_shares *shares, uint64_t job)
{
    uint64_t value = map_find(&shares->jobs, job);

    return value == MAP_NONE ? NULL : (struct leaver *)(uintptr_t)value;
}

/* --------------------------------------------------------------------------------------------------------------- rows */

static void key_of(uint64_t job, unsigned char ret[8])
{
    for (int i = 0; i < 8; i++)
        ret[i] = (unsigned char)(job >> (56 - 8 * i));
}

/* A store that fails shows at the commit. */
static void row_write(struct output_shares *shares, uint64_t job, struct leaver *leaver)
{
    unsigned char key[8];
    struct maker maker;
    struct err ignored;
    struct tree *row;
    struct buf text;

    maker_init(&maker, shares->symbols);
    maker_text(&maker, "Who", textmap_text(&shares->accounts, leaver->account));
    maker_integer(&maker, "Bytes", (int64_t)leaver->bytes);
    maker_integer(&maker, "Files", (int64_t)leaver->files);
    row = maker_seal(&maker);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, row);
    tree_unref(row);
    key_of(job, key);
    shares->shelf->kind->put(shares->shelf, OUTPUTS_SPACE, key, sizeof key, text.text, text.len, &ignored);
    buf_done(&text);
    leaver->written = leaver->bytes;
}

static bool row_read(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct output_shares *shares = user;
    const unsigned char *bytes = key;
    int64_t size = 0, files = 0;
    struct leaver *leaver;
    struct err ignored;
    struct tree *row = form_parse(shares->symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &ignored);
    const char *who;
    uint64_t job = 0;
    size_t who_len;

    for (size_t i = 0; i < 8 && i < key_len; i++)
        job = job << 8 | bytes[i];
    if (row && ad_string(row, "Who", &who, &who_len) && ad_integer(row, "Bytes", &size) && size >= 0 &&
        ad_integer(row, "Files", &files) && files >= 0 && !leaver_of(shares, job)) {
        leaver = mem_alloc(sizeof *leaver);
        *leaver = (struct leaver){.account = account_add(shares, who, who_len),
                                  .bytes = (uint64_t)size,
                                  .files = (uint64_t)files,
                                  .written = (uint64_t)size};
        map_set(&shares->jobs, job, (uint64_t)(uintptr_t)leaver);
        shares->shares[leaver->account].bytes += leaver->bytes;
        shares->shares[leaver->account].files += leaver->files;
    }
    tree_unref(row);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- life */

struct output_shares *output_shares_new(struct shelf *shelf, struct symbols *symbols, const char *own, struct err *err)
{
    struct output_shares *shares = mem_alloc(sizeof *shares);

    *shares = (struct output_shares){.shelf = shelf, .symbols = symbols, .most = UINT64_MAX};
    textmap_init(&shares->accounts, secrets_word(&secrets_live));
    map_init(&shares->jobs, 0);
    shares->own = account_add(shares, own, account_len(own, strlen(own)));
    if (shelf->kind->each(shelf, OUTPUTS_SPACE, row_read, shares, err) < 0) {
        output_shares_free(shares);
        return NULL;
    }
    return shares;
}

void output_shares_free(struct output_shares *shares)
{
    uint64_t job, value;
    uint32_t at = 0;

    if (!shares)
        return;
    while (map_next(&shares->jobs, &at, &job, &value))
        free((struct leaver *)(uintptr_t)value);
    map_done(&shares->jobs);
    textmap_done(&shares->accounts);
    free(shares->shares);
    free(shares);
}

void output_shares_set_most(struct output_shares *shares, uint64_t bytes)
{
    shares->most = bytes;
}

uint64_t output_shares_bytes(const struct output_shares *shares, const char *owner)
{
    return share_of(shares, owner)->bytes;
}

/* ------------------------------------------------------------------------------------------------------------- changes */

static bool is_own(const struct output_shares *shares, const char *owner)
{
    return textmap_find(&shares->accounts, owner, account_len(owner, strlen(owner))) == shares->own;
}

/* With so much more, would there be as much left as it has then? */
static bool leaves_enough(uint64_t has, uint64_t more, uint64_t free)
{
    return free == UINT64_MAX || (more <= free && has <= free - more && more <= free - more - has);
}

bool output_shares_take(const struct output_shares *shares, const char *owner, uint64_t bytes, bool file,
                        const struct output_room *room, struct err *err)
{
    const struct share *share = share_of(shares, owner);
    int len = (int)account_len(owner, strlen(owner));

    if (is_own(shares, owner))
        return true;
    if (share->bytes > shares->most || bytes > shares->most - share->bytes) {
        err_set(
            err,
            "OutputsPerUser: of what jobs leave, %llu bytes are kept here for a user, and those of %.*s have left %llu: "
            "`berth outputs --drop` fetches those of a job and makes room",
            (unsigned long long)shares->most, len, owner, (unsigned long long)share->bytes);
        return false;
    }
    if (leaves_enough(share->bytes, bytes, room->bytes) && leaves_enough(share->files, file, room->files))
        return true;
    err_set(err,
            "jobs of %.*s have left %llu bytes in %llu files here, and a user has no more than is still free for the "
            "others: `berth outputs --drop` fetches those of a job and makes room",
            len, owner, (unsigned long long)share->bytes, (unsigned long long)share->files);
    return false;
}

static uint64_t sum(uint64_t value, int64_t change)
{
    return change >= 0 || value > (uint64_t)-change ? value + (uint64_t)change : 0;
}

static void leaver_change(struct output_shares *shares, uint64_t job, struct leaver *leaver, int64_t bytes,
                          int64_t files)
{
    struct share *share = &shares->shares[leaver->account];

    share->bytes -= leaver->bytes;
    share->files -= leaver->files;
    leaver->bytes = sum(leaver->bytes, bytes);
    leaver->files = sum(leaver->files, files);
    share->bytes += leaver->bytes;
    share->files += leaver->files;
    if (files || leaver->bytes >= leaver->written + ROW_BYTES || leaver->bytes < leaver->written)
        row_write(shares, job, leaver);
}

void output_shares_add(struct output_shares *shares, uint64_t job, const char *owner, int64_t bytes, int64_t files)
{
    struct leaver *leaver = leaver_of(shares, job);

    if (!bytes && !files)
        return;
    if (!leaver) {
        leaver = mem_alloc(sizeof *leaver);
        *leaver = (struct leaver){.account = account_add(shares, owner, account_len(owner, strlen(owner)))};
        map_set(&shares->jobs, job, (uint64_t)(uintptr_t)leaver);
    }
    leaver_change(shares, job, leaver, bytes, files);
}

void output_shares_lose(struct output_shares *shares, uint64_t job, uint64_t bytes, uint64_t files)
{
    struct leaver *leaver = leaver_of(shares, job);

    if (leaver && (bytes || files))
        leaver_change(shares, job, leaver, -(int64_t)bytes, -(int64_t)files);
}

void output_shares_forget(struct output_shares *shares, uint64_t job)
{
    struct leaver *leaver = leaver_of(shares, job);
    unsigned char key[8];
    struct err ignored;

    if (!leaver)
        return;
    shares->shares[leaver->account].bytes -= leaver->bytes;
    shares->shares[leaver->account].files -= leaver->files;
    map_remove(&shares->jobs, job);
    free(leaver);
    key_of(job, key);
    shares->shelf->kind->remove(shares->shelf, OUTPUTS_SPACE, key, sizeof key, &ignored);
}
