/* test_config.c -- configurations: presets and sizes, text and JSON, what is filled in and what is refused. */
#include "test.h"

#include "model/config.h"
#include "model/fields.h"
#include "model/presets.h"

#include <jansson.h>
#include <locale.h>

enum { N_ARCHS = 6, N_SIZES = 3 };

/* A preset with vocabularies and some fields set: words are "name=value name=value". */
static struct hd_config with(enum hd_arch arch, const char *words)
{
    struct hd_config c = hd_config_preset(arch, HD_SIZE_TINY);
    c.source_vocab = c.target_vocab = 1000;
    char copy[200];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = '\0';
        heed_error err = {0};
        assert_that(hd_config_set(&c, word, value, &err), "%s: %s", words, err.message);
    }
    return c;
}

static struct hd_config checked(enum hd_arch arch, const char *words)
{
    struct hd_config c = with(arch, words);
    heed_error err = {0};
    assert_that(hd_config_check(&c, &err), "%s %s: %s", hd_config_choice("arch", (int)arch).text,
                words, err.message);
    return c;
}

static void assert_equal_configs(const struct hd_config *a, const struct hd_config *b,
                                 const char *what)
{
    json_t *x = hd_config_to_json(a), *y = hd_config_to_json(b);
    char *left = json_dumps(x, 0), *right = json_dumps(y, 0);
    assert_that(strcmp(left, right) == 0, "%s: %s is not %s", what, left, right);
    for (const heed_option *o = hd_config_options; o->name; o++)
        assert_that(memcmp((const char *)a + o->offset, (const char *)b + o->offset, o->size) == 0,
                    "%s: %s differs", what, o->name);
    free(left);
    free(right);
    json_decref(x);
    json_decref(y);
}

/* ---- presets ------------------------------------------------------------------------------------------------------ */

static void presets_are_their_papers(void **state)
{
    (void)state;
    struct hd_config c = checked(HD_SEQ2SEQ, "");
    assert_true(c.score == HD_SCORE_NONE && c.context == HD_CONTEXT_FIRST && c.cell == HD_LSTM &&
                c.start == HD_START_COPY && c.readout == HD_READOUT_LINEAR &&
                c.attend == HD_OPTION_OPEN);
    c = checked(HD_BAHDANAU, "");
    assert_true(c.cell == HD_GRU && c.bidirectional && c.score == HD_SCORE_ADDITIVE &&
                c.attend == HD_ATTEND_BEFORE && c.start == HD_START_FIRST_BACKWARD &&
                c.readout == HD_READOUT_MAXOUT && c.context == HD_CONTEXT_ATTENTION);
    c = checked(HD_LUONG, "");
    assert_true(c.cell == HD_LSTM && c.encoder_layers == 2 && c.decoder_layers == 2 &&
                !c.bidirectional && c.score == HD_SCORE_BILINEAR && c.attend == HD_ATTEND_AFTER &&
                c.input_feeding == 1 && c.start == HD_START_COPY &&
                c.readout == HD_READOUT_ATTENDED);
    c = checked(HD_WANG, "");
    assert_true(c.cell == HD_RNN && !c.bidirectional && c.score == HD_SCORE_MLP &&
                c.input_feeding == 0 && c.attend == HD_ATTEND_BEFORE && c.start == HD_START_COPY &&
                c.readout == HD_READOUT_TANH);
    c = checked(HD_FERREIRA, "");
    assert_true(c.cell == HD_RNN && !c.bidirectional && c.score == HD_SCORE_TANH_SUM &&
                c.attend == HD_ATTEND_BEFORE && c.start == HD_START_LAST &&
                c.readout == HD_READOUT_LINEAR);
    c = checked(HD_TRANSFORMER, "");
    assert_true(c.norm == HD_NORM_POST && c.final_norm == 0 && c.positions == HD_POSITIONS_SIN &&
                c.position_layout == HD_LAYOUT_INTERLEAVED && c.activation == HD_RELU &&
                c.embed_scale && c.tie == HD_TIE_OUTPUT && c.alignment_layer == 1);
}

