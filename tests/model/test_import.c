/* test_import.c -- Marian's models: small ones made by hand are read, and what is wrong with one is
 * said in a sentence. That real ones give Marian's own results is test_oracles.c's. */
#include "test.h"

#include "base/memory.h"
#include "format/broken.h"
#include "model/import.h"
#include "model/marian.h"

#include <math.h>
#include <unistd.h>

#define SEEDS "tests/fuzz/corpus/import/"

static const char *const vocabs[] = {MARIAN_VOCAB, MARIAN_VOCAB};

/* An archive with this configuration and the tensors of its kind, one of them not as it should be. */
static struct marian archive_of(const char *yaml, const struct marian_fault *fault)
{
    struct marian m = {.fault = fault};
    marian_add_yaml(&m, yaml, strlen(yaml));
    if (strstr(yaml, "type: amun"))
        marian_add_amun(&m);
    else
        marian_add_transformer(&m);
    if (fault && fault->tensor && strcmp(fault->tensor, "surplus") == 0)
        marian_add(&m, "surplus", 1, 1);
    finish_archive(&m.archive);
    return m;
}

static heed_model *import(const struct marian *m, int n_vocabs, heed_error *err)
{
    return hd_import_memory("toy.npz", m->archive.bytes, m->archive.n, vocabs, n_vocabs, err);
}

/* A seed with `from` replaced by `to`; to be freed. */
static char *yaml_of(const char *seed, const char *from, const char *to)
{
    char path[128], *yaml = calloc(1, 2048), *at;
    snprintf(path, sizeof path, SEEDS "%s", seed);
    struct bytes file = bytes_of_file(path);
    assert_true(file.n < 1024);
    memcpy(yaml, file.at, file.n);
    free(file.at);
    at = from ? strstr(yaml, from) : NULL;
    assert_true(!from || at);
    if (at) {
        memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
        memcpy(at, to, strlen(to));
    }
    return yaml;
}

static void small_models_are_read(void **state)
{
    (void)state;
    static const char *const seeds[] = {"amun", "transformer", "bad_utf8"};
    for (int i = 0; i < 6; i++) {
        heed_error err = {0};
        char *yaml = yaml_of(seeds[i / 2], NULL, NULL);
        const struct marian m = archive_of(yaml, NULL);
        heed_model *model = import(&m, 1 + i % 2, &err);
        assert_that(model, "%s: %s", seeds[i / 2], err.message);
        assert_int_equal(model->net->config.target_vocab, MARIAN_V);
        assert_int_equal(model->net->config.dim, 4);
        assert_true(model->net->source.table->x[0] == 0.25F);
        heed_model_free(model);
        free(yaml);
    }
}

static void a_transformer_aligns_by_all_heads_of_its_last_layer(void **state)
{
    (void)state;
    heed_error err = {0};
    char *yaml = yaml_of("transformer", NULL, NULL);
    const struct marian m = archive_of(yaml, NULL);
    heed_model *model = import(&m, 1, &err);
    assert_that(model, "%s", err.message);
    const struct hd_config *c = &model->net->config;
    assert_int_equal(c->alignment_layer, c->decoder_layers);
    assert_int_equal(c->n_alignment_heads, 0); /* none is listed: the mean of all */
    heed_model_free(model);
    free(yaml);
}

static void assert_refused(const char *seed, const char *from, const char *to,
                           const struct marian_fault fault, const char *words)
{
    heed_error err = {0};
    char *yaml = yaml_of(seed, from, to);
    const struct marian m = archive_of(yaml, &fault);
    heed_model *model = import(&m, 1, &err);
    assert_that(!model, "\"%s\" for \"%s\" and %s", to, from, words);
    assert_error(err, HEED_BAD_MODEL, words);
    assert_error(err, HEED_BAD_MODEL, "toy.npz: ");
    free(yaml);
}

