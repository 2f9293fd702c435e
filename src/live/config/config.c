/* config.c: the table of settings, and how values are asked for, compared and shown. */
#include "live/config/config.h"

#include "lang/base/json.h"
#include "lang/text/print.h"
#include "live/config/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LIVE false
#define RESTART true

static const struct config_row config_rows[CONFIG_KEY_COUNT] = {
#define X(id, name, sort, form, fallback, low, high, when, help) \
    [CONFIG_##id] = {(name), CONFIG_IS_##sort, (form), (fallback), (help), (low), (high), when, false, 0},
#define S(id, name, field, low, high, when, help)                     \
    [CONFIG_##id] = {(name), CONFIG_IS_SPAN, "SECONDS", NULL, (help), \
                     (low),  (high),         when,      true, offsetof(struct spans, field)},
    CONFIG_KEYS(X, S)
#undef X
#undef S
};

const struct config_row *config_row(enum config_key key)
{
    return &config_rows[key];
}

int config_find(const char *name, size_t len)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        if (strlen(config_rows[i].name) == len && !strncasecmp(config_rows[i].name, name, len))
            return i;
    return -1;
}

/* Adds a name such as CycleInterval as words with something between them. */
static void add_words(struct buf *out, const char *name, char between, int (*letter)(int))
{
    for (const char *c = name; *c; c++) {
        if (c > name && isupper((unsigned char)*c))
            buf_addc(out, between);
        buf_addc(out, (char)letter((unsigned char)*c));
    }
}

void config_variable_name(struct buf *out, enum config_key key)
{
    buf_adds(out, "BERTH_");
    add_words(out, config_rows[key].name, '_', toupper);
}

void config_done(struct config *config)
{
    if (!config)
        return;
    arena_done(&config->arena);
    *config = (struct config){0};
}

/* ------------------------------------------------------------------------------------------------------------ asking */

/* The value of a key. To ask for it as another sort is a mistake in the program. */
static const struct config_value *value_of(const struct config *config, enum config_key key, enum config_sort sort)
{
    if (config_rows[key].sort != sort)
        abort();
    return &config->values[key];
}

const char *config_text(const struct config *config, enum config_key key)
{
    return value_of(config, key, CONFIG_IS_TEXT)->text;
}

const char *const *config_list(const struct config *config, enum config_key key, size_t *ret_count)
{
    const struct config_value *value = value_of(config, key, CONFIG_IS_LIST);

    *ret_count = value->count;
    return value->items;
}

const char *config_ads(const struct config *config, enum config_key key)
{
    return value_of(config, key, CONFIG_IS_ADS)->text;
}

int64_t config_span(const struct config *config, enum config_key key)
{
    return value_of(config, key, CONFIG_IS_SPAN)->number;
}

uint64_t config_size(const struct config *config, enum config_key key)
{
    return (uint64_t)value_of(config, key, CONFIG_IS_SIZE)->number;
}

uint64_t config_count(const struct config *config, enum config_key key)
{
    return (uint64_t)value_of(config, key, CONFIG_IS_COUNT)->number;
}

bool config_flag(const struct config *config, enum config_key key)
{
    return value_of(config, key, CONFIG_IS_FLAG)->number != 0;
}

struct spans config_spans(const struct config *config)
{
    struct spans spans = spans_default;

    for (int i = 0; i < CONFIG_KEY_COUNT; i++)
        if (config_rows[i].has_span)
            memcpy((char *)&spans + config_rows[i].span, &config->values[i].number, sizeof(int64_t));
    return spans;
}

bool config_address_is_local(const char *text)
{
    struct sockaddr_storage where;
    struct address address;
    socklen_t len;

    if (address_read(text, &address, NULL) < 0)
        return false;
    if (address.is_unix || !strcasecmp(address.host, "localhost"))
        return true;
    return address_socket(&address, &where, &len) && address_sort((const struct sockaddr *)&where) == ADDRESS_LOOPBACK;
}

