/* seen.c -- from vectors back to bands and pixels. */
#include "vector/seen.h"

#include "base/memory.h"
#include "vector/fourier.h"

#include <string.h>

/* m_b = Σ_k c_k T_kb: the transform is orthonormal, and what was left out is 0. */
static bool see_sound(struct hd_seen *seen, const struct hd_feature *f,
                      const struct hd_featured *item, heed_error *err)
{
    const struct hd_feature_settings *s = &f->settings;
    const bool has_cepstra = s->kind == HD_FEATURES_SOUND && s->cepstra == item->width;
    const int n = item->width, bands = has_cepstra ? s->mel : n;
    double *table = hd_alloc((size_t)n * (size_t)bands, sizeof *table, err);
    *seen = (struct hd_seen){item->n, bands, false, NULL};
    seen->x = table ? hd_alloc((size_t)item->n * (size_t)bands, sizeof *seen->x, err) : NULL;
    if (has_cepstra && seen->x)
        hd_cosine_table(table, n, bands);
    for (int t = 0; seen->x && t < item->n; t++)
        for (int b = 0; b < bands; b++) {
            const float *c = item->x + (size_t)t * (size_t)n;
            double sum = has_cepstra ? 0 : (double)c[b];
            for (int k = 0; has_cepstra && k < n; k++)
                sum += table[k * bands + b] * (double)c[k] *
                       (f->deviations ? (double)f->deviations[k] : 1);
            seen->x[(size_t)t * (size_t)bands + (size_t)b] = (float)sum;
        }
    hd_free(table);
    return seen->x != NULL;
}

struct patch_shape {
    int width, height, n_colours;
};

/* As the settings say; else a square, in colours if it can be. */
static struct patch_shape shape_of(const struct hd_feature *f, int n)
{
    const struct hd_feature_settings *s = &f->settings;
    if (s->kind == HD_FEATURES_PICTURES)
        return (struct patch_shape){s->patch_width, s->patch_height,
                                    s->colours == HD_COLOURS_RGB ? 3 : 1};
    for (int side = 1; side <= 64; side++)
        if (side * side * 3 == n || side * side == n)
            return (struct patch_shape){side, side, n / (side * side)};
    return (struct patch_shape){0, 0, 0};
}

/* p = μ + vᵀ B */
static void unproject(double *patch, const struct hd_feature *f, const float *v, int width, int n)
{
    for (int i = 0; i < n; i++) {
        patch[i] = f->basis ? (double)f->mean[i] : (double)v[i];
        for (int d = 0; f->basis && d < width; d++)
            patch[i] += (double)v[d] * (double)f->basis[d * n + i];
    }
}

static void put_patch(struct hd_seen *seen, const double *patch, struct patch_shape p, int row,
                      int column)
{
    for (int i = 0; i < p.height * p.width; i++)
        for (int c = 0; c < 3; c++) {
            const double x = patch[i * p.n_colours + (p.n_colours == 3 ? c : 0)];
            const size_t y = (size_t)row * (size_t)p.height + (size_t)(i / p.width),
                         at = (size_t)column * (size_t)p.width + (size_t)(i % p.width);
            seen->x[(y * (size_t)seen->columns + at) * 3 + (size_t)c] = (float)(x < 0   ? 0
                                                                                : x > 1 ? 1
                                                                                        : x);
        }
}

static bool see_picture(struct hd_seen *seen, const struct hd_feature *f,
                        const struct hd_featured *item, heed_error *err)
{
    const bool fits = !f->basis || f->n_basis == f->n_mean * (size_t)item->width;
    const int n = f->basis && fits ? (int)f->n_mean : item->width;
    const struct patch_shape p = shape_of(f, n);
    *seen = (struct hd_seen){item->rows * p.height, item->columns * p.width, true, NULL};
    if (p.width == 0 || p.width * p.height * p.n_colours != n || !fits) {
        *seen = (struct hd_seen){0};
        return true;
    }
    double *patch = hd_alloc((size_t)n, sizeof *patch, err);
    seen->x = patch ? hd_alloc((size_t)seen->rows * (size_t)seen->columns, 3 * sizeof *seen->x, err)
                    : NULL;
    for (int i = 0; seen->x && i < item->n; i++) {
        unproject(patch, f, item->x + (size_t)i * (size_t)item->width, item->width, n);
        put_patch(seen, patch, p, i / item->columns, i % item->columns);
    }
    hd_free(patch);
    return seen->x != NULL;
}

bool hd_feature_see(struct hd_seen *seen, const struct hd_feature *f,
                    const struct hd_featured *item, heed_error *err)
{
    return (item->columns > 0 ? see_picture : see_sound)(seen, f, item, err);
}
