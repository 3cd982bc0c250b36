/* fields.c -- every field of a configuration: its name, what it may be, what it means, whom it concerns.
 *
 * A choice's values stand in the order of its enum in config.h; that they do is tested. */
#include "model/fields.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define NUMBER(member, low, high) "number", .type = HD_FIELD_NUMBER, .offset = offsetof(struct hd_config, member), .min = low, .max = high
#define REAL(member, high)        "number", .type = HD_FIELD_REAL, .offset = offsetof(struct hd_config, member), .max = high
#define YES_NO(member)            "yes|no", .type = HD_FIELD_YES_NO, .offset = offsetof(struct hd_config, member)
#define MAYBE(member)             "yes|no", .type = HD_FIELD_MAYBE, .offset = offsetof(struct hd_config, member), .may_be_unset = true
#define CHOICE(member, n, names)  names, .type = HD_FIELD_CHOICE, .offset = offsetof(struct hd_config, member), .max = n
#define OPEN_CHOICE(member, n, names) CHOICE(member, n, names), .may_be_unset = true
#define FACT                      .kind = HD_OF_ALL
#define ANY                       .kind = HD_OF_ALL, .is_option = true
#define RECURRENT                 .kind = HD_OF_RECURRENT, .is_option = true
#define TRANSFORMER               .kind = HD_OF_TRANSFORMER, .is_option = true

