/* lexicon.c -- links counted by word, forms counted by case, and what both directions agree on.
 *
 * Only words of one run of letters count: "J'aime" and "well-known" are more than one word, and "25" is none. */
#include "align/lexicon.h"

#include "align/align_tokens.h"
#include "align/pair_table.h"
#include "base/memory.h"
#include "text/character.h"

#include <stdlib.h>
#include <string.h>

/* Chosen by looking at what they leave in and out, on 190,000 pairs of English and French and 218,000 of English and German: wrong pairs are
 * worse than missing ones. */
static const double LEAST_SHARE = 0.3, LEAST_PRODUCT = 0.25;
enum { LEAST_COUNT = 5 };

/* ---- a side ---------------------------------------------------------------------------------------- */

/* How words of a language are spelled: forms are numbered as tokens are, by their bytes. */
struct spelling {
    const struct hd_token_ids *tokens;
    size_t *n_seen; /* [tokens]: as a word */
    struct hd_token_ids forms;
    struct form {
        uint32_t token;
        size_t n_inside, n_first; /* behind the first word of a line, and as the first */
    } * of;
    size_t capacity;
    uint32_t *best; /* [tokens]: the form to tell; HD_UNKNOWN_TOKEN: none was seen */
};

/* The tokens of a line that are words: word_token[word] is its only token of letters, or HD_UNKNOWN_TOKEN. */
struct words {
    uint32_t *token;
    size_t capacity;
};

static bool has_letters_only(struct hd_text text)
{
    for (size_t i = 0, length; i < text.n; i += length) {
        const uint32_t cp = hd_char_at(text.at, text.n, i, &length);
        if (!hd_char_is_letter(cp) && !hd_char_is_mark(cp))
            return false;
    }
    return text.n > 0;
}

static bool count_form(struct spelling *s, uint32_t token, struct hd_text text, bool is_first,
                       heed_error *err)
{
    uint32_t form;
    if (!hd_token_number(&s->forms, text.at, text.n, true, &form, err))
        return false;
    struct form *of = hd_grow(s->of, &s->capacity, (size_t)form + 1, sizeof *of, err);
    if (!of)
        return false;
    s->of = of;
    of[form].token = token;
    of[form].n_inside += !is_first;
    of[form].n_first += is_first;
    s->n_seen[token]++;
    return true;
}

static bool read_words(struct words *words, struct spelling *s,
                       const struct hd_align_tokens *tokens, struct hd_text line, heed_error *err)
{
    uint32_t *token =
        hd_grow(words->token, &words->capacity, (size_t)tokens->n_words + 1, sizeof *token, err);
    if (!token)
        return false;
    words->token = token;
    for (int i = 0; i < tokens->n_words; i++)
        token[i] = HD_UNKNOWN_TOKEN;
    for (size_t i = 0; i < tokens->n; i++) {
        const struct hd_align_token *t = &tokens->at[i];
        const bool has_more =
            (i > 0 && tokens->at[i - 1].word == t->word && !tokens->at[i - 1].is_mark) ||
            (i + 1 < tokens->n && tokens->at[i + 1].word == t->word && !tokens->at[i + 1].is_mark);
        const struct hd_text text = {line.at + t->begin, t->end - t->begin};
        if (t->is_mark || has_more || t->id == HD_UNKNOWN_TOKEN || !has_letters_only(text))
            continue;
        token[t->word] = t->id;
        if (!count_form(s, t->id, text, t->word == 0, err))
            return false;
    }
    return true;
}

/* A small first letter where it is ever seen inside a line, a tenth of the time at least; else the most frequent form, those inside lines
 * first. So German nouns and names keep their capitals, and what only begins lines stays as it is. */
static bool choose_forms(struct spelling *s, heed_error *err)
{
    size_t *n_inside = hd_alloc(s->tokens->n, sizeof *n_inside, err);
    s->best = hd_alloc(s->tokens->n, sizeof *s->best, err);
    if (!n_inside || !s->best) {
        hd_free(n_inside);
        return false;
    }
    memset(s->best, 0xFF, s->tokens->n * sizeof *s->best);
    for (uint32_t i = 0; i < s->forms.n; i++)
        n_inside[s->of[i].token] += s->of[i].n_inside;
    for (uint32_t i = 0; i < s->forms.n; i++) {
        const struct form *f = &s->of[i];
        const uint32_t best = s->best[f->token];
        size_t length;
        const char *text = hd_token_text(&s->forms, i);
        const bool is_small = !hd_char_is_upper(hd_char_at(text, strlen(text), 0, &length)) &&
                              10 * f->n_inside >= n_inside[f->token];
        const struct form *b = best == HD_UNKNOWN_TOKEN ? NULL : &s->of[best];
        const char *other = b ? hd_token_text(&s->forms, best) : NULL;
        const bool other_is_small =
            b && !hd_char_is_upper(hd_char_at(other, strlen(other), 0, &length)) &&
            10 * b->n_inside >= n_inside[f->token];
        if (!b || is_small > other_is_small ||
            (is_small == other_is_small &&
             (f->n_inside > b->n_inside ||
              (f->n_inside == b->n_inside && f->n_first > b->n_first))))
            s->best[f->token] = i;
    }
    hd_free(n_inside);
    return true;
}

static void release_spelling(struct spelling *s)
{
    hd_free(s->n_seen);
    hd_free(s->of);
    hd_free(s->best);
    hd_token_ids_release(&s->forms);
}

/* ---- counting ---------------------------------------------------------------------------------------- */

struct counting {
    const struct hd_aligner *aligner;
    struct spelling side[2];
    struct words words[2];
    struct hd_align_tokens tokens[2];
    struct hd_pair_table table; /* count[0]: how often two words are linked */
};

