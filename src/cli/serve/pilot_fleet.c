/* pilot_fleet.c: finds pilots by their folders, by the batch system and by the pool; submits and cancels them. */
#include "cli/serve/pilot.h"

#include "cli/ask/token_ask.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/auth/token_renewal.h"
#include "sys/confined_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LISTED 10           /* seconds in which a batch system may not yet list a job that it has just taken */
#define SETTLE 60           /* seconds after which a pilot that is not listed has gone */
#define KEEP (24 * 60 * 60) /* seconds after which the folder of a pilot that has gone is removed */
#define PARENT_LIFE \
    (7 * 86400) /* seconds that a token from the pool is good, or twice as long as that of a pilot ... */
#define PARENT_MOST (365 * 86400) /* ... and at most */

/* ---------------------------------------------------------------------------------------------------------------- life */

int fleet_open(struct fleet *fleet, const struct pilot_options *options)
{
    struct err err = {0};
    int status;

    *fleet = (struct fleet){.options = options, .lock = -1};
    token_file_init(&fleet->parent);
    status = connection_open(&fleet->pool, &options->pool);
    if (status == STATUS_DONE)
        status = pilots_folder(options, &fleet->pool, fleet->folder);
    if (status == STATUS_DONE && !(fleet->batch = cluster_read(options->batch, &err))) {
        report("%s", err.text);
        status = STATUS_BAD;
    }
    return status;
}

void fleet_close(struct fleet *fleet)
{
    connection_close(&fleet->pool);
    token_file_done(&fleet->parent);
    cluster_free(fleet->batch);
    free(fleet->members);
    if (fleet->lock >= 0)
        close(fleet->lock);
}

int fleet_lead(struct fleet *fleet)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%.4000s/lock", fleet->folder);
    fleet->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fleet->lock >= 0 && flock(fleet->lock, LOCK_EX | LOCK_NB) == 0)
        return STATUS_DONE;
    if (errno == EWOULDBLOCK)
        report("another `berth pilot` submits pilots from %s; --folder FOLDER names another place", fleet->folder);
    else
        report("%s: %s", path, strerror(errno));
    return STATUS_BAD;
}

/* Can tokens of pilots be made from it? `ret_old`: it is in the second half of its life. */
static bool parent_is_good(const struct fleet *fleet, bool *ret_old)
{
    int64_t now = time(NULL);
    struct grant grant;
    bool good = fleet->parent.token && fleet->parent.has_key &&
                token_read(fleet->parent.token, strlen(fleet->parent.token), &grant) == TOKEN_OK &&
                grant.expires > now + fleet->options->least.time;

    *ret_old = good && token_renewal_due(&grant, now);
    return good;
}

/* How long a token of the pool's is to last, so that pilots' tokens can be made from it in the first half of its life. */
static int64_t parent_life(const struct fleet *fleet)
{
    int64_t life = 2 * pilot_token_life(fleet->options);

    return life < PARENT_LIFE ? PARENT_LIFE : life > PARENT_MOST ? PARENT_MOST : life;
}

/* Gets a parent from where it comes from, into the fleet. */
static int parent_get(struct fleet *fleet)
{
    const struct token_wish wish = {.scope = "ad:read ad:write claim", .lifetime = parent_life(fleet)};

    token_file_init(&fleet->parent);
    if (fleet->pool.token_name && !fleet->pool.token.has_key) {
        report("%s: this token was made without a key, and no pilot's token can be made from it",
               fleet->pool.token_name);
        return STATUS_BAD;
    }
    return fleet->pool.token_name ? connection_token(&fleet->options->pool, &fleet->parent)
                                  : token_ask(&fleet->pool, &wish, &fleet->parent);
}

