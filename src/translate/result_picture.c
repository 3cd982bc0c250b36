/* result_picture.c -- from a result to something that can be drawn: one block of memory, with the picture at its start. */
#include "base/error.h"
#include "base/memory.h"

#include <heed_draw.h>
#include <string.h>

struct block {
    heed_picture_attention picture; /* first, so that freeing it frees all */
    heed_picture_link *links;
    const char **rows, **columns;
};

heed_picture_view *heed_result_view(const heed_result *r, const heed_translation *t,
                                    heed_error *err)
{
    if (!hd_is_given(r, "result", err) || !hd_is_given(t, "translation", err))
        return NULL;
    if (!t->attention || t->attention_kind != HEED_ATTENTION_CROSS || !r->seen) {
        hd_fail(err, HEED_BAD_OPTION, "the result has nothing that could be looked at");
        return NULL;
    }
    const size_t n = t->n_attention_rows;
    heed_picture_view *v = hd_alloc(1, sizeof *v + n * sizeof(char *), err);
    if (!v)
        return NULL;
    const char **words = (const char **)(void *)(v + 1);
    for (size_t i = 0; i < n; i++)
        words[i] = t->words[i].text;
    *v = (heed_picture_view){.words = words,
                             .n_words = (int)n,
                             .weights = t->attention,
                             .n_positions = (int)t->n_attention_columns,
                             .seen = r->seen,
                             .n_rows = r->n_seen_rows,
                             .n_columns = r->n_seen_columns,
                             .seconds = r->step * (double)t->n_attention_columns,
                             .grid_rows = r->rows,
                             .grid_columns = r->columns,
                             .heard = r->columns == 0 ? t->heard : NULL};
    return v;
}

heed_picture_attention *heed_result_picture(const heed_result *r, const heed_translation *t,
                                            const heed_link *links, size_t n_links, heed_error *err)
{
    if (!hd_is_given(r, "result", err) || !hd_is_given(t, "translation", err))
        return NULL;
    if (!t->attention) {
        hd_fail(err, HEED_BAD_OPTION, "the result has no attention that could be drawn");
        return NULL;
    }
    const bool from_source = t->attention_kind == HEED_ATTENTION_ENCODER,
               to_target = t->attention_kind == HEED_ATTENTION_DECODER;
    const heed_word *rows = from_source ? r->words : t->words,
                    *columns = to_target ? t->words : r->words;
    static const char *const pointers[2] = {"start", "end"}; /* of an answer */
    const size_t n_rows = t->n_attention_rows, n_columns = t->n_attention_columns;
    if (t->attention_kind != HEED_ATTENTION_CROSS)
        n_links = 0;
    struct block *b = hd_alloc(
        1, sizeof *b + (n_rows + n_columns) * sizeof *b->rows + n_links * sizeof *b->links, err);
    if (!b)
        return NULL;
    b->rows = (const char **)(b + 1);
    b->columns = b->rows + n_rows;
    b->links = (heed_picture_link *)(b->columns + n_columns);
    for (size_t i = 0; i < n_rows; i++)
        b->rows[i] = !r->question ? rows[i].text : pointers[i > 0];
    for (size_t j = 0; j < n_columns; j++)
        b->columns[j] = columns[j].text;
    for (size_t i = 0; i < n_links; i++)
        b->links[i] = (heed_picture_link){.column = links[i].source, .row = links[i].target};
    b->picture =
        (heed_picture_attention){.words = {.rows = b->rows,
                                           .n_rows = (int)n_rows,
                                           .columns = b->columns,
                                           .n_columns = (int)n_columns},
                                 .weights = t->attention,
                                 /* the decoder has a start instead of an end, a document neither */
                                 .end = to_target || r->question ? NULL : t->attention_end,
                                 .links = b->links,
                                 .n_links = (int)n_links};
    return &b->picture;
}
