/* config_check.c -- which parts go together: fills what was left open, then refuses what cannot be.
 *
 * Every refusal names the two options that are against each other and what to do. What has no meaning without another
 * option (a window without local attention) is refused as well: whoever sets it expects it to do something. */
#include "base/error.h"
#include "model/fields.h"
#include "model/presets.h"

static bool has_score(const struct hd_config *c)
{
    return c->score != HD_SCORE_NONE;
}

/* ---- every field by itself ------------------------------------------------------------------- */

static bool check_ranges(const struct hd_config *c, heed_error *err)
{
    for (const heed_option *o = hd_config_options; o->name; o++)
        if (!hd_option_is_valid(o, c)) {
            char text[32];
            return heed_option_refuse(o, heed_option_text(o, c, text, sizeof text), err);
        }
    return true;
}

/* What goes in and what comes out. */
static bool check_task(const struct hd_config *c, heed_error *err)
{
    const struct hd_option_choice task = hd_config_choice("task", c->task);
    if (c->task == HD_TASK_LANGUAGE_MODEL && c->source != HD_SOURCE_NONE)
        return hd_fail(err, HEED_BAD_OPTION,
                       "task language-model reads no source, but source is %s; leave source out, "
                       "or choose task translate",
                       hd_config_choice("source", c->source).text);
    if (c->task != HD_TASK_LANGUAGE_MODEL && c->source == HD_SOURCE_NONE)
        return hd_fail(err, HEED_BAD_OPTION,
                       "task %s reads a source, but source is none; leave source out, or choose "
                       "task language-model",
                       task.text);
    return true;
}

/* What is for answers, and what cannot find one. */
static bool check_span(const struct hd_config *c, heed_error *err)
{
    const struct hd_config usual = hd_config_defaults();
    const char *of_spans = c->hops != usual.hops               ? "hops"
                           : c->max_answer != usual.max_answer ? "max-answer"
                           : c->has_traits                     ? "word-traits"
                                                               : NULL;
    if (c->task != HD_TASK_SPAN && of_spans)
        return hd_fail(err, HEED_BAD_OPTION, "%s is for task span, but task is %s; leave it out",
                       of_spans, hd_config_choice("task", c->task).text);
    if (c->task != HD_TASK_SPAN || c->arch == HD_TRANSFORMER)
        return true;
    if (!has_score(c))
        return hd_fail(err, HEED_BAD_OPTION,
                       "task span points by attention, but score is none; choose a score, or "
                       "another arch");
    if (c->score == HD_SCORE_LOCATION)
        return hd_fail(err, HEED_BAD_OPTION,
                       "task span asks what stands in the document, but score location looks at "
                       "positions only; choose another score");
    return true;
}

static bool check_source(const struct hd_config *c, heed_error *err)
{
    const bool is_vectors = c->source == HD_SOURCE_VECTORS;
    if (!is_vectors && (c->stack > 1 || c->pyramid > 0))
        return hd_fail(err, HEED_BAD_OPTION,
                       "stack and pyramid are for a source of vectors, but source is %s; leave "
                       "them out",
                       hd_config_choice("source", c->source).text);
    if (!is_vectors)
        return true;
    if (c->task != HD_TASK_TRANSLATE)
        return hd_fail(err, HEED_BAD_OPTION, "a source of vectors goes with task translate, not %s",
                       hd_config_choice("task", c->task).text);
    if (c->source_width < 1)
        return hd_fail(err, HEED_BAD_OPTION, "source is vectors, but source-width is %d",
                       c->source_width);
    if (c->has_grids && (c->stack > 1 || c->pyramid > 0))
        return hd_fail(err, HEED_BAD_OPTION,
                       "patches of pictures stand in rows and columns, which stack and pyramid "
                       "would tear apart; make larger patches instead (heed features --patches)");
    if (c->has_grids && c->arch == HD_TRANSFORMER && c->positions == HD_POSITIONS_SIN &&
        c->dim % 4 != 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "rows and columns have half of dim each, in pairs; dim must be a multiple "
                       "of 4, not %d",
                       c->dim);
    if (c->arch != HD_TRANSFORMER && c->pyramid >= c->encoder_layers)
        return hd_fail(err, HEED_BAD_OPTION,
                       "pyramid %d halves the source between layers, so there must be %d encoder "
                       "layers at least, not %d; see encoder-layers",
                       c->pyramid, c->pyramid + 1, c->encoder_layers);
    return true;
}

