/* zone_test.c: local time by rules, against that of the C library, at the turns to the second and at moments between. */
#include "lang/base/zone.h"

#include "common/rounds.h"
#include "common/tap.h"
#include "lang/base/rng.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FROM INT64_C(946684800) /* the year 2000 */
#define YEARS 80

static const char *const rules[] = {"UTC0",
                                    "CET-1CEST,M3.5.0,M10.5.0/3",
                                    "EST5EDT,M3.2.0,M11.1.0",
                                    "LHST-10:30LHDT-11,M10.1.0,M4.1.0",
                                    "BRT3BRST,M10.3.0/0,M2.3.0/0",
                                    "<+0530>-5:30",
                                    "IST-1GMT0,M10.5.0,M3.5.0/1",      /* summer time is the usual one there */
                                    "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", /* the turn is on the day before */
                                    "IST-2IDT,M3.4.4/26,M10.5.0",      /* and two hours into the day after */
                                    "XXX3YYY,J60/0,J300/5:30:15",
                                    "XXX-3YYY-5,59/4,300"};

static int64_t c_offset(int64_t moment)
{
    time_t at = (time_t)moment;
    struct tm local;

    return localtime_r(&at, &local) ? local.tm_gmtoff : INT64_MAX;
}

static void twin(const char *rule, struct rng *rng, uint64_t rounds)
{
    struct zone zone;
    struct err err = {0};
    int64_t wrong = 0, before, turns = 0;

    setenv("TZ", rule, 1);
    tzset();
    if (zone_read(rule, strlen(rule), &zone, &err) < 0) {
        tap_ok(false, "%s: %s", rule, err.text);
        return;
    }
    before = c_offset(FROM);
    for (int64_t day = FROM; day < FROM + YEARS * INT64_C(365) * 86400; day += 86400) {
        int64_t low = day - 86400, high = day;

        if (c_offset(day) == before)
            continue;
        while (low + 1 < high) /* the second of the turn */
            if (c_offset(low + (high - low) / 2) == before)
                low = low + (high - low) / 2;
            else
                high = low + (high - low) / 2;
        before = c_offset(day);
        turns++;
        wrong += zone_offset(&zone, low) != c_offset(low) || zone_offset(&zone, high) != c_offset(high);
    }
    for (uint64_t round = 0; round < rounds; round++) {
        int64_t moment = FROM + (int64_t)rng_below(rng, YEARS * UINT64_C(365) * 86400);

        wrong += zone_offset(&zone, moment) != c_offset(moment);
    }
    tap_ok(!wrong && (turns > YEARS || !strchr(rule, ',')), "%s: as in the C library, at %" PRId64 " turns, too", rule,
           turns);
}

static void bad(void)
{
    static const char *const texts[] = {"",
                                        "CET",
                                        "C-1",
                                        "CET-1CEST",
                                        "CET-1CEST,M3.5.0",
                                        "CET-25",
                                        "CET-1CEST,M13.5.0,M10.5.0",
                                        "CET-1CEST,M3.6.0,M10.5.0",
                                        "CET-1CEST,M3.5.7,M10.5.0",
                                        "CET-1CEST,M3.5.0,M10.5.0/3x",
                                        "<CET-1",
                                        "CET-1CEST,J0,J366",
                                        "Europe/Berlin",
                                        "CET-1:60",
                                        "CET-1CEST,M3.5.0,M10.5.0/168",
                                        "CET-1CEST,M3.5.0,M10.5.0,and-what-is-longer-than-any-rule-needs-to-be"};
    bool good = true;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct zone zone = {.offset = 17};
        struct err err = {0};
        bool refused = zone_read(texts[i], strlen(texts[i]), &zone, &err) < 0 && *err.text && zone.offset == 17;

        if (!refused)
            tap_diag("taken: '%s'", texts[i]);
        good = good && refused;
    }
    tap_ok(good, "what is no rule is refused with a reason");
}

int main(void)
{
    uint64_t rounds = lang_rounds(2000);
    struct rng rng;

    rng_init(&rng, lang_setting("BERTH_SEED", 37));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        twin(rules[i], &rng, rounds);
    bad();
    return tap_done();
}
