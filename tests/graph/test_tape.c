/* test_tape.c -- tapes as a whole: errors that stick, nodes that move between tapes, memory, and
 * sizes of nothing. */
#include "test.h"

/* Memory that runs out: every allocation from the n-th on fails. */
static long allocations_left = -1;
static int failing_memalign(void **memory, size_t alignment, size_t size)
{
    if (allocations_left == 0)
        return 12;
    if (allocations_left > 0)
        allocations_left--;
    return posix_memalign(memory, alignment, size);
}
#define posix_memalign failing_memalign
#include "base/memory.c"

#include "graph/tape.h"
#include "ready.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <heed_graph.h>
#include <limits.h>
#include <math.h>

static float *new_gradients(const hd_params *params)
{
    float *g = calloc(hd_params_size(params) + 1, sizeof *g);
    assert_non_null(g);
    return g;
}

#define assert_well(t) \
    assert_that(hd_tape_error(t)->code == HEED_OK, "%s", hd_tape_error(t)->message)
#define assert_says(t, sentence) assert_string_equal(hd_tape_error(t)->message, sentence)

/* ---- errors ---------------------------------------------------------------------------------- */

static void the_first_error_stays_and_passes_through_every_later_op(void **state)
{
    (void)state;
    hd_tape *t = new_tape(true);
    hd_node *x = hd_variable(t, NULL, 2, 7), *W = hd_variable(t, NULL, 6, 4);
    hd_node *bad = hd_lin(W, x);
    assert_says(t, "hd_lin: W [6,4] does not take x [2,7]");
    assert_int_equal(hd_tape_error(t)->code, HEED_BAD_SHAPE);
    hd_node *later = hd_sum(hd_softmax(hd_add(hd_tanh(bad), x), NULL));
    assert_ptr_equal(bad, later);
    assert_int_equal(hd_count(later), 1);
    assert_true(later->x[0] == 0);
    assert_ptr_equal(hd_transpose(x), bad); /* right by itself, but the tape has failed */
    hd_tape_fail(t, HEED_CANCELLED, "a second one");
    assert_says(t, "hd_lin: W [6,4] does not take x [2,7]");
    assert_false(hd_backward(later, NULL));

    hd_tape_reset(t);
    assert_well(t);
    x = hd_variable(t, NULL, 2, 7);
    assert_true(hd_backward(hd_sum(x), NULL));
    hd_tape_free(t);
}

static void errors_of_the_users_own_are_kept_too(void **state)
{
    (void)state;
    hd_tape *t = new_tape(false);
    hd_node *bad = hd_tape_fail(t, HEED_BAD_OPTION, "no %s at %d", "luck", 7);
    assert_says(t, "no luck at 7");
    assert_int_equal(hd_tape_error(t)->code, HEED_BAD_OPTION);
    assert_ptr_equal(hd_tanh(bad), bad);
    hd_tape_free(t);
}

static void leaves_can_be_filled_in_even_after_an_error(void **state)
{
    (void)state;
    hd_tape *t = new_tape(false);
    hd_tape_fail(t, HEED_CANCELLED, "stop");
    hd_node *x = hd_input(t, NULL, 100);
    for (int i = 0; i < 100; i++)
        x->x[i] = (float)i;
    assert_says(t, "stop");
    hd_tape_free(t);
}

