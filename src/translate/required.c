/* required.c -- terms of a glossary and protected pieces, found in a segment and spelled in the target's subwords.
 *
 * A translation has a form for the middle of a sentence and, where its first letter has two cases, one for the beginning; each is spelled as it is
 * behind a space and as it is behind an apostrophe or a bracket. */
#include "translate/required.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "search/terms.h"
#include "text/character.h"
#include "text/glossary.h"

#include <string.h>

struct hd_shared_glossary {
    atomic_int n;
    struct hd_glossary *glossary;
};

/* While forms are added, `ids` and `forms` of them are numbers of where they begin: the arrays move. */
struct hd_segment_terms {
    struct hd_terms terms;
    struct hd_required_term *at;
    struct hd_term_form *forms;
    size_t n_forms, forms_capacity;
    size_t *first_id; /* [forms] */
    size_t first_capacity;
    struct hd_ids ids;
    int n_left_out; /* terms more than a search can have */
};

/* ---- sharing ----------------------------------------------------------------------------------------- */

struct hd_shared_glossary *hd_shared_glossary_read(const char *path, heed_error *err)
{
    struct hd_shared_glossary *shared = hd_new(struct hd_shared_glossary, err);
    if (!shared)
        return NULL;
    atomic_init(&shared->n, 1);
    if ((shared->glossary = hd_glossary_read(path, err)))
        return shared;
    hd_free(shared);
    return NULL;
}

struct hd_shared_glossary *hd_shared_glossary_join(struct hd_shared_glossary *shared)
{
    if (shared)
        atomic_fetch_add(&shared->n, 1);
    return shared;
}

void hd_shared_glossary_leave(struct hd_shared_glossary *shared)
{
    if (!shared || atomic_fetch_sub(&shared->n, 1) > 1)
        return;
    hd_glossary_free(shared->glossary);
    hd_free(shared);
}

/* ---- ids ----------------------------------------------------------------------------------------------- */

static bool is_of_word(uint32_t cp)
{
    return hd_char_is_letter(cp) || hd_char_is_digit(cp) || hd_char_is_mark(cp);
}

static unsigned char flags_of(const char *piece, bool is_word)
{
    const size_t space = strlen(HD_VOCAB_SPACE);
    const bool is_spaced = strncmp(piece, HD_VOCAB_SPACE, space) == 0;
    const char *text = is_spaced ? piece + space : piece;
    const size_t n = strlen(text);
    size_t length;
    if (is_word)
        return HD_ID_BEGINS_WORD;
    if (strncmp(piece, "<0x", 3) == 0) /* a byte of a character */
        return HD_ID_CONTINUES_WORD | HD_ID_ENDS_IN_WORD;
    const bool begins = is_of_word(hd_char_at(text, n, 0, &length)),
               ends = is_of_word(hd_char_before(text, n, &length));
    return (unsigned char)((is_spaced ? HD_ID_BEGINS_WORD : 0) |
                           (!is_spaced && begins ? HD_ID_CONTINUES_WORD : 0) |
                           (ends ? HD_ID_ENDS_IN_WORD : 0));
}

unsigned char *hd_id_flags(const struct hd_vocab *vocab, heed_error *err)
{
    const int n = hd_vocab_size(vocab);
    unsigned char *flags = hd_alloc((size_t)n, 1, err);
    for (int id = 0; flags && id < n; id++)
        flags[id] = flags_of(hd_vocab_piece(vocab, id), hd_vocab_kind(vocab) == HD_VOCAB_WORDS);
    return flags;
}

/* ---- forms ----------------------------------------------------------------------------------------------- */

/* ids[from..) are one more form of the last term, unless the vocabulary lacks a part of it or it is there. */
static bool add_form(struct hd_segment_terms *s, const struct hd_vocab *vocab, size_t from,
                     enum hd_term_place place, heed_error *err)
{
    struct hd_required_term *term = &s->at[s->terms.n];
    const size_t n = s->ids.n - from;
    bool is_new = n > 0;
    for (size_t i = from; i < s->ids.n; i++)
        is_new = is_new && s->ids.at[i] != hd_vocab_unknown(vocab) &&
                 s->ids.at[i] != hd_vocab_end(vocab);
    for (size_t f = s->n_forms - (size_t)term->n_forms; is_new && f < s->n_forms; f++)
        is_new = (size_t)s->forms[f].n != n || s->forms[f].place != place ||
                 memcmp(s->ids.at + s->first_id[f], s->ids.at + from, n * sizeof(int)) != 0;
    if (!is_new) {
        s->ids.n = from;
        return true;
    }
    struct hd_term_form *forms =
        hd_grow(s->forms, &s->forms_capacity, s->n_forms + 1, sizeof *forms, err);
    s->forms = forms ? forms : s->forms;
    size_t *first = hd_grow(s->first_id, &s->first_capacity, s->n_forms + 1, sizeof *first, err);
    s->first_id = first ? first : s->first_id;
    if (!forms || !first)
        return false;
    forms[s->n_forms] = (struct hd_term_form){.n = (int)n, .place = place};
    first[s->n_forms++] = from;
    term->n_forms++;
    term->longest = (int)n > term->longest ? (int)n : term->longest;
    return true;
}

