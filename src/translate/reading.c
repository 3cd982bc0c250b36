/* reading.c -- a segment's text rewritten for the model, with the place in the line that each byte stems from.
 *
 * Invariant: places of tokens are places in the line's own text, whatever the model has read. */
#include "translate/reading.h"

#include "base/memory.h"
#include "text/buffer.h"
#include "text/sentence_words.h"

#include <string.h>

#include <utf8proc.h>

/* ---- what is copied at the ends ------------------------------------------------------------------------------------- */

/* "• ", "- ", "* ", "# ": the length of the mark with the white space behind it, else 0. */
static size_t bullet_at(const char *text, size_t n)
{
    static const uint32_t bullets[] = {'-',    '*',    '#',    '>',    0x2022, 0x2023, 0x25E6,
                                       0x25AA, 0x25CF, 0x25A0, 0x2013, 0x2014, 0x00B7, 0x2192};
    size_t i = 0, length, n_marks = 0;
    for (uint32_t cp; i < n && n_marks < 6; i += length, n_marks++) {
        cp = hd_char_at(text, n, i, &length);
        size_t k = 0;
        while (k < sizeof bullets / sizeof *bullets && bullets[k] != cp)
            k++;
        if (k == sizeof bullets / sizeof *bullets)
            break;
    }
    const size_t end = hd_skip_space(text, n, i);
    return i > 0 && end > i ? end : 0;
}

/* "1. ", "12) ", "(a) ", "b) ". No German ordinal: "3. Oktober". */
static size_t number_at(const char *text, size_t n, const char *language)
{
    size_t i = n > 0 && text[0] == '(', k = i;
    while (k < n && k < i + 3 && text[k] >= '0' && text[k] <= '9')
        k++;
    const bool is_number = k > i;
    if (!is_number && k < n &&
        ((text[k] >= 'a' && text[k] <= 'z') || (text[k] >= 'A' && text[k] <= 'Z')))
        k++;
    if (k == i || k >= n || !(text[k] == ')' || (is_number && i == 0 && text[k] == '.')))
        return 0;
    const size_t begin = hd_skip_space(text, n, k + 1);
    if (begin == k + 1 || begin >= n)
        return 0;
    size_t end = begin, length;
    char key[32];
    while (end < n && hd_char_is_letter(hd_char_at(text, n, end, &length)))
        end += length;
    const bool is_ordinal = text[k] == '.' && hd_lower_key(key, sizeof key, text, begin, end) > 0 &&
                            hd_word_after_ordinal(key, hd_sentence_language(language));
    return is_ordinal ? 0 : begin;
}

static size_t emoji_before(const char *text, size_t n)
{
    size_t i = 0, length;
    while (i < n && hd_char_is_emoji(hd_char_at(text, n, i, &length)))
        i += length;
    return i > 0 ? hd_skip_space(text, n, i) : 0;
}

/* The length of text[0..n) without emoji at its end. */
static size_t before_emoji(const char *text, size_t n)
{
    size_t end = n, length;
    bool has_any = false;
    for (uint32_t cp; end > 0; end -= length) {
        cp = hd_char_before(text, end, &length);
        if (!hd_char_is_emoji(cp) && !hd_char_is_space(cp))
            break;
        has_any = has_any || hd_char_is_emoji(cp);
    }
    return has_any ? end : n;
}

void hd_segment_trim(struct hd_segment *segment)
{
    const struct hd_line *line = segment->line;
    const char *source = line->result->source;
    struct hd_span span = segment->span;
    for (size_t more = 1; more > 0 && span.begin < span.end; span.begin += more) {
        const char *text = source + span.begin;
        const size_t n = span.end - span.begin;
        more = bullet_at(text, n);
        more = more > 0 ? more : number_at(text, n, line->from);
        more = more > 0 ? more : emoji_before(text, n);
    }
    if (span.begin < span.end)
        span.end = span.begin + before_emoji(source + span.begin, span.end - span.begin);
    if (span.begin < span.end)
        segment->span = span;
}

/* ---- letters --------------------------------------------------------------------------------------------------------------- */

/* Capitals alone that are no abbreviation: four letters, or two with an exclamation or question mark. Small letters alone: several
 * words, as a single one may be meant as it is. */
