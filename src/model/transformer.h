/* transformer.h -- the Transformer's parts of a net, called by model.c only. See model.h for what each does. */
#ifndef HD_MODEL_TRANSFORMER_H
#define HD_MODEL_TRANSFORMER_H

#include "model/decoder.h"

/* W x + b */
struct hd_linear_map {
    hd_node *W, *b;
};

struct hd_layer_norm_parts {
    hd_node *gain, *bias;
};

/* Multi-head attention: queries, keys, values, and what joins the heads. */
struct hd_heads {
    struct hd_linear_map q, k, v, o;
    struct hd_layer_norm_parts norm;
};

/* W_2 f(W_1 x + b_1) + b_2 */
struct hd_feed_forward {
    struct hd_linear_map in, out;
    struct hd_layer_norm_parts norm;
};

/* One block; an encoder's has no `cross`. */
struct hd_block {
    struct hd_heads self, cross;
    struct hd_feed_forward ffn;
};

struct hd_transformer_parts {
    struct hd_block *encoder, *decoder; /* [layers] each */
    struct hd_layer_norm_parts encoder_norm,
        decoder_norm; /* after the last block; NULL without final_norm */
    hd_node *source_positions, *target_positions; /* learned: [max,D] */
    float *frequencies;                           /* sin: [D/2] */
};

/* Declare its parameters on net->params; false with the reason in err. The parts are freed with hd_transformer_free(). */
bool hd_transformer_declare(struct hd_net *net, heed_error *err);
void hd_transformer_free(struct hd_transformer_parts *parts);
void hd_transformer_init(struct hd_net *net, uint64_t seed);

/* The embedding part is shared: table lookup, done by the callee from net->source_table and net->target_table. */
bool hd_transformer_encode(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                           const struct hd_dropouts *dropouts, struct hd_memory *memory);
bool hd_transformer_teacher_force(const struct hd_net *net, hd_tape *tape,
                                  const struct hd_memory *memory, const struct hd_batch *batch,
                                  const struct hd_dropouts *dropouts, struct hd_forced *forced);
void hd_transformer_keep(const struct hd_net *net, const struct hd_memory *memory,
                         struct hd_to_cache *kept);
struct hd_stepped hd_transformer_step(struct hd_decoder *decoder, hd_tape *tape,
                                      const struct hd_rows *rows);
#endif
