/* export_hf.c -- a model of heed as a folder that Hugging Face's transformers opens: config.json, generation_config.json, model.safetensors,
 * source.spm, target.spm, vocab.json, tokenizer_config.json.
 *
 * Norms after each part are MarianMT, norms before are Pegasus with MarianMT's tokenizer; both begin with a padding symbol, whose row is
 * zeros. Their sinusoids are all sin before all cos; a model whose are sin, cos, sin, cos has its numbers put into that order everywhere,
 * which changes no result. Invariant: the folder appears under its name when all of it is there. */
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/quote.h"
#include "format/safetensors.h"
#include "model/languages.h"
#include "model/model_file.h"
#include "model/position.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POSITIONS = 1024 }; /* of sinusoids, which go on for ever here and end there */

struct export
{
    const heed_model *model;
    const struct hd_config *c;
    const char *folder; /* where it is being written */
    int n_rows;         /* of both tables: the larger vocabulary, and symbols that are added */
    int padding, start; /* ids */
    bool is_pegasus, has_two_lists;
    enum hd_dtype store;
    struct hd_saver saver;
    struct hd_arena memory;
    heed_error *err;
};

/* ---- what can be said there ----------------------------------------------------------------------------------------------- */

static bool cannot(const struct export *e, const char *what)
{
    return hd_fail(e->err, HEED_BAD_OPTION, "transformers cannot express this model: %s", what);
}

static bool check_model(struct export *e)
{
    const struct hd_config *c = e->c;
    if (c->arch != HD_TRANSFORMER)
        return cannot(e, "it is recurrent, and MarianMT and Pegasus are Transformers");
    if (c->task == HD_TASK_SPAN)
        return cannot(e, "it gives answers, and MarianMT and Pegasus write words");
    if (c->decoder == HD_DECODER_SSRU)
        return cannot(e,
                      "its decoder has a recurrent unit (decoder ssru), and those of MarianMT and "
                      "Pegasus attend to themselves");
    e->is_pegasus = c->norm == HD_NORM_PRE;
    if (e->is_pegasus != (bool)c->final_norm)
        return cannot(e, e->is_pegasus
                             ? "its norms stand before each part, but there is none after "
                               "the last layer (final-norm), as Pegasus wants"
                             : "its norms stand after each part, and after the last layer "
                               "once more (final-norm), which MarianMT has not");
    if (e->is_pegasus && c->tie != HD_TIE_ALL)
        return cannot(e, "its norms stand before each part, as in Pegasus, which has one table for "
                         "source, target and output, but tie is not all");
    if (!hd_vocab_spm(e->model->source) || !hd_vocab_spm(e->model->target))
        return cannot(e, "its vocabulary is no SentencePiece model, and MarianMT's tokenizer knows "
                         "nothing else");
    if (hd_vocab_end(e->model->source) < 0 || hd_vocab_end(e->model->target) < 0 ||
        hd_vocab_end(e->model->source) != hd_vocab_end(e->model->target) ||
        hd_vocab_unknown(e->model->source) < 0 || hd_vocab_unknown(e->model->target) < 0)
        return cannot(e, "its vocabularies have no </s> of the same id on both sides, or no <unk>");
    return true;
}

/* Of its own padding, if it has one, and of a vector of zeros to begin with. */
static void choose_symbols(struct export *e)
{
    const int n_source = e->c->source_vocab, n_target = e->c->target_vocab;
    const int own = hd_vocab_padding(e->model->target);
    const bool has_own = own >= 0 && hd_vocab_padding(e->model->source) == own;
    e->n_rows = n_source > n_target ? n_source : n_target;
    e->padding = has_own ? own : e->n_rows++;
    e->start = e->c->target_start >= 0 ? e->c->target_start : has_own ? e->n_rows++ : e->padding;
}

/* ---- vocabularies ----------------------------------------------------------------------------------------------------------- */

