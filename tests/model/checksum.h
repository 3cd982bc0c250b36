/* checksum.h -- models forced for one batch, and a checksum of the loss, the logits and all
 * gradients of each, with products of floats and of bf16, added in one chain and in blocks: equal for all instruction sets, CPUs and compilers, or a test fails.
 *
 * Plain C without the test library, so that it also runs on another CPU. Dropout is on: it takes
 * its random numbers in the order in which ops are noted. When a formula is meant to change its
 * bits, run the test and put the checksums that it prints here. */
#ifndef HD_MODEL_CHECKSUM_H
#define HD_MODEL_CHECKSUM_H

#include "graph/checksum.h"
#include "graph/tape.h"
#include "model/model.h"

static inline void as_it_is(struct hd_config *c)
{
    (void)c;
}

static inline void every_step(struct hd_config *c)
{
    c->context = HD_CONTEXT_EVERY;
    c->readout = HD_READOUT_TANH;
    c->reverse_source = true;
}

static inline void lstm_both_ways(struct hd_config *c)
{
    c->cell = HD_LSTM;
    c->encoder_layers = c->decoder_layers = 2;
    c->start = HD_START_COPY;
}

static inline void reset_before(struct hd_config *c)
{
    c->gru_reset = HD_RESET_BEFORE;
    c->score = HD_SCORE_TANH_SUM;
    c->start = HD_START_MEAN;
}

static inline void coverage(struct hd_config *c)
{
    c->coverage = true;
}

static inline void local_p(struct hd_config *c)
{
    c->local = HD_LOCAL_P;
    c->window = 2;
    c->coverage = true;
}

static inline void scaled_inside(struct hd_config *c)
{
    c->score = HD_SCORE_SCALED;
    c->attend = HD_ATTEND_INSIDE;
}

static inline void multi_head(struct hd_config *c)
{
    c->score = HD_SCORE_MULTI_HEAD;
    c->input_feeding = 0;
}

static inline void projected(struct hd_config *c)
{
    c->score = HD_SCORE_PROJECTED;
}

static inline void location_aware(struct hd_config *c)
{
    c->score = HD_SCORE_LOCATION_AWARE;
    c->location_filters = 3;
    c->location_width = 5;
}

static inline void located_with_ctc(struct hd_config *c)
{
    location_aware(c);
    c->cell = HD_LSTM;
    c->ctc = 0.7F;
}

static inline void with_ctc(struct hd_config *c)
{
    c->ctc = 0.7F;
}

static inline void pre_norm(struct hd_config *c)
{
    c->norm = HD_NORM_PRE;
    c->positions = HD_POSITIONS_LEARNED;
    c->activation = HD_SWISH;
    c->tie = HD_TIE_ALL;
}

static inline void deep_transition(struct hd_config *c)
{
    c->attend = HD_ATTEND_INSIDE;
    c->encoder_transitions = 1;
    c->decoder_transitions = 2;
    c->decoder_layers = 2;
    c->upper_transitions = 1;
}

static inline void normed(struct hd_config *c)
{
    c->attend = HD_ATTEND_INSIDE;
    c->recurrent_norm = HD_RNORM_WHOLE;
    c->decoder_transitions = 1;
}

static inline void normed_residual(struct hd_config *c)
{
    c->recurrent_norm = HD_RNORM_SPLIT;
    c->residual = true;
    c->encoder_layers = c->decoder_layers = 2;
}

static inline void ssru(struct hd_config *c)
{
    c->decoder = HD_DECODER_SSRU;
    c->decoder_layers = 3;
}

/* What products multiply, and how they add. */
enum checked_precision { CHECKED_F32, CHECKED_BF16, CHECKED_BF16_BLOCKS, N_CHECKED_PRECISIONS };
static const char *const checked_precisions[] = {"f32", "bf16", "bf16-blocks"};

