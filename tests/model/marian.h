/* marian.h -- small models as Marian writes them, made by hand: an archive with its configuration as
 * YAML and its tensors, of which anything can be wrong. Plain C, for the fuzz target too. */
#ifndef HD_TEST_MARIAN_H
#define HD_TEST_MARIAN_H

#include "format/archive.h"

#include <stdbool.h>
#include <stdio.h>

/* A vocabulary that goes with them, and its size. */
#define MARIAN_VOCAB "tests/fuzz/corpus/spm/unigram"
enum { MARIAN_V = 44 };

/* One tensor that is not as it should be; all others are. */
struct marian_fault {
    const char *tensor; /* NULL: none */
    int rows, columns;  /* 0: it is missing */
    float value;
};

struct marian {
    struct archive archive;
    const struct marian_fault *fault;
};

static inline void marian_add(struct marian *m, const char *name, int rows, int columns)
{
    static unsigned char npy[16384];
    float value = 0.25F;
    char dict[96], member[128];
    if (m->fault && m->fault->tensor && strcmp(name, m->fault->tensor) == 0) {
        rows = m->fault->rows;
        columns = m->fault->columns;
        value = m->fault->value;
        if (rows == 0)
            return;
    }
    snprintf(dict, sizeof dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }\n",
             rows, columns);
    snprintf(member, sizeof member, "%s.npy", name);
    const size_t n = (size_t)rows * (size_t)columns * sizeof value;
    if (n + sizeof dict + 10 > sizeof npy)
        abort();
    const size_t size = npy_of((char *)npy, dict, n);
    for (size_t i = size - n; i < size; i += sizeof value)
        memcpy(npy + i, &value, sizeof value);
    add_stored(&m->archive, member, npy, size);
}

static inline void marian_add_yaml(struct marian *m, const void *yaml, size_t n)
{
    static unsigned char npy[8192];
    char dict[96];
    snprintf(dict, sizeof dict, "{'descr': '|i1', 'fortran_order': False, 'shape': (%zu,), }\n", n);
    if (n + sizeof dict + 10 > sizeof npy)
        abort();
    const size_t size = npy_of((char *)npy, dict, n);
    memcpy(npy + size - n, yaml, n);
    add_stored(&m->archive, "special:model.yml.npy", npy, size);
}

/* type amun: embeddings of 3, states of 4. */
static inline void marian_add_amun(struct marian *m)
{
    static const struct {
        const char *name;
        int rows, columns;
    } tensors[] = {
        {"encoder_W", 3, 8},       {"encoder_Wx", 3, 4},      {"encoder_U", 4, 8},
        {"encoder_Ux", 4, 4},      {"encoder_b", 1, 8},       {"encoder_bx", 1, 4},
        {"encoder_r_W", 3, 8},     {"encoder_r_Wx", 3, 4},    {"encoder_r_U", 4, 8},
        {"encoder_r_Ux", 4, 4},    {"encoder_r_b", 1, 8},     {"encoder_r_bx", 1, 4},
        {"decoder_W", 3, 8},       {"decoder_Wx", 3, 4},      {"decoder_U", 4, 8},
        {"decoder_Ux", 4, 4},      {"decoder_b", 1, 8},       {"decoder_bx", 1, 4},
        {"decoder_Wc", 8, 8},      {"decoder_Wcx", 8, 4},     {"decoder_U_nl", 4, 8},
        {"decoder_Ux_nl", 4, 4},   {"decoder_b_nl", 1, 8},    {"decoder_bx_nl", 1, 4},
        {"ff_state_W", 8, 4},      {"ff_state_b", 1, 4},      {"decoder_W_comb_att", 4, 8},
        {"decoder_Wc_att", 8, 8},  {"decoder_b_att", 1, 8},   {"decoder_U_att", 8, 1},
        {"ff_logit_lstm_W", 4, 3}, {"ff_logit_prev_W", 3, 3}, {"ff_logit_ctx_W", 8, 3},
        {"ff_logit_lstm_b", 1, 3}, {"ff_logit_prev_b", 1, 3}, {"ff_logit_ctx_b", 1, 3},
        {"decoder_c_tt", 1, 1},
    };
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        marian_add(m, tensors[i].name, tensors[i].rows, tensors[i].columns);
    marian_add(m, "ff_logit_b", 1, MARIAN_V);
    marian_add(m, "Wemb", MARIAN_V, 3);
}

static inline void marian_add_part(struct marian *m, const char *side, const char *part, int rows,
                                   int columns)
{
    char name[64];
    snprintf(name, sizeof name, "%s_l1_%s", side, part);
    marian_add(m, name, rows, columns);
}

static inline void marian_add_heads(struct marian *m, const char *side, const char *kind)
{
    char part[32];
    for (const char *role = "qkvo"; *role; role++) {
        snprintf(part, sizeof part, "%s_W%c", kind, *role);
        marian_add_part(m, side, part, 4, 4);
        snprintf(part, sizeof part, "%s_b%c", kind, *role);
        marian_add_part(m, side, part, 1, 4);
    }
    snprintf(part, sizeof part, "%s_Wo_ln_scale", kind);
    marian_add_part(m, side, part, 1, 4);
    snprintf(part, sizeof part, "%s_Wo_ln_bias", kind);
    marian_add_part(m, side, part, 1, 4);
}

/* type transformer: one block of width 4 on each side, feed-forward of 6, norms after. */
static inline void marian_add_transformer(struct marian *m)
{
    static const char *const sides[] = {"encoder", "decoder"};
    for (int i = 0; i < 2; i++) {
        marian_add_heads(m, sides[i], "self");
        if (i == 1)
            marian_add_heads(m, sides[i], "context");
        marian_add_part(m, sides[i], "ffn_W1", 4, 6);
        marian_add_part(m, sides[i], "ffn_b1", 1, 6);
        marian_add_part(m, sides[i], "ffn_W2", 6, 4);
        marian_add_part(m, sides[i], "ffn_b2", 1, 4);
        marian_add_part(m, sides[i], "ffn_ffn_ln_scale", 1, 4);
        marian_add_part(m, sides[i], "ffn_ffn_ln_bias", 1, 4);
    }
    marian_add(m, "decoder_ff_logit_out_b", 1, MARIAN_V);
    marian_add(m, "Wemb", MARIAN_V, 4);
}

#endif
