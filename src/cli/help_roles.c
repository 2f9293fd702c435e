/* help_roles.c: berth help roles: what each role may do, from the table of roles. */
#include "cli/term/command.h"
#include "cli/term/wrap.h"
#include "live/auth/roles.h"

void help_roles(struct buf *out)
{
    struct buf words;

    wrap_text(
        out,
        "A role is a name for scopes that belong together. A token holds the scopes: `berth token create --role ROLE` gives it "
        "those of the role. Who has a token makes narrower ones from it, never wider ones.\n\n",
        0);
    buf_init(&words);
    for (const struct role_row *role = roles; role->name; role++) {
        buf_addf(out, "%s: %s\n", role->name, role->who);
        buf_reset(&words);
        scopes_print(&words, role->scope);
        wrap_text(out, role->may, 4);
        wrap_text(out, buf_string(&words), 8);
        buf_addc(out, '\n');
    }
    buf_adds(out, "The scopes, and what each lets its holder do:\n\n");
    for (int i = 0; i < SCOPE_COUNT; i++) {
        buf_reset(&words);
        buf_adds(&words, "  ");
        scopes_print(&words, 1u << i);
        wrap_item(out, buf_string(&words), scope_means((enum scope_number)i), 16);
    }
    buf_done(&words);
}
