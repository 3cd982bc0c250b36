/* weights.c -- which layer and which heads are read, and their mean. */
#include "model/weights.h"

#include "model/model.h"

#include <string.h>

static void add_weights(float *alpha, const float *row, int n, float share)
{
    for (int j = 0; j < n; j++)
        alpha[j] += share * row[j];
}

bool hd_weights_of(const struct hd_net *net, const struct hd_weights *w, int row, int layer,
                   int head, float *alpha)
{
    const struct hd_config *c = &net->config;
    const bool is_cross = w->kind == HD_ATTENTION_CROSS;
    if (layer == 0)
        layer = is_cross && w->n_layers > 1 ? c->alignment_layer : w->n_layers;
    if (layer < 1 || layer > w->n_layers || head < -1 || head >= w->n_heads)
        return false;
    const bool is_listed = head < 0 && is_cross && c->n_alignment_heads > 0 && w->n_heads > 1;
    const int n_heads = is_listed ? c->n_alignment_heads : w->n_heads;
    const int first = head < 0 ? 0 : head, count = head < 0 ? n_heads : 1, n = w->n_keys[row];
    memset(alpha, 0, (size_t)n * sizeof *alpha);
    for (int i = 0; i < count; i++) {
        const int one = is_listed ? c->alignment_heads[i] : first + i;
        add_weights(alpha, w->find(w, row, layer, one), n, 1 / (float)count);
    }
    return true;
}
