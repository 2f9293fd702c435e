/* provider_stands_test.c: a provider tells matchmakers how its machine stands: what, when, how often, and what it makes of the answers. */
#include "suitor.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "pool/protocol/machine_state.h"

#define OTHER 3 /* another matchmaker */
#define WORDS_MAX 512
#define SLICE (100 * MILLISECOND)

/* What matchmakers have been told, and what they answer. */
struct ears {
    struct machine *m;
    struct message last;      /* as it left */
    int64_t times[WORDS_MAX]; /* when each was sent */
    uint32_t count, ads;      /* of all; of those with an ad */
    enum reason reason;       /* of all answers ... */
    enum reason bare;         /* ... and of those to words without an ad; OK: the same */
    bool older;               /* the matchmaker is older: it answers as it would a message that it does not know */
    bool deaf;                /* nothing is answered */
    agent only;               /* only what is sent there counts; 0: all */
};

static void stands_hear(struct ears *e, struct sent *sent)
{
    const struct stands *stands = &sent->message.u.stands;
    struct message got = {.kind = MESSAGE_GOT};

    if (!e->only || sent->to == e->only) {
        e->times[e->count++ % WORDS_MAX] = sent->at;
        e->ads += stands->ad != NULL;
        message_done(&e->last);
        message_copy(&e->last, &sent->message);
    }
    got.u.got.reason = e->older ? REASON_INVALID : stands->ad || !e->bare ? e->reason : e->bare;
    answer(e->m->w, sent, &got);
}

static void beats_hear(struct machine *m)
{
    struct sent *sent;

    while ((sent = sent_of(m->w, MESSAGE_BEAT))) {
        struct message beaten = {.kind = MESSAGE_BEATEN};

        beaten.u.beaten = (struct beaten){.claim = sent->message.u.beat.claim, .sent = sent->message.u.beat.sent};
        answer(m->w, sent, &beaten);
    }
}

static void listen(struct ears *e)
{
    struct sent *sent;

    while (!e->deaf && (sent = sent_of(e->m->w, MESSAGE_STANDS)))
        stands_hear(e, sent);
    beats_hear(e->m);
    if (e->m->w->agreeable)
        matchmaker_answers(e->m->w);
}

static void go(struct ears *e, int64_t span)
{
    listen(e);
    for (int64_t end = e->m->w->env.now + span; e->m->w->env.now < end;) {
        pass(e->m->w, end - e->m->w->env.now < SLICE ? end - e->m->w->env.now : SLICE);
        listen(e);
    }
}

static void ears_start(struct ears *e, struct machine *m, const char *text)
{
    *e = (struct ears){.m = m};
    machine_make(m, text);
    world_start(m->w);
    probe(m, AWAY);
    go(e, 6 * SECOND);
}

static void ears_free(struct ears *e, const char *what)
{
    message_done(&e->last);
    world_free(e->m->w, what);
}

static bool stands_as(struct ears *e, enum machine_state state)
{
    struct stands_view view;

    if (!provider_stands(e->m->w->role, 0, &view) || view.state != state || e->last.u.stands.state != state) {
        tap_diag("it is %s, and told as %s, not as %s", machine_state_word(view.state),
                 machine_state_word((enum machine_state)e->last.u.stands.state), machine_state_word(state));
        return false;
    }
    return true;
}

static bool told(struct ears *e, const char *expr)
{
    return ad_says(e->m->w, e->last.u.stands.told, expr);
}

/* When the first claim that is told must end; -1: nothing says so. */
static int64_t ends_of(struct ears *e)
{
    const struct expr *list = e->last.u.stands.told ? ad_find(e->last.u.stands.told, "Claims") : NULL;
    struct tree *row =
        list && list->u.run.count ? ad_part(e->last.u.stands.told, tree_parts(e->last.u.stands.told, list)) : NULL;
    int64_t ends = -1;

    if (row && !ad_integer(row, "Ends", &ends))
        ends = -1;
    tree_unref(row);
    return ends;
}

static struct suitor limited_new(struct machine *m, uint64_t claim, int limit)
{
    struct suitor s = suitor_new(m, claim, "raman");
    char text[200];

