/* test_file.c -- a model as one file: what is written comes back bit for bit and goes on as if nothing had happened; what is
 * broken is refused, each fault with its own sentence. */
#include "combinations.h"
#include "format/broken.h"

#include "base/memory.h"
#include "format/safetensors.h"
#include "graph/tape.h"
#include "model/model_file.h"

#include <math.h>
#include <unistd.h>

static char path[] = "/tmp/heed-model-XXXXXX";
static hd_tape *tape;

static int begin(void **state)
{
    (void)state;
    heed_error err = {0};
    const int fd = mkstemp(path);
    tape = hd_tape_new(&err);
    return fd < 0 || !tape ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    hd_tape_free(tape);
    return unlink(path);
}

/* ---- models ---------------------------------------------------------------------------------- */

static struct hd_vocab *toy_vocab(int n, enum hd_vocab_kind kind)
{
    static const char *const tokens[] = {"<unk>", "</s>", "a", "b", "c", "é", "☃", "▁"};
    heed_error err = {0};
    struct hd_vocab *v = hd_vocab_from_tokens(kind, tokens, (size_t)n, &err);
    assert_that(v != NULL, "%s", err.message);
    return v;
}

/* A model with some numbers, two vocabularies and a record. */
static heed_model *toy_model(const char *settings)
{
    struct hd_config config = toy_config(settings);
    heed_error err = {0};
    assert_that(hd_config_check(&config, &err), "%s: %s", settings, err.message);
    struct hd_net *net = hd_net_new(&config, &err);
    assert_that(net != NULL, "%s: %s", settings, err.message);
    for (int i = 0; i < hd_params_number(net->params); i++)
        hd_init_normal(hd_params_at(net->params, i), 0.3F, 9);
    heed_model *m = hd_model_of(
        net, toy_vocab(config.source_vocab, HD_VOCAB_WORDS),
        toy_vocab(config.target_vocab, HD_VOCAB_CHARS),
        json_pack("{s:[s,s], s:i, s:f}", "languages", "en", "de", "updates", 12, "bleu", 27.3),
        &err);
    assert_that(m != NULL, "%s: %s", settings, err.message);
    return m;
}

static void save(const heed_model *m, enum hd_dtype store)
{
    heed_error err = {0};
    assert_that(hd_model_save(m, path, store, &err), "%s", err.message);
}

static heed_model *load(const char *name)
{
    heed_error err = {0};
    heed_model *m = heed_model_load(path, &err);
    assert_that(m != NULL, "%s: %s", name, err.message);
    if (!m->net->head.W) /* spans have no output layer */
        return m;
    const struct hd_param *output = m->net->head.W->param;
    assert_true(m->net->head.is_tied ? output->crossed.is_current : output->straight.is_current);
    return m;
}

/* To be trained on. */
static heed_model *load_floats(const char *name)
{
    heed_error err = {0};
    heed_model *m = hd_model_load_as(path, HD_COMPUTE_TO_TRAIN, &err);
    assert_that(m != NULL, "%s: %s", name, err.message);
    return m;
}

/* The values of a parameter, whatever it is held in; to be freed. */
static float *values_of(const hd_node *p)
{
    float *values = malloc((hd_count(p) + 1) * sizeof *values);
    assert_non_null(values);
    hd_param_read(p, values);
    return values;
}

static void assert_same_values(const heed_model *a, const heed_model *b, const char *name)
{
    hd_params *p = a->net->params, *q = b->net->params;
    assert_int_equal(hd_params_number(p), hd_params_number(q));
    assert_int_equal(hd_params_size(p), hd_params_size(q));
    for (int i = 0; i < hd_params_number(p); i++) {
        const hd_node *x = hd_params_at(p, i), *y = hd_params_at(q, i);
        assert_string_equal(hd_param_name(x), hd_param_name(y));
        float *of_x = values_of(x), *of_y = values_of(y);
        assert_that(memcmp(of_x, of_y, hd_count(x) * sizeof(float)) == 0, "%s: %s differs", name,
                    hd_param_name(x));
        free(of_x);
        free(of_y);
    }
}

