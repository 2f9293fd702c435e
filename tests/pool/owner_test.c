/* owner_test.c: a provider knows whether anybody can be accepted, why not, and how long; an ad is made by writers. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "match/pair/match.h"
#include "pool/protocol/writers.h"
#include "pool/provider/owner.h"

#include <time.h>

#define NOON 1772366400 /* 2026-03-01T12:00:00Z, a Sunday */
#define DAY 86400
#define HOUR 3600

static struct tree *ad_of(struct lang *lang, const struct dialect *dialect, const char *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(lang, dialect, text, &err);

    if (!tree) {
        printf("Bail out! %s: %u:%u: %s\n", text, err.line, err.column, err.text);
        exit(1);
    }
    return tree;
}

static struct tree *ad_file(struct lang *lang, const char *path)
{
    size_t len;
    char *text = lang_read(path, &len);
    struct tree *tree = ad_of(lang, &dialect_classic, text);

    free(text);
    return tree;
}

/* The slow way: what is left of the constraint at that second, in one go. */
static bool open_at(struct lang *lang, const struct tree *ad, const struct env *env, int64_t at)
{
    const struct expr *constraint = match_constraint(ad);
    struct env then = *env;
    struct scope scope;
    struct tree *left;
    bool open;

    then.now = at;
    scope_init(&scope, ad, NULL);
    left = specialize(&then, &lang->arena, &scope, constraint, SPECIALIZE_TRUTH | SPECIALIZE_TIME);
    open = tree_root(left)->kind != EXPR_BOOLEAN || tree_root(left)->small;
    tree_unref(left);
    return open;
}

/* ---------------------------------------------------------------------------------------------------- sentences */

#define NEVER OWNER_NEVER
#define AT(h, m, s) (NOON - 12 * HOUR + (h)*HOUR + (m)*60 + (s))

