/* policy_examples_test.c: the owners of examples/policy on made-up machines: whom they take at which hour, and whom they prefer. */
#include "common/tap.h"

#include "common/lang.h"
#include "machines.h"

#include "exec/policy.h"
#include "exec/probe.h"
#include "match/pair/match.h"
#include "match/pair/residual.h"

#define MONDAY 1772409600 /* 2026-03-02T00:00:00Z */
#define HOUR 3600
#define DAY (24 * HOUR)

static struct lang lang;

/* --------------------------------------------------------------------------------------------------------- the machines */

enum place { QUIET, TYPING, SERVER, BUSY, OURS, BARE, PLACES };

/* What stands at each: who is there, how long silent, the load, and how much of that is ours. */
static const struct {
    const char *name, *load;
    bool keeps_list;
    int64_t idle; /* -1: nobody */
    double own_load;
} places[PLACES] = {
    [QUIET] = {"a workstation whose user has gone", "0.04 0 0", true, 3600, 0},
    [TYPING] = {"a workstation whose user types", "0.04 0 0", true, 10, 0},
    [SERVER] = {"a server that nobody is logged in at", "0.10 0 0", true, -1, 0},
    [BUSY] = {"a server that is busy", "3.50 0 0", true, -1, 0},
    [OURS] = {"a server that only our jobs keep busy", "3.50 0 0", true, -1, 3.4},
    [BARE] = {"a machine that does not know who is there", "0.00 0 0", false, -1, 0},
};

static struct tree *probed[PLACES];

static struct tree *place_probe(enum place place)
{
    struct machine machine;
    struct probe_settings settings = {.disk = INT64_C(100) << 30};
    struct prober *prober;
    struct tree *ad;

    machine_init(&machine);
    settings.root = machine.root.path;
    machine_common(&machine, "heron", places[place].load);
    if (places[place].keeps_list)
        machine_put(&machine, "var/run/utmp", "");
    if (places[place].idle >= 0) {
        machine_terminal(&machine, "tty1", places[place].idle);
        machine_login(&machine, "owner", "tty1");
    }
    prober = prober_new(lang.symbols, &settings, NULL);
    ad = prober_probe(prober, places[place].own_load);
    prober_free(prober);
    machine_done(&machine);
    return ad;
}

/* The machine with the default policy, and that of a file (NULL: none) over it. */
static struct tree *offer_make(enum place place, const char *file)
{
    struct tree *defaults = policy_default(lang.symbols), *offer = policy_over(defaults, probed[place]), *policy, *all;
    struct err err = {0};

    tree_unref(defaults);
    if (!file)
        return offer;
    policy = policy_read(lang.symbols, lang_path(file), &err);
    if (!policy) {
        tap_ok(false, "%s is a policy", file);
        tap_diag("%s", err.text);
        return offer;
    }
    all = policy_over(policy, offer);
    tree_unref(policy);
    tree_unref(offer);
    return all;
}

/* ----------------------------------------------------------------------------------------------------------- the owners */

#define ANY -1
#define FIGURE1 "examples/policy/figure1.ad"
#define FIGURE4 "examples/policy/figure4.ad"
#define ALWAYS "examples/policy/always.ad"
#define NIGHTS "examples/policy/nights.ad"
#define GROUP "examples/policy/group.ad"

