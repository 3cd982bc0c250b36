/* marian_rnn.c -- the tensors of Marian's recurrent models (s2s, amun, nematus) under our names.
 *
 * Its GRU keeps the gates r,z and the candidate n in two matrices, ours in one; its LSTM has the gates f,i,g,o, ours i,f,g,o. Of its
 * encoder's two directions each is a stack by itself, where a layer of ours reads both directions of the layer below: what would read
 * the other one is zeros. In an encoder that is `alternating` the stacks change their direction at every layer; in one that is
 * `bi-unidirectional` the layers above the first read forwards only, and the backward cell of ours, whose weights are all zeros, says
 * zeros. Either way the numbers are Marian's. */
#include "model/import_marian.h"

#include <stdio.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

/* A cell of Marian's: of one direction of the encoder, or of the decoder; from 1. */
struct place {
    bool is_decoder, is_backward;
    int layer, number;
};

static bool is_value(const struct hd_marian *m, const char *key, const char *value)
{
    return strcmp(hd_marian_value(m, key).s, value) == 0;
}

/* amun and nematus have names of their own, those of Nematus. */
static bool has_old_names(const struct hd_marian *m)
{
    return !is_value(m, "type", "s2s");
}

/* Layers above the first of the encoder that is bidirectional in its first layer alone. */
static bool is_one_way(const struct hd_marian *m, int layer)
{
    return is_value(m, "enc-type", "bi-unidirectional") && layer > 1;
}

struct name {
    char s[96];
};

static struct name old_name(const struct place *p, const char *what)
{
    struct name n;
    const bool is_second = p->is_decoder && p->number == 2, is_gain = what[0] == 'g';
    const char *input = strcmp(what, "W") == 0 ? "Wc" : strcmp(what, "Wx") == 0 ? "Wcx" : NULL;
    if (p->is_decoder && is_gain)
        snprintf(n.s, sizeof n.s, "decoder_cell%d_%s", p->number, what);
    else if (p->is_decoder && p->number > 2)
        snprintf(n.s, sizeof n.s, "decoder_%s_nl_drt_%d", what, p->number - 2);
    else if (!p->is_decoder && p->number > 1)
        snprintf(n.s, sizeof n.s, "encoder%s_%s_drt_%d", p->is_backward ? "_r" : "", what,
                 p->number - 1);
    else if (is_second && input)
        snprintf(n.s, sizeof n.s, "decoder_%s", input);
    else if (is_second)
        snprintf(n.s, sizeof n.s, "decoder_%s_nl", what);
    else
        snprintf(n.s, sizeof n.s, "%s%s_%s", p->is_decoder ? "decoder" : "encoder",
                 p->is_backward ? "_r" : "", what);
    return n;
}

static struct name name_of(const struct hd_marian *m, const struct place *p, const char *what)
{
    struct name n;
    if (has_old_names(m))
        return old_name(p, what);
    if (p->is_decoder && p->layer == 1)
        snprintf(n.s, sizeof n.s, "decoder_cell%d_%s", p->number, what);
    else if (p->is_decoder || is_one_way(m, p->layer))
        snprintf(n.s, sizeof n.s, "%s_l%d_cell%d_%s", p->is_decoder ? "decoder" : "encoder",
                 p->layer, p->number, what);
    else if (p->layer == 1 && p->number == 1)
        snprintf(n.s, sizeof n.s, "encoder_bi%s_%s", p->is_backward ? "_r" : "", what);
    else if (p->layer == 1)
        snprintf(n.s, sizeof n.s, "encoder_bi%s_cell%d_%s", p->is_backward ? "_r" : "", p->number,
                 what);
    else
        snprintf(n.s, sizeof n.s, "encoder_bi%s_l%d_cell%d_%s", p->is_backward ? "_r" : "",
                 p->layer, p->number, what);
    return n;
}

/* ---- cells ----------------------------------------------------------------------------------------------------------------- */

