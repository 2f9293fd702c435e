/* ad_constraint.c: requirements as a constraint: a clause or a few for each, as translate.h describes the attributes. */
#include "match/grdl/ad_parts.h"

#include <string.h>

/* A requirement that is being written as clauses. */
struct clause_writer {
    struct buf *out;
    const struct grdl_reading *reading;
    const struct grdl_point *req;
    bool folded;
    struct buf group, value; /* how its names begin; what it compares with */
};

static const char *group(struct clause_writer *writer)
{
    return buf_string(&writer->group);
}

static const char *value(struct clause_writer *writer)
{
    return buf_string(&writer->value);
}

/* Writes other.G_DIM__SUFFIX[TYPE] TEST. */
static void dimension_test(struct clause_writer *writer, const char *suffix, bool typed, const char *test)
{
    buf_adds(writer->out, "other.");
    ad_dimension_name(writer->out, writer->reading, writer->req, suffix, typed);
    buf_addf(writer->out, " %s", test);
}

/* Writes "some element": the smallest or the largest tells, except for = and !=. */
static void pairwise_write(struct clause_writer *writer)
{
    static const char *const ends[GRDL_OPERATORS] = {[GRDL_LT] = "_lo <",
                                                     [GRDL_LE] = "_lo <=",
                                                     [GRDL_ORDERED] = "_lo <=",
                                                     [GRDL_GT] = "_hi >",
                                                     [GRDL_GE] = "_hi >="};
    enum grdl_operator match = writer->req->match;

    if (ends[match])
        buf_addf(writer->out, "other.%s%s %s", group(writer), ends[match], value(writer));
    else if (match == GRDL_NE)
        buf_addf(writer->out, "(other.%s_lo != %s || other.%s_hi != %s)", group(writer), value(writer), group(writer),
                 value(writer));
    else
        ad_equal_print(writer->out, writer->reading, writer->req, writer->folded);
}

/* Writes "all elements": each is of that kind and type, and then the other end tells. */
static void set_wise_write(struct clause_writer *writer)
{
    static const char *const ends[GRDL_OPERATORS] = {
        [GRDL_SET_LT] = "_hi <", [GRDL_SET_LE] = "_hi <=", [GRDL_SET_GT] = "_lo >", [GRDL_SET_GE] = "_lo >="};
    enum grdl_operator match = writer->req->match;

    dimension_test(writer, "only", false, "== ");
    buf_addf(writer->out, "\"%s\" && ", group(writer));
    if (match == GRDL_SET_EQ)
        buf_addf(writer->out, "other.%s_lo == %s && other.%s_hi == %s", group(writer), value(writer), group(writer),
                 value(writer));
    else
        buf_addf(writer->out, "other.%s%s %s", group(writer), ends[match], value(writer));
}

/* Writes "no element", nor an unspecified one that could be it. */
static void negation_write(struct clause_writer *writer)
{
    bool typed = writer->req->value.type != GRDL_TYPE_NONE;

    if (writer->req->value.kind == GRDL_UNSPECIFIED && !typed) {
        dimension_test(writer, "has", false, "is undefined");
        return;
    }
    dimension_test(writer, "open", false, "is undefined && ");
    if (writer->req->value.kind == GRDL_UNSPECIFIED) {
        dimension_test(writer, "has", true, "is undefined");
        return;
    }
    if (typed)
        dimension_test(writer, "open", true, "is undefined && ");
    buf_adds(writer->out, "other.");
    if (ad_value_flag(writer->out, writer->reading, writer->req, false)) {
        buf_adds(writer->out, " is undefined");
        return;
    }
    writer->out->len -= strlen("other.");
    buf_addf(writer->out, "(other.%s_lo is undefined || (other.%s_lo != %s && other.%s_hi != %s", group(writer),
             group(writer), value(writer), group(writer), value(writer));
    buf_addf(writer->out, " && (other.%s_all is undefined || !member(%s, other.%s_all))))", group(writer),
             value(writer), group(writer));
}

/* Writes a requirement without a value: something is there, of the type if the requirement has one. */
static void whole_write(struct clause_writer *writer)
{
    bool typed = writer->req->value.type != GRDL_TYPE_NONE;

    if (typed && grdl_point_set_wise(writer->req)) {
        dimension_test(writer, "onlytype", false, "== \"");
        buf_addf(writer->out, "%s\"", grdl_consumer_type(writer->reading->consumer, writer->req->value.type));
        return;
    }
    dimension_test(writer, "has", typed, "== true");
}

static void requirement_write(struct clause_writer *writer)
{
    const struct grdl_point *req = writer->req;
    bool whole = req->value.kind == GRDL_UNSPECIFIED;

    writer->folded = req->value.kind == GRDL_TEXT && (req->match == GRDL_EQUIVALENT || req->match == GRDL_ORDERED);
    buf_reset(&writer->group);
    buf_reset(&writer->value);
    ad_group_name(&writer->group, writer->reading, req, writer->folded);
    if (!whole)
        ad_value_print(&writer->value, &req->value, writer->folded);
    if (req->match == GRDL_SET_NE || (req->match == GRDL_NE && whole))
        negation_write(writer);
    else if (whole)
        whole_write(writer);
    else if (grdl_point_set_wise(req))
        set_wise_write(writer);
    else
        pairwise_write(writer);
}

void ad_constraint_print(struct buf *out, const struct grdl_reading *reading)
{
    struct clause_writer writer = {.out = out, .reading = reading};

    if (!reading->req_count)
        return;
    buf_init(&writer.group);
    buf_init(&writer.value);
    buf_adds(out, "; Constraint = ");
    for (uint32_t i = 0; i < reading->req_count; i++) {
        buf_adds(out, i ? " && " : "");
        writer.req = &reading->reqs[i];
        requirement_write(&writer);
    }
    buf_done(&writer.group);
    buf_done(&writer.value);
}