static bool check_vocabularies(const struct hd_config *c, heed_error *err)
{
    if (c->source_vocab < 1 || c->target_vocab < 1)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "source-vocab is %d and target-vocab is %d; a vocabulary needs at least one word",
            c->source_vocab, c->target_vocab);
    if (c->target_start >= c->target_vocab)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "target-start %d is not in the target vocabulary of %d words (target-vocab); "
            "choose an id below it, or -1 for a vector of zeros",
            c->target_start, c->target_vocab);
    if ((c->tie == HD_TIE_SOURCE_TARGET || c->tie == HD_TIE_ALL) &&
        c->source_vocab != c->target_vocab)
        return hd_fail(err, HEED_BAD_OPTION,
                       "tie %s makes one table of both embeddings, but source-vocab is %d and "
                       "target-vocab is %d; use one joint vocabulary, or tie output or none",
                       hd_config_choice("tie", c->tie).text, c->source_vocab, c->target_vocab);
    return true;
}

/* ---- what was left open ---------------------------------------------------------------------- */

/* A part of its paper, where nothing speaks against it. */
static int default_readout(const struct hd_config *c)
{
    const struct hd_preset *p = &hd_presets[c->arch];
    if (!has_score(c))
        return HD_READOUT_LINEAR;
    if (p->score != HD_SCORE_NONE && p->attend == c->attend)
        return p->readout;
    return c->attend == HD_ATTEND_AFTER ? HD_READOUT_ATTENDED : HD_READOUT_TANH;
}

static bool can_copy(const struct hd_config *c)
{
    return c->encoder_layers == c->decoder_layers && c->encoder_dim == c->dim;
}

static int default_start(const struct hd_config *c)
{
    const int start = hd_presets[c->arch].start;
    const bool is_possible = start == HD_START_COPY             ? can_copy(c)
                             : start == HD_START_FIRST_BACKWARD ? c->bidirectional
                                                                : true;
    return is_possible ? start : HD_START_LAST;
}

static void choose(int *field, int open, int value)
{
    if (*field == open)
        *field = value;
}

/* A decoder alone has nothing to attend to and no table to share but its own. */
static void fill_alone(struct hd_config *c)
{
    c->score = HD_SCORE_NONE;
    c->context = HD_CONTEXT_FIRST;
    c->bidirectional = c->reverse_source = false;
    c->encoder_layers = c->decoder_layers;
    c->encoder_dim = c->dim;
    c->attend = HD_OPTION_OPEN;
    c->start = HD_START_COPY;
    c->input_feeding = 0;
    c->tie = c->tie == HD_TIE_ALL             ? HD_TIE_OUTPUT
             : c->tie == HD_TIE_SOURCE_TARGET ? HD_TIE_NONE
                                              : c->tie;
}

/* A model without a decoder attends once, by its query; what it has learned with a score it knows without a place. */
static void fill_pooling(struct hd_config *c)
{
    choose(&c->context, HD_OPTION_OPEN, has_score(c) ? HD_CONTEXT_ATTENTION : HD_CONTEXT_FIRST);
    c->decoder_layers = 1;
    c->tie = HD_TIE_NONE;
}

static int default_alignment_layer(const struct hd_config *c)
{
    return c->decoder_layers > 1 ? c->decoder_layers - 1 : 1;
}

