/* schedule.c (fuzzer): schedules from any text, and local time that does anything.
 *
 * Law: what is refused has a reason; what is read comes behind each moment that is asked for, and what comes first behind a moment comes first behind
 * all between the two. */
#include "lang/base/schedule.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *law)
{
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

struct shift {
    int64_t at[4], offset[4];
};

static int64_t shift_offset(void *user, int64_t moment)
{
    const struct shift *shift = user;
    int64_t offset = 0;

    for (int i = 0; i < 4; i++)
        if (moment >= shift->at[i])
            offset = shift->offset[i];
    return offset;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t after = INT64_C(1700000000), next;
    struct schedule schedule;
    struct err err = {0};
    struct shift shift;

    if (size < 8)
        return 0;
    for (int i = 0; i < 4; i++) {
        shift.at[i] = after + (int64_t)data[i] * 3600;
        shift.offset[i] = ((int64_t)data[4 + i] % 112 - 56) * 900;
    }
    if (schedule_read((const char *)data + 8, size - 8, &schedule, &err) < 0) {
        if (!*err.text)
            broken("what is refused has a reason");
        return 0;
    }
    next = schedule_next(&schedule, after, after / 2, shift_offset, &shift);
    if (next == SCHEDULE_NEVER)
        return 0;
    if (next <= after)
        broken("what comes next comes later");
    if (schedule_next(&schedule, after + (next - after) / 2, after / 2, shift_offset, &shift) != next)
        broken("it comes first behind all between");
    return 0;
}
