/* lists.c: berth agents, matches, claims and users: what a pool is made of besides ads. */
#include "cli/admin/claim_jobs.h"
#include "cli/admin/user_rights.h"
#include "cli/ask/connection.h"
#include "cli/ask/user_why.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct list_settings {
    struct connection_options pool;
    const char *constraint;
    uint64_t limit;
    bool json, long_form;
    double factor; /* for users; NAN: not given */
    bool why, groups, limits;
    const char *reason; /* for users disable */
    bool now;
};

#define S struct list_settings
#define LIST_OPTION_ROWS                                                                                      \
    {'c', "constraint", "EXPR", "only those for which it is true", option_text, offsetof(S, constraint)},     \
        {'n', "limit", "N", "so many at most; all if not given", option_limit, offsetof(S, limit)},           \
        {0, "json", NULL, "JSON lines: an object a row; spans in seconds", option_flag, offsetof(S, json)},   \
        {0, "long", NULL, "all that is known, as ads in the long form", option_flag, offsetof(S, long_form)}, \
        POOL_OPTION_ROWS(S)

static int option_factor(const char *text, void *target, struct err *err)
{
    char *end;
    double factor = strtod(text, &end);

    if (end == text || *end || !isfinite(factor) || factor <= 0)
        return err_set(err, "expected a number above 0, got '%.60s'", text);
    *(double *)target = factor;
    return 0;
}

static const struct option list_options[] = {LIST_OPTION_ROWS};
static const struct option user_options[] = {
    {0, "factor", "F", "set the factor of the user's priority: 2 is served half as much as 1", option_factor,
     offsetof(S, factor)},
    {0, "why", NULL, "why the user's place is what it is, and what would change it", option_flag, offsetof(S, why)},
    {0, "groups", NULL, "the groups in place of users: quota and use", option_flag, offsetof(S, groups)},
    {0, "reason", "TEXT", "disable: why, in words that the user is told", option_text, offsetof(S, reason)},
    {0, "now", NULL, "disable: jobs that run are warned and ended, too", option_flag, offsetof(S, now)},
    {0, "limits", NULL, "the limits for named things in place of users", option_flag, offsetof(S, limits)},
    LIST_OPTION_ROWS,
};
#undef S

static const struct list_settings list_defaults = {.factor = NAN};

/* --------------------------------------------------------------------------------------------------------------- lists */

struct kind {
    const char *name; /* of the command */
    const char *path;
    const struct table_column *columns;
    size_t column_count;
    bool
        claims; /* rows are of claims, or for them: they have the numbers of jobs, and those of living claims come first */
};

#define OVER_MAX 100000 /* rows of what is over that wait for those of what lives */

/* Rows of claims, or of matches. */
struct claim_rows {
    struct rows *rows;
    struct claim_jobs jobs;
    struct textmap living; /* claims */
    struct tree **over;
    size_t over_count, over_room;
};

static bool living_add(void *user, struct tree *ad)
{
    struct claim_rows *claims = user;
    const char *claim;
    size_t len;

    if (ad_string(ad, "Claim", &claim, &len))
        textmap_add(&claims->living, claim, len);
    return true;
}

static bool claim_add(void *user, struct tree *ad)
{
    struct claim_rows *claims = user;
    struct tree *row = claim_jobs_name(&claims->jobs, ad);
    const char *claim;
    size_t len;
    bool more = true;

    if (claims->over_count == OVER_MAX ||
        (ad_string(ad, "Claim", &claim, &len) && textmap_find(&claims->living, claim, len) != TEXTMAP_NONE)) {
        more = rows_add(claims->rows, row);
        tree_unref(row);
    } else {
        ARRAY_ROOM(claims->over, claims->over_count, claims->over_room, 64);
        claims->over[claims->over_count++] = row;
    }
    return more;
}

static int claims_list(struct connection *pool, const struct list_settings *settings, const char *path,
                       struct rows *rows)
{
    struct claim_rows claims = {.rows = rows};
    struct buf living;
    bool more = true;
    int status;

    claim_jobs_init(&claims.jobs);
    textmap_init(&claims.living, 0);
    buf_init(&living);
    buf_adds(&living, "/v1/claims");
    path_query(&living, "constraint", "State != \"over\"");
    status = connection_list(pool, buf_string(&living), OVER_MAX, living_add, &claims);
    if (status == STATUS_DONE) {
        claim_jobs_load(&claims.jobs, &settings->pool);
        status = connection_list(pool, path, settings->limit, claim_add, &claims);
    }
    for (size_t i = 0; i < claims.over_count; i++) {
        more = more && rows_add(rows, claims.over[i]);
        tree_unref(claims.over[i]);
    }
    free(claims.over);
    buf_done(&living);
    textmap_done(&claims.living);
    claim_jobs_done(&claims.jobs);
    return status;
}

