/* vocab_words.c -- which word of a text each of its ids belongs to, told by the spaces that ids are spelled with, so that it holds for any
 * way to cut the text. */
#include "text/vocab.h"

#include "text/character.h"
#include "text/word_links.h"

#include <string.h>

enum { SPACE_MARK = 0x2581 }; /* ▁ */

size_t hd_vocab_words(const struct hd_vocab *vocab, const int *ids, size_t n, bool by_character,
                      int *word)
{
    const enum hd_vocab_kind kind = hd_vocab_kind(vocab);
    uint32_t before = ' ';
    size_t n_words = 0;
    for (size_t k = 0; k < n; k++) {
        const char *piece = hd_vocab_piece(vocab, ids[k]);
        const bool is_plain = hd_vocab_spm(vocab) && piece[0] == '<'; /* <unk>, <0xE2> */
        const size_t size = is_plain ? 1 : strlen(piece);
        if (kind == HD_VOCAB_WORDS)
            before = ' ';
        for (size_t i = 0, length; i < size; i += length) {
            uint32_t cp = hd_char_at(piece, size, i, &length);
            cp = cp == SPACE_MARK && kind != HD_VOCAB_WORDS ? ' ' : cp;
            n_words += hd_word_begins(before, cp, by_character);
            before = cp;
        }
        word[k] = (int)n_words - (before != ' '); /* a space alone is that of the next word */
    }
    return n_words;
}