static void parameters_alone_have_no_tape_and_say_so(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_params *params = hd_params_new(&err);
    hd_node *p = hd_param(params, "p", 3), *q = hd_param(params, "q", 3);
    assert_true(hd_params_make(params, &err));
    hd_node *lost = hd_tanh(hd_add(p, q));
    const char *sentence = "an op was given parameters only, so it has no tape to happen on; bring "
                           "one of them to a tape "
                           "with hd_on(tape, parameter)";
    assert_string_equal(hd_tape_error(lost->tape)->message, sentence);
    assert_false(hd_backward(lost, NULL));
    assert_false(hd_backward(p, NULL));
    assert_ptr_equal(hd_join(NULL, 0), lost);

    hd_tape_reset(lost->tape); /* nothing can be done to the tape of what has none */
    hd_tape_record(lost->tape, true);
    hd_tape_train(lost->tape, 1);
    hd_tape_infer(lost->tape);
    hd_tape_fail(lost->tape, HEED_CANCELLED, "stop");
    hd_input(lost->tape, NULL, 3);
    hd_spans_of(lost->tape, (const int[]){1}, 1);
    hd_mask_lengths(lost->tape, (const int[]){1}, 1, 1);
    hd_embed(lost->tape, p, NULL, 0);
    hd_tape_free(lost->tape);
    assert_string_equal(hd_tape_error(lost->tape)->message, sentence);

    hd_tape *t = new_tape(true);
    assert_ptr_equal(hd_add(lost, hd_input(t, NULL, 3))->tape, t); /* carries its error along */
    assert_error(*hd_tape_error(t), HEED_BAD_SHAPE, "hd_add: an op was given parameters only");
    hd_tape_reset(t);
    assert_ptr_equal(hd_on(t, lost)->tape, t);
    assert_error(*hd_tape_error(t), HEED_BAD_SHAPE, "hd_on: an op was given parameters only");

    hd_tape_reset(t); /* and as the sentence says: */
    float *g = new_gradients(params);
    assert_true(hd_backward(hd_sum(hd_add(hd_on(t, p), q)), g));
    assert_true(g[hd_param_offset(p)] == 1 && g[hd_param_offset(q) + 2] == 1);
    free(g);
    hd_tape_free(t);
    hd_params_free(params);
}

static void parameters_without_values_are_refused(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_params *params = hd_params_new(&err);
    hd_node *W = hd_param(params, "encoder.W", 3, 2), *bad = hd_param(params, "bad", -1);
    hd_tape *t = new_tape(true);
    hd_lin(W, hd_input(t, NULL, 3));
    assert_says(t,
                "hd_lin: the parameter encoder.W has no values yet; call hd_params_make() first");
    hd_tape_reset(t);
    hd_on(t, W);
    assert_says(t, "hd_on: the parameter encoder.W has no values yet; call hd_params_make() first");
    hd_tape_reset(t);
    hd_add(hd_input(t, NULL, 3), bad);
    assert_says(
        t,
        "hd_add: an operand is a parameter that could not be declared; hd_params_make() says why");
    assert_string_equal(hd_param_name(bad), "");
    hd_init_glorot(bad, 1);
    hd_init_orthogonal(W, 1, 1);
    hd_tape_free(t);
    hd_params_free(params);
}

static void a_tape_goes_back_once(void **state)
{
    (void)state;
    hd_tape *t = new_tape(true);
    hd_node *x = hd_variable(t, ((const float[]){1, 2, 3}), 3);
    hd_node *loss = hd_sum(x);
    assert_true(hd_backward(loss, NULL));
    assert_false(hd_backward(loss, NULL));
    assert_says(
        t,
        "hd_backward: this tape has gone back already; hd_tape_reset() it before the next formula");
    hd_tape_free(t);
}

static void only_one_recorded_number_can_be_a_loss(void **state)
{
    (void)state;
    hd_tape *t = new_tape(true);
    assert_false(hd_backward(hd_tanh(hd_variable(t, NULL, 2, 3)), NULL));
    assert_says(t, "hd_backward: the loss [2,3] is not one number");
    const char *sentence = "hd_backward: the loss is made of constants, or was made while the tape "
                           "did not record; see "
                           "hd_tape_record()";
    hd_tape_reset(t);
    assert_false(hd_backward(hd_sum(hd_input(t, NULL, 3)), NULL));
    assert_says(t, sentence);
    hd_tape_reset(t);
    hd_tape_record(t, false);
    assert_false(hd_backward(hd_sum(hd_variable(t, NULL, 3)), NULL));
    assert_says(t, sentence);
    hd_tape_free(t);
}

