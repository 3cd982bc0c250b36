/* metric.h -- how near a text is to its reference: BLEU, chrF, word error rate, exact match.
 *
 * BLEU and chrF are sacreBLEU's, number for number (checked against its version 2.6.0), and the same to the last
 * bit on every machine, so that they may decide when a training run stops. All work alike: fields that are options are set
 * first, sentences are added one by one, and the score can be asked for at any time.
 *
 *     struct hd_bleu bleu = {.tok = HEED_TOK_13A};
 *     for each sentence
 *         if (!hd_bleu_add(&bleu, hyp, &ref, 1, err))
 *             ...
 *     printf("%.2f %s\n", hd_bleu_score(&bleu.sum, false).score, hd_bleu_signature(&bleu, false).text);
 *     hd_bleu_release(&bleu);
 *
 * A score is a function of counts, and counts add up: with `keeps_sentences` each sentence's are kept, so that the
 * score of any choice of sentences is cheap (a bootstrap draws thousands). A sentence that cannot be added (not UTF-8:
 * HEED_BAD_TEXT; no memory) leaves everything as it was. */
#ifndef HD_TEXT_METRIC_H
#define HD_TEXT_METRIC_H

#include "text/lines.h"
#include "text/ngram.h"

#include <heed.h>
#include <stdint.h>
#include <string.h>

static inline struct hd_text hd_text_from(const char *string)
{
    return (struct hd_text){string, strlen(string)};
}

/* What a score was made with, for the record: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|heed:0.2.0". These are
 * sacreBLEU's words in its order; where it ends with its own version, we end with ours. */
struct hd_signature {
    char text[96];
};

/* ---- tokenise.c: a sentence cut into words --------------------------------------------------------------------- */

/* The words of a sentence, {0} is none. Used again for the next sentence, it keeps its memory. */
struct hd_words {
    uint32_t *chars; /* the characters of all words, without anything between them */
    size_t n_chars;
    size_t *ends; /* word i is chars[ends[i - 1]] to chars[ends[i] - 1]; word 0 begins at 0 */
    size_t n;
    uint32_t *ids;   /* the words as numbers, after hd_words_number() */
    uint32_t *spare; /* memory to work in */
    size_t capacity; /* of all four */
};

/* Cut a sentence, in lower case if so wanted, into words; what `words` held before is forgotten. */
bool hd_tokenise(struct hd_words *words, struct hd_text text, enum heed_tokeniser tok,
                 bool is_lowercase, heed_error *err);

/* Give each word a number, `ids`: the same number to the same words, as long as `spelling` is not cleared. */
bool hd_words_number(struct hd_words *words, struct hd_ngrams *spelling, heed_error *err);

/* Leaves {0}. */
void hd_words_release(struct hd_words *words);

/* "13a", "none", "char", "intl", "zh". */
const char *hd_tokeniser_name(enum heed_tokeniser tok);

/* ---- bleu.c ---------------------------------------------------------------------------------------------------- */

enum { HD_BLEU_ORDER = 4 };

/* Of a sentence or a whole text; they add up. */
struct hd_bleu_counts {
    int64_t hyp_len, ref_len;       /* in words */
    int64_t correct[HD_BLEU_ORDER]; /* n-grams that are in a reference too; n - 1 is the index */
    int64_t total[HD_BLEU_ORDER];   /* n-grams of the hypothesis */
};

struct hd_bleu {
    enum heed_tokeniser tok;   /* options */
    bool is_lowercase;         /* */
    bool keeps_sentences;      /* */
    struct hd_bleu_counts sum; /* results */
    size_t n_sentences;
    struct hd_bleu_counts *sentences; /* each one's, if they are kept */
    int n_refs;                       /* of every sentence; -1 when they differ */
    struct hd_words words;            /* the rest is memory to work in */
    struct hd_ngrams spelling, ngrams;
    size_t capacity;
};

