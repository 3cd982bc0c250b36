/* attention.c -- attention learns where to look.
 *
 * The task: a list of pairs such as "c7 a3 f1 e9 b0 h4" and a question, "f?". The answer, 1,
 * stands in the list; one only has to look at the right place, and where that is changes every
 * time. Nobody tells the model that a question and a pair belong together when they share a
 * letter: it finds out from answers alone.
 *
 * The model is Bahdanau's attention, as its paper writes it, in ask(). The weights α are printed
 * as a map: a row for each question, a column for each pair, dark where the model looks. Once
 * before learning, once after. */
#include <heed_graph.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 64, S = 6 }; /* questions at a time, pairs in a list */
enum { LETTERS = 12, DIGITS = 10 };
enum { E = 16, A = 32 }; /* sizes of embeddings and of attention */

/* B questions, each about a list of its own. */
struct batch {
    int letter[B * S], digit[B * S]; /* the pairs, [B,S] */
    int question[B], answer[B];
};

/* ---- the model ------------------------------------------------------------------------------- */

struct model {
    hd_params *params;
    hd_node *letters, *digits; /* embeddings, [LETTERS,E] and [DIGITS,E] */
    hd_node *W, *U, *v;        /* the score, [E,A], [2E,A] and [A] */
    hd_node *out;              /* from what was seen to an answer, [2E,DIGITS] */
};

static bool new_model(struct model *m, heed_error *err)
{
    hd_params *p = m->params = hd_params_new(err);
    if (!p)
        return false;
    m->letters = hd_param(p, "letters", LETTERS, E);
    m->digits = hd_param(p, "digits", DIGITS, E);
    m->W = hd_param(p, "W", E, A);
    m->U = hd_param(p, "U", 2 * E, A);
    m->v = hd_param(p, "v", A);
    m->out = hd_param(p, "out", 2 * E, DIGITS);
    if (!hd_params_make(p, err))
        return false;
    for (int i = 0; i < hd_params_number(p); i++)
        hd_init_normal(hd_params_at(p, i), 0.3F, 1);
    return true;
}

/* The logits of the answers, [B,DIGITS]; `alpha` gets the weights, [B,S]. */
static hd_node *ask(hd_tape *tape, const struct model *m, const struct batch *batch,
                    hd_node **alpha)
{
    hd_node *letter = hd_embed(tape, m->letters, batch->letter, B * S);
    hd_node *digit = hd_embed(tape, m->digits, batch->digit, B * S);
    hd_node *h = hd_reshape(hd_concat(letter, digit), B, S, 2 * E); /* a pair each  [B,S,2E] */
    hd_node *s = hd_embed(tape, m->letters, batch->question, B);    /* the question [B,E] */

    /* Bahdanau, Cho & Bengio (2015), section 3.1 and appendix A.1.2 */
    hd_node *Ws = hd_lin(m->W, s), *Uh = hd_lin(m->U, h);
    hd_node *e = hd_dot(m->v, hd_tanh(hd_add(Ws, Uh))); /* e_j = vᵀ tanh(W s + U h_j) */
    hd_node *a = hd_softmax(e, NULL);                   /* α = softmax_j(e_j) */
    hd_node *c = hd_mix(a, h);                          /* c = Σ_j α_j h_j */
    *alpha = a;
    return hd_lin(m->out, c);
}

/* ---- the task -------------------------------------------------------------------------------- */

static int below(int n) /* a random number in [0, n) */
{
    static unsigned state = 1;
    state = state * 1664525U + 1013904223U;
    return (int)((state >> 8) % (unsigned)n);
}

/* A list of S pairs, no letter twice. */
static void new_list(int *letter, int *digit)
{
    int all[LETTERS];
    for (int i = 0; i < LETTERS; i++)
        all[i] = i;
    for (int j = 0; j < S; j++) {
        const int pick = j + below(LETTERS - j);
        letter[j] = all[pick];
        all[pick] = all[j];
        digit[j] = below(DIGITS);
    }
}

static void new_batch(struct batch *batch)
{
    for (int b = 0; b < B; b++) {
        new_list(batch->letter + b * S, batch->digit + b * S);
        const int asked = b * S + below(S);
        batch->question[b] = batch->letter[asked];
        batch->answer[b] = batch->digit[asked];
    }
}

/* ---- learning -------------------------------------------------------------------------------- */

/* Kingma & Ba (2015). */
struct adam {
    float *m, *v;
    float beta1_t, beta2_t; /* β1 and β2 to the power of the step */
};

