/* job.c (fuzzer): what a job's ad says of how it is run and of what it leaves for stores, and what is told of that, from any ad.
 *
 * Law: an order that is read has a program, lists that end, texts without a NUL, names that stay in the job's folder, and limits that are not
 * negative; what goes to stores has names that stay in the folder and in the store; what is told of files is counted, and told again changes nothing;
 * what is refused has a reason. */
#include "fuzz.h"
#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "live/data/job_uploads.h"
#include "live/data/storage.h"
#include "live/data/stored.h"
#include "live/providerd/job_order.h"
#include "sys/confined_path.h"

static void law(bool holds)
{
    if (!holds)
        fuzz_broken("an order that is read is in order");
}

static void names_check(const char *const *names)
{
    for (; names && *names; names++)
        law(confined_name_is_good(*names, strlen(*names)));
}

static void order_check(const struct job_order *order)
{
    size_t bytes = 0;

    law(order->order.arguments[0] && *order->order.arguments[0]);
    for (size_t i = 0; order->order.arguments[i]; i++)
        bytes += strlen(order->order.arguments[i]);
    for (size_t i = 0; order->order.environment[i]; i++) {
        law(strchr(order->order.environment[i], '='));
        bytes += strlen(order->order.environment[i]);
    }
    law(bytes < 4 * JOB_ARGUMENT_BYTES);
    names_check(order->outputs);
    names_check(order->checkpoint);
    law(!order->order.input || confined_name_is_good(order->order.input, strlen(order->order.input)));
    law(order->order.limits.cores >= 0 && order->order.limits.memory >= 0 && order->order.limits.disk >= 0 &&
        order->order.limits.processes > 0 && order->checkpoint_period >= 0);
}

static void parcels_check(const struct tree *ad)
{
    struct job_uploads parcels;
    struct err err = {0};
    struct arena arena;

    arena_init(&arena);
    if (job_uploads_read(&arena, ad, 1794754000, &parcels, &err) == 0) {
        for (size_t i = 0; i < parcels.count; i++)
            law(confined_name_is_good(parcels.items[i].file, strlen(parcels.items[i].file)) &&
                store_name_is_good(parcels.items[i].name, strlen(parcels.items[i].name)));
    } else {
        law(*err.text);
    }
    arena_done(&arena);
}

static void news_count(void *user, const char *words)
{
    law(*words);
    ++*(int *)user;
}

static void stored_check(struct symbols *symbols, const struct tree *ad)
{
    int first = 0, second = 0;
    struct tree *stored = stored_merge(symbols, NULL, ad, news_count, &first), *again;
    struct stored_count count = stored_count(stored);

    if (!stored)
        return;
    law(count.stored <= count.over && count.over <= count.total);
    again = stored_merge(symbols, stored, ad, news_count, &second);
    law(again && (second == 0 || first > 0) && stored_count(again).over == count.over);
    tree_unref(again);
    tree_unref(stored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct form_limits limits = {.bytes = 1 << 20, .attributes = 1000, .cells = 10000};
    struct symbols *symbols = names_new(1);
    struct err err = {0};
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, &limits, (const char *)data, size, &err);
    struct store_place place;
    struct job_order order;

    if (ad && tree_is_ad(ad)) {
        err = (struct err){0};
        if (job_order_read(ad, NULL, 1794754000, 7, &order, &err) == 0) {
            order_check(&order);
            job_order_done(&order);
        } else {
            law(*err.text);
        }
        parcels_check(ad);
        stored_check(symbols, ad);
        store_read(ad, &place, &err);
    }
    tree_unref(ad);
    symbols_free(symbols);
    return 0;
}