/* Columns [at, at+columns) of rows from `row` on of a parameter. */
static bool read_into(struct hd_marian *m, const char *name, hd_node *p, int row, int rows, int at,
                      int columns, bool is_added)
{
    const int width = hd_width(p);
    return hd_foreign_read(&m->in, name,
                           &(struct hd_foreign_place){.to = p->x + (size_t)row * (size_t)width,
                                                      .rows = rows,
                                                      .columns = columns,
                                                      .at = at,
                                                      .width = width,
                                                      .is_added = is_added});
}

/* f,i,g,o become i,f,g,o. */
static void swap_gates(hd_node *p, int row, int rows)
{
    const size_t width = (size_t)hd_width(p), D = width / 4;
    for (size_t r = (size_t)row; r < (size_t)row + (size_t)rows; r++)
        for (size_t i = 0; i < D; i++) {
            float *f = p->x + r * width + i;
            const float was = *f;
            *f = f[D];
            f[D] = was;
        }
}

/* One kind of a cell's weights, `what` of W, U and b, to rows of ours. */
static bool take_gates(struct hd_marian *m, const struct place *place, const char *what, hd_node *p,
                       int row, int rows)
{
    const struct hd_config *c = &m->in.net->config;
    const int D = c->dim, width = hd_width(p);
    const struct name gates = name_of(m, place, what);
    if (c->cell != HD_GRU) {
        if (!read_into(m, gates.s, p, row, rows, 0, width, false))
            return false;
        if (c->cell == HD_LSTM)
            swap_gates(p, row, rows);
        return true;
    }
    char of_candidate[4];
    snprintf(of_candidate, sizeof of_candidate, "%sx", what);
    const struct name candidate = name_of(m, place, of_candidate);
    return read_into(m, gates.s, p, row, rows, 0, 2 * D, false) &&
           read_into(m, candidate.s, p, row, rows, 2 * D, D, false);
}

static hd_node *ours(const struct hd_marian *m, const char *prefix, const char *name)
{
    char whole[80];
    snprintf(whole, sizeof whole, "%s.%s", prefix, name);
    return hd_params_find(m->in.net->params, whole);
}

/* The vectors of a norm: s2s has its gain alone, of all gates at once; nematus a gain and a bias, of the gates and of the candidate. `what` is
 * W of the input's share, or U. */
static bool take_norm(struct hd_marian *m, const struct place *place, const char *what,
                      const char *prefix)
{
    const struct hd_config *c = &m->in.net->config;
    const char *share = what[0] == 'W' ? "x" : "u";
    if (c->recurrent_norm == HD_RNORM_NONE)
        return true;
    if (c->recurrent_norm == HD_RNORM_WHOLE) {
        char at[16];
        snprintf(at, sizeof at, "%s.gain", share);
        hd_node *gain = ours(m, prefix, at);
        /* of a tanh cell three times as long as what is read of it */
        const struct hd_foreign_place place_of_gain = {.to = gain->x,
                                                       .rows = 1,
                                                       .columns = hd_width(gain),
                                                       .width = hd_width(gain),
                                                       .n_parts = c->cell == HD_RNN ? 3 : 1};
        const struct name theirs = name_of(m, place, what[0] == 'W' ? "gamma1" : "gamma2");
        if (!hd_foreign_read(&m->in, theirs.s, &place_of_gain))
            return false;
        if (c->cell == HD_LSTM)
            swap_gates(gain, 0, 1);
        return true;
    }
    for (int i = 0; i < 4; i++) {
        char of_candidate[4], theirs[112], at[16];
        const bool is_gain = i % 2 == 0;
        snprintf(of_candidate, sizeof of_candidate, "%sx", what);
        snprintf(theirs, sizeof theirs, "%s_ln%c", name_of(m, place, i < 2 ? what : of_candidate).s,
                 is_gain ? 's' : 'b');
        snprintf(at, sizeof at, "%s.%s.%s", share, i < 2 ? "rz" : "n", is_gain ? "gain" : "bias");
        if (!hd_marian_take(m, theirs, "%s.%s", prefix, at))
            return false;
    }
    return true;
}

