/* marian_config.c -- Marian's configuration, YAML inside its file, as ours.
 *
 * What heed cannot do is refused by the name that Marian has for it. */
#include "model/cell.h"
#include "model/import_marian.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the YAML -------------------------------------------------------------------------------------------------------------- */

enum { LARGEST_YAML = 1 << 20 };

/* Its YAML is flat: "key: value" lines, and lists of "  - value" lines. */
static bool read_yaml(struct hd_marian *m)
{
    const struct hd_tensor *t = hd_foreign_find(&m->in, "special:model.yml");
    if (!t || (t->dtype != HD_I8 && t->dtype != HD_U8))
        return hd_fail(m->in.err, HEED_BAD_MODEL,
                       "%s: it has no special:model.yml, so it is not a model of Marian; only "
                       "those are imported from .npz",
                       m->in.path);
    if (t->bytes > LARGEST_YAML)
        return hd_fail(
            m->in.err, HEED_BAD_MODEL,
            "%s: its special:model.yml has %zu bytes, and a configuration of Marian a few "
            "thousand; the file is damaged",
            m->in.path, t->bytes);
    m->yaml = hd_alloc(t->bytes + 1, 1, m->in.err);
    if (!m->yaml)
        return false;
    memcpy(m->yaml, t->data, t->bytes); /* padded with NUL, and one more here */
    hd_foreign_skip(&m->in, t->name);
    return true;
}

/* Where the line "key:" goes on, or NULL. */
static const char *line_of(const struct hd_marian *m, const char *key)
{
    const size_t n = strlen(key);
    for (const char *line = m->yaml; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ':')
            return line + n + 1;
    }
    return NULL;
}

/* The value of a key without quotes; "" when there is none. */
struct hd_marian_word hd_marian_value(const struct hd_marian *m, const char *key)
{
    struct hd_marian_word w = {""};
    const char *from = line_of(m, key);
    if (!from)
        return w;
    while (*from == ' ' || *from == '"')
        from++;
    size_t n = strcspn(from, "\n\"");
    while (n > 0 && from[n - 1] == ' ')
        n--;
    n = n < sizeof w.s ? n : sizeof w.s - 1;
    memcpy(w.s, from, n);
    w.s[n] = '\0';
    return w;
}

bool hd_marian_is_true(const struct hd_marian *m, const char *key)
{
    return strcmp(hd_marian_value(m, key).s, "true") == 0;
}

/* -1 for what is negative, and one more than any size can be for what is larger still. */
static int number_in(const char *text)
{
    const long n = strtol(text, NULL, 10);
    return n < 0 ? -1 : n > HD_MAX_VOCAB ? HD_MAX_VOCAB + 1 : (int)n;
}

int hd_marian_number(const struct hd_marian *m, const char *key)
{
    return number_in(hd_marian_value(m, key).s);
}

/* The i-th number of a list, 0 when there is none. */
int hd_marian_listed(const struct hd_marian *m, const char *key, int i)
{
    const char *at = line_of(m, key);
    for (; at && i >= 0; i--) {
        at = strchr(at, '\n');
        if (!at || strncmp(at + 1, "  - ", 4) != 0)
            return 0;
        at += 5;
    }
    return at ? number_in(at) : 0;
}

/* A key must have one of these values ("" is "not there"), else the model is something that heed cannot do. */
static bool must_be(const struct hd_marian *m, const char *key, const char *a, const char *b)
{
    const struct hd_marian_word w = hd_marian_value(m, key);
    return strcmp(w.s, a) == 0 || strcmp(w.s, b) == 0 || w.s[0] == '\0' ||
           hd_fail(m->in.err, HEED_BAD_MODEL,
                   "%s: its %s is %s, which heed cannot do; %s%s%s can be imported", m->in.path,
                   key, hd_quote(w.s).text, *a ? a : "none", *b ? " or " : "", b);
}

/* ---- what both kinds have --------------------------------------------------------------------------------------------------- */

static int tie_of(const struct hd_marian *m)
{
    const bool is_output = hd_marian_is_true(m, "tied-embeddings"),
               is_source = hd_marian_is_true(m, "tied-embeddings-src");
    if (hd_marian_is_true(m, "tied-embeddings-all") || (is_output && is_source))
        return HD_TIE_ALL;
    return is_output ? HD_TIE_OUTPUT : is_source ? HD_TIE_SOURCE_TARGET : HD_TIE_NONE;
}

