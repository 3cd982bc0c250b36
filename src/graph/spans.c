/* spans.c -- where sentences are in the rows of a node, and masks: which elements take part in a
 * softmax.
 *
 * Both are copied to the tape and never change. After an error they are empty, so that nothing
 * ever points nowhere. */
#include "graph/tape.h"

#include <string.h>

static const hd_spans no_spans;
static const hd_mask no_mask;

static const hd_spans *spans_fail(hd_tape *t, const char *op, const char *name, int i, int value)
{
    hd_tape_fail(t, HEED_BAD_SHAPE, "%s: %s[%d] = %d, that cannot be", op, name, i, value);
    return &no_spans;
}

/* starts NULL: one after the other. */
static const hd_spans *make_spans(hd_tape *t, const char *op, const int *starts, const int *lengths,
                                  int n)
{
    if (hd_has_failed(t))
        return &no_spans;
    if (n < 0) {
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: n = %d, that cannot be", op, n);
        return &no_spans;
    }
    struct whole {
        hd_spans spans;
        int numbers[];
    } *w = hd_tape_take(t, op, sizeof *w + 2 * (size_t)n * sizeof(int), 1);
    if (!w)
        return &no_spans;
    int *start = w->numbers, *length = w->numbers + n;
    long rows = 0, total = 0;
    int longest = 0;
    for (int i = 0; i < n; i++) {
        if (lengths[i] < 0)
            return spans_fail(t, op, "lengths", i, lengths[i]);
        if (starts && starts[i] < 0)
            return spans_fail(t, op, "starts", i, starts[i]);
        const long from = starts ? starts[i] : total;
        length[i] = lengths[i];
        start[i] = (int)from;
        total += lengths[i];
        rows = from + lengths[i] > rows ? from + lengths[i] : rows;
        longest = lengths[i] > longest ? lengths[i] : longest;
        if (rows > INT_MAX || total > INT_MAX) {
            hd_tape_fail(t, HEED_BAD_SHAPE,
                         "%s: the sentences up to lengths[%d] have more than %d rows together", op,
                         i, INT_MAX);
            return &no_spans;
        }
    }
    w->spans = (hd_spans){.n = n,
                          .longest = longest,
                          .rows = (int)rows,
                          .total = (int)total,
                          .start = start,
                          .length = length};
    return &w->spans;
}

const hd_spans *hd_spans_of(hd_tape *tape, const int *lengths, int n)
{
    return make_spans(tape, "hd_spans_of", NULL, lengths, n);
}

const hd_spans *hd_spans_at(hd_tape *tape, const int *starts, const int *lengths, int n)
{
    return make_spans(tape, "hd_spans_at", starts, lengths, n);
}

/* A mask with bytes still to be set, or NULL. */
static hd_mask *make_mask(hd_tape *t, const char *op, int rows, int width)
{
    size_t count;
    if (hd_has_failed(t) || !hd_count_of(t, op, hd_shape2(rows, width), &count))
        return NULL;
    hd_mask *m = hd_tape_take(t, op, sizeof *m + count, 1);
    if (m)
        *m = (hd_mask){rows, width, (const uint8_t *)(m + 1)};
    return m;
}

/* Row r keeps [from[r], to[r]), cut off at both ends; from NULL is all zeros. */
static const hd_mask *mask_of_ranges(hd_tape *t, const char *op, const int *from, const int *to,
                                     int rows, int width)
{
    hd_mask *m = make_mask(t, op, rows, width);
    if (!m)
        return &no_mask;
    uint8_t *keep = (uint8_t *)(m + 1);
    memset(keep, 0, (size_t)rows * (size_t)width);
    for (int r = 0; r < rows; r++, keep += width) {
        const int first = from && from[r] > 0 ? from[r] : 0;
        const int end = to[r] < width ? to[r] : width;
        if (first < end)
            memset(keep + first, 1, (size_t)(end - first));
    }
    return m;
}

const hd_mask *hd_mask_lengths(hd_tape *tape, const int *lengths, int rows, int width)
{
    for (int r = 0; r < rows; r++)
        if (lengths[r] < 0 || lengths[r] > width) {
            hd_tape_fail(tape, HEED_BAD_SHAPE,
                         "hd_mask_lengths: lengths[%d] = %d, but rows are %d wide", r, lengths[r],
                         width);
            return &no_mask;
        }
    return mask_of_ranges(tape, "hd_mask_lengths", NULL, lengths, rows, width);
}

const hd_mask *hd_mask_ranges(hd_tape *tape, const int *from, const int *to, int rows, int width)
{
    return mask_of_ranges(tape, "hd_mask_ranges", from, to, rows, width);
}

const hd_mask *hd_mask_bytes(hd_tape *tape, const uint8_t *keep, int rows, int width)
{
    hd_mask *m = make_mask(tape, "hd_mask_bytes", rows, width);
    if (!m)
        return &no_mask;
    const size_t count = (size_t)rows * (size_t)width;
    if (count > 0)
        memcpy(m + 1, keep, count);
    return m;
}
