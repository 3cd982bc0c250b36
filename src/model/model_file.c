/* model_file.c -- one model, one file. */
#include "model/model_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "format/safetensors.h"
#include "graph/tape.h"
#include "model/languages.h"
#include "text/detector.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the metadata, and names of the tensors that are not parameters. */
static const char *const KEY_FORMAT = "format", *const KEY_CONFIG = "heed.config",
                         *const KEY_RECORD = "heed.record";
static const char *const KEY_SOURCE = "heed.vocab.source", *const KEY_TARGET = "heed.vocab.target";
static const char *const SOURCE = "vocab.source", *const TARGET = "vocab.target",
                         *const DETECTOR = "detector";
static const char *const FEATURES = "features."; /* before the names of what makes vectors */
static const char *const FORMAT = "heed-1"; /* raised when an old reader would misread a new file */

enum { LONGEST_NAME = 128 };

/* The scales of a matrix in 8 bits stand beside it as X.scale. */
static const char *scale_name(char name[LONGEST_NAME], const char *param)
{
    snprintf(name, LONGEST_NAME, "%s.scale", param);
    return name;
}

void heed_model_free(heed_model *model)
{
    if (!model)
        return;
    hd_net_free(model->net);
    if (model->target != model->source)
        hd_vocab_free(model->target);
    hd_vocab_free(model->source);
    json_decref(model->record);
    if (model->languages)
        hd_model_languages_release(model->languages);
    hd_free(model->languages);
    hd_detector_free(model->detector);
    if (model->feature)
        hd_feature_release(model->feature);
    hd_free(model->feature);
    hd_free(model);
}

heed_model *hd_model_of(struct hd_net *net, struct hd_vocab *source, struct hd_vocab *target,
                        json_t *record, heed_error *err)
{
    heed_model *m = hd_new(heed_model, err);
    if (!m) {
        hd_net_free(net);
        if (target != source)
            hd_vocab_free(target);
        hd_vocab_free(source);
        json_decref(record);
        return NULL;
    }
    *m = (heed_model){
        .net = net, .source = source, .target = target, .record = record ? record : json_object()};
    const struct hd_config *c = &net->config;
    bool ok = m->record != NULL ||
              hd_fail(err, HEED_NO_MEMORY, "there is no memory for a model's record");
    if (ok && hd_vocab_size(source) != c->source_vocab)
        ok = hd_fail(
            err, HEED_BAD_MODEL,
            "the source vocabulary has %d entries, but the configuration says source-vocab %d",
            hd_vocab_size(source), c->source_vocab);
    if (ok && hd_vocab_size(target) != c->target_vocab)
        ok = hd_fail(
            err, HEED_BAD_MODEL,
            "the target vocabulary has %d entries, but the configuration says target-vocab %d",
            hd_vocab_size(target), c->target_vocab);
    ok = ok && (m->languages = hd_new(struct hd_model_languages, err)) &&
         hd_model_languages_init(m->languages, m->record, err);
    if (ok)
        return m;
    heed_model_free(m);
    return NULL;
}

bool hd_model_set_feature(heed_model *m, const struct hd_feature *feature, heed_error *err)
{
    struct hd_feature *copy = m->feature ? m->feature : hd_new(struct hd_feature, err);
    if (!copy)
        return false;
    hd_feature_release(copy);
    m->feature = copy;
    return hd_feature_copy(copy, feature, err);
}

/* What heed itself writes into records, or reads there. */
static bool is_own_record(const json_t *record, const char *name)
{
    static const char *const own[] = {
        "recipe",        "updates",   "epochs",          "target_pieces", "pairs",
        "validation",    "languages", "directions",      "documents",     "alignment_shift",
        "imported_from", "version",   "alignment_choice"};
    const json_t *there = json_object_get(record, name);
    bool is_own = there && !json_is_string(there);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        is_own = is_own || strcmp(name, own[i]) == 0;
    return is_own;
}

