/* vary_plan.c -- counting what a text is like, and the rates that follow from it. */
#include "text/vary_plan.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/final_mark.h"
#include "text/shared_word.h"

#include <stdio.h>
#include <string.h>

enum {
    LOOKED_AT = 20000,    /* pairs */
    FEWEST_PAIRS = 10000, /* with fewer there is nothing to spare for variants */
};

/* ---- facts --------------------------------------------------------------------------------------- */

struct side_counts {
    size_t cased, begun;       /* sentences whose first letter has a case; is a capital */
    size_t letters, upper;     /* that have a case; capitals */
    size_t stopped, tokenised; /* sentences ending in a full stop; with a space before it */
};

static void look_at_letters(struct side_counts *c, struct hd_text text)
{
    uint32_t cp;
    bool has_letter = false;
    for (size_t i = 0; i < text.n;) {
        i += (size_t)hd_utf8_decode(text.at + i, text.n - i, &cp);
        const bool is_upper = hd_char_is_upper(cp), has_case = is_upper || hd_char_is_lower(cp);
        c->letters += has_case;
        c->upper += is_upper;
        c->cased += has_case && !has_letter;
        c->begun += is_upper && !has_letter;
        has_letter = has_letter || hd_char_is_letter(cp);
    }
}

static void look_at_end(struct side_counts *c, struct hd_text text)
{
    enum { IDEOGRAPHIC_STOP = 0x3002 };
    size_t length, n = text.n;
    uint32_t cp = hd_char_before(text.at, n, &length);
    for (; n > 0 && hd_char_is_space(cp); cp = hd_char_before(text.at, n, &length))
        n -= length;
    if (cp != '.' && cp != IDEOGRAPHIC_STOP)
        return;
    c->stopped++;
    c->tokenised += hd_char_is_space(hd_char_before(text.at, n - length, &length));
}

static bool has_quote(struct hd_text text)
{
    static const char *const quotes[] = {"'", "\"", "’", "“", "‘", "„"};
    for (size_t i = 0; i < text.n; i++)
        for (size_t k = 0; k < sizeof quotes / sizeof *quotes; k++) {
            const size_t n = strlen(quotes[k]);
            if (n <= text.n - i && memcmp(text.at + i, quotes[k], n) == 0)
                return true;
        }
    return false;
}

static float share(size_t part, size_t whole)
{
    return whole > 0 ? (float)part / (float)whole : 0;
}

/* Of a script without case nothing is lower-cased. */
static float begun_share(const struct side_counts *c, size_t n)
{
    return c->cased * 2 < n ? 1 : share(c->begun, c->cased);
}

struct hd_vary_facts hd_vary_facts_of(const struct hd_corpus *corpus)
{
    struct hd_vary_facts f = {.n_pairs = hd_corpus_size(corpus)};
    struct side_counts sides[2] = {0};
    size_t n = 0, ended = 0, quoted = 0, shared = 0;
    const size_t step = f.n_pairs / LOOKED_AT + 1;
    for (size_t i = 0; i < f.n_pairs; i += step, n++) {
        const struct hd_text_pair p = hd_corpus_pair(corpus, i);
        const struct hd_text texts[2] = {{p.source, p.n_source}, {p.target, p.n_target}};
        struct hd_rng rng = {0};
        struct hd_shared_word word;
        for (int side = 0; side < 2; side++) {
            look_at_letters(&sides[side], texts[side]);
            look_at_end(&sides[side], texts[side]);
        }
        ended += hd_ends_in_mark(texts[0]) && hd_ends_in_mark(texts[1]);
        quoted += has_quote(texts[0]);
        shared += hd_find_shared_word(&word, texts[0], texts[1], &rng);
    }
    const float begun[2] = {begun_share(&sides[0], n), begun_share(&sides[1], n)};
    f.ended = share(ended, n);
    f.begun = share(sides[0].begun + sides[1].begun, sides[0].cased + sides[1].cased);
    f.upper = share(sides[0].upper + sides[1].upper, sides[0].letters + sides[1].letters);
    f.lowered = begun[0] < begun[1] ? begun[0] : begun[1];
    f.tokenised =
        share(sides[0].tokenised + sides[1].tokenised, sides[0].stopped + sides[1].stopped);
    f.quoted = share(quoted, n);
    f.shared = share(shared, n);
    return f;
}

/* ---- rates --------------------------------------------------------------------------------------- */

/* Why nothing is varied by itself; NULL when the text is natural. */
static const char *objection(const struct hd_vary_facts *f, bool is_subwords)
{
    return !is_subwords                ? "words and characters are left as they are"
           : f->n_pairs < FEWEST_PAIRS ? "there are few pairs"
           : f->tokenised > 0.5F       ? "the text is tokenised"
           : f->lowered < 0.3F         ? "the text is lower-cased"
                                       : NULL;
}

void hd_vary_choose(struct hd_vary_rates *rates, const struct hd_vary_facts *f, bool is_subwords)
{
    const bool is_natural = !objection(f, is_subwords), is_text = f->ended >= 0.5F;
    const bool is_cased = f->lowered >= 0.6F && f->begun >= 0.6F && f->upper < 0.5F;
    const bool shares = f->shared >= 0.01F;
    const struct {
        bool is_kind;
        float rate;
    } choices[HD_N_VARIATIONS] = {
        [HD_VARY_PUNCTUATION] = {is_text, 0.15F},
        [HD_VARY_CASE] = {is_cased, 0.15F},
        [HD_VARY_QUOTES] = {f->quoted >= 0.01F, 0.2F},
        [HD_VARY_JOIN] = {is_text, 0.1F},
        [HD_VARY_COPY] = {shares, 0.1F},
        [HD_VARY_PLACEHOLDERS] = {shares, 0.05F},
    };
    for (int i = 0; i < HD_N_VARIATIONS; i++)
        if (rates->of[i] < 0)
            rates->of[i] = is_natural && choices[i].is_kind ? choices[i].rate : 0;
}

char *hd_vary_tell(const struct hd_vary_rates *rates, const struct hd_vary_facts *f,
                   bool is_subwords, heed_error *err)
{
    enum { SIZE = 600 };
    const struct {
        const char *name, *reason;
        float share;
    } kinds[HD_N_VARIATIONS] = {
        [HD_VARY_PUNCTUATION] = {"punctuation", "of pairs end in it", f->ended},
        [HD_VARY_CASE] = {"case", "of sentences begin with a capital", f->begun},
        [HD_VARY_QUOTES] = {"quotes", "of sources have one", f->quoted},
        [HD_VARY_JOIN] = {"join", "of pairs are sentences", f->ended},
        [HD_VARY_COPY] = {"copy", "of pairs share a name or number", f->shared},
        [HD_VARY_PLACEHOLDERS] = {"placeholders", NULL, 0},
    };
    char *text = hd_alloc(SIZE, 1, err);
    size_t n = 0;
    if (!text)
        return NULL;
    const char *why = objection(f, is_subwords);
    if (!hd_vary_is_on(rates)) {
        snprintf(text, SIZE, "none%s%s", why ? ", since " : "", why ? why : "");
        return text;
    }
    for (int i = 0; i < HD_N_VARIATIONS; i++) {
        if (!(rates->of[i] > 0))
            continue;
        n += (size_t)snprintf(text + n, SIZE - n, "%s%s %g", n ? ", " : "", kinds[i].name,
                              (double)rates->of[i]);
        if (kinds[i].reason)
            n += (size_t)snprintf(text + n, SIZE - n, " (%.0f %% %s)", 100 * (double)kinds[i].share,
                                  kinds[i].reason);
    }
    return text;
}
