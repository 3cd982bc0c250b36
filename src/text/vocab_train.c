/* vocab_train.c -- vocabularies learned from a corpus: words and characters are counted here,
 * subwords are learned by SentencePiece.
 *
 * Invariant: what is learned depends on the text and the plan alone. Sentences are drawn by our own
 * generator, one from each of equally long stretches of the corpus, so that they stay in order and
 * no part of it is left out. */
#include "text/vocab_train.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "text/nfc.h"
#include "text/sentencepiece.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- sentences to learn from ----------------------------------------------------------------- */

enum { MOST_SPM_SENTENCES = 1000000, ASK_EVERY = 10000 };

/* Going through the sentences that are looked at. */
struct walk {
    const struct hd_corpus *corpus;
    unsigned sides;
    size_t n_pairs; /* to look at */
    struct hd_rng rng;
    bool (*keep_on)(void *context);
    void *context;
    size_t i;        /* the pair, of n_pairs */
    bool has_target; /* the target of the pair at hand is still to come */
    struct hd_text_pair pair;
    struct hd_vary_rates vary;
    struct hd_varied varied;
};

static struct walk start_walk(const struct hd_corpus *corpus, unsigned sides,
                              const struct hd_vocab_plan *plan, size_t most_sentences)
{
    const size_t n = hd_corpus_size(corpus);
    const size_t most_pairs = sides == HD_VOCAB_BOTH ? (most_sentences + 1) / 2 : most_sentences;
    struct walk w = {.corpus = corpus,
                     .sides = sides,
                     .n_pairs = most_sentences > 0 && most_pairs < n ? most_pairs : n,
                     .rng = {.key = plan->seed, .stream = sides}};
    /* Made-up tokens would take pieces from words, and the others bring no new ones. */
    if (plan->vary && plan->kind == HD_VOCAB_SPM) {
        w.vary.of[HD_VARY_CASE] = plan->vary->of[HD_VARY_CASE];
        w.vary.of[HD_VARY_QUOTES] = plan->vary->of[HD_VARY_QUOTES];
    }
    return w;
}

/* Which pair of the corpus is the i-th to look at: one of its stretch. */
static size_t drawn_pair(struct walk *w)
{
    const size_t n = hd_corpus_size(w->corpus);
    if (w->n_pairs == n)
        return w->i;
    const unsigned __int128 total = n;
    const size_t begin = (size_t)(total * w->i / w->n_pairs);
    const size_t end = (size_t)(total * (w->i + 1) / w->n_pairs);
    const size_t width = end - begin < UINT32_MAX ? end - begin : UINT32_MAX;
    return begin + hd_rng_below(&w->rng, (uint32_t)width);
}

static bool read_pair(struct walk *w, size_t i, heed_error *err)
{
    w->pair = hd_corpus_pair(w->corpus, i);
    if (!hd_vary_is_on(&w->vary))
        return true;
    const struct hd_rng rng = {w->rng.key, (uint64_t)1 << 63 | i, 0};
    if (!hd_vary(&w->varied, w->pair, &w->vary, NULL, &rng, err))
        return false;
    w->pair = hd_varied_pair(&w->varied);
    return true;
}

/* The next sentence; false at the end, or with HEED_CANCELLED in `err`. */
static bool next_sentence(struct walk *w, struct hd_text *sentence, heed_error *err)
{
    if (w->has_target) {
        w->has_target = false;
        *sentence = (struct hd_text){w->pair.target, w->pair.n_target};
        return true;
    }
    if (w->i == w->n_pairs)
        return false;
    if (w->keep_on && w->i % ASK_EVERY == 0 && !w->keep_on(w->context))
        return hd_fail(err, HEED_CANCELLED, "stopped while learning the vocabulary");
    if (!read_pair(w, drawn_pair(w), err))
        return false;
    w->i++;
    w->has_target = w->sides == HD_VOCAB_BOTH;
    *sentence = w->sides == HD_VOCAB_TARGET ? (struct hd_text){w->pair.target, w->pair.n_target}
                                            : (struct hd_text){w->pair.source, w->pair.n_source};
    return true;
}

/* ---- tokens, counted ------------------------------------------------------------------------- */

struct counted {
    size_t at; /* in `text` */
    uint32_t n;
    uint64_t count;
};

struct counts {
    struct counted *tokens;
    size_t n, capacity;
    char *text; /* of all tokens, a NUL after each */
    size_t n_text, text_capacity;
    uint32_t *slots; /* hash table of 1 + a token's number; a power of two of them */
    size_t n_slots;
};

