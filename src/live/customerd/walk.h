/* walk.h: a request that looks at many jobs does so in the turns of its account, some at a time.
 *
 *     struct my_walk { struct walk walk; ... };     walk_begin(request, &mine->walk)  ->  one, one, one, ...  ->  end */
#ifndef BERTH_LIVE_CUSTOMERD_WALK_H
#define BERTH_LIVE_CUSTOMERD_WALK_H

#include "live/http/request.h"

#ifdef __cplusplus
extern "C" {
#endif

struct walk {
    bool (*one)(struct walk *walk, struct request *request); /* looks at the next; false: that was all */
    void (*end)(struct walk *walk, struct request *request); /* answers */
    void (*drop)(struct walk *walk);                         /* frees it: after `end`, or when the request has gone */
};

void walk_begin(struct request *request, struct walk *walk); /* takes the walk */

#ifdef __cplusplus
}
#endif
#endif
