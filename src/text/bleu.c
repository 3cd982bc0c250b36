/* bleu.c -- BLEU: how many of a translation's words, pairs, triples and quadruples of words are in the reference.
 *
 * Papineni, Roukos, Ward & Zhu (2002), with the smoothing of Chen & Cherry (2014), method 3, which NIST's mteval and
 * sacreBLEU use. The arithmetic is in the order of sacreBLEU's, so that the same doubles come out. */
#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "text/metric.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- counting --------------------------------------------------------------------------------- */

/* Cut a text and count its n-grams. */
static bool count_ngrams(struct hd_bleu *bleu, struct hd_text text, enum hd_side side,
                         heed_error *err)
{
    return hd_tokenise(&bleu->words, text, bleu->tok, bleu->is_lowercase, err) &&
           hd_words_number(&bleu->words, &bleu->spelling, err) &&
           hd_ngrams_count(&bleu->ngrams, bleu->words.ids, bleu->words.n, HD_BLEU_ORDER, side, err);
}

/* Is length a nearer to the hypothesis than b? Of two that are equally near it is the shorter. */
static bool is_nearer(int64_t a, int64_t b, int64_t hyp_len)
{
    const int64_t far_a = llabs(a - hyp_len), far_b = llabs(b - hyp_len);
    return far_a < far_b || (far_a == far_b && a < b);
}

/* An n-gram is correct as often as it is in the reference that has most of it. */
static bool count_sentence(struct hd_bleu *bleu, struct hd_text hyp, const struct hd_text *refs,
                           int n_refs, struct hd_bleu_counts *counts, heed_error *err)
{
    hd_ngrams_clear(&bleu->spelling);
    hd_ngrams_clear(&bleu->ngrams);
    if (!count_ngrams(bleu, hyp, HD_HYP, err))
        return false;
    counts->hyp_len = (int64_t)bleu->words.n;
    for (int i = 0; i < n_refs; i++) {
        if (!count_ngrams(bleu, refs[i], HD_REF, err))
            return false;
        hd_ngrams_end_ref(&bleu->ngrams);
        const int64_t length = (int64_t)bleu->words.n;
        if (i == 0 || is_nearer(length, counts->ref_len, counts->hyp_len))
            counts->ref_len = length;
    }
    for (size_t i = 1; i <= bleu->ngrams.n; i++) {
        const struct hd_ngram *ngram = &bleu->ngrams.at[i];
        counts->total[ngram->order - 1] += ngram->n_hyp;
        counts->correct[ngram->order - 1] +=
            ngram->n_hyp < ngram->n_most ? ngram->n_hyp : ngram->n_most;
    }
    return true;
}

bool hd_bleu_add(struct hd_bleu *bleu, struct hd_text hyp, const struct hd_text *refs, int n_refs,
                 heed_error *err)
{
    assert(n_refs > 0);
    struct hd_bleu_counts counts = {0};
    if (!count_sentence(bleu, hyp, refs, n_refs, &counts, err))
        return false;
    if (bleu->keeps_sentences) {
        struct hd_bleu_counts *grown =
            hd_grow(bleu->sentences, &bleu->capacity, bleu->n_sentences + 1, sizeof *grown, err);
        if (!grown)
            return false;
        bleu->sentences = grown;
        grown[bleu->n_sentences] = counts;
    }
    bleu->n_refs = bleu->n_sentences == 0 || bleu->n_refs == n_refs ? n_refs : -1;
    bleu->n_sentences++;
    bleu->sum.hyp_len += counts.hyp_len;
    bleu->sum.ref_len += counts.ref_len;
    for (int n = 0; n < HD_BLEU_ORDER; n++) {
        bleu->sum.correct[n] += counts.correct[n];
        bleu->sum.total[n] += counts.total[n];
    }
    return true;
}

void hd_bleu_release(struct hd_bleu *bleu)
{
    hd_free(bleu->sentences);
    hd_words_release(&bleu->words);
    hd_ngrams_release(&bleu->spelling);
    hd_ngrams_release(&bleu->ngrams);
    *bleu = (struct hd_bleu){0};
}

/* ---- the score -------------------------------------------------------------------------------- */

/* BLEU = BP · exp(Σ_n ln p_n / N),  BP = min(1, exp(1 - r/c)), c and r the lengths of hypotheses and references.
 * The first p_n without a match is taken as 1/2 of a match, the next as 1/4, and so on; without a match at all the
 * score is 0, and so it is where there are no n-grams, unless their order is left out. */
struct hd_bleu_score hd_bleu_score(const struct hd_bleu_counts *counts, bool has_effective_order)
{
    const double c = (double)counts->hyp_len, r = (double)counts->ref_len;
    struct hd_bleu_score result = {.brevity_penalty = 1, .ratio = r > 0 ? c / r : 0};
    if (c < r)
        result.brevity_penalty = c > 0 ? hd_real_exp(1 - r / c) : 0;
    double *p = result.precisions;
    double share = 1;
    int n_orders = 0;
    bool has_match = false;
    for (int n = 0; n < HD_BLEU_ORDER; n++)
        has_match = has_match || counts->correct[n] > 0;
    if (!has_match)
        return result;
    for (int n = 0; n < HD_BLEU_ORDER && counts->total[n] > 0; n++) {
        const double correct = (double)counts->correct[n], total = (double)counts->total[n];
        if (correct == 0)
            share *= 2;
        p[n] = correct == 0 ? 100 / (share * total) : 100 * correct / total;
        n_orders++;
    }
    if (n_orders < HD_BLEU_ORDER && !has_effective_order)
        return result;
    double sum = 0;
    for (int n = 0; n < n_orders; n++)
        sum += hd_real_log(p[n]);
    result.score = result.brevity_penalty * hd_real_exp(sum / n_orders);
    return result;
}

struct hd_signature hd_bleu_signature(const struct hd_bleu *bleu, bool has_effective_order)
{
    char n_refs[16] = "var";
    if (bleu->n_refs >= 0)
        snprintf(n_refs, sizeof n_refs, "%d", bleu->n_refs);
    struct hd_signature signature;
    snprintf(signature.text, sizeof signature.text,
             "nrefs:%s|case:%s|eff:%s|tok:%s|smooth:exp|heed:" HEED_VERSION, n_refs,
             bleu->is_lowercase ? "lc" : "mixed", has_effective_order ? "yes" : "no",
             hd_tokeniser_name(bleu->tok));
    return signature;
}
