/* machines.c: condor_status: the machines of the pool, a slot each. */
#include "cli/condor/parts.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"

#include <stdio.h>
#include <string.h>

enum {
    M_ATTRIBUTES,
    M_AUTOFORMAT,
    M_AF,
    M_AVAILABLE,
    M_CLAIMED,
    M_COMPACT,
    M_CONSTRAINT,
    M_FORMAT,
    M_JSON,
    M_LIMIT,
    M_LONG,
    M_NOWIDE,
    M_POOL,
    M_STARTD,
    M_TOTAL,
    M_WIDE,
    M_XML,
    M_HELP
};

static const struct condor_option options[] = {
    [M_ATTRIBUTES] = {"attributes", 3, true},
    [M_FORMAT] = {"format", 1, false},
    [M_POOL] = {"pool", 1, true},
    [M_AUTOFORMAT] = {"autoformat", 2, false},
    [M_AF] = {"af", 2, false},
    [M_AVAILABLE] = {"available", 2, false},
    [M_CLAIMED] = {"claimed", 2, false},
    [M_COMPACT] = {"compact", 3, false},
    [M_CONSTRAINT] = {"constraint", 3, true},
    [M_JSON] = {"json", 2, false},
    [M_LIMIT] = {"limit", 2, true},
    [M_LONG] = {"long", 1, false},
    [M_NOWIDE] = {"nowide", 3, false},
    [M_STARTD] = {"startd", 4, false},
    [M_TOTAL] = {"total", 1, false},
    [M_WIDE] = {"wide", 1, false},
    [M_XML] = {"xml", 1, false},
    [M_HELP] = {"help", 1, false},
};

enum { OWNER, CLAIMED, UNCLAIMED, DRAINED, STATES };
static const char *const states[STATES] = {"Owner", "Claimed", "Unclaimed", "Drained"};

struct slots {
    struct condor_choice choice;
    struct condor_print print;
    bool only_free, only_claimed, totals, headed;
    uint64_t counts[STATES], total;
};

/* How a machine stands, in HTCondor's words. */
static int state_of(const struct tree *machine)
{
    if (job_text_is(machine, "State", "Busy") || job_text_is(machine, "State", "Part"))
        return CLAIMED;
    if (job_text_is(machine, "State", "Idle"))
        return UNCLAIMED;
    return job_text_is(machine, "State", "Drained") ? DRAINED : OWNER;
}

static void row_print(struct slots *slots, const struct tree *ad)
{
    struct buf *out = &slots->print.out;
    const char *name = "", *system = "LINUX", *arch = "", *state = "", *activity = "";
    size_t name_len = 0, system_len = 5, arch_len = 0, state_len = 0, activity_len = 0;
    long long age = condor_integer(ad, "ActivityAge");
    double load = 0;

    if (!slots->headed)
        buf_adds(out, "Name               OpSys      Arch    State     Activity LoadAv Mem    ActvtyTime\n\n");
    slots->headed = true;
    ad_string(ad, "Name", &name, &name_len);
    ad_string(ad, "OpSys", &system, &system_len);
    ad_string(ad, "Arch", &arch, &arch_len);
    ad_string(ad, "State", &state, &state_len);
    ad_string(ad, "Activity", &activity, &activity_len);
    job_number(ad, "LoadAvg", &load);
    buf_addf(out, "%-18.*s %-10.*s %-7.*s %-9.*s %-8.*s %6.3f %6lld ", (int)name_len, name, (int)system_len, system,
             (int)arch_len, arch, (int)state_len, state, (int)activity_len, activity, load,
             (long long)condor_integer(ad, "Memory"));
    buf_addf(out, "%2lld+%02lld:%02lld:%02lld\n", age / 86400, age % 86400 / 3600, age % 3600 / 60, age % 60);
}

static bool machine_take(void *user, struct tree *machine)
{
    struct slots *slots = user;
    int state = state_of(machine);
    struct tree *ad;

    if ((slots->only_free && state != UNCLAIMED) || (slots->only_claimed && state != CLAIMED) ||
        job_text_is(machine, "State", "Away"))
        return true;
    ad = slot_ad(machine, states[state], state == CLAIMED);
    if (choice_has(&slots->choice, ad)) {
        slots->counts[state]++;
        slots->total++;
        if (slots->print.form != PRINT_TABLE)
            print_ad_of(&slots->print, ad);
        else if (!slots->totals)
            row_print(slots, ad);
    }
    tree_unref(ad);
    return true;
}

static void totals_print(struct slots *slots)
{
    buf_addf(&slots->print.out,
             "\n               Total Owner Claimed Unclaimed Matched Preempting  Drain\n\n"
             "         Total %5llu %5llu %7llu %9llu %7d %10d %6llu\n",
             (unsigned long long)slots->total, (unsigned long long)slots->counts[OWNER],
             (unsigned long long)slots->counts[CLAIMED], (unsigned long long)slots->counts[UNCLAIMED], 0, 0,
             (unsigned long long)slots->counts[DRAINED]);
}

static int option_take(struct slots *slots, struct condor_words *words, int option)
{
    switch (option) {
    case M_CONSTRAINT:
        return choice_constrain(&slots->choice, words->value);
    case M_AVAILABLE:
        slots->only_free = true;
        return 0;
    case M_CLAIMED:
        slots->only_claimed = true;
        return 0;
    case M_POOL:
        return condor_is_here(words->command, words->value) ? 0 : -1;
    case M_TOTAL:
        slots->totals = true;
        return 0;
    case -1: {
        struct buf text;
        int result;

        buf_init(&text);
        buf_addf(&text, "Machine == \"%s\" || Name == \"%s\"", words->value, words->value);
        result = choice_constrain(&slots->choice, buf_string(&text));
        buf_done(&text);
        return result;
    }
    default:
        return print_option(&slots->print, words, options[option].name) < 0 ? -1 : 0;
    }
}

int condor_status(struct condor_words *words)
{
    struct connection_options options_none = {0};
    struct slots slots = {0};
    struct connection pool;
    int status, option;

    status = connection_open(&pool, &options_none);
    if (status == STATUS_DONE) {
        print_init(&slots.print, pool.symbols);
        choice_init(&slots.choice, pool.symbols);
        while (status == STATUS_DONE && (option = words_next(words, options, M_HELP + 1)) != -2)
            if (option == -3 || option_take(&slots, words, option) < 0)
                status = STATUS_NO;
        if (status == STATUS_DONE)
            status = connection_list(&pool, "/v1/machines?whole=true", 0, machine_take, &slots);
        if (status == STATUS_DONE && slots.print.form == PRINT_TABLE)
            totals_print(&slots);
        if (status == STATUS_DONE)
            print_end(&slots.print);
        choice_done(&slots.choice);
        print_done(&slots.print);
    }
    connection_close(&pool);
    return status;
}
