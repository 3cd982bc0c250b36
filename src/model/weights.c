/* weights.c -- which layer and which heads are read, and their mean. */
#include "model/weights.h"

#include "graph/tape.h"
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

/* ---- attention of one query at a time ---------------------------------------------------------- */

static const float *find_alpha(const struct hd_weights *w, int row, int layer, int head)
{
    (void)layer, (void)head;
    const hd_node *alpha = w->nodes[w->sequence[row]]; /* [B, longest] */
    return alpha->x + (size_t)w->query[row] * (size_t)hd_width(alpha);
}

static const float *find_head(const struct hd_weights *w, int row, int layer, int head)
{
    (void)layer;
    return hd_attention_weights(w->nodes[w->sequence[row]], w->query[row], head);
}

struct hd_weights hd_weights_by_step(hd_node *const *nodes, int n_heads, const int *step,
                                     const int *query, const int *n_keys)
{
    return (struct hd_weights){.kind = HD_ATTENTION_CROSS,
                               .n_layers = 1,
                               .n_heads = n_heads > 0 ? n_heads : 1,
                               .nodes = nodes,
                               .sequence = step,
                               .query = query,
                               .n_keys = n_keys,
                               .find = n_heads > 0 ? find_head : find_alpha};
}

struct hd_weights hd_weights_of_one(hd_tape *t, hd_node *node, int n_heads, const hd_spans *spans)
{
    hd_node **one = hd_tape_take(t, "hd_decode", 1, sizeof *one);
    int *numbers = hd_tape_take(t, "hd_decode", 2 * (size_t)spans->n, sizeof *numbers);
    if (!node || !one || !numbers)
        return (struct hd_weights){0};
    *one = node;
    for (int b = 0; b < spans->n; b++) {
        numbers[b] = 0;
        numbers[spans->n + b] = b;
    }
    return hd_weights_by_step(one, n_heads, numbers, numbers + spans->n, spans->length);
}