static void two_sets_of_parameters_do_not_mix_their_gradients(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_params *mine = hd_params_new(&err), *other = hd_params_new(&err);
    hd_node *a = hd_param(mine, "a", 3);
    hd_param(other, "large", 1000);
    hd_node *b = hd_param(other, "b", 3);
    assert_true(hd_params_make(mine, &err) && hd_params_make(other, &err));
    hd_tape *t = new_tape(true);
    float *g = new_gradients(mine);
    assert_false(hd_backward(hd_sum(hd_mul(hd_on(t, a), b)), g));
    assert_says(t, "hd_backward: the parameter b belongs to another set than the others, and there "
                   "is one block of "
                   "gradients; hold it still with hd_stop(hd_on(tape, parameter))");
    hd_tape_reset(t);
    assert_true(hd_backward(hd_sum(hd_mul(hd_on(t, a), hd_stop(hd_on(t, b)))), g));
    free(g);
    hd_tape_free(t);
    hd_params_free(mine);
    hd_params_free(other);
}

/* ---- gradients ------------------------------------------------------------------------------- */

static void gradients_are_added_to_what_is_there(void **state)
{
    (void)state;
    struct formula f = new_formula(4, some_lengths, 6);
    hd_tape *t = new_tape(true);
    float *once = new_gradients(f.params), *twice = new_gradients(f.params);
    assert_true(hd_backward(hd_scale(hd_sum_squares(hd_on(t, f.W)), 0.5F), once));
    for (int i = 0; i < 2; i++) {
        hd_tape_reset(t);
        assert_true(hd_backward(hd_scale(hd_sum_squares(hd_on(t, f.W)), 0.5F), twice));
    }
    for (size_t i = 0; i < hd_count(f.W); i++) {
        assert_true(once[hd_param_offset(f.W) + i] == f.W->x[i]);
        assert_true(twice[hd_param_offset(f.W) + i] == 2 * f.W->x[i]);
    }
    assert_true(once[hd_param_offset(f.U)] == 0);
    free(once);
    free(twice);
    hd_tape_free(t);
    formula_free(&f);
}

static void an_aimed_tape_makes_the_same_gradients(void **state)
{
    (void)state;
    struct formula f = new_formula(4, some_lengths, 6);
    hd_tape *t = new_tape(true);
    const int n = hd_params_number(f.params);
    float *added = new_gradients(f.params), *written = new_gradients(f.params);
    bool is_written[64] = {false};
    assert_true(n <= 64);
    for (size_t i = 0; i < hd_params_size(f.params); i++)
        written[i] = NAN;
    for (int i = 0; i < 2; i++) { /* the second is added to the first */
        hd_tape_reset(t);
        assert_true(hd_backward(formula_loss(t, &f), added));
        hd_tape_reset(t);
        hd_tape_set_gradients(t, written, is_written);
        assert_true(hd_backward(formula_loss(t, &f), written));
    }
    for (int i = 0; i < n; i++) {
        const hd_node *p = hd_params_at(f.params, i);
        const size_t at = hd_param_offset(p);
        assert_that(is_written[i], "%s has no gradient", hd_param_name(p));
        /* the output layers' gradients come first, and are summed as they come */
        const double allowed = p == f.table || p == f.b_o ? 1e-6 : 0;
        for (size_t j = 0; j < hd_count(p); j++) {
            const double got = (double)written[at + j], wanted = (double)added[at + j];
            assert_that(fabs(got - wanted) <= allowed * (1 + fabs(wanted)),
                        "%s %zu: %a, added to zeros %a", hd_param_name(p), j, got, wanted);
        }
    }
    free(added);
    free(written);
    hd_tape_free(t);
    formula_free(&f);
}

static void without_a_block_only_variables_get_gradients(void **state)
{
    (void)state;
    struct formula f = new_formula(4, some_lengths, 6);
    hd_tape *t = new_tape(true);
    hd_node *x = hd_variable(t, NULL, 2, 6), *constant = hd_input(t, NULL, 2, 6);
    assert_true(hd_backward(hd_sum(hd_lin(f.W, hd_add(x, constant))), NULL));
    assert_non_null(x->g);
    assert_null(constant->g);
    assert_null(f.W->g);
    hd_tape_free(t);
    formula_free(&f);
}

