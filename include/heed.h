/* heed.h -- the toolkit for attention-based sequence-to-sequence learning: its version, its errors, its machine.
 *
 * This header is the manual. It is stable: what stands here keeps its name and meaning. The formula language for
 * people's own models is heed_graph.h.
 *
 * The library never prints and never exits. Every function that can fail takes a `heed_error *err`, always last,
 * which may be NULL; the first error is kept, so one struct can be passed through several calls and asked once. */
#ifndef HEED_H
#define HEED_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEED_VERSION "0.1.0"

#ifndef HEED_API
#define HEED_API __attribute__((visibility("default")))
#endif

/* ---- errors ---------------------------------------------------------------------------------------------- */

/* What kind of failure it was; the sentence in heed_error.message says the rest. */
enum heed_code {
    HEED_OK = 0,
    HEED_NO_MEMORY, /* the machine has no more memory to give */
    HEED_BAD_FILE, /* a file cannot be opened, read or written: missing, no permission, disk full */
    HEED_BAD_TEXT, /* text that is not UTF-8 or is not what was asked for */
    HEED_BAD_MODEL,  /* a model file that contradicts itself */
    HEED_BAD_OPTION, /* an option or environment variable with a value that cannot be used */
    HEED_BAD_SHAPE,  /* operands of a formula that do not fit together */
    HEED_CANCELLED,  /* the caller asked to stop */
};

/* {0} is "no error". Owned by the caller, holds no memory of its own. */
typedef struct heed_error {
    enum heed_code code;
    char message[504]; /* a sentence: what, where, what to do; empty when code is HEED_OK */
} heed_error;

/* ---- models ------------------------------------------------------------------------------- */

/* A model: configuration, parameters and vocabularies. Only read once loaded: threads may share it. */
typedef struct heed_model heed_model;

/* Read a model file, to be given to heed_model_free(). NULL with the reason in `err`: HEED_BAD_FILE
 * (missing, not readable), HEED_BAD_MODEL (not a model of heed, or one that contradicts itself),
 * HEED_NO_MEMORY. */
HEED_API heed_model *heed_model_load(const char *path, heed_error *err);

/* The same from bytes in memory, read during the call only; `name` is for error messages. */
HEED_API heed_model *heed_model_load_memory(const char *name, const void *data, size_t size,
                                            heed_error *err);

/* NULL is fine. */
HEED_API void heed_model_free(heed_model *model);

/* Another toolkit's model as one of heed's, to be given to heed_model_free(). The kind is recognised
 * from the file itself: Marian's .npz (types transformer and amun), with its SentencePiece vocabulary
 * as one file for both languages or as two, source and target. NULL with the reason in `err`. */
HEED_API heed_model *heed_model_import(const char *path, const char *const *vocabs, int n_vocabs,
                                       heed_error *err);

/* How a model's numbers are stored: exactly, or in half the space. */
enum heed_store { HEED_STORE_F32, HEED_STORE_F16, HEED_STORE_BF16 };

/* Write the model as one file, whole or not at all. False with the reason in `err`: HEED_BAD_FILE (no
 * permission, disk full), HEED_BAD_OPTION (a number too large for the store). */
HEED_API bool heed_model_save(const heed_model *model, const char *path, enum heed_store store,
                              heed_error *err);

/* What the model is, for people or as one line of JSON: architecture, formula of its attention,
 * sizes, parameters per part, vocabularies, languages, training record. To be given to
 * heed_free(); NULL without memory. */
HEED_API char *heed_model_info(const heed_model *model, bool as_json, heed_error *err);

/* Give back a text that the library returned. NULL is fine. */
HEED_API void heed_free(void *text);

/* ---- training ------------------------------------------------------------------------------ */

/* A training run in the making: what was said about it so far. */
typedef struct heed_training heed_training;

/* To be given to heed_training_free(); NULL without memory. */
HEED_API heed_training *heed_training_new(heed_error *err);
HEED_API void heed_training_free(heed_training *training);

/* Say one thing about it, by the names and values of the options of `heed train`: ("src", "train.en"), ("dim", "256"). Lists (src, tgt,
 * freeze ...) get one more. False with the reason in `err` (HEED_BAD_OPTION), the nearest right name included. */
