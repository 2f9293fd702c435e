/* plot.h: plots of numbers as SVG inside a page: axes, grid, lines.
 *
 * The page sets the colours, by classes: s0, s1, ... for the series, `grid`, `axis` and `tick` for the rest. Coordinates have one digit behind
 * the point, so that the same numbers give the same bytes. */
#ifndef BERTH_SIM_PLOT_H
#define BERTH_SIM_PLOT_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLOT_SERIES 9 /* number of colours; a tenth series has the first again */

enum plot_scale {
    PLOT_PLAIN,   /* from 0 on, round steps */
    PLOT_HOURS,   /* the same, with steps of hours as on a clock */
    PLOT_PERCENT, /* from 0 to 100 */
    PLOT_SPANS,   /* seconds, by their logarithm: 1 s, 10 s, 1 min, ... */
    PLOT_NAMES,   /* names side by side: the first is at 0.5, the next at 1.5 */
};

struct plot_axis {
    enum plot_scale scale;
    double most; /* PLOT_SPANS begins at a tenth of a second; for PLOT_NAMES the number of names */
    const char *label;
    double least;             /* of PLOT_PLAIN: 0, or below */
    const char *const *names; /* of PLOT_NAMES */
};

struct plot {
    struct buf *out;
    double width, height;
    struct plot_axis x, y;
};

/* Writes text for HTML, with special characters quoted. */
void page_text(struct buf *out, const char *text);

/* Begins a plot; `about` is the text for people who cannot see it. */
void plot_open(struct plot *plot, const char *about);
/* Draws a line through the points; points outside are drawn on the edge. */
void plot_line(const struct plot *plot, const double *x, const double *y, uint32_t count, uint32_t series,
               const char *name);
/* Draws a number and its confidence interval: a dot, and a line from `low` to `high`. */
void plot_interval(const struct plot *plot, double x, double low, double middle, double high, uint32_t series,
                   const char *name);
void plot_close(const struct plot *plot);

#ifdef __cplusplus
}
#endif
#endif
