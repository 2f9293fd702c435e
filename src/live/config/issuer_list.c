/* issuer_list.c: the setting Issuers is read: every field is known and of its sort, and no two issuers are the same or called the same. */
#include "live/config/issuer_list.h"

#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "live/config/ad_list.h"
#include "live/config/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX 1000
static bool read_url(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;
    struct url url;

    return ad_place_text(place, TEXT_BYTES_MAX, &ret->issuer.url) &&
           url_read(ret->issuer.url, strlen(ret->issuer.url), &url, NULL) == 0 && !strchr(ret->issuer.url, '?');
}

static bool read_name(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_text(place, ISSUER_NAME_MAX, &ret->issuer.name) &&
           issuer_name_valid(ret->issuer.name, strlen(ret->issuer.name)) && !strchr(ret->issuer.name, '=');
}

static bool audience_take(struct ad_place place, struct issuer *issuer)
{
    return issuer->audience_count < ISSUER_AUDIENCES_MAX &&
           ad_place_text(place, TEXT_BYTES_MAX, &issuer->audiences[issuer->audience_count]) && ++issuer->audience_count;
}

static bool read_audience(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;
    const struct expr *parts;

    if (place.value->kind != EXPR_LIST)
        return audience_take(place, &ret->issuer);
    parts = tree_parts(place.tree, place.value);
    for (uint32_t i = 0; i < place.value->u.run.count; i++)
        if (!audience_take((struct ad_place){place.tree, &parts[i]}, &ret->issuer))
            return false;
    return ret->issuer.audience_count > 0;
}

static bool read_any(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_flag(place, &ret->issuer.any_audience);
}

static bool read_plain(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_flag(place, &ret->plain);
}

static bool read_keys(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_text(place, AD_LIST_PATH_MAX, &ret->keys_file);
}

static bool read_ca(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_text(place, AD_LIST_PATH_MAX, &ret->ca_file);
}

static bool seconds_take(struct ad_place place, int64_t *ret)
{
    *ret = place.value->kind == EXPR_INTEGER ? place.value->u.integer : 0;
    return *ret >= 1 && *ret <= 86400;
}

static bool read_age(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return seconds_take(place, &ret->keys_age);
}

static bool read_pause(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return seconds_take(place, &ret->keys_pause);
}

static bool read_client(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_text(place, TEXT_BYTES_MAX, &ret->issuer.client);
}

static bool read_secret(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_text(place, AD_LIST_PATH_MAX, &ret->secret_file);
}

/* Without `openid` the issuer would not say who has signed in. */
static bool read_ask(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;
    char padded[TEXT_BYTES_MAX + 3];

    if (!ad_place_text(place, TEXT_BYTES_MAX, &ret->ask))
        return false;
    snprintf(padded, sizeof padded, " %s ", ret->ask);
    return strstr(padded, " openid ");
}

static bool read_title(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return ad_place_text(place, ISSUER_TITLE_MAX, &ret->title);
}

static bool read_session(struct ad_place place, void *entry)
{
    struct issuer_entry *ret = entry;

    return seconds_take(place, &ret->session);
}

/* Any expression: it is evaluated for each token. */
static bool expression_take(struct ad_place place, char **ret)
{
    struct buf text;

    buf_init(&text);
    print_expr(&text, place.tree, place.value, PRINT_PLAIN);
    *ret = mem_dup(text.text, text.len);
    buf_done(&text);
    return true;
}

#define EXPRESSION(field)                                                             \
    static bool read_##field(struct ad_place place, void *entry)                      \
    {                                                                                 \
        return expression_take(place, &((struct issuer_entry *)entry)->issuer.field); \
    }
EXPRESSION(identity)
EXPRESSION(account)
EXPRESSION(group)
EXPRESSION(unix_account)
EXPRESSION(scopes)

static const struct ad_field issuer_fields[] = {
    {"Issuer", "a URL (https://HOST[:PORT][/PATH])", read_url},
    {"Name", "a name of up to 30 small letters, digits, . and -", read_name},
    {"Audience", "a text or a list of up to 8", read_audience},
    {"AnyAudience", "true or false", read_any},
    {"Keys", "the name of a file", read_keys},
    {"CA", "the name of a file", read_ca},
    {"Plain", "true or false", read_plain},
    {"KeysAge", "seconds from 1 to 86400", read_age},
    {"KeysPause", "seconds from 1 to 86400", read_pause},
    {"Client", "the name of a client at the issuer", read_client},
    {"ClientSecret", "the name of a file", read_secret},
    {"Ask", "words with blanks between, of which one is openid", read_ask},
    {"Title", "a text of up to 60 bytes", read_title},
    {"Session", "seconds from 1 to 86400", read_session},
    {"Identity", "an expression", read_identity},
    {"Account", "an expression", read_account},
    {"Group", "an expression", read_group},
    {"UnixAccount", "an expression", read_unix_account},
    {"Scopes", "an expression", read_scopes},
};

