/* state.c: how the machine is now: load, the owner's clock, what is free. */
#include "exec/probe_parts.h"

#include "lang/base/number.h"

#include <sys/statvfs.h>
#include <time.h>

bool disk_free(const char *folder, int64_t *ret)
{
    struct statvfs st;
    double bytes;

    if (!folder || statvfs(folder, &st) < 0)
        return false;
    bytes = (double)st.f_bavail * (double)st.f_frsize;
    *ret = bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
    return true;
}

/* Writes the load of the last minute, and how much of it is not ours. */
static void write_load(struct facts *facts, const char *root, double own_load)
{
    char line[128];
    double load;

    if (!rooted_line(root, "/proc/loadavg", line, sizeof line) || !number_parse_real(line, strlen(line), &load))
        return;
    facts_real(facts, "LoadAvg", load);
    facts_real(facts, "OwnerLoad", load > own_load ? load - own_load : 0);
}

/* Writes for how many percent of the last minute some process waited for processors, memory or devices, where the kernel tells (PSI). */
static void write_pressure(struct facts *facts, const char *root)
{
    static const struct {
        const char *file, *name;
    } kinds[] = {{"/proc/pressure/cpu", "PressureCpu"},
                 {"/proc/pressure/memory", "PressureMemory"},
                 {"/proc/pressure/io", "PressureIo"}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char line[256], *at;
        double percent;

        if (!rooted_line(root, kinds[i].file, line, sizeof line) || strncmp(line, "some ", 5) != 0)
            continue;
        at = strstr(line, " avg60=");
        if (at && number_parse_real(at + 7, strcspn(at + 7, " "), &percent) && percent >= 0 && percent <= 100)
            facts_real(facts, kinds[i].name, percent);
    }
}

static void write_presence(struct facts *facts, const char *root, struct keyboard *keyboard, int64_t now)
{
    struct presence presence;

    keyboard_read(keyboard, root, now, &presence);
    if (presence.users_known)
        facts_integer(facts, "Users", presence.users);
    if (presence.idle_known) {
        facts_integer(facts, "KeyboardIdle", presence.idle);
        facts_span(facts, "KeybrdIdle", presence.idle);
    }
}

/* Writes the time of day and the zone. The matchmaker may be elsewhere: by the zone, dayTime() there is the owner's. */
static void write_clock(struct facts *facts, int64_t now)
{
    time_t at = now;
    struct tm local;

    if (!localtime_r(&at, &local))
        return;
    facts_span(facts, "TimeZone", local.tm_gmtoff / 60 * 60);
    facts_integer(facts, "Day", local.tm_wday);
    facts_integer(facts, "DayTime", local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec);
}

static void write_free(struct facts *facts, const struct probe_settings *settings)
{
    struct confines confines;
    int64_t memory = -1, disk;
    char value[64];
    struct buf text;

    buf_init(&text);
    if (rooted_read(settings->root, "/proc/meminfo", &text) &&
        text_value(text.text, "MemAvailable", ':', value, sizeof value) && text_integer(value, &memory))
        memory = memory < INT64_C(1) << 50 ? memory * 1024 : -1;
    buf_done(&text);
    confines_read(settings->root, &confines);
    if (memory > confines.memory_free)
        memory = confines.memory_free;
    if (memory >= 0)
        facts_integer(facts, "FreeMemory", memory);
    if (disk_free(settings->scratch, &disk))
        facts_integer(facts, "FreeDisk", disk);
}

void state_write(struct facts *facts, const struct probe_settings *settings, struct keyboard *keyboard, double own_load)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    write_load(facts, settings->root, own_load);
    write_pressure(facts, settings->root);
    write_presence(facts, settings->root, keyboard, now.tv_sec);
    write_clock(facts, now.tv_sec);
    write_free(facts, settings);
}
