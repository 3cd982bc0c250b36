/* import_ct2.c -- folders of CTranslate2 with a Transformer: model.bin, config.json, vocabularies.
 *
 * Queries, keys and values are one matrix there, and weights are [out,in]. Older files do not say how they are to be run; it is with eight
 * heads, norms before each part, relu, positions from 1 on, and a source without an end marker. The folder has words or subwords, but not
 * what cuts text into them: source.spm and target.spm beside them, or --vocab, do; without, the words of a text are its tokens. */
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quote.h"
#include "format/ctranslate2.h"
#include "model/folder.h"
#include "model/foreign.h"
#include "model/import.h"
#include "text/vocab_file.h"

#include <stdio.h>
#include <string.h>

struct ct2 {
    const char *folder;
    const char *const *spm; /* paths, n_spm of them: --vocab */
    int n_spm;
    struct hd_foreign in;
    json_t *config; /* NULL: the folder has none */
    heed_error *err;
};

/* ---- settings ---------------------------------------------------------------------------------------------------------------- */

/* A variable that is a single number. */
static double setting(struct ct2 *c, const char *name, double otherwise)
{
    const struct hd_tensor *t = hd_foreign_find(&c->in, name);
    const unsigned char *b = t && t->n >= 1 ? t->data : NULL;
    float x;
    hd_foreign_skip(&c->in, name);
    if (!b)
        return otherwise;
    switch (t->dtype) {
    case HD_I8:
        return (int8_t)b[0];
    case HD_I16:
        return (int16_t)(b[0] | b[1] << 8);
    case HD_I32:
        return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                         (uint32_t)b[3] << 24);
    default:
        return t->n == 1 && hd_read_f32(&x, t, 1, NULL) ? (double)x : otherwise;
    }
}

/* The same of both sides, which must be equal. */
static bool both(struct ct2 *c, const char *what, double otherwise, double *value)
{
    char name[2][64];
    snprintf(name[0], sizeof name[0], "encoder/%s", what);
    snprintf(name[1], sizeof name[1], "decoder/%s", what);
    *value = setting(c, name[0], otherwise);
    return setting(c, name[1], otherwise) == *value ||
           hd_fail(c->err, HEED_BAD_MODEL,
                   "%s: its %s differs between encoder and decoder, but a model of heed has the "
                   "same on both sides",
                   c->in.path, what);
}

/* What must not be set, and what has no meaning here. */
static bool check_settings(struct ct2 *c)
{
    static const char *const never[] = {"alibi", "multi_query_attention", "rotary_dim",
                                        "sliding_window"};
    static const char *const any[] = {"alibi_use_positive_positions", "alignment_heads",
                                      "alignment_layer", "embeddings_merge", "scale_alibi"};
    static const char *const sides[] = {"encoder", "decoder"};
    char name[96];
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
            snprintf(name, sizeof name, "%s/%s", sides[s], never[i]);
            if (setting(c, name, 0) != 0)
                return hd_fail(c->err, HEED_BAD_MODEL, "%s: it has %s, which heed cannot do",
                               c->in.path, name);
        }
        for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
            snprintf(name, sizeof name, "%s/%s", sides[s], any[i]);
            hd_foreign_skip(&c->in, name);
        }
    }
    return true;
}

static int count_layers(const struct ct2 *c, const char *side)
{
    char name[96];
    int n = 0;
    do
        snprintf(name, sizeof name, "%s/layer_%d/ffn/linear_0/weight", side, n);
    while (hd_foreign_find(&c->in, name) && n++ < HD_MAX_LAYERS);
    return n;
}

/* Sizes of a matrix; 0 where it is none. */
static int size_of(const struct ct2 *c, const char *name, int d)
{
    const struct hd_tensor *t = hd_foreign_find(&c->in, name);
    return t && t->n_dims == 2 && t->dims[d] <= HD_MAX_VOCAB ? (int)t->dims[d] : 0;
}

static const char *source_table(const struct ct2 *c)
{
    return hd_foreign_find(&c->in, "encoder/embeddings_0/weight") ? "encoder/embeddings_0/weight"
                                                                  : "encoder/embeddings/weight";
}

/* Is one name another's? */
static bool is_same(const struct ct2 *c, const char *a, const char *b)
{
    const struct hd_tensor *x = hd_foreign_find(&c->in, a), *y = hd_foreign_find(&c->in, b);
    return x && y && x->data == y->data && x->n == y->n;
}

