/* job.c -- what is asked of texts, and whether these models can do it. */
#include "translate/job.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "model/fields.h"
#include "model/languages.h"
#include "option/option.h"
#include "text/html_tag.h"
#include "translate/looks.h"
#include "translate/reading.h"
#include "translate/recall.h"
#include "translate/required.h"
#include "translate/shelf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LOOP_NGRAM = 3,
    MOST_ROWS = 1 << 20,
    MOST_PART = 48, /* subwords of the parts of a sentence that is too long (split.c) */
};

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

/* Number i of "0.3,0.7,..."; false where there is none. */
static bool number_at(const char *list, int i, double *x)
{
    char text[32];
    for (; list && i > 0; i--)
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    const size_t n = list ? strcspn(list, ",") : 0;
    if (n == 0 || n >= sizeof text)
        return false;
    memcpy(text, list, n);
    text[n] = '\0';
    return hd_option_read_number(text, x);
}

/* Words: fitted to translations of 1,000 held-out sentences by two models that Marian trained (English to German): on 1,000 others of the
 * same two, confidence was off by 2.5 % on average. Translations: fitted to 2,400 of two models, one good and one that has hardly begun to
 * learn, half of them of the domain (Tatoeba) and half not (Multi30k), to tell whether chrF is 30 at least. A model's record may have its own,
 * two numbers in a list or all six in a text. */
