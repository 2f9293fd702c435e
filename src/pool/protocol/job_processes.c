/* job_processes.c: the ports of a job that runs as several processes at once. */
#include "pool/protocol/job_processes.h"

#include "lang/ad/get.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "pool/protocol/writers.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Where the processes are, by the word in ProcessesOn. */
enum { ON_ANY, ON_SPREAD, ON_ONE, ON_COUNT };
static const char *const on_words[ON_COUNT] = {"any", "spread", "one"};

static int on_of(const struct tree *ad, const struct expr *e)
{
    for (int i = 0; e->kind == EXPR_STRING && i < ON_COUNT; i++)
        if (strlen(on_words[i]) == e->u.run.count && !strncasecmp(on_words[i], tree_string(ad, e), e->u.run.count))
            return i;
    return ON_COUNT;
}

bool job_processes_are_good(const struct tree *ad, const struct expr *e)
{
    (void)ad;
    return e->kind == EXPR_INTEGER && e->u.integer >= 1 && e->u.integer <= JOB_PROCESSES_MAX;
}

bool job_processes_on_is_good(const struct tree *ad, const struct expr *e)
{
    return on_of(ad, e) < ON_COUNT;
}

bool job_has_processes(const struct tree *ad)
{
    const struct expr *count = ad_find(ad, JOB_PROCESSES_COUNT);

    return count && job_processes_are_good(ad, count) && count->u.integer > 1 && !ad_find(ad, "Ports");
}

/* Appends a port for so many members; 0: for one that is no set. */
static void port_print(struct buf *out, const struct tree *ad, const char *label, int64_t count, bool share,
                       const char *clause)
{
    const struct expr *constraint = ad_find(ad, "Constraint"), *rank = ad_find(ad, "Rank");

    constraint = constraint ? constraint : ad_find(ad, "Requirements");
    buf_addf(out, "[ Label = %s; Executes = true; ", label);
    if (count)
        buf_addf(out, "Count = %" PRId64 "; ", count);
    if (share)
        buf_adds(out, "Share = true; ");
    if (rank) {
        buf_adds(out, "Rank = ");
        print_expr(out, ad, rank, PRINT_PLAIN);
        buf_adds(out, "; ");
    }
    buf_adds(out, "Constraint = ");
    if (constraint) {
        buf_addc(out, '(');
        print_expr(out, ad, constraint, PRINT_PLAIN);
        buf_addc(out, ')');
    } else {
        buf_adds(out, "other.Type == \"Machine\"");
    }
    buf_addf(out, "%s ]", clause);
}

struct tree *job_processes_set(const struct tree *ad, struct err *err)
{
    const struct expr *where = ad_find(ad, JOB_PROCESSES_ON);
    int on = where ? on_of(ad, where) : ON_ANY;
    int64_t count = ad_find(ad, JOB_PROCESSES_COUNT)->u.integer;
    struct tree *layer, *whole = NULL;
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[ Ports = { ");
    if (on == ON_ONE) {
        port_print(&text, ad, "process", 0, false, "");
        buf_adds(&text, ", ");
        port_print(&text, ad, "processes", count - 1, true, " && other.Name == process.Name");
    } else {
        port_print(&text, ad, "process", count, on == ON_ANY, "");
    }
    buf_adds(&text, " } ]");
    layer = form_parse(ad->symbols, ad->dialect, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    if (layer)
        whole = ad_over(ad, layer, err);
    tree_unref(layer);
    buf_done(&text);
    return whole;
}