/* At each place in turn, in the order of the enum: y or n. */
static const struct row {
    const char *sentence, *file, *job;
    int day, hour; /* of the week, 0 is Monday; ANY: at all hours of it; what is added to hours: seconds */
    int seconds;
    const char *taken;
    const char *rank;
} rows[] = {
    {"the default policy takes anybody's job", NULL, "[ Type = \"Job\" ]", 0, 12, 0, "yyyyyy", "0"},
    {"the default policy takes jobs only", NULL, "[ Type = \"Licence\" ]", 0, 12, 0, "nnnnnn", "0"},
    {"the default policy takes a job as large as the machine", NULL,
     "[ Type = \"Job\"; RequestCpus = 4; RequestMemory = 16G; RequestDisk = 100G ]", 0, 12, 0, "yyyyyy", "0"},
    {"the default policy refuses more processors than there are", NULL, "[ Type = \"Job\"; RequestCpus = 5 ]", 0, 12, 0,
     "nnnnnn", "0"},
    {"the default policy refuses more memory than there is", NULL, "[ Type = \"Job\"; RequestMemory = 16.1G ]", 0, 12,
     0, "nnnnnn", "0"},
    {"the default policy refuses more disk than was set aside", NULL, "[ Type = \"Job\"; RequestDisk = 101G ]", 0, 12,
     0, "nnnnnn", "0"},
    {"the default policy refuses a job that needs a graphics processor where there is none", NULL,
     "[ Type = \"Job\"; RequestGpus = 1 ]", 0, 12, 0, "nnnnnn", "0"},
    {"the default policy refuses a job that would give instead of take", NULL, "[ Type = \"Job\"; RequestCpus = -4 ]",
     0, 12, 0, "nnnnnn", "0"},
    {"the default policy refuses less than no memory", NULL, "[ Type = \"Job\"; RequestMemory = -1G ]", 0, 12, 0,
     "nnnnnn", "0"},
    {"the default policy refuses less than no disk", NULL, "[ Type = \"Job\"; RequestDisk = -1 ]", 0, 12, 0, "nnnnnn",
     "0"},
    {"the default policy refuses what is no number", NULL, "[ Type = \"Job\"; RequestCpus = \"all\" ]", 0, 12, 0,
     "nnnnnn", "0"},

    {"always.ad takes anybody at any hour", ALWAYS, "[ Type = \"Job\"; Owner = \"stranger\" ]", 0, ANY, 0, "yyyyyy",
     "0"},
    {"always.ad takes no more than fits", ALWAYS, "[ Type = \"Job\"; RequestCpus = 5 ]", 0, ANY, 0, "nnnnnn", "0"},

    {"nights.ad takes nobody at noon", NIGHTS, "[ Type = \"Job\" ]", 0, 12, 0, "nnnnnn", "0"},
    {"nights.ad takes nobody just before seven in the evening", NIGHTS, "[ Type = \"Job\" ]", 4, 19, -1, "nnnnnn", "0"},
    {"nights.ad takes jobs from seven in the evening, unless somebody types", NIGHTS, "[ Type = \"Job\" ]", 4, 19, 0,
     "ynyyyy", "0"},
    {"nights.ad takes jobs until seven in the morning", NIGHTS, "[ Type = \"Job\" ]", 0, 7, -1, "ynyyyy", "0"},
    {"nights.ad takes nobody from seven in the morning", NIGHTS, "[ Type = \"Job\" ]", 0, 7, 0, "nnnnnn", "0"},
    {"nights.ad takes jobs all Saturday", NIGHTS, "[ Type = \"Job\" ]", 5, ANY, 0, "ynyyyy", "0"},
    {"nights.ad takes jobs all Sunday", NIGHTS, "[ Type = \"Job\" ]", 6, ANY, 0, "ynyyyy", "0"},
    {"nights.ad is not told by a job that nobody types", NIGHTS,
     "[ Type = \"Job\"; KeyboardIdle = 9999; Users = 0; Quiet = true; Fits = true; Night = true ]", 0, 12, 0, "nnnnnn",
     "0"},
    {"nights.ad takes no more than fits", NIGHTS, "[ Type = \"Job\"; RequestMemory = 1000G ]", 0, 2, 0, "nnnnnn", "0"},

    {"group.ad takes the group at any hour, and best", GROUP, "[ Type = \"Job\"; Owner = \"grace\" ]", 0, ANY, 0,
     "yyyyyy", "2"},
    {"group.ad takes friends at any hour, and better than others", GROUP, "[ Type = \"Job\"; Owner = \"edsger\" ]", 0,
     ANY, 0, "yyyyyy", "1"},
    {"group.ad takes strangers while nobody needs the machine", GROUP, "[ Type = \"Job\"; Owner = \"stranger\" ]", 0,
     ANY, 0, "ynynyy", "0"},
    {"group.ad takes who says no name as a stranger", GROUP, "[ Type = \"Job\" ]", 0, ANY, 0, "ynynyy", "0"},

    {"figure 1 takes a small job while the machine is idle, raman's rather than others'", FIGURE1,
     "[ Type = \"Job\"; Owner = \"raman\"; ImageSize = 31M ]", 0, ANY, 0, "ynynyy", "1"},
    {"figure 1 takes others as well", FIGURE1, "[ Type = \"Job\"; Owner = \"miron\"; ImageSize = 31M ]", 0, ANY, 0,
     "ynynyy", "0"},
    {"figure 1 leaves 15 megabytes of memory", FIGURE1,
     "[ Type = \"Job\"; Owner = \"raman\"; ImageSize = 16G - 15M; RequestMemory = 1M ]", 0, 12, 0, "ynynyy", "1"},
    {"figure 1 takes no image that leaves less", FIGURE1,
     "[ Type = \"Job\"; Owner = \"raman\"; ImageSize = 16G - 14M; RequestMemory = 1M ]", 0, 12, 0, "nnnnnn", "1"},
    {"figure 1 takes no image of a size that is not told", FIGURE1, "[ Type = \"Job\"; Owner = \"raman\" ]", 0, 12, 0,
     "nnnnnn", "1"},
    {"figure 1 takes jobs only", FIGURE1, "[ Type = \"Licence\"; Owner = \"raman\"; ImageSize = 1M ]", 0, 12, 0,
     "nnnnnn", "1"},

    {"figure 4 takes the research group always", FIGURE4, "[ Type = \"Job\"; Owner = \"solomon\" ]", 0, ANY, 0,
     "yyyyyy", "10"},
    {"figure 4 takes friends while the machine is idle", FIGURE4, "[ Type = \"Job\"; Owner = \"calvin\" ]", 0, ANY, 0,
     "ynynyy", "1"},
    {"figure 4 takes others at night, even while somebody types", FIGURE4, "[ Type = \"Job\"; Owner = \"stranger\" ]",
     0, 8, -1, "yyyyyy", "0"},
    {"figure 4 takes others no more from eight", FIGURE4, "[ Type = \"Job\"; Owner = \"stranger\" ]", 0, 8, 0, "nnnnnn",
     "0"},
    {"figure 4 does not take others at six", FIGURE4, "[ Type = \"Job\"; Owner = \"stranger\" ]", 0, 18, 0, "nnnnnn",
     "0"},
    {"figure 4 takes others again after six", FIGURE4, "[ Type = \"Job\"; Owner = \"stranger\" ]", 0, 18, 1, "yyyyyy",
     "0"},
    {"figure 4 takes rivals never", FIGURE4, "[ Type = \"Job\"; Owner = \"rival\" ]", 0, ANY, 0, "nnnnnn", "0"},
    {"figure 4 takes riffraff never, not on a Sunday either", FIGURE4, "[ Type = \"Job\"; Owner = \"riffraff\" ]", 6,
     ANY, 0, "nnnnnn", "0"},
    {"figure 4 takes no more than fits", FIGURE4, "[ Type = \"Job\"; Owner = \"miron\"; RequestCpus = 8 ]", 0, ANY, 0,
     "nnnnnn", "10"},
};

