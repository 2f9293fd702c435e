/* provider_offers_test.c: a machine offers what it has by its owner's policy, hour by hour, and keeps its ads known. */
#include "suitor.h"

/* ------------------------------------------------------------------------------------------------ a day of figure 4 */

/* A figure's text without what a probe tells; `lonely`: of a machine that ranks everybody as a stranger. */
static char *figure(const char *path, bool lonely)
{
    size_t len;
    char *text = lang_read(path, &len), *rest = text;
    const char *line;
    char *out = calloc(1, len + 100);

    while ((line = lang_line(&rest))) {
        if (strstr(line, "KeybrdIdle =") || strstr(line, "LoadAvg   ="))
            continue;
        if (lonely && strstr(line, "member(other.Owner, Friends) ? 1"))
            continue;
        if (lonely && strstr(line, "Rank      ="))
            line = "  Rank = 0;";
        strcat(strcat(out, line), "\n");
    }
    free(text);
    return out;
}

static void figure_start(struct machine *m, const char *path, bool lonely)
{
    char *text = figure(path, lonely);

    machine_start(m, text);
    free(text);
}

struct hour {
    int hour, minute, second;
    const char *probe, *sentence, *accepted; /* of raman, calvin, wally and rival: which letters */
};

static void day_of(const char *path, const char *name, const struct hour *hours, size_t count)
{
    static const char *const owners[] = {"raman", "calvin", "wally", "xrival"};
    struct machine m;

    figure_start(&m, path, false);
    pass(m.w, 24 * HOUR);
    tap_ok(m.w->withdrawals == 0 && m.w->puts > 0, "%s is never withdrawn: its group may always come", name);
    world_drop(m.w);
    figure_start(&m, path, false);
    for (size_t i = 0; i < count; i++) {
        char got[5] = "";

        pass_until(m.w, hours[i].hour, hours[i].minute, hours[i].second);
        probe(&m, hours[i].probe);
        for (size_t j = 0; j < 4; j++)
            if (accepts(&m, owners[j] + (j == 3)) == REASON_OK)
                strncat(got, owners[j], 1);
        if (!tap_ok(strcmp(got, hours[i].accepted) == 0, "%s, %s", name, hours[i].sentence))
            tap_diag("accepted are %s, not %s", got, hours[i].accepted);
    }
    world_free(m.w, name);
}

/* r: the research group, c: friends, w: others, x: the untrusted. */
static void figure_days(void)
{
    static const struct hour meant[] = {
        {12, 0, 0, AWAY, "at noon, its owner away, takes the group and friends", "rc"},
        {12, 1, 0, TYPING, "takes only the group while its owner types", "r"},
        {12, 2, 0, BUSY, "takes only the group while its load is high", "r"},
        {17, 59, 59, AWAY, "takes friends again when the machine is idle", "rc"},
        {18, 0, 0, AWAY, "takes no others at six sharp", "rc"},
        {18, 0, 1, AWAY, "takes others from a second past six", "rcw"},
        {18, 0, 2, TYPING, "takes others in the evening even while its owner types, and friends not", "rw"},
        {24, 0, 0, AWAY, "takes others at midnight", "rcw"},
        {31, 59, 59, AWAY, "takes others until a second before eight", "rcw"},
        {32, 0, 0, AWAY, "takes no others from eight on", "rc"},
    };
    static const struct hour printed[] = {
        {12, 0, 0, AWAY, "at noon takes the group and friends", "rc"},
        {12, 1, 0, TYPING, "takes only the group while its owner types", "r"},
        {18, 0, 1, AWAY, "as printed takes even the untrusted in the evening", "rcwx"},
        {32, 0, 0, AWAY, "takes neither others nor the untrusted in the morning", "rc"},
    };

    day_of("tests/match/figures/thesis-04-meant.ad", "figure 4 as meant", meant, sizeof meant / sizeof *meant);
    day_of("tests/match/figures/thesis-04.ad", "figure 4 as printed", printed, sizeof printed / sizeof *printed);
}

