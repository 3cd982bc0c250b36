/* params.c -- parameters: named nodes whose values stand one after the other in one block.
 *
 * First all are declared, then hd_params_make() lays out the block; from then on nothing moves,
 * so threads may read values and packed copies freely. Only the wishes for packing are written
 * by threads, as atomic flags. */
#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "kernel/bf16.h"

#include <stdio.h>
#include <string.h>

/* One parameter: the node that formulas use, what it knows of its set, and its name. */
struct entry {
    hd_node node;
    struct hd_param param;
    char name[];
};

struct hd_params {
    struct entry **entries;
    int n, capacity;
    float *values;       /* NULL until made, and where a parameter is held for products */
    size_t size;         /* floats; a multiple of STEP */
    float *held;         /* of a set with such parameters: the others, and the scales, */
    uint8_t *panels;     /* and what products read */
    uint8_t *quantised;  /* while training in 8 bits: those of all matrices, and their scales */
    float *packed;       /* packed copies of those that were wanted first, one after the other */
    size_t packed_size;  /* floats; 0 before the first packing of all */
    unsigned generation; /* of the values */
    heed_error error;    /* the first failed declaration */
};

enum { STEP = 16 }; /* parameters begin at multiples of this many floats: 64 bytes */

/* What a declaration returns when it fails; ops refuse it. Never written. */
static hd_node undeclared = {.n_dims = 1, .dim = {0, 1, 1, 1}};

hd_params *hd_params_new(heed_error *err)
{
    return hd_new(hd_params, err);
}

static void free_copy(const hd_params *params, struct hd_packed *p)
{
    const bool is_in_block =
        params->packed && p->at >= params->packed && p->at < params->packed + params->packed_size;
    if (!is_in_block)
        hd_free(p->at);
}

void hd_params_free(hd_params *params)
{
    if (!params)
        return;
    for (int i = 0; i < params->n; i++) {
        struct entry *e = params->entries[i];
        if (!hd_is_for_products(&e->node)) { /* else they are in `panels` */
            free_copy(params, &e->param.straight);
            free_copy(params, &e->param.crossed);
        }
        hd_free(e);
    }
    hd_free(params->packed);
    hd_free(params->entries);
    hd_free(params->values);
    hd_free(params->held);
    hd_free(params->panels);
    hd_free(params->quantised);
    hd_free(params);
}

/* ---- declaring ------------------------------------------------------------------------------- */

static bool has_room(hd_params *p)
{
    if (p->n < p->capacity)
        return true;
    if (p->capacity > INT_MAX / 2)
        return hd_fail(&p->error, HEED_NO_MEMORY, "hd_param: there are %d parameters already",
                       p->n);
    const int capacity = p->capacity ? 2 * p->capacity : 32;
    struct entry **grown = hd_alloc((size_t)capacity, sizeof *grown, &p->error);
    if (!grown)
        return false;
    if (p->n > 0)
        memcpy(grown, p->entries, (size_t)p->n * sizeof *grown);
    hd_free(p->entries);
    p->entries = grown;
    p->capacity = capacity;
    return true;
}

/* The shape, and where the block would end with it. */
static bool check_shape(hd_params *p, const char *name, const int *dims, int n_dims,
                        struct hd_shape *shape, size_t *count, size_t *end)
{
    if (n_dims < 1 || n_dims > HD_MAX_DIMS)
        return hd_fail(&p->error, HEED_BAD_SHAPE,
                       "hd_param: %s has %d dimensions, a parameter has 1 to %d", name, n_dims,
                       HD_MAX_DIMS);
    *shape = (struct hd_shape){n_dims, {1, 1, 1, 1}};
    *count = 1;
    size_t rows = 1;
    bool fits = true;
    for (int i = 0; i < n_dims; i++) {
        shape->dim[i] = dims[i];
        if (dims[i] < 0)
            return hd_fail(&p->error, HEED_BAD_SHAPE, "hd_param: %s has a size of %d", name,
                           dims[i]);
        rows = *count;
        fits = fits && rows <= INT_MAX && hd_mul_size(count, *count, (size_t)dims[i]);
    }
    if (!fits || rows > INT_MAX || *count > PTRDIFF_MAX / 16 || p->size + *count > PTRDIFF_MAX / 16)
        return hd_fail(&p->error, HEED_BAD_SHAPE, "hd_param: %s %s is too large", name,
                       hd_shape_to_text(*shape).s);
    *end = (p->size + *count + STEP - 1) / STEP * STEP;
    return true;
}

