/* asking.c -- keys and values of rows, made once for all queries that ask them. */
#include "model/asking.h"

#include "graph/tape.h"

void hd_asking_declare(struct hd_asking *a, const struct hd_config *config, hd_params *params,
                       const char *name)
{
    a->config = *config;
    hd_score_declare(&a->score, &a->config, params, name);
}

void hd_asking_init(const struct hd_asking *a, uint64_t seed)
{
    hd_score_init(&a->score, seed);
}

struct hd_view hd_asking_view(const struct hd_asking *a, hd_node *h, const hd_spans *spans)
{
    hd_tape *tape = h->tape;
    struct hd_keys *keys = hd_tape_take(tape, "hd_teacher_force", 1, sizeof *keys);
    struct hd_values *values = hd_tape_take(tape, "hd_teacher_force", 1, sizeof *values);
    struct hd_view view = {.parts = &a->score, .config = &a->config, .spans = spans};
    if (!keys || !values)
        return view;
    *keys = hd_score_keys(&a->score, &a->config, h);
    *values = (struct hd_values){.h = keys->values};
    view.keys = keys;
    view.values = values;
    view.mask = hd_mask_lengths(tape, spans->length, spans->n, spans->longest);
    view.h = hd_ragged(keys->keys, spans);
    return view;
}
