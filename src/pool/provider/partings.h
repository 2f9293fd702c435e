/* partings.h: the last reports of claims, kept and sent until the registrar has them on disk; private to the provider. */
#ifndef BERTH_POOL_PROVIDER_PARTINGS_H
#define BERTH_POOL_PROVIDER_PARTINGS_H

#include "pool/provider/provider_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The claim is over, and that is its last report, to that registrar: a row is written, and the report stands behind it. */
void parting_add(const struct provider_step *step, agent registrar, const struct report *report);
void parting_due(const struct provider_step *step, uint64_t claim);
void parting_answer(const struct provider_step *step, const struct event *event);
void partings_done(struct provider *provider);
void parting_load(const struct provider_step *step, const struct record *record);
void partings_boot(const struct provider_step *step);

#ifdef __cplusplus
}
#endif
#endif
