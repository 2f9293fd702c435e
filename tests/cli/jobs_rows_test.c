/* jobs_rows_test.c: how jobs are shown: spans, rows of a table, numbers of jobs, quantities of options. */
#include "cli/ask/jobs.h"

#include "cli/term/quantity.h"
#include "common/tap.h"
#include "lang/ad/get.h"
#include "lang/ad/names.h"
#include "lang/base/span.h"
#include "lang/form/form.h"
#include "live/http/represent.h"

#include <math.h>

#define NOW INT64_C(1800000000)

static void test_spans(void)
{
    static const struct {
        double seconds;
        const char *text, *said;
    } rows[] = {
        {-3, "0s", "0 s"},           {NAN, "0s", "0 s"},
        {59.9, "59s", "59 s"},       {60, "1m00s", "60 s"},
        {99, "1m39s", "99 s"},       {100, "1m40s", "2 min"},
        {192, "3m12s", "3 min"},     {3599, "59m59s", "60 min"},
        {3600, "1h00m", "60 min"},   {18180, "5h03m", "5 h"},
        {86399, "23h59m", "24 h"},   {86400, "1d00h", "24 h"},
        {370800, "4d07h", "4 days"}, {1e9, "11574d01h", "11574 days"},
    };
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_reset(&out);
        span_print(&out, rows[i].seconds);
        tap_ok(!strcmp(buf_string(&out), rows[i].text), "%g seconds are shown as %s, not %s", rows[i].seconds,
               rows[i].text, buf_string(&out));
        buf_reset(&out);
        span_say(&out, rows[i].seconds);
        tap_ok(!strcmp(buf_string(&out), rows[i].said), "amid words as %s, not %s", rows[i].said, buf_string(&out));
    }
    buf_done(&out);
}

static void test_rows(void)
{
    static const struct {
        const char *sentence, *job, *row;
    } rows[] = {
        {"a job that waits has not run",
         "[ Cmd = \"sim\"; Args = { \"-n\", \"1 2\", \"it's\" }; Job = 5; State = \"Waiting\"; Submitted = 1799999900 ]",
         "[ Job = 5; State = \"Waiting\"; Submitted = 1799999900; Command = \"sim -n '1 2' 'it'\\\\''s'\" ]"},
        {"one that runs has run since it was started",
         "[ Cmd = \"sim\"; Job = 5; State = \"Running\"; Submitted = 1; Started = 1799999988; Provider = \"heron\" ]",
         "[ Job = 5; State = \"Running\"; Submitted = 1; Provider = \"heron\"; RunTime = 12.0; Command = \"sim\" ]"},
        {"how far it is, if it says so, stands with its state",
         "[ Cmd = \"sim\"; Job = 5; State = \"Running\"; Progress = 0.459; Message = \"45.9% epoch 12\" ]",
         "[ Job = 5; State = \"Running, 45%\"; Command = \"sim\" ]"},
        {"but not of one that is over", "[ Cmd = \"sim\"; Job = 5; State = \"Done\"; Progress = 0.45 ]",
         "[ Job = 5; State = \"Done\"; Command = \"sim\" ]"},
        {"one that is over has run until its end",
         "[ Cmd = \"sim\"; Args = \"a b\"; Job = 5; State = \"Done\"; Started = 100; Ended = 130 ]",
         "[ Job = 5; State = \"Done\"; RunTime = 30.0; Command = \"sim a b\" ]"},
        {"or as long as the machine says",
         "[ Cmd = \"sim\"; Job = 5; State = \"Cleared\"; Started = 100; Ended = 130; WallUsed = 28.5 ]",
         "[ Job = 5; State = \"Cleared\"; RunTime = 28.5; Command = \"sim\" ]"},
        {"files that go to stores are counted with the state",
         "[ Cmd = \"sim\"; Job = 5; State = \"Done\"; FilesToStore = 3; FilesStored = 2 ]",
         "[ Job = 5; State = \"Done, 2 of 3 files stored\"; Command = \"sim\" ]"},
        {"and those that will not be there",
         "[ Cmd = \"sim\"; Job = 5; State = \"Done\"; FilesToStore = 1; FilesStored = 0; FilesNotMade = 1 ]",
         "[ Job = 5; State = \"Done, 0 of 1 file stored, 1 not made\"; Command = \"sim\" ]"},
        {"what people read of a job that is over is how it ended",
         "[ Cmd = \"sim\"; Job = 5; State = \"Cleared\"; Status = 0; Reason = \"the job ended\"; Outcome = \"Succeeded\" ]",
         "[ Job = 5; State = \"Succeeded\"; Good = true; Status = 0; Command = \"sim\" ]"},
        {"one that failed says with what",
         "[ Cmd = \"sim\"; Job = 5; State = \"Cleared\"; Status = 3; Reason = \"the job ended\"; Outcome = \"Failed\" ]",
         "[ Job = 5; State = \"Failed (exit 3)\"; Good = false; Status = 3; Command = \"sim\" ]"},
        {"one that was removed is neither good nor bad",
         "[ Cmd = \"sim\"; Job = 5; State = \"Cancelled\"; Outcome = \"Removed\" ]",
         "[ Job = 5; State = \"Removed\"; Command = \"sim\" ]"},
        {"values may be expressions",
         "[ Cmd = strcat(\"s\", \"im\"); Args = { \"a\" + 1 }; Job = 2 + 3; State = \"Held\" ]",
         "[ Job = 5; State = \"Held\"; Command = \"sim\" ]"},
    };
    struct symbols *symbols = names_new(0);
    struct buf out;

    buf_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *job =
            form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, rows[i].job, strlen(rows[i].job), NULL);
        struct tree *want =
            form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, rows[i].row, strlen(rows[i].row), NULL);
        struct tree *row = job ? job_row(job, ROWS_TABLE, NOW) : NULL;

        buf_reset(&out);
        if (row)
            represent_ad(&out, FORM_CLASSAD, row);
        tap_ok(row && want && tree_equal(row, tree_root(row), want, tree_root(want)), "%s: %s", rows[i].sentence,
               buf_string(&out));
        tree_unref(job);
        tree_unref(want);
        tree_unref(row);
    }
    buf_done(&out);
    symbols_free(symbols);
}