/* Whose share a bias is, and where: that of a cell behind attention is on the state's side, where a GRU has one; in s2s it is added
 * behind the norm. */
static const char *bias_of(const struct hd_config *c, bool is_second, bool is_transition)
{
    const bool is_whole = c->recurrent_norm == HD_RNORM_WHOLE;
    if (is_second && c->cell == HD_GRU)
        return is_whole ? "u.bias" : "c";
    return is_whole && !is_transition ? "x.bias" : "b";
}

/* Further cells of a step behind this one, which read nothing. */
static bool take_transitions(struct hd_marian *m, const struct place *first, const char *prefix,
                             int n)
{
    const struct hd_config *c = &m->in.net->config;
    const bool is_second = first->is_decoder && first->number == 2;
    struct place place = *first;
    for (int i = 1; i <= n; i++) {
        char deep[64];
        place.number = first->number + i;
        snprintf(deep, sizeof deep, "%s.deep.%d", prefix, i);
        if (!take_gates(m, &place, "U", ours(m, deep, "U"), 0, c->dim) ||
            !take_gates(m, &place, "b", ours(m, deep, bias_of(c, is_second, true)), 0, 1) ||
            !take_norm(m, &place, "U", deep))
            return false;
    }
    return true;
}

/* A cell under this prefix of ours, which reads `rows` numbers from `row` on. */
static bool take_cell(struct hd_marian *m, const struct place *place, const char *prefix, int row,
                      int rows)
{
    const struct hd_config *c = &m->in.net->config;
    const int n = !place->is_decoder  ? c->encoder_transitions
                  : place->layer == 1 ? 0 /* they are the second cell's */
                                      : c->upper_transitions;
    return take_gates(m, place, "W", ours(m, prefix, "W"), row, rows) &&
           take_gates(m, place, "U", ours(m, prefix, "U"), 0, c->dim) &&
           take_gates(m, place, "b", ours(m, prefix, bias_of(c, false, false)), 0, 1) &&
           take_norm(m, place, "W", prefix) && take_norm(m, place, "U", prefix) &&
           take_transitions(m, place, prefix, n);
}

/* ---- the encoder ------------------------------------------------------------------------------------------------------------- */

/* Which way a stack reads in a layer. */
static bool is_backward_in(const struct hd_marian *m, bool is_second, int layer)
{
    return is_second ^ (is_value(m, "enc-type", "alternating") && layer % 2 == 0);
}

static bool take_encoder_cell(struct hd_marian *m, bool is_second, int layer)
{
    const struct hd_config *c = &m->in.net->config;
    const struct place place = {.is_backward = is_second, .layer = layer, .number = 1};
    const bool is_wide = is_one_way(m, layer) && layer == 2;
    char prefix[48];
    snprintf(prefix, sizeof prefix, "encoder.%d.%s", layer,
             is_backward_in(m, is_second, layer) ? "backward" : "forward");
    if (layer == 1)
        return take_cell(m, &place, prefix, 0, c->embed);
    const int from = is_backward_in(m, is_second, layer - 1) ? c->dim : 0;
    return take_cell(m, &place, prefix, is_wide ? 0 : from, is_wide ? 2 * c->dim : c->dim);
}

static bool take_encoder(struct hd_marian *m)
{
    for (int l = 1; l <= m->in.net->config.encoder_layers; l++)
        if (!take_encoder_cell(m, false, l) ||
            (!is_one_way(m, l) && !take_encoder_cell(m, true, l)))
            return false;
    return true;
}

/* How many of the numbers of our h_j are those that Marian attends to: both directions, or the first. */
static int context_rows(const struct hd_marian *m)
{
    const struct hd_config *c = &m->in.net->config;
    return is_one_way(m, c->encoder_layers) ? c->dim : 2 * c->dim;
}

