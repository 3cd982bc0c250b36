/* principal.c -- principal components of patches, by orthogonal iteration: B ← orthonormalise(C B), C the covariance.
 *
 * The rows of B come in the order of their variance. Enough rounds for pictures, whose variances fall quickly; B is orthonormal
 * whatever the rounds, so that a patch is projected, never bent. */
#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "vector/feature.h"

#include <string.h>

enum { N_ROUNDS = 100 };

static void find_mean(double *mean, const float *x, size_t n, int width)
{
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < width; d++)
            mean[d] += (double)x[i * (size_t)width + (size_t)d];
    for (int d = 0; d < width; d++)
        mean[d] /= (double)n;
}

static void find_covariance(double *C, const double *mean, const float *x, size_t n, int width)
{
    for (size_t i = 0; i < n; i++) {
        const float *p = x + i * (size_t)width;
        for (int a = 0; a < width; a++) {
            const double u = (double)p[a] - mean[a];
            for (int b = a; b < width; b++)
                C[a * width + b] += u * ((double)p[b] - mean[b]);
        }
    }
    for (int a = 0; a < width; a++)
        for (int b = a; b < width; b++)
            C[b * width + a] = C[a * width + b] /= (double)n;
}

static double dot_of(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Gram–Schmidt, twice for the last bits. A row that is nothing but the others' becomes the axis that is least in them. */
static void orthonormalise(double *B, int k, int n)
{
    for (int r = 0; r < k; r++) {
        double *row = B + r * n;
        for (int axis = -1; axis < n; axis++) {
            if (axis >= 0) {
                memset(row, 0, (size_t)n * sizeof *row);
                row[axis] = 1;
            }
            const double before = dot_of(row, row, n);
            for (int again = 0; again < 2; again++)
                for (int q = 0; q < r; q++) {
                    const double along = dot_of(row, B + q * n, n);
                    for (int i = 0; i < n; i++)
                        row[i] -= along * B[q * n + i];
                }
            const double length = __builtin_sqrt(dot_of(row, row, n));
            if (length > 1e-8 * __builtin_sqrt(before) && length > 0) {
                for (int i = 0; i < n; i++)
                    row[i] /= length;
                break;
            }
        }
    }
}

/* The largest number of each row is above 0, so that there is one answer. */
static void choose_signs(double *B, int k, int n)
{
    for (int r = 0; r < k; r++) {
        double largest = 0;
        for (int i = 0; i < n; i++)
            if (B[r * n + i] * B[r * n + i] > largest * largest)
                largest = B[r * n + i];
        for (int i = 0; largest < 0 && i < n; i++)
            B[r * n + i] = -B[r * n + i];
    }
}

bool hd_feature_learn_basis(struct hd_feature *f, const float *patches, size_t n, heed_error *err)
{
    const int k = f->settings.project, width = hd_feature_pixels(&f->settings);
    const size_t size = (size_t)k * (size_t)width, square = (size_t)width * (size_t)width;
    double *work = hd_alloc(square + 2 * size + (size_t)width, sizeof *work, err);
    f->basis = work ? hd_alloc(size, sizeof *f->basis, err) : NULL;
    f->mean = f->basis ? hd_alloc((size_t)width, sizeof *f->mean, err) : NULL;
    f->n_basis = f->basis ? size : 0;
    f->n_mean = f->mean ? (size_t)width : 0;
    if (f->mean) {
        double *C = work, *B = C + square, *next = B + size, *mean = next + size;
        find_mean(mean, patches, n, width);
        find_covariance(C, mean, patches, n, width);
        struct hd_rng rng = {.key = 1}; /* rows that have a part of every direction */
        for (size_t i = 0; i < size; i++)
            B[i] = (double)hd_rng_u32(&rng) * 0x1p-32 - 0.5;
        orthonormalise(B, k, width);
        for (int round = 0; round < N_ROUNDS; round++) {
            for (int r = 0; r < k; r++)
                for (int i = 0; i < width; i++)
                    next[r * width + i] = dot_of(C + i * width, B + r * width, width);
            memcpy(B, next, size * sizeof *B);
            orthonormalise(B, k, width);
        }
        choose_signs(B, k, width);
        for (size_t i = 0; i < size; i++)
            f->basis[i] = (float)B[i];
        for (int i = 0; i < width; i++)
            f->mean[i] = (float)mean[i];
    }
    hd_free(work);
    return f->mean != NULL;
}
