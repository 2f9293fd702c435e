/* local_order.c: what the runner of a local job is told: the job's ad, evaluated as that of a job that starts. */
#include "live/customerd/local_jobs.h"

#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "live/customerd/job_ad.h"
#include "live/customerd/user_runner.h"
#include "pool/customer/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int local_job_check(const struct tree *ad, struct err *err)
{
    static const char *const without[] = {"Ports",      "Image",      "Secrets", "InputData",
                                          "OutputData", "Checkpoint", "Pre",     "Post"};

    if (!ad_find(ad, "Iwd"))
        return err_set(err, "Iwd: a job of the submit host needs the folder that it runs in");
    if (!ad_find(ad, "Cmd"))
        return err_set(err, "Cmd: a job needs the name of a program");
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (ad_find(ad, without[i]))
            return err_set(err, "%s: a job of the submit host has none", without[i]);
    return 0;
}

uint32_t local_job_user(const struct tree *ad)
{
    uint32_t uid;
    char *folder = job_iwd_of(ad, &uid);

    free(folder);
    return folder ? uid : USER_RUNNER_SAME;
}

bool local_job_is_flow(const struct tree *ad)
{
    bool is = false;

    return ad_flag(ad, "CarriesDag", &is) && is;
}

/* ---------------------------------------------------------------------------------------------------------------- values */

struct evaluating {
    struct eval eval;
    struct scope scope;
    const struct tree *ad;
    struct buf *order;
};

static bool value_of(struct evaluating *at, const char *name, struct value *ret)
{
    symbol label = symbols_find(at->ad->symbols, name, strlen(name));

    return label != SYMBOL_NONE && eval_attribute(&at->eval, &at->scope, label, ret);
}

/* A text with a NUL in it would be two. */
static bool is_text(const struct value *value)
{
    return value->type == VALUE_STRING && !memchr(value->u.string, '\0', value->len);
}

static void text_put(struct evaluating *at, enum user_order_field field, const char *name)
{
    struct value value;

    if (value_of(at, name, &value) && is_text(&value) && value.len)
        user_order_add(at->order, field, value.u.string, value.len);
}

/* Where OutputTo says that the file of a stream goes; else its own name. */
static void stream_put(struct evaluating *at, enum user_order_field field, const char *name)
{
    symbol label_name = symbols_find(at->ad->symbols, "Name", 4), label_to = symbols_find(at->ad->symbols, "To", 2);
    struct value value, list, part, called, to;

    if (!value_of(at, name, &value) || !is_text(&value) || !value.len)
        return;
    if (label_to && value_of(at, "OutputTo", &list) && list.type == VALUE_LIST)
        for (uint32_t i = 0; i < list.len; i++) {
            eval_element(&at->eval, &list, i, &part);
            if (part.type == VALUE_AD && eval_attribute(&at->eval, part.scope, label_name, &called) &&
                eval_attribute(&at->eval, part.scope, label_to, &to) && is_text(&called) && is_text(&to) &&
                called.len == value.len && !memcmp(called.u.string, value.u.string, called.len)) {
                user_order_add(at->order, field, to.u.string, to.len);
                return;
            }
        }
    user_order_add(at->order, field, value.u.string, value.len);
}

static void arguments_put(struct evaluating *at)
{
    struct value list, part;

    if (!value_of(at, "Args", &list))
        return;
    if (is_text(&list))
        user_order_add(at->order, ORDER_ARGUMENT, list.u.string, list.len);
    for (uint32_t i = 0; list.type == VALUE_LIST && i < list.len; i++) {
        eval_element(&at->eval, &list, i, &part);
        if (is_text(&part))
            user_order_add(at->order, ORDER_ARGUMENT, part.u.string, part.len);
    }
}

static void variable_put(struct evaluating *at, const char *name, size_t name_len, const char *value, size_t len)
{
    struct buf text;

    buf_init(&text);
    buf_add(&text, name, name_len);
    buf_addc(&text, '=');
    buf_add(&text, value, len);
    user_order_add(at->order, ORDER_VARIABLE, text.text, text.len);
    buf_done(&text);
}

static void environment_put(struct evaluating *at)
{
    const struct expr *env = ad_find(at->ad, "Env");
    struct value given, value;

    if (!env || env->kind != EXPR_AD || !value_of(at, "Env", &given) || given.type != VALUE_AD)
        return;
    for (uint32_t i = 0; i < env->u.run.count; i++) {
        symbol label = tree_parts(at->ad, env)[i].label;
        size_t len;
        const char *name = symbols_text(at->ad->symbols, label, &len);

        if (eval_attribute(&at->eval, given.scope, label, &value) && is_text(&value))
            variable_put(at, name, len, value.u.string, value.len);
    }
}

static void number_put(struct evaluating *at, enum user_order_field field, const char *name, uint64_t most)
{
    struct value value;
    uint64_t asked = 0;
    char digits[24];

    if (value_of(at, name, &value) && (value.type == VALUE_INTEGER || value.type == VALUE_RELTIME) &&
        value.u.integer > 0)
        asked = (uint64_t)value.u.integer;
    asked = asked && (!most || asked < most) ? asked : most;
    snprintf(digits, sizeof digits, "%" PRIu64, asked);
    if (asked)
        user_order_add(at->order, field, digits, strlen(digits));
}

void local_order_print(const struct job_view *view, uint64_t memory, uint64_t seconds, const char *customer_socket,
                       struct buf *order)
{
    static const struct env env = {0};
    struct unit unit = {.ad = (struct tree *)(uintptr_t)view->ad,
                        .job = view->id,
                        .index = view->index,
                        .tries = view->begun,
                        .trace = view->trace};
    struct tree *ad = unit_ad(&unit);
    struct evaluating at = {.ad = ad ? ad : view->ad, .order = order};
    struct job_trace trace;
    struct text told;
    struct arena arena;
    char number[24];

    arena_init(&arena);
    eval_init(&at.eval, &env, &arena);
    scope_init(&at.scope, at.ad, NULL);
    user_order_add(order, ORDER_OWNER, view->owner, strlen(view->owner));
    text_put(&at, ORDER_FOLDER, "Iwd");
    text_put(&at, ORDER_INPUT, "LocalIn");
    stream_put(&at, ORDER_OUTPUT, "Out");
    stream_put(&at, ORDER_ERROR, "Err");
    text_put(&at, ORDER_COMMAND, "Cmd");
    arguments_put(&at);
    if (job_trace_of(ad, &trace)) { /* before those of the job: it may name another */
        job_trace_write(&trace, &told);
        variable_put(&at, "TRACEPARENT", 11, told.bytes, strlen(told.bytes));
    }
    environment_put(&at);
    snprintf(number, sizeof number, "%" PRIu64, view->id);
    variable_put(&at, "BERTH_JOB", 9, number, strlen(number));
    variable_put(&at, "BERTH_CUSTOMER", 14, customer_socket, strlen(customer_socket));
    if (memory)
        number_put(&at, ORDER_MEMORY, "", memory);
    number_put(&at, ORDER_SECONDS, "TimeLimit", seconds);
    if (local_job_is_flow(view->ad))
        number_put(&at, ORDER_GRACE, "", USER_RUNNER_FLOW_S);
    tree_unref(ad);
    arena_done(&arena);
}
