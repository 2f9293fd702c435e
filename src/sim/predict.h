/* predict.h: how long jobs will take, by how long the last jobs of their users took.
 *
 *     the jobs of a user that are done:   ... 300 s | 500 s | 100 s   ->   the next one is taken for (500 + 100) / 2 = 300 s
 *
 * So does EASY++ (Tsafrir, Etsion and Feitelson, 2007). A user of whom less is known is believed; nobody is taken for longer than he says. */
#ifndef BERTH_SIM_PREDICT_H
#define BERTH_SIM_PREDICT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PREDICT_LAST 2 /* jobs of a user */

struct predictor {
    struct predict_user *users;
};

void predictor_init(struct predictor *predictor, uint32_t users);
void predictor_done(struct predictor *predictor);

/* That job of the user has ended at `at`, not before those that have been told, and has run for `took`. Of jobs that end at once the later one counts as the
 * last. */
void predictor_learn(struct predictor *predictor, uint32_t user, uint32_t job, int64_t at, int64_t took);

/* For how long the user's next job will run: whole seconds, one at least, unless `limit` is shorter. All in microseconds. */
int64_t predictor_length(const struct predictor *predictor, uint32_t user, int64_t limit);

#ifdef __cplusplus
}
#endif
#endif
