/* job_steps.c: reads the notes of jobs' ways, and measures the spans between them. */
#include "cli/bench/job_steps.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Looked for from the end: few claims live at a time. */
static struct job_way *way_of(struct job_steps *steps, uint64_t claim, uint64_t number)
{
    for (size_t i = steps->count; i-- > 0;)
        if (steps->ways[i].claim == claim && steps->ways[i].number == number)
            return &steps->ways[i];
    ARRAY_ROOM(steps->ways, steps->count, steps->room, 256);
    steps->ways[steps->count] = (struct job_way){.claim = claim, .number = number};
    return &steps->ways[steps->count++];
}

static void note_take(struct job_steps *steps, const struct step_note *note)
{
    struct job_way *way;

    if (note->step >= STEP_COUNT) {
        ARRAY_ROOM(steps->counted, steps->counted_count, steps->counted_room, 256);
        steps->counted[steps->counted_count++] = *note;
        return;
    }
    way = way_of(steps, note->claim, note->number);
    if (!way->at[note->step]) /* the first counts: what is repeated was not heard */
        way->at[note->step] = note->at;
}

int job_steps_read(struct job_steps *steps, const char *path, off_t *at, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct step_note note;

    *steps = (struct job_steps){0};
    if (fd < 0)
        return err_set(err, "'%s' cannot be opened: %s", path, strerror(errno));
    while (pread(fd, &note, sizeof note, *at) == (ssize_t)sizeof note) {
        note_take(steps, &note);
        *at += (off_t)sizeof note;
    }
    close(fd);
    return 0;
}

void job_steps_done(struct job_steps *steps)
{
    free(steps->ways);
    free(steps->counted);
    *steps = (struct job_steps){0};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* When the span to this step began; 0: that is not known. */
static int64_t span_began(const struct job_steps *steps, size_t at, enum job_step step)
{
    const struct job_way *way = &steps->ways[at];

    if (step != STEP_HANDED)
        return way->at[step - 1];
    for (size_t i = at; i-- > 0;)
        if (steps->ways[i].claim == way->claim)
            return steps->ways[i].at[STEP_DURABLE];
    return 0;
}

size_t job_steps_spans(const struct job_steps *steps, enum job_step step, double *ret_median, double *ret_p99)
{
    double *spans = mem_alloc((steps->count + 1) * sizeof *spans);
    size_t count = 0;

    for (size_t i = 0; i < steps->count; i++) {
        int64_t from = span_began(steps, i, step), to = steps->ways[i].at[step];

        if (from && to)
            spans[count++] = (double)(to - from) / 1e3;
    }
    qsort(spans, count, sizeof *spans, compare);
    *ret_median = count ? spans[count / 2] : 0;
    *ret_p99 = count ? spans[count - 1 - count / 100] : 0;
    free(spans);
    return count;
}

uint64_t job_steps_counted(const struct job_steps *steps, pid_t process, enum counted counted)
{
    uint64_t count = 0;

    for (size_t i = 0; i < steps->counted_count; i++)
        count +=
            steps->counted[i].claim == (uint64_t)process && steps->counted[i].step == (uint64_t)STEP_COUNT + counted;
    return count;
}
