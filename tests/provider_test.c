/* provider_test.c: a machine's agent offers it, lets itself be claimed by whom its owner accepts, and obeys its leases.
 *
 * The customer's part is scripted: a *suitor* proves its ticket, commits, activates, starts and releases as told. */
#include "agent.h"

#include "pool/provider.h"

#define OFFER 70 /* the id of the first offer's ad */
#define PLAIN "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" ]"
#define SHARED                                                                      \
    "[ Type = \"Machine\"; Cpus = 8; Constraint = Cpus > 0 && other.Cpus <= Cpus; " \
    "Residual = [ Cpus = Cpus - other.Cpus ] ]"
#define OWNED "[ Type = \"Machine\"; Constraint = KeybrdIdle > '00:15' && other.Type == \"Job\" ]"
#define KEPT                                                                                        \
    "[ Type = \"Machine\"; Memory = 64; Preemption = true; Rank = other.Owner == \"ada\" ? 2 : 1; " \
    "Constraint = other.Type == \"Job\" ]"
#define KEPT_SHARED                                                                              \
    "[ Type = \"Machine\"; Cpus = 8; Preemption = true; Rank = other.Owner == \"ada\" ? 2 : 1; " \
    "Constraint = Cpus > 0 && other.Cpus <= Cpus; Residual = [ Cpus = Cpus - other.Cpus ] ]"
#define AWAY "[ KeybrdIdle = '01:00'; LoadAvg = 0.04 ]"
#define TYPING "[ KeybrdIdle = '00:00:02'; LoadAvg = 0.04 ]"
#define BUSY "[ KeybrdIdle = '01:00'; LoadAvg = 0.9 ]"

struct machine {
    struct world *w;
    struct provider_settings settings;
    uint64_t ids[2];
    struct tree *ads[2];
};

/* ------------------------------------------------------------------------------------------------------ the machine */

static void probe(struct machine *m, const char *text)
{
    struct event event = {.kind = EVENT_PROBED, .ad = text ? ad(m->w, text) : NULL};

    happen(m->w, &event);
}

static void machine_make(struct machine *m, const char *text)
{
    *m = (struct machine){.ids = {OFFER, OFFER + 1}};
    m->w = world_new(&provider_role, &m->settings);
    m->ads[0] = ad(m->w, text);
    m->settings = (struct provider_settings){.self = SELF,
                                             .matchmaker = MATCHMAKER,
                                             .spans = &m->w->spans,
                                             .identity = "prof",
                                             .ids = m->ids,
                                             .ads = m->ads,
                                             .count = 1};
}

/* A machine of that text, with its owner away, advertised at noon. */
static void machine_start(struct machine *m, const char *text)
{
    machine_make(m, text);
    world_start(m->w);
    probe(m, AWAY);
}

struct search {
    uint64_t claim;
    struct tenant_view view;
    bool found;
    uint32_t count;
};

static void tenant_look(void *user, const struct tenant_view *tenant)
{
    struct search *search = user;

    search->count++;
    if (tenant->claim != search->claim)
        return;
    search->view = *tenant;
    search->found = true;
}

static struct search look(struct machine *m, uint64_t claim)
{
    struct search search = {.claim = claim};

    provider_each(m->w->role, tenant_look, &search);
    return search;
}

static bool holds(struct machine *m, uint64_t claim, enum tenant_state state)
{
    struct search search = look(m, claim);

    return search.found && search.view.state == state;
}

static bool is_free(struct machine *m, uint64_t claim)
{
    return !look(m, claim).found;
}

static bool advertises(struct machine *m, const char *expr)
{
    return m->w->put.kind == MESSAGE_ADVERTISE && ad_says(m->w, m->w->put.u.advertise.ad, expr);
}

/* ------------------------------------------------------------------------------------------------------- the suitor */

struct suitor {
    struct peer peer;
    uint64_t claim, gang, offer;
    uint64_t port, link;
    const char *owner;      /* in its ticket */
    const char *root_owner; /* NULL: it is the root itself */
    bool false_root;        /* its ticket says nothing of that owner */
    const struct key *key;  /* that it was made with; NULL: the one that was advertised last */
    struct tree *ad;
    struct key nonce, theirs;
    uint64_t epoch, sequence;
    struct verified heard;
};

static struct suitor suitor_new(struct machine *m, uint64_t claim, const char *owner)
{
    char text[200];

    snprintf(text, sizeof text, "[ Type = \"Job\"; Cpus = 3; Owner = \"%s\"; Constraint = other.Type == \"Machine\" ]",
             owner);
    return (struct suitor){.peer = {.agent = 50, .identity = "agent", .any = true, .channel = 500},
                           .claim = claim,
                           .gang = claim + 1000,
                           .offer = OFFER,
                           .owner = owner,
                           .ad = ad(m->w, text),
                           .nonce = {{(unsigned char)claim, 1, 2, 3}},
                           .epoch = 1};
}

static enum reason suitor_verifies(struct machine *m, struct suitor *s, const struct key *proof)
{
    struct message verify = {.kind = MESSAGE_VERIFY};
    const struct message *heard;

    verify.u.verify = (struct verify){.gang = s->gang,
                                      .claim = s->claim,
                                      .offer = s->offer,
                                      .port = s->port,
                                      .link = s->link,
                                      .proves = proof != NULL,
                                      .nonce = s->nonce,
                                      .proof = proof ? *proof : (struct key){{0}},
                                      .ad = s->ad};
    if (s->root_owner)
        text_set(&verify.u.verify.root_owner, s->root_owner, strlen(s->root_owner));
    heard = say(m->w, &s->peer, &verify);
    s->heard = heard->kind == MESSAGE_VERIFIED ? heard->u.verified : (struct verified){.reason = REASON_COUNT};
    return s->heard.reason;
}

static enum reason challenge(struct machine *m, struct suitor *s)
{
    enum reason reason = suitor_verifies(m, s, NULL);

    s->theirs = s->heard.nonce;
    return reason;
}

static struct key proof_of(struct machine *m, const struct suitor *s, bool from_customer)
{
    const struct key *key = s->key ? s->key : &m->w->put.u.advertise.key;
    struct key ticket, proof;

    ticket_make_below(&m->w->secrets, key, s->offer, s->claim, s->gang, s->owner,
                      s->root_owner && !s->false_root ? s->root_owner : "", &ticket);
    ticket_proof(&m->w->secrets, &ticket, from_customer, &s->theirs, &s->nonce, s->peer.channel, &proof);
    return proof;
}

static enum reason prove(struct machine *m, struct suitor *s)
{
    struct key proof = proof_of(m, s, true);

    return suitor_verifies(m, s, &proof);
}

static enum reason verify(struct machine *m, struct suitor *s)
{
    enum reason reason = challenge(m, s);

    return reason == REASON_CHALLENGE ? prove(m, s) : reason;
}

static enum reason say_commit(struct machine *m, struct suitor *s)
{
    struct message commit = {.kind = MESSAGE_COMMIT};

    commit.u.commit = (struct commit){s->claim, s->epoch, ++s->sequence, m->w->spans.pin / 4};
    return reason_of(say(m->w, &s->peer, &commit));
}

static enum reason say_activate(struct machine *m, struct suitor *s, struct tree *unit)
{
    struct message activate = {.kind = MESSAGE_ACTIVATE};

    activate.u.activate = (struct activate){s->claim, s->epoch, ++s->sequence, unit};
    return reason_of(say(m->w, &s->peer, &activate));
}

static enum reason say_start(struct machine *m, struct suitor *s, uint64_t number, uint64_t job)
{
    struct message start = {.kind = MESSAGE_START};

    start.u.start = (struct start){
        .claim = s->claim, .epoch = s->epoch, .sequence = ++s->sequence, .job = job, .number = number, .ad = s->ad};
    return reason_of(say(m->w, &s->peer, &start));
}

static enum reason say_release(struct machine *m, struct suitor *s)
{
    struct message release = {.kind = MESSAGE_RELEASE};

    release.u.release = (struct release){s->claim, s->epoch, ++s->sequence};
    return reason_of(say(m->w, &s->peer, &release));
}

static enum reason say_abort(struct machine *m, struct suitor *s)
{
    struct message abort = {.kind = MESSAGE_ABORT, .u.abort = {s->claim}};

    return reason_of(say(m->w, &s->peer, &abort));
}

static struct attached say_attach(struct machine *m, struct suitor *s, uint64_t epoch)
{
    struct message attach = {.kind = MESSAGE_ATTACH, .u.attach = {s->claim, epoch}};
    const struct message *heard = say(m->w, &s->peer, &attach);

    return heard->kind == MESSAGE_ATTACHED ? heard->u.attached : (struct attached){.reason = REASON_COUNT};
}

/* The path to each state, as a customer goes it. */
static void come_to(struct machine *m, struct suitor *s, enum tenant_state state)
{
    verify(m, s);
    if (state >= TENANT_PINNED)
        say_commit(m, s);
    if (state >= TENANT_CLAIMED)
        say_activate(m, s, NULL);
}

static void come_to_run(struct machine *m, struct suitor *s, uint64_t job)
{
    come_to(m, s, TENANT_CLAIMED);
    say_start(m, s, 1, job);
}

static void match(struct machine *m, struct suitor *s, uint64_t number)
{
    struct message match = {.kind = MESSAGE_MATCH};
    struct peer matchmaker = {.agent = MATCHMAKER, .identity = "matchmaker", .channel = 1};

    match.u.match_told = (struct match_told){.id = s->offer,
                                             .incarnation = INCARNATION,
                                             .number = number,
                                             .window = m->w->spans.window,
                                             .gang = s->gang,
                                             .claim = s->claim,
                                             .superior = s->peer.agent,
                                             .superior_ad = s->ad,
                                             .port = s->port,
                                             .link = s->link};
    say(m->w, &matchmaker, &match);
}

/* Answers the heart beats of the claim that are under way. */
static bool beat_back(struct machine *m, struct suitor *s)
{
    struct sent *sent = sent_of(m->w, MESSAGE_BEAT);
    struct message beaten = {.kind = MESSAGE_BEATEN};
    bool any = sent != NULL;

    while (sent) {
        beaten.u.beaten = (struct beaten){.claim = s->claim, .sent = sent->message.u.beat.sent};
        answer(m->w, sent, &beaten);
        sent = sent_of(m->w, MESSAGE_BEAT);
    }
    return any;
}

/* That span passes, and a customer answers every heart beat. */
static void pass_beating(struct machine *m, struct suitor *s, int64_t span)
{
    for (int64_t end = m->w->env.now + span; m->w->env.now < end;) {
        pass(m->w, end - m->w->env.now < SECOND ? end - m->w->env.now : SECOND);
        beat_back(m, s);
    }
}

static void job_news(struct machine *m, uint64_t claim, uint64_t number, enum job_news news, enum reason reason,
                     int64_t status)
{
    struct event event = {.kind = EVENT_JOB,
                          .news = news,
                          .claim = claim,
                          .number = number,
                          .reason = reason,
                          .status = status,
                          .used = 5 * SECOND};

    launcher_drop(m->w, claim);
    happen(m->w, &event);
}

/* Answers the oldest of that kind with CLAIMED and that reason. */
static bool answer_claimed(struct machine *m, enum message_kind kind, uint64_t claim, enum reason reason)
{
    struct sent *sent = sent_of(m->w, kind);
    struct message claimed = {.kind = MESSAGE_CLAIMED, .u.claimed = {claim, 1, reason}};

    if (sent)
        answer(m->w, sent, &claimed);
    return sent != NULL;
}

static bool told_lost(struct machine *m, uint64_t claim)
{
    struct sent *left = sent_of(m->w, MESSAGE_LEFT), *result = sent_of(m->w, MESSAGE_RESULT);

    return (left && left->message.u.left.claim == claim && left->message.u.left.reason == REASON_LOST) ||
           (result && result->message.u.result.claim == claim && result->message.u.result.reason == REASON_LOST);
}

/* Is a job of that owner accepted now? The claim is not pursued. */
static enum reason accepts(struct machine *m, const char *owner)
{
    struct suitor s = suitor_new(m, 9000 + m->w->token, owner);
    enum reason reason = verify(m, &s);

    if (reason == REASON_OK)
        say_abort(m, &s);
    return reason;
}

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

    day_of("tests/figures/thesis-04-meant.ad", "figure 4 as meant", meant, sizeof meant / sizeof *meant);
    day_of("tests/figures/thesis-04.ad", "figure 4 as printed", printed, sizeof printed / sizeof *printed);
}

