/* job_progress.c: how far a job is, as its line of status says. */
#include "pool/protocol/job_progress.h"

#include "lang/base/number.h"

#include <stdio.h>
#include <string.h>

#define DIGITS_MAX 12 /* of a percentage, with its point */

bool progress_read(const char *line, double *ret_part, const char **ret_words)
{
    size_t digits = line ? strspn(line, "0123456789.") : 0;
    char number[DIGITS_MAX + 4];
    double part;
    int len;

    if (!digits || digits > DIGITS_MAX || line[0] == '.' || line[digits] != '%' ||
        (line[digits + 1] && line[digits + 1] != ' '))
        return false;
    len = snprintf(number, sizeof number, "%.*se-2", (int)digits, line); /* so that 45.9% is 0.459, to the last bit */
    if (number_parse_real(number, (size_t)len, &part) != (size_t)len || !(part <= 1))
        return false;
    *ret_part = part;
    *ret_words = line + digits + 1 + strspn(line + digits + 1, " ");
    return true;
}

void progress_print(struct buf *out, double part, const char *words)
{
    buf_addf(out, "%.4g%%%s%s", 100 * part < 0.0001 ? 0 : 100 * part, *words ? " " : "", words);
}