/* A workstation without friends takes others at night only. */
static void figure_at_night(void)
{
    struct machine m;
    uint32_t puts;

    figure_start(&m, "tests/match/figures/thesis-04-meant.ad", true);
    tap_ok(m.w->puts == 0, "a machine that accepts nobody at noon is not advertised then");
    tap_ok(m.w->notes > 0 && m.w->note.note, "and says why, for the log");
    tap_ok(accepts(&m, "raman") != REASON_OK, "and who comes all the same is refused");
    pass_until(m.w, 18, 0, 0);
    tap_ok(m.w->puts == 0, "nothing is advertised up to six");
    pass_until(m.w, 18, 0, 1);
    tap_ok(m.w->puts == 1 && m.w->put_wall == (NOON + 6 * 3600 + 1) * SECOND,
           "it is advertised by itself at a second past six");
    tap_ok(accepts(&m, "wally") == REASON_OK, "and others may come");
    m.w->withdrawals = 0;
    pass_until(m.w, 31, 59, 59);
    tap_ok(m.w->withdrawals == 0 && m.w->bares > 0, "it is renewed all night");
    m.w->notes = 0;
    puts = m.w->puts;
    pass_until(m.w, 32, 0, 0);
    tap_ok(m.w->withdrawals == 1 && m.w->withdrawn_wall == (NOON + 20 * 3600) * SECOND && m.w->notes > 0,
           "it is withdrawn at eight sharp, and says so");
    pass_until(m.w, 42, 0, 0);
    tap_ok(m.w->puts == puts && m.w->withdrawals == 1, "by day there is nothing more to say");
    probe(&m, TYPING);
    tap_ok(m.w->puts == puts, "a probe by day changes nothing");
    pass_until(m.w, 42, 0, 1);
    tap_ok(m.w->puts == puts + 1, "and it is advertised again the next evening");
    world_free(m.w, "a machine of the night");
}

/* The hours of a policy are those of the clock on the wall. */
static void night_by_the_wall(void)
{
    struct machine m;
    char *text = figure("tests/match/figures/thesis-04-meant.ad", true);

    machine_make(&m, text);
    m.w->env.zone = 60;
    world_start(m.w);
    probe(&m, AWAY);
    pass_until(m.w, 17, 0, 1);
    tap_ok(m.w->puts == 1 && m.w->put_wall == (NOON + 5 * 3600 + 1) * SECOND, "six is six where the machine stands");
    world_drop(m.w);
    machine_start(&m, text);
    m.w->env.wall += 7 * HOUR;
    probe(&m, TYPING);
    tap_ok(m.w->puts == 1, "a clock that was set forward into the evening is heeded at the next look");
    m.w->env.wall -= 7 * HOUR;
    probe(&m, AWAY);
    tap_ok(m.w->withdrawals == 1, "and one that was set back");
    pass(m.w, 7 * HOUR);
    tap_ok(m.w->puts >= 2 && m.w->withdrawals == 1, "and the evening comes all the same");
    free(text);
    world_free(m.w, "night by the wall");
}

/* ------------------------------------------------------------------------------------------------------ advertising */

