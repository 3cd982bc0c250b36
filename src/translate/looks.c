/* looks.c -- "2:0,5:3:0.7,5:4:0.3" as rows of weights: at step 2 all on subword 0, at step 5 on two. */
#include "translate/looks.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "option/option.h"

#include <string.h>

enum { MOST_LOOKS = 64 };

struct hd_segment_looks {
    struct hd_look at[MOST_LOOKS];
    int n;
    float *alpha; /* [MOST_LOOKS, n_source] */
};

/* The next number of text, behind which ':' or ',' or the end stands; false where there is none. */
static bool next_number(const char **text, double *x)
{
    char number[32];
    const size_t n = strcspn(*text, ":,");
    if (n == 0 || n >= sizeof number)
        return false;
    memcpy(number, *text, n);
    number[n] = '\0';
    *text += n;
    return hd_option_read_number(number, x);
}

/* One "STEP:SUBWORD[:WEIGHT]"; a weight of 1 where none is told. */
static bool read_look(const char **text, double *step, double *word, double *weight)
{
    *weight = 1;
    if (!next_number(text, step) || **text != ':')
        return false;
    (*text)++;
    if (!next_number(text, word))
        return false;
    if (**text == ':') {
        (*text)++;
        if (!next_number(text, weight))
            return false;
    }
    return *step >= 0 && *step == (double)(int)*step && *word >= 0 && *word == (double)(int)*word &&
           *weight > 0 && *weight < 1e6;
}

/* The row of a step, new or not; NULL where there are too many. */
static float *row_of(struct hd_segment_looks *looks, int step, int n_source)
{
    int i = 0;
    while (i < looks->n && looks->at[i].step != step)
        i++;
    if (i == MOST_LOOKS)
        return NULL;
    float *row = looks->alpha + (size_t)i * (size_t)n_source;
    if (i == looks->n)
        looks->at[looks->n++] = (struct hd_look){step, row};
    return row;
}

static bool read_looks(struct hd_segment_looks *looks, const char *text, int n_source,
                       heed_error *err)
{
    const char *at = text;
    for (double step, word, weight; *at; at += *at == ',') {
        if (!read_look(&at, &step, &word, &weight))
            return hd_fail(err, HEED_BAD_OPTION,
                           "force must be STEP:SUBWORD or STEP:SUBWORD:WEIGHT, numbers from 0, "
                           "several of them with commas between, not %s",
                           hd_quote(text).text);
        if (word >= n_source)
            return hd_fail(err, HEED_BAD_OPTION,
                           "force: the source has %d subwords, and no subword %d, counted from 0",
                           n_source, (int)word);
        float *row = row_of(looks, (int)step, n_source);
        if (!row)
            return hd_fail(err, HEED_BAD_OPTION, "force: there are more than %d steps", MOST_LOOKS);
        row[(int)word] = (float)weight;
    }
    for (int i = 0; i < looks->n; i++) {
        float *row = looks->alpha + (size_t)i * (size_t)n_source, sum = 0;
        for (int j = 0; j < n_source; j++)
            sum = sum + row[j];
        for (int j = 0; j < n_source; j++)
            row[j] = row[j] / sum;
    }
    return true;
}

bool hd_line_look(struct hd_line *line)
{
    const char *force = line->job->options.force;
    if (!force || !*force)
        return true;
    struct hd_segment *segment = line->n_segments == 1 ? &line->segments[0] : NULL;
    if (!segment || segment->passes)
        return hd_fail(&line->err, HEED_BAD_OPTION,
                       "attention can be forced for a text of one sentence, and this has %zu",
                       segment ? (size_t)0 : line->n_segments);
    if (!line->job->ensemble->has_attention)
        return hd_fail(&line->err, HEED_BAD_OPTION,
                       "the model has no attention, so none can be forced");
    struct hd_segment_looks *looks = hd_new(struct hd_segment_looks, &line->err);
    if (!looks)
        return false;
    segment->looks = looks;
    looks->alpha =
        hd_alloc((size_t)MOST_LOOKS * (size_t)segment->n_ids, sizeof *looks->alpha, &line->err);
    return looks->alpha && read_looks(looks, force, segment->n_ids, &line->err);
}

const struct hd_look *hd_segment_looks(const struct hd_segment *segment, int *n)
{
    *n = segment->looks ? segment->looks->n : 0;
    return segment->looks ? segment->looks->at : NULL;
}

void hd_segment_looks_free(struct hd_segment_looks *looks)
{
    if (looks)
        hd_free(looks->alpha);
    hd_free(looks);
}
