/* guidance.c -- links of tokens become guides of the rows of a run.
 *
 * The rows of a Transformer stand sentence by sentence in one node; those of a recurrent model step by step, in a node for each. */
#include "model/guidance.h"

#include "graph/tape.h"

int hd_guided_shift(const struct hd_config *config)
{
    return config->arch == HD_TRANSFORMER;
}

/* What is known of the guides in work. */
struct guides {
    const struct hd_forced *forced;
    const struct hd_token_links *links;
    hd_guide *at;
    int shift, head;
    float weight;
};

/* Guides of one row of the run, as row `as` of a node; returns how many. */
static int guides_of_row(const struct guides *g, int row, int as, hd_guide *to)
{
    const struct hd_forced *f = g->forced;
    const struct hd_token_links *links = &g->links[f->sentence[row]];
    const int target = f->position[row] - g->shift;
    int low = 0, high = links->n;
    while (low < high) { /* the first link of the token */
        const int middle = low + (high - low) / 2;
        if (links->at[middle].target < target)
            low = middle + 1;
        else
            high = middle;
    }
    int n = 0;
    for (int i = low; i < links->n && links->at[i].target == target; i++)
        to[n++] = (hd_guide){.row = as, .key = links->at[i].source};
    for (int i = 0; i < n; i++)
        to[i].share = g->weight / (float)n;
    return n;
}

static hd_node *guide_transformer(const struct hd_net *net, const struct guides *g)
{
    int n = 0;
    for (int r = 0; r < g->forced->n_rows; r++)
        n += guides_of_row(g, r, r, g->at + n);
    hd_node *attention = g->forced->cross.nodes[net->config.alignment_layer - 1];
    return n > 0 ? hd_guide_attention(attention, g->head, g->at, n) : NULL;
}

static hd_node *guide_recurrent(const struct hd_net *net, const struct guides *g)
{
    const struct hd_weights *w = &g->forced->cross;
    const bool has_heads = net->config.score == HD_SCORE_MULTI_HEAD;
    hd_node *sum = NULL;
    for (int r = 0, end; r < g->forced->n_rows; r = end) {
        int n = 0;
        const int step = w->sequence[r];
        for (end = r; end < g->forced->n_rows && w->sequence[end] == step; end++)
            n += guides_of_row(g, end, w->query[end], g->at + n);
        if (n == 0)
            continue;
        hd_node *loss = has_heads ? hd_guide_attention(w->nodes[step], g->head, g->at, n)
                                  : hd_guide_weights(w->nodes[step], g->at, n);
        sum = sum ? hd_add(sum, loss) : loss;
    }
    return sum;
}

hd_node *hd_forced_guidance(const struct hd_net *net, hd_tape *tape, const struct hd_forced *forced,
                            const struct hd_token_links *links, int n_sentences, float weight)
{
    const struct hd_config *c = &net->config;
    size_t n = 0;
    for (int i = 0; i < n_sentences; i++)
        n += (size_t)links[i].n;
    struct guides g = {.forced = forced,
                       .links = links,
                       .shift = hd_guided_shift(c),
                       .head = c->n_alignment_heads > 0 ? c->alignment_heads[0] : 0,
                       .weight = weight};
    if (n == 0 || !forced->cross.nodes)
        return NULL;
    g.at = hd_tape_take(tape, "hd_forced_guidance", n, sizeof *g.at);
    if (!g.at)
        return &tape->nil;
    return c->arch == HD_TRANSFORMER ? guide_transformer(net, &g) : guide_recurrent(net, &g);
}