static bool write_bytes(const struct export *e, const char *name, const void *data, size_t n)
{
    char path[1100];
    struct hd_writer w = {0};
    snprintf(path, sizeof path, "%s/%s", e->folder, name);
    const bool ok = hd_writer_open(&w, path, e->err) && hd_write(&w, data, n, e->err) &&
                    hd_writer_commit(&w, e->err);
    if (!ok)
        hd_writer_abandon(&w);
    return ok;
}

/* Steals `json`; NULL is no memory. */
static bool write_json(const struct export *e, const char *name, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(json);
    const bool ok = text ? write_bytes(e, name, text, strlen(text))
                         : hd_fail(e->err, HEED_NO_MEMORY, "there is no memory for %s", name);
    free(text);
    return ok;
}

/* How a symbol is called there. */
static const char *token_of(const struct export *e, const struct hd_vocab *vocab, int id,
                            char text[64])
{
    size_t n;
    const char *language = id < hd_vocab_size(vocab) ? hd_vocab_language_of(vocab, id, &n) : NULL;
    if (id == e->padding)
        return "<pad>";
    if (id == hd_vocab_end(vocab))
        return "</s>";
    if (id == hd_vocab_unknown(vocab))
        return "<unk>";
    if (id < hd_vocab_size(vocab) && !language)
        return hd_vocab_piece(vocab, id);
    if (language)
        snprintf(text, 64, ">>%.*s<<", (int)(n < 48 ? n : 48), language);
    else
        snprintf(text, 64, "<added-%d>", id);
    return text;
}

static bool write_list(const struct export *e, const char *name, const struct hd_vocab *vocab)
{
    json_t *list = json_object();
    int failed = list == NULL;
    for (int id = 0; id < e->n_rows && failed == 0; id++) {
        char text[64];
        failed |= json_object_set_new(list, token_of(e, vocab, id, text), json_integer(id));
    }
    if (failed == 0 && json_object_size(list) != (size_t)e->n_rows) {
        json_decref(list);
        return cannot(e, "a subword of its vocabulary is called like a special symbol");
    }
    return write_json(e, name, list);
}

static bool same_pieces(const struct hd_vocab *a, const struct hd_vocab *b)
{
    bool is_same = hd_vocab_size(a) == hd_vocab_size(b);
    for (int id = 0; is_same && id < hd_vocab_size(a); id++)
        is_same = strcmp(hd_vocab_piece(a, id), hd_vocab_piece(b, id)) == 0;
    return is_same;
}

static json_t *tokenizer_of(const struct export *e)
{
    const struct hd_direction *d = hd_model_direction(e->model, 0);
    const bool has_one = d && !hd_model_direction(e->model, 1);
    json_t *json = json_pack("{s:s, s:b, s:s, s:s, s:s, s:i}", "tokenizer_class", "MarianTokenizer",
                             "separate_vocabs", e->has_two_lists, "eos_token", "</s>", "unk_token",
                             "<unk>", "pad_token", "<pad>", "model_max_length", 512);
    if (d && json)
        json_object_set_new(json, "source_lang", json_string(d->from));
    if (has_one && json)
        json_object_set_new(json, "target_lang", json_string(d->to));
    return json;
}

static bool write_vocabs(struct export *e)
{
    const struct hd_vocab *source = e->model->source, *target = e->model->target;
    size_t n_source, n_target;
    const void *from = hd_vocab_spm_bytes(source, &n_source),
               *to = hd_vocab_spm_bytes(target, &n_target);
    e->has_two_lists = !same_pieces(source, target);
    return write_bytes(e, "source.spm", from, n_source) &&
           write_bytes(e, "target.spm", to, n_target) && write_list(e, "vocab.json", source) &&
           (!e->has_two_lists || write_list(e, "target_vocab.json", target)) &&
           write_json(e, "tokenizer_config.json", tokenizer_of(e));
}

/* ---- the configuration ------------------------------------------------------------------------------------------------------- */

