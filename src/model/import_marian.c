/* import_marian.c -- Marian's models: its configuration (YAML inside the archive) as ours, its tensors under our names.
 *
 * Weights are [in,out] there as here. Its GRU keeps the gates r,z and the candidate n in two matrices, ours in one; vectors
 * are rows [1,n] there. */
#include "model/foreign.h"
#include "model/import.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "format/npz.h"
#include "text/vocab_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct import {
    struct hd_foreign in;
    char *yaml;
};

/* ---- the configuration inside ------------------------------------------------------------------------------------------- */

/* Its YAML is flat: "key: value" lines, and lists of "  - value" lines. */
static bool read_yaml(struct import *im)
{
    const struct hd_tensor *t = hd_foreign_find(&im->in, "special:model.yml");
    if (!t || (t->dtype != HD_I8 && t->dtype != HD_U8))
        return hd_fail(im->in.err, HEED_BAD_MODEL,
                       "%s: it has no special:model.yml, so it is not a model of Marian; only "
                       "those are imported from .npz",
                       im->in.path);
    im->yaml = hd_alloc(t->bytes + 1, 1, im->in.err);
    if (!im->yaml)
        return false;
    memcpy(im->yaml, t->data, t->bytes); /* padded with NUL, and one more here */
    hd_foreign_skip(&im->in, t->name);
    return true;
}

/* Where the line "key:" goes on, or NULL. */
static const char *line_of(const struct import *im, const char *key)
{
    const size_t n = strlen(key);
    for (const char *line = im->yaml; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ':')
            return line + n + 1;
    }
    return NULL;
}

struct word {
    char s[64];
};

