/* unix_users.c: who a user id is on this machine: a thread asks NSS, the answers are kept for a while. */
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
#include <time.h>

#define PLACES 1024 /* accounts that are remembered at a time */
#define PATIENCE_MS \
    400 /* to wait for the first answer about an account, once: most directories are faster, a busy machine may not be */
#define FRESH (INT64_C(60) * 1000 * 1000)   /* microseconds after which an account is looked up again ... */
#define HOLDS (INT64_C(3600) * 1000 * 1000) /* ... and how long what was known holds while nobody answers */
#define RECORD_MAX (1u << 20)               /* bytes of an account's or a group's record */
#define GROUPS_MAX 65536                    /* groups of one account */
#define THREADS_MAX 4 /* so that an account whose directory is silent does not keep the others waiting */

struct place {
    bool used;
    uint32_t uid;
    bool again;  /* it is to be looked up ... */
    bool asked;  /* ... and a thread does that */
    bool known;  /* there is an answer, perhaps an old one: */
    bool exists; /* ... there is such an account */
    int64_t at;  /* ... and when it came */
    struct unix_user user;
};

/* Belongs to whoever made it and to the threads: the last of them frees it. */
struct unix_users {
    pthread_mutex_t lock;
    pthread_cond_t work, answer;
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
    pthread_cond_destroy(&users->answer);
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
    if (place->uid != account.uid)
        return; /* another account has taken the place */
    place->asked = false;
    if (!failed) { /* after a failure, what was known holds on */
        place->known = true;
        place->exists = account.exists;
        place->at = users->now;
        strcpy(place->user.name, account.name);
        place->user.listed = listed;
    }
    pthread_cond_broadcast(&users->answer);
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
    pthread_condattr_t clock;

    memset(users, 0, sizeof *users);
    pthread_mutex_init(&users->lock, NULL);
    pthread_cond_init(&users->work, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&users->answer, &clock);
    pthread_condattr_destroy(&clock);
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

/* There is something to look up: wakes a thread, or begins one when all are busy. False: nobody will do it now. */
static bool thread_call(struct unix_users *users)
{
    pthread_attr_t detached;
    sigset_t all, before;
    pthread_t thread;

    if (users->idle)
        pthread_cond_signal(&users->work);
    if (users->idle || users->threads == THREADS_MAX)
        return true;
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
    return users->threads > 0;
}

/* Until there is an answer, or the directory has failed. */
static void wait_a_moment(struct unix_users *users, const struct place *place)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PATIENCE_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    while (!place->known && (place->again || place->asked) &&
           pthread_cond_timedwait(&users->answer, &users->lock, &until) == 0)
        ;
}

enum unix_users_answer unix_users_look(struct unix_users *users, uint32_t uid, int64_t now, struct unix_user *ret)
{
    struct place *place = &users->places[uid % PLACES];
    enum unix_users_answer answer;

    pthread_mutex_lock(&users->lock);
    users->now = now;
    if (!place->used || place->uid != uid)
        *place = (struct place){.used = true, .uid = uid};
    if (place->known && now - place->at > HOLDS)
        place->known = false;
    if (!place->known || now - place->at > FRESH) {
        bool begun = place->again || place->asked; /* and was waited for: once is enough */

        place->again = !place->asked;
        if ((!place->again || thread_call(users)) && !place->known && !begun)
            wait_a_moment(users, place);
    }
    answer = !place->known ? UNIX_USERS_LATER : place->exists ? UNIX_USERS_FOUND : UNIX_USERS_NOBODY;
    if (answer == UNIX_USERS_FOUND)
        *ret = place->user;
    pthread_mutex_unlock(&users->lock);
    return answer;
}
