/* ad_shown.h: an ad as its reader may see it; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_AD_SHOWN_H
#define BERTH_LIVE_MATCHMAKERD_AD_SHOWN_H

#include "live/http/request.h"
#include "pool/matchmaker/matchmaker.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ad as the caller may see it: of offers of others, without a policy that is not shown (ShowPolicy = false), without the user whose job
 * runs there, and without what tells whether somebody sits there. The caller unrefs it. */
struct tree *ad_shown(const struct request *request, const struct entry_view *view);

bool user_is_caller(const struct request *request, const char *user); /* also as a member of a group, GROUP~USER */
bool ad_shows_policy(const struct tree *ad);
struct tree *ad_without_policy(const struct tree *ad); /* the caller unrefs it */
/* A machine's whole ad, with its policy or without, and with what tells whether somebody sits there or without. The caller unrefs it. */
struct tree *machine_ad_shown(const struct tree *ad, bool policy, bool presence);
/* Do a machine's words name what tells whether somebody sits there? "no counterpart can satisfy KeyboardIdle > 900 (KeyboardIdle is 3)" */
bool words_tell_presence(const char *words, size_t len);
/* The ad without its policy, in whose place that answer stands. The caller unrefs it. */
struct tree *ad_masked(const struct tree *ad, bool accepts);
/* Is its policy kept from the caller? */
bool entry_hides_policy(const struct request *request, const struct entry_view *view);

#ifdef __cplusplus
}
#endif
#endif
