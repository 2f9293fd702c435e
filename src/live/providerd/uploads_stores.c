/* uploads_stores.c: the stores of the pool, and which of them a file goes to.
 *
 *     the one that the job names for the file, those of OutputSE, then all others that take it, by their names
 *
 * A store takes files of a job when its ad has no attribute Accepts, or that is true of the job. Anybody may advertise one, of any name and
 * any place: so those of others get nothing, and above all nothing by our rights (a folder of ours, a key, a token), unless the settings say
 * so. Only to her own store, where nothing but a PUT is needed, a job's owner may have her files brought. */
#include "live/providerd/uploads_parts.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "match/pair/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORES_MAX 1000
#define ASK_AGAIN (2 * SECOND) /* after a question that was not answered */

/* --------------------------------------------------------------------------------------------------------------- the list */

static void list_clear(struct store_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        tree_unref(list->ads[i]);
    free(list->ads);
    list->ads = NULL;
    list->count = 0;
}

static int by_name(const void *a, const void *b)
{
    const char *left = "", *right = "";
    size_t left_len = 0, right_len = 0;
    int order;

    ad_string(*(struct tree *const *)a, "Name", &left, &left_len);
    ad_string(*(struct tree *const *)b, "Name", &right, &right_len);
    order = memcmp(left, right, left_len < right_len ? left_len : right_len);
    return order ? order : (left_len > right_len) - (left_len < right_len);
}

static bool text_is(const char *text, size_t len, const char *other)
{
    return strlen(other) == len && !memcmp(text, other, len);
}

/* Is the store our owner's, or of somebody whose stores are used? The matchmaker says whose it is. */
static bool owner_is_good(const struct store_list *list, const char *identity, size_t len)
{
    const struct daemon *daemon = &list->providerd->daemon;
    size_t count;
    const char *const *owners = config_list(&daemon->config, CONFIG_STORE_OWNERS, &count);

    for (size_t i = 0; i < count; i++)
        if (text_is(identity, len, owners[i]))
            return true;
    return !count && text_is(identity, len, daemon->identity);
}

/* Is that a place where anybody may put something, by no right of ours? */
static bool is_public(const struct store_list *list, const struct tree *ad)
{
    struct store_place place;
    uint16_t port;

    if (store_read(ad, &place, NULL) < 0 || (place.protocol != STORE_HTTP && place.protocol != STORE_HTTPS))
        return false;
    port = place.port ? place.port : place.protocol == STORE_HTTP ? 80 : 443;
    return !transfer_shows_token(list->providerd->uploads->rules, place.host, port);
}

static bool is_usable(const struct store_list *list, const struct tree *ad, const struct tree *job)
{
    const char *identity, *owner;
    size_t len, owner_len, count;

    if (!ad_string(ad, "Identity", &identity, &len))
        return false;
    if (owner_is_good(list, identity, len))
        return true;
    config_list(&list->providerd->daemon.config, CONFIG_STORE_OWNERS, &count);
    return !count && ad_string(job, "Owner", &owner, &owner_len) && owner_len == len && !memcmp(owner, identity, len) &&
           is_public(list, ad);
}

static void list_fill(struct store_list *list, const char *body, size_t len)
{
    struct form_text reading = {body, len};
    struct form_reader *reader = form_reader_new(list->providerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL,
                                                 form_text_read, &reading);
    struct err err;
    struct tree *ad;

    list_clear(list);
    list->ads = mem_alloc(STORES_MAX * sizeof(struct tree *));
    while (list->count < STORES_MAX && form_reader_next(reader, &ad, &err) == 1)
        list->ads[list->count++] = ad;
    form_reader_free(reader);
    qsort(list->ads, list->count, sizeof *list->ads, by_name);
}

static void list_told(void *user, unsigned status, const char *body, size_t len)
{
    struct store_list *list = user;

    (void)status;
    list->asking = false;
    if (!body)
        return; /* those that are known may still do */
    list_fill(list, body, len);
    list->got = runner_now();
}

static struct store_list *list_of(const struct upload *upload)
{
    struct providerd *providerd = upload->providerd;
    const char *pool = agent_pool_of(providerd->live, upload->inquiry.customer);
    struct store_list *list = providerd->uploads->lists;

    pool = pool ? pool : "";
    while (list && strcmp(list->pool, pool) != 0)
        list = list->next;
    if (list)
        return list;
    list = mem_alloc(sizeof *list);
    *list = (struct store_list){
        .next = providerd->uploads->lists, .providerd = providerd, .pool = mem_dup(pool, strlen(pool))};
    providerd->uploads->lists = list;
    return list;
}

bool stores_known(const struct upload *upload)
{
    struct store_list *list = list_of(upload);
    int64_t now = runner_now();

    if (!list->asking && (!list->got || now > list->got + STORES_SPAN) && now > list->asked + ASK_AGAIN) {
        list->asked = now;
        list->asking = agent_fetch(upload->providerd->live, upload->inquiry.customer,
                                   "/v1/ads?constraint=Type%3D%3D%22" STORE_TYPE "%22&limit=1000", list_told, list);
    }
    return list->got != 0;
}

/* ----------------------------------------------------------------------------------------------------------------- trouble */

static struct store_trouble **trouble_find(struct uploads *uploads, const char *store)
{
    struct store_trouble **link = &uploads->troubles;

    while (*link && strcmp((*link)->store, store) != 0)
        link = &(*link)->next;
    return link;
}