static void fill(struct hd_config *c)
{
    choose(&c->encoder_dim, 0, c->dim);
    choose(&c->embed, 0, c->dim);
    if (!hd_config_has_encoder(c))
        fill_alone(c);
    if (c->source == HD_SOURCE_VECTORS) /* there is no table to share */
        c->tie = c->tie == HD_TIE_ALL             ? HD_TIE_OUTPUT
                 : c->tie == HD_TIE_SOURCE_TARGET ? HD_TIE_NONE
                                                  : c->tie;
    if (!hd_config_has_decoder(c))
        fill_pooling(c);
    if (c->arch == HD_TRANSFORMER) {
        choose(&c->final_norm, HD_OPTION_OPEN, c->norm == HD_NORM_PRE);
        choose(&c->alignment_layer, 0, default_alignment_layer(c));
        return;
    }
    choose(&c->attention_dim, 0, c->dim);
    if (!hd_config_has_decoder(c))
        return;
    choose(&c->context, HD_OPTION_OPEN, has_score(c) ? HD_CONTEXT_ATTENTION : HD_CONTEXT_FIRST);
    if (has_score(c))
        choose(&c->attend, HD_OPTION_OPEN, hd_presets[c->arch].attend);
    choose(&c->readout, HD_OPTION_OPEN, default_readout(c));
    choose(&c->start, HD_OPTION_OPEN, default_start(c));
    choose(&c->input_feeding, HD_OPTION_OPEN,
           hd_presets[c->arch].has_input_feeding && c->attend == HD_ATTEND_AFTER &&
               c->readout == HD_READOUT_ATTENDED);
}

/* ---- recurrent models ------------------------------------------------------------------------ */

static bool check_encoder(const struct hd_config *c, heed_error *err)
{
    if (c->bidirectional && c->encoder_dim % 2 != 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "bidirectional gives each direction half of encoder-dim, which is odd: %d; "
                       "make encoder-dim (or dim) even, or bidirectional no",
                       c->encoder_dim);
    if (c->gru_reset == HD_RESET_BEFORE && c->cell != HD_GRU)
        return hd_fail(err, HEED_BAD_OPTION,
                       "gru-reset before is for cell gru, but cell is %s; set cell gru, or leave "
                       "gru-reset out",
                       hd_config_choice("cell", c->cell).text);
    return true;
}

static bool check_transitions(const struct hd_config *c, heed_error *err)
{
    return c->upper_transitions == 0 || c->decoder_layers > 1 ||
           hd_fail(err, HEED_BAD_OPTION,
                   "upper-transitions is for decoder layers above the first, but decoder-layers is "
                   "1; leave it out, or set decoder-transitions");
}

float hd_recurrent_eps(const struct hd_config *c)
{
    return c->recurrent_norm == HD_RNORM_SPLIT ? 1e-5F : 1e-9F;
}

static bool check_norms(const struct hd_config *c, heed_error *err)
{
    if (c->recurrent_norm == HD_RNORM_SPLIT && c->cell != HD_GRU)
        return hd_fail(err, HEED_BAD_OPTION,
                       "recurrent-norm split tells a GRU's gates from its candidate, but cell is "
                       "%s; choose recurrent-norm whole, or cell gru",
                       hd_config_choice("cell", c->cell).text);
    if (c->recurrent_norm != HD_RNORM_NONE && c->cell == HD_GRU && c->gru_reset == HD_RESET_BEFORE)
        return hd_fail(err, HEED_BAD_OPTION,
                       "recurrent-norm %s normalises what U makes for all of a GRU, but with "
                       "gru-reset before it makes only the gates; set gru-reset after",
                       hd_config_choice("recurrent-norm", c->recurrent_norm).text);
    return true;
}