static void assert_same_vocab(const struct hd_vocab *a, const struct hd_vocab *b)
{
    size_t n, m;
    const void *x = hd_vocab_bytes(a, &n), *y = hd_vocab_bytes(b, &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    assert_int_equal(hd_vocab_kind(a), hd_vocab_kind(b));
    assert_int_equal(hd_vocab_size(a), hd_vocab_size(b));
}

static void assert_same_configs(const struct hd_config *a, const struct hd_config *b,
                                const char *name)
{
    json_t *x = hd_config_to_json(a), *y = hd_config_to_json(b);
    assert_that(x && json_equal(x, y), "%s: the configuration changed", name);
    json_decref(x);
    json_decref(y);
}

/* ---- there and back -------------------------------------------------------------------------- */

/* Some updates of plain gradient descent on the toy batch. */
static void train(heed_model *m, int n_updates)
{
    const struct hd_batch batch = toy_batch_of(&m->net->config);
    hd_params *params = m->net->params;
    const size_t n = hd_params_size(params);
    float *gradients = malloc(n * sizeof *gradients);
    heed_error err = {0};
    for (int u = 0; u < n_updates; u++) {
        hd_tape_reset(tape);
        hd_tape_record(tape, true);
        memset(gradients, 0, n * sizeof *gradients);
        const struct hd_memory *memory = hd_encode(m->net, tape, &batch, NULL);
        const struct hd_forced *forced = hd_teacher_force(m->net, tape, memory, &batch, NULL);
        assert_that(forced != NULL, "%s", hd_tape_error(tape)->message);
        assert_true(hd_backward(hd_forced_loss(m->net, forced, 0.1F), gradients));
        float *w = hd_params_values(params);
        for (size_t i = 0; i < n; i++)
            w[i] -= 0.05F * gradients[i];
        hd_params_changed(params);
        assert_true(hd_params_pack(params, &err));
    }
    free(gradients);
}

static void with_each_model(const struct combination *c, void *data)
{
    (void)data;
    if (c->verdict != IS_MODEL)
        return;
    heed_model *m = toy_model(c->settings);
    save(m, HD_F32);
    heed_model *again = load(c->settings);
    assert_same_values(m, again, c->settings);
    assert_same_configs(&m->net->config, &again->net->config, c->settings);
    assert_same_vocab(m->source, again->source);
    assert_same_vocab(m->target, again->target);
    assert_true(json_equal(m->record, again->record));
    heed_model_free(again);
    again = load_floats(c->settings);
    train(m, 3);
    const size_t n = hd_params_size(again->net->params);
    float *was = malloc(n * sizeof *was);
    memcpy(was, hd_params_values(again->net->params), n * sizeof *was);
    train(again, 3);
    assert_true(memcmp(hd_params_values(again->net->params), was, n * sizeof *was) != 0);
    free(was);
    assert_same_values(m, again, c->settings);
    heed_model_free(m);
    heed_model_free(again);
}

static void every_model_comes_back_and_continues_bit_for_bit(void **state)
{
    (void)state;
    visit_all(with_each_model, NULL);
}

static void the_same_model_is_the_same_bytes(void **state)
{
    (void)state;
    heed_model *m = toy_model("bahdanau");
    save(m, HD_F32);
    struct bytes first = bytes_of_file(path);
    save(m, HD_F32);
    struct bytes second = bytes_of_file(path);
    heed_model *again = load("bahdanau");
    save(again, HD_F32);
    struct bytes third = bytes_of_file(path);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.at, second.at, first.n);
    assert_int_equal(first.n, third.n);
    assert_memory_equal(first.at, third.at, first.n);
    free(first.at);
    free(second.at);
    free(third.at);
    heed_model_free(m);
    heed_model_free(again);
}

static void assert_stored_as(enum hd_dtype store, float (*rounded)(float))
{
    heed_model *m = toy_model("transformer");
    save(m, store);
    heed_model *once = load("transformer");
    for (int i = 0; i < hd_params_number(m->net->params); i++) {
        const hd_node *x = hd_params_at(m->net->params, i), *y = hd_params_at(once->net->params, i);
        float *stored = values_of(y);
        for (size_t j = 0; j < hd_count(x); j++)
            assert_that(stored[j] == rounded(x->x[j]), "%s: %.9g was stored as %.9g",
                        hd_param_name(x), (double)x->x[j], (double)stored[j]);
        free(stored);
    }
    struct bytes first = bytes_of_file(path);
    save(once, store); /* what has been rounded stays */
    struct bytes second = bytes_of_file(path);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.at, second.at, first.n);
    heed_model *twice = load("transformer");
    assert_same_values(once, twice, "transformer");
    free(first.at);
    free(second.at);
    heed_model_free(m);
    heed_model_free(once);
    heed_model_free(twice);
}

static float through_f16(float x)
{
    return hd_f32_of_f16(hd_f16_of_f32(x));
}

static float through_bf16(float x)
{
    return hd_f32_of_bf16(hd_bf16_of_f32(x));
}

static void half_precision_is_rounded_once(void **state)
{
    (void)state;
    assert_stored_as(HD_F16, through_f16);
    assert_stored_as(HD_BF16, through_bf16);
}

/* ---- 8 bits ---------------------------------------------------------------------------------- */

static void assert_same_nets(const struct hd_net *a, const struct hd_net *b, const char *name)
{
    for (int i = 0; i < hd_params_number(a->params); i++) {
        const hd_node *p = hd_params_at(a->params, i), *q = hd_params_at(b->params, i);
        float *x = values_of(p), *y = values_of(q);
        assert_that(p->param->held == q->param->held, "%s: %s is held in two ways", name,
                    hd_param_name(p));
        assert_that(memcmp(x, y, hd_count(p) * sizeof *x) == 0, "%s: %s differs", name,
                    hd_param_name(p));
        free(x);
        free(y);
    }
}

