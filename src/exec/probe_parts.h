/* probe_parts.h: what the files of the prober share; not installed.
 *
 *     probe.c         the prober: layers laid over one another
 *     hardware.c      what does not change while we run: hwloc and /proc
 *     gpus.c          graphics processors, by what the drivers show
 *     gpu_give.c      which of them can be given to jobs
 *     confines.c      what the kernel lets us have of the machine: control groups
 *     state.c         load, time of day, what is free
 *     keyboard.c      who is logged in, and when a key was last touched
 *     software.c      programs that print an ad
 *     probe_files.c   bounded reads below a root that may not be ours
 *     probe_facts.c   an ad that grows by one attribute after another
 *
 * All that is read may be odd: too long, cut off, binary, a pipe. A fact that cannot be told is left out. */
#ifndef BERTH_EXEC_PROBE_PARTS_H
#define BERTH_EXEC_PROBE_PARTS_H

#include "exec/probe.h"
#include "lang/base/buf.h"
#include "lang/text/build.h"

#include <stdint.h>

#define PROBE_PATH_MAX 4096
#define PROBE_FILE_MAX (1u << 20)    /* bytes of a file that are looked at */
#define PROBE_TEXT_MAX 200           /* bytes of a string in the ad */
#define PROBE_CPUS_MAX 65536         /* in a list of processors */
#define PROBE_RECORDS_MAX 1024       /* of those who are logged in */
#define PROBE_LEVELS_MAX 32          /* of control groups inside one another */
#define PROBE_PROGRAMS_MAX 64        /* more are not started */
#define PROBE_OUTPUT_MAX (64u << 10) /* bytes that a program may print */
#define PROBE_CELLS_MAX 8192         /* of the ad that it prints ... */
#define PROBE_ATTRIBUTES_MAX 512     /* ... and its attributes */
#define PROBE_COMPLAINT_MAX 1000

/* ------------------------------------------------------------------------------------------------------------- facts */

struct facts {
    struct build build;
    uint32_t count; /* attributes so far; the caller gives each name once */
};

void facts_init(struct facts *facts, struct symbols *symbols);
void facts_name(struct facts *facts, const char *name); /* what was pushed last is that attribute */
void facts_integer(struct facts *facts, const char *name, int64_t value);
void facts_real(struct facts *facts, const char *name, double value);
void facts_span(struct facts *facts, const char *name, int64_t seconds);    /* a relative time */
void facts_string(struct facts *facts, const char *name, const char *text); /* cleaned; "" is left out */
struct tree *facts_seal(struct facts *facts);                               /* and done with */

/* Copies a text as one line of printable ASCII, at most room - 1 bytes; other characters are replaced, blanks around it dropped. */
void text_clean(const char *text, size_t len, char *out, size_t room);

/* ------------------------------------------------------------------------------------------------------------- files */

/* Makes the path below the root; false when it would be too long. */
bool rooted_path(const char *root, const char *path, char out[PROBE_PATH_MAX]);

/* Reads a file's first PROBE_FILE_MAX bytes, with a NUL behind them, into an initialised buffer. False when it is not a regular file or cannot be
 * read. Never waits. */
bool rooted_read(const char *root, const char *path, struct buf *ret_text);
bool rooted_line(const char *root, const char *path, char *out, size_t room); /* the first line, cleaned; false: none */
bool rooted_integer(const char *root, const char *path, int64_t *ret);        /* that the file begins with */

/* Reads the last part of the path that a link points to. */
bool rooted_link(const char *root, const char *path, char *out, size_t room);

/* Calls back for up to `max` names of a folder, in order of their names; without . and .. */
typedef void rooted_name_fn(void *user, const char *name);
void rooted_names(const char *root, const char *path, size_t max, rooted_name_fn *fn, void *user);

/* Reads the whole number that the text begins with, after blanks; one that is too large is INT64_MAX. */
bool text_integer(const char *text, int64_t *ret);
/* Copies, cleaned, what stands behind the key and the separator on the line that begins with them. */
bool text_value(const char *text, const char *key, char separator, char *out, size_t room);

/* ------------------------------------------------------------------------------------------------------- what is told */

/* What control groups let us have: INT64_MAX and infinity where nothing is limited. */
struct confines {
    int64_t memory;      /* bytes that we and our jobs may have */
    int64_t memory_free; /* ... and how many of them nobody has */
    double cpus;
};
void confines_read(const char *root, struct confines *ret);

/* Writes what the hardware is; -1 when there is no such machine. */
int hardware_write(struct facts *facts, const struct probe_settings *settings, struct err *err);

/* Bytes that are free for us on the file system of a folder (which may be NULL). */
bool disk_free(const char *folder, int64_t *ret);

/* `settled`: those of the machine, as gpus_settle left them; NULL: they are looked for, and none can be given. */
void gpus_write(struct facts *facts, const char *root, const struct gpus *settled);

/* How the keyboard was found the last time. */
struct keyboard {
    bool watched;
    uint64_t interrupts; /* of input devices, in all */
    int64_t since;       /* seconds since 1970: watched from then on ... */
    int64_t moved;       /* ... and last seen to be used; 0: never */
};

struct presence {
    bool users_known, idle_known;
    int64_t users, idle; /* seconds */
};
void keyboard_read(struct keyboard *keyboard, const char *root, int64_t now, struct presence *ret);

void state_write(struct facts *facts, const struct probe_settings *settings, struct keyboard *keyboard,
                 double own_load);

struct software;
struct software *software_new(struct symbols *symbols, const char *const *programs, int64_t span);
void software_free(struct software *software);
void software_start(struct software *software);
bool software_poll(struct software *software);
const char *software_complaint(const struct software *software);
/* Lays what the programs printed last over `below`, which is taken. */
struct tree *software_lay_take(const struct software *software, struct tree *below);

#endif
