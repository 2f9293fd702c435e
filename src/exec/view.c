/* view.c: what a job sees besides its folder, as it is kept beside its order. */
#include "exec/view.h"

#include "exec/record.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FILE_NAME "view"

/* The file: this, then the texts one after another, each with its NUL: root, begin, and two for each folder. */
struct view_head {
    uint64_t number;
    uint32_t has_root, has_begin, folders;
    uint32_t writable; /* so many of the folders, the last ones */
};

struct view {
    struct executor_view is;
    struct executor_folder *folders;
    char *block;
    size_t len;
};

static void add_text(struct buf *out, const char *text)
{
    buf_add(out, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* Makes a view of a block, which is taken. NULL: it is none. */
static struct view *view_take(char *block, size_t len)
{
    struct view_head *head = (struct view_head *)(void *)block;
    size_t texts = 0, wanted;
    struct view *view;
    const char *at;

    if (len < sizeof *head || head->folders > VIEW_FOLDERS_MAX || head->writable > head->folders)
        return NULL;
    wanted = 2 + 2 * (size_t)head->folders;
    for (size_t i = sizeof *head; i < len; i++)
        texts += !block[i];
    if (texts != wanted || block[len - 1])
        return NULL;
    view = mem_alloc(sizeof *view);
    *view = (struct view){.block = block, .len = len};
    view->folders = mem_alloc((head->folders + 1) * sizeof *view->folders);
    at = block + sizeof *head;
    view->is.root = head->has_root ? at : NULL;
    at += strlen(at) + 1;
    view->is.begin = head->has_begin ? at : NULL;
    at += strlen(at) + 1;
    for (uint32_t i = 0; i < head->folders; i++) {
        view->folders[i].path = at;
        at += strlen(at) + 1;
        view->folders[i].real = at;
        view->folders[i].writable = i + head->writable >= head->folders;
        at += strlen(at) + 1;
    }
    view->is.folders = view->folders;
    view->is.folder_count = head->folders;
    return view;
}

struct view *view_new(const struct executor_view *is, uint64_t number)
{
    struct view_head head = {.number = number,
                             .has_root = is->root != NULL,
                             .has_begin = is->begin != NULL,
                             .folders = is->folder_count < VIEW_FOLDERS_MAX ? is->folder_count : VIEW_FOLDERS_MAX};
    struct buf out;

    while (head.writable < head.folders && is->folders[head.folders - 1 - head.writable].writable)
        head.writable++;
    buf_init(&out);
    buf_add(&out, (const char *)&head, sizeof head);
    add_text(&out, is->root);
    add_text(&out, is->begin);
    for (uint32_t i = 0; i < head.folders; i++) {
        add_text(&out, is->folders[i].path);
        add_text(&out, is->folders[i].real);
    }
    return view_take(out.text, out.len);
}

void view_free(struct view *view)
{
    if (!view)
        return;
    free(view->folders);
    free(view->block);
    free(view);
}

const struct executor_view *view_of(const struct view *view)
{
    return &view->is;
}

int view_write(int folder, const struct view *view, struct err *err)
{
    return record_write(folder, FILE_NAME, view->block, view->len, false, err);
}

struct view *view_read(int folder, uint64_t number)
{
    size_t len = 0;
    char *block = record_read(folder, FILE_NAME, &len);
    struct view *view = block ? view_take(block, len) : NULL;

    if (!view) {
        free(block);
        return NULL;
    }
    if (((const struct view_head *)(const void *)view->block)->number == number)
        return view;
    view_free(view);
    return NULL;
}