hd_node *hd_param_dims(hd_params *params, const char *name, const int *dims, int n_dims)
{
    struct hd_shape shape;
    size_t count = 0, end = 0;
    if (hd_failed(&params->error))
        return &undeclared;
    if (params->values || params->held)
        hd_fail(&params->error, HEED_BAD_OPTION,
                "hd_param: %s comes too late, hd_params_make() was called before", name);
    else if (!*name)
        hd_fail(&params->error, HEED_BAD_OPTION, "hd_param: a parameter needs a name");
    else if (hd_params_find(params, name))
        hd_fail(&params->error, HEED_BAD_OPTION, "hd_param: there are two parameters called %s",
                name);
    if (hd_failed(&params->error) ||
        !check_shape(params, name, dims, n_dims, &shape, &count, &end) || !has_room(params))
        return &undeclared;

    const size_t name_bytes = strlen(name) + 1;
    struct entry *e = hd_alloc(1, sizeof *e + name_bytes, &params->error);
    if (!e)
        return &undeclared;
    memcpy(e->name, name, name_bytes);
    e->param = (struct hd_param){
        .set = params, .name = e->name, .index = params->n, .offset = params->size};
    e->node.n_dims = shape.n_dims;
    memcpy(e->node.dim, shape.dim, sizeof e->node.dim);
    e->node.count = count;
    e->node.wants_gradient = true;
    e->node.param = &e->param;
    params->entries[params->n++] = e;
    params->size = end;
    return &e->node;
}

/* ---- making ---------------------------------------------------------------------------------- */

void hd_param_set_use(hd_node *param, enum hd_param_use use)
{
    if (param->param)
        param->param->use = use;
}

/* Of a map or table, as products have it: how many numbers go in, and come out; and the strides of both in the parameter's own shape. */
static int inputs_of(const hd_node *param)
{
    return param->dim[param->param->use == HD_PARAM_TABLE];
}

static int outputs_of(const hd_node *param)
{
    return param->dim[param->param->use != HD_PARAM_TABLE];
}

static long k_stride_of(const hd_node *param)
{
    return param->param->use == HD_PARAM_TABLE ? 1 : param->dim[1];
}

static long n_stride_of(const hd_node *param)
{
    return param->param->use == HD_PARAM_TABLE ? param->dim[1] : 1;
}

/* The copy that is all there is of a parameter held packed, or in bf16. */
static struct hd_packed *held_copy(const hd_node *param)
{
    struct hd_param *p = param->param;
    return p->use == HD_PARAM_TABLE ? &p->crossed : &p->straight;
}

static bool can_be_held(const hd_node *param, enum hd_held held)
{
    const enum hd_param_use use = param->param->use;
    const bool is_for_products = use != HD_PARAM_OTHER && param->n_dims == 2;
    switch (held) {
    case HD_HELD_PLAIN:
        return true;
    case HD_HELD_PACKED:
        return is_for_products && use == HD_PARAM_MAP;
    case HD_HELD_BF16:
        return is_for_products;
    case HD_HELD_INT8:
        return is_for_products && inputs_of(param) > 0 && inputs_of(param) <= HD_INT8_MAX_K;
    }
    return false;
}

void hd_param_hold(hd_node *param, enum hd_held held)
{
    struct hd_param *p = param->param;
    if (!p || !can_be_held(param, held))
        return;
    p->held = held;
    p->multiplies_bf16 = held == HD_HELD_BF16;
    p->multiplies_int8 = held == HD_HELD_INT8;
}

static size_t rounded_up(size_t n)
{
    return (n + STEP - 1) / STEP * STEP;
}

/* Floats that a parameter of a mixed set has in the common block: all, its scales, or none. */
static size_t held_floats(const hd_node *param)
{
    return rounded_up(hd_is_int8(param)           ? (size_t)outputs_of(param)
                      : hd_is_for_products(param) ? 0
                                                  : param->count);
}

