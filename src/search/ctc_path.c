/* ctc_path.c -- one pass over the positions that remembers where each place was reached from, and one back.
 *
 * Invariant: a place that cannot be reached is -∞, and nothing is reached from it; so all that the way back visits is on a whole path. */
#include "search/ctc_path.h"

#include "base/memory.h"
#include "graph/tape.h"
#include "model/batch.h"
#include "model/model.h"

#include <math.h>

/* ---- the path ------------------------------------------------------------------------------------ */

struct line {
    const struct hd_ctc_log_said *said;
    const int *words;
    int n_places; /* of l': a blank before, between and behind the words */
};

static double log_y(const struct line *l, int s, int i)
{
    const int k = i % 2 == 0 ? l->said->width - 1 : l->words[i / 2];
    return (double)l->said->y[(size_t)s * (size_t)l->said->width + (size_t)k];
}

/* How many places a path goes on to reach i at its likeliest, 0 to 2, the fewest of those; *v becomes the v of where it was. */
static int best_way(const struct line *l, const double *before, int i, double *v)
{
    const bool may_leap = i % 2 == 1 && i >= 3 && l->words[i / 2] != l->words[i / 2 - 1];
    int way = 0;
    *v = before[i];
    for (int on = 1; on <= (may_leap ? 2 : 1) && on <= i; on++)
        if (before[i - on] > *v) {
            *v = before[i - on];
            way = on;
        }
    return way;
}

/* v of the last position, in v; way [n, n_places] is what best_way() said. */
static void go(const struct line *l, double *v, double *before, unsigned char *way)
{
    for (int i = 0; i < l->n_places; i++)
        v[i] = i < 2 ? log_y(l, 0, i) : -INFINITY;
    for (int s = 1; s < l->said->n; s++) {
        for (int i = 0; i < l->n_places; i++)
            before[i] = v[i];
        for (int i = 0; i < l->n_places; i++) {
            double from;
            way[(size_t)s * (size_t)l->n_places + (size_t)i] =
                (unsigned char)best_way(l, before, i, &from);
            v[i] = from + log_y(l, s, i);
        }
    }
}

bool hd_ctc_path(const struct hd_ctc_log_said *said, const int *words, int n_words, int *path,
                 bool *has_path, heed_error *err)
{
    const struct line l = {said, words, 2 * n_words + 1};
    const size_t n = (size_t)l.n_places;
    *has_path = false;
    if (said->n == 0)
        return true;
    double *v = hd_alloc(2 * n, sizeof *v, err);
    unsigned char *way = v ? hd_alloc((size_t)said->n * n, 1, err) : NULL;
    if (way) {
        go(&l, v, v + n, way);
        int i = l.n_places - 1;
        if (n_words > 0 && !(v[i] > v[i - 1]))
            i--;
        *has_path = v[i] > -INFINITY;
        for (int s = said->n - 1; *has_path && s >= 0; s--) {
            path[s] = i % 2 == 0 ? -1 : i / 2;
            i -= way[(size_t)s * n + (size_t)i];
        }
    }
    hd_free(v);
    hd_free(way);
    return way != NULL;
}

/* ---- of a source --------------------------------------------------------------------------------- */

/* y of a net is added to the sum, which is made with the first; one of other positions than that has no say. */
static bool add_said(hd_tape *tape, const struct hd_net *net, const struct hd_batch *batch,
                     float **sum, struct hd_ctc_log_said *said, heed_error *err)
{
    hd_tape_reset(tape);
    const struct hd_memory *memory = hd_encode(net, tape, batch, NULL);
    hd_node *y = memory ? hd_log_softmax(hd_ctc_logits(&net->ctc, memory->h), NULL) : &tape->nil;
    if (!hd_tape_check(tape, err) || !memory)
        return false;
    const int width = net->config.target_vocab + 1;
    const size_t n = (size_t)memory->spans->total * (size_t)width;
    if (!*sum) {
        *sum = hd_alloc(n, sizeof **sum, err);
        *said = (struct hd_ctc_log_said){*sum, memory->spans->total, width};
    }
    for (size_t i = 0; *sum && said->n == memory->spans->total && i < n; i++)
        (*sum)[i] += y->x[i];
    return *sum != NULL;
}

bool hd_ctc_find_path(const struct hd_net *const *nets, int n_nets, struct hd_sequence source,
                      const int *words, int n_words, int **path, int *n_positions, heed_error *err)
{
    *path = NULL;
    *n_positions = 0;
    struct hd_batch_builder builder = {0};
    struct hd_ctc_log_said said = {0};
    float *sum = NULL;
    bool has_path = false;
    hd_tape *tape = hd_tape_new(err);
    hd_batch_begin(&builder);
    bool ok = tape && hd_batch_add(&builder, source, (struct hd_sequence){0}, -1, err);
    const struct hd_batch batch = hd_batch_of(&builder);
    for (int m = 0; ok && m < n_nets; m++)
        ok = !nets[m]->ctc.W || add_said(tape, nets[m], &batch, &sum, &said, err);
    ok = ok && (*path = hd_alloc((size_t)said.n, sizeof **path, err)) &&
         hd_ctc_path(&said, words, n_words, *path, &has_path, err);
    *n_positions = has_path ? said.n : 0;
    if (!has_path) {
        hd_free(*path);
        *path = NULL;
    }
    hd_free(sum);
    hd_tape_free(tape);
    hd_batch_builder_release(&builder);
    return ok;
}
