/* cgroup_place.c: where groups can be made on this machine, version 1 or 2, and why not.
 *
 * With version 2 a group that has processes cannot hand controllers on to groups below it, but for the very top. So these places are tried:
 *
 *     our own group              when we are alone in it: we step down into its leaf berth-agent. In a container, whose top it is, others step aside too
 *     TOP/berth-TAG              beside it, below the topmost group that we may write: as root the top of all, else that which was delegated
 *
 * On the way down controllers are handed on. The second place is outside of our own group, whose limits are copied to it. It is the first choice for a
 * service of systemd that was not put into a leaf: while jobs go on in groups below, systemd could not start that service again in its own group. */
#include "exec/cgroup_parts.h"
#include "exec/probe_parts.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGENT_LEAF "berth-agent"
#define OTHERS_LEAF "berth-others"
#define OTHERS_ROUNDS 20 /* attempts to move those who go on forking */
#define PERIOD 100000    /* microseconds */
#define LEVELS_MAX 32

/* What the parts are called: by version 1 in /proc, by version 2 in cgroup.controllers ("": needs no controller). */
static const struct part {
    const char *v1, *v2, *shown;
} parts[CGROUP_PART_COUNT] = {
    [CGROUP_CPU] = {"cpu", "cpu", "cpu"},
    [CGROUP_COUNT_CPU] = {"cpuacct", "", NULL},
    [CGROUP_MEMORY] = {"memory", "memory", "memory"},
    [CGROUP_PIDS] = {"pids", "pids", "pids"},
    [CGROUP_FREEZER] = {"freezer", "", "freezer"},
};

/* Those of version 2 that are handed on; the last only counts what is read and written. */
enum { HAND_CPU, HAND_MEMORY, HAND_PIDS, HAND_LIMITS, HAND_IO = HAND_LIMITS, HAND_COUNT };
static const char *const controllers[HAND_COUNT] = {"cpu", "memory", "pids", "io"};

/* A place of version 2 that is tried. */
struct place {
    char base[CGROUP_PATH_MAX];
    bool alone;      /* we may step down, and others in a container */
    bool top;        /* it is the top of what can be seen */
    unsigned handed; /* bits of HAND_: groups below have these */
    struct buf why;
};

/* ---------------------------------------------------------------------------------------------------- what /proc tells */

/* The group that this process is in, as /proc/self/cgroup tells: of a controller, or with "" of version 2. */
static bool own_group(const char *root, const char *controller, char *path, size_t size)
{
    char line[1024], name[PROBE_PATH_MAX];
    bool found = false;
    FILE *file;

    if (!rooted_path(root, "/proc/self/cgroup", name))
        return false;
    file = fopen(name, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;

        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        found = *controller ? words_have(names + 1, controller, ",") : !names[1];
        if (found && (size_t)snprintf(path, size, "%s", group) >= size)
            found = false;
    }
    if (file)
        fclose(file);
    return found;
}

/* Finds where the hierarchy of a controller is mounted, with "" that of version 2: "ROOT MOUNTPOINT" of /proc/self/mountinfo. The last of several, which
 * may lie on another; one whose root is above that of our namespace only if there is no other. */
static bool hierarchy_find(const char *root, const char *controller, char *top, char *mount, size_t size)
{
    char line[2048], name[PROBE_PATH_MAX];
    bool found = false, outside = true;
    FILE *file;

    if (!rooted_path(root, "/proc/self/mountinfo", name))
        return false;
    file = fopen(name, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *tail = strstr(line, " - ");
        char kind[32], source[256], options[512], at_root[CGROUP_PATH_MAX], at[CGROUP_PATH_MAX];
        bool is_it, above;

        if (!tail || sscanf(tail + 3, "%31s %255s %511s", kind, source, options) != 3 ||
            sscanf(line, "%*s %*s %*s %255s %255s", at_root, at) != 2)
            continue;
        is_it =
            *controller ? !strcmp(kind, "cgroup") && words_have(options, controller, ",") : !strcmp(kind, "cgroup2");
        above = !strncmp(at_root, "/..", 3);
        if (!is_it || (above && !outside))
            continue;
        outside = above;
        found = true;
        snprintf(top, size, "%s", at_root);
        snprintf(mount, size, "%s", at);
    }
    if (file)
        fclose(file);
    return found;
}

