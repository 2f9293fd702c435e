/* pair.c: two ads see each other. */
#include "match/pair/pair.h"

/* What stands around an outermost ad whose counterpart is `counterpart`. */
static void surround(struct surroundings *around, struct label *label, const struct scope *counterpart)
{
    label->name = NAME_OTHER;
    label->scope = counterpart;
    around->labels = label;
    around->label_count = 1;
    around->counterpart = counterpart;
}

void pair_init(struct pair *pair, const struct tree *left, const struct tree *right)
{
    bool both = left && right;

    *pair = (struct pair){0};
    if (both) {
        surround(&pair->around_left, &pair->label_left, &pair->right);
        surround(&pair->around_right, &pair->label_right, &pair->left);
    }
    if (left)
        scope_init(&pair->left, left, both ? &pair->around_left : NULL);
    if (right)
        scope_init(&pair->right, right, both ? &pair->around_right : NULL);
}