/* Bytes of its panels, each a multiple of 64. */
static size_t panel_bytes(const hd_node *param)
{
    const int K = inputs_of(param), N = outputs_of(param);
    switch (param->param->held) {
    case HD_HELD_PLAIN:
        return 0;
    case HD_HELD_PACKED:
        return hd_packed_size(K, N) * sizeof(float);
    case HD_HELD_BF16:
        return hd_packed_size_bf16(K, N) * sizeof(uint32_t);
    case HD_HELD_INT8:
        return hd_packed_size_int8(K, N);
    }
    return 0;
}

/* Memory for a set of which some parameters are held for products. A kernel packs them, so there must be one. */
static bool make_mixed(hd_params *params, heed_error *err)
{
    size_t n_floats = STEP, n_bytes = 64;
    for (int i = 0; i < params->n; i++) {
        n_floats += held_floats(&params->entries[i]->node);
        n_bytes += panel_bytes(&params->entries[i]->node);
    }
    float *next = hd_kernels_chosen(err) ? hd_alloc(n_floats, sizeof *next, err) : NULL;
    uint8_t *panels = next ? hd_alloc(n_bytes, 1, err) : NULL;
    params->held = next;
    params->panels = panels;
    for (int i = 0; panels && i < params->n; i++) {
        hd_node *node = &params->entries[i]->node;
        node->wants_gradient = false;
        if (hd_is_int8(node)) {
            node->param->int8 = (struct hd_int8_matrix){
                .K = inputs_of(node), .N = outputs_of(node), .scale = next, .packed = panels};
        } else if (hd_is_for_products(node)) {
            held_copy(node)->at = (float *)(void *)panels;
            held_copy(node)->is_current = true;
        } else {
            node->x = next;
        }
        panels += panel_bytes(node);
        next += held_floats(node);
    }
    return panels != NULL;
}

bool hd_params_make(hd_params *params, heed_error *err)
{
    if (hd_failed(&params->error))
        return hd_fail(err, params->error.code, "%s", params->error.message);
    if (params->values || params->panels)
        return true;
    for (int i = 0; i < params->n; i++)
        if (hd_is_for_products(&params->entries[i]->node))
            return make_mixed(params, err);
    params->values = hd_alloc(params->size, sizeof *params->values, err);
    for (int i = 0; params->values && i < params->n; i++)
        params->entries[i]->node.x = params->values + params->entries[i]->param.offset;
    return params->values != NULL;
}

/* ---- values that are held for products -------------------------------------------------------- */

void hd_param_read_int8(const hd_node *param, int8_t *q)
{
    hd_int8_matrix_read(&param->param->int8, q, k_stride_of(param), n_stride_of(param));
}

void hd_param_write_int8(hd_node *param, const int8_t *q, const float *scale)
{
    const struct hd_int8_matrix *m = &param->param->int8;
    memcpy(m->scale, scale, (size_t)m->N * sizeof *scale);
    hd_kernels_chosen(NULL)->pack_int8(m->packed, q, k_stride_of(param), n_stride_of(param), m->K,
                                       m->N);
}

bool hd_param_quantise(const hd_node *param, int8_t *q, float *scale, size_t *n, heed_error *err)
{
    struct hd_int8_matrix m = {.K = inputs_of(param), .N = outputs_of(param), .scale = scale};
    m.packed = hd_alloc(hd_packed_size_int8(m.K, m.N), 1, err);
    float *widened = param->x ? NULL : hd_alloc(param->count, sizeof *widened, err);
    if (widened)
        hd_param_read(param, widened);
    const float *x = widened ? widened : param->x;
    const bool ok = m.packed && x &&
                    hd_int8_matrix_quantise(&m, x, k_stride_of(param), n_stride_of(param), err);
    if (ok)
        hd_int8_matrix_read(&m, q, k_stride_of(param), n_stride_of(param));
    hd_free(widened);
    hd_free(m.packed);
    *n = (size_t)m.N;
    return ok;
}

