/* job.h -- texts on their way to a result: cut into segments (segment.c), searched (search_worker.c), put together (assemble.c).
 *
 * A segment is what the search sees: a sentence, or a part of one that was too long. A job is what is asked of texts, and what
 * follows from it for these models. All a text becomes belongs to its line, so threads that work on different lines share nothing. */
#ifndef HD_TRANSLATE_JOB_H
#define HD_TRANSLATE_JOB_H

#include "model/model_file.h"
#include "search/search.h"
#include "text/protect.h"
#include "translate/document.h"
#include "translate/result.h"
#include "translate/translate_options.h"
#include "translate/words.h"

#include <stdatomic.h>

/* Constants of confidence, fitted by tools/fit_confidence.py.
 *
 * A word is right by chance σ(w[0] + w[1] · log(p / (1 - p))), p being its probability. A translation is of use by chance
 * σ(s[0] + s[1] · mean confidence of its words + s[2] · mean log-probability of its subwords + s[3] · min(0, log of target length over
 * source length, in characters and 5 more)). */
enum { HD_N_CONFIDENCE = 6 };
struct hd_confidence {
    double word[2], sentence[4];
};

/* The models of a translator, and what is known of them. */
struct hd_ensemble {
    const heed_model **models;
    const struct hd_net **nets; /* the models' own, or, computed in another way, */
    struct hd_net **converted;  /* those made of them; NULL where there is none */
    int n;
    const struct heed_model *lm; /* shallow fusion; NULL: none */
    float lm_weight;
    const struct hd_vocab *source, *target;
    size_t trained_length; /* subwords of a source: the least of the models' */
    int shift;
    enum hd_task task; /* what the models give */
    bool has_attention;
    bool is_of_documents;  /* trained on lines of several sentences */
    bool is_natural;       /* text of subwords: numbers alone are no text in it, */
    bool is_cased;         /* and letters of both kinds are */
    bool has_placeholders; /* for protected pieces, in both vocabularies: */
    int source_placeholders[HD_N_PLACEHOLDERS], target_placeholders[HD_N_PLACEHOLDERS];
    unsigned char *id_flags; /* of the target's ids (search/terms.h) */
    struct hd_confidence confidence;
    bool reads_vectors; /* lines are names of items: vector_line.c */
    struct hd_shelf *shelf;
    struct hd_recall *recall; /* steps of remembered sentences */
};

/* How a segment is searched. An output that goes round in circles is searched again, and so is one that has lost or doubled a
 * placeholder. */
enum hd_search_round {
    HD_SEARCH_FIRST,     /* as it is asked for */
    HD_SEARCH_SCORED,    /* after a first search for words alone: with probabilities, to compare */
    HD_SEARCH_NO_REPEAT, /* with repetition forbidden */
    HD_SEARCH_WHOLE, /* with each placeholder said once, or each protected piece at least once */
    HD_SEARCH_ROUNDS,
};

struct hd_job {
    const struct hd_ensemble *ensemble;
    heed_options options;  /* texts in it are borrowed */
    struct hd_keep *keep;  /* what the options say is kept; NULL: nothing */
    const char *from, *to; /* languages that were asked for, by the model's own names; NULL: auto */
    const struct hd_markup_module *markup; /* reads texts that have tags; NULL: they have none */
    struct hd_search_options search[HD_SEARCH_ROUNDS];
    size_t most, part; /* subwords of a source; of the parts of a sentence that has more */
    int shift;
    bool is_forced;      /* outputs are given */
    bool cuts_sentences; /* a text is translated sentence by sentence */
    bool has_attention;  /* weights are in the result */
    bool has_scores;     /* log-probabilities and confidence are */
    bool is_tried_again; /* where an output goes round in circles */
};

struct hd_line;

/* The letters of a sentence: ordinary, capitals alone, or several words in small letters alone. */
enum hd_letters { HD_LETTERS_MIXED, HD_LETTERS_CAPITAL, HD_LETTERS_SMALL };

struct hd_segment {
    struct hd_line *line;
    struct hd_span span;       /* in the line, white space around it left out */
    struct hd_encoding source; /* places are in the line */
    int *
        ids; /* the source's, behind the symbol of the target's language and before the end marker, where there are such */
    int n_ids;
    struct hd_ids prefix;      /* how the output begins; when forced, all of it */
    bool passes;               /* nothing in it can be translated: it stays as it is */
    size_t first_kept, n_kept; /* protected pieces of the line that lie in it */
    bool has_placeholders;     /* the model sees placeholders instead of these */
    bool is_trimmed;           /* at its ends, of what is only copied */
    enum hd_letters
        letters; /* if not mixed the model sees an ordinary sentence, and such letters come out again */
    struct hd_segment_terms *terms; /* what a glossary requires of it; NULL: nothing */
    struct hd_segment_terms
        *whole; /* and its protected pieces, where the model has no placeholders */
    struct hd_segment_looks *looks;       /* attention that is given; NULL: none is */
    struct hd_segment_recalled *recalled; /* what is remembered of its like; NULL: nothing */
    enum hd_search_round round;
    bool is_found;                /* of a request: its search is over */
    bool is_searched_again;       /* and the second output was taken */
    struct hd_segment *next_loop; /* that waits to be searched again */
    struct hd_nbest found;
};

