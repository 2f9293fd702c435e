/* daemon_catalogues.c: the catalogues of files that a daemon asks: those of the setting Catalogues, else the one of its pool. */
#include "live/agent/daemon_parts.h"

#include "lang/base/mem.h"
#include "live/data/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is that the pool's own catalogue? It is asked by the daemon's token, also where it stands in the list of the settings. */
static bool is_own(const struct daemon *daemon, const char *url)
{
    for (size_t i = 0; i < daemon->agent.matchmaker_count; i++)
        if (!strcmp(daemon->agent.matchmakers[i], url))
            return true;
    return daemon->token.pool && !strcmp(daemon->token.pool, url);
}

static int token_open(const struct daemon *daemon, const char *path, size_t number, char ca_file[DAEMON_PATH_MAX],
                      struct catalogue_place *ret, struct err *err)
{
    struct token_file *token = mem_alloc(sizeof *token);
    char name[48];

    token_file_init(token);
    ret->token = token;
    ret->token_owned = true;
    snprintf(name, sizeof name, "ca.catalogue%zu.pem", number);
    if (token_file_read(path, token, err) < 0 || ca_keep(daemon, token, name, ca_file, err) < 0)
        return err_context(err, "CatalogueTokens");
    ret->ca_file = *ca_file ? ca_file : NULL;
    return 0;
}

struct catalogues *daemon_catalogues(struct daemon *daemon, struct err *err)
{
    size_t count, token_count;
    const char *const *urls = config_list(&daemon->config, CONFIG_CATALOGUES, &count);
    const char *const *tokens = config_list(&daemon->config, CONFIG_CATALOGUE_TOKENS, &token_count);
    struct catalogue_place places[CATALOGUES_MAX] = {{0}};
    char ca_files[CATALOGUES_MAX][DAEMON_PATH_MAX];
    int failed = 0;

    if (!count) {
        places[0] = (struct catalogue_place){
            .url = daemon->matchmakers[0], .token = &daemon->token, .ca_file = daemon->agent.ca_file};
        return catalogues_new(&daemon->loop, daemon->symbols, places, 1, err);
    }
    for (size_t i = 0; i < count && !failed; i++) {
        places[i].url = urls[i];
        if (i < token_count && strcmp(tokens[i], "-") != 0)
            failed = token_open(daemon, tokens[i], i, ca_files[i], &places[i], err);
        else if (is_own(daemon, urls[i]))
            places[i] =
                (struct catalogue_place){.url = urls[i], .token = &daemon->token, .ca_file = daemon->agent.ca_file};
    }
    if (!failed)
        return catalogues_new(&daemon->loop, daemon->symbols, places, count, err);
    for (size_t i = 0; i < CATALOGUES_MAX; i++)
        if (places[i].token_owned) {
            token_file_done((struct token_file *)(uintptr_t)places[i].token);
            free((void *)(uintptr_t)places[i].token);
        }
    return NULL;
}
