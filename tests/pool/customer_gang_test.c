/* customer_gang_test.c: a customer claims whole gangs, goes on without those that are not essential, and starts the others together. */
#include "office.h"

static void gang_of_two(void)
{
    struct office o;
    struct host hosts[2];

    office_start(&o);
    submit(&o, "k", 1, JOB);
    hosts[0] = host_new(&o, 1);
    hosts[1] = host_new(&o, 2);
    match_gang(&o, o.w->put.u.advertise.id, 1, hosts, 2);
    host_until(&o, &hosts[0], MESSAGE_COMMIT);
    tap_ok(!asked(&o, &hosts[0]) && is_asked(&o, &hosts[1], MESSAGE_VERIFY),
           "no member of a gang is committed to before all are verified");
    host_until(&o, &hosts[1], MESSAGE_COMMIT);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_COMMIT) && is_asked(&o, &hosts[1], MESSAGE_COMMIT), "then all are");
    host_agrees(&o, &hosts[0]);
    tap_ok(!asked(&o, &hosts[0]), "none is activated before all are pinned");
    host_agrees(&o, &hosts[1]);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_ACTIVATE) && is_asked(&o, &hosts[1], MESSAGE_ACTIVATE), "then all are");
    host_agrees(&o, &hosts[0]);
    tap_ok(hosts[0].starts == 0 && !asked(&o, &hosts[0]), "nothing starts before all have cleared the way");
    host_agrees(&o, &hosts[1]);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_START) || is_asked(&o, &hosts[1], MESSAGE_START), "then it does");
    host_until(&o, &hosts[0], MESSAGE_NONE);
    host_until(&o, &hosts[1], MESSAGE_NONE);
    left(&o, &hosts[1], REASON_LEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE), "when one is lost the others are released");
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1, "and the job is not run elsewhere before all are gone");
    host_until(&o, &hosts[0], MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && row_count(o.w, RECORD_BRANCH) == 0, "then it waits again");
    world_free(o.w, "a gang");
}

/* ------------------------------------------------------------------------------------------------------- real gangs */

#define PAIR(essential)                                                                                               \
    "[ Type = \"Job\"; Ports = { [ Label = cpu; Executes = true; Essential = false; Constraint = cpu.Memory >= 32 ]," \
    " [ Label = lic; Executes = true; HostId = cpu.Key; " essential " Constraint = lic.Site == cpu.Site ] } ]"

/* Two hosts, docked at the ports of the request that was advertised last. */
static void match_pair(struct office *o, uint64_t number, struct host *hosts, const char *first, const char *second)
{
    struct message message = {.kind = MESSAGE_MATCH};
    struct edges *edges = edges_new(2);

    for (uint32_t i = 0; i < 2; i++) {
        hosts[i] = host_new(o, 2 * number - 1 + i);
        hosts[i].ad = ad(o->w, i ? second : first);
        hosts[i].gang = hosts[0].gang;
        /* the matchmaker may tell them in any order */
        edges->items[1 - i] = (struct edge){.claim = hosts[i].claim,
                                            .agent = hosts[i].peer.agent,
                                            .offer = hosts[i].offer,
                                            .port = i,
                                            .ticket = hosts[i].ticket,
                                            .ad = tree_ref(hosts[i].ad)};
    }
    message.u.match_told = (struct match_told){.id = o->w->put.u.advertise.id,
                                               .incarnation = INCARNATION,
                                               .number = number,
                                               .window = o->w->spans.window,
                                               .gang = hosts[0].gang,
                                               .edges = edges};
    say(o->w, &matchmaker, &message);
    message_done(&message);
}

static void pair_until(struct office *o, struct host *hosts, enum message_kind kind)
{
    for (int i = 0; i < 20; i++)
        host_until(o, &hosts[i % 2], kind);
}

#define MACHINE_1 "[ Key = 90; Memory = 64; Site = 1 ]"
#define LICENCE_1 "[ App = \"a\"; Site = 1; Executes = false ]"
#define HELPER_1 "[ Memory = 64; Site = 1 ]"

