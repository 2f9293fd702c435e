/* config_value.c: the values of settings: what is accepted for each sort and form. */
#include "lang/base/number.h"
#include "lang/text/print.h"
#include "live/config/address.h"
#include "live/config/config_parts.h"
#include "live/config/issuer_list.h"
#include "live/config/pool_list.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------------------------------ forms */

static bool is_address(const char *text)
{
    struct address address;

    return address_read(text, &address, NULL) == 0;
}

static bool is_contact(const char *text)
{
    return !strcmp(text, "auto") || is_address(text);
}

static bool is_url(const char *text)
{
    struct url url;

    return url_read(text, strlen(text), &url, NULL) == 0;
}

static bool is_catalogue(const char *text)
{
    return !strncmp(text, "unix:/", 6) ? text[6] != '\0' : is_url(text);
}

static bool is_network(const char *text)
{
    struct networks networks;
    bool good;

    networks_init(&networks);
    good = networks_add(&networks, text, NULL) == 0;
    networks_done(&networks);
    return good;
}

static bool is_source(const char *text)
{
    return strstr(text, "://") ? is_url(text) : true;
}

static bool is_any(const char *text)
{
    (void)text;
    return true;
}

static const struct config_form {
    const char *name, *words;
    bool (*check)(const char *text);
} config_forms[] = {
    {"ADDRESS", "an address (HOST:PORT, [IPV6]:PORT or unix:/PATH)", is_address},
    {"CONTACT", "auto, or an address (HOST:PORT, [IPV6]:PORT or unix:/PATH)", is_contact},
    {"URL", "a URL (https://HOST[:PORT][/PATH])", is_url},
    {"CATALOGUE", "a URL (https://HOST[:PORT], unix:/PATH)", is_catalogue},
    {"NETWORK", "a network (10.0.0.0/8, fd00::/8)", is_network},
    {"SOURCE", "a file or a URL", is_source},
    {"FOLDER", "the name of a folder", is_any},
    {"FILE", "the name of a file", is_any},
    {"TEXT", "a text", is_any},
    {"ISSUERS", "[ Issuer = \"https://idp.example.org\"; Audience = \"https://pool.example.org:7600\" ]", is_any},
    {"POOLS", "[ Name = \"world\"; Token = \"world.token\"; Share = 0.1 ]", is_any},
};

/* The form of a setting's text; NULL: it is one of the words that the row lists. */
static const struct config_form *form_of(const struct config_row *row)
{
    for (size_t i = 0; i < sizeof config_forms / sizeof *config_forms; i++)
        if (!strcmp(config_forms[i].name, row->form))
            return &config_forms[i];
    return NULL;
}

static int word_place(const char *words, const char *text)
{
    size_t len = strlen(text);
    int place = 0;

    for (;; place++) {
        size_t word = strcspn(words, "|");

        if (word == len && !memcmp(words, text, len))
            return place;
        if (!words[word])
            return -1;
        words += word + 1;
    }
}

int config_word(const struct config *config, enum config_key key)
{
    return word_place(config_row(key)->form, config_text(config, key));
}

/* -------------------------------------------------------------------------------------------------- what was expected */

static void add_number(struct buf *out, enum config_key key, int64_t number)
{
    struct config_value value = {.number = number};
    struct buf text;

    buf_init(&text);
    config_print(&text, key, &value);
    if (text.len > 1 && *text.text == '"') /* a size in words, which needs no quotes here */
        buf_add(out, text.text + 1, text.len - 2);
    else
        buf_add(out, text.text, text.len);
    buf_done(&text);
}

static void add_words(struct buf *out, const char *words)
{
    for (;;) {
        size_t word = strcspn(words, "|");

        buf_add(out, words, word);
        if (!words[word])
            return;
        words += word + 1;
        buf_adds(out, strchr(words, '|') ? ", " : " or ");
    }
}

