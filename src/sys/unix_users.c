/* unix_users.c: who a user id is on this machine: threads ask NSS, the answers are kept for a while.
 *
 * An account that comes while all of its places are taken gets that of one who was answered, longest ago. Nobody loses its place while it is being looked
 * up, nor before the answer was fetched: of any number of accounts that want the same places, each gets its answer. */
#define _GNU_SOURCE /* getgrouplist */
#include "sys/unix_users.h"

#include "lang/base/mem.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 1024 /* accounts that are remembered at a time, */
#define WAYS 8      /* ... each in one of so many places that follow each other */
#define RETRY \
    (INT64_C(500) * 1000) /* microseconds before an account is looked up again when the directory has failed ... */
#define UNREAD (INT64_C(30) * 1000 * 1000)  /* ... and how long an answer is kept for whoever asked for it */
#define FRESH (INT64_C(60) * 1000 * 1000)   /* microseconds after which an account is looked up again ... */
#define HOLDS (INT64_C(3600) * 1000 * 1000) /* ... and how long what was known holds while nobody answers */
#define RECORD_MAX (1u << 20)               /* bytes of an account's or a group's record */
#define GROUPS_MAX 65536                    /* groups of one account */
#define THREADS_MAX 4 /* so that an account whose directory is silent does not keep the others waiting */

struct place {
    bool used;
    uint32_t uid;
    bool again;       /* it is to be looked up ... */
    bool asked;       /* ... and a thread does that */
    bool known;       /* there is an answer, perhaps an old one: */
    bool exists;      /* ... there is such an account */
    int64_t at;       /* ... and when it came */
    bool read;        /* ... and was fetched */
    int64_t asked_at; /* when somebody last asked us for it */
    int64_t retry;    /* the directory has failed: not to be looked up before */
    struct unix_user user;
};

/* Belongs to whoever made it and to the threads: the last of them frees it. */
struct unix_users {
    pthread_mutex_t lock;
    pthread_cond_t work;
    bool ended;
    unsigned owners;
    unsigned threads, idle;
    int64_t now; /* when somebody last asked */
    char **groups;
    size_t group_count;
    struct place places[PLACES];
};

/* ------------------------------------------------------------------------------------------------------ asking NSS */

typedef int record_fn(void *user, char *room, size_t len); /* an errno */

/* Calls `fn` with more and more room while it says ERANGE. */
static int record_read(record_fn *fn, void *user)
{
    int failed = ERANGE;

    for (size_t len = 4096; failed == ERANGE && len <= RECORD_MAX; len *= 4) {
        char *room = mem_alloc(len);

        failed = fn(user, room, len);
        free(room);
    }
    return failed;
}

struct account {
    uint32_t uid;
    bool exists;
    gid_t group;
    char name[UNIX_NAME_MAX + 1];
};

static int account_read(void *user, char *room, size_t len)
{
    struct account *account = user;
    struct passwd row, *found = NULL;
    int failed = getpwuid_r(account->uid, &row, room, len, &found);

    if (failed || !found || strlen(found->pw_name) > UNIX_NAME_MAX)
        return failed;
    account->exists = true;
    account->group = found->pw_gid;
    strcpy(account->name, found->pw_name);
    return 0;
}

struct group_id {
    const char *name;
    bool exists;
    gid_t id;
};

static int group_read(void *user, char *room, size_t len)
{
    struct group_id *group = user;
    struct group row, *found = NULL;
    int failed = getgrnam_r(group->name, &row, room, len, &found);

    group->exists = !failed && found;
    if (group->exists)
        group->id = found->gr_gid;
    return failed;
}

static bool account_is_in(const struct account *account, const gid_t *groups, int count, const char *name)
{
    struct group_id group = {.name = name};

    if (!strcmp(name, UNIX_USERS_EVERYBODY))
        return true;
    if (record_read(group_read, &group) || !group.exists)
        return false;
    for (int i = 0; i < count; i++)
        if (groups[i] == group.id)
            return true;
    return account->group == group.id;
}

static bool account_is_listed(const struct unix_users *users, const struct account *account)
{
    int count = 64;
    gid_t *groups = mem_alloc((size_t)count * sizeof *groups);
    bool listed = false;

    while (getgrouplist(account->name, account->group, groups, &count) < 0 && count <= GROUPS_MAX)
        groups = mem_grow(groups, (size_t)count * sizeof *groups);
    if (count > GROUPS_MAX)
        count = 0;
    for (size_t i = 0; i < users->group_count && !listed; i++)
        listed = account_is_in(account, groups, count, users->groups[i]);
    free(groups);
    return listed;
}

/* ----------------------------------------------------------------------------------------------------------- the thread */