bool heed_model_note(heed_model *model, const char *name, const char *text, heed_error *err)
{
    if (!hd_is_given(model, "model", err) || !hd_is_given(name, "name", err) ||
        !hd_is_given(text, "text", err))
        return false;
    if (!hd_utf8_valid(name, strlen(name), NULL) || !hd_utf8_valid(text, strlen(text), NULL))
        return hd_fail(err, HEED_BAD_TEXT, "a note in a model's record must be UTF-8, not %s",
                       hd_quote(text).text);
    if (!*name)
        return hd_fail(err, HEED_BAD_OPTION, "a note in a model's record must have a name");
    if (is_own_record(model->record, name))
        return hd_fail(err, HEED_BAD_OPTION,
                       "'%s' is what heed itself notes in a model's record; choose another name",
                       name);
    if (!*text)
        json_object_del(model->record, name);
    else if (json_object_set_new(model->record, name, json_string(text)) != 0)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory for a model's record");
    struct hd_model_languages languages; /* which may be what was noted */
    if (!hd_model_languages_init(&languages, model->record, err))
        return false;
    hd_model_languages_release(model->languages);
    *model->languages = languages;
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------ */

static void add_vocab(struct hd_saver *s, const char *name, const char *key,
                      const struct hd_vocab *vocab)
{
    size_t size;
    const void *bytes = hd_vocab_bytes(vocab, &size);
    hd_saver_add(s, hd_tensor_of(name, HD_U8, bytes, &size, 1), HD_U8);
    hd_saver_note(s, key, hd_vocab_kind_name(hd_vocab_kind(vocab)));
}

/* Sorted keys and no spaces: the same object, the same text. Steals `json`; NULL is no memory. */
static bool add_json(struct hd_saver *s, const char *key, json_t *json, heed_error *err)
{
    char *text =
        json ? json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(json);
    if (!text)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory for a model's %s", key);
    hd_saver_note(s, key, text);
    free(text);
    return true;
}

static struct hd_tensor tensor_of(const hd_node *p, enum hd_dtype dtype, const void *data)
{
    size_t dims[HD_MAX_DIMS];
    for (int d = 0; d < p->n_dims; d++)
        dims[d] = (size_t)p->dim[d];
    return hd_tensor_of(hd_param_name(p), dtype, data, dims, p->n_dims);
}

/* A matrix in 8 bits and its scales. What has to be made for it lives in `memory`. */
static bool add_int8(struct hd_saver *s, const hd_node *p, struct hd_arena *memory, heed_error *err)
{
    int8_t *q = hd_take(memory, p->count);
    float *scale = NULL;
    size_t n = 0;
    bool ok = q && (hd_is_int8(p) || (scale = hd_take(memory, p->count * sizeof *scale)));
    if (ok && hd_is_int8(p)) {
        hd_param_read_int8(p, q);
        scale = p->param->int8.scale;
        n = (size_t)p->param->int8.N;
    } else if (ok) {
        ok = hd_param_quantise(p, q, scale, &n, err);
    }
    if (!ok)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory to write %s in 8 bits",
                       hd_param_name(p));
    char name[LONGEST_NAME];
    hd_saver_add(s, tensor_of(p, HD_I8, q), HD_I8);
    hd_saver_add(s, hd_tensor_of(scale_name(name, hd_param_name(p)), HD_F32, scale, &n, 1), HD_F32);
    return true;
}

static bool add_param(struct hd_saver *s, const hd_node *p, enum hd_dtype store,
                      struct hd_arena *memory, heed_error *err)
{
    if (store == HD_I8 && p->param->use != HD_PARAM_OTHER)
        return add_int8(s, p, memory, err);
    const float *x = p->x;
    if (!x) {
        float *widened = hd_take(memory, p->count * sizeof *widened);
        if (!widened)
            return hd_fail(err, HEED_NO_MEMORY, "there is no memory to write %s", hd_param_name(p));
        hd_param_read(p, widened);
        x = widened;
    }
    hd_saver_add(s, tensor_of(p, HD_F32, x), store == HD_I8 ? HD_F32 : store);
    return true;
}