/* As it is spelled behind an apostrophe. */
static bool add_inner_form(struct hd_segment_terms *s, const struct hd_vocab *vocab,
                           const char *text, size_t n, enum hd_term_place place, heed_error *err)
{
    struct hd_bytes quoted = {0};
    struct hd_encoding encoding = {0};
    const size_t from = s->ids.n;
    hd_bytes_text(&quoted, "'");
    hd_bytes_add(&quoted, text, n);
    bool ok =
        !quoted.has_failed && hd_vocab_encode_spans(vocab, quoted.at, quoted.n, &encoding, err);
    size_t t = 0;
    while (ok && t < encoding.n && encoding.spans[t].begin < 1)
        t++;
    if (ok && t < encoding.n && encoding.spans[t].begin == 1) {
        for (; ok && t < encoding.n; t++)
            ok = hd_ids_add(&s->ids, encoding.ids[t], err);
        ok = ok && add_form(s, vocab, from, place, err);
    }
    hd_encoding_release(&encoding);
    hd_free(quoted.at);
    return ok;
}

static bool add_text(struct hd_segment_terms *s, const struct hd_vocab *vocab, const char *text,
                     size_t n, enum hd_term_place place, heed_error *err)
{
    const size_t from = s->ids.n;
    return hd_vocab_encode(vocab, text, n, false, &s->ids, err) &&
           add_form(s, vocab, from, place, err) &&
           (!hd_vocab_spm(vocab) || place == HD_TERM_FIRST ||
            add_inner_form(s, vocab, text, n, place, err));
}

/* The forms of a translation of a term: as it stands in the glossary, and with a capital letter. */
static bool add_translation(struct hd_segment_terms *s, const struct hd_line *line,
                            const struct hd_term_match *match, int k, const char *text,
                            bool is_inside, heed_error *err)
{
    const struct hd_glossary *g = line->job->options.terms->glossary;
    const struct hd_vocab *vocab = line->job->ensemble->target;
    struct hd_bytes plain = {0}, capital = {0};
    struct hd_term_match m = *match;
    m.is_capitalised = false;
    hd_glossary_form(&plain, g, &m, k, text);
    m.is_capitalised = true;
    hd_glossary_form(&capital, g, &m, k, text);
    const bool is_one = plain.n == capital.n && plain.n > 0 && capital.at && plain.at &&
                        memcmp(plain.at, capital.at, plain.n) == 0;
    const bool ok =
        (!plain.has_failed && !capital.has_failed
             ? true
             : hd_fail(err, HEED_NO_MEMORY, "there is no memory for a term")) &&
        add_text(s, vocab, plain.at, plain.n, is_one ? HD_TERM_ANYWHERE : HD_TERM_NOT_FIRST, err) &&
        (is_one ||
         add_text(s, vocab, capital.at, capital.n,
                  match->is_capitalised && is_inside ? HD_TERM_ANYWHERE : HD_TERM_FIRST, err));
    hd_free(plain.at);
    hd_free(capital.at);
    return ok;
}

/* ---- terms of a segment ------------------------------------------------------------------------------------- */

static bool is_kept(const struct hd_segment *segment, struct hd_span span)
{
    const struct hd_protected *kept = segment->line->kept.at + segment->first_kept;
    for (size_t k = 0; k < segment->n_kept; k++)
        if (span.begin < kept[k].span.end && span.end > kept[k].span.begin)
            return true;
    return false;
}

/* Which of the source's ids a term is. */
static void place_term(struct hd_required_term *term, const struct hd_segment *segment,
                       struct hd_span span)
{
    const struct hd_encoding *source = &segment->source;
    const size_t begin = segment->span.begin + span.begin, end = segment->span.begin + span.end;
    int t = 0;
    while (t < (int)source->n && source->spans[t].end <= begin)
        t++;
    term->source_begin = t;
    while (t < (int)source->n && source->spans[t].begin < end)
        t++;
    term->source_end = t;
}

/* A protected piece, as it stands. One that cannot be spelled is left to chance, and to the warning of what was lost. */
static bool add_kept(struct hd_segment_terms *s, struct hd_segment *segment, struct hd_span piece)
{
    struct hd_line *line = segment->line;
    const struct hd_span span = {piece.begin - segment->span.begin,
                                 piece.end - segment->span.begin};
    s->at[s->terms.n] = (struct hd_required_term){0};
    place_term(&s->at[s->terms.n], segment, span);
    if (!add_text(s, line->job->ensemble->target, line->result->source + piece.begin,
                  piece.end - piece.begin, HD_TERM_ANYWHERE, &line->err))
        return false;
    if (s->at[s->terms.n].n_forms > 0)
        s->terms.total += s->at[s->terms.n++].longest;
    return true;
}