    snprintf(text, sizeof text,
             "[ Type = \"Job\"; Cpus = 3; Owner = \"raman\"; TimeLimit = %d; Constraint = other.Type == \"Machine\" ]",
             limit);
    s.ad = ad(m->w, text);
    return s;
}

/* ------------------------------------------------------------------------------------------------------- the states */

static void idle_part_busy(void)
{
    struct machine m;
    struct ears e;
    struct suitor s, second;

    ears_start(&e, &m, SHARED);
    tap_ok(e.count == 1 && stands_as(&e, MACHINE_IDLE), "an idle machine says so once");
    tap_ok(!e.last.u.stands.told && !e.last.u.stands.ad && !e.last.u.stands.base,
           "and leaves the rest to its offer, which says it all");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_PART) && e.ads == 1, "a machine that is used in part says so, with its whole ad");
    tap_ok(ad_says(m.w, e.last.u.stands.ad ? e.last.u.stands.ad : m.ads[0], "Cpus == 8"),
           "in which nothing is given away");
    tap_ok(
        told(
            &e,
            "Used.Cpus == 3 && size(Claims) == 1 && Claims[0].Job == 5 && Claims[0].Cpus == 3 && isUndefined(Claims[0].Ends)"),
        "what is in use, by which claim; and no end where nothing says one");
    second = suitor_new(&m, 2, "raman");
    second.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 5; Owner = \"raman\"; Constraint = true ]");
    come_to_run(&m, &second, 6);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_BUSY) && told(&e, "Used.Cpus == 8 && size(Claims) == 2"),
           "a machine without room is busy, and not gone");
    say_release(&m, &s);
    job_news(&m, 1, 1, JOB_GONE, REASON_OK, 0);
    say_release(&m, &second);
    job_news(&m, 2, 1, JOB_GONE, REASON_OK, 0);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_IDLE) && !e.last.u.stands.told, "and idle again when all is over");
    ears_free(&e, "idle, part, busy");
}

/* Who has only heard an offer takes it for the whole machine: what is left of it must not come before the word that says what the whole is. */
static void whole_before_rest(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;
    struct sent *word, *rest;

    ears_start(&e, &m, SHARED);
    s = suitor_new(&m, 1, "raman");
    tap_ok(e.count == 1 && !e.last.u.stands.base, "an idle machine has just leant on its offer");
    m.w->agreeable = false;
    match(&m, &s, 1);
    word = sent_of(m.w, MESSAGE_STANDS);
    rest = sent_of(m.w, MESSAGE_ADVERTISE);
    tap_ok(word && word->message.u.stands.ad && ad_says(m.w, word->message.u.stands.ad, "Cpus == 8"),
           "when it is matched, the word with its whole ad leaves at once");
    tap_ok(word && rest && word < rest && ad_says(m.w, rest->message.u.advertise.ad, "Cpus == 5"),
           "before the ad of what is left");
    m.w->agreeable = true;
    for (int i = 0; i < 1000 && (i < 10 || e.last.u.stands.state != MACHINE_IDLE); i++)
        go(&e, SLICE);
    tap_ok(stands_as(&e, MACHINE_IDLE) && !e.last.u.stands.base, "when nobody came, it is idle again");
    s = suitor_new(&m, 2, "raman");
    match(&m, &s, 2);
    word = sent_of(m.w, MESSAGE_STANDS);
    tap_ok(word && word->message.u.stands.ad, "and matched right after it said so, it says the whole at once again");
    go(&e, 6 * SECOND);
    ears_free(&e, "the whole before the rest");
}

static void whole_in_use(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;

    ears_start(&e, &m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    match(&m, &s, 1);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_BUSY) && told(&e, "Used.Memory == 64 && size(Claims) == 0"),
           "a match counts as use before it is a claim");
    go(&e, m.w->spans.window + 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_IDLE), "and not any more when nobody came");
    ears_free(&e, "a match");

    ears_start(&e, &m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    go(&e, 10 * SECOND);
    s = suitor_new(&m, 2, "raman");
    match(&m, &s, 1);
    go(&e, 6 * SECOND);
    tap_ok(told(&e, "Used.Cpus == 6 && size(Claims) == 1"), "nor does a part that was only matched");
    go(&e, m.w->spans.window + 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_PART) && told(&e, "Used.Cpus == 3"), "stay in use when nobody came");
    ears_free(&e, "a match of a part");
}