int fleet_token(struct fleet *fleet)
{
    struct token_file before = fleet->parent;
    int status = STATUS_DONE;
    struct grant grant;
    bool old, good = parent_is_good(fleet, &old);

    if (!good || old) {
        status = parent_get(fleet);
        if (status != STATUS_DONE && good) { /* the one before serves until this works again */
            token_file_done(&fleet->parent);
            fleet->parent = before;
            return STATUS_DONE;
        }
        token_file_done(&before);
    }
    if (status == STATUS_DONE && token_read(fleet->parent.token, strlen(fleet->parent.token), &grant) == TOKEN_OK)
        snprintf(fleet->subject, sizeof fleet->subject, "%s", grant.subject);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- looking */

static struct pilot_member *member_add(struct fleet *fleet, const char *name)
{
    struct pilot_member *member;
    struct stat info;

    ARRAY_ROOM(fleet->members, fleet->count, fleet->room, 32);
    member = &fleet->members[fleet->count];
    *member = (struct pilot_member){.state = CLUSTER_GONE};
    snprintf(member->name, sizeof member->name, "%.31s", name);
    snprintf(member->folder, sizeof member->folder, "%.4000s/%.31s", fleet->folder, name);
    if (stat(member->folder, &info) < 0 || !S_ISDIR(info.st_mode))
        return NULL;
    member->changed = info.st_mtim.tv_sec;
    pilot_noted(member->folder, "id", member->id, sizeof member->id);
    pilot_noted(member->folder, "left", member->left, sizeof member->left);
    fleet->count++;
    return member;
}

static int members_read(struct fleet *fleet, struct err *err)
{
    DIR *dir = opendir(fleet->folder);
    struct dirent *entry;

    fleet->count = 0;
    if (!dir)
        return err_set(err, "%s: %s", fleet->folder, strerror(errno));
    while ((entry = readdir(dir)) && fleet->count < PILOT_COUNT_MAX)
        if (!strncmp(entry->d_name, PILOT_PREFIX, strlen(PILOT_PREFIX)) && strlen(entry->d_name) <= PILOT_NAME_MAX)
            member_add(fleet, entry->d_name);
    closedir(dir);
    return 0;
}

static struct pilot_member *member_find(struct fleet *fleet, const char *name)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (!strcmp(fleet->members[i].name, name))
            return &fleet->members[i];
    return NULL;
}

/* Looks. Batch jobs are known by their names, so that a pilot is known even when we were killed before its id was written down. */
int fleet_look(struct fleet *fleet, struct err *err)
{
    size_t prefix = strlen(PILOT_JOB_PREFIX);
    struct cluster_jobs jobs;

    if (members_read(fleet, err) < 0 || cluster_list(fleet->batch, &jobs, err) < 0)
        return -1;
    for (size_t i = 0; i < jobs.count; i++) {
        const struct cluster_job *job = &jobs.items[i];
        struct pilot_member *member =
            strncmp(job->name, PILOT_JOB_PREFIX, prefix) ? NULL : member_find(fleet, job->name + prefix);

        if (!member)
            continue;
        member->state = job->state;
        if (strcmp(member->id, job->id) != 0 && job->state != CLUSTER_GONE) {
            snprintf(member->id, sizeof member->id, "%s", job->id);
            pilot_note(member->folder, "id", job->id);
        }
    }
    free(jobs.items);
    for (size_t i = 0; i < fleet->count; i++) { /* a pilot that was just submitted may not be listed yet */
        struct pilot_member *member = &fleet->members[i];

        if (member->state == CLUSTER_GONE && *member->id && !*member->left && time(NULL) < member->changed + LISTED)
            member->state = CLUSTER_PENDING;
    }
    return 0;
}

static bool agent_told(void *user, struct tree *ad)
{
    struct fleet *fleet = user;
    struct pilot_member *member;
    char name[PILOT_NAME_MAX + 1];
    const char *text;
    size_t len;

    if (!ad_string(ad, "Name", &text, &len) || len > PILOT_NAME_MAX)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    member = member_find(fleet, name);
    if (!member)
        return true;
    ad_flag(ad, "Connected", &member->connected);
    if (ad_string(ad, "Note", &text, &len))
        snprintf(member->note, sizeof member->note, "%.*s", (int)len, text);
    return true;
}

