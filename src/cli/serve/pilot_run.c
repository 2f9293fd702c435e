/* pilot_run.c: berth pilot --run FOLDER: the pilot itself, inside of a batch job.
 *
 *     checks -> benchmark -> offers what is left, and pulls work -> drains -> clears -> leaves, saying why
 *
 *     now ......................... ends             the batch system ends the job
 *      |<------ TimeLeft ------>|<- grace ->|<- margin ->|
 *
 * TimeLeft is how long a job may take: one that wants longer is not started (`Start` in the ad). When TimeLeft is 0, jobs that still run are warned,
 * and have the time of grace. The margin is for files on their way home. */
#include "cli/serve/pilot.h"

#include "cli/ask/pool_config.h"
#include "cli/serve/daemons.h"
#include "cli/serve/machine.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/form/form.h"
#include "lang/text/print.h"
#include "live/providerd/providerd.h"
#include "match/pair/match.h"
#include "pool/protocol/writers.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TOKEN_LOOKS 8   /* for another token, before the one that it has ends ... */
#define TOKEN_PAUSE 600 /* ... and at most so many seconds apart */
#define LAST_SECONDS 2  /* the pilot goes so long before the margin is over, whatever still runs */
#define ROLE "pilot"

struct pilot {
    struct machine machine; /* first, so that a pointer to the pilot is one to its machine */
    struct pilot_order order;
    struct cluster *batch;
    char folder[PATH_MAX], state[PATH_MAX];
    struct pilot_found found;
    int64_t ends;                    /* when its time is over, by clock_now() ... */
    int64_t limit;                   /* ... by the batch system and its order alone; INT64_MAX: they do not say */
    int64_t token_ends, token_looks; /* when its token ends, and when it is looked for another */
    int64_t grace, margin;
    int64_t idle_since, told_at;
    bool time_up;
    char why[PILOT_WHY_MAX + 1]; /* "" while it stays */
    enum providerd_wish wish;
};

static int64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec;
}

/* Seconds that are left for jobs. */
static int64_t time_left(const struct pilot *pilot)
{
    int64_t left = pilot->ends - pilot->grace - pilot->margin - clock_now();

    return left > 0 ? left : 0;
}

static int leave(struct pilot *pilot, const char *why)
{
    fprintf(stderr, "Berth pilot %s leaves: %s\n", pilot->order.pilot, why);
    pilot_note(pilot->folder, "left", why);
    return STATUS_NO;
}

/* Copies the token of its folder to where its provider reads it. */
static int token_take(struct pilot *pilot)
{
    char path[PATH_MAX], to[PATH_MAX];
    struct token_file token;
    struct err err = {0};
    int failed;

    snprintf(path, sizeof path, "%.4000s/token", pilot->folder);
    snprintf(to, sizeof to, "%.4000s/" ROLE "/token", pilot->state);
    failed = token_file_read(path, &token, &err);
    if (!failed) {
        failed = token_file_write(to, &token, &err);
        token_file_done(&token);
    }
    if (failed)
        report("%s", err.text);
    return failed ? STATUS_BAD : STATUS_DONE;
}

/* The token is good for so many seconds more: whoever submitted the pilot may put another into its folder. */
static void token_ends_at(struct pilot *pilot, int64_t seconds)
{
    int64_t pause = seconds / TOKEN_LOOKS;

    pilot->token_ends = clock_now() + seconds;
    pilot->token_looks = clock_now() + (pause < 1 ? 1 : pause > TOKEN_PAUSE ? TOKEN_PAUSE : pause);
}

/* Takes on a token that lasts longer, if there is one. */
static void token_follow(struct pilot *pilot)
{
    char path[PATH_MAX];
    int64_t seconds;

    if (clock_now() < pilot->token_looks)
        return;
    snprintf(path, sizeof path, "%.4000s/token", pilot->folder);
    if (access(path, R_OK) < 0 || pilot_token_look(path, time(NULL), &seconds) != STATUS_DONE)
        seconds = 0;
    if (clock_now() + seconds <= pilot->token_ends + 1 || token_take(pilot) != STATUS_DONE) {
        seconds = pilot->token_ends - clock_now();
        token_ends_at(pilot, seconds > 0 ? seconds : 0);
        return;
    }
    token_ends_at(pilot, seconds);
    pilot->ends = pilot->limit < pilot->token_ends ? pilot->limit : pilot->token_ends;
    fprintf(stderr, "Berth pilot %s: another token is good for %lld s more\n", pilot->order.pilot, (long long)seconds);
}