void hd_param_scale(const hd_node *param, float *values, const int8_t *q, const float *scale)
{
    const bool is_table = param->param->use == HD_PARAM_TABLE;
    const long columns = param->dim[1];
    for (long i = 0; i < (long)param->count; i++)
        values[i] = scale[is_table ? i / columns : i % columns] * (float)q[i];
}

/* Number k of output n in panels of pairs. */
static float bf16_value(const hd_node *param, int k, int n)
{
    const size_t pairs = ((size_t)inputs_of(param) + 1) / 2;
    const uint32_t pair = held_copy(param)->pairs[(size_t)(n / HD_LANES) * HD_LANES * pairs +
                                                  (size_t)(k / 2) * HD_LANES + n % HD_LANES];
    return hd_bf16_value((uint16_t)(k % 2 ? pair >> 16 : pair));
}

/* And in those of floats. */
static float packed_value(const hd_node *param, int k, int n)
{
    const size_t panel = (size_t)(n / HD_LANES) * HD_LANES * (size_t)inputs_of(param);
    return held_copy(param)->at[panel + (size_t)k * HD_LANES + (size_t)(n % HD_LANES)];
}

static void read_output(const hd_node *param, int n, float *w, long stride)
{
    const struct hd_param *p = param->param;
    const long k_stride = k_stride_of(param), at = n * n_stride_of(param);
    if (p->multiplies_int8)
        hd_int8_matrix_column(&p->int8, n, w, stride);
    else
        for (int k = 0; k < inputs_of(param); k++)
            w[k * stride] = p->held == HD_HELD_BF16     ? bf16_value(param, k, n)
                            : p->held == HD_HELD_PACKED ? packed_value(param, k, n)
                                                        : param->x[k * k_stride + at];
}

void hd_param_read_output(const hd_node *param, int n, float *w)
{
    read_output(param, n, w, 1);
}

void hd_param_read(const hd_node *param, float *values)
{
    if (param->x) {
        memcpy(values, param->x, param->count * sizeof *values);
        return;
    }
    for (int n = 0; n < outputs_of(param); n++)
        read_output(param, n, values + n * n_stride_of(param), k_stride_of(param));
}

bool hd_param_write(hd_node *param, const float *values, heed_error *err)
{
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    const long k_stride = k_stride_of(param), n_stride = n_stride_of(param);
    switch (param->param->held) {
    case HD_HELD_PLAIN:
        memcpy(param->x, values, param->count * sizeof *values);
        break;
    case HD_HELD_PACKED:
        k->pack(held_copy(param)->at, values, k_stride, n_stride, inputs_of(param),
                outputs_of(param));
        break;
    case HD_HELD_BF16:
        k->pack_bf16(held_copy(param)->pairs, values, k_stride, n_stride, inputs_of(param),
                     outputs_of(param));
        break;
    case HD_HELD_INT8:
        return hd_int8_matrix_quantise(&param->param->int8, values, k_stride, n_stride, err);
    }
    return true;
}

/* ---- training in other numbers ---------------------------------------------------------------- */

void hd_params_multiply_bf16(hd_params *params, bool adds_in_blocks)
{
    for (int i = 0; i < params->n; i++) {
        struct hd_param *p = &params->entries[i]->param;
        p->multiplies_bf16 = params->entries[i]->node.n_dims == 2;
        p->adds_in_blocks = p->multiplies_bf16 && adds_in_blocks;
    }
}

/* The panels, the scales, and what is needed to make them. */
static size_t quantised_size(const struct hd_int8_matrix *m)
{
    return hd_packed_size_int8(m->K, m->N) + rounded_up((size_t)m->N) * sizeof(float) +
           hd_int8_matrix_scratch(m->K);
}

static bool can_multiply_int8(const hd_node *param)
{
    return param->x && can_be_held(param, HD_HELD_INT8);
}

