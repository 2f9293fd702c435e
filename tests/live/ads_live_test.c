/* ads_live_test.c: ads as resources of a real matchmaker: put, replaced, renewed, withdrawn, asked for; who may, and who sees what; and
 * what bad input gets. */
#include "common/tap.h"
#include "live.h"

#include "lang/ad/get.h"
#include "live/auth/offer_key.h"
#include "live/matchmakerd/agents.h"
#include "live/matchmakerd/ids.h"
#include "pool/protocol/ticket.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AGENT_SCOPES (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_MATCH | SCOPE_CLAIM)
#define QUICK 3000 /* milliseconds that the answer to bad input may take, on a slow machine under sanitizers */

struct world {
    struct live live;
    struct talk talk;
    char *alice, *bob, *admin;
};

static void world_start(struct world *world, const char *const *settings, size_t count)
{
    live_start(&world->live, settings, count);
    talk_init(&world->talk, &world->live);
    world->alice = live_token(&world->live, "alice", AGENT_SCOPES);
    world->bob = live_token(&world->live, "bob", AGENT_SCOPES);
    world->admin = live_token(&world->live, "root", SCOPE_ALL);
}

static void world_stop(struct world *world)
{
    talk_done(&world->talk);
    tap_ok(live_stop(&world->live) == 0, "told to end, it ends well");
    live_done(&world->live);
    free(world->alice);
    free(world->bob);
    free(world->admin);
}

/* The last answer's status is that one. */
__attribute__((format(printf, 3, 4))) static bool expect(struct world *world, unsigned status, const char *format, ...)
{
    char text[512];
    va_list args;
    bool good;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    good = tap_ok(world->talk.reply.status == status, "%s (%u)", text, status);
    if (!good)
        tap_diag("%u %.500s", world->talk.reply.status, reply_show(&world->talk.reply));
    return good;
}

static unsigned put(struct world *world, const char *token, const char *id, const char *fields, const char *ad)
{
    char path[300];

    snprintf(path, sizeof path, "/v1/ads/%s", id);
    return talk_ask(&world->talk, token, "PUT", path, fields, ad);
}

static unsigned get(struct world *world, const char *token, const char *id, const char *fields)
{
    char path[300];

    snprintf(path, sizeof path, "/v1/ads/%s", id);
    return talk_ask(&world->talk, token, "GET", path, fields, NULL);
}

static unsigned delete (struct world *world, const char *token, const char *id, const char *fields)
{
    char path[300];

    snprintf(path, sizeof path, "/v1/ads/%s", id);
    return talk_ask(&world->talk, token, "DELETE", path, fields, NULL);
}

/* GET /v1/ads with that constraint; whatever has a meaning in an address is escaped. `more`: further parameters, "&limit=1". */
static unsigned query(struct world *world, const char *token, const char *constraint, const char *more)
{
    struct buf path;
    unsigned status;

    buf_init(&path);
    buf_adds(&path, "/v1/ads?constraint=");
    for (; *constraint; constraint++)
        buf_addf(&path, "%%%02x", (unsigned char)*constraint);
    buf_adds(&path, more);
    status = talk_ask(&world->talk, token, "GET", buf_string(&path), NULL, NULL);
    buf_done(&path);
    return status;
}

static uint64_t version_of(struct world *world)
{
    char etag[64];

    return reply_field(&world->talk.reply, "ETag", etag, sizeof etag) && *etag == '"' ? strtoull(etag + 1, NULL, 10)
                                                                                      : 0;
}

/* Does the ad have that line of text? */
static bool shows(struct world *world, const char *token, const char *id, const char *text)
{
    return get(world, token, id, NULL) == 200 && reply_has(&world->talk.reply, text);
}

/* -------------------------------------------------------------------------------------------------------- one resource */

static void check_conditions(struct world *world)
{
    char fields[128], etag[64];
    uint64_t version;

    put(world, world->alice, "heron", NULL, "[Memory = 1; Place = 7]");
    expect(world, 201, "an ad that is new is made");
    version = version_of(world);
    tap_ok(version > 0, "the answer carries an ETag");
    reply_field(&world->talk.reply, "Link", fields, sizeof fields);
    tap_ok(strstr(fields, "</v1/ads/heron>; rel=\"self\""), "and a link to the ad");
    get(world, world->alice, "heron", NULL);
    expect(world, 200, "it can be read");
    tap_ok(version_of(world) == version && reply_has(&world->talk.reply, "Memory = 1"), "under the same ETag");
    put(world, world->alice, "heron", NULL, "[Memory = 2; Place = 7]");
    expect(world, 200, "an ad that is there is replaced");
    tap_ok(version_of(world) > version, "its version rises");
    snprintf(fields, sizeof fields, "If-None-Match: \"%llu\"\r\n", (unsigned long long)version);
    get(world, world->alice, "heron", fields);
    expect(world, 200, "who knows the version before is given the new one");
    version = version_of(world);
    reply_field(&world->talk.reply, "ETag", etag, sizeof etag);
    snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", etag);
    get(world, world->alice, "heron", fields);
    expect(world, 304, "who knows it is told that it is the same");
    tap_ok(!world->talk.reply.body.len && version_of(world) == version, "without a body, with the ETag");
    snprintf(fields, sizeof fields, "If-None-Match: W/%s\r\n", etag);
    get(world, world->alice, "heron", fields);
    expect(world, 304, "a weak ETag will do for reading");
    snprintf(fields, sizeof fields, "If-None-Match: \"999\", %s\r\n", etag);
    get(world, world->alice, "heron", fields);
    expect(world, 304, "one of several ETags will do for reading");
    get(world, world->alice, "heron", "If-None-Match: *\r\n");
    expect(world, 304, "any version will do for one who says *");
    put(world, world->alice, "heron", "If-None-Match: *\r\n", "[Memory = 3]");
    expect(world, 412, "who wants to make an ad does not replace one");
    put(world, world->alice, "heron", "If-Match: \"999\"\r\n", "[Memory = 3]");
    expect(world, 412, "who has another version does not replace this one");
    tap_ok(shows(world, world->alice, "heron", "Memory = 2"), "and nothing has changed");
    put(world, world->alice, "nobody", "If-Match: *\r\n", "[Memory = 3]");
    expect(world, 412, "who wants to replace an ad does not make one");
    tap_ok(get(world, world->alice, "nobody", NULL) == 404, "and there is none");
    put(world, world->alice, "kestrel", "If-None-Match: *\r\n", "[Memory = 3]");
    expect(world, 201, "who wants to make an ad makes it");
    snprintf(fields, sizeof fields, "If-Match: \"999\", %s\r\n", etag);
    put(world, world->alice, "heron", fields, "[Memory = 4; Place = 7]");
    expect(world, 200, "one of several ETags will do for writing");
    get(world, world->alice, "heron", NULL);
    reply_field(&world->talk.reply, "ETag", etag, sizeof etag);
    snprintf(fields, sizeof fields, "If-Match: %s\r\n", etag);
    put(world, world->alice, "heron", fields, "[Memory = 5; Place = 7]");
    expect(world, 200, "who has the version replaces it");
    put(world, world->alice, "heron", "If-Match: frob\r\n", "[Memory = 6]");
    expect(world, 412, "what is no ETag is none of ours");
}

static void check_versions(struct world *world)
{
    uint64_t version;

    put(world, world->alice, "gull", "Berth-Version: 10\r\n", "[Memory = 10]");
    expect(world, 201, "an agent may number its versions itself");
    tap_ok(version_of(world) == 10, "the ETag is that number");
    put(world, world->alice, "gull", "Berth-Version: 5\r\n", "[Memory = 5]");
    expect(world, 409, "an older version does not replace a newer one");
    tap_ok(shows(world, world->alice, "gull", "Memory = 10"), "the newer one stays");
    put(world, world->alice, "gull", "Berth-Version: 10\r\n", "[Memory = 11]");
    tap_ok(world->talk.reply.status == 409 || shows(world, world->alice, "gull", "Memory = 10"),
           "the same version with another text does not replace what is there");
    put(world, world->alice, "gull", "Berth-Version: frob\r\n", "[Memory = 5]");
    expect(world, 400, "what is no number is no version");
    delete (world, world->alice, "gull", "Berth-Version: 5\r\n");
    expect(world, 409, "nor is the newer one withdrawn by an older word");
    delete (world, world->alice, "gull", "If-Match: \"5\"\r\n");
    expect(world, 412, "or by one who has another version");
    delete (world, world->alice, "gull", NULL);
    expect(world, 204, "an ad is withdrawn");
    tap_ok(get(world, world->alice, "gull", NULL) == 404, "and is not there any more");
    delete (world, world->alice, "gull", NULL);
    expect(world, 404, "it cannot be withdrawn twice");
    put(world, world->alice, "gull", "Berth-Version: 9\r\n", "[Memory = 9]");
    expect(world, 409, "an older version does not come back after a newer one was withdrawn");
    put(world, world->alice, "gull", NULL, "[Memory = 12]");
    expect(world, 201, "a newer one does");
    version = version_of(world);
    tap_ok(version > 10, "and its number goes on");
    put(world, world->alice, "gull", "If-Match: *\r\n", NULL);
    expect(world, 200, "a PUT without a body renews under If-Match");
    tap_ok(version_of(world) == version && shows(world, world->alice, "gull", "Memory = 12"),
           "the ad and its version are as they were");
    put(world, world->alice, "gull", NULL, "");
    expect(world, 400, "without If-Match a PUT wants an ad");
    put(world, world->alice, "gull", "If-Match: \"3\"\r\n", NULL);
    expect(world, 412, "a renewal of another version is refused");
}

/* The ids that agents give their own offers can be guessed: nobody locks a machine out by using them first. */
static void check_squatting(struct world *world)
{
    char id[24], whole[48], handle[24];
    uint64_t number = id_number("alice/heron", 11);

    snprintf(id, sizeof id, "%016llx", (unsigned long long)number);
    put(world, world->bob, id, NULL, "[Squats = true]");
    expect(world, 201, "somebody uses the id that a machine will have, before it has come");
    world->talk.agent = "heron";
    put(world, world->alice, id, NULL, "[Type = \"Machine\"; Honest = true]");
    expect(world, 201, "the machine advertises under its id all the same");
    put(world, world->alice, id, NULL, "[Type = \"Machine\"; Honest = true; More = 1]");
    expect(world, 200, "and again");
    world->talk.agent = NULL;
    tap_ok(shows(world, world->admin, id, "Honest = true"), "others who ask for that id see the machine");
    snprintf(handle, sizeof handle, "%016llx", (unsigned long long)agent_handle("bob", ""));
    snprintf(whole, sizeof whole, "%s:%s", handle, id);
    tap_ok(shows(world, world->admin, whole, "Squats = true"), "by HANDLE:ID they see either");
    delete (world, world->bob, id, NULL);
    expect(world, 204, "each withdraws his own");
    tap_ok(shows(world, world->admin, id, "Honest = true"), "and the other's stays");
    put(world, world->bob, "wrong", NULL, "[Residual = 5]");
    expect(world, 400, "an ad that is none is refused");
    talk_ask(&world->talk, world->bob, "GET", "/v1/agents", NULL, NULL);
    tap_ok(reply_has(&world->talk.reply, "Refused = \"wrong: "), "which stands with its agent, and why");
    put(world, world->bob, "wrong", NULL, "[Right = 5]");
    talk_ask(&world->talk, world->bob, "GET", "/v1/agents", NULL, NULL);
    tap_ok(!reply_has(&world->talk.reply, "Refused"), "until it is right");
    delete (world, world->bob, "wrong", NULL);
    world->talk.agent = "heron";
    delete (world, world->alice, id, NULL);
    world->talk.agent = NULL;
}

