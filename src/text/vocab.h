/* vocab.h -- the vocabulary: text to ids and back.
 *
 * Five kinds: subwords of a SentencePiece model, the same with ids of their own, words between
 * spaces, single characters, and labels, of which a text is one. A vocabulary is made from bytes and
 * can give them back, so that it lives inside the model file:
 *
 *     spm      a serialized SentencePiece model
 *     words    one word a line; the line's number is the id
 *     chars    one character a line; a space is written "▁"
 *     listed   one subword a line, a NUL, a serialized SentencePiece model: the model cuts and
 *              joins, the line's number is the id (models of OPUS-MT: one list for both
 *              languages, and a model for each)
 *     labels   one label a line, with the spaces in it; there are no special symbols
 *
 * In the lists, special symbols are known by their names, wherever they stand: `<unk>`, `</s>`,
 * `<s>`, `<pad>` (or `<blank>`); lists that heed makes begin with `<unk>` and `</s>`. Text never
 * becomes a special symbol by spelling its name: "</s>" in a sentence is a word that is not known.
 * Read-only once made: threads may share it. */
#ifndef HD_TEXT_VOCAB_H
#define HD_TEXT_VOCAB_H

#include <heed.h>

enum hd_vocab_kind {
    HD_VOCAB_SPM,
    HD_VOCAB_WORDS,
    HD_VOCAB_CHARS,
    HD_VOCAB_LISTED,
    HD_VOCAB_LABELS
};

/* "spm", "words", "chars", "listed", "labels". */
const char *hd_vocab_kind_name(enum hd_vocab_kind kind);

/* The kind of that name; false, and *kind unchanged, when there is none. */
bool hd_vocab_kind_by_name(enum hd_vocab_kind *kind, const char *name);

struct hd_vocab;
struct hd_piece_tree;

/* Make a vocabulary from its bytes, which are copied; give it to hd_vocab_free(). NULL with the
 * reason in `err` (HEED_BAD_MODEL, HEED_NO_MEMORY). */
struct hd_vocab *hd_vocab_from_memory(enum hd_vocab_kind kind, const void *data, size_t size,
                                      heed_error *err);

/* Make one of words, chars or labels from a list; tokens[i] gets the id i. */
struct hd_vocab *hd_vocab_from_tokens(enum hd_vocab_kind kind, const char *const *tokens, size_t n,
                                      heed_error *err);

/* Make one of kind listed: tokens[i] gets the id i, and the SentencePiece model of these bytes cuts. */
struct hd_vocab *hd_vocab_listed(const char *const *tokens, size_t n, const void *spm, size_t size,
                                 heed_error *err);

/* NULL is fine. */
void hd_vocab_free(struct hd_vocab *vocab);

enum hd_vocab_kind hd_vocab_kind(const struct hd_vocab *vocab);

/* The bytes that make this vocabulary again, *size of them. Live as long as it does. */
const void *hd_vocab_bytes(const struct hd_vocab *vocab, size_t *size);

/* How many ids there are: 0 to size - 1. */
int hd_vocab_size(const struct hd_vocab *vocab);

/* Ids of the special symbols, -1 for what the vocabulary does not have. */
int hd_vocab_unknown(const struct hd_vocab *vocab); /* <unk> */
int hd_vocab_end(const struct hd_vocab *vocab);     /* </s> */
int hd_vocab_begin(const struct hd_vocab *vocab);   /* <s> */
int hd_vocab_padding(const struct hd_vocab *vocab); /* <pad>, <blank> */

/* The piece of text an id stands for, "▁house"; NULL for an id out of range. Lives as long as the
 * vocabulary. */
const char *hd_vocab_piece(const struct hd_vocab *vocab, int id);

/* The id of a piece, special symbols included; -1 when there is no such piece. */
int hd_vocab_find(const struct hd_vocab *vocab, const char *piece);

/* The id that stands before a source which is to be translated into this language, "<2fr>", or ">>fr<<" as OPUS-MT spells it; -1 when there
 * is none. Johnson et al. (2017), "Google's multilingual neural machine translation system". */
int hd_vocab_language(const struct hd_vocab *vocab, const char *language);

/* The language whose symbol this id is, *n bytes; NULL when it is none. Lives as long as the vocabulary. */
const char *hd_vocab_language_of(const struct hd_vocab *vocab, int id, size_t *n);

/* How a space is written in a list of characters. */
#define HD_VOCAB_SPACE "▁"

/* How many bytes text[0..n) has before the next space, tab or line end, where a word ends. */
size_t hd_vocab_word_length(const char *text, size_t n);

/* A list of ids that grows; {0} is empty. */
struct hd_ids {
    int *at; /* at[0..n) */
    size_t n;
    size_t capacity;
};

/* Append one id. */
bool hd_ids_add(struct hd_ids *ids, int id, heed_error *err);

/* Leaves {0}. To empty it and keep its memory, set n to 0. */
void hd_ids_release(struct hd_ids *ids);

