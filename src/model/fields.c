/* fields.c -- every field of a configuration: its name, what it may be, what it means, which models have it.
 *
 * A choice's values stand in the order of its enum in config.h; that they do is tested. */
#include "model/fields.h"

#include "model/cell.h"

#include <stddef.h>

/* "layers" sets both sides. */
static bool set_layers(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct hd_config *c = values;
    if (!heed_option_set_by_kind(option, c, text, err))
        return false;
    c->decoder_layers = c->encoder_layers;
    return true;
}

/* A language model reads nothing, and what reads nothing is one. */
static bool set_task(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct hd_config *c = values;
    if (!heed_option_set_by_kind(option, c, text, err))
        return false;
    if (c->task == HD_TASK_LANGUAGE_MODEL)
        c->source = HD_SOURCE_NONE;
    return true;
}

static bool set_source(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct hd_config *c = values;
    if (!heed_option_set_by_kind(option, c, text, err))
        return false;
    if (c->source == HD_SOURCE_NONE && c->task == HD_TASK_TRANSLATE)
        c->task = HD_TASK_LANGUAGE_MODEL;
    return true;
}

/* The score "local-m" or "local-p" is short for bilinear with local m or p. */
static bool set_score(const heed_option *option, void *values, const char *text, heed_error *err)
{
    struct hd_config *c = values;
    const int most = (int)option->most;
    if (!heed_option_set_by_kind(option, c, text, err))
        return false;
    if (c->score >= most) {
        c->local = c->score == most ? HD_LOCAL_M : HD_LOCAL_P;
        c->score = HD_SCORE_BILINEAR;
    }
    return true;
}

/* clang-format off */
#define FIELD(member)             HEED_OPTION_FIELD(struct hd_config, member)
#define WHOLE(member, low, high)  .kind = HEED_OPTION_INT, FIELD(member), .least = low, .most = high, .value = "N"
#define REAL(member, low, high)   .kind = HEED_OPTION_FLOAT, FIELD(member), .least = low, .most = high, .value = "X"
#define YES_NO(member)            .kind = HEED_OPTION_YES_NO, FIELD(member)
#define CHOICE(member, names)     .kind = HEED_OPTION_CHOICE, FIELD(member), .choices = names
#define MODEL                     HEED_OPTION_OF_MODEL | HEED_OPTION_FIXED
#define RNN                       MODEL | HEED_OPTION_RECURRENT
#define ENCODER                   HEED_OPTION_ENCODER
#define DECODER                   HEED_OPTION_DECODER
#define TRANSFORMER               MODEL | HEED_OPTION_TRANSFORMER
#define AUTO                      HEED_OPTION_AUTO
#define FACT                      HEED_OPTION_OF_MODEL | HEED_OPTION_FACT
#define PRESET                    .default_help = "from the preset"

