/* evaluate.c -- several scores of a text at once: each pair goes to every metric that was asked for. */
#include "text/evaluate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/input.h"
#include "text/metric.h"

#include <stdio.h>
#include <string.h>

struct metrics {
    heed_eval_options asked;
    struct hd_bleu bleu;
    struct hd_chrf chrf, chrfpp;
    struct hd_edit edit;
    size_t n_sentences;
};

bool hd_eval_options_read(heed_eval_options *read, const heed_eval_options *given, heed_error *err)
{
    const unsigned standard =
        HEED_METRIC_BLEU | HEED_METRIC_CHRF | HEED_METRIC_EXACT | HEED_METRIC_WER;
    *read = (heed_eval_options){0};
    if (given && given->size < sizeof given->size)
        return hd_fail(err, HEED_BAD_OPTION,
                       "size of the options is %zu; begin with {.size = sizeof(heed_eval_options)}",
                       given->size);
    if (given)
        memcpy(read, given, given->size < sizeof *read ? given->size : sizeof *read);
    read->size = sizeof *read;
    read->metrics = read->metrics ? read->metrics : standard;
    if ((read->metrics & ~(standard | HEED_METRIC_CHRFPP)) != 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "metrics is %#x, which is not one or more of enum heed_metric",
                       read->metrics);
    if ((int)read->tok < HEED_TOK_13A || read->tok > HEED_TOK_ZH)
        return hd_fail(err, HEED_BAD_OPTION, "tok is %d, which is none of enum heed_tokeniser",
                       (int)read->tok);
    return true;
}

static bool init(struct metrics *metrics, const heed_eval_options *options, heed_error *err)
{
    heed_eval_options asked;
    *metrics = (struct metrics){0};
    if (!hd_eval_options_read(&asked, options, err))
        return false;
    *metrics = (struct metrics){
        .asked = asked,
        .bleu = {.tok = asked.tok, .is_lowercase = asked.is_lowercase},
        .chrf = {.is_lowercase = asked.is_lowercase},
        .chrfpp = {.word_order = HD_CHRF_WORDS, .is_lowercase = asked.is_lowercase},
        .edit = {.is_lowercase = asked.is_lowercase},
    };
    return true;
}

static void release(struct metrics *metrics)
{
    hd_bleu_release(&metrics->bleu);
    hd_chrf_release(&metrics->chrf);
    hd_chrf_release(&metrics->chrfpp);
    hd_edit_release(&metrics->edit);
}

static bool add(struct metrics *metrics, struct hd_text hyp, struct hd_text ref, heed_error *err)
{
    const unsigned asked = metrics->asked.metrics;
    metrics->n_sentences++;
    return (!(asked & HEED_METRIC_BLEU) || hd_bleu_add(&metrics->bleu, hyp, &ref, 1, err)) &&
           (!(asked & HEED_METRIC_CHRF) || hd_chrf_add(&metrics->chrf, hyp, &ref, 1, err)) &&
           (!(asked & HEED_METRIC_CHRFPP) || hd_chrf_add(&metrics->chrfpp, hyp, &ref, 1, err)) &&
           (!(asked & (HEED_METRIC_EXACT | HEED_METRIC_WER)) ||
            hd_edit_add(&metrics->edit, hyp, &ref, 1, err));
}

static void copy_signature(char out[96], struct hd_signature signature)
{
    _Static_assert(sizeof signature.text == 96, "as large as those of heed_evaluation");
    memcpy(out, signature.text, sizeof signature.text);
}

