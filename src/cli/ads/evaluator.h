/* evaluator.h: evaluates expressions, given as text, against up to two ads. Eval, its prompt, specialize and query share it. */
#ifndef BERTH_CLI_ADS_EVALUATOR_H
#define BERTH_CLI_ADS_EVALUATOR_H

#include "cli/term/setting.h"
#include "lang/text/build.h"
#include "match/pair/pair.h"

enum evaluator_side { EVALUATOR_MY, EVALUATOR_TARGET };

struct evaluator {
    const struct dialect *dialect;
    struct symbols *symbols;
    struct env env;
    uint64_t seed, count; /* each expression has a seed of its own */
    struct tree *ads[2];  /* by side; NULL: none */
    struct pair pair;
    const struct scope *scope; /* in which expressions stand; NULL for none */
    struct build build;
    struct arena arena;
};

void evaluator_init(struct evaluator *evaluator, const struct dialect *dialect, const struct setting *setting);
void evaluator_done(struct evaluator *evaluator);

/* Changes the dialect of the expressions and files that follow. */
void evaluator_dialect(struct evaluator *evaluator, const struct dialect *dialect);

/* Makes the first ad of a file that side from now on. -1 when it could not be read, which has been reported. */
int evaluator_load(struct evaluator *evaluator, enum evaluator_side side, const char *file);

/* Parses an expression, which the caller unrefs. `line` is the number of the text's first line. NULL with the reason when the text is not an
 * expression. */
struct tree *evaluator_parse(struct evaluator *evaluator, unsigned line, const char *text, size_t len, struct err *err);

/* Appends the value of an expression to `out`; -1 with the reason when the text is not an expression. */
int evaluator_print(struct evaluator *evaluator, unsigned line, const char *text, size_t len, struct buf *out,
                    struct err *err);

#endif