/* The value of a key without quotes; "" when there is none. */
static struct word value_of(const struct import *im, const char *key)
{
    struct word w = {""};
    const char *from = line_of(im, key);
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

static bool is_true(const struct import *im, const char *key)
{
    return strcmp(value_of(im, key).s, "true") == 0;
}

/* -1 for what is negative, and one more than any size can be for what is larger still. */
static int number_in(const char *text)
{
    const long n = strtol(text, NULL, 10);
    return n < 0 ? -1 : n > HD_MAX_VOCAB ? HD_MAX_VOCAB + 1 : (int)n;
}

static int number_of(const struct import *im, const char *key)
{
    return number_in(value_of(im, key).s);
}

/* The i-th number of a list, 0 when there is none. */
static int listed_number(const struct import *im, const char *key, int i)
{
    const char *at = line_of(im, key);
    for (; at && i >= 0; i--) {
        at = strchr(at, '\n');
        if (!at || strncmp(at + 1, "  - ", 4) != 0)
            return 0;
        at += 5;
    }
    return at ? number_in(at) : 0;
}

/* A key must have one of these values ("" is "not there"), else the model is something that heed cannot do. */
static bool must_be(const struct import *im, const char *key, const char *a, const char *b)
{
    const struct word w = value_of(im, key);
    return strcmp(w.s, a) == 0 || strcmp(w.s, b) == 0 || w.s[0] == '\0' ||
           hd_fail(im->in.err, HEED_BAD_MODEL,
                   "%s: its %s is %s, which heed cannot do; %s%s%s can be imported", im->in.path,
                   key, hd_quote(w.s).text, *a ? a : "none", *b ? " or " : "", b);
}

static int tie_of(const struct import *im)
{
    const bool is_output = is_true(im, "tied-embeddings"),
               is_source = is_true(im, "tied-embeddings-src");
    if (is_true(im, "tied-embeddings-all") || (is_output && is_source))
        return HD_TIE_ALL;
    return is_output ? HD_TIE_OUTPUT : is_source ? HD_TIE_SOURCE_TARGET : HD_TIE_NONE;
}

static void set_common(const struct import *im, struct hd_config *c)
{
    c->source_vocab = listed_number(im, "dim-vocabs", 0);
    c->target_vocab = listed_number(im, "dim-vocabs", 1);
    c->embed = number_of(im, "dim-emb");
    c->encoder_layers = number_of(im, "enc-depth");
    c->decoder_layers = number_of(im, "dec-depth");
    c->tie = tie_of(im);
    c->target_start = -1;
}

/* Until February 2022 (v1.11) Marian did not normalise keys and values where norms stand before. "v1.10.0 6f6d484 2021-02-06 ...": by the day
 * where it is told. */
static bool is_of_old(const struct import *im)
{
    const struct word version = value_of(im, "version");
    int minor, year, month;
    for (const char *at = version.s; *at; at++)
        if (sscanf(at, "%4d-%2d-", &year, &month) == 2 && year > 2000)
            return year < 2022 || (year == 2022 && month < 2);
    return sscanf(version.s, "v1.%d", &minor) == 1 && minor < 11;
}

static bool check_norms(const struct import *im, bool is_pre)
{
    if (is_pre && is_of_old(im))
        return hd_fail(
            im->in.err, HEED_BAD_MODEL,
            "%s: its norms stand before each part (transformer-preprocess n), and it was "
            "made by Marian %s, which computed them in another way until February 2022; "
            "train it further with a newer Marian",
            im->in.path, hd_quote(value_of(im, "version").s).text);
    if (line_of(im, "transformer-tied-layers") && listed_number(im, "transformer-tied-layers", 0))
        return hd_fail(im->in.err, HEED_BAD_MODEL,
                       "%s: it has transformer-tied-layers, layers that share their parameters, "
                       "which heed cannot do",
                       im->in.path);
    return true;
}

static bool transformer_config(const struct import *im, struct hd_config *c)
{
    const struct word before = value_of(im, "transformer-preprocess"),
                      after = value_of(im, "transformer-postprocess");
    const struct word top = value_of(im, "transformer-postprocess-top"),
                      f = value_of(im, "transformer-ffn-activation");
    const bool is_post =
        strcmp(before.s, "") == 0 && strcmp(after.s, "dan") == 0 && strcmp(top.s, "") == 0;
    const bool is_pre =
        strcmp(before.s, "n") == 0 && strcmp(after.s, "da") == 0 && strcmp(top.s, "n") == 0;
    if (!is_post && !is_pre)
        return hd_fail(im->in.err, HEED_BAD_MODEL,
                       "%s: its norms (transformer-preprocess %s, -postprocess %s, "
                       "-postprocess-top %s) are a mixture that heed "
                       "cannot do; dan after, or n before with n on top, can be imported",
                       im->in.path, hd_quote(before.s).text, hd_quote(after.s).text,
                       hd_quote(top.s).text);
    if (!check_norms(im, is_pre) ||
        !must_be(im, "transformer-decoder-autoreg", "self-attention", "") ||
        !must_be(im, "transformer-ffn-depth", "2", "") ||
        !must_be(im, "transformer-decoder-ffn-depth", "0", "2") ||
        !must_be(im, "transformer-decoder-dim-ffn", "0", value_of(im, "transformer-dim-ffn").s) ||
        !must_be(im, "transformer-no-projection", "false", "") ||
        !must_be(im, "transformer-attention-mask", "default", "") ||
        !must_be(im, "transformer-postprocess-emb", "d", "") ||
        !must_be(im, "transformer-no-bias", "false", "") ||
        !must_be(im, "transformer-alibi-shift", "false", "") ||
        !must_be(im, "transformer-train-position-embeddings", "false", "") ||
        !must_be(im, "transformer-no-affine", "false", "") ||
        !must_be(im, "transformer-ffn-activation", "swish", f.s[0] == 'r' ? "relu" : "gelu"))
        return false;
    *c = hd_config_preset(HD_TRANSFORMER, HD_SIZE_BASE);
    set_common(im, c);
    c->dim = c->embed;
    c->heads = number_of(im, "transformer-heads");
    c->ffn = number_of(im, "transformer-dim-ffn");
    c->activation = f.s[0] == 's' ? HD_SWISH : f.s[0] == 'g' ? HD_GELU : HD_RELU;
    c->norm = is_pre ? HD_NORM_PRE : HD_NORM_POST;
    c->final_norm = is_pre;
    c->position_layout = HD_LAYOUT_HALVES;
    c->position_shorter = true;
    c->position_first = 0;
    if (is_true(im, "transformer-disable-position-embeddings"))
        c->positions = HD_POSITIONS_NONE;
    c->embed_scale = true;
    c->norm_eps = 1e-6F;
    /* Marian's own soft alignment is the first head of this layer, which is better than the mean of all only where it was
     * trained with guided alignment, and the file does not say so. */
    c->alignment_layer = c->decoder_layers;
    return true;
}

static bool amun_config(const struct import *im, struct hd_config *c)
{
    if (!must_be(im, "enc-type", "bidirectional", "") || !must_be(im, "enc-cell", "gru", "") ||
        !must_be(im, "dec-cell", "gru", "") || !must_be(im, "enc-depth", "1", "") ||
        !must_be(im, "dec-depth", "1", "") || !must_be(im, "enc-cell-depth", "1", "") ||
        !must_be(im, "dec-cell-base-depth", "2", "") ||
        !must_be(im, "layer-normalization", "false", "") || !must_be(im, "skip", "false", ""))
        return false;
    *c = hd_config_preset(HD_BAHDANAU, HD_SIZE_BASE);
    set_common(im, c);
    c->dim = number_of(im, "dim-rnn");
    c->encoder_dim = c->attention_dim = 2 * c->dim;
    c->bidirectional = true;
    c->score = HD_SCORE_ADDITIVE;
    c->score_bias = true;
    c->attend = HD_ATTEND_INSIDE;
    c->readout = HD_READOUT_TANH;
    c->start = HD_START_MEAN;
    return true;
}

static bool read_config(const struct import *im, struct hd_config *c)
{
    if (!must_be(im, "output-omit-bias", "false", "") || !must_be(im, "right-left", "false", "") ||
        !must_be(im, "ulr", "false", ""))
        return false;
    const struct word type = value_of(im, "type");
    if (strcmp(type.s, "transformer") == 0)
        return transformer_config(im, c);
    if (strcmp(type.s, "amun") == 0)
        return amun_config(im, c);
    return hd_fail(im->in.err, HEED_BAD_MODEL,
                   "%s: a Marian model of type %s; transformer and amun can be imported",
                   im->in.path, hd_quote(type.s).text);
}

/* ---- tensors ------------------------------------------------------------------------------------------------------------- */

/* The whole of one of our parameters, whose name is made from the format. */
static bool take(struct import *im, const char *theirs, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool take(struct import *im, const char *theirs, const char *format, ...)
{
    char ours[96];
    va_list args;
    va_start(args, format);
    vsnprintf(ours, sizeof ours, format, args);
    va_end(args);
    return hd_foreign_take(&im->in, theirs, false, ours);
}

/* Columns of a parameter that is `width` wide. */
static bool read_into(struct import *im, const char *name, float *to, int rows, int columns, int at,
                      int width, bool add)
{
    return hd_foreign_read(
        &im->in, name,
        &(struct hd_foreign_place){
            .to = to, .rows = rows, .columns = columns, .at = at, .width = width, .is_added = add});
}

/* Gates and candidate side by side: ours = [gates | candidate]. */
static bool take_gates(struct import *im, const char *gates, const char *candidate,
                       const char *ours)
{
    hd_node *p = hd_params_find(im->in.net->params, ours);
    const int D = p ? hd_width(p) / 3 : 0, rows = p && p->n_dims == 2 ? p->dim[0] : 1;
    return p && read_into(im, gates, p->x, rows, 2 * D, 0, 3 * D, false) &&
           read_into(im, candidate, p->x, rows, D, 2 * D, 3 * D, false);
}

/* "side_l1_self_" and the like: four maps with their biases, and a norm. */
static bool take_attention(struct import *im, const char *side, int l, const char *theirs,
                           const char *ours)
{
    char name[96];
    for (const char *role = "qkvo"; *role; role++) {
        snprintf(name, sizeof name, "%s_l%d_%s_W%c", side, l, theirs, *role);
        if (!take(im, name, "%s.%d.%s.%c.W", side, l, ours, *role))
            return false;
        snprintf(name, sizeof name, "%s_l%d_%s_b%c", side, l, theirs, *role);
        if (!take(im, name, "%s.%d.%s.%c.b", side, l, ours, *role))
            return false;
    }
    return true;
}

static bool take_norm(struct import *im, const char *theirs, const char *ours)
{
    char name[112];
    const char *end =
        im->in.net->config.norm == HD_NORM_PRE && strstr(theirs, "_top") == NULL ? "_pre" : "";
    snprintf(name, sizeof name, "%s_ln_scale%s", theirs, end);
    if (!take(im, name, "%s.norm.gain", ours))
        return false;
    snprintf(name, sizeof name, "%s_ln_bias%s", theirs, end);
    return take(im, name, "%s.norm.bias", ours);
}

static bool take_block(struct import *im, const char *side, int l)
{
    char theirs[64], ours[64];
    const bool is_decoder = strcmp(side, "decoder") == 0;
    if (!take_attention(im, side, l, "self", "self") ||
        (is_decoder && !take_attention(im, side, l, "context", "cross")))
        return false;
    static const char *const norms[][2] = {
        {"self_Wo", "self"}, {"ffn_ffn", "ffn"}, {"context_Wo", "cross"}};
    for (int i = 0; i < 2 + is_decoder; i++) {
        snprintf(theirs, sizeof theirs, "%s_l%d_%s", side, l, norms[i][0]);
        snprintf(ours, sizeof ours, "%s.%d.%s", side, l, norms[i][1]);
        if (!take_norm(im, theirs, ours))
            return false;
    }
    for (int i = 1; i <= 2; i++) {
        snprintf(theirs, sizeof theirs, "%s_l%d_ffn_W%d", side, l, i);
        if (!take(im, theirs, "%s.%d.ffn.%d.W", side, l, i))
            return false;
        snprintf(theirs, sizeof theirs, "%s_l%d_ffn_b%d", side, l, i);
        if (!take(im, theirs, "%s.%d.ffn.%d.b", side, l, i))
            return false;
    }
    return true;
}

static bool take_transformer(struct import *im)
{
    const struct hd_config *c = &im->in.net->config;
    for (int l = 1; l <= c->encoder_layers; l++)
        if (!take_block(im, "encoder", l))
            return false;
    for (int l = 1; l <= c->decoder_layers; l++)
        if (!take_block(im, "decoder", l))
            return false;
    if (c->final_norm &&
        (!take_norm(im, "encoder_top", "encoder") || !take_norm(im, "decoder_top", "decoder")))
        return false;
    return take(im, "decoder_ff_logit_out_b", "output.b");
}

static bool take_amun(struct import *im)
{
    static const char *const gates[][3] = {
        {"encoder_W", "encoder_Wx", "encoder.1.forward.W"},
        {"encoder_U", "encoder_Ux", "encoder.1.forward.U"},
        {"encoder_b", "encoder_bx", "encoder.1.forward.b"},
        {"encoder_r_W", "encoder_r_Wx", "encoder.1.backward.W"},
        {"encoder_r_U", "encoder_r_Ux", "encoder.1.backward.U"},
        {"encoder_r_b", "encoder_r_bx", "encoder.1.backward.b"},
        {"decoder_W", "decoder_Wx", "decoder.1.W"},
        {"decoder_U", "decoder_Ux", "decoder.1.U"},
        {"decoder_b", "decoder_bx", "decoder.1.b"},
        {"decoder_Wc", "decoder_Wcx", "decoder.second.C"},
        {"decoder_U_nl", "decoder_Ux_nl", "decoder.second.U"},
        {"decoder_b_nl", "decoder_bx_nl", "decoder.second.c"},
    };
    static const char *const others[][2] = {
        {"ff_state_W", "start.1.W"},
        {"ff_state_b", "start.1.b"},
        {"decoder_W_comb_att", "attention.W"},
        {"decoder_Wc_att", "attention.U"},
        {"decoder_b_att", "attention.b"},
        {"ff_logit_lstm_W", "readout.s"},
        {"ff_logit_prev_W", "readout.y"},
        {"ff_logit_ctx_W", "readout.c"},
        {"ff_logit_b", "output.b"},
    };
    static const char *const biases[] = {"ff_logit_lstm_b", "ff_logit_prev_b", "ff_logit_ctx_b"};
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++)
        if (!take_gates(im, gates[i][0], gates[i][1], gates[i][2]))
            return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!take(im, others[i][0], "%s", others[i][1]))
            return false;
    hd_node *v = hd_params_find(im->in.net->params, "attention.v"),
            *b = hd_params_find(im->in.net->params, "readout.b");
    if (!read_into(im, "decoder_U_att", v->x, v->dim[0], 1, 0, 1, false))
        return false;
    for (int i = 0; i < 3; i++)
        if (!read_into(im, biases[i], b->x, 1, b->dim[0], 0, b->dim[0], true))
            return false;
    hd_foreign_skip(&im->in, "decoder_c_tt"); /* says "amun", holds nothing */
    return true;
}