static int tie_of(const struct ct2 *c)
{
    const bool is_output = is_same(c, "decoder/projection/weight", "decoder/embeddings/weight"),
               is_source = is_same(c, source_table(c), "decoder/embeddings/weight");
    return is_output ? (is_source ? HD_TIE_ALL : HD_TIE_OUTPUT)
                     : (is_source ? HD_TIE_SOURCE_TARGET : HD_TIE_NONE);
}

static bool set_activation(struct ct2 *c, struct hd_config *config)
{
    double code;
    if (!both(c, "activation", 0, &code))
        return false;
    config->activation = code == 0 ? HD_RELU : code == 2 ? HD_SWISH : HD_GELU;
    return code == 0 || code == 2 || code == 3 ||
           hd_fail(
               c->err, HEED_BAD_MODEL,
               "%s: its activation has the number %g, which heed does not have; relu (0), swish "
               "(2) and gelu (3) can be converted",
               c->in.path, code);
}

static bool read_config(struct ct2 *c, struct hd_config *config)
{
    double heads, is_pre, scale;
    *config = hd_config_preset(HD_TRANSFORMER, HD_SIZE_BASE);
    config->source_vocab = size_of(c, source_table(c), 0);
    config->target_vocab = size_of(c, "decoder/embeddings/weight", 0);
    config->dim = config->embed = size_of(c, source_table(c), 1);
    config->ffn = size_of(c, "encoder/layer_0/ffn/linear_0/weight", 0);
    config->encoder_layers = count_layers(c, "encoder");
    config->decoder_layers = count_layers(c, "decoder");
    config->tie = tie_of(c);
    if (!both(c, "num_heads", 8, &heads) || !both(c, "pre_norm", 1, &is_pre) ||
        !both(c, "scale_embeddings", 1, &scale) || !set_activation(c, config) || !check_settings(c))
        return false;
    const double off =
        scale * scale - config->dim; /* a number is said as it is: the root of the width */
    if (scale != 0 && scale != 1 && !(off < 0.01 && off > -0.01))
        return hd_fail(c->err, HEED_BAD_MODEL,
                       "%s: its scale_embeddings is %g, neither 0 nor 1 nor the root of its width",
                       c->in.path, scale);
    config->heads = heads >= 1 && heads <= HD_MAX_HEADS ? (int)heads : 0;
    config->norm = is_pre != 0 ? HD_NORM_PRE : HD_NORM_POST;
    config->final_norm = hd_foreign_find(&c->in, "encoder/layer_norm/gamma") != NULL;
    config->embed_scale = scale != 0;
    config->target_start = -1;
    config->alignment_layer = 0;
    const json_t *eps = json_object_get(c->config, "layer_norm_epsilon");
    config->norm_eps = json_is_real(eps) ? (float)json_real_value(eps) : 1e-5F;
    return true;
}

/* ---- positions --------------------------------------------------------------------------------------------------------------- */

/* Which of the sinusoids that heed knows a table is; without one, those that older files are run with. */
static bool find_positions(struct ct2 *c, struct hd_config *config)
{
    const struct hd_tensor *t = hd_foreign_find(&c->in, "encoder/position_encodings/encodings");
    config->position_layout = HD_LAYOUT_HALVES;
    config->position_shorter = true;
    config->position_first = 1;
    if (!t || config->dim < 2)
        return true;
    if (t->n_dims != 2 || t->dims[0] < 1 || t->dims[0] > 1 << 20 ||
        t->dims[1] != (size_t)config->dim)
        return hd_fail(c->err, HEED_BAD_MODEL, "%s: it has no table of positions of width %d",
                       c->in.path, config->dim);
    for (int way = 0; way < 4; way++) {
        bool is = false;
        config->position_first = way % 2;
        config->position_shorter = way / 2;
        if (!hd_foreign_is_sinusoid(&c->in, config, t, &is))
            return false;
        if (is)
            return true;
    }
    config->positions = HD_POSITIONS_LEARNED;
    config->max_positions = (int)t->dims[0];
    return true;
}

/* ---- tensors ----------------------------------------------------------------------------------------------------------------- */