static bool add_term(struct hd_segment_terms *s, struct hd_segment *segment,
                     const struct hd_term_match *match, const char *text)
{
    struct hd_line *line = segment->line;
    const struct hd_glossary *g = line->job->options.terms->glossary;
    s->at[s->terms.n] = (struct hd_required_term){0};
    place_term(&s->at[s->terms.n], segment, match->span);
    for (int k = 0; k < hd_glossary_n_translations(g, match->term); k++)
        if (!add_translation(s, line, match, k, text, match->span.begin > 0, &line->err))
            return false;
    if (s->at[s->terms.n].n_forms > 0)
        s->terms.total += s->at[s->terms.n++].longest;
    else
        hd_result_warn(line->result,
                       "the glossary's translation of %s cannot be spelled by the model",
                       hd_quote(hd_glossary_term(g, match->term)).text);
    return true;
}

/* Numbers become pointers. */
static void settle(struct hd_segment_terms *s)
{
    for (size_t f = 0; f < s->n_forms; f++)
        s->forms[f].ids = s->ids.at + s->first_id[f];
    struct hd_term_form *next = s->forms;
    for (int t = 0; t < s->terms.n; t++) {
        s->at[t].forms = next;
        next += s->at[t].n_forms;
    }
    s->terms.at = s->at;
}

static struct hd_segment_terms *new_terms(const struct hd_line *line, heed_error *err)
{
    struct hd_segment_terms *s = hd_new(struct hd_segment_terms, err);
    if (s && !(s->at = hd_alloc(HD_MOST_TERMS, sizeof *s->at, err))) {
        hd_free(s);
        return NULL;
    }
    if (s)
        s->terms.flags = line->job->ensemble->id_flags;
    return s;
}

/* Terms of the glossary; *terms is made when there is one. */
static bool add_terms(struct hd_segment_terms **terms, struct hd_segment *segment)
{
    struct hd_line *line = segment->line;
    const char *text = line->result->source + segment->span.begin;
    const size_t n = segment->span.end - segment->span.begin;
    struct hd_term_match match;
    for (size_t i = 0; hd_glossary_next(line->job->options.terms->glossary, text, n, &i, &match);) {
        const struct hd_span span = {segment->span.begin + match.span.begin,
                                     segment->span.begin + match.span.end};
        if (is_kept(segment, span))
            continue;
        if (!*terms && !(*terms = new_terms(line, &line->err)))
            return false;
        struct hd_segment_terms *s = *terms;
        s->n_left_out += s->terms.n == HD_MOST_TERMS;
        if (s->terms.n < HD_MOST_TERMS && !add_term(s, segment, &match, text))
            return false;
    }
    return true;
}

/* Protected pieces behind the terms. */
static bool add_all_kept(struct hd_segment_terms **terms, struct hd_segment *segment)
{
    struct hd_line *line = segment->line;
    if (!*terms && !(*terms = new_terms(line, &line->err)))
        return false;
    for (size_t k = 0; k < segment->n_kept && (*terms)->terms.n < HD_MOST_TERMS; k++)
        if (!add_kept(*terms, segment, line->kept.at[segment->first_kept + k].span))
            return false;
    return true;
}

static bool require(struct hd_segment *segment)
{
    const struct hd_job *job = segment->line->job;
    const bool has_terms = job->options.terms;
    const bool keeps = job->options.protects && !job->is_forced && segment->n_kept > 0 &&
                       !job->ensemble->has_placeholders;
    if ((has_terms && !add_terms(&segment->terms, segment)) ||
        (keeps && has_terms && !add_terms(&segment->whole, segment)) ||
        (keeps && !add_all_kept(&segment->whole, segment)))
        return false;
    if (segment->terms)
        settle(segment->terms);
    if (segment->whole)
        settle(segment->whole);
    return true;
}

bool hd_line_require_terms(struct hd_line *line)
{
    for (size_t p = 0; p < line->n_segments; p++)
        if (!line->segments[p].passes && !require(&line->segments[p]))
            return false;
    return true;
}

const struct hd_terms *hd_terms_of(const struct hd_segment_terms *s)
{
    return s && s->terms.n > 0 ? &s->terms : NULL;
}

void hd_segment_terms_free(struct hd_segment_terms *s)
{
    if (!s)
        return;
    hd_free(s->at);
    hd_free(s->forms);
    hd_free(s->first_id);
    hd_ids_release(&s->ids);
    hd_free(s);
}

void hd_warn_of_terms(struct hd_line *line)
{
    size_t n_lost = 0;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        const struct hd_terms *terms = hd_terms_of(segment->terms);
        struct hd_terms_state state;
        if (!terms || segment->found.n == 0)
            continue;
        hd_terms_read(&state, terms, segment->found.best[0].ids, segment->found.best[0].n);
        for (int t = 0; t < terms->n; t++)
            n_lost += !(state.met >> t & 1);
        n_lost += (size_t)segment->terms->n_left_out;
    }
    if (n_lost > 0)
        hd_result_warn(line->result, "%zu term%s of the glossary %s not in the translation", n_lost,
                       n_lost == 1 ? "" : "s", n_lost == 1 ? "is" : "are");
}
