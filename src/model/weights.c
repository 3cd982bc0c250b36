/* weights.c -- which layer and which heads are read, and their mean. */
#include "model/weights.h"

#include "model/model.h"

#include <string.h>

static void add_weights(float *alpha, const float *row, int n, float share)
{
    for (int j = 0; j < n; j++)
        alpha[j] += share * row[j];
}

/* Which layer and heads are meant: `count` heads, all or some. False where there are no such. */
struct choice {
    int layer, first, count;
    bool is_listed; /* the heads are those of the alignment */
};

static bool choose(const struct hd_config *c, const struct hd_weights *w, int layer, int head,
                   struct choice *choice)
{
    const bool is_cross = w->kind == HD_ATTENTION_CROSS;
    if (layer == 0)
        layer = is_cross && w->n_layers > 1 ? c->alignment_layer : w->n_layers;
    if (layer < 1 || layer > w->n_layers || head < -1 || head >= w->n_heads)
        return false;
    const bool is_listed = head < 0 && is_cross && c->n_alignment_heads > 0 && w->n_heads > 1;
    const int n_heads = is_listed ? c->n_alignment_heads : w->n_heads;
    *choice = (struct choice){.layer = layer,
                              .first = head < 0 ? 0 : head,
                              .count = head < 0 ? n_heads : 1,
                              .is_listed = is_listed};
    return true;
}

static int head_at(const struct hd_config *c, const struct choice *choice, int i)
{
    return choice->is_listed ? c->alignment_heads[i] : choice->first + i;
}

bool hd_weights_of(const struct hd_net *net, const struct hd_weights *w, int row, int layer,
                   int head, float *alpha)
{
    const struct hd_config *c = &net->config;
    struct choice choice;
    if (!choose(c, w, layer, head, &choice))
        return false;
    const int n = w->n_keys[row];
    memset(alpha, 0, (size_t)n * sizeof *alpha);
    for (int i = 0; i < choice.count; i++)
        add_weights(alpha, w->find(w, row, choice.layer, head_at(c, &choice, i)), n,
                    1 / (float)choice.count);
    return true;
}

bool hd_scores_of(const struct hd_net *net, const struct hd_weights *w, int row, int layer,
                  int head, float *e)
{
    struct choice choice;
    if (!choose(&net->config, w, layer, head, &choice) || choice.count != 1)
        return false;
    w->find_scores(w, row, choice.layer, head_at(&net->config, &choice, 0), e);
    return true;
}
