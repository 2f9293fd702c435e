/* sampling_test.c: a job is looked at every ten seconds of its life, and the agent finds what was seen. */
#include "common/tap.h"

#include "common/folder.h"

#include "exec/sampling.h"

#define SECONDS(n) (INT64_C(1000000) * (n))

int main(void)
{
    struct sampling *sampling = mem_alloc(sizeof *sampling);
    struct job_samples *found = mem_alloc(sizeof *found);
    const struct order order = {.is = {.number = 3}};
    struct folder folder;
    int at;

    folder_init(&folder);
    at = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sampling_begin(sampling, 3, SECONDS(100));
    sampling_tick(sampling, &order, at, SECONDS(109), SECONDS(9), 1000);
    tap_ok(!job_samples_read(at, 3, found), "of the first ten seconds nothing is known before they are over");
    sampling_tick(sampling, &order, at, SECONDS(110), SECONDS(5), 1000);
    tap_ok(job_samples_read(at, 3, found) && found->samples.count == 1 && found->samples.points[0].cpu == 50 &&
               found->samples.points[0].memory == 1000 && found->read == -1,
           "then how busy it was, and what memory it has");
    tap_ok(!job_samples_read(at, 4, found), "the claim's next job has none of that");
    sampling_tick(sampling, &order, at, SECONDS(111), SECONDS(6), 2000);
    sampling_tick(sampling, &order, at, SECONDS(122), SECONDS(17), 3000);
    tap_ok(job_samples_read(at, 3, found) && found->samples.count == 2 && found->samples.points[1].cpu == 100,
           "a look that comes late stands for the time that has gone by");
    sampling_tick(sampling, &order, at, SECONDS(5000), SECONDS(17), 3000);
    sampling_tick(sampling, &order, at, SECONDS(5009), SECONDS(17), 3000);
    tap_ok(job_samples_read(at, 3, found) && found->samples.count == 3,
           "a machine that slept has one look more, not hundreds");
    sampling_end(sampling, at, 4096, 0);
    tap_ok(job_samples_read(at, 3, found) && found->read == 4096 && found->written == 0 && found->samples.count == 3,
           "at its end, what it has read and written is known");
    sampling_begin(sampling, 4, SECONDS(6000));
    sampling_end(sampling, at, -1, -1);
    tap_ok(!job_samples_read(at, 4, found) && job_samples_read(at, 3, found), "of a short job nothing is written");
    tap_ok(truncate(folder_path(&folder, "samples"), 60) == 0 && !job_samples_read(at, 3, found),
           "what was cut short counts as not there");
    close(at);
    folder_empty(folder.path, 4);
    rmdir(folder.path);
    free(found);
    free(sampling);
    return tap_done();
}