static void check_identity(struct world *world)
{
    struct tree *ad;
    int64_t received = 0;
    char text[64];

    put(world, world->alice, "owl", NULL, "[Memory = 1]");
    put(world, world->bob, "owl", "If-Match: *\r\n", NULL);
    tap_ok(world->talk.reply.status == 403 || world->talk.reply.status == 412,
           "an id belongs to its advertiser: another cannot renew the ad");
    delete (world, world->bob, "owl", NULL);
    expect(world, 403, "nor withdraw it");
    put(world, world->bob, "owl", "Berth-Version: 99\r\n", "[Memory = 2]");
    expect(world, 201, "another agent may have an ad of the same id");
    tap_ok(shows(world, world->alice, "owl", "Memory = 1"), "which does not replace the first");
    tap_ok(shows(world, world->bob, "owl", "Memory = 2"), "to each it is his own");
    talk_ask(&world->talk, world->bob, "POST", "/v1/ads", NULL,
             "[Message=\"advertise\";Id=\"owl\";Ad=[Memory=3]][Message=\"withdraw\";Id=\"owl\"]");
    tap_ok(shows(world, world->alice, "owl", "Memory = 1"), "nor do either in a batch");
    put(world, world->alice, "tern", NULL, "[Owner = \"bob\"]");
    expect(world, 403, "nobody advertises in the name of another");
    put(world, world->alice, "tern", NULL, "[oWNER = \"bob\"]");
    expect(world, 403, "in whatever letters");
    put(world, world->alice, "tern", NULL, "[Owner = strcat(\"bo\", \"b\")]");
    tap_ok(world->talk.reply.status == 403 || world->talk.reply.status == 400, "nor by an expression (%u)",
           world->talk.reply.status);
    put(world, world->alice, "tern", "Content-Type: application/json\r\n", "{\"Owner\": \"bob\"}");
    expect(world, 403, "nor as JSON");
    tap_ok(get(world, world->alice, "tern", NULL) == 404, "and there is no such ad");
    put(world, world->alice, "tern", NULL, "[Owner = \"alice\"]");
    expect(world, 201, "one may say one's own name");
    put(world, world->admin, "swan", NULL, "[Owner = \"alice\"]");
    expect(world, 201, "an administrator may act for others");
    put(world, world->alice, "wren", NULL, "[Identity = \"root\"; Received = 1; A = 1]");
    if (world->talk.reply.status < 300)
        get(world, world->alice, "wren", NULL);
    ad = talk_ad(&world->talk);
    tap_ok(world->talk.reply.status == 400 ||
               (text_of_ad(ad, "Identity", text, sizeof text) && !strcmp(text, "alice") &&
                ad_integer(ad, "Received", &received) && llabs(received - (int64_t)time(NULL)) < 60),
           "Identity and Received are the server's, whatever the ad says");
    tree_unref(ad);
    get(world, world->alice, "owl", NULL);
    ad = talk_ad(&world->talk);
    tap_ok(text_of_ad(ad, "Owner", text, sizeof text) && !strcmp(text, "alice") &&
               text_of_ad(ad, "Identity", text, sizeof text) && !strcmp(text, "alice"),
           "an ad that does not say gets its owner from the token");
    tree_unref(ad);
}

/* Waits, so all that is about time stands together. */
static void check_lifetimes(struct world *world)
{
    int64_t began = live_clock();

    put(world, world->alice, "short", NULL, "[A = 1; Lifetime = 1]");
    put(world, world->alice, "span", NULL, "[A = 1; Lifetime = '00:00:01']");
    put(world, world->alice, "kept", NULL, "[A = 1; Lifetime = 2]");
    put(world, world->alice, "long", NULL, "[A = 1; Lifetime = 1000]");
    put(world, world->alice, "unsaid", NULL, "[A = 1]"); /* Lifetime=3 in this pool */
    tap_ok(get(world, world->alice, "short", NULL) == 200, "an ad is there while its lifetime lasts");
    put(world, world->alice, "never", NULL, "[A = 1; Lifetime = -5]");
    tap_ok(world->talk.reply.status == 400 || get(world, world->alice, "never", NULL) == 404,
           "an ad whose lifetime is over before it begins is not there");
    put(world, world->alice, "odd", NULL, "[A = 1; Lifetime = \"long\"]");
    expect(world, 400, "a lifetime that is a text is refused");
    while (live_clock() < began + 1300)
        live_sleep(20);
    put(world, world->alice, "kept", "If-Match: *\r\n", NULL);
    tap_ok(get(world, world->alice, "short", NULL) == 404, "an ad past its lifetime is gone");
    tap_ok(get(world, world->alice, "span", NULL) == 404, "so is one whose lifetime was a span of time");
    query(world, world->alice, "Lifetime =?= 1", "");
    tap_ok(world->talk.reply.status == 200 || world->talk.reply.status == 400, "and a query is answered");
    query(world, world->alice, "Lifetime is 1", "");
    tap_ok(world->talk.reply.status == 200 && !reply_has(&world->talk.reply, "Lifetime"), "without it");
    put(world, world->bob, "short", NULL, "[A = 2]");
    expect(world, 201, "an id that has expired is nobody else's either: another has his own");
    put(world, world->alice, "short", NULL, "[A = 2]");
    expect(world, 201, "its owner may use it again");
    while (live_clock() < began + 2500)
        live_sleep(20);
    tap_ok(get(world, world->alice, "kept", NULL) == 200, "a renewal prolongs an ad by its lifetime");
    tap_ok(get(world, world->alice, "unsaid", NULL) == 200,
           "an ad that does not say lives as long as the pool's default");
    while (live_clock() < began + 4200)
        live_sleep(20);
    tap_ok(get(world, world->alice, "kept", NULL) == 404, "and no longer");
    tap_ok(get(world, world->alice, "unsaid", NULL) == 404, "and no longer than that");
    tap_ok(get(world, world->alice, "long", NULL) == 200, "one that lives long is there");
}

/* --------------------------------------------------------------------------------------------------------------- forms */

static void check_forms(struct world *world)
{
    static const char json[] = "{\"A\": 1, \"S\": \"x\\\"y\", \"L\": [1, 2.5, true, null], \"N\": {\"B\": 2}, "
                               "\"Constraint\": \"\\/Expr(other.Memory > A)\\/\"}";
    char type[128];

    put(world, world->alice, "jay", "Content-Type: application/json\r\n", json);
    expect(world, 201, "an ad is taken as JSON");
    get(world, world->bob, "jay", NULL);
    tap_ok(reply_has(&world->talk.reply, "Constraint = other.Memory > A") &&
               reply_has(&world->talk.reply, "S = \"x\\\"y\""),
           "and given as a classad");
    get(world, world->bob, "jay", "Accept: application/json\r\n");
    tap_ok(reply_field_is(&world->talk.reply, "Content-Type", "application/json") &&
               reply_has(&world->talk.reply, "\"\\/Expr(other.Memory > A)\\/\""),
           "or as JSON, with what JSON has no word for as an expression");
    put(world, world->alice, "jay", NULL, " \n{\"A\": 2}");
    expect(world, 200, "without a type the form is recognised");
    put(world, world->alice, "jay", "Content-Type: application/classad; dialect=condor\r\n",
        "[Requirements = TARGET.Memory =?= MY.Memory; Memory = 3]");
    expect(world, 200, "an ad is taken in the condor dialect");
    get(world, world->bob, "jay", NULL);
    reply_field(&world->talk.reply, "Content-Type", type, sizeof type);
    tap_ok(strstr(type, "dialect=condor") && reply_has(&world->talk.reply, "Requirements = TARGET.Memory"),
           "and given in it, which the type says");
    get(world, world->bob, "jay", "Accept: application/json\r\n");
    reply_field(&world->talk.reply, "Content-Type", type, sizeof type);
    tap_ok(!strncmp(type, "application/json", 16) && strstr(type, "condor"), "also as JSON");
    put(world, world->alice, "jay", "Content-Type: application/classad; dialect=frob\r\n", "[A = 1]");
    expect(world, 415, "a dialect that there is not is refused");
    put(world, world->alice, "jay", "Content-Type: text/html\r\n", "[A = 1]");
    expect(world, 415, "so is a type that there is not");
    put(world, world->alice, "rook", "Content-Type: application/xml\r\n",
        "<?xml version=\"1.0\"?><classads><c><a n=\"A\"><i>1</i></a></c></classads>");
    expect(world, 415, "XML is not taken");
    get(world, world->alice, "jay", "Accept: application/xml\r\n");
    expect(world, 406, "nor given");
    talk_ask(&world->talk, world->alice, "GET", "/v1/ads/jay?select=mEMORY,Frob", NULL, NULL);
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "Memory = 3") &&
               !reply_has(&world->talk.reply, "Owner"),
           "of an ad the attributes that are wanted are given");
    talk_ask(
        &world->talk, world->alice, "GET",
        "/v1/ads/jay?select=A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,"
        "A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,A,Memory",
        NULL, NULL);
    tap_ok(world->talk.reply.status == 400 ||
               (reply_has(&world->talk.reply, "Memory = 3") && !reply_has(&world->talk.reply, "Owner")),
           "who names too many is refused, or given those and no more");
}

static const char *const tagged[] = {
    "/v1/ads/jay", "/v1/policy", "/v1/config/tags", "/v1/config/tags/A", "/v1/status", "/v1/users/tag", "/v1"};

