/* document.h -- a text with markup: its plain text, which is translated, and the tags, which are put back.
 *
 * The marks of a text (markup/markup.h) cut it into blocks: no sentence goes over a block's end. The plain texts of blocks, one
 * a line, are what segments, words and attention are about until a result is finished. Tags that belong to words then stand
 * where the words' translations are, by the attention links between them; all else stays where it is, byte for byte. Invariant: every mark is
 * written once, beginnings and ends nested as they were. */
#ifndef HD_TRANSLATE_DOCUMENT_H
#define HD_TRANSLATE_DOCUMENT_H

#include "base/bytes.h"
#include "exchange/markup_door.h"
#include "translate/word_weights.h"

/* Bytes of the plain text, and of the text that was given; either may be none. */
struct hd_document_piece {
    struct hd_span plain, given;
};

/* A run of text without a break. Neither begins nor ends with white space. */
struct hd_block {
    struct hd_span given, plain;
    size_t first_mark, end_mark;
    size_t first_piece, end_piece;
    size_t first_segment, n_segments;
};

/* A translation with its tags. */
struct hd_marked_text {
    char *text;
    size_t *begin, *end; /* of each byte of the plain translation, in the text */
};

struct hd_document {
    const char *given; /* the result's */
    size_t n_given;
    const struct hd_markup_module *module;
    enum hd_markup_kind kind;
    struct hd_marks marks;
    size_t *places; /* [marks]: where each stands in the plain text */
    int *symbols;   /* [marks]: the placeholder that stands for an object there; -1: none does */
    char *plain;
    size_t n_plain;
    struct hd_document_piece *pieces;
    size_t n_pieces, pieces_capacity;
    struct hd_block *blocks;
    size_t n_blocks, blocks_capacity;
    bool is_verbatim; /* nothing can be translated */
    struct hd_marked_text *written;
    size_t n_written, written_capacity;
};

/* Read given[0..n), which must live as long as the document; what is wrong with it becomes warnings of the result. With
 * `has_symbols` objects that are read like words have placeholders in the plain text. NULL with the reason in `err`. */
struct hd_document *hd_document_new(const struct hd_markup_module *module, enum hd_markup_kind kind,
                                    const char *given, size_t n, bool has_symbols,
                                    heed_result *result, heed_error *err);
void hd_document_free(struct hd_document *document); /* NULL is fine */

/* A plain translation, what each segment became in it, and what its tokens looked at: a row may be NULL. */
struct hd_plain_translation {
    const char *text;
    size_t n;
    const struct hd_span *segments;        /* in the translation */
    const struct hd_span *source_segments; /* in the plain text */
    const bool *passes;                    /* segments that are as they were */
    const struct hd_token_weights *weights;
};

/* Write one more translation with its tags. */
bool hd_document_write(struct hd_document *document, const struct hd_plain_translation *translation,
                       heed_error *err);

/* The result is about the text with its tags from now on: source, texts, places of words and sentences. */
bool hd_document_finish(struct hd_document *document, heed_result *result, heed_error *err);

/* ---- for the files that make a translation ------------------------------------------------------------ */

/* Tags of a block where they stand in its translation (tag_place.c), in numbers of atoms: words, or single marks of
 * punctuation. */
struct hd_tag_atom {
    struct hd_span span;
    size_t segment;
    bool is_word;
    int symbol;   /* the placeholder that it is; -1: none */
    size_t owner; /* the innermost element that it is in */
};

struct hd_tag_element {
    size_t mark;          /* its beginning; of the first one, the block itself, none */
    size_t parent;        /* SIZE_MAX: of the block */
    bool is_object;       /* one piece, without words */
    bool is_done;         /* an object that stands where its placeholder does */
    struct hd_span plain; /* its words; of an object its place */
    struct hd_span atoms; /* of the translation */
    size_t first_child, next_child;
};

struct hd_tag_placement {
    struct hd_tag_atom *atoms;
    size_t n_atoms, atoms_capacity;
    struct hd_tag_element *elements;
    size_t n_elements, elements_capacity;
};

bool hd_place_tags(struct hd_tag_placement *placement, const struct hd_document *document,
                   const struct hd_block *block, const struct hd_plain_translation *translation,
                   heed_error *err);
void hd_tag_placement_release(struct hd_tag_placement *placement);

#endif