static void owner(void)
{
    struct machine m;
    struct ears e;

    ears_start(&e, &m, OWNED);
    probe(&m, TYPING);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_OWNER) && e.last.u.stands.until == -1 && e.ads == 1,
           "a machine whose owner is there says so; the time alone does not end that");
    tap_ok(told(&e, "regexp(\"KeybrdIdle\", Words)"), "and which clause lets nobody in");
    probe(&m, AWAY);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_IDLE), "and is idle when its owner goes");
    ears_free(&e, "an owner");

    ears_start(&e, &m, "[ Type = \"Machine\"; Constraint = DayTime() > '18:00' && other.Type == \"Job\" ]");
    tap_ok(stands_as(&e, MACHINE_OWNER) && e.last.u.stands.sure && e.last.u.stands.until > 6 * HOUR - 10 * SECOND &&
               e.last.u.stands.until <= 6 * HOUR + 2 * SECOND,
           "a machine of the night says until when, as a span");
    pass_until(m.w, 18, 0, 10);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_IDLE), "and is idle then");
    ears_free(&e, "night");
}

static void load_of_its_own_jobs(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;

    ears_start(&e, &m, "[ Type = \"Machine\"; Constraint = other.Type == \"Job\"; Start = LoadAvg < 0.3 ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    go(&e, 6 * SECOND);
    probe(&m, BUSY);
    go(&e, 10 * SECOND);
    tap_ok(stands_as(&e, MACHINE_BUSY), "the load that its jobs make is not its owner's");
    say_release(&m, &s);
    job_news(&m, 1, 1, JOB_GONE, REASON_OK, 0);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_OWNER), "the same load without them is");
    ears_free(&e, "load");
}

static void drained_and_sick(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;
    uint32_t count;

    ears_start(&e, &m, SHARED);
    happen(m.w, &(struct event){.kind = EVENT_DRAIN});
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_DRAINED), "a machine that was told to take no more says so");
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.04; Unwell = \"no room\" ]");
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_SICK) && told(&e, "Words == \"no room\""),
           "that it cannot run jobs comes first, with what it lacks");
    probe(&m, AWAY);
    happen(m.w, &(struct event){.kind = EVENT_RESUME});
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_IDLE), "and is idle when both are over");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    job_news(&m, 1, 1, JOB_EXITED, REASON_FAULT, 0);
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_SICK) && told(&e, "Words == \"a job could not be run\""),
           "a machine at whose fault a job came to nothing is sick");
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.04; Unwell = \"no room\" ]");
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_SICK) && told(&e, "Words == \"no room\""),
           "and what ails it is told when it is found out");
    count = e.count;
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.05; Unwell = \"no room\" ]");
    go(&e, 6 * SECOND);
    tap_ok(e.count == count, "once");
    ears_free(&e, "drained and sick");
}

static void leaves_for_good(void)
{
    struct machine m;
    struct ears e;
    uint64_t before;
    uint32_t count;

    ears_start(&e, &m, SHARED);
    before = e.last.u.stands.version;
    tap_ok(!provider_told_gone(m.w->role), "a machine that stays has told nobody that it leaves");
    happen(m.w, &(struct event){.kind = EVENT_DRAIN});
    happen(m.w, &(struct event){.kind = EVENT_GONE});
    go(&e, SECOND);
    tap_ok(e.last.u.stands.gone && e.last.u.stands.version > before && provider_told_gone(m.w->role),
           "one that leaves for good says so");
    count = e.count;
    probe(&m, AWAY);
    go(&e, HOUR);
    tap_ok(e.count == count, "and nothing after that");
    ears_free(&e, "leaves for good");
}

/* An answer to what was said before is not one to the farewell. */
static void leaves_while_it_speaks(void)
{
    struct machine m;
    struct ears e;
    struct sent *sent;

    ears_start(&e, &m, SHARED);
    e.deaf = true;
    happen(m.w, &(struct event){.kind = EVENT_DRAIN});
    go(&e, 6 * SECOND);
    happen(m.w, &(struct event){.kind = EVENT_GONE});
    sent = sent_of(m.w, MESSAGE_STANDS);
    if (sent && !sent->message.u.stands.gone)
        stands_hear(&e, sent);
    tap_ok(e.last.u.stands.state == MACHINE_DRAINED && !e.last.u.stands.gone && !provider_told_gone(m.w->role),
           "a machine that speaks when it leaves waits until its farewell is heard");
    e.deaf = false;
    go(&e, SECOND);
    tap_ok(e.last.u.stands.gone && provider_told_gone(m.w->role), "and then it has told all");
    ears_free(&e, "leaves while it speaks");
}

