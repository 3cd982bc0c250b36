/* bench_kernel.c -- the ground floor's speed: products, 8-bit and bf16 products, the tape, the output layer.
 *
 * The yardsticks are oneDNN, one thread, and this core's own peak of multiply-adds, measured in the same run and in turn with
 * ours (clock.h). Prints tables and, last, one line `headline NAME VALUE` for each figure that docs/benchmarks.md records. */
#include "clock.h"
#include "peak.h"
#include "kernel/kernel.h"
#include <heed_graph.h>
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <string.h>
#include <unistd.h>

static const struct hd_kernels *K;

static void die(const char *what)
{
    fprintf(stderr, "bench_kernel: %s\n", what);
    exit(1);
}

static void *take(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p)
        die("no memory");
    return p;
}

static float *numbers(size_t n)
{
    static unsigned seed = 1;
    float *p = take(n * sizeof *p);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(seed >> 8) / (float)(1 << 24) - 0.5f;
    }
    return p;
}

static void run_peak(void *nothing)
{
    (void)nothing;
    peak_run();
}

/* ---- 32-bit products ---------------------------------------------------------------------------------------- */

struct product {
    int M, K, N;
    float *x, *W, *y, *dx, *dW, *packed, *packed_t, *scratch;
};

static struct product product_new(int M, int in, int out)
{
    const size_t m = (size_t)M, k = (size_t)in, n = (size_t)out;
    struct product p = {M,
                        in,
                        out,
                        numbers(m * k),
                        numbers(k * n),
                        numbers(m * n),
                        numbers(m * k),
                        numbers(k * n),
                        take(hd_packed_size(in, out) * 4),
                        take(hd_packed_size(out, in) * 4),
                        take(HD_GEMM_SCRATCH * 4)};
    K->pack(p.packed, p.W, out, 1, in, out);
    K->pack(p.packed_t, p.W, 1, out, out, in);
    return p;
}

