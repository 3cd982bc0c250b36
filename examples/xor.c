/* xor.c -- a network of two layers learns XOR, the smallest thing that one layer cannot learn.
 *
 *     hidden = tanh(W1 x + b1)
 *     y      = σ(W2 hidden + b2)              loss = Σ (y - wanted)²
 *
 * The model is the two lines of answer(); the rest is the loop around it. */
#include <heed_graph.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float questions[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
static const float wanted[4] = {0, 1, 1, 0};

struct network {
    hd_params *params;
    hd_node *W1, *b1, *W2, *b2;
};

static hd_node *answer(const struct network *p, hd_node *x) /* x [4,2] */
{
    hd_node *hidden = hd_tanh(hd_affine(p->W1, p->b1, x)); /* [4,8] */
    return hd_sigmoid(hd_affine(p->W2, p->b2, hidden));    /* [4,1] */
}

static bool new_network(struct network *p, heed_error *err)
{
    p->params = hd_params_new(err);
    if (!p->params)
        return false;
    p->W1 = hd_param(p->params, "W1", 2, 8);
    p->b1 = hd_param(p->params, "b1", 8);
    p->W2 = hd_param(p->params, "W2", 8, 1);
    p->b2 = hd_param(p->params, "b2", 1);
    if (!hd_params_make(p->params, err))
        return false;
    hd_init_glorot(p->W1, 1);
    hd_init_glorot(p->W2, 1);
    return true;
}

/* Gradient descent: each parameter moves a little against its gradient, 2000 times. */
static void learn(hd_tape *tape, const struct network *p)
{
    const size_t size = hd_params_size(p->params);
    float *values = hd_params_values(p->params), *gradients = calloc(size, sizeof *gradients);
    bool is_well = gradients != NULL;
    hd_tape_record(tape, true);
    for (int step = 1; is_well && step <= 2000; step++) {
        hd_tape_reset(tape);
        memset(gradients, 0, size * sizeof *gradients);
        hd_node *y = answer(p, hd_input(tape, *questions, 4, 2));
        hd_node *loss = hd_sum_squares(hd_sub(y, hd_input(tape, wanted, 4, 1)));
        is_well = hd_backward(loss, gradients);
        for (size_t i = 0; i < size; i++)
            values[i] -= 0.5F * gradients[i];
        if (step % 500 == 0)
            printf("step %4d   loss %.4f\n", step, (double)loss->x[0]);
    }
    hd_tape_record(tape, false);
    free(gradients);
}

/* Are all four answers right? */
static bool has_learnt(hd_tape *tape, const struct network *p)
{
    hd_tape_reset(tape);
    const hd_node *y = answer(p, hd_input(tape, *questions, 4, 2));
    if (hd_tape_error(tape)->code != HEED_OK)
        return false;
    int n_right = 0;
    for (int i = 0; i < 4; i++) {
        printf("%g xor %g = %.2f\n", (double)questions[i][0], (double)questions[i][1],
               (double)y->x[i]);
        n_right += fabsf(y->x[i] - wanted[i]) < 0.1F;
    }
    return n_right == 4;
}

int main(void)
{
    heed_error err = {0};
    struct network p = {0};
    hd_tape *tape = hd_tape_new(&err);
    if (!tape || !new_network(&p, &err)) {
        fprintf(stderr, "xor: %s\n", err.message);
        return 1;
    }
    learn(tape, &p);
    const bool is_right = has_learnt(tape, &p);
    puts(is_right ? "learnt" : "not learnt");
    hd_params_free(p.params);
    hd_tape_free(tape);
    return is_right ? 0 : 1;
}
