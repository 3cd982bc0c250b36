/* test_bits.c -- what must not change one bit of a result: packing, recording, the second run,
 * neighbours in the batch, and where the products of a weight's gradient are cut. */
#include "test.h"

#include "base/rng.h"
#include "formula.h"
#include <heed_graph.h>
#include <pthread.h>

static const int some_lengths[] = {3, 0, 5, 1};

static hd_tape *new_tape(bool record)
{
    heed_error err = {0};
    hd_tape *t = hd_tape_new(&err);
    assert_that(t != NULL, "%s", err.message);
    hd_tape_record(t, record);
    return t;
}

static struct formula new_formula(int B, const int *lengths, int D)
{
    struct formula f;
    heed_error err = {0};
    assert_that(formula_make(&f, B, lengths, D, &err), "%s", err.message);
    return f;
}

/* The loss, and behind it the gradients of all parameters. */
static float *loss_and_gradients(const struct formula *f)
{
    hd_tape *t = new_tape(true);
    hd_tape_train(t, 12);
    float *out = calloc(hd_params_size(f->params) + 1, sizeof *out);
    hd_node *loss = formula_loss(t, f);
    const bool is_done = hd_backward(loss, out + 1);
    assert_that(is_done, "%s", hd_tape_error(t)->message);
    out[0] = loss->x[0];
    hd_tape_free(t);
    return out;
}

static void assert_same_bits(const char *what, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_that(memcmp(a + i, b + i, sizeof *a) == 0, "%s, number %zu of %zu: %.9g and %.9g",
                    what, i, n, (double)a[i], (double)b[i]);
}

static void every_run_has_the_same_bits_packed_or_not(void **state)
{
    (void)state;
    heed_error err = {0};
    struct formula f = new_formula(4, some_lengths, 18);
    const size_t n = hd_params_size(f.params) + 1;
    float *first = loss_and_gradients(&f), *second = loss_and_gradients(&f);
    assert_same_bits("a second run", first, second, n);
    free(second);
    assert_true(hd_params_pack(f.params, &err));
    second = loss_and_gradients(&f);
    assert_same_bits("packed", first, second, n);
    free(second);
    hd_params_changed(f.params);
    second = loss_and_gradients(&f);
    assert_same_bits("packed copies dropped", first, second, n);
    free(second);
    free(first);
    formula_free(&f);
}

static void changed_parameters_are_not_read_from_old_packed_copies(void **state)
{
    (void)state;
    heed_error err = {0};
    struct formula f = new_formula(4, some_lengths, 18);
    free(loss_and_gradients(&f));
    assert_true(hd_params_pack(f.params, &err));
    hd_init_uniform(f.W, 0.5F, 99);            /* by init */
    for (size_t i = 0; i < hd_count(f.U); i++) /* by hand */
        f.U->x[i] *= 2;
    hd_params_changed(f.params);
    float *unpacked = loss_and_gradients(&f);
    assert_true(hd_params_pack(f.params, &err));
    float *packed = loss_and_gradients(&f);
    assert_same_bits("packed again", unpacked, packed, hd_params_size(f.params) + 1);

    hd_init_uniform(f.W3, 0.5F, 99); /* init alone is enough */
    float *stale = loss_and_gradients(&f);
    hd_params_changed(f.params);
    float *fresh = loss_and_gradients(&f);
    assert_same_bits("after an init", stale, fresh, hd_params_size(f.params) + 1);
    free(stale);
    free(fresh);
    free(packed);
    free(unpacked);
    formula_free(&f);
}

static void recording_changes_no_value(void **state)
{
    (void)state;
    struct formula f = new_formula(4, some_lengths, 18);
    float losses[2];
    for (int record = 0; record < 2; record++) {
        hd_tape *t = new_tape(record);
        hd_tape_train(t, 12);
        losses[record] = formula_loss(t, &f)->x[0];
        hd_tape_free(t);
    }
    assert_same_bits("recording", losses, losses + 1, 1);
    formula_free(&f);
}

static void *run_in_thread(void *formula)
{
    return loss_and_gradients(formula);
}

static void threads_share_parameters(void **state)
{
    (void)state;
    enum { N = 3 };
    heed_error err = {0};
    struct formula f = new_formula(4, some_lengths, 18);
    float *results[2][N];
    for (int packed = 0; packed < 2;
         packed++) { /* first all ask for packed copies, then all use them */
        pthread_t threads[N];
        for (int i = 0; i < N; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, &f), 0);
        for (int i = 0; i < N; i++)
            assert_int_equal(pthread_join(threads[i], (void **)&results[packed][i]), 0);
        assert_true(hd_params_pack(f.params, &err));
    }
    for (int i = 0; i < 2 * N; i++)
        assert_same_bits("in a thread", results[0][0], results[i / N][i % N],
                         hd_params_size(f.params) + 1);
    for (int i = 0; i < 2 * N; i++)
        free(results[i / N][i % N]);
    formula_free(&f);
}