bool group_own(const char *root, const char *controller, char ret_folder[CGROUP_PATH_MAX],
               char ret_top[CGROUP_PATH_MAX])
{
    char group[CGROUP_PATH_MAX], at_root[CGROUP_PATH_MAX], mount[CGROUP_PATH_MAX];
    const char *below = group;
    struct stat st;
    size_t len;

    if (!own_group(root, controller, group, sizeof group) ||
        !hierarchy_find(root, controller, at_root, mount, sizeof mount))
        return false;
    len = strlen(at_root);
    if (len > 1 && !strncmp(group, at_root, len)) /* a container sees a part of the tree as the whole */
        below = group + len;
    if (!strcmp(below, "/") || strstr(below, "/..")) /* or we are outside of the part that is seen */
        below = "";
    if ((size_t)snprintf(ret_top, CGROUP_PATH_MAX, "%s%s", root, mount) >= CGROUP_PATH_MAX ||
        (size_t)snprintf(ret_folder, CGROUP_PATH_MAX, "%s%s%s", root, mount, below) >= CGROUP_PATH_MAX)
        return false;
    return stat(ret_folder, &st) == 0 && S_ISDIR(st.st_mode);
}

/* --------------------------------------------------------------------------------------------------------- version 2 */

static void why_add(struct buf *why, int version)
{
    buf_addf(why, "%scgroup v%d: ", why->len ? "; " : "", version);
}