static int n_positions(const struct export *e)
{
    return e->c->positions == HD_POSITIONS_LEARNED ? e->c->max_positions : POSITIONS;
}

static json_t *config_of(const struct export *e)
{
    static const char *const activations[] = {
        [HD_RELU] = "relu", [HD_GELU] = "gelu",       [HD_SWISH] = "swish",
        [HD_TANH] = "tanh", [HD_SIGMOID] = "sigmoid", [HD_GELU_TANH] = "gelu_new"};
    static const char *const dtypes[] = {
        [HD_F32] = "float32", [HD_F16] = "float16", [HD_BF16] = "bfloat16"};
    const struct hd_config *c = e->c;
    const bool is_shared = c->tie == HD_TIE_ALL || c->tie == HD_TIE_SOURCE_TARGET,
               is_tied = c->tie == HD_TIE_ALL || c->tie == HD_TIE_OUTPUT;
    json_t *json = json_pack(
        "{s:[s], s:s, s:b, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:i, s:i, "
        "s:i, s:b, s:b, s:b}",
        "architectures", e->is_pegasus ? "PegasusForConditionalGeneration" : "MarianMTModel",
        "model_type", e->is_pegasus ? "pegasus" : "marian", "is_encoder_decoder", 1, "torch_dtype",
        dtypes[e->store], "activation_function", activations[c->activation], "d_model", c->dim,
        "encoder_layers", c->encoder_layers, "decoder_layers", c->decoder_layers,
        "encoder_attention_heads", c->heads, "decoder_attention_heads", c->heads, "encoder_ffn_dim",
        c->ffn, "decoder_ffn_dim", c->ffn, "vocab_size", e->n_rows, "max_position_embeddings",
        n_positions(e), "scale_embedding", (int)c->embed_scale, "pad_token_id", e->padding,
        "eos_token_id", hd_vocab_end(e->model->target), "decoder_start_token_id", e->start,
        "static_position_embeddings", (int)(c->positions == HD_POSITIONS_SIN),
        "tie_word_embeddings", (int)is_tied, "share_encoder_decoder_embeddings", (int)is_shared);
    if (json && !e->is_pegasus)
        json_object_set_new(json, "decoder_vocab_size", json_integer(e->n_rows));
    if (json) { /* what CTranslate2's converter asks for */
        json_object_set_new(json, "normalize_before", json_boolean(e->is_pegasus));
        json_object_set_new(json, "add_final_layer_norm", json_boolean(e->is_pegasus));
        json_object_set_new(json, "normalize_embedding", json_false());
    }
    return json;
}

static bool write_configs(const struct export *e)
{
    json_t *generation =
        json_pack("{s:[[i]], s:i, s:i, s:i, s:i, s:i, s:f, s:b}", "bad_words_ids", e->padding,
                  "decoder_start_token_id", e->start, "eos_token_id",
                  hd_vocab_end(e->model->target), "pad_token_id", e->padding, "max_length", 512,
                  "num_beams", 5, "length_penalty", 1.0, "early_stopping", 0);
    return write_json(e, "generation_config.json", generation) &&
           write_json(e, "config.json", config_of(e));
}

/* ---- tensors ------------------------------------------------------------------------------------------------------------------ */

/* Where number j of a row of d numbers was: sin before cos. */
static size_t moved(const struct export *e, size_t j)
{
    const size_t d = (size_t)e->c->dim, half = d / 2;
    const bool is_moved =
        e->c->positions == HD_POSITIONS_SIN && e->c->position_layout == HD_LAYOUT_INTERLEAVED;
    return !is_moved ? j : j < half ? 2 * j : 2 * (j - half) + 1;
}

/* Values of a parameter, in the arena. */
static float *values_of(struct export *e, const char *ours)
{
    const hd_node *p = hd_params_find(e->model->net->params, ours);
    float *x = hd_take(&e->memory, p->count * sizeof *x);
    if (!x)
        hd_fail(e->err, HEED_NO_MEMORY, "there is no memory for the tensor %s", ours);
    else if (p->x)
        memcpy(x, p->x, p->count * sizeof *x);
    else
        hd_param_read(p, x);
    return x;
}