/* Quantised when it is written, or when it is read, or afterwards: one and the same model. */
static void with_each_model_in_8_bits(const struct combination *c, void *data)
{
    (void)data;
    if (c->verdict != IS_MODEL)
        return;
    heed_error err = {0};
    heed_model *m = toy_model(c->settings);
    save(m, HD_F32);
    heed_model *on_reading = hd_model_load_as(path, HD_COMPUTE_INT8, &err);
    struct hd_net *afterwards = hd_net_as(m->net, HD_COMPUTE_INT8, &err);
    save(m, HD_I8);
    struct bytes first = bytes_of_file(path);
    heed_model *on_writing = heed_model_load(path, &err);
    heed_model *widened = hd_model_load_as(path, HD_COMPUTE_F32, &err);
    assert_that(on_reading && afterwards && on_writing && widened, "%s: %s", c->settings,
                err.message);
    assert_true(on_writing->stored[HD_I8] > 0 && on_writing->stored[HD_F16] == 0);
    assert_same_nets(on_reading->net, on_writing->net, c->settings);
    assert_same_nets(on_reading->net, afterwards, c->settings);
    assert_false(hd_net_is_int8(widened->net));
    struct hd_net *back = hd_net_as(on_writing->net, HD_COMPUTE_F32, &err);
    assert_true(back != NULL);
    assert_same_nets(back, widened->net, c->settings);
    save(on_writing, HD_I8);
    struct bytes second = bytes_of_file(path);
    assert_true(first.n == second.n && memcmp(first.at, second.at, first.n) == 0);
    free(first.at);
    free(second.at);
    hd_net_free(back);
    hd_net_free(afterwards);
    heed_model_free(m);
    heed_model_free(on_reading);
    heed_model_free(on_writing);
    heed_model_free(widened);
}

static void a_model_in_8_bits_is_the_same_whenever_it_was_quantised(void **state)
{
    (void)state;
    visit_all(with_each_model_in_8_bits, NULL);
}

/* Held in bf16 when it is read, or afterwards, from floats or from bf16: one and the same model, whose values are those a file in bf16 has. */
static void with_each_model_in_bf16(const struct combination *c, void *data)
{
    (void)data;
    if (c->verdict != IS_MODEL)
        return;
    heed_error err = {0};
    heed_model *m = toy_model(c->settings);
    save(m, HD_F32);
    heed_model *on_reading = heed_model_load_as(path, "bf16", &err);
    struct hd_net *afterwards = hd_net_as(m->net, HD_COMPUTE_BF16, &err);
    assert_that(on_reading && afterwards, "%s: %s", c->settings, err.message);
    assert_true(hd_net_computes(on_reading->net, HD_COMPUTE_BF16));
    assert_false(hd_net_computes(on_reading->net, HD_COMPUTE_F32));
    assert_same_nets(on_reading->net, afterwards, c->settings);
    struct hd_net *back = hd_net_as(afterwards, HD_COMPUTE_F32, &err);
    assert_true(back && hd_net_computes(back, HD_COMPUTE_F32));
    for (int i = 0; i < hd_params_number(back->params); i++) {
        const hd_node *was = hd_params_at(m->net->params, i), *is = hd_params_at(back->params, i);
        const bool is_rounded = was->param->use != HD_PARAM_OTHER;
        float *values = values_of(is);
        for (size_t j = 0; j < hd_count(was); j++)
            assert_that(values[j] == (is_rounded ? through_bf16(was->x[j]) : was->x[j]),
                        "%s: %s[%zu]", c->settings, hd_param_name(was), j);
        free(values);
    }
    save(on_reading, HD_I8); /* through floats */
    heed_model *narrowed = heed_model_load(path, &err),
               *widened = heed_model_load_as(path, "bf16", &err);
    struct hd_net *int8 = hd_net_as(back, HD_COMPUTE_INT8, &err);
    assert_true(narrowed && widened && int8);
    assert_same_nets(narrowed->net, int8, c->settings);
    hd_net_free(int8);
    hd_net_free(back);
    hd_net_free(afterwards);
    heed_model_free(m);
    heed_model_free(on_reading);
    heed_model_free(narrowed);
    heed_model_free(widened);
}

static void a_model_in_bf16_is_the_same_whenever_it_was_rounded(void **state)
{
    (void)state;
    heed_error err = {0};
    visit_all(with_each_model_in_bf16, NULL);
    assert_null(heed_model_load_as(path, "bf8", &err));
    assert_int_equal(err.code, HEED_BAD_OPTION);
}

/* |w - s q| ≤ s / 2, and no more. */
static void a_weight_in_8_bits_is_the_nearest(void **state)
{
    (void)state;
    heed_error err = {0};
    heed_model *m = toy_model("transformer");
    struct hd_net *net = hd_net_as(m->net, HD_COMPUTE_INT8, &err);
    assert_non_null(net);
    int n_int8 = 0;
    for (int i = 0; i < hd_params_number(net->params); i++) {
        const hd_node *p = hd_params_at(m->net->params, i), *q = hd_params_at(net->params, i);
        float *x = values_of(q);
        n_int8 += hd_is_int8(q);
        for (size_t j = 0; j < hd_count(p); j++) {
            const bool is_table = q->param->use == HD_PARAM_TABLE;
            const size_t n = is_table ? j / (size_t)p->dim[1] : j % (size_t)p->dim[1];
            const float scale = hd_is_int8(q) ? q->param->int8.scale[n] : 0;
            assert_that(fabsf(x[j] - p->x[j]) <= 0.5001F * scale, "%s[%zu]: %.9g became %.9g",
                        hd_param_name(p), j, (double)p->x[j], (double)x[j]);
        }
        free(x);
    }
    assert_true(n_int8 > 10);
    hd_net_free(net);
    heed_model_free(m);
}

static void a_number_too_large_for_half_precision_is_refused(void **state)
{
    (void)state;
    heed_model *m = toy_model("wang");
    hd_params_find(m->net->params, "output.b")->x[1] = 1e6F;
    heed_error err = {0};
    assert_false(hd_model_save(m, path, HD_F16, &err));
    assert_error(err, HEED_BAD_OPTION, "output.b");
    err = (heed_error){0};
    assert_true(hd_model_save(m, path, HD_BF16, &err));
    heed_model_free(m);
}