static const struct look_case {
    const char *sentence, *ad;
    int64_t now;
    bool open, sure;
    int64_t until;
} looks[] = {
    {"an ad without a constraint is open for ever", "[]", NOON, true, true, NEVER},
    {"a constraint that asks the counterpart is open", "[ Constraint = other.Memory > 64 ]", NOON, true, true, NEVER},
    {"one that is false is closed for ever", "[ Constraint = false && other.x ]", NOON, false, true, NEVER},
    {"one that is undefined is true for nobody", "[ Constraint = self.Nosuch ]", NOON, false, true, NEVER},
    {"one that is error is true for nobody", "[ Constraint = \"a\" + 1 > 3 && other.x ]", NOON, false, true, NEVER},
    {"Requirements is another name for it, in any case", "[ REQUIREMENTS = false ]", NOON, false, true, NEVER},
    {"the provider's own state closes it", "[ LoadAvg = 0.8; Constraint = loadavg < 0.3 && other.x ]", NOON, false,
     true, NEVER},
    {"and opens it", "[ LoadAvg = 0.1; Constraint = loadavg < 0.3 && other.x ]", NOON, true, true, NEVER},
    {"at night only: closed at noon until a second past six",
     "[ Constraint = DayTime() < '8:00' || DayTime() > '18:00' ]", NOON, false, true, AT(18, 0, 1)},
    {"at night only: open at seven until eight", "[ Constraint = DayTime() < '8:00' || DayTime() > '18:00' ]",
     AT(7, 0, 0), true, true, AT(8, 0, 0)},
    {"at night only: open in the evening, through midnight, until eight",
     "[ Constraint = DayTime() < '8:00' || DayTime() > '18:00' ]", AT(20, 0, 0), true, true, AT(32, 0, 0)},
    {"a second before it opens it is closed for a second", "[ Constraint = DayTime() >= '18:00' ]", AT(17, 59, 59),
     false, true, AT(18, 0, 0)},
    {"what the time cannot change for lack of the rest never changes",
     "[ Busy = true; Constraint = !Busy && DayTime() > '18:00' ]", NOON, false, true, NEVER},
    {"who may always come keeps it open for ever",
     "[ Constraint = other.Owner == \"miron\" ? true : DayTime() > '18:00' ]", NOON, true, true, NEVER},
    {"a zone moves the day", "[ TimeZone = \"+02:00\"; Constraint = DayTime() > '18:00' ]", NOON, false, true,
     AT(16, 0, 1)},
    {"names of functions and attributes go by any case", "[ timezone = \"+02:00\"; constraint = DAYTIME() > '18:00' ]",
     NOON, false, true, AT(16, 0, 1)},
    {"an age that is an attribute of its own grows to its limit",
     "[ Start = 1772366000; Age = time() - Start; Constraint = Age > 600 && other.x ]", NOON, false, true,
     1772366000 + 601},
    {"a lease ends once, however far away", "[ Constraint = time() < 1900000000 && other.x ]", NOON, true, true,
     1900000000},
    {"and stays ended", "[ Constraint = time() < 1900000000 && other.x ]", 1900000000, false, true, NEVER},
    {"an absolute time is a second like any other", "[ Constraint = CurrentTime() >= '2026-03-02T00:30:00+01:00' ]",
     NOON, false, true, AT(23, 30, 0)},
    {"the beginning of a year", "[ Constraint = CurrentTime() >= MakeDate(1, 1, 2027) ]", NOON, false, true,
     1798761600},
    {"time since an absolute time", "[ Since = '2026-03-01T11:50:00Z'; Constraint = CurrentTime() - Since > '0:15' ]",
     NOON, false, true, AT(12, 5, 1)},
    {"by the hour", "[ Constraint = GetHours(CurrentTime()) >= 18 ]", NOON, false, true, AT(18, 0, 0)},
    {"by the hour, the same", "[ Constraint = GetHours(CurrentTime()) == 3 ]", NOON, false, true, AT(27, 0, 0)},
    {"by the hour, not the same", "[ Constraint = GetHours(CurrentTime()) != 12 ]", NOON, false, true, AT(13, 0, 0)},
    {"by the day of the week", "[ Constraint = GetDayOfWeek(CurrentTime()) >= 5 ]", NOON, false, true,
     AT(24 * 5, 0, 0)},
    {"at weekends, said with a list", "[ Constraint = Member(GetDayOfWeek(CurrentTime()), { 0, 6 }) ]", NOON, true,
     true, AT(24, 0, 0)},
    {"at weekends and at night",
     "[ Weekend = Member(GetDayOfWeek(CurrentTime()), { 0, 6 }); Night = DayTime() < '6:00'; "
     "Constraint = Weekend || Night ]",
     NOON, true, true, AT(30, 0, 0)},
    {"the last day of a month", "[ Constraint = GetDayOfMonth(CurrentTime()) == 7 ]", NOON, false, true,
     AT(24 * 6, 0, 0)},
    {"ten minutes of every hour", "[ Constraint = GetMinutes(CurrentTime()) >= 50 ]", NOON, false, true, AT(12, 50, 0)},
    {"half of every minute", "[ Constraint = GetSeconds(CurrentTime()) < 30 ]", NOON + 7, true, true, NOON + 30},
    {"every six hours, by the remainder", "[ Constraint = time() % 21600 < 60 ]", NOON + 90, false, true, AT(18, 0, 0)},
    {"the hour worked out by hand", "[ Constraint = time() / 3600 % 24 == 20 ]", NOON, false, true, AT(20, 0, 0)},
    {"or from the second of the day", "[ Constraint = time() % 86400 / 3600 >= 18 ]", NOON, false, true, AT(18, 0, 0)},
    {"hours as a number with a fraction", "[ Constraint = InHours(DayTime()) > 12.5 ]", NOON, false, true,
     AT(12, 30, 1)},
    {"what is left of the day", "[ Constraint = '24:00' - DayTime() <= '3:00' ]", NOON, false, true, AT(21, 0, 0)},
    {"a time that is formatted is looked at every second",
     "[ Constraint = FormatTime(CurrentTime(), \"%H:%M\") == \"12:30\" ]", NOON, false, true, AT(12, 30, 0)},
    {"the truth of a comparison may be compared", "[ Constraint = (DayTime() > '18:00') == true ]", NOON, false, true,
     AT(18, 0, 1)},
    {"and chosen by", "[ Limit = DayTime() > '18:00' ? 3 : 0; Constraint = 2 < Limit && other.x ]", NOON, false, true,
     AT(18, 0, 1)},
    {"a policy in an ad of its own is followed",
     "[ Policy = [ Night = DayTime() > '18:00' ]; Constraint = Policy.Night && other.x ]", NOON, false, true,
     AT(18, 0, 1)},
    {"a deadline of the counterpart's is not the provider's", "[ Constraint = other.Deadline > time() + 600 ]", NOON,
     true, true, NEVER},
    {"what always holds by the clock never changes it", "[ Constraint = DayTime() >= '0:00' ]", NOON, true, true,
     NEVER},
    {"a lease that ends after weeks of nights",
     "[ Constraint = time() < 1782366400 && (other.Owner == \"miron\" || DayTime() > '18:00') ]", NOON, true, true,
     1782366400},
    {"a part that turns to error closes it, whoever asks",
     "[ Constraint = other.x < (DayTime() > '18:00' ? error : 5) ]", NOON, true, true, AT(18, 0, 1)},
    {"a divisor that is zero for a second closes it for that second",
     "[ Constraint = 10 / (time() - 1772370000) * other.x > 3 ]", NOON, true, true, 1772370000},
    {"a clock that is far out is not foretold", "[ Constraint = DayTime() > '18:00' || other.x ]", INT64_MAX - 5, true,
     false, NEVER},
    {"nor one far back", "[ Constraint = time() > 5 || other.x ]", INT64_MIN, true, false, NEVER},
    {"chance leaves it open, to be looked at again in a minute", "[ Constraint = random(10) < 5 && other.x ]", NOON,
     true, false, NOON + OWNER_AGAIN},
    {"a circular definition is undefined", "[ A = B; B = A && time() > 5; Constraint = A ]", NOON, false, true, NEVER},
    {"an ad with ports is asked by them, not by what stands beside them",
     "[ Constraint = false; Ports = { [ Label = request; Constraint = request.x > 3 ] } ]", NOON, true, true, NEVER},
    {"a port that nobody can satisfy closes it, with what the ad around it says",
     "[ LoadAvg = 0.8; Ports = { [ Label = request; Constraint = request.x && LoadAvg < 0.3 ] } ]", NOON, false, true,
     NEVER},
    {"the time opens a port as it opens an ad",
     "[ Ports = { [ Label = request; Constraint = DayTime() > '18:00' && request.x ] } ]", NOON, false, true,
     AT(18, 0, 1)},
    {"a second port that must be filled and cannot be closes it too",
     "[ Ports = { [ Label = request ], [ Label = cpu; Constraint = DayTime() > '18:00' && cpu.x ] } ]", NOON, false,
     false, AT(18, 0, 1)},
    {"one that may stay empty does not",
     "[ Ports = { [ Label = request ], [ Label = cpu; Essential = false; Constraint = DayTime() > '18:00' ] } ]", NOON,
     true, false, AT(18, 0, 1)},
    {"nor does one of several to choose from",
     "[ Ports = { [ Label = request ], [ Choose = 1; Ports = { [ Label = a; Constraint = false ], [ Label = b ] } ] } ]",
     NOON, true, true, NEVER},
    {"a port in a group reads what the group says",
     "[ Ports = { [ Choose = 1; Sorry = true; Ports = { [ Label = a; Constraint = !Sorry ] } ] } ]", NOON, false, true,
     NEVER},
    {"where all may stay empty and none can be filled it is closed",
     "[ Ports = { [ Label = a; Essential = false; Constraint = false ] } ]", NOON, false, true, NEVER},
    {"whom other labels stand for is not known, nor how large a set is",
     "[ Ports = { [ Label = request; Constraint = request.Size < 7 ], "
     "[ Label = node; Count = 2; Constraint = node.x > request.Size && SetSize == 2 && sum(node.x) > 5 ] } ]",
     NOON, true, true, NEVER},
};

static void check_look(struct lang *lang, const struct look_case *look)
{
    struct tree *ad = ad_of(lang, &dialect_classic, look->ad);
    struct env env = {.now = look->now};
    struct owner owner;

    owner_look(&env, &lang->arena, ad, &owner);
    if (!tap_ok(owner.open == look->open && owner.until == look->until && owner.sure == look->sure, "%s",
                look->sentence))
        tap_diag("%s\nopen %d, sure %d, until noon + %lld s; wanted %d, %d, noon + %lld s", look->ad, owner.open,
                 owner.sure, (long long)(owner.until - NOON), look->open, look->sure, (long long)(look->until - NOON));
    tree_unref(ad);
}