static void check_tags(struct world *world)
{
    char etag[128], fields[160];

    talk_ask(&world->talk, world->admin, "PUT", "/v1/config/tags", NULL, "[A = 1]");
    tap_ok(reply_field(&world->talk.reply, "ETag", etag, sizeof etag),
           "a section that is written is answered with its ETag");
    talk_ask(&world->talk, world->admin, "PUT", "/v1/config/tags", "If-None-Match: *\r\n", "[A = 2]");
    expect(world, 412, "a section that is there is not made again under If-None-Match");
    talk_ask(&world->talk, world->admin, "PUT", "/v1/users/tag", NULL, "[Factor = 2]");
    for (size_t i = 0; i < COUNT(tagged); i++) {
        bool has;

        talk_ask(&world->talk, world->admin, "GET", tagged[i], NULL, NULL);
        has = reply_field(&world->talk.reply, "ETag", etag, sizeof etag);
        snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", etag);
        if (!tap_ok(has, "GET %s carries an ETag", tagged[i]))
            continue;
        talk_ask(&world->talk, world->admin, "GET", tagged[i], fields, NULL);
        if (strcmp(tagged[i], "/v1/status") != 0)
            expect(world, 304, "GET %s is not answered again to one who has it", tagged[i]);
    }
}

/* Sections are listed, were something before, and can be that again; who has one is told when it is another. */
static void check_revisions(struct world *world)
{
    struct talk *talk = &world->talk;
    char etag[128], fields[160];
    struct talk waits;
    struct buf asked;
    int64_t began;

    talk_ask(talk, world->admin, "GET", "/v1/revisions/past", NULL, NULL);
    expect(world, 404, "a section that never was has no revisions");
    talk_ask(talk, world->admin, "PUT", "/v1/config/past", NULL, "[A = 1; B = A + 1]");
    talk_ask(talk, world->admin, "PUT", "/v1/config/past/A", NULL, "5");
    talk_ask(talk, world->admin, "DELETE", "/v1/config/past", NULL, NULL);
    talk_ask(talk, world->admin, "GET", "/v1/revisions/past", NULL, NULL);
    tap_ok(talk->reply.status == 200 && reply_has(&talk->reply, "[ Number = 1; Time = ") &&
               reply_has(&talk->reply, "Section = [ A = 1; B = A + 1 ] ]\n[ Number = 2;") &&
               reply_has(&talk->reply, "A = 5") && reply_has(&talk->reply, "[ Number = 3;"),
           "each change of a section is a revision");
    talk_ask(talk, world->admin, "GET", "/v1/revisions/past/3", NULL, NULL);
    tap_ok(talk->reply.status == 200 && !reply_has(&talk->reply, "Section"), "one says that it was taken away");
    talk_ask(talk, world->admin, "POST", "/v1/revisions/past/3", NULL, NULL);
    expect(world, 409, "what is not there is not taken away again");
    talk_ask(talk, world->alice, "POST", "/v1/revisions/past/1", NULL, NULL);
    expect(world, 403, "who may not write a section cannot roll it back");
    talk_ask(talk, world->admin, "POST", "/v1/revisions/past/1", NULL, NULL);
    expect(world, 201, "a section that was taken away is there again as it was");
    talk_ask(talk, world->alice, "GET", "/v1/config/past/B", NULL, NULL);
    tap_ok(talk->reply.status == 200 && reply_has(&talk->reply, "A + 1\n"), "with its expressions");
    talk_ask(talk, world->alice, "GET", "/v1/config", NULL, NULL);
    tap_ok(talk->reply.status == 200 &&
               reply_has(&talk->reply, "[ Section = \"past\"; Options = 2; Revision = 4; Time = ") &&
               reply_has(&talk->reply, "[ Section = \"tags\"; Options = 1;"),
           "sections are listed, with their last revision");
    for (size_t i = 0; i < 4; i++) {
        static const char *const none[] = {"0", "99", "x", "01"};
        char path[64];

        snprintf(path, sizeof path, "/v1/revisions/past/%s", none[i]);
        talk_ask(talk, world->admin, "POST", path, NULL, NULL);
        expect(world, 404, "there is no revision %s", none[i]);
    }

    talk_ask(talk, world->alice, "GET", "/v1/config/past", NULL, NULL);
    reply_field(&talk->reply, "ETag", etag, sizeof etag);
    snprintf(fields, sizeof fields, "If-Match: %s\r\n", "\"other\"");
    talk_ask(talk, world->admin, "POST", "/v1/revisions/past/2", fields, NULL);
    expect(world, 412, "nothing is rolled back by who knows another one");
    snprintf(fields, sizeof fields, "If-None-Match: %s\r\n", etag);
    began = live_clock();
    talk_ask(talk, world->alice, "GET", "/v1/config/past?wait=1", fields, NULL);
    expect(world, 304, "who waits for a change that does not come is told so");
    tap_ok(live_clock() - began >= 900, "when the time is up");
    talk_init(&waits, &world->live);
    buf_init(&asked);
    request_text(&asked, &waits, world->alice, "GET", "/v1/config/past?wait=20", fields, NULL, 0);
    tap_ok(talk_connect(&waits) && talk_send(&waits, asked.text, asked.len) && !talk_more(&waits, live_clock() + 300),
           "a change is waited for");
    began = live_clock();
    talk_ask(talk, world->admin, "POST", "/v1/revisions/past/2", NULL, NULL);
    expect(world, 200, "a section is rolled back in place");
    tap_ok(talk_answer(&waits, false, 10000) == 200 && reply_has(&waits.reply, "A = 5"),
           "and who waits is told at once: after %lld ms", (long long)(live_clock() - began));
    buf_done(&asked);
    talk_done(&waits);
    for (int i = 0; i < 110; i++) {
        char value[16];

        snprintf(value, sizeof value, "%d", i);
        talk_ask(talk, world->admin, "PUT", "/v1/config/past/A", NULL, value);
    }
    talk_ask(talk, world->admin, "GET", "/v1/revisions/past/15", NULL, NULL);
    expect(world, 404, "the oldest revisions go");
    talk_ask(talk, world->admin, "GET", "/v1/revisions/past/16", NULL, NULL);
    expect(world, 200, "and a hundred are kept");
}

static const char *const bad_fields[] = {
    "Berth-Seen: frob\r\n",
    "Berth-Seen: 1.2\r\n",
    "Berth-Seen: 1.2.3.4\r\n",
    "Berth-Heard: soon\r\n",
    "Berth-Heard: -1\r\n",
    "Berth-Version: -1\r\n",
    "Berth-Version: 99999999999999999999999\r\n",
    "Berth-Key: 00\r\n",
    "Berth-Key: xyz\r\n",
    "Berth-Sealed-Key: \r\n",
    "Berth-Sealed-Key: 00\r\n",
    "Berth-Sealed-Key: +/+/\r\n",
    "Berth-Agent: a/b\r\n",
    "Berth-Agent: \xc3\xa9\r\n",
};

static void check_fields(struct world *world)
{
    for (size_t i = 0; i < COUNT(bad_fields); i++) {
        char name[32];

        snprintf(name, sizeof name, "%.*s", (int)strcspn(bad_fields[i], ":"), bad_fields[i]);
        put(world, world->alice, "field", bad_fields[i], "[A = 1]");
        expect(world, 400, "%.*s is refused", (int)strcspn(bad_fields[i], "\r"), bad_fields[i]);
        tap_ok(reply_has(&world->talk.reply, name) && get(world, world->alice, "field", NULL) == 404,
               "the field is named, and nothing has changed");
    }
}

/* ------------------------------------------------------------------------------------------------------------- batches */

static void check_batch(struct world *world)
{
    static const char mixed[] = "[Message=\"advertise\"; Id=\"b1\"; Ad=[Memory=1]]\n"
                                "[Message=\"advertise\"; Id=\"b 2\"; Ad=[Memory=2]]\n"
                                "[Message=\"advertise\"; Id=\"b3\"; Ad=[Owner=\"bob\"]]\n"
                                "[Message=\"advertise\"; Id=\"b4\"; Ad=[UserPrio=1]]\n"
                                "[Message=\"frob\"; Id=\"b5\"]\n"
                                "[Message=\"withdraw\"; Id=\"kestrel\"]\n"
                                "[Message=\"advertise\"; Id=\"b6\"; Ad=[Memory=6]; Version=\"0000000000000007\"]\n"
                                "[Message=\"advertise\"; Id=\"b6\"; Ad=[Memory=7]; Version=\"0000000000000003\"]\n";
    struct buf many;

    put(world, world->alice, "kestrel", NULL, "[Memory = 3; Lifetime = 1000]");
    talk_ask(&world->talk, world->alice, "POST", "/v1/ads", NULL, mixed);
    expect(world, 200, "a batch is answered, also when some of it is wrong");
    if (!tap_ok(text_count(buf_string(&world->talk.reply.body), "Reason = ") == 8, "each message has its answer"))
        tap_diag("%s", reply_show(&world->talk.reply));
    tap_ok(text_count(buf_string(&world->talk.reply.body), "Reason = \"ok\"") == 3, "three of them were taken");
    tap_ok(shows(world, world->alice, "b1", "Memory = 1") && shows(world, world->alice, "b6", "Memory = 6"),
           "what was right is there");
    tap_ok(get(world, world->alice, "b3", NULL) == 404 && get(world, world->alice, "b4", NULL) == 404 &&
               get(world, world->alice, "b5", NULL) == 404 && get(world, world->alice, "kestrel", NULL) == 404,
           "what was wrong is not, and what was withdrawn is gone");
    talk_ask(&world->talk, world->alice, "POST", "/v1/ads", "Content-Type: application/json\r\n",
             "[{\"Message\": \"advertise\", \"Id\": \"b7\", \"Ad\": {\"Memory\": 7}},"
             " {\"Message\": \"advertise\", \"Id\": \"b8\", \"Ad\": {\"Memory\": 8}}]");
    tap_ok(world->talk.reply.status == 200 && shows(world, world->alice, "b8", "Memory = 8"), "a batch may be JSON");
    talk_ask(&world->talk, world->alice, "POST", "/v1/ads", NULL,
             "[Message=\"advertise\"; Id=\"b9\"; Ad=[Memory=9]]\n[Message=\"advertise\"; Id=\"b10\"; Ad=[Memory=]]");
    expect(world, 400, "a batch that cannot be read any further is refused there");
    tap_ok(reply_has(&world->talk.reply, "message 2") && reply_has(&world->talk.reply, "line 2"), "the place is named");
    tap_ok(get(world, world->alice, "b9", NULL) == 200, "those before it were taken, as the answer says");
    put(world, world->alice, "beat", NULL, "[Lifetime = 100; A = 1]");
    talk_ask(&world->talk, world->alice, "POST", "/v1/ads", NULL, "[Message=\"advertise\"; Id=\"beat\"; Bare=true]");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "Reason = \"ok\"") &&
               shows(world, world->alice, "beat", "A = 1"),
           "a batch renews as well");
    buf_init(&many);
    for (int i = 0; i < 2001; i++)
        buf_addf(&many, "[Message=\"withdraw\";Id=\"none%d\"]\n", i);
    talk_ask(&world->talk, world->alice, "POST", "/v1/ads", NULL, buf_string(&many));
    expect(world, 400, "a batch of 2001 messages is too many");
    tap_ok(reply_has(&world->talk.reply, "2000"), "and the limit is named");
    buf_done(&many);
}