/* ------------------------------------------------------------------------------------------------------ the pace */

static bool is_paced(const struct ears *e, int64_t least)
{
    for (uint32_t i = 1; i < e->count && i < WORDS_MAX; i++)
        if (e->times[i] - e->times[i - 1] < least)
            return false;
    return e->count > 1;
}

static void paced(void)
{
    struct machine m;
    struct ears e;

    ears_start(&e, &m, OWNED);
    for (int i = 0; i < 100; i++) {
        probe(&m, i % 2 ? AWAY : TYPING);
        go(&e, 500 * MILLISECOND);
    }
    tap_ok(is_paced(&e, 5 * SECOND) && e.count >= 9 && e.count <= 12,
           "a machine that changes twice a second is told of every five");
    go(&e, 6 * SECOND);
    tap_ok(stands_as(&e, MACHINE_IDLE), "and its last state is told");
    ears_free(&e, "pace");

    ears_start(&e, &m, "[ Type = \"Machine\"; Constraint = random(10) > 100 && other.Type == \"Job\" ]");
    e.count = 0;
    for (int i = 0; i < 60; i++) {
        probe(&m, i % 2 ? AWAY : BUSY);
        go(&e, 5 * SECOND);
    }
    tap_ok(e.count <= 6, "a time that is not sure is not told at each look: %u words in a lifetime", e.count);
    ears_free(&e, "a time that is not sure");
}

static void renewed(void)
{
    struct machine m;
    struct ears e;

    ears_start(&e, &m, OWNED);
    e.count = 0;
    go(&e, 3 * m.w->spans.lifetime);
    tap_ok(e.count == 0, "an idle machine that is offered says nothing more: its renewals do");
    probe(&m, TYPING);
    go(&e, 6 * SECOND);
    e.count = e.ads = 0;
    go(&e, 4 * m.w->spans.lifetime);
    tap_ok(e.count >= 8 && e.count <= 11,
           "without an offer it is told twice a lifetime, or somewhat more often: %u in four", e.count);
    tap_ok(e.ads == 0, "without its ad, which is known");
    for (int i = 0; i < 40; i++) {
        char text[80];

        snprintf(text, sizeof text, "[ KeybrdIdle = '00:00:02'; LoadAvg = 0.0%d ]", i);
        probe(&m, text);
        go(&e, m.w->spans.lifetime / 10);
    }
    tap_ok(e.ads >= 2 && e.ads <= 4,
           "when only probed values move, the ad is told once a lifetime at most: %u times in four", e.ads);
    ears_free(&e, "renewals");

    ears_start(&e, &m, "[ Type = \"Machine\"; Lifetime = 60; Constraint = KeybrdIdle > '00:15' ]");
    probe(&m, TYPING);
    go(&e, 6 * SECOND);
    e.count = 0;
    go(&e, 300 * SECOND);
    tap_ok(e.count >= 10 && e.count <= 14, "the lifetime that its ad names counts, when it is shorter: %u in five",
           e.count);
    ears_free(&e, "a short lifetime");
}

