/* folders_test.c: which folders an owner may show to jobs, and where they are found. */
#include "common/tap.h"
#include "exec/folders.h"
#include "exec/sandbox_view.h"
#include "lang/form/form.h"
#include "lang/text/parse.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name, *list, *why; /* why "": it is accepted */
} rows[] = {
    {"what software lies in is accepted", "{ \"/opt\", \"/cvmfs/\", \"/srv/conda\", \"/home/x/software\" }", ""},
    {"so is an empty list", "{ }", ""},
    {"a relative path is refused", "{ \"opt\" }",
     "Visible: 'opt': expected a folder, as a path from the root without '.' and '..'"},
    {"one with .. in it", "{ \"/opt/../etc\" }",
     "Visible: '/opt/../etc': expected a folder, as a path from the root without '.' and '..'"},
    {"one with . in it", "{ \"/opt/./x\" }",
     "Visible: '/opt/./x': expected a folder, as a path from the root without '.' and '..'"},
    {"one with two slashes", "{ \"//etc\" }",
     "Visible: '//etc': expected a folder, as a path from the root without '.' and '..'"},
    {"the root", "{ \"/\" }", "Visible: '/' is the whole machine"},
    {"also with more slashes", "{ \"///\" }", "Visible: '/' is the whole machine"},
    {"what jobs have of their own", "{ \"/proc/1\" }",
     "Visible: '/proc/1' cannot be shown to jobs: jobs have their own"},
    {"what is hidden", "{ \"/home/x/.ssh\" }",
     "Visible: '/home/x/.ssh' is hidden: such folders hold keys more often than programs"},
    {"somebody's home", "{ \"/home/x/\" }",
     "Visible: '/home/x': homes have people's keys and letters in them; name a folder in one"},
    {"all homes", "{ \"/home\" }",
     "Visible: '/home': homes have people's keys and letters in them; name a folder in one"},
    {"root's home", "{ \"/root/x\" }", "Visible: '/root/x' cannot be shown to jobs: it is somebody's home"},
    {"the sockets of services", "{ \"/run/dbus\" }",
     "Visible: '/run/dbus' cannot be shown to jobs: services of the machine are reached by it"},
    {"what jobs see already", "{ \"/usr/lib\" }", "Visible: '/usr/lib' cannot be shown to jobs: jobs see it already"},
    {"what is no list", "\"/opt\"", "Visible: expected a list of folders, { \"/opt\", ... }"},
    {"what is no text", "{ 3 }", "Visible: expected a list of folders"},
    {"an empty text", "{ \"\" }", "Visible: expected a list of folders"},
    {"a folder in another", "{ \"/opt\", \"/opt/x\" }",
     "Visible: '/opt' and '/opt/x': one is the other, or lies in it"},
    {"the same twice", "{ \"/opt\", \"/opt/\" }", "Visible: '/opt' and '/opt': one is the other, or lies in it"},
};

static void lists(struct symbols *symbols)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct folders folders;
        struct err err = {0};
        char text[512];
        struct tree *ad;
        int result;

        snprintf(text, sizeof text, "[ Visible = %s ]", rows[i].list);
        ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);
        result = folders_read(ad, "Visible", false, &folders, &err);
        tap_ok(result == (*rows[i].why ? -1 : 0) && !strcmp(err.text, rows[i].why), "%s", rows[i].name);
        if (strcmp(err.text, rows[i].why) != 0)
            tap_diag("%s", err.text);
        if (result == 0)
            folders_done(&folders);
        tree_unref(ad);
    }
}

static void homes(void)
{
    struct err err = {0};

    tap_ok(folder_check("/home", true, &err) == 0 && folder_check("/home/x", true, &err) == 0,
           "jobs that run as users of the machine may write in homes");
    tap_ok(folder_check("/root", true, &err) < 0 && folder_check("/etc/x", true, &err) < 0 &&
               folder_check("/tmp", true, &err) < 0 && folder_check("/home/x/.ssh", true, &err) < 0 &&
               folder_check("/", true, &err) < 0,
           "but not in what is shown to nobody");
}

static char top[PATH_MAX] = "/var/tmp/berth-folders-XXXXXX";

static const char *in(const char *name)
{
    static char paths[8][PATH_MAX];
    static int at;
    char *path = paths[at++ % 8];

    snprintf(path, PATH_MAX, "%.4000s/%s", top, name);
    return path;
}

static bool found(const char *name, const char *own, const char *where)
{
    char real[PATH_MAX] = "";
    struct err err = {0};
    int result = folder_find(in(name), false, own, real, sizeof real, &err);

    if (result < 0)
        tap_diag("%s", err.text);
    return where ? result == 0 && !strcmp(real, where) : result < 0;
}

static void places(void)
{
    setenv("HOME", in("people/ada"), 1);
    mkdir(in("people"), 0755);
    mkdir(in("people/ada"), 0755);
    mkdir(in("state"), 0755);
    mkdir(in("state/provider"), 0755);
    mkdir(in("soft"), 0755);
    tap_ok(symlink(in("soft"), in("link")) == 0 && symlink("/etc", in("etc")) == 0 && symlink("loop", in("loop")) == 0,
           "there are folders and links");
    tap_ok(found("soft", in("state"), in("soft")), "a folder is found where it lies");
    tap_ok(found("link", in("state"), in("soft")), "a link to one is followed");
    tap_ok(found("etc", in("state"), NULL), "but not to what may not be shown");
    tap_ok(found("loop", in("state"), NULL), "nor to nowhere");
    tap_ok(found("gone", in("state"), NULL), "what is not there is told");
    tap_ok(found("state", in("state"), NULL), "the provider's own folder is not shown");
    tap_ok(found("state/provider", in("state"), NULL), "nor what is in it");
    tap_ok(found(".", in("state"), NULL), "nor what it is in");
    tap_ok(found("people", in("state"), NULL), "nor where the provider's home is");
    tap_ok(view_has_place(NULL, "/opt/x") && view_has_place(in("soft"), "/opt/x"),
           "a folder has a place where an image has nothing of that name");
    mkdir(in("soft/opt"), 0755);
    tap_ok(view_has_place(in("soft"), "/opt/x"), "also in an empty folder of the image");
    mkdir(in("soft/opt/y"), 0755);
    tap_ok(!view_has_place(in("soft"), "/opt/x") && view_has_place(in("soft"), "/opt/y"),
           "in one that is not empty it must be there");
    tap_ok(symlink("/etc", in("soft/srv")) == 0 && !view_has_place(in("soft"), "/srv") &&
               !view_has_place(in("soft"), "/srv/x"),
           "where the image has a link there is no place");
    tap_ok(!view_has_place(in("soft"), "/proc/x") && !view_has_place(in("soft"), "/job"),
           "nor in what jobs have of their own");
}

int main(void)
{
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    char command[PATH_MAX + 16];

    lists(symbols);
    homes();
    symbols_free(symbols);
    if (!mkdtemp(top))
        return 1;
    places();
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command) == 0 ? tap_done() : 1;
}