static void sizes_have_names(void **state)
{
    (void)state;
    static const int dims[N_SIZES] = {128, 256, 512}, heads[N_SIZES] = {4, 4, 8},
                     ffn[N_SIZES] = {512, 1024, 2048}, blocks[N_SIZES] = {2, 3, 6};
    for (int s = 0; s < N_SIZES; s++) {
        heed_error err = {0};
        struct hd_config c = hd_config_preset(HD_TRANSFORMER, (enum hd_size)s);
        assert_true(c.dim == dims[s] && c.heads == heads[s] && c.ffn == ffn[s] &&
                    c.encoder_layers == blocks[s] && c.decoder_layers == blocks[s]);
        c = hd_config_preset(HD_LUONG, (enum hd_size)s);
        assert_true(c.dim == dims[s] && c.encoder_layers == 2);
        c.source_vocab = c.target_vocab = 10;
        assert_true(hd_config_check(&c, &err));
        assert_int_equal(c.embed, dims[s]);
    }
    struct hd_preset_choice preset = {0};
    assert_true(heed_option_defaults(hd_preset_options, &preset, NULL));
    assert_true(preset.arch == -1 && preset.size == -1);
    assert_true(heed_option_set_named(hd_preset_options, &preset, "arch", "transformer", NULL) &&
                heed_option_set_named(hd_preset_options, &preset, "size", "base", NULL));
    assert_true(preset.arch == HD_TRANSFORMER && preset.size == HD_SIZE_BASE);
    static const struct {
        const char *name, *value, *says;
    } wrong[] = {
        {"arch", "bahdanu", "not 'bahdanu'; did you mean bahdanau?"},
        {"arch", "xyz",
         "arch must be seq2seq, bahdanau, luong, wang, ferreira or transformer, not 'xyz'"},
        {"size", "huge", "size must be tiny, small or base, not 'huge'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heed_error err = {0};
        assert_false(
            heed_option_set_named(hd_preset_options, &preset, wrong[i].name, wrong[i].value, &err));
        assert_error(err, HEED_BAD_OPTION, wrong[i].says);
    }
}

static void what_is_open_follows_the_others(void **state)
{
    (void)state;
    struct hd_config c = checked(HD_LUONG, "attend=before");
    assert_true(c.readout == HD_READOUT_TANH && c.input_feeding == 0);
    c = checked(HD_LUONG, "attend=inside cell=gru");
    assert_true(c.readout == HD_READOUT_TANH);
    c = checked(HD_LUONG, "readout=tanh");
    assert_int_equal(c.input_feeding, 0);
    c = checked(HD_LUONG, "score=none");
    assert_true(c.attend == HD_OPTION_OPEN && c.context == HD_CONTEXT_FIRST &&
                c.readout == HD_READOUT_LINEAR);
    c = checked(HD_BAHDANAU, "bidirectional=no");
    assert_int_equal(c.start, HD_START_LAST);
    c = checked(HD_BAHDANAU, "attend=after");
    assert_true(c.readout == HD_READOUT_ATTENDED && c.input_feeding == 0);
    c = checked(HD_SEQ2SEQ, "score=dot");
    assert_true(c.attend == HD_ATTEND_BEFORE && c.context == HD_CONTEXT_ATTENTION &&
                c.readout == HD_READOUT_TANH);
    c = checked(HD_LUONG, "encoder-layers=1");
    assert_int_equal(c.start, HD_START_LAST);
    c = checked(HD_WANG, "encoder-dim=64");
    assert_true(c.start == HD_START_LAST && c.encoder_dim == 64 && hd_encoder_width(&c) == 64);
    c = checked(HD_TRANSFORMER, "norm=pre");
    assert_int_equal(c.final_norm, 1);
    c = checked(HD_TRANSFORMER, "norm=pre final-norm=no");
    assert_int_equal(c.final_norm, 0);
    c = checked(HD_TRANSFORMER, "layers=6 decoder-layers=5 dim=20");
    assert_true(c.encoder_layers == 6 && c.alignment_layer == 4 && c.embed == 20 &&
                c.encoder_dim == 20);
    c = checked(HD_TRANSFORMER, "layers=1");
    assert_int_equal(c.alignment_layer, 1);
}

static void a_checked_configuration_passes_unchanged(void **state)
{
    (void)state;
    static const char *const variants[] = {"",
                                           "score=none",
                                           "attend=after",
                                           "attend=inside",
                                           "score=local-p",
                                           "score=multi-head alignment-heads=0,3",
                                           "score=location max-source=9"};
    for (int a = 0; a < N_ARCHS; a++)
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            if (v > 0 && (a == HD_SEQ2SEQ || a == HD_TRANSFORMER))
                break;
            struct hd_config once = checked((enum hd_arch)a, variants[v]), twice = once;
            heed_error err = {0};
            assert_that(hd_config_check(&twice, &err), "%s %s: %s",
                        hd_config_choice("arch", a).text, variants[v], err.message);
            assert_equal_configs(&once, &twice, variants[v]);
        }
}

