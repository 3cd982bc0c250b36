/* terms.h -- words that an output must have: terms, each of which may be said in several forms.
 *
 * A form is a run of ids. It counts where it stands as a whole word: behind it no id goes on with the same word, and it begins a
 * word itself or follows what is no letter. Each term wants an occurrence of its own. */
#ifndef HD_SEARCH_TERMS_H
#define HD_SEARCH_TERMS_H

#include <stdbool.h>
#include <stdint.h>

enum { HD_MOST_TERMS = 64, HD_MOST_NEXT = 256 }; /* of a sentence; ids that would advance a term */

enum hd_term_place { HD_TERM_ANYWHERE, HD_TERM_FIRST, HD_TERM_NOT_FIRST };

struct hd_term_form {
    const int *ids;
    int n;
    enum hd_term_place place; /* as the first word of the output, or not as the first */
};

struct hd_required_term {
    const struct hd_term_form *forms;
    int n_forms;
    int longest;                  /* ids of its longest form */
    int source_begin, source_end; /* where the source has it, in its ids */
};

/* What an id is to the words around it. */
enum hd_id_flag {
    HD_ID_BEGINS_WORD = 1,    /* it stands behind a space */
    HD_ID_CONTINUES_WORD = 2, /* it begins with a letter or digit, and no space */
    HD_ID_ENDS_IN_WORD = 4,   /* it ends in one */
};

struct hd_terms {
    const struct hd_required_term *at;
    int n;                      /* at most HD_MOST_TERMS */
    int total;                  /* Σ longest */
    const unsigned char *flags; /* [vocabulary], of enum hd_id_flag */
};

/* How far an output has come. */
struct hd_terms_state {
    uint64_t met; /* bit t: the term t is there */
    int progress; /* 0 to terms->total: Σ longest of those that are there, and ids of one that is begun */
    int settled;            /* of this, of those that are there */
    int next[HD_MOST_NEXT]; /* ids that begin a term or go on with one */
    int n_next;
};

void hd_terms_read(struct hd_terms_state *state, const struct hd_terms *terms, const int *ids,
                   int n);

static inline bool hd_terms_are_met(const struct hd_terms_state *state,
                                    const struct hd_terms *terms)
{
    return state->met == (terms->n == HD_MOST_TERMS ? ~UINT64_C(0) : (UINT64_C(1) << terms->n) - 1);
}

/* The beam that so many terms want, where `beam` would do without them. */
int hd_terms_beam(const struct hd_terms *terms, int beam);
#endif
