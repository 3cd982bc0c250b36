/* fourier.h -- the discrete Fourier transform of a short piece of sound, and the cosine transform; the same bits everywhere. */
#ifndef HD_VECTOR_FOURIER_H
#define HD_VECTOR_FOURIER_H

#include <heed.h>

/* Tables for one length. {0} is none; to be given to hd_fourier_release(). */
struct hd_fourier {
    int n;                    /* a power of 2 */
    double *cosine;           /* [n/2]: cos 2πk/n, */
    double *sine;             /* sin 2πk/n */
    double *real, *imaginary; /* [n], work */
};

bool hd_fourier_init(struct hd_fourier *f, int n, heed_error *err);
void hd_fourier_release(struct hd_fourier *f);

/* |X_k|² for k = 0 … n/2 of x[0..count), which zeros follow up to n. */
void hd_fourier_power(struct hd_fourier *f, const double *x, int count, double *power);

/* The orthonormal DCT-II: out_k = c_k Σ_j x_j cos(πk(2j+1)/2n), c_0 = √(1/n), else √(2/n). The table is [n_out,n]. */
void hd_cosine_table(double *table, int n_out, int n);

#endif
