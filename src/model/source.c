/* source.c -- the embeddings of source words. */
#include "model/source.h"

#include "model/param.h"

void hd_source_declare(struct hd_source *source, const struct hd_config *c, hd_params *params)
{
    const bool is_shared = c->tie == HD_TIE_SOURCE_TARGET || c->tie == HD_TIE_ALL;
    source->table =
        hd_table_param(params, is_shared ? "embed" : "source.embed", c->source_vocab, c->embed);
}

void hd_source_init(const struct hd_source *source, uint64_t seed)
{
    hd_init_normal(source->table, 1 / __builtin_sqrtf((float)source->table->dim[1]), seed);
}

hd_node *hd_source_embed(const struct hd_source *source, hd_tape *tape,
                         const struct hd_batch *batch, int n)
{
    return hd_rows(hd_on(tape, source->table), batch->source, n);
}
