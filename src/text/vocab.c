/* vocab.c -- vocabularies: subwords by SentencePiece; words, characters and labels by a list and a
 * hash table; listed subwords by both.
 *
 * Invariant: a list has no token twice and no empty one, all of it is UTF-8 without NUL, and ids
 * are the lines' numbers; so bytes → vocabulary → bytes changes nothing. */
#include "text/vocab.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/nfc.h"
#include "text/piece_tree.h"
#include "text/sentencepiece.h"

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct hd_vocab {
    enum hd_vocab_kind kind;
    char *bytes; /* as they were given */
    size_t n_bytes;
    int n;
    int unknown, end, begin, padding;
    struct hd_spm *spm; /* kinds spm and listed; so are spm_bytes */
    const char *spm_bytes;
    size_t n_spm_bytes;
    _Atomic(struct hd_piece_tree *) tree; /* of spm, NULL until it is asked for */
    int *of_spm;   /* kind listed: the id for each of spm's; the rest are for lists */
    size_t n_list; /* bytes of the list */
    char *text;    /* the list with a NUL after each token */
    const char **pieces;
    int *slots; /* hash table: an id, or -1 for an empty slot; a power of two of them */
    size_t n_slots;
};

static bool read_list(struct hd_vocab *vocab, heed_error *err);
static bool cut_lines(struct hd_vocab *vocab, heed_error *err);
static bool fill_slots(struct hd_vocab *vocab, heed_error *err);
static int find(const struct hd_vocab *vocab, const char *token, size_t n);
static bool is_special(const struct hd_vocab *vocab, int id);

/* ---- making ---------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [HD_VOCAB_SPM] = "spm",       [HD_VOCAB_WORDS] = "words",   [HD_VOCAB_CHARS] = "chars",
    [HD_VOCAB_LISTED] = "listed", [HD_VOCAB_LABELS] = "labels",
};

const char *hd_vocab_kind_name(enum hd_vocab_kind kind)
{
    return kind_names[kind];
}

bool hd_vocab_kind_by_name(enum hd_vocab_kind *kind, const char *name)
{
    for (int i = 0; i < (int)(sizeof kind_names / sizeof *kind_names); i++)
        if (strcmp(kind_names[i], name) == 0) {
            *kind = (enum hd_vocab_kind)i;
            return true;
        }
    return false;
}

static bool open_spm(struct hd_vocab *vocab, const char *bytes, size_t n, heed_error *err)
{
    vocab->spm_bytes = bytes;
    vocab->n_spm_bytes = n;
    vocab->spm = hd_spm_from_memory(bytes, n, err);
    return vocab->spm != NULL;
}

static bool read_spm(struct hd_vocab *vocab, heed_error *err)
{
    if (!open_spm(vocab, vocab->bytes, vocab->n_bytes, err))
        return false;
    vocab->n = hd_spm_size(vocab->spm);
    vocab->unknown = hd_spm_unknown(vocab->spm);
    vocab->end = hd_spm_end(vocab->spm);
    vocab->begin = hd_spm_begin(vocab->spm);
    vocab->padding = hd_spm_padding(vocab->spm);
    return true;
}

/* A piece of the model that is not in the list is as unknown as text that has no piece. */
static bool read_listed(struct hd_vocab *vocab, heed_error *err)
{
    const char *end = memchr(vocab->bytes, '\0', vocab->n_bytes);
    if (!end)
        return hd_fail(err, HEED_BAD_MODEL,
                       "the vocabulary is a list of subwords without a SentencePiece model after "
                       "it; the file was changed after it was written");
    vocab->n_list = (size_t)(end - vocab->bytes);
    if (!read_list(vocab, err) ||
        !open_spm(vocab, end + 1, vocab->n_bytes - vocab->n_list - 1, err))
        return false;
    if (vocab->unknown < 0)
        return hd_fail(err, HEED_BAD_MODEL, "the vocabulary has no <unk>");
    const int n = hd_spm_size(vocab->spm);
    vocab->of_spm = hd_alloc((size_t)n, sizeof *vocab->of_spm, err);
    for (int i = 0; vocab->of_spm && i < n; i++) {
        const char *piece = hd_spm_piece(vocab->spm, i);
        const int id = find(vocab, piece, strlen(piece));
        vocab->of_spm[i] = id >= 0 ? id : vocab->unknown;
    }
    return vocab->of_spm != NULL;
}

