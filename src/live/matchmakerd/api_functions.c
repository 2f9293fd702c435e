/* api_functions.c: the functions of the language, with a line of help for each: for those who write expressions.
 *
 *     [ Name = "regexp"; Arguments = "P, S [, OPT]"; Help = "does the pattern P match somewhere in S?"; Classic = true; Condor = true ] */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/functions.h"
#include "lang/ad/make.h"

void api_functions(struct request *request)
{
    struct roll roll;

    roll_begin(&roll, request);
    for (size_t i = 0; i < function_count; i++) {
        const struct function *function = &function_table[i];
        struct maker maker;

        maker_init(&maker, request_matchmakerd(request)->symbols);
        maker_text(&maker, "Name", function->name);
        maker_text(&maker, "Arguments", function->arguments);
        maker_text(&maker, "Help", function->help);
        maker_flag(&maker, "Classic", function->dialects & dialect_classic.bit);
        maker_flag(&maker, "Condor", function->dialects & dialect_condor.bit);
        roll_add(&roll, &maker);
    }
    roll_end(&roll);
}
