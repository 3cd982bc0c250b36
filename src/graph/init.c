/* init.c -- start values of parameters, the same on every machine.
 *
 * The seed is the key of the random stream and the parameter's name its number, so a parameter
 * keeps its start values when others are added, and two parameters never share them. No function
 * of libm but the square root. */
#include "base/rng.h"
#include "graph/tape.h"

#include <math.h>

/* The stream of a name: its 64-bit FNV-1a hash. */
static uint64_t stream_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
    return hash;
}

/* What is to be filled: false for parameters without values. Packed copies are of the past from
 * here on. */
static bool begin(hd_node *param, uint64_t seed, struct hd_rng *rng)
{
    if (!param->x || !param->param)
        return false;
    param->param->straight.is_current = false;
    param->param->crossed.is_current = false;
    *rng = (struct hd_rng){.key = seed, .stream = stream_of(param->param->name)};
    return true;
}

void hd_init_fill(hd_node *param, float value)
{
    struct hd_rng unused;
    if (begin(param, 0, &unused))
        for (size_t i = 0; i < param->count; i++)
            param->x[i] = value;
}

void hd_init_uniform(hd_node *param, float limit, uint64_t seed)
{
    struct hd_rng rng;
    if (!begin(param, seed, &rng))
        return;
    hd_rng_uniforms(&rng, param->x, param->count);
    for (size_t i = 0; i < param->count; i++)
        param->x[i] = limit * (2 * param->x[i] - 1);
}

void hd_init_normal(hd_node *param, float deviation, uint64_t seed)
{
    struct hd_rng rng;
    if (!begin(param, seed, &rng))
        return;
    hd_rng_normals(&rng, param->x, param->count);
    for (size_t i = 0; i < param->count; i++)
        param->x[i] *= deviation;
}

/* Glorot & Bengio (2010), equation 16. */
void hd_init_glorot(hd_node *param, uint64_t seed)
{
    const float both = (float)hd_n_rows(param) + (float)hd_last_dim(param);
    hd_init_uniform(param, both > 0 ? sqrtf(6 / both) : 0, seed);
}

/* ---- orthogonal matrices: Saxe, McClelland & Ganguli (2014) ---------------------------------- */

/* Modified Gram-Schmidt on the rows of q [rows,n]: each is normalised and taken out of those
 * below it. */
static void orthonormal_rows(const struct hd_kernels *k, float *q, long ld, int rows, int n)
{
    for (int i = 0; i < rows; i++) {
        float *a = q + i * ld;
        const float norm = sqrtf(k->dot(a, a, n));
        if (norm > 0)
            k->scale(a, 1 / norm, a, n);
        for (int j = i + 1; j < rows; j++)
            k->add_scaled(q + j * ld, -k->dot(a, q + j * ld, n), a, n);
    }
}

/* The same on the columns of q [rows,n], in sweeps along its rows, some columns at a time. */
static void orthonormal_columns(const struct hd_kernels *k, float *q, int rows, int n)
{
    enum { AT_A_TIME = 256 };
    float dots[AT_A_TIME];
    for (int i = 0; i < n; i++) {
        float squares = 0;
        for (int r = 0; r < rows; r++)
            squares += q[(long)r * n + i] * q[(long)r * n + i];
        const float norm = sqrtf(squares);
        for (int r = 0; r < rows && norm > 0; r++)
            q[(long)r * n + i] /= norm;
        for (int from = i + 1; from < n; from += AT_A_TIME) {
            const int m = n - from < AT_A_TIME ? n - from : AT_A_TIME;
            for (int j = 0; j < m; j++)
                dots[j] = 0;
            for (int r = 0; r < rows; r++)
                k->add_scaled(dots, q[(long)r * n + i], q + (long)r * n + from, m);
            for (int r = 0; r < rows; r++)
                k->add_scaled(q + (long)r * n + from, -q[(long)r * n + i], dots, m);
        }
    }
}

void hd_init_orthogonal(hd_node *param, float gain, uint64_t seed)
{
    const struct hd_kernels *chosen = hd_kernels_chosen(NULL);
    const struct hd_kernels *k = chosen ? chosen : &hd_kernels_ref; /* the same bits */
    hd_init_normal(param, 1, seed);
    if (!param->x || !param->param)
        return;
    const int rows = hd_n_rows(param), n = hd_last_dim(param);
    for (int pass = 0; pass < 2; pass++) { /* the second takes out what the first rounded off */
        if (rows > n)
            orthonormal_columns(k, param->x, rows, n);
        else if (rows > 1 && n % rows == 0)
            for (int block = 0; block < n; block += rows)
                orthonormal_rows(k, param->x + block, n, rows, rows);
        else
            orthonormal_rows(k, param->x, n, rows, n);
    }
    for (size_t i = 0; i < param->count; i++)
        param->x[i] *= gain;
}