bool hd_model_save(const heed_model *m, const char *path, enum hd_dtype store, heed_error *err)
{
    struct hd_saver s = {.has_checksums = true};
    struct hd_arena memory = {0};
    const hd_params *params = m->net->params;
    bool ok = true;
    for (int i = 0; ok && i < hd_params_number(params); i++)
        ok = add_param(&s, hd_params_at(params, i), store, &memory, err);
    add_vocab(&s, SOURCE, KEY_SOURCE, m->source);
    if (m->target != m->source)
        add_vocab(&s, TARGET, KEY_TARGET, m->target);
    if (m->detector) {
        size_t size;
        const void *bytes = hd_detector_bytes(m->detector, &size);
        hd_saver_add(&s, hd_tensor_of(DETECTOR, HD_U8, bytes, &size, 1), HD_U8);
    }
    hd_saver_note(&s, KEY_FORMAT, FORMAT);
    ok = ok && (!m->feature || hd_feature_save(m->feature, &s, FEATURES, err)) &&
         add_json(&s, KEY_CONFIG, hd_config_to_json(&m->net->config), err) &&
         add_json(&s, KEY_RECORD, json_incref(m->record), err) && hd_saver_write(&s, path, err);
    hd_saver_release(&s);
    hd_arena_release(&memory);
    return ok;
}

bool heed_model_save(const heed_model *model, const char *path, enum heed_store store,
                     heed_error *err)
{
    static const enum hd_dtype dtypes[] = {HD_F32, HD_F16, HD_BF16, HD_I8};
    if (!hd_is_given(model, "model", err) || !hd_is_given(path, "path", err))
        return false;
    if ((int)store < HEED_STORE_F32 || store > HEED_STORE_INT8)
        return hd_fail(err, HEED_BAD_OPTION, "there is no way to store a model of number %d",
                       (int)store);
    return hd_model_save(model, path, dtypes[store], err);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------ */

static json_t *read_json(const struct hd_safetensors *file, const char *key, heed_error *err)
{
    const char *text = hd_safetensors_metadata(file, key);
    if (!text) {
        hd_fail(
            err, HEED_BAD_MODEL,
            "%s: its metadata has no %s, so it is not a model of heed; heed convert reads those "
            "of Marian (.npz), and of transformers by the name of their folder",
            file->path, key);
        return NULL;
    }
    json_error_t why = {0};
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!json || !json_is_object(json)) {
        hd_fail(err, HEED_BAD_MODEL, "%s: %s in its metadata is not a JSON object: %s", file->path,
                key, json ? "it is another kind of value" : hd_quote(why.text).text);
        json_decref(json);
        return NULL;
    }
    return json;
}

static struct hd_vocab *read_vocab(const struct hd_safetensors *file, const char *name,
                                   const char *key, heed_error *err)
{
    const struct hd_tensor *t = hd_safetensors_find(file, name);
    const char *kind_name = hd_safetensors_metadata(file, key);
    enum hd_vocab_kind kind;
    if (!t || t->dtype != HD_U8 || t->n_dims != 1) {
        hd_fail(err, HEED_BAD_MODEL, "%s: there is no tensor %s with the bytes of its vocabulary",
                file->path, name);
        return NULL;
    }
    if (!kind_name || !hd_vocab_kind_by_name(&kind, kind_name)) {
        hd_fail(err, HEED_BAD_MODEL,
                "%s: %s in its metadata should be spm, words, chars, listed or labels", file->path,
                key);
        return NULL;
    }
    heed_error why = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(kind, t->data, t->bytes, &why);
    if (!vocab)
        hd_fail(err, why.code, "%s: %s: %s", file->path, name, why.message);
    return vocab;
}

