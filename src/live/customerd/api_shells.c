/* api_shells.c: commands in the sandboxes of running jobs, as their users begin them, type and read.
 *
 *     POST /v1/jobs/ID/shells    begins one
 *     GET /v1/shells/N           what it has said from a place on, at once or when there is something
 *     PUT /v1/shells/N           what is typed, the size of the window, a signal, the end
 *
 * Bytes have places in their stream: a user whose connection was cut asks again from where it was. */
#include "live/customerd/audited.h"
#include "live/customerd/shells_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "live/http/represent.h"
#include "sys/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DETAIL_MAX 120 /* bytes of a command in the audit log */

static const char *const state_words[] = {"opening", "running", "over"};

/* ----------------------------------------------------------------------------------------------------------------- begin */

const char *shell_refusal(const struct customerd *customerd, uint64_t job, const struct member_view *in, const char *by)
{
    uint32_t all = 0, mine = 0, jobs = 0;

    for (const struct shell *shell = customerd->shells; shell; shell = shell->next) {
        all++;
        mine += !strcmp(shell->by, by);
        jobs += shell->job == job && shell->at == (in ? in->claim : 0) && shell->state != SHELL_OVER;
    }
    return jobs >= CUSTOMER_SHELLS_JOB    ? "so many commands run in the job's sandbox already"
           : mine >= CUSTOMER_SHELLS_USER ? "so many commands of yours run in jobs already"
           : all >= CUSTOMER_SHELLS_MAX   ? "so many commands run in jobs already"
                                          : NULL;
}

static void open_audit(struct request *request, const struct shell *shell, const struct shell_order *order)
{
    struct customerd *customerd = request_customerd(request);
    char about[24], detail[DETAIL_MAX + 1];
    struct audit_who who;
    size_t len = order->words.len - 1;

    len = len < DETAIL_MAX ? len : DETAIL_MAX;
    for (size_t i = 0; i < len; i++)
        detail[i] = order->words.text[i] ? order->words.text[i] : ' ';
    while (len && ((unsigned char)detail[len - 1] & 0xc0) == 0x80)
        len--; /* no half of a letter */
    if (len && (unsigned char)detail[len - 1] >= 0xc0)
        len--;
    detail[len] = '\0';
    snprintf(about, sizeof about, "%" PRIu64, shell->job);
    audit_who(request, &who);
    customer_audit(customerd, &who, "jobs.exec", about, detail);
    customerd_commit(customerd);
    LOG_AUDIT(&customerd->daemon.log, "exec", log_text("subject", shell->by),
              log_number("shell", (int64_t)shell->number), log_number("job", (int64_t)shell->job),
              log_text("program", shell->program), log_flag("terminal", shell->terminal));
}

static struct tree *shell_ad(const struct shell *shell)
{
    struct maker maker;

    maker_init(&maker, shell->customerd->daemon.symbols);
    maker_text(&maker, "Type", "Shell");
    maker_integer(&maker, "Number", (int64_t)shell->number);
    maker_integer(&maker, "Job", (int64_t)shell->job);
    maker_text(&maker, "By", shell->by);
    maker_text(&maker, "Program", shell->program);
    maker_flag(&maker, "Terminal", shell->terminal);
    maker_text(&maker, "State", state_words[shell->state]);
    maker_flag(&maker, "Attached", shell_is_attached(shell));
    if (shell->told)
        maker_flag(&maker, "Told", true);
    maker_integer(&maker, "Age", (runner_now() - shell->began_at) / SECOND);
    return maker_seal(&maker);
}

/* Finds the member of the job's gang that is meant: the first, if none is named. `*ret` is NULL where the job has one alone. False after a problem was
 * answered. */