static bool add(struct export *e, const char *name, const float *x, int rows, int columns)
{
    const size_t dims[2] = {(size_t)rows, (size_t)columns};
    const bool is_vector = rows == 0;
    hd_saver_add(&e->saver, hd_tensor_of(name, HD_F32, x, dims + is_vector, is_vector ? 1 : 2),
                 e->store);
    return true;
}

/* W [in,out] as [out,in]. The widths that are the model's own have their numbers moved. */
static bool add_map(struct export *e, const char *theirs, const char *ours, bool is_in, bool is_out)
{
    char name[160];
    snprintf(name, sizeof name, "%s.W", ours);
    const hd_node *p = hd_params_find(e->model->net->params, name);
    const size_t in = (size_t)p->dim[0], out = (size_t)p->dim[1];
    const float *x = values_of(e, name);
    float *y = x ? hd_take(&e->memory, p->count * sizeof *y) : NULL;
    if (!y)
        return hd_fail(e->err, HEED_NO_MEMORY, "there is no memory for the tensor %s", name);
    for (size_t o = 0; o < out; o++)
        for (size_t i = 0; i < in; i++)
            y[o * in + i] = x[(is_in ? moved(e, i) : i) * out + (is_out ? moved(e, o) : o)];
    snprintf(name, sizeof name, "%s.weight", theirs);
    return add(e, name, y, (int)out, (int)in);
}

static bool add_vector(struct export *e, const char *theirs, const char *ours, bool is_moved)
{
    const hd_node *p = hd_params_find(e->model->net->params, ours);
    const float *x = values_of(e, ours);
    float *y = x ? hd_take(&e->memory, p->count * sizeof *y) : NULL;
    if (!y)
        return hd_fail(e->err, HEED_NO_MEMORY, "there is no memory for the tensor %s", ours);
    for (size_t i = 0; i < p->count; i++)
        y[i] = x[is_moved ? moved(e, i) : i];
    return add(e, theirs, y, 0, (int)p->count);
}

struct part {
    const char *theirs, *ours;
    bool is_in, is_out; /* of a map: as wide as the model; a norm has neither */
    bool is_of_decoder;
};

static bool add_part(struct export *e, const char *side, int l, const struct part *part)
{
    char theirs[128], ours[80], name[160], own[96];
    const bool is_map = part->is_in || part->is_out;
    snprintf(theirs, sizeof theirs, "model.%s.layers.%d.%s", side, l - 1, part->theirs);
    snprintf(ours, sizeof ours, "%s.%d.%s", side, l, part->ours);
    snprintf(name, sizeof name, "%s.bias", theirs);
    snprintf(own, sizeof own, "%s.%s", ours, is_map ? "b" : "bias");
    if (!add_vector(e, name, own, part->is_out || !is_map))
        return false;
    if (is_map)
        return add_map(e, theirs, ours, part->is_in, part->is_out);
    snprintf(name, sizeof name, "%s.weight", theirs);
    snprintf(own, sizeof own, "%s.gain", ours);
    return add_vector(e, name, own, true);
}