/* Presets at toy size, and what is changed of them. */
static const struct model_checksum {
    const char *name;
    enum hd_arch arch;
    void (*change)(struct hd_config *);
    uint64_t sum[N_CHECKED_PRECISIONS];
    bool is_int8; /* products of the forward pass are of 8 bits in all */
} model_checksums[] = {
    {"seq2seq",
     HD_SEQ2SEQ,
     as_it_is,
     {UINT64_C(0x1752c8b3fd76ff99), UINT64_C(0x126b321b25d2605a), UINT64_C(0x01ab4a875df44fa1)},
     false},
    {"seq2seq, context every",
     HD_SEQ2SEQ,
     every_step,
     {UINT64_C(0xb2e35f3ba1b83893), UINT64_C(0x4927f6596130f2cf), UINT64_C(0x7fdc57e30408bdf0)},
     false},
    {"bahdanau",
     HD_BAHDANAU,
     as_it_is,
     {UINT64_C(0x0e8f7f92b48ae2aa), UINT64_C(0xee8c99e4460f4f3b), UINT64_C(0xbde983fb16f1dfee)},
     false},
    {"bahdanau, coverage",
     HD_BAHDANAU,
     coverage,
     {UINT64_C(0xa25843bf87cf0c94), UINT64_C(0xa8ff111fc728b637), UINT64_C(0x292f2d7eee0e8246)},
     false},
    {"bahdanau, lstm stack",
     HD_BAHDANAU,
     lstm_both_ways,
     {UINT64_C(0xde8fd17ecaabfb5e), UINT64_C(0x59776098ae902765), UINT64_C(0x28774a131d22bcb3)},
     false},
    {"bahdanau, reset before, tanh-sum",
     HD_BAHDANAU,
     reset_before,
     {UINT64_C(0x9474003be967ef94), UINT64_C(0x29ff7b98bdde8f30), UINT64_C(0x221202bf07bbd772)},
     false},
    {"luong, input feeding",
     HD_LUONG,
     as_it_is,
     {UINT64_C(0x54279a5840fdd9a1), UINT64_C(0xb88a35e56a5d11f2), UINT64_C(0x8996a1ef62f53697)},
     false},
    {"luong, local-p, coverage",
     HD_LUONG,
     local_p,
     {UINT64_C(0x47437438156f1349), UINT64_C(0x6ecfb8254cd49b70), UINT64_C(0xd23cfb6f3230dbab)},
     false},
    {"luong, scaled, inside",
     HD_LUONG,
     scaled_inside,
     {UINT64_C(0xcf47e43e559a3fd5), UINT64_C(0x3a7a6cc1adcba8e1), UINT64_C(0x3c72f2deffb14a09)},
     false},
    {"luong, multi-head",
     HD_LUONG,
     multi_head,
     {UINT64_C(0x5d428cf1137ae80b), UINT64_C(0x2e1a4af50e4566ce), UINT64_C(0x86d985599acb4c2e)},
     false},
    {"wang",
     HD_WANG,
     as_it_is,
     {UINT64_C(0xaa33e251d737a10a), UINT64_C(0x3faf80b5f897eff3), UINT64_C(0x273463d5c96d5ddf)},
     false},
    {"wang, projected",
     HD_WANG,
     projected,
     {UINT64_C(0x9e3ac9309f4ded78), UINT64_C(0x6b1c96d6c87cc2d9), UINT64_C(0x640707f745bfc62e)},
     false},
    {"ferreira",
     HD_FERREIRA,
     as_it_is,
     {UINT64_C(0xb1d22eb861cd2616), UINT64_C(0xb99bc0d0feff766c), UINT64_C(0x15836fd7e959bfcd)},
     false},
    {"transformer",
     HD_TRANSFORMER,
     as_it_is,
     {UINT64_C(0x2e86528cec876bd7), UINT64_C(0x3c2df1d8d91fee59), UINT64_C(0x253d1427dae9e41f)},
     false},
    {"transformer, pre-norm",
     HD_TRANSFORMER,
     pre_norm,
     {UINT64_C(0x973106f8247d187c), UINT64_C(0x90d7424ddb5dd248), UINT64_C(0x51ed1f4561db67aa)},
     false},
    {"bahdanau, location-aware",
     HD_BAHDANAU,
     location_aware,
     {UINT64_C(0x47811d71b7500e5b), UINT64_C(0x377b1b5e4252068d), UINT64_C(0x8d7f62f6d2de6bf1)},
     false},
    {"luong, location-aware, ctc",
     HD_LUONG,
     located_with_ctc,
     {UINT64_C(0xc0fa1403de3ffad9), UINT64_C(0x1743e08b7c3e1a49), UINT64_C(0x8693287986bbbcd2)},
     false},
    {"transformer, ctc",
     HD_TRANSFORMER,
     with_ctc,
     {UINT64_C(0xd42d991cbcacb40a), UINT64_C(0x47f303ff75f5c578), UINT64_C(0x6a5dffbd23a6ef72)},
     false},
    {"bahdanau, 8 bits",
     HD_BAHDANAU,
     as_it_is,
     {UINT64_C(0xa3dc33d99cda0885), UINT64_C(0x8af836dfa36d30d1), UINT64_C(0x9822fd8c45bee657)},
     true},
    {"luong, local-p, coverage, 8 bits",
     HD_LUONG,
     local_p,
     {UINT64_C(0xf1b8e7e278297a77), UINT64_C(0xfc3746a946ef3b22), UINT64_C(0x60f84639812818b9)},
     true},
    {"transformer, 8 bits",
     HD_TRANSFORMER,
     as_it_is,
     {UINT64_C(0xebef41f8c52afab1), UINT64_C(0x4c4c1ed4464ca313), UINT64_C(0xa558ce3525d08cf8)},
     true},
    {"transformer, pre-norm, 8 bits",
     HD_TRANSFORMER,
     pre_norm,
     {UINT64_C(0x8091c236c572a7a6), UINT64_C(0xd3b1130c5478cf68), UINT64_C(0x58197f22ee0e11b4)},
     true},
    {"bahdanau, deep transition",
     HD_BAHDANAU,
     deep_transition,
     {UINT64_C(0xb9d9ae64bc6bf344), UINT64_C(0xd9a2b3e8ccaf7601), UINT64_C(0x93d395699f0b63f9)},
     false},
    {"bahdanau, norms",
     HD_BAHDANAU,
     normed,
     {UINT64_C(0x5f97c7a42af11996), UINT64_C(0xc4dce8e040a40e11), UINT64_C(0x33d6fec79862f0dc)},
     false},
    {"bahdanau, split norms, residual",
     HD_BAHDANAU,
     normed_residual,
     {UINT64_C(0x6695e1b2dc1b3b85), UINT64_C(0x541df717fb969aba), UINT64_C(0x5887b60ec7dd04e7)},
     false},
    {"transformer, ssru",
     HD_TRANSFORMER,
     ssru,
     {UINT64_C(0x692ada989d934d58), UINT64_C(0x9f3ba9072e3540f8), UINT64_C(0x12eab46b916b9671)},
     false},
    {"transformer, ssru, 8 bits",
     HD_TRANSFORMER,
     ssru,
     {UINT64_C(0x23f8528a632f153a), UINT64_C(0x5cd4032109291dd1), UINT64_C(0x3caac614ab5a961e)},
     true},
};
enum { N_MODEL_CHECKSUMS = sizeof model_checksums / sizeof *model_checksums };

