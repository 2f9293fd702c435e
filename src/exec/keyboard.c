/* keyboard.c: who is logged in, and for how long nobody has touched a key.
 *
 *     utmp                      who is logged in, and at which terminal
 *     access time of that       a key was read there (the kernel rounds to 8 seconds)
 *     /proc/interrupts          the counters of keyboard and mouse: when they have moved since the last look, somebody was there
 *
 * A graphical session reads no terminal, and its keyboard is at the USB more often than not. So while somebody is logged in at the machine
 * itself the USB's interrupts count as well: a disk there then looks like a user. Owners mind that less than a job while they type.
 * Where there is no utmp every pseudo terminal counts. Where there is nobody to ask, nothing is told. */
#include "exec/probe_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <utmpx.h>

struct look {
    const char *root;
    int64_t last;    /* a key was touched, seconds since 1970; 0: not known */
    bool at_machine; /* somebody may be logged in at the machine itself */
};

static const char *const input_words[] = {"i8042", "keyboard", "mouse"};
static const char *const usb_words[] = {"xhci", "ehci", "ohci", "uhci"};

static void look_at_terminal(struct look *look, const char *line)
{
    char name[PROBE_PATH_MAX], path[PROBE_PATH_MAX];
    struct stat st;

    /* the name is what somebody wrote: it stays below /dev */
    if (!*line || *line == '/' || *line == '.' || strstr(line, ".."))
        return;
    snprintf(name, sizeof name, "/dev/%s", line);
    if (rooted_path(look->root, name, path) && lstat(path, &st) == 0 && !S_ISDIR(st.st_mode) &&
        st.st_atim.tv_sec > look->last)
        look->last = st.st_atim.tv_sec;
}

static bool is_new(const char *names, size_t n, const char *user, size_t room)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(names + i * room, user, room) == 0)
            return false;
    return true;
}

/* How many distinct users are logged in; -1 when nobody keeps a list. */
static int64_t look_at_users(struct look *look)
{
    struct utmpx record;
    char *names, line[sizeof record.ut_line + 1];
    size_t count = 0, seen = 0;
    struct buf text;

    buf_init(&text);
    if (!rooted_read(look->root, "/var/run/utmp", &text) && !rooted_read(look->root, "/run/utmp", &text)) {
        buf_done(&text);
        return -1;
    }
    names = mem_alloc(PROBE_RECORDS_MAX * sizeof record.ut_user);
    for (size_t at = 0; at + sizeof record <= text.len && seen < PROBE_RECORDS_MAX; at += sizeof record) {
        memcpy(&record, text.text + at, sizeof record);
        if (record.ut_type != USER_PROCESS || !record.ut_user[0])
            continue;
        seen++;
        if (is_new(names, count, record.ut_user, sizeof record.ut_user))
            memcpy(names + count++ * sizeof record.ut_user, record.ut_user, sizeof record.ut_user);
        memcpy(line, record.ut_line, sizeof record.ut_line);
        line[sizeof record.ut_line] = '\0';
        look->at_machine |= *line == ':' || strncmp(line, "tty", 3) == 0 || strncmp(line, "seat", 4) == 0;
        look_at_terminal(look, line);
    }
    free(names);
    buf_done(&text);
    return (int64_t)count;
}

static void look_at_pseudo(void *user, const char *name)
{
    char line[300];

    if (strspn(name, "0123456789") != strlen(name))
        return; /* ptmx */
    snprintf(line, sizeof line, "pts/%s", name);
    look_at_terminal(user, line);
}

static bool line_has(const char *line, size_t len, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t wanted = strlen(words[i]);

        for (size_t at = 0; at + wanted <= len; at++)
            if (memcmp(line + at, words[i], wanted) == 0)
                return true;
    }
    return false;
}

/* The sum of the counters of a row `  1:   12   0   IO-APIC   1-edge   i8042`. */
static uint64_t row_sum(const char *row, size_t len)
{
    const char *end = row + len, *at = memchr(row, ':', len);
    uint64_t sum = 0;
    int64_t count;

    for (at = at ? at + 1 : end; at < end; at += strspn(at, "0123456789")) {
        at += strspn(at, " \t"); /* as text_integer does, or it would stay where it is */
        if (at >= end || !text_integer(at, &count))
            break;
        sum += (uint64_t)count;
    }
    return sum;
}

/* Counts all interrupts of what people touch; false when the machine has no such device. */
static bool count_interrupts(const struct look *look, uint64_t *ret)
{
    struct buf text;
    bool found = false;

    *ret = 0;
    buf_init(&text);
    if (rooted_read(look->root, "/proc/interrupts", &text)) {
        for (const char *row = text.text; *row;) {
            size_t len = strcspn(row, "\n");

            if (line_has(row, len, input_words, sizeof input_words / sizeof *input_words) ||
                (look->at_machine && line_has(row, len, usb_words, sizeof usb_words / sizeof *usb_words))) {
                *ret += row_sum(row, len);
                found = true;
            }
            row += len + (row[len] == '\n');
        }
    }
    buf_done(&text);
    return found;
}

static void watch(struct keyboard *keyboard, struct look *look, int64_t now)
{
    uint64_t count;

    if (!count_interrupts(look, &count))
        return;
    if (!keyboard->watched)
        keyboard->since = now;
    else if (count != keyboard->interrupts)
        keyboard->moved = now;
    keyboard->watched = true;
    keyboard->interrupts = count;
    if (keyboard->moved > look->last)
        look->last = keyboard->moved;
    /* somebody is there, and we have not looked for longer than this */
    if (look->at_machine && keyboard->since > look->last)
        look->last = keyboard->since;
}

void keyboard_read(struct keyboard *keyboard, const char *root, int64_t now, struct presence *ret)
{
    struct look look = {.root = root};
    int64_t users = look_at_users(&look);

    *ret = (struct presence){.users_known = users >= 0, .users = users};
    if (users < 0)
        rooted_names(root, "/dev/pts", PROBE_RECORDS_MAX, look_at_pseudo, &look);
    watch(keyboard, &look, now);
    ret->idle_known = look.last > 0;
    ret->idle = now > look.last ? now - look.last : 0; /* a clock that was set back */
}