static void notes_are_part_of_the_record(void **state)
{
    (void)state;
    heed_error err = {0};
    heed_model *model = toy_model("bahdanau");
    assert_true(heed_model_note(model, "licence", "CC-BY", &err));
    assert_true(heed_model_note(model, "licence", "CC-BY 2.0", &err));
    assert_string_equal(json_string_value(json_object_get(model->record, "licence")), "CC-BY 2.0");
    assert_true(heed_model_note(model, "licence", "", &err));
    assert_true(heed_model_note(model, "nothing", "", &err));
    assert_null(json_object_get(model->record, "licence"));
    assert_false(heed_model_note(model, "licence", "\xff", &err));
    assert_error(err, HEED_BAD_TEXT, "a note in a model's record must be UTF-8");
    heed_model_free(model);
}

static void one_vocabulary_for_both_languages_is_stored_once(void **state)
{
    (void)state;
    struct hd_config config = toy_config("transformer tie=all source-vocab=5");
    heed_error err = {0};
    assert_true(hd_config_check(&config, &err));
    struct hd_vocab *both = toy_vocab(5, HD_VOCAB_WORDS);
    heed_model *m = hd_model_of(hd_net_new(&config, &err), both, both, NULL, &err);
    assert_that(m != NULL, "%s", err.message);
    save(m, HD_F32);
    struct hd_safetensors *file = hd_safetensors_open(path, &err);
    assert_non_null(hd_safetensors_find(file, "vocab.source"));
    assert_null(hd_safetensors_find(file, "vocab.target"));
    assert_null(hd_safetensors_find(file, "output.W"));
    assert_null(hd_safetensors_find(file, "source.embed"));
    assert_non_null(hd_safetensors_find(file, "embed"));
    hd_safetensors_close(file);
    heed_model *again = load("tied");
    assert_ptr_equal(again->source, again->target);
    assert_ptr_equal(again->net->source.table, again->net->target_table);
    assert_ptr_equal(again->net->head.W, again->net->target_table);
    assert_int_equal(json_object_size(again->record), 0);
    heed_model_free(m);
    heed_model_free(again);
}

