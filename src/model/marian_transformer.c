/* marian_transformer.c -- the tensors of Marian's Transformers under our names.
 *
 * Weights are [in,out] there as here, and vectors are rows [1,n]. */
#include "model/import_marian.h"

#include <stdio.h>
#include <string.h>

/* The number of a layer; theirs is another where layers share their parameters (transformer-tied-layers), which ours do not. */
struct layers {
    int theirs, ours;
};

/* "side_l1_self_" and the like: four maps with their biases, and a norm. */
static bool take_attention(struct hd_marian *m, const char *side, struct layers l,
                           const char *theirs, const char *ours)
{
    char name[96];
    for (const char *role = "qkvo"; *role; role++) {
        snprintf(name, sizeof name, "%s_l%d_%s_W%c", side, l.theirs, theirs, *role);
        if (!hd_marian_take(m, name, "%s.%d.%s.%c.W", side, l.ours, ours, *role))
            return false;
        snprintf(name, sizeof name, "%s_l%d_%s_b%c", side, l.theirs, theirs, *role);
        if (!hd_marian_take(m, name, "%s.%d.%s.%c.b", side, l.ours, ours, *role))
            return false;
    }
    return true;
}

static bool take_norm(struct hd_marian *m, const char *theirs, const char *ours)
{
    char name[112];
    const char *end =
        m->in.net->config.norm == HD_NORM_PRE && strstr(theirs, "_top") == NULL ? "_pre" : "";
    snprintf(name, sizeof name, "%s_ln_scale%s", theirs, end);
    if (!hd_marian_take(m, name, "%s.norm.gain", ours))
        return false;
    snprintf(name, sizeof name, "%s_ln_bias%s", theirs, end);
    return hd_marian_take(m, name, "%s.norm.bias", ours);
}

/* The decoder's recurrent unit; a norm before it and one after it have names of two kinds. */
static bool take_ssru(struct hd_marian *m, struct layers l)
{
    static const char *const parts[][2] = {{"W", "W"}, {"Wf", "f.W"}, {"bf", "f.b"}};
    char theirs[64], ours[64];
    for (int i = 0; i < 3; i++) {
        snprintf(theirs, sizeof theirs, "decoder_l%d_rnn_%s", l.theirs, parts[i][0]);
        if (!hd_marian_take(m, theirs, "decoder.%d.ssru.%s", l.ours, parts[i][1]))
            return false;
    }
    snprintf(theirs, sizeof theirs, "decoder_l%d_rnn%s", l.theirs,
             m->in.net->config.norm == HD_NORM_PRE ? "" : "_ffn");
    snprintf(ours, sizeof ours, "decoder.%d.ssru", l.ours);
    return take_norm(m, theirs, ours);
}

/* One attention with its norm. */
static bool take_part(struct hd_marian *m, const char *side, struct layers l, const char *theirs,
                      const char *ours)
{
    char norm[64], our_norm[64];
    snprintf(norm, sizeof norm, "%s_l%d_%s_Wo", side, l.theirs, theirs);
    snprintf(our_norm, sizeof our_norm, "%s.%d.%s", side, l.ours, ours);
    return take_attention(m, side, l, theirs, ours) && take_norm(m, norm, our_norm);
}

static bool take_feed_forward(struct hd_marian *m, const char *side, struct layers l)
{
    char theirs[64], ours[64];
    for (int i = 1; i <= 2; i++) {
        snprintf(theirs, sizeof theirs, "%s_l%d_ffn_W%d", side, l.theirs, i);
        if (!hd_marian_take(m, theirs, "%s.%d.ffn.%d.W", side, l.ours, i))
            return false;
        snprintf(theirs, sizeof theirs, "%s_l%d_ffn_b%d", side, l.theirs, i);
        if (!hd_marian_take(m, theirs, "%s.%d.ffn.%d.b", side, l.ours, i))
            return false;
    }
    snprintf(theirs, sizeof theirs, "%s_l%d_ffn_ffn", side, l.theirs);
    snprintf(ours, sizeof ours, "%s.%d.ffn", side, l.ours);
    return take_norm(m, theirs, ours);
}

static bool take_encoder_block(struct hd_marian *m, int number)
{
    const struct layers l = {number, number};
    return take_part(m, "encoder", l, "self", "self") && take_feed_forward(m, "encoder", l);
}

static bool take_decoder_block(struct hd_marian *m, int number)
{
    const int tied = hd_marian_listed(m, "transformer-tied-layers", number - 1);
    const struct layers l = {tied > 0 ? tied : number, number};
    const bool is_ssru = m->in.net->config.decoder == HD_DECODER_SSRU;
    return (is_ssru ? take_ssru(m, l) : take_part(m, "decoder", l, "self", "self")) &&
           take_part(m, "decoder", l, "context", "cross") && take_feed_forward(m, "decoder", l);
}

bool hd_marian_take_transformer(struct hd_marian *m)
{
    const struct hd_config *c = &m->in.net->config;
    for (int l = 1; l <= c->encoder_layers; l++)
        if (!take_encoder_block(m, l))
            return false;
    for (int l = 1; l <= c->decoder_layers; l++)
        if (!take_decoder_block(m, l))
            return false;
    if (c->final_norm &&
        (!take_norm(m, "encoder_top", "encoder") || !take_norm(m, "decoder_top", "decoder")))
        return false;
    return hd_marian_take(m, "decoder_ff_logit_out_b", "output.b");
}
