/* user_rights.c: berth users show, disable and enable: what a user may do and why; and shutting one out. */
#include "cli/admin/user_rights.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const verb_names[] = {"show", "disable", "enable"};

bool user_verb_known(const char *verb)
{
    for (size_t i = 0; i < sizeof verb_names / sizeof *verb_names; i++)
        if (!strcmp(verb_names[i], verb))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------- words */

static void field(struct buf *out, const struct tree *ad, const char *words, const char *name, enum cell cell)
{
    struct buf value;

    buf_init(&value);
    cell_print(&value, ad, name, cell, time(NULL));
    text_tame(&value, 0);
    if (value.len)
        buf_addf(out, "%s%s", words, buf_string(&value));
    buf_done(&value);
}

static bool is_set(const struct tree *ad, const char *name)
{
    bool set = false;

    return ad_flag(ad, name, &set) && set;
}

static void standing_print(struct buf *out, const struct tree *ad)
{
    if (!is_set(ad, "Disabled")) {
        buf_adds(out, "disabled   no\n");
        return;
    }
    buf_adds(out, "disabled   yes");
    field(out, ad, ", by ", "By", CELL_VALUE);
    field(out, ad, ", ", "At", CELL_SINCE);
    buf_adds(out, " ago");
    field(out, ad, ": ", "Reason", CELL_VALUE);
    buf_adds(out, is_set(ad, "Now") ? "; what ran was ended\n" : "; what runs may end\n");
}

static void token_print(struct buf *out, const struct tree *row)
{
    field(out, row, "           token ", "Id", CELL_VALUE);
    field(out, row, " of ", "Subject", CELL_VALUE);
    if (ad_find(row, "Role"))
        field(out, row, ": ", "Role", CELL_VALUE);
    else
        field(out, row, ": ", "Scope", CELL_VALUE);
    field(out, row, "; made by ", "By", CELL_VALUE);
    field(out, row, " ", "Issued", CELL_SINCE);
    buf_adds(out, " ago");
    if (is_set(row, "Good"))
        field(out, row, ", ends in ", "Expires", CELL_UNTIL);
    else
        field(out, row, ", ", "Why", CELL_VALUE);
    buf_addc(out, '\n');
}

static void account_print(struct buf *out, const struct tree *row)
{
    field(out, row, "account    ", "Name", CELL_VALUE);
    field(out, row, ": usage ", "Usage", CELL_VALUE);
    field(out, row, ", factor ", "Factor", CELL_VALUE);
    field(out, row, ", priority ", "Priority", CELL_VALUE);
    field(out, row, ", claims ", "Claims", CELL_VALUE);
    buf_addc(out, '\n');
}

static void group_print(struct buf *out, const struct tree *row)
{
    field(out, row, "group      ", "Name", CELL_VALUE);
    field(out, row, ": quota ", "Quota", CELL_VALUE);
    field(out, row, ", in use ", "Used", CELL_VALUE);
    buf_adds(out, is_set(row, "Surplus") ? ", may have what others leave\n" : "\n");
}

/* Prints each ad of a list in the ad. */
static void each_print(struct buf *out, const struct tree *ad, const char *name,
                       void (*print)(struct buf *out, const struct tree *row))
{
    const struct expr *list = ad_find(ad, name), *parts;

    if (!list || list->kind != EXPR_LIST)
        return;
    parts = tree_parts(ad, list);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct tree *row = parts[i].kind == EXPR_AD ? ad_part(ad, &parts[i]) : NULL;

        if (row)
            print(out, row);
        tree_unref(row);
    }
}

static void limits_print(struct buf *out, const struct tree *ad)
{
    const struct expr *part = ad_find(ad, "Limits");
    struct tree *limits = part && part->kind == EXPR_AD ? ad_part(ad, part) : NULL;

    if (limits) {
        field(out, limits, "limits     requests a second: ", "RequestsPerSecond", CELL_VALUE);
        field(out, limits, ", of agents: ", "AgentRequestsPerSecond", CELL_VALUE);
        field(out, limits, "; ads: ", "AdsPerIdentity", CELL_VALUE);
        field(out, limits, ", bytes of ads: ", "AdBytesPerIdentity", CELL_VALUE);
        buf_addc(out, '\n');
    }
    tree_unref(limits);
}