/* A workstation without friends takes others at night only. */
static void figure_at_night(void)
{
    struct machine m;
    uint32_t puts;

    figure_start(&m, "tests/figures/thesis-04-meant.ad", true);
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
    char *text = figure("tests/figures/thesis-04-meant.ad", true);

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

static bool key_is_set(const struct key *key)
{
    static const struct key none;

    return !key_equal(key, &none);
}

static void advertised_and_renewed(void)
{
    struct machine m;
    struct advertise first;
    uint32_t puts;

    machine_start(&m, PLAIN);
    first = m.w->put.u.advertise;
    tap_ok(m.w->puts > 0 && first.id == OFFER && !first.request && first.version && advertises(&m, "Memory == 64"),
           "a provider puts the whole text of its ad in first");
    tap_ok(advertises(&m, "Owner == \"prof\""), "its ad names its owner");
    tap_ok(advertises(&m, "LoadAvg < 0.1"), "what the probe tells is in the ad");
    tap_ok(key_is_set(&first.key), "the key of its tickets goes beside the ad");
    for (int i = 0; i < 12; i++) {
        uint32_t bares = m.w->bares;

        pass(m.w, m.w->spans.lifetime);
        if (m.w->bares == bares)
            world_blame(m.w, "an ad was not renewed within its lifetime", "");
    }
    tap_ok(m.w->bares >= 12 && m.w->repeats == 0,
           "an ad that stays is renewed within its lifetime, and without its text unless the key has moved");
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

/* ----------------------------------------------------------------------------------------------------------- verify */

static void tickets(void)
{
    struct machine m;
    struct suitor s, other;
    struct key proof, flipped, theirs;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    tap_ok(challenge(&m, &s) == REASON_CHALLENGE && key_is_set(&s.theirs),
           "who would verify without a match is challenged all the same");
    tap_ok(s.heard.ad == NULL && !key_is_set(&s.heard.proof), "a challenge tells nothing but a nonce");
    tap_ok(is_free(&m, 1), "and nothing is kept for it");
    proof = flipped = proof_of(&m, &s, true);
    for (int bit = 0; bit < 8 * KEY_BYTES; bit += 37) {
        flipped.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (suitor_verifies(&m, &s, &flipped) != REASON_TICKET)
            world_blame(m.w, "a proof with a bit changed was taken", "");
        flipped = proof;
    }
    tap_ok(suitor_verifies(&m, &s, &(struct key){{0}}) == REASON_TICKET && is_free(&m, 1),
           "a wrong proof is refused and changes nothing");
    other = s;
    other.peer.channel++;
    tap_ok(suitor_verifies(&m, &other, &proof) == REASON_TICKET && is_free(&m, 1),
           "a proof from one channel is none on another");
    other = s;
    other.peer.agent++;
    tap_ok(suitor_verifies(&m, &other, &proof) != REASON_OK, "nor from another agent");
    other = s;
    other.claim = 2;
    tap_ok(suitor_verifies(&m, &other, &proof) == REASON_TICKET, "nor for another claim");
    other = s;
    other.owner = "calvin";
    tap_ok(prove(&m, &other) == REASON_TICKET, "a ticket made for another owner than the ad's is not good");
    other = s;
    other.peer = (struct peer){.agent = 50, .identity = "calvin", .any = false, .channel = 500};
    tap_ok(suitor_verifies(&m, &other, &proof) == REASON_IDENTITY && is_free(&m, 1),
           "who may not act for the owner in the ad is refused, whatever the ticket");
    other.peer.identity = "raman";
    tap_ok(prove(&m, &other) == REASON_OK, "the owner may act for himself");
    say_abort(&m, &other);
    theirs = s.theirs;
    tap_ok(verify(&m, &s) == REASON_OK && holds(&m, 1, TENANT_VERIFIED), "the right proof verifies");
    proof = proof_of(&m, &s, false);
    tap_ok(key_equal(&proof, &s.heard.proof), "and the provider proves the ticket in its turn");
    tap_ok(ad_says(m.w, s.heard.ad, "Memory == 64"), "with its present ad");
    tap_ok(prove(&m, &s) == REASON_OK && look(&m, 1).count == 1, "a repeat has the same answer");
    say_abort(&m, &s);
    tap_ok(is_free(&m, 1), "an abort frees it");
    pass(m.w, 10 * MINUTE);
    s.theirs = theirs;
    tap_ok(prove(&m, &s) != REASON_OK && is_free(&m, 1), "an old challenge is not good for ever");
    world_free(m.w, "tickets");
}

static void used_tickets(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    say_abort(&m, &s);
    tap_ok(is_free(&m, 1), "a pin is given up by an abort");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "a ticket that was used by a commit is not good again");
    s.sequence = 0;
    tap_ok(say_commit(&m, &s) != REASON_OK && is_free(&m, 1), "nor is a late copy of that commit");
    s = suitor_new(&m, 2, "raman");
    verify(&m, &s);
    world_restart(m.w, true, SECOND);
    probe(&m, AWAY);
    tap_ok(say_commit(&m, &s) != REASON_OK && is_free(&m, 2), "a commit without verification is refused");
    world_free(m.w, "used tickets");
}

static void one_at_a_time(void)
{
    struct machine m;
    struct suitor first, second;

    machine_start(&m, PLAIN);
    first = suitor_new(&m, 1, "raman");
    second = suitor_new(&m, 2, "calvin");
    second.peer.agent = 51;
    match(&m, &first, 1);
    tap_ok(verify(&m, &second) == REASON_OK && holds(&m, 2, TENANT_VERIFIED),
           "a match is a hint: who comes first is verified, whoever was matched");
    say_abort(&m, &second);
    verify(&m, &first);
    tap_ok(verify(&m, &second) == REASON_BUSY, "while one is verified another hears busy");
    tap_ok(second.heard.span > 0 && second.heard.span <= m.w->spans.window, "and for how long, at most a window");
    tap_ok(holds(&m, 1, TENANT_VERIFIED) && is_free(&m, 2), "the first is not disturbed");
    pass(m.w, m.w->spans.window + SECOND);
    tap_ok(is_free(&m, 1), "a verification ends with the window");
    tap_ok(say_commit(&m, &first) != REASON_OK && is_free(&m, 1), "a commit after it is refused");
    tap_ok(verify(&m, &second) == REASON_OK, "a ticket is not used up by busy");
    tap_ok(say_commit(&m, &second) == REASON_OK && holds(&m, 2, TENANT_PINNED), "and is good for a commit");
    first = suitor_new(&m, 3, "raman");
    tap_ok(verify(&m, &first) != REASON_OK, "who comes while a machine is pinned is refused");
    say_activate(&m, &second, NULL);
    tap_ok(verify(&m, &first) != REASON_OK && look(&m, 2).count == 1, "or claimed");
    world_free(m.w, "one at a time");
}

static void constraint_now(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, OWNED);
    s = suitor_new(&m, 1, "raman");
    match(&m, &s, 1);
    probe(&m, TYPING);
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT && !holds(&m, 1, TENANT_VERIFIED),
           "whoever was matched is refused when the owner has come back since");
    probe(&m, AWAY);
    tap_ok(verify(&m, &s) == REASON_OK, "and is accepted when he has gone");
    probe(&m, TYPING);
    say_commit(&m, &s);
    say_activate(&m, &s, NULL);
    say_start(&m, &s, 1, 100);
    tap_ok(m.w->launches == 0, "when he comes back before the commit nothing is launched");
    s = suitor_new(&m, 2, "raman");
    s.offer = 4711;
    tap_ok(verify(&m, &s) == REASON_UNKNOWN, "an offer that is not there is unknown");
    world_free(m.w, "the present constraint");
}

/* ---------------------------------------------------------------------------------------------- commit and activate */

static void commit_is_durable(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    verify(&m, &s);
    m.w->slow = true;
    tap_ok(say_commit(&m, &s) == REASON_COUNT, "a commit is not acknowledged before the pin is durable");
    world_restart(m.w, true, SECOND);
    world_durable(m.w);
    tap_ok(is_free(&m, 1), "a crash before leaves no pin");
    probe(&m, AWAY);
    world_durable(m.w);
    matchmaker_answers(m.w);
    s = suitor_new(&m, 2, "raman");
    verify(&m, &s);
    say_commit(&m, &s);
    world_durable(m.w);
    tap_ok(reason_of(reply(m.w)) == REASON_OK && reply(m.w)->u.claimed.epoch == s.epoch, "then it is");
    world_restart(m.w, true, SECOND);
    world_durable(m.w);
    tap_ok(holds(&m, 2, TENANT_PINNED), "a crash after it keeps the pin");
    m.w->slow = false;
    tap_ok(say_commit(&m, &s) == REASON_OK && look(&m, 2).count == 1, "a commit may be repeated, even then");
    tap_ok(say_activate(&m, &s, NULL) == REASON_OK && holds(&m, 2, TENANT_CLAIMED), "and be activated");
    world_free(m.w, "commit");
}

static void pins_end(void)
{
    struct machine m;
    struct suitor s;
    uint32_t puts;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    puts = m.w->puts;
    pass(m.w, m.w->spans.pin / 4 - 1);
    tap_ok(sent_count(m.w, MESSAGE_ASK) == 0, "a pin waits for a quarter of its lease");
    pass(m.w, 2);
    tap_ok(sent_count(m.w, MESSAGE_ASK) == 1 && sent_of(m.w, MESSAGE_ASK)->to == 50 &&
               sent_of(m.w, MESSAGE_ASK)->message.u.ask.claim == 1 &&
               sent_of(m.w, MESSAGE_ASK)->message.u.ask.epoch == 1,
           "then it asks what was decided");
    answer_claimed(&m, MESSAGE_ASK, 1, REASON_WAIT);
    tap_ok(holds(&m, 1, TENANT_PINNED), "`wait` leaves it pinned");
    pass(m.w, m.w->spans.pin / 4);
    tap_ok(say_commit(&m, &s) == REASON_OK, "a repeated commit is acknowledged");
    pass(m.w, m.w->spans.pin / 2 - SECOND);
    tap_ok(holds(&m, 1, TENANT_PINNED) && m.w->puts == puts,
           "and does not lengthen the pin, which holds up to its end");
    pass(m.w, SECOND + 1);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_TENANT) == 0, "a pin ends by itself after its lease");
    tap_ok(m.w->puts > puts, "and the machine is offered again");
    tap_ok(say_activate(&m, &s, NULL) != REASON_OK && is_free(&m, 1), "an activation after it finds nothing");
    world_free(m.w, "the pin lease");
}

static void pins_and_restarts(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, SECOND);
    world_restart(m.w, true, m.w->spans.pin / 2);
    tap_ok(say_activate(&m, &s, NULL) != REASON_OK && !holds(&m, 1, TENANT_CLAIMED),
           "a restart does not lengthen the time in which an activation is obeyed");
    world_restart(m.w, true, m.w->spans.pin / 2);
    tap_ok(say_commit(&m, &s) != REASON_OK && is_free(&m, 1), "nor the pin");
    world_free(m.w, "pins and restarts");
}

static void asked_and_aborted(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, m.w->spans.pin / 4 + 1);
    answer_claimed(&m, MESSAGE_ASK, 1, REASON_ABORT);
    tap_ok(is_free(&m, 1), "a superior that has no record ends the pin");
    world_free(m.w, "an aborted pin");
}

static void activation_in_time(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, m.w->spans.pin / 2 - MILLISECOND);
    tap_ok(say_activate(&m, &s, NULL) == REASON_OK && holds(&m, 1, TENANT_CLAIMED),
           "an activation is obeyed within half of the pin lease");
    tap_ok(look(&m, 1).view.lease <= look(&m, 1).view.since + m.w->spans.lease,
           "the first lease counts from the commit, not from the activation");
    tap_ok(say_abort(&m, &s) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED), "an abort after it changes nothing");
    tap_ok(say_activate(&m, &s, NULL) == REASON_OK, "an activation may be repeated");
    pass(m.w, m.w->spans.pin);
    tap_ok(holds(&m, 1, TENANT_CLAIMED), "the end of the pin lease is nothing to it");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, m.w->spans.pin / 2 + MILLISECOND);
    tap_ok(say_activate(&m, &s, NULL) != REASON_OK && !holds(&m, 1, TENANT_CLAIMED),
           "an activation is refused after half of the pin lease");
    world_free(m.w, "activation");
}

static void activation_is_durable(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    m.w->slow = true;
    tap_ok(say_activate(&m, &s, NULL) == REASON_COUNT, "an activation is not acknowledged before it is durable");
    world_durable(m.w);
    tap_ok(reason_of(reply(m.w)) == REASON_OK, "and then it is");
    world_restart(m.w, true, SECOND);
    world_durable(m.w);
    tap_ok(holds(&m, 1, TENANT_CLAIMED), "a restarted provider keeps an activated claim");
    world_free(m.w, "a durable activation");
}

/* ------------------------------------------------------------------------------------------------ start and results */