static void check_condor(struct lang *lang)
{
    struct tree *ad = ad_of(lang, &dialect_condor,
                            "[ EnteredCurrentState = 1772366000; KeyboardIdle = 1200; "
                            "Requirements = (time() - EnteredCurrentState) > 10 * 60 && KeyboardIdle > 15 * 60 && "
                            "time() < TARGET.Deadline ]");
    struct env env = {.now = NOON};
    struct owner owner;

    owner_look(&env, &lang->arena, ad, &owner);
    tap_ok(!owner.open && owner.sure && owner.until == 1772366601,
           "a policy as HTCondor's owners write it opens to the second");
    env.now = owner.until;
    owner_look(&env, &lang->arena, ad, &owner);
    tap_ok(owner.open && owner.sure && owner.until == NEVER, "and is open from then on");
    tree_unref(ad);
}

/* ---------------------------------------------------------------------------------------------------------- why */

static const struct why_case {
    const char *sentence, *ad, *why;
} whys[] = {
    {"an open provider has nothing to say", "[ Constraint = other.x ]", ""},
    {"the clause that is false is told, with what it reads", "[ LoadAvg = 0.8; Constraint = LoadAvg < 0.3 && other.x ]",
     "no counterpart can satisfy LoadAvg < 0.3 (LoadAvg is 0.8)"},
    {"all of them are", "[ LoadAvg = 0.8; Idle = '00:01'; Constraint = LoadAvg < 0.3 && other.x && Idle > '00:15' ]",
     "no counterpart can satisfy LoadAvg < 0.3 (LoadAvg is 0.8), nor Idle > '00:15:00' (Idle is '00:01:00')"},
    {"the time is told", "[ Constraint = DayTime() > '18:00' ]",
     "no counterpart can satisfy DayTime() > '18:00:00' (DayTime() is '12:00:00')"},
    {"a name that stands alone is followed to the clause",
     "[ LoadAvg = 0.8; Free = LoadAvg < 0.3 && other.x; Constraint = Free && other.y ]",
     "no counterpart can satisfy LoadAvg < 0.3 (LoadAvg is 0.8)"},
    {"a flag is told as it is", "[ Willing = false; Constraint = Willing && other.y ]",
     "no counterpart can satisfy Willing (Willing is false)"},
    {"what is undefined is told", "[ Constraint = self.Nosuch > 3 ]", "no counterpart can satisfy self.Nosuch > 3"},
    {"a name read twice is told once", "[ a = 3; Constraint = a > 5 || a < 2 ]",
     "no counterpart can satisfy a > 5 || a < 2 (a is 3)"},
    {"a circle ends", "[ A = B; B = A; Constraint = A ]", NULL},
    {"of a port that closes the ad the clause is told",
     "[ LoadAvg = 0.8; Ports = { [ Label = request; Constraint = request.x && LoadAvg < 0.3 ] } ]",
     "no counterpart can satisfy LoadAvg < 0.3 (LoadAvg is 0.8)"},
    {"of one that may stay empty nothing is",
     "[ Ports = { [ Label = request ], [ Label = cpu; Essential = false; Constraint = false ] } ]", ""},
};

static void check_why(struct lang *lang, const struct why_case *why)
{
    struct tree *ad = ad_of(lang, &dialect_classic, why->ad);
    struct env env = {.now = NOON};
    struct buf out;

    buf_init(&out);
    owner_why(&env, &lang->arena, ad, &out);
    if (!tap_ok(why->why ? strcmp(buf_string(&out), why->why) == 0 : out.len > 0, "%s", why->sentence))
        tap_diag("%s", buf_string(&out));
    buf_done(&out);
    tree_unref(ad);
}

static void check_why_is_short(struct lang *lang)
{
    struct env env = {.now = NOON};
    struct buf text, out;
    struct tree *ad;

    buf_init(&text);
    buf_init(&out);
    buf_adds(&text, "[ Constraint = \"");
    for (int i = 0; i < 600; i++)
        buf_adds(&text, "\xc3\xa4");
    buf_adds(&text, "\" == \"a\"");
    for (int i = 0; i < 1000; i++)
        buf_addf(&text, " && DayTime() > '18:%02d'", i % 60);
    buf_adds(&text, " ]");
    ad = ad_of(lang, &dialect_classic, buf_string(&text));
    owner_why(&env, &lang->arena, ad, &out);
    tap_ok(out.len < OWNER_WHY_MAX * (OWNER_CLAUSE_MAX + 100) && strstr(buf_string(&out), "\xc3\xa4..., nor") &&
               strstr(buf_string(&out), "nor others"),
           "of a thousand reasons a few are told, and a long one is cut between characters");
    tree_unref(ad);
    buf_done(&text);
    buf_done(&out);
}

/* ----------------------------------------------------------------------------------------- the machine of figure 4 */

/* The owner's day: work from nine to half past five, with lunch from noon to one. */
struct moment {
    bool away; /* no key for a quarter of an hour */
    double load;
    int idle; /* seconds */
};

static struct moment moment_at(int second)
{
    static const int came[] = {9 * HOUR, 13 * HOUR}, went[] = {12 * HOUR, 17 * HOUR + 1800};
    struct moment m = {.idle = second + 6 * HOUR, .load = 0.042969};

    for (int i = 0; i < 2; i++) {
        if (second >= came[i] && second < went[i])
            m.idle = second % 7;
        else if (second >= went[i])
            m.idle = second - went[i];
    }
    if (second >= 9 * HOUR && second < 17 * HOUR + 1800)
        m.load = second >= 12 * HOUR && second < 13 * HOUR ? 0.2 : 0.8;
    m.away = m.idle > 900;
    return m;
}

/* The machine's ad at a second of the day: the figure, and what has been probed. */
static struct tree *machine_at(struct lang *lang, struct tree *figure, int second)
{
    struct moment m = moment_at(second);
    struct ad_setting settings[] = {
        {symbols_take(lang->symbols, "KEYBRDIDLE", 10), value_reltime(m.idle)},
        {symbols_take(lang->symbols, "loadavg", 7), value_real(m.load)},
    };
    struct tree *ad = ad_set(figure, settings, 2, NULL);

    symbols_drop(lang->symbols, settings[0].name);
    symbols_drop(lang->symbols, settings[1].name);
    return ad;
}