static bool check_residual(const struct hd_config *c, heed_error *err)
{
    const bool has_upper = (hd_config_has_encoder(c) && c->encoder_layers > 1) ||
                           (hd_config_has_decoder(c) && c->decoder_layers > 1);
    if (c->residual && !has_upper)
        return hd_fail(err, HEED_BAD_OPTION,
                       "residual is for layers above the first, but there are none; leave it out, "
                       "or set layers");
    if (c->residual && c->pyramid > 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "residual adds what a layer has read to what it makes, but with pyramid %d "
                       "it reads more positions than it makes; leave one of them out",
                       c->pyramid);
    return true;
}

static bool check_start(const struct hd_config *c, heed_error *err)
{
    if (c->start == HD_START_COPY && c->encoder_layers != c->decoder_layers)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "start copy wants as many encoder-layers as decoder-layers, but they are %d and "
            "%d; make them equal, or choose start last or mean",
            c->encoder_layers, c->decoder_layers);
    if (c->start == HD_START_COPY && c->encoder_dim != c->dim)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "start copy wants encoder-dim equal to dim, but they are %d and %d; make them "
            "equal, or choose start last or mean",
            c->encoder_dim, c->dim);
    if (c->start == HD_START_FIRST_BACKWARD && !c->bidirectional)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "start first-backward takes a state of the backward direction, but bidirectional "
            "is no; set bidirectional yes, or choose start last or mean");
    return true;
}

/* What asks for attention, in a model that has none. */
static bool check_no_score(const struct hd_config *c, heed_error *err)
{
    const char *asks = c->context == HD_CONTEXT_ATTENTION  ? "context attention"
                       : c->attend != HD_OPTION_OPEN       ? "attend"
                       : c->local != HD_LOCAL_NONE         ? "local"
                       : c->coverage                       ? "coverage yes"
                       : c->input_feeding == 1             ? "input-feeding yes"
                       : c->readout == HD_READOUT_ATTENDED ? "readout attended"
                                                           : NULL;
    return !asks ||
           hd_fail(err, HEED_BAD_OPTION,
                   "%s needs attention, but score is none; choose a score, or leave %s out", asks,
                   asks);
}

/* The sizes and parts that a score wants. */
static bool check_score(const struct hd_config *c, heed_error *err)
{
    const struct hd_option_choice score = hd_config_choice("score", c->score);
    const bool is_dot = c->score == HD_SCORE_DOT || c->score == HD_SCORE_SCALED_DOT;
    if (is_dot && c->encoder_dim != c->dim)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "score %s wants encoder-dim equal to dim, but they are %d and %d; make them equal, "
            "or choose score bilinear",
            score.text, c->encoder_dim, c->dim);
    if (c->score == HD_SCORE_MULTI_HEAD && c->attention_dim % c->heads != 0)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "heads %d does not divide attention-dim %d; choose heads so that every head of "
            "score multi-head has the same width",
            c->heads, c->attention_dim);
    if (c->score == HD_SCORE_LOCATION && c->max_source == 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "score location has one row per source position and needs max-source; set "
                       "max-source to the longest source sentence");
    if (c->score != HD_SCORE_LOCATION && c->max_source != 0)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "max-source is for score location, but score is %s; leave max-source out, or set "
            "score location",
            score.text);
    if (c->score_bias && c->score != HD_SCORE_MLP && c->score != HD_SCORE_ADDITIVE &&
        c->score != HD_SCORE_LOCATION_AWARE)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "score-bias is for score mlp, additive and location-aware, but score is %s; leave "
            "score-bias out, or choose one of these",
            score.text);
    if (c->score_depth != hd_config_defaults().score_depth && c->score != HD_SCORE_SCALED)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "score-depth is for score scaled, but score is %s; leave score-depth out, or set "
            "score scaled",
            score.text);
    return true;
}