struct hd_vocab *hd_vocab_from_memory(enum hd_vocab_kind kind, const void *data, size_t size,
                                      heed_error *err)
{
    static bool (*const read[])(struct hd_vocab * vocab,
                                heed_error * err) = {[HD_VOCAB_SPM] = read_spm,
                                                     [HD_VOCAB_WORDS] = read_list,
                                                     [HD_VOCAB_CHARS] = read_list,
                                                     [HD_VOCAB_LISTED] = read_listed,
                                                     [HD_VOCAB_LABELS] = read_list};
    struct hd_vocab *vocab = hd_new(struct hd_vocab, err);
    if (!vocab)
        return NULL;
    vocab->kind = kind;
    vocab->n_bytes = vocab->n_list = size;
    vocab->bytes = hd_alloc(size, 1, err);
    if (vocab->bytes && size > 0)
        memcpy(vocab->bytes, data, size);
    if (!vocab->bytes || !read[kind](vocab, err)) {
        hd_vocab_free(vocab);
        return NULL;
    }
    return vocab;
}

/* The bytes of a list, with `n_more` bytes of something else after it. */
static struct hd_vocab *from_list(enum hd_vocab_kind kind, const char *const *tokens, size_t n,
                                  const void *more, size_t n_more, heed_error *err)
{
    size_t size = n_more;
    for (size_t i = 0; i < n; i++) {
        if (strchr(tokens[i], '\n')) {
            hd_fail(err, HEED_BAD_MODEL,
                    "token %zu of the vocabulary, %s, has a line end in it, so it cannot be a line "
                    "of a list; "
                    "take it out",
                    i, hd_quote(tokens[i]).text);
            return NULL;
        }
        size += strlen(tokens[i]) + 1;
    }
    char *list = hd_alloc(size + 1, 1, err);
    if (!list)
        return NULL;
    char *at = list;
    for (size_t i = 0; i < n; i++) {
        at = stpcpy(at, tokens[i]);
        *at++ = '\n';
    }
    if (n_more > 0)
        memcpy(at, more, n_more);
    struct hd_vocab *vocab = hd_vocab_from_memory(kind, list, size, err);
    hd_free(list);
    return vocab;
}

struct hd_vocab *hd_vocab_from_tokens(enum hd_vocab_kind kind, const char *const *tokens, size_t n,
                                      heed_error *err)
{
    assert(kind == HD_VOCAB_WORDS || kind == HD_VOCAB_CHARS || kind == HD_VOCAB_LABELS);
    return from_list(kind, tokens, n, NULL, 0, err);
}

struct hd_vocab *hd_vocab_listed(const char *const *tokens, size_t n, const void *spm, size_t size,
                                 heed_error *err)
{
    char *after = hd_alloc(size + 1, 1, err); /* a NUL, then the model */
    if (!after)
        return NULL;
    memcpy(after + 1, spm, size);
    struct hd_vocab *vocab = from_list(HD_VOCAB_LISTED, tokens, n, after, size + 1, err);
    hd_free(after);
    return vocab;
}