struct hd_line {
    const struct hd_job *job;
    uint64_t number; /* of the text: which random numbers are drawn */
    heed_result *result;
    struct hd_document
        *document;      /* of a text with tags: the source is its plain text until all is done */
    const char *target; /* when forced: the output */
    size_t n_target;
    struct hd_encoding target_placed;
    struct hd_encoding question; /* what is asked of the text, of models that answer questions */
    int *keys; /* of the document's words, and behind them of its own (text/word_keys.h) */
    size_t n_source, n_text; /* bytes of result->source; of what is between white space */
    size_t begin;            /* of that */
    size_t n_prefix;         /* bytes before it that say what it is to become, ">>fr<< " */
    const char *from, *to;   /* languages; NULL where the model does not name them */
    int symbol;              /* of the target's language, which sources begin with; -1: none */
    bool is_translated;      /* the text is of the target's language already, and stays as it is */
    bool is_forced; /* its output is given: as all of the job's are, or because it is remembered */
    const struct hd_remembered_pair *answer; /* as which it is remembered; else NULL */
    bool is_skipped;                         /* forced, but too long to be looked at */
    const struct hd_vectors *vectors; /* the source, where it is an item of these; else NULL */
    struct hd_vectors *own_vectors;   /* made of a sound or a picture */
    int item;
    struct hd_protected_list kept;
    struct hd_segment *segments;
    size_t n_segments;
    atomic_size_t n_searching; /* segments that have not been searched yet */
    heed_error err;
};

/* ---- what is asked ------------------------------------------------------------------------------- */

/* False with the reason in `err`. To be given to hd_ensemble_release(), also then. */
bool hd_ensemble_init(struct hd_ensemble *ensemble, const heed_model *const *models, int n_models,
                      heed_error *err);
/* Compute in this way from now on. False with HEED_NO_MEMORY, and it is as it was. */
bool hd_ensemble_compute(struct hd_ensemble *ensemble, enum hd_compute compute, heed_error *err);
void hd_ensemble_release(struct hd_ensemble *ensemble);

/* Fuse a language model with the search. False with the reason in `err`. */
bool hd_ensemble_fuse(struct hd_ensemble *ensemble, const heed_model *lm, float weight,
                      heed_error *err);

/* Markup that is chosen by the text is none where no text has tags, since tags want attention, and where more is asked for than one
 * translation of the whole text. */
void hd_choose_markup(heed_options *o, const char *const *texts, size_t n);

/* Can these models do what is asked? False with the reason in `err`. `options` and its texts stay the caller's. To be given to
 * hd_job_release(), also where it is false. */
bool hd_job_init(struct hd_job *job, const struct hd_ensemble *ensemble,
                 const heed_options *options, bool is_forced, heed_error *err);

void hd_job_release(struct hd_job *job);

/* Are a first search's probabilities of no use? Then words alone may be searched for, which is faster. */
bool hd_job_needs_words_alone(const struct hd_job *job);

/* A segment's ids: those of its encoding, with what stands around them. */
bool hd_segment_add_ids(struct hd_segment *segment, heed_error *err);

/* Make the line's one segment of the vectors that its text names. */
bool hd_line_read_vectors(struct hd_line *line, const char *name);

/* A segment's source: words, vectors, or a document with its question. */
struct hd_sequence hd_segment_source(const struct hd_segment *segment);

/* What the search is given. */
struct hd_search_input hd_segment_input(const struct hd_segment *segment);

/* Look at outputs that are given, of so many segments. `options` are the search's. False with the reason in `err`. */
bool hd_segments_force(const struct hd_ensemble *ensemble, const struct hd_search_options *options,
                       struct hd_segment *const *segments, size_t n, heed_error *err);

/* ---- a line -------------------------------------------------------------------------------------- */

/* Make the line's segments. `other` is how the output begins, or the whole output when it is forced; may be NULL. False with the
 * reason in line->err. */
bool hd_line_prepare(struct hd_line *line, const char *text, const char *other);

/* Make the line's result of its segments and what was found. */
bool hd_line_assemble(struct hd_line *line);

/* All but its result. */
void hd_line_release(struct hd_line *line);
#endif