static void pair_running(struct office *o, struct host *hosts, uint64_t jobs, const char *text, const char *second)
{
    office_start(o);
    submit(o, "k", jobs, text);
    match_pair(o, 1, hosts, MACHINE_1, second);
    pair_until(o, hosts, MESSAGE_NONE);
}

static void ports_are_verified(void)
{
    struct office o;
    struct host hosts[2];
    const struct verify *verify;

    office_start(&o);
    submit(&o, "k", 1, PAIR(""));
    match_pair(&o, 1, hosts, MACHINE_1, LICENCE_1);
    verify = &asked(&o, &hosts[1])->message.u.verify;
    tap_ok(verify->port == 1 && ad_says(o.w, verify->ad, "Ports[1].HostId == 90"),
           "a member is told at which port it docks, and what hangs on others there");
    hosts[1].ad = ad(o.w, "[ App = \"a\"; Site = 2 ]");
    host_until(&o, &hosts[1], MESSAGE_NONE);
    tap_ok(!root_of(&o, hosts[0].gang).found && jobs_in(&o, JOB_IDLE) == 1,
           "who is not as it was, beside another, is refused by the superior's own port");
    tap_ok(is_off(&o, &hosts[0]), "and who had not answered yet hears that it is off");
    match_pair(&o, 2, hosts, MACHINE_1, LICENCE_1);
    host_until(&o, &hosts[1], MESSAGE_COMMIT);
    tap_ok(root_of(&o, hosts[0].gang).found, "a sibling that is still to be verified is known from the match");
    hosts[0].ad = ad(o.w, "[ Key = 90; Memory = 64; Site = 2 ]");
    host_until(&o, &hosts[0], MESSAGE_COMMIT);
    tap_ok(!root_of(&o, hosts[0].gang).found && !is_asked(&o, &hosts[0], MESSAGE_COMMIT),
           "when all are verified, all ports are looked at once more, by what all are now");
    hosts[0] = host_new(&o, 5);
    match_gang(&o, o.w->put.u.advertise.id, 3, hosts, 1);
    host_until(&o, &hosts[0], MESSAGE_COMMIT);
    tap_ok(!root_of(&o, hosts[0].gang).found, "a gang in which an essential port is empty is not claimed");
    match_pair(&o, 4, hosts, MACHINE_1, LICENCE_1);
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(hosts[0].starts && hosts[1].starts && jobs_in(&o, JOB_RUNNING) == 1, "a gang that fits is started");
    world_free(o.w, "ports that are verified");
}

static void gang_goes_on(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    pair_running(&o, hosts, 3, PAIR("Essential = false;"), HELPER_1);
    job = hosts[0].job;
    left(&o, &hosts[1], REASON_LEASE);
    tap_ok(!asked(&o, &hosts[0]) && job_is(&o, job, JOB_RUNNING) && beat(&o, &hosts[0]) == REASON_OK,
           "without a member that is not essential the gang goes on");
    tap_ok(row_count(o.w, RECORD_BRANCH) == 2 && row_of(o.w, RECORD_BRANCH, hosts[1].claim)->u.branch_record.dropped,
           "that is recorded");
    tap_ok(beat(&o, &hosts[1]) == REASON_RELEASED, "whoever was dropped is told so");
    world_restart(o.w, true, SECOND);
    tap_ok(
        is_asked(&o, &hosts[0], MESSAGE_ATTACH) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
        "after a restart only those are attached to that are left; the other is released, if it should still be there");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_RUNNING && beat(&o, &hosts[0]) == REASON_OK,
           "and the gang goes on");
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && job_is(&o, job, JOB_DONE), "its job gets its result");
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && jobs_in(&o, JOB_IDLE) == 2,
           "a gang that is not whole is not used for the next job");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(row_count(o.w, RECORD_BRANCH) == 0, "nothing is left of it");
    world_free(o.w, "a gang that goes on");
}

