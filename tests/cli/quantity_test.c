/* quantity_test.c: amounts of memory, spans of time and processors on the command line, as people write them. */
#include "cli/term/quantity.h"

#include "common/tap.h"

#include <string.h>

static const struct {
    const char *text;
    int64_t bytes; /* -1: refused */
} amounts[] = {
    {"1000", 1000},
    {"512MiB", INT64_C(512) << 20},
    {"512 MiB", INT64_C(512) << 20},
    {"2G", INT64_C(2) << 30},
    {"2g", INT64_C(2) << 30},
    {"2GiB", INT64_C(2) << 30},
    {"2GB", INT64_C(2000000000)},
    {"64MB", INT64_C(64000000)},
    {"10kb", 10000},
    {"0.5GiB", INT64_C(1) << 29},
    {"1.5T", INT64_C(3) << 39},
    {"9000000T", -1},
    {"0", -1},
    {"0.1B", -1},
    {"-1G", -1},
    {"+1G", -1},
    {"", -1},
    {"G", -1},
    {"2GBs", -1},
    {"2 G B", -1},
    {"inf", -1},
    {"nan", -1},
    {"0x10", -1},
    {"1e400", -1},
};

static const struct {
    const char *text;
    int64_t seconds;
} spans[] = {
    {"90", 90},     {"90s", 90},    {"90 s", 90}, {"30min", 1800}, {"1.5h", 5400},
    {"0.5min", 30}, {"7d", 604800}, {"0s", -1},   {"soon", -1},    {"1e30d", -1},
};

static const struct {
    const char *text;
    double cpus;
} processors[] = {
    {"1", 1},     {"4", 4}, {"0.5", 0.5}, {"1.25", 1.25}, {"0", -1},   {"-1", -1},
    {"four", -1}, {"", -1}, {"4x", -1},   {"1e30", -1},   {"nan", -1},
};

int main(void)
{
    struct err err;

    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        int64_t bytes = -1;
        int result = option_bytes(amounts[i].text, &bytes, &err);

        tap_ok(bytes == amounts[i].bytes && result == (bytes < 0 ? -1 : 0), "'%s' is %s", amounts[i].text,
               amounts[i].bytes < 0 ? "no amount" : "an amount");
    }
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        int64_t seconds = -1;
        int result = option_span(spans[i].text, &seconds, &err);

        tap_ok(seconds == spans[i].seconds && result == (seconds < 0 ? -1 : 0), "'%s' is %s", spans[i].text,
               spans[i].seconds < 0 ? "no span" : "a span");
    }
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        double cpus = -1;
        int result = option_cpus(processors[i].text, &cpus, &err);

        tap_ok(cpus == processors[i].cpus && result == (cpus < 0 ? -1 : 0), "'%s' is %s of processors",
               processors[i].text, processors[i].cpus < 0 ? "no number" : "a number");
    }
    return tap_done();
}
