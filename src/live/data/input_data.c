/* input_data.c: the files of the catalogue that a job reads: its attribute InputData. */
#include "live/data/input_data.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/data/file_entry.h"
#include "pool/protocol/job_limits.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void input_data_init(struct input_data *data)
{
    *data = (struct input_data){0};
    textmap_init(&data->lasts, 0);
}

void input_data_done(struct input_data *data)
{
    for (uint32_t i = 0; i < data->count; i++)
        free(data->names[i]);
    free(data->names);
    textmap_done(&data->lasts);
    *data = (struct input_data){0};
}

/* Strips what stands in front of a logical name: grids write lfn:/grid/run7, which says that it is one, and nothing else. */
static void name_strip(const char **text, size_t *len)
{
    static const char *const heads[] = {"lfn:", "lf:"};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t head = strlen(heads[i]);

        if (*len <= head || strncasecmp(*text, heads[i], head) != 0)
            continue;
        *text += head;
        *len -= head;
        while (*len && **text == '/') {
            ++*text;
            --*len;
        }
        return;
    }
}

/* Adds a file: in the job's folder no two files have one name, and none has that of a file which we put there. */
static int name_put(struct input_data *data, const char *text, size_t len, struct err *err)
{
    char *name = mem_dup(text, len);
    const char *last = file_name_last(name);
    uint32_t other = textmap_find(&data->lasts, last, strlen(last));
    int failed = 0;

    if (!strcmp(last, JOB_STDOUT) || !strcmp(last, JOB_STDERR) || !strcmp(last, JOB_STATUS))
        failed = err_set(err, "InputData: '%s' would be in the place of a file of the job's own", name);
    else if (other != TEXTMAP_NONE)
        failed = err_set(err, "InputData: '%s' and '%s' would be the same file in the job's folder", data->names[other],
                         name);
    if (failed) {
        free(name);
        return failed;
    }
    (void)textmap_add(&data->lasts, last, strlen(last));
    ARRAY_ROOM(data->names, data->count, data->room, 16);
    data->names[data->count++] = name;
    return 0;
}

static int name_add(struct input_data *data, const struct tree *ad, const struct expr *e, struct err *err)
{
    const char *text = e->kind == EXPR_STRING ? tree_string(ad, e) : "";
    size_t len = e->kind == EXPR_STRING ? e->u.run.count : 0;

    name_strip(&text, &len);
    if (!file_name_is_good(text, len))
        return err_set(err, "InputData: expected a list of names of files in the catalogue");
    return name_put(data, text, len, err);
}

int input_data_add(struct input_data *data, const char *name, struct err *err)
{
    const char *last = file_name_last(name);
    uint32_t other = textmap_find(&data->lasts, last, strlen(last));

    if (other != TEXTMAP_NONE && !strcmp(data->names[other], name))
        return 0;
    if (data->count >= INPUT_DATA_MAX)
        return err_set(err, "InputData: a job reads at most %d files of the catalogue", INPUT_DATA_MAX);
    return name_put(data, name, strlen(name), err);
}

int input_data_read(const struct tree *ad, struct input_data *ret, struct err *err)
{
    const struct expr *list = ad_find(ad, "InputData"), *parts = list;
    struct input_data data = {0};
    uint32_t count = 1;
    int failed = 0;

    *ret = data;
    if (!list)
        return 0;
    if (list->kind == EXPR_LIST) {
        parts = tree_parts(ad, list);
        count = list->u.run.count;
    }
    if (count > INPUT_DATA_MAX)
        return err_set(err, "InputData: a job reads at most %d files of the catalogue", INPUT_DATA_MAX);
    input_data_init(&data);
    for (uint32_t i = 0; i < count && !failed; i++)
        failed = name_add(&data, ad, &parts[i], err);
    if (failed)
        input_data_done(&data);
    *ret = data;
    return failed;
}
