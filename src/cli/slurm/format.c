/* format.c: lines as squeue and sinfo are told to print them: %.18i %P %t. */
#include "cli/slurm/parts.h"
#include "cli/term/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool slurm_line(const char *command, const char *format, const char *letters, slurm_cell_fn *cell, const void *what,
                struct buf *out)
{
    struct buf one;
    bool good = true;

    buf_init(&one);
    for (const char *c = format; *c && good; c++) {
        bool right;
        int width;

        if (*c != '%') {
            buf_addc(out, *c);
            continue;
        }
        right = *++c == '.';
        c += right;
        width = (int)strtol(c, (char **)(uintptr_t)&c, 10);
        if (!*c || !strchr(letters, *c)) {
            report("%s: --format: %%%.1s is not known here; these are: %s", command, c, letters);
            good = false;
            break; /* there may be no letter */
        } else {
            buf_reset(&one);
            cell(what, *c, &one);
            width = width < 0 || width > 1000 ? 0 : width;
            if (width && one.len > (size_t)width)
                one.len = (size_t)width;
            buf_addf(out, right ? "%*.*s" : "%-*.*s", width, (int)one.len, one.len ? one.text : "");
        }
    }
    buf_addc(out, '\n');
    buf_done(&one);
    return good;
}

void slurm_span(struct buf *out, int64_t seconds, bool whole)
{
    int64_t all = seconds > 0 ? seconds : 0, days = all / 86400, hours = all / 3600 % 24, minutes = all / 60 % 60;

    if (days)
        buf_addf(out, "%" PRId64 "-", days);
    if (days || hours || whole)
        buf_addf(out, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, hours, minutes, all % 60);
    else
        buf_addf(out, "%" PRId64 ":%02" PRId64, minutes, all % 60);
}

void slurm_date(struct buf *out, int64_t at)
{
    time_t when = (time_t)at;
    struct tm parts;
    char text[40];

    if (at <= 0 || !localtime_r(&when, &parts) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts))
        snprintf(text, sizeof text, "Unknown");
    buf_adds(out, text);
}

void slurm_amount(struct buf *out, int64_t bytes)
{
    int64_t mebi = bytes / (1 << 20);

    if (mebi && mebi % 1024 == 0)
        buf_addf(out, "%" PRId64 "G", mebi / 1024);
    else
        buf_addf(out, "%" PRId64 "M", mebi);
}