static void any_cell_score_and_place_can_be_combined(void **state)
{
    (void)state;
    static const char *const cells[] = {"rnn", "gru", "lstm"}, *const places[] = {"before", "after",
                                                                                  "inside"};
    static const char *const scores[] = {
        "dot",      "scaled-dot", "bilinear", "mlp",        "additive",
        "tanh-sum", "projected",  "scaled",   "multi-head", "location max-source=50",
        "local-m",  "local-p"};
    for (int arch = 0; arch < HD_TRANSFORMER; arch++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (size_t k = 0; k < sizeof scores / sizeof *scores; k++) {
                    char words[120];
                    snprintf(words, sizeof words, "cell=%s attend=%s score=%s", cells[i], places[j],
                             scores[k]);
                    checked((enum hd_arch)arch, words);
                }
}

static void widths_follow_from_the_score(void **state)
{
    (void)state;
    struct hd_config c = checked(HD_BAHDANAU, "encoder-dim=60 attention-dim=40");
    assert_true(hd_encoder_width(&c) == 60 && hd_value_width(&c) == 60);
    c = checked(HD_BAHDANAU, "encoder-dim=60 attention-dim=40 score=scaled");
    assert_int_equal(hd_value_width(&c), 40);
    c = checked(HD_BAHDANAU, "encoder-dim=60 attention-dim=40 score=multi-head");
    assert_int_equal(hd_value_width(&c), 128);
    c = checked(HD_SEQ2SEQ, "encoder-dim=60 context=every");
    assert_int_equal(hd_value_width(&c), 60);
    c = checked(HD_SEQ2SEQ, "");
    assert_int_equal(hd_value_width(&c), 0);
    c = hd_config_preset(HD_WANG,
                         HD_SIZE_SMALL); /* not checked yet: sizes that are open count as dim */
    assert_true(hd_encoder_width(&c) == 256 && hd_value_width(&c) == 256);
}

/* ---- text ---------------------------------------------------------------------------------------------------------- */

static void fields_are_set_by_text(void **state)
{
    (void)state;
    struct hd_config c = with(
        HD_BAHDANAU,
        "encoder-dim=30 encoder_layers=3 cell=lstm bidirectional=no coverage=yes score=local-p");
    assert_true(c.encoder_dim == 30 && c.encoder_layers == 3 && c.decoder_layers == 1 &&
                c.cell == HD_LSTM && !c.bidirectional && c.coverage &&
                c.score == HD_SCORE_BILINEAR && c.local == HD_LOCAL_P);
    c = with(HD_BAHDANAU, "score=local-m layers=4 input-feeding=true target-start=-1");
    assert_true(c.score == HD_SCORE_BILINEAR && c.local == HD_LOCAL_M && c.encoder_layers == 4 &&
                c.decoder_layers == 4 && c.input_feeding == 1 && c.target_start == -1);
    c = with(HD_TRANSFORMER, "norm-eps=1e-5 alignment-heads=3,0,2 tie=source-target "
                             "activation=swish position-layout=halves");
    assert_true(c.norm_eps == 1e-5F && c.n_alignment_heads == 3 && c.alignment_heads[0] == 3 &&
                c.alignment_heads[1] == 0 && c.alignment_heads[2] == 2 &&
                c.tie == HD_TIE_SOURCE_TARGET && c.activation == HD_SWISH &&
                c.position_layout == HD_LAYOUT_HALVES);
    assert_true(hd_config_set(&c, "alignment-heads", "none", NULL));
    assert_int_equal(c.n_alignment_heads, 0);
}

static void wrong_text_is_refused_with_what_would_be_right(void **state)
{
    (void)state;
    static const struct {
        enum hd_arch arch;
        const char *name, *value, *words;
    } wrong[] = {
        {HD_LUONG, "encoder-dm", "3", "there is no option 'encoder-dm'; did you mean encoder-dim?"},
        {HD_LUONG, "scroe", "dot", "there is no option 'scroe'; did you mean score?"},
        {HD_LUONG, "xyzzy", "3", "there is no option 'xyzzy'"},
        {HD_LUONG, "", "3", "there is no option ''"},
        {HD_LUONG, "dim", "0", "dim must be a whole number from 1 to 65536, not '0'"},
        {HD_LUONG, "dim", "65537", "not '65537'"},
        {HD_LUONG, "dim", "99999999999999999999", "dim must be a whole number"},
        {HD_LUONG, "dim", "3x", "not '3x'"},
        {HD_LUONG, "dim", "", "dim must be a whole number"},
        {HD_LUONG, "dim", " 3", "dim must be a whole number"},
        {HD_LUONG, "dim", "3,4", "dim must be a whole number"},
        {HD_LUONG, "layers", "65", "layers must be a whole number from 1 to 64, not '65'"},
        {HD_LUONG, "window", "0", "window must be a whole number from 1 to 65536, not '0'"},
        {HD_LUONG, "score-depth", "9", "score-depth must be a whole number from 1 to 8"},
        {HD_LUONG, "cell", "gur", "cell must be rnn, gru or lstm, not 'gur'; did you mean gru?"},
        {HD_LUONG, "cell", "GRU4REC", "cell must be rnn, gru or lstm, not 'GRU4REC'"},
        {HD_LUONG, "score", "bilnear", "did you mean bilinear?"},
        {HD_LUONG, "bidirectional", "maybe", "bidirectional must be yes or no, not 'maybe'"},
        {HD_LUONG, "arch", "wang", "arch fills all the other fields"},
        {HD_LUONG, "ffn", "3", "ffn is for the transformer, but arch is luong"},
        {HD_TRANSFORMER, "cell", "gru", "cell is for recurrent models, but arch is transformer"},
        {HD_TRANSFORMER, "norm-eps", "0",
         "norm-eps must be a number above 0 and at most 1, not '0'"},
        {HD_TRANSFORMER, "norm-eps", "1e-60", "norm-eps must be"},
        {HD_TRANSFORMER, "norm-eps", "2", "norm-eps must be"},
        {HD_TRANSFORMER, "norm-eps", "NaN", "norm-eps must be"},
        {HD_TRANSFORMER, "norm-eps", "small", "norm-eps must be"},
        {HD_TRANSFORMER, "position-first", "2",
         "position-first must be a whole number from 0 to 1"},
        {HD_TRANSFORMER, "alignment-heads", "1,1",
         "alignment-heads must be none, or different whole numbers from 0 to 63, such as 0,3, not "
         "'1,1'"},
        {HD_TRANSFORMER, "alignment-heads", "1,,2", "alignment-heads must be"},
        {HD_TRANSFORMER, "alignment-heads", "1,", "alignment-heads must be"},
        {HD_TRANSFORMER, "alignment-heads", "64", "alignment-heads must be"},
        {HD_TRANSFORMER, "alignment-heads", "", "alignment-heads must be"},
        {HD_TRANSFORMER, "alignment-heads", "-1", "alignment-heads must be"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hd_config c = hd_config_preset(wrong[i].arch, HD_SIZE_TINY), before = c;
        heed_error err = {0};
        assert_that(!hd_config_set(&c, wrong[i].name, wrong[i].value, &err), "%s=%s was taken",
                    wrong[i].name, wrong[i].value);
        assert_error(err, HEED_BAD_OPTION, wrong[i].words);
        assert_equal_configs(&c, &before, wrong[i].name);
        assert_false(hd_config_set(&c, wrong[i].name, wrong[i].value, NULL));
    }
}

static void the_names_of_choices_stand_in_the_order_of_their_enums(void **state)
{
    (void)state;
    static const struct {
        const char *field, *value;
        int index;
    } names[] = {
        {"arch", "seq2seq", HD_SEQ2SEQ},
        {"arch", "luong", HD_LUONG},
        {"arch", "transformer", HD_TRANSFORMER},
        {"tie", "none", HD_TIE_NONE},
        {"tie", "output", HD_TIE_OUTPUT},
        {"tie", "source-target", HD_TIE_SOURCE_TARGET},
        {"tie", "all", HD_TIE_ALL},
        {"cell", "rnn", HD_RNN},
        {"cell", "gru", HD_GRU},
        {"cell", "lstm", HD_LSTM},
        {"gru-reset", "after", HD_RESET_AFTER},
        {"gru-reset", "before", HD_RESET_BEFORE},
        {"context", "attention", HD_CONTEXT_ATTENTION},
        {"context", "first", HD_CONTEXT_FIRST},
        {"context", "every", HD_CONTEXT_EVERY},
        {"score", "none", HD_SCORE_NONE},
        {"score", "dot", HD_SCORE_DOT},
        {"score", "scaled-dot", HD_SCORE_SCALED_DOT},
        {"score", "bilinear", HD_SCORE_BILINEAR},
        {"score", "mlp", HD_SCORE_MLP},
        {"score", "additive", HD_SCORE_ADDITIVE},
        {"score", "tanh-sum", HD_SCORE_TANH_SUM},
        {"score", "projected", HD_SCORE_PROJECTED},
        {"score", "scaled", HD_SCORE_SCALED},
        {"score", "multi-head", HD_SCORE_MULTI_HEAD},
        {"score", "location", HD_SCORE_LOCATION},
        {"score", "location-aware", HD_SCORE_LOCATION_AWARE},
        {"local", "none", HD_LOCAL_NONE},
        {"local", "m", HD_LOCAL_M},
        {"local", "p", HD_LOCAL_P},
        {"attend", "before", HD_ATTEND_BEFORE},
        {"attend", "after", HD_ATTEND_AFTER},
        {"attend", "inside", HD_ATTEND_INSIDE},
        {"readout", "linear", HD_READOUT_LINEAR},
        {"readout", "tanh", HD_READOUT_TANH},
        {"readout", "attended", HD_READOUT_ATTENDED},
        {"readout", "maxout", HD_READOUT_MAXOUT},
        {"start", "last", HD_START_LAST},
        {"start", "mean", HD_START_MEAN},
        {"start", "first-backward", HD_START_FIRST_BACKWARD},
        {"start", "copy", HD_START_COPY},
        {"activation", "relu", HD_RELU},
        {"activation", "gelu", HD_GELU},
        {"activation", "swish", HD_SWISH},
        {"activation", "tanh", HD_TANH},
        {"activation", "sigmoid", HD_SIGMOID},
        {"activation", "gelu-tanh", HD_GELU_TANH},
        {"norm", "post", HD_NORM_POST},
        {"norm", "pre", HD_NORM_PRE},
        {"positions", "sin", HD_POSITIONS_SIN},
        {"positions", "learned", HD_POSITIONS_LEARNED},
        {"positions", "none", HD_POSITIONS_NONE},
        {"position-layout", "interleaved", HD_LAYOUT_INTERLEAVED},
        {"position-layout", "halves", HD_LAYOUT_HALVES},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(hd_config_choice(names[i].field, names[i].index).text, names[i].value);
}

static void every_field_has_a_name_values_and_a_meaning(void **state)
{
    (void)state;
    int n_facts = 0;
    for (const heed_option *o = hd_config_options; o->name; o++) {
        assert_that(o->help && *o->help && *hd_option_range(o).text, "%s", o->name);
        assert_that(heed_option_find(hd_config_options, o->name) == o, "%s is there twice",
                    o->name);
        n_facts += (o->flags & HEED_OPTION_FACT) != 0;
    }
    assert_int_equal(n_facts, 6); /* arch and what vocabularies and vectors bring */
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static void json_goes_there_and_back(void **state)
{
    (void)state;
    static const char *const locales[] = {"C", "de_DE.UTF-8", "C.UTF-8"};
    for (size_t l = 0; l < 3; l++) {
        setlocale(LC_ALL, locales[l]);
        for (int a = 0; a < N_ARCHS; a++)
            for (int s = 0; s < N_SIZES; s++)
                for (int is_checked = 0; is_checked < 2; is_checked++) {
                    struct hd_config c = hd_config_preset((enum hd_arch)a, (enum hd_size)s), back;
                    c.source_vocab = 8000;
                    c.target_vocab = 7000;
                    c.target_start = 3;
                    heed_error err = {0};
                    assert_true(!is_checked || hd_config_check(&c, &err));
                    json_t *json = hd_config_to_json(&c);
                    assert_that(hd_config_from_json(&back, json, &err), "%s", err.message);
                    assert_equal_configs(&c, &back, hd_config_choice("arch", a).text);
                    json_decref(json);
                }
    }
    setlocale(LC_ALL, "C");
    struct hd_config c = checked(HD_BAHDANAU,
                                 "score=multi-head alignment-heads=2,0 local=none start=mean"),
                     back;
    heed_error err = {0};
    json_t *json = hd_config_to_json(&c);
    assert_that(hd_config_from_json(&back, json, &err), "%s", err.message);
    assert_equal_configs(&c, &back, "multi-head");
    assert_int_equal(back.alignment_heads[0], 2);
    json_decref(json);
}

static void json_is_as_people_read_it(void **state)
{
    (void)state;
    struct hd_config c = checked(HD_TRANSFORMER, "");
    json_t *json = hd_config_to_json(&c);
    char *text = json_dumps(json, JSON_REAL_PRECISION(9));
    assert_string_equal(text, "{\"arch\": \"transformer\", \"source_vocab\": 1000, "
                              "\"target_vocab\": 1000, \"target_start\": -1, \"dim\": 128, "
                              "\"encoder_dim\": 128, \"embed\": 128, \"encoder_layers\": 2, "
                              "\"decoder_layers\": 2, \"tie\": \"output\", "
                              "\"heads\": 4, \"ffn\": 512, \"activation\": \"relu\", \"norm\": "
                              "\"post\", \"norm_eps\": 1e-6, "
                              "\"final_norm\": false, \"positions\": \"sin\", \"position_layout\": "
                              "\"interleaved\", \"position_shorter\": false, "
                              "\"position_first\": 0, \"max_positions\": 512, \"embed_scale\": "
                              "true, \"alignment_layer\": 1, \"alignment_heads\": []}");
    free(text);
    json_decref(json);
}

static void wrong_json_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *words;
    } wrong[] = {
        {"[]", "a configuration must be a JSON object"},
        {"{}", "must have a field arch that names its preset: seq2seq, bahdanau"},
        {"{\"arch\": \"lung\"}", "not 'lung'; did you mean luong?"},
        {"{\"arch\": 3}", "arch must be seq2seq, bahdanau, luong, wang, ferreira or transformer, "
                          "not 3"},
        {"{\"arch\": \"luong\", \"encoder_dm\": 3}",
         "there is no option 'encoder_dm'; did you mean encoder-dim?"},
        {"{\"arch\": \"luong\", \"layers\": 3}", "there is no option 'layers'"},
        {"{\"arch\": \"luong\", \"dim\": \"128\"}",
         "dim must be a whole number from 1 to 65536, not '128'"},
        {"{\"arch\": \"luong\", \"dim\": 128.0}", "not 128.000"},
        {"{\"arch\": \"luong\", \"dim\": true}", "not true"},
        {"{\"arch\": \"luong\", \"dim\": null}", "not null"},
        {"{\"arch\": \"luong\", \"dim\": {}}", "not an object"},
        {"{\"arch\": \"luong\", \"dim\": []}", "not a list"},
        {"{\"arch\": \"luong\", \"dim\": 4294967424}", "not 4294967424"},
        {"{\"arch\": \"luong\", \"dim\": -5}", "not -5"},
        {"{\"arch\": \"luong\", \"coverage\": \"yes\"}",
         "coverage must be true or false, not 'yes'"},
        {"{\"arch\": \"luong\", \"input_feeding\": 1}",
         "input-feeding must be true or false, not 1"},
        {"{\"arch\": \"luong\", \"cell\": false}", "cell must be rnn, gru or lstm, not false"},
        {"{\"arch\": \"luong\", \"ffn\": 3}", "ffn is for the transformer, but arch is luong"},
        {"{\"arch\": \"transformer\", \"gru_reset\": \"after\"}",
         "gru-reset is for recurrent models, but arch is transformer"},
        {"{\"arch\": \"transformer\", \"norm_eps\": \"x\"}",
         "norm-eps must be a number above 0 and at most 1, not 'x'"},
        {"{\"arch\": \"transformer\", \"norm_eps\": -1.0}", "not -1.00000"},
        {"{\"arch\": \"transformer\", \"alignment_heads\": 3}",
         "alignment-heads must be none, or different"},
        {"{\"arch\": \"transformer\", \"alignment_heads\": [\"3\"]}", "not '3'"},
        {"{\"arch\": \"transformer\", \"alignment_heads\": [0, 1, 0]}",
         "from 0 to 63, such as 0,3, not '0,1,0'"},
        {"{\"arch\": \"transformer\", \"alignment_heads\": [64]}", "not '64'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *json = json_loads(wrong[i].json, 0, NULL);
        assert_non_null(json);
        struct hd_config c = {.dim = 77};
        heed_error err = {0};
        assert_that(!hd_config_from_json(&c, json, &err), "%s was taken", wrong[i].json);
        assert_error(err, HEED_BAD_MODEL, wrong[i].words);
        assert_int_equal(c.dim, 77); /* nothing is half read */
        json_decref(json);
    }
}

/* ---- what does not go together ---------------------------------------------------------------------------------------- */

static void contradictions_are_refused_with_both_options_and_the_remedy(void **state)
{
    (void)state;
    static const struct {
        enum hd_arch arch;
        const char *fields, *words;
    } wrong[] = {
        {HD_WANG, "score=dot encoder-dim=64",
         "score dot wants encoder-dim equal to dim, but they are 64 and 128; make them equal, or "
         "choose score bilinear"},
        {HD_WANG, "score=scaled-dot encoder-dim=64",
         "score scaled-dot wants encoder-dim equal to dim"},
        {HD_LUONG, "start=copy encoder-layers=1",
         "start copy wants as many encoder-layers as decoder-layers, but they are 1 and 2; make "
         "them equal, or choose start last or mean"},
        {HD_LUONG, "start=copy encoder-dim=64",
         "start copy wants encoder-dim equal to dim, but they are 64 and 128"},
        {HD_LUONG, "start=first-backward",
         "start first-backward takes a state of the backward direction, but bidirectional is no; "
         "set bidirectional yes"},
        {HD_BAHDANAU, "dim=7",
         "bidirectional gives each direction half of encoder-dim, which is odd: 7; make "
         "encoder-dim (or dim) even"},
        {HD_BAHDANAU, "score=multi-head heads=3", "heads 3 does not divide attention-dim 128"},
        {HD_BAHDANAU, "score=multi-head attention-dim=30",
         "heads 4 does not divide attention-dim 30"},
        {HD_FERREIRA, "tie=output embed=64",
         "tie output wants what enters the output layer as wide as embed, 64, but readout linear "
         "has the width of dim, 128; make embed equal to dim, or choose readout tanh"},
        {HD_LUONG, "tie=all embed=64",
         "tie all wants what enters the output layer as wide as embed, 64, but readout attended"},
        {HD_SEQ2SEQ, "attend=after",
         "attend needs attention, but score is none; choose a score, or leave attend out"},
        {HD_SEQ2SEQ, "coverage=yes", "coverage yes needs attention, but score is none"},
        {HD_SEQ2SEQ, "local=m", "local needs attention, but score is none"},
        {HD_SEQ2SEQ, "input-feeding=yes", "input-feeding yes needs attention, but score is none"},
        {HD_SEQ2SEQ, "readout=attended", "readout attended needs attention, but score is none"},
        {HD_SEQ2SEQ, "context=attention", "context attention needs attention, but score is none"},
        {HD_LUONG, "context=every",
         "context every is for models without attention, but score is bilinear; set score none, or "
         "leave context out"},
        {HD_LUONG, "context=first", "context first is for models without attention"},
        {HD_BAHDANAU, "readout=attended",
         "readout attended needs attend after, but attend is before; set attend after, or choose "
         "readout tanh"},
        {HD_LUONG, "readout=linear",
         "readout linear sees the state alone, so with attend after nothing would come of the "
         "attention; choose readout attended or tanh, or attend before"},
        {HD_BAHDANAU, "input-feeding=yes",
         "input-feeding yes needs attend after, but attend is before"},
        {HD_LUONG, "input-feeding=yes readout=tanh",
         "input-feeding yes feeds what readout attended makes, but readout is tanh"},
        {HD_LUONG, "gru-reset=before",
         "gru-reset before is for cell gru, but cell is lstm; set cell gru"},
        {HD_LUONG, "score=location",
         "score location has one row per source position and needs max-source"},
        {HD_LUONG, "max-source=50", "max-source is for score location, but score is bilinear"},
        {HD_LUONG, "score=location max-source=50 local=p",
         "local goes with a score of the content, but score location"},
        {HD_LUONG, "score=location max-source=50 coverage=yes",
         "coverage goes with a score of the content"},
        {HD_LUONG, "score=multi-head local=m",
         "local works on one distribution over the source, but score multi-head has one per head; "
         "choose score scaled, or leave local out"},
        {HD_LUONG, "score=multi-head coverage=yes",
         "coverage works on one distribution over the source"},
        {HD_LUONG, "window=5",
         "window is for local attention, but local is none; set local m or p, or leave window out"},
        {HD_LUONG, "score-bias=yes",
         "score-bias is for score mlp, additive and location-aware, but score is bilinear"},
        {HD_LUONG, "score-depth=1", "score-depth is for score scaled, but score is bilinear"},
        {HD_LUONG, "alignment-heads=0",
         "alignment-heads is for attention with several heads, but score is bilinear"},
        {HD_LUONG, "score=multi-head alignment-heads=4",
         "alignment-heads has 4, but with heads 4 they are 0 to 3"},
        {HD_TRANSFORMER, "embed=64",
         "embed 64 and dim 128 differ, but a transformer adds embeddings to its states; leave "
         "embed out"},
        {HD_TRANSFORMER, "encoder-dim=64", "encoder-dim 64 and dim 128 differ"},
        {HD_TRANSFORMER, "heads=3", "heads 3 does not divide dim 128"},
        {HD_TRANSFORMER, "alignment-layer=3", "alignment-layer 3 is beyond decoder-layers 2"},
        {HD_TRANSFORMER, "alignment-heads=1,7",
         "alignment-heads has 7, but with heads 4 they are 0 to 3"},
        {HD_TRANSFORMER, "dim=9 heads=3",
         "positions sin come in pairs of sin and cos, but dim is odd: 9"},
        {HD_TRANSFORMER, "dim=2 heads=1 position-shorter=yes",
         "position-shorter divides by dim/2-1, but dim is 2"},
        {HD_TRANSFORMER, "target-start=1000",
         "target-start 1000 is not in the target vocabulary of 1000 words"},
        {HD_TRANSFORMER, "target-vocab=7 tie=all",
         "tie all makes one table of both embeddings, but source-vocab is 1000 and target-vocab is "
         "7; use one joint vocabulary"},
        {HD_LUONG, "target-vocab=7 tie=source-target", "tie source-target makes one table"},
        {HD_LUONG, "target-vocab=0",
         "source-vocab is 1000 and target-vocab is 0; a vocabulary needs at least one word"},
        {HD_LUONG, "source-vocab=0", "source-vocab is 0"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct hd_config c = with(wrong[i].arch, wrong[i].fields);
        heed_error err = {0};
        assert_that(!hd_config_check(&c, &err), "%s was taken", wrong[i].fields);
        assert_error(err, HEED_BAD_OPTION, wrong[i].words);
    }
}

static void what_looks_alike_but_is_possible_is_taken(void **state)
{
    (void)state;
    checked(HD_TRANSFORMER, "dim=9 heads=3 positions=learned");
    checked(HD_TRANSFORMER, "target-vocab=7 tie=output");
    checked(HD_BAHDANAU, "tie=all embed=64"); /* maxout is as wide as embed */
    checked(HD_WANG, "tie=output embed=64");
    checked(HD_LUONG, "gru-reset=after");
    checked(HD_LUONG, "window=5 local=m coverage=yes");
    checked(HD_LUONG, "bidirectional=yes start=copy");
    checked(HD_SEQ2SEQ, "input-feeding=no readout=tanh context=every");
    checked(HD_SEQ2SEQ, "readout=maxout");
    checked(HD_LUONG, "score=scaled score-depth=1 coverage=yes local=p");
}

static void numbers_written_into_the_struct_are_checked_as_well(void **state)
{
    (void)state;
    struct hd_config c = with(HD_LUONG, "");
    heed_error err = {0};
    c.dim = 0;
    assert_false(hd_config_check(&c, &err));
    assert_error(err, HEED_BAD_OPTION, "dim must be a whole number from 1 to 65536, not '0'");
    static const char *const choices[] = {
        "arch",   "tie",     "cell",  "gru-reset",  "context", "score",     "local",
        "attend", "readout", "start", "activation", "norm",    "positions", "position-layout"};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        for (int bad = 0; bad < 2; bad++) {
            const heed_option *o = heed_option_find(hd_config_options, choices[i]);
            int n = 0;
            while (*hd_option_choice(o, n).text)
                n++;
            c = with(HD_LUONG, "");
            err = (heed_error){0};
            *(int *)((char *)&c + o->offset) = bad ? (o->most > 0 ? (int)o->most : n) : -2;
            assert_that(!hd_config_check(&c, &err), "%s", choices[i]);
            assert_error(err, HEED_BAD_OPTION, choices[i]);
        }
    c = with(HD_LUONG, "");
    err = (heed_error){0};
    c.input_feeding = 2;
    assert_false(hd_config_check(&c, &err));
    assert_error(err, HEED_BAD_OPTION, "input-feeding must be yes or no");
    c = with(HD_TRANSFORMER, "");
    err = (heed_error){0};
    c.n_alignment_heads = HD_MAX_HEADS + 1;
    assert_false(hd_config_check(&c, &err));
    assert_error(err, HEED_BAD_OPTION, "alignment-heads must be");
    c = with(HD_TRANSFORMER, "");
    err = (heed_error){0};
    c.norm_eps = 0;
    assert_false(hd_config_check(&c, &err));
    assert_error(err, HEED_BAD_OPTION, "norm-eps must be");
}

/* ---- the formula --------------------------------------------------------------------------------------------------------- */

static void the_formula_says_what_is_computed(void **state)
{
    (void)state;
    static const struct {
        enum hd_arch arch;
        const char *fields, *formula;
    } known[] = {
        {HD_BAHDANAU, "", "e_tj = v·tanh(W s_{t-1} + U h_j)"},
        {HD_BAHDANAU, "score-bias=yes coverage=yes",
         "e_tj = v·tanh(W s_{t-1} + U h_j + b + w Σ_{t'<t} α_t'j)"},
        {HD_LUONG, "", "e_tj = s_tᵀ W h_j"},
        {HD_LUONG, "score=local-m", "e_tj = s_tᵀ W h_j, |j−p_t| ≤ 10, p_t = min(t, S)"},
        {HD_LUONG, "score=local-p",
         "e_tj = s_tᵀ W h_j, |j−p_t| ≤ 10, p_t = S·σ(v_p·tanh(W_p s_t)), α_tj·exp(−(j−p_t)²/50)"},
        {HD_LUONG, "score=dot coverage=yes", "e_tj = s_t·h_j + w Σ_{t'<t} α_t'j"},
        {HD_LUONG, "score=scaled-dot", "e_tj = s_t·h_j / √128"},
        {HD_LUONG, "score=location max-source=9", "e_t = W s_t"},
        {HD_WANG, "", "e_tj = v·tanh(W [h_j; s_{t-1}])"},
        {HD_WANG, "score=projected attend=inside", "e_tj = (W s'_t)·(U h_j)"},
        {HD_WANG, "score=scaled attention-dim=64",
         "e_tj = MLP_q(s_{t-1})·MLP_k(h_j) / √64, v_j = MLP_v(h_j)"},
        {HD_WANG, "score=scaled score-depth=1",
         "e_tj = (W_q s_{t-1})·(W_k h_j) / √128, v_j = W_v h_j"},
        {HD_WANG, "score=multi-head",
         "e_tj = (W_q s_{t-1})·(W_k h_j) / √32, v_j = W_v h_j in each of 4 heads"},
        {HD_FERREIRA, "", "e_tj = tanh(U h_j + W s_{t-1})"},
        {HD_FERREIRA, "coverage=yes", "e_tj = tanh(U h_j + W s_{t-1} + w Σ_{t'<t} α_t'j)"},
        {HD_SEQ2SEQ, "", "none: the source's last state is known at the first step"},
        {HD_SEQ2SEQ, "context=every", "none: the source's last state is known at every step"},
        {HD_TRANSFORMER, "", "α = softmax(Q Kᵀ / √32), c = α V in each of 4 heads"},
    };
    char text[256];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct hd_config c = checked(known[i].arch, known[i].fields);
        assert_ptr_equal(hd_config_formula(&c, text), text);
        assert_string_equal(text, known[i].formula);
    }
    /* The longest there can be still fits. */
    const struct hd_config c =
        checked(HD_WANG, "dim=65536 score=scaled coverage=yes local=p window=65536 attend=before");
    assert_that(strlen(hd_config_formula(&c, text)) < 250, "%s", text);
    /* Before the check, too. */
    const struct hd_config open = hd_config_preset(HD_BAHDANAU, HD_SIZE_TINY);
    assert_string_equal(hd_config_formula(&open, text), "e_tj = v·tanh(W s + U h_j)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_their_papers),
        cmocka_unit_test(sizes_have_names),
        cmocka_unit_test(what_is_open_follows_the_others),
        cmocka_unit_test(a_checked_configuration_passes_unchanged),
        cmocka_unit_test(any_cell_score_and_place_can_be_combined),
        cmocka_unit_test(widths_follow_from_the_score),
        cmocka_unit_test(fields_are_set_by_text),
        cmocka_unit_test(wrong_text_is_refused_with_what_would_be_right),
        cmocka_unit_test(the_names_of_choices_stand_in_the_order_of_their_enums),
        cmocka_unit_test(every_field_has_a_name_values_and_a_meaning),
        cmocka_unit_test(json_goes_there_and_back),
        cmocka_unit_test(json_is_as_people_read_it),
        cmocka_unit_test(wrong_json_is_refused),
        cmocka_unit_test(contradictions_are_refused_with_both_options_and_the_remedy),
        cmocka_unit_test(what_looks_alike_but_is_possible_is_taken),
        cmocka_unit_test(numbers_written_into_the_struct_are_checked_as_well),
        cmocka_unit_test(the_formula_says_what_is_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