bool config_differs(const struct config *a, const struct config *b, enum config_key key)
{
    const struct config_value *x = &a->values[key], *y = &b->values[key];

    switch (config_rows[key].sort) {
    case CONFIG_IS_TEXT:
    case CONFIG_IS_ADS:
        return strcmp(x->text, y->text) != 0;
    case CONFIG_IS_LIST:
        if (x->count != y->count)
            return true;
        for (size_t i = 0; i < x->count; i++)
            if (strcmp(x->items[i], y->items[i]))
                return true;
        return false;
    case CONFIG_IS_SPAN:
    case CONFIG_IS_SIZE:
    case CONFIG_IS_COUNT:
    case CONFIG_IS_FLAG:
        return x->number != y->number;
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- showing */

static void print_seconds(struct buf *out, int64_t microseconds)
{
    buf_addf(out, "%" PRId64, microseconds / SECOND);
    if (microseconds % SECOND == 0)
        return;
    buf_addf(out, ".%06" PRId64, microseconds % SECOND);
    while (out->text[out->len - 1] == '0')
        out->len--;
}

static void print_size(struct buf *out, int64_t bytes)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {{"GiB", CONFIG_GIB}, {"MiB", CONFIG_MIB}, {"KiB", CONFIG_KIB}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (bytes && bytes % units[i].bytes == 0) {
            buf_addf(out, "\"%" PRId64 " %s\"", bytes / units[i].bytes, units[i].name);
            return;
        }
    buf_addf(out, "%" PRId64, bytes);
}

/* Prints a value of a sort that looks the same in both forms. */
static void print_number(struct buf *out, enum config_sort sort, const struct config_value *value)
{
    if (sort == CONFIG_IS_SPAN)
        print_seconds(out, value->number);
    else if (sort == CONFIG_IS_FLAG)
        buf_adds(out, value->number ? "true" : "false");
    else
        buf_addf(out, "%" PRId64, value->number);
}

void config_print(struct buf *out, enum config_key key, const struct config_value *value)
{
    enum config_sort sort = config_rows[key].sort;

    if (sort == CONFIG_IS_TEXT) {
        print_string(out, value->text, strlen(value->text), PRINT_PLAIN);
    } else if (sort == CONFIG_IS_ADS) {
        buf_adds(out, value->text);
    } else if (sort == CONFIG_IS_LIST) {
        buf_adds(out, value->count ? "{ " : "{}");
        for (size_t i = 0; i < value->count; i++) {
            buf_adds(out, i ? ", " : "");
            print_string(out, value->items[i], strlen(value->items[i]), PRINT_PLAIN);
        }
        buf_adds(out, value->count ? " }" : "");
    } else if (sort == CONFIG_IS_SIZE) {
        print_size(out, value->number);
    } else {
        print_number(out, sort, value);
    }
}

void config_print_json(struct buf *out, enum config_key key, const struct config_value *value)
{
    enum config_sort sort = config_rows[key].sort;

    if (sort == CONFIG_IS_TEXT || sort == CONFIG_IS_ADS) {
        json_quote(out, value->text, strlen(value->text));
    } else if (sort == CONFIG_IS_LIST) {
        buf_addc(out, '[');
        for (size_t i = 0; i < value->count; i++) {
            buf_adds(out, i ? ", " : "");
            json_quote(out, value->items[i], strlen(value->items[i]));
        }
        buf_addc(out, ']');
    } else {
        print_number(out, sort, value);
    }
}

void config_trace(struct buf *out, const struct config *config)
{
    for (int i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_value *value = &config->values[i];

        buf_addf(out, "%s = ", config_rows[i].name);
        config_print(out, (enum config_key)i, value);
        buf_addf(out, " (%s", value->from);
        while ((value = value->over)) {
            buf_adds(out, "; over ");
            config_print(out, (enum config_key)i, value);
            buf_addf(out, ", %s", value->from);
        }
        buf_adds(out, ")\n");
    }
}
