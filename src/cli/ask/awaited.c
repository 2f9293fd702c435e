/* awaited.c: gives a command to an agent or a job, and waits for its answer. */
#include "cli/ask/awaited.h"

#include "cli/term/command.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define AWAITED_ONCE 20 /* seconds that one request waits */

int option_wait(const char *text, void *target, struct err *err)
{
    if (!strcmp(text, "0")) {
        *(int64_t *)target = 0;
        return 0;
    }
    return option_span(text, target, err);
}

static int64_t seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

uint64_t awaited_number(const struct tree *command)
{
    int64_t number;

    return ad_integer(command, "Number", &number) && number > 0 ? (uint64_t)number : 0;
}

static bool is_waiting(const struct tree *command)
{
    const char *state;
    size_t len;

    return ad_string(command, "State", &state, &len) && len == 7 && !memcmp(state, "waiting", 7);
}

const char *awaited_fate(const struct tree *command)
{
    return is_waiting(command) ? "waits for it" : "has expired";
}

int awaited_follow(struct connection *pool, int64_t wait, struct tree **command)
{
    int64_t end = seconds_now() + wait, left;
    int status = STATUS_DONE;
    struct tree *later;
    char again[64];

    while (status == STATUS_DONE && is_waiting(*command) && (left = end - seconds_now()) > 0) {
        snprintf(again, sizeof again, "/v1/commands/%" PRIu64 "?wait=%d", awaited_number(*command),
                 (int)(left < AWAITED_ONCE ? left : AWAITED_ONCE));
        status = connection_fetch_ad(pool, &(struct connection_ask){.path = again}, &later);
        if (status == STATUS_DONE) {
            tree_unref(*command);
            *command = later;
        }
    }
    if (status != STATUS_DONE)
        report("command %" PRIu64 " was taken all the same, and is kept", awaited_number(*command));
    return status;
}

int awaited_give(struct connection *pool, const char *path, const struct tree *body, int64_t wait, struct tree **ret)
{
    struct tree *command = NULL;
    int status = connection_fetch_ad(
        pool, &(struct connection_ask){.method = "POST", .path = path, .body = body, .may_conflict = true}, &command);

    if (status == STATUS_DONE)
        status = awaited_follow(pool, wait, &command);
    if (status == STATUS_DONE)
        *ret = command;
    else
        tree_unref(command);
    return status;
}

struct tree *awaited_answer(const struct tree *command)
{
    const struct expr *part = ad_find(command, "Answer");

    return part && part->kind == EXPR_AD ? ad_part(command, part) : NULL;
}

bool awaited_is_good(const struct tree *answer, const char *about)
{
    const char *text_of;
    struct buf text;
    size_t len;

    if (ad_string(answer, "Reason", &text_of, &len) && len == 2 && !memcmp(text_of, "ok", 2))
        return true;
    buf_init(&text);
    if (ad_string(answer, "Words", &text_of, &len) || ad_string(answer, "Reason", &text_of, &len))
        buf_add(&text, text_of, len);
    text_tame(&text, 0);
    report("%s: %s", about, buf_string(&text));
    buf_done(&text);
    return false;
}
