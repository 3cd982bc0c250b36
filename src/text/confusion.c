/* confusion.c -- labels that were found against those that are right: a table of counts, accuracy and F1. */
#include <heed.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LABELS = 10000 };

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The labels of both sides, each once, copied behind the list itself. */
static bool list_labels(heed_confusion *c, const heed_pair *pairs, size_t n, heed_error *err)
{
    const char **all = hd_alloc(2 * n, sizeof *all, err);
    if (!all)
        return false;
    size_t n_labels = 0, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        all[2 * i] = pairs[i].hyp;
        all[2 * i + 1] = pairs[i].ref;
    }
    qsort(all, 2 * n, sizeof *all, by_bytes);
    for (size_t i = 0; i < 2 * n; i++)
        if (i == 0 || strcmp(all[n_labels - 1], all[i]) != 0) {
            all[n_labels++] = all[i];
            bytes += strlen(all[i]) + 1;
        }
    bool ok = n_labels <= MOST_LABELS ||
              hd_fail(err, HEED_BAD_TEXT,
                      "there are %zu different labels, %s and others, too many to be labels",
                      n_labels, hd_quote(all[0]).text);
    char *text = NULL;
    if (ok) {
        c->labels = hd_alloc(n_labels * sizeof *c->labels + bytes, 1, err);
        c->counts = hd_alloc(n_labels * n_labels, sizeof *c->counts, err);
        ok = c->labels && c->counts;
        text = (char *)(c->labels + n_labels);
    }
    for (size_t i = 0; ok && i < n_labels; i++) {
        c->labels[i] = text;
        text = stpcpy(text, all[i]) + 1;
    }
    c->n_labels = ok ? n_labels : 0;
    hd_free(all);
    return ok;
}

static size_t number_of(const heed_confusion *c, const char *label)
{
    const char **at =
        bsearch(&label, c->labels, c->n_labels, sizeof *c->labels, by_bytes); /* it is there */
    return (size_t)(at - c->labels);
}

/* The mean of 2 P R / (P + R) over the labels of the references. */
static double macro_f1(const heed_confusion *c)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->n_labels; i++) {
        size_t n_right = c->counts[i * c->n_labels + i], n_true = 0, n_found = 0;
        for (size_t k = 0; k < c->n_labels; k++) {
            n_true += c->counts[i * c->n_labels + k];
            n_found += c->counts[k * c->n_labels + i];
        }
        if (n_true == 0)
            continue;
        sum += 2 * (double)n_right / (double)(n_true + n_found);
        n++;
    }
    return 100 * sum / (double)n;
}

heed_confusion *heed_confusion_new(const heed_pair *pairs, size_t n, heed_error *err)
{
    if (n == 0 || !pairs) {
        hd_fail(err, HEED_BAD_TEXT, "there are no labels to compare");
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (!hd_is_given(pairs[i].hyp, "hypothesis", err) ||
            !hd_is_given(pairs[i].ref, "reference", err))
            return NULL;
    heed_confusion *c = hd_new(heed_confusion, err);
    if (!c || !list_labels(c, pairs, n, err)) {
        heed_confusion_free(c);
        return NULL;
    }
    size_t n_right = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t ref = number_of(c, pairs[i].ref), hyp = number_of(c, pairs[i].hyp);
        c->counts[ref * c->n_labels + hyp]++;
        n_right += ref == hyp;
    }
    c->n = n;
    c->accuracy = 100 * (double)n_right / (double)n;
    c->macro_f1 = macro_f1(c);
    return c;
}

void heed_confusion_free(heed_confusion *c)
{
    if (!c)
        return;
    hd_free(c->labels);
    hd_free(c->counts);
    hd_free(c);
}
