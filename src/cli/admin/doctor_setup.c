/* doctor_setup.c: what is set up on this machine for this user: settings, state folder, stores, tokens, certificates, daemons. */
#include "cli/admin/doctor.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/span.h"
#include "live/auth/certs.h"
#include "store/store.h"
#include "sys/disk_room.h"
#include "sys/read_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define STORE_LOOKED_MAX (INT64_C(256) << 20) /* bytes of a store that is read as a whole here */
#define TOKEN_SOON 86400                      /* seconds before its end in which a token is worth a word */
#define CA_SOON (INT64_C(90) * 86400)

/* What runs with a state folder. */
static const struct role {
    const char *name, *folder, *socket; /* below the state folder */
} roles[] = {
    {"matchmaker", "", "matchmaker.sock"},
    {"customer", "customer/", "customer/customer.sock"},
    {"provider", "provider/", "provider/provider.sock"},
};
#define ROLES (sizeof roles / sizeof *roles)

static void path_in(const struct doctor *doctor, const char *folder, const char *name, char ret[PATH_MAX])
{
    snprintf(ret, PATH_MAX, "%.3000s/%s%s", doctor->state, folder, name);
}

static void settings_look(struct doctor *doctor)
{
    const char *doubts = doctor->config.doubts;

    if (!doctor->configured)
        return; /* that has been said */
    doctor_say(doctor, DOCTOR_GOOD, "settings", "%s",
               doctor->config.file ? doctor->config.file : "no configuration file: the defaults");
    for (size_t len; doubts && *doubts; doubts += len + (doubts[len] == '\n')) {
        len = strcspn(doubts, "\n");
        doctor_say(doctor, DOCTOR_NOTE, "settings", "%.*s", (int)len, doubts);
        doctor_advise(doctor, "`berth config --explain` lists what there is");
    }
}

/* Is there a state folder that we may read? */
static bool state_look(struct doctor *doctor)
{
    const char *state = doctor->state;
    struct stat st;

    if (stat(state, &st) < 0) {
        if (errno == ENOENT) {
            doctor_say(doctor, DOCTOR_GOOD, "state", "%s is not there yet: nothing has run here as this user", state);
        } else {
            doctor_say(doctor, DOCTOR_PROBLEM, "state", "%s: %s", state, strerror(errno));
            doctor_advise(doctor, "run this as the user whose state it is");
        }
        return false;
    }
    if (!S_ISDIR(st.st_mode)) {
        doctor_say(doctor, DOCTOR_PROBLEM, "state", "%s is not a folder", state);
        doctor_advise(doctor, "name another by --state or $BERTH_STATE");
        return false;
    }
    if (st.st_uid != geteuid() && geteuid() != 0) {
        doctor_say(doctor, DOCTOR_NOTE, "state", "%s belongs to another user: what is in it cannot be looked at",
                   state);
        doctor_advise(doctor, "run this as that user, or as root");
        return false;
    }
    if (st.st_mode & 0077) {
        doctor_say(doctor, DOCTOR_PROBLEM, "state", "others may enter %s: no daemon starts with it", state);
        doctor_advise(doctor, "chmod 700 %s", state);
        return true;
    }
    doctor_say(doctor, DOCTOR_GOOD, "state", "%s", state);
    return true;
}

static void disk_look(struct doctor *doctor)
{
    static const char *const folders[] = {"", "customer", "provider", "provider/work", "provider/claims"};
    char path[PATH_MAX], words[300];
    struct statvfs disk;
    bool lacks = false;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        path_in(doctor, folders[i], "", path);
        if (access(path, F_OK) < 0 || !disk_room_lacks(path, words, sizeof words))
            continue;
        doctor_say(doctor, DOCTOR_PROBLEM, "disk", "%s", words);
        doctor_advise(doctor, "make room, or mount it for writing: without it nothing new is taken. docs/state.md, "
                              "\"Disks\", says what takes how much");
        lacks = true;
        break; /* the others mostly lie on the same one */
    }
    if (!lacks && statvfs(doctor->state, &disk) == 0)
        doctor_say(doctor, DOCTOR_GOOD, "disk", "%.1f GiB are free in %s",
                   (double)disk.f_bavail * (double)disk.f_frsize / (1 << 30), doctor->state);
}