static bool member_of(struct request *request, const struct tree *ad, uint64_t job, struct member_view *room,
                      const struct member_view **ret)
{
    uint32_t count = customer_members(request_customerd(request)->customer, job, room, ATTEMPT_MEMBERS_MAX);
    int64_t member = 0;

    if (ad_find(ad, "Member") && (!ad_integer(ad, "Member", &member) || member < 0)) {
        request_problem(request, 400, "Member: expected a whole number");
        return false;
    }
    if (member >= (count ? count : 1) || member >= ATTEMPT_MEMBERS_MAX) {
        request_problem(request, 404, "the job has no process %" PRId64 ": it has %u", member, count ? count : 1);
        return false;
    }
    *ret = count ? &room[member] : NULL;
    return true;
}

void api_shell_open(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    struct tree *ad = request_body_of(request, "Arguments Term Rows Columns Member");
    struct member_view members[ATTEMPT_MEMBERS_MAX];
    const struct member_view *in;
    struct shell_order order;
    struct job_view view;
    struct err err = {0};
    struct shell *shell;
    const char *why;

    if (!ad)
        return;
    if (shell_order_read(ad, &order, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
        tree_unref(ad);
        return;
    }
    if (request_job_runs(request, &view) && member_of(request, ad, view.id, members, &in)) {
        why = shell_refusal(customerd, view.id, in, request_identity(request));
        if (why) {
            request_problem(request, 429, "%s", why);
        } else {
            shell = shell_add(customerd, &view, in, &order, request_identity(request));
            open_audit(request, shell, &order);
            request_ad_take(request, 201, shell_ad(shell));
            shell_tell(shell);
        }
    }
    shell_order_done(&order);
    tree_unref(ad);
}

/* --------------------------------------------------------------------------------------------------------------- reading */

/* The one that is named, if the caller may see it. NULL after a problem was answered. */
static struct shell *shell_of(struct request *request)
{
    struct shell *shell = shell_numbered(request_customerd(request), request_job(request));

    if (shell && caller_sees(request, shell->owner, strlen(shell->owner)))
        return shell;
    request_problem(request, 404, "there is no such command, or it was over long ago");
    return NULL;
}

static void ring_write(struct maker *maker, const struct byte_ring *ring, int64_t at, const char *at_name,
                       const char *name)
{
    const char *bytes;
    size_t len;

    bytes = byte_ring_look(ring, &at, &len);
    shell_bytes_write(maker, at_name, name, at, bytes, len);
}

static bool has_news(const struct shell *shell)
{
    return shell->state == SHELL_OVER || byte_ring_end(&shell->rings[0]) > shell->reader_at[0] ||
           byte_ring_end(&shell->rings[1]) > shell->reader_at[1];
}

static void reader_forget(struct request *request)
{
    struct shell *shell = request->work;

    if (shell->reader == request)
        shell->reader = NULL;
}

/* Answers whoever waits for what it says. */
static void reader_answer(struct shell *shell)
{
    struct request *request = shell->reader;
    struct maker maker;

    shell->reader = NULL;
    request->work = NULL;
    request->forget = NULL;
    shell->read_at = runner_now();
    maker_init(&maker, shell->customerd->daemon.symbols);
    maker_text(&maker, "State", state_words[shell->state]);
    ring_write(&maker, &shell->rings[0], shell->reader_at[0], "OutAt", "Out");
    ring_write(&maker, &shell->rings[1], shell->reader_at[1], "ErrAt", "Err");
    if (shell->state == SHELL_OVER) {
        shell->told = true;
        maker_integer(&maker, "Status", shell->status);
        maker_text(&maker, "Words", *shell->words ? shell->words : NULL);
    }
    request_ad_take(request, 200, maker_seal(&maker));
}

void shell_wake(struct shell *shell, bool anyway)
{
    if (shell->reader && (anyway || has_news(shell) || runner_now() >= shell->reader_until))
        reader_answer(shell);
}

void api_shell_get(struct request *request)
{
    struct shell *shell = shell_of(request);
    uint64_t out, error, wait;
    size_t before;

    if (!shell || !request_number(request, "out", 0, INT64_MAX, 0, &out) ||
        !request_number(request, "err", 0, INT64_MAX, 0, &error) ||
        !request_number(request, "wait", 0, UINT32_MAX, 0, &wait))
        return;
    shell_wake(shell, true); /* another reader is told what there is, and asks again */
    before = shell->rings[0].len + shell->rings[1].len;
    byte_ring_drop(&shell->rings[0], (int64_t)out);
    byte_ring_drop(&shell->rings[1], (int64_t)error);
    shell->nudge_due |= before >= SHELL_ROOM / 2 && shell->rings[0].len + shell->rings[1].len < before;
    shell->read_at = runner_now();
    shell->reader_at[0] = (int64_t)out;
    shell->reader_at[1] = (int64_t)error;
    shell->reader_until = runner_now() + (int64_t)(wait < REQUEST_WAIT_MAX ? wait : REQUEST_WAIT_MAX) * SECOND;
    shell->reader = request;
    request->work = shell;
    request->forget = reader_forget;
    shell_wake(shell, !wait);
    shell_tell(shell);
}

void api_shells(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    struct listing listing;

    buf_reset(&customerd->out);
    listing_begin(&listing, &customerd->out, request->form);
    for (const struct shell *shell = customerd->shells; shell; shell = shell->next) {
        struct tree *ad;

        if (!caller_sees(request, shell->owner, strlen(shell->owner)))
            continue;
        ad = shell_ad(shell);
        listing_add(&listing, ad);
        tree_unref(ad);
    }
    listing_end(&listing);
    request_answer(request, 200, media_type(request->form, &dialect_classic),
                   customerd->out.len ? customerd->out.text : "", customerd->out.len, NULL, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- typing */

void shell_input_take(struct shell *shell, const struct tree *ad)
{
    int64_t at = 0, end = byte_ring_end(&shell->input);
    bool ends = false;
    struct buf bytes;

    buf_init(&bytes);
    if (shell_bytes_read(ad, "At", "Input", &at, &bytes) && at <= end && at + (int64_t)bytes.len > end &&
        !shell->input_ends && shell->state != SHELL_OVER)
        byte_ring_add(&shell->input, bytes.text + (end - at), bytes.len - (size_t)(end - at));
    if (ad_flag(ad, "Ends", &ends) && ends && at + (int64_t)bytes.len <= byte_ring_end(&shell->input))
        shell->input_ends = true;
    buf_done(&bytes);
}

static void window_take(struct shell *shell, const struct tree *ad)
{
    uint16_t rows, columns;

    if (!shell_window_read(ad, &rows, &columns) || (rows == shell->rows && columns == shell->columns))
        return;
    shell->rows = rows;
    shell->columns = columns;
    shell->window_due = true;
}

bool shell_signal_take(struct shell *shell, const struct tree *ad)
{
    int64_t number;

    if (!ad_find(ad, "Signal"))
        return true;
    if (!ad_integer(ad, "Signal", &number) || number < 1 || number > 63 || !signal_is_allowed((int)number))
        return false;
    if (shell->signal_count < SHELL_SIGNALS_MAX)
        shell->signals[shell->signal_count++] = (int)number;
    return true;
}

void api_shell_put(struct request *request)
{
    struct shell *shell = shell_of(request);
    struct tree *ad = shell ? request_body_of(request, "At Input Ends Rows Columns Signal Close") : NULL;
    struct maker maker;
    bool close = false;

    if (!ad)
        return;
    if (!shell_signal_take(shell, ad)) {
        request_problem(request, 400, "Signal: expected the number of one of " SIGNAL_WORDS);
        tree_unref(ad);
        return;
    }
    shell_input_take(shell, ad);
    window_take(shell, ad);
    if (ad_flag(ad, "Close", &close) && close)
        shell->close_due = true;
    tree_unref(ad);
    maker_init(&maker, shell->customerd->daemon.symbols);
    maker_text(&maker, "State", state_words[shell->state]);
    maker_integer(&maker, "Taken", byte_ring_end(&shell->input));
    request_ad_take(request, 200, maker_seal(&maker));
    shell_tell(shell);
}