static void vocabularies_must_have_the_sizes_of_the_net(void **state)
{
    (void)state;
    struct hd_config config = toy_config("wang");
    heed_error err = {0};
    assert_true(hd_config_check(&config, &err));
    assert_null(hd_model_of(hd_net_new(&config, NULL), toy_vocab(6, HD_VOCAB_WORDS),
                            toy_vocab(5, HD_VOCAB_WORDS), NULL, &err));
    assert_error(err, HEED_BAD_MODEL,
                 "the source vocabulary has 6 entries, but the configuration says source-vocab 7");
    err = (heed_error){0};
    assert_null(hd_model_of(hd_net_new(&config, NULL), toy_vocab(7, HD_VOCAB_WORDS),
                            toy_vocab(8, HD_VOCAB_WORDS), json_object(), &err));
    assert_error(err, HEED_BAD_MODEL,
                 "the target vocabulary has 8 entries, but the configuration says target-vocab 5");
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* What is done to a good file. */
struct fault {
    const char *tensor;                  /* the one that is left out, … */
    const struct hd_tensor *replacement; /* … and what comes instead, or in addition */
    const char *key, *text; /* a note of the metadata and its new text, NULL to leave it out */
};

static void rewrite(const struct hd_safetensors *good, const struct fault *f)
{
    struct hd_saver s = {0};
    heed_error err = {0};
    for (size_t i = 0; i < good->tensors.n; i++) {
        const struct hd_tensor *t = &good->tensors.at[i];
        if (!f->tensor || strcmp(t->name, f->tensor) != 0)
            hd_saver_add(&s, *t, t->dtype);
    }
    if (f->replacement)
        hd_saver_add(&s, *f->replacement, f->replacement->dtype);
    for (size_t i = 0; i < good->n_metadata; i++) {
        const char *key = good->metadata_keys[i];
        if (strcmp(key, HD_CHECKSUMS) != 0 && (!f->key || strcmp(key, f->key) != 0))
            hd_saver_note(&s, key, hd_safetensors_metadata(good, key));
    }
    if (f->text)
        hd_saver_note(&s, f->key, f->text);
    assert_that(hd_saver_write(&s, path, &err), "%s", err.message);
    hd_saver_release(&s);
}

static struct hd_safetensors *good_file;

/* The good file with this fault is refused, with these words. */
static void assert_fault(const struct fault fault, const char *words)
{
    heed_error err = {0};
    rewrite(good_file, &fault);
    heed_model *m = heed_model_load(path, &err);
    assert_that(m == NULL, "was read; wanted: %s", words);
    assert_error(err, HEED_BAD_MODEL, words);
    assert_that(strstr(err.message, path), "the sentence does not name the file: %s", err.message);
}

/* A good model's file, open in memory of its own. */
static struct bytes open_good_file(const char *settings)
{
    heed_model *m = toy_model(settings);
    save(m, HD_F32);
    heed_model_free(m);
    struct bytes bytes = bytes_of_file(path);
    heed_error err = {0};
    good_file = hd_safetensors_open_memory("good", bytes.at, bytes.n, &err);
    assert_non_null(good_file);
    return bytes;
}

static void close_good_file(struct bytes bytes)
{
    hd_safetensors_close(good_file);
    good_file = NULL;
    free(bytes.at);
}

static void a_tensor_that_is_not_as_it_should_be_is_named(void **state)
{
    (void)state;
    struct bytes bytes = open_good_file("bahdanau");
    const size_t two[] = {1, 2}, five[] = {5}, square[] = {5, 1};
    const float zeros[5] = {0}, nan[5] = {0, 0, 0, __builtin_nanf(""), 0},
                infinite[5] = {0, -__builtin_inff(), 0, 0, 0};
    const double wide[5] = {0, 0, 1e300, 0, 0};
    const int32_t whole[5] = {0};
    struct hd_tensor t;

    assert_fault((struct fault){.tensor = "output.b"},
                 "the tensor output.b is missing, which its configuration asks for");
    assert_fault((struct fault){.tensor = "source.embed"}, "the tensor source.embed is missing");
    t = hd_tensor_of("output.c", HD_F32, zeros, two, 2);
    assert_fault((struct fault){.replacement = &t},
                 "the tensor 'output.c' belongs to no part of its configuration");
    t = hd_tensor_of("output.b", HD_F32, zeros, square, 2);
    assert_fault((struct fault){"output.b", &t, NULL, NULL},
                 "the tensor output.b is [5, 1], but its configuration asks for [5]");
    t = hd_tensor_of("output.b", HD_F32, zeros, two, 2);
    assert_fault((struct fault){"output.b", &t, NULL, NULL}, "the tensor output.b is [1, 2], but");
    t = hd_tensor_of("output.b", HD_F32, zeros, NULL, 0);
    assert_fault((struct fault){"output.b", &t, NULL, NULL}, "the tensor output.b is [], but");
    t = hd_tensor_of("output.b", HD_F32, nan, five, 1);
    assert_fault((struct fault){"output.b", &t, NULL, NULL},
                 "number 3 of the tensor 'output.b' is not a number (NaN)");
    t = hd_tensor_of("output.b", HD_F32, infinite, five, 1);
    assert_fault((struct fault){"output.b", &t, NULL, NULL},
                 "number 1 of the tensor 'output.b' is infinite");
    t = hd_tensor_of("output.b", HD_F64, wide, five, 1);
    assert_fault((struct fault){"output.b", &t, NULL, NULL},
                 "number 2 of the tensor 'output.b' is infinite");
    t = hd_tensor_of("output.b", HD_I32, whole, five, 1);
    assert_fault((struct fault){"output.b", &t, NULL, NULL},
                 "the tensor 'output.b' has numbers of type I32");
    close_good_file(bytes);
}

static void wrong_8_bit_tensors_are_refused(void **state)
{
    (void)state;
    heed_model *m = toy_model("bahdanau");
    save(m, HD_I8);
    heed_model_free(m);
    struct bytes bytes = bytes_of_file(path);
    heed_error err = {0};
    good_file = hd_safetensors_open_memory("good", bytes.at, bytes.n, &err);
    assert_that(good_file != NULL, "%s", err.message);
    const size_t five[] = {5}, four[] = {4}, shape[] = {3, 5};
    const float zero[5] = {1, 1, 0, 1, 1}, nan[5] = {1, NAN, 1, 1, 1},
                huge[5] = {3e38F, 1, 1, 1, 1}, negative[5] = {1, 1, 1, 1, -1},
                ones[5] = {1, 1, 1, 1, 1};
    const int8_t low[15] = {[7] = -128}, fine[15] = {0};
    const struct {
        const char *tensor, *words;
        struct hd_tensor t;
    } faults[] = {
        {"output.W.scale", "output.W.scale[2] is 0, but a scale must be finite and above 0",
         hd_tensor_of("output.W.scale", HD_F32, zero, five, 1)},
        {"output.W.scale", "output.W.scale[1] is nan",
         hd_tensor_of("output.W.scale", HD_F32, nan, five, 1)},
        {"output.W.scale", "output.W.scale[0] is 3e+38",
         hd_tensor_of("output.W.scale", HD_F32, huge, five, 1)},
        {"output.W.scale", "output.W.scale[4] is -1",
         hd_tensor_of("output.W.scale", HD_F32, negative, five, 1)},
        {"output.W.scale", "there must be a tensor output.W.scale with its scales, F32 [5]",
         hd_tensor_of("output.W.scale", HD_F32, ones, four, 1)},
        {"output.W.scale", "there must be a tensor output.W.scale with its scales, F32 [5]",
         hd_tensor_of("output.W.scale", HD_I32, ones, five, 1)},
        {"output.W", "output.W[7] is -128, but 8-bit weights are from -127 to 127",
         hd_tensor_of("output.W", HD_I8, low, shape, 2)},
        {"output.b", "the tensor output.b is I8, but only the matrices",
         hd_tensor_of("output.b", HD_I8, fine, five, 1)},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        assert_fault((struct fault){faults[i].tensor, &faults[i].t, NULL, NULL}, faults[i].words);
    assert_fault((struct fault){.tensor = "output.W.scale"},
                 "there must be a tensor output.W.scale with its scales, F32 [5]");
    const struct hd_tensor stray = hd_tensor_of("output.b.scale", HD_F32, ones, five, 1);
    assert_fault((struct fault){.replacement = &stray},
                 "the tensor 'output.b.scale' belongs to no part of its configuration");
    close_good_file(bytes);
}

/* The good file with one field of its configuration changed. Steals `value`; NULL takes the field out. */
static void assert_config_fault(const char *field, json_t *value, const char *words)
{
    json_t *config = json_loads(hd_safetensors_metadata(good_file, "heed.config"), 0, NULL);
    assert_non_null(config);
    if (value)
        json_object_set_new(config, field, value);
    else
        assert_int_equal(json_object_del(config, field), 0);
    char *text = json_dumps(config, 0);
    assert_fault((struct fault){.key = "heed.config", .text = text}, words);
    free(text);
    json_decref(config);
}

static void a_configuration_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct bytes bytes = open_good_file("bahdanau");
    assert_config_fault("scores", json_string("dot"),
                        "its configuration: there is no option 'scores'; did you mean score?");
    assert_config_fault("score", json_string("dot"),
                        "score dot wants encoder-dim equal to dim, but they are 6 and 4");
    assert_config_fault("readout", json_string("attended"),
                        "readout attended needs attend after, but attend is before");
    assert_config_fault("dim", json_integer(0), "its configuration: dim must be");
    assert_config_fault("dim", json_integer(1LL << 40), "its configuration: dim must be");
    assert_config_fault("dim", json_string("4"), "its configuration: dim must be");
    assert_config_fault("dim", json_integer(8), "the tensor decoder.1.W is [3, 12], but its");
    assert_config_fault("cell", json_string("lstm"), "but its configuration asks for");
    assert_config_fault("decoder_layers", json_integer(2), "the tensor decoder.2.W is missing");
    assert_config_fault("ffn", json_integer(4), "ffn is for the transformer, but arch is bahdanau");
    assert_config_fault("arch", NULL, "a configuration must have a field arch");
    assert_config_fault("arch", json_string("transformer"),
                        "is for recurrent models, but arch is transformer");
    assert_config_fault("source_vocab", json_integer(8), "the tensor source.embed is [7, 3], but");
    assert_fault((struct fault){.key = "heed.config", .text = "{"},
                 "heed.config in its metadata is not a JSON object");
    assert_fault((struct fault){.key = "heed.config", .text = "[]"},
                 "heed.config in its metadata is not a JSON object");
    assert_fault((struct fault){.key = "heed.config", .text = ""},
                 "heed.config in its metadata is not a JSON object");
    assert_fault((struct fault){.key = "heed.config", .text = "{\"dim\":4,\"dim\":4}"},
                 "heed.config in its metadata is not a JSON object");
    assert_fault((struct fault){.key = "heed.record", .text = "12"},
                 "heed.record in its metadata is not a JSON object");
    close_good_file(bytes);
}

static void a_file_that_is_no_model_is_told_from_a_newer_one(void **state)
{
    (void)state;
    struct bytes bytes = open_good_file("bahdanau");
    assert_fault((struct fault){.key = "format"},
                 "it is not a model of heed; heed convert reads those of Marian (.npz), "
                 "and of transformers by the name of their folder");
    assert_fault((struct fault){.key = "format", .text = "pt"},
                 "it is not a model of heed; heed convert reads those of Marian (.npz), "
                 "and of transformers by the name of their folder");
    assert_fault((struct fault){.key = "format", .text = "heed-2"},
                 "it is of the kind 'heed-2', and this heed reads heed-1; use a newer heed");
    assert_fault((struct fault){.key = "heed.config"}, "its metadata has no heed.config");
    assert_fault((struct fault){.key = "heed.record"}, "its metadata has no heed.record");
    close_good_file(bytes);

    heed_error err = {0}; /* somebody else's safetensors */
    struct hd_saver s = {0};
    hd_saver_add(&s, hd_tensor_of("weight", HD_F32, (const float[]){1, 2}, (const size_t[]){2}, 1),
                 HD_F32);
    assert_true(hd_saver_write(&s, path, &err));
    hd_saver_release(&s);
    assert_null(heed_model_load(path, &err));
    assert_error(err, HEED_BAD_MODEL,
                 "it is not a model of heed; heed convert reads those of Marian (.npz), "
                 "and of transformers by the name of their folder");
    err = (heed_error){0};
    assert_null(heed_model_load("/nowhere/model.safetensors", &err));
    assert_error(err, HEED_BAD_FILE, "/nowhere/model.safetensors");
}

static void a_vocabulary_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct bytes bytes = open_good_file("bahdanau");
    const size_t n[] = {10}, n_long[] = {26}, square[] = {2, 5};
    struct hd_tensor t =
        hd_tensor_of("vocab.source", HD_U8, "<unk>\n</s>\na\nb\nc\nd\ne\nf", n_long, 1);
    t.dims[0] = t.n = t.bytes = strlen(t.data);
    assert_fault((struct fault){"vocab.source", &t, NULL, NULL},
                 "the source vocabulary has 8 entries, but the configuration says source-vocab 7");
    t = hd_tensor_of("vocab.target", HD_U8, "<unk>\n</s>", n, 1);
    assert_fault((struct fault){"vocab.target", &t, NULL, NULL},
                 "the target vocabulary has 2 entries, but the configuration says target-vocab 5");
    t = hd_tensor_of("vocab.source", HD_U8, "<unk>\n<\xff\xff>", n, 1);
    assert_fault((struct fault){"vocab.source", &t, NULL, NULL},
                 "vocab.source: the vocabulary is not UTF-8 at byte 7");
    t = hd_tensor_of("vocab.source", HD_U8, "a\na\na\na\na\n", n, 1);
    assert_fault((struct fault){"vocab.source", &t, NULL, NULL}, "vocab.source: ");
    t = hd_tensor_of("vocab.source", HD_I8, "<unk>\n</s>", n, 1);
    assert_fault((struct fault){"vocab.source", &t, NULL, NULL},
                 "there is no tensor vocab.source with the bytes of its vocabulary");
    t = hd_tensor_of("vocab.source", HD_U8, "<unk>\n</s>", square, 2);
    assert_fault((struct fault){"vocab.source", &t, NULL, NULL},
                 "there is no tensor vocab.source with the bytes of its vocabulary");
    assert_fault((struct fault){.tensor = "vocab.source"},
                 "there is no tensor vocab.source with the bytes of its vocabulary");
    assert_fault((struct fault){.tensor = "vocab.target"}, /* then the source's is for both */
                 "the target vocabulary has 7 entries, but the configuration says target-vocab 5");
    assert_fault((struct fault){.key = "heed.vocab.source", .text = "bytes"},
                 "heed.vocab.source in its metadata should be spm, words, chars, listed or labels");
    assert_fault((struct fault){.key = "heed.vocab.target"},
                 "heed.vocab.target in its metadata should be spm, words, chars, listed or labels");
    assert_fault((struct fault){.key = "heed.vocab.source", .text = "spm"}, "vocab.source: ");
    close_good_file(bytes);
}

