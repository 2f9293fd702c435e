/* image_fetch.c: brings an image from a registry into an OCI layout. */
#define _GNU_SOURCE
#include "exec/image_fetch.h"

#include "exec/fetch_sandbox.h"
#include "exec/filter.h"
#include "exec/image_archive.h"
#include "exec/sandbox.h"
#include "exec/unpack_user.h"
#include "lang/base/err.h"
#include "pool/protocol/image_ref.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDERS_DEEP 4 /* of a layout, at most */
#define LOOK_MS 100    /* between looks at what was written */
#define SAID_MAX 4096  /* bytes of what skopeo says that are kept: the last ones */
#define TOLD_MAX 160   /* of it that are told */

/* ---------------------------------------------------------------------------------------------------------------- the sandbox */

static void skopeo_words(struct fetch_words *words, const struct image_fetch *fetch, const char *accounts)
{
    struct image_ref ref;
    struct err err;

    fetch_words_add(words, SKOPEO, (char *)NULL);
    if (access("/etc/containers/policy.json", F_OK) != 0)
        fetch_words_add(words, "--insecure-policy", (char *)NULL); /* the owner says nothing of signatures */
    fetch_words_add(words, "copy", "--quiet", (char *)NULL);
    if (image_ref_read(fetch->name, strlen(fetch->name), &ref, &err) == 0 && image_ref_is_loopback(&ref))
        fetch_words_add(words, "--src-tls-verify=false", (char *)NULL);
    if (accounts)
        fetch_words_add(words, "--authfile", accounts, (char *)NULL);
    else
        fetch_words_add(words, "--src-no-creds", (char *)NULL);
    fetch_words_add(words, fetch->name, "oci:" FETCH_FOLDER "/" IMAGE_LAYOUT, (char *)NULL);
}

/* In the child. Does not return. */
static void skopeo_run(const struct image_fetch *fetch, int filter, int says)
{
    char filtered[16], accounts[32];
    struct fetch_words words = {.count = 0};
    const char *folder;

    if (dup2(says, STDERR_FILENO) >= 0 && fcntl(filter, F_SETFD, 0) == 0 &&
        (fetch->accounts < 0 || fcntl(fetch->accounts, F_SETFD, 0) == 0) &&
        unpack_user_become(fetch->folder, fetch->uid, fetch->bytes_max, &folder)) {
        snprintf(filtered, sizeof filtered, "%d", filter);
        snprintf(accounts, sizeof accounts, "/proc/self/fd/%d", fetch->accounts);
        fetch_sandbox_add(&words, folder, filtered, NULL);
        skopeo_words(&words, fetch, fetch->accounts >= 0 ? accounts : NULL);
        fetch_proxies_keep();
        execv(sandbox_program(), (char *const *)(uintptr_t)words.words);
    }
    dprintf(STDERR_FILENO, "a sandbox for skopeo: %s\n", strerror(errno));
    _exit(127);
}

/* -------------------------------------------------------------------------------------------------------------- what it writes */

