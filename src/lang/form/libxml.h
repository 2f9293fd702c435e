/* libxml.h: libxml2, loaded when the first document is read: few commands read XML, and with the tables of characters behind it it takes as long to load
 * as many of them run. */
#ifndef BERTH_LANG_FORM_LIBXML_H
#define BERTH_LANG_FORM_LIBXML_H

#include "lang/base/err.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlreader.h>
#include <libxml/xmlschemas.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that are called, without the xml in front. */
#define LIBXML_FUNCTIONS(X)           \
    X(ByteConsumed)                   \
    X(CreateMemoryParserCtxt)         \
    X(CtxtUseOptions)                 \
    X(Free)                           \
    X(FreeDoc)                        \
    X(FreeParserCtxt)                 \
    X(FreeTextReader)                 \
    X(GetPredefinedEntity)            \
    X(InitParser)                     \
    X(ParseDocument)                  \
    X(ReaderForMemory)                \
    X(SchemaFree)                     \
    X(SchemaFreeParserCtxt)           \
    X(SchemaFreeValidCtxt)            \
    X(SchemaNewMemParserCtxt)         \
    X(SchemaNewValidCtxt)             \
    X(SchemaParse)                    \
    X(SchemaSAXPlug)                  \
    X(SchemaSAXUnplug)                \
    X(SchemaSetValidStructuredErrors) \
    X(StopParser)                     \
    X(StrEqual)                       \
    X(Strlen)                         \
    X(TextReaderConstName)            \
    X(TextReaderConstValue)           \
    X(TextReaderGetAttribute)         \
    X(TextReaderIsEmptyElement)       \
    X(TextReaderNodeType)             \
    X(TextReaderRead)                 \
    X(TextReaderSetStructuredErrorHandler)

struct libxml {
#define X(name) __typeof__(xml##name) *name;
    LIBXML_FUNCTIONS(X)
#undef X
};

/* Loads it, unless it was loaded before; -1 when it is not installed. */
int libxml_load(struct err *err);

/* The functions. Whoever has called libxml_load can have them. */
const struct libxml *libxml(void);

#ifdef __cplusplus
}
#endif
#endif
