/* model_file.c -- one model, one file. */
#include "model/model_file.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "format/safetensors.h"

#include <stdlib.h>
#include <string.h>

/* Keys of the metadata, and names of the tensors that are not parameters. */
static const char *const KEY_FORMAT = "format", *const KEY_CONFIG = "heed.config",
                         *const KEY_RECORD = "heed.record";
static const char *const KEY_SOURCE = "heed.vocab.source", *const KEY_TARGET = "heed.vocab.target";
static const char *const SOURCE = "vocab.source", *const TARGET = "vocab.target";
static const char *const FORMAT = "heed-1"; /* raised when an old reader would misread a new file */

void heed_model_free(heed_model *model)
{
    if (!model)
        return;
    hd_net_free(model->net);
    if (model->target != model->source)
        hd_vocab_free(model->target);
    hd_vocab_free(model->source);
    json_decref(model->record);
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
    *m = (heed_model){net, source, target, record ? record : json_object()};
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
    if (ok)
        return m;
    heed_model_free(m);
    return NULL;
}

bool heed_model_note(heed_model *model, const char *name, const char *text, heed_error *err)
{
    if (!hd_is_given(model, "model", err) || !hd_is_given(name, "name", err) ||
        !hd_is_given(text, "text", err))
        return false;
    if (!hd_utf8_valid(name, strlen(name), NULL) || !hd_utf8_valid(text, strlen(text), NULL))
        return hd_fail(err, HEED_BAD_TEXT, "a note in a model's record must be UTF-8, not %s",
                       hd_quote(text).text);
    if (!*text)
        json_object_del(model->record, name);
    return !*text || json_object_set_new(model->record, name, json_string(text)) == 0 ||
           hd_fail(err, HEED_NO_MEMORY, "there is no memory for a model's record");
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

bool hd_model_save(const heed_model *m, const char *path, enum hd_dtype store, heed_error *err)
{
    struct hd_saver s = {.has_checksums = true};
    const hd_params *params = m->net->params;
    for (int i = 0; i < hd_params_number(params); i++) {
        const hd_node *p = hd_params_at(params, i);
        size_t dims[HD_MAX_DIMS];
        for (int d = 0; d < p->n_dims; d++)
            dims[d] = (size_t)p->dim[d];
        hd_saver_add(&s, hd_tensor_of(hd_param_name(p), HD_F32, p->x, dims, p->n_dims), store);
    }
    add_vocab(&s, SOURCE, KEY_SOURCE, m->source);
    if (m->target != m->source)
        add_vocab(&s, TARGET, KEY_TARGET, m->target);
    hd_saver_note(&s, KEY_FORMAT, FORMAT);
    const bool ok = add_json(&s, KEY_CONFIG, hd_config_to_json(&m->net->config), err) &&
                    add_json(&s, KEY_RECORD, json_incref(m->record), err) &&
                    hd_saver_write(&s, path, err);
    hd_saver_release(&s);
    return ok;
}

bool heed_model_save(const heed_model *model, const char *path, enum heed_store store,
                     heed_error *err)
{
    static const enum hd_dtype dtypes[] = {HD_F32, HD_F16, HD_BF16};
    if (!hd_is_given(model, "model", err) || !hd_is_given(path, "path", err))
        return false;
    if ((int)store < HEED_STORE_F32 || store > HEED_STORE_BF16)
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
            "of Marian (.npz)",
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
        hd_fail(err, HEED_BAD_MODEL, "%s: %s in its metadata should be spm, words or chars",
                file->path, key);
        return NULL;
    }
    heed_error why = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(kind, t->data, t->bytes, &why);
    if (!vocab)
        hd_fail(err, why.code, "%s: %s: %s", file->path, name, why.message);
    return vocab;
}

static bool is_vocab_name(const char *name)
{
    return strcmp(name, SOURCE) == 0 || strcmp(name, TARGET) == 0;
}

/* The tensor of a parameter, when it is as the configuration wants it. */
static const struct hd_tensor *find_param(const struct hd_safetensors *file, const hd_node *p,
                                          heed_error *err)
{
    const char *name = hd_param_name(p);
    const struct hd_tensor *t = hd_safetensors_find(file, name);
    char there[HD_SHAPE_TEXT], wanted[HD_SHAPE_TEXT];
    size_t dims[HD_MAX_DIMS];
    for (int d = 0; d < p->n_dims; d++)
        dims[d] = (size_t)p->dim[d];
    if (t && hd_tensor_has_shape(t, dims, p->n_dims))
        return t;
    const struct hd_tensor expected = hd_tensor_of(name, HD_F32, NULL, dims, p->n_dims);
    if (!t)
        hd_fail(err, HEED_BAD_MODEL,
                "%s: the tensor %s is missing, which its configuration asks for", file->path, name);
    else
        hd_fail(err, HEED_BAD_MODEL, "%s: the tensor %s is %s, but its configuration asks for %s",
                file->path, name, hd_shape_text(there, t), hd_shape_text(wanted, &expected));
    return NULL;
}