/* Add a sentence and its references, one at least. */
bool hd_bleu_add(struct hd_bleu *bleu, struct hd_text hyp, const struct hd_text *refs, int n_refs,
                 heed_error *err);

/* Leaves {0}. */
void hd_bleu_release(struct hd_bleu *bleu);

struct hd_bleu_score {
    double score;                     /* 0 to 100 */
    double precisions[HD_BLEU_ORDER]; /* in percent, smoothed where there is no match */
    double brevity_penalty;
    double ratio; /* length of the hypotheses over that of the references; 0 without references */
};

/* The score of counts. `has_effective_order` leaves out orders so high that the hypothesis has no such n-gram:
 * for single sentences, which would often get 0 otherwise. */
struct hd_bleu_score hd_bleu_score(const struct hd_bleu_counts *counts, bool has_effective_order);

struct hd_signature hd_bleu_signature(const struct hd_bleu *bleu, bool has_effective_order);

/* ---- chrf.c ---------------------------------------------------------------------------------------------------- */

enum { HD_CHRF_CHARS = 6, HD_CHRF_WORDS = 2, HD_CHRF_ORDERS = HD_CHRF_CHARS + HD_CHRF_WORDS };

/* By order: characters 1 to 6, then words 1 to 2. They add up. */
struct hd_chrf_counts {
    int64_t hyp[HD_CHRF_ORDERS], ref[HD_CHRF_ORDERS], match[HD_CHRF_ORDERS];
};

struct hd_chrf {
    int word_order;            /* options; 0 is chrF2, 2 is chrF2++ */
    bool is_lowercase;         /* */
    bool keeps_sentences;      /* */
    struct hd_chrf_counts sum; /* results */
    size_t n_sentences;
    struct hd_chrf_counts *sentences; /* each one's, if they are kept */
    int n_refs;                       /* of every sentence; -1 when they differ */
    struct hd_words words;            /* the rest is memory to work in */
    struct hd_ngrams spelling, chars, ngrams;
    size_t capacity;
};

/* Add a sentence and its references, one at least, of which the one with the best score counts. */
bool hd_chrf_add(struct hd_chrf *chrf, struct hd_text hyp, const struct hd_text *refs, int n_refs,
                 heed_error *err);

/* Leaves {0}. */
void hd_chrf_release(struct hd_chrf *chrf);

/* The score of counts, 0 to 100. */
double hd_chrf_score(const struct hd_chrf_counts *counts);

struct hd_signature hd_chrf_signature(const struct hd_chrf *chrf);

/* ---- edit.c ---------------------------------------------------------------------------------------------------- */

/* Of a sentence or a whole text; they add up. Words are what stands between spaces. */
struct hd_edit_counts {
    int64_t
        n_errors; /* words to insert, delete or replace to make the reference of the hypothesis */
    int64_t n_words;     /* of the reference */
    int64_t n_exact;     /* sentences without an error */
    int64_t n_sentences; /* */
};

struct hd_edit {
    bool is_lowercase;                /* options */
    bool keeps_sentences;             /* */
    struct hd_edit_counts sum;        /* results */
    struct hd_edit_counts *sentences; /* each one's, if they are kept */
    struct hd_words hyp, ref;         /* the rest is memory to work in */
    struct hd_ngrams spelling;
    int64_t *row;
    size_t row_capacity;
    size_t capacity;
};

/* Add a sentence and its references, one at least, of which the one with the fewest errors counts. Takes time by
 * the product of their lengths. */
bool hd_edit_add(struct hd_edit *edit, struct hd_text hyp, const struct hd_text *refs, int n_refs,
                 heed_error *err);

/* Leaves {0}. */
void hd_edit_release(struct hd_edit *edit);

/* Errors per 100 words of the reference, which may be more than 100. Where there are no words: 0 without errors,
 * 100 with some. */
double hd_edit_wer(const struct hd_edit_counts *counts);

/* Sentences without an error, in percent; 0 of none. */
double hd_edit_exact(const struct hd_edit_counts *counts);

#endif