static bool is_right(const struct row *row, const struct tree *offer, const struct tree *job, enum place place,
                     int64_t now)
{
    struct env env = {.now = now};
    bool taken = match_accepts(&env, &lang.arena, offer, job);
    const char *rank;
    struct match match;

    match_ads(&env, &lang.arena, job, offer, &match);
    rank = lang_show(&dialect_classic, &match.right_rank);
    if (taken == (row->taken[place] == 'y') && !strcmp(rank, row->rank))
        return true;
    tap_diag("%s, %lld seconds after Monday: %s, rank %s", places[place].name, (long long)(now - MONDAY),
             taken ? "taken" : "not taken", rank);
    return false;
}

static void check_row(const struct row *row)
{
    struct tree *job = lang_ad(&lang, &dialect_classic, row->job, NULL);
    bool right = job != NULL;

    for (int place = 0; right && place < PLACES; place++) {
        struct tree *offer = offer_make((enum place)place, row->file);
        int64_t from = row->hour == ANY ? 0 : row->hour * HOUR + row->seconds;
        int64_t to = row->hour == ANY ? DAY - 1 : from;

        for (int64_t at = from; at <= to; at += HOUR / 2)
            right &= is_right(row, offer, job, (enum place)place, MONDAY + row->day * (int64_t)DAY + at);
        arena_reset(&lang.arena);
        tree_unref(offer);
    }
    tap_ok(right, "%s", row->sentence);
    tree_unref(job);
}