/* What reads h_j, once it is whole: where the stacks have changed places, so must its rows. */
static void settle_rows(const struct hd_marian *m, hd_node *p)
{
    const struct hd_config *c = &m->in.net->config;
    const size_t n = (size_t)c->dim * (size_t)hd_width(p);
    if (!is_backward_in(m, false, c->encoder_layers))
        return;
    for (size_t i = 0; i < n; i++) {
        const float was = p->x[i];
        p->x[i] = p->x[n + i];
        p->x[n + i] = was;
    }
}

/* A map of h_j. */
static bool take_of_context(struct hd_marian *m, const char *theirs, const char *name)
{
    hd_node *p = hd_params_find(m->in.net->params, name);
    if (!read_into(m, theirs, p, 0, context_rows(m), 0, hd_width(p), false))
        return false;
    settle_rows(m, p);
    return true;
}

/* ---- the decoder ------------------------------------------------------------------------------------------------------------- */

/* Attention stands between two cells. */
static bool take_second(struct hd_marian *m)
{
    const struct hd_config *c = &m->in.net->config;
    const struct place place = {.is_decoder = true, .layer = 1, .number = 2};
    hd_node *C = ours(m, "decoder.second", "C");
    if (c->attend != HD_ATTEND_INSIDE)
        return true;
    if (!take_gates(m, &place, "W", C, 0, context_rows(m)))
        return false;
    settle_rows(m, C);
    const char *at = "decoder.second";
    return take_gates(m, &place, "U", ours(m, at, "U"), 0, c->dim) &&
           take_gates(m, &place, "b", ours(m, at, bias_of(c, true, false)), 0, 1) &&
           take_norm(m, &place, "W", at) && take_norm(m, &place, "U", at) &&
           take_transitions(m, &place, at, c->decoder_transitions);
}

static bool take_decoder(struct hd_marian *m)
{
    const struct hd_config *c = &m->in.net->config;
    for (int l = 1; l <= c->decoder_layers; l++) {
        const struct place place = {.is_decoder = true, .layer = l, .number = 1};
        char prefix[32];
        snprintf(prefix, sizeof prefix, "decoder.%d", l);
        if (!take_cell(m, &place, prefix, 0, l == 1 ? c->embed : c->dim))
            return false;
    }
    return take_second(m);
}

/* The norm of a map that is no cell's; its gain has a name of its own in each of both kinds, its bias is a bias or that of the map. */
static bool take_map_norm(struct hd_marian *m, const char *gain, const char *bias, const char *ours)
{
    return hd_marian_take(m, gain, "%s.gain", ours) &&
           (!*bias || hd_marian_take(m, bias, "%s.bias", ours));
}

/* Every layer begins with the same state, an LSTM with the same numbers as its cell. */
static bool take_start(struct hd_marian *m)
{
    const struct hd_config *c = &m->in.net->config;
    const char *W = has_old_names(m) ? "ff_state_W" : "decoder_ff_state_W",
               *b = has_old_names(m) ? "ff_state_b" : "decoder_ff_state_b",
               *gain = has_old_names(m) ? "ff_state_gamma" : "decoder_ff_state_gamma";
    const int norm = c->recurrent_norm;
    for (int i = 0; i < c->decoder_layers * (c->cell == HD_LSTM ? 2 : 1); i++) {
        const char *kind = i < c->decoder_layers ? "" : ".cell";
        const int l = i % c->decoder_layers + 1;
        char name[48], of_norm[48];
        snprintf(name, sizeof name, "start.%d%s.W", l, kind);
        snprintf(of_norm, sizeof of_norm, "start.%d%s.norm", l, kind);
        if (!take_of_context(m, W, name) ||
            (norm != HD_RNORM_WHOLE && !hd_marian_take(m, b, "start.%d%s.b", l, kind)) ||
            (norm == HD_RNORM_WHOLE && !take_map_norm(m, gain, b, of_norm)) ||
            (norm == HD_RNORM_SPLIT &&
             !take_map_norm(m, "ff_state_ln_s", "ff_state_ln_b", of_norm)))
            return false;
    }
    return true;
}