/* Part i of n of "THEIRS/weight" and "THEIRS/bias". */
static bool take_map(struct ct2 *c, const char *theirs, const char *ours, int part, int n_parts)
{
    char name[128], own[96];
    for (int is_bias = 0; is_bias < 2; is_bias++) {
        snprintf(name, sizeof name, "%s/%s", theirs, is_bias ? "bias" : "weight");
        snprintf(own, sizeof own, "%s.%s", ours, is_bias ? "b" : "W");
        hd_node *p = hd_params_find(c->in.net->params, own);
        const struct hd_foreign_place place = {.to = p->x,
                                               .rows = is_bias ? 1 : p->dim[0],
                                               .columns = hd_width(p),
                                               .width = hd_width(p),
                                               .is_turned = !is_bias,
                                               .part = part,
                                               .n_parts = n_parts};
        if (!hd_foreign_read(&c->in, name, &place))
            return false;
    }
    return true;
}

static bool take_norm(struct ct2 *c, const char *theirs, const char *ours)
{
    char name[128], own[96];
    snprintf(name, sizeof name, "%s/layer_norm/gamma", theirs);
    snprintf(own, sizeof own, "%s.norm.gain", ours);
    if (!hd_foreign_take(&c->in, name, false, own))
        return false;
    snprintf(name, sizeof name, "%s/layer_norm/beta", theirs);
    snprintf(own, sizeof own, "%s.norm.bias", ours);
    return hd_foreign_take(&c->in, name, false, own);
}

/* Of the decoder's attention to the source queries stand alone. */
static bool take_attention(struct ct2 *c, const char *theirs, const char *ours, bool is_cross)
{
    static const struct {
        char letter;
        int linear[2], part[2], n_parts[2]; /* of self-attention, of that to the source */
    } maps[] = {{'q', {0, 0}, {0, 0}, {3, 1}},
                {'k', {0, 1}, {1, 0}, {3, 2}},
                {'v', {0, 1}, {2, 1}, {3, 2}},
                {'o', {1, 2}, {0, 0}, {1, 1}}};
    for (int i = 0; i < 4; i++) {
        char name[96], own[64];
        snprintf(name, sizeof name, "%s/linear_%d", theirs, maps[i].linear[is_cross]);
        snprintf(own, sizeof own, "%s.%c", ours, maps[i].letter);
        if (!take_map(c, name, own, maps[i].part[is_cross], maps[i].n_parts[is_cross]))
            return false;
    }
    return take_norm(c, theirs, ours);
}

static bool take_block(struct ct2 *c, const char *side, int l)
{
    static const char *const parts[][2] = {{"self_attention", "self"}, {"attention", "cross"}};
    char theirs[64], ours[48];
    for (int i = 0; i < (strcmp(side, "decoder") == 0 ? 2 : 1); i++) {
        snprintf(theirs, sizeof theirs, "%s/layer_%d/%s", side, l - 1, parts[i][0]);
        snprintf(ours, sizeof ours, "%s.%d.%s", side, l, parts[i][1]);
        if (!take_attention(c, theirs, ours, i == 1))
            return false;
    }
    for (int i = 0; i < 2; i++) {
        snprintf(theirs, sizeof theirs, "%s/layer_%d/ffn/linear_%d", side, l - 1, i);
        snprintf(ours, sizeof ours, "%s.%d.ffn.%d", side, l, i + 1);
        if (!take_map(c, theirs, ours, 0, 1))
            return false;
    }
    snprintf(theirs, sizeof theirs, "%s/layer_%d/ffn", side, l - 1);
    snprintf(ours, sizeof ours, "%s.%d.ffn", side, l);
    return take_norm(c, theirs, ours);
}

static bool take_side(struct ct2 *c, const char *side, int layers)
{
    const struct hd_config *config = &c->in.net->config;
    char name[96];
    for (int l = 1; l <= layers; l++)
        if (!take_block(c, side, l))
            return false;
    if (config->final_norm && !take_norm(c, side, side))
        return false;
    snprintf(name, sizeof name, "%s/position_encodings/encodings", side);
    if (config->positions == HD_POSITIONS_LEARNED)
        return hd_foreign_take(&c->in, name, false,
                               strcmp(side, "encoder") == 0 ? "source.positions"
                                                            : "target.positions");
    hd_foreign_skip(&c->in, name);
    return true;
}

