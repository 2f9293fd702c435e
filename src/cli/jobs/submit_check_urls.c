/* submit_check_urls.c: does a machine of the pool fetch what jobs name by URLs of other sorts than our own, and bring outputs to such?
 *
 * Every machine fetches file, http and https, and brings to the last two. Of the rest (osdf, root, ...) some do, by a client that their owners name (settings
 * UrlClients and UrlPutClients). Where none does, a job would wait for ever: it is refused. */
#include "cli/jobs/submit_check_urls.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "pool/protocol/job_urls.h"

#include <stdio.h>
#include <string.h>

#define SORTS_MAX 16 /* that are asked about */
#define WAYS 2

struct sorts {
    char names[SORTS_MAX][32];
    size_t count;
};

/* The URLs of inputs, or of outputs. */
static const struct way {
    uint32_t (*count)(const struct tree *ad);
    bool (*get)(const struct tree *ad, uint32_t place, struct job_url *ret);
    const char *machine, *does, *setting;
    bool takes_files; /* file:///... is no sort that a client is needed for */
} ways[] = {
    {job_urls_count, job_urls_get, JOB_URLS_MACHINE, "fetches", "UrlClients", true},
    {job_urls_out_count, job_urls_out_get, JOB_URLS_OUT_MACHINE, "brings outputs to", "UrlPutClients", false},
};

static void sorts_add(struct sorts *sorts, const struct way *way, const struct tree *ad)
{
    struct job_url one;

    for (uint32_t i = 0, count = way->count(ad); i < count && sorts->count < SORTS_MAX; i++) {
        bool known = false;

        if (!way->get(ad, i, &one) || job_url_is_web(&one) || one.scheme >= sizeof *sorts->names ||
            (way->takes_files && one.scheme == 4 && !memcmp(one.url, "file", 4)))
            continue;
        for (size_t k = 0; k < sorts->count; k++)
            known = known || (strlen(sorts->names[k]) == one.scheme && !memcmp(sorts->names[k], one.url, one.scheme));
        if (!known)
            snprintf(sorts->names[sorts->count++], sizeof *sorts->names, "%.*s", (int)one.scheme, one.url);
    }
}

static bool note_any(void *user, struct tree *ad)
{
    (void)ad;
    *(bool *)user = true;
    return false;
}

/* Does a machine that is known have a way to such, whether or not it has room? */
static int sort_ask(struct connection *pool, const struct way *way, const char *name, bool *ret)
{
    struct buf path, text;
    int status;

    buf_init(&path);
    buf_init(&text);
    buf_addf(&text, "isMember(\"%s\", Ad.%s)", name, way->machine);
    buf_adds(&path, "/v1/machines?whole=true&limit=1");
    path_query(&path, "constraint", buf_string(&text));
    status = connection_list(pool, buf_string(&path), 0, note_any, ret);
    buf_done(&path);
    buf_done(&text);
    return status;
}

static int sorts_ask(struct connection *pool, const struct way *way, const struct sorts *sorts)
{
    int status = STATUS_DONE;

    for (size_t i = 0; i < sorts->count && status == STATUS_DONE; i++) {
        bool any = false;

        status = sort_ask(pool, way, sorts->names[i], &any);
        if (status == STATUS_DONE && !any) {
            report("no machine of the pool %s %s://...: their owners name no client for it (%s); nothing was submitted",
                   way->does, sorts->names[i], way->setting);
            status = STATUS_NO;
        }
    }
    return status;
}

int submit_check_urls(const struct connection_options *options, const struct job_submission *submission)
{
    struct sorts sorts[WAYS] = {0};
    struct connection pool;
    int status;
    bool any = false;

    for (size_t k = 0; k < WAYS; k++) {
        for (size_t i = 0; i < submission->count; i++)
            sorts_add(&sorts[k], &ways[k], submission->ads[i]);
        any = any || sorts[k].count;
    }
    if (!any)
        return STATUS_DONE;
    status = connection_open(&pool, options);
    for (size_t k = 0; k < WAYS && status == STATUS_DONE; k++)
        status = sorts_ask(&pool, &ways[k], &sorts[k]);
    connection_close(&pool);
    return status == STATUS_NO ? STATUS_NO : STATUS_DONE;
}