static void product_free(struct product *p)
{
    float *all[] = {p->x, p->W, p->y, p->dx, p->dW, p->packed, p->packed_t, p->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void ours_forward(void *c) /* Y = X·W */
{
    struct product *p = c;
    K->gemm(p->y, p->N, p->x, p->K, p->packed, NULL, false, HD_NONE, p->M, p->K, p->N);
}
static void ours_input(void *c) /* dX = dY·Wᵀ */
{
    struct product *p = c;
    K->gemm(p->dx, p->K, p->y, p->N, p->packed_t, NULL, false, HD_NONE, p->M, p->N, p->K);
}
static void ours_weight(void *c) /* dW += Xᵀ·dY */
{
    struct product *p = c;
    K->gemm_free(p->dW, p->N, p->x, 1, p->K, p->y, p->N, 1, true, p->K, p->M, p->N, p->scratch);
}
static void theirs_forward(void *c)
{
    struct product *p = c;
    dnnl_sgemm('N', 'N', p->M, p->N, p->K, 1, p->x, p->K, p->W, p->N, 0, p->y, p->N);
}
static void theirs_input(void *c)
{
    struct product *p = c;
    dnnl_sgemm('N', 'T', p->M, p->K, p->N, 1, p->y, p->N, p->W, p->N, 0, p->dx, p->K);
}
static void theirs_weight(void *c)
{
    struct product *p = c;
    dnnl_sgemm('T', 'N', p->K, p->N, p->M, 1, p->x, p->K, p->y, p->N, 1, p->dW, p->N);
}

static const int training_sizes[][2] = {{256, 256},  {256, 1024}, {1024, 256}, {512, 512},
                                        {512, 2048}, {2048, 512}, {512, 8000}};

static void bench_training_products(double *peak_share, double *vs_onednn)
{
    const int n = sizeof training_sizes / sizeof *training_sizes, M = 1600;
    double ours = 0, theirs = 0, ratio = 0;
    printf("\nTraining products, M = %d: share of this core's peak, and oneDNN's time over ours\n",
           M);
    printf("%5s %5s  %9s  %20s %20s %20s\n", "K", "N", "peak", "X·W", "dY·Wᵀ", "Xᵀ·dY");
    printf("%5s %5s  %9s  %20s %20s %20s\n", "", "", "GFLOP/s", "ours oneDNN ratio",
           "ours oneDNN ratio", "ours oneDNN ratio");
    for (int i = 0; i < n; i++) {
        struct product p = product_new(M, training_sizes[i][0], training_sizes[i][1]);
        struct contestant all[] = {{run_peak, NULL, 0},     {ours_forward, &p, 0},
                                   {theirs_forward, &p, 0}, {ours_input, &p, 0},
                                   {theirs_input, &p, 0},   {ours_weight, &p, 0},
                                   {theirs_weight, &p, 0}};
        bench_race(all, 7, p.N > 4000 ? 10 : 25);
        const double peak = peak_run() / all[0].best, flop = 2.0 * M * p.K * p.N;
        printf("%5d %5d  %9.1f ", p.K, p.N, peak * 1e-9);
        for (int f = 1; f < 7; f += 2) {
            const double mine = flop / all[f].best / peak, other = flop / all[f + 1].best / peak;
            printf("  %4.2f   %4.2f  %4.2f ", mine, other, mine / other);
            ours += mine / (3 * n);
            theirs += other / (3 * n);
            ratio += log(mine / other) / (3 * n);
        }
        printf("\n");
        product_free(&p);
    }
    printf("mean share of peak: ours %.3f, oneDNN %.3f\n", ours, theirs);
    *peak_share = ours;
    *vs_onednn = exp(ratio);
}

static double bench_recurrent_products(void)
{
    static const int sizes[][2] = {{512, 1536}, {1024, 2048}}, rows[] = {8, 16, 32, 64};
    double ratio = 0;
    printf("\nRecurrent steps, weights packed: share of peak, and oneDNN's time over ours\n%5s %5s "
           "%5s   ours oneDNN ratio\n",
           "M", "K", "N");
    for (int s = 0; s < 2; s++)
        for (int m = 0; m < 4; m++) {
            struct product p = product_new(rows[m], sizes[s][0], sizes[s][1]);
            struct contestant all[] = {
                {run_peak, NULL, 0}, {ours_forward, &p, 0}, {theirs_forward, &p, 0}};
            bench_race(all, 3, 100);
            const double peak = peak_run() / all[0].best, flop = 2.0 * p.M * p.K * p.N;
            printf("%5d %5d %5d   %4.2f   %4.2f  %4.2f\n", p.M, p.K, p.N, flop / all[1].best / peak,
                   flop / all[2].best / peak, all[2].best / all[1].best);
            ratio += log(all[2].best / all[1].best) / 8;
            product_free(&p);
        }
    return exp(ratio);
}

/* ---- 8-bit products ----------------------------------------------------------------------------------------- */

struct product8 {
    int M, K, N;
    int8_t *x, *w;
    uint8_t *packed;
    float *x_scale, *w_scale, *y;
    dnnl_primitive_t matmul;
    dnnl_stream_t stream;
    dnnl_exec_arg_t args[3];
};

static void must(dnnl_status_t status)
{
    if (status != dnnl_success)
        die("oneDNN refuses an 8-bit product");
}

static dnnl_memory_t memory_of(const dnnl_memory_desc_t *desc, dnnl_engine_t engine, void *data)
{
    dnnl_memory_t m;
    must(dnnl_memory_create(&m, desc, engine, data));
    return m;
}

/* oneDNN's own s8 × s8 product to float with a scale per column, weights in the layout it likes best. */
static void prepare_onednn(struct product8 *p, dnnl_engine_t engine)
{
    dnnl_dims_t xs = {p->M, p->K}, ws = {p->K, p->N}, ys = {p->M, p->N};
    dnnl_memory_desc_t x, w_plain, w, y;
    must(dnnl_memory_desc_init_by_tag(&x, 2, xs, dnnl_s8, dnnl_ab));
    must(dnnl_memory_desc_init_by_tag(&w_plain, 2, ws, dnnl_s8, dnnl_ab));
    must(dnnl_memory_desc_init_by_tag(&w, 2, ws, dnnl_s8, dnnl_format_tag_any));
    must(dnnl_memory_desc_init_by_tag(&y, 2, ys, dnnl_f32, dnnl_ab));
    dnnl_matmul_desc_t desc;
    must(dnnl_matmul_desc_init(&desc, &x, &w, NULL, &y));
    dnnl_primitive_attr_t attr;
    must(dnnl_primitive_attr_create(&attr));
    must(dnnl_primitive_attr_set_output_scales(attr, p->N, 2, p->w_scale));
    dnnl_primitive_desc_t pd;
    must(dnnl_primitive_desc_create(&pd, &desc, attr, engine, NULL));
    must(dnnl_primitive_create(&p->matmul, pd));
    const dnnl_memory_desc_t *best = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    dnnl_memory_t plain = memory_of(&w_plain, engine, p->w),
                  packed = memory_of(best, engine, DNNL_MEMORY_ALLOCATE);
    dnnl_primitive_desc_t reorder_pd;
    must(dnnl_reorder_primitive_desc_create(&reorder_pd, &w_plain, engine, best, engine, NULL));
    dnnl_primitive_t reorder;
    must(dnnl_primitive_create(&reorder, reorder_pd));
    must(dnnl_stream_create(&p->stream, engine, dnnl_stream_default_flags));
    dnnl_exec_arg_t turn[] = {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, packed}};
    must(dnnl_primitive_execute(reorder, p->stream, 2, turn));
    must(dnnl_stream_wait(p->stream));
    p->args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, memory_of(&x, engine, p->x)};
    p->args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, packed};
    p->args[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, memory_of(&y, engine, p->y)};
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(reorder_pd);
    dnnl_memory_destroy(plain);
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(attr);
}