static void start_and_launch(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    tap_ok(say_start(&m, &s, 1, 100) != REASON_OK && m.w->launches == 0, "nothing starts under a pin");
    say_activate(&m, &s, NULL);
    m.w->slow = true;
    say_start(&m, &s, 1, 100);
    tap_ok(m.w->launches == 0 && reply(m.w)->kind == MESSAGE_NONE, "nothing is launched before the start is durable");
    world_durable(m.w);
    m.w->slow = false;
    tap_ok(m.w->launches == 1 && launcher_of(m.w, 1)->number == 1 && launcher_of(m.w, 1)->job == 100 &&
               reason_of(reply(m.w)) == REASON_OK,
           "then it is, and the start is acknowledged");
    tap_ok(launcher_of(m.w, 1)->at == look(&m, 1).view.lease, "the launcher has the lease's deadline");
    tap_ok(say_start(&m, &s, 1, 100) == REASON_OK && m.w->launches == 1, "a repeated start launches nothing");
    tap_ok(say_start(&m, &s, 1, 101) != REASON_OK && m.w->launches == 1, "the same number for another job is refused");
    tap_ok(say_start(&m, &s, 0, 100) != REASON_OK && m.w->launches == 1, "a lower number is refused");
    tap_ok(look(&m, 1).view.running && look(&m, 1).view.job == 100 && look(&m, 1).view.number == 1,
           "and the job that runs is not disturbed");
    world_free(m.w, "start");
}

static void one_job_at_a_time(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(say_start(&m, &s, 2, 101) != REASON_OK && m.w->launches == 1, "a claim runs one job at a time");
    tap_ok(say_activate(&m, &s, s.ad) != REASON_OK, "and is not used again before that has ended");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    s.ad = ad(m.w, "[ Type = \"Daemon\"; Cpus = 3; Owner = \"raman\" ]");
    tap_ok(say_start(&m, &s, 2, 101) != REASON_OK && m.w->launches == 1,
           "a job that the constraint refuses is not started, whatever the claim was given for");
    world_free(m.w, "one job at a time");
}

static void results(void)
{
    struct machine m;
    struct suitor s;
    struct sent *sent;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    m.w->slow = true;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 3);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 0, "a result is not told before it is durable");
    world_durable(m.w);
    m.w->slow = false;
    sent = sent_of(m.w, MESSAGE_RESULT);
    tap_ok(sent && sent->to == 50 && sent->message.u.result.claim == 1 && sent->message.u.result.number == 1 &&
               sent->message.u.result.job == 100 && sent->message.u.result.status == 3 &&
               sent->message.u.result.reason == REASON_EXITED && sent->message.u.result.used == 5 * SECOND,
           "then the customer is told claim, number, job and how it ended");
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && !look(&m, 1).view.running, "the claim goes on");
    tap_ok(say_start(&m, &s, 1, 100) == REASON_OK && m.w->launches == 1,
           "a late copy of the start does not run the job again");
    tap_ok(pass_to(m.w, MESSAGE_RESULT, 3 * m.w->spans.deadline), "a result that nobody answers is offered again");
    world_restart(m.w, true, SECOND);
    pass(m.w, SECOND);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "and after a restart");
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    pass(m.w, m.w->spans.deadline);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 0 && row_count(m.w, RECORD_OUTCOME) == 0,
           "a result that was taken is forgotten");
    world_free(m.w, "results");
}

static void results_are_kept(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    pass(m.w, m.w->spans.keep - MINUTE);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_OUTCOME) == 1, "a result outlives its claim");
    tap_ok(pass_to(m.w, MESSAGE_RESULT, MINUTE - SECOND), "and is offered for an hour");
    world_restart(m.w, false, SECOND);
    pass(m.w, SECOND);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "over a reboot as well");
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_STALE);
    tap_ok(row_count(m.w, RECORD_OUTCOME) == 0, "a result that is refused is forgotten");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    pass(m.w, m.w->spans.keep + 2 * MINUTE);
    tap_ok(row_count(m.w, RECORD_OUTCOME) == 0, "a result that nobody takes is dropped after an hour");
    world_free(m.w, "kept results");
}

static void used_again(void)
{
    struct machine m;
    struct suitor s;
    struct tree *unit;

    machine_start(&m, "[ Type = \"Machine\"; Constraint = other.Cpus <= 4 ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_start(&m, &s, 1, 101) != REASON_OK && m.w->launches == 1,
           "the number of a job that ended is not used again for another");
    unit = ad(m.w, "[ Type = \"Job\"; Cpus = 8; Owner = \"raman\" ]");
    tap_ok(say_activate(&m, &s, unit) != REASON_OK, "a claim is not used again for what the constraint refuses");
    unit = ad(m.w, "[ Type = \"Job\"; Cpus = 4; Owner = \"raman\" ]");
    tap_ok(say_activate(&m, &s, unit) == REASON_OK, "and is for what it accepts");
    tap_ok(say_start(&m, &s, 2, 101) == REASON_OK && m.w->launches == 2 && launcher_of(m.w, 1)->number == 2,
           "the next job starts under the next number");
    tap_ok(say_start(&m, &s, 1, 100) != REASON_OK && m.w->launches == 2, "a start of the job before is too late");
    world_free(m.w, "a claim used again");
}

/* Comes as raman himself, who may act for nobody else. */
static struct suitor raman_himself(struct machine *m)
{
    struct suitor s = suitor_new(m, 1, "raman");

    s.peer = (struct peer){.agent = 50, .identity = "raman", .channel = 500};
    return s;
}

static void claim_of_one_owner(void)
{
    struct machine m;
    struct suitor s;
    struct tree *calvins;

    machine_start(&m, PLAIN);
    calvins = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"calvin\" ]");
    s = raman_himself(&m);
    come_to(&m, &s, TENANT_CLAIMED);
    s.ad = calvins;
    tap_ok(say_start(&m, &s, 1, 100) != REASON_OK && m.w->launches == 0,
           "who may act for one owner only starts no job that says it is another's");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    calvins = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"calvin\" ]");
    s = raman_himself(&m);
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(say_activate(&m, &s, calvins) != REASON_OK, "nor uses a claim again for such a job");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    calvins = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"calvin\" ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(say_activate(&m, &s, calvins) != REASON_OK,
           "a claim is its owner's: an agent of many users does not use it again for another");
    world_free(m.w, "a claim of one owner");
}

static void keys_turn(void)
{
    struct machine m;
    struct suitor s;
    struct key first;

    machine_start(&m, PLAIN);
    first = m.w->put.u.advertise.key;
    for (int i = 0; i < 3600 && key_equal(&first, &m.w->put.u.advertise.key); i++)
        pass(m.w, SECOND);
    tap_ok(!key_equal(&first, &m.w->put.u.advertise.key), "the key of the tickets turns");
    s = suitor_new(&m, 1, "raman");
    m.w->put.u.advertise.key = first;
    tap_ok(verify(&m, &s) == REASON_OK, "a ticket of the key before is good for a while: its match was in time");
    say_abort(&m, &s);
    pass(m.w, 2 * m.w->spans.window);
    m.w->put.u.advertise.key = first;
    s = suitor_new(&m, 2, "raman");
    tap_ok(verify(&m, &s) == REASON_OK, "at least for a window");
    say_abort(&m, &s);
    pass(m.w, HOUR);
    m.w->put.u.advertise.key = first;
    s = suitor_new(&m, 3, "raman");
    tap_ok(verify(&m, &s) == REASON_TICKET, "and forgotten in the end, by the provider's own clock");
    world_free(m.w, "keys");
}

static void usage(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(m.w->reports == 1 && m.w->report.claim == 1 && m.w->reported == 0 && !m.w->report.over,
           "the matchmaker hears at once that a match was claimed");
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(m.w->reports > 0 && strcmp(m.w->report.owner.bytes, "raman") == 0 && m.w->report.claim == 1 &&
               m.w->report.gang == 1001 && !m.w->report.over,
           "the matchmaker is told whose claim it is while it lasts");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    say_release(&m, &s);
    pass(m.w, SECOND);
    tap_ok(m.w->report.over, "and when it is over");
    tap_ok(m.w->reported >= 10 * MINUTE - SECOND && m.w->reported <= 10 * MINUTE + SECOND,
           "all that was claimed is reported once");
    world_free(m.w, "usage");
}

/* What a match has taken of limits is held from its claim on: so the matchmaker is told of that, and of its end. */
static void claims_told(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    verify(&m, &s);
    tap_ok(m.w->reports == 0, "a match that is verified is not told of");
    say_commit(&m, &s);
    tap_ok(m.w->reports == 1 && !m.w->report.over, "one that is pinned is, once");
    pass(m.w, m.w->spans.pin / 2);
    tap_ok(m.w->reports == 1, "and not again when that has been heard");
    say_abort(&m, &s);
    tap_ok(m.w->reports == 2 && m.w->report.over && m.w->reported == 0,
           "that it was aborted is told, and nothing was used");
    world_free(m.w, "a pin that is aborted");

    machine_start(&m, PLAIN);
    m.w->agreeable = false;
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    answer(m.w, sent_of(m.w, MESSAGE_REPORT), NULL);
    pass(m.w, m.w->spans.pin / 2);
    tap_ok(sent_of(m.w, MESSAGE_REPORT) != NULL, "it is told again when no answer came");
    world_free(m.w, "a report that is lost");

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    match(&m, &s, 1);
    pass(m.w, m.w->spans.window * 3 / 4);
    verify(&m, &s);
    tap_ok(m.w->reports == 1 && !m.w->report.over, "one that is verified late in its window is told of at once");
    pass(m.w, 2 * m.w->spans.window);
    tap_ok(m.w->reports == 2 && m.w->report.over && is_free(&m, 1), "and so is that nothing came of it");
    world_free(m.w, "a match that is verified late");
}

static void life_of_a_claim(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    pass_beating(&m, &s, m.w->spans.life + MINUTE);
    tap_ok(look(&m, 1).view.running, "a job may run longer than a claim lives");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_activate(&m, &s, s.ad) != REASON_OK, "a claim that has lived long enough is not used again");
    world_free(m.w, "the life of a claim");
}

/* ----------------------------------------------------------------------------------------------------------- leases */

static void heart_beats(void)
{
    struct machine m;
    struct suitor s;
    struct message beaten = {.kind = MESSAGE_BEATEN};
    int64_t lease, sent;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    tap_ok(lease == m.w->env.now + m.w->spans.lease, "a lease begins with the commit's acknowledgement");
    for (int i = 0; i < 60 && !sent_of(m.w, MESSAGE_BEAT); i++)
        pass(m.w, SECOND);
    tap_ok(sent_of(m.w, MESSAGE_BEAT) && m.w->env.now < lease && sent_of(m.w, MESSAGE_BEAT)->to == 50 &&
               sent_of(m.w, MESSAGE_BEAT)->message.u.beat.epoch == 1,
           "a heart beat is sent well within it, with the epoch");
    tap_ok(look(&m, 1).view.lease == lease, "sending one renews nothing");
    sent = sent_of(m.w, MESSAGE_BEAT)->message.u.beat.sent;
    pass(m.w, 5 * SECOND);
    beaten.u.beaten = (struct beaten){.claim = 1, .sent = sent};
    answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    tap_ok(look(&m, 1).view.lease == sent + m.w->spans.lease, "its acknowledgement does, from when it was sent");
    tap_ok(launcher_of(m.w, 1)->at == sent + m.w->spans.lease, "and the launcher is told the new deadline");
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && launcher_of(m.w, 1) && !launcher_of(m.w, 1)->stopped,
           "while beats are acknowledged the job runs on");
    lease = look(&m, 1).view.lease;
    m.w->env.wall += 365 * 24 * HOUR;
    pass_beating(&m, &s, 5 * SECOND);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.lease < m.w->env.now + m.w->spans.lease + 1,
           "a wall clock that jumps is nothing to a lease");
    world_free(m.w, "heart beats");
}

static void beat_refused(void)
{
    struct machine m;
    struct suitor s;
    struct message beaten = {.kind = MESSAGE_BEATEN};
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    while (!sent_of(m.w, MESSAGE_BEAT))
        pass(m.w, SECOND);
    beaten.u.beaten =
        (struct beaten){.claim = 1, .reason = REASON_WAIT, .sent = sent_of(m.w, MESSAGE_BEAT)->message.u.beat.sent};
    answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    tap_ok(look(&m, 1).view.lease == lease && holds(&m, 1, TENANT_CLAIMED),
           "a heart beat that is answered but not acknowledged renews nothing");
    while (!sent_of(m.w, MESSAGE_BEAT))
        pass(m.w, SECOND);
    beaten.u.beaten = (struct beaten){.claim = 1, .sent = m.w->env.now + HOUR};
    answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    tap_ok(look(&m, 1).view.lease <= m.w->env.now + m.w->spans.lease,
           "an answer that names a time to come gives no more than a lease");
    world_free(m.w, "a heart beat refused");
}

