/* userprio.c: condor_userprio: what users have used lately, and the priorities that follow. */
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    U_ALL,
    U_ALLUSERS,
    U_USAGE,
    U_PRIORITY,
    U_LONG,
    U_JSON,
    U_XML,
    U_AF,
    U_AUTOFORMAT,
    U_ATTRIBUTES,
    U_CONSTRAINT,
    U_MOST,
    U_QUOTAS,
    U_FLAT,
    U_GROUPORDER,
    U_POOL,
    U_SETFACTOR,
    U_HELP,
    U_COUNT
};

static const struct condor_option options[] = {
    [U_ALL] = {"all", 1, false},
    [U_ALLUSERS] = {"allusers", 4, false},
    [U_USAGE] = {"usage", 1, false},
    [U_PRIORITY] = {"priority", 1, false},
    [U_LONG] = {"long", 1, false},
    [U_JSON] = {"json", 1, false},
    [U_XML] = {"xml", 1, false},
    [U_AF] = {"af", 2, false},
    [U_AUTOFORMAT] = {"autoformat", 2, false},
    [U_ATTRIBUTES] = {"attributes", 3, true},
    [U_CONSTRAINT] = {"constraint", 1, true},
    [U_MOST] = {"most", 2, false},
    [U_QUOTAS] = {"quotas", 2, false},
    [U_FLAT] = {"flat", 2, false},
    [U_GROUPORDER] = {"grouporder", 5, false},
    [U_POOL] = {"pool", 3, true},
    [U_SETFACTOR] = {"setfactor", 4, true},
    [U_HELP] = {"help", 1, false},
};

struct users {
    struct condor_choice choice;
    struct condor_print print;
    bool headed;
    uint32_t count;
};

/* A user in HTCondor's words. */
static struct tree *user_make(const struct tree *user)
{
    const char *name = "";
    struct maker maker;
    double number;
    size_t len = 0;

    maker_init(&maker, user->symbols);
    maker.build.dialect = &dialect_condor;
    ad_string(user, "Name", &name, &len);
    maker_text(&maker, "MyType", "Accounting");
    maker_bytes(&maker, "Name", name, len);
    maker_bytes(&maker, "Submitter", name, len);
    maker_bytes(&maker, "User", name, len);
    maker_real(&maker, "Priority", job_number(user, "Priority", &number) ? number : 0.5);
    maker_real(&maker, "PriorityFactor", job_number(user, "Factor", &number) ? number : 1);
    maker_integer(&maker, "ResourcesUsed", condor_integer(user, "Claims"));
    maker_real(&maker, "WeightedResourcesUsed", job_number(user, "Units", &number) ? number : 0);
    maker_real(&maker, "RecentUsage", job_number(user, "Usage", &number) ? number : 0);
    maker_flag(&maker, "IsAccountingGroup", false);
    return maker_seal(&maker);
}

static bool user_take(void *user, struct tree *one)
{
    struct users *users = user;
    struct tree *ad = user_make(one);
    double priority = 0, factor = 0, used = 0, recent = 0;
    const char *name = "";
    size_t len = 0;

    if (!choice_has(&users->choice, ad)) {
        tree_unref(ad);
        return true;
    }
    users->count++;
    if (users->print.form != PRINT_TABLE) {
        print_ad_of(&users->print, ad);
    } else {
        if (!users->headed)
            buf_adds(&users->print.out, "                            Effective   Priority   Res   Recent Usage\n"
                                        "User Name                    Priority    Factor   In Use (in units)\n"
                                        "--------------------------- ---------- --------- ------ -------------\n");
        users->headed = true;
        ad_string(ad, "Name", &name, &len);
        job_number(ad, "Priority", &priority);
        job_number(ad, "PriorityFactor", &factor);
        job_number(ad, "WeightedResourcesUsed", &used);
        job_number(ad, "RecentUsage", &recent);
        buf_addf(&users->print.out, "%-27.*s %10.2f %9.2f %6.0f %13.2f\n", (int)len, name, priority, factor, used,
                 recent);
    }
    tree_unref(ad);
    return true;
}

int condor_userprio(struct condor_words *words)
{
    struct connection_options options_none = {0};
    struct users users = {.count = 0};
    struct connection pool;
    char now[64];
    time_t at = time(NULL);
    struct tm parts;
    int status, option;

    status = connection_open(&pool, &options_none);
    print_init(&users.print, pool.symbols);
    choice_init(&users.choice, pool.symbols);
    while (status == STATUS_DONE && (option = words_next(words, options, U_COUNT)) != -2) {
        if (option == -3 || (option == U_CONSTRAINT && choice_constrain(&users.choice, words->value) < 0) ||
            (option == U_POOL && !condor_is_here(words->command, words->value)) ||
            (option >= 0 && print_option(&users.print, words, options[option].name) < 0))
            status = STATUS_NO;
        if (option == U_SETFACTOR) {
            report("condor_userprio: `berth users --factor F NAME` sets a factor");
            status = STATUS_NO;
        }
        if (option == -1)
            choice_add(&users.choice, words->value);
    }
    if (status == STATUS_DONE)
        status = connection_list(&pool, "/v1/users", 0, user_take, &users);
    if (status == STATUS_DONE && users.print.form == PRINT_TABLE) {
        strftime(now, sizeof now, "%m/%d %H:%M", localtime_r(&at, &parts));
        buf_addf(&users.print.out,
                 "--------------------------- ---------- --------- ------ -------------\n"
                 "Number of users: %u, as of %s\n",
                 users.count, now);
    }
    if (status == STATUS_DONE)
        print_end(&users.print);
    choice_done(&users.choice);
    print_done(&users.print);
    connection_close(&pool);
    return status;
}