void hd_vocab_free(struct hd_vocab *vocab)
{
    if (!vocab)
        return;
    hd_spm_free(vocab->spm);
    hd_piece_tree_free(vocab->tree);
    hd_free(vocab->bytes);
    hd_free(vocab->of_spm);
    hd_free(vocab->text);
    hd_free(vocab->pieces);
    hd_free(vocab->slots);
    hd_free(vocab);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool read_list(struct hd_vocab *vocab, heed_error *err)
{
    size_t bad_at;
    if (!hd_utf8_valid(vocab->bytes, vocab->n_list, &bad_at))
        return hd_fail(
            err, HEED_BAD_MODEL,
            "the vocabulary is not UTF-8 at byte %zu; it is damaged or not a list of tokens",
            bad_at);
    if (memchr(vocab->bytes, '\0', vocab->n_list))
        return hd_fail(
            err, HEED_BAD_MODEL,
            "the vocabulary has a NUL byte in it; it is damaged or not a list of tokens");
    if (!cut_lines(vocab, err) || !fill_slots(vocab, err))
        return false;
    vocab->unknown = vocab->end = vocab->begin = vocab->padding = -1;
    if (vocab->kind == HD_VOCAB_LABELS)
        return true;
    vocab->unknown = hd_vocab_find(vocab, "<unk>");
    vocab->end = hd_vocab_find(vocab, "</s>");
    vocab->begin = hd_vocab_find(vocab, "<s>");
    vocab->padding = hd_vocab_find(vocab, "<pad>");
    if (vocab->padding < 0)
        vocab->padding = hd_vocab_find(vocab, "<blank>");
    return true;
}

/* `<...>` and longer: a special symbol among characters. */
static bool is_character(const char *token)
{
    const size_t n = strlen(token);
    return hd_utf8_decode(token, n, NULL) == (int)n && token[0] != ' ';
}

static bool is_named(const char *token)
{
    const size_t n = strlen(token);
    return n > 2 && token[0] == '<' && token[n - 1] == '>';
}

static bool cut_lines(struct hd_vocab *vocab, heed_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < vocab->n_list; i++)
        n += vocab->bytes[i] == '\n' || i + 1 == vocab->n_list;
    if (n == 0 || n > INT_MAX / 4)
        return hd_fail(err, HEED_BAD_MODEL,
                       "the vocabulary has %zu tokens; it is damaged or not a list of tokens", n);
    vocab->text = hd_alloc(vocab->n_list + 1, 1, err);
    vocab->pieces = hd_alloc(n, sizeof *vocab->pieces, err);
    if (!vocab->text || !vocab->pieces)
        return false;
    memcpy(vocab->text, vocab->bytes, vocab->n_list);
    char *at = vocab->text;
    for (; vocab->n < (int)n; vocab->n++) {
        char *end = at + strcspn(at, "\n");
        *end = '\0';
        if (end == at)
            return hd_fail(err, HEED_BAD_MODEL,
                           "line %d of the vocabulary is empty; each line is a token",
                           vocab->n + 1);
        if (vocab->kind == HD_VOCAB_CHARS && !is_character(at) && !is_named(at))
            return hd_fail(err, HEED_BAD_MODEL,
                           "line %d of the vocabulary, %s, is neither a character (a space is "
                           "\"%s\") nor a symbol like "
                           "<unk>; is it a list of words?",
                           vocab->n + 1, hd_quote(at).text, HD_VOCAB_SPACE);
        vocab->pieces[vocab->n] = at;
        at = end + 1;
    }
    return true;
}

/* FNV-1a */
static size_t hash(const char *token, size_t n)
{
    uint64_t h = 0xCBF29CE484222325U;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)token[i]) * 0x100000001B3U;
    return (size_t)(h ^ h >> 32);
}

/* Where the token is, or the empty slot where it would be. */
static size_t slot_of(const struct hd_vocab *vocab, const char *token, size_t n)
{
    size_t slot = hash(token, n) & (vocab->n_slots - 1);
    for (int id; (id = vocab->slots[slot]) >= 0; slot = (slot + 1) & (vocab->n_slots - 1))
        if (strncmp(vocab->pieces[id], token, n) == 0 && vocab->pieces[id][n] == '\0')
            break;
    return slot;
}

static bool fill_slots(struct hd_vocab *vocab, heed_error *err)
{
    vocab->n_slots = 16;
    while (vocab->n_slots < 2 * (size_t)vocab->n)
        vocab->n_slots *= 2;
    vocab->slots = hd_alloc(vocab->n_slots, sizeof *vocab->slots, err);
    if (!vocab->slots)
        return false;
    memset(vocab->slots, -1, vocab->n_slots * sizeof *vocab->slots);
    for (int id = 0; id < vocab->n; id++) {
        int *slot = &vocab->slots[slot_of(vocab, vocab->pieces[id], strlen(vocab->pieces[id]))];
        if (*slot >= 0)
            return hd_fail(
                err, HEED_BAD_MODEL,
                "lines %d and %d of the vocabulary are the same, %s; each token has one id",
                *slot + 1, id + 1, hd_quote(vocab->pieces[id]).text);
        *slot = id;
    }
    return true;
}