/* Is there enough of everything? If not, the pilot says so, and leaves. */
static int checks(struct pilot *pilot)
{
    const struct pilot_found *found = &pilot->found;
    struct buf why;
    int status;

    buf_init(&why);
    status = pilot_look(pilot->folder, pilot->state, &pilot->order, pilot->batch, &pilot->found, &why);
    if (status == STATUS_NO)
        leave(pilot, buf_string(&why));
    buf_done(&why);
    if (status != STATUS_DONE)
        return status;
    pilot->margin = pilot_margin(found->seconds);
    pilot->ends = clock_now() + found->seconds;
    pilot->limit = found->facts.time < 0 ? INT64_MAX : clock_now() + found->facts.time;
    token_ends_at(pilot, found->facts.token);
    fprintf(stderr,
            "Berth pilot %s: %lld s, %lld MiB of memory and %lld MiB of disk are there; the token is good for %lld s "
            "more; the benchmark gives %.1f\n",
            pilot->order.pilot, (long long)found->seconds, (long long)found->facts.memory >> 20,
            (long long)found->facts.disk >> 20, (long long)found->facts.token, found->facts.benchmark);
    return STATUS_DONE;
}

/* ----------------------------------------------------------------------------------------------------------- its offer */

/* Appends what the pilot says over the machine's own policy. If it was not told how much memory to offer, it offers the part that goes with its
 * processors. */
static void offer_text(const struct pilot *pilot, const struct tree *policy, struct buf *out)
{
    const struct expr *own = match_constraint(policy);
    int64_t cpus = pilot->order.cpus ? pilot->order.cpus : 1, memory = pilot->order.memory;

    if (cpus > pilot->found.cpus)
        cpus = pilot->found.cpus;
    if (!memory || memory > pilot->found.memory)
        memory = pilot_part(pilot->found.memory, memory ? pilot->found.cpus : cpus, pilot->found.cpus);
    buf_adds(out, "[ Constraint = ");
    if (own) {
        buf_addc(out, '(');
        print_expr(out, policy, own, PRINT_PLAIN);
        buf_adds(out, ") && ");
    }
    buf_adds(out, "!self.TimeUp; Start = isUndefined(other.TimeLimit) || int(other.TimeLimit) <= self.TimeLeft; ");
    buf_addf(out, "Pilot = true; Cpus = %lld; Memory = %lld; Benchmark = %.1f; ", (long long)cpus, (long long)memory,
             pilot->found.facts.benchmark);
    buf_addf(out, "BatchSystem = \"%s\"; ", cluster_name(pilot->batch));
    if (*pilot->found.id)
        buf_addf(out, "BatchJob = \"%s\"; ", pilot->found.id);
    buf_addc(out, ']');
}

/* Makes the offer. A pilot that takes a single job is not divided. */
static struct tree *pilot_offer(void *user, struct symbols *symbols, uint32_t place, struct err *err)
{
    struct pilot *pilot = user;
    struct tree *policy = machine_offer(&pilot->machine, symbols, place, err), *whole = NULL, *own;
    struct buf text;

    if (policy && pilot->order.once && ad_find(policy, "Residual")) {
        whole = ad_without(policy, "Residual");
        tree_unref(policy);
        policy = whole;
    }
    if (!policy)
        return NULL;
    buf_init(&text);
    offer_text(pilot, policy, &text);
    own = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    whole = own ? ad_over(policy, own, err) : NULL;
    tree_unref(own);
    tree_unref(policy);
    buf_done(&text);
    return whole;
}

static struct tree *pilot_probe(void *user, struct symbols *symbols, double own_load)
{
    struct pilot *pilot = user;
    struct tree *machine = machine_probe(&pilot->machine, symbols, own_load), *both;
    struct maker maker;

