/* weights.c -- which layer and which heads are read, and their mean. */
#include "model/weights.h"

#include "graph/guide.h"
#include "graph/tape.h"
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

static bool choose_heads(const struct hd_config *c, const struct hd_weights *w, int layer, int head,
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
    if (!choose_heads(c, w, layer, head, &choice))
        return false;
    const int n = w->n_keys[row];
    memset(alpha, 0, (size_t)n * sizeof *alpha);
    for (int i = 0; i < choice.count; i++)
        add_weights(alpha, w->find(w, row, choice.layer, head_at(c, &choice, i)), n,
                    1 / (float)choice.count);
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

static void find_scores(const struct hd_weights *w, int row, int layer, int head, float *e)
{
    (void)layer, (void)head;
    const hd_node *scores = w->scores[w->sequence[row]]; /* [B, longest] */
    memcpy(e, scores->x + (size_t)w->query[row] * (size_t)hd_width(scores),
           (size_t)w->n_keys[row] * sizeof *e);
}

static void find_head_scores(const struct hd_weights *w, int row, int layer, int head, float *e)
{
    (void)layer;
    hd_attention_scores(w->nodes[w->sequence[row]], w->query[row], 0, head, e);
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
                               .find = n_heads > 0 ? find_head : find_alpha,
                               .find_scores = n_heads > 0 ? find_head_scores : find_scores};
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

/* ---- scores -------------------------------------------------------------------------------------- */

bool hd_scores_of(const struct hd_net *net, const struct hd_weights *w, int row, int layer,
                  int head, float *e)
{
    struct choice choice;
    if (!choose_heads(&net->config, w, layer, head, &choice) || choice.count != 1 ||
        !w->find_scores || (w->find_scores == find_scores && !w->scores))
        return false;
    w->find_scores(w, row, choice.layer, head_at(&net->config, &choice, 0), e);
    return true;
}
