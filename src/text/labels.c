/* labels.c -- targets sorted, and each kept once. */
#include "text/labels.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "text/nfc.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LABELS = 10000 };

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A target without white space around it, in normal form C. */
static char *label_of(const struct hd_text_pair *pair, heed_error *err)
{
    struct hd_text text = {pair->target, pair->n_target};
    while (text.n > 0 && is_space(text.at[0]))
        text = (struct hd_text){text.at + 1, text.n - 1};
    while (text.n > 0 && is_space(text.at[text.n - 1]))
        text.n--;
    struct hd_nfc nfc;
    if (!hd_nfc(&nfc, text, err))
        return NULL;
    char *label = hd_alloc(nfc.text.n + 1, 1, err);
    if (label && nfc.text.n > 0)
        memcpy(label, nfc.text.at, nfc.text.n);
    hd_free(nfc.memory);
    return label;
}

/* The labels of all pairs, sorted; each of [0, returned) once. The others are freed. */
static size_t unite(char **labels, size_t n)
{
    size_t n_labels = 0;
    qsort(labels, n, sizeof *labels, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (n_labels == 0 || strcmp(labels[n_labels - 1], labels[i]) != 0)
            labels[n_labels++] = labels[i];
        else
            hd_free(labels[i]);
    return n_labels;
}

static struct hd_vocab *make(char **labels, size_t n_labels, size_t n, heed_error *err)
{
    if (n_labels < 2) {
        hd_fail(err, HEED_BAD_TEXT,
                "all %zu lines have the label %s, so there is nothing to tell apart; lines are "
                "text, TAB, label",
                n, hd_quote(labels[0]).text);
        return NULL;
    }
    if (n_labels > MOST_LABELS || (n_labels > 100 && 2 * n_labels > n)) {
        hd_fail(err, HEED_BAD_TEXT,
                "%zu lines have %zu different labels, %s and others, too many to be labels; lines "
                "are text, TAB, label: are the columns in that order?",
                n, n_labels, hd_quote(labels[0]).text);
        return NULL;
    }
    return hd_vocab_from_tokens(HD_VOCAB_LABELS, (const char *const *)labels, n_labels, err);
}

struct hd_vocab *hd_labels_learn(const struct hd_corpus *corpus, heed_error *err)
{
    const size_t n = hd_corpus_size(corpus);
    char **labels = hd_alloc(n, sizeof *labels, err);
    size_t n_read = 0;
    for (; labels && n_read < n; n_read++) {
        const struct hd_text_pair pair = hd_corpus_pair(corpus, n_read);
        if (!(labels[n_read] = label_of(&pair, err)))
            break;
    }
    const bool ok = labels && n_read == n;
    const size_t n_labels = ok ? unite(labels, n) : n_read;
    struct hd_vocab *vocab = ok ? make(labels, n_labels, n, err) : NULL;
    for (size_t i = 0; labels && i < n_labels; i++)
        hd_free(labels[i]);
    hd_free(labels);
    return vocab;
}