/* What the members are started with: by what right they may ask for files. */
static void passes(void)
{
    static const struct key none;
    struct office o;
    struct host hosts[2];
    struct key pass, lead, help;
    struct job_view view;

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    customer_job(o.w->role, hosts[0].job, &view);
    pass = view.pass;
    duty_pass_for(&o.w->secrets, &pass, hosts[0].peer.agent, false, &lead);
    duty_pass_for(&o.w->secrets, &pass, hosts[1].peer.agent, true, &help);
    tap_ok(!hosts[0].duty.helps && !hosts[0].duty.line && key_equal(&hosts[0].duty.pass, &lead),
           "the leader of a gang gets a pass that is made for its agent");
    tap_ok(hosts[1].duty.helps && hosts[1].duty.line == hosts[0].claim && key_equal(&hosts[1].duty.pass, &help) &&
               !key_equal(&lead, &help),
           "a helper is told that it is one, the leader's claim, and gets a pass of its own");
    world_restart(o.w, true, SECOND);
    customer_job(o.w->role, hosts[0].job, &view);
    tap_ok(!key_equal(&pass, &none) && key_equal(&view.pass, &pass), "passes outlive a restart");
    world_free(o.w, "passes");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), LICENCE_1);
    tap_ok(hosts[1].duty.helps && key_equal(&hosts[1].duty.pass, &none), "one that runs nothing gets none");
    world_free(o.w, "no pass for a licence");

    office_start(&o);
    submit(&o, "k", 1, "[ Type = \"Job\" ]");
    hosts[0] = host_new(&o, 1);
    match_gang(&o, o.w->put.u.advertise.id, 1, hosts, 1);
    host_until(&o, &hosts[0], MESSAGE_NONE);
    customer_job(o.w->role, hosts[0].job, &view);
    tap_ok(hosts[0].starts == 1 && key_equal(&view.pass, &none) && !hosts[0].duty.helps && !hosts[0].duty.ad,
           "of a pair nothing of this is said");
    world_free(o.w, "a pair without passes");
}

/* ------------------------------------------------------------------------------------------------ who runs the job */

#define RUNS \
    "Cmd = \"sh\"; Args = { \"-c\", \"x\" }; Env = [ A = \"b\" ]; Iwd = \"/home\"; Inputs = {}; Department = 7; "
#define ASKS "[ Label = cpu; Constraint = cpu.Type == \"Machine\" ]"
#define ASKS_NOT "[ Label = lic; Told = Department; Constraint = lic.App == \"solver\" ]"
#define CPU "[ Type = \"Machine\" ]"
#define FALSE_LICENCE "[ App = \"solver\" ]" /* it does not say that it runs nothing */

/* Has the one who was told it heard what the job runs? */
static bool tells(struct office *o, struct tree *told)
{
    return told && !ad_says(o->w, told,
                            "isUndefined(Cmd) && isUndefined(Args) && isUndefined(Env) && isUndefined(Iwd) && "
                            "isUndefined(Inputs)");
}

static void licence_that_executes(bool first)
{
    static const struct key none;
    struct office o;
    struct host hosts[2], *cpu = &hosts[first], *licence = &hosts[!first];

    office_start(&o);
    submit(&o, "k", 1,
           first ? "[ Type = \"Job\"; " RUNS "Ports = { " ASKS_NOT ", " ASKS " } ]"
                 : "[ Type = \"Job\"; " RUNS "Ports = { " ASKS ", " ASKS_NOT " } ]");
    match_pair(&o, 1, hosts, first ? FALSE_LICENCE : CPU, first ? CPU : FALSE_LICENCE);
    tap_ok(!tells(&o, asked(&o, licence)->message.u.verify.ad) && tells(&o, asked(&o, cpu)->message.u.verify.ad),
           "what the job runs is told to the machine, and not to the licence, though that says it executes");
    tap_ok(ad_says(o.w, asked(&o, licence)->message.u.verify.ad,
                   first ? "Department == 7 && Ports[0].Told == 7 && isUndefined(Ports[1].Constraint)"
                         : "Department == 7 && Ports[1].Told == 7 && isUndefined(Ports[0].Constraint)"),
           "what its port says, and what it may decide by, is told to the licence");
    pair_until(&o, hosts, MESSAGE_START);
    tap_ok(!tells(&o, asked(&o, licence)->message.u.start.ad) && asked(&o, licence)->message.u.start.idle &&
               tells(&o, asked(&o, cpu)->message.u.start.ad) && !asked(&o, cpu)->message.u.start.idle,
           "nor with the start, by which it is told that it runs nothing");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(key_equal(&licence->duty.pass, &none) && !key_equal(&cpu->duty.pass, &none), "it gets no pass to the files");
    tap_ok(job_of(&o, cpu->job).claim == cpu->claim, "and is not the leader, wherever its port stands");
    result(&o, licence, 0);
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1, "what it says is no result");
    result(&o, licence, 1);
    result_of(&o, licence, REASON_SETUP);
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1 && !job_of(&o, cpu->job).tries && !asked(&o, cpu),
           "and cannot use up the job's tries, for it was given nothing that could fail");
    world_free(o.w, "a licence that executes");
}

