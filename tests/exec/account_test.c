/* account_test.c: as which users of a machine jobs may run, and how that is kept beside an order. */
#include "common/folder.h"
#include "common/tap.h"
#include "exec/account.h"
#include "exec/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *account;
    bool good;
} names[] = {
    {"an account may have a plain name", "anna", true},
    {"with digits, dots, lines and dashes", "_a.b-C_9", true},
    {"but not an empty one", "", false},
    {"nor one that begins as an option does", "-anna", false},
    {"nor as a number does, which some programs take for a user's", "0", false},
    {"nor one of the pool's that stands for a part of somebody", "anna/helper", false},
    {"nor that of an institute's", "lab:anna", false},
    {"nor one with a domain", "anna@lab", false},
    {"nor with a blank", "an na", false},
    {"nor with a line end", "anna\n", false},
    {"nor a very long one", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
};

static const struct {
    const char *name;
    uint32_t uid;
    bool in_group;
    const char *why; /* "": a job may run so */
} checks[] = {
    {"a person who is in the group may", 1000, true, ""},
    {"one who is not may not", 1000, false, "jobs do not run as 'x' here: that user is not in the group 'g'"},
    {"root may not, in whatever group", 0, true,
     "jobs do not run as 'x' here: user 0 is the system's own, and no person's"},
    {"nor one of the system's own", 999, true,
     "jobs do not run as 'x' here: user 999 is the system's own, and no person's"},
    {"nor nobody", 65534, true, "jobs do not run as 'x' here: user 65534 is the system's own, and no person's"},
    {"nor a number that means none", UINT32_MAX, true,
     "jobs do not run as 'x' here: user 4294967295 is the system's own, and no person's"},
};

static void checked(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tap_ok(account_name_is_good(names[i].account) == names[i].good, "%s", names[i].name);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct err err = {0};
        int result = account_check("x", checks[i].uid, checks[i].in_group, "g", &err);

        tap_ok(result == (*checks[i].why ? -1 : 0) && !strcmp(err.text, checks[i].why), "%s", checks[i].name);
        if (strcmp(err.text, checks[i].why) != 0)
            tap_diag("%s", err.text);
    }
}

static void found(void)
{
    struct executor_account root = {.name = "root", .group = "root"}, ghost = {.name = "berth-ghost", .group = "root"},
                            odd = {.name = "../root", .group = "root"};
    struct err err = {0};

    tap_ok(!account_find(&root, &err) && strstr(err.text, "user 0 is the system's own"), "root is not found");
    tap_ok(!account_find(&ghost, &err) && strstr(err.text, "there is no user 'berth-ghost'"),
           "nor is one who is not there");
    tap_ok(!account_find(&odd, &err) && strstr(err.text, "is not the name of a user"), "nor one whose name is none");
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static void kept(const char *path)
{
    struct executor_account wish = {.name = "anna", .group = "physics", .umask = 027, .streams = {NULL, "out", ""}};
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct executor_account *read;
    struct err err = {0};
    bool good;

    tap_ok(account_wish_write(folder, &wish, 7, &err) == 0, "whom a job runs as is kept beside its order");
    read = account_wish_read(folder, 7);
    good = read && same(read->name, "anna") && same(read->group, "physics") && read->umask == 027 &&
           !read->streams[0] && same(read->streams[1], "out") && same(read->streams[2], "");
    free(read);
    tap_ok(good, "and read as it was written");
    read = account_wish_read(folder, 8);
    tap_ok(!read, "but not for another order");
    free(read);
    tap_ok(record_write(folder, "account", "short", 5, false, &err) == 0 && !account_wish_read(folder, 7),
           "what is too short is none");
    close(folder);
}

int main(void)
{
    struct folder folder;

    folder_init(&folder);
    checked();
    found();
    kept(folder.path);
    folder_done(&folder);
    return tap_done();
}