void config_expected(struct buf *out, enum config_key key)
{
    static const char *const numbers[] = {
        [CONFIG_IS_SPAN] = "seconds", [CONFIG_IS_SIZE] = "a size", [CONFIG_IS_COUNT] = "a whole number"};
    const struct config_row *row = config_row(key);
    const struct config_form *form = form_of(row);

    switch (row->sort) {
    case CONFIG_IS_FLAG:
        buf_adds(out, "true or false");
        break;
    case CONFIG_IS_TEXT:
        if (!form)
            add_words(out, row->form);
        else
            buf_addf(out, "%s of %s%lld bytes", form->words, row->low ? "1 to " : "up to ", (long long)row->high);
        break;
    case CONFIG_IS_LIST:
        buf_addf(out, "a list of %s%lld texts, each %s", row->low ? "1 to " : "up to ", (long long)row->high,
                 form->words);
        break;
    case CONFIG_IS_ADS:
        buf_addf(out, "a list of up to %lld ads, as %s", (long long)row->high, form->words);
        break;
    case CONFIG_IS_SPAN:
    case CONFIG_IS_SIZE:
    case CONFIG_IS_COUNT:
        buf_addf(out, "%s from ", numbers[row->sort]);
        add_number(out, key, row->low);
        buf_adds(out, " to ");
        add_number(out, key, row->high);
        break;
    }
}

#define GOT_MAX 80 /* bytes of a wrong value that are shown */

static int refuse(enum config_key key, const char *got, size_t len, struct err *err)
{
    struct buf expected;

    buf_init(&expected);
    config_expected(&expected, key);
    err_set(err, "expected %s, got %.*s%s", buf_string(&expected), (int)(len < GOT_MAX ? len : GOT_MAX), got,
            len < GOT_MAX ? "" : "...");
    buf_done(&expected);
    return -1;
}

/* ----------------------------------------------------------------------------------------------------------- numbers */

struct unit {
    const char *name;
    double factor;
};

static const struct unit span_units[] = {{"", 1e6},     {"us", 1},     {"ms", 1e3},   {"s", 1e6},
                                         {"min", 60e6}, {"h", 3600e6}, {"d", 86400e6}};
static const struct unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"K", 1024},
    {"KiB", 1024},
    {"kB", 1e3},
    {"M", 1048576},
    {"MiB", 1048576},
    {"MB", 1e6},
    {"G", 1073741824},
    {"GiB", 1073741824},
    {"GB", 1e9},
    {"T", 1099511627776.0},
    {"TiB", 1099511627776.0},
    {"TB", 1e12},
};

/* Reads an amount such as "200 ms", in units of the setting. */
static bool read_amount(const char *text, size_t len, const struct unit *units, size_t unit_count, double *ret)
{
    size_t at = number_parse_real(text, len, ret);

    if (at == 0)
        return false;
    while (at < len && text[at] == ' ')
        at++;
    for (size_t i = 0; i < unit_count; i++)
        if (strlen(units[i].name) == len - at && !strncasecmp(units[i].name, text + at, len - at)) {
            *ret *= units[i].factor;
            return true;
        }
    return false;
}

/* Reads a number of microseconds, bytes or things, if the value stands for one. */
static bool read_number(enum config_sort sort, const struct value *value, double *ret)
{
    double scale = sort == CONFIG_IS_SPAN ? 1e6 : 1;

    switch (value->type) {
    case VALUE_INTEGER:
        *ret = (double)value->u.integer * scale;
        return true;
    case VALUE_REAL:
        *ret = value->u.real * scale;
        return true;
    case VALUE_RELTIME:
        *ret = (double)value->u.integer * scale;
        return sort == CONFIG_IS_SPAN;
    case VALUE_STRING:
        if (sort == CONFIG_IS_SPAN)
            return read_amount(value->u.string, value->len, span_units, sizeof span_units / sizeof *span_units, ret);
        if (sort == CONFIG_IS_SIZE)
            return read_amount(value->u.string, value->len, size_units, sizeof size_units / sizeof *size_units, ret);
        return false;
    default:
        return false;
    }
}

