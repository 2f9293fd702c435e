/* page.c: berth page: makes a link with which a browser opens the page of the pool, signed in. */
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"

struct page_settings {
    struct connection_options pool;
};

#define S struct page_settings
static const struct option page_options[] = {
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct page_settings page_defaults = {0};

static int page_run(const void *given, int word_count, char **words)
{
    const struct page_settings *settings = given;
    struct tree *ad = NULL;
    struct connection pool;
    struct buf out;
    int status;

    (void)words;
    if (word_count) {
        report("page takes no arguments, only options");
        return STATUS_BAD;
    }
    status = connection_open(&pool, &settings->pool);
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
        "asks for a token. A program that was built without the page shows a plain one.",
    .examples = {{"berth page", NULL}},
    .options = page_options,
    .option_count = sizeof page_options / sizeof *page_options,
    .settings_size = sizeof(struct page_settings),
    .defaults = &page_defaults,
    .run = page_run,
};
