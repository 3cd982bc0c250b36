/* config.h -- what a model is: one plain struct, the same for every architecture.
 *
 * A preset (--arch) fills it with a paper's choices, a size (--size) with numbers, and single fields override both.
 * fields.c has one table with every field's name, values, default and meaning, from which JSON, help and checks are made.
 * Names and formulas: docs/models.md. */
#ifndef HD_MODEL_CONFIG_H
#define HD_MODEL_CONFIG_H

#include "option/option.h"
#include <heed_graph.h>

typedef struct json_t json_t; /* of jansson.h; those who only compute do without */

#define HD_ARCHS "seq2seq|bahdanau|luong|wang|ferreira|transformer" /* in the order of the enum */
enum hd_arch { HD_SEQ2SEQ, HD_BAHDANAU, HD_LUONG, HD_WANG, HD_FERREIRA, HD_TRANSFORMER };
enum hd_task { HD_TASK_TRANSLATE, HD_TASK_LABEL, HD_TASK_SPAN, HD_TASK_LANGUAGE_MODEL };
enum hd_source_type { HD_SOURCE_TEXT, HD_SOURCE_VECTORS, HD_SOURCE_NONE };
enum hd_reset { HD_RESET_AFTER, HD_RESET_BEFORE };
enum hd_recurrent_norm { HD_RNORM_NONE, HD_RNORM_WHOLE, HD_RNORM_SPLIT };
enum hd_context { HD_CONTEXT_ATTENTION, HD_CONTEXT_FIRST, HD_CONTEXT_EVERY };
enum hd_score {
    HD_SCORE_NONE,
    HD_SCORE_DOT,
    HD_SCORE_SCALED_DOT,
    HD_SCORE_BILINEAR,
    HD_SCORE_MLP,
    HD_SCORE_ADDITIVE,
    HD_SCORE_TANH_SUM,
    HD_SCORE_PROJECTED,
    HD_SCORE_SCALED,
    HD_SCORE_MULTI_HEAD,
    HD_SCORE_LOCATION,
    HD_SCORE_LOCATION_AWARE
};
enum hd_local { HD_LOCAL_NONE, HD_LOCAL_M, HD_LOCAL_P };
enum hd_attend { HD_ATTEND_BEFORE, HD_ATTEND_AFTER, HD_ATTEND_INSIDE };
enum hd_readout { HD_READOUT_LINEAR, HD_READOUT_TANH, HD_READOUT_ATTENDED, HD_READOUT_MAXOUT };
enum hd_start { HD_START_LAST, HD_START_MEAN, HD_START_FIRST_BACKWARD, HD_START_COPY };
enum hd_norm { HD_NORM_POST, HD_NORM_PRE };
enum hd_decoder_kind { HD_DECODER_SELF_ATTENTION, HD_DECODER_SSRU };
enum hd_positions { HD_POSITIONS_SIN, HD_POSITIONS_LEARNED, HD_POSITIONS_NONE };
enum hd_position_layout { HD_LAYOUT_INTERLEAVED, HD_LAYOUT_HALVES };
enum hd_tie { HD_TIE_NONE, HD_TIE_OUTPUT, HD_TIE_SOURCE_TARGET, HD_TIE_ALL };
/* GELU as its paper computes it, by tanh. */
enum { HD_GELU_TANH = HD_SIGMOID + 1 };
#define HD_SIZES "tiny|small|base"
enum hd_size { HD_SIZE_TINY, HD_SIZE_SMALL, HD_SIZE_BASE };

/* A field that is HD_OPTION_OPEN is chosen by hd_config_check() to go with the others. Sizes are open when 0. */
enum {
    HD_MAX_PYRAMID = 6,
    HD_MAX_HOPS = 8,
    HD_MAX_LAYERS = 64,
    HD_MAX_HEADS = 64,
    HD_MAX_DIM = 65536,
    HD_MAX_VOCAB = 1 << 24
};

struct hd_config {
    int arch; /* enum hd_arch: which preset it began as; the fields below decide everything but transformer or not */
    int task; /* enum hd_task: what comes out */
    int source; /* enum hd_source_type: what goes in */
    int source_vocab,
        target_vocab; /* of labels: their number; of a language model and of spans: both the same */
    int source_width; /* vectors: numbers of each */
    bool has_grids;   /* vectors: they stand in rows and columns */
    int stack,
        pyramid; /* vectors: so many side by side are one position; how often they are halved */
    bool
        has_traits; /* spans: words are also known by what they look like and by how much of them the other text has */
    int hops;         /* spans: how often the document is read, recurrent models */
    int max_answer;   /* spans: words of an answer at most */
    int target_start; /* id that stands before the first target word; -1 is a vector of zeros */