static bool takes(struct lang *lang, const struct env *env, const struct tree *machine, const char *owner)
{
    char text[64];
    struct tree *job;
    bool accepts;

    snprintf(text, sizeof text, "[ Type = \"Job\"; Owner = \"%s\" ]", owner);
    job = ad_of(lang, &dialect_classic, text);
    accepts = match_accepts(env, &lang->arena, machine, job);
    tree_unref(job);
    return accepts;
}

static void check_figure(struct lang *lang, const char *path, bool meant)
{
    struct tree *figure = ad_file(lang, path);
    int wrong[5] = {0}, last = -1;

    for (int second = 0; second < DAY; second = second % 300 == 299 ? second + 1 : second + (second % 300 ? 298 : 1)) {
        struct tree *ad = machine_at(lang, figure, second);
        struct moment m = moment_at(second);
        struct env env = {.now = NOON - 12 * HOUR + second};
        bool night = second < 8 * HOUR || second > 18 * HOUR;
        struct owner owner;

        last = second;
        owner_look(&env, &lang->arena, ad, &owner);
        wrong[0] += !owner.open || owner.until != NEVER || !owner.sure;
        wrong[1] += !takes(lang, &env, ad, "miron");
        wrong[2] += takes(lang, &env, ad, "calvin") != (m.load < 0.3 && m.away);
        wrong[3] += takes(lang, &env, ad, "stranger") != night;
        wrong[4] += takes(lang, &env, ad, "rival") != (night && !meant);
        tree_unref(ad);
    }
    tap_ok(wrong[0] == 0 && last == DAY - 1, "%s is never in the owner state, and knows it", path);
    tap_ok(wrong[1] == 0, "%s takes the research group's jobs at any time", path);
    tap_ok(wrong[2] == 0, "%s takes friends' jobs when it is idle", path);
    tap_ok(wrong[3] == 0, "%s takes others' jobs at night", path);
    tap_ok(wrong[4] == 0, "%s takes the untrusted %s", path, meant ? "never" : "like others: as printed");
    tree_unref(figure);
}

/* The same machine when its owner has neither group nor friends: it opens and closes with him and with the night. */
static void check_figure_without_friends(struct lang *lang)
{
    struct tree *figure = ad_file(lang, "tests/match/figures/thesis-04-meant.ad");
    struct tree *policy = ad_of(lang, &dialect_classic,
                                "[ Quiet = LoadAvg < 0.3 && KeybrdIdle > '00:15'; "
                                "Night = DayTime()<'8:00' || DayTime()>'18:00'; "
                                "constraint = !member(other.Owner, Untrusted) && Quiet && Night ]");
    struct writer writers[] = {writer_layer("figure", figure), writer_layer("policy", policy)};
    struct tree *mine = writers_run(writers, 2, lang->symbols, &dialect_classic, NULL);
    int wrong_open = 0, wrong_until = 0, wrong_why = 0;
    struct buf why;

    buf_init(&why);
    for (int second = 0; second < DAY; second += 60) {
        struct tree *ad = machine_at(lang, mine, second);
        struct moment m = moment_at(second);
        struct env env = {.now = NOON - 12 * HOUR + second};
        bool night = second < 8 * HOUR || second > 18 * HOUR, quiet = m.load < 0.3 && m.away;
        int turn = second < 8 * HOUR ? 8 * HOUR : second <= 18 * HOUR ? 18 * HOUR + 1 : 32 * HOUR;
        struct owner owner;

        owner_look(&env, &lang->arena, ad, &owner);
        wrong_open += owner.open != (night && quiet);
        wrong_until += owner.until != (quiet ? NOON - 12 * HOUR + turn : NEVER) || !owner.sure;
        buf_reset(&why);
        owner_why(&env, &lang->arena, ad, &why);
        wrong_why += owner.open != (why.len == 0) || (m.load >= 0.3) != !!strstr(buf_string(&why), "LoadAvg < 0.3");
        tree_unref(ad);
    }
    tap_ok(wrong_open == 0, "a machine without friends is open when its owner is away at night");
    tap_ok(wrong_until == 0, "and knows when the night ends or begins; while its owner is there that changes nothing");
    tap_ok(wrong_why == 0, "and says why it is closed, whenever it is");
    buf_done(&why);
    tree_unref(mine);
    tree_unref(policy);
    tree_unref(figure);
}

/* --------------------------------------------------------------------------------------------------------- twin */

struct maker {
    struct rng rng;
    struct buf out;
    bool condor;
    int64_t now;
    int zone; /* minutes */
};

static const char *const compares[] = {"<", "<=", ">", ">=", "<", ">", "==", "!=", "is", "isnt"};

static int pick(struct maker *m, int n)
{
    return (int)rng_below(&m->rng, (uint64_t)n);
}

static const char *compare(struct maker *m)
{
    return compares[pick(m, 10)];
}

/* Seconds near those: often a whole minute or hour. */
static int64_t near(struct maker *m, int64_t at, int within)
{
    int64_t t = at + pick(m, 2 * within) - within;

    return pick(m, 3) == 0 ? t : pick(m, 2) ? t - t % 60 : t - t % 3600;
}

