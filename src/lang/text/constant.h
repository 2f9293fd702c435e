/* constant.h: constants that have no literal are written as calls, and read back as the constants that they stand for.
 *
 *     int("-9223372036854775808")   real("INF") real("-INF") real("NaN")
 *     absTime("...") relTime("...")          where the dialect has no literal for times
 *     unescape("...")                        where the form has no escapes
 *
 * Only the very text that the printer gives is read as the constant; any other call stays a call. */
#ifndef BERTH_LANG_TEXT_CONSTANT_H
#define BERTH_LANG_TEXT_CONSTANT_H

#include "lang/text/build.h"

#ifdef __cplusplus
extern "C" {
#endif

/* If the top of the builder is such a call, turns it into the literal. */
void constant_fold(struct build *build);

#ifdef __cplusplus
}
#endif
#endif