static struct task_told ask_task(struct office *o, const struct peer *peer, uint64_t gang, uint64_t claim,
                                 uint64_t number, uint64_t job)
{
    struct message message = {.kind = MESSAGE_TASK};
    const struct message *answer;

    message.u.task_asked = (struct task_asked){.gang = gang, .claim = claim, .number = number, .job = job};
    answer = say(o->w, peer, &message);
    return answer && answer->kind == MESSAGE_TASKED ? answer->u.task_told
                                                    : (struct task_told){.reason = REASON_INVALID};
}

/* By the customer's own claim, with what another agent comes. */
static enum reason result_from(struct office *o, const struct peer *peer, const struct host *host, int64_t status)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){
        .claim = host->claim, .number = host->number, .job = host->job, .reason = REASON_EXITED, .status = status};
    return reason_of(say(o->w, peer, &message));
}

#define SERVICE_1 "[ Kind = \"render\"; Executes = false ]"
#define DEEP 900 /* the claim of the machine below the service */

static void match_service(struct office *o, struct host *host, const struct peer *deep)
{
    struct message message = {.kind = MESSAGE_MATCH};
    struct edges *edges = edges_new(1), *below = edges_new(1);

    *host = host_new(o, 1);
    host->ad = ad(o->w, SERVICE_1);
    edges->items[0] = (struct edge){.claim = host->claim,
                                    .agent = host->peer.agent,
                                    .offer = host->offer,
                                    .depth = 1,
                                    .ticket = host->ticket,
                                    .ad = tree_ref(host->ad)};
    below->items[0] = (struct edge){.claim = DEEP, .agent = deep->agent, .under = host->claim};
    message.u.match_told = (struct match_told){.id = o->w->put.u.advertise.id,
                                               .incarnation = INCARNATION,
                                               .number = 1,
                                               .window = o->w->spans.window,
                                               .gang = host->gang,
                                               .edges = edges,
                                               .below = below};
    say(o->w, &matchmaker, &message);
    message_done(&message);
}

