/* schedule.c -- rates as functions of the update's number: no clock, no libm, the same bits everywhere. */
#include "train/schedule.h"

#include "kernel/kernel.h"

/* Half a wave from 1 down to 0. */
static double cosine(double x)
{
    const float angle = (float)(3.14159265358979323846 * x);
    float y = 1;
    hd_kernels_ref.cos(&y, &angle, 1);
    return 0.5 * (1 + (double)y);
}

float hd_rate(const struct hd_recipe *r, long number, double factor)
{
    const double u = (double)number, up = (double)r->warmup, rate = (double)r->rate * factor;
    if (number < r->warmup)
        return (float)(rate * u / up);
    switch ((enum hd_schedule)r->schedule) {
    case HD_SCHEDULE_INV_SQRT: /* Vaswani et al. (2017), section 5.3; without warm-up it begins with the full rate */
        return (float)(rate * __builtin_sqrt((up > 1 ? up : 1) / u));
    case HD_SCHEDULE_COSINE: /* Loshchilov & Hutter (2017), down to nothing at the last update */
        return u >= (double)r->updates
                   ? 0
                   : (float)(rate * cosine((u - up) / ((double)r->updates - up)));
    case HD_SCHEDULE_PLATEAU:
    case HD_SCHEDULE_CONSTANT:
        break;
    }
    return (float)rate;
}