const struct hd_field hd_fields[] = {
    {"arch", CHOICE(arch, 6, "seq2seq|bahdanau|luong|wang|ferreira|transformer"), FACT,
     .meaning = "the paper it began as"},
    {"source-vocab", NUMBER(source_vocab, 0, HD_MAX_VOCAB), FACT, .meaning = "words of the source vocabulary"},
    {"target-vocab", NUMBER(target_vocab, 0, HD_MAX_VOCAB), FACT, .meaning = "words of the target vocabulary"},
    {"target-start", NUMBER(target_start, -1, HD_MAX_VOCAB - 1), FACT,
     .meaning = "id that stands before the first target word; -1 is a vector of zeros"},

    {"dim", NUMBER(dim, 1, HD_MAX_DIM), ANY,
     .fallback = "128 tiny, 256 small, 512 base", .meaning = "width of the states h_j and s_t"},
    {"encoder-dim", NUMBER(encoder_dim, 0, HD_MAX_DIM), ANY, .fallback = "0", .meaning = "width of h_j; 0: as dim"},
    {"embed", NUMBER(embed, 0, HD_MAX_DIM), ANY, .fallback = "0", .meaning = "width of embeddings; 0: as dim"},
    {"layers", "number", .type = HD_FIELD_LAYERS, .min = 1, .max = HD_MAX_LAYERS, ANY,
     .fallback = "the preset's", .meaning = "layers on each side: encoder-layers and decoder-layers at once"},
    {"encoder-layers", NUMBER(encoder_layers, 1, HD_MAX_LAYERS), ANY,
     .fallback = "the preset's; transformer: 2, 3, 6 by size", .meaning = "layers of the encoder"},
    {"decoder-layers", NUMBER(decoder_layers, 1, HD_MAX_LAYERS), ANY,
     .fallback = "the preset's; transformer: 2, 3, 6 by size", .meaning = "layers of the decoder"},
    {"tie", CHOICE(tie, 4, "none|output|source-target|all"), ANY,
     .fallback = "output, and none for recurrent models; heed train ties what a shared vocabulary allows", .meaning = "which of source embeddings, target embeddings and output layer are one table"},

    {"cell", CHOICE(cell, 3, "rnn|gru|lstm"), RECURRENT,
     .fallback = "the preset's", .meaning = "how a state is made from the one before"},
    {"gru-reset", CHOICE(gru_reset, 2, "after|before"), RECURRENT,
     .fallback = "after", .meaning = "where a gru resets: after the product U s' (fast, the default) or before it (as in the papers)"},
    {"bidirectional", YES_NO(bidirectional), RECURRENT,
     .fallback = "the preset's", .meaning = "read the source both ways, half the width each"},
    {"reverse-source", YES_NO(reverse_source), RECURRENT, .fallback = "no", .meaning = "read the source from its end"},
    {"context", OPEN_CHOICE(context, 3, "attention|first|every"), RECURRENT,
     .fallback = "attention with a score, else first", .meaning = "without a score: the source's last state is known at the first step or at every step"},
    {"score", CHOICE(score, 11, "none|dot|scaled-dot|bilinear|mlp|additive|tanh-sum|projected|scaled|multi-head|location"
                                "|local-m|local-p"), RECURRENT,
     .fallback = "the preset's", .meaning = "how well a source position fits; local-m and local-p are bilinear with local m and p"},
    {"attention-dim", NUMBER(attention_dim, 0, HD_MAX_DIM), RECURRENT,
     .fallback = "0", .meaning = "width A inside a score; 0: as dim"},
    {"score-depth", NUMBER(score_depth, 1, 8), RECURRENT,
     .fallback = "2", .meaning = "layers of the score scaled's networks; 1 is a linear map"},
    {"score-bias", YES_NO(score_bias), RECURRENT,
     .fallback = "no", .meaning = "a bias inside the tanh of the scores mlp and additive"},
    {"local", CHOICE(local, 3, "none|m|p"), RECURRENT,
     .fallback = "none", .meaning = "look only near a position: m that of the target word, p a predicted one"},
    {"window", NUMBER(window, 1, HD_MAX_DIM), RECURRENT,
     .fallback = "10", .meaning = "how far local attention sees to each side"},
    {"max-source", NUMBER(max_source, 0, HD_MAX_DIM), RECURRENT,
     .fallback = "0", .meaning = "source positions that the score location knows"},
    {"coverage", YES_NO(coverage), RECURRENT,
     .fallback = "no", .meaning = "scores know how much a position was looked at before"},
    {"attend", OPEN_CHOICE(attend, 3, "before|after|inside"), RECURRENT,
     .fallback = "the preset's", .meaning = "when the decoder looks: before its step, after it, or between two cells"},
    {"input-feeding", MAYBE(input_feeding), RECURRENT,
     .fallback = "the preset's", .meaning = "the attended state joins the next step's input"},
    {"readout", OPEN_CHOICE(readout, 4, "linear|tanh|attended|maxout"), RECURRENT,
     .fallback = "the preset's", .meaning = "what is between the decoder's state and the output layer"},
    {"start", OPEN_CHOICE(start, 4, "last|mean|first-backward|copy"), RECURRENT,
     .fallback = "the preset's", .meaning = "which encoder states the decoder's first state is made from"},

    {"heads", NUMBER(heads, 1, HD_MAX_HEADS), ANY,
     .fallback = "4 tiny, 4 small, 8 base", .meaning = "heads of multi-head attention"},
    {"ffn", NUMBER(ffn, 1, HD_MAX_DIM * 4), TRANSFORMER,
     .fallback = "512 tiny, 1024 small, 2048 base", .meaning = "width of the feed-forward's hidden layer"},
    {"activation", CHOICE(activation, 3, "relu|gelu|swish"), TRANSFORMER,
     .fallback = "relu", .meaning = "the feed-forward's function"},
    {"norm", CHOICE(norm, 2, "post|pre"), TRANSFORMER,
     .fallback = "post; heed train chooses pre", .meaning = "layer norm after each residual sum, or before each part"},
    {"norm-eps", REAL(norm_eps, 1), TRANSFORMER, .fallback = "1e-6", .meaning = "what layer norm adds to the variance"},
    {"final-norm", MAYBE(final_norm), TRANSFORMER,
     .fallback = "yes with norm pre", .meaning = "a layer norm after the last block; yes with norm pre"},
    {"positions", CHOICE(positions, 3, "sin|learned|none"), TRANSFORMER,
     .fallback = "sin", .meaning = "how word order is told"},
    {"position-layout", CHOICE(position_layout, 2, "interleaved|halves"), TRANSFORMER,
     .fallback = "interleaved", .meaning = "sin, cos, sin, cos… or all sin, then all cos"},
    {"position-shorter", YES_NO(position_shorter), TRANSFORMER,
     .fallback = "no", .meaning = "frequencies reach 1/10000 at the last pair: d/2-1 in the exponent instead of d/2"},
    {"position-first", NUMBER(position_first, 0, 1), TRANSFORMER,
     .fallback = "0", .meaning = "what the first position is called"},
    {"max-positions", NUMBER(max_positions, 1, 1 << 20), TRANSFORMER,
     .fallback = "512", .meaning = "the longest sentence for learned positions"},
    {"embed-scale", YES_NO(embed_scale), TRANSFORMER, .fallback = "yes", .meaning = "embeddings times √dim"},
    {"alignment-layer", NUMBER(alignment_layer, 0, HD_MAX_LAYERS), TRANSFORMER,
     .fallback = "0", .meaning = "decoder layer, from 1, whose attention is shown; 0: the last but one"},
    {"alignment-heads", "list", .type = HD_FIELD_HEADS, .max = HD_MAX_HEADS - 1, ANY,
     .fallback = "none", .meaning = "its heads, from 0, that are averaged: \"0,3\"; none: all"},
};
/* clang-format on */

