/* rnn.c -- the recurrent encoder–decoder as a whole: encode once, then run whole targets (teacher forcing) or search step by step.
 *
 * Teacher forcing sorts the sentences by target length, longest first, so that at step t those still running are the first rows;
 * whatever is not recurrent is done for all steps at once, before the loop (embeddings and their maps) or after it (the
 * readout). A step is the same function in both: hd_rnn_decoder_step. */
#include "base/memory.h"
#include "base/rng.h"

#include "graph/guide.h"
#include "graph/tape.h"
#include "model/architecture.h"
#include "model/placement.h"

#include <limits.h>
#include <string.h>

static bool declare_recurrent(struct hd_net *net, heed_error *err)
{
    struct hd_rnn_parts *p = net->parts = hd_new(struct hd_rnn_parts, err);
    if (!p)
        return false;
    if (hd_config_has_encoder(&net->config))
        hd_encoder_declare(&p->encoder, &net->config, net->params, "encoder", net->config.embed);
    if (!hd_config_has_decoder(&net->config))
        return true;
    hd_rnn_decoder_declare(&p->decoder, &net->config, net->params);
    hd_score_declare(&p->score, &net->config, net->params, "attention");
    hd_start_declare(&p->start, &net->config, net->params);
    hd_readout_declare(&p->readout, &net->config, net->params);
    return true;
}

static void init_recurrent(struct hd_net *net, uint64_t seed)
{
    const struct hd_rnn_parts *p = net->parts;
    if (hd_config_has_encoder(&net->config))
        hd_encoder_init(&p->encoder, seed);
    if (!hd_config_has_decoder(&net->config))
        return;
    hd_rnn_decoder_init(&p->decoder, seed);
    hd_score_init(&p->score, seed);
    hd_start_init(&p->start, seed);
    hd_readout_init(&p->readout, seed);
}

/* ---- once per sentence --------------------------------------------------------------------------------------------------- */

/* The maps that contexts go through: of the cell that takes the context, of the readout. Multi-head attention makes contexts
 * that have been mapped already. */
static int context_maps(const struct hd_rnn_parts *p, const struct hd_config *c,
                        hd_node *maps[HD_MAX_VALUE_MAPS])
{
    hd_node *C = p->decoder.second_C ? p->decoder.second_C : p->decoder.C;
    int n = 0;
    if (c->context == HD_CONTEXT_FIRST || c->score == HD_SCORE_MULTI_HEAD)
        return 0;
    if (C)
        maps[n++] = C;
    if (p->readout.c)
        maps[n++] = p->readout.c;
    return n;
}

/* What a decoder reads of the states, once per sentence. */
static void remember(const struct hd_rnn_parts *p, const struct hd_config *c,
                     const struct hd_encoded *e, const struct hd_memory *memory,
                     const struct hd_dropouts *dropouts, struct hd_rnn_memory *m)
{
    if (c->context == HD_CONTEXT_ATTENTION) {
        m->keys = hd_score_keys(&p->score, c, hd_dropout(e->h, dropouts->state));
        m->values.h = m->keys.values;
    }
    hd_node *last = e->last[c->encoder_layers - 1];
    if (c->context == HD_CONTEXT_EVERY)
        m->values.h = c->cell == HD_LSTM ? hd_part(last, 0, hd_encoder_width(c)) : last;
    hd_node *maps[HD_MAX_VALUE_MAPS];
    for (int i = 0, n = context_maps(p, c, maps); i < n; i++)
        hd_values_map(&m->values, maps[i]); /* C h_j, readout.c h_j */
    for (int l = 0; l < c->decoder_layers; l++)
        m->start[l] = hd_start_state(&p->start, c, e, memory->spans, l);
}

/* Without a source the decoder starts from zeros. */
static void start_alone(const struct hd_config *c, hd_tape *tape, int n, struct hd_rnn_memory *m)
{
    for (int l = 0; l < c->decoder_layers; l++)
        m->start[l] = hd_input(tape, NULL, n, c->cell == HD_LSTM ? 2 * c->dim : c->dim);
}

