/* chrf.c -- chrF: how many runs of one to six characters hypothesis and reference share; chrF++ adds words and pairs of
 * words.
 *
 * Popović (2015, 2017). Spaces do not count. Recall weighs β² = 4 times as much as precision, hence the name chrF2. The arithmetic
 * is in the order of sacreBLEU's, so that the same doubles come out. */
#include "base/error.h"
#include "base/memory.h"
#include "text/metric.h"

#include <assert.h>
#include <stdio.h>

/* ---- counting --------------------------------------------------------------------------------- */

static bool is_punctuation(uint32_t c) /* of ASCII */
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* Cut the last character off a word if it is punctuation, or else the first: "(so)" is "(so" and ")". From the last word
 * to the first, as each may become two: there is room, since words have characters. */
static void split_punctuation(struct hd_words *words)
{
    size_t n_splits = 0;
    for (int pass = 0; pass < 2; pass++) { /* count them, then make them */
        size_t out = words->n + n_splits;
        for (size_t i = words->n; i-- > 0;) {
            const size_t start = i > 0 ? words->ends[i - 1] : 0, end = words->ends[i];
            const bool at_end = end - start > 1 && is_punctuation(words->chars[end - 1]);
            const bool at_start = end - start > 1 && !at_end && is_punctuation(words->chars[start]);
            if (pass == 0)
                n_splits += at_end || at_start;
            else {
                words->ends[--out] = end;
                if (at_end || at_start)
                    words->ends[--out] = at_end ? end - 1 : start + 1;
            }
        }
    }
    words->n += n_splits;
}

/* Cut a text and count its n-grams. */
static bool count_ngrams(struct hd_chrf *chrf, struct hd_text text, enum hd_side side,
                         heed_error *err)
{
    struct hd_words *words = &chrf->words;
    if (!hd_tokenise(words, text, HEED_TOK_NONE, chrf->is_lowercase, err) ||
        !hd_ngrams_count(&chrf->chars, words->chars, words->n_chars, HD_CHRF_CHARS, side, err))
        return false;
    if (chrf->word_order == 0)
        return true;
    split_punctuation(words);
    return hd_words_number(words, &chrf->spelling, err) &&
           hd_ngrams_count(&chrf->ngrams, words->ids, words->n, chrf->word_order, side, err);
}

static void add_counts(struct hd_chrf_counts *to, const struct hd_chrf_counts *counts)
{
    for (int i = 0; i < HD_CHRF_ORDERS; i++) {
        to->hyp[i] += counts->hyp[i];
        to->ref[i] += counts->ref[i];
        to->match[i] += counts->match[i];
    }
}

/* The n-grams of the hypothesis against the present reference, which ends. They fill counts from `first` on. */
static void count_matches(struct hd_ngrams *ngrams, struct hd_chrf_counts *counts, int first)
{
    for (size_t i = 1; i <= ngrams->n; i++) {
        const struct hd_ngram *ngram = &ngrams->at[i];
        const int order = first + (int)ngram->order - 1;
        counts->hyp[order] += ngram->n_hyp;
        counts->ref[order] += ngram->n_ref;
        counts->match[order] += ngram->n_hyp < ngram->n_ref ? ngram->n_hyp : ngram->n_ref;
    }
    hd_ngrams_end_ref(ngrams);
}

/* One hypothesis and one reference. Orders that the reference does not reach do not count against the hypothesis. */
static struct hd_chrf_counts count_pair(struct hd_chrf *chrf)
{
    struct hd_chrf_counts counts = {0};
    count_matches(&chrf->chars, &counts, 0);
    count_matches(&chrf->ngrams, &counts, HD_CHRF_CHARS);
    for (int i = 0; i < HD_CHRF_ORDERS; i++)
        if (counts.ref[i] == 0)
            counts.hyp[i] = 0;
    return counts;
}

bool hd_chrf_add(struct hd_chrf *chrf, struct hd_text hyp, const struct hd_text *refs, int n_refs,
                 heed_error *err)
{
    assert(n_refs > 0 && chrf->word_order >= 0 && chrf->word_order <= HD_CHRF_WORDS);
    hd_ngrams_clear(&chrf->spelling);
    hd_ngrams_clear(&chrf->chars);
    hd_ngrams_clear(&chrf->ngrams);
    if (!count_ngrams(chrf, hyp, HD_HYP, err))
        return false;
    struct hd_chrf_counts best = {0};
    double best_score = -1;
    for (int i = 0; i < n_refs; i++) {
        if (!count_ngrams(chrf, refs[i], HD_REF, err))
            return false;
        const struct hd_chrf_counts counts = count_pair(chrf);
        const double score = hd_chrf_score(&counts);
        if (score > best_score) {
            best_score = score;
            best = counts;
        }
    }
    if (chrf->keeps_sentences) {
        struct hd_chrf_counts *grown =
            hd_grow(chrf->sentences, &chrf->capacity, chrf->n_sentences + 1, sizeof *grown, err);
        if (!grown)
            return false;
        chrf->sentences = grown;
        grown[chrf->n_sentences] = best;
    }
    chrf->n_refs = chrf->n_sentences == 0 || chrf->n_refs == n_refs ? n_refs : -1;
    chrf->n_sentences++;
    add_counts(&chrf->sum, &best);
    return true;
}

void hd_chrf_release(struct hd_chrf *chrf)
{
    hd_free(chrf->sentences);
    hd_words_release(&chrf->words);
    hd_ngrams_release(&chrf->spelling);
    hd_ngrams_release(&chrf->chars);
    hd_ngrams_release(&chrf->ngrams);
    *chrf = (struct hd_chrf){0};
}

/* ---- the score -------------------------------------------------------------------------------- */

/* F_β = (1 + β²) P R / (β² P + R), P and R the mean precision and recall over the orders that both texts reach. */
double hd_chrf_score(const struct hd_chrf_counts *counts)
{
    const double beta2 = 4;
    double P = 0, R = 0;
    int n = 0;
    for (int i = 0; i < HD_CHRF_ORDERS; i++)
        if (counts->hyp[i] > 0 && counts->ref[i] > 0) {
            P += (double)counts->match[i] / (double)counts->hyp[i];
            R += (double)counts->match[i] / (double)counts->ref[i];
            n++;
        }
    if (P + R == 0)
        return 0;
    P /= n;
    R /= n;
    return 100 * ((1 + beta2) * P * R / (beta2 * P + R));
}

struct hd_signature hd_chrf_signature(const struct hd_chrf *chrf)
{
    char n_refs[16] = "var";
    if (chrf->n_refs >= 0)
        snprintf(n_refs, sizeof n_refs, "%d", chrf->n_refs);
    struct hd_signature signature;
    snprintf(signature.text, sizeof signature.text,
             "nrefs:%s|case:%s|eff:yes|nc:%d|nw:%d|space:no|heed:" HEED_VERSION, n_refs,
             chrf->is_lowercase ? "lc" : "mixed", HD_CHRF_CHARS, chrf->word_order);
    return signature;
}
