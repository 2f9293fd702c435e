/* image_account.c: somebody's account at a registry, as skopeo reads it. It is never a word of a command line or a variable, which others could see. */
#include "exec/image_account.h"

#include "lang/base/buf.h"
#include "sys/encoding.h"
#include "sys/secret_bundle.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int image_account_file(const struct image_ref *ref, const void *secret, size_t len, struct err *err)
{
    const char *bytes = secret;
    struct buf text;
    int fd;

    while (len && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
        len--;
    if (!len || !memchr(bytes, ':', len) || *bytes == ':' || memchr(bytes, '\n', len) || memchr(bytes, '\0', len))
        return err_set(err, IMAGE_ACCOUNT_ATTRIBUTE ": the secret is no account: expected USER:PASSWORD");
    buf_init(&text);
    buf_reserve(&text, 2 * len + 1024); /* nothing of it is left behind where it lay before it grew */
    buf_addf(&text, "{\"auths\": {\"%.*s\": {\"auth\": \"", (int)ref->host_len, ref->place + strlen(IMAGE_REF_BEGIN));
    base64_print(&text, bytes, len);
    buf_adds(&text, "\"}}}\n");
    fd = secret_memory_file(text.text, text.len, err);
    secret_wipe(&text);
    if (fd >= 0 && fchmod(fd, 0600) < 0) {
        err_set(err, "a secret could not be put into memory: %s", strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}