static int find(const struct hd_vocab *vocab, const char *token, size_t n)
{
    return vocab->slots[slot_of(vocab, token, n)];
}

/* ---- asking ---------------------------------------------------------------------------------- */

enum hd_vocab_kind hd_vocab_kind(const struct hd_vocab *vocab)
{
    return vocab->kind;
}

bool hd_vocab_is_silent(const struct hd_vocab *vocab, int id)
{
    return id != vocab->unknown && is_special(vocab, id);
}

const struct hd_spm *hd_vocab_spm(const struct hd_vocab *vocab)
{
    return vocab->spm;
}

const void *hd_vocab_spm_bytes(const struct hd_vocab *vocab, size_t *size)
{
    assert(vocab->spm);
    *size = vocab->n_spm_bytes;
    return vocab->spm_bytes;
}

int hd_vocab_of_spm(const struct hd_vocab *vocab, int id)
{
    return vocab->of_spm ? vocab->of_spm[id] : id;
}

const void *hd_vocab_bytes(const struct hd_vocab *vocab, size_t *size)
{
    *size = vocab->n_bytes;
    return vocab->bytes;
}

int hd_vocab_size(const struct hd_vocab *vocab)
{
    return vocab->n;
}

int hd_vocab_unknown(const struct hd_vocab *vocab)
{
    return vocab->unknown;
}

int hd_vocab_end(const struct hd_vocab *vocab)
{
    return vocab->end;
}

int hd_vocab_begin(const struct hd_vocab *vocab)
{
    return vocab->begin;
}

int hd_vocab_padding(const struct hd_vocab *vocab)
{
    return vocab->padding;
}

const char *hd_vocab_piece(const struct hd_vocab *vocab, int id)
{
    if (id < 0 || id >= vocab->n)
        return NULL;
    return vocab->pieces ? vocab->pieces[id] : hd_spm_piece(vocab->spm, id);
}

int hd_vocab_find(const struct hd_vocab *vocab, const char *piece)
{
    return vocab->pieces ? find(vocab, piece, strlen(piece)) : hd_spm_find(vocab->spm, piece);
}

int hd_vocab_language(const struct hd_vocab *vocab, const char *language)
{
    static const char *const spelled[] = {"<2%s>", ">>%s<<"};
    int id = -1;
    for (int i = 0; i < 2 && id < 0; i++) {
        char name[64];
        const int n = snprintf(name, sizeof name, spelled[i], language);
        id = n < (int)sizeof name ? hd_vocab_find(vocab, name) : -1;
    }
    return id;
}

const char *hd_vocab_language_of(const struct hd_vocab *vocab, int id, size_t *n)
{
    const char *piece = hd_vocab_piece(vocab, id);
    const size_t length = piece ? strlen(piece) : 0;
    const bool is_ours = length >= 4 && memcmp(piece, "<2", 2) == 0 && piece[length - 1] == '>';
    const bool is_opus =
        length >= 5 && memcmp(piece, ">>", 2) == 0 && memcmp(piece + length - 2, "<<", 2) == 0;
    if (!is_ours && !is_opus)
        return NULL;
    *n = length - (is_ours ? 3 : 4);
    return piece + 2;
}

int hd_vocab_prefix(const struct hd_vocab *vocab, const char *text, size_t n, size_t *length)
{
    const size_t most = n < 64 ? n : 64;
    if (vocab->kind != HD_VOCAB_LISTED || n < 5 || memcmp(text, ">>", 2) != 0)
        return -1;
    for (size_t i = 2; i + 2 <= most; i++)
        if (memcmp(text + i, "<<", 2) == 0) {
            *length = i + 2;
            return find(vocab, text, i + 2);
        }
    return -1;
}

/* ---- ids ------------------------------------------------------------------------------------- */

static bool make_room(struct hd_ids *ids, size_t n, heed_error *err)
{
    if (n <= ids->capacity - ids->n)
        return true;
    const size_t capacity = 2 * (ids->n + n) + 14;
    int *grown = hd_alloc(capacity, sizeof *grown, err);
    if (!grown)
        return false;
    if (ids->n > 0)
        memcpy(grown, ids->at, ids->n * sizeof *grown);
    hd_free(ids->at);
    ids->at = grown;
    ids->capacity = capacity;
    return true;
}

