/* heed.h -- attention-based sequence-to-sequence learning: train, translate, align, evaluate.
 *
 * A translator in three calls:
 *
 *     heed_error err = {0};
 *     heed_translator *t = heed_translator_open("mine.safetensors", &err);
 *     puts(t ? heed_translator_text(t, "Good morning!", &err) : err.message);
 *     heed_translator_free(t);
 *
 * This header is the manual. It begins with what most programs need and goes on to what few do:
 * errors, translating, results, options, given translations, asynchronous work, models, serving,
 * training, evaluation. heed_draw.h draws pictures, heed_graph.h is the formula language for own models.
 *
 * The library never prints and never exits. Every function that can fail takes a heed_error, always
 * last, which may be NULL. Arguments that make no sense (a NULL text, an unknown name) are errors
 * like any other. Results are the same to the last bit on every machine, for any number of threads
 * and whatever else is translated at the same time.
 *
 * Structs that the library returns may grow at their end in later versions; do not copy them or
 * build arrays of them. Structs that you fill ({0} is always a valid start) stay as they are.
 * Before version 1.0 the minor version is the ABI: programs built with 0.2 run with every 0.2.x. */
#ifndef HEED_H
#define HEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEED_VERSION "0.2.0"

#ifndef HEED_API
#define HEED_API __attribute__((visibility("default")))
#endif

/* ---- errors -------------------------------------------------------------------------------- */

/* The kind of a failure; the sentence in heed_error.message says the rest. */
enum heed_code {
    HEED_OK = 0,
    /* the machine has no more memory to give */
    HEED_NO_MEMORY,
    /* a file cannot be opened, read or written: missing, no permission, disk full */
    HEED_BAD_FILE,
    /* text that is not UTF-8 or is not what was asked for; no text at all */
    HEED_BAD_TEXT,
    /* a model file that contradicts itself, or a model that cannot do what is asked */
    HEED_BAD_MODEL,
    /* an option, argument or environment variable with a value that cannot be used */
    HEED_BAD_OPTION,
    /* operands of a formula that do not fit together */
    HEED_BAD_SHAPE,
    /* the caller asked to stop */
    HEED_CANCELLED,
    /* training whose numbers grow without bound */
    HEED_DIVERGED,
};

/* {0} is "no error". Owned by the caller, holds no memory of its own. The first error is kept: one
 * struct can be passed through several calls and looked at once. */
typedef struct heed_error {
    enum heed_code code;
    /* a sentence: what, where, what to do; empty when code is HEED_OK */
    char message[504];
} heed_error;

/* ---- translating --------------------------------------------------------------------------- */

/* A translator: models, options, and what is kept warm between calls (threads, caches, memory).
 * Threads may share one. */
typedef struct heed_translator heed_translator;

/* A translator with the model of a file, which it owns. To be given to heed_translator_free(). NULL
 * with the reason in `err`, as heed_model_load(). */
HEED_API heed_translator *heed_translator_open(const char *path, heed_error *err);

/* Translate one text, of any length. The string belongs to the translator and is valid until the
 * next call of this function; programs with several threads use heed_translator_translate(). NULL
 * with the reason in `err`. */
HEED_API const char *heed_translator_text(heed_translator *translator, const char *text,
                                          heed_error *err);

/* Ends its threads; texts that are still under way are dropped. NULL is fine. */
HEED_API void heed_translator_free(heed_translator *translator);

typedef struct heed_results heed_results;
typedef struct heed_result heed_result;

/* Translate n texts, each a line of UTF-8 of any length. One call with many texts is faster than
 * many calls: it fills batches and threads. A single sentence is translated on the calling thread.
 *
 * With the option "markup", "html" or "xml", a text is a document or a fragment of one: what is
 * between its tags is translated, and the tags go with their words. The result is about the texts
 * with their tags; its words are without.
 *
 * White space around a text is kept, and a text of white space stays as it is. A text is cut into
 * sentences, which are translated one by one (option "split"). No text is an error: bytes that are
 * not UTF-8 are replaced by U+FFFD, with a warning in the result. A translation that repeats itself
 * endlessly is searched again with repetition forbidden, with a warning as well.
 *
 * Returns results in the order of the texts, to be given to heed_results_free(), or NULL with the
 * reason in `err` (HEED_BAD_OPTION, HEED_BAD_MODEL, HEED_CANCELLED, HEED_NO_MEMORY).
 *
 *     const char *texts[] = {"Good morning!", "How are you?"};
 *     heed_results *r = heed_translator_translate(t, texts, 2, &err);
 *     for (size_t i = 0; r && i < r->n; i++)
 *         puts(r->at[i]->translations[0]->text);
 *     heed_results_free(r); */
HEED_API heed_results *heed_translator_translate(heed_translator *translator,
                                                 const char *const *texts, size_t n,
                                                 heed_error *err);

/* NULL is fine. */
HEED_API void heed_results_free(heed_results *results);

/* ---- results ------------------------------------------------------------------------------- */

/* A word: what stands between spaces; in scripts without spaces (Thai, Japanese, Chinese) the
 * characters of one subword. `start` and `end` count Unicode code points of the text it is in. */
typedef struct heed_word {
    const char *text;
    size_t start, end;
    /* of a target word: the sum over its subwords; else 0 */
    double logprob;
    /* of a target word: how likely it is right, 0 to 1; else 0 */
    double confidence;
} heed_word;

/* What the model reads and writes: words, parts of words, and end markers. */
typedef struct heed_subword {
    /* as the vocabulary has it: "▁house", "</s>" */
    const char *text;
    /* the word it belongs to; -1: none (an end marker) */
    int word;
    /* of a target subword; else 0 */
    double logprob;
} heed_subword;

/* Two words that belong together, by their numbers from 0. */
typedef struct heed_link {
    int source, target;
} heed_link;

/* The first and the last source word at which CTC hears a word; both -1 where it is at none. */
typedef struct heed_heard {
    int first, last;
} heed_heard;

/* A sentence and its translation, in Unicode code points of the two texts. */
typedef struct heed_sentence {
    size_t source_start, source_end, target_start, target_end;
} heed_sentence;

/* A subword that could have been written at a step, and how likely it was. */
typedef struct heed_choice {
    const char *text;
    double logprob;
} heed_choice;

/* A subword that the search kept for one step at least, or the end of a hypothesis. */
typedef struct heed_beam_node {
    /* which of the sentences, from 0 */
    int sentence;
    /* the node that it follows, which stands before it; -1: it is a first word */
    int parent;
    /* "" where a hypothesis was cut off */
    const char *text;
    /* its own, and the sum up to it */
    double logprob, total;
    /* of an end: with length and coverage, as hypotheses are compared; and its place among all
     * ends, from 0. Else 0 and -1 */
    double score;
    int rank;
} heed_beam_node;

/* A label that a text could have, and how likely it is. */
typedef struct heed_label {
    const char *text;
    double probability;
} heed_label;

/* What of a document answers a question. */
typedef struct heed_answer {
    const char *text;
    /* its place in the document, in characters */
    size_t start, end;
    /* of all answers that could be given from the document, this one's */
    double probability;
} heed_answer;

