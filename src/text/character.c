/* character.c -- classes of characters by utf8proc, with short ways for ASCII. */
#include "text/character.h"

#include "base/utf8.h"

#include <utf8proc.h>

uint32_t hd_char_at(const char *text, size_t n, size_t i, size_t *length)
{
    uint32_t cp = 0xFFFD;
    if (i >= n) {
        *length = 0;
        return 0;
    }
    const int decoded = hd_utf8_decode(text + i, n - i, &cp);
    *length = decoded > 0 ? (size_t)decoded : 1;
    return cp;
}

uint32_t hd_char_before(const char *text, size_t i, size_t *length)
{
    uint32_t cp = 0xFFFD;
    size_t begin = i;
    while (begin > 0 && i - begin < 3 && ((unsigned char)text[begin - 1] & 0xC0) == 0x80)
        begin--;
    begin -= begin > 0;
    *length = i - begin;
    if (i == 0)
        return 0;
    if (hd_utf8_decode(text + begin, i - begin, &cp) == (int)(i - begin))
        return cp;
    *length = 1;
    return 0xFFFD;
}

size_t hd_skip_space(const char *text, size_t n, size_t i)
{
    for (size_t length; i < n && hd_char_is_space(hd_char_at(text, n, i, &length));)
        i += length;
    return i;
}

bool hd_char_is_space(uint32_t cp)
{
    return cp == ' ' || (cp >= '\t' && cp <= '\r') || cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F ||
           cp == 0x205F || cp == 0x3000;
}

bool hd_char_is_upper(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= 'A' && cp <= 'Z';
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LT;
}

bool hd_char_is_lower(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= 'a' && cp <= 'z';
    return utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_LL;
}

bool hd_char_is_mark(uint32_t cp)
{
    if (cp < 0x300)
        return false;
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ME ||
           cp == 0x200D;
}

bool hd_char_is_letter(uint32_t cp)
{
    if (cp < 0x80)
        return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z');
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) || hd_char_is_mark(cp);
}

bool hd_char_is_digit(uint32_t cp)
{
    if (cp < 0x80)
        return cp >= '0' && cp <= '9';
    return utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_ND;
}

bool hd_char_is_unspaced(uint32_t cp)
{
    static const struct {
        uint32_t first, last;
    } blocks[] = {
        {0x0E00, 0x0EFF},   /* Thai, Lao */
        {0x1000, 0x109F},   /* Burmese */
        {0x1780, 0x17FF},   /* Khmer */
        {0x2E80, 0x2FDF},   /* parts of Chinese characters */
        {0x3001, 0x312F},   /* punctuation, Hiragana, Katakana, Bopomofo */
        {0x31A0, 0x31FF},   /* more of these */
        {0x3400, 0x4DBF},   /* Chinese characters */
        {0x4E00, 0x9FFF},   /* */
        {0xAA60, 0xAA7F},   /* more Burmese */
        {0xF900, 0xFAFF},   /* more Chinese characters */
        {0xFF01, 0xFF9F},   /* wide and narrow forms */
        {0x1B000, 0x1B16F}, /* old Kana */
        {0x20000, 0x3FFFF}, /* rare Chinese characters */
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (cp >= blocks[i].first && cp <= blocks[i].last)
            return true;
    return false;
}

bool hd_char_is_east_asian(uint32_t cp)
{
    return (cp >= 0x2E80 && cp <= 0x2FDF) || (cp >= 0x3001 && cp <= 0x312F) ||
           (cp >= 0x31A0 && cp <= 0x31FF) || (cp >= 0x3400 && cp <= 0x4DBF) ||
           (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0xF900 && cp <= 0xFAFF) ||
           (cp >= 0xFF01 && cp <= 0xFF9F) || (cp >= 0x20000 && cp <= 0x3FFFF);
}

bool hd_char_is_hangul(uint32_t cp)
{
    return (cp >= 0xAC00 && cp <= 0xD7A3) || (cp >= 0x1100 && cp <= 0x11FF);
}

bool hd_char_is_emoji(uint32_t cp)
{
    return (cp >= 0x1F000 && cp <= 0x1FAFF) || (cp >= 0x2600 && cp <= 0x27BF) ||
           (cp >= 0x2B00 && cp <= 0x2BFF) || cp == 0xFE0F || cp == 0x200D;
}

size_t hd_lower_key(char *key, size_t size, const char *text, size_t begin, size_t end)
{
    size_t n = 0;
    for (size_t i = begin, length; i < end; i += length) {
        uint32_t cp = hd_char_at(text, end, i, &length);
        if (cp >= 'A' && cp <= 'Z')
            cp += 'a' - 'A';
        else if (cp >= 0x80)
            cp = (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
        if (n + 5 > size)
            return 0;
        n += (size_t)hd_utf8_encode(key + n, cp);
    }
    key[n] = '\0';
    return n;
}