bool hd_ids_add(struct hd_ids *ids, int id, heed_error *err)
{
    if (!make_room(ids, 1, err))
        return false;
    ids->at[ids->n++] = id;
    return true;
}

void hd_ids_release(struct hd_ids *ids)
{
    hd_free(ids->at);
    *ids = (struct hd_ids){0};
}

/* ---- text to ids ----------------------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Does nothing in text stand for this id? */
static bool is_special(const struct hd_vocab *vocab, int id)
{
    return id == vocab->unknown || id == vocab->end || id == vocab->begin || id == vocab->padding;
}

size_t hd_vocab_word_length(const char *text, size_t n)
{
    size_t length = 0;
    while (length < n && !is_separator(text[length]))
        length++;
    return length;
}

/* The id of a word or character of the text; -1 when it is not known. */
static int find_token(const struct hd_vocab *vocab, const char *token, size_t n)
{
    const int id = find(vocab, token, n);
    return id < 0 || is_special(vocab, id) ? -1 : id;
}

static bool add_unknown(const struct hd_vocab *vocab, const char *token, size_t n,
                        struct hd_ids *ids, heed_error *err)
{
    if (vocab->unknown < 0)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s is not in the vocabulary, which has no <unk> for such a case; take it "
                       "out of the text",
                       hd_quote_n(token, n).text);
    return hd_ids_add(ids, vocab->unknown, err);
}

static bool add_word(const struct hd_vocab *vocab, const char *word, size_t n, struct hd_ids *ids,
                     heed_error *err)
{
    int id = find_token(vocab, word, n);
    if (id < 0) {
        struct hd_nfc nfc;
        if (!hd_nfc(&nfc, (struct hd_text){word, n}, err))
            return false;
        id = nfc.memory ? find_token(vocab, nfc.text.at, nfc.text.n) : -1;
        hd_free(nfc.memory);
    }
    return id >= 0 ? hd_ids_add(ids, id, err) : add_unknown(vocab, word, n, ids, err);
}

static bool encode_words(const struct hd_vocab *vocab, const char *text, size_t n,
                         struct hd_ids *ids, heed_error *err)
{
    for (size_t i = 0, length; i < n; i += length + 1) {
        length = hd_vocab_word_length(text + i, n - i);
        if (length > 0 && !add_word(vocab, text + i, length, ids, err))
            return false;
    }
    return true;
}

/* The parts of a character that is not known itself, "e" and an accent, if all of them are; none
 * otherwise. */
static int find_parts(const struct hd_vocab *vocab, uint32_t cp, int found[4])
{
    uint32_t parts[4];
    const int n = hd_nfd_of(parts, cp);
    for (int i = 0; i < n; i++) {
        char bytes[4];
        found[i] = find_token(vocab, bytes, (size_t)hd_utf8_encode(bytes, parts[i]));
        if (found[i] < 0)
            return 0;
    }
    return n;
}

static bool add_char(const struct hd_vocab *vocab, const char *text, size_t n, uint32_t cp,
                     struct hd_ids *ids, heed_error *err)
{
    int found[4] = {cp == ' ' ? find_token(vocab, HD_VOCAB_SPACE, strlen(HD_VOCAB_SPACE))
                              : find_token(vocab, text, n)};
    const int n_found = found[0] >= 0 ? 1 : find_parts(vocab, cp, found);
    for (int i = 0; i < n_found; i++)
        if (!hd_ids_add(ids, found[i], err))
            return false;
    return n_found > 0 || add_unknown(vocab, text, n, ids, err);
}

static bool encode_chars(const struct hd_vocab *vocab, const char *text, size_t n,
                         struct hd_ids *ids, heed_error *err)
{
    struct hd_nfc nfc;
    uint32_t cp;
    bool ok = hd_nfc(&nfc, (struct hd_text){text, n}, err);
    for (size_t i = 0, length; ok && i < nfc.text.n; i += length) {
        length = (size_t)hd_utf8_decode(nfc.text.at + i, nfc.text.n - i, &cp);
        ok = add_char(vocab, nfc.text.at + i, length, cp, ids, err);
    }
    hd_free(nfc.memory);
    return ok;
}

