/* detector.h -- which of a few languages a text is in.
 *
 * A text's features are the pieces of its words: runs of one to four letters, ends of words included, and whole words, in lower
 * case. Each is hashed to a row of weights, one for each language, and the sums decide (multinomial logistic regression; Joulin et
 * al., 2017, classify text in this way). It is learned from the text of a model, so it knows the model's languages and no others, and
 * it learns from single words and short phrases as much as from sentences, since these are what people type. */
#ifndef HD_TEXT_DETECTOR_H
#define HD_TEXT_DETECTOR_H

#include "text/lines.h"

#include <stdint.h>

enum { HD_MOST_LANGUAGES = 64 };

struct hd_detector;

/* Text to learn from, line by line. */
struct hd_detector_text {
    const char *const *languages;
    int n_languages;
    size_t n_lines;
    /* line i and the number of its language */
    struct hd_text (*line)(void *context, size_t i, int *language);
    void *context;
};

/* The same text, the same detector, bit for bit. NULL with the reason in `err`: HEED_BAD_TEXT for a language without text,
 * HEED_BAD_OPTION for other than 2 to HD_MOST_LANGUAGES languages, HEED_NO_MEMORY. */
struct hd_detector *hd_detector_train(const struct hd_detector_text *text, heed_error *err);

/* As bytes, which belong to the detector, and from them; whatever they are. */
const void *hd_detector_bytes(const struct hd_detector *detector, size_t *size);
struct hd_detector *hd_detector_from_memory(const void *bytes, size_t size, heed_error *err);

/* NULL is fine. */
void hd_detector_free(struct hd_detector *detector);

int hd_detector_size(const struct hd_detector *detector);
const char *hd_detector_language(const struct hd_detector *detector, int i);

/* How likely text[0..n) is of each language, as far as its words tell; of a text without letters all are equally likely. */
void hd_detect(const struct hd_detector *detector, const char *text, size_t n,
               double probability[HD_MOST_LANGUAGES]);

/* ---- for learning (detector_train.c) -------------------------------------------------------------------------------- */

enum { HD_DETECTOR_ROWS = 1 << 15 };

/* Calls add(context, row) for each feature of the text, with which row of weights it has. */
void hd_detector_features(const char *text, size_t n, void (*add)(void *context, uint32_t row),
                          void *context);

/* A detector of these weights, [HD_DETECTOR_ROWS][n]. */
struct hd_detector *hd_detector_of(const char *const *languages, int n, const float *weights,
                                   heed_error *err);
#endif