static bool add_side(struct export *e, const char *side, int layers)
{
    static const struct part parts[] = {
        {"self_attn.q_proj", "self.q", true, false, false},
        {"self_attn.k_proj", "self.k", true, false, false},
        {"self_attn.v_proj", "self.v", true, false, false},
        {"self_attn.out_proj", "self.o", false, true, false},
        {"self_attn_layer_norm", "self.norm", false, false, false},
        {"encoder_attn.q_proj", "cross.q", true, false, true},
        {"encoder_attn.k_proj", "cross.k", true, false, true},
        {"encoder_attn.v_proj", "cross.v", true, false, true},
        {"encoder_attn.out_proj", "cross.o", false, true, true},
        {"encoder_attn_layer_norm", "cross.norm", false, false, true},
        {"fc1", "ffn.1", true, false, false},
        {"fc2", "ffn.2", false, true, false},
        {"final_layer_norm", "ffn.norm", false, false, false},
    };
    const bool is_decoder = strcmp(side, "decoder") == 0;
    for (int l = 1; l <= layers; l++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if ((is_decoder || !parts[i].is_of_decoder) && !add_part(e, side, l, &parts[i]))
                return false;
    char theirs[64], ours[64];
    bool ok = true;
    for (int i = 0; ok && e->c->final_norm && i < 2; i++) {
        snprintf(theirs, sizeof theirs, "model.%s.layer_norm.%s", side, i == 0 ? "weight" : "bias");
        snprintf(ours, sizeof ours, "%s.norm.%s", side, i == 0 ? "gain" : "bias");
        ok = add_vector(e, theirs, ours, true);
    }
    return ok;
}

/* A table [V,D], or the output layer's [D,V], with as many rows as all have; those that are added are zeros. */
static const float *table_of(struct export *e, const char *ours, bool is_turned)
{
    const hd_node *p = hd_params_find(e->model->net->params, ours);
    const size_t d = (size_t)e->c->dim, n = (size_t)e->n_rows, V = (size_t)p->dim[is_turned];
    const float *x = values_of(e, ours);
    float *y = x ? hd_take(&e->memory, n * d * sizeof *y) : NULL;
    if (!y) {
        hd_fail(e->err, HEED_NO_MEMORY, "there is no memory for the tensor %s", ours);
        return NULL;
    }
    memset(y, 0, n * d * sizeof *y);
    for (size_t v = 0; v < V; v++)
        for (size_t i = 0; i < d; i++)
            y[v * d + i] = is_turned ? x[moved(e, i) * V + v] : x[v * d + moved(e, i)];
    return y;
}

static bool add_tables(struct export *e)
{
    const int tie = e->c->tie, n = e->n_rows, d = e->c->dim;
    const bool is_one = tie == HD_TIE_ALL || tie == HD_TIE_SOURCE_TARGET;
    const float *source = table_of(e, is_one ? "embed" : "source.embed", false);
    const float *target = is_one || !source ? source : table_of(e, "target.embed", false);
    if (!target || (is_one && !add(e, "model.shared.weight", source, n, d)))
        return false;
    if (tie != HD_TIE_ALL && (!add(e, "model.encoder.embed_tokens.weight", source, n, d) ||
                              !add(e, "model.decoder.embed_tokens.weight", target, n, d)))
        return false;
    const float *output = e->model->net->head.is_tied ? NULL : table_of(e, "output.W", true);
    return e->model->net->head.is_tied || (output && add(e, "lm_head.weight", output, n, d));
}

/* What is added is never said. */
static bool add_bias(struct export *e)
{
    const float *x = values_of(e, "output.b");
    float *y = x ? hd_take(&e->memory, (size_t)e->n_rows * sizeof *y) : NULL;
    if (!y)
        return hd_fail(e->err, HEED_NO_MEMORY, "there is no memory for the tensor output.b");
    for (int v = 0; v < e->n_rows; v++)
        y[v] = v < e->c->target_vocab ? x[v] : -10000;
    return add(e, "final_logits_bias", y, 1, e->n_rows);
}

/* Sinusoids of another kind than theirs, as a table. */
static float *sinusoids(struct export *e)
{
    const struct hd_config *c = e->c;
    const int half = c->dim / 2;
    const struct hd_kernels *k = hd_kernels_chosen(e->err);
    float *w = hd_position_frequencies(c, e->err);
    float *table = hd_take(&e->memory, (size_t)(POSITIONS + 1) * (size_t)c->dim * sizeof *table);
    float *angle = table ? table + (size_t)POSITIONS * (size_t)c->dim : NULL;
    for (int p = 0; k && w && table && p < POSITIONS; p++) {
        float *row = table + (size_t)p * (size_t)c->dim;
        k->scale(angle, (float)(p + c->position_first), w, half);
        k->sin(row, angle, half);
        k->cos(row + half, angle, half);
    }
    hd_free(w);
    return k && w ? table : NULL;
}

static bool add_positions(struct export *e)
{
    const struct hd_config *c = e->c;
    if (c->positions == HD_POSITIONS_SIN && !c->position_shorter && c->position_first == 0)
        return true;
    const bool is_learned = c->positions == HD_POSITIONS_LEARNED;
    float *source = is_learned ? values_of(e, "source.positions") : NULL,
          *target = is_learned ? values_of(e, "target.positions") : NULL;
    const size_t size = (size_t)n_positions(e) * (size_t)c->dim * sizeof *source;
    if (c->positions == HD_POSITIONS_SIN)
        source = target = sinusoids(e);
    else if (!is_learned && (source = target = hd_take(&e->memory, size)))
        memset(source, 0, size);
    if (!source || !target)
        return hd_fail(e->err, HEED_NO_MEMORY, "there is no memory for a table of positions");
    return add(e, "model.encoder.embed_positions.weight", source, n_positions(e), c->dim) &&
           add(e, "model.decoder.embed_positions.weight", target, n_positions(e), c->dim);
}

static bool write_tensors(struct export *e)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/model.safetensors", e->folder);
    hd_saver_note(&e->saver, "format", "pt");
    return add_tables(e) && add_side(e, "encoder", e->c->encoder_layers) &&
           add_side(e, "decoder", e->c->decoder_layers) && add_bias(e) && add_positions(e) &&
           hd_saver_write(&e->saver, path, e->err);
}

