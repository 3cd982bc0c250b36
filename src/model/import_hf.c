/* import_hf.c -- folders of Hugging Face's transformers: MarianMT, which is what OPUS-MT publishes, and Pegasus, the same with norms before.
 *
 * config.json says what the net is, model.safetensors or pytorch_model.bin has its tensors, vocab.json numbers the subwords of both
 * languages, source.spm and target.spm cut text into them. Weights are [out,in] there, [in,out] here. The decoder begins with a padding
 * symbol, which is never said. What config.json leaves out has the value that transformers gives it. */
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quote.h"
#include "format/safetensors.h"
#include "format/torch.h"
#include "model/folder.h"
#include "model/foreign.h"
#include "model/import.h"
#include "text/columns.h"
#include "text/vocab_file.h"

#include <stdio.h>
#include <string.h>

struct hf {
    const char *folder;
    struct hd_foreign in;
    json_t *config, *generation, *tokenizer; /* the last two may be NULL */
    const char *prefix;                      /* of all names of tensors but some */
    heed_error *err;
};

/* ---- the configuration ------------------------------------------------------------------------------------------------------ */

static int whole(const struct hf *hf, const char *key, int otherwise)
{
    const json_t *v = json_object_get(hf->config, key);
    const json_int_t n = json_integer_value(v);
    return !json_is_integer(v) ? otherwise
           : n < 0             ? -1
           : n > HD_MAX_VOCAB  ? HD_MAX_VOCAB + 1
                               : (int)n;
}

static bool is_true(const struct hf *hf, const char *key, bool otherwise)
{
    const json_t *v = json_object_get(hf->config, key);
    return json_is_boolean(v) ? json_is_true(v) : otherwise;
}

/* heed has one number where transformers has one for each side. */
static bool both(const struct hf *hf, const char *what, int otherwise, int *value)
{
    char key[64];
    snprintf(key, sizeof key, "encoder_%s", what);
    const int encoder = whole(hf, key, otherwise);
    snprintf(key, sizeof key, "decoder_%s", what);
    const int decoder = whole(hf, key, otherwise);
    *value = encoder;
    return encoder == decoder ||
           hd_fail(hf->err, HEED_BAD_MODEL,
                   "%s/config.json: encoder_%s is %d and decoder_%s is %d, but a model of heed has "
                   "the same on both sides",
                   hf->folder, what, encoder, what, decoder);
}

static bool set_activation(const struct hf *hf, struct hd_config *c)
{
    static const struct {
        const char *theirs;
        int ours;
    } names[] = {{"relu", HD_RELU},
                 {"gelu", HD_GELU},
                 {"swish", HD_SWISH},
                 {"silu", HD_SWISH},
                 {"tanh", HD_TANH},
                 {"sigmoid", HD_SIGMOID},
                 {"gelu_new", HD_GELU_TANH},
                 {"gelu_fast", HD_GELU_TANH},
                 {"gelu_pytorch_tanh", HD_GELU_TANH}};
    const char *name = json_string_value(json_object_get(hf->config, "activation_function"));
    name = name ? name : "gelu";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].theirs, name) == 0) {
            c->activation = names[i].ours;
            return true;
        }
    return hd_fail(hf->err, HEED_BAD_MODEL,
                   "%s/config.json: activation_function is %s, which heed does not have; relu, "
                   "gelu, gelu_new, swish, silu, tanh and sigmoid can be converted",
                   hf->folder, hd_quote(name).text);
}

/* The symbol before the first word; config.json, generation_config.json, or the padding. */
static int start_of(const struct hf *hf)
{
    const json_t *told = json_object_get(hf->generation, "decoder_start_token_id");
    const int padding = whole(hf, "pad_token_id", 58100);
    const int start = whole(hf, "decoder_start_token_id", -1);
    return start >= 0 ? start : json_is_integer(told) ? (int)json_integer_value(told) : padding;
}

/* "PREFIXencoder.embed_tokens.weight" and the like are in the file. */
static bool has_table(const struct hf *hf, const char *side)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s.embed_tokens.weight", hf->prefix, side);
    return hd_foreign_find(&hf->in, name) != NULL;
}

/* Where nothing is tied, transformers takes what the file has: one table under its own name, or two. */
static int tie_of(const struct hf *hf)
{
    const bool is_tied = is_true(hf, "tie_word_embeddings", true),
               is_shared = is_true(hf, "share_encoder_decoder_embeddings", true),
               has_two = has_table(hf, "encoder") && has_table(hf, "decoder");
    return is_tied ? (is_shared ? HD_TIE_ALL : HD_TIE_OUTPUT)
                   : (is_shared && !has_two ? HD_TIE_SOURCE_TARGET : HD_TIE_NONE);
}

