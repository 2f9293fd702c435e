/* Values of GRDL: units, where a type comes from, order and distance of each kind, comparators. */
#include "grdl_world.h"
#include "match/grdl/relation.h"

#include <math.h>

/* ---- units and numbers ---- */

static double number_in(struct grdl_units *units, const char *text, const char *unit)
{
    const struct grdl_unit *row = grdl_units_find(units, unit, strlen(unit));
    double value = NAN;

    return row && grdl_number_read(text, strlen(text), row->factor, row->exponent, &value) ? value : NAN;
}

static void units_know_the_tables(void)
{
    static const struct {
        const char *one, *unit, *other, *other_unit;
    } same[] = {
        {"1", "month", "30", "d"},         {"1", "mon", "1", "month"},     {"1", "wk", "1", "w"},
        {"1", "week", "7", "day"},         {"1", "yr", "365", "d"},        {"2", "hr", "120", "min"},
        {"2", "h", "2", "hour"},           {"90", "sec", "1.5", "minute"}, {"0.3", "ms", "300", "us"},
        {"1", "ps", "1000", "fs"},         {"1", "ns", "0.001", "us"},     {"1", "GB", "1024", "MB"},
        {"0.5", "PB", "512", "TB"},        {"1024", "B", "1", "KB"},       {"3.4", "GHz", "3400", "MHz"},
        {"1", "THz", "1000000000", "KHz"}, {"1", "Gb/s", "1000", "Mb/s"},  {"1", "Pb/s", "1000", "Tb/s"},
        {"1.1", "K", "1100", "base"},      {"1", "P", "1000", "T"},        {"1000", "f", "1", "p"},
        {"7", "m", "7000", "u"},           {"1e3", "n", "1", "u"},
    };
    struct grdl_units *units = grdl_units_new();
    struct err err = {0};

    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        tap_ok(number_in(units, same[i].one, same[i].unit) == number_in(units, same[i].other, same[i].other_unit),
               "%s %s and %s %s are the same to the last bit", same[i].one, same[i].unit, same[i].other,
               same[i].other_unit);
    tap_ok(!grdl_units_find(units, "SI2K", 4) && !grdl_units_find(units, "mb", 2), "a unit is known as it is spelt");
    tap_ok(!grdl_units_add(units, "fortnight", "time", "60*60*24*14", &err) &&
               number_in(units, "1", "fortnight") == number_in(units, "2", "week"),
           "a unit of somebody's own is added as a product");
    tap_ok(!grdl_units_add(units, "EB", "binary", "2**60", NULL) &&
               number_in(units, "1", "EB") == number_in(units, "1024", "PB"),
           "or as a power");
    tap_ok(!grdl_units_add(units, "jiffy", "time", "0.01", NULL) &&
               number_in(units, "1", "jiffy") == number_in(units, "10", "ms"),
           "or as a decimal");
    tap_ok(!grdl_units_add(units, "hr", "time", "3600", NULL), "a unit may be told again");
    tap_ok(grdl_units_add(units, "hr", "time", "3601", &err) == -1, "but not as something else: %s", err.text);
    static const char *const bad[] = {"",           "x",       "0",      "-1",           "1*",
                                      "*1",         "1**2**3", "2**64",  "1 2",          "2**1.5",
                                      "9e99*9e999", "1e400",   "1e-400", "2**999999999", "2**2**2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(grdl_units_add(units, "bad", "bad", bad[i], &err) == -1, "'%s' is no factor", bad[i]);
    grdl_units_free(units);
}

static void numbers_are_read_whole(void)
{
    static const struct {
        const char *text;
        double value; /* NAN: it is none */
    } rows[] = {
        {"5", 5},       {"-5.25", -5.25},
        {"+1", 1},      {"1e3", 1000},
        {"1E-2", 0.01}, {"0", 0},
        {"-0", 0},      {"0.000", 0},
        {"007", 7},     {"5.", NAN},
        {".5", NAN},    {"1e", NAN},
        {"", NAN},      {"-", NAN},
        {"1 2", NAN},   {"0x10", NAN},
        {"1e999", NAN}, {"nan", NAN},
        {"inf", NAN},   {"1.2.3", NAN},
        {"1e-999", 0},  {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"0.1", 0.1},   {"1e99999999999", NAN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = NAN;
        bool read = grdl_number_read(rows[i].text, strlen(rows[i].text), 1, 0, &value);

        tap_ok(read == !isnan(rows[i].value) && (!read || (value == rows[i].value && !signbit(value) == (value >= 0))),
               "'%s' is %s", rows[i].text, read ? "a number" : "no number");
    }
}

/* ---- where a type comes from ---- */

static void types_come_from_six_sources(void)
{
    struct grdl_world w;
    struct grdl_resource *resource;
    const struct grdl_reading *reading;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    grdl_consumer_default(w.consumer, "ram", "MB");
    grdl_consumer_default(w.consumer, "disk", "GB");
    grdl_consumer_operation(w.consumer, "start", "date");
    grdl_consumer_operation(w.consumer, "disk", "KB");
    resource = resource_said("executor", "e",
                             "mhz:GHz 2; mhz 2800; scratch 512 MB; openssl 0.9.8a; built 2008-09-30; disk 5; vram 7; "
                             "ram 64; start tomorrow; os linux; ram:pages 9; ram",
                             NULL, NULL);
    grdl_add_default(resource, "disk", "TB", NULL);
    grdl_add_default(resource, NULL, "min", NULL);
    reading = say_resource(&w, resource);
    static const struct {
        enum grdl_source source;
        const char *type;
        enum grdl_kind kind;
    } expected[] = {
        {GRDL_FROM_HINT, "GHz", GRDL_NUMBER},     {GRDL_FROM_NAME, "MHz", GRDL_NUMBER},
        {GRDL_FROM_VALUE, "MB", GRDL_NUMBER},     {GRDL_FROM_VALUE, "version", GRDL_VERSION},
        {GRDL_FROM_VALUE, "date", GRDL_DATE},     {GRDL_FROM_RESOURCE, "TB", GRDL_NUMBER},
        {GRDL_FROM_RESOURCE, "min", GRDL_NUMBER}, {GRDL_FROM_RESOURCE, "min", GRDL_NUMBER},
        {GRDL_FROM_OPERATION, "date", GRDL_TEXT}, {GRDL_FROM_NOWHERE, NULL, GRDL_TEXT},
        {GRDL_FROM_HINT, "pages", GRDL_NUMBER},   {GRDL_FROM_CONSUMER, "MB", GRDL_UNSPECIFIED},
    };

    for (uint32_t i = 0; i < resource->char_count; i++)
        for (uint32_t j = 0; j < reading->char_count; j++) {
            const struct grdl_value *value = &reading->chars[j].value;

            if (reading->chars[j].from != &resource->chars[i])
                continue;
            tap_ok(value->source == expected[i].source && value->kind == expected[i].kind &&
                       (value->type_name ? expected[i].type && !strcmp(value->type_name, expected[i].type)
                                         : !expected[i].type),
                   "%s %s is a %s in %s: %s", resource->chars[i].dimension,
                   resource->chars[i].text ? resource->chars[i].text : "without a value", grdl_kind_words[value->kind],
                   value->type_name ? value->type_name : "nothing", grdl_source_words[value->source]);
        }
    world_end(&w);
}

static void states_are_kept_apart(void)
{
    struct grdl_world w;
    const struct grdl_reading *r;

    world_begin(&w, GRDL_TYPE_TRANSFORMING);
    r = say(
        &w, "executor", "pentium",
        "software openssl; software python; hyperthreading; os linux; ram:GB 1; ram:MB 1024; flag; flag; half; half 1",
        NULL, NULL);
    tap_ok(grdl_reading_state(r, "net_bw") == GRDL_STATE_UNDEFINED, "a dimension that is missing is undefined");
    tap_ok(grdl_reading_state(r, "hyperthreading") == GRDL_STATE_UNSPECIFIED, "one without a value is unspecified");
    tap_ok(grdl_reading_state(r, "flag") == GRDL_STATE_UNSPECIFIED, "so is one that says nothing twice");
    tap_ok(grdl_reading_state(r, "os") == GRDL_STATE_SINGLE, "one value is single");
    tap_ok(grdl_reading_state(r, "ram") == GRDL_STATE_SINGLE, "one value in two units is single");
    tap_ok(grdl_reading_state(r, "software") == GRDL_STATE_MULTIPLE, "two values are multiple");
    tap_ok(grdl_reading_state(r, "half") == GRDL_STATE_MULTIPLE, "so are a value and none");
    world_end(&w);
}

/* ---- order and distance ---- */

/* Is the first value in that relation to the second? Each is said as a property of x. */
static bool holds(enum grdl_comparator comparator, const char *a, const char *relation, const char *b)
{
    struct grdl_world w;
    char requirement[300];
    const struct grdl_reading *one, *other;
    struct grdl_points chars;
    bool met;

    world_begin(&w, comparator);
    one = say(&w, "a", "a", a, NULL, NULL);
    snprintf(requirement, sizeof requirement, "%.*s %s%s", (int)strcspn(b, " "), b, relation, b + strcspn(b, " "));
    other = say(&w, "b", "b", NULL, requirement, NULL);
    chars = grdl_reading_chars(one, other->reqs[0].dimension);
    met = grdl_req_met(&other->reqs[0], chars, NULL);
    world_end(&w);
    return met;
}

static void comparators_compare(void)
{
    static const struct {
        const char *a, *relation, *b;
        bool basic, type, dimension; /* for each class of comparator */
    } rows[] = {
        {"x 5", "=", "x 5", true, true, true},
        {"x 3.00", "=", "x 3", true, true, true},
        {"x 5", "=", "y 5", false, false, false},
        {"x 5", "!=", "y 6", false, false, false},
        {"x 5", "!=", "x 6", true, true, true},
        {"x 5", "!=", "x linux", false, false, false},
        {"x:min 60", "=", "x:hr 1", false, true, true},
        {"x:min 60", "<", "x:hr 2", false, true, true},
        {"x:hr 2", "<", "x:hr 3", true, true, true},
        {"x:MB 5", "<", "x:hr 6", false, false, false},
        {"x:MB 5", "<", "x 6", false, false, false},
        {"x:SI2K 2.0", ">=", "x:SI2K 1.5", true, true, true},
        {"x:SI2K 2.0", ">=", "x:INT95 1.5", false, false, false},
        {"ghz 3.4", "=", "mhz 3400", false, false, true},
        {"ghz 3.4", ">", "mhz 3399.9", false, false, true},
        {"mhz 2800", ">=", "mhz 2500", true, true, true},
        {"mhz 2800", ">=", "mhz:GHz 2.5", false, true, true},
        {"x 0.9.7f", ">=", "x 0.9.7d", true, true, true},
        {"x 0.9.7d", ">=", "x 0.9.7f", false, false, false},
        {"x 0.10.0", ">", "x 0.9.9", true, true, true},
        {"x 0.9.8", "<", "x 0.9.8a", true, true, true},
        {"x 1.2.3", ">", "x 1.0", false, false, false}, /* 1.0 is a number */
        {"x 1.2.3", ">", "x:version 1.0", true, true, true},
        {"x 2008-09-30T12:00", ">", "x 2008-09-30", true, true, true},
        {"x 2008-09-30T12:00Z", "=", "x 2008-09-30T14:00+02:00", true, true, true},
        {"x 2008-09-30T12:00:00.5", ">", "x 2008-09-30T12:00", true, true, true},
        {"x 2008-02-30", "=", "x 2008-02-30", true, true, true}, /* no day: text */
        {"x linux", "=", "x linux", true, true, true},
        {"x Linux", "=", "x linux", false, false, false},
        {"x Linux", "equivalent", "x linux", true, true, true},
        {"x 3.00", "equivalent", "x 3", true, true, true},
        {"x Zebra", "<", "x apple", true, true, true},
        {"x Zebra", "ordered", "x apple", false, false, false},
        {"x APPLE", "ordered", "x apple", true, true, true},
        {"x 2", "ordered", "x 3", true, true, true},
    };
    static const char *const words[] = {"basic", "type transforming", "dimension and type transforming"};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int comparator = GRDL_BASIC; comparator <= GRDL_DIMENSION_TRANSFORMING; comparator++) {
            bool expected = comparator == GRDL_BASIC               ? rows[i].basic
                            : comparator == GRDL_TYPE_TRANSFORMING ? rows[i].type
                                                                   : rows[i].dimension;

            tap_ok(holds((enum grdl_comparator)comparator, rows[i].a, rows[i].relation, rows[i].b) == expected,
                   "%s %s %s is %s for a %s comparator", rows[i].a, rows[i].relation, rows[i].b,
                   expected ? "true" : "false", words[comparator]);
        }
}

static void versions_are_in_order(void)
{
    static const char *const ascending[] = {"0.9",     "0.9.7", "0.9.7a", "0.9.7d", "0.9.7f",
                                            "0.9.7.1", "0.9.8", "0.9.10", "0.10",   "1.0",
                                            "1.0-rc1", "1.0.1", "2.0",    "10.0",   "10.0.1"};
    size_t count = sizeof ascending / sizeof *ascending;
    bool total = true;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int order = grdl_version_order(ascending[i], ascending[j]);

            if ((order < 0) != (i < j) || (order == 0) != (i == j)) {
                tap_diag("%s and %s are not in order", ascending[i], ascending[j]);
                total = false;
            }
        }
    tap_ok(total, "versions are ordered part by part");
    tap_ok(grdl_version_like("0.9.7", 5) && grdl_version_like("1.0a", 4) && grdl_version_like("2.4-rc1", 7),
           "0.9.7, 1.0a and 2.4-rc1 are written like versions");
    tap_ok(!grdl_version_like("3a", 2) && !grdl_version_like("1.5", 3) && !grdl_version_like("1..2", 4) &&
               !grdl_version_like("1.a", 3) && !grdl_version_like("v1.2.3", 6) && !grdl_version_like("1.2.3/4", 7),
           "3a, 1.5, 1..2, 1.a, v1.2.3 and 1.2.3/4 are not");
    tap_ok(grdl_version_order("1.01", "1.1") == 0, "a part is a number, whatever zeros lead it");
}