static void make_interval(struct maker *m, int64_t s)
{
    if (m->condor)
        buf_addf(&m->out, "relTime(%lld)", (long long)s);
    else if (s < 0)
        buf_addf(&m->out, "-makeRelTime(%lld)", (long long)-s);
    else
        buf_addf(&m->out, "'%d:%02d:%02d'", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
}

static int64_t day_second(struct maker *m)
{
    return ((m->now + m->zone * 60) % DAY + DAY) % DAY;
}

static void make_atom(struct maker *m)
{
    static const char *const texts[] = {
        "other.x == 3",
        "other.Deadline > time()",
        "Load < 0.3",
        "Load > 0.3",
        "Night",
        "Policy.Night",
        "isUndefined(other.y)",
        "Member(other.Owner, Friends)",
        "other.x",
        "self.Nosuch",
        "time() - other.Since > 60",
        "root.Night",
        "!Night",
        "Old",
        "Alias.Night",
        "(Night ? time() : 0) > 5",
        "error",
        "(Night is Old)",
        "other.x < (Night ? 5 : error)",
        "(isUndefined(other.y) && Night) == true",
        "Hours[0] > time()",
        "Policy.Deep.Late",
    };
    int64_t day = near(m, day_second(m), 3 * HOUR);

    day = day < 0 ? 0 : day;
    switch (pick(m, 22)) {
    case 0:
    case 1:
    case 2:
        buf_addf(&m->out, "DayTime() %s ", compare(m));
        make_interval(m, day);
        break;
    case 3:
        buf_addf(&m->out, "time() %s %lld", compare(m), (long long)near(m, m->now, 3 * HOUR));
        break;
    case 4:
        buf_addf(&m->out, "%lld %s time()", (long long)near(m, m->now, 3 * HOUR), compare(m));
        break;
    case 5:
        buf_addf(&m->out, "Age %s %lld", compare(m), (long long)near(m, 1000, 3 * HOUR));
        break;
    case 6:
        buf_addf(&m->out, "CurrentTime() - absTime(%lld) %s ", (long long)near(m, m->now, HOUR), compare(m));
        make_interval(m, near(m, 0, HOUR));
        break;
    case 7:
        buf_addf(&m->out, "getHours(CurrentTime()) %s %d", compare(m), (int)((day_second(m) / HOUR + pick(m, 5)) % 24));
        break;
    case 8:
        buf_addf(&m->out, "getMinutes(CurrentTime()) %s %d", compare(m), pick(m, 60));
        break;
    case 9:
        buf_addf(&m->out, "getDayOfWeek(CurrentTime()) %s %d", compare(m), pick(m, 7));
        break;
    case 10:
        buf_addf(&m->out, "Member(getHours(CurrentTime()), { %d, %d })", (int)((day_second(m) / HOUR + 1) % 24),
                 pick(m, 24));
        break;
    case 11:
        buf_addf(&m->out, "time() %% %d %s %d", 1 + pick(m, 8000), compare(m), pick(m, 5000));
        break;
    case 12:
        buf_addf(&m->out, "(time() / %d) %% %d %s %d", 300 * (1 + pick(m, 12)), 2 + pick(m, 6), compare(m), pick(m, 5));
        break;
    case 13:
        buf_adds(&m->out, "DayTime() + ");
        make_interval(m, 600);
        buf_addf(&m->out, " %s ", compare(m));
        make_interval(m, day);
        break;
    case 14:
        buf_addf(&m->out, "inHours(DayTime()) * 2 %s %.4f", compare(m), (double)day / 1800);
        break;
    case 15:
        buf_adds(&m->out, "-DayTime() * 3 ");
        buf_addf(&m->out, "%s -3 * ", compare(m));
        make_interval(m, day);
        break;
    case 16:
        buf_addf(&m->out, "(DayTime() > ");
        make_interval(m, day);
        buf_addf(&m->out, " ? %d : time() - %lld) %s %d", pick(m, 5), (long long)near(m, m->now, HOUR), compare(m),
                 pick(m, 5));
        break;
    case 17:
        buf_addf(&m->out, "formatTime(CurrentTime(), \"%%H\") == \"%02d\"", (int)((day_second(m) / HOUR + 1) % 24));
        break;
    case 18:
        buf_addf(&m->out, "int(InMinutes(DayTime()) / 7) %% 2 == %d", pick(m, 2));
        break;
    default:
        buf_adds(&m->out, texts[pick(m, (int)(sizeof texts / sizeof *texts))]);
    }
}

static void make_expr(struct maker *m, int depth)
{
    int kind = depth == 0 ? 0 : pick(m, 8);

    buf_addc(&m->out, '(');
    if (kind < 2) {
        make_atom(m);
    } else if (kind == 7) {
        make_expr(m, depth - 1);
        buf_adds(&m->out, " ? ");
        make_expr(m, depth - 1);
        buf_adds(&m->out, " : ");
        make_expr(m, depth - 1);
    } else if (kind == 6) {
        buf_addc(&m->out, '!');
        make_expr(m, depth - 1);
    } else {
        make_expr(m, depth - 1);
        buf_adds(&m->out, kind < 5 ? " && " : " || ");
        make_expr(m, depth - 1);
    }
    buf_addc(&m->out, ')');
}

static void make_ad(struct maker *m)
{
    int64_t day = near(m, day_second(m), 3 * HOUR);

    buf_reset(&m->out);
    buf_addf(&m->out,
             "[ Load = 0.%d; Start = %lld; Age = time() - Start; Friends = { \"a\", \"b\" }; Night = DayTime() < ",
             pick(m, 10), (long long)near(m, m->now, HOUR));
    make_interval(m, day < 0 ? 0 : day);
    buf_addf(&m->out, "; Old = Age > %d; Alias = Policy; Hours = { %lld, 3 }; ", pick(m, 9000),
             (long long)near(m, m->now, HOUR));
    buf_addf(&m->out, "Policy = [ Night = Age > 100 && Old; Deep = [ Late = time() > %lld ] ]; ",
             (long long)near(m, m->now, 3 * HOUR));
    if (pick(m, 8) == 0)
        buf_adds(&m->out, "TimeZone = Old ? \"+01:00\" : \"+02:30\"; ");
    else if (m->zone)
        buf_addf(&m->out, "TimeZone = \"%c%02d:%02d\"; ", m->zone < 0 ? '-' : '+', abs(m->zone) / 60,
                 abs(m->zone) % 60);
    buf_adds(&m->out, "Constraint = ");
    make_expr(m, 1 + pick(m, 3));
    buf_adds(&m->out, " ]");
}

/* The first second in (from, to] at which the answer is another than `open`; to + 1 when there is none. */
static int64_t first_change(struct lang *lang, const struct tree *ad, const struct env *env, bool open, int64_t from,
                            int64_t to)
{
    for (int64_t at = from + 1; at <= to; at++)
        if (open_at(lang, ad, env, at) != open)
            return at;
    return to + 1;
}

static bool twin_agrees(struct lang *lang, const struct tree *ad, const struct env *env, const struct owner *owner,
                        int64_t window)
{
    int64_t end = env->now + window, change = first_change(lang, ad, env, owner->open, env->now, end);

    if (open_at(lang, ad, env, env->now) != owner->open || owner->until <= env->now)
        return false;
    if (owner->until <= end && owner->until > env->now + OWNER_AGAIN)
        return owner->sure ? change == owner->until : change >= owner->until;
    if (owner->until <= end)
        return owner->sure ? change == owner->until : owner->until <= change || owner->until == env->now + OWNER_AGAIN;
    if (change <= end)
        return false;
    if (owner->sure && owner->until != NEVER &&
        (open_at(lang, ad, env, owner->until) == owner->open ||
         open_at(lang, ad, env, owner->until - 1) != owner->open))
        return false;
    for (int64_t at = end - end % HOUR; at < env->now + 9 * DAY && at < owner->until - 1; at += HOUR)
        for (int64_t by = at - 1; by <= at + 1; by++)
            if (by > env->now && open_at(lang, ad, env, by) != owner->open)
                return false;
    return true;
}

static void check_twin(struct lang *lang)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(300);
    uint64_t wrong = 0, closed = 0, sure = 0, never = 0;
    struct maker m = {.condor = false};
    double longest = 0;

    buf_init(&m.out);
    for (uint64_t round = 0; round < rounds; round++) {
        struct env env = {.now = 0, .zone = 0};
        struct timespec before, after;
        struct owner owner;
        struct tree *ad;
        double took;

        rng_init(&m.rng, rng_mix(seed) + round);
        m.condor = pick(&m, 3) == 0;
        m.now = env.now = NOON + pick(&m, 30 * DAY);
        m.zone = pick(&m, 2) ? 0 : 30 * (pick(&m, 40) - 20);
        make_ad(&m);
        ad = ad_of(lang, m.condor ? &dialect_condor : &dialect_classic, buf_string(&m.out));
        clock_gettime(CLOCK_MONOTONIC, &before);
        owner_look(&env, &lang->arena, ad, &owner);
        clock_gettime(CLOCK_MONOTONIC, &after);
        took = (double)(after.tv_sec - before.tv_sec) * 1e3 + (double)(after.tv_nsec - before.tv_nsec) / 1e6;
        longest = took > longest ? took : longest;
        closed += !owner.open;
        sure += owner.sure;
        never += owner.until == NEVER;
        if (!twin_agrees(lang, ad, &env, &owner, round % 10 == 0 ? 6 * HOUR : 2 * HOUR) && wrong++ < 5)
            tap_diag("seed %llu round %llu: %s, now %lld: open %d, sure %d, until now + %lld; "
                     "the first change is at now + %lld\n%s",
                     (unsigned long long)seed, (unsigned long long)round, m.condor ? "condor" : "classic",
                     (long long)env.now, owner.open, owner.sure, (long long)(owner.until - env.now),
                     (long long)(first_change(lang, ad, &env, owner.open, env.now, env.now + 4 * HOUR) - env.now),
                     buf_string(&m.out));
        tree_unref(ad);
    }
    tap_diag("%llu rounds: %llu closed, %llu sure, %llu never change; the longest look took %.2f ms",
             (unsigned long long)rounds, (unsigned long long)closed, (unsigned long long)sure,
             (unsigned long long)never, longest);
    tap_ok(wrong == 0,
           "looking second by second finds no change before the one foretold, and that one when it is sure");
    tap_ok(sure * 2 > rounds, "most policies are foretold to the second");
    buf_done(&m.out);
}

