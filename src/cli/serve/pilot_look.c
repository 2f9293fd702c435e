/* pilot_look.c: what a pilot looks at first: the machine, the time that it has, its token; and how fast the machine is. */
#include "cli/serve/pilot.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "exec/probe.h"
#include "lang/ad/get.h"
#include "lang/ad/names.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define BENCHMARK_SPAN 0.4 /* seconds of processor time */

/* Looks at the machine. Its memory is that of the control group, if that is less. */
static void machine_look(const char *state, struct pilot_found *ret)
{
    struct symbols *symbols = names_new(1);
    struct probe_settings settings = {.root = "", .scratch = state};
    struct prober *prober = prober_new(symbols, &settings, NULL);
    struct tree *ad = prober ? prober_probe(prober, 0) : NULL;
    int64_t free_memory;

    ret->cpus = 1;
    if (ad) {
        ad_integer(ad, "Cpus", &ret->cpus);
        ad_integer(ad, "Memory", &ret->memory);
        ret->facts.memory =
            ad_integer(ad, "FreeMemory", &free_memory) && free_memory < ret->memory ? free_memory : ret->memory;
        tree_unref(ad);
    }
    prober_free(prober);
    symbols_free(symbols);
    ret->facts.disk = pilot_disk(state);
}

int pilot_token_look(const char *path, int64_t now, int64_t *ret)
{
    struct token_file token;
    struct err err = {0};
    struct grant grant;
    int status = STATUS_DONE;

    if (token_file_read(path, &token, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    if (token_read(token.token, strlen(token.token), &grant) == TOKEN_OK) {
        *ret = grant.expires > now ? grant.expires - now : 0;
    } else {
        report("%s: the token cannot be read", path);
        status = STATUS_BAD;
    }
    token_file_done(&token);
    return status;
}

/* Finds how long the pilot may stay: by the batch system, by its order, and by its token. */
static void time_look(const struct pilot_order *order, struct cluster *batch, int64_t now, struct pilot_found *ret)
{
    int64_t left = PILOT_UNKNOWN, seconds = order->time;
    struct err err = {0};

    if (cluster_here(batch, ret->id))
        left = cluster_left(batch, ret->id, now, &err);
    if (*err.text)
        report("how long the batch job lasts is not known: %s", err.text);
    if (left >= 0 && (!seconds || left < seconds))
        seconds = left;
    ret->facts.time = order->time || left >= 0 ? seconds : PILOT_UNKNOWN;
    ret->seconds = ret->facts.time < 0 || ret->facts.token < seconds ? ret->facts.token : seconds;
}

int pilot_look(const char *folder, const char *state, const struct pilot_order *order, struct cluster *batch,
               struct pilot_found *ret, struct buf *why)
{
    struct pilot_found found = {.cpus = 1};
    int64_t now = time(NULL);
    char path[PATH_MAX];
    int status;

    snprintf(path, sizeof path, "%.4000s/token", folder);
    status = pilot_token_look(path, now, &found.facts.token);
    if (status != STATUS_DONE)
        return status;
    machine_look(state, &found);
    time_look(order, batch, now, &found);
    if (!pilot_enough(&found.facts, &order->least, why))
        return STATUS_NO;
    found.facts.benchmark = pilot_benchmark(BENCHMARK_SPAN);
    if (!pilot_enough(&found.facts, &order->least, why))
        return STATUS_NO;
    *ret = found;
    return STATUS_DONE;
}
