/* probe.c: what this machine is and how it is now: hardware, state and software, laid over one another. */
#include "exec/probe.h"

#include "exec/probe_parts.h"
#include "pool/protocol/writers.h"

#include <stdlib.h>
#include <time.h>

struct prober {
    struct symbols *symbols;
    struct probe_settings settings; /* its strings are ours */
    struct tree *hardware;
    struct keyboard keyboard;
    struct software *software;
};

static const char *text_keep(const char *text)
{
    return text ? mem_dup(text, strlen(text)) : NULL;
}

static void text_drop(const char *text)
{
    free((void *)(uintptr_t)text);
}

struct prober *prober_new(struct symbols *symbols, const struct probe_settings *settings, struct err *err)
{
    struct prober *prober = mem_alloc(sizeof *prober);
    struct facts facts;
    int result;

    memset(prober, 0, sizeof *prober);
    prober->symbols = symbols;
    prober->settings = *settings;
    prober->settings.root = text_keep(settings->root ? settings->root : "");
    prober->settings.scratch = text_keep(settings->scratch);
    prober->settings.synthetic = text_keep(settings->synthetic);
    prober->settings.programs = NULL; /* the software has them */
    prober->software = software_new(symbols, settings->programs, settings->program_span);
    tzset(); /* localtime_r need not */
    facts_init(&facts, symbols);
    result = hardware_write(&facts, &prober->settings, err);
    if (result == 0)
        prober->hardware = facts_seal(&facts);
    else
        build_done(&facts.build);
    if (!prober->hardware) {
        prober_free(prober);
        return NULL;
    }
    return prober;
}

void prober_free(struct prober *prober)
{
    if (!prober)
        return;
    software_free(prober->software);
    tree_unref(prober->hardware);
    text_drop(prober->settings.root);
    text_drop(prober->settings.scratch);
    text_drop(prober->settings.synthetic);
    free(prober);
}

struct tree *prober_probe(struct prober *prober, double own_load)
{
    struct tree *state, *both;
    struct facts facts;

    facts_init(&facts, prober->symbols);
    state_write(&facts, &prober->settings, &prober->keyboard, own_load);
    state = facts_seal(&facts);
    both = ad_over(prober->hardware, state, NULL);
    tree_unref(state);
    return software_lay_take(prober->software, both);
}

void prober_start(struct prober *prober)
{
    software_start(prober->software);
}

bool prober_poll(struct prober *prober)
{
    return software_poll(prober->software);
}

const char *prober_complaint(const struct prober *prober)
{
    return software_complaint(prober->software);
}
