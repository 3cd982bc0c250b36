/* presets.c -- a table of papers, a table of sizes, and a configuration made of one row of each.
 *
 * What depends on other choices (the place of attention, readout, start, final norm) is left unset here, so that
 * `--arch luong --attend before` is a model and not a contradiction; config_check.c fills it from the row when nothing speaks
 * against it. */
#include "model/presets.h"

#include "model/fields.h"

/* clang-format off */
const struct hd_preset hd_presets[] = {
    [HD_SEQ2SEQ] = {
        "Sutskever, Vinyals & Le (2014): a fixed vector",
        .cell = HD_LSTM, .layers = 1, .score = HD_SCORE_NONE, .attend = HD_ATTEND_BEFORE,
        .readout = HD_READOUT_LINEAR, .start = HD_START_COPY,
    },
    [HD_BAHDANAU] = {
        "Bahdanau, Cho & Bengio (2015), section 3 and appendix A",
        .cell = HD_GRU, .layers = 1, .is_bidirectional = true, .score = HD_SCORE_ADDITIVE,
        .attend = HD_ATTEND_BEFORE, .readout = HD_READOUT_MAXOUT, .start = HD_START_FIRST_BACKWARD,
    },
    [HD_LUONG] = {
        "Luong, Pham & Manning (2015), section 3",
        .cell = HD_LSTM, .layers = 2, .score = HD_SCORE_BILINEAR, .attend = HD_ATTEND_AFTER,
        .readout = HD_READOUT_ATTENDED, .start = HD_START_COPY, .has_input_feeding = true,
    },
    [HD_WANG] = {
        "Wang, \"Attention\": a simple RNN; the score projected is its option 2",
        .cell = HD_RNN, .layers = 1, .score = HD_SCORE_MLP, .attend = HD_ATTEND_BEFORE,
        .readout = HD_READOUT_TANH, .start = HD_START_COPY,
    },
    [HD_FERREIRA] = {
        "Ferreira, \"L16: Attention\", equations 4 to 8",
        .cell = HD_RNN, .layers = 1, .score = HD_SCORE_TANH_SUM, .attend = HD_ATTEND_BEFORE,
        .readout = HD_READOUT_LINEAR, .start = HD_START_LAST,
    },
    [HD_TRANSFORMER] = {.paper = "Vaswani et al. (2017)"},
};

static const struct {
    int dim, heads, ffn, blocks; /* ffn and blocks are the Transformer's */
} sizes[] = {
    [HD_SIZE_TINY]  = {128, 4,  512, 2},
    [HD_SIZE_SMALL] = {256, 4, 1024, 3},
    [HD_SIZE_BASE]  = {512, 8, 2048, 6},
};
/* clang-format on */

const heed_option hd_preset_options[] = {
    {"arch", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct hd_preset_choice, arch),
     .choices = HD_ARCHS, .flags = HEED_OPTION_OF_MODEL | HEED_OPTION_FIXED | HEED_OPTION_AUTO,
     .group = "Model", .default_help = "transformer",
     .help = "preset: the model of a paper or lecture"},
    {"size", .kind = HEED_OPTION_CHOICE, HEED_OPTION_FIELD(struct hd_preset_choice, size),
     .choices = HD_SIZES, .flags = HEED_OPTION_OF_MODEL | HEED_OPTION_FIXED | HEED_OPTION_AUTO,
     .default_help = "chosen from your text", .help = "preset of dim, heads, ffn and layers"},
    {0},
};

struct hd_config hd_config_preset(enum hd_arch arch, enum hd_size size)
{
    const struct hd_preset *p = &hd_presets[arch];
    struct hd_config c = hd_config_defaults();
    c.arch = (int)arch;
    c.dim = sizes[size].dim;
    c.heads = sizes[size].heads;
    if (arch == HD_TRANSFORMER) {
        c.ffn = sizes[size].ffn;
        c.encoder_layers = c.decoder_layers = sizes[size].blocks;
        c.tie =
            HD_TIE_OUTPUT; /* the paper ties all three, which asks for one vocabulary; this half of it never does */
        return c;
    }
    c.cell = p->cell;
    c.encoder_layers = c.decoder_layers = p->layers;
    c.bidirectional = p->is_bidirectional;
    c.score = p->score;
    return c;
}