static void ours_int8(void *c)
{
    struct product8 *p = c;
    K->gemm_int8(p->y, p->N, p->x, p->K, p->x_scale, p->packed, p->w_scale, NULL, HD_NONE, p->M,
                 p->K, p->N);
}

static void theirs_int8(void *c)
{
    struct product8 *p = c;
    must(dnnl_primitive_execute(p->matmul, p->stream, 3, p->args));
    must(dnnl_stream_wait(p->stream));
}

static double bench_int8(void)
{
    static const int sizes[][2] = {{512, 512}, {512, 2048}, {2048, 512}, {512, 8000}},
                     rows[] = {1, 8, 64};
    dnnl_engine_t engine;
    must(dnnl_engine_create(&engine, dnnl_cpu, 0));
    double ratio = 0;
    printf("\n8-bit products, weights packed on both sides\n%5s %5s %5s   ours GOP/s  oneDNN GOP/s "
           " ratio\n",
           "M", "K", "N");
    for (int m = 0; m < 3; m++)
        for (int s = 0; s < 4; s++) {
            struct product8 p = {.M = rows[m], .K = sizes[s][0], .N = sizes[s][1]};
            const size_t mk = (size_t)p.M * (size_t)p.K, kn = (size_t)p.K * (size_t)p.N;
            p.x = take(mk);
            p.w = take(kn);
            p.packed = take(hd_packed_size_int8(p.K, p.N));
            p.x_scale = numbers((size_t)p.M);
            p.w_scale = numbers((size_t)p.N);
            p.y = take((size_t)p.M * (size_t)p.N * sizeof *p.y);
            for (size_t i = 0; i < mk; i++)
                p.x[i] = (int8_t)(i * 7919 % 255 - 127);
            for (size_t i = 0; i < kn; i++)
                p.w[i] = (int8_t)(i * 104729 % 255 - 127);
            K->pack_int8(p.packed, p.w, p.N, 1, p.K, p.N);
            prepare_onednn(&p, engine);
            struct contestant all[] = {{ours_int8, &p, 0}, {theirs_int8, &p, 0}};
            bench_race(all, 2, 100);
            const double op = 2.0 * p.M * p.K * p.N;
            printf("%5d %5d %5d   %10.1f  %12.1f  %5.2f\n", p.M, p.K, p.N, op / all[0].best * 1e-9,
                   op / all[1].best * 1e-9, all[1].best / all[0].best);
            ratio += log(all[1].best / all[0].best) / 12;
            dnnl_primitive_destroy(p.matmul);
            for (int i = 0; i < 3; i++)
                dnnl_memory_destroy(p.args[i].memory);
            dnnl_stream_destroy(p.stream);
            void *used[] = {p.x, p.w, p.packed, p.x_scale, p.w_scale, p.y};
            for (size_t i = 0; i < sizeof used / sizeof *used; i++)
                free(used[i]);
        }
    dnnl_engine_destroy(engine);
    return exp(ratio);
}

/* ---- products of bf16 --------------------------------------------------------------------------------------- */

struct product16 {
    int M, K, N;
    uint16_t *x, *dy, *w;
    uint32_t *packed, *packed_t;
    float *y, *dx, *dW, *scratch;
    dnnl_primitive_t matmul[3];
    dnnl_exec_arg_t args[3][3];
    dnnl_stream_t stream;
};

