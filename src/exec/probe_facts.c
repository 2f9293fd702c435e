/* probe_facts.c: an ad that grows by one attribute after another. */
#include "exec/probe_parts.h"

#include <math.h>

void text_clean(const char *text, size_t len, char *out, size_t room)
{
    size_t n = 0;

    while (len && (unsigned char)*text <= ' ')
        text++, len--;
    for (; n < len && n + 1 < room && text[n] != '\n' && text[n] != '\0'; n++)
        out[n] = text[n] == '\t' ? ' ' : text[n] < ' ' || text[n] > '~' ? '?' : text[n];
    while (n && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

void facts_init(struct facts *facts, struct symbols *symbols)
{
    build_init(&facts->build, symbols, &dialect_classic);
    facts->count = 0;
}

void facts_name(struct facts *facts, const char *name)
{
    build_attribute(&facts->build, symbols_take(facts->build.symbols, name, strlen(name)));
    facts->count++;
}

void facts_integer(struct facts *facts, const char *name, int64_t value)
{
    build_integer(&facts->build, value);
    facts_name(facts, name);
}

void facts_real(struct facts *facts, const char *name, double value)
{
    if (!isfinite(value))
        return;
    build_real(&facts->build, value);
    facts_name(facts, name);
}

void facts_span(struct facts *facts, const char *name, int64_t seconds)
{
    build_reltime(&facts->build, seconds);
    facts_name(facts, name);
}

void facts_string(struct facts *facts, const char *name, const char *text)
{
    char clean[PROBE_TEXT_MAX + 1];

    text_clean(text, strlen(text), clean, sizeof clean);
    if (!*clean)
        return;
    build_string(&facts->build, clean, strlen(clean));
    facts_name(facts, name);
}

struct tree *facts_seal(struct facts *facts)
{
    uint32_t place;
    struct tree *tree = build_ad(&facts->build, facts->count, &place) == 0 ? build_seal(&facts->build) : NULL;

    build_done(&facts->build);
    return tree;
}
