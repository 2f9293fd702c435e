/* job_policy.c: what a job itself says shall become of it while it waits, runs or is held. */
#include "live/customerd/job_policy.h"

#include "live/customerd/customerd_parts.h"

#include "lang/ad/eval.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "lang/text/print.h"
#include "live/customerd/job_outcome.h"
#include "live/customerd/newcomers.h"
#include "pool/protocol/writers.h"
#include "sys/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON SECOND     /* when a job is looked at again that is to leave its machine */
#define STEPS_MAX 10000 /* of one expression */
#define BYTES_MAX (1 << 20)

enum { STATUS_IDLE = 1, STATUS_RUNNING = 2, STATUS_HELD = 5 }; /* JobStatus */

/* A job that says something, and when it is looked at next. */
struct due {
    uint64_t job;
    int64_t at;
};

/* The jobs of one user, in the order in which they are due. A ring. */
struct row {
    struct due *items;
    uint32_t first, count, room; /* room: 0 or a power of two */
};

struct job_policies {
    struct customerd *customerd;
    struct textmap owners; /* -> rows */
    struct row *rows;
    uint32_t room;
    uint32_t turn; /* whose turn it is */
};

/* ------------------------------------------------------------------------------------------------------------- the rows */

static void row_add(struct row *row, uint64_t job, int64_t at)
{
    if (row->count == row->room) {
        struct row larger = {.room = row->room ? row->room * 2 : 16, .count = row->count};

        larger.items = mem_alloc(larger.room * sizeof *larger.items);
        for (uint32_t i = 0; i < row->count; i++)
            larger.items[i] = row->items[(row->first + i) & (row->room - 1)];
        free(row->items);
        *row = larger;
    }
    row->items[(row->first + row->count++) & (row->room - 1)] = (struct due){job, at};
}

bool job_policy_is_said(const struct tree *ad)
{
    return ad_find(ad, "PeriodicHold") || ad_find(ad, "PeriodicRelease") || ad_find(ad, "PeriodicRemove") ||
           ad_find(ad, "PeriodicVacate");
}

static void job_add(struct job_policies *policies, const struct job_view *view, int64_t at)
{
    uint32_t known = policies->owners.places, place = textmap_add(&policies->owners, view->owner, strlen(view->owner));

    if (place == known) {
        ARRAY_ROOM(policies->rows, place, policies->room, 8);
        policies->rows[place] = (struct row){.count = 0};
    }
    row_add(&policies->rows[place], view->id, at);
}

void job_policies_note(struct job_policies *policies, const struct job_view *view)
{
    if (!view_ended(view) && job_policy_is_said(view->ad))
        job_add(policies, view, runner_now() + config_span(&policies->customerd->daemon.config, CONFIG_POLICY_PERIOD));
}

void job_policies_edited(struct job_policies *policies, const struct job_view *view, const struct tree *ad)
{
    if (!newcomers_has(&policies->customerd->newcomers, view->id) && !job_policy_is_said(view->ad) &&
        job_policy_is_said(ad))
        job_add(policies, view, runner_now() + config_span(&policies->customerd->daemon.config, CONFIG_POLICY_PERIOD));
}

/* --------------------------------------------------------------------------------------------------------- what is known */

struct knowing {
    struct symbols *symbols;
    struct ad_setting settings[32];
    size_t count;
};

static void know(struct knowing *knowing, const char *name, struct value value)
{
    knowing->settings[knowing->count++] =
        (struct ad_setting){symbols_take(knowing->symbols, name, strlen(name)), value};
}

static void know_number(struct knowing *knowing, const char *name, int64_t number)
{
    know(knowing, name, value_integer(number));
}

/* So many units of 1 << `shift` bytes, begun ones counted. What a row of an earlier version has may be as large as a number can be. */
static int64_t units(int64_t bytes, int shift)
{
    return (bytes >> shift) + ((bytes & ((INT64_C(1) << shift) - 1)) != 0);
}

/* What is known of how the last try ended. */
static void know_exit(struct knowing *knowing, const struct job_view *view)
{
    if (view->reason != REASON_EXITED && view->reason != REASON_UNMADE)
        return;
    know(knowing, "ExitBySignal", value_boolean(view->status < 0));
    know_number(knowing, view->status < 0 ? "ExitSignal" : "ExitCode",
                view->status < 0 ? status_signal(view->status) : view->status);
}

/* The job's ad with what is known of it, by HTCondor's names and in its units. The caller unrefs it; NULL: there is more than an ad can hold. */
static struct tree *known_ad(const struct customerd *customerd, const struct job_view *view, int64_t now)
{
    const struct job_attempts *tries = attempts_of(customerd->tries, view->id);
    const struct job_attempt *last = tries && tries->count ? &tries->tries[tries->count - 1] : NULL;
    bool runs = job_standing(view, last) == STANDING_RUNNING, held = view->state == JOB_HELD;
    int64_t began = runs && last ? last->started : 0, starts = tries ? (int64_t)tries->made : 0, memory;
    struct knowing all = {.symbols = view->ad->symbols};
    struct tree *ad;