bool hd_params_multiply_int8(hd_params *params, heed_error *err)
{
    size_t n_bytes = 64;
    for (int i = 0; i < params->n; i++) {
        const hd_node *node = &params->entries[i]->node;
        if (!can_multiply_int8(node))
            continue;
        node->param->int8 = (struct hd_int8_matrix){.K = inputs_of(node), .N = outputs_of(node)};
        n_bytes += quantised_size(&node->param->int8);
    }
    uint8_t *at = hd_kernels_chosen(err) ? hd_alloc(n_bytes, 1, err) : NULL;
    params->quantised = at;
    for (int i = 0; at && i < params->n; i++) {
        struct hd_param *p = &params->entries[i]->param;
        if (!can_multiply_int8(&params->entries[i]->node))
            continue;
        p->multiplies_int8 = true;
        p->int8.packed = at;
        p->int8.scale = (float *)(void *)(at + hd_packed_size_int8(p->int8.K, p->int8.N));
        at += quantised_size(&p->int8);
        hd_params_requantise(params, i);
    }
    return at != NULL;
}

void hd_params_requantise(hd_params *params, int i)
{
    const hd_node *node = &params->entries[i]->node;
    struct hd_int8_matrix *m = &node->param->int8;
    if (node->x && node->param->multiplies_int8)
        hd_int8_matrix_quantise_in(m, node->x, k_stride_of(node), n_stride_of(node),
                                   m->scale + rounded_up((size_t)m->N));
}

/* ---- looking --------------------------------------------------------------------------------- */

size_t hd_params_size(const hd_params *params)
{
    return params->size;
}

float *hd_params_values(hd_params *params)
{
    return params->values;
}

int hd_params_number(const hd_params *params)
{
    return params->n;
}

hd_node *hd_params_at(const hd_params *params, int i)
{
    return i >= 0 && i < params->n ? &params->entries[i]->node : NULL;
}

hd_node *hd_params_find(const hd_params *params, const char *name)
{
    for (int i = 0; i < params->n; i++)
        if (strcmp(params->entries[i]->name, name) == 0)
            return &params->entries[i]->node;
    return NULL;
}

const char *hd_param_name(const hd_node *param)
{
    return param->param ? param->param->name : "";
}

size_t hd_param_offset(const hd_node *param)
{
    return param->param ? param->param->offset : 0;
}

/* ---- packing --------------------------------------------------------------------------------- */

void hd_param_want_packed(hd_node *param, bool is_crossed)
{
    if (param->param)
        (is_crossed ? &param->param->crossed : &param->param->straight)->is_wanted = true;
}

/* Floats, or pairs of bf16, of a copy that is wanted and not there yet. */
static size_t size_wanted(const hd_node *W, const struct hd_packed *p, int K, int N)
{
    const bool is_wanted = atomic_load_explicit(&p->is_wanted, memory_order_relaxed);
    if (!is_wanted || p->at || hd_is_for_products(W))
        return 0;
    return hd_multiplies_bf16(W) ? hd_packed_size_bf16(K, N) : hd_packed_size(K, N);
}

static size_t size_straight(const hd_node *W)
{
    return size_wanted(W, &W->param->straight, W->dim[0], W->dim[1]);
}

static size_t size_crossed(const hd_node *W)
{
    return size_wanted(W, &W->param->crossed, W->dim[1], W->dim[0]);
}

static float *take_copy(struct hd_packed *p, float *at, size_t size)
{
    p->at = size > 0 ? at : p->at;
    return at + size;
}

/* One block for all copies that are wanted so far, the first time: alone, small ones would lie in small pages of memory. What is
 * wanted later has a block of its own. */
static bool make_copies(hd_params *params, heed_error *err)
{
    if (params->packed)
        return true;
    size_t total = 0;
    for (int i = 0; i < params->n; i++) {
        const hd_node *W = &params->entries[i]->node;
        if (W->n_dims == 2)
            total += size_straight(W) + size_crossed(W);
    }
    float *at = total > 0 ? hd_alloc_raw(total * sizeof *at) : NULL; /* packing writes all of it */
    if (total > 0 && !at)
        return hd_fail(err, HEED_NO_MEMORY, "there is no memory for %zu packed weights", total);
    params->packed = at;
    params->packed_size = total;
    for (int i = 0; at && i < params->n; i++) {
        const hd_node *W = &params->entries[i]->node;
        struct hd_param *p = &params->entries[i]->param;
        if (W->n_dims != 2)
            continue;
        at = take_copy(&p->straight, at, size_straight(W));
        at = take_copy(&p->crossed, at, size_crossed(W));
    }
    return true;
}

