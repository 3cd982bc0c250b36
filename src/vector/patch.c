/* patch.c -- from pixels to patches in row order, and to principal components.
 *
 * A patch is a vector of numbers from 0 to 1, row by row, the colours of a pixel side by side. With a basis B [width,pixels] and
 * a mean μ it is v = B (p - μ), and p ≈ μ + vᵀ B. */
#include "base/error.h"
#include "base/memory.h"
#include "vector/feature.h"

#include <string.h>

/* A picture as floats, [height][width][colours]. */
struct pixels {
    int width, height, n_colours;
    float *x;
};

static bool take_pixels(struct pixels *p, const struct hd_image *image, int colours,
                        heed_error *err)
{
    const size_t n = (size_t)image->width * (size_t)image->height;
    *p = (struct pixels){image->width, image->height, colours == HD_COLOURS_RGB ? 3 : 1, NULL};
    p->x = hd_alloc(n * (size_t)p->n_colours, sizeof *p->x, err);
    for (size_t i = 0; p->x && i < n; i++) {
        const unsigned char *c = image->rgb + 3 * i;
        if (colours == HD_COLOURS_GREY)
            p->x[i] = (float)(299 * c[0] + 587 * c[1] + 114 * c[2]) / 255000;
        else
            for (int k = 0; k < 3; k++)
                p->x[3 * i + (size_t)k] = (float)c[k] / 255;
    }
    return p->x != NULL;
}

/* How much of pixel `from` lies in pixel `to`, when n pixels become m; of to's own size. */
static double share(int from, int to, int n, int m)
{
    const double ratio = (double)n / m, left = to * ratio, right = (to + 1) * ratio;
    const double begin = from > left ? from : left, end = from + 1 < right ? from + 1 : right;
    return end > begin ? (end - begin) / ratio : 0;
}

/* Each new pixel is the mean of what it covers. */
static void cover(float *out, const struct pixels *p, int x, int y, int width, int height)
{
    const int x0 = (int)((double)x * p->width / width), y0 = (int)((double)y * p->height / height);
    for (int c = 0; c < p->n_colours; c++) {
        double sum = 0;
        for (int i = y0; i < p->height; i++) {
            const double by_row = share(i, y, p->height, height);
            if (by_row == 0 && i > y0)
                break;
            for (int j = x0; j < p->width; j++) {
                const double by_column = share(j, x, p->width, width);
                if (by_column == 0 && j > x0)
                    break;
                sum +=
                    by_row * by_column *
                    (double)p->x[((size_t)i * (size_t)p->width + (size_t)j) * (size_t)p->n_colours +
                                 (size_t)c];
            }
        }
        out[c] = (float)sum;
    }
}

static bool resize(struct pixels *p, int width, int height, heed_error *err)
{
    if (width == 0 || (width == p->width && height == p->height))
        return true;
    const size_t n = (size_t)width * (size_t)height;
    if (n > HD_MOST_PIXELS)
        return hd_fail(err, HEED_BAD_OPTION, "pictures of %d by %d pixels are too large", width,
                       height);
    float *x = hd_alloc(n * (size_t)p->n_colours, sizeof *x, err);
    if (!x)
        return false;
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++)
            cover(x + ((size_t)i * (size_t)width + (size_t)j) * (size_t)p->n_colours, p, j, i,
                  width, height);
    hd_free(p->x);
    *p = (struct pixels){width, height, p->n_colours, x};
    return true;
}

static void cut_patch(float *out, const struct pixels *p, int row, int column, int width,
                      int height)
{
    const size_t line = (size_t)width * (size_t)p->n_colours;
    for (int i = 0; i < height; i++)
        memcpy(out + (size_t)i * line,
               p->x + ((size_t)(row * height + i) * (size_t)p->width + (size_t)(column * width)) *
                          (size_t)p->n_colours,
               line * sizeof *out);
}

/* v_d = Σ_i B_di (p_i - μ_i) */
void hd_feature_project(const struct hd_feature *feature, float *v, const float *patch)
{
    const int width = hd_feature_width(&feature->settings),
              n = hd_feature_pixels(&feature->settings);
    for (int d = 0; d < width; d++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum +=
                (double)feature->basis[d * n + i] * ((double)patch[i] - (double)feature->mean[i]);
        v[d] = (float)sum;
    }
}

static bool cut(const struct hd_feature *f, struct hd_featured *out, const struct pixels *p,
                heed_error *err)
{
    const struct hd_feature_settings *s = &f->settings;
    const int n = hd_feature_pixels(s), width = f->basis ? hd_feature_width(s) : n;
    const int rows = p->height / s->patch_height, columns = p->width / s->patch_width;
    *out =
        (struct hd_featured){.n = rows * columns, .width = width, .rows = rows, .columns = columns};
    out->x = hd_alloc((size_t)out->n * (size_t)width, sizeof *out->x, err);
    float *patch = out->x ? hd_alloc((size_t)n, sizeof *patch, err) : NULL;
    for (int i = 0; patch && i < out->n; i++) {
        float *to = out->x + (size_t)i * (size_t)width;
        cut_patch(f->basis ? patch : to, p, i / columns, i % columns, s->patch_width,
                  s->patch_height);
        if (f->basis)
            hd_feature_project(f, to, patch);
    }
    hd_free(patch);
    if (patch)
        return true;
    hd_free(out->x);
    *out = (struct hd_featured){0};
    return false;
}

bool hd_feature_image(const struct hd_feature *f, struct hd_featured *out,
                      const struct hd_image *image, const char *name, heed_error *err)
{
    const struct hd_feature_settings *s = &f->settings;
    struct pixels p = {0};
    bool ok = take_pixels(&p, image, s->colours, err) && resize(&p, s->width, s->height, err);
    if (ok && (p.width % s->patch_width != 0 || p.height % s->patch_height != 0))
        ok = hd_fail(err, HEED_BAD_FILE,
                     "%s: a picture of %d by %d pixels is not made of whole patches of %d by %d; "
                     "--resize %dx%d makes it so",
                     name, p.width, p.height, s->patch_width, s->patch_height,
                     (p.width + s->patch_width - 1) / s->patch_width * s->patch_width,
                     (p.height + s->patch_height - 1) / s->patch_height * s->patch_height);
    ok = ok && cut(f, out, &p, err);
    hd_free(p.x);
    return ok;
}
