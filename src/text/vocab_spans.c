/* vocab_spans.c -- ids and the places of the text they stand for.
 *
 * Invariant: places ascend and lie inside the text, and the ids are those of hd_vocab_encode(). */
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/sentencepiece.h"
#include "text/vocab.h"

#include <string.h>
#include <utf8proc.h>

void hd_encoding_release(struct hd_encoding *placed)
{
    hd_free(placed->ids);
    hd_free(placed->spans);
    *placed = (struct hd_encoding){0};
}

/* ---- text to ids ------------------------------------------------------------------------------ */

/* Places as SentencePiece tells them, made to ascend and to lie inside text[0..n_bytes). */
static void set_spans(struct hd_span *spans, const size_t *told, size_t n, size_t n_bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t begin = told[2 * i], end = told[2 * i + 1];
        spans[i].begin = begin < at ? at : begin < n_bytes ? begin : n_bytes;
        spans[i].end = end < spans[i].begin ? spans[i].begin : end < n_bytes ? end : n_bytes;
        at = spans[i].end;
    }
}

/* What takes the pieces of a text whose ids are in a list; places count from `at`. */
struct placing {
    const struct hd_vocab *vocab;
    struct hd_ids ids;
    size_t *told, capacity, at;
    heed_error *err;
};

static bool place_id(struct placing *p, int id, size_t begin, size_t end)
{
    size_t *grown = hd_grow(p->told, &p->capacity, 2 * p->ids.n + 2, sizeof *grown, p->err);
    if (!grown)
        return false;
    p->told = grown;
    grown[2 * p->ids.n] = p->at + begin;
    grown[2 * p->ids.n + 1] = p->at + end;
    return hd_ids_add(&p->ids, id, p->err);
}

static bool place_piece(void *context, const struct hd_spm_piece *piece)
{
    struct placing *p = context;
    return place_id(p, hd_vocab_piece_id(p->vocab, piece->text, piece->n), piece->begin,
                    piece->end);
}

static bool encode_listed(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                          struct hd_encoding *placed, heed_error *err)
{
    struct placing p = {.vocab = vocab, .err = err};
    size_t length = 0;
    const int symbol = hd_vocab_prefix(vocab, text, n_bytes, &length);
    bool ok = symbol < 0 || place_id(&p, symbol, 0, length);
    p.at = symbol < 0 ? 0 : length;
    ok = ok && hd_spm_cut(hd_vocab_spm(vocab), text + p.at, n_bytes - p.at, place_piece, &p, err) &&
         (placed->spans = hd_alloc(p.ids.n, sizeof *placed->spans, err));
    if (ok)
        set_spans(placed->spans, p.told, p.ids.n, n_bytes);
    placed->ids = p.ids.at;
    placed->n = p.ids.n;
    hd_free(p.told);
    return ok;
}

static bool encode_spm(const struct hd_spm *spm, const char *text, size_t n_bytes,
                       struct hd_encoding *placed, heed_error *err)
{
    size_t *told;
    if (!hd_spm_encode_spans(spm, text, n_bytes, &placed->ids, &told, &placed->n, err))
        return false;
    placed->spans = hd_alloc(placed->n, sizeof *placed->spans, err);
    if (placed->spans)
        set_spans(placed->spans, told, placed->n, n_bytes);
    hd_free(told);
    return placed->spans != NULL;
}

/* Does this character belong to the one before it, so that the two may become one in normal form C? */
static bool joins(uint32_t cp)
{
    const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)cp);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
           category == UTF8PROC_CATEGORY_ME || (cp >= 0x1160 && cp <= 0x11FF); /* Hangul vowels */
}

/* What is looked up alone: a label; a word; a character with the marks on it. 0 where there is none. */
static size_t unit_length(const struct hd_vocab *vocab, const char *text, size_t n)
{
    if (hd_vocab_kind(vocab) == HD_VOCAB_LABELS)
        return n;
    if (hd_vocab_kind(vocab) == HD_VOCAB_WORDS)
        return hd_vocab_word_length(text, n);
    uint32_t cp;
    size_t length = (size_t)hd_utf8_decode(text, n, &cp);
    for (int more; (more = hd_utf8_decode(text + length, n - length, &cp)) > 0 && joins(cp);)
        length += (size_t)more;
    return length;
}

/* One place for each of the unit's ids: a character each if their numbers allow, else all for the first. */
static void place_unit(struct hd_span *spans, size_t n, const char *text, size_t begin, size_t end)
{
    const bool is_even = n > 1 && hd_utf8_count(text + begin, end - begin) == n;
    for (size_t i = 0; i < n; i++) {
        const size_t length =
            is_even ? (size_t)hd_utf8_decode(text + begin, end - begin, NULL) : end - begin;
        spans[i] = (struct hd_span){begin, begin + length};
        begin += length;
    }
}

