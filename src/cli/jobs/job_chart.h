/* job_chart.h: what a job used over its life, as lines of text. */
#ifndef BERTH_CLI_JOBS_JOB_CHART_H
#define BERTH_CLI_JOBS_JOB_CHART_H

#include "lang/base/buf.h"
#include "lang/text/tree.h"

/* Appends a row for memory, for processors and, if they were looked at, for graphics processors, from the attribute Samples of a job; nothing where that
 * has less than two points:
 *
 *     Over its life, 2 min a character:
 *       memory         ▁▂▃▅▇█▇▇▇▇▇▇▁  up to 1.2 GiB
 *       processors     ▇▇█▇▇▇▇▁▁▁▁▁▁  up to 3.98
 *
 * `blocks`: with characters that only UTF-8 has; else with those of ASCII. */
void job_chart_print(struct buf *out, const struct tree *job, bool blocks);
bool chart_blocks(void); /* can they be shown here, by the variables LC_ALL, LC_CTYPE or LANG? */

/* Appends an amount of bytes: "1.2 GiB". */
void job_bytes_print(struct buf *out, double bytes);

#endif
