/* unix_users_test.c: who a user id is, by a directory of accounts that answers, fails, or is silent: whoever asks never waits. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "sys/clock.h"
#include "sys/unix_users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define LOOKS 50 /* in a moment */
#define CROWD 40 /* accounts that want the same places */

/* The directory, in the place of the C library's. */
static atomic_int silent, failing;

int getpwuid_r(uid_t uid, struct passwd *row, char *room, size_t len, struct passwd **ret)
{
    static char name[] = "ann";

    (void)room, (void)len;
    while (atomic_load(&silent))
        usleep(1000);
    *ret = NULL;
    if (atomic_load(&failing))
        return EIO;
    if (uid == 7)
        return 0;
    memset(row, 0, sizeof *row);
    row->pw_name = name;
    row->pw_uid = uid;
    row->pw_gid = 100;
    *ret = row;
    return 0;
}

int getgrnam_r(const char *name, struct group *row, char *room, size_t len, struct group **ret)
{
    (void)room, (void)len;
    *ret = NULL;
    if (strcmp(name, "staff") == 0) {
        memset(row, 0, sizeof *row);
        row->gr_gid = 100;
        *ret = row;
    }
    return 0;
}

int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count)
{
    (void)user;
    groups[0] = group;
    *count = 1;
    return 1;
}

/* Is the answer LATER, however often that id is asked for? While the directory is silent, this returns only because nobody waits for it. */
static bool always_later(struct unix_users *users, uint32_t uid)
{
    struct unix_user user;
    bool later = true;

    for (int i = 0; i < LOOKS; i++)
        later = later && unix_users_look(users, uid, clock_now(), &user) == UNIX_USERS_LATER;
    return later;
}

/* All of them ask, again and again, each until it has its answer. */
static bool crowd_is_answered(struct unix_users *users)
{
    struct unix_user user;
    bool answered[CROWD] = {false};
    int count = 0;

    for (int i = 0; i < 10000 && count < CROWD; i++) {
        for (uint32_t n = 0; n < CROWD; n++)
            if (!answered[n] && unix_users_look(users, 50 + n * 1024, clock_now(), &user) == UNIX_USERS_FOUND) {
                answered[n] = true;
                count++;
            }
        usleep(1000);
    }
    tap_diag("%d of %d are answered", count, CROWD);
    return count == CROWD;
}

/* Two that are known stay known, however they take turns. */
static bool two_are_known(struct unix_users *users)
{
    struct unix_user user;
    bool known = true;

    for (int i = 0; i < LOOKS; i++)
        known = known && unix_users_look(users, 300, clock_now(), &user) == UNIX_USERS_FOUND &&
                unix_users_look(users, 300 + 1024, clock_now(), &user) == UNIX_USERS_FOUND;
    return known;
}

/* The directory answers in the end. */
static enum unix_users_answer answer_of(struct unix_users *users, uint32_t uid, struct unix_user *ret)
{
    enum unix_users_answer answer = UNIX_USERS_LATER;

    for (int i = 0; i < 1000 && answer == UNIX_USERS_LATER; i++) {
        answer = unix_users_look(users, uid, clock_now(), ret);
        if (answer == UNIX_USERS_LATER)
            usleep(10000);
    }
    return answer;
}

int main(void)
{
    static const char *const groups[] = {"nobody", "staff"};
    struct unix_users *users = unix_users_new(groups, 2), *others = unix_users_new(groups, 1);
    struct unix_user user = {.listed = false};

    tap_ok(answer_of(users, 5, &user) == UNIX_USERS_FOUND && !strcmp(user.name, "ann") && user.listed,
           "an account has a name, and is in one of the groups");
    tap_ok(answer_of(others, 5, &user) == UNIX_USERS_FOUND && !user.listed, "or in none");
    tap_ok(answer_of(users, 7, &user) == UNIX_USERS_NOBODY, "an id without an account is nobody's");
    atomic_store(&failing, 1);
    tap_ok(always_later(users, 8), "a directory that fails keeps nobody waiting");
    tap_ok(answer_of(users, 5, &user) == UNIX_USERS_FOUND, "who was known stays known");
    atomic_store(&failing, 0);
    atomic_store(&silent, 1);
    tap_ok(always_later(users, 9), "nor does one that is silent");
    atomic_store(&silent, 0);
    tap_ok(answer_of(users, 9, &user) == UNIX_USERS_FOUND && answer_of(users, 8, &user) == UNIX_USERS_FOUND,
           "when it answers again, so do we");
    tap_ok(crowd_is_answered(users), "many who want the same few places all get their answers");
    tap_ok(answer_of(users, 300, &user) == UNIX_USERS_FOUND &&
               answer_of(users, 300 + 1024, &user) == UNIX_USERS_FOUND && two_are_known(users),
           "and two of them do not throw each other out");
    unix_users_free(users);
    unix_users_free(others);
    usleep(50000); /* the threads end by themselves */
    return tap_done();
}
