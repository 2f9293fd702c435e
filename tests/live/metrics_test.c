/* metrics_test.c: what is counted, and that its text is OpenMetrics, by a strict reader of its own. */
#include "live/http/metrics.h"

#include "common/tap.h"

#include <ctype.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- strict reader */

#define FAMILIES_MAX 128
#define SAMPLES_MAX 20000

struct sample {
    char name[128], labels[256], le[32];
    double value;
};

struct family {
    char name[128], type[16], unit[32];
    bool help;
};

struct exposition {
    struct family families[FAMILIES_MAX];
    size_t family_count;
    struct sample *samples;
    size_t sample_count;
    char why[512];
};

static bool wrong(struct exposition *e, const char *what, const char *line)
{
    snprintf(e->why, sizeof e->why, "%s: %.200s", what, line);
    return false;
}

static size_t name_length(const char *text)
{
    size_t len = 0;

    if (!isalpha((unsigned char)*text) && *text != '_' && *text != ':')
        return 0;
    while (isalnum((unsigned char)text[len]) || text[len] == '_' || text[len] == ':')
        len++;
    return len;
}

/* # TYPE name type, then # UNIT, then # HELP: each once, and together. */
static bool read_metadata(struct exposition *e, const char *line)
{
    struct family *last = e->family_count ? &e->families[e->family_count - 1] : NULL;
    char word[8], name[128], rest[256];

    if (sscanf(line, "# %7s %127s %255[^\n]", word, name, rest) != 3)
        return wrong(e, "no metadata", line);
    if (name_length(name) != strlen(name))
        return wrong(e, "no name", line);
    if (!strcmp(word, "TYPE")) {
        for (size_t i = 0; i < e->family_count; i++)
            if (!strcmp(e->families[i].name, name))
                return wrong(e, "a family twice", line);
        if (strcmp(rest, "counter") && strcmp(rest, "gauge") && strcmp(rest, "histogram"))
            return wrong(e, "no type", line);
        last = &e->families[e->family_count++];
        *last = (struct family){0};
        snprintf(last->name, sizeof last->name, "%s", name);
        snprintf(last->type, sizeof last->type, "%.15s", rest);
        return true;
    }
    if (!last || strcmp(last->name, name))
        return wrong(e, "metadata of another family", line);
    if (!strcmp(word, "UNIT")) {
        size_t unit = strlen(rest), len = strlen(name);

        if (last->unit[0] || last->help || len <= unit || strcmp(name + len - unit, rest) ||
            name[len - unit - 1] != '_')
            return wrong(e, "a unit that is not the end of the name, or out of order", line);
        snprintf(last->unit, sizeof last->unit, "%.31s", rest);
        return true;
    }
    if (strcmp(word, "HELP") || last->help)
        return wrong(e, "unknown or repeated metadata", line);
    for (const char *c = rest; *c; c++)
        if (*c == '\\' && !strchr("\\n\"", *++c))
            return wrong(e, "a bad escape", line);
    return last->help = true;
}

/* {a="b",le="0.1"}; the labels without le go to `labels`. */
static const char *read_labels(struct exposition *e, const char *at, struct sample *sample, const char *line)
{
    const char *start = at;

    if (*at != '{')
        return at;
    do {
        size_t name = name_length(++at);
        const char *label = at, *value;

        if (!name || at[name] != '=' || at[name + 1] != '"')
            return wrong(e, "no label", line), NULL;
        value = at += name + 2;
        while (*at && *at != '"' && *at != '\n')
            at += *at == '\\' && strchr("\\n\"", at[1]) && at[1] ? 2 : 1;
        if (*at != '"')
            return wrong(e, "a label without end", line), NULL;
        if (name == 2 && !memcmp(label, "le", 2)) {
            if (at[1] != '}')
                return wrong(e, "le is not last", line), NULL;
            snprintf(sample->le, sizeof sample->le, "%.*s", (int)(at - value), value);
            snprintf(sample->labels, sizeof sample->labels, "%.*s", (int)(label - start - 1), start + 1);
            if (label - start > 1)
                sample->labels[label - start - 2] = '\0'; /* the comma in front */
        }
        at++;
    } while (*at == ',');
    if (*at != '}')
        return wrong(e, "labels without end", line), NULL;
    if (!sample->le[0])
        snprintf(sample->labels, sizeof sample->labels, "%.*s", (int)(at - start - 1), start + 1);
    return at + 1;
}

