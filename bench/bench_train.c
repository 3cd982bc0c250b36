/* bench_train.c -- what an update of training is made of: how much of it is products, and what a second thread gains.
 *
 * usage: bench_train transformer|gru SRC TGT SPM BATCH_TOKENS ROUNDS [f32|bf16]
 *
 * Prints lines "name value":
 *   gemm_share       the update's products, noted while it runs and run again alone by the same kernels, over the update
 *   threads_speedup  two threads over one, over what two bare loops of multiply-adds gain over one at the same moment */
#include "base/error.h"
#include "base/memory.h"
#include "clock.h"
#include "graph/tape.h"
#include "kernel/kernel.h"
#include "loops.h"
#include "text/vocab_file.h"
#include "train/plan.h"
#include "train/update.h"

#include <string.h>

static void need(bool ok, const heed_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "bench_train: %s\n", err->message);
    exit(1);
}

/* ---- products, noted and run again -------------------------------------------------------------- */

struct product {
    bool is_bf16, is_free, accumulate, has_bias;
    enum hd_function act;
    int M, K, N;
    long ldy, ldx, a_row, a_k, b_k, b_col;
};

static struct product *noted;
static size_t n_noted, capacity;
static const struct hd_kernels *real;

static void note(struct product p)
{
    noted = hd_grow(noted, &capacity, n_noted + 1, sizeof *noted, NULL);
    noted[n_noted++] = p;
}

static void note_gemm(float *y, long ldy, const float *x, long ldx, const float *packed,
                      const float *bias, bool accumulate, enum hd_function act, int M, int K, int N)
{
    note((struct product){.accumulate = accumulate,
                          .has_bias = bias,
                          .act = act,
                          .M = M,
                          .K = K,
                          .N = N,
                          .ldy = ldy,
                          .ldx = ldx});
    real->gemm(y, ldy, x, ldx, packed, bias, accumulate, act, M, K, N);
}

static void note_gemm_free(float *y, long ldy, const float *a, long a_row, long a_k, const float *b,
                           long b_k, long b_col, bool accumulate, int M, int K, int N,
                           float *scratch)
{
    note((struct product){false, true, accumulate, false, HD_NONE, M, K, N, ldy, 0, a_row, a_k, b_k,
                          b_col});
    real->gemm_free(y, ldy, a, a_row, a_k, b, b_k, b_col, accumulate, M, K, N, scratch);
}

static void note_gemm_bf16(float *y, long ldy, const uint16_t *x, long ldx, const uint32_t *packed,
                           const float *bias, bool accumulate, enum hd_function act, int M, int K,
                           int N)
{
    note((struct product){.is_bf16 = true,
                          .accumulate = accumulate,
                          .has_bias = bias,
                          .act = act,
                          .M = M,
                          .K = K,
                          .N = N,
                          .ldy = ldy,
                          .ldx = ldx});
    real->gemm_bf16(y, ldy, x, ldx, packed, bias, accumulate, act, M, K, N);
}

static void note_gemm_bf16_free(float *y, long ldy, const uint16_t *a, long lda, const uint16_t *b,
                                long ldb, bool accumulate, int M, int K, int N, float *scratch)
{
    note((struct product){true, true, accumulate, false, HD_NONE, M, K, N, ldy, 0, 1, lda, ldb, 1});
    real->gemm_bf16_free(y, ldy, a, lda, b, ldb, accumulate, M, K, N, scratch);
}

struct room {
    float *a, *b, *y, *bias, *scratch;
};

/* Room for floats is more than bf16 need. */
static void run_bf16(const struct room *r, const struct product *p)
{
    if (p->is_free)
        real->gemm_bf16_free(r->y, p->ldy, (void *)r->a, p->a_k, (void *)r->b, p->b_k,
                             p->accumulate, p->M, p->K, p->N, r->scratch);
    else
        real->gemm_bf16(r->y, p->ldy, (void *)r->a, p->ldx, (void *)r->b,
                        p->has_bias ? r->bias : NULL, p->accumulate, p->act, p->M, p->K, p->N);
}

static void run_noted(void *context)
{
    const struct room *r = context;
    for (size_t i = 0; i < n_noted; i++) {
        const struct product *p = &noted[i];
        if (p->is_bf16)
            run_bf16(r, p);
        else if (p->is_free)
            real->gemm_free(r->y, p->ldy, r->a, p->a_row, p->a_k, r->b, p->b_k, p->b_col,
                            p->accumulate, p->M, p->K, p->N, r->scratch);
        else
            real->gemm(r->y, p->ldy, r->a, p->ldx, r->b, p->has_bias ? r->bias : NULL,
                       p->accumulate, p->act, p->M, p->K, p->N);
    }
}

static struct room make_room(void)
{
    size_t a = 0, b = 0, y = 0, bias = 0;
    for (size_t i = 0; i < n_noted; i++) {
        const struct product *p = &noted[i];
        const size_t M = (size_t)p->M, K = (size_t)p->K, N = (size_t)p->N;
        const size_t of_a =
            p->is_free ? M * (size_t)p->a_row + K * (size_t)p->a_k : M * (size_t)p->ldx + K;
        const size_t of_b =
            p->is_free ? K * (size_t)p->b_k + N * (size_t)p->b_col : hd_packed_size(p->K, p->N);
        a = of_a > a ? of_a : a;
        b = of_b > b ? of_b : b;
        y = M * (size_t)p->ldy + N > y ? M * (size_t)p->ldy + N : y;
        bias = N > bias ? N : bias;
    }
    return (struct room){hd_alloc(a, 4, NULL), hd_alloc(b, 4, NULL), hd_alloc(y, 4, NULL),
                         hd_alloc(bias, 4, NULL), hd_alloc(HD_GEMM_SCRATCH, 4, NULL)};
}