static void advertised_and_renewed(void)
{
    struct machine m;
    struct advertise first;
    uint32_t puts, bares;

    machine_start(&m, PLAIN);
    first = m.w->put.u.advertise;
    tap_ok(m.w->puts > 0 && first.id == OFFER && !first.request && first.version && advertises(&m, "Memory == 64"),
           "a provider puts the whole text of its ad in first");
    tap_ok(advertises(&m, "Owner == \"prof\""), "its ad names its owner");
    tap_ok(advertises(&m, "LoadAvg < 0.1"), "what the probe tells is in the ad");
    tap_ok(key_is_set(&first.key), "the key of its tickets goes beside the ad");
    for (int i = 0; i < 12; i++) {
        uint32_t before = m.w->bares;

        pass(m.w, m.w->spans.lifetime);
        if (m.w->bares == before)
            world_blame(m.w, "an ad was not renewed within its lifetime", "");
    }
    tap_ok(m.w->bares >= 12 && m.w->repeats == 0,
           "an ad that stays is renewed within its lifetime, and without its text unless the key has moved");
    bares = m.w->bares;
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    tap_ok(m.w->bares == bares + 1, "when a matchmaker has begun anew it is renewed at once");
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER + 77});
    tap_ok(m.w->bares == bares + 1, "but not for one where it is not advertised");
    puts = m.w->puts;
    probe(&m, AWAY);
    tap_ok(m.w->puts == puts, "a probe that tells nothing new changes nothing");
    probe(&m, BUSY);
    tap_ok(m.w->puts == puts + 1 && m.w->put.u.advertise.version > first.version && advertises(&m, "LoadAvg > 0.8"),
           "a probe that does is advertised, as a higher version");
    tap_ok(m.w->withdrawals == 0, "nothing is withdrawn");
    world_free(m.w, "advertising");
}

static void probe_lies_below(void)
{
    struct machine m;

    machine_start(&m, PLAIN);
    probe(&m, "[ Memory = 1000000; Owner = \"me\"; Constraint = true; Disk = 5 ]");
    tap_ok(advertises(&m, "Memory == 64 && Disk == 5"), "configuration lies over what a probe tells");
    tap_ok(!advertises(&m, "Owner == \"me\""), "a probe cannot make the machine somebody else's");
    world_free(m.w, "writers");
}

/* What is asked before a job, and not of one that runs. */
static void start_of_jobs(void)
{
    struct machine m;
    struct suitor s, late;

    machine_start(&m, "[ Type = \"Machine\"; Cpus = 8; Constraint = other.Type == \"Job\" && Cpus > 0; "
                      "Start = isUndefined(other.TimeLimit) || other.TimeLimit <= TimeLeft; "
                      "Residual = [ Cpus = Cpus - 1 ] ]");
    probe(&m, "[ TimeLeft = 100 ]");
    tap_ok(advertises(&m, "regexp(\"TimeLimit\", unparse(Constraint))"),
           "an offer's Start is a part of the constraint that it is advertised with");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Type = \"Job\"; TimeLimit = 101; Owner = \"raman\" ]");
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "a job that it does not let start is refused");
    s.ad = ad(m.w, "[ Type = \"Job\"; TimeLimit = 100; Owner = \"raman\" ]");
    come_to_run(&m, &s, 5);
    tap_ok(holds(&m, 1, TENANT_CLAIMED), "one that it does may come");
    probe(&m, "[ TimeLeft = 60 ]");
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.running,
           "and goes on when another like it could not start any more");
    late = suitor_new(&m, 2, "raman");
    late.ad = ad(m.w, "[ Type = \"Job\"; TimeLimit = 100; Owner = \"raman\" ]");
    tap_ok(verify(&m, &late) == REASON_CONSTRAINT, "which is refused");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(say_activate(&m, &s, s.ad) == REASON_CONSTRAINT, "so is a further job under the same claim");
    tap_ok(say_activate(&m, &s, ad(m.w, "[ Type = \"Job\"; TimeLimit = 50; Owner = \"raman\" ]")) == REASON_OK,
           "but not one that has time enough");
    world_free(m.w, "Start");
}

