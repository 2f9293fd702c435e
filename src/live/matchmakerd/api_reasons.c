/* api_reasons.c: why waiting requests wait, counted, as a list.
 *
 *     [ Code = "nofit"; Reason = "no machine satisfies other.Memory >= 64G"; Requests = 3; Units = 1200; Example = "sweep-7" ] */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/reasons.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"

struct question {
    struct scan scan;
    struct reasons *reasons;
};

static bool question_more(struct scan *scan)
{
    return reasons_go_on(((struct question *)scan)->reasons);
}

/* There is nothing to visit: all is done in `more`. */
static bool question_step(struct scan *scan)
{
    (void)scan;
    return false;
}

static void question_finish(struct scan *scan)
{
    struct request *request = scan->request;
    const struct reason_row *rows;
    struct roll roll;
    uint32_t count;

    rows = reasons_rows(((struct question *)scan)->reasons, &count);
    roll_begin(&roll, request);
    for (uint32_t i = 0; i < count; i++) {
        struct maker maker;

        maker_init(&maker, request_matchmakerd(request)->symbols);
        if (rows[i].code < WAIT_REASON_COUNT)
            maker_text(&maker, "Code", wait_word(rows[i].code));
        maker_text(&maker, "Reason", rows[i].words);
        maker_integer(&maker, "Requests", (int64_t)rows[i].requests);
        maker_integer(&maker, "Units", (int64_t)rows[i].units);
        maker_text(&maker, "Example", *rows[i].example ? rows[i].example : NULL);
        if (rows[i].never)
            maker_flag(&maker, "Never", true);
        roll_add(&roll, &maker);
    }
    roll_end(&roll);
}

static void question_done(struct scan *scan)
{
    reasons_free(((struct question *)scan)->reasons);
}

void api_reasons(struct request *request)
{
    struct question *question = mem_alloc(sizeof *question);
    struct env env = request_env(request);

    *question = (struct question){
        .scan = {.step = question_step, .more = question_more, .finish = question_finish, .done = question_done},
        .reasons = reasons_new(request_matchmakerd(request), request, &env)};
    scan_start(&question->scan, request);
}