static void store_look(struct doctor *doctor, const struct role *role)
{
    struct err err = {0};
    struct buf complaints;
    char path[PATH_MAX];
    struct stat st;
    int result;

    path_in(doctor, role->folder, STORE_FILE, path);
    if (stat(path, &st) < 0)
        return;
    if (st.st_size > STORE_LOOKED_MAX) {
        doctor_say(doctor, DOCTOR_NOTE, "store", "%s is large: it was not looked over", path);
        doctor_advise(doctor, "berth store check %s", path);
        return;
    }
    buf_init(&complaints);
    result = store_check(path, &complaints, &err);
    if (result < 0) {
        doctor_say(doctor, DOCTOR_PROBLEM, "store", "%s", err.text);
        doctor_advise(doctor, "docs/trouble.md, \"Stores that are gone or damaged\"");
    } else if (result > 0) {
        doctor_say(doctor, DOCTOR_PROBLEM, "store", "%s: %.*s", path, (int)strcspn(buf_string(&complaints), "\n"),
                   buf_string(&complaints));
        doctor_advise(doctor, "end the %s, then restore a backup, or save what can be read: berth store repair %s",
                      role->name, path);
    } else {
        doctor_say(doctor, DOCTOR_GOOD, "store", "%s is whole", path);
    }
    buf_done(&complaints);
}

/* ------------------------------------------------------------------------------------------------ tokens, certificates */

static void ca_look(struct doctor *doctor, const char *where, const char *pem)
{
    int64_t begins, ends, now = time(NULL);
    struct err err = {0};
    struct buf span;

    buf_init(&span);
    if (cert_times(pem, &begins, &ends, &err) < 0) {
        doctor_say(doctor, DOCTOR_PROBLEM, "certificate", "%s: %s", where, err.text);
        doctor_advise(doctor, "join the pool again, or put the pool's ca.pem there");
    } else if (now < begins) {
        doctor_say(doctor, DOCTOR_PROBLEM, "certificate", "%s: the pool's certificate is not good yet", where);
        doctor_advise(doctor, "set this machine's clock");
    } else if (now >= ends) {
        span_say(&span, (double)(now - ends));
        doctor_say(doctor, DOCTOR_PROBLEM, "certificate", "%s: the pool's certificate ended %s ago", where,
                   buf_string(&span));
        doctor_advise(doctor, "docs/operations.md, \"Encryption, and joining\", says how a pool gets another");
    } else if (ends - now < CA_SOON) {
        span_say(&span, (double)(ends - now));
        doctor_say(doctor, DOCTOR_NOTE, "certificate", "%s: the pool's certificate ends in %s", where,
                   buf_string(&span));
        doctor_advise(doctor, "docs/operations.md, \"Encryption, and joining\", says how a pool gets another");
    }
    buf_done(&span);
}

static void token_renew_advise(struct doctor *doctor, const char *name)
{
    doctor_advise(
        doctor,
        "`berth pool` and agents that run renew their own in time. Else: on the machine of the matchmaker `berth token "
        "code` (with --customer USER for one who submits), and here `berth join --only CODE`; where this is "
        "that machine, remove %s and start `berth pool` again",
        name);
}

static void token_look(struct doctor *doctor, const char *path)
{
    int64_t now = time(NULL);
    struct token_file file;
    struct grant grant;
    struct err err = {0};
    enum token_fault fault;
    struct buf span;

    if (token_file_read(path, &file, &err) < 0) {
        doctor_say(doctor, DOCTOR_PROBLEM, "token", "%s", err.text);
        doctor_advise(
            doctor,
            "a token is a file that its owner alone may read (chmod 600), as `berth join` and `berth token create` write it");
        return;
    }
    buf_init(&span);
    fault = token_read(file.token, strlen(file.token), &grant);
    if (fault == TOKEN_OK)
        span_say(&span, (double)(now < grant.expires ? grant.expires - now : now - grant.expires));
    if (fault != TOKEN_OK) {
        doctor_say(doctor, DOCTOR_PROBLEM, "token", "%s: %s", path, token_fault_words(fault));
        token_renew_advise(doctor, path);
    } else if (now >= grant.expires) {
        doctor_say(doctor, DOCTOR_PROBLEM, "token", "%s: the token of %s ended %s ago", path, grant.subject,
                   buf_string(&span));
        token_renew_advise(doctor, path);
    } else if (grant.issued > now + TOKEN_SKEW) {
        doctor_say(doctor, DOCTOR_PROBLEM, "token",
                   "%s: by this machine's clock the token of %s was made in the future", path, grant.subject);
        doctor_advise(doctor, "set the clock");
    } else if (grant.expires - now < TOKEN_SOON && grant.expires - now < (grant.expires - grant.issued) / 4) {
        doctor_say(doctor, DOCTOR_NOTE, "token", "%s: the token of %s ends in %s", path, grant.subject,
                   buf_string(&span));
        token_renew_advise(doctor, path);
    } else {
        doctor_say(doctor, DOCTOR_GOOD, "token", "%s: %s, for another %s", path, grant.subject, buf_string(&span));
    }
    if (file.ca)
        ca_look(doctor, path, file.ca);
    token_file_done(&file);
    buf_done(&span);
}