static void two_offers(void)
{
    struct machine m;
    struct event event = {.kind = EVENT_PROBED, .claim = 1};
    struct suitor s;
    struct key key;
    uint32_t puts;

    machine_make(&m, PLAIN);
    m.ads[1] = ad(m.w, "[ Type = \"Licence\"; Constraint = other.Type == \"Job\" ]");
    m.settings.count = 2;
    world_start(m.w);
    probe(&m, AWAY);
    tap_ok(advertises(&m, "Type == \"Machine\" && LoadAvg < 0.1") && m.w->put.u.advertise.id == OFFER,
           "a probe is of one offer of several");
    key = m.w->put.u.advertise.key;
    event.ad = ad(m.w, "[ Left = 7 ]");
    happen(m.w, &event);
    tap_ok(advertises(&m, "Type == \"Licence\" && Left == 7 && LoadAvg is undefined") &&
               m.w->put.u.advertise.id == OFFER + 1,
           "another is advertised under its own id");
    tap_ok(!key_equal(&key, &m.w->put.u.advertise.key), "and each has its own key");
    tap_ok(provider_offer(m.w->role, 1) && !provider_offer(m.w->role, 2), "there are as many as were configured");
    s = suitor_new(&m, 1, "raman");
    tap_ok(verify(&m, &s) == REASON_TICKET, "a ticket made with the key of one is not good for the other");
    s.offer = OFFER + 1;
    puts = m.w->puts;
    come_to(&m, &s, TENANT_CLAIMED);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && m.w->withdrawals == 1 && m.w->puts == puts,
           "a claim of one leaves the other as it is");
    event.claim = 4711;
    happen(m.w, &event);
    tap_ok(m.w->puts == puts, "a probe of an offer that is not there is nothing");
    world_free(m.w, "two offers");
}

static void answers_of_the_matchmaker(void)
{
    struct machine m;
    uint64_t version;
    uint32_t puts, bares;

    machine_start(&m, PLAIN);
    m.w->next = REASON_BODY;
    m.w->next_bare = true;
    while (m.w->next == REASON_BODY)
        pass(m.w, SECOND);
    tap_ok(m.w->repeats == 1 && !m.w->update.u.advertise.bare && m.w->put.u.advertise.ad,
           "a renewal that is answered `the whole ad is needed` is followed by the whole ad");
    version = m.w->put.u.advertise.version;
    m.w->next = REASON_STALE;
    m.w->next_version = version + 1000;
    pass(m.w, m.w->spans.lifetime);
    tap_ok(m.w->put.u.advertise.version > version + 1000,
           "an ad that is said to be stale is put in again above the version that is known");
    puts = m.w->puts;
    bares = m.w->bares;
    m.w->next = REASON_CONSUMED;
    m.w->next_span = 3 * SECOND;
    probe(&m, BUSY);
    pass(m.w, 3 * SECOND - 1);
    tap_ok(m.w->puts == puts + 1 && m.w->bares == bares, "a consumed ad is not put in again before its time");
    pass(m.w, 2 * SECOND);
    tap_ok(m.w->puts == puts + 2 && m.w->bares == bares, "and then as a whole");
    tap_ok(m.w->put.u.advertise.ad != NULL, "with its text");
    world_free(m.w, "answers");
}

static void matchmaker_away(void)
{
    struct machine m;
    uint32_t count = 0;

    machine_make(&m, PLAIN);
    m.w->agreeable = false;
    world_start(m.w);
    probe(&m, AWAY);
    tap_ok(sent_count(m.w, MESSAGE_ADVERTISE) == 1, "one update of an ad is under way at a time");
    probe(&m, BUSY);
    probe(&m, TYPING);
    tap_ok(sent_count(m.w, MESSAGE_ADVERTISE) == 1, "changes wait for the answer to the one before");
    for (int i = 0; i < 60; i++) {
        pass(m.w, SECOND);
        count += sent_of(m.w, MESSAGE_ADVERTISE) && sent_of(m.w, MESSAGE_ADVERTISE)->at + SECOND > m.w->env.now;
    }
    tap_ok(count >= 2 && count <= 10, "an update that nobody answers is repeated, at growing distances");
    m.w->agreeable = true;
    pass(m.w, 2 * m.w->spans.deadline);
    tap_ok(advertises(&m, "KeybrdIdle == '00:00:02'") &&
               m.w->update.u.advertise.version == m.w->put.u.advertise.version,
           "and when the matchmaker is back it has the present text");
    world_free(m.w, "a matchmaker that is away");
}

