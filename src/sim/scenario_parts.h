/* scenario_parts.h: how a scenario's attributes are read: values with the path that leads to them, for errors with their place. */
#ifndef BERTH_SIM_SCENARIO_PARTS_H
#define BERTH_SIM_SCENARIO_PARTS_H

#include "lang/ad/eval.h"
#include "sim/scenario.h"

/* Machines[1].Ad.Memory, from the inside out. */
struct path {
    const struct path *outer;
    const char *name; /* NULL: an element of a list ... */
    uint32_t number;  /* ... with that place, from 0 */
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

/* An ad of the scenario that is being read. */
struct section {
    struct reader *reader;
    const struct scope *scope;
    const struct path *path; /* NULL: the outermost */
};

/* Says what is wrong there, with the path in front; -1. */
int reader_fail(struct reader *reader, const struct path *path, const char *format, ...) ERR_FORMAT(3, 4);

/* Warns of attributes that are not among the names, which a NULL ends, and that no expression names. */
void section_known(const struct section *section, const char *const *names);

/* The value of an attribute; false when there is none, or it is undefined. */
bool section_value(const struct section *section, const char *name, struct value *ret);

/* A number from `least` to `most`, whole if asked for; `*ret` stays when there is none. */
int section_number(const struct section *section, const char *name, double least, double most, double *ret);
int section_count(const struct section *section, const char *name, uint64_t least, uint64_t most, uint64_t *ret);

/* A distribution, or a number, of which nothing below `least` is drawn; `*ret` stays when there is none. */
int section_dist(const struct section *section, const char *name, double least, const struct dist **ret);
int reader_dist(struct reader *reader, const struct path *path, const struct value *value, bool words, double least,
                const struct dist **ret);

/* The ad that is the value of an attribute: true, and the section of it. -1 when it is no ad. */
int section_open(const struct section *section, const struct path *path, struct section *ret);

/* The attributes of a section's Ad, as a template. */
int attributes_read(const struct section *section, struct template_ad *ret);

/* A list of templates, [ Weight = ...; Ad = [ ... ]; ... ]; `known` as for section_known. */
int templates_read(const struct section *section, const char *name, const char *const *known, struct templates *ret);

/* Name, if there is one. */
int section_name(const struct section *section, char *ret, size_t room);

/* As scenario_read, but what the attributes mean is the caller's affair: `top` gets the outermost ad, and what it finds. */
typedef int scenario_top_fn(const struct section *top, struct scenario *scenario, void *found);
struct scenario *scenario_read_as(struct symbols *symbols, const char *text, size_t len, scenario_top_fn *top,
                                  void *found, scenario_warn_fn *warn, void *user, struct err *err);

/* Weights as parts of 1: element i becomes the sum of all up to it. -1 when none is above 0. */
int weights_sum(double *weights, uint32_t count, size_t stride);

#endif