static int list_path(struct connection *pool, const struct list_settings *settings, const struct kind *kind,
                     struct rows *rows)
{
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, kind->path);
    path_query(&path, "constraint", settings->constraint);
    if (kind->claims)
        status = claims_list(pool, settings, buf_string(&path), rows);
    else
        status = connection_list(pool, buf_string(&path), settings->limit, rows_add, rows);
    if (status == STATUS_DONE && !rows->count && settings->constraint)
        status = STATUS_NO;
    buf_done(&path);
    return status;
}

static int list_run(const struct list_settings *settings, const struct kind *kind, int word_count)
{
    enum rows_form form;
    struct rows rows;
    struct connection pool;
    int status;

    if (word_count) {
        report("%s takes no arguments, only options", kind->name);
        return STATUS_BAD;
    }
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    rows_init(&rows, form, kind->columns, kind->column_count);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = list_path(&pool, settings, kind, &rows);
    rows_finish(&rows);
    connection_close(&pool);
    rows_done(&rows);
    return status;
}

/* -------------------------------------------------------------------------------------------------------------- agents */

static const struct table_column agent_columns[] = {
    {"identity", "Identity", CELL_VALUE}, {"name", "Name", CELL_VALUE},
    {"host", "Host", CELL_VALUE},         {"process", "Process", CELL_VALUE},
    {"version", "Version", CELL_VALUE},   {"since", "Since", CELL_SPAN},
    {"heard", "LastWord", CELL_SPAN},     {"contact", "ContactState", CELL_VALUE},
    {"stream", "Connected", CELL_VALUE},  {"draining", "Draining", CELL_VALUE},
    {"ads", "Ads", CELL_VALUE},           {"agent", "Agent", CELL_VALUE},
    {"note", "Note", CELL_VALUE},         {"refused", "Refused", CELL_VALUE},
};

static int agents_run(const void *given, int word_count, char **words)
{
    static const struct kind kind = {"agents", "/v1/agents", agent_columns,
                                     sizeof agent_columns / sizeof *agent_columns, false};

    (void)words;
    return list_run(given, &kind, word_count);
}

const struct command command_agents = {
    .name = "agents",
    .summary = "list the agents that a pool has heard of",
    .usage = "[OPTIONS]",
    .about =
        "Prints the roster: whose an agent is (`identity`) and what it calls itself (`name`), its host, process and version, "
        "how long it has been known (`since`) and how long ago its last word came (`heard`), whether its contact address has "
        "proved itself (none, checking, good, bad), whether it listens to a stream of letters, whether it takes no more work "
        "(`draining`, of providers), how many ads it has, the handle by which messages reach it (`agent`), and what it last "
        "said of itself, as pilots do (`note`).",
    .examples = {{"berth agents", NULL}, {"berth agents -c 'LastWord > 300' --json", NULL}},
    .options = list_options,
    .option_count = sizeof list_options / sizeof *list_options,
    .settings_size = sizeof(struct list_settings),
    .defaults = &list_defaults,
    .run = agents_run,
};

/* ------------------------------------------------------------------------------------------------------------- matches */

static const struct table_column match_columns[] = {
    {"request", "Request", CELL_VALUE},   {"offer", "Offer", CELL_VALUE}, {"owner", "Owner", CELL_VALUE},
    {"provider", "Provider", CELL_VALUE}, {"age", "Age", CELL_SPAN},      {"claim", "Claim", CELL_VALUE},
    {"port", "Label", CELL_VALUE},        {"job", "Job", CELL_VALUE},
};

static int matches_run(const void *given, int word_count, char **words)
{
    static const struct kind kind = {"matches", "/v1/matches", match_columns,
                                     sizeof match_columns / sizeof *match_columns, true};

    (void)words;
    return list_run(given, &kind, word_count);
}

const struct command command_matches = {
    .name = "matches",
    .summary = "list the matches that were made lately",
    .usage = "[OPTIONS]",
    .about =
        "Prints a row a match that the matchmaker has told and still remembers: the ids of the request and of the offer, "
        "whose each is, how long ago, and the claim that the match is for. A gang has a row a member: `port` is what its superior "
        "calls it, and `request` the id of the superior's ad. `job` is the number of the job that the claim is for, where "
        "the customer that is here knows it. Those whose claims live come first. One sees the matches of one's own requests; an "
        "administrator sees all.",
    .examples = {{"berth matches", NULL}, {"berth matches --json -c 'Owner == \"alice\"'", NULL}},
    .options = list_options,
    .option_count = sizeof list_options / sizeof *list_options,
    .settings_size = sizeof(struct list_settings),
    .defaults = &list_defaults,
    .run = matches_run,
};