static void rights_print(struct buf *out, const struct tree *ad)
{
    const char *scope;
    size_t len;

    field(out, ad, "user       ", "Name", CELL_VALUE);
    buf_addc(out, '\n');
    standing_print(out, ad);
    if (ad_string(ad, "Scope", &scope, &len) && len)
        field(out, ad, "may        ", "Scope", CELL_VALUE);
    else
        buf_adds(out, "may        nothing");
    buf_addc(out, '\n');
    each_print(out, ad, "Tokens", token_print);
    if (ad_find(ad, "TokensMore"))
        field(out, ad, "           and tokens more: ", "TokensMore", CELL_VALUE), buf_addc(out, '\n');
    each_print(out, ad, "Accounts", account_print);
    each_print(out, ad, "Groups", group_print);
    field(out, ad, "agents     ", "Agents", CELL_VALUE);
    field(out, ad, ", with ads: ", "Ads", CELL_VALUE);
    buf_addc(out, '\n');
    limits_print(out, ad);
}

/* --------------------------------------------------------------------------------------------------------------- asking */

static const struct table_column standing_columns[] = {
    {"name", "Name", CELL_VALUE}, {"disabled", "Disabled", CELL_VALUE}, {"by", "By", CELL_VALUE},
    {"at", "At", CELL_SINCE},     {"reason", "Reason", CELL_VALUE},     {"now", "Now", CELL_VALUE},
};

static struct tree *wish_body(struct connection *pool, const struct user_verb *user)
{
    struct maker maker;

    maker_init(&maker, pool->symbols);
    maker_text(&maker, "Reason", user->reason);
    if (user->now)
        maker_flag(&maker, "Now", true);
    return maker_seal(&maker);
}

/* Prints the answer: as rows for programs; for people in words, or as a row. */
static void answer_print(const struct user_verb *user, enum rows_form form, struct tree *ad)
{
    bool shows = !strcmp(user->verb, "show");
    struct rows rows;
    struct buf out;

    if (shows && form == ROWS_TABLE) {
        buf_init(&out);
        rights_print(&out, ad);
        output_write(&out);
        buf_done(&out);
        return;
    }
    rows_init(&rows, form, shows ? NULL : standing_columns,
              shows ? 0 : sizeof standing_columns / sizeof *standing_columns);
    rows_add(&rows, ad);
    rows_finish(&rows);
    rows_done(&rows);
}

int user_verb_run(const struct user_verb *user)
{
    bool disables = !strcmp(user->verb, "disable"), shows = !strcmp(user->verb, "show");
    struct connection_ask ask = {.may_miss = true, .about = user->name};
    struct tree *body = NULL, *ad = NULL;
    enum rows_form form;
    struct connection pool;
    struct buf path;
    int status;

    if (!disables && (user->reason || user->now)) {
        report("--reason and --now are for users disable NAME");
        return STATUS_BAD;
    }
    if (!*user->name) {
        report("users %s wants a NAME", user->verb);
        return STATUS_BAD;
    }
    if (rows_form(user->json, user->long_form, &form) < 0)
        return STATUS_BAD;
    buf_init(&path);
    buf_adds(&path, "/v1/users/");
    path_escape(&path, user->name);
    buf_adds(&path, shows ? "/rights" : "/disabled");
    ask.path = buf_string(&path);
    ask.method = shows ? NULL : disables ? "PUT" : "DELETE";
    status = connection_open(&pool, user->pool);
    if (status == STATUS_DONE && disables)
        ask.body = body = wish_body(&pool, user);
    if (status == STATUS_DONE)
        status = connection_fetch_ad(&pool, &ask, &ad);
    if (status == STATUS_DONE)
        answer_print(user, form, ad);
    tree_unref(ad);
    tree_unref(body);
    connection_close(&pool);
    buf_done(&path);
    return status;
}
