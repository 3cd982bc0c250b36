/* vary.c -- the kinds of variation, one after the other: what is in the line first (joining, placeholders, copying), then how it is
 * written (punctuation, quotes, case).
 *
 * Invariant: text that was valid UTF-8 stays so, and neither side becomes empty. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "text/vary.h"

#include "base/utf8.h"
#include "text/character.h"
#include "text/final_mark.h"
#include "text/letter_case.h"
#include "text/made_up.h"
#include "text/shared_word.h"

#include <string.h>

enum { WORDS_OF_A_KIND = 1024 }; /* random numbers that a kind may draw */

bool hd_vary_is_on(const struct hd_vary_rates *rates)
{
    for (int i = 0; i < HD_N_VARIATIONS; i++)
        if (rates->of[i] > 0)
            return true;
    return false;
}

struct hd_text_pair hd_varied_pair(const struct hd_varied *v)
{
    return (struct hd_text_pair){.source = v->source.at,
                                 .n_source = v->source.n,
                                 .target = v->target.at,
                                 .n_target = v->target.n,
                                 .direction = v->direction,
                                 .links = {v->links.at, v->links.n, v->links.by_character}};
}

void hd_varied_release(struct hd_varied *v)
{
    hd_buffer_release(&v->source);
    hd_buffer_release(&v->target);
    hd_buffer_release(&v->spare);
    hd_buffer_release(&v->before[0]);
    hd_buffer_release(&v->before[1]);
    hd_word_links_release(&v->links);
    *v = (struct hd_varied){0};
}

/* ---- links ----------------------------------------------------------------------------------------- */

/* Remember the two sides, before they change. */
static bool remember(struct hd_varied *v, heed_error *err)
{
    const struct hd_buffer *sides[2] = {&v->source, &v->target};
    for (int i = 0; v->has_links && i < 2; i++) {
        v->before[i].n = 0;
        if (!hd_buffer_add(&v->before[i], sides[i]->at, sides[i]->n, err))
            return false;
    }
    return true;
}

/* Bring the links to what the sides have become since. */
static bool follow(struct hd_varied *v, heed_error *err)
{
    const struct hd_text before[2] = {hd_buffer_text(&v->before[0]), hd_buffer_text(&v->before[1])},
                         after[2] = {hd_buffer_text(&v->source), hd_buffer_text(&v->target)};
    return !v->has_links || hd_word_links_follow(&v->links, before, after, err);
}

/* Another pair's links, behind what there is. */
static bool add_links_of(struct hd_varied *v, const struct hd_text_pair *p, heed_error *err)
{
    const struct hd_text source = hd_buffer_text(&v->source), target = hd_buffer_text(&v->target);
    const bool by_character = v->links.by_character;
    const bool is_one_run = hd_ends_in_wide_mark(source) || hd_ends_in_wide_mark(target);
    return !v->has_links || (is_one_run && !by_character) || /* no space between the sentences */
           hd_word_links_add(&v->links, &p->links, hd_count_words(source, source.n, by_character),
                             hd_count_words(target, target.n, by_character), err);
}

/* ---- what is in the line ----------------------------------------------------------------------- */

static bool is_sentence(struct hd_text source, struct hd_text target)
{
    return hd_ends_in_mark(source) && hd_ends_in_mark(target);
}

static bool add_sentence(struct hd_buffer *side, const char *text, size_t n, heed_error *err)
{
    return (hd_ends_in_wide_mark(hd_buffer_text(side)) || hd_buffer_add_char(side, ' ', err)) &&
           hd_buffer_add(side, text, n, err);
}

/* One more sentence, or two. Phrases without a final mark stay alone: joined they would be one wrong sentence. */
static bool join(struct hd_varied *v, const struct hd_vary_partner *partner, struct hd_rng *rng,
                 heed_error *err)
{
    const int n_more = hd_rng_below(rng, 3) == 0 ? 2 : 1;
    for (int i = 0; i < n_more; i++) {
        const struct hd_text_pair p = partner->draw(partner->context, rng);
        const struct hd_text source = {p.source, p.n_source}, target = {p.target, p.n_target};
        if (!is_sentence(hd_buffer_text(&v->source), hd_buffer_text(&v->target)) ||
            !is_sentence(source, target))
            return true;
        if (!add_links_of(v, &p, err) || !add_sentence(&v->source, p.source, p.n_source, err) ||
            !add_sentence(&v->target, p.target, p.n_target, err))
            return false;
        v->kinds |= 1U << HD_VARY_JOIN;
    }
    return true;
}

