/* writers.c: an ad is made by a pipeline of writers. */
#include "pool/protocol/writers.h"

/* The cell on top becomes an attribute of that name. */
static void attribute_name(struct build *build, symbol name)
{
    symbols_hold(build->symbols, name);
    build_attribute(build, name);
}

/* The attributes on the builder, no two of one name, become the ad. */
static struct tree *attributes_seal(struct build *build, uint32_t count, struct err *err)
{
    struct tree *ad = NULL;
    uint32_t place;

    if (count > TREE_PARTS_MAX)
        err_set(err, "more than %d attributes", TREE_PARTS_MAX);
    else if (build_ad(build, count, &place) == 0)
        ad = build_seal(build);
    build_done(build);
    return ad;
}

struct tree *ad_over(const struct tree *below, const struct tree *above, struct err *err)
{
    const struct expr *low = tree_root(below), *high = tree_root(above), *parts;
    struct build build;
    uint32_t count;

    if (low->kind != EXPR_AD || high->kind != EXPR_AD) {
        err_set(err, "not an ad");
        return NULL;
    }
    if (below->dialect != above->dialect) {
        err_set(err, "an ad in dialect %s cannot be laid over one in dialect %s", above->dialect->name,
                below->dialect->name);
        return NULL;
    }
    build_init(&build, below->symbols, below->dialect);
    parts = tree_parts(below, low);
    for (count = 0; count < low->u.run.count; count++) {
        const struct expr *replaced = tree_find(above, high, parts[count].label);

        build_copy(&build, replaced ? above : below, replaced ? replaced : &parts[count]);
        attribute_name(&build, replaced ? replaced->label : parts[count].label);
    }
    parts = tree_parts(above, high);
    for (uint32_t i = 0; i < high->u.run.count; i++) {
        if (tree_find(below, low, parts[i].label))
            continue;
        build_copy(&build, above, &parts[i]);
        attribute_name(&build, parts[i].label);
        count++;
    }
    return attributes_seal(&build, count, err);
}

/* The last setting of that name among the first `count`, or NULL. */
static const struct ad_setting *setting_find(const struct ad_setting *settings, size_t count, symbol name)
{
    while (count-- > 0)
        if (symbol_same(settings[count].name, name))
            return &settings[count];
    return NULL;
}

static void setting_push(struct build *build, const struct ad_setting *setting)
{
    value_build(build, &setting->value);
    attribute_name(build, setting->name);
}

/* Pushes the ad's attributes, with the settings in their places; the runs between them are copied at once. */
static void attributes_push(struct build *build, const struct tree *ad, const struct ad_setting *settings,
                            size_t setting_count)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    uint32_t from = 0;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        const struct ad_setting *setting = setting_find(settings, setting_count, parts[i].label);

        if (!setting)
            continue;
        build_copy_run(build, ad, &parts[from], i - from);
        setting_push(build, setting);
        from = i + 1;
    }
    build_copy_run(build, ad, &parts[from], root->u.run.count - from);
}

struct tree *ad_set(const struct tree *ad, const struct ad_setting *settings, size_t setting_count, struct err *err)
{
    const struct expr *root = tree_root(ad);
    struct build build;
    uint32_t count;

    if (root->kind != EXPR_AD) {
        err_set(err, "not an ad");
        return NULL;
    }
    build_init(&build, ad->symbols, ad->dialect);
    attributes_push(&build, ad, settings, setting_count);
    count = root->u.run.count;
    for (size_t i = 0; i < setting_count; i++) { /* an attribute that the ad lacks, at its first setting */
        if (tree_find(ad, root, settings[i].name) || setting_find(settings, i, settings[i].name))
            continue;
        setting_push(&build, setting_find(settings, setting_count, settings[i].name));
        count++;
    }
    return attributes_seal(&build, count, err);
}

static struct tree *layer_write(void *user, struct tree *ad, struct err *err)
{
    return user ? ad_over(ad, user, err) : tree_ref(ad);
}

struct writer writer_layer(const char *name, struct tree *layer)
{
    struct writer writer = {name, layer_write, layer};

    return writer;
}

static struct tree *ad_empty(struct symbols *symbols, const struct dialect *dialect)
{
    struct build build;

    build_init(&build, symbols, dialect);
    return attributes_seal(&build, 0, NULL);
}

struct tree *writers_run(const struct writer *writers, size_t count, struct symbols *symbols,
                         const struct dialect *dialect, struct err *err)
{
    struct tree *ad = ad_empty(symbols, dialect);

    for (size_t i = 0; i < count; i++) {
        struct tree *written = writers[i].write(writers[i].user, ad, err);

        tree_unref(ad);
        if (!written) {
            err_context(err, "%s", writers[i].name);
            return NULL;
        }
        ad = written;
    }
    return ad;
}
