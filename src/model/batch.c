/* batch.c -- the one builder of batches: for training, validation, search and forced decoding. */
#include "model/batch.h"

#include "base/memory.h"

#include <string.h>

void hd_batch_builder_release(struct hd_batch_builder *b)
{
    hd_free(b->source);
    hd_free(b->target);
    hd_free(b->source_length);
    hd_free(b->target_length);
    *b = (struct hd_batch_builder){0};
}

void hd_batch_begin(struct hd_batch_builder *b)
{
    b->n = 0;
    b->n_source = b->n_target = 0;
}

static bool make_room(int **array, size_t *capacity, size_t count, heed_error *err)
{
    int *grown = hd_grow(*array, capacity, count, sizeof *grown, err);
    *array = grown ? grown : *array;
    return grown != NULL;
}

static void append(int *to, size_t *n, const int *ids, int count)
{
    if (count > 0)
        memcpy(to + *n, ids, (size_t)count * sizeof *to);
    *n += (size_t)count;
}

bool hd_batch_add(struct hd_batch_builder *b, struct hd_sequence source, struct hd_sequence target,
                  int end, heed_error *err)
{
    const int n_end = end >= 0 ? 1 : 0;
    const size_t n = (size_t)b->n + 1, n_source = b->n_source + (size_t)source.n,
                 n_target = b->n_target + (size_t)target.n + (size_t)n_end;
    if (!make_room(&b->source, &b->source_capacity, n_source, err) ||
        !make_room(&b->target, &b->target_capacity, n_target, err) ||
        !make_room(&b->source_length, &b->source_length_capacity, n, err) ||
        !make_room(&b->target_length, &b->target_length_capacity, n, err))
        return false;
    append(b->source, &b->n_source, source.ids, source.n);
    append(b->target, &b->n_target, target.ids, target.n);
    append(b->target, &b->n_target, &end, n_end);
    b->source_length[b->n] = source.n;
    b->target_length[b->n] = target.n + n_end;
    b->n++;
    return true;
}

struct hd_batch hd_batch_of(const struct hd_batch_builder *b)
{
    return (struct hd_batch){.n = b->n,
                             .source = b->source,
                             .source_length = b->source_length,
                             .target = b->target,
                             .target_length = b->target_length};
}
