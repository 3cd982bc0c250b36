/* decoder.c -- a decoder's memory: sentences enter, take rows of the caches, and leave.
 *
 * A sentence's source positions are neighbours in their caches. Free rows are found by looking, which costs nothing beside the
 * encoder. Invariant: rows of sentences that are under way do not overlap. */
#include "model/decoder.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "model/architecture.h"

struct hd_decoder *hd_decoder_new(const struct hd_net *net, heed_error *err)
{
    struct hd_decoder *d = hd_new(struct hd_decoder, err);
    if (d)
        d->net = net;
    return d;
}

void hd_decoder_clear(struct hd_decoder *d)
{
    for (int i = 0; i < HD_MAX_CACHES; i++) {
        hd_cache_release(&d->positions[i]);
        hd_cache_release(&d->sentences[i]);
        hd_cache_release(&d->words[i]);
    }
    hd_cache_release(&d->ctc);
    hd_free(d->start);
    hd_free(d->length);
    *d = (struct hd_decoder){.net = d->net, .keeps_ctc = d->keeps_ctc};
}

void hd_decoder_free(struct hd_decoder *d)
{
    if (!d)
        return;
    hd_decoder_clear(d);
    hd_free(d);
}

/* ---- sentences come and go ------------------------------------------------------------------------------------------------------ */

/* The first row from which `length` are free. */
static int free_rows(const struct hd_decoder *d, int length)
{
    int start = 0;
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        for (int p = 0; p < d->entries.n; p++)
            if (d->length[p] > 0 && start < d->start[p] + d->length[p] &&
                d->start[p] < start + length) {
                start = d->start[p] + d->length[p];
                has_moved = true;
            }
    }
    return start;
}

/* An entry for a sentence of this length, -1 without memory. */
static int find_entry(struct hd_decoder *d, hd_tape *t, int length)
{
    int entry = 0;
    while (entry < d->entries.n && d->length[entry] >= 0)
        entry++;
    const size_t n = (size_t)entry + 1;
    int *starts = hd_grow(d->start, &d->start_capacity, n, sizeof *starts, &t->error);
    d->start = starts ? starts : d->start;
    int *lengths = hd_grow(d->length, &d->length_capacity, n, sizeof *lengths, &t->error);
    d->length = lengths ? lengths : d->length;
    if (!starts || !lengths)
        return -1;
    d->start[entry] = free_rows(d, length);
    d->length[entry] = length;
    if (entry == d->entries.n)
        d->entries.n++;
    d->entries.start = d->start;
    d->entries.length = d->length;
    return entry;
}

static bool keep(struct hd_decoder *d, hd_tape *t, const struct hd_memory *m, const int *entry)
{
    struct hd_to_cache kept = {0};
    d->net->architecture->cache(d->net, m, &kept);
    int *rows = hd_tape_take(t, "hd_decoder_enter", (size_t)m->spans->total, sizeof *rows);
    for (int i = 0, r = 0; rows && i < m->spans->n; i++)
        for (int j = 0; j < m->spans->length[i]; j++)
            rows[r++] = d->start[entry[i]] + j;
    for (int i = 0; rows && i < kept.n_positions; i++)
        if (kept.positions[i])
            hd_cache_put(&d->positions[i], kept.positions[i], rows);
    for (int i = 0; rows && i < kept.n_sentences; i++)
        if (kept.sentences[i])
            hd_cache_put(&d->sentences[i], kept.sentences[i], entry);
    if (rows && d->keeps_ctc)
        hd_cache_put(&d->ctc, hd_softmax(hd_ctc_logits(&d->net->ctc, m->h), NULL), rows);
    return !hd_has_failed(t);
}

bool hd_decoder_enter(struct hd_decoder *d, hd_tape *tape, const struct hd_batch *batch, int *entry)
{
    const struct hd_memory *memory = hd_encode(d->net, tape, batch, NULL);
    int n = 0;
    while (memory && n < batch->n &&
           (entry[n] = find_entry(d, tape, memory->spans->length[n])) >= 0)
        n++;
    if (memory && n == batch->n && keep(d, tape, memory, entry))
        return true;
    while (n > 0)
        hd_decoder_leave(d, entry[--n]);
    return false;
}

void hd_decoder_leave(struct hd_decoder *d, int entry)
{
    d->length[entry] = -1;
}

void hd_decoder_keep_ctc(struct hd_decoder *d)
{
    d->keeps_ctc = d->net->ctc.W != NULL;
}

const float *hd_decoder_ctc(const struct hd_decoder *d, int entry, int *n)
{
    *n = d->length[entry];
    return d->ctc.x + (size_t)d->start[entry] * (size_t)d->ctc.width;
}

/* ---- one step --------------------------------------------------------------------------------------------------------------------- */

struct hd_stepped hd_decoder_step(struct hd_decoder *d, hd_tape *tape,
                                  const struct hd_step_rows *rows)
{
    for (int b = 0; b < rows->n; b++)
        if (rows->entry[b] < 0 || rows->entry[b] >= d->entries.n || d->length[rows->entry[b]] < 0) {
            hd_tape_fail(tape, HEED_BAD_SHAPE,
                         "hd_decoder_step: there is no sentence with entry %d", rows->entry[b]);
            return (struct hd_stepped){0};
        }
    const struct hd_stepped stepped = d->net->architecture->step(d, tape, rows);
    return hd_has_failed(tape) ? (struct hd_stepped){0} : stepped;
}
