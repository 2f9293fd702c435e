/* explain.c: what a pool says about why an ad matches, or why nothing does. */
#include "cli/ask/explain.h"

#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/rows.h"
#include "cli/term/terminal.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/json.h"
#include "live/customerd/job_outcome.h"
#include "live/http/represent.h"
#include "pool/protocol/wait_reason.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Does the explanation say that the ad matches? In words its first line says so: `heron: matches 2 of 3 requests.` */
static bool answer_matches(struct connection *pool, const struct fetched *fetched, bool json)
{
    const char *verdict, *end;
    struct tree *answer;
    size_t len;
    bool matches;

    if (!json) {
        verdict = strstr(fetched->body.text, ": matches ");
        end = strchr(fetched->body.text, '\n');
        return verdict && (!end || verdict < end) && verdict[10] >= '0' && verdict[10] <= '9';
    }
    answer = form_parse(pool->symbols, &dialect_condor, FORM_JSON, NULL, fetched->body.text, fetched->body.len, NULL);
    matches = answer && ad_string(answer, "verdict", &verdict, &len) && len == 7 && !memcmp(verdict, "matches", 7);
    tree_unref(answer);
    return matches;
}

int explain_fetch(struct connection *pool, const struct connection_ask *ask, bool json, struct buf *out,
                  bool *ret_matches)
{
    struct connection_ask asked = *ask;
    struct fetched fetched;
    int status;

    asked.accept = json ? TYPE_JSON : "text/plain";
    status = connection_fetch(pool, &asked, &fetched);
    if (status != STATUS_DONE)
        return status;
    controls_mask(fetched.body.text, fetched.body.len, '\n');
    *ret_matches = answer_matches(pool, &fetched, json);
    buf_add(out, fetched.body.text, fetched.body.len);
    fetched_done(&fetched);
    return STATUS_DONE;
}

struct tree *explain_body(struct connection *pool, const struct tree *ad)
{
    struct tree *copy, *body = NULL;
    struct maker maker;
    struct buf text;

    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, ad);
    copy = form_parse(pool->symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, NULL);
    buf_done(&text);
    if (copy) {
        maker_init(&maker, pool->symbols);
        maker_parts(&maker, copy, "Inputs");
        body = maker_seal(&maker);
    }
    tree_unref(copy);
    return body;
}

/* Is this a job that waits and has a reason? No matchmaker takes its request, whatever it would match. */
static bool is_refused(const struct tree *ad, const char **ret_reason, size_t *ret_len)
{
    const char *state;
    size_t len;

    return ad_string(ad, "State", &state, &len) && len == 7 && !memcmp(state, "Waiting", 7) &&
           ad_string(ad, "Reason", ret_reason, ret_len);
}

static bool refusal_print(struct buf *out, const struct tree *ad, const char *name, bool json)
{
    const char *reason;
    size_t reason_len;
    struct buf text;

    if (!is_refused(ad, &reason, &reason_len))
        return false;
    buf_init(&text);
    for (size_t i = 0; i < reason_len; i++)
        buf_addc(&text, (unsigned char)reason[i] < ' ' || reason[i] == 127 ? '?' : reason[i]);
    if (json) {
        buf_adds(out, "{\"refused\": ");
        json_quote(out, text.text, text.len);
        buf_adds(out, ", ");
    } else {
        buf_addf(out, !strncmp(buf_string(&text), "waits ", 6) ? "%s %s.\n\n" : "%s cannot be matched: %s.\n\n", name,
                 buf_string(&text));
    }
    buf_done(&text);
    return true;
}

/* Asks about a job's request. A job that waits is in the pool as a request, and the pool knows more of that: what holds it, what is taken. False: the
 * request is not there. */
static bool request_fetch(struct connection *pool, const struct tree *ad, bool json, struct buf *out, size_t *ret_skip,
                          bool *ret_matches)
{
    const char *id;
    struct buf path;
    size_t len;
    bool found;

    if (!ad_string(ad, "Request", &id, &len) || len != 16 || strspn(id, "0123456789abcdef") < 16)
        return false;
    buf_init(&path);
    buf_addf(&path, "/v1/ads/%.16s/why", id);
    found = explain_fetch(pool, &(struct connection_ask){.path = buf_string(&path), .may_miss = true, .hush = true},
                          json, out, ret_matches) == STATUS_DONE;
    buf_done(&path);
    *ret_skip = found && !json && out->len > len && !memcmp(out->text, id, len) ? len + 1 : 0;
    return found;
}

int explain_ad(struct connection *pool, const struct tree *ad, const char *name, bool json, struct buf *out,
               bool *ret_matches)
{
    static const char unnamed[] = "ad:"; /* what the pool calls an ad that it was sent, in words */
    struct connection_ask ask = {.method = "POST", .path = "/v1/match?why"};
    int status = STATUS_DONE;
    struct buf words;
    size_t skip = 0;

    buf_init(&words);
    if (!request_fetch(pool, ad, json, &words, &skip, ret_matches)) {
        struct tree *body = explain_body(pool, ad);

        ask.body = body;
        status = body ? explain_fetch(pool, &ask, json, &words, ret_matches) : STATUS_BAD;
        skip = status == STATUS_DONE && !json && words.len >= strlen(unnamed) &&
                       !memcmp(words.text, unnamed, strlen(unnamed))
                   ? strlen(unnamed)
                   : 0;
        tree_unref(body);
    }
    if (status == STATUS_DONE && refusal_print(out, ad, name, json)) {
        *ret_matches = false;
        skip = json ? words.len > 0 : skip; /* the opening brace is there already */
    }
    if (skip && !json)
        buf_addf(out, "%s:", name);
    buf_add(out, words.text + skip, words.len - skip);
    buf_done(&words);
    return status;
}

