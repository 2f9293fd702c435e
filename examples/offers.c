/* offers.c: keeps 100,000 offers and asks: how many fit, which is best, and what is left when it has gone.
 *     cc offers.c $(pkg-config --cflags --libs berth) */
#include <berth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFERS 100000

static struct berth_ad *machine(struct berth_context *context, int n)
{
    struct berth_maker *maker = berth_maker_new(context, NULL);
    static const char constraint[] = "other.Owner != \"mallory\"";

    berth_maker_integer(maker, "Number", n, NULL);
    berth_maker_integer(maker, "Cpus", 1 << n % 7, NULL);
    berth_maker_integer(maker, "Memory", n * 37LL % 512 + 1, NULL);
    berth_maker_parse(maker, "Constraint", constraint, strlen(constraint), NULL);
    return berth_maker_seal(maker, NULL);
}

int main(void)
{
    static const char text[] =
        "[ Owner = \"ada\"; Constraint = other.Cpus >= 32 && other.Memory > 500; Rank = other.Memory ]";
    struct berth_context *context = berth_context_new();
    struct berth_index *index = berth_index_new(context);
    struct berth_ad **offers = calloc(OFFERS, sizeof *offers), *job;
    struct berth_error error;
    uint64_t best;

    for (int i = 0; offers && i < OFFERS; i++)
        offers[i] = machine(context, i);
    if (!offers || berth_index_load(context, index, offers, OFFERS, &error) < 0)
        return 1;
    for (int i = 0; i < OFFERS; i++) /* the index holds them now */
        berth_ad_unref(offers[i]);
    free(offers);
    if (!(job = berth_ad_parse(context, BERTH_FORM_CLASSAD, text, strlen(text), &error)))
        return 1;
    printf("of %zu offers %td fit\n", berth_index_count(index), berth_index_matches(context, index, job));
    for (int i = 0; i < 3 && berth_index_best(context, index, job, &best) == 1; i++) {
        printf("taken: %s\n", berth_ad_text(context, berth_index_get(index, best), BERTH_FORM_JSON, NULL, NULL));
        berth_index_drop(context, index, best);
    }
    printf("then %td\n", berth_index_matches(context, index, job));
    berth_ad_unref(job);
    berth_index_free(index);
    berth_context_free(context);
    return 0;
}