/* -------------------------------------------------------------------------------------------------------------- claims */

static const struct table_column claim_columns[] = {
    {"claim", "Claim", CELL_VALUE}, {"job", "Job", CELL_VALUE},
    {"owner", "Owner", CELL_VALUE}, {"provider", "Provider", CELL_VALUE},
    {"state", "State", CELL_VALUE}, {"reason", "Reason", CELL_VALUE},
    {"age", "Age", CELL_SPAN},      {"used", "Used", CELL_SPAN},
};

static int claims_run(const void *given, int word_count, char **words)
{
    static const struct kind kind = {"claims", "/v1/claims", claim_columns,
                                     sizeof claim_columns / sizeof *claim_columns, true};

    (void)words;
    return list_run(given, &kind, word_count);
}

const struct command command_claims = {
    .name = "claims",
    .summary = "list the claims that a pool knows of",
    .usage = "[OPTIONS]",
    .about =
        "Prints a row a claim: the number of the job that it is for, where the customer that is here knows it, whose it is and "
        "who provides, whether it is expected (matched, and not yet told of), active, "
        "or over and for what reason, how old it is and how long it has been used. Those that are over come last. One sees one's "
        "own claims, on either side; an administrator sees all.",
    .examples = {{"berth claims", NULL}, {"berth claims -c 'State == \"active\"' --json", NULL}},
    .options = list_options,
    .option_count = sizeof list_options / sizeof *list_options,
    .settings_size = sizeof(struct list_settings),
    .defaults = &list_defaults,
    .run = claims_run,
};

/* --------------------------------------------------------------------------------------------------------------- users */

static const struct table_column user_columns[] = {
    {"name", "Name", CELL_VALUE},         {"usage", "Usage", CELL_VALUE},   {"factor", "Factor", CELL_VALUE},
    {"priority", "Priority", CELL_VALUE}, {"claims", "Claims", CELL_VALUE},
};
static const struct table_column group_columns[] = {
    {"name", "Name", CELL_VALUE},       {"quota", "Quota", CELL_VALUE}, {"used", "Used", CELL_VALUE},
    {"surplus", "Surplus", CELL_VALUE}, {"pool", "Pool", CELL_VALUE},
};
static const struct table_column limit_columns[] = {
    {"name", "Name", CELL_VALUE},
    {"most", "Most", CELL_VALUE},
    {"used", "Used", CELL_VALUE},
};
#define USER_COLUMNS (sizeof user_columns / sizeof *user_columns)

/* Asks for one user, and sets its factor first if one was given. */
static int user_ask(struct connection *pool, const struct list_settings *settings, const char *name, struct rows *rows)
{
    struct connection_ask ask = {.may_miss = true, .about = name};
    struct tree *body = NULL, *ad = NULL;
    struct maker maker;
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/users/");
    path_escape(&path, name);
    ask.path = buf_string(&path);
    if (!isnan(settings->factor)) {
        maker_init(&maker, pool->symbols);
        maker_real(&maker, "Factor", settings->factor);
        body = maker_seal(&maker);
        ask.method = "PUT";
        ask.body = body;
    }
    status = connection_fetch_ad(pool, &ask, &ad);
    if (status == STATUS_DONE)
        rows_add(rows, ad);
    tree_unref(ad);
    tree_unref(body);
    buf_done(&path);
    return status;
}

/* Prints why a user's place is what it is: in words, or as the ad that the words are made from. */
static int why_ask(struct connection *pool, const struct list_settings *settings, const char *name, struct rows *rows)
{
    struct connection_ask ask = {.may_miss = true, .about = name};
    struct tree *ad = NULL;
    struct buf path, out;
    int status;

    buf_init(&path);
    buf_init(&out);
    buf_adds(&path, "/v1/users/");
    path_escape(&path, name);
    buf_adds(&path, "/why");
    ask.path = buf_string(&path);
    status = connection_fetch_ad(pool, &ask, &ad);
    if (status == STATUS_DONE && (settings->json || settings->long_form)) {
        rows_add(rows, ad);
    } else if (status == STATUS_DONE) {
        user_why_print(&out, ad);
        output_write(&out);
    }
    tree_unref(ad);
    buf_done(&out);
    buf_done(&path);
    return status;
}

static int user_run(const struct list_settings *settings, const char *name)
{
    enum rows_form form;
    struct rows rows;
    struct connection pool;
    int status;

    if (settings->constraint || settings->limit) {
        report("users NAME is one user: --constraint and --limit are for all");
        return STATUS_BAD;
    }
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    rows_init(&rows, form, settings->why ? NULL : user_columns, settings->why ? 0 : USER_COLUMNS);
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = settings->why ? why_ask(&pool, settings, name, &rows) : user_ask(&pool, settings, name, &rows);
    if (!settings->why || form != ROWS_TABLE)
        rows_finish(&rows);
    connection_close(&pool);
    rows_done(&rows);
    return status;
}

