/* task_owner.c: a job that runs as the user who sent it.
 *
 * Who that is says the token that the job's customer has shown, or who that customer may speak for; nothing that stands in the job's ad does, and no
 * word of a matchmaker. Whether there is such a user here, and in the group that the machine's owner names, the launcher finds out (exec/account.h). */
#include "live/providerd/providerd_parts.h"

#include "exec/account.h"
#include "exec/folders.h"

#include <string.h>

/* Puts the folders that it may write in behind those that it may look into. */
static void folders_add(struct task *task, const struct providerd_owners *owners)
{
    uint32_t before = task->view.folder_count, all = before + owners->count;
    struct executor_folder *folders = arena_alloc(&task->order.arena, (all + 1) * sizeof *folders);

    if (before)
        memcpy(folders, task->view.folders, before * sizeof *folders);
    if (owners->count)
        memcpy(folders + before, owners->folders, owners->count * sizeof *folders);
    task->view.folders = folders;
    task->view.folder_count = all;
}

/* The folder that it was sent from is where it begins, if it is one of those that it may write in. */
static int folder_share(struct task *task, const struct providerd_owners *owners, struct err *err)
{
    const char *iwd = task->order.iwd;

    if (!task->order.shares)
        return 0;
    if (folder_path_check(iwd, err) < 0)
        return err_context(err, "ShareFiles");
    for (uint32_t i = 0; i < owners->count; i++)
        if (folder_holds(owners->folders[i].path, iwd)) {
            task->view.begin = iwd;
            return 0;
        }
    return err_set(err, "ShareFiles: '%.200s' is in none of the folders that jobs may write in here", iwd);
}

int task_owner(struct task *task, struct err *err)
{
    const struct providerd_settings *settings = task->providerd->settings;
    const struct job_order *order = &task->order;
    struct providerd_owners owners;

    if (!order->as_owner)
        return 0;
    if (!settings->owners || !settings->owners(settings->user, &owners))
        return err_set(err, "jobs do not run here as the users who sent them");
    if (!task->owner.bytes[0])
        return err_set(err, "it cannot run as the user who sent it: it came by the service of another");
    if (!account_name_is_good(task->owner.bytes) || !unix_account_valid(task->owner.bytes))
        return err_set(err, "it cannot run as the user who sent it: '%.60s' is not the name of a user of this machine",
                       task->owner.bytes);
    folders_add(task, &owners);
    if (folder_share(task, &owners, err) < 0)
        return -1;
    task->account = (struct executor_account){.name = task->owner.bytes,
                                              .group = owners.group,
                                              .umask = order->umask,
                                              .streams = {order->shared[0], order->shared[1], order->shared[2]}};
    task->order.order.account = &task->account;
    LOG_AUDIT(&task->providerd->daemon.log, "owner", log_text("subject", task->owner.bytes),
              log_word("claim", task->claim), task_trace(task), log_number("job", (int64_t)task->job));
    return 0;
}