static void a_parameter_itself_can_be_the_loss(void **state)
{
    (void)state;
    heed_error err = {0};
    hd_params *params = hd_params_new(&err);
    hd_node *p = hd_param(params, "p", 1);
    assert_true(hd_params_make(params, &err));
    hd_tape *t = new_tape(true);
    float g[16] = {0};
    assert_true(hd_backward(hd_on(t, p), g));
    assert_true(g[0] == 1);
    hd_tape_free(t);
    hd_params_free(params);
}

static void nothing_flows_past_hd_stop(void **state)
{
    (void)state;
    hd_tape *t = new_tape(true);
    hd_node *x = hd_variable(t, ((const float[]){2, 3}), 2);
    hd_node *stopped = hd_stop(hd_scale(x, 10));
    assert_false(stopped->wants_gradient);
    assert_true(hd_backward(hd_sum(hd_mul(x, stopped)), NULL));
    assert_true(x->g[0] == 20 && x->g[1] == 30);
    hd_tape_free(t);
}

/* ---- two tapes ------------------------------------------------------------------------------- */

static void nodes_of_two_tapes_meet_through_hd_on(void **state)
{
    (void)state;
    hd_tape *sentence = new_tape(true), *step = new_tape(true);
    hd_node *h = hd_tanh(hd_variable(sentence, ((const float[]){1, 2, 3}), 3)),
            *s = hd_variable(step, NULL, 3);
    hd_add(s, h);
    assert_says(step, "hd_add: the operands live on two tapes; bring one over with hd_on()");
    assert_well(sentence);
    for (int i = 0; i < 3; i++) {
        hd_tape_reset(step);
        s = hd_variable(step, ((const float[]){5, 6, 7}), 3);
        assert_ptr_equal(hd_on(step, s), s);
        hd_node *here = hd_on(step, h);
        assert_ptr_equal(here->x, h->x);
        assert_true(hd_backward(hd_sum(hd_mul(s, here)), NULL));
        assert_true(s->g[2] == h->x[2]);
        assert_null(here->g);
        assert_null(h->g);
    }
    hd_tape_free(step);
    hd_tape_free(sentence);
}

