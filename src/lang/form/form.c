/* form.c: the table of the forms; writing ads; reading one ad from memory. */
#include "lang/form/form.h"

#include "lang/form/reader.h"
#include "lang/text/parse.h"
#include "lang/text/words.h"

const struct form_row form_rows[FORM_LONG + 1] = {
    [FORM_CLASSAD] = {"classad", classad_next, classad_write, "", ""},
    [FORM_JSON] = {"json", json_next, json_write, "", ""},
    [FORM_XML] = {"xml", xml_next, xml_write,
                  "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n",
                  "</classads>\n"},
    [FORM_LONG] = {"long", long_next, long_write, "", ""},
};

enum form form_find(const char *name)
{
    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++)
        if (strcmp(form_rows[form].name, name) == 0)
            return (enum form)form;
    return FORM_UNKNOWN;
}

const char *form_name(enum form form)
{
    return form == FORM_UNKNOWN ? "unknown" : form_rows[form].name;
}

void form_write_begin(struct buf *out, enum form form)
{
    buf_adds(out, form_rows[form].begin);
}

void form_write_end(struct buf *out, enum form form)
{
    buf_adds(out, form_rows[form].end);
}

/* Checks a name: a tree that was not parsed may have names that could not be read back. */
static int name_check(const struct tree *tree, symbol s, struct err *err)
{
    size_t len;
    const char *name = symbols_text(tree->symbols, s, &len);

    if (len == 0 || memchr(name, 0, len))
        return err_set(err, "an attribute's name cannot be empty or hold a NUL");
    if (!word_may_name(name, len))
        return err_set(err, "'%s' is reserved: it cannot be an attribute's name", name);
    if (!tree->dialect->quoted_names && !word_is_plain(name, len))
        return err_set(err, "'%s' is not an identifier: it cannot be an attribute's name in the %s dialect", name,
                       tree->dialect->name);
    return 0;
}

int form_write_ad(struct buf *out, enum form form, const struct tree *ad, struct err *err)
{
    if (!tree_is_ad(ad))
        return err_set(err, "only an ad can be written in the %s form", form_name(form));
    for (uint32_t i = 0; i < ad->cell_count; i++)
        if ((ad->cells[i].flags & EXPR_FLAG_NAMED) && name_check(ad, ad->cells[i].label, err) < 0)
            return -1;
    form_rows[form].write(out, ad);
    return 0;
}

ptrdiff_t form_text_read(void *form_text, char *out, size_t room, struct err *err)
{
    struct form_text *from = form_text;
    size_t count = from->len < room ? from->len : room;

    (void)err;
    if (count) {
        memcpy(out, from->text, count);
        from->text += count;
        from->len -= count;
    }
    return (ptrdiff_t)count;
}

/* The language's own form needs no window. */
static struct tree *classad_parse(struct symbols *symbols, const struct dialect *dialect,
                                  const struct form_limits *limits, const char *text, size_t len, struct err *err)
{
    const struct parse_options options = {.cells_max = limits ? limits->cells : 0,
                                          .attributes_max = limits ? limits->attributes : 0};
    struct build build;
    struct tree *ad;

    if (len > reader_bytes_max(limits)) {
        err_at(err, 1, 1, "this ad is too long: the limit is %zu bytes", reader_bytes_max(limits));
        return NULL;
    }
    if (len > 1 && reader_utf16((unsigned char)text[0], (unsigned char)text[1])) {
        err_at(err, 1, 1, READER_UTF16);
        return NULL;
    }
    build_init(&build, symbols, dialect);
    ad = parse_ad(&build, &options, text, len, err);
    build_done(&build);
    return ad;
}

struct tree *form_parse(struct symbols *symbols, const struct dialect *dialect, enum form form,
                        const struct form_limits *limits, const char *text, size_t len, struct err *err)
{
    struct form_text stream = {text, len};
    struct form_reader *reader;
    struct tree *ad = NULL, *second = NULL;
    int got;

    if (form == FORM_CLASSAD)
        return classad_parse(symbols, dialect, limits, text, len, err);
    reader = form_reader_new(symbols, dialect, form, limits, form_text_read, &stream);
    got = form_reader_next(reader, &ad, err);
    if (got == 0)
        source_fail(&reader->source, 0, err, "expected an ad, got the end");
    if (got == 1 && (got = form_reader_next(reader, &second, err)) != 0) {
        if (got == 1)
            err_at(err, form_reader_line(reader), 1, "expected the end, got a second ad");
        tree_unref(second);
        tree_unref(ad);
        ad = NULL;
    }
    form_reader_free(reader);
    return ad;
}