static uint16_t *halves(int rows, int n)
{
    float *from = numbers((size_t)rows * (size_t)n);
    uint16_t *to = take((size_t)rows * (size_t)n * sizeof *to);
    K->to_bf16(to, n, from, n, rows, n);
    free(from);
    return to;
}

/* y[M,N] = a[M,K]·b[K,N] by oneDNN from bf16 to float; a and b may stand transposed, and b in the layout that oneDNN likes best. False when it
 * has no such product for this CPU. */
static bool prepare_onednn16(struct product16 *p, int which, dnnl_engine_t engine, int M, int K,
                             int N, void *a, bool is_a_turned, void *b, bool is_b_turned,
                             bool is_packed, void *y)
{
    dnnl_dims_t as = {M, K}, bs = {K, N}, ys = {M, N};
    dnnl_memory_desc_t ad, b_plain, bd, yd;
    must(dnnl_memory_desc_init_by_tag(&ad, 2, as, dnnl_bf16, is_a_turned ? dnnl_ba : dnnl_ab));
    must(dnnl_memory_desc_init_by_tag(&b_plain, 2, bs, dnnl_bf16, is_b_turned ? dnnl_ba : dnnl_ab));
    must(dnnl_memory_desc_init_by_tag(&bd, 2, bs, dnnl_bf16,
                                      is_packed     ? dnnl_format_tag_any
                                      : is_b_turned ? dnnl_ba
                                                    : dnnl_ab));
    must(dnnl_memory_desc_init_by_tag(&yd, 2, ys, dnnl_f32, dnnl_ab));
    dnnl_matmul_desc_t desc;
    must(dnnl_matmul_desc_init(&desc, &ad, &bd, NULL, &yd));
    dnnl_primitive_desc_t pd;
    if (dnnl_primitive_desc_create(&pd, &desc, NULL, engine, NULL) != dnnl_success)
        return false;
    must(dnnl_primitive_create(&p->matmul[which], pd));
    const dnnl_memory_desc_t *best = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    dnnl_memory_t plain = memory_of(&b_plain, engine, b), right = plain;
    if (is_packed) {
        right = memory_of(best, engine, DNNL_MEMORY_ALLOCATE);
        dnnl_primitive_desc_t reorder_pd;
        must(dnnl_reorder_primitive_desc_create(&reorder_pd, &b_plain, engine, best, engine, NULL));
        dnnl_primitive_t reorder;
        must(dnnl_primitive_create(&reorder, reorder_pd));
        dnnl_exec_arg_t turn[] = {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, right}};
        must(dnnl_primitive_execute(reorder, p->stream, 2, turn));
        must(dnnl_stream_wait(p->stream));
        dnnl_primitive_destroy(reorder);
        dnnl_primitive_desc_destroy(reorder_pd);
        dnnl_memory_destroy(plain);
    }
    p->args[which][0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, memory_of(&ad, engine, a)};
    p->args[which][1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, right};
    p->args[which][2] = (dnnl_exec_arg_t){DNNL_ARG_DST, memory_of(&yd, engine, y)};
    dnnl_primitive_desc_destroy(pd);
    return true;
}

static void ours_forward16(void *c)
{
    struct product16 *p = c;
    K->gemm_bf16(p->y, p->N, p->x, p->K, p->packed, NULL, false, HD_NONE, p->M, p->K, p->N);
}
static void ours_input16(void *c)
{
    struct product16 *p = c;
    K->gemm_bf16(p->dx, p->K, p->dy, p->N, p->packed_t, NULL, false, HD_NONE, p->M, p->N, p->K);
}
static void ours_weight16(void *c)
{
    struct product16 *p = c;
    K->gemm_bf16_free(p->dW, p->N, p->x, p->K, p->dy, p->N, true, p->K, p->M, p->N, p->scratch);
}
static void theirs16(struct product16 *p, int which)
{
    must(dnnl_primitive_execute(p->matmul[which], p->stream, 3, p->args[which]));
    must(dnnl_stream_wait(p->stream));
}
static void theirs_forward16(void *c)
{
    theirs16(c, 0);
}
static void theirs_input16(void *c)
{
    theirs16(c, 1);
}
static void theirs_weight16(void *c)
{
    theirs16(c, 2);
}
static void run_peak16(void *nothing)
{
    (void)nothing;
    peak_run_bf16();
}

