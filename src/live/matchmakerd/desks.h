/* desks.h: customers that a person is led to by the matchmaker; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_DESKS_H
#define BERTH_LIVE_MATCHMAKERD_DESKS_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* May the caller use this customer? Its own user may, and those whom that user has delegated to; others only if an
 * administrator has allowed it to serve them. */
bool desk_is_for(const struct request *request, const struct agent_row *row);

/* Appends a token with the caller's name and rights, for that customer; false when it cannot be made. */
bool desk_token_print(const struct request *request, const struct agent_row *row, struct buf *out);

#ifdef __cplusplus
}
#endif
#endif
