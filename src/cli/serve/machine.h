/* machine.h: this machine, as a provider daemon asks for it: its state, its owner's policy, and what runs jobs on it. */
#ifndef BERTH_CLI_SERVE_MACHINE_H
#define BERTH_CLI_SERVE_MACHINE_H

#include "exec/folders.h"
#include "exec/probe.h"
#include "live/config/config.h"
#include "live/providerd/providerd.h"
#include "pool/protocol/executor.h"

#include <limits.h>

#define MACHINE_PROBES_MAX 64

#define MACHINE_GROUP_MAX 100 /* bytes of a group's name */

/* How one of the owner's folders was found when the machine was last looked at. */
struct machine_place {
    char real[PATH_MAX];    /* where the folder lies */
    char why[ERR_TEXT_MAX]; /* why it is not shown; "": it is */
};

struct machine {
    int64_t disk;       /* bytes set aside for jobs, as the settings say; 0: to be found out */
    const char *policy; /* a file; "" for none */
    char state[PATH_MAX], scratch[PATH_MAX];
    struct prober *prober;
    struct gpus *gpus; /* as they can be given; NULL: no executor was asked for */
    const char *probes[MACHINE_PROBES_MAX + 1];
    char own[PATH_MAX]; /* the folder of all that is ours: no job looks into it */
    struct machine_folders {
        struct folders visible;                    /* that the owner shows to jobs */
        struct folders images;                     /* that images of jobs may lie in */
        struct folders sources;                    /* places in registries that images may come from, and no paths */
        struct machine_place *each;                /* how each of them was found when the machine was last looked at */
        struct executor_folder shown[FOLDERS_MAX]; /* those that are there */
        uint32_t count;
    } folders;
    struct machine_owners {
        bool asked; /* the owner's policy says that jobs may run as the users who sent them ... */
        bool hold;  /* ... and here they can */
        char group[MACHINE_GROUP_MAX + 1]; /* those who are in this one */
        struct folders writable;           /* where they may write */
        struct machine_place *each;
        struct executor_folder shown[FOLDERS_MAX];
        uint32_t count;
    } owners;
    bool unprotected;
    int network;                               /* enum local_network, as the settings say */
    const char *job_network, *process_network; /* as local_networks has them; NULL: no executor was asked for */
};

/* Fills in what the settings say; the machine borrows their texts. Its own files lie in STATE/FOLDER. */
void machine_init(struct machine *machine, const struct config *config, const char *folder);

/* These functions are for struct providerd_settings; their user is a machine. */
struct uv_loop_s;
struct executor *machine_executor(void *user, struct uv_loop_s *loop, executor_told_fn *told, void *told_user,
                                  struct err *err);
struct tree *machine_offer(void *user, struct symbols *symbols, uint32_t place, struct err *err);
struct tree *machine_probe(void *user, struct symbols *symbols, double own_load);
void machine_shown(void *user, const struct executor_folder **ret, uint32_t *ret_count);
const char *const *machine_sources(void *user, size_t *ret_count);
int machine_image(void *user, const char *path, char ret[], size_t size, struct err *err);
bool machine_owners(void *user, struct providerd_owners *ret);
void machine_down(void *user);

/* ---- machine_folders.c ---- */
/* Reads which folders the owner's policy shows to jobs, and gives the policy without that. NULL and what is wrong with it. */
struct tree *machine_folders_read(struct machine *machine, struct tree *policy_take, struct err *err);
/* Looks for them, and gives the machine's ad with those that are there. */
struct tree *machine_folders_look(struct machine *machine, struct tree *ad_take);
void machine_folders_done(struct machine *machine);
/* Takes the attribute out of an ad; and lays a list over one, or takes it away when it is empty. */
struct tree *policy_without(struct tree *policy_take, const char *attribute);
struct tree *list_lay(struct tree *ad_take, const char *name, const char *const *paths, size_t count);

/* ---- machine_owners.c ---- */
/* Reads whose jobs may run as themselves, and gives the policy without that. NULL and what is wrong with it. */
struct tree *machine_owners_read(struct machine *machine, struct tree *policy_take, struct err *err);
/* Can they, with that executor? It says so where it tells how jobs are held. */
void machine_owners_settle(struct machine *machine, struct executor *executor);
/* Gives the machine's ad with what such jobs are offered. */
struct tree *machine_owners_look(struct machine *machine, struct tree *ad_take);
void machine_owners_done(struct machine *machine);

#endif
