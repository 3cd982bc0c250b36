/* split.c -- long texts cut at sentence ends, then at commas, then between words, then anywhere.
 *
 * Sentences are kept apart, as models are trained on sentences; what is smaller is put together again as far as there is
 * room. Invariant: parts ascend, and all that is not in one of them is white space. */
#include "translate/split.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "translate/words.h"

#include <string.h>
#include <utf8proc.h>

enum level { SENTENCES, CLAUSES, WORDS, CHARACTERS };

struct splitter {
    struct hd_splits *parts;
    const struct hd_vocab *vocab;
    const char *text;
    size_t most;
};

static bool split(struct splitter *s, size_t begin, size_t end, enum level level, heed_error *err);

void hd_splits_release(struct hd_splits *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        hd_encoding_release(&parts->at[i].encoding);
    hd_free(parts->at);
    *parts = (struct hd_splits){0};
}

/* ---- where a text may be cut ------------------------------------------------------------------- */

static bool is_one_of(uint32_t cp, const uint32_t *list)
{
    while (*list && *list != cp)
        list++;
    return cp != 0 && *list == cp;
}

/* Full stops of the world; after the wide ones there need not be a space. */
static bool ends_sentence(uint32_t cp)
{
    static const uint32_t all[] = {'.',    '!',    '?',    0x2026, 0x3002, 0xFF01, 0xFF1F, 0xFF0E,
                                   0xFF61, 0x061F, 0x06D4, 0x0964, 0x0965, 0x0589, 0x1362, 0x17D4,
                                   0x104B, 0x203C, 0x203D, 0x2047, 0x2048, 0x2049, 0};
    return is_one_of(cp, all);
}

static bool ends_line(uint32_t cp)
{
    return cp == '\n' || cp == '\v' || cp == '\f' || cp == '\r' || cp == 0x85 || cp == 0x2028 ||
           cp == 0x2029;
}

static bool ends_clause(uint32_t cp)
{
    static const uint32_t all[] = {',',    ';',    ':',    0x2013, 0x2014, 0x3001, 0xFF0C,
                                   0xFF1B, 0xFF1A, 0x060C, 0x061B, 0x104A, 0x1363, 0};
    return is_one_of(cp, all);
}

/* What may follow a full stop and still belongs to its sentence: quotes and brackets that close. */
static bool closes(uint32_t cp)
{
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return cp == '"' || cp == '\'' || c == UTF8PROC_CATEGORY_PE || c == UTF8PROC_CATEGORY_PF;
}

static uint32_t char_at(const char *text, size_t i, size_t end, size_t *length)
{
    uint32_t cp = 0xFFFD;
    const int n = hd_utf8_decode(text + i, end - i, &cp);
    *length = n > 0 ? (size_t)n : i < end;
    return n > 0 ? cp : i < end ? 0xFFFD : 0;
}

/* "J. Smith", "3. Mai": is the full stop at `i` rather one of an abbreviation or a number? */
static bool is_abbreviation(const char *text, size_t begin, size_t i, size_t next, size_t end)
{
    size_t length;
    const utf8proc_category_t after =
        utf8proc_category((utf8proc_int32_t)char_at(text, next, end, &length));
    size_t word = i, n_chars = 0;
    uint32_t cp = 0;
    for (size_t l; word > begin && (l = hd_last_char(text, word, &cp)) > 0 && !hd_is_space(cp);
         word -= l)
        n_chars++;
    cp = char_at(text, word, end, &length);
    const utf8proc_category_t first = utf8proc_category((utf8proc_int32_t)cp);
    return after == UTF8PROC_CATEGORY_LL ||
           (n_chars == 1 && (first == UTF8PROC_CATEGORY_LU || first == UTF8PROC_CATEGORY_ND)) ||
           (n_chars == 2 && first == UTF8PROC_CATEGORY_ND);
}

/* The first place after `i` where a text may be cut, `end` if there is none. */
static size_t next_cut(const char *text, size_t begin, size_t i, size_t end, enum level level)
{
    for (size_t length; i < end; i += length) {
        uint32_t cp = char_at(text, i, end, &length);
        size_t after = i + length, l;
        if (level == WORDS ? hd_is_space(cp) : ends_line(cp))
            return after;
        if (level == WORDS || !(level == SENTENCES ? ends_sentence(cp) : ends_clause(cp)))
            continue;
        const bool is_wide = hd_is_unspaced(cp), is_dot = cp == '.';
        for (; (cp = char_at(text, after, end, &l)), l > 0 && (closes(cp) || ends_sentence(cp));)
            after += l;
        const size_t next = after + hd_space_before(text + after, end - after);
        if (next == end || is_wide ||
            (next > after && !(is_dot && is_abbreviation(text, begin, i, next, end))))
            return next;
    }
    return end;
}

