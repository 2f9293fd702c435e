/* cluster.c (fuzzer): the table of a batch system from any text, and what it makes of any answer.
 *
 * Law: a table that is refused has a reason that begins with its name; one that is read fills in its commands, and reads back as the same table; every job that
 * it finds in an answer has an id that could be a word of a command.
 *
 *     the table, a NUL, the answer. A table that begins with '!' is that of Slurm */
#include "exec/cluster.h"
#include "fuzz.h"

static void check_words(const struct cluster *cluster)
{
    static const char *const commands[] = {"Submit", "Status", "Cancel", "Queue", "Capacity", "TimeLeft"};
    const char *options[] = {"$ID"};
    struct cluster_order order = {
        .name = "n", .script = "/s", .seconds = 61, .id = "7", .options = options, .option_count = 1};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char **words = cluster_words(cluster, commands[i], &order);

        if (words ? !words[0] || !*words[0] : i < 3)
            fuzz_broken("a command that a table must have has a first word");
        cluster_words_free(words);
    }
}

static void check_answer(struct cluster *cluster, const char *text, size_t len)
{
    struct cluster_jobs jobs = {NULL, 0};
    struct err err = {0};

    if (cluster_jobs_of(cluster, "Status", text, len, &jobs, &err) < 0) {
        if (!*err.text)
            fuzz_broken("an answer that is refused has a reason");
        return;
    }
    for (size_t i = 0; i < jobs.count; i++)
        if (!*jobs.items[i].id || *jobs.items[i].id == '-' || strpbrk(jobs.items[i].id, " \n\t"))
            fuzz_broken("a job has an id");
    free(jobs.items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = memchr(data, '\0', size);
    size_t len = end ? (size_t)(end - text) : size, again;
    struct cluster *cluster, *back;
    struct err err = {0};
    char *copy;

    if (size > CLUSTER_BYTES_MAX)
        return 0;
    copy = malloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    cluster = *copy == '!' ? cluster_read(NULL, &err) : cluster_parse("table", copy, len, &err);
    free(copy);
    if (!cluster) {
        if (strncmp(err.text, "table:", 6) != 0)
            fuzz_broken("what is refused has a reason, and a place");
        return 0;
    }
    check_words(cluster);
    text = cluster_text(cluster, &again);
    back = cluster_parse("table", text, again, &err);
    if (!back || strcmp(cluster_name(back), cluster_name(cluster)) != 0)
        fuzz_broken("a table is read as it was kept");
    cluster_free(back);
    if (end)
        check_answer(cluster, end + 1, size - len - 1);
    cluster_free(cluster);
    return 0;
}
