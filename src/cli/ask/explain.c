/* explain.c: what a pool says about why an ad matches, or why nothing does. */
#include "cli/ask/explain.h"

#include "cli/term/command.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/json.h"
#include "live/http/represent.h"

#include <inttypes.h>
#include <string.h>

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
    for (size_t i = 0; i < fetched.body.len; i++) { /* whatever a service says, it does not control a terminal */
        unsigned char c = (unsigned char)fetched.body.text[i];

        if ((c < ' ' && c != '\n') || c == 127)
            fetched.body.text[i] = '?';
    }
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
        buf_addf(out, "%s cannot be matched: %s.\n\n", name, buf_string(&text));
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

static bool one_count(void *user, struct tree *ad)
{
    (void)ad;
    ++*(uint64_t *)user;
    return true;
}

int explain_unseen(struct connection *pool, uint64_t *ret_count)
{
    struct buf path;
    int status;

    *ret_count = 0;
    buf_init(&path);
    buf_adds(&path, "/v1/agents?select=Agent");
    path_query(&path, "constraint", "Role == \"provider\" && Connected && (Draining || Ads == 0)");
    status = connection_list(pool, buf_string(&path), 0, one_count, ret_count);
    if (status == STATUS_DONE) { /* the ads of unwell machines are there, and refuse everybody for now */
        buf_reset(&path);
        buf_adds(&path, "/v1/ads?kind=offers&select=Name");
        path_query(&path, "constraint", "Unwell isnt undefined");
        status = connection_list(pool, buf_string(&path), 0, one_count, ret_count);
    }
    buf_done(&path);
    return status;
}

int explain_job(struct connection *pool, const struct tree *job, const char *name, bool json, struct buf *out,
                bool *ret_matches)
{
    int status = explain_ad(pool, job, name, json, out, ret_matches);
    const char *reason;
    uint64_t unseen;
    size_t len;

    /* a machine that pulls is not given gangs */
    if (status == STATUS_DONE && !*ret_matches && !json && !ad_find(job, "Ports") && !is_refused(job, &reason, &len) &&
        explain_unseen(pool, &unseen) == STATUS_DONE && unseen)
        buf_addf(
            out,
            unseen == 1
                ? "%" PRIu64 " machine is there that pulls, is drained, unwell or has just come: it is not among the "
                  "offers, and may yet take it.\n"
                : "%" PRIu64 " machines are there that pull, are drained, unwell or have just come: they are not among "
                  "the offers, and may yet take it.\n",
            unseen);
    return status;
}
