/* node_files.c: the files that a job of a workflow reads and other nodes have made.
 *
 * A node may have thousands of jobs, each of which has made one of thousands of files: each job is looked at once, for all files. */
#include "live/customerd/node_files.h"

#include "lang/ad/get.h"
#include "lang/base/buf.h"
#include "lang/base/textmap.h"

#include <stdlib.h>
#include <string.h>

struct looking {
    struct questions *questions;
    int64_t now;
    struct textmap wanted; /* NODE:FILE */
    struct textmap nodes;
    struct buf head, text; /* "NODE:"; and the same with a file's name behind it */
    struct job_place place;
    node_file_fn *fn;
    void *user;
    uint32_t count, found; /* files that are wanted from the node; and how many of them the present job has */
};

static void file_look(void *user, const struct job_file *file)
{
    struct looking *looking = user;

    if (file->kind != JOB_FILE_OUTPUT || !file->whole)
        return;
    buf_reset(&looking->text);
    buf_add(&looking->text, looking->head.text, looking->head.len);
    buf_adds(&looking->text, file->name);
    if (textmap_find(&looking->wanted, looking->text.text, looking->text.len) == TEXTMAP_NONE)
        return;
    looking->found++;
    looking->fn(looking->user, &looking->place, file);
}

/* Looks at one job. True: its outputs are still coming, and not all wanted files are here yet; or they cannot be looked at now. */
static bool job_look(struct looking *looking, uint64_t id)
{
    struct questions *questions = looking->questions;
    const struct job_attempt *last = attempts_last(questions->tries, id);
    struct job_view view;
    int failed;

    if (!last || !questions->job(questions->user, id, &view))
        return false;
    looking->place =
        (struct job_place){.job = id, .claim = last->claim, .number = last->number, .iwd = job_iwd(view.ad)};
    looking->found = 0;
    failed = jobfiles_each(questions->files, &looking->place, file_look, looking);
    free((char *)(uintptr_t)looking->place.iwd);
    return failed || (looking->found < looking->count && job_outputs_due(&view, last, looking->now));
}

/* Looks at all jobs of a node. */
static bool node_look(struct looking *looking, uint64_t job, const char *name)
{
    uint64_t first, count;
    bool coming = false;

    if (!looking->questions->node(looking->questions->user, job, name, strlen(name), &first, &count))
        return false;
    buf_reset(&looking->head);
    buf_addf(&looking->head, "%s:", name);
    looking->count = 0;
    for (uint32_t i = 0; i < looking->wanted.places; i++)
        looking->count += !strncmp(textmap_text(&looking->wanted, i), looking->head.text, looking->head.len);
    for (uint64_t id = first; id < first + count; id++)
        coming = job_look(looking, id) || coming;
    return coming;
}

static void wanted_read(struct looking *looking, const struct tree *ad, const struct expr *list)
{
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *part = &tree_parts(ad, list)[i];
        const char *text = part->kind == EXPR_STRING ? tree_string(ad, part) : NULL;
        const char *colon = text ? memchr(text, ':', part->u.run.count) : NULL;

        if (!colon)
            continue;
        (void)textmap_add(&looking->wanted, text, part->u.run.count);
        (void)textmap_add(&looking->nodes, text, (size_t)(colon - text));
    }
}

bool node_files_each(struct questions *questions, const struct job_view *view, int64_t now, node_file_fn *fn,
                     void *user)
{
    const struct expr *list = ad_find(view->ad, "NodeInputs");
    struct looking looking = {.questions = questions, .now = now, .fn = fn, .user = user};
    bool coming = false;

    if (!view->workflow || !questions->node || !list || list->kind != EXPR_LIST)
        return false;
    textmap_init(&looking.wanted, view->id);
    textmap_init(&looking.nodes, view->id);
    buf_init(&looking.head);
    buf_init(&looking.text);
    wanted_read(&looking, view->ad, list);
    for (uint32_t i = 0; i < looking.nodes.places; i++)
        coming = node_look(&looking, view->id, textmap_text(&looking.nodes, i)) || coming;
    textmap_done(&looking.wanted);
    textmap_done(&looking.nodes);
    buf_done(&looking.head);
    buf_done(&looking.text);
    return coming;
}
