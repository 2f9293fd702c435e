/* machine_folders.c: which folders of this machine jobs see, and where their images may come from: as the owner's policy says, and as they are there. */
#include "cli/serve/machine.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "pool/protocol/image_ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE "Visible"
#define IMAGES "ImageFolders"
#define SOURCES "ImageSources"

struct tree *policy_without(struct tree *policy_take, const char *attribute)
{
    struct tree *rest = ad_find(policy_take, attribute) ? ad_without(policy_take, attribute) : NULL;

    if (!rest)
        return policy_take;
    tree_unref(policy_take);
    return rest;
}

/* Reads the places in registries that images may be fetched from. */
static int sources_read(const struct tree *policy, struct folders *ret, struct err *err)
{
    const struct expr *list = ad_find(policy, SOURCES), *parts;

    *ret = (struct folders){0};
    if (!list)
        return 0;
    if (list->kind != EXPR_LIST || list->u.run.count > FOLDERS_MAX)
        return err_set(err, SOURCES ": expected a list of up to %d places in registries, { \"docker://HOST/\", ... }",
                       FOLDERS_MAX);
    parts = tree_parts(policy, list);
    ret->paths = mem_alloc((list->u.run.count + 1) * sizeof *ret->paths);
    for (uint32_t i = 0; i < list->u.run.count; i++) {
        size_t len = parts[i].kind == EXPR_STRING ? parts[i].u.run.count : 0;
        struct image_ref source;

        if (image_source_read(len ? tree_string(policy, &parts[i]) : "", len, &source, err) < 0)
            return err_context(err, SOURCES);
        ret->paths[ret->count++] = mem_dup(source.place, strlen(source.place));
    }
    return 0;
}

struct tree *machine_folders_read(struct machine *machine, struct tree *policy_take, struct err *err)
{
    struct machine_folders *folders = &machine->folders;
    struct err why = {0};

    machine_folders_done(machine);
    if (folders_read(policy_take, VISIBLE, false, &folders->visible, &why) < 0 ||
        folders_read(policy_take, IMAGES, false, &folders->images, &why) < 0 ||
        sources_read(policy_take, &folders->sources, &why) < 0) {
        err_set(err, "%s: %s", machine->policy, why.text);
        tree_unref(policy_take);
        return NULL;
    }
    folders->each = mem_alloc((folders->visible.count + 1) * sizeof *folders->each);
    memset(folders->each, 0, (folders->visible.count + 1) * sizeof *folders->each);
    return policy_without(policy_without(policy_without(policy_take, VISIBLE), IMAGES), SOURCES);
}

struct tree *list_lay(struct tree *ad_take, const char *name, const char *const *paths, size_t count)
{
    struct maker maker;
    struct tree *both;

    if (!count)
        return policy_without(ad_take, name);
    maker_init(&maker, ad_take->symbols);
    maker_parts(&maker, ad_take, name);
    maker_texts(&maker, name, paths, count);
    both = maker_seal(&maker);
    tree_unref(ad_take);
    return both;
}

struct tree *machine_folders_look(struct machine *machine, struct tree *ad_take)
{
    struct machine_folders *folders = &machine->folders;
    const char *paths[FOLDERS_MAX];

    folders->count = 0;
    for (size_t i = 0; i < folders->visible.count; i++) {
        struct machine_place *place = &folders->each[i];
        const char *path = folders->visible.paths[i];
        struct err why = {0};

        if (folder_find(path, false, machine->own, place->real, sizeof place->real, &why) == 0) {
            paths[folders->count] = path;
            folders->shown[folders->count++] = (struct executor_folder){.path = path, .real = place->real};
        } else if (strcmp(place->why, why.text) != 0) {
            report(VISIBLE ": %s", why.text);
        }
        snprintf(place->why, sizeof place->why, "%s", why.text);
    }
    return list_lay(list_lay(ad_take, VISIBLE, paths, folders->count), IMAGES,
                    (const char *const *)folders->images.paths, folders->images.count);
}

/* A path that a job names: links in it must not lead out of what the owner has listed. */
int machine_image(void *user, const char *path, char ret[], size_t size, struct err *err)
{
    const struct machine *machine = user;
    char top[PATH_MAX];

    for (size_t i = 0; i < machine->folders.images.count; i++) {
        const char *listed = machine->folders.images.paths[i];

        if (!folder_holds(listed, path))
            continue;
        if (folder_find(listed, false, machine->own, top, sizeof top, err) < 0 ||
            folder_find(path, false, machine->own, ret, size, err) < 0)
            return -1;
        return folder_holds(top, ret) ? 0 : err_set(err, "'%.100s' leads out of '%.100s'", path, listed);
    }
    return err_set(err, "'%.100s' is in none of the folders that its owner lets images lie in", path);
}

const char *const *machine_sources(void *user, size_t *ret_count)
{
    const struct machine *machine = user;

    *ret_count = machine->folders.sources.count;
    return (const char *const *)machine->folders.sources.paths;
}

void machine_shown(void *user, const struct executor_folder **ret, uint32_t *ret_count)
{
    const struct machine *machine = user;

    *ret = machine->folders.shown;
    *ret_count = machine->folders.count;
}

void machine_folders_done(struct machine *machine)
{
    folders_done(&machine->folders.visible);
    folders_done(&machine->folders.images);
    folders_done(&machine->folders.sources);
    free(machine->folders.each);
    machine->folders.each = NULL;
    machine->folders.count = 0;
}