/* ---- the folder ---------------------------------------------------------------------------------------------------------------- */

static void remove_folder(const char *folder)
{
    static const char *const names[] = {"source.spm",        "target.spm",
                                        "vocab.json",        "target_vocab.json",
                                        "model.safetensors", "tokenizer_config.json",
                                        "config.json",       "generation_config.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1100];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static bool write_folder(struct export *e, const char *folder)
{
    char making[1024];
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    if (n > 1000)
        return hd_fail(e->err, HEED_BAD_OPTION, "the name of the folder is too long");
    snprintf(making, sizeof making, "%.*s.XXXXXX", (int)n, folder);
    if (!mkdtemp(making))
        return hd_fail_to_write(folder, errno, e->err);
    e->folder = making;
    bool ok = write_vocabs(e) && write_tensors(e) && write_configs(e);
    if (ok && (chmod(making, 0755) != 0 || rename(making, folder) != 0))
        ok = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
                 ? hd_fail(e->err, HEED_BAD_FILE,
                           "%s: there is something of this name already; choose another name, or "
                           "remove it",
                           folder)
                 : hd_fail_to_write(folder, errno, e->err);
    if (!ok)
        remove_folder(making);
    e->folder = NULL;
    return ok;
}

bool heed_model_export(const heed_model *model, const char *folder, enum heed_store store,
                       heed_error *err)
{
    static const enum hd_dtype dtypes[] = {HD_F32, HD_F16, HD_BF16};
    if (!hd_is_given(model, "model", err) || !hd_is_given(folder, "folder", err))
        return false;
    if ((int)store < HEED_STORE_F32 || store > HEED_STORE_BF16)
        return hd_fail(
            err, HEED_BAD_OPTION,
            "transformers reads numbers stored as f32, f16 or bf16; choose one of these");
    struct export e = {
        .model = model, .c = &model->net->config, .store = dtypes[store], .err = err};
    bool ok = (folder[0] != '\0' || hd_fail(err, HEED_BAD_OPTION, "the folder has no name")) &&
              check_model(&e);
    if (ok) {
        choose_symbols(&e);
        ok = write_folder(&e, folder);
    }
    hd_saver_release(&e.saver);
    hd_arena_release(&e.memory);
    return ok;
}
