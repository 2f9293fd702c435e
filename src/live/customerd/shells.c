/* shells.c: commands in the sandboxes of running jobs, on the side of the customer: what is typed goes to the provider, and what it sends is kept until
 * the user has read it.
 *
 *     berth exec --- PUT ---> input ---> Ask="shell" ---> provider
 *     berth exec <--- GET --- two rings <--- Ask="shell" --- provider
 *
 * A provider whose bytes find no room says them again: its process waits. While nobody reads, the oldest bytes give way, and the process goes on; after
 * SHELL_AWAY without a reader it is hung up. All of this is in memory: when the customer ends, providers hear that it does not know the command. */
#include "live/customerd/shells_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "sys/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_SPAN (35 * SECOND)     /* a reader comes back within so long: a request waits for up to 25 s */
#define AGAIN_SPAN SECOND           /* before a provider that was not reached is asked again */
#define EARLY_SPAN (SECOND / 5)     /* ... or where the job is about to begin */
#define SILENT_SPAN (90 * SECOND)   /* a provider says something every 20 s */
#define OVER_SPAN (5 * 60 * SECOND) /* that one which is over is kept for its reader */

/* ------------------------------------------------------------------------------------------------------------------ life */

struct shell *shell_numbered(const struct customerd *customerd, uint64_t number)
{
    struct shell *shell = customerd->shells;

    while (shell && shell->number != number)
        shell = shell->next;
    return shell;
}

static struct shell *shell_keyed(const struct customerd *customerd, uint64_t key)
{
    struct shell *shell = customerd->shells;

    while (shell && shell->key != key)
        shell = shell->next;
    return shell;
}

struct shell *shell_add(struct customerd *customerd, const struct job_view *view, const struct member_view *in,
                        const struct shell_order *order, const char *by)
{
    struct shell *shell = mem_alloc(sizeof *shell);

    *shell = (struct shell){.next = customerd->shells,
                            .customerd = customerd,
                            .number = ++customerd->shells_numbered,
                            .key = secrets_word(&secrets_live),
                            .job = view->id,
                            .claim = view->claim,
                            .trial = view->number,
                            .member = in ? in->who : view->member,
                            .at = in ? in->claim : 0,
                            .order = shell_order_make(customerd->daemon.symbols, order),
                            .terminal = *order->term != '\0',
                            .began_at = runner_now(),
                            .read_at = runner_now(),
                            .heard_at = runner_now()};
    snprintf(shell->owner, sizeof shell->owner, "%s", view->owner);
    snprintf(shell->by, sizeof shell->by, "%s", by);
    snprintf(shell->program, sizeof shell->program, "%s", order->words.text);
    byte_ring_init(&shell->input, SHELL_ROOM);
    byte_ring_init(&shell->rings[0], SHELL_ROOM);
    byte_ring_init(&shell->rings[1], SHELL_ROOM);
    customerd->shells = shell;
    return shell;
}

static void shell_free(struct shell *shell)
{
    struct shell **link = &shell->customerd->shells;

    while (*link != shell)
        link = &(*link)->next;
    *link = shell->next;
    shell_wake(shell, true);
    tree_unref(shell->order);
    byte_ring_done(&shell->input);
    byte_ring_done(&shell->rings[0]);
    byte_ring_done(&shell->rings[1]);
    free(shell);
}

static void shell_over(struct shell *shell, int64_t status, const char *words, size_t len)
{
    struct customerd *customerd = shell->customerd;

    if (shell->state == SHELL_OVER)
        return;
    shell->state = SHELL_OVER;
    shell->status = status;
    shell->over_at = runner_now();
    byte_ring_done(&shell->input);
    snprintf(shell->words, sizeof shell->words, "%.*s", len < sizeof shell->words ? (int)len : 0, words);
    LOG_AUDIT(&customerd->daemon.log, "exec.ended", log_text("subject", shell->by),
              log_number("shell", (int64_t)shell->number), log_number("job", (int64_t)shell->job),
              log_number("status", status), log_text("words", shell->words));
    shell_wake(shell, false);
}

bool shell_is_attached(const struct shell *shell)
{
    return runner_now() - shell->read_at < READ_SPAN;
}

/* ------------------------------------------------------------------------------------------------------- to the provider */

/* A question that outlives its shell, and what it said. */
struct telling {
    struct customerd *customerd;
    uint64_t key;
    bool ends, window, closes;
    uint16_t rows, columns;
};