/* ---- broken files ---------------------------------------------------------------------------- */

/* A model that comes out of broken bytes is a model: it can be described, written and run. */
static bool read_and_run(const void *data, size_t n, heed_error *err)
{
    heed_model *m = heed_model_load_memory("broken", data, n, err);
    if (!m)
        return false;
    for (int i = 0; i < hd_params_number(m->net->params); i++) {
        const hd_node *p = hd_params_at(m->net->params, i);
        float *x = malloc((hd_count(p) + 1) * sizeof *x);
        hd_param_read(p, x);
        assert_true(hd_all_finite(x, hd_count(p), NULL));
        free(x);
    }
    char *text = heed_model_info(m, false, err);
    assert_that(text != NULL, "%s", err->message);
    hd_free(text);
    hd_tape_reset(tape);
    hd_tape_record(tape, false);
    const struct hd_batch batch = toy_batch_of(&m->net->config);
    const struct hd_memory *memory = hd_encode(m->net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(m->net, tape, memory, &batch, NULL);
    assert_that(forced != NULL, "%s", hd_tape_error(tape)->message);
    assert_that(hd_forced_loss(m->net, forced, 0)->x[0] > 0, "%s", hd_tape_error(tape)->message);
    heed_model_free(m);
    return true;
}

static struct bytes file_of(const char *settings, enum hd_dtype store)
{
    heed_model *m = toy_model(settings);
    save(m, store);
    heed_model_free(m);
    return bytes_of_file(path);
}

static size_t header_of(struct bytes file)
{
    uint64_t n;
    memcpy(&n, file.at, sizeof n);
    return (size_t)n + sizeof n;
}

static void a_file_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    const char *const models[] = {"bahdanau", "seq2seq", "transformer"};
    for (int i = 0; i < 3; i++) {
        struct bytes file = file_of(models[i], i == 1 ? HD_F16 : HD_F32);
        assert_true(file.n > 2000 && file.n < 20000);
        every_beginning_is_refused(read_and_run, file);
        free(file.at);
    }
}