/* What was wanted after the first time. */
static bool make_copy(struct hd_packed *p, size_t size, heed_error *err)
{
    return size == 0 || (p->at = hd_alloc(size, sizeof *p->at, err)) != NULL;
}

bool hd_params_pack_begin(hd_params *params, heed_error *err)
{
    bool ok = hd_kernels_chosen(err) != NULL && make_copies(params, err);
    for (int i = 0; ok && i < params->n; i++) {
        const hd_node *W = &params->entries[i]->node;
        struct hd_param *p = &params->entries[i]->param;
        ok = W->n_dims != 2 || (make_copy(&p->straight, size_straight(W), err) &&
                                make_copy(&p->crossed, size_crossed(W), err));
    }
    return ok;
}

/* hd_params_pack_rows() for a matrix whose products are of bf16. `from` is even. */
static void pack_rows_bf16(const struct hd_kernels *k, const hd_node *W, int from, int to)
{
    const struct hd_param *p = W->param;
    const int rows = W->dim[0], columns = W->dim[1];
    const size_t row_pairs = ((size_t)rows + 1) / 2, column_pairs = ((size_t)columns + 1) / 2;
    const float *x = W->x + (size_t)from * (size_t)columns;
    if (p->straight.at && !p->straight.is_current)
        for (int n = 0; n < columns; n += HD_LANES)
            k->pack_bf16(p->straight.pairs + (size_t)n * row_pairs + (size_t)from / 2 * HD_LANES,
                         x + n, columns, 1, to - from,
                         columns - n < HD_LANES ? columns - n : HD_LANES);
    if (p->crossed.at && !p->crossed.is_current)
        k->pack_bf16(p->crossed.pairs + (size_t)from * column_pairs, x, 1, columns, columns,
                     to - from);
}

void hd_params_pack_rows(hd_params *params, int i, int from, int to)
{
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    const hd_node *W = &params->entries[i]->node;
    const struct hd_param *p = &params->entries[i]->param;
    if (W->n_dims != 2 || hd_is_for_products(W))
        return;
    if (hd_multiplies_bf16(W)) {
        pack_rows_bf16(k, W, from, to);
        return;
    }
    const int rows = W->dim[0], columns = W->dim[1];
    const float *x = W->x + (size_t)from * (size_t)columns;
    if (p->straight.at && !p->straight.is_current && from == 0 && to == rows)
        k->pack(p->straight.at, x, columns, 1, rows, columns);
    else if (p->straight.at && !p->straight.is_current) /* a part of every panel */
        for (int n = 0; n < columns; n += HD_LANES)
            k->pack(p->straight.at + (size_t)n * (size_t)rows + (size_t)from * HD_LANES, x + n,
                    columns, 1, to - from, columns - n < HD_LANES ? columns - n : HD_LANES);
    if (p->crossed.at && !p->crossed.is_current) /* panels as they are */
        k->pack(p->crossed.at + (size_t)from * (size_t)columns, x, 1, columns, columns, to - from);
}

void hd_params_pack_end(hd_params *params)
{
    for (int i = 0; i < params->n; i++) {
        struct hd_param *p = &params->entries[i]->param;
        p->straight.is_current = p->straight.at != NULL;
        p->crossed.is_current = p->crossed.at != NULL;
    }
}

bool hd_params_pack(hd_params *params, heed_error *err)
{
    if (!hd_params_pack_begin(params, err))
        return false;
    const bool has_values = params->values || params->panels;
    for (int i = 0; has_values && i < params->n; i++)
        hd_params_pack_rows(params, i, 0, params->entries[i]->node.dim[0]);
    if (has_values)
        hd_params_pack_end(params);
    return true;
}

unsigned hd_params_generation(const hd_params *params)
{
    return params->generation;
}

void hd_params_changed(hd_params *params)
{
    params->generation++;
    for (int i = 0; i < params->n; i++) {
        struct hd_param *p = &params->entries[i]->param;
        if (!hd_is_for_products(&params->entries[i]->node)) /* whose copy is the value */
            p->straight.is_current = p->crossed.is_current = false;
    }
}