static bool take_tables(struct ct2 *c)
{
    const int tie = c->in.net->config.tie;
    const bool is_one = tie == HD_TIE_ALL || tie == HD_TIE_SOURCE_TARGET;
    const char *target = "decoder/embeddings/weight", *output = "decoder/projection/weight";
    bool ok = hd_foreign_take(&c->in, source_table(c), false, is_one ? "embed" : "source.embed") &&
              (is_one || hd_foreign_take(&c->in, target, false, "target.embed")) &&
              (c->in.net->head.is_tied || hd_foreign_take(&c->in, output, true, "output.W"));
    if (ok && hd_foreign_find(&c->in, "decoder/projection/bias"))
        ok = hd_foreign_take(&c->in, "decoder/projection/bias", false, "output.b");
    hd_foreign_skip(&c->in, target);
    hd_foreign_skip(&c->in, output);
    return ok;
}

/* ---- vocabularies ------------------------------------------------------------------------------------------------------------- */

/* A list of tokens: lines, or an array of JSON. Both are to be given to their owners. */
struct token_list {
    struct hd_tokens lines;
    json_t *array;
    const char **at;
    size_t n;
    char *names; /* of those that have none */
};

static void release_list(struct token_list *list)
{
    hd_tokens_release(&list->lines);
    json_decref(list->array);
    hd_free(list->at);
    hd_free(list->names);
}

static bool read_list(const struct ct2 *c, const char *side, struct token_list *list)
{
    char name[64];
    snprintf(name, sizeof name, "%s_vocabulary.json", side);
    if (hd_folder_has(c->folder, name)) {
        list->array = hd_folder_json(c->folder, name, JSON_ARRAY, c->err);
        list->n = json_array_size(list->array);
        return list->array != NULL;
    }
    snprintf(name, sizeof name, "%s_vocabulary.txt", side);
    const struct hd_folder_path path = hd_folder_path(c->folder, name);
    struct hd_map map;
    if (!hd_map_open(&map, path.s, c->err))
        return false;
    const bool ok = hd_tokens_from_list(&list->lines, path.s, map.data, map.size, c->err);
    hd_map_close(&map);
    list->n = list->lines.n;
    return ok;
}

/* As many tokens as the table has rows; the first that the list does not have is <unk>, if it has none. A source without an end marker is
 * told by a vocabulary without one. */
static bool fill_list(const struct ct2 *c, struct token_list *list, size_t n, bool has_end)
{
    enum { NAME = 40 };
    bool has_unknown = false;
    if (list->n > n)
        return hd_fail(c->err, HEED_BAD_MODEL,
                       "%s: a vocabulary has %zu tokens, but model.bin has %zu embeddings",
                       c->folder, list->n, n);
    list->at = hd_alloc(n, sizeof *list->at, c->err);
    list->names = hd_alloc(n, NAME, c->err);
    if (!list->at || !list->names)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *token = i >= list->n  ? NULL
                            : list->array ? json_string_value(json_array_get(list->array, i))
                                          : list->lines.text[i];
        if (!token)
            snprintf(list->names + i * NAME, NAME, "<no-token-%zu>", i);
        else if (!has_end && strcmp(token, "</s>") == 0)
            snprintf(list->names + i * NAME, NAME, "<no-end>");
        if (!token && i == list->n && !has_unknown)
            snprintf(list->names + i * NAME, NAME, "<unk>");
        list->at[i] = list->names[i * NAME] ? list->names + i * NAME : token;
        has_unknown = has_unknown || (list->at[i] && strcmp(list->at[i], "<unk>") == 0);
    }
    return true;
}

/* What cuts text into the tokens of a side; "" for nothing. */
static struct hd_folder_path spm_of(const struct ct2 *c, bool is_target)
{
    struct hd_folder_path path = {""};
    const char *name = is_target ? "target.spm" : "source.spm";
    if (c->n_spm > 0)
        snprintf(path.s, sizeof path.s, "%s", c->spm[is_target && c->n_spm > 1]);
    else if (hd_folder_has(c->folder, name))
        path = hd_folder_path(c->folder, name);
    return path;
}

