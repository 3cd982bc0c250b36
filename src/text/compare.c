/* compare.c -- paired bootstrap: scores of many samples of the same sentences.
 *
 * Scores are functions of counts, and each sentence's counts are kept, so a sample is n additions per system and metric. */
#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "text/evaluate.h"
#include "text/metric.h"

#include <limits.h>
#include <stdlib.h>

enum { N_METRICS = 5 };
static const enum heed_metric all_metrics[N_METRICS] = {
    HEED_METRIC_BLEU, HEED_METRIC_CHRF, HEED_METRIC_CHRFPP, HEED_METRIC_EXACT, HEED_METRIC_WER};

/* One system's counts. */
struct counted {
    struct hd_bleu bleu;
    struct hd_chrf chrf, chrfpp;
    struct hd_edit edit;
};

static bool count_system(struct counted *c, const heed_pair *pairs, size_t n,
                         const heed_eval_options *o, heed_error *err)
{
    c->bleu =
        (struct hd_bleu){.tok = o->tok, .is_lowercase = o->is_lowercase, .keeps_sentences = true};
    c->chrf = (struct hd_chrf){.is_lowercase = o->is_lowercase, .keeps_sentences = true};
    c->chrfpp =
        (struct hd_chrf){.word_order = 2, .is_lowercase = o->is_lowercase, .keeps_sentences = true};
    c->edit = (struct hd_edit){.is_lowercase = o->is_lowercase, .keeps_sentences = true};
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        const struct hd_text hyp = hd_text_from(pairs[i].hyp), ref = hd_text_from(pairs[i].ref);
        ok = (!(o->metrics & HEED_METRIC_BLEU) || hd_bleu_add(&c->bleu, hyp, &ref, 1, err)) &&
             (!(o->metrics & HEED_METRIC_CHRF) || hd_chrf_add(&c->chrf, hyp, &ref, 1, err)) &&
             (!(o->metrics & HEED_METRIC_CHRFPP) || hd_chrf_add(&c->chrfpp, hyp, &ref, 1, err)) &&
             (!(o->metrics & (HEED_METRIC_EXACT | HEED_METRIC_WER)) ||
              hd_edit_add(&c->edit, hyp, &ref, 1, err));
    }
    return ok;
}

static void release_system(struct counted *c)
{
    hd_bleu_release(&c->bleu);
    hd_chrf_release(&c->chrf);
    hd_chrf_release(&c->chrfpp);
    hd_edit_release(&c->edit);
}

/* Counts are structs of int64_t and add up number by number. */
union counts {
    struct hd_bleu_counts bleu;
    struct hd_chrf_counts chrf;
    struct hd_edit_counts edit;
    int64_t at[3 * HD_CHRF_ORDERS]; /* the largest */
};

static const void *sentence_of(const struct counted *c, enum heed_metric metric, size_t i,
                               size_t *n)
{
    switch (metric) {
    case HEED_METRIC_BLEU:
        *n = sizeof *c->bleu.sentences / sizeof(int64_t);
        return &c->bleu.sentences[i];
    case HEED_METRIC_CHRF:
        *n = sizeof *c->chrf.sentences / sizeof(int64_t);
        return &c->chrf.sentences[i];
    case HEED_METRIC_CHRFPP:
        *n = sizeof *c->chrfpp.sentences / sizeof(int64_t);
        return &c->chrfpp.sentences[i];
    case HEED_METRIC_EXACT:
    case HEED_METRIC_WER:
        break;
    }
    *n = sizeof *c->edit.sentences / sizeof(int64_t);
    return &c->edit.sentences[i];
}

/* The score of a choice of sentences. */
static double score_of(const struct counted *c, enum heed_metric metric, const uint32_t *chosen,
                       size_t n, bool has_effective_order)
{
    union counts sum = {.at = {0}};
    for (size_t i = 0; i < n; i++) {
        size_t n_counts;
        const int64_t *one = sentence_of(c, metric, chosen[i], &n_counts);
        for (size_t k = 0; k < n_counts; k++)
            sum.at[k] += one[k];
    }
    return metric == HEED_METRIC_BLEU    ? hd_bleu_score(&sum.bleu, has_effective_order).score
           : metric == HEED_METRIC_EXACT ? hd_edit_exact(&sum.edit)
           : metric == HEED_METRIC_WER   ? hd_edit_wer(&sum.edit)
                                         : hd_chrf_score(&sum.chrf);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where the middle 95 % of n numbers lie; sorts them. */
static void middle(double *x, int n, double *low, double *high)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    *low = x[(size_t)(n - 1) * 25 / 1000];
    *high = x[n - 1 - (int)((size_t)(n - 1) * 25 / 1000)];
}