/* The matchmaker's zone is Greenwich, the machine's is eleven hours ahead. */
static void check_zone(void)
{
    static const struct {
        const char *sentence;
        int64_t at;
        bool taken;
    } hours[] = {
        {"Friday evening in Greenwich is Saturday morning at a machine far east: it takes jobs", 4 * DAY + 22 * HOUR,
         true},
        {"Sunday evening in Greenwich is Monday morning there: it takes none", 6 * DAY + 22 * HOUR, false},
        {"Monday noon in Greenwich is night there: it takes jobs", 12 * HOUR, true},
    };
    struct tree *greenwich = probed[SERVER], *job = lang_ad(&lang, &dialect_classic, "[ Type = \"Job\" ]", NULL),
                *offer;

    setenv("TZ", "<+11>-11", 1);
    probed[SERVER] = place_probe(SERVER);
    offer = offer_make(SERVER, NIGHTS);
    for (size_t i = 0; i < sizeof hours / sizeof *hours; i++) {
        struct env env = {.now = MONDAY + hours[i].at};

        tap_ok(match_accepts(&env, &lang.arena, offer, job) == hours[i].taken, "%s", hours[i].sentence);
    }
    tree_unref(offer);
    tree_unref(job);
    tree_unref(probed[SERVER]);
    probed[SERVER] = greenwich;
    setenv("TZ", "UTC", 1);
}

/* ------------------------------------------------------------------------------------------------------- what is left */

/* How many of the job the machine takes, one after another. */
static int count_taken(const char *file, const char *text, struct tree **ret_left)
{
    struct env env = {.now = MONDAY};
    struct tree *job = lang_ad(&lang, &dialect_classic, text, NULL), *left = offer_make(SERVER, file);
    int count = 0;

    while (count < 1000 && match_accepts(&env, &lang.arena, left, job)) {
        struct tree *next = residual_make(&env, &lang.arena, left, job);

        tree_unref(left);
        left = next;
        count++;
    }
    tree_unref(job);
    if (ret_left)
        *ret_left = left;
    else
        tree_unref(left);
    return count;
}

static void check_residual(void)
{
    static const char *const files[] = {NULL, ALWAYS, NIGHTS, GROUP, FIGURE1, FIGURE4};
    const char *small = "[ Type = \"Job\"; Owner = \"raman\"; ImageSize = 1M; RequestCpus = 1 ]";
    struct env env = {.now = MONDAY};
    struct tree *left;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        tap_ok(count_taken(files[i], small, NULL) == 4, "four processors take four jobs and not a fifth: %s",
               files[i] ? files[i] : "the default policy");
    tap_ok(count_taken(NULL, "[ Type = \"Job\" ]", NULL) == 4, "a job that says nothing takes one processor");
    tap_ok(count_taken(NULL, "[ Type = \"Job\"; RequestCpus = 0.5 ]", NULL) == 8, "half a processor is taken twice");
    tap_ok(count_taken(NULL, "[ Type = \"Job\"; RequestMemory = 6G ]", NULL) == 2, "memory runs out as well");
    tap_ok(count_taken(NULL, "[ Type = \"Job\"; RequestDisk = 40G ]", NULL) == 2, "and so does disk");
    tap_ok(count_taken(NULL, "[ Type = \"Job\"; RequestCpus = 0 ]", NULL) == 0,
           "a job that wants no processor at all is none");
    count_taken(NULL, small, &left);
    tap_ok(!match_is_open(&env, &lang.arena, left), "a machine of which nothing is left can accept nobody");
    tree_unref(left);
}

/* --------------------------------------------------------------------------------------------------------------- files */

