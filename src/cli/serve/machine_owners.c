/* machine_owners.c: jobs that run as the users who sent them: whom the machine's owner lets, and where they may write. */
#include "cli/serve/machine.h"
#include "cli/term/report.h"
#include "exec/local.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_AS "RunAs"
#define GROUP "RunAsGroup"
#define WRITABLE "Writable"

/* Reads a text of the policy; "": it is not there. */
static int text_read(const struct tree *policy, const char *name, const char *wanted, char *ret, size_t size,
                     struct err *err)
{
    const struct expr *e = ad_find(policy, name);
    const char *text;
    size_t len;

    *ret = '\0';
    if (!e)
        return 0;
    if (!ad_string(policy, name, &text, &len) || !len || len >= size || memchr(text, '\0', len))
        return err_set(err, "%s: expected %s", name, wanted);
    snprintf(ret, size, "%.*s", (int)len, text);
    return 0;
}

/* Off, unless the owner says both that jobs run so and whose. */
static int owners_check(const struct machine_owners *owners, const char *run_as, struct err *err)
{
    bool asked = !strcmp(run_as, "owner");

    if (*run_as && !asked && strcmp(run_as, "claim") != 0)
        return err_set(err, RUN_AS ": expected \"claim\" or \"owner\"");
    if (asked && !*owners->group)
        return err_set(err,
                       RUN_AS " = \"owner\" needs " GROUP ", the Unix group whose members' jobs may run as themselves");
    if (!strcmp(owners->group, "*") || strpbrk(owners->group, " :,/\n"))
        return err_set(err, GROUP ": expected the name of one Unix group");
    return 0;
}

struct tree *machine_owners_read(struct machine *machine, struct tree *policy_take, struct err *err)
{
    struct machine_owners *owners = &machine->owners;
    struct err why = {0};
    char run_as[16];

    machine_owners_done(machine);
    if (text_read(policy_take, RUN_AS, "\"claim\" or \"owner\"", run_as, sizeof run_as, &why) < 0 ||
        text_read(policy_take, GROUP, "the name of one Unix group", owners->group, sizeof owners->group, &why) < 0 ||
        owners_check(owners, run_as, &why) < 0 ||
        folders_read(policy_take, WRITABLE, true, &owners->writable, &why) < 0) {
        err_set(err, "%s: %s", machine->policy, why.text);
        tree_unref(policy_take);
        return NULL;
    }
    owners->asked = !strcmp(run_as, "owner");
    if (!owners->asked && owners->writable.count)
        report("%s: " WRITABLE " has no effect: no job runs here as the user who sent it", machine->policy);
    owners->each = mem_alloc((owners->writable.count + 1) * sizeof *owners->each);
    memset(owners->each, 0, (owners->writable.count + 1) * sizeof *owners->each);
    return policy_without(policy_without(policy_without(policy_take, RUN_AS), GROUP), WRITABLE);
}

void machine_owners_settle(struct machine *machine, struct executor *executor)
{
    struct machine_owners *owners = &machine->owners;
    const char *why = "jobs are not run here";
    char words[400];

    owners->hold = owners->asked && executor->kind->takes_accounts && executor->kind->takes_accounts(executor, &why);
    if (!owners->asked)
        return;
    if (owners->hold)
        snprintf(words, sizeof words, "jobs of users in the group %.100s run as these users if they ask for it",
                 owners->group);
    else
        snprintf(words, sizeof words, RUN_AS " = \"owner\" does not hold: %.250s", why);
    local_describe_also(executor, words);
}

struct tree *machine_owners_look(struct machine *machine, struct tree *ad_take)
{
    struct machine_owners *owners = &machine->owners;
    const char *paths[FOLDERS_MAX];
    struct maker maker;
    struct tree *with;

    owners->count = 0;
    if (!owners->hold)
        return ad_take;
    for (size_t i = 0; i < owners->writable.count; i++) {
        struct machine_place *place = &owners->each[i];
        const char *path = owners->writable.paths[i];
        struct err why = {0};

        if (folder_find(path, true, machine->own, place->real, sizeof place->real, &why) == 0) {
            paths[owners->count] = path;
            owners->shown[owners->count++] =
                (struct executor_folder){.path = path, .real = place->real, .writable = true};
        } else if (strcmp(place->why, why.text) != 0) {
            report(WRITABLE ": %s", why.text);
        }
        snprintf(place->why, sizeof place->why, "%s", why.text);
    }
    ad_take = list_lay(policy_without(policy_without(ad_take, RUN_AS), GROUP), WRITABLE, paths, owners->count);
    maker_init(&maker, ad_take->symbols);
    maker_parts(&maker, ad_take, NULL);
    maker_text(&maker, RUN_AS, "owner");
    maker_text(&maker, GROUP, owners->group);
    with = maker_seal(&maker);
    tree_unref(ad_take);
    return with;
}

bool machine_owners(void *user, struct providerd_owners *ret)
{
    const struct machine *machine = user;

    if (!machine->owners.hold)
        return false;
    *ret = (struct providerd_owners){machine->owners.group, machine->owners.shown, machine->owners.count};
    return true;
}

void machine_owners_done(struct machine *machine)
{
    folders_done(&machine->owners.writable);
    free(machine->owners.each);
    machine->owners = (struct machine_owners){.hold = false};
}