static int verb_run(const struct list_settings *settings, const char *verb, const char *name)
{
    const struct user_verb user = {.verb = verb,
                                   .name = name,
                                   .reason = settings->reason,
                                   .now = settings->now,
                                   .json = settings->json,
                                   .long_form = settings->long_form,
                                   .pool = &settings->pool};

    if (settings->constraint || settings->limit || settings->why || settings->groups || settings->limits ||
        !isnan(settings->factor)) {
        report("users %s NAME takes none of --constraint, --limit, --why, --groups, --limits and --factor", verb);
        return STATUS_BAD;
    }
    return user_verb_run(&user);
}

static int users_run(const void *given, int word_count, char **words)
{
    static const struct kind kind = {"users", "/v1/users", user_columns, USER_COLUMNS, false};
    static const struct kind groups = {"users --groups", "/v1/groups", group_columns,
                                       sizeof group_columns / sizeof *group_columns, false};
    static const struct kind limits = {"users --limits", "/v1/limits", limit_columns,
                                       sizeof limit_columns / sizeof *limit_columns, false};
    const struct list_settings *settings = given;

    if (settings->groups + settings->limits + settings->why > 1 || (settings->why && !isnan(settings->factor)) ||
        ((settings->groups || settings->limits) && !isnan(settings->factor))) {
        report("--why, --groups, --limits and --factor cannot be used together");
        return STATUS_BAD;
    }
    if (word_count == 2 && user_verb_known(words[0]))
        return verb_run(settings, words[0], words[1]);
    if (settings->reason || settings->now) {
        report("--reason and --now are for users disable NAME");
        return STATUS_BAD;
    }
    if (settings->groups || settings->limits)
        return list_run(settings, settings->groups ? &groups : &limits, word_count);
    if (settings->why && word_count != 1) {
        report("users --why wants one NAME");
        return STATUS_BAD;
    }
    if (word_count > 1 || (word_count == 0 && !isnan(settings->factor)) || (word_count == 1 && !*words[0])) {
        report("users wants one NAME at most, and with --factor exactly one");
        return STATUS_BAD;
    }
    return word_count ? user_run(settings, words[0]) : list_run(settings, &kind, 0);
}

const struct command command_users = {
    .name = "users",
    .summary = "list users, say why one waits; show, disable and enable one",
    .usage =
        "[OPTIONS]\n[OPTIONS] [--factor F] NAME\n--why [OPTIONS] NAME\n--groups|--limits [OPTIONS]\nshow [OPTIONS] NAME\ndisable [OPTIONS] [--reason TEXT] [--now] NAME\nenable [OPTIONS] NAME",
    .about =
        "Prints a row a user: what was used lately (in units used all the time; what is older counts less), the factor that an "
        "administrator has given, the priority that follows (a smaller one is served first), and the claims there are. With "
        "a NAME that user alone; with --factor it is set first, which administrators may do. A user who is charged in a "
        "group has an account there, GROUP~USER.\n"
        "\n"
        "With --why it says in words how the priority of NAME comes about, its place among the users who wait, who is "
        "served before and why, what its requests wait for (a quota, a limit), and what would change it; a NAME without a group finds the "
        "account in a group as well. With --groups it "
        "prints a row a group: quota and use in units; with --limits a row a limit.\n"
        "\n"
        "`show` says what a user may do and why: its tokens (never the secret) with their scopes and roles (berth help roles), whether it is "
        "disabled, by whom and why, its accounts, groups and limits. One may ask about oneself; administrators, operators and "
        "accountants about everybody.\n"
        "\n"
        "`disable` shuts a user out: from then on all its tokens, and what was delegated from them, are refused, with the "
        "reason; its requests and offers are withdrawn, and no provider begins another claim of its. Jobs that run are let end, "
        "but none follows them in their claims; with --now they are warned, and ended after the grace of the provider. What "
        "waits in the user's own queue stays there. `enable` undoes it: tokens that have not expired are good again, and "
        "what is queued is offered again. Operators and administrators may; nobody disables himself. A name is meant exactly as "
        "it is written.",
    .examples = {{"berth users show alice", NULL},
                 {"berth users alice --factor 2", NULL},
                 {"berth users --why alice", NULL},
                 {"berth users disable mallory --reason \"the key was stolen\" --now", NULL}},
    .options = user_options,
    .option_count = sizeof user_options / sizeof *user_options,
    .settings_size = sizeof(struct list_settings),
    .defaults = &list_defaults,
    .run = users_run,
};