/* ---- cutting ----------------------------------------------------------------------------------- */

/* The encoding becomes the part's. */
static bool add_part(struct hd_splits *parts, size_t begin, size_t end,
                     struct hd_encoding *encoding, heed_error *err)
{
    struct hd_part *grown = hd_grow(parts->at, &parts->capacity, parts->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    parts->at = grown;
    for (size_t i = 0; i < encoding->n; i++) {
        encoding->spans[i].begin += begin;
        encoding->spans[i].end += begin;
    }
    grown[parts->n++] = (struct hd_part){{begin, end}, *encoding};
    *encoding = (struct hd_encoding){0};
    return true;
}

/* Cut at all places of a level; what is smaller than a sentence is put together while there is room. */
static bool split_at_level(struct splitter *s, size_t begin, size_t end, enum level level,
                           const struct hd_encoding *placed, heed_error *err)
{
    size_t first = 0, t = 0; /* tokens before the part, and before the place looked at */
    for (size_t from = begin, to = begin; to < end;) {
        const size_t next = next_cut(s->text, begin, to, end, level);
        size_t n = t;
        while (n < placed->n && begin + placed->spans[n].begin < next)
            n++;
        const bool is_full = to > from && (level == SENTENCES || n - first > s->most);
        if (is_full) {
            if (!split(s, from, to, level + 1, err))
                return false;
            from = to;
            first = t;
        }
        to = next;
        t = n;
        if (to == end && !split(s, from, to, level + 1, err))
            return false;
    }
    return true;
}

/* A character boundary near the middle that does not part a mark from its character; `begin` if there is none. */
static size_t middle(const char *text, size_t begin, size_t end)
{
    size_t best = begin;
    utf8proc_int32_t state = 0;
    uint32_t before = 0, cp;
    for (size_t i = begin, length; i < end; i += length, before = cp) {
        cp = char_at(text, i, end, &length);
        const bool may_break =
            i > begin && utf8proc_grapheme_break_stateful((utf8proc_int32_t)before,
                                                          (utf8proc_int32_t)cp, &state);
        if (may_break && (best == begin || i <= begin + (end - begin) / 2))
            best = i;
    }
    return best;
}

static bool split_in_two(struct splitter *s, size_t begin, size_t end, struct hd_encoding *encoding,
                         heed_error *err)
{
    const size_t cut = middle(s->text, begin, end);
    if (cut == begin)
        return add_part(s->parts, begin, end, encoding, err);
    uint32_t cp = 0;
    size_t length;
    hd_last_char(s->text + begin, cut - begin, &cp);
    s->parts->n_words_cut +=
        !hd_is_unspaced(cp) && !hd_is_unspaced(char_at(s->text, cut, end, &length));
    return split(s, begin, cut, CHARACTERS, err) && split(s, cut, end, CHARACTERS, err);
}

static bool split(struct splitter *s, size_t begin, size_t end, enum level level, heed_error *err)
{
    begin += hd_space_before(s->text + begin, end - begin);
    end -= hd_space_after(s->text + begin, end - begin);
    if (begin == end)
        return true;
    struct hd_encoding placed;
    if (!hd_vocab_encode_spans(s->vocab, s->text + begin, end - begin, &placed, err))
        return false;
    bool ok;
    if (placed.n <= s->most)
        ok = add_part(s->parts, begin, end, &placed, err);
    else if (level == CHARACTERS)
        ok = split_in_two(s, begin, end, &placed, err);
    else
        ok = split_at_level(s, begin, end, level, &placed, err);
    hd_encoding_release(&placed);
    return ok;
}

bool hd_split(struct hd_splits *parts, const struct hd_vocab *vocab, const char *text, size_t n,
              size_t most, heed_error *err)
{
    struct splitter s = {parts, vocab, text, most};
    return split(&s, 0, n, SENTENCES, err);
}