static void what_heed_cannot_do_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *seed, *from, *to, *words;
    } cases[] = {
        {"amun", "type: amun", "type: multi-s2s",
         "a Marian model of type 'multi-s2s'; transformer, s2s, amun and nematus can"},
        {"amun", "enc-cell: gru", "enc-cell: lstm", "its enc-cell is 'lstm', which heed cannot do"},
        {"amun", "type: amun", "type: s2s", "asks for"}, /* whose tensors have other names */
        {"s2s", "enc-cell: gru", "enc-cell: lstm",
         "its enc-cell is 'lstm' and its dec-cell 'gru', but a model of heed has the same cell"},
        {"s2s", "enc-cell: gru", "enc-cell: sru",
         "its enc-cell is 'sru', which heed cannot do; gru, gru-nematus, lstm and tanh can"},
        {"s2s", "bidirectional", "sideways", "its enc-type is 'sideways', which heed cannot do"},
        {"s2s", "version", "enc-cell-depth: 9\nversion",
         "its enc-cell-depth is '9', which heed cannot do; 1 to 8 can be imported"},
        {"s2s", "version", "dec-cell-base-depth: 10\nversion",
         "its dec-cell-base-depth is '10', which heed cannot do; 2 to 9 can be imported"},
        {"s2s", "version", "enc-cell-depth: 0\nversion", "its enc-cell-depth is '0'"},
        {"amun", "version", "enc-cell-depth: 2\nversion", "encoder_U_drt_1 is missing"},
        {"s2s", "enc-depth: 1\ndec-depth: 1\nenc-type: bidirectional",
         "enc-depth: 2\ndec-depth: 1\nskip: true\nenc-type: alternating",
         "its skip is true and its enc-type is 'alternating', which heed cannot do together"},
        {"s2s", "dec-cell: gru", "layer-normalization: true\ndec-cell: gru-nematus",
         "norms of two kinds"},
        {"s2s", "dec-depth: 1", "dec-depth: 2\ndec-cell-high-depth: 99",
         "its dec-cell-high-depth is '99'"},
        {"s2s", "dec-depth: 1", "dec-depth: 2\ndec-cell-base-depth: 1",
         "its dec-cell-base-depth is '1'"},
        {"s2s", NULL, "", "asks for"}, /* the same */
        {"amun", "enc-depth: 1", "enc-depth: 2", "its enc-depth is '2'"},
        {"amun", "version", "layer-normalization: true\nversion", "encoder_gamma1 is missing"},
        {"amun", "version", "right-left: true\nversion", "its right-left is 'true'"},
        {"transformer", "process: dan", "process: da", "are a mixture that heed cannot do"},
        {"transformer", "relu", "prelu", "its transformer-ffn-activation is 'prelu'"},
        {"transformer", "version", "transformer-alibi-shift: true\nversion",
         "alibi-shift is 'true'"},
        {"transformer", "version", "transformer-no-bias: true\nversion", "no-bias is 'true'"},
        {"transformer", "version", "transformer-tied-layers:\n  - 2\nversion",
         "the tensor decoder_l2_self_Wq is missing"},
        {"transformer", "version", "transformer-decoder-autoreg: average-attention\nversion",
         "its transformer-decoder-autoreg is 'average-attention'"},
        {"transformer", "version", "transformer-decoder-autoreg: rnn\ndec-cell: gru\nversion",
         "its transformer-decoder-autoreg is rnn with dec-cell 'gru', which heed cannot do; ssru"},
        {"transformer", "version",
         "transformer-decoder-autoreg: rnn\ndec-cell: ssru\ntransformer-rnn-projection: true"
         "\nversion",
         "its transformer-rnn-projection is 'true'"},
        {"transformer", "version", "transformer-decoder-autoreg: rnn\ndec-cell: ssru\nversion",
         "the tensor decoder_l1_rnn_W is missing"},
        {"transformer", "version", "transformer-pool: true\nversion", "its transformer-pool is"},
        {"pre_norm", "version: v1 toy", "version: v1.10.0 6f6d484 2021-02-06",
         "until February 2022"},
        {"pre_norm", "version: v1 toy", "version: v1.9.0", "until February 2022"},
        {"pre_norm", "version: v1 toy", "version: v1.11.5 1234567 2022-03-04", "_pre is missing"},
        {"transformer", "heads: 2", "heads: 3", "heads"},
        {"transformer", "dim-emb: 4", "dim-emb: -4", "dim"},
        {"transformer", "dim-emb: 4", "dim-emb: 4294967300", "dim"},
        {"amun", "dim-rnn: 4", "dim-rnn: 9223372036854775807", "dim"},
        {"amun", "dim-vocabs:\n", "dim-vocabs:\n\n", "vocab"},
        {"transformer", "dim-emb: 4", "dim-emb: 4096", "numbers, but it holds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].seed, cases[i].from, cases[i].to, (struct marian_fault){0},
                       cases[i].words);
}