static enum hd_letters letters_of(const struct hd_segment *segment)
{
    const struct hd_line *line = segment->line;
    const char *source = line->result->source;
    const struct hd_protected *next = line->kept.at + segment->first_kept;
    const struct hd_protected *end = next + segment->n_kept;
    size_t n_upper = 0, n_lower = 0, n_words = 0;
    bool has_mark = false, is_inside = false;
    for (size_t i = segment->span.begin, length; i < segment->span.end; i += length) {
        const uint32_t cp = hd_char_at(source, segment->span.end, i, &length);
        if (next < end && i == next->span.begin) {
            length = next++->span.end - i;
            is_inside = false;
            continue;
        }
        n_upper += hd_char_is_upper(cp);
        n_lower += hd_char_is_lower(cp);
        n_words += hd_char_is_letter(cp) && !is_inside;
        is_inside = !hd_char_is_space(cp);
        has_mark = has_mark || cp == '!' || cp == '?';
    }
    if (n_upper > 0 && n_lower == 0 && n_upper >= (has_mark ? 2 : 4))
        return HD_LETTERS_CAPITAL;
    return n_lower > 0 && n_upper == 0 && n_words > 1 ? HD_LETTERS_SMALL : HD_LETTERS_MIXED;
}

bool hd_word_is_name(const struct hd_vocab *vocab, const char *text, size_t n)
{
    enum { LONGEST = 64 };
    char small[LONGEST + 8] = "\xE2\x96\x81", big[LONGEST + 8]; /* ▁ */
    size_t length, first;
    const size_t n_small = hd_lower_key(small + 3, LONGEST, text, 0, n);
    if (n_small == 0)
        return false;
    uint8_t bytes[4];
    const uint32_t cp = hd_char_at(small + 3, n_small, 0, &length);
    first = (size_t)utf8proc_encode_char(utf8proc_totitle((utf8proc_int32_t)cp), bytes);
    memcpy(big, small, 3);
    memcpy(big + 3, bytes, first);
    strcpy(big + 3 + first, small + 3 + length);
    return hd_vocab_find(vocab, small) < 0 && hd_vocab_find(vocab, big) >= 0;
}

/* Does the word that begins here have a capital letter in a sentence of ordinary letters? */
static bool has_capital(const struct hd_segment *segment, size_t i)
{
    const struct hd_line *line = segment->line;
    const char *source = line->result->source;
    size_t end = i, length;
    while (end < segment->span.end &&
           hd_char_is_letter(hd_char_at(source, segment->span.end, end, &length)))
        end += length;
    const bool is_i = end == i + 1 && (source[i] == 'I' || source[i] == 'i') &&
                      (!line->from || strcmp(line->from, "en") == 0);
    return is_i || hd_word_is_name(line->job->ensemble->source, source + i, end - i);
}

/* ---- the text for the model ---------------------------------------------------------------------------------------------- */

struct reading {
    struct hd_buffer text;
    struct hd_span *from; /* of each byte: the character or piece of the line that it stems from */
    size_t capacity;
};

static bool add(struct reading *r, const char *bytes, size_t n, struct hd_span from,
                heed_error *err)
{
    struct hd_span *grown = hd_grow(r->from, &r->capacity, r->text.n + n, sizeof *r->from, err);
    if (!grown)
        return false;
    r->from = grown;
    for (size_t i = 0; i < n; i++)
        grown[r->text.n + i] = from;
    return hd_buffer_add(&r->text, bytes, n, err);
}

static bool add_char(struct reading *r, uint32_t cp, struct hd_span from, heed_error *err)
{
    uint8_t bytes[4];
    const utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)cp, bytes);
    return add(r, (const char *)bytes, (size_t)n, from, err);
}

size_t hd_segment_placeholders(const struct hd_segment *segment)
{
    return !segment->has_placeholders            ? 0
           : segment->n_kept < HD_N_PLACEHOLDERS ? segment->n_kept
                                                 : HD_N_PLACEHOLDERS;
}

