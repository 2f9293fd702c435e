/* figures.c: sums over jobs and outcomes. */
#include "sim/figures.h"

#include "lang/base/mem.h"
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const figure_keys[FIGURE_COUNT] = {
#define X(name, key, about) key,
    FIGURES(X)
#undef X
};

#define HOUR (3600.0 * BATCH_SECOND)

struct users {
    double *sums, *counts;
};

struct sums {
    uint64_t submitted, completed, scheduled, timed_out, waiting, starved;
    double wait, wait_most, busy, slowdown;
    double *slowdowns; /* of those that are completed */
};

static double slowdown(const struct figures_settings *settings, int64_t wait, int64_t run)
{
    double longer = (double)(run > settings->bound ? run : settings->bound);

    return fmax(1, (double)(wait + run) / longer);
}

static void sum_job(const struct figures_settings *settings, uint32_t place, int64_t time, struct sums *sums,
                    struct users *users)
{
    const struct batch_job *job = &settings->work->jobs[place];
    int64_t start = settings->outcomes[place].start, ready = settings->outcomes[place].ready, wait, end;
    double slow;

    sums->submitted++;
    if (start >= 0 && start <= time) {
        wait = start - ready;
        end = job->duration <= time - start ? start + job->duration : INT64_MAX;
        if (end <= time)
            sums->completed++;
        else
            sums->scheduled++;
        sums->wait += (double)wait;
        sums->wait_most = fmax(sums->wait_most, (double)wait);
        sums->busy += job->asks[0] * (double)((end <= time ? end : time) - start);
    } else {
        wait = ready >= 0 && ready < time ? time - ready : 0; /* who waits for others does not wait for a place */
        if (ready < 0 && -1 - ready <= time) {
            sums->timed_out++;
        } else if (settings->timeout && wait >= settings->timeout) {
            wait = settings->timeout;
            sums->timed_out++;
        } else {
            sums->waiting++;
        }
        end = INT64_MAX;
    }
    slow = slowdown(settings, wait, job->duration);
    if (end <= time) {
        sums->slowdown += slow;
        sums->slowdowns[sums->completed - 1] = slow;
    }
    sums->starved += wait >= settings->starved;
    users->sums[job->user] += slow;
    users->counts[job->user]++;
}

static double percent(uint64_t some, uint64_t all)
{
    return all ? 100.0 * (double)some / (double)all : 0;
}

/* Jain's index over the mean slowdown of each user that has jobs. */
static double fairness(struct users *users, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (users->counts[i] > 0)
            users->sums[kept++] = users->sums[i] / users->counts[i];
    return jain_index(users->sums, kept);
}

static int number_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* The least of the sorted numbers that a part `part` of them is not above; 0: there are none. */
static double number_at(const double *numbers, uint64_t count, double part)
{
    uint64_t place = (uint64_t)ceil(part * (double)count);

    return count ? numbers[place ? place - 1 : 0] : 0;
}

