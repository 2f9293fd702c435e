/* study_page.h: a study as one page for a browser: tables and plots, nothing loaded from elsewhere, no script. */
#ifndef BERTH_SIM_STUDY_PAGE_H
#define BERTH_SIM_STUDY_PAGE_H

#include "lang/base/buf.h"
#include "sim/study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same study gives the same bytes; with `measured`, the times that a clock measured are on the page too. */
void study_page(struct buf *out, const struct plan *plan, const struct study *study, bool measured);

#ifdef __cplusplus
}
#endif
#endif
