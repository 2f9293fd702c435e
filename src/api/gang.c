/* gang.c: a request with several ports gathers all that they ask for. */
#include "match/gang/gang.h"

#include "api/api_parts.h"
#include "lang/base/mem.h"
#include "match/pair/residual.h"

#include <stdlib.h>

/* A member as the search tells it; its label is read when the search has ended. */
struct found_member {
    size_t offer, parent;
    uint32_t port;
};

struct gathering {
    struct berth_context *context;
    struct tree *const *ads;
    enum gang_outcome outcome;
    struct found_member *members;
    size_t count;
    bool told;
};

/* The label of that port of an ad. */
static const char *label_of(struct gathering *gathering, size_t ad, uint32_t port)
{
    struct ports ports;
    const char *label, *copy;
    size_t len;

    if (ports_read(&ports, gathering->ads[ad], NULL) < 0)
        return "";
    label = port_label(&ports, port, &len);
    copy = context_copy(gathering->context, label, len);
    ports_done(&ports);
    return copy;
}

static void found(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct gathering *gathering = user;

    if (gathering->told) /* the request asks for several units: the first is told */
        return;
    gathering->told = true;
    gathering->outcome = outcome;
    if (outcome != GANG_FORMED)
        return;
    gathering->members = mem_alloc(count * sizeof *gathering->members);
    gathering->count = count - 1;
    for (uint32_t i = 1; i < count; i++) {
        size_t parent = members[i].parent ? members[i].parent - 1 : BERTH_ROOT;

        gathering->members[i - 1] = (struct found_member){members[i].place - 1, parent, members[i].port};
    }
}

/* The search uses the arena as scratch: what is lent is put there afterwards. */
static void members_lend(struct gathering *gathering, const struct berth_member **ret_members, size_t *ret_count)
{
    struct berth_member *lent = arena_alloc(&gathering->context->arena, (gathering->count + 1) * sizeof *lent);

    for (size_t i = 0; i < gathering->count; i++) {
        const struct found_member *member = &gathering->members[i];
        size_t parent = member->parent == BERTH_ROOT ? 0 : gathering->members[member->parent].offer + 1;

        lent[i] = (struct berth_member){member->offer, member->parent, label_of(gathering, parent, member->port)};
    }
    *ret_members = lent;
    *ret_count = gathering->count;
}

static int ads_check(struct tree *const *ads, size_t count, struct berth_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct ports ports;
        struct err err = {0};

        if (residual_check(ads[i], &err) < 0 || ports_read(&ports, ads[i], &err) < 0) {
            if (i)
                err_context(&err, "offer %zu", i);
            return error_from(error, BERTH_BAD_PORTS, &err);
        }
        ports_done(&ports);
    }
    return 0;
}

static int gather(struct gathering *gathering, size_t offers, struct berth_error *error)
{
    struct berth_context *context = gathering->context;
    struct gang_settings settings = {
        .algorithm = GANG_AUTO, .preferences = true, .nodes = context->nodes_max, .seed = context->env.seed};
    struct policy policy;

    if (ads_check(gathering->ads, offers + 1, error) < 0)
        return -1;
    policy_init(&policy, NULL, NULL, NULL);
    gang_run(&context->env, &context->arena,
             &(struct gang_field){.policy = &policy, .ads = gathering->ads, .request_count = 1, .offer_count = offers},
             &settings, found, gathering, NULL);
    policy_done(&policy);
    if (gathering->outcome == GANG_GAVE_UP)
        return error_set(error, BERTH_TOO_MUCH, "the search was given up");
    return gathering->outcome == GANG_FORMED;
}

int berth_gang(struct berth_context *context, struct berth_ad *request, struct berth_ad *const *offers, size_t count,
               const struct berth_member **ret_members, size_t *ret_count, struct berth_error *error)
{
    struct tree *root = ad_tree(context, request), **ads;
    struct gathering gathering = {.context = context, .outcome = GANG_NONE};
    int status;

    context_fresh(context);
    if (!root)
        return error_foreign(error);
    if (!(ads = ads_trees(context, root, offers, count, error)))
        return -1;
    gathering.ads = ads;
    changes_begin(context->world);
    status = gather(&gathering, count, error);
    if (status > 0)
        members_lend(&gathering, ret_members, ret_count);
    changes_end(context->world);
    free(gathering.members);
    free(ads);
    return status;
}