static bool can_make(const char *base)
{
    char path[CGROUP_PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/berth-probe-%d", base, (int)getpid());
    if (mkdir(path, 0755) < 0)
        return false;
    rmdir(path);
    return true;
}

static bool leaf_make(const char *base, const char *name, char leaf[CGROUP_PATH_MAX])
{
    return snprintf(leaf, CGROUP_PATH_MAX, "%s/%s", base, name) < CGROUP_PATH_MAX &&
           (mkdir(leaf, 0755) == 0 || errno == EEXIST);
}

/* Moves all processes from one group to another; false: not all can be. */
static bool move_all(const char *from, const char *to)
{
    for (int round = 0; round < OTHERS_ROUNDS; round++) {
        char path[CGROUP_PATH_MAX + 32];
        int pid, count = 0, moved = 0;
        FILE *file;

        snprintf(path, sizeof path, "%s/cgroup.procs", from);
        file = fopen(path, "re");
        if (!file)
            return false;
        for (; fscanf(file, "%d", &pid) == 1; count++)
            moved += pid > 0 && group_write_number(to, "cgroup.procs", pid);
        fclose(file);
        if (!count)
            return true;
        if (!moved)
            return false;
    }
    return false;
}

/* A group with processes hands nothing on: we step down into a leaf of it, and in a container, where there is no group above, root takes all others along
 * into another. */
static bool step_aside(const char *base, bool others, char own_leaf[CGROUP_PATH_MAX], char other_leaf[CGROUP_PATH_MAX])
{
    *other_leaf = '\0';
    if (!leaf_make(base, AGENT_LEAF, own_leaf) || !group_write(own_leaf, "cgroup.procs", "0")) {
        *own_leaf = '\0';
        return false;
    }
    return !others || (leaf_make(base, OTHERS_LEAF, other_leaf) && move_all(base, other_leaf));
}

static void step_back(const char *base, const char *own_leaf, const char *other_leaf)
{
    if (*other_leaf) {
        move_all(other_leaf, base);
        rmdir(other_leaf);
    }
    if (*own_leaf) {
        group_write(base, "cgroup.procs", "0");
        rmdir(own_leaf);
    }
}

/* Hands on one controller that the group has; false, with errno. */
static bool hand_one(struct place *place, int which)
{
    char word[32], own_leaf[CGROUP_PATH_MAX] = "", other_leaf[CGROUP_PATH_MAX] = "";
    int why;

    snprintf(word, sizeof word, "+%s", controllers[which]);
    if (group_write(place->base, "cgroup.subtree_control", word))
        return true;
    if (errno != EBUSY || !place->alone)
        return false;
    for (int others = 0; others <= (place->top && geteuid() == 0); others++) {
        if (step_aside(place->base, others, own_leaf, other_leaf) &&
            group_write(place->base, "cgroup.subtree_control", word))
            return true;
        why = errno;
        step_back(place->base, own_leaf, other_leaf);
        errno = why;
    }
    place->alone = false; /* the next one would fare no better */
    errno = EBUSY;
    return false;
}

/* Hands on what the group of the place has, and writes down what it has not. */
static void place_try(struct place *place)
{
    char offered[CGROUP_TEXT_MAX], handed[CGROUP_TEXT_MAX];

    place->handed = 0;
    buf_reset(&place->why);
    if (!can_make(place->base)) {
        why_add(&place->why, 2);
        buf_addf(&place->why, "no group can be made in %s: %s", place->base, strerror(errno));
        return;
    }
    group_read(place->base, "cgroup.controllers", offered, sizeof offered);
    group_read(place->base, "cgroup.subtree_control", handed, sizeof handed);
    for (int i = 0; i < HAND_COUNT; i++) {
        if (words_have(handed, controllers[i], " \n") ||
            (words_have(offered, controllers[i], " \n") && hand_one(place, i))) {
            place->handed |= 1u << i;
        } else if (i < HAND_LIMITS && words_have(offered, controllers[i], " \n")) {
            why_add(&place->why, 2);
            buf_addf(&place->why, "%s/cgroup.subtree_control does not take +%s: %s", place->base, controllers[i],
                     errno == EBUSY ? "other processes are in that group" : strerror(errno));
        } else if (i < HAND_LIMITS) {
            why_add(&place->why, 2);
            buf_addf(&place->why, "no %s controller in %s/cgroup.controllers", controllers[i], place->base);
        }
    }
}

static int handed_limits(const struct place *place)
{
    int count = 0;

    for (int i = 0; i < HAND_LIMITS; i++)
        count += place->handed >> i & 1;
    return count;
}

/* Hands controllers on in all groups from the top to the one above ours, where we may: what fails is seen further down. */
static void hand_down(const char *top, const char *folder)
{
    size_t len = strlen(top);

    for (int level = 0; level < LEVELS_MAX && len < strlen(folder); level++) {
        struct place above = {.alone = false};

        snprintf(above.base, sizeof above.base, "%.*s", (int)len, folder);
        for (int i = 0; i < HAND_COUNT; i++) {
            char offered[CGROUP_TEXT_MAX], handed[CGROUP_TEXT_MAX];

            group_read(above.base, "cgroup.controllers", offered, sizeof offered);
            group_read(above.base, "cgroup.subtree_control", handed, sizeof handed);
            if (words_have(offered, controllers[i], " \n") && !words_have(handed, controllers[i], " \n"))
                hand_one(&above, i);
        }
        len += 1 + strcspn(folder + len + 1, "/");
    }
}

/* Finds the topmost group on the way down to ours that we may write. */
static bool topmost(const char *top, const char *folder, char ret[CGROUP_PATH_MAX])
{
    size_t len = strlen(top);

    for (int level = 0; level < LEVELS_MAX; level++) {
        char path[CGROUP_PATH_MAX + 32];

        snprintf(ret, CGROUP_PATH_MAX, "%.*s", (int)len, folder);
        snprintf(path, sizeof path, "%s/cgroup.procs", ret);
        if (access(ret, W_OK) == 0 && access(path, W_OK) == 0)
            return true;
        if (len >= strlen(folder))
            return false;
        len += 1 + strcspn(folder + len + 1, "/");
    }
    return false;
}

/* Copies to a group beside ours what limits ours, by whatever group above it. */
static void limits_copy(const char *root, const char *base)
{
    struct confines confines;
    char text[64];

    confines_read(root, &confines);
    snprintf(text, sizeof text, confines.memory == INT64_MAX ? "max" : "%lld", (long long)confines.memory);
    group_write(base, "memory.max", text);
    snprintf(text, sizeof text, isinf(confines.cpus) ? "max" : "%lld %d", (long long)(confines.cpus * PERIOD), PERIOD);
    group_write(base, "cpu.max", text);
}

/* Tries a group beside ours. */
static void beside_try(const char *root, uint32_t tag, const char *top, const char *folder, struct place *place)
{
    struct place above = {.alone = false};

    place->handed = 0;
    buf_reset(&place->why);
    if (!topmost(top, folder, above.base))
        return;
    buf_init(&above.why);
    place_try(&above);
    if (!handed_limits(&above))
        buf_add(&place->why, above.why.text, above.why.len);
    buf_done(&above.why);
    if (!handed_limits(&above) || snprintf(place->base, sizeof place->base, "%s/berth-%08x", above.base,
                                           (unsigned)tag) >= (int)sizeof place->base)
        return;
    if (mkdir(place->base, 0755) < 0 && errno != EEXIST)
        return;
    limits_copy(root, place->base);
    place_try(place);
    if (!handed_limits(place))
        rmdir(place->base);
}

static bool is_service(const char *folder)
{
    static const char end[] = ".service";
    size_t len = strlen(folder);

    return len >= sizeof end && !strcmp(folder + len - (sizeof end - 1), end);
}

/* Takes what a place gives. */
static void place_take(const struct place *place, struct cgroups *ret)
{
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        bool has = !*parts[i].v2;

        for (int j = 0; j < HAND_LIMITS; j++)
            has |= !strcmp(parts[i].v2, controllers[j]) && place->handed >> j & 1;
        if (has)
            memcpy(ret->base[i], place->base, sizeof place->base);
    }
    ret->version = 2;
}