static bool take_tables(struct import *im)
{
    const struct hd_config *c = &im->in.net->config;
    const bool is_amun = c->arch != HD_TRANSFORMER,
               is_one = c->tie == HD_TIE_ALL || c->tie == HD_TIE_SOURCE_TARGET;
    if (is_one && !take(im, "Wemb", "embed"))
        return false;
    if (!is_one && (!take(im, is_amun ? "Wemb" : "encoder_Wemb", "source.embed") ||
                    !take(im, is_amun ? "Wemb_dec" : "decoder_Wemb", "target.embed")))
        return false;
    if (im->in.net->head.is_tied)
        return true;
    const char *straight = is_amun ? "ff_logit_W" : "decoder_ff_logit_out_W",
               *turned = is_amun ? "decoder_ff_logit_l2_Wt" : "decoder_ff_logit_out_Wt";
    if (hd_foreign_find(&im->in, straight) || !hd_foreign_find(&im->in, turned))
        return take(im, straight, "output.W");
    return hd_foreign_take(&im->in, turned, true, "output.W");
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------ */

static bool read_net(struct import *im)
{
    struct hd_config config;
    return read_yaml(im) && read_config(im, &config) && hd_foreign_make(&im->in, &config) &&
           take_tables(im) &&
           (config.arch == HD_TRANSFORMER ? take_transformer(im) : take_amun(im)) &&
           hd_foreign_is_done(&im->in);
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), n_ending = strlen(ending);
    return n > n_ending && strcmp(path + n - n_ending, ending) == 0;
}