int fleet_ask_pool(struct fleet *fleet)
{
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/agents");
    path_query(&path, "constraint", "regexp(\"^" PILOT_PREFIX "\", Name)");
    status = connection_list(&fleet->pool, buf_string(&path), 0, agent_told, fleet);
    buf_done(&path);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- submitting, ending */

static void name_draw(char ret[PILOT_NAME_MAX + 1])
{
    unsigned char bytes[6];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        memset(bytes, 0, sizeof bytes); /* from the second time on, the folder is there already: refused */
    snprintf(ret, PILOT_NAME_MAX + 1, PILOT_PREFIX "%02x%02x%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3],
             bytes[4], bytes[5]);
}

/* Where pilots find the pool: the address that we were given, if others can reach it; else the one in the token. */
static const char *pool_address(const struct fleet *fleet)
{
    const struct connection_place *place = &fleet->pool.places[fleet->pool.at];

    if (fleet->pool.named && !place->socket)
        return place->url;
    return fleet->parent.pool ? fleet->parent.pool : place->url;
}

int fleet_submit(struct fleet *fleet, char ret_id[CLUSTER_ID_MAX + 1], struct err *err)
{
    const struct pilot_options *options = fleet->options;
    char name[PILOT_NAME_MAX + 1], folder[PATH_MAX], script[PATH_MAX], output[PATH_MAX];
    char job[PILOT_NAME_MAX + sizeof PILOT_JOB_PREFIX];
    struct cluster_order order = {.name = job,
                                  .script = script,
                                  .output = output,
                                  .folder = folder,
                                  .seconds = options->time,
                                  .cpus = (int64_t)options->cpus,
                                  .memory = options->memory,
                                  .options = options->options.items,
                                  .option_count = options->options.count};
    struct err ignored;

    if (fleet_token(fleet) != STATUS_DONE)
        return err_set(err, "there is no token for pilots");
    name_draw(name);
    snprintf(job, sizeof job, PILOT_JOB_PREFIX "%s", name);
    snprintf(folder, sizeof folder, "%.3900s/%s", fleet->folder, name);
    snprintf(script, sizeof script, "%.4000s/script", folder);
    snprintf(output, sizeof output, "%.4000s/log", folder);
    if (pilot_folder_make(options, fleet->batch, &fleet->parent, pool_address(fleet), name, folder) != STATUS_DONE) {
        confined_remove(AT_FDCWD, folder, &ignored);
        return err_set(err, "nothing was submitted");
    }
    if (cluster_submit(fleet->batch, &order, ret_id, err) < 0) {
        confined_remove(AT_FDCWD, folder, &ignored);
        return -1;
    }
    pilot_note(folder, "id", ret_id);
    return 0;
}

int fleet_cancel(struct fleet *fleet, struct pilot_member *member, struct err *err)
{
    if (cluster_cancel(fleet->batch, member->id, err) < 0)
        return -1;
    if (member->state == CLUSTER_PENDING) { /* the pilot never began, so it cannot say so itself */
        snprintf(member->left, sizeof member->left, "it was cancelled before it began");
        pilot_note(member->folder, "left", member->left);
        member->state = CLUSTER_GONE;
    }
    return 0;
}

int64_t fleet_renew(struct fleet *fleet)
{
    int64_t renewed = 0;

    for (size_t i = 0; i < fleet->count; i++) {
        const struct pilot_member *member = &fleet->members[i];

        if (member->state != CLUSTER_GONE && !*member->left && pilot_token_is_old(member->folder) &&
            fleet_token(fleet) == STATUS_DONE)
            renewed += pilot_token_renew(fleet->options, &fleet->parent, member->name, member->folder);
    }
    return renewed;
}

void fleet_tidy(struct fleet *fleet)
{
    int64_t now = time(NULL);
    char path[PATH_MAX + 8];
    struct err ignored;

    for (size_t i = 0; i < fleet->count; i++) {
        struct pilot_member *member = &fleet->members[i];

        if (member->state != CLUSTER_GONE || now < member->changed + SETTLE)
            continue;
        snprintf(path, sizeof path, "%s/token", member->folder);
        unlink(path);
        if (now >= member->changed + KEEP)
            confined_remove(AT_FDCWD, member->folder, &ignored);
    }
}