static bool product16_init(struct product16 *p, dnnl_engine_t engine)
{
    const size_t m = (size_t)p->M, k = (size_t)p->K, n = (size_t)p->N;
    float *w = numbers(k * n);
    p->x = halves(p->M, p->K);
    p->dy = halves(p->M, p->N);
    p->w = take(k * n * sizeof *p->w);
    p->packed = take(hd_packed_size_bf16(p->K, p->N) * 4);
    p->packed_t = take(hd_packed_size_bf16(p->N, p->K) * 4);
    p->y = numbers(m * n);
    p->dx = numbers(m * k);
    p->dW = numbers(k * n);
    p->scratch = take(HD_GEMM_SCRATCH * 4);
    K->to_bf16(p->w, p->N, w, p->N, p->K, p->N);
    K->pack_bf16(p->packed, w, p->N, 1, p->K, p->N);
    K->pack_bf16(p->packed_t, w, 1, p->N, p->N, p->K);
    free(w);
    must(dnnl_stream_create(&p->stream, engine, dnnl_stream_default_flags));
    return prepare_onednn16(p, 0, engine, p->M, p->K, p->N, p->x, false, p->w, false, true, p->y) &&
           prepare_onednn16(p, 1, engine, p->M, p->N, p->K, p->dy, false, p->w, true, true,
                            p->dx) &&
           prepare_onednn16(p, 2, engine, p->K, p->M, p->N, p->x, true, p->dy, false, false, p->dW);
}

