/* input_data.h: the files of the catalogue that a job reads: its attribute InputData. Until it is submitted there may be datasets among them.
 *
 *     InputData = {"run7/a.dat", "lfn:/grid/run7/b.dat"}     ->   run7/a.dat, grid/run7/b.dat
 *
 * In the job's folder each is called by the last part of its name. */
#ifndef BERTH_LIVE_DATA_INPUT_DATA_H
#define BERTH_LIVE_DATA_INPUT_DATA_H

#include "lang/base/err.h"
#include "lang/base/textmap.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INPUT_DATA_MAX 1000 /* files of one job */

/* What a job prefers that does not say what: machines that a store with all of its files is near to. */
#define INPUT_DATA_RANK "stringListsIntersect(join(\",\", other.CloseStorage), join(\",\", Replicas)) is true ? 10 : 0"

struct input_data {
    char **names; /* logical ones, as the catalogue has them */
    uint32_t count, room;
    struct textmap lasts; /* the last parts of the names, each in the place of its name */
};

/* Reads the files that an ad names; none, when it has no such attribute. -1 and what is wrong with it. */
int input_data_read(const struct tree *ad, struct input_data *ret, struct err *err);
void input_data_init(struct input_data *data); /* without a file */
/* Adds a file to those that were read, unless it is among them already: -1 and what is wrong with that. */
int input_data_add(struct input_data *data, const char *name, struct err *err);
void input_data_done(struct input_data *data); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