static void adam_step(struct adam *a, float *w, const float *g, size_t n)
{
    a->beta1_t *= 0.9F;
    a->beta2_t *= 0.999F;
    for (size_t i = 0; i < n; i++) {
        a->m[i] += 0.1F * (g[i] - a->m[i]);
        a->v[i] += 0.001F * (g[i] * g[i] - a->v[i]);
        w[i] -= 0.005F * a->m[i] / (1 - a->beta1_t) / (sqrtf(a->v[i] / (1 - a->beta2_t)) + 1e-8F);
    }
}

static bool learn(hd_tape *tape, const struct model *m, int n_steps)
{
    const size_t size = hd_params_size(m->params);
    float *gradients = calloc(3 * size, sizeof *gradients);
    struct adam adam = {gradients + size, gradients + 2 * size, 1, 1};
    bool is_well = gradients != NULL;
    hd_tape_record(tape, true);
    for (int step = 1; is_well && step <= n_steps; step++) {
        struct batch batch;
        hd_node *alpha;
        new_batch(&batch);
        hd_tape_reset(tape);
        memset(gradients, 0, size * sizeof *gradients);
        hd_node *loss =
            hd_scale(hd_cross_entropy(ask(tape, m, &batch, &alpha), batch.answer, 0), 1.0F / B);
        is_well = hd_backward(loss, gradients);
        adam_step(&adam, hd_params_values(m->params), gradients, size);
        hd_params_changed(m->params);                         /* the weights have moved: */
        is_well = is_well && hd_params_pack(m->params, NULL); /* lay them out for speed again */
        if (step % 100 == 0)
            printf("step %4d   loss %.4f\n", step, (double)loss->x[0]);
    }
    hd_tape_record(tape, false);
    free(gradients);
    return is_well;
}

/* ---- looking --------------------------------------------------------------------------------- */

static int best(const float *logits)
{
    int digit = 0;
    for (int d = 1; d < DIGITS; d++)
        if (logits[d] > logits[digit])
            digit = d;
    return digit;
}

/* The share of right answers to 640 new questions. */
static double accuracy(hd_tape *tape, const struct model *m)
{
    int n_right = 0;
    for (int i = 0; i < 10; i++) {
        struct batch batch;
        hd_node *alpha;
        new_batch(&batch);
        hd_tape_reset(tape);
        const hd_node *logits = ask(tape, m, &batch, &alpha);
        for (int b = 0; b < B && hd_tape_error(tape)->code == HEED_OK; b++)
            n_right += best(logits->x + b * DIGITS) == batch.answer[b];
    }
    return n_right / (10.0 * B);
}

/* One list, asked for each of its letters in alphabetical order. */
static void draw(hd_tape *tape, const struct model *m)
{
    static const char *const shades[] = {"·", "░", "▒", "▓", "█"};
    struct batch batch;
    hd_node *alpha;
    int n = 0;
    new_batch(&batch);
    for (int b = 1; b < B; b++) {
        memcpy(batch.letter + b * S, batch.letter, S * sizeof(int));
        memcpy(batch.digit + b * S, batch.digit, S * sizeof(int));
    }
    for (int letter = 0; letter < LETTERS; letter++)
        for (int j = 0; j < S; j++)
            if (batch.letter[j] == letter)
                batch.question[n++] = letter;
    hd_tape_reset(tape);
    const hd_node *logits = ask(tape, m, &batch, &alpha);
    if (hd_tape_error(tape)->code != HEED_OK)
        return;
    printf("\n          ");
    for (int j = 0; j < S; j++)
        printf(" %c%d", 'a' + batch.letter[j], batch.digit[j]);
    for (int b = 0; b < n; b++) {
        printf("\n  %c? %d    ", 'a' + batch.question[b], best(logits->x + b * DIGITS));
        for (int j = 0; j < S; j++) {
            const char *shade = shades[(int)(alpha->x[b * S + j] * 4.999F)];
            printf(" %s%s", shade, shade);
        }
    }
    puts("\n");
}

int main(void)
{
    heed_error err = {0};
    struct model m = {0};
    hd_tape *tape = hd_tape_new(&err);
    if (!tape || !new_model(&m, &err)) {
        fprintf(stderr, "attention: %s\n", err.message);
        return 1;
    }
    draw(tape, &m);
    if (!learn(tape, &m, 500))
        fprintf(stderr, "attention: %s\n", hd_tape_error(tape)->message);
    draw(tape, &m);
    const double share = accuracy(tape, &m);
    printf("%.1f %% of new questions answered rightly\n", 100 * share);
    hd_params_free(m.params);
    hd_tape_free(tape);
    return share >= 0.99 ? 0 : 1;
}