/* A service that runs nothing is between the customer and the machine that runs the job. */
static void told_past_a_service(void)
{
    static const struct key none;
    static const struct peer deep = {.agent = 77, .identity = "machine", .channel = 3},
                             other = {.agent = 78, .identity = "machine", .channel = 4};
    struct office o;
    struct host host;
    struct job_view view;
    struct task_told told;
    struct key pass;
    bool silent = true;

    office_start(&o);
    submit(&o, "k", 1,
           "[ Type = \"Job\"; " RUNS "Ports = { [ Label = server; Constraint = server.Kind == \"render\" ] } ]");
    match_service(&o, &host, &deep);
    while (asked(&o, &host) && asked(&o, &host)->message.kind != MESSAGE_START) {
        silent = silent && !(asked(&o, &host)->message.kind == MESSAGE_VERIFY &&
                             tells(&o, asked(&o, &host)->message.u.verify.ad));
        host_agrees(&o, &host);
    }
    tap_ok(silent && !tells(&o, asked(&o, &host)->message.u.start.ad) && !asked(&o, &host)->message.u.start.task &&
               !asked(&o, &host)->message.u.start.idle,
           "a service that runs nothing is not told what the job runs");
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(key_equal(&host.duty.pass, &none), "nor has it any right to the job's files");
    customer_job(o.w->role, host.job, &view);
    told = ask_task(&o, &deep, host.gang, DEEP, 1, host.job);
    duty_pass_for(&o.w->secrets, &view.pass, deep.agent, false, &pass);
    tap_ok(told.reason == REASON_OK && tells(&o, told.ad) && key_equal(&told.pass, &pass) && !told.helps &&
               told.line == view.claim,
           "the machine below it asks the customer itself, and is told the job and given a pass of its own");
    tap_ok(ask_task(&o, &host.peer, host.gang, DEEP, 1, host.job).reason == REASON_IDENTITY &&
               ask_task(&o, &host.peer, host.gang, host.claim, 1, host.job).reason == REASON_IDENTITY &&
               ask_task(&o, &other, host.gang, DEEP, 1, host.job).reason == REASON_IDENTITY,
           "the service is not told, nor is another agent that names the machine's claim");
    tap_ok(ask_task(&o, &deep, host.gang, DEEP, 2, host.job).reason == REASON_STALE &&
               ask_task(&o, &deep, host.gang + 1, DEEP, 1, host.job).reason == REASON_UNKNOWN,
           "nor is anything told of another start, or of a gang that there is not");
    world_restart(o.w, true, SECOND);
    tap_ok(ask_task(&o, &deep, host.gang, DEEP, 1, host.job).reason == REASON_WAIT,
           "a customer that has restarted says nothing before it is attached");
    host_until(&o, &host, MESSAGE_NONE);
    told = ask_task(&o, &deep, host.gang, DEEP, 1, host.job);
    tap_ok(told.reason == REASON_OK && key_equal(&told.pass, &pass) &&
               ask_task(&o, &other, host.gang, DEEP, 1, host.job).reason == REASON_IDENTITY,
           "then it knows as well as before who is to be told");
    result(&o, &host, 0);
    tap_ok(job_is(&o, host.job, JOB_RUNNING), "what the service says of the job's end is no result");
    tap_ok(result_from(&o, &other, &host, 0) != REASON_OK && job_is(&o, host.job, JOB_RUNNING),
           "nor what anybody else says");
    tap_ok(result_from(&o, &deep, &host, 0) == REASON_OK && job_is(&o, host.job, JOB_DONE),
           "the machine's own word is, by the claim that the customer knows");
    world_free(o.w, "past a service");
}

/* Silent, not gone: it may still run. */
static void dropped_and_silent(void)
{
    struct office o;
    struct host hosts[2];

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    pass_beating(&o, &hosts[0], o.w->spans.lease + spans_margin(&o.w->spans) + 20 * SECOND);
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1 && beat(&o, &hosts[0]) == REASON_OK,
           "a member that is silent for a lease is lost as well");
    result(&o, &hosts[0], 1);
    host_until(&o, &hosts[0], MESSAGE_NONE);
    tap_ok(jobs_in(&o, JOB_DONE) == 1, "the leader's failure is the job's result");
    world_free(o.w, "dropped and silent");
}

static void essential_ones(void)
{
    struct office o;
    struct host hosts[2];

    pair_running(&o, hosts, 1, PAIR("Essential = undefined;"), HELPER_1);
    left(&o, &hosts[1], REASON_LEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE), "undefined is essential: the gang ends");
    world_free(o.w, "undefined");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    left(&o, &hosts[0], REASON_LEASE);
    tap_ok(is_asked(&o, &hosts[1], MESSAGE_RELEASE), "the leader is always essential");
    world_free(o.w, "the leader");

    pair_running(&o, hosts, 1, PAIR("Essential = JobRunTime < 60;"), HELPER_1);
    pass_beating(&o, &hosts[0], 30 * SECOND);
    left(&o, &hosts[1], REASON_VETOED);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE), "a member may be essential in the first minute");
    world_free(o.w, "in the first minute");

    pair_running(&o, hosts, 1, PAIR("Essential = JobRunTime < 60;"), HELPER_1);
    for (int i = 0; i < 7; i++) {
        pass_beating(&o, &hosts[0], 10 * SECOND);
        beat(&o, &hosts[1]);
    }
    left(&o, &hosts[1], REASON_VETOED);
    tap_ok(!asked(&o, &hosts[0]) && jobs_in(&o, JOB_RUNNING) == 1, "and not after that");
    world_free(o.w, "after a minute");

    office_start(&o);
    submit(&o, "k", 1, PAIR("Essential = false;"));
    match_pair(&o, 1, hosts, MACHINE_1, HELPER_1);
    pair_until(&o, hosts, MESSAGE_ACTIVATE);
    host_agrees(&o, &hosts[0]);
    host_says(&o, &hosts[1], REASON_PIN);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && !hosts[0].starts,
           "until all have cleared the way, all are essential: a gang begins whole");
    world_free(o.w, "before the start");
}

