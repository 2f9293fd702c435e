/* replica.c: a matchmaker that was set up by a code to stand by for another one. */
#include "cli/serve/replica.h"

#include "cli/ask/redeem.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "sys/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLICA_BYTES_MAX 4096
#define REPLICA_FIELDS(place)                                             \
    {                                                                     \
        {"Store", true, &(place)->store}, {"Name", true, &(place)->name}, \
    }
#define REPLICA_FIELD_COUNT 2

static void place_done(struct standby_place *place)
{
    free(place->store);
    free(place->name);
}

static int place_keep(const char *state, struct standby_place *place, struct err *err)
{
    const struct private_field fields[REPLICA_FIELD_COUNT] = REPLICA_FIELDS(place);
    int dir = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = -1;
    struct buf text;

    if (dir < 0)
        return err_set(err, "%s: %s", state, strerror(errno));
    buf_init(&text);
    private_ad_print(&text, fields, REPLICA_FIELD_COUNT);
    failed = private_write(dir, "replica", text.text, text.len, err);
    buf_done(&text);
    close(dir);
    return failed;
}

int replica_make(const struct config_options *options, const struct config *config, const char *word)
{
    const char *state = config_text(config, CONFIG_STATE);
    struct standby_place place;
    struct join_code code;
    struct err err = {0};
    char keys[PATH_MAX];
    int status = redeem_code_read(word, !strcmp(word, "-") ? "-" : NULL, &code);

    if (status != STATUS_DONE)
        return status;
    snprintf(keys, sizeof keys, "%.4000s/keys", state);
    if (access(keys, F_OK) == 0) {
        report(
            "%s: there are keys of a pool already: --standby is for a state folder of its own, and for the first start alone",
            keys);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        status = redeem_standby(&code, options, keys, &place);
    if (status == STATUS_DONE && place_keep(state, &place, &err) < 0) {
        report("%s", err.text);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        place_done(&place);
    join_code_done(&code);
    return status;
}

/* 1: it is there; 0: there is none; -1: it is reported. */
static int place_read(const char *state, struct standby_place *place)
{
    const struct private_field fields[REPLICA_FIELD_COUNT] = REPLICA_FIELDS(place);
    struct err err = {0};
    char path[PATH_MAX];
    struct buf text;
    int got;

    snprintf(path, sizeof path, "%.4000s/replica", state);
    buf_init(&text);
    got = private_read(AT_FDCWD, path, REPLICA_BYTES_MAX, &text, &err);
    if (got > 0 && private_ad_read(text.text, text.len, fields, REPLICA_FIELD_COUNT, &err) < 0)
        got = -1;
    buf_done(&text);
    if (got < 0)
        report("%s: %s", path, err.text);
    return got;
}

int replica_take(const struct config_options *options, struct config *config)
{
    struct standby_place place = {.store = NULL};
    int got = place_read(config_text(config, CONFIG_STATE), &place);

    if (got <= 0)
        return got < 0 ? STATUS_BAD : STATUS_DONE;
    /* by the environment, as it is read again whenever the settings are */
    if (!*config_text(config, CONFIG_STORE))
        setenv("BERTH_STORE", place.store, 1);
    setenv("BERTH_NAME", place.name, 1);
    place_done(&place);
    config_done(config);
    *config = (struct config){0};
    return config_options_load(options, config) < 0 ? STATUS_BAD : STATUS_DONE;
}