static bool encode_label(const struct hd_vocab *vocab, const char *text, size_t n,
                         struct hd_ids *ids, heed_error *err)
{
    struct hd_nfc nfc;
    while (n > 0 && is_separator(text[0]))
        text++, n--;
    while (n > 0 && is_separator(text[n - 1]))
        n--;
    if (!hd_nfc(&nfc, (struct hd_text){text, n}, err))
        return false;
    const int id = find(vocab, nfc.text.at, nfc.text.n);
    hd_free(nfc.memory);
    return id >= 0 ? hd_ids_add(ids, id, err)
                   : hd_fail(err, HEED_BAD_TEXT,
                             "%s is none of the %d labels that the model knows, such as %s",
                             hd_quote_n(text, n).text, vocab->n, hd_quote(vocab->pieces[0]).text);
}

char *hd_vocab_normalise(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                         size_t *n_out, heed_error *err)
{
    assert(vocab->spm);
    return hd_spm_normalise(vocab->spm, text, n_bytes, n_out, err);
}

/* Threads may ask at the same time: all make one, and the first to be done is kept. */
const struct hd_piece_tree *hd_vocab_tree(const struct hd_vocab *vocab, heed_error *err)
{
    assert(vocab->spm);
    _Atomic(struct hd_piece_tree *) *place = &((struct hd_vocab *)(uintptr_t)vocab)->tree;
    struct hd_piece_tree *there = atomic_load(place);
    if (there)
        return there;
    struct hd_piece_tree *made = hd_piece_tree_new(vocab->spm_bytes, vocab->n_spm_bytes, err);
    if (!made || atomic_compare_exchange_strong(place, &there, made))
        return made;
    hd_piece_tree_free(made);
    return there;
}

static bool encode_spm(const struct hd_vocab *vocab, const char *text, size_t n, struct hd_ids *ids,
                       heed_error *err)
{
    size_t n_new = 0;
    int *new_ids = hd_spm_encode(vocab->spm, text, n, &n_new, err);
    const bool ok = new_ids && make_room(ids, n_new, err);
    if (ok && n_new > 0)
        memcpy(ids->at + ids->n, new_ids, n_new * sizeof *new_ids);
    if (ok)
        ids->n += n_new;
    hd_free(new_ids);
    return ok;
}

int hd_vocab_piece_id(const struct hd_vocab *vocab, const char *piece, size_t n)
{
    const int id = find_token(vocab, piece, n);
    return id >= 0 ? id : vocab->unknown;
}

/* What takes the pieces of a text. */
struct adding {
    const struct hd_vocab *vocab;
    struct hd_ids *ids;
    heed_error *err;
};

static bool add_piece(void *context, const struct hd_spm_piece *piece)
{
    const struct adding *a = context;
    return hd_ids_add(a->ids, hd_vocab_piece_id(a->vocab, piece->text, piece->n), a->err);
}

static bool encode_listed(const struct hd_vocab *vocab, const char *text, size_t n,
                          struct hd_ids *ids, heed_error *err)
{
    struct adding a = {vocab, ids, err};
    size_t length = 0;
    const int symbol = hd_vocab_prefix(vocab, text, n, &length);
    length = symbol >= 0 ? length : 0;
    return (symbol < 0 || hd_ids_add(ids, symbol, err)) &&
           hd_spm_cut(vocab->spm, text + length, n - length, add_piece, &a, err);
}

bool hd_vocab_can_encode(const struct hd_vocab *vocab, const char *text, size_t n_bytes,
                         bool with_end, heed_error *err)
{
    size_t bad_at;
    if (!hd_utf8_valid(text, n_bytes, &bad_at))
        return hd_fail(
            err, HEED_BAD_TEXT,
            "the text is not UTF-8 at byte %zu; convert it first, for example with iconv -t UTF-8",
            bad_at);
    if (with_end && vocab->end < 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "the vocabulary has no end marker </s>, so none can be appended; use "
                       "another vocabulary");
    return true;
}

