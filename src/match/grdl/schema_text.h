/* schema_text.h: the schema as it is put into the library by schema/embed.py. For this folder only. */
#ifndef BERTH_MATCH_GRDL_SCHEMA_TEXT_H
#define BERTH_MATCH_GRDL_SCHEMA_TEXT_H

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const schema_lines[]; /* all layers as one text */
extern const unsigned schema_line_count;
extern const struct schema_dimension {
    const char *name, *element; /* the one of its kind that is in the text */
} schema_dimensions[];          /* that are known, sorted by the bytes of their names */
extern const unsigned schema_dimension_count;

#ifdef __cplusplus
}
#endif
#endif
