/* job.h -- texts on their way through the room: cut into segments (prepare.c), searched in groups (translate.c), put together
 * (assemble.c).
 *
 * A segment is what the search sees: a text, or a sentence of a text that was too long. All a text becomes belongs to its line,
 * so lines can be prepared and put together by different threads. */
#ifndef HD_TRANSLATE_JOB_H
#define HD_TRANSLATE_JOB_H

#include "model/model_file.h"
#include "search/search.h"
#include "translate/words.h"

struct hd_segment {
    struct hd_span span;       /* in the line, white space around it left out */
    struct hd_encoding source; /* places are in the line */
    int *ids;                  /* the source's, with the end marker where its vocabulary has one */
    int n_ids;
    struct hd_ids prefix;   /* how the output begins; when forced, all of it */
    bool passes;            /* nothing in it can be translated: it stays as it is */
    bool is_searched_again; /* the first search went round in circles */
    struct hd_nbest found;
};

struct hd_line {
    const char *target; /* when forced: the output; NULL when searched */
    size_t n_target;
    struct hd_encoding target_placed;
    size_t n_source, n_text; /* bytes of result->source; of what is between white space */
    size_t begin;            /* of that */
    bool is_skipped;         /* forced, but too long to be looked at */
    struct hd_segment *segments;
    size_t n_segments;
    heed_result *result;
    heed_error err;
};

struct hd_job {
    const heed_model *const *models;
    int n_models;
    const heed_options *options;
    const struct hd_vocab *source, *target;
    size_t most; /* subwords of a source */
    int shift;
    bool is_forced, has_attention;
    bool has_scores; /* results have log-probabilities and confidence */
    double confidence
        [2]; /* that a word is right: σ(confidence[0] + confidence[1] · log(p / (1 - p))) */
};

/* Texts that the library owns. Memory that belongs to a result, zeroed; freed with it. NULL without memory. */
void *hd_result_keep(heed_result *result, size_t count, size_t size, heed_error *err);
void hd_result_release(heed_result *result);

/* A sentence that warns. Without memory it is not there. */
void hd_result_warn(heed_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Make the line's segments. False with the reason in line->err. */
bool hd_line_prepare(const struct hd_job *job, struct hd_line *line, const char *text,
                     const char *other);
void hd_line_release(struct hd_line *line);

/* Make the line's result of its segments and what was found. */
bool hd_line_assemble(const struct hd_job *job, struct hd_line *line);
#endif
