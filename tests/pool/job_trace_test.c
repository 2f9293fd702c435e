/* By which word a job is followed: only such a word is taken, whoever wrote it, and each try is told one of its own that leads back to it. */
#include "common/lang.h"
#include "common/tap.h"
#include "pool/protocol/job_trace.h"

#include <stdio.h>
#include <string.h>

#define ID "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define GOOD "00-" ID "-" SPAN "-01"

static const struct {
    const char *sentence, *text, *written; /* written: NULL for one that is none */
} texts[] = {
    {"one that is as it must be", GOOD, GOOD},
    {"one that is not sampled", "00-" ID "-" SPAN "-00", "00-" ID "-" SPAN "-00"},
    {"flags that are not known are not handed on", "00-" ID "-" SPAN "-ff", "00-" ID "-" SPAN "-03"},
    {"nothing", "", NULL},
    {"digits in upper case", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", NULL},
    {"flags in upper case", "00-" ID "-" SPAN "-0A", NULL},
    {"another version", "01-" ID "-" SPAN "-01", NULL},
    {"a version that cannot be", "ff-" ID "-" SPAN "-01", NULL},
    {"an id that is all zeros", "00-00000000000000000000000000000000-" SPAN "-01", NULL},
    {"a span that is all zeros", "00-" ID "-0000000000000000-01", NULL},
    {"what is too short by one", "00-" ID "-" SPAN "-0", NULL},
    {"what goes on behind it", GOOD "-x", NULL},
    {"a line behind it", GOOD "\n", NULL},
    {"a blank in front", " " GOOD, NULL},
    {"a mark that is missing", "00-" ID "0" SPAN "-01", NULL},
    {"a letter that is no digit", "00-4bf92f3577b34da6a3ce929d0e0e473g-" SPAN "-01", NULL},
    {"a sign among the digits", "00-" ID "-+0f067aa0ba902b7-01", NULL},
    {"marks that are blanks", "00 " ID " " SPAN " 01", NULL},
};

static void reading(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct job_trace trace;
        struct text written;
        bool good;

        memset(&trace, 0xff, sizeof trace);
        good = job_trace_read(texts[i].text, strlen(texts[i].text), &trace);
        job_trace_write(&trace, &written);
        if (!tap_ok(good == (texts[i].written != NULL) && job_trace_is_none(&trace) == !good &&
                        !strcmp(written.bytes, good ? texts[i].written : ""),
                    good ? "taken: %s" : "refused: %s", texts[i].sentence))
            tap_diag("written again: '%s'", written.bytes);
    }
}

/* What is not the whole text is refused wherever it is cut, and whatever one of its bytes is changed to: never half taken. */
static void each_byte(void)
{
    struct job_trace trace, other;
    unsigned wrong = 0;

    for (size_t len = 0; len < JOB_TRACE_LEN; len++)
        wrong += job_trace_read(GOOD, len, &trace) || !job_trace_is_none(&trace);
    tap_ok(!wrong, "none that is cut is taken");
    for (size_t at = 0; at < JOB_TRACE_LEN; at++)
        for (int byte = 0; byte < 256; byte++) {
            char text[] = GOOD;
            bool digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'), may;

            text[at] = (char)byte;
            may = at < 3 || at == 35 || at == 52 ? (char)byte == GOOD[at] : digit;
            wrong += job_trace_read(text, JOB_TRACE_LEN, &other) != may;
        }
    tap_ok(!wrong, "each byte of it counts");
}

static void children(void)
{
    struct job_trace trace, first, again, second, other;
    char id[JOB_TRACE_ID_LEN + 1];

    job_trace_read(GOOD, strlen(GOOD), &trace);
    first = job_trace_child(&trace, 7, 1);
    again = job_trace_child(&trace, 7, 1);
    second = job_trace_child(&trace, 7, 2);
    other = job_trace_child(&trace, 8, 1);
    job_trace_id_write(&first, id);
    tap_ok(!strcmp(id, ID), "a try has the id of its submission");
    tap_ok(memcmp(&first, &trace, sizeof trace) != 0, "its span is another than its submission's");
    tap_ok(!memcmp(&first, &again, sizeof first), "its span is the same whenever it is asked for");
    tap_ok(memcmp(first.span, second.span, sizeof first.span) != 0, "the next try of the job has another");
    tap_ok(memcmp(first.span, other.span, sizeof first.span) != 0, "so has another job");
    tap_ok(first.flags == 1, "it is sampled as its submission is");
    memset(&trace, 0, sizeof trace);
    first = job_trace_child(&trace, 7, 1);
    tap_ok(job_trace_is_none(&first), "where there is no trace a try has none");
}

static void making(void)
{
    static const uint64_t least[3] = {0, 0, 0}, words[3] = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0x00f067aa0ba902b7};
    struct job_trace trace, read;
    struct text text;

    job_trace_make(words, &trace);
    job_trace_write(&trace, &text);
    tap_ok(!strcmp(text.bytes, GOOD), "one that is made has the words that were drawn");
    job_trace_make(least, &trace);
    job_trace_write(&trace, &text);
    tap_ok(job_trace_read(text.bytes, strlen(text.bytes), &read) && !memcmp(&read, &trace, sizeof read),
           "whatever was drawn, it is one that others take");
}

static void in_ads(void)
{
    static const struct {
        const char *sentence, *ad;
        bool has;
    } ads[] = {
        {"an ad may say it", "[ TraceParent = \"" GOOD "\" ]", true},
        {"an ad that says something else has none", "[ TraceParent = \"hello\" ]", false},
        {"a number is none", "[ TraceParent = 17 ]", false},
        {"what would have to be computed is none", "[ TraceParent = \"" GOOD "\" + \"\" ]", false},
        {"an ad without it has none", "[ Cmd = \"true\" ]", false},
    };
    struct job_trace trace;
    struct lang lang;

    lang_init(&lang);
    for (size_t i = 0; i < sizeof ads / sizeof *ads; i++) {
        struct tree *ad = lang_ad(&lang, &dialect_classic, ads[i].ad, NULL);

        tap_ok(ad && job_trace_of(ad, &trace) == ads[i].has && job_trace_is_none(&trace) == !ads[i].has, "%s",
               ads[i].sentence);
        tree_unref(ad);
    }
    tap_ok(!job_trace_of(NULL, &trace) && job_trace_is_none(&trace), "where there is no ad there is none");
    lang_done(&lang);
}

int main(void)
{
    reading();
    each_byte();
    children();
    making();
    in_ads();
    return tap_done();
}
