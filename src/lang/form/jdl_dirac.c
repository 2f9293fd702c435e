/* jdl_dirac.c: attributes of DIRAC's dialect of JDL that need more than another name: sites, processors, data that are called by logical names. */
#include "lang/form/jdl_parts.h"

#include <inttypes.h>
#include <string.h>

/* CPUNumber, and DIRAC's words for it: one of them. */
int jdl_row_cpus(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    static const char *const names[] = {"CPUNumber", "NumberOfProcessors", "MinNumberOfProcessors"};

    for (size_t i = 0; i < sizeof names / sizeof *names && strcmp(names[i], row->name) != 0; i++)
        if (jdl_find(jdl, names[i]))
            return 0; /* the one before says it */
    return jdl_row_whole(jdl, row, e);
}

/* An MPICH job is its program as so many processes. Any other with several nodes is one program that begins the rest itself. */
int jdl_row_processes(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    const struct expr *type = jdl_find(jdl, "JobType");

    if (e->kind != EXPR_INTEGER || e->u.integer < 1 || e->u.integer > 64)
        return jdl_fail(jdl, "expected 1 to 64");
    if (e->u.integer > 1 && !(type && jdl_text_is(jdl, type, "MPICH")))
        return jdl_fail(jdl, "expected 1, or JobType = \"MPICH\": a program that begins others on its machines is "
                             "asked for by Processes and ProcessesExec (docs/jobs.md)");
    if (e->u.integer > 1)
        buf_addf(&jdl->out, "%s = %" PRId64 ";\n", row->attribute, e->u.integer);
    return 0;
}

int jdl_row_false(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    return e->kind == EXPR_BOOLEAN && !e->small ? 0 : jdl_fail(jdl, row->attribute);
}

/* A text; or a list, of which the first is taken. */
int jdl_row_store(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    if (e->kind == EXPR_LIST && e->u.run.count) {
        if (e->u.run.count > 1)
            jdl_remark(jdl, "the first is taken");
        e = tree_parts(jdl->ad, e);
    }
    return jdl_row_text(jdl, row, e);
}

static int data_add(struct jdl *jdl, const char *text, size_t len)
{
    buf_adds(&jdl->out, jdl->out.text[jdl->out.len - 1] == '{' ? " " : ", ");
    jdl_text_print(jdl, text, len);
    return 0;
}

/* InputData, and the logical names in InputSandbox, which are fetched in the same way. */
int jdl_row_input_data(struct jdl *jdl, const struct jdl_row *row, const struct expr *e)
{
    if (e && !jdl->logical.len)
        return jdl_row_kept(jdl, row, e);
    buf_addf(&jdl->out, "%s = {", row->attribute);
    if (e && jdl_each_text(jdl, e, data_add) < 0)
        return -1;
    for (const char *at = buf_string(&jdl->logical); *at; at += strcspn(at, "\n") + 1)
        data_add(jdl, at, strcspn(at, "\n"));
    buf_adds(&jdl->out, " };\n");
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- sites */

static int clause_write(struct jdl *jdl, const char *name, const char *before, const char *attribute)
{
    const struct expr *e = jdl_find(jdl, name);

    if (!e)
        return 0;
    jdl->at = (uint32_t)(e - tree_parts(jdl->ad, tree_root(jdl->ad)));
    if (jdl_text_is(jdl, e, "ANY") ||
        (e->kind == EXPR_LIST && e->u.run.count == 1 && jdl_text_is(jdl, tree_parts(jdl->ad, e), "ANY")))
        return 0;
    buf_addf(&jdl->out, " && %sisMember(other.%s, {", before, attribute);
    if (jdl_each_text(jdl, e, data_add) < 0)
        return -1;
    buf_adds(&jdl->out, " })");
    return 0;
}

int jdl_sites_write(struct jdl *jdl)
{
    if (clause_write(jdl, "Site", "", "Site") < 0 || clause_write(jdl, "GridCE", "", "Name") < 0 ||
        clause_write(jdl, "BannedSites", "!", "Site") < 0 || clause_write(jdl, "BannedSite", "!", "Site") < 0)
        return -1;
    return 0;
}