/* -------------------------------------------------------------------------------------------------- keys of offers */

/* A key of 32 times that byte, sealed for the ad of an agent, to the matchmaker that GET /v1/keys shows. */
static void key_seal(struct world *world, const char *identity, const char *name, const char *id, int byte,
                     char out[OFFER_KEY_TEXT + 1])
{
    struct box_public box;
    struct err err = {0};
    struct tree *keys;
    const char *digits;
    struct key key;
    struct buf text;
    size_t len;

    talk_ask(&world->talk, NULL, "GET", "/v1/keys", NULL, NULL);
    keys = talk_ad(&world->talk);
    memset(key.bytes, byte, sizeof key.bytes);
    buf_init(&text);
    if (!keys || !ad_string(keys, "BoxKey", &digits, &len) || !hex_read(digits, len, box.bytes, BOX_KEY_BYTES) ||
        offer_key_seal(&text, &box, agent_handle(identity, name), id_number(id, strlen(id)), &key, &err) < 0)
        live_bail("no key to seal to: %s", err.text);
    snprintf(out, OFFER_KEY_TEXT + 1, "%s", buf_string(&text));
    tree_unref(keys);
    buf_done(&text);
}

static uint64_t word_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* A request of bob's that only `number` fits is introduced to it: is its ticket one of a key of that byte? */
static bool ticket_is_of(struct world *world, int number, int byte)
{
    char id[32], ad[128], expected[2 * KEY_BYTES + 1], name[32];
    const char *letter, *edge, *ticket;
    struct key key, made;

    memset(key.bytes, byte, sizeof key.bytes);
    snprintf(id, sizeof id, "asks%d", number);
    snprintf(ad, sizeof ad, "[Type = \"Job\"; Lifetime = 60; Constraint = other.Sealed == %d]", number);
    snprintf(name, sizeof name, "asks%d", number);
    world->talk.agent = name;
    put(world, world->bob, id, NULL, ad);
    talk_ask(&world->talk, world->bob, "GET", "/v1/events?wait=10", NULL, NULL);
    world->talk.agent = NULL;
    letter = buf_string(&world->talk.reply.body);
    edge = strstr(letter, "Edges={");
    ticket = edge ? strstr(edge, "Ticket=\"") : NULL;
    if (!ticket)
        return false;
    ticket_make(&secrets_live, &key, word_of(edge, "Offer=\""), word_of(edge, "Claim=\""), word_of(letter, "Gang=\""),
                "bob", &made);
    hex_print(made.bytes, KEY_BYTES, expected);
    return !strncmp(ticket + 8, expected, 2 * KEY_BYTES);
}

#define SEALED_OFFER(number) "[Type = \"Machine\"; Sealed = " #number "; Lifetime = 60; Constraint = true]"

static void check_sealed_keys(struct world *world)
{
    char sealed[OFFER_KEY_TEXT + 1], fields[OFFER_KEY_TEXT + 200], batch[1024];

    key_seal(world, "alice", "", "sealed1", 0x41, sealed);
    snprintf(fields, sizeof fields, "Berth-Sealed-Key: %s\r\n", sealed);
    put(world, world->bob, "sealed1", fields, SEALED_OFFER(1));
    expect(world, 403, "another agent cannot send a sealed key as its own");
    tap_ok(reply_has(&world->talk.reply, "Berth-Sealed-Key: it was sealed for another agent"), "and is told so");
    put(world, world->alice, "sealed2", fields, SEALED_OFFER(2));
    expect(world, 403, "a sealed key is not taken for another ad");
    world->talk.agent = "another";
    put(world, world->alice, "sealed1", fields, SEALED_OFFER(1));
    expect(world, 403, "nor from another agent of the same user");
    world->talk.agent = NULL;
    put(world, world->alice, "sealed1", fields, SEALED_OFFER(1));
    expect(world, 201, "a key that was sealed for this agent and ad is taken");
    tap_ok(ticket_is_of(world, 1, 0x41), "and tickets are made with it");
    fields[30] = (char)(fields[30] == 'A' ? 'B' : 'A');
    put(world, world->alice, "sealed2", fields, SEALED_OFFER(2));
    expect(world, 400, "a sealed key that was changed is refused");
    tap_ok(reply_has(&world->talk.reply, "Berth-Sealed-Key: it does not open"), "and it is said why");
    key_seal(world, "alice", "", "sealed2", 0x42, sealed);
    snprintf(fields, sizeof fields,
             "Berth-Sealed-Key: %s\r\nBerth-Key: "
             "4343434343434343434343434343434343434343434343434343434343434343\r\n",
             sealed);
    put(world, world->alice, "sealed2", fields, SEALED_OFFER(2));
    expect(world, 400, "two keys for one offer are refused");
    snprintf(batch, sizeof batch,
             "[Message=\"advertise\"; Id=\"sealed2\"; SealedKey=\"%s\"; Ad=" SEALED_OFFER(
                 2) "]\n"
                    "[Message=\"advertise\"; Id=\"sealed3\"; SealedKey=\"%s\"; Ad=" SEALED_OFFER(
                        3) "]\n"
                           "[Message=\"advertise\"; Id=\"sealed4\"; SealedKey=4; Ad=" SEALED_OFFER(
                               4) "]\n"
                                  "[Message=\"withdraw\"; Id=\"sealed5\"; SealedKey=\"%s\"]\n",
             sealed, sealed, sealed);
    talk_ask(&world->talk, world->alice, "POST", "/v1/ads", NULL, batch);
    tap_ok(world->talk.reply.status == 200 && text_count(buf_string(&world->talk.reply.body), "Reason = \"ok\"") == 1 &&
               text_count(buf_string(&world->talk.reply.body), "SealedKey: ") == 3,
           "in a batch a sealed key is taken, and those that are wrong are refused with words");
    tap_ok(reply_has(&world->talk.reply, "Reason = \"identity\""), "one for another ad is refused as not one's own");
    tap_ok(get(world, world->alice, "sealed3", NULL) == 404 && get(world, world->alice, "sealed4", NULL) == 404,
           "nothing came of them");
    tap_ok(ticket_is_of(world, 2, 0x42), "tickets are made with the one that was taken");
    put(world, world->alice, "sealed5",
        "Berth-Key: 4545454545454545454545454545454545454545454545454545454545454545\r\n", SEALED_OFFER(5));
    tap_ok(world->talk.reply.status == 201 && ticket_is_of(world, 5, 0x45), "a plain key is taken as before");
}

/* ------------------------------------------------------------------------------------------------------------- queries */

#define MANY 2500

/* Marks the numbers that an answer has; how many it has. A number that was seen before is counted in `*ret_twice`. */
static size_t numbers_mark(struct world *world, unsigned char *seen, size_t *ret_twice, size_t *ret_odd)
{
    const char *at = buf_string(&world->talk.reply.body);
    size_t count = 0;

    while ((at = strstr(at, "Number = "))) {
        unsigned long number = strtoul(at += 9, NULL, 10);

        if (number < 2 * MANY)
            *ret_twice += seen[number]++ > 0;
        *ret_odd += number & 1;
        count++;
    }
    return count;
}

static void flock_put(struct world *world, int from, int to)
{
    struct buf text;

    buf_init(&text);
    for (int i = from; i < to; i++) {
        buf_addf(&text, "[Message=\"advertise\";Id=\"flock%d\";Ad=[Number=%d;Lifetime=1000]]\n", i, i);
        if (i + 1 < to && (i + 1 - from) % 1000)
            continue;
        if (talk_ask(&world->talk, world->alice, "POST", "/v1/ads", NULL, buf_string(&text)) != 200)
            live_bail("a flock cannot be put: %u", world->talk.reply.status);
        buf_reset(&text);
    }
    buf_done(&text);
}

/* All pages of a query, by the cursor of each answer. `between` is called after each. */
static size_t pages(struct world *world, const char *constraint, int limit, unsigned char *seen, size_t *ret_twice,
                    void (*between)(struct world *world, size_t page))
{
    size_t total = 0, page = 0, odd = 0;
    char more[128], cursor[64] = "";
    bool goes_on = true;

    *ret_twice = 0;
    while (goes_on && page < 1000) {
        size_t count;

        snprintf(more, sizeof more, "&select=Number&limit=%d%s%s", limit, *cursor ? "&cursor=" : "", cursor);
        if (query(world, world->bob, constraint, more) != 200)
            break;
        count = numbers_mark(world, seen, ret_twice, &odd);
        total += count;
        if (count > (size_t)limit)
            *ret_twice += 1000000;
        goes_on = reply_field(&world->talk.reply, "Berth-Cursor", cursor, sizeof cursor);
        page++;
        if (between)
            between(world, page);
    }
    return total;
}

/* While somebody reads: some ads go, and others come. */
static void disturb(struct world *world, size_t page)
{
    char id[32];

    snprintf(id, sizeof id, "flock%zu", page * 7 % 100); /* below 100: they may be seen or not */
    delete (world, world->alice, id, NULL);
    flock_put(world, MANY + (int)page, MANY + (int)page + 1);
}

static void check_query(struct world *world)
{
    static unsigned char seen[2 * MANY];
    size_t twice = 0, odd = 0, total, all = 0;
    char link[512], path[512];

    flock_put(world, 0, MANY);
    query(world, world->bob, "Number == 1234", "&select=Number,Owner");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "Number = 1234") &&
               reply_has(&world->talk.reply, "Owner = \"alice\"") && !reply_has(&world->talk.reply, "Lifetime") &&
               text_count(buf_string(&world->talk.reply.body), "Number") == 1,
           "a query finds the one that is asked for, and gives what is selected of it");
    query(world, world->bob, "Number >= 0", "&limit=17");
    tap_ok(text_count(buf_string(&world->talk.reply.body), "Number") == 17, "a query gives as many as are wanted");
    query(world, world->bob, "Number >= 0", "");
    tap_ok(text_count(buf_string(&world->talk.reply.body), "Number") == 1000, "and a thousand if nobody says");
    total = pages(world, "Number >= 0", 100, seen, &twice, NULL);
    for (int i = 0; i < MANY; i++)
        all += seen[i] == 1;
    if (!tap_ok(total == MANY && all == MANY && !twice, "by its cursor a query gives all of %d ads, each once", MANY))
        tap_diag("%zu in all, %zu different, %zu twice", total, all, twice);
    memset(seen, 0, sizeof seen);
    total = pages(world, "Number % 2 == 0", 333, seen, &twice, NULL);
    tap_ok(total == MANY / 2 && !twice, "with a constraint, those for which it holds");
    memset(seen, 0, sizeof seen);
    query(world, world->bob, "Number % 2 == 0", "&select=Number&limit=100");
    for (total = numbers_mark(world, seen, &twice, &odd);
         reply_field(&world->talk.reply, "Link", link, sizeof link) && total < 2 * MANY;) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(link + 1, ">"), link + 1);
        if (talk_ask(&world->talk, world->bob, "GET", path, NULL, NULL) != 200)
            break;
        total += numbers_mark(world, seen, &twice, &odd);
    }
    if (!tap_ok(total == MANY / 2 && !odd && !twice, "who follows the link `next` gets the rest of the same query"))
        tap_diag("%zu in all, %zu that were not asked for, %zu twice; %s", total, odd, twice, link);
    memset(seen, 0, sizeof seen);
    pages(world, "Number >= 0", 50, seen, &twice, disturb);
    all = 0;
    for (int i = 100; i < MANY; i++)
        all += seen[i] == 1;
    tap_ok(all == MANY - 100 && !twice, "ads that stay are given once while others come and go");
    query(world, world->bob, "Number ==", "");
    expect(world, 400, "a constraint that does not parse is refused");
    tap_ok(reply_has(&world->talk.reply, "constraint"), "and named");
    query(world, world->bob, "true", "&cursor=frob");
    expect(world, 400, "so is a cursor that is none");
    query(world, world->bob, "true", "&limit=99999999");
    expect(world, 400, "and a limit past the limit");
}

