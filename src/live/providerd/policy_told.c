/* policy_told.c: the owner has given the machine another policy than the last time it was started with: the pool's audit log is told, once.
 *
 *     a row of its own: [ Own = [ the policy ]; Due = "what is still to be told"; By = "whose file it is" ]
 *
 * Nobody but the owner is asked for leave to change that file, so who has changed it is what the file says: whose it is, and when it was written. */
#include "live/providerd/providerd_parts.h"

#include "exec/policy.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/text/print.h"
#include "live/http/represent.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define POLICY_SPACE "workshop"
#define POLICY_KEY "policy"
#define VALUE_BYTES 48                      /* of an expression that is told */
#define AGAIN_FIRST (10 * SECOND)           /* before the pool is told again, if it did not answer ... */
#define AGAIN_MOST (INT64_C(3600) * SECOND) /* ... and at most: an earlier matchmaker never does */

static bool row_read(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct providerd *providerd = user;
    struct policy_telling *telling = &providerd->policy;
    const struct expr *own;
    struct err err;
    struct tree *row = form_parse(providerd->daemon.symbols, &dialect_classic, FORM_CLASSAD, NULL, value, len, &err);

    (void)key, (void)key_len;
    own = row ? ad_find(row, "Own") : NULL;
    if (own && own->kind == EXPR_AD)
        telling->own = ad_part(row, own);
    if (row) {
        ad_text(row, "Due", telling->due, sizeof telling->due);
        ad_text(row, "By", telling->by, sizeof telling->by);
    }
    tree_unref(row);
    return false;
}

static int row_write(struct providerd *providerd, struct err *err)
{
    struct policy_telling *telling = &providerd->policy;
    struct shelf *shelf = providerd->daemon.shelf;
    struct maker maker;
    struct tree *row;
    struct buf text;
    int failed;

    maker_init(&maker, providerd->daemon.symbols);
    maker_ad(&maker, "Own", telling->own);
    maker_text(&maker, "Due", telling->due);
    maker_text(&maker, "By", telling->by);
    row = maker_seal(&maker);
    buf_init(&text);
    represent_ad(&text, FORM_CLASSAD, row);
    failed = shelf->kind->put(shelf, POLICY_SPACE, POLICY_KEY, strlen(POLICY_KEY), text.text, text.len, err);
    buf_done(&text);
    tree_unref(row);
    return failed;
}

/* -------------------------------------------------------------------------------------------------- what has changed */

static const struct expr *like(const struct tree *ad, const struct tree *other, uint32_t i, const char **ret_name)
{
    const struct expr *part = &tree_parts(other, tree_root(other))[i];
    size_t len;

    *ret_name = symbols_text(other->symbols, part->label, &len);
    return tree_find(ad, tree_root(ad), part->label);
}

static void comma(struct buf *out)
{
    if (out->len)
        buf_adds(out, "; ");
}

/* Keeps `len` bytes of a longer text, or a few less: it is not cut within a character. */
static void cut(struct buf *text, size_t len)
{
    while (len && ((unsigned char)text->text[len] & 0xc0) == 0x80)
        len--;
    text->len = len;
}

static void value_say(struct buf *out, const struct tree *ad, const struct expr *e)
{
    size_t from = out->len;

    print_expr(out, ad, e, PRINT_PLAIN);
    if (out->len - from <= VALUE_BYTES)
        return;
    cut(out, from + VALUE_BYTES);
    buf_adds(out, "...");
}

static void change_words(const struct tree *before, const struct tree *now, struct buf *out)
{
    const char *name;

    for (uint32_t i = 0; i < tree_root(now)->u.run.count; i++) {
        const struct expr *part = &tree_parts(now, tree_root(now))[i], *old = like(before, now, i, &name);

        if (old && tree_equal(before, old, now, part))
            continue;
        comma(out);
        buf_addf(out, "%s = ", name);
        value_say(out, now, part);
        if (!old)
            buf_adds(out, " (new)");
    }
    for (uint32_t i = 0; i < tree_root(before)->u.run.count; i++)
        if (!like(now, before, i, &name)) {
            comma(out);
            buf_addf(out, "no %s", name);
        }
}