const int hd_n_fields = sizeof hd_fields / sizeof *hd_fields;

int hd_config_fields(void)
{
    return hd_n_fields;
}

struct hd_config_field hd_config_field(int i)
{
    const struct hd_field *f = &hd_fields[i];
    const bool has_range = strcmp(f->values, "number") == 0;
    return (struct hd_config_field){f->name,
                                    f->values,
                                    f->fallback,
                                    f->meaning,
                                    f->is_option,
                                    has_range ? (double)f->min : 0,
                                    has_range ? (double)f->max : 0};
}

/* ---- by name --------------------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b))
            return false;
    return *a == *b;
}

const struct hd_field *hd_field_find(const char *name)
{
    for (int i = 0; i < hd_n_fields; i++)
        if (same_name(hd_fields[i].name, name))
            return &hd_fields[i];
    return NULL;
}

const char *hd_field_nearest(const char *name)
{
    const char *names[sizeof hd_fields / sizeof *hd_fields];
    for (int i = 0; i < hd_n_fields; i++)
        names[i] = hd_fields[i].name;
    char dashed[64];
    snprintf(dashed, sizeof dashed, "%s", name);
    for (char *c = dashed; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return hd_nearest(dashed, names, hd_n_fields);
}

bool hd_field_applies(const struct hd_field *field, const struct hd_config *config)
{
    return field->kind == HD_OF_ALL ||
           (field->kind == HD_OF_TRANSFORMER) == (config->arch == HD_TRANSFORMER);
}

/* ---- the values of a choice ------------------------------------------------------------------ */

/* The i-th of "a|b|c", and its length; NULL when there are no more. */
static const char *value_at(const char *values, int i, size_t *length)
{
    for (; i > 0 && values; i--) {
        values = strchr(values, '|');
        values = values ? values + 1 : NULL;
    }
    *length = values ? strcspn(values, "|") : 0;
    return values;
}

struct hd_value_name hd_field_value(const struct hd_field *field, int i)
{
    struct hd_value_name name = {""};
    size_t length;
    const char *at = value_at(field->values, i, &length);
    if (at && length < sizeof name.s)
        memcpy(name.s, at, length);
    return name;
}

int hd_field_value_index(const struct hd_field *field, const char *text)
{
    const char *at;
    size_t length;
    for (int i = 0; (at = value_at(field->values, i, &length)); i++)
        if (strlen(text) == length && memcmp(at, text, length) == 0)
            return i;
    return -1;
}

struct hd_value_name hd_field_value_nearest(const struct hd_field *field, const char *text)
{
    enum { MOST = 16 };
    struct hd_value_name value[MOST];
    const char *names[MOST];
    int n = 0;
    size_t length;
    for (; n < MOST && value_at(field->values, n, &length); n++) {
        value[n] = hd_field_value(field, n);
        names[n] = value[n].s;
    }
    struct hd_value_name nearest = {""};
    const char *near = hd_nearest(text, names, n);
    if (near)
        snprintf(nearest.s, sizeof nearest.s, "%s", near);
    return nearest;
}

/* "a, b or c" from "a|b|c". */
static void say_values(char *text, size_t size, const char *values)
{
    const char *at;
    size_t length, used = 0;
    for (int i = 0; (at = value_at(values, i, &length)) && used < size; i++) {
        const bool is_last = at[length] == '\0';
        used += (size_t)snprintf(text + used, size - used, "%s%.*s",
                                 i == 0    ? ""
                                 : is_last ? " or "
                                           : ", ",
                                 (int)length, at);
    }
}

struct hd_field_range hd_field_range(const struct hd_field *field)
{
    struct hd_field_range range = {""};
    switch (field->type) {
    case HD_FIELD_NUMBER:
    case HD_FIELD_LAYERS:
        snprintf(range.s, sizeof range.s, "a whole number from %d to %d", field->min, field->max);
        break;
    case HD_FIELD_REAL:
        snprintf(range.s, sizeof range.s, "a number greater than 0 and at most %d", field->max);
        break;
    case HD_FIELD_HEADS:
        snprintf(range.s, sizeof range.s, "a list of heads, each once, from 0 to %d", field->max);
        break;
    case HD_FIELD_YES_NO:
    case HD_FIELD_MAYBE:
    case HD_FIELD_CHOICE:
        say_values(range.s, sizeof range.s, field->values);
        break;
    }
    return range;
}
