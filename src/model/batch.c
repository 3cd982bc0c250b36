/* batch.c -- the one builder of batches: for training, validation, search and forced decoding. */
#include "model/batch.h"

#include "base/memory.h"
#include "vector/vectors.h"

#include <string.h>

void hd_batch_builder_release(struct hd_batch_builder *b)
{
    hd_free(b->source);
    hd_free(b->target);
    hd_free(b->source_length);
    hd_free(b->target_length);
    hd_free(b->question);
    hd_free(b->question_length);
    hd_free(b->mark);
    hd_free(b->type);
    hd_free(b->frames);
    hd_free(b->frame_length);
    hd_free(b->grid);
    *b = (struct hd_batch_builder){0};
}

void hd_batch_begin(struct hd_batch_builder *b)
{
    b->n = 0;
    b->n_source = b->n_target = b->n_question = b->n_frames = 0;
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

/* The vectors of a source, behind those of the sentences before. */
static bool read_frames(struct hd_batch_builder *b, struct hd_sequence source, heed_error *err)
{
    const size_t width = (size_t)source.vectors->width, n = (size_t)b->n;
    float *frames = hd_grow(b->frames, &b->frames_capacity,
                            (b->n_frames + (size_t)source.n_frames) * width, sizeof *frames, err);
    b->frames = frames ? frames : b->frames;
    if (!frames || !make_room(&b->frame_length, &b->frame_length_capacity, n + 1, err) ||
        !make_room(&b->grid, &b->grid_capacity, 2 * (n + 1), err) ||
        !source.vectors->read(source.vectors, source.item, frames + b->n_frames * width, err))
        return false;
    b->frame_length[n] = source.n_frames;
    source.vectors->grid(source.vectors, source.item, &b->grid[2 * n], &b->grid[2 * n + 1]);
    b->n_frames += (size_t)source.n_frames;
    return true;
}

/* Does the question have the word of this key? */
static bool is_asked(struct hd_sequence source, int key)
{
    const int *asked = source.key ? source.question_key : source.question;
    for (int i = 0; i < source.n_question; i++)
        if (asked[i] == key)
            return true;
    return false;
}

/* Words of a document by the order in which they first stand in it. */
static void number_words(int *type, const int *key, int n_words)
{
    int n = 0;
    for (int i = 0; i < n_words; i++) {
        int k = 0;
        while (k < i && key[k] != key[i])
            k++;
        type[i] = k < i ? type[k] : n++;
    }
}

/* The question of a document whose words stand from b->n_source on, and which of these it has. */
static bool add_question(struct hd_batch_builder *b, struct hd_sequence source, heed_error *err)
{
    const size_t n = (size_t)b->n + 1;
    if (!make_room(&b->question, &b->question_capacity, b->n_question + (size_t)source.n_question,
                   err) ||
        !make_room(&b->question_length, &b->question_length_capacity, n, err) ||
        !make_room(&b->mark, &b->mark_capacity, b->n_source + (size_t)source.n, err) ||
        !make_room(&b->type, &b->type_capacity, b->n_source + (size_t)source.n, err))
        return false;
    const int *key = source.key ? source.key : source.ids;
    number_words(b->type + b->n_source, key, source.n);
    for (int i = 0; i < source.n; i++)
        b->mark[b->n_source + (size_t)i] =
            is_asked(source, key[i]) ? HD_MARK_ASKED : HD_MARK_DOCUMENT;
    append(b->question, &b->n_question, source.question, source.n_question);
    b->question_length[b->n] = source.n_question;
    return true;
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
        !make_room(&b->target_length, &b->target_length_capacity, n, err) ||
        (source.vectors && !read_frames(b, source, err)) ||
        (source.question && !add_question(b, source, err)))
        return false;
    append(b->source, &b->n_source, source.ids, source.ids ? source.n : 0);
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
                             .target_length = b->target_length,
                             .question = b->n_question > 0 ? b->question : NULL,
                             .question_length = b->question_length,
                             .mark = b->mark,
                             .type = b->type,
                             .frames = b->n_frames > 0 ? b->frames : NULL,
                             .frame_length = b->frame_length,
                             .grid = b->grid};
}