static void release_counts(struct counts *c)
{
    hd_free(c->tokens);
    hd_free(c->text);
    hd_free(c->slots);
}

static uint64_t hash(const char *token, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)token[i]) * 0x9E3779B97F4A7C15U;
    return h ^ h >> 32;
}

static uint32_t *slot_of(const struct counts *c, const char *token, size_t n)
{
    size_t slot = hash(token, n) & (c->n_slots - 1);
    for (; c->slots[slot]; slot = (slot + 1) & (c->n_slots - 1)) {
        const struct counted *there = &c->tokens[c->slots[slot] - 1];
        if (there->n == n && memcmp(c->text + there->at, token, n) == 0)
            break;
    }
    return &c->slots[slot];
}

static bool make_slots(struct counts *c, heed_error *err)
{
    if (c->n * 2 < c->n_slots)
        return true;
    uint32_t *slots = hd_alloc(c->n_slots ? c->n_slots * 2 : 1024, sizeof *slots, err);
    if (!slots)
        return false;
    hd_free(c->slots);
    c->slots = slots;
    c->n_slots = c->n_slots ? c->n_slots * 2 : 1024;
    for (size_t i = 0; i < c->n; i++)
        *slot_of(c, c->text + c->tokens[i].at, c->tokens[i].n) = (uint32_t)i + 1;
    return true;
}

/* One more of this token. */
static bool count(struct counts *c, const char *token, size_t n, heed_error *err)
{
    if (!make_slots(c, err))
        return false;
    uint32_t *slot = slot_of(c, token, n);
    if (*slot == 0) {
        struct counted *tokens = hd_grow(c->tokens, &c->capacity, c->n + 1, sizeof *tokens, err);
        if (!tokens)
            return false;
        c->tokens = tokens;
        char *text = hd_grow(c->text, &c->text_capacity, c->n_text + n + 1, 1, err);
        if (!text)
            return false;
        c->text = text;
        memcpy(text + c->n_text, token, n);
        text[c->n_text + n] = '\0';
        tokens[c->n] = (struct counted){c->n_text, (uint32_t)n, 0};
        c->n_text += n + 1;
        *slot = (uint32_t)++c->n;
        if (c->n > INT_MAX / 8)
            return hd_fail(err, HEED_BAD_OPTION,
                           "the text has too many different words; use subwords (spm)");
    }
    c->tokens[*slot - 1].count++;
    return true;
}

/* SentencePiece passes over lines of more than 4192 bytes; no other word is so long. */
enum { LONGEST_WORD = 4000 };

/* The first part of a word that is too long: to the end of a character. */
static size_t part_of(const char *word, size_t n)
{
    if (n <= LONGEST_WORD)
        return n;
    for (n = LONGEST_WORD; ((unsigned char)word[n] & 0xC0) == 0x80;)
        n--;
    return n;
}

static bool count_words(struct counts *c, struct hd_text text, heed_error *err)
{
    for (size_t i = 0; i < text.n;) {
        const size_t n = part_of(text.at + i, hd_vocab_word_length(text.at + i, text.n - i));
        if (n > 0 && !count(c, text.at + i, n, err))
            return false;
        i += n > 0 ? n : 1;
    }
    return true;
}

/* Controls are no characters of a language. */
static bool count_chars(struct counts *c, struct hd_text text, heed_error *err)
{
    uint32_t cp;
    for (size_t i = 0, n; i < text.n; i += n) {
        n = (size_t)hd_utf8_decode(text.at + i, text.n - i, &cp);
        const bool is_space = cp == ' ';
        if (utf8proc_category((utf8proc_int32_t)cp) != UTF8PROC_CATEGORY_CC &&
            !count(c, is_space ? HD_VOCAB_SPACE : text.at + i,
                   is_space ? strlen(HD_VOCAB_SPACE) : n, err))
            return false;
    }
    return true;
}

/* All sentences. SentencePiece normalises by itself. */
static bool count_all(struct counts *c, struct walk *walk, enum hd_vocab_kind kind, heed_error *err)
{
    struct hd_text sentence;
    heed_error reason = {0};
    bool ok = true;
    while (ok && next_sentence(walk, &sentence, &reason)) {
        struct hd_nfc nfc = {.text = sentence};
        ok = (kind == HD_VOCAB_SPM || hd_nfc(&nfc, sentence, &reason)) &&
             (kind == HD_VOCAB_CHARS ? count_chars : count_words)(c, nfc.text, &reason);
        hd_free(nfc.memory);
    }
    return !hd_failed(&reason) || hd_fail(err, reason.code, "%s", reason.message);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* All of them, to be given to hd_free(). */
static struct hd_counted_word *words_of(const struct counts *c, heed_error *err)
{
    struct hd_counted_word *words = hd_alloc(c->n, sizeof *words, err);
    for (size_t i = 0; words && i < c->n; i++)
        words[i] = (struct hd_counted_word){c->text + c->tokens[i].at, c->tokens[i].count};
    return words;
}

static int by_frequency(const void *a, const void *b)
{
    const struct hd_counted_word *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->text, y->text);
}