    int dim, encoder_dim, embed, encoder_layers,
        decoder_layers; /* encoder_dim and embed 0: as dim */
    int tie;            /* enum hd_tie */
    float ctc;          /* weight of CTC over the encoder's states; 0: no head for it */

    /* recurrent models */
    int cell; /* enum hd_cell */
    int gru_reset;
    int encoder_transitions, decoder_transitions,
        upper_transitions; /* further cells of a step, of a decoder's first layer and of those above */
    int recurrent_norm; /* enum hd_recurrent_norm: of what cells, score, start and readout multiply */
    bool residual;      /* layers above the first add what they have read */
    bool bidirectional, reverse_source;
    int context; /* enum hd_context, may be unset: attention with a score, first without */
    int score, attention_dim, score_depth; /* attention_dim 0: as dim */
    bool score_bias;
    int local, window, max_source;
    int location_filters, location_width; /* location-aware */
    bool coverage;
    int attend; /* enum hd_attend, may be unset: the paper's place; stays so without a score */
    int input_feeding; /* yes 1, no 0, may be unset: yes for luong as it is */
    int readout,
        start; /* may be unset: the paper's where they are possible, else what the others allow */

    /* Transformer; heads also for the score multi-head */
    int decoder; /* enum hd_decoder_kind: how it knows of the words before */
    int heads, ffn, norm;
    int activation; /* enum hd_function, or HD_GELU_TANH */
    int positions, position_layout, position_first, max_positions;
    bool position_shorter; /* the exponent's denominator is d/2-1, as in Marian, instead of d/2 */
    bool embed_scale;
    float norm_eps;
    int final_norm; /* a layer norm after the last block of each side; may be unset: yes with pre-norm */
    int alignment_layer; /* from 1; 0 chooses: the last but one, or the only one */
    int n_alignment_heads, alignment_heads[HD_MAX_HEADS]; /* none: the mean of all */
};

/* A preset at a size. Vocabularies are 0 and must be set. */
struct hd_config hd_config_preset(enum hd_arch arch, enum hd_size size);

/* Fill what was left to choose (HD_OPTION_OPEN, and sizes that are 0), then refuse what cannot be, naming the two options and the
 * remedy. A configuration that has been checked passes again unchanged. */
bool hd_config_check(struct hd_config *config, heed_error *err);

/* Set one field by its name ("encoder-dim" and "encoder_dim" are one) from text. "layers" sets both sides; the score
 * "local-m" or "local-p" is short for bilinear with it. Which fields go together is hd_config_check()'s business. */
bool hd_config_set(struct hd_config *config, const char *name, const char *value, heed_error *err);

/* As JSON: every field that matters for this kind of model, in a fixed order, but those that are unset. To be given to
 * json_decref(); NULL when there is no memory. Written with JSON_REAL_PRECISION(9) every float comes back as it was. */
json_t *hd_config_to_json(const struct hd_config *config);

/* Do they say the same of every field that matters? */
bool hd_config_is_same(const struct hd_config *one, const struct hd_config *other);

/* From JSON: the preset named by "arch", then its fields. Unknown fields are refused with the nearest right name; nothing is
 * half read. */
bool hd_config_from_json(struct hd_config *config, const json_t *json, heed_error *err);

/* What a model with this task and source is made of: an encoder of the source; a decoder that gives words one by one. */
bool hd_config_has_encoder(const struct hd_config *config);
bool hd_config_has_decoder(const struct hd_config *config);

/* Does a decoder attend to the words before? */
bool hd_config_has_decoder_attention(const struct hd_config *config);

/* Positions that a decoder attends to, of so many vectors; vectors of one position. */
int hd_config_positions(const struct hd_config *config, int n_frames);
int hd_config_frames(const struct hd_config *config);

/* Widths that follow from it. */
int hd_encoder_width(const struct hd_config *config); /* of h_j */
int hd_value_width(const struct hd_config *config);   /* of c_t; 0 where there is none */

/* Epsilon of the norms of a recurrent model: those of Ba et al. as Marian has them, of Nematus. */
float hd_recurrent_eps(const struct hd_config *config);

/* The formula of the attention in use, e.g. "e_tj = v·tanh(W s_{t-1} + U h_j)". Points into `text`. */
const char *hd_config_formula(const struct hd_config *config, char text[256]);

#endif