static void a_changed_byte_of_the_header_is_refused_or_does_not_matter(void **state)
{
    (void)state;
    struct bytes file = file_of("wang", HD_F32);
    const size_t n = header_of(file);
    size_t n_refused = 0;
    for (size_t at = 0; at < n; at++)
        for (int change = 1; change < 512; change <<= 1) { /* every bit, then all of them */
            const unsigned char was = file.at[at];
            heed_error err;
            file.at[at] = (unsigned char)(was ^ (change < 256 ? change : 255));
            n_refused += !read_copy(read_and_run, file.at, file.n, &err);
            file.at[at] = was;
        }
    assert_that(n_refused > n * 6, "%zu of %zu changes were refused", n_refused, n * 9);
    free(file.at);
    file = file_of("transformer", HD_BF16);
    every_byte_changed(read_and_run, file, 0, header_of(file), 200);
    free(file.at);
}

static void a_changed_byte_of_the_data_is_refused(void **state)
{
    (void)state;
    struct bytes file = file_of("ferreira", HD_F32);
    for (size_t at = header_of(file); at < file.n; at += 127) {
        heed_error err = {0};
        file.at[at] ^= (unsigned char)(1U << at % 8);
        assert_false(read_copy(read_and_run, file.at, file.n, &err));
        assert_that(strstr(err.message, "the tensor '"), "byte %zu: '%s'", at, err.message);
        file.at[at] ^= (unsigned char)(1U << at % 8);
    }
    free(file.at);
}

