/* languages.c -- directions in a model's record, and which of its languages a text is in. */
#include "model/languages.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "text/detector.h"

#include <string.h>

/* ---- the record ------------------------------------------------------------------------------------------------------- */

/* Direction i that a record tells, however it does. */
static bool read_direction(const json_t *record, size_t i, struct hd_direction *direction)
{
    const json_t *several = json_object_get(record, "directions"),
                 *one = json_object_get(record, "languages");
    const char *name = json_is_array(several) ? json_string_value(json_array_get(several, i))
                       : i == 0               ? json_string_value(one)
                                              : NULL;
    if (name)
        return hd_direction_read(direction, (struct hd_text){name, strlen(name)});
    const char *from = json_string_value(json_array_get(one, 0)),
               *to = json_string_value(json_array_get(one, 1));
    return i == 0 && !json_is_array(several) && from && to &&
           hd_language_read(direction->from, (struct hd_text){from, strlen(from)}) &&
           hd_language_read(direction->to, (struct hd_text){to, strlen(to)});
}

bool hd_model_languages_init(struct hd_model_languages *l, const json_t *record, heed_error *err)
{
    *l = (struct hd_model_languages){0};
    const size_t listed = json_array_size(json_object_get(record, "directions")),
                 most = listed < 1 ? 1 : listed;
    l->directions = hd_alloc(most, sizeof *l->directions, err);
    l->text = hd_alloc(most, sizeof *l->directions + 2, err);
    if (!l->directions || !l->text) {
        hd_model_languages_release(l);
        return false;
    }
    char *at = l->text;
    while ((size_t)l->n < most && read_direction(record, (size_t)l->n, &l->directions[l->n])) {
        const struct hd_direction *d = &l->directions[l->n];
        at = stpcpy(stpcpy(stpcpy(stpcpy(at, l->n > 0 ? "," : ""), d->from), "-"), d->to);
        l->n++;
    }
    if (l->n == 0)
        hd_model_languages_release(l);
    return true;
}

void hd_model_languages_release(struct hd_model_languages *l)
{
    hd_free(l->directions);
    hd_free(l->text);
    *l = (struct hd_model_languages){0};
}

void hd_languages_to_record(json_t *record, const char *languages)
{
    const char *dash = strchr(languages, '-');
    json_t *list = json_array();
    const bool is_one = !strchr(languages, ',');
    if (is_one && dash) {
        json_array_append_new(list, json_stringn(languages, (size_t)(dash - languages)));
        json_array_append_new(list, json_string(dash + 1));
    }
    while (!is_one && *languages) {
        const size_t n = strcspn(languages, ",");
        json_array_append_new(list, json_stringn(languages, n));
        languages += n + (languages[n] == ',');
    }
    if (json_array_size(list) > 0)
        json_object_set(record, is_one ? "languages" : "directions", list);
    json_decref(list);
}

const struct hd_direction *hd_model_direction(const heed_model *m, int i)
{
    return i >= 0 && i < m->languages->n ? &m->languages->directions[i] : NULL;
}

const char *heed_model_languages(const heed_model *m)
{
    return m ? m->languages->text : NULL;
}

bool heed_model_direction(const heed_model *m, int i, const char **from, const char **to)
{
    const struct hd_direction *d = m ? hd_model_direction(m, i) : NULL;
    if (from)
        *from = d ? d->from : NULL;
    if (to)
        *to = d ? d->to : NULL;
    return d != NULL;
}

int hd_model_language_symbol(const heed_model *model, const char *to)
{
    return hd_vocab_language(model->source, to);
}

/* ---- detecting ---------------------------------------------------------------------------------------------------------- */

static bool translates_from(const heed_model *m, const char *from, const char *to)
{
    const struct hd_direction *d;
    for (int i = 0; (d = hd_model_direction(m, i)); i++)
        if (strcmp(d->from, from) == 0 && (!to || strcmp(d->to, to) == 0))
            return true;
    return false;
}

