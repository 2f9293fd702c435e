/* secret_sets.c: the secrets that users have sent for their jobs, kept sealed.
 *
 *     row: number of the set -> version (1 byte) | when it came, in seconds (8, lowest first) | length of the owner's name (1) | the name | the box */
#include "live/customerd/secret_sets.h"

#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "live/auth/secret_box.h"
#include "live/auth/token.h"
#include "pool/protocol/account.h"
#include "sys/encoding.h"
#include "sys/names.h"
#include "sys/private_file.h"
#include "sys/secret_bundle.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROW_VERSION 1
#define ROW_FIXED 10
#define ID_DIGITS 16
#define LOOK_SPAN 60 /* seconds between two looks when nothing has ended */

struct secret_set {
    uint64_t id;
    int64_t created;
    uint32_t bytes; /* of its row */
    uint32_t holds;
    bool used;   /* a job has named it */
    bool marked; /* one that is not over does */
    char owner[TOKEN_NAME_MAX + 1];
};

struct secret_sets {
    struct shelf *shelf;
    char *folder;
    struct box_keys keys;
    bool has_keys;
    struct secret_set *items;
    uint32_t count, room;
    struct map places; /* by number */
    bool ended;        /* a job that names one has */
    int64_t looked;    /* seconds: when all were gone through last */
};

static struct secret_set *set_find(const struct secret_sets *sets, uint64_t id)
{
    uint64_t place = map_find(&sets->places, id);

    return place == MAP_NONE ? NULL : &sets->items[place];
}

static void set_key(uint64_t id, char ret[ID_DIGITS + 1])
{
    snprintf(ret, ID_DIGITS + 1, "%016" PRIx64, id);
}

static struct secret_set *set_keep(struct secret_sets *sets, uint64_t id)
{
    ARRAY_ROOM(sets->items, sets->count, sets->room, 16);
    map_set(&sets->places, id, sets->count);
    sets->items[sets->count] = (struct secret_set){.id = id};
    return &sets->items[sets->count++];
}

/* ---------------------------------------------------------------------------------------------------------------- the key */

static int key_read(struct secret_sets *sets, int dir, struct err *err)
{
    unsigned char secret[BOX_KEY_BYTES];
    struct buf text;
    int got;

    buf_init(&text);
    got = private_read(dir, SECRET_KEY_FILE, 2 * sizeof secret + 1, &text, err);
    if (got > 0) {
        while (text.len && text.text[text.len - 1] == '\n')
            text.len--;
        if (text.len == 2 * sizeof secret && hex_read(text.text, text.len, secret, sizeof secret)) {
            box_keys_from_secret(secret, &sets->keys);
            sets->has_keys = true;
        } else {
            got = err_set(err, "%s/%s: there is no key in it", sets->folder, SECRET_KEY_FILE);
        }
    }
    sodium_memzero(secret, sizeof secret);
    secret_wipe(&text);
    return got < 0 ? -1 : 0;
}

/* Draws a key, when the first secrets come: it lies beside the store and not in it. */
static int key_make(struct secret_sets *sets, struct err *err)
{
    char digits[2 * BOX_KEY_BYTES + 2];
    struct box_keys keys;
    int dir, failed;

    if (sets->has_keys)
        return 0;
    dir = private_dir_open(sets->folder, err);
    if (dir < 0)
        return -1;
    box_keys_draw(&keys);
    hex_print(keys.secret, BOX_KEY_BYTES, digits);
    digits[sizeof digits - 2] = '\n';
    failed = private_write(dir, SECRET_KEY_FILE, digits, sizeof digits - 1, err);
    if (!failed) {
        sets->keys = keys;
        sets->has_keys = true;
    }
    sodium_memzero(digits, sizeof digits);
    box_keys_done(&keys);
    close(dir);
    return failed;
}

/* --------------------------------------------------------------------------------------------------------------- loading */

static bool set_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct secret_sets *sets = user;
    const unsigned char *row = value;
    uint64_t id = key_len == ID_DIGITS ? id_number(key, key_len) : 0, created = 0;
    struct secret_set *set;

    if (!id || len < ROW_FIXED || row[0] != ROW_VERSION || row[9] > TOKEN_NAME_MAX || len < ROW_FIXED + (size_t)row[9])
        return true; /* of a later version, perhaps */
    for (int i = 0; i < 8; i++)
        created |= (uint64_t)row[1 + i] << (8 * i);
    set = set_keep(sets, id);
    set->created = (int64_t)created;
    set->bytes = (uint32_t)len;
    memcpy(set->owner, row + ROW_FIXED, row[9]);
    return true;
}

struct secret_sets *secret_sets_new(struct shelf *shelf, const char *folder, struct err *err)
{
    struct secret_sets *sets = mem_alloc(sizeof *sets);
    int dir, failed;

    memset(sets, 0, sizeof *sets);
    sets->shelf = shelf;
    sets->folder = mem_dup(folder, strlen(folder));
    map_init(&sets->places, secrets_word(&secrets_live));
    dir = private_dir_open(folder, err);
    failed =
        dir < 0 || key_read(sets, dir, err) < 0 || shelf->kind->each(shelf, SECRET_SETS_SPACE, set_load, sets, err) < 0;
    if (dir >= 0)
        close(dir);
    sets->ended = sets->count > 0;
    if (!failed)
        return sets;
    secret_sets_free(sets);
    return NULL;
}

void secret_sets_free(struct secret_sets *sets)
{
    if (!sets)
        return;
    box_keys_done(&sets->keys);
    map_done(&sets->places);
    free(sets->items);
    free(sets->folder);
    free(sets);
}

uint32_t secret_sets_count(const struct secret_sets *sets)
{
    return sets->count;
}

/* ---------------------------------------------------------------------------------------------------------------- adding */

