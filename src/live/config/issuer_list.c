/* issuer_list.c: the setting Issuers is read: every field is known and of its sort, and no two issuers are the same or called the same. */
#include "live/config/issuer_list.h"

#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "live/config/address.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TEXT_BYTES_MAX 1000
#define PATH_BYTES_MAX 4096
#define SHOWN_MAX 60 /* bytes of a wrong value that are shown */

/* A field where it stands. */
struct place {
    const struct tree *tree;
    const struct expr *value;
};

/* Copies a text of one line; false when the expression is not one. */
static bool text_take(struct place place, size_t max, char **ret)
{
    const char *text = place.value->kind == EXPR_STRING ? tree_string(place.tree, place.value) : "";
    size_t len = place.value->kind == EXPR_STRING ? place.value->u.run.count : 0;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    if (!len || len > max)
        return false;
    *ret = mem_dup(text, len);
    return true;
}

static bool read_url(struct place place, struct issuer_entry *ret)
{
    struct url url;

    return text_take(place, TEXT_BYTES_MAX, &ret->issuer.url) &&
           url_read(ret->issuer.url, strlen(ret->issuer.url), &url, NULL) == 0 && !strchr(ret->issuer.url, '?');
}

static bool read_name(struct place place, struct issuer_entry *ret)
{
    return text_take(place, ISSUER_NAME_MAX, &ret->issuer.name) &&
           issuer_name_valid(ret->issuer.name, strlen(ret->issuer.name)) && !strchr(ret->issuer.name, '=');
}

static bool audience_take(struct place place, struct issuer *issuer)
{
    return issuer->audience_count < ISSUER_AUDIENCES_MAX &&
           text_take(place, TEXT_BYTES_MAX, &issuer->audiences[issuer->audience_count]) && ++issuer->audience_count;
}

static bool read_audience(struct place place, struct issuer_entry *ret)
{
    const struct expr *parts;

    if (place.value->kind != EXPR_LIST)
        return audience_take(place, &ret->issuer);
    parts = tree_parts(place.tree, place.value);
    for (uint32_t i = 0; i < place.value->u.run.count; i++)
        if (!audience_take((struct place){place.tree, &parts[i]}, &ret->issuer))
            return false;
    return ret->issuer.audience_count > 0;
}

static bool flag_take(struct place place, bool *ret)
{
    *ret = place.value->kind == EXPR_BOOLEAN && place.value->small;
    return place.value->kind == EXPR_BOOLEAN;
}

static bool read_any(struct place place, struct issuer_entry *ret)
{
    return flag_take(place, &ret->issuer.any_audience);
}

static bool read_plain(struct place place, struct issuer_entry *ret)
{
    return flag_take(place, &ret->plain);
}

static bool read_keys(struct place place, struct issuer_entry *ret)
{
    return text_take(place, PATH_BYTES_MAX, &ret->keys_file);
}

static bool read_ca(struct place place, struct issuer_entry *ret)
{
    return text_take(place, PATH_BYTES_MAX, &ret->ca_file);
}

static bool seconds_take(struct place place, int64_t *ret)
{
    *ret = place.value->kind == EXPR_INTEGER ? place.value->u.integer : 0;
    return *ret >= 1 && *ret <= 86400;
}

static bool read_age(struct place place, struct issuer_entry *ret)
{
    return seconds_take(place, &ret->keys_age);
}

static bool read_pause(struct place place, struct issuer_entry *ret)
{
    return seconds_take(place, &ret->keys_pause);
}

/* Any expression: it is evaluated for each token. */
static bool expression_take(struct place place, char **ret)
{
    struct buf text;

    buf_init(&text);
    print_expr(&text, place.tree, place.value, PRINT_PLAIN);
    *ret = mem_dup(text.text, text.len);
    buf_done(&text);
    return true;
}

#define EXPRESSION(field)                                                  \
    static bool read_##field(struct place place, struct issuer_entry *ret) \
    {                                                                      \
        return expression_take(place, &ret->issuer.field);                 \
    }
EXPRESSION(identity)
EXPRESSION(account)
EXPRESSION(group)
EXPRESSION(unix_account)
EXPRESSION(scopes)

static const struct issuer_field {
    const char *name, *expected;
    bool (*read)(struct place place, struct issuer_entry *ret);
} issuer_fields[] = {
    {"Issuer", "a URL (https://HOST[:PORT][/PATH])", read_url},
    {"Name", "a name of up to 30 small letters, digits, . and -", read_name},
    {"Audience", "a text or a list of up to 8", read_audience},
    {"AnyAudience", "true or false", read_any},
    {"Keys", "the name of a file", read_keys},
    {"CA", "the name of a file", read_ca},
    {"Plain", "true or false", read_plain},
    {"KeysAge", "seconds from 1 to 86400", read_age},
    {"KeysPause", "seconds from 1 to 86400", read_pause},
    {"Identity", "an expression", read_identity},
    {"Account", "an expression", read_account},
    {"Group", "an expression", read_group},
    {"UnixAccount", "an expression", read_unix_account},
    {"Scopes", "an expression", read_scopes},
};