/* ------------------------------------------------------------------------------------------------------- budget */

static void check_bomb(struct lang *lang, const char *text, const char *sentence)
{
    struct tree *ad = ad_of(lang, &dialect_classic, text);
    struct env env = {.now = NOON};
    struct timespec before, after;
    struct owner owner;
    double took;

    owner_look(&env, &lang->arena, ad, &owner);       /* the arena grows once */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before); /* work, whatever else the machine does */
    owner_look(&env, &lang->arena, ad, &owner);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    took = (double)(after.tv_sec - before.tv_sec) * 1e3 + (double)(after.tv_nsec - before.tv_nsec) / 1e6;
    tap_diag("%.2f ms of work; open %d, sure %d, until now + %lld", took, owner.open, owner.sure,
             (long long)(owner.until - NOON));
    tap_ok(took < 300 && (owner.sure || owner.until >= NOON + OWNER_AGAIN), "%s", sentence);
    tree_unref(ad);
}

/* Does only the owner state stand between the two? */
static const struct alone_case {
    const char *sentence, *ad, *counterpart;
    bool alone;
} alones[] = {
    {"an owner who is there stands alone between his machine and a job that fits",
     "[ Busy = true; Constraint = !Busy && other.Memory < 4 ]", "[ Memory = 2 ]", true},
    {"not so where the job does not fit either", "[ Busy = true; Constraint = !Busy && other.Memory < 4 ]",
     "[ Memory = 8 ]", false},
    {"nor where the machine is open", "[ Busy = false; Constraint = !Busy && other.Memory < 4 ]", "[ Memory = 8 ]",
     false},
    {"clauses are looked for behind names",
     "[ Busy = true; Free = !Busy; Start = Free && other.Memory < 4; Constraint = Start ]", "[ Memory = 2 ]", true},
};

static void check_alone(struct lang *lang, const struct alone_case *c)
{
    struct tree *ad = ad_of(lang, &dialect_classic, c->ad), *other = ad_of(lang, &dialect_classic, c->counterpart);
    struct env env = {.now = NOON};
    uint64_t steps = 0;

    tap_ok(owner_alone(&env, &lang->arena, ad, other, &steps) == c->alone && steps, "%s", c->sentence);
    tree_unref(ad);
    tree_unref(other);
}

/* Each name stands in the one before it fifty times: what is behind them is looked at as often as an evaluation may cost. */
static void check_alone_bomb(struct lang *lang)
{
    struct tree *ad, *other = ad_of(lang, &dialect_classic, "[ ]");
    struct env env = {.now = NOON};
    uint64_t steps = 0;
    struct buf text;
    bool alone;

    buf_init(&text);
    buf_adds(&text, "[ Constraint = A0; A7 = false;");
    for (int i = 0; i < 7; i++) {
        buf_addf(&text, "A%d = A%d", i, i + 1);
        for (int n = 1; n < 50; n++)
            buf_addf(&text, " && A%d", i + 1);
        buf_addc(&text, ';');
    }
    buf_addc(&text, ']');
    ad = ad_of(lang, &dialect_classic, buf_string(&text));
    alone = owner_alone(&env, &lang->arena, ad, other, &steps);
    tap_ok(!alone && steps < 2 * EVAL_STEPS_MAX, "clauses that multiply behind their names are given up: %llu steps",
           (unsigned long long)steps);
    tree_unref(ad);
    tree_unref(other);
    buf_done(&text);
}

