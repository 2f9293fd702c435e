/* ends_heard.c: puts together what the pool says of a customer's jobs. */
#include "live/customerd/ends_heard.h"

#include "lang/ad/get.h"

void ends_heard_init(struct ends_heard *heard)
{
    *heard = (struct ends_heard){.cursor = 0};
    buf_init(&heard->text);
}

void ends_heard_done(struct ends_heard *heard)
{
    buf_done(&heard->text);
}

void ends_heard_reset(struct ends_heard *heard)
{
    ends_heard_done(heard);
    ends_heard_init(heard);
}

static bool run_follows(void *user, const struct ends_run *run)
{
    struct ends_heard *heard = user;
    bool follows = run->first > heard->told;

    heard->told = run->last;
    return follows;
}

enum ends_page ends_heard_page(struct ends_heard *heard, const struct tree *page)
{
    int64_t last = 0, next = 0;
    const char *text;
    size_t len;

    if (!page || ++heard->pages > ENDS_PAGES_MAX || !ad_string(page, "Ended", &text, &len) ||
        len > ENDS_HEARD_MAX - heard->text.len || !ends_read(text, len, run_follows, heard))
        return ENDS_PAGE_BAD;
    if (heard->text.len && len)
        buf_addc(&heard->text, ' ');
    buf_add(&heard->text, text, len);
    if (ad_integer(page, "Last", &last) && last > 0)
        heard->last = (uint64_t)last;
    if (!ad_integer(page, "Next", &next))
        return ENDS_PAGE_LAST;
    if (next <= 0 || (uint64_t)next <= heard->cursor)
        return ENDS_PAGE_BAD;
    heard->cursor = (uint64_t)next;
    return ENDS_PAGE_MORE;
}
