/* patience.c -- the score decides which model is kept; score and cross entropy decide when a run is over.
 *
 * BLEU on a hundred sentences goes up and down by whole points while a model still learns. Cross entropy, a mean over thousands of
 * tokens, hardly does. So a run is stale only when neither has become better. */
#include "train/patience.h"

/* Nats by which cross entropy must fall, at once or little by little, to count as better. */
static const double LEAST_GAIN = 0.001;

/* Of equal scores (none at the beginning, all there is to get at the end) the lower cross entropy is better. */
static bool is_better(const struct hd_progress *p, double score, double ce)
{
    return !p->has_best || score > p->best || (score == p->best && ce < p->best_ce);
}

bool hd_patience_note(struct hd_progress *p, double score, double ce)
{
    const bool is_finite = ce - ce == 0;
    const bool is_best = is_finite && is_better(p, score, ce);
    const bool is_lower = is_finite && (!p->has_best || ce < p->lowest_ce - LEAST_GAIN);
    p->looked_update = p->update;
    p->n_stale = is_best || is_lower ? 0 : p->n_stale + 1;
    p->n_stale_plateau = is_best ? 0 : p->n_stale_plateau + 1;
    if (is_lower || (is_best && ce < p->lowest_ce))
        p->lowest_ce = ce;
    if (!is_best)
        return false;
    p->has_best = true;
    p->best = score;
    p->best_ce = ce;
    p->best_update = p->update;
    return true;
}
