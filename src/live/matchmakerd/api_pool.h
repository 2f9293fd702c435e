/* api_pool.h: the pool at a glance, and those who watch it; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_API_POOL_H
#define BERTH_LIVE_MATCHMAKERD_API_POOL_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A match as it is listed, from a letter to one of its parties: who got what, and when; never a ticket. The caller unrefs it. */
struct tree *match_row(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter,
                       const struct edge *edge, int64_t now);

/* A user's account, and a group, as they are listed. The caller unrefs it. */
struct tree *user_row(struct matchmakerd *matchmakerd, const struct user_view *view);
struct tree *group_row(struct matchmakerd *matchmakerd, const struct group_view *view);

/* Is the machine the caller's own, or may the caller see all? And may it see what decides whom the machine takes? */
bool machine_is_own(const struct request *request, const struct machine_view *view);
bool machine_shows_policy(const struct request *request, const struct machine_view *view);
/* May the caller read why it lets nobody in? Not where that tells a policy that is not shown, or that somebody sits there. */
struct machine_facts;
bool machine_shows_words(const struct request *request, const struct machine_view *view,
                         const struct machine_facts *facts);

void agent_answer(struct request *request, uint32_t place); /* with its ad; TEXTMAP_NONE: with 404 */

extern const char *const outcome_words[CENSUS_OUTCOMES]; /* by enum engine_outcome */
/* The outcome of that name; 0: there is no such outcome. */
int outcome_find(const char *word);

/* The pool at a glance, and how many rows a watcher has missed (0: left out). The caller unrefs it. */
struct tree *overview_ad(struct matchmakerd *matchmakerd, int64_t missed);

/* Tells watchers of a match, by the letter to that agent; and of a claim that the provider reports. */
void observers_match(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter);
void observers_claim(struct matchmakerd *matchmakerd, const struct report *report, const char *provider);
/* Tells those who watch a customer that something has changed there. */
struct desk_news;
void observers_desk(struct matchmakerd *matchmakerd, const struct desk_news *news);
/* Of those who watch it and may be led there, one, in turns; NULL: there is none. */
const struct request *observer_of_desk(const struct matchmakerd *matchmakerd, const struct desk_news *news,
                                       uint32_t turn);
void observers_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds);

#ifdef __cplusplus
}
#endif
#endif
