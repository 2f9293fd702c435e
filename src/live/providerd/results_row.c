/* results_row.c: what is noted of a job that has ended, until all that it made has been sent: what it used, and which files are to go. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/data/file_entry.h"
#include "live/data/input_data.h"
#include "pool/protocol/job_urls.h"

#include <string.h>

static void row_add(struct maker *maker, const char *name, const char *const *names)
{
    size_t count = 0;

    while (names && names[count])
        count++;
    if (names)
        maker_texts(maker, name, names, count);
}

static char *input_name(const struct tree *ad, const struct expr *file, struct arena *arena)
{
    symbol name = symbols_find(ad->symbols, "Name", 4);
    const struct expr *text = file->kind == EXPR_AD && name ? tree_find(ad, file, name) : NULL;
    char *copy;

    if (!text || text->kind != EXPR_STRING)
        return NULL;
    copy = arena_alloc(arena, text->u.run.count + 1);
    memcpy(copy, tree_string(ad, text), text->u.run.count);
    copy[text->u.run.count] = '\0';
    return copy;
}

/* Adds the names of the inputs, as the ad has them; of files of the catalogue, the names that they have in the job's folder. */
static void row_add_inputs(struct maker *maker, const struct tree *ad)
{
    static const char *const lists[] = {"Inputs", JOB_URLS};
    const char *names[JOB_FILES_MAX];
    size_t count = 0;
    struct input_data data;
    struct arena arena;

    arena_init(&arena);
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        const struct expr *list = ad_find(ad, lists[k]);

        for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count && count < JOB_FILES_MAX; i++) {
            char *name = input_name(ad, &tree_parts(ad, list)[i], &arena);

            if (name)
                names[count++] = name;
        }
    }
    (void)input_data_read(ad, &data, NULL);
    for (uint32_t i = 0; i < data.count && count < JOB_FILES_MAX; i++)
        names[count++] = file_name_last(data.names[i]);
    maker_texts(maker, "Inputs", names, count);
    input_data_done(&data);
    arena_done(&arena);
}

/* Adds where outputs go by URL, if the job may use the network. */
static void urls_add(struct maker *maker, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, JOB_URLS_OUT);
    struct tree *urls;
    bool network = false;

    if (!list || !job_urls_are_good(ad, list) || !ad_flag(ad, "Network", &network) || !network)
        return;
    urls = ad_part(ad, list);
    maker_ad(maker, JOB_URLS_OUT, urls);
    tree_unref(urls);
}

struct tree *results_row(struct task *task, const struct executor_news *news)
{
    const struct providerd *providerd = task->providerd;
    struct maker maker;

    maker_init(&maker, providerd->daemon.symbols);
    inquiry_write(&maker, &task->inquiry, task->claim);
    maker_integer(&maker, "Cpu", news->usage.cpu);
    maker_integer(&maker, "Memory", news->usage.memory);
    maker_integer(&maker, "Disk", news->usage.disk);
    maker_integer(&maker, "Wall", news->usage.wall);
    if (task->order.order.limits.cores > 0) {
        maker_real(&maker, "MayCpus", task->order.order.limits.cores);
        maker_integer(&maker, "MayMemory", task->order.order.limits.memory);
        maker_integer(&maker, "MayDisk", task->order.order.limits.disk);
    }
    if (providerd->benchmark > 0)
        maker_real(&maker, "Benchmark", providerd->benchmark);
    samples_put(&maker, task, true);
    if (task->inquiry.member && news->kind == EXECUTOR_ENDED)
        maker_integer(&maker, "Status", news->status);
    maker_text(&maker, "Words", *news->words ? news->words : NULL);
    maker_text(&maker, "Out", task->order.out);
    maker_text(&maker, "Err", task->order.err);
    row_add(&maker, "Outputs", task->order.outputs);
    row_add(&maker, "Checkpoint", task->order.checkpoint);
    row_add_inputs(&maker, task->ad);
    urls_add(&maker, task->ad);
    if (task->transfers)
        maker_integer(&maker, "Transfers", task->transfers);
    return maker_seal(&maker);
}

struct tree *results_passing(const struct task *task)
{
    struct maker maker;

    maker_init(&maker, task->providerd->daemon.symbols);
    row_add(&maker, "Checkpoint", task->order.checkpoint);
    return maker_seal(&maker);
}
