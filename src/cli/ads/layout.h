/* layout.h: the one way to lay out ads, for berth fmt.
 *
 *     // comments stay where they are
 *     [
 *         Name = "heron";                       one attribute on a line, `;` behind each, four blanks
 *         Constraint = other.Type == "Job"      what does not fit LAYOUT_WIDTH is broken before the operators that
 *             && other.Owner == "raman"         bind least; in brackets, one element on a line
 *             && Memory >= 64M;
 *     ]
 *
 * Names and literals are printed as they are written, keywords and operators in their usual spelling, blanks by rule; at most one empty line stays
 * where there were some. Laying out a text a second time changes nothing. */
#ifndef BERTH_CLI_ADS_LAYOUT_H
#define BERTH_CLI_ADS_LAYOUT_H

#include "cli/ads/fmt_tokens.h"
#include "lang/base/buf.h"

#define LAYOUT_WIDTH 100
#define LAYOUT_INDENT 4

/* Appends the ads that the tokens make; they must be correct ads, one behind another. Settles the comments first. */
void layout_ads(struct buf *out, struct fmt_tokens *tokens);

#endif
