/* setting.h: the options that make the environment of an evaluation: --now, --zone, --seed. Without --now, setting_env reads the clock. */
#ifndef BERTH_CLI_TERM_SETTING_H
#define BERTH_CLI_TERM_SETTING_H

#include "cli/term/options.h"
#include "lang/ad/eval.h"

struct setting {
    bool has_now, has_seed; /* given; else they come from the machine */
    int64_t now;
    int zone;
    uint64_t seed;
};

/* These functions write a struct setting. */
option_read_fn option_now;
option_read_fn option_zone;
option_read_fn option_seed;

/* The rows for a structure T that has a `struct setting setting`. */
#define OPTION_NOW(T)                                                                                   \
    {                                                                                                   \
        0, "now", "TIME",                                                                               \
            "the time to evaluate at: seconds since 1970 or a date such as 2000-08-17T18:21:07-06:00; " \
            "the clock's if not given",                                                                 \
            option_now, offsetof(T, setting)                                                            \
    }
#define OPTION_ZONE(T)                                                                                           \
    {                                                                                                            \
        0, "zone", "OFFSET", "the time zone where an ad does not say TimeZone: Z (the default), -06:00, +05:30", \
            option_zone, offsetof(T, setting)                                                                    \
    }
#define OPTION_SEED(T)                                                                               \
    {                                                                                                \
        0, "seed", "N", "what random() depends on; chosen anew each time if not given", option_seed, \
            offsetof(T, setting)                                                                     \
    }

struct env setting_env(const struct setting *setting);

#endif
