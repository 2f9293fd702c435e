/* stats.c: means, Student's t, Jain's index. */
#include "sim/stats.h"

#include <math.h>

#define FREEDOM_MANY 2000 /* from here on t is the normal distribution, with its first correction terms */
#define PI 3.14159265358979323846

void sample_add(struct sample *sample, double number)
{
    double off = number - sample->mean;

    if (!sample->count || number < sample->least)
        sample->least = number;
    if (!sample->count || number > sample->most)
        sample->most = number;
    sample->count++;
    sample->mean += off / (double)sample->count;
    sample->squares += off * (number - sample->mean);
}

double sample_deviation(const struct sample *sample)
{
    return sample->count > 1 ? sqrt(sample->squares / (double)(sample->count - 1)) : 0;
}

double sample_margin(const struct sample *sample, double confidence)
{
    if (sample->count < 2)
        return 0;
    return student_quantile(0.5 + confidence / 2, sample->count - 1) * sample_deviation(sample) /
           sqrt((double)sample->count);
}

/* The probability that |t| is below `t`: Abramowitz and Stegun 26.7.3 and 26.7.4. */
static double student_within(double t, uint64_t freedom)
{
    double angle = atan(t / sqrt((double)freedom)), cosine = cos(angle), square = cosine * cosine;
    double term = freedom % 2 ? cosine : 1, sum = freedom == 1 ? 0 : term;

    for (uint64_t i = freedom % 2 ? 3 : 2; i + 2 <= freedom; i += 2) {
        term *= square * (double)(i - 1) / (double)i;
        sum += term;
    }
    return freedom % 2 ? 2 / PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

static double normal_quantile(double probability)
{
    double low = 0, high = 40, within = 2 * probability - 1;

    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;

        if (erf(middle / sqrt(2)) < within)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double student_quantile(double probability, uint64_t freedom)
{
    double low = 0, high = 1, within;

    if (probability < 0.5)
        return -student_quantile(1 - probability, freedom);
    if (freedom >= FREEDOM_MANY) {
        double z = normal_quantile(probability), n = (double)freedom;

        return z + (z * z * z + z) / (4 * n) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
    }
    within = 2 * probability - 1;
    while (high < 1e300 && student_within(high, freedom) < within)
        high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;

        if (student_within(middle, freedom) < within)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

double jain_index(const double *numbers, uint32_t count)
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += numbers[i];
        squares += numbers[i] * numbers[i];
    }
    return squares > 0 ? sum * sum / ((double)count * squares) : 1;
}
