/* shapes.h: many resources that look alike, matched once: a shared-composition template for each shape.
 *
 *     tasks      10,000 ->  500 shapes \
 *                                       500 * 100 pairs of templates   instead of 10,000 * 10,000 of resources
 *     executors  10,000 ->  100 shapes /
 *
 * Two resources have one shape when no resource of the other side can tell them apart: the same requirements, and the same
 * characteristics in every dimension that the other side's requirements or preferences name; and the same preferences. The template of a shape is any
 * of its members with the rest left out: each is a template of the other, so theorem 8.2.1 works both ways and nothing is lost. A
 * resource with a requirement that looks at all characteristics is a shape of its own, without a template. */
#ifndef BERTH_MATCH_GRDL_SHAPES_H
#define BERTH_MATCH_GRDL_SHAPES_H

#include "match/grdl/template.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dimensions that requirements and preferences of some readings name. */
struct grdl_dimensions {
    bool *named; /* by number */
    uint32_t room;
};
void grdl_dimensions_init(struct grdl_dimensions *dimensions);
void grdl_dimensions_done(struct grdl_dimensions *dimensions);
void grdl_dimensions_name(struct grdl_dimensions *dimensions, const struct grdl_reading *reading);
bool grdl_dimensions_have(const struct grdl_dimensions *dimensions, uint32_t dimension);

struct grdl_shape {
    uint32_t head;         /* the member whose reading stands for all */
    uint32_t first, count; /* in `members` */
    bool lone;             /* no template: its requirements look at all characteristics */
};

struct grdl_shapes {
    struct grdl_shape *items; /* in the order of their first members */
    uint32_t count, room;
    uint32_t *members;  /* numbers of readings, by shape, in their order */
    uint32_t *shape_of; /* by reading */
    uint32_t reading_count;
};

/* Sorts readings into shapes. `seen` are the dimensions that the other side looks at. The readings are of one consumer. */
void grdl_shapes_make(const struct grdl_reading *const *readings, uint32_t count, const struct grdl_dimensions *seen,
                      struct grdl_shapes *ret_shapes);
void grdl_shapes_done(struct grdl_shapes *shapes);

/* The peers among two sides, shape by shape. */
struct grdl_shape_pair {
    uint32_t left, right; /* shapes */
};
struct grdl_shape_pairs {
    struct grdl_shape_pair *items;
    uint32_t count, room;
    uint64_t resource_pairs; /* pairs of resources that these stand for */
    uint64_t all_pairs;      /* all pairs of resources */
    struct grdl_counts counts;
};
void grdl_shapes_match(const struct grdl_shapes *left, const struct grdl_reading *const *left_readings,
                       const struct grdl_shapes *right, const struct grdl_reading *const *right_readings,
                       struct grdl_shape_pairs *ret_pairs);
void grdl_shape_pairs_done(struct grdl_shape_pairs *pairs);

#ifdef __cplusplus
}
#endif
#endif