static bool count_pair(struct counting *c, struct hd_text sides[2],
                       const struct hd_word_link *links, size_t n, heed_error *err)
{
    for (int i = 0; i < 2; i++)
        if (!hd_align_tokens_cut(&c->tokens[i], sides[i], hd_aligner_ids(c->aligner, i), false,
                                 err) ||
            !read_words(&c->words[i], &c->side[i], &c->tokens[i], sides[i], err))
            return false;
    for (size_t k = 0; k < n; k++) {
        const uint32_t source = c->words[0].token[links[k].source],
                       target = c->words[1].token[links[k].target];
        if (source == HD_UNKNOWN_TOKEN || target == HD_UNKNOWN_TOKEN)
            continue;
        if (!hd_pair_table_add(&c->table, source, target, err))
            return false;
        c->table.at[hd_pair_table_find(&c->table, source, target)].count[0]++;
    }
    return true;
}

/* ---- choosing ---------------------------------------------------------------------------------------- */

/* The pair that is most frequent for each token of a side, by its number and 1. */
static uint32_t *most_frequent(const struct counting *c, int side, heed_error *err)
{
    uint32_t *best = hd_alloc(c->side[side].tokens->n, sizeof *best, err);
    for (uint32_t i = 0; best && i < c->table.n; i++) {
        const struct hd_token_pair *p = &c->table.at[i];
        uint32_t *b = &best[side ? p->target : p->source];
        if (*b == 0 || p->count[0] > c->table.at[*b - 1].count[0])
            *b = i + 1;
    }
    return best;
}

static int by_count(const void *a, const void *b)
{
    const heed_lexicon_entry *p = a, *q = b;
    if (p->count != q->count)
        return p->count < q->count ? 1 : -1;
    const int order = strcmp(p->source, q->source);
    return order != 0 ? order : strcmp(p->target, q->target);
}

static bool fill(struct counting *c, heed_lexicon *lexicon, heed_error *err)
{
    uint32_t *there = most_frequent(c, 0, err), *back = most_frequent(c, 1, err);
    size_t capacity = 0;
    bool ok = there && back;
    for (uint32_t i = 0; ok && i < c->table.n; i++) {
        const struct hd_token_pair *p = &c->table.at[i];
        const size_t n = (size_t)p->count[0];
        const double p_target = (double)n / (double)c->side[0].n_seen[p->source],
                     p_source = (double)n / (double)c->side[1].n_seen[p->target];
        if (there[p->source] != i + 1 || back[p->target] != i + 1 || n < LEAST_COUNT ||
            p_target < LEAST_SHARE || p_source < LEAST_SHARE || p_target * p_source < LEAST_PRODUCT)
            continue;
        heed_lexicon_entry *at = hd_grow(lexicon->at, &capacity, lexicon->n + 1, sizeof *at, err);
        ok = at != NULL;
        if (!ok)
            break;
        lexicon->at = at;
        at[lexicon->n++] = (heed_lexicon_entry){
            .source = hd_token_text(&c->side[0].forms, c->side[0].best[p->source]),
            .target = hd_token_text(&c->side[1].forms, c->side[1].best[p->target]),
            .count = n,
            .p_target = p_target,
            .p_source = p_source};
    }
    hd_free(there);
    hd_free(back);
    if (ok && lexicon->n > 0)
        qsort(lexicon->at, lexicon->n, sizeof *lexicon->at, by_count);
    return ok;
}

/* The texts of the forms stay with the lexicon. */
struct texts {
    char *of[2];
};

heed_lexicon *hd_lexicon_new(const struct hd_aligner *aligner, const struct hd_pair_source *pairs,
                             const struct hd_link_lists *links, heed_error *err)
{
    struct counting c = {.aligner = aligner};
    heed_lexicon *lexicon = hd_new(heed_lexicon, err);
    struct texts *texts = lexicon ? hd_new(struct texts, err) : NULL;
    bool ok = texts != NULL;
    if (ok)
        lexicon->memory = texts;
    for (int i = 0; i < 2; i++) {
        c.side[i].tokens = hd_aligner_ids(aligner, i);
        c.side[i].n_seen = hd_alloc(c.side[i].tokens->n, sizeof(size_t), err);
        ok = ok && c.side[i].n_seen;
    }
    for (size_t i = 0; ok && i < pairs->n; i++) {
        struct hd_text sides[2];
        size_t n;
        const struct hd_word_link *of_pair = hd_link_list(links, i, &n);
        pairs->at(pairs->context, i, sides);
        ok = count_pair(&c, sides, of_pair, n, err);
    }
    ok = ok && choose_forms(&c.side[0], err) && choose_forms(&c.side[1], err) &&
         fill(&c, lexicon, err);
    for (int i = 0; i < 2; i++) {
        if (texts) {
            texts->of[i] = c.side[i].forms.text;
            c.side[i].forms.text = NULL;
        }
        release_spelling(&c.side[i]);
        hd_free(c.words[i].token);
        hd_align_tokens_release(&c.tokens[i]);
    }
    hd_pair_table_release(&c.table);
    if (ok)
        return lexicon;
    heed_lexicon_free(lexicon);
    return NULL;
}

void heed_lexicon_free(heed_lexicon *lexicon)
{
    if (!lexicon)
        return;
    struct texts *texts = lexicon->memory;
    hd_free(texts ? texts->of[0] : NULL);
    hd_free(texts ? texts->of[1] : NULL);
    hd_free(texts);
    hd_free(lexicon->at);
    hd_free(lexicon);
}