void figures_at(const struct figures_settings *settings, int64_t time, double ret[FIGURE_COUNT])
{
    const struct batch_work *work = settings->work;
    struct sums sums = {0};
    struct users users = {mem_alloc((work->users + 1) * sizeof(double)), mem_alloc((work->users + 1) * sizeof(double))};
    double started, capacity = settings->processors * (double)time;

    sums.slowdowns = mem_alloc(((size_t)work->count + 1) * sizeof *sums.slowdowns);
    memset(users.sums, 0, (work->users + 1) * sizeof(double));
    memset(users.counts, 0, (work->users + 1) * sizeof(double));
    for (uint32_t i = 0; i < work->count && work->jobs[i].submit <= time; i++)
        sum_job(settings, i, time, &sums, &users);
    started = (double)(sums.completed + sums.scheduled);
    ret[FIGURE_SUBMITTED] = (double)sums.submitted;
    ret[FIGURE_COMPLETED] = percent(sums.completed, sums.submitted);
    ret[FIGURE_SCHEDULED] = percent(sums.scheduled, sums.submitted);
    ret[FIGURE_TIMED_OUT] = percent(sums.timed_out, sums.submitted);
    ret[FIGURE_WAITING] = percent(sums.waiting, sums.submitted);
    ret[FIGURE_WAIT_MAX] = sums.wait_most / BATCH_SECOND;
    ret[FIGURE_WAIT_MEAN] = started > 0 ? sums.wait / started / BATCH_SECOND : 0;
    ret[FIGURE_DONE] = (double)sums.completed;
    ret[FIGURE_UTILISATION] = capacity > 0 ? 100 * sums.busy / capacity : 0;
    ret[FIGURE_THROUGHPUT] = time > 0 ? (double)sums.completed / ((double)time / HOUR) : 0;
    ret[FIGURE_SLOWDOWN] = sums.completed ? sums.slowdown / (double)sums.completed : 0;
    qsort(sums.slowdowns, sums.completed, sizeof *sums.slowdowns, number_compare);
    ret[FIGURE_SLOWDOWN_MEDIAN] = number_at(sums.slowdowns, sums.completed, 0.5);
    ret[FIGURE_SLOWDOWN_99] = number_at(sums.slowdowns, sums.completed, 0.99);
    ret[FIGURE_FAIRNESS] = fairness(&users, work->users);
    ret[FIGURE_STARVED] = percent(sums.starved, sums.submitted);
    free(sums.slowdowns);
    free(users.sums);
    free(users.counts);
}

void figures_waits(const struct figures_settings *settings, int64_t time, struct spread *waits)
{
    for (uint32_t i = 0; i < settings->work->count; i++) {
        int64_t start = settings->outcomes[i].start;

        if (start >= 0 && start <= time)
            spread_add(waits, (uint64_t)(start - settings->outcomes[i].ready) / 1000);
    }
}

/* Adds `amount` over the time from `from` to `to`: into `parts` for the two ends, and into `steps` where
 * the whole parts between them begin and end. */
static void series_add(double *parts, double *steps, double width, uint32_t count, double from, double to,
                       double amount)
{
    uint32_t first = (uint32_t)(from / width), last = (uint32_t)(to / width);

    if (to <= from || first >= count)
        return;
    if (last >= count) {
        last = count - 1;
        to = width * count;
    }
    if (first == last) {
        parts[first] += amount * (to - from) / width;
        return;
    }
    parts[first] += amount * ((first + 1) * width - from) / width;
    parts[last] += amount * (to - last * width) / width;
    steps[first + 1] += amount;
    steps[last] -= amount;
}

void figures_series(const struct figures_settings *settings, int64_t end, uint32_t count, double *queue, double *busy)
{
    double width = (double)end / count, *steps = mem_alloc(2 * ((size_t)count + 1) * sizeof *steps);
    double *queue_steps = steps, *busy_steps = steps + count + 1, queued = 0, running = 0;

    memset(steps, 0, 2 * ((size_t)count + 1) * sizeof *steps);
    for (uint32_t i = 0; i < settings->work->count; i++) {
        const struct batch_job *job = &settings->work->jobs[i];
        int64_t start = settings->outcomes[i].start, ready = settings->outcomes[i].ready, left = end;

        if (ready < 0 || ready >= end)
            continue;
        if (start >= 0 && start < end)
            left = start;
        else if (settings->timeout && end - ready > settings->timeout)
            left = ready + settings->timeout;
        series_add(queue, queue_steps, width, count, (double)ready, (double)left, 1);
        if (start >= 0 && start < end)
            series_add(busy, busy_steps, width, count, (double)start,
                       (double)(job->duration < end - start ? start + job->duration : end), job->asks[0]);
    }
    for (uint32_t i = 0; i < count; i++) {
        queued += queue_steps[i];
        running += busy_steps[i];
        queue[i] += queued;
        busy[i] += running;
    }
    free(steps);
}
