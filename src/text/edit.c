/* edit.c -- word error rate and exact match: how many words must be changed to get the reference.
 *
 * The edit distance of Levenshtein over whole words, which are numbered first, so that comparing two is
 * comparing numbers. */
#include "base/error.h"
#include "base/memory.h"
#include "text/metric.h"

#include <assert.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Words to insert, delete or replace to make b of a. row[j] is the distance between the part of a read so far and
 * the first j words of b; it has room for n_b + 1. */
static int64_t distance(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, int64_t *row)
{
    for (size_t j = 0; j <= n_b; j++)
        row[j] = (int64_t)j;
    for (size_t i = 0; i < n_a; i++) {
        int64_t diagonal = row[0]; /* the row before, one to the left */
        row[0]++;
        for (size_t j = 1; j <= n_b; j++) {
            const int64_t replaced = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replaced, 1 + smaller(row[j], row[j - 1]));
        }
    }
    return row[n_b];
}

/* The distance without what both begin and end with, which changes nothing but the time it takes. */
static bool count_errors(struct hd_edit *edit, int64_t *n_errors, heed_error *err)
{
    const uint32_t *a = edit->hyp.ids, *b = edit->ref.ids;
    size_t n_a = edit->hyp.n, n_b = edit->ref.n;
    while (n_a > 0 && n_b > 0 && *a == *b) {
        a++;
        b++;
        n_a--;
        n_b--;
    }
    while (n_a > 0 && n_b > 0 && a[n_a - 1] == b[n_b - 1]) {
        n_a--;
        n_b--;
    }
    int64_t *row = hd_grow(edit->row, &edit->row_capacity, n_b + 1, sizeof *row, err);
    if (!row)
        return false;
    edit->row = row;
    *n_errors = distance(a, n_a, b, n_b, row);
    return true;
}

static bool cut(struct hd_edit *edit, struct hd_words *words, struct hd_text text, heed_error *err)
{
    return hd_tokenise(words, text, HEED_TOK_NONE, edit->is_lowercase, err) &&
           hd_words_number(words, &edit->spelling, err);
}

bool hd_edit_add(struct hd_edit *edit, struct hd_text hyp, const struct hd_text *refs, int n_refs,
                 heed_error *err)
{
    assert(n_refs > 0);
    hd_ngrams_clear(&edit->spelling);
    if (!cut(edit, &edit->hyp, hyp, err))
        return false;
    struct hd_edit_counts best = {0};
    for (int i = 0; i < n_refs; i++) {
        int64_t n_errors;
        if (!cut(edit, &edit->ref, refs[i], err) || !count_errors(edit, &n_errors, err))
            return false;
        if (i == 0 || n_errors < best.n_errors)
            best = (struct hd_edit_counts){n_errors, (int64_t)edit->ref.n, n_errors == 0, 1};
    }
    if (edit->keeps_sentences) {
        const size_t n = (size_t)edit->sum.n_sentences;
        struct hd_edit_counts *grown =
            hd_grow(edit->sentences, &edit->capacity, n + 1, sizeof *grown, err);
        if (!grown)
            return false;
        edit->sentences = grown;
        grown[n] = best;
    }
    edit->sum.n_errors += best.n_errors;
    edit->sum.n_words += best.n_words;
    edit->sum.n_exact += best.n_exact;
    edit->sum.n_sentences++;
    return true;
}

void hd_edit_release(struct hd_edit *edit)
{
    hd_free(edit->sentences);
    hd_words_release(&edit->hyp);
    hd_words_release(&edit->ref);
    hd_ngrams_release(&edit->spelling);
    hd_free(edit->row);
    *edit = (struct hd_edit){0};
}

double hd_edit_wer(const struct hd_edit_counts *counts)
{
    if (counts->n_words == 0)
        return counts->n_errors > 0 ? 100 : 0;
    return 100 * (double)counts->n_errors / (double)counts->n_words;
}

double hd_edit_exact(const struct hd_edit_counts *counts)
{
    return counts->n_sentences > 0 ? 100 * (double)counts->n_exact / (double)counts->n_sentences
                                   : 0;
}
