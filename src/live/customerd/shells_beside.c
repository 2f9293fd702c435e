/* shells_beside.c: commands that one process of a parallel job begins beside another, on the side of the customer.
 *
 *     process ---> its machine's agent --- Ask="beside" ---> a shell here --- Ask="shell" ---> the agent of the other's machine
 *
 * The asker is proved by its pass, which is good for members of that gang alone, and only while its try runs; and the job must have said that its processes may do this.
 * The asker says from which places on it wants to hear, and asks again and again; all else is as with commands of users. */
#include "live/customerd/shells_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"

#include <stdio.h>
#include <string.h>

static struct shell *beside_find(const struct customerd *customerd, uint64_t job, agent who, uint64_t key)
{
    struct shell *shell = customerd->shells;

    while (shell && (shell->asker != who || shell->asker_key != key || shell->job != job))
        shell = shell->next;
    return shell;
}

/* Why none more can be begun by processes of that user's jobs; NULL: one can. */
static const char *beside_refusal(const struct customerd *customerd, const char *owner)
{
    uint32_t all = 0, theirs = 0;
    struct job_view view;

    for (const struct shell *shell = customerd->shells; shell; shell = shell->next) {
        all += shell->asker != 0;
        theirs += shell->asker && customer_job(customerd->customer, shell->job, &view) && !strcmp(view.owner, owner);
    }
    return theirs >= CUSTOMER_SHELLS_BESIDE_USER ? "so many commands of your jobs' processes run already"
           : all >= CUSTOMER_SHELLS_BESIDE       ? "so many commands of processes of jobs run already"
                                                 : NULL;
}

/* Begins one. Returns the refusal, or NULL. */
static struct tree *beside_open(struct customerd *customerd, const struct job_view *view, agent who, uint64_t key,
                                const struct tree *question)
{
    const struct expr *open = ad_find(question, "Open");
    struct tree *part = open && open->kind == EXPR_AD ? ad_part(question, open) : NULL;
    struct member_view members[ATTEMPT_MEMBERS_MAX];
    uint32_t count = customer_members(customerd->customer, view->id, members, ATTEMPT_MEMBERS_MAX);
    struct symbols *symbols = customerd->daemon.symbols;
    struct tree *refusal = NULL;
    struct shell_order order;
    struct err err = {0};
    const char *why;
    int64_t to = -1;
    char by[64];

    snprintf(by, sizeof by, "job %llu", (unsigned long long)view->id);
    if (!part || !ad_integer(question, "To", &to) || to < 0 || to >= count || to >= ATTEMPT_MEMBERS_MAX) {
        refusal = command_reason(symbols, part ? "refused" : "gone",
                                 part ? "the job has no such process" : "that command does not run");
    } else if (shell_order_read(part, &order, &err) < 0) {
        refusal = command_reason(symbols, "refused", err.text);
    } else {
        why = *order.term ? "it cannot have a terminal" : beside_refusal(customerd, view->owner);
        why = why ? why : shell_refusal(customerd, view->id, &members[to], by);
        if (why) {
            refusal = command_reason(symbols, "refused", why);
        } else {
            struct shell *shell = shell_add(customerd, view, &members[to], &order, by);

            shell->asker = who;
            shell->asker_key = key;
            LOG_AUDIT(&customerd->daemon.log, "exec", log_text("subject", by),
                      log_number("shell", (int64_t)shell->number), log_number("job", (int64_t)shell->job),
                      log_text("program", shell->program), log_number("member", to));
        }
        shell_order_done(&order);
    }
    tree_unref(part);
    return refusal;
}

/* Writes what fits into one answer. False: there is more. */
static bool piece_write(struct maker *maker, const struct byte_ring *ring, int64_t at, const char *at_name,
                        const char *name)
{
    const char *bytes;
    size_t len;

    bytes = byte_ring_look(ring, &at, &len);
    shell_bytes_write(maker, at_name, name, at, bytes, len < SHELL_PIECE ? len : SHELL_PIECE);
    return len <= SHELL_PIECE;
}

/* What it has said from those places on; what is in front of them has been read. */
static struct tree *beside_said(struct shell *shell, const struct tree *question)
{
    int64_t at[2] = {0, 0};
    struct maker maker;
    bool all;

    for (int i = 0; i < 2; i++)
        if (ad_integer(question, i ? "ErrAt" : "OutAt", &at[i]) && at[i] >= 0 &&
            at[i] <= byte_ring_end(&shell->rings[i])) {
            shell->nudge_due |= shell->rings[i].len >= SHELL_ROOM / 2;
            byte_ring_drop(&shell->rings[i], at[i]);
        }
    shell->read_at = runner_now();
    maker_init(&maker, shell->customerd->daemon.symbols);
    maker_text(&maker, "Reason", "ok");
    maker_integer(&maker, "Taken", byte_ring_end(&shell->input));
    all = piece_write(&maker, &shell->rings[0], at[0], "OutAt", "Out");
    all = piece_write(&maker, &shell->rings[1], at[1], "ErrAt", "Err") && all;
    if (shell->state == SHELL_OVER && all) {
        shell->told = true;
        maker_flag(&maker, "Over", true);
        maker_integer(&maker, "Status", shell->status);
        maker_text(&maker, "Words", *shell->words ? shell->words : NULL);
    }
    return maker_seal(&maker);
}

struct tree *customer_shells_beside(void *user, const struct job_view *view, agent who, const struct tree *question)
{
    struct customerd *customerd = user;
    struct shell *shell;
    struct tree *refusal;
    bool close = false;
    uint64_t key;

    if (!ad_word(question, "Key", &key))
        return NULL;
    shell = beside_find(customerd, view->id, who, key);
    if (!shell) {
        refusal = beside_open(customerd, view, who, key, question);
        if (refusal)
            return refusal;
        shell = beside_find(customerd, view->id, who, key);
    }
    shell_input_take(shell, question);
    shell_signal_take(shell, question);
    if (ad_flag(question, "Close", &close) && close)
        shell->close_due = true;
    shell_tell(shell);
    return beside_said(shell, question);
}
