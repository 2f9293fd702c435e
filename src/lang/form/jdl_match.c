/* jdl_match.c: which machines a job in JDL asks for: its Requirements and Rank, which use the GLUE schema, SubmitTo and OutputSE. */
#include "lang/form/jdl_parts.h"

#include "lang/text/print.h"

static bool job_has(void *user, const char *name, size_t len)
{
    const struct jdl *jdl = user;
    symbol called = symbols_find(jdl->symbols, name, len);

    return called && tree_find(jdl->ad, tree_root(jdl->ad), called);
}

static void unknown_note(void *user, const char *name, const char *words)
{
    struct err text = {0};

    err_set(&text, "'%.60s' is always undefined: %s", name, words);
    jdl_remark(user, text.text);
}

static void mention_note(void *user, const char *name)
{
    struct jdl *jdl = user;

    submit_mention(&jdl->mentions, name);
}

static int expr_print(struct jdl *jdl, const struct expr *e, bool counts, struct buf *out)
{
    struct submit_expr how = {.symbols = jdl->symbols,
                              .dialect = &dialect_classic,
                              .is_glue = true,
                              .side = SUBMIT_SIDE_MACHINE,
                              .has = job_has,
                              .user = jdl,
                              .unknown = unknown_note,
                              .mentions = counts ? mention_note : NULL};
    struct buf text;
    int result;

    buf_init(&text);
    print_expr(&text, jdl->ad, e, PRINT_PLAIN);
    result = submit_expr(&how, buf_string(&text), text.len, jdl_place(jdl), false, out, jdl->err);
    buf_done(&text);
    return result < 0 ? err_context(jdl->err, "%.60s", jdl_name(jdl)) : 0;
}

int jdl_row_rank(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    buf_addf(&jdl->out, "%s = ", row->attribute);
    if (expr_print(jdl, e, false, &jdl->out) < 0)
        return -1;
    buf_adds(&jdl->out, ";\n");
    return 0;
}

/* Writes the constraint: one machine by its name; or any machine that fits. With OutputSE, but without OutputData, the job brings its output to the
 * store by itself: then the machine must be close to that store. */
int jdl_constraint_write(struct jdl *jdl)
{
    const struct expr *place = jdl_find(jdl, "SubmitTo"), *wanted = jdl_find(jdl, "Requirements");
    const struct expr *parts = tree_parts(jdl->ad, tree_root(jdl->ad));
    struct buf expr;
    int result = 0;

    if (place) {
        jdl->at = (uint32_t)(place - parts);
        if (!jdl_is_text(jdl, place))
            return jdl_fail(jdl, "expected the name of a machine");
        buf_adds(&jdl->out, "Constraint = other.Type == \"Machine\" && other.Name == ");
        jdl_text_print(jdl, tree_string(jdl->ad, place), place->u.run.count);
        buf_adds(&jdl->out, ";\n");
        if (wanted) {
            jdl->at = (uint32_t)(wanted - parts);
            jdl_remark(jdl, "SubmitTo says which machine: nothing else is asked of it");
        }
        return 0;
    }
    buf_init(&expr);
    if (wanted) {
        jdl->at = (uint32_t)(wanted - parts);
        result = expr_print(jdl, wanted, true, &expr);
    }
    buf_adds(&jdl->out, "Constraint = ");
    submit_constraint_print(jdl->world, &jdl->mentions, &expr, false, &jdl->out);
    if (jdl_find(jdl, "OutputSE") && !jdl_find(jdl, "OutputData"))
        buf_adds(&jdl->out, " && member(OutputSE, other.CloseStorage)");
    if (result == 0)
        result = jdl_sites_write(jdl);
    buf_adds(&jdl->out, ";\n");
    buf_done(&expr);
    return result;
}