static bool encode_recurrent(const struct hd_net *net, hd_tape *tape, hd_node *x,
                             const struct hd_dropouts *dropouts, struct hd_memory *memory)
{
    const struct hd_config *c = &net->config;
    const struct hd_rnn_parts *p = net->parts;
    struct hd_rnn_memory *m = hd_tape_take(tape, "hd_encode", 1, sizeof *m);
    if (!m)
        return false;
    *m = (struct hd_rnn_memory){0};
    memory->of_arch = m;
    if (!x) {
        start_alone(c, tape, memory->spans->n, m);
        return !hd_has_failed(tape);
    }
    const struct hd_encoded e = hd_encoder_run(&p->encoder, hd_dropout(x, dropouts->embed),
                                               &memory->spans, dropouts->state);
    memory->h = e.h;
    if (hd_config_has_decoder(c))
        remember(p, c, &e, memory, dropouts, m);
    return !hd_has_failed(tape);
}

/* The parts of a memory that a step reads, those with a row per source position and those with a row per sentence. */
struct memory_parts {
    int n_positions, n_sentences;
    hd_node **positions[HD_MAX_CACHES], **sentences[HD_MAX_CACHES];
};

static struct memory_parts parts_of(const struct hd_config *c, struct hd_rnn_memory *m)
{
    struct memory_parts p = {0};
    for (int i = 0; i < m->values.n_maps; i++)
        if (c->context == HD_CONTEXT_EVERY)
            p.sentences[p.n_sentences++] = &m->values.Wh[i];
        else
            p.positions[p.n_positions++] = &m->values.Wh[i];
    if (c->context == HD_CONTEXT_ATTENTION)
        p.positions[p.n_positions++] = &m->keys.keys;
    if (c->score == HD_SCORE_MULTI_HEAD) /* of the others only what the maps make of the values */
        p.positions[p.n_positions++] = &m->keys.values;
    for (int l = 0; l < c->decoder_layers; l++)
        p.sentences[p.n_sentences++] = &m->start[l];
    return p;
}

/* The memory seen from another tape. */
static struct hd_rnn_memory memory_on(const struct hd_config *c, hd_tape *tape,
                                      const struct hd_memory *memory)
{
    struct hd_rnn_memory m = *(const struct hd_rnn_memory *)memory->of_arch;
    const struct memory_parts p = parts_of(c, &m);
    for (int i = 0; i < p.n_positions; i++)
        *p.positions[i] = hd_on(tape, *p.positions[i]);
    for (int i = 0; i < p.n_sentences; i++)
        *p.sentences[i] = hd_on(tape, *p.sentences[i]);
    m.values.h = NULL; /* its maps are enough */
    return m;
}

/* What B decoder rows attend to: row b to the source of sentence[b]. */
static struct hd_view view_of(const struct hd_net *net, hd_tape *tape,
                              const struct hd_rnn_memory *m, const hd_spans *source,
                              const int *sentence, int B)
{
    const struct hd_rnn_parts *p = net->parts;
    int *start = hd_tape_take(tape, "hd_decode", 2 * (size_t)B, sizeof *start);
    if (!start)
        return (struct hd_view){.spans = source};
    for (int b = 0; b < B; b++) {
        start[b] = source->start[sentence[b]];
        start[B + b] = source->length[sentence[b]];
    }
    const hd_spans *spans = hd_spans_at(tape, start, start + B, B);
    return (struct hd_view){.parts = &p->score,
                            .config = &net->config,
                            .spans = spans,
                            .mask = hd_mask_lengths(tape, start + B, B, spans->longest),
                            .h = m->keys.keys ? hd_ragged(m->keys.keys, spans) : NULL,
                            .keys = &m->keys,
                            .values = &m->values};
}

static struct hd_rnn_decoder_state first_state(const struct hd_config *c, hd_tape *tape,
                                               const struct hd_rnn_memory *m, int longest,
                                               const int *sentence, int B)
{
    struct hd_rnn_decoder_state s = {0};
    for (int l = 0; l < c->decoder_layers; l++)
        s.layer[l] = hd_rows(m->start[l], sentence, B);
    if (c->input_feeding)
        s.fed = hd_input(tape, NULL, B, c->dim);
    if (c->coverage)
        s.cover = hd_input(tape, NULL, B, longest);
    if (c->score == HD_SCORE_LOCATION_AWARE)
        s.alpha = hd_input(tape, NULL, B, longest);
    return s;
}