/* A letter as it stands in an ordinary sentence. */
static uint32_t ordinary(const struct hd_segment *segment, size_t i, uint32_t cp, bool is_first,
                         bool begins_word)
{
    const bool is_upper = is_first || (begins_word && has_capital(segment, i));
    return is_upper ? (uint32_t)utf8proc_totitle((utf8proc_int32_t)cp)
                    : (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
}

static bool rewrite(struct reading *r, const struct hd_segment *segment, heed_error *err)
{
    const struct hd_line *line = segment->line;
    const char *source = line->result->source;
    const struct hd_protected *kept = line->kept.at + segment->first_kept;
    bool ok = true, has_begun = false;
    uint32_t before = ' ', cp;
    for (size_t i = segment->span.begin, k = 0, length; ok && i < segment->span.end;
         i += length, before = cp) {
        cp = hd_char_at(source, segment->span.end, i, &length);
        const bool is_kept = k < segment->n_kept && i == kept[k].span.begin;
        if (is_kept)
            length = kept[k].span.end - i;
        const struct hd_span from = {i, i + length};
        if (is_kept && k < hd_segment_placeholders(segment))
            ok = add(r, hd_placeholder((int)k), HD_PLACEHOLDER_SIZE, from, err);
        else if (!is_kept && segment->letters != HD_LETTERS_MIXED && hd_char_is_letter(cp))
            ok = add_char(r, ordinary(segment, i, cp, !has_begun, hd_char_is_space(before)), from,
                          err);
        else
            ok = add(r, source + i, length, from, err);
        has_begun = has_begun || is_kept || hd_char_is_letter(cp);
        k += is_kept;
    }
    return ok;
}

/* Is each placeholder there once, as one token? */
static bool has_all_placeholders(const struct hd_segment *segment,
                                 const struct hd_encoding *encoding)
{
    for (size_t k = 0; k < hd_segment_placeholders(segment); k++) {
        size_t n = 0;
        for (size_t t = 0; t < encoding->n; t++)
            n += encoding->ids[t] == segment->line->job->ensemble->source_placeholders[k];
        if (n != 1)
            return false;
    }
    return true;
}

/* Places in what was read as places in the line. */
static void place_tokens(const struct reading *r, struct hd_encoding *encoding)
{
    for (size_t t = 0; r->from && t < encoding->n; t++) {
        struct hd_span *span = &encoding->spans[t];
        const size_t last = r->text.n - 1, begin = span->begin < last ? span->begin : last,
                     end = span->end > span->begin ? span->end - 1 : begin;
        const bool is_empty = span->end <= span->begin;
        *span = (struct hd_span){r->from[begin].begin,
                                 is_empty ? r->from[begin].begin : r->from[end].end};
    }
}

/* False where it failed; what cannot be encoded so stays as it is. */
static bool encode(struct hd_segment *segment, bool *is_done, heed_error *err)
{
    struct reading r = {0};
    struct hd_encoding encoding = {0};
    const size_t before = segment->source.n;
    bool ok =
        rewrite(&r, segment, err) && hd_vocab_encode_spans(segment->line->job->ensemble->source,
                                                           r.text.at, r.text.n, &encoding, err);
    *is_done = ok && encoding.n > 0 && encoding.n <= before + HD_N_PLACEHOLDERS &&
               has_all_placeholders(segment, &encoding);
    if (*is_done) {
        place_tokens(&r, &encoding);
        const struct hd_encoding old = segment->source;
        segment->source = encoding;
        encoding = old;
        ok = hd_segment_add_ids(segment, err);
    }
    hd_encoding_release(&encoding);
    hd_buffer_release(&r.text);
    hd_free(r.from);
    return ok;
}

bool hd_segment_read(struct hd_segment *segment, bool has_prefix)
{
    struct hd_line *line = segment->line;
    const struct hd_ensemble *e = line->job->ensemble;
    bool is_done = false;
    segment->has_placeholders = segment->n_kept > 0 && e->has_placeholders;
    if (line->job->options.restores_case && e->is_cased && !has_prefix)
        segment->letters = letters_of(segment);
    if (!segment->has_placeholders && segment->letters == HD_LETTERS_MIXED && !segment->is_trimmed)
        return true;
    if (!encode(segment, &is_done, &line->err))
        return false;
    if (!is_done && segment->has_placeholders) {
        segment->has_placeholders = false;
        if (!encode(segment, &is_done, &line->err))
            return false;
    }
    segment->letters = is_done ? segment->letters : HD_LETTERS_MIXED;
    return true;
}
