/* machine_facts.c: what a machine's record says in numbers and names. A provider may have written anything: whatever is not as expected is not
 * there. */
#include "live/matchmakerd/machine_facts.h"

#include "lang/ad/get.h"
#include "lang/base/cut.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const machine_amounts[AMOUNTS] = {"Cpus", "Memory", "Disk", "GpuCount"};
const char *const machine_amounts_used[AMOUNTS] = {"CpusUsed", "MemoryUsed", "DiskUsed", "GpusUsed"};

/* A number among the parts of an ad that is a part of another; false when there is none. */
static bool part_number(const struct tree *tree, const struct expr *ad, const char *name, double *ret)
{
    symbol label = symbols_find(tree->symbols, name, strlen(name));
    const struct expr *e = label && ad && ad->kind == EXPR_AD ? tree_find(tree, ad, label) : NULL;

    if (!e || (e->kind != EXPR_INTEGER && e->kind != EXPR_REAL))
        return false;
    *ret = e->kind == EXPR_INTEGER ? (double)e->u.integer : e->u.real;
    return true;
}

static const struct expr *claims_of(const struct machine_view *view)
{
    const struct expr *list = view->told ? ad_find(view->told, "Claims") : NULL;

    return list && list->kind == EXPR_LIST ? list : NULL;
}

bool machine_claim(const struct machine_view *view, int64_t now, uint32_t place, struct machine_claim *ret)
{
    const struct expr *list = claims_of(view), *row;
    symbol label = symbols_find(view->whole->symbols, "Claim", 5);
    const struct expr *claim;
    double number;

    if (!list || place >= list->u.run.count)
        return false;
    row = &tree_parts(view->told, list)[place];
    claim = label && row->kind == EXPR_AD ? tree_find(view->told, row, label) : NULL;
    ret->claim = 0;
    if (claim && claim->kind == EXPR_STRING && claim->u.run.count == 16) {
        char text[17] = "";

        memcpy(text, tree_string(view->told, claim), 16);
        if (sscanf(text, "%16" SCNx64, &ret->claim) != 1)
            ret->claim = 0;
    }
    ret->job = part_number(view->told, row, "Job", &number) && number >= 0 && number < 9e15 ? (int64_t)number : -1;
    ret->end = part_number(view->told, row, "Ends", &number) && number >= 0 && number < 9e15 ? (int64_t)number : -1;
    if (ret->end >= 0) /* it was told a while ago */
        ret->end = ret->end > (now - view->said) / SECOND ? ret->end - (now - view->said) / SECOND : 0;
    for (int i = 0; i < AMOUNTS; i++)
        ret->amounts[i] = part_number(view->told, row, machine_amounts[i], &number) && number >= 0 ? number : -1;
    return true;
}

static void claims_count(const struct machine_view *view, int64_t now, struct machine_facts *ret)
{
    struct machine_claim claim;
    int64_t more = 0;

    for (; machine_claim(view, now, ret->claims, &claim); ret->claims++)
        if (claim.end >= 0 && (ret->first_end < 0 || claim.end < ret->first_end))
            ret->first_end = claim.end;
    if (view->told && ad_integer(view->told, "More", &more) && more > 0 && more < 1000000)
        ret->claims += (uint32_t)more;
    if (view->told && ad_integer(view->told, "Elsewhere", &more) && more > 0 && more < 1000000) {
        ret->claims += (uint32_t)more;
        ret->elsewhere = (uint32_t)more;
    }
}

void machine_sizes(const struct machine_view *view, struct machine_facts *ret)
{
    const struct expr *used = view->told ? ad_find(view->told, "Used") : NULL;
    const char *text;
    size_t len;

    *ret = (struct machine_facts){.first_end = -1};
    ret->is_machine = ad_string(view->whole, "Type", &text, &len) && len == 7 && !strncasecmp(text, "Machine", 7);
    for (int i = 0; i < AMOUNTS; i++) {
        ret->amounts[i].known = ad_number(view->whole, machine_amounts[i], &ret->amounts[i].all);
        if (!used || !part_number(view->told, used, machine_amounts[i], &ret->amounts[i].used))
            ret->amounts[i].used = 0;
    }
}

void machine_facts(const struct machine_view *view, int64_t now, struct machine_facts *ret)
{
    const char *text;
    size_t len;

    machine_sizes(view, ret);
    if (ad_string(view->whole, "Name", &text, &len) && len)
        snprintf(ret->name, sizeof ret->name, "%.*s", (int)cut_len(text, len, MACHINE_NAME_MAX), text);
    else
        snprintf(ret->name, sizeof ret->name, "%016" PRIx64, view->id);
    if (!view->told || !ad_string(view->told, "Words", &ret->words, &ret->words_len))
        ret->words = NULL;
    claims_count(view, now, ret);
}

/* Nearly all amounts are whole numbers. */
void machine_amount_add(struct maker *maker, const char *name, double amount)
{
    if (amount > -9e15 && amount < 9e15 && amount == (double)(int64_t)amount)
        maker_integer(maker, name, (int64_t)amount);
    else
        maker_real(maker, name, amount);
}