#define FIELD_COUNT (sizeof issuer_fields / sizeof *issuer_fields)

static int fail_unknown(const char *name, size_t len, struct err *err)
{
    int shown = (int)(len < SHOWN_MAX ? len : SHOWN_MAX);
    struct nearest nearest;

    nearest_init(&nearest, name, len);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        nearest_try(&nearest, issuer_fields[i].name);
    return nearest.name ? err_set(err, "there is no field '%.*s'; did you mean '%s'?", shown, name, nearest.name)
                        : err_set(err, "there is no field '%.*s'", shown, name);
}

static int field_read(struct place place, const char *name, size_t len, struct issuer_entry *ret, struct err *err)
{
    const struct issuer_field *field = issuer_fields;
    struct buf got;

    while (field < issuer_fields + FIELD_COUNT &&
           (strlen(field->name) != len || strncasecmp(field->name, name, len) != 0))
        field++;
    if (field == issuer_fields + FIELD_COUNT)
        return fail_unknown(name, len, err);
    if (field->read(place, ret))
        return 0;
    buf_init(&got);
    print_expr(&got, place.tree, place.value, PRINT_PLAIN);
    err_set(err, "%s: expected %s, got %.*s", field->name, field->expected,
            (int)(got.len < SHOWN_MAX ? got.len : SHOWN_MAX), buf_string(&got));
    buf_done(&got);
    return -1;
}

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

static int entry_read(struct issuer_entry *ret, const struct tree *tree, const struct expr *ad, struct err *err)
{
    const struct expr *parts;

    ret->keys_age = ISSUER_KEYS_AGE;
    ret->keys_pause = ISSUER_KEYS_PAUSE;
    if (ad->kind != EXPR_AD)
        return err_set(err, "expected an ad, as [ Issuer = \"https://idp.example.org\"; Audience = \"...\" ]");
    parts = tree_parts(tree, ad);
    for (uint32_t i = 0; i < ad->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(tree->symbols, parts[i].label, &len);

        if (field_read((struct place){tree, &parts[i]}, name, len, ret, err) < 0)
            return -1;
    }
    if (!ret->issuer.url)
        return err_set(err, "Issuer: every issuer has a URL");
    if (!ret->issuer.audience_count)
        return err_set(err, "Audience: without it a token that is meant for others would be taken");
    if (strncmp(ret->issuer.url, "https://", 8) != 0 && !(ret->plain && url_is_loopback(ret->issuer.url)))
        return err_set(err, "Issuer: only https:// is taken; http:// with Plain = true and a number of loopback");
    return name_default(&ret->issuer, err);
}

static int entry_check(const struct issuer_list *list, const struct issuer_entry *entry, struct err *err)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (!strcmp(list->items[i].issuer.url, entry->issuer.url))
            return err_set(err, "Issuer: it is there twice");
        if (!strcmp(list->items[i].issuer.name, entry->issuer.name))
            return err_set(err, "Name: another issuer is called so, and their people could not be told apart");
    }
    return 0;
}

int issuer_list_read(struct issuer_list *ret, const struct tree *tree, const struct expr *list, struct err *err)
{
    const struct expr *parts;

    *ret = (struct issuer_list){.count = 0};
    if (list->kind == EXPR_STRING && !list->u.run.count)
        return 0;
    if (list->kind != EXPR_LIST || list->u.run.count > ISSUER_LIST_MAX)
        return err_set(
            err, "expected a list of up to %d ads, as { [ Issuer = \"https://idp.example.org\"; Audience = \"...\" ] }",
            ISSUER_LIST_MAX);
    parts = tree_parts(tree, list);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct issuer_entry *entry = &ret->items[i];
        int failed = entry_read(entry, tree, &parts[i], err) < 0 || entry_check(ret, entry, err) < 0;

        ret->count++;
        if (failed) {
            if (entry->issuer.name)
                err_context(err, "%s", entry->issuer.name);
            else
                err_context(err, "issuer %u", i + 1);
            issuer_list_done(ret);
            return -1;
        }
    }
    return 0;
}

int issuer_list_parse(struct issuer_list *ret, struct symbols *symbols, const char *text, struct err *err)
{
    const struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    struct build build;
    struct tree *tree;
    int failed = 0;

    *ret = (struct issuer_list){.count = 0};
    if (!*text)
        return 0;
    build_init(&build, symbols, &dialect_classic);
    tree = parse_expr(&build, &options, text, strlen(text), err);
    failed = tree ? issuer_list_read(ret, tree, tree_root(tree), err) : -1;
    tree_unref(tree);
    build_done(&build);
    return failed;
}

void issuer_entry_done(struct issuer_entry *entry)
{
    issuer_done(&entry->issuer);
    free(entry->keys_file);
    free(entry->ca_file);
    *entry = (struct issuer_entry){.plain = false};
}

void issuer_list_done(struct issuer_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        issuer_entry_done(&list->items[i]);
    *list = (struct issuer_list){.count = 0};
}