static void signals_drop(struct shell *shell, int64_t taken)
{
    while (shell->signal_count && shell->signal_serial < taken) {
        shell->signal_serial++;
        shell->signal_count--;
        memmove(shell->signals, shell->signals + 1, shell->signal_count * sizeof *shell->signals);
    }
}

static void shell_good(struct shell *shell, const struct telling *telling, const struct tree *answer)
{
    int64_t taken = 0, signals = 0;

    shell->due = 0;
    if (shell->state == SHELL_OPENING)
        shell->state = SHELL_RUNS;
    if (ad_integer(answer, "Taken", &taken)) {
        size_t before = shell->input.len;

        byte_ring_drop(&shell->input, taken < byte_ring_end(&shell->input) ? taken : byte_ring_end(&shell->input));
        if (before && shell->input.len == before)
            shell->due = runner_now() + EARLY_SPAN; /* its process does not read: again, but not all the time */
        shell->ends_told |= telling->ends && taken >= byte_ring_end(&shell->input);
    }
    if (ad_integer(answer, "Signals", &signals))
        signals_drop(shell, signals);
    if (telling->window && telling->rows == shell->rows && telling->columns == shell->columns)
        shell->window_due = false;
    shell->closed |= telling->closes;
}

static void provider_answered(void *user, const struct tree *answer)
{
    struct telling telling = *(struct telling *)user;
    struct shell *shell = shell_keyed(telling.customerd, telling.key);
    const char *reason = "", *words = "it was refused: perhaps its machine is of a version that cannot do this";
    size_t len = 0, words_len = strlen(words);

    free(user);
    if (!shell)
        return;
    shell->flying = false;
    if (!answer || telling.customerd->stopping) {
        shell->due = runner_now() + AGAIN_SPAN;
        return;
    }
    shell->heard_at = runner_now();
    ad_string(answer, "Reason", &reason, &len);
    if (len == 2 && !memcmp(reason, "ok", 2)) {
        shell_good(shell, &telling, answer);
        shell_tell(shell);
    } else if ((len == 5 && !memcmp(reason, "early", 5)) ||
               (len == 4 && !memcmp(reason, "gone", 4) && shell->state == SHELL_OPENING)) {
        shell->due = runner_now() + EARLY_SPAN; /* should its job be over, we shall hear of that too */
    } else {
        ad_string(answer, "Words", &words, &words_len);
        shell_over(shell, 126, words, words_len);
    }
}

static struct tree *question_make(struct shell *shell, struct telling *telling)
{
    int64_t at = shell->input.from;
    const char *bytes;
    struct maker maker;
    size_t len;

    maker_init(&maker, shell->customerd->daemon.symbols);
    maker_text(&maker, "Ask", "shell");
    maker_integer(&maker, "Job", (int64_t)shell->job);
    maker_word(&maker, "Key", shell->key);
    if (shell->at)
        maker_word(&maker, "Claim", shell->at);
    if (shell->state == SHELL_OPENING)
        maker_ad(&maker, "Open", shell->order);
    bytes = byte_ring_look(&shell->input, &at, &len);
    telling->ends = shell->input_ends && len <= SHELL_PIECE;
    len = len < SHELL_PIECE ? len : SHELL_PIECE;
    shell_bytes_write(&maker, "At", "Input", at, bytes, len);
    if (telling->ends && !len) {
        maker_integer(&maker, "At", at);
        maker_text(&maker, "Input", "");
    }
    if (telling->ends)
        maker_flag(&maker, "Ends", true);
    telling->window = shell->window_due;
    if (shell->window_due) {
        maker_integer(&maker, "Rows", telling->rows = shell->rows);
        maker_integer(&maker, "Columns", telling->columns = shell->columns);
    }
    if (shell->signal_count && shell->state == SHELL_RUNS) {
        maker_integer(&maker, "Signal", shell->signals[0]);
        maker_integer(&maker, "Signals", shell->signal_serial + 1);
    }
    telling->closes = shell->close_due;
    if (shell->close_due)
        maker_flag(&maker, "Close", true);
    return maker_seal(&maker);
}

static bool something_is_due(const struct shell *shell)
{
    return shell->state == SHELL_OPENING || shell->input.len || (shell->input_ends && !shell->ends_told) ||
           shell->window_due || shell->signal_count || shell->nudge_due || (shell->close_due && !shell->closed);
}

/* Is the try that it was meant for over? Then so is it, though its provider may still tell more. */
static bool try_is_over(const struct shell *shell)
{
    struct job_view view;

    return !customer_job(shell->customerd->customer, shell->job, &view) || view.state != JOB_RUNNING ||
           view.claim != shell->claim || view.number != shell->trial;
}