/* E y_{t-1}; -1 is a row of zeros. */
static hd_node *embed_previous(const struct hd_net *net, hd_tape *tape, const int *ids, int n)
{
    return hd_rows(hd_on(tape, net->target_table), ids, n);
}

/* The decoder's first state; of a model that sees it in every step the encoder's last. */
const float *hd_memory_vector(const struct hd_net *net, const struct hd_memory *memory, int i,
                              int *n)
{
    *n = 0;
    if (net->architecture != &hd_recurrent || net->config.context == HD_CONTEXT_ATTENTION)
        return NULL;
    const hd_node *start = ((const struct hd_rnn_memory *)memory->of_arch)->start[0];
    *n = hd_width(start);
    return start->x + (size_t)i * (size_t)*n;
}

/* Heads of the nodes that attend; 0 where they are weights themselves. */
static int n_heads_of(const struct hd_config *c)
{
    return c->score == HD_SCORE_MULTI_HEAD ? c->heads : 0;
}

/* ---- teacher forcing ------------------------------------------------------------------------------------------------------------- */

/* Rows time by time: at step t the n_running[t] sentences longer than t, in `order`. */
struct time_steps {
    int n_steps, n_rows;
    int *order;                                                    /* [n] */
    int *n_running;                                                /* [n_steps] */
    int *target, *previous, *sentence, *position, *query, *n_keys; /* [n_rows] */
};

static bool make_time_steps(hd_tape *t, const struct hd_batch *b, const hd_spans *source,
                            int target_start, struct time_steps *l)
{
    const char *op = "hd_teacher_force";
    const hd_spans *spans = hd_spans_of(t, b->target_length, b->n);
    const size_t rows = (size_t)spans->total, n = (size_t)b->n;
    l->n_steps = spans->longest;
    l->n_rows = spans->total;
    l->order = hd_tape_take(t, op, n, sizeof(int));
    l->n_running = hd_tape_take(t, op, (size_t)spans->longest, sizeof(int));
    int *of_rows = hd_tape_take(t, op, 6 * rows, sizeof(int));
    if (!l->order || !l->n_running || !of_rows)
        return false;
    l->target = of_rows;
    l->previous = of_rows + rows;
    l->sentence = of_rows + 2 * rows;
    l->position = of_rows + 3 * rows;
    l->query = of_rows + 4 * rows;
    l->n_keys = of_rows + 5 * rows;
    const int *seen = b->target_seen ? b->target_seen : b->target;
    int n_sorted = 0; /* longest first, equal ones in their own order */
    for (int length = spans->longest; length >= 0; length--)
        for (int i = 0; i < b->n; i++)
            if (spans->length[i] == length)
                l->order[n_sorted++] = i;
    for (int step = 0, r = 0; step < l->n_steps; step++) {
        int running = 0;
        for (; running < b->n && spans->length[l->order[running]] > step; running++, r++) {
            const int i = l->order[running], at = spans->start[i] + step;
            l->target[r] = b->target[at];
            l->previous[r] = step > 0 ? seen[at - 1] : target_start;
            l->sentence[r] = i;
            l->position[r] = step;
            l->query[r] = running;
            l->n_keys[r] = source->length[i];
        }
        l->n_running[step] = running;
    }
    return true;
}

/* The first n rows of everything: those of the sentences still running. */
static struct hd_rnn_decoder_state shrink(const struct hd_rnn_decoder_state *s, int n_layers, int n)
{
    struct hd_rnn_decoder_state now = *s;
    if (s->layer[0]->dim[0] == n)
        return now;
    for (int l = 0; l < n_layers; l++)
        now.layer[l] = hd_slice(s->layer[l], 0, n);
    now.fed = s->fed ? hd_slice(s->fed, 0, n) : NULL;
    now.cover = s->cover ? hd_slice(s->cover, 0, n) : NULL;
    now.alpha = s->alpha ? hd_slice(s->alpha, 0, n) : NULL;
    return now;
}

