/* providerd.h: a provider, live: it offers a machine, brings jobs their files, has them run, and brings back what they made.
 *
 *     the role (pool/provider/provider.h)  --launch-->  inputs fetched  -->  executor  -->  end  -->  told to the role at once;
 *                                                                                    `-> outputs, later, until the customer has them
 *
 * What the machine is, and how jobs are held, is the caller's: a probe and an executor. Without an executor nothing is run: what is
 * offered is just held by whoever claims it (a licence, an instrument). */
#ifndef BERTH_LIVE_PROVIDERD_PROVIDERD_H
#define BERTH_LIVE_PROVIDERD_PROVIDERD_H

#include "live/config/config.h"
#include "pool/protocol/executor.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */

/* How things stand, for one who says how long it shall go on. */
struct providerd_news {
    uint32_t claims;  /* that it has, or is about to have */
    uint32_t jobs;    /* at hand */
    uint64_t started; /* jobs, since it began */
    bool owes;        /* results or files are on their way to customers or stores */
    bool told;        /* a signal told it to end */
};

enum providerd_wish {
    PROVIDERD_STAYS,
    PROVIDERD_DRAINS, /* no more claims; jobs go on to their end */
    PROVIDERD_CLEARS, /* the same, and the machine is looked at anew: its ad may veto what runs */
    PROVIDERD_LEAVES, /* it ends, whatever there is */
};

#define PROVIDERD_NOTE_MAX 200

/* How jobs may run as the users who sent them; lent until the machine is probed again. */
struct providerd_owners {
    const char *group;                     /* the Unix group whose members may */
    const struct executor_folder *folders; /* that they may write in */
    uint32_t count;
};

struct providerd_settings {
    const char *version, *name; /* name: of the agent; NULL: the host's */
    const char *role;           /* whose folder it is: "provider" for most */
    const struct config_sources *sources;
    struct shelf *shelf;
    int log_fd;
    /* Asked once, in the loop. NULL: nothing is run. */
    struct executor *(*executor)(void *user, struct uv_loop_s *loop, executor_told_fn *told, void *told_user,
                                 struct err *err);
    /* The ads of what is offered, with the owner's policy in them: their number, and each of them (the caller unrefs it). */
    bool pull;  /* it asks for jobs, whatever the configuration says */
    bool pools; /* it belongs to the pools of the setting Pools, if there are any, and asks them for jobs */
    uint32_t offers;
    struct tree *(*offer)(void *user, struct symbols *symbols, uint32_t place, struct err *err);
    /* The machine's state now, which lies under the offer's ad; the caller unrefs it. `own_load`: what jobs make of the load. Or NULL. */
    struct tree *(*probe)(void *user, struct symbols *symbols, double own_load);
    /* The folders of the machine that every job sees, as they were when it was last probed: lent until it is probed again. Or NULL: none. */
    void (*shown)(void *user, const struct executor_folder **ret, uint32_t *ret_count);
    /* Where a folder lies that a job names as its image, if images may lie there. -1 and why not. Or NULL: nowhere. */
    int (*image)(void *user, const char *path, char ret[], size_t size, struct err *err);
    /* The places in registries (pool/protocol/image_ref.h) that its owner lets images come from. Or NULL: none. */
    const char *const *(*registries)(void *user, size_t *ret_count);
    /* May jobs run as the users who sent them, and how? Or NULL: they may not. */
    bool (*owners)(void *user, struct providerd_owners *ret);
    /* Asked a few times a second, in the loop: how long shall it go on? `note`: what its pool is told of it, as it was before. A signal that tells
     * it to end is then for this one to heed. Or NULL: until it is told to end. */
    enum providerd_wish (*tend)(void *user, const struct providerd_news *news, char note[PROVIDERD_NOTE_MAX + 1]);
    /* It is up. Or NULL. */
    void (*up)(void *user, const char *name, const char *matchmaker, const char *held);
    /* It ends: ads that the caller holds are to be given back now, the table of their symbols goes next. Or NULL. */
    void (*down)(void *user);
    void *user;
};

/* Runs a provider until it is told to end; the configuration is taken. 0; -1 and `err` when it could not start; 1 when it had to stop by itself. */
int providerd_run(const struct providerd_settings *settings, struct config *config, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
