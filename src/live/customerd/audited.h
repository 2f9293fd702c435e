/* audited.h: the customer's audit log (live/world/audit.h): what its users have changed, or were refused; private to the live customer. */
#ifndef BERTH_LIVE_CUSTOMERD_AUDITED_H
#define BERTH_LIVE_CUSTOMERD_AUDITED_H

#include "live/customerd/customerd_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who makes a change, for work that outlives its request. */
struct audit_who {
    char by[TOKEN_NAME_MAX + 1], account[TOKEN_NAME_MAX + 1], from[ADDRESS_TEXT_MAX], via[REQUEST_VIA_MAX];
};
void audit_who(const struct request *request, struct audit_who *ret);

/* Something was changed: its row goes on the shelf, and is durable with what is committed next. Texts may be NULL. Returns the number of the row. */
uint64_t customer_audit(struct customerd *customerd, const struct audit_who *who, const char *what, const char *about,
                        const char *detail);
/* More is known of that row: texts that are not NULL take the place of its own. */
void customer_audit_amend(struct customerd *customerd, uint64_t number, const char *about, const char *result,
                          const char *detail);
void customer_audit_sweep(struct customerd *customerd); /* what is too old goes; what was counted becomes durable */

#ifdef __cplusplus
}
#endif
#endif