static bool read_config(const struct hf *hf, struct hd_config *c)
{
    const char *type = json_string_value(json_object_get(hf->config, "model_type"));
    const bool is_pegasus = type && strcmp(type, "pegasus") == 0;
    if (!is_pegasus && !(type && strcmp(type, "marian") == 0))
        return hd_fail(hf->err, HEED_BAD_MODEL,
                       "%s/config.json: its model_type is %s; of the folders of transformers heed "
                       "converts marian (OPUS-MT) and pegasus",
                       hf->folder, hd_quote(type ? type : "").text);
    *c = hd_config_preset(HD_TRANSFORMER, HD_SIZE_BASE);
    c->source_vocab = whole(hf, "vocab_size", is_pegasus ? 50265 : 58101);
    c->target_vocab = whole(hf, "decoder_vocab_size", c->source_vocab);
    c->dim = c->embed = whole(hf, "d_model", 1024);
    c->encoder_layers = whole(hf, "encoder_layers", 12);
    c->decoder_layers = whole(hf, "decoder_layers", 12);
    c->tie = tie_of(hf);
    c->target_start = start_of(hf);
    c->norm = is_pegasus ? HD_NORM_PRE : HD_NORM_POST;
    c->final_norm = is_pegasus;
    c->norm_eps = 1e-5F; /* PyTorch's */
    c->position_layout = HD_LAYOUT_HALVES;
    c->position_shorter = false;
    c->position_first = 0;
    c->embed_scale = is_true(hf, "scale_embedding", false);
    c->alignment_layer = 0;
    return set_activation(hf, c) && both(hf, "attention_heads", 16, &c->heads) &&
           both(hf, "ffn_dim", 4096, &c->ffn);
}

/* ---- positions -------------------------------------------------------------------------------------------------------------- */

/* Older files have the table of sinusoids; another table is as good as learned. */
static bool find_positions(const struct hf *hf, struct hd_config *c)
{
    char name[80];
    snprintf(name, sizeof name, "%sencoder.embed_positions.weight", hf->prefix);
    const struct hd_tensor *t = hd_foreign_find(&hf->in, name);
    bool is_sin = true;
    if (!t)
        return true;
    if (t->n_dims != 2 || t->dims[0] < 1 || t->dims[0] > 1 << 20 || t->dims[1] != (size_t)c->dim ||
        c->dim < 2)
        return hd_fail(hf->err, HEED_BAD_MODEL, "%s: %s is no table of positions of width %d",
                       hf->in.path, name, c->dim);
    if (!hd_foreign_is_sinusoid(&hf->in, c, t, &is_sin))
        return false;
    if (!is_sin) {
        c->positions = HD_POSITIONS_LEARNED;
        c->max_positions = (int)t->dims[0];
    }
    return true;
}

/* ---- tensors ---------------------------------------------------------------------------------------------------------------- */

/* "PREFIXencoder.layers.0.fc1.weight" becomes "encoder.1.ffn.1.W", and its bias with it. */
static bool take_pair(struct hf *hf, const char *theirs, const char *ours, bool is_map)
{
    char name[160], own[96];
    snprintf(name, sizeof name, "%s%s.weight", hf->prefix, theirs);
    snprintf(own, sizeof own, "%s.%s", ours, is_map ? "W" : "gain");
    if (!hd_foreign_take(&hf->in, name, is_map, own))
        return false;
    snprintf(name, sizeof name, "%s%s.bias", hf->prefix, theirs);
    snprintf(own, sizeof own, "%s.%s", ours, is_map ? "b" : "bias");
    return hd_foreign_take(&hf->in, name, false, own);
}

static bool take_block(struct hf *hf, const char *side, int l)
{
    static const struct {
        const char *theirs, *ours;
        bool is_map, is_of_decoder;
    } parts[] = {
        {"self_attn.q_proj", "self.q", true, false},
        {"self_attn.k_proj", "self.k", true, false},
        {"self_attn.v_proj", "self.v", true, false},
        {"self_attn.out_proj", "self.o", true, false},
        {"self_attn_layer_norm", "self.norm", false, false},
        {"encoder_attn.q_proj", "cross.q", true, true},
        {"encoder_attn.k_proj", "cross.k", true, true},
        {"encoder_attn.v_proj", "cross.v", true, true},
        {"encoder_attn.out_proj", "cross.o", true, true},
        {"encoder_attn_layer_norm", "cross.norm", false, true},
        {"fc1", "ffn.1", true, false},
        {"fc2", "ffn.2", true, false},
        {"final_layer_norm", "ffn.norm", false, false},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char theirs[96], ours[64];
        snprintf(theirs, sizeof theirs, "%s.layers.%d.%s", side, l - 1, parts[i].theirs);
        snprintf(ours, sizeof ours, "%s.%d.%s", side, l, parts[i].ours);
        if ((!parts[i].is_of_decoder || strcmp(side, "decoder") == 0) &&
            !take_pair(hf, theirs, ours, parts[i].is_map))
            return false;
    }
    return true;
}

