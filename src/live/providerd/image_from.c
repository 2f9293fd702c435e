/* image_from.c: what a job's image is unpacked from, and the key by which it is kept once that was done.
 *
 *     HASH             a file among the job's inputs                                of its bytes
 *     layout-HASH      a folder of the machine that holds an OCI layout             of its index, which says the sums of all else
 *     url-HASH         a file that was fetched for the job (url_fetch.c)             of the try: nobody else runs in it, since nobody said its sum
 *     docker-HASH      one in a registry                                            of its digest, and of the account that it was fetched with, if any
 *
 * What was fetched with an account is only for those who have the same account: their jobs bring it. The hash of that has a salt in it that only this
 * machine knows, so that nobody who sees the names of folders can try passwords.
 *
 * The word in front keeps them apart: what the bytes of an input are is up to whoever sends it. */
#define _GNU_SOURCE
#include "live/providerd/providerd_parts.h"

#include "exec/image_account.h"
#include "exec/image_archive.h"
#include "exec/image_unpack.h"
#include "pool/protocol/job_urls.h"
#include "pool/protocol/job_wants.h"
#include "sys/hash.h"
#include "sys/secret_bundle.h"
#include "sys/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SALT_BYTES 32
#define SINGLE "url-"

static const char *const kinds[] = {"", "layout-", "docker-", SINGLE};

bool image_key_is_good(const char *key)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i]);

        if (!strncmp(key, kinds[i], len) && hash_is_good(key + len, strlen(key + len)))
            return true;
    }
    return false;
}

bool image_key_is_single(const char *key)
{
    return !strncmp(key, SINGLE, strlen(SINGLE));
}

static void key_set(struct task *task, const char *kind, const char *hash)
{
    snprintf(task->image_key, sizeof task->image_key, "%s%s", kind, hash);
}

/* A folder of the machine. Where it may not be one, or is none, that is said when it is put into what the job sees. */
static int from_folder(struct task *task, struct image_from *ret, struct err *err)
{
    const struct providerd_settings *settings = task->providerd->settings;
    char *index = NULL, hash[HASH_DIGITS + 1];
    struct archive *archive;
    struct err why = {0};
    int fd, wanted = 0;
    size_t len;

    if (!settings->image || settings->image(settings->user, task->order.image, ret->what, sizeof ret->what, &why) < 0)
        return 0;
    fd = open(ret->what, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    archive = fd < 0 ? NULL : archive_open(fd, 0, &why);
    if (archive && archive_has(archive, "oci-layout")) {
        index = archive_text(archive, "index.json", NULL, &len, &why);
        wanted = index ? 1 : err_set(err, "its image: %s", why.text);
    }
    if (wanted > 0) {
        hash_bytes(index, len, hash);
        key_set(task, "layout-", hash);
        ret->sort = IMAGE_OCI;
    }
    free(index);
    archive_free(archive);
    if (fd >= 0)
        close(fd);
    return wanted;
}

/* The salt of this machine; made where there is none. */
static int salt_read(const struct providerd *providerd, unsigned char ret[SALT_BYTES], struct err *err)
{
    char path[DAEMON_PATH_MAX];
    int fd;

    snprintf(path, sizeof path, "%.4000s/images/.salt", providerd->daemon.folder);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || read(fd, ret, SALT_BYTES) !=
                      SALT_BYTES) { /* a part of one is none: then what was fetched with it is not found again */
        secrets_live.draw(secrets_live.user, ret, SALT_BYTES);
        if (fd >= 0)
            close(fd);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 || write(fd, ret, SALT_BYTES) != SALT_BYTES) {
            err_set(err, "a salt for its account: %s", strerror(errno));
            if (fd >= 0)
                close(fd);
            return -1;
        }
    }
    close(fd);
    return 0;
}

/* Sets the key of an image that is fetched with the secret, and puts the account into a file. */
static int account_key(struct task *task, const struct image_ref *ref, const struct secret *secret, int *ret_accounts,
                       struct err *err)
{
    unsigned char salt[SALT_BYTES];
    char hash[HASH_DIGITS + 1];
    struct buf whole;
    int accounts;

