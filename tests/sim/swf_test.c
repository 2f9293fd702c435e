/* Traces: the Standard Workload Format and JSON lines, read and written; what is wrong is told with its place. */
#include "common/tap.h"
#include "lang/ad/names.h"
#include "sim/joblines.h"
#include "sim/swf.h"

#include <math.h>
#include <stdlib.h>

#define TRACE                                                 \
    "; Version: 2.2\n; MaxNodes: 64\n; MaxProcs: 128\n;\n\n"  \
    "1 0 12 3600 4 -1 -1 4 7200 -1 1 1 1 1 1 -1 -1 -1\n"      \
    "  2 10 -1 60 -1 -1 -1 16 -1 2048 1 2 1 1 1 -1 -1 -1\r\n" \
    "3 7.5 0 30 2 29.5 512 -1 60 -1 0 1 1 1 1 -1 -1 -1\n"     \
    "4 20 -1 -1 8 -1 -1 8 60 -1 5 3 1 1 1 -1 -1 -1\n"         \
    "5 21 -1 10 0 -1 -1 0 60 -1 5 3 1 1 1 -1 -1 -1"

static void test_read(void)
{
    struct swf_header header;
    struct batch_work work;
    struct err err = {0};
    const struct batch_job *jobs;

    work_init(&work);
    if (!tap_ok(swf_read(TRACE, sizeof TRACE - 1, &work, &header, &err) == 0, "a trace is read"))
        tap_diag("%u:%u: %s", err.line, err.column, err.text);
    jobs = work.jobs;
    tap_ok(work.count == 3 && header.skipped == 2, "jobs that did not run, or on nothing, are passed over and counted");
    tap_ok(header.processors == 128 && header.largest == 16, "its header says how many processors there are");
    tap_ok(jobs[0].number == 1 && jobs[1].number == 3 && jobs[2].number == 2, "jobs are in the order of submission");
    tap_ok(jobs[0].submit == 0 && jobs[0].duration == 3600ll * BATCH_SECOND &&
               jobs[0].estimate == 7200ll * BATCH_SECOND && jobs[0].asks[0] == 4,
           "times are in seconds");
    tap_ok(jobs[1].asks[0] == 2 && jobs[2].asks[0] == 16, "processors are those asked for, else those that it had");
    tap_ok(jobs[2].estimate == jobs[2].duration && jobs[2].asks[1] == 32,
           "memory is of a processor, in KB; who says no time means the right one");
    tap_ok(work.users == 2 && jobs[0].user == jobs[1].user && jobs[0].user != jobs[2].user, "users are told apart");
    work_done(&work);
}

static const struct wrong {
    const char *text;
    unsigned line, column;
    const char *says;
} wrongs[] = {
    {"1 0 1 1 1 -1 -1 1 1 -1 1 1 1 1 1 -1 -1\n", 1, 39, "expected 18 fields, got 17: the think time is missing"},
    {"; x\n1 0 1 1 1 -1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1 7\n", 2, 43, "expected 18 fields, and there are more"},
    {"1 soon 1 1 1 -1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1\n", 1, 3, "field 2, the submit time: expected a number from 0 to"},
    {"1 -1 1 1 1 -1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1\n", 1, 3, "field 2, the submit time: expected a number from 0 on"},
    {"1 0 1 -3 1 -1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1\n", 1, 7, "field 4, the run time: expected a number from 0 to"},
    {"1 0 1 1e99 1 -1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1\n", 1, 7, "field 4, the run time"},
    {"1 0 1 1 4x -1 -1 1 1 -1 1 1 1 1 1 -1 -1 -1\n", 1, 9, "field 5, the processors"},
    {"\n\n# comment\n", 3, 1, "field 1, the job number"},
};

static void test_wrong(void)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct swf_header header;
        struct batch_work work;
        struct err err = {0};
        int result;

        work_init(&work);
        result = swf_read(wrongs[i].text, strlen(wrongs[i].text), &work, &header, &err);
        if (!tap_ok(result < 0 && err.line == wrongs[i].line && err.column == wrongs[i].column &&
                        strstr(err.text, wrongs[i].says),
                    "what is wrong is told: %u:%u: %s", wrongs[i].line, wrongs[i].column, wrongs[i].says))
            tap_diag("%d, %u:%u: %s", result, err.line, err.column, err.text);
        work_done(&work);
    }
}

/* ------------------------------------------------------------------------------------------------------------- there and back */

static bool works_same(const struct batch_work *a, const struct batch_work *b)
{
    if (a->count != b->count || a->users != b->users)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct batch_job *x = &a->jobs[i], *y = &b->jobs[i];

        if (x->submit != y->submit || x->duration != y->duration || x->estimate != y->estimate || x->user != y->user ||
            x->number != y->number || memcmp(x->asks, y->asks, sizeof x->asks) != 0)
            return false;
    }
    return true;
}