static bool has_several_sources(const heed_model *m)
{
    for (int i = 1; i < m->languages->n; i++)
        if (strcmp(hd_model_direction(m, i)->from, hd_model_direction(m, 0)->from) != 0)
            return true;
    return false;
}

/* The likeliest language of those that `fits` takes; `first` unless another one is rather sure. */
static const char *likeliest(const heed_model *m, const double *p, const char *first,
                             bool (*fits)(const heed_model *m, const char *language,
                                          const char *other),
                             const char *other)
{
    static const double RATHER_SURE = 1.5; /* times as likely as the first */
    const char *best = first;
    double most = 0;
    for (int i = 0; i < hd_detector_size(m->detector); i++) {
        const char *language = hd_detector_language(m->detector, i);
        const bool is_first = strcmp(language, first) == 0;
        const double likely = is_first ? p[i] * RATHER_SURE : p[i];
        if (likely > most && (is_first || fits(m, language, other))) {
            most = likely;
            best = is_first ? first : language;
        }
    }
    return best;
}

const char *hd_model_detect_source(const heed_model *m, const char *text, size_t n, const char *to,
                                   bool *is_target)
{
    static const double SURE = 0.97;
    const struct hd_direction *d = hd_model_direction(m, 0);
    *is_target = false;
    for (int i = 1; d && to && strcmp(d->to, to) != 0; i++)
        d = hd_model_direction(m, i);
    if (!d || !m->detector)
        return d ? d->from : NULL;
    double p[HD_MOST_LANGUAGES];
    hd_detect(m->detector, text, n, p);
    for (int i = 0; to && i < hd_detector_size(m->detector); i++)
        if (p[i] >= SURE && strcmp(hd_detector_language(m->detector, i), to) == 0)
            *is_target = true;
    return likeliest(m, p, d->from, translates_from, to);
}

static bool becomes(const heed_model *m, const char *to, const char *from)
{
    return translates_from(m, from, to);
}

const char *hd_model_detect_target(const heed_model *m, const char *text, size_t n,
                                   const char *from)
{
    const struct hd_direction *d = hd_model_direction(m, 0);
    for (int i = 1; d && strcmp(d->from, from) != 0; i++)
        d = hd_model_direction(m, i);
    if (!d || !m->detector)
        return d ? d->to : NULL;
    double p[HD_MOST_LANGUAGES];
    hd_detect(m->detector, text, n, p);
    return likeliest(m, p, d->to, becomes, from);
}

int heed_model_detect(const heed_model *m, const char *text, heed_guess *guesses, int most)
{
    double p[HD_MOST_LANGUAGES] = {1};
    const int n = !m || !text   ? 0
                  : m->detector ? hd_detector_size(m->detector)
                                : m->languages->n > 0 && !has_several_sources(m);
    if (n > 1)
        hd_detect(m->detector, text, strlen(text), p);
    for (int k = 0; guesses && k < n && k < most; k++) {
        int best = 0;
        for (int i = 1; i < n; i++)
            best = p[i] > p[best] ? i : best;
        guesses[k] = (heed_guess){m->detector ? hd_detector_language(m->detector, best)
                                              : hd_model_direction(m, 0)->from,
                                  p[best]};
        p[best] = -1;
    }
    return n;
}

/* ---- learning ------------------------------------------------------------------------------------------------------------- */

static bool set_detector(heed_model *m, const struct hd_detector_text *text, heed_error *err)
{
    struct hd_detector *detector = hd_detector_train(text, err);
    if (!detector)
        return false;
    hd_detector_free(m->detector);
    m->detector = detector;
    return true;
}

/* Languages, each once. */
struct names {
    const char *at[HD_MOST_LANGUAGES];
    int n;
};

/* The number of a language, new or not; -1 where there are too many. */
static int number_of(struct names *names, const char *language)
{
    int i = 0;
    while (i < names->n && strcmp(names->at[i], language) != 0)
        i++;
    if (i == names->n && i < HD_MOST_LANGUAGES)
        names->at[names->n++] = language;
    return i < HD_MOST_LANGUAGES ? i : -1;
}

