/* node_files.c: what a job of a workflow reads that other nodes have made. */
#include "net/node_files.h"

#include "net/represent.h"

#include <stdlib.h>
#include <string.h>

struct looking {
    struct job_place place;
    const char *name;
    size_t len;
    node_file_fn *fn;
    void *user;
    bool found;
};

static void file_look(void *user, const struct job_file *file)
{
    struct looking *looking = user;

    if (file->kind != JOB_FILE_OUTPUT || !file->whole || strlen(file->name) != looking->len ||
        memcmp(file->name, looking->name, looking->len) != 0)
        return;
    looking->found = true;
    looking->fn(looking->user, &looking->place, file);
}

/* Of one job. True: its outputs are on their way, and that file is not here yet. */
static bool job_look(struct questions *questions, uint64_t id, int64_t now, struct looking *looking)
{
    const struct job_try *last = tries_last(questions->tries, id);
    struct job_view view;

    if (!last || !questions->job(questions->user, id, &view))
        return false;
    looking->place = (struct job_place){id, last->claim, last->number, job_iwd(view.ad)};
    looking->found = false;
    jobfiles_each(questions->files, &looking->place, file_look, looking);
    free((char *)(uintptr_t)looking->place.iwd);
    return !looking->found && job_outputs_due(&view, last, now);
}

bool node_files_each(struct questions *questions, const struct job_view *view, int64_t now, node_file_fn *fn,
                     void *user)
{
    const struct expr *list = ad_find(view->ad, "NodeInputs");
    bool coming = false;

    if (!view->workflow || !questions->node || !list || list->kind != EXPR_LIST)
        return false;
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *part = &tree_parts(view->ad, list)[i];
        const char *text = part->kind == EXPR_STRING ? tree_string(view->ad, part) : NULL;
        const char *colon = text ? memchr(text, ':', part->u.run.count) : NULL;
        struct looking looking = {.fn = fn, .user = user};
        uint64_t first, count;

        if (!colon || !questions->node(questions->user, view->id, text, (size_t)(colon - text), &first, &count))
            continue;
        looking.name = colon + 1;
        looking.len = part->u.run.count - (size_t)(colon + 1 - text);
        for (uint64_t id = first; id < first + count; id++)
            coming = job_look(questions, id, now, &looking) || coming;
    }
    return coming;
}