/* Does the text use the brackets that placeholders are made of? */
static bool has_brackets(const struct hd_buffer *side)
{
    return side->n > 0 && (memmem(side->at, side->n, "⟨", strlen("⟨")) ||
                           memmem(side->at, side->n, "⟩", strlen("⟩")));
}

static bool put_word(struct hd_varied *v, const struct hd_shared_word *shared, struct hd_text text,
                     struct hd_rng *rng, heed_error *err)
{
    return remember(v, err) &&
           (shared ? hd_replace_shared_word(&v->source, &v->target, shared, text, err)
                   : hd_insert_shared_word(&v->source, &v->target, text, rng, err)) &&
           follow(v, err);
}

static bool put_placeholders(struct hd_varied *v, struct hd_rng *rng, heed_error *err)
{
    if (has_brackets(&v->source) || has_brackets(&v->target))
        return true;
    int order[HD_N_PLACEHOLDERS];
    for (int i = 0; i < HD_N_PLACEHOLDERS; i++)
        order[i] = i;
    hd_rng_shuffle(rng, order, HD_N_PLACEHOLDERS);
    const uint32_t share = hd_rng_below(rng, 8);
    const int n = share < 5 ? 1 : share < 7 ? 2 : 3;
    for (int i = 0; i < n; i++) {
        struct hd_shared_word shared;
        const char *name = hd_placeholder(order[i]);
        const bool is_there = hd_find_shared_word(&shared, hd_buffer_text(&v->source),
                                                  hd_buffer_text(&v->target), rng);
        if (!put_word(v, is_there ? &shared : NULL, (struct hd_text){name, strlen(name)}, rng, err))
            return false;
    }
    v->kinds |= 1U << HD_VARY_PLACEHOLDERS;
    return true;
}

/* A number for a number; for a name another one, or what nobody expects there. */
static bool make_up(struct hd_buffer *out, const struct hd_varied *v,
                    const struct hd_shared_word *shared, struct hd_rng *rng, heed_error *err)
{
    const uint32_t share = hd_rng_below(rng, 8);
    out->n = 0;
    if (shared && shared->is_number)
        return hd_make_up_number_like(
            out, (struct hd_text){v->source.at + shared->source, shared->n}, rng, err);
    if (share < (shared ? 4 : 2))
        return hd_make_up_name(out, rng, err);
    return share < (shared ? 5 : 4) ? hd_make_up_number(out, rng, err)
                                    : hd_make_up_code(out, rng, err);
}

/* Now and then the token is all there is. */
static bool copy(struct hd_varied *v, struct hd_rng *rng, heed_error *err)
{
    enum { ALONE = 12 };
    struct hd_shared_word shared;
    const bool is_alone = hd_rng_below(rng, ALONE) == 0;
    const bool is_there = !is_alone && hd_find_shared_word(&shared, hd_buffer_text(&v->source),
                                                           hd_buffer_text(&v->target), rng);
    if (!make_up(&v->spare, v, is_there ? &shared : NULL, rng, err))
        return false;
    if (is_alone)
        v->source.n = v->target.n = 0;
    v->kinds |= 1U << HD_VARY_COPY;
    if (is_alone)
        return hd_buffer_add(&v->source, v->spare.at, v->spare.n, err) &&
               hd_buffer_add(&v->target, v->spare.at, v->spare.n, err) &&
               (!v->has_links || hd_word_links_same(&v->links, hd_buffer_text(&v->source), err));
    return put_word(v, is_there ? &shared : NULL, hd_buffer_text(&v->spare), rng, err);
}

/* ---- how it is written --------------------------------------------------------------------------- */

static bool drop_punctuation(struct hd_varied *v, heed_error *err)
{
    const size_t source = hd_before_final_mark(hd_buffer_text(&v->source)),
                 target = hd_before_final_mark(hd_buffer_text(&v->target));
    if (source == 0 || target == 0 || source == v->source.n || target == v->target.n)
        return true;
    if (!remember(v, err))
        return false;
    v->source.n = source;
    v->target.n = target;
    v->kinds |= 1U << HD_VARY_PUNCTUATION;
    return follow(v, err);
}