static void versions_over_restarts(void)
{
    struct machine m;
    uint64_t version;
    struct key key;

    machine_start(&m, PLAIN);
    version = m.w->put.u.advertise.version;
    key = m.w->put.u.advertise.key;
    for (int i = 0; i < 5; i++)
        probe(&m, i % 2 ? AWAY : BUSY);
    version = m.w->put.u.advertise.version;
    world_restart(m.w, true, SECOND);
    probe(&m, AWAY);
    tap_ok(m.w->put.u.advertise.version > version, "versions rise over a restart");
    version = m.w->put.u.advertise.version;
    tap_ok(!key_equal(&key, &m.w->put.u.advertise.key), "a restarted provider has a new key: old tickets are void");
    world_restart(m.w, false, SECOND);
    probe(&m, AWAY);
    tap_ok(m.w->put.u.advertise.version > version, "and over another boot");
    version = m.w->put.u.advertise.version;
    world_stop(m.w);
    m.w->slow = true;
    world_start(m.w);
    probe(&m, AWAY);
    tap_ok(sent_count(m.w, MESSAGE_ADVERTISE) == 0 && m.w->put.u.advertise.version == version,
           "nothing is advertised before the count of starts is durable");
    world_durable(m.w);
    matchmaker_answers(m.w);
    tap_ok(m.w->put.u.advertise.version > version, "and then it is, above all versions before");
    world_free(m.w, "versions");
}

static void matches_are_named(void)
{
    struct machine m;
    struct suitor s;
    const struct seen *seen;
    uint64_t version;

    machine_start(&m, SHARED);
    version = m.w->put.u.advertise.version;
    s = suitor_new(&m, 1, "raman");
    match(&m, &s, 1);
    tap_ok(reply(m.w)->kind == MESSAGE_GOT && reason_of(reply(m.w)) == REASON_OK, "a notification is answered");
    seen = &m.w->put.u.advertise.seen;
    tap_ok(seen_has(seen, INCARNATION, 1) && !seen_has(seen, INCARNATION, 2) && m.w->put.u.advertise.version > version,
           "the ad that follows names the match it was told of, as a new version");
    tap_ok(advertises(&m, "Cpus == 5"), "and has less by what was matched");
    version = m.w->put.u.advertise.version;
    match(&m, &s, 1);
    tap_ok(m.w->put.u.advertise.version == version, "a match that is known is dropped");
    s = suitor_new(&m, 2, "raman");
    match(&m, &s, 3);
    seen = &m.w->put.u.advertise.seen;
    tap_ok(seen_has(seen, INCARNATION, 3) && !seen_has(seen, INCARNATION, 2) && seen->last == 1,
           "a gap in the numbers is named as one");
    pass(m.w, m.w->spans.window + SECOND);
    tap_ok(advertises(&m, "Cpus == 8") && seen_has(&m.w->put.u.advertise.seen, INCARNATION, 3),
           "what nobody claims within the window is offered again, and the matches stay named");
    world_free(m.w, "Seen");
}

static void matched_and_not_divisible(void)
{
    struct machine m;
    struct suitor s;
    uint32_t puts;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    puts = m.w->puts;
    match(&m, &s, 1);
    pass(m.w, m.w->spans.window / 2);
    tap_ok(m.w->puts == puts && holds(&m, 1, TENANT_MATCHED), "a machine that is matched is not offered in the window");
    pass(m.w, m.w->spans.window);
    tap_ok(m.w->puts > puts && seen_has(&m.w->put.u.advertise.seen, INCARNATION, 1) && is_free(&m, 1),
           "and is offered again after it, with the match named");
    world_free(m.w, "a match that nobody claims");
}

int main(void)
{
    figure_days();
    figure_at_night();
    night_by_the_wall();
    advertised_and_renewed();
    probe_lies_below();
    start_of_jobs();
    two_offers();
    answers_of_the_matchmaker();
    matchmaker_away();
    versions_over_restarts();
    matches_are_named();
    matched_and_not_divisible();
    return tap_done();
}