static void tokens_look(struct doctor *doctor)
{
    static const char *const folders[] = {"", "customer/", "provider/"};
    char path[PATH_MAX];
    struct buf pem;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        path_in(doctor, folders[i], "token", path);
        if (access(path, F_OK) == 0)
            token_look(doctor, path);
    }
    path_in(doctor, "keys/", "ca.pem", path);
    buf_init(&pem);
    if (read_file(path, CERT_PEM_MAX, true, &pem, NULL) == 1)
        ca_look(doctor, path, buf_string(&pem));
    buf_done(&pem);
}

/* ------------------------------------------------------------------------------------------------------------- daemons */

/* Asks a daemon on this machine, by its socket, what it says of itself. The caller unrefs the ad, then closes the connection, in any case. */
static int daemon_ask(const struct doctor *doctor, const char *socket, struct connection *ret, struct tree **ret_ad)
{
    struct connection_options options = *doctor->options;
    char url[PATH_MAX + 8];
    struct buf kept;
    int status;

    snprintf(url, sizeof url, "unix:%s", socket);
    options.customer = url;
    buf_init(&kept);
    report_keep(&kept);
    status = customer_open(ret, &options);
    if (status == STATUS_DONE)
        status = connection_fetch_ad(ret, &(struct connection_ask){.path = "/v1/status"}, ret_ad);
    doctor_reported(&kept);
    buf_done(&kept);
    return status;
}

static bool text_of(const struct tree *ad, const char *name, char *ret, size_t room)
{
    return ad_text(ad, name, ret, room) && *ret;
}

static void daemon_told(struct doctor *doctor, const char *name, const struct tree *ad)
{
    char version[64] = "", words[600], asks[600] = "";
    bool connected, named;

    text_of(ad, "Version", version, sizeof version);
    if (*version && strcmp(version, BERTH_VERSION) != 0) {
        doctor_say(doctor, DOCTOR_NOTE, name, "it runs, of version %s; this program is " BERTH_VERSION, version);
        doctor_advise(doctor, "restart it, if it should be this one: jobs that run go on meanwhile");
    }
    if (ad_flag(ad, "Connected", &connected) && !connected) {
        named = text_of(ad, "Matchmaker", asks, sizeof asks);
        doctor_say(doctor, DOCTOR_PROBLEM, name, "it has no connection to its matchmaker%s%s", named ? ", " : "",
                   named ? asks : "");
        doctor_advise(
            doctor,
            "is the matchmaker up, and can it be reached from here? `berth doctor pool` looks; the log of the %s says "
            "what it met",
            name);
        return;
    }
    if (text_of(ad, "Unwell", words, sizeof words)) {
        doctor_say(doctor, DOCTOR_PROBLEM, name, "it takes no jobs: %s", words);
        doctor_advise(
            doctor,
            "mend that: it tries itself again and comes back alone. docs/trouble.md, \"A machine that is unwell\"");
    } else if (text_of(ad, "Warning", words, sizeof words)) {
        doctor_say(doctor, DOCTOR_PROBLEM, name, "%s", words);
        doctor_advise(doctor, "docs/state.md, \"Disks\"");
    } else {
        doctor_say(doctor, DOCTOR_GOOD, name, "it runs%s%s", *version ? ", version " : "", version);
    }
}

static void daemon_look(struct doctor *doctor, const struct role *role)
{
    char socket[PATH_MAX], store[PATH_MAX];
    struct connection daemon;
    struct tree *ad = NULL;
    bool listens;

    path_in(doctor, "", role->socket, socket);
    path_in(doctor, role->folder, STORE_FILE, store);
    listens = access(socket, F_OK) == 0;
    if (!listens && access(store, F_OK) < 0)
        return; /* there never was one */
    if (listens && daemon_ask(doctor, socket, &daemon, &ad) == STATUS_DONE) {
        daemon_told(doctor, role->name, ad);
    } else {
        doctor_say(doctor, DOCTOR_NOTE, role->name, "there was one here, and none answers now");
        doctor_advise(
            doctor, "start it, if it should run: `berth pool` or `berth %s`; as a service: systemctl status 'berth-*'",
            role->name);
    }
    tree_unref(ad);
    if (listens)
        connection_close(&daemon);
}

void doctor_setup(struct doctor *doctor)
{
    settings_look(doctor);
    if (!state_look(doctor))
        return;
    disk_look(doctor);
    if (*config_text(&doctor->config, CONFIG_STORE)) {
        doctor_say(doctor, DOCTOR_NOTE, "store", "the setting Store names a database: no store in it was looked over");
        doctor_advise(doctor, "`berth store check` looks over that of the matchmaker, and with the name of one, as "
                              "postgresql://HOST/DATABASE#customer/NAME, that of another daemon");
    }
    for (size_t i = 0; i < ROLES; i++)
        store_look(doctor, &roles[i]);
    tokens_look(doctor);
    for (size_t i = 0; i < ROLES; i++)
        daemon_look(doctor, &roles[i]);
}