/* Before there is memory for them: a hostile configuration could ask for more than the machine has, but when every parameter
 * has its tensor, all of them are no larger than the file. */
static bool check_params(const struct hd_safetensors *file, const struct hd_net *net,
                         heed_error *err)
{
    for (int i = 0; i < hd_params_number(net->params); i++)
        if (!find_param(file, hd_params_at(net->params, i), err))
            return false;
    return true;
}

static bool read_params(const struct hd_safetensors *file, struct hd_net *net, heed_error *err)
{
    for (int i = 0; i < hd_params_number(net->params); i++) {
        const hd_node *p = hd_params_at(net->params, i);
        const struct hd_tensor *t = find_param(file, p, err);
        if (!t || !hd_check_finite(t, err) || !hd_read_f32(p->x, t, hd_count(p), err))
            return false;
    }
    for (size_t i = 0; i < file->tensors.n; i++) {
        const char *name = file->tensors.at[i].name;
        if (!is_vocab_name(name) && !hd_params_find(net->params, name))
            return hd_fail(err, HEED_BAD_MODEL,
                           "%s: the tensor %s belongs to no part of its configuration", file->path,
                           hd_quote(name).text);
    }
    return true;
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
                       "%s: it is not a model of heed; heed convert reads those of Marian (.npz)",
                       file->path);
    if (strcmp(format, FORMAT) != 0)
        return hd_fail(err, HEED_BAD_MODEL,
                       "%s: it is of the kind %s, and this heed reads %s; use a newer heed",
                       file->path, hd_quote(format).text, FORMAT);
    return true;
}

/* What is read of a file: vocabularies by one thread, parameters, laid out for speed, by another. Each takes as long as the
 * other. */
struct reading {
    const struct hd_safetensors *file;
    struct hd_net *net;
    struct hd_vocab *source, *target;
    bool has_params;
    heed_error vocab_err, params_err;
};

static void read_vocabs(struct reading *r)
{
    r->source = r->target = read_vocab(r->file, SOURCE, KEY_SOURCE, &r->vocab_err);
    if (r->source && hd_safetensors_find(r->file, TARGET))
        r->target = read_vocab(r->file, TARGET, KEY_TARGET, &r->vocab_err);
}

static bool check_bytes(const struct hd_safetensors *file, heed_error *err)
{
    heed_error why = {0};
    return hd_safetensors_check(file, &why) ||
           hd_fail(err, why.code, "%s; copy or download the file again", why.message);
}

static void read_part(void *context, int index, int worker)
{
    (void)worker;
    struct reading *r = context;
    if (index == 0)
        read_vocabs(r);
    else if (hd_params_make(r->net->params, &r->params_err) &&
             read_params(r->file, r->net, &r->params_err) && check_bytes(r->file, &r->params_err)) {
        hd_map_forget(&r->file->map);
        r->has_params = hd_net_pack(r->net, &r->params_err);
    }
}

/* Both parts. A second thread is a matter of speed: without it the parts follow each other. */
static bool read_parts(struct reading *r, heed_error *err)
{
    struct hd_pool *pool = hd_pool_new(heed_cores() > 1 ? 2 : 1, NULL);
    if (pool)
        hd_pool_run(pool, read_part, r, 2);
    for (int i = 0; !pool && i < 2; i++)
        read_part(r, i, 0);
    hd_pool_free(pool);
    const heed_error *why = r->target ? &r->params_err : &r->vocab_err;
    return (r->target && r->has_params) || hd_fail(err, why->code, "%s", why->message);
}

static heed_model *read_model(const struct hd_safetensors *file, heed_error *err)
{
    if (!check_format(file, err))
        return NULL;
    json_t *record = read_json(file, KEY_RECORD, err);
    struct reading r = {.file = file, .net = record ? read_net(file, err) : NULL};
    if (r.net && read_parts(&r, err)) {
        heed_error why = {0};
        heed_model *model = hd_model_of(r.net, r.source, r.target, record, &why);
        if (!model)
            hd_fail(err, why.code, "%s: %s", file->path, why.message);
        return model;
    }
    if (r.target != r.source)
        hd_vocab_free(r.target);
    hd_vocab_free(r.source);
    hd_net_free(r.net);
    json_decref(record);
    return NULL;
}

static heed_model *load(struct hd_safetensors *file, heed_error *err)
{
    heed_model *model = file ? read_model(file, err) : NULL;
    hd_safetensors_close(file);
    return model;
}

heed_model *heed_model_load(const char *path, heed_error *err)
{
    if (!hd_is_given(path, "path", err))
        return NULL;
    return load(hd_safetensors_open(path, err), err);
}

heed_model *heed_model_load_memory(const char *name, const void *data, size_t size, heed_error *err)
{
    if (!hd_is_given(name, "name", err) || !hd_is_given(data, "data", err))
        return NULL;
    return load(hd_safetensors_open_memory(name, data, size, err), err);
}