/* A sentence of a translation memory that had a say in a result. */
typedef struct heed_remembered {
    /* of the file, from 1 */
    size_t line;
    const char *source, *target;
    /* how alike its source is to the sentence, up to 1; 1: the very same, and it is the answer */
    double similarity;
} heed_remembered;

/* Which attention a result has. */
enum heed_attention {
    HEED_ATTENTION_NONE,
    /* what the decoder looks at in the source: rows are target words, columns source words */
    HEED_ATTENTION_CROSS,
    /* self-attention of a Transformer's encoder: rows and columns are source words */
    HEED_ATTENTION_ENCODER,
    /* self-attention of a Transformer's decoder: rows and columns are target words */
    HEED_ATTENTION_DECODER,
};

/* One translation, and what the model looked at while it was made. */
typedef struct heed_translation {
    const char *text;
    /* what the search compares: log-probability with length and coverage */
    double score;
    /* sum of the natural log-probabilities of its subwords and end marker */
    double logprob;
    /* how likely it is of use, 0 to 1, as calibrated on text inside and outside of what models were
     * trained on; a result has the warning "unsure: ..." below 0.6 */
    double confidence;
    /* it reached the longest output that is allowed, and has no end */
    bool is_cut;
    size_t n_words, n_subwords, n_links, n_sentences;
    heed_word *words;
    heed_subword *subwords;
    /* by target word, then source word */
    heed_link *links;
    /* one per sentence that was translated by itself, in order */
    heed_sentence *sentences;
    /* The weights, row by row. NULL where there are none: the model has no attention, it was not
     * asked for, or the text is too long to keep a matrix of it. */
    enum heed_attention attention_kind;
    size_t n_attention_rows, n_attention_columns;
    float *attention;
    /* [rows]: the share of the end marker (of the decoder's own words: of the start). A row and
     * this sum to 1, to less for local-p. */
    float *attention_end;
    /* the same between subwords, end markers included */
    size_t n_subword_rows, n_subword_columns;
    float *subword_attention;
    /* [n_subwords, n_choices], likeliest first: what could have been written instead of each
     * subword. NULL and 0 unless asked for (option "steps") */
    size_t n_choices;
    heed_choice *choices;
    /* With "steps", of a text of one sentence: the scores e of which a softmax makes the weights
     * above, of the same size; NULL where these are the mean of several heads. And of a model
     * without attention the vector that it makes of the whole source; else NULL and 0. */
    float *subword_scores;
    size_t n_vector;
    float *vector;
    /* [n_words]: by a model that was trained with CTC, where attention was asked for: on the
     * likeliest of CTC's paths that say this translation. NULL of other models, and where there are
     * fewer positions than a path needs. */
    heed_heard *heard;
} heed_translation;

/* All about one text. */
struct heed_result {
    /* the text; bytes that were not UTF-8 are U+FFFD */
    const char *source;
    size_t n_words, n_subwords;
    heed_word *words;
    heed_subword *subwords;
    /* best first; 1 at least */
    size_t n_translations;
    heed_translation **translations;
    /* sentences for people: what was cut, repaired or searched again */
    size_t n_warnings;
    const char **warnings;
    /* of a model of several languages: which they are, told or detected; else NULL */
    const char *from, *to;
    /* all that the search kept, sentence by sentence; NULL and 0 unless asked for (option "tree") */
    size_t n_beam;
    heed_beam_node *beam;
    /* of a model of labels: all of them, likeliest first; the text of a translation is a label. Else
     * NULL and 0 */
    size_t n_labels;
    heed_label *labels;
    /* Of a model that reads vectors: the name of the item, as it was given (NULL of text). `source` is then the list of its
     * positions, and these are its words: seconds where `step`, the seconds of a position, is not 0; "row,column" where it
     * is a picture of so many rows and columns of patches; else the number of the first vector. */
    const char *item;
    double step;
    int rows, columns;
    /* what there is to look at, where attention was asked for and it can be made again of the vectors: frames of bands, or rows of pixels (red,
     * green, blue); else NULL */
    const float *seen;
    int n_seen_rows, n_seen_columns;
    /* remembered sentences that were looked at, most similar first in each sentence; NULL and 0
     * without a translation memory (option "memory") */
    size_t n_memory;
    heed_remembered *memory;
    /* Of a model that answers questions: the question, and the best answer; `source` is the document alone. The text of a translation is
     * an answer, and its attention has two rows: where the answer begins, and where it ends. Else NULL */
    const char *question;
    heed_answer *answer;
};

/* Results of many texts, in the order of the texts. */
struct heed_results {
    size_t n;
    heed_result **at;
};

/* A result as one JSON object, without a newline: source, warnings, translations with words, links
 * and attention, sentences (docs/reference/json.md). To be given to heed_free(); NULL with the
 * reason in `err`. */
HEED_API char *heed_result_json(const heed_result *result, heed_error *err);

/* Give back a text that the library returned. NULL is fine. */
HEED_API void heed_free(void *text);

/* ---- options of translating ---------------------------------------------------------------- */

/* Set an option by its name; names and values are those of `heed translate` without the dashes:
 * ("beam", "1"), ("length-norm", "gnmt:0.6"), ("attention", "none"). Holds for all later calls.
 * False with the reason in `err` (HEED_BAD_OPTION), the nearest right name included. */
HEED_API bool heed_translator_set(heed_translator *translator, const char *name, const char *value,
                                  heed_error *err);

/* Be told how far heed_translator_translate(), _align() and _score() are: watch(context, n_done, n)
 * is called often, in sentences, from one thread at a time but not always the same; false stops the
 * work (HEED_CANCELLED). NULL: nobody is told. */
HEED_API void heed_translator_watch(heed_translator *translator,
                                    bool (*watch)(void *context, size_t n_done, size_t n),
                                    void *context);

/* Options for a single text, see heed_translator_submit(). */
typedef struct heed_options heed_options;

/* A copy of the translator's options as they are now (NULL: as a new translator has them), to be
 * given to heed_options_free(). NULL without memory. */
HEED_API heed_options *heed_options_new(const heed_translator *translator, heed_error *err);
HEED_API bool heed_options_set(heed_options *options, const char *name, const char *value,
                               heed_error *err);
HEED_API void heed_options_free(heed_options *options);

/* The rows of all options, one by one, for help texts and option tables; NULL when there are no
 * more than i. See "option tables" below. */
typedef struct heed_option heed_option;
HEED_API const heed_option *heed_translator_option_at(int i);

/* ---- given translations -------------------------------------------------------------------- */

/* A text and its translation. */
typedef struct heed_text_pair {
    const char *source, *target;
} heed_text_pair;

/* Which words of given translations belong together: each result has one translation, the pair's
 * target as it is, with its log-probability, words, attention and links. A pair that is far longer
 * than the model was trained for is not looked at: its logprob is NaN and it has a warning. */
HEED_API heed_results *heed_translator_align(heed_translator *translator,
                                             const heed_text_pair *pairs, size_t n,
                                             heed_error *err);

/* How likely given translations are: the same without attention, which is faster. */
HEED_API heed_results *heed_translator_score(heed_translator *translator,
                                             const heed_text_pair *pairs, size_t n,
                                             heed_error *err);

/* Translate texts of which the translations must begin as given: `target` is the beginning, NULL or
 * "" where there is none. Otherwise as heed_translator_translate(). */