static bool read_sample(struct exposition *e, const char *line)
{
    const struct family *family = e->family_count ? &e->families[e->family_count - 1] : NULL;
    struct sample *sample = &e->samples[e->sample_count];
    size_t len = name_length(line), base = family ? strlen(family->name) : 0;
    static const char *const endings[] = {"_total", "", "_bucket", "_count", "_sum"};
    const char *at, *end;
    bool fits = false;
    char *stop;

    *sample = (struct sample){0};
    if (!family || !family->help || !len || len < base || memcmp(line, family->name, base))
        return wrong(e, "a sample outside its family", line);
    snprintf(sample->name, sizeof sample->name, "%.*s", (int)len, line);
    end = sample->name + base;
    for (int i = 0; i < 5; i++) {
        const char *type = i == 0 ? "counter" : i == 1 ? "gauge" : "histogram";

        fits |= !strcmp(end, endings[i]) && !strcmp(family->type, type);
    }
    if (!fits)
        return wrong(e, "an ending that its type does not have", line);
    at = read_labels(e, line + len, sample, line);
    if (!at)
        return false;
    if (*at != ' ' || isspace((unsigned char)at[1]))
        return wrong(e, "no blank before the value", line);
    sample->value = strtod(at + 1, &stop);
    if (stop == at + 1 || *stop != '\n')
        return wrong(e, "no value", line);
    if (!strcmp(end, "_bucket") != (sample->le[0] != '\0'))
        return wrong(e, "le belongs to buckets, and they to it", line);
    if (strcmp(family->type, "gauge") && sample->value < 0)
        return wrong(e, "a count below zero", line);
    for (size_t i = 0; i < e->sample_count; i++)
        if (!strcmp(e->samples[i].name, sample->name) && !strcmp(e->samples[i].labels, sample->labels) &&
            !strcmp(e->samples[i].le, sample->le))
            return wrong(e, "a sample twice", line);
    e->sample_count++;
    return true;
}

/* Buckets rise in bound and count, the last is +Inf, and count and sum follow. */
static bool check_histograms(struct exposition *e)
{
    for (size_t i = 0; i < e->sample_count; i++) {
        const struct sample *sample = &e->samples[i], *before = i ? sample - 1 : NULL;
        bool begins = !before || strcmp(before->name, sample->name) || strcmp(before->labels, sample->labels);

        if (!sample->le[0])
            continue;
        if (!begins && (before->value > sample->value ||
                        (strcmp(sample->le, "+Inf") && strtod(before->le, NULL) >= strtod(sample->le, NULL))))
            return wrong(e, "buckets that do not rise", sample->name);
        if (!strcmp(sample->le, "+Inf")) {
            if (i + 2 >= e->sample_count || !strstr(sample[1].name, "_count") || sample[1].value != sample->value ||
                !strstr(sample[2].name, "_sum") || strcmp(sample[1].labels, sample->labels) ||
                strcmp(sample[2].labels, sample->labels))
                return wrong(e, "buckets without their count and sum", sample->name);
        } else if (i + 1 == e->sample_count || !sample[1].le[0]) {
            return wrong(e, "buckets without +Inf", sample->name);
        }
    }
    return true;
}

static bool exposition_read(struct exposition *e, const char *text)
{
    *e = (struct exposition){.samples = calloc(SAMPLES_MAX, sizeof *e->samples)};
    while (*text) {
        const char *end = strchr(text, '\n');

        if (!end)
            return wrong(e, "no end of the last line", text);
        if (!strncmp(text, "# EOF\n", 6))
            return text[6] ? wrong(e, "something behind the end", text) : check_histograms(e);
        if (!(*text == '#' ? read_metadata(e, text) : read_sample(e, text)))
            return false;
        text = end + 1;
    }
    return wrong(e, "no # EOF", "");
}

static double value_of(const struct exposition *e, const char *name, const char *labels, const char *le)
{
    for (size_t i = 0; i < e->sample_count; i++)
        if (!strcmp(e->samples[i].name, name) && !strcmp(e->samples[i].labels, labels) && !strcmp(e->samples[i].le, le))
            return e->samples[i].value;
    return -1;
}

/* ---------------------------------------------------------------------------------------------------------------- tests */

static bool print_and_read(struct exposition *e, const struct metrics *metrics)
{
    struct buf out;
    bool right;

    buf_init(&out);
    metrics_print(&out, metrics);
    right = exposition_read(e, buf_string(&out));
    if (!right)
        tap_diag("%s", e->why);
    buf_done(&out);
    return right;
}

