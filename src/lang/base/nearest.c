/* nearest.c: the edit distance between names: letters put in, left out, changed, or two swapped; case does not count. */
#include "lang/base/nearest.h"

#include <ctype.h>
#include <string.h>

void nearest_init(struct nearest *nearest, const char *wrong, size_t len)
{
    *nearest = (struct nearest){wrong, len, NULL, len / 3 + 2}; /* a name that is farther away is not similar */
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NEAREST_LEN_MAX + 1]; /* the row before the last, the last row, this row */

    for (size_t j = 0; j <= b_len; j++)
        rows[1][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        rows[2][0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);

            rows[2][j] = least(rows[1][j - 1] + (x != y), least(rows[1][j], rows[2][j - 1]) + 1);
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && tolower((unsigned char)a[i - 2]) == y)
                rows[2][j] = least(rows[2][j], rows[0][j - 2] + 1);
        }
        memcpy(rows[0], rows[1], sizeof rows[0]);
        memcpy(rows[1], rows[2], sizeof rows[1]);
    }
    return rows[1][b_len];
}

void nearest_try(struct nearest *nearest, const char *name)
{
    size_t len = strlen(name), d;

    if (len > NEAREST_LEN_MAX || nearest->len > NEAREST_LEN_MAX)
        return;
    d = distance(nearest->wrong, nearest->len, name, len);
    if (d < nearest->distance && d < len) {
        nearest->distance = d;
        nearest->name = name;
    }
}