static void lease_over(void)
{
    struct machine m;
    struct suitor s;
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    pass(m.w, lease - m.w->env.now - 1);
    tap_ok(look(&m, 1).view.running && holds(&m, 1, TENANT_CLAIMED), "a job runs up to the end of its lease");
    pass(m.w, 2);
    tap_ok(!holds(&m, 1, TENANT_CLAIMED), "at its end the claim is over");
    tap_ok(sent_count(m.w, MESSAGE_LEFT) == 0 && verify(&m, &(struct suitor){0}) != REASON_OK,
           "nothing is said while something of the job may be left");
    job_news(&m, 1, 1, JOB_GONE, REASON_LEASE, 0);
    tap_ok(sent_of(m.w, MESSAGE_LEFT) && sent_of(m.w, MESSAGE_LEFT)->to == 50 &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.claim == 1 &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_LEASE,
           "when the job is gone the customer is told that the claim was left, and why");
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_TENANT) == 0, "and the machine is free");
    tap_ok(say_start(&m, &s, 2, 101) != REASON_OK && m.w->launches == 1, "a start after it finds nothing");
    tap_ok(pass_to(m.w, MESSAGE_LEFT, 3 * m.w->spans.deadline), "that is said again until it is answered");
    answer_claimed(&m, MESSAGE_LEFT, 1, REASON_OK);
    tap_ok(!pass_to(m.w, MESSAGE_LEFT, MINUTE), "and then no more");
    world_free(m.w, "the end of a lease");
}

/* ---------------------------------------------------------------------------------------------------------- release */

static void release_waits(void)
{
    struct machine m;
    struct suitor s;
    uint64_t first;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(say_release(&m, &s) == REASON_COUNT && m.w->stops == 1 && m.w->stop_span == m.w->spans.grace,
           "a release warns the job, and is not answered while something of it is left");
    first = m.w->token;
    tap_ok(holds(&m, 1, TENANT_STOPPING) && verify(&m, &(struct suitor){0}) != REASON_OK,
           "until then the machine is not free");
    say_release(&m, &s);
    tap_ok(m.w->stops == 1, "a repeated release does not hurry it");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(m.w->replies[first].kind == MESSAGE_CLAIMED || reply(m.w)->kind == MESSAGE_CLAIMED,
           "when the job is gone it is answered");
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_TENANT) == 0, "and the machine is free");
    tap_ok(say_release(&m, &s) != REASON_COUNT, "a release after it is answered at once");
    tap_ok(sent_count(m.w, MESSAGE_LEFT) == 0, "who asked is not told again that it was left");
    world_free(m.w, "release");
}

static void release_without_job(void)
{
    struct machine m;
    struct suitor s;
    enum reason reason;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    m.w->slow = true;
    reason = say_release(&m, &s);
    tap_ok(reason == REASON_COUNT, "released is not said before the claim's end is durable");
    world_durable(m.w);
    m.w->slow = false;
    tap_ok(reply(m.w)->kind == MESSAGE_CLAIMED && is_free(&m, 1), "a claim without a job is released at once");
    s = suitor_new(&m, 2, "raman");
    tap_ok(verify(&m, &s) == REASON_OK, "and the machine can be claimed again");
    world_free(m.w, "release without a job");
}

static void released_early(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    verify(&m, &s);
    tap_ok(say_attach(&m, &s, 2).reason != REASON_OK, "what is only verified cannot be attached to");
    tap_ok(say_release(&m, &s) != REASON_COUNT && is_free(&m, 1), "and is released at once");
    s = suitor_new(&m, 2, "raman");
    come_to(&m, &s, TENANT_PINNED);
    tap_ok(say_release(&m, &s) != REASON_COUNT && is_free(&m, 2) && row_count(m.w, RECORD_TENANT) == 0,
           "a pin is released as well");
    world_free(m.w, "early releases");
}

static void job_gone_by_itself(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 7, JOB_GONE, REASON_OK, 0);
    tap_ok(look(&m, 1).view.running, "news of another number change nothing");
    job_news(&m, 1, 1, JOB_GONE, REASON_OK, 0);
    tap_ok(is_free(&m, 1) && told_lost(&m, 1), "a job that vanishes is lost, and the customer is told");
    world_free(m.w, "a job that vanishes");
}

static void forgotten_by_the_customer(void)
{
    struct machine m;
    struct suitor s;
    struct message beaten = {.kind = MESSAGE_BEATEN, .u.beaten = {.claim = 1, .reason = REASON_UNKNOWN}};

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    answer(m.w, pass_to(m.w, MESSAGE_BEAT, MINUTE), &beaten);
    tap_ok(m.w->stops == 1 && holds(&m, 1, TENANT_STOPPING), "a claim that its customer does not know is ended");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(is_free(&m, 1), "and its machine is free when the job is gone");
    world_free(m.w, "a customer that forgot");
}

static void older_messages(void)
{
    struct machine m;
    struct suitor s, stranger;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    s.sequence = 10;
    come_to_run(&m, &s, 100);
    stranger = s;
    stranger.peer.agent = 51;
    tap_ok(say_release(&m, &stranger) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED) && m.w->stops == 0,
           "another agent cannot release a claim");
    stranger.epoch = 9;
    tap_ok(say_attach(&m, &stranger, 9).reason != REASON_OK && look(&m, 1).view.epoch == 1, "nor attach to it");
    tap_ok(say_start(&m, &stranger, 2, 666) != REASON_OK && m.w->launches == 1, "nor start a job");
    tap_ok(say_abort(&m, &stranger) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED), "nor abort it");
    s.sequence = 100;
    s.epoch = 0;
    tap_ok(say_release(&m, &s) == REASON_STALE && reply(m.w)->u.claimed.epoch == 1 && m.w->stops == 0,
           "a release of an older epoch is stale, and hears the epoch that holds");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    s.epoch = 1;
    s.sequence = 3;
    tap_ok(say_start(&m, &s, 2, 101) == REASON_STALE && m.w->launches == 1,
           "a start older than the last message of the session is stale");
    s.sequence = 3;
    tap_ok(say_activate(&m, &s, s.ad) == REASON_STALE, "so is an activation");
    s.sequence = 3;
    tap_ok(say_release(&m, &s) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED), "so is a release");
    world_free(m.w, "older messages");
}

/* ---------------------------------------------------------------------------------------------- attach and restarts */

static void attach(void)
{
    struct machine m;
    struct suitor s;
    struct attached attached;
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    pass(m.w, 5 * SECOND);
    m.w->slow = true;
    tap_ok(say_attach(&m, &s, 2).reason == REASON_COUNT, "a new epoch is not answered before it is durable");
    world_durable(m.w);
    m.w->slow = false;
    attached = reply(m.w)->u.attached;
    tap_ok(reply(m.w)->kind == MESSAGE_ATTACHED && attached.reason == REASON_OK && attached.epoch == 2 &&
               attached.active && attached.running && attached.number == 1 && attached.job == 100,
           "who attaches with a higher epoch hears how the claim stands");
    tap_ok(look(&m, 1).view.lease == lease && look(&m, 1).view.epoch == 2, "and that renews no lease");
    tap_ok(say_attach(&m, &s, 2).reason == REASON_OK && look(&m, 1).view.epoch == 2, "the same epoch is a repeat");
    attached = say_attach(&m, &s, 1);
    tap_ok(attached.reason == REASON_STALE && attached.epoch == 2,
           "a lower one is stale, and hears the one that holds");
    tap_ok(say_release(&m, &s) == REASON_STALE && holds(&m, 1, TENANT_CLAIMED),
           "a release of the epoch before changes nothing");
    s.epoch = 2;
    s.sequence = 0;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    attached = say_attach(&m, &s, 3);
    tap_ok(attached.reason == REASON_OK && !attached.running && attached.number == 1, "a job that ended does not run");
    s.epoch = 3;
    tap_ok(say_start(&m, &s, 2, 101) == REASON_OK || say_activate(&m, &s, s.ad) == REASON_OK,
           "numbers of a session begin anew with its epoch");
    s.claim = 4711;
    tap_ok(say_attach(&m, &s, 5).reason != REASON_OK, "a claim that is not there cannot be attached to");
    world_free(m.w, "attach");
}

static void attach_to_a_result(void)
{
    struct machine m;
    struct suitor s, stranger;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    pass(m.w, 3 * m.w->spans.lease);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_OUTCOME) == 1, "a job ended, and then the claim's lease");
    stranger = s;
    stranger.peer.agent = 51;
    tap_ok(say_attach(&m, &stranger, 2).reason == REASON_UNKNOWN, "a stranger hears that there is no such claim");
    tap_ok(say_attach(&m, &s, 2).reason == REASON_BUSY,
           "who comes back late is told to wait while there is a result for it");
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "which is offered at once");
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_attach(&m, &s, 2).reason == REASON_UNKNOWN, "when it has been taken, the claim is gone");
    world_free(m.w, "attach to a result");
}

static void attach_to_a_pin(void)
{
    struct machine m;
    struct suitor s;
    struct attached attached;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    attached = say_attach(&m, &s, 2);
    tap_ok(attached.reason == REASON_OK && !attached.active && !attached.running && attached.number == 0,
           "who attaches to a pin hears that it is one");
    pass(m.w, m.w->spans.pin + 1);
    tap_ok(is_free(&m, 1), "which does not lengthen it");
    tap_ok(say_attach(&m, &s, 3).reason != REASON_OK, "when it is over nobody attaches");
    world_free(m.w, "attach to a pin");
}

static void restart_in_the_boot(void)
{
    struct machine m;
    struct suitor s;
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    pass(m.w, 5 * SECOND);
    lease = look(&m, 1).view.lease;
    world_restart(m.w, true, 10 * SECOND);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.running && look(&m, 1).view.epoch == 1,
           "a restarted provider finds its launcher, and keeps claim and epoch");
    tap_ok(look(&m, 1).view.lease <= lease, "its deadline is no later than before");
    tap_ok(m.w->launches == 1 && m.w->stops == 0, "the job is left alone");
    probe(&m, AWAY);
    tap_ok(m.w->stops == 0, "also when it is probed");
    pass_beating(&m, &s, 2 * MINUTE);
    tap_ok(look(&m, 1).view.running, "its heart beats go on");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "and its result is told");
    world_free(m.w, "a restart");
}

static void restart_past_the_lease(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    world_restart(m.w, true, 2 * m.w->spans.lease);
    tap_ok(say_attach(&m, &s, 2).reason != REASON_OK && !holds(&m, 1, TENANT_CLAIMED),
           "a deadline that passed while the agent was down holds before any message is answered");
    world_free(m.w, "a long restart");
}

static void job_lost(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    launcher_drop(m.w, 1);
    world_restart(m.w, true, SECOND);
    pass(m.w, SECOND);
    tap_ok(told_lost(&m, 1), "a job that was started and is not found is lost, and the customer is told");
    tap_ok(!look(&m, 1).view.running, "it does not run");
    tap_ok(m.w->launches == 1, "and is not launched again");
    world_free(m.w, "a lost job");
}

static void another_boot(void)
{
    struct machine m;
    struct suitor s, pinned;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    world_restart(m.w, false, SECOND);
    pass(m.w, SECOND);
    tap_ok(told_lost(&m, 1), "after a reboot a claim is lost, and the customer is told");
    tap_ok(is_free(&m, 1), "the machine is free");
    tap_ok(say_attach(&m, &s, 2).reason == REASON_LOST || reason_of(reply(m.w)) == REASON_UNKNOWN,
           "and who attaches hears that nothing of it is there");
    probe(&m, AWAY);
    tap_ok(advertises(&m, "Memory == 64") && m.w->puts > 1, "it is advertised again");
    pinned = suitor_new(&m, 2, "raman");
    come_to(&m, &pinned, TENANT_PINNED);
    world_restart(m.w, false, SECOND);
    pass(m.w, m.w->spans.pin + SECOND);
    tap_ok(is_free(&m, 2), "a pin does not outlive a reboot by more than its lease");
    world_free(m.w, "another boot");
}

/* ----------------------------------------------------------------------------------------------------- owner, units */

static void veto(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, OWNED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, TYPING);
    tap_ok(m.w->stops == 1 && m.w->stop_span == m.w->spans.grace, "when the owner comes back the job is warned");
    tap_ok(holds(&m, 1, TENANT_STOPPING) && sent_count(m.w, MESSAGE_LEFT) == 0, "and has its time of grace");
    probe(&m, AWAY);
    tap_ok(m.w->stops == 1 && holds(&m, 1, TENANT_STOPPING), "that he leaves again does not save it");
    job_news(&m, 1, 1, JOB_GONE, REASON_VETOED, 0);
    tap_ok(sent_of(m.w, MESSAGE_LEFT) && sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_VETOED,
           "when it is gone the customer is told why");
    tap_ok(is_free(&m, 1), "and the machine is free");
    answer_claimed(&m, MESSAGE_LEFT, 1, REASON_OK);
    pass(m.w, MINUTE);
    tap_ok(sent_count(m.w, MESSAGE_LEFT) == 0, "once that is answered it is not said again");
    world_free(m.w, "veto");
}