static void product16_release(struct product16 *p, bool has_peer)
{
    void *all[] = {p->x, p->dy, p->w, p->packed, p->packed_t, p->y, p->dx, p->dW, p->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (int i = 0; has_peer && i < 3; i++) {
        dnnl_primitive_destroy(p->matmul[i]);
        for (int j = 0; j < 3; j++)
            dnnl_memory_destroy(p->args[i][j].memory);
    }
    dnnl_stream_destroy(p->stream);
}

/* Shares are of the faster of the CPU's two ways: vdpbf16ps, or multiply-adds on what was widened. */
static void bench_bf16(double *peak_share, double *vs_onednn)
{
    const int n = sizeof training_sizes / sizeof *training_sizes, M = 1600;
    dnnl_engine_t engine;
    must(dnnl_engine_create(&engine, dnnl_cpu, 0));
    double ours = 0, ratio = 0;
    bool has_peer = true;
    printf("\nTraining products of bf16, M = %d: share of this core's peak, and oneDNN's time over "
           "ours\n",
           M);
    for (int i = 0; i < n; i++) {
        struct product16 p = {.M = M, .K = training_sizes[i][0], .N = training_sizes[i][1]};
        has_peer = product16_init(&p, engine) && has_peer;
        struct contestant all[] = {{run_peak, NULL, 0},     {run_peak16, NULL, 0},
                                   {ours_forward16, &p, 0}, {ours_input16, &p, 0},
                                   {ours_weight16, &p, 0},  {theirs_forward16, &p, 0},
                                   {theirs_input16, &p, 0}, {theirs_weight16, &p, 0}};
        bench_race(all, has_peer ? 8 : 5, p.N > 4000 ? 10 : 25);
        const double f32 = peak_run() / all[0].best, unit = peak_run_bf16() / all[1].best;
        const double peak = unit > f32 ? unit : f32, flop = 2.0 * M * p.K * p.N;
        printf("%5d %5d  %9.1f ", p.K, p.N, peak * 1e-9);
        for (int f = 2; f < 5; f++) {
            const double mine = flop / all[f].best / peak;
            const double other = has_peer ? flop / all[f + 3].best / peak : 0;
            printf("  %4.2f   %4.2f  %4.2f ", mine, other, has_peer ? mine / other : 0);
            ours += mine / (3 * n);
            ratio += has_peer ? log(mine / other) / (3 * n) : 0;
        }
        printf("\n");
        product16_release(&p, has_peer);
    }
    dnnl_engine_destroy(engine);
    *peak_share = ours;
    *vs_onednn = has_peer ? exp(ratio) : 0;
}

/* ---- the tape ------------------------------------------------------------------------------------------------ */

enum { TAPE_OPS = 3000 };

static void run_tape(void *c)
{
    hd_tape *t = c;
    hd_tape_reset(t);
    hd_node *x = hd_variable(t, NULL, 1), *y = x;
    for (int i = 0; i < TAPE_OPS / 3; i++)
        y = hd_add(hd_scale(hd_tanh(y), 0.5f), x);
    if (!hd_backward(y, NULL))
        die(hd_tape_error(t)->message);
}

static double bench_tape(void)
{
    heed_error err = {0};
    hd_tape *t = hd_tape_new(&err);
    if (!t)
        die(err.message);
    hd_tape_record(t, true);
    struct contestant one = {run_tape, t, 0};
    bench_race(&one, 1, 300);
    hd_tape_free(t);
    printf("\nTape: %d ops (tanh, scale, add in turn) on one number, recorded and walked back: "
           "%.1f ns an op\n",
           TAPE_OPS, one.best / TAPE_OPS * 1e9);
    return one.best / TAPE_OPS * 1e9;
}

/* ---- the output layer ---------------------------------------------------------------------------------------- */

struct layer {
    struct product p;
    hd_params *params;
    hd_node *W;
    hd_tape *t;
    float *gradients;
    int *targets;
};

static void run_layer(void *c)
{
    struct layer *l = c;
    hd_tape_reset(l->t);
    hd_node *x = hd_variable(l->t, l->p.x, l->p.M, l->p.K);
    if (!hd_backward(hd_output_loss(l->W, NULL, x, l->targets, NULL), l->gradients))
        die(hd_tape_error(l->t)->message);
}

static void run_three(void *c)
{
    struct layer *l = c;
    ours_forward(&l->p);
    ours_input(&l->p);
    ours_weight(&l->p);
}

static double bench_output_layer(void)
{
    heed_error err = {0};
    struct layer l = {.p = product_new(1600, 512, 8000), .params = hd_params_new(&err)};
    l.W = hd_param(l.params, "W", l.p.K, l.p.N);
    if (!hd_params_make(l.params, &err) || !(l.t = hd_tape_new(&err)))
        die(err.message);
    hd_init_glorot(l.W, 1);
    l.gradients = take(hd_params_size(l.params) * sizeof *l.gradients);
    memset(l.gradients, 0, hd_params_size(l.params) * sizeof *l.gradients);
    l.targets = take((size_t)l.p.M * sizeof *l.targets);
    for (int i = 0; i < l.p.M; i++)
        l.targets[i] = i * 37 % l.p.N;
    hd_tape_record(l.t, true);
    run_layer(&l); /* so that packing knows what is wanted */
    if (!hd_params_pack(l.params, &err))
        die(err.message);
    struct contestant all[] = {{run_layer, &l, 0}, {run_three, &l, 0}};
    bench_race(all, 2, 8);
    const double share = all[1].best / all[0].best;
    printf("\nOutput layer [1600,512] → 8000 with softmax, cross entropy and gradients: %.1f ms; "
           "its three bare products: %.1f ms\n",
           all[0].best * 1e3, all[1].best * 1e3);
    hd_tape_free(l.t);
    hd_params_free(l.params);
    free(l.gradients);
    free(l.targets);
    product_free(&l.p);
    return share;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!getenv("OMP_NUM_THREADS") || strcmp(getenv("OMP_NUM_THREADS"), "1") != 0) {
        setenv("OMP_NUM_THREADS", "1",
               1); /* oneDNN's threads read it before main begins: begin again */
        execv("/proc/self/exe", argv);
    }
    heed_error err = {0};
    K = hd_kernels_chosen(&err);
    if (!K)
        die(err.message);
    const dnnl_version_t *v = dnnl_version();
    printf("heed %s, kernels %s, against oneDNN %d.%d.%d, one thread\n", heed_version(), K->name,
           v->major, v->minor, v->patch);
    double share, vs_onednn;
    bench_training_products(&share, &vs_onednn);
    const double recurrent = bench_recurrent_products();
    const double int8 = bench_int8();
    double share16, vs_onednn16;
    bench_bf16(&share16, &vs_onednn16);
    const double tape = bench_tape();
    const double layer = bench_output_layer();
    printf("\nheadline gemm_peak_share %.3f\n", share);
    printf("headline gemm_vs_onednn %.3f\n", vs_onednn);
    printf("headline gemm_recurrent_vs_onednn %.3f\n", recurrent);
    printf("headline int8_vs_onednn %.3f\n", int8);
    printf("headline gemm_bf16_peak_share %.3f\n", share16);
    if (vs_onednn16 > 0)
        printf("headline gemm_bf16_vs_onednn %.3f\n", vs_onednn16);
    else
        printf("gemm_bf16_vs_onednn is left out: oneDNN has no products of bf16 for this CPU\n");
    printf("headline tape_ns_per_op %.1f\n", tape);
    printf("headline softmax_xent_share %.3f\n", layer);
    return 0;
}