static void dates_are_read_whole(void)
{
    static const char longest[] = "2008-09-30T12:00:59.25+02:00";
    static const char *const bad[] = {
        "2008/09/30",        "2008-13-01",           "2008-00-10",       "2008-09-31",       "08-09-30",
        "2008-09-30T24:00",  "2008-09-30T12:60",     "2008-09-30T12.00", "2008-09-30x12:00", "2008-09-30T12:00:60",
        "2008-09-30T12:00+", "2008-09-30T12:00 CET", "20080930"};
    char text[40], lengths[80] = "";
    double value;

    for (size_t len = 0; len <= strlen(longest); len++) {
        char *copy = malloc(len + 1); /* of that length, so that reading behind it is seen */

        memcpy(copy, longest, len);
        if (grdl_date_read(copy, len, &value)) {
            sprintf(text, " %d", (int)len);
            strcat(lengths, text);
        }
        free(copy);
    }
    tap_ok(!strcmp(lengths, " 10 16 19 21 22 28"),
           "a date is one up to the day, the minute, the second, with a zone:%s", lengths);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(!grdl_date_read(bad[i], strlen(bad[i]), &value), "%s is no date", bad[i]);
    tap_ok(grdl_date_read("1970-01-02 00:00:00.5Z", 22, &value) && value == 86400.5, "days are since 1970");
}