/* True where there is none. */
static bool read_detector(const struct hd_safetensors *file, heed_model *model, heed_error *err)
{
    const struct hd_tensor *t = hd_safetensors_find(file, DETECTOR);
    heed_error why = {0};
    if (!t)
        return true;
    if (t->dtype != HD_U8 || t->n_dims != 1)
        return hd_fail(err, HEED_BAD_MODEL, "%s: the tensor %s must be U8 of one dimension",
                       file->path, DETECTOR);
    model->detector = hd_detector_from_memory(t->data, t->bytes, &why);
    return model->detector ||
           hd_fail(err, why.code, "%s: the tensor %s: %s", file->path, DETECTOR, why.message);
}

/* How the model's vectors are made. True where it does not say. */
static bool read_feature(const struct hd_safetensors *file, heed_model *model, heed_error *err)
{
    struct hd_feature feature = {0};
    if (model->net->config.source != HD_SOURCE_VECTORS)
        return true;
    if (!hd_feature_load(&feature, file, FEATURES, err))
        return false;
    const bool is_known = feature.settings.kind != HD_OPTION_OPEN;
    bool ok =
        !is_known || hd_feature_width(&feature.settings) == model->net->config.source_width ||
        hd_fail(err, HEED_BAD_MODEL,
                "%s: its features have %d numbers, but its configuration says source-width "
                "%d",
                file->path, hd_feature_width(&feature.settings), model->net->config.source_width);
    ok = ok && hd_model_set_feature(model, &feature, err);
    hd_feature_release(&feature);
    return ok;
}

/* Tensors that are no parameters. */
static bool is_text_name(const char *name)
{
    return hd_is_feature_name(name, FEATURES) || strcmp(name, SOURCE) == 0 ||
           strcmp(name, TARGET) == 0 || strcmp(name, DETECTOR) == 0;
}

static bool has_shape_of(const struct hd_tensor *t, const hd_node *p)
{
    const struct hd_tensor wanted = tensor_of(p, HD_F32, NULL);
    return hd_tensor_has_shape(t, wanted.dims, wanted.n_dims);
}

/* The tensor of a parameter, when it is as the configuration wants it. */
static const struct hd_tensor *find_param(const struct hd_safetensors *file, const hd_node *p,
                                          heed_error *err)
{
    const char *name = hd_param_name(p);
    const struct hd_tensor *t = hd_safetensors_find(file, name);
    const struct hd_tensor wanted = tensor_of(p, HD_F32, NULL);
    char there[HD_SHAPE_TEXT], text[HD_SHAPE_TEXT];
    if (t && has_shape_of(t, p) && (t->dtype != HD_I8 || p->param->use != HD_PARAM_OTHER))
        return t;
    if (!t)
        hd_fail(err, HEED_BAD_MODEL,
                "%s: the tensor %s is missing, which its configuration asks for", file->path, name);
    else if (has_shape_of(t, p))
        hd_fail(err, HEED_BAD_MODEL,
                "%s: the tensor %s is I8, but only the matrices of linear maps and embeddings can "
                "be 8-bit",
                file->path, name);
    else
        hd_fail(err, HEED_BAD_MODEL, "%s: the tensor %s is %s, but its configuration asks for %s",
                file->path, name, hd_shape_text(there, t), hd_shape_text(text, &wanted));
    return NULL;
}

/* The scales of a matrix in 8 bits: as many as it has outputs, finite and above 0. */
static const float *find_scales(const struct hd_safetensors *file, const hd_node *p,
                                heed_error *err)
{
    char name[LONGEST_NAME];
    const struct hd_tensor *t = hd_safetensors_find(file, scale_name(name, hd_param_name(p)));
    const size_t n = (size_t)p->dim[p->param->use == HD_PARAM_MAP];
    const float *scale = t && t->dtype == HD_F32 ? t->data : NULL;
    if (!scale || !hd_tensor_has_shape(t, &n, 1)) {
        hd_fail(err, HEED_BAD_MODEL,
                "%s: the tensor %s is I8, so there must be a tensor %s with its scales, F32 [%zu]",
                file->path, hd_param_name(p), name, n);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        float s;
        memcpy(&s, (const char *)t->data + i * sizeof s, sizeof s);
        if (!(s > 0 && s <= FLT_MAX / 127)) {
            hd_fail(err, HEED_BAD_MODEL,
                    "%s: %s[%zu] is %g, but a scale must be finite and above 0; the file was "
                    "changed after it was written",
                    file->path, name, i, (double)s);
            return NULL;
        }
    }
    return scale;
}