static void set_common(const struct hd_marian *m, struct hd_config *c)
{
    c->source_vocab = hd_marian_listed(m, "dim-vocabs", 0);
    c->target_vocab = hd_marian_listed(m, "dim-vocabs", 1);
    c->embed = hd_marian_number(m, "dim-emb");
    c->encoder_layers = hd_marian_number(m, "enc-depth");
    c->decoder_layers = hd_marian_number(m, "dec-depth");
    c->tie = tie_of(m);
    c->target_start = -1;
}

/* Until February 2022 (v1.11) Marian did not normalise keys and values where norms stand before. "v1.10.0 6f6d484 2021-02-06 ...": by the day
 * where it is told. */
static bool is_of_old(const struct hd_marian *m)
{
    const struct hd_marian_word version = hd_marian_value(m, "version");
    int minor, year, month;
    for (const char *at = version.s; *at; at++)
        if (sscanf(at, "%4d-%2d-", &year, &month) == 2 && year > 2000)
            return year < 2022 || (year == 2022 && month < 2);
    return sscanf(version.s, "v1.%d", &minor) == 1 && minor < 11;
}

/* ---- the Transformer ----------------------------------------------------------------------------------------------------------- */

static bool is_word(const struct hd_marian *m, const char *key, const char *word)
{
    return strcmp(hd_marian_value(m, key).s, word) == 0;
}

/* Norms after each part ("dan"), or before each and once more on top. */
static bool check_norms(const struct hd_marian *m, bool *is_pre)
{
    const struct hd_marian_word before = hd_marian_value(m, "transformer-preprocess"),
                                after = hd_marian_value(m, "transformer-postprocess"),
                                top = hd_marian_value(m, "transformer-postprocess-top");
    const bool is_post =
        strcmp(before.s, "") == 0 && strcmp(after.s, "dan") == 0 && strcmp(top.s, "") == 0;
    *is_pre = strcmp(before.s, "n") == 0 && strcmp(after.s, "da") == 0 && strcmp(top.s, "n") == 0;
    if (!is_post && !*is_pre)
        return hd_fail(m->in.err, HEED_BAD_MODEL,
                       "%s: its norms (transformer-preprocess %s, -postprocess %s, "
                       "-postprocess-top %s) are a mixture that heed "
                       "cannot do; dan after, or n before with n on top, can be imported",
                       m->in.path, hd_quote(before.s).text, hd_quote(after.s).text,
                       hd_quote(top.s).text);
    if (*is_pre && is_of_old(m))
        return hd_fail(
            m->in.err, HEED_BAD_MODEL,
            "%s: its norms stand before each part (transformer-preprocess n), and it was "
            "made by Marian %s, which computed them in another way until February 2022; "
            "train it further with a newer Marian",
            m->in.path, hd_quote(hd_marian_value(m, "version").s).text);
    return true;
}

/* How the decoder knows of the words before: "rnn" with the cell ssru, or self-attention. */
static bool check_decoder(const struct hd_marian *m, bool *is_ssru)
{
    *is_ssru = is_word(m, "transformer-decoder-autoreg", "rnn");
    if (!*is_ssru)
        return must_be(m, "transformer-decoder-autoreg", "self-attention",
                       "rnn with dec-cell ssru");
    const struct hd_marian_word cell = hd_marian_value(m, "dec-cell");
    if (strcmp(cell.s, "ssru") != 0)
        return hd_fail(m->in.err, HEED_BAD_MODEL,
                       "%s: its transformer-decoder-autoreg is rnn with dec-cell %s, which heed "
                       "cannot do; ssru can be imported",
                       m->in.path, hd_quote(cell.s).text);
    return must_be(m, "transformer-rnn-projection", "false", "") &&
           must_be(m, "layer-normalization", "false", "");
}

