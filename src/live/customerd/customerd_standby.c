/* customerd_standby.c: a customer while another one has its store: users are told where that one is, until it is gone. */
#include "live/customerd/customerd_parts.h"

#include "lang/base/mem.h"
#include "live/http/standby.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting_customer {
    struct standby *standby; /* NULL: it has the store */
    struct front front;      /* by which it answers until then; its last answers may be on their way for longer */
    struct err *err;
    int came; /* -1: the store cannot be opened; 0: it is told to end; 1: the store is open */
};

/* ------------------------------------------------------------------------------------------------------------- waiting */

static bool asks_health(const struct request *request)
{
    return request->route && request->route->handle == front_health;
}

/* That it lives it says to anyone: who calls cannot be found out yet. */
static bool waits_elsewhere(struct request *request)
{
    if (asks_health(request)) {
        front_health(request);
        return true;
    }
    return standby_answers(request_customerd(request)->waiting->standby, request);
}

static void store_comes(void *user, struct shelf *shelf, const struct err *err)
{
    struct customerd *customerd = user;

    customerd->daemon.shelf = customerd->daemon.agent.shelf = shelf;
    customerd->waiting->came = shelf ? 1 : -1;
    if (!shelf)
        *customerd->waiting->err = *err;
    uv_stop(&customerd->daemon.loop);
}

static void leader_comes(void *user, const struct store_replica *leader)
{
    struct customerd *customerd = user;
    char url[sizeof leader->url];

    snprintf(url, sizeof url, "%.*s", (int)strcspn(leader->url, "#"), leader->url); /* the rest is for programs */
    LOG(&customerd->daemon.log, LEVEL_INFO, "standby", log_text("name", customerd->daemon.name),
        log_text("leader", *url ? url : NULL), log_text("who", *leader->who ? leader->who : NULL));
    if (customerd->settings->stands_by)
        customerd->settings->stands_by(customerd->settings->user, url, leader->who);
    notify_ready(&customerd->daemon.notify, "stands by");
}

static int waiting_begin(struct customerd *customerd, struct err *err)
{
    struct standby_settings settings = {.loop = &customerd->daemon.loop,
                                        .what = "customer",
                                        .url = "",
                                        .open = customerd->settings->open,
                                        .open_user = customerd->settings->user,
                                        .over = store_comes,
                                        .leads = leader_comes,
                                        .user = customerd};
    struct front_settings front = {.parts = {{.table = &customerd_routes,
                                              .daemon = customerd,
                                              .gate = &customerd->gate,
                                              .config = &customerd->daemon.config,
                                              .symbols = customerd->daemon.symbols,
                                              .elsewhere = waits_elsewhere},
                                             {.table = &agent_routes, .gate = &customerd->gate}},
                                   .part_count = 2,
                                   .log = &customerd->daemon.log,
                                   .memory = &customerd->daemon.memory,
                                   .metrics = customerd->daemon.metrics,
                                   .loop = &customerd->daemon.loop,
                                   .version = customerd->settings->version};

    front_init(&customerd->waiting->front, &front);
    customerd->waiting->standby = standby_new(&settings, err);
    return customerd->waiting->standby ? customerd_listen(customerd, &customerd->waiting->front, err) : -1;
}

int customerd_stand_by(struct customerd *customerd, struct err *err)
{
    struct waiting_customer *waiting = mem_alloc(sizeof *waiting);

    memset(waiting, 0, sizeof *waiting);
    waiting->err = err;
    customerd->waiting = waiting;
    if (waiting_begin(customerd, err) < 0)
        return -1;
    uv_run(&customerd->daemon.loop, UV_RUN_DEFAULT);
    if (waiting->came < 0)
        return -1;
    if (waiting->came == 0 || customerd->daemon.told) { /* the store may come in the turn in which it is told */
        LOG(&customerd->daemon.log, LEVEL_INFO, "stopped", log_number("status", 0));
        return 1;
    }
    standby_free(waiting->standby);
    waiting->standby = NULL;
    return 0;
}

void customerd_stands_no_more(struct customerd *customerd)
{
    struct waiting_customer *waiting = customerd->waiting;

    customerd->waiting = NULL;
    if (!waiting)
        return;
    standby_free(waiting->standby);
    front_done(&waiting->front);
    free(waiting);
}

/* ------------------------------------------------------------------------------------------------------------- leading */

uint32_t customerd_replicas(const struct customerd *customerd, struct store_replica *ret)
{
    return customerd->settings->replicas ? customerd->settings->replicas(customerd->daemon.shelf, ret) : 0;
}

bool customerd_is_deposed(const struct customerd *customerd)
{
    struct store_replica replicas[STORE_REPLICAS_MAX];
    const struct shelf *shelf = customerd->daemon.shelf;

    return shelf->kind->may_act && !shelf->kind->may_act(shelf) && customerd_replicas(customerd, replicas) > 1;
}

bool customerd_elsewhere(struct request *request)
{
    if (asks_health(request) || !customerd_is_deposed(request->front->settings.parts->daemon))
        return false;
    standby_deposed(request, "customer");
    return true;
}

void customerd_tell_reached(struct customerd *customerd)
{
    const char *contact = agent_contact(customerd->live), *pin = agent_pin(customerd->live);
    char url[300], audience[TOKEN_NAME_MAX + 1]; /* struct store_replica */
    struct grant grant;

    if (!customerd->settings->reached || !contact || !customerd->daemon.token.token ||
        token_read(customerd->daemon.token.token, strlen(customerd->daemon.token.token), &grant) != TOKEN_OK)
        return;
    token_agent_audience(grant.issuer, customerd->role.self, audience);
    if (snprintf(url, sizeof url, "%s#%s%s%s", contact, audience, pin ? "#" : "", pin ? pin : "") >= (int)sizeof url)
        return;
    customerd->settings->reached(customerd->daemon.shelf, url);
}