/* scores[system][sample] of one metric become comparisons. */
static void conclude(heed_comparison *out, int stride, double *scores, int n_systems, int n_samples,
                     double *difference)
{
    const double *first = scores;
    for (int s = n_systems - 1; s >= 0; s--) { /* the first last, as it will be sorted */
        heed_comparison *c = &out[(size_t)s * (size_t)stride];
        double *own = scores + (size_t)s * (size_t)n_samples;
        int n_turned = 0;
        for (int i = 0; i < n_samples; i++) {
            difference[i] = own[i] - first[i];
            n_turned += c->difference >= 0 ? difference[i] <= 0 : difference[i] >= 0;
        }
        c->p = s == 0 ? 1 : (double)n_turned / n_samples;
        middle(difference, n_samples, &c->difference_low, &c->difference_high);
        middle(own, n_samples, &c->low, &c->high);
    }
}

static bool draw(heed_comparison *out, const struct counted *systems, int n_systems, size_t n,
                 const heed_eval_options *o, int n_samples, uint64_t seed, heed_error *err)
{
    int n_metrics = 0, m = 0;
    for (int i = 0; i < N_METRICS; i++)
        n_metrics += (o->metrics & all_metrics[i]) != 0;
    uint32_t *chosen = hd_alloc(n, sizeof *chosen, err);
    double *scores = hd_alloc((size_t)n_systems * (size_t)n_samples, sizeof *scores, err),
           *difference = hd_alloc((size_t)n_samples, sizeof *difference, err);
    const bool ok = chosen && scores && difference;
    for (int i = 0; ok && i < N_METRICS; i++) {
        const enum heed_metric metric = all_metrics[i];
        if (!(o->metrics & metric))
            continue;
        for (size_t k = 0; k < n; k++)
            chosen[k] = (uint32_t)k;
        for (int s = 0; s < n_systems; s++) {
            heed_comparison *c = &out[s * n_metrics + m];
            *c = (heed_comparison){.metric = metric};
            c->score = score_of(&systems[s], metric, chosen, n, o->has_effective_order);
            c->difference = c->score - out[m].score;
        }
        for (int b = 0; b < n_samples; b++) {
            struct hd_rng rng = {.key = seed,
                                 .stream = (uint64_t)b}; /* the same for every metric */
            for (size_t k = 0; k < n; k++)
                chosen[k] = hd_rng_below(&rng, (uint32_t)n);
            for (int s = 0; s < n_systems; s++)
                scores[(size_t)s * (size_t)n_samples + (size_t)b] =
                    score_of(&systems[s], metric, chosen, n, o->has_effective_order);
        }
        conclude(&out[m++], n_metrics, scores, n_systems, n_samples, difference);
    }
    hd_free(chosen);
    hd_free(scores);
    hd_free(difference);
    return ok;
}

bool heed_compare(heed_comparison *comparisons, const heed_pair *const *systems, int n_systems,
                  size_t n, const heed_eval_options *options, int n_samples, uint64_t seed,
                  heed_error *err)
{
    heed_eval_options asked;
    if (!hd_eval_options_read(&asked, options, err) ||
        !hd_is_given(comparisons, "room for comparisons", err) ||
        !hd_is_given(systems, "list of systems", err))
        return false;
    if (n_systems < 1 || n_samples < 1 || n_samples > 1000000)
        return hd_fail(err, HEED_BAD_OPTION,
                       "%d systems and %d samples: there must be one system or more, and from 1 to "
                       "1000000 samples",
                       n_systems, n_samples);
    for (int s = 0; s < n_systems; s++)
        if (!hd_is_given(systems[s], "list of pairs", err))
            return false;
    if (n < 1 || n > UINT32_MAX)
        return hd_fail(err, HEED_BAD_TEXT, "there are no sentences to compare");
    struct counted *counted = hd_alloc((size_t)n_systems, sizeof *counted, err);
    bool ok = counted != NULL;
    for (int s = 0; ok && s < n_systems; s++)
        ok = count_system(&counted[s], systems[s], n, &asked, err);
    ok = ok && draw(comparisons, counted, n_systems, n, &asked, n_samples, seed, err);
    for (int s = 0; counted && s < n_systems; s++)
        release_system(&counted[s]);
    hd_free(counted);
    return ok;
}
