/* source_text.c -- words as a source: their embeddings. */
#include "model/model.h"
#include "model/param.h"

static void declare_text(struct hd_net *net)
{
    const struct hd_config *c = &net->config;
    const bool is_shared = c->tie == HD_TIE_SOURCE_TARGET || c->tie == HD_TIE_ALL;
    net->source.table = hd_table_param(net->params, is_shared ? "embed" : "source.embed",
                                       c->source_vocab, c->embed);
}

static void init_text(const struct hd_net *net, uint64_t seed)
{
    hd_node *table = net->source.table;
    hd_init_normal(table, 1 / __builtin_sqrtf((float)table->dim[1]), seed);
}

static hd_node *read_text(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                          struct hd_memory *memory)
{
    memory->spans = hd_spans_of(tape, batch->source_length, batch->n);
    return hd_rows(hd_on(tape, net->source.table), batch->source, memory->spans->total);
}

const struct hd_source_kind hd_source_text = {declare_text, init_text, read_text};
