/* evaluator.h: expressions as text against up to two ads: what eval, its prompt and specialize share. */
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

/* Expressions and files from now on are of this dialect. */
void evaluator_dialect(struct evaluator *evaluator, const struct dialect *dialect);

/* The first ad of a file is that side from now on. -1 when it could not be read, which has been reported. */
int evaluator_load(struct evaluator *evaluator, enum evaluator_side side, const char *file);

/* NULL with the reason when the text, whose first line has that number, is no expression. The caller unrefs it. */
struct tree *evaluator_parse(struct evaluator *evaluator, unsigned line, const char *text, size_t len, struct err *err);

/* Appends the value to `out`. */
int evaluator_print(struct evaluator *evaluator, unsigned line, const char *text, size_t len, struct buf *out,
                    struct err *err);

#endif