static void rows_set(struct batch_work *work, const struct batch_park *park)
{
    uint32_t row = work_row_all(work, park);

    for (uint32_t i = 0; i < work->count; i++)
        work->jobs[i].row = row;
}

static void test_back(struct symbols *symbols)
{
    static const char whole[] =
        "1 0 12 3600 4 -1 -1 4 7200 -1 1 1 1 1 1 -1 -1 -1\n2 10 0 60 16 -1 -1 16 60 2048 1 2 1 1 1 -1 -1 -1\n";
    struct batch_kind kinds[2] = {{.name = "north", .capacity = {64, INFINITY, INFINITY}, .count = 1},
                                  {.name = "so\"uth", .capacity = {64, 100, INFINITY}, .count = 2}};
    struct batch_outcome outcomes[2] = {{5ll * BATCH_SECOND, 1, 0}, {-1, 0, 10ll * BATCH_SECOND}};
    struct batch_fate fate = {outcomes, 100ll * BATCH_SECOND, 1000ll * BATCH_SECOND};
    struct batch_work first, second, third;
    struct swf_header header;
    struct batch_park park;
    struct assign_edge south = {1, 0, 0};
    struct err err = {0};
    struct buf out;
    double largest;

    buf_init(&out);
    park_init(&park);
    park_add(&park, &kinds[0]);
    park_add(&park, &kinds[1]);
    work_init(&first);
    work_init(&second);
    work_init(&third);
    swf_read(whole, sizeof whole - 1, &first, &header, &err);
    rows_set(&first, &park);
    swf_write(&out, &first, &fate, &park);
    tap_ok(swf_read(out.text, out.len, &second, &header, &err) == 0 && works_same(&first, &second) &&
               header.processors == 192,
           "what is written in the Standard Workload Format reads back as the same jobs");
    tap_ok(strstr(buf_string(&out), "\n1 0 5 3600 4 -1 -1 4 7200 -1 1 1 -1 -1 -1 2 -1 -1\n") &&
               strstr(buf_string(&out), "\n2 10 -1 60 -1 -1 -1 16 60 2048 5 2 -1 -1 -1 -1 -1 -1\n"),
           "with what became of them: where they ran, or that their time was out");

    first.jobs[1].row = work_row(&first, &south, 1);
    first.jobs[1].submit += 123456;
    first.jobs[1].asks[1] = 0.1;
    buf_reset(&out);
    joblines_write(&out, &first, &fate, &park);
    if (!tap_ok(joblines_read(symbols, out.text, out.len, &park, &third, &largest, &err) == 0 &&
                    works_same(&first, &third) && largest == 16,
                "JSON lines keep all that a job says, to the last digit"))
        tap_diag("%u:%u: %s\n%s", err.line, err.column, err.text, buf_string(&out));
    tap_ok(third.count == 2 && third.problem.rows[third.jobs[0].row].count == 2 &&
               third.problem.rows[third.jobs[1].row].count == 1 &&
               third.problem.edges[third.problem.rows[third.jobs[1].row].first].kind == 1,
           "and where it can run");
    buf_done(&out);
    work_done(&first);
    work_done(&second);
    work_done(&third);
    park_done(&park);
}

/* Who waits for whom, in both forms. */
static void test_after(struct symbols *symbols)
{
    static const char swf[] =
        "7 0 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1\n8 5 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 7 30\n"
        "9 5 -1 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 3 10\n10 6 -1 -1 1 -1 -1 1 60 -1 1 1 1 1 1 -1 8 0\n";
    static const char lines[] =
        "{\"job\": 3, \"submit\": 9, \"duration\": 5, \"after\": [1, 2], \"think\": 1.5}\n"
        "{\"job\": 1, \"submit\": 1, \"duration\": 5}\n{\"job\": 2, \"submit\": 0, \"duration\": 5, \"after\": [1]}\n";
    struct batch_kind kind = {.name = "only", .capacity = {64, INFINITY, INFINITY}, .count = 1};
    struct batch_work work, back;
    struct swf_header header;
    struct batch_park park;
    struct err err = {0};
    struct buf out;
    double largest;

    buf_init(&out);
    park_init(&park);
    park_add(&park, &kind);
    work_init(&work);
    work_init(&back);
    tap_ok(swf_read(swf, sizeof swf - 1, &work, &header, &err) == 0 && work.count == 3 &&
               work.jobs[1].after_count == 1 && work.after[work.jobs[1].after] == 0 &&
               work.jobs[1].think == 30ll * BATCH_SECOND && work.jobs[2].after_count == 0,
           "the preceding job and the think time are read; one that is not in the trace is over");
    rows_set(&work, &park);
    swf_write(&out, &work, NULL, &park);
    tap_ok(strstr(buf_string(&out), "\n8 5 -1 60 -1 -1 -1 1 60 -1 -1 1 -1 -1 -1 -1 7 30\n"), "and written");
    tap_ok(joblines_read(symbols, lines, sizeof lines - 1, &park, &work, &largest, &err) == 0 &&
               work.jobs[2].after_count == 2 && work.after[work.jobs[2].after] == 1 &&
               work.after[work.jobs[2].after + 1] == 0 && work.before_first[1] == 1 && work.before[0] == 2 &&
               work.jobs[2].think == 3 * BATCH_SECOND / 2,
           "a line names several, in whatever order they stand");
    buf_reset(&out);
    joblines_write(&out, &work, NULL, &park);
    tap_ok(joblines_read(symbols, out.text, out.len, &park, &back, &largest, &err) == 0 && works_same(&work, &back) &&
               back.jobs[2].after_count == 2 && back.jobs[2].think == work.jobs[2].think,
           "and is written and read again");
    buf_done(&out);
    work_done(&work);
    work_done(&back);
    park_done(&park);
}

