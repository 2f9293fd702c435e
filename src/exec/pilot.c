/* pilot.c: what a pilot finds out before it offers the machine that a batch system has lent it. */
#include "exec/pilot.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#define MARGIN_PART 20         /* of the time that there is ... */
#define MARGIN_MAX 30          /* ... but not more seconds */
#define BENCH_WORDS (1u << 17) /* of 8 bytes: 1 MiB */
#define BENCH_SLICE 0.04       /* seconds of one measurement */
#define BENCH_ROUNDS 2000      /* between looks at the clock */

/* ------------------------------------------------------------------------------------------------------------- enough */

static void bytes_print(struct buf *out, double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;

    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    buf_addf(out, "%.*f %s", bytes < 10 && unit ? 1 : 0, bytes, units[unit]);
}

static void seconds_print(struct buf *out, double seconds)
{
    buf_addf(out, "%.0f s", seconds);
}

static void plain_print(struct buf *out, double value)
{
    buf_addf(out, "%.1f", value);
}

bool pilot_enough(const struct pilot_facts *facts, const struct pilot_facts *wanted, struct buf *out)
{
    const struct {
        double is, wanted;
        const char *what;
        void (*print)(struct buf *out, double value);
    } checks[] = {
        {(double)facts->disk, (double)wanted->disk, "of disk free", bytes_print},
        {(double)facts->memory, (double)wanted->memory, "of memory free", bytes_print},
        {(double)facts->time, (double)wanted->time, "left of the batch job", seconds_print},
        {(double)facts->token, (double)(wanted->token ? wanted->token : wanted->time), "left of the token",
         seconds_print},
        {facts->benchmark ? facts->benchmark : (double)PILOT_UNKNOWN, wanted->benchmark, "in the benchmark",
         plain_print},
    };

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].is < 0 || checks[i].is >= checks[i].wanted)
            continue;
        buf_adds(out, "too little: ");
        checks[i].print(out, checks[i].is);
        buf_addf(out, " %s, at least ", checks[i].what);
        checks[i].print(out, checks[i].wanted);
        buf_adds(out, " wanted");
        return false;
    }
    return true;
}

int64_t pilot_margin(int64_t seconds)
{
    int64_t margin = seconds / MARGIN_PART;

    return margin < 1 ? 1 : margin > MARGIN_MAX ? MARGIN_MAX : margin;
}

int64_t pilot_part(int64_t memory, int64_t cpus, int64_t all_cpus)
{
    return cpus >= all_cpus || all_cpus < 1 ? memory : (int64_t)((double)memory * (double)cpus / (double)all_cpus);
}

int64_t pilot_disk(const char *folder)
{
    struct statvfs disk;

    return statvfs(folder, &disk) == 0 ? (int64_t)((double)disk.f_bavail * (double)disk.f_frsize) : 0;
}

/* ---------------------------------------------------------------------------------------------------------- benchmark */

static double processor_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Does rounds of work: a step of a generator, a read and a write somewhere in the memory, a few reals. The result depends on all of it, so no
 * compiler can leave any of it out. */
static uint64_t rounds(uint64_t *words, uint64_t state, unsigned count)
{
    double real = (double)(state % 1000) + 1.0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t *word;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word = &words[state % BENCH_WORDS];
        real = real * 0.999 + (double)(*word & 1023) / (real + 1.5);
        *word += state ^ (uint64_t)real;
    }
    return state + (uint64_t)real;
}

double pilot_benchmark(double span)
{
    uint64_t *words = mem_alloc(BENCH_WORDS * sizeof *words), state = 88172645463325252u;
    double begin = processor_time(), best = 0, now = begin;
    volatile uint64_t kept;

    memset(words, 1, BENCH_WORDS * sizeof *words);
    while (now - begin < span) {
        double slice = now, done = 0;

        while ((now = processor_time()) - slice < BENCH_SLICE) {
            state = rounds(words, state | 1, BENCH_ROUNDS);
            done += BENCH_ROUNDS;
        }
        if (done / (now - slice) > best)
            best = done / (now - slice);
    }
    kept = state;
    (void)kept;
    free(words);
    return best / 1000;
}
