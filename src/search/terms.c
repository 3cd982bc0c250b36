/* terms.c -- which terms an output has, read from its ids anew: no state is kept, so none can be wrong. */
#include "search/terms.h"

#include <string.h>

/* May a form begin behind ids[0..at)? */
static bool may_begin(const struct hd_terms *terms, const struct hd_term_form *form, const int *ids,
                      int at)
{
    if ((form->place == HD_TERM_FIRST && at > 0) || (form->place == HD_TERM_NOT_FIRST && at == 0))
        return false;
    return at == 0 || (terms->flags[form->ids[0]] & HD_ID_BEGINS_WORD) ||
           !(terms->flags[ids[at - 1]] & HD_ID_ENDS_IN_WORD);
}

static bool is_at(const struct hd_terms *terms, const struct hd_term_form *form, const int *ids,
                  int n, int at)
{
    return at + form->n <= n && memcmp(form->ids, ids + at, (size_t)form->n * sizeof *ids) == 0 &&
           may_begin(terms, form, ids, at) &&
           (at + form->n == n || !(terms->flags[ids[at + form->n]] & HD_ID_CONTINUES_WORD));
}

static bool is_met(const struct hd_terms_state *s, int t)
{
    return s->met >> t & 1;
}

/* The longest form of a term that is not there yet that stands at ids[at]; how long it is, 0 for none. */
static int find_at(struct hd_terms_state *s, const struct hd_terms *terms, const int *ids, int n,
                   int at)
{
    int best = 0, term = 0;
    for (int t = 0; t < terms->n; t++)
        for (int f = 0; !is_met(s, t) && f < terms->at[t].n_forms; f++) {
            const struct hd_term_form *form = &terms->at[t].forms[f];
            if (form->n > best && is_at(terms, form, ids, n, at)) {
                best = form->n;
                term = t;
            }
        }
    if (best > 0) {
        s->met |= UINT64_C(1) << term;
        s->progress += terms->at[term].longest;
    }
    return best;
}

static void add_next(struct hd_terms_state *s, int id)
{
    for (int i = 0; i < s->n_next; i++)
        if (s->next[i] == id)
            return;
    if (s->n_next < HD_MOST_NEXT)
        s->next[s->n_next++] = id;
}

/* Beginnings of a form at the end of ids[from..n), the empty one included; the longest. */
static int find_begun(struct hd_terms_state *s, const struct hd_terms *terms,
                      const struct hd_term_form *form, const int *ids, int n, int from)
{
    int longest = 0;
    for (int length = form->n - 1 < n - from ? form->n - 1 : n - from; length >= 0; length--)
        if (memcmp(form->ids, ids + n - length, (size_t)length * sizeof *ids) == 0 &&
            may_begin(terms, form, ids, n - length)) {
            add_next(s, form->ids[length]);
            longest = length > longest ? length : longest;
        }
    return longest;
}

void hd_terms_read(struct hd_terms_state *s, const struct hd_terms *terms, const int *ids, int n)
{
    s->met = 0;
    s->progress = s->n_next = 0;
    int from = 0, begun = 0;
    for (int at = 0; at < n;) {
        const int length = find_at(s, terms, ids, n, at);
        at += length > 0 ? length : 1;
        from = length > 0 ? at : from;
    }
    s->settled = s->progress;
    for (int t = 0; t < terms->n; t++)
        for (int f = 0; !is_met(s, t) && f < terms->at[t].n_forms; f++) {
            const int length = find_begun(s, terms, &terms->at[t].forms[f], ids, n, from);
            begun = length > begun ? length : begun;
        }
    s->progress += begun;
}

int hd_terms_beam(const struct hd_terms *terms, int beam)
{
    enum { LEAST = 4, ENOUGH = 16 };
    const int wanted = terms->total + 1 < ENOUGH ? terms->total + 1 : ENOUGH,
              least = terms->n + 1 > LEAST ? terms->n + 1 : LEAST,
              most = wanted > least ? wanted : least;
    return beam > most ? beam : most;
}