static bool set_number(const struct config_row *row, const struct value *value, struct config_value *ret)
{
    double number;

    if (!read_number(row->sort, value, &number))
        return false;
    if (row->sort == CONFIG_IS_SPAN)
        number = nearbyint(number);
    /* all bounds are far below 2^53, so a double is exact; a NaN passes neither comparison */
    if (!(number >= (double)row->low && number <= (double)row->high) || number != floor(number))
        return false;
    ret->number = (int64_t)number;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- texts */

/* A copy of the text, checked by its form; NULL when it does not pass. */
static const char *take_text(struct arena *arena, const struct config_row *row, const char *text, size_t len)
{
    const struct config_form *form = form_of(row);
    char *copy;

    if (len > CONFIG_TEXT_MAX)
        return NULL;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return NULL;
    copy = arena_alloc(arena, len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (form)
        return len == 0 || form->check(copy) ? copy : NULL;
    return word_place(row->form, copy) >= 0 ? copy : NULL;
}

static bool set_text(struct arena *arena, const struct config_row *row, const char *text, size_t len,
                     struct config_value *ret)
{
    const char *taken = (int64_t)len >= row->low && (int64_t)len <= row->high ? take_text(arena, row, text, len) : NULL;

    if (taken)
        ret->text = taken;
    return taken != NULL;
}

static bool set_list(struct arena *arena, const struct config_row *row, struct eval *eval, const struct value *value,
                     struct config_value *ret)
{
    size_t count = value->type == VALUE_LIST ? value->len : 1;
    const char **items;

    if ((int64_t)count < row->low || (int64_t)count > row->high)
        return false;
    items = arena_alloc(arena, (count + 1) * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        struct value item = *value;

        if (value->type == VALUE_LIST)
            eval_element(eval, value, (uint32_t)i, &item);
        if (item.type != VALUE_STRING || item.len == 0)
            return false;
        items[i] = take_text(arena, row, item.u.string, item.len);
        if (!items[i])
            return false;
    }
    items[count] = NULL;
    ret->items = items;
    ret->count = count;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ values */

#define BIT(type) (1u << VALUE_##type)

bool config_value_fits(enum config_key key, const struct value *value)
{
    static const unsigned fitting[] = {
        [CONFIG_IS_TEXT] = BIT(STRING),
        [CONFIG_IS_LIST] = BIT(STRING) | BIT(LIST),
        [CONFIG_IS_SPAN] = BIT(INTEGER) | BIT(REAL) | BIT(RELTIME) | BIT(STRING),
        [CONFIG_IS_SIZE] = BIT(INTEGER) | BIT(REAL) | BIT(STRING),
        [CONFIG_IS_COUNT] = BIT(INTEGER) | BIT(REAL),
        [CONFIG_IS_FLAG] = BIT(BOOLEAN),
        [CONFIG_IS_ADS] = 0, /* those are not evaluated */
    };

    return fitting[config_row(key)->sort] >> value->type & 1;
}

static bool set_value(struct arena *arena, const struct config_row *row, struct eval *eval, const struct value *value,
                      struct config_value *ret)
{
    switch (row->sort) {
    case CONFIG_IS_TEXT:
        return set_text(arena, row, value->u.string, value->len, ret);
    case CONFIG_IS_LIST:
        return set_list(arena, row, eval, value, ret);
    case CONFIG_IS_SPAN:
    case CONFIG_IS_SIZE:
    case CONFIG_IS_COUNT:
        return set_number(row, value, ret);
    case CONFIG_IS_FLAG:
        ret->number = value->boolean;
        return true;
    case CONFIG_IS_ADS:
        break;
    }
    return false;
}

int config_read_value(struct arena *arena, enum config_key key, struct eval *eval, const struct value *value,
                      struct config_value *ret, struct err *err)
{
    struct buf got;

    if (config_value_fits(key, value) && set_value(arena, config_row(key), eval, value, ret))
        return 0;
    buf_init(&got);
    value_print(&got, &dialect_classic, value, PRINT_PLAIN);
    refuse(key, got.text, got.len, err);
    buf_done(&got);
    return -1;
}

/* Reads the list, to see whether it is good; -1, or how many ads it has. */
static int list_check(enum config_key key, const struct tree *tree, const struct expr *e, struct err *err)
{
    struct issuer_list issuers;
    struct pool_list pools;
    int count = -1;

    if (key == CONFIG_ISSUERS) {
        if (issuer_list_read(&issuers, tree, e, err) == 0) {
            count = (int)issuers.count;
            issuer_list_done(&issuers);
        }
    } else if (pool_list_read(&pools, tree, e, err) == 0) {
        count = (int)pools.count;
        pool_list_done(&pools);
    }
    return count;
}

int config_read_ads(struct arena *arena, enum config_key key, const struct tree *tree, const struct expr *e,
                    struct config_value *ret, struct err *err)
{
    int count = list_check(key, tree, e, err);
    struct buf text;

    if (count < 0)
        return -1;
    buf_init(&text);
    if (count)
        print_expr(&text, tree, e, PRINT_PLAIN);
    else
        buf_adds(&text, "{}");
    ret->text = memcpy(arena_alloc(arena, text.len + 1), buf_string(&text), text.len + 1);
    buf_done(&text);
    return 0;
}

static bool read_flag(const char *text, size_t len, struct config_value *ret)
{
    static const struct {
        const char *word;
        bool is;
    } words[] = {{"true", true},   {"on", true},   {"yes", true}, {"1", true},
                 {"false", false}, {"off", false}, {"no", false}, {"0", false}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == len && !strncasecmp(words[i].word, text, len)) {
            ret->number = words[i].is;
            return true;
        }
    return false;
}

/* Reads texts between commas, with the blanks around them left off. */
static bool read_list(struct arena *arena, const struct config_row *row, const char *text, size_t len,
                      struct config_value *ret)
{
    const char *items[CONFIG_LIST_MAX], *at = text, *end = text + len;
    const char **kept;
    size_t count = 0;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;

        while (at < stop && *at == ' ')
            at++;
        while (stop > at && stop[-1] == ' ')
            stop--;
        if (at == stop || count == CONFIG_LIST_MAX || !(items[count] = take_text(arena, row, at, (size_t)(stop - at))))
            return false;
        count++;
        at = comma ? comma + 1 : end;
    }
    if ((int64_t)count < row->low || (int64_t)count > row->high)
        return false;
    kept = arena_alloc(arena, (count + 1) * sizeof *kept);
    if (count)
        memcpy(kept, items, count * sizeof *kept);
    kept[count] = NULL;
    ret->items = kept;
    ret->count = count;
    return true;
}

int config_read_text(struct arena *arena, enum config_key key, const char *text, size_t len, struct config_value *ret,
                     struct err *err)
{
    const struct config_row *row = config_row(key);
    struct value value = value_string(text, len);
    struct buf got;
    bool read = false;

    if (len <= CONFIG_FILE_MAX) {
        if (row->sort == CONFIG_IS_FLAG)
            read = read_flag(text, len, ret);
        else if (row->sort == CONFIG_IS_LIST)
            read = read_list(arena, row, text, len, ret);
        else if (row->sort == CONFIG_IS_ADS)
            read = !len && (ret->text = "{}");
        else if (row->sort != CONFIG_IS_COUNT)
            read = set_value(arena, row, NULL, &value, ret);
    }
    if (read)
        return 0;
    buf_init(&got);
    print_string(&got, text, len < GOT_MAX ? len : GOT_MAX, PRINT_PLAIN);
    refuse(key, got.text, got.len, err);
    buf_done(&got);
    return -1;
}