    memory = last ? last->memory : 0;
    know_number(&all, "JobStatus", runs ? STATUS_RUNNING : held ? STATUS_HELD : STATUS_IDLE);
    know_number(&all, "EnteredCurrentStatus", began > view->changed ? began : view->changed);
    know_number(&all, "CurrentTime", now);
    know_number(&all, "ServerTime", now);
    know_number(&all, "QDate", view->submitted);
    know_number(&all, "JobId", (int64_t)view->id);
    know_number(&all, "JobIndex", (int64_t)view->index);
    know_number(&all, "JobTry", (int64_t)view->begun);
    know_number(&all, "NumJobStarts", starts);
    know_number(&all, "NumShadowStarts", starts);
    know_number(&all, "JobRunCount", starts);
    know_number(&all, "NumJobCompletions", (int64_t)view->tries);
    if (last && last->started) {
        know_number(&all, "JobStartDate", last->started);
        know_number(&all, "JobCurrentStartDate", last->started);
        know_number(&all, "JobCurrentStartExecutingDate", last->started);
    }
    know(&all, "RemoteWallClockTime", value_real(runs && now > began ? (double)(now - began) : last ? last->wall : 0));
    know(&all, "RemoteUserCpu", value_real(last ? last->cpu : 0));
    know_number(&all, "MemoryUsage", units(memory, 20));
    know_number(&all, "ResidentSetSize", units(memory, 10));
    know_number(&all, "ImageSizeUsed", units(memory, 10));
    know_number(&all, "DiskUsage", last ? units(last->disk, 10) : 0);
    know_number(&all, "CumulativeSuspensionTime", 0);
    if (held) {
        know_number(&all, "HoldReasonCode", job_hold_code(view, tries));
        know_number(&all, "HoldReasonSubCode", job_hold_sub(view, tries));
    }
    know_exit(&all, view);
    ad = ad_set((struct tree *)(uintptr_t)view->ad, all.settings, all.count, NULL);
    for (size_t i = 0; i < all.count; i++)
        symbols_drop(view->ad->symbols, all.settings[i].name);
    return ad;
}

/* --------------------------------------------------------------------------------------------------------- what is said */

struct asking_ad {
    const struct tree *ad;
    int64_t now;
};

/* The value of an attribute; a text is appended. Returns its sort; UNDEFINED: there is none. */
static enum value_type said(const struct asking_ad *asking, const char *attribute, double *ret_number,
                            struct buf *ret_text)
{
    const struct env env = {.now = asking->now, .steps = STEPS_MAX, .bytes = BYTES_MAX};
    symbol name = symbols_find(asking->ad->symbols, attribute, strlen(attribute));
    struct value value = {0};
    struct scope scope;
    struct arena arena;
    struct eval eval;
    enum value_type type = VALUE_UNDEFINED;

    arena_init(&arena);
    scope_init(&scope, asking->ad, NULL);
    eval_init(&eval, &env, &arena);
    if (name && eval_attribute(&eval, &scope, name, &value)) {
        type = value.type;
        *ret_number = type == VALUE_BOOLEAN   ? value.boolean
                      : type == VALUE_INTEGER ? (double)value.u.integer
                      : type == VALUE_REAL    ? value.u.real
                                              : 0;
        if (type == VALUE_STRING && ret_text)
            buf_add(ret_text, value.u.string, value.len);
    }
    arena_done(&arena);
    return type;
}

static bool is_true(const struct asking_ad *asking, const char *attribute)
{
    double number = 0;

    said(asking, attribute, &number, NULL);
    return number != 0;
}

/* Notes why the job is to be held or removed: in its own words, or in ours. */
static void why_note(struct customerd *customerd, uint64_t job, const struct asking_ad *asking, const char *attribute,
                     const char *reason, const char *sub, int64_t code)
{
    struct job_attempts *tries = attempts_make(customerd->tries, job);
    const struct expr *e = ad_find(asking->ad, attribute);
    double number = 0;
    struct buf words;
    struct err err;

    buf_init(&words);
    if (!reason || said(asking, reason, &number, &words) != VALUE_STRING || !words.len) {
        buf_reset(&words);
        buf_addf(&words, "its %s is true: ", attribute);
        if (e)
            print_expr(&words, asking->ad, e, PRINT_PLAIN);
    }
    attempts_text(&tries->why, words.text, words.len);
    number = 0;
    tries->hold_code = code;
    tries->hold_sub = sub && said(asking, sub, &number, NULL) == VALUE_INTEGER ? (int64_t)number : 0;
    attempts_store(customerd->tries, job, &err);
    buf_done(&words);
}