static inline struct hd_config checksum_config(const struct model_checksum *m)
{
    struct hd_config c = hd_config_preset(m->arch, HD_SIZE_TINY);
    c.source_vocab = c.target_vocab = 21;
    c.dim = 20;
    c.heads = 2;
    c.ffn = 37;
    c.max_positions = 9;
    m->change(&c);
    return c;
}

/* One batch through the net, there and back, on a tape of its own. */
static inline bool checksum_of_net(uint64_t *sum, const struct hd_net *net, hd_tape *t,
                                   float *gradients, uint64_t key)
{
    static const int source[] = {3, 1, 4, 20, 0, 1, 4, 3, 9, 12, 17, 0},
                     source_length[] = {4, 1, 7}, target[] = {2, 0, 3, 1, 4, 19, 4, 8, 4, 0},
                     target_length[] = {2, 5, 3};
    const struct hd_batch batch = {.n = 3,
                                   .source = source,
                                   .source_length = source_length,
                                   .target = target,
                                   .target_length = target_length};
    const struct hd_dropouts dropouts = {
        .embed = 0.1F, .state = 0.2F, .attention = 0.1F, .ffn = 0.3F, .output = 0.2F};
    hd_tape_record(t, true);
    hd_tape_train(t, key);
    const struct hd_memory *memory = hd_encode(net, t, &batch, &dropouts);
    const struct hd_forced *forced = hd_teacher_force(net, t, memory, &batch, &dropouts);
    if (!forced)
        return false;
    const hd_node *logits = hd_logits(&net->head, forced->out);
    hd_node *loss = hd_forced_loss(net, forced, 0.1F);
    loss = hd_with_ctc(net, memory, &batch, &dropouts, loss, NULL);
    if (!hd_backward(loss, gradients))
        return false;
    graph_checksum_add(sum, loss->x, 1);
    graph_checksum_add(sum, logits->x, hd_count(logits));
    graph_checksum_add(sum, gradients, hd_params_size(net->params));
    return isfinite(loss->x[0]);
}

/* By the kernels that were chosen. False, with the reason in `err`, when it cannot be had. */
static inline bool model_checksum(uint64_t *sum, const struct model_checksum *m,
                                  enum checked_precision precision, uint64_t key, heed_error *err)
{
    struct hd_config config = checksum_config(m);
    struct hd_net *net = hd_config_check(&config, err) ? hd_net_new(&config, err) : NULL;
    hd_tape *t = net ? hd_tape_new(err) : NULL;
    float *gradients = t ? calloc(hd_params_size(net->params), sizeof *gradients) : NULL;
    bool is_fine = gradients != NULL;
    *sum = UINT64_C(0xcbf29ce484222325);
    if (is_fine) {
        hd_net_init(net, 1);
        if (precision != CHECKED_F32)
            hd_params_multiply_bf16(net->params, precision == CHECKED_BF16_BLOCKS);
        is_fine = (!m->is_int8 || hd_params_multiply_int8(net->params, err)) &&
                  checksum_of_net(sum, net, t, gradients, key);
        *err = *hd_tape_error(t);
    }
    free(gradients);
    hd_tape_free(t);
    hd_net_free(net);
    return is_fine;
}

#endif