/* Text never becomes a special symbol, so its words of that name need no place. */
static bool is_special_name(const char *token)
{
    static const char *const names[] = {"<unk>", "</s>", "<s>", "<pad>", "<blank>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(token, names[i]) == 0)
            return true;
    return false;
}

/* The symbols of the plan's languages, "<2fr>", with `between` between them; to be given to hd_free(). */
static char *language_names(const struct hd_vocab_plan *plan, char between, heed_error *err)
{
    size_t size = 1;
    for (int i = 0; i < plan->n_languages; i++)
        size += strlen(plan->languages[i]) + 4;
    char *names = hd_alloc(size, 1, err), *at = names;
    for (int i = 0; names && i < plan->n_languages; i++) {
        at += sprintf(at, "<2%s>", plan->languages[i]);
        *at++ = i + 1 < plan->n_languages ? between : '\0';
    }
    return names;
}

static bool is_language_name(const struct hd_vocab_plan *plan, const char *token)
{
    const size_t n = strlen(token);
    for (int i = 0; i < plan->n_languages; i++)
        if (n == strlen(plan->languages[i]) + 3 && memcmp(token, "<2", 2) == 0 &&
            memcmp(token + 2, plan->languages[i], n - 3) == 0 && token[n - 1] == '>')
            return true;
    return false;
}

static struct hd_vocab *list_of(const struct counts *c, const struct hd_vocab_plan *plan,
                                heed_error *err)
{
    struct hd_vocab *vocab = NULL;
    struct hd_counted_word *words = words_of(c, err);
    const char **tokens = hd_alloc(c->n + 2 + (size_t)plan->n_languages, sizeof *tokens, err);
    char *names = language_names(plan, '\0', err);
    if (words && tokens && names) {
        qsort(words, c->n, sizeof *words, by_frequency);
        size_t n = 0;
        tokens[n++] = "<unk>";
        tokens[n++] = "</s>";
        const char *name = names;
        for (int i = 0; i < plan->n_languages; i++, name += strlen(name) + 1)
            tokens[n++] = name;
        for (size_t i = 0; i < c->n && (plan->size == 0 || n < (size_t)plan->size); i++)
            if (!is_special_name(words[i].text) && !is_language_name(plan, words[i].text))
                tokens[n++] = words[i].text;
        vocab = hd_vocab_from_tokens(plan->kind, tokens, n, err);
    }
    hd_free(names);
    hd_free(tokens);
    hd_free(words);
    return vocab;
}

/* ---- subwords -------------------------------------------------------------------------------- */

/* How many different characters the words have. */
static bool count_characters(const struct counts *c, size_t *n, heed_error *err)
{
    enum { N_CODE_POINTS = 0x110000 };
    unsigned char *seen = hd_alloc(N_CODE_POINTS, 1, err);
    uint32_t cp;
    if (!seen)
        return false;
    *n = 0;
    seen[0] = 1; /* stands between the words */
    for (size_t i = 0; i < c->n_text;) {
        i += (size_t)hd_utf8_decode(c->text + i, c->n_text - i, &cp);
        *n += !seen[cp];
        seen[cp] = 1;
    }
    hd_free(seen);
    return true;
}

/* The size that suits the whole corpus, of which the words are those of walk->n_pairs. */
static int fitting_size(const struct walk *walk, const struct counts *counts, size_t n_characters)
{
    enum { MORE_THAN_CHARACTERS = 256 };
    const size_t n_pairs = hd_corpus_size(walk->corpus);
    const int least = (int)n_characters + MORE_THAN_CHARACTERS;
    double n_words = 0;
    for (size_t i = 0; i < counts->n; i++)
        n_words += (double)counts->tokens[i].count;
    n_words *= (double)n_pairs / (double)walk->n_pairs;
    const int size = hd_vocab_size_for(n_pairs, (size_t)n_words);
    return size > least ? size : least;
}

static struct hd_vocab *subwords_of(const struct counts *counts, const struct walk *walk,
                                    const struct hd_vocab_plan *plan, heed_error *err)
{
    enum { FEW_CHARACTERS = 1000, BYTES = 256, OTHERS = 256 };
    size_t n_characters, n_bytes = 0;
    if (!count_characters(counts, &n_characters, err))
        return NULL;
    const float coverage = n_characters <= FEW_CHARACTERS ? 1.0F : 0.9995F;
    const int size = plan->size > 0 ? plan->size : fitting_size(walk, counts, n_characters);
    char *languages = language_names(plan, ',', err);
    if (!languages)
        return NULL;
    const struct hd_spm_plan spm = {
        .size = size,
        .has_bytes = plan->spells_bytes && (size_t)size >= n_characters + BYTES + OTHERS,
        .controls = *languages ? languages : NULL,
        .symbols = plan->has_placeholders ? "⟨1⟩,⟨2⟩,⟨3⟩,⟨4⟩,⟨5⟩,⟨6⟩,⟨7⟩,⟨8⟩,⟨9⟩" : NULL,
        .is_bpe = plan->is_bpe,
        .character_coverage = plan->character_coverage > 0 ? plan->character_coverage : coverage,
        .normalise = plan->normalise ? plan->normalise : "nmt_nfkc"};
    struct hd_counted_word *words = words_of(counts, err);
    char *bytes = words ? hd_spm_learn(&spm, words, counts->n, &n_bytes, err) : NULL;
    struct hd_vocab *vocab = bytes ? hd_vocab_from_memory(HD_VOCAB_SPM, bytes, n_bytes, err) : NULL;
    hd_free(bytes);
    hd_free(words);
    hd_free(languages);
    return vocab;
}

/* ---- all kinds ------------------------------------------------------------------------------- */

static bool check_plan(const struct hd_vocab_plan *plan, heed_error *err)
{
    static const char *const rules[] = {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"};
    enum { SMALLEST = 3, LARGEST = 1 << 24 };
    if (plan->size != 0 && (plan->size < SMALLEST || plan->size > LARGEST))
        return hd_fail(err, HEED_BAD_OPTION,
                       "a vocabulary cannot have %d entries; choose from %d to %d, or 0 to leave "
                       "it to heed",
                       plan->size, SMALLEST, LARGEST);
    if (!(plan->character_coverage >= 0 && plan->character_coverage <= 1))
        return hd_fail(err, HEED_BAD_OPTION,
                       "the share of characters to cover is %g; it lies between 0 and 1",
                       (double)plan->character_coverage);
    bool is_known = !plan->normalise;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        is_known = is_known || strcmp(plan->normalise, rules[i]) == 0;
    return is_known || hd_fail(err, HEED_BAD_OPTION,
                               "there is no normalisation of that name; choose from nmt_nfkc, "
                               "nfkc, nmt_nfkc_cf, nfkc_cf, identity");
}

struct hd_vocab *hd_vocab_learn(const struct hd_corpus *corpus, unsigned sides,
                                const struct hd_vocab_plan *plan, bool (*keep_on)(void *context),
                                void *context, heed_error *err)
{
    assert(sides >= HD_VOCAB_SOURCE && sides <= HD_VOCAB_BOTH);
    if (!check_plan(plan, err))
        return NULL;
    const bool is_spm = plan->kind == HD_VOCAB_SPM;
    size_t most = plan->most_sentences;
    if (is_spm && most == 0)
        most = MOST_SPM_SENTENCES;
    struct walk walk = start_walk(corpus, sides, plan, most);
    walk.keep_on = keep_on;
    walk.context = context;
    struct counts counts = {0};
    struct hd_vocab *vocab = NULL;
    if (count_all(&counts, &walk, plan->kind, err))
        vocab = is_spm ? subwords_of(&counts, &walk, plan, err) : list_of(&counts, plan, err);
    release_counts(&counts);
    hd_varied_release(&walk.varied);
    return vocab;
}

/* A piece wants to be seen about a hundred times to be learned: so words / 100 up to 8000, which
 * serves corpora of tens of thousands of pairs best. Beyond, twice the pieces for sixteen times the
 * text. Where words are not written apart, ten to a pair are assumed. */
int hd_vocab_size_for(size_t n_pairs, size_t n_words)
{
    static const struct {
        size_t n_words;
        int size;
    } steps[] = {{1600000, 8000}, {8000000, 10000}, {30000000, 16000}, {120000000, 24000}};
    enum { LARGEST = 32000, STEP = 500 };
    const size_t n = n_words > 10 * n_pairs ? n_words : 10 * n_pairs;
    if (n < 100 * (size_t)steps[0].size) {
        const int size = (int)(n / 100 / STEP) * STEP;
        return size > STEP ? size : STEP;
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (n < steps[i].n_words)
            return steps[i].size;
    return LARGEST;
}
