/* tokenise.c -- sentences cut into words as sacreBLEU cuts them, its oddities included: a score is compared with
 * scores of others, so what counts is that all cut alike.
 *
 * Its tokenisers are substitutions one after the other, each putting spaces around what it finds, and a split at spaces in
 * the end. Here a substitution is a loop over the characters from one array into another. Categories of characters and lower
 * case are utf8proc's. */
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/metric.h"

#include <utf8proc.h>

typedef bool is_kind(uint32_t c);

static bool decode(struct hd_words *line, struct hd_text text, heed_error *err);
static bool lower(struct hd_words *line, heed_error *err);
static bool cut_13a(struct hd_words *line, heed_error *err);
static bool cut_intl(struct hd_words *line, heed_error *err);
static bool cut_zh(struct hd_words *line, heed_error *err);
static void split(struct hd_words *line, bool at_every_char);

const char *hd_tokeniser_name(enum heed_tokeniser tok)
{
    static const char *const names[] = {[HEED_TOK_13A] = "13a",
                                        [HEED_TOK_NONE] = "none",
                                        [HEED_TOK_CHAR] = "char",
                                        [HEED_TOK_INTL] = "intl",
                                        [HEED_TOK_ZH] = "zh"};
    return names[tok];
}

/* What str.split() of Python takes for a space. */
static bool is_space(uint32_t c)
{
    return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || c == 0x85 ||
           c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

/* Until split(), words->chars is the line, with its spaces. */
bool hd_tokenise(struct hd_words *words, struct hd_text text, enum heed_tokeniser tok,
                 bool is_lowercase, heed_error *err)
{
    if (!decode(words, text, err) || (is_lowercase && !lower(words, err)))
        return false;
    while (words->n_chars > 0 && is_space(words->chars[words->n_chars - 1]))
        words->n_chars--;
    bool ok = true;
    switch (tok) {
    case HEED_TOK_13A:
        ok = cut_13a(words, err);
        break;
    case HEED_TOK_INTL:
        ok = cut_intl(words, err);
        break;
    case HEED_TOK_ZH:
        ok = cut_zh(words, err);
        break;
    case HEED_TOK_NONE:
    case HEED_TOK_CHAR:
        break;
    }
    if (ok)
        split(words, tok == HEED_TOK_CHAR);
    return ok;
}

void hd_words_release(struct hd_words *words)
{
    hd_free(words->chars);
    hd_free(words->ends);
    hd_free(words->ids);
    hd_free(words->spare);
    *words = (struct hd_words){0};
}

bool hd_words_number(struct hd_words *words, struct hd_ngrams *spelling, heed_error *err)
{
    size_t start = 0;
    for (size_t i = 0; i < words->n; i++) {
        words->ids[i] =
            hd_ngrams_find_all(spelling, words->chars + start, words->ends[i] - start, err);
        if (words->ids[i] == 0)
            return false;
        start = words->ends[i];
    }
    return true;
}

/* ---- the line ------------------------------------------------------------------------------------------------- */

/* Room for n characters, and for as many words; keeps the line. */
static bool make_room(struct hd_words *line, size_t n, heed_error *err)
{
    if (line->chars && n <= line->capacity)
        return true;
    struct hd_words larger = {.n_chars = line->n_chars, .capacity = 2 * n + 30};
    larger.chars = hd_alloc(larger.capacity, sizeof *larger.chars, err);
    larger.ends = hd_alloc(larger.capacity, sizeof *larger.ends, err);
    larger.ids = hd_alloc(larger.capacity, sizeof *larger.ids, err);
    larger.spare = hd_alloc(larger.capacity, sizeof *larger.spare, err);
    if (!larger.chars || !larger.ends || !larger.ids || !larger.spare) {
        hd_words_release(&larger);
        return false;
    }
    if (line->chars)
        memcpy(larger.chars, line->chars, line->n_chars * sizeof *line->chars);
    hd_words_release(line);
    *line = larger;
    return true;
}

static bool decode(struct hd_words *line, struct hd_text text, heed_error *err)
{
    line->n_chars = line->n = 0;
    if (!make_room(line, text.n, err))
        return false;
    for (size_t i = 0; i < text.n;) {
        const int length = hd_utf8_decode(text.at + i, text.n - i, &line->chars[line->n_chars]);
        if (length == 0)
            return hd_fail(err, HEED_BAD_TEXT,
                           "the text is not UTF-8 at byte %zu; convert it first, for example with "
                           "iconv -t UTF-8",
                           i);
        line->n_chars++;
        i += (size_t)length;
    }
    return true;
}

/* Where a changed line of n characters can be written. */
static uint32_t *spare_for(struct hd_words *line, size_t n, heed_error *err)
{
    return make_room(line, n, err) ? line->spare : NULL;
}

/* What was written there, up to `end`, is the line now. */
static void take_spare(struct hd_words *line, const uint32_t *end)
{
    uint32_t *old = line->chars;
    line->n_chars = (size_t)(end - line->spare);
    line->chars = line->spare;
    line->spare = old;
}

/* The words of the line, without what is between them. */
static void split(struct hd_words *line, bool at_every_char)
{
    size_t n = 0;
    line->n = 0;
    for (size_t i = 0; i < line->n_chars; i++) {
        if (is_space(line->chars[i]))
            continue;
        line->chars[n++] = line->chars[i];
        if (at_every_char || i + 1 == line->n_chars || is_space(line->chars[i + 1]))
            line->ends[line->n++] = n;
    }
    line->n_chars = n;
}

/* ---- substitutions -------------------------------------------------------------------------------------------- */

/* x → " x " */
static bool space_around(struct hd_words *line, is_kind *x, heed_error *err)
{
    uint32_t *out = spare_for(line, 3 * line->n_chars, err);
    if (!out)
        return false;
    for (size_t i = 0; i < line->n_chars; i++) {
        const uint32_t c = line->chars[i];
        const bool is_found = x(c);
        if (is_found)
            *out++ = ' ';
        *out++ = c;
        if (is_found)
            *out++ = ' ';
    }
    take_spare(line, out);
    return true;
}

enum which { FIRST, SECOND };

/* x y → " x y" or "x y ", spaces around the first or the second of two. Both are consumed: the y of one pair is not
 * the x of the next. */
static bool space_around_one(enum which which, struct hd_words *line, is_kind *x, is_kind *y,
                             heed_error *err)
{
    uint32_t *out = spare_for(line, 2 * line->n_chars, err);
    if (!out)
        return false;
    const uint32_t *in = line->chars, *end = in + line->n_chars;
    while (in < end) {
        if (end - in < 2 || !x(in[0]) || !y(in[1])) {
            *out++ = *in++;
            continue;
        }
        if (which == FIRST)
            *out++ = ' ';
        *out++ = *in++;
        *out++ = ' ';
        *out++ = *in++;
        if (which == SECOND)
            *out++ = ' ';
    }
    take_spare(line, out);
    return true;
}

/* Every `from`, which is ASCII, becomes `to`, which is not longer. */
static void replace(struct hd_words *line, const char *from, const char *to)
{
    const size_t length = strlen(from);
    uint32_t *out = line->chars;
    for (size_t i = 0; i < line->n_chars;) {
        size_t same = 0;
        while (same < length && i + same < line->n_chars &&
               line->chars[i + same] == (unsigned char)from[same])
            same++;
        if (same == length) {
            for (const char *c = to; *c; c++)
                *out++ = (unsigned char)*c;
            i += length;
        } else
            *out++ = line->chars[i++];
    }
    line->n_chars = (size_t)(out - line->chars);
}

/* ---- 13a and zh: western punctuation -------------------------------------------------------------------------- */

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_no_digit(uint32_t c)
{
    return !is_digit(c);
}

static bool is_point_or_comma(uint32_t c)
{
    return c == '.' || c == ',';
}

static bool is_dash(uint32_t c)
{
    return c == '-';
}

/* All of ASCII's but ' , - . */
static bool is_western_punctuation(uint32_t c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/* Points and commas stay inside numbers, dashes inside words. */
static bool cut_western(struct hd_words *line, heed_error *err)
{
    return space_around(line, is_western_punctuation, err) &&
           space_around_one(SECOND, line, is_no_digit, is_point_or_comma, err) &&
           space_around_one(FIRST, line, is_point_or_comma, is_no_digit, err) &&
           space_around_one(SECOND, line, is_digit, is_dash, err);
}

/* The tokeniser of mteval-v13a. */
static bool cut_13a(struct hd_words *line, heed_error *err)
{
    replace(line, "<skipped>", "");
    replace(line, "-\n", "");
    replace(line, "\n", " ");
    replace(line, "&quot;", "\"");
    replace(line, "&amp;", "&");
    replace(line, "&lt;", "<");
    replace(line, "&gt;", ">");
    if (!make_room(line, line->n_chars + 2, err))
        return false;
    memmove(line->chars + 1, line->chars, line->n_chars * sizeof *line->chars);
    line->chars[0] = line->chars[line->n_chars + 1] = ' ';
    line->n_chars += 2;
    return cut_western(line, err);
}

/* What is a word of its own in Chinese. The third range is sacreBLEU's way of writing U+20000 to U+2A6D6, the rare
 * ideographs: so written it takes in dashes, quotation marks, arrows and signs, and leaves those ideographs out. */
static bool is_chinese(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x3400, 0x4DB5}, /* ideographs */
        {0x4E00, 0x9FBB}, /* ideographs */
        {0x2001, 0x2A6D}, /* see above */
        {0xF900, 0xFA2D}, /* ideographs for compatibility */
        {0xFA30, 0xFA6A}, /* ideographs for compatibility */
        {0xFA70, 0xFAD9}, /* ideographs for compatibility */
        {0x2E80, 0x2FDF}, /* radicals */
        {0x2FF0, 0x2FFF}, /* description of ideographs */
        {0x31C0, 0x31EF}, /* strokes */
        {0x3100, 0x312F}, /* bopomofo */
        {0x31A0, 0x31BF}, /* bopomofo */
        {0x3000, 0x303F}, /* punctuation */
        {0xFE10, 0xFE1F}, /* punctuation, vertical */
        {0xFE30, 0xFE4F}, /* punctuation, vertical */
        {0xFF00, 0xFFEF}, /* full and half width */
        {0x3200, 0x33FF}, /* enclosed and squared */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

static bool cut_zh(struct hd_words *line, heed_error *err)
{
    size_t n = 0; /* spaces at the start, which would let a point there be cut off */
    while (n < line->n_chars && is_space(line->chars[n]))
        n++;
    line->n_chars -= n;
    memmove(line->chars, line->chars + n, line->n_chars * sizeof *line->chars);
    return space_around(line, is_chinese, err) && cut_western(line, err);
}

/* ---- intl: punctuation of all scripts --------------------------------------------------------------------------- */

static bool is_number(uint32_t c)
{
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

static bool is_no_number(uint32_t c)
{
    return !is_number(c);
}

static bool is_punctuation(uint32_t c)
{
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

static bool is_symbol(uint32_t c)
{
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO;
}

/* The international tokeniser of mteval-v14. */
static bool cut_intl(struct hd_words *line, heed_error *err)
{
    return space_around_one(SECOND, line, is_no_number, is_punctuation, err) &&
           space_around_one(FIRST, line, is_punctuation, is_no_number, err) &&
           space_around(line, is_symbol, err);
}

/* ---- lower case --------------------------------------------------------------------------------------------------- */

/* Unicode's Cased, apart from what is Case_Ignorable as well. */
static bool has_case(uint32_t c)
{
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
           category == UTF8PROC_CATEGORY_LT || c == 0xAA || c == 0xBA || /* ª º */
           (c >= 0x2160 && c <= 0x217F) ||                               /* Ⅷ */
           (c >= 0x24B6 && c <= 0x24E9) ||                               /* Ⓐ ⓐ */
           (c >= 0x1F130 && c <= 0x1F149) ||                             /* 🄰 */
           (c >= 0x1F150 && c <= 0x1F169) ||                             /* 🅐 */
           (c >= 0x1F170 && c <= 0x1F189);                               /* 🅰 */
}

/* Unicode's Case_Ignorable: marks, modifiers, and punctuation that is found inside words. */
static bool is_case_ignorable(uint32_t c)
{
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return true;
    default:
        break;
    }
    static const uint16_t inside_words[] = {'\'',   '.',    ':',    0xB7,   0x387,  0x55F,
                                            0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                            0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
    for (size_t i = 0; i < sizeof inside_words / sizeof *inside_words; i++)
        if (c == inside_words[i])
            return true;
    return false;
}

/* Unicode's Final_Sigma: a letter before it and none after it, whatever ignorable is between. */
static bool is_final_sigma(const struct hd_words *line, size_t at)
{
    size_t before = at, after = at + 1;
    while (before > 0 && is_case_ignorable(line->chars[before - 1]))
        before--;
    while (after < line->n_chars && is_case_ignorable(line->chars[after]))
        after++;
    return before > 0 && has_case(line->chars[before - 1]) &&
           !(after < line->n_chars && has_case(line->chars[after]));
}

/* The full mapping, as str.lower() of Python has it: İ becomes two characters, a final Σ becomes ς. */
static bool lower(struct hd_words *line, heed_error *err)
{
    uint32_t *out = spare_for(line, 2 * line->n_chars, err);
    if (!out)
        return false;
    for (size_t i = 0; i < line->n_chars; i++) {
        const uint32_t c = line->chars[i];
        if (c == 0x130) {
            *out++ = 'i';
            *out++ = 0x307;
        } else if (c == 0x3A3)
            *out++ = is_final_sigma(line, i) ? 0x3C2 : 0x3C3;
        else
            *out++ = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
    }
    take_spare(line, out);
    return true;
}
