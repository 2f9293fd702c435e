/* zone_name.c: a time zone by its name, as the rule that a machine can follow which does not know the name. */
#include "cli/admin/zone_name.h"

#include "cli/term/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZONES "/usr/share/zoneinfo/"
#define HERE "/etc/localtime"
#define FILE_MAX (1 << 20)
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/"

/* The zone of this machine: what $TZ says, or what its clock is set to. */
static void zone_here(char ret[ZONE_TEXT_MAX + 1])
{
    const char *said = getenv("TZ"), *name;
    char path[PATH_MAX];
    ssize_t len;

    snprintf(ret, ZONE_TEXT_MAX + 1, "UTC0");
    if (said && *said) {
        snprintf(ret, ZONE_TEXT_MAX + 1, "%s", said + (*said == ':'));
        return;
    }
    len = readlink(HERE, path, sizeof path - 1);
    if (len <= 0)
        return;
    path[len] = '\0';
    name = strstr(path, "zoneinfo/");
    if (name)
        snprintf(ret, ZONE_TEXT_MAX + 1, "%s", name + strlen("zoneinfo/"));
}

/* The last line of a file of zones; false: it has none. */
static bool rule_of_file(FILE *file, char ret[ZONE_TEXT_MAX + 1])
{
    static char bytes[FILE_MAX];
    size_t len = fread(bytes, 1, sizeof bytes, file), from = len;

    if (len < 5 || memcmp(bytes, "TZif", 4) != 0 || bytes[4] < '2' || bytes[len - 1] != '\n')
        return false;
    for (from = --len; from && bytes[from - 1] != '\n'; from--)
        ;
    if (!from || len - from > ZONE_TEXT_MAX)
        return false;
    memcpy(ret, bytes + from, len - from);
    ret[len - from] = '\0';
    return true;
}

static bool rule_find(const char *name, char ret[ZONE_TEXT_MAX + 1])
{
    char path[sizeof ZONES + ZONE_TEXT_MAX];
    FILE *file;
    bool found;

    if (!*name || *name == '/' || strstr(name, "..") || name[strspn(name, LETTERS)]) {
        report("--zone: expected a time zone such as Europe/Berlin, got '%.60s'", name);
        return false;
    }
    snprintf(path, sizeof path, ZONES "%s", name);
    file = fopen(path, "re");
    if (!file) {
        report("--zone: %s: %s", path, strerror(errno));
        return false;
    }
    found = rule_of_file(file, ret);
    fclose(file);
    if (!found)
        report("--zone: %s does not say by a rule what time it is", path);
    return found;
}

bool zone_named(const char *name, struct zone_named *ret)
{
    struct err err = {0};

    *ret = (struct zone_named){{0}, {0}, {0}};
    if (name && strlen(name) > ZONE_TEXT_MAX) {
        report("--zone: expected a time zone such as Europe/Berlin, got '%.60s'", name);
        return false;
    }
    if (name)
        snprintf(ret->name, sizeof ret->name, "%s", name);
    else
        zone_here(ret->name);
    memcpy(ret->rule, ret->name, sizeof ret->rule);
    if (zone_read(ret->name, strlen(ret->name), &ret->zone, &err) == 0)
        return true;
    if (!rule_find(ret->name, ret->rule))
        return false;
    if (zone_read(ret->rule, strlen(ret->rule), &ret->zone, &err) == 0)
        return true;
    report("--zone: %s: %s", ret->name, err.text);
    return false;
}