/* Has the account of that owner room for one more? */
static bool account_has_room(const struct secret_sets *sets, const char *owner, size_t len)
{
    size_t account = account_len(owner, strlen(owner));
    uint64_t bytes = len;
    uint32_t count = 1;

    for (uint32_t i = 0; i < sets->count; i++) {
        const char *other = sets->items[i].owner;

        if (account_len(other, strlen(other)) == account && !memcmp(other, owner, account)) {
            bytes += sets->items[i].bytes;
            count++;
        }
    }
    return count <= SECRET_SETS_PER_ACCOUNT && bytes <= SECRET_SETS_BYTES;
}

int secret_sets_add(struct secret_sets *sets, const char *owner, const void *bundle, size_t len, int64_t now,
                    uint64_t *ret_id, struct err *err)
{
    uint64_t id = secrets_word(&secrets_live);
    struct secret_place place = {SECRET_KEPT, {id, 0, 0}};
    size_t owner_len = strlen(owner);
    char key[ID_DIGITS + 1];
    struct secret_set *set;
    struct buf row;
    int failed;

    if (owner_len > TOKEN_NAME_MAX)
        return err_set(err, "the owner's name is longer than %d bytes", TOKEN_NAME_MAX);
    if (!account_has_room(sets, owner, len)) {
        err_set(err, "at most %d sets of secrets, and %llu MiB of them, are kept for one user", SECRET_SETS_PER_ACCOUNT,
                (unsigned long long)(SECRET_SETS_BYTES >> 20));
        return 1;
    }
    if (key_make(sets, err) < 0)
        return -1;
    set_key(id, key);
    buf_init(&row);
    buf_addc(&row, ROW_VERSION);
    for (int i = 0; i < 8; i++)
        buf_addc(&row, (char)((uint64_t)now >> (8 * i)));
    buf_addc(&row, (char)owner_len);
    buf_add(&row, owner, owner_len);
    failed = secret_box_seal(&row, &sets->keys.open, &place, bundle, len, err) < 0 ||
             sets->shelf->kind->put(sets->shelf, SECRET_SETS_SPACE, key, ID_DIGITS, row.text, row.len, err) < 0;
    if (!failed) {
        set = set_keep(sets, id);
        set->created = now;
        set->bytes = (uint32_t)row.len;
        memcpy(set->owner, owner, owner_len);
        *ret_id = id;
    }
    buf_done(&row);
    return failed ? -1 : 0;
}

bool secret_sets_hold(struct secret_sets *sets, uint64_t id, const char *owner)
{
    struct secret_set *set = set_find(sets, id);

    if (!set || strcmp(set->owner, owner) != 0)
        return false;
    set->holds++;
    return true;
}

void secret_sets_let(struct secret_sets *sets, uint64_t id)
{
    struct secret_set *set = set_find(sets, id);

    if (set && set->holds)
        set->holds--;
}

/* --------------------------------------------------------------------------------------------------------------- opening */

static bool row_copy(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key;
    (void)key_len;
    buf_add(user, value, len);
    return false;
}

int secret_sets_open(const struct secret_sets *sets, uint64_t id, struct buf *ret_bundle, struct err *err)
{
    struct secret_place place = {SECRET_KEPT, {id, 0, 0}};
    char key[ID_DIGITS + 1];
    size_t before;
    struct buf row;
    int failed;

    if (!set_find(sets, id) || !sets->has_keys)
        return err_set(err, "its secrets are not kept here any more");
    set_key(id, key);
    buf_init(&row);
    failed = sets->shelf->kind->get(sets->shelf, SECRET_SETS_SPACE, key, ID_DIGITS, row_copy, &row, err);
    before = row.len > ROW_FIXED ? ROW_FIXED + (size_t)(unsigned char)row.text[9] : row.len;
    if (!failed && before >= row.len)
        failed = err_set(err, "its secrets are not kept here any more");
    if (!failed)
        failed = secret_box_open(ret_bundle, &sets->keys, &place, row.text + before, row.len - before, err);
    buf_done(&row);
    return failed;
}

/* -------------------------------------------------------------------------------------------------------------- removing */

void secret_sets_ended(struct secret_sets *sets, uint64_t id)
{
    struct secret_set *set = set_find(sets, id);

    if (set)
        set->used = sets->ended = true;
}

bool secret_sets_are_due(const struct secret_sets *sets, int64_t now)
{
    return sets->count && (sets->ended || now < sets->looked || now - sets->looked >= LOOK_SPAN);
}

void secret_sets_mark_begin(struct secret_sets *sets)
{
    sets->ended = false;
    for (uint32_t i = 0; i < sets->count; i++)
        sets->items[i].marked = false;
}

void secret_sets_mark(struct secret_sets *sets, uint64_t id, bool over)
{
    struct secret_set *set = set_find(sets, id);

    if (!set)
        return;
    set->used = true;
    set->marked = set->marked || !over;
}

uint32_t secret_sets_mark_end(struct secret_sets *sets, int64_t now)
{
    uint32_t removed = 0;
    struct err err;

    sets->looked = now;
    for (uint32_t i = sets->count; i-- > 0;) {
        struct secret_set *set = &sets->items[i];
        char key[ID_DIGITS + 1];

        if (set->marked || set->holds || (!set->used && now - set->created < SECRET_SETS_KEPT))
            continue;
        set_key(set->id, key);
        if (sets->shelf->kind->remove(sets->shelf, SECRET_SETS_SPACE, key, ID_DIGITS, &err) < 0)
            break; /* the shelf is broken, and the customer ends */
        map_remove(&sets->places, set->id);
        *set = sets->items[--sets->count];
        if (i < sets->count)
            map_set(&sets->places, set->id, i);
        removed++;
    }
    return removed;
}