static bool take_side(struct hf *hf, const char *side, int layers)
{
    const struct hd_config *c = &hf->in.net->config;
    char theirs[96], ours[64];
    for (int l = 1; l <= layers; l++)
        if (!take_block(hf, side, l))
            return false;
    snprintf(theirs, sizeof theirs, "%s.layer_norm", side);
    snprintf(ours, sizeof ours, "%s.norm", side);
    if (c->final_norm && !take_pair(hf, theirs, ours, false))
        return false;
    snprintf(theirs, sizeof theirs, "%s%s.embed_positions.weight", hf->prefix, side);
    snprintf(ours, sizeof ours, "%s.positions", strcmp(side, "encoder") == 0 ? "source" : "target");
    if (c->positions == HD_POSITIONS_LEARNED)
        return hd_foreign_take(&hf->in, theirs, false, ours);
    hd_foreign_skip(&hf->in, theirs);
    return true;
}

/* The first of these names that is there, else the first. */
static const char *first_of(const struct hf *hf, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (hd_foreign_find(&hf->in, names[i]))
            return names[i];
    return names[0];
}

/* What is tied may be in the file once or several times; transformers ties it anew. */
static bool take_tables(struct hf *hf)
{
    const int tie = hf->in.net->config.tie;
    char shared[64], encoder[64], decoder[64];
    snprintf(shared, sizeof shared, "%sshared.weight", hf->prefix);
    snprintf(encoder, sizeof encoder, "%sencoder.embed_tokens.weight", hf->prefix);
    snprintf(decoder, sizeof decoder, "%sdecoder.embed_tokens.weight", hf->prefix);
    const char *const one[] = {shared, encoder, decoder, "lm_head.weight"}, *const two[] = {
                                                                                decoder,
                                                                                "lm_head.weight"};
    const bool is_one = tie == HD_TIE_ALL || tie == HD_TIE_SOURCE_TARGET,
               is_tied = hf->in.net->head.is_tied;
    bool ok;
    if (is_one)
        ok = hd_foreign_take(&hf->in, first_of(hf, one, is_tied ? 4 : 3), false, "embed");
    else
        ok = hd_foreign_take(&hf->in, encoder, false, "source.embed") &&
             hd_foreign_take(&hf->in, first_of(hf, two, is_tied ? 2 : 1), false, "target.embed");
    ok = ok && (is_tied || hd_foreign_take(&hf->in, "lm_head.weight", true, "output.W"));
    if (ok && hd_foreign_find(&hf->in, "final_logits_bias"))
        ok = hd_foreign_take(&hf->in, "final_logits_bias", false, "output.b");
    for (int i = 0; i < 4; i++)
        hd_foreign_skip(&hf->in, one[i]);
    return ok;
}

/* transformers forbids the padding symbol (bad_words_ids); here it is as unlikely as can be. */
static void forbid_padding(struct hf *hf)
{
    const struct hd_config *c = &hf->in.net->config;
    const int padding = whole(hf, "pad_token_id", 58100);
    if (padding >= 0 && padding < c->target_vocab)
        hf->in.net->head.b->x[padding] = -1000;
}

static bool read_net(struct hf *hf, const char *path, const struct hd_tensors *tensors)
{
    struct hd_config config;
    if (!hd_foreign_init(&hf->in, path, tensors, hf->err))
        return false;
    hf->prefix = hd_foreign_find(&hf->in, "model.encoder.layers.0.fc1.weight") ? "model." : "";
    if (!read_config(hf, &config) || !find_positions(hf, &config) ||
        !hd_foreign_make(&hf->in, &config) || !take_tables(hf) ||
        !take_side(hf, "encoder", config.encoder_layers) ||
        !take_side(hf, "decoder", config.decoder_layers) || !hd_foreign_is_done(&hf->in))
        return false;
    forbid_padding(hf);
    return true;
}

/* ---- vocabularies ------------------------------------------------------------------------------------------------------------ */