/* Are the bytes of a tensor, or of the header (NULL), those that were written? */
static bool check_bytes(const struct hd_safetensors *file, const struct hd_tensor *t,
                        heed_error *err)
{
    heed_error why = {0};
    const bool ok =
        t ? hd_safetensors_check_tensor(file, t, &why) : hd_safetensors_check_header(file, &why);
    return ok || hd_fail(err, why.code, "%s; copy or download the file again", why.message);
}

/* -128 has no counterpart, and products would not be exact. */
static bool check_int8(const struct hd_tensor *t, heed_error *err)
{
    const char *q = t->data, *at = memchr(q, 128, t->n);
    return !at || hd_fail(err, HEED_BAD_MODEL,
                          "%s: %s[%zu] is -128, but 8-bit weights are from -127 to 127; the file "
                          "was changed after it was written",
                          t->file, t->name, (size_t)(at - q));
}

/* Before there is memory for them: a hostile configuration could ask for more than the machine has, but when every parameter
 * has its tensor, all of them are no larger than the file (as floats: than four times the file). */
static bool check_params(const struct hd_safetensors *file, const struct hd_net *net,
                         heed_error *err)
{
    for (int i = 0; i < hd_params_number(net->params); i++) {
        const hd_node *p = hd_params_at(net->params, i);
        const struct hd_tensor *t = find_param(file, p, err);
        if (!t || (t->dtype == HD_I8 && !find_scales(file, p, err)))
            return false;
    }
    return true;
}

/* A matrix that the file has in 8 bits: as it is, or as floats. */
static bool read_int8(const struct hd_safetensors *file, const struct hd_tensor *t, hd_node *p,
                      heed_error *err)
{
    const size_t n = (size_t)p->dim[p->param->use == HD_PARAM_MAP];
    const float *in_file = find_scales(file, p, err);
    float *scale = in_file && check_int8(t, err) ? hd_alloc(n, sizeof *scale, err) : NULL;
    if (!scale)
        return false;
    memcpy(scale, in_file, n * sizeof *scale); /* aligned */
    bool ok = true;
    if (hd_is_int8(p)) {
        hd_param_write_int8(p, t->data, scale);
    } else if (p->x) {
        hd_param_scale(p, p->x, t->data, scale);
    } else {
        float *x = hd_alloc(hd_count(p), sizeof *x, err);
        if (x)
            hd_param_scale(p, x, t->data, scale);
        ok = x && hd_param_write(p, x, err);
        hd_free(x);
    }
    hd_free(scale);
    char name[LONGEST_NAME];
    return ok &&
           check_bytes(file, hd_safetensors_find(file, scale_name(name, hd_param_name(p))), err);
}

/* Floats, or what is made of them. */
static bool read_floats(const struct hd_tensor *t, hd_node *p, heed_error *err)
{
    if (p->x)
        return hd_read_f32(p->x, t, hd_count(p), err);
    if (hd_tensor_floats(t))
        return hd_param_write(p, hd_tensor_floats(t), err);
    float *x = hd_alloc_raw(hd_count(p) * sizeof *x);
    const bool ok = x ? hd_read_f32(x, t, hd_count(p), err) && hd_param_write(p, x, err)
                      : hd_fail(err, HEED_NO_MEMORY, "there is no memory to read %s", t->name);
    hd_free(x);
    return ok;
}

/* One parameter from the file, whose pages are not needed afterwards. */
static bool read_param(const struct hd_safetensors *file, hd_node *p, heed_error *err)
{
    const struct hd_tensor *t = find_param(file, p, err);
    const bool ok = t && hd_check_finite(t, err) &&
                    (t->dtype == HD_I8 ? read_int8(file, t, p, err) : read_floats(t, p, err)) &&
                    check_bytes(file, t, err);
    if (ok)
        hd_map_forget(&file->map, t->data, t->bytes);
    return ok;
}

