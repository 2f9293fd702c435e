/* explain.c: what a pool says about why an ad matches, or why nothing does. */
#include "cli/explain.h"

#include "cli/command.h"
#include "net/represent.h"

#include <string.h>

/* Does the explanation say that the ad matches? In words its first line does: `heron: matches 2 of 3 requests.` */
static bool answer_matches(struct pool *pool, const struct fetched *fetched, bool json)
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

int explain_fetch(struct pool *pool, const struct pool_ask *ask, bool json, struct buf *out, bool *ret_matches)
{
    struct pool_ask asked = *ask;
    struct fetched fetched;
    int status;

    asked.accept = json ? TYPE_JSON : "text/plain";
    status = pool_fetch(pool, &asked, &fetched);
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

struct tree *explain_body(struct pool *pool, const struct tree *ad)
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

int explain_ad(struct pool *pool, const struct tree *ad, const char *name, bool json, struct buf *out,
               bool *ret_matches)
{
    static const char unnamed[] = "ad:"; /* so the pool calls what it was sent, in words */
    struct tree *body = explain_body(pool, ad);
    struct pool_ask ask = {.method = "POST", .path = "/v1/match?why", .body = body};
    struct buf words;
    size_t skip = 0;
    int status;

    buf_init(&words);
    status = body ? explain_fetch(pool, &ask, json, &words, ret_matches) : STATUS_BAD;
    if (status == STATUS_DONE && !json && words.len >= strlen(unnamed) &&
        !memcmp(words.text, unnamed, strlen(unnamed))) {
        buf_addf(out, "%s:", name);
        skip = strlen(unnamed);
    }
    buf_add(out, words.text + skip, words.len - skip);
    buf_done(&words);
    tree_unref(body);
    return status;
}
