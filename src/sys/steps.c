/* steps.c: notes of a job's way, appended to a file. */
#include "sys/steps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Opens the file; -1: none is asked for. Every process has one file, and daemons have one thread that does this. */
static int steps_file(void)
{
    static int file = -2;

    if (file == -2) {
        const char *path = getenv(STEPS_VARIABLE);

        file = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    }
    return file;
}

static void note_add(uint64_t step, uint64_t claim, uint64_t number)
{
    struct step_note note = {.claim = claim, .number = number, .step = step};
    int file = steps_file();
    struct timespec now;

    if (file < 0)
        return;
    clock_gettime(CLOCK_BOOTTIME, &now);
    note.at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (write(file, &note, sizeof note) < 0)
        return; /* a measurement that is not there */
}

void step_note(enum job_step step, uint64_t claim, uint64_t number)
{
    note_add(step, claim, number);
}

void step_counts(enum counted counted)
{
    note_add((uint64_t)STEP_COUNT + counted, (uint64_t)getpid(), 0);
}
