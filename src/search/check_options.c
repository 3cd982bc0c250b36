/* check_options.c -- what can be asked of a search, and the sentences for what cannot. */
#include "search/common.h"

#include "base/error.h"
#include "vector/vectors.h"

#include <math.h>

static bool check_values(const struct hd_search_options *o, heed_error *err)
{
    if (o->beam < 1 || o->beam > 10000)
        return hd_fail(err, HEED_BAD_OPTION, "a beam of %d: it must be from 1 to 10000", o->beam);
    if (o->n_best < 1 || (!o->is_sampled && o->n_best > o->beam))
        return hd_fail(err, HEED_BAD_OPTION,
                       "%d best of a beam of %d: it must be from 1 to the beam", o->n_best,
                       o->beam);
    if (o->n_best > 10000)
        return hd_fail(err, HEED_BAD_OPTION, "%d samples: there can be at most 10000", o->n_best);
    if (o->norm < HD_LENGTH_NONE || o->norm > HD_LENGTH_GNMT)
        return hd_fail(err, HEED_BAD_OPTION, "there is no length normalisation %d", (int)o->norm);
    if (!(fabsf(o->alpha) <= 100))
        return hd_fail(err, HEED_BAD_OPTION,
                       "a length normalisation by alpha %g: it must be from -100 to 100",
                       (double)o->alpha);
    if (!(o->coverage_penalty >= 0 && o->coverage_penalty <= 1e6F))
        return hd_fail(err, HEED_BAD_OPTION,
                       "a coverage penalty of %g: it must be 0 (none) or more",
                       (double)o->coverage_penalty);
    if (!(o->ctc_weight >= 0 && o->ctc_weight <= 1))
        return hd_fail(err, HEED_BAD_OPTION, "a weight of CTC of %g: it must be from 0 to 1",
                       (double)o->ctc_weight);
    if (o->no_repeat < 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "no repeated n-grams of %d words: it must be 0 (off) or more", o->no_repeat);
    if (o->top_k < 0)
        return hd_fail(err, HEED_BAD_OPTION, "the likeliest %d words: it must be 0 (all) or more",
                       o->top_k);
    if (!(o->top_p > 0 && o->top_p <= 1))
        return hd_fail(err, HEED_BAD_OPTION, "top-p %g: it must be above 0 and at most 1",
                       (double)o->top_p);
    if (!(o->temperature > 0 && o->temperature <= 1e6F))
        return hd_fail(err, HEED_BAD_OPTION, "a temperature of %g: it must be above 0",
                       (double)o->temperature);
    if (o->words_alone && (o->beam > 1 || o->is_sampled))
        return hd_fail(err, HEED_BAD_OPTION,
                       "words without probabilities are for greedy search, a beam of 1");
    if (o->n_rows < 1)
        return hd_fail(err, HEED_BAD_OPTION, "%d hypotheses at a time: it must be at least 1",
                       o->n_rows);
    return true;
}

/* Layers from 1, heads from 0; 0 and -1 are the model's own choice. */
static bool has_attention_of(const struct hd_net *net, const struct hd_search_options *o)
{
    const struct hd_config *c = &net->config;
    const bool is_transformer = c->arch == HD_TRANSFORMER,
               is_cross = o->attention == HD_ATTENTION_CROSS;
    const int n_layers = !is_transformer                        ? 1
                         : o->attention == HD_ATTENTION_ENCODER ? c->encoder_layers
                                                                : c->decoder_layers,
              n_heads = is_transformer || c->score == HD_SCORE_MULTI_HEAD ? c->heads : 1;
    if (o->attention == HD_ATTENTION_DECODER && !hd_config_has_decoder_attention(c))
        return false;
    return (is_transformer || (is_cross && c->score != HD_SCORE_NONE)) && o->layer >= 0 &&
           o->layer <= n_layers && o->head >= -1 && o->head < n_heads;
}

