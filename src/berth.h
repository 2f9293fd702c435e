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

#include "base/arena.h"
#include "base/buf.h"
#include "base/calendar.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/rng.h"
#include "base/symbols.h"

#include "text/build.h"
#include "text/dialect.h"
#include "text/lex.h"
#include "text/parse.h"
#include "text/print.h"
#include "text/timetext.h"
#include "text/tree.h"

#include "ad/eval.h"
#include "ad/functions.h"
#include "ad/names.h"
#include "ad/ops.h"
#include "ad/refs.h"
#include "ad/specialize.h"
#include "ad/value.h"

#include "form/form.h"
#include "form/submit.h"

#include "match/cycle.h"
#include "match/lint.h"
#include "match/match.h"
#include "match/order.h"
#include "match/pair.h"
#include "match/policy.h"
#include "match/residual.h"

#include "gang/gang.h"
#include "gang/ports.h"

#include "assign/assign.h"

#include "grdl/aggregate.h"
#include "grdl/batch.h"
#include "grdl/consume.h"
#include "grdl/consumer.h"
#include "grdl/document.h"
#include "grdl/kit.h"
#include "grdl/matcher.h"
#include "grdl/model.h"
#include "grdl/profile.h"
#include "grdl/rank.h"
#include "grdl/relation.h"
#include "grdl/sets.h"
#include "grdl/shapes.h"
#include "grdl/template.h"
#include "grdl/translate.h"
#include "grdl/units.h"
#include "grdl/value.h"

#endif