static bool probe_v2(const char *root, struct cgroups *ret, struct buf *why)
{
    struct place own = {.alone = true}, beside = {.alone = false};
    char folder[CGROUP_PATH_MAX], top[CGROUP_PATH_MAX];
    struct place *best = &own;
    char *leaf;
    bool service, found;

    if (!group_own(root, "", folder, top)) {
        why_add(why, 2);
        buf_adds(why, "/proc/self/mountinfo shows no cgroup2 with our group in it");
        return false;
    }
    leaf = strrchr(folder, '/');
    service = is_service(folder);
    if (!strcmp(leaf + 1, AGENT_LEAF) && strlen(folder) > strlen(top))
        *leaf = '\0';
    hand_down(top, folder);
    snprintf(own.base, sizeof own.base, "%s", folder);
    own.top = !strcmp(top, folder);
    buf_init(&own.why);
    buf_init(&beside.why);
    if (service && !own.top)
        beside_try(root, ret->tag, top, folder, &beside);
    if (!handed_limits(&beside))
        place_try(&own);
    if (handed_limits(&own) < HAND_LIMITS && !own.top && !service)
        beside_try(root, ret->tag, top, folder, &beside);
    if (handed_limits(&beside) > handed_limits(&own) || (!own.handed && beside.why.len))
        best = &beside;
    if (best == &own && *beside.base)
        rmdir(beside.base); /* if nothing is in it from an earlier time */
    found = (best->handed & (1u << HAND_MEMORY | 1u << HAND_PIDS)) != 0;
    if (found)
        place_take(best, ret);
    buf_add(why, buf_string(&best->why), best->why.len);
    buf_done(&own.why);
    buf_done(&beside.why);
    return found;
}

/* --------------------------------------------------------------------------------------------------------- both versions */

static bool probe_v1(const char *root, struct cgroups *ret, struct buf *why)
{
    bool mounted = false;

    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        char top[CGROUP_PATH_MAX];
        bool there = group_own(root, parts[i].v1, ret->base[i], top);

        mounted |= there;
        if (there && can_make(ret->base[i])) {
            ret->version = 1;
            continue;
        }
        if (parts[i].shown) {
            why_add(why, 1);
            if (there)
                buf_addf(why, "no group can be made in %s: %s", ret->base[i], strerror(errno));
            else
                buf_addf(why, "no %s controller is mounted", parts[i].v1);
        }
        *ret->base[i] = '\0';
    }
    return mounted;
}

void cgroups_probe(const char *root, uint32_t tag, struct cgroups *ret, struct buf *why)
{
    struct buf second, first;

    memset(ret, 0, sizeof *ret);
    ret->tag = tag;
    buf_init(&second);
    buf_init(&first);
    if (probe_v2(root, ret, &second))
        buf_add(why, buf_string(&second), second.len);
    else if (probe_v1(root, ret, &first)) /* where version 1 is mounted, it is what the machine is run with */
        buf_add(why, buf_string(&first), first.len);
    else
        buf_add(why, buf_string(&second), second.len);
    buf_done(&second);
    buf_done(&first);
}

/* Appends the controllers of version 2 that a group lacks, and whether we may make groups in it. */
static void look_v2(const char *folder, struct buf *why)
{
    char offered[CGROUP_TEXT_MAX];

    group_read(folder, "cgroup.controllers", offered, sizeof offered);
    for (int i = 0; i < HAND_LIMITS; i++) {
        if (words_have(offered, controllers[i], " \n"))
            continue;
        why_add(why, 2);
        buf_addf(why, "no %s controller in %s/cgroup.controllers", controllers[i], folder);
    }
    if (access(folder, W_OK) < 0) {
        why_add(why, 2);
        buf_addf(why, "no group can be made in %s: %s", folder, strerror(errno));
    }
}

static void look_v1(const char *root, struct buf *why)
{
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        char folder[CGROUP_PATH_MAX], top[CGROUP_PATH_MAX];

        if (!parts[i].shown)
            continue;
        if (!group_own(root, parts[i].v1, folder, top)) {
            why_add(why, 1);
            buf_addf(why, "no %s controller is mounted", parts[i].v1);
        } else if (access(folder, W_OK) < 0) {
            why_add(why, 1);
            buf_addf(why, "no group can be made in %s: %s", folder, strerror(errno));
        }
    }
}

void cgroups_look(const char *root, struct buf *why)
{
    char folder[CGROUP_PATH_MAX], top[CGROUP_PATH_MAX];
    bool first = group_own(root, "memory", folder, top);

    if (!first && group_own(root, "", folder, top))
        look_v2(folder, why);
    else
        look_v1(root, why);
}

void cgroups_describe(const struct cgroups *cgroups, struct buf *out)
{
    const char *before = " (";

    if (!cgroups->version) {
        buf_adds(out, "no cgroups");
        return;
    }
    buf_addf(out, "cgroup v%d", (int)cgroups->version);
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (!*cgroups->base[i] || !parts[i].shown)
            continue;
        buf_addf(out, "%s%s", before, parts[i].shown);
        before = " ";
    }
    buf_adds(out, ")");
}