static bool take_attention_norms(struct hd_marian *m)
{
    const char *s = "attention.W.norm", *h = "attention.U.norm", *b = "decoder_b_att";
    switch ((enum hd_recurrent_norm)m->in.net->config.recurrent_norm) {
    case HD_RNORM_NONE:
        return hd_marian_take(m, b, "attention.b");
    case HD_RNORM_WHOLE:
        return take_map_norm(m, "decoder_att_gamma1", b, h) &&
               take_map_norm(m, "decoder_att_gamma2", "", s);
    case HD_RNORM_SPLIT:
        break;
    }
    return hd_marian_take(m, b, "attention.b") &&
           take_map_norm(m, "decoder_Wc_att_lns", "decoder_Wc_att_lnb", h) &&
           take_map_norm(m, "decoder_W_comb_att_lns", "decoder_W_comb_att_lnb", s);
}

static bool take_attention(struct hd_marian *m)
{
    hd_node *v = hd_params_find(m->in.net->params, "attention.v");
    return hd_marian_take(m, "decoder_W_comb_att", "attention.W") &&
           take_of_context(m, "decoder_Wc_att", "attention.U") && take_attention_norms(m) &&
           hd_foreign_read(
               &m->in, "decoder_U_att",
               &(struct hd_foreign_place){.to = v->x, .rows = v->dim[0], .columns = 1, .width = 1});
}

/* Of the word before, the state and the context. Without norms the three biases become one; in nematus each stands before its norm, in s2s
 * behind it. */
static bool take_readout_map(struct hd_marian *m, int i)
{
    static const char *const old[] = {"ff_logit_prev", "ff_logit_lstm", "ff_logit_ctx"};
    static const char *const parts[] = {"readout.y", "readout.s", "readout.c"};
    static const char *const biases[] = {"readout.y.b", "readout.b", "readout.c.b"};
    char W[48], b[48], gain[48], ln_b[48] = "", of_norm[32];
    hd_node *one = hd_params_find(m->in.net->params, "readout.b");
    snprintf(of_norm, sizeof of_norm, "%s.norm", parts[i]);
    if (has_old_names(m)) {
        snprintf(W, sizeof W, "%s_W", old[i]);
        snprintf(b, sizeof b, "%s_b", old[i]);
        if (m->in.net->config.recurrent_norm == HD_RNORM_WHOLE)
            snprintf(gain, sizeof gain, "ff_logit_l1_gamma%d", i);
        else
            snprintf(gain, sizeof gain, "%s_ln_s", old[i]);
        snprintf(ln_b, sizeof ln_b, "%s_ln_b", old[i]);
    } else {
        snprintf(W, sizeof W, "decoder_ff_logit_l1_W%d", i);
        snprintf(b, sizeof b, "decoder_ff_logit_l1_b%d", i);
        snprintf(gain, sizeof gain, "decoder_ff_logit_l1_gamma%d", i);
    }
    if (!(i == 2 ? take_of_context(m, W, parts[i]) : hd_marian_take(m, W, "%s", parts[i])))
        return false;
    switch ((enum hd_recurrent_norm)m->in.net->config.recurrent_norm) {
    case HD_RNORM_NONE:
        return read_into(m, b, one, 0, 1, 0, hd_width(one), true);
    case HD_RNORM_WHOLE:
        return take_map_norm(m, gain, b, of_norm);
    case HD_RNORM_SPLIT:
        break;
    }
    return hd_marian_take(m, b, "%s", biases[i]) && take_map_norm(m, gain, ln_b, of_norm);
}

static bool take_readout(struct hd_marian *m)
{
    return take_readout_map(m, 0) && take_readout_map(m, 1) && take_readout_map(m, 2) &&
           hd_marian_take(m, has_old_names(m) ? "ff_logit_b" : "decoder_ff_logit_l2_b", "output.b");
}

bool hd_marian_take_recurrent(struct hd_marian *m)
{
    hd_foreign_skip(&m->in, "decoder_c_tt"); /* says "amun", holds nothing */
    return take_encoder(m) && take_decoder(m) && take_start(m) && take_attention(m) &&
           take_readout(m);
}
