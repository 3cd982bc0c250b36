/* search.c -- the searches of many sentences, and the models that they ask. */
#include "search/search.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "search/check.h"
#include "search/quest.h"

#include <math.h>
#include <string.h>

struct hd_search_options hd_search_options_default(void)
{
    return (struct hd_search_options){.beam = 5,
                                      .n_best = 1,
                                      .norm = HD_LENGTH_POWER,
                                      .alpha = 1,
                                      .top_p = 1,
                                      .temperature = 1,
                                      .n_rows = 64,
                                      .head = -1};
}

void hd_found_release(struct hd_found *found)
{
    for (int i = 0; i < found->n; i++) {
        hd_free(found->best[i].ids);
        hd_free(found->best[i].logprob);
        hd_free(found->best[i].attention);
    }
    hd_free(found->best);
    *found = (struct hd_found){0};
}

/* Words at most. Learned positions end somewhere, and the end marker wants one too. */
static int limit_of(const struct hd_net *const *nets, int n_nets, const struct hd_search_input *in)
{
    int limit = in->max_length;
    for (int i = 0; i < n_nets; i++)
        if (!nets[i]->rnn && nets[i]->config.positions == HD_POSITIONS_LEARNED &&
            nets[i]->config.max_positions - 1 < limit)
            limit = nets[i]->config.max_positions - 1;
    return limit > in->n_prefix ? limit : in->n_prefix;
}

/* ---- the models at work ---------------------------------------------------------------------------------------------------------- */

enum { MAX_NETS = 64 };

struct crew {
    const struct hd_net *const *nets;
    int n_nets;
    hd_tape *once, *step[2];
};

static void crew_release(struct crew *c)
{
    hd_tape_free(c->once);
    hd_tape_free(c->step[0]);
    hd_tape_free(c->step[1]);
}

static bool search_one(struct crew *c, int end, const struct hd_search_input *in,
                       const struct hd_search_options *o, struct hd_found *found, heed_error *err)
{
    struct hd_quest q = {0};
    const int V = c->nets[0]->config.target_vocab, width = o->is_sampled ? o->n_best : o->beam;
    bool is_done = false;
    const struct hd_memory *memory[MAX_NETS];
    struct hd_state state[MAX_NETS];
    int *sentence = hd_alloc((size_t)width, sizeof *sentence, err),
        *index = hd_alloc((size_t)width, sizeof *index, err),
        *previous = hd_alloc((size_t)width, sizeof *previous, err);
    struct hd_outlook *outlooks = hd_alloc((size_t)width, sizeof *outlooks, err);
    const bool looks = o->wants_attention || o->coverage_penalty > 0;
    float *alpha = hd_alloc((size_t)width * (size_t)in->n_source + 1, sizeof *alpha, err),
          *one = hd_alloc((size_t)in->n_source + 1, sizeof *one, err);
    int *last = hd_alloc((size_t)width, sizeof *last, err);
    if (!sentence || !index || !previous || !outlooks || !alpha || !one || !last ||
        !hd_quest_begin(&q, c->step[0]->k, end, V, limit_of(c->nets, c->n_nets, in), in, o, err))
        goto out;
    hd_tape_reset(c->once);
    const struct hd_batch batch = {.n = 1, .source = in->source, .source_length = &in->n_source};
    for (int m = 0; m < c->n_nets; m++) {
        memory[m] = hd_encode(c->nets[m], c->once, &batch, NULL);
        state[m] = memory[m] ? hd_decoder_start(c->nets[m], c->once, memory[m], sentence, 1)
                             : (struct hd_state){0};
    }
    if (hd_has_failed(c->once)) {
        hd_fail(err, hd_tape_error(c->once)->code, "%s", hd_tape_error(c->once)->message);
        goto out;
    }
    for (int t = 0; q.n_open > 0; t++) {
        if (o->keep_on && !o->keep_on(o->keep_on_data)) {
            hd_fail(err, HEED_CANCELLED, "stopped before all was translated");
            goto out;
        }
        hd_tape *tape = c->step[t % 2];
        hd_tape_reset(tape);
        const int B = q.n_open;
        for (int b = 0; b < B; b++) {
            previous[b] = t == 0 ? -1 : q.branches[q.open[b].last].id;
            /* whose state: the row of the parent in the last step */
            index[b] = 0;
            for (int i = 0; t > 0 && i < width; i++)
                if (last[i] == q.branches[q.open[b].last].parent)
                    index[b] = i;
            outlooks[b] = (struct hd_outlook){.alpha = looks ? alpha + b * in->n_source : NULL};
        }
        if (looks)
            memset(alpha, 0, (size_t)B * (size_t)in->n_source * sizeof *alpha);
        hd_node *mean = NULL;
        for (int m = 0; m < c->n_nets; m++) {
            state[m] = hd_state_gather(tape, &state[m], index, B);
            struct hd_stepped now =
                hd_decoder_step(c->nets[m], tape, memory[m], &state[m], sentence, previous, B);
            state[m] = now.state;
            if (hd_has_failed(tape))
                break;
            hd_node *lp = hd_log_softmax(hd_logits(c->nets[m], now.out), NULL);
            mean = mean ? hd_add(mean, lp) : lp;
            for (int b = 0; looks && b < B; b++) {
                if (!hd_weights_of(c->nets[m], &now.seen, b, o->layer, o->head, one)) {
                    hd_fail(err, HEED_BAD_OPTION, "the model has no attention of layer %d, head %d",
                            o->layer, o->head);
                    goto out;
                }
                for (int j = 0; j < in->n_source; j++)
                    alpha[b * in->n_source + j] += one[j] / (float)c->n_nets;
            }
        }
        if (c->n_nets > 1 && !hd_has_failed(tape))
            mean = hd_scale(mean, 1 / (float)c->n_nets);
        if (hd_has_failed(tape)) {
            hd_fail(err, hd_tape_error(tape)->code, "%s", hd_tape_error(tape)->message);
            goto out;
        }
        for (int b = 0; b < width; b++)
            last[b] = b < B ? q.open[b].last : -2;
        for (int b = 0; b < B; b++)
            outlooks[b].x = mean->x + (size_t)b * (size_t)V;
        if (!hd_quest_step(&q, outlooks, err))
            goto out;
    }
    is_done = hd_quest_found(&q, found, err);
out:
    hd_quest_release(&q);
    hd_free(sentence), hd_free(index), hd_free(previous), hd_free(outlooks), hd_free(alpha),
        hd_free(one), hd_free(last);
    return is_done;
}

bool hd_search(const struct hd_net *const *nets, int n_nets, int end,
               const struct hd_search_input *input, size_t n,
               const struct hd_search_options *options, struct hd_found *found, heed_error *err)
{
    for (size_t i = 0; i < n; i++)
        found[i] = (struct hd_found){0};
    if (!hd_check_search(nets, n_nets, end, input, n, options, err))
        return false;
    struct crew c = {.nets = nets,
                     .n_nets = n_nets,
                     .once = hd_tape_new(err),
                     .step = {hd_tape_new(err), hd_tape_new(err)}};
    bool is_done = c.once && c.step[0] && c.step[1];
    for (size_t i = 0; is_done && i < n; i++)
        is_done = search_one(&c, end, &input[i], options, &found[i], err);
    crew_release(&c);
    for (size_t i = 0; !is_done && i < n; i++)
        hd_found_release(&found[i]);
    return is_done;
}
