/* samples_test.c: what a job used over its life: points that become coarser, and their form as an ad, which a stranger may have written. */
#include "common/tap.h"

#include "common/lang.h"

#include "lang/ad/get.h"
#include "live/data/samples_ad.h"

static struct lang lang;

/* A job that uses one more megabyte every ten seconds, and all of a processor every other time. */
static void samples_fill(struct samples *samples, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        samples_add(samples, &(struct job_sample){.memory = i + 1, .cpu = i % 2 ? 100 : 0});
}

static void check_points(void)
{
    struct samples samples;
    bool even = true;

    samples_init(&samples);
    samples_fill(&samples, 0, SAMPLES_MAX - 1);
    tap_ok(samples.count == SAMPLES_MAX - 1 && samples.span == 10 && samples.points[0].memory == 1 &&
               samples.points[358].memory == 359,
           "for an hour there is a point every ten seconds");
    samples_fill(&samples, SAMPLES_MAX - 1, SAMPLES_MAX);
    tap_ok(samples.count == SAMPLES_MAX / 2 && samples.span == 20 && samples.points[0].memory == 2 &&
               samples.points[179].memory == 360 && samples.points[0].cpu == 50,
           "then two become one: the most memory, and how busy processors were on average");
    samples_fill(&samples, SAMPLES_MAX, SAMPLES_MAX + 1);
    tap_ok(samples.count == SAMPLES_MAX / 2, "from then on a point stands for twenty seconds");
    samples_fill(&samples, SAMPLES_MAX + 1, 100000);
    for (uint32_t i = 0; i < samples.count; i++)
        even &= samples.points[i].cpu == 50 && samples.points[i].memory == (int64_t)(i + 1) * (samples.span / 10);
    tap_ok(samples.count >= SAMPLES_MAX / 2 && samples.count < SAMPLES_MAX && samples.span == 5120 && even,
           "after a million seconds all points are of the same length, and none is lost");
}

static void check_endless(void)
{
    struct samples samples;

    samples_init(&samples);
    samples.span = SAMPLES_SPAN_MAX;
    samples.count = SAMPLES_MAX - 1;
    for (int64_t i = 0; i < 3 * (SAMPLES_SPAN_MAX / SAMPLES_SPAN); i++)
        samples_add(&samples, &(struct job_sample){.memory = 1});
    tap_ok(samples.count == SAMPLES_MAX - 1 && samples.span == SAMPLES_SPAN_MAX, "there is an end to that, too");
}

static struct tree *parsed(const char *text)
{
    struct err err;
    struct tree *ad = lang_expr(&lang, &dialect_classic, text, strlen(text), &err);

    if (!ad)
        tap_diag("%s: %s", text, err.text);
    return ad;
}

static void check_ads(void)
{
    struct samples samples, back;
    struct tree *ad;

    samples_init(&samples);
    tap_ok(!samples_ad(lang.symbols, &samples), "a job without points has no such ad");
    samples_fill(&samples, 0, 5);
    ad = samples_ad(lang.symbols, &samples);
    tap_ok(ad && samples_read(ad, &back) && !memcmp(&samples, &back, sizeof back) && !ad_find(ad, "GpuPercent"),
           "what is written is read back");
    tree_unref(ad);
    samples.gpus = true;
    samples.points[4].gpu = 100;
    samples.points[4].gpu_memory = 1 << 30;
    ad = samples_ad(lang.symbols, &samples);
    tap_ok(ad && samples_read(ad, &back) && !memcmp(&samples, &back, sizeof back), "with graphics processors too");
    tree_unref(ad);
}

static void check_lies(void)
{
    static const char *const lies[] = {
        "[ Memory = { 1 }; CpuPercent = { 1 } ]",
        "[ Span = 0; Memory = { 1 }; CpuPercent = { 1 } ]",
        "[ Span = 15; Memory = { 1 }; CpuPercent = { 1 } ]",
        "[ Span = 9223372036854775807; Memory = { 1 }; CpuPercent = { 1 } ]",
        "[ Span = 10; Memory = { 1 } ]",
        "[ Span = 10; Memory = {}; CpuPercent = {} ]",
        "[ Span = 10; Memory = { 1, 2 }; CpuPercent = { 1 } ]",
        "[ Span = 10; Memory = { -1 }; CpuPercent = { 1 } ]",
        "[ Span = 10; Memory = { 1 + 1 }; CpuPercent = { 1 } ]",
        "[ Span = 10; Memory = { \"1\" }; CpuPercent = { 1 } ]",
        "[ Span = 10; Memory = { 1 }; CpuPercent = { 100000001 } ]",
        "[ Span = 10; Memory = { 1152921504606846977 }; CpuPercent = { 1 } ]",
        "[ Span = 10; Memory = { 1 }; CpuPercent = { 1 }; GpuPercent = { 101 }; GpuMemory = { 1 } ]",
        "[ Span = 10; Memory = { 1 }; CpuPercent = { 1 }; GpuPercent = { 1 } ]",
        "[ Span = 10; Memory = 1; CpuPercent = [ a = 1 ] ]",
        "{ 1 }",
    };
    struct samples samples;
    struct tree *ad, *part;
    struct buf text;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        ad = parsed(lies[i]);
        tap_ok(ad && !samples_read(ad, &samples), "%s is refused", lies[i]);
        tree_unref(ad);
    }
    buf_init(&text);
    buf_adds(&text, "[ Samples = [ Span = 10; CpuPercent = { 1 }; Memory = { 0");
    for (int i = 0; i < SAMPLES_MAX; i++)
        buf_adds(&text, ", 1");
    buf_adds(&text, " } ] ]");
    ad = parsed(buf_string(&text));
    tap_ok(ad && !samples_part(ad, "Samples"), "so are more points than there may be");
    tree_unref(ad);
    buf_done(&text);
    ad = parsed("[ Samples = [ Span = 20; Evil = \"x\"; Memory = { 1 }; CpuPercent = { 2 } ]; Other = 5 ]");
    part = samples_part(ad, "Samples");
    tap_ok(part && !ad_find(part, "Evil") && ad_find(part, "Span") && !samples_part(ad, "Other"),
           "what does not belong there is left out");
    tree_unref(part);
    tree_unref(ad);
}

int main(void)
{
    lang_init(&lang);
    check_points();
    check_endless();
    check_ads();
    check_lies();
    lang_done(&lang);
    return tap_done();
}