static void test_outcomes(void)
{
#define OVER "State = \"Cleared\"; "
#define MEMORY OVER "Status = -9; Reason = \"the job took too much memory\"; "
    static const struct {
        const char *job, *words, *outcome;
    } rows[] = {
        {"[ " OVER "Status = 0; Reason = \"the job ended\" ]", "Succeeded", "Succeeded"},
        {"[ " OVER "Status = 3; Reason = \"the job ended\" ]", "Failed (exit 3)", "Failed"},
        {"[ " OVER "Status = -11; Reason = \"the job ended\" ]", "Killed (signal 11)", "Killed"},
        {"[ " OVER "Status = -9; Reason = \"the job's time was up\" ]", "Out of time", "OutOfTime"},
        {"[ " OVER "Reason = \"the job's time was up\" ]", "Out of time", "OutOfTime"},
        {"[ " MEMORY "MemoryUsed = 109051904; MemoryGiven = 104857600 ]", "Out of memory (used 104 of 100 MiB)",
         "OutOfMemory"},
        {"[ " MEMORY "MemoryUsed = 1717986918; RequestMemory = 1610612736 ]", "Out of memory (used 1.6 of 1.5 GiB)",
         "OutOfMemory"},
        {"[ " MEMORY "MemoryUsed = 4096; MemoryGiven = 104857600 ]", "Out of memory (limit 100 MiB)", "OutOfMemory"},
        {"[ " MEMORY "RequestMemory = 2 * x ]", "Out of memory", "OutOfMemory"},
        {"[ " OVER "Status = -9; Reason = \"the job took too much disk\"; DiskUsed = 3 * 1024; DiskGiven = 2048 ]",
         "Out of disk (limit 2 KiB)", "OutOfDisk"},
        {"[ State = \"Cancelled\"; Reason = \"gone\" ]", "Removed", "Removed"},
        {"[ State = \"Aborted\"; Reason = \"it waited longer than it may\" ]", "Expired", "Expired"},
        {"[ State = \"Held\"; Status = 0 ]", "Held", NULL},
        {"[ State = \"Running\" ]", "Running", NULL},
    };
    struct symbols *symbols = names_new(0);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *job =
            form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, rows[i].job, strlen(rows[i].job), NULL);
        struct tree *row = job ? job_row(job, ROWS_JSON, NOW) : NULL;
        struct buf out;

        buf_init(&out);
        if (job)
            job_standing_print(&out, job);
        tap_ok(!strcmp(buf_string(&out), rows[i].words), "%s reads %s: %s", rows[i].job, rows[i].words,
               buf_string(&out));
        tap_ok(row && (rows[i].outcome ? job_text_is(row, "Outcome", rows[i].outcome) : !ad_find(row, "Outcome")),
               "and is %s in JSON", rows[i].outcome ? rows[i].outcome : "nothing yet");
        tree_unref(row);
        tree_unref(job);
        buf_done(&out);
    }
    symbols_free(symbols);
}