static void result_beats_veto(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, OWNED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, TYPING);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(sent_of(m.w, MESSAGE_RESULT) && sent_of(m.w, MESSAGE_RESULT)->message.u.result.reason == REASON_EXITED,
           "a job that ends by itself while it is warned has its result");
    world_free(m.w, "a result under veto");
}

static struct suitor shared_tenant(struct machine *m, uint64_t claim)
{
    struct suitor s = suitor_new(m, claim, "raman");

    s.peer.agent = 50 + claim;
    come_to_run(m, &s, 100 + claim);
    return s;
}

static void shares(void)
{
    struct machine m;
    struct suitor first, second, third;

    machine_start(&m, SHARED);
    tap_ok(advertises(&m, "Cpus == 8"), "a divisible machine is offered whole first");
    first = shared_tenant(&m, 1);
    tap_ok(look(&m, 1).view.running && advertises(&m, "Cpus == 5"), "a claim takes its part, and the rest is offered");
    second = shared_tenant(&m, 2);
    tap_ok(look(&m, 2).view.running && look(&m, 1).view.running && advertises(&m, "Cpus == 2"),
           "a second takes its own, and less is offered");
    third = suitor_new(&m, 3, "raman");
    tap_ok(verify(&m, &third) != REASON_OK && is_free(&m, 3), "a third that is larger than what is left is refused");
    tap_ok(ad_says(m.w, provider_offer(m.w->role, 0), "Cpus == 8"), "the machine itself is as large as before");
    third.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 2; Owner = \"raman\" ]");
    tap_ok(verify(&m, &third) == REASON_OK && ad_says(m.w, third.heard.ad, "Cpus == 2"),
           "a smaller one fits, and is shown what is left");
    tap_ok(say_commit(&m, &third) == REASON_OK && m.w->withdrawals == 1, "when nothing is left the ad is withdrawn");
    world_restart(m.w, true, SECOND);
    probe(&m, AWAY);
    tap_ok(look(&m, 1).count == 3 && !advertises(&m, "Cpus > 2"), "a restarted provider knows what it has given away");
    say_release(&m, &first);
    tap_ok(!advertises(&m, "Cpus == 3"), "what is released is not offered while its job is not gone");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(advertises(&m, "Cpus == 3"), "and is when it is");
    say_release(&m, &second);
    job_news(&m, 2, 1, JOB_GONE, REASON_RELEASED, 0);
    pass(m.w, m.w->spans.pin + SECOND);
    tap_ok(advertises(&m, "Cpus == 8") && look(&m, 0).count == 0, "when all have gone it is offered whole");
    world_free(m.w, "shares");
}

/* A job that is larger than what was claimed for it must not take what others are offered. */
static void no_larger_than_claimed(void)
{
    struct machine m;
    struct suitor s;
    enum reason reason;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    s.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 8; Owner = \"raman\" ]");
    reason = say_start(&m, &s, 1, 100);
    s = suitor_new(&m, 2, "calvin");
    s.peer.agent = 51;
    tap_ok(reason != REASON_OK || verify(&m, &s) != REASON_OK,
           "a job that needs more than was claimed is refused, or what it needs is not offered to others");
    world_free(m.w, "a larger job");
}

static void shares_under_verification(void)
{
    struct machine m;
    struct suitor s[4];
    int pinned = 0;

    machine_start(&m, SHARED);
    for (int i = 0; i < 4; i++) {
        s[i] = suitor_new(&m, (uint64_t)i + 1, "raman");
        s[i].peer.agent = 50 + (uint64_t)i;
        verify(&m, &s[i]);
    }
    for (int i = 0; i < 4; i++)
        pinned += say_commit(&m, &s[i]) == REASON_OK;
    tap_ok(pinned >= 1 && pinned <= 2, "those verified together pin no more than there is");
    world_free(m.w, "verified together");
}

static void drain(void)
{
    struct machine m;
    struct suitor s, late;
    struct event event = {.kind = EVENT_DRAIN};
    uint32_t puts;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    happen(m.w, &event);
    puts = m.w->puts;
    tap_ok(m.w->withdrawals == 1, "a machine that is drained withdraws its ad");
    late = suitor_new(&m, 2, "raman");
    tap_ok(verify(&m, &late) == REASON_DRAINING && is_free(&m, 2), "and takes no more claims, and says why");
    tap_ok(look(&m, 1).view.running && m.w->stops == 0, "what runs runs on");
    probe(&m, BUSY);
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(m.w->puts == puts && look(&m, 1).view.running, "it is not advertised again");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_activate(&m, &s, s.ad) != REASON_OK, "a claim is not used again while it drains");
    say_release(&m, &s);
    pass(m.w, MINUTE);
    tap_ok(look(&m, 1).count == 0 && m.w->puts == puts, "and it ends as its claims end");
    world_free(m.w, "drain");
}

static void drain_what_waits(void)
{
    struct machine m;
    struct suitor s, verified;
    struct event event = {.kind = EVENT_DRAIN};

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    verified = suitor_new(&m, 2, "raman");
    verify(&m, &verified);
    happen(m.w, &event);
    tap_ok(say_commit(&m, &verified) != REASON_OK && is_free(&m, 2), "who was verified when it drains is too late");
    tap_ok(is_free(&m, 1) && sent_of(m.w, MESSAGE_LEFT) &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_DRAINING,
           "a claim without a job is left, and its customer is told why");
    world_free(m.w, "drain without jobs");
}

static void drain_now(void)
{
    struct machine m;
    struct suitor s, pinned;
    struct event event = {.kind = EVENT_DRAIN}, resume = {.kind = EVENT_RESUME};

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    happen(m.w, &event);
    tap_ok(m.w->stops == 0 && look(&m, 1).view.running, "a machine that drains lets its job run");
    event.status = 1;
    happen(m.w, &event);
    tap_ok(m.w->stops == 1 && holds(&m, 1, TENANT_STOPPING), "until it is told that it has to go: it is warned");
    happen(m.w, &event);
    tap_ok(m.w->stops == 1, "once, however often that is said");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(is_free(&m, 1) && sent_of(m.w, MESSAGE_LEFT) &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_DRAINING,
           "when nothing of it is left its customer is told why");
    happen(m.w, &resume);
    pinned = suitor_new(&m, 2, "raman");
    tap_ok(advertises(&m, "Cpus == 8") && verify(&m, &pinned) == REASON_OK,
           "and when it is to take work again, it is advertised and takes it");
    world_free(m.w, "drain now");
}

/* Before it begins it is told that it was drained when it ended: then nobody ever sees it offered. */
static void drained_before(void)
{
    struct machine m;
    struct suitor s, late;
    struct event event = {.kind = EVENT_DRAIN}, resume = {.kind = EVENT_RESUME};
    uint32_t puts;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    puts = m.w->puts;
    m.w->first = &event;
    world_restart(m.w, true, SECOND);
    m.w->first = NULL;
    pass_beating(&m, &s, MINUTE);
    late = suitor_new(&m, 2, "raman");
    tap_ok(m.w->puts == puts && look(&m, 1).view.running && verify(&m, &late) == REASON_DRAINING,
           "one that was drained before it restarted offers nothing, and its job runs on");
    happen(m.w, &resume);
    tap_ok(m.w->puts > puts, "until it is to take work again");
    world_free(m.w, "drained before");
}

/* --------------------------------------------------------------------------------------------------- ports and gangs */

static void docked_by_a_link(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m,
                  "[ Type = \"Machine\"; Memory = 64; Ports = { [ Label = spare; Essential = false ], [ Label = job; "
                  "Constraint = job.Size <= Memory && job.Owner == \"raman\" ] } ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Size = 1; Ports = { [ Label = a; Size = 100 ], [ Label = b; Size = 60 ] } ]");
    s.port = 1;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT,
           "nobody comes in by a port that accepts everybody while another is empty that must be filled");
    s.link = 1;
    s.port = 0;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "a link that does not like the superior's port refuses it");
    s.port = 1;
    tap_ok(verify(&m, &s) == REASON_OK, "and accepts another port of the same ad");
    say_abort(&m, &s);
    s.link = 2;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "there is no third port");
    s.link = 1;
    s.port = 2;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "nor has the superior one");
    s.port = 1;
    come_to_run(&m, &s, 100);
    tap_ok(look(&m, 1).view.running, "a claim is pinned, activated and started by its ports");
    world_restart(m.w, true, SECOND);
    pass_beating(&m, &s, MINUTE);
    tap_ok(look(&m, 1).view.running && m.w->stops == 0, "which are known after a restart");
    world_free(m.w, "docked by a link");

    machine_start(
        &m, "[ Type = \"Link\"; Mbps = 100; Ports = { [ Label = user; Constraint = user.Mbps <= Mbps ] }; Residual "
            "= [ Mbps = Mbps - other.Mbps ] ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = a; Mbps = 90 ], [ Label = b; Mbps = 30 ] } ]");
    s.port = 1;
    come_to(&m, &s, TENANT_PINNED);
    tap_ok(advertises(&m, "Mbps == 70"), "what is left of an offer is what that port leaves of it");
    s = suitor_new(&m, 2, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Mbps = 80 ]");
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "others are accepted by what is left");
    world_free(m.w, "what a port leaves");
}

static void executes_nothing(void)
{
    struct machine m;
    struct suitor s;
    struct event drain = {.kind = EVENT_DRAIN};

    machine_start(&m, "[ Type = \"License\"; Executes = false; Constraint = other.Type == \"Job\" ]");
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    tap_ok(say_start(&m, &s, 1, 100) == REASON_OK && m.w->launches == 0 && !look(&m, 1).view.running,
           "a member that executes nothing is started, and launches nothing");
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && m.w->withdrawals == 1, "it holds its unit, and its heart beats");
    world_restart(m.w, true, SECOND);
    pass_beating(&m, &s, MINUTE);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.number == 1, "also after a restart");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_OK && say_start(&m, &s, 2, 101) == REASON_OK && m.w->launches == 0,
           "the next job may begin at once");
    happen(m.w, &drain);
    tap_ok(holds(&m, 1, TENANT_CLAIMED), "it is in use, when it is drained, until it is released");
    tap_ok(say_release(&m, &s) == REASON_RELEASED && is_free(&m, 1), "which is done at once");
    world_free(m.w, "what executes nothing");
}

static void cleared_for_the_next(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(say_activate(&m, &s, s.ad) == REASON_BUSY && m.w->stops == 1,
           "when the gang goes on to its next job, what still runs of the last one is ended");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_BUSY && m.w->stops == 1, "once");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && !sent_of(m.w, MESSAGE_LEFT), "the claim is not over for that");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_OK && say_start(&m, &s, 2, 101) == REASON_OK && m.w->launches == 2,
           "and the next job starts");
    world_free(m.w, "cleared for the next");
}

/* Somebody below the machine. */
struct under {
    struct peer peer;
    uint64_t claim;
    struct key ticket, nonce;
    struct tree *ad;
    uint64_t epoch, number, job;
    uint32_t starts, releases;
};

#define UNDER 2

/* The machine hears whom it leads. */
static void match_inner(struct machine *m, struct suitor *s, struct under *under)
{
    struct message match = {.kind = MESSAGE_MATCH};
    struct peer matchmaker = {.agent = MATCHMAKER, .identity = "matchmaker", .channel = 1};
    struct edges *edges = edges_new(UNDER);

    for (uint32_t i = 0; i < UNDER; i++) {
        under[i] = (struct under){.peer = {.agent = 60 + i, .identity = "under", .channel = 600 + i},
                                  .claim = 70 + i,
                                  .ticket = {{(unsigned char)i, 7}},
                                  .nonce = {{(unsigned char)i, 8}},
                                  .ad = ad(m->w, "[ Memory = 16; Site = 1 ]")};
        edges->items[i] = (struct edge){.claim = under[i].claim,
                                        .agent = under[i].peer.agent,
                                        .offer = 5,
                                        .port = 1 + i,
                                        .ticket = under[i].ticket,
                                        .ad = tree_ref(under[i].ad)};
    }
    match.u.match_told = (struct match_told){.id = s->offer,
                                             .incarnation = INCARNATION,
                                             .number = 1,
                                             .window = m->w->spans.window,
                                             .gang = s->gang,
                                             .claim = s->claim,
                                             .superior = s->peer.agent,
                                             .superior_ad = s->ad,
                                             .edges = edges};
    say(m->w, &matchmaker, &match);
    edges_unref(edges);
}

static struct sent *under_asked(struct machine *m, const struct under *under)
{
    for (uint32_t i = 0; i < m->w->sent_count; i++)
        if (m->w->sent[i].to == under->peer.agent)
            return &m->w->sent[i];
    return NULL;
}

