/* fuzz_model.c -- any bytes at all as a model: one that can be described and run, or a sentence. */
#include "fuzz/fuzz.h"

#include "base/memory.h"
#include "graph/tape.h"
#include "model/model_file.h"

/* Two sentences of the first words there are. */
static void run(const heed_model *m)
{
    static hd_tape *tape;
    const struct hd_config *c = &m->net->config;
    const int x = c->source_vocab - 1, y = c->target_vocab - 1;
    const struct hd_batch batch = {.n = 2,
                                   .source = (const int[]){0, x, 0, x},
                                   .source_length = (const int[]){3, 1},
                                   .target = (const int[]){y, 0, y},
                                   .target_length = (const int[]){1, 2}};
    tape = tape ? tape : hd_tape_new(NULL);
    hd_tape_reset(tape);
    const struct hd_memory *memory = hd_encode(m->net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(m->net, tape, memory, &batch, NULL);
    must((forced != NULL) == (hd_tape_error(tape)->code == HEED_OK));
    must(!forced || hd_count(hd_forced_loss(m->net, forced, 0)) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heed_error err = {0};
    heed_model *m = heed_model_load_memory("fuzz", data, size, &err);
    must((m != NULL) == (err.code == HEED_OK) && (m != NULL) == (err.message[0] == '\0'));
    if (!m)
        return 0;
    for (int i = 0; i < hd_params_number(m->net->params); i++) {
        const hd_node *p = hd_params_at(m->net->params, i);
        float *x = hd_alloc(hd_count(p), sizeof *x, NULL);
        must(x != NULL);
        hd_param_read(p, x);
        must(hd_all_finite(x, hd_count(p), NULL));
        hd_free(x);
    }
    must(hd_vocab_size(m->source) == m->net->config.source_vocab);
    must(hd_vocab_size(m->target) == m->net->config.target_vocab);
    char *text = heed_model_info(m, false, &err), *line = heed_model_info(m, true, &err);
    must(text && line);
    hd_free(text);
    hd_free(line);
    run(m);
    heed_model_free(m);
    return 0;
}
