/* image_digest.c: which image in a registry a name means now. A tag may mean another image for the next job than for this one: so it is looked up once,
 * when jobs are submitted, and they all have the digest.
 *
 * The digest is the SHA-256 of the manifest as the registry gives it. It is computed here and not read from what somebody prints. */
#define _GNU_SOURCE
#include "cli/jobs/image_digest.h"

#include "exec/image_account.h"
#include "lang/base/mem.h"
#include "pool/protocol/image_ref.h"
#include "sys/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANIFEST_MAX (4 << 20) /* bytes; registries take no larger ones */
#define SAID_MAX 1000
#define MISSING 127 /* the exit status where there is no skopeo */

/* In the child. Does not return. */
static void skopeo_run(const char *name, bool loopback, int accounts, int out, int says)
{
    const char *words[8] = {"skopeo", "inspect", "--raw", name};
    size_t count = 4;
    char file[32];

    if (loopback)
        words[count++] = "--tls-verify=false";
    if (accounts >= 0 && fcntl(accounts, F_SETFD, 0) == 0) {
        snprintf(file, sizeof file, "/proc/self/fd/%d", accounts);
        words[count++] = "--authfile";
        words[count++] = file;
    }
    words[count] = NULL;
    if (dup2(out, STDOUT_FILENO) >= 0 && dup2(says, STDERR_FILENO) >= 0)
        execvp(words[0], (char *const *)(uintptr_t)words);
    _exit(MISSING);
}

/* The sum of all that comes, and how much that is. */
static int64_t manifest_sum(int in, char ret[SHA256_DIGITS + 1])
{
    struct sha256 *sum = sha256_new();
    char piece[65536];
    int64_t all = 0;
    ssize_t got;

    while ((got = read(in, piece, sizeof piece)) != 0 && all <= MANIFEST_MAX) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        sha256_add(sum, piece, (size_t)got);
        all += got;
    }
    sha256_end(sum, ret);
    return all;
}

/* What skopeo says last: time="..." level=fatal msg="...". */
static int failed(int says, int status, struct err *err)
{
    char text[SAID_MAX + 1], *at;
    ssize_t got = pread(says, text, SAID_MAX, 0);

    text[got > 0 ? got : 0] = '\0';
    if (WIFEXITED(status) && WEXITSTATUS(status) == MISSING)
        return err_set(
            err, "a tag may mean another image tomorrow, and skopeo, which finds out its digest, is not here: say "
                 "NAME@sha256:DIGITS");
    text[strcspn(text, "\n")] = '\0';
    at = strstr(text, "msg=\"");
    at = at ? at + 5 : text;
    if (*at && at != text && at[strlen(at) - 1] == '"')
        at[strlen(at) - 1] = '\0';
    return err_set(err, "skopeo cannot find out its digest: %.400s", at);
}

static int digest_ask(const char *name, bool loopback, int accounts, char ret[SHA256_DIGITS + 1], struct err *err)
{
    int out[2], says = memfd_create("skopeo", MFD_CLOEXEC), status = 0;
    int64_t bytes;
    pid_t child;

    if (says < 0 || pipe2(out, O_CLOEXEC) < 0)
        return err_set(err, "%s", strerror(errno));
    child = fork();
    if (!child)
        skopeo_run(name, loopback, accounts, out[1], says);
    close(out[1]);
    bytes = child < 0 ? -1 : manifest_sum(out[0], ret);
    close(out[0]);
    if (bytes > MANIFEST_MAX)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        err_set(err, "%s", strerror(errno));
    else if (bytes > MANIFEST_MAX)
        err_set(err, "the registry gives more than %d MiB for it", MANIFEST_MAX >> 20);
    else if (status || !bytes)
        failed(says, status, err);
    close(says);
    return child < 0 || bytes <= 0 || bytes > MANIFEST_MAX || status ? -1 : 0;
}

char *image_digest_find(const char *name, const struct secret *account, struct err *err)
{
    char whole[IMAGE_REF_MAX + IMAGE_REF_TAG_MAX + 64], digits[SHA256_DIGITS + 1];
    int accounts = -1, failed = 0;
    struct image_ref ref;

    if (image_ref_read(name, strlen(name), &ref, err) < 0)
        return NULL;
    if (account && (accounts = image_account_file(&ref, account->bytes, account->len, err)) < 0)
        return NULL;
    if (!*ref.digest) {
        snprintf(whole, sizeof whole, "%s:%s", ref.place, ref.tag);
        failed = digest_ask(whole, image_ref_is_loopback(&ref), accounts, digits, err);
        if (!failed)
            snprintf(ref.digest, sizeof ref.digest, "sha256:%s", digits);
    }
    if (accounts >= 0)
        close(accounts);
    snprintf(whole, sizeof whole, "%s@%s", ref.place, ref.digest);
    return failed ? NULL : mem_dup(whole, strlen(whole));
}
