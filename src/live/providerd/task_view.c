/* task_view.c: what a job sees besides its own folder: its image, and folders of the machine. */
#include "live/providerd/providerd_parts.h"

#include "exec/folders.h"
#include "exec/sandbox_view.h"

/* Is the folder that the job needs one that it will see, or in one? */
static bool is_shown(const struct executor_view *view, const char *path)
{
    for (uint32_t i = 0; i < view->folder_count; i++)
        if (folder_holds(view->folders[i].path, path) && view_has_place(view->root, view->folders[i].path))
            return true;
    return false;
}

/* Puts a folder of the machine as the image into what the job sees. It says nothing of how it wants to be run. */
static int folder_view(struct task *task, struct err *err)
{
    const struct providerd_settings *settings = task->providerd->settings;

    if (!task->order.order.arguments[0])
        return err_set(err, "its image says no command, and the job has no Cmd");
    if (!settings->image)
        return err_set(err, "its image: images do not lie here");
    if (settings->image(settings->user, task->order.image, task->image_root, sizeof task->image_root, err) < 0)
        return err_context(err, "its image");
    task->view.root = task->image_root;
    return 0;
}

int task_view(struct task *task, struct err *err)
{
    const struct providerd_settings *settings = task->providerd->settings;
    const char *const *needs = task->order.needs;

    if (task->image && images_view(task, err) < 0)
        return -1;
    if (!task->image && task->order.image && folder_view(task, err) < 0)
        return -1;
    if (settings->shown)
        settings->shown(settings->user, &task->view.folders, &task->view.folder_count);
    if (task_owner(task, err) < 0)
        return -1;
    for (; needs && *needs; needs++)
        if (!is_shown(&task->view, *needs))
            return err_set(err, "it needs the folder %.200s, which is not here", *needs);
    if (task->view.folder_count || task->view.root)
        task->order.order.view = &task->view;
    return 0;
}