/* Copies a text attribute that is not too long. */
static void text_copy(const struct tree *ad, const char *name, char *out, size_t room)
{
    const char *text = "";
    size_t len = 0;

    ad_string(ad, name, &text, &len);
    len = len < room ? len : room - 1;
    memcpy(out, text, len);
    out[len] = '\0';
    controls_mask(out, len, 0);
}

int explain_first(struct connection *pool, const struct tree *ad, struct explained *ret)
{
    struct tree *body = explain_body(pool, ad), *answer, *first;
    struct connection_ask ask = {.method = "POST", .path = "/v1/match?why", .body = body};
    const struct expr *list;
    struct buf text;
    int status;

    *ret = (struct explained){.matches = false};
    buf_init(&text);
    status = body ? explain_fetch(pool, &ask, true, &text, &ret->matches) : STATUS_BAD;
    answer = status == STATUS_DONE
                 ? form_parse(pool->symbols, &dialect_condor, FORM_JSON, NULL, buf_string(&text), text.len, NULL)
                 : NULL; /* in this dialect fields may be called error and undefined */
    if (answer) {
        if (!ad_integer(answer, "machines", &ret->machines))
            ad_integer(answer, "offers", &ret->machines);
        text_copy(answer, "first", ret->first, sizeof ret->first);
        list = ad_find(answer, "reasons");
        if (list && list->kind == EXPR_LIST && list->u.run.count && tree_parts(answer, list)->kind == EXPR_AD) {
            first = ad_part(answer, tree_parts(answer, list));
            text_copy(first, "text", ret->text, sizeof ret->text);
            tree_unref(first);
        }
        if (!*ret->text) /* a pool of an earlier version says less */
            snprintf(ret->text, sizeof ret->text, "matches nothing as the pool stands now: it waits");
    }
    tree_unref(answer);
    tree_unref(body);
    buf_done(&text);
    return status;
}

/* What a job does that does not wait for a machine: it runs, is over, or is held. False: it waits. */
static bool state_say(struct buf *out, const struct tree *job, enum wait_reason *ret)
{
    static const char *const running[] = {"Running", "Ready", "Scheduled", "Starting", "Finishing"};
    enum job_outcome outcome;
    int64_t started;

    if (job_outcome(job, &outcome)) {
        *ret = WAIT_ENDED;
        buf_adds(out, "is over: ");
        job_outcome_print(out, outcome, job);
        return true;
    }
    if (job_text_is(job, "State", "Held")) {
        *ret = WAIT_HELD;
        buf_adds(out, "is held: ");
        cell_print(out, job, "Reason", CELL_VALUE, 0);
        return true;
    }
    for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
        if (!job_text_is(job, "State", running[i]))
            continue;
        *ret = WAIT_RUNS;
        buf_adds(out, i ? "is about to start on " : "runs on ");
        cell_print(out, job, "Provider", CELL_VALUE, 0);
        if (!i && ad_integer(job, "Started", &started)) {
            time_t at = (time_t)started;
            struct tm local;
            char text[40];

            if (localtime_r(&at, &local) &&
                strftime(text, sizeof text, time(NULL) - at < 20 * 3600 ? "%H:%M" : "%a %d %b %H:%M", &local))
                buf_addf(out, " since %s", text);
        }
        return true;
    }
    return false;
}

/* Explains a job that does not wait; false: it waits. */
static bool state_explain(struct buf *out, const struct tree *job, const char *name, bool json, bool *ret_matches)
{
    enum wait_reason reason;
    struct buf words;
    bool told;

    buf_init(&words);
    told = state_say(&words, job, &reason);
    text_tame(&words, 0);
    if (told && json) {
        buf_addf(
            out,
            "{\"version\": 1, \"request\": \"%s\", \"verdict\": \"%s\", \"first\": \"%s\", \"reasons\": [{\"code\": "
            "\"%s\", \"text\": ",
            name, reason == WAIT_RUNS ? "matches" : "not-now", wait_word(reason), wait_word(reason));
        json_quote(out, words.text, words.len);
        buf_adds(out, ", \"machines\": 0, \"data\": {}, \"do\": ");
        json_quote(out, wait_can(reason), strlen(wait_can(reason)));
        buf_adds(out, "}]}\n");
    } else if (told) {
        buf_addf(out, "%s %s.\n", name, buf_string(&words));
    }
    *ret_matches = told && reason != WAIT_HELD;
    buf_done(&words);
    return told;
}

int explain_job(struct connection *pool, const struct tree *job, const char *name, bool json, struct buf *out,
                bool *ret_matches)
{
    if (state_explain(out, job, name, json, ret_matches))
        return STATUS_DONE;
    return explain_ad(pool, job, name, json, out, ret_matches);
}