static void under_agrees(struct machine *m, struct under *under, struct sent *sent)
{
    const struct message *message = &sent->message;
    struct message reply = {.kind = MESSAGE_CLAIMED, .u.claimed = {under->claim, under->epoch, REASON_OK}};

    if (message->kind == MESSAGE_VERIFY) {
        reply = (struct message){.kind = MESSAGE_VERIFIED};
        reply.u.verified = (struct verified){.claim = under->claim, .nonce = under->nonce, .ad = under->ad};
        reply.u.verified.reason = message->u.verify.proves ? REASON_OK : REASON_CHALLENGE;
        ticket_proof(&m->w->secrets, &under->ticket, false, &under->nonce, &message->u.verify.nonce,
                     under->peer.channel, &reply.u.verified.proof);
    } else if (message->kind == MESSAGE_COMMIT) {
        reply.u.claimed.epoch = under->epoch = message->u.commit.epoch;
    } else if (message->kind == MESSAGE_START) {
        under->starts++;
        under->number = message->u.start.number;
        under->job = message->u.start.job;
    } else if (message->kind == MESSAGE_RELEASE) {
        under->releases++;
        reply.u.claimed.reason = REASON_RELEASED;
    } else if (message->kind == MESSAGE_ATTACH) {
        under->epoch = message->u.attach.epoch;
        reply = (struct message){.kind = MESSAGE_ATTACHED};
        reply.u.attached = (struct attached){under->claim,  under->epoch, REASON_OK,        true,
                                             under->number, under->job,   under->starts > 0};
    }
    answer_from(m->w, sent, &under->peer, &reply);
    matchmaker_answers(m->w);
}

/* All below agree to all that they are asked. */
static void unders_agree(struct machine *m, struct under *under)
{
    for (uint32_t i = 0; i < 40; i++)
        if (under_asked(m, &under[i % UNDER]))
            under_agrees(m, &under[i % UNDER], under_asked(m, &under[i % UNDER]));
}

static enum reason under_left(struct machine *m, const struct under *under)
{
    struct message message = {.kind = MESSAGE_LEFT, .u.left = {under->claim, under->epoch, REASON_LEASE}};

    return reason_of(say(m->w, &under->peer, &message));
}

static enum reason under_result(struct machine *m, const struct under *under, int64_t status)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){under->claim, under->number, under->job, REASON_EXITED, status, SECOND};
    return reason_of(say(m->w, &under->peer, &message));
}

#define INNER(more, first, second)                                                                                  \
    "[ Type = \"Machine\"; " more " Ports = { [ Label = up; Constraint = up.Type == \"Job\" ], [ Label = a; " first \
    " Constraint = a.Memory == 16 ], [ Label = b; Wants = a.Site; " second " Constraint = b.Site == a.Site ] } ]"

/* A machine with two below it, and its superior; all have been told to start. */
static void inner_start(struct machine *m, struct suitor *s, struct under *under, const char *text)
{
    machine_start(m, text);
    *s = suitor_new(m, 1, "raman");
    match_inner(m, s, under);
    verify(m, s);
    unders_agree(m, under);
    say_commit(m, s);
    unders_agree(m, under);
    say_activate(m, s, NULL);
    unders_agree(m, under);
    say_start(m, s, 1, 100);
    unders_agree(m, under);
}

static void inner_ports(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    machine_start(&m, INNER("", "", ""));
    s = suitor_new(&m, 1, "raman");
    match_inner(&m, &s, under);
    verify(&m, &s);
    tap_ok(under_asked(&m, &under[1]) &&
               ad_says(m.w, under_asked(&m, &under[1])->message.u.verify.ad, "Ports[2].Wants == 1"),
           "an inner member tells each below it what hangs on the other");
    under[0].ad = ad(m.w, "[ Memory = 16; Site = 2 ]");
    unders_agree(&m, under);
    tap_ok(reply(m.w)->kind == MESSAGE_VERIFIED && reason_of(reply(m.w)) != REASON_OK && is_free(&m, 1),
           "it is not verified itself when its own ports do not accept those below it");
    world_free(m.w, "inner ports");
}

static void inner_reduced(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    inner_start(&m, &s, under, INNER("", "Essential = false;", ""));
    tap_ok(under[0].starts == 1 && under[1].starts == 1 && m.w->launches == 1,
           "an inner member and all below it start");
    tap_ok(under_left(&m, &under[0]) == REASON_OK && holds(&m, 1, TENANT_CLAIMED) && !under_asked(&m, &under[1]) &&
               !sent_of(m.w, MESSAGE_LEFT),
           "it goes on without one that is not essential, and tells nobody");
    tap_ok(row_of(m.w, RECORD_BRANCH, under[0].claim)->u.branch_record.dropped, "but records it");
    world_restart(m.w, true, SECOND);
    tap_ok(under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE &&
               under_asked(&m, &under[1])->message.kind == MESSAGE_ATTACH,
           "after a restart it attaches to those that are left");
    unders_agree(&m, under);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.running, "and goes on");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(say_activate(&m, &s, s.ad) == REASON_LIFE, "it is not used for the next job");
    say_release(&m, &s);
    unders_agree(&m, under);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_BRANCH) == 0, "it is released with all that is left");
    world_free(m.w, "an inner member goes on");

    inner_start(&m, &s, under, INNER("", "Essential = false;", ""));
    under_left(&m, &under[1]);
    tap_ok(holds(&m, 1, TENANT_STOPPING) && m.w->stops == 1 &&
               under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE,
           "without one that is essential it ends, and releases the other");
    unders_agree(&m, under);
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(sent_of(m.w, MESSAGE_LEFT) != NULL, "and tells its superior");
    world_free(m.w, "an inner member ends");
}

/* Told to activate, not yet cleared below, and both ends restart: it begins whole all the same. */
static void inner_unbegun(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    machine_start(&m, INNER("", "Essential = false;", ""));
    s = suitor_new(&m, 1, "raman");
    match_inner(&m, &s, under);
    verify(&m, &s);
    unders_agree(&m, under);
    say_commit(&m, &s);
    unders_agree(&m, under);
    say_activate(&m, &s, NULL);
    world_restart(m.w, true, SECOND);
    tap_ok(say_attach(&m, &s, 2).reason == REASON_OK && holds(&m, 1, TENANT_CLAIMED),
           "an inner member that has not cleared the way below is attached to after restarts");
    under_left(&m, &under[0]);
    tap_ok(!holds(&m, 1, TENANT_CLAIMED), "it has not begun: without one below it ends, essential or not");
    world_free(m.w, "restarts before the way is clear");
}

/* Two of its offers are in one gang, and only one of them leads somebody. */
static void inner_beside(void)
{
    struct machine m;
    struct event event = {.kind = EVENT_PROBED, .claim = 1};
    struct suitor plain, s;
    struct under under[UNDER];

    machine_make(&m, PLAIN);
    m.ads[1] = ad(m.w, INNER("", "", ""));
    m.settings.count = 2;
    world_start(m.w);
    probe(&m, AWAY);
    plain = suitor_new(&m, 1, "raman");
    come_to(&m, &plain, TENANT_CLAIMED);
    event.ad = ad(m.w, "[ Left = 7 ]");
    happen(m.w, &event);
    s = suitor_new(&m, 2, "raman");
    s.offer = OFFER + 1;
    s.gang = plain.gang;
    match_inner(&m, &s, under);
    verify(&m, &s);
    unders_agree(&m, under);
    say_commit(&m, &s);
    unders_agree(&m, under);
    say_activate(&m, &s, NULL);
    unders_agree(&m, under);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && holds(&m, 2, TENANT_CLAIMED), "two offers are members of one gang");
    world_restart(m.w, true, SECOND);
    unders_agree(&m, under);
    say_release(&m, &plain);
    tap_ok(is_free(&m, 1) && holds(&m, 2, TENANT_CLAIMED) && !under_asked(&m, &under[0]),
           "after a restart the one without members is released by itself");
    say_release(&m, &s);
    tap_ok(holds(&m, 2, TENANT_STOPPING) && under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE,
           "and the other when all that it leads are gone");
    unders_agree(&m, under);
    tap_ok(is_free(&m, 2) && row_count(m.w, RECORD_BRANCH) == 0, "then nothing is left");
    world_free(m.w, "two members of one gang");
}

static void inner_results(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    inner_start(&m, &s, under, INNER("", "Essential = false;", ""));
    tap_ok(under_result(&m, &under[1], 0) == REASON_OK && holds(&m, 1, TENANT_CLAIMED) && !sent_of(m.w, MESSAGE_RESULT),
           "one below that ends well is no loss, and no result");
    under_result(&m, &under[0], 1);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE,
           "one that fails and is not essential is dropped");
    tap_ok(under_result(&m, &under[1], 1) == REASON_WAIT && holds(&m, 1, TENANT_STOPPING),
           "one that fails and is essential ends it, and is to say so again until it is over");
    world_restart(m.w, true, SECOND);
    unders_agree(&m, under);
    under_result(&m, &under[1], 1);
    tap_ok(holds(&m, 1, TENANT_STOPPING), "so a restart between does not revive it");
    unders_agree(&m, under);
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(is_free(&m, 1) && under_result(&m, &under[1], 1) == REASON_UNKNOWN, "then it need not any more");
    world_free(m.w, "results below");

    inner_start(&m, &s, under, INNER("Executes = false;", "", ""));
    tap_ok(m.w->launches == 0 && under[0].starts == 1 && under[1].starts == 1,
           "one that executes nothing starts those below it all the same");
    under_result(&m, &under[1], 0);
    tap_ok(!sent_of(m.w, MESSAGE_RESULT), "the second below it has no say");
    tap_ok(under_result(&m, &under[0], 4) == REASON_OK && sent_of(m.w, MESSAGE_RESULT) &&
               sent_of(m.w, MESSAGE_RESULT)->message.u.result.claim == 1 &&
               sent_of(m.w, MESSAGE_RESULT)->message.u.result.status == 4,
           "the result of the first is its own");
    under_result(&m, &under[0], 4);
    tap_ok(row_count(m.w, RECORD_OUTCOME) == 1, "once");
    world_free(m.w, "a result from below");
}

/* ------------------------------------------------------------------------------------------------ below a service */

/* A service comes to claim, with its port for machines, for a job of raman's. */
static struct suitor service_new(struct machine *m)
{
    struct suitor s = suitor_new(m, 1, "services");

    s.root_owner = "raman";
    s.port = 1;
    s.ad =
        ad(m->w,
           "[ Type = \"Service\"; Owner = \"services\"; AccountingGroup = \"none\"; Executes = false; TimeLimit = 5; "
           "Ports = { [ Label = up ], [ Label = cpu; Type = \"Job\"; RequestMemory = 16 ] } ]");
    return s;
}

static struct tree *task_of(struct machine *m)
{
    return ad(m->w, "[ Type = \"Job\"; Owner = \"raman\"; Cmd = \"render\"; TimeLimit = 60; RequestMemory = 4096; "
                    "RequestDisk = 100; AccountingGroup = \"film\"; ConcurrencyLimits = \"render:2\" ]");
}

static enum reason start_task(struct machine *m, struct suitor *s, struct tree *task)
{
    struct message start = {.kind = MESSAGE_START};

    start.u.start = (struct start){.claim = s->claim,
                                   .epoch = s->epoch,
                                   .sequence = ++s->sequence,
                                   .job = 100,
                                   .number = 1,
                                   .ad = s->ad,
                                   .task = task,
                                   .customer = 7,
                                   .line = 77,
                                   .pass = {{1, 2, 3}}};
    return reason_of(say(m->w, &s->peer, &start));
}

static bool duty_is(struct machine *m, uint64_t claim)
{
    struct duty duty = look(m, claim).view.duty;

    return duty.customer == 7 && duty.line == 77 && duty.pass.bytes[2] == 3 && !duty.helps &&
           ad_says(m->w, duty.ad, "Cmd == \"render\"");
}

static void below_a_service(void)
{
    struct machine m;
    struct suitor s;

    machine_start(
        &m, "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" && other.RequestMemory <= Memory; "
            "Residual = [ Memory = Memory - other.RequestMemory ] ]");
    s = service_new(&m);
    come_to(&m, &s, TENANT_CLAIMED);
    pass_beating(&m, &s, 2 * m.w->spans.lease);
    tap_ok(m.w->reports == 0, "below a service nothing is reported before it is known what runs: of which group it is");
    tap_ok(start_task(&m, &s, task_of(&m)) == REASON_OK && m.w->launches == 1 &&
               ad_says(m.w, m.w->launched, "Cmd == \"render\" && Owner == \"raman\""),
           "below a service the job at the root is run, not the service's ad");
    tap_ok(ad_says(m.w, m.w->launched, "RequestMemory == 16 && isUndefined(RequestDisk)"),
           "it may use what the service's port has asked for, not what the job says");
    tap_ok(m.w->launchers[0].span == 60 * SECOND, "and has the job's time");
    tap_ok(advertises(&m, "Memory == 48"), "what is left is what that port leaves");
    tap_ok(duty_is(&m, 1), "it is known whom to ask for its files, and by what right");
    world_restart(m.w, true, SECOND);
    tap_ok(duty_is(&m, 1) && look(&m, 1).view.running, "also after a restart");
    pass_beating(&m, &s, 2 * m.w->spans.lease);
    tap_ok(m.w->reports > 0 && strcmp(m.w->report.owner.bytes, "raman") == 0 &&
               strcmp(m.w->report.group.bytes, "film") == 0 && strcmp(m.w->report.limits.bytes, "render:2") == 0,
           "what it uses is charged to the owner of the job at the root, with that job's group and limits");
    world_free(m.w, "below a service");

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    s.root_owner = "somebody";
    s.false_root = true;
    come_to_run(&m, &s, 100);
    pass_beating(&m, &s, 2 * m.w->spans.lease);
    tap_ok(m.w->reports > 0 && strcmp(m.w->report.owner.bytes, "raman") == 0,
           "nobody can have another charged: what the ticket does not say of the root's owner is not believed");
    world_free(m.w, "a false root");
}