/* ---- updates ------------------------------------------------------------------------------------- */

struct student {
    struct hd_learner learner;
    const struct hd_pair_ids *pairs;
    int n;
    long number;
};

static void learn_once(void *context)
{
    struct student *s = context;
    struct hd_updated u;
    heed_error err = {0};
    need(hd_learn(&s->learner, s->pairs, s->n, ++s->number, 1e-6F, &u, &err), &err);
}

int main(int argc, char **argv)
{
    if (argc != 7 && argc != 8) {
        fprintf(stderr,
                "usage: bench_train transformer|gru SRC TGT SPM BATCH_TOKENS ROUNDS [f32|bf16]\n");
        return 2;
    }
    heed_error err = {0};
    const bool is_transformer = strcmp(argv[1], "transformer") == 0;
    const char *src[] = {argv[2]}, *tgt[] = {argv[3]};
    struct hd_corpus *corpus = hd_corpus_open(
        &(struct hd_corpus_files){.source = src, .target = tgt, .n_source = 1, .n_target = 1},
        &(struct hd_corpus_options){0}, &err);
    need(corpus != NULL, &err);
    struct hd_vocab *vocab = hd_vocab_open(argv[4], HD_VOCAB_SPM, &err);
    need(vocab != NULL, &err);
    struct hd_config c = hd_config_preset(is_transformer ? HD_TRANSFORMER : HD_BAHDANAU,
                                          is_transformer ? HD_SIZE_SMALL : HD_SIZE_BASE);
    c.source_vocab = c.target_vocab = hd_vocab_size(vocab);
    c.tie = HD_TIE_ALL;
    if (!is_transformer) {
        c.embed = 256;
        c.readout = HD_READOUT_TANH;
    }
    need(hd_config_check(&c, &err), &err);
    struct hd_recipe recipe;
    hd_recipe_init(&recipe);
    recipe.batch_tokens = atoi(argv[5]);
    recipe.precision =
        argc == 8 && strcmp(argv[7], "bf16") == 0 ? HD_PRECISION_BF16 : HD_PRECISION_F32;
    const struct hd_text_facts facts = hd_text_facts_of(corpus);
    need(hd_plan_recipe(&recipe, &c, &facts, &err), &err);

    struct hd_pool *pools[2] = {hd_pool_new(1, &err), hd_pool_new(2, &err)};
    struct hd_feed *feed = hd_feed_new(
        corpus, vocab, vocab,
        &(struct hd_feed_options){.seed = 1, .tokens = recipe.batch_tokens, .max_length = 200},
        pools[1], &err);
    struct hd_feed_position place = {0};
    int n;
    const struct hd_pair_ids *pairs = hd_feed_next(feed, &place, &n, &err);
    need(pairs != NULL, &err);
    struct hd_ranks alone = {.n = 1, .n_here = 1};
    struct student students[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct hd_net *net = hd_net_new(&c, &err);
        hd_net_init(net, 1);
        need(hd_learner_init(&students[i].learner, net, &recipe, pools[i], &alone, &err), &err);
        students[i].pairs = pairs;
        students[i].n = n;
        learn_once(&students[i]); /* packed copies and memory are there from the second on */
    }

    real = hd_kernels_chosen(&err);
    struct hd_kernels noting = *real;
    noting.gemm = note_gemm;
    noting.gemm_free = note_gemm_free;
    noting.gemm_bf16 = note_gemm_bf16;
    noting.gemm_bf16_free = note_gemm_bf16_free;
    hd_learner_tape(&students[0].learner, 0)->k = &noting;
    learn_once(&students[0]);
    hd_learner_tape(&students[0].learner, 0)->k = real;

    struct room room = make_room();
    struct contestant all[] = {{learn_once, &students[0], 0},
                               {learn_once, &students[1], 0},
                               {run_noted, &room, 0},
                               {bench_two_loops, pools[0], 0},
                               {bench_two_loops, pools[1], 0}};
    bench_race(all, 5, atoi(argv[6]));
    const double gain = all[0].best / all[1].best, bare = all[3].best / all[4].best;
    long tokens = 0;
    for (int i = 0; i < n; i++)
        tokens += pairs[i].target.n;
    printf("tokens_per_second_1 %.0f\ntokens_per_second_2 %.0f\n", (double)tokens / all[0].best,
           (double)tokens / all[1].best);
    printf("products %zu\nupdate_ms %.2f\nproducts_ms %.2f\n", n_noted, 1e3 * all[0].best,
           1e3 * all[2].best);
    printf("gemm_share %.3f\n", all[2].best / all[0].best);
    printf("gain %.3f\nbare_gain %.3f\nthreads_speedup %.3f\n", gain, bare, gain / bare);
    return 0;
}