/* Gives the issuer the name of its URL, where it has none of its own. */
static int name_default(struct issuer *issuer, struct err *err)
{
    struct buf name;
    bool good;

    if (issuer->name)
        return 0;
    buf_init(&name);
    good = issuer_name_default(&name, issuer->url);
    if (good)
        issuer->name = mem_dup(name.text, name.len);
    buf_done(&name);
    return good
               ? 0
               : err_set(err, "Name: it is needed, for the URL is longer than the %d bytes of a name", ISSUER_NAME_MAX);
}

/* Where people go to sign in is said by the issuer, which is not asked where its keys are in a file. */
static int signin_check(const struct issuer_entry *entry, struct err *err)
{
    if (!entry->issuer.client && (entry->secret_file || entry->ask || entry->title))
        return err_set(err,
                       "Client: without it nobody signs in on the page, and ClientSecret, Ask and Title say nothing");
    if (entry->issuer.client && entry->keys_file)
        return err_set(err, "Client: nobody can sign in by an issuer that is not asked, for its keys are in a file");
    return 0;
}

static void *entry_add(void *list)
{
    struct issuer_list *issuers = list;

    issuers->items[issuers->count] =
        (struct issuer_entry){.keys_age = ISSUER_KEYS_AGE, .keys_pause = ISSUER_KEYS_PAUSE, .session = ISSUER_SESSION};
    return &issuers->items[issuers->count++];
}

static int entry_whole(struct issuer_entry *entry, struct err *err)
{
    const struct issuer *issuer = &entry->issuer;

    if (!issuer->url)
        return err_set(err, "Issuer: every issuer has a URL");
    if (!issuer->audience_count)
        return err_set(err, "Audience: without it a token that is meant for others would be taken");
    if (strncmp(issuer->url, "https://", 8) != 0 && !(entry->plain && url_is_loopback(issuer->url)))
        return err_set(err, "Issuer: only https:// is taken; http:// with Plain = true and a number of loopback");
    return signin_check(entry, err) < 0 ? -1 : name_default(&entry->issuer, err);
}

static int entry_check(void *list, struct err *err)
{
    struct issuer_list *issuers = list;
    struct issuer_entry *entry = &issuers->items[issuers->count - 1];

    if (entry_whole(entry, err) < 0)
        return -1;
    for (const struct issuer_entry *other = issuers->items; other < entry; other++) {
        if (!strcmp(other->issuer.url, entry->issuer.url))
            return err_set(err, "Issuer: it is there twice");
        if (!strcmp(other->issuer.name, entry->issuer.name))
            return err_set(err, "Name: another issuer is called so, and their people could not be told apart");
    }
    return 0;
}

static const char *entry_name(const void *entry)
{
    return ((const struct issuer_entry *)entry)->issuer.name;
}

static void list_done(void *list)
{
    issuer_list_done(list);
}

static const struct ad_list_kind issuers_kind = {
    .what = "issuer",
    .example = "[ Issuer = \"https://idp.example.org\"; Audience = \"...\" ]",
    .max = ISSUER_LIST_MAX,
    .fields = issuer_fields,
    .field_count = sizeof issuer_fields / sizeof *issuer_fields,
    .add = entry_add,
    .check = entry_check,
    .name = entry_name,
    .done = list_done,
};

int issuer_list_read(struct issuer_list *ret, const struct tree *tree, const struct expr *list, struct err *err)
{
    *ret = (struct issuer_list){.count = 0};
    return ad_list_read(&issuers_kind, ret, tree, list, err);
}

int issuer_list_parse(struct issuer_list *ret, struct symbols *symbols, const char *text, struct err *err)
{
    *ret = (struct issuer_list){.count = 0};
    return ad_list_parse(&issuers_kind, ret, symbols, text, err);
}

void issuer_entry_done(struct issuer_entry *entry)
{
    issuer_done(&entry->issuer);
    free(entry->keys_file);
    free(entry->ca_file);
    free(entry->secret_file);
    free(entry->ask);
    free(entry->title);
    *entry = (struct issuer_entry){.plain = false};
}

void issuer_list_done(struct issuer_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        issuer_entry_done(&list->items[i]);
    *list = (struct issuer_list){.count = 0};
}