static void test_reader(void)
{
    static const char *const bad[] = {
        "",
        "# EOF",
        "# TYPE a counter\n# HELP a x\na_total 1\n",
        "# TYPE a counter\n# HELP a x\na 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a x\na 1\na 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a x\na{b=\"c} 1\n# EOF\n",
        "# TYPE a_seconds gauge\n# UNIT a_seconds bytes\n# HELP a_seconds x\na_seconds 1\n# EOF\n",
        "# TYPE a histogram\n# HELP a x\na_bucket{le=\"1\"} 3\na_bucket{le=\"+Inf\"} 2\na_count 2\na_sum 1\n# EOF\n",
        "# TYPE a histogram\n# HELP a x\na_bucket{le=\"1\"} 1\na_count 1\na_sum 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a x\nb 1\n# EOF\n",
    };
    int refused = 0;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct exposition e;

        refused += !exposition_read(&e, bad[i]);
        free(e.samples);
    }
    tap_ok(refused == (int)(sizeof bad / sizeof *bad), "the reader of this test refuses what is not OpenMetrics (%d)",
           refused);
}

static void test_empty(void)
{
    static const int parties[] = {
#define X(id, name, type, unit, party, ...) METRIC_PARTY_##party,
        METRICS(X)
#undef X
    };
    struct metrics *metrics;
    struct exposition e;

    for (int party = METRIC_PARTY_C; party <= METRIC_PARTY_P; party *= 2) {
        size_t count = 0;

        for (int i = 0; i < METRIC_COUNT; i++)
            count += (parties[i] & party) != 0;
        metrics = metrics_new((enum metric_party)party, NULL, 0);
        tap_ok(print_and_read(&e, metrics) && e.family_count == count &&
                   value_of(&e, "berth_cycles_total", "", "") == -1,
               "a %s prints its metrics, and no matchmaker's", party == METRIC_PARTY_C ? "customer" : "provider");
        metrics_free(metrics);
        free(e.samples);
    }
    metrics = metrics_new(METRIC_PARTY_M, NULL, 0);
    tap_ok(print_and_read(&e, metrics), "the metrics of a service that has done nothing are OpenMetrics text");
    tap_ok(e.family_count < METRIC_COUNT && value_of(&e, "berth_tries_total", "", "") == -1,
           "each metric is there with its type and help, and none of a customer");
    tap_ok(value_of(&e, "berth_cycles_total", "", "") == 0 && value_of(&e, "berth_ads", "kind=\"offer\"", "") == 0,
           "what has not happened yet is a zero, so that a rise is seen");
    metrics_free(metrics);
    metrics_free(NULL);
    free(e.samples);
}

