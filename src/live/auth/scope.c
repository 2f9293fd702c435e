/* scope.c: the names of scopes. */
#include "live/auth/scope.h"

#include <string.h>

static const char *const scope_words[SCOPE_COUNT] = {
#define X(id, words) [SCOPE_NUMBER_##id] = (words),
    SCOPES(X)
#undef X
};

void scopes_print(struct buf *out, scopes set)
{
    const char *between = "";

    if ((set & SCOPE_OWN_JOBS) == SCOPE_OWN_JOBS)
        set &= ~(scopes)SCOPE_OWN_PARTS;

    for (int i = 0; i < SCOPE_COUNT; i++) {
        if (!(set >> i & 1))
            continue;
        buf_adds(out, between);
        buf_adds(out, scope_words[i]);
        between = " ";
    }
}

static int scope_find(const char *word, size_t len)
{
    for (int i = 0; i < SCOPE_COUNT; i++)
        if (strlen(scope_words[i]) == len && memcmp(scope_words[i], word, len) == 0)
            return i;
    return -1;
}

bool scopes_read(const char *text, size_t len, scopes *ret)
{
    const char *at = text, *end = text + len;
    scopes set = 0;

    for (;;) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        size_t word = (size_t)((blank ? blank : end) - at);
        int found = scope_find(at, word);

        if (found < 0 || set >> found & 1)
            return false;
        set |= 1u << found;
        if (!blank)
            break;
        at = blank + 1;
    }
    *ret = set & SCOPE_JOB_OWN ? set | SCOPE_OWN_PARTS : set;
    return true;
}