    if (!machine)
        return NULL;
    maker_init(&maker, symbols);
    maker_integer(&maker, "TimeLeft", time_left(pilot));
    maker_flag(&maker, "TimeUp", pilot->time_up);
    maker_parts(&maker, machine, NULL);
    both = maker_seal(&maker);
    tree_unref(machine);
    return both;
}

/* ---------------------------------------------------------------------------------------------------- how long it stays */

static void go(struct pilot *pilot, enum providerd_wish wish, const char *format, int64_t number, int64_t wanted)
{
    if (wish <= pilot->wish)
        return;
    pilot->wish = wish;
    pilot->time_up = pilot->time_up || wish == PROVIDERD_CLEARS;
    snprintf(pilot->why, sizeof pilot->why, format, (long long)number, (long long)wanted);
}

static void decide(struct pilot *pilot, const struct providerd_news *news, bool busy)
{
    int64_t now = clock_now(), left = time_left(pilot);

    if (busy || !pilot->idle_since)
        pilot->idle_since = now;
    if (news->told && !pilot->told_at) {
        pilot->told_at = now;
        go(pilot, PROVIDERD_CLEARS, "it was told to end", 0, 0);
    }
    if (left == 0)
        go(pilot, PROVIDERD_CLEARS, "its time is up", 0, 0);
    else if (pilot->order.once && news->started)
        go(pilot, PROVIDERD_DRAINS, "it has run its one job", 0, 0);
    else if (left < pilot->order.least.time)
        go(pilot, PROVIDERD_DRAINS, "only %lld s are left for jobs, at least %lld s are wanted", left,
           pilot->order.least.time);
    else if (pilot->order.idle && now - pilot->idle_since >= pilot->order.idle)
        go(pilot, PROVIDERD_DRAINS, "nobody had work for it for %lld s", now - pilot->idle_since, 0);
}

static enum providerd_wish pilot_tend(void *user, const struct providerd_news *news, char note[PROVIDERD_NOTE_MAX + 1])
{
    struct pilot *pilot = user;
    bool busy = news->claims || news->jobs, late;

    token_follow(pilot);
    decide(pilot, news, busy);
    if (pilot->wish == PROVIDERD_STAYS) {
        snprintf(note, PROVIDERD_NOTE_MAX + 1, "%s", busy ? "busy" : "idle");
        return PROVIDERD_STAYS;
    }
    late = clock_now() >= pilot->ends - LAST_SECONDS ||
           (pilot->told_at && clock_now() >= pilot->told_at + pilot->grace + pilot->margin);
    if ((busy || news->owes) && !late) {
        snprintf(note, PROVIDERD_NOTE_MAX + 1, "leaves: %s", pilot->why);
        return pilot->wish;
    }
    snprintf(note, PROVIDERD_NOTE_MAX + 1, "left: %s", pilot->why);
    return PROVIDERD_LEAVES;
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static void pilot_down(void *user)
{
    machine_down(&((struct pilot *)user)->machine);
}

/* Holds back signals that tell the pilot to end, until it is up: it has to remove what it has made, and to say why it leaves. */
static void signals_hold(bool hold)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &ends, NULL);
}

static void tell_up(void *user, const char *name, const char *matchmaker, const char *held)
{
    (void)user;
    signals_hold(false);
    fprintf(stderr, "Berth pilot %s is up, and asks %s for jobs\n  jobs are held by  %s\n", name, matchmaker, held);
}

/* Makes a folder for the pilot's state, where the batch system wants temporary files; STATE/pilot/token is in it. */
static int state_make(struct pilot *pilot)
{
    const char *where = pilot->order.scratch;
    char path[PATH_MAX];

    if (!*where)
        where = getenv("SLURM_TMPDIR");
    if (!where || !*where)
        where = getenv("TMPDIR");
    if (!where || !*where)
        where = "/tmp";
    snprintf(pilot->state, sizeof pilot->state, "%.3900s/berth-pilot-XXXXXX", where);
    if (!mkdtemp(pilot->state)) {
        report("%s: %s", pilot->state, strerror(errno));
        pilot->state[0] = '\0';
        return STATUS_BAD;
    }
    snprintf(path, sizeof path, "%.4000s/" ROLE, pilot->state);
    return folder_make(path) < 0 ? STATUS_BAD : token_take(pilot);
}

