/* mask.c -- masks and noise by counter-based numbers. */
#include "train/mask.h"

#include "base/rng.h"

bool hd_masks_vectors(const struct hd_recipe *r)
{
    return r->time_masks > 0 || r->band_masks > 0 || r->noise > 0;
}

/* A length from 0 to `most` and a place for it among n. */
static int draw_run(struct hd_rng *rng, int most, int n, int *from)
{
    most = most < n ? most : n;
    const int length = (int)hd_rng_below(rng, (uint32_t)most + 1);
    *from = (int)hd_rng_below(rng, (uint32_t)(n - length) + 1);
    return length;
}

static void mask_block(float *x, const float *mean, int width, int from_row, int n_rows,
                       int from_column, int n_columns)
{
    for (int i = from_row; i < from_row + n_rows; i++)
        for (int d = from_column; d < from_column + n_columns; d++)
            x[(size_t)i * (size_t)width + (size_t)d] = mean[d];
}

static void mask_item(float *x, int n, const struct hd_net *net, const struct hd_recipe *r,
                      struct hd_rng *rng)
{
    const int width = net->config.source_width;
    const float *mean = net->source.mean->x, *scale = net->source.scale->x;
    int from;
    for (size_t i = 0; r->noise > 0 && i < (size_t)n * (size_t)width; i++)
        x[i] += r->noise * hd_rng_normal(rng) / scale[i % (size_t)width];
    for (int m = 0; m < r->time_masks; m++) {
        const int length = draw_run(rng, r->time_mask < n / 5 ? r->time_mask : n / 5, n, &from);
        mask_block(x, mean, width, from, length, 0, width);
    }
    for (int m = 0; m < r->band_masks; m++) {
        const int length = draw_run(rng, r->band_mask, width, &from);
        mask_block(x, mean, width, 0, n, from, length);
    }
}

void hd_mask_vectors(float *frames, const struct hd_batch *batch, const struct hd_net *net,
                     const struct hd_recipe *r, uint64_t key)
{
    for (int i = 0; i < batch->n; i++) {
        struct hd_rng rng = {.key = key, .stream = (uint64_t)i};
        mask_item(frames, batch->frame_length[i], net, r, &rng);
        frames += (size_t)batch->frame_length[i] * (size_t)net->config.source_width;
    }
}
