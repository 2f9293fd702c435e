/* zone.c (fuzzer): rules of local time from any text.
 *
 * Law: what is refused has a reason; what is read is at no moment further from UTC than the offsets that it names, and those are less than two days. */
#include "lang/base/zone.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *law)
{
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct zone zone;

    if (zone_read((const char *)data, size, &zone, &err) < 0) {
        if (!*err.text)
            broken("what is refused has a reason");
        return 0;
    }
    for (int64_t moment = INT64_C(1700000000); moment < INT64_C(1900000000); moment += 3600 * 371) {
        int64_t offset = zone_offset(&zone, moment);

        if (offset != zone.offset && (!zone.summer || offset != zone.summer_offset))
            broken("local time is one of the two");
        if (offset > 2 * 86400 || offset < -2 * 86400)
            broken("it is less than two days from UTC");
    }
    return 0;
}