bool hd_check_search_options(const struct hd_net *const *nets, int n_nets,
                             const struct hd_search_options *o, heed_error *err)
{
    if (!check_values(o, err))
        return false;
    for (int i = 0; hd_needs_attention(o) && i < n_nets; i++)
        if (!has_attention_of(nets[i], o))
            return hd_fail(err, HEED_BAD_OPTION, "the model has no attention of layer %d, head %d",
                           o->layer, o->head);
    bool has_ctc = false;
    for (int i = 0; i < n_nets; i++)
        has_ctc = has_ctc || nets[i]->ctc.W;
    if (o->ctc_weight > 0 && !has_ctc)
        return hd_fail(err, HEED_BAD_OPTION,
                       "the model was not trained with CTC, so ctc-weight cannot be used; leave it "
                       "out, or train with --ctc 1");
    return true;
}

static bool are_words(const struct hd_sequence *words, int end, int V)
{
    for (int j = 0; j < words->n; j++)
        if (words->ids[j] < 0 || words->ids[j] >= V || words->ids[j] == end)
            return false;
    return words->n >= 0;
}

bool hd_check_search_input(const struct hd_net *net, int end, const struct hd_search_input *in,
                           size_t i, heed_error *err)
{
    const int V = net->config.target_vocab;
    if (in->source.n < 0 || in->prefix.n < 0 || in->max_length < 0)
        return hd_fail(err, HEED_BAD_OPTION, "sentence %zu: a length is negative", i + 1);
    const bool is_vectors = net->config.source == HD_SOURCE_VECTORS;
    if (is_vectors != (in->source.vectors != NULL) ||
        (is_vectors && in->source.vectors->width != net->config.source_width))
        return hd_fail(err, HEED_BAD_OPTION, "sentence %zu: the model reads %s", i + 1,
                       is_vectors ? "vectors, of its own width" : "words, not vectors");
    for (int j = 0; !is_vectors && j < in->source.n; j++)
        if (in->source.ids[j] < 0 || in->source.ids[j] >= net->config.source_vocab)
            return hd_fail(err, HEED_BAD_OPTION,
                           "sentence %zu: word %d is %d, but the source vocabulary has %d words",
                           i + 1, j + 1, in->source.ids[j], net->config.source_vocab);
    for (int j = 0; j < in->prefix.n; j++)
        if (in->prefix.ids[j] < 0 || in->prefix.ids[j] >= V || in->prefix.ids[j] == end)
            return hd_fail(err, HEED_BAD_OPTION,
                           "sentence %zu: forced word %d is %d, but it must be a word of the %d of "
                           "the target vocabulary, and not the end marker",
                           i + 1, j + 1, in->prefix.ids[j], V);
    if (in->once.n > HD_MOST_ONCE || !are_words(&in->once, end, V) ||
        !are_words(&in->never, end, V))
        return hd_fail(err, HEED_BAD_OPTION,
                       "sentence %zu: what must be said once, %d words at most, or never must be "
                       "words of the %d of the target vocabulary, and not the end marker",
                       i + 1, HD_MOST_ONCE, V);
    return true;
}

bool hd_check_nets(const struct hd_net *const *nets, int n_nets, int end, heed_error *err)
{
    if (n_nets < 1)
        return hd_fail(err, HEED_BAD_OPTION, "there is no model to search with");
    for (int i = 0; i < n_nets; i++)
        if (nets[i]->config.target_vocab != nets[0]->config.target_vocab ||
            nets[i]->config.source_vocab != nets[0]->config.source_vocab)
            return hd_fail(err, HEED_BAD_OPTION,
                           "model %d has vocabularies of %d and %d words, but the first has %d and "
                           "%d; models that translate together share theirs",
                           i + 1, nets[i]->config.source_vocab, nets[i]->config.target_vocab,
                           nets[0]->config.source_vocab, nets[0]->config.target_vocab);
    if (end < 0 || end >= nets[0]->config.target_vocab)
        return hd_fail(err, HEED_BAD_OPTION,
                       "the end marker is %d, but the target vocabulary has %d words", end,
                       nets[0]->config.target_vocab);
    return true;
}