static void check_files(void)
{
    static const struct {
        const char *sentence, *text, *words;
    } wrong[] = {
        {"a policy that cannot be read is refused with its place", "[\n  Rank = 1;\n  Constraint = 1 +;\n]\n", ":3:"},
        {"a policy that is no ad is refused", "1 + 1\n", ":1:1: "},
        {"an empty file is no policy", "", ":1:1: "},
        {"a policy whose Residual is no ad is refused", "[ Residual = 3 ]", "Residual is not written as an ad"},
    };
    struct folder folder;
    struct err err;

    folder_init(&folder);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *path = folder_put(&folder, "policy.ad", wrong[i].text);
        bool refused;

        memset(&err, 0, sizeof err);
        refused = !policy_read(lang.symbols, path, &err);
        if (!tap_ok(refused && strstr(err.text, wrong[i].words) && !strncmp(err.text, path, strlen(path)), "%s",
                    wrong[i].sentence))
            tap_diag("%s", err.text);
    }
    tap_ok(!policy_read(lang.symbols, folder_path(&folder, "none.ad"), &err) &&
               strstr(err.text, "none.ad: No such file"),
           "a file that is not there is named");
    tap_ok(!policy_read(lang.symbols, folder.path, &err), "a folder is no policy");
    folder_done(&folder);
}

/* What examples/policy/machine.ad has of the default policy must be that. */
static void check_sample(void)
{
    struct tree *defaults = policy_default(lang.symbols);
    struct tree *sample = policy_read(lang.symbols, lang_path("examples/policy/machine.ad"), NULL);
    const struct expr *parts = tree_parts(defaults, tree_root(defaults));
    bool same = sample != NULL;

    for (uint32_t i = 0; same && i < tree_root(defaults)->u.run.count; i++) {
        const struct expr *there = tree_find(sample, tree_root(sample), parts[i].label);
        bool owners = symbol_same(parts[i].label, NAME_CONSTRAINT) || symbol_same(parts[i].label, NAME_RANK);

        same = owners ? !there : there && tree_equal(defaults, &parts[i], sample, there);
    }
    tap_ok(same, "the machine to try policies on has the default policy, but for Constraint and Rank");
    tree_unref(sample);
    tree_unref(defaults);
}

/* What an owner asks before a job begins comes beside what the machine has room for. */
static void check_start(void)
{
    static const struct {
        const char *sentence, *machine, *owner;
        bool starts;
    } cases[] = {
        {"a machine with room starts a job that its owner lets start", "[ FreeDisk = 2G ]", "[ Start = other.x == 1 ]",
         true},
        {"and none that he does not", "[ FreeDisk = 2G ]", "[ Start = other.x == 2 ]", false},
        {"a machine without room starts none, whatever its owner asks for", "[ FreeDisk = 1M ]", "[ Start = true ]",
         false},
        {"also where he asks for one of several things", "[ FreeDisk = 1M ]",
         "[ Start = other.x == 2 || other.x == 1 ]", false},
        {"and where he asks for nothing", "[ FreeDisk = 1M ]", "[ Rank = 1 ]", false},
        {"but for one who says that there is room", "[ FreeDisk = 1M ]", "[ Roomy = true; Start = other.x == 1 ]",
         true},
    };
    struct env env = {.now = 0};
    struct arena scratch;

    arena_init(&scratch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tree *defaults = policy_default(lang.symbols),
                    *job = lang_ad(&lang, &dialect_classic, "[ Type = \"Job\"; x = 1 ]", NULL);
        struct tree *machine = lang_ad(&lang, &dialect_classic, cases[i].machine, NULL),
                    *owner = lang_ad(&lang, &dialect_classic, cases[i].owner, NULL);
        struct tree *policy = policy_over(owner, defaults), *all = policy_over(policy, machine);

        tap_ok(match_says(&env, &scratch, all, "Start", job) == cases[i].starts, "%s", cases[i].sentence);
        tree_unref(all);
        tree_unref(policy);
        tree_unref(owner);
        tree_unref(machine);
        tree_unref(job);
        tree_unref(defaults);
    }
    arena_done(&scratch);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    lang_init(&lang);
    for (int place = 0; place < PLACES; place++)
        probed[place] = place_probe((enum place)place);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
    check_zone();
    check_residual();
    check_files();
    check_sample();
    check_start();
    for (int place = 0; place < PLACES; place++)
        tree_unref(probed[place]);
    lang_done(&lang);
    return tap_done();
}