static heed_evaluation *result_of(const struct metrics *metrics, heed_error *err)
{
    heed_evaluation *result = hd_new(heed_evaluation, err);
    if (!result)
        return NULL;
    const heed_eval_options *asked = &metrics->asked;
    result->n_sentences = metrics->n_sentences;
    if (asked->metrics & HEED_METRIC_BLEU) {
        const bool is_effective = asked->has_effective_order;
        const struct hd_bleu_score bleu = hd_bleu_score(&metrics->bleu.sum, is_effective);
        result->bleu = bleu.score;
        memcpy(result->bleu_precisions, bleu.precisions, sizeof result->bleu_precisions);
        result->bleu_brevity_penalty = bleu.brevity_penalty;
        result->bleu_ratio = bleu.ratio;
        result->hyp_len = (size_t)metrics->bleu.sum.hyp_len;
        result->ref_len = (size_t)metrics->bleu.sum.ref_len;
        copy_signature(result->bleu_signature, hd_bleu_signature(&metrics->bleu, is_effective));
    }
    if (asked->metrics & HEED_METRIC_CHRF) {
        result->chrf = hd_chrf_score(&metrics->chrf.sum);
        copy_signature(result->chrf_signature, hd_chrf_signature(&metrics->chrf));
    }
    if (asked->metrics & HEED_METRIC_CHRFPP) {
        result->chrfpp = hd_chrf_score(&metrics->chrfpp.sum);
        copy_signature(result->chrfpp_signature, hd_chrf_signature(&metrics->chrfpp));
    }
    if (asked->metrics & HEED_METRIC_EXACT) {
        result->exact = hd_edit_exact(&metrics->edit.sum);
        result->n_exact = (size_t)metrics->edit.sum.n_exact;
    }
    if (asked->metrics & HEED_METRIC_WER) {
        result->wer = hd_edit_wer(&metrics->edit.sum);
        result->n_word_errors = (size_t)metrics->edit.sum.n_errors;
        result->n_words = (size_t)metrics->edit.sum.n_words;
    }
    return result;
}

/* ---- from memory, from files -------------------------------------------------------------------- */

static bool check_text(struct hd_text text, size_t i, const char *side, heed_error *err)
{
    size_t bad_at;
    return hd_utf8_valid(text.at, text.n, &bad_at) ||
           hd_fail(err, HEED_BAD_TEXT,
                   "pairs[%zu].%s is not UTF-8 at byte %zu; convert it first, for example with "
                   "iconv",
                   i, side, bad_at);
}

heed_evaluation *heed_evaluate(const heed_pair *pairs, size_t n, const heed_eval_options *options,
                               heed_error *err)
{
    struct metrics metrics;
    bool ok = init(&metrics, options, err) &&
              (n == 0 || hd_is_given(pairs, "list of pairs", err)) &&
              (n > 0 || hd_fail(err, HEED_BAD_TEXT, "there are no sentences to score"));
    for (size_t i = 0; ok && i < n; i++) {
        if (!hd_is_given(pairs[i].hyp, "hypothesis", err) ||
            !hd_is_given(pairs[i].ref, "reference", err)) {
            ok = false;
            break;
        }
        const struct hd_text hyp = hd_text_from(pairs[i].hyp), ref = hd_text_from(pairs[i].ref);
        ok = check_text(hyp, i, "hyp", err) && check_text(ref, i, "ref", err) &&
             add(&metrics, hyp, ref, err);
    }
    heed_evaluation *result = ok ? result_of(&metrics, err) : NULL;
    release(&metrics);
    return result;
}

static bool check_counts(const heed_pair *paths, const struct hd_lines *hyp,
                         const struct hd_lines *ref, heed_error *err)
{
    return hyp->n == ref->n ||
           hd_fail(err, HEED_BAD_TEXT,
                   "%s has %zu line%s, but %s has %zu; every line must have its reference at the "
                   "same place",
                   hd_input_name(paths->hyp), hyp->n, hyp->n == 1 ? "" : "s",
                   hd_input_name(paths->ref), ref->n);
}

heed_evaluation *heed_evaluate_files(const heed_pair *paths, const heed_eval_options *options,
                                     heed_error *err)
{
    struct metrics metrics;
    struct hd_lines hyp = {0}, ref = {0};
    bool ok = init(&metrics, options, err) && hd_is_given(paths, "pair of paths", err) &&
              hd_is_given(paths->hyp, "path of hypotheses", err) &&
              hd_is_given(paths->ref, "path of references", err);
    if (ok && strcmp(paths->hyp, "-") == 0 && strcmp(paths->ref, "-") == 0)
        ok = hd_fail(err, HEED_BAD_OPTION,
                     "hypotheses and references cannot both come from standard input; put one of "
                     "them into a file");
    ok = ok && hd_lines_read(&hyp, paths->hyp, err) && hd_lines_read(&ref, paths->ref, err) &&
         check_counts(paths, &hyp, &ref, err);
    for (size_t i = 0; ok && i < hyp.n; i++)
        ok = add(&metrics, hyp.at[i], ref.at[i], err);
    heed_evaluation *result = ok ? result_of(&metrics, err) : NULL;
    release(&metrics);
    hd_lines_release(&hyp);
    hd_lines_release(&ref);
    return result;
}

void heed_evaluation_free(heed_evaluation *evaluation)
{
    hd_free(evaluation);
}