const char *store_trouble(const struct uploads *uploads, const char *store)
{
    const struct store_trouble *trouble = *trouble_find((struct uploads *)(uintptr_t)uploads, store);

    return trouble && runner_now() < trouble->until ? trouble->words : NULL;
}

void store_fared(struct uploads *uploads, const char *store, const char *words)
{
    struct store_trouble **link = trouble_find(uploads, store), *trouble = *link;

    if (!words) {
        if (trouble)
            *link = trouble->next;
        if (trouble)
            free(trouble->store);
        free(trouble);
        return;
    }
    if (!trouble) {
        trouble = *link = mem_alloc(sizeof *trouble);
        *trouble = (struct store_trouble){.store = mem_dup(store, strlen(store)), .pause = UPLOAD_PAUSE_MIN / 2};
    }
    trouble->pause = trouble->pause * 2 < UPLOAD_PAUSE_MAX ? trouble->pause * 2 : UPLOAD_PAUSE_MAX;
    trouble->until = runner_now() + trouble->pause;
    snprintf(trouble->words, sizeof trouble->words, "%s", words);
}

void stores_done(struct uploads *uploads)
{
    struct store_list *list;

    while (uploads->troubles)
        store_fared(uploads, uploads->troubles->store, NULL);

    while ((list = uploads->lists)) {
        uploads->lists = list->next;
        list_clear(list);
        free(list->pool);
        free(list);
    }
}

/* --------------------------------------------------------------------------------------------------------------- choosing */

static bool ad_is_called(const struct tree *ad, const char *name)
{
    const char *text;
    size_t len;

    return ad_string(ad, "Name", &text, &len) && strlen(name) == len && !memcmp(text, name, len);
}

static bool store_accepts(const struct store_list *list, const struct tree *ad, const struct tree *job)
{
    struct env env = {.now = runner_wall() / SECOND};
    struct arena scratch;
    bool good;

    if (!is_usable(list, ad, job))
        return false;
    if (!ad_find(ad, "Accepts"))
        return true;
    arena_init(&scratch);
    good = match_says(&env, &scratch, ad, "Accepts", job);
    arena_done(&scratch);
    return good;
}

/* Names of those that may have the file, each once, in their order; lent. */
struct choices {
    const char *names[STORES_MAX];
    char room[STORES_MAX][STORE_NAME_MAX + 1];
    uint32_t count, copied;
    const struct upload_file *file;
};

static void choice_add(struct choices *choices, const char *name)
{
    for (uint32_t i = 0; i < choices->file->kept_count; i++)
        if (!strcmp(choices->file->kept[i].store, name))
            return; /* it has the file */
    for (uint32_t i = 0; i < choices->count; i++)
        if (!strcmp(choices->names[i], name))
            return;
    if (choices->count < STORES_MAX)
        choices->names[choices->count++] = name;
}

static struct choices *choices_new(const struct upload *upload, const struct upload_file *upload_file)
{
    struct choices *choices = mem_alloc(sizeof *choices);
    const struct store_list *list = list_of(upload);
    struct store_place place;

    choices->count = choices->copied = 0;
    choices->file = upload_file;
    if (upload_file->wanted)
        choice_add(choices, upload_file->wanted);
    for (size_t i = 0; i < upload->store_count; i++)
        choice_add(choices, upload->stores[i]);
    if ((upload_file->wanted || upload->store_count) && !upload->elsewhere)
        return choices;
    for (uint32_t i = 0; i < list->count; i++)
        if (store_read(list->ads[i], &place, NULL) == 0 && store_accepts(list, list->ads[i], upload->job)) {
            memcpy(choices->room[choices->copied], place.name, sizeof place.name);
            choice_add(choices, choices->room[choices->copied++]);
        }
    return choices;
}

static uint32_t choice_place(const struct choices *choices, const char *name)
{
    for (uint32_t i = 0; name && i < choices->count; i++)
        if (!strcmp(choices->names[i], name))
            return i;
    return UINT32_MAX;
}

bool store_next(const struct upload *upload, struct upload_file *upload_file)
{
    struct choices *choices = choices_new(upload, upload_file);
    uint32_t at = choice_place(choices, upload_file->store);
    bool other = choices->count > 1 || (choices->count == 1 && at == UINT32_MAX);

    if (other)
        upload_file_text(&upload_file->store, choices->names[(at + 1) % choices->count]);
    free(choices);
    upload_file->since = 0;
    return other;
}

bool store_choose(const struct upload *upload, struct upload_file *upload_file, struct store_place *ret,
                  struct err *err)
{
    const struct store_list *list = list_of(upload);
    struct choices *choices = choices_new(upload, upload_file);

    if (choices->count && choice_place(choices, upload_file->store) == UINT32_MAX)
        upload_file_text(&upload_file->store, choices->names[0]);
    free(choices);
    if (!upload_file->store) {
        err_set(err, "the pool has no store that takes it");
        return false;
    }
    err_set(err, "the pool knows no store %.100s", upload_file->store);
    for (uint32_t i = 0; i < list->count; i++)
        if (ad_is_called(list->ads[i], upload_file->store)) {
            if (store_accepts(list, list->ads[i], upload->job))
                return store_read(list->ads[i], ret, err) == 0;
            err_set(err,
                    is_usable(list, list->ads[i], upload->job)
                        ? "the store %.100s takes no files of this job"
                        : "the store %.100s is of somebody whose stores are not used here (StoreOwners)",
                    upload_file->store);
        }
    return false;
}