/* Earlier α, or their sum, may be wider than the longest sentence still running. */
static hd_node *fit(hd_node *alpha, int width)
{
    return alpha && hd_width(alpha) > width ? hd_part(alpha, 0, width) : alpha;
}

/* What layer 1 and the readout read of the words before: W E y_{t-1} + b; NULL where the readout reads none. */
struct reading {
    hd_node *Wy, *readout_y;
};

static struct reading read_previous(const struct hd_net *net, hd_tape *tape, const int *ids, int n,
                                    const struct hd_dropouts *dropouts)
{
    const struct hd_rnn_parts *p = net->parts;
    hd_node *y = hd_dropout(embed_previous(net, tape, ids, n), dropouts->embed);
    struct reading r = {.Wy = hd_affine(p->decoder.W[0], p->decoder.b[0], y)};
    r.readout_y = hd_readout_y(&p->readout, y);
    return r;
}

/* A word drawn from softmax(logits), u in [0, 1). */
static int draw_word(const struct hd_kernels *k, const float *logits, float *p, int n, float u)
{
    double left = (double)u;
    int last = 0;
    k->softmax(p, logits, NULL, n);
    for (int v = 0; v < n; v++) {
        if (p[v] > 0 && left < (double)p[v])
            return v;
        last = p[v] > 0 ? v : last; /* should rounding leave something over */
        left -= (double)p[v];
    }
    return last;
}

/* Scheduled sampling, Bengio et al. (2015), section 2.4: some rows of the next step are shown, instead of the target's word, one that is
 * drawn from what the model says now. What is drawn is a constant on the way back. */
static void show_own(const struct hd_net *net, hd_tape *tape, const struct hd_step *step,
                     const struct reading *read, int *next, int n_next, float share,
                     const struct hd_rng *rng, uint64_t row)
{
    const struct hd_rnn_parts *p = net->parts;
    const bool was_recording = tape->is_recording;
    const int V = net->config.target_vocab;
    hd_tape_record(tape, false);
    hd_node *out = step->attended ? step->attended
                                  : hd_readout(&p->readout, &net->config, step->readout_s,
                                               read->readout_y, step->readout_c);
    const hd_node *logits = hd_logits(&net->head, hd_slice(out, 0, n_next));
    hd_tape_record(tape, was_recording);
    float *chances = hd_tape_take(tape, "hd_teacher_force", (size_t)V, sizeof *chances);
    for (int b = 0; chances && !hd_has_failed(tape) && b < n_next; b++) {
        const uint64_t at = 2 * (row + (uint64_t)b);
        if (hd_uniform_of(hd_rng_u32_at(rng, at)) < share)
            next[b] = draw_word(tape->k, logits->x + (size_t)b * (size_t)V, chances, V,
                                hd_uniform_of(hd_rng_u32_at(rng, at + 1)));
    }
}