/* ---- neighbours ------------------------------------------------------------------------------ */

/* All states of the sentences of f, whose words are `ids`. */
static void run_sentences(const struct formula *f, const int *ids, int n_ids, float *states)
{
    hd_tape *t = new_tape(false);
    hd_node *h = hd_embed(t, f->table, ids, n_ids), *steps[FORMULA_STEPS + 1];
    h = hd_layer_norm(hd_dense(f->W_f, f->b, h, HD_GELU), f->gain, f->bias, 1e-5F);
    formula_steps(t, f, h, hd_spans_of(t, f->lengths, f->B), steps);
    steps[FORMULA_STEPS] = formula_dense(f, steps);
    hd_node *all = hd_join(steps, FORMULA_STEPS + 1);
    assert_that(hd_tape_error(t)->code == HEED_OK, "%s", hd_tape_error(t)->message);
    memcpy(states, all->x, hd_count(all) * sizeof *states);
    hd_tape_free(t);
}

static void a_sentence_does_not_feel_its_neighbours(void **state)
{
    (void)state;
    enum { B = 6, WIDTH = 18, N = WIDTH * (FORMULA_STEPS + 1) };
    const int lengths[B] = {3, 9, 1, 0, 17, 2},
              ids[] = {5, 1, 2, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10, 9, 8,
                       1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 3, 3, 1,  2, 0};
    struct formula all = new_formula(B, lengths, WIDTH);
    float together[B * N], alone[N];
    run_sentences(&all, ids, 32, together);
    for (int b = 0, at = 0; b < B; at += lengths[b], b++) {
        struct formula one = new_formula(1, lengths + b, WIDTH);
        run_sentences(&one, ids + at, lengths[b], alone);
        assert_same_bits("alone and together", alone, together + b * N, N);
        formula_free(&one);
    }
    formula_free(&all);
}

/* ---- gradients of weights -------------------------------------------------------------------- */

/* dW of pieces of `rows` rows each, done step by step, and as one product of all rows in the
 * order of the way back. */
static void check_pieces(int n_pieces, int rows)
{
    enum { IN = 5, OUT = 7 };
    heed_error err = {0};
    hd_params *params = hd_params_new(&err);
    hd_node *W = hd_param(params, "W", IN, OUT);
    assert_true(hd_params_make(params, &err));
    hd_init_uniform(W, 1, 1);
    float dW[2][48] = {{0}};
    const size_t count = (size_t)(n_pieces * rows);
    float *x = malloc((count * IN + 1) * sizeof *x),
          *weights = malloc((count * OUT + 1) * sizeof *weights);
    hd_rng_normals(&(struct hd_rng){.key = 1}, x, count * IN);
    hd_rng_normals(&(struct hd_rng){.key = 2}, weights, count * OUT);
    for (int whole = 0; whole < 2; whole++) {
        hd_tape *t = new_tape(true);
        hd_node *loss = hd_input(t, NULL, 1);
        const int n = whole ? 1 : n_pieces, r = whole ? n_pieces * rows : rows;
        for (int i = n - 1; i >= 0; i--) { /* the last step is met first on the way back */
            hd_node *y = hd_lin(W, hd_input(t, x + (size_t)(i * r * IN), r, IN));
            loss = hd_add(loss,
                          hd_sum(hd_mul(y, hd_input(t, weights + (size_t)(i * r * OUT), r, OUT))));
        }
        const bool is_done = hd_backward(loss, dW[whole]);
        assert_that(is_done, "%s", hd_tape_error(t)->message);
        hd_tape_free(t);
    }
    char what[64];
    snprintf(what, sizeof what, "%d pieces of %d rows", n_pieces, rows);
    assert_same_bits(what, dW[0], dW[1], 48);
    free(x);
    free(weights);
    hd_params_free(params);
}

static void a_weights_gradient_is_one_chain_however_it_is_cut(void **state)
{
    (void)state;
    const int sizes[][2] = {{1, 1},  {2, 1},   {127, 1}, {128, 1}, {129, 1}, {300, 1}, {7, 63},
                            {9, 63}, {20, 63}, {3, 64},  {5, 100}, {20, 31}, {40, 0},  {17, 30}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_pieces(sizes[i][0], sizes[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_run_has_the_same_bits_packed_or_not),
        cmocka_unit_test(changed_parameters_are_not_read_from_old_packed_copies),
        cmocka_unit_test(recording_changes_no_value),
        cmocka_unit_test(threads_share_parameters),
        cmocka_unit_test(a_sentence_does_not_feel_its_neighbours),
        cmocka_unit_test(a_weights_gradient_is_one_chain_however_it_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