static struct hd_vocab *read_vocab(const struct ct2 *c, bool is_target, int size, bool has_end)
{
    const bool is_shared = hd_folder_has(c->folder, "shared_vocabulary.json") ||
                           hd_folder_has(c->folder, "shared_vocabulary.txt");
    const struct hd_folder_path spm = spm_of(c, is_target);
    struct token_list list = {0};
    struct hd_map map = {0};
    struct hd_vocab *vocab = NULL;
    heed_error why = {0};
    const char *side = is_shared ? "shared" : is_target ? "target" : "source";
    if (read_list(c, side, &list) && fill_list(c, &list, (size_t)size, has_end) &&
        (!spm.s[0] || hd_map_open(&map, spm.s, c->err)))
        vocab = spm.s[0] ? hd_vocab_listed(list.at, (size_t)size, map.data, map.size, &why)
                         : hd_vocab_from_tokens(HD_VOCAB_WORDS, list.at, (size_t)size, &why);
    if (hd_failed(&why))
        hd_fail(c->err, why.code, "%s: %s vocabulary: %s", c->folder, side, why.message);
    hd_map_close(&map);
    release_list(&list);
    return vocab;
}

static bool read_vocabs(struct ct2 *c, struct hd_vocab **source, struct hd_vocab **target)
{
    struct hd_config *config = &c->in.net->config;
    const char *start = json_string_value(json_object_get(c->config, "decoder_start_token"));
    /* Models of transformers get theirs from their tokenizer; their targets do not begin with <s>. */
    const bool has_end = json_is_true(json_object_get(c->config, "add_source_eos")) ||
                         (start && strcmp(start, "<s>") != 0);
    *source = read_vocab(c, false, config->source_vocab, has_end);
    *target = *source ? read_vocab(c, true, config->target_vocab, true) : NULL;
    if (!*target)
        return false;
    size_t n_source, n_target;
    const void *a = hd_vocab_bytes(*source, &n_source), *b = hd_vocab_bytes(*target, &n_target);
    if (hd_vocab_kind(*source) == hd_vocab_kind(*target) && n_source == n_target &&
        memcmp(a, b, n_source) == 0) {
        hd_vocab_free(*target);
        *target = *source;
    }
    if (setting(c, "decoder/start_from_zero_embedding", 0) == 0) {
        config->target_start = hd_vocab_find(*target, start ? start : "<s>");
        if (config->target_start < 0)
            return hd_fail(c->err, HEED_BAD_MODEL,
                           "%s: the target begins with %s, which is not in its vocabulary",
                           c->folder, hd_quote(start ? start : "<s>").text);
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------------ */

static bool read_net(struct ct2 *c, const struct hd_ct2 *file)
{
    struct hd_config config;
    if (file->kind[0] && strncmp(file->kind, "Transformer", 11) != 0)
        return hd_fail(c->err, HEED_BAD_MODEL, "%s: it is a %s; a Transformer can be converted",
                       c->in.path, hd_quote(file->kind).text);
    return read_config(c, &config) && find_positions(c, &config) &&
           hd_foreign_make(&c->in, &config) && take_tables(c) &&
           take_side(c, "encoder", config.encoder_layers) &&
           take_side(c, "decoder", config.decoder_layers);
}

static heed_model *model_of(struct ct2 *c, const char *path, const struct hd_ct2 *file)
{
    struct hd_vocab *source = NULL, *target = NULL;
    heed_model *model = NULL;
    if (hd_foreign_init(&c->in, path, &file->tensors, c->err) && read_net(c, file)) {
        if (read_vocabs(c, &source, &target) && hd_foreign_is_done(&c->in)) {
            model = hd_foreign_model(&c->in, source, target,
                                     json_pack("{s:s}", "imported_from", "ctranslate2"));
        } else {
            if (target != source)
                hd_vocab_free(target);
            hd_vocab_free(source);
        }
    }
    hd_foreign_release(&c->in);
    return model;
}

heed_model *hd_import_ct2(const char *folder, const char *const *vocabs, int n_vocabs,
                          heed_error *err)
{
    struct ct2 c = {.folder = folder, .spm = vocabs, .n_spm = n_vocabs, .err = err};
    const struct hd_folder_path path = hd_folder_path(folder, "model.bin");
    heed_model *model = NULL;
    if (hd_folder_has(folder, "config.json") &&
        !(c.config = hd_folder_json(folder, "config.json", JSON_OBJECT, err)))
        return NULL;
    struct hd_ct2 *file = hd_ct2_open(path.s, err);
    if (file)
        model = model_of(&c, path.s, file);
    hd_ct2_close(file);
    json_decref(c.config);
    return model;
}