static bool transformer_config(struct hd_marian *m, struct hd_config *c)
{
    const struct hd_marian_word f = hd_marian_value(m, "transformer-ffn-activation");
    bool is_pre, is_ssru;
    if (!check_norms(m, &is_pre) || !check_decoder(m, &is_ssru) ||
        !must_be(m, "transformer-ffn-depth", "2", "") ||
        !must_be(m, "transformer-decoder-ffn-depth", "0", "2") ||
        !must_be(m, "transformer-decoder-dim-ffn", "0",
                 hd_marian_value(m, "transformer-dim-ffn").s) ||
        !must_be(m, "transformer-no-projection", "false", "") ||
        !must_be(m, "transformer-pool", "false", "") ||
        !must_be(m, "transformer-attention-mask", "default", "") ||
        !must_be(m, "transformer-postprocess-emb", "d", "") ||
        !must_be(m, "transformer-no-bias", "false", "") ||
        !must_be(m, "transformer-alibi-shift", "false", "") ||
        !must_be(m, "transformer-train-position-embeddings", "false", "") ||
        !must_be(m, "transformer-no-affine", "false", "") ||
        !must_be(m, "transformer-ffn-activation", "swish", f.s[0] == 'r' ? "relu" : "gelu"))
        return false;
    *c = hd_config_preset(HD_TRANSFORMER, HD_SIZE_BASE);
    set_common(m, c);
    c->dim = c->embed;
    c->heads = hd_marian_number(m, "transformer-heads");
    c->ffn = hd_marian_number(m, "transformer-dim-ffn");
    c->activation = f.s[0] == 's' ? HD_SWISH : f.s[0] == 'g' ? HD_GELU : HD_RELU;
    c->decoder = is_ssru ? HD_DECODER_SSRU : HD_DECODER_SELF_ATTENTION;
    c->norm = is_pre ? HD_NORM_PRE : HD_NORM_POST;
    c->final_norm = is_pre;
    c->position_layout = HD_LAYOUT_HALVES;
    c->position_shorter = true;
    c->position_first = 0;
    if (hd_marian_is_true(m, "transformer-disable-position-embeddings"))
        c->positions = HD_POSITIONS_NONE;
    c->embed_scale = true;
    c->norm_eps = 1e-6F;
    /* Marian's own soft alignment is the first head of this layer, which is better than the mean of all only where it was
     * trained with guided alignment, and the file does not say so. */
    c->alignment_layer = c->decoder_layers;
    if (hd_marian_listed(m, "transformer-tied-layers", 0) > 0)
        m->in.n_copies = c->decoder_layers; /* a layer's tensors may be read for each of them */
    return true;
}

/* ---- recurrent models ------------------------------------------------------------------------------------------------------------ */

/* Its name for one of our cells; gru-nematus is another only with its norms. */
static bool read_cell(const struct hd_marian *m, const char *key, int *cell)
{
    static const struct {
        const char *name;
        int cell;
    } cells[] = {{"gru", HD_GRU}, {"gru-nematus", HD_GRU}, {"lstm", HD_LSTM}, {"tanh", HD_RNN}};
    const struct hd_marian_word name = hd_marian_value(m, key);
    *cell = HD_GRU;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (strcmp(name.s, cells[i].name) == 0) {
            *cell = cells[i].cell;
            return true;
        }
    return name.s[0] == '\0' ||
           hd_fail(m->in.err, HEED_BAD_MODEL,
                   "%s: its %s is %s, which heed cannot do; gru, gru-nematus, lstm and tanh can be "
                   "imported",
                   m->in.path, key, hd_quote(name.s).text);
}

static bool check_cells(const struct hd_marian *m, int *cell)
{
    int of_decoder;
    if (!read_cell(m, "enc-cell", cell) || !read_cell(m, "dec-cell", &of_decoder))
        return false;
    return *cell == of_decoder ||
           hd_fail(m->in.err, HEED_BAD_MODEL,
                   "%s: its enc-cell is %s and its dec-cell %s, but a model of heed has the same "
                   "cell on both sides",
                   m->in.path, hd_quote(hd_marian_value(m, "enc-cell").s).text,
                   hd_quote(hd_marian_value(m, "dec-cell").s).text);
}

/* amun and nematus are one layer of GRUs on each side, and have names for no other. */
static bool check_depths(const struct hd_marian *m)
{
    return is_word(m, "type", "s2s") ||
           (must_be(m, "enc-depth", "1", "") && must_be(m, "dec-depth", "1", "") &&
            must_be(m, "enc-type", "bidirectional", "") &&
            must_be(m, "enc-cell", "gru", "gru-nematus") &&
            must_be(m, "dec-cell", "gru", "gru-nematus"));
}

static bool check_encoder(const struct hd_marian *m)
{
    return is_word(m, "enc-type", "alternating") ||
           must_be(m, "enc-type", "bidirectional", "bi-unidirectional");
}

/* Cells of a step beyond the first so many, which are there anyhow. */
static bool read_transitions(const struct hd_marian *m, const char *key, int least, int *n)
{
    const struct hd_marian_word depth = hd_marian_value(m, key);
    *n = depth.s[0] == '\0' ? 0 : hd_marian_number(m, key) - least;
    return (*n >= 0 && *n <= HD_MAX_TRANSITIONS) ||
           hd_fail(m->in.err, HEED_BAD_MODEL,
                   "%s: its %s is %s, which heed cannot do; %d to %d can be imported", m->in.path,
                   key, hd_quote(depth.s).text, least, least + HD_MAX_TRANSITIONS);
}