void shell_tell(struct shell *shell)
{
    struct telling *telling;
    struct tree *question;

    if (shell->flying || shell->state == SHELL_OVER || runner_now() < shell->due || !something_is_due(shell))
        return;
    if (shell->state == SHELL_OPENING && try_is_over(shell)) {
        static const char words[] = "the job was over before this reached it";

        shell_over(shell, 126, words, sizeof words - 1);
        return;
    }
    telling = mem_alloc(sizeof *telling);
    *telling = (struct telling){.customerd = shell->customerd, .key = shell->key};
    question = question_make(shell, telling);
    shell->nudge_due = false;
    shell->flying = true; /* before: the answer may come from within the call */
    if (!agent_ask(shell->customerd->live, shell->member, question, provider_answered, telling)) {
        shell->flying = false;
        shell->due = runner_now() + AGAIN_SPAN;
        free(telling);
    }
    tree_unref(question);
}

/* ----------------------------------------------------------------------------------------------------- from the provider */

/* Takes bytes of a stream, as many as there is room for; where nobody reads, all of them. */
static bool ring_take(struct shell *shell, int place, const struct tree *question, const char *at_name,
                      const char *name)
{
    struct byte_ring *ring = &shell->rings[place];
    int64_t at = 0, end = byte_ring_end(ring);
    bool changed = false;
    struct buf bytes;

    buf_init(&bytes);
    if (shell_bytes_read(question, at_name, name, &at, &bytes)) {
        if (at > end) { /* some were dropped there: the reader sees that they are missing */
            byte_ring_drop(ring, end);
            ring->from = end = at;
        }
        if (at + (int64_t)bytes.len > end) {
            const char *fresh = bytes.text + (end - at);
            size_t len = bytes.len - (size_t)(end - at);

            if (shell_is_attached(shell))
                changed = byte_ring_add(ring, fresh, len) > 0;
            else
                byte_ring_force(ring, fresh, len);
        }
    }
    buf_done(&bytes);
    return changed;
}

struct tree *customer_shells_asked(struct customerd *customerd, const struct peer *peer, const struct tree *question)
{
    struct shell *shell = NULL;
    const char *words = "";
    bool ended = false, changed;
    int64_t status = 0;
    size_t len = 0;
    struct maker maker;
    uint64_t key;

    if (!ad_word(question, "Key", &key))
        return NULL;
    shell = shell_keyed(customerd, key);
    if (!shell || shell->member != peer->agent)
        return command_reason(customerd->daemon.symbols, "gone", NULL);
    shell->heard_at = runner_now();
    if (shell->state == SHELL_OPENING)
        shell->state = SHELL_RUNS;
    changed = ring_take(shell, 0, question, "OutAt", "Out");
    changed = ring_take(shell, 1, question, "ErrAt", "Err") || changed;
    if (ad_flag(question, "Ended", &ended) && ended) {
        ad_integer(question, "Status", &status);
        ad_string(question, "Words", &words, &len);
        shell_over(shell, status, words, len);
    }
    if (changed)
        shell_wake(shell, false);
    maker_init(&maker, customerd->daemon.symbols);
    maker_text(&maker, "Reason", "ok");
    maker_integer(&maker, "Out", byte_ring_end(&shell->rings[0]));
    maker_integer(&maker, "Err", byte_ring_end(&shell->rings[1]));
    return maker_seal(&maker);
}

/* ------------------------------------------------------------------------------------------------------------------ time */

void customer_shells_tick(struct customerd *customerd)
{
    static const char lost[] = "the connection to its machine is lost";
    int64_t now = runner_now();
    struct shell *next;

    for (struct shell *shell = customerd->shells; shell; shell = next) {
        next = shell->next;
        if (shell->state == SHELL_OVER && now - shell->over_at > OVER_SPAN) {
            shell_free(shell);
            continue;
        }
        shell_wake(shell, false); /* a reader's time may be up */
        if (shell->reader)
            shell->read_at = now;
        if (now - shell->read_at > SHELL_AWAY * SECOND && !shell->close_due)
            shell->close_due = true;
        if (shell->state == SHELL_RUNS && now - shell->heard_at > SILENT_SPAN && try_is_over(shell))
            shell_over(shell, 126, lost, sizeof lost - 1);
        if (shell->state == SHELL_RUNS && now - shell->heard_at > SHELL_AWAY * SECOND)
            shell_over(shell, 126, lost, sizeof lost - 1);
        shell_tell(shell);
    }
}

void customer_shells_done(struct customerd *customerd)
{
    while (customerd->shells)
        shell_free(customerd->shells);
}