static bool encode_units(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                         struct hd_encoding *placed, heed_error *err)
{
    struct hd_ids ids = {0};
    size_t capacity = 0;
    bool ok = true;
    for (size_t i = 0, length; ok && i<n_bytes; i += length> 0 ? length : 1) {
        const size_t n_before = ids.n;
        length = unit_length(vocab, text + i, n_bytes - i);
        ok = length == 0 || hd_vocab_encode(vocab, text + i, length, false, &ids, err);
        struct hd_span *grown =
            ok ? hd_grow(placed->spans, &capacity, ids.n + 1, sizeof *grown, err) : NULL;
        ok = grown != NULL;
        if (ok) {
            placed->spans = grown;
            place_unit(grown + n_before, ids.n - n_before, text, i, i + length);
        }
    }
    placed->ids = ids.at;
    placed->n = ids.n;
    return ok;
}

bool hd_vocab_encode_spans(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                           struct hd_encoding *placed, heed_error *err)
{
    const struct hd_spm *spm = hd_vocab_spm(vocab);
    size_t bad_at;
    *placed = (struct hd_encoding){0};
    const bool ok =
        hd_utf8_valid(text, n_bytes, &bad_at)
            ? (hd_vocab_kind(vocab) == HD_VOCAB_LISTED
                   ? encode_listed(vocab, text, n_bytes, placed, err)
               : spm ? encode_spm(spm, text, n_bytes, placed, err)
                     : encode_units(vocab, text, n_bytes, placed, err))
            : hd_fail(err, HEED_BAD_TEXT,
                      "the text is not UTF-8 at byte %zu; convert it first, for example with iconv "
                      "-t UTF-8",
                      bad_at);
    if (!ok)
        hd_encoding_release(placed);
    return ok;
}

/* ---- ids to text ------------------------------------------------------------------------------ */

/* The text that SentencePiece makes of all ids, marks included, is that of those that leave a trace. */
static char *decode_spm(const struct hd_vocab *vocab, const int *ids, size_t n,
                        struct hd_span *spans, heed_error *err)
{
    int *shown = hd_alloc(n, sizeof *shown, err);
    size_t *told = hd_alloc(2 * n, sizeof *told, err), n_shown = 0;
    struct hd_span *places = hd_alloc(n, sizeof *places, err);
    char *text = NULL;
    if (shown && told && places) {
        for (size_t i = 0; i < n; i++)
            if (!hd_vocab_is_silent(vocab, ids[i]))
                shown[n_shown++] = ids[i];
        text = hd_vocab_kind(vocab) == HD_VOCAB_LISTED
                   ? hd_vocab_join(vocab, shown, n_shown, told, err)
                   : hd_spm_decode_spans(hd_vocab_spm(vocab), shown, n_shown, told, err);
    }
    if (text) {
        const size_t n_bytes = strlen(text);
        set_spans(places, told, n_shown, n_bytes);
        size_t at = 0, next = 0;
        for (size_t i = 0; i < n; i++) {
            spans[i] =
                hd_vocab_is_silent(vocab, ids[i]) ? (struct hd_span){at, at} : places[next++];
            at = spans[i].end;
        }
    }
    hd_free(shown), hd_free(told), hd_free(places);
    return text;
}

/* Each id's text is known, so its place is: a word has the space before it. */
static char *decode_list(const struct hd_vocab *vocab, const int *ids, size_t n,
                         struct hd_span *spans, heed_error *err)
{
    char *text = hd_vocab_decode(vocab, ids, n, err);
    const bool is_words = hd_vocab_kind(vocab) != HD_VOCAB_CHARS;
    size_t at = 0;
    for (size_t i = 0; text && i < n; i++) {
        const char *piece = hd_vocab_piece(vocab, ids[i]);
        const bool is_space = !is_words && strcmp(piece, HD_VOCAB_SPACE) == 0;
        size_t length = is_space ? 1 : strlen(piece) + (is_words && at > 0);
        if (hd_vocab_is_silent(vocab, ids[i]))
            length = 0;
        spans[i] = (struct hd_span){at, at + length};
        at += length;
    }
    return text;
}

char *hd_vocab_decode_spans(const struct hd_vocab *vocab, const int *ids, size_t n,
                            struct hd_span *spans, heed_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!hd_vocab_piece(vocab, ids[i]))
            return hd_vocab_decode(vocab, ids, n, err); /* says what is wrong */
    return (hd_vocab_spm(vocab) ? decode_spm : decode_list)(vocab, ids, n, spans, err);
}
