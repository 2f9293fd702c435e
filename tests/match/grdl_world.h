/* Resources for tests of GRDL, said in a line each.
 *
 *     say(&w, "task", "testjob1", "norm_cpu:hr 2; mem:MB 180", "os = linux; mhz >= 2500; openssl", "cost < @1; vo = physics @2")
 *
 * Properties are separated by ';'. DIMENSION[:TYPE], then in requirements and preferences an operator (none: =), then the value (none:
 * unspecified), then in preferences @RANK (none: 1). NULL: there are none. */
#ifndef BERTH_TESTS_GRDL_WORLD_H
#define BERTH_TESTS_GRDL_WORLD_H

#include "common/tap.h"
#include "match/grdl/consumer.h"

#include <stdio.h>
#include <stdlib.h>

#define WORLD_MAX 64

struct grdl_world {
    struct grdl_units *units;
    struct grdl_consumer *consumer;
    struct grdl_resource *resources[WORLD_MAX];
    struct grdl_reading *readings[WORLD_MAX];
    uint32_t count;
};

static void world_begin(struct grdl_world *w, enum grdl_comparator comparator)
{
    *w = (struct grdl_world){.units = grdl_units_new()};
    w->consumer = grdl_consumer_new(w->units, comparator);
}

static void world_end(struct grdl_world *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        grdl_reading_free(w->readings[i]);
        grdl_resource_free(w->resources[i]);
    }
    grdl_consumer_free(w->consumer);
    grdl_units_free(w->units);
}

enum said_role { SAID_CHAR, SAID_REQ, SAID_PREF };

static void say_property(struct grdl_resource *resource, enum said_role role, char *text)
{
    char *dimension = text + strspn(text, " "), *rest = dimension + strcspn(dimension, " "), *at, *type, *word;
    enum grdl_operator match = GRDL_EQ;
    double rank = GRDL_RANK_DEFAULT;
    struct err err = {0};
    int failed;

    if (*rest)
        *rest++ = '\0';
    type = strchr(dimension, ':');
    if (type)
        *type++ = '\0';
    at = role == SAID_PREF ? strchr(rest, '@') : NULL;
    if (at) {
        *at = '\0';
        rank = atof(at + 1);
    }
    rest += strspn(rest, " ");
    word = rest;
    if (role != SAID_CHAR && grdl_operator_read(word, strcspn(word, " "), &match))
        rest = word + strcspn(word, " ");
    failed = role == SAID_CHAR  ? grdl_add_char(resource, dimension, type, rest, &err)
             : role == SAID_REQ ? grdl_add_req(resource, dimension, match, type, rest, &err)
                                : grdl_add_pref(resource, dimension, match, type, rest, rank, &err);
    if (failed)
        tap_ok(false, "%s is a property: %s", dimension, err.text);
}

static void say_properties(struct grdl_resource *resource, enum said_role role, const char *text)
{
    char copy[1024], *end;

    if (!text)
        return;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *at = copy; at; at = end) {
        end = strchr(at, ';');
        if (end)
            *end++ = '\0';
        if (at[strspn(at, " ")])
            say_property(resource, role, at);
    }
}

__attribute__((unused)) static struct grdl_resource *resource_said(const char *class_name, const char *name,
                                                                   const char *chars, const char *reqs,
                                                                   const char *prefs)
{
    struct grdl_resource *resource = grdl_resource_new(class_name, name);

    say_properties(resource, SAID_CHAR, chars);
    say_properties(resource, SAID_REQ, reqs);
    say_properties(resource, SAID_PREF, prefs);
    return resource;
}

/* The world owns both. */
__attribute__((unused)) static const struct grdl_reading *say_resource(struct grdl_world *w,
                                                                       struct grdl_resource *resource)
{
    if (w->count == WORLD_MAX) {
        tap_ok(false, "the world has room");
        exit(1);
    }
    w->resources[w->count] = resource;
    w->readings[w->count] = grdl_read(w->consumer, resource);
    return w->readings[w->count++];
}

__attribute__((unused)) static const struct grdl_reading *say(struct grdl_world *w, const char *class_name,
                                                              const char *name, const char *chars, const char *reqs,
                                                              const char *prefs)
{
    return say_resource(w, resource_said(class_name, name, chars, reqs, prefs));
}

#endif