    if (salt_read(task->providerd, salt, err) < 0 ||
        (accounts = image_account_file(ref, secret->bytes, secret->len, err)) < 0)
        return -1;
    buf_init(&whole);
    buf_reserve(&whole, SALT_BYTES + sizeof ref->place + sizeof ref->digest + secret->len + 8);
    buf_add(&whole, (const char *)salt, SALT_BYTES);
    buf_addf(&whole, "%.*s %s ", (int)ref->host_len, ref->place + strlen(IMAGE_REF_BEGIN), ref->digest);
    buf_add(&whole, secret->bytes, secret->len);
    hash_bytes(whole.text, whole.len, hash);
    secret_wipe(&whole);
    key_set(task, "docker-", hash);
    *ret_accounts = accounts;
    return 0;
}

static int registry_key(struct task *task, const struct image_ref *ref, int *ret_accounts, struct err *err)
{
    const char *name = task->order.image_secret;
    char hash[HASH_DIGITS + 1];
    struct secret secret;
    struct buf bundle;
    ssize_t len;
    int failed;

    if (!name) {
        hash_bytes(ref->digest, strlen(ref->digest), hash);
        key_set(task, "docker-", hash);
        return 0;
    }
    buf_init(&bundle);
    buf_reserve(&bundle, SECRETS_BYTES_MAX + 1);
    len = task->secrets < 0 ? 0 : pread(task->secrets, bundle.text, SECRETS_BYTES_MAX, 0);
    if (len > 0 && secret_bundle_find(bundle.text, (size_t)len, name, strlen(name), &secret))
        failed = account_key(task, ref, &secret, ret_accounts, err);
    else
        failed = err_set(err, IMAGE_ACCOUNT_ATTRIBUTE ": '%.64s' is none of its secrets", name);
    secret_wipe(&bundle);
    return failed;
}

/* One in a registry. Whoever names it names its digest, so that all mean the same. */
static int from_registry(struct task *task, struct image_from *ret, struct err *err)
{
    const char *image = task->order.image;
    struct image_ref ref;

    if (image_ref_read(image, strlen(image), &ref, err) < 0 || source_check(task->providerd, &ref, err) < 0)
        return err_context(err, "its image");
    if (!*ref.digest)
        return err_set(err, "its image: %.200s:%.100s says no digest", ref.place, ref.tag);
    if (registry_key(task, &ref, &ret->accounts, err) < 0)
        return err_context(err, "its image");
    ret->sort = IMAGE_DOCKER;
    snprintf(ret->what, sizeof ret->what, "%s@%s", ref.place, ref.digest);
    snprintf(ret->place, sizeof ret->place, "%s", ref.place);
    return 1;
}

/* A file that was fetched into the job's folder, which the job has not seen yet. */
static int from_fetched(struct task *task, struct image_from *ret)
{
    char try[64], hash[HASH_DIGITS + 1], folder[DAEMON_PATH_MAX];
    int len =
        snprintf(try, sizeof try, "%016llx.%llu", (unsigned long long)task->claim, (unsigned long long)task->number);

    hash_bytes(try, (size_t)len, hash);
    key_set(task, SINGLE, hash);
    ret->sort = job_image_sort(task->order.image, strlen(task->order.image));
    providerd_folder(task->providerd, folder, sizeof folder, task->claim, task->number);
    snprintf(ret->what, sizeof ret->what, "%.3800s/%.200s", folder, task->order.image);
    return 1;
}

int image_from(struct task *task, struct image_from *ret, struct err *err)
{
    const char *image = task->order.image;

    *ret->place = '\0';
    ret->accounts = -1;
    if (image_ref_is(image, strlen(image)))
        return from_registry(task, ret, err);
    if (*image == '/')
        return from_folder(task, ret, err);
    if (!*task->image_key && job_urls_named(task->ad, image, strlen(image)))
        return from_fetched(task, ret);
    if (!*task->image_key)
        return err_set(err, "its image is not among its inputs");
    ret->sort = job_image_sort(image, strlen(image));
    snprintf(ret->what, sizeof ret->what, "%.3900s/cache/%s", task->providerd->daemon.folder, task->image_key);
    return 1;
}
