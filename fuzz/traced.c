/* traced.c: how libFuzzer learns which code an input came to: the rooms call here at each step, and a count is kept for each place that called.
 *
 * libFuzzer has a function of the compiler's name for this, which only says that it wants another kind of build: the linker puts ours in its place. It
 * looks at all counts after each input, in the section of this name. Two places may share a count: of 65536, an input comes to a few thousand.
 * Comparisons of whole numbers it takes as they come; of others it knows nothing. */
#include <stdint.h>

void __wrap___sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_cmpf(float a, float b);
void __sanitizer_cov_trace_cmpd(double a, double b);

enum { COUNT_BITS = 16 };

static uint8_t counts[1 << COUNT_BITS] __attribute__((section("__libfuzzer_extra_counters"), used));

void __wrap___sanitizer_cov_trace_pc(void)
{
    uint64_t place = (uintptr_t)__builtin_return_address(0);

    counts[place * UINT64_C(0x9e3779b97f4a7c15) >> (64 - COUNT_BITS)]++;
}

void __sanitizer_cov_trace_cmpf(float a, float b)
{
    (void)a, (void)b;
}

void __sanitizer_cov_trace_cmpd(double a, double b)
{
    (void)a, (void)b;
}