static void a_tensor_that_is_not_as_it_should_be_is_named(void **state)
{
    (void)state;
    assert_refused("amun", NULL, NULL, (struct marian_fault){.tensor = "decoder_Wc"},
                   "the tensor decoder_Wc is missing");
    assert_refused("transformer", NULL, NULL, (struct marian_fault){.tensor = "Wemb"},
                   "the tensor Wemb is missing");
    assert_refused("amun", NULL, NULL, (struct marian_fault){"ff_state_W", 4, 8, 0},
                   "the tensor ff_state_W is [4, 8], but its configuration asks for [8, 4]");
    assert_refused("transformer", NULL, NULL,
                   (struct marian_fault){"encoder_l1_self_Wq", 4, 4, NAN}, "encoder_l1_self_Wq");
    assert_refused("transformer", NULL, NULL, (struct marian_fault){"surplus", 1, 1, 0},
                   "heed does not know what to do with its tensor 'surplus'");
    assert_refused("pre_norm", NULL, NULL, (struct marian_fault){0}, "_ln_scale_pre is missing");
}

/* Two layers of the decoder that are one in the file are two of ours. */
static void tied_layers_are_read_as_often_as_they_are_named(void **state)
{
    (void)state;
    heed_error err = {0};
    char *yaml = yaml_of("transformer", "dec-depth: 1",
                         "dec-depth: 3\ntransformer-tied-layers:\n  - 1\n  - 1\n  - 1");
    const struct marian m = archive_of(yaml, NULL);
    heed_model *model = import(&m, 1, &err);
    assert_that(model, "%s", err.message);
    assert_int_equal(model->net->config.decoder_layers, 3);
    assert_true(hd_params_find(model->net->params, "decoder.3.ffn.2.W")->x[0] == 0.25F);
    heed_model_free(model);
    free(yaml);
}

/* An output layer of its own is stored by words. */
static void an_output_layer_that_is_not_tied_is_read(void **state)
{
    (void)state;
    heed_error err = {0};
    char *yaml = yaml_of("amun", "tied-embeddings-all", "tied-embeddings-src");
    struct marian m = {0};
    marian_add_yaml(&m, yaml, strlen(yaml));
    marian_add_amun(&m);
    marian_add(&m, "decoder_ff_logit_l2_Wt", MARIAN_V, 3);
    finish_archive(&m.archive);
    heed_model *model = import(&m, 1, &err);
    assert_that(model, "%s", err.message);
    assert_false(model->net->head.is_tied);
    assert_true(model->net->head.W->x[3 * MARIAN_V - 1] == 0.25F);
    heed_model_free(model);
    free(yaml);
}

/* Marian's own lists of words. */
static void a_vocabulary_may_be_a_list(void **state)
{
    (void)state;
    static const struct {
        const char *ending, *first, *last;
    } kinds[] = {{".yml", "</s>: 0\n<unk>: 1\n", ""},
                 {".json", "{\"</s>\": 0, \"<unk>\": 1", "}\n"}};
    char *yaml = yaml_of("transformer", NULL, NULL);
    const struct marian m = archive_of(yaml, NULL);
    for (size_t k = 0; k < 2; k++) {
        char path[] = "/tmp/heed-list-XXXXXX.json";
        heed_error err = {0};
        snprintf(path + strlen("/tmp/heed-list-XXXXXX"), 6, "%s", kinds[k].ending);
        const int fd = mkstemps(path, (int)strlen(kinds[k].ending));
        FILE *file = fdopen(fd, "w");
        fputs(kinds[k].first, file);
        for (int i = 2; i < MARIAN_V; i++)
            k == 0 ? fprintf(file, "w%d: %d\n", i, i) : fprintf(file, ", \"w%d\": %d", i, i);
        fputs(kinds[k].last, file);
        fclose(file);
        const char *const list[] = {path};
        heed_model *model =
            hd_import_memory("toy.npz", m.archive.bytes, m.archive.n, list, 1, &err);
        unlink(path);
        assert_that(model, "%s: %s", kinds[k].ending, err.message);
        assert_int_equal(hd_vocab_kind(model->source), HD_VOCAB_WORDS);
        assert_int_equal(hd_vocab_end(model->source), 0);
        assert_int_equal(hd_vocab_find(model->source, "w5"), 5);
        heed_model_free(model);
    }
    free(yaml);
}

