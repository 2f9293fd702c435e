/* scenario_parts.h: reads a scenario's attributes: values with the path that leads to them, so that errors have a place. */
#ifndef BERTH_SIM_SCENARIO_PARTS_H
#define BERTH_SIM_SCENARIO_PARTS_H

#include "lang/ad/eval.h"
#include "sim/scenario.h"

/* A path such as Machines[1].Ad.Memory, from the inside out. */
struct path {
    const struct path *outer;
    const char *name; /* NULL: an element of a list ... */
    uint32_t number;  /* ... at that place, from 0 */
};

struct reader {
    struct scenario *scenario;
    struct eval eval;
    struct arena scratch;
    struct env env;
    const char *text; /* padded */
    size_t len;
    scenario_warn_fn *warn;
    void *user;
    struct err *err;
};

/* An ad of the scenario while it is being read. */
struct section {
    struct reader *reader;
    const struct scope *scope;
    const struct path *path; /* NULL: the outermost */
};

/* Reports an error at the path, with the path in front; returns -1. */
int reader_fail(struct reader *reader, const struct path *path, const char *format, ...) ERR_FORMAT(3, 4);

/* Warns of attributes that are not among the names (a NULL ends the list), and that no expression names. */
void section_known(const struct section *section, const char *const *names);

/* The value of an attribute; false when there is none, or it is undefined. */
bool section_value(const struct section *section, const char *name, struct value *ret);

/* Reads a number from `least` to `most`, section_count a whole one; `*ret` stays as it is when there is none. */
int section_number(const struct section *section, const char *name, double least, double most, double *ret);
int section_count(const struct section *section, const char *name, uint64_t least, uint64_t most, uint64_t *ret);

/* Reads a distribution, or a number; nothing below `least` is drawn; `*ret` stays as it is when there is none. */
int section_dist(const struct section *section, const char *name, double least, const struct dist **ret);
int reader_dist(struct reader *reader, const struct path *path, const struct value *value, bool words, double least,
                const struct dist **ret);

/* Opens the section of an attribute whose value is an ad. -1 when it is not an ad. */
int section_open(const struct section *section, const struct path *path, struct section *ret);

/* Reads the attributes of a section's Ad, as a template. */
int attributes_read(const struct section *section, struct template_ad *ret);

/* Reads a list of templates, [ Weight = ...; Ad = [ ... ]; ... ]; `known` as for section_known. */
int templates_read(const struct section *section, const char *name, const char *const *known, struct templates *ret);

/* Reads Name, if there is one. */
int section_name(const struct section *section, char *ret, size_t room);

/* As scenario_read, but the caller reads the attributes: `top` gets the outermost ad, and `found` for its results. */
typedef int scenario_top_fn(const struct section *top, struct scenario *scenario, void *found);
struct scenario *scenario_read_as(struct symbols *symbols, const char *text, size_t len, scenario_top_fn *top,
                                  void *found, scenario_warn_fn *warn, void *user, struct err *err);

/* Turns weights into parts of 1: element i becomes the sum of all up to it. -1 when none is above 0. */
int weights_sum(double *weights, uint32_t count, size_t stride);

#endif
