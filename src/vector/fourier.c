/* fourier.c -- radix 2, in place, over doubles: small transforms, of which a second of sound needs a hundred. */
#include "vector/fourier.h"

#include "base/memory.h"
#include "base/real.h"

#include <assert.h>

bool hd_fourier_init(struct hd_fourier *f, int n, heed_error *err)
{
    assert(n >= 2 && (n & (n - 1)) == 0);
    double *memory = hd_alloc(3 * (size_t)n, sizeof *memory, err);
    if (!memory)
        return false;
    *f = (struct hd_fourier){.n = n,
                             .cosine = memory,
                             .sine = memory + n / 2,
                             .real = memory + n,
                             .imaginary = memory + 2 * n};
    for (int k = 0; k < n / 2; k++) {
        f->cosine[k] = hd_real_cos_pi(2. * k / n);
        f->sine[k] = hd_real_cos_pi(2. * k / n - 0.5);
    }
    return true;
}

void hd_fourier_release(struct hd_fourier *f)
{
    hd_free(f->cosine);
    *f = (struct hd_fourier){0};
}

/* Bits of i in the opposite order. */
static int reversed(int i, int n)
{
    int r = 0;
    for (; n > 1; n >>= 1, i >>= 1)
        r = r << 1 | (i & 1);
    return r;
}

/* X_k = E_k + w^k O_k, X_{k+half} = E_k - w^k O_k, with w = e^{-2πi/size} and E, O the transforms of even and odd places. */
static void butterflies(struct hd_fourier *f, int size)
{
    const int half = size / 2, stride = f->n / size;
    for (int begin = 0; begin < f->n; begin += size)
        for (int k = 0; k < half; k++) {
            const double c = f->cosine[k * stride], s = f->sine[k * stride];
            double *re = f->real + begin + k, *im = f->imaginary + begin + k;
            const double re_odd = c * re[half] + s * im[half], im_odd = c * im[half] - s * re[half];
            re[half] = re[0] - re_odd;
            im[half] = im[0] - im_odd;
            re[0] += re_odd;
            im[0] += im_odd;
        }
}

void hd_fourier_power(struct hd_fourier *f, const double *x, int count, double *power)
{
    assert(count <= f->n);
    for (int i = 0; i < f->n; i++) {
        const int from = reversed(i, f->n);
        f->real[i] = from < count ? x[from] : 0;
        f->imaginary[i] = 0;
    }
    for (int size = 2; size <= f->n; size *= 2)
        butterflies(f, size);
    for (int k = 0; k <= f->n / 2; k++)
        power[k] = f->real[k] * f->real[k] + f->imaginary[k] * f->imaginary[k];
}

void hd_cosine_table(double *table, int n_out, int n)
{
    for (int k = 0; k < n_out; k++)
        for (int j = 0; j < n; j++)
            table[k * n + j] = __builtin_sqrt((k == 0 ? 1. : 2.) / n) *
                               hd_real_cos_pi(k * (2. * j + 1) / (2. * n));
}
