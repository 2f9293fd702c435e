/* url_client.c: a program that the owner names brings a file from a URL, or to one. */
#define _GNU_SOURCE
#include "exec/url_client.h"

#include "exec/fetch_sandbox.h"
#include "exec/filter.h"
#include "exec/sandbox.h"
#include "exec/unpack_user.h"
#include "lang/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITTEN_MAX (16ll << 20) /* bytes of a file that a program makes that brings one away: it has no need to */

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

/* Copies so many bytes of standard input, whatever it was read up to, into the folder, for whoever the program runs as. */
static bool file_lay(const char *folder, int64_t bytes)
{
    char path[PATH_MAX], part[65536];
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fd;
    int64_t at = 0;
    ssize_t n = 1;

    if (snprintf(path, sizeof path, "%s/" URL_CLIENT_FILE, folder) >= (int)sizeof path)
        return false;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    errno = fd < 0 ? errno : EIO; /* it has become shorter */
    while (fd >= 0 && at < bytes && n > 0) {
        n = pread(0, part, bytes - at < (int64_t)sizeof part ? (size_t)(bytes - at) : sizeof part, at);
        if (n > 0)
            n = write(fd, part, (size_t)n);
        at += n > 0 ? n : 0;
    }
    if (fd >= 0)
        close(fd);
    return fd >= 0 && at == bytes && dup2(null, 0) == 0;
}

/* Gives the folder, with what is in it, to that user. */
static bool folder_give(const char *folder, bool put, uint32_t uid)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/" URL_CLIENT_FILE, folder);
    return !uid || ((!put || lchown(path, uid, uid) == 0) && chown(folder, uid, uid) == 0);
}

int url_client_main(int count, char **words)
{
    struct fetch_words line = {.count = 0};
    struct err err = {0};
    const char *folder;
    char filtered[16];
    uint32_t uid;
    int64_t bytes;
    bool put;
    int filter;

    if (count < 6)
        return fail("url-client", "agents start this by themselves");
    put = !strcmp(*words++, "put");
    count--;
    bytes = atoll(words[1]);
    uid = (uint32_t)strtoul(words[2], NULL, 10);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    umask(022);
    if (!sandbox_program() || mkdir(words[0], 0755) < 0)
        return fail("a folder and a sandbox for it", strerror(errno));
    if ((put && !file_lay(words[0], bytes)) || !folder_give(words[0], put, uid))
        return fail("the file", strerror(errno));
    filter = filter_make(false, &err);
    if (filter < 0)
        return fail("a sandbox for it", err.text);
    if (lseek(filter, 0, SEEK_SET) < 0 || fcntl(filter, F_SETFD, 0) < 0 ||
        !unpack_user_become(words[0], uid, put ? WRITTEN_MAX : bytes, &folder))
        return fail("another user for it", strerror(errno));
    snprintf(filtered, sizeof filtered, "%d", filter);
    fetch_sandbox_add(&line, folder, filtered, words[4]);
    for (int i = 4; i < count; i++)
        fetch_words_add(&line, words[i], (char *)NULL);
    if (put)
        fetch_words_add(&line, FETCH_FOLDER "/" URL_CLIENT_FILE, words[3], (char *)NULL);
    else
        fetch_words_add(&line, words[3], FETCH_FOLDER "/" URL_CLIENT_FILE, (char *)NULL);
    if (line.count == FETCH_WORDS_MAX)
        return fail(words[4], "too many words");
    fetch_proxies_keep();
    execv(sandbox_program(), (char *const *)(uintptr_t)line.words);
    return fail("a sandbox for it", strerror(errno));
}