static const struct wrong wrong_lines[] = {
    {"{\"submit\": 1, \"duration\": 5}\n{\"submit\": 1}\n", 2, 1, "\"duration\": expected a number from 0 to"},
    {"{\"submit\": -1, \"duration\": 5}", 1, 1, "\"submit\": expected a number from 0 to"},
    {"{\"submit\": \"x\", \"duration\": 5}", 1, 1, "\"submit\": expected"},
    {"{\"submit\": 1, \"duration\": 5, \"cpu\": 2}", 1, 1, "\"cpu\": expected job, submit"},
    {"{\"submit\": 1, \"duration\": 5, \"user\": 1.5}", 1, 1, "\"user\": expected a whole number"},
    {"{\"submit\": 1, \"duration\": 5, \"clusters\": [\"nowhere\"]}", 1, 1, "there is no 'nowhere'"},
    {"{\"submit\": 1, \"duration\": 5, \"clusters\": 7}", 1, 1, "\"clusters\": expected a list of names"},
    {"{\"submit\": 1, \"duration\": 5, \"after\": 7}", 1, 1, "\"after\": expected a list of numbers"},
    {"{\"submit\": 1, \"duration\": 5, \"after\": [\"a\"]}", 1, 1, "\"after\": expected a list of numbers"},
    {"{\"submit\": 1, \"duration\": 5, \"after\": [9]}", 0, 0, "job 1 waits for job 9, and there is none"},
    {"{\"job\": 7, \"submit\": 1, \"duration\": 5}\n{\"job\": 7, \"submit\": 1, \"duration\": 5}\n"
     "{\"job\": 8, \"submit\": 1, \"duration\": 5, \"after\": [7]}",
     0, 0, "two jobs have the number 7, and jobs wait for others by their numbers"},
    {"{\"submit\": 1, \"duration\": 5, \"after\": [2]}\n{\"submit\": 1, \"duration\": 5, \"after\": [1]}", 0, 0,
     "job 1 waits for itself, or for jobs that do"},
    {"{\"submit\": 1, \"duration\": 5}\n{\"submit\": 1, \n", 3, 0, ""},
};

static void test_wrong_lines(struct symbols *symbols)
{
    for (size_t i = 0; i < sizeof wrong_lines / sizeof *wrong_lines; i++) {
        const struct wrong *wrong = &wrong_lines[i];
        struct batch_kind kind = {.name = "only", .capacity = {64, INFINITY, INFINITY}, .count = 1};
        struct batch_park park;
        struct batch_work work;
        struct err err = {0};
        double largest;
        int result;

        park_init(&park);
        park_add(&park, &kind);
        work_init(&work);
        result = joblines_read(symbols, wrong->text, strlen(wrong->text), &park, &work, &largest, &err);
        if (!tap_ok(result < 0 && err.line == wrong->line && (!wrong->column || err.column == wrong->column) &&
                        strstr(err.text, wrong->says),
                    "what is wrong with a line is told: %u: %s", wrong->line, *wrong->says ? wrong->says : "its end"))
            tap_diag("%d, %u:%u: %s", result, err.line, err.column, err.text);
        work_done(&work);
        park_done(&park);
    }
}

int main(void)
{
    struct symbols *symbols = names_new(0);

    test_read();
    test_wrong();
    test_back(symbols);
    test_after(symbols);
    test_wrong_lines(symbols);
    symbols_free(symbols);
    return tap_done();
}
