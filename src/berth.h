/* berth.h: all of the library.
 *
 *     symbols    names_new(0)                       one table for all that shall meet
 *     reading    form_parse, form_reader_next       ads; parse_expr for an expression
 *     meeting    pair_init                          two ads see each other
 *     values     eval_init, eval_attribute, eval_tree, value_print
 *     writing    form_write_ad, print_tree
 *     jobs       submit_read, jdl_read              files in other languages
 *     gangs      gang_run                           one ad and all that its ports ask for
 *     sets       grdl_kit_new, grdl_document_read   resources as sets; grdl_read, grdl_pair, grdl_rank
 *     queues     assign_solve                       many requests and offers settled at once
 *
 * Nothing in the library reads a clock, a file or a global; examples/embed.c shows a whole program. */
#ifndef BERTH_H
#define BERTH_H

#include "lang/base/arena.h"
#include "lang/base/buf.h"
#include "lang/base/calendar.h"
#include "lang/base/err.h"
#include "lang/base/mem.h"
#include "lang/base/number.h"
#include "lang/base/rng.h"
#include "lang/base/symbols.h"

#include "lang/text/build.h"
#include "lang/text/dialect.h"
#include "lang/text/lex.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "lang/text/timetext.h"
#include "lang/text/tree.h"

#include "lang/ad/eval.h"
#include "lang/ad/functions.h"
#include "lang/ad/names.h"
#include "lang/ad/ops.h"
#include "lang/ad/refs.h"
#include "lang/ad/specialize.h"
#include "lang/ad/value.h"

#include "lang/form/form.h"
#include "lang/form/submit.h"

#include "match/pair/cycle.h"
#include "match/pair/lint.h"
#include "match/pair/match.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "match/pair/policy.h"
#include "match/pair/residual.h"

#include "match/gang/gang.h"
#include "match/gang/ports.h"

#include "match/assign/assign.h"

#include "match/grdl/aggregate.h"
#include "match/grdl/batch.h"
#include "match/grdl/consume.h"
#include "match/grdl/consumer.h"
#include "match/grdl/document.h"
#include "match/grdl/kit.h"
#include "match/grdl/matcher.h"
#include "match/grdl/model.h"
#include "match/grdl/profile.h"
#include "match/grdl/rank.h"
#include "match/grdl/relation.h"
#include "match/grdl/sets.h"
#include "match/grdl/shapes.h"
#include "match/grdl/template.h"
#include "match/grdl/translate.h"
#include "match/grdl/units.h"
#include "match/grdl/value.h"

#endif
