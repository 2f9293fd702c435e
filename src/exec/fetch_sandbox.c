/* fetch_sandbox.c: the sandbox in which a program of the owner's fetches what strangers name. */
#define _GNU_SOURCE /* clearenv */
#include "exec/fetch_sandbox.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What a program needs that asks for names and speaks TLS, and the owner's own words about registries: where they are mirrored, which signatures count. */
static const char *const shown[] = {"/lib64",           "/etc/ld.so.cache", "/etc/alternatives",
                                    "/etc/ssl",         "/etc/pki",         "/etc/ca-certificates",
                                    "/etc/resolv.conf", "/etc/hosts",       "/etc/nsswitch.conf",
                                    "/etc/gai.conf",    "/etc/containers",  "/etc/docker/certs.d"};

/* The same for programs that fetch from stores of the grids. */
static const char *const shown_clients[] = {"/opt", "/etc/pelican", "/etc/grid-security/certificates", "/etc/xrootd"};

void fetch_words_add(struct fetch_words *words, const char *first, ...)
{
    va_list more;

    va_start(more, first);
    for (const char *word = first; word && words->count < FETCH_WORDS_MAX; word = va_arg(more, const char *))
        words->words[words->count++] = word;
    va_end(more);
    words->words[words->count] = NULL;
}

void fetch_sandbox_add(struct fetch_words *words, const char *folder, const char *filter, const char *program)
{
    fetch_words_add(words, "bwrap", "--unshare-all", "--share-net", "--die-with-parent", "--new-session", "--cap-drop",
                    "ALL", "--uid", "1000", "--gid", "1000", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME",
                    "/tmp", "--setenv", "XDG_RUNTIME_DIR", "/tmp", "--setenv", "TMPDIR", FETCH_FOLDER, (char *)NULL);
    fetch_words_add(words, "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
                    (char *)NULL);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        fetch_words_add(words, "--ro-bind-try", shown[i], shown[i], (char *)NULL);
    for (size_t i = 0; program && i < sizeof shown_clients / sizeof *shown_clients; i++)
        fetch_words_add(words, "--ro-bind-try", shown_clients[i], shown_clients[i], (char *)NULL);
    fetch_words_add(words, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", (char *)NULL);
    if (program && strncmp(program, "/usr/", 5) != 0 && strncmp(program, "/opt/", 5) != 0)
        fetch_words_add(words, "--ro-bind", program, program, (char *)NULL);
    fetch_words_add(words, "--bind", folder, FETCH_FOLDER, "--remount-ro", "/", "--chdir", FETCH_FOLDER, "--seccomp",
                    filter, "--", (char *)NULL);
}

void fetch_proxies_keep(void)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "no_proxy",
                                        "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"};
    char *values[sizeof names / sizeof *names];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        values[i] = getenv(names[i]);
    clearenv();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (values[i])
            setenv(names[i], values[i], 1);
}
