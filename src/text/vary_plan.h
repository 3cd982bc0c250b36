/* vary_plan.h -- which kinds of variation suit a text: those that the text shows to be natural. */
#ifndef HD_TEXT_VARY_PLAN_H
#define HD_TEXT_VARY_PLAN_H

#include "text/vary.h"

/* What a text is like: shares of its pairs. */
struct hd_vary_facts {
    size_t n_pairs; /* of the corpus */
    float ended;    /* both sides end in a final mark */
    float
        begun; /* of sides that begin with a letter that has a case: those that begin with a capital */
    float upper; /* of such letters: capitals */
    float
        lowered; /* the side of the two with the smaller share of sentences begun with a capital */
    float tokenised; /* of sides ending in a full stop: those with a space before it */
    float quoted;    /* the source has a quote or an apostrophe */
    float shared;    /* both sides share a name or a number */
};

/* Looks at some ten thousand pairs, evenly drawn. */
struct hd_vary_facts hd_vary_facts_of(const struct hd_corpus *corpus);

/* Rates that are negative are chosen. None is on for words or characters, few pairs, tokenised or lower-cased text; each of the
 * others only where the text is of its kind. */
void hd_vary_choose(struct hd_vary_rates *rates, const struct hd_vary_facts *facts,
                    bool is_subwords);

/* "final punctuation dropped 0.15 (93 % of pairs end in it), …"; or why there is none. To be given to hd_free(). */
char *hd_vary_tell(const struct hd_vary_rates *rates, const struct hd_vary_facts *facts,
                   bool is_subwords, heed_error *err);

#endif