/* The filters over the weights of the step before. */
static bool check_location(const struct hd_config *c, heed_error *err)
{
    const struct hd_config usual = hd_config_defaults();
    const bool has_filters = c->location_filters != usual.location_filters,
               has_width = c->location_width != usual.location_width;
    if (c->score != HD_SCORE_LOCATION_AWARE)
        return (!has_filters && !has_width) ||
               hd_fail(err, HEED_BAD_OPTION,
                       "%s is for score location-aware, but score is %s; leave it out, or set "
                       "score location-aware",
                       has_filters ? "location-filters" : "location-width",
                       hd_config_choice("score", c->score).text);
    if (!hd_config_has_decoder(c))
        return hd_fail(err, HEED_BAD_OPTION,
                       "score location-aware reads the weights of the step before, but task %s "
                       "looks only once; choose score additive",
                       hd_config_choice("task", c->task).text);
    if (c->location_width % 2 == 0)
        return hd_fail(err, HEED_BAD_OPTION,
                       "location-width is %d, but a window has as many positions before its middle "
                       "as behind it; choose an odd number",
                       c->location_width);
    return true;
}

/* Locality and coverage change one distribution over the positions, made from their content. */
static bool check_axes(const struct hd_config *c, heed_error *err)
{
    const char *axis = c->local != HD_LOCAL_NONE ? "local" : c->coverage ? "coverage" : NULL;
    if (axis && c->score == HD_SCORE_MULTI_HEAD)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "%s works on one distribution over the source, but score multi-head has one per "
            "head; choose score scaled, or leave %s out",
            axis, axis);
    if (axis && c->score == HD_SCORE_LOCATION)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "%s goes with a score of the content, but score location looks at positions only; "
            "choose score bilinear, or leave %s out",
            axis, axis);
    if (c->coverage && c->score == HD_SCORE_LOCATION_AWARE)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "coverage adds what all steps have looked at, but score location-aware reads what the "
            "last one did; choose score additive, or leave coverage out");
    if (c->local == HD_LOCAL_NONE && c->window != hd_config_defaults().window)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "window is for local attention, but local is none; set local m or p, or leave "
            "window out");
    return true;
}

static bool check_place(const struct hd_config *c, heed_error *err)
{
    const struct hd_option_choice attend = hd_config_choice("attend", c->attend);
    const struct hd_option_choice readout = hd_config_choice("readout", c->readout);
    if (c->context != HD_CONTEXT_ATTENTION)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "context %s is for models without attention, but score is %s; set score none, or "
            "leave context out",
            hd_config_choice("context", c->context).text, hd_config_choice("score", c->score).text);
    if (c->readout == HD_READOUT_ATTENDED && c->attend != HD_ATTEND_AFTER)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "readout attended needs attend after, but attend is %s; set attend after, or "
            "choose readout tanh",
            attend.text);
    if (c->readout == HD_READOUT_LINEAR && c->attend == HD_ATTEND_AFTER)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "readout linear sees the state alone, so with attend after nothing would come of "
            "the attention; choose readout attended or tanh, or attend before");
    if (c->input_feeding && c->attend != HD_ATTEND_AFTER)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "input-feeding yes needs attend after, but attend is %s; set attend after, or "
            "input-feeding no",
            attend.text);
    if (c->input_feeding && c->readout != HD_READOUT_ATTENDED)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "input-feeding yes feeds what readout attended makes, but readout is %s; set "
            "readout attended, or input-feeding no",
            readout.text);
    return true;
}

/* An output layer that is the target's table reads rows as wide as embeddings. */
static bool check_tied_readout(const struct hd_config *c, heed_error *err)
{
    const bool is_tied = c->tie == HD_TIE_OUTPUT || c->tie == HD_TIE_ALL;
    const bool is_dim = c->readout == HD_READOUT_LINEAR || c->readout == HD_READOUT_ATTENDED;
    if (is_tied && is_dim && c->embed != c->dim)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "tie %s wants what enters the output layer as wide as embed, %d, but readout %s "
            "has the width of dim, %d; make embed equal to dim, or choose readout tanh",
            hd_config_choice("tie", c->tie).text, c->embed,
            hd_config_choice("readout", c->readout).text, c->dim);
    return true;
}