/* Is this the name of scales that some parameter has? */
static bool is_scale_name(const struct hd_safetensors *file, const struct hd_net *net,
                          const char *name)
{
    const size_t n = strlen(name), ending = strlen(".scale");
    char param[LONGEST_NAME];
    if (n <= ending || n >= sizeof param || strcmp(name + n - ending, ".scale") != 0)
        return false;
    memcpy(param, name, n - ending);
    param[n - ending] = '\0';
    const struct hd_tensor *t = hd_safetensors_find(file, param);
    return t && t->dtype == HD_I8 && hd_params_find(net->params, param);
}

/* Whatever is in the file has a meaning, and what is no parameter is as it was written. */
static bool check_others(const struct hd_safetensors *file, const struct hd_net *net,
                         heed_error *err)
{
    for (size_t i = 0; i < file->tensors.n; i++) {
        const struct hd_tensor *t = &file->tensors.at[i];
        const bool is_text = is_text_name(t->name);
        if (!is_text && !hd_params_find(net->params, t->name) && !is_scale_name(file, net, t->name))
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: the tensor %s belongs to no part of its configuration", file->path,
                           hd_quote(t->name).text);
        if (is_text && !check_bytes(file, t, err))
            return false;
    }
    return true;
}

/* As the file has it, or all matrices in one way. */
static void choose_precision(const struct hd_safetensors *file, struct hd_net *net,
                             enum hd_compute compute)
{
    for (int i = 0; i < hd_params_number(net->params); i++) {
        hd_node *p = hd_params_at(net->params, i);
        const bool is_int8 = hd_safetensors_find(file, hd_param_name(p))->dtype == HD_I8;
        hd_param_hold(p, hd_held_for(compute, is_int8 ? HD_HELD_INT8 : HD_HELD_PACKED));
    }
}

static struct hd_net *read_net(const struct hd_safetensors *file, heed_error *err)
{
    json_t *json = read_json(file, KEY_CONFIG, err);
    struct hd_config config;
    heed_error why = {0};
    struct hd_net *net = NULL;
    if (json && hd_config_from_json(&config, json, &why) && hd_config_check(&config, &why))
        net = hd_net_declare(&config, &why);
    if (why.code) /* what would be a wrong option elsewhere is a wrong file here */
        hd_fail(err, why.code == HEED_BAD_OPTION ? HEED_BAD_MODEL : why.code,
                "%s: its configuration: %s", file->path, why.message);
    json_decref(json);
    if (net && check_params(file, net, err))
        return net;
    hd_net_free(net);
    return NULL;
}

static bool check_format(const struct hd_safetensors *file, heed_error *err)
{
    const char *format = hd_safetensors_metadata(file, KEY_FORMAT);
    if (!format || strncmp(format, "heed-", 5) != 0)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: it is not a model of heed; heed convert reads those of Marian (.npz), "
                       "and of transformers by the name of their folder",
                       file->path);
    if (strcmp(format, FORMAT) != 0)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: it is of the kind %s, and this heed reads %s; use a newer heed",
                       file->path, hd_quote(format).text, FORMAT);
    return true;
}

/* What is read of a file by threads, in parts: vocabularies are one, of parameters each, in the order in which they are declared. */
struct reading {
    const struct hd_safetensors *file;
    struct hd_net *net;
    struct hd_vocab *source, *target;
    heed_error *errs; /* [parts] */
};

static void read_vocabs(struct reading *r)
{
    r->source = r->target = read_vocab(r->file, SOURCE, KEY_SOURCE, &r->errs[0]);
    if (r->source && hd_safetensors_find(r->file, TARGET))
        r->target = read_vocab(r->file, TARGET, KEY_TARGET, &r->errs[0]);
}

