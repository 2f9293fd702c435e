/* xml_write.c: writes an ad as HTCondor's ClassAd XML. A string that XML 1.0 cannot carry becomes an expression: <e>"\001"</e>. */
#include "lang/form/xml.h"

#include "lang/base/number.h"
#include "lang/base/xml.h"
#include "lang/form/spell.h"
#include "lang/text/print.h"
#include "lang/text/timetext.h"

#include <math.h>

static void expr_write(struct buf *out, const struct tree *tree, const struct expr *e)
{
    struct buf text;

    buf_init(&text);
    spell_expr(&text, tree, e, spell_xml);
    buf_adds(out, "<e>");
    xml_quote(out, XML_ELEMENT, text.text, text.len);
    buf_adds(out, "</e>");
    buf_done(&text);
}

static void value_write(struct buf *out, const struct tree *tree, const struct expr *e);

/* Writes an ad with its attributes on lines of their own, or all on one line. */
static void ad_write(struct buf *out, const struct tree *tree, const struct expr *e, bool lines)
{
    const struct expr *parts = tree_parts(tree, e);
    struct buf name;

    buf_init(&name);
    buf_adds(out, lines ? "<c>\n" : "<c>");
    for (uint32_t i = 0; i < e->u.run.count; i++) {
        size_t len;
        const char *text = symbols_text(tree->symbols, parts[i].label, &len);

        buf_reset(&name);
        spell_name(&name, tree->dialect, text, len, spell_xml);
        buf_adds(out, lines ? "    <a n=\"" : "<a n=\"");
        xml_quote(out, XML_ATTRIBUTE, name.text, name.len);
        buf_adds(out, "\">");
        value_write(out, tree, &parts[i]);
        buf_adds(out, lines ? "</a>\n" : "</a>");
    }
    buf_adds(out, lines ? "</c>\n" : "</c>");
    buf_done(&name);
}

static void real_write(struct buf *out, double value)
{
    buf_adds(out, "<r>");
    if (isfinite(value))
        print_real(out, value);
    else
        buf_adds(out, isnan(value) ? "NaN" : value < 0 ? "-INF" : "INF");
    buf_adds(out, "</r>");
}

static void value_write(struct buf *out, const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);

    switch (e->kind) {
    case EXPR_UNDEFINED:
        buf_adds(out, "<un/>");
        break;
    case EXPR_ERROR:
        buf_adds(out, "<er/>");
        break;
    case EXPR_BOOLEAN:
        buf_adds(out, e->small ? "<b v=\"t\"/>" : "<b v=\"f\"/>");
        break;
    case EXPR_INTEGER:
        buf_adds(out, "<i>");
        out->len += number_print_integer(e->u.integer, buf_reserve(out, NUMBER_TEXT_MAX));
        buf_adds(out, "</i>");
        break;
    case EXPR_REAL:
        real_write(out, e->u.real);
        break;
    case EXPR_STRING:
        if (!spell_xml(tree_string(tree, e), e->u.run.count)) {
            expr_write(out, tree, e);
            break;
        }
        buf_adds(out, "<s>");
        xml_quote(out, XML_ELEMENT, tree_string(tree, e), e->u.run.count);
        buf_adds(out, "</s>");
        break;
    case EXPR_ABSTIME:
        buf_adds(out, "<at>");
        time_print_absolute(tree->dialect, e->u.integer, e->small, out);
        buf_adds(out, "</at>");
        break;
    case EXPR_RELTIME:
        buf_adds(out, "<rt>");
        time_print_relative(tree->dialect, e->u.integer, out);
        buf_adds(out, "</rt>");
        break;
    case EXPR_LIST:
        buf_adds(out, "<l>");
        for (uint32_t i = 0; i < e->u.run.count; i++)
            value_write(out, tree, &parts[i]);
        buf_adds(out, "</l>");
        break;
    case EXPR_AD:
        ad_write(out, tree, e, false);
        break;
    default:
        expr_write(out, tree, e);
        break;
    }
}

void xml_write(struct buf *out, const struct tree *ad)
{
    ad_write(out, ad, tree_root(ad), true);
}
