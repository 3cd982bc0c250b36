/* test_neighbours.c -- nearest neighbours: the formula, and that remembered steps are the very steps of a search. */
#include "search/toy.h"

#include "base/real.h"
#include "kernel/kernel.h"
#include "search/neighbours.h"

#include <math.h>

enum { WORDS = 11, WIDTH = 7, STEPS = 9 };

static struct hd_steps made_up(uint64_t seed)
{
    struct hd_rng rng = {.key = seed};
    struct hd_steps s = {.n = STEPS,
                         .width = WIDTH,
                         .next = calloc(STEPS, sizeof(int)),
                         .states = calloc(STEPS * WIDTH, sizeof(float)),
                         .square = calloc(STEPS, sizeof(double))};
    for (int i = 0; i < STEPS; i++) {
        s.next[i] = (int)hd_rng_below(&rng, WORDS);
        for (int j = 0; j < WIDTH; j++) {
            const float x = (float)hd_rng_below(&rng, 1000) / 500 - 1;
            s.states[i * WIDTH + j] = x;
            s.square[i] += (double)x * (double)x;
        }
    }
    return s;
}

static void free_made_up(struct hd_steps *s)
{
    free(s->next);
    free(s->states);
    free(s->square);
}

/* p(w) as the formula has it, with a list of all distances. */
static void expect_p(double *p, const struct hd_neighbours *q, const float *state, const float *x)
{
    double sum = 0, variance = 0, mean[WIDTH] = {0}, distance[2 * STEPS], said[WORDS] = {0};
    int n = 0;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < STEPS; i++)
            for (int j = 0; j < WIDTH; j++)
                mean[j] += (double)q->sentences[s]->states[i * WIDTH + j] / (2 * STEPS);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < STEPS; i++, n++) {
            distance[n] = 0;
            for (int j = 0; j < WIDTH; j++) {
                const double key = (double)q->sentences[s]->states[i * WIDTH + j];
                distance[n] += (key - (double)state[j]) * (key - (double)state[j]);
                variance += (key - mean[j]) * (key - mean[j]) / (2 * STEPS);
            }
        }
    bool is_taken[2 * STEPS] = {false};
    double all = 0, first = 0;
    for (int k = 0; k < q->k; k++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (!is_taken[i] && (best < 0 || distance[i] < distance[best]))
                best = i;
        is_taken[best] = true;
        first = k == 0 ? distance[best] / variance : first;
        const double weight = exp(-distance[best] / variance / q->temperature);
        said[q->sentences[best / STEPS]->next[best % STEPS]] += weight;
        all += weight;
    }
    const double share = q->share * fmax(0, 1 - first / q->reach);
    for (int w = 0; w < WORDS; w++)
        sum += exp((double)x[w]);
    for (int w = 0; w < WORDS; w++)
        p[w] = (1 - share) * exp((double)x[w]) / sum + share * said[w] / all;
}

static void what_neighbours_say_is_mixed_as_the_formula_has_it(void **state)
{
    (void)state;
    struct hd_steps steps[2] = {made_up(1), made_up(2)};
    const struct hd_steps *sentences[] = {&steps[0], &steps[1]};
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    const int width = WIDTH;
    for (int trial = 0; trial < 60; trial++) {
        struct hd_neighbours q = {.sentences = sentences,
                                  .n_sentences = 2,
                                  .k = 1 + trial % 12,
                                  .unknown = -1,
                                  .share = 0.1 + 0.1 * (trial % 9),
                                  .temperature = 0.05 + 0.1 * (trial % 7),
                                  .reach = trial % 5 == 0 ? 1e-3 : 3};
        struct hd_rng rng = {.key = (uint64_t)trial + 7};
        float s[WIDTH], x[WORDS], value[WORDS];
        double wanted[WORDS];
        int top[WORDS];
        assert_true(hd_neighbours_prepare(&q, NULL));
        for (int j = 0; j < WIDTH; j++)
            s[j] = (float)hd_rng_below(&rng, 1000) / 500 - 1;
        for (int w = 0; w < WORDS; w++)
            x[w] = (float)hd_rng_below(&rng, 1000) / 100 - 5;
        expect_p(wanted, &q, s, x);
        struct hd_next_scores o = {.x = x, .n_top = 4, .top = top, .top_value = value};
        o.log_sum = k->log_sum(&o.largest, top, value, x, WORDS, 4);
        const float *states = s;
        hd_neighbours_mix(&q, k, &states, &width, 1, &o, top, value);
        for (int w = 0; w < WORDS; w++) {
            const double p = exp(((double)x[w] - (double)o.largest) - (double)o.log_sum);
            assert_that(fabs(p - wanted[w]) < 1e-5, "trial %d, word %d: %.7f instead of %.7f",
                        trial, w, p, wanted[w]);
        }
        int sorted[4];
        float sorted_value[4];
        k->top_k(sorted, sorted_value, x, WORDS, 4);
        assert_memory_equal(sorted, top, sizeof sorted);
        assert_memory_equal(sorted_value, value, sizeof sorted_value);
    }
    free_made_up(&steps[0]);
    free_made_up(&steps[1]);
}

/* A net that would say something else says what is remembered, since all of its steps are those of the search, bit for bit. */
static void a_remembered_sentence_is_said_again(void **state)
{
    (void)state;
    static const int said[] = {3, 1, 4, 1, 5, 9, 2, 6};
    for (size_t p = 0; p < sizeof toy_presets / sizeof *toy_presets; p++)
        for (int n_nets = 1; n_nets <= 2; n_nets++) {
            struct hd_net *nets[] = {toy_net(toy_presets[p], WORDS, 0.5F, 3),
                                     toy_net(toy_presets[p], WORDS, 0.5F, 4)};
            struct toy_text *text = toy_text(3, 20, 5);
            struct hd_search_input remembered = text->input[1];
            struct hd_steps steps;
            heed_error err = {0};
            remembered.prefix = (struct hd_sequence){.ids = said, .n = 8};
            struct hd_step_recorder *recorder = hd_step_recorder_new(&err);
            assert_that(hd_steps_record(recorder, (const struct hd_net *const *)nets, n_nets, END,
                                        &remembered, 1, &steps, &err),
                        "%s", err.message);
            hd_step_recorder_free(recorder);
            const struct hd_steps *sentences[] = {&steps};
            struct hd_neighbours q = {.sentences = sentences,
                                      .n_sentences = 1,
                                      .k = 1,
                                      .unknown = -1,
                                      .share = 0.999,
                                      .temperature = 0.1,
                                      .reach = 1e-4};
            assert_true(hd_neighbours_prepare(&q, NULL));
            text->input[1].neighbours = &q;
            struct hd_search_options o = hd_search_options_default();
            o.norm = HD_LENGTH_NONE;
            struct hd_nbest found[3];
            search_toys((const struct hd_net *const *)nets, n_nets, text->input, 3, &o, found,
                        toy_presets[p]);
            const struct hd_hypothesis *best = &found[1].best[0];
            assert_that(best->n == 8 && memcmp(best->ids, said, sizeof said) == 0,
                        "%s, %d nets: %d words", toy_presets[p], n_nets, best->n);
            assert_true(best->total > -0.1);
            for (int i = 0; i < 3; i++)
                hd_nbest_release(&found[i]);
            hd_steps_release(&steps);
            free(text);
            hd_net_free(nets[0]);
            hd_net_free(nets[1]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_neighbours_say_is_mixed_as_the_formula_has_it),
        cmocka_unit_test(a_remembered_sentence_is_said_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