/* Makes the options: the settings that the pilot was given, and those that a pilot must have: it calls out, and is not called. */
static int options_make(const struct pilot *pilot, struct config_options *ret, struct arena *arena)
{
    const char *const own[] = {"ProviderListen=\"\"", "Pull=true"};
    char *text = arena_alloc(arena, 2 * PATH_MAX);
    struct err err = {0};
    int failed = 0;

    *ret = (struct config_options){.file = NULL};
    for (uint32_t i = 0; i < pilot->order.setting_count && !failed; i++)
        failed = option_config_set(pilot->order.settings[i], ret, &err);
    for (size_t i = 0; i < sizeof own / sizeof *own && !failed; i++)
        failed = option_config_set(own[i], ret, &err);
    snprintf(text, PATH_MAX, "AgentName=%s", pilot->order.pilot);
    failed = failed || option_config_set(text, ret, &err);
    text += PATH_MAX;
    snprintf(text, PATH_MAX, "Matchmakers=%s", pilot->order.pool);
    failed = failed || option_config_set(text, ret, &err) || option_config_state(pilot->state, ret, &err);
    if (failed)
        report("%s", err.text);
    return failed ? STATUS_BAD : STATUS_DONE;
}

static int serve(struct pilot *pilot, const struct config_options *all, struct config *config)
{
    struct providerd_settings settings = {.role = ROLE,
                                          .executor = machine_executor,
                                          .shown = machine_shown,
                                          .image = machine_image,
                                          .registries = machine_sources,
                                          .owners = machine_owners,
                                          .pull = true,
                                          .offers = 1,
                                          .offer = pilot_offer,
                                          .probe = pilot_probe,
                                          .tend = pilot_tend,
                                          .up = tell_up,
                                          .down = pilot_down,
                                          .user = pilot};
    int status;

    machine_init(&pilot->machine, config, ROLE);
    if (!pilot->machine.disk)
        pilot->machine.disk = pilot_part(pilot->found.facts.disk / 10 * 9, pilot->order.cpus, pilot->found.cpus);
    pilot->grace = (config_spans(config).grace + SECOND - 1) / SECOND;
    status = daemon_serve(ROLE, all, config, &settings, false);
    leave(pilot, *pilot->why ? pilot->why : "it could not go on; its log says why");
    return *pilot->why ? status : STATUS_BAD;
}

static int pilot_live(struct pilot *pilot)
{
    struct config_options options, all;
    struct config config;
    struct arena texts;
    int status;

    arena_init(&texts);
    status = state_make(pilot);
    if (status == STATUS_DONE)
        status = checks(pilot);
    if (status == STATUS_DONE)
        status = options_make(pilot, &options, &texts);
    if (status == STATUS_DONE)
        status = agent_config_load(&options, ROLE, &config, &all, &texts) < 0 ? STATUS_BAD : STATUS_DONE;
    if (status == STATUS_DONE) {
        status = serve(pilot, &all, &config);
        config_done(&config);
    }
    arena_done(&texts);
    return status;
}

int pilot_run(const char *folder)
{
    struct pilot *pilot = mem_alloc(sizeof *pilot);
    char path[PATH_MAX];
    struct err err = {0};
    int status;

    signals_hold(true);
    memset(pilot, 0, sizeof *pilot);
    snprintf(pilot->folder, sizeof pilot->folder, "%.4000s", folder);
    snprintf(path, sizeof path, "%.4000s/batch.ad", folder);
    status = pilot_order_read(folder, &pilot->order);
    if (status == STATUS_DONE && !(pilot->batch = cluster_read(path, &err))) {
        report("%s", err.text);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        status = pilot_live(pilot);
    if (*pilot->state)
        confined_remove(AT_FDCWD, pilot->state, &err);
    pilot_order_done(&pilot->order);
    cluster_free(pilot->batch);
    free(pilot);
    return status;
}