/* The tokens as a list of n; an id that has none gets a name that no text has. */
static struct hd_vocab *vocab_of(const struct hf *hf, const struct hd_tokens *tokens, size_t n,
                                 const char *spm, heed_error *err)
{
    struct hd_map map = {0};
    const struct hd_folder_path path = hd_folder_path(hf->folder, spm);
    enum { NAME = 40 };
    const char **list = hd_alloc(n, sizeof *list, err);
    char *names = list ? hd_alloc(n, NAME, err) : NULL;
    struct hd_vocab *vocab = NULL;
    heed_error why = {0};
    if (names && hd_map_open(&map, path.s, err)) {
        for (size_t i = 0; i < tokens->n && (size_t)tokens->ids[i] < n; i++)
            list[tokens->ids[i]] = tokens->text[i];
        for (size_t i = 0; i < n; i++)
            if (!list[i]) {
                snprintf(names + i * NAME, NAME, "<no-token-%zu>", i);
                list[i] = names + i * NAME;
            }
        vocab = hd_vocab_listed(list, n, map.data, map.size, &why);
        if (!vocab)
            hd_fail(err, why.code, "%s: %s", path.s, why.message);
    }
    hd_map_close(&map);
    hd_free(names);
    hd_free(list);
    return vocab;
}

static struct hd_vocab *read_vocab(const struct hf *hf, const char *json, const char *spm, int size)
{
    const struct hd_folder_path path = hd_folder_path(hf->folder, json);
    struct hd_tokens tokens = {0};
    struct hd_map map;
    struct hd_vocab *vocab = NULL;
    if (!hd_map_open(&map, path.s, hf->err))
        return NULL;
    bool ok = hd_tokens_from_json(&tokens, path.s, map.data, map.size, hf->err);
    if (ok && tokens.ids[tokens.n - 1] >= size)
        ok = hd_fail(hf->err, HEED_BAD_MODEL,
                     "%s: the token %s has the id %d, but the vocabulary has %d (vocab_size in "
                     "config.json)",
                     path.s, hd_quote(tokens.text[tokens.n - 1]).text, tokens.ids[tokens.n - 1],
                     size);
    if (ok)
        vocab = vocab_of(hf, &tokens, (size_t)size, spm, hf->err);
    hd_tokens_release(&tokens);
    hd_map_close(&map);
    return vocab;
}

/* One list for both languages, or one each; a model that cuts for each. */
static bool read_vocabs(const struct hf *hf, struct hd_vocab **source, struct hd_vocab **target)
{
    const struct hd_config *c = &hf->in.net->config;
    const bool is_one = !hd_folder_has(hf->folder, "target_vocab.json");
    const int end = whole(hf, "eos_token_id", 0);
    *source = read_vocab(hf, "vocab.json", "source.spm", c->source_vocab);
    *target = *source ? read_vocab(hf, is_one ? "vocab.json" : "target_vocab.json", "target.spm",
                                   c->target_vocab)
                      : NULL;
    if (!*target)
        return false;
    size_t n_source, n_target;
    const void *a = hd_vocab_bytes(*source, &n_source), *b = hd_vocab_bytes(*target, &n_target);
    if (n_source == n_target && memcmp(a, b, n_source) == 0) {
        hd_vocab_free(*target);
        *target = *source;
    }
    return hd_vocab_end(*target) == end ||
           hd_fail(hf->err, HEED_BAD_MODEL,
                   "%s: eos_token_id in config.json is %d, but </s> has the id %d in its "
                   "vocabulary; one of the two files belongs to another model",
                   hf->folder, end, hd_vocab_end(*target));
}

/* ---- languages ---------------------------------------------------------------------------------------------------------------- */

/* As tokenizer_config.json says; else by the name under which OPUS-MT published it, ".../opus-mt-en-de". */
static bool find_language(const struct hf *hf, const char *key, int i, char out[HD_LANGUAGE_SIZE])
{
    const char *told = json_string_value(json_object_get(hf->tokenizer, key));
    if (told && hd_language_read(out, (struct hd_text){told, strlen(told)}))
        return true;
    const char *name = json_string_value(json_object_get(hf->config, "_name_or_path"));
    const char *at = name ? strstr(name, "opus-mt-") : NULL;
    at = at ? at + strlen("opus-mt-") : NULL;
    if (at && i == 1)
        at = strchr(at, '-') ? strchr(at, '-') + 1 : NULL;
    return at && hd_language_read(out, (struct hd_text){at, strcspn(at, i == 0 ? "-" : "-/")});
}