bool hd_vocab_encode(const struct hd_vocab *vocab, const char *text, size_t n_bytes, bool with_end,
                     struct hd_ids *ids, heed_error *err)
{
    if (!hd_vocab_can_encode(vocab, text, n_bytes, with_end, err))
        return false;
    const size_t n_before = ids->n;
    bool ok = false;
    switch (vocab->kind) {
    case HD_VOCAB_SPM:
        ok = encode_spm(vocab, text, n_bytes, ids, err);
        break;
    case HD_VOCAB_WORDS:
        ok = encode_words(vocab, text, n_bytes, ids, err);
        break;
    case HD_VOCAB_CHARS:
        ok = encode_chars(vocab, text, n_bytes, ids, err);
        break;
    case HD_VOCAB_LISTED:
        ok = encode_listed(vocab, text, n_bytes, ids, err);
        break;
    case HD_VOCAB_LABELS:
        ok = encode_label(vocab, text, n_bytes, ids, err);
        break;
    }
    ok = ok && (!with_end || hd_ids_add(ids, vocab->end, err));
    if (!ok)
        ids->n = n_before;
    return ok;
}

/* ---- ids to text ----------------------------------------------------------------------------- */

static char *decode_list(const struct hd_vocab *vocab, const int *ids, size_t n, heed_error *err)
{
    const bool is_words = vocab->kind != HD_VOCAB_CHARS;
    size_t size = 1;
    for (size_t i = 0; i < n; i++)
        size += strlen(vocab->pieces[ids[i]]) + is_words;
    char *text = hd_alloc(size, 1, err);
    if (!text)
        return NULL;
    char *at = text;
    for (size_t i = 0; i < n; i++) {
        const char *piece = vocab->pieces[ids[i]];
        if (!is_words && strcmp(piece, HD_VOCAB_SPACE) == 0)
            piece = " ";
        if (is_words && i > 0)
            *at++ = ' ';
        at = stpcpy(at, piece);
    }
    return text;
}

/* The model joins what it knows. A piece of the list that it does not know is joined as it is spelled: the mark of a space is one. */
char *hd_vocab_join(const struct hd_vocab *vocab, const int *ids, size_t n, size_t *spans,
                    heed_error *err)
{
    size_t size = 1;
    for (size_t i = 0; i < n; i++)
        size += strlen(vocab->pieces[ids[i]]) + 1;
    const char **pieces = hd_alloc(n, sizeof *pieces, err);
    char *memory = pieces ? hd_alloc(size, 1, err) : NULL, *at = memory, *text = NULL;
    const size_t n_mark = strlen(HD_VOCAB_SPACE);
    for (size_t i = 0; memory && i < n; i++) {
        pieces[i] = vocab->pieces[ids[i]];
        if (ids[i] == vocab->unknown)
            pieces[i] = hd_spm_piece(vocab->spm, hd_spm_unknown(vocab->spm));
        else if (hd_spm_find(vocab->spm, pieces[i]) < 0) {
            const bool has_space = strncmp(pieces[i], HD_VOCAB_SPACE, n_mark) == 0;
            const char *rest = pieces[i] + (has_space ? n_mark : 0);
            pieces[i] = at;
            at = stpcpy(stpcpy(at, has_space && i > 0 ? " " : ""), rest) + 1;
        }
    }
    if (memory)
        text = hd_spm_join(vocab->spm, pieces, n, spans, err);
    hd_free(memory);
    hd_free(pieces);
    return text;
}

char *hd_vocab_decode(const struct hd_vocab *vocab, const int *ids, size_t n, heed_error *err)
{
    int *shown = hd_alloc(n, sizeof *shown, err); /* without those that leave no trace */
    if (!shown)
        return NULL;
    size_t n_shown = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        ok = (ids[i] >= 0 && ids[i] < vocab->n) ||
             hd_fail(err, HEED_BAD_TEXT,
                     "there is no id %d in the vocabulary, which has %d: 0 to %d", ids[i], vocab->n,
                     vocab->n - 1);
        if (ok && (ids[i] == vocab->unknown || !is_special(vocab, ids[i])))
            shown[n_shown++] = ids[i];
    }
    char *text = NULL;
    if (ok)
        text = vocab->of_spm ? hd_vocab_join(vocab, shown, n_shown, NULL, err)
               : vocab->spm  ? hd_spm_decode(vocab->spm, shown, n_shown, err)
                             : decode_list(vocab, shown, n_shown, err);
    hd_free(shown);
    return text;
}
