/* character.h -- what a character is: letter, digit, space, quote; and the characters before and behind a place.
 *
 * Text may be anything: a byte that is not UTF-8 counts as one character, U+FFFD. */
#ifndef HD_TEXT_CHARACTER_H
#define HD_TEXT_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character that begins at text[i], i < n, and its length in bytes; 0 with length 0 at the end. */
uint32_t hd_char_at(const char *text, size_t n, size_t i, size_t *length);

/* The character that ends before text[i]; 0 with length 0 at the beginning. */
uint32_t hd_char_before(const char *text, size_t i, size_t *length);

/* The first place from i on that is not white space; at most n. */
size_t hd_skip_space(const char *text, size_t n, size_t i);

/* White space of all scripts. */
bool hd_char_is_space(uint32_t cp);

bool hd_char_is_upper(uint32_t cp); /* title case as well */
bool hd_char_is_lower(uint32_t cp);
bool hd_char_is_letter(uint32_t cp); /* of any script; marks that belong to letters as well */
bool hd_char_is_mark(uint32_t cp);
bool hd_char_is_digit(uint32_t cp); /* decimal digits of any script */

/* A character of a script that is written without spaces between words. */
bool hd_char_is_unspaced(uint32_t cp);

/* Han, kana and their punctuation: scripts without spaces whose sentences end in wide marks. */
bool hd_char_is_east_asian(uint32_t cp);

bool hd_char_is_hangul(uint32_t cp);

/* Pictographs, and what joins or colours them. */
bool hd_char_is_emoji(uint32_t cp);

/* Lower-case text[begin..end) into key, which ends in NUL. Returns the key's length; 0 when it does not fit. */
size_t hd_lower_key(char *key, size_t size, const char *text, size_t begin, size_t end);

#endif
