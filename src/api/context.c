/* context.c: one user of the library: its settings, and memory for what it is lent. */
#include "api/api_parts.h"
#include "lang/base/mem.h"
#include "lang/base/want.h"
#include "match/gang/gang.h"

#include <stdlib.h>

#define TEXT(x) #x
#define VERSION_TEXT(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *berth_version(void)
{
    return VERSION_TEXT(BERTH_VERSION_MAJOR, BERTH_VERSION_MINOR, BERTH_VERSION_PATCH);
}

int berth_version_number(void)
{
    return BERTH_VERSION_NUMBER;
}

const char *berth_code_name(int code)
{
    static const char *const names[] = {"ok", "bad text", "too much", "bad call", "bad ports"};

    return code < 0 || (size_t)code >= sizeof names / sizeof *names ? NULL : names[code];
}

void berth_on_memory(berth_memory_fn *hook, void *user)
{
    mem_on_want(hook, user);
}

static struct berth_context *context_of(struct world *taken)
{
    struct berth_context *context = mem_alloc(sizeof *context);

    *context = (struct berth_context){.world = taken,
                                      .dialect = &dialect_classic,
                                      .text_max = FORM_AD_BYTES_MAX,
                                      .cells_max = PARSE_CELLS_MAX,
                                      .attributes_max = TREE_PARTS_MAX};
    context->env.meter = &context->meter;
    context->quiet = atomic_load_explicit(&taken->shared, memory_order_relaxed) ? NULL : taken;
    arena_init(&context->arena);
    buf_init(&context->text);
    return context;
}

struct berth_context *berth_context_new(void)
{
    return context_of(world_new());
}

struct berth_context *berth_context_share(struct berth_context *context)
{
    struct berth_context *other;

    world_share(context->world);
    context->quiet = NULL;
    other = context_of(world_ref(context->world));
    other->dialect = context->dialect;
    other->text_max = context->text_max;
    other->cells_max = context->cells_max;
    other->attributes_max = context->attributes_max;
    other->nodes_max = context->nodes_max;
    other->env = context->env;
    other->env.meter = &other->meter;
    return other;
}

void berth_context_free(struct berth_context *context)
{
    if (!context)
        return;
    arena_done(&context->arena);
    buf_done(&context->text);
    free(context->keys);
    world_unref(context->world);
    free(context);
}

void berth_context_set_clock(struct berth_context *context, int64_t now, int zone_minutes)
{
    context->env.now = now;
    context->env.zone = zone_minutes % (24 * 60);
}

void berth_context_set_seed(struct berth_context *context, uint64_t seed)
{
    context->env.seed = seed;
}

int berth_context_set_dialect(struct berth_context *context, int dialect)
{
    if (dialect != BERTH_CLASSIC && dialect != BERTH_CONDOR)
        return -1;
    context->dialect = dialect == BERTH_CONDOR ? &dialect_condor : &dialect_classic;
    return 0;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value && value < most ? value : most;
}

int berth_context_set_limit(struct berth_context *context, int limit, uint64_t value)
{
    switch (limit) {
    case BERTH_LIMIT_STEPS:
        context->env.steps = value;
        return 0;
    case BERTH_LIMIT_BYTES:
        context->env.bytes = value;
        return 0;
    case BERTH_LIMIT_TEXT:
        context->text_max = (size_t)at_most(value, FORM_AD_BYTES_MAX);
        return 0;
    case BERTH_LIMIT_CELLS:
        context->cells_max = value ? (uint32_t)at_most(value, FORM_AD_BYTES_MAX) : PARSE_CELLS_MAX;
        return 0;
    case BERTH_LIMIT_ATTRIBUTES:
        context->attributes_max = (uint32_t)at_most(value, TREE_PARTS_MAX);
        return 0;
    case BERTH_LIMIT_NODES:
        context->nodes_max = value;
        return 0;
    default:
        return -1;
    }
}

uint64_t berth_context_steps(const struct berth_context *context)
{
    return context->meter;
}

int berth_context_exhausted(const struct berth_context *context)
{
    return context->exhausted;
}

const char *context_lend(struct berth_context *context, size_t *ret_len)
{
    if (ret_len)
        *ret_len = context->text.len;
    return buf_string(&context->text);
}

char *context_copy(struct berth_context *context, const char *text, size_t len)
{
    char *copy = arena_alloc(&context->arena, len + 1);

    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

struct form_limits context_limits(const struct berth_context *context)
{
    return (struct form_limits){
        .bytes = context->text_max, .cells = context->cells_max, .attributes = context->attributes_max};
}
