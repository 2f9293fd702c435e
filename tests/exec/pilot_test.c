/* pilot_test.c: what a pilot finds out before it offers a machine: is there enough, and how fast is it? */
#include "common/tap.h"

#include "exec/pilot.h"

#include <math.h>

#define PLENTY                                                                                                   \
    {                                                                                                            \
        .disk = INT64_C(50) << 30, .memory = INT64_C(8) << 30, .time = 7200, .token = 90000, .benchmark = 1000.0 \
    }

/* Is there too little, and is it said so? NULL: there is enough. */
static void tries(const char *sentence, struct pilot_facts facts, struct pilot_facts wanted, const char *says)
{
    struct buf why;
    bool enough;

    buf_init(&why);
    enough = pilot_enough(&facts, &wanted, &why);
    if (!tap_ok(enough == !says && !strcmp(buf_string(&why), says ? says : ""), "%s", sentence))
        tap_diag("%s", buf_string(&why));
    buf_done(&why);
}

int main(void)
{
    struct pilot_facts plenty = PLENTY, facts = plenty;
    double once, twice;

    tries("with plenty of everything a pilot stays", plenty,
          (struct pilot_facts){.disk = 1 << 30, .memory = 1 << 28, .time = 60, .benchmark = 10}, NULL);
    tries("exactly as much as is wanted is enough", plenty, plenty, NULL);
    facts.disk = (INT64_C(1) << 30) - 1;
    tries("too little disk is said in its own units", facts, (struct pilot_facts){.disk = INT64_C(2) << 30},
          "too little: 1024 MiB of disk free, at least 2.0 GiB wanted");
    facts = plenty, facts.memory = 300;
    tries("so is too little memory", facts, (struct pilot_facts){.memory = 1 << 20},
          "too little: 300 bytes of memory free, at least 1.0 MiB wanted");
    facts = plenty, facts.time = 59;
    tries("and too little time", facts, (struct pilot_facts){.time = 60},
          "too little: 59 s left of the batch job, at least 60 s wanted");
    facts = plenty, facts.token = 12;
    tries("a token must last as long as the least time", facts, (struct pilot_facts){.time = 60},
          "too little: 12 s left of the token, at least 60 s wanted");
    facts.token = 0;
    tries("one that is over is too little", facts, (struct pilot_facts){.time = 60},
          "too little: 0 s left of the token, at least 60 s wanted");
    facts = plenty, facts.time = PILOT_UNKNOWN;
    tries("a time that nobody knows is no reason to leave", facts, (struct pilot_facts){.time = 60}, NULL);
    facts = plenty, facts.benchmark = 9.94;
    tries("a machine that is too slow is left", facts, (struct pilot_facts){.benchmark = 10},
          "too little: 9.9 in the benchmark, at least 10.0 wanted");
    facts.benchmark = 0;
    tries("before the benchmark was run nothing is said of it", facts, (struct pilot_facts){.benchmark = 10}, NULL);

    tap_ok(pilot_margin(10) == 1 && pilot_margin(200) == 10 && pilot_margin(86400) == 30,
           "a twentieth of its time is kept for files, from a second to thirty");
    tap_ok(pilot_part(8000, 2, 8) == 2000 && pilot_part(8000, 8, 8) == 8000 && pilot_part(8000, 9, 8) == 8000 &&
               pilot_part(8000, 1, 0) == 8000,
           "memory is divided as processors are");
    tap_ok(pilot_disk("/") > 0 && pilot_disk("/no/such/folder") == 0, "free disk is known of a folder that is there");
    once = pilot_benchmark(0.3);
    twice = pilot_benchmark(0.3);
    if (!tap_ok(once > 0 && fabs(once - twice) < 0.5 * (once > twice ? once : twice),
                "the benchmark gives much the same twice"))
        tap_diag("%.1f and %.1f", once, twice);
    return tap_done();
}
