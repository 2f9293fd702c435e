/* How far a job is, as its line of status says: what is a percentage and what is not, and there and back. */
#include "pool/protocol/job_progress.h"

#include "common/tap.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *line;
    double part; /* below 0: it says nothing of that */
    const char *words;
} rows[] = {
    {"40% epoch 12", 0.4, "epoch 12"},
    {"0%", 0, ""},
    {"100%", 1, ""},
    {"87.5%   nearly", 0.875, "nearly"},
    {"45.9%", 0.459, ""},
    {"33.33%", 0.3333, ""},
    {"40.% x", -1, NULL},
    {"007% bond", 0.07, "bond"},
    {"100.0001% too much", -1, NULL},
    {"101%", -1, NULL},
    {"step 40% done", -1, NULL},
    {"40 % done", -1, NULL},
    {"40%done", -1, NULL},
    {".5%", -1, NULL},
    {"1.2.3%", -1, NULL},
    {"-4%", -1, NULL},
    {"%", -1, NULL},
    {"", -1, NULL},
    {"99999999999999999999999999%", -1, NULL},
    {"0.0000000000000000001%", -1, NULL},
};

int main(void)
{
    struct buf line;
    const char *words = NULL;
    double part = -1;

    buf_init(&line);
    tap_ok(!progress_read(NULL, &part, &words), "no line says nothing");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool read = progress_read(rows[i].line, &part, &words);

        tap_ok(read == (rows[i].part >= 0) &&
                   (!read || (part == rows[i].part && !strcmp(words, rows[i].words))),
               "%s: %s", rows[i].line, rows[i].part >= 0 ? "so far" : "nothing is said of that");
    }
    for (int i = 0; i <= 10000; i++) {
        buf_reset(&line);
        progress_print(&line, i / 10000.0, i % 2 ? "on and on" : "");
        if (!progress_read(buf_string(&line), &part, &words) || fabs(part - i / 10000.0) > 1e-4 ||
            strcmp(words, i % 2 ? "on and on" : "") != 0)
            break;
        if (i == 10000)
            tap_ok(true, "what is printed is read again");
    }
    tap_ok(line.len > 0 && part == 1, "up to the end: %s", buf_string(&line));
    buf_done(&line);
    return tap_done();
}