#define CROWD 25

/* All that a collection gives by its cursor, seven at a time; `name` is what each of its rows has once. */
static size_t collection_count(struct world *world, const char *path, const char *name, size_t *ret_pages)
{
    char cursor[64] = "", whole[256];
    size_t total = 0;

    for (*ret_pages = 0; *ret_pages < 100; ++*ret_pages) {
        snprintf(whole, sizeof whole, "%slimit=7%s%s", path, *cursor ? "&cursor=" : "", cursor);
        if (talk_ask(&world->talk, world->admin, "GET", whole, NULL, NULL) != 200)
            return 0;
        total += text_count(buf_string(&world->talk.reply.body), name);
        if (!reply_field(&world->talk.reply, "Berth-Cursor", cursor, sizeof cursor))
            break;
    }
    return total;
}

static void check_collections(struct world *world)
{
    static const struct {
        const char *what, *path, *name;
    } rows[] = {
        {"users", "/v1/users?constraint=Factor==7&", "Factor = 7"},
        {"tokens", "/v1/tokens?constraint=Subject==%22flock%22&", "Subject = \"flock\""},
        {"agents", "/v1/agents?constraint=Host==%22flock%22&", "Host = \"flock\""},
    };
    char path[64];

    for (int i = 0; i < CROWD; i++) {
        snprintf(path, sizeof path, "/v1/users/flock%d", i);
        talk_ask(&world->talk, world->admin, "PUT", path, NULL, "[Factor = 7]");
        talk_ask(&world->talk, world->admin, "POST", "/v1/tokens", NULL, "[Subject = \"flock\"]");
        snprintf(path, sizeof path, "/v1/agents/flock%d", i);
        talk_ask(&world->talk, world->alice, "PUT", path, NULL, "[Host = \"flock\"]");
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t count, whole, turned;

        count = collection_count(world, rows[i].path, rows[i].name, &turned);
        snprintf(path, sizeof path, "%slimit=1000", rows[i].path);
        talk_ask(&world->talk, world->admin, "GET", path, NULL, NULL);
        whole = text_count(buf_string(&world->talk.reply.body), rows[i].name);
        if (!tap_ok(whole == CROWD && count == CROWD, "%s are given page by page, none left out", rows[i].what))
            tap_diag("%zu of %zu in %zu pages", count, whole, turned + 1);
    }
}

#define THRONG 1300 /* more than one slice of a tour looks at */

/* Lists that are long are made in slices, and are the same. */
static void check_long_lists(struct world *world)
{
    static const struct {
        const char *what, *path, *name;
    } rows[] = {
        {"users", "/v1/users?constraint=Factor==9&", "Factor = 9"},
        {"agents", "/v1/agents?constraint=Host==%22throng%22&", "Host = \"throng\""},
    };
    char path[96];

    for (int i = 0; i < THRONG; i++) {
        snprintf(path, sizeof path, "/v1/users/throng%d", i);
        talk_ask(&world->talk, world->admin, "PUT", path, NULL, "[Factor = 9]");
        snprintf(path, sizeof path, "/v1/agents/throng%d", i);
        talk_ask(&world->talk, world->alice, "PUT", path, NULL, "[Host = \"throng\"]");
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t whole, part;

        snprintf(path, sizeof path, "%slimit=100000", rows[i].path);
        talk_ask(&world->talk, world->admin, "GET", path, NULL, NULL);
        whole = text_count(buf_string(&world->talk.reply.body), rows[i].name);
        snprintf(path, sizeof path, "%slimit=900", rows[i].path);
        talk_ask(&world->talk, world->admin, "GET", path, NULL, NULL);
        part = text_count(buf_string(&world->talk.reply.body), rows[i].name);
        if (!tap_ok(whole == THRONG && part == 900, "a long list of %s is given whole, or up to its limit",
                    rows[i].what))
            tap_diag("%zu of %d, %zu of 900", whole, THRONG, part);
    }
}

/* ---------------------------------------------------------------------------------------------------------- visibility */

static void check_requests(struct world *world)
{
    struct buf before;
    bool same;

    buf_init(&before);
    put(world, world->bob, "den", NULL,
        "[Type = \"Machine\"; Cellar = 5; Constraint = other.Wish == 5; Lifetime = 1000]");
    talk_ask(&world->talk, world->bob, "GET", "/v1/ads/den/why", NULL, NULL);
    buf_add(&before, world->talk.reply.body.text, world->talk.reply.body.len);
    put(world, world->alice, "wish", NULL,
        "[Type = \"Job\"; Wish = 55; Word = \"canary\"; Constraint = other.Cellar == 1; Lifetime = 1000]");
    expect(world, 201, "a request is taken");
    tap_ok(shows(world, world->alice, "wish", "canary"), "its owner sees it");
    tap_ok(shows(world, world->admin, "wish", "canary"), "an administrator sees it");
    get(world, world->bob, "wish", NULL);
    expect(world, 404, "to others it is not there");
    talk_ask(&world->talk, world->bob, "GET", "/v1/ads/wish/why", NULL, NULL);
    expect(world, 404, "nor is what it matches");
    talk_ask(&world->talk, world->bob, "GET", "/v1/ads/wish/matches", NULL, NULL);
    expect(world, 404, "nor are its matches");
    query(world, world->bob, "Word == \"canary\"", "");
    tap_ok(world->talk.reply.status == 200 && !reply_has(&world->talk.reply, "canary"), "nor is it there for a query");
    talk_ask(&world->talk, world->bob, "GET", "/v1/ads?kind=requests", NULL, NULL);
    tap_ok(world->talk.reply.status == 200 && !reply_has(&world->talk.reply, "Wish"), "nor in the list of requests");
    query(world, world->alice, "Word == \"canary\"", "");
    tap_ok(reply_has(&world->talk.reply, "canary"), "which it is for its owner");
    put(world, world->alice, "turncoat", NULL, "[Word = \"canary\"; Lifetime = 1000]");
    tap_ok(shows(world, world->bob, "turncoat", "canary"), "an offer is seen by all");
    talk_ask(&world->talk, world->alice, "PUT", "/v1/ads/turncoat?kind=request", NULL,
             "[Word = \"canary\"; Constraint = false; Lifetime = 1000]");
    get(world, world->bob, "turncoat", NULL);
    expect(world, 404, "but not any more once it is a request, which it is if it says so");
    talk_ask(&world->talk, world->bob, "GET", "/v1/ads/den/why", NULL, NULL);
    same = before.len == world->talk.reply.body.len && !memcmp(before.text, world->talk.reply.body.text, before.len);
    if (!tap_ok(same, "why an offer matches nothing does not tell of requests that one may not see"))
        tap_diag("before: %s\nafter: %s", buf_string(&before), reply_show(&world->talk.reply));
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?why", NULL, "[Constraint = other.Word == \"canary\"]");
    tap_ok(world->talk.reply.status == 200 && !reply_has(&world->talk.reply, "wish"), "nor does an ad that is tried");
    buf_done(&before);
}

/* --------------------------------------------------------------------------------------------------------------- gangs */

#define PLACE "[ Label = place; Constraint = place.Type == \"Place\" && place.Size >= 4; Rank = place.Size ]"
#define SEAT "[ Label = seat; Constraint = seat.Type == \"Seat\" && seat.At == place.Name ]"

static void check_gangs(struct world *world)
{
    put(world, world->alice, "gang-hall", NULL, "[Type = \"Place\"; Name = \"hall\"; Size = 9; Lifetime = 1000]");
    put(world, world->alice, "gang-room", NULL, "[Type = \"Place\"; Name = \"room\"; Size = 5; Lifetime = 1000]");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, "[Ports = {" PLACE ", " SEAT "}]");
    tap_ok(world->talk.reply.status == 200 && !reply_has(&world->talk.reply, "Id"),
           "an ad with ports that cannot all be filled is answered with an empty list");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?why", NULL, "[Ports = {" PLACE ", " SEAT "}]");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "Port seat cannot be filled"),
           "why tells which port nobody fills");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?why", "Accept: application/json\r\n",
             "[Ports = {" PLACE ", " SEAT "}]");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "\"seat\"") &&
               reply_has(&world->talk.reply, "{"),
           "and does so in JSON");
    put(world, world->alice, "gang-seat", NULL, "[Type = \"Seat\"; At = \"room\"; Lifetime = 1000]");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, "[Ports = {" PLACE ", " SEAT "}]");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "Id = \"gang-room\"") &&
               reply_has(&world->talk.reply, "Label = \"place\"") &&
               reply_has(&world->talk.reply, "Id = \"gang-seat\"") &&
               reply_has(&world->talk.reply, "Label = \"seat\"") && reply_has(&world->talk.reply, "At = \"ad\""),
           "when all can be filled the gang is listed, a row a member: who, at whom, by which label");
    tap_ok(!reply_has(&world->talk.reply, "gang-hall"), "the best place is not in it where no seat goes with it");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?why", NULL, "[Ports = {" PLACE ", " SEAT "}]");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "gang-room") &&
               !reply_has(&world->talk.reply, "cannot be filled"),
           "and why tells of it");
    tap_ok(shows(world, world->alice, "gang-room", "Size = 5") && shows(world, world->alice, "gang-seat", "Seat"),
           "nothing was consumed");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, "[Ports = {" SEAT ", " SEAT "}]");
    expect(world, 400, "ports that are not in order are refused");
    tap_ok(reply_has(&world->talk.reply, "same Label"), "with what is wrong");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?why", NULL, "[Ports = {" SEAT ", " SEAT "}]");
    expect(world, 400, "also when it is asked why");
}