/* Whose file it is, and when it was written. */
static void file_words(const char *file, char *ret, size_t room)
{
    char pad[4096], when[32] = "";
    struct passwd account, *found = NULL;
    struct stat stat_of;
    struct tm tm;

    *ret = '\0';
    if (stat(file, &stat_of) < 0)
        return;
    if (gmtime_r(&stat_of.st_mtim.tv_sec, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%SZ", &tm);
    getpwuid_r(stat_of.st_uid, &account, pad, sizeof pad, &found);
    snprintf(ret, room, "a file of uid %u%s%.32s%s, written %s", (unsigned)stat_of.st_uid, found ? " (" : "",
             found ? found->pw_name : "", found ? ")" : "", when);
}

static struct tree *policy_now(struct providerd *providerd, const char *file, struct err *err)
{
    struct maker maker;

    if (*file)
        return policy_read(providerd->daemon.symbols, file, err);
    maker_init(&maker, providerd->daemon.symbols);
    return maker_seal(&maker);
}

/* Adds what has changed to what is still to be told. */
static void change_note(struct providerd *providerd, const char *file, const struct buf *words)
{
    struct policy_telling *telling = &providerd->policy;
    struct buf all;

    buf_init(&all);
    if (*telling->due)
        buf_addf(&all, "%s; then ", telling->due);
    buf_add(&all, words->text, words->len);
    if (all.len > POLICY_DUE_MAX)
        cut(&all, POLICY_DUE_MAX);
    snprintf(telling->due, sizeof telling->due, "%s", buf_string(&all));
    buf_done(&all);
    file_words(file, telling->by, sizeof telling->by);
    LOG_AUDIT(&providerd->daemon.log, "owners-policy", log_text("file", file), log_text("by", telling->by),
              log_text("what", telling->due));
}

int owners_policy_look(struct providerd *providerd, struct err *err)
{
    struct policy_telling *telling = &providerd->policy;
    const char *file = config_text(&providerd->daemon.config, CONFIG_OWNER_POLICY);
    struct shelf *shelf = providerd->daemon.shelf;
    struct tree *now, *before;
    struct buf words;
    int failed = 0;

    telling->pause = AGAIN_FIRST;
    if (shelf->kind->get(shelf, POLICY_SPACE, POLICY_KEY, strlen(POLICY_KEY), row_read, providerd, err) < 0 ||
        !(now = policy_now(providerd, file, err)))
        return -1;
    before = telling->own;
    telling->own = now;
    buf_init(&words);
    if (before)
        change_words(before, now, &words);
    if (words.len)
        change_note(providerd, file, &words);
    if (!before || words.len)
        failed = row_write(providerd, err);
    tree_unref(before);
    buf_done(&words);
    return failed;
}

/* ------------------------------------------------------------------------------------------------------------- telling */

static void pool_answered(void *user, unsigned status, const char *body, size_t len)
{
    struct providerd *providerd = user;
    struct policy_telling *telling = &providerd->policy;
    struct err err;

    (void)status, (void)len;
    telling->asking = false;
    if (!body) {
        telling->again = runner_now() + telling->pause;
        telling->pause = telling->pause < AGAIN_MOST / 2 ? telling->pause * 2 : AGAIN_MOST;
        return;
    }
    *telling->due = '\0';
    if (row_write(providerd, &err) < 0)
        daemon_broken(&providerd->daemon, err.text);
    else
        runner_commit(agent_runner(providerd->live), NULL, NULL);
}

void owners_policy_tick(struct providerd *providerd)
{
    struct policy_telling *telling = &providerd->policy;
    char path[TOKEN_NAME_MAX + 32];
    struct maker maker;
    struct tree *ad;
    struct buf body;

    if (!*telling->due || telling->asking || runner_now() < telling->again || !agent_is_connected(providerd->live))
        return;
    maker_init(&maker, providerd->daemon.symbols);
    maker_text(&maker, "By", telling->by);
    maker_text(&maker, "What", telling->due);
    ad = maker_seal(&maker);
    buf_init(&body);
    represent_ad(&body, FORM_CLASSAD, ad);
    tree_unref(ad);
    snprintf(path, sizeof path, "/v1/agents/%s/policy", providerd->daemon.name);
    telling->asking =
        agent_post(providerd->live, providerd->provider.matchmaker, path, &body, pool_answered, providerd);
    buf_done(&body);
}

void owners_policy_done(struct providerd *providerd)
{
    tree_unref(providerd->policy.own);
}
