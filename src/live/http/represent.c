/* represent.c: ads as bodies of requests and answers. */
#include "live/http/represent.h"

#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------------------------------- media */

static const struct {
    const char *type;
    enum form form;
} media_rows[] = {
    {TYPE_CLASSAD, FORM_CLASSAD},
    {TYPE_JSON, FORM_JSON},
    {TYPE_XML, FORM_XML},
    {"text/plain", FORM_UNKNOWN},
    {"application/x-www-form-urlencoded", FORM_UNKNOWN}, /* curl's default */
    {"*/*", FORM_UNKNOWN},
    {"application/*", FORM_UNKNOWN},
};

/* The row of a type of that length, or -1. */
static int media_find(const char *type, size_t len)
{
    while (len && type[len - 1] == ' ')
        len--;
    for (size_t i = 0; i < sizeof media_rows / sizeof *media_rows; i++)
        if (strlen(media_rows[i].type) == len && strncasecmp(media_rows[i].type, type, len) == 0)
            return (int)i;
    return -1;
}

bool media_read(const char *type, struct media *ret)
{
    const char *parameters, *dialect;
    int row;

    *ret = (struct media){FORM_UNKNOWN, &dialect_classic};
    if (!type)
        return true;
    parameters = strchr(type, ';');
    row = media_find(type, parameters ? (size_t)(parameters - type) : strlen(type));
    if (row < 0 || media_rows[row].form == FORM_XML)
        return false;
    ret->form = media_rows[row].form;
    dialect = parameters ? strstr(parameters, "dialect=") : NULL;
    if (!dialect)
        return true;
    dialect += strlen("dialect=");
    dialect += *dialect == '"';
    if (!strncmp(dialect, "condor", 6))
        ret->dialect = &dialect_condor;
    else if (strncmp(dialect, "classic", 7) != 0)
        return false;
    return true;
}

/* Do these parameters exclude their type: q=0, q=0.0, ...? */
static bool weight_is_none(const char *parameters, size_t len)
{
    for (size_t i = 0; i + 3 <= len; i++) {
        size_t n = i + 3;

        if (strncasecmp(parameters + i, "q=0", 3) != 0)
            continue;
        while (n < len && (parameters[n] == '.' || parameters[n] == '0'))
            n++;
        return n == len || strchr("; ,", parameters[n]);
    }
    return false;
}

/* Does a range contain one of the types? A range may end with a star for any subtype. */
static bool range_holds(const char *range, size_t len, const char *types)
{
    while (len && range[len - 1] == ' ')
        len--;
    if (len == 3 && !memcmp(range, "*/*", 3))
        return true;
    while (*types) {
        size_t type = strcspn(types, " ");
        bool wild = len > 2 && range[len - 1] == '*' && range[len - 2] == '/';

        if (wild ? type >= len - 1 && !strncasecmp(range, types, len - 1)
                 : type == len && !strncasecmp(range, types, len))
            return true;
        types += type + (types[type] == ' ');
    }
    return false;
}

bool media_wants(const char *accept, const char *type)
{
    while (*accept) {
        size_t part, end;

        accept += strspn(accept, " ");
        part = strcspn(accept, ",");
        end = strcspn(accept, ";,");
        if (*accept != '*' && range_holds(accept, end, type) && !weight_is_none(accept + end, part - end))
            return true;
        accept += part;
        accept += *accept == ',';
    }
    return false;
}

/* Only the weight 0 counts: among the others the first type that can be given is taken. */
bool media_accept(const char *accept, const char *types, enum form *ret)
{
    *ret = FORM_CLASSAD;
    if (!accept || !*accept)
        return true;
    if (!*types)
        types = TYPE_CLASSAD " " TYPE_JSON;
    while (*accept) {
        size_t part, type;
        int row;

        accept += strspn(accept, " ");
        part = strcspn(accept, ",");
        type = strcspn(accept, ";,");
        if (range_holds(accept, type, types) && !weight_is_none(accept + type, part - type)) {
            row = media_find(accept, type);
            if (row >= 0 && media_rows[row].form != FORM_UNKNOWN)
                *ret = media_rows[row].form;
            return true;
        }
        accept += part;
        accept += *accept == ',';
    }
    return false;
}