HEED_API heed_results *heed_translator_complete(heed_translator *translator,
                                                const heed_text_pair *pairs, size_t n,
                                                heed_error *err);

/* How links of two directions become one set. */
enum heed_symmetry {
    /* those that both have */
    HEED_SYMMETRY_INTERSECT,
    /* those that one of them has */
    HEED_SYMMETRY_UNION,
    /* those of both, neighbours of these that one has, then what links a word that is still alone
     * (Koehn, Och & Marcu, 2003) */
    HEED_SYMMETRY_GROW_DIAG_FINAL,
    /* those of the first direction alone */
    HEED_SYMMETRY_NONE,
};

/* Join links of one model with those of a model for the other direction, which are given turned
 * round: source is the same language in both. Writes to `out`, which has room for both, by target
 * word, then source word; returns how many. */
HEED_API size_t heed_symmetrize(enum heed_symmetry how, const heed_link *one, size_t n_one,
                                const heed_link *other, size_t n_other, heed_link *out);

/* Counts for the quality of alignments, and the quality (Och & Ney, 2003); {0} is before the first
 * sentence. */
typedef struct heed_alignment_quality {
    /* of all sentences so far */
    size_t n_links, n_sure, n_right_sure, n_right_possible;
    /* percent; possible links count for precision, sure ones for recall */
    double precision, recall, error_rate;
} heed_alignment_quality;

/* Add a sentence: links found, links that must be there, links that may be there (sure ones need
 * not be repeated). */
HEED_API void heed_alignment_judge(heed_alignment_quality *quality, const heed_link *links,
                                   size_t n_links, const heed_link *sure, size_t n_sure,
                                   const heed_link *possible, size_t n_possible);

/* ---- aligning without a model --------------------------------------------------------------- */

/* An aligner learns which words belong together from a text and its translation alone: how often
 * words meet, and in which order (model 1 of Brown et al., 1993, then the hidden Markov model of
 * Vogel, Ney & Tillmann, 1996, in both directions that learn from what they agree on). A word is a
 * run of characters between white space; a character of a script that is written without spaces is
 * one by itself. Case does not matter, and neither do marks around a word.
 *
 *     heed_aligner *a = heed_aligner_new(pairs, n, NULL, &err);
 *     heed_alignments *found =
 *         heed_aligner_align(a, pairs, n, HEED_SYMMETRY_GROW_DIAG_FINAL, &err);
 *     ... found->links[0][0].source ...
 *     heed_alignments_free(found);
 *     heed_aligner_free(a); */
typedef struct heed_aligner heed_aligner;

/* How to work. The first field says how large the struct is: heed_aligner_options o = {.size =
 * sizeof o}; */
typedef struct heed_aligner_options {
    size_t size;
    /* 0: as many as there are cores; the links are the same for any number */
    int n_threads;
    /* Called now and then while it learns or aligns, with how much of it is done; false stops the
     * work (HEED_CANCELLED). NULL: nobody is told. */
    bool (*watch)(void *context, size_t n_done, size_t n);
    void *context;
} heed_aligner_options;

/* Learn from n pairs, the more the better: a few thousand are a beginning. `options` may be NULL.
 * To be given to heed_aligner_free(); NULL with the reason in `err` (HEED_BAD_TEXT: no pair has
 * words on both sides; HEED_CANCELLED; HEED_NO_MEMORY). */
HEED_API heed_aligner *heed_aligner_new(const heed_text_pair *pairs, size_t n,
                                        const heed_aligner_options *options, heed_error *err);
HEED_API void heed_aligner_free(heed_aligner *aligner); /* NULL is fine */

/* Links of n pairs: pair i has links[i][0..n_links[i]), by target word, then source word. */
typedef struct heed_alignments {
    size_t n;
    heed_link **links;
    size_t *n_links;
} heed_alignments;

/* Align pairs, those it has learned from or others; the two directions are joined as `how` says. A
 * pair with more than 512 words and marks on a side has no links. To be given to
 * heed_alignments_free(); NULL with the reason in `err`. One call at a time. */
HEED_API heed_alignments *heed_aligner_align(heed_aligner *aligner, const heed_text_pair *pairs,
                                             size_t n, enum heed_symmetry how, heed_error *err);
HEED_API void heed_alignments_free(heed_alignments *alignments); /* NULL is fine */

/* Two words that are each other's translation. */
typedef struct heed_lexicon_entry {
    /* as they are written inside sentences: in lower case, unless they always have a capital */
    const char *source, *target;
    /* how often they are linked; the share of the source word's occurrences, and of the target
     * word's */
    size_t count;
    double p_target, p_source;
} heed_lexicon_entry;

/* Most frequent first. */
typedef struct heed_lexicon {
    size_t n;
    heed_lexicon_entry *at;
    /* the library's */
    void *memory;
} heed_lexicon;

/* The words of these pairs of which each is the other's most frequent counterpart, five times at
 * least and in three of ten of its occurrences, and where the product of both shares is a quarter
 * at least; links that both directions have are counted. To be
 * given to heed_lexicon_free(); NULL with the reason in `err`. */
HEED_API heed_lexicon *heed_aligner_lexicon(heed_aligner *aligner, const heed_text_pair *pairs,
                                            size_t n, heed_error *err);
HEED_API void heed_lexicon_free(heed_lexicon *lexicon); /* NULL is fine */

/* ---- files with text in them ----------------------------------------------------------------- */

/* A file whose text is to be translated while all else stays: "po" (messages of programs, gettext), "srt" and "vtt" (subtitles),
 * "text" (paragraphs that are broken into lines).
 *
 *     heed_file *f = heed_file_read(bytes, n, "srt", "film.srt", &err);
 *     for (size_t i = 0; f && i < heed_file_size(f); i++)
 *         heed_file_put(f, i, heed_translator_text(t, heed_file_text(f, i), &err), &err);
 *     char *translated = f ? heed_file_write(f, &err) : NULL;
 *     heed_free(translated);
 *     heed_file_free(f); */
typedef struct heed_file heed_file;

/* The format of a file by the ending of its name, also with .gz behind it; NULL where that says none. "tmx" and "csv" are known, and
 * refused when they are read. */
HEED_API const char *heed_file_format(const char *path);

/* Read a file of n bytes; `name` is for sentences and may be NULL. To be given to heed_file_free(). NULL with the reason in `err`:
 * HEED_BAD_TEXT with file and line, HEED_BAD_OPTION for a format that there is not. */
HEED_API heed_file *heed_file_read(const char *bytes, size_t n, const char *format,
                                   const char *name, heed_error *err);

/* How many texts there are; text i, from 0, and the line that it begins in, from 1; NULL and 0 beyond. Of PO these are messages
 * without a translation; of subtitles sentences may go over several cues. */
HEED_API size_t heed_file_size(const heed_file *file);
HEED_API const char *heed_file_text(const heed_file *file, size_t i);
HEED_API size_t heed_file_line(const heed_file *file, size_t i);

/* The language that the file is to be in, as the header of a PO file says it ("de", "pt_BR"); NULL where it says nothing. */
HEED_API const char *heed_file_language(const heed_file *file);

