/* job.c -- what is asked of texts, and whether these models can do it. */
#include "translate/job.h"

#include "base/error.h"
#include "base/memory.h"
#include "translate/required.h"

#include <stdlib.h>
#include <string.h>

enum { LOOP_NGRAM = 3, MOST_ROWS = 1 << 20 };

/* ---- the models ---------------------------------------------------------------------------------- */

static bool same_vocab(const struct hd_vocab *a, const struct hd_vocab *b)
{
    size_t n_a, n_b;
    const void *bytes_a = hd_vocab_bytes(a, &n_a), *bytes_b = hd_vocab_bytes(b, &n_b);
    return a == b || (hd_vocab_kind(a) == hd_vocab_kind(b) && n_a == n_b &&
                      memcmp(bytes_a, bytes_b, n_a) == 0);
}

/* The record may say; else attention is read at the step that makes a word (AER of two models that Marian trained, by links
 * that people made: 67.9 and 72.6 %, against 87.7 and 92.3 % at the next step). */
static int own_shift(const heed_model *m)
{
    const json_t *told = json_object_get(m->record, "alignment_shift");
    return json_is_integer(told) && json_integer_value(told) != 0;
}

/* "en" of "languages": ["en", "fr"]. */
static const char *source_language(const heed_model *m)
{
    return json_string_value(json_array_get(json_object_get(m->record, "languages"), 0));
}

/* Fitted by tools/fit_confidence.py to translations of 1,000 held-out sentences by two models that Marian trained (English to
 * German): on 1,000 others of the same two, confidence was off by 2.5 % on average. A model's record may have its own. */
static void set_confidence(double constants[2], const heed_model *m)
{
    constants[0] = 0.279;
    constants[1] = 0.664;
    const json_t *told = json_object_get(m->record, "confidence");
    for (size_t i = 0; i < 2 && json_array_size(told) == 2; i++)
        if (json_is_number(json_array_get(told, i)))
            constants[i] = json_number_value(json_array_get(told, i));
}

/* Does a model know placeholders? */
static void find_placeholders(struct hd_ensemble *e)
{
    e->has_placeholders = true;
    for (int k = 0; k < HD_N_PLACEHOLDERS; k++) {
        e->source_placeholders[k] = hd_vocab_find(e->source, hd_placeholder(k));
        e->target_placeholders[k] = hd_vocab_find(e->target, hd_placeholder(k));
        e->has_placeholders =
            e->has_placeholders && e->source_placeholders[k] >= 0 && e->target_placeholders[k] >= 0;
    }
}

static bool add_model(struct hd_ensemble *e, const heed_model *m, heed_error *err)
{
    if (!m)
        return hd_fail(err, HEED_BAD_OPTION, "model %d of a translator is NULL", e->n + 1);
    const size_t length = (size_t)heed_model_size(m, HEED_MODEL_TRAINED_LENGTH);
    if (e->n == 0) {
        e->source = m->source;
        e->target = m->target;
        e->trained_length = length;
        e->has_attention = true;
        e->shift = own_shift(m);
        e->source_language = source_language(m);
        e->is_of_documents = json_is_true(json_object_get(m->record, "documents"));
        set_confidence(e->confidence, m);
        find_placeholders(e);
    }
    if (!same_vocab(m->source, e->source) || !same_vocab(m->target, e->target))
        return hd_fail(err, HEED_BAD_OPTION,
                       "model %d has another vocabulary than the first; models that translate "
                       "together share theirs",
                       e->n + 1);
    e->trained_length = length < e->trained_length ? length : e->trained_length;
    e->has_attention = e->has_attention && heed_model_has_attention(m);
    e->models[e->n] = m;
    e->nets[e->n++] = m->net;
    return true;
}

bool hd_ensemble_init(struct hd_ensemble *e, const heed_model *const *models, int n_models,
                      heed_error *err)
{
    *e = (struct hd_ensemble){0};
    if (!models || n_models < 1)
        return hd_fail(err, HEED_BAD_OPTION, "there is no model to translate with; name one");
    e->models = hd_alloc((size_t)n_models, sizeof *e->models, err);
    e->nets = hd_alloc((size_t)n_models, sizeof *e->nets, err);
    e->converted = hd_alloc((size_t)n_models, sizeof *e->converted, err);
    if (!e->models || !e->nets || !e->converted)
        return false;
    for (int i = 0; i < n_models; i++)
        if (!add_model(e, models[i], err))
            return false;
    if (hd_vocab_end(e->target) < 0)
        return hd_fail(err, HEED_BAD_MODEL,
                       "the model's target vocabulary has no end marker, so no output would end");
    return true;
}

bool hd_ensemble_compute(struct hd_ensemble *e, enum hd_compute compute, heed_error *err)
{
    struct hd_net **converted = hd_alloc((size_t)e->n, sizeof *converted, err);
    bool ok = converted != NULL;
    for (int i = 0; ok && i < e->n; i++)
        if (!hd_net_computes(e->models[i]->net, compute))
            ok = (converted[i] = hd_net_as(e->models[i]->net, compute, err)) != NULL;
    struct hd_net **unused = ok ? e->converted : converted;
    for (int i = 0; unused && i < e->n; i++)
        hd_net_free(unused[i]);
    hd_free(unused);
    e->converted = ok ? converted : e->converted;
    for (int i = 0; ok && i < e->n; i++)
        e->nets[i] = converted[i] ? converted[i] : e->models[i]->net;
    return ok;
}