static void check_bombs(struct lang *lang)
{
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "[ Constraint = other.x");
    for (int i = 0; i < 10000; i++)
        buf_addf(&text, " && DayTime() != '%d:%02d:%02d'", i / 3600, i / 60 % 60, i % 60);
    buf_adds(&text, " ]");
    check_bomb(lang, buf_string(&text), "ten thousand time clauses are given up soon, and looked at again in a minute");

    buf_reset(&text);
    buf_adds(&text, "[ Constraint = other.x is 3");
    for (int i = 0; i < 300; i++)
        buf_addf(&text, " || (DayTime() < '%d:%02d:%02d' && other.y == %d)", i / 12, i % 60, i % 60, i);
    buf_adds(&text, " ]");
    check_bomb(lang, buf_string(&text), "so are hundreds of clauses that turn every day");

    buf_reset(&text);
    buf_adds(&text, "[ A0 = time() > 5 ? 1 : 0;");
    for (int i = 1; i < 40; i++)
        buf_addf(&text, "A%d = A%d + A%d;", i, i - 1, i - 1);
    buf_adds(&text, "Constraint = A39 > 3 && other.x ]");
    check_bomb(lang, buf_string(&text), "definitions that double do not");

    buf_reset(&text);
    buf_adds(&text, "[ P = [ A0 = time() % 7 > 5 ? 1 : 0;");
    for (int i = 1; i < 12; i++)
        buf_addf(&text, "A%d = A%d + A%d;", i, i - 1, i - 1);
    buf_adds(&text, "]; Constraint = P.A11 > 5000 && other.x ]");
    check_bomb(lang, buf_string(&text), "nor those of an ad inside it");

    buf_reset(&text);
    buf_adds(&text, "[ Constraint = ");
    for (int i = 0; i < 200; i++)
        buf_adds(&text, "(time() % 7 > 5) == (");
    buf_adds(&text, "true");
    for (int i = 0; i < 200; i++)
        buf_addc(&text, ')');
    buf_adds(&text, " ]");
    check_bomb(lang, buf_string(&text), "nor comparisons of comparisons of comparisons");
    buf_reset(&text);
    buf_adds(&text, "[ L = { other.x, A0 }; Constraint = member(time(), L); A64 = DayTime() > '1:00';");
    for (int i = 0; i < 64; i++) {
        buf_addf(&text, "A%d = ", i);
        for (int deep = 0; deep < 250; deep++)
            buf_addc(&text, '!');
        buf_addf(&text, "A%d;", i + 1);
    }
    buf_addc(&text, ']');
    check_bomb(lang, buf_string(&text), "nor definitions that go deep");
    check_bomb(lang, "[ L = { time(), 2 }; Constraint = L[time() % 2] == 5 && formatTime() == \"\" && other.x ]",
               "what cannot be foreseen is looked at as far as the work goes");
    buf_done(&text);
}

/* ------------------------------------------------------------------------------------------------------ writers */

static const struct write_case {
    const char *sentence, *layers[4], *result; /* a result of NULL is an error, layers[3] then what it says */
} writes[] = {
    {"no writer, an empty ad", {NULL}, "[]"},
    {"an empty layer adds nothing", {"[ a = 1 ]", "[]"}, "[ a = 1 ]"},
    {"layers come in order", {"[ a = 1 ]", "[ b = 2 ]", "[ c = 3 ]"}, "[ a = 1; b = 2; c = 3 ]"},
    {"a later one replaces, where the first stood",
     {"[ a = 1; b = 2 ]", "[ a = 3; c = 4 ]"},
     "[ a = 3; b = 2; c = 4 ]"},
    {"names are the same in any case, and spelt as last written",
     {"[ LoadAvg = 1; b = 2 ]", "[ LOADAVG = 3 ]"},
     "[ LOADAVG = 3; b = 2 ]"},
    {"expressions pass as they are",
     {"[ a = b + 1 ]", "[ b = a > other.x ? 1 : { 2, \"x\" } ]"},
     "[ a = b + 1; b = a > other.x ? 1 : { 2, \"x\" } ]"},
    {"an ad inside an ad is replaced as a whole",
     {"[ p = [ x = 1; y = 2 ] ]", "[ P = [ y = 3 ] ]"},
     "[ P = [ y = 3 ] ]"},
    {"the last of three holds", {"[ a = 1 ]", "[ a = 2 ]", "[ A = 3 ]"}, "[ A = 3 ]"},
};

static void check_write(struct lang *lang, const struct write_case *write)
{
    struct writer writers[3];
    struct tree *layers[3], *made;
    struct err err = {0};
    size_t count = 0;

    for (; count < 3 && write->layers[count]; count++) {
        layers[count] = ad_of(lang, &dialect_classic, write->layers[count]);
        writers[count] = writer_layer("layer", layers[count]);
    }
    made = writers_run(writers, count, lang->symbols, &dialect_classic, &err);
    for (size_t i = 0; i < count; i++) /* the ad must not lean on them */
        tree_unref(layers[i]);
    if (!tap_ok(made && strcmp(lang_show_tree(made), write->result) == 0, "%s", write->sentence))
        tap_diag("%s", made ? lang_show_tree(made) : err.text);
    tree_unref(made);
}

/* When the state was entered: the writer remembers what it last saw. */
struct entered {
    struct symbols *symbols;
    int64_t now;
};

static struct tree *entered_write(void *user, struct tree *ad, struct err *err)
{
    struct entered *entered = user;
    symbol state = symbols_find(entered->symbols, "State", 5);
    struct ad_setting setting = {symbols_take(entered->symbols, "EnteredCurrentState", 19),
                                 value_integer(entered->now)};
    struct tree *made = NULL;

    if (!state || !tree_find(ad, tree_root(ad), state))
        err_set(err, "there is no State to enter");
    else
        made = ad_set(ad, &setting, 1, err);
    symbols_drop(entered->symbols, setting.name);
    return made;
}

