/* setting.c: the environment of an evaluation, from options and the machine. */
#include "cli/term/setting.h"

#include "lang/base/rng.h"
#include "lang/text/timetext.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reads seconds since 1970; a sign is allowed. */
static bool read_seconds(const char *text, int64_t *ret_seconds)
{
    bool minus = *text == '-';
    int64_t value = 0;

    text += minus;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > TIME_ABSOLUTE_MAX)
            return false;
        value = value * 10 + (*text - '0');
    }
    *ret_seconds = minus ? -value : value;
    return true;
}

int option_now(const char *text, void *target, struct err *err)
{
    struct setting *setting = target;
    int64_t now;
    int zone;

    /* condor has the wider range; a date without a zone is UTC */
    if (!read_seconds(text, &now) && !time_parse_absolute(&dialect_condor, text, strlen(text), 0, &now, &zone))
        return err_set(err, "expected seconds since 1970 or a date such as 2000-08-17T18:21:07-06:00, got '%.60s'",
                       text);
    if (!time_absolute_valid(&dialect_condor, now))
        return err_set(err, "%.60s is outside the years that the language has", text);
    setting->has_now = true;
    setting->now = now;
    return 0;
}

int option_zone(const char *text, void *target, struct err *err)
{
    struct setting *setting = target;
    int zone;

    if (!time_parse_zone(text, strlen(text), &zone))
        return err_set(err, "expected Z or an offset such as -06:00, got '%.60s'", text);
    setting->zone = zone;
    return 0;
}

int option_seed(const char *text, void *target, struct err *err)
{
    struct setting *setting = target;

    if (option_number(text, &setting->seed, err) < 0)
        return -1;
    setting->has_seed = true;
    return 0;
}

struct env setting_env(const struct setting *setting)
{
    struct env env = {.now = setting->now, .zone = setting->zone, .seed = setting->seed};
    struct timespec clock;

    clock_gettime(CLOCK_REALTIME, &clock);
    if (!setting->has_now)
        env.now = clock.tv_sec;
    if (!setting->has_seed)
        env.seed = rng_mix((uint64_t)clock.tv_sec ^ rng_mix((uint64_t)clock.tv_nsec ^ (uint64_t)getpid() << 32));
    return env;
}