/* ------------------------------------------------------------------------------------------------- ads as they might be */

static void check_supposed(struct world *world)
{
    static const char wish[] = "[Constraint = other.Shelf == 7]";
    struct reply *reply = &world->talk.reply;
    char body[512];

    put(world, world->alice, "shelf-a", NULL, "[Shelf = 6; Constraint = other.Weight < 5; Lifetime = 1000]");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, wish);
    tap_ok(reply->status == 200 && !reply_has(reply, "Id"), "nothing is as the ad wants it");
    snprintf(body, sizeof body, "%s [AdId = \"shelf-a\"; Shelf = 7]", wish);
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, body);
    tap_ok(reply->status == 200 && reply_has(reply, "Id = \"shelf-a\""), "an offer can be supposed to be another");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?why", "Accept: application/json\r\n", body);
    tap_ok(reply->status == 200 && reply_has(reply, "\"verdict\": \"matches\"") &&
               reply_has(reply, "\"matching\": 1,") &&
               reply_has(reply,
                         "\"choice\": {\"reason\": \"only\", \"offer\": \"shelf-a\"}, \"taken\": 4, \"hold\": null,"),
           "also where it is asked why");
    tap_ok(shows(world, world->alice, "shelf-a", "Shelf = 6"), "the pool's own stays as it was");
    snprintf(body, sizeof body, "%s [Shelf = 7]", wish);
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, body);
    tap_ok(reply->status == 200 && reply_has(reply, "Id = \"supposed-1\""), "one can be supposed to come");
    snprintf(body, sizeof body, "%s [AdId = \"x\"; Shelf = 7] [AdId = \"x\"; Shelf = 8]", wish);
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, body);
    expect(world, 400, "but not the same one twice");
    snprintf(body, sizeof body, "%s [AdId = 3]", wish);
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, body);
    expect(world, 400, "nor one whose id is none");
    snprintf(body, sizeof body, "%s [Shelf = ]", wish);
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, body);
    tap_ok(reply->status == 400 && reply_has(reply, "line 1, column 42"), "what cannot be read is told with its place");

    put(world, world->alice, "shelf-a", NULL, "[Shelf = 6; Constraint = other.Owner == \"bob\"; Lifetime = 1000]");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL, "[Constraint = other.Shelf == 6]");
    tap_ok(reply->status == 200 && reply_has(reply, "Id = \"shelf-a\""), "an ad is taken as its sender's");
    talk_ask(&world->talk, world->alice, "POST", "/v1/match", NULL, "[Constraint = other.Shelf == 6]");
    tap_ok(reply->status == 200 && !reply_has(reply, "Id"), "so that of another is refused, if the offer says so");
    talk_ask(&world->talk, world->alice, "POST", "/v1/match", NULL, "[owner = \"bob\"; Constraint = other.Shelf == 6]");
    tap_ok(reply->status == 200 && reply_has(reply, "Id = \"shelf-a\""), "unless it names whose it might be");

    put(world, world->alice, "shelf-wish", NULL,
        "[Type = \"Job\"; Weight = 9; Constraint = other.Shelf == 6; Lifetime = 1000]");
    talk_ask(&world->talk, world->alice, "POST", "/v1/match?kind=offer", NULL,
             "[Shelf = 6; Constraint = other.Weight < 5]");
    tap_ok(reply->status == 200 && !reply_has(reply, "Id"), "an ad can be taken as an offer: it meets the requests");
    talk_ask(&world->talk, world->alice, "POST", "/v1/match?kind=offer", NULL,
             "[Shelf = 6; Constraint = other.Weight < 10]");
    tap_ok(reply->status == 200 && reply_has(reply, "Id = \"shelf-wish\""), "and as it might be it finds one");
    talk_ask(&world->talk, world->alice, "POST", "/v1/match?why&kind=offer", "Accept: application/json\r\n",
             "[Shelf = 6; Constraint = other.Weight < 5]");
    tap_ok(reply->status == 200 && reply_has(reply, "\"offer\": \"ad\"") &&
               reply_has(reply, "\"to\": \"other.Weight <= 9\""),
           "or is told what it would have to be");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?kind=offer", NULL, "[Shelf = 6]");
    tap_ok(reply->status == 200 && !reply_has(reply, "shelf-wish"),
           "requests that one may not see do not show there either");
    talk_ask(&world->talk, world->bob, "POST", "/v1/match?kind=both", NULL, "[Shelf = 6]");
    expect(world, 400, "there is no third kind");
    talk_ask(&world->talk, world->bob, "GET", "/v1/ads/shelf-wish", NULL, NULL);
    tap_ok(reply->status == 404 &&
               talk_ask(&world->talk, world->bob, "DELETE", "/v1/ads/shelf-wish", NULL, NULL) == 404 &&
               talk_ask(&world->talk, world->bob, "DELETE", "/v1/ads/shelf-a", NULL, NULL) == 403,
           "nor does who would withdraw one learn that it is there");
    talk_ask(&world->talk, world->alice, "DELETE", "/v1/ads/shelf-wish", NULL, NULL);
    talk_ask(&world->talk, world->alice, "DELETE", "/v1/ads/shelf-a", NULL, NULL);
}

/* ----------------------------------------------------------------------------------------------------------- bad input */

static void fill(struct buf *out, const char *before, const char *piece, int times, const char *after)
{
    buf_adds(out, before);
    for (int i = 0; i < times; i++)
        buf_adds(out, piece);
    buf_adds(out, after);
}

static void fill_attributes(struct buf *out, int count, const char *value)
{
    buf_addc(out, '[');
    for (int i = 0; i < count; i++)
        buf_addf(out, "A%d=%s;", i, value);
    buf_addc(out, ']');
}

#define ONE_MILLION 1000000

static const struct bad {
    const char *name;
    const char *before, *piece, *after; /* before, `times` pieces, after; no piece: `before` alone */
    int times;
    const char *type;  /* NULL: as it comes */
    const char *named; /* what the answer says */
} bads[] = {
    {"10^6 opening brackets", "", "[", "", ONE_MILLION, NULL, "line 1, column"},
    {"10^6 opening braces", "[A=", "{", "", ONE_MILLION, NULL, "256"},
    {"10^6 opening parentheses", "[A=", "(", "", ONE_MILLION, NULL, "256"},
    {"10^6 exclamation marks", "[A=", "!", "1]", ONE_MILLION, NULL, "256"},
    {"10^6 minus signs", "[A=", "-", "1]", ONE_MILLION, NULL, "256"},
    {"a chain of 250,000 ?:", "[A=", "1?2:", "3]", 250000, NULL, ""},
    {"a chain of 500,000 dots", "[A=a", ".b", "]", 500000, NULL, ""},
    {"a chain of 300,000 subscripts", "[A=a", "[1]", "]", 300000, NULL, ""},
    {"10^6 opening brackets of JSON", "{\"A\":", "[", "", ONE_MILLION, "application/json", ""},
    {"200,000 objects of JSON inside one another", "", "{\"A\":", "", 200000, "application/json", ""},
    {"a list of 400,000", "[A={", "1,", "1}]", 400000, NULL, ""},
    {"bytes that are not UTF-8 in a string", "[A = \"\xff\xfe\"]", NULL, NULL, 0, NULL, "line 1, column"},
    {"bytes that are not UTF-8 in a name", "[A\xff = 1]", NULL, NULL, 0, NULL, "line 1, column"},
    {"bytes that are not UTF-8 in JSON", "{\"A\": \"\xff\"}", NULL, NULL, 0, "application/json", "line 1, column"},
    {"an overlong NUL", "[A = \"\xc0\x80\"]", NULL, NULL, 0, NULL, "line 1, column"},
    {"half a pair of surrogates in JSON", "{\"A\": \"\\ud800\"}", NULL, NULL, 0, "application/json", "line 1, column"},
    {"an attribute twice", "[A = 1;\n A = 2]", NULL, NULL, 0, NULL, "line 2, column"},
    {"an attribute twice in other letters", "[Abc = 1; aBC = 2]", NULL, NULL, 0, NULL, "line 1, column"},
    {"a key of JSON twice", "{\"A\": 1, \"A\": 2}", NULL, NULL, 0, "application/json", "line 1, column"},
    {"a reserved word for a name", "[true = 1]", NULL, NULL, 0, NULL, "line 1, column"},
    {"another reserved word for a name", "[A = 1; undefined = 1]", NULL, NULL, 0, NULL, "line 1, column"},
    {"a reserved word as JSON", "{\"error\": 1}", NULL, NULL, 0, "application/json", ""},
    {"a name that the matchmaker gives", "[UserPrio = 1]", NULL, NULL, 0, NULL, "UserPrio"},
    {"another name that the matchmaker gives", "[remoteuserprio = 1]", NULL, NULL, 0, NULL, "RemoteUserPrio"},
    {"ports that are no list", "[Ports = 1]", NULL, NULL, 0, NULL, "Ports"},
    {"ports that are no ads", "[Ports = {1}]", NULL, NULL, 0, NULL, "port 1 is not an ad"},
    {"two ports of one label", "[Ports = {[Label = a], [Label = a]}]", NULL, NULL, 0, NULL, "ports 1 and 2"},
    {"two ports of one label in other letters", "[Ports = {[Label = cpu], [Label = CPU]}]", NULL, NULL, 0, NULL,
     "ports 1 and 2"},
    {"a port that goes by the name of another user", "[Ports = {[Label = a; owner = \"bob\"]}]", NULL, NULL, 0, NULL,
     "Owner: no port may have an attribute of this name"},
    {"a group of ports that does", "[Ports = {[Choose = 1; Owner = \"bob\"; Ports = {[Label = a]}]}]", NULL, NULL, 0,
     NULL, "Owner: no port may have an attribute of this name"},
    {"a port that counts for another group", "[Ports = {[Label = a; AccountingGroup = \"physics\"]}]", NULL, NULL, 0,
     NULL, "AccountingGroup: no port may have"},
    {"a label that is too long", "[Ports = {[Label = a", "a", "]}]", 1000, NULL,
     "the Label of port 1 is longer than 128 bytes"},
    {"a label with a control character", "{\"Ports\": [{\"Label\": \"a\\u001b[2J\"}]}", NULL, NULL, 0,
     "application/json", "port 1"},
    {"a constraint that does not parse", "[Constraint = other.Memory >]", NULL, NULL, 0, NULL, "line 1, column"},
    {"a number that is none", "[A = 12x]", NULL, NULL, 0, NULL, "line 1, column"},
    {"a string without an end", "[A = \"xyz]", NULL, NULL, 0, NULL, "line 1, column"},
    {"a date out of range", "[A = '2026-13-45T99:00:00']", NULL, NULL, 0, NULL, "line 1, column"},
    {"two ads where one is expected", "[A = 1] [B = 2]", NULL, NULL, 0, NULL, "line 1, column"},
    {"an ad with rubbish behind it", "[A = 1] frob", NULL, NULL, 0, NULL, "line 1, column"},
    {"nothing but blanks", " \n ", NULL, NULL, 0, NULL, ""},
    {"JSON that is no object", "[1, 2]", NULL, NULL, 0, "application/json", ""},
};

