/* split.c -- texts cut into sentences (text/sentence.h), and sentences that are too long at commas, then between words, then
 * anywhere.
 *
 * Sentences are kept apart, as models are trained on sentences; what is smaller is put together again as far as there is
 * room. Invariant: parts ascend, and all that is not in one of them is white space. */
#include "translate/split.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/sentence.h"
#include "translate/words.h"

#include <string.h>
#include <utf8proc.h>

enum level { SENTENCES, CLAUSES, WORDS, CHARACTERS };

struct splitter {
    struct hd_splits *parts;
    const struct hd_vocab *vocab;
    const char *text;
    const struct hd_split_rules *rules;
    size_t part; /* subwords of parts of sentences that are cut */
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

static uint32_t char_at(const char *text, size_t i, size_t end, size_t *length)
{
    uint32_t cp = 0xFFFD;
    const int n = hd_utf8_decode(text + i, end - i, &cp);
    *length = n > 0 ? (size_t)n : i < end;
    return n > 0 ? cp : i < end ? 0xFFFD : 0;
}

/* The first place after `i` where a text may be cut, `end` if there is none. */
static size_t next_cut(const char *text, size_t i, size_t end, enum level level)
{
    for (size_t length; i < end; i += length) {
        const uint32_t cp = char_at(text, i, end, &length);
        const size_t after = i + length;
        if (level == WORDS ? hd_char_is_space(cp) : ends_line(cp))
            return after;
        if (level == WORDS || !ends_clause(cp))
            continue;
        const size_t next = after + hd_space_before(text + after, end - after);
        if (next == end || next > after || hd_char_is_unspaced(cp))
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
    grown[parts->n++] = (struct hd_part){{begin, end}, *encoding, false};
    *encoding = (struct hd_encoding){0};
    return true;
}

/* Cut at places of a level; what is between them is put together while there is room. */
static bool split_at_level(struct splitter *s, size_t begin, size_t end, enum level level,
                           const struct hd_encoding *placed, heed_error *err)
{
    size_t first = 0, t = 0; /* tokens before the part, and before the place looked at */
    for (size_t from = begin, to = begin; to < end;) {
        const size_t next = next_cut(s->text, to, end, level);
        size_t n = t;
        while (n < placed->n && begin + placed->spans[n].begin < next)
            n++;
        if (to > from && n - first > s->part) {
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

/* Far longer than any word, in a script that has spaces between its words. */
static bool is_no_word(const char *text, size_t begin, size_t end)
{
    size_t n = 0;
    for (size_t i = begin, length; i < end; i += length, n++)
        if (hd_char_is_unspaced(char_at(text, i, end, &length)))
            return false;
    return n > HD_LONGEST_WORD;
}

static bool keep(struct splitter *s, size_t begin, size_t end, struct hd_encoding *encoding,
                 heed_error *err)
{
    if (!add_part(s->parts, begin, end, encoding, err))
        return false;
    s->parts->at[s->parts->n - 1].is_kept = true;
    s->parts->n_kept++;
    return true;
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
        !hd_char_is_unspaced(cp) && !hd_char_is_unspaced(char_at(s->text, cut, end, &length));
    return split(s, begin, cut, CHARACTERS, err) && split(s, cut, end, CHARACTERS, err);
}

static bool split_sentences(struct splitter *s, size_t begin, size_t end, heed_error *err)
{
    struct hd_sentences sentences;
    struct hd_span span;
    hd_sentences_begin(&sentences, s->text + begin, end - begin, s->rules->language);
    while (hd_sentences_next(&sentences, &span))
        if (!split(s, begin + span.begin, begin + span.end, CLAUSES, err))
            return false;
    return true;
}

static bool is_unspaced(const char *text, size_t begin, size_t end)
{
    size_t length;
    return hd_char_is_unspaced(char_at(text, begin, end, &length));
}

/* How many subwords may stay together. Models know sentences of a few dozen words best, and long outputs go wrong and cost much
 * (a text of 50 kB without an end of a sentence: 31 s in parts of 200 subwords, 8 s in parts of 48); but words stay whole as long as they can. */
static size_t most_of(const struct splitter *s, size_t begin, size_t end, enum level level)
{
    const bool is_part =
        level == WORDS || (level == CHARACTERS && is_unspaced(s->text, begin, end));
    return is_part ? s->part : s->rules->most;
}

static bool split(struct splitter *s, size_t begin, size_t end, enum level level, heed_error *err)
{
    begin += hd_space_before(s->text + begin, end - begin);
    end -= hd_space_after(s->text + begin, end - begin);
    if (begin == end)
        return true;
    if (level == SENTENCES && !s->rules->keeps_sentences)
        return split_sentences(s, begin, end, err);
    struct hd_encoding placed;
    if (!hd_vocab_encode_spans(s->vocab, s->text + begin, end - begin, &placed, err))
        return false;
    const bool is_long = placed.n > most_of(s, begin, end, level);
    s->parts->n_long += is_long && level <= CLAUSES;
    bool ok;
    if (!is_long)
        ok = add_part(s->parts, begin, end, &placed, err);
    else if (level == SENTENCES)
        ok = split_sentences(s, begin, end, err);
    else if (level == CHARACTERS)
        ok = (is_no_word(s->text, begin, end) ? keep : split_in_two)(s, begin, end, &placed, err);
    else
        ok = split_at_level(s, begin, end, level, &placed, err);
    hd_encoding_release(&placed);
    return ok;
}

bool hd_split(struct hd_splits *parts, const struct hd_vocab *vocab, const char *text, size_t n,
              const struct hd_split_rules *rules, heed_error *err)
{
    struct splitter s = {parts, vocab, text, rules, rules->part > 0 ? rules->part : rules->most};
    return split(&s, 0, n, SENTENCES, err);
}