static void ports_ask_for_more(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Memory = 64 ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Type = \"Job\"; Owner = \"raman\"; RequestMemory = 8; RequestCpus = 2; Ports = { [ Label = a ], "
                   "[ Label = cpu; RequestMemory = cpu.Memory / 2 ] } ]");
    s.port = 1;
    come_to_run(&m, &s, 100);
    tap_ok(ad_says(m.w, m.w->launched, "RequestMemory == 32 && RequestCpus == 2"),
           "a job with ports may use what the port asks for, and else what the job does");
    world_free(m.w, "ports that ask for more");
}

static struct duty told_duty(struct machine *m, const struct under *under)
{
    const struct start *start = &under_asked(m, under)->message.u.start;

    if (under_asked(m, under)->message.kind != MESSAGE_START)
        return (struct duty){0};
    return (struct duty){start->task, start->customer, start->line, start->pass, start->helps};
}

/* All are active; the start has been told to the service, and by it. */
static void service_started(struct machine *m, struct suitor *s, struct under *under, const char *text)
{
    machine_start(m, text);
    *s = suitor_new(m, 1, "raman");
    match_inner(m, s, under);
    verify(m, s);
    tap_ok(strcmp(under_asked(m, &under[0])->message.u.verify.root_owner.bytes, "raman") == 0,
           "a service tells those below it whose job it is");
    unders_agree(m, under);
    say_commit(m, s);
    unders_agree(m, under);
    say_activate(m, s, NULL);
    unders_agree(m, under);
    start_task(m, s, NULL);
}

static void handed_down(void)
{
    static const struct key none;
    struct machine m;
    struct suitor s;
    struct under under[UNDER];
    struct duty lead, help;
    struct key made;

    service_started(&m, &s, under, INNER("Executes = false;", "", ""));
    lead = told_duty(&m, &under[0]);
    help = told_duty(&m, &under[1]);
    duty_pass_help(&m.w->secrets, &lead.pass, &made);
    tap_ok(lead.ad && ad_says(m.w, lead.ad, "Owner == \"raman\"") && !lead.helps && lead.pass.bytes[2] == 3,
           "a service hands the job, and the leader's pass, to the first below it that executes");
    tap_ok(help.ad && help.helps && key_equal(&help.pass, &made) && !key_equal(&help.pass, &lead.pass),
           "another one below it gets the job, and a pass that is made from the leader's");
    tap_ok(lead.customer == 7 && lead.line == 77 && help.line == 77, "both are told where to ask, and by what name");
    unders_agree(&m, under);
    world_restart(m.w, true, SECOND);
    tap_ok(row_of(m.w, RECORD_TENANT, 1)->u.tenant_record.line == 77, "all of it is durable");
    world_free(m.w, "handed down");

    service_started(&m, &s, under, INNER("", "", ""));
    lead = told_duty(&m, &under[0]);
    tap_ok(lead.helps && !key_equal(&lead.pass, &none), "below one that runs the job itself all are helpers");
    world_free(m.w, "handed down by one that executes");
}

/* ------------------------------------------------------------------------------------------------ seen from the link */

static void seen_from_the_link(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Suspend = false; Ports = { [ Label = job; Suspend = Busy && job.Patient; "
                      "Constraint = !Busy ] } ]");
    probe(&m, "[ Busy = false ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Patient = false; Ports = { [ Label = a ], [ Label = b; Patient = true ] } ]");
    s.port = 1;
    come_to_run(&m, &s, 100);
    probe(&m, "[ Busy = true ]");
    tap_ok(m.w->suspended && holds(&m, 1, TENANT_CLAIMED),
           "Suspend is what the link says of the port that docks there, as the constraint is");
    world_free(m.w, "suspended by a link");

    machine_start(
        &m, "[ Type = \"Machine\"; Constraint = true; Ports = { [ Label = job; Constraint = !Busy && job.x ] } ]");
    probe(&m, "[ Busy = false ]");
    tap_ok(m.w->put.kind == MESSAGE_ADVERTISE && m.w->withdrawals == 0, "an offer with ports is advertised");
    probe(&m, "[ Busy = true ]");
    pass(m.w, SECOND);
    tap_ok(m.w->withdrawals == 1, "and withdrawn when nobody can dock at its port, whatever stands beside the ports");
    world_free(m.w, "an owner that speaks in a port");

    machine_start(&m, "[ Type = \"Link\"; Mbps = 100; Ports = { [ Label = other1; Essential = false ], [ Label = user; "
                      "Constraint = user.Mbps <= Mbps ] }; Residual = [ Mbps = Mbps - user.Mbps ] ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = a; Mbps = 90 ], [ Label = b; Mbps = 30 ] } ]");
    s.port = 1;
    s.link = 1;
    match(&m, &s, 1);
    pass(m.w, SECOND);
    tap_ok(holds(&m, 1, TENANT_MATCHED) && advertises(&m, "Mbps == 70"),
           "from the match on, what is left is what the port leaves that was matched");
    world_free(m.w, "the ports of a match");
}

/* --------------------------------------------------------------------------------------------------------- nonsense */

static void not_for_a_provider(void)
{
    static const enum message_kind kinds[] = {MESSAGE_ADVERTISE, MESSAGE_WITHDRAW, MESSAGE_BEAT,
                                              MESSAGE_ASK,       MESSAGE_RESULT,   MESSAGE_LEFT,
                                              MESSAGE_REPORT,    MESSAGE_SUBMIT,   MESSAGE_CONTROL};
    struct peer peer = {.agent = 50, .identity = "raman", .channel = 1};
    struct machine m;

    machine_start(&m, PLAIN);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct message message = {.kind = kinds[i]};

        say(m.w, &peer, &message);
        tap_ok(reply(m.w)->kind == message_answer(kinds[i]) && reason_of(reply(m.w)) != REASON_OK,
               "%s is not for a provider, and is answered with a refusal", message_layout(kinds[i])->name);
    }
    for (enum message_kind kind = 1; kind < MESSAGE_COUNT; kind++) {
        struct message message = {.kind = kind};

        say(m.w, &peer, &message);
        if (message_answer(kind) && reason_of(reply(m.w)) == REASON_COUNT)
            world_blame(m.w, "an empty message is not answered", message_layout(kind)->name);
        if (!message_answer(kind) && reply(m.w)->kind)
            world_blame(m.w, "an answer that nobody asked for is answered", message_layout(kind)->name);
    }
    tap_ok(look(&m, 0).count == 0 && m.w->launches == 0,
           "messages with nothing in them are refused and change nothing");
    world_free(m.w, "messages with nothing in them");
}

static void no_ads(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    s.ad = NULL;
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "who verifies without an ad is refused");
    s.ad = ad(m.w, "[ Type = \"Job\" ]");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "and whose ad has no owner");
    s.ad = ad(m.w, "[ Type = \"Job\"; Owner = 17 ]");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "or one that is no name");
    s = suitor_new(&m, 2, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    s.ad = NULL;
    say_start(&m, &s, 1, 100);
    tap_ok(reply(m.w)->kind == MESSAGE_CLAIMED, "a start without an ad has its answer");
    probe(&m, NULL);
    tap_ok(holds(&m, 2, TENANT_CLAIMED), "a probe that tells nothing ends no claim");
    world_free(m.w, "no ads");
}

static void random_event(struct machine *m, struct suitor *suitors, struct rng *rng)
{
    struct message message = {.kind = 1 + (enum message_kind)rng_below(rng, MESSAGE_COUNT - 1)};
    struct suitor *s = &suitors[rng_below(rng, 3)];
    struct event event = {.kind = EVENT_PROBED, .claim = rng_below(rng, 3)};

    switch (rng_below(rng, 12)) {
    case 0:
        event.ad = m->w->trees[3 + rng_below(rng, 5)];
        happen(m->w, &event);
        break;
    case 1:
        pass(m->w, (int64_t)rng_below(rng, 8) * SECOND);
        break;
    case 2:
        job_news(m, some_word(rng), some_word(rng), (enum job_news)rng_below(rng, 3), REASON_EXITED, 0);
        break;
    case 3:
        if (m->w->sent_count) {
            message.kind = message_answer(m->w->sent[0].message.kind);
            message_scramble(m->w, rng, &message);
            answer(m->w, &m->w->sent[0], rng_below(rng, 5) ? &message : NULL);
        }
        break;
    case 4:
        verify(m, s);
        break;
    case 5:
        say_commit(m, s);
        break;
    case 6:
        say_activate(m, s, NULL);
        break;
    case 7:
        say_start(m, s, some_word(rng), some_word(rng));
        break;
    case 8:
        if (!rng_below(rng, 20))
            world_restart(m->w, rng_below(rng, 2), SECOND);
        break;
    default:
        message_scramble(m->w, rng, &message);
        say(m->w, &s->peer, &message);
        break;
    }
}

static void nonsense(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_setting("BERTH_ROUNDS", 40);
    bool clean = true;

    for (uint64_t round = 0; round < rounds && clean; round++) {
        struct suitor suitors[3];
        struct machine m;
        struct rng rng;

        rng_init(&rng, seed + round);
        machine_start(&m, round % 2 ? SHARED : PLAIN);
        for (uint64_t i = 0; i < 3; i++)
            suitors[i] = suitor_new(&m, i + 1, "raman");
        ad(m.w, TYPING);
        ad(m.w, BUSY);
        ad(m.w, "[ Constraint = 1; Cpus = \"x\"; Owner = error; Count = -1 ]");
        for (int i = 0; i < 400 && !m.w->fault; i++)
            random_event(&m, suitors, &rng);
        if (m.w->fault)
            tap_diag("seed %llu: %s", (unsigned long long)(seed + round), m.w->fault);
        clean = !m.w->fault;
        world_drop(m.w);
    }
    tap_ok(clean, "whatever comes in whatever order, the books are in order (seed %llu, %llu rounds)",
           (unsigned long long)seed, (unsigned long long)rounds);
}

static void suspension(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Cpus = 4; Busy = false; Constraint = !Busy && other.Type == \"Job\"; "
                      "Suspend = Busy && other.Owner == \"raman\" ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, "[ Load = 1 ]");
    tap_ok(!m.w->suspended && holds(&m, 1, TENANT_CLAIMED), "a job runs while the owner does not mind");
    world_free(m.w, "no suspension");

    machine_start(&m, "[ Type = \"Machine\"; Cpus = 4; Constraint = !Busy && other.Type == \"Job\"; "
                      "Suspend = Busy && other.Owner == \"raman\" ]");
    probe(&m, "[ Busy = false ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, "[ Busy = true ]");
    tap_ok(m.w->suspended && holds(&m, 1, TENANT_CLAIMED),
           "by Suspend it stands still, and is not sent away though the constraint would");
    probe(&m, "[ Busy = false ]");
    tap_ok(!m.w->suspended && holds(&m, 1, TENANT_CLAIMED), "and goes on when that is over");
    world_free(m.w, "suspension");
}

/* ---------------------------------------------------------------------------------------------------------- preemption */

/* One who was matched with the ad that was advertised last. */
static struct suitor successor_new(struct machine *m, uint64_t claim, const char *owner)
{
    struct suitor s = suitor_new(m, claim, owner);

    s.offer = m->w->put.u.advertise.id;
    s.peer.agent = 50 + claim;
    return s;
}

/* A machine on which raman's job runs under claim 1. */
static struct suitor kept_start(struct machine *m, const char *text)
{
    struct suitor s;

    machine_start(m, text);
    s = suitor_new(m, 1, "raman");
    come_to_run(m, &s, 100);
    return s;
}

static uint64_t behind(struct machine *m, uint64_t claim)
{
    return look(m, claim).view.behind;
}

static void second_ads(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT);
    uint32_t puts;

    tap_ok(advertises(&m, "Preempts == \"0000000000000001\" && RemoteUser == \"raman\" && RemoteOwner == \"raman\" && "
                          "CurrentRank == 1 && ServiceTime == '0:00' && ImageSize == 0 && Memory == 64") &&
               m.w->put.u.advertise.id != OFFER,
           "beside a claim a second ad is advertised, if the owner says Preemption");
    puts = m.w->puts;
    pass_beating(&m, &s, m.w->spans.lifetime / 3 - 2 * SECOND);
    tap_ok(m.w->puts <= puts + 1, "it is not told every second how long the claim lasts");
    pass_beating(&m, &s, 4 * SECOND);
    tap_ok(advertises(&m, "ServiceTime > '0:00:30' && ServiceTime <= '1:00:00'"), "but now and then");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s);
    tap_ok(advertises(&m, "Preempts is undefined && Memory == 64") && m.w->put.u.advertise.id == OFFER &&
               m.w->withdrawals > 0,
           "when the claim is over the second ad is withdrawn, and the first one is there again");
    world_free(m.w, "the second ad");
    kept_start(&m, PLAIN);
    tap_ok(m.w->put.u.advertise.id == OFFER && m.w->withdrawals == 1, "an owner who does not say so has none");
    world_free(m.w, "no second ad");
    kept_start(&m, "[ Type = \"Machine\"; Preemption = other.Owner != \"raman\"; Constraint = other.Type == \"Job\" ]");
    tap_ok(m.w->put.u.advertise.id == OFFER && m.w->withdrawals == 1, "he may say whose jobs are safe");
    world_free(m.w, "a job that is safe");
    machine_start(&m, KEPT);
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"raman\"; AccountingGroup = \"physics\"; "
                   "Constraint = other.Type == \"Machine\" ]");
    come_to_run(&m, &s, 100);
    tap_ok(advertises(&m, "Preempts == \"0000000000000001\" && RemoteUser == \"raman\" && RemoteGroup == \"physics\""),
           "it says the group that the job is charged to");
    world_free(m.w, "a job of a group");
}