/* Attention that is asked once: there is no step before it, and no place that it goes along with. */
static bool check_pooling(const struct hd_config *c, heed_error *err)
{
    if (c->local != HD_LOCAL_NONE)
        return hd_fail(err, HEED_BAD_OPTION,
                       "local attention goes along with the words of an output, but task is %s; "
                       "leave local out",
                       hd_config_choice("task", c->task).text);
    return check_score(c, err) && check_location(c, err) && check_axes(c, err) &&
           check_encoder(c, err) && check_norms(c, err) && check_residual(c, err);
}

static bool check_recurrent(const struct hd_config *c, heed_error *err)
{
    if (!hd_config_has_decoder(c))
        return check_pooling(c, err);
    if (c->n_alignment_heads > 0 && c->score != HD_SCORE_MULTI_HEAD)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "alignment-heads is for attention with several heads, but score is %s; leave "
            "alignment-heads out, or set score multi-head",
            hd_config_choice("score", c->score).text);
    const bool fits = has_score(c) ? check_place(c, err) : check_no_score(c, err);
    return fits && check_score(c, err) && check_location(c, err) && check_axes(c, err) &&
           check_encoder(c, err) && check_norms(c, err) && check_residual(c, err) &&
           check_transitions(c, err) && check_start(c, err) && check_tied_readout(c, err);
}

/* ---- the Transformer ------------------------------------------------------------------------- */

static bool check_positions(const struct hd_config *c, heed_error *err)
{
    if (c->positions == HD_POSITIONS_SIN && c->dim % 2 != 0)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "positions sin come in pairs of sin and cos, but dim is odd: %d; make dim even, or "
            "choose positions learned",
            c->dim);
    if (c->positions == HD_POSITIONS_SIN && c->position_shorter && c->dim < 4)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "position-shorter divides by dim/2-1, but dim is %d; make dim at least 4, or set "
            "position-shorter no",
            c->dim);
    return true;
}

static bool check_transformer(const struct hd_config *c, heed_error *err)
{
    if (c->embed != c->dim)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "embed %d and dim %d differ, but a transformer adds embeddings to its states; "
            "leave embed out",
            c->embed, c->dim);
    if (c->encoder_dim != c->dim)
        return hd_fail(err, HEED_BAD_OPTION,
                       "encoder-dim %d and dim %d differ, but a transformer has one width; leave "
                       "encoder-dim out",
                       c->encoder_dim, c->dim);
    if (c->dim % c->heads != 0)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "heads %d does not divide dim %d; choose heads so that every head has the same "
            "width",
            c->heads, c->dim);
    if (c->alignment_layer > c->decoder_layers)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "alignment-layer %d is beyond decoder-layers %d; choose a layer from 1 to %d, or 0 "
            "for the last but one",
            c->alignment_layer, c->decoder_layers, c->decoder_layers);
    return check_positions(c, err);
}

static bool check_alignment_heads(const struct hd_config *c, heed_error *err)
{
    for (int i = 0; i < c->n_alignment_heads; i++)
        if (c->alignment_heads[i] < 0 || c->alignment_heads[i] >= c->heads)
            return hd_fail(
                err, HEED_BAD_OPTION,
                "alignment-heads has %d, but with heads %d they are 0 to %d; choose among these",
                c->alignment_heads[i], c->heads, c->heads - 1);
    return true;
}

bool hd_config_check(struct hd_config *config, heed_error *err)
{
    if (!check_ranges(config, err) || !check_task(config, err) || !check_span(config, err) ||
        !check_source(config, err) || !check_vocabularies(config, err))
        return false;
    fill(config);
    const bool fits = config->arch == HD_TRANSFORMER ? check_transformer(config, err)
                                                     : check_recurrent(config, err);
    return fits && check_alignment_heads(config, err);
}
