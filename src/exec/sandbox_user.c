/* sandbox_user.c: who a job is in its sandbox: its user and groups, and the lists that have their names. */
#define _GNU_SOURCE /* setresuid, memfd_create */
#include "exec/gpu_give.h"
#include "exec/sandbox_parts.h"

#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

int sandbox_file(const char *text, size_t len)
{
    int fd = memfd_create("berth", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && (write(fd, text, len) != (ssize_t)len || fcntl(fd, F_ADD_SEALS, MEMORY_SEALS) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

void sandbox_lists_make(struct sandbox *sandbox, const struct order *order)
{
    const struct unix_account *account = order->account;
    const char *name = account ? account->name : "job";
    struct buf text;

    if (sandbox->users >= 0)
        close(sandbox->users);
    if (sandbox->groups >= 0)
        close(sandbox->groups);
    buf_init(&text);
    buf_addf(&text, "%s:x:%u:%u:%s:%s:/bin/sh\n", name, (unsigned)sandbox_inner_user(order),
             (unsigned)sandbox_inner_group(order), name, sandbox_home(order));
    buf_adds(&text, "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
    sandbox->users = sandbox_file(text.text, text.len);
    buf_reset(&text);
    buf_addf(&text, "%s:x:%u:\nnogroup:x:65534:\n", name, (unsigned)sandbox_inner_group(order));
    sandbox->groups = sandbox_file(text.text, text.len);
    buf_done(&text);
    sandbox->named = account != NULL;
}

/* The groups that may use the device files of its GPUs, for a job that has a user of its own. */
static size_t device_groups(const struct order *order, gid_t groups[GPU_GROUPS_MAX])
{
    size_t count = 0;

    for (const char *word = NULL; (word = gpu_word_next(order->gpus, order->gpus_len, word));)
        if (*word == GPU_WORD_GROUP && count < GPU_GROUPS_MAX)
            groups[count++] = (gid_t)strtoul(word + 1, NULL, 10);
    return count;
}

uint32_t sandbox_inner_user(const struct order *order)
{
    return order->account ? order->account->uid : SANDBOX_INNER;
}

uint32_t sandbox_inner_group(const struct order *order)
{
    return order->account ? order->account->gid : SANDBOX_INNER;
}

const char *sandbox_begin(const struct order *order)
{
    return order->is.view && order->is.view->begin ? order->is.view->begin : SANDBOX_FOLDER;
}

bool sandbox_become(const struct order *order)
{
    gid_t groups[GPU_GROUPS_MAX];
    uint32_t uid = order->how.uid;
    size_t count = device_groups(order, groups);

    if (order->account)
        return account_become(order->account, groups, count);
    return !uid || (setgroups(count, groups) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
}