static void set_confidence(struct hd_confidence *c, const heed_model *m)
{
    double all[HD_N_CONFIDENCE] = {0.279, 0.664, -3.097, 9.81, 0.917, 3.498}, own[HD_N_CONFIDENCE];
    const json_t *told = json_object_get(m->record, "confidence");
    for (size_t i = 0; i < 2 && json_array_size(told) == 2; i++)
        if (json_is_number(json_array_get(told, i)))
            all[i] = json_number_value(json_array_get(told, i));
    int n = 0;
    while (n < HD_N_CONFIDENCE && number_at(json_string_value(told), n, &own[n]))
        n++;
    if (n == HD_N_CONFIDENCE)
        memcpy(all, own, sizeof all);
    memcpy(c->word, all, sizeof c->word);
    memcpy(c->sentence, all + 2, sizeof c->sentence);
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

/* Text of a natural language is cut into subwords. It is cased if its vocabulary has a piece of letters of both kinds: "▁The". */
static void look_at_text(struct hd_ensemble *e)
{
    e->is_natural = hd_vocab_spm(e->source) != NULL;
    for (int id = 0; e->is_natural && !e->is_cased && id < hd_vocab_size(e->source); id++) {
        const char *piece = hd_vocab_piece(e->source, id);
        bool has_upper = false, has_lower = false;
        for (size_t i = 0, n = strlen(piece), length; i < n && piece[0] != '<'; i += length) {
            const uint32_t cp = hd_char_at(piece, n, i, &length);
            has_upper = has_upper || hd_char_is_upper(cp);
            has_lower = has_lower || hd_char_is_lower(cp);
        }
        e->is_cased = has_upper && has_lower;
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
        e->task = (enum hd_task)m->net->config.task;
        e->has_attention = true;
        e->shift = own_shift(m);
        e->is_of_documents = json_is_true(json_object_get(m->record, "documents"));
        set_confidence(&e->confidence, m);
        e->reads_vectors = m->net->config.source == HD_SOURCE_VECTORS;
        find_placeholders(e);
        look_at_text(e);
    }
    if ((m->net->config.source == HD_SOURCE_VECTORS) != e->reads_vectors)
        return hd_fail(err, HEED_BAD_OPTION, "model %d reads another kind of source than the first",
                       e->n + 1);
    if ((int)e->task != m->net->config.task)
        return hd_fail(err, HEED_BAD_OPTION,
                       "model %d is of task %s, but the first is of task %s; models that work "
                       "together do the same",
                       e->n + 1, hd_config_choice("task", m->net->config.task).text,
                       hd_config_choice("task", (int)e->task).text);
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
    e->shelf = hd_shelf_new(err);
    e->recall = hd_recall_new(err);
    if (!e->models || !e->nets || !e->converted || !e->shelf || !e->recall)
        return false;
    for (int i = 0; i < n_models; i++)
        if (!add_model(e, models[i], err))
            return false;
    if (hd_vocab_end(e->target) < 0 && e->task != HD_TASK_LABEL && e->task != HD_TASK_SPAN)
        return hd_fail(err, HEED_BAD_MODEL,
                       "the model's target vocabulary has no end marker, so no output would end");
    e->id_flags = hd_id_flags(e->target, err);
    return e->id_flags != NULL;
}

bool hd_ensemble_fuse(struct hd_ensemble *e, const heed_model *lm, float weight, heed_error *err)
{
    if (lm && lm->net->config.task != HD_TASK_LANGUAGE_MODEL)
        return hd_fail(err, HEED_BAD_OPTION,
                       "lm wants a language model, but this one is of task %s",
                       hd_config_choice("task", lm->net->config.task).text);
    if (lm && (e->task == HD_TASK_LABEL || e->task == HD_TASK_SPAN))
        return hd_fail(err, HEED_BAD_OPTION, "the model gives no words, so lm is of no use to it");
    if (lm && !same_vocab(lm->target, e->target))
        return hd_fail(err, HEED_BAD_OPTION,
                       "the language model has another vocabulary than the model has on its target "
                       "side; train it with --vocab-from MODEL");
    e->lm = lm;
    e->lm_weight = weight;
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
    hd_shelf_free(e->shelf);
    hd_recall_free(e->recall);
    hd_free(e->converted);
    hd_free(e->models);
    hd_free(e->nets);
    hd_free(e->id_flags);
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
        if (n_layers == 0 && o->attention == HEED_ATTENTION_DECODER &&
            heed_model_size(e->models[i], HEED_MODEL_ENCODER_SELF_LAYERS) > 0)
            return hd_fail(
                err, HEED_BAD_OPTION,
                "the model's decoder has a recurrent unit (decoder ssru) in the place of "
                "self-attention; choose attention encoder or cross");
        if (n_layers == 0 && o->attention > HEED_ATTENTION_CROSS)
            return hd_fail(err, HEED_BAD_OPTION,
                           "the model has no self-attention; only a Transformer has");
        const long long n_heads = heed_model_size(e->models[i], HEED_MODEL_HEADS);
        if (n_layers == 0 && (o->layer > 0 || o->head >= 0))
            return hd_fail(err, HEED_BAD_OPTION,
                           "the model has no attention, so there is no layer or head to choose");
        if (o->layer > n_layers && n_layers > 0)
            return hd_fail(err, HEED_BAD_OPTION,
                           "layer must be a whole number from 1 to %lld with this model, not %d",
                           n_layers, o->layer);
        if (o->head >= n_heads && n_layers > 0)
            return hd_fail(err, HEED_BAD_OPTION,
                           "head must be a whole number from 0 to %lld with this model, or mean, "
                           "not %d",
                           n_heads - 1, o->head);
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
    s.ctc_weight = o->ctc_weight;
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

/* The model's own name of a language, whatever letters it was typed in; NULL where it has none of this name. */
static const char *language_of(const heed_model *m, const char *name, bool is_target)
{
    const struct hd_direction *d;
    for (int i = 0; (d = hd_model_direction(m, i)); i++)
        if (strcasecmp(is_target ? d->to : d->from, name) == 0)
            return is_target ? d->to : d->from;
    return NULL;
}

static bool set_languages(struct hd_job *job, const heed_options *o, heed_error *err)
{
    const heed_model *m = job->ensemble->models[0];
    const char *all = heed_model_languages(m);
    const char *to = o->to && *o->to ? o->to : NULL; /* "" is none again */
    const bool is_told = o->from && strcmp(o->from, "auto") != 0;
    if (!all && (is_told || to))
        return hd_fail(err, HEED_BAD_OPTION,
                       "the model does not say which languages it translates, so neither from nor "
                       "to can be chosen");
    job->from = is_told ? language_of(m, o->from, false) : NULL;
    job->to = to ? language_of(m, to, true) : NULL;
    if ((is_told && !job->from) || (to && !job->to))
        return hd_fail(err, HEED_BAD_OPTION, "the model does not translate %s %s; it has %s",
                       is_told && !job->from ? "from" : "to",
                       hd_quote(is_told && !job->from ? o->from : to).text, all);
    const struct hd_direction *d;
    for (int i = 0; job->from && job->to && (d = hd_model_direction(m, i)); i++)
        if (hd_direction_is(d, job->from, job->to))
            return true;
    return !job->from || !job->to ||
           hd_fail(err, HEED_BAD_OPTION, "the model does not translate from %s to %s; it has %s",
                   job->from, job->to, all);
}

/* What is asked of words that come one after the other is refused where all that comes is a label, or an answer. */
static bool check_task(const struct hd_ensemble *e, const heed_options *o, bool is_forced,
                       heed_error *err)
{
    if (e->task != HD_TASK_LABEL && e->task != HD_TASK_SPAN)
        return true;
    const char *asked = is_forced       ? "an output that is given"
                        : o->is_sampled ? "sample"
                        : o->terms      ? "glossary"
                        : o->memory     ? "memory"
                        : o->force      ? "force"
                        : o->markup == HD_MARKUP_HTML || o->markup == HD_MARKUP_XML ? "markup"
                        : o->replaces_unknown           ? "replace-unknown"
                        : o->has_tree || o->n_steps > 0 ? "the steps of a search"
                        : o->attention > HEED_ATTENTION_CROSS && e->task == HD_TASK_SPAN
                            ? "self-attention"
                            : NULL;
    return !asked ||
           hd_fail(err, HEED_BAD_OPTION, "the model gives %s, which %s is not for; leave it out",
                   e->task == HD_TASK_LABEL ? "labels" : "answers", asked);
}

void hd_choose_markup(heed_options *o, const char *const *texts, size_t n)
{
    if (o->markup != HD_MARKUP_AUTO)
        return;
    for (size_t i = 0; i < n && o->n_best == 1 && !o->prefix; i++)
        if (hd_html_is_whole(texts[i], strlen(texts[i])))
            return;
    o->markup = HD_MARKUP_NONE;
}

/* Who did not ask for it misses no module. */
static bool open_markup(struct hd_job *job, heed_error *err)
{
    heed_error missing = {0};
    const bool is_asked = job->options.markup != HD_MARKUP_AUTO;
    if (is_asked || (job->ensemble->task == HD_TASK_TRANSLATE && !job->ensemble->reads_vectors))
        job->markup = hd_markup_open(is_asked ? err : &missing);
    return job->markup || !is_asked;
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
    if (o->memory && (e->reads_vectors || e->task == HD_TASK_LANGUAGE_MODEL))
        return hd_fail(err, HEED_BAD_OPTION,
                       "a translation memory is for models that translate text; leave it out");
    if (e->reads_vectors && (o->replaces_unknown || o->terms))
        return hd_fail(err, HEED_BAD_OPTION,
                       "the model reads vectors, in which there are no words that %s could use",
                       o->terms ? "a glossary" : "replace-unknown");
    if (!check_task(e, o, is_forced, err) || !check_attention(e, o, err) ||
        !set_languages(job, o, err))
        return false;
    if (o->keep.n > 0 && o->protects && !is_forced) {
        job->keep = hd_keep_new((const char *const *)o->keep.at, o->keep.n, NULL, 0, err);
        if (!job->keep)
            return false;
    }
    if (o->markup != HD_MARKUP_NONE && !is_forced && !open_markup(job, err))
        return false;
    if (o->terms && o->is_sampled)
        return hd_fail(err, HEED_BAD_OPTION,
                       "terms of a glossary are searched for, not drawn; use either glossary or "
                       "sample");
    job->most = o->max_source > 0 ? (size_t)o->max_source : e->trained_length;
    job->part =
        o->max_source > 0 || e->is_of_documents || job->most < MOST_PART ? job->most : MOST_PART;
    job->cuts_sentences = o->split == HD_SPLIT_AUTO && !e->is_of_documents;
    job->shift = o->shift > 0 ? o->shift - 1 : e->shift;
    job->has_attention = o->attention != HEED_ATTENTION_NONE && e->has_attention;
    struct hd_search_options s = search_options(o);
    s.wants_attention =
        job->has_attention || o->replaces_unknown || (job->markup && e->has_attention);
    s.wants_tree = o->has_tree;
    job->has_scores = o->has_scores || o->has_tree || o->min_confidence > 0 || is_forced ||
                      s.is_sampled || s.beam > 1 || e->task != HD_TASK_TRANSLATE;
    job->is_tried_again = o->loops == HD_LOOPS_RETRY && !is_forced && !s.is_sampled &&
                          s.no_repeat == 0 && e->task == HD_TASK_TRANSLATE;
    for (int i = 0; i < HD_SEARCH_ROUNDS; i++)
        job->search[i] = s;
    job->search[HD_SEARCH_NO_REPEAT].no_repeat = LOOP_NGRAM;
    return true;
}

void hd_job_release(struct hd_job *job)
{
    hd_keep_free(job->keep);
    job->keep = NULL;
}

bool hd_job_needs_words_alone(const struct hd_job *job)
{
    return !job->has_scores && !job->ensemble->lm && !(job->options.ctc_weight > 0) &&
           job->ensemble->n == 1 && job->options.no_repeat == 0 &&
           job->ensemble->task == HD_TASK_TRANSLATE;
}

struct hd_search_input hd_segment_input(const struct hd_segment *segment)
{
    const struct hd_line *line = segment->line;
    const uint64_t index = (uint64_t)(segment - line->segments);
    const struct hd_ensemble *e = line->job->ensemble;
    const int *once = e->target_placeholders;
    const int n_once = (int)hd_segment_placeholders(segment);
    const bool is_whole = segment->round == HD_SEARCH_WHOLE;
    int n_looks;
    const struct hd_look *looks = hd_segment_looks(segment, &n_looks);
    const bool has_once = is_whole && e->has_placeholders;
    return (struct hd_search_input){
        .once = {.ids = once, .n = has_once ? n_once : 0},
        .never = {.ids = once + n_once, .n = has_once ? HD_N_PLACEHOLDERS - n_once : 0},
        .source = hd_segment_source(segment),
        .prefix = {.ids = segment->prefix.at, .n = (int)segment->prefix.n},
        .terms =
            is_whole && segment->whole ? hd_terms_of(segment->whole) : hd_terms_of(segment->terms),
        .neighbours = hd_segment_neighbours(segment),
        .looks = looks,
        .n_looks = n_looks,
        .max_length =
            hd_longest_output(segment->n_ids > 0 ? segment->n_ids : (int)segment->prefix.n,
                              line->job->options.max_length),
        .number = line->number << 20 | (index & 0xFFFFF)};
}

bool hd_segments_force(const struct hd_ensemble *e, const struct hd_search_options *options,
                       struct hd_segment *const *segments, size_t n, heed_error *err)
{
    struct hd_search_input *input = hd_alloc(n, sizeof *input, err);
    struct hd_nbest *found = hd_alloc(n, sizeof *found, err);
    bool ok = input && found;
    for (size_t i = 0; ok && i < n; i++)
        input[i] = hd_segment_input(segments[i]);
    ok = ok &&
         hd_force_decode(e->nets, e->n, hd_vocab_end(e->target), input, n, options, found, err);
    for (size_t i = 0; ok && i < n; i++)
        segments[i]->found = found[i];
    hd_free(input);
    hd_free(found);
    return ok;
}