void job_policy_held(struct customerd *customerd, const struct job_view *view)
{
    int64_t now = runner_wall() / SECOND;
    struct asking_ad asking = {NULL, now};
    struct tree *ad;

    if (!ad_find(view->ad, "OnExitHoldReason") && !ad_find(view->ad, "OnExitHoldSubCode"))
        return;
    ad = known_ad(customerd, view, now);
    asking.ad = ad;
    if (ad)
        why_note(customerd, view->id, &asking, "OnExitHold", "OnExitHoldReason", "OnExitHoldSubCode", HOLD_BY_POLICY);
    tree_unref(ad);
}

/* ---------------------------------------------------------------------------------------------------------------- acting */

static void acted(void *user, const struct message *answer)
{
    (void)user;
    (void)answer;
}

static void job_act(struct customerd *customerd, const struct job_view *view, enum control_verb verb)
{
    struct peer peer = {.agent = customerd->role.self, .identity = customerd->daemon.identity, .any = true};
    struct message message = {.kind = MESSAGE_CONTROL};

    message.u.control = (struct control){.job = view->id, .verb = verb};
    agent_local(customerd->live, &peer, &message, acted, NULL);
    customerd_commit(customerd);
}

/* Does what the job says; the first that is true decides. True: something is left to be done soon. */
static bool job_look(struct customerd *customerd, const struct job_view *view)
{
    const struct job_attempts *tries = attempts_of(customerd->tries, view->id);
    int64_t now = runner_wall() / SECOND;
    struct tree *ad;
    struct asking_ad asking = {NULL, now};
    bool soon = false;

    if (view->state == JOB_HELD && job_hold_code(view, tries) == HOLD_TO_VACATE) {
        job_act(customerd, view, CONTROL_RELEASE);
        return true; /* it may not have left yet */
    }
    asking.ad = ad = known_ad(customerd, view, now);
    if (!ad)
        return false;
    if (view->state != JOB_HELD && is_true(&asking, "PeriodicHold")) {
        why_note(customerd, view->id, &asking, "PeriodicHold", "PeriodicHoldReason", "PeriodicHoldSubCode",
                 HOLD_BY_POLICY);
        job_act(customerd, view, CONTROL_HOLD);
    } else if (view->state == JOB_HELD && is_true(&asking, "PeriodicRelease")) {
        job_act(customerd, view, CONTROL_RELEASE);
    } else if (is_true(&asking, "PeriodicRemove")) {
        why_note(customerd, view->id, &asking, "PeriodicRemove", NULL, NULL, 0);
        job_act(customerd, view, CONTROL_REMOVE);
    } else if (view->state == JOB_RUNNING && is_true(&asking, "PeriodicVacate")) {
        why_note(customerd, view->id, &asking, "PeriodicVacate", NULL, NULL, HOLD_TO_VACATE);
        job_act(customerd, view, CONTROL_HOLD);
        soon = true;
    }
    tree_unref(ad);
    return soon;
}

/* Looks at the first job of the row, if it is due. False: it is not. */
static bool row_look(struct job_policies *policies, struct row *row, int64_t now, int64_t span)
{
    struct customerd *customerd = policies->customerd;
    struct due due;
    struct job_view view;

    if (!row->count)
        return false;
    due = row->items[row->first & (row->room - 1)];
    if (due.at > now)
        return false;
    row->first = (row->first + 1) & (row->room - 1);
    row->count--;
    if (!customer_job(customerd->customer, due.job, &view) || view_ended(&view) || !job_policy_is_said(view.ad))
        return true; /* a job that is rescued is not looked at any more, nor one that was edited to say nothing */
    if (job_look(customerd, &view) && span > SOON)
        span = SOON;
    row_add(row, due.job, now + span);
    return true;
}

bool job_policies_tick(struct job_policies *policies, int64_t ends)
{
    struct customerd *customerd = policies->customerd;
    int64_t now = runner_now(), span = config_span(&customerd->daemon.config, CONFIG_POLICY_PERIOD);
    uint32_t idle = 0, owners = policies->owners.places;

    while (idle < owners && runner_now() < ends) {
        policies->turn = policies->turn + 1 < owners ? policies->turn + 1 : 0;
        idle = row_look(policies, &policies->rows[policies->turn], now, span) ? 0 : idle + 1;
    }
    return idle < owners;
}

struct job_policies *job_policies_new(struct customerd *customerd)
{
    struct job_policies *policies = mem_alloc(sizeof *policies);

    *policies = (struct job_policies){.customerd = customerd};
    textmap_init(&policies->owners, secrets_word(&secrets_live));
    return policies;
}

void job_policies_free(struct job_policies *policies)
{
    if (!policies)
        return;
    for (uint32_t i = 0; i < policies->owners.places; i++)
        free(policies->rows[i].items);
    free(policies->rows);
    textmap_done(&policies->owners);
    free(policies);
}