/* The configuration asks for more memory than any machine has; the file is small. */
static void hostile_sizes_do_not_become_memory(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *fields;
    } hostile[] = {
        {"bahdanau", "{\"dim\": 65536, \"encoder_dim\": 65536, \"attention_dim\": 65536}"},
        {"bahdanau", "{\"source_vocab\": 16777216, \"embed\": 65536}"},
        {"luong", "{\"decoder_layers\": 64, \"encoder_layers\": 64}"},
        {"transformer",
         "{\"dim\": 65536, \"embed\": 65536, \"encoder_dim\": 65536, \"ffn\": 262144}"},
        {"transformer", "{\"encoder_layers\": 64, \"decoder_layers\": 64}"},
        {"transformer", "{\"positions\": \"learned\", \"max_positions\": 65536}"},
    };
    foreach (i, hostile) {
        struct bytes bytes = open_good_file(hostile[i].settings);
        json_t *config = json_loads(hd_safetensors_metadata(good_file, "heed.config"), 0, NULL);
        json_t *changes = json_loads(hostile[i].fields, 0, NULL);
        assert_int_equal(json_object_update(config, changes), 0);
        json_decref(changes);
        char *text = json_dumps(config, 0);
        rewrite(good_file, &(struct fault){.key = "heed.config", .text = text});
        struct bytes file = bytes_of_file(path);
        refused_within(16, read_and_run, file, "the tensor ");
        free(file.at);
        free(text);
        json_decref(config);
        close_good_file(bytes);
    }
}

/* `HEED_SEEDS=tests/fuzz/corpus/model build/tests/model/test_file` writes them again. */
static void the_seeds_of_the_fuzz_target_are_models(void **state)
{
    (void)state;
    static const struct {
        const char *name, *settings;
    } seeds[] = {
        {"rnn", "ferreira dim=2 encoder-dim=2 embed=1"},
        {"gru", "bahdanau dim=2 encoder-dim=2 embed=1 attention-dim=1"},
        {"lstm", "luong layers=1 dim=2 encoder-dim=2 embed=1 score=local-p coverage=yes"},
        {"int8", "ferreira dim=2 encoder-dim=2 embed=1"},
        {"fixed", "seq2seq cell=gru gru-reset=before dim=1 encoder-dim=1 embed=1 context=every"},
    };
    const char *folder = getenv("HEED_SEEDS");
    foreach (i, seeds) {
        char name[200];
        heed_error err = {0};
        snprintf(name, sizeof name, "%s/%s", folder ? folder : "tests/fuzz/corpus/model",
                 seeds[i].name);
        heed_model *m = toy_model(seeds[i].settings);
        if (folder)
            assert_that(
                hd_model_save(m, name, strcmp(seeds[i].name, "int8") == 0 ? HD_I8 : HD_F32, &err),
                "%s", err.message);
        heed_model *seed = heed_model_load(name, &err);
        assert_that(seed != NULL, "%s", err.message);
        assert_same_configs(&m->net->config, &seed->net->config, name);
        struct bytes file = bytes_of_file(name);
        assert_that(file.n <= 4096, "%s has %zu bytes, which libFuzzer would cut", name, file.n);
        free(file.at);
        heed_model_free(m);
        heed_model_free(seed);
    }
}

static void when_memory_runs_out_there_is_a_sentence(void **state)
{
    (void)state;
    const char *const models[] = {"luong", "transformer positions=learned", "bahdanau"};
    for (int i = 0; i < 3; i++) {
        heed_model *m = toy_model(models[i]), *again = NULL;
        heed_error err = {0};
        for (long n = 0;; n++) {
            hd_alloc_fail_after(n);
            err = (heed_error){0};
            if (hd_model_save(m, path, i == 2 ? HD_I8 : HD_F32, &err))
                break;
            hd_alloc_fail_after(-1);
            assert_that(err.code == HEED_NO_MEMORY, "saving, allocation %ld: %s", n, err.message);
        }
        for (long n = 0; !again; n++) {
            hd_alloc_fail_after(n);
            err = (heed_error){0};
            again = heed_model_load(path, &err);
            hd_alloc_fail_after(-1);
            assert_that(again || err.code == HEED_NO_MEMORY, "loading, allocation %ld: %s", n,
                        err.message);
        }
        if (i < 2)
            assert_same_values(m, again, models[i]);
        heed_model_free(m);
        heed_model_free(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_comes_back_and_continues_bit_for_bit),
        cmocka_unit_test(the_same_model_is_the_same_bytes),
        cmocka_unit_test(half_precision_is_rounded_once),
        cmocka_unit_test(a_number_too_large_for_half_precision_is_refused),
        cmocka_unit_test(a_model_in_8_bits_is_the_same_whenever_it_was_quantised),
        cmocka_unit_test(a_model_in_bf16_is_the_same_whenever_it_was_rounded),
        cmocka_unit_test(a_weight_in_8_bits_is_the_nearest),
        cmocka_unit_test(wrong_8_bit_tensors_are_refused),
        cmocka_unit_test(notes_are_part_of_the_record),
        cmocka_unit_test(one_vocabulary_for_both_languages_is_stored_once),
        cmocka_unit_test(vocabularies_must_have_the_sizes_of_the_net),
        cmocka_unit_test(a_tensor_that_is_not_as_it_should_be_is_named),
        cmocka_unit_test(a_configuration_that_cannot_be_is_refused),
        cmocka_unit_test(a_file_that_is_no_model_is_told_from_a_newer_one),
        cmocka_unit_test(a_vocabulary_that_does_not_fit_is_refused),
        cmocka_unit_test(a_file_cut_off_anywhere_is_refused),
        cmocka_unit_test(a_changed_byte_of_the_header_is_refused_or_does_not_matter),
        cmocka_unit_test(a_changed_byte_of_the_data_is_refused),
        cmocka_unit_test(hostile_sizes_do_not_become_memory),
        cmocka_unit_test(the_seeds_of_the_fuzz_target_are_models),
        cmocka_unit_test(when_memory_runs_out_there_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
