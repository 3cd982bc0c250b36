/* answer_score.c -- answers that were found against those that are right, as the script of SQuAD counts them.
 *
 * Rajpurkar et al. (2016), "SQuAD: 100,000+ questions for machine comprehension of text", section 6.1. Letters become small, punctuation goes,
 * the words a, an and the go, white space is folded. Exact: both are then the same. F1: 2 P R / (P + R) over the words as bags;
 * where one side has none left, 1 if neither has. */
#include <heed.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/buffer.h"
#include "text/letter_case.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* What a text is compared as. {0} is empty. */
struct bag {
    struct hd_buffer text; /* words with a space between them */
    char **words;          /* sorted; in a copy of the text */
    char *copy;
    size_t n;
};

static void release_bag(struct bag *bag)
{
    hd_buffer_release(&bag->text);
    hd_free(bag->words);
    hd_free(bag->copy);
}

static bool is_punctuation(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

static bool is_article(const char *word, size_t n)
{
    return (n == 1 && word[0] == 'a') || (n == 2 && memcmp(word, "an", 2) == 0) ||
           (n == 3 && memcmp(word, "the", 3) == 0);
}

enum kind { SPACE, WORD, OTHER };

static enum kind kind_of(uint32_t cp)
{
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return WORD;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return SPACE;
    default:
        return cp >= '\t' && cp <= '\r' ? SPACE : OTHER;
    }
}

/* Append a run of characters of one kind; white space and articles are one space. */
static bool add_run(struct hd_buffer *out, const char *run, size_t n, enum kind kind,
                    heed_error *err)
{
    const bool is_gone = kind == SPACE || (kind == WORD && is_article(run, n));
    if (!is_gone)
        return hd_buffer_add(out, run, n, err);
    return out->n == 0 || out->at[out->n - 1] == ' ' || hd_buffer_add(out, " ", 1, err);
}

static bool normalise(struct hd_buffer *out, const char *text, heed_error *err)
{
    struct hd_buffer small = {0};
    bool ok = hd_change_case(&small, (struct hd_text){text, strlen(text)}, HD_CASE_LOWER, err);
    size_t n = 0;
    for (size_t i = 0; ok && i < small.n; i++)
        if (!is_punctuation(small.at[i]))
            small.at[n++] = small.at[i];
    for (size_t i = 0, end; ok && i < n; i = end) {
        uint32_t cp;
        end = i + (size_t)hd_utf8_decode(small.at + i, n - i, &cp);
        const enum kind kind = kind_of(cp);
        for (int more; end < n && (more = hd_utf8_decode(small.at + end, n - end, &cp)) > 0 &&
                       kind_of(cp) == kind;)
            end += (size_t)more;
        ok = add_run(out, small.at + i, end - i, kind, err);
    }
    if (out->n > 0 && out->at[out->n - 1] == ' ')
        out->n--;
    hd_buffer_release(&small);
    return ok;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool make_bag(struct bag *bag, const char *text, heed_error *err)
{
    if (!text || !hd_utf8_valid(text, strlen(text), NULL))
        return hd_fail(err, HEED_BAD_TEXT, "an answer is not UTF-8");
    if (!normalise(&bag->text, text, err))
        return false;
    bag->copy = hd_alloc(bag->text.n + 1, 1, err);
    bag->words = hd_alloc(bag->text.n / 2 + 1, sizeof *bag->words, err);
    if (!bag->copy || !bag->words)
        return false;
    if (bag->text.n > 0)
        memcpy(bag->copy, bag->text.at, bag->text.n);
    for (size_t i = 0; i < bag->text.n; i++) {
        if (i == 0 || bag->text.at[i - 1] == ' ')
            bag->words[bag->n++] = bag->copy + i;
        if (bag->copy[i] == ' ')
            bag->copy[i] = '\0';
    }
    qsort(bag->words, bag->n, sizeof *bag->words, by_bytes);
    return true;
}

static double f1_of(const struct bag *hyp, const struct bag *ref)
{
    size_t n_same = 0;
    for (size_t i = 0, k = 0; i < hyp->n && k < ref->n;) {
        const int order = strcmp(hyp->words[i], ref->words[k]);
        n_same += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    if (hyp->n == 0 || ref->n == 0)
        return hyp->n == ref->n;
    return 2 * (double)n_same / (double)(hyp->n + ref->n);
}

static bool is_same(const struct bag *a, const struct bag *b)
{
    return a->text.n == b->text.n &&
           (a->text.n == 0 || memcmp(a->text.at, b->text.at, a->text.n) == 0);
}

bool heed_score_answers(const heed_pair *pairs, size_t n, heed_answer_scores *scores,
                        heed_error *err)
{
    if (!hd_is_given(scores, "scores", err) || (n > 0 && !hd_is_given(pairs, "pairs", err)))
        return false;
    *scores = (heed_answer_scores){.n = n};
    if (n == 0)
        return hd_fail(err, HEED_BAD_TEXT, "there are no answers to score");
    size_t n_exact = 0;
    double f1 = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        struct bag hyp = {0}, ref = {0};
        ok = make_bag(&hyp, pairs[i].hyp, err) && make_bag(&ref, pairs[i].ref, err);
        if (ok) {
            n_exact += is_same(&hyp, &ref);
            f1 += f1_of(&hyp, &ref);
        }
        release_bag(&hyp);
        release_bag(&ref);
    }
    scores->n_exact = n_exact;
    scores->exact = 100 * (double)n_exact / (double)n;
    scores->f1 = 100 * f1 / (double)n;
    return ok;
}
