/* explain.c: what a pool says about why an ad matches, or why nothing does. */
#include "cli/ask/explain.h"

#include "cli/ask/jobs.h"
#include "cli/term/command.h"
#include "cli/term/rows.h"
#include "cli/term/terminal.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/cut.h"
#include "lang/base/json.h"
#include "live/customerd/job_outcome.h"
#include "live/http/represent.h"
#include "pool/protocol/wait_reason.h"

#include <inttypes.h>
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

/* ------------------------------------------------------------------------------------------------ what the customer knows */

/* Why a job waits that only its customer knows: no machine is asked for it now, or those that were found did not come about. */
struct known {
    enum wait_reason reason;
    struct buf words; /* that follow its name; no full stop */
    struct buf data;  /* as fields of a JSON object */
};

/* Adds a text attribute without control characters. */
static bool text_add(struct buf *out, const struct tree *ad, const char *name)
{
    const char *text;
    size_t len;

    if (!ad_string(ad, name, &text, &len))
        return false;
    for (size_t i = 0; i < len; i++)
        buf_addc(out, (unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i]);
    return true;
}

/* A text attribute as a field of a JSON object. */
static void text_add_json(struct buf *out, const struct tree *ad, const char *name, const char *field)
{
    struct buf text;

    buf_init(&text);
    if (text_add(&text, ad, name)) {
        buf_addf(out, "%s\"%s\": ", out->len ? ", " : "", field);
        json_quote(out, text.text, text.len);
    }
    buf_done(&text);
}

/* "4 claims in turn came to nothing; the last, at heron: refused by the constraint" */
static void rejected_say(struct known *known, const struct tree *job, int64_t times)
{
    buf_addf(&known->data, "\"times\": %" PRId64, times);
    text_add_json(&known->data, job, "RejectedBy", "machine");
    text_add_json(&known->data, job, "RejectedFor", "why");
    if (text_add(&known->words, job, "Reason"))
        return;
    if (times == 1)
        buf_adds(&known->words, "1 claim came to nothing");
    else
        buf_addf(&known->words, "%" PRId64 " claims in turn came to nothing; the last", times);
    if (ad_find(job, "RejectedBy")) {
        buf_adds(&known->words, ", at ");
        text_add(&known->words, job, "RejectedBy");
    }
    buf_adds(&known->words, ": ");
    text_add(&known->words, job, "RejectedFor");
}

/* False: the customer knows nothing that keeps the job from machines. */
static bool known_find(const struct tree *job, struct known *ret)
{
    int64_t times = 0, in;
    size_t from;

    buf_init(&ret->words);
    buf_init(&ret->data);
    if (job_text_is(job, "State", "Blocked")) {
        ret->reason = WAIT_BLOCKED;
        text_add(&ret->words, job, "Reason");
        return ret->words.len > 0;
    }
    if (!job_text_is(job, "State", "Waiting"))
        return false;
    if (job_waits_say(&ret->words, job, (int64_t)time(NULL))) {
        ret->reason = WAIT_EARLY;
        if (ad_integer(job, "WaitsUntil", &in))
            buf_addf(&ret->data, "\"until\": %" PRId64, in);
        buf_adds(&ret->words, ", and no machine is asked for before");
        return true;
    }
    if (ad_integer(job, "Rejected", &times) && times > 0) {
        bool early = ad_integer(job, "OfferedIn", &in);

        ret->reason = early ? WAIT_EARLY : WAIT_REJECTED;
        if (early) {
            buf_addf(&ret->data, "\"in\": %" PRId64 ", ", in);
            buf_addf(&ret->words, "is offered again in %" PRId64 " s: ", in);
        }
        rejected_say(ret, job, times);
        return true;
    }
    ret->reason = WAIT_REFUSED;
    from = ret->words.len;
    return text_add(&ret->words, job, "Reason") && strncmp(buf_string(&ret->words) + from, "waits ", 6) != 0;
}

static void known_done(struct known *known)
{
    buf_done(&known->words);
    buf_done(&known->data);
}

static void reason_json(struct buf *out, enum wait_reason reason, const struct buf *words, const struct buf *data)
{
    buf_addf(out, "{\"code\": \"%s\", \"text\": ", wait_word(reason));
    json_quote(out, words->text, words->len);
    buf_adds(out, ", \"machines\": 0, \"data\": {");
    if (data)
        buf_add(out, data->text, data->len);
    buf_adds(out, "}, \"do\": ");
    json_quote(out, wait_can(reason), strlen(wait_can(reason)));
    buf_addc(out, '}');
}