/* The pool is as it was: the ad that was there before, and no other. */
static bool is_unharmed(struct world *world)
{
    return live_is_up(&world->live) && shows(world, world->alice, "anchor", "Memory = 77") &&
           get(world, world->alice, "bad", NULL) == 404;
}

static void check_bad(struct world *world, const struct bad *bad)
{
    char fields[128] = "";
    int64_t began = live_clock(), took;
    struct buf body;
    unsigned status;
    bool named;

    buf_init(&body);
    if (bad->piece)
        fill(&body, bad->before, bad->piece, bad->times, bad->after);
    else
        buf_adds(&body, bad->before);
    if (bad->type)
        snprintf(fields, sizeof fields, "Content-Type: %s\r\n", bad->type);
    status = talk_bytes(&world->talk, world->alice, "PUT", "/v1/ads/bad", fields, body.text, body.len);
    took = live_clock() - began;
    named = reply_has(&world->talk.reply, bad->named);
    if (!tap_ok(status == 400 && named && took < QUICK, "%s: refused at once%s%s", bad->name,
                *bad->named ? ", naming " : "", bad->named))
        tap_diag("%u after %lld ms: %.300s", status, (long long)took, reply_show(&world->talk.reply));
    if (!tap_ok(is_unharmed(world), "%s: nothing has changed", bad->name))
        tap_diag("%u %.300s", world->talk.reply.status, reply_show(&world->talk.reply));
    delete (world, world->alice, "bad", NULL);
    buf_done(&body);
}

/* Lines that the log has. */
static size_t log_lines(struct world *world)
{
    struct buf log;
    size_t count;

    buf_init(&log);
    live_read_log(&world->live, &log);
    count = text_count(buf_string(&log), "\n");
    buf_done(&log);
    return count;
}

static void check_bads(struct world *world)
{
    size_t before = log_lines(world), after;

    for (size_t i = 0; i < COUNT(bads); i++)
        check_bad(world, &bads[i]);
    after = log_lines(world);
    if (!tap_ok(after - before >= COUNT(bads), "bad input leaves a line in the log"))
        tap_diag("%zu lines for %zu", after - before, COUNT(bads));
}

static void check_limits(struct world *world)
{
    struct buf body;
    int64_t began;

    buf_init(&body);
    fill_attributes(&body, 100000, "1");
    began = live_clock();
    talk_bytes(&world->talk, world->alice, "PUT", "/v1/ads/bad", NULL, body.text, body.len);
    expect(world, 400, "10^5 attributes are refused");
    tap_ok(reply_has(&world->talk.reply, "1000") && reply_has(&world->talk.reply, "attributes") &&
               live_clock() - began < QUICK,
           "at once, naming the limit");
    buf_reset(&body);
    fill_attributes(&body, 1001, "1");
    talk_bytes(&world->talk, world->alice, "PUT", "/v1/ads/bad", NULL, body.text, body.len);
    expect(world, 400, "so are 1001");
    buf_reset(&body);
    fill_attributes(&body, 1000, "1");
    talk_bytes(&world->talk, world->alice, "PUT", "/v1/ads/thousand", NULL, body.text, body.len);
    expect(world, 201, "1000 are taken");
    buf_reset(&body);
    fill_attributes(&body, 900, "{1,2,3,4,5,6,7,8,9,10,11,12}");
    talk_bytes(&world->talk, world->alice, "PUT", "/v1/ads/bad", NULL, body.text, body.len);
    expect(world, 400, "more than 10,000 nodes are refused");
    tap_ok(reply_has(&world->talk.reply, "10000") || reply_has(&world->talk.reply, "AdNodes"), "naming the limit");
    buf_reset(&body);
    buf_adds(&body, "[A = \"a");
    buf_addc(&body, '\0');
    buf_adds(&body, "b\"]");
    talk_bytes(&world->talk, world->alice, "PUT", "/v1/ads/bad", NULL, body.text, body.len);
    expect(world, 400, "a NUL in an ad is refused");
    tap_ok(reply_has(&world->talk.reply, "line 1, column"), "and its place named");
    buf_reset(&body);
    fill(&body, "[A = \"", "0123456789", 120000, "\"]");
    began = live_clock();
    talk_bytes(&world->talk, world->alice, "PUT", "/v1/ads/bad", NULL, body.text, body.len);
    expect(world, 413, "a body of more than 1 MiB is refused");
    if (!tap_ok(live_clock() - began < QUICK &&
                    (reply_has(&world->talk.reply, "1048576") || reply_has(&world->talk.reply, "BodyMax")),
                "at once, naming the limit"))
        tap_diag("%s", reply_show(&world->talk.reply));
    talk_close(&world->talk);
    talk_ask(&world->talk, world->alice, "PUT", "/v1/ads/bad", "Content-Length: 1048577\r\n", NULL);
    expect(world, 413, "before it is read");
    talk_close(&world->talk);
    put(world, world->alice, "a%20b", NULL, "[A = 1]");
    expect(world, 400, "a blank in an id is refused");
    buf_reset(&body);
    fill(&body, "", "i", 201, "");
    put(world, world->alice, buf_string(&body), NULL, "[A = 1]");
    expect(world, 400, "so is an id of 201 bytes");
    tap_ok(reply_has(&world->talk.reply, "200"), "naming the limit");
    tap_ok(is_unharmed(world), "and nothing has changed");
    buf_done(&body);
}

/* Ads that are right, and dear to evaluate. */
static const char *const bombs[] = {
    "[A0=\"xxxxxxxx\";A1=strcat(A0,A0);A2=strcat(A1,A1);A3=strcat(A2,A2);A4=strcat(A3,A3);A5=strcat(A4,A4);"
    "A6=strcat(A5,A5);A7=strcat(A6,A6);A8=strcat(A7,A7);A9=strcat(A8,A8);B0=strcat(A9,A9);B1=strcat(B0,B0);"
    "B2=strcat(B1,B1);B3=strcat(B2,B2);B4=strcat(B3,B3);B5=strcat(B4,B4);B6=strcat(B5,B5);B7=strcat(B6,B6);"
    "B8=strcat(B7,B7);B9=strcat(B8,B8);C0=strcat(B9,B9);C1=strcat(C0,C0);C2=strcat(C1,C1);C3=strcat(C2,C2);"
    "Bomb=size(strcat(C3,C3))]",
    "[A0=1;A1=A0+A0;A2=A1+A1;A3=A2+A2;A4=A3+A3;A5=A4+A4;A6=A5+A5;A7=A6+A6;A8=A7+A7;A9=A8+A8;B0=A9+A9;B1=B0+B0;"
    "B2=B1+B1;B3=B2+B2;B4=B3+B3;B5=B4+B4;B6=B5+B5;B7=B6+B6;B8=B7+B7;B9=B8+B8;C0=B9+B9;C1=C0+C0;C2=C1+C1;C3=C2+C2;"
    "C4=C3+C3;C5=C4+C4;C6=C5+C5;C7=C6+C6;C8=C7+C7;C9=C8+C8;Bomb=C9+C9]",
    "[Bomb=regexp(\"(a+)+$\",\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\")]",
    "[Bomb=regexp(\"(?R)\",\"aaaa\")]",
    "[Bomb=Bomb]",
    "[A={B};B={A};Bomb=A==B]",
    "[Bomb=[C=parent.Bomb].C]",
    "[A=0x7fffffffffffffff;Bomb=(-A-1)/-1]",
    "[Bomb=1e400;Rank=real(\"NaN\")]",
};

static void check_bombs(struct world *world)
{
    char id[32];

    for (size_t i = 0; i < COUNT(bombs); i++) {
        int64_t began = live_clock(), took;
        unsigned asked, told, tried;

        snprintf(id, sizeof id, "bomb%zu", i);
        put(world, world->alice, id, NULL, bombs[i]);
        asked = query(world, world->bob, "Bomb == 1", "");
        told = talk_ask(&world->talk, world->bob, "POST", "/v1/match", NULL,
                        "[Constraint = other.Bomb > 1; Rank = other.Bomb]");
        tried = talk_ask(&world->talk, world->bob, "POST", "/v1/match?why", NULL, "[Constraint = other.Bomb > 1]");
        took = live_clock() - began;
        if (!tap_ok(asked == 200 && told == 200 && tried == 200 && took < QUICK,
                    "an ad that is dear to evaluate holds nobody up: %.40s", bombs[i]))
            tap_diag("%u %u %u after %lld ms", asked, told, tried, (long long)took);
    }
    tap_ok(is_unharmed(world), "and nothing has changed");
}

/* ------------------------------------------------------------------------------------------------------------- quotas */

static void check_quotas(void)
{
    static const char *const settings[] = {"AdsPerIdentity=3", "AdBytesPerIdentity=\"8 KiB\"", "RequestsPerSecond=5",
                                           "AgentRequestsPerSecond=20"};
    struct world world;
    struct buf body;
    char *reader;
    int limited = 0, other = 0;

    world_start(&world, settings, COUNT(settings));
    put(&world, world.alice, "a", NULL, "[A = 1]");
    put(&world, world.alice, "b", NULL, "[A = 1]");
    put(&world, world.alice, "c", NULL, "[A = 1]");
    expect(&world, 201, "as many ads as an identity may have are taken");
    put(&world, world.alice, "d", NULL, "[A = 1]");
    expect(&world, 429, "one more is not");
    tap_ok(reply_has(&world.talk.reply, "AdsPerIdentity"), "and the limit is named");
    put(&world, world.alice, "c", NULL, "[A = 2]");
    expect(&world, 200, "those that are there can be replaced");
    put(&world, world.bob, "e", NULL, "[A = 1]");
    expect(&world, 201, "another identity is not held up");
    delete (&world, world.alice, "a", NULL);
    put(&world, world.alice, "d", NULL, "[A = 1]");
    expect(&world, 201, "an ad that was withdrawn makes room");
    buf_init(&body);
    fill(&body, "[A = \"", "0123456789", 1000, "\"]");
    put(&world, world.bob, "big", NULL, buf_string(&body));
    expect(&world, 429, "an ad that is more than an identity may have in all is refused");
    tap_ok(reply_has(&world.talk.reply, "AdBytesPerIdentity"), "and the limit is named");
    buf_done(&body);
    reader = live_token(&world.live, "carol", SCOPE_AD_READ);
    for (int i = 0; i < 60; i++) {
        unsigned status = talk_ask(&world.talk, reader, "GET", "/v1/status", NULL, NULL);
        char wait[32];

        limited += status == 429 && reply_field(&world.talk.reply, "Retry-After", wait, sizeof wait) &&
                   strtoul(wait, NULL, 10) > 0 && reply_has(&world.talk.reply, "RequestsPerSecond");
        other += status != 429 && status != 200;
    }
    tap_ok(limited > 20 && !other, "a person who asks too often is told when to come back, and which limit it is");
    tap_ok(get(&world, world.bob, "e", NULL) == 200, "others are not held up by that");
    limited = 0;
    for (int i = 0; i < 100; i++)
        limited += put(&world, world.bob, "e", NULL, "[A = 1]") == 429;
    tap_ok(limited > 20, "an agent has a limit of its own");
    put(&world, world.bob, "e", "If-Match: *\r\n", NULL);
    expect(&world, 200, "its heart beats get through nevertheless");
    limited = 0;
    for (int i = 0; i < 100; i++)
        limited += put(&world, world.alice, "c", "If-Match: *\r\n", "[A = 3]") == 429;
    tap_ok(limited > 20 && put(&world, world.alice, "c", "If-Match: *\r\n", NULL) == 200,
           "an ad under If-Match is no heart beat: many of them do not use up what those have");
    tap_ok(talk_ask(&world.talk, NULL, "GET", "/healthz", NULL, NULL) == 200, "and what is open stays open");
    free(reader);
    world_stop(&world);
}