static void users_unref(struct unix_users *users)
{
    bool last = --users->owners == 0;

    pthread_mutex_unlock(&users->lock);
    if (!last)
        return;
    for (size_t i = 0; i < users->group_count; i++)
        free(users->groups[i]);
    free(users->groups);
    pthread_cond_destroy(&users->work);
    pthread_mutex_destroy(&users->lock);
    free(users);
}

static struct place *place_to_do(struct unix_users *users)
{
    for (size_t i = 0; i < PLACES; i++)
        if (users->places[i].again)
            return &users->places[i];
    return NULL;
}

/* Looks an account up; the lock is not held meanwhile. */
static void place_ask(struct unix_users *users, struct place *place)
{
    struct account account = {.uid = place->uid};
    bool listed = false;
    int failed;

    place->again = false;
    place->asked = true;
    pthread_mutex_unlock(&users->lock);
    failed = record_read(account_read, &account);
    if (!failed && account.exists)
        listed = account_is_listed(users, &account);
    pthread_mutex_lock(&users->lock);
    place->asked = false;
    if (failed) { /* what was known holds on */
        place->retry = users->now + RETRY;
    } else {
        place->known = true;
        place->read = false;
        place->exists = account.exists;
        place->at = users->now;
        strcpy(place->user.name, account.name);
        place->user.listed = listed;
    }
}

static void *users_thread(void *given)
{
    struct unix_users *users = given;
    struct place *place;

    pthread_mutex_lock(&users->lock);
    while (!users->ended) {
        place = place_to_do(users);
        if (place) {
            place_ask(users, place);
            continue;
        }
        users->idle++;
        pthread_cond_wait(&users->work, &users->lock);
        users->idle--;
    }
    users_unref(users);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ use */

struct unix_users *unix_users_new(const char *const *groups, size_t count)
{
    struct unix_users *users = mem_alloc(sizeof *users);

    memset(users, 0, sizeof *users);
    pthread_mutex_init(&users->lock, NULL);
    pthread_cond_init(&users->work, NULL);
    users->owners = 1;
    users->groups = mem_alloc((count + 1) * sizeof *users->groups);
    for (; users->group_count < count; users->group_count++)
        users->groups[users->group_count] = mem_dup(groups[users->group_count], strlen(groups[users->group_count]));
    return users;
}

void unix_users_free(struct unix_users *users)
{
    if (!users)
        return;
    pthread_mutex_lock(&users->lock);
    users->ended = true;
    pthread_cond_broadcast(&users->work);
    users_unref(users);
}

/* There is something to look up: wakes a thread, or begins one when all are busy. Where none can begin, this is tried again when somebody asks. */
static void thread_call(struct unix_users *users)
{
    pthread_attr_t detached;
    sigset_t all, before;
    pthread_t thread;

    if (users->idle)
        pthread_cond_signal(&users->work);
    if (users->idle || users->threads == THREADS_MAX)
        return;
    sigfillset(&all); /* signals are for the thread that handles them, or has them blocked */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &detached, users_thread, users) == 0) {
        users->threads++;
        users->owners++;
    }
    pthread_attr_destroy(&detached);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Can another account have the place? */
static bool place_is_free(const struct place *place, int64_t now)
{
    return !place->used ||
           (!place->again && !place->asked && (!place->known || place->read || now - place->at > UNREAD));
}

/* The account's place, which may be a new one; NULL: all that it could have are wanted by others. */
static struct place *place_find(struct unix_users *users, uint32_t uid, int64_t now)
{
    struct place *found = NULL;

    for (uint32_t i = 0; i < WAYS; i++) {
        struct place *place = &users->places[(uid % PLACES + i) % PLACES];

        if (place->used && place->uid == uid)
            return place;
        if (place_is_free(place, now) &&
            (!found || (found->used && (!place->used || place->asked_at < found->asked_at))))
            found = place;
    }
    if (found)
        *found = (struct place){.used = true, .uid = uid, .retry = INT64_MIN};
    return found;
}

enum unix_users_answer unix_users_look(struct unix_users *users, uint32_t uid, int64_t now, struct unix_user *ret)
{
    enum unix_users_answer answer = UNIX_USERS_LATER;
    struct place *place;

    pthread_mutex_lock(&users->lock);
    users->now = now;
    place = place_find(users, uid, now);
    if (place) {
        place->asked_at = now;
        if (place->known && now - place->at > HOLDS)
            place->known = false;
        if ((!place->known || now - place->at > FRESH) && !place->asked && now >= place->retry) {
            place->again = true;
            thread_call(users);
        }
        place->read = place->known;
        answer = !place->known ? UNIX_USERS_LATER : place->exists ? UNIX_USERS_FOUND : UNIX_USERS_NOBODY;
    }
    if (answer == UNIX_USERS_FOUND)
        *ret = place->user;
    pthread_mutex_unlock(&users->lock);
    return answer;
}