/* Reports that nobody answers keep nothing. */
static void reports_fail(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;

    ears_start(&e, &m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    go(&e, 12 * SECOND);
    e.count = 0;
    m.w->agreeable = false;
    go(&e, 2 * m.w->spans.lifetime);
    tap_ok(e.count >= 4, "a machine whose reports nobody answers is told twice a lifetime: %u in two", e.count);
    ears_free(&e, "reports fail");
}

static void part_is_kept_fresh(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;

    ears_start(&e, &m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    go(&e, 12 * SECOND);
    e.count = e.ads = 0;
    go(&e, 2 * m.w->spans.lifetime);
    tap_ok(e.count == 0, "a machine that is used in part, and offered, says nothing while nothing changes");
    for (int i = 0; i < 20; i++) {
        char text[80];

        snprintf(text, sizeof text, "[ KeybrdIdle = '01:00'; LoadAvg = 0.%d ]", i % 9 + 1);
        probe(&m, text);
        go(&e, m.w->spans.lifetime / 10);
    }
    tap_ok(e.count == e.ads && e.ads >= 1 && e.ads <= 3, "and its whole ad once a lifetime when that moves: %u in two",
           e.ads);
    ears_free(&e, "a part");
}

/* ------------------------------------------------------------------------------------------------------- the answers */

static void body_is_needed(void)
{
    struct machine m;
    struct ears e;

    ears_start(&e, &m, OWNED);
    probe(&m, TYPING);
    go(&e, 6 * SECOND);
    e.count = e.ads = 0;
    e.bare = REASON_BODY;
    go(&e, m.w->spans.lifetime / 2 + SECOND);
    tap_ok(e.count == 2 && e.ads == 1 && e.last.u.stands.ad, "asked for its whole ad, it tells it at once");
    e.reason = REASON_BODY;
    e.count = 0;
    go(&e, 3 * m.w->spans.lifetime);
    tap_ok(e.count <= 10, "one who always asks for it does not make it spin: %u words in three lifetimes", e.count);
    ears_free(&e, "the whole ad");

    *(&e) = (struct ears){.m = &m, .bare = REASON_BODY};
    machine_make(&m, PLAIN);
    world_start(m.w);
    probe(&m, AWAY);
    go(&e, 6 * SECOND);
    tap_ok(e.count == 2 && e.ads == 1 && stands_as(&e, MACHINE_IDLE),
           "an idle machine whose offer is not there yet tells its ad");
    ears_free(&e, "the offer is not there");
}

static void older_matchmaker(void)
{
    struct machine m;
    struct ears e = {.m = &m, .older = true};
    struct suitor s;

    machine_make(&m, SHARED);
    world_start(m.w);
    probe(&m, AWAY);
    go(&e, 3 * m.w->spans.lifetime);
    tap_ok(e.count >= 3 && e.count <= 4, "an older matchmaker is told again after a lifetime: %u words in three",
           e.count);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    e.count = 0;
    go(&e, 3 * m.w->spans.lifetime);
    tap_ok(e.count >= 2 && e.count <= 4, "whatever the machine does meanwhile: %u in three", e.count);
    e.older = false;
    go(&e, m.w->spans.lifetime + SECOND);
    tap_ok(stands_as(&e, MACHINE_PART) && e.last.u.stands.ad, "until it understands");
    ears_free(&e, "an older matchmaker");
}

static void nobody_answers(void)
{
    struct machine m;
    struct ears e;

    ears_start(&e, &m, OWNED);
    e.deaf = true;
    probe(&m, TYPING);
    go(&e, 2 * m.w->spans.lifetime);
    e.deaf = false;
    e.count = 0;
    go(&e, 2 * m.w->spans.deadline);
    tap_ok(stands_as(&e, MACHINE_OWNER) && e.count >= 1 && e.count <= 2, "what nobody answered is told again");
    e.reason = REASON_STALE;
    probe(&m, AWAY);
    go(&e, 6 * SECOND);
    e.reason = REASON_OK;
    go(&e, m.w->spans.lifetime);
    tap_ok(stands_as(&e, MACHINE_IDLE) && e.last.u.stands.version >> 32 > 1,
           "a word that is said to be old is told again, as of a later life");
    ears_free(&e, "nobody answers");
}

static void matchmaker_anew(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;
    uint32_t count;

    ears_start(&e, &m, SHARED);
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    go(&e, 6 * SECOND);
    tap_ok(e.count == 1, "a matchmaker that has begun anew is told of an idle machine by its offer alone");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    go(&e, 12 * SECOND);
    e.count = e.ads = 0;
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    go(&e, 6 * SECOND);
    tap_ok(e.count == 1 && e.ads == 1 && stands_as(&e, MACHINE_PART), "and of any other by its word, whole");
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER + 77});
    go(&e, 6 * SECOND);
    tap_ok(e.count == 1, "but not one who knows nothing of it");
    /* what is under way when the matchmaker begins anew may be answered by the one before */
    e.deaf = true;
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.04; Unwell = \"no room\" ]");
    go(&e, SECOND);
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    e.deaf = false;
    e.count = e.ads = 0;
    go(&e, SECOND);
    count = e.count;
    go(&e, 6 * SECOND);
    tap_ok(count == 2 && e.count == 2 && e.ads == 1 && stands_as(&e, MACHINE_SICK),
           "what was under way then is told again");
    /* and what is under way without the ad may be answered that it is needed */
    e.deaf = true;
    probe(&m, AWAY);
    go(&e, SECOND);
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    e.deaf = false;
    e.bare = REASON_BODY;
    e.count = e.ads = 0;
    go(&e, 6 * SECOND);
    tap_ok(e.count == 2 && e.ads == 1 && stands_as(&e, MACHINE_PART), "with the whole ad, if that was asked for");
    ears_free(&e, "a matchmaker begins anew");
}

