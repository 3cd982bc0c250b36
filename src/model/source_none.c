/* source_none.c -- no source at all: the decoder is alone, and every sentence has no positions. */
#include "model/model.h"

#include <string.h>

static void declare_none(struct hd_net *net)
{
    (void)net;
}

static void init_none(const struct hd_net *net, uint64_t seed)
{
    (void)net, (void)seed;
}

static hd_node *read_none(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                          struct hd_memory *memory)
{
    (void)net;
    int *nothing = hd_tape_take(tape, "hd_encode", (size_t)batch->n, sizeof *nothing);
    if (nothing)
        memset(nothing, 0, (size_t)batch->n * sizeof *nothing);
    memory->spans = hd_spans_of(tape, nothing, nothing ? batch->n : 0);
    return NULL;
}

const struct hd_source_kind hd_source_none = {declare_none, init_none, read_none};