/* With Nematus's cells the norms are Nematus's, and then everywhere; s2s has its own beside such cells. */
static bool read_norm(const struct hd_marian *m, int *norm)
{
    const bool is_split = is_word(m, "type", "nematus");
    *norm = HD_RNORM_NONE;
    if (!hd_marian_is_true(m, "layer-normalization"))
        return true;
    *norm = is_split ? HD_RNORM_SPLIT : HD_RNORM_WHOLE;
    return is_split ||
           (!is_word(m, "enc-cell", "gru-nematus") && !is_word(m, "dec-cell", "gru-nematus")) ||
           hd_fail(m->in.err, HEED_BAD_MODEL,
                   "%s: it is a model of type %s with layer-normalization and cells gru-nematus, "
                   "which has norms of two kinds; heed imports gru, lstm and tanh in such a model, "
                   "and type nematus with gru-nematus",
                   m->in.path, hd_quote(hd_marian_value(m, "type").s).text);
}

/* Where stacks of the encoder change their places, or begin anew, a layer's output and what it has read do not stand side by side. */
static bool read_skip(const struct hd_marian *m, bool *is_residual)
{
    const bool is_deep = hd_marian_number(m, "enc-depth") > 1;
    *is_residual =
        hd_marian_is_true(m, "skip") && (is_deep || hd_marian_number(m, "dec-depth") > 1);
    return !*is_residual || !is_deep || is_word(m, "enc-type", "bidirectional") ||
           hd_fail(m->in.err, HEED_BAD_MODEL,
                   "%s: its skip is true and its enc-type is %s, which heed cannot do together; "
                   "skip can be imported with bidirectional",
                   m->in.path, hd_quote(hd_marian_value(m, "enc-type").s).text);
}

static bool recurrent_config(struct hd_marian *m, struct hd_config *c)
{
    int cell, norm, of_encoder, of_decoder = 0, of_upper = 0;
    bool is_residual;
    const bool has_upper = hd_marian_number(m, "dec-depth") > 1,
               is_after = !has_upper && is_word(m, "dec-cell-base-depth", "1");
    if (!check_depths(m) || !check_cells(m, &cell) || !check_encoder(m) ||
        !read_transitions(m, "enc-cell-depth", 1, &of_encoder) ||
        (!is_after && !read_transitions(m, "dec-cell-base-depth", 2, &of_decoder)) ||
        (has_upper && !read_transitions(m, "dec-cell-high-depth", 1, &of_upper)) ||
        !read_norm(m, &norm) || !read_skip(m, &is_residual))
        return false;
    *c = hd_config_preset(HD_BAHDANAU, HD_SIZE_BASE);
    set_common(m, c);
    const bool is_one_way = is_word(m, "enc-type", "bi-unidirectional") && c->encoder_layers > 1;
    c->dim = hd_marian_number(m, "dim-rnn");
    c->cell = cell;
    c->encoder_dim = 2 * c->dim;
    c->attention_dim = is_one_way ? c->dim : 2 * c->dim;
    c->bidirectional = true;
    c->score = HD_SCORE_ADDITIVE;
    c->score_bias = true;
    c->attend = is_after ? HD_ATTEND_AFTER : HD_ATTEND_INSIDE;
    c->encoder_transitions = of_encoder;
    c->decoder_transitions = of_decoder;
    c->upper_transitions = of_upper;
    c->recurrent_norm = norm;
    c->residual = is_residual;
    c->input_feeding = 0;
    c->readout = HD_READOUT_TANH;
    c->start = HD_START_MEAN;
    m->in.n_copies = 4; /* upper layers of the encoder stand in wider matrices */
    return true;
}

bool hd_marian_config(struct hd_marian *m, struct hd_config *c)
{
    if (!read_yaml(m) || !must_be(m, "output-omit-bias", "false", "") ||
        !must_be(m, "right-left", "false", "") || !must_be(m, "ulr", "false", "") ||
        !must_be(m, "lemma-dim-emb", "0", ""))
        return false;
    static const char *const recurrent[] = {"s2s", "amun", "nematus"};
    const struct hd_marian_word type = hd_marian_value(m, "type");
    if (strcmp(type.s, "transformer") == 0)
        return transformer_config(m, c);
    for (size_t i = 0; i < sizeof recurrent / sizeof *recurrent; i++)
        if (strcmp(type.s, recurrent[i]) == 0)
            return recurrent_config(m, c);
    return hd_fail(m->in.err, HEED_BAD_MODEL,
                   "%s: a Marian model of type %s; transformer, s2s, amun and nematus can be "
                   "imported",
                   m->in.path, hd_quote(type.s).text);
}
