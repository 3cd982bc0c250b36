/* rnn.h -- the recurrent encoder–decoders' parts of a net, called by model.c only. See model.h for what each does. */
#ifndef HD_MODEL_RNN_H
#define HD_MODEL_RNN_H

#include "model/decoder.h"

bool hd_rnn_declare(struct hd_net *net, heed_error *err);
void hd_rnn_free(struct hd_rnn_parts *parts);
void hd_rnn_init(struct hd_net *net, uint64_t seed);

bool hd_rnn_encode(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                   const struct hd_dropouts *dropouts, struct hd_memory *memory);
bool hd_rnn_teacher_force(const struct hd_net *net, hd_tape *tape, const struct hd_memory *memory,
                          const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                          struct hd_forced *forced);
void hd_rnn_keep(const struct hd_net *net, const struct hd_memory *memory,
                 struct hd_to_cache *kept);
struct hd_stepped hd_rnn_step(struct hd_decoder *decoder, hd_tape *tape,
                              const struct hd_rows *rows);
#endif