/* ---- resources ---- */

#define GRDL_XML "Content-Type: application/grdl+xml\r\n"
#define GRDL_JSON "Content-Type: application/grdl+json\r\n"

static void check_resources(struct world *world)
{
    static const char executor[] =
        "<executor name=\"heron\"><chars><os>linux</os><mhz>2800</mhz><ram type=\"GB\">1</ram></chars>"
        "<reqs><mem match=\"le\" type=\"GB\">1</mem></reqs></executor>";
    static const char wanted[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<executor name=\"heron\">\n  <chars>\n    <os>linux</os>\n"
        "    <mhz>2800</mhz>\n    <ram type=\"GB\">1</ram>\n  </chars>\n  <reqs>\n"
        "    <mem match=\"&lt;=\" type=\"GB\">1</mem>\n  </reqs>\n</executor>\n";
    static const char task[] =
        "{\"class\": \"task\", \"name\": \"t\", \"chars\": [{\"dimension\": \"mem\", \"type\": \"MB\", "
        "\"value\": %s}], \"reqs\": [{\"dimension\": \"ghz\", \"match\": \">=\", \"value\": \"2.5\"}]}";
    char small[300], large[300];

    snprintf(small, sizeof small, task, "180");
    snprintf(large, sizeof large, task, "2000");
    put(world, world->alice, "heron-grdl", GRDL_XML, executor);
    expect(world, 201, "a resource in XML is put in as an ad");
    get(world, world->alice, "heron-grdl", "Accept: application/grdl+xml\r\n");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, wanted) &&
               reply_field_is(&world->talk.reply, "Content-Type", "application/grdl+xml"),
           "and is given back as that resource");
    get(world, world->alice, "heron-grdl", "Accept: application/grdl+json\r\n");
    tap_ok(world->talk.reply.status == 200 &&
               reply_has(&world->talk.reply, "{\"class\": \"executor\", \"name\": \"heron\"") &&
               reply_field_is(&world->talk.reply, "Content-Type", "application/grdl+json"),
           "or in JSON");
    get(world, world->alice, "heron-grdl", "Accept: application/classad, application/grdl+xml\r\n");
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "os = \"linux\"") &&
               reply_field_is(&world->talk.reply, "Content-Type", "application/classad"),
           "or as the ad that it is, when that is asked for first");
    talk_ask(&world->talk, world->alice, "POST", "/v1/match", GRDL_JSON, small);
    tap_ok(world->talk.reply.status == 200 && reply_has(&world->talk.reply, "heron-grdl"),
           "a resource in JSON is matched with it: 2.8 GHz are enough, and 180 MB are");
    talk_ask(&world->talk, world->alice, "POST", "/v1/match", GRDL_JSON, large);
    tap_ok(world->talk.reply.status == 200 && !reply_has(&world->talk.reply, "heron-grdl"), "2000 MB are not");

    put(world, world->alice, "bad-grdl", GRDL_XML, "<t>\n<reqs><x match=\"=>\">1</x></reqs></t>");
    expect(world, 400, "a resource that is wrong is refused");
    tap_ok(reply_has(&world->talk.reply, "line 2, column 7: match: expected ="),
           "with the place and what was expected");
    put(world, world->alice, "bad-grdl", GRDL_XML, "<resources><t/><t/></resources>");
    expect(world, 400, "two resources are no ad");
    put(world, world->alice, "bad-grdl", GRDL_XML,
        "<!DOCTYPE t [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><t name=\"&a;\"/>");
    expect(world, 400, "a document with entities is refused");
    put(world, world->alice, "plain-grdl", NULL,
        "[ Name = \"p\"; Memory = 64; Constraint = other.Memory > 1 || other.Fast ]");
    get(world, world->alice, "plain-grdl", "Accept: application/grdl+xml\r\n");
    expect(world, 406, "an ad that no resource can say is not given as one");
    tap_ok(reply_has(&world->talk.reply, "other.Memory > 1 || other.Fast"), "with the clause that cannot be expressed");
    talk_ask(&world->talk, world->alice, "GET", "/v1/ads", "Accept: application/grdl+xml\r\n", NULL);
    expect(world, 406, "lists are given as ads");
    talk_ask(&world->talk, world->admin, "PUT", "/v1/policy", GRDL_XML, "<t/>");
    expect(world, 415, "a policy is no resource");
    delete (world, world->alice, "heron-grdl", NULL);
    delete (world, world->alice, "plain-grdl", NULL);
}

/* With the token of a machine that joined: what somebody could do who has stolen it. */
static void check_machine(struct world *world)
{
    static const char job[] = "[Type = \"Job\"; Cmd = \"id\"; RequestCpus = 1]";
    char *machine = live_token(&world->live, "machine/heron", AGENT_SCOPES);
    char *delegate = live_token(&world->live, "machine/heron/x", AGENT_SCOPES);
    char *submits = live_token(&world->live, "machine/heron", AGENT_SCOPES | SCOPE_JOB_SUBMIT);

    tap_ok(talk_ask(&world->talk, machine, "PUT", "/v1/ads/stolen", NULL, job) == 403 &&
               reply_has(&world->talk.reply, "a machine asks for no others"),
           "a machine asks for no machines: who has stolen its key runs nothing elsewhere");
    tap_ok(talk_ask(&world->talk, machine, "PUT", "/v1/ads/stolen?kind=request", NULL, "[Memory = 1]") == 403,
           "whatever it calls what it asks for");
    talk_ask(
        &world->talk, machine, "POST", "/v1/ads", NULL,
        "[Message = \"advertise\"; Id = \"00000000000000d1\"; Version = \"0000000000000001\"; Request = true; Bare = "
        "false; Heard = 0; Ad = [Cmd = \"id\"]]");
    tap_ok(reply_has(&world->talk.reply, "Reason = \"identity\""), "nor among many");
    tap_ok(talk_ask(&world->talk, delegate, "PUT", "/v1/ads/stolen", NULL, job) == 403,
           "nor by what it was delegated to");
    tap_ok(talk_ask(&world->talk, machine, "PUT", "/v1/ads/heron", NULL, "[Type = \"Machine\"; Memory = 64]") == 201,
           "it offers itself");
    tap_ok(talk_ask(&world->talk, submits, "PUT", "/v1/ads/asked", NULL, job) == 201,
           "one whose token lets it submit asks for others");
    talk_ask(&world->talk, submits, "DELETE", "/v1/ads/asked", NULL, NULL);
    talk_ask(&world->talk, machine, "DELETE", "/v1/ads/heron", NULL, NULL);
    free(machine);
    free(delegate);
    free(submits);
}

/* What was put in by a token goes with it. */
static void check_revoked(struct world *world)
{
    char *token = live_token(&world->live, "eve", AGENT_SCOPES | SCOPE_SERVE), path[64] = "/v1/tokens/";
    struct grant grant;

    talk_ask(&world->talk, token, "PUT", "/v1/agents/trap", "Berth-Agent: trap\r\n",
             "[Role = \"customer\"; Host = \"h\"]");
    tap_ok(talk_ask(&world->talk, token, "PUT", "/v1/ads/trap", "Berth-Agent: trap\r\n",
                    "[Type = \"Machine\"; Memory = 64; Lifetime = 80000]") == 201,
           "an offer is put in, for a day");
    put(world, world->bob, "bystander", NULL, "[Memory = 1; Lifetime = 1000]");
    if (token_read(token, strlen(token), &grant) != TOKEN_OK)
        live_bail("no token");
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s", grant.ids[grant.links - 1]);
    tap_ok(talk_ask(&world->talk, world->admin, "DELETE", path, NULL, NULL) == 204, "its agent's token is revoked");
    tap_ok(talk_ask(&world->talk, world->admin, "GET", "/v1/ads/trap", NULL, NULL) == 404,
           "with it goes what was put in by it: it is matched with nobody");
    tap_ok(talk_ask(&world->talk, world->admin, "GET", "/v1/ads/bystander", NULL, NULL) == 200, "and nothing else");
    talk_ask(&world->talk, world->bob, "DELETE", "/v1/ads/bystander", NULL, NULL);
    free(token);
}

int main(void)
{
    static const char *const settings[] = {"Lifetime=3", "RequestsPerSecond=10000000",
                                           "AgentRequestsPerSecond=10000000"};
    struct world world;

    world_start(&world, settings, COUNT(settings));
    check_conditions(&world);
    check_versions(&world);
    check_squatting(&world);
    check_identity(&world);
    check_machine(&world);
    check_revoked(&world);
    check_forms(&world);
    check_resources(&world);
    check_tags(&world);
    check_revisions(&world);
    check_fields(&world);
    check_lifetimes(&world);
    check_batch(&world);
    check_sealed_keys(&world);
    check_query(&world);
    check_collections(&world);
    check_long_lists(&world);
    check_requests(&world);
    check_supposed(&world);
    check_gangs(&world);
    put(&world, world.alice, "anchor", NULL, "[Memory = 77; Lifetime = 1000]");
    check_bads(&world);
    check_limits(&world);
    check_bombs(&world);
    tap_ok(live_is_up(&world.live) && talk_ask(&world.talk, NULL, "GET", "/healthz", NULL, NULL) == 200,
           "after all that it lives and answers");
    world_stop(&world);
    check_quotas();
    return tap_done();
}
