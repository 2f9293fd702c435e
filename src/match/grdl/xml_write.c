/* xml_write.c: resources as an XML document that reads back the same. */
#include "match/grdl/xml.h"

#include "lang/base/number.h"
#include "lang/base/xml.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------- what XML can hold */

/* Reads the character that begins here; returns how many bytes it has, 0 when it is not UTF-8. */
static size_t character_read(const unsigned char *at, size_t left, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = *at < 0x80 ? 1 : (*at & 0xe0) == 0xc0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : (*at & 0xf8) == 0xf0 ? 4 : 0;
    uint32_t c = len == 1 ? *at : *at & (0xffu >> (len + 1));

    if (!len || len > left)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    *ret = c;
    return c < least[len] ? 0 : len;
}

bool xml_text_is_good(const char *text, size_t len)
{
    for (size_t at = 0, used; at < len; at += used) {
        uint32_t c;

        used = character_read((const unsigned char *)text + at, len - at, &c);
        if (!used || (c < ' ' && c != '\t' && c != '\n' && c != '\r') || (c >= 0xd800 && c < 0xe000) || c == 0xfffe ||
            c == 0xffff || c > 0x10ffff)
            return false;
    }
    return true;
}

/* May a name begin with that letter? Beyond ASCII only the ranges that hold letters of living scripts count: XML allows more, and some of them are
 * not letters. */
static bool letter_begins(uint32_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (c >= 0xc0 && c <= 0x2ff && c != 0xd7 && c != 0xf7) || (c >= 0x370 && c <= 0x1fff && c != 0x37e) ||
           (c >= 0x3001 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfdcf);
}

bool grdl_name_is_good(const char *name, size_t len)
{
    if (!len || len > GRDL_NAME_MAX)
        return false;
    for (size_t at = 0, used; at < len; at += used) {
        uint32_t c;

        used = character_read((const unsigned char *)name + at, len - at, &c);
        if (!used || !(letter_begins(c) || (at && ((c >= '0' && c <= '9') || c == '-' || c == '.'))))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static void attribute_write(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, " %s=\"", name);
    xml_quote(out, XML_ATTRIBUTE, value, strlen(value));
    buf_addc(out, '"');
}

static int name_check(const char *name, const char *what, struct err *err)
{
    if (grdl_name_is_good(name, strlen(name)))
        return 0;
    return err_set(err, "%s '%.60s': this cannot be the name of an element", what, name);
}

struct section_writer {
    struct buf *out;
    const char *indent;
    struct err *err;
};

/* Writes <DIMENSION ATTRIBUTES> VALUE </DIMENSION>. Rank and match are left out when they are the defaults. */
static int property_write(const struct section_writer *writer, const struct grdl_char *at, enum grdl_operator match,
                          const double *rank)
{
    struct buf *out = writer->out;

    if (name_check(at->dimension, "the dimension", writer->err) < 0)
        return -1;
    buf_addf(out, "%s    <%s", writer->indent, at->dimension);
    if (rank && *rank != GRDL_RANK_DEFAULT) {
        buf_adds(out, " rank=\"");
        if (*rank == (double)(int64_t)*rank && *rank > -1e15 && *rank < 1e15 && (*rank != 0 || 1 / *rank > 0))
            out->len += number_print_integer((int64_t)*rank, buf_reserve(out, NUMBER_TEXT_MAX));
        else
            out->len += number_print_real(*rank, buf_reserve(out, NUMBER_TEXT_MAX));
        buf_addc(out, '"');
    }
    if (match != GRDL_EQ)
        attribute_write(out, "match", grdl_operators[match].sign);
    if (at->type)
        attribute_write(out, "type", at->type);
    if (at->text) {
        buf_addc(out, '>');
        xml_quote(out, XML_ELEMENT, at->text, strlen(at->text));
        buf_addf(out, "</%s>\n", at->dimension);
    } else {
        buf_adds(out, "/>\n");
    }
    return 0;
}

static void section_mark(const struct section_writer *writer, const char *mark, const char *name)
{
    buf_addf(writer->out, "%s  <%s%s>\n", writer->indent, mark, name);
}

/* Writes the defaults. A type for all dimensions is an attribute of <defaults>, so each such type begins a <defaults> of its own. */
static int defaults_write(const struct section_writer *writer, const struct grdl_resource *resource)
{
    for (uint32_t i = 0; i < resource->default_count; i++) {
        const struct grdl_default *row = &resource->defaults[i];

        if (i && !row->dimension)
            section_mark(writer, "/", "defaults");
        if (!i || !row->dimension) {
            buf_addf(writer->out, "%s  <defaults", writer->indent);
            if (!row->dimension)
                attribute_write(writer->out, "type", row->type);
            buf_adds(writer->out, ">\n");
        }
        if (!row->dimension)
            continue;
        if (name_check(row->dimension, "the dimension", writer->err) < 0)
            return -1;
        buf_addf(writer->out, "%s    <%s", writer->indent, row->dimension);
        attribute_write(writer->out, "type", row->type);
        buf_adds(writer->out, "/>\n");
    }
    if (resource->default_count)
        section_mark(writer, "/", "defaults");
    return 0;
}

static int sections_write(const struct section_writer *writer, const struct grdl_resource *resource)
{
    int written = 0;

    if (resource->char_count)
        section_mark(writer, "", "chars");
    for (uint32_t i = 0; i < resource->char_count; i++)
        written |= property_write(writer, &resource->chars[i], GRDL_EQ, NULL);
    if (resource->char_count)
        section_mark(writer, "/", "chars");
    if (resource->req_count)
        section_mark(writer, "", "reqs");
    for (uint32_t i = 0; i < resource->req_count; i++)
        written |= property_write(writer, &resource->reqs[i].at, resource->reqs[i].match, NULL);
    if (resource->req_count)
        section_mark(writer, "/", "reqs");
    if (resource->pref_count)
        section_mark(writer, "", "prefs");
    for (uint32_t i = 0; i < resource->pref_count; i++) {
        const struct grdl_pref *pref = &resource->prefs[i];

        written |= property_write(writer, &pref->req.at, pref->req.match, &pref->rank);
    }
    if (resource->pref_count)
        section_mark(writer, "/", "prefs");
    return written | defaults_write(writer, resource);
}

static int resource_write(struct buf *out, const struct grdl_resource *resource, const char *indent, struct err *err)
{
    const struct section_writer writer = {out, indent, err};
    bool empty = !resource->char_count && !resource->req_count && !resource->pref_count && !resource->default_count;

    if (name_check(resource->class_name, "the class", err) < 0)
        return -1;
    if (strcmp(resource->class_name, "resources") == 0)
        return err_set(err, "a class cannot be called resources: that element stands around them");
    buf_addf(out, "%s<%s", indent, resource->class_name);
    if (resource->name)
        attribute_write(out, "name", resource->name);
    buf_adds(out, empty ? "/>\n" : ">\n");
    if (empty)
        return 0;
    if (sections_write(&writer, resource) < 0)
        return -1;
    buf_addf(out, "%s</%s>\n", indent, resource->class_name);
    return 0;
}

int xml_resources_write(struct buf *out, const struct grdl_resource *const *resources, uint32_t count, struct err *err)
{
    buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    if (count == 1)
        return resource_write(out, resources[0], "", err);
    buf_adds(out, "<resources>\n");
    for (uint32_t i = 0; i < count; i++)
        if (resource_write(out, resources[i], "  ", err) < 0)
            return -1;
    buf_adds(out, "</resources>\n");
    return 0;
}
