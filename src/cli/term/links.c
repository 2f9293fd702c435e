/* links.c: puts links to this program into a folder. */
#include "cli/term/links.h"
#include "cli/term/command.h"
#include "cli/term/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int links_install(const char *const *names, size_t count, const char *folder)
{
    char program[PATH_MAX], path[PATH_MAX], whole[PATH_MAX];
    ssize_t len;

    if (!realpath(folder, whole)) {
        report("%.200s: %s", folder, strerror(errno));
        return STATUS_BAD;
    }
    len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len < 0) {
        report("this program's own file: %s", strerror(errno));
        return STATUS_NO;
    }
    program[len] = '\0';
    for (size_t i = 0; i < count; i++) {
        char there[PATH_MAX];
        ssize_t got;

        if ((size_t)snprintf(path, sizeof path, "%s/%s", whole, names[i]) >= sizeof path) {
            report("%.200s: the name is too long", whole);
            return STATUS_BAD;
        }
        got = readlink(path, there, sizeof there);
        if (got == len && !memcmp(there, program, (size_t)len))
            continue; /* it is there */
        if (symlink(program, path) < 0) {
            report("%s: %s%s", path, strerror(errno), errno == EEXIST ? "; it is not ours, and is left as it is" : "");
            return STATUS_NO;
        }
    }
    printf("%zu commands are in %s; export PATH=%s:$PATH\n", count, whole, whole);
    return STATUS_DONE;
}
