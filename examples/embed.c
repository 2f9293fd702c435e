/* embed.c: Berth in a program of your own: two ads meet, and how much one wants the other is printed.
 *     cc embed.c $(pkg-config --cflags --libs berth) */
#include <berth.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char job_text[] = "[ Image = 4G; Rank = other.Memory / 1G; Constraint = other.Memory >= Image ]";
    static const char machine_text[] = "[ Name = \"heron\"; Memory = 8G ]";
    struct berth_context *context = berth_context_new();
    struct berth_error error;
    struct berth_ad *job = berth_ad_parse(context, BERTH_FORM_ANY, job_text, strlen(job_text), &error);
    struct berth_ad *machine =
        job ? berth_ad_parse(context, BERTH_FORM_ANY, machine_text, strlen(machine_text), &error) : NULL;

    if (!machine)
        printf("%u:%u: %s\n", error.line, error.column, error.message);
    else if (berth_match(context, job, machine) == 1)
        printf("rank: %g\n", berth_rank(context, job, machine));
    else
        printf("%s\n", berth_why(context, job, &machine, 1, BERTH_WORDS, NULL));
    berth_ad_unref(job);
    berth_ad_unref(machine);
    berth_context_free(context);
    return machine ? 0 : 1;
}