static void helpers_end(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    pair_running(&o, hosts, 1, PAIR(""), HELPER_1);
    job = hosts[0].job;
    tap_ok(job_of(&o, job).claim == hosts[0].claim && job_of(&o, job).member == hosts[0].peer.agent,
           "the first member in the order of ports is the leader, in whatever order they are told");
    tap_ok(result(&o, &hosts[1], 0) == REASON_OK && job_is(&o, job, JOB_RUNNING) && !asked(&o, &hosts[0]),
           "another that ends well is no loss, and that is not the job's result");
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && job_is(&o, job, JOB_DONE), "the leader's is");
    world_free(o.w, "a helper that ends well");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    result(&o, &hosts[1], 1);
    tap_ok(is_asked(&o, &hosts[1], MESSAGE_RELEASE) && !asked(&o, &hosts[0]) && jobs_in(&o, JOB_RUNNING) == 1,
           "one that fails and is not essential is dropped");
    world_free(o.w, "a helper that fails");

    pair_running(&o, hosts, 1, PAIR(""), HELPER_1);
    job = hosts[0].job;
    result(&o, &hosts[1], 3);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
           "the failure of one that is essential ends the gang");
    tap_ok(job_is(&o, job, JOB_HELD) && job_of(&o, job).status == 3 && job_of(&o, job).tries == 1,
           "that was a try; with none left the job is held, for it has no result");
    pair_until(&o, hosts, MESSAGE_NONE);
    world_free(o.w, "an essential helper that fails");
}

#define PAIR_AGAIN \
    "[ Type = \"Job\"; MaxRetries = 2; Ports = { [ Label = cpu; Executes = true ], [ Label = lic; Executes = true ] } ]"

/* The gang of a job that failed ends, whatever comes between; before that nobody else has the job. */
static void failed_and_restarted(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    pair_running(&o, hosts, 1, PAIR_AGAIN, HELPER_1);
    job = hosts[0].job;
    tap_ok(result(&o, &hosts[0], 1) == REASON_OK && job_is(&o, job, JOB_RUNNING) && job_of(&o, job).tries == 1,
           "a leader fails; the job does not wait again while others may be at it");
    world_restart(o.w, true, SECOND);
    pair_until(&o, hosts, MESSAGE_RELEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
           "a restart does not revive the gang: its leader has nothing more to say");
    pair_until(&o, hosts, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, job, JOB_IDLE) && job_of(&o, job).tries == 1, "then the job waits again, with one try less");
    world_free(o.w, "a leader that failed, and a restart");

    pair_running(&o, hosts, 1, PAIR_AGAIN, HELPER_1);
    job = hosts[0].job;
    tap_ok(result(&o, &hosts[1], 3) == REASON_OK && job_is(&o, job, JOB_RUNNING) && job_of(&o, job).tries == 1,
           "a helper fails that is essential");
    world_restart(o.w, true, SECOND);
    pair_until(&o, hosts, MESSAGE_RELEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
           "a restart does not forget it: the gang ends");
    pair_until(&o, hosts, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, job, JOB_IDLE) && job_of(&o, job).tries == 1, "and the job waits again");
    world_free(o.w, "a helper that failed, and a restart");

    pair_running(&o, hosts, 1, PAIR(""), HELPER_1);
    job = hosts[0].job;
    result_of(&o, &hosts[0], REASON_SETUP);
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, job, JOB_HELD) && control(&o, &raman, job, CONTROL_RELEASE) == REASON_BUSY,
           "a job that is held cannot be released before its gang is gone, a restart between or not");
    pair_until(&o, hosts, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(control(&o, &raman, job, CONTROL_RELEASE) == REASON_OK && job_is(&o, job, JOB_IDLE), "then it can");
    world_free(o.w, "held, and a restart");
}