static void an_error_moves_with_its_node_to_another_tape(void **state)
{
    (void)state;
    hd_tape *a = new_tape(false), *b = new_tape(false);
    hd_node *bad = hd_transpose(hd_input(a, NULL, 3));
    hd_on(b, bad);
    assert_says(b, "hd_on: hd_transpose: x [3] is not a matrix");
    hd_tape_reset(b);
    hd_concat(hd_input(b, NULL, 3), bad);
    assert_says(b, "hd_concat: hd_transpose: x [3] is not a matrix");
    hd_tape_free(a);
    hd_tape_free(b);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void identical_batches_take_no_memory_after_the_second(void **state)
{
    (void)state;
    struct formula f = new_formula(4, some_lengths, 6);
    float *g = new_gradients(f.params);
    hd_tape *t = new_tape(true);
    size_t high_water = 0;
    for (int batch = 0; batch < 5; batch++) {
        hd_tape_reset(t);
        hd_tape_train(t, (uint64_t)batch);
        allocations_left = batch < 2 ? -1 : 0;
        const bool is_done = hd_backward(formula_loss(t, &f), g);
        allocations_left = -1;
        assert_that(is_done, "batch %d: %s", batch, hd_tape_error(t)->message);
        if (batch == 0)
            high_water = hd_arena_high_water(&t->arena);
        assert_int_equal(hd_arena_high_water(&t->arena), high_water);
    }
    assert_true(high_water > 0);
    free(g);
    hd_tape_free(t);
    formula_free(&f);
}

/* Everything there is, from nothing: true when it worked, else `err` has the reason. */
static bool whole_life(const float *before, int n_before, bool pack, heed_error *err)
{
    struct formula f = {0};
    hd_tape *t = NULL;
    float g[8192] = {0};
    bool is_done = formula_make(&f, 4, some_lengths, 6, err) && (t = hd_tape_new(err)) != NULL;
    assert_true(!is_done || hd_params_size(f.params) <= sizeof g / sizeof *g);
    for (int batch = 0; is_done && batch < 2; batch++) {
        hd_tape_reset(t);
        hd_tape_record(t, true);
        hd_tape_train(t, 1);
        hd_input(t, before, n_before);
        is_done = hd_backward(formula_loss(t, &f), g);
        if (!is_done)
            *err = *hd_tape_error(t);
        is_done = is_done && (!pack || hd_params_pack(f.params, err));
    }
    hd_tape_free(t);
    formula_free(&f);
    return is_done;
}

static void memory_that_runs_out_is_an_error_and_nothing_worse(void **state)
{
    (void)state;
    int n = 0;
    for (bool is_done = false; !is_done; n++) {
        heed_error err = {0};
        allocations_left = n;
        is_done = whole_life(NULL, 0, true, &err);
        allocations_left = -1;
        assert_that(is_done || err.code == HEED_NO_MEMORY, "n = %d: code %d, %s", n, (int)err.code,
                    err.message);
    }
    assert_in_range(n, 20, 1000);
}

/* The tape's memory comes in chunks, and there is one for each of the first `n_chunks` only: how
 * often that is not enough when something of another size stands before the formula, so that the
 * last chunk ends at every place once. */
static int count_failures(long made, int n_chunks)
{
    static const float before[1 << 14];
    int n_failed = 0;
    for (int n_before = 0; n_before < (1 << 14); n_before += 32) {
        heed_error err = {0};
        allocations_left = made + n_chunks;
        const bool is_done = whole_life(before, n_before, false, &err);
        allocations_left = -1;
        n_failed += !is_done;
        assert_that(is_done || err.code == HEED_NO_MEMORY, "%d chunks, %d before: code %d, %s",
                    n_chunks, n_before, (int)err.code, err.message);
    }
    return n_failed;
}

static void memory_may_run_out_in_any_op(void **state)
{
    (void)state;
    long made = -1; /* allocations before the first node */
    for (bool is_done = false; !is_done;) {
        heed_error err = {0};
        allocations_left = ++made;
        struct formula f;
        hd_tape *t = NULL;
        is_done = formula_make(&f, 4, some_lengths, 6, &err) && (t = hd_tape_new(&err)) != NULL;
        allocations_left = -1;
        hd_tape_free(t);
        formula_free(&f);
    }
    int n_chunks = 0;
    while (count_failures(made, n_chunks) > 100)
        n_chunks++;
    assert_in_range(n_chunks, 2, 10); /* or nothing failed, or it always does */
}

/* What an op needs only while it works is given back when it is done. */
static void the_logits_of_an_output_layer_never_exist_whole(void **state)
{
    (void)state;
    enum { N = 4300, V = 2003, D = 2, FLOAT = sizeof(float) };
    static const int targets[N];
    hd_tape *t = new_tape(false);
    hd_node *W = hd_input(t, NULL, D, V), *x = hd_input(t, NULL, N, D);
    const size_t before = hd_arena_high_water(&t->arena);
    hd_output_loss(W, NULL, x, targets, NULL);
    const size_t once = hd_arena_high_water(&t->arena);
    hd_output_loss(W, NULL, x, targets, NULL);
    assert_well(t);
    assert_true(once - before < (size_t)N * V * FLOAT * 2 / 3);
    assert_true(hd_arena_high_water(&t->arena) - once < 4096);
    hd_tape_free(t);
}

static void attention_gives_back_what_the_way_back_needed(void **state)
{
    (void)state;
    enum { T = 100, WEIGHTS = T * T * sizeof(float), LAYERS = 20 };
    const int length = T;
    hd_tape *t = new_tape(true);
    hd_node *x = hd_variable(t, NULL, T, 1);
    const hd_spans *spans = hd_spans_of(t, &length, 1);
    const hd_attention_options o = {.queries = spans, .keys = spans, .n_heads = 1};
    for (int i = 0; i < LAYERS; i++)
        x = hd_attention(x, x, x, &o);
    hd_node *loss = hd_sum(x);
    const size_t before = hd_arena_high_water(&t->arena);
    assert_true(hd_backward(loss, NULL));
    assert_true(before >= LAYERS * WEIGHTS);
    assert_true(hd_arena_high_water(&t->arena) - before < 5 * (size_t)WEIGHTS);
    hd_tape_free(t);
}

/* ---- sizes of nothing, and of too much ------------------------------------------------------- */

static void nothing_is_a_size_like_any_other(void **state)
{
    (void)state;
    const struct {
        int B, lengths[4], D;
    } sizes[] = {{0, {0}, 6},          {1, {0}, 6}, {3, {0, 0, 0}, 6},
                 {4, {3, 0, 5, 1}, 0}, {0, {0}, 0}, {1, {1}, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct formula f = new_formula(sizes[i].B, sizes[i].lengths, sizes[i].D);
        hd_tape *t = new_tape(true);
        hd_tape_train(t, 1);
        float *g = new_gradients(f.params);
        hd_node *loss = formula_loss(t, &f);
        const bool is_done = hd_backward(loss, g);
        assert_that(is_done, "sizes %zu: %s", i, hd_tape_error(t)->message);
        assert_true(isfinite(loss->x[0]));
        free(g);
        hd_tape_free(t);
        formula_free(&f);
    }
}

static void sizes_that_cannot_be_are_errors(void **state)
{
    (void)state;
    hd_tape *t = new_tape(true);
    hd_input(t, NULL, 3, -1);
    assert_says(t, "hd_input: the result cannot be [3,-1], a size is negative");
    hd_tape_reset(t);
    hd_variable(t, NULL, 70000, 70000, 1);
    assert_says(t, "hd_variable: the result cannot be [70000,70000,1], that is too large");
    hd_tape_reset(t);
    hd_input(t, NULL, INT_MAX, INT_MAX, INT_MAX, INT_MAX);
    assert_int_equal(hd_tape_error(t)->code, HEED_BAD_SHAPE);
    hd_tape_reset(t);
    hd_input(t, NULL, INT_MAX, INT_MAX);
    assert_true(hd_tape_error(t)->code != HEED_OK);
    hd_tape_reset(t);
    hd_input_dims(t, NULL, (const int[]){1, 1, 1, 1, 1}, 5);
    assert_says(t, "hd_input: 5 dimensions were asked for, a node has 1 to 4");
    hd_tape_reset(t);
    hd_input_dims(t, NULL, NULL, 0);
    assert_says(t, "hd_input: 0 dimensions were asked for, a node has 1 to 4");
    hd_tape_reset(t);
    hd_add(hd_input(t, NULL, 60000, 1), hd_input(t, NULL, 1, 60000, 1)); /* 60000² numbers */
    assert_true(hd_tape_error(t)->code != HEED_OK);
    hd_tape_reset(t);
    hd_lin(hd_input(t, NULL, 0, INT_MAX), hd_input(t, NULL, INT_MAX, 0));
    assert_true(hd_tape_error(t)->code != HEED_OK);
    hd_tape_reset(t);
    hd_node *wide = hd_input(t, NULL, 0, INT_MAX);
    hd_join((hd_node *[]){wide, wide}, 2);
    assert_says(t, "hd_join: the parts together are too large");
    hd_tape_free(t);
}

static void dropout_drops_only_while_training_and_by_its_key(void **state)
{
    (void)state;
    enum { N = 1000 };
    hd_tape *t = new_tape(true);
    float first[2 * N], second[2 * N];
    for (int key = 1; key <= 3; key++) {
        hd_tape_reset(t);
        hd_node *x = hd_input(t, NULL, N);
        for (int i = 0; i < N; i++)
            x->x[i] = 1;
        hd_tape_train(t, key == 2 ? 1 : (uint64_t)key);
        const hd_node *a = hd_dropout(x, 0.25F), *b = hd_dropout(x, 0.25F);
        assert_ptr_equal(hd_dropout(x, 0), x);
        float *to = key == 1 ? first : second;
        memcpy(to, a->x, N * sizeof *to);
        memcpy(to + N, b->x, N * sizeof *to);
        assert_memory_not_equal(to, to + N, N * sizeof *to);
        if (key == 2)
            assert_memory_equal(first, second, sizeof first);
        if (key == 3)
            assert_memory_not_equal(first, second, sizeof first);
        hd_tape_infer(t);
        assert_ptr_equal(hd_dropout(x, 0.25F), x);
    }
    int kept = 0;
    for (int i = 0; i < 2 * N; i++) {
        assert_true(first[i] == 0 || fabsf(first[i] - 1 / 0.75F) < 1e-6F);
        kept += first[i] != 0;
    }
    assert_in_range(kept, 1400, 1600);
    hd_tape_free(t);
}

/* Go on for so many ops. */
static bool counts_down(void *left)
{
    return (*(int *)left)-- <= 0;
}

static void a_tape_can_be_stopped_before_any_op(void **state)
{
    (void)state;
    hd_tape *t = new_tape(true);
    for (int n = 0;; n++) {
        int left = n;
        hd_tape_reset(t);
        hd_tape_set_stop(t, counts_down, &left);
        hd_node *x = hd_variable(t, NULL, 2, 7);
        hd_node *y = hd_sum(hd_softmax(hd_add(hd_tanh(x), x), NULL));
        if (hd_backward(y, NULL)) {
            assert_true(n > 5);
            break;
        }
        assert_int_equal(hd_tape_error(t)->code, HEED_CANCELLED);
    }
    hd_tape_set_stop(t, NULL, NULL);
    hd_tape_reset(t);
    assert_true(hd_backward(hd_sum(hd_variable(t, NULL, 2, 7)), NULL));
    hd_tape_free(t);
}

/* Only a program can be wrong there, so it is an assert, in debug builds. */
static void an_op_that_is_given_nothing_stops_a_debug_build(void **state)
{
    (void)state;
#ifdef HEED_DEBUG
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        if (child == 0) {
            hd_tape *t = hd_tape_new(NULL);
            hd_node *x = t ? hd_input(t, NULL, 1, 1) : NULL;
            (void)!freopen("/dev/null", "w", stderr);
            signal(SIGABRT, SIG_DFL);
            (void)(i == 0 ? hd_tanh(NULL) : i == 1 ? hd_add(x, NULL) : hd_mul(NULL, x));
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        assert_that(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "op %d: status %d", i,
                    status);
    }
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_error_stays_and_passes_through_every_later_op),
        cmocka_unit_test(errors_of_the_users_own_are_kept_too),
        cmocka_unit_test(leaves_can_be_filled_in_even_after_an_error),
        cmocka_unit_test(parameters_alone_have_no_tape_and_say_so),
        cmocka_unit_test(parameters_without_values_are_refused),
        cmocka_unit_test(a_tape_goes_back_once),
        cmocka_unit_test(only_one_recorded_number_can_be_a_loss),
        cmocka_unit_test(two_sets_of_parameters_do_not_mix_their_gradients),
        cmocka_unit_test(gradients_are_added_to_what_is_there),
        cmocka_unit_test(an_aimed_tape_makes_the_same_gradients),
        cmocka_unit_test(without_a_block_only_variables_get_gradients),
        cmocka_unit_test(a_parameter_itself_can_be_the_loss),
        cmocka_unit_test(nothing_flows_past_hd_stop),
        cmocka_unit_test(nodes_of_two_tapes_meet_through_hd_on),
        cmocka_unit_test(an_error_moves_with_its_node_to_another_tape),
        cmocka_unit_test(identical_batches_take_no_memory_after_the_second),
        cmocka_unit_test(memory_that_runs_out_is_an_error_and_nothing_worse),
        cmocka_unit_test(memory_may_run_out_in_any_op),
        cmocka_unit_test(the_logits_of_an_output_layer_never_exist_whole),
        cmocka_unit_test(attention_gives_back_what_the_way_back_needed),
        cmocka_unit_test(nothing_is_a_size_like_any_other),
        cmocka_unit_test(sizes_that_cannot_be_are_errors),
        cmocka_unit_test(dropout_drops_only_while_training_and_by_its_key),
        cmocka_unit_test(a_tape_can_be_stopped_before_any_op),
        cmocka_unit_test(an_op_that_is_given_nothing_stops_a_debug_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
