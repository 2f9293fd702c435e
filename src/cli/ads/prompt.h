/* prompt.h: the prompt of berth eval -i. */
#ifndef BERTH_CLI_ADS_PROMPT_H
#define BERTH_CLI_ADS_PROMPT_H

#include "cli/ads/evaluator.h"

/* Reads and answers until the end of input or .quit; without a terminal, lines come as they are. Returns an enum
 * status. */
int prompt_run(struct evaluator *evaluator);

#endif