/* Adds up what lies in the folder, which is closed. Whoever writes there is not trusted: no link is followed, and there is an end. */
static void folder_sum(int fd, int depth, int64_t *bytes, uint32_t *files)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *row;
    struct stat info;

    if (!dir && fd >= 0)
        close(fd);
    while (dir && *files <= ARCHIVE_FILES_MAX && (row = readdir(dir))) {
        if (!strcmp(row->d_name, ".") || !strcmp(row->d_name, "..") ||
            fstatat(dirfd(dir), row->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        ++*files;
        if (S_ISREG(info.st_mode) && info.st_size > 0)
            *bytes = *bytes < INT64_MAX / 2 && info.st_size < INT64_MAX / 2 ? *bytes + info.st_size : INT64_MAX;
        if (S_ISDIR(info.st_mode) && depth < FOLDERS_DEEP)
            folder_sum(openat(dirfd(dir), row->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth + 1,
                       bytes, files);
    }
    if (dir)
        closedir(dir);
}

/* What there may be too much of. */
enum excess { EXCESS_NONE, EXCESS_BYTES, EXCESS_FILES };

static enum excess excess_of(const struct image_fetch *fetch)
{
    uint32_t files = 0;
    int64_t bytes = 0;

    folder_sum(open(fetch->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), 0, &bytes, &files);
    return bytes > fetch->bytes_max ? EXCESS_BYTES : files > ARCHIVE_FILES_MAX ? EXCESS_FILES : EXCESS_NONE;
}

/* ---------------------------------------------------------------------------------------------------------------- what it says */

struct said {
    char text[SAID_MAX + 1];
    size_t len;
};

/* Reads what there is; what came last is what it ends by. False: nothing more will come. */
static bool said_read(struct said *said, int fd)
{
    char piece[1024];
    ssize_t got = read(fd, piece, sizeof piece);
    size_t over;

    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    over = said->len + (size_t)got > SAID_MAX ? said->len + (size_t)got - SAID_MAX : 0;
    memmove(said->text, said->text + over, said->len - over);
    memcpy(said->text + said->len - over, piece, (size_t)got);
    said->len += (size_t)got - over;
    said->text[said->len] = '\0';
    return true;
}

/* The last message among lines like: time="..." level=fatal msg="..." */
static void message_find(const struct said *said, char ret[SAID_MAX + 1])
{
    const char *at = said->text, *last = NULL;
    size_t len = 0;

    while ((at = strstr(at, "msg=\"")))
        last = at += 5;
    for (at = last ? last : said->text; *at && (*at != '"' || !last) && *at != '\n'; at++) {
        if (*at == '\\' && at[1])
            at++;
        ret[len++] = *at == '"' ? '\'' : *at;
    }
    ret[len] = '\0';
}

/* What skopeo says, and what that means. The first that fits. What is not known is the image's own fault, not the machine's: else one that nobody
 * can read would take the machine's registries away from all others. */
static const struct {
    const char *said, *means;
    bool machine; /* on another machine, or later, it may be otherwise */
} meanings[] = {
    {"manifest unknown", "the registry has no such image", false},
    {"name unknown", "the registry has no such image", false},
    {"unauthorized", "the registry does not let it be read", false},
    {"authentication required", "the registry does not let it be read", false},
    {"access to the resource is denied", "the registry does not let it be read", false},
    {"invalid username/password", "the registry does not let it be read", false},
    {"did not match", "the registry gives other bytes than the digest says", false},
    {"does not match provided manifest digest", "the registry gives other bytes than the digest says", false},
    {"no image found in manifest list", "there is none for this kind of machine", false},
    {"no space left on device", "the machine has no room for it", true},
    {"no such host", "the registry cannot be reached from here", true},
    {"dial tcp", "the registry cannot be reached from here", true},
    {"dial udp", "the registry cannot be reached from here", true},
    {"i/o timeout", "the registry cannot be reached from here", true},
    {"connection reset", "the registry cannot be reached from here", true},
    {"deadline exceeded", "the registry cannot be reached from here", true},
    {"TLS handshake", "the registry cannot be reached from here", true},
    {"unexpected EOF", "the registry cannot be reached from here", true},
    {"proxyconnect", "the registry cannot be reached from here", true},
    {"x509:", "the registry's certificate is not trusted here", true},
    {"toomanyrequests", "the registry gives no more for now", true},
    {"from registry 429", "the registry gives no more for now", true},
    {"from registry 5", "the registry does not work now", true},
    {"HTTP status: 5", "the registry does not work now", true},
    {"a sandbox for skopeo", "there is no sandbox to fetch it in", true},
    {"bwrap:", "there is no sandbox to fetch it in", true},
    {"", "it cannot be fetched", false},
};

/* What was said, without the image's own path: whoever sends a job chooses that, and it must not be taken for words of skopeo's. */
static void path_strike(const struct image_fetch *fetch, char text[SAID_MAX + 1])
{
    char path[IMAGE_REF_MAX + 1];
    struct image_ref ref;
    struct err err;
    size_t len;

    if (image_ref_read(fetch->name, strlen(fetch->name), &ref, &err) < 0)
        return;
    snprintf(path, sizeof path, "%s", ref.place + strlen(IMAGE_REF_BEGIN) + ref.host_len);
    len = strlen(path);
    for (char *at = text; len && (at = strstr(at, path)); at += len)
        memset(at, ' ', len);
}

static enum image_fetched failure_tell(const struct image_fetch *fetch, const struct said *said, char *ret, size_t size)
{
    char message[SAID_MAX + 1], bare[SAID_MAX + 1];
    const char *words = message, *name;
    size_t i = 0;

    message_find(said, message);
    memcpy(bare, said->text, sizeof bare);
    path_strike(fetch, bare);
    while (!strstr(bare, meanings[i].said))
        i++;
    name = strstr(message, fetch->name);
    if (name) { /* the job says that itself */
        words = name + strlen(fetch->name);
        words += strspn(words, "': ");
    }
    if (fetch->accounts >= 0 || !*words) /* a registry may say what it was told, a password among it */
        snprintf(ret, size, "%s", meanings[i].means);
    else
        snprintf(ret, size, "%s (%.*s)", meanings[i].means, TOLD_MAX, words);
    return meanings[i].machine ? IMAGE_FETCH_FAILED : IMAGE_FETCH_REFUSED;
}

/* ----------------------------------------------------------------------------------------------------------------------- all */

/* Waits for the end, and looks meanwhile at what is written and said. */
static enum excess skopeo_watch(const struct image_fetch *fetch, pid_t child, int says, struct said *said,
                                int *ret_status)
{
    enum excess excess = EXCESS_NONE;
    bool open = true;

    while (waitpid(child, ret_status, WNOHANG) == 0) {
        struct pollfd wait = {open ? says : -1, POLLIN, 0};

        poll(&wait, 1, LOOK_MS);
        if (wait.revents)
            open = said_read(said, says);
        excess = excess ? excess : excess_of(fetch);
        if (excess)
            kill(child, SIGKILL);
    }
    do
        errno = 0;
    while (open && said_read(said, says) && !errno);
    if (strstr(said->text, "file too large")) /* the kernel was faster */
        return EXCESS_BYTES;
    return excess ? excess : excess_of(fetch);
}

enum image_fetched image_fetch(const struct image_fetch *fetch, char *ret_words, size_t size)
{
    struct said said = {.len = 0};
    int says[2] = {-1, -1}, status = 0, filter;
    struct err err = {0};
    enum excess excess;
    pid_t child;

    filter = filter_make(false, &err);
    if (filter < 0 || lseek(filter, 0, SEEK_SET) < 0 || pipe2(says, O_CLOEXEC) < 0 ||
        fcntl(says[0], F_SETFL, O_NONBLOCK) < 0 || (child = fork()) < 0) {
        snprintf(ret_words, size, "a sandbox for skopeo: %s", filter < 0 ? err.text : strerror(errno));
        return IMAGE_FETCH_FAILED;
    }
    if (!child)
        skopeo_run(fetch, filter, says[1]);
    close(says[1]);
    close(filter);
    excess = skopeo_watch(fetch, child, says[0], &said, &status);
    close(says[0]);
    if (excess == EXCESS_BYTES)
        snprintf(ret_words, size, "the image is larger than %lld MiB", (long long)(fetch->bytes_max >> 20));
    else if (excess)
        snprintf(ret_words, size, "the image has more than %d parts", ARCHIVE_FILES_MAX);
    if (excess)
        return IMAGE_FETCH_REFUSED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return IMAGE_FETCHED;
    return failure_tell(fetch, &said, ret_words, size);
}