/* Puts what the customer knows in front of the reasons that the pool gives. Within texts quotes are escaped, so that its fields are found. */
static void known_add_json(const struct known *known, struct buf *json)
{
    static const char field[] = "\"first\": \"", list[] = "\", \"reasons\": [";
    const char *first = strstr(buf_string(json), field), *reasons = first ? strstr(first, list) : NULL;
    struct buf out;

    if (!reasons)
        return; /* a pool of an earlier version says less */
    buf_init(&out);
    buf_add(&out, json->text, (size_t)(first - json->text));
    buf_addf(&out, "%s%s%s", field, wait_word(known->reason), list);
    reason_json(&out, known->reason, &known->words, &known->data);
    reasons += strlen(list);
    buf_adds(&out, *reasons == ']' ? "" : ", ");
    buf_adds(&out, reasons);
    buf_done(json);
    *json = out;
}

/* In words, a line: what stands in front of what the pool says. False: nothing does. */
static bool known_print(const struct known *known, const char *name, struct buf *out)
{
    if (known->reason == WAIT_EARLY)
        buf_addf(out, "%s %.*s.\n", name, (int)known->words.len, known->words.text);
    else if (known->reason == WAIT_REJECTED)
        buf_addf(out, "%s was not claimed by those that were found for it: %.*s.\n", name, (int)known->words.len,
                 known->words.text);
    return known->reason == WAIT_EARLY || known->reason == WAIT_REJECTED;
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
    text_add(&text, ad, "Reason");
    if (json) {
        buf_adds(out, "{\"refused\": ");
        json_quote(out, text.text, text.len);
        buf_adds(out, ", ");
    } else if (!ad_find(ad, "Rejected")) {
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
    struct known known;
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
    if (known_find(ad, &known) && status == STATUS_DONE) {
        if (json)
            known_add_json(&known, &words);
        else if (known_print(&known, name, out))
            buf_addc(out, '\n');
    }
    known_done(&known);
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
    len = cut_len(text, len, room - 1);
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

/* What a job does that does not wait for a machine: it runs, is being claimed, is over, or is held. False: it waits. */
static bool state_say(struct buf *out, const struct tree *job, enum wait_reason *ret)
{
    static const char *const running[] = {"Running", "Ready", "Scheduled", "Starting", "Finishing"};
    enum job_outcome outcome;
    int64_t started, claims, alike;

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
        *ret = job_text_is(job, "State", "Ready") ? WAIT_CLAIMING : WAIT_RUNS;
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
    if (job_text_is(job, "State", "Waiting") && ad_integer(job, "Claiming", &claims) &&
        ad_integer(job, "Alike", &alike) && claims >= alike) {
        *ret = WAIT_CLAIMING;
        buf_adds(out, "is being claimed: a machine was found for it, and has not agreed yet");
        return true;
    }
    return false;
}

/* Explains a job that does not wait; false: it waits. Of one that is being claimed it also says what came of claims before, since soon after one has come to
 * nothing there is the next. */
static bool state_explain(struct buf *out, const struct tree *job, const char *name, bool json, bool *ret_matches)
{
    enum wait_reason reason = WAIT_RUNS;
    struct known known;
    struct buf words;
    bool told, before;

    buf_init(&words);
    told = state_say(&words, job, &reason);
    before = known_find(job, &known) && told && reason == WAIT_CLAIMING && known.reason == WAIT_REJECTED;
    text_tame(&words, 0);
    if (told && json) {
        buf_addf(out, "{\"version\": 1, \"request\": \"%s\", \"verdict\": \"%s\", \"first\": \"%s\", \"reasons\": [",
                 name, reason == WAIT_RUNS || reason == WAIT_CLAIMING ? "matches" : "not-now", wait_word(reason));
        reason_json(out, reason, &words, NULL);
        if (before) {
            buf_adds(out, ", ");
            reason_json(out, known.reason, &known.words, &known.data);
        }
        buf_adds(out, "]}\n");
    } else if (told) {
        buf_addf(out, "%s %s.\n", name, buf_string(&words));
        if (before)
            known_print(&known, name, out);
    }
    *ret_matches = told && reason != WAIT_HELD;
    known_done(&known);
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