static void distance_goes_by_kind(void)
{
    static const struct {
        const char *to, *near, *far;
    } rows[] = {
        {"x 10", "x 12", "x 7"},
        {"x:min 60", "x:hr 1.5", "x:s 0"},
        {"x 2008-09-30T12:00", "x 2008-09-30T13:00", "x 2008-09-29"},
        {"x 0.9.7d", "x 0.9.7f", "x 0.9.8a"},
        {"x 0.9.7d", "x 0.9.7e", "x 0.9.7f"},
        {"x 0.9.7d", "x 0.9.7e", "x 0.9.7b"},
        {"x 0.9.7d", "x 0.9.8", "x 1.0.0"},
        {"x 1.4.0", "x 1.5.9", "x 1.2.0"},
        {"x 1.4.0", "x 1.4.0", "x 1.4.0.1"},
        {"x linux", "x linux", "x darwin"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grdl_world w;
        const struct grdl_value *values[3];
        struct grdl_distance near, far;

        world_begin(&w, GRDL_TYPE_TRANSFORMING);
        values[0] = &say(&w, "a", "a", rows[i].to, NULL, NULL)->chars[0].value;
        values[1] = &say(&w, "b", "b", rows[i].near, NULL, NULL)->chars[0].value;
        values[2] = &say(&w, "c", "c", rows[i].far, NULL, NULL)->chars[0].value;
        near = grdl_value_distance(values[0], values[1]);
        far = grdl_value_distance(values[0], values[2]);
        tap_ok(grdl_distance_order(&near, &far) < 0, "%s is closer to %s than %s", rows[i].near, rows[i].to,
               rows[i].far);
        world_end(&w);
    }
}

/* ---- the model ---- */

static void resources_have_limits(void)
{
    struct grdl_resource *r = grdl_resource_new("task", NULL);
    char *text = malloc(GRDL_TEXT_MAX + 2);
    struct err err = {0};
    int count = 0;

    memset(text, 'x', GRDL_TEXT_MAX + 1);
    text[GRDL_TEXT_MAX + 1] = '\0';
    tap_ok(grdl_add_char(r, "x", NULL, text, &err) == -1, "a value has a limit: %s", err.text);
    text[GRDL_TEXT_MAX] = '\0';
    while (count < 100 && !grdl_add_char(r, "x", NULL, text, &err))
        count++;
    tap_ok(count == 3, "so have all values of a resource: %s", err.text);
    grdl_resource_free(r);
    r = grdl_resource_new("task", NULL);
    for (count = 0; count < 2 * GRDL_PROPERTIES_MAX && !grdl_add_req(r, "x", GRDL_NE, NULL, "1", &err);)
        count++;
    tap_ok(count == GRDL_PROPERTIES_MAX, "and how many there are: %s", err.text);
    grdl_resource_free(r);
    free(text);
}

static void resources_refuse_what_has_no_place(void)
{
    struct grdl_resource *r = grdl_resource_new("task", NULL), *copy;
    struct err err = {0};
    char long_name[GRDL_NAME_MAX + 2];

    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    tap_ok(grdl_add_char(r, "", NULL, "1", &err) == -1, "a dimension has a name: %s", err.text);
    tap_ok(grdl_add_char(r, long_name, NULL, "1", &err) == -1, "of some length: %s", err.text);
    tap_ok(grdl_add_req(r, "x", GRDL_CLOSE, NULL, "1", &err) == -1, "closeness is no requirement: %s", err.text);
    tap_ok(grdl_add_pref(r, "x", GRDL_SET_GE, NULL, "1", 1, &err) == -1, "nor a set a preference: %s", err.text);
    tap_ok(grdl_add_pref(r, "x", GRDL_FAR, NULL, " ", 1, &err) == -1, "far needs to be from something: %s", err.text);
    tap_ok(grdl_add_pref(r, "x", GRDL_LT, NULL, NULL, NAN, &err) == -1, "a rank is a number: %s", err.text);
    tap_ok(!r->char_count && !r->req_count && !r->pref_count && !r->bytes, "what was refused is not there");
    grdl_add_char(r, "x", " MB ", " \n 1 2\t", NULL);
    tap_ok(!strcmp(r->chars[0].text, "1 2") && !strcmp(r->chars[0].type, "MB"), "blanks around a value are cut");
    grdl_add_req(r, "y", GRDL_SET_NE, NULL, NULL, NULL);
    grdl_add_pref(r, "z", GRDL_LT, "hr", NULL, 2.5, NULL);
    grdl_add_default(r, NULL, "GB", NULL);
    copy = grdl_resource_copy(r, NULL, NULL);
    tap_ok(grdl_resource_same(r, copy), "a copy is the same");
    grdl_set_value(copy, &copy->chars[0], "MB", "13");
    tap_ok(!grdl_resource_same(r, copy), "until it is changed");
    grdl_resource_free(r);
    grdl_resource_free(copy);
    resources_have_limits();
    for (int i = 0; i < GRDL_OPERATORS; i++) {
        enum grdl_operator sign, word;

        tap_ok(grdl_operator_read(grdl_operators[i].sign, strlen(grdl_operators[i].sign), &sign) &&
                   grdl_operator_read(grdl_operators[i].word, strlen(grdl_operators[i].word), &word) &&
                   sign == (enum grdl_operator)i && word == sign,
               "%s is an operator", grdl_operators[i].word);
    }
}

int main(void)
{
    units_know_the_tables();
    numbers_are_read_whole();
    types_come_from_six_sources();
    states_are_kept_apart();
    comparators_compare();
    versions_are_in_order();
    dates_are_read_whole();
    distance_goes_by_kind();
    resources_refuse_what_has_no_place();
    return tap_done();
}
