/* machine_folders.c: which folders of this machine jobs see: as the owner's policy says, and as they are there. */
#include "cli/serve/machine.h"
#include "cli/term/report.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE "Visible"
#define WRITABLE "Writable"
#define IMAGES "ImageFolders"

struct machine_place {
    char real[PATH_MAX];    /* where the folder lies */
    char why[ERR_TEXT_MAX]; /* why it is not shown; "": it is */
};

/* Takes the attribute out of the policy. */
static struct tree *policy_without(struct tree *policy_take, const char *attribute)
{
    struct tree *rest = ad_find(policy_take, attribute) ? ad_without(policy_take, attribute) : NULL;

    if (!rest)
        return policy_take;
    tree_unref(policy_take);
    return rest;
}

struct tree *machine_folders_read(struct machine *machine, struct tree *policy_take, struct err *err)
{
    struct machine_folders *folders = &machine->folders;
    struct folders writable = {0};
    struct err why = {0};

    machine_folders_done(machine);
    if (folders_read(policy_take, VISIBLE, &folders->visible, &why) < 0 ||
        folders_read(policy_take, IMAGES, &folders->images, &why) < 0 ||
        folders_read(policy_take, WRITABLE, &writable, &why) < 0) {
        err_set(err, "%s: %s", machine->policy, why.text);
        tree_unref(policy_take);
        return NULL;
    }
    if (writable.count)
        report("%s: " WRITABLE " has no effect: no job runs here as the user who sent it", machine->policy);
    folders_done(&writable);
    folders->each = mem_alloc((folders->visible.count + 1) * sizeof *folders->each);
    memset(folders->each, 0, (folders->visible.count + 1) * sizeof *folders->each);
    return policy_without(policy_without(policy_without(policy_take, VISIBLE), WRITABLE), IMAGES);
}

/* Lays a list over the machine's ad; an empty one takes the attribute away. */
static struct tree *list_lay(struct tree *ad_take, const char *name, const char *const *paths, size_t count)
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

        if (folder_find(path, machine->own, place->real, sizeof place->real, &why) == 0) {
            paths[folders->count] = path;
            folders->shown[folders->count++] = (struct executor_folder){path, place->real};
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
        if (folder_find(listed, machine->own, top, sizeof top, err) < 0 ||
            folder_find(path, machine->own, ret, size, err) < 0)
            return -1;
        return folder_holds(top, ret) ? 0 : err_set(err, "'%.100s' leads out of '%.100s'", path, listed);
    }
    return err_set(err, "'%.100s' is in none of the folders that its owner lets images lie in", path);
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
    free(machine->folders.each);
    machine->folders.each = NULL;
    machine->folders.count = 0;
}