/* A SentencePiece model, or a list of words by its ending, as Marian has it. */
static struct hd_vocab *read_vocab(const char *path, heed_error *err)
{
    static const char *const lists[] = {".yml", ".yaml", ".json", ".txt"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (ends_in(path, lists[i]))
            return hd_vocab_open(path, HD_VOCAB_WORDS, err);
    struct hd_map map;
    if (!hd_map_open(&map, path, err))
        return NULL;
    heed_error why = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(HD_VOCAB_SPM, map.data, map.size, &why);
    if (!vocab)
        hd_fail(err, why.code, "%s: %s", path, why.message);
    hd_map_close(&map);
    return vocab;
}

/* What is known of where it comes from. */
static json_t *record_of(const struct import *im)
{
    const struct word version = value_of(im, "version");
    const bool is_text = hd_utf8_valid(version.s, strlen(version.s), NULL);
    return json_pack("{s:s, s:s}", "imported_from", "marian", "version", is_text ? version.s : "");
}

static heed_model *import_opened(const char *path, const struct hd_tensors *tensors,
                                 const char *const *vocabs, int n_vocabs, heed_error *err)
{
    struct import im = {0};
    heed_model *model = NULL;
    if (hd_foreign_init(&im.in, path, tensors, err) && read_net(&im)) {
        struct hd_vocab *source = read_vocab(vocabs[0], err);
        struct hd_vocab *target = n_vocabs < 2 || !source ? source : read_vocab(vocabs[1], err);
        model = hd_foreign_model(&im.in, source, target, target ? record_of(&im) : NULL);
    }
    hd_foreign_release(&im.in);
    hd_free(im.yaml);
    return model;
}

static heed_model *import_npz(struct hd_npz *file, const char *const *vocabs, int n_vocabs,
                              heed_error *err)
{
    heed_model *model =
        file ? import_opened(file->path, &file->tensors, vocabs, n_vocabs, err) : NULL;
    hd_npz_close(file);
    return model;
}

heed_model *hd_import_memory(const char *name, const void *data, size_t size,
                             const char *const *vocabs, int n_vocabs, heed_error *err)
{
    return import_npz(hd_npz_open_memory(name, data, size, err), vocabs, n_vocabs, err);
}

heed_model *hd_import_marian(const char *path, const char *const *vocabs, int n_vocabs,
                             heed_error *err)
{
    return import_npz(hd_npz_open(path, err), vocabs, n_vocabs, err);
}