const char *media_type(enum form form, const struct dialect *dialect)
{
    if (form == FORM_XML)
        return dialect == &dialect_condor ? TYPE_XML "; dialect=condor" : TYPE_XML;
    if (form == FORM_JSON)
        return dialect == &dialect_condor ? TYPE_JSON "; dialect=condor" : TYPE_JSON;
    return dialect == &dialect_condor ? TYPE_CLASSAD "; dialect=condor" : TYPE_CLASSAD;
}

/* The length of the character that begins here; 0 when it is not UTF-8. */
static size_t character_len(const unsigned char *at, size_t left)
{
    size_t len = *at < 0x80                  ? 1
                 : *at >= 0xc2 && *at < 0xe0 ? 2
                 : (*at & 0xf0) == 0xe0      ? 3
                 : *at >= 0xf0 && *at < 0xf5 ? 4
                                             : 0;

    if (!*at || len > left)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) ||
        (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    return len;
}

int utf8_check(const char *text, size_t len, struct err *err)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + len;
    unsigned line, column;

    while (at < end) {
        uint64_t word;
        size_t character;

        if (end - at >= 8) { /* eight plain characters at a time, none of which is a NUL */
            memcpy(&word, at, 8);
            if (!(word & 0x8080808080808080u) && !((word - 0x0101010101010101u) & ~word & 0x8080808080808080u)) {
                at += 8;
                continue;
            }
        }
        character = character_len(at, (size_t)(end - at));
        if (!character) {
            err_place(text, (size_t)((const char *)at - text), &line, &column);
            return err_at(err, line, column, *at ? "this is not UTF-8" : "there is a NUL");
        }
        at += character;
    }
    return 0;
}

struct tree *represent_read(struct symbols *symbols, const struct media *media, const struct form_limits *limits,
                            const char *text, size_t len, struct err *err)
{
    enum form form = media->form;

    if (utf8_check(text, len, err) < 0)
        return NULL;
    if (form == FORM_UNKNOWN) {
        size_t blanks = strspn(text, " \t\r\n");

        form = text[blanks] == '{' ? FORM_JSON : FORM_CLASSAD;
    }
    return form_parse(symbols, media->dialect, form, limits, text, len, err);
}

static void line_end_drop(struct buf *out)
{
    if (out->len && out->text[out->len - 1] == '\n')
        out->len--;
}

static void ad_add(struct buf *out, enum form form, const struct tree *ad)
{
    struct err err;

    if (form_write_ad(out, form, ad, &err) == 0)
        line_end_drop(out);
}

void represent_ad(struct buf *out, enum form form, const struct tree *ad)
{
    if (form == FORM_XML)
        form_write_begin(out, form);
    ad_add(out, form, ad);
    if (form == FORM_XML) {
        buf_addc(out, '\n');
        form_write_end(out, form);
        line_end_drop(out);
    }
}

void listing_begin(struct listing *listing, struct buf *out, enum form form)
{
    *listing = (struct listing){.out = out, .form = form};
    if (form == FORM_XML)
        form_write_begin(out, form);
    if (form == FORM_JSON)
        buf_addc(out, '[');
}

void listing_add(struct listing *listing, const struct tree *ad)
{
    if (listing->form == FORM_JSON && listing->count)
        buf_adds(listing->out, ",\n ");
    ad_add(listing->out, listing->form, ad);
    if (listing->form != FORM_JSON)
        buf_addc(listing->out, '\n');
    listing->count++;
}

void listing_end(struct listing *listing)
{
    if (listing->form == FORM_JSON)
        buf_adds(listing->out, "]\n");
    else if (listing->form == FORM_XML)
        form_write_end(listing->out, listing->form);
}

void url_value(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || strchr("-._~,", c))
            buf_addc(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}
