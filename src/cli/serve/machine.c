/* machine.c: this machine, as a provider daemon asks for it. */
#include "cli/serve/machine.h"

#include "cli/serve/daemons.h"
#include "cli/term/report.h"
#include "exec/gpus.h"
#include "exec/local.h"
#include "exec/policy.h"
#include "lang/ad/make.h"

#include <stdio.h>
#include <stdlib.h>

void machine_init(struct machine *machine, const struct config *config, const char *folder)
{
    const char *state = config_text(config, CONFIG_STATE);
    const char *const *probes;
    size_t count;

    *machine = (struct machine){.disk = (int64_t)config_size(config, CONFIG_JOB_DISK),
                                .policy = config_text(config, CONFIG_OWNER_POLICY),
                                .unprotected = config_flag(config, CONFIG_UNPROTECTED),
                                .network = config_word(config, CONFIG_JOB_NETWORK)};
    snprintf(machine->own, sizeof machine->own, "%.4000s", state);
    snprintf(machine->state, sizeof machine->state, "%.4000s/%s/claims", state, folder);
    snprintf(machine->scratch, sizeof machine->scratch, "%.4000s/%s/work", state, folder);
    probes = config_list(config, CONFIG_PROBES, &count);
    for (size_t i = 0; i < count && i < MACHINE_PROBES_MAX; i++)
        machine->probes[i] = probes[i];
}

struct executor *machine_executor(void *user, struct uv_loop_s *loop, executor_told_fn *told, void *told_user,
                                  struct err *err)
{
    struct machine *machine = user;
    struct local_settings settings = {.state = machine->state,
                                      .unprotected = machine->unprotected,
                                      .network = (enum local_network)machine->network, /* words in the same order */
                                      .told = told,
                                      .user = told_user};
    struct executor *executor = local_new(loop, &settings, err);

    if (!executor)
        return NULL;
    local_networks(executor, &machine->job_network, &machine->process_network);
    free(machine->gpus);
    machine->gpus = gpus_find("");
    gpus_settle(machine->gpus, "", local_is_sandboxed(executor));
    local_set_gpus(executor, machine->gpus);
    machine_owners_settle(machine, executor);
    return executor;
}

struct tree *machine_offer(void *user, struct symbols *symbols, uint32_t place, struct err *err)
{
    struct machine *machine = user;
    struct tree *defaults = policy_default(symbols), *own, *both;

    (void)place;
    if (!*machine->policy)
        return defaults;
    own = policy_read(symbols, machine->policy, err);
    own = own ? machine_folders_read(machine, own, err) : NULL;
    own = own ? machine_owners_read(machine, own, err) : NULL;
    both = own ? policy_over(own, defaults) : NULL;
    if (own && !both)
        err_set(err, "%s: more attributes than an ad can have", machine->policy);
    tree_unref(own);
    tree_unref(defaults);
    return both;
}

/* Adds which network jobs have. */
static struct tree *networks_look(const struct machine *machine, struct tree *ad_take)
{
    struct maker maker;
    struct tree *with;

    if (!machine->job_network)
        return ad_take;
    maker_init(&maker, ad_take->symbols);
    maker_parts(&maker, ad_take, NULL);
    maker_text(&maker, "JobNetwork", machine->job_network);
    maker_text(&maker, "ProcessesNetwork", machine->process_network);
    with = maker_seal(&maker);
    tree_unref(ad_take);
    return with;
}

/* Probes the machine. The prober is made with the first question, since the symbols are the daemon's. */
struct tree *machine_probe(void *user, struct symbols *symbols, double own_load)
{
    struct machine *machine = user;
    struct err err = {0};
    struct tree *ad;

    if (!machine->prober) {
        struct probe_settings settings = {.root = "",
                                          .scratch = machine->scratch,
                                          .disk = disk_set_aside(machine->disk, machine->scratch),
                                          .benchmark = benchmark_kept(machine->scratch, machine->state),
                                          .gpus = machine->gpus,
                                          .programs = machine->probes,
                                          .program_span = 10 * SECOND};

        machine->prober = prober_new(symbols, &settings, &err);
        if (!machine->prober) {
            report("%s", err.text);
            return NULL;
        }
        prober_start(machine->prober);
    }
    if (!prober_poll(machine->prober))
        prober_start(machine->prober);
    ad = prober_probe(machine->prober, own_load);
    return ad ? machine_owners_look(machine, machine_folders_look(machine, networks_look(machine, ad))) : NULL;
}

void machine_down(void *user)
{
    struct machine *machine = user;

    prober_free(machine->prober);
    machine->prober = NULL;
    machine_folders_done(machine);
    machine_owners_done(machine);
    free(machine->gpus);
    machine->gpus = NULL;
}
