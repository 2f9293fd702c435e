/* page.c: berth page: makes a link with which a browser opens the page of the pool, signed in. */
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "live/auth/token.h"
#include "sys/encoding.h"

#include <string.h>
#include <time.h>

struct page_settings {
    struct connection_options pool;
};

#define S struct page_settings
static const struct option page_options[] = {
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct page_settings page_defaults = {0};

#define SESSION_SPAN (12 * 60 * 60) /* seconds that the token for the page is good */
#define PAGE_SCOPES (SCOPE_AD_READ | SCOPE_MATCH | SCOPE_JOB_SUBMIT | SCOPE_OWN_JOBS)

/* Links are for those who may make tokens. All others, who have a token that can be handed on, narrow it down to what the page needs. */
static bool makes_links(const struct connection *pool, struct grant *ret_grant)
{
    return !pool->token.token || (pool->places[0].socket && !pool->token_named) ||
           token_read(pool->token.token, strlen(pool->token.token), ret_grant) != TOKEN_OK ||
           (ret_grant->scope & SCOPE_ADMIN) || !(ret_grant->scope & PAGE_SCOPES);
}

static int token_print(const struct connection *pool, const struct grant *grant)
{
    struct token_terms terms = {.issued = time(NULL), .scope = grant->scope & PAGE_SCOPES};
    struct err err = {0};
    struct buf out;
    int status = STATUS_DONE;

    terms.expires = terms.issued + SESSION_SPAN < grant->expires ? terms.issued + SESSION_SPAN : grant->expires;
    buf_init(&out);
    buf_addf(&out, "%s\nSign in there with this token, which is %s:\n", pool->places[0].url,
             pool->token.has_key ? "good for half a day" : "your own: it cannot be delegated");
    if (!pool->token.has_key) {
        buf_adds(&out, pool->token.token);
    } else if (token_delegate(&out, pool->token.token, strlen(pool->token.token), &pool->token.key, &terms, NULL,
                              &err) < 0) {
        report("%s", err.text);
        status = STATUS_BAD;
    }
    buf_addc(&out, '\n');
    if (status == STATUS_DONE)
        output_write(&out);
    buf_wipe(&out);
    return status;
}

static int page_run(const void *given, int word_count, char **words)
{
    const struct page_settings *settings = given;
    struct tree *ad = NULL;
    struct connection pool;
    struct grant grant;
    struct buf out;
    int status;

    (void)words;
    if (word_count) {
        report("page takes no arguments, only options");
        return STATUS_BAD;
    }
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE && !makes_links(&pool, &grant)) {
        status = token_print(&pool, &grant);
        connection_close(&pool);
        return status;
    }
    if (status == STATUS_DONE)
        status = connection_fetch_ad(&pool, &(struct connection_ask){.method = "POST", .path = "/v1/links"}, &ad);
    if (status == STATUS_DONE) {
        buf_init(&out);
        cell_print(&out, ad, "Link", CELL_VALUE, 0);
        buf_addc(&out, '\n');
        output_write(&out);
        buf_done(&out);
    }
    tree_unref(ad);
    connection_close(&pool);
    return status;
}

const struct command command_page = {
    .name = "page",
    .summary = "make a link to the pool's page",
    .usage = "[OPTIONS]",
    .about =
        "Prints a link for a browser: the page of the pool, signed in as who runs this command, with the same rights, for half a "
        "day. The link is good once, within ten minutes; whoever has it comes in by it, so give it to nobody. Without one the page "
        "asks for a token: who may not make tokens, as the user of a customer on another machine, gets the address of the page and a "
        "token for half a day that is good for nothing else (or their own, where that cannot be delegated). A program that was built without the page shows a plain one.",
    .examples = {{"berth page", NULL}},
    .options = page_options,
    .option_count = sizeof page_options / sizeof *page_options,
    .settings_size = sizeof(struct page_settings),
    .defaults = &page_defaults,
    .run = page_run,
};