static bool force_recurrent(const struct hd_net *net, hd_tape *tape, const struct hd_memory *memory,
                            const struct hd_batch *batch, const struct hd_dropouts *dropouts,
                            struct hd_forced *forced)
{
    const char *op = "hd_teacher_force";
    const struct hd_config *c = &net->config;
    const struct hd_rnn_parts *p = net->parts;
    struct time_steps l;
    if (!make_time_steps(tape, batch, memory->spans, c->target_start, &l))
        return false;
    const size_t steps = (size_t)l.n_steps;
    hd_node **pieces = hd_tape_take(tape, op, 6 * (steps + 1), sizeof *pieces);
    if (!pieces)
        return false;
    hd_node **s = pieces, **r_c = pieces + steps + 1, **attended = pieces + 2 * (steps + 1),
            **nodes = pieces + 3 * (steps + 1), **scores = pieces + 4 * (steps + 1),
            **readout_y = pieces + 5 * (steps + 1);
    const struct hd_rnn_memory m = memory_on(c, tape, memory);
    /* All steps at once, unless a step's words are only known after the one before. */
    const bool shows_own = dropouts->own > 0 && tape->is_training;
    const struct hd_rng rng = {.key = tape->key, .stream = ~tape->n_dropouts};
    struct reading all = {0};
    if (!shows_own)
        all = read_previous(net, tape, l.previous, l.n_rows, dropouts);
    struct hd_rnn_decoder_state state =
        first_state(c, tape, &m, memory->spans->longest, l.order, batch->n);
    struct hd_view view = {0};
    struct hd_step step = {0};
    for (int t = 0, from = 0; t < l.n_steps && !hd_has_failed(tape); from += l.n_running[t++]) {
        const int n = l.n_running[t];
        state = shrink(&state, c->decoder_layers, n);
        if (t == 0 || n != l.n_running[t - 1])
            view = view_of(net, tape, &m, memory->spans, l.order, n);
        state.cover = fit(state.cover, view.spans->longest);
        state.alpha = fit(state.alpha, view.spans->longest);
        view.length = l.position + from;
        const struct reading read = shows_own
                                        ? read_previous(net, tape, l.previous + from, n, dropouts)
                                        : (struct reading){.Wy = hd_slice(all.Wy, from, n)};
        step = (struct hd_step){.view = view, .sentence = l.order, .Wy = read.Wy};
        state = hd_rnn_decoder_step(p, c, &state, &step);
        s[t] = step.readout_s;
        r_c[t] = step.readout_c;
        attended[t] = step.attended;
        nodes[t] = step.attended_by;
        scores[t] = step.scored_by;
        readout_y[t] = read.readout_y;
        if (shows_own && t + 1 < l.n_steps)
            show_own(net, tape, &step, &read, l.previous + from + n, l.n_running[t + 1],
                     dropouts->own, &rng, (uint64_t)from);
    }
    if (hd_has_failed(tape) || l.n_steps == 0)
        return !hd_has_failed(tape);
    hd_node *out;
    if (step.attended) {
        out = hd_pile(attended, l.n_steps);
    } else {
        hd_node *all_s = hd_pile(s, l.n_steps);
        hd_node *all_c = step.readout_c ? hd_pile(r_c, l.n_steps) : NULL;
        if (shows_own && p->readout.y)
            all.readout_y = hd_pile(readout_y, l.n_steps);
        out = hd_readout(&p->readout, c, all_s, all.readout_y, all_c);
    }
    *forced = (struct hd_forced){.n_rows = l.n_rows,
                                 .out = hd_dropout(out, dropouts->output),
                                 .target = l.target,
                                 .sentence = l.sentence,
                                 .position = l.position,
                                 .previous = l.previous};
    if (step.attended_by)
        forced->cross = hd_weights_by_step(nodes, n_heads_of(c), l.position, l.query, l.n_keys);
    forced->cross.scores = scores;
    return !hd_has_failed(tape);
}

/* ---- search --------------------------------------------------------------------------------------------------------------- */

static void cache_recurrent(const struct hd_net *net, const struct hd_memory *memory,
                            struct hd_to_cache *kept)
{
    struct hd_rnn_memory m = *(const struct hd_rnn_memory *)memory->of_arch;
    const struct memory_parts p = parts_of(&net->config, &m);
    *kept = (struct hd_to_cache){.n_positions = p.n_positions, .n_sentences = p.n_sentences};
    for (int i = 0; i < p.n_positions; i++)
        kept->positions[i] = *p.positions[i];
    for (int i = 0; i < p.n_sentences; i++)
        kept->sentences[i] = *p.sentences[i];
}

/* The memories of all sentences under way as one. */
static struct hd_rnn_memory kept_memory(const struct hd_decoder *d, hd_tape *tape)
{
    const struct hd_config *c = &d->net->config;
    struct hd_rnn_memory m = {0};
    m.values.n_maps = context_maps(d->net->parts, c, m.values.W);
    const struct memory_parts p = parts_of(c, &m);
    for (int i = 0; i < p.n_positions; i++)
        *p.positions[i] = hd_cache_node(tape, &d->positions[i]);
    for (int i = 0; i < p.n_sentences; i++)
        *p.sentences[i] = hd_cache_node(tape, &d->sentences[i]);
    return m;
}