/* Does text i have tags or entities? Then it is to be translated with the option "markup", "html". */
HEED_API bool heed_file_has_tags(const heed_file *file, size_t i);

/* The translation of text i. In PO it is marked fuzzy; one that has other placeholders than the message is left out, with a
 * warning. False with the reason in `err`. */
HEED_API bool heed_file_put(heed_file *file, size_t i, const char *translation, heed_error *err);

/* Sentences for people: what stays, and what was left out; NULL from i = their number on. */
HEED_API const char *heed_file_warning(const heed_file *file, size_t i);

/* The file with the translations in it, to be given to heed_free(). NULL with HEED_NO_MEMORY in `err`. */
HEED_API char *heed_file_write(const heed_file *file, heed_error *err);
HEED_API void heed_file_free(heed_file *file); /* NULL is fine */

/* ---- asynchronous translating -------------------------------------------------------------- */

/* For servers: texts are submitted from any thread and join those that are being translated at
 * once; results are taken as they finish. A result has the same bytes whatever else is under way.
 * Threads of the translator's own do the work; they start with the first text.
 *
 *     uint64_t id = heed_translator_submit(t, "Good morning!", NULL, &err);
 *     ...
 *     heed_result *r = heed_translator_take(t, -1, &id, &err);
 *     if (r)
 *         puts(r->translations[0]->text);
 *     heed_result_free(r); */

/* Submit a text. `options` are copied; NULL means the translator's. Returns its id, unique for this
 * translator, or 0 with the reason in `err` (HEED_BAD_OPTION, HEED_NO_MEMORY). */
HEED_API uint64_t heed_translator_submit(heed_translator *translator, const char *text,
                                         const heed_options *options, heed_error *err);

/* How far a text is that was submitted: one of its sentences. */
typedef struct heed_progress {
    /* from 0 */
    size_t sentence, n_sentences;
    /* what is written of it so far, valid during the call; the result may differ where something
     * was protected or the letters were changed */
    const char *text;
    /* it is whole now; or it is given up, and written again from the beginning */
    bool is_final, is_again;
} heed_progress;

/* Be told while a text with these options is translated: word by word with greedy search (option
 * "beam" 1), else sentence by sentence. tell(context, progress) is called by the translator's
 * threads, one at a time, with a lock held: it may not call the translator. It is not called any
 * more once the text is taken or cancelled. NULL: nobody is told. */
HEED_API void heed_options_watch(heed_options *options,
                                 void (*tell)(void *context, const heed_progress *progress),
                                 void *context);

/* Take a result, in the order of finishing, waiting for timeout_ms milliseconds at most (0: not at
 * all; -1: as long as any text is under way). *id, which may be NULL, is the text's id.
 *
 * Returns a result to be given to heed_result_free(), or NULL: with *id when this text failed, the
 * reason in `err` (HEED_BAD_MODEL, HEED_NO_MEMORY); with *id 0 when none has finished in time or
 * none is under way. */
HEED_API heed_result *heed_translator_take(heed_translator *translator, int timeout_ms,
                                           uint64_t *id, heed_error *err);

/* Drop a text, wherever it is; it is not taken any more. False when there is none with this id. */
HEED_API bool heed_translator_cancel(heed_translator *translator, uint64_t id);

/* Texts that have been submitted and neither taken nor cancelled. */
HEED_API size_t heed_translator_pending(heed_translator *translator);

/* NULL is fine. */
HEED_API void heed_result_free(heed_result *result);

/* ---- models -------------------------------------------------------------------------------- */

/* A model: configuration, parameters and vocabularies. Only read once loaded: threads and
 * translators may share it. */
typedef struct heed_model heed_model;

/* Read a model file, to be given to heed_model_free(). NULL with the reason in `err`: HEED_BAD_FILE
 * (missing, not readable), HEED_BAD_MODEL (not a model of heed, or one that contradicts itself),
 * HEED_NO_MEMORY. */
HEED_API heed_model *heed_model_load(const char *path, heed_error *err);

/* The same for translators with this option "compute" (stored, f32, bf16, int8): matrices are held so from the start, which saves the
 * memory that heed_translator_set() would need for its copy. HEED_BAD_OPTION: there is no such way to compute. */
HEED_API heed_model *heed_model_load_as(const char *path, const char *compute, heed_error *err);

/* The same from bytes in memory, read during the call only; `name` is for error messages. */
HEED_API heed_model *heed_model_load_memory(const char *name, const void *data, size_t size,
                                            heed_error *err);

/* NULL is fine. */
HEED_API void heed_model_free(heed_model *model);

/* A translator with models that stay the caller's and must outlive it. Several translate together
 * as an ensemble; their vocabularies must be the same. */
HEED_API heed_translator *heed_translator_new(const heed_model *const *models, int n_models,
                                              heed_error *err);

/* Shallow fusion: the search adds `weight` times what a language model says of each word, which must have the vocabulary of the
 * translator's target side (heed train --source none --vocab-from MODEL). Before the first text. The model is borrowed as long as the
 * translator lives; NULL is none. False with the reason in `err` (HEED_BAD_OPTION). */
HEED_API bool heed_translator_fuse(heed_translator *translator, const heed_model *lm, double weight,
                                   heed_error *err);

/* Read a model of another toolkit, to be given to heed_model_free(). The kind is recognised from
 * the file or folder itself: a folder of Hugging Face's transformers with a MarianMT model, as
 * OPUS-MT publishes them, or one that heed_model_export() wrote; a folder of CTranslate2 with a
 * Transformer, with SentencePiece models where the folder has none and wants them; Marian's .npz or
 * model.bin (types transformer, s2s, amun and nematus), with its vocabulary as one file for both
 * languages or as two, source and target; or a file of heed's own, to be stored in another way. NULL with the reason in
 * `err`. */
HEED_API heed_model *heed_model_import(const char *path, const char *const *vocabs, int n_vocabs,
                                       heed_error *err);

/* How a model's numbers are stored: exactly, in half the space, or in about a quarter of it: 8-bit
 * matrices, with which translating is faster as well. */
enum heed_store {
    HEED_STORE_F32,
    HEED_STORE_F16,
    HEED_STORE_BF16,
    HEED_STORE_INT8,
};

/* Write the model as one file, whole or not at all. False with the reason in `err`: HEED_BAD_FILE
 * (no permission, disk full), HEED_BAD_OPTION (a number too large for the store). */
HEED_API bool heed_model_save(const heed_model *model, const char *path, enum heed_store store,
                              heed_error *err);

/* Write the model as a folder that Hugging Face's transformers opens, and from there others, such as
 * CTranslate2: as MarianMT where layer norms stand after each part, as Pegasus where they stand
 * before. There must be no such folder yet, or an empty one. False with the reason in `err`:
 * HEED_BAD_FILE, HEED_BAD_OPTION (the model has something that transformers cannot express: it is
 * recurrent, has words or characters instead of subwords, ...; or the store is int8). */
HEED_API bool heed_model_export(const heed_model *model, const char *folder, enum heed_store store,
                                heed_error *err);

/* Note a text in the model's record under a name such as "licence" or "attribution": it is saved
 * with the model and part of heed_model_info(). An empty text takes the note out. False with the
 * reason in `err`: HEED_BAD_TEXT, HEED_BAD_OPTION (a name under which heed itself notes something,
 * such as "recipe"), HEED_NO_MEMORY. Not while other threads use the model. */