/* Who is told that the agent is new may have known it before, and what it was told. */
static void matchmaker_same(void)
{
    struct machine m;
    struct ears e;

    ears_start(&e, &m, SHARED);
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.04; Unwell = \"no room\" ]");
    go(&e, 12 * SECOND);
    tap_ok(stands_as(&e, MACHINE_SICK), "a machine is sick");
    happen(m.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    answer(m.w, sent_of(m.w, MESSAGE_STANDS), NULL); /* nobody knows whether it came */
    probe(&m, AWAY);
    go(&e, 4 * m.w->spans.deadline);
    tap_ok(stands_as(&e, MACHINE_IDLE),
           "that it is well again is told, though its last word to that matchmaker was lost");
    ears_free(&e, "a matchmaker that has not begun anew");
}

/* The database of a matchmaker of before was away for a while. */
static void matchmaker_undecided(void)
{
    struct machine m;
    struct ears e;

    ears_start(&e, &m, SHARED);
    e.reason = REASON_WAIT;
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.04; Unwell = \"no room\" ]");
    go(&e, 30 * SECOND);
    e.reason = REASON_OK;
    e.count = 0;
    go(&e, 2 * m.w->spans.deadline);
    tap_ok(e.count >= 1 && stands_as(&e, MACHINE_SICK), "what nothing was decided of is told again soon");
    ears_free(&e, "a matchmaker that cannot decide");
}

static void provider_anew(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;
    uint64_t version;

    ears_start(&e, &m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 5);
    go(&e, 12 * SECOND);
    version = e.last.u.stands.version;
    world_restart(m.w, false, SECOND);
    probe(&m, AWAY);
    e.count = 0;
    go(&e, 6 * SECOND);
    tap_ok(e.count >= 1 && stands_as(&e, MACHINE_IDLE) && e.last.u.stands.version > version,
           "the first word of a new life replaces what the one before has told");
    ears_free(&e, "a provider begins anew");
}

/* --------------------------------------------------------------------------------------------------------- claims */

static void ends(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;
    int64_t first;

    ears_start(&e, &m, PLAIN);
    s = limited_new(&m, 1, 3000);
    come_to_run(&m, &s, 5);
    go(&e, 6 * SECOND);
    first = ends_of(&e);
    tap_ok(first >= 2993 && first <= 3000, "a claim is told with the end of its job's time");
    e.count = 0;
    go(&e, 2 * m.w->spans.lifetime);
    tap_ok(ends_of(&e) >= 2400 && ends_of(&e) <= first - 290, "which comes nearer");
    tap_ok(e.count >= 2 && e.count <= 3, "a machine whose claims are reported is told once a lifetime: %u in two",
           e.count);
    m.w->env.wall -= 100 * HOUR;
    go(&e, m.w->spans.lifetime);
    tap_ok(ends_of(&e) >= 0 && ends_of(&e) <= 3000,
           "and never lies beyond the job's limit, whatever the clock on the wall says");
    m.w->env.wall += 100 * HOUR;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    go(&e, m.w->spans.lifetime / 2 + 5 * SECOND);
    tap_ok(stands_as(&e, MACHINE_BUSY) && ends_of(&e) == -1, "a claim without a job has none");
    say_activate(&m, &s, s.ad);
    say_start(&m, &s, 2, 6);
    e.count = 0;
    go(&e, m.w->spans.lifetime / 2 + 5 * SECOND);
    tap_ok(e.count <= 2 && ends_of(&e) >= 2700 && ends_of(&e) <= 3000 && told(&e, "Claims[0].Job == 6"),
           "the next job under it is told with its own, at the pace of renewals");
    ears_free(&e, "ends");
}