static void read_part(void *context, int index, int worker)
{
    (void)worker;
    struct reading *r = context;
    if (index == 0)
        read_vocabs(r);
    else
        read_param(r->file, hd_params_at(r->net->params, index - 1), &r->errs[index]);
}

/* All parts. A second thread is a matter of speed: without it the parts follow each other. */
static bool read_parts(struct reading *r, heed_error *err)
{
    const int n = 1 + hd_params_number(r->net->params);
    r->errs = hd_alloc((size_t)n, sizeof *r->errs, err);
    bool ok = r->errs && hd_params_make(r->net->params, err) && check_bytes(r->file, NULL, err) &&
              check_others(r->file, r->net, err);
    struct hd_pool *pool = ok ? hd_pool_new(heed_cores() > 1 ? 2 : 1, NULL) : NULL;
    if (pool)
        hd_pool_run(pool, read_part, r, n);
    for (int i = 0; ok && !pool && i < n; i++)
        read_part(r, i, 0);
    hd_pool_free(pool);
    for (int i = 0; ok && i < n; i++)
        ok = !hd_failed(&r->errs[i]) || hd_fail(err, r->errs[i].code, "%s", r->errs[i].message);
    hd_free(r->errs);
    return ok && hd_net_pack(r->net, err);
}

/* How many numbers of parameters are stored in which type. */
static void note_stored(const struct hd_safetensors *file, heed_model *model)
{
    for (int i = 0; i < hd_params_number(model->net->params); i++) {
        const struct hd_tensor *t =
            hd_safetensors_find(file, hd_param_name(hd_params_at(model->net->params, i)));
        model->stored[t->dtype] += t->n;
    }
}

static heed_model *read_model(const struct hd_safetensors *file, enum hd_compute compute,
                              heed_error *err)
{
    if (!check_format(file, err))
        return NULL;
    json_t *record = read_json(file, KEY_RECORD, err);
    struct reading r = {.file = file, .net = record ? read_net(file, err) : NULL};
    if (r.net)
        choose_precision(file, r.net, compute);
    if (r.net && read_parts(&r, err)) {
        heed_error why = {0};
        heed_model *model = hd_model_of(r.net, r.source, r.target, record, &why);
        if (!model)
            hd_fail(err, why.code, "%s: %s", file->path, why.message);
        else
            note_stored(file, model);
        if (!model || (read_detector(file, model, err) && read_feature(file, model, err)))
            return model;
        heed_model_free(model);
        return NULL;
    }
    if (r.target != r.source)
        hd_vocab_free(r.target);
    hd_vocab_free(r.source);
    hd_net_free(r.net);
    json_decref(record);
    return NULL;
}

static heed_model *load(struct hd_safetensors *file, enum hd_compute compute, heed_error *err)
{
    heed_model *model = file ? read_model(file, compute, err) : NULL;
    hd_safetensors_close(file);
    return model;
}

heed_model *hd_model_load_as(const char *path, enum hd_compute compute, heed_error *err)
{
    if (!hd_is_given(path, "path", err))
        return NULL;
    return load(hd_safetensors_open(path, err), compute, err);
}

heed_model *heed_model_load(const char *path, heed_error *err)
{
    return hd_model_load_as(path, HD_COMPUTE_STORED, err);
}

heed_model *heed_model_load_as(const char *path, const char *compute, heed_error *err)
{
    if (!hd_is_given(compute, "compute", err))
        return NULL;
    int way = HD_COMPUTE_STORED;
    const heed_option row = {.name = "compute",
                             .kind = HEED_OPTION_CHOICE,
                             .size = sizeof way,
                             .choices = HD_COMPUTE_NAMES};
    if (!heed_option_set(&row, &way, compute, err))
        return NULL;
    return hd_model_load_as(path, (enum hd_compute)way, err);
}

heed_model *heed_model_load_memory(const char *name, const void *data, size_t size, heed_error *err)
{
    if (!hd_is_given(name, "name", err) || !hd_is_given(data, "data", err))
        return NULL;
    return load(hd_safetensors_open_memory(name, data, size, err), HD_COMPUTE_STORED, err);
}