HEED_API bool heed_model_note(heed_model *model, const char *name, const char *text,
                              heed_error *err);

/* What the model is, for people or as one line of JSON: architecture, formula of its attention,
 * sizes, parameters per part, vocabularies, languages, training record. To be given to heed_free();
 * NULL with the reason in `err`. */
HEED_API char *heed_model_info(const heed_model *model, bool as_json, heed_error *err);

/* How the model was trained, as lines "name = value" that a training run takes as its
 * configuration. To be given to heed_free(); NULL with the reason in `err` (HEED_BAD_MODEL: the
 * model does not say). */
HEED_API char *heed_model_recipe(const heed_model *model, heed_error *err);

/* "transformer", "bahdanau" ...: the preset that it began as. The model's own text. */
HEED_API const char *heed_model_architecture(const heed_model *model);

/* "translate", "label", "span" or "language-model": what the model gives. The model's own text. */
HEED_API const char *heed_model_task(const heed_model *model);

/* The languages as its record has them, "en-fr", or "en-fr,fr-en,en-de" where it translates several
 * ways; NULL where it does not say. The model's own text. */
HEED_API const char *heed_model_languages(const heed_model *model);

/* One direction after the other, from i = 0 on; false, with NULLs, when there are no more. The texts
 * are the model's own; `from` and `to` may be NULL. */
HEED_API bool heed_model_direction(const heed_model *model, int i, const char **from,
                                   const char **to);

/* A language that a text may be in, and how likely, 0 to 1. */
typedef struct heed_guess {
    const char *language;
    double probability;
} heed_guess;

/* Which of the model's languages is a text in? Writes at most `most` guesses, likeliest first, and
 * returns how many languages there are to choose from: 1 of a model that translates from one, 0
 * where it cannot tell. Languages are the model's own texts. Translating does the same by itself
 * (option "from", which is "auto" unless it is set).
 *
 *     heed_guess best;
 *     if (heed_model_detect(model, "Guten Morgen", &best, 1) > 0)
 *         printf("%s %.2f\n", best.language, best.probability); */
HEED_API int heed_model_detect(const heed_model *model, const char *text, heed_guess *guesses,
                               int most);

/* A file of text in one language, a sentence a line. */
typedef struct heed_language_text {
    const char *language, *path;
} heed_language_text;

/* Let a model of several languages learn to tell them apart, from text of each: training does this
 * by itself, a model that lacks it gets it here. It is saved with the model (100 KB for three
 * languages). False with the reason in `err`. Not while other threads use the model. */
HEED_API bool heed_model_learn_detector(heed_model *model, const heed_language_text *texts,
                                        size_t n, heed_error *err);

/* Numbers about a model. */
enum heed_size {
    HEED_MODEL_PARAMETERS,
    HEED_MODEL_SOURCE_VOCAB,
    HEED_MODEL_TARGET_VOCAB,
    HEED_MODEL_ENCODER_LAYERS,
    HEED_MODEL_DECODER_LAYERS,
    /* subwords of the longest source that it was trained for */
    HEED_MODEL_TRAINED_LENGTH,
    /* heads of each of its attentions, 1 where they are not divided; 0 without attention */
    HEED_MODEL_HEADS,
    /* layers that have an attention of this kind (enum heed_attention); 0 where none has */
    HEED_MODEL_CROSS_LAYERS,
    HEED_MODEL_ENCODER_SELF_LAYERS,
    HEED_MODEL_DECODER_SELF_LAYERS,
};

/* -1 for a NULL model or a number that there is not. */
HEED_API long long heed_model_size(const heed_model *model, enum heed_size size);

/* What the model reads: "text", "vectors" or "none". */
HEED_API const char *heed_model_source(const heed_model *model);

/* Does the model look at its source word by word? The oldest kind, of --score none, does not. */
HEED_API bool heed_model_has_attention(const heed_model *model);

/* ---- serving ------------------------------------------------------------------------------- */

/* A server: translations over HTTP, for programs that speak LibreTranslate's or DeepL's interface,
 * and a page for people (docs/howto/serving.md). It needs the module heed_serve.so.
 *
 *     heed_server *s = heed_server_new(&err);
 *     if (!s || !heed_server_set(s, "model", "en-fr.safetensors", &err) ||
 *         !heed_server_set(s, "port", "5000", &err) || !heed_server_run(s, NULL, NULL, &err))
 *         puts(err.message);
 *     heed_server_free(s); */
typedef struct heed_server heed_server;

/* To be given to heed_server_free(); NULL with HEED_NO_MEMORY. */
HEED_API heed_server *heed_server_new(heed_error *err);
HEED_API void heed_server_free(heed_server *server);

/* Set an option of `heed serve` by its name, before the server runs: ("port", "8080"),
 * ("beam", "1"). Lists (model, cors) get one more. False with the reason in `err`
 * (HEED_BAD_OPTION, HEED_NO_MEMORY). */
HEED_API bool heed_server_set(heed_server *server, const char *name, const char *value,
                              heed_error *err);

/* The options one by one; NULL when there are no more. Their values are set by
 * heed_server_set(). */
HEED_API const heed_option *heed_server_option_at(int i);

/* The bytes of a model file, for when no model is named; they stay the caller's and must outlive
 * the server. */
HEED_API void heed_server_inside(heed_server *server, const char *name, const void *data,
                                 size_t size);

/* What a server says. */
enum heed_server_news {
    /* text: the address of its page */
    HEED_SERVER_LISTENS,
    /* text: a sentence on what happened */
    HEED_SERVER_SAYS,
    /* text: a line about a request that was answered */
    HEED_SERVER_ANSWERED,
};

/* Serve until heed_server_stop(). say(context, news, text), which may be NULL, is called from
 * several threads, one at a time. False with the reason in `err` when it could not start:
 * HEED_BAD_FILE (the module, a model or the keys cannot be read; the port is taken),
 * HEED_BAD_OPTION, HEED_NO_MEMORY. */
HEED_API bool heed_server_run(heed_server *server,
                              void (*say)(void *context, enum heed_server_news news,
                                          const char *text),
                              void *context, heed_error *err);

/* Accept nothing more, answer what is under way, and end; asked a second time, end at once. And
 * read the models and keys again, without dropping a request; one that cannot be read leaves the
 * old ones in use. Both may be called from other threads and from signal handlers. */
HEED_API void heed_server_stop(heed_server *server);
HEED_API void heed_server_reload(heed_server *server);

/* ---- training ------------------------------------------------------------------------------ */

/* A training run: its options first, then heed_training_run().
 *
 *     heed_training *t = heed_training_new(&err);
 *     if (t && heed_training_set(t, "src", "train.en", &err) &&
 *         heed_training_set(t, "tgt", "train.fr", &err) &&
 *         heed_training_set(t, "out", "en-fr.safetensors", &err) &&
 *         heed_training_run(t, NULL, NULL, &err))
 *         puts("done");
 *     heed_training_free(t); */
typedef struct heed_training heed_training;