static void check_function_writer(struct lang *lang)
{
    struct entered entered = {lang->symbols, NOON};
    struct tree *probed = ad_of(lang, &dialect_classic, "[ State = \"Unclaimed\" ]");
    struct tree *policy = ad_of(lang, &dialect_classic, "[ Constraint = time() - EnteredCurrentState > 60 ]");
    struct writer writers[] = {
        writer_layer("probed state", probed),
        {"state", entered_write, &entered},
        writer_layer("configuration", NULL),
        writer_layer("policy", policy),
    };
    struct err err = {0};
    struct env env = {.now = NOON};
    struct tree *made = writers_run(writers, 4, lang->symbols, &dialect_classic, &err);
    struct owner owner = {0};

    tap_ok(made && strcmp(lang_show_tree(made), "[ State = \"Unclaimed\"; EnteredCurrentState = 1772366400; "
                                                "Constraint = time() - EnteredCurrentState > 60 ]") == 0,
           "a writer may compute, from what the ones before it wrote");
    if (made)
        owner_look(&env, &lang->arena, made, &owner);
    tap_ok(!owner.open && owner.until == NOON + 61, "and what it wrote counts");
    tree_unref(made);
    made = writers_run(writers + 1, 3, lang->symbols, &dialect_classic, &err);
    tap_ok(!made && strcmp(err.text, "state: there is no State to enter") == 0,
           "a writer that fails stops the pipeline, and is named");
    tree_unref(made);
    tree_unref(probed);
    tree_unref(policy);
}

static void check_writer_errors(struct lang *lang)
{
    struct tree *ad = ad_of(lang, &dialect_classic, "[ a = 1 ]"), *condor = ad_of(lang, &dialect_condor, "[ a = 1 ]");
    struct tree *list = lang_expr(lang, &dialect_classic, "{ 1 }", 5, NULL), *made;
    struct writer writers[] = {writer_layer("probed", ad), writer_layer("local file", list)};
    struct err err = {0};

    made = writers_run(writers, 2, lang->symbols, &dialect_classic, &err);
    tap_ok(!made && strcmp(err.text, "local file: not an ad") == 0, "a layer that is no ad is an error that names it");
    writers[1] = writer_layer("pool's file", condor);
    made = writers_run(writers, 2, lang->symbols, &dialect_classic, &err);
    tap_ok(!made &&
               strcmp(err.text, "pool's file: an ad in dialect condor cannot be laid over one in dialect classic") == 0,
           "a layer in another dialect is an error: its expressions would mean something else");
    tap_ok(!ad_set(list, NULL, 0, &err), "only an ad has attributes to set");
    tap_ok(!writers_run(writers, 2, lang->symbols, &dialect_classic, NULL), "the reason need not be asked for");
    tree_unref(ad);
    tree_unref(condor);
    tree_unref(list);
}

static void check_large_ads(struct lang *lang)
{
    struct buf low, high;
    struct tree *below, *above, *made;
    struct err err = {0};

    buf_init(&low);
    buf_init(&high);
    buf_addc(&low, '[');
    buf_addc(&high, '[');
    for (int i = 0; i < 20000; i++) {
        buf_addf(&low, "a%d = %d;", i, i);
        buf_addf(&high, "%c%d = %d;", i < 15000 ? 'A' : 'b', i, -i);
    }
    buf_addc(&low, ']');
    buf_addc(&high, ']');
    below = ad_of(lang, &dialect_classic, buf_string(&low));
    above = ad_of(lang, &dialect_classic, buf_string(&high));
    made = ad_over(below, above, &err);
    tap_ok(made && tree_root(made)->u.run.count == 25000, "large ads are laid over each other");
    tree_unref(made);
    buf_reset(&high);
    buf_addc(&high, '[');
    for (int i = 0; i < 20000; i++)
        buf_addf(&high, "b%d = %d;", i, i);
    buf_addc(&high, ']');
    tree_unref(above);
    above = ad_of(lang, &dialect_classic, buf_string(&high));
    made = ad_over(below, above, &err);
    tap_ok(!made && strstr(err.text, "more than 32767 attributes"), "too many attributes are an error");
    tree_unref(made);
    tree_unref(below);
    tree_unref(above);
    buf_done(&low);
    buf_done(&high);
}

static void check_set(struct lang *lang)
{
    struct tree *ad = ad_of(lang, &dialect_classic, "[ Name = \"m\"; count = other.x + 1; p = { 1, [ y = z ] } ]"),
                *made;
    struct value list;
    struct eval eval;
    struct env env = {.now = NOON};
    struct scope scope;
    symbol state = symbols_take(lang->symbols, "State", 5), p = symbols_take(lang->symbols, "P", 1);

    scope_init(&scope, ad, NULL);
    eval_init(&eval, &env, &lang->arena);
    eval_attribute(&eval, &scope, p, &list);
    {
        struct ad_setting settings[] = {
            {NAME_COUNT, value_integer(3)},      {state, value_string("Owner", 5)},
            {NAME_COUNT, value_integer(4)},      {NAME_TYPE, list},
            {state, value_string("Claimed", 7)},
        };

        made = ad_set(ad, settings, 5, NULL);
        tap_ok(strcmp(lang_show_tree(made), "[ Name = \"m\"; Count = 4; p = { 1, [ y = z ] }; State = \"Claimed\"; "
                                            "Type = { 1, [ y = z ] } ]") == 0,
               "setting attributes replaces or adds them, the last of a name holds, whatever its case");
        tree_unref(made);
        made = ad_set(ad, NULL, 0, NULL);
        tap_ok(tree_equal(ad, tree_root(ad), made, tree_root(made)) && made != ad, "setting nothing makes a copy");
        tree_unref(made);
    }
    arena_reset(&lang->arena);
    symbols_drop(lang->symbols, state);
    symbols_drop(lang->symbols, p);
    tree_unref(ad);
}

int main(void)
{
    struct lang lang;
    size_t names;

    lang_init(&lang);
    names = symbols_count(lang.symbols);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        check_look(&lang, &looks[i]);
    check_condor(&lang);
    for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
        check_why(&lang, &whys[i]);
    check_why_is_short(&lang);
    check_figure(&lang, "tests/match/figures/thesis-04.ad", false);
    check_figure(&lang, "tests/match/figures/thesis-04-meant.ad", true);
    check_figure_without_friends(&lang);
    check_bombs(&lang);
    for (size_t i = 0; i < sizeof alones / sizeof *alones; i++)
        check_alone(&lang, &alones[i]);
    check_alone_bomb(&lang);
    check_twin(&lang);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        check_write(&lang, &writes[i]);
    check_function_writer(&lang);
    check_writer_errors(&lang);
    check_large_ads(&lang);
    check_set(&lang);
    tap_ok(symbols_count(lang.symbols) == names, "all names are given back");
    lang_done(&lang);
    return tap_done();
}