static void preempts(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada"), other = successor_new(&m, 3, "ada");
    uint32_t launches = m.w->launches;

    match(&m, &next, 1);
    tap_ok(verify(&m, &next) == REASON_OK && ad_says(m.w, next.heard.ad, "Preempts is undefined && Memory == 64"),
           "a successor is verified as if the claim had ended");
    tap_ok(say_commit(&m, &next) == REASON_OK && holds(&m, 2, TENANT_PINNED) && behind(&m, 2) == 1,
           "and pinned behind it");
    tap_ok(m.w->stops == 0 && holds(&m, 1, TENANT_CLAIMED), "nothing is evicted before the gang has formed");
    tap_ok(verify(&m, &other) == REASON_BUSY, "there is one successor at a time");
    tap_ok(say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 1 && m.w->stop_span == m.w->spans.grace,
           "activation begins the eviction, with its time of grace, and is answered: wait");
    tap_ok(holds(&m, 1, TENANT_STOPPING) && holds(&m, 2, TENANT_CLAIMED) && behind(&m, 2) == 1,
           "the successor is claimed meanwhile, and waits");
    tap_ok(say_start(&m, &next, 1, 200) == REASON_WAIT && m.w->launches == launches, "it cannot start");
    next.sequence -= 2;
    tap_ok(say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 1, "saying it again changes nothing");
    pass_beating(&m, &next, m.w->spans.lease * 2);
    tap_ok(holds(&m, 2, TENANT_CLAIMED), "its heart beats keep it, however long that takes");
    job_news(&m, 1, 1, JOB_GONE, REASON_PREEMPTED, 0);
    tap_ok(is_free(&m, 1) && sent_of(m.w, MESSAGE_LEFT) &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_PREEMPTED,
           "when nothing is left of it its customer hears why");
    next.sequence--;
    tap_ok(say_activate(&m, &next, NULL) == REASON_OK && behind(&m, 2) == 0, "then the way is free");
    tap_ok(say_start(&m, &next, 1, 200) == REASON_OK && m.w->launches == launches + 1, "and the successor starts");
    tap_ok(advertises(&m, "RemoteUser == \"ada\" && CurrentRank == 2"), "now it is the one that may have to go");
    (void)s;
    world_free(m.w, "a preemption");
}

static void release_saves_nobody(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");

    come_to(&m, &next, TENANT_CLAIMED);
    tap_ok(say_release(&m, &s) == REASON_COUNT && holds(&m, 1, TENANT_STOPPING) && m.w->stops == 1,
           "a release while it is evicted changes nothing");
    job_news(&m, 1, 1, JOB_GONE, REASON_PREEMPTED, 0);
    tap_ok(is_free(&m, 1) && reason_of(reply(m.w)) == REASON_RELEASED && behind(&m, 2) == 0,
           "it is answered when nothing is left, and the successor follows");
    world_free(m.w, "a release while evicted");
}

static void successor_gives_up(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada"), last;
    struct key key = m.w->put.u.advertise.key;
    uint32_t puts;

    match(&m, &next, 1);
    come_to(&m, &next, TENANT_PINNED);
    tap_ok(m.w->update.kind == MESSAGE_WITHDRAW || m.w->withdrawals > 0,
           "while there is a successor no second ad is there");
    puts = m.w->puts;
    say_abort(&m, &next);
    tap_ok(is_free(&m, 2) && holds(&m, 1, TENANT_CLAIMED) && m.w->stops == 0, "when it aborts, the claim goes on");
    tap_ok(m.w->puts > puts && advertises(&m, "RemoteUser == \"raman\""), "and the second ad is there again");
    tap_ok(key_equal(&key, &m.w->put.u.advertise.key), "with the same key, since it is for the same claim");
    last = successor_new(&m, 3, "ada");
    come_to(&m, &last, TENANT_PINNED);
    pass_beating(&m, &s, m.w->spans.pin + SECOND);
    tap_ok(is_free(&m, 3) && holds(&m, 1, TENANT_CLAIMED) && m.w->stops == 0,
           "nor does a pin lease that ends disturb it");
    world_free(m.w, "successors that give up");
}

static void claim_ends_first(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");
    uint32_t puts;

    come_to(&m, &next, TENANT_PINNED);
    puts = m.w->puts;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s);
    tap_ok(is_free(&m, 1) && behind(&m, 2) == 0 && holds(&m, 2, TENANT_PINNED),
           "a claim that ends by itself makes room");
    tap_ok(m.w->puts == puts && accepts(&m, "ada") != REASON_OK, "nothing is offered in between");
    tap_ok(say_activate(&m, &next, NULL) == REASON_OK && m.w->stops == 0, "and nobody has to be evicted");
    world_free(m.w, "a claim that ends first");
}

static void ranks_and_tickets(void)
{
    struct machine m;
    struct suitor s, worse, equal, late;
    struct key key;

    machine_start(&m, KEPT);
    s = suitor_new(&m, 1, "ada");
    come_to_run(&m, &s, 100);
    worse = successor_new(&m, 2, "raman");
    tap_ok(verify(&m, &worse) == REASON_CONSTRAINT, "who is liked less than the present one is refused");
    equal = successor_new(&m, 3, "ada");
    tap_ok(verify(&m, &equal) == REASON_OK, "who is liked as well may come, if the matchmaker's policy says so");
    say_abort(&m, &equal);
    late = successor_new(&m, 4, "ada");
    key = m.w->put.u.advertise.key;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s);
    tap_ok(verify(&m, &late) == REASON_UNKNOWN, "who comes when the claim is over finds nothing to follow");
    s = suitor_new(&m, 5, "raman");
    come_to_run(&m, &s, 100);
    late.key = &key;
    tap_ok(verify(&m, &late) == REASON_TICKET, "a ticket for one claim is not good for the next");
    world_free(m.w, "ranks and tickets");
}

static void successors_and_restarts(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");
    uint32_t stops;

    come_to(&m, &next, TENANT_PINNED);
    world_restart(m.w, true, SECOND);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && holds(&m, 2, TENANT_PINNED) && behind(&m, 2) == 1 && m.w->stops == 0,
           "after a restart a successor is still behind the claim");
    tap_ok(say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 1, "and its activation evicts");
    stops = m.w->stops;
    world_restart(m.w, true, SECOND);
    tap_ok(m.w->stops > stops && holds(&m, 1, TENANT_STOPPING) && behind(&m, 2) == 1,
           "an eviction goes on after a restart");
    job_news(&m, 1, 1, JOB_GONE, REASON_PREEMPTED, 0);
    tap_ok(behind(&m, 2) == 0 && holds(&m, 2, TENANT_CLAIMED), "to its end");
    world_restart(m.w, true, SECOND);
    next.sequence--;
    tap_ok(behind(&m, 2) == 0 && say_activate(&m, &next, NULL) == REASON_OK, "which is remembered");
    (void)s;
    world_free(m.w, "successors and restarts");
}

/* After a reboot it goes down again when so many of its rows are on disk; then it starts once more, in that boot. How many there were in all.
 * A disk has its rows in any order: as they came, or `turned`. */
static uint32_t reboot_torn(uint32_t durable, bool turned, bool *ret_free)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");
    uint32_t rows;

    come_to(&m, &next, TENANT_PINNED);
    say_activate(&m, &next, NULL);
    for (uint32_t i = 0; turned && i < m.w->row_count / 2; i++) {
        struct record row = m.w->rows[i];

        m.w->rows[i] = m.w->rows[m.w->row_count - 1 - i];
        m.w->rows[m.w->row_count - 1 - i] = row;
    }
    m.w->slow = true;
    world_restart(m.w, false, SECOND);
    rows = m.w->pending_count;
    for (uint32_t i = 0; i < durable && i < rows; i++)
        row_keep(m.w, &m.w->pending[i]);
    m.w->slow = false;
    world_restart(m.w, true, SECOND);
    *ret_free = is_free(&m, 1) && is_free(&m, 2);
    (void)s;
    world_drop(m.w);
    return rows;
}

static void successors_and_reboots(void)
{
    for (int turned = 0; turned < 2; turned++) {
        bool all = true, freed = true;
        uint32_t rows = 0;

        for (uint32_t durable = 0; durable <= rows; durable++) {
            rows = reboot_torn(durable, turned, &freed);
            all = all && freed;
        }
        tap_ok(all && rows >= 3, "claims from before a reboot stay lost, whatever of its %u rows was written", rows);
    }
}

static void shares_and_successors(void)
{
    struct machine m;
    struct suitor one, two, next, small;
    struct key key;

    machine_start(&m, KEPT_SHARED);
    key = m.w->put.u.advertise.key;
    one = suitor_new(&m, 1, "ada");
    one.peer.agent = 51;
    come_to_run(&m, &one, 101);
    two = suitor_new(&m, 2, "raman");
    two.key = &key;
    come_to_run(&m, &two, 102);
    tap_ok(advertises(&m, "Preempts == \"0000000000000002\" && Cpus == 5 && Residual is undefined"),
           "of several claims the one that the owner likes least may have to go: the ad is what is left without it");
    next = successor_new(&m, 3, "ada");
    next.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 5; Owner = \"ada\" ]");
    small = suitor_new(&m, 4, "eve");
    small.key = &key;
    small.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 2; Owner = \"eve\" ]");
    come_to(&m, &next, TENANT_PINNED);
    tap_ok(holds(&m, 3, TENANT_PINNED) && behind(&m, 3) == 2, "the successor may take more than the claim has");
    tap_ok(verify(&m, &small) == REASON_CONSTRAINT, "what it takes beyond that is reserved at once");
    say_abort(&m, &next);
    tap_ok(verify(&m, &small) == REASON_OK, "and free again when it does not come");
    world_free(m.w, "shares and successors");
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
    tickets();
    used_tickets();
    keys_turn();
    one_at_a_time();
    constraint_now();
    commit_is_durable();
    pins_end();
    pins_and_restarts();
    asked_and_aborted();
    activation_in_time();
    activation_is_durable();
    start_and_launch();
    one_job_at_a_time();
    suspension();
    results();
    results_are_kept();
    used_again();
    claim_of_one_owner();
    life_of_a_claim();
    usage();
    claims_told();
    heart_beats();
    beat_refused();
    lease_over();
    release_waits();
    release_without_job();
    released_early();
    job_gone_by_itself();
    forgotten_by_the_customer();
    older_messages();
    attach();
    attach_to_a_pin();
    attach_to_a_result();
    restart_in_the_boot();
    restart_past_the_lease();
    job_lost();
    another_boot();
    veto();
    result_beats_veto();
    shares();
    no_larger_than_claimed();
    shares_under_verification();
    drain();
    drain_what_waits();
    drain_now();
    drained_before();
    docked_by_a_link();
    executes_nothing();
    cleared_for_the_next();
    inner_ports();
    inner_reduced();
    inner_unbegun();
    inner_beside();
    inner_results();
    below_a_service();
    ports_ask_for_more();
    handed_down();
    seen_from_the_link();
    second_ads();
    preempts();
    release_saves_nobody();
    successor_gives_up();
    claim_ends_first();
    ranks_and_tickets();
    successors_and_restarts();
    successors_and_reboots();
    shares_and_successors();
    not_for_a_provider();
    no_ads();
    nonsense();
    return tap_done();
}