/* To be given to heed_training_free(); NULL without memory. */
HEED_API heed_training *heed_training_new(heed_error *err);
HEED_API void heed_training_free(heed_training *training);

/* Set an option of `heed train` by its name: ("src", "train.en"), ("dim", "256"). Lists (src, tgt,
 * freeze) get one more. False with the reason in `err` (HEED_BAD_OPTION, HEED_NO_MEMORY). */
HEED_API bool heed_training_set(heed_training *training, const char *name, const char *value,
                                heed_error *err);

/* Set the options that a file has as lines of `name = value`; # begins a comment. What was set
 * before the call wins. */
HEED_API bool heed_training_read(heed_training *training, const char *path, heed_error *err);

/* Has a flag ("quiet", "json") been set, by a file or otherwise? */
HEED_API bool heed_training_is_yes(const heed_training *training, const char *name);

/* The options one by one; NULL when there are no more. Their fields are the library's, so their
 * values are set by heed_training_set(). */
HEED_API const heed_option *heed_training_option_at(int i);

/* What an event tells. */
enum heed_training_news {
    /* text: a sentence on what was chosen or what happened */
    HEED_TRAINING_SAYS,
    /* text: what is being done before the first update or after the last; share of it, 0 if unknown */
    HEED_TRAINING_PREPARES,
    /* an update is done */
    HEED_TRAINING_LEARNED,
    /* validation begins; validation is done */
    HEED_TRAINING_VALIDATES,
    HEED_TRAINING_VALIDATED,
    /* the state is on the disk */
    HEED_TRAINING_SAVED,
    /* nothing: a moment to ask whether to go on */
    HEED_TRAINING_WAITS,
};

typedef struct heed_training_event {
    enum heed_training_news news;
    const char *text;
    /* the event as a line of MODEL.jsonl; NULL when it is not noted there */
    const char *json;
    double share;
    long update;
    /* passes over the text: 2.5 is the middle of the third */
    double epoch;
    /* mean of the updates since the last event of this kind that was noted in MODEL.jsonl */
    double loss;
    double rate, tokens_per_second;
    /* since this call began; left at this speed, below 0: unknown */
    double seconds, seconds_left;
    /* patience alone ends the run: seconds_left is right if nothing improves */
    bool is_least;
    /* of a validation; the last four are known if has_text */
    double ce, perplexity, bleu, chrf, exact, wer;
    bool has_text;
    bool is_best;
    /* name of the metric that decides, and its best value so far, if has_best */
    const char *metric;
    double best;
    bool has_best;
    long best_update;
    /* validations without improvement, and how many end the run; 0: none do */
    int n_stale, patience;
    /* of a validation of labels, if has_labels: accuracy and macro F1 in percent */
    double accuracy, f1;
    bool has_labels;
    /* of a validation of answers: exact and f1, in percent, are known */
    bool has_answers;
} heed_training_event;

/* Train: read the text, choose what was left open, learn until the end, and leave one model file. A
 * run that was interrupted is resumed. watch(context, event), which may be NULL, is told what
 * happens and stops the run by returning false: the state is then saved, and the function returns
 * false with HEED_CANCELLED and a sentence that says how to resume. The result is the same, bit for
 * bit, for any number of threads, any kernel, and however often the run was interrupted. */
HEED_API bool heed_training_run(heed_training *training,
                                bool (*watch)(void *context, const heed_training_event *event),
                                void *context, heed_error *err);

/* ---- features ------------------------------------------------------------------------------ */

/* Sound and pictures as vectors, the source of models that are trained with `--source vectors`: log-mel frames or
 * cepstra of sound (WAV, FLAC, Ogg), patches of pictures (PNG, JPEG). Settings first, then files, then one file of
 * vectors, which carries the settings; the vectors of a file are the same on every machine.
 *
 *     heed_features *f = heed_features_new(&err);
 *     if (f && heed_features_set(f, "mel", "40", &err) && heed_features_add(f, "hello.wav", &err) &&
 *         heed_features_write(f, "speech.safetensors", &err))
 *         puts("done");
 *     heed_features_free(f); */
typedef struct heed_features heed_features;

HEED_API heed_features *heed_features_new(heed_error *err);
HEED_API void heed_features_free(heed_features *features); /* NULL is fine */

/* Set an option of `heed features` by its name, before the first file is added; and the options one by one, NULL when
 * there are no more. */
HEED_API bool heed_features_set(heed_features *features, const char *name, const char *value,
                                heed_error *err);
HEED_API const heed_option *heed_features_option_at(int i);

/* Make vectors as those of another file, or as a model wants them: its settings, but for those that were set, its
 * principal components and deviations. */
HEED_API bool heed_features_like(heed_features *features, const char *path, heed_error *err);

/* Add a sound or a picture: one more item. HEED_BAD_FILE when it cannot be read. */
HEED_API bool heed_features_add(heed_features *features, const char *path, heed_error *err);

/* Write all items. Principal components (option "project") are learned here, unless they came from another file. */
HEED_API bool heed_features_write(heed_features *features, const char *path, heed_error *err);

/* Models that read vectors are given names instead of texts: of a sound or a picture its file, of a file of vectors
 * (.safetensors, .npz, .npy) FILE#1, FILE#2, … Is this a file of vectors, by its name? And the names of all its items, or of
 * the one that any other file is, to be given to heed_lines_release(). */
typedef struct heed_lines heed_lines;
HEED_API bool heed_is_vectors(const char *path);
HEED_API bool heed_vector_names(heed_lines *lines, const char *path, heed_error *err);

/* How many items, vectors of all of them, and numbers of a vector there are. */
enum heed_features_of { HEED_FEATURES_ITEMS, HEED_FEATURES_VECTORS, HEED_FEATURES_NUMBERS };
HEED_API long long heed_features_count(const heed_features *features, enum heed_features_of what);

/* ---- evaluation ---------------------------------------------------------------------------- */

/* Lines of a text file, plain or compressed by gzip; "-" is standard input. {0} is none. */
struct heed_lines {
    size_t n;
    /* without line ends */
    const char **at;
    /* the library's */
    void *memory;
};

/* Read a whole file. False with the reason in `err`: HEED_BAD_FILE, HEED_BAD_TEXT (a line that is
 * not UTF-8 or has a NUL in it, with its number; no line at all), HEED_NO_MEMORY. To be given to
 * heed_lines_release(), which leaves {0}. */
HEED_API bool heed_lines_read(heed_lines *lines, const char *path, heed_error *err);
HEED_API void heed_lines_release(heed_lines *lines);

/* What to compute; several are joined by |. */
enum heed_metric {
    HEED_METRIC_BLEU = 1,
    /* chrF2: runs of one to six characters */
    HEED_METRIC_CHRF = 2,
    /* chrF2++: words and pairs of words as well */
    HEED_METRIC_CHRFPP = 4,
    /* sentences whose words are all right */
    HEED_METRIC_EXACT = 8,
    /* word error rate */
    HEED_METRIC_WER = 16,
};

/* How BLEU cuts sentences into words; the rules and their names are sacreBLEU's. */
enum heed_tokeniser {
    /* western punctuation, as WMT does */
    HEED_TOK_13A,
    /* between spaces: for text that is cut already */
    HEED_TOK_NONE,
    /* every character */
    HEED_TOK_CHAR,
    /* punctuation and symbols of all scripts */
    HEED_TOK_INTL,
    /* every Chinese character; the rest as 13a */
    HEED_TOK_ZH,
};

