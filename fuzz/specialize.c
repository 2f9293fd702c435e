/* specialize.c: specialising first changes no value; for truth, not whether it is true. What is left reads back from its text.
 *
 * Bits 2 to 4 of byte 0 are the flags. An expression that depends on chance is left alone: random() depends on its place. */
#include "lang/ad/specialize.h"
#include "fuzz.h"

static bool depends_on_chance(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 3 <= size; i++) /* however the word is put together, it has this */
        if ((data[i] | 0x20) == 'r' && (data[i + 1] | 0x20) == 'a' && (data[i + 2] | 0x20) == 'n')
            return true;
    return false;
}

static void check_reads_back(struct fuzz_world *world, const struct tree *special)
{
    struct buf text;
    buf_init(&text);
    print_tree(&text, special, PRINT_PLAIN);
    struct tree *again = parse_expr(&world->build, NULL, text.text, text.len, NULL);
    if (!again || !tree_equal(special, tree_root(special), again, tree_root(again))) {
        fprintf(stderr, "%.*s\n", (int)text.len, text.text);
        fuzz_broken("what specialising leaves reads back");
    }
    tree_unref(again);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_world world;

    if (fuzz_open(&world, data, size)) {
        int flags = world.bits >> 2 & 7;
        struct value plain, first;
        bool whole = fuzz_value(&world, world.expr, &plain);
        struct tree *special = specialize_tree(&world.env, &world.arena, &world.pair.left, world.expr, flags);
        check_reads_back(&world, special);
        if (whole && fuzz_value(&world, special, &first) && !depends_on_chance(data, size)) {
            if (flags & SPECIALIZE_TRUTH) {
                if (fuzz_holds(world.expr->dialect, &plain) != fuzz_holds(special->dialect, &first))
                    fuzz_broken("specialising for truth keeps it");
            } else if (!fuzz_values_same(&world, &plain, &first, flags & SPECIALIZE_GATHER ? 1e-9 : 0)) {
                fuzz_broken("specialising first changes no value");
            }
        }
        tree_unref(special);
    }
    fuzz_close(&world);
    return 0;
}