HEED_API bool heed_training_set(heed_training *training, const char *name, const char *value,
                                heed_error *err);

/* The same from a file of lines `name = value`; # begins a comment. What was set before stays. */
HEED_API bool heed_training_read(heed_training *training, const char *path, heed_error *err);

/* Has an option of yes or no ("quiet", "json") been set to yes, by a file or otherwise? */
HEED_API bool heed_training_is_yes(const heed_training *training, const char *name);

/* Everything that can be said, one by one: false when there are no more than i. */
typedef struct heed_training_option {
    const char *name, *values, *meaning;
    const char *fallback; /* what it is when nothing is said; "" when it is chosen to fit; NULL when there is none */
    bool is_list, is_of_model;
} heed_training_option;
HEED_API bool heed_training_option_at(int i, heed_training_option *option);

/* What happens while it runs. */
enum heed_training_news {
    HEED_TRAINING_SAYS,      /* text: a sentence on what was chosen or what happened */
    HEED_TRAINING_PREPARES,  /* text: what is being done before the first update; share of it, 0 if unknown */
    HEED_TRAINING_LEARNED,   /* an update is done */
    HEED_TRAINING_VALIDATES, /* begins to look at the dev sentences */
    HEED_TRAINING_VALIDATED,
    HEED_TRAINING_SAVED,     /* the state is on the disk */
    HEED_TRAINING_WAITS,     /* nothing: a moment to ask whether to go on */
};

typedef struct heed_training_event {
    enum heed_training_news news;
    const char *text;
    const char *json; /* the same as a line of MODEL.jsonl; NULL when there is nothing to note */
    double share;
    long update;
    double epoch;     /* passes over the text, 2.5: in the middle of the third */
    double loss;      /* mean of the updates since the last event of this kind that was noted in MODEL.jsonl */
    double rate, tokens_per_second;
    double seconds;      /* since this call began */
    double seconds_left; /* at this speed; below 0: nobody knows */
    double ce, perplexity, bleu, chrf, exact, wer; /* VALIDATED */
    bool has_text;       /* the last four are known */
    bool is_best;
    const char *metric;  /* what decides */
    double best;         /* its best value so far; has_best */
    bool has_best;
    long best_update;
} heed_training_event;

/* Train: read the text, choose what was left open, learn until it is over, and leave one model file. A run that was interrupted goes on where
 * it was. watch(context, event), which may be NULL, is told what happens, and stops the run by false: the state is then saved and the
 * answer is false with HEED_CANCELLED, whose sentence says how to go on. The result is the same bits for any number of
 * threads, any kernel, and however often it was interrupted. */
HEED_API bool heed_training_run(heed_training *training,
                                bool (*watch)(void *context, const heed_training_event *event),
                                void *context, heed_error *err);

/* ---- scoring text ------------------------------------------------------------------------- */

/* What to compute; several are joined by |. */
enum heed_metric {
    HEED_METRIC_BLEU = 1,
    HEED_METRIC_CHRF = 2,   /* chrF2: runs of one to six characters */
    HEED_METRIC_CHRFPP = 4, /* chrF2++: words and pairs of words as well */
    HEED_METRIC_EXACT = 8,  /* sentences whose words are all right */
    HEED_METRIC_WER = 16,   /* word error rate */
};

/* How BLEU cuts sentences into words; the rules and their names are sacreBLEU's. */
enum heed_tokeniser {
    HEED_TOK_13A,  /* western punctuation, as WMT does */
    HEED_TOK_NONE, /* between spaces: for text that is cut already */
    HEED_TOK_CHAR, /* every character */
    HEED_TOK_INTL, /* punctuation and symbols of all scripts */
    HEED_TOK_ZH,   /* every Chinese character; the rest as 13a */
};

typedef struct heed_eval_options {
    unsigned metrics;         /* of enum heed_metric; default BLEU, chrF, exact and WER */
    enum heed_tokeniser tok;  /* of BLEU alone; default HEED_TOK_13A */
    bool is_lowercase;        /* capital and small letters are the same; default false */
    bool has_effective_order; /* for very short texts, where BLEU would be 0: leave out n-grams
                                 longer than every hypothesis; default false */
} heed_eval_options;