static void leader_executes(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    office_start(&o);
    submit(&o, "k", 2, PAIR(""));
    match_pair(&o, 1, hosts, "[ Key = 90; Memory = 64; Site = 1; Executes = false ]", HELPER_1);
    pair_until(&o, hosts, MESSAGE_NONE);
    job = hosts[1].job;
    tap_ok(job_of(&o, job).claim == hosts[1].claim, "a member that executes nothing is not the leader");
    tap_ok(hosts[0].starts == 1, "though it is told of the start");
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && job_is(&o, job, JOB_RUNNING), "what it says is no result");
    result(&o, &hosts[1], 0);
    tap_ok(job_is(&o, job, JOB_DONE) && is_asked(&o, &hosts[0], MESSAGE_ACTIVATE),
           "a gang that is whole is used for the next job");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(hosts[0].number == 2 && hosts[1].number == 2 && job_of(&o, hosts[1].job).claim == hosts[1].claim,
           "with the same leader");
    world_free(o.w, "a leader that executes");
}

/* One has begun when the customer comes back, the other has not. */
static void begun_in_part(void)
{
    struct office o;
    struct host hosts[2];

    office_start(&o);
    submit(&o, "k", 1, PAIR(""));
    match_pair(&o, 1, hosts, MACHINE_1, HELPER_1);
    pair_until(&o, hosts, MESSAGE_START);
    host_agrees(&o, &hosts[1]);
    world_restart(o.w, true, SECOND);
    pair_until(&o, hosts, MESSAGE_START);
    tap_ok(hosts[0].activations == 2 && hosts[1].activations == 2 &&
               asked(&o, &hosts[0])->message.u.start.number == 2 && asked(&o, &hosts[1])->message.u.start.number == 2,
           "a gang that had begun in part begins anew, together, under the next number");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && jobs_in(&o, JOB_DONE) == 1, "and does its job");
    world_free(o.w, "begun in part");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    world_restart(o.w, true, SECOND);
    tap_ok(beat(&o, &hosts[0]) == REASON_WAIT, "after a restart a heart beat is not acknowledged at once");
    host_attached(&o, &hosts[1], REASON_LOST, false);
    tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_ATTACHING,
           "who is lost in a restart is judged when all have answered");
    host_until(&o, &hosts[0], MESSAGE_NONE);
    tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_RUNNING && beat(&o, &hosts[0]) == REASON_OK,
           "and the gang goes on without it, if it is not essential");
    world_free(o.w, "lost in a restart");

    for (int essential = 0; essential < 2; essential++) {
        pair_running(&o, hosts, 1, essential ? PAIR("") : PAIR("Essential = JobRunTime < 0;"), HELPER_1);
        world_restart(o.w, true, SECOND);
        host_agrees(&o, &hosts[0]);
        tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_ATTACHING &&
                   beat(&o, &hosts[0]) == (essential ? REASON_WAIT : REASON_OK),
               essential ? "but not while one that it cannot be without may have been lost"
                         : "a member that has answered is held by its heart beats before the others have");
        tap_ok(beat(&o, &hosts[1]) == REASON_WAIT, "one that has not is not");
        host_until(&o, &hosts[1], MESSAGE_NONE);
        tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_RUNNING && beat(&o, &hosts[0]) == REASON_OK &&
                   beat(&o, &hosts[1]) == REASON_OK,
               "when all have answered all are");
        world_free(o.w, "answers one by one");
    }
}

int main(void)
{
    gang_of_two();
    ports_are_verified();
    gang_goes_on();
    passes();
    licence_that_executes(false);
    licence_that_executes(true);
    told_past_a_service();
    dropped_and_silent();
    essential_ones();
    helpers_end();
    failed_and_restarted();
    leader_executes();
    begun_in_part();
    return tap_done();
}
