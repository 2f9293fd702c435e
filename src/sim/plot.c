/* plot.c: draws plots as SVG. */
#include "sim/plot.h"

#include "lang/base/xml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEFT 48.0
#define RIGHT 14.0
#define TOP 10.0
#define BOTTOM 36.0
#define TICKS_MOST 6 /* approximately */
#define SPAN_LEAST 0.1

void page_text(struct buf *out, const char *text)
{
    xml_quote(out, XML_ANYWHERE, text, strlen(text));
}

/* ------------------------------------------------------------------------------------------------------------------ axes */

/* The part of the axis that lies before a number. */
static double axis_part(const struct plot_axis *axis, double number)
{
    double part;

    if (axis->scale == PLOT_SPANS)
        part = (log10(fmax(number, SPAN_LEAST)) - log10(SPAN_LEAST)) / (log10(axis->most) - log10(SPAN_LEAST));
    else
        part = (number - axis->least) / (axis->most - axis->least);
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

static double x_at(const struct plot *plot, double number)
{
    return LEFT + axis_part(&plot->x, number) * (plot->width - LEFT - RIGHT);
}

static double y_at(const struct plot *plot, double number)
{
    return plot->height - BOTTOM - axis_part(&plot->y, number) * (plot->height - TOP - BOTTOM);
}

/* A round step that divides `most` into a few parts. */
static double step_round(double most)
{
    double power = pow(10, floor(log10(most / TICKS_MOST)));

    for (;; power *= 10) {
        if (most / power <= TICKS_MOST)
            return power;
        if (most / (2 * power) <= TICKS_MOST)
            return 2 * power;
        if (most / (5 * power) <= TICKS_MOST)
            return 5 * power;
    }
}

static double step_hours(double most)
{
    static const double steps[] = {0.25, 0.5, 1, 2, 4, 6, 12, 24, 48, 96, 168, 336, 672};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (most >= steps[i] && most / steps[i] <= TICKS_MOST)
            return steps[i];
    return step_round(most);
}

static void tick(const struct plot *plot, bool x, double number, const char *text)
{
    struct buf *out = plot->out;
    double bottom = plot->height - BOTTOM;

    if (x) {
        double at = x_at(plot, number);

        buf_addf(out,
                 "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"middle\">%s</text>",
                 at, TOP, bottom, at, bottom + 15, text);
    } else {
        double at = y_at(plot, number);

        buf_addf(out,
                 "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"end\">%s</text>",
                 LEFT, at, plot->width - RIGHT, LEFT - 6, at + 3.5, text);
    }
}

static void tick_name(const struct plot *plot, double at, const char *name)
{
    buf_addf(plot->out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x_at(plot, at),
             plot->height - BOTTOM + 15);
    page_text(plot->out, name);
    buf_adds(plot->out, "</text>");
}

static void ticks_spans(const struct plot *plot, bool x, const struct plot_axis *axis)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{0.1, "0"},    {1, "1 s"},      {10, "10 s"},       {60, "1 min"},        {600, "10 min"},
                {3600, "1 h"}, {36000, "10 h"}, {86400 * 4, "4 d"}, {86400 * 40, "40 d"}, {86400 * 400, "400 d"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows && rows[i].seconds <= axis->most; i++)
        tick(plot, x, rows[i].seconds, rows[i].text);
}

static void axis_ticks(const struct plot *plot, bool x, const struct plot_axis *axis)
{
    double step = axis->scale == PLOT_HOURS ? step_hours(axis->most) : step_round(axis->most - axis->least);
    int count = (int)floor(axis->most / step * (1 + 1e-9)), first = (int)ceil(axis->least / step - 1e-9);
    char text[40];

    if (axis->scale == PLOT_SPANS) {
        ticks_spans(plot, x, axis);
        return;
    }
    for (int i = 0; i < (int)axis->most && axis->scale == PLOT_NAMES; i++)
        tick_name(plot, i + 0.5, axis->names[i]);
    for (int i = first; i <= count && axis->scale != PLOT_NAMES; i++) {
        snprintf(text, sizeof text, axis->scale == PLOT_PERCENT ? "%g%%" : "%g", i * step);
        tick(plot, x, i * step, text);
    }
}

void plot_open(struct plot *plot, const char *about)
{
    struct buf *out = plot->out;
    double bottom = plot->height - BOTTOM;

    if (!(plot->x.most > 0))
        plot->x.most = 1;
    if (!(plot->y.most > 0))
        plot->y.most = 1;
    if (plot->y.scale == PLOT_PLAIN) { /* extend the axis to whole steps at both ends */
        double step = step_round(plot->y.most - plot->y.least);

        plot->y.most = ceil(plot->y.most / step * (1 - 1e-9)) * step;
        plot->y.least = floor(plot->y.least / step * (1 - 1e-9)) * step;
    }
    buf_addf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"", plot->width, plot->height);
    page_text(out, about);
    buf_adds(out, "\">");
    axis_ticks(plot, true, &plot->x);
    axis_ticks(plot, false, &plot->y);
    buf_addf(out, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>", LEFT, plot->y.least < 0 ? y_at(plot, 0) : bottom,
             plot->width - RIGHT);
    buf_addf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", plot->width - RIGHT,
             plot->height - 5);
    page_text(out, plot->x.label);
    buf_adds(out, "</text>");
}

void plot_line(const struct plot *plot, const double *x, const double *y, uint32_t count, uint32_t series,
               const char *name)
{
    buf_addf(plot->out, "<path class=\"line s%u\" d=\"", series % PLOT_SERIES);
    for (uint32_t i = 0; i < count; i++)
        buf_addf(plot->out, "%s%.1f %.1f", i ? "L" : "M", x_at(plot, x[i]), y_at(plot, y[i]));
    buf_adds(plot->out, "\"><title>");
    page_text(plot->out, name);
    buf_adds(plot->out, "</title></path>");
}

void plot_interval(const struct plot *plot, double x, double low, double middle, double high, uint32_t series,
                   const char *name)
{
    buf_addf(plot->out, "<g class=\"mark s%u\"><path class=\"line s%u\" d=\"M%.1f %.1fV%.1f\"/>", series % PLOT_SERIES,
             series % PLOT_SERIES, x_at(plot, x), y_at(plot, low), y_at(plot, high));
    buf_addf(plot->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/><title>", x_at(plot, x), y_at(plot, middle));
    page_text(plot->out, name);
    buf_addf(plot->out, ": %.2f, from %.2f to %.2f</title></g>", middle, low, high);
}

void plot_close(const struct plot *plot)
{
    buf_adds(plot->out, "</svg>");
}