/* Append the ids of text[0..n_bytes), and the end marker when `with_end`. What the vocabulary does
 * not know becomes hd_vocab_unknown(). False, with nothing appended, when the text is not UTF-8
 * (HEED_BAD_TEXT, with the place), when a part of it is not known and there is no `<unk>`
 * (HEED_BAD_TEXT), when there is no end marker to append (HEED_BAD_OPTION), or without memory.
 *
 *     words    any run of spaces, tabs and line ends separates; a word that is not known as it is
 *              spelled is looked for in normal form C
 *     chars    every character of the text in normal form C counts; one that is not known is its
 *              parts if they are; a literal "▁" is a space too
 *     spm      as the model says; its normalisation may change the text
 *     listed   the same; a text that begins with ">>fr<<", if that is in the list, begins with its id
 *     labels   the whole text, white space around it left out, is one label; one that is not known is
 *              HEED_BAD_TEXT */
bool hd_vocab_encode(const struct hd_vocab *vocab, const char *text, size_t n_bytes, bool with_end,
                     struct hd_ids *ids, heed_error *err);

/* Is the text UTF-8, and is there an end marker if one is wanted? If not, the reason is in `err` as
 * above. */
bool hd_vocab_can_encode(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                         bool with_end, heed_error *err);

/* The text as the subwords of an spm or listed vocabulary spell it, "▁the▁small▁cat": normalised, *n_out bytes,
 * to be given to hd_free(). NULL with the reason in `err`. */
char *hd_vocab_normalise(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                         size_t *n_out, heed_error *err);

/* The pieces of an spm or listed vocabulary as a tree, by the ids of the SentencePiece model, made
 * when it is asked for the first time. NULL without memory. */
const struct hd_piece_tree *hd_vocab_tree(const struct hd_vocab *vocab, heed_error *err);

/* The text of ids, to be given to hd_free(). Begin, end and padding leave no trace; an unknown one
 * is "<unk>" in words and chars, " ⁇ " in spm as its makers have it. NULL with the reason in
 * `err` (HEED_BAD_TEXT: an id out of range). */
char *hd_vocab_decode(const struct hd_vocab *vocab, const int *ids, size_t n, heed_error *err);

/* ---- with places ----------------------------------------------------------------------------- */

/* Bytes of a text, from `begin` to before `end`. */
struct hd_span {
    size_t begin, end;
};

/* Ids and what they stand for in a text; {0} is none. Places ascend and may touch but not overlap; an
 * id may have none of its own (begin is end): one of several that stand for one character. What the
 * vocabulary's normalisation leaves out (doubled spaces, control characters) is in no place or in
 * that of a neighbour. */
struct hd_encoding {
    int *ids;
    struct hd_span *spans;
    size_t n;
};

/* As hd_vocab_encode(), without an end marker, into new ids with places, to be given to hd_encoding_release(). */
bool hd_vocab_encode_spans(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                           struct hd_encoding *placed, heed_error *err);

/* Leaves {0}. */
void hd_encoding_release(struct hd_encoding *placed);

/* As hd_vocab_decode(), with the place of each id in spans[0..n). Together they cover the text. */
char *hd_vocab_decode_spans(const struct hd_vocab *vocab, const int *ids, size_t n,
                            struct hd_span *spans, heed_error *err);

/* The word that each of ids[0..n) belongs to, from 0, into word[0..n); returns how many words they spell. Words are those of
 * text/word_links.h. Where the vocabulary's normalisation changes spaces, the number differs from that of the text. */
size_t hd_vocab_words(const struct hd_vocab *vocab, const int *ids, size_t n, bool by_character,
                      int *word);

/* The text of ids of a listed vocabulary, none of which leaves no trace, with the place of id i in spans[2 i] and spans[2 i + 1]
 * where that is not NULL; to be given to hd_free(). */
char *hd_vocab_join(const struct hd_vocab *vocab, const int *ids, size_t n, size_t *spans,
                    heed_error *err);

/* Does an id leave no trace in text: begin, end, padding? */
bool hd_vocab_is_silent(const struct hd_vocab *vocab, int id);

/* The SentencePiece model of kinds spm and listed, else NULL. */
struct hd_spm;
const struct hd_spm *hd_vocab_spm(const struct hd_vocab *vocab);

/* The bytes of that model. */
const void *hd_vocab_spm_bytes(const struct hd_vocab *vocab, size_t *size);

/* The id of the vocabulary for one of that model's. */
int hd_vocab_of_spm(const struct hd_vocab *vocab, int id);

/* The id of a piece that was cut, of kind listed: that of <unk> where the list does not have it. */
int hd_vocab_piece_id(const struct hd_vocab *vocab, const char *piece, size_t n);

/* The id of a symbol that text[0..n) begins with, ">>fr<<" of kind listed, which is *length bytes; -1 for none. */
int hd_vocab_prefix(const struct hd_vocab *vocab, const char *text, size_t n, size_t *length);

#endif
