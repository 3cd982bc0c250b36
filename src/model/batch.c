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
    hd_free(b->trait);
    hd_free(b->question_trait);
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

/* The words of a document or a question. */
struct words {
    const int *id, *key; /* key may be NULL */
    int n;
};

/* What tells word i from others; HD_KEY_SHAPE is no such key. */
static int key_at(const struct words *w, int i, int kind)
{
    return w->key ? w->key[(size_t)i * HD_N_KEYS + (size_t)kind] : w->id[i];
}

/* Does one of these words have this key? */
static bool has_key(const struct words *w, int kind, int key)
{
    for (int i = 0; i < w->n; i++)
        if (key_at(w, i, kind) == key)
            return true;
    return false;
}

/* Words of a document by the order in which they first stand in it. */
static void number_words(int *type, const struct words *w)
{
    int n = 0;
    for (int i = 0; i < w->n; i++) {
        int k = 0;
        while (k < i && key_at(w, k, HD_KEY_ID) != key_at(w, i, HD_KEY_ID))
            k++;
        type[i] = k < i ? type[k] : n++;
    }
}

static void mark_words(int *mark, const struct words *document, const struct words *question)
{
    for (int i = 0; i < document->n; i++)
        mark[i] = has_key(question, HD_KEY_ID, key_at(document, i, HD_KEY_ID)) ? HD_MARK_ASKED
                                                                               : HD_MARK_DOCUMENT;
}

/* How much of word i the others have. */
static enum hd_word_likeness likeness(const struct words *w, int i, const struct words *others)
{
    const int word = key_at(w, i, HD_KEY_WORD), beginning = key_at(w, i, HD_KEY_BEGINNING);
    if ((!w->key || word != 0) && has_key(others, HD_KEY_WORD, word))
        return HD_LIKE_WORD;
    return w->key && beginning != 0 && has_key(others, HD_KEY_BEGINNING, beginning)
               ? HD_LIKE_BEGINNING
               : HD_LIKE_NONE;
}

static void find_traits(int *trait, const struct words *w, const struct words *others)
{
    for (int i = 0; i < w->n; i++)
        trait[i] = (int)likeness(w, i, others) * HD_N_SHAPES +
                   (w->key ? key_at(w, i, HD_KEY_SHAPE) : HD_SHAPE_SMALL);
}

/* The question of a document whose words stand from b->n_source on, and which of these it has. */
static bool add_question(struct hd_batch_builder *b, struct hd_sequence source, heed_error *err)
{
    const size_t n = (size_t)b->n + 1;
    if (!make_room(&b->question, &b->question_capacity, b->n_question + (size_t)source.n_question,
                   err) ||
        !make_room(&b->question_length, &b->question_length_capacity, n, err) ||
        !make_room(&b->mark, &b->mark_capacity, b->n_source + (size_t)source.n, err) ||
        !make_room(&b->type, &b->type_capacity, b->n_source + (size_t)source.n, err) ||
        !make_room(&b->trait, &b->trait_capacity, b->n_source + (size_t)source.n, err) ||
        !make_room(&b->question_trait, &b->question_trait_capacity,
                   b->n_question + (size_t)source.n_question, err))
        return false;
    const struct words document = {source.ids, source.key, source.n},
                       question = {source.question, source.key ? source.question_key : NULL,
                                   source.n_question};
    number_words(b->type + b->n_source, &document);
    mark_words(b->mark + b->n_source, &document, &question);
    find_traits(b->trait + b->n_source, &document, &question);
    find_traits(b->question_trait + b->n_question, &question, &document);
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
                             .trait = b->trait,
                             .question_trait = b->question_trait,
                             .frames = b->n_frames > 0 ? b->frames : NULL,
                             .frame_length = b->frame_length,
                             .grid = b->grid};
}