/* A model of several targets has a symbol for each, >>fr<<, before its sources. */
static bool note_languages(const struct hf *hf, const struct hd_vocab *source, json_t *record)
{
    char from[HD_LANGUAGE_SIZE], to[HD_LANGUAGE_SIZE], text[2 * HD_LANGUAGE_SIZE + 2];
    const bool has_from = find_language(hf, "source_lang", 0, from),
               has_to = find_language(hf, "target_lang", 1, to);
    json_t *directions = json_array();
    for (int id = 0; id < hd_vocab_size(source); id++) {
        size_t n;
        const char *name = hd_vocab_language_of(source, id, &n);
        if (!name || !hd_language_read(text, (struct hd_text){name, n}))
            continue;
        snprintf(to, sizeof to, "%.*s", HD_LANGUAGE_SIZE - 1, text);
        snprintf(text, sizeof text, "%s-%s", has_from && strcmp(from, to) != 0 ? from : "und", to);
        json_array_append_new(directions, json_string(text));
    }
    int failed = directions == NULL;
    if (json_array_size(directions) > 1)
        failed |= json_object_set(record, "directions", directions);
    else if (json_array_size(directions) == 1 || (has_from && has_to && strcmp(from, to) != 0))
        failed |= json_object_set_new(record, "languages",
                                      json_pack("[s, s]", has_from ? from : "und", to));
    json_decref(directions);
    return failed == 0;
}

static json_t *record_of(const struct hf *hf, const struct hd_vocab *source)
{
    const char *version = json_string_value(json_object_get(hf->config, "transformers_version"));
    json_t *record =
        json_pack("{s:s, s:s}", "imported_from", "transformers", "version", version ? version : "");
    if (record && note_languages(hf, source, record))
        return record;
    json_decref(record);
    return NULL;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------------- */

static heed_model *model_of(struct hf *hf, const char *path, const struct hd_tensors *tensors)
{
    struct hd_vocab *source = NULL, *target = NULL;
    heed_model *model = NULL;
    if (read_net(hf, path, tensors)) {
        const bool ok = read_vocabs(hf, &source, &target);
        json_t *record = ok ? record_of(hf, source) : NULL;
        if (ok) {
            model = hd_foreign_model(&hf->in, source, target, record);
        } else {
            if (target != source)
                hd_vocab_free(target);
            hd_vocab_free(source);
        }
    }
    hd_foreign_release(&hf->in);
    return model;
}

static heed_model *read_weights(struct hf *hf)
{
    const struct hd_folder_path tensors = hd_folder_path(hf->folder, "model.safetensors"),
                                torch = hd_folder_path(hf->folder, "pytorch_model.bin");
    heed_model *model = NULL;
    if (hd_folder_has(hf->folder, "model.safetensors")) {
        struct hd_safetensors *file = hd_safetensors_open(tensors.s, hf->err);
        model = file ? model_of(hf, tensors.s, &file->tensors) : NULL;
        hd_safetensors_close(file);
    } else if (hd_folder_has(hf->folder, "pytorch_model.bin")) {
        struct hd_torch *file = hd_torch_open(torch.s, hf->err);
        model = file ? model_of(hf, torch.s, &file->tensors) : NULL;
        hd_torch_close(file);
    } else {
        const bool is_cut = hd_folder_has(hf->folder, "model.safetensors.index.json") ||
                            hd_folder_has(hf->folder, "pytorch_model.bin.index.json");
        hd_fail(
            hf->err, HEED_BAD_FILE,
            is_cut
                ? "%s: the weights in this folder are cut into several files, which heed does not "
                  "read; write them as one with transformers: "
                  "model.save_pretrained(FOLDER, max_shard_size=\"100GB\")"
                : "%s: there is neither model.safetensors nor pytorch_model.bin in this folder",
            hf->folder);
    }
    return model;
}

heed_model *hd_import_hf(const char *folder, heed_error *err)
{
    struct hf hf = {.folder = folder, .err = err};
    heed_model *model = NULL;
    bool ok = (hf.config = hd_folder_json(folder, "config.json", JSON_OBJECT, err)) != NULL;
    if (ok && hd_folder_has(folder, "generation_config.json"))
        ok = (hf.generation = hd_folder_json(folder, "generation_config.json", JSON_OBJECT, err)) !=
             NULL;
    if (ok && hd_folder_has(folder, "tokenizer_config.json"))
        ok = (hf.tokenizer = hd_folder_json(folder, "tokenizer_config.json", JSON_OBJECT, err)) !=
             NULL;
    if (ok)
        model = read_weights(&hf);
    json_decref(hf.config);
    json_decref(hf.generation);
    json_decref(hf.tokenizer);
    return model;
}