static void test_full(void)
{
    static const char *const routes[] = {"GET /v1/ads", "PUT /v1/ads/{id}", "odd \"name\" \\ with\nline"};
    static const char *const faults[] = {"expired", "signature"};
    const struct metric_words words[] = {{METRIC_SET_ROUTE, routes, 3}, {METRIC_SET_FAULT, faults, 2}};
    struct metrics *metrics = metrics_new(METRIC_PARTY_MCP, words, 2);
    struct exposition e;

    metrics_count(metrics, METRIC_CYCLES);
    metrics_add(metrics, METRIC_CYCLES, 0, 0, 2);
    metrics_add(metrics, METRIC_HTTP_REQUESTS, 1, 1, 5);
    metrics_add(metrics, METRIC_HTTP_REQUESTS, 2, 3, 6);
    metrics_add(metrics, METRIC_HTTP_REQUESTS, 99, 99, 7);
    metrics_add(metrics, METRIC_TOKENS_REFUSED, 1, 0, 4);
    metrics_set(metrics, METRIC_ADS, 1, 0, 123);
    metrics_set(metrics, METRIC_CONNECTIONS, 0, 0, -1);
    metrics_set(metrics, METRIC_LOG_DROPPED, 0, 0, 9);
    metrics_set(metrics, METRIC_START_TIME, 0, 0, INT64_C(1794736800123456));
    metrics_set(metrics, METRIC_RESIDENT, 0, 0, metrics_resident());
    metrics_observe(metrics, METRIC_CYCLE_SECONDS, 0, 0);
    metrics_observe(metrics, METRIC_CYCLE_SECONDS, 0, 16);
    metrics_observe(metrics, METRIC_CYCLE_SECONDS, 0, 17);
    metrics_observe(metrics, METRIC_CYCLE_SECONDS, 0, 1 << 24);
    metrics_observe(metrics, METRIC_CYCLE_SECONDS, 0, (1 << 24) + 1);
    metrics_observe(metrics, METRIC_CYCLE_SECONDS, 0, -5);
    metrics_observe(metrics, METRIC_HTTP_SECONDS, 1, 1000);
    metrics_observe(metrics, METRIC_QUEUE_WAIT, 0, INT64_C(1000000));
    metrics_observe(metrics, METRIC_QUEUE_WAIT, 0, INT64_C(86400000000));
    metrics_count(NULL, METRIC_CYCLES);
    metrics_observe(NULL, METRIC_QUEUE_WAIT, 0, 1);
    tap_ok(print_and_read(&e, metrics), "with numbers and odd labels it is OpenMetrics text as well");
    tap_ok(value_of(&e, "berth_cycles_total", "", "") == 3, "a counter adds up");
    tap_ok(value_of(&e, "berth_http_requests_total", "route=\"PUT /v1/ads/{id}\",status=\"2xx\"", "") == 5 &&
               value_of(&e, "berth_http_requests_total", "route=\"odd \\\"name\\\" \\\\ with\\nline\",status=\"4xx\"",
                        "") == 6,
           "requests are counted by route and class of status");
    tap_ok(value_of(&e, "berth_http_requests_total", "route=\"other\",status=\"other\"", "") == 7,
           "a label outside its set is counted as other");
    tap_ok(value_of(&e, "berth_http_requests_total", "route=\"GET /v1/ads\",status=\"2xx\"", "") == -1,
           "pairs of labels that never happened are not printed");
    tap_ok(value_of(&e, "berth_tokens_refused_total", "fault=\"signature\"", "") == 4 &&
               value_of(&e, "berth_tokens_refused_total", "fault=\"expired\"", "") == 0,
           "refused tokens are counted by the check that failed");
    tap_ok(value_of(&e, "berth_ads", "kind=\"request\"", "") == 123 && value_of(&e, "berth_connections", "", "") == -1,
           "a gauge is what it was set to");
    tap_ok(value_of(&e, "process_start_time_seconds", "", "") == 1794736800.123456, "times are in seconds");
    tap_ok(value_of(&e, "process_resident_memory_bytes", "", "") > 100000, "memory is in bytes");
    tap_ok(value_of(&e, "berth_cycle_seconds_bucket", "", "0.000016") == 3 &&
               value_of(&e, "berth_cycle_seconds_bucket", "", "0.000032") == 4 &&
               value_of(&e, "berth_cycle_seconds_bucket", "", "16.777216") == 5 &&
               value_of(&e, "berth_cycle_seconds_bucket", "", "+Inf") == 6 &&
               value_of(&e, "berth_cycle_seconds_count", "", "") == 6,
           "a bucket holds what took up to its bound, and that bound");
    tap_ok(value_of(&e, "berth_cycle_seconds_sum", "", "") == 33.554466, "the sum is that of all that was observed");
    tap_ok(value_of(&e, "berth_http_request_seconds_bucket", "route=\"PUT /v1/ads/{id}\"", "0.001024") == 1 &&
               value_of(&e, "berth_http_request_seconds_count", "route=\"GET /v1/ads\"", "") == -1,
           "of histograms by route only those that were used are printed");
    tap_ok(value_of(&e, "berth_queue_wait_seconds_bucket", "", "0.524288") == 0 &&
               value_of(&e, "berth_queue_wait_seconds_bucket", "", "1.048576") == 1 &&
               value_of(&e, "berth_queue_wait_seconds_bucket", "", "68719.476736") == 1 &&
               value_of(&e, "berth_queue_wait_seconds_bucket", "", "137438.953472") == 2 &&
               value_of(&e, "berth_queue_wait_seconds_sum", "", "") == 86401,
           "waits of a second and of a day lie in different buckets");
    tap_ok(metrics_value(metrics, METRIC_CYCLE_SECONDS, 0, 0) == 6 && metrics_value(metrics, METRIC_ADS, 1, 0) == 123 &&
               metrics_value(metrics, METRIC_HTTP_REQUESTS, 3, 5) == 7,
           "numbers can be read back");
    metrics_add(metrics, METRIC_ADS, 1, 0, 5);
    metrics_add(metrics, METRIC_CYCLE_SECONDS, 0, 0, 5);
    metrics_observe(metrics, METRIC_CYCLES, 0, 5);
    tap_ok(metrics_value(metrics, METRIC_ADS, 1, 0) == 123 && metrics_value(metrics, METRIC_CYCLES, 0, 0) == 3,
           "what does not fit a metric's type changes nothing");
    metrics_free(metrics);
    free(e.samples);
}

int main(void)
{
    test_reader();
    test_empty();
    test_full();
    return tap_done();
}
