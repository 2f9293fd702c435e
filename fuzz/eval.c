/* eval.c: evaluation ends within its budget, gives the same value twice, and answers "is it true" as that value does. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_world world;

    if (fuzz_open(&world, data, size)) {
        struct value once, twice;
        bool whole = fuzz_value(&world, world.expr, &once);
        if (fuzz_value(&world, world.expr, &twice) != whole)
            fuzz_broken("the budget is spent once and not twice");
        if (!fuzz_values_same(&world, &once, &twice, 0))
            fuzz_broken("an expression has one value");
        if (!whole && once.type != VALUE_ERROR)
            fuzz_broken("past the budget the value is error");

        struct scope alone;
        struct eval eval;
        scope_init(&alone, world.expr, NULL);
        eval_init(&eval, &world.env, &world.arena);
        eval_expr(&eval, &alone, tree_root(world.expr), &once);
        bool spent = eval.exhausted;
        eval_init(&eval, &world.env, &world.arena);
        bool yes = eval_true(&eval, &alone, tree_root(world.expr));
        if (!spent && yes != fuzz_holds(world.expr->dialect, &once))
            fuzz_broken("is it true: as its value says");

        struct buf text;
        buf_init(&text);
        value_print(&text, world.expr->dialect, &twice, PRINT_PLAIN);
        buf_done(&text);
    }
    fuzz_close(&world);
    return 0;
}