/* How to evaluate. The first field says how large the struct is, so that later versions can add
 * fields: heed_eval_options o = {.size = sizeof o}; */
typedef struct heed_eval_options {
    size_t size;
    /* of enum heed_metric; 0: BLEU, chrF, exact and WER */
    unsigned metrics;
    /* of BLEU alone; default HEED_TOK_13A */
    enum heed_tokeniser tok;
    /* ignore case; default false */
    bool is_lowercase;
    /* for very short texts, where BLEU would be 0: leave out n-grams longer than every hypothesis;
     * default false */
    bool has_effective_order;
} heed_eval_options;

/* What there is to score, a hypothesis, and what it should be, its reference. */
typedef struct heed_pair {
    const char *hyp, *ref;
} heed_pair;

/* Scores of a whole text; what was not asked for is 0. */
typedef struct heed_evaluation {
    size_t n_sentences;
    /* 0 to 100; its precisions of one to four words in percent; 1 unless the hypotheses are shorter
     * than the references; hyp_len / ref_len, which count words as BLEU cuts them */
    double bleu;
    double bleu_precisions[4];
    double bleu_brevity_penalty;
    double bleu_ratio;
    size_t hyp_len, ref_len;
    /* 0 to 100 */
    double chrf, chrfpp;
    /* percent of sentences */
    double exact;
    /* wrong, missing and extra words per 100 words of the references */
    double wer;
    /* sentences without such a word; such words; words of the references, between spaces */
    size_t n_exact;
    size_t n_word_errors;
    size_t n_words;
    /* what a score was computed with, for the record, in sacreBLEU's words:
     * "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|heed:0.2.0" */
    char bleu_signature[96];
    char chrf_signature[96];
    char chrfpp_signature[96];
} heed_evaluation;

/* Score n hypotheses against their references. BLEU and chrF are sacreBLEU's, number for number,
 * and the same bits on every machine. `options` may be NULL.
 *
 * Returns an evaluation to be given to heed_evaluation_free(), or NULL with the reason in `err`
 * (HEED_BAD_TEXT: no sentences, or one that is not UTF-8; HEED_BAD_OPTION; HEED_NO_MEMORY).
 *
 *     const heed_pair pairs[] = {{.hyp = "the cat sat", .ref = "the cat sat down"}};
 *     heed_evaluation *e = heed_evaluate(pairs, 1, NULL, &err);
 *     printf("BLEU %.2f\n", e->bleu); */
HEED_API heed_evaluation *heed_evaluate(const heed_pair *pairs, size_t n,
                                        const heed_eval_options *options, heed_error *err);

/* The same for two files of one sentence a line, plain or compressed by gzip; "-" is standard
 * input. Further errors: HEED_BAD_FILE (missing, not readable), HEED_BAD_TEXT (different numbers
 * of lines). */
HEED_API heed_evaluation *heed_evaluate_files(const heed_pair *paths,
                                              const heed_eval_options *options, heed_error *err);

/* NULL is fine. */
HEED_API void heed_evaluation_free(heed_evaluation *evaluation);

/* How labels were found. */
typedef struct heed_confusion {
    size_t n, n_labels;
    /* all that occur on either side, in the order of their bytes */
    const char **labels;
    /* [n_labels × n_labels]: how often the label of the row was taken for that of the column */
    size_t *counts;
    /* percent of labels that are right; 100 times the mean, over the labels of the references, of F1 = 2 P R / (P + R) */
    double accuracy, macro_f1;
} heed_confusion;

/* Compare n labels that were found with those that are right. Returns a table to be given to heed_confusion_free(), or NULL with the
 * reason in `err` (HEED_BAD_TEXT: no labels, or more than 10,000 different ones; HEED_NO_MEMORY).
 *
 *     const heed_pair pairs[] = {{.hyp = "spam", .ref = "spam"}, {.hyp = "spam", .ref = "work"}};
 *     heed_confusion *c = heed_confusion_new(pairs, 2, &err);
 *     printf("%.1f %%\n", c->accuracy); */
HEED_API heed_confusion *heed_confusion_new(const heed_pair *pairs, size_t n, heed_error *err);

/* NULL is fine. */
HEED_API void heed_confusion_free(heed_confusion *confusion);

/* How answers were found. */
typedef struct heed_answer_scores {
    size_t n, n_exact;
    /* percent that are the same as the right one; 100 times the mean of F1 over their words */
    double exact, f1;
} heed_answer_scores;

/* Compare n answers that were found with those that are right, as the script of SQuAD does: small letters, without punctuation and the
 * words a, an and the. False with the reason in `err` (HEED_BAD_TEXT: no answers, or one that is not UTF-8; HEED_NO_MEMORY).
 *
 *     heed_answer_scores s;
 *     if (heed_score_answers(&(heed_pair){.hyp = "The cellar.", .ref = "cellar"}, 1, &s, &err))
 *         printf("%.0f %% exact\n", s.exact); */
HEED_API bool heed_score_answers(const heed_pair *pairs, size_t n, heed_answer_scores *scores,
                                 heed_error *err);

/* How sure a difference between systems is. */
typedef struct heed_comparison {
    enum heed_metric metric;
    /* the system's; 95 of 100 samples of the sentences lie between low and high */
    double score, low, high;
    /* to the first system */
    double difference, difference_low, difference_high;
    /* share of samples in which the difference has the opposite sign; 1 for the first system */
    double p;
} heed_comparison;

/* Compare systems that translated the same n sentences, each with the first, by paired bootstrap
 * (Koehn, 2004): n_samples times n sentences are drawn, with repetition, and all systems are
 * scored on them. systems[i] are pairs of the i-th system. Writes n_systems times as many
 * comparisons as there are metrics in `options`, those of the first system first, metrics in the
 * order of enum heed_metric. The same samples for the same seed everywhere. False with the reason
 * in `err`, as heed_evaluate(). */
HEED_API bool heed_compare(heed_comparison *comparisons, const heed_pair *const *systems,
                           int n_systems, size_t n, const heed_eval_options *options, int n_samples,
                           uint64_t seed, heed_error *err);

/* ---- option tables ------------------------------------------------------------------------- */

/* An option has a name, and its row in a table says what the value may be, what it is when nothing
 * is said, and which field of a struct it fills. A table ends with {0}. The library's own options
 * (such as heed_training_option_at) and those of programs are read by the same functions, with the
 * same errors: "beam must be a whole number from 1 to 1000, not 'x'".
 *
 *     struct settings { int beam; const char *model; };
 *     static const heed_option options[] = {
 *         {"beam", 'b', .kind = HEED_OPTION_INT, HEED_OPTION_FIELD(struct settings, beam),
 *          .least = 1, .most = 1000, .initial = "5", .value = "N", .help = "beam size"},
 *         {"model", 'm', .kind = HEED_OPTION_TEXT, HEED_OPTION_FIELD(struct settings, model),
 *          .value = "FILE", .help = "model to use"},
 *         {0}};
 *     struct settings s = {0};
 *     heed_option_defaults(options, &s, &err);
 *     heed_option_set_named(options, &s, "beam", "8", &err);
 *     heed_option_release(options, &s); */