HEED_API heed_eval_options heed_eval_options_default(void);

/* What there is to score, a hypothesis, and what it should be, its reference. */
typedef struct heed_pair {
    const char *hyp, *ref;
} heed_pair;

/* Scores of a whole text; what was not asked for is 0. A signature says what a score was computed with, for the record,
 * in sacreBLEU's words: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|heed:0.1.0". */
typedef struct heed_evaluation {
    size_t n_sentences;
    double bleu;                 /* 0 to 100 */
    double bleu_precisions[4];   /* of single words to quadruples, in percent */
    double bleu_brevity_penalty; /* 1 unless the hypotheses are shorter than the references */
    double bleu_ratio;           /* hyp_len / ref_len */
    size_t hyp_len, ref_len;     /* words, as BLEU cuts them */
    double chrf, chrfpp;         /* 0 to 100 */
    double exact;                /* percent of sentences */
    double wer;                  /* wrong, missing and added words per 100 of the references */
    size_t n_exact;              /* sentences without such a word */
    size_t n_word_errors;        /* such words */
    size_t n_words;              /* of the references, between spaces */
    char bleu_signature[96];
    char chrf_signature[96];
    char chrfpp_signature[96];
} heed_evaluation;

/* Score n hypotheses against their references. BLEU and chrF are sacreBLEU's, number for number, and the same bits on
 * every machine. `options` may be NULL for heed_eval_options_default().
 *
 * Returns an evaluation to be given to heed_evaluation_free(), or NULL with the reason in `err` (HEED_BAD_TEXT: no
 * sentences, or one that is not UTF-8; HEED_BAD_OPTION; HEED_NO_MEMORY).
 *
 *     const heed_pair pairs[] = {{.hyp = "the cat sat", .ref = "the cat sat down"}};
 *     heed_evaluation *e = heed_evaluate(pairs, 1, NULL, &err);
 *     printf("BLEU %.2f\n", e->bleu); */
HEED_API heed_evaluation *heed_evaluate(const heed_pair *pairs, size_t n,
                                        const heed_eval_options *options, heed_error *err);

/* The same for two files of one sentence a line, plain or compressed by gzip; "-" is standard input. Further errors:
 * HEED_BAD_FILE (missing, not readable), HEED_BAD_TEXT (different numbers of lines). */
HEED_API heed_evaluation *heed_evaluate_files(const heed_pair *paths,
                                              const heed_eval_options *options, heed_error *err);

/* NULL is fine. */
HEED_API void heed_evaluation_free(heed_evaluation *evaluation);

/* ---- about this library ----------------------------------------------------------------------------------- */

/* "0.1.0" of the library that is linked, which may be newer than the HEED_VERSION compiled against. */
HEED_API const char *heed_version(void);

/* The compiler that built the library, e.g. "gcc 12.2.0". */
HEED_API const char *heed_compiler(void);

/* The arithmetic in use: "avx512vnni", "avx512", "avx2", "neon", "generic" or "ref". The fastest that this CPU has, or the one
 * named by the environment variable HEED_KERNEL; all return the same bits. NULL with the reason in `err`
 * (HEED_BAD_OPTION) when HEED_KERNEL names one that does not exist or that this CPU cannot run. */
HEED_API const char *heed_kernel(heed_error *err);

/* Name of the i-th kernel this CPU can run, slowest first, or NULL when there are no more. */
HEED_API const char *heed_kernel_available(int i);

/* How many cores this process may use, at least 1: the CPUs it may run on, or fewer if a container's quota is smaller. */
HEED_API int heed_cores(void);

/* ---- for programs that take names from people ----------------------------------------------------------------- */

/* The one of names[0..n) that `word` is most likely a slip of, for "did you mean ...?"; NULL when none is near. */
HEED_API const char *heed_nearest(const char *word, const char *const *names, int n);

#ifdef __cplusplus
}
#endif
#endif