/* The decoder's state as a list: layers, then h̃, then coverage and the last weights. Returns how many. */
static int list_state(const struct hd_config *c, struct hd_rnn_decoder_state *s,
                      hd_node **list[HD_MAX_CACHES])
{
    int n = 0;
    for (int l = 0; l < c->decoder_layers; l++)
        list[n++] = &s->layer[l];
    if (c->input_feeding)
        list[n++] = &s->fed;
    if (c->coverage)
        list[n++] = &s->cover;
    if (c->score == HD_SCORE_LOCATION_AWARE)
        list[n++] = &s->alpha;
    return n;
}

/* The state of every row: that of its last slot, or the first of all, which is in `first` already. */
static void recall(const struct hd_decoder *d, const struct hd_step_rows *rows,
                   struct hd_rnn_decoder_state *first)
{
    hd_node **list[HD_MAX_CACHES];
    const int n = list_state(&d->net->config, first, list);
    for (int i = 0; i < n && !hd_has_failed((*list[i])->tape); i++) {
        const struct hd_cache *cache = &d->words[i];
        const int width = hd_width(*list[i]), wide = width < cache->width ? width : cache->width;
        const int *past = rows->past;
        for (int b = 0; b < rows->n; past += rows->length[b++])
            if (rows->length[b] > 0)
                memcpy((*list[i])->x + (size_t)b * (size_t)width,
                       cache->x + (size_t)past[rows->length[b] - 1] * (size_t)cache->width,
                       (size_t)wide * sizeof(float));
    }
}

static struct hd_stepped step_recurrent(struct hd_decoder *d, hd_tape *tape,
                                        const struct hd_step_rows *rows)
{
    const struct hd_net *net = d->net;
    const struct hd_config *c = &net->config;
    const struct hd_rnn_parts *p = net->parts;
    const int B = rows->n;
    int *ids = hd_tape_take(tape, "hd_decode", (size_t)B, sizeof *ids);
    if (!ids)
        return (struct hd_stepped){0};
    for (int b = 0; b < B; b++)
        ids[b] = rows->previous[b] < 0 ? c->target_start : rows->previous[b];
    const struct hd_rnn_memory m = kept_memory(d, tape);
    struct hd_step step = {.sentence = rows->entry};
    step.view = view_of(net, tape, &m, &d->entries, rows->entry, B);
    step.view.length = rows->length;
    step.view.looks = rows->looks;
    struct hd_rnn_decoder_state before =
        first_state(c, tape, &m, step.view.spans->longest, rows->entry, B);
    recall(d, rows, &before);
    hd_node *y = embed_previous(net, tape, ids, B);
    step.Wy = hd_affine(p->decoder.W[0], p->decoder.b[0], y);
    struct hd_rnn_decoder_state now = hd_rnn_decoder_step(p, c, &before, &step);
    hd_node *out = step.attended;
    if (!out) {
        hd_node *readout_y = hd_readout_y(&p->readout, y);
        out = hd_readout(&p->readout, c, step.readout_s, readout_y, step.readout_c);
    }
    if (hd_has_failed(tape))
        return (struct hd_stepped){0};
    hd_node **list[HD_MAX_CACHES];
    for (int i = list_state(c, &now, list) - 1; i >= 0; i--)
        hd_cache_put(&d->words[i], *list[i], rows->slot);
    return (struct hd_stepped){
        .out = out,
        .cross = hd_weights_of_one(tape, step.attended_by, n_heads_of(c), step.view.spans)};
}

/* ---- the architecture -------------------------------------------------------------------------------------------------------- */

static int max_target_of_recurrent(const struct hd_config *config)
{
    (void)config;
    return INT_MAX;
}

const struct hd_architecture hd_recurrent = {.declare = declare_recurrent,
                                             .free = hd_free,
                                             .init = init_recurrent,
                                             .output_width = hd_readout_width,
                                             .max_target = max_target_of_recurrent,
                                             .encode = encode_recurrent,
                                             .teacher_force = force_recurrent,
                                             .cache = cache_recurrent,
                                             .step = step_recurrent};