static void another_archive_is_no_model(void **state)
{
    (void)state;
    heed_error err = {0};
    struct marian m = {0};
    marian_add(&m, "Wemb", 2, 3);
    finish_archive(&m.archive);
    assert_null(import(&m, 1, &err));
    assert_error(err, HEED_BAD_MODEL, "toy.npz: it has no special:model.yml");
}

static void hostile_sizes_do_not_become_memory(void **state)
{
    (void)state;
    static char npy[2100000];
    heed_error err = {0};
    struct marian m = {0};
    const size_t n =
        npy_of(npy, "{'descr': '|i1', 'fortran_order': False, 'shape': (2097152,), }\n", 2097152);
    add_deflated(&m.archive, "special:model.yml.npy", npy, n);
    finish_archive(&m.archive);
    assert_null(import(&m, 1, &err));
    assert_error(err, HEED_BAD_MODEL, "toy.npz: its special:model.yml has 2097152 bytes");
    assert_refused("huge", NULL, NULL, (struct marian_fault){0}, "numbers, but it holds");
    assert_refused("overflow", NULL, NULL, (struct marian_fault){0}, "dim");
}

static void the_vocabulary_must_fit(void **state)
{
    (void)state;
    char wanted[32], *yaml;
    heed_error err = {0};
    snprintf(wanted, sizeof wanted, "  - %d\n", MARIAN_V);
    yaml = yaml_of("transformer", wanted, "  - 999\n");
    struct marian m = archive_of(yaml, NULL);
    assert_null(import(&m, 1, &err));
    assert_true(err.code != HEED_OK);
    free(yaml);
    yaml = yaml_of("transformer", NULL, NULL);
    m = archive_of(yaml, NULL);
    static const char *const nowhere[] = {"nowhere.spm"}, *const no_spm[] = {SEEDS "amun"};
    err = (heed_error){0};
    assert_null(hd_import_memory("toy.npz", m.archive.bytes, m.archive.n, nowhere, 1, &err));
    assert_error(err, HEED_BAD_FILE, "nowhere.spm: there is no such file");
    err = (heed_error){0};
    assert_null(hd_import_memory("toy.npz", m.archive.bytes, m.archive.n, no_spm, 1, &err));
    assert_true(err.code != HEED_OK && strstr(err.message, SEEDS "amun: "));
    free(yaml);
}

static void when_memory_runs_out_there_is_a_sentence(void **state)
{
    (void)state;
    char *yaml = yaml_of("amun", NULL, NULL);
    const struct marian m = archive_of(yaml, NULL);
    heed_model *model = NULL;
    for (int n = 0; !model; n++) {
        heed_error err = {0};
        assert_that(n < 10000, "it never succeeds");
        hd_alloc_fail_after(n);
        model = import(&m, 2, &err);
        hd_alloc_fail_after(-1);
        assert_that(model || err.code == HEED_NO_MEMORY, "allocation %d: %d \"%s\"", n,
                    (int)err.code, err.message);
    }
    heed_model_free(model);
    free(yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_models_are_read),
        cmocka_unit_test(a_transformer_aligns_by_all_heads_of_its_last_layer),
        cmocka_unit_test(what_heed_cannot_do_is_named),
        cmocka_unit_test(a_tensor_that_is_not_as_it_should_be_is_named),
        cmocka_unit_test(tied_layers_are_read_as_often_as_they_are_named),
        cmocka_unit_test(an_output_layer_that_is_not_tied_is_read),
        cmocka_unit_test(a_vocabulary_may_be_a_list),
        cmocka_unit_test(another_archive_is_no_model),
        cmocka_unit_test(hostile_sizes_do_not_become_memory),
        cmocka_unit_test(the_vocabulary_must_fit),
        cmocka_unit_test(when_memory_runs_out_there_is_a_sentence),
    };
    return cmocka_run_group_tests_name("model/import", tests, NULL, NULL);
}
