/* job_chart_test.c: what a job used over its life, as lines of text. */
#include "cli/jobs/job_chart.h"

#include "common/lang.h"
#include "common/tap.h"

static struct lang lang;

static void look(const char *job, bool blocks, const char *wanted, const char *sentence)
{
    struct err err;
    struct tree *ad = lang_expr(&lang, &dialect_classic, job, strlen(job), &err);
    struct buf out;

    buf_init(&out);
    job_chart_print(&out, ad, blocks);
    if (!tap_ok(!strcmp(buf_string(&out), wanted), "%s", sentence))
        tap_diag("%s", buf_string(&out));
    buf_done(&out);
    tree_unref(ad);
}

static void check_long(void)
{
    struct err err;
    struct buf text, out;
    struct tree *ad;

    buf_init(&text);
    buf_init(&out);
    buf_adds(&text, "[ Samples = [ Span = 20; Memory = { 5");
    for (int i = 1; i < 181; i++)
        buf_addf(&text, ", %d", i == 90 ? 1048576 : 5);
    buf_adds(&text, " } ] ]");
    ad = lang_expr(&lang, &dialect_classic, buf_string(&text), text.len, &err);
    job_chart_print(&out, ad, false);
    if (!tap_ok(strstr(buf_string(&out), "Over its life, 80 s a character:\n") &&
                    strstr(buf_string(&out), "______________________#_______________________  up to 1.0 MiB\n"),
                "a long one is drawn in at most sixty characters, and no peak is lost"))
        tap_diag("%s", buf_string(&out));
    tree_unref(ad);
    buf_done(&text);
    buf_done(&out);
}

int main(void)
{
    lang_init(&lang);
    look("[ Samples = [ Span = 10; Memory = { 0, 1024, 2048, 4096 }; CpuPercent = { 100, 25, 0, 398 } ] ]", true,
         "\nOver its life, 10 s a character:\n"
         "  memory         ▁▃▅█  up to 4.0 KiB\n"
         "  processors     ▃▁▁█  up to 3.98\n",
         "memory and processors are drawn, each up to its most");
    look("[ Samples = [ Span = 10; Memory = { 0, 1024, 2048, 4096 }; CpuPercent = { 0, 0, 0, 0 } ] ]", false,
         "\nOver its life, 10 s a character:\n"
         "  memory         _:=#  up to 4.0 KiB\n"
         "  processors     ____  up to 0.00\n",
         "in ASCII where there is no more");
    look("[ Samples = [ Span = 10; Memory = { 1, 1 }; CpuPercent = { 1, 1 }; GpuPercent = { 0, 50 }; GpuMemory = { 0, "
         "1073741824 } ] ]",
         false,
         "\nOver its life, 10 s a character:\n"
         "  memory         ##  up to 1 B\n"
         "  processors     ##  up to 0.01\n"
         "  GPUs           _#  up to 50 %\n"
         "  GPU memory     _#  up to 1.0 GiB\n",
         "graphics processors, where the job has any");
    look("[ Samples = [ Span = 10; Memory = { 1 }; CpuPercent = { 1 } ] ]", true, "", "one point is not drawn");
    look("[ Job = 1 ]", true, "", "a job without samples has no chart");
    look("[ Samples = [ Span = -5; Memory = { 1, 2 } ] ]", true, "", "nor one whose samples make no sense");
    look("[ Samples = [ Span = 10; Memory = { \"x\", 1 + 1, -4, 8 } ] ]", false,
         "\nOver its life, 10 s a character:\n  memory         ___#  up to 8 B\n",
         "what is no number counts as nothing");
    check_long();
    setenv("LC_ALL", "de_DE.utf8", 1);
    tap_ok(chart_blocks(), "the locale says whether there are blocks");
    setenv("LC_ALL", "C", 1);
    tap_ok(!chart_blocks(), "or not");
    lang_done(&lang);
    return tap_done();
}