static void short_jobs_are_not_told_of(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;

    ears_start(&e, &m, PLAIN);
    s = limited_new(&m, 1, 400);
    come_to_run(&m, &s, 5);
    go(&e, 12 * SECOND);
    e.count = 0;
    for (uint64_t number = 2; number < 60; number++) {
        job_news(&m, 1, number - 1, JOB_EXITED, REASON_EXITED, 0);
        say_activate(&m, &s, s.ad);
        say_start(&m, &s, number, 5 + number);
        go(&e, 5 * SECOND);
    }
    tap_ok(e.count >= 1 && e.count <= 4,
           "many short jobs under one claim cost no more words than one long one: %u in a lifetime", e.count);
    ears_free(&e, "short jobs");
}

static void hostile_numbers(void)
{
    struct machine m;
    struct ears e;
    struct suitor s;

    ears_start(&e, &m,
               "[ Type = \"Machine\"; Cpus = 9223372036854775807; Memory = 1.0e300; Disk = -1.0e300; "
               "Constraint = other.Type == \"Job\" ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Type = \"Job\"; Owner = \"raman\"; TimeLimit = 9223372036853; Constraint = true ]");
    come_to_run(&m, &s, 5);
    go(&e, 12 * SECOND);
    tap_ok(stands_as(&e, MACHINE_BUSY) && told(&e, "Used.Memory > 1.0e299 && Used.Disk < 0"),
           "amounts and limits may be as large as they like");
    tap_ok(ends_of(&e) > 9223372036000, "also the time that is left");
    ears_free(&e, "large numbers");
}

/* ------------------------------------------------------------------------------------------------------ several pools */

static void several_pools(void)
{
    struct provider_pool pools[2] = {{.matchmaker = MATCHMAKER}, {.matchmaker = OTHER}};
    struct machine m;
    struct ears e = {.m = &m, .only = MATCHMAKER};
    struct message pulled = {.kind = MESSAGE_PULLED};
    struct suitor s;
    struct sent *sent;
    struct key key;

    machine_make(&m, PLAIN);
    m.settings.pools = pools;
    m.settings.pool_count = 2;
    world_start(m.w);
    probe(&m, AWAY);
    s = suitor_new(&m, 1, "raman");
    sent = sent_of(m.w, MESSAGE_PULL);
    if (!tap_ok(sent && sent->to == MATCHMAKER, "a provider pulls from the first of its pools"))
        return;
    key = sent->message.u.pull.key;
    s.key = &key;
    pulled.u.pulled = (struct pulled){.id = OFFER,
                                      .number = sent->message.u.pull.number,
                                      .reason = REASON_OK,
                                      .incarnation = INCARNATION,
                                      .window = m.w->spans.window,
                                      .gang = s.gang,
                                      .claim = s.claim,
                                      .superior = s.peer.agent,
                                      .superior_ad = s.ad};
    answer(m.w, sent, &pulled);
    come_to_run(&m, &s, 5);
    go(&e, 12 * SECOND);
    tap_ok(stands_as(&e, MACHINE_BUSY) && e.last.u.stands.pulls &&
               told(&e, "size(Claims) == 1 && isUndefined(Elsewhere)"),
           "a pool is told of its own claims, and that the machine pulls");
    e.only = OTHER;
    go(&e, m.w->spans.lifetime);
    tap_ok(stands_as(&e, MACHINE_BUSY) && told(&e, "size(Claims) == 0 && Elsewhere == 1 && Used.Memory == 64"),
           "another only how many there are elsewhere, and what they take");
    message_done(&e.last);
    world_free(m.w, "several pools");
}

int main(void)
{
    idle_part_busy();
    whole_before_rest();
    whole_in_use();
    owner();
    load_of_its_own_jobs();
    drained_and_sick();
    leaves_for_good();
    leaves_while_it_speaks();
    paced();
    renewed();
    reports_fail();
    part_is_kept_fresh();
    body_is_needed();
    older_matchmaker();
    nobody_answers();
    matchmaker_anew();
    matchmaker_same();
    matchmaker_undecided();
    provider_anew();
    ends();
    short_jobs_are_not_told_of();
    hostile_numbers();
    several_pools();
    return tap_done();
}
