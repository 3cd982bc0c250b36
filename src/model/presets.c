/* presets.c -- a table of papers, a table of sizes, and a configuration made of one row of each.
 *
 * What depends on other choices (the place of attention, readout, start, final norm) is left unset here, so that
 * `--arch luong --attend before` is a model and not a contradiction; check.c fills it from the row when nothing speaks
 * against it. */
#include "model/presets.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/quote.h"

#include <string.h>

/* clang-format off */
const struct hd_preset hd_presets[] = {
    [HD_SEQ2SEQ] = {
        "seq2seq", "Sutskever, Vinyals & Le (2014): a fixed vector",
        .cell = HD_CELL_LSTM, .layers = 1, .score = HD_SCORE_NONE, .attend = HD_ATTEND_BEFORE,
        .readout = HD_READOUT_LINEAR, .start = HD_START_COPY,
    },
    [HD_BAHDANAU] = {
        "bahdanau", "Bahdanau, Cho & Bengio (2015), section 3 and appendix A",
        .cell = HD_CELL_GRU, .layers = 1, .is_bidirectional = true, .score = HD_SCORE_ADDITIVE,
        .attend = HD_ATTEND_BEFORE, .readout = HD_READOUT_MAXOUT, .start = HD_START_FIRST_BACKWARD,
    },
    [HD_LUONG] = {
        "luong", "Luong, Pham & Manning (2015), section 3",
        .cell = HD_CELL_LSTM, .layers = 2, .score = HD_SCORE_BILINEAR, .attend = HD_ATTEND_AFTER,
        .readout = HD_READOUT_ATTENDED, .start = HD_START_COPY, .has_input_feeding = true,
    },
    [HD_WANG] = {
        "wang", "Wang, \"Attention\": a simple RNN; the score projected is its option 2",
        .cell = HD_CELL_RNN, .layers = 1, .score = HD_SCORE_MLP, .attend = HD_ATTEND_BEFORE,
        .readout = HD_READOUT_TANH, .start = HD_START_COPY,
    },
    [HD_FERREIRA] = {
        "ferreira", "Ferreira, \"L16: Attention\", equations 4 to 8",
        .cell = HD_CELL_RNN, .layers = 1, .score = HD_SCORE_TANH_SUM, .attend = HD_ATTEND_BEFORE,
        .readout = HD_READOUT_LINEAR, .start = HD_START_LAST,
    },
    [HD_TRANSFORMER] = {.name = "transformer", .paper = "Vaswani et al. (2017)"},
};

static const struct {
    const char *name;
    int dim, heads, ffn, blocks; /* ffn and blocks are the Transformer's */
} sizes[] = {
    [HD_SIZE_TINY]  = {"tiny",  128, 4,  512, 2},
    [HD_SIZE_SMALL] = {"small", 256, 4, 1024, 3},
    [HD_SIZE_BASE]  = {"base",  512, 8, 2048, 6},
};
/* clang-format on */

enum {
    N_PRESETS = sizeof hd_presets / sizeof *hd_presets,
    N_SIZES = sizeof sizes / sizeof *sizes,
};

const struct hd_config hd_config_default = {
    .target_start = -1,
    .encoder_layers = 1,
    .decoder_layers = 1,
    .context = HD_UNSET,
    .attend = HD_UNSET,
    .input_feeding = HD_UNSET,
    .readout = HD_UNSET,
    .start = HD_UNSET,
    .score_depth = 2, /* one hidden layer */
    .window = 10,
    .heads = 8,
    .ffn = 2048,
    .max_positions = 512,
    .embed_scale = true,
    .norm_eps = 1e-6F,
    .final_norm = HD_UNSET,
};

struct hd_config hd_config_preset(enum hd_arch arch, enum hd_size size)
{
    const struct hd_preset *p = &hd_presets[arch];
    struct hd_config c = hd_config_default;
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

bool hd_config_preset_named(struct hd_config *config, const char *arch, const char *size,
                            heed_error *err)
{
    const char *archs[N_PRESETS], *names[N_SIZES];
    int a = N_PRESETS, s = size ? N_SIZES : HD_SIZE_BASE;
    for (int i = 0; i < N_PRESETS; i++) {
        archs[i] = hd_presets[i].name;
        a = strcmp(arch, archs[i]) == 0 ? i : a;
    }
    for (int i = 0; i < N_SIZES; i++) {
        names[i] = sizes[i].name;
        s = size && strcmp(size, names[i]) == 0 ? i : s;
    }
    if (a == N_PRESETS) {
        const char *near = hd_nearest(arch, archs, N_PRESETS);
        return hd_fail(err, HEED_BAD_OPTION,
                       "arch must be one of seq2seq|bahdanau|luong|wang|ferreira|transformer, not "
                       "%s%s%s%s",
                       hd_quote(arch).text, near ? "; did you mean " : "", near ? near : "",
                       near ? "?" : "");
    }
    if (s == N_SIZES)
        return hd_fail(err, HEED_BAD_OPTION, "size must be one of tiny|small|base, not %s",
                       hd_quote(size).text);
    *config = hd_config_preset((enum hd_arch)a, (enum hd_size)s);
    return true;
}