static void test_numbers(void)
{
    static const struct {
        const char *words[3], *text;
        uint64_t count;
    } rows[] = {
        {{"5"}, "5", 1},
        {{"5-20"}, "5-20", 16},
        {{"5,7,9"}, "5,7,9", 3},
        {{"9", "5,7"}, "5,7,9", 3},
        {{"5-7", "6-10", "8"}, "5-10", 6},
        {{"5", "6"}, "5-6", 2},
        {{"7-7"}, "7", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *words[3];
        struct job_ids ids;
        int count = 0, result;

        for (; count < 3 && rows[i].words[count]; count++)
            words[count] = (char *)(uintptr_t)rows[i].words[count];
        result = job_ids_read(&ids, count, words);
        tap_ok(result == 0 && !strcmp(buf_string(&ids.text), rows[i].text) && job_ids_count(&ids) == rows[i].count,
               "the numbers %s%s are %s: %s", rows[i].words[0], count > 1 ? " ..." : "", rows[i].text,
               buf_string(&ids.text));
        job_ids_done(&ids);
    }
}

static void test_ends(void)
{
    static const struct {
        const char *job;
        bool over, good;
    } rows[] = {
        {"[ State = \"Running\" ]", false, false},
        {"[ State = \"Held\"; Status = 0 ]", false, false},
        {"[ State = \"Done\"; Status = 0 ]", true, true},
        {"[ State = \"Cleared\"; Status = 0 ]", true, true},
        {"[ State = \"Done\"; Status = 3 ]", true, false},
        {"[ State = \"Done\" ]", true, false},
        {"[ State = \"Cancelled\"; Status = 0 ]", true, false},
        {"[ State = \"Aborted\" ]", true, false},
    };
    struct symbols *symbols = names_new(0);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree *job =
            form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, rows[i].job, strlen(rows[i].job), NULL);

        tap_ok(job && job_is_over(job) == rows[i].over && job_is_good(job) == rows[i].good, "%s is %sover%s",
               rows[i].job, rows[i].over ? "" : "not ", rows[i].good ? ", and well" : "");
        tree_unref(job);
    }
    symbols_free(symbols);
}

static void test_quantities(void)
{
    static const struct {
        option_read_fn *read;
        const char *text;
        int64_t value; /* 0: it is none */
    } rows[] = {
        {option_span, "90", 90},
        {option_span, "90 s", 90},
        {option_span, "30min", 1800},
        {option_span, "2h", 7200},
        {option_span, "7d", 604800},
        {option_span, "0", 0},
        {option_span, "1w", 0},
        {option_span, "-1", 0},
        {option_span, "99999999999999999", 0},
        {option_bytes, "1000", 1000},
        {option_bytes, "512MiB", 512 << 20},
        {option_bytes, "2G", INT64_C(2) << 30},
        {option_bytes, "1 TiB", INT64_C(1) << 40},
        {option_bytes, "5x", 0},
        {option_bytes, "999999999T", 0},
        {option_bytes, "", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        int result = rows[i].read(rows[i].text, &value, NULL);

        tap_ok(rows[i].value ? result == 0 && value == rows[i].value : result < 0, "'%s' is %lld", rows[i].text,
               (long long)rows[i].value);
    }
}

int main(void)
{
    test_spans();
    test_rows();
    test_outcomes();
    test_numbers();
    test_ends();
    test_quantities();
    return tap_done();
}