struct corpus_text {
    const struct hd_corpus *corpus;
    struct names names;
};

/* Sources and targets in turn. */
static struct hd_text corpus_line(void *context, size_t i, int *language)
{
    struct corpus_text *t = context;
    const struct hd_text_pair pair = hd_corpus_pair(t->corpus, i / 2);
    const struct hd_direction *d = hd_corpus_direction(t->corpus, pair.direction);
    *language = number_of(&t->names, i % 2 == 0 ? d->from : d->to);
    return i % 2 == 0 ? (struct hd_text){pair.source, pair.n_source}
                      : (struct hd_text){pair.target, pair.n_target};
}

bool hd_model_learn_from_corpus(heed_model *m, const struct hd_corpus *corpus, heed_error *err)
{
    struct corpus_text t = {.corpus = corpus};
    const int n = hd_corpus_n_directions(corpus);
    bool has_several = false, fits = true;
    for (int i = 0; i < n; i++) {
        const struct hd_direction *d = hd_corpus_direction(corpus, i);
        has_several = has_several || strcmp(d->from, hd_corpus_direction(corpus, 0)->from) != 0;
        fits = fits && number_of(&t.names, d->from) >= 0 && number_of(&t.names, d->to) >= 0;
    }
    return !has_several || !fits ||
           set_detector(m,
                        &(struct hd_detector_text){t.names.at, t.names.n,
                                                   2 * hd_corpus_size(corpus), corpus_line, &t},
                        err);
}

struct files_text {
    struct hd_lines *files;
    int *languages; /* of the files */
    size_t n;
};

static struct hd_text files_line(void *context, size_t i, int *language)
{
    const struct files_text *t = context;
    size_t f = 0;
    for (; i >= t->files[f].n; f++)
        i -= t->files[f].n;
    *language = t->languages[f];
    return t->files[f].at[i];
}

static bool learn_from_files(heed_model *m, const heed_language_text *texts, struct files_text *t,
                             heed_error *err)
{
    struct names names = {0};
    size_t n_lines = 0;
    for (size_t i = 0; i < t->n; i++) {
        char name[HD_LANGUAGE_SIZE];
        if (!texts[i].language || !texts[i].path ||
            !hd_language_read(name, (struct hd_text){texts[i].language, strlen(texts[i].language)}))
            return hd_fail(err, HEED_BAD_OPTION, "%s is no name of a language; write it as en",
                           hd_quote(texts[i].language ? texts[i].language : "").text);
        t->languages[i] = number_of(&names, texts[i].language);
        if (t->languages[i] < 0)
            return hd_fail(err, HEED_BAD_OPTION, "there are more than %d languages",
                           HD_MOST_LANGUAGES);
        if (!hd_lines_read(&t->files[i], texts[i].path, err))
            return false;
        n_lines += t->files[i].n;
    }
    const struct hd_direction *d;
    for (int i = 0; (d = hd_model_direction(m, i)); i++) {
        const int n = names.n;
        if (number_of(&names, d->from) >= n)
            return hd_fail(err, HEED_BAD_OPTION,
                           "the model translates from %s, and there is no text of it to know it by",
                           d->from);
    }
    return set_detector(m, &(struct hd_detector_text){names.at, names.n, n_lines, files_line, t},
                        err);
}

bool heed_model_learn_detector(heed_model *m, const heed_language_text *texts, size_t n,
                               heed_error *err)
{
    if (!hd_is_given(m, "model", err) || !hd_is_given(texts, "list of texts", err))
        return false;
    struct files_text t = {hd_alloc(n, sizeof *t.files, err), hd_alloc(n, sizeof *t.languages, err),
                           n};
    const bool ok = t.files && t.languages && learn_from_files(m, texts, &t, err);
    for (size_t i = 0; t.files && i < n; i++)
        hd_lines_release(&t.files[i]);
    hd_free(t.files);
    hd_free(t.languages);
    return ok;
}