void hd_ensemble_release(struct hd_ensemble *e)
{
    for (int i = 0; e->converted && i < e->n; i++)
        hd_net_free(e->converted[i]);
    hd_free(e->converted);
    hd_free(e->models);
    hd_free(e->nets);
    *e = (struct hd_ensemble){0};
}

/* ---- what is asked of them ------------------------------------------------------------------------- */

static bool check_attention(const struct hd_ensemble *e, const heed_options *o, heed_error *err)
{
    static const enum heed_size layers_of[] = {
        [HEED_ATTENTION_NONE] = HEED_MODEL_CROSS_LAYERS,
        [HEED_ATTENTION_CROSS] = HEED_MODEL_CROSS_LAYERS,
        [HEED_ATTENTION_ENCODER] = HEED_MODEL_ENCODER_SELF_LAYERS,
        [HEED_ATTENTION_DECODER] = HEED_MODEL_DECODER_SELF_LAYERS};
    for (int i = 0; i < e->n; i++) {
        const long long n_layers = heed_model_size(e->models[i], layers_of[o->attention]);
        if (n_layers == 0 && o->attention > HEED_ATTENTION_CROSS)
            return hd_fail(err, HEED_BAD_OPTION,
                           "the model has no self-attention; only a Transformer has");
        if (n_layers > 0 &&
            (o->layer > n_layers || o->head >= heed_model_size(e->models[i], HEED_MODEL_HEADS)))
            return hd_fail(err, HEED_BAD_OPTION, "the model has no attention of layer %d, head %d",
                           o->layer, o->head);
    }
    return true;
}

static struct hd_search_options search_options(const heed_options *o)
{
    struct hd_search_options s = hd_search_options_default();
    s.n_best = o->n_best;
    s.beam = o->is_sampled || o->beam > o->n_best ? o->beam : o->n_best;
    s.norm = (enum hd_length_norm)o->norm;
    s.alpha = o->alpha;
    s.coverage_penalty = o->coverage_penalty;
    s.no_repeat = o->no_repeat;
    s.is_sampled = o->is_sampled;
    s.top_k = o->top_k;
    s.top_p = o->top_p;
    s.temperature = o->temperature;
    s.seed = (uint64_t)o->seed;
    const long rows = (long)o->batch * (o->is_sampled ? o->n_best : s.beam);
    s.n_rows = rows < MOST_ROWS ? (int)rows : MOST_ROWS;
    if (o->attention <= HEED_ATTENTION_CROSS) { /* self-attention is read afterwards */
        s.layer = o->layer;
        s.head = o->head;
    }
    return s;
}

bool hd_job_init(struct hd_job *job, const struct hd_ensemble *e, const heed_options *o,
                 bool is_forced, heed_error *err)
{
    const bool looks = o->replaces_unknown || o->coverage_penalty > 0;
    *job = (struct hd_job){.ensemble = e, .options = *o, .is_forced = is_forced};
    if (looks && !e->has_attention)
        return hd_fail(err, HEED_BAD_OPTION,
                       "the model has no attention, so neither replace-unknown nor "
                       "coverage-penalty can be used");
    if (!check_attention(e, o, err))
        return false;
    if (o->keep.n > 0 && o->protects && !is_forced) {
        job->keep = hd_keep_new((const char *const *)o->keep.at, o->keep.n, NULL, 0, err);
        if (!job->keep)
            return false;
    }
    if (o->markup != HD_MARKUP_NONE && !is_forced && !(job->markup = hd_markup_open(err)))
        return false;
    if (o->terms && o->is_sampled)
        return hd_fail(err, HEED_BAD_OPTION,
                       "terms of a glossary are searched for, not drawn; use either glossary or "
                       "sample");
    if (o->terms && !is_forced && !(job->id_flags = hd_id_flags(e->target, err)))
        return false;
    job->most = o->max_source > 0 ? (size_t)o->max_source : e->trained_length;
    job->cuts_sentences = o->split == HD_SPLIT_AUTO && !e->is_of_documents;
    job->shift = o->shift > 0 ? o->shift - 1 : e->shift;
    job->has_attention = o->attention != HEED_ATTENTION_NONE && e->has_attention;
    struct hd_search_options s = search_options(o);
    s.wants_attention =
        job->has_attention || o->replaces_unknown || (job->markup && e->has_attention);
    job->has_scores = o->has_scores || is_forced || s.is_sampled || s.beam > 1;
    job->is_tried_again = !is_forced && !s.is_sampled && s.no_repeat == 0;
    for (int i = 0; i < HD_SEARCH_ROUNDS; i++)
        job->search[i] = s;
    job->search[HD_SEARCH_NO_REPEAT].no_repeat = LOOP_NGRAM;
    return true;
}

void hd_job_release(struct hd_job *job)
{
    hd_keep_free(job->keep);
    hd_free(job->id_flags);
    job->id_flags = NULL;
    job->keep = NULL;
}

bool hd_job_needs_words_alone(const struct hd_job *job)
{
    return !job->has_scores && job->ensemble->n == 1 && job->options.no_repeat == 0;
}

struct hd_search_input hd_segment_input(const struct hd_segment *segment)
{
    const struct hd_line *line = segment->line;
    const uint64_t index = (uint64_t)(segment - line->segments);
    return (struct hd_search_input){
        .source = {segment->ids, segment->n_ids},
        .prefix = {segment->prefix.at, (int)segment->prefix.n},
        .terms = hd_segment_terms(segment),
        .max_length = hd_longest_output(segment->n_ids, line->job->options.max_length),
        .number = line->number << 20 | (index & 0xFFFFF)};
}