/* What a quote is in the other style; 0 for what is none. `is_opening`: no letter before it. */
static uint32_t other_quote(uint32_t cp, bool is_opening)
{
    switch (cp) {
    case '"':
        return is_opening ? 0x201C : 0x201D;
    case '\'':
        return is_opening ? 0x2018 : 0x2019;
    case 0x201C: /* “ */
    case 0x201D: /* ” */
    case 0x201E: /* „ */
        return '"';
    case 0x2018: /* ‘ */
    case 0x2019: /* ’ */
    case 0x201A: /* ‚ */
        return '\'';
    default:
        return 0;
    }
}

static bool change_quotes(struct hd_varied *v, heed_error *err)
{
    const struct hd_text text = hd_buffer_text(&v->source);
    uint32_t cp, before = ' ';
    bool is_changed = false, ok = true;
    v->spare.n = 0;
    for (size_t i = 0, n; ok && i < text.n; i += n, before = cp) {
        n = (size_t)hd_utf8_decode(text.at + i, text.n - i, &cp);
        const uint32_t other = other_quote(cp, hd_char_is_space(before) || before == '(');
        is_changed = is_changed || other != 0;
        ok = hd_buffer_add_char(&v->spare, other ? other : cp, err);
    }
    if (!ok || !is_changed)
        return ok;
    const struct hd_buffer source = v->source;
    v->source = v->spare;
    v->spare = source;
    v->kinds |= 1U << HD_VARY_QUOTES;
    return true;
}

static bool change_side(struct hd_buffer *side, struct hd_buffer *spare,
                        enum hd_letter_case letter_case, heed_error *err)
{
    spare->n = 0;
    if (!hd_change_case(spare, hd_buffer_text(side), letter_case, err))
        return false;
    const struct hd_buffer changed = *spare;
    *spare = *side;
    *side = changed;
    return true;
}

/* Of eight: three with a small first letter, two in lower case, two in capitals, one in Title Case. */
static bool change_case(struct hd_varied *v, struct hd_rng *rng, heed_error *err)
{
    static const enum hd_letter_case cases[8] = {
        HD_CASE_FIRST_LOWER, HD_CASE_FIRST_LOWER, HD_CASE_FIRST_LOWER, HD_CASE_LOWER,
        HD_CASE_LOWER,       HD_CASE_UPPER,       HD_CASE_UPPER,       HD_CASE_TITLE};
    const enum hd_letter_case letter_case = cases[hd_rng_below(rng, 8)];
    v->kinds |= 1U << HD_VARY_CASE;
    return change_side(&v->source, &v->spare, letter_case, err) &&
           change_side(&v->target, &v->spare, letter_case, err);
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static bool apply(struct hd_varied *v, enum hd_variation kind,
                  const struct hd_vary_partner *partner, struct hd_rng *rng, heed_error *err)
{
    switch (kind) {
    case HD_VARY_JOIN:
        return join(v, partner, rng, err);
    case HD_VARY_PLACEHOLDERS:
        return put_placeholders(v, rng, err);
    case HD_VARY_COPY:
        return copy(v, rng, err);
    case HD_VARY_PUNCTUATION:
        return drop_punctuation(v, err);
    case HD_VARY_QUOTES:
        return change_quotes(v, err);
    default:
        return change_case(v, rng, err);
    }
}

bool hd_vary(struct hd_varied *v, struct hd_text_pair pair, const struct hd_vary_rates *rates,
             const struct hd_vary_partner *partner, const struct hd_rng *rng, heed_error *err)
{
    static const enum hd_variation order[HD_N_VARIATIONS] = {
        HD_VARY_JOIN,        HD_VARY_COPY,   HD_VARY_PLACEHOLDERS,
        HD_VARY_PUNCTUATION, HD_VARY_QUOTES, HD_VARY_CASE};
    v->source.n = v->target.n = 0;
    v->kinds = 0;
    v->direction = pair.direction;
    v->has_links = pair.links.at != NULL;
    v->links.n = 0;
    v->links.by_character = pair.links.by_character;
    bool ok = hd_word_links_add(&v->links, &pair.links, 0, 0, err) &&
              hd_buffer_add(&v->source, pair.source, pair.n_source, err) &&
              hd_buffer_add(&v->target, pair.target, pair.n_target, err);
    for (int i = 0; ok && i < HD_N_VARIATIONS; i++) {
        const enum hd_variation kind = order[i];
        struct hd_rng own = {rng->key, rng->stream, rng->next + (uint64_t)kind * WORDS_OF_A_KIND};
        if (hd_rng_uniform(&own) < rates->of[kind])
            ok = apply(v, kind, partner, &own, err);
    }
    return ok;
}