const heed_option hd_config_options[] = {
    {"arch", CHOICE(arch, HD_ARCHS), .flags = FACT, .help = "preset that it was made from"},
    {"task", CHOICE(task, "translate|label|span|language-model"), .flags = MODEL | HEED_OPTION_IF_SET, .set = set_task,
     .initial = "translate", .default_help = "translate; language-model with source none",
     .help = "what the model gives: a translation, a label of the text, the words of a document that answer a question, or, without a source, the next words"},
    {"source", CHOICE(source, "text|vectors|none"), .flags = MODEL | HEED_OPTION_IF_SET, .set = set_source, .initial = "text",
     .default_help = "text; none with task language-model; vectors with such a file as --src",
     .help = "what the model reads: text, vectors (frames of sound, patches of pictures; see heed features), or nothing: the decoder is alone"},
    {"source-width", WHOLE(source_width, 0, HD_MAX_DIM), .flags = FACT | HEED_OPTION_IF_SET, .initial = "0", .help = "numbers of a source vector"},
    {"source-grids", YES_NO(has_grids), .flags = FACT | HEED_OPTION_IF_SET, .initial = "no", .help = "source vectors stand in rows and columns"},
    {"stack", WHOLE(stack, 1, 64), .flags = MODEL | HEED_OPTION_IF_SET, .initial = "1",
     .help = "source vectors that are put side by side and read as one"},
    {"pyramid", WHOLE(pyramid, 0, 6), .flags = MODEL | HEED_OPTION_IF_SET, .initial = "0",
     .help = "times the source is halved, two positions becoming one: between the first encoder layers, before those of a transformer"},
    {"hops", WHOLE(hops, 1, HD_MAX_HOPS), .flags = RNN | HEED_OPTION_IF_SET, .initial = "1",
     .help = "task span: times the document is read, each time with what was found before"},
    {"word-traits", YES_NO(has_traits), .flags = MODEL | HEED_OPTION_IF_SET, .initial = "no",
     .help = "task span: tell of each word also what it looks like (capitals, digits) and whether it, or its beginning, is in the other text"},
    {"max-answer", WHOLE(max_answer, 1, 1 << 20), .flags = MODEL | HEED_OPTION_IF_SET, .initial = "30",
     .help = "task span: longest answer, in the tokens that the model reads"},
    {"source-vocab", WHOLE(source_vocab, 0, HD_MAX_VOCAB), .flags = FACT, .help = "size of the source vocabulary"},
    {"target-vocab", WHOLE(target_vocab, 0, HD_MAX_VOCAB), .flags = FACT, .help = "size of the target vocabulary"},
    {"target-start", WHOLE(target_start, -1, HD_MAX_VOCAB - 1), .flags = DECODER | FACT, .initial = "-1",
     .help = "id before the first target word; -1: a vector of zeros"},

    {"dim", WHOLE(dim, 1, HD_MAX_DIM), .flags = MODEL, .default_help = "128 tiny, 256 small, 512 base",
     .help = "hidden size"},
    {"encoder-dim", WHOLE(encoder_dim, 0, HD_MAX_DIM), .flags = ENCODER | MODEL, .initial = "0",
     .help = "hidden size of the encoder; 0: same as dim"},
    {"embed", WHOLE(embed, 0, HD_MAX_DIM), .flags = MODEL, .initial = "0",
     .help = "embedding size; 0: same as dim"},
    {"layers", WHOLE(encoder_layers, 1, HD_MAX_LAYERS), .flags = MODEL | HEED_OPTION_SHORTHAND, .set = set_layers,
     PRESET, .help = "layers of encoder and decoder; sets encoder-layers and decoder-layers"},
    {"encoder-layers", WHOLE(encoder_layers, 1, HD_MAX_LAYERS), .flags = ENCODER | MODEL, .initial = "1",
     .default_help = "from the preset; transformer: 2 tiny, 3 small, 6 base", .help = "encoder layers"},
    {"decoder-layers", WHOLE(decoder_layers, 1, HD_MAX_LAYERS), .flags = DECODER | MODEL, .initial = "1",
     .default_help = "from the preset; transformer: 2 tiny, 3 small, 6 base", .help = "decoder layers"},
    {"tie", CHOICE(tie, "none|output|source-target|all"), .flags = DECODER | MODEL, .initial = "none",
     .default_help = "all with a joint vocabulary, where possible; else output for transformers, none for recurrent models",
     .help = "tables to share: target embeddings and output layer, both embeddings, or all three"},

    {"ctc", REAL(ctc, 0, 100), .flags = ENCODER | DECODER | MODEL | HEED_OPTION_IF_SET, .initial = "0",
     .help = "weight of a CTC loss over the encoder's states, beside that of the decoder, with an output layer of its own; for speech; 0: none"},

    {"cell", CHOICE(cell, "rnn|gru|lstm"), .group = "Recurrent models", .flags = RNN, PRESET, .help = "recurrent cell"},
    {"gru-reset", CHOICE(gru_reset, "after|before"), .flags = RNN, .initial = "after",
     .help = "apply the reset gate of a GRU after the product with U (faster) or before it (as in the papers)"},
    {"encoder-transitions", WHOLE(encoder_transitions, 0, HD_MAX_TRANSITIONS), .flags = ENCODER | RNN | HEED_OPTION_IF_SET, .initial = "0",
     .help = "deep transition: further cells that an encoder state goes through in every step"},
    {"decoder-transitions", WHOLE(decoder_transitions, 0, HD_MAX_TRANSITIONS), .flags = DECODER | RNN | HEED_OPTION_IF_SET, .initial = "0",
     .help = "the same of the decoder's first layer; with attend inside, after its second cell"},
    {"upper-transitions", WHOLE(upper_transitions, 0, HD_MAX_TRANSITIONS), .flags = DECODER | RNN | HEED_OPTION_IF_SET, .initial = "0",
     .help = "the same of each decoder layer above the first"},
    {"recurrent-norm", CHOICE(recurrent_norm, "none|whole|split"), .flags = RNN | HEED_OPTION_IF_SET, .initial = "none",
     .help = "layer norm of what recurrent cells, scores with tanh, the first state and the readout multiply; in a GRU over all gates (whole), or over the gates and over the candidate (split)"},
    {"residual", YES_NO(residual), .flags = RNN | HEED_OPTION_IF_SET, .initial = "no",
     .help = "add to the output of every recurrent layer above the first what it has read"},
    {"bidirectional", YES_NO(bidirectional), .flags = ENCODER | RNN, PRESET,
     .help = "bidirectional encoder; each direction has half of encoder-dim"},
    {"reverse-source", .kind = HEED_OPTION_FLAG, FIELD(reverse_source), .flags = ENCODER | RNN,
     .help = "read the source from its end"},
    {"context", CHOICE(context, "attention|first|every"), .flags = ENCODER | DECODER | RNN | AUTO,
     .default_help = "attention with a score, else first",
     .help = "without attention: pass the last encoder state to the decoder's first step or to every step"},
    {"score", CHOICE(score, "none|dot|scaled-dot|bilinear|mlp|additive|tanh-sum|projected|scaled|multi-head|location"
                            "|location-aware|local-m|local-p"), .most = HD_SCORE_LOCATION_AWARE + 1, .set = set_score, .flags = ENCODER | RNN, PRESET,
     .help = "attention score; location-aware is additive and also reads the weights of the step before; local-m and local-p are bilinear with local m or p"},
    {"attention-dim", WHOLE(attention_dim, 0, HD_MAX_DIM), .flags = ENCODER | RNN, .initial = "0",
     .help = "hidden size of the attention score; 0: same as dim"},
    {"score-depth", WHOLE(score_depth, 1, 8), .flags = ENCODER | RNN, .initial = "2",
     .help = "layers of the networks in score scaled; 1: linear"},
    {"score-bias", YES_NO(score_bias), .flags = ENCODER | RNN, .initial = "no",
     .help = "bias inside the tanh of scores mlp, additive and location-aware"},
    {"local", CHOICE(local, "none|m|p"), .flags = ENCODER | RNN, .initial = "none",
     .help = "local attention: around the target position (m) or around a predicted position (p)"},
    {"window", WHOLE(window, 1, HD_MAX_DIM), .flags = ENCODER | RNN, .initial = "10",
     .help = "positions that local attention sees on each side"},
    {"max-source", WHOLE(max_source, 0, HD_MAX_DIM), .flags = ENCODER | RNN, .initial = "0", .default_help = "max-length + 1 with score location",
     .help = "longest source sentence of score location"},
    {"location-filters", WHOLE(location_filters, 1, 4096), .flags = ENCODER | DECODER | RNN | HEED_OPTION_IF_SET, .initial = "10",
     .help = "filters that score location-aware reads the weights of the step before by"},
    {"location-width", WHOLE(location_width, 1, 8191), .flags = ENCODER | DECODER | RNN | HEED_OPTION_IF_SET, .initial = "31",
     .help = "source positions that each of them sees: an odd number"},
    {"coverage", YES_NO(coverage), .flags = ENCODER | DECODER | RNN, .initial = "no",
     .help = "add the attention that a position has received so far to its score"},
    {"attend", CHOICE(attend, "before|after|inside"), .flags = ENCODER | DECODER | RNN | AUTO, PRESET,
     .help = "when the decoder attends: before its cell, after it, or between two cells"},
    {"input-feeding", .kind = HEED_OPTION_YES_NO, FIELD(input_feeding), .flags = ENCODER | DECODER | RNN | AUTO, PRESET,
     .help = "feed the attentional state to the next step"},
    {"readout", CHOICE(readout, "linear|tanh|attended|maxout"), .flags = DECODER | RNN | AUTO, PRESET,
     .help = "what is between decoder state and output layer"},
    {"start", CHOICE(start, "last|mean|first-backward|copy"), .flags = ENCODER | DECODER | RNN | AUTO, PRESET,
     .help = "encoder states that the first decoder state is made from"},

    {"heads", WHOLE(heads, 1, HD_MAX_HEADS), .group = "Model", .flags = MODEL, .default_help = "4 tiny, 4 small, 8 base",
     .help = "attention heads of a transformer or of score multi-head"},
    {"decoder", CHOICE(decoder, "self-attention|ssru"), .group = "Transformer", .flags = DECODER | TRANSFORMER | HEED_OPTION_IF_SET,
     .initial = "self-attention",
     .help = "how the decoder knows of the words before: self-attention, or a recurrent unit (ssru), whose steps cost the same however long a sentence is"},
    {"ffn", WHOLE(ffn, 1, HD_MAX_DIM * 4), .flags = TRANSFORMER, .initial = "2048", .default_help = "512 tiny, 1024 small, 2048 base",
     .help = "hidden size of feed-forward layers"},
    {"activation", CHOICE(activation, "relu|gelu|swish|tanh|sigmoid|gelu-tanh"), .flags = TRANSFORMER, .initial = "relu",
     .help = "activation of feed-forward layers; gelu-tanh is gelu by an approximation that some models were trained with"},
    {"norm", CHOICE(norm, "post|pre"), .flags = TRANSFORMER, .initial = "post", .default_help = "pre",
     .help = "layer norm after each residual connection (post) or before each sublayer (pre)"},
    {"norm-eps", REAL(norm_eps, 0, 1), .flags = TRANSFORMER | HEED_OPTION_ABOVE, .initial = "1e-6",
     .help = "epsilon of layer norm"},
    {"final-norm", .kind = HEED_OPTION_YES_NO, FIELD(final_norm), .flags = TRANSFORMER | AUTO,
     .default_help = "yes with norm pre", .help = "layer norm after the last layer"},
    {"positions", CHOICE(positions, "sin|learned|none"), .flags = TRANSFORMER, .initial = "sin",
     .help = "position encoding"},
    {"position-layout", CHOICE(position_layout, "interleaved|halves"), .flags = TRANSFORMER, .initial = "interleaved",
     .help = "order of the sinusoids: sin, cos, sin, cos, or all sin before all cos"},
    {"position-shorter", YES_NO(position_shorter), .flags = TRANSFORMER, .initial = "no",
     .help = "divide by d/2-1 instead of d/2 in the exponent of the sinusoids, as Marian does"},
    {"position-first", WHOLE(position_first, 0, 1), .flags = TRANSFORMER, .initial = "0",
     .help = "number of the first position"},
    {"max-positions", WHOLE(max_positions, 1, 1 << 20), .flags = TRANSFORMER, .initial = "512",
     .default_help = "512, or max-length + 1 if that is more", .help = "longest sentence with positions learned"},
    {"embed-scale", YES_NO(embed_scale), .flags = TRANSFORMER, .initial = "yes", .help = "multiply embeddings by √dim"},
    {"alignment-layer", WHOLE(alignment_layer, 0, HD_MAX_LAYERS), .flags = ENCODER | DECODER | TRANSFORMER, .initial = "0",
     .default_help = "chosen when training ends",
     .help = "decoder layer whose attention is reported, from 1; 0: the last but one, until training ends"},
    {"alignment-heads", .group = "Model", .kind = HEED_OPTION_NUMBERS, .offset = offsetof(struct hd_config, n_alignment_heads),
     .size = (HD_MAX_HEADS + 1) * sizeof(int), .most = HD_MAX_HEADS - 1, .flags = ENCODER | DECODER | MODEL, .initial = "none", .value = "LIST",
     .default_help = "chosen when training ends",
     .help = "heads to average for the reported attention, from 0, such as 0,3; none: all"},
    {0},
};
/* clang-format on */

bool hd_config_has(const struct hd_config *config, const heed_option *option)
{
    const unsigned kinds = HEED_OPTION_RECURRENT | HEED_OPTION_TRANSFORMER;
    const unsigned kind =
        config->arch == HD_TRANSFORMER ? HEED_OPTION_TRANSFORMER : HEED_OPTION_RECURRENT;
    const bool is_of_task =
        (!(option->flags & HEED_OPTION_ENCODER) || hd_config_has_encoder(config)) &&
        (!(option->flags & HEED_OPTION_DECODER) || hd_config_has_decoder(config));
    return is_of_task && ((option->flags & kinds) == 0 || (option->flags & kind) != 0);
}

struct hd_option_choice hd_config_choice(const char *name, int value)
{
    return hd_option_choice(heed_option_find(hd_config_options, name), value);
}

struct hd_config hd_config_defaults(void)
{
    struct hd_config c = {0};
    (void)heed_option_defaults(hd_config_options, &c, NULL); /* no texts: nothing can fail */
    return c;
}