enum heed_option_kind {
    /* bool; on a command line it takes no value, elsewhere "yes" or "no" */
    HEED_OPTION_FLAG,
    /* bool, or an int that is 1, 0 or -1 (open) */
    HEED_OPTION_YES_NO,
    /* int, from `least` to `most` */
    HEED_OPTION_INT,
    /* float or double, from `least` to `most`; told as the shortest text of a float */
    HEED_OPTION_FLOAT,
    /* int: which of `choices`, from 0 */
    HEED_OPTION_CHOICE,
    /* char *: a copy of the text; NULL is "none" */
    HEED_OPTION_TEXT,
    /* heed_option_list: setting it adds one more text */
    HEED_OPTION_LIST,
    /* an int count and as many different ints behind it, at most 64, typed as "0,3" or "none" */
    HEED_OPTION_NUMBERS,
};

enum heed_option_flag {
    /* The value is chosen later to fit the others unless it is given. Until then an int or float is
     * -1 and a text NULL. */
    HEED_OPTION_AUTO = 1,
    /* The lower end of a range does not belong to it. */
    HEED_OPTION_ABOVE = 2,
    /* Kept in the record of a trained model; a text must be UTF-8. */
    HEED_OPTION_RECORDED = 4,
    /* A training run that goes on must have the same value. */
    HEED_OPTION_FIXED = 8,
    /* Part of the model, not of how it is trained; of recurrent models or Transformers only. */
    HEED_OPTION_OF_MODEL = 16,
    HEED_OPTION_RECURRENT = 32,
    HEED_OPTION_TRANSFORMER = 64,
    /* A fact that follows from others, not something to choose. */
    HEED_OPTION_FACT = 128,
    /* Short for several other options; files do not have it. */
    HEED_OPTION_SHORTHAND = 256,
    /* For programs that use the library; command lines do not show it. */
    HEED_OPTION_PROGRAM = 512,
    /* Files have it only where it is not as it is when nothing is said. */
    HEED_OPTION_IF_SET = 1024,
    /* Of models with an encoder, with a decoder. */
    HEED_OPTION_ENCODER = 2048,
    HEED_OPTION_DECODER = 4096,
};

struct heed_option {
    /* lower case, words joined by dashes; underscores are taken as well */
    const char *name;
    /* one-letter form on a command line, or 0 */
    char letter;
    enum heed_option_kind kind;
    /* of enum heed_option_flag */
    unsigned flags;
    /* the field it fills: HEED_OPTION_FIELD() */
    size_t offset, size;
    /* numbers: the range, both ends included, both 0 for no limits. A choice: `most` is how many of
     * `choices` the field can hold, 0 for all; a setter makes something else of the others */
    double least, most;
    /* "rnn|gru|lstm" */
    const char *choices;
    /* value when nothing is said, as it would be typed; NULL: a field of zeros, or open */
    const char *initial;
    /* what help texts tell as the default instead of `initial` */
    const char *default_help;
    /* what help texts call the value: "N", "FILE"; NULL for choices, yes and no */
    const char *value;
    /* what the value must be, for errors: "none, power:X or gnmt:X"; NULL: said by the kind */
    const char *takes;
    /* heading in help texts; NULL: that of the row before */
    const char *group;
    /* what it does; a few words, no full stop */
    const char *help;
    /* Sets the fields from `text` where the kind alone does not say how; heed_option_refuse()
     * says no, heed_option_set_by_kind() does the usual. NULL: by the kind. */
    bool (*set)(const heed_option *option, void *values, const char *text, heed_error *err);
    /* Writes the value as it would be typed. NULL: by the kind. A row that has it owns no text: its
     * setter makes something else of it. */
    void (*print)(const heed_option *option, const void *values, char *text, size_t size);
};

#define HEED_OPTION_FIELD(type, member) \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Texts that were given one by one; {0} is none. */
typedef struct heed_option_list {
    char **at;
    size_t n, capacity;
} heed_option_list;

/* The row of this name, NULL when there is none. */
HEED_API const heed_option *heed_option_find(const heed_option *options, const char *name);

/* Fill a struct of zeros with what holds when nothing is said; false with HEED_NO_MEMORY. And give
 * back the texts and lists that it has come to own, which leaves NULL and {0} in their place. */
HEED_API bool heed_option_defaults(const heed_option *options, void *values, heed_error *err);
HEED_API void heed_option_release(const heed_option *options, void *values);

/* Set a field from text, by its row or by its name. False with the reason in `err`
 * (HEED_BAD_OPTION, HEED_NO_MEMORY); the field is then as it was. */
HEED_API bool heed_option_set(const heed_option *option, void *values, const char *text,
                              heed_error *err);
HEED_API bool heed_option_set_named(const heed_option *options, void *values, const char *name,
                                    const char *text, heed_error *err);

/* The value as it would be typed, in text[0..size) or where the field keeps it; "" when it is open,
 * none, or a list of several. */
HEED_API const char *heed_option_text(const heed_option *option, const void *values, char *text,
                                      size_t size);

/* For setters of rows. The usual, by the row's kind alone; and no: "NAME must be ..., not 'TEXT'",
 * with the nearest of the row's choices, which returns false. */
HEED_API bool heed_option_set_by_kind(const heed_option *option, void *values, const char *text,
                                      heed_error *err);
HEED_API bool heed_option_refuse(const heed_option *option, const char *text, heed_error *err);

/* Say that there is no option `name`, and which of names[0..n) may be meant; where none is near,
 * `advice` (which may be NULL) follows. Returns false. */
HEED_API bool heed_option_unknown(const char *name, const char *const *names, int n,
                                  const char *advice, heed_error *err);

/* ---- about this library -------------------------------------------------------------------- */

/* "0.2.0" of the library that is linked, which may be newer than the HEED_VERSION compiled
 * against. */
HEED_API const char *heed_version(void);

/* The compiler that built the library, e.g. "gcc 12.2.0". */
HEED_API const char *heed_compiler(void);

/* The arithmetic in use: "amx", "avx512vnni", "avx512bf16", "avx512", "avx2", "neon", "generic" or
 * "ref". The fastest that this CPU has, or the one named by the environment variable HEED_KERNEL;
 * all return the same bits. NULL with the reason in `err` (HEED_BAD_OPTION) when HEED_KERNEL names
 * one that does not exist or that this CPU cannot run. */
HEED_API const char *heed_kernel(heed_error *err);

/* Name of the i-th kernel this CPU can run, slowest first, or NULL when there are no more. */
HEED_API const char *heed_kernel_available(int i);

/* A sentence on arithmetic that this CPU has and that is not used because it does not keep to the
 * definition; NULL as a rule. */
HEED_API const char *heed_kernel_note(void);

/* How many cores this process may use, at least 1: the CPUs it may run on, or fewer if a
 * container's quota is smaller. */
HEED_API int heed_cores(void);

/* The one of names[0..n) that `word` is most likely a slip of, for "did you mean ...?"; NULL when
 * none is near. */
HEED_API const char *heed_nearest(const char *word, const char *const *names, int n);

#ifdef __cplusplus
}
#endif
#endif
